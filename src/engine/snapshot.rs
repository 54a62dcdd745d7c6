//! The latest state of everything, as bulk: replaced whole at most ten times a second, the latest wins.

use std::path::PathBuf;
use std::sync::Arc;

use crate::data::image::{ImageOptions, ImageSet, image_files};
use crate::data::{ColumnSummary, OpenColumn, ProfileWarning, Schema, Table};
use crate::engine::advice::Advice;
use crate::engine::command::{EpsilonQuestion, Method, NearestQuestion, PrivacyTarget, RunId, RunRequest};
use crate::engine::event::Problem;
use crate::engine::explore::Explored;
use crate::engine::interrupted::Interrupted;
use crate::engine::meaning::MeaningAnswer;
use crate::engine::several::Composed;
use crate::evaluate::image::{LiveFigures, Neighbour};
use crate::export::certificate::{Guarantee, NotAccounted, NotProtected, Records};
use crate::num::{Message, StewardOnly};
use crate::privacy::ledger::{Budget, DatasetId, DatasetSummary, Entry, EntryId, PrivacyUnit};
use crate::privacy::{EventList, Neighboring};
use crate::release::{Answer, Noise, ReleaseRequest};
use crate::train::image::ImageGrid;
use crate::train::{ColumnHistogram, DeviceKind, PlanSummary, StopReason};

/// Everything that a frame draws from.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Counts up with each change, so that a reader can tell whether anything is new.
    pub revision: u64,
    /// The load in progress.
    pub loading: Option<Loading>,
    /// The open table.
    pub dataset: Option<Arc<Dataset>>,
    /// What a run with the settings last asked about would be.
    pub plan: Option<Arc<PlanPreview>>,
    /// What the account last asked about comes to.
    pub meaning: Option<Arc<MeaningAnswer>>,
    /// The ε last looked for.
    pub epsilon: Option<Arc<EpsilonAnswer>>,
    /// All runs of this session, oldest first.
    pub runs: Vec<Arc<RunView>>,
    /// Runs that were cut short and can be taken up, or thrown away.
    pub interrupted: Arc<Vec<Interrupted>>,
    /// The export in progress.
    pub exporting: Option<Exporting>,
    /// The private statistic that is being computed.
    pub releasing: Option<Arc<ReleaseRequest>>,
    /// The private statistics of this session, oldest first.
    pub releases: Vec<Arc<Released>>,
    /// What the rows say to the question last explored (steward only).
    pub explored: Option<Arc<Explored>>,
    /// What several questions cost together, by privacy loss distributions, as last asked.
    pub composed: Option<Arc<Composed>>,
    /// The real images nearest to a generated one, as last asked (steward only).
    pub nearest: Option<Arc<NearestAnswer>>,
    /// The ledger's entries, oldest first.
    pub ledger: Arc<LedgerView>,
}

impl Snapshot {
    /// The run of this id.
    pub fn run(&self, id: RunId) -> Option<&Arc<RunView>> {
        self.runs.iter().find(|run| run.id == id)
    }
}

/// A private statistic as it was released: free to show and to pass on, unless a fixed seed made its noise.
#[derive(Clone, Debug, PartialEq)]
pub struct Released {
    /// The data set's name.
    pub dataset: String,
    /// What was asked.
    pub request: ReleaseRequest,
    /// The values with their intervals, and how to read them.
    pub answer: Answer,
    /// The mechanism.
    pub noise: Noise,
    /// ε that was charged.
    pub epsilon: f64,
    /// δ that was charged.
    pub delta: f64,
    /// The relation of the promise.
    pub neighboring: Neighboring,
    /// Whose presence is hidden.
    pub unit: PrivacyUnit,
    /// Its entry in the ledger.
    pub ledger_entry: EntryId,
    /// Columns whose bounds or values were read off the rows and let stand: used here, and not protected.
    pub unprotected: Vec<String>,
    /// Whether the data is marked as teaching data: charged, without a cap.
    pub is_teaching_data: bool,
    /// The fixed seed that makes it not private, if any.
    pub seed: Option<u64>,
    /// Whether the schema holds what was bought.
    pub schema_changed: bool,
    /// The schema's file, if it was written.
    pub schema_saved: Option<PathBuf>,
    /// What did not go as it should although the statistic stands.
    pub warning: Option<Message>,
}

/// The real images nearest to a generated one.
#[derive(Clone, Debug)]
pub struct NearestAnswer {
    /// The question that this answers.
    pub question: NearestQuestion,
    /// The opening of the images that it is about: [`Dataset::generation`].
    pub generation: u64,
    /// The nearest, in order.
    pub real: StewardOnly<Vec<Neighbour>>,
}

/// The ledger as far as this installation knows it.
#[derive(Clone, Debug, Default)]
pub struct LedgerView {
    /// Entries, oldest first.
    pub entries: Vec<Entry>,
    /// Why the ledger cannot be used, if it cannot: nothing may be spent then.
    pub problem: Option<Problem>,
    /// What the last reading of the whole chain found, if it was read since the last entry.
    pub check: Option<LedgerCheck>,
}

/// What a reading of the ledger's whole chain came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerCheck {
    /// How many entries were read.
    pub entries: u64,
    /// What does not fit; empty for a whole chain.
    pub findings: Vec<Message>,
}

/// A load in progress.
#[derive(Clone, Debug)]
pub struct Loading {
    /// The file's name as shown.
    pub name: String,
    /// Reading or profiling.
    pub stage: LoadStage,
    /// The share that is done, 0 to 1; `None` while unknown.
    pub share: Option<f32>,
}

/// What a load is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadStage {
    /// Reading the file.
    Reading,
    /// Inferring a schema for review.
    Profiling,
    /// Holding the schema against the data.
    Checking,
}

/// The open table and its schema under review. Everything in it that was read off rows is steward only.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// Counts up with each table opened.
    pub generation: u64,
    /// The name as shown.
    pub name: String,
    /// The file; `None` for the tables that ship with the program.
    pub path: Option<PathBuf>,
    /// Where the schema was read from or saved to.
    pub schema_path: Option<PathBuf>,
    /// Whether the schema has changes that are not saved.
    pub schema_changed: bool,
    /// The images, if it is a set of images (cheap to clone; steward only). The table is that of their labels then.
    pub images: Option<ImageSet>,
    /// How the images were read; the defaults for a table.
    pub image_options: ImageOptions,
    /// The rows, for the preview (cheap to clone; steward only).
    pub table: Table,
    /// The schema under review.
    pub schema: Arc<Schema>,
    /// Used columns that keep training from starting, and why.
    pub open: Vec<OpenColumn>,
    /// Why the schema does not fit the data, if it does not.
    pub misfit: Option<Problem>,
    /// What the profile found of each column (steward only).
    pub summaries: Arc<Vec<ColumnSummary>>,
    /// What the profile warns of.
    pub warnings: Arc<Vec<ProfileWarning>>,
    /// What this data set has spent; `None` when the ledger cannot be used.
    pub budget: Option<Budget>,
    /// Data sets of this name with other content that the ledger knows, newest first, if it does not know this
    /// content. Until a person has said of which the table is a new version, or of none
    /// ([`Command::AnswerNewVersion`](crate::engine::Command::AnswerNewVersion)), nothing is spent on it.
    pub may_be_version_of: Vec<DatasetSummary>,
}

impl Dataset {
    /// The files that it was read from: what nothing may be written over.
    pub fn files(&self) -> Vec<PathBuf> {
        let data = match (&self.path, &self.images) {
            (Some(path), Some(_)) => image_files(path, &self.image_options),
            (path, _) => path.iter().cloned().collect(),
        };
        data.into_iter().chain(self.schema_path.clone()).collect()
    }
}

/// What a run would be and cost.
#[derive(Clone, Debug)]
pub struct PlanPreview {
    /// The request that this answers.
    pub request: RunRequest,
    /// The plan, or why there is none.
    pub outcome: Result<PlanSummary, Problem>,
    /// Whether a newer request is being worked out.
    pub outdated: bool,
    /// The share of the data set's total that the run would hold; `None` without a total or a promise.
    pub share: Option<f64>,
    /// The method to begin with on such a table at this ε; `None` for images and without a promise.
    pub advice: Option<Advice>,
    /// All that the run may do; `None` without a promise.
    pub events: Option<Arc<EventList>>,
}

/// The ε that a person's wish comes to.
#[derive(Clone, Debug)]
pub struct EpsilonAnswer {
    /// The question that this answers.
    pub question: EpsilonQuestion,
    /// ε, or why none will do.
    pub outcome: Result<f64, Problem>,
}

/// The state of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum RunState {
    /// Waits for a free core.
    Queued,
    /// Encodes rows and reserves the budget.
    Preparing,
    /// Takes steps.
    Running,
    /// Held by the person.
    Paused,
    /// Ends after its present step.
    Stopping,
    /// Ended with a generator.
    Finished(StopReason),
    /// Ended without one.
    Failed(Problem),
}

impl RunState {
    /// Whether the run still holds a thread or waits for one.
    pub fn is_active(&self) -> bool {
        !matches!(self, Self::Finished(_) | Self::Failed(_))
    }
}

/// A run as it is drawn.
#[derive(Clone, Debug)]
pub struct RunView {
    /// The run.
    pub id: RunId,
    /// What a person calls it; `None` for what it is called by itself.
    pub name: Option<String>,
    /// Its entry in the ledger, once it has one.
    pub entry: Option<EntryId>,
    /// The data set's name.
    pub dataset: String,
    /// The data set's file; `None` for one that ships with the program.
    pub path: Option<PathBuf>,
    /// The ledger's identity of the data set's content; `None` where it has none.
    pub identity: Option<DatasetId>,
    /// The method.
    pub method: Method,
    /// The promise; `None` without one.
    pub target: Option<PrivacyTarget>,
    /// The fixed seed that makes the run not private, if any.
    pub seed: Option<u64>,
    /// Where tensors live.
    pub device: DeviceKind,
    /// Its state.
    pub state: RunState,
    /// The plan.
    pub plan: Option<Arc<PlanSummary>>,
    /// Critic steps done.
    pub step: u64,
    /// Critic steps planned.
    pub steps: u64,
    /// Critic steps a second, over the last seconds.
    pub steps_per_second: f64,
    /// Estimated seconds until the end.
    pub seconds_left: Option<f64>,
    /// Seconds since the first step that it took here, pauses left out.
    pub seconds: f64,
    /// The step at which it was taken up; 0 for one that began here. Its seconds and its rate cover what came after.
    pub taken_up_at: u64,
    /// The critic's loss over steps.
    pub critic_loss: StewardOnly<Series>,
    /// The generator's loss over steps: computed from released quantities only.
    pub generator_loss: Series,
    /// How the critic fares with single examples.
    pub critic: CriticView,
    /// Mean total variation of single columns, as of the last comparison.
    pub total_variation: StewardOnly<Option<f64>>,
    /// Fréchet distance of real and synthetic rows in the encoded space, over steps.
    pub frechet: StewardOnly<Series>,
    /// How many rows of each side the Fréchet distance is taken over.
    pub frechet_samples: usize,
    /// ε spent over steps, at the promise's δ.
    pub epsilon: Series,
    /// ε over the steps still planned, from the present one to the planned end.
    pub epsilon_projected: Series,
    /// Synthetic over real, a histogram a column.
    pub histograms: StewardOnly<Arc<Vec<ColumnHistogram>>>,
    /// A few synthetic rows as of now, formatted: free to show, the run has paid for them.
    pub sample: Arc<SampleRows>,
    /// Generated images over the steps, the last as of now; empty for a table. Free to show.
    pub grids: Arc<Vec<Arc<ImageGrid>>>,
    /// How generated images compared with real ones last, and what they were judged by; `None` for a table. Figures
    /// over steps are in `frechet`.
    pub judged: Option<Arc<LiveFigures>>,
    /// Which opening of a table it learns from: [`Dataset::generation`].
    pub generation: u64,
    /// Whether a person threw it away: nothing of it is drawn any more.
    pub thrown_away: bool,
    /// Whether rows of it were exported in this session.
    pub exported: bool,
    /// What its certificate will say, once it has ended with a generator; or why there can be none.
    pub claims: Option<Result<Arc<RunClaims>, Problem>>,
}

impl RunView {
    /// Whether it has a result that is nowhere but in this program: closed, what it has learned is lost.
    pub const fn is_unexported(&self) -> bool {
        matches!(self.state, RunState::Finished(_)) && !self.exported
    }

    /// Whether another run learns from the same data: files of one name in two folders are not, nor is a file whose
    /// content has changed in between.
    pub fn has_data_of(&self, other: &Self) -> bool {
        self.dataset == other.dataset
            && match (self.identity, other.identity) {
                (Some(one), Some(other)) => one == other,
                _ => self.path == other.path,
            }
    }

    /// Whether the distances of both are over the same features: those of rows and of images are not, nor are those of
    /// images that different extractors look at.
    pub fn has_features_of(&self, other: &Self) -> bool {
        let extractor = |run: &Self| run.judged.as_ref().map(|judged| judged.extractor.clone());
        extractor(self) == extractor(other)
    }
}

/// How a run's critic fares with single examples. Empty without a critic.
#[derive(Clone, Debug, Default)]
pub struct CriticView {
    /// The share of generated examples that it was right about, over steps: computed from released quantities only.
    pub accuracy: Series,
    /// The share of real examples whose gradient was clipped, over steps.
    pub clipped_share: StewardOnly<Series>,
    /// The norms of the gradients of real examples, as last reported.
    pub norms: StewardOnly<Option<Arc<NormHistogram>>>,
}

/// How many gradients of a batch are how long before clipping.
#[derive(Clone, Debug, PartialEq)]
pub struct NormHistogram {
    /// The step.
    pub step: u64,
    /// The width of a bin; the first begins at 0.
    pub width: f64,
    /// Examples in each bin.
    pub counts: Vec<u32>,
    /// The norm to which longer gradients are cut; `None` where nothing is cut.
    pub clip_norm: Option<f64>,
}

/// What the certificates of an ended run's exports say of the run, and what its exports need to know of its own
/// table, whichever is open by then.
#[derive(Clone, Debug, PartialEq)]
pub struct RunClaims {
    /// ε and δ as certificates state them; `None` without a promise.
    pub guarantee: Option<Guarantee>,
    /// The relation of the promise, as it was accounted.
    pub relation: Option<Neighboring>,
    /// Whose presence is hidden.
    pub unit: Option<PrivacyUnit>,
    /// What its records are.
    pub records: Records,
    /// What is not protected.
    pub not_protected: Vec<NotProtected>,
    /// What was done with private figures in view.
    pub not_accounted: Vec<NotAccounted>,
    /// The schema that it learned under.
    pub schema: Arc<Schema>,
    /// The file of its table; `None` for those that ship with the program.
    pub path: Option<PathBuf>,
}

/// Synthetic rows, formatted.
#[derive(Clone, Debug, Default)]
pub struct SampleRows {
    /// Column names.
    pub columns: Vec<String>,
    /// Rows of cells; `None` is missing.
    pub rows: Vec<Vec<Option<String>>>,
}

/// A line of a plot, prepared off the frame: at most about [`SERIES_POINTS`] points.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// `[step, value]`, thinned to the extremes of each stretch of steps.
    pub raw: Arc<Vec<[f64; 2]>>,
    /// The exponentially smoothed line.
    pub smooth: Arc<Vec<[f64; 2]>>,
    /// The last value.
    pub last: Option<f64>,
}

/// How many points a series keeps for drawing.
pub const SERIES_POINTS: usize = 1600;

/// An export in progress.
#[derive(Clone, Debug)]
pub struct Exporting {
    /// The file.
    pub path: PathBuf,
    /// Rows written.
    pub rows: usize,
    /// Rows asked for.
    pub total: usize,
}
