//! The privacy certificate: what a synthetic file tells at most about those whose data it was learned from,
//! how that was reached, and what nobody vouches for. JSON for programs, one page of HTML for printing.
//!
//! Everything in it is public: names as typed, events, public parameters. It never holds a hash of the private
//! input nor a figure computed on private rows without noise.
//!
//! [`Certificate::issue`] derives all that can be derived (ε from the events, the odds from ε, the verdict from
//! what is known), and [`verify`] derives it again and compares. The digest over the whole is a guard against
//! careless editing; it is no signature. Whoever forges a certificate can compute its digest anew, but not the seal, which
//! the issuer checks, with what the ledger says of the job ([`compare_with_entry`]).

mod content;
mod facts;
mod file;
mod html;
mod odds;
mod verdict;
mod verify;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::data::Provenance;
use crate::num::RandomOrigin;
use crate::privacy::ledger::{Charge, PrivacyUnit};
use crate::privacy::meaning::Unit;
use crate::privacy::{AccountantKind, EventList, Neighboring};

pub use facts::{CertificateFacts, Choices};
pub(super) use file::hexadecimal;
pub use file::{JSON_SCHEMA, read_certificate, write_certificate};
pub use html::write_certificate_page;
pub use odds::Odds;
pub use verdict::{NoClaim, Verdict};
pub use verify::{Verified, compare_with_entry, verify, verify_file};

/// What the file calls itself.
pub const FORMAT: &str = "pointillist-certificate";

/// The version of the certificate's format that this program writes; it reads every one up to it.
///
/// Since version 2 a certificate says what its records are, and its odds speak of the unit; before, they spoke of a
/// person whatever the unit was.
pub const VERSION: u64 = 2;

/// A privacy certificate. Made by [`Certificate::issue`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Always [`FORMAT`].
    pub format: String,
    /// The format's version.
    pub version: u64,
    /// The verdict when it was issued; [`Certificate::verdict`] derives it anew.
    pub verdict: Verdict,
    /// When it was issued (UTC, ISO 8601).
    pub issued: String,
    /// The data set.
    pub data_set: DataSet,
    /// The method, as the command line names it.
    pub method: String,
    /// The synthetic file.
    pub synthetic_file: SyntheticFile,
    /// What the records of the data set and of the synthetic file are; absent from version 1, which did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<Records>,
    /// The promise; absent for methods without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarantee: Option<Guarantee>,
    /// The neighbouring relation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation: Option<Neighboring>,
    /// The unit of privacy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<PrivacyUnit>,
    /// What was known of the columns, and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<Domain>,
    /// How rows were sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
    /// How noise was represented.
    pub noise: Vec<NoiseKind>,
    /// Where random bits came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random_source: Option<RandomOrigin>,
    /// All that was done to the private data and is charged, in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<EventList>,
    /// Why the work ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// How often the work was cut short and taken up again; absent if it never was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed: Option<Resumed>,
    /// What the ledger of the installation says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spending: Option<Spending>,
    /// What the promise does not cover.
    pub not_protected: Vec<NotProtected>,
    /// What was done with private figures in view and is not in the account.
    pub not_accounted: Vec<NotAccounted>,
    /// What the promise means for an attacker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub odds: Option<Odds>,
    /// Checks of the synthetic file that cost nothing or were paid for.
    pub checks: Vec<Check>,
    /// What made it.
    pub software: Vec<Software>,
    /// SHA-256 of all of the above, written in a fixed way.
    pub digest: String,
    /// A keyed hash of the digest, which the issuing installation alone can make and check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
}

/// The data set as people call it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSet {
    /// Its name, as typed.
    pub name: String,
    /// Its description, as typed.
    #[serde(default)]
    pub description: String,
    /// Whether it was marked as public teaching data.
    #[serde(default)]
    pub public: bool,
}

/// The file that the certificate is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyntheticFile {
    /// Its name when it was written, without the folder.
    pub name: String,
    /// SHA-256 of its bytes, 64 hexadecimal digits.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
    /// Its rows, or images.
    pub rows: u64,
}

/// What one record is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Records {
    /// Rows of a table.
    #[default]
    Rows,
    /// Images.
    Images,
}

impl Records {
    /// What is said of rows, or what is said of images.
    pub fn choose<T>(self, rows: T, images: T) -> T {
        match self {
            Self::Rows => rows,
            Self::Images => images,
        }
    }
}

impl Certificate {
    /// What the promise hides, as sentences call it.
    fn hidden(&self) -> Unit {
        match (&self.unit, self.records) {
            (Some(PrivacyUnit::Person { .. }), _) => Unit::Person,
            (_, Some(Records::Images)) => Unit::Image,
            (_, Some(Records::Rows) | None) => Unit::Row,
        }
    }

    /// As [`Certificate::hidden`], in the odds of the certificate's version.
    fn unit_of_odds(&self) -> Unit {
        if self.version < 2 {
            Unit::Person
        } else {
            self.hidden()
        }
    }
}

/// The variant of differential privacy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// ε-differential privacy.
    Pure,
    /// (ε, δ)-differential privacy.
    Approximate,
}

/// A point of the privacy profile: the promise holds for each of them at once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfilePoint {
    /// ε in nats.
    pub epsilon: f64,
    /// The least δ known to hold at that ε.
    pub delta: f64,
}

/// The promise, as follows from the events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guarantee {
    /// The variant.
    pub variant: Variant,
    /// ε in nats.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// ρ of zero-concentrated differential privacy, if all events are such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rho: Option<f64>,
    /// μ of Gaussian differential privacy, if all events are Gaussian noise on all rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mu: Option<f64>,
    /// The accountant that says so.
    pub accountant: AccountantKind,
    /// The accountant's version.
    pub accountant_version: String,
    /// δ over ε.
    pub profile: Vec<ProfilePoint>,
}

/// What was known of the columns, and where that came from. No values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Domain {
    /// The columns that were used.
    pub columns: Vec<DomainColumn>,
    /// The columns that were dropped before anything was done.
    #[serde(default)]
    pub dropped: Vec<String>,
    /// Where the number of rows came from; absent if it is private and was used unprotected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Provenance>,
    /// Where the number of persons came from, if they are the unit; absent if it is private and was used unprotected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persons: Option<Provenance>,
    /// Where it is known from how the private file was read; absent if it was read as usual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Provenance>,
}

/// A used column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DomainColumn {
    /// Its name.
    pub name: String,
    /// Its kind, as the schema calls it.
    pub kind: String,
    /// Where its bounds or values came from; absent if nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
}

/// How rows came into a step, as run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sampling {
    /// Every mechanism saw all rows.
    AllRows,
    /// Each row by its own coin.
    Poisson,
    /// Batches of a fixed size, drawn without replacement for each step.
    FixedSize,
    /// Shuffled passes: no amplification may be quoted.
    Shuffled,
    /// Each generated row drew its critic.
    RowDraws,
    /// Critics on a public rota.
    RoundRobin,
}

/// How noise was represented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoiseKind {
    /// Gaussian noise in floating-point numbers: training. Its lowest digits are not covered by the proofs.
    FloatingPointGaussian,
    /// Discrete Gaussian noise on a grid.
    DiscreteGaussian,
    /// Discrete Laplace noise on a grid.
    DiscreteLaplace,
    /// Selection by the exponential mechanism.
    Exponential,
}

/// Why the work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The planned end.
    Planned,
    /// The budget was used up.
    BudgetReached,
    /// A milestone fixed in the plan, chosen by released quantities.
    Milestone,
    /// A person stopped it, with private plots in view.
    ByPerson,
}

/// Work that was cut short (a crash, a power cut, the program closed) and went on from a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resumed {
    /// How often.
    pub times: u32,
    /// Steps that may have been done and were lost with the program. They are among the events, so the work ended
    /// this many steps earlier.
    pub lost_steps: u64,
}

/// What the installation's ledger says of the data set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spending {
    /// The entry of this job.
    pub ledger_entry: u64,
    /// What was reserved for it.
    pub reserved: Charge,
    /// What was charged for it.
    pub spent: Charge,
    /// The data set's total, if one is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<Charge>,
    /// The share of the total that is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<f64>,
    /// All that was charged on the data set, added up.
    pub data_set_spent: Charge,
    /// All that is held by unsettled jobs on the data set, added up.
    pub data_set_reserved: Charge,
    /// Jobs on the data set of which nothing was kept: thrown away, or failed.
    pub discarded_runs: u64,
    /// How many entries the ledger had.
    pub ledger_entries: u64,
    /// The hash of its last entry.
    pub ledger_head: String,
    /// What this is a record of.
    pub scope: String,
}

/// Something that the promise does not cover.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum NotProtected {
    /// Bounds or values of a column were read off private rows and let stand.
    AcceptedDomain {
        /// The column.
        column: String,
    },
    /// How the private file is read was found in it and let stand.
    AcceptedForm,
    /// The number of rows was used as it is (a sampling rate reveals it).
    RowCount,
    /// The number of persons was used as it is (a sampling rate reveals it).
    PersonCount,
    /// The lowest digits of floating-point noise.
    FloatingPointNoise,
}

/// Something done with private figures in view, which no account covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotAccounted {
    /// Settings may have been chosen with private figures of earlier runs in view.
    Tuning,
    /// Figures computed on private rows without noise were shown while the work went on.
    Looking,
    /// A checkpoint was chosen by such figures.
    CheckpointChoice,
    /// The moment of stopping was chosen with private plots in view.
    MomentOfStopping,
}

/// Whether a check used private rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckCost {
    /// Computed from released values only.
    Free,
    /// Computed on private rows with noise that is among the events.
    Bought,
}

/// An empirical figure that may leave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// The 95 % interval around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// What it cost.
    pub cost: CheckCost,
}

/// A program or library that took part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Software {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}
