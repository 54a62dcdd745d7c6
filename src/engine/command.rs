//! What a window or a command line may ask of the engine.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::data::image::ImageOptions;
use crate::data::{Bound, Kind, ReadOptions, Scale, Schema, Unit};
use crate::engine::meaning::MeaningQuestion;
use crate::engine::session::Session;
use crate::engine::settings::{Language, Settings};
use crate::engine::several::SeveralRequest;
use crate::num::Epsilon;
use crate::privacy::{AccountantKind, Neighboring};
use crate::release::ReleaseRequest;
use crate::release::outlook::Question;
pub use crate::train::Condition;
use crate::train::image::{ImageMethod, ImageSettings};
use crate::train::pairs::{PairPlan, PairSettings, TableRelease};
use crate::train::{DeviceKind, RunSettings, TrainSettings};

/// Identifies a training run for as long as the program is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(pub u64);

impl std::fmt::Display for RunId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "run {}", self.0)
    }
}

/// Where the schema of a file comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SchemaSource {
    /// `NAME.schema.toml` beside the file when it exists; otherwise one is inferred for review.
    #[default]
    Beside,
    /// Inferred for review, whatever lies beside the file.
    Inferred,
    /// This file.
    File(PathBuf),
    /// The one that this recipe file holds.
    Recipe(PathBuf),
}

/// Where a table or images come from.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one for a file that is opened")]
pub enum DataSource {
    /// A file with a table, or a file or folder with images: what lies there tells which.
    File {
        /// The file or folder.
        path: PathBuf,
        /// How to read a table; the defaults find delimiter and kind by themselves.
        options: ReadOptions,
        /// How to read images: what is declared of them.
        images: ImageOptions,
        /// Where its schema comes from. Without one, what is declared of images is all that is known of them.
        schema: SchemaSource,
    },
    /// A table that ships with the program, by its [`id`](crate::data::samples::Sample::id).
    Sample(&'static str),
}

/// A change to one column of the schema under review.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnEdit {
    /// Another kind.
    Kind(Kind),
    /// How dates, times or numbers are spelled in text; `None` for the usual way. Bounds that were only suggested are
    /// suggested anew.
    Format(Option<String>),
    /// A public lower bound, typed by a person: the column becomes `declared` once both bounds are.
    Lower(Bound),
    /// A public upper bound, typed by a person.
    Upper(Bound),
    /// The scale on which numbers are encoded.
    Scale(Scale),
    /// A public domain, typed by a person.
    Domain(Vec<String>),
    /// Whether cells may be missing.
    Missing(bool),
    /// A text by which cells are missing, in every column; those of this one may be from now on.
    MissingSpelling(String),
    /// Lets a suggestion stand. It becomes `accepted` and is listed as not protected, never `declared`.
    AcceptSuggestion,
    /// Takes an acceptance back: the column is open again.
    WithdrawAcceptance,
}

/// A change to the schema that is not about one column.
#[derive(Clone, Debug, PartialEq)]
pub enum SchemaEdit {
    /// A change to the column of this name.
    Column {
        /// The column's name.
        name: String,
        /// The change.
        edit: ColumnEdit,
    },
    /// Lets every open suggestion stand, each listed as not protected.
    AcceptAllSuggestions,
    /// Lets the way in which the file is read stand as it was found, listed as not protected.
    AcceptForm,
    /// The class column by which marginals are split, or none.
    Label(Option<String>),
    /// Whom one unit of privacy protects: a person with some rows, or one row.
    Unit(Option<Unit>),
    /// The row count, declared as public knowledge, or private again.
    Rows(Option<u64>),
    /// Marks the data as teaching data: spends are recorded, no cap applies.
    Public(bool),
}

/// The method of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// A GAN whose critic is trained by DP-SGD.
    Dpgan,
    /// The same networks without noise or clipping, for comparison: no DP claim.
    Gan,
    /// A generator that follows one noisy mean embedding.
    DpMerf,
    /// A generator that follows noisy counts of pairs of a table's columns.
    Gem,
    /// A Wasserstein GAN with a gradient penalty, on images, for comparison: no DP claim.
    WganGp,
}

impl Method {
    /// Every method, in the order in which they are offered.
    pub const ALL: [Self; 5] = [Self::Dpgan, Self::Gem, Self::DpMerf, Self::Gan, Self::WganGp];

    /// The methods that learn from tables, the one to begin with first.
    pub const FOR_TABLES: [Self; 4] = [Self::Dpgan, Self::Gem, Self::DpMerf, Self::Gan];

    /// The methods that learn from images, the one to begin with first.
    pub const FOR_IMAGES: [Self; 4] = [Self::DpMerf, Self::Dpgan, Self::Gan, Self::WganGp];

    /// The name used on the command line, in recipes and in the ledger.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dpgan => "dpgan",
            Self::Gan => "gan",
            Self::DpMerf => "dp-merf",
            Self::Gem => "gem",
            Self::WganGp => "wgan-gp",
        }
    }

    /// How the method learns from images; `None` for one that does not.
    pub const fn on_images(self) -> Option<ImageMethod> {
        match self {
            Self::DpMerf => Some(ImageMethod::MeanEmbedding),
            Self::Dpgan | Self::Gan => Some(ImageMethod::Gan),
            Self::WganGp => Some(ImageMethod::GanWithPenalty),
            Self::Gem => None,
        }
    }

    /// What the method releases of a table at its one look; `None` for one that steps a critic, or knows no tables.
    pub const fn release(self) -> Option<TableRelease> {
        match self {
            Self::Gem => Some(TableRelease::Pairs),
            Self::DpMerf => Some(TableRelease::MeanEmbedding),
            Self::Dpgan | Self::Gan | Self::WganGp => None,
        }
    }

    /// The accountant that the method's plans are made with.
    pub const fn accountant(self, on_images: bool) -> AccountantKind {
        match (self.on_images(), self.release()) {
            (Some(method), _) if on_images => method.accountant(),
            (_, Some(_)) => PairPlan::ACCOUNTANT,
            _ => AccountantKind::Rdp,
        }
    }

    /// The settings to start from, of the kind that the method has on images or on a table.
    pub fn settings(self, on_images: bool) -> RunSettings {
        match (self.release(), self.on_images()) {
            (_, Some(method)) if on_images => RunSettings::Images(ImageSettings::recommended(method, None)),
            (Some(release), _) => RunSettings::Pairs(PairSettings::recommended(release)),
            _ => RunSettings::Table(TrainSettings::default()),
        }
    }

    /// Whether the method spends privacy budget.
    pub fn is_private(self) -> bool {
        matches!(self, Self::Dpgan | Self::DpMerf | Self::Gem)
    }
}

/// The promise that a run must keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrivacyTarget {
    /// ε in nats. Not validated here: the plan says what is wrong with it.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// The neighbouring relation of the promise.
    pub neighboring: Neighboring,
}

impl Default for PrivacyTarget {
    fn default() -> Self {
        Self {
            epsilon: 1.0,
            delta: 1e-5,
            neighboring: Neighboring::AddRemoveOne,
        }
    }
}

/// All that a run needs beside the data.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRequest {
    /// The method.
    pub method: Method,
    /// The promise; `None` for methods without one.
    pub target: Option<PrivacyTarget>,
    /// Settings for the kind of data; `None` takes the recommended ones for this data and ε.
    pub settings: Option<RunSettings>,
    /// Single settings to change afterwards, as key and value.
    pub overrides: Vec<(String, String)>,
    /// Where tensors live.
    pub device: DeviceKind,
    /// A fixed seed, for teaching and tests: marks every output "not private".
    pub seed: Option<u64>,
    /// Whether somebody may see private figures of the run (losses, distances, histograms) while it trains. The
    /// certificate says so then. The safe answer is yes, and only a caller that shows none may say no.
    pub watched: bool,
    /// How often the run's state is kept, so that it can be taken up if the program is cut short; `None` to keep
    /// nothing. Keeping never takes more than a hundredth of the run's time, so a long save makes it rarer.
    pub keep_every: Option<Duration>,
}

/// How often a run's state is kept unless a person says otherwise.
pub const KEEP_EVERY: Duration = Duration::from_secs(30);

impl DataSource {
    /// A file or folder, read as it is found.
    pub fn file(path: PathBuf) -> Self {
        Self::File {
            path,
            options: ReadOptions::default(),
            images: ImageOptions::default(),
            schema: SchemaSource::Beside,
        }
    }
}

impl Default for RunRequest {
    fn default() -> Self {
        Self {
            method: Method::Dpgan,
            target: Some(PrivacyTarget::default()),
            settings: None,
            overrides: Vec::new(),
            device: DeviceKind::Flex,
            seed: None,
            watched: true,
            keep_every: Some(KEEP_EVERY),
        }
    }
}

/// What a person can stand, from which ε follows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bearable {
    /// Noise of the first critic step over the clip norm.
    NoiseMultiplier(f64),
    /// One standard deviation of the noise on each cell of the marginals, in rows.
    MarginalError(f64),
}

/// Which ε a run needs so that its noise is what a person can stand: the plan's inverse.
#[derive(Clone, Debug, PartialEq)]
pub struct EpsilonQuestion {
    /// The run; its ε is what is looked for.
    pub request: RunRequest,
    /// What can be stood.
    pub bearable: Bearable,
}

/// A synthetic table to write.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportRequest {
    /// The finished run whose generator draws the rows.
    pub run: RunId,
    /// How many rows.
    pub rows: usize,
    /// The file; its ending names the format (`.csv`, `.parquet`).
    pub path: PathBuf,
    /// Whether existing files may be replaced.
    pub overwrite: bool,
    /// Only rows whose column has this value.
    pub condition: Option<Condition>,
    /// The language in which the certificate's page opens; it holds every language.
    pub language: Language,
}

/// A private statistic to release.
#[derive(Clone, Debug, PartialEq)]
pub struct ReleaseOrder {
    /// What, of what, and at which price.
    pub request: ReleaseRequest,
    /// A fixed seed, for teaching and tests: marks the result "not private", and nothing is bought by it.
    pub seed: Option<u64>,
}

/// A generated image whose nearest real ones are asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct NearestQuestion {
    /// The run that made it.
    pub run: RunId,
    /// After which step.
    pub step: u64,
    /// Its place among those made then.
    pub place: usize,
    /// Its bytes.
    pub image: Arc<[u8]>,
}

/// What the engine can be asked to do. Commands are carried out in the order in which they are sent.
#[derive(Clone, Debug)]
pub enum Command {
    /// Loads and profiles a table; replaces the one that is open once it has been read whole.
    Open(DataSource),
    /// The same for a file that a person has chosen; if it was reviewed before,
    /// [`ReviewFound`](crate::engine::EngineEvent::ReviewFound) says so, and nothing is read.
    OpenFile(PathBuf),
    /// Gives up the load in progress; the open table stays.
    CancelLoad,
    /// Closes the table. Runs go on.
    Close,
    /// Changes the schema under review.
    EditSchema(SchemaEdit),
    /// Puts an earlier state of the schema under review back: a change is taken back, or made again.
    RestoreSchema(Arc<Schema>),
    /// Writes the schema as `NAME.schema.toml` beside the data, or to this path.
    SaveSchema(Option<PathBuf>),
    /// Works out what a run with these settings would be and cost; the latest request wins.
    PreviewPlan(Box<RunRequest>),
    /// Looks for the ε at which a run's noise is what a person can stand; the latest question wins.
    FindEpsilon(Box<EpsilonQuestion>),
    /// Reads the rows for a preview of a statistic, for the steward only; the latest question wins. Nothing is spent.
    Explore(Box<Question>),
    /// Looks for the real images nearest to a generated one, for the steward only; the latest question wins.
    FindNearest(Box<NearestQuestion>),
    /// Works out what several questions alike would cost together, by privacy loss distributions; the latest wins.
    ComposeSeveral(Box<SeveralRequest>),
    /// Reserves the budget and starts training.
    Start(Box<RunRequest>),
    /// Opens the data of a run that was cut short and goes on with it, by its name: see
    /// [`Interrupted`](crate::engine::Interrupted).
    TakeUp {
        /// Its name.
        id: String,
        /// Another device; none for the one that it had.
        device: Option<DeviceKind>,
        /// Whether somebody may see private figures of it from here on: see [`RunRequest::watched`].
        watched: bool,
    },
    /// Throws away what is kept of a run that was cut short. What it may have done stays charged; what it reserved beyond
    /// that is free again.
    Abandon(String),
    /// Holds a run after the step that it is in.
    Pause(RunId),
    /// Lets a paused run go on.
    Resume(RunId),
    /// Ends a run after the step that it is in. The whole plan stays charged.
    Stop(RunId),
    /// Ends a run after the step that it is in and throws away all that came of it: nothing is kept, nothing is
    /// charged, and the number of such runs stands on later certificates.
    Discard(RunId),
    /// Gives a run another name; an empty one brings its own back.
    Rename(RunId, String),
    /// Removes a finished run from the list (its ledger entry stays).
    Forget(RunId),
    /// Writes a synthetic table, its certificate, its recipe and its generator.
    Export(Box<ExportRequest>),
    /// Gives up the export in progress; nothing is left behind.
    CancelExport,
    /// Writes a figure of the window, whole or not at all.
    SaveFigure {
        /// The file.
        path: PathBuf,
        /// Its content.
        content: Arc<Vec<u8>>,
        /// Whether an existing file may be replaced.
        overwrite: bool,
    },
    /// Writes the statistics released in this session as a table, whole or not at all: CSV or Parquet by the ending.
    SaveReleases {
        /// The file.
        path: PathBuf,
        /// Whether an existing file may be replaced.
        overwrite: bool,
    },
    /// Answers of which known data set the open table is a new version, by its number in the ledger: it
    /// continues its budget from then on. `None` makes it a data set of its own.
    AnswerNewVersion(Option<u64>),
    /// Reserves the price of a private statistic, computes it and settles. What is bought for the schema is
    /// written into it, and into its file unless the schema has other changes that are not saved.
    Release(Box<ReleaseOrder>),
    /// Sets the open data set's total budget.
    SetTotal {
        /// The total ε.
        epsilon: Epsilon,
        /// The total δ.
        delta: f64,
        /// Why.
        reason: String,
    },
    /// Works out what a data set's account comes to; the latest question wins.
    Weigh(Box<MeaningQuestion>),
    /// Reads the whole chain of the ledger afresh.
    CheckLedger,
    /// Reads a session's file; what becomes of it is told by an event.
    OpenSession(PathBuf),
    /// Keeps the present work, to be taken up when the program is started again.
    KeepSession(Box<Session>),
    /// Keeps the person's settings.
    SaveSettings(Box<Settings>),
}
