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
    let nodes: Vec<Node> = if fits {
        nodes(step, -10.0, 11.0 / z + 10.0, |u| {
            Node::new(ln_normal_weight(u, step), mixture_ln_ratio(q, z, u))
        })
    } else {
        Vec::new()
    };
    let whole_orders = WholeOrders::up_to(q, z, ORDERS[ORDERS.len() - 1] as usize);
    let whole = |order: f64| whole_orders.ln_moment(order as usize);
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
    WholeOrders::up_to(q, z, order).ln_moment(order)
}

/// What the terms of M − 1 at all whole orders share: at order α they are e^(ln α! − ln (α−k)! + α ln(1−q) + aₖ).
struct WholeOrders {
    ln_rest: f64,
    /// aₖ = ln(e^(k(k−1)/2z²) − 1) + k ln(q/(1−q)) − ln k!, of k = 2, 3 …
    shared: Vec<f64>,
}

impl WholeOrders {
    fn up_to(q: f64, z: f64, most: usize) -> Self {
        let factorials = ln_factorials();
        let ln_rest = (-q).ln_1p();
        let ln_odds = q.ln() - ln_rest;
        let half = 0.5 / z / z;
        let shared = (2..=most).map(|k| {
            // e^0 − 1 is nothing, and its logarithm −∞.
            ln_exp_m1((k * (k - 1)) as f64 * half) + k as f64 * ln_odds - factorials[k]
        });
        Self {
            ln_rest,
            shared: shared.collect(),
        }
    }

    fn ln_moment(&self, order: usize) -> f64 {
        let factorials = ln_factorials();
        let whole = factorials[order] + order as f64 * self.ln_rest;
        let remaining = factorials[..order - 1].iter().rev();
        let terms: Vec<f64> = self
            .shared
            .iter()
            .zip(remaining)
            .map(|(shared, remaining)| whole + shared - remaining)
            .collect();
        let ln_excess = ln_sum(&terms);
        // ln(1 + e^x)
        if ln_excess > 0.0 {
            ln_excess + (-ln_excess).exp().ln_1p()
        } else {
            ln_excess.exp().ln_1p()
        }
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
        Node::new(
            ln_normal_weight(u, step) + against,
            mixture_ln_ratio(q, z, u) - against,
        )
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
            nodes.push(Node::new(
                ln_normal_weight(u, 0.5 * weight * width),
                mixture_ln_ratio(q, sigma, u),
            ));
        }
    }
    ORDERS
        .iter()
        .map(|&order| {
            let used = &nodes[..(panels(order) as usize * 16).min(nodes.len())];
            let ln_moment = if order * used.last().map_or(0.0, |node| node.loss) < 600.0 {
                let excess: f64 = used
                    .iter()
                    .map(|node| node.weight * mirrored_excess(order, node))
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

/// A quadrature node, with what every order asks of it.
struct Node {
    ln_weight: f64,
    weight: f64,
    loss: f64,
    /// e^l − 1.
    growth: f64,
    /// e^l − 1 − l of a small l.
    curvature: f64,
}

impl Node {
    fn new(ln_weight: f64, loss: f64) -> Self {
        Self {
            ln_weight,
            weight: ln_weight.exp(),
            loss,
            growth: loss.exp_m1(),
            curvature: beyond_linear(loss),
        }
    }
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
            .map(|node| node.weight * convex_excess(order, node))
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

/// e^x − 1 − x for small x, where the difference would cancel: the first terms of its series, the rest of which is
/// below 1e-16 of it for |x| ≤ 0.01.
fn beyond_linear(x: f64) -> f64 {
    const TERMS: [f64; 7] = [
        1.0 / 40_320.0,
        1.0 / 5040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
    ];
    x * x * TERMS.iter().fold(0.0, |sum, term| sum * x + term)
}

/// e^(αl) − 1 − α(e^l − 1); where that would cancel, by what the exponentials are beyond their linear terms, since
/// those are equal.
fn convex_excess(order: f64, node: &Node) -> f64 {
    let power = order * node.loss;
    if power.abs() > 1e-2 {
        power.exp_m1() - order * node.growth
    } else {
        beyond_linear(power) - order * node.curvature
    }
}

/// e^(αl) − e^l + e^((1−α)l) − 1, in the same two ways.
fn mirrored_excess(order: f64, node: &Node) -> f64 {
    let (up, down) = (order * node.loss, (1.0 - order) * node.loss);
    if up > 1e-2 {
        up.exp_m1() - node.growth + down.exp_m1()
    } else {
        beyond_linear(up) - node.curvature + beyond_linear(down)
    }
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
