//! The ledger: what was spent on which data set, in an SQLite database that cannot be changed unnoticed.
//!
//! Three files lie in the home folder: `ledger.sqlite` with the table `entries`, `ledger.head` with count and
//! hash of the chain's end, and `ledger.key` with the installation's secret (a fourth, `ledger.lock`, is
//! empty).
//!
//! # Never less than what was spent
//! A job is *reserved* before it starts: its whole plan is charged, written and synced before
//! [`Ledger::reserve`] returns. It is *settled* when it ends: what was executed is charged from then on. A
//! process that dies in between leaves the whole plan charged. Entries are only ever added; a settlement is an
//! entry of its own.
//!
//! # One writer at a time
//! Whoever writes holds a lock of the operating system on `ledger.lock` (let go when its process dies) and an
//! immediate transaction of SQLite, reads what others have added meanwhile, decides, writes, commits, and
//! writes the new head, all before the lock is let go. So two processes cannot both spend the last of a
//! budget.
//!
//! # Whole
//! Each entry carries the keyed hash of all that it holds, its number and the hash of the entry before it: a
//! changed, lost or moved entry does not fit. Entries cut off the end would leave a chain that fits; the head
//! tells of them ([`head`](self) says how both stay in step through a crash). The key makes it hard to mend
//! the chain after a change without this program; who holds the whole home folder can still put back an older
//! copy of all of it, which only the certificates that left since then can show ([`Ledger::knows_end`]).
//! The chain is read whole whenever the ledger is opened, and nothing is spent on one that does not fit.
//!
//! # Caps
//! A data set may have a total; see the text of `cap.rs` for the filter that keeps it and its proof.

mod backup;
mod book;
mod cap;
mod charge;
mod entry;
mod error;
mod files;
mod head;
mod key;
mod opening;
mod read;
mod reading;
mod record;
mod state;
mod store;
mod verify;

#[cfg(test)]
mod tests;

pub use book::Ledger;
pub use entry::{
    Budget, Charge, DatasetId, DatasetSummary, Entry, EntryId, Outcome, PrivacyUnit, Reservation, Settlement,
    Shares, Status, Total,
};
pub use error::LedgerError;
pub use verify::{Finding, Verification};
