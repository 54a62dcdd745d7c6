//! A whole copy of the ledger in a folder of its own, which is a home like any other: for backup and moving.
//!
//! The copy holds the key: without it no data set could be recognised, and every budget would begin anew. So
//! it is as private as the home itself, and no export.

use std::fs;
use std::path::Path;

use super::book::Ledger;
use super::files::{Paths, sync_folder};
use super::store::copy_database;
use super::{LedgerError, Verification};

/// Writes the copy and reads it back; returns how many entries it holds.
pub(super) fn write(ledger: &Ledger, folder: &Path) -> Result<u64, LedgerError> {
    let (paths, connection, lock) = ledger.files()?;
    let parent = folder
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    if folder.exists() {
        return Err(LedgerError::BackupExists { path: folder.into() });
    }
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |error| LedgerError::from_file(&path, error)
    };
    fs::create_dir_all(parent).map_err(failed(parent))?;
    // Built under another name, so that a folder of the backup's name is a whole backup.
    let mut builder = tempfile::Builder::new();
    builder.prefix(".ledger-backup.");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let making = builder.tempdir_in(parent).map_err(failed(parent))?;
    let copy = Paths::new(making.path());
    {
        // Database and head belong together only while nobody writes.
        let _held = lock.hold(&paths.database)?;
        copy_database(connection, &copy.database)?;
        for (from, to) in [(&paths.head, &copy.head), (&paths.key, &copy.key)] {
            fs::copy(from, to).map_err(failed(to))?;
            fs::File::open(to)
                .and_then(|file| file.sync_all())
                .map_err(failed(to))?;
        }
    }
    let Verification {
        verified,
        entries,
        findings,
        ..
    } = Ledger::inspect(making.path())?;
    if !verified {
        return Err(LedgerError::Broken {
            path: folder.into(),
            findings,
        });
    }
    sync_folder(making.path()).map_err(failed(making.path()))?;
    if folder.exists() {
        return Err(LedgerError::BackupExists { path: folder.into() });
    }
    fs::rename(making.path(), folder).map_err(failed(folder))?;
    // It has another name now, so there is nothing left to remove.
    let _ = making.keep();
    sync_folder(parent).map_err(failed(parent))?;
    Ok(entries)
}
