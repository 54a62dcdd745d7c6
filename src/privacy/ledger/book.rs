//! The ledger itself: opening, reserving, settling, totals.

use std::fmt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, TransactionBehavior};

use super::LedgerError;
use super::cap::{Curve, leaves_room};
use super::charge::{self, check_promise};
use super::entry::{
    Budget, Charge, DatasetId, DatasetSummary, Entry, EntryId, Outcome, Reservation, Settlement,
};
use super::files::{Lock, Paths, make_home};
use super::head::{Found, Head};
use super::key::{Key, to_hex};
use super::opening::{broken, catch_up, open_files, set_aside, verify_open};
use super::read;
use super::record::{Draft, Record, RecordKind, SettlementBody, TotalBody, VersionBody, write};
use super::state::State;
use super::verify::{Verification, Walk};

/// The record of all that was spent on all data sets of this installation. See the module's text for what it
/// holds to.
///
/// Owned by one thread; other processes may keep the same ledger open.
pub struct Ledger {
    paths: Paths,
    connection: Connection,
    key: Key,
    lock: Lock,
    state: State,
    clock: fn() -> i64,
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
        let paths = Paths::new(home);
        make_home(home)?;
        let lock = Lock::open(&paths.lock)?;
        let held = lock.hold(&paths.database)?;
        paths.sweep();
        let (connection, key) = open_files(&paths)?;
        let found = Head::read(&paths.head, &key)?;
        let failed = |error| LedgerError::from_database(&paths.database, error);
        let walk = match Walk::all(&connection, &key, &found) {
            Ok(walk) => walk,
            Err(error) if super::error::is_damage(&error) => {
                drop(connection);
                return Err(set_aside(&paths, error.to_string()));
            }
            Err(error) => return Err(failed(error)),
        };
        if !walk.findings.is_empty() {
            return Err(broken(&paths, walk, &found));
        }
        let state = walk.state;
        let end = Head {
            count: state.count,
            hash: state.hash,
        };
        if found != Found::Head(end) {
            // The first start, or the crash of a writer between database and head.
            end.prepare(&paths, &key)?
                .publish()
                .map_err(|error| LedgerError::from_file(&paths.head, error))?;
        }
        drop(held);
        Ok(Self {
            paths,
            connection,
            key,
            lock,
            state,
            clock: system_clock,
        })
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

    /// Charges what a job may spend. It is on disk and synced when this returns, and stays charged until the
    /// job is settled, whatever happens to the process.
    ///
    /// # Errors
    /// When the job would pass the data set's total, or its promise does not add up with the total's, or the
    /// ledger cannot be written. Nothing is charged then (but see [`LedgerError::HeadNotWritten`]).
    pub fn reserve(&mut self, reservation: &Reservation) -> Result<EntryId, LedgerError> {
        check_promise(reservation.epsilon, reservation.delta)?;
        self.append(|state, _| {
            let cost = match state.account(&reservation.dataset) {
                Some(index) => charge::against_total(state, index, reservation)?,
                None => None,
            };
            Draft::reservation(reservation, cost)
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
        self.append(|state, connection| {
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
        self.append(|state, connection| {
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
        self.append(|state, _| {
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
                })?,
            })
        })
    }

    /// All entries, oldest first, or those of one data set with all its versions.
    ///
    /// # Errors
    /// When the ledger cannot be read, or is not whole any more.
    pub fn entries(&mut self, dataset: Option<&DatasetId>) -> Result<Vec<Entry>, LedgerError> {
        self.refresh()?;
        let account = match dataset {
            Some(dataset) => match self.state.account(dataset) {
                Some(index) => Some(index),
                None => return Ok(Vec::new()),
            },
            None => None,
        };
        read::entries(&self.connection, &self.paths.database, account)
    }

    /// Where a data set's budget stands; an empty one for a data set without entries.
    ///
    /// # Errors
    /// When the ledger cannot be read, or is not whole any more.
    pub fn budget(&mut self, dataset: &DatasetId) -> Result<Budget, LedgerError> {
        self.refresh()?;
        Ok(self.state.budget(dataset))
    }

    /// All data sets that the ledger knows.
    ///
    /// # Errors
    /// When the ledger cannot be read, or is not whole any more.
    pub fn datasets(&mut self) -> Result<Vec<DatasetSummary>, LedgerError> {
        self.refresh()?;
        Ok(self.state.datasets())
    }

    /// Known data sets of this name with other content, newest first, if this content is not known itself:
    /// those of which the person must be asked whether this is a new version.
    ///
    /// # Errors
    /// When the ledger cannot be read, or is not whole any more.
    pub fn may_be_version_of(
        &mut self,
        dataset: &DatasetId,
        name: &str,
    ) -> Result<Vec<DatasetSummary>, LedgerError> {
        let mut known = self.datasets()?;
        if self.state.account(dataset).is_some() {
            return Ok(Vec::new());
        }
        known.retain(|summary| summary.name == name);
        known.sort_by_key(|summary| std::cmp::Reverse(summary.last_ms));
        Ok(known)
    }

    /// All charged events of a data set as one list, as if they had been planned together: for showing their ε
    /// beside the cap, as information. `None` if they are of more than one relation.
    ///
    /// # Errors
    /// When the ledger cannot be read, or is not whole any more.
    pub fn all_events(
        &mut self,
        dataset: &DatasetId,
    ) -> Result<Option<crate::privacy::EventList>, LedgerError> {
        let entries = self.entries(Some(dataset))?;
        Ok(read::together(
            entries.into_iter().filter_map(|entry| entry.events),
        ))
    }

    /// Count and hash of the chain's end, for a certificate.
    ///
    /// # Errors
    /// When the ledger cannot be read, or is not whole any more.
    pub fn head(&mut self) -> Result<(u64, String), LedgerError> {
        self.refresh()?;
        Ok((self.state.count, to_hex(&self.state.hash)))
    }

    /// Reads the whole ledger afresh and says what does not fit.
    ///
    /// # Errors
    /// Only when files cannot be read; all else is a finding.
    pub fn verify(&self) -> Result<Verification, LedgerError> {
        verify_open(&self.connection, &self.key, &self.paths)
    }

    /// Reads a ledger afresh without opening it for spending: tells what is wrong with one that
    /// [`Ledger::open`] refuses.
    ///
    /// # Errors
    /// As [`Ledger::open`], except that a chain that is not whole is a finding.
    pub fn inspect(home: &Path) -> Result<Verification, LedgerError> {
        match Self::open(home) {
            Ok(ledger) => ledger.verify(),
            Err(LedgerError::Broken { .. }) => {
                let paths = Paths::new(home);
                let lock = Lock::open(&paths.lock)?;
                let _held = lock.hold(&paths.database)?;
                let (connection, key) = open_files(&paths)?;
                verify_open(&connection, &key, &paths)
            }
            Err(other) => Err(other),
        }
    }

    /// Whether the ledger once ended as a certificate says.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn knows_end(&self, count: u64, head: &str) -> Result<bool, LedgerError> {
        let failed = |error| LedgerError::from_database(&self.paths.database, error);
        if count == 0 {
            return Ok(head == to_hex(&self.key.genesis()));
        }
        let hash = read::hash_of(&self.connection, count).map_err(failed)?;
        Ok(hash.is_some_and(|hash| to_hex(&hash) == head))
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
    pub(super) fn files(&self) -> (&Paths, &Connection, &Lock) {
        (&self.paths, &self.connection, &self.lock)
    }

    /// Adds one entry: alone among all processes, chained, synced, and the head after it.
    fn append(
        &mut self,
        decide: impl FnOnce(&State, &Connection) -> Result<Draft, LedgerError>,
    ) -> Result<EntryId, LedgerError> {
        let Self {
            paths,
            connection,
            key,
            lock,
            state,
            clock,
        } = self;
        let failed = |error| LedgerError::from_database(&paths.database, error);
        let _held = lock.hold(&paths.database)?;
        let head = Head::read(&paths.head, key)?;
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed)?;
        catch_up(state, &transaction, key, paths, &head)?;
        let draft = decide(state, &transaction)?;
        let time_ms = clock().max(state.last_ms);
        let record = Record::chain(draft, state.count + 1, time_ms, &state.hash, key);
        record.insert(&transaction).map_err(failed)?;
        let end = Head {
            count: record.sequence,
            hash: record.compute_hash(key),
        };
        let prepared = end.prepare(paths, key)?;
        transaction.commit().map_err(failed)?;
        let entry = EntryId(record.sequence);
        state
            .apply(&record)
            .map_err(|reason| LedgerError::Unwritable { reason })?;
        prepared.publish().map_err(|source| LedgerError::HeadNotWritten {
            entry,
            path: paths.head.clone(),
            source,
        })?;
        Ok(entry)
    }

    /// Charges the same job many times in one transaction: for measuring ledgers that took years to fill.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    #[doc(hidden)]
    pub fn fill(&mut self, reservation: &Reservation, count: u64) -> Result<(), LedgerError> {
        let Self {
            paths,
            connection,
            key,
            lock,
            state,
            clock,
        } = self;
        let failed = |error| LedgerError::from_database(&paths.database, error);
        let _held = lock.hold(&paths.database)?;
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed)?;
        for _ in 0..count {
            let draft = Draft::reservation(reservation, None)?;
            let record = Record::chain(draft, state.count + 1, clock(), &state.hash, key);
            record.insert(&transaction).map_err(failed)?;
            state
                .apply(&record)
                .map_err(|reason| LedgerError::Unwritable { reason })?;
        }
        let prepared = Head {
            count: state.count,
            hash: state.hash,
        }
        .prepare(paths, key)?;
        transaction.commit().map_err(failed)?;
        prepared
            .publish()
            .map_err(|error| LedgerError::from_file(&paths.head, error))
    }

    /// Takes in what other processes have added.
    fn refresh(&mut self) -> Result<(), LedgerError> {
        // The head first: it is never ahead of the database, so what it says must be found there.
        let head = Head::read(&self.paths.head, &self.key)?;
        catch_up(&mut self.state, &self.connection, &self.key, &self.paths, &head)
    }
}
