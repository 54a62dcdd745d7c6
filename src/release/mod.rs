//! Private statistics of a table: count to quantile, and bounds, categories and the row count for a schema.
//!
//! [`ReleasePlan::new`] decides everything from the schema and the request alone: what is computed, how far one
//! unit can move it, the noise, the events and ε. [`ReleasePlan::run`] then looks at the rows. So what a release
//! costs can be told, refused and charged before any row is read, and nothing in it depends on them.
//!
//! # How a statistic stays within its sensitivity
//! Each cell is clamped to the public bounds and rounded to a whole number of steps of a public grid; whole
//! numbers are added exactly, in 128 bits. No order of rows, no rounding of a sum and no overflow can make two
//! neighbouring tables differ by more than the plan says (`sensitivity.rs`). Noise is drawn on whole steps
//! ([`crate::privacy::mechanism`]). A cell that is missing, unreadable or outside its domain contributes nothing, so
//! a statistic is defined for every table.
//!
//! # Persons
//! With a unit column, the first `max_rows` rows of each person count, in the order of the file, and rows without
//! a person are left out. Taking a person away then takes away at most `max_rows` rows and touches nobody
//! else's; every sensitivity is for that many rows.
//!
//! # Intervals
//! Computed from released values and public parameters only, at 95 %. They cover the statistic of the cells as
//! clamped to their bounds: what clamping changes is named in the notes, not hidden in a width.

mod additive;
mod answer;
mod bounds;
mod categories;
mod error;
mod line;
mod noise;
mod note;
pub mod outlook;
mod persons;
mod plan;
mod request;
mod selection;
mod sensitivity;
mod tally;

#[cfg(test)]
mod tests;

pub use answer::{Answer, Cell, Interval, Label, Purchase, Value};
pub use error::ReleaseError;
pub use note::Note;
pub use plan::{Preview, ReleasePlan, relation_under};
pub use request::{MAX_EPSILON, MIN_EPSILON, Noise, Query, ReleaseRequest};

/// The confidence of every interval.
pub const CONFIDENCE: f64 = 0.95;
