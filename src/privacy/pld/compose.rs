//! Composition of discretised losses by FFT, and the answer read off it.
//!
//! The losses are composed under an exponential tilt (Esscher 1932): with mass ∝ p e^(θL) centred where the answer
//! is, rounding errors of the transform are relative to the part that matters, so that δ = 1e-100 is as
//! exact as 0.1, and a window of some thirteen standard deviations is enough. Everything that is not exact errs
//! upwards: mass outside the window above is added by its Chernoff bound (below the window it can only come
//! back as too much), rounding by a bound on each coefficient, cut tails as an infinite loss.

use super::pair::{Discrete, Grid, Pair, Segment, discretise, extent};
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
const AIM: f64 = 2e-4;

/// One direction of the composition: the segments of each pair and how often.
struct Side<'a> {
    parts: Vec<(&'a [Segment], u64)>,
}

/// Cumulant generating function of a side at a tilt: ln E[e^(θL)], its first two derivatives.
#[derive(Clone, Copy, Debug, Default)]
struct Cumulants {
    value: f64,
    mean: f64,
    variance: f64,
}

impl Cumulants {
    fn of(segments: &[Segment], step: f64, tilt: f64) -> Self {
        let top = highest(segments);
        let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
        for segment in segments {
            for (k, &mass) in segment.mass.iter().enumerate() {
                let below = (segment.start + k as i64 - top) as f64 * step;
                let weight = mass * (tilt * below).exp();
                sum += weight;
                first += weight * below;
                second += weight * below * below;
            }
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

fn highest(segments: &[Segment]) -> i64 {
    segments
        .iter()
        .map(|s| s.start + s.mass.len() as i64 - 1)
        .max()
        .unwrap_or(0)
}

fn lowest(segments: &[Segment]) -> i64 {
    segments.iter().map(|s| s.start).min().unwrap_or(0)
}

impl Side<'_> {
    fn cumulants(&self, step: f64, tilt: f64) -> Cumulants {
        let mut total = Cumulants::default();
        for &(segments, count) in &self.parts {
            let one = Cumulants::of(segments, step, tilt);
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
        let support = |edge: fn(&[Segment]) -> i64| -> f64 {
            self.parts
                .iter()
                .map(|&(segments, count)| count as f64 * edge(segments) as f64)
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

    fn epsilon(&self, ln_delta: f64) -> f64 {
        let rest = ln_delta.exp() - self.infinite;
        if rest <= 0.0 {
            return f64::INFINITY;
        }
        let target = (rest.ln() - self.ln_scale()).exp();
        if !target.is_finite() {
            return f64::INFINITY;
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
            return (self.center + loss_above).max(0.0);
        }
        // D(l − u) = D(l) + (1 − e^(−u)) G(l) down to the next point.
        let ratio = (target - d_above) / g_above;
        let down = if ratio < 1.0 { -(-ratio).ln_1p() } else { self.step };
        (self.center + loss_above - down.min(self.step)).max(0.0)
    }

    fn delta(&self, epsilon: f64) -> f64 {
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
            return 1.0;
        }
        let d = d_above - (relative - loss_above).exp_m1() * g_above;
        ((d.ln() + self.ln_scale()).exp() + self.infinite).min(1.0)
    }
}

/// The answer for all pairs together: the larger of both directions.
pub fn answer(pairs: &Counted, question: Question, guess: Guess) -> Answer {
    answer_within(pairs, question, guess, AIM)
}

/// As [`answer`], with the relative excess that is aimed at.
pub fn answer_within(pairs: &Counted, question: Question, guess: Guess, relative: f64) -> Answer {
    let aim = |epsilon: f64| relative * epsilon.max(0.05);
    let count: f64 = pairs.iter().map(|&(_, count)| count as f64).sum();
    let mut guess = guess;
    let mut best: Option<Answer> = None;
    for _ in 0..4 {
        let grid = choose_grid(pairs, count, guess, aim(guess.epsilon));
        let (value, tilt, step) = on_grid(pairs, grid, question, guess);
        let epsilon = match question {
            Question::Epsilon { .. } => value,
            Question::Delta { epsilon } => epsilon,
        };
        let excess = excess(count, step, tilt);
        if best.is_none_or(|before| value < before.value) {
            best = Some(Answer { value, excess });
        }
        // Too coarse for what came out, or too much cut off for the δ that came out: once more, finer.
        let lower_delta = match question {
            Question::Delta { .. } => value.ln(),
            Question::Epsilon { ln_delta } => ln_delta,
        };
        let limited = step > grid.step || step <= finest_step(pairs, grid);
        let coarse = epsilon.is_finite() && excess > 1.5 * aim(epsilon) && !limited;
        let cut = lower_delta.is_finite() && lower_delta < guess.ln_delta - 5.0;
        if !(coarse || cut) || !value.is_finite() {
            break;
        }
        guess = Guess {
            tilt,
            epsilon: epsilon.min(guess.epsilon),
            ln_delta: lower_delta.min(guess.ln_delta),
        };
    }
    best.unwrap_or(Answer {
        value: f64::INFINITY,
        excess: f64::INFINITY,
    })
}

/// What the chords add: a mass at distance u inside a cell of width h becomes two with variance u(h − u), h²/6 on
/// average, with E[1] and E[e^(−L)] kept. So ln E[e^(θL)] grows by about θ(θ+1)h²/12 an event, and ε at the
/// saddle point θ by (1+θ)h²/12. Above h ≈ 1 a mass moves by at most h.
fn excess(count: f64, step: f64, tilt: f64) -> f64 {
    count * (step * step * (1.0 + tilt) / 12.0).min(step)
}

fn choose_grid(pairs: &Counted, count: f64, guess: Guess, aim: f64) -> Grid {
    let step = (12.0 * aim / (count * (1.0 + guess.tilt)))
        .sqrt()
        .min(0.25 / (1.0 + guess.tilt))
        .max(aim / count);
    let tail = (guess.ln_delta - 14.0 - count.ln()).exp().clamp(1e-300, 1e-4);
    let mut grid = Grid { step, tail };
    let floor = finest_step(pairs, grid);
    grid.step = grid.step.max(floor);
    grid
}

/// The least step at which all pairs fit into [`MOST_CELLS`] grid points.
fn finest_step(pairs: &Counted, grid: Grid) -> f64 {
    let cells: f64 = pairs.iter().map(|&(pair, _)| extent(pair, grid)).sum();
    if cells <= MOST_CELLS {
        0.0
    } else {
        grid.step * cells / MOST_CELLS
    }
}

/// The answer on one grid, the tilt of the direction that gave it, and the step (larger where it had to be).
fn on_grid(pairs: &Counted, grid: Grid, question: Question, guess: Guess) -> (f64, f64, f64) {
    let (composed, step) = directions(pairs, grid, Some(question), guess);
    composed
        .into_iter()
        .map(|composed| {
            let value = match question {
                Question::Epsilon { ln_delta } => composed.epsilon(ln_delta),
                Question::Delta { epsilon } => composed.delta(epsilon),
            };
            // Whatever is not a number is no promise.
            let value = if value.is_nan() { nothing(question) } else { value };
            (value, composed.tilt, step)
        })
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .unwrap_or((nothing(question), guess.tilt, step))
}

/// δ at each ε from one composition without a tilt: the larger direction, exact to about 1e-12 absolute.
pub fn curve(pairs: &Counted, epsilons: &[f64], guess: Guess) -> Vec<f64> {
    let count: f64 = pairs.iter().map(|&(_, count)| count as f64).sum();
    let (composed, _) = directions(
        pairs,
        choose_grid(pairs, count, guess, AIM * guess.epsilon.max(0.05)),
        None,
        guess,
    );
    let at = |epsilon: f64| composed.iter().map(|one| one.delta(epsilon)).fold(0.0, f64::max);
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

/// Both directions composed (one where they are equal), and the step used. Without a question there is no tilt.
fn directions(
    pairs: &Counted,
    mut grid: Grid,
    question: Option<Question>,
    guess: Guess,
) -> (Vec<Composed>, f64) {
    loop {
        let discrete: Vec<Discrete> = pairs.iter().map(|&(pair, _)| discretise(pair, grid)).collect();
        let side = |reversed: bool| Side {
            parts: discrete
                .iter()
                .zip(pairs)
                .map(|(one, &(_, count))| match &one.reversed {
                    Some(segments) if reversed => (&segments[..], count),
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
                Some(question) => side.tilt(question, grid.step, guess.tilt),
                None => (0.0, side.cumulants(grid.step, 0.0)),
            })
            .collect();
        let windows: Vec<Window> = sides
            .iter()
            .zip(&tilted)
            .map(|(side, &(tilt, at))| side.window(grid.step, tilt, at, guess.ln_delta))
            .collect();
        let width = windows
            .iter()
            .map(|window| window.high - window.low)
            .fold(0.0, f64::max);
        if width.is_nan() || width + 2.0 > MOST_POINTS as f64 {
            let wider = (width / MOST_POINTS as f64).max(1.0) * 1.01;
            if !wider.is_finite() || !(grid.step * wider).is_finite() {
                return (Vec::new(), grid.step);
            }
            grid.step *= wider;
            continue;
        }
        let mut composed = compose(&sides, &tilted, &windows, grid.step, width as usize + 2);
        for (i, one) in composed.iter_mut().enumerate() {
            one.infinite = cut_off(&discrete, pairs, i == 1);
        }
        return (composed, grid.step);
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

/// Composes one or two directions in the real and imaginary part of the same transforms.
fn compose(
    sides: &[Side],
    tilted: &[(f64, Cumulants)],
    windows: &[Window],
    step: f64,
    least: usize,
) -> Vec<Composed> {
    let length = fft::quick_length(least);
    let half = length / 2;
    let mut spectra = vec![vec![Complex64::new(1.0, 0.0); half + 1]; sides.len()];
    let mut offsets = vec![0i128; sides.len()];
    let mut total = 0.0;
    let mut buffer = vec![Complex64::default(); length];
    for part in 0..sides[0].parts.len() {
        buffer.fill(Complex64::default());
        let count = sides[0].parts[part].1;
        total += count as f64;
        for (s, side) in sides.iter().enumerate() {
            let center = place(&mut buffer, side.parts[part].0, step, tilted[s].0, s == 1);
            offsets[s] += i128::from(center) * i128::from(count);
        }
        fft::forward(&mut buffer);
        for k in 0..=half {
            let (here, mirror) = (buffer[k], buffer[(length - k) % length].conj());
            let real = (here + mirror) * 0.5;
            spectra[0][k] *= power(real, count);
            if sides.len() == 2 {
                // (Z_k − Z*_{N−k}) / 2i
                let difference = (here - mirror) * 0.5;
                spectra[1][k] *= power(Complex64::new(difference.im, -difference.re), count);
            }
        }
    }
    // Each factor carries a relative error of a few units for the transform and as many for its power.
    let relative = UNIT * (16.0 * total + 8.0 * sides[0].parts.len() as f64 + 4.0 * (length as f64).log2());
    let noise: Vec<f64> = spectra
        .iter()
        .map(|spectrum| {
            let sum: f64 = spectrum.iter().map(|value| value.norm()).sum();
            (2.0 * sum * relative + UNIT * 8.0) / length as f64
        })
        .collect();
    for k in 0..=half {
        let real = spectra[0][k];
        let imaginary = spectra
            .get(1)
            .map_or(Complex64::default(), |spectrum| spectrum[k]);
        let turned = Complex64::new(-imaginary.im, imaginary.re);
        buffer[k] = real + turned;
        if k > 0 && k < length - k {
            buffer[length - k] = real.conj() + Complex64::new(imaginary.im, imaginary.re);
        }
    }
    fft::inverse(&mut buffer);
    (0..sides.len())
        .map(|s| {
            let base = windows[s].low as i128;
            let points = ((windows[s].high - windows[s].low) as usize + 1).min(length);
            let mass: Vec<f64> = (0..points)
                .map(|j| {
                    let at = (base + j as i128 - offsets[s]).rem_euclid(length as i128) as usize;
                    (if s == 0 { buffer[at].re } else { buffer[at].im }) / length as f64
                })
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
            }
        })
        .collect()
}

/// Adds one pair's tilted masses, divided by their sum, around index 0 of the circle; returns the grid point there.
fn place(buffer: &mut [Complex64], segments: &[Segment], step: f64, tilt: f64, imaginary: bool) -> i64 {
    let length = buffer.len() as i64;
    let one = Cumulants::of(segments, step, tilt);
    let center = (one.mean / step).round() as i64;
    for segment in segments {
        let mut at = (segment.start - center).rem_euclid(length) as usize;
        for (k, &mass) in segment.mass.iter().enumerate() {
            let loss = (segment.start + k as i64) as f64 * step;
            let weight = mass * (tilt * loss - one.value).exp();
            if imaginary {
                buffer[at].im += weight
            } else {
                buffer[at].re += weight
            }
            at += 1;
            if at == buffer.len() {
                at = 0;
            }
        }
    }
    center
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
