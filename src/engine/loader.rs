//! The thread for loading, profiling, checking and planning: one task after the other, off every frame.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::data::image::{ImageOptions, ImageSet, holds_images, read_images};
use crate::data::{
    ColumnSummary, Kind, ProfileWarning, Room, Schema, Table, prepare, profile, read_table, respell_column,
    samples, suggest_column,
};
use crate::engine::advice::Advice;
use crate::engine::command::{DataSource, EpsilonQuestion, RunRequest, SchemaSource};
use crate::engine::coordinator::Note;
use crate::engine::event::{Area, Problem};
use crate::engine::inverse;
use crate::engine::planned::Planned;
use crate::engine::snapshot::{Dataset, EpsilonAnswer, LoadStage, PlanPreview};
use crate::export::Recipe;
use crate::message;
use crate::num::{Message, Progress};
use crate::privacy::ledger::{PrivacyUnit, Total};

/// How many tasks may wait; the coordinator sends a new plan or check only after the last one's answer.
const QUEUE: usize = 64;

/// What the loader may be asked.
pub(super) enum Task {
    /// Read a table and find or infer its schema.
    Load {
        generation: u64,
        source: DataSource,
        progress: Progress,
        stage: StageCell,
    },
    /// Hold a schema against the data.
    Check {
        generation: u64,
        revision: u64,
        table: Table,
        schema: Arc<Schema>,
    },
    /// What the profile would suggest for a column if it were of this kind.
    Reprofile {
        generation: u64,
        table: Table,
        schema: Arc<Schema>,
        column: String,
        /// Another kind, or the same with another format.
        change: Reading,
    },
    /// Work out a plan.
    Plan {
        dataset: Arc<Dataset>,
        request: Box<RunRequest>,
        /// The data set's total, of which the plan takes a share.
        total: Option<Total>,
    },
    /// Find the ε at which a plan's noise is what a person can stand.
    FindEpsilon {
        dataset: Arc<Dataset>,
        question: Box<EpsilonQuestion>,
    },
}

/// Another way to read a column.
pub(super) enum Reading {
    Kind(Kind),
    Format(Option<String>),
}

/// The stage of a load, shared with the coordinator.
#[derive(Clone, Debug, Default)]
pub(super) struct StageCell(Arc<AtomicU8>);

impl StageCell {
    const STAGES: [LoadStage; 3] = [LoadStage::Reading, LoadStage::Profiling, LoadStage::Checking];

    pub fn get(&self) -> LoadStage {
        Self::STAGES[usize::from(self.0.load(Ordering::Relaxed)).min(Self::STAGES.len() - 1)]
    }

    fn set(&self, stage: LoadStage) {
        let place = Self::STAGES
            .iter()
            .position(|known| *known == stage)
            .unwrap_or_default();
        self.0.store(place as u8, Ordering::Relaxed);
    }
}

/// A table that was read whole.
pub(super) struct Loaded {
    pub name: String,
    pub path: Option<PathBuf>,
    pub schema_path: Option<PathBuf>,
    pub images: Option<ImageSet>,
    pub image_options: ImageOptions,
    /// What a person should know of how images were read.
    pub notes: Vec<Message>,
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

/// Starts the thread. It ends when the sender is dropped.
pub(super) fn spawn(home: &Path, notes: Sender<Note>) -> std::io::Result<(Sender<Task>, JoinHandle<()>)> {
    let (tasks, inbox) = bounded(QUEUE);
    let room = Room::beyond_memory_in(home.to_owned());
    let thread = std::thread::Builder::new()
        .name("loader".into())
        .spawn(move || serve(&inbox, &room, &notes))?;
    Ok((tasks, thread))
}

fn serve(inbox: &Receiver<Task>, room: &Room, notes: &Sender<Note>) {
    for task in inbox {
        let note = match task {
            Task::Load {
                generation,
                source,
                progress,
                stage,
            } => {
                let end = super::catching(Area::Load, || Ok(load(&source, room, &progress, &stage)))
                    .unwrap_or_else(LoadEnd::Failed);
                Note::LoadEnded { generation, end }
            }
            Task::Check {
                generation,
                revision,
                table,
                schema,
            } => {
                let misfit =
                    super::catching(Area::Schema, || check(&schema, &table, &Progress::default())).err();
                Note::Checked {
                    generation,
                    revision,
                    misfit,
                }
            }
            Task::Reprofile {
                generation,
                table,
                schema,
                column,
                change,
            } => {
                let suggestion = super::catching(Area::Schema, || {
                    match change {
                        Reading::Kind(kind) => suggest_column(&table, &schema, &column, kind),
                        Reading::Format(format) => respell_column(&table, &schema, &column, format),
                    }
                    .map_err(|error| Problem::new(Area::Schema, &error))
                });
                Note::Reprofiled {
                    generation,
                    suggestion: Box::new(suggestion),
                }
            }
            Task::Plan {
                dataset,
                request,
                total,
            } => {
                let planned = super::catching(Area::Train, || Planned::of(&request, &dataset))
                    .and_then(|plan| adds_up(plan, &dataset));
                let events = planned
                    .as_ref()
                    .ok()
                    .filter(|plan| plan.epsilon().is_some())
                    .map(|plan| Arc::new(plan.events()));
                let share = events
                    .as_ref()
                    .zip(total)
                    .and_then(|(events, total)| total.share_of(events));
                let target = request.target.filter(|_| dataset.images.is_none());
                let advice = target.and_then(|target| Advice::on_table(&dataset.schema, target.epsilon));
                Note::Planned {
                    generation: dataset.generation,
                    preview: Box::new(PlanPreview {
                        request: *request,
                        outcome: planned.map(|plan| plan.summary()),
                        outdated: false,
                        share,
                        advice,
                        events,
                    }),
                }
            }
            Task::FindEpsilon { dataset, question } => {
                let summary =
                    |request: &RunRequest| Planned::of(request, &dataset).map(|plan| plan.summary());
                let outcome = super::catching(Area::Train, || inverse::epsilon_for(&question, summary));
                Note::EpsilonFound {
                    generation: dataset.generation,
                    answer: Box::new(EpsilonAnswer {
                        question: *question,
                        outcome,
                    }),
                }
            }
        };
        if notes.send(note).is_err() {
            return;
        }
    }
}

fn check(schema: &Schema, table: &Table, progress: &Progress) -> Result<(), Problem> {
    schema
        .check(table, progress)
        .map_err(|error| Problem::new(Area::Schema, &error))
}

fn load(source: &DataSource, room: &Room, progress: &Progress, stage: &StageCell) -> LoadEnd {
    match try_load(source, room, progress, stage) {
        Ok(_) | Err(_) if progress.is_cancelled() => LoadEnd::Cancelled,
        Ok(loaded) => LoadEnd::Loaded(Box::new(loaded)),
        Err(problem) => LoadEnd::Failed(problem),
    }
}

fn try_load(
    source: &DataSource,
    room: &Room,
    progress: &Progress,
    stage: &StageCell,
) -> Result<Loaded, Problem> {
    let loading = |error: crate::data::DataError| Problem::new(Area::Load, &error);
    match source {
        DataSource::Sample(id) => {
            let unknown = || {
                Problem::plain(
                    Area::Load,
                    message!("say-no-sample", "no sample table is called `{name}`", name = id),
                )
            };
            let sample = samples::find(id).ok_or_else(unknown)?;
            let table = sample.table(progress).map_err(loading)?;
            let schema = sample.schema().map_err(loading)?;
            stage.set(LoadStage::Profiling);
            let profile = profile(&table, progress).map_err(loading)?;
            stage.set(LoadStage::Checking);
            let misfit = check(&schema, &table, progress).err();
            Ok(Loaded {
                name: table.name().to_owned(),
                path: None,
                schema_path: None,
                images: None,
                image_options: ImageOptions::default(),
                notes: Vec::new(),
                table,
                schema,
                summaries: profile.columns,
                warnings: Vec::new(),
                misfit,
            })
        }
        DataSource::File {
            path, images, schema, ..
        } if holds_images(path) => load_images(path, images, schema, progress, stage),
        DataSource::File {
            path,
            options,
            schema,
            ..
        } => {
            let (schema_path, known) = find_schema(path, schema)?;
            let mut options = options.clone();
            options.room = Arc::new(room.clone());
            if let Some(schema) = &known {
                options.missing.clone_from(&schema.missing);
                options.form = options.form.or(&schema.read.clone().unwrap_or_default());
            }
            let table = read_table(path, &options, progress).map_err(loading)?;
            let read = table.form().to_keep(&options.form, path);
            let name = path
                .file_name()
                .unwrap_or(path.as_os_str())
                .to_string_lossy()
                .into_owned();
            stage.set(LoadStage::Profiling);
            let profile = profile(&table, progress).map_err(loading)?;
            stage.set(LoadStage::Checking);
            let is_known = known.is_some();
            let schema = Schema {
                read,
                ..known.unwrap_or(profile.schema)
            };
            let mut notes = Vec::new();
            let (warnings, misfit) = if is_known {
                // What the schema says needs no advice; what the cells lose by it is told all the same.
                let losses = profile
                    .warnings
                    .into_iter()
                    .filter(|warning| warning.what.is_loss());
                notes.extend(losses.map(|warning| warning.message));
                (Vec::new(), check(&schema, &table, progress).err())
            } else {
                (profile.warnings, None)
            };
            prepare(&table, &schema);
            Ok(Loaded {
                name,
                path: Some(path.clone()),
                schema_path,
                images: None,
                image_options: ImageOptions::default(),
                notes,
                table,
                schema,
                summaries: profile.columns,
                warnings,
                misfit,
            })
        }
    }
}

/// Reads images; their table is that of their labels.
fn load_images(
    path: &Path,
    options: &ImageOptions,
    schema: &SchemaSource,
    progress: &Progress,
    stage: &StageCell,
) -> Result<Loaded, Problem> {
    let loading = |error: crate::data::DataError| Problem::new(Area::Load, &error);
    let (schema_path, known) = find_schema(path, schema)?;
    let images = read_images(path, options, progress).map_err(loading)?;
    let table = images.table().map_err(loading)?;
    stage.set(LoadStage::Profiling);
    let profile = profile(&table, progress).map_err(loading)?;
    stage.set(LoadStage::Checking);
    let mut notes: Vec<Message> = images
        .notes()
        .iter()
        .map(|note| Message::plain(&**note))
        .collect();
    if known.is_none()
        && images
            .labels()
            .is_some_and(|labels| !labels.provenance.is_protected())
    {
        notes.push(message!(
            "image-classes-accepted",
            "the classes' names were read off the data and are listed as not protected; a schema that declares them changes that"
        ));
    }
    let schema = known.unwrap_or_else(|| images.schema());
    let misfit = check(&schema, &table, progress).err();
    Ok(Loaded {
        name: table.name().to_owned(),
        path: Some(path.to_owned()),
        schema_path,
        images: Some(images),
        image_options: options.clone(),
        notes,
        table,
        schema,
        summaries: profile.columns,
        warnings: Vec::new(),
        misfit,
    })
}

/// A plan whose promise adds up with what the data set's total holds: told while it is planned, not by the ledger at
/// its start.
fn adds_up(plan: Planned, dataset: &Dataset) -> Result<Planned, Problem> {
    if plan.epsilon().is_some()
        && let Some(budget) = &dataset.budget
    {
        let unit = PrivacyUnit::from(&*dataset.schema);
        budget
            .check_promise(plan.events().neighboring, &unit)
            .map_err(|error| Problem::new(Area::Ledger, &error))?;
    }
    Ok(plan)
}

/// The schema file to use, if there is one, and what it says.
fn find_schema(data: &Path, source: &SchemaSource) -> Result<(Option<PathBuf>, Option<Schema>), Problem> {
    let path = match source {
        SchemaSource::Inferred => None,
        SchemaSource::File(path) => Some(path.clone()),
        SchemaSource::Recipe(path) => {
            let recipe = Recipe::load(path).map_err(|error| Problem::new(Area::Schema, &error))?;
            let schema = recipe
                .schema(path)
                .map_err(|error| Problem::new(Area::Schema, &error))?;
            return Ok((None, schema));
        }
        SchemaSource::Beside => Schema::find_beside(data),
    };
    let Some(path) = path else { return Ok((None, None)) };
    let schema = Schema::load(&path).map_err(|error| Problem::new(Area::Schema, &error))?;
    Ok((Some(path), Some(schema)))
}
