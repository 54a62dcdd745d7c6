//! One direction of a composition under an exponential tilt: cumulants, the tilt that centres it, and its window.

#![allow(clippy::float_cmp, reason = "a tilt that no longer moves is meant")]

use super::compose::Question;
use super::grid::Point;

/// −ln of the tilted mass that may lie outside the window on either side, at least.
const OUTSIDE: f64 = 21.0;

/// One direction of the composition: the points of each pair and how often.
pub(super) struct Side<'a> {
    pub(super) parts: Vec<(&'a [Point], u64)>,
}

/// Cumulant generating function of a side at a tilt: ln E[e^(θL)], its first two derivatives.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cumulants {
    pub(super) value: f64,
    pub(super) mean: f64,
    pub(super) variance: f64,
}

impl Cumulants {
    pub(super) fn of(points: &[Point], step: f64, tilt: f64) -> Self {
        let top = highest(points);
        let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
        for point in points {
            let below = (point.index - top) as f64 * step;
            let weight = point.mass * (tilt * below).exp();
            sum += weight;
            first += weight * below;
            second += weight * below * below;
        }
        let mean = first / sum;
        let top = top as f64 * step;
        Self {
            value: sum.ln() + tilt * top,
            mean: mean + top,
            variance: (second / sum - mean * mean).max(0.0),
        }
    }
}

pub(super) fn highest(points: &[Point]) -> i64 {
    points.last().map_or(0, |point| point.index)
}

pub(super) fn lowest(points: &[Point]) -> i64 {
    points.first().map_or(0, |point| point.index)
}

impl Side<'_> {
    /// What the chords add to ε: splitting a mass adds variance and keeps E[1] and E[e^(−L)], so with variance v on
    /// average ln E[e^(θL)] grows by about θ(θ+1)v/2 an event, and ε at the saddle point θ by (1+θ)v/2 (where ln δ falls
    /// more steeply than by θ, as below an atom, by as much more; see [`on_grid`]). A mass split over
    /// a width w has v at most w²/4 and moves by at most w.
    pub(super) fn excess(&self, step: f64, tilt: f64) -> f64 {
        let each = self.parts.iter().map(|&(points, count)| {
            let one = Cumulants::of(points, step, tilt);
            let added = points.iter().filter(|point| point.spread > 0.0).map(|point| {
                let variance = point.spread / point.mass;
                let weight = point.mass * (tilt * point.index as f64 * step - one.value).exp();
                weight * (0.5 * (1.0 + tilt) * variance).min((6.0 * variance).sqrt())
            });
            count as f64 * added.sum::<f64>()
        });
        each.sum()
    }

    pub(super) fn cumulants(&self, step: f64, tilt: f64) -> Cumulants {
        let mut total = Cumulants::default();
        for &(points, count) in &self.parts {
            let one = Cumulants::of(points, step, tilt);
            let count = count as f64;
            total.value += count * one.value;
            total.mean += count * one.mean;
            total.variance += count * one.variance;
        }
        total
    }

    /// The tilt that centres the losses where the answer is, and the cumulants there.
    ///
    /// At centre m = K′(θ) the mass above is about e^(K(θ) − θm) / (θ(1+θ) s √2π) (saddle point). So for a given δ
    /// the gap θK′ − K, which grows with θ, is solved for ln(1/δ) less that factor; for a given ε, K′ = ε. Both are
    /// monotone: Newton inside a bracket. A rough solution is enough, since every tilt gives a valid answer.
    pub(super) fn tilt(&self, question: Question, step: f64, start: f64) -> (f64, Cumulants) {
        let mut tilt = start.max(0.0);
        let mut found = self.cumulants(step, tilt);
        let spread = (tilt * (1.0 + tilt) * found.variance.sqrt() * 2.5).max(1.0).ln();
        let (mut low, mut high) = (0.0, f64::INFINITY);
        for _ in 0..40 {
            let deviation = found.variance.sqrt().max(step);
            let (missing, slope, enough) = match question {
                Question::Epsilon { ln_delta } => {
                    let gap = (-ln_delta - spread.min(-0.7 * ln_delta)).max(0.0);
                    (
                        gap - (tilt * found.mean - found.value),
                        tilt * found.variance,
                        0.7,
                    )
                }
                Question::Delta { epsilon } => (epsilon - found.mean, found.variance, 0.1 * deviation),
            };
            if missing.abs() <= enough || (tilt == 0.0 && missing < 0.0) || tilt * step > 50.0 {
                break;
            }
            if missing > 0.0 && found.variance < 1e-3 * step * step {
                // All that counts lies on one dot already: the top of what is bounded.
                break;
            }
            if missing > 0.0 {
                low = tilt;
            } else {
                high = tilt;
            }
            let newton = tilt + missing / slope;
            let next = if newton > low && newton < high && newton <= 4.0 * tilt + 4.0 / deviation {
                newton
            } else if high.is_finite() {
                // Tilts range over many powers of ten, and 0 is one of them.
                if low > 0.0 {
                    (low * high).sqrt()
                } else if high > 1e-3 / deviation {
                    0.1 * high
                } else {
                    0.0
                }
            } else {
                4.0 * tilt + 1.0 / deviation
            };
            let there = self.cumulants(step, next);
            if !there.value.is_finite() || (high.is_finite() && high - low < 1e-6 * high) || next == tilt {
                break;
            }
            (tilt, found) = (next, there);
        }
        (tilt, found)
    }

    /// The window [low, high] in grid points around the centre, and the bound on what lies above it: ln of tilted mass.
    pub(super) fn window(&self, step: f64, tilt: f64, at: Cumulants, ln_delta: f64) -> Window {
        // Where the tilt is not centred, what lies above must be small beside δ itself, in tilted units.
        let outside = OUTSIDE.max(12.0 - (ln_delta - (at.value - tilt * at.mean)));
        let support = |edge: fn(&[Point]) -> i64| -> f64 {
            self.parts
                .iter()
                .map(|&(points, count)| count as f64 * edge(points) as f64)
                .sum()
        };
        let (bottom, top) = (support(lowest), support(highest));
        let deviation = at.variance.sqrt().max(step);
        // P_θ(L > m + w) ≤ e^(K(θ+λ) − K(θ) − λ(m+w)), and below likewise. λ = 5/s is best for a normal shape; a
        // heavier tail wants less.
        let reach = |sign: f64| {
            let mut least = f64::INFINITY;
            for multiple in [5.0, 3.0, 1.8, 1.0, 0.5] {
                let lambda = sign * multiple / deviation;
                let there = self.cumulants(step, tilt + lambda).value;
                least = least.min((there - at.value - lambda * at.mean + outside) / lambda.abs());
                if least < (0.75 * multiple + outside / multiple) * deviation {
                    break;
                }
            }
            least
        };
        let (up, down) = (reach(1.0), reach(-1.0));
        let bounded = |value: f64| {
            if value.is_finite() {
                value.max(4.0 * step)
            } else {
                f64::INFINITY
            }
        };
        let low = ((at.mean - bounded(down)) / step).floor().max(bottom);
        let high = ((at.mean + bounded(up)) / step).ceil().min(top);
        let ln_above = if high >= top { f64::NEG_INFINITY } else { -outside };
        Window { low, high, ln_above }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) ln_above: f64,
}
