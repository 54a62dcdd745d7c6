//! Composition of discretised losses by FFT, and the answer read off it.
//!
//! The losses are composed under an exponential tilt (Esscher 1932): with mass ∝ p e^(θL) centred where the answer
//! is, rounding errors of the transform are relative to the part that matters, so that δ = 1e-100 is as
//! exact as 0.1, and a window of some thirteen standard deviations is enough. Everything that is not exact errs
//! upwards: mass outside the window above is added by its Chernoff bound (below the window it can only come
//! back as too much), rounding by a bound on each coefficient, cut tails as an infinite loss.

#![allow(
    clippy::float_cmp,
    reason = "exact edges such as q = 1 and an unchanged bracket are meant"
)]

use super::grid::{Discrete, Grid};
use super::pair::{Pair, discretise, extent};
use super::side::{Cumulants, Side, Window};
use super::spectra::{Spectra, UNIT, spectra};
use crate::num::fft::{self, Complex64};

/// Largest transform: 2¹⁹ points are 8 MB a buffer, and a composition stays below 50 MB.
const MOST_POINTS: usize = 1 << 19;
/// Most grid points of all pairs together.
const MOST_CELLS: f64 = 4e5;

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
            if d > target || d.is_nan() {
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
