//! The error of a statistic that several noisy sums go into: a weighted sum of independent noises.

use super::{MechanismError, Noise, distribution};

/// Scales nearer to each other than this, relatively, are moved apart: the partial fractions below cancel otherwise.
const APART: f64 = 1e-4;
/// Halvings of a bracket that holds a quantile: to the last bits that matter.
const HALVINGS: usize = 60;

/// Σ wᵢ·noiseᵢ, the noises independent.
///
/// - One noise is itself, scaled, whatever its kind: exact.
/// - Gaussians add up to a Gaussian of variance Σ wᵢ²σᵢ²: exact; of discrete ones the variances are the true ones
///   and the sum is taken as continuous.
/// - Laplace noises of different scales bᵢ = |wᵢ|·scaleᵢ: the characteristic function Π 1/(1 + bᵢ²t²) falls into partial
///   fractions Σ cᵢ/(1 + bᵢ²t²) with cᵢ = Π_{j≠i} bᵢ²/(bᵢ² − bⱼ²), so the sum is a mixture, with weights that add up to
///   1 and may be negative, of Laplace noises of the same scales: density Σ cᵢ e^(−|x|/bᵢ)/2bᵢ, P(|x| > a) = Σ cᵢ
///   e^(−a/bᵢ), E|x| = Σ cᵢbᵢ. Equal scales are moved apart by a ten-thousandth. Discrete ones enter with the scale that
///   has their variance, b = √(var/2).
/// - Of mixed kinds only the variance is kept: the sum is taken as Gaussian.
#[derive(Clone, Debug, PartialEq)]
pub enum NoiseSum {
    /// One noise times a weight.
    One {
        /// The noise.
        noise: Noise,
        /// The unit of the noise in that of the statistic, above 0.
        weight: f64,
    },
    /// A mixture of Laplace noises.
    Laplace {
        /// (bᵢ, cᵢ).
        parts: Vec<(f64, f64)>,
        /// The variance, Σ 2bᵢ².
        variance: f64,
    },
}

impl NoiseSum {
    /// The sum of these noises times their weights; those of weight 0 are left out.
    ///
    /// # Errors
    /// A weight that is not finite, or no noise with a weight.
    pub fn new(terms: &[(f64, Noise)]) -> Result<Self, MechanismError> {
        for &(weight, _) in terms {
            MechanismError::check("a weight", "finite", weight, weight.is_finite())?;
        }
        let mut terms: Vec<(f64, Noise)> = terms
            .iter()
            .map(|&(weight, noise)| (weight.abs(), noise))
            .filter(|&(weight, _)| weight > 0.0)
            .collect();
        let Some((weight, noise)) = terms.pop() else {
            return Err(MechanismError::NothingToChoose("no noise has a weight"));
        };
        if terms.is_empty() {
            return Ok(Self::One { noise, weight });
        }
        terms.push((weight, noise));
        let variance = |&(weight, noise): &(f64, Noise)| (weight * noise.root_mean_square_error()).powi(2);
        let total: f64 = terms.iter().map(variance).sum();
        let laplace = |noise: Noise| matches!(noise, Noise::Laplace { .. } | Noise::DiscreteLaplace { .. });
        if terms.iter().any(|term| !laplace(term.1)) {
            return Ok(Self::One {
                noise: Noise::Gaussian { sigma: total.sqrt() },
                weight: 1.0,
            });
        }
        let mut scales: Vec<f64> = terms.iter().map(|term| (variance(term) / 2.0).sqrt()).collect();
        scales.sort_by(|a, b| b.total_cmp(a));
        for at in 1..scales.len() {
            scales[at] = scales[at].min(scales[at - 1] * (1.0 - APART));
        }
        let share = |at: usize| -> f64 {
            let others = scales.iter().enumerate().filter(|&(other, _)| other != at);
            // (bⱼ/bᵢ)² first, since squares alone may leave the range of floats.
            others
                .map(|(_, b)| 1.0 / (1.0 - (b / scales[at]).powi(2)))
                .product()
        };
        Ok(Self::Laplace {
            parts: scales.iter().enumerate().map(|(at, &b)| (b, share(at))).collect(),
            variance: total,
        })
    }

    /// E|sum|.
    pub fn expected_error(&self) -> f64 {
        match self {
            Self::One { noise, weight } => weight * noise.expected_error(),
            Self::Laplace { parts, .. } => parts.iter().map(|(b, share)| share * b).sum(),
        }
    }

    /// √E[sum²].
    pub fn root_mean_square_error(&self) -> f64 {
        match self {
            Self::One { noise, weight } => weight * noise.root_mean_square_error(),
            Self::Laplace { variance, .. } => variance.sqrt(),
        }
    }

    /// P(|sum| ≤ a). 0 for a below 0 or NaN.
    pub fn probability_within(&self, a: f64) -> f64 {
        if a.is_nan() || a < 0.0 {
            return 0.0;
        }
        match self {
            // A hair more than a, so that a whole number of steps is one after the division.
            Self::One { noise, weight } => noise.probability_within(a / weight * (1.0 + 1e-12)),
            Self::Laplace { parts, .. } => {
                let beyond: f64 = parts.iter().map(|(b, share)| share * (-a / b).exp()).sum();
                (1.0 - beyond).clamp(0.0, 1.0)
            }
        }
    }

    /// The least a with P(|sum| ≤ a) ≥ p.
    ///
    /// # Errors
    /// A p that is not above 0 and below 1.
    pub fn error_quantile(&self, p: f64) -> Result<f64, MechanismError> {
        distribution::probability("the probability", p)?;
        match self {
            Self::One { noise, weight } => Ok(weight * noise.error_quantile(p)?),
            Self::Laplace { parts, .. } => {
                let (mut low, mut high) = (0.0, parts[0].0);
                while self.probability_within(high) < p {
                    low = high;
                    high *= 2.0;
                }
                for _ in 0..HALVINGS {
                    let middle = f64::midpoint(low, high);
                    if self.probability_within(middle) < p {
                        low = middle;
                    } else {
                        high = middle;
                    }
                }
                Ok(high)
            }
        }
    }

    /// The density at x; of discrete noise, the probability of the nearest step over the step's width.
    pub fn density(&self, x: f64) -> f64 {
        match self {
            Self::One { noise, weight } => noise.density(x / weight) / weight,
            Self::Laplace { parts, .. } => {
                let terms = parts
                    .iter()
                    .map(|(b, share)| share * (-x.abs() / b).exp() / (2.0 * b));
                terms.sum::<f64>().max(0.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::RandomSource;

    fn close(one: f64, other: f64, relative: f64) {
        assert!((one - other).abs() <= relative * other.abs(), "{one} and {other}");
    }

    #[test]
    fn one_noise_is_itself_scaled() {
        let noise = Noise::DiscreteLaplace { scale: 3.0 };
        let sum = NoiseSum::new(&[(0.0, Noise::Laplace { scale: 9.0 }), (-2.0, noise)]).unwrap();
        close(sum.expected_error(), 2.0 * noise.expected_error(), 1e-15);
        close(
            sum.root_mean_square_error(),
            2.0 * noise.root_mean_square_error(),
            1e-15,
        );
        for a in 0..20 {
            let steps = f64::from(a);
            close(
                sum.probability_within(2.0 * steps),
                noise.probability_within(steps),
                1e-12,
            );
        }
        close(
            sum.error_quantile(0.95).unwrap(),
            2.0 * noise.error_quantile(0.95).unwrap(),
            1e-15,
        );
    }

    #[test]
    fn two_laplace_noises_have_the_known_closed_form() {
        let (b, c) = (2.0, 0.5);
        let sum = NoiseSum::new(&[
            (1.0, Noise::Laplace { scale: b }),
            (0.25, Noise::Laplace { scale: 4.0 * c }),
        ]);
        let sum = sum.unwrap();
        // E|X + Y| = (b² + bc + c²)/(b + c).
        close(sum.expected_error(), (b * b + b * c + c * c) / (b + c), 1e-12);
        close(sum.root_mean_square_error().powi(2), 2.0 * (b * b + c * c), 1e-12);
        // Equal scales: E|X + Y| = 3b/2 and P(|X + Y| > a) = (1 + a/2b)e^(−a/b).
        let equal = NoiseSum::new(&[(1.0, Noise::Laplace { scale: b }); 2]).unwrap();
        close(equal.expected_error(), 1.5 * b, 2e-4);
        for a in [0.1, 1.0, 5.0] {
            close(
                1.0 - equal.probability_within(a),
                (1.0 + a / (2.0 * b)) * (-a / b).exp(),
                2e-4,
            );
        }
    }

    #[test]
    fn density_and_distribution_agree_and_a_quantile_is_reached() {
        let laplace = |scale| Noise::Laplace { scale };
        for terms in [
            vec![(1.0, laplace(1.0)), (3.0, laplace(2.0)), (0.5, laplace(2.0))],
            vec![
                (1.0, Noise::Gaussian { sigma: 2.0 }),
                (2.0, Noise::Gaussian { sigma: 1.0 }),
            ],
            vec![(1.0, laplace(5.0)), (1e-9, laplace(1.0))],
        ] {
            let sum = NoiseSum::new(&terms).unwrap();
            for p in [0.05, 0.5, 0.95, 0.999] {
                close(sum.probability_within(sum.error_quantile(p).unwrap()), p, 1e-9);
            }
            let (a, steps) = (sum.error_quantile(0.9).unwrap(), 4000);
            let width = a / f64::from(steps);
            let inside: f64 = (0..steps)
                .map(|at| 2.0 * width * sum.density((f64::from(at) + 0.5) * width))
                .sum();
            close(inside, 0.9, 1e-4);
        }
    }

    /// 20,000 draws of a sum against its closed form; the mean magnitude lies within 5.5 standard errors (false
    /// alarms below 1e-6 for all cases together: 3 · 4e-8).
    #[test]
    fn sums_of_draws_have_the_mean_error_that_is_said() {
        use rand_distr::{Distribution as _, Normal, Uniform};
        let mut random = RandomSource::seeded(11);
        let uniform = Uniform::new(0.0_f64, 1.0).unwrap();
        let normal = Normal::new(0.0, 1.0).unwrap();
        for terms in [
            vec![
                (1.0, Noise::Laplace { scale: 1.0 }),
                (2.0, Noise::Laplace { scale: 1.5 }),
            ],
            vec![(1.0, Noise::Laplace { scale: 1.0 }); 3],
            vec![
                (1.0, Noise::Gaussian { sigma: 2.0 }),
                (0.5, Noise::Gaussian { sigma: 3.0 }),
            ],
        ] {
            let sum = NoiseSum::new(&terms).unwrap();
            let count = 20_000;
            let mut total = 0.0;
            for _ in 0..count {
                let draw: f64 = terms
                    .iter()
                    .map(|&(weight, noise)| match noise {
                        Noise::Gaussian { sigma } => weight * sigma * normal.sample(&mut random),
                        other => weight * other.quantile(uniform.sample(&mut random).max(1e-300)),
                    })
                    .sum();
                total += draw.abs();
            }
            let error = sum.root_mean_square_error() / f64::from(count).sqrt();
            let mean = total / f64::from(count);
            assert!(
                (mean - sum.expected_error()).abs() < 5.5 * error,
                "{mean} {sum:?}"
            );
        }
    }
}
