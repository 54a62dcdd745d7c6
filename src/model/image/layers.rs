//! Layers with their gradients written out, on matrices of one row a place and one column a channel.

use burn::tensor::Tensor;

/// Added to batch norm's variance.
const STABILISER: f64 = 1e-5;

/// Mean and variance of every channel. Shapes `[1, channels]`.
#[derive(Clone, Debug)]
pub struct ChannelMoments {
    /// The mean.
    pub mean: Tensor<2>,
    /// The (biased) variance.
    pub variance: Tensor<2>,
}

/// What batch norm's gradient needs of its forward pass.
pub struct Normalised {
    /// The values at mean 0 and variance 1. Shape `[rows, channels]`.
    values: Tensor<2>,
    /// One over the standard deviation. Shape `[1, channels]`.
    inverse: Tensor<2>,
}

impl ChannelMoments {
    /// Over all rows.
    pub fn of(values: &Tensor<2>) -> Self {
        let mean = values.clone().mean_dim(0);
        let variance = (values.clone() - mean.clone()).square().mean_dim(0);
        Self { mean, variance }
    }
}

/// Batch norm (Ioffe & Szegedy 2015): each channel to mean 0 and variance 1, then scaled and shifted.
///
/// # Shapes
/// - values, out: `[rows, channels]`; scale, shift: `[1, channels]`
pub fn batch_norm(
    values: Tensor<2>,
    scale: Tensor<2>,
    shift: Tensor<2>,
    moments: &ChannelMoments,
) -> (Tensor<2>, Normalised) {
    let inverse = moments.variance.clone().add_scalar(STABILISER).sqrt().recip();
    let values = (values - moments.mean.clone()) * inverse.clone();
    let out = values.clone() * scale + shift;
    (out, Normalised { values, inverse })
}

impl Normalised {
    /// The gradient at the input, at the scale and at the shift, when the moments were those of the batch itself:
    /// `γ/(σN) · (N·g − Σg − x̂·Σ(g·x̂))`.
    pub fn backward(self, gradient: Tensor<2>, scale: Tensor<2>) -> (Tensor<2>, Tensor<2>, Tensor<2>) {
        let rows = gradient.dims()[0] as f64;
        let at_shift = gradient.clone().sum_dim(0);
        let at_scale = (gradient.clone() * self.values.clone()).sum_dim(0);
        let centred = gradient - at_shift.clone().div_scalar(rows);
        let centred = centred - self.values * at_scale.clone().div_scalar(rows);
        (centred * (scale * self.inverse), at_scale, at_shift)
    }
}

/// 1 where the value is above 0, else 0: the slope of ReLU, read off its output.
pub fn positive<const D: usize>(values: &Tensor<D>) -> Tensor<D> {
    values.clone().greater_scalar(0.0).float()
}

/// A matrix or a vector `[1, n]` as a flat vector.
pub fn flat(tensor: Tensor<2>) -> Tensor<1> {
    let [rows, columns] = tensor.dims();
    tensor.reshape([rows * columns])
}
