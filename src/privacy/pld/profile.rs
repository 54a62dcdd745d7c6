//! From a bound on a privacy curve to a dominating pair on the grid.
//!
//! A true curve x = e^ε ↦ δ is convex, so under any bound it also lies under the bound's lower convex hull. The
//! hull's kinks are the atoms of a pair: at kink x the slope changes by Q's mass there, and P's is x times it
//! (Zhu, Dong, Wang 2022, Prop. 7: every such curve has a dominating pair).

use super::grid::{Discrete, Grid, Point};

/// The golden section.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// ln δ at ε of ρ-zCDP: the least over orders α > 1 of (α−1)(αρ − ε) + α ln(1 − 1/α) − ln(α − 1) (Canonne, Kamath,
/// Steinke 2020, Prop. 12), by golden section on ln(α − 1). Any α gives a bound, so stopping early is safe.
pub fn zcdp_ln_delta(rho: f64, epsilon: f64) -> f64 {
    let at = |ln_power: f64| {
        let power = ln_power.exp();
        let order = power + 1.0;
        power * (order * rho - epsilon) - order * (1.0 / power).ln_1p() - ln_power
    };
    // Near (ε − ρ)/2ρ; the rest of the expression moves it by little.
    let center = ((epsilon + rho) / (2.0 * rho)).max(1e-3).ln();
    let (mut low, mut high) = (center - 4.0, center + 2.0);
    let (mut left, mut right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut at_left, mut at_right) = (at(left), at(right));
    for _ in 0..45 {
        if at_left < at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - GOLDEN * (high - low);
            at_left = at(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + GOLDEN * (high - low);
            at_right = at(right);
        }
    }
    // KL is at most ρ, so total variation is at most √(ρ/2) (Pinsker) and √(1 − e^(−ρ)) (Bretagnolle–Huber).
    let total_variation = (0.5 * rho).min(-(-rho).exp_m1()).sqrt();
    at_left.min(at_right).min(total_variation.ln()).min(0.0)
}

/// The ε beyond which ρ-zCDP leaves at most `tail`: ρ + 2√(ρ ln(1/tail)) (Bun & Steinke 2016, Lemma 3.5).
pub fn zcdp_range(rho: f64, tail: f64) -> f64 {
    rho + 2.0 * (rho * -tail.ln()).sqrt()
}

/// The pair of the largest curve that ρ-zCDP allows in both directions.
pub fn zcdp(rho: f64, grid: Grid) -> Discrete {
    let h = grid.step;
    if zcdp_range(rho, grid.tail) > 600.0 {
        // e^ε is beyond f64: no curve, so nothing is promised here and the Rényi bound answers.
        return Discrete {
            losses: vec![Point {
                index: 0,
                mass: 0.0,
                spread: 0.0,
            }],
            infinite: 1.0,
            reversed: None,
        };
    }
    // A single curve for all zCDP events: a thousand dots a side are plenty.
    let apart = grid
        .multiple
        .max((zcdp_range(rho, grid.tail) / h / 1000.0).ceil() as i64)
        .max(1);
    let last = ((zcdp_range(rho, grid.tail) / (h * apart as f64)).ceil() as i64).max(1);
    let above: Vec<f64> = (0..=last)
        .map(|i| zcdp_ln_delta(rho, (i * apart) as f64 * h).exp())
        .collect();
    // The reversed pair obeys the same bound: δ(−ε) = 1 − e^(−ε) + e^(−ε) δ_reversed(ε).
    let dots = (-last..=last).map(|i| {
        let epsilon = (i * apart) as f64 * h;
        let bound = above[i.unsigned_abs() as usize];
        (
            i * apart,
            epsilon.exp(),
            if i < 0 {
                -epsilon.exp_m1() + epsilon.exp() * bound
            } else {
                bound
            },
        )
    });
    from_curve(dots)
}

/// The pair of the lower convex hull of the dots (grid index, e^ε, δ), ascending.
fn from_curve(dots: impl Iterator<Item = (i64, f64, f64)>) -> Discrete {
    // δ is 1 at e^ε = 0.
    let mut hull: Vec<(i64, f64, f64)> = vec![(i64::MIN, 0.0, 1.0)];
    let slope = |a: &(i64, f64, f64), b: &(i64, f64, f64)| (a.2 - b.2) / (b.1 - a.1);
    for dot in dots {
        while hull.len() >= 2
            && slope(&hull[hull.len() - 2], &hull[hull.len() - 1]) <= slope(&hull[hull.len() - 1], &dot)
        {
            hull.pop();
        }
        hull.push(dot);
    }
    let mut losses: Vec<Point> = (1..hull.len())
        .map(|i| {
            let before = slope(&hull[i - 1], &hull[i]).min(1.0);
            // Beyond the last dot δ stays where it is: an infinite loss.
            let after = hull.get(i + 1).map_or(0.0, |next| slope(&hull[i], next));
            let mass = hull[i].1 * (before - after).max(0.0);
            // A single curve on many dots: what they add is beyond notice.
            Point {
                index: hull[i].0,
                mass,
                spread: 0.0,
            }
        })
        .collect();
    let infinite = hull.last().map_or(1.0, |dot| dot.2);
    // P's mass must be whole; what rounding took is put where it counts most.
    let missing = 1.0 - infinite - losses.iter().map(|point| point.mass).sum::<f64>();
    if let Some(top) = losses.last_mut() {
        top.mass += missing.max(0.0);
    }
    Discrete {
        losses,
        infinite,
        reversed: None,
    }
}
