//! How released values are to be read: what was left out, clamped or assumed. Public facts, known before any row
//! is read, except for the two that say what noise left over.

use std::fmt;

use super::answer::Value;

/// A remark on a release.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// Cells without a value do not count.
    MissingLeftOut {
        /// The column.
        column: String,
    },
    /// Values beyond the bounds count as the nearer bound; the statistic is that of the clamped values.
    Clamped {
        /// The column.
        column: String,
        /// The lower bound.
        lower: Value,
        /// The upper bound.
        upper: Value,
    },
    /// Only the first rows of each person count.
    FirstRows {
        /// The unit's column.
        column: String,
        /// How many.
        max_rows: u32,
    },
    /// Persons count, not their rows.
    PersonsOnce {
        /// The column that tells persons apart.
        column: String,
    },
    /// Rows without a group are left out.
    GroupLeftOut {
        /// The column that groups.
        column: String,
    },
    /// How the file is read was found in it and let stand.
    FormAccepted,
    /// Counts and sums keep their noise: they may fall below 0.
    NotCutOff,
    /// The public row count stood in for a noisy one.
    PublicCount,
    /// Each interval holds by itself, not all at once.
    Pointwise,
    /// All intervals hold at once.
    Simultaneous,
    /// The value is one point of a public grid.
    OnGrid {
        /// How far points lie apart, in the column's unit.
        spacing: f64,
    },
    /// The unit of a variance of dates or times.
    Unit {
        /// In words.
        unit: &'static str,
    },
    /// How many rows a bin had to hold, noise included, to count.
    BoundsThreshold {
        /// Rows.
        rows: i64,
        /// The chance, at most, that an end lies in a bin without rows.
        failure: f64,
    },
    /// How many rows a value had to be in, noise included, to be told.
    CategoriesThreshold {
        /// Rows.
        rows: i64,
    },
    /// Nothing stood out from the noise.
    NothingFound,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingLeftOut { column } => write!(f, "cells of `{column}` without a value do not count"),
            Self::Clamped { column, lower, upper } => write!(
                f,
                "values of `{column}` beyond {lower} and {upper} count as the nearer bound; the interval is for the values so clamped"
            ),
            Self::FirstRows { column, max_rows } => write!(
                f,
                "the first {max_rows} rows of each person (`{column}`) count; rows without a person do not"
            ),
            Self::PersonsOnce { column } => write!(
                f,
                "each person (`{column}`) counts once, with however many rows; rows without a person do not count"
            ),
            Self::GroupLeftOut { column } => {
                write!(f, "rows whose `{column}` is missing or not in the domain do not count")
            }
            Self::FormAccepted => {
                f.write_str("not protected: how the file is read was found in the file and accepted")
            }
            Self::NotCutOff => f.write_str("values keep their noise and may fall below 0; cutting them off would bias sums"),
            Self::PublicCount => f.write_str("the number of values is the declared row count, so only the sum carries noise"),
            Self::Pointwise => f.write_str("each interval holds by itself, not all of them at once"),
            Self::Simultaneous => f.write_str("all intervals hold at once"),
            Self::OnGrid { spacing } => write!(f, "the value is a point of a grid with spacing {spacing}"),
            Self::Unit { unit } => write!(f, "in {unit}"),
            Self::BoundsThreshold { rows, failure } => write!(
                f,
                "a bin had to hold more than {rows} rows, noise included; an end lies in an empty bin with probability {failure} at most"
            ),
            Self::CategoriesThreshold { rows } => write!(
                f,
                "a value had to be in more than {rows} rows, noise included; rarer ones count as missing"
            ),
            Self::NothingFound => f.write_str(
                "nothing stood out from the noise, so nothing was bought; a larger epsilon or more rows would be needed",
            ),
        }
    }
}
