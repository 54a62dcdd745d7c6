//! How an entry comes into the book.

use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use super::{Access, Ledger};
use crate::privacy::ledger::LedgerError;
use crate::privacy::ledger::entry::{EntryId, Reservation};
use crate::privacy::ledger::head::HeadFile;
use crate::privacy::ledger::opening::{catch_up, move_up};
use crate::privacy::ledger::record::Draft;
use crate::privacy::ledger::state::State;

impl Ledger {
    /// Adds one entry: alone among all processes, chained, synced, and the head after it.
    pub(super) fn append(
        &mut self,
        patience: Duration,
        decide: impl FnOnce(&State, &Connection) -> Result<Draft, LedgerError>,
    ) -> Result<EntryId, LedgerError> {
        let Self {
            paths,
            connection,
            key,
            access: Access::Write(lock),
            state,
            clock,
            ..
        } = self
        else {
            return Err(self.cannot_write());
        };
        let failed = |error| LedgerError::from_database(&paths.database, error);
        let _held = lock.hold_within(&paths.database, patience)?;
        let mut head = HeadFile::read(&paths.head, key)?;
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed)?;
        catch_up(state, &transaction, key, paths, &head.found)?;
        move_up(&mut head, state, paths, key)?;
        let draft = decide(state, &transaction)?;
        let time_ms = clock().max(state.last_ms);
        let chained = draft.chain(state.count + 1, time_ms, state.hash, key);
        let record = chained.record();
        record.insert(&transaction).map_err(failed)?;
        transaction.commit().map_err(failed)?;
        let entry = EntryId(record.sequence);
        state
            .apply(&record)
            .map_err(|reason| LedgerError::Unwritable { reason })?;
        head.advance(state.end(), paths, key)
            .map_err(|source| LedgerError::HeadNotWritten {
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
            access: Access::Write(lock),
            state,
            clock,
            ..
        } = self
        else {
            return Err(self.cannot_write());
        };
        let failed = |error| LedgerError::from_database(&paths.database, error);
        let _held = lock.hold(&paths.database)?;
        let mut head = HeadFile::read(&paths.head, key)?;
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed)?;
        for _ in 0..count {
            let draft = Draft::reservation(reservation, None, None)?;
            let chained = draft.chain(state.count + 1, clock(), state.hash, key);
            let record = chained.record();
            record.insert(&transaction).map_err(failed)?;
            state
                .apply(&record)
                .map_err(|reason| LedgerError::Unwritable { reason })?;
        }
        transaction.commit().map_err(failed)?;
        head.advance(state.end(), paths, key)
            .map_err(|error| LedgerError::from_file(&paths.head, error))
    }
}
