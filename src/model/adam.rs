//! Adam on a flat parameter vector (Kingma & Ba 2015).

use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::parameters::vector;
use super::tensors::{NamedTensor, WeightsError, find};

/// Added to the root of the second moment.
const STABILISER: f64 = 1e-8;

/// How Adam steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdamSettings {
    /// The learning rate.
    pub learning_rate: f64,
    /// Decay of the first moment.
    pub beta1: f64,
    /// Decay of the second moment.
    pub beta2: f64,
}

/// Adam's state. On a privatised gradient it is post-processing: it costs no privacy.
#[derive(Clone, Debug)]
pub struct Adam {
    settings: AdamSettings,
    first: Tensor<1>,
    second: Tensor<1>,
    steps: i32,
}

impl Adam {
    /// Starts for a vector of this length.
    pub fn new(settings: AdamSettings, length: usize, device: &Device) -> Self {
        let zeros = Tensor::zeros([length], device);
        Self {
            settings,
            first: zeros.clone(),
            second: zeros,
            steps: 0,
        }
    }

    /// Changes the learning rate from the next step on.
    pub const fn set_learning_rate(&mut self, learning_rate: f64) {
        self.settings.learning_rate = learning_rate;
    }

    /// Both moments as a file's tensors, under names that begin so. [`Adam::steps`] belongs to them.
    pub fn tensors(&self, name: &str) -> [NamedTensor; 2] {
        [("first", &self.first), ("second", &self.second)]
            .map(|(part, moment)| NamedTensor::flat(&format!("{name}.{part}"), moment))
    }

    /// Steps done.
    pub const fn steps(&self) -> i32 {
        self.steps
    }

    /// Takes the state back from a file's tensors.
    ///
    /// # Errors
    /// When a moment is missing, of another length or not finite.
    pub fn restore(
        &mut self,
        name: &str,
        tensors: &[NamedTensor],
        steps: i32,
        device: &Device,
    ) -> Result<(), WeightsError> {
        let length = self.first.dims()[0];
        let moment = |part: &str| {
            let values = find(tensors, &format!("{name}.{part}"), [1, length])?;
            Ok(vector(values.to_vec(), device))
        };
        (self.first, self.second) = (moment("first")?, moment("second")?);
        self.steps = steps.max(0);
        Ok(())
    }

    /// The parameters after one step against the gradient.
    pub fn step(&mut self, parameters: Tensor<1>, gradient: Tensor<1>) -> Tensor<1> {
        let AdamSettings {
            learning_rate,
            beta1,
            beta2,
        } = self.settings;
        self.steps = self.steps.saturating_add(1);
        self.first = self.first.clone().mul_scalar(beta1) + gradient.clone().mul_scalar(1.0 - beta1);
        self.second = self.second.clone().mul_scalar(beta2) + gradient.square().mul_scalar(1.0 - beta2);
        let rate = learning_rate / (1.0 - beta1.powi(self.steps));
        let scale = 1.0 / (1.0 - beta2.powi(self.steps));
        let root = self
            .second
            .clone()
            .mul_scalar(scale)
            .sqrt()
            .add_scalar(STABILISER);
        parameters - (self.first.clone() / root).mul_scalar(rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::parameters::{read, vector};

    #[test]
    fn follows_the_papers_recursion() {
        let settings = AdamSettings {
            learning_rate: 0.1,
            beta1: 0.5,
            beta2: 0.9,
        };
        let device = Device::flex();
        let mut adam = Adam::new(settings, 1, &device);
        let mut parameter = vector(vec![1.0], &device);
        let (mut first, mut second, mut expected) = (0.0_f64, 0.0_f64, 1.0_f64);
        for (step, gradient) in [0.3_f64, -1.2, 0.7].into_iter().enumerate() {
            parameter = adam.step(parameter, vector(vec![gradient as f32], &device));
            first = 0.5 * first + 0.5 * gradient;
            second = 0.9 * second + 0.1 * gradient * gradient;
            let t = step as i32 + 1;
            let corrected = first / (1.0 - 0.5_f64.powi(t));
            expected -= 0.1 * corrected / ((second / (1.0 - 0.9_f64.powi(t))).sqrt() + STABILISER);
        }
        let got = f64::from(read(parameter)[0]);
        assert!((got - expected).abs() < 1e-6, "{got} instead of {expected}");
    }
}
