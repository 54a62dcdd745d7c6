//! Looking at a ledger in a home that cannot be written: a read-only disk, somebody else's folder, a full disk.
//!
//! SQLite needs files of its own beside a database with a write-ahead log, even for reading, and without the
//! log the newest entries are missed. So database and log are copied into a temporary folder, for its owner
//! only, and read there. The key and the head are read where they are. Nothing can be spent on such a copy.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use rusqlite::Connection;
use tempfile::TempDir;

use super::LedgerError;
use super::files::{Lock, Paths, with_ending};
use super::head::{Found, HeadFile};
use super::key::Key;
use super::store::{self, MIGRATIONS, OpenFailure};
use super::verify::Finding;

/// A ledger that can be looked at.
pub(super) struct Copy {
    pub connection: Connection,
    pub key: Key,
    pub found: Found,
    /// Holds the copy for as long as it is read.
    pub folder: TempDir,
}

/// Copies the ledger of a home that cannot be written.
pub(super) fn copy(paths: &Paths) -> Result<Copy, LedgerError> {
    let folder = tempfile::Builder::new()
        .prefix("pointillist-ledger-")
        .tempdir()
        .map_err(|error| LedgerError::from_file(&std::env::temp_dir(), error))?;
    let copied = Paths::new(folder.path());
    let key = Key::read(&paths.key)?;
    // An empty file is what a first start leaves that found the disk full.
    if fs::metadata(&paths.database).is_ok_and(|data| data.len() > 0) {
        copy_whole(paths, key, folder)
    } else {
        if key.is_some() || paths.head.exists() || paths.aside().is_some() {
            return Err(LedgerError::Missing {
                path: paths.database.clone(),
                aside: paths.aside(),
            });
        }
        // No ledger was ever kept here: nothing was spent.
        let key = Key::create(&copied.key)?;
        open(paths, &copied, key, Found::Missing, folder)
    }
}

fn copy_whole(paths: &Paths, key: Option<Key>, folder: TempDir) -> Result<Copy, LedgerError> {
    let copied = Paths::new(folder.path());
    let key = key.ok_or_else(|| LedgerError::KeyMissing {
        path: paths.key.clone(),
    })?;
    // Where the lock file can be opened, nobody writes while the files are copied. Where it cannot, an entry
    // that comes in between shows as a chain that does not fit.
    let lock = Lock::open_existing(&paths.lock);
    let _held = match &lock {
        Some(lock) => Some(lock.hold(&paths.database)?),
        None => None,
    };
    let found = HeadFile::read(&paths.head, &key)?.found;
    copy_file(&paths.database, &copied.database)?;
    let log = with_ending(&paths.database, "-wal");
    if log.exists() {
        copy_file(&log, &with_ending(&copied.database, "-wal"))?;
    }
    open(paths, &copied, key, found, folder)
}

fn open(paths: &Paths, copied: &Paths, key: Key, found: Found, folder: TempDir) -> Result<Copy, LedgerError> {
    let connection = store::open(copied, MIGRATIONS).map_err(|failure| match failure {
        OpenFailure::Damaged(reason) => LedgerError::Broken {
            path: paths.database.clone(),
            findings: vec![Finding::Database { reason }],
        },
        OpenFailure::Other(LedgerError::Newer { found, known, .. }) => LedgerError::Newer {
            path: paths.database.clone(),
            found,
            known,
        },
        OpenFailure::Other(error) => error,
    })?;
    connection
        .pragma_update(None, "query_only", true)
        .map_err(|error| LedgerError::from_database(&paths.database, error))?;
    Ok(Copy {
        connection,
        key,
        found,
        folder,
    })
}

/// Copies the content only: the copy can be written whatever the permissions of the original are.
fn copy_file(from: &Path, to: &Path) -> Result<(), LedgerError> {
    let mut source = File::open(from).map_err(|error| LedgerError::from_file(from, error))?;
    let failed = |error| LedgerError::from_file(to, error);
    let mut target = File::create_new(to).map_err(failed)?;
    io::copy(&mut source, &mut target).map(drop).map_err(failed)
}
