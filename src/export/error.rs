//! What can go wrong when something leaves the program.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why an export, or reading one back, failed. Each names the file and what to do.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The target is there already and nobody said that it may be replaced.
    #[error("{} exists already; choose another name, or say that it may be replaced", .path.display())]
    Exists {
        /// The file that would have been replaced.
        path: PathBuf,
    },
    /// The target is a file that the work reads.
    #[error("{} is what this reads from and is never written over; choose another name", .path.display())]
    IsInput {
        /// The target.
        path: PathBuf,
    },
    /// The target is a folder, or has no file name.
    #[error("{} is not the name of a file; add a file name to it", .path.display())]
    NotAFileName {
        /// The path as given.
        path: PathBuf,
    },
    /// The target is a pipe or a device.
    #[error("{} is a pipe or a device and is never replaced; choose another name", .path.display())]
    NotAFile {
        /// The path as given.
        path: PathBuf,
    },
    /// Beside the target lies what another database of that name had not finished: whoever opened the new one would get
    /// the old rows out of it.
    #[error(
        "beside {} lies {}, which an earlier database of that name left: opening the new file would bring its rows back; choose another name, or delete it if nothing of that database is needed",
        .path.display(), .left.display()
    )]
    LeftOver {
        /// The database that was to be written.
        path: PathBuf,
        /// What lies beside it.
        left: PathBuf,
    },
    /// The target's ending names no form of a table.
    #[error("{} ends in nothing that can be written; use .csv, .tsv, .txt, .parquet, .arrow, .xlsx or .sqlite", .path.display())]
    UnknownEnding {
        /// The path as given.
        path: PathBuf,
    },
    /// The target's ending names no form of images.
    #[error(
        "{} is no form that images are written in; name a folder (without an ending), a file that ends in -images-idx3-ubyte, .parquet or .npz",
        .path.display()
    )]
    UnknownImages {
        /// The path as given.
        path: PathBuf,
    },
    /// A folder that is to be replaced holds more than an earlier export.
    #[error(
        "{} holds other things than exported images and is never replaced; choose another name",
        .path.display()
    )]
    NotAnExport {
        /// The folder.
        path: PathBuf,
    },
    /// The folder for the target is missing.
    #[error("the folder {} does not exist; make it first, or choose another", .folder.display())]
    FolderMissing {
        /// The missing folder.
        folder: PathBuf,
    },
    /// The folder for the target takes no files.
    #[error("the folder {} takes no new files (read-only, or not yours); choose another", .folder.display())]
    FolderReadOnly {
        /// The folder.
        folder: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The disk is full.
    #[error("no space is left for {}; free some space or choose another disk (nothing was left behind)", .path.display())]
    NoSpace {
        /// The file that was being written.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// What is asked for takes more than is free.
    #[error(
        "{} would take about {}, and {} are free on that disk; ask for less, or choose another disk",
        .path.display(), size(*.needed), size(*.free)
    )]
    NoRoom {
        /// The file or folder that was to be written.
        path: PathBuf,
        /// Bytes that it would take.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// Another failure while writing.
    #[error("{} could not be written (nothing was left behind)", .path.display())]
    Write {
        /// The file that was being written.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file could not be read.
    #[error("{} could not be read", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file is not a certificate.
    #[error("{} is not a privacy certificate of this program: {reason}", .path.display())]
    NotACertificate {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file is not a recipe.
    #[error("{} is not a recipe: {reason}", .path.display())]
    NotARecipe {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file is not a generator.
    #[error("{} is not a generator saved by this program: {reason}", .path.display())]
    NotAGenerator {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file is not a checkpoint.
    #[error("{} is not a checkpoint of this program that can be used: {reason}; discard the run (`runs discard`): what it reserved stays charged", .path.display())]
    NotACheckpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A certificate or recipe of a later version of its format.
    #[error("{} has format version {found}, and this program knows versions up to {known}; update the program", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version that it states.
        found: u64,
        /// The newest version that is known here.
        known: u64,
    },
    /// A value that no file of this kind can hold, such as an ε that is not a number.
    #[error("{} cannot be written: {reason}", .path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The value and its place.
        reason: String,
    },
}

impl ExportError {
    /// Sorts a failure to write `path` by what a person can do about it.
    pub fn from_write(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::NoSpace {
                    path: path.into(),
                    source,
                }
            }
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => Self::FolderReadOnly {
                folder: super::atomic::folder_of(path).into(),
                source,
            },
            io::ErrorKind::AlreadyExists => Self::Exists { path: path.into() },
            _ => Self::Write {
                path: path.into(),
                source,
            },
        }
    }
}

/// Bytes in the unit that a person would name them in.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [
        (1_000_000_000_000, "TB"),
        (1_000_000_000, "GB"),
        (1_000_000, "MB"),
    ];
    match UNITS.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) if bytes >= 100 * unit => format!("{} {name}", bytes / unit),
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} bytes"),
    }
}
