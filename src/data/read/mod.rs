//! Reading a file into a [`Table`], by its content and not by its ending.

mod blocks;
mod columns;
mod csv;
mod form;
mod mixed;
mod scan;
mod sniff;
mod source;
mod sqlite;
mod text_form;
mod typed;
mod xlsx;

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use super::spill::Room;
use super::{DataError, Table};
use crate::num::progress::Progress;
pub use form::{FileForm, Mark, TextEncoding};
use source::Packing;
pub(super) use source::{RATIO, is_too_much};

/// How to read a table; the default works out everything from the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// What the file is like; where it says nothing, that is found out.
    pub form: FileForm,
    /// More spellings of a missing cell than the empty one. (A schema's own list is applied when it is used, so
    /// this is rarely needed.)
    pub missing: Vec<String>,
    /// Where the rows may lie. Without a folder all stay in memory; with one, those that are too many go there.
    pub room: Arc<Room>,
}

/// Reads a CSV file (any usual encoding and delimiter, with a header line, as it is or packed by gzip or zstd), a
/// Parquet or Arrow file (flat columns), a table of an SQLite database, or a sheet of an Excel workbook.
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
    let file = File::open(path).map_err(io)?;
    if meta.is_dir() {
        return Err(DataError::NotATable {
            path: path.to_owned(),
            key: "not-a-table-folder",
            found: "a folder",
            remedy: "choose a CSV or Parquet file in it",
        });
    }
    let before = file.metadata().map_err(io)?;
    let table = read_by_content(path, &file, options, progress);
    if matches!(table, Err(DataError::Cancelled)) {
        return table;
    }
    let after = file.metadata().map_err(io)?;
    // Half of one state of the file and half of another are no table, and what is wrong with it is wrong with neither.
    if before.len() != after.len() || before.modified().ok() != after.modified().ok() {
        return Err(DataError::Changed {
            path: path.to_owned(),
        });
    }
    table
}

fn read_by_content(
    path: &Path,
    file: &File,
    options: &ReadOptions,
    progress: &Progress,
) -> Result<Table, DataError> {
    let io = |source| DataError::Io {
        path: path.to_owned(),
        action: "read the file",
        source,
    };
    // A copy of the handle, for the readers: they share its position.
    let from_start = || {
        let mut copy = file.try_clone()?;
        copy.seek(SeekFrom::Start(0))?;
        Ok(copy)
    };
    let mut head = Vec::with_capacity(sniff::HEAD_BYTES);
    from_start()
        .and_then(|copy| copy.take(sniff::HEAD_BYTES as u64).read_to_end(&mut head))
        .map_err(io)?;
    let packing = Packing::of(&head);
    if packing != Packing::None {
        let copy = from_start().map_err(io)?;
        head = source::unpacked_head(path, copy, packing, sniff::HEAD_BYTES)?;
    }
    let form = sniff::recognise(path, &head)?;
    progress.set(0, file.metadata().map_err(io)?.len());
    let copy = from_start().map_err(io)?;
    match form {
        sniff::Form::Text => csv::read(path, &copy, packing, &head, options, progress),
        sniff::Form::Typed(_) | sniff::Form::Sqlite | sniff::Form::Zip if packing != Packing::None => {
            Err(DataError::NotATable {
                path: path.to_owned(),
                key: "not-a-table-packed-twice",
                found: "an archive within an archive",
                remedy: "unpack it",
            })
        }
        sniff::Form::Typed(form) => typed::read_file(path, copy, form, &options.room, progress),
        sniff::Form::Sqlite => {
            check_part(path, "sheet", (&options.form.sheet, &options.form.table))?;
            sqlite::read(path, copy, options, progress)
        }
        sniff::Form::Zip if xlsx::is_workbook(path, from_start().map_err(io)?)? => {
            check_part(path, "table", (&options.form.table, &options.form.sheet))?;
            let copy = from_start().map_err(io)?;
            xlsx::read(path, copy, options, progress)
        }
        sniff::Form::Zip => Err(DataError::NotATable {
            path: path.to_owned(),
            key: "not-a-table-zip",
            found: "a zip archive and no Excel workbook",
            remedy: "unpack it, or save the sheet as .xlsx or CSV",
        }),
    }
}

/// A sheet that is named in a database says what nobody can do, and the reverse, unless the right one is named too.
fn check_part(
    path: &Path,
    said: &'static str,
    (other, own): (&Option<String>, &Option<String>),
) -> Result<(), DataError> {
    match (other, own) {
        (Some(wanted), None) => Err(DataError::OtherKindOfPart {
            path: path.to_owned(),
            said,
            wanted: wanted.clone(),
        }),
        _ => Ok(()),
    }
}

/// BLAKE3 of a file from where it stands, and its size. Hashing is one pass of so many that the progress counts.
fn digest(
    path: &Path,
    file: &mut File,
    passes: u64,
    progress: &Progress,
) -> Result<([u8; 32], u64), DataError> {
    let io = |source| DataError::Io {
        path: path.to_owned(),
        action: "read the file",
        source,
    };
    let total = file.metadata().map_err(io)?.len();
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 1 << 18];
    let mut done = 0;
    loop {
        let count = file.read(&mut buffer).map_err(io)?;
        if count == 0 {
            return Ok((*hasher.finalize().as_bytes(), done));
        }
        progress.check()?;
        hasher.update(&buffer[..count]);
        done += count as u64;
        progress.set(done, passes * total.max(done));
    }
}

/// Every column needs a name, and its own.
fn check_names<'a>(path: &Path, names: impl Iterator<Item = &'a str>) -> Result<(), DataError> {
    let mut seen = HashMap::new();
    for (name, position) in names.zip(1..) {
        if name.is_empty() {
            return Err(DataError::UnnamedColumn {
                path: path.to_owned(),
                position,
            });
        }
        if let Some(first) = seen.insert(name, position) {
            return Err(DataError::DuplicateColumn {
                path: path.to_owned(),
                name: name.to_owned(),
                first,
                second: position,
            });
        }
    }
    Ok(())
}

/// Reads a Parquet file from memory; `name` stands in for the file's name.
pub(super) fn read_parquet_bytes(
    name: &str,
    bytes: &'static [u8],
    progress: &Progress,
) -> Result<Table, DataError> {
    typed::read_parquet_bytes(name, bytes, progress)
}

#[cfg(test)]
mod tests;
