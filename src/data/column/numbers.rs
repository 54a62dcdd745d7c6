//! Columns of numbers, dates, times and truth values as positions on their lines.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array as _, LargeStringArray};
use arrow::datatypes::DataType;
use chrono::Datelike as _;

use super::{find, position, threads};
use crate::data::encode::{Axis, Units};
use crate::data::schema::{Bound, Column, Kind, Schema};
use crate::data::table::{Cells, has_new_texts};
use crate::data::value::{DAY_MICROS, MICROS, date_of, days, format_iso, parse_number};
use crate::data::{DataError, Table};
use crate::message;

/// Rows that a thread parses at a time.
const PIECE: usize = 1 << 16;

/// Reads a column of numbers, dates, times or truth values.
///
/// A *position* is where a cell stands on the column's line: the number itself; with fixed decimals whole steps of the
/// last one; whole days; whole steps of a time's resolution; 0 and 1 for false and true.
#[derive(Clone, Debug)]
pub struct NumberReader {
    name: String,
    kind: Kind,
    axis: Option<Axis>,
    spellings: [String; 2],
    missing_texts: Vec<String>,
    missing_numbers: Vec<f64>,
}

impl NumberReader {
    /// For a column with bounds (or declared bins); a boolean needs none.
    ///
    /// # Errors
    /// When there is no such column, it holds no numbers, or it has no bounds.
    pub fn new(schema: &Schema, name: &str) -> Result<Self, DataError> {
        Self::with_axis(schema, name, Axis::new)
    }

    /// For a column whose bounds are not known, or are not to be used.
    ///
    /// # Errors
    /// When there is no such column or it holds no numbers.
    pub fn unbounded(schema: &Schema, name: &str) -> Result<Self, DataError> {
        Self::with_axis(schema, name, Axis::unbounded)
    }

    fn with_axis(
        schema: &Schema,
        name: &str,
        axis: impl Fn(&Column) -> Result<Axis, DataError>,
    ) -> Result<Self, DataError> {
        let column = find(schema, name)?;
        let axis = match column.kind {
            Kind::Boolean => None,
            kind if kind.is_numeric() => Some(axis(column)?),
            kind => {
                return Err(DataError::Mismatch {
                    message: message!(
                        "column-not-a-number",
                        "column `{column}` is {kind}, not a number; choose another column",
                        column = name,
                        kind = kind
                    ),
                });
            }
        };
        let (no, yes) = column.boolean_spellings();
        Ok(Self {
            name: name.to_owned(),
            kind: column.kind,
            axis,
            spellings: [no.to_owned(), yes.to_owned()],
            missing_texts: schema.missing.clone(),
            missing_numbers: schema
                .missing
                .iter()
                .filter_map(|text| parse_number(text))
                .collect(),
        })
    }

    /// The lowest and the highest position within the bounds.
    pub fn bounds(&self) -> (f64, f64) {
        self.axis
            .as_ref()
            .map_or((0.0, 1.0), |axis| (axis.lower, axis.upper))
    }

    /// Whether positions are whole numbers.
    pub fn is_whole(&self) -> bool {
        self.axis.as_ref().is_none_or(Axis::is_grid)
    }

    /// How many units of the value one step of the line is: numbers in their own unit, dates in days, times
    /// in seconds.
    pub fn unit(&self) -> f64 {
        match self.axis.as_ref().map(|axis| &axis.units) {
            Some(Units::Decimal(steps)) => 1.0 / steps,
            Some(Units::Temporal(format)) if self.kind != Kind::Date => {
                format.resolution() as f64 / MICROS as f64
            }
            _ => 1.0,
        }
    }

    /// The number at a position, in the unit of [`NumberReader::unit`].
    pub fn number(&self, position: f64) -> f64 {
        match &self.axis {
            // A quotient is nearer to the decimal fraction than a product with its inverse.
            Some(axis) if !matches!(axis.units, Units::Temporal(_)) => axis.to_number(position),
            _ => position * self.unit(),
        }
    }

    /// The position of a number of the column's own unit (an edge of a bin), for columns of plain numbers.
    pub fn position_of(&self, number: f64) -> f64 {
        match self.axis.as_ref().map(|axis| &axis.units) {
            Some(Units::Decimal(steps)) => number * steps,
            _ => number,
        }
    }

    /// A position as it stands in a schema's bounds: a number, or a date or time in ISO 8601.
    pub fn bound(&self, position: f64) -> Bound {
        match &self.axis {
            Some(axis) if self.kind.is_temporal() => {
                Bound::Text(format_iso(self.kind, axis.to_whole(position.round())))
            }
            _ => Bound::from(self.number(position)),
        }
    }

    /// The calendar year of a position of a date or datetime; `None` beyond the calendar.
    pub fn year(&self, position: f64) -> Option<i32> {
        let whole = self.axis.as_ref()?.to_whole(position);
        let day = match self.kind {
            Kind::Date => whole,
            Kind::Datetime => whole.div_euclid(DAY_MICROS),
            _ => return None,
        };
        date_of(day).map(|date| date.year())
    }

    /// The position of the first moment of a calendar year.
    pub fn start_of_year(&self, year: i32) -> Option<f64> {
        let day = days(chrono::NaiveDate::from_ymd_opt(year, 1, 1)?);
        match (&self.axis.as_ref()?.units, self.kind) {
            (_, Kind::Date) => Some(day as f64),
            (Units::Temporal(format), Kind::Datetime) => {
                Some((day * DAY_MICROS).div_euclid(format.resolution()) as f64)
            }
            _ => None,
        }
    }

    /// How many steps of the line make an hour; `None` unless the column holds times of day.
    pub fn steps_per_hour(&self) -> Option<f64> {
        match &self.axis.as_ref()?.units {
            Units::Temporal(format) if self.kind == Kind::Time => {
                Some(3600.0 * MICROS as f64 / format.resolution() as f64)
            }
            _ => None,
        }
    }

    /// Hands the positions of all cells to `sink`, a stretch of rows at a time; NaN is a missing cell. Positions
    /// are not clamped.
    ///
    /// # Errors
    /// When the table has no such column.
    pub fn read(&self, table: &Table, sink: &mut dyn FnMut(&[f64])) -> Result<(), DataError> {
        let column = position(table, &self.name)?;
        if is_kept_text(table, column) {
            sink(&self.parsed(table, column)?);
            return Ok(());
        }
        let mut known = Vec::new();
        let mut known_of = None;
        let mut positions = Vec::new();
        for array in table.chunks(column) {
            let array = &array?;
            positions.clear();
            positions.reserve(array.len());
            match Cells::of(array) {
                Cells::Keyed(keys, texts) => {
                    if has_new_texts(array, &mut known_of) {
                        known = texts
                            .iter()
                            .map(|text| text.map_or(f64::NAN, |text| self.of_text(text)))
                            .collect();
                    }
                    match keys.nulls().filter(|nulls| nulls.null_count() > 0) {
                        None => positions.extend(keys.values().iter().map(|&key| known[key as usize])),
                        Some(nulls) => positions.extend(
                            keys.values()
                                .iter()
                                .zip(nulls)
                                .map(|(&key, valid)| if valid { known[key as usize] } else { f64::NAN }),
                        ),
                    }
                }
                Cells::Plain(texts) => positions.extend(self.of_texts(texts, 0..texts.len())),
                Cells::Integers(values) => positions.extend(
                    values
                        .iter()
                        .map(|value| value.map_or(f64::NAN, |value| self.of_number(value as f64))),
                ),
                Cells::Numbers(values) => positions.extend(
                    values
                        .iter()
                        .map(|value| value.map_or(f64::NAN, |value| self.of_number(value))),
                ),
                Cells::Booleans(values) => positions.extend(
                    values
                        .iter()
                        .map(|value| value.map_or(f64::NAN, |value| self.of_boolean(value))),
                ),
                Cells::Dates(values) => positions.extend(
                    values
                        .iter()
                        .map(|value| self.temporal(value.map(i64::from), Axis::of_date)),
                ),
                Cells::Times(values) => positions.extend(
                    values
                        .iter()
                        .map(|value| self.temporal(value, |axis, micros| axis.of_micros(Kind::Time, micros))),
                ),
                Cells::Datetimes(values) => positions.extend(values.iter().map(|value| {
                    self.temporal(value, |axis, micros| axis.of_micros(Kind::Datetime, micros))
                })),
            }
            sink(&positions);
        }
        Ok(())
    }

    /// Parses the column now, if it is text, for all readers of it.
    pub(super) fn prepare(&self, table: &Table) -> Result<(), DataError> {
        let column = position(table, &self.name)?;
        if is_kept_text(table, column) {
            self.parsed(table, column)?;
        }
        Ok(())
    }

    /// A column of text with many distinct values: parsed by several threads, once.
    fn parsed(&self, table: &Table, column: usize) -> Result<Arc<Vec<f64>>, DataError> {
        let arrays = table.chunks(column).collect::<Result<Vec<_>, _>>()?;
        // Bounds do not move a position, so they are no part of the rule.
        let units = self.axis.as_ref().map(|axis| (&axis.units, &axis.numeral));
        let rule = format!("{:?}", (self.kind, units, &self.spellings, &self.missing_texts));
        Ok(table.kept().positions.get(column, rule, || {
            let mut positions = vec![f64::NAN; table.rows()];
            let mut pieces = Vec::new();
            let mut rest = positions.as_mut_slice();
            for array in &arrays {
                let Cells::Plain(texts) = Cells::of(array) else {
                    // A column has one type.
                    continue;
                };
                for start in (0..texts.len()).step_by(PIECE) {
                    let rows = start..texts.len().min(start + PIECE);
                    let (piece, after) = rest.split_at_mut(rows.len());
                    rest = after;
                    pieces.push((texts, rows, piece));
                }
            }
            let share = pieces.len().div_ceil(threads()).max(1);
            std::thread::scope(|scope| {
                for pieces in pieces.chunks_mut(share) {
                    scope.spawn(|| {
                        for (texts, rows, piece) in pieces {
                            for (place, position) in piece.iter_mut().zip(self.of_texts(texts, rows.clone()))
                            {
                                *place = position;
                            }
                        }
                    });
                }
            });
            positions
        }))
    }

    fn of_texts(&self, texts: &LargeStringArray, rows: Range<usize>) -> impl Iterator<Item = f64> {
        rows.map(|row| {
            if texts.is_null(row) {
                f64::NAN
            } else {
                self.of_text(texts.value(row))
            }
        })
    }

    fn of_text(&self, text: &str) -> f64 {
        if text.is_empty() || self.missing_texts.iter().any(|missing| missing == text) {
            return f64::NAN;
        }
        match &self.axis {
            Some(axis) => axis.of_text(text).unwrap_or(f64::NAN),
            None if text == self.spellings[0] => 0.0,
            None if text == self.spellings[1] => 1.0,
            None => f64::NAN,
        }
    }

    fn of_number(&self, value: f64) -> f64 {
        if self.missing_numbers.contains(&value) {
            return f64::NAN;
        }
        match &self.axis {
            Some(axis) => axis.of_number(value).unwrap_or(f64::NAN),
            // A truth value that the file kept as a number is spelled like one.
            None => self.of_text(&Bound::from(value).to_string()),
        }
    }

    fn of_boolean(&self, value: bool) -> f64 {
        match &self.axis {
            None => f64::from(u8::from(value)),
            Some(_) => f64::NAN,
        }
    }

    fn temporal(&self, value: Option<i64>, read: impl Fn(&Axis, i64) -> Option<f64>) -> f64 {
        value
            .zip(self.axis.as_ref())
            .and_then(|(value, axis)| read(axis, value))
            .unwrap_or(f64::NAN)
    }
}

/// Whether a column is text with many distinct values, and what is read of it is kept. Where the rows themselves are too
/// many for memory, so would that be.
fn is_kept_text(table: &Table, column: usize) -> bool {
    table.file_bytes().is_none() && table.schema().field(column).data_type() == &DataType::LargeUtf8
}
