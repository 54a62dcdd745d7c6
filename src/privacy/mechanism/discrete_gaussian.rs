//! Discrete Gaussian noise: P(k) ∝ e^(−k²/2σ²) on whole numbers k.

use super::exact::{
    checked_scale, dyadic, exp_minus, exp_minus_whole, fair, uniform_below, uniform_below_wide,
};
use super::{DiscreteLaplace, MechanismError, distribution};
use crate::num::{Delta, Epsilon, RandomSource};
use crate::privacy::{PrivacyEvent, discrete_gaussian_sigma};

/// Discrete Gaussian noise of parameter σ on whole grid steps.
///
/// **Guarantee.** A statistic in whole steps that one unit changes by at most s, plus one draw, is s²/2σ²-zCDP (Canonne,
/// Kamath, Steinke 2020, Thm 4) and (ε, δ)-DP with δ = P(Y > εσ²/s − s/2) − e^ε P(Y > εσ²/s + s/2) (Thm 7).
/// Several statistics with noise of their own: s is then the ℓ2 norm of the changes for zCDP; each has its
/// own event here.
///
/// **Precondition.** s bounds the change under the stated relation, rounding included: see [`super::Grid`].
///
/// **Sampling.** Rejection as in Canonne, Kamath, Steinke 2020, §5.3, with the discrete Laplace of scale
/// t = σ itself in place of ⌊σ⌋ + 1: e^(−y²/2σ²) = e^(−½(|y|/σ − 1)²) · e^(−|y|/σ) · √e, so a draw y is kept with
/// probability e^(−½(|y|/σ − 1)²); about three in four are. With σ = n/2^k exactly (every double-precision number
/// from 2^(−10) to 2^52) that exponent is (|y|·2^k − n)²/2n², a fraction of integers below 2^128. The
/// distribution is exact but for draws beyond 1000σ, of probability below e^(−1000), which are drawn again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiscreteGaussian {
    sigma: f64,
    numerator: u64,
    halvings: u32,
    proposal: DiscreteLaplace,
}

impl DiscreteGaussian {
    /// Noise of parameter σ, in grid steps.
    ///
    /// # Errors
    /// A σ that is not between 2^(−10) and 2^52.
    pub fn new(sigma: f64) -> Result<Self, MechanismError> {
        let (numerator, halvings) = dyadic(checked_scale("sigma", sigma)?);
        Ok(Self {
            sigma,
            numerator,
            halvings,
            proposal: DiscreteLaplace::new(sigma)?,
        })
    }

    /// The least noise, to 1e-4 relative, that makes a statistic of sensitivity `sensitivity` steps (ε, δ)-DP by the
    /// loss-distribution accountant's count.
    ///
    /// # Errors
    /// δ = 0, a sensitivity of 0, or a σ out of range.
    pub fn for_budget(epsilon: Epsilon, delta: Delta, sensitivity: u64) -> Result<Self, MechanismError> {
        Self::new(discrete_gaussian_sigma(epsilon, delta, sensitivity)?.value)
    }

    /// σ of the formula, in grid steps; the standard deviation is a little less where σ is small.
    pub fn sigma(self) -> f64 {
        self.sigma
    }

    /// One draw, in grid steps.
    pub fn sample(self, random: &mut RandomSource) -> i64 {
        loop {
            let y = self.proposal.sample(random);
            if self.keeps(y.unsigned_abs(), random) {
                return y;
            }
        }
    }

    /// True with probability e^(−z²/2n²), z = | |y|·2^k − n |.
    fn keeps(self, magnitude: u64, random: &mut RandomSource) -> bool {
        let n = self.numerator;
        let distance = (u128::from(magnitude) << self.halvings).abs_diff(u128::from(n));
        let Ok(z) = u64::try_from(distance) else {
            return false;
        };
        if z <= n {
            // ½ · z/n · z/n, each a coin.
            return exp_minus(random, |random| {
                fair(random) && uniform_below(n, random) < z && uniform_below(n, random) < z
            });
        }
        let (square, unit) = (u128::from(z) * u128::from(z), 2 * u128::from(n) * u128::from(n));
        exp_minus_whole(square / unit, random)
            && exp_minus(random, |random| uniform_below_wide(unit, random) < square % unit)
    }

    /// P(noise = k).
    pub fn probability(self, k: i64) -> f64 {
        distribution::gaussian_probability(self.sigma, k)
    }

    /// The least k with P(noise ≤ k) ≥ p.
    ///
    /// # Errors
    /// A p that is not above 0 and below 1.
    pub fn quantile(self, p: f64) -> Result<i64, MechanismError> {
        distribution::probability("p", p)?;
        Ok(distribution::gaussian_quantile(self.sigma, p))
    }

    /// The least a with P(|noise| ≤ a) ≥ confidence: the half-width of an interval.
    ///
    /// # Errors
    /// A confidence that is not above 0 and below 1.
    pub fn half_width(self, confidence: f64) -> Result<i64, MechanismError> {
        distribution::probability("confidence", confidence)?;
        Ok(distribution::gaussian_half_width(self.sigma, confidence))
    }

    /// The true variance, below σ².
    pub fn variance(self) -> f64 {
        distribution::gaussian_variance(self.sigma)
    }

    /// What the accountants are told of one draw on a statistic of sensitivity `sensitivity` steps.
    pub fn event(self, sensitivity: u64) -> PrivacyEvent {
        PrivacyEvent::DiscreteGaussian {
            sigma: self.sigma,
            sensitivity,
        }
    }
}
