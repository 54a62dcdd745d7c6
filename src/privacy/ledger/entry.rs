//! What callers hand to the ledger and get back from it.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use super::LedgerError;
use super::charge::same_promise;
use crate::privacy::{EventList, Neighboring};

/// Knows a data set by the keyed hash of its content.
///
/// The key never leaves the installation, and neither does this value: it cannot be serialised, and its
/// debug form is blank, so that it ends up in no export, log or certificate.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DatasetId(pub(super) [u8; 32]);

impl fmt::Debug for DatasetId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("DatasetId(…)")
    }
}

/// The number of an entry in the ledger, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryId(pub u64);

impl fmt::Display for EntryId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Whose presence is hidden.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum PrivacyUnit {
    /// One row of the table.
    #[default]
    Row,
    /// One person with at most `max_rows` rows.
    Person {
        /// The column that names the person.
        column: String,
        /// The most rows that one person has, or is cut down to.
        max_rows: u64,
    },
}

impl PrivacyUnit {
    /// Whether promises for the two units add up: the same column means the same persons.
    pub fn adds_up_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Row, Self::Row) => true,
            (Self::Person { column, .. }, Self::Person { column: other, .. }) => column == other,
            _ => false,
        }
    }
}

impl fmt::Display for PrivacyUnit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Row => formatter.write_str("one row"),
            Self::Person { column, max_rows } => {
                write!(
                    formatter,
                    "one person (column \"{column}\", at most {max_rows} rows)"
                )
            }
        }
    }
}

/// What a job may spend, charged before it starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Reservation {
    /// The data set.
    pub dataset: DatasetId,
    /// Its name as the person knows it.
    pub dataset_name: String,
    /// What kind of job: `dpgan`, `count`, `histogram`, …
    pub kind: String,
    /// All that the job may do; carries the neighbouring relation.
    pub events: EventList,
    /// ε of the plan, as its accountant states it.
    pub epsilon: f64,
    /// δ of the plan.
    pub delta: f64,
    /// The unit of privacy.
    pub unit: PrivacyUnit,
    /// Teaching data: the spend is recorded, no cap applies.
    pub public: bool,
    /// A fixed seed, with which nothing of the job is private.
    pub seed: Option<u64>,
    /// A line for the person who reads the ledger.
    pub description: String,
}

/// How a reserved job ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Outcome {
    /// By its plan, or because its budget was used up. What was executed is charged.
    Finished,
    /// By a person who could see steward-only figures: the whole plan is charged.
    StoppedByPerson,
    /// By a failure. What was executed is charged.
    Failed {
        /// What failed.
        message: String,
    },
    /// Nothing of it was kept: it stays in the ledger at zero, and is counted.
    Discarded,
}

/// What a reserved job really did.
#[derive(Clone, Debug, PartialEq)]
pub struct Settlement {
    /// What was executed.
    pub events: EventList,
    /// ε of what was executed.
    pub epsilon: f64,
    /// δ of what was executed.
    pub delta: f64,
    /// How the job ended.
    pub outcome: Outcome,
    /// A line for the person who reads the ledger.
    pub note: Option<String>,
}

/// ε and δ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Charge {
    /// ε in nats.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
}

impl Charge {
    /// The sum of two promises by basic composition.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            epsilon: self.epsilon + other.epsilon,
            delta: self.delta + other.delta,
        }
    }
}

/// What an entry of the ledger is about, and how far it has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Status {
    /// Charged, and not settled: running, or cut short by a crash.
    Reserved,
    /// See [`Outcome::Finished`].
    Finished,
    /// See [`Outcome::StoppedByPerson`].
    StoppedByPerson,
    /// See [`Outcome::Failed`].
    Failed {
        /// What failed.
        message: String,
    },
    /// See [`Outcome::Discarded`].
    Discarded,
    /// A total was set.
    TotalSet,
    /// The total was raised.
    TotalRaised,
    /// A changed file continues the budget of an earlier version.
    NewVersion,
}

impl From<&Outcome> for Status {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Finished => Self::Finished,
            Outcome::StoppedByPerson => Self::StoppedByPerson,
            Outcome::Failed { message } => Self::Failed {
                message: message.clone(),
            },
            Outcome::Discarded => Self::Discarded,
        }
    }
}

/// One line of the ledger as people read it: a job from reservation to settlement, a total, a new version.
///
/// Holds no hash of a data set, so it may be shown and exported.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// Its number; jobs are known by that of their reservation.
    pub id: EntryId,
    /// The data set's number in this ledger. All versions of a data set share it.
    pub dataset: u64,
    /// The data set's name when the entry was made.
    pub dataset_name: String,
    /// When it was made, in milliseconds since 1970 (UTC); never before the entry ahead of it.
    #[serde(rename = "time", serialize_with = "as_iso_8601")]
    pub time_ms: i64,
    /// When it was settled.
    #[serde(rename = "settled", serialize_with = "as_iso_8601_if_any")]
    pub settled_ms: Option<i64>,
    /// What kind of job; `total` and `version` for the other entries.
    pub kind: String,
    /// How far it has come.
    #[serde(flatten)]
    pub status: Status,
    /// ε charged; of a total, its ε.
    pub epsilon: f64,
    /// δ charged; of a total, its δ.
    pub delta: f64,
    /// What was reserved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved: Option<Charge>,
    /// The relation of the promise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<Neighboring>,
    /// The unit of privacy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<PrivacyUnit>,
    /// Whether the data was marked as teaching data.
    pub public: bool,
    /// The fixed seed of a job that is not private.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// What the job was; of a total, its reason.
    pub description: String,
    /// What was said at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The events that are charged: the whole plan until settled, then what was executed (or the plan, after
    /// a stop by a person).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<EventList>,
}

impl Entry {
    /// When it was made, in ISO 8601.
    pub fn time(&self) -> String {
        iso_8601(self.time_ms)
    }
}

/// A time as people and other programs read it.
pub(super) fn iso_8601(time_ms: i64) -> String {
    chrono::DateTime::from_timestamp_millis(time_ms).map_or_else(
        || format!("{time_ms} ms"),
        |time| time.to_rfc3339_opts(chrono::SecondsFormat::Millis, true),
    )
}

fn as_iso_8601<S: Serializer>(time_ms: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&iso_8601(*time_ms))
}

#[expect(clippy::ref_option, reason = "serde hands over a reference to the field")]
fn as_iso_8601_if_any<S: Serializer>(time_ms: &Option<i64>, serializer: S) -> Result<S::Ok, S::Error> {
    match time_ms {
        Some(time_ms) => serializer.serialize_str(&iso_8601(*time_ms)),
        None => serializer.serialize_none(),
    }
}

/// The total of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Total {
    /// ε of the total.
    pub epsilon: f64,
    /// δ of the total.
    pub delta: f64,
    /// The Rényi order at which it is kept; fixed with the first charge.
    pub order: Option<f64>,
    /// Whether part of δ is set apart for events with a δ of their own.
    #[serde(skip)]
    pub(super) sets_apart: bool,
}

/// Shares of a total, each 0 to 1; together at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Shares {
    /// What settled jobs took.
    pub spent: f64,
    /// What unsettled jobs hold.
    pub reserved: f64,
    /// What is left.
    pub left: f64,
}

/// Where a data set's budget stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Budget {
    /// The data set's number in this ledger; `None` if it has no entry yet.
    pub dataset: Option<u64>,
    /// Its newest name.
    pub dataset_name: String,
    /// The total, if one is set.
    pub total: Option<Total>,
    /// Shares of the total by the Rényi filter; `None` without a total.
    pub shares: Option<Shares>,
    /// Settled jobs, added up by basic composition: as information, an upper bound.
    pub spent: Charge,
    /// Unsettled jobs, added up likewise.
    pub reserved: Charge,
    /// Whether the newest job marked the data as teaching data.
    pub public: bool,
    /// Jobs that were charged.
    pub jobs: u64,
    /// Jobs of which nothing was kept: thrown away, or failed.
    pub discarded: u64,
    /// Under what relation and for which unit the jobs were promised; `None` before the first.
    #[serde(skip)]
    pub promise: Option<(Neighboring, PrivacyUnit)>,
}

impl Budget {
    /// Whether a new job's promise adds up with what the total holds; without a total, every promise does.
    ///
    /// # Errors
    /// When it does not: the ledger would refuse the job.
    pub fn check_promise(&self, relation: Neighboring, unit: &PrivacyUnit) -> Result<(), LedgerError> {
        match (&self.total, &self.promise) {
            (Some(_), Some(kept)) => same_promise(&self.dataset_name, kept, (relation, unit)),
            _ => Ok(()),
        }
    }
}

/// A data set that the ledger knows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DatasetSummary {
    /// Its number in this ledger.
    pub number: u64,
    /// Its newest name.
    pub name: String,
    /// Its newest version.
    #[serde(skip)]
    pub id: DatasetId,
    /// How many versions of it are known.
    pub versions: u64,
    /// Whether a total is set for it.
    #[serde(skip)]
    pub has_total: bool,
    /// When it was last charged.
    #[serde(rename = "last", serialize_with = "as_iso_8601")]
    pub last_ms: i64,
}
