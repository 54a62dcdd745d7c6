//! The Gaussian mechanism in closed form: δ(ε), ε(δ) and the least σ, in log space.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2};

use crate::num::logspace::{erfcx, ln_normal_cdf};

/// ln δ(ε) of N(0, 1) against N(μ, 1), for ε ≥ 0 (negative ε works too).
///
/// δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) (Balle & Wang 2018, Thm 8, with μ = Δ/σ). Write a for the first
/// argument and b for the second: b² − a² = 2ε, so both terms share the factor e^(−a²/2) and
/// δ = ½ e^(−a²/2) [erfcx(−a/√2) − erfcx(−b/√2)], which neither underflows nor cancels at small δ.
pub fn ln_delta(mu: f64, epsilon: f64) -> f64 {
    if mu == 0.0 {
        return if epsilon >= 0.0 {
            f64::NEG_INFINITY
        } else {
            (-epsilon.exp_m1()).ln()
        };
    }
    if mu == f64::INFINITY {
        return 0.0;
    }
    let a = mu / 2.0 - epsilon / mu;
    let b = -mu / 2.0 - epsilon / mu;
    let (near, far) = (-a * FRAC_1_SQRT_2, -b * FRAC_1_SQRT_2);
    // Their distance, which would drown in the two where ε is much larger than μ² or δ tiny.
    let apart = mu * FRAC_1_SQRT_2;
    if near >= 0.0 || (far >= 0.0 && apart <= CLOSE) {
        // For a far enough tail even the exponent of e^(−a²/2) is beyond f64; −∞ is then its logarithm.
        return -near * near - LN_2 + ln_erfcx_difference(near, apart);
    }
    // a > 0 and μ is not small: Φ(a) is at least ½ and δ no tiny part of it, so the plain difference is exact; b < 0
    // unless ε is very negative.
    if far >= 0.0 {
        let ln_first = ln_normal_cdf(a);
        let ln_second = -near * near - LN_2 + erfcx(far).ln();
        return crate::num::logspace::ln_sub(ln_first, ln_second);
    }
    crate::num::logspace::ln_sub(ln_normal_cdf(a), epsilon + ln_normal_cdf(b))
}

/// Up to this distance two values of erfcx are taken to be nearly equal.
const CLOSE: f64 = 2e-3;

/// ln(erfcx(x) − erfcx(x + d)) for x ≥ 0, and for x ≥ −d where d is small. Where the two are nearly equal, by the
/// integral of −erfcx′(t) = 2/√π − 2t·erfcx(t) by the three-point Gauss rule (its error is of seventh order in d).
fn ln_erfcx_difference(x: f64, d: f64) -> f64 {
    if d > CLOSE {
        return (erfcx(x) - erfcx(x + d)).ln();
    }
    let slope = |t: f64| {
        if t > 50.0 {
            // The leading terms of the asymptotic series, where the difference above would cancel.
            let s = 1.0 / (t * t);
            s * std::f64::consts::FRAC_2_SQRT_PI * 0.5 * (1.0 - 1.5 * s + 3.75 * s * s)
        } else {
            std::f64::consts::FRAC_2_SQRT_PI - 2.0 * t * erfcx(t)
        }
    };
    let (middle, half) = (x + d / 2.0, d / 2.0);
    let offset = half * 0.774_596_669_241_483_4; // √(3/5)
    let mean = (8.0 * slope(middle) + 5.0 * (slope(middle - offset) + slope(middle + offset))) / 18.0;
    d.ln() + mean.ln()
}

/// δ(ε) of N(0, 1) against N(μ, 1).
pub fn delta(mu: f64, epsilon: f64) -> f64 {
    ln_delta(mu, epsilon).exp().clamp(0.0, 1.0)
}

/// The least ε ≥ 0 at which N(0, 1) against N(μ, 1) keeps ln δ: bisection to the last bits, the side within.
pub fn epsilon(mu: f64, ln_target: f64) -> f64 {
    if mu == 0.0 || ln_delta(mu, 0.0) <= ln_target {
        return 0.0;
    }
    if !mu.is_finite() || ln_target == f64::NEG_INFINITY {
        return f64::INFINITY;
    }
    // Φ(−x) ≤ e^(−x²/2) at x = ε/μ − μ/2 bounds δ.
    let mut high = mu * mu / 2.0 + mu * (-2.0 * ln_target).max(0.0).sqrt();
    if !high.is_finite() {
        return f64::INFINITY;
    }
    let mut low = 0.0;
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if ln_delta(mu, middle) <= ln_target {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// The largest μ = Δ/σ whose δ(ε) is at most `delta` (Balle & Wang 2018, Algorithm 1, here by bisection on ln μ), less
/// what rounding may have added; 0 where that is below every number.
pub(super) fn largest_mu(epsilon: f64, delta: f64) -> f64 {
    let target = delta.ln();
    let within = |mu: f64| ln_delta(mu, epsilon) <= target;
    let mut low = 1.0;
    while !within(low) {
        low /= 2.0;
    }
    let mut high = low * 2.0;
    while within(high) {
        low = high;
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if within(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    // From ε ≈ 1e26 on a rounding of μ/2 and ε/μ is more than their difference; of μ itself it is a last digit.
    low.next_down().next_down().max(0.0)
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "0 and ∞ are exact answers")]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        // Golden: one step, z = 0.5, δ = 1e-8; ten steps at z = 1, δ = 1e-5.
        assert!((epsilon(2.0, 1e-8f64.ln()) - 12.749246399635696).abs() < 1e-11);
        assert!((epsilon(10f64.sqrt(), 1e-5f64.ln()) - 17.856586830107613).abs() < 1e-11);
        assert!((delta(1.0 / 0.14, 8.0) - 0.9888417498043665).abs() < 1e-13);
        assert!((delta(1.0, 0.0) - 0.38292492254802624).abs() < 1e-14);
    }

    #[test]
    fn both_branches_of_the_difference_agree() {
        for x in [0.0, 0.3, 2.0, 20.0] {
            let d = 2.1e-3;
            let difference = |x, d| ln_erfcx_difference(x, d).exp();
            let halves = difference(x, d / 2.0) + difference(x + d / 2.0, d / 2.0);
            let whole = difference(x, d);
            assert!((halves / whole - 1.0).abs() < 1e-10, "{x}: {halves} {whole}");
        }
        // d ln δ/dε is continuous where the series takes over (t = 50).
        let apart = ln_erfcx_difference(49.999, 1e-4) - ln_erfcx_difference(50.001, 1e-4);
        assert!(apart.abs() < 1e-3);
    }

    #[test]
    fn extremes_are_answers() {
        assert_eq!(epsilon(0.0, -10.0), 0.0);
        assert_eq!(epsilon(f64::INFINITY, -10.0), f64::INFINITY);
        assert_eq!(epsilon(1e200, -10.0), f64::INFINITY);
        let far = epsilon(1.0, 1e-300f64.ln());
        assert!(far > 36.0 && far < 38.0, "{far}");
        assert!(epsilon(1e-9, 1e-5f64.ln()) == 0.0);
    }

    #[test]
    fn a_tiny_shift_is_told_from_none() {
        // For ε ≪ μ² δ is 2Φ(μ/2) − 1 ≈ μ/√2π, and for ε ≫ μ it is less than any number.
        for mu in [1e-4, 1e-9, 1e-30, 1e-200, 1e-300] {
            let expected = mu * (0.5 * std::f64::consts::FRAC_1_PI).sqrt();
            for at in [0.0, 1e-320, 1e-3 * mu * mu] {
                assert!(
                    (delta(mu, at) / expected - 1.0).abs() < 4e-3,
                    "{mu:e} {at:e}: {:e}",
                    delta(mu, at)
                );
            }
            assert!(delta(mu, 60.0 * mu) < 1e-300);
        }
        // The same on both sides of the point where the difference is taken otherwise (a = 0 at ε = μ²/2).
        for mu in [1e-3, 2.8e-3, 2.9e-3, 0.1] {
            let (below, above) = (delta(mu, 0.499_999 * mu * mu), delta(mu, 0.500_001 * mu * mu));
            assert!(
                below > above && below / above - 1.0 < 1e-6,
                "{mu}: {below} {above}"
            );
        }
    }

    #[test]
    fn the_largest_shift_is_right_at_the_ends_of_the_numbers() {
        // ε ≫ 1: μ²/2 − aμ = ε with Φ(a) ≈ δ, so μ ≈ √2ε. ε ≪ δ: μ = 2Φ⁻¹((1 + δ)/2).
        for at in [1e26, 1e100, 1e308, f64::MAX] {
            for delta in [5e-324, 1e-300, 1e-5, 0.5, 1.0 - f64::EPSILON] {
                let mu = largest_mu(at, delta);
                assert!(
                    (mu / (2f64.sqrt() * at.sqrt()) - 1.0).abs() < 1e-11,
                    "{at:e} {delta:e}: {mu:e}"
                );
            }
        }
        for delta in [1e-300, 1e-100, 1e-20, 1e-8] {
            let expected = delta * (2.0 * std::f64::consts::PI).sqrt();
            let mu = largest_mu(1e-320, delta);
            assert!((mu / expected - 1.0).abs() < 1e-9, "{delta:e}: {mu:e}");
        }
    }
}
