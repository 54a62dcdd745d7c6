//! Gaussian noise on sampled rows: mixtures of two normal distributions.

use super::tail::Tail;
use crate::num::logspace::{normal_cdf, normal_quantile};
use crate::privacy::pld::grid::{Discrete, Grid, Point, lay, mirrored};
use crate::privacy::renyi;

/// Loss ln((1−q) + q e^(u/z − 1/2z²)) of a mixture at the point beyond which P holds at most `tail`.
pub fn top_loss(q: f64, z: f64, tail: f64) -> f64 {
    renyi::mixture_ln_ratio(q, z, top_point(q, z, tail)).max(0.0)
}

/// The point u (in units of z) beyond which (1−q) N(0,1) + q N(1/z, 1) holds at most `tail`.
pub fn top_point(q: f64, z: f64, tail: f64) -> f64 {
    let shifted = 1.0 / z - normal_quantile((0.5 * tail / q).min(0.5));
    shifted.max(-normal_quantile((0.5 * tail).min(0.5)))
}

/// The point u at which a mixture's loss is l: the inverse of l = ln((1−q) + q e^(u/z − 1/2z²)).
pub fn mixture_point(q: f64, z: f64, loss: f64) -> f64 {
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

pub fn mixture(q: f64, z: f64, grid: Grid) -> Discrete {
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
pub fn mixture_masses(q: f64, from: (Tail, Tail), to: (Tail, Tail), loss: f64) -> (f64, f64) {
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
pub fn two_mixtures(q: f64, z: f64, grid: Grid) -> Discrete {
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
pub fn envelope(q: f64, sigma: f64, grid: Grid) -> Discrete {
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
