//! The open table, its schema under review, and the load in progress.

use std::sync::Arc;

use crate::data::Schema;
use crate::engine::command::DataSource;
use crate::engine::coordinator::Coordinator;
use crate::engine::event::{Area, EngineEvent, Problem};
use crate::engine::ledger_thread::LedgerHandle;
use crate::engine::loader::{LoadEnd, Loaded, StageCell, Task};
use crate::engine::snapshot::{Dataset, Loading};
use crate::message;
use crate::num::Progress;
use crate::privacy::ledger::DatasetId;

#[derive(Default)]
pub(super) struct DatasetState {
    pub(super) current: Option<Arc<Dataset>>,
    /// The keyed identity of the open table's content, or why there is none.
    identity: Option<Result<DatasetId, Problem>>,
    load: Option<Load>,
    /// Whether a person has said that the open table is no new version of a known data set.
    is_separate: bool,
    /// Counts up with each load, so that answers about an earlier table are dropped.
    generation: u64,
    /// Counts up with each change of the schema, so that only the newest check counts.
    pub(super) schema_revision: u64,
    pub(super) checking: bool,
}

struct Load {
    generation: u64,
    name: String,
    progress: Progress,
    stage: StageCell,
}

impl DatasetState {
    pub fn current(&self) -> Option<&Arc<Dataset>> {
        self.current.as_ref()
    }

    pub fn shown(&self) -> Option<Arc<Dataset>> {
        self.current.clone()
    }

    /// The number of the latest load.
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    pub fn is_loading(&self) -> bool {
        self.load.is_some()
    }

    pub fn loading(&self) -> Option<Loading> {
        self.load.as_ref().map(|load| Loading {
            name: load.name.clone(),
            stage: load.stage.get(),
            share: load.progress.fraction().map(|share| share as f32),
        })
    }

    pub fn cancel_load(&mut self) {
        if let Some(load) = &self.load {
            load.progress.cancel();
        }
    }

    /// The identity under which the ledger knows the open table.
    pub fn identity(&self) -> Option<DatasetId> {
        self.identity.as_ref()?.as_ref().ok().copied()
    }

    /// Why the ledger does not know the open table.
    pub fn no_identity(&self) -> Problem {
        match &self.identity {
            Some(Err(problem)) => problem.clone(),
            _ => Problem::plain(
                Area::Ledger,
                message!(
                    "say-no-identity",
                    "the open table has no identity in the ledger; open it again"
                ),
            ),
        }
    }

    /// Reads anew what the ledger says of the open table.
    pub fn refresh_budget(&mut self, ledger: &LedgerHandle) {
        let Some(dataset) = &mut self.current else { return };
        let dataset = Arc::make_mut(dataset);
        let Some(Ok(identity)) = self.identity else {
            dataset.budget = None;
            dataset.may_be_version_of = Vec::new();
            return;
        };
        dataset.budget = ledger.budget(identity).ok();
        let mut versions = if self.is_separate {
            Vec::new()
        } else {
            // A ledger that cannot be read spends nothing, so there is nothing to ask either.
            ledger
                .may_be_version_of(identity, dataset.name.clone())
                .unwrap_or_default()
        };
        if dataset.schema.public {
            // Teaching data has no cap to carry over, unless one was set on purpose.
            versions.retain(|known| known.has_total);
        }
        dataset.may_be_version_of = versions;
    }

    /// Whether budget may be spent on the open table: not before it is known whose budget that is.
    ///
    /// # Errors
    /// When a known data set may continue in this table and nobody has said whether it does.
    pub fn whose_budget(&self) -> Result<(), Problem> {
        let Some(dataset) = &self.current else {
            return Ok(());
        };
        match dataset.may_be_version_of.as_slice() {
            [] => Ok(()),
            [newest, ..] => Err(Problem::plain(
                Area::Ledger,
                message!(
                    "say-version-open",
                    "the ledger knows a data set {number} named `{name}` with other content: say first whether this \
                     table is a new version of it, which continues its budget, or a data set of its own (nothing was \
                     spent)",
                    number = newest.number,
                    name = newest.name
                ),
            )),
        }
    }

    /// The schema's file is as the schema.
    pub fn mark_saved(&mut self) {
        if let Some(dataset) = &mut self.current {
            Arc::make_mut(dataset).schema_changed = false;
        }
    }

    pub(super) fn set_schema(&mut self, schema: Schema) {
        let Some(dataset) = &mut self.current else { return };
        self.schema_revision += 1;
        let dataset = Arc::make_mut(dataset);
        dataset.open = schema.open_columns();
        dataset.schema = Arc::new(schema);
        dataset.schema_changed = true;
    }
}

impl Coordinator {
    pub(super) fn open(&mut self, source: DataSource) {
        self.dataset.cancel_load();
        self.dataset.generation += 1;
        let name = match &source {
            DataSource::File { path, .. } => path
                .file_name()
                .unwrap_or(path.as_os_str())
                .to_string_lossy()
                .into_owned(),
            DataSource::Sample(id) => (*id).to_owned(),
        };
        let progress = Progress::default();
        let stage = StageCell::default();
        let generation = self.dataset.generation;
        self.dataset.load = Some(Load {
            generation,
            name,
            progress: progress.clone(),
            stage: stage.clone(),
        });
        let _ = self.tasks.send(Task::Load {
            generation,
            source,
            progress,
            stage,
        });
    }

    pub(super) fn close(&mut self) {
        self.dataset.current = None;
        self.dataset.identity = None;
        self.plan.forget();
        self.explore.forget();
        self.nearest.forget();
    }

    pub(super) fn load_ended(&mut self, generation: u64, end: LoadEnd) {
        if self
            .dataset
            .load
            .as_ref()
            .is_none_or(|load| load.generation != generation)
        {
            return;
        }
        self.dataset.load = None;
        match end {
            LoadEnd::Cancelled => self.tell(EngineEvent::LoadCancelled),
            LoadEnd::Failed(problem) => self.fail(problem),
            LoadEnd::Loaded(loaded) => self.loaded(generation, *loaded),
        }
    }

    fn loaded(&mut self, generation: u64, loaded: Loaded) {
        let identity = self
            .ledger
            .identify(loaded.table.content_digest(), loaded.table.columns_digest())
            .map_err(|error| Problem::new(Area::Ledger, &error));
        let (name, rows) = (loaded.name.clone(), loaded.table.rows());
        let ledger_problem = identity.as_ref().err().cloned();
        self.dataset.identity = Some(identity);
        self.dataset.current = Some(Arc::new(Dataset {
            generation,
            name: loaded.name,
            path: loaded.path,
            schema_changed: loaded.schema_path.is_none(),
            schema_path: loaded.schema_path,
            open: loaded.schema.open_columns(),
            misfit: loaded.misfit,
            images: loaded.images,
            image_options: loaded.image_options,
            table: loaded.table,
            schema: Arc::new(loaded.schema),
            summaries: Arc::new(loaded.summaries),
            warnings: Arc::new(loaded.warnings),
            budget: None,
            may_be_version_of: Vec::new(),
        }));
        self.dataset.is_separate = false;
        self.dataset.schema_revision += 1;
        self.plan.forget();
        self.explore.forget();
        self.nearest.forget();
        self.refresh_ledger();
        for message in loaded.notes {
            self.tell(EngineEvent::Warning {
                run: None,
                area: Area::Load,
                message,
            });
        }
        self.tell(EngineEvent::Opened { name, rows });
        self.opened_for_run(generation);
        if let Some(problem) = ledger_problem {
            self.fail(problem);
        }
    }

    /// Takes a person's answer to "new version of …?".
    pub(super) fn answer_new_version(&mut self, of: Option<u64>) {
        let Some(dataset) = self.dataset.current() else {
            return self.fail(Problem::plain(
                Area::Ledger,
                message!(
                    "say-version-no-table",
                    "open a table before saying what it is a new version of"
                ),
            ));
        };
        let name = dataset.name.clone();
        let outcome = match (of, self.dataset.identity()) {
            (None, _) => {
                self.dataset.is_separate = true;
                Ok(())
            }
            (Some(_), None) => Err(self.dataset.no_identity()),
            (Some(of), Some(identity)) => self
                .ledger
                .continue_budget(identity, of, name)
                .map_err(|error| Problem::new(Area::Ledger, &error)),
        };
        self.refresh_ledger();
        if let Err(problem) = outcome {
            self.fail(problem);
        }
    }
}
