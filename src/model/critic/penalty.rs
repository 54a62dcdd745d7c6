//! The gradient penalty of Gulrajani et al. (2017), by hand, since Burn differentiates once.
//!
//! Between its kinks a critic with leaky ReLU is linear in its input: `∇D = W₁ M₁ W₂ M₂ … w`, with the slopes `M` as
//! they are at the row. The penalty `(‖∇D‖ − 1)²` changes with ∇D along `u = 2(‖∇D‖ − 1)·∇D/‖∇D‖`, and the gradient of
//! `u·∇D` by a weight is `tᵀ g`: `g` the gradient at the layer's output, as always, and `t` the direction `u` carried
//! forward to the layer's input by the same weights and slopes. Biases have no part in it.

use burn::tensor::Tensor;

use super::{Critic, CriticBatch};
use crate::model::parameters::matrix;

/// A length below this has no direction.
const SHORTEST: f64 = 1e-12;

impl Critic {
    /// The sum over the batch of `(‖∇D‖ − 1)²`'s gradient, and the value of each example. Of a row, only the first
    /// columns count: what follows them (a label) is no direction in which rows differ.
    ///
    /// It looks at single rows without any clipping: nothing for private ones.
    ///
    /// # Shapes
    /// - out: `[parameters]`, `[batch, 1]`
    pub fn penalty_gradient_sum(
        &self,
        batch: impl Into<CriticBatch>,
        columns: usize,
    ) -> (Tensor<1>, Tensor<2>) {
        let flow = self.forward(batch.into());
        let gradients = self.backward(&flow, flow.scores.ones_like());
        let at_rows = self.at_rows(&gradients);
        let width = at_rows.dims()[1];
        let counts = (0..width).map(|column| f32::from(u8::from(column < columns)));
        let counts = matrix(counts.collect(), 1, width, &at_rows.device());
        let at_rows = at_rows * counts;
        let lengths = at_rows.clone().square().sum_dim(1).sqrt();
        let excess = lengths.clone().sub_scalar(1.0);
        let direction = at_rows * (excess.clone().mul_scalar(2.0) / lengths.clamp_min(SHORTEST));

        let mut carried = Vec::with_capacity(self.layers.len());
        let mut along = direction;
        for (index, layer) in self.layers.iter().enumerate() {
            let input = layer.look(along);
            carried.push(input.clone());
            along = layer.side_by_side(input.matmul(self.weight(index)));
            if let Some(output) = flow.outputs.get(index) {
                along = along * self.slopes(output);
            }
        }
        let parts = carried
            .into_iter()
            .zip(gradients)
            .flat_map(|(carried, gradient)| {
                let bias = gradient.clone().sum_dim(0).zeros_like();
                let weight = carried.transpose().matmul(gradient);
                [super::flat(weight), super::flat(bias)]
            });
        (Tensor::cat(parts.collect(), 0), excess.square())
    }
}
