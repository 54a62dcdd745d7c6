//! Why settings do not become a plan.

use super::LARGEST_EPSILON;
use crate::data::{DataError, OpenColumn};
use crate::num::UnitError;
use crate::privacy::CalibrationError;
use crate::train::describe::SettingError;

/// Why settings do not become a plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A setting is outside its range.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// ε is not a possible one.
    #[error(
        "ε is {0}; expected a number above 0 and at most {LARGEST_EPSILON} (for no privacy at all, choose the method `gan`)"
    )]
    Epsilon(f64),
    /// δ is not a possible one.
    #[error("δ is {0}; expected a number above 0 and below 1, well below 1 over the number of rows")]
    Delta(f64),
    /// No noise is enough for this budget.
    #[error("a budget of ε = {epsilon} is too small for one step of this plan; the smallest that works is ε = {}", rounded_up(*.smallest))]
    BudgetTooSmall {
        /// The ε asked for.
        epsilon: f64,
        /// The smallest ε that works with the same settings.
        smallest: f64,
    },
    /// The shares of marginals and fine histograms leave too little for the critic.
    #[error("marginals and fine histograms take {0:.2} of the budget; leave at least 0.05 for the critic")]
    Shares(f64),
    /// Columns that a person has to decide on first.
    #[error("{} open: {}", if .0.len() == 1 { "a column is" } else { "columns are" }, list_open(.0))]
    OpenColumns(Vec<OpenColumn>),
    /// Pairs of columns would have more cells than can be counted.
    #[error(
        "pairs of columns would have {cells} cells, and at most {most} can be counted; take fewer bins, drop columns with many values, or choose the method `dpgan`"
    )]
    ManyCells {
        /// Cells that would have to be counted.
        cells: usize,
        /// The most that can be.
        most: usize,
    },
    /// A mean embedding would not fit into memory.
    #[error(
        "a mean embedding of {frequencies} frequencies over {width} encoded columns would take more than half a gigabyte; take fewer frequencies or bins, or drop columns with many values"
    )]
    LargeEmbedding {
        /// The encoded width of a row.
        width: usize,
        /// Random frequencies.
        frequencies: usize,
    },
    /// Nobody has decided on the row count.
    #[error(
        "the number of rows or persons in the schema is only suggested, read off private rows; declare it, buy it, or take it out of the schema (it is then listed as not protected)"
    )]
    RowsSuggested,
    /// Every column is dropped.
    #[error(
        "no column is left to learn from: all are identifiers or text; change the kind of at least one in the schema"
    )]
    NothingToLearn,
    /// There are no rows.
    #[error("the table has no rows to learn from")]
    NoRows,
    /// The method cannot learn from this kind of data.
    #[error("the method `{method}` does not learn from {data}; choose {instead}")]
    Method {
        /// The method.
        method: &'static str,
        /// What it was to learn from.
        data: &'static str,
        /// Methods that can.
        instead: &'static str,
    },
    /// The label is not a column that can be one.
    #[error(
        "the label `{0}` is not a used column with categories; name a categorical or boolean column, or none"
    )]
    Label(String),
    /// Persons with several images.
    #[error(
        "the schema names `{0}` as the unit of privacy, and images have no such column; remove `unit` to protect single images"
    )]
    Unit(String),
    /// The schema cannot be encoded.
    #[error(transparent)]
    Encoding(#[from] DataError),
    /// No noise could be found.
    #[error("the plan's noise cannot be calibrated")]
    Calibration(#[from] CalibrationError),
    /// A derived number left its range.
    #[error("the plan's numbers do not fit together")]
    Range(#[from] UnitError),
}

/// Four significant digits, rounded up so that the number shown works itself.
pub fn rounded_up(value: f64) -> f64 {
    let unit = 10.0_f64.powf(value.log10().floor() - 3.0);
    // A hair above a round number is its own rounding, no reason for the next one.
    (value / unit * (1.0 - 1e-12)).ceil() * unit
}

fn list_open(columns: &[OpenColumn]) -> String {
    let each = columns
        .iter()
        .map(|column| format!("`{}` ({})", column.name, column.why));
    each.collect::<Vec<_>>().join("; ")
}
