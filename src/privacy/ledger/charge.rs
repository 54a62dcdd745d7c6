//! What a job costs, and whether its data set's total has room for it.

use rusqlite::Connection;

use super::LedgerError;
use super::cap::{Curve, Limits, choose_order};
use super::entry::{Charge, PrivacyUnit, Reservation, Total};
use super::read;
use super::record::{Cost, Earlier};
use super::state::{Account, State, adds_up};
use crate::privacy::{EventList, Neighboring};

/// The share by which a sum may pass the whole, since its last digits are rounded: far below what any ε is
/// stated to.
const ROUNDING: f64 = 1e-12;

/// The largest ε of a total. At ε = 1000 an attacker's odds may grow by a factor of 10^434: more is a slip of the
/// hand, and a total cannot be lowered.
pub(super) const MOST_TOTAL: f64 = 1000.0;

/// The largest δ of a total. One person in a hundred may lose all protection then: more is a slip of the hand.
pub(super) const MOST_TOTAL_DELTA: f64 = 0.01;

/// Whether the two numbers can be a promise.
pub(super) fn check_promise(epsilon: f64, delta: f64) -> Result<(), LedgerError> {
    if epsilon.is_finite() && epsilon >= 0.0 && (0.0..1.0).contains(&delta) {
        Ok(())
    } else {
        Err(LedgerError::NotAPromise { epsilon, delta })
    }
}

/// What a new job costs at the order of its data set's total; `None` without a total.
///
/// A total in force binds jobs on data that is marked public as well: a mark in a schema file, which anybody
/// can edit, does not lift a cap that was set on purpose.
///
/// # Errors
/// When the total has no room for it, or its promise does not add up with what the total holds.
pub(super) fn against_total(
    state: &State,
    index: usize,
    job: &Reservation,
) -> Result<Option<Cost>, LedgerError> {
    let account = &state.accounts[index];
    let Some(total) = &account.total else {
        return Ok(None);
    };
    if let Some(kept) = &account.promise {
        same_promise(&account.name, kept, (job.events.neighboring, &job.unit))?;
    }
    let curve = Curve::of(&job.events)?;
    let limits = total
        .limits()
        .or_else(|| choose_order(&curve, total.epsilon, total.delta))
        .ok_or(LedgerError::TotalTooSmall {
            epsilon: total.epsilon,
            delta: total.delta,
        })?;
    let cost = curve.at(limits.order);
    let (_, reserved) = state.reserved(index);
    let before = (total.spent.0 + reserved.0, total.spent.1 + reserved.1);
    if limits.share(before.0 + cost.value, before.1 + cost.delta) <= 1.0 + ROUNDING {
        return Ok(Some(cost));
    }
    if cost.delta > 0.0 && limits.delta <= 0.0 {
        return Err(LedgerError::NoDeltaApart {
            dataset_name: account.name.clone(),
        });
    }
    Err(LedgerError::OverTotal {
        dataset_name: account.name.clone(),
        epsilon: total.epsilon,
        delta: total.delta,
        needed: limits.share(cost.value, cost.delta),
        left: (1.0 - limits.share(before.0, before.1)).max(0.0),
    })
}

/// Whether a job's promise adds up with the one that the data set of this name is kept under.
pub(super) fn same_promise(
    name: &str,
    (kept, kept_unit): &(Neighboring, PrivacyUnit),
    (asked, unit): (Neighboring, &PrivacyUnit),
) -> Result<(), LedgerError> {
    if !adds_up(*kept, asked) {
        return Err(LedgerError::RelationDiffers {
            dataset_name: name.to_owned(),
            kept: *kept,
            asked,
        });
    }
    if !kept_unit.adds_up_with(unit) {
        return Err(LedgerError::UnitDiffers {
            dataset_name: name.to_owned(),
            kept: kept_unit.clone(),
            asked: unit.clone(),
        });
    }
    Ok(())
}

/// Puts the jobs from before a total under it: their costs at the order at which most of the total is left.
pub(super) fn earlier(
    account: &Account,
    index: usize,
    connection: &Connection,
    (epsilon, delta): (f64, f64),
) -> Result<Option<Earlier>, LedgerError> {
    let cannot = |reason: String| LedgerError::CannotTotal {
        dataset_name: account.name.clone(),
        reason,
    };
    if account.mixed {
        return Err(cannot(
            "its jobs were promised under different relations or units".into(),
        ));
    }
    let jobs = read::jobs(connection, index)?;
    let mut spent = Curve::default();
    let mut open = Vec::new();
    for job in &jobs.settled {
        spent.add(&Curve::of(job).map_err(|error| cannot(error.to_string()))?);
    }
    let mut all = spent.clone();
    for (id, job) in &jobs.open {
        let curve = Curve::of(job).map_err(|error| cannot(error.to_string()))?;
        all.add(&curve);
        open.push((id.0, curve));
    }
    if all.is_free() {
        return Ok(None);
    }
    let Limits { order, .. } =
        choose_order(&all, epsilon, delta).ok_or(LedgerError::TotalTooSmall { epsilon, delta })?;
    let at_order = |curve: &Curve| {
        if curve.is_free() {
            Cost::nothing(order)
        } else {
            curve.at(order)
        }
    };
    let costs = Earlier {
        spent: at_order(&spent),
        open: open.iter().map(|(id, curve)| (*id, at_order(curve))).collect(),
    };
    if costs.spent.value.is_finite() && costs.open.iter().all(|(_, cost)| cost.value.is_finite()) {
        Ok(Some(costs))
    } else {
        Err(cannot("a job has no Rényi bound".into()))
    }
}

impl Total {
    /// The share of the total that a job with these events would take, by the Rényi filter: what a reservation
    /// would hold. `None` where no order of the filter has room for it, or the events cannot be accounted.
    pub fn share_of(&self, events: &EventList) -> Option<f64> {
        let curve = Curve::of(events).ok()?;
        let limits = match self.order {
            Some(order) => Limits::new(order, self.epsilon, self.delta, self.sets_apart),
            None => choose_order(&curve, self.epsilon, self.delta)?,
        };
        let cost = curve.at(limits.order);
        Some(limits.share(cost.value, cost.delta)).filter(|share| share.is_finite())
    }
}

/// The larger promise of the two, number by number.
pub(super) fn larger(one: Charge, other: Charge) -> Charge {
    Charge {
        epsilon: one.epsilon.max(other.epsilon),
        delta: one.delta.max(other.delta),
    }
}

/// The larger cost of the two.
pub(super) fn larger_cost(one: Option<Cost>, other: Option<Cost>) -> Option<Cost> {
    match (one, other) {
        (Some(one), Some(other)) => Some(Cost {
            order: one.order,
            value: one.value.max(other.value),
            delta: one.delta.max(other.delta),
        }),
        (one, other) => one.or(other),
    }
}
