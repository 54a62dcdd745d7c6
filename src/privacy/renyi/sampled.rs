//! Divergences of Gaussian noise on sampled rows, by quadrature where there is no closed form.

#![allow(
    clippy::float_cmp,
    reason = "exact edges such as q = 1 and an unchanged bracket are meant"
)]

use std::sync::OnceLock;

use super::{ORDERS, gaussian};
use crate::num::logspace::{ln_exp_m1, ln_sum};

/// More quadrature nodes than this are not spent on one moment; a coarser bound is used instead.
const MOST_NODES: f64 = 40_000.0;

/// (1−q) N(0, z²) + q N(1, z²) against N(0, z²): the larger direction (Mironov, Talwar, Zhang 2019, Thm 5).
///
/// Whole orders: M − 1 = Σ_{k≥2} C(α,k) q^k (1−q)^(α−k) (e^(k(k−1)/2z²) − 1), all terms positive. Other orders: the
/// trapezoid rule on E_Q[(P/Q)^α] (see [`trapezoid_step`]). The alternating series of the paper is not used, so
/// no sign can be lost.
pub fn poisson_add_remove(q: f64, z: f64) -> Vec<f64> {
    if q == 0.0 {
        return vec![0.0; ORDERS.len()];
    }
    if q == 1.0 {
        return ORDERS.iter().map(|&order| gaussian(z, order)).collect();
    }
    let step = trapezoid_step(z);
    let fits = (11.0 / z + 20.0) / step < MOST_NODES;
    let ln_ratio = |u: f64| mixture_ln_ratio(q, z, u);
    let nodes: Vec<Node> = if fits {
        nodes(step, -10.0, 11.0 / z + 10.0, |u| Node {
            ln_weight: ln_normal_weight(u, step),
            loss: ln_ratio(u),
        })
    } else {
        Vec::new()
    };
    let whole = |order: f64| poisson_whole_order(q, z, order as usize);
    ORDERS
        .iter()
        .map(|&order| {
            let ln_moment = if order.fract() == 0.0 {
                whole(order)
            } else if fits {
                ln_moment(&nodes, order)
            } else {
                // ln M is convex in α and 0 at α = 1 (Hölder), so the chord lies above it.
                let below = order.floor();
                let low = if below < 2.0 { 0.0 } else { whole(below) };
                let high = whole(below + 1.0);
                if high.is_finite() {
                    low + (order - below) * (high - low)
                } else {
                    f64::INFINITY
                }
            };
            ln_moment / (order - 1.0)
        })
        .collect()
}

/// ln M at a whole order.
pub fn poisson_whole_order(q: f64, z: f64, order: usize) -> f64 {
    let factorials = ln_factorials();
    let (ln_q, ln_rest) = (q.ln(), (-q).ln_1p());
    let half = 0.5 / z / z;
    let mut terms = Vec::with_capacity(order);
    for k in 2..=order {
        let exponent = (k * (k - 1)) as f64 * half;
        if exponent == 0.0 {
            continue;
        }
        let ln_binomial = factorials[order] - factorials[k] - factorials[order - k];
        terms.push(ln_binomial + k as f64 * ln_q + (order - k) as f64 * ln_rest + ln_exp_m1(exponent));
    }
    let ln_excess = ln_sum(&terms);
    // ln(1 + e^x)
    if ln_excess > 0.0 {
        ln_excess + (-ln_excess).exp().ln_1p()
    } else {
        ln_excess.exp().ln_1p()
    }
}

fn ln_factorials() -> &'static [f64] {
    static TABLE: OnceLock<Vec<f64>> = OnceLock::new();
    TABLE.get_or_init(|| (0..=1024u32).map(|n| libm::lgamma(f64::from(n) + 1.0)).collect())
}

/// (1−q) N(0, z²) + q N(1, z²) against (1−q) N(0, z²) + q N(−1, z²): replace one, the exchanged rows at opposite
/// ends of the clip ball. Symmetric, so one direction is enough.
///
/// Given the other rows' coins the two outputs are such mixtures around a common point, and quasi-convexity lets
/// the common point be fixed; opposite ends are the farthest apart (Zhu, Dong, Wang 2022, Sec. 4; the pair that
/// dp_accounting uses for REPLACE_ONE).
pub fn poisson_replace(q: f64, z: f64) -> Vec<f64> {
    if q == 0.0 {
        return vec![0.0; ORDERS.len()];
    }
    let plain = |order: f64| gaussian(z / 2.0, order);
    let step = trapezoid_step(z);
    let fits = (1024.0 / z + 20.0) / step < MOST_NODES;
    if q == 1.0 || !fits {
        // Without amplification: sampling is post-processing of more than is released (joint quasi-convexity).
        return ORDERS.iter().map(|&order| plain(order)).collect();
    }
    let nodes = nodes(step, -10.0 - 1.0 / z, 1024.0 / z + 10.0, |u| {
        let against = mixture_ln_ratio(q, z, -u);
        Node {
            ln_weight: ln_normal_weight(u, step) + against,
            loss: mixture_ln_ratio(q, z, u) - against,
        }
    });
    ORDERS
        .iter()
        .map(|&order| {
            let used = (((order + 1.0) / z + 20.0) / step).ceil() as usize;
            ln_moment(&nodes[..used.min(nodes.len())], order) / (order - 1.0)
        })
        .collect()
}

/// The envelope of sampling a fraction q without replacement under replace one, with the unsampled pair
/// N(1, σ²) against N(0, σ²): δ(ε) = max(H((1−q)Q+qP ‖ Q), H(P ‖ (1−q)P+qQ)) (Balle, Barthe, Gaboardi 2018; a
/// dominating pair by Zhu, Dong, Wang 2022, Prop. 30). See `pld::pair` for its loss distribution: that of
/// r = (1−q) + q e^((2x−1)/2σ²) for x > ½, its mirror image, and an atom at 0. So
/// M − 1 = ∫_½^∞ φ_σ(x) (r^α − r + r^(1−α) − 1) dx, with a positive integrand.
pub fn without_replacement(q: f64, sigma: f64) -> Vec<f64> {
    if q >= 1.0 {
        return ORDERS.iter().map(|&order| gaussian(sigma, order)).collect();
    }
    let (points, weights) = gauss_legendre();
    let width = sigma.min(1.0);
    let start = 0.5 / sigma;
    let panels = |order: f64| ((order / sigma + 10.0 - start) / width).ceil().max(1.0);
    if panels(1024.0) * 16.0 > 8.0 * MOST_NODES {
        return ORDERS.iter().map(|&order| gaussian(sigma, order)).collect();
    }
    let mut nodes = Vec::new();
    for panel in 0..panels(1024.0) as usize {
        for (point, weight) in points.iter().zip(weights) {
            let u = start + (panel as f64 + 0.5 + 0.5 * point) * width;
            nodes.push(Node {
                ln_weight: ln_normal_weight(u, 0.5 * weight * width),
                loss: mixture_ln_ratio(q, sigma, u),
            });
        }
    }
    ORDERS
        .iter()
        .map(|&order| {
            let used = &nodes[..(panels(order) as usize * 16).min(nodes.len())];
            let ln_moment = if order * used.last().map_or(0.0, |node| node.loss) < 600.0 {
                let excess: f64 = used
                    .iter()
                    .map(|node| node.ln_weight.exp() * mirrored_excess(order, node.loss))
                    .sum();
                excess.max(0.0).ln_1p()
            } else {
                // Far above 1, where the terms left out (r and the mirror image) only lower the sum by less
                // than the 1 that is added back.
                let terms: Vec<f64> = used
                    .iter()
                    .map(|node| order * node.loss + node.ln_weight)
                    .collect();
                let top = ln_sum(&terms);
                if top > 0.0 {
                    top + (-top).exp().ln_1p()
                } else {
                    top.exp().ln_1p()
                }
            };
            ln_moment / (order - 1.0)
        })
        .collect()
}

/// ln((1−q) + q e^(u/z − 1/2z²)): the log-ratio of the mixture to N(0, z²) at x = u·z.
pub fn mixture_ln_ratio(q: f64, z: f64, u: f64) -> f64 {
    let exponent = (u - 0.5 / z) / z;
    if exponent < 30.0 {
        (q * exponent.exp_m1()).ln_1p()
    } else {
        exponent + q.ln() + ((1.0 - q) / q * (-exponent).exp()).ln_1p()
    }
}

struct Node {
    ln_weight: f64,
    loss: f64,
}

fn nodes(step: f64, from: f64, to: f64, node: impl Fn(f64) -> Node) -> Vec<Node> {
    let count = ((to - from) / step).ceil() as usize + 1;
    (0..count).map(|i| node(from + i as f64 * step)).collect()
}

fn ln_normal_weight(u: f64, width: f64) -> f64 {
    -0.5 * u * u + width.ln() - 0.918_938_533_204_672_8 // ln √2π
}

/// Step of the trapezoid rule in units of z. The integrand is analytic while |Im u| < πz (there the mixture
/// vanishes) and decays like a normal density, so the rule's relative error is about
/// min over c ≤ πz of e^(−2πc/step + c²/2) (Trefethen & Weideman 2014, Thm 5.1): below 1e−14 for this step.
fn trapezoid_step(z: f64) -> f64 {
    (0.5 * z).min(0.5)
}

/// ln Σ w e^(αl), where Σ w = Σ w e^l = 1: M − 1 = Σ w (e^(αl) − 1 − α(e^l − 1)), every term positive.
fn ln_moment(nodes: &[Node], order: f64) -> f64 {
    if order * nodes.last().map_or(0.0, |node| node.loss) < 600.0 {
        let excess: f64 = nodes
            .iter()
            .map(|node| node.ln_weight.exp() * convex_excess(order, node.loss))
            .sum();
        excess.max(0.0).ln_1p()
    } else {
        let terms: Vec<f64> = nodes
            .iter()
            .map(|node| order * node.loss + node.ln_weight)
            .collect();
        ln_sum(&terms).max(0.0)
    }
}

/// e^(αl) − 1 − α(e^l − 1), by Σ_{k≥2} (α^k − α) l^k/k! where it would cancel.
fn convex_excess(order: f64, loss: f64) -> f64 {
    if (order * loss).abs() > 1e-2 {
        return (order * loss).exp_m1() - order * loss.exp_m1();
    }
    let (mut high, mut low, mut sum) = (order * loss, order * loss, 0.0);
    for k in 2..9 {
        high *= order * loss / f64::from(k);
        low *= loss / f64::from(k);
        sum += high - low;
    }
    sum
}

/// e^(αl) − e^l + e^((1−α)l) − 1, by Σ_{k≥2} (α^k − 1 + (1−α)^k) l^k/k! where it would cancel.
fn mirrored_excess(order: f64, loss: f64) -> f64 {
    let (up, down) = (order * loss, (1.0 - order) * loss);
    if up > 1e-2 {
        return up.exp_m1() - loss.exp_m1() + down.exp_m1();
    }
    let (mut first, mut second, mut third, mut sum) = (up, loss, down, 0.0);
    for k in 2..9 {
        first *= up / f64::from(k);
        second *= loss / f64::from(k);
        third *= down / f64::from(k);
        sum += first - second + third;
    }
    sum
}

/// Points and weights of the 16-point Gauss–Legendre rule on [−1, 1], by Newton's method on P₁₆.
fn gauss_legendre() -> &'static ([f64; 16], [f64; 16]) {
    static RULE: OnceLock<([f64; 16], [f64; 16])> = OnceLock::new();
    RULE.get_or_init(|| {
        let (mut points, mut weights) = ([0.0; 16], [0.0; 16]);
        for i in 0..16 {
            let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / 16.5).cos();
            let mut slope = 1.0;
            for _ in 0..8 {
                let (mut before, mut value) = (1.0, x);
                for n in 2..=16 {
                    let n = f64::from(n);
                    (before, value) = (value, ((2.0 * n - 1.0) * x * value - (n - 1.0) * before) / n);
                }
                slope = 16.0 * (x * value - before) / (x * x - 1.0);
                x -= value / slope;
            }
            points[i] = x;
            weights[i] = 2.0 / ((1.0 - x * x) * slope * slope);
        }
        (points, weights)
    })
}
