//! The account of a run: reserved before its first step, settled at its end, whatever that is.

use std::sync::atomic::Ordering;

use super::RunJob;
use crate::engine::event::{Area, Problem};
use crate::engine::planned::Planned;
use crate::engine::told;
use crate::export::certificate::Resumed;
use crate::message;
use crate::num::Delta;
use crate::privacy::ledger::{EntryId, LedgerError, Outcome, PrivacyUnit, Reservation, Settlement};
use crate::privacy::{EventList, epsilon_of_part};
use crate::train::{PlanSummary, StopReason, TrainError, Trained};

/// What a plan promises, for the ledger.
#[derive(Clone, Copy)]
pub(super) struct Promised {
    epsilon: f64,
    delta: f64,
    steps: u64,
}

impl Promised {
    pub fn by(plan: &Planned) -> Option<Self> {
        Some(Self {
            epsilon: plan.epsilon()?,
            delta: plan.delta()?.get(),
            steps: plan.steps(),
        })
    }
}

impl RunJob {
    /// Charges the whole plan before the first step. Runs without a promise are not charged.
    pub(super) fn reserve(
        &self,
        promised: Option<Promised>,
        events: &EventList,
    ) -> Result<Option<EntryId>, Problem> {
        let Some(Promised {
            epsilon,
            delta,
            steps,
        }) = promised
        else {
            return Ok(None);
        };
        let Some(dataset) = self.identity else {
            let message = message!(
                "say-no-ledger",
                "the ledger cannot be used, so nothing may be spent; see the log for the reason"
            );
            return Err(Problem::plain(Area::Ledger, message));
        };
        let schema = &self.dataset.schema;
        let reservation = Reservation {
            dataset,
            dataset_name: self.dataset.name.clone(),
            kind: self.request.method.name().into(),
            events: events.clone(),
            epsilon,
            delta,
            unit: PrivacyUnit::from(&**schema),
            public: schema.public,
            seed: self.request.seed,
            description: match self.request.seed {
                Some(seed) => format!("{steps} steps, fixed seed {seed}: not private"),
                None => format!("{steps} steps"),
            },
        };
        self.ledger
            .reserve(reservation)
            .map(Some)
            .map_err(|error| Problem::new(Area::Ledger, &error))
    }

    /// Settles the account of a run that has ended in whatever way.
    pub(super) fn settle_outcome(
        &self,
        entry: Option<EntryId>,
        (summary, planned): (&PlanSummary, &EventList),
        outcome: Result<Result<Trained, RunFailure>, Problem>,
        resumed: &Resumed,
    ) -> Result<Trained, Problem> {
        match outcome {
            Ok(Ok(trained)) if self.unwanted.load(Ordering::Acquire) => {
                Err(self.discard(entry, summary, trained))
            }
            Ok(Ok(trained)) => {
                // A generator that is paid for is not thrown away because the ledger cannot be written just now:
                // its whole plan stays charged.
                if let Err(error) = self.settle(entry, (summary, planned), &trained, resumed) {
                    self.warn_of_whole_plan(&error);
                }
                Ok(trained)
            }
            Ok(Err(failure)) => {
                self.settle_failure(entry, (summary, planned), failure.executed, &failure.problem);
                Err(failure.problem)
            }
            Err(panic) => {
                // How far it came is not known: the whole plan stays charged.
                self.settle_failure(entry, (summary, planned), planned.clone(), &panic);
                Err(panic)
            }
        }
    }

    fn settle(
        &self,
        entry: Option<EntryId>,
        (plan, planned): (&PlanSummary, &EventList),
        trained: &Trained,
        resumed: &Resumed,
    ) -> Result<(), LedgerError> {
        let (Some(entry), Some(epsilon), Some(delta)) = (entry, trained.epsilon, plan.delta) else {
            return Ok(());
        };
        let by_person = trained.stopped == StopReason::ByPerson;
        let settlement = Settlement {
            events: if by_person {
                planned.clone()
            } else {
                trained.executed.clone()
            },
            epsilon: if by_person {
                plan.epsilon.unwrap_or(epsilon)
            } else {
                epsilon
            },
            delta,
            outcome: if by_person {
                Outcome::StoppedByPerson
            } else {
                Outcome::Finished
            },
            note: note_of(by_person, trained.steps_done, resumed),
        };
        self.ledger.settle(entry, settlement)
    }

    /// Throws the generator away. What nobody keeps tells nobody anything, so the charge is taken back; that there was
    /// such a run is kept.
    fn discard(&self, entry: Option<EntryId>, plan: &PlanSummary, trained: Trained) -> Problem {
        if let (Some(entry), Some(epsilon), Some(delta)) = (entry, trained.epsilon, plan.delta) {
            let settlement = Settlement {
                events: trained.executed,
                epsilon,
                delta,
                outcome: Outcome::Discarded,
                note: Some(format!("thrown away after {} steps", trained.steps_done)),
            };
            if let Err(error) = self.ledger.settle(entry, settlement) {
                self.warn_of_whole_plan(&error);
            }
        }
        Problem::plain(
            Area::Train,
            message!(
                "say-thrown-away",
                "thrown away as you wished: nothing is charged, and the run is counted on later certificates"
            ),
        )
    }

    /// Keeps the account of a run that failed. If even that fails, the reservation stays charged in full.
    fn settle_failure(
        &self,
        entry: Option<EntryId>,
        (plan, planned): (&PlanSummary, &EventList),
        events: EventList,
        problem: &Problem,
    ) {
        let (Some(entry), Some(delta)) = (entry, plan.delta) else {
            return;
        };
        // What cannot be accounted stays charged as planned.
        let Some(epsilon) = Delta::new(delta).ok().and_then(|delta| {
            let by = self.request.method.accountant(self.dataset.images.is_some());
            epsilon_of_part(by, (&events, planned), plan.epsilon?, delta).ok()
        }) else {
            return;
        };
        let settlement = Settlement {
            events,
            epsilon,
            delta,
            outcome: Outcome::Failed {
                message: problem.message.to_string(),
            },
            note: None,
        };
        if let Err(error) = self.ledger.settle(entry, settlement) {
            self.warn_of_whole_plan(&error);
        }
    }

    fn warn_of_whole_plan(&self, error: &LedgerError) {
        self.warn(message!(
            "say-whole-plan",
            "the account of run {run} stays at its whole plan: {reason}",
            run = self.id.0,
            reason = told::message(error)
        ));
    }
}

/// What the ledger notes at the end of a run.
fn note_of(by_person: bool, steps: u64, resumed: &Resumed) -> Option<String> {
    let stopped = by_person.then(|| format!("stopped by a person after {steps} steps"));
    let taken_up = (resumed.times > 0).then(|| {
        format!(
            "taken up {} × after it was cut short; {} steps that may have been lost are charged",
            resumed.times, resumed.lost_steps
        )
    });
    let notes: Vec<String> = stopped.into_iter().chain(taken_up).collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// A failure in training, with what had been executed by then.
pub(super) struct RunFailure {
    pub problem: Problem,
    executed: EventList,
    /// Whether the run can be taken up later.
    pub is_left: bool,
    /// Whether it had not begun.
    pub is_early: bool,
}

impl RunFailure {
    pub fn of(error: &TrainError) -> Self {
        Self {
            problem: Problem::new(Area::Train, error),
            executed: error.executed(),
            is_left: matches!(error, TrainError::Left { .. }),
            is_early: error.is_early(),
        }
    }
}
