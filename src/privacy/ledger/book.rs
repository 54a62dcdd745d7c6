//! The ledger itself: opening, reserving, settling, totals.

mod append;
mod look;

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::Connection;
use tempfile::TempDir;

use super::cap::{Curve, leaves_room};
use super::charge::{self, MOST_TOTAL, MOST_TOTAL_DELTA, check_promise};
use super::entry::{Charge, DatasetId, EntryId, Outcome, Reservation, Settlement};
use super::files::{Lock, Paths, WAIT, WAIT_TO_SETTLE, make_home};
use super::head::{Found, HeadFile};
use super::key::{Hash, Key, to_hex};
use super::opening::{broken, move_up, open_files, set_aside};
use super::record::{Draft, RecordKind, SettlementBody, TotalBody, VersionBody, write};
use super::state::State;
use super::verify::Walk;
use super::{LedgerError, read, reading};

/// The record of all that was spent on all data sets of this installation. See the module's text for what it
/// holds to.
///
/// Owned by one thread; other processes may keep the same ledger open.
pub struct Ledger {
    paths: Paths,
    connection: Connection,
    key: Key,
    access: Access,
    state: State,
    /// What the columns of the data sets at hand are called, as keyed hashes; goes into their next entries.
    columns: HashMap<DatasetId, Hash>,
    clock: fn() -> i64,
}

/// What may be done with the ledger.
enum Access {
    /// Everything, in turns.
    Write(Lock),
    /// Looking at a copy: the home cannot be written.
    Read {
        /// The head as it was when the copy was made.
        found: Found,
        /// Whether the disk is full, so that there is space to be made; otherwise nothing may be written there.
        is_full: bool,
        /// Holds the copy.
        _folder: TempDir,
    },
}

impl fmt::Debug for Ledger {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Ledger")
            .field("path", &self.paths.database)
            .finish_non_exhaustive()
    }
}

/// Milliseconds since 1970.
fn system_clock() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis),
    }
}

impl Ledger {
    /// Opens the ledger in `home`, making folder and ledger when there is none yet, and reads the whole chain.
    ///
    /// # Errors
    /// When the folder cannot be used, when the ledger is locked, newer, damaged (it is set aside then) or
    /// missing, or when its chain is not whole. Nothing can be spent then.
    pub fn open(home: &Path) -> Result<Self, LedgerError> {
        Self::open_within(home, WAIT)
    }

    fn open_within(home: &Path, patience: Duration) -> Result<Self, LedgerError> {
        let paths = Paths::new(home);
        make_home(home)?;
        let lock = Lock::open(&paths.lock)?;
        let held = lock.hold_within(&paths.database, patience)?;
        paths.sweep();
        let (connection, key) = open_files(&paths)?;
        let mut head = HeadFile::read(&paths.head, &key)?;
        let failed = |error| LedgerError::from_database(&paths.database, error);
        let walk = match Walk::all(&connection, &key, &head.found) {
            Ok(walk) => walk,
            Err(error) if super::error::is_damage(&error) => {
                drop(connection);
                return Err(set_aside(&paths, error.to_string()));
            }
            Err(error) => return Err(failed(error)),
        };
        if !walk.findings.is_empty() {
            return Err(broken(&paths, walk, &head.found));
        }
        let state = walk.state;
        // At the first start, and after the crash of a writer between database and head.
        move_up(&mut head, &state, &paths, &key)?;
        drop(held);
        Ok(Self {
            paths,
            connection,
            key,
            access: Access::Write(lock),
            state,
            columns: HashMap::new(),
            clock: system_clock,
        })
    }

    /// Opens the ledger in `home` as [`Ledger::open`] does, or, where the home cannot be written (a read-only or
    /// full disk, somebody else's folder), a copy of it to look at. Whatever would write is refused on a copy.
    ///
    /// # Errors
    /// As [`Ledger::open`], except for homes that cannot be written.
    pub fn open_to_read(home: &Path) -> Result<Self, LedgerError> {
        Self::open_to_read_within(home, WAIT)
    }

    /// As [`Ledger::open_to_read`], with another patience for other programs.
    ///
    /// # Errors
    /// As [`Ledger::open_to_read`].
    pub fn open_to_read_within(home: &Path, patience: Duration) -> Result<Self, LedgerError> {
        let unwritable = match Self::open_within(home, patience) {
            Err(error) if error.is_about_writing() => error,
            opened => return opened,
        };
        let paths = Paths::new(home);
        let is_full = unwritable.is_about_space();
        let reading::Copy {
            connection,
            key,
            found,
            folder,
        } = match reading::copy(&paths) {
            // What a first start left that found the disk full is no ledger yet, and misses nothing but space.
            Err(_) if is_full => return Err(unwritable),
            copied => copied?,
        };
        let walk = Walk::all(&connection, &key, &found)
            .map_err(|error| LedgerError::from_database(&paths.database, error))?;
        if !walk.findings.is_empty() {
            return Err(broken(&paths, walk, &found));
        }
        Ok(Self {
            paths,
            connection,
            key,
            access: Access::Read {
                found,
                is_full,
                _folder: folder,
            },
            state: walk.state,
            columns: HashMap::new(),
            clock: system_clock,
        })
    }

    /// Whether this is a copy to look at, since the home cannot be written.
    pub const fn is_read_only(&self) -> bool {
        matches!(self.access, Access::Read { .. })
    }

    /// Takes the time from elsewhere: for tests of clocks that run backwards.
    #[doc(hidden)]
    pub fn set_clock(&mut self, clock: fn() -> i64) {
        self.clock = clock;
    }

    /// The identity of content with this digest: keyed, so that it means nothing outside this installation.
    ///
    /// # Errors
    /// None at present; the signature leaves room for keys that must be asked for.
    pub fn identify(&self, digest: [u8; 32]) -> Result<DatasetId, LedgerError> {
        Ok(self.key.identify(&digest))
    }

    /// Remembers by a digest of their names what columns a data set has; its next entries hold it, keyed. A changed
    /// and renamed file is known by them.
    pub fn note_columns(&mut self, dataset: &DatasetId, digest: [u8; 32]) {
        let columns = self.key.identify(&digest).0;
        self.columns.insert(*dataset, columns);
    }

    /// Charges what a job may spend. It is on disk and synced when this returns, and stays charged until the
    /// job is settled, whatever happens to the process.
    ///
    /// # Errors
    /// When the job would pass the data set's total, or its promise does not add up with the total's, or the
    /// ledger cannot be written. Nothing is charged then (but see [`LedgerError::HeadNotWritten`]).
    pub fn reserve(&mut self, reservation: &Reservation) -> Result<EntryId, LedgerError> {
        check_promise(reservation.epsilon, reservation.delta)?;
        let columns = self.columns.get(&reservation.dataset).copied();
        self.append(WAIT, |state, _| {
            let cost = match state.account(&reservation.dataset) {
                Some(index) => charge::against_total(state, index, reservation)?,
                None => None,
            };
            Draft::reservation(reservation, cost, columns)
        })
    }

    /// Whether the data set's total has room for a job, without charging it: for telling a person beforehand.
    ///
    /// # Errors
    /// As [`Ledger::reserve`].
    pub fn would_fit(&mut self, reservation: &Reservation) -> Result<(), LedgerError> {
        check_promise(reservation.epsilon, reservation.delta)?;
        self.refresh()?;
        match self.state.account(&reservation.dataset) {
            Some(index) => charge::against_total(&self.state, index, reservation).map(drop),
            None => Ok(()),
        }
    }

    /// Says what a reserved job really spent; synced when this returns.
    ///
    /// A stop by a person charges the whole plan, whatever was executed; a job of which nothing was kept is
    /// charged nothing, and counted. What was executed is charged as it is, even if it is more than was
    /// reserved: the ledger never shows less than what was spent.
    ///
    /// # Errors
    /// When there is no such open reservation, or the ledger cannot be written; the reservation stays charged
    /// then.
    pub fn settle(&mut self, entry: EntryId, settlement: &Settlement) -> Result<(), LedgerError> {
        check_promise(settlement.epsilon, settlement.delta)?;
        let executed = Charge {
            epsilon: settlement.epsilon,
            delta: settlement.delta,
        };
        self.append(WAIT_TO_SETTLE, |state, connection| {
            let Some(job) = state.open.get(&entry.0) else {
                return Err(if read::is_reservation(connection, entry)? {
                    LedgerError::AlreadySettled(entry)
                } else {
                    LedgerError::UnknownEntry(entry)
                });
            };
            let account = &state.accounts[job.account];
            let executed_cost = match account.total.as_ref().and_then(|total| total.order) {
                Some((order, _)) => Some(Curve::of(&settlement.events)?.at(order)),
                None => None,
            };
            let (charged, cost) = match settlement.outcome {
                Outcome::Finished | Outcome::Failed { .. } => (executed, executed_cost),
                Outcome::StoppedByPerson => (
                    charge::larger(job.charge, executed),
                    charge::larger_cost(job.cost, executed_cost),
                ),
                Outcome::Discarded => (Charge::default(), None),
            };
            Ok(Draft {
                kind: RecordKind::Settlement,
                dataset: account.versions.last().copied().unwrap_or_default(),
                job: entry.0,
                body: write(&SettlementBody {
                    outcome: settlement.outcome.clone(),
                    charged,
                    cost,
                    note: settlement.note.clone(),
                    executed,
                    events: settlement.events.clone(),
                })?,
            })
        })?;
        Ok(())
    }

    /// Sets a data set's total, or raises the one in force; returns the entry that says so.
    ///
    /// # Errors
    /// Without a reason; when the total is lower than the one in force; when what was spent before has no
    /// Rényi bound, or is of more than one relation or unit; when the ledger cannot be written.
    pub fn set_total(
        &mut self,
        dataset: &DatasetId,
        name: &str,
        (epsilon, delta): (f64, f64),
        reason: &str,
    ) -> Result<EntryId, LedgerError> {
        check_promise(epsilon, delta)?;
        if reason.trim().is_empty() {
            return Err(LedgerError::ReasonMissing);
        }
        if !leaves_room(epsilon, delta) {
            return Err(LedgerError::TotalTooSmall { epsilon, delta });
        }
        if epsilon > MOST_TOTAL || delta > MOST_TOTAL_DELTA {
            return Err(LedgerError::TotalTooLarge {
                epsilon,
                delta,
                most: (MOST_TOTAL, MOST_TOTAL_DELTA),
            });
        }
        let columns = self.columns.get(dataset).map(to_hex);
        self.append(WAIT, |state, connection| {
            let account = state.account(dataset);
            let in_force = account.and_then(|index| state.accounts[index].total.as_ref());
            if let Some(total) = in_force
                && !(epsilon >= total.epsilon
                    && delta >= total.delta
                    && (epsilon > total.epsilon || delta > total.delta))
            {
                return Err(LedgerError::TotalNotRaised {
                    dataset_name: name.into(),
                    epsilon: total.epsilon,
                    delta: total.delta,
                });
            }
            let earlier = match account {
                Some(index) if in_force.is_none() => {
                    charge::earlier(&state.accounts[index], index, connection, (epsilon, delta))?
                }
                _ => None,
            };
            Ok(Draft {
                kind: RecordKind::Total,
                dataset: dataset.0,
                job: 0,
                body: write(&TotalBody {
                    dataset_name: name.into(),
                    epsilon,
                    delta,
                    reason: reason.trim().into(),
                    columns,
                    raised: in_force.is_some(),
                    earlier,
                })?,
            })
        })
    }

    /// Says that `new` is a changed version of `of`, and continues its budget.
    ///
    /// # Errors
    /// When `of` is not known, or `new` is known already; when the ledger cannot be written.
    pub fn continue_budget(
        &mut self,
        new: &DatasetId,
        of: &DatasetId,
        name: &str,
    ) -> Result<EntryId, LedgerError> {
        let columns = self.columns.get(new).map(to_hex);
        self.append(WAIT, |state, _| {
            if let Some(index) = state.account(new) {
                return Err(LedgerError::AlreadyKnown {
                    dataset_name: state.accounts[index].name.clone(),
                });
            }
            if state.account(of).is_none() {
                return Err(LedgerError::UnknownDataset(format!(
                    "of which \"{name}\" is a new version"
                )));
            }
            Ok(Draft {
                kind: RecordKind::Version,
                dataset: new.0,
                job: 0,
                body: write(&VersionBody {
                    dataset_name: name.into(),
                    of: to_hex(&of.0),
                    columns,
                })?,
            })
        })
    }

    /// As [`Ledger::continue_budget`], of the data set with this number. Does nothing when `new` is a version of
    /// it already.
    ///
    /// # Errors
    /// As [`Ledger::continue_budget`].
    pub fn continue_budget_of(
        &mut self,
        new: &DatasetId,
        number: u64,
        name: &str,
    ) -> Result<(), LedgerError> {
        let known = self.datasets()?;
        let of = known
            .iter()
            .find(|dataset| dataset.number == number)
            .ok_or_else(|| LedgerError::UnknownDataset(format!("with the number {number}")))?;
        if self.budget(new)?.dataset == Some(number) {
            return Ok(());
        }
        self.continue_budget(new, &of.id, name).map(drop)
    }

    /// Writes a whole copy (database, head and key) into a new folder, which can be used as a home of its own:
    /// back up with it, or move.
    ///
    /// # Errors
    /// When the folder exists already or cannot be written.
    pub fn backup(&mut self, folder: &Path) -> Result<u64, LedgerError> {
        super::backup::write(self, folder)
    }

    /// The files, for the backup.
    ///
    /// # Errors
    /// When the home cannot be written, so that nothing keeps others from writing while it is copied.
    pub(super) fn files(&self) -> Result<(&Paths, &Connection, &Lock), LedgerError> {
        match &self.access {
            Access::Write(lock) => Ok((&self.paths, &self.connection, lock)),
            Access::Read { .. } => Err(self.cannot_write()),
        }
    }

    fn cannot_write(&self) -> LedgerError {
        let path = self.paths.database.clone();
        match self.access {
            Access::Read { is_full: true, .. } => LedgerError::NoSpace { path },
            _ => LedgerError::ReadOnly { path },
        }
    }
}
