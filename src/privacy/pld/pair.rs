//! Dominating pairs (P, Q) of single events, and their loss ln(P/Q) on a grid.
//!
//! The discretisation is the pessimistic "connect the dots" of Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022:
//! between grid points the hockey-stick curve e^ε ↦ δ(ε) is replaced by its chord, which lies above it as the
//! curve is convex. Equivalently, what P and Q hold between two grid points is moved to these two so that
//! both masses stay: with masses p, q between losses l and l + h,
//! upper = (p − q e^l) / (1 − e^(−h)) and lower = p − upper. Both are never negative, and a pair with a larger
//! curve has larger compositions (Zhu, Dong, Wang 2022, Thm 10).
//!
//! Longer than other files: the pairs are one list, each with its argument.

use std::cmp::Ordering;

use super::grid::{Discrete, Grid, Point, atoms, lay, mirrored, split};
use super::profile;
use crate::num::logspace::{normal_cdf, normal_quantile};
use crate::privacy::mechanism::distribution::{gaussian_probability, gaussian_upper_tail};
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

/// Loss ln((1−q) + q e^(u/z − 1/2z²)) of a mixture at the point beyond which P holds at most `tail`.
fn top_loss(q: f64, z: f64, tail: f64) -> f64 {
    renyi::mixture_ln_ratio(q, z, top_point(q, z, tail)).max(0.0)
}

/// The point u (in units of z) beyond which (1−q) N(0,1) + q N(1/z, 1) holds at most `tail`.
fn top_point(q: f64, z: f64, tail: f64) -> f64 {
    let shifted = 1.0 / z - normal_quantile((0.5 * tail / q).min(0.5));
    shifted.max(-normal_quantile((0.5 * tail).min(0.5)))
}

/// The point u at which a mixture's loss is l: the inverse of l = ln((1−q) + q e^(u/z − 1/2z²)).
fn mixture_point(q: f64, z: f64, loss: f64) -> f64 {
    let ln_exponential = if loss > 600.0 {
        loss - q.ln()
    } else {
        let inside = loss.exp_m1() / q;
        if inside <= -1.0 {
            return f64::NEG_INFINITY;
        }
        inside.ln_1p()
    };
    z * ln_exponential + 0.5 / z
}

/// Φ kept as the smaller tail, so that differences are exact on both sides.
#[derive(Clone, Copy)]
struct Tail {
    smaller: f64,
    upper: bool,
}

impl Tail {
    fn at(u: f64) -> Self {
        Self {
            smaller: normal_cdf(-u.abs()),
            upper: u > 0.0,
        }
    }

    /// Φ at `to` minus Φ here.
    fn until(self, to: Self) -> f64 {
        let mass = match (self.upper, to.upper) {
            (false, false) => to.smaller - self.smaller,
            (true, true) => self.smaller - to.smaller,
            (false, true) => 1.0 - self.smaller - to.smaller,
            (true, false) => 0.0,
        };
        mass.max(0.0)
    }

    /// 1 − Φ.
    fn above(self) -> f64 {
        if self.upper {
            self.smaller
        } else {
            1.0 - self.smaller
        }
    }
}

fn mixture(q: f64, z: f64, grid: Grid) -> Discrete {
    let first = ((-q).ln_1p() / grid.step).floor() as i64;
    let last = ((top_loss(q, z, grid.tail) / grid.step).ceil() as i64).max(first + 1);
    let shift = 1.0 / z;
    let tails = |u: f64| (Tail::at(u), Tail::at(u - shift));
    let (losses, (plain, moved)) = lay(
        grid,
        (first, last),
        tails(f64::NEG_INFINITY),
        |index| tails(mixture_point(q, z, grid.loss(index))),
        |from, to, loss| mixture_masses(q, from, to, loss),
    );
    let infinite = (1.0 - q) * plain.above() + q * moved.above();
    // Under the reversed pair the same grid points hold Q's masses, e^(−l) of P's, at the negative losses. What lay
    // beyond the top is its lowest loss, moved up to the last grid point.
    let mut reversed: Vec<Point> = losses.iter().rev().map(|point| point.reversed(grid)).collect();
    reversed[0].mass += plain.above();
    Discrete {
        losses,
        infinite,
        reversed: Some(reversed),
    }
}

/// P's mass p and p − q e^l between two points of the mixture, l the loss at the lower one.
fn mixture_masses(q: f64, from: (Tail, Tail), to: (Tail, Tail), loss: f64) -> (f64, f64) {
    let (a, b) = (from.0.until(to.0), from.1.until(to.1));
    let p = (1.0 - q) * a + q * b;
    // p − a e^l with p = (1−q) a + q b; beyond 600 everything goes up, which is only more pessimistic.
    (
        p,
        if loss > 600.0 {
            p
        } else {
            q * b - a * (q + loss.exp_m1())
        },
    )
}

/// Replace one under Poisson sampling. With y = e^(u/z) and c = 1/2z² the loss l is at the positive root of
/// q e^(−c) y² − (1−q)(e^l − 1) y − q e^(l−c) = 0; symmetric under u → −u.
fn two_mixtures(q: f64, z: f64, grid: Grid) -> Discrete {
    let shift = 1.0 / z;
    let c = 0.5 * shift * shift;
    let u_top = top_point(q, z, grid.tail);
    let ratio = renyi::mixture_ln_ratio;
    let last = (((ratio(q, z, u_top) - ratio(q, z, -u_top)) / grid.step).ceil() as i64).max(1);
    let point = |loss: f64| {
        if loss > 600.0 {
            // The root is at least (1−q) e^(l+c) / q and at least e^(l/2); a point too low moves mass up.
            return z * (loss + c + ((1.0 - q) / q).ln()).max(0.5 * loss);
        }
        let b = (1.0 - q) * loss.exp_m1();
        let root = b + (b * b + 4.0 * q * q * (loss - 2.0 * c).exp()).sqrt();
        // Where e^(l−2c) underflows and b = 0 (l = 0), y is 1.
        if root > 0.0 {
            z * (c + (root / (2.0 * q)).ln()).max(0.0)
        } else {
            0.0
        }
    };
    let tails = |u: f64| (Tail::at(u), Tail::at(u - shift), Tail::at(u + shift));
    let (half, (plain, up, down)) = lay(
        grid,
        (0, last),
        tails(0.0),
        |index| tails(point(grid.loss(index))),
        |from, to, loss| {
            let (a, b, d) = (from.0.until(to.0), from.1.until(to.1), from.2.until(to.2));
            let p = (1.0 - q) * a + q * b;
            (
                p,
                if loss > 600.0 {
                    p
                } else {
                    q * (b - d * loss.exp()) - (1.0 - q) * a * loss.exp_m1()
                },
            )
        },
    );
    let infinite = (1.0 - q) * plain.above() + q * up.above();
    mirrored(
        &half,
        grid,
        0.0,
        infinite,
        (1.0 - q) * plain.above() + q * down.above(),
    )
}

/// δ(ε) = max(H((1−q)Q+qP ‖ Q), H(P ‖ (1−q)P+qQ)), P = N(1, σ²), Q = N(0, σ²). The two are each other's reverse and
/// meet at ε = 0, the first being the larger above. So above 0 the losses are those of the mixture, below they
/// mirror it, and the rest, 1 − P(l>0) − Q(l>0) = (1−q)(1 − 2Φ(−1/2σ)), is an atom at 0.
fn envelope(q: f64, sigma: f64, grid: Grid) -> Discrete {
    let last = ((top_loss(q, sigma, grid.tail) / grid.step).ceil() as i64).max(1);
    let shift = 1.0 / sigma;
    let tails = |u: f64| (Tail::at(u), Tail::at(u - shift));
    let start = 0.5 * shift;
    let (half, (plain, moved)) = lay(
        grid,
        (0, last),
        tails(start),
        |index| tails(mixture_point(q, sigma, grid.loss(index))),
        |from, to, loss| mixture_masses(q, from, to, loss),
    );
    let at_zero = (1.0 - q) * (1.0 - 2.0 * normal_cdf(-start));
    let infinite = (1.0 - q) * plain.above() + q * moved.above();
    mirrored(&half, grid, at_zero, infinite, plain.above())
}

/// Losses between 0 and ε with density factor·e^((l−ε)/2), as for Laplace noise (with atoms) and bounded range.
fn between(epsilon: f64, factor: f64, grid: Grid) -> Vec<Point> {
    let last = ((epsilon / grid.step).ceil() as i64).max(1);
    let masses = |from: i64, to: i64, low: f64| {
        let width = (epsilon - low).max(0.0).min((to - from) as f64 * grid.step);
        let p = factor * 2.0 * (0.5 * (low - epsilon)).exp() * (0.5 * width).exp_m1();
        // q e^l = ∫ e^(l−t) e^(t/2) dt from l = p e^(−width/2): the two differ by 1 − e^(−width/2).
        (p, p * -(-0.5 * width).exp_m1())
    };
    lay(grid, (0, last), 0, |index| index, masses).0
}

/// Loss (1 − 2x)/b between, x ~ Lap(0, b): density ¼·e^((l−ε)/2), atoms ½ at ε and ½e^(−ε) at −ε.
fn laplace(epsilon: f64, grid: Grid) -> Discrete {
    let mut half = between(epsilon, 0.25, grid);
    let top = half.len() - 1;
    let (below, width) = (
        grid.loss(half[top - 1].index),
        grid.loss(half[top].index - half[top - 1].index),
    );
    let offset = (epsilon - below).max(0.0).min(width);
    let (lower, upper) = split(0.5, 0.5 * -(-offset).exp_m1(), width);
    half[top - 1].mass += lower;
    half[top].mass += upper;
    mirrored(&half, grid, 0.0, 0.0, 0.0)
}

/// The largest curve of all pairs with losses t − ε and t (0 ≤ t ≤ ε), which is what an ε-bounded-range mechanism
/// allows (Dong, Durfee, Rogers 2020): δ(x) = (1 − e^((x−ε)/2))² / (1 − e^(−ε)) at t = (ε + x)/2. Its second
/// derivative in e^x gives P's loss the density e^((l−ε)/2) / (2(1 − e^(−ε))), and no atoms.
fn exponential(epsilon: f64, grid: Grid) -> Discrete {
    mirrored(
        &between(epsilon, 0.5 / -(-epsilon).exp_m1(), grid),
        grid,
        0.0,
        0.0,
        0.0,
    )
}

fn discrete_laplace(scale: f64, sensitivity: u64, grid: Grid) -> Discrete {
    let epsilon = sensitivity as f64 / scale;
    if sensitivity > MOST_ATOMS {
        // Any ε-DP mechanism is dominated by the two-point pair.
        return discretise(
            Pair::TwoLosses {
                epsilon,
                telling: 1.0,
            },
            grid,
        );
    }
    let r = (-1.0 / scale).exp();
    let each = -(-1.0 / scale).exp_m1() / (1.0 + r);
    let mut list = vec![
        (epsilon, 1.0 / (1.0 + r)),
        (-epsilon, (-epsilon).exp() / (1.0 + r)),
    ];
    for k in 1..sensitivity {
        list.push((
            (sensitivity as f64 - 2.0 * k as f64) / scale,
            each * (-(k as f64) / scale).exp(),
        ));
    }
    atoms(list, 0.0, grid)
}

/// How a discrete Gaussian is laid out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Layout {
    /// Atom by atom.
    Atoms,
    /// By the masses between dots, from tails in closed form.
    Tails,
    /// Not at all: by its ρ.
    Rho,
}

/// The layout for a σ and a sensitivity: atoms while they are few, since beyond the tails are as exact and their
/// number does not grow; neither where the loss is so large that no promise is left, or the steps too many to count.
pub fn layout(sigma: f64, sensitivity: u64) -> Layout {
    if sigma > 1000.0 && sensitivity as f64 <= 50.0 * sigma && sensitivity <= 1 << 52 {
        Layout::Tails
    } else if sigma <= 5000.0 {
        Layout::Atoms
    } else {
        Layout::Rho
    }
}

fn discrete_gaussian(sigma: f64, sensitivity: u64, grid: Grid) -> Discrete {
    match layout(sigma, sensitivity) {
        Layout::Atoms => discrete_gaussian_atoms(sigma, sensitivity, grid),
        Layout::Tails => discrete_gaussian_tails(sigma, sensitivity, grid),
        // s²/2σ²-zCDP (Canonne, Kamath, Steinke 2020, Thm 4).
        Layout::Rho => profile::zcdp(0.5 * (sensitivity as f64 / sigma).powi(2), grid),
    }
}

/// Loss (s² − 2ks)/2σ² at k, P(k) ∝ e^(−k²/2σ²). The tail beyond K on one side is at most ∫_K^∞; the upper one goes
/// to an infinite loss, the lower one up to K's.
fn discrete_gaussian_atoms(sigma: f64, sensitivity: u64, grid: Grid) -> Discrete {
    let s = sensitivity as f64;
    let reach = (sigma * -normal_quantile((0.1 * grid.tail).min(0.1))).ceil() + 1.0;
    let weight = |k: f64| (-0.5 * (k / sigma) * (k / sigma)).exp();
    let reach = reach as i64;
    let beyond = sigma * (2.0 * std::f64::consts::PI).sqrt() * normal_cdf(-(reach as f64) / sigma);
    let total: f64 = 1.0 + 2.0 * (1..=reach).map(|k| weight(k as f64)).sum::<f64>();
    let loss = |k: f64| 0.5 * (s / sigma) * ((s - 2.0 * k) / sigma);
    let mut list: Vec<(f64, f64)> = (-reach..=reach)
        .map(|k| (loss(k as f64), weight(k as f64) / total))
        .collect();
    list.push((loss(reach as f64), beyond / total));
    atoms(list, beyond / total, grid)
}

/// The same by masses between dots. With u = −k the loss (s² + 2us)/2σ² rises, P is centred at 0, Q at −s, and u ↦ −s − u
/// exchanges the two and the loss's sign. A state is the first u beyond a loss, as P's and Q's tails from there.
fn discrete_gaussian_tails(sigma: f64, sensitivity: u64, grid: Grid) -> Discrete {
    let s = sensitivity as f64;
    let last = ((top_loss(1.0, sigma / s, grid.tail) / grid.step).ceil() as i64).max(1);
    let from = |u: i64| {
        let tail = |k: i64| Tail {
            smaller: gaussian_upper_tail(sigma, if k > 0 { k } else { 1 - k }),
            upper: k > 0,
        };
        (tail(u), tail(u + sensitivity as i64))
    };
    // The first u with a loss above 0, and the one with none where s is even.
    let middle = -(sensitivity as i64).div_euclid(2);
    let (start, at_zero) = if sensitivity.is_multiple_of(2) {
        (middle + 1, gaussian_probability(sigma, middle))
    } else {
        (middle, 0.0)
    };
    let first_above = |loss: f64| ((loss * (sigma / s) * sigma - 0.5 * s).ceil() as i64).max(start);
    let (half, (p, q)) = lay(
        grid,
        (0, last),
        from(start),
        |index| from(first_above(grid.loss(index))),
        |from, to, loss| {
            let (p, q) = (from.0.until(to.0), from.1.until(to.1));
            (p, p - q * loss.exp())
        },
    );
    mirrored(&half, grid, at_zero, p.above(), q.above())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pair: Pair, step: f64, multiple: i64) {
        let grid = Grid {
            step,
            multiple,
            tilt: 3.0,
            tail: 1e-14,
        };
        let discrete = discretise(pair, grid);
        let sides = std::iter::once((&discrete.losses, discrete.infinite))
            .chain(discrete.reversed.as_ref().map(|reversed| (reversed, 0.0)));
        for (points, infinite) in sides {
            assert!(points.iter().all(|point| point.mass >= 0.0), "{pair:?}");
            assert!(
                points.windows(2).all(|two| two[0].index < two[1].index),
                "{pair:?}"
            );
            let p: f64 = points.iter().map(|point| point.mass).sum();
            assert!(
                (p + infinite - 1.0).abs() < 1e-11,
                "{pair:?}: P holds {p} + {infinite}"
            );
            // E_P[e^(−L)] is Q's mass where P has any: 1 but for the tails.
            let q: f64 = points
                .iter()
                .map(|point| point.mass * (-grid.loss(point.index)).exp())
                .sum();
            assert!((q - 1.0).abs() < 1e-9, "{pair:?}: Q holds {q}");
        }
        let size = discrete.losses.len() as f64;
        assert!(
            size <= 1.1 * extent(pair, grid) + 200.0,
            "{pair:?}: {size} > {}",
            extent(pair, grid)
        );
    }

    #[test]
    fn both_masses_stay_whole() {
        for (step, multiple) in [(1e-3, 1), (0.07, 1), (1e-3, 7)] {
            for (q, z) in [(0.01, 1.0), (0.5, 0.3), (0.001, 10.0), (0.9, 2.0)] {
                check(Pair::Mixture { q, z }, step, multiple);
                check(Pair::TwoMixtures { q, z }, step, multiple);
                check(Pair::Envelope { q, sigma: z }, step, multiple);
            }
            check(Pair::Envelope { q: 1.0, sigma: 0.7 }, step, multiple);
            check(Pair::Laplace { epsilon: 0.5 }, step, multiple);
            check(Pair::Exponential { epsilon: 1.3 }, step, multiple);
            check(
                Pair::TwoLosses {
                    epsilon: 2.0,
                    telling: 0.3,
                },
                step,
                multiple,
            );
            check(
                Pair::DiscreteLaplace {
                    scale: 2.0,
                    sensitivity: 1,
                },
                step,
                multiple,
            );
            check(
                Pair::DiscreteLaplace {
                    scale: 30.0,
                    sensitivity: 100,
                },
                step,
                multiple,
            );
            check(
                Pair::DiscreteGaussian {
                    sigma: 2.0,
                    sensitivity: 3,
                },
                step,
                multiple,
            );
            for (sigma, sensitivity) in [(1500.0, 700), (1e9, 1 << 31), (70_000.5, 2047), (3e4, 30_001)] {
                check(Pair::DiscreteGaussian { sigma, sensitivity }, step, multiple);
            }
            check(Pair::Zcdp { rho: 0.1 }, step, multiple);
        }
    }
}
