//! A public map of images into a space where the mean tells classes apart: random features of pixels and of Gabor
//! moduli.
//!
//! ```text
//! φ(x) = [φ_pix, φ_gab] / √2,   φ_b = [cos Ωᵀh_b ; sin Ωᵀh_b] / √m
//! ```
//!
//! with `h_pix` the pixels in `[0, 1]`, `h_gab` the pooled moduli of twelve Gabor filters, and columns of Ω normal
//! over a scale drawn log-uniformly. The mean of φ over a class is what Harder, Adamczewski & Park (2021) match (their
//! "DP-MERF", there of pixels alone). `cos² + sin² = 1` at each frequency, so **‖φ(x)‖ = 1 for every image**: the
//! sensitivity of a sum of φ needs no clipping.
//!
//! The map is drawn from public randomness and holds nothing of the data.

use std::f64::consts::PI;

use burn::tensor::{Device, Tensor};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

use super::patches::Window;
use crate::model::parameters::{matrix, vector};

/// Filters of 7 × 7, written into 8 × 8 with a margin of zeros so that their windows tile by the stride.
const GABOR: Window = Window::new(8, 2, 3);
/// The side of a filter.
const FILTER_SIDE: usize = 7;
/// Directions of the filters.
const ORIENTATIONS: usize = 6;
/// Widths of their envelopes.
const SCALES: [f64; 2] = [1.0, 2.0];
/// Filters in all.
const FILTERS: usize = ORIENTATIONS * SCALES.len();
/// Added under the root of a modulus: its slope stays finite where there is nothing.
const MODULUS_FLOOR: f64 = 1e-4;
/// Frequencies that are looked at in one step.
const BLOCK: usize = 250;
/// Range of the kernel's width on pixels, and on Gabor moduli.
const WIDTHS: [(f64, f64); 2] = [(5.0, 10.0), (2.0, 8.0)];
/// How much the generator's images are kept apart: a little less than the kernel's own weight.
const REPULSION: f64 = 0.95;
/// φ is scaled down by this much, so that rounding in `f32` cannot carry its norm past 1.
const NORM_MARGIN: f64 = 1.0 - 1e-5;

/// The two parts of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EmbeddingPart {
    /// Of pixels.
    Pixels,
    /// Of Gabor moduli.
    Gabor,
}

impl EmbeddingPart {
    const ALL: [Self; 2] = [Self::Pixels, Self::Gabor];
}

/// The map, on a device.
#[derive(Clone, Debug)]
pub struct EmbeddingMap {
    /// Real parts and then imaginary parts of the filters. Shape `[64, 2 · 12]`.
    filters: Tensor<2>,
    /// Ω of each part, in blocks. Shapes `[width, block]`.
    blocks: [Vec<Tensor<2>>; 2],
    /// m.
    frequencies: usize,
}

/// What the mean over each class should be, in the map's blocks. Shapes `[classes, 1, 2 · block]`.
#[derive(Clone, Debug)]
pub struct EmbeddingTarget {
    blocks: [Vec<Tensor<3>>; 2],
}

/// What the Gabor part's gradient needs of its forward pass.
struct GaborPass {
    /// Shape `[places, 2 · 12]`.
    filtered: Tensor<2>,
    /// Shape `[places, 12]`.
    moduli: Tensor<2>,
}

impl EmbeddingMap {
    /// A map of this many frequencies a part, rounded up to whole blocks, for images of `side × side × colours`.
    pub fn new(
        (side, colours): (usize, usize),
        frequencies: usize,
        random: &mut impl Rng,
        device: &Device,
    ) -> Self {
        let count = frequencies.div_ceil(BLOCK).max(1);
        let pooled = side / 4;
        let widths = [side * side * colours, pooled * pooled * FILTERS * colours];
        let blocks = [0, 1].map(|part| {
            (0..count)
                .map(|_| block(widths[part], WIDTHS[part], random, device))
                .collect()
        });
        Self {
            filters: gabor_filters(device),
            blocks,
            frequencies: count * BLOCK,
        }
    }

    /// The length of φ.
    pub const fn width(&self) -> usize {
        4 * self.frequencies
    }

    /// Blocks of a part.
    pub const fn blocks(&self) -> usize {
        self.frequencies / BLOCK
    }

    /// φ of each image; of norm at most 1, and short of it by 1e-5 at most.
    ///
    /// # Shapes
    /// - images: `[batch, side, side, colours]`
    /// - out: `[batch, width]`
    pub fn embed(&self, images: Tensor<4>) -> Tensor<2> {
        let scale = NORM_MARGIN / (2.0 * self.frequencies as f64).sqrt();
        let mut parts = Vec::with_capacity(2 * self.blocks());
        for (part, blocks) in EmbeddingPart::ALL.into_iter().zip(&self.blocks) {
            let inputs = self.inputs(part, images.clone()).0;
            for block in blocks {
                parts.push(waves(&inputs, block));
            }
        }
        Tensor::cat(parts, 1).mul_scalar(scale)
    }

    /// Prepares class means of φ as the generator's target.
    ///
    /// # Shapes
    /// - means: `[classes, width]`, row-major
    pub fn target(&self, means: &[f64], classes: usize, device: &Device) -> EmbeddingTarget {
        // Back to plain cosines and sines.
        let scale = (2.0 * self.frequencies as f64).sqrt() / NORM_MARGIN;
        let width = self.width();
        let cut = |part: usize, index: usize| {
            let start = 2 * BLOCK * (part * self.blocks() + index);
            let rows = means.chunks_exact(width);
            let values: Vec<f32> = rows
                .flat_map(|row| &row[start..start + 2 * BLOCK])
                .map(|value| (value * scale) as f32)
                .collect();
            vector(values, device).reshape([classes, 1, 2 * BLOCK])
        };
        EmbeddingTarget {
            blocks: [0, 1].map(|part| (0..self.blocks()).map(|index| cut(part, index)).collect()),
        }
    }

    /// The squared distance between the classes' means of φ on a random block of frequencies (without what does not
    /// depend on the images), and its gradient at the images. Equally many images of each class, class by class.
    ///
    /// With `n` images a class, `T` the sum of their waves and `r` the target, each part counts half of
    ///
    /// ```text
    /// Σ_c ( .95·mean_{i≠j}⟨φᵢ, φⱼ⟩ − 2⟨φ̄, r⟩ ) ,   gradient at image i's waves: .95·T/(n(n−1)) − r/n
    /// ```
    ///
    /// The term `−φᵢ` of `T − φᵢ` is left out: a wave moves along its circle only, at a right angle to itself.
    ///
    /// # Shapes
    /// - images, gradient: `[classes · n, side, side, colours]`
    /// - loss: `[1]`
    ///
    /// # Panics
    /// Never: the map has two parts, and each gives a gradient.
    pub fn step(
        &self,
        images: Tensor<4>,
        target: &EmbeddingTarget,
        random: &mut impl Rng,
    ) -> (Tensor<4>, Tensor<1>) {
        let batch = images.dims()[0];
        let mut gradient: Option<Tensor<4>> = None;
        let mut loss: Option<Tensor<1>> = None;
        for (index, part) in EmbeddingPart::ALL.into_iter().enumerate() {
            let chosen = random.random_range(0..self.blocks());
            let block = &self.blocks[index][chosen];
            let target = target.blocks[index][chosen].clone();
            let classes = target.dims()[0];
            let each = (batch / classes) as f64;
            let (inputs, pass) = self.inputs(part, images.clone());
            let phases = inputs.matmul(block.clone());
            let (cosines, sines) = (phases.clone().cos(), phases.sin());
            let waves = Tensor::cat(vec![cosines.clone(), sines.clone()], 1);
            let waves = waves.reshape([classes, batch / classes, 2 * BLOCK]);
            let sums = waves.sum_dim(1);
            let pairs = (each * (each - 1.0)).max(1.0);
            let value = (sums.clone().square().mul_scalar(REPULSION / pairs)
                - (sums.clone() * target.clone()).mul_scalar(2.0 / each))
            .sum()
            .div_scalar(2.0 * BLOCK as f64);
            let slopes = sums.mul_scalar(REPULSION / pairs) - target.div_scalar(each);
            let slopes = slopes.div_scalar(BLOCK as f64);
            let by_class = |wave: Tensor<2>| wave.reshape([classes, batch / classes, BLOCK]);
            let at_phases = by_class(cosines) * slopes.clone().narrow(2, BLOCK, BLOCK)
                - by_class(sines) * slopes.narrow(2, 0, BLOCK);
            let at_inputs = at_phases
                .reshape([batch, BLOCK])
                .matmul(block.clone().transpose());
            let at_images = self.inputs_backward(pass, at_inputs, images.dims());
            gradient = Some(match gradient {
                Some(sum) => sum + at_images,
                None => at_images,
            });
            loss = Some(match loss {
                Some(sum) => sum + value,
                None => value,
            });
        }
        (
            gradient.expect("the map has two parts"),
            loss.expect("the map has two parts"),
        )
    }

    /// h of a part. Shape `[batch, width]`.
    fn inputs(&self, part: EmbeddingPart, images: Tensor<4>) -> (Tensor<2>, Option<GaborPass>) {
        let [batch, side, _, colours] = images.dims();
        if part == EmbeddingPart::Pixels {
            return (images.reshape([batch, side * side * colours]), None);
        }
        let (half, pooled) = (side / 2, side / 4);
        let filtered = GABOR.patches(one_by_one(images)).matmul(self.filters.clone());
        let real = filtered.clone().narrow(1, 0, FILTERS).square();
        let imaginary = filtered.clone().narrow(1, FILTERS, FILTERS).square();
        let moduli = (real + imaginary).add_scalar(MODULUS_FLOOR).sqrt();
        let inputs = moduli
            .clone()
            .reshape([batch * colours * pooled, 2, pooled, 2, FILTERS])
            .sum_dim(1)
            .sum_dim(3)
            .div_scalar(4.0)
            .reshape([batch, colours * pooled * pooled * FILTERS]);
        debug_assert_eq!(moduli.dims()[0], batch * colours * half * half);
        (inputs, Some(GaborPass { filtered, moduli }))
    }

    /// The gradient at the images, from that at h.
    fn inputs_backward(&self, pass: Option<GaborPass>, gradient: Tensor<2>, shape: [usize; 4]) -> Tensor<4> {
        let [batch, side, _, colours] = shape;
        let Some(GaborPass { filtered, moduli }) = pass else {
            return gradient.reshape(shape);
        };
        let (half, pooled) = (side / 2, side / 4);
        let places = batch * colours * half * half;
        let at_moduli = gradient
            .div_scalar(4.0)
            .reshape([batch * colours * pooled, 1, pooled, 1, FILTERS])
            .expand([batch * colours * pooled, 2, pooled, 2, FILTERS])
            .reshape([places, FILTERS]);
        let scaled = at_moduli / moduli;
        let at_filtered = filtered * Tensor::cat(vec![scaled.clone(), scaled], 1);
        let windows = at_filtered.matmul(self.filters.clone().transpose());
        let images = GABOR.gather(windows, [batch * colours, half, half]);
        images
            .reshape([batch, colours, side, side])
            .permute([0, 2, 3, 1])
            .reshape(shape)
    }
}

/// Every colour as an image of its own. Shape `[batch · colours, side, side, 1]`.
fn one_by_one(images: Tensor<4>) -> Tensor<4> {
    let [batch, side, _, colours] = images.dims();
    images
        .permute([0, 3, 1, 2])
        .reshape([batch * colours, side, side, 1])
}

/// Cosines and then sines of a block's phases. Shape `[batch, 2 · block]`.
fn waves(inputs: &Tensor<2>, block: &Tensor<2>) -> Tensor<2> {
    let phases = inputs.clone().matmul(block.clone());
    Tensor::cat(vec![phases.clone().cos(), phases.sin()], 1)
}

/// Columns `N(0, I)/s` with s log-uniform. Shape `[width, block]`.
fn block(width: usize, (low, high): (f64, f64), random: &mut impl Rng, device: &Device) -> Tensor<2> {
    let scales: Vec<f64> = (0..BLOCK)
        .map(|_| (random.random::<f64>() * (high / low).ln()).exp() * low)
        .collect();
    let values = (0..width * BLOCK).map(|place| {
        let normal: f64 = StandardNormal.sample(random);
        (normal / scales[place % BLOCK]) as f32
    });
    matrix(values.collect(), width, BLOCK, device)
}

/// Real and imaginary parts of the filters, a column each: waves of frequency .75π/s under an envelope
/// `exp(−r²/2s²)`, the real part of mean 0, both parts together of norm 1 (Gabor 1946; Daugman 1985).
fn gabor_filters(device: &Device) -> Tensor<2> {
    let centre = (FILTER_SIDE / 2) as f64;
    let mut values = vec![0.0_f32; GABOR.kernel * GABOR.kernel * 2 * FILTERS];
    for (scale_index, scale) in SCALES.into_iter().enumerate() {
        for orientation in 0..ORIENTATIONS {
            let angle = PI * orientation as f64 / ORIENTATIONS as f64;
            let points = (0..FILTER_SIDE).flat_map(|row| (0..FILTER_SIDE).map(move |column| (row, column)));
            let mut filter: Vec<(usize, f64, f64)> = points
                .map(|(row, column)| {
                    let (y, x) = (row as f64 - centre, column as f64 - centre);
                    let envelope = (-(x * x + y * y) / (2.0 * scale * scale)).exp();
                    let phase = 0.75 * PI / scale * (x * angle.cos() + y * angle.sin());
                    (
                        row * GABOR.kernel + column,
                        envelope * phase.cos(),
                        envelope * phase.sin(),
                    )
                })
                .collect();
            let mean = filter.iter().map(|(_, real, _)| real).sum::<f64>() / filter.len() as f64;
            filter.iter_mut().for_each(|(_, real, _)| *real -= mean);
            let squares = filter
                .iter()
                .map(|(_, real, imaginary)| real * real + imaginary * imaginary);
            let norm = squares.sum::<f64>().sqrt();
            let column = scale_index * ORIENTATIONS + orientation;
            for (place, real, imaginary) in filter {
                values[place * 2 * FILTERS + column] = (real / norm) as f32;
                values[place * 2 * FILTERS + FILTERS + column] = (imaginary / norm) as f32;
            }
        }
    }
    matrix(values, GABOR.kernel * GABOR.kernel, 2 * FILTERS, device)
}

#[cfg(test)]
mod tests {
    use burn::tensor::TensorData;
    use rand::SeedableRng;
    use rand_chacha::ChaCha20Rng;

    use super::*;
    use crate::model::{DeviceKind, read};

    fn images(batch: usize, side: usize, colours: usize, random: &mut ChaCha20Rng) -> Vec<f32> {
        (0..batch * side * side * colours)
            .map(|_| random.random::<f32>())
            .collect()
    }

    fn tensor(values: &[f32], shape: [usize; 4], device: &Device) -> Tensor<4> {
        Tensor::from_data(TensorData::new(values.to_vec(), shape), device)
    }

    #[test]
    fn every_image_has_norm_one_and_never_more() {
        let device = DeviceKind::Flex.open().unwrap();
        let mut random = ChaCha20Rng::seed_from_u64(5);
        for colours in [1, 3] {
            let map = EmbeddingMap::new((16, colours), 300, &mut random, &device);
            assert_eq!(map.width(), 2000, "whole blocks");
            let values = images(4, 16, colours, &mut random);
            let embedded = read(map.embed(tensor(&values, [4, 16, 16, colours], &device)));
            for row in embedded.chunks_exact(map.width()) {
                let norm = row.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
                assert!(norm <= 1.0 && norm > 1.0 - 3e-5, "{norm}");
            }
        }
    }

    #[test]
    fn filters_are_of_norm_one_and_see_no_flat_grey() {
        let device = DeviceKind::Flex.open().unwrap();
        let values = read(gabor_filters(&device));
        for filter in 0..FILTERS {
            let column = |offset: usize| values.iter().skip(filter + offset).step_by(2 * FILTERS);
            let norm: f32 = column(0).chain(column(FILTERS)).map(|x| x * x).sum();
            assert!((norm - 1.0).abs() < 1e-5);
            for offset in [0, FILTERS] {
                let sum: f32 = column(offset).sum();
                assert!(sum.abs() < 1e-5, "filter {filter}: {sum}");
            }
        }
    }

    #[test]
    fn the_gradient_matches_finite_differences() {
        let device = DeviceKind::Flex.open().unwrap();
        for colours in [1, 3] {
            let mut random = ChaCha20Rng::seed_from_u64(6);
            let map = EmbeddingMap::new((8, colours), BLOCK, &mut random, &device);
            let means: Vec<f64> = (0..2 * map.width())
                .map(|_| 0.02 * (random.random::<f64>() - 0.5))
                .collect();
            let target = map.target(&means, 2, &device);
            let shape = [6, 8, 8, colours];
            let mut values = images(6, 8, colours, &mut random);
            let (gradient, _) = map.step(tensor(&values, shape, &device), &target, &mut random);
            let gradient = read(gradient);
            let loss = |values: &[f32]| {
                let mut random = ChaCha20Rng::seed_from_u64(7);
                f64::from(read(map.step(tensor(values, shape, &device), &target, &mut random).1)[0])
            };
            for place in [0, 37, 100, 250, 6 * 64 * colours - 1] {
                let before = values[place];
                let step = 4e-3_f32;
                values[place] = before + step;
                let above = loss(&values);
                values[place] = before - step;
                let below = loss(&values);
                values[place] = before;
                let expected = (above - below) / (2.0 * f64::from(step));
                let got = f64::from(gradient[place]);
                assert!(
                    (got - expected).abs() < 2e-3 * (0.02 + expected.abs()) + 2e-4,
                    "{colours} colours, place {place}: {got}, not {expected}"
                );
            }
        }
    }
}
