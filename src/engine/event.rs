//! What happened, in order: a bounded queue of which nothing is dropped.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use crate::engine::command::RunId;
use crate::engine::session::Session;
use crate::engine::snapshot::Released;
use crate::engine::told;
use crate::export::Written;
use crate::export::certificate::Records;
use crate::num::Message;
use crate::privacy::ledger::EntryId;
use crate::train::StopReason;

/// Something that a person must be told: what failed, and every cause behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The part of the work that failed.
    pub area: Area,
    /// The message: which file, row or column, what was expected, what to do.
    pub message: Message,
    /// The causes behind the message, outermost first.
    pub causes: Vec<Message>,
}

impl Problem {
    /// Takes the message and the chain of causes of an error.
    pub fn new(area: Area, error: &(dyn Error + 'static)) -> Self {
        let mut causes = Vec::new();
        let mut next = error.source();
        while let Some(cause) = next {
            causes.push(told::message(cause));
            next = cause.source();
        }
        Self {
            area,
            message: told::message(error),
            causes,
        }
    }

    /// A problem that has no error behind it.
    pub fn plain(area: Area, message: impl Into<Message>) -> Self {
        Self {
            area,
            message: message.into(),
            causes: Vec::new(),
        }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.message.fmt(formatter)
    }
}

/// The part of the work that an event or a problem belongs to; the window titles messages by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// Loading and profiling a file.
    Load,
    /// The schema under review.
    Schema,
    /// Planning and training.
    Train,
    /// Writing files.
    Export,
    /// Private statistics.
    Release,
    /// Writing a figure.
    Figure,
    /// The ledger.
    Ledger,
    /// Settings and recent files.
    Settings,
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum EngineEvent {
    /// A table was read whole and is open now.
    Opened {
        /// Its name as shown.
        name: String,
        /// Its rows (steward only unless declared).
        rows: usize,
    },
    /// A session's file was read.
    SessionOpened(Box<Session>),
    /// The file that is to be opened was worked on before: its review and its plan are kept.
    ReviewFound(Box<Session>),
    /// The load in progress was given up at the person's wish.
    LoadCancelled,
    /// The schema was written.
    SchemaSaved(PathBuf),
    /// A run's budget is reserved and its first step is next.
    Started {
        /// The run.
        run: RunId,
        /// The reservation in the ledger; `None` for runs without a promise.
        ledger_entry: Option<EntryId>,
    },
    /// Something that does not stop the work but that the person should know.
    Warning {
        /// The run, if it concerns one.
        run: Option<RunId>,
        /// The part of the work.
        area: Area,
        /// The message.
        message: Message,
    },
    /// A run ended and its generator can be used.
    Finished {
        /// The run.
        run: RunId,
        /// Why it ended.
        reason: StopReason,
    },
    /// A run ended without a result. What it reserved stays charged.
    RunFailed {
        /// The run.
        run: RunId,
        /// Why.
        problem: Problem,
    },
    /// A run ended before its time, to be taken up later.
    Left {
        /// The run.
        run: RunId,
    },
    /// What was kept of a run that was cut short is thrown away.
    Abandoned(String),
    /// A synthetic table and the files beside it were written.
    Exported(Box<Exported>),
    /// A figure was written.
    FigureSaved(PathBuf),
    /// The export was given up at the person's wish; nothing is left.
    ExportCancelled,
    /// The file is there already; ask before replacing it.
    TargetExists(PathBuf),
    /// A private statistic was computed and charged.
    Released(Arc<Released>),
    /// A private statistic was refused, or failed. If it failed after its price was reserved, that stays charged.
    ReleaseFailed(Problem),
    /// Something failed.
    Failed(Problem),
}

/// The files of one export.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The run whose generator drew the rows.
    pub run: RunId,
    /// The synthetic table.
    pub table: PathBuf,
    /// Its hash, size and rows.
    pub written: Written,
    /// What its records are.
    pub records: Records,
    /// The certificate beside it.
    pub certificate: PathBuf,
    /// The certificate as a page to print.
    pub certificate_page: PathBuf,
    /// The recipe beside it.
    pub recipe: PathBuf,
    /// The generator beside it, for `sample`.
    pub generator: PathBuf,
    /// ε as the certificate states it; `None` without a promise.
    pub epsilon: Option<f64>,
    /// The certificate's verdict, in words.
    pub verdict: String,
    /// Whether it is a promise.
    pub is_claim: bool,
}
