//! What a run that has ended leaves on disk until it is exported: its generator, and what its certificate needs.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::account::RunFailure;
use super::keep::{Held, Kept};
use super::{FinishedRun, RunJob};
use crate::engine::coordinator::Note;
use crate::engine::event::{Area, Problem};
use crate::engine::interrupted::{Ended, KeptRun};
use crate::engine::keeper::RunKeeper;
use crate::engine::told;
use crate::export::certificate::Choices;
use crate::export::{ExportError, GeneratorFile};
use crate::message;
use crate::privacy::EventList;
use crate::privacy::ledger::{EntryId, Status};
use crate::train::{PlanSummary, StopReason, Trained};

impl RunJob {
    /// Settles the account of a run that has ended, and keeps what was paid for until it is exported: from the moment at
    /// which it cannot be made again it outlives a crash.
    pub(super) fn settle_and_keep(
        &self,
        kept: &Kept,
        entry: Option<EntryId>,
        (plan, planned): (&PlanSummary, &EventList),
        outcome: Result<Result<Trained, RunFailure>, Problem>,
        chose_checkpoint: bool,
    ) -> Result<(Trained, Option<RunKeeper>), Problem> {
        let keeper = match &outcome {
            Ok(Ok(trained)) => kept
                .keeper
                .clone()
                .filter(|keeper| entry.is_some() && self.keep_ended(keeper, plan, trained, chose_checkpoint)),
            _ => None,
        };
        let ended = self.settle_outcome(entry, (plan, planned), outcome, &kept.resumed);
        // Settled first: were the files gone before, a crash in between would leave nothing to go on from.
        if let Some(unneeded) = &kept.keeper
            && (keeper.is_none() || ended.is_err())
        {
            unneeded.finish();
        }
        Ok((ended?, keeper))
    }

    /// Keeps what a run came to, before its account is settled: whenever the program is killed, either the run can go
    /// on under its reservation or its result is there. Says whether it is kept.
    fn keep_ended(
        &self,
        keeper: &RunKeeper,
        plan: &PlanSummary,
        trained: &Trained,
        chose_checkpoint: bool,
    ) -> bool {
        if self.unwanted.load(Ordering::Acquire) {
            return false;
        }
        let ended = Ended {
            executed: trained.executed.clone(),
            epsilon: trained.epsilon,
            steps_done: trained.steps_done,
            stopped: trained.stopped,
            random: trained.random,
            chose_checkpoint,
        };
        let file = GeneratorFile {
            generator: trained.generator.clone(),
            plan: plan.clone(),
            certificate: None,
        };
        let kept = match file.to_checkpoint(plan.steps) {
            Ok(checkpoint) => keeper
                .end(ended, &checkpoint)
                .map_err(|error| told::message(&error)),
            Err(error) => Err(told::message(&error)),
        };
        match kept {
            Ok(()) => true,
            Err(reason) => {
                self.warn(message!(
                    "say-end-not-kept",
                    "what the run has learned is lost if the program is cut short before it is exported: {reason}",
                    reason = reason
                ));
                false
            }
        }
    }

    /// A run that had ended when the program was cut short, as it was: nothing is learned again, and nothing is
    /// charged twice.
    pub(super) fn finish_ended(self, held: Held) -> Result<FinishedRun, Problem> {
        let Held {
            files,
            run,
            taken,
            journal,
        } = held;
        let Some(ended) = run.ended.clone() else {
            return Err(no_plan(run.entry));
        };
        let failed = |error: &ExportError| Problem::new(Area::Train, error);
        let file = GeneratorFile::from_checkpoint(&files.checkpoint(), taken.checkpoint, self.request.device)
            .map_err(|error| failed(&error))?;
        let (plan, planned, resumed) = (file.plan, run.planned.clone(), run.resumed);
        let _ = self.notes.send(Note::RunPlanned {
            run: self.id,
            plan: Arc::new(plan.clone()),
            device: self.request.device,
        });
        let trained = Trained {
            generator: file.generator,
            executed: ended.executed,
            epsilon: ended.epsilon,
            steps_done: ended.steps_done,
            stopped: ended.stopped,
            random: ended.random,
        };
        let is_settled = self.is_settled(&run, &trained)?;
        let choices = Choices {
            tuned: run.tuned,
            looked: run.looked,
            chose_checkpoint: ended.chose_checkpoint,
        };
        let entry = run.entry;
        let keeper = RunKeeper::go_on(files, journal, run, self.teller());
        let _ = self.notes.send(Note::RunStarted {
            run: self.id,
            entry,
            kept: Some(keeper.id()),
        });
        let trained = if is_settled {
            trained
        } else {
            self.settle_outcome(entry, (&plan, &planned), Ok(Ok(trained)), &resumed)?
        };
        Ok(FinishedRun {
            request: self.request,
            dataset: self.dataset,
            identity: self.identity,
            plan,
            planned,
            entry,
            trained,
            choices,
            resumed,
            keeper: Some(keeper),
        })
    }

    /// Whether the ledger has the run's end already. It must have its reservation at least, and for the same events.
    fn is_settled(&self, run: &KeptRun, trained: &Trained) -> Result<bool, Problem> {
        let entries = self
            .ledger
            .entries()
            .map_err(|error| Problem::new(Area::Ledger, &error))?;
        let known = entries.iter().find(|known| Some(known.id) == run.entry);
        let events = |of: &EventList| known.and_then(|known| known.events.as_ref()) == Some(of);
        let charged = match trained.stopped {
            StopReason::ByPerson => &run.planned,
            StopReason::Planned | StopReason::BudgetReached => &trained.executed,
        };
        match known.map(|known| &known.status) {
            Some(Status::Reserved) if events(&run.planned) => Ok(false),
            Some(Status::Finished | Status::StoppedByPerson) if events(charged) => Ok(true),
            _ => Err(no_plan(run.entry)),
        }
    }
}

fn no_plan(entry: Option<EntryId>) -> Problem {
    Problem::plain(
        Area::Ledger,
        message!(
            "say-other-end",
            "entry {entry} of the ledger is not this run, so it cannot be taken up; discard it",
            entry = entry.map_or_else(String::new, |entry| entry.to_string())
        ),
    )
}
