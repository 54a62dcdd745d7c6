//! What a run leaves on disk to be taken up again, and what it goes on with when it is.

use super::RunJob;
use crate::engine::certify::recipe_of;
use crate::engine::event::{Area, Problem};
use crate::engine::interrupted::{KeptFiles, KeptRun, check_data, seal_of};
use crate::engine::keeper::{RunKeeper, Teller};
use crate::engine::session::SessionData;
use crate::export::certificate::{Choices, Resumed};
use crate::export::{StepJournal, save_checkpoint};
use crate::message;
use crate::privacy::EventList;
use crate::privacy::ledger::{EntryId, Status};
use crate::train::PlanSummary;
use crate::train::keep::TakenUp;

/// What a run goes on with.
pub(super) struct Kept {
    pub keeper: Option<RunKeeper>,
    pub taken: Option<TakenUp>,
    pub resumed: Resumed,
}

impl Kept {
    /// Whether there is a checkpoint to go on from.
    pub fn is_on_disk(&self) -> bool {
        self.keeper.as_ref().is_some_and(RunKeeper::has_checkpoint)
    }
}

/// A run that was cut short, held by its journal.
pub(super) struct Held {
    pub files: KeptFiles,
    pub run: KeptRun,
    pub taken: TakenUp,
    pub journal: StepJournal,
}

impl RunJob {
    /// Holds the run that was cut short and is to go on here, if there is one.
    pub(super) fn take_up(&self) -> Result<Option<Held>, Problem> {
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
    pub(super) fn entry_of(&self, held: &Held, planned: &EventList) -> Result<Option<EntryId>, Problem> {
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

    pub(super) fn teller(&self) -> Teller {
        Teller {
            run: self.id,
            notes: self.notes.clone(),
        }
    }

    /// Keeps the run from now on, as far as that can be done: a run that cannot be kept goes on all the same.
    ///
    /// # Errors
    /// When a run that is taken up cannot note so: its certificate would not say who has looked at it in this life.
    pub(super) fn keep(
        &self,
        held: Option<Held>,
        entry: Option<EntryId>,
        (summary, planned): (&PlanSummary, &EventList),
        choices: Choices,
    ) -> Result<Kept, Problem> {
        let teller = self.teller();
        if let Some(held) = held {
            let lost = held.taken.charged - held.taken.checkpoint.step;
            let resumed = Resumed {
                times: held.run.resumed.times + 1,
                lost_steps: held.run.resumed.lost_steps + lost,
            };
            let mut run = KeptRun {
                tuned: choices.tuned,
                looked: choices.looked,
                // Steps lost since this checkpoint count once it is replaced.
                resumed: Resumed {
                    lost_steps: held.run.resumed.lost_steps,
                    ..resumed
                },
                ..held.run
            };
            save_checkpoint(&held.files.checkpoint(), &run, &held.taken.checkpoint)
                .map_err(|error| Problem::new(Area::Train, &error))?;
            run.resumed = resumed;
            return Ok(Kept {
                keeper: Some(RunKeeper::go_on(held.files, held.journal, run, teller)),
                taken: Some(held.taken),
                resumed,
            });
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
                ended: None,
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
        Ok(Kept {
            keeper,
            taken: None,
            resumed: Resumed::default(),
        })
    }
}
