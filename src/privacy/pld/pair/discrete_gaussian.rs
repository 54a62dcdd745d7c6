//! Discrete Gaussian noise.

use super::sampled::top_loss;
use super::tail::Tail;
use crate::num::logspace::{normal_cdf, normal_quantile};
use crate::privacy::mechanism::distribution::{gaussian_probability, gaussian_upper_tail};
use crate::privacy::pld::grid::{Discrete, Grid, atoms, lay, mirrored};
use crate::privacy::pld::profile;

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

pub fn discrete_gaussian(sigma: f64, sensitivity: u64, grid: Grid) -> Discrete {
    match layout(sigma, sensitivity) {
        Layout::Atoms => discrete_gaussian_atoms(sigma, sensitivity, grid),
        Layout::Tails => discrete_gaussian_tails(sigma, sensitivity, grid),
        // s²/2σ²-zCDP (Canonne, Kamath, Steinke 2020, Thm 4).
        Layout::Rho => profile::zcdp(0.5 * (sensitivity as f64 / sigma).powi(2), grid),
    }
}

/// Loss (s² − 2ks)/2σ² at k, P(k) ∝ e^(−k²/2σ²). The tail beyond K on one side is at most ∫_K^∞; the upper one goes
/// to an infinite loss, the lower one up to K's.
pub fn discrete_gaussian_atoms(sigma: f64, sensitivity: u64, grid: Grid) -> Discrete {
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
pub fn discrete_gaussian_tails(sigma: f64, sensitivity: u64, grid: Grid) -> Discrete {
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
