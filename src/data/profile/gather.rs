//! The distinct values of a column with their counts, whatever its Arrow type.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::Hash;

use arrow::array::{Array as _, ArrayRef, AsArray as _};

use super::NumberSummary;
use crate::data::numeral::NumberFormat;
use crate::data::schema::{Column, Kind};
use crate::data::table::{Cells, has_new_texts};
use crate::data::value::{
    DAY_MICROS, TemporalFormat, calendar, format_iso, format_number, parse_integer, parse_number,
};
use crate::data::{DataError, Table};

/// Distinct values by type.
pub(super) enum Distinct<'a> {
    Texts(Vec<(&'a str, u64)>),
    Integers(Vec<(i64, u64)>),
    Numbers(Vec<(f64, u64)>),
    Booleans([u64; 2]),
    Temporal(Kind, Vec<(i64, u64)>),
}

/// All that profiling needs of one column.
pub(super) struct Gathered<'a> {
    pub distinct: Distinct<'a>,
    rows: u64,
    present: u64,
}

/// The counts of a column's distinct values, to be borrowed from.
#[derive(Default)]
pub(super) struct Counts {
    texts: HashMap<Box<str>, u64>,
    integers: HashMap<i64, u64>,
    /// By their bits.
    numbers: HashMap<u64, u64>,
    booleans: [u64; 2],
    temporal: Option<Kind>,
    rows: u64,
}

impl Counts {
    /// Counts the column's values; nulls (and NaN) are missing.
    ///
    /// # Errors
    /// When the rows lie in a file that cannot be read.
    pub fn of(table: &Table, index: usize) -> Result<Self, DataError> {
        let mut counts = Self {
            rows: table.rows() as u64,
            ..Self::default()
        };
        // How often each of the texts occurs that the latest pieces number.
        let mut numbered: (Option<ArrayRef>, Vec<u64>) = (None, Vec::new());
        for array in table.chunks(index) {
            let array = &array?;
            match Cells::of(array) {
                Cells::Keyed(keys, values) => {
                    let before = numbered.0.clone();
                    if has_new_texts(array, &mut numbered.0) {
                        counts.add_numbered(before.as_ref(), &numbered.1);
                        numbered.1 = vec![0; values.len()];
                    }
                    for key in keys.iter().flatten() {
                        numbered.1[key as usize] += 1;
                    }
                }
                Cells::Plain(values) => values.iter().flatten().for_each(|text| counts.add(text, 1)),
                Cells::Integers(values) => count(&mut counts.integers, values.iter().flatten()),
                Cells::Numbers(values) => {
                    // -0 and 0 are one value.
                    let values = values
                        .iter()
                        .flatten()
                        .filter(|value| !value.is_nan())
                        .map(|value| value + 0.0);
                    count(&mut counts.numbers, values.map(f64::to_bits));
                }
                Cells::Booleans(values) => values
                    .iter()
                    .flatten()
                    .for_each(|flag| counts.booleans[usize::from(flag)] += 1),
                Cells::Dates(values) => {
                    counts.temporal = Some(Kind::Date);
                    count(&mut counts.integers, values.iter().flatten().map(i64::from));
                }
                Cells::Times(values) => {
                    counts.temporal = Some(Kind::Time);
                    count(&mut counts.integers, values.iter().flatten());
                }
                Cells::Datetimes(values) => {
                    counts.temporal = Some(Kind::Datetime);
                    count(&mut counts.integers, values.iter().flatten());
                }
            }
        }
        counts.add_numbered(numbered.0.as_ref(), &numbered.1);
        Ok(counts)
    }

    fn add(&mut self, text: &str, times: u64) {
        match self.texts.get_mut(text) {
            Some(count) => *count += times,
            None => {
                self.texts.insert(text.into(), times);
            }
        }
    }

    fn add_numbered(&mut self, texts: Option<&ArrayRef>, times: &[u64]) {
        let Some(texts) = texts else { return };
        for (text, &times) in texts.as_string::<i32>().iter().flatten().zip(times) {
            if times > 0 {
                self.add(text, times);
            }
        }
    }
}

impl<'a> Gathered<'a> {
    /// The counts in order.
    pub fn of(counts: &'a Counts) -> Self {
        let Counts {
            texts,
            integers,
            numbers,
            booleans,
            temporal,
            rows,
        } = counts;
        let integers = integers.iter().map(|(value, count)| (*value, *count));
        let distinct = if let Some(kind) = *temporal {
            Distinct::Temporal(kind, sorted(integers))
        } else if !numbers.is_empty() {
            let mut values: Vec<_> = numbers
                .iter()
                .map(|(&bits, &count)| (f64::from_bits(bits), count))
                .collect();
            values.sort_by(|a, b| a.0.total_cmp(&b.0));
            Distinct::Numbers(values)
        } else if integers.len() > 0 {
            Distinct::Integers(sorted(integers))
        } else if *booleans != [0, 0] {
            Distinct::Booleans(*booleans)
        } else {
            Distinct::Texts(sorted(texts.iter().map(|(text, count)| (&**text, *count))))
        };
        let mut gathered = Self {
            distinct,
            rows: *rows,
            present: 0,
        };
        gathered.present = gathered.count();
        gathered
    }

    /// Takes the values that are spellings of missing out of the counts.
    pub fn set_missing(&mut self, spellings: &[String]) {
        if let Distinct::Texts(values) = &mut self.distinct {
            values.retain(|(text, _)| !spellings.iter().any(|missing| missing == text));
        }
        self.present = self.count();
    }

    fn count(&self) -> u64 {
        match &self.distinct {
            Distinct::Texts(values) => values.iter().map(|(_, count)| count).sum(),
            Distinct::Integers(values) | Distinct::Temporal(_, values) => {
                values.iter().map(|(_, count)| count).sum()
            }
            Distinct::Numbers(values) => values.iter().map(|(_, count)| count).sum(),
            Distinct::Booleans(counts) => counts.iter().sum(),
        }
    }

    pub const fn present(&self) -> u64 {
        self.present
    }

    pub const fn missing(&self) -> u64 {
        self.rows - self.present
    }

    /// Cells that are infinite.
    pub fn infinite(&self) -> u64 {
        match &self.distinct {
            Distinct::Numbers(values) => values
                .iter()
                .filter(|(value, _)| value.is_infinite())
                .map(|(_, count)| count)
                .sum(),
            _ => 0,
        }
    }

    /// Cells with a date or time that no calendar or clock has.
    pub fn beyond_calendar(&self) -> u64 {
        match &self.distinct {
            Distinct::Temporal(kind, values) => {
                let known = calendar(*kind);
                values
                    .iter()
                    .filter(|(value, _)| !known.contains(value))
                    .map(|(_, count)| count)
                    .sum()
            }
            _ => 0,
        }
    }

    pub fn distinct(&self) -> usize {
        match &self.distinct {
            Distinct::Texts(values) => values.len(),
            Distinct::Integers(values) | Distinct::Temporal(_, values) => values.len(),
            Distinct::Numbers(values) => values.len(),
            Distinct::Booleans(counts) => counts.iter().filter(|count| **count > 0).count(),
        }
    }

    /// The distinct values as text, with their counts.
    pub fn texts(&self) -> Box<dyn Iterator<Item = (Cow<'a, str>, u64)> + '_> {
        match &self.distinct {
            Distinct::Texts(values) => {
                Box::new(values.iter().map(|&(text, count)| (Cow::Borrowed(text), count)))
            }
            Distinct::Integers(values) => Box::new(
                values
                    .iter()
                    .map(|&(value, count)| (Cow::Owned(value.to_string()), count)),
            ),
            Distinct::Numbers(values) => Box::new(
                values
                    .iter()
                    .map(|&(value, count)| (Cow::Owned(format_number(value)), count)),
            ),
            Distinct::Booleans(counts) => Box::new(
                ["false", "true"]
                    .into_iter()
                    .map(Cow::Borrowed)
                    .zip(counts.iter().copied())
                    .filter(|(_, count)| *count > 0),
            ),
            Distinct::Temporal(kind, values) => {
                let kind = *kind;
                Box::new(
                    values
                        .iter()
                        .map(move |&(value, count)| (Cow::Owned(format_iso(kind, value)), count)),
                )
            }
        }
    }

    /// The values as numbers under the column's kind and format; `None` when one does not read.
    pub fn line(&self, column: &Column) -> Option<Line> {
        let format = || TemporalFormat::new(column.kind, column.format.as_deref());
        let numeral = NumberFormat::of(column);
        let plain = |text: &'a str| match &numeral {
            Some(numeral) => numeral.plain(text),
            None => Some(Cow::Borrowed(text)),
        };
        let points: Option<Vec<(f64, u64)>> = match (&self.distinct, column.kind) {
            (Distinct::Texts(values), kind) if kind.is_temporal() => {
                let format = format()?;
                values
                    .iter()
                    .map(|(text, count)| Some((format.parse(text)? as f64, *count)))
                    .collect()
            }
            (Distinct::Texts(values), Kind::Integer) => values
                .iter()
                .map(|(text, count)| Some((parse_integer(&plain(text)?)? as f64, *count)))
                .collect(),
            (Distinct::Texts(values), Kind::Continuous) => values
                .iter()
                .map(|(text, count)| Some((parse_number(&plain(text)?)?, *count)))
                .collect(),
            (Distinct::Integers(values), Kind::Integer | Kind::Continuous) => Some(
                values
                    .iter()
                    .map(|&(value, count)| (value as f64, count))
                    .collect(),
            ),
            (Distinct::Numbers(values), Kind::Continuous) => Some(
                values
                    .iter()
                    .copied()
                    .filter(|(value, _)| value.is_finite())
                    .collect(),
            ),
            (Distinct::Numbers(values), Kind::Integer) => values
                .iter()
                .filter(|(value, _)| value.is_finite())
                .map(|&(value, count)| (value.fract() == 0.0).then_some((value, count)))
                .collect(),
            (Distinct::Temporal(Kind::Datetime, values), Kind::Date) => Some(
                values
                    .iter()
                    .map(|&(value, count)| (value.div_euclid(DAY_MICROS) as f64, count))
                    .collect(),
            ),
            (Distinct::Temporal(found, values), kind) if *found == kind => Some(
                values
                    .iter()
                    .map(|&(value, count)| (value as f64, count))
                    .collect(),
            ),
            _ => None,
        };
        let mut points = points?;
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        (!points.is_empty()).then_some(Line { points })
    }
}

fn count<T: Hash + Eq>(counts: &mut HashMap<T, u64>, values: impl Iterator<Item = T>) {
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
}

fn sorted<T: Ord>(counts: impl Iterator<Item = (T, u64)>) -> Vec<(T, u64)> {
    let mut values: Vec<_> = counts.collect();
    values.sort_unstable();
    values
}

/// Distinct numbers, rising, with their counts; never empty.
pub(super) struct Line {
    pub points: Vec<(f64, u64)>,
}

impl Line {
    pub fn min(&self) -> f64 {
        self.points[0].0
    }

    pub fn max(&self) -> f64 {
        self.points[self.points.len() - 1].0
    }

    pub fn total(&self) -> u64 {
        self.points.iter().map(|(_, count)| count).sum()
    }

    pub fn quantile(&self, share: f64) -> f64 {
        let rank = share * self.total() as f64;
        let mut below = 0.0;
        for &(value, count) in &self.points {
            below += count as f64;
            if below >= rank {
                return value;
            }
        }
        self.max()
    }

    /// Mean, standard deviation and skewness of a function of the values.
    pub fn moments(&self, map: impl Fn(f64) -> f64) -> (f64, f64, f64) {
        let total = self.total() as f64;
        let mean = self
            .points
            .iter()
            .map(|&(value, count)| map(value) * count as f64)
            .sum::<f64>()
            / total;
        let central = |power: i32| {
            self.points
                .iter()
                .map(|&(value, count)| (map(value) - mean).powi(power) * count as f64)
                .sum::<f64>()
                / total
        };
        let std = central(2).sqrt();
        let skewness = if std > 0.0 { central(3) / std.powi(3) } else { 0.0 };
        (mean, std, skewness)
    }

    pub fn summary(&self, column: &Column, bars: usize) -> NumberSummary {
        let (min, max) = (self.min(), self.max());
        let (mean, std, _) = self.moments(|value| value);
        let mut histogram = vec![0; bars];
        for &(value, count) in &self.points {
            let share = if max > min {
                (value - min) / (max - min)
            } else {
                0.0
            };
            histogram[((share * bars as f64) as usize).min(bars - 1)] += count;
        }
        let format = TemporalFormat::new(column.kind, column.format.as_deref());
        let text = |value: f64| match (column.kind, &format) {
            (Kind::Integer, _) => (value as i64).to_string(),
            (kind, Some(format)) if kind.is_temporal() => format.format(value as i64),
            _ => format_number(value),
        };
        NumberSummary {
            min,
            max,
            mean,
            std,
            quartiles: [0.25, 0.5, 0.75].map(|share| self.quantile(share)),
            min_text: text(min),
            max_text: text(max),
            histogram,
        }
    }
}
