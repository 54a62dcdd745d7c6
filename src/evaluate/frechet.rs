//! The Fréchet distance of two Gaussians (Dowson & Landau 1982), the core of every "FID".
//!
//! ```text
//! d² = |μ₁ − μ₂|² + tr Σ₁ + tr Σ₂ − 2·tr (Σ₁^½ Σ₂ Σ₁^½)^½
//! ```
//!
//! Written with `Σ₁^½ Σ₂ Σ₁^½`, which is symmetric and has no negative eigenvalue, instead of the usual
//! `(Σ₁Σ₂)^½`, so that two symmetric eigendecompositions in double precision suffice. Covariances of one-hot
//! rows are always singular; there the general square root fails or turns complex.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// Eigenvalues are found to this relative precision.
const EIGEN_PRECISION: f64 = 1e-12;
/// Sweeps after which an eigendecomposition is given up (it converges in about two a row).
const EIGEN_SWEEPS: usize = 100_000;

/// A sample as its mean and its rows' deviations from it: all that mean and covariance need.
#[derive(Clone, Debug)]
pub struct Moments {
    mean: DVector<f64>,
    /// `[count, width]`, divided by √(count − 1): the covariance is this matrix transposed times itself.
    deviations: DMatrix<f64>,
}

impl Moments {
    /// The moments of row-major rows; the covariance is the unbiased one. `None` with fewer than two rows or
    /// with a value that is not finite.
    ///
    /// # Shapes
    /// - rows: `[count, width]`
    pub fn of(rows: &[f32], width: usize) -> Option<Self> {
        let count = rows.len().checked_div(width)?;
        if count < 2 || rows.len() != count * width || rows.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let values = rows.iter().map(|value| f64::from(*value));
        let mut deviations = DMatrix::from_row_iterator(count, width, values);
        let mean = deviations.row_mean().transpose();
        let scale = ((count - 1) as f64).sqrt().recip();
        for (mut column, mean) in deviations.column_iter_mut().zip(mean.iter()) {
            column.add_scalar_mut(-mean);
            column *= scale;
        }
        Some(Self { mean, deviations })
    }

    /// Rows behind the moments.
    pub fn count(&self) -> usize {
        self.deviations.nrows()
    }

    /// The trace of the covariance.
    fn spread(&self) -> f64 {
        self.deviations.norm_squared()
    }

    fn covariance(&self) -> DMatrix<f64> {
        // Not `tr_mul`, which is a plain loop: this product goes through a blocked kernel.
        self.deviations.transpose() * &self.deviations
    }
}

/// One side of the distance, prepared for many comparisons.
#[derive(Clone, Debug)]
pub struct FrechetReference {
    moments: Moments,
    /// The covariance's square root; `None` when there are fewer rows than columns, where the smaller product
    /// of the deviations serves instead.
    root: Option<DMatrix<f64>>,
}

impl FrechetReference {
    /// Prepares a side. `None` if its covariance has no eigendecomposition.
    pub fn new(moments: Moments) -> Option<Self> {
        if moments.count() < moments.mean.len() {
            return Some(Self { moments, root: None });
        }
        let eigen = decompose(&moments.covariance())?;
        let mut scaled = eigen.eigenvectors.clone();
        for (mut column, value) in scaled.column_iter_mut().zip(eigen.eigenvalues.iter()) {
            column *= value.max(0.0).sqrt();
        }
        let root = scaled * eigen.eigenvectors.transpose();
        Some(Self {
            moments,
            root: Some(root),
        })
    }

    /// The squared Fréchet distance to the other side (what "FID" reports); at least 0. `None` if the widths
    /// differ or a number is not finite.
    pub fn distance(&self, other: &Moments) -> Option<f64> {
        if self.moments.mean.len() != other.mean.len() {
            return None;
        }
        let square = if let Some(root) = &self.root {
            root * other.covariance() * root
        } else {
            // With Σ₁ = AᵀA and Σ₂ = BᵀB, Σ₁^½ Σ₂ Σ₁^½ and (ABᵀ)(ABᵀ)ᵀ have the same eigenvalues but for zeros.
            let product = &self.moments.deviations * other.deviations.transpose();
            &product * product.transpose()
        };
        let overlap: f64 = decompose(&square)?
            .eigenvalues
            .iter()
            .map(|value| value.max(0.0).sqrt())
            .sum();
        let shift = (&self.moments.mean - &other.mean).norm_squared();
        let distance = shift + self.moments.spread() + other.spread() - 2.0 * overlap;
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

/// The eigendecomposition of a matrix that is symmetric up to rounding.
fn decompose(matrix: &DMatrix<f64>) -> Option<SymmetricEigen<f64, nalgebra::Dyn>> {
    if matrix.iter().any(|value| !value.is_finite()) {
        // The iteration would not end.
        return None;
    }
    let symmetric = (matrix + matrix.transpose()) * 0.5;
    SymmetricEigen::try_new(symmetric, EIGEN_PRECISION, EIGEN_SWEEPS)
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::num::RandomSource;

    /// Moments with this covariance, by its Cholesky factor (which wants it positive definite).
    fn moments(mean: Vec<f64>, covariance: DMatrix<f64>) -> Moments {
        let deviations = covariance.cholesky().unwrap().l().transpose();
        Moments {
            mean: DVector::from_vec(mean),
            deviations,
        }
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
    fn both_ways_to_the_overlap_agree() {
        let mut random = RandomSource::seeded(2);
        let mut rows =
            |count: usize| -> Vec<f32> { (0..count * 6).map(|_| random.random::<f32>()).collect() };
        let (one, two) = (
            Moments::of(&rows(9), 6).unwrap(),
            Moments::of(&rows(12), 6).unwrap(),
        );
        let by_root = distance(&one, &two);
        let by_product = FrechetReference {
            moments: one,
            root: None,
        }
        .distance(&two)
        .unwrap();
        assert!((by_root - by_product).abs() < 1e-6, "{by_root} {by_product}");
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
