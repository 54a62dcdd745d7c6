//! One run, on its own thread: plan, encode, reserve, train, settle.

mod account;
mod ended;
mod keep;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crossbeam_channel::Sender;

use self::account::{Promised, RunFailure};
use crate::data::Room;
use crate::engine::command::{RunId, RunRequest};
use crate::engine::coordinator::Note;
use crate::engine::curves::SharedCurves;
use crate::engine::event::{Area, Problem};
use crate::engine::interrupted::KeptRun;
use crate::engine::keeper::RunKeeper;
use crate::engine::ledger_thread::LedgerHandle;
use crate::engine::planned::Planned;
use crate::engine::snapshot::{Dataset, RunClaims};
use crate::engine::told;
use crate::engine::watcher::{RunSlot, Watcher};
use crate::export::certificate::{Choices, Resumed};
use crate::message;
use crate::num::{Message, RandomSource};
use crate::privacy::EventList;
use crate::privacy::ledger::{DatasetId, EntryId};
use crate::train::keep::{Keeping, Life};
use crate::train::{Control, DeviceKind, PlanSummary, StopReason, Trained};

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
    /// Keeps what was paid for until it is exported.
    pub keeper: Option<RunKeeper>,
}

impl FinishedRun {
    pub fn reason(&self) -> StopReason {
        self.trained.stopped
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
        let held = match held {
            Some(held) if held.run.ended.is_some() => return Ok(self.finish_ended(held)?),
            other => other,
        };
        let plan = Planned::of(&self.request, &dataset)?;
        let summary = plan.summary();
        self.tell_plan(&plan, &summary);
        let planned = plan.events();
        let promise = Promised::by(&plan);
        let before = held.as_ref().map(|held| &held.run);
        let mut random = self.random(before.map_or(0, |run| run.resumed.times + 1));
        let ready = plan.encode(&dataset, &self.room, &mut random)?;
        // The number of clamped cells is a private figure, and who reads the warning has seen it.
        let looked = self.warn_of_clamped(ready.clamped_cells()) || self.request.watched;
        let choices = self.choices(before, looked);
        let entry = match &held {
            Some(held) => self.entry_of(held, &planned)?,
            None => self.reserve(promise, &planned)?,
        };
        let mut kept = self.keep(held, entry, (&summary, &planned), choices)?;
        let _ = self.notes.send(Note::RunStarted {
            run: self.id,
            entry,
            kept: kept.keeper.as_ref().map(RunKeeper::id),
        });

        let from = kept.taken.as_ref().map_or(0, |taken| taken.charged);
        let (slot, control) = (Arc::clone(&self.slot), Arc::clone(&self.control));
        let curves = SharedCurves::new(&summary);
        if let Some(keeper) = &kept.keeper {
            let taken_up = kept.taken.as_ref().map(|taken| taken.checkpoint.step);
            keeper.keep_curves(curves.clone(), taken_up);
        }
        let mut watcher = Watcher::new(slot, control, (&summary, curves), from);
        let keeping = match (&kept.keeper, self.request.keep_every) {
            (Some(keeper), Some(every)) => Keeping::by(Box::new(keeper.clone()), every),
            _ => Keeping::none(),
        };
        let life = Life {
            keeping,
            taken: kept.taken.take(),
        };
        // A panic while training must still leave the account right, so it is caught here, inside the entry.
        let outcome = super::catching(Area::Train, || {
            ready
                .train(
                    (self.request.device, self.request.watched),
                    random,
                    life,
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
        let (trained, keeper) = self.settle_and_keep(
            &kept,
            entry,
            (&summary, &planned),
            outcome,
            choices.chose_checkpoint,
        )?;
        Ok(FinishedRun {
            request: self.request,
            dataset,
            identity: self.identity,
            plan: summary,
            planned,
            entry,
            trained,
            choices,
            resumed: kept.resumed,
            keeper,
        })
    }

    /// Tells what is planned, and what a person should know of it.
    fn tell_plan(&self, plan: &Planned, summary: &PlanSummary) {
        let _ = self.notes.send(Note::RunPlanned {
            run: self.id,
            plan: Arc::new(summary.clone()),
            device: self.request.device,
        });
        for warning in plan.warnings() {
            self.warn(warning.message());
        }
    }

    /// What a person may have done with private figures in view, in this life of the run and before.
    fn choices(&self, before: Option<&KeptRun>, looked: bool) -> Choices {
        Choices {
            // What an earlier life of the run showed did not change its settings.
            tuned: before.map_or(self.tuned, |run| run.tuned),
            looked: looked || before.is_some_and(|run| run.looked),
            // Whoever saw private figures of a run may have cut it short by them.
            chose_checkpoint: before.is_some_and(|run| run.looked),
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
}

#[cfg(test)]
mod tests;
