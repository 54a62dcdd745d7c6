//! A grid of losses, and how masses are moved to its points without ever making a loss smaller than it is.

/// A mass at a grid point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The loss, in grid steps.
    pub index: i64,
    /// P's mass there.
    pub mass: f64,
    /// The variance of the loss that moving this mass to a dot added, times the mass.
    pub spread: f64,
}

impl Point {
    pub(super) fn empty(index: i64) -> Self {
        Self {
            index,
            mass: 0.0,
            spread: 0.0,
        }
    }

    /// Takes mass moved here from around, each part of which adds `variance`.
    pub(super) fn take(&mut self, mass: f64, variance: f64) {
        self.mass += mass;
        self.spread += mass * variance;
    }

    /// The same point of the reversed pair.
    pub(super) fn reversed(&self, grid: Grid) -> Self {
        let factor = (-grid.loss(self.index)).exp();
        Self {
            index: -self.index,
            mass: self.mass * factor,
            spread: self.spread * factor,
        }
    }
}

/// A pair's loss on a grid, ascending. Masses and `infinite` add up to 1.
#[derive(Clone, Debug)]
pub struct Discrete {
    /// The loss under P of the pair as given.
    pub losses: Vec<Point>,
    /// P's mass at an infinite loss: what was cut off above.
    pub infinite: f64,
    /// The loss of the reversed pair, where it differs.
    pub reversed: Option<Vec<Point>>,
}

/// A grid of losses, and which of its points one pair uses.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// Distance of grid points.
    pub step: f64,
    /// The pair's own dots lie this many grid points apart where its mass is.
    pub multiple: i64,
    /// The tilt under which the losses will be composed: it says where the mass that matters is.
    pub tilt: f64,
    /// Most mass of one event that may go to an infinite loss.
    pub tail: f64,
}

impl Grid {
    /// Distance of the pair's own dots where its mass is.
    pub(super) fn dots(&self) -> f64 {
        self.step * self.multiple as f64
    }

    pub(super) fn loss(&self, index: i64) -> f64 {
        index as f64 * self.step
    }
}

/// A cell wider than the pair's own distance may hold this share of what a cell of that distance would add.
const WIDE_SHARE: f64 = 1.0 / 500.0;

/// Lays dots from `first` to `last` and splits the masses between them. Dots stand the pair's own distance apart, and
/// farther where little (tilted) mass lies: a chord over a width w adds about mass·w². `at` gives the state at a
/// grid point, `masses` P's mass p and p − q e^l between two states, l the loss of the lower one.
pub(super) fn lay<S: Copy>(
    grid: Grid,
    (first, last): (i64, i64),
    start: S,
    at: impl Fn(i64) -> S,
    masses: impl Fn(S, S, f64) -> (f64, f64),
) -> (Vec<Point>, S) {
    let limit = WIDE_SHARE * grid.dots() * grid.dots();
    let widest = ((0.5 / ((1.0 + grid.tilt) * grid.step)) as i64).max(grid.multiple);
    let mut points = vec![Point::empty(first)];
    let (mut index, mut state, mut width) = (first, start, grid.multiple);
    while index < last {
        let (mut next, mut p, mut excess, mut weight);
        loop {
            width = width.min(last - index);
            next = at(index + width);
            (p, excess) = masses(state, next, grid.loss(index));
            let size = width as f64 * grid.step;
            weight = p * (grid.tilt * grid.loss(index + width)).exp() * size * size;
            if weight <= limit || width <= grid.multiple {
                break;
            }
            width = (width / 2).max(grid.multiple);
        }
        let (lower, upper) = split(p, excess, width as f64 * grid.step);
        // A mass at distance u from the lower dot gets the variance u(w − u), w²/6 on average.
        let size = width as f64 * grid.step;
        let variance = size * size / 6.0;
        if let Some(point) = points.last_mut() {
            point.take(lower, variance);
        }
        index += width;
        state = next;
        points.push(Point::empty(index));
        if let Some(point) = points.last_mut() {
            point.take(upper, variance);
        }
        // Twice the width holds about eight times as much.
        if 8.0 * weight < limit {
            width = (2 * width).min(widest);
        }
    }
    (points, state)
}

/// Splits masses p of P and q of Q lying between losses l and l + h: (lower, upper) as in the file's head.
/// `excess` is p − q e^l, given apart because it cancels.
// Not `clamp`, which panics when p is no number; what is none is found before an answer is given.
#[allow(clippy::manual_clamp)]
pub(super) fn split(p: f64, excess: f64, step: f64) -> (f64, f64) {
    let upper = (excess / -(-step).exp_m1()).max(0.0).min(p);
    (p - upper, upper)
}

/// A symmetric pair from its masses at losses ≥ 0: the mass at −l is e^(−l) times that at l. `at_zero` is an atom
/// without loss, `infinite` P's mass above, `below` Q's mass there, the lowest loss, moved up to the last point.
pub(super) fn mirrored(half: &[Point], grid: Grid, at_zero: f64, infinite: f64, below: f64) -> Discrete {
    let mut losses: Vec<Point> = half.iter().rev().map(|point| point.reversed(grid)).collect();
    losses[0].mass += below;
    for point in half {
        match losses.last_mut() {
            Some(last) if last.index == point.index => {
                last.mass += point.mass + at_zero;
                last.spread += point.spread;
            }
            _ => losses.push(*point),
        }
    }
    Discrete {
        losses,
        infinite,
        reversed: None,
    }
}

/// The most steps that an atom may lie from 0. Beyond, its place could not be counted, and rounding of the loss would be
/// more than a sliver of a step. A grid is as fine as the question wants it, so nothing that is asked about lies there.
const FARTHEST: f64 = (1_u64 << 46) as f64;

/// Atoms (loss, P's mass), each split between the two of the pair's own dots around it. Those too far above for the grid
/// go to an infinite loss, those too far below up to the lowest point: both only make more of the loss.
pub(super) fn atoms(mut list: Vec<(f64, f64)>, mut infinite: f64, grid: Grid) -> Discrete {
    let width = grid.dots();
    let farthest = FARTHEST * grid.step;
    list.retain_mut(|(loss, p)| {
        // What is no number is as bad.
        let is_on_grid = *loss <= farthest;
        if is_on_grid {
            *loss = loss.max(-farthest);
        } else {
            infinite += *p;
        }
        is_on_grid
    });
    list.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut losses: Vec<Point> = Vec::with_capacity(list.len().min(1 << 16) + 1);
    for (loss, p) in list {
        let dot = (loss / width).floor();
        let offset = (loss - dot * width).max(0.0).min(width);
        let (lower, upper) = split(p, p * -(-offset).exp_m1(), width);
        let index = dot as i64 * grid.multiple;
        let variance = offset * (width - offset);
        // Sorted, so the lower dot is among the last two or new.
        let known = losses.len().saturating_sub(2);
        let at = if let Some(position) = losses[known..].iter().position(|point| point.index == index) {
            known + position
        } else {
            losses.push(Point::empty(index));
            losses.len() - 1
        };
        if at + 1 == losses.len() {
            losses.push(Point::empty(index + grid.multiple));
        }
        losses[at].take(lower, variance);
        losses[at + 1].take(upper, variance);
    }
    Discrete {
        losses,
        infinite,
        reversed: None,
    }
}
