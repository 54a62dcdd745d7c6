//! What can go wrong with the ledger. Every message names the file and what to do about it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::ErrorCode;
use thiserror::Error;

use super::files::WAIT;
use super::verify::Finding;
use super::{EntryId, PrivacyUnit};
use crate::privacy::{AccountingError, Neighboring};

/// Why the ledger refused. Unless a variant says otherwise, nothing was written and nothing was spent.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// The ledger's owner has gone: the program is ending.
    #[error("the ledger is closed; start the program again")]
    Closed,
    /// The home folder cannot be made or read.
    #[error("the folder {} for the ledger cannot be used; set POINTILLIST_HOME to a folder of your own", .path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The home folder or the ledger is read-only.
    #[error("{} is read-only, so nothing can be charged; make its folder writable, or set POINTILLIST_HOME to another", .path.display())]
    ReadOnly {
        /// The file or folder.
        path: PathBuf,
    },
    /// The disk is full.
    #[error("the disk is full: no space is left for {}; free some space there and try again (nothing was written)", .path.display())]
    NoSpace {
        /// The file.
        path: PathBuf,
    },
    /// Somebody else holds the ledger.
    #[error("{} is in use by another program (a Pointillist window or command, a backup) and was not free for {} s; wait for it or close it, then try again (nothing was spent)", .path.display(), .waited.as_secs())]
    Locked {
        /// The file.
        path: PathBuf,
        /// How long it was waited for.
        waited: Duration,
    },
    /// The ledger was written by a later version of the program.
    #[error("{} has format version {found}, and this program knows versions up to {known}; update the program (nothing was changed)", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// The file is damaged or half written; it was renamed, whole as it was.
    #[error("{} is damaged ({reason}) and was set aside unchanged as {}; copy ledger.sqlite, ledger.head and ledger.key of your newest backup into the folder (nothing is spent until then)", .path.display(), .aside.display())]
    SetAside {
        /// Where the ledger was.
        path: PathBuf,
        /// Its name now.
        aside: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The ledger's file has gone although there was one.
    #[error("{} is missing although this installation kept a ledger{}; copy the ledger.* files of your newest backup into the folder (to start over and forget all that was spent, move every ledger.* file out of it)", .path.display(), aside_hint(.aside.as_deref()))]
    Missing {
        /// Where it should be.
        path: PathBuf,
        /// A damaged ledger that was set aside, if there is one.
        aside: Option<PathBuf>,
    },
    /// The key has gone, so that no data set could be recognised.
    #[error("{} is missing, and without it no data set in the ledger can be recognised; put it back from your backup", .path.display())]
    KeyMissing {
        /// Where it should be.
        path: PathBuf,
    },
    /// The key is not one, or belongs to another ledger.
    #[error("{} does not belong to this ledger ({reason}); put back the key that was backed up with it", .path.display())]
    KeyWrong {
        /// The key file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The chain of entries is not whole.
    #[error("{} is not whole: {}; move every ledger.* file out of the folder and copy those of your newest backup into it (nothing is spent until then)", .path.display(), list(.findings))]
    Broken {
        /// The ledger.
        path: PathBuf,
        /// All that was found.
        findings: Vec<Finding>,
    },
    /// The reservation was written but the file beside it was not. The reservation stays charged.
    #[error("entry {} is charged, but {} could not be written; free space or permissions, then start again", .entry, .path.display())]
    HeadNotWritten {
        /// The last entry written.
        entry: EntryId,
        /// The head file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// Another file of the ledger could not be read or written.
    #[error("{} could not be read or written", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// Another failure of the database.
    #[error("{} could not be used", .path.display())]
    Database {
        /// The ledger.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The operating system gave no random bytes for the key.
    #[error("the operating system gave no random bytes for the key of the ledger: {reason}")]
    NoRandomness {
        /// What it said.
        reason: String,
    },
    /// The job would pass the data set's total.
    #[error(
        "this job would take {:.1} % of the total (ε = {epsilon}, δ = {delta:e}) of \"{dataset_name}\", and {:.1} % is left; lower its ε, or raise the total with a reason (nothing was spent)",
        100.0 * .needed, 100.0 * .left
    )]
    OverTotal {
        /// The data set.
        dataset_name: String,
        /// The total's ε.
        epsilon: f64,
        /// The total's δ.
        delta: f64,
        /// The share of the total that the job needs.
        needed: f64,
        /// The share that is left.
        left: f64,
    },
    /// The job has a δ of its own, and the total keeps none for such jobs.
    #[error(
        "the total of \"{dataset_name}\" has no room for a job with a δ of its own, such as stability-based categories: the first job under it had none, so all of δ backs the noise of the others; declare the values instead (nothing was spent)"
    )]
    NoDeltaApart {
        /// The data set.
        dataset_name: String,
    },
    /// The total is kept under another neighbouring relation.
    #[error("the total of \"{dataset_name}\" is kept under {:?}, and this job's promise is under {:?}; the two do not add up, so choose the total's relation in the plan", .kept, .asked)]
    RelationDiffers {
        /// The data set.
        dataset_name: String,
        /// The relation of what was charged so far.
        kept: Neighboring,
        /// The relation of the job.
        asked: Neighboring,
    },
    /// The total is kept for another unit of privacy.
    #[error(
        "the total of \"{dataset_name}\" protects {kept}, and this job protects {asked}; the two do not add up, so choose the total's unit of privacy in the schema, on the Data page"
    )]
    UnitDiffers {
        /// The data set.
        dataset_name: String,
        /// The unit of what was charged so far.
        kept: PrivacyUnit,
        /// The unit of the job.
        asked: PrivacyUnit,
    },
    /// What was spent before cannot be put under one total.
    #[error("what was spent on \"{dataset_name}\" so far cannot be put under one total: {reason}")]
    CannotTotal {
        /// The data set.
        dataset_name: String,
        /// Why not.
        reason: String,
    },
    /// A total can only be raised.
    #[error(
        "\"{dataset_name}\" has a total of ε = {epsilon}, δ = {delta:e}; a total can be raised, not lowered or set again"
    )]
    TotalNotRaised {
        /// The data set.
        dataset_name: String,
        /// ε in force.
        epsilon: f64,
        /// δ in force.
        delta: f64,
    },
    /// A total without a reason.
    #[error("say why the total is set or raised: the reason is kept in the ledger")]
    ReasonMissing,
    /// An ε or δ that is none.
    #[error(
        "ε = {epsilon}, δ = {delta} is no promise: ε must be a finite number, at least 0, and δ from 0 to below 1"
    )]
    NotAPromise {
        /// ε as given.
        epsilon: f64,
        /// δ as given.
        delta: f64,
    },
    /// A total too small to hold any noise at all.
    #[error(
        "a total of ε = {epsilon}, δ = {delta:e} leaves no room for any job; δ must be above 0 and ε large enough"
    )]
    TotalTooSmall {
        /// ε as given.
        epsilon: f64,
        /// δ as given.
        delta: f64,
    },
    /// A total that would never refuse anything, and could never be lowered.
    #[error(
        "a total of ε = {epsilon}, δ = {delta} would refuse hardly anything, and it can never be lowered; the most is ε = {}, δ = {}",
        .most.0, .most.1
    )]
    TotalTooLarge {
        /// ε as given.
        epsilon: f64,
        /// δ as given.
        delta: f64,
        /// The most that is taken of each.
        most: (f64, f64),
    },
    /// Values that the ledger could not give back as they were.
    #[error("the ledger cannot keep this entry: {reason}")]
    Unwritable {
        /// Which value.
        reason: String,
    },
    /// No such entry.
    #[error("the ledger has no reservation {0}")]
    UnknownEntry(EntryId),
    /// No such data set.
    #[error("the ledger knows no data set {0}; `ledger list` shows those that it knows")]
    UnknownDataset(String),
    /// The entry was settled before.
    #[error("entry {0} is settled already")]
    AlreadySettled(EntryId),
    /// The new version has a budget of its own.
    #[error(
        "this content is known to the ledger as \"{dataset_name}\" already, so it cannot become a version of another data set"
    )]
    AlreadyKnown {
        /// The name under which it is known.
        dataset_name: String,
    },
    /// The backup's folder is there already.
    #[error("{} exists already; choose another name for the backup", .path.display())]
    BackupExists {
        /// The folder.
        path: PathBuf,
    },
    /// The events have no bound under the stated relation.
    #[error(transparent)]
    Accounting(#[from] AccountingError),
}

fn aside_hint(aside: Option<&Path>) -> String {
    aside.map_or_else(String::new, |path| {
        format!(" (a damaged one was set aside as {})", path.display())
    })
}

fn list(findings: &[Finding]) -> String {
    const SHOWN: usize = 3;
    let mut text = findings
        .iter()
        .take(SHOWN)
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("; ");
    if findings.len() > SHOWN {
        text.push_str(&format!("; and {} more", findings.len() - SHOWN));
    }
    text
}

impl LedgerError {
    /// Whether the home cannot be written, which does not keep anybody from reading it.
    pub(super) fn is_about_writing(&self) -> bool {
        matches!(self, Self::ReadOnly { .. } | Self::NoSpace { .. })
    }

    /// Whether the disk is full.
    pub(super) const fn is_about_space(&self) -> bool {
        matches!(self, Self::NoSpace { .. })
    }

    /// Sorts a failure of SQLite by what a person can do about it.
    pub(super) fn from_database(path: &Path, source: rusqlite::Error) -> Self {
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked {
                path: path.into(),
                waited: WAIT,
            },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly { path: path.into() },
            Some(ErrorCode::DiskFull) => Self::NoSpace { path: path.into() },
            _ if is_shared_memory_full(&source) => Self::NoSpace { path: path.into() },
            _ => Self::Database {
                path: path.into(),
                source,
            },
        }
    }

    /// Sorts a failure of the file system by what a person can do about it.
    pub(super) fn from_file(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::NoSpace { path: path.into() }
            }
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                Self::ReadOnly { path: path.into() }
            }
            _ => Self::File {
                path: path.into(),
                source,
            },
        }
    }
}

/// Whether SQLite found no space for the index of its write-ahead log.
fn is_shared_memory_full(error: &rusqlite::Error) -> bool {
    error
        .sqlite_error()
        .is_some_and(|error| error.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
}

/// Whether SQLite says that the file is no database, or a damaged one.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}
