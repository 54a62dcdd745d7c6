//! Noise whose loss is bounded: Laplace, discrete Laplace, bounded range.

use super::{MOST_ATOMS, Pair, discretise};
use crate::privacy::pld::grid::{Discrete, Grid, Point, atoms, lay, mirrored, split};

/// Losses between 0 and ε with density factor·e^((l−ε)/2), as for Laplace noise (with atoms) and bounded range.
pub fn between(epsilon: f64, factor: f64, grid: Grid) -> Vec<Point> {
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
pub fn laplace(epsilon: f64, grid: Grid) -> Discrete {
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
pub fn exponential(epsilon: f64, grid: Grid) -> Discrete {
    mirrored(
        &between(epsilon, 0.5 / -(-epsilon).exp_m1(), grid),
        grid,
        0.0,
        0.0,
        0.0,
    )
}

pub fn discrete_laplace(scale: f64, sensitivity: u64, grid: Grid) -> Discrete {
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
