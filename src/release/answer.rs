//! What a release says.

use std::fmt;

use serde::Serialize;

use crate::data::{Bound, DataError, Provenance, RowCount, Schema};

use crate::message;

use super::note::Note;

/// A released value.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A whole number.
    Whole(i64),
    /// A number.
    Number(f64),
    /// A category, or a date or time in ISO 8601.
    Text(String),
}

impl Value {
    /// The number, if it is a whole one.
    pub const fn whole(&self) -> Option<i64> {
        match self {
            Self::Whole(value) => Some(*value),
            Self::Number(_) | Self::Text(_) => None,
        }
    }
}

impl From<Bound> for Value {
    fn from(bound: Bound) -> Self {
        match bound {
            Bound::Integer(value) => Self::Whole(value),
            Bound::Number(value) => Self::Number(value),
            Bound::Text(value) => Self::Text(value),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value}"),
            Self::Text(value) => f.write_str(value),
        }
    }
}

/// What a group or a bin is.
#[derive(Clone, Debug, PartialEq)]
pub enum Label {
    /// One value.
    Value(String),
    /// Values from the first to the second, the second left out.
    Below(Value, Value),
    /// Values from the first to the second, both included.
    UpTo(Value, Value),
    /// No value.
    Missing,
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => f.write_str(value),
            Self::Below(from, to) => write!(f, "{from} to below {to}"),
            Self::UpTo(from, to) => write!(f, "{from} to {to}"),
            Self::Missing => f.write_str("(missing)"),
        }
    }
}

/// A statement at 95 % about the statistic without noise.
#[derive(Clone, Debug, PartialEq)]
pub enum Interval {
    /// It lies between these.
    Between(Value, Value),
    /// The released value is no quantile's, but its rank is off by at most this many values: an interval of the
    /// value itself would depend on private ranks, and cost more.
    Rank(f64),
    /// At most this many values more are held by the most frequent one than by the released one.
    Frequency(f64),
}

/// One released value.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The group, if there are groups.
    pub group: Option<Label>,
    /// The bin, of a histogram.
    pub bin: Option<Label>,
    /// The value.
    pub value: Value,
    /// What holds of it at 95 %.
    pub interval: Option<Interval>,
}

/// Knowledge bought for the schema.
#[derive(Clone, Debug, PartialEq)]
pub enum Purchase {
    /// Bounds of a column.
    Bounds {
        /// The column.
        column: String,
        /// The lower bound.
        lower: Bound,
        /// The upper bound.
        upper: Bound,
    },
    /// Values of a column.
    Domain {
        /// The column.
        column: String,
        /// The values, in alphabetical order.
        values: Vec<String>,
    },
    /// The number of rows, with its noise; at least 1.
    Rows(u64),
    /// The number of persons, with its noise; at least 1.
    Persons(u64),
}

impl Purchase {
    /// Writes it into a schema with the provenance `bought`.
    ///
    /// # Errors
    /// When the schema has no such column any more, or would contradict itself; the schema is left as it was then.
    pub fn apply(&self, schema: &mut Schema) -> Result<(), DataError> {
        let mut changed = schema.clone();
        match self {
            Self::Bounds { column, lower, upper } => {
                find(&mut changed, column)?.buy_bounds(lower.clone(), upper.clone());
            }
            Self::Domain { column, values } => {
                find(&mut changed, column)?.buy_domain(values.iter().cloned());
            }
            Self::Rows(value) => changed.rows = Some(bought(*value)),
            Self::Persons(value) => {
                let unit = changed.unit.as_mut().ok_or_else(|| DataError::Mismatch {
                    message: message!(
                        "unit-gone",
                        "the schema tells no persons apart any more, so their number has no place in it"
                    ),
                })?;
                unit.persons = Some(bought(*value));
            }
        }
        changed.validate()?;
        *schema = changed;
        Ok(())
    }
}

const fn bought(value: u64) -> RowCount {
    RowCount {
        value,
        provenance: Provenance::Bought,
    }
}

fn find<'a>(schema: &'a mut Schema, name: &str) -> Result<&'a mut crate::data::Column, DataError> {
    schema.find_mut(name).ok_or_else(|| DataError::Mismatch {
        message: message!(
            "column-gone",
            "the schema has no column `{column}` any more",
            column = name
        ),
    })
}

/// A statistic with its intervals. Everything in it is released: it may be shown, stored and passed on.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// One value, or one for each group and bin; of bounds the lower and the upper one.
    pub cells: Vec<Cell>,
    /// Whether it is one value, not a list of (perhaps one) values.
    pub is_single: bool,
    /// What may be written into the schema.
    pub purchase: Option<Purchase>,
    /// How the values are to be read.
    pub notes: Vec<Note>,
}
