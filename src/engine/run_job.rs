//! One run, on its own thread: plan, encode, reserve, train, settle.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::Sender;

use crate::engine::command::{RunId, RunRequest};
use crate::engine::coordinator::Note;
use crate::engine::event::{Area, Problem};
use crate::engine::ledger_thread::LedgerHandle;
use crate::engine::planned::Planned;
use crate::engine::snapshot::{Dataset, RunClaims};
use crate::engine::told;
use crate::engine::watcher::{RunSlot, Watcher};
use crate::export::certificate::Choices;
use crate::message;
use crate::num::{Delta, Message, RandomSource};
use crate::privacy::ledger::{
    DatasetId, EntryId, LedgerError, Outcome, PrivacyUnit, Reservation, Settlement,
};
use crate::privacy::{AccountantKind, EventList};
use crate::train::{Control, PlanSummary, StopReason, TrainError, Trained};

/// A run that has ended with a generator, and all that its certificate needs.
pub(super) struct FinishedRun {
    pub request: RunRequest,
    pub dataset: Arc<Dataset>,
    pub identity: Option<DatasetId>,
    pub plan: PlanSummary,
    pub planned: EventList,
    pub entry: Option<EntryId>,
    pub trained: Trained,
    pub choices: Choices,
}

impl FinishedRun {
    pub fn reason(&self) -> StopReason {
        self.trained.stopped
    }
}

/// What a plan promises, for the ledger.
#[derive(Clone, Copy)]
struct Promised {
    epsilon: f64,
    delta: f64,
    steps: u64,
}

impl Promised {
    fn by(plan: &Planned) -> Option<Self> {
        Some(Self {
            epsilon: plan.epsilon()?,
            delta: plan.delta()?.get(),
            steps: plan.steps(),
        })
    }
}

/// How a run ended.
pub(super) enum RunEnd {
    /// With a generator, and with what its certificate will say.
    Finished(Arc<FinishedRun>, Result<Arc<RunClaims>, Problem>),
    /// Without one.
    Failed(Problem),
}

/// Everything that a run's thread needs.
pub(super) struct RunJob {
    pub id: RunId,
    pub dataset: Arc<Dataset>,
    pub identity: Option<DatasetId>,
    pub request: RunRequest,
    /// Whether an earlier run on this data set was watched.
    pub tuned: bool,
    /// Set when nothing of the run is to be kept.
    pub unwanted: Arc<AtomicBool>,
    pub ledger: LedgerHandle,
    pub control: Arc<Control>,
    pub slot: Arc<RunSlot>,
    pub notes: Sender<Note>,
}

impl RunJob {
    /// Runs to the end, whatever it is, and tells it.
    pub fn run(self) {
        let (id, notes) = (self.id, self.notes.clone());
        let end = match super::catching(Area::Train, || self.attempt()) {
            // Worked out here, off the window's frame and the engine's own thread.
            Ok(finished) => {
                let claims =
                    super::catching(Area::Export, || super::certify::claims(&finished)).map(Arc::new);
                RunEnd::Finished(Arc::new(finished), claims)
            }
            Err(problem) => RunEnd::Failed(problem),
        };
        // A coordinator that is gone needs to hear nothing; the ledger has its entry.
        let _ = notes.send(Note::RunEnded {
            run: id,
            end: Box::new(end),
        });
    }

    fn attempt(self) -> Result<FinishedRun, Problem> {
        let dataset = Arc::clone(&self.dataset);
        let plan = Planned::of(&self.request, &dataset)?;
        let summary = plan.summary();
        let _ = self.notes.send(Note::RunPlanned {
            run: self.id,
            plan: Arc::new(summary.clone()),
        });
        for warning in plan.warnings() {
            self.warn(warning.message());
        }
        let planned = plan.events();
        let promise = Promised::by(&plan);
        let ready = plan.encode(&dataset)?;
        // The number of clamped cells is a private figure, and who reads the warning has seen it.
        let looked = self.warn_of_clamped(ready.clamped_cells()) || self.request.watched;
        let choices = Choices {
            tuned: self.tuned,
            looked,
            ..Choices::default()
        };
        let random = self
            .request
            .seed
            .map_or_else(RandomSource::from_operating_system, RandomSource::seeded);
        let entry = self.reserve(promise, &planned)?;
        let _ = self.notes.send(Note::RunStarted { run: self.id, entry });

        let mut watcher = Watcher::new(Arc::clone(&self.slot), Arc::clone(&self.control), &summary);
        // A panic while training must still leave the account right, so it is caught here, inside the entry.
        let outcome = super::catching(Area::Train, || {
            ready
                .train(
                    (self.request.device, self.request.watched),
                    random,
                    &self.control,
                    &mut |seen| watcher.observe(seen),
                )
                .map_err(|error| RunFailure::of(&error))
                .map_or_else(|failure| Ok(Err(failure)), |trained| Ok(Ok(trained)))
        });
        watcher.offer();
        match outcome {
            Ok(Ok(trained)) if self.unwanted.load(Ordering::Acquire) => {
                Err(self.discard(entry, &summary, trained))
            }
            Ok(Ok(trained)) => {
                // A generator that is paid for is not thrown away because the ledger cannot be written just now:
                // its whole plan stays charged.
                if let Err(error) = self.settle(entry, (&summary, &planned), &trained) {
                    self.warn_of_whole_plan(&error);
                }
                Ok(FinishedRun {
                    request: self.request,
                    dataset,
                    identity: self.identity,
                    plan: summary,
                    planned,
                    entry,
                    trained,
                    choices,
                })
            }
            Ok(Err(failure)) => {
                self.settle_failure(entry, &summary, failure.executed, &failure.problem);
                Err(failure.problem)
            }
            Err(panic) => {
                // How far it came is not known: the whole plan stays charged.
                self.settle_failure(entry, &summary, planned, &panic);
                Err(panic)
            }
        }
    }

    fn warn(&self, message: Message) {
        let _ = self.notes.send(Note::RunWarning {
            run: self.id,
            message,
        });
    }

    fn warn_of_clamped(&self, cells: u64) -> bool {
        if cells == 1 {
            self.warn(message!(
                "say-clamped-one",
                "1 number lies outside its public bounds and counts as the nearest bound (steward only)"
            ));
        } else if cells > 0 {
            self.warn(message!(
                "say-clamped",
                "{cells} numbers lie outside their public bounds and count as the nearest bound (steward only)",
                cells = cells
            ));
        }
        cells > 0
    }

    /// Charges the whole plan before the first step. Runs without a promise are not charged.
    fn reserve(&self, promised: Option<Promised>, events: &EventList) -> Result<Option<EntryId>, Problem> {
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
            unit: PrivacyUnit::Row,
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

    fn settle(
        &self,
        entry: Option<EntryId>,
        (plan, planned): (&PlanSummary, &EventList),
        trained: &Trained,
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
            note: by_person.then(|| format!("stopped by a person after {} steps", trained.steps_done)),
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
        plan: &PlanSummary,
        events: EventList,
        problem: &Problem,
    ) {
        let (Some(entry), Some(delta)) = (entry, plan.delta) else {
            return;
        };
        // What cannot be accounted stays charged as planned.
        let Some(epsilon) = Delta::new(delta)
            .ok()
            .and_then(|delta| AccountantKind::Rdp.epsilon(&events, delta).ok())
        else {
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

/// A failure in training, with what had been executed by then.
struct RunFailure {
    problem: Problem,
    executed: EventList,
}

impl RunFailure {
    fn of(error: &TrainError) -> Self {
        Self {
            problem: Problem::new(Area::Train, error),
            executed: error.executed(),
        }
    }
}
