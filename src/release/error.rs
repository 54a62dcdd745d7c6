//! Why a statistic cannot be released. Nothing is spent then.

use crate::data::{DataError, OpenReason};
use crate::num::UnitError;
use crate::privacy::mechanism::MechanismError;
use crate::privacy::{AccountingError, Neighboring};

/// Why a statistic was refused, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// The query needs a column.
    #[error("the query {query} needs a column; name one with --column")]
    NoColumn {
        /// The query.
        query: &'static str,
    },
    /// No such column.
    #[error("the schema has no column `{column}`; it has {known}")]
    UnknownColumn {
        /// The name asked for.
        column: String,
        /// The columns that there are.
        known: String,
    },
    /// Identifiers and text.
    #[error(
        "column `{column}` is {kind} and is dropped: nothing of it is released; choose another column, or give it another kind in the schema"
    )]
    Dropped {
        /// The column.
        column: String,
        /// Its kind.
        kind: &'static str,
    },
    /// The query makes no sense for this kind of column.
    #[error("a {query} of column `{column}`, which is {kind}, has no meaning; {remedy}")]
    WrongKind {
        /// The query.
        query: &'static str,
        /// The column.
        column: String,
        /// Its kind.
        kind: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// Nobody has decided on the column's bounds or values.
    #[error("column `{column}` cannot be used yet: {why}; or buy them: --query {buy} --column {column}")]
    Open {
        /// The column.
        column: String,
        /// What is open.
        why: OpenReason,
        /// The query that buys what is missing.
        buy: &'static str,
    },
    /// The same of a column of two values.
    #[error("column `{column}` cannot be used yet: {why}")]
    OpenBoolean {
        /// The column.
        column: String,
        /// What is open.
        why: OpenReason,
    },
    /// Groups need a public domain.
    #[error(
        "grouping by column `{column}` needs a public list of its values, and it is {kind}; group by a categorical or boolean column"
    )]
    NoGroups {
        /// The column.
        column: String,
        /// Its kind.
        kind: &'static str,
    },
    /// The query cannot be grouped.
    #[error("{query} are bought for a whole column; leave out --by")]
    NotByGroup {
        /// The query.
        query: &'static str,
    },
    /// A column cannot be grouped by itself.
    #[error("column `{column}` cannot be grouped by itself; ask for its histogram")]
    GroupedByItself {
        /// The column.
        column: String,
    },
    /// Too many values to release.
    #[error(
        "that would be {cells} values, and at most {most} are released at once; use fewer bins or groups"
    )]
    TooManyCells {
        /// How many it would be.
        cells: usize,
        /// The most.
        most: usize,
    },
    /// There is nothing to buy.
    #[error("the {what} of column `{column}` are declared public knowledge, so there is nothing to buy")]
    NothingToBuy {
        /// Bounds or values.
        what: &'static str,
        /// The column.
        column: String,
    },
    /// The row count is public.
    #[error("the schema declares the number of rows ({rows}) public knowledge, so there is nothing to buy")]
    RowsDeclared {
        /// The number.
        rows: u64,
    },
    /// The number of persons is public.
    #[error(
        "the schema declares the number of persons ({persons}) public knowledge, so there is nothing to buy"
    )]
    PersonsDeclared {
        /// The number.
        persons: u64,
    },
    /// Persons are counted in all.
    #[error("persons are counted in all, since their rows may lie in several groups; leave out --by")]
    PersonsByGroup,
    /// Under replace one the row count is public by definition.
    #[error(
        "under {relation} data sets have the same, public number of rows, so there is nothing to buy; write it into the schema as `rows`"
    )]
    RowsPublic {
        /// The relation.
        relation: Neighboring,
    },
    /// ε out of range.
    #[error("epsilon must lie between {least} and {most}, not {epsilon}: {why}")]
    Epsilon {
        /// What was asked.
        epsilon: f64,
        /// The least.
        least: f64,
        /// The most.
        most: f64,
        /// Why.
        why: &'static str,
    },
    /// δ is needed.
    #[error("{what} needs a delta above 0 (below 1 / number of rows, such as 1e-6); give --delta")]
    DeltaNeeded {
        /// What needs it.
        what: &'static str,
    },
    /// A number out of range.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// The share of a quantile.
    #[error("a quantile's share must lie above 0 and below 1, at least 0.000001 from either, not {share}")]
    Share {
        /// What was asked.
        share: f64,
    },
    /// The number of bins.
    #[error("a histogram needs at least 1 bin and at most {most}, not {bins}")]
    Bins {
        /// What was asked.
        bins: usize,
        /// The most.
        most: usize,
    },
    /// The mechanism does not fit the query.
    #[error("a {query} cannot be answered by the {mechanism} mechanism; use {choice}, or leave it out")]
    Mechanism {
        /// The query.
        query: &'static str,
        /// What was asked.
        mechanism: &'static str,
        /// What there is.
        choice: String,
    },
    /// The schema contradicts itself or does not fit.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The noise cannot be drawn.
    #[error("this noise cannot be drawn; choose another epsilon or narrower bounds")]
    Noise(#[from] MechanismError),
    /// The events cannot be accounted.
    #[error("the release cannot be accounted")]
    Accounting(#[from] AccountingError),
}
