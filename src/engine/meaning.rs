//! What everything spent on a data set comes to: each entry's share of the total, and the privacy curve of all entries
//! together, with and without what is only planned. Composed by loss distributions, so off every frame.

use std::collections::HashMap;
use std::sync::Arc;

use crate::engine::event::{Area, Problem};
use crate::engine::snapshot::LedgerView;
use crate::message;
use crate::num::Delta;
use crate::privacy::ledger::{Entry, EntryId, PrivacyUnit, Status, Total};
use crate::privacy::{
    Accountant as _, AccountingError, EventList, Neighboring, PldAccountant, RdpAccountant,
};

/// At how many ε the privacy curve is read.
const POINTS: usize = 200;
/// The curve is read up to the ε that leaves this δ: attackers' rates below it are beyond any sentence.
const LEAST_DELTA: f64 = 1e-9;
/// A curve is not read beyond this ε, where e^ε says "certain" at any rate.
const LARGEST_EPSILON: f64 = 60.0;

/// What is asked about a data set's account.
#[derive(Clone, Debug)]
pub struct MeaningQuestion {
    /// The ledger's entries.
    pub ledger: Arc<LedgerView>,
    /// The data set's number in the ledger; `None` if it has no entry yet.
    pub dataset: Option<u64>,
    /// Its total.
    pub total: Option<Total>,
    /// What is planned and not charged.
    pub planned: Option<EventList>,
    /// The δ at which ε is read.
    pub delta: f64,
}

impl PartialEq for MeaningQuestion {
    fn eq(&self, other: &Self) -> bool {
        // The engine hands a new list out only when an entry was made.
        Arc::ptr_eq(&self.ledger, &other.ledger)
            && self.dataset == other.dataset
            && self.total == other.total
            && self.planned == other.planned
            && self.delta.to_bits() == other.delta.to_bits()
    }
}

/// The answer.
#[derive(Clone, Debug)]
pub struct MeaningAnswer {
    /// The question.
    pub question: MeaningQuestion,
    /// The share of the total that each charged entry takes; empty without a total.
    pub shares: Arc<HashMap<EntryId, f64>>,
    /// All that is charged, as if planned together.
    pub spent: Result<Whole, Problem>,
    /// The same with what is planned.
    pub with_planned: Option<Result<Whole, Problem>>,
    /// The share of the total that the plan would take.
    pub planned_share: Option<f64>,
}

/// Events taken together.
#[derive(Clone, Debug, PartialEq)]
pub struct Whole {
    /// ε at the question's δ.
    pub epsilon: f64,
    /// δ at each ε of a grid.
    pub profile: Arc<Vec<(f64, f64)>>,
}

/// Whether an entry is charged.
pub fn is_charged(entry: &Entry) -> bool {
    matches!(
        entry.status,
        Status::Reserved | Status::Finished | Status::StoppedByPerson | Status::Failed { .. }
    ) && entry.events.is_some()
}

/// All charged events of a data set as one list.
///
/// # Errors
/// When they are of relations or units that do not add up.
pub fn together<'a>(entries: impl Iterator<Item = &'a Entry>) -> Result<EventList, Problem> {
    let mut all: Option<EventList> = None;
    let mut unit: Option<&PrivacyUnit> = None;
    // Zero-out has the numbers of add/remove.
    let relation = |list: &EventList| {
        if list.neighboring == Neighboring::ReplaceOne {
            Neighboring::ReplaceOne
        } else {
            Neighboring::AddRemoveOne
        }
    };
    for entry in entries {
        let Some(events) = &entry.events else { continue };
        let list = all.get_or_insert_with(|| EventList::new(relation(events)));
        let alike = match (unit, &entry.unit) {
            (Some(known), Some(this)) => known.adds_up_with(this),
            _ => true,
        };
        if relation(events) != list.neighboring || !alike {
            return Err(Problem::plain(
                Area::Ledger,
                message!(
                    "meaning-mixed",
                    "entries of this data set hide different things (relation or unit), so no one \u{3b5} speaks of \
                     all of them"
                ),
            ));
        }
        unit = unit.or(entry.unit.as_ref());
        list.events.extend(events.events.iter().cloned());
    }
    Ok(all.unwrap_or_default())
}

/// Reads the curve of a list of events.
fn whole(list: &EventList, delta: Delta) -> Result<Whole, AccountingError> {
    if list.events.is_empty() {
        return Ok(Whole {
            epsilon: 0.0,
            profile: Arc::new(vec![(0.0, 0.0)]),
        });
    }
    let mut accountant = PldAccountant::new(list.neighboring);
    accountant.compose_list(list)?;
    // How far the curve is read need not be tight, and Rényi orders say it at once.
    let mut orders = RdpAccountant::new(list.neighboring);
    orders.compose_list(list)?;
    let last = Delta::new(LEAST_DELTA)
        .ok()
        .and_then(|least| orders.epsilon(least).ok())
        .filter(|last| last.is_finite())
        .unwrap_or(LARGEST_EPSILON)
        .clamp(1e-3, LARGEST_EPSILON);
    let grid: Vec<f64> = (0..=POINTS).map(|at| last * at as f64 / POINTS as f64).collect();
    // Two compositions, one a core.
    let (epsilon, deltas) = std::thread::scope(|scope| {
        let curve = scope.spawn(|| accountant.profile(&grid));
        let epsilon = accountant.epsilon(delta);
        let deltas = curve
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (epsilon, deltas)
    });
    let (epsilon, deltas) = (epsilon?, deltas?);
    let mut profile: Vec<(f64, f64)> = grid.into_iter().zip(deltas).collect();
    // The one point that is exact relative to δ.
    if epsilon.is_finite() {
        profile.push((epsilon, delta.get()));
    }
    Ok(Whole {
        epsilon,
        profile: Arc::new(profile),
    })
}

fn read(list: &EventList, delta: f64) -> Result<Whole, Problem> {
    Delta::new(delta)
        .map_err(|error| Problem::new(Area::Ledger, &error))
        .and_then(|delta| whole(list, delta).map_err(|error| Problem::new(Area::Ledger, &error)))
}

/// Answers a question; what the last answer says of the same entries is taken over.
pub(super) fn weigh(question: MeaningQuestion, last: Option<&MeaningAnswer>) -> MeaningAnswer {
    let last = last.filter(|last| {
        last.question
            == MeaningQuestion {
                planned: last.question.planned.clone(),
                ..question.clone()
            }
    });
    let entries = || {
        question
            .ledger
            .entries
            .iter()
            .filter(|entry| Some(entry.dataset) == question.dataset && is_charged(entry))
    };
    let spent_list = together(entries());
    let (shares, spent) = if let Some(last) = last {
        (Arc::clone(&last.shares), last.spent.clone())
    } else {
        let share = |entry: &Entry| {
            let events = entry.events.as_ref()?;
            Some((entry.id, question.total.as_ref()?.share_of(events)?))
        };
        let spent = spent_list.clone().and_then(|list| read(&list, question.delta));
        (Arc::new(entries().filter_map(share).collect()), spent)
    };
    let with_planned = question.planned.as_ref().map(|planned| {
        let mut list = spent_list?;
        if list.events.is_empty() {
            list.neighboring = planned.neighboring;
        } else if (list.neighboring == Neighboring::ReplaceOne)
            != (planned.neighboring == Neighboring::ReplaceOne)
        {
            return Err(Problem::plain(
                Area::Ledger,
                message!(
                    "meaning-planned-apart",
                    "the plan hides another thing than what was spent (relation), so the two do not add up"
                ),
            ));
        }
        list.events.extend(planned.events.iter().cloned());
        read(&list, question.delta)
    });
    let planned_share = question
        .planned
        .as_ref()
        .zip(question.total.as_ref())
        .and_then(|(planned, total)| total.share_of(planned));
    MeaningAnswer {
        question,
        shares,
        spent,
        with_planned,
        planned_share,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::PrivacyEvent;
    use crate::privacy::gaussian;

    fn question(planned: Option<EventList>) -> MeaningQuestion {
        MeaningQuestion {
            ledger: Arc::default(),
            dataset: None,
            total: None,
            planned,
            delta: 1e-5,
        }
    }

    #[test]
    fn nothing_spent_is_nothing_known() {
        let answer = weigh(question(None), None);
        assert!(answer.spent.unwrap().epsilon.abs() < 1e-12);
        assert!(answer.with_planned.is_none() && answer.shares.is_empty());
    }

    #[test]
    fn a_planned_gaussian_has_its_closed_form() {
        let mut list = EventList::new(Neighboring::AddRemoveOne);
        list.push(
            PrivacyEvent::Gaussian {
                noise_multiplier: 2.0,
            },
            1,
        );
        let answer = weigh(question(Some(list)), None);
        let whole = answer.with_planned.unwrap().unwrap();
        let exact = gaussian::epsilon(0.5, 1e-5f64.ln());
        assert!(
            (whole.epsilon - exact).abs() < 1e-6 * exact,
            "{} {exact}",
            whole.epsilon
        );
        for &(epsilon, delta) in whole.profile.iter() {
            let exact = gaussian::delta(0.5, epsilon);
            assert!(
                delta >= exact - 1e-9 && delta - exact < 1e-6,
                "{epsilon}: {delta} {exact}"
            );
        }
    }
}
