//! One column of a table, read for statistics: numbers on the column's own line, codes of its domain, or the texts
//! themselves, numbered.
//!
//! Unlike the row encoder, these readers never fail on a cell. A cell that is missing, does not read as the column's
//! kind or is not in its domain is read as missing, so that what is computed from them is defined for every
//! table, and a single row cannot decide whether there is a result.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

use arrow::array::{Array as _, ArrayRef};
use chrono::Datelike as _;

use super::encode::{Axis, Units};
use super::schema::{Bound, Column, Kind, Schema};
use super::table::{Cells, cell};
use super::value::{DAY_MICROS, MICROS, date_of, days, format_iso, parse_number};
use super::{DataError, Table};
use crate::message;

/// The code, or the number of a text, of a missing cell.
pub const NO_VALUE: u32 = u32::MAX;

fn find<'a>(schema: &'a Schema, name: &str) -> Result<&'a Column, DataError> {
    schema.find(name).ok_or_else(|| DataError::Mismatch {
        message: message!(
            "column-not-in-schema",
            "the schema has no column `{column}`; check the name",
            column = name
        ),
    })
}

fn chunks<'a>(table: &'a Table, name: &str) -> Result<impl Iterator<Item = &'a ArrayRef>, DataError> {
    let position = table.position(name).ok_or_else(|| DataError::Mismatch {
        message: message!(
            "column-not-in-data",
            "the data has no column `{column}`; choose the file that has it",
            column = name
        ),
    })?;
    Ok(table.chunks(position))
}

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
        let mut known = Vec::new();
        let mut known_of = None;
        let mut positions = Vec::new();
        for array in chunks(table, &self.name)? {
            positions.clear();
            positions.reserve(array.len());
            match Cells::of(array) {
                Cells::Keyed(keys, texts) => {
                    if known_of.is_none_or(|of| !std::ptr::eq(of, texts)) {
                        known = texts
                            .iter()
                            .map(|text| text.map_or(f64::NAN, |text| self.of_text(text)))
                            .collect();
                        known_of = Some(texts);
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
                Cells::Plain(texts) => {
                    positions.extend(
                        texts
                            .iter()
                            .map(|text| text.map_or(f64::NAN, |text| self.of_text(text))),
                    );
                }
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

/// Reads a column of a public domain: categories or truth values.
#[derive(Clone, Debug)]
pub struct CodeReader {
    name: String,
    kind: Kind,
    values: Vec<String>,
    places: HashMap<String, u32>,
    missing: Vec<String>,
}

impl CodeReader {
    /// For a categorical column with a domain, or a boolean.
    ///
    /// # Errors
    /// When there is no such column, or it has no domain.
    pub fn new(schema: &Schema, name: &str) -> Result<Self, DataError> {
        let column = find(schema, name)?;
        let values = match column.kind {
            Kind::Boolean => {
                let (no, yes) = column.boolean_spellings();
                vec![no.to_owned(), yes.to_owned()]
            }
            Kind::Categorical => column.domain.clone().unwrap_or_default(),
            _ => Vec::new(),
        };
        if values.is_empty() {
            return Err(DataError::Mismatch {
                message: message!(
                    "column-without-domain",
                    "column `{column}` has no list of public values; give it a domain",
                    column = name
                ),
            });
        }
        Ok(Self {
            name: name.to_owned(),
            kind: column.kind,
            places: values.iter().cloned().zip(0..).collect(),
            values,
            missing: schema.missing.clone(),
        })
    }

    /// The values, in the order of their codes.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Hands the codes of all cells to `sink`, a stretch of rows at a time; [`NO_VALUE`] is a missing cell.
    ///
    /// # Errors
    /// When the table has no such column.
    pub fn read(&self, table: &Table, sink: &mut dyn FnMut(&[u32])) -> Result<(), DataError> {
        let mut known = Vec::new();
        let mut known_of = None;
        let mut codes = Vec::new();
        let mut buffer = String::new();
        for array in chunks(table, &self.name)? {
            codes.clear();
            codes.reserve(array.len());
            match Cells::of(array) {
                Cells::Keyed(keys, texts) => {
                    if known_of.is_none_or(|of| !std::ptr::eq(of, texts)) {
                        known = texts
                            .iter()
                            .map(|text| text.map_or(NO_VALUE, |text| self.code(text)))
                            .collect();
                        known_of = Some(texts);
                    }
                    codes.extend(
                        keys.iter()
                            .map(|key| key.map_or(NO_VALUE, |key| known[key as usize])),
                    );
                }
                Cells::Booleans(values) if self.kind == Kind::Boolean => {
                    codes.extend(values.iter().map(|value| value.map_or(NO_VALUE, u32::from)));
                }
                _ => codes.extend(
                    (0..array.len())
                        .map(|row| cell(array, row, &mut buffer).map_or(NO_VALUE, |text| self.code(text))),
                ),
            }
            sink(&codes);
        }
        Ok(())
    }

    fn code(&self, text: &str) -> u32 {
        if text.is_empty() || self.missing.iter().any(|missing| missing == text) {
            return NO_VALUE;
        }
        self.places.get(text).copied().unwrap_or(NO_VALUE)
    }
}

/// The texts of a column, numbered in the order in which they are met.
#[derive(Clone, Debug, Default)]
pub struct NumberedTexts<'a> {
    /// Each row's text; [`NO_VALUE`] is a missing cell.
    pub rows: Vec<u32>,
    /// The distinct texts.
    pub texts: Vec<Cow<'a, str>>,
}

impl<'a> NumberedTexts<'a> {
    /// Reads a column of any kind as text.
    ///
    /// # Errors
    /// When the table has no such column.
    pub fn read(table: &'a Table, schema: &Schema, name: &str) -> Result<Self, DataError> {
        let mut found = Self {
            rows: Vec::with_capacity(table.rows()),
            texts: Vec::new(),
        };
        // A column has one type, so only one of the two is filled.
        let mut lent = HashMap::with_hasher(Mixing::new());
        let mut owned: HashMap<String, u32> = HashMap::new();
        let mut known = Vec::new();
        let mut known_of = None;
        let mut buffer = String::new();
        let Self { rows, texts } = &mut found;
        let mut number = |text: &'a str, texts: &mut Vec<Cow<'a, str>>| {
            if schema.is_missing(text) {
                return NO_VALUE;
            }
            *lent.entry(text).or_insert_with(|| {
                texts.push(Cow::Borrowed(text));
                texts.len() as u32 - 1
            })
        };
        for array in chunks(table, name)? {
            match Cells::of(array) {
                Cells::Keyed(keys, values) => {
                    if known_of.is_none_or(|of| !std::ptr::eq(of, values)) {
                        known = values
                            .iter()
                            .map(|text| text.map_or(NO_VALUE, |text| number(text, texts)))
                            .collect();
                        known_of = Some(values);
                    }
                    rows.extend(
                        keys.iter()
                            .map(|key| key.map_or(NO_VALUE, |key| known[key as usize])),
                    );
                }
                Cells::Plain(values) => {
                    rows.extend(
                        values
                            .iter()
                            .map(|text| text.map_or(NO_VALUE, |text| number(text, texts))),
                    );
                }
                _ => rows.extend((0..array.len()).map(|row| {
                    let Some(text) = cell(array, row, &mut buffer).filter(|text| !schema.is_missing(text))
                    else {
                        return NO_VALUE;
                    };
                    if let Some(&known) = owned.get(text) {
                        return known;
                    }
                    let next = texts.len() as u32;
                    owned.insert(text.to_owned(), next);
                    texts.push(Cow::Owned(text.to_owned()));
                    next
                })),
            }
        }
        Ok(found)
    }
}

/// Makes hashes of short texts in a few multiplications, from a start that differs between processes, so that no
/// file can be made to collide.
#[derive(Clone)]
struct Mixing(u64);

impl Mixing {
    fn new() -> Self {
        Self(RandomState::new().hash_one(0))
    }
}

impl BuildHasher for Mixing {
    type Hasher = Mixer;

    fn build_hasher(&self) -> Mixer {
        Mixer(self.0)
    }
}

struct Mixer(u64);

impl Mixer {
    fn mix(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(0x9e37_79b9_7f4a_7c15_u64);
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
}

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.mix(u64::from_le_bytes(word.try_into().unwrap_or_default()));
        }
        let mut last = [0; 8];
        let rest = words.remainder();
        last[..rest.len()].copy_from_slice(rest);
        self.mix(u64::from_le_bytes(last) ^ (bytes.len() as u64) << 56);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
