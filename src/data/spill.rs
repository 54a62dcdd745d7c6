//! Rows that are too many for memory, in a file of their own.
//!
//! Private rows then lie on the disk for as long as the program works with them, so the file belongs to nobody else: it
//! has no name (where the system allows that; elsewhere the system deletes it with the last handle, and so after a crash,
//! too), only this user may read it, and it lies in the program's own folder. It is written and read by position.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::DataError;
use crate::num::files::read_exact_at;

/// Encoded rows of more bytes than this are kept in a file: 512 MB, some 20 million rows of 15 columns.
const MOST_ENCODED: u64 = 1 << 29;
/// A table of more bytes than this is kept in a file: 800 MB, some 13 million rows of 15 columns.
const MOST_TABLE: u64 = 800_000_000;

/// A round's bytes at least.
const SHORTEST_ROUND: u64 = 1 << 20;
/// A round's bytes at most.
const LONGEST_ROUND: u64 = 1 << 24;

/// Where rows may lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// The folder for those that are too many for memory; without one all stay there.
    pub folder: Option<PathBuf>,
    /// The most bytes of encoded rows in memory.
    pub encoded_bytes: u64,
    /// The most bytes of a table in memory.
    pub table_bytes: u64,
}

impl Default for Room {
    fn default() -> Self {
        Self::memory()
    }
}

impl Room {
    /// Memory for as many rows as are usual, and the folder for more.
    pub const fn beyond_memory_in(folder: PathBuf) -> Self {
        Self {
            folder: Some(folder),
            encoded_bytes: MOST_ENCODED,
            table_bytes: MOST_TABLE,
        }
    }

    /// Bytes of cells that are read at a time: some more than that are in memory meanwhile.
    pub fn round(&self) -> u64 {
        (self.table_bytes / 4).clamp(SHORTEST_ROUND, LONGEST_ROUND)
    }

    /// Memory only.
    pub const fn memory() -> Self {
        Self {
            folder: None,
            encoded_bytes: u64::MAX,
            table_bytes: u64::MAX,
        }
    }
}

/// A file without a name, read and written by position.
#[derive(Debug)]
pub(super) struct Spill {
    file: File,
    folder: PathBuf,
}

impl Spill {
    pub fn create(folder: &Path) -> io::Result<Self> {
        Ok(Self::of(tempfile::tempfile_in(folder)?, folder))
    }

    /// From a file that is open already.
    pub fn of(file: File, folder: &Path) -> Self {
        Self {
            file,
            folder: folder.to_owned(),
        }
    }

    /// The folder in which it lies.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Why it cannot be written; so many bytes are in it by then.
    pub fn full(folder: &Path, bytes: u64, source: io::Error) -> DataError {
        DataError::Spill {
            folder: folder.to_owned(),
            megabytes: bytes.div_ceil(1_000_000),
            source,
        }
    }

    pub fn read(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        read_exact_at(&self.file, out, at)
    }

    #[cfg(unix)]
    pub fn write(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.file, bytes, at)
    }

    #[cfg(windows)]
    pub fn write(&self, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            let count = std::os::windows::fs::FileExt::seek_write(&self.file, bytes, at)?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            bytes = &bytes[count..];
            at += count as u64;
        }
        Ok(())
    }
}
