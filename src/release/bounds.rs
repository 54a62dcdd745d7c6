//! Bounds for the schema, bought by a noisy histogram.
//!
//! Public bins cover the whole line: for numbers one for 0 and for each sign one a power of two, for dates a bin a year,
//! for times of day a bin an hour. Every bin's count gets noise, and the bounds are the outer ends of the outermost bins
//! whose noisy count passes a threshold that noise alone passes anywhere with a small, stated probability (Wilson, Zhang,
//! Lam, Desfontaines, Simmons-Marengo, Gipson 2020, "Differentially private SQL with bounded user contribution", §5.1.1).
//! The choice of bins from noisy counts is post-processing: the cost is that of the histogram.

use crate::data::{Bound, Kind, NumberReader, Provenance, Schema, Table};
use crate::num::RandomSource;

use super::answer::{Answer, Cell, Label, Purchase, Value};
use super::error::ReleaseError;
use super::noise::{Calibrated, NoisyPart, Part, calibrate};
use super::note::Note;
use super::plan::Setting;
use super::sensitivity::Contribution;
use super::tally::{each_row, group_of_rows};

/// The chance, at most, that any bin without rows passes the threshold.
const FAILURE: f64 = 1e-3;
/// Powers of two of real numbers: smaller ones lie in the lowest bin beside 0, larger ones in the outermost.
const REAL: (i32, i32) = (-40, 64);
/// Powers of two of whole numbers: as far as a double holds them exactly.
const WHOLE: (i32, i32) = (0, 53);
/// Years that dates may lie in; others lie in the outermost bins.
const YEARS: (i32, i32) = (1700, 2250);

/// The search for a column's bounds.
#[derive(Clone, Debug)]
pub(super) struct BoundsSearch {
    column: String,
    bins: Bins,
    part: NoisyPart,
    threshold: i64,
}

/// Public bins, from the lowest.
#[derive(Clone, Debug)]
enum Bins {
    /// For each sign powers of two from the first to the second exponent, and one bin for 0.
    Powers {
        reader: NumberReader,
        low: i32,
        high: i32,
        is_whole: bool,
    },
    /// Calendar years, from the first to the last.
    Years { reader: NumberReader, starts: Vec<f64> },
    /// Hours of the day.
    Hours { reader: NumberReader, steps: f64 },
}

impl Bins {
    fn of(setting: &Setting<'_>) -> Result<Self, ReleaseError> {
        let column = setting.column()?;
        // How many digits the values have was read off the rows, and the bins must not follow it.
        let mut schema = setting.schema.clone();
        if let Some(column) = schema.find_mut(&column.name) {
            column.decimals = None;
        }
        let reader = NumberReader::unbounded(&schema, &column.name)?;
        Ok(match column.kind {
            Kind::Date | Kind::Datetime => Self::Years {
                starts: (YEARS.0..=YEARS.1 + 1)
                    .filter_map(|year| reader.start_of_year(year))
                    .collect(),
                reader,
            },
            Kind::Time => Self::Hours {
                steps: reader.steps_per_hour().unwrap_or(1.0),
                reader,
            },
            _ => {
                let is_whole = reader.is_whole();
                let (low, high) = if is_whole { WHOLE } else { REAL };
                Self::Powers {
                    reader,
                    low,
                    high,
                    is_whole,
                }
            }
        })
    }

    fn reader(&self) -> &NumberReader {
        match self {
            Self::Powers { reader, .. } | Self::Years { reader, .. } | Self::Hours { reader, .. } => reader,
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Powers { low, high, .. } => 2 * (high - low + 1) as usize + 1,
            Self::Years { starts, .. } => starts.len() - 1,
            Self::Hours { .. } => 24,
        }
    }

    /// The bin of a position; every number lies in one.
    fn bin(&self, position: f64) -> usize {
        match self {
            Self::Powers { low, high, .. } => {
                let middle = (high - low + 1) as usize;
                if position == 0.0 {
                    return middle;
                }
                // The least e with |x| ≤ 2^e, read off the double: one above its exponent unless it is a power of two.
                // Subnormal numbers come out too large, and still below every bin's end.
                let bits = position.abs().to_bits();
                let is_power = bits.trailing_zeros() >= f64::MANTISSA_DIGITS - 1;
                let exponent = (bits >> (f64::MANTISSA_DIGITS - 1)) as i32 - 1023 + i32::from(!is_power);
                let place = (exponent.clamp(*low, *high) - low + 1) as usize;
                if position > 0.0 {
                    middle + place
                } else {
                    middle - place
                }
            }
            Self::Years { starts, .. } => {
                (starts.partition_point(|&start| start <= position).max(1) - 1).min(starts.len() - 2)
            }
            Self::Hours { steps, .. } => (position / steps).clamp(0.0, 23.0) as usize,
        }
    }

    /// The outer ends of the bins from `first` to `last`.
    fn ends(&self, first: usize, last: usize) -> (Bound, Bound) {
        let (lower, upper) = match self {
            Self::Powers {
                low, high, is_whole, ..
            } => {
                let middle = high - low + 1;
                let (low, is_whole) = (*low, *is_whole);
                // A bin reaches from above 2^(e−1) to 2^e; the lowest of its sign starts above 0.
                let inner = |e: i32| {
                    let edge = if e > low { 2_f64.powi(e - 1) } else { 0.0 };
                    if is_whole { edge.floor() + 1.0 } else { edge }
                };
                let lower = match first as i32 - middle {
                    0 => 0.0,
                    place if place > 0 => inner(low + place - 1),
                    place => -2_f64.powi(low - place - 1),
                };
                let upper = match last as i32 - middle {
                    0 => 0.0,
                    place if place > 0 => 2_f64.powi(low + place - 1),
                    place => -inner(low - place - 1),
                };
                (lower, upper)
            }
            Self::Years { starts, .. } => (starts[first], starts[last + 1] - 1.0),
            Self::Hours { steps, .. } => (first as f64 * steps, (last + 1) as f64 * steps - 1.0),
        };
        (self.reader().bound(lower), self.reader().bound(upper))
    }
}

impl BoundsSearch {
    pub fn new(setting: &Setting<'_>) -> Result<(Self, Calibrated), ReleaseError> {
        let column = setting.column()?;
        if !column.kind.is_numeric() {
            return Err(ReleaseError::WrongKind {
                query: "search for bounds",
                column: column.name.clone(),
                kind: column.kind.as_str(),
                remedy: "it has values, not bounds: --query categories buys those",
            });
        }
        if column.provenance == Some(Provenance::Declared) {
            return Err(ReleaseError::NothingToBuy {
                what: "bounds",
                column: column.name.clone(),
            });
        }
        let bins = Bins::of(setting)?;
        let part = Part {
            cells: bins.len(),
            contribution: Contribution::COUNT,
        };
        let cost = calibrate(
            &[part],
            setting.neighbours,
            setting.noise,
            setting.epsilon,
            setting.delta,
        )?;
        let part = cost.parts[0];
        let search = Self {
            column: column.name.clone(),
            threshold: part.tail(FAILURE / bins.len() as f64)?,
            bins,
            part,
        };
        Ok((search, cost))
    }

    /// The exact counts, for tests.
    pub fn measure(&self, schema: &Schema, table: &Table) -> Result<Vec<i128>, ReleaseError> {
        let rows = group_of_rows(schema, table, None)?;
        let mut counts = vec![0_i128; self.bins.len()];
        each_row(
            rows.as_deref(),
            |sink| self.bins.reader().read(table, sink),
            |_, position: f64| {
                if !position.is_nan() {
                    counts[self.bins.bin(position)] += 1;
                }
            },
        )?;
        Ok(counts)
    }

    #[cfg(test)]
    pub fn part(&self) -> NoisyPart {
        self.part
    }

    pub fn run(
        &self,
        schema: &Schema,
        table: &Table,
        random: &mut RandomSource,
    ) -> Result<Answer, ReleaseError> {
        let counts = self.part.release(&self.measure(schema, table)?, random);
        let stands_out = |&count: &i64| count > self.threshold;
        let mut answer = Answer {
            cells: Vec::new(),
            is_single: false,
            purchase: None,
            notes: vec![
                Note::MissingLeftOut {
                    column: self.column.clone(),
                },
                Note::BoundsThreshold {
                    rows: self.threshold,
                    failure: FAILURE,
                },
            ],
        };
        let outer = counts
            .iter()
            .position(stands_out)
            .zip(counts.iter().rposition(stands_out));
        let Some((first, last)) = outer else {
            answer.notes.push(Note::NothingFound);
            return Ok(answer);
        };
        let (lower, upper) = self.bins.ends(first, last);
        for (name, bound) in [("lower", &lower), ("upper", &upper)] {
            answer.cells.push(Cell {
                group: None,
                bin: Some(Label::Value(name.into())),
                value: Value::from(bound.clone()),
                interval: None,
            });
        }
        answer.purchase = Some(Purchase::Bounds {
            column: self.column.clone(),
            lower,
            upper,
        });
        Ok(answer)
    }
}
