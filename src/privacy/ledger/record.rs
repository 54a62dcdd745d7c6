//! Entries as they lie in the database, and the hash that chains them.

use std::borrow::Cow;

use rusqlite::types::{FromSqlResult, ValueRef};
use rusqlite::{Connection, Row, params};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::LedgerError;
use super::entry::{Charge, Outcome, PrivacyUnit, Reservation};
use super::key::{Hash, Key, to_hex};
use crate::privacy::{EventList, Neighboring};

/// What a row of the database is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordKind {
    Reservation,
    Settlement,
    Total,
    Version,
}

impl RecordKind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Reservation => "reservation",
            Self::Settlement => "settlement",
            Self::Total => "total",
            Self::Version => "version",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        [Self::Reservation, Self::Settlement, Self::Total, Self::Version]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// A row before it has its place in the chain.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub kind: RecordKind,
    pub dataset: Hash,
    /// The reservation that a settlement belongs to; 0 for the others.
    pub job: u64,
    pub body: String,
}

impl Draft {
    /// The row that charges a job.
    pub(super) fn reservation(
        job: &Reservation,
        cost: Option<Cost>,
        columns: Option<Hash>,
    ) -> Result<Self, LedgerError> {
        Ok(Self {
            kind: RecordKind::Reservation,
            dataset: job.dataset.0,
            job: 0,
            body: write(&ReservationBody {
                dataset_name: job.dataset_name.clone(),
                kind: job.kind.clone(),
                epsilon: job.epsilon,
                delta: job.delta,
                unit: job.unit.clone(),
                public: job.public,
                cost,
                seed: job.seed,
                columns: columns.map(|columns| to_hex(&columns)),
                description: job.description.clone(),
                events: job.events.clone(),
                program: env!("CARGO_PKG_VERSION").into(),
            })?,
        })
    }
}

/// A row in its place in the chain, before it is written.
#[derive(Clone, Debug)]
pub(super) struct Chained {
    draft: Draft,
    sequence: u64,
    time_ms: i64,
    previous: Hash,
    pub hash: Hash,
}

impl Draft {
    /// Gives the draft its place after `previous`.
    pub(super) fn chain(self, sequence: u64, time_ms: i64, previous: Hash, key: &Key) -> Chained {
        let mut chained = Chained {
            draft: self,
            sequence,
            time_ms,
            previous,
            hash: Hash::default(),
        };
        chained.hash = chained.record().compute_hash(key);
        chained
    }
}

impl Chained {
    /// The row as it will lie in the database.
    pub(super) fn record(&self) -> Record<'_> {
        Record {
            sequence: self.sequence,
            time_ms: self.time_ms,
            kind: self.draft.kind.name(),
            dataset: &self.draft.dataset,
            job: self.draft.job,
            body: &self.draft.body,
            previous: &self.previous,
            hash: &self.hash,
        }
    }
}

/// A row of the database. Borrowed: a ledger of a hundred thousand of them is read in well under a second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'a> {
    pub sequence: u64,
    pub time_ms: i64,
    pub kind: &'a str,
    pub dataset: &'a [u8],
    pub job: u64,
    pub body: &'a str,
    pub previous: &'a [u8],
    pub hash: &'a [u8],
}

/// The columns in the order in which [`Record::from_row`] takes them.
pub(super) const COLUMNS: &str = "sequence, time, kind, dataset, job, body, previous, hash";

impl<'a> Record<'a> {
    /// The hash over all that the row holds, lengths included, so that no two rows read alike.
    pub(super) fn compute_hash(&self, key: &Key) -> Hash {
        let mut hasher = key.chain();
        hasher.update(b"entry 1");
        hasher.update(&self.sequence.to_le_bytes());
        hasher.update(&self.time_ms.to_le_bytes());
        hasher.update(&self.job.to_le_bytes());
        for part in [
            self.kind.as_bytes(),
            self.dataset,
            self.body.as_bytes(),
            self.previous,
        ] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        *hasher.finalize().as_bytes()
    }

    /// The stored hash, if it has the right length.
    pub(super) fn stored_hash(&self) -> Option<Hash> {
        self.hash.try_into().ok()
    }

    /// The data set's identity, if it has the right length.
    pub(super) fn dataset_hash(&self) -> Option<Hash> {
        self.dataset.try_into().ok()
    }

    /// Looks at a row without copying it.
    ///
    /// # Errors
    /// When a value is of a type that this program never writes there.
    pub(super) fn from_row(row: &'a Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            sequence: value(row, 0, ValueRef::as_i64)?.cast_unsigned(),
            time_ms: value(row, 1, ValueRef::as_i64)?,
            kind: value(row, 2, ValueRef::as_str)?,
            dataset: value(row, 3, ValueRef::as_blob)?,
            job: value(row, 4, ValueRef::as_i64)?.cast_unsigned(),
            body: value(row, 5, ValueRef::as_str)?,
            previous: value(row, 6, ValueRef::as_blob)?,
            hash: value(row, 7, ValueRef::as_blob)?,
        })
    }

    /// Writes the row.
    ///
    /// # Errors
    /// When it cannot be written, or the database says that it did not add one (a trigger may keep it away).
    pub(super) fn insert(&self, connection: &Connection) -> rusqlite::Result<()> {
        let added = connection
            .prepare_cached(
                "INSERT INTO entries (sequence, time, kind, dataset, job, body, previous, hash) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![
                self.sequence.cast_signed(),
                self.time_ms,
                self.kind,
                self.dataset,
                self.job.cast_signed(),
                self.body,
                self.previous,
                self.hash,
            ])?;
        if added == 1 {
            Ok(())
        } else {
            Err(rusqlite::Error::StatementChangedRows(added))
        }
    }
}

/// One value of a row, as the type that this program writes there.
fn value<'a, T>(
    row: &'a Row<'_>,
    column: usize,
    read: impl FnOnce(&ValueRef<'a>) -> FromSqlResult<T>,
) -> rusqlite::Result<T> {
    let value = row.get_ref(column)?;
    read(&value).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, value.data_type(), Box::new(error))
    })
}

/// What a job costs at the Rényi order of its data set's total.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Cost {
    pub order: f64,
    pub value: f64,
    /// δ that no order covers: what events with a δ of their own add.
    #[serde(default)]
    pub delta: f64,
}

impl Cost {
    /// No cost at an order.
    pub(super) const fn nothing(order: f64) -> Self {
        Self {
            order,
            value: 0.0,
            delta: 0.0,
        }
    }
}

/// The body of a reservation.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ReservationBody {
    pub dataset_name: String,
    pub kind: String,
    pub epsilon: f64,
    pub delta: f64,
    pub unit: PrivacyUnit,
    pub public: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Keyed hash of the columns' names, as hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<String>,
    pub description: String,
    pub events: EventList,
    /// The version of the program that wrote it.
    pub program: String,
}

/// What the account needs of a reservation; the rest is skipped while reading.
#[derive(Debug, Deserialize)]
pub(super) struct ReservationGist<'a> {
    #[serde(borrow)]
    pub dataset_name: Cow<'a, str>,
    pub epsilon: f64,
    pub delta: f64,
    pub unit: PrivacyUnit,
    pub public: bool,
    #[serde(default)]
    pub cost: Option<Cost>,
    #[serde(default, borrow)]
    pub columns: Option<Cow<'a, str>>,
    pub events: RelationOnly,
}

/// What the account needs of an event list.
#[derive(Debug, Deserialize)]
pub(super) struct RelationOnly {
    pub neighboring: Neighboring,
}

/// The body of a settlement.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SettlementBody<Events = EventList> {
    pub outcome: Outcome,
    /// What is charged from now on.
    pub charged: Charge,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// ε and δ of what was executed.
    pub executed: Charge,
    pub events: Events,
}

/// The body of a total.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TotalBody {
    pub dataset_name: String,
    pub epsilon: f64,
    pub delta: f64,
    pub reason: String,
    /// Keyed hash of the columns' names, as hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<String>,
    /// Whether a total was in force before.
    pub raised: bool,
    /// What earlier jobs cost at the order, if there were any; fixes the order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Earlier>,
}

/// Jobs from before a total, put under it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Earlier {
    /// Settled jobs, added up.
    pub spent: Cost,
    /// Unsettled jobs.
    pub open: Vec<(u64, Cost)>,
}

/// The body of a new version; its data set is that of the new content.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct VersionBody {
    pub dataset_name: String,
    /// The identity of a version that is known.
    pub of: String,
    /// Keyed hash of the columns' names, as hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<String>,
}

/// The text of a body, which reads back as it is: no number is lost, and none is there that JSON cannot hold.
pub(super) fn write<T: Serialize + DeserializeOwned>(body: &T) -> Result<String, LedgerError> {
    let unwritable = |error: serde_json::Error| LedgerError::Unwritable {
        reason: error.to_string(),
    };
    let text = serde_json::to_string(body).map_err(unwritable)?;
    let back: T = serde_json::from_str(&text).map_err(unwritable)?;
    if serde_json::to_string(&back).map_err(unwritable)? == text {
        Ok(text)
    } else {
        Err(LedgerError::Unwritable {
            reason: format!("{text} does not read back as it was"),
        })
    }
}
