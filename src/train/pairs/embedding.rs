//! From noisy joint means of an embedding to what the generator is pulled towards. All of it is post-processing.
//!
//! A row's categories are drawn independently given its latents, so the mean of `exp(iωᵀx)` over the rows that a
//! generator draws from one set of probabilities is a product over columns, exact and smooth:
//!
//! ```text
//! E[exp(iωᵀx)] = ∏_j z_j ,   z_j = Σ_a p_ja·exp(iω_ja)
//! ```
//!
//! and nothing has to be drawn, relaxed or passed straight through.

use burn::tensor::{Device, Tensor};

use super::plan::PairPlan;
use super::released::BatchLoss;
use crate::model::{FREQUENCY_BLOCK, Feature, NamedTensor, RowEmbedding, WeightsError, find_tensor, matrix};
use crate::train::layout::RowLayout;
use crate::train::privatize::JointMeans;
use crate::train::targets::project_to_simplex;

/// The squared distance of means is tiny; Adam's floor should not be seen beside its slope.
const WEIGHT: f64 = 1000.0;

/// Names in files: Ω, the noisy means, and the classes' noisy shares.
const OMEGA: &str = "released.frequencies";
const MEANS: &str = "released.means";
const SHARES: &str = "released.shares";

/// What was released, and the map that it was released by.
#[derive(Clone, Debug, PartialEq)]
pub struct ReleasedEmbedding {
    /// The map: public.
    pub map: RowEmbedding,
    /// The noisy means.
    pub means: JointMeans,
}

impl ReleasedEmbedding {
    /// The features of a layout, as a map takes them.
    pub fn features(layout: &RowLayout) -> Vec<Feature> {
        let features = layout.features().map(|(code, block)| Feature {
            code,
            offset: block.offset,
            width: block.width,
        });
        features.collect()
    }

    /// The map and the means as a file's tensors. Both are public: the one from the start, the other since its release.
    pub fn tensors(&self) -> Vec<NamedTensor> {
        let narrow = |values: &[f64]| values.iter().map(|value| *value as f32).collect();
        let tensor = |name: &str, shape, values| NamedTensor {
            name: name.to_owned(),
            shape,
            values,
        };
        let (map, means) = (&self.map, &self.means);
        let frequencies = [map.categories(), map.frequencies()];
        vec![
            tensor(OMEGA, frequencies, map.omega().to_vec()),
            tensor(MEANS, [means.classes, map.width()], narrow(&means.means)),
            tensor(SHARES, [1, means.classes], narrow(&means.shares)),
        ]
    }

    /// Takes them back.
    ///
    /// # Errors
    /// When they are missing, or not those of the plan.
    pub fn restored(tensors: &[NamedTensor], plan: &PairPlan) -> Result<Self, WeightsError> {
        let (layout, settings) = (plan.layout(), plan.settings());
        let features = Self::features(layout);
        let categories = features.iter().map(|feature| feature.width).sum();
        let classes = layout.label().map_or(1, |label| label.width);
        let frequencies = RowEmbedding::whole_blocks(settings.frequencies as usize);
        let omega = find_tensor(tensors, OMEGA, [categories, frequencies])?.to_vec();
        let map = RowEmbedding::of(features, omega, settings.marginal_share);
        let wide = |values: &[f32]| values.iter().copied().map(f64::from).collect();
        let means = JointMeans {
            classes,
            means: wide(find_tensor(tensors, MEANS, [classes, map.width()])?),
            shares: wide(find_tensor(tensors, SHARES, [1, classes])?),
        };
        Ok(Self { map, means })
    }

    /// Each category's share, as the linear part tells it; all alike where there is none. Shape `[width]`.
    pub fn column_shares(&self, layout: &RowLayout) -> Vec<f64> {
        let mut columns = vec![0.0; layout.width()];
        for row in self.linear() {
            let mut row = row.iter();
            for feature in self.map.features() {
                let cells = &mut columns[feature.offset..feature.offset + feature.width];
                cells
                    .iter_mut()
                    .zip(&mut row)
                    .for_each(|(sum, share)| *sum += share);
            }
        }
        if let Some(label) = layout.label() {
            columns[label.offset..label.offset + label.width].copy_from_slice(&self.means.shares);
        }
        for block in layout.one_hot() {
            let cells = &mut columns[block.offset..block.offset + block.width];
            let projected = project_to_simplex(cells);
            cells.copy_from_slice(&projected);
        }
        columns
    }

    /// Each class's shares of categories, `[categories of all features]`.
    fn linear(&self) -> impl Iterator<Item = Vec<f64>> {
        let factor = self.map.linear_factor();
        // Without a linear part, its entries are noise only.
        let factor = if factor > 0.0 { factor.recip() } else { 0.0 };
        let from = 2 * self.map.frequencies();
        let rows = self.means.means.chunks_exact(self.map.width());
        rows.map(move |row| row[from..].iter().map(|mean| mean * factor).collect())
    }
}

/// A block of frequencies on a device.
#[derive(Clone, Debug)]
struct WaveBlock {
    /// `cos ω` and `sin ω` of each feature's categories. Shapes `[categories, frequencies]`.
    features: Vec<Complex>,
    /// What the classes' means should be. Shape `[classes, frequencies]`.
    target: Complex,
}

/// A complex matrix.
#[derive(Clone, Debug)]
struct Complex {
    real: Tensor<2>,
    imaginary: Tensor<2>,
}

impl Complex {
    fn map(&self, function: impl Fn(&Tensor<2>) -> Tensor<2>) -> Self {
        Self {
            real: function(&self.real),
            imaginary: function(&self.imaginary),
        }
    }

    fn with(&self, other: &Self, function: impl Fn(Tensor<2>, Tensor<2>) -> Tensor<2>) -> Self {
        Self {
            real: function(self.real.clone(), other.real.clone()),
            imaginary: function(self.imaginary.clone(), other.imaginary.clone()),
        }
    }

    fn times(&self, other: &Self) -> Self {
        let product = |one: &Tensor<2>, two: &Tensor<2>| one.clone() * two.clone();
        Self {
            real: product(&self.real, &other.real) - product(&self.imaginary, &other.imaginary),
            imaginary: product(&self.real, &other.imaginary) + product(&self.imaginary, &other.real),
        }
    }

    /// Times the other's conjugate: how a slope goes back through a product.
    fn times_conjugate(&self, other: &Self) -> Self {
        let product = |one: &Tensor<2>, two: &Tensor<2>| one.clone() * two.clone();
        Self {
            real: product(&self.real, &other.real) + product(&self.imaginary, &other.imaginary),
            imaginary: product(&self.imaginary, &other.real) - product(&self.real, &other.imaginary),
        }
    }

    /// Shape `[rows, 1]`.
    fn squared_rows(&self) -> Tensor<2> {
        (self.real.clone().square() + self.imaginary.clone().square()).sum_dim(1)
    }

    /// The sum of squares. Shape `[1]`.
    fn squares(&self) -> Tensor<1> {
        self.real.clone().square().sum() + self.imaginary.clone().square().sum()
    }
}

/// The distance of a generator's mean embedding from the released one, on a device.
#[derive(Clone, Debug)]
pub struct EmbeddingLoss {
    released: ReleasedEmbedding,
    blocks: Vec<WaveBlock>,
    features: Vec<Feature>,
    /// Shares of categories by class, 0 outside features. Shape `[classes, width]`.
    linear: Tensor<2>,
    /// 1 on the columns of features. Shape `[1, width]`.
    mask: Tensor<2>,
    /// The label's first column and its categories.
    label: Option<(usize, usize)>,
    /// Weights of a squared wave and of a squared share.
    weights: (f64, f64),
}

/// What part of a batch says: means of waves and of categories, class by class.
pub struct EmbeddingMeans {
    /// Shape `[classes, frequencies]`.
    waves: Complex,
    /// Shape `[classes, width]`.
    linear: Tensor<2>,
    /// The mean of each row's own squares, weighted: what a pair of a row with itself would add. Shape `[1]`.
    own: Tensor<1>,
}

/// What a slope needs of the pass before it.
pub struct EmbeddingPass {
    /// `z_j` of each feature. Shapes `[part, frequencies]`.
    waves: Vec<Complex>,
    /// `z_1 ⋯ z_j`, alike.
    products: Vec<Complex>,
    /// The probability of each class, 1 without a label. Shape `[part, classes]`.
    members: Tensor<2>,
}

/// The loss of a batch, and what its slope is made from.
pub struct EmbeddingDistance {
    block: usize,
    value: Tensor<1>,
    /// Means less targets, over pairs of different rows. Shape `[classes, frequencies]`.
    waves: Complex,
    /// The same of categories. Shape `[classes, width]`.
    linear: Tensor<2>,
}

impl EmbeddingLoss {
    /// Puts the targets on a device.
    pub fn new(released: &ReleasedEmbedding, layout: &RowLayout, device: &Device) -> Self {
        let (map, classes, width) = (&released.map, released.means.classes, layout.width());
        let wave_factor = map.wave_factor();
        let scale = if wave_factor > 0.0 {
            wave_factor.recip()
        } else {
            0.0
        };
        let target = |from: usize| {
            let rows = released.means.means.chunks_exact(map.width());
            let cells = rows.flat_map(|row| &row[from..from + FREQUENCY_BLOCK]);
            let cells = cells.map(|mean| (mean * scale) as f32).collect();
            matrix(cells, classes, FREQUENCY_BLOCK, device)
        };
        let waves = |block: usize, wave: fn(f32) -> f32| -> Vec<Tensor<2>> {
            let features = map.features().iter().enumerate();
            let on_device = features.map(|(index, feature)| {
                let values = map.waves(index, block).into_iter().map(wave).collect();
                matrix(values, feature.width, FREQUENCY_BLOCK, device)
            });
            on_device.collect()
        };
        let blocks = (0..map.frequencies() / FREQUENCY_BLOCK).map(|block| {
            let pairs = waves(block, f32::cos).into_iter().zip(waves(block, f32::sin));
            let features = pairs.map(|(real, imaginary)| Complex { real, imaginary });
            WaveBlock {
                features: features.collect(),
                target: Complex {
                    real: target(block * FREQUENCY_BLOCK),
                    imaginary: target(map.frequencies() + block * FREQUENCY_BLOCK),
                },
            }
        });
        let (mut linear, mut mask) = (vec![0.0; classes * width], vec![0.0; width]);
        for (class, row) in released.linear().enumerate() {
            let mut row = row.into_iter();
            for feature in map.features() {
                let place = class * width + feature.offset;
                let cells = &mut linear[place..place + feature.width];
                cells
                    .iter_mut()
                    .zip(&mut row)
                    .for_each(|(cell, share)| *cell = share as f32);
                mask[feature.offset..feature.offset + feature.width].fill(1.0);
            }
        }
        let linear_share = map.linear();
        Self {
            released: released.clone(),
            blocks: blocks.collect(),
            features: map.features().to_vec(),
            linear: matrix(linear, classes, width, device),
            mask: matrix(mask, 1, width, device),
            label: layout.label().map(|label| (label.offset, label.width)),
            weights: (
                WEIGHT * (1.0 - linear_share) / FREQUENCY_BLOCK as f64,
                WEIGHT * linear_share / map.features().len().max(1) as f64,
            ),
        }
    }

    /// What was released.
    pub const fn released(&self) -> &ReleasedEmbedding {
        &self.released
    }

    /// Shape `[part, classes]`.
    fn members(&self, probabilities: &Tensor<2>) -> Tensor<2> {
        match self.label {
            Some((offset, classes)) => probabilities.clone().narrow(1, offset, classes),
            None => Tensor::ones([probabilities.dims()[0], 1], &probabilities.device()),
        }
    }

    /// Each row's own squares, weighted. Shape `[part, 1]`.
    fn own(&self, wave: &Complex, categories: &Tensor<2>) -> Tensor<2> {
        let (waves, linear) = self.weights;
        wave.squared_rows().mul_scalar(waves) + categories.clone().square().sum_dim(1).mul_scalar(linear)
    }
}

/// Puts the parts of a slope where their columns are; 0 in between. Shape `[part, width]`.
fn placed(mut parts: Vec<(usize, Tensor<2>)>, like: &Tensor<2>) -> Tensor<2> {
    let [rows, width] = like.dims();
    parts.sort_by_key(|(offset, _)| *offset);
    let (mut all, mut end) = (Vec::new(), 0);
    let gap = |columns: usize| Tensor::<2>::zeros([rows, columns], &like.device());
    for (offset, part) in parts {
        if offset > end {
            all.push(gap(offset - end));
        }
        end = offset + part.dims()[1];
        all.push(part);
    }
    if end < width {
        all.push(gap(width - end));
    }
    Tensor::cat(all, 1)
}

impl BatchLoss for EmbeddingLoss {
    type Means = EmbeddingMeans;
    type Pass = EmbeddingPass;
    type Distance = EmbeddingDistance;

    fn means(&self, probabilities: &Tensor<2>, step: u64) -> (Self::Means, Self::Pass) {
        let block = &self.blocks[step as usize % self.blocks.len()];
        let share = 1.0 / probabilities.dims()[0] as f64;
        let members = self.members(probabilities);
        let (mut waves, mut products) = (Vec::new(), Vec::<Complex>::new());
        for (feature, columns) in self.features.iter().zip(&block.features) {
            let own = probabilities.clone().narrow(1, feature.offset, feature.width);
            let wave = columns.map(|columns| own.clone().matmul(columns.clone()));
            let product = match products.last() {
                Some(before) => before.times(&wave),
                None => wave.clone(),
            };
            waves.push(wave);
            products.push(product);
        }
        let wave = products.last().expect("a table has a column beside its label");
        let categories = probabilities.clone() * self.mask.clone();
        let by_class = members.clone().transpose();
        let mean = |values: &Tensor<2>| by_class.clone().matmul(values.clone()).mul_scalar(share);
        let squares = members.clone().square().sum_dim(1);
        let means = EmbeddingMeans {
            waves: wave.map(mean),
            linear: mean(&categories),
            own: (squares * self.own(wave, &categories)).sum().mul_scalar(share),
        };
        let pass = EmbeddingPass {
            waves,
            products,
            members,
        };
        (means, pass)
    }

    fn of_parts(parts: Vec<Self::Means>) -> Option<Self::Means> {
        let share = 1.0 / parts.len() as f64;
        let total = parts.into_iter().reduce(|one, other| EmbeddingMeans {
            waves: one.waves.with(&other.waves, |one, other| one + other),
            linear: one.linear + other.linear,
            own: one.own + other.own,
        })?;
        Some(EmbeddingMeans {
            waves: total.waves.map(|sum| sum.clone().mul_scalar(share)),
            linear: total.linear.mul_scalar(share),
            own: total.own.mul_scalar(share),
        })
    }

    /// The squared distance of `E[p_c·φ]` from the released means, class by class, without the bias that a mean over a
    /// batch brings: with B rows, mean ā, target r and the mean of own squares q, `E‖ā − r‖²` is too large by the
    /// variance over B, so
    ///
    /// ```text
    /// B/(B−1)·‖ā‖² − q/(B−1) − 2⟨ā, r⟩ + ‖r‖²
    /// ```
    ///
    /// takes pairs of different rows only.
    fn distance(&self, means: Self::Means, batch: usize, step: u64) -> Self::Distance {
        let index = step as usize % self.blocks.len();
        let target = &self.blocks[index].target;
        let others = (batch as f64 - 1.0).max(1.0);
        let excess = batch as f64 / others;
        let (waves, linear) = self.weights;
        let difference = means.waves.with(target, |mean, target| mean - target);
        let linear_difference = means.linear.clone() - self.linear.clone();
        let value = (difference.squares() + means.waves.squares().mul_scalar(excess - 1.0)).mul_scalar(waves)
            + (linear_difference.square().sum()
                + means.linear.clone().square().sum().mul_scalar(excess - 1.0))
            .mul_scalar(linear)
            - means.own.div_scalar(others);
        let less = |mean: Tensor<2>, target: Tensor<2>| mean.mul_scalar(excess) - target;
        EmbeddingDistance {
            block: index,
            value,
            waves: means.waves.with(target, less),
            linear: less(means.linear, self.linear.clone()),
        }
    }

    fn value(distance: &Self::Distance) -> Tensor<1> {
        distance.value.clone()
    }

    /// With `D = B/(B−1)·ā − r` and `Z = ∏ z_j`, the slope by a row's Z is `2/B·(Σ_c p_c D_c − Σ_c p_c²·Z/(B−1))`, which
    /// goes back through the product factor by factor, and that by p_c is `2/B·(⟨Z, D_c⟩ − p_c‖Z‖²/(B−1))`; categories
    /// by themselves alike.
    fn slope(
        &self,
        distance: &Self::Distance,
        probabilities: &Tensor<2>,
        pass: Self::Pass,
        batch: usize,
    ) -> Tensor<2> {
        let factor = 2.0 / batch as f64;
        let others = (batch as f64 - 1.0).max(1.0);
        let (wave_weight, linear_weight) = self.weights;
        let EmbeddingPass {
            waves,
            products,
            members,
        } = pass;
        let wave = products.last().expect("a table has a column beside its label");
        let categories = probabilities.clone() * self.mask.clone();
        let squares = members.clone().square().sum_dim(1).div_scalar(others);
        let linear = (members.clone().matmul(distance.linear.clone()) - categories.clone() * squares.clone())
            .mul_scalar(factor * linear_weight);
        let mut flow = distance
            .waves
            .map(|apart| members.clone().matmul(apart.clone()))
            .with(wave, |apart, wave| {
                (apart - wave * squares.clone()).mul_scalar(factor * wave_weight)
            });
        let columns = &self.blocks[distance.block].features;
        let mut parts = Vec::with_capacity(self.features.len() + 1);
        for (index, feature) in self.features.iter().enumerate().rev() {
            let at = match index.checked_sub(1) {
                Some(before) => flow.times_conjugate(&products[before]),
                None => flow.clone(),
            };
            let back = |at: &Tensor<2>, columns: &Tensor<2>| at.clone().matmul(columns.clone().transpose());
            let own = back(&at.real, &columns[index].real) + back(&at.imaginary, &columns[index].imaginary);
            parts.push((
                feature.offset,
                own + linear.clone().narrow(1, feature.offset, feature.width),
            ));
            if index > 0 {
                flow = flow.times_conjugate(&waves[index]);
            }
        }
        if let Some((offset, _)) = self.label {
            let along =
                |values: &Tensor<2>, apart: &Tensor<2>| values.clone().matmul(apart.clone().transpose());
            let own = self.own(wave, &categories).div_scalar(others);
            let by_class = (along(&wave.real, &distance.waves.real)
                + along(&wave.imaginary, &distance.waves.imaginary))
            .mul_scalar(wave_weight)
                + along(&categories, &distance.linear).mul_scalar(linear_weight)
                - members * own;
            parts.push((offset, by_class.mul_scalar(factor)));
        }
        placed(parts, probabilities)
    }
}

#[cfg(test)]
mod tests;
