//! ε and δ of one course.

#![allow(clippy::float_cmp, reason = "exact edges such as q = 1 are meant")]

use std::collections::BTreeMap;

use super::{Course, MOST_PAIRS};
use crate::privacy::gaussian;
use crate::privacy::pld::compose::{self, Guess, Question};
use crate::privacy::pld::pair::Pair;
use crate::privacy::renyi;

/// Orders used to guess where the answer lies; the sums behind whole orders are quick.
const GUESS_ORDERS: [usize; 17] = [2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 128, 256, 512];

impl Course {
    /// The part of δ left when `approx` events have taken theirs; see the Rényi accountant.
    pub fn remaining(&self, delta: f64) -> f64 {
        if self.ln_kept == 0.0 {
            delta
        } else {
            (delta + self.ln_kept.exp_m1()) / self.ln_kept.exp()
        }
    }

    /// Whether there is nothing but Gaussians.
    pub fn is_gaussian(&self) -> bool {
        self.pairs.is_empty() && self.rho == 0.0
    }

    pub fn all_pairs(&self) -> Vec<(Pair, u64)> {
        let mut pairs: Vec<(Pair, u64)> = gathered(&self.pairs);
        if self.mu_squared > 0.0 {
            pairs.push((
                Pair::Envelope {
                    q: 1.0,
                    sigma: 1.0 / self.mu_squared.sqrt(),
                },
                1,
            ));
        }
        if self.rho > 0.0 {
            pairs.push((Pair::Zcdp { rho: self.rho }, 1));
        }
        pairs
    }

    /// Rényi divergence of all pairs at a whole order, as a place to look.
    pub fn divergence(pairs: &[(Pair, u64)], order: usize) -> f64 {
        pairs
            .iter()
            .map(|&(pair, count)| count as f64 * guess_divergence(pair, order))
            .sum()
    }

    pub fn guess(pairs: &[(Pair, u64)], question: Question) -> Guess {
        let mut best = Guess {
            tilt: 1.0,
            epsilon: f64::INFINITY,
            ln_delta: 0.0,
        };
        let mut least = f64::INFINITY;
        for order in GUESS_ORDERS {
            let divergence = Self::divergence(pairs, order);
            let alpha = order as f64;
            let offset = (-1.0 / alpha).ln_1p();
            let (height, guess) = match question {
                Question::Epsilon { ln_delta } => {
                    let epsilon = divergence + offset - (ln_delta + alpha.ln()) / (alpha - 1.0);
                    (
                        epsilon,
                        Guess {
                            tilt: alpha - 1.0,
                            epsilon,
                            ln_delta,
                        },
                    )
                }
                Question::Delta { epsilon } => {
                    let ln_delta = (alpha - 1.0) * (divergence - epsilon + offset) - alpha.ln();
                    (
                        ln_delta,
                        Guess {
                            tilt: alpha - 1.0,
                            epsilon,
                            ln_delta: ln_delta.min(0.0),
                        },
                    )
                }
            };
            if height < least {
                (least, best) = (height, guess);
            } else {
                // One minimum: R and the order's own part are both convex enough for a guess.
                break;
            }
            if order == 2 {
                // Between orders 1 and 2 there is no quick sum: as if Gaussian, R(α) = αρ, θ = √(ln(1/δ)/ρ).
                let rho = 0.5 * divergence;
                let gaussian = match question {
                    Question::Epsilon { ln_delta } => {
                        let tilt = (-ln_delta / rho).sqrt();
                        (tilt < 1.0).then_some(Guess {
                            tilt,
                            epsilon: rho + 2.0 * (-ln_delta * rho).sqrt(),
                            ln_delta,
                        })
                    }
                    Question::Delta { epsilon } => {
                        let tilt = ((epsilon - rho) / (2.0 * rho)).max(0.0);
                        (tilt < 1.0).then_some(Guess {
                            tilt,
                            epsilon,
                            ln_delta: -tilt * tilt * rho,
                        })
                    }
                };
                if let Some(gaussian) = gaussian {
                    return gaussian;
                }
            }
        }
        best
    }

    pub fn epsilon(&self, delta: f64) -> (f64, f64) {
        let rest = self.remaining(delta);
        // With no δ left only what is pure promises anything.
        let pure = if self.unbounded || rest < 0.0 {
            f64::INFINITY
        } else {
            self.pure
        };
        if rest <= 0.0 || pure == 0.0 {
            return (pure, 0.0);
        }
        let ln_delta = rest.ln();
        if self.is_gaussian() {
            return (gaussian::epsilon(self.mu_squared.sqrt(), ln_delta).min(pure), 0.0);
        }
        let pairs = self.all_pairs();
        let question = Question::Epsilon { ln_delta };
        let guess = Self::guess(&pairs, question);
        if !guess.epsilon.is_finite() {
            return (pure, f64::INFINITY);
        }
        let answer = compose::answer(&pairs, question, guess);
        (answer.value.min(pure), answer.excess)
    }

    pub fn curve(&self, epsilons: &[f64]) -> Vec<f64> {
        let (kept, failed) = (self.ln_kept.exp(), -self.ln_kept.exp_m1());
        if self.is_gaussian() {
            let mu = self.mu_squared.sqrt();
            return epsilons
                .iter()
                .map(|&epsilon| failed + kept * gaussian::delta(mu, epsilon))
                .collect();
        }
        let pairs = self.all_pairs();
        // The grid suits what matters for a trade-off curve: ε where δ is about 1e-6.
        let guess = Self::guess(
            &pairs,
            Question::Epsilon {
                ln_delta: 1e-6f64.ln(),
            },
        );
        let guess = Guess {
            ln_delta: 1e-13f64.ln(),
            ..guess
        };
        if !guess.epsilon.is_finite() {
            return vec![1.0; epsilons.len()];
        }
        compose::curve(&pairs, epsilons, guess)
            .into_iter()
            .map(|delta| (failed + kept * delta).min(1.0))
            .collect()
    }

    pub fn delta(&self, epsilon: f64) -> (f64, f64) {
        let kept = self.ln_kept.exp();
        let failed = -self.ln_kept.exp_m1();
        if !self.unbounded && epsilon >= self.pure {
            return (failed, 0.0);
        }
        if self.is_gaussian() {
            return (
                failed + kept * gaussian::delta(self.mu_squared.sqrt(), epsilon),
                0.0,
            );
        }
        let pairs = self.all_pairs();
        let question = Question::Delta { epsilon };
        let guess = Self::guess(&pairs, question);
        let answer = compose::answer(&pairs, question, guess);
        ((failed + kept * answer.value).min(1.0), answer.excess)
    }
}

/// A rough divergence of a pair at a whole order: exact where that is quick, else an estimate. Used only to choose
/// grid and tilt, never in an answer.
pub fn guess_divergence(pair: Pair, order: usize) -> f64 {
    let alpha = order as f64;
    match pair {
        Pair::Mixture { q, z } => renyi::poisson_whole_order(q, z, order) / (alpha - 1.0),
        Pair::TwoMixtures { q, z } => {
            let mixture = renyi::poisson_whole_order(q, z, order) / (alpha - 1.0);
            // Between 2 and 4: the ratio of the second moments of both ratios' distances from 1.
            let a = (1.0 / z / z).min(50.0);
            mixture * 2.0 * (a.exp() - (-a).exp()) / a.exp_m1()
        }
        Pair::Envelope { q, sigma } => {
            let plain = 0.5 * alpha / sigma / sigma;
            if q >= 1.0 {
                plain
            } else {
                (1.2 * renyi::poisson_whole_order(q, sigma, order) / (alpha - 1.0)).min(plain)
            }
        }
        Pair::Laplace { epsilon } | Pair::Exponential { epsilon } => renyi::laplace(epsilon, alpha),
        Pair::TwoLosses { epsilon, telling } => renyi::two_losses(epsilon, telling, alpha),
        Pair::DiscreteLaplace { scale, sensitivity } => renyi::laplace(sensitivity as f64 / scale, alpha),
        Pair::DiscreteGaussian { sigma, sensitivity } => {
            let s = sensitivity as f64 / sigma;
            0.5 * alpha * s * s
        }
        Pair::Zcdp { rho } => alpha * rho,
    }
}

/// The pairs and their counts, gathered into classes of nearly equal ones where there are very many: the noise of a
/// class is its smallest and the rate its largest, so a class never costs less than its members (less noise is
/// undone by adding noise, a higher rate by dropping rows at random: both are post-processing).
pub fn gathered(pairs: &BTreeMap<Pair, u64>) -> Vec<(Pair, u64)> {
    if pairs.len() <= MOST_PAIRS {
        return pairs.iter().map(|(pair, count)| (*pair, *count)).collect();
    }
    // Round to ever fewer binary digits until few enough are left.
    for digits in (0..=12).rev() {
        let mut classes: BTreeMap<Pair, u64> = BTreeMap::new();
        for (pair, count) in pairs {
            let sum = classes.entry(pair.coarser(digits)).or_insert(0);
            *sum = sum.saturating_add(*count);
            if classes.len() > MOST_PAIRS {
                break;
            }
        }
        if classes.len() <= MOST_PAIRS {
            return classes.into_iter().collect();
        }
    }
    // Everything apart even by powers of two: all as the costliest two-point pair would be useless, so let the
    // Rényi bound answer.
    vec![(
        Pair::TwoLosses {
            epsilon: f64::MAX,
            telling: 1.0,
        },
        1,
    )]
}
