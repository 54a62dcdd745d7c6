//! Opening the files together, and keeping up with other processes that write them.

use std::fs;

use rusqlite::Connection;

use super::LedgerError;
use super::error::is_damage;
use super::files::{Lock, Paths};
use super::head::{Found, HeadFile, MOST_IN_FLIGHT};
use super::key::{Hash, Key, make_private};
use super::read;
use super::record::{COLUMNS, Record};
use super::state::State;
use super::store::{self, MIGRATIONS, OpenFailure};
use super::verify::{Finding, Verification, Walk};

/// Opens database and key, making both in a new home. The caller holds the lock.
///
/// The key is made last. So a key says that there was a ledger, and a home with a key and no database is one
/// whose ledger has gone, not a new one.
pub(super) fn open_files(paths: &Paths) -> Result<(Connection, Key), LedgerError> {
    let key = Key::read(&paths.key)?;
    let aside = paths.aside();
    let had_ledger = key.is_some() || paths.head.exists() || aside.is_some();
    let length = fs::metadata(&paths.database).map(|data| data.len()).ok();
    if length.is_none() && had_ledger {
        return Err(LedgerError::Missing {
            path: paths.database.clone(),
            aside,
        });
    }
    // An empty file beside a key: the ledger's content is gone. Without one: a first start cut short.
    if length == Some(0) && key.is_some() && !paths.log_has_content() {
        return Err(set_aside(paths, "it is empty".into()));
    }
    let connection = store::open(paths, MIGRATIONS).map_err(|failure| match failure {
        OpenFailure::Damaged(reason) => set_aside(paths, reason),
        OpenFailure::Other(error) => error,
    })?;
    if let Some(key) = key {
        // Takes the key back from anybody else who may read it.
        make_private(&paths.key)?;
        return Ok((connection, key));
    }
    let failed = |error| LedgerError::from_database(&paths.database, error);
    let used: bool = connection
        .query_row("SELECT count(*) > 0 FROM entries", [], |row| row.get(0))
        .map_err(failed)?;
    if used || paths.head.exists() {
        return Err(LedgerError::KeyMissing {
            path: paths.key.clone(),
        });
    }
    // SQLite gives its log the permissions of the database.
    make_private(&paths.database)?;
    Ok((connection, Key::create(&paths.key)?))
}

/// Puts a damaged database aside under a name of its own, and says so.
pub(super) fn set_aside(paths: &Paths, reason: String) -> LedgerError {
    match paths.set_aside() {
        Ok(aside) => LedgerError::SetAside {
            path: paths.database.clone(),
            aside,
            reason,
        },
        Err(error) => error,
    }
}

/// A chain that is not whole, or one that was written with another key.
pub(super) fn broken(paths: &Paths, walk: Walk, head: &Found) -> LedgerError {
    let none_fits = walk.entries > 0 && walk.changed >= walk.entries;
    if none_fits && head.head().is_none() {
        return LedgerError::KeyWrong {
            path: paths.key.clone(),
            reason: "neither an entry nor the head fits it".into(),
        };
    }
    LedgerError::Broken {
        path: paths.database.clone(),
        findings: walk.findings,
    }
}

/// Reads the whole ledger and says what does not fit. Other processes may go on writing meanwhile.
pub(super) fn verify_open(
    connection: &Connection,
    key: &Key,
    paths: &Paths,
    lock: &Lock,
) -> Result<Verification, LedgerError> {
    let failed = |error| LedgerError::from_database(&paths.database, error);
    let (found, snapshot) = {
        // Head and entries as of one moment; once the reading has begun it sees nothing newer.
        let _held = lock.hold(&paths.database)?;
        let found = HeadFile::read(&paths.head, key)?.found;
        let snapshot = connection.unchecked_transaction().map_err(failed)?;
        read::count(&snapshot).map(drop).or_else(|error| {
            if is_damage(&error) {
                Ok(())
            } else {
                Err(failed(error))
            }
        })?;
        (found, snapshot)
    };
    verify_as_of(&snapshot, key, paths, &found)
}

/// Reads the whole ledger and holds it against this head.
pub(super) fn verify_as_of(
    connection: &Connection,
    key: &Key,
    paths: &Paths,
    head: &Found,
) -> Result<Verification, LedgerError> {
    let failed = |error| LedgerError::from_database(&paths.database, error);
    let mut walk = match Walk::all(connection, key, head) {
        Ok(walk) => walk,
        Err(error) if is_damage(&error) => {
            return Ok(Verification::unreadable(error.to_string()));
        }
        Err(error) => return Err(failed(error)),
    };
    let check: String = connection
        .pragma_query_value(None, "quick_check", |row| row.get(0))
        .map_err(failed)?;
    if check != "ok" {
        walk.findings.push(Finding::Database { reason: check });
    }
    Ok(walk.result())
}

/// Takes in the entries that other processes have added since, and checks that the rest is where it was.
pub(super) fn catch_up(
    state: &mut State,
    connection: &Connection,
    key: &Key,
    paths: &Paths,
    head: &Found,
) -> Result<(), LedgerError> {
    let failed = |error| LedgerError::from_database(&paths.database, error);
    let broken = |finding| LedgerError::Broken {
        path: paths.database.clone(),
        findings: vec![finding],
    };
    let known = |state: &State, hash: Option<Hash>| state.count == 0 || hash == Some(state.hash);
    if !known(state, read::hash_of(connection, state.count).map_err(failed)?) {
        return Err(match read::count(connection).map_err(failed)? {
            found if found < state.count => broken(Finding::CutOff {
                found,
                expected: state.count,
            }),
            _ => broken(Finding::Changed { entry: state.count }),
        });
    }
    let mut statement = connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM entries WHERE sequence > ?1 ORDER BY sequence"
        ))
        .map_err(failed)?;
    let mut rows = statement.query([state.count.cast_signed()]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let record = Record::from_row(row).map_err(failed)?;
        let sequence = record.sequence;
        if sequence != state.count + 1 {
            return Err(broken(Finding::Lost {
                from: state.count + 1,
                to: sequence - 1,
            }));
        }
        if record.previous != state.hash.as_slice() || record.stored_hash() != Some(record.compute_hash(key))
        {
            return Err(broken(Finding::Changed { entry: sequence }));
        }
        state.apply(&record).map_err(|reason| {
            broken(Finding::Meaningless {
                entry: sequence,
                reason,
            })
        })?;
    }
    check_head(state, connection, head)
        .map_err(failed)?
        .map_or(Ok(()), |finding| Err(broken(finding)))
}

/// Whether the head names an entry of the chain that is taken in.
fn check_head(state: &State, connection: &Connection, found: &Found) -> rusqlite::Result<Option<Finding>> {
    let (head, cut_short) = match *found {
        Found::Missing => return Ok(Some(Finding::HeadMissing)),
        Found::Damaged => return Ok(Some(Finding::HeadDamaged)),
        Found::Head(head) => (head, false),
        Found::CutShort(head) => (head, true),
    };
    if head.count > state.count {
        return Ok(Some(Finding::CutOff {
            found: state.count,
            expected: head.count,
        }));
    }
    let fits = if head.count == state.count {
        // A place is spoilt only by writing the head of an entry that is in the database.
        head.hash == state.hash && !cut_short
    } else {
        head.count == 0 || read::hash_of(connection, head.count)? == Some(head.hash)
    };
    Ok((!fits).then_some(Finding::HeadDamaged))
}

/// Moves a head up that a writer left behind when it died, so that it never lags by more than the entry in
/// flight. The caller holds the lock and has caught up.
pub(super) fn move_up(
    head: &mut HeadFile,
    state: &State,
    paths: &Paths,
    key: &Key,
) -> Result<(), LedgerError> {
    let end = state.end();
    let known = head.found.head().map_or(0, |head| head.count);
    if end.count - known.min(end.count) > MOST_IN_FLIGHT {
        return Err(LedgerError::Broken {
            path: paths.database.clone(),
            findings: vec![Finding::HeadStale {
                known,
                found: end.count,
            }],
        });
    }
    if head.found == Found::Head(end) {
        return Ok(());
    }
    head.advance(end, paths, key)
        .map_err(|error| LedgerError::from_file(&paths.head, error))
}
