//! Probabilities and quantiles of discrete noise, in floating point: for intervals and plots, never for sampling.

use std::f64::consts::PI;

use super::MechanismError;
use crate::num::logspace::{normal_cdf, normal_quantile};

/// Refuses what is not strictly between 0 and 1.
pub fn probability(name: &'static str, p: f64) -> Result<f64, MechanismError> {
    MechanismError::check(name, "above 0 and below 1", p, p > 0.0 && p < 1.0)
}

/// P(k) of discrete Laplace noise of scale t: tanh(1/2t) e^(−|k|/t).
pub fn laplace_probability(t: f64, k: i64) -> f64 {
    (0.5 / t).tanh() * (-(k.unsigned_abs() as f64) / t).exp()
}

/// The least k with P(X ≤ k) ≥ p: P(X > k) = r^(k+1)/(1 + r) for k ≥ 0, P(X ≤ −j) = r^j/(1 + r) for j ≥ 1.
pub fn laplace_quantile(t: f64, p: f64) -> i64 {
    let ln_one_plus_r = (-1.0 / t).exp().ln_1p();
    let lower = (-t * (p.ln() + ln_one_plus_r)).floor();
    if lower >= 1.0 {
        return -(lower as i64);
    }
    let upper = (-t * ((-p).ln_1p() + ln_one_plus_r)).ceil();
    (upper as i64 - 1).max(0)
}

/// The least a with P(|X| ≤ a) ≥ p: P(|X| > a) = 2r^(a+1)/(1 + r).
pub fn laplace_half_width(t: f64, p: f64) -> i64 {
    let r = (-1.0 / t).exp();
    let steps = (t * ((2.0 / (1.0 + r)).ln() - (-p).ln_1p())).ceil();
    (steps as i64 - 1).max(0)
}

/// Up to this σ sums are taken term by term.
const MOST_SUMMED_SIGMA: f64 = 100.0;

/// Σ e^(−k²/2σ²) over all whole k; from σ = 1 on by Poisson's formula σ√2π (1 + 2e^(−2π²σ²) + …).
fn gaussian_total(sigma: f64) -> f64 {
    if sigma >= 1.0 {
        return sigma * (2.0 * PI).sqrt() * (1.0 + 2.0 * (-2.0 * PI * PI * sigma * sigma).exp());
    }
    1.0 + 2.0 * (1..40).map(|k| weight(sigma, f64::from(k))).sum::<f64>()
}

fn weight(sigma: f64, k: f64) -> f64 {
    (-0.5 * (k / sigma) * (k / sigma)).exp()
}

/// P(k) of discrete Gaussian noise.
pub fn gaussian_probability(sigma: f64, k: i64) -> f64 {
    weight(sigma, k.unsigned_abs() as f64) / gaussian_total(sigma)
}

/// P(X ≥ k), k ≥ 1, of discrete Gaussian noise. Beyond the σ that are summed, by Euler and Maclaurin's formula,
/// ∫ + w·[½ + He₁/12σ − He₃/720σ³ + He₅/30240σ⁵] with Hermite polynomials at k/σ: the next term is below 1e-13 of w
/// up to 10σ.
pub fn gaussian_upper_tail(sigma: f64, k: i64) -> f64 {
    let k = k.max(1) as f64;
    if sigma <= MOST_SUMMED_SIGMA {
        let terms = (9.0 * sigma).ceil() as i32 + 40;
        // Smallest first.
        let sum: f64 = (0..terms).rev().map(|i| weight(sigma, k + f64::from(i))).sum();
        return sum / gaussian_total(sigma);
    }
    let x = k / sigma;
    let integral = normal_cdf(-x);
    let hermite = [x, x * x * x - 3.0 * x, x * (x * x * (x * x - 10.0) + 15.0)];
    let correction = 0.5 + hermite[0] / (12.0 * sigma) - hermite[1] / (720.0 * sigma.powi(3))
        + hermite[2] / (30240.0 * sigma.powi(5));
    integral + correction * weight(sigma, k) / gaussian_total(sigma)
}

/// The least k ≥ 1 with P(X ≥ k) ≤ tail, found from the normal distribution's.
fn gaussian_tail_end(sigma: f64, tail: f64) -> i64 {
    let mut k = ((-sigma * normal_quantile(tail.clamp(1e-300, 0.5))) as i64).max(1);
    let mut stride = 1;
    while gaussian_upper_tail(sigma, k) > tail {
        k += stride;
        stride *= 2;
    }
    // P(X ≥ high) ≤ tail; go down while the one below still is.
    let (mut low, mut high) = (0, k);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if gaussian_upper_tail(sigma, middle) <= tail {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// The least k with P(X ≤ k) ≥ p.
pub fn gaussian_quantile(sigma: f64, p: f64) -> i64 {
    if p > 0.5 {
        return gaussian_tail_end(sigma, 1.0 - p) - 1;
    }
    // The largest j ≥ 1 with P(X ≥ j) ≥ p, if there is one.
    if gaussian_upper_tail(sigma, 1) < p {
        return 0;
    }
    let end = gaussian_tail_end(sigma, p);
    -(if gaussian_upper_tail(sigma, end) >= p {
        end
    } else {
        end - 1
    })
}

/// The least a with P(|X| ≤ a) ≥ p.
pub fn gaussian_half_width(sigma: f64, p: f64) -> i64 {
    gaussian_tail_end(sigma, 0.5 * (1.0 - p)) - 1
}

/// The variance, below σ² by 8π²σ⁴e^(−2π²σ²) and less, nothing in double precision from σ = 2 on.
pub fn gaussian_variance(sigma: f64) -> f64 {
    if sigma >= 2.0 {
        return sigma * sigma;
    }
    let moment: f64 = (1..80)
        .map(|k| f64::from(k) * f64::from(k) * weight(sigma, f64::from(k)))
        .sum();
    2.0 * moment / gaussian_total(sigma)
}

/// E|X|: 2Σ k e^(−k²/2σ²) over the total; beyond the σ that are summed by Euler and Maclaurin's formula, the sum being
/// σ² − 1/12 − 1/240σ² and so on.
pub fn gaussian_mean_magnitude(sigma: f64) -> f64 {
    let sum = if sigma <= MOST_SUMMED_SIGMA {
        let terms = (9.0 * sigma).ceil() as i32 + 40;
        (1..terms)
            .rev()
            .map(|k| f64::from(k) * weight(sigma, f64::from(k)))
            .sum()
    } else {
        sigma * sigma - 1.0 / 12.0 - 1.0 / (240.0 * sigma * sigma)
    };
    2.0 * sum / gaussian_total(sigma)
}
