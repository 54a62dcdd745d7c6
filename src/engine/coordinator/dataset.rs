//! The open table, its schema under review, and the load in progress.

use std::path::PathBuf;
use std::sync::Arc;

use crate::data::{Column, Provenance, RowCount, Schema};
use crate::engine::command::{ColumnEdit, DataSource, SchemaEdit};
use crate::engine::coordinator::Coordinator;
use crate::engine::event::{Area, EngineEvent, Problem};
use crate::engine::ledger_thread::LedgerHandle;
use crate::engine::loader::{LoadEnd, Loaded, Reading, StageCell, Task};
use crate::engine::snapshot::{Dataset, Loading};
use crate::export::check_not_input;
use crate::message;
use crate::num::Progress;
use crate::privacy::ledger::DatasetId;

/// Names that are told of a list.
const MOST_NAMES: usize = 8;

/// The first names of a list.
fn named(names: &[String]) -> String {
    match names {
        [] => "–".to_owned(),
        names if names.len() <= MOST_NAMES => names.join(", "),
        names => format!("{}, … ({})", names[..MOST_NAMES].join(", "), names.len()),
    }
}

#[derive(Default)]
pub(super) struct DatasetState {
    current: Option<Arc<Dataset>>,
    /// The keyed identity of the open table's content, or why there is none.
    identity: Option<Result<DatasetId, Problem>>,
    load: Option<Load>,
    /// Whether a person has said that the open table is no new version of a known data set.
    is_separate: bool,
    /// Counts up with each load, so that answers about an earlier table are dropped.
    generation: u64,
    /// Counts up with each change of the schema, so that only the newest check counts.
    schema_revision: u64,
    checking: bool,
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

    fn set_schema(&mut self, schema: Schema) {
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

    pub(super) fn edit_schema(&mut self, edit: SchemaEdit) {
        let Some(dataset) = self.dataset.current() else {
            return self.fail(Problem::plain(
                Area::Schema,
                message!(
                    "say-schema-no-table",
                    "there is no open table whose schema could be changed"
                ),
            ));
        };
        // Another reading needs suggestions read off the rows, which the loader finds; the rest is done at once.
        let change = match &edit {
            SchemaEdit::Column {
                name,
                edit: ColumnEdit::Kind(kind),
            } => Some((name, Reading::Kind(*kind))),
            SchemaEdit::Column {
                name,
                edit: ColumnEdit::Format(format),
            } => Some((name, Reading::Format(format.clone()))),
            _ => None,
        };
        if let Some((name, change)) = change {
            let task = Task::Reprofile {
                generation: dataset.generation,
                table: dataset.table.clone(),
                schema: Arc::clone(&dataset.schema),
                column: name.clone(),
                change,
            };
            let _ = self.tasks.send(task);
            return;
        }
        let mut schema = (*dataset.schema).clone();
        let was_public = schema.public;
        match apply(&mut schema, edit) {
            Ok(()) => {
                let is_public = schema.public;
                self.replace_schema(schema);
                if is_public != was_public {
                    self.refresh_ledger();
                }
            }
            Err(problem) => self.fail(problem),
        }
    }

    /// Puts an earlier schema of the open table back. If its columns have changed since, what was reviewed of those that are
    /// still there comes back, and the rest is told; one of another table changes nothing.
    pub(super) fn restore_schema(&mut self, schema: &Schema) {
        let Some(dataset) = self.dataset.current() else {
            return;
        };
        if *schema == *dataset.schema {
            return;
        }
        let Some((reviewed, changes)) = dataset.schema.reviewed_as(schema) else {
            return self.fail(Problem::plain(
                Area::Schema,
                message!(
                    "schema-other-columns",
                    "the schema that was kept has other columns than this table; the table's own is used"
                ),
            ));
        };
        let was_public = dataset.schema.public;
        let is_public = reviewed.public;
        self.replace_schema(reviewed);
        if is_public != was_public {
            self.refresh_ledger();
        }
        if !changes.gone.is_empty() || !changes.new.is_empty() {
            self.tell(EngineEvent::Warning {
                run: None,
                area: Area::Schema,
                message: message!(
                    "schema-columns-changed",
                    "the table's columns have changed since its schema was reviewed; gone: {gone}; new, to be reviewed: {new}",
                    gone = named(&changes.gone),
                    new = named(&changes.new)
                ),
            });
        }
    }

    pub(super) fn replace_schema(&mut self, schema: Schema) {
        self.dataset.set_schema(schema);
        self.check_schema();
        // The plan that is shown was made for another schema: work it out anew.
        if let Some(shown) = self.plan.shown() {
            self.preview_plan(Box::new(shown.request.clone()));
        }
    }

    fn check_schema(&mut self) {
        if self.dataset.checking {
            return;
        }
        if let Some(dataset) = &self.dataset.current {
            self.dataset.checking = true;
            let task = Task::Check {
                generation: dataset.generation,
                revision: self.dataset.schema_revision,
                table: dataset.table.clone(),
                schema: Arc::clone(&dataset.schema),
            };
            let _ = self.tasks.send(task);
        }
    }

    pub(super) fn checked(&mut self, generation: u64, revision: u64, misfit: Option<Problem>) {
        self.dataset.checking = false;
        if revision != self.dataset.schema_revision {
            return self.check_schema();
        }
        if let Some(dataset) = &mut self.dataset.current
            && dataset.generation == generation
        {
            Arc::make_mut(dataset).misfit = misfit;
        }
    }

    pub(super) fn reprofiled(&mut self, generation: u64, suggestion: Result<Column, Problem>) {
        let Some(dataset) = self
            .dataset
            .current()
            .filter(|dataset| dataset.generation == generation)
        else {
            return;
        };
        let mut schema = (*dataset.schema).clone();
        match suggestion {
            Ok(column) => {
                if let Some(place) = schema.column.iter_mut().find(|known| known.name == column.name) {
                    *place = column;
                }
                self.replace_schema(schema);
            }
            Err(problem) => self.fail(problem),
        }
    }

    pub(super) fn save_schema(&mut self, path: Option<PathBuf>) {
        let Some(dataset) = self.dataset.current() else {
            return self.fail(Problem::plain(
                Area::Schema,
                message!(
                    "say-save-no-table",
                    "there is no open table whose schema could be saved"
                ),
            ));
        };
        let target = path
            .or_else(|| dataset.schema_path.clone())
            .or_else(|| dataset.path.as_deref().map(Schema::path_beside));
        let Some(target) = target else {
            return self.fail(Problem::plain(
                Area::Schema,
                message!(
                    "say-save-sample",
                    "this table ships with the program and has no folder; name a file for its schema"
                ),
            ));
        };
        let data: Vec<_> = dataset.path.as_deref().into_iter().collect();
        if let Err(error) = check_not_input(std::slice::from_ref(&target), &data) {
            return self.fail(Problem::new(Area::Schema, &error));
        }
        match dataset.schema.save(&target) {
            Ok(()) => {
                if let Some(dataset) = &mut self.dataset.current {
                    let dataset = Arc::make_mut(dataset);
                    dataset.schema_changed = false;
                    dataset.schema_path = Some(target.clone());
                }
                self.tell(EngineEvent::SchemaSaved(target));
            }
            Err(error) => self.fail(Problem::new(Area::Schema, &error)),
        }
    }
}

/// Makes a change to the schema.
fn apply(schema: &mut Schema, edit: SchemaEdit) -> Result<(), Problem> {
    match edit {
        SchemaEdit::Column { name, edit } => {
            let Some(column) = schema.find_mut(&name) else {
                return Err(Problem::plain(
                    Area::Schema,
                    message!(
                        "say-no-column",
                        "the schema has no column `{column}`",
                        column = name
                    ),
                ));
            };
            edit_column(column, edit);
            Ok(())
        }
        SchemaEdit::AcceptAllSuggestions => {
            schema.accept_suggestions();
            Ok(())
        }
        SchemaEdit::AcceptForm => {
            schema.accept_form();
            Ok(())
        }
        SchemaEdit::Label(label) => {
            schema.label = label;
            Ok(())
        }
        SchemaEdit::Unit(unit) => {
            schema.unit = unit;
            // The column that tells persons apart takes no part itself.
            if schema
                .unit
                .as_ref()
                .is_some_and(|unit| Some(&unit.column) == schema.label.as_ref())
            {
                schema.label = None;
            }
            Ok(())
        }
        SchemaEdit::Rows(rows) => {
            schema.rows = rows.map(|value| RowCount {
                value,
                provenance: Provenance::Declared,
            });
            Ok(())
        }
        SchemaEdit::Public(public) => {
            schema.public = public;
            Ok(())
        }
    }
}

fn edit_column(column: &mut Column, edit: ColumnEdit) {
    match edit {
        // The loader carries these two out, with suggestions read off the rows.
        ColumnEdit::Kind(kind) => column.set_kind(kind),
        ColumnEdit::Format(format) => column.format = format,
        ColumnEdit::Lower(bound) => column.type_lower(bound),
        ColumnEdit::Upper(bound) => column.type_upper(bound),
        ColumnEdit::Scale(scale) => column.scale = scale,
        ColumnEdit::Domain(domain) => column.declare_domain(domain),
        ColumnEdit::Missing(missing) => column.missing = missing,
        ColumnEdit::AcceptSuggestion => {
            column.accept_suggestion();
        }
        ColumnEdit::WithdrawAcceptance => {
            column.withdraw_acceptance();
        }
    }
}
