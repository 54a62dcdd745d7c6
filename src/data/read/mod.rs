//! Reading a file into a [`Table`], by its content and not by its ending.

mod columns;
mod csv;
mod parquet;
mod sniff;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::{DataError, Table};
use crate::num::progress::Progress;

/// How to read a table; the default works out everything from the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The byte between the fields of a text file. None: found out.
    pub delimiter: Option<u8>,
    /// More spellings of a missing cell than the empty one. (A schema's own list is applied when it is used, so
    /// this is rarely needed.)
    pub missing: Vec<String>,
}

/// Reads a CSV (UTF-8, any delimiter, with a header line) or Parquet file (flat columns).
///
/// `progress` counts bytes, and cancels. Cells are trimmed of spaces; empty ones are null.
///
/// # Errors
/// Whatever is wrong with the file, with its place and the remedy; see [`DataError`].
pub fn read_table(path: &Path, options: &ReadOptions, progress: &Progress) -> Result<Table, DataError> {
    let io = |source: std::io::Error| {
        if source.kind() == std::io::ErrorKind::NotFound {
            DataError::NotFound {
                path: path.to_owned(),
            }
        } else {
            DataError::Io {
                path: path.to_owned(),
                action: "read the file",
                source,
            }
        }
    };
    // Asked before it is opened: opening a pipe waits for somebody to write into it.
    let meta = std::fs::metadata(path).map_err(io)?;
    if !meta.is_dir() && !meta.is_file() {
        return Err(DataError::NotATable {
            path: path.to_owned(),
            key: "not-a-table-special",
            found: "a pipe or a device",
            remedy: "write its content into a file and choose that",
        });
    }
    let mut file = File::open(path).map_err(io)?;
    if meta.is_dir() {
        return Err(DataError::NotATable {
            path: path.to_owned(),
            key: "not-a-table-folder",
            found: "a folder",
            remedy: "choose a CSV or Parquet file in it",
        });
    }
    let mut head = Vec::with_capacity(sniff::HEAD_BYTES);
    (&mut file)
        .take(sniff::HEAD_BYTES as u64)
        .read_to_end(&mut head)
        .map_err(io)?;
    let form = sniff::recognise(path, &head)?;
    file.seek(SeekFrom::Start(0)).map_err(io)?;
    progress.set(0, meta.len());
    match form {
        sniff::Form::Parquet => parquet::read_file(path, file, meta.len(), progress),
        sniff::Form::Text => csv::read(path, file, meta.len(), &head, options, progress),
    }
}

/// Reads a Parquet file from memory; `name` stands in for the file's name.
pub(super) fn read_parquet_bytes(
    name: &str,
    bytes: &'static [u8],
    progress: &Progress,
) -> Result<Table, DataError> {
    parquet::read_bytes(name, bytes, progress)
}

/// The byte between the fields of a text file, from its first bytes; a comma when nothing speaks for another.
pub fn detect_delimiter(head: &[u8]) -> u8 {
    sniff::detect_delimiter(head)
}
