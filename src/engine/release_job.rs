//! One release, on a thread of its own: plan, reserve, compute, settle.

use std::sync::Arc;

use crossbeam_channel::Sender;

use crate::data::{Schema, persons};
use crate::engine::command::ReleaseOrder;
use crate::engine::coordinator::Note;
use crate::engine::event::{Area, Problem};
use crate::engine::ledger_thread::LedgerHandle;
use crate::engine::snapshot::{Dataset, Released};
use crate::engine::told;
use crate::message;
use crate::num::{Message, RandomSource};
use crate::privacy::ledger::{DatasetId, EntryId, LedgerError, Outcome, Reservation, Settlement, Total};
use crate::privacy::{EventList, renyi};
use crate::release::{MIN_EPSILON, Preview, ReleasePlan, ReleaseRequest};
use crate::train::{Counted, PlanWarning};

/// What a release would be and cost, from public knowledge only. Cheap enough for a frame.
///
/// # Errors
/// Says what stands in the way, as the release itself would.
pub fn preview_release(schema: &Schema, request: &ReleaseRequest) -> Result<Preview, Problem> {
    plan_for(schema, request).map(|plan| plan.preview())
}

/// The share of a data set's total that a release would take; `None` without a total, or where the release is
/// refused. Reads no rows, and is cheap enough for a frame.
pub fn release_share(schema: &Schema, request: &ReleaseRequest, total: Option<&Total>) -> Option<f64> {
    let plan = ReleasePlan::new(schema, request).ok()?;
    total?.share_of(plan.events())
}

/// How a released value is to be read, in words that a window can say in its language.
pub fn release_note(note: &crate::release::Note) -> Message {
    told::release::note(note)
}

fn plan_for(schema: &Schema, request: &ReleaseRequest) -> Result<ReleasePlan, Problem> {
    ReleasePlan::new(schema, request).map_err(|error| Problem::new(Area::Release, &error))
}

/// Everything that a release's thread needs.
pub(super) struct ReleaseJob {
    pub dataset: Arc<Dataset>,
    pub identity: Result<DatasetId, Problem>,
    pub order: ReleaseOrder,
    pub ledger: LedgerHandle,
    pub notes: Sender<Note>,
}

impl ReleaseJob {
    /// Releases, and tells what came of it.
    pub fn run(self) {
        let (generation, notes) = (self.dataset.generation, self.notes.clone());
        let outcome = super::catching(Area::Release, || self.attempt());
        // A coordinator that is gone needs to hear nothing; the ledger has its entry.
        let _ = notes.send(Note::Released {
            generation,
            outcome: Box::new(outcome),
        });
    }

    fn attempt(self) -> Result<Released, Problem> {
        let plan = plan_for(&self.dataset.schema, &self.order.request)?;
        self.refuse_empty_columns()?;
        let mut random = self
            .order
            .seed
            .map_or_else(RandomSource::from_operating_system, RandomSource::seeded);
        self.warn(&plan);
        let entry = self.reserve(&plan)?;
        // A panic must leave the account right, so it is caught here, inside the entry.
        let answer = super::catching(Area::Release, || {
            plan.run(&self.dataset.table, &mut random)
                .map_err(|error| Problem::new(Area::Release, &error))
        });
        // From the reservation on the whole plan is spent: noise may have been drawn before a failure.
        let settled = self.settle(entry, &plan, answer.as_ref().err());
        let answer = answer?;
        Ok(Released {
            dataset: self.dataset.name.clone(),
            request: self.order.request.clone(),
            answer,
            noise: plan.noise(),
            epsilon: plan.epsilon(),
            delta: plan.delta(),
            neighboring: plan.neighboring(),
            unit: plan.unit(),
            ledger_entry: entry,
            unprotected: plan.unprotected_columns().to_vec(),
            is_teaching_data: self.dataset.schema.public,
            seed: self.order.seed,
            schema_changed: false,
            schema_saved: None,
            warning: settled.err().map(|error| {
                // The reservation stays, and it charges the same.
                message!(
                    "release-not-settled",
                    "entry {entry} of the ledger stays open, charged in full: {reason}",
                    entry = entry.to_string(),
                    reason = told::message(&error)
                )
            }),
        })
    }

    /// A column without any value answers nothing. The steward, who has the table open, is told before paying;
    /// nothing of it is released.
    fn refuse_empty_columns(&self) -> Result<(), Problem> {
        let request = &self.order.request;
        let asked = [request.column.as_deref(), request.by.as_deref()];
        let empty = asked.into_iter().flatten().find(|name| {
            self.dataset
                .summaries
                .iter()
                .any(|summary| summary.name == *name && summary.present == 0)
        });
        match empty {
            None => Ok(()),
            Some(name) => Err(Problem::plain(
                Area::Release,
                message!(
                    "release-empty-column",
                    "every cell of column `{column}` is missing, so there is nothing to release; choose another column (steward only; nothing was spent)",
                    column = name
                ),
            )),
        }
    }

    /// What the person should know of the promise before it is made.
    fn warn(&self, plan: &ReleasePlan) {
        let Ok(units) = persons(&self.dataset.table, &self.dataset.schema) else {
            // The release itself tells what is wrong with the column.
            return;
        };
        let delta = plan.delta();
        if delta * units as f64 >= 1.0 {
            let counted = Counted::of(&self.dataset.schema);
            let warning = PlanWarning::LargeDelta {
                delta,
                units,
                counted,
            };
            let _ = self.notes.send(Note::ReleaseWarning(warning.message()));
        }
    }

    fn reserve(&self, plan: &ReleasePlan) -> Result<EntryId, Problem> {
        let dataset = self.identity.clone()?;
        let description = match self.order.seed {
            Some(seed) => format!("{}, fixed seed {seed}: not private", plan.request()),
            None => plan.request().to_string(),
        };
        let reservation = Reservation {
            dataset,
            dataset_name: self.dataset.name.clone(),
            kind: plan.request().query.name().into(),
            events: plan.events().clone(),
            epsilon: plan.epsilon(),
            delta: plan.delta(),
            unit: plan.unit(),
            public: self.dataset.schema.public,
            seed: self.order.seed,
            description,
        };
        self.ledger.reserve(reservation).map_err(|error| {
            let mut problem = Problem::new(Area::Ledger, &error);
            if let LedgerError::OverTotal { needed, .. } = error
                && needed.is_infinite()
            {
                problem.causes.push(message!(
                    "release-no-delta-left",
                    "the total's first job had no δ of its own, so none was set apart for jobs that have one; under another total, search for values first"
                ));
            } else if let LedgerError::OverTotal { needed, left, .. } = error {
                let fits = self.largest_that_fits(dataset, plan, left / needed);
                if let Some(epsilon) = fits {
                    problem.causes.push(message!(
                        "release-fits",
                        "at most about ε = {epsilon} of this release is left",
                        epsilon = epsilon
                    ));
                }
            }
            problem
        })
    }

    /// The largest ε at which this release costs at most `share` of what it would cost now, at the total's
    /// Rényi order.
    fn largest_that_fits(&self, dataset: DatasetId, plan: &ReleasePlan, share: f64) -> Option<f64> {
        let order = self.ledger.budget(dataset).ok()?.total?.order?;
        let cost = |events: &EventList| {
            let cost = renyi::total(&events.events, events.neighboring).ok()?;
            let place = renyi::ORDERS.iter().position(|&known| known == order)?;
            Some(cost.divergences[place])
        };
        let most = share * cost(plan.events())?;
        let (mut low, mut high) = (0.0, plan.request().epsilon);
        for _ in 0..24 {
            let middle = 0.5 * (low + high);
            let mut smaller = plan.request().clone();
            smaller.epsilon = middle.max(MIN_EPSILON);
            let fits = ReleasePlan::new(&self.dataset.schema, &smaller)
                .ok()
                .and_then(|plan| cost(plan.events()))
                .is_some_and(|cost| cost <= most);
            if fits {
                low = middle;
            } else {
                high = middle;
            }
        }
        (low >= 0.001).then(|| (low * 1000.0).floor() / 1000.0)
    }

    fn settle(
        &self,
        entry: EntryId,
        plan: &ReleasePlan,
        failure: Option<&Problem>,
    ) -> Result<(), LedgerError> {
        self.ledger.settle(
            entry,
            Settlement {
                events: plan.events().clone(),
                epsilon: plan.epsilon(),
                delta: plan.delta(),
                outcome: match failure {
                    None => Outcome::Finished,
                    Some(problem) => Outcome::Failed {
                        message: problem.message.to_string(),
                    },
                },
                note: None,
            },
        )
    }
}
