//! The release in progress, and those of this session: one at a time, on a thread of its own.

use std::sync::Arc;

use crate::engine::command::ReleaseOrder;
use crate::engine::coordinator::Coordinator;
use crate::engine::event::{Area, EngineEvent, Problem};
use crate::engine::release_job::ReleaseJob;
use crate::engine::snapshot::Released;
use crate::engine::told;
use crate::message;
use crate::num::Message;
use crate::release::ReleaseRequest;

#[derive(Default)]
pub(super) struct Releases {
    busy: Option<Arc<ReleaseRequest>>,
    done: Vec<Arc<Released>>,
}

impl Releases {
    pub fn is_busy(&self) -> bool {
        self.busy.is_some()
    }

    pub fn in_progress(&self) -> Option<Arc<ReleaseRequest>> {
        self.busy.clone()
    }

    pub fn done(&self) -> Vec<Arc<Released>> {
        self.done.clone()
    }

    pub fn end(&mut self) {
        self.busy = None;
    }
}

impl Coordinator {
    pub(super) fn start_release(&mut self, order: ReleaseOrder) {
        if let Err(problem) = self.try_start_release(order) {
            self.releases.end();
            self.tell(EngineEvent::ReleaseFailed(problem));
        }
    }

    fn try_start_release(&mut self, order: ReleaseOrder) -> Result<(), Problem> {
        if self.releases.is_busy() {
            // The one in progress goes on; only this order is turned away.
            let problem = Problem::plain(
                Area::Release,
                message!("release-busy", "another release is being computed; wait for it"),
            );
            self.tell(EngineEvent::Failed(problem));
            return Ok(());
        }
        let Some(dataset) = self.dataset.current().cloned() else {
            return Err(Problem::plain(
                Area::Release,
                message!(
                    "release-no-table",
                    "open a table before releasing a statistic of it"
                ),
            ));
        };
        if let Some(problem) = &dataset.misfit {
            return Err(problem.clone());
        }
        self.dataset.whose_budget()?;
        self.releases.busy = Some(Arc::new(order.request.clone()));
        let job = ReleaseJob {
            dataset,
            identity: self.dataset.identity().ok_or_else(|| self.dataset.no_identity()),
            order,
            ledger: self.ledger.clone(),
            notes: self.note_sender.clone(),
        };
        std::thread::Builder::new()
            .name("release".into())
            .spawn(move || job.run())
            .map(drop)
            .map_err(|error| Problem::new(Area::Release, &super::super::EngineError::Thread(error)))
    }

    pub(super) fn release_ended(&mut self, generation: u64, outcome: Result<Released, Problem>) {
        self.releases.end();
        self.refresh_ledger();
        let mut released = match outcome {
            Ok(released) => released,
            Err(problem) => return self.tell(EngineEvent::ReleaseFailed(problem)),
        };
        let mut warnings: Vec<(Area, Message)> = Vec::new();
        warnings.extend(released.warning.clone().map(|message| (Area::Ledger, message)));
        if let Err(problem) = self.keep_purchase(generation, &mut released) {
            warnings.push((problem.area, problem.message));
        }
        let released = Arc::new(released);
        self.releases.done.push(Arc::clone(&released));
        for (area, message) in warnings {
            self.tell(EngineEvent::Warning {
                run: None,
                area,
                message,
            });
        }
        self.tell(EngineEvent::Released(released));
    }

    /// Writes what was bought into the open schema, and into its file unless that would save other changes with it.
    fn keep_purchase(&mut self, generation: u64, released: &mut Released) -> Result<(), Problem> {
        let Some(purchase) = &released.answer.purchase else {
            return Ok(());
        };
        // Whoever knows the seed can take the noise away: nothing was bought then.
        if released.seed.is_some() {
            return Ok(());
        }
        let failed = |error: &crate::data::DataError| {
            Problem::plain(
                Area::Schema,
                message!(
                    "release-not-kept",
                    "what was bought could not be written into the schema: {reason}",
                    reason = told::message(error)
                ),
            )
        };
        let Some(dataset) = self
            .dataset
            .current()
            .filter(|dataset| dataset.generation == generation)
        else {
            return Err(Problem::plain(
                Area::Schema,
                message!(
                    "release-table-closed",
                    "the table was closed meanwhile, so what was bought is not in its schema; it stands in the release"
                ),
            ));
        };
        let mut schema = (*dataset.schema).clone();
        purchase.apply(&mut schema).map_err(|error| failed(&error))?;
        let target = dataset.schema_path.clone().filter(|_| !dataset.schema_changed);
        let saved = target.map(|path| schema.save(&path).map(|()| path));
        self.replace_schema(schema);
        released.schema_changed = true;
        if let Some(saved) = saved {
            let path = saved.map_err(|error| failed(&error))?;
            self.dataset.mark_saved();
            released.schema_saved = Some(path);
        }
        Ok(())
    }
}
