//! Composition of discretised losses by FFT, and the answer read off it.
//!
//! The losses are composed under an exponential tilt (Esscher 1932): with mass ∝ p e^(θL) centred where the answer
//! is, rounding errors of the transform are relative to the part that matters, so that δ = 1e-100 is as
//! exact as 0.1, and a window of some thirteen standard deviations is enough. Everything that is not exact errs
//! upwards: mass outside the window above is added by its Chernoff bound (below the window it can only come
//! back as too much), rounding by a bound on each coefficient, cut tails as an infinite loss.

use super::pair::{Discrete, Grid, Pair, Point, discretise, extent};
use crate::num::fft::{self, Complex64};

/// Largest transform: 2²⁰ points are 16 MB a buffer.
const MOST_POINTS: usize = 1 << 20;
/// Most grid points of all pairs together.
const MOST_CELLS: f64 = 3e6;
/// −ln of the tilted mass that may lie outside the window on either side, at least.
const OUTSIDE: f64 = 21.0;
const UNIT: f64 = f64::EPSILON / 2.0;

/// Pairs to be composed, each as often as said.
pub type Counted = Vec<(Pair, u64)>;

/// What is asked of a composition.
#[derive(Clone, Copy, Debug)]
pub enum Question {
    /// The ε at ln δ.
    Epsilon {
        /// ln δ.
        ln_delta: f64,
    },
    /// The δ at ε.
    Delta {
        /// ε.
        epsilon: f64,
    },
}

/// An answer and how far the grid may have pushed it up.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// ε or δ.
    pub value: f64,
    /// Estimated excess in ε caused by the grid.
    pub excess: f64,
}

/// Where the answer is expected: from a Rényi bound.
#[derive(Clone, Copy, Debug)]
pub struct Guess {
    /// Tilt, the Rényi order minus one.
    pub tilt: f64,
    /// ε, as asked or from above.
    pub epsilon: f64,
    /// ln δ, as asked or from above.
    pub ln_delta: f64,
}

/// Excess in ε that is aimed at, relative down to ε = 0.05.
const AIM: f64 = 3e-4;

/// One direction of the composition: the points of each pair and how often.
struct Side<'a> {
    parts: Vec<(&'a [Point], u64)>,
}

/// Cumulant generating function of a side at a tilt: ln E[e^(θL)], its first two derivatives.
#[derive(Clone, Copy, Debug, Default)]
struct Cumulants {
    value: f64,
    mean: f64,
    variance: f64,
}

impl Cumulants {
    fn of(points: &[Point], step: f64, tilt: f64) -> Self {
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

fn highest(points: &[Point]) -> i64 {
    points.last().map_or(0, |point| point.index)
}

fn lowest(points: &[Point]) -> i64 {
    points.first().map_or(0, |point| point.index)
}

impl Side<'_> {
    /// What the chords add to ε: splitting a mass adds variance and keeps E[1] and E[e^(−L)], so with variance v on
    /// average ln E[e^(θL)] grows by about θ(θ+1)v/2 an event, and ε at the saddle point θ by (1+θ)v/2 (where ln δ falls
    /// more steeply than by θ, as below an atom, by as much more; see [`on_grid`]). A mass split over
    /// a width w has v at most w²/4 and moves by at most w.
    fn excess(&self, step: f64, tilt: f64) -> f64 {
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

    fn cumulants(&self, step: f64, tilt: f64) -> Cumulants {
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
    fn tilt(&self, question: Question, step: f64, start: f64) -> (f64, Cumulants) {
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
                Question::Delta { epsilon } => (epsilon - found.mean, found.variance, deviation),
            };
            if missing.abs() <= enough || (tilt == 0.0 && missing < 0.0) || tilt * step > 50.0 {
                break;
            }
            if missing > 0.0 && found.variance < 1e-3 * step * step {
                // All that counts lies on one dot already: the top of what is bounded.
                break;
            }
            if missing > 0.0 {
                low = tilt
            } else {
                high = tilt
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
    fn window(&self, step: f64, tilt: f64, at: Cumulants, ln_delta: f64) -> Window {
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
struct Window {
    low: f64,
    high: f64,
    ln_above: f64,
}

/// A composed direction: tilted masses from the window's top down.
struct Composed {
    at: Cumulants,
    tilt: f64,
    step: f64,
    /// Loss of the last entry of `mass`, relative to the centre.
    top: f64,
    /// Absolute loss of the centre.
    center: f64,
    mass: Vec<f64>,
    noise: f64,
    /// Scaled mass above the window.
    above: f64,
    /// Probability of an infinite loss.
    infinite: f64,
    /// What the grid may have added to ε.
    excess: f64,
}

impl Composed {
    /// Walks down from the top with (loss relative to the centre, D, G): D = Σ w (1 − e^(l − L)) over losses L > l,
    /// which is δ at l but for scale and infinity, G = Σ w e^(l − L) over L ≥ l. Both grow by positive terms only.
    fn walk<T>(&self, mut visit: impl FnMut(f64, f64, f64) -> Option<T>) -> Option<T> {
        let (shrink, rest) = ((-self.step).exp(), -(-self.step).exp_m1());
        let (mut d, mut g) = (self.above, 0.0);
        for (k, &mass) in self.mass.iter().rev().enumerate() {
            let loss = self.top - k as f64 * self.step;
            d += rest * g;
            g = shrink * g + (mass.max(0.0) + self.noise) * (-self.tilt * loss).exp();
            if let Some(found) = visit(loss, d, g) {
                return Some(found);
            }
        }
        None
    }

    /// ln of the factor between scaled sums and probabilities: K(θ) − θ·centre.
    fn ln_scale(&self) -> f64 {
        self.at.value - self.tilt * self.center
    }

    /// The least ε at ln δ, and how steeply ln δ falls there.
    fn epsilon(&self, ln_delta: f64) -> (f64, f64) {
        let rest = ln_delta.exp() - self.infinite;
        if rest <= 0.0 {
            return (f64::INFINITY, 0.0);
        }
        let target = (rest.ln() - self.ln_scale()).exp();
        if !target.is_finite() {
            return (f64::INFINITY, 0.0);
        }
        // The topmost point at which δ passes the target; the answer lies above it, at or below the point before.
        let (mut loss_above, mut g_above, mut d_above) = (f64::INFINITY, 0.0, 0.0);
        let found = self.walk(|loss, d, g| {
            // Written so that a NaN stops the walk.
            if !(d <= target) {
                return Some(());
            }
            (loss_above, g_above, d_above) = (loss, g, d);
            None
        });
        if found.is_none() || loss_above == f64::INFINITY {
            // Nothing is known below the window; and where already its top is too much, nothing at all.
            return ((self.center + loss_above).max(0.0), 0.0);
        }
        // D(l − u) = D(l) + (1 − e^(−u)) G(l) down to the next point.
        let ratio = (target - d_above) / g_above;
        let down = if ratio < 1.0 { -(-ratio).ln_1p() } else { self.step };
        let down = down.min(self.step);
        // −D′/D with D′ = −e^(−u) G.
        let steepness = g_above * (-down).exp() / target;
        ((self.center + loss_above - down).max(0.0), steepness)
    }

    /// δ at ε, and how steeply ln δ falls there.
    fn delta(&self, epsilon: f64) -> (f64, f64) {
        let relative = epsilon - self.center;
        let (mut loss_above, mut d_above, mut g_above) = (relative, self.above, 0.0);
        let found = self.walk(|loss, d, g| {
            if loss <= relative {
                return Some(());
            }
            (loss_above, d_above, g_above) = (loss, d, g);
            None
        });
        if found.is_none() && self.tilt > 0.0 && loss_above > relative + self.step {
            // Below the window: what lies between is not known (without a tilt it came back above, as too much).
            return (1.0, 0.0);
        }
        let d = d_above - (relative - loss_above).exp_m1() * g_above;
        let steepness = if d > 0.0 {
            g_above * (relative - loss_above).exp() / d
        } else {
            0.0
        };
        (
            ((d.ln() + self.ln_scale()).exp() + self.infinite).min(1.0),
            steepness,
        )
    }
}

/// The answer for all pairs together: the larger of both directions.
pub fn answer(pairs: &Counted, question: Question, guess: Guess) -> Answer {
    answer_within(pairs, question, guess, AIM)
}

/// As [`answer`], with the relative excess that is aimed at.
pub fn answer_within(pairs: &Counted, question: Question, guess: Guess, relative: f64) -> Answer {
    let aim = |epsilon: f64| relative * epsilon.max(0.05);
    let mut guess = guess;
    let mut best: Option<Answer> = None;
    let mut finer = 1.0;
    for _ in 0..4 {
        let Some(mut layout) = Layout::choose(pairs, guess, finer * aim(guess.epsilon)) else {
            break;
        };
        let (value, tilt, excess) = on_grid(pairs, &mut layout, question, guess);
        let epsilon = match question {
            Question::Epsilon { .. } => value,
            Question::Delta { epsilon } => epsilon,
        };
        if best.is_none_or(|before| value < before.value) {
            best = Some(Answer { value, excess });
        }
        // Too coarse for what came out, or too much cut off for the δ that came out: once more, finer.
        let lower_delta = match question {
            Question::Delta { .. } => value.ln(),
            Question::Epsilon { ln_delta } => ln_delta,
        };
        let coarse = epsilon.is_finite() && excess > 2.0 * aim(epsilon) && !layout.limited;
        let cut = lower_delta.is_finite() && lower_delta < guess.ln_delta - 5.0;
        if !(coarse || cut) || !value.is_finite() {
            break;
        }
        finer *= (aim(epsilon) / excess).clamp(0.01, 1.0);
        guess = Guess {
            tilt,
            epsilon: epsilon.min(guess.epsilon),
            ln_delta: lower_delta.min(guess.ln_delta),
        };
    }
    best.unwrap_or(Answer {
        value: nothing(question),
        excess: f64::INFINITY,
    })
}

/// The grid of a composition: one step for all, and how far apart each pair's own dots lie.
#[derive(Clone, Debug)]
struct Layout {
    step: f64,
    multiples: Vec<i64>,
    tilt: f64,
    tail: f64,
    /// Whether the step had to be coarser than wished.
    limited: bool,
}

impl Layout {
    /// A pair composed c times with dots w apart adds c w² (1+θ)/12 to ε ([`Side::excess`]). What is aimed at is
    /// shared out by √c, so that a pair composed once does with few dots.
    ///
    /// `None` where a pair's losses are beyond any grid.
    fn choose(pairs: &Counted, guess: Guess, aim: f64) -> Option<Self> {
        let roots: f64 = pairs.iter().map(|&(_, count)| (count as f64).sqrt()).sum();
        let count: f64 = pairs.iter().map(|&(_, count)| count as f64).sum();
        let steep = 1.0 + guess.tilt;
        let apart: Vec<f64> = pairs
            .iter()
            .map(|&(_, count)| {
                let share = aim / ((count as f64).sqrt() * roots);
                (12.0 * share / steep).sqrt().min(0.25 / steep).max(share)
            })
            .collect();
        let step = apart.iter().copied().fold(f64::INFINITY, f64::min);
        let multiples = apart
            .iter()
            .map(|width| (width / step).clamp(1.0, 1e9) as i64)
            .collect();
        let tail = (guess.ln_delta - 14.0 - count.ln()).exp().clamp(1e-300, 1e-4);
        if !(step > 0.0 && step.is_finite()) {
            return None;
        }
        let mut layout = Self {
            step,
            multiples,
            tilt: guess.tilt,
            tail,
            limited: false,
        };
        let points: f64 = (0..pairs.len())
            .map(|i| extent(pairs[i].0, layout.grid(i)) / layout.multiples[i] as f64)
            .sum();
        if !points.is_finite() {
            return None;
        }
        if points > MOST_CELLS {
            layout.step *= points / MOST_CELLS;
            layout.limited = true;
        }
        layout.step.is_finite().then_some(layout)
    }

    fn grid(&self, pair: usize) -> Grid {
        Grid {
            step: self.step,
            multiple: self.multiples[pair],
            tilt: self.tilt,
            tail: self.tail,
        }
    }
}

/// The answer on one grid, with the tilt and the excess of the direction that gave it.
fn on_grid(pairs: &Counted, layout: &mut Layout, question: Question, guess: Guess) -> (f64, f64, f64) {
    directions(pairs, layout, Some(question), guess)
        .into_iter()
        .map(|composed| {
            let (value, steepness) = match question {
                Question::Epsilon { ln_delta } => composed.epsilon(ln_delta),
                Question::Delta { epsilon } => composed.delta(epsilon),
            };
            // Whatever is not a number is no promise.
            let value = if value.is_nan() { nothing(question) } else { value };
            (
                value,
                composed.tilt,
                composed.excess * (1.0 + steepness.max(composed.tilt)) / (1.0 + composed.tilt),
            )
        })
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .unwrap_or((nothing(question), guess.tilt, f64::INFINITY))
}

/// δ at each ε from one composition without a tilt: the larger direction, exact to about 1e-12 absolute.
pub fn curve(pairs: &Counted, epsilons: &[f64], guess: Guess) -> Vec<f64> {
    let Some(mut layout) = Layout::choose(pairs, guess, AIM * guess.epsilon.max(0.05)) else {
        return vec![1.0; epsilons.len()];
    };
    // Small losses matter here as much as the tail.
    layout.tilt = 0.0;
    let composed = directions(pairs, &mut layout, None, guess);
    let at = |epsilon: f64| {
        composed
            .iter()
            .map(|one| one.delta(epsilon).0)
            .fold(0.0, f64::max)
    };
    let answers = epsilons
        .iter()
        .map(|&epsilon| if composed.is_empty() { 1.0 } else { at(epsilon) });
    answers
        .map(|delta| {
            if delta.is_nan() {
                1.0
            } else {
                delta.clamp(0.0, 1.0)
            }
        })
        .collect()
}

/// Both directions composed (one where they are equal; none where no grid fits). Without a question there is no tilt.
fn directions(
    pairs: &Counted,
    layout: &mut Layout,
    question: Option<Question>,
    guess: Guess,
) -> Vec<Composed> {
    loop {
        let discrete: Vec<Discrete> = pairs
            .iter()
            .enumerate()
            .map(|(i, &(pair, _))| discretise(pair, layout.grid(i)))
            .collect();
        let step = layout.step;
        let side = |reversed: bool| Side {
            parts: discrete
                .iter()
                .zip(pairs)
                .map(|(one, &(_, count))| match &one.reversed {
                    Some(points) if reversed => (&points[..], count),
                    _ => (&one.losses[..], count),
                })
                .collect(),
        };
        let mut sides = vec![side(false)];
        if pairs.iter().any(|(pair, _)| !pair.is_symmetric()) {
            sides.push(side(true));
        }
        let tilted: Vec<(f64, Cumulants)> = sides
            .iter()
            .map(|side| match question {
                Some(question) => side.tilt(question, step, guess.tilt),
                None => (0.0, side.cumulants(step, 0.0)),
            })
            .collect();
        let windows: Vec<Window> = sides
            .iter()
            .zip(&tilted)
            .map(|(side, &(tilt, at))| side.window(step, tilt, at, guess.ln_delta))
            .collect();
        let width = windows
            .iter()
            .map(|window| window.high - window.low)
            .fold(0.0, f64::max);
        if width.is_nan() || width + 2.0 > MOST_POINTS as f64 {
            let wider = (width / MOST_POINTS as f64).max(1.0) * 1.01;
            if !(step * wider).is_finite() {
                return Vec::new();
            }
            layout.step *= wider;
            layout.limited = true;
            continue;
        }
        let mut composed = compose(&sides, &tilted, &windows, step, width as usize + 2);
        for (i, one) in composed.iter_mut().enumerate() {
            one.infinite = cut_off(&discrete, pairs, i == 1);
            one.excess = sides[i].excess(step, one.tilt);
        }
        let is_number = |one: &Composed| {
            one.noise.is_finite() && one.at.value.is_finite() && one.mass.iter().all(|mass| mass.is_finite())
        };
        return if composed.iter().all(is_number) {
            composed
        } else {
            Vec::new()
        };
    }
}

/// Probability that some cut tail was met. Under the reversed pair of an asymmetric one nothing is cut above.
fn cut_off(discrete: &[Discrete], pairs: &Counted, reversed: bool) -> f64 {
    let ln_finite: f64 = discrete
        .iter()
        .zip(pairs)
        .filter(|(one, _)| !(reversed && one.reversed.is_some()))
        .map(|(one, &(_, count))| count as f64 * (-one.infinite).ln_1p())
        .sum();
    -ln_finite.exp_m1()
}

/// The answer that promises nothing.
fn nothing(question: Question) -> f64 {
    match question {
        Question::Epsilon { .. } => f64::INFINITY,
        Question::Delta { .. } => 1.0,
    }
}

/// Composes one or two directions.
fn compose(
    sides: &[Side],
    tilted: &[(f64, Cumulants)],
    windows: &[Window],
    step: f64,
    least: usize,
) -> Vec<Composed> {
    let length = fft::quick_length(least);
    let half = length / 2;
    let Spectra {
        values: spectra,
        offsets,
        relative,
    } = spectra(sides, tilted, step, length);
    let noise: Vec<f64> = spectra
        .iter()
        .map(|spectrum| {
            let sum: f64 = spectrum.iter().map(|value| value.norm()).sum();
            (2.0 * sum * relative + UNIT * 8.0) / length as f64
        })
        .collect();
    // One direction comes back in the real part, the other in the imaginary.
    let mut buffer = vec![Complex64::default(); length];
    for k in 0..=half {
        let real = spectra[0][k];
        let imaginary = spectra
            .get(1)
            .map_or(Complex64::default(), |spectrum| spectrum[k]);
        buffer[k] = real + Complex64::new(-imaginary.im, imaginary.re);
        if k > 0 && k < length - k {
            buffer[length - k] = real.conj() + Complex64::new(imaginary.im, imaginary.re);
        }
    }
    fft::inverse(&mut buffer);
    (0..sides.len())
        .map(|s| {
            let base = windows[s].low as i128;
            let points = ((windows[s].high - windows[s].low) as usize + 1).min(length);
            let start = (base - offsets[s]).rem_euclid(length as i128) as usize;
            let mass: Vec<f64> = buffer[start..]
                .iter()
                .chain(&buffer[..start])
                .take(points)
                .map(|value| (if s == 0 { value.re } else { value.im }) / length as f64)
                .collect();
            let (tilt, at) = tilted[s];
            // Losses relative to a grid point near the centre, so that no digits are lost in the exponent.
            let center_index = (at.mean / step).round();
            let center = center_index * step;
            let top = (base + points as i128 - 1 - center_index as i128) as f64 * step;
            let above = (windows[s].ln_above - tilt * top).exp();
            Composed {
                at,
                tilt,
                step,
                top,
                center,
                mass,
                noise: noise[s],
                above,
                infinite: 0.0,
                excess: 0.0,
            }
        })
        .collect()
}

/// The composition's transform up to half the length, for each direction.
struct Spectra {
    values: Vec<Vec<Complex64>>,
    /// The grid point at index 0 of the circle.
    offsets: Vec<i128>,
    /// Bound on the relative error of each value.
    relative: f64,
}

/// |value|² below which a coefficient is dropped: 1e-30 is far below one unit of rounding.
const UNNOTICED: f64 = 1e-60;

/// Multiplies the pairs' transforms, each to the power of its count.
///
/// No factor is larger than 1 in size, so once the product of some pairs has vanished above a frequency, the rest
/// need no transform there. The widest pairs go first by FFT; the others are summed at the few frequencies left.
fn spectra(sides: &[Side], tilted: &[(f64, Cumulants)], step: f64, length: usize) -> Spectra {
    let half = length / 2;
    let parts = sides[0].parts.len();
    let mut result = Spectra {
        values: vec![vec![Complex64::new(1.0, 0.0); half + 1]; sides.len()],
        offsets: vec![0; sides.len()],
        relative: 0.0,
    };
    let placed: Vec<Vec<Placed>> = sides
        .iter()
        .zip(tilted)
        .map(|(side, &(tilt, _))| {
            side.parts
                .iter()
                .map(|&(points, _)| Placed::new(points, step, tilt))
                .collect()
        })
        .collect();
    let mut order: Vec<usize> = (0..parts).collect();
    let width = |part: usize| placed[0][part].variance * sides[0].parts[part].1 as f64;
    order.sort_by(|&a, &b| width(b).total_cmp(&width(a)));
    let mut top = half;
    let mut total = 0.0;
    let mut buffer: Vec<Complex64> = Vec::new();
    for part in order {
        let count = sides[0].parts[part].1;
        total += count as f64;
        let points: usize = placed.iter().map(|side| side[part].weights.len()).sum();
        // A point and frequency of the sum against the butterflies of the transform, by their measured times.
        let by_sum = points * (top + 40) < length * (length.ilog2() as usize) / 2;
        if !by_sum {
            buffer.clear();
            buffer.resize(length, Complex64::default());
            for (s, side) in placed.iter().enumerate() {
                side[part].put(&mut buffer, s == 1);
            }
            fft::forward(&mut buffer);
        }
        for (s, side) in placed.iter().enumerate() {
            result.offsets[s] += i128::from(side[part].center) * i128::from(count);
            let values = &mut result.values[s];
            if by_sum {
                for (value, factor) in values.iter_mut().zip(side[part].low_frequencies(length, top)) {
                    *value *= power(factor, count);
                }
            } else {
                for k in 0..=top {
                    let (here, mirror) = (buffer[k], buffer[(length - k) % length].conj());
                    // (Z_k + Z*_{N−k}) / 2 and (Z_k − Z*_{N−k}) / 2i
                    let (sum, difference) = ((here + mirror) * 0.5, (here - mirror) * 0.5);
                    let factor = if s == 0 {
                        sum
                    } else {
                        Complex64::new(difference.im, -difference.re)
                    };
                    values[k] *= power(factor, count);
                }
            }
        }
        while top > 0
            && result
                .values
                .iter()
                .all(|values| values[top].norm_sqr() < UNNOTICED)
        {
            for values in &mut result.values {
                values[top] = Complex64::default();
            }
            top -= 1;
        }
    }
    // Each factor carries a relative error of a few units for the transform and as many for its power.
    result.relative = UNIT * (16.0 * total + 16.0 * parts as f64 + 4.0 * (length as f64).log2());
    result
}

/// One pair's tilted masses, divided by their sum, around the grid point nearest to their mean.
struct Placed {
    center: i64,
    variance: f64,
    weights: Vec<(i64, f64)>,
}

impl Placed {
    fn new(points: &[Point], step: f64, tilt: f64) -> Self {
        let one = Cumulants::of(points, step, tilt);
        let center = (one.mean / step).round() as i64;
        let weights = points
            .iter()
            .map(|point| {
                (
                    point.index - center,
                    point.mass * (tilt * point.index as f64 * step - one.value).exp(),
                )
            })
            .filter(|point| point.1 > 0.0)
            .collect();
        Self {
            center,
            variance: one.variance,
            weights,
        }
    }

    /// Adds the masses to a circle, center at 0.
    fn put(&self, buffer: &mut [Complex64], imaginary: bool) {
        let length = buffer.len() as i64;
        for &(index, weight) in &self.weights {
            let value = &mut buffer[index.rem_euclid(length) as usize];
            if imaginary {
                value.im += weight
            } else {
                value.re += weight
            }
        }
    }

    /// Σ w e^(−2πi·k·index/length) for k = 0 … top, eight frequencies side by side.
    fn low_frequencies(&self, length: usize, top: usize) -> Vec<Complex64> {
        const LANES: usize = 8;
        let blocks = top / LANES + 1;
        let (mut real, mut imaginary) = (vec![[0.0f64; LANES]; blocks], vec![[0.0f64; LANES]; blocks]);
        for &(index, weight) in &self.weights {
            let turn = -2.0 * std::f64::consts::PI * (index.rem_euclid(length as i64) as f64 / length as f64);
            let (mut re, mut im) = ([0.0; LANES], [0.0; LANES]);
            for lane in 0..LANES {
                let (sin, cos) = (turn * lane as f64).sin_cos();
                (re[lane], im[lane]) = (weight * cos, weight * sin);
            }
            let (sin, cos) = (turn * LANES as f64).sin_cos();
            for (sum_re, sum_im) in real.iter_mut().zip(&mut imaginary) {
                for lane in 0..LANES {
                    sum_re[lane] += re[lane];
                    sum_im[lane] += im[lane];
                    let turned = re[lane] * cos - im[lane] * sin;
                    im[lane] = re[lane] * sin + im[lane] * cos;
                    re[lane] = turned;
                }
            }
        }
        let flat = real.iter().flatten().zip(imaginary.iter().flatten());
        flat.take(top + 1)
            .map(|(&re, &im)| Complex64::new(re, im))
            .collect()
    }
}

/// zⁿ by squaring; 0 where it is beyond notice.
fn power(z: Complex64, n: u64) -> Complex64 {
    if n == 1 {
        return z;
    }
    let size = z.norm_sqr();
    if size <= 0.0 || 0.5 * n as f64 * size.ln() < -90.0 {
        return Complex64::default();
    }
    let (mut base, mut rest, mut product) = (z, n, Complex64::new(1.0, 0.0));
    while rest > 0 {
        if rest & 1 == 1 {
            product *= base;
        }
        base *= base;
        rest >>= 1;
    }
    product
}
