//! The database file: opening it, its format's version, and what to do when it is not what it should be.

use std::fs;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::LedgerError;
use super::error::is_damage;
use super::files::{Paths, WAIT};

/// "Poin": marks the file as ours.
const APPLICATION_ID: i64 = 0x506f_696e;

/// Steps from each version of the format to the next. Version 1 is what an empty file becomes by the first.
///
/// A step may add tables and columns; it never touches what the chain's hash covers.
pub(super) const MIGRATIONS: &[Migration] = &[create];

/// One step of the format.
pub(super) type Migration = fn(&Transaction<'_>) -> rusqlite::Result<()>;

fn create(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.execute_batch(
        "CREATE TABLE entries (
            sequence INTEGER PRIMARY KEY,
            time INTEGER NOT NULL,
            kind TEXT NOT NULL,
            dataset BLOB NOT NULL,
            job INTEGER NOT NULL,
            body TEXT NOT NULL,
            previous BLOB NOT NULL,
            hash BLOB NOT NULL
        ) STRICT",
    )
}

/// What opening can come to, short of a ledger.
pub(super) enum OpenFailure {
    /// The file is damaged, for this reason.
    Damaged(String),
    /// Anything else.
    Other(LedgerError),
}

impl OpenFailure {
    fn from_database(path: &Path, error: rusqlite::Error) -> Self {
        if is_damage(&error) {
            Self::Damaged(error.to_string())
        } else {
            Self::Other(LedgerError::from_database(path, error))
        }
    }
}

/// Opens the database of a home folder, making it when there is none, and brings it to the newest format.
/// The caller holds the lock.
pub(super) fn open(paths: &Paths, migrations: &[Migration]) -> Result<Connection, OpenFailure> {
    let path = &paths.database;
    let failed = |error| OpenFailure::from_database(path, error);
    let mut connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )
    .map_err(failed)?;
    connection.busy_timeout(WAIT).map_err(failed)?;
    if connection.is_readonly("main").map_err(failed)? {
        return Err(OpenFailure::Other(LedgerError::ReadOnly { path: path.clone() }));
    }
    let version = version(&connection).map_err(failed)?;
    let known = migrations.len() as i64;
    if version > known {
        return Err(OpenFailure::Other(LedgerError::Newer {
            path: path.clone(),
            found: version,
            known,
        }));
    }
    check_ours(&connection, version).map_err(failed)??;
    // Write-ahead, and every commit on disk before it counts.
    connection
        .pragma_update(None, "journal_mode", "wal")
        .map_err(failed)?;
    connection
        .pragma_update(None, "synchronous", "full")
        .map_err(failed)?;
    if version < known {
        if version > 0 {
            keep_copy(&connection, paths, version)?;
        }
        migrate(&mut connection, version, migrations).map_err(failed)?;
    }
    Ok(connection)
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// A version without the table, or tables without a version, is not what this program wrote.
fn check_ours(connection: &Connection, version: i64) -> rusqlite::Result<Result<(), OpenFailure>> {
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?;
    let entries: bool = connection.query_row(
        "SELECT count(*) > 0 FROM sqlite_master WHERE type = 'table' AND name = 'entries'",
        [],
        |row| row.get(0),
    )?;
    let id: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    Ok(
        if version == 0 && tables == 0 || version > 0 && entries && id == APPLICATION_ID {
            Ok(())
        } else {
            Err(OpenFailure::Damaged(
                "it is a database without this program's table of entries".into(),
            ))
        },
    )
}

fn migrate(connection: &mut Connection, version: i64, migrations: &[Migration]) -> rusqlite::Result<()> {
    for (step, migration) in migrations.iter().enumerate().skip(version as usize) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        migration(&transaction)?;
        transaction.pragma_update(None, "user_version", step as i64 + 1)?;
        transaction.commit()?;
    }
    Ok(())
}

/// Keeps the ledger as it was before a change of its format.
fn keep_copy(connection: &Connection, paths: &Paths, version: i64) -> Result<(), OpenFailure> {
    let copy = paths.home.join(format!("ledger.sqlite.version-{version}"));
    if copy.exists() {
        return Ok(());
    }
    copy_database(connection, &copy).map_err(OpenFailure::Other)
}

/// Writes a copy of the database as it stands, whole and synced, under a new name.
pub(super) fn copy_database(connection: &Connection, copy: &Path) -> Result<(), LedgerError> {
    let name = copy.to_str().ok_or_else(|| LedgerError::Unwritable {
        reason: format!(
            "the name {} is not Unicode, which the database needs",
            copy.display()
        ),
    })?;
    connection
        .execute("VACUUM INTO ?1", [name])
        .map_err(|error| LedgerError::from_database(copy, error))?;
    let failed = |error| LedgerError::from_file(copy, error);
    fs::File::options()
        .read(true)
        .write(true)
        .open(copy)
        .and_then(|file| file.sync_all())
        .map_err(failed)
}
