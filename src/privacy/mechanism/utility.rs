//! What noise costs in accuracy, in closed form: for planning a release before anything is spent. Nothing here is random,
//! and nothing needs private data: errors are those of the mechanism about the statistic, not of the statistic about the
//! world, and clamping is not in them.

mod choice;
mod sum;

use std::f64::consts::{FRAC_2_PI, PI, SQRT_2};

pub use choice::{Candidates, ChoiceLaw, Stretch};
pub use sum::NoiseSum;

use super::distribution::{
    gaussian_half_width, gaussian_mean_magnitude, gaussian_probability, gaussian_upper_tail,
    gaussian_variance, laplace_half_width, laplace_probability, laplace_quantile,
};
use super::{MechanismError, RandomizedResponse, Selection, distribution};
use crate::num::logspace::{normal_cdf, normal_quantile};
use crate::num::{Delta, Epsilon};
use crate::privacy::gaussian;
use crate::privacy::renyi::ORDERS;

/// The textbook's σ = Δ√(2 ln(1.25/δ))/ε (Dwork & Roth 2014, Thm 3.22 and Appendix A), for teaching: proven for ε below 1
/// only, wasteful there, and a broken promise from ε of about 8 on. Noise that is drawn takes
/// [`gaussian_sigma`](crate::privacy::gaussian_sigma).
///
/// # Errors
/// δ = 0, or a sensitivity that is not positive and finite.
pub fn textbook_gaussian_sigma(
    epsilon: Epsilon,
    delta: Delta,
    sensitivity: f64,
) -> Result<f64, MechanismError> {
    let (epsilon, delta) = (epsilon.get(), delta.get());
    MechanismError::check("delta", "above 0", delta, delta > 0.0)?;
    let within = sensitivity > 0.0 && sensitivity.is_finite();
    MechanismError::check("sensitivity", "positive and finite", sensitivity, within)?;
    Ok(sensitivity * (2.0 * (1.25 / delta).ln()).sqrt() / epsilon)
}

/// The least ε of the textbook's σ that its proof does not cover: it needs ε below 1.
pub const TEXTBOOK_PROOF_ENDS: f64 = 1.0;

/// The δ that the textbook's σ really has at ε, whatever the sensitivity: δ(ε) of the analytic formula at σ/Δ. Above the
/// δ that was asked for, the promise is broken.
///
/// # Errors
/// δ = 0.
pub fn textbook_gaussian_true_delta(epsilon: Epsilon, delta: Delta) -> Result<f64, MechanismError> {
    let sigma = textbook_gaussian_sigma(epsilon, delta, 1.0)?;
    Ok(gaussian::delta(1.0 / sigma, epsilon.get()))
}

/// The least σ over the ℓ2 sensitivity at which ρ = 1/2σ² of zero-concentrated privacy gives (ε, δ) by the Rényi
/// accountant's conversion (Canonne, Kamath, Steinke 2020, Prop. 12): α·ρ ≤ ε − ln(1 − 1/α) + ln(δα)/(α − 1) at some
/// order α, so ρ is the largest right side over α. This is the noise of discrete Gaussians as they are released; the
/// orders are the accountant's own.
///
/// # Errors
/// δ = 0, or an ε so small that no order leaves any room.
pub fn concentrated_sigma(epsilon: Epsilon, delta: Delta) -> Result<f64, MechanismError> {
    let (epsilon, delta) = (epsilon.get(), delta.get());
    MechanismError::check("delta", "above 0", delta, delta > 0.0)?;
    let room = |order: f64| (epsilon - (-1.0 / order).ln_1p() + (delta * order).ln() / (order - 1.0)) / order;
    let rho = ORDERS.iter().map(|&order| room(order)).fold(0.0, f64::max);
    MechanismError::check("epsilon", "large enough for its delta", epsilon, rho > 0.0)?;
    Ok((0.5 / rho).sqrt())
}

/// Noise as it is planned, with one scale in the unit of the statistic, or in grid steps where it is discrete.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// Density e^(−|x|/b)/2b.
    Laplace {
        /// b.
        scale: f64,
    },
    /// Density of N(0, σ²), whichever way σ was found (textbook or analytic).
    Gaussian {
        /// σ.
        sigma: f64,
    },
    /// P(k) ∝ e^(−|k|/t) on whole steps.
    DiscreteLaplace {
        /// t, in steps.
        scale: f64,
    },
    /// P(k) ∝ e^(−k²/2σ²) on whole steps.
    DiscreteGaussian {
        /// σ, in steps.
        sigma: f64,
    },
}

impl Noise {
    /// Whether the scale is one that noise can have.
    ///
    /// # Errors
    /// A scale that is not positive and finite; of discrete noise, one that is not between 2^(−10) and 2^52.
    pub fn validate(self) -> Result<Self, MechanismError> {
        let (name, scale, discrete) = match self {
            Self::Laplace { scale } => ("the noise's scale", scale, false),
            Self::Gaussian { sigma } => ("sigma", sigma, false),
            Self::DiscreteLaplace { scale } => ("the noise's scale", scale, true),
            Self::DiscreteGaussian { sigma } => ("sigma", sigma, true),
        };
        if discrete {
            super::exact::checked_scale(name, scale)?;
        } else {
            let within = scale > 0.0 && scale.is_finite();
            MechanismError::check(name, "positive and finite", scale, within)?;
        }
        Ok(self)
    }

    /// E|noise|: b, σ√(2/π); 2r/(1 − r²) = 1/sinh(1/t) from the geometric sum Σ k r^k; a sum for the discrete Gaussian.
    pub fn expected_error(self) -> f64 {
        match self {
            Self::Laplace { scale } => scale,
            Self::Gaussian { sigma } => sigma * FRAC_2_PI.sqrt(),
            Self::DiscreteLaplace { scale } => 1.0 / (1.0 / scale).sinh(),
            Self::DiscreteGaussian { sigma } => gaussian_mean_magnitude(sigma),
        }
    }

    /// √E[noise²]: b√2, σ; √(2r)/(1 − r) = 1/(√2 sinh(1/2t)); a sum for the discrete Gaussian.
    pub fn root_mean_square_error(self) -> f64 {
        match self {
            Self::Laplace { scale } => scale * SQRT_2,
            Self::Gaussian { sigma } => sigma,
            Self::DiscreteLaplace { scale } => 1.0 / (SQRT_2 * (0.5 / scale).sinh()),
            Self::DiscreteGaussian { sigma } => gaussian_variance(sigma).sqrt(),
        }
    }

    /// P(|noise| ≤ a): 1 − e^(−a/b), 1 − 2Φ(−a/σ); 1 − 2r^(⌊a⌋+1)/(1 + r), 1 − 2P(noise ≥ ⌊a⌋ + 1). 0 for a below 0 or NaN.
    pub fn probability_within(self, a: f64) -> f64 {
        if a.is_nan() || a < 0.0 {
            return 0.0;
        }
        match self {
            Self::Laplace { scale } => -(-a / scale).exp_m1(),
            Self::Gaussian { sigma } => 1.0 - 2.0 * normal_cdf(-a / sigma),
            Self::DiscreteLaplace { scale } => {
                1.0 - 2.0 * (-(a.floor() + 1.0) / scale).exp() / (1.0 + (-1.0 / scale).exp())
            }
            // Beyond 2^62 steps nothing is left of any noise.
            Self::DiscreteGaussian { sigma } => {
                1.0 - 2.0 * gaussian_upper_tail(sigma, a.floor().min(4e18) as i64 + 1)
            }
        }
    }

    /// The density at x; of discrete noise the probability of the nearest whole step, which is one wide.
    pub fn density(self, x: f64) -> f64 {
        match self {
            Self::Laplace { scale } => (-x.abs() / scale).exp() / (2.0 * scale),
            Self::Gaussian { sigma } => (-0.5 * (x / sigma).powi(2)).exp() / (sigma * (2.0 * PI).sqrt()),
            Self::DiscreteLaplace { scale } => laplace_probability(scale, x.round() as i64),
            Self::DiscreteGaussian { sigma } => gaussian_probability(sigma, x.round() as i64),
        }
    }

    /// The least value that noise stays at or below with probability `u`: a uniform u gives a draw of the noise, for
    /// pictures only (double precision is no proof of privacy). u is kept off 0 and 1.
    ///
    /// For the discrete Gaussian: the normal quantile, half a step down and up, and then a step at a time by the tail.
    pub fn quantile(self, u: f64) -> f64 {
        let u = u.clamp(1e-15, 1.0 - 1e-15);
        match self {
            Self::Laplace { scale } => {
                if u < 0.5 {
                    scale * (2.0 * u).ln()
                } else {
                    -scale * (2.0 * (1.0 - u)).ln()
                }
            }
            Self::Gaussian { sigma } => sigma * normal_quantile(u),
            Self::DiscreteLaplace { scale } => laplace_quantile(scale, u) as f64,
            Self::DiscreteGaussian { sigma } => discrete_gaussian_quantile(sigma, u),
        }
    }

    /// The least a with P(|noise| ≤ a) ≥ p: the error not passed with probability p, and half the width of an
    /// interval of that confidence.
    ///
    /// # Errors
    /// A p that is not above 0 and below 1.
    pub fn error_quantile(self, p: f64) -> Result<f64, MechanismError> {
        distribution::probability("the probability", p)?;
        Ok(match self {
            Self::Laplace { scale } => -scale * (-p).ln_1p(),
            Self::Gaussian { sigma } => -sigma * normal_quantile(0.5 * (1.0 - p)),
            Self::DiscreteLaplace { scale } => laplace_half_width(scale, p) as f64,
            Self::DiscreteGaussian { sigma } => gaussian_half_width(sigma, p) as f64,
        })
    }
}

/// The least k with P(noise ≤ k) ≥ u, from the normal distribution's on: one or two tails instead of a search.
fn discrete_gaussian_quantile(sigma: f64, u: f64) -> f64 {
    // By symmetry the upper half: P(noise ≤ −k) = P(noise ≥ k).
    let (tail, upper) = if u > 0.5 { (1.0 - u, true) } else { (u, false) };
    let guess = (-sigma * normal_quantile(tail) + 0.5).floor().clamp(0.0, 4e18);
    let mut k = (guess as i64).max(1);
    if upper {
        // The least k ≥ 0 with P(noise ≥ k + 1) ≤ tail.
        while k > 1 && gaussian_upper_tail(sigma, k - 1) <= tail {
            k -= 1;
        }
        while gaussian_upper_tail(sigma, k) > tail {
            k += 1;
        }
        return (k - 1) as f64;
    }
    // The largest k ≥ 0 with P(noise ≥ k) ≥ tail.
    while k >= 1 && gaussian_upper_tail(sigma, k) < tail {
        k -= 1;
    }
    while gaussian_upper_tail(sigma, k + 1) >= tail {
        k += 1;
    }
    -(k as f64)
}

/// How far a choice falls short of the best score, for scores that are known (an example, a public data set, a guess).
#[derive(Clone, Debug, PartialEq)]
pub struct Shortfall {
    /// (best − score, probability), rising.
    steps: Vec<(f64, f64)>,
}

impl Shortfall {
    /// Of the exponential mechanism: each score with probability e^(λu)/Σ e^(λu) (McSherry & Talwar 2007, Def. 2).
    ///
    /// # Errors
    /// No score, or one that is not finite.
    pub fn of_exponential(selection: Selection, scores: &[f64]) -> Result<Self, MechanismError> {
        let best = super::selection::best(scores)?;
        let weight = |score: &f64| (-selection.rate() * (best - score)).exp();
        let total: f64 = scores.iter().map(weight).sum();
        Ok(Self::new(
            best,
            scores.iter().map(|score| (*score, weight(score) / total)),
        ))
    }

    /// Of permute-and-flip. If candidates arrive at times uniform in 0 … 1, i is chosen at time x if it accepts, aᵢ =
    /// e^(λ(uᵢ − best)), and no other has arrived and accepted: aᵢ ∫ Π_{j≠i} (1 − x aⱼ) dx, here by Gauss's rule on
    /// intervals of a length on which the polynomial is smooth.
    ///
    /// # Errors
    /// No score, or one that is not finite.
    pub fn of_permute_and_flip(selection: Selection, scores: &[f64]) -> Result<Self, MechanismError> {
        let best = super::selection::best(scores)?;
        let accepts: Vec<f64> = scores
            .iter()
            .map(|score| (-selection.rate() * (best - score)).exp())
            .collect();
        let mut probabilities = vec![0.0; scores.len()];
        let total: f64 = accepts.iter().sum();
        for (x, share) in nodes(total) {
            // ln Π (1 − x aⱼ) over all, then without one. 1 − x > 0 at every node.
            let ln_none: f64 = accepts.iter().map(|a| (-x * a).ln_1p()).sum();
            for (probability, a) in probabilities.iter_mut().zip(&accepts) {
                *probability += share * a * (ln_none - (-x * a).ln_1p()).exp();
            }
        }
        Ok(Self::new(best, scores.iter().copied().zip(probabilities)))
    }

    fn new(best: f64, chosen: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut steps: Vec<(f64, f64)> = chosen.map(|(score, p)| (best - score, p)).collect();
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self { steps }
    }

    fn mean(&self, of: impl Fn(f64) -> f64) -> f64 {
        // A shortfall beyond all doubles has probability 0.
        let terms = self.steps.iter().filter(|step| step.1 > 0.0);
        terms.map(|&(shortfall, p)| p * of(shortfall)).sum()
    }

    /// E[best − score of the choice].
    pub fn expected_error(&self) -> f64 {
        self.mean(|shortfall| shortfall)
    }

    /// √E[(best − score of the choice)²].
    pub fn root_mean_square_error(&self) -> f64 {
        self.mean(|shortfall| shortfall * shortfall).sqrt()
    }

    /// P(best − score of the choice ≤ a).
    pub fn probability_within(&self, a: f64) -> f64 {
        self.steps
            .iter()
            .filter(|step| step.0 <= a)
            .map(|step| step.1)
            .sum::<f64>()
            .min(1.0)
    }

    /// The least a with P(best − score of the choice ≤ a) ≥ p.
    ///
    /// # Errors
    /// A p that is not above 0 and below 1.
    pub fn error_quantile(&self, p: f64) -> Result<f64, MechanismError> {
        distribution::probability("the probability", p)?;
        let mut sum = 0.0;
        let reached = self.steps.iter().find(|step| {
            sum += step.1;
            sum >= p
        });
        // The probabilities may sum to a hair less than 1.
        Ok(reached.or(self.steps.last()).map_or(0.0, |step| step.0))
    }
}

/// The shortfall that a choice among `candidates` passes with probability at most 1 − p, whatever the scores:
/// (ln k − ln(1 − p))/λ, for the exponential mechanism (McSherry & Talwar 2007, Thm 7; Dwork & Roth 2014, Thm 3.11) and
/// permute-and-flip, which is never worse.
///
/// # Errors
/// No candidate, or a p that is not above 0 and below 1.
pub fn shortfall_bound(selection: Selection, candidates: u64, p: f64) -> Result<f64, MechanismError> {
    distribution::probability("the probability", p)?;
    if candidates == 0 {
        return Err(MechanismError::NothingToChoose("no candidate was given"));
    }
    Ok(((candidates as f64).ln() - (-p).ln_1p()) / selection.rate())
}

/// Nodes and weights for a polynomial on 0 … 1 that falls like e^(−total·x): five-point Gauss's rule on panels that
/// are a quarter of 1/total wide.
fn nodes(total: f64) -> Vec<(f64, f64)> {
    const OFFSETS: [(f64, f64); 5] = [
        (-0.906179845938664, 0.23692688505618908),
        (-0.5384693101056831, 0.47862867049936647),
        (0.0, 0.5688888888888889),
        (0.5384693101056831, 0.47862867049936647),
        (0.906179845938664, 0.23692688505618908),
    ];
    let panel = 0.25 / total.max(1.0);
    let (mut edges, mut edge, mut width) = (vec![0.0], 0.0, panel);
    // Up to 30/total in even panels, growing beyond, where e^(−30) and less is left; none is wider than a sixteenth.
    while edge < 1.0 {
        edge = (edge + width).min(1.0);
        edges.push(edge);
        if edge * total > 30.0 {
            width = (1.5 * width).min(1.0 / 16.0);
        }
    }
    edges
        .windows(2)
        .flat_map(|two| {
            let (middle, half) = (f64::midpoint(two[0], two[1]), 0.5 * (two[1] - two[0]));
            OFFSETS.map(|(offset, weight)| (middle + half * offset, half * weight))
        })
        .collect()
}

/// How far the estimated count of one category is from the true one when each of a number of persons responds.
///
/// With o = (1 − p)/(k − 1) the count of reports is Bin(h, p) + Bin(n − h, o) for h of n persons who hold the category, and
/// the estimate is (count − n·o)/(p − o): unbiased, with variance (h·p(1 − p) + (n − h)·o(1 − o))/(p − o)² (Wang,
/// Blocki, Li, Jha 2017, §3, with both terms kept). The root mean square is exact; the rest takes the count as normal, which
/// is off by at most 1.12/√(the count's variance) in the probability of an interval (Berry 1941; Esseen 1942; with the constant of
/// Shevtsova 2010 at either end).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResponseError {
    deviation: f64,
}

impl ResponseError {
    /// For `persons` who respond, `holders` of whom hold the category.
    ///
    /// # Errors
    /// More holders than persons, or p = 1/k, whose reports say nothing.
    pub fn new(response: RandomizedResponse, persons: u64, holders: u64) -> Result<Self, MechanismError> {
        let within = holders <= persons;
        MechanismError::check("the holders", "at most the persons", holders as f64, within)?;
        let p = response.truth_probability();
        let other = response.other_probability();
        MechanismError::check("the truth probability", "other than 1/k", p, p != other)?;
        let (hold, rest) = (holders as f64, (persons - holders) as f64);
        let variance = hold * p * (1.0 - p) + rest * other * (1.0 - other);
        Ok(Self {
            deviation: variance.sqrt() / (p - other).abs(),
        })
    }

    /// √E[error²], in persons.
    pub fn root_mean_square_error(self) -> f64 {
        self.deviation
    }

    fn normal(self) -> Noise {
        Noise::Gaussian {
            sigma: self.deviation,
        }
    }

    /// E|error|, in persons, nearly.
    pub fn expected_error(self) -> f64 {
        self.normal().expected_error()
    }

    /// P(|error| ≤ a), nearly.
    pub fn probability_within(self, a: f64) -> f64 {
        if self.deviation == 0.0 && a >= 0.0 {
            return 1.0;
        }
        self.normal().probability_within(a)
    }

    /// The error not passed with probability p, nearly.
    ///
    /// # Errors
    /// A p that is not above 0 and below 1.
    pub fn error_quantile(self, p: f64) -> Result<f64, MechanismError> {
        self.normal().error_quantile(p)
    }
}
