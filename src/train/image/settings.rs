//! Raw settings of a run on images, as a form or a file holds them.

use serde::{Deserialize, Serialize};

use super::ImageMethod;
use crate::model::CriticLoss;
use crate::train::schedule::ScheduleShape;
use crate::train::settings::ScheduleKind;

/// How a critic looks at images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CriticKind {
    /// At all pixels and the label in one row.
    #[default]
    Dense,
    /// Through convolutions that halve the side.
    Convolution,
}

/// Everything a person can choose of a run on images, unchecked. A method leaves some of it alone
/// ([`ImageMethod::uses`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ImageSettings {
    /// Steps of the critic; with a mean embedding, of the generator.
    pub steps: u64,
    /// Expected images in a step of the critic.
    pub batch_size: u64,
    /// Images whose gradients are taken at a time.
    pub micro_batch: u64,
    /// The ℓ2 norm to which each image's gradient is clipped.
    pub clip_norm: f64,
    /// How the noise changes over the critic's steps.
    pub schedule: ScheduleKind,
    /// The first half's share of ε in a schedule of two phases, each half taken by itself.
    pub schedule_early: f64,
    /// Noise at the first step over noise at the last, where it falls in a line or by a factor.
    pub schedule_ratio: f64,
    /// Noise at equally distant places from the first step to the last, each relative to the others.
    pub schedule_points: Vec<f64>,
    /// Random frequencies of each part of the mean embedding.
    pub frequencies: u64,
    /// Steps in which the generator follows a mean embedding before it meets the critic; 0 for none.
    pub warm_steps: u64,
    /// The share of the budget (of ρ) that buys that mean embedding.
    pub warm_share: f64,
    /// How the critic looks at images.
    pub critic: CriticKind,
    /// Widths of the critic's hidden linear layers.
    pub critic_hidden: Vec<usize>,
    /// Channels of the critic's convolutions.
    pub critic_channels: Vec<usize>,
    /// What the critic is trained to tell apart by.
    pub critic_loss: CriticLoss,
    /// Critic steps between two generator steps, at the start.
    pub critic_steps: u64,
    /// Whether that number grows when the critic no longer tells.
    pub ladder: bool,
    /// Generator steps at a rung of that ladder, at least.
    pub ladder_grace: u64,
    /// The critic's learning rate.
    pub critic_learning_rate: f64,
    /// Decay of the first moment in the critic's Adam.
    pub critic_beta1: f64,
    /// Decay of the second moment in the critic's Adam.
    pub critic_beta2: f64,
    /// The bound to which the critic's weights are clamped after each step.
    pub weight_clamp: f64,
    /// Weight of the gradient penalty.
    pub penalty: f64,
    /// Generated images in a step of the critic.
    pub fake_batch: u64,
    /// Latents that an image is made from.
    pub latent: u64,
    /// The width of the generator's first layer.
    pub generator_hidden: u64,
    /// Channels of the generator's smallest map.
    pub generator_channels: u64,
    /// Generated images in a step of the generator.
    pub generator_batch: u64,
    /// The generator's learning rate at the start.
    pub generator_learning_rate: f64,
    /// Decay of the first moment in the generator's Adam.
    pub generator_beta1: f64,
    /// Decay of the second moment in the generator's Adam.
    pub generator_beta2: f64,
    /// Decay of the running average of the generator's weights.
    pub averaging: f64,
}

/// Below this ε a mean embedding has half the frequencies.
const SMALL_EPSILON: f64 = 3.0;

impl ImageSettings {
    /// A setting that every recipe of images has, and none of a table.
    pub const OWN_KEY: &str = "frequencies";

    /// The settings to start from.
    pub fn recommended(method: ImageMethod, epsilon: Option<f64>) -> Self {
        let is_small = epsilon.is_some_and(|epsilon| epsilon < SMALL_EPSILON);
        let settings = match method {
            ImageMethod::MeanEmbedding => Self::default(),
            ImageMethod::Gan => Self::adversarial(),
            ImageMethod::GanWithPenalty => Self {
                steps: 10_000,
                batch_size: 64,
                fake_batch: 64,
                generator_batch: 64,
                critic_loss: CriticLoss::Wasserstein,
                critic_steps: 5,
                ladder: false,
                critic_learning_rate: 1e-4,
                critic_beta1: 0.0,
                critic_beta2: 0.9,
                generator_learning_rate: 1e-4,
                generator_beta1: 0.0,
                generator_beta2: 0.9,
                ..Self::adversarial()
            },
        };
        if is_small {
            // More frequencies tell more, but each has its own noise.
            Self {
                frequencies: settings.frequencies / 2,
                ..settings
            }
        } else {
            settings
        }
    }

    /// What did best in trials with a critic.
    fn adversarial() -> Self {
        Self {
            steps: 9500,
            generator_batch: 128,
            generator_learning_rate: 5e-4,
            generator_beta1: 0.5,
            averaging: 0.998,
            ..Self::default()
        }
    }

    /// How the noise of the critic's steps is to change.
    pub(in crate::train) fn schedule_shape(&self) -> ScheduleShape {
        ScheduleShape {
            kind: self.schedule,
            early: self.schedule_early,
            ratio: self.schedule_ratio,
            points: self.schedule_points.clone(),
            steps: self.steps,
        }
    }
}

impl Default for ImageSettings {
    fn default() -> Self {
        Self {
            steps: 4000,
            batch_size: 512,
            micro_batch: 1024,
            clip_norm: 1.0,
            schedule: ScheduleKind::Constant,
            schedule_early: 0.2,
            schedule_ratio: 2.0,
            schedule_points: vec![2.0, 1.5, 1.2, 1.0],
            frequencies: 2000,
            warm_steps: 0,
            warm_share: 0.1,
            critic: CriticKind::Dense,
            critic_hidden: vec![256, 128],
            critic_channels: vec![32, 64],
            critic_loss: CriticLoss::CrossEntropy,
            critic_steps: 2,
            ladder: true,
            ladder_grace: 300,
            critic_learning_rate: 5e-4,
            critic_beta1: 0.5,
            critic_beta2: 0.999,
            weight_clamp: 10.0,
            penalty: 10.0,
            fake_batch: 128,
            latent: 10,
            generator_hidden: 256,
            generator_channels: 32,
            generator_batch: 100,
            generator_learning_rate: 5e-3,
            generator_beta1: 0.9,
            generator_beta2: 0.999,
            averaging: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::describe;

    #[test]
    fn recommended_settings_are_in_range() {
        for method in [
            ImageMethod::MeanEmbedding,
            ImageMethod::Gan,
            ImageMethod::GanWithPenalty,
        ] {
            for epsilon in [None, Some(0.5), Some(10.0)] {
                let settings = ImageSettings::recommended(method, epsilon);
                describe::check(&settings).unwrap();
                assert_eq!(
                    settings.frequencies,
                    if epsilon == Some(0.5) { 1000 } else { 2000 }
                );
            }
        }
    }

    #[test]
    fn a_method_uses_settings_that_are() {
        for setting in &describe::IMAGE_SETTINGS {
            assert!(
                ImageMethod::Gan.uses(setting.key) || ImageMethod::GanWithPenalty.uses(setting.key),
                "{}",
                setting.key
            );
        }
        assert!(
            ImageMethod::MeanEmbedding.uses("frequencies") && !ImageMethod::MeanEmbedding.uses("clip-norm")
        );
        assert!(!ImageMethod::Gan.uses("penalty") && !ImageMethod::GanWithPenalty.uses("critic-loss"));
    }
}
