//! The end of the chain, kept in a second file, so that entries cut off the end of the first are missed.
//!
//! Written after the database, while the lock is held: the next head is written and synced under another
//! name, the database commits, then the head gets its name. So:
//! - the head never runs ahead of the database, and a database with fewer entries than the head says has
//!   lost some;
//! - after a crash between the two, the head lags by the one transaction in flight. Its reservation was never
//!   handed out, so nothing was done under it; it stays charged, and whoever opens the ledger next moves the
//!   head up to it. Until then only that transaction could be cut off unnoticed;
//! - a head that lags by more was put back from an older copy, and is told.
//!
//! The seal is keyed: a head that was edited to fit a shortened ledger does not pass.

use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::LedgerError;
use super::files::{HEAD_IN_MAKING, Paths, sync_folder};
use super::key::{Hash, Key, from_hex, to_hex};

/// The most entries that one transaction adds.
pub(super) const MOST_IN_FLIGHT: u64 = 1;

/// Count and hash of the last entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// How many entries there are.
    pub count: u64,
    /// The hash of the last one.
    pub hash: Hash,
}

/// How the head file reads.
#[derive(Serialize, Deserialize)]
struct Written {
    version: u32,
    count: u64,
    hash: String,
    seal: String,
}

/// What the head file turned out to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// No such file.
    Missing,
    /// Something that this installation did not write.
    Damaged,
    /// A head.
    Head(Head),
}

fn seal(key: &Key, head: &Head) -> Hash {
    *key.chain()
        .update(b"head 1")
        .update(&head.count.to_le_bytes())
        .update(&head.hash)
        .finalize()
        .as_bytes()
}

impl Head {
    pub(super) fn read(path: &Path, key: &Key) -> Result<Found, LedgerError> {
        let text = match std::fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Missing),
            Err(error) => return Err(LedgerError::from_file(path, error)),
        };
        let head = serde_json::from_slice::<Written>(&text).ok().and_then(|written| {
            let head = Self {
                count: written.count,
                hash: from_hex(&written.hash)?,
            };
            (written.version == 1 && from_hex(&written.seal)? == seal(key, &head)).then_some(head)
        });
        Ok(head.map_or(Found::Damaged, Found::Head))
    }

    /// Writes and syncs the head under another name, so that a full disk shows before anything is charged.
    pub(super) fn prepare<'a>(&self, paths: &'a Paths, key: &Key) -> Result<PreparedHead<'a>, LedgerError> {
        let written = Written {
            version: 1,
            count: self.count,
            hash: to_hex(&self.hash),
            seal: to_hex(&seal(key, self)),
        };
        let failed = |error| LedgerError::from_file(&paths.head, error);
        let mut text = serde_json::to_vec(&written).map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        let mut file = tempfile::Builder::new()
            .prefix(HEAD_IN_MAKING)
            .tempfile_in(&paths.home)
            .map_err(failed)?;
        file.write_all(&text).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        Ok(PreparedHead { file, paths })
    }
}

/// A head that only lacks its name.
#[derive(Debug)]
pub(super) struct PreparedHead<'a> {
    file: NamedTempFile,
    paths: &'a Paths,
}

impl PreparedHead<'_> {
    /// Gives the head its name, for good.
    pub(super) fn publish(self) -> io::Result<()> {
        self.file.persist(&self.paths.head).map_err(|error| error.error)?;
        sync_folder(&self.paths.home)
    }
}
