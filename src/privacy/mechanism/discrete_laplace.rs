//! Discrete Laplace noise: P(k) = (1 − r)/(1 + r) · r^|k|, r = e^(−1/t), on whole numbers k.

use super::exact::{checked_scale, dyadic, exp_minus, exp_minus_one, fair, uniform_below};
use super::{MechanismError, distribution};
use crate::num::{Epsilon, RandomSource};
use crate::privacy::PrivacyEvent;

/// Discrete Laplace (two-sided geometric) noise of scale t on whole grid steps.
///
/// **Guarantee.** A statistic in whole steps that one unit changes by at most s, plus one draw, is (s/t)-DP:
/// P(k)/P(k + s) = e^((|k + s| − |k|)/t) lies within e^(±s/t) (the geometric mechanism of Ghosh, Roughgarden, Sundararajan
/// 2009, "Universally utility-maximizing privacy mechanisms", §2).
///
/// **Precondition.** s bounds the change under the stated relation, rounding included: see [`super::Grid`].
///
/// **Sampling.** Canonne, Kamath, Steinke 2020, §5.2. The scale is used exactly: every double-precision
/// number from 2^(−10) to 2^52 is n/2^k with n < 2^53, and with U uniform below n, kept with probability e^(−U/n),
/// and V geometric at e^(−1), X = U + nV has P(X = x) ∝ e^(−x/n), so ⌊X/2^k⌋ is geometric at e^(−2^k/n) = e^(−1/t).
/// A fair sign, −0 drawn again. The distribution is exact but for draws beyond 64 bits, of probability below
/// e^(−2000), which are cut to the largest (a cut that knows nothing of the data).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiscreteLaplace {
    scale: f64,
    numerator: u64,
    halvings: u32,
}

impl DiscreteLaplace {
    /// Noise of scale t, in grid steps.
    ///
    /// # Errors
    /// A scale that is not between 2^(−10) and 2^52.
    pub fn new(scale: f64) -> Result<Self, MechanismError> {
        let (numerator, halvings) = dyadic(checked_scale("the noise's scale", scale)?);
        Ok(Self {
            scale,
            numerator,
            halvings,
        })
    }

    /// The least noise that makes a statistic of sensitivity `sensitivity` steps ε-DP: t = s/ε, rounded up to
    /// the next number whose s/t is not above ε.
    ///
    /// # Errors
    /// A sensitivity of 0 or above 2⁵², or a scale out of range.
    pub fn for_epsilon(epsilon: Epsilon, sensitivity: u64) -> Result<Self, MechanismError> {
        Self::for_rate(epsilon.get(), sensitivity)
    }

    /// As [`DiscreteLaplace::for_epsilon`], for a bare number.
    pub(super) fn for_rate(epsilon: f64, sensitivity: u64) -> Result<Self, MechanismError> {
        let steps = sensitivity as f64;
        let within = (1..=1 << 52).contains(&sensitivity);
        MechanismError::check("sensitivity", "between 1 and 2^52 grid steps", steps, within)?;
        let mut noise = Self::new(steps / epsilon)?;
        // The sign of t·ε − s, rounded once, is exact.
        while noise.scale.mul_add(epsilon, -steps) < 0.0 {
            noise = Self::new(noise.scale.next_up())?;
        }
        Ok(noise)
    }

    /// t, in grid steps.
    pub fn scale(self) -> f64 {
        self.scale
    }

    /// One draw, in grid steps.
    pub fn sample(self, random: &mut RandomSource) -> i64 {
        loop {
            let magnitude = self.magnitude(random);
            let negative = fair(random);
            if negative && magnitude == 0 {
                continue;
            }
            let magnitude = i64::try_from(magnitude).unwrap_or(i64::MAX);
            return if negative { -magnitude } else { magnitude };
        }
    }

    /// One draw of the one-sided geometric noise P(k) = (1 − r) r^k, k ≥ 0.
    pub(super) fn magnitude(self, random: &mut RandomSource) -> u64 {
        let n = self.numerator;
        let remainder = loop {
            let u = uniform_below(n, random);
            if exp_minus(random, |random| uniform_below(n, random) < u) {
                break u;
            }
        };
        let mut quotient = 0;
        while exp_minus_one(random) {
            quotient += 1;
        }
        let x = u128::from(n) * quotient + u128::from(remainder);
        u64::try_from(x >> self.halvings).unwrap_or(u64::MAX)
    }

    /// P(noise = k).
    pub fn probability(self, k: i64) -> f64 {
        distribution::laplace_probability(self.scale, k)
    }

    /// The least k with P(noise ≤ k) ≥ p.
    ///
    /// # Errors
    /// A p that is not above 0 and below 1.
    pub fn quantile(self, p: f64) -> Result<i64, MechanismError> {
        distribution::probability("p", p)?;
        Ok(distribution::laplace_quantile(self.scale, p))
    }

    /// The least a with P(|noise| ≤ a) ≥ confidence: the half-width of an interval.
    ///
    /// # Errors
    /// A confidence that is not above 0 and below 1.
    pub fn half_width(self, confidence: f64) -> Result<i64, MechanismError> {
        distribution::probability("confidence", confidence)?;
        Ok(distribution::laplace_half_width(self.scale, confidence))
    }

    /// 1/(2 sinh²(1/2t)).
    pub fn variance(self) -> f64 {
        0.5 / (0.5 / self.scale).sinh().powi(2)
    }

    /// What the accountants are told of one draw on a statistic of sensitivity `sensitivity` steps.
    pub fn event(self, sensitivity: u64) -> PrivacyEvent {
        PrivacyEvent::DiscreteLaplace {
            scale: self.scale,
            sensitivity,
        }
    }
}
