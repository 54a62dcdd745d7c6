//! Runs that were cut short: listed, taken up, or thrown away.

use std::sync::Arc;

use crate::engine::command::RunRequest;
use crate::engine::coordinator::Coordinator;
use crate::engine::event::{Area, EngineEvent, Problem};
use crate::engine::interrupted::{self, Interrupted, KeptFiles, KeptRun};
use crate::message;
use crate::num::Delta;
use crate::privacy::epsilon_of_part;
use crate::privacy::ledger::{Entry, EntryId, Outcome, Settlement, Status};
use crate::train::DeviceKind;

/// A run whose data is being opened.
struct Opening {
    generation: u64,
    id: String,
    device: Option<DeviceKind>,
    watched: bool,
}

/// What is known of runs that were cut short.
#[derive(Default)]
pub(super) struct InterruptedState {
    known: Arc<Vec<Interrupted>>,
    /// The run whose data is being opened.
    opening: Option<Opening>,
}

impl InterruptedState {
    pub fn known(&self) -> Arc<Vec<Interrupted>> {
        Arc::clone(&self.known)
    }
}

impl Coordinator {
    /// Looks again for runs that were cut short.
    pub(super) fn find_interrupted(&mut self) {
        let found = interrupted::find(&self.home);
        if found.is_empty() && self.interrupted.known.is_empty() {
            return;
        }
        self.refresh_ledger();
        let open = match &self.ledger_view.problem {
            None => Some(interrupted::open_reservations(&self.ledger_view.entries)),
            Some(_) => None,
        };
        let kept = interrupted::sort_out(&self.home, found, open.as_deref());
        self.interrupted.known = Arc::new(kept);
    }

    /// Opens the data of a run that was cut short; the run goes on once it is there.
    pub(super) fn take_up(&mut self, id: &str, device: Option<DeviceKind>, watched: bool) {
        match self.kept_run(id).and_then(|run| run.data.source()) {
            Ok(source) => {
                self.open(source);
                self.interrupted.opening = Some(Opening {
                    generation: self.dataset.generation(),
                    id: id.to_owned(),
                    device,
                    watched,
                });
            }
            Err(problem) => self.fail(problem),
        }
    }

    fn kept_run(&self, id: &str) -> Result<KeptRun, Problem> {
        let (known, _) = self.known(id)?;
        known.describe_whole()
    }

    fn known(&self, id: &str) -> Result<(KeptFiles, Option<EntryId>), Problem> {
        let found = self.interrupted.known.iter().find(|known| known.id == id);
        let found = found.ok_or_else(|| {
            Problem::plain(
                Area::Train,
                message!(
                    "say-no-interrupted",
                    "no run that was cut short is called `{name}`; `runs list` names them all",
                    name = id
                ),
            )
        })?;
        Ok((KeptFiles::of(&self.home, id), found.entry))
    }

    /// A table is open: the run that was waiting for it goes on.
    pub(super) fn opened_for_run(&mut self, generation: u64) {
        let opening = &mut self.interrupted.opening;
        let Some(Opening {
            id, device, watched, ..
        }) = opening.take_if(|opening| opening.generation == generation)
        else {
            return;
        };
        let outcome = self.kept_run(&id).and_then(|run| {
            let schema = run.data.schema()?;
            let request = run.request()?;
            let device = device.unwrap_or(request.device);
            let watched = watched || request.watched;
            let request = RunRequest {
                device,
                watched,
                ..request
            };
            Ok((Arc::new(schema), request))
        });
        match outcome {
            Ok((schema, request)) => {
                self.restore_schema(&schema);
                self.begin_run(request, Some(id));
            }
            Err(problem) => self.fail(problem),
        }
    }

    /// Throws away what is kept of a run that was cut short.
    pub(super) fn abandon(&mut self, id: &str) {
        let outcome = self.known(id).and_then(|(files, _)| self.abandon_run(&files));
        self.refresh_ledger();
        self.find_interrupted();
        match outcome {
            Ok(()) => self.tell(EngineEvent::Abandoned(id.to_owned())),
            Err(problem) => self.fail(problem),
        }
    }

    /// What may have been done stays charged, by the journal; what is beyond it is free again. A run whose files cannot
    /// be read is charged its whole reservation.
    fn abandon_run(&self, files: &KeptFiles) -> Result<(), Problem> {
        // Held until the files are gone, so that nobody takes the run up meanwhile.
        let held = files.take_up();
        if let Ok((run, taken, _)) = &held
            && let Some(entry) = run.entry
            && run.ended.is_none()
        {
            self.settle_abandoned(run, entry, taken.charged)?;
        }
        if let Err(problem) = &held
            && files.is_held()
        {
            return Err(problem.clone());
        }
        // Unreadable, cut short before its first checkpoint, or at its end and perhaps settled already.
        if held.as_ref().map_or(true, |(run, ..)| run.ended.is_some())
            && let Some(entry) = files.entry()
        {
            self.settle_in_full(entry)?;
        }
        files.remove().map_err(|error| Problem::new(Area::Train, &error))
    }

    /// Nobody can tell how far the run came, and nobody can take it up any more: all that it reserved is spent.
    fn settle_in_full(&self, id: EntryId) -> Result<(), Problem> {
        let entries = &self.ledger_view.entries;
        let open = |entry: &&Entry| entry.id == id && entry.status == Status::Reserved;
        let Some((entry, events)) =
            (entries.iter().find(open)).and_then(|entry| Some((entry, entry.events.clone()?)))
        else {
            return Ok(());
        };
        let settlement = Settlement {
            events,
            epsilon: entry.epsilon,
            delta: entry.delta,
            outcome: Outcome::Failed {
                message: "cut short and thrown away".into(),
            },
            note: Some("charged in full: nobody can tell how far it came".into()),
        };
        self.ledger
            .settle(id, settlement)
            .map_err(|error| Problem::new(Area::Ledger, &error))
    }

    fn settle_abandoned(&self, run: &KeptRun, entry: EntryId, charged: u64) -> Result<(), Problem> {
        let failed = |error: &(dyn std::error::Error + 'static)| Problem::new(Area::Ledger, error);
        let events = run.events_until(charged);
        let RunRequest { target, method, .. } = run.request()?;
        let delta = target.map_or(0.0, |target| target.delta);
        let checked = Delta::new(delta).map_err(|error| failed(&error))?;
        let by = method.accountant(run.data.images.is_some());
        let entries = &self.ledger_view.entries;
        let reserved = entries.iter().find(|known| known.id == entry);
        let reserved = reserved
            .and_then(|entry| entry.reserved)
            .map_or(f64::INFINITY, |reserved| reserved.epsilon);
        // Without a known reservation the accountant alone says it.
        let epsilon = if reserved.is_finite() {
            epsilon_of_part(by, (&events, &run.planned), reserved, checked)
        } else {
            by.epsilon(&events, checked)
        };
        let epsilon = epsilon.map_err(|error| failed(&error))?;
        let settlement = Settlement {
            events,
            epsilon,
            delta,
            outcome: Outcome::Failed {
                message: "cut short and thrown away".into(),
            },
            note: Some(format!("charged up to step {charged} of {}", run.steps)),
        };
        self.ledger
            .settle(entry, settlement)
            .map_err(|error| failed(&error))
    }
}
