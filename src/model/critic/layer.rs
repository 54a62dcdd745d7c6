//! The critic's layers, and what each makes of the gradient of one example.
//!
//! A convolution is a linear layer on `L` windows. With `U` the windows of an example, one a row, and `G` the gradients
//! at their outputs, the example contributes `Uᵀ G` to the weight's gradient and `Σ_l g_l` to the bias's. Its squared
//! norm is either taken of that product, or, where windows are few, of the windows' likeness to each other:
//!
//! ```text
//! ‖Uᵀ G‖² + ‖Σ_l g_l‖² = Σ_{l,m} (u_l·u_m + 1)(g_l·g_m)
//! ```
//!
//! (Bu, Mao & Xu 2022, "mixed ghost clipping"). The second sum has terms of both signs, so what rounding can have lost
//! in it is added: the norm is never below the true one, and a clipped gradient never longer than it may be.

use burn::tensor::Tensor;

use super::{CriticInput, CriticShape};
use crate::model::image::Window;
use crate::model::parameters::matrix;

/// Convolutions look at windows of 4 × 4 at every second place, which halves the side.
const HALVING: Window = Window::new(4, 2, 1);
/// What sums of a few hundred products in `f32` can lose, relative to the sum of their sizes.
const ROUNDING: f64 = 2e-5;

/// One layer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Layer {
    /// From a row of numbers to another.
    Linear { inputs: usize, outputs: usize },
    /// From an image of this side and these channels to one of half the side.
    Convolution {
        side: usize,
        channels: usize,
        outputs: usize,
    },
}

impl Layer {
    /// All layers of a critic.
    pub fn all(shape: &CriticShape) -> Vec<Self> {
        let mut layers = Vec::new();
        let mut width = match &shape.input {
            CriticInput::Row(width) => *width,
            CriticInput::Image {
                side,
                colours,
                channels,
            } => {
                let (mut side, mut below) = (*side, *colours);
                for &outputs in channels {
                    layers.push(Self::Convolution {
                        side,
                        channels: below,
                        outputs,
                    });
                    (side, below) = (side / 2, outputs);
                }
                side * side * below
            }
        };
        for &outputs in shape.hidden.iter().chain(std::iter::once(&shape.scores)) {
            layers.push(Self::Linear {
                inputs: width,
                outputs,
            });
            width = outputs;
        }
        layers
    }

    /// Numbers that one output is made from.
    pub const fn inputs(self) -> usize {
        match self {
            Self::Linear { inputs, .. } => inputs,
            Self::Convolution { channels, .. } => HALVING.kernel * HALVING.kernel * channels,
        }
    }

    /// Outputs at one place.
    pub const fn outputs(self) -> usize {
        match self {
            Self::Linear { outputs, .. } | Self::Convolution { outputs, .. } => outputs,
        }
    }

    /// Places of an example: 1, or a convolution's windows.
    pub const fn places(self) -> usize {
        match self {
            Self::Linear { .. } => 1,
            Self::Convolution { side, .. } => (side / 2) * (side / 2),
        }
    }

    /// What the layer's weight is multiplied with. From `[batch, width]` to `[batch · places, inputs]`.
    pub fn look(self, flow: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Linear { .. } => flow,
            Self::Convolution { side, channels, .. } => {
                let batch = flow.dims()[0];
                HALVING.patches(flow.reshape([batch, side, side, channels]))
            }
        }
    }

    /// The transpose of [`Layer::look`].
    pub fn put_back(self, windows: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Linear { .. } => windows,
            Self::Convolution { side, channels, .. } => {
                let batch = windows.dims()[0] / self.places();
                HALVING
                    .gather(windows, [batch, side / 2, side / 2])
                    .reshape([batch, side * side * channels])
            }
        }
    }

    /// All places of an example in one row. From `[batch · places, outputs]` to `[batch, places · outputs]`.
    pub fn side_by_side(self, outputs: Tensor<2>) -> Tensor<2> {
        let [rows, width] = outputs.dims();
        outputs.reshape([rows / self.places(), self.places() * width])
    }

    /// The inverse of [`Layer::side_by_side`].
    pub fn one_below_the_other(self, outputs: Tensor<2>) -> Tensor<2> {
        let batch = outputs.dims()[0];
        outputs.reshape([batch * self.places(), self.outputs()])
    }

    /// The gradients at the outputs, each example's times its factor. Factors: `[batch, 1]`.
    pub fn weighted(self, gradient: Tensor<2>, factors: Tensor<2>) -> Tensor<2> {
        self.one_below_the_other(self.side_by_side(gradient) * factors)
    }

    /// The squared norm of each example's gradient. Shape `[batch, 1]`.
    pub fn squared_norms(self, input: Tensor<2>, gradient: Tensor<2>) -> Tensor<2> {
        let places = self.places();
        if places == 1 {
            return input.square().sum_dim(1).add_scalar(1.0) * gradient.square().sum_dim(1);
        }
        let (width, outputs) = (self.inputs(), self.outputs());
        let batch = input.dims()[0] / places;
        let windows = input.reshape([batch, places, width]);
        let gradient = gradient.reshape([batch, places, outputs]);
        if places * places > width * outputs {
            let bias = gradient.clone().sum_dim(1).reshape([batch, outputs]);
            let weight = windows
                .transpose()
                .matmul(gradient)
                .reshape([batch, width * outputs]);
            return weight.square().sum_dim(1) + bias.square().sum_dim(1);
        }
        let windows_alike = windows.clone().matmul(windows.transpose()).add_scalar(1.0);
        let gradients_alike = gradient.clone().matmul(gradient.transpose());
        // The squared lengths stand on the diagonals: no second look at the windows, which are the most there is.
        let diagonal = (0..places * places).map(|at| f32::from(u8::from(at % (places + 1) == 0)));
        let diagonal = matrix(diagonal.collect(), places, places, &gradients_alike.device());
        let diagonal = diagonal.reshape([1, places, places]);
        let lengths = |alike: &Tensor<3>| (alike.clone() * diagonal.clone()).sum_dim(2).sqrt();
        let most = (lengths(&windows_alike) * lengths(&gradients_alike))
            .reshape([batch, places])
            .sum_dim(1)
            .square();
        let sum = (windows_alike * gradients_alike)
            .reshape([batch, places * places])
            .sum_dim(1);
        sum.clamp_min(0.0) + most.mul_scalar(ROUNDING)
    }
}
