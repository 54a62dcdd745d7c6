//! The thread for loading, profiling, checking and planning: one task after the other, off every frame.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::data::{
    ColumnSummary, Kind, ProfileWarning, Schema, Table, profile, read_table, reprofile_column, samples,
};
use crate::engine::command::{DataSource, RunRequest, SchemaSource};
use crate::engine::coordinator::Note;
use crate::engine::event::{Area, Problem};
use crate::engine::run_job::plan_for;
use crate::num::Progress;
use crate::train::PlanSummary;

/// How many tasks may wait; the coordinator sends a new plan or check only after the last one's answer.
const QUEUE: usize = 64;

/// What the loader may be asked.
pub(super) enum Task {
    /// Read a table and find or infer its schema.
    Load { generation: u64, source: DataSource, progress: Progress },
    /// Hold a schema against the data.
    Check { generation: u64, revision: u64, table: Table, schema: Arc<Schema> },
    /// What the profile would suggest for a column if it were of this kind.
    Reprofile { generation: u64, table: Table, schema: Arc<Schema>, column: String, kind: Kind },
    /// Work out a plan.
    Plan { generation: u64, rows: usize, schema: Arc<Schema>, request: Box<RunRequest> },
}

/// A table that was read whole.
pub(super) struct Loaded {
    pub name: String,
    pub path: Option<PathBuf>,
    pub schema_path: Option<PathBuf>,
    pub table: Table,
    pub schema: Schema,
    pub summaries: Vec<ColumnSummary>,
    pub warnings: Vec<ProfileWarning>,
    pub misfit: Option<Problem>,
}

/// What came of a load.
pub(super) enum LoadEnd {
    Loaded(Box<Loaded>),
    Cancelled,
    Failed(Problem),
}

/// What came of planning.
pub(super) type PlanOutcome = Result<PlanSummary, Problem>;

/// Starts the thread. It ends when the sender is dropped.
pub(super) fn spawn(notes: Sender<Note>) -> std::io::Result<(Sender<Task>, JoinHandle<()>)> {
    let (tasks, inbox) = bounded(QUEUE);
    let thread =
        std::thread::Builder::new().name("loader".into()).spawn(move || serve(&inbox, &notes))?;
    Ok((tasks, thread))
}

fn serve(inbox: &Receiver<Task>, notes: &Sender<Note>) {
    for task in inbox {
        let note = match task {
            Task::Load { generation, source, progress } => {
                let end = super::catching(Area::Load, || Ok(load(&source, &progress)))
                    .unwrap_or_else(LoadEnd::Failed);
                Note::LoadEnded { generation, end }
            }
            Task::Check { generation, revision, table, schema } => {
                let misfit = super::catching(Area::Schema, || check(&schema, &table)).err();
                Note::Checked { generation, revision, misfit }
            }
            Task::Reprofile { generation, table, schema, column, kind } => {
                let suggestion = super::catching(Area::Schema, || {
                    reprofile_column(&table, &schema, &column, kind)
                        .map_err(|error| Problem::new(Area::Schema, &error))
                });
                Note::Reprofiled { generation, suggestion: Box::new(suggestion) }
            }
            Task::Plan { generation, rows, schema, request } => {
                let outcome = super::catching(Area::Train, || {
                    plan_for(&request, &schema, rows).map(|plan| plan.summary())
                });
                Note::Planned { generation, request, outcome: Box::new(outcome) }
            }
        };
        if notes.send(note).is_err() {
            return;
        }
    }
}

fn check(schema: &Schema, table: &Table) -> Result<(), Problem> {
    schema.check(table).map_err(|error| Problem::new(Area::Schema, &error))
}

fn load(source: &DataSource, progress: &Progress) -> LoadEnd {
    match try_load(source, progress) {
        Ok(_) | Err(_) if progress.is_cancelled() => LoadEnd::Cancelled,
        Ok(loaded) => LoadEnd::Loaded(Box::new(loaded)),
        Err(problem) => LoadEnd::Failed(problem),
    }
}

fn try_load(source: &DataSource, progress: &Progress) -> Result<Loaded, Problem> {
    let loading = |error: crate::data::DataError| Problem::new(Area::Load, &error);
    match source {
        DataSource::Sample(id) => {
            let sample = samples::load(*id).map_err(loading)?;
            let profile = profile(&sample.table, progress).map_err(loading)?;
            let misfit = check(&sample.schema, &sample.table).err();
            Ok(Loaded {
                name: sample.name,
                path: None,
                schema_path: None,
                table: sample.table,
                schema: sample.schema,
                summaries: profile.columns,
                warnings: Vec::new(),
                misfit,
            })
        }
        DataSource::File { path, options, schema } => {
            let (schema_path, known) = find_schema(path, schema)?;
            let mut options = options.clone();
            if let Some(schema) = &known {
                options.missing.clone_from(&schema.missing);
            }
            let table = read_table(path, &options, progress).map_err(loading)?;
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
            let profile = profile(&table, progress).map_err(loading)?;
            let (schema, warnings, misfit) = match known {
                Some(schema) => {
                    let misfit = check(&schema, &table).err();
                    (schema, Vec::new(), misfit)
                }
                None => (profile.schema, profile.warnings, None),
            };
            Ok(Loaded {
                name,
                path: Some(path.clone()),
                schema_path,
                table,
                schema,
                summaries: profile.columns,
                warnings,
                misfit,
            })
        }
    }
}

/// The schema file to use, if there is one, and what it says.
fn find_schema(data: &Path, source: &SchemaSource) -> Result<(Option<PathBuf>, Option<Schema>), Problem> {
    let path = match source {
        SchemaSource::Inferred => return Ok((None, None)),
        SchemaSource::File(path) => path.clone(),
        SchemaSource::Beside => {
            let mut full = data.as_os_str().to_owned();
            full.push(".schema.toml");
            let candidates = [schema_path_beside(data), PathBuf::from(full)];
            match candidates.into_iter().find(|path| path.exists()) {
                Some(path) => path,
                None => return Ok((None, None)),
            }
        }
    };
    let schema = Schema::load(&path).map_err(|error| Problem::new(Area::Schema, &error))?;
    Ok((Some(path), Some(schema)))
}

/// `NAME.schema.toml` beside `NAME.csv`.
pub(super) fn schema_path_beside(data: &Path) -> PathBuf {
    data.with_extension("schema.toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_lies_beside_the_data_under_the_same_name() {
        assert_eq!(schema_path_beside(Path::new("a/adult.csv")), Path::new("a/adult.schema.toml"));
    }
}
