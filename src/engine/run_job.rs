//! One run, on its own thread: plan, encode, reserve, train, settle.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::Sender;

use crate::data::Room;
use crate::engine::certify::recipe_of;
use crate::engine::command::{RunId, RunRequest};
use crate::engine::coordinator::Note;
use crate::engine::event::{Area, Problem};
use crate::engine::interrupted::{KeptFiles, KeptRun, check_data, seal_of};
use crate::engine::keeper::{RunKeeper, Teller};
use crate::engine::ledger_thread::LedgerHandle;
use crate::engine::planned::Planned;
use crate::engine::session::SessionData;
use crate::engine::snapshot::{Dataset, RunClaims};
use crate::engine::told;
use crate::engine::watcher::{RunSlot, Watcher};
use crate::export::StepJournal;
use crate::export::certificate::{Choices, Resumed};
use crate::message;
use crate::num::{Delta, Message, RandomSource};
use crate::privacy::ledger::{
    DatasetId, EntryId, LedgerError, Outcome, PrivacyUnit, Reservation, Settlement, Status,
};
use crate::privacy::{AccountantKind, EventList};
use crate::train::keep::{Keeping, TakenUp};
use crate::train::{Control, DeviceKind, PlanSummary, StopReason, TrainError, Trained};

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
    /// How often it was cut short and taken up again.
    pub resumed: Resumed,
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
    /// Not at all: the program is being closed, and the run can be taken up later.
    Left(Problem),
    /// Not at all: its device failed, and the run can go on on another.
    DeviceLost(Box<DeviceLost>),
}

/// What a run goes on with.
struct Kept {
    keeper: Option<RunKeeper>,
    taken: Option<TakenUp>,
    resumed: Resumed,
}

impl Kept {
    /// Whether there is a checkpoint to go on from.
    fn is_on_disk(&self) -> bool {
        self.keeper.as_ref().is_some_and(RunKeeper::has_checkpoint)
    }
}

/// Why a run has not come to its end.
enum Unfinished {
    /// It cannot.
    Failed(Problem),
    /// It can be taken up later.
    Left(Problem),
    /// It can be taken up on another device.
    DeviceLost(Box<DeviceLost>),
}

/// A run whose device failed in its midst.
pub(super) struct DeviceLost {
    /// What happened.
    pub problem: Problem,
    /// The run as it was asked for.
    pub request: RunRequest,
    /// Which opening of a table it learns from.
    pub generation: u64,
    /// The name by which it can be taken up.
    pub kept: String,
}

impl From<Problem> for Unfinished {
    fn from(problem: Problem) -> Self {
        Self::Failed(problem)
    }
}

/// A run that was cut short, held by its journal.
struct Held {
    files: KeptFiles,
    run: KeptRun,
    taken: TakenUp,
    journal: StepJournal,
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
    /// The name of the run that was cut short and is taken up here.
    pub takes_up: Option<String>,
    /// The program's folder.
    pub home: PathBuf,
    /// Where encoded rows may lie.
    pub room: Room,
    pub ledger: LedgerHandle,
    pub control: Arc<Control>,
    pub slot: Arc<RunSlot>,
    pub notes: Sender<Note>,
}

impl RunJob {
    /// Runs to the end, whatever it is, and tells it.
    pub fn run(self) {
        let (id, notes) = (self.id, self.notes.clone());
        let attempt = super::catching(Area::Train, || match self.attempt() {
            Ok(finished) => Ok(Ok(finished)),
            Err(Unfinished::Failed(problem)) => Err(problem),
            Err(other) => Ok(Err(other)),
        });
        let end = match attempt {
            // Worked out here, off the window's frame and the engine's own thread.
            Ok(Ok(finished)) => {
                let claims =
                    super::catching(Area::Export, || super::certify::claims(&finished)).map(Arc::new);
                RunEnd::Finished(Arc::new(finished), claims)
            }
            Ok(Err(Unfinished::DeviceLost(lost))) => RunEnd::DeviceLost(lost),
            Ok(Err(Unfinished::Left(problem) | Unfinished::Failed(problem))) => RunEnd::Left(problem),
            Err(problem) => RunEnd::Failed(problem),
        };
        // A coordinator that is gone needs to hear nothing; the ledger has its entry.
        let _ = notes.send(Note::RunEnded {
            run: id,
            end: Box::new(end),
        });
    }

    fn attempt(mut self) -> Result<FinishedRun, Unfinished> {
        let dataset = Arc::clone(&self.dataset);
        let held = self.take_up()?;
        self.use_a_device_that_opens();
        let plan = Planned::of(&self.request, &dataset)?;
        let summary = plan.summary();
        let _ = self.notes.send(Note::RunPlanned {
            run: self.id,
            plan: Arc::new(summary.clone()),
            device: self.request.device,
        });
        for warning in plan.warnings() {
            self.warn(warning.message());
        }
        let planned = plan.events();
        let promise = Promised::by(&plan);
        let before = held.as_ref().map(|held| &held.run);
        let mut random = self.random(before.map_or(0, |run| run.resumed.times + 1));
        let ready = plan.encode(&dataset, &self.room, &mut random)?;
        // The number of clamped cells is a private figure, and who reads the warning has seen it.
        let looked = self.warn_of_clamped(ready.clamped_cells()) || self.request.watched;
        let choices = Choices {
            // What an earlier life of the run showed did not change its settings.
            tuned: before.map_or(self.tuned, |run| run.tuned),
            looked: looked || before.is_some_and(|run| run.looked),
            // Whoever saw private figures of a run may have cut it short by them.
            chose_checkpoint: before.is_some_and(|run| run.looked),
        };
        let entry = match &held {
            Some(held) => self.entry_of(held, &planned)?,
            None => self.reserve(promise, &planned)?,
        };
        let mut kept = self.keep(held, entry, (&summary, &planned), choices);
        let _ = self.notes.send(Note::RunStarted {
            run: self.id,
            entry,
            kept: kept.keeper.as_ref().map(RunKeeper::id),
        });

        let mut watcher = Watcher::new(Arc::clone(&self.slot), Arc::clone(&self.control), &summary);
        let keeping = match (&kept.keeper, self.request.keep_every) {
            (Some(keeper), Some(every)) => Keeping::by(Box::new(keeper.clone()), every),
            _ => Keeping::none(),
        };
        let taken = kept.taken.take();
        // A panic while training must still leave the account right, so it is caught here, inside the entry.
        let outcome = super::catching(Area::Train, || {
            ready
                .train(
                    (self.request.device, self.request.watched),
                    random,
                    (keeping, taken),
                    &self.control,
                    &mut |seen| {
                        #[cfg(test)]
                        tests::lose_device(self.request.device, &seen);
                        watcher.observe(seen);
                    },
                )
                .map_err(|error| RunFailure::of(&error))
                .map_or_else(|failure| Ok(Err(failure)), |trained| Ok(Ok(trained)))
        });
        watcher.offer();
        match outcome {
            // Its reservation stays open, and its files where they are.
            Ok(Err(failure)) if failure.is_left => return Err(Unfinished::Left(failure.problem)),
            // What an earlier life of it did is charged all the same.
            Ok(Err(failure)) if failure.is_early && kept.resumed.times > 0 => {
                return Err(Unfinished::Failed(failure.problem));
            }
            // It failed in some operation, whichever. What the run has is on disk, and does not need it.
            Err(problem) if self.request.device != DeviceKind::Flex && kept.is_on_disk() => {
                return Err(Unfinished::DeviceLost(Box::new(DeviceLost {
                    problem,
                    request: self.request,
                    generation: dataset.generation,
                    kept: kept.keeper.map(|keeper| keeper.id()).unwrap_or_default(),
                })));
            }
            _ => {}
        }
        let ended = self.settle_outcome(entry, (&summary, &planned), outcome, &kept.resumed);
        // Settled first: were the files gone before, a crash in between would leave nothing to go on from.
        if let Some(keeper) = &kept.keeper {
            keeper.finish();
        }
        Ok(FinishedRun {
            request: self.request,
            dataset,
            identity: self.identity,
            plan: summary,
            planned,
            entry,
            trained: ended?,
            choices,
            resumed: kept.resumed,
        })
    }

    /// Settles the account of a run that has ended in whatever way.
    fn settle_outcome(
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
                self.settle_failure(entry, summary, failure.executed, &failure.problem);
                Err(failure.problem)
            }
            Err(panic) => {
                // How far it came is not known: the whole plan stays charged.
                self.settle_failure(entry, summary, planned.clone(), &panic);
                Err(panic)
            }
        }
    }

    /// A device that cannot be used is told, and the processor takes its place.
    fn use_a_device_that_opens(&mut self) {
        if let Err(error) = self.request.device.open() {
            self.warn(message!(
                "say-device-missing",
                "the device `{device}` cannot be used, so the run is on `flex`: {reason}",
                device = self.request.device.name(),
                reason = told::message(&error)
            ));
            self.request.device = DeviceKind::Flex;
        }
    }

    /// Holds the run that was cut short and is to go on here, if there is one.
    fn take_up(&self) -> Result<Option<Held>, Problem> {
        let Some(id) = &self.takes_up else { return Ok(None) };
        let files = KeptFiles::of(&self.home, id);
        let (run, taken, journal) = files.take_up()?;
        check_data(&run, &self.dataset, &self.ledger)?;
        Ok(Some(Held {
            files,
            run,
            taken,
            journal,
        }))
    }

    /// The entry under which a run that is taken up was reserved: it must be open still, and for the same plan.
    fn entry_of(&self, held: &Held, planned: &EventList) -> Result<Option<EntryId>, Problem> {
        let Some(entry) = held.run.entry else {
            return Ok(None);
        };
        let entries = self
            .ledger
            .entries()
            .map_err(|error| Problem::new(Area::Ledger, &error))?;
        let known = entries
            .iter()
            .find(|known| known.id == entry && known.status == Status::Reserved);
        let reserved = known.and_then(|known| known.events.as_ref());
        if reserved == Some(planned) && held.run.planned == *planned {
            return Ok(Some(entry));
        }
        Err(Problem::plain(
            Area::Ledger,
            message!(
                "say-other-plan",
                "entry {entry} of the ledger is not an open reservation for this plan, so the run cannot be taken up; discard it",
                entry = entry.0
            ),
        ))
    }

    /// Fresh entropy for each life of a run. A fixed seed, which is not private anyway, gives each life bits of its own.
    fn random(&self, life: u32) -> RandomSource {
        let mut random = self
            .request
            .seed
            .map_or_else(RandomSource::from_operating_system, RandomSource::seeded);
        for _ in 0..life {
            random = random.fork();
        }
        random
    }

    /// Keeps the run from now on, as far as that can be done: a run that cannot be kept goes on all the same.
    fn keep(
        &self,
        held: Option<Held>,
        entry: Option<EntryId>,
        (summary, planned): (&PlanSummary, &EventList),
        choices: Choices,
    ) -> Kept {
        let teller = Teller {
            run: self.id,
            notes: self.notes.clone(),
        };
        if let Some(held) = held {
            let lost = held.taken.charged - held.taken.checkpoint.step;
            let resumed = Resumed {
                times: held.run.resumed.times + 1,
                lost_steps: held.run.resumed.lost_steps + lost,
            };
            let run = KeptRun {
                tuned: choices.tuned,
                looked: choices.looked,
                resumed,
                ..held.run
            };
            return Kept {
                keeper: Some(RunKeeper::go_on(held.files, held.journal, run, teller)),
                taken: Some(held.taken),
                resumed,
            };
        }
        let begun = self.request.keep_every.map(|_| {
            let mut data = SessionData::of(&self.dataset).ok_or_else(|| {
                Problem::plain(
                    Area::Train,
                    message!("say-schema-unwritable", "the schema cannot be written"),
                )
            })?;
            // The program may be started elsewhere the next time.
            data.path = data.path.map(|path| std::path::absolute(&path).unwrap_or(path));
            let recipe = recipe_of(&self.request, &summary.settings, &self.dataset)?;
            let run = KeptRun {
                entry,
                seal: seal_of(&self.dataset.table, &self.ledger)?,
                data,
                recipe: recipe
                    .to_toml()
                    .map_err(|error| Problem::new(Area::Train, &error))?,
                planned: planned.clone(),
                steps: summary.steps,
                tuned: choices.tuned,
                looked: choices.looked,
                resumed: Resumed::default(),
            };
            RunKeeper::begin(&self.home, run, teller)
        });
        let keeper = match begun {
            Some(Ok(keeper)) => Some(keeper),
            Some(Err(problem)) => {
                self.warn(message!(
                    "say-not-kept-at-all",
                    "the run goes on, but it cannot be taken up if the program is cut short: {reason}",
                    reason = problem.message
                ));
                None
            }
            None => None,
        };
        Kept {
            keeper,
            taken: None,
            resumed: Resumed::default(),
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
struct RunFailure {
    problem: Problem,
    executed: EventList,
    /// Whether the run can be taken up later.
    is_left: bool,
    /// Whether it had not begun.
    is_early: bool,
}

impl RunFailure {
    fn of(error: &TrainError) -> Self {
        Self {
            problem: Problem::new(Area::Train, error),
            executed: error.executed(),
            is_left: matches!(error, TrainError::Left { .. }),
            is_early: error.is_early(),
        }
    }
}

#[cfg(test)]
mod tests;
