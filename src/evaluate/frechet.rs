//! The Fréchet distance of two Gaussians (Dowson & Landau 1982), the core of every "FID".
//!
//! ```text
//! d² = |μ₁ − μ₂|² + tr Σ₁ + tr Σ₂ − 2·tr (Σ₁^½ Σ₂ Σ₁^½)^½
//! ```
//!
//! No square root of a matrix is taken. With any factors `Σ₁ = F₁F₁ᵀ` and `Σ₂ = F₂F₂ᵀ`, the eigenvalues of
//! `Σ₁^½ Σ₂ Σ₁^½` are those of `(F₁ᵀF₂)(F₁ᵀF₂)ᵀ`, so the last trace is the sum of the singular values of `F₁ᵀF₂` (its
//! nuclear norm), which is computed in double precision to the last digits that the factors have. A factor is the lower
//! triangle of Cholesky's; the symmetric root where the covariance is singular (of one-hot rows it always is, and there
//! the general square root of `Σ₁Σ₂` fails or turns complex); and the deviations themselves where rows are few.

use std::num::NonZeroUsize;

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use super::scatter::Scatter;
use super::singular::sum_of_singular_values;

/// Eigenvalues are found to this relative precision.
const PRECISION: f64 = 1e-13;
/// Sweeps after which a decomposition is given up (it converges in about two a row).
const SWEEPS: usize = 100_000;
/// A thread of its own pays from so many rows on.
const ROWS_A_THREAD: usize = 1000;

/// A sample as the mean of its rows and how they spread around it.
#[derive(Clone, Debug)]
pub struct Moments {
    count: usize,
    mean: DVector<f64>,
    spread: Spread,
}

/// How rows lie around their mean.
#[derive(Clone, Debug)]
enum Spread {
    /// `[width, count]`, a row of the sample a column, less the mean and divided by √(count − 1): the covariance is this
    /// matrix times itself transposed. Where rows are fewer than columns.
    Deviations(DMatrix<f64>),
    /// The covariance itself.
    Covariance(DMatrix<f64>),
}

impl Moments {
    /// The moments of row-major rows; the covariance is the unbiased one. `None` with fewer than two rows or
    /// with a value that is not finite.
    ///
    /// # Shapes
    /// - rows: `[count, width]`
    pub fn of(rows: &[f32], width: usize) -> Option<Self> {
        let count = rows.len().checked_div(width)?;
        if count < 2 || rows.len() != count * width {
            return None;
        }
        let scale = ((count - 1) as f64).sqrt().recip();
        let (mean, spread) = if count < width {
            let mut mean = DVector::zeros(width);
            for row in rows.chunks_exact(width) {
                let sums: &mut [f64] = mean.as_mut_slice();
                sums.iter_mut()
                    .zip(row)
                    .for_each(|(sum, value)| *sum += f64::from(*value));
            }
            mean /= count as f64;
            let mut deviations = DMatrix::zeros(width, count);
            deviate(rows, mean.as_slice(), scale, deviations.as_mut_slice());
            (mean, Spread::Deviations(deviations))
        } else {
            let Scatter { mean, sum, .. } = scatter(rows, width);
            (mean, Spread::Covariance(sum * (scale * scale)))
        };
        // Doubles hold every sum of singles: what is not finite was so in a row.
        if mean.iter().any(|mean| !mean.is_finite()) {
            return None;
        }
        Some(Self { count, mean, spread })
    }

    /// Rows behind the moments.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// The trace of the covariance.
    fn trace(&self) -> f64 {
        match &self.spread {
            Spread::Deviations(deviations) => deviations.norm_squared(),
            Spread::Covariance(covariance) => covariance.trace(),
        }
    }

    /// A matrix that times itself transposed is the covariance. `None` if it has no eigendecomposition.
    fn factor(&self) -> Option<DMatrix<f64>> {
        let covariance = match &self.spread {
            Spread::Deviations(deviations) => return Some(deviations.clone()),
            Spread::Covariance(covariance) => covariance,
        };
        if covariance.iter().any(|value| !value.is_finite()) {
            return None;
        }
        if let Some(found) = covariance.clone().cholesky() {
            return Some(found.l());
        }
        let eigen = SymmetricEigen::try_new(covariance.clone(), PRECISION, SWEEPS)?;
        let mut factor = eigen.eigenvectors;
        for (mut column, value) in factor.column_iter_mut().zip(eigen.eigenvalues.iter()) {
            column *= value.max(0.0).sqrt();
        }
        Some(factor)
    }
}

/// Rows less their mean, scaled.
fn deviate(rows: &[f32], mean: &[f64], scale: f64, deviations: &mut [f64]) {
    let width = mean.len();
    for (row, out) in rows.chunks_exact(width).zip(deviations.chunks_exact_mut(width)) {
        for ((out, value), mean) in out.iter_mut().zip(row).zip(mean) {
            *out = (f64::from(*value) - mean) * scale;
        }
    }
}

/// How rows lie around their mean, shared out among the cores.
fn scatter(rows: &[f32], width: usize) -> Scatter {
    let count = rows.len() / width;
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = cores.min(count / ROWS_A_THREAD).max(1);
    let (own, others) = rows.split_at(count.div_ceil(threads) * width);
    std::thread::scope(|scope| {
        let work: Vec<_> = others
            .chunks(own.len())
            .map(|rows| scope.spawn(move || Scatter::of(rows, width)))
            .collect();
        let join = |work: std::thread::ScopedJoinHandle<'_, Scatter>| {
            work.join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let own = Scatter::of(own, width);
        work.into_iter().map(join).fold(own, |all, part| all.with(&part))
    })
}

/// One side of the distance, prepared for many comparisons.
#[derive(Clone, Debug)]
pub struct FrechetReference {
    moments: Moments,
    /// See [`Moments::factor`].
    factor: DMatrix<f64>,
}

impl FrechetReference {
    /// Prepares a side. `None` if its covariance has no eigendecomposition.
    pub fn new(moments: Moments) -> Option<Self> {
        let factor = moments.factor()?;
        Some(Self { moments, factor })
    }

    /// The squared Fréchet distance to the other side (what "FID" reports); at least 0. `None` if the widths
    /// differ or a number is not finite.
    pub fn distance(&self, other: &Moments) -> Option<f64> {
        if self.moments.mean.len() != other.mean.len() {
            return None;
        }
        let overlap = sum_of_singular_values(&(self.factor.transpose() * other.factor()?))?;
        let shift = (&self.moments.mean - &other.mean).norm_squared();
        let distance = shift + self.moments.trace() + other.trace() - 2.0 * overlap;
        distance.is_finite().then_some(distance.max(0.0))
    }
}

/// The squared Fréchet distance of two samples of row-major rows. `None` with fewer than two rows on a side, or
/// with a value that is not finite. On real rows the result is for the steward only.
///
/// # Shapes
/// - real: `[rows, width]`, synthetic: `[other rows, width]`
pub fn frechet_distance(real: &[f32], synthetic: &[f32], width: usize) -> Option<f64> {
    FrechetReference::new(Moments::of(real, width)?)?.distance(&Moments::of(synthetic, width)?)
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::num::RandomSource;

    fn moments(mean: Vec<f64>, covariance: DMatrix<f64>) -> Moments {
        Moments {
            count: 2,
            mean: DVector::from_vec(mean),
            spread: Spread::Covariance(covariance),
        }
    }

    /// All deviations of rows, as one matrix.
    fn deviations(rows: &[f32], moments: &Moments) -> DMatrix<f64> {
        let mut deviations = DMatrix::zeros(moments.mean.len(), moments.count());
        let scale = ((moments.count() - 1) as f64).sqrt().recip();
        deviate(rows, moments.mean.as_slice(), scale, deviations.as_mut_slice());
        deviations
    }

    fn distance(one: &Moments, two: &Moments) -> f64 {
        FrechetReference::new(one.clone()).unwrap().distance(two).unwrap()
    }

    #[test]
    fn matches_the_closed_form_for_diagonal_covariances() {
        // d² = Σ (μ₁ − μ₂)² + (σ₁ − σ₂)²
        let diagonal = |values: [f64; 3]| DMatrix::from_diagonal(&DVector::from_row_slice(&values));
        let one = moments(vec![0.0, 1.0, 2.0], diagonal([4.0, 9.0, 1.0]));
        let two = moments(vec![1.0, 1.0, 0.0], diagonal([1.0, 0.25, 1.0]));
        let expected = (1.0 + 0.0 + 4.0) + (1.0 + 6.25 + 0.0);
        assert!((distance(&one, &two) - expected).abs() < 1e-10);
    }

    #[test]
    fn matches_the_closed_form_of_the_plane() {
        // In two dimensions tr √M = √(tr M + 2 √det M), and tr(Σ₁Σ₂), det(Σ₁Σ₂) need no square root of a matrix.
        let first = DMatrix::from_row_slice(2, 2, &[2.0_f64, 0.6, 0.6, 0.5]);
        let second = DMatrix::from_row_slice(2, 2, &[1.0_f64, -0.3, -0.3, 0.8]);
        let product = &first * &second;
        let overlap = (product.trace() + 2.0 * product.determinant().sqrt()).sqrt();
        let expected = first.trace() + second.trace() - 2.0 * overlap;
        let one = moments(vec![0.0; 2], first);
        let two = moments(vec![0.0; 2], second);
        assert!((distance(&one, &two) - expected).abs() < 1e-10);
        assert!((distance(&two, &one) - expected).abs() < 1e-10, "symmetric");
    }

    #[test]
    fn every_factor_gives_the_same_overlap() {
        let mut random = RandomSource::seeded(2);
        let mut rows =
            |count: usize| -> Vec<f32> { (0..count * 6).map(|_| random.random::<f32>()).collect() };
        let (nine, twelve) = (rows(9), rows(12));
        let (one, two) = (Moments::of(&nine, 6).unwrap(), Moments::of(&twelve, 6).unwrap());
        let by_triangle = distance(&one, &two);
        let few = FrechetReference {
            factor: deviations(&nine, &one),
            moments: one,
        };
        let by_deviations = few.distance(&two).unwrap();
        assert!(
            (by_triangle - by_deviations).abs() < 1e-9,
            "{by_triangle} {by_deviations}"
        );
    }

    #[test]
    fn is_zero_on_itself_even_when_singular() {
        let mut random = RandomSource::seeded(1);
        // One-hot rows: the columns of a block sum to one, so the covariance is singular.
        let mut rows = Vec::new();
        for _ in 0..500 {
            let mut row = [0.0_f32; 9];
            row[random.random_range(0..5)] = 1.0;
            row[random.random_range(5..9)] = 1.0;
            rows.extend(row);
        }
        let moments = Moments::of(&rows, 9).unwrap();
        assert!(distance(&moments, &moments) < 1e-6);
        assert_eq!(moments.count(), 500);
    }

    #[test]
    fn a_covariance_is_the_same_by_every_core() {
        let mut random = RandomSource::seeded(3);
        let (count, width) = (4 * ROWS_A_THREAD + 7, 9);
        let rows: Vec<f32> = (0..count * width).map(|_| random.random()).collect();
        let moments = Moments::of(&rows, width).unwrap();
        let deviations = deviations(&rows, &moments);
        let plain = &deviations * deviations.transpose();
        let Spread::Covariance(covariance) = moments.spread else {
            panic!("rows are many");
        };
        assert!((covariance - plain).amax() < 1e-14);
    }

    #[test]
    fn agrees_with_scipy_on_stored_features() {
        // By SciPy's general matrix square root of Σ₁Σ₂; see `tests/golden/README.md`.
        let features = include_str!("../../tests/golden/frechet_features.csv");
        let rows = |wanted: &str| -> (Vec<f32>, usize) {
            let mut width = 0;
            let lines = features.lines().filter_map(|line| line.strip_prefix(wanted));
            let values = lines.flat_map(|line| {
                let row: Vec<f32> = line.split(' ').map(|number| number.parse().unwrap()).collect();
                width = row.len();
                row
            });
            (values.collect(), width)
        };
        for line in include_str!("../../tests/golden/frechet.csv").lines().skip(1) {
            let (case, distance) = line.split_once(',').unwrap();
            let expected: f64 = distance.parse().unwrap();
            let (one, width) = rows(&format!("{case},one,"));
            let (other, _) = rows(&format!("{case},other,"));
            let found = frechet_distance(&one, &other, width).unwrap();
            assert!(
                (found / expected - 1.0).abs() < 1e-6,
                "case {case}: {found}, not {expected}"
            );
        }
    }

    #[test]
    fn refuses_what_has_no_distance() {
        assert!(Moments::of(&[1.0, f32::NAN, 1.0, 2.0], 2).is_none());
        assert!(Moments::of(&[1.0, 2.0], 2).is_none());
        assert!(Moments::of(&[], 0).is_none());
    }
}
