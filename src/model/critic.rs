//! The critic, with exact per-example gradient norms and clipped sums by book-keeping: linear layers, and before them
//! convolutions where it looks at images.
//!
//! For a linear layer with input `a` and gradient `g` at its output, example `i` contributes `aᵢ gᵢᵀ` to the
//! weight's gradient and `gᵢ` to the bias's. Hence, without forming any of these `batch × parameters` numbers,
//!
//! ```text
//! ‖gradᵢ‖² = Σ_layers (‖aᵢ‖² + 1)·‖gᵢ‖²           (Goodfellow 2015)
//! Σᵢ cᵢ·gradᵢ = (aᵀ (c ⊙ g), Σᵢ cᵢ gᵢ)             (Bu et al. 2023, "book-keeping")
//! ```
//!
//! A convolution is a linear layer on the windows of its image, whose contributions add up over the windows; see
//! [`layer`]. One forward and one backward pass serve both. Nothing in the critic couples one example to another (no
//! batch norm, ever), or the per-example gradient would not exist.
//!
//! **Labels.** A critic of several scores has one for each class, and that of the example's own label counts: the
//! others have no gradient, so the formulas above stay as they are.
//!
//! **Why no number here can overflow.** Weights and biases are clamped after every step (the bound is part of
//! the plan and at most 10), rows lie in `[0, 2]`, and widths are bounded by the plan; so every activation,
//! gradient and squared norm stays far inside the range of `f32`, the clip factor is finite, and no private
//! row can turn the sum into NaN, which noise would not hide.

mod layer;
mod loss;
mod penalty;

use burn::tensor::{Device, Tensor, activation};
use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::model::device::in_memory;
use crate::model::parameters::{SlotMap, uniform_start, vector};
use layer::Layer;

pub use loss::{CriticLoss, Side};

/// The clip factor aims this much below the bound, so that rounding in `f32` cannot carry a clipped gradient
/// past it.
const CLIP_MARGIN: f64 = 1.0 - 1e-5;

/// Images that are looked at together on a processor: the windows of more would leave its caches.
const PIECE: usize = 32;

/// What a critic looks at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CriticInput {
    /// A row of this encoded width.
    Row(usize),
    /// An image, through convolutions that halve its side.
    Image {
        /// The image's side, which can be halved once for each convolution.
        side: usize,
        /// The image's own channels.
        colours: usize,
        /// Channels of each convolution.
        channels: Vec<usize>,
    },
}

/// The shape of a critic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CriticShape {
    /// What it looks at.
    pub input: CriticInput,
    /// Widths of the hidden linear layers.
    pub hidden: Vec<usize>,
    /// Scores: one, or one for each class.
    pub scores: usize,
    /// The slope of the leaky ReLU below zero.
    pub negative_slope: f64,
}

/// Examples as a critic is shown them.
#[derive(Clone, Debug)]
pub struct CriticBatch {
    /// A row each. Shape `[batch, width]`; of an image all its pixels, channels last.
    pub rows: Tensor<2>,
    /// Which score counts: one-hot. Shape `[batch, scores]`; none for a critic of one score.
    pub labels: Option<Tensor<2>>,
}

impl CriticBatch {
    fn len(&self) -> usize {
        self.rows.dims()[0]
    }

    /// Some of the examples.
    fn part(&self, first: usize, count: usize) -> Self {
        let cut = |tensor: &Tensor<2>| tensor.clone().narrow(0, first, count);
        Self {
            rows: cut(&self.rows),
            labels: self.labels.as_ref().map(cut),
        }
    }
}

impl From<Tensor<2>> for CriticBatch {
    fn from(rows: Tensor<2>) -> Self {
        Self { rows, labels: None }
    }
}

/// A critic: convolutions and linear layers with leaky ReLU between them, and scores at the end.
#[derive(Clone, Debug)]
pub struct Critic {
    layers: Vec<Layer>,
    negative_slope: f64,
    map: SlotMap,
    parameters: Tensor<1>,
    /// The parameters cut into tensors, once for each change: weight and bias of each layer.
    leaves: Vec<Tensor<2>>,
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

impl ClippedSum {
    /// Of two batches what one of both would come to.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            sum: self.sum + other.sum,
            norms: Tensor::cat(vec![self.norms, other.norms], 0),
            losses: Tensor::cat(vec![self.losses, other.losses], 0),
        }
    }
}

/// A forward pass, kept for its gradient.
struct Flow {
    /// Each layer's input, windows for a convolution. Shape `[batch · places, in]`.
    inputs: Vec<Tensor<2>>,
    /// Each hidden layer's output. Shape `[batch, places · out]`.
    outputs: Vec<Tensor<2>>,
    /// The score that counts. Shape `[batch, 1]`.
    scores: Tensor<2>,
    labels: Option<Tensor<2>>,
}

impl Critic {
    /// A critic with fresh weights.
    pub fn new(shape: CriticShape, random: &mut impl Rng, device: &Device) -> Self {
        let layers = Layer::all(&shape);
        let mut map = SlotMap::default();
        let mut values = Vec::new();
        for (index, layer) in layers.iter().enumerate() {
            let (width, out) = (layer.inputs(), layer.outputs());
            map.push(format!("{index}.weight"), width, out);
            map.push(format!("{index}.bias"), 1, out);
            values.extend(uniform_start(width * out + out, width, random));
        }
        let parameters = vector(values, device);
        Self {
            layers,
            negative_slope: shape.negative_slope,
            leaves: map.view_all(&parameters),
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
        self.leaves = self.map.view_all(&self.parameters);
    }

    fn weight(&self, layer: usize) -> Tensor<2> {
        self.leaves[2 * layer].clone()
    }

    fn bias(&self, layer: usize) -> Tensor<2> {
        self.leaves[2 * layer + 1].clone()
    }

    fn forward(&self, batch: CriticBatch) -> Flow {
        let CriticBatch { rows, labels } = batch;
        let mut inputs = Vec::with_capacity(self.layers.len());
        let mut outputs = Vec::with_capacity(self.layers.len() - 1);
        let mut flow = rows;
        for (index, layer) in self.layers.iter().enumerate() {
            let input = layer.look(flow);
            inputs.push(input.clone());
            flow = layer.side_by_side(input.matmul(self.weight(index)) + self.bias(index));
            if index + 1 < self.layers.len() {
                flow = activation::leaky_relu(flow, self.negative_slope);
                outputs.push(flow.clone());
            }
        }
        let scores = match &labels {
            Some(labels) => (flow * labels.clone()).sum_dim(1),
            None => flow,
        };
        Flow {
            inputs,
            outputs,
            scores,
            labels,
        }
    }

    /// The gradient at each layer's output, from that at the scores. Shapes `[batch · places, out]`.
    fn backward(&self, flow: &Flow, at_scores: Tensor<2>) -> Vec<Tensor<2>> {
        let mut at_output = match &flow.labels {
            Some(labels) => labels.clone() * at_scores,
            None => at_scores,
        };
        let mut gradients = Vec::with_capacity(self.layers.len());
        for (index, layer) in self.layers.iter().enumerate().rev() {
            let gradient = layer.one_below_the_other(at_output);
            gradients.push(gradient.clone());
            if index == 0 {
                break;
            }
            let below = layer.put_back(gradient.matmul(self.weight(index).transpose()));
            at_output = below * self.slopes(&flow.outputs[index - 1]);
        }
        gradients.reverse();
        gradients
    }

    /// The slope of leaky ReLU. It keeps the sign, so the slope can be read off its output.
    fn slopes(&self, output: &Tensor<2>) -> Tensor<2> {
        let active = output.clone().greater_scalar(0.0).float();
        active
            .mul_scalar(1.0 - self.negative_slope)
            .add_scalar(self.negative_slope)
    }

    /// The gradient at the rows, from those at the layers' outputs. Shape `[batch, width]`.
    fn at_rows(&self, gradients: &[Tensor<2>]) -> Tensor<2> {
        let below = gradients[0].clone().matmul(self.weight(0).transpose());
        self.layers[0].put_back(below)
    }

    /// The score of each row.
    ///
    /// # Shapes
    /// - out: `[batch, 1]`
    pub fn scores(&self, batch: impl Into<CriticBatch>) -> Tensor<2> {
        self.forward(batch.into()).scores
    }

    /// The gradient of the sum of scores by the rows, weighted by the slopes at the scores, and the scores.
    ///
    /// # Shapes
    /// - out: `[batch, width]`, `[batch, 1]`
    pub fn row_gradient(
        &self,
        batch: impl Into<CriticBatch>,
        slopes: impl FnOnce(Tensor<2>) -> Tensor<2>,
    ) -> (Tensor<2>, Tensor<2>) {
        let flow = self.forward(batch.into());
        let gradients = self.backward(&flow, slopes(flow.scores.clone()));
        (self.at_rows(&gradients), flow.scores)
    }

    /// The sum over the batch of each example's loss gradient, each scaled down to an ℓ2 norm of at most
    /// `clip` over all layers together; `None` leaves them as they are.
    ///
    /// # Shapes
    /// - batch at least 1 (an empty batch has an empty sum, without any computation)
    pub fn clipped_gradient_sum(
        &self,
        batch: impl Into<CriticBatch>,
        loss: CriticLoss,
        side: Side,
        clip: Option<f64>,
    ) -> ClippedSum {
        let batch = batch.into();
        let (count, piece) = (batch.len(), self.piece(&batch));
        let part = |first: usize| {
            let part = batch.part(first, piece.min(count - first));
            self.clipped_part(part, loss, side, clip)
        };
        let rest = (piece..count).step_by(piece).map(part);
        rest.fold(part(0), ClippedSum::and)
    }

    /// How many examples are looked at together: nothing couples them, so it is a question of memory and time alone.
    fn piece(&self, batch: &CriticBatch) -> usize {
        let has_windows = self.layers.iter().any(|layer| layer.places() > 1);
        if has_windows && in_memory(&batch.rows.device()) {
            PIECE
        } else {
            batch.len().max(1)
        }
    }

    /// [`Critic::clipped_gradient_sum`] of examples that are looked at together.
    fn clipped_part(
        &self,
        batch: CriticBatch,
        loss: CriticLoss,
        side: Side,
        clip: Option<f64>,
    ) -> ClippedSum {
        let flow = self.forward(batch);
        let gradients = self.backward(&flow, loss.slopes(flow.scores.clone(), side));
        let norms = self.norms(&flow.inputs, &gradients);
        let factors = clip.map(|clip| {
            // `min(1, C / ‖g‖)`, written so that a zero gradient needs no division by zero.
            norms
                .clone()
                .clamp_min(clip)
                .recip()
                .mul_scalar(clip * CLIP_MARGIN)
        });
        ClippedSum {
            sum: self.weighted_sum(&flow.inputs, &gradients, factors),
            norms,
            losses: loss.values(flow.scores, side),
        }
    }

    /// The same for units of several rows each: a unit's gradients are summed, and the sum is scaled down to an ℓ2 norm
    /// of at most `clip`. The loss of a unit is the mean of its rows'.
    ///
    /// The norm of such a sum has terms of both signs, so the sums are formed, and their norm is taken of what is then
    /// added up: whatever cancels in it, rounding cannot make it longer than it may be. The overflow argument of this
    /// file holds with the bound times the rows of a unit, whose number is below 2³²: sums stay finite, and a norm that
    /// does not makes the factor 0.
    ///
    /// # Shapes
    /// - batch `[units · places, …]`: the rows of each unit one after the other, padded to the same number
    /// - present `[units · places, 1]`: 1, or 0 for padding, which counts nowhere; at least one 1 in each unit
    pub fn clipped_unit_sum(
        &self,
        batch: impl Into<CriticBatch>,
        present: Tensor<2>,
        (units, loss, side): (usize, CriticLoss, Side),
        clip: f64,
    ) -> ClippedSum {
        let flow = self.forward(batch.into());
        let slopes = loss.slopes(flow.scores.clone(), side) * present.clone();
        let gradients = self.backward(&flow, slopes);
        let parts = flow.inputs.iter().zip(gradients).flat_map(|(input, gradient)| {
            let by_unit = |tensor: Tensor<2>| {
                let [rows, width] = tensor.dims();
                tensor.reshape([units, rows / units, width])
            };
            let [_, inputs] = input.dims();
            let [_, outputs] = gradient.dims();
            let gradient = by_unit(gradient);
            let weight = by_unit(input.clone()).swap_dims(1, 2).matmul(gradient.clone());
            let bias = gradient.sum_dim(1);
            [
                weight.reshape([units, inputs * outputs]),
                bias.reshape([units, outputs]),
            ]
        });
        let sums = Tensor::cat(parts.collect(), 1);
        let norms = sums.clone().square().sum_dim(1).sqrt();
        let factors = norms
            .clone()
            .clamp_min(clip)
            .recip()
            .mul_scalar(clip * CLIP_MARGIN);
        let rows = |tensor: Tensor<2>| {
            let [rows, _] = tensor.dims();
            tensor.reshape([units, rows / units]).sum_dim(1)
        };
        let losses = loss.values(flow.scores, side) * present.clone();
        ClippedSum {
            sum: flat(factors.transpose().matmul(sums)),
            norms,
            losses: rows(losses) / rows(present),
        }
    }

    /// Each example's gradient norm over all layers together. Shape `[batch, 1]`.
    fn norms(&self, inputs: &[Tensor<2>], gradients: &[Tensor<2>]) -> Tensor<2> {
        let squares = (self.layers.iter().zip(inputs).zip(gradients))
            .map(|((layer, input), gradient)| layer.squared_norms(input.clone(), gradient.clone()));
        squares
            .reduce(|sum, square| sum + square)
            .expect("a critic has at least one layer")
            .sqrt()
    }

    /// `Σᵢ cᵢ·gradᵢ`, flat. Factors: `[batch, 1]`; without them, each is 1.
    fn weighted_sum(
        &self,
        inputs: &[Tensor<2>],
        gradients: &[Tensor<2>],
        factors: Option<Tensor<2>>,
    ) -> Tensor<1> {
        let parts = (self.layers.iter().zip(inputs).zip(gradients)).flat_map(|((layer, input), gradient)| {
            let gradient = match &factors {
                Some(factors) => layer.weighted(gradient.clone(), factors.clone()),
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
