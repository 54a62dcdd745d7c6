//! The cap on a data set: the Rényi filter at one fixed order.
//!
//! Jobs on one data set are chosen one after the other, each with the results of the earlier ones in view.
//! Adding up a privacy profile (PLD) is not proven as a cap for that. The Rényi filter is: fix one order α
//! before anything is released, let each job be chosen as one likes, and refuse the job with which the sum of
//! the jobs' Rényi divergences of order α would pass R. All that was released is then (α, R)-Rényi private
//! (Feldman & Zrnic 2021, "Individual Privacy Accounting via a Rényi Filter"), hence (ε, δ)-private with
//!
//! R = ε − ln(1 − 1/α) + ln(δ α) / (α − 1)
//!
//! (Canonne, Kamath & Steinke 2020, Proposition 12, solved for the divergence).
//!
//! **Which order.** The order is fixed by the plan of the first job under the total (or by what was spent
//! before the total was set): the one at which most jobs like it fit. A plan looks at no result, so the order
//! is fixed before anything is released under the cap. It stays within the band in which plain Gaussian noise
//! gets at least half of what its own best order would give it, so that an odd first job cannot spoil the
//! total for the later ones. Raising a total keeps the order.
//!
//! **Events with a δ of their own** (stability-based categories) have no Rényi bound; their δ adds up beside
//! the filter, as in the approximate filters of Whitehouse, Ramdas, Rogers & Wu 2023. If the first job under
//! the total has such events, half of δ is set apart for them and R is taken at the other half; otherwise all
//! of δ goes into R and later jobs with such events are refused.

use super::record::Cost;
use crate::privacy::renyi::{self, ORDERS};
use crate::privacy::{AccountingError, EventList};

/// The share of the best order's room for Gaussian noise that a usable order must offer.
const LEAST_GAUSSIAN_SHARE: f64 = 0.5;

/// The share of δ that is set apart when the first job has events with a δ of their own.
const APART: f64 = 0.5;

/// What a job costs: its Rényi divergence at every order, and the δ that no order covers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Curve {
    /// Order and divergence.
    pub points: Vec<(f64, f64)>,
    /// δ beside it.
    pub delta: f64,
}

impl Curve {
    /// The cost of a list of events.
    ///
    /// # Errors
    /// When an event is impossible or has no proof under the list's relation.
    pub(super) fn of(list: &EventList) -> Result<Self, AccountingError> {
        let cost = renyi::total(&list.events, list.neighboring)?;
        Ok(Self {
            points: ORDERS.iter().copied().zip(cost.divergences).collect(),
            delta: cost.delta,
        })
    }

    /// The sum of two jobs' curves over the same orders.
    pub(super) fn add(&mut self, other: &Self) {
        if self.points.is_empty() {
            self.points.clone_from(&other.points);
        } else {
            for (mine, theirs) in self.points.iter_mut().zip(&other.points) {
                mine.1 += theirs.1;
            }
        }
        self.delta += other.delta;
    }

    /// Whether the job costs nothing at all.
    pub(super) fn is_free(&self) -> bool {
        self.delta <= 0.0 && self.points.iter().all(|point| point.1 <= 0.0)
    }

    /// The cost at one order of the curve.
    pub(super) fn at(&self, order: f64) -> Cost {
        // Orders come from the same list, so they are equal or absent; absent is as good as unbounded.
        #[expect(
            clippy::float_cmp,
            reason = "an order is looked up in the list that it was taken from"
        )]
        let value = self
            .points
            .iter()
            .find(|point| point.0 == order)
            .map_or(f64::INFINITY, |point| point.1);
        Cost {
            order,
            value,
            delta: self.delta,
        }
    }
}

/// A total's limits at one order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Limits {
    pub order: f64,
    /// The most that the divergences may add up to.
    pub divergence: f64,
    /// The most that the δs beside them may add up to.
    pub delta: f64,
}

/// The largest divergence of order α that still gives (ε, δ).
fn divergence_for(order: f64, epsilon: f64, delta: f64) -> f64 {
    epsilon - (-1.0 / order).ln_1p() + (delta * order).ln() / (order - 1.0)
}

impl Limits {
    pub(super) fn new(order: f64, epsilon: f64, delta: f64, sets_apart: bool) -> Self {
        let apart = if sets_apart { APART * delta } else { 0.0 };
        Self {
            order,
            divergence: divergence_for(order, epsilon, delta - apart).max(0.0),
            delta: apart,
        }
    }

    /// The share of the limits that a cost takes: the larger of the two.
    pub(super) fn share(&self, value: f64, delta: f64) -> f64 {
        ratio(value, self.divergence).max(ratio(delta, self.delta))
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if part <= 0.0 {
        0.0
    } else if whole <= 0.0 {
        f64::INFINITY
    } else {
        part / whole
    }
}

/// The order at which most jobs like this one fit into (ε, δ), within the band that suits Gaussian noise.
/// `None` if no order leaves any room.
pub(super) fn choose_order(curve: &Curve, epsilon: f64, delta: f64) -> Option<Limits> {
    let limits: Vec<Limits> = curve
        .points
        .iter()
        .map(|&(order, _)| Limits::new(order, epsilon, delta, curve.delta > 0.0))
        .filter(|limits| limits.divergence > 0.0)
        .collect();
    let gaussian_room = |limits: &Limits| limits.divergence / limits.order;
    let best_room = limits.iter().map(gaussian_room).fold(0.0, f64::max);
    limits
        .iter()
        .filter(|limits| gaussian_room(limits) >= LEAST_GAUSSIAN_SHARE * best_room)
        .min_by(|one, other| {
            let share = |limits: &Limits| limits.share(curve.at(limits.order).value, 0.0);
            share(one)
                .total_cmp(&share(other))
                .then(gaussian_room(other).total_cmp(&gaussian_room(one)))
        })
        .copied()
}

/// Whether any order leaves room for anything.
pub(super) fn leaves_room(epsilon: f64, delta: f64) -> bool {
    delta > 0.0
        && ORDERS
            .iter()
            .any(|&order| divergence_for(order, epsilon, delta) > 0.0)
}
