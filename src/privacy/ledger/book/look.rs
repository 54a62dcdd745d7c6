//! Looking at a ledger: entries, budgets, and whether it is whole. Nothing here writes.

use std::path::Path;

use super::{Access, Ledger};
use crate::privacy::EventList;
use crate::privacy::ledger::entry::{Budget, DatasetId, DatasetSummary, Entry};
use crate::privacy::ledger::files::{Lock, Paths};
use crate::privacy::ledger::head::HeadFile;
use crate::privacy::ledger::key::to_hex;
use crate::privacy::ledger::opening::{catch_up, open_files, verify_as_of, verify_open};
use crate::privacy::ledger::verify::Verification;
use crate::privacy::ledger::{LedgerError, read, reading};

impl Ledger {
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

    /// Known data sets of this name or with the same columns ([`Ledger::note_columns`]) and other content, newest
    /// first, if this content is not known itself: those of which the person must be asked whether this is a new
    /// version.
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
        let columns = self.columns.get(dataset);
        let alike = self.state.accounts.iter().map(|account| {
            account.name == name || (columns.is_some() && account.columns.as_ref() == columns)
        });
        let alike: Vec<bool> = alike.collect();
        // Data sets are numbered from 1, in the order of their accounts.
        known.retain(|summary| alike.get(summary.number as usize - 1) == Some(&true));
        known.sort_by_key(|summary| std::cmp::Reverse(summary.last_ms));
        Ok(known)
    }

    /// All charged events of a data set as one list, as if they had been planned together: for showing their ε
    /// beside the cap, as information. `None` if they are of more than one relation.
    ///
    /// # Errors
    /// When the ledger cannot be read, or is not whole any more.
    pub fn all_events(&mut self, dataset: &DatasetId) -> Result<Option<EventList>, LedgerError> {
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

    /// The seal under a text that this installation issues: only who has its key can make or check it.
    pub fn seal(&self, text: &str) -> String {
        self.key.seal(text)
    }

    /// Reads the whole ledger afresh and says what does not fit.
    ///
    /// # Errors
    /// Only when files cannot be read; all else is a finding.
    pub fn verify(&self) -> Result<Verification, LedgerError> {
        match &self.access {
            Access::Write(lock) => verify_open(&self.connection, &self.key, &self.paths, lock),
            Access::Read { found, .. } => verify_as_of(&self.connection, &self.key, &self.paths, found),
        }
    }

    /// Reads a ledger afresh without opening it for spending: tells what is wrong with one that
    /// [`Ledger::open`] refuses.
    ///
    /// # Errors
    /// As [`Ledger::open`], except that a chain that is not whole is a finding.
    pub fn inspect(home: &Path) -> Result<Verification, LedgerError> {
        let paths = Paths::new(home);
        match Self::open(home) {
            Ok(ledger) => ledger.verify(),
            Err(LedgerError::Broken { .. }) => {
                let lock = Lock::open(&paths.lock)?;
                let (connection, key) = {
                    let _held = lock.hold(&paths.database)?;
                    open_files(&paths)?
                };
                verify_open(&connection, &key, &paths, &lock)
            }
            Err(error) if error.is_about_writing() => {
                let copy = match reading::copy(&paths) {
                    Err(_) if error.is_about_space() => return Err(error),
                    copied => copied?,
                };
                verify_as_of(&copy.connection, &copy.key, &paths, &copy.found)
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

    /// Takes in what other processes have added. A copy stays as it was when it was made.
    pub(super) fn refresh(&mut self) -> Result<(), LedgerError> {
        if self.is_read_only() {
            return Ok(());
        }
        // The head first: it is never ahead of the database, so what it says must be found there.
        let head = HeadFile::read(&self.paths.head, &self.key)?.found;
        catch_up(&mut self.state, &self.connection, &self.key, &self.paths, &head)
    }
}
