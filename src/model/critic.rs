//! The multilayer critic, with exact per-example gradient norms and clipped sums by book-keeping.
//!
//! For a linear layer with input `a` and gradient `g` at its output, example `i` contributes `aᵢ gᵢᵀ` to the
//! weight's gradient and `gᵢ` to the bias's. Hence, without forming any of these `batch × parameters` numbers,
//!
//! ```text
//! ‖gradᵢ‖² = Σ_layers (‖aᵢ‖² + 1)·‖gᵢ‖²           (Goodfellow 2015)
//! Σᵢ cᵢ·gradᵢ = (aᵀ (c ⊙ g), Σᵢ cᵢ gᵢ)             (Bu et al. 2023, "book-keeping")
//! ```
//!
//! One forward and one backward pass serve both. Nothing in the critic couples one example to another (no
//! batch norm, ever), or the per-example gradient would not exist.
//!
//! **Why no number here can overflow.** Weights and biases are clamped after every step (the bound is part of
//! the plan and at most 10), rows lie in `[0, 1]`, and widths are bounded by the plan; so every activation,
//! gradient and squared norm stays far inside the range of `f32`, the clip factor is finite, and no private
//! row can turn the sum into NaN, which noise would not hide.

use burn::tensor::{Device, Tensor, activation};
use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::model::parameters::{SlotMap, uniform_start, vector};

/// The clip factor aims this much below the bound, so that rounding in `f32` cannot carry a clipped gradient
/// past it.
const CLIP_MARGIN: f64 = 1.0 - 1e-5;

/// What the critic is trained to tell apart by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CriticLoss {
    /// `−D(real)`, `+D(fake)` (Arjovsky et al. 2017, weights clamped).
    #[default]
    Wasserstein,
    /// Binary cross-entropy on the score as a logit (Goodfellow et al. 2014).
    CrossEntropy,
}

/// On which side of the critic's decision a batch stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Real rows: the score should be high.
    Real,
    /// Generated rows: the score should be low.
    Fake,
}

impl Side {
    /// The factor on the score inside the loss: the loss falls as `sign · score` does.
    const fn sign(self) -> f64 {
        match self {
            Self::Real => -1.0,
            Self::Fake => 1.0,
        }
    }
}

impl CriticLoss {
    /// The loss of each example. Shape `[batch, 1]`.
    pub fn values(self, scores: Tensor<2>, side: Side) -> Tensor<2> {
        let signed = scores.mul_scalar(side.sign());
        match self {
            Self::Wasserstein => signed,
            Self::CrossEntropy => activation::softplus(signed, 1.0),
        }
    }

    /// The derivative of each example's loss by its score. Shape `[batch, 1]`.
    pub fn slopes(self, scores: Tensor<2>, side: Side) -> Tensor<2> {
        match self {
            Self::Wasserstein => scores.full_like(side.sign()),
            Self::CrossEntropy => activation::sigmoid(scores.mul_scalar(side.sign())).mul_scalar(side.sign()),
        }
    }
}

/// The shape of a critic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CriticShape {
    /// The encoded width of a row.
    pub input: usize,
    /// Widths of the hidden layers.
    pub hidden: Vec<usize>,
    /// The slope of the leaky ReLU below zero.
    pub negative_slope: f64,
}

/// A multilayer critic: linear layers with leaky ReLU between them and one score at the end.
#[derive(Clone, Debug)]
pub struct Critic {
    shape: CriticShape,
    map: SlotMap,
    parameters: Tensor<1>,
}

/// The sum of clipped per-example gradients, and what the steward may watch.
pub struct ClippedSum {
    /// The sum, flat over all parameters. Shape `[parameters]`.
    pub sum: Tensor<1>,
    /// Each example's gradient norm before clipping. Shape `[batch, 1]`.
    pub norms: Tensor<2>,
    /// Each example's loss. Shape `[batch, 1]`.
    pub losses: Tensor<2>,
}

/// A forward pass and its backward pass, kept per layer.
struct Passes {
    /// Each layer's input. Shape `[batch, in]`.
    inputs: Vec<Tensor<2>>,
    /// The gradient at each layer's output. Shape `[batch, out]`.
    gradients: Vec<Tensor<2>>,
    losses: Tensor<2>,
}

impl Critic {
    /// A critic with fresh weights.
    pub fn new(shape: CriticShape, random: &mut impl Rng, device: &Device) -> Self {
        let mut map = SlotMap::default();
        let mut values = Vec::new();
        let mut width = shape.input;
        for (index, &out) in shape.hidden.iter().chain(std::iter::once(&1)).enumerate() {
            map.push(format!("{index}.weight"), width, out);
            map.push(format!("{index}.bias"), 1, out);
            values.extend(uniform_start(width * out + out, width, random));
            width = out;
        }
        let parameters = vector(values, device);
        Self {
            shape,
            map,
            parameters,
        }
    }

    /// The number of parameters.
    pub const fn parameter_count(&self) -> usize {
        self.map.len()
    }

    /// The flat parameters. Shape `[parameters]`.
    pub const fn parameters(&self) -> &Tensor<1> {
        &self.parameters
    }

    /// Replaces the parameters, clamped to `±bound` coordinate by coordinate.
    pub fn set_parameters(&mut self, parameters: Tensor<1>, bound: f64) {
        self.parameters = parameters.clamp(-bound, bound);
    }

    fn layers(&self) -> usize {
        self.shape.hidden.len() + 1
    }

    fn weight(&self, layer: usize) -> Tensor<2> {
        self.map.slots()[2 * layer].view(&self.parameters)
    }

    fn bias(&self, layer: usize) -> Tensor<2> {
        self.map.slots()[2 * layer + 1].view(&self.parameters)
    }

    /// Each layer's input, and the scores.
    fn forward(&self, rows: Tensor<2>) -> (Vec<Tensor<2>>, Tensor<2>) {
        let mut inputs = Vec::with_capacity(self.layers());
        let mut flow = rows;
        for layer in 0..self.layers() {
            inputs.push(flow.clone());
            flow = flow.matmul(self.weight(layer)) + self.bias(layer);
            if layer + 1 < self.layers() {
                flow = activation::leaky_relu(flow, self.shape.negative_slope);
            }
        }
        (inputs, flow)
    }

    /// The gradient at each layer's output, from that at the scores.
    fn backward(&self, inputs: &[Tensor<2>], at_scores: Tensor<2>) -> Vec<Tensor<2>> {
        let mut gradients = vec![at_scores];
        for layer in (1..self.layers()).rev() {
            let below = gradients[gradients.len() - 1]
                .clone()
                .matmul(self.weight(layer).transpose());
            // Leaky ReLU keeps the sign, so its slope can be read off its output.
            let slope = self.shape.negative_slope;
            let active = inputs[layer].clone().greater_scalar(0.0).float();
            gradients.push(below * active.mul_scalar(1.0 - slope).add_scalar(slope));
        }
        gradients.reverse();
        gradients
    }

    fn passes(&self, rows: Tensor<2>, loss: CriticLoss, side: Side) -> Passes {
        let (inputs, scores) = self.forward(rows);
        let gradients = self.backward(&inputs, loss.slopes(scores.clone(), side));
        Passes {
            inputs,
            gradients,
            losses: loss.values(scores, side),
        }
    }

    /// The score of each row.
    ///
    /// # Shapes
    /// - rows: `[batch, input]`
    /// - out: `[batch, 1]`
    pub fn scores(&self, rows: Tensor<2>) -> Tensor<2> {
        self.forward(rows).1
    }

    /// The gradient of the sum of scores by the rows, and the scores.
    ///
    /// # Shapes
    /// - rows: `[batch, input]`
    /// - out: `[batch, input]`, `[batch, 1]`
    pub fn row_gradient(
        &self,
        rows: Tensor<2>,
        slopes: impl FnOnce(Tensor<2>) -> Tensor<2>,
    ) -> (Tensor<2>, Tensor<2>) {
        let (inputs, scores) = self.forward(rows);
        let gradients = self.backward(&inputs, slopes(scores.clone()));
        (gradients[0].clone().matmul(self.weight(0).transpose()), scores)
    }

    /// The sum over the batch of each example's loss gradient, each scaled down to an ℓ2 norm of at most
    /// `clip` over all layers together; `None` leaves them as they are.
    ///
    /// # Shapes
    /// - rows: `[batch, input]`, batch at least 1 (an empty batch has an empty sum, without any computation)
    pub fn clipped_gradient_sum(
        &self,
        rows: Tensor<2>,
        loss: CriticLoss,
        side: Side,
        clip: Option<f64>,
    ) -> ClippedSum {
        let passes = self.passes(rows, loss, side);
        let norms = passes.norms();
        let factors = clip.map(|clip| {
            // `min(1, C / ‖g‖)`, written so that a zero gradient needs no division by zero.
            norms
                .clone()
                .clamp_min(clip)
                .recip()
                .mul_scalar(clip * CLIP_MARGIN)
        });
        let sum = passes.weighted_sum(factors);
        ClippedSum {
            sum,
            norms,
            losses: passes.losses,
        }
    }
}

impl Passes {
    /// Each example's gradient norm over all layers together. Shape `[batch, 1]`.
    fn norms(&self) -> Tensor<2> {
        let squares = self.inputs.iter().zip(&self.gradients).map(|(input, gradient)| {
            let input = input.clone().square().sum_dim(1).add_scalar(1.0);
            input * gradient.clone().square().sum_dim(1)
        });
        squares
            .reduce(|sum, square| sum + square)
            .expect("a critic has at least one layer")
            .sqrt()
    }

    /// `Σᵢ cᵢ·gradᵢ`, flat. Factors: `[batch, 1]`; without them, each is 1.
    fn weighted_sum(&self, factors: Option<Tensor<2>>) -> Tensor<1> {
        let parts = self
            .inputs
            .iter()
            .zip(&self.gradients)
            .flat_map(|(input, gradient)| {
                let gradient = match &factors {
                    Some(factors) => gradient.clone() * factors.clone(),
                    None => gradient.clone(),
                };
                let bias = gradient.clone().sum_dim(0);
                let weight = input.clone().transpose().matmul(gradient);
                [flat(weight), flat(bias)]
            });
        Tensor::cat(parts.collect(), 0)
    }
}

fn flat(tensor: Tensor<2>) -> Tensor<1> {
    let [rows, columns] = tensor.dims();
    tensor.reshape([rows * columns])
}

#[cfg(test)]
mod tests;
