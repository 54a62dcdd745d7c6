//! Dominating pairs (P, Q) of single events, and their loss ln(P/Q) on a grid.
//!
//! The discretisation is the pessimistic "connect the dots" of Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022:
//! between grid points the hockey-stick curve e^ε ↦ δ(ε) is replaced by its chord, which lies above it as the
//! curve is convex. Equivalently, what P and Q hold between two grid points is moved to these two so that
//! both masses stay: with masses p, q between losses l and l + h,
//! upper = (p − q e^l) / (1 − e^(−h)) and lower = p − upper. Both are never negative, and a pair with a larger
//! curve has larger compositions (Zhu, Dong, Wang 2022, Thm 10).

mod discrete_gaussian;
mod pure;
mod sampled;
mod tail;

use std::cmp::Ordering;

pub use discrete_gaussian::{Layout, layout};

use self::discrete_gaussian::discrete_gaussian;
use self::pure::{discrete_laplace, exponential, laplace};
use self::sampled::{envelope, mixture, top_loss, two_mixtures};
use super::grid::{Discrete, Grid, atoms};
use super::profile;
use crate::privacy::renyi::{self, Cost};

/// A pair that dominates one event, in the direction with the larger loss first where there are two.
#[derive(Clone, Copy, Debug)]
pub enum Pair {
    /// (1−q) N(0, z²) + q N(1, z²) against N(0, z²); its reverse is a pair of its own.
    Mixture {
        /// Sampling rate, inside (0, 1).
        q: f64,
        /// Noise over the clip norm.
        z: f64,
    },
    /// (1−q) N(0, z²) + q N(1, z²) against (1−q) N(0, z²) + q N(−1, z²).
    TwoMixtures {
        /// Sampling rate, inside (0, 1).
        q: f64,
        /// Noise over the clip norm.
        z: f64,
    },
    /// The envelope of sampling without replacement; with q = 1 the plain Gaussian pair.
    Envelope {
        /// Fraction sampled, inside (0, 1].
        q: f64,
        /// Noise over the sensitivity of one exchanged row.
        sigma: f64,
    },
    /// Lap(0, 1/ε) against Lap(1, 1/ε).
    Laplace {
        /// Sensitivity over scale.
        epsilon: f64,
    },
    /// The envelope of all ε-bounded-range pairs.
    Exponential {
        /// The mechanism's ε.
        epsilon: f64,
    },
    /// Losses +ε and −ε with total probability `telling`, and 0: any ε-DP mechanism, or randomised response.
    TwoLosses {
        /// The loss.
        epsilon: f64,
        /// Probability of a loss other than 0.
        telling: f64,
    },
    /// Noise ∝ e^(−|k|/t) on integers against itself shifted.
    DiscreteLaplace {
        /// Scale t.
        scale: f64,
        /// Shift.
        sensitivity: u64,
    },
    /// Noise ∝ e^(−k²/2σ²) on integers against itself shifted.
    DiscreteGaussian {
        /// σ.
        sigma: f64,
        /// Shift.
        sensitivity: u64,
    },
    /// The largest curve that ρ-zCDP allows.
    Zcdp {
        /// ρ.
        rho: f64,
    },
}

impl Pair {
    /// Kind and parameters as integers: what makes two pairs the same.
    fn key(self) -> (u8, u64, u64) {
        match self {
            Self::Mixture { q, z } => (0, q.to_bits(), z.to_bits()),
            Self::TwoMixtures { q, z } => (1, q.to_bits(), z.to_bits()),
            Self::Envelope { q, sigma } => (2, q.to_bits(), sigma.to_bits()),
            Self::Laplace { epsilon } => (3, epsilon.to_bits(), 0),
            Self::Exponential { epsilon } => (4, epsilon.to_bits(), 0),
            Self::TwoLosses { epsilon, telling } => (5, epsilon.to_bits(), telling.to_bits()),
            Self::DiscreteLaplace { scale, sensitivity } => (6, scale.to_bits(), sensitivity),
            Self::DiscreteGaussian { sigma, sensitivity } => (7, sigma.to_bits(), sensitivity),
            Self::Zcdp { rho } => (8, rho.to_bits(), 0),
        }
    }

    /// A pair that costs at least as much, with its parameters rounded to `digits` binary digits.
    pub fn coarser(self, digits: u32) -> Self {
        let down = |x: f64| round_bits(x, digits, false);
        let up = |x: f64| round_bits(x, digits, true);
        match self {
            Self::Mixture { q, z } => Self::Mixture {
                q: up(q).min(1.0_f64.next_down()),
                z: down(z),
            },
            Self::TwoMixtures { q, z } => Self::TwoMixtures {
                q: up(q).min(1.0_f64.next_down()),
                z: down(z),
            },
            Self::Envelope { q, sigma } => Self::Envelope {
                q: up(q).min(1.0),
                sigma: down(sigma),
            },
            Self::Laplace { epsilon } => Self::Laplace { epsilon: up(epsilon) },
            Self::Exponential { epsilon } => Self::Exponential { epsilon: up(epsilon) },
            // Any ε-DP pair is dominated by the one with all its mass telling.
            Self::TwoLosses { epsilon, .. } => Self::TwoLosses {
                epsilon: up(epsilon),
                telling: 1.0,
            },
            Self::DiscreteLaplace { scale, sensitivity } => Self::TwoLosses {
                epsilon: up(sensitivity as f64 / scale),
                telling: 1.0,
            },
            Self::DiscreteGaussian { sigma, sensitivity } => {
                let s = sensitivity as f64 / sigma;
                Self::Zcdp { rho: up(0.5 * s * s) }
            }
            Self::Zcdp { rho } => Self::Zcdp { rho: up(rho) },
        }
    }

    /// The Rényi cost of the event behind the pair.
    pub fn cost(self) -> Cost {
        let (divergences, pure): (Vec<f64>, Option<f64>) = match self {
            Self::Mixture { q, z } => (renyi::poisson_add_remove(q, z), None),
            Self::TwoMixtures { q, z } => (renyi::poisson_replace(q, z), None),
            Self::Envelope { q, sigma } => (renyi::without_replacement(q, sigma), None),
            Self::Laplace { epsilon } => (
                renyi::at_orders(|order| renyi::laplace(epsilon, order)),
                Some(epsilon),
            ),
            Self::Exponential { epsilon } => (
                renyi::at_orders(|order| renyi::exponential(epsilon, order)),
                Some(epsilon),
            ),
            Self::TwoLosses { epsilon, telling } => (
                renyi::at_orders(|order| renyi::two_losses(epsilon, telling, order)),
                Some(epsilon),
            ),
            Self::DiscreteLaplace { scale, sensitivity } => {
                let s = sensitivity as f64;
                (
                    renyi::at_orders(|order| renyi::discrete_laplace(scale, s, order)),
                    Some(s / scale),
                )
            }
            Self::DiscreteGaussian { sigma, sensitivity } => (
                renyi::at_orders(|order| renyi::gaussian(sigma / sensitivity as f64, order)),
                None,
            ),
            Self::Zcdp { rho } => (renyi::at_orders(|order| rho * order), None),
        };
        Cost {
            divergences,
            delta: 0.0,
            pure,
        }
    }

    /// Whether the reversed pair has the same losses.
    pub fn is_symmetric(self) -> bool {
        !matches!(self, Self::Mixture { .. })
    }
}

impl PartialEq for Pair {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Pair {}
impl PartialOrd for Pair {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Pair {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// A positive number with at most `digits` binary digits after the first, not above (or not below) the given one.
fn round_bits(x: f64, digits: u32, up: bool) -> f64 {
    let mask = (1u64 << (52 - digits)) - 1;
    let down = f64::from_bits(x.to_bits() & !mask);
    if up && down < x {
        f64::from_bits((x.to_bits() & !mask) + mask + 1)
    } else {
        down
    }
}

/// Largest number of atoms laid out one by one.
const MOST_ATOMS: u64 = 400_000;

/// Number of points that `pair` would take on the grid at most, roughly.
pub fn extent(pair: Pair, grid: Grid) -> f64 {
    let range = match pair {
        Pair::Mixture { q, z } => top_loss(q, z, grid.tail) - (-q).ln_1p(),
        Pair::TwoMixtures { q, z } => 2.0 * (top_loss(q, z, grid.tail) - (-q).ln_1p()),
        Pair::Envelope { q, sigma } => 2.0 * top_loss(q, sigma, grid.tail),
        Pair::Laplace { epsilon } | Pair::Exponential { epsilon } => 2.0 * epsilon,
        Pair::TwoLosses { .. } => 6.0 * grid.step,
        Pair::DiscreteLaplace { sensitivity, .. } => 2.0 * sensitivity as f64 * grid.step,
        Pair::DiscreteGaussian { sigma, sensitivity } => match layout(sigma, sensitivity) {
            Layout::Atoms => (80.0 * sigma).min(MOST_ATOMS as f64) * grid.step,
            Layout::Tails => 2.0 * top_loss(1.0, sigma / sensitivity as f64, grid.tail),
            Layout::Rho => 2.0 * profile::zcdp_range(0.5 * (sensitivity as f64 / sigma).powi(2), grid.tail),
        },
        Pair::Zcdp { rho } => 2.0 * profile::zcdp_range(rho, grid.tail),
    };
    range / grid.step + 4.0
}

/// The pair's loss on the grid.
pub fn discretise(pair: Pair, grid: Grid) -> Discrete {
    match pair {
        Pair::Mixture { q, z } => mixture(q, z, grid),
        Pair::TwoMixtures { q, z } => two_mixtures(q, z, grid),
        Pair::Envelope { q, sigma } => envelope(q, sigma, grid),
        Pair::Laplace { epsilon } => laplace(epsilon, grid),
        Pair::Exponential { epsilon } => exponential(epsilon, grid),
        Pair::TwoLosses { epsilon, telling } => {
            let up = telling / (1.0 + (-epsilon).exp());
            atoms(
                vec![(epsilon, up), (0.0, 1.0 - telling), (-epsilon, telling - up)],
                0.0,
                grid,
            )
        }
        Pair::DiscreteLaplace { scale, sensitivity } => discrete_laplace(scale, sensitivity, grid),
        Pair::DiscreteGaussian { sigma, sensitivity } => discrete_gaussian(sigma, sensitivity, grid),
        Pair::Zcdp { rho } => profile::zcdp(rho, grid),
    }
}

#[cfg(test)]
mod tests;
