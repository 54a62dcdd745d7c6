//! Reads the chain from its beginning and says what does not fit.

use std::fmt;

use rusqlite::{Connection, OptionalExtension};
use serde::Serialize;

use super::head::{Found, Head, MOST_IN_FLIGHT};
use super::key::{Hash, Key, to_hex};
use super::record::{COLUMNS, Record};
use super::state::State;

/// The most findings that are told one by one.
const MOST_FINDINGS: usize = 100;

/// Something in the ledger that this program did not write so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "finding", rename_all = "snake_case")]
pub enum Finding {
    /// An entry's content does not have its hash.
    Changed {
        /// The entry.
        entry: u64,
    },
    /// Entries in the middle are gone.
    Lost {
        /// The first of them.
        from: u64,
        /// The last of them.
        to: u64,
    },
    /// An entry stands in a place that is not its own.
    Reordered {
        /// The place.
        entry: u64,
    },
    /// Entries at the end are gone.
    CutOff {
        /// How many entries there are.
        found: u64,
        /// How many there were.
        expected: u64,
    },
    /// An entry that is whole but means nothing.
    Meaningless {
        /// The entry.
        entry: u64,
        /// Why.
        reason: String,
    },
    /// The head file is gone.
    HeadMissing,
    /// The head file is not as this program wrote it.
    HeadDamaged,
    /// The head file is from before the newest entries.
    HeadStale {
        /// How many entries it knows.
        known: u64,
        /// How many there are.
        found: u64,
    },
    /// A certificate tells of an end of the chain that this ledger never had.
    CertificateUnknown {
        /// How many entries there were by the certificate.
        count: u64,
    },
    /// A certificate says something else of a job than its entry does.
    CertificateDiffers {
        /// The entry.
        entry: u64,
        /// What differs, in words.
        what: String,
    },
    /// The database itself is inconsistent.
    Database {
        /// What SQLite said.
        reason: String,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed { entry } => write!(formatter, "entry {entry} was changed"),
            Self::Lost { from, to } if from == to => write!(formatter, "entry {from} was lost"),
            Self::Lost { from, to } => write!(formatter, "entries {from} to {to} were lost"),
            Self::Reordered { entry } => write!(formatter, "entry {entry} stands where another belongs"),
            Self::CutOff { found, expected } => {
                write!(
                    formatter,
                    "the end was cut off: {found} entries are left of {expected}"
                )
            }
            Self::Meaningless { entry, reason } => {
                write!(formatter, "entry {entry} makes no sense: {reason}")
            }
            Self::HeadMissing => write!(formatter, "ledger.head is missing"),
            Self::HeadDamaged => write!(formatter, "ledger.head was changed or is damaged"),
            Self::HeadStale { known, found } => {
                write!(
                    formatter,
                    "ledger.head is an old copy: it knows {known} of {found} entries"
                )
            }
            Self::CertificateUnknown { count } => {
                write!(
                    formatter,
                    "the certificate tells of {count} entries with an end that is not in this ledger"
                )
            }
            Self::CertificateDiffers { entry, what } => {
                write!(formatter, "the certificate does not fit entry {entry}: {what}")
            }
            Self::Database { reason } => write!(formatter, "the database is inconsistent: {reason}"),
        }
    }
}

/// What a reading of the whole ledger came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Whether nothing was found.
    pub verified: bool,
    /// How many entries there are.
    pub entries: u64,
    /// The hash of the last entry, in hexadecimal digits.
    pub head: String,
    /// What was found.
    pub findings: Vec<Finding>,
}

impl Verification {
    /// A ledger of which not even the entries can be read.
    pub(super) fn unreadable(reason: String) -> Self {
        Self {
            verified: false,
            entries: 0,
            head: String::new(),
            findings: vec![Finding::Database { reason }],
        }
    }
}

/// A walk along the chain.
pub(super) struct Walk {
    pub state: State,
    pub findings: Vec<Finding>,
    /// Hash of the entry that the head names, if the walk came past it.
    at_head: Option<Hash>,
    /// How many entries there are.
    pub entries: u64,
    /// How many of them do not have their hash.
    pub changed: u64,
}

impl Walk {
    /// Walks the whole chain.
    ///
    /// # Errors
    /// Only when the database cannot be read; all else is a finding.
    pub(super) fn all(connection: &Connection, key: &Key, head: &Found) -> rusqlite::Result<Self> {
        let mut walk = Self {
            state: State::new(key.genesis()),
            findings: Vec::new(),
            at_head: None,
            entries: 0,
            changed: 0,
        };
        let head_count = head.head().map_or(0, |head| head.count);
        if head_count == 0 {
            walk.at_head = Some(key.genesis());
        }
        let mut expected = 1;
        let mut previous = key.genesis();
        let mut broken = false;
        let mut statement =
            connection.prepare_cached(&format!("SELECT {COLUMNS} FROM entries ORDER BY sequence"))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            walk.entries += 1;
            let record = match Record::from_row(row) {
                Ok(record) => record,
                Err(error) if error.sqlite_error_code().is_some() => return Err(error),
                Err(error) => {
                    // A value of a type that this program never writes there.
                    broken = true;
                    walk.find(Finding::Meaningless {
                        entry: expected,
                        reason: error.to_string(),
                    });
                    expected += 1;
                    continue;
                }
            };
            let before = walk.findings.len();
            walk.check(&record, &mut expected, &previous, key);
            broken |= walk.findings.len() > before;
            previous = record.stored_hash().unwrap_or(previous);
            if record.sequence == head_count {
                walk.at_head = Some(previous);
            }
            if !broken && let Err(reason) = walk.state.apply(&record) {
                broken = true;
                walk.find(Finding::Meaningless {
                    entry: record.sequence,
                    reason,
                });
            }
        }
        drop(rows);
        drop(statement);
        if broken {
            walk.tell_moved_from_changed(connection, key)?;
        }
        walk.check_head(head, expected - 1);
        Ok(walk)
    }

    fn find(&mut self, finding: Finding) {
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(finding);
        }
    }

    fn check(&mut self, record: &Record<'_>, expected: &mut u64, previous: &Hash, key: &Key) {
        let sequence = record.sequence;
        if sequence > *expected {
            self.find(Finding::Lost {
                from: *expected,
                to: sequence - 1,
            });
        }
        let gap = sequence != *expected;
        *expected = sequence.saturating_add(1);
        if record.stored_hash() != Some(record.compute_hash(key)) {
            self.changed += 1;
            self.find(Finding::Changed { entry: sequence });
        } else if !gap && record.previous != previous.as_slice() {
            self.find(Finding::Reordered { entry: sequence });
        }
    }

    /// An entry moved as it was carries the hash of its true place: if its content fits its hash under another
    /// number, it was moved.
    fn tell_moved_from_changed(&mut self, connection: &Connection, key: &Key) -> rusqlite::Result<()> {
        let changed: Vec<u64> = self
            .findings
            .iter()
            .filter_map(|finding| {
                if let Finding::Changed { entry } = finding {
                    Some(*entry)
                } else {
                    None
                }
            })
            .collect();
        if changed.is_empty() {
            return Ok(());
        }
        let mut one = connection.prepare(&format!("SELECT {COLUMNS} FROM entries WHERE sequence = ?1"))?;
        for entry in changed {
            let moved = one
                .query_row([entry.cast_signed()], |row| {
                    let mut record = Record::from_row(row)?;
                    let stored = record.stored_hash();
                    Ok((1..=self.entries.min(MOST_PLACES)).any(|place| {
                        record.sequence = place;
                        place != entry && Some(record.compute_hash(key)) == stored
                    }))
                })
                .optional()?
                .unwrap_or(false);
            if moved
                && let Some(finding) = self
                    .findings
                    .iter_mut()
                    .find(|finding| **finding == Finding::Changed { entry })
            {
                *finding = Finding::Reordered { entry };
            }
        }
        Ok(())
    }

    fn check_head(&mut self, head: &Found, last: u64) {
        let (Head { count, hash }, cut_short) = match *head {
            // Before the first entry the head may not have been written yet.
            Found::Missing if self.entries == 0 => return,
            Found::Missing => return self.find(Finding::HeadMissing),
            Found::Damaged => return self.find(Finding::HeadDamaged),
            Found::Head(head) => (head, false),
            Found::CutShort(head) => (head, true),
        };
        if last < count {
            self.find(Finding::CutOff {
                found: last,
                expected: count,
            });
        } else if self.at_head != Some(hash) {
            // The entries up to there are others than those that were written.
            if self.findings.is_empty() {
                self.find(Finding::HeadDamaged);
            }
        } else if last - count > MOST_IN_FLIGHT {
            self.find(Finding::HeadStale {
                known: count,
                found: last,
            });
        } else if cut_short && last == count {
            // Nothing was being written, so somebody changed the spoilt place.
            self.find(Finding::HeadDamaged);
        }
    }

    pub(super) fn result(self) -> Verification {
        Verification {
            verified: self.findings.is_empty(),
            entries: self.entries,
            head: to_hex(&self.state.hash),
            findings: self.findings,
        }
    }
}

/// How many places are tried for an entry that may have been moved.
const MOST_PLACES: u64 = 4096;
