//! A public map of rows of categories into a space where means tell tables apart: random features of whole rows, and
//! each category by itself.
//!
//! ```text
//! φ(x) = [ √(1−a)·cos Ωᵀx/√m ; √(1−a)·sin Ωᵀx/√m ; √a·x/√J ]
//! ```
//!
//! with x the one-hot row of J columns and columns of Ω normal over a scale s drawn log-uniformly. The two parts are
//! those of Harder, Adamczewski & Park (2021, their "DP-MERF", section on heterogeneous data): a sum of a Gaussian
//! kernel and a linear one, here weighted by `1−a` and a. `cos² + sin² = 1` at each frequency and x has J ones, so
//! **‖φ(x)‖ = 1 for every row**: the sensitivity of a sum of φ needs no clipping.
//!
//! Two rows that differ in h columns are √(2h) apart, so the Gaussian kernel is `∏ (1 − p·[they differ])` over columns
//! with `p = 1 − e^(−1/s²)`: a share of about `(J choose k)·pᵏ(1−p)^(J−k)` of it tells how k columns go together. Scales
//! near √J spread it over one to a few columns; smaller ones ask for relations of many columns, which noise drowns.
//!
//! The map is drawn from public randomness and holds nothing of the data.

use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

/// Frequencies that are looked at in one step.
pub const BLOCK: usize = 125;
/// The range of s over √J.
const SCALES: (f64, f64) = (0.6, 1.2);
/// φ is scaled down by this much, so that rounding cannot carry its norm past 1.
const NORM_MARGIN: f64 = 1.0 - 1e-5;

/// A one-hot block of a row that is embedded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Its place among a row's codes.
    pub code: usize,
    /// Its first encoded column.
    pub offset: usize,
    /// Its categories.
    pub width: usize,
}

/// The map.
#[derive(Clone, Debug, PartialEq)]
pub struct RowEmbedding {
    features: Vec<Feature>,
    /// The first of each feature's rows in Ω, and so of its places in the linear part.
    starts: Vec<usize>,
    /// Ω. Shape `[categories of all features, frequencies]`, row-major.
    omega: Vec<f32>,
    frequencies: usize,
    /// a.
    linear: f64,
}

impl RowEmbedding {
    /// A map of this many frequencies, rounded up to whole blocks, that gives the share `linear` of φ's squared norm to
    /// each category by itself.
    pub fn new(features: Vec<Feature>, frequencies: usize, linear: f64, random: &mut impl Rng) -> Self {
        let frequencies = Self::whole_blocks(frequencies);
        let root = (features.len().max(1) as f64).sqrt();
        let (low, high) = (SCALES.0 * root, SCALES.1 * root);
        let scales: Vec<f64> = (0..frequencies)
            .map(|_| (random.random::<f64>() * (high / low).ln()).exp() * low)
            .collect();
        let width: usize = features.iter().map(|feature| feature.width).sum();
        let omega = (0..width * frequencies).map(|place| {
            let normal: f64 = StandardNormal.sample(random);
            (normal / scales[place % frequencies]) as f32
        });
        let omega = omega.collect();
        Self::of(features, omega, linear)
    }

    /// So many frequencies, rounded up to whole blocks.
    pub const fn whole_blocks(frequencies: usize) -> usize {
        let blocks = frequencies.div_ceil(BLOCK);
        BLOCK * if blocks == 0 { 1 } else { blocks }
    }

    /// The map of a known Ω, `[categories of all features, frequencies]` row-major.
    pub fn of(features: Vec<Feature>, omega: Vec<f32>, linear: f64) -> Self {
        let mut width = 0;
        let mut starts = Vec::with_capacity(features.len());
        for feature in &features {
            starts.push(width);
            width += feature.width;
        }
        Self {
            frequencies: omega.len() / width.max(1),
            features,
            starts,
            omega,
            linear,
        }
    }

    /// The length of φ.
    pub fn width(&self) -> usize {
        2 * self.frequencies + self.categories()
    }

    /// Categories of all features together.
    pub fn categories(&self) -> usize {
        self.omega.len() / self.frequencies
    }

    /// Ω. Shape `[categories, frequencies]`, row-major.
    pub fn omega(&self) -> &[f32] {
        &self.omega
    }

    /// The features.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// m.
    pub const fn frequencies(&self) -> usize {
        self.frequencies
    }

    /// a.
    pub const fn linear(&self) -> f64 {
        self.linear
    }

    /// What a cosine or a sine is multiplied by in φ.
    pub fn wave_factor(&self) -> f64 {
        NORM_MARGIN * ((1.0 - self.linear) / self.frequencies as f64).sqrt()
    }

    /// What a category's 1 is multiplied by in φ.
    pub fn linear_factor(&self) -> f64 {
        NORM_MARGIN * (self.linear / self.features.len().max(1) as f64).sqrt()
    }

    /// Ω of one feature at one block of frequencies. Shape `[categories, BLOCK]`, row-major.
    pub fn waves(&self, feature: usize, block: usize) -> Vec<f32> {
        let start = self.starts[feature];
        let rows = start..start + self.features[feature].width;
        let row = |at: usize| {
            let first = at * self.frequencies + block * BLOCK;
            &self.omega[first..first + BLOCK]
        };
        rows.flat_map(row).copied().collect()
    }

    /// Adds φ of a row to a sum. A row is hot at one place of each block, so `Ωᵀx` is a sum of J rows of Ω.
    ///
    /// # Shapes
    /// - codes: one for each one-hot block of a row
    /// - sum: `[width]`
    /// - phases: room for `[frequencies]`
    pub fn add(&self, codes: &[u16], sum: &mut [f64], phases: &mut Vec<f32>) {
        let m = self.frequencies;
        let (waves, linear) = sum.split_at_mut(2 * m);
        let (wave, single) = (self.wave_factor(), self.linear_factor());
        phases.clear();
        phases.resize(m, 0.0);
        for (feature, start) in self.features.iter().zip(&self.starts) {
            let at = start + usize::from(codes[feature.code]);
            linear[at] += single;
            for (phase, more) in phases.iter_mut().zip(&self.omega[at * m..(at + 1) * m]) {
                *phase += more;
            }
        }
        let (cosines, sines) = waves.split_at_mut(m);
        for ((phase, cosine), sine) in phases.iter().zip(cosines).zip(sines) {
            let (s, c) = f64::from(*phase).sin_cos();
            *cosine += wave * c;
            *sine += wave * s;
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha20Rng;

    use super::*;

    fn features(widths: &[usize]) -> Vec<Feature> {
        let mut offset = 0;
        let blocks = widths.iter().enumerate().map(|(code, &width)| {
            offset += width;
            Feature {
                code,
                offset: offset - width,
                width,
            }
        });
        blocks.collect()
    }

    fn embedded(map: &RowEmbedding, codes: &[u16]) -> Vec<f64> {
        let mut sum = vec![0.0; map.width()];
        map.add(codes, &mut sum, &mut Vec::new());
        sum
    }

    fn dot(one: &[f64], other: &[f64]) -> f64 {
        one.iter().zip(other).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn every_row_has_norm_one_and_never_more() {
        let mut random = ChaCha20Rng::seed_from_u64(1);
        for (widths, linear) in [(&[2, 3, 7][..], 0.3), (&[1][..], 0.0), (&[40, 2][..], 0.9)] {
            let map = RowEmbedding::new(features(widths), 300, linear, &mut random);
            assert_eq!(map.frequencies(), 3 * BLOCK, "whole blocks");
            for _ in 0..50 {
                let code = |width: &usize| random.random_range(0..*width as u16);
                let codes: Vec<u16> = widths.iter().map(code).collect();
                let phi = embedded(&map, &codes);
                let norm = dot(&phi, &phi).sqrt();
                assert!(norm <= 1.0 && norm > 1.0 - 2e-5, "{norm}");
            }
        }
    }

    #[test]
    fn waves_are_near_the_kernel_of_the_columns_that_differ() {
        let mut random = ChaCha20Rng::seed_from_u64(2);
        let map = RowEmbedding::new(features(&[5; 9]), 40_000, 0.0, &mut random);
        let same = embedded(&map, &[0; 9]);
        for differing in [1, 4, 9] {
            let mut codes = [0; 9];
            codes[..differing].fill(3);
            let found = dot(&same, &embedded(&map, &codes));
            // The mean of exp(−h/s²) over s log-uniform between .6 and 1.2 times 3.
            let steps = 1000;
            let kernel = (0..steps).map(|step| {
                let place = (f64::from(step) + 0.5) / f64::from(steps);
                let scale = 3.0 * SCALES.0 * (SCALES.1 / SCALES.0).powf(place);
                (-(differing as f64) / (scale * scale)).exp()
            });
            let expected = kernel.sum::<f64>() / f64::from(steps);
            // A mean of 40,000 cosines, each of deviation at most 1: five deviations (false alarm below 1e-6) and the
            // margin.
            assert!(
                (found - expected).abs() < 5.0 / 200.0,
                "{differing}: {found} {expected}"
            );
        }
    }
}
