//! What is said of each cell: its label, its value and its interval.

use super::noisy::NoisySum;
use super::{What, labels_of};
use crate::data::Kind;
use crate::release::answer::{Interval, Label, Value};
use crate::release::line::Line;
use crate::release::tally::Bins;

impl What {
    pub fn bins(&self) -> usize {
        match self {
            Self::Histogram { bins, with_missing } => bins.len() + usize::from(*with_missing),
            _ => 1,
        }
    }

    pub fn line(&self) -> Option<&Line> {
        match self {
            Self::Rows { .. } | Self::Persons | Self::Present(_) => None,
            Self::Sum { line, .. } => Some(line),
            Self::Mean(spread) | Self::Variance(spread) => Some(&spread.line),
            Self::Histogram { bins, .. } => match bins {
                Bins::Values(_) => None,
                Bins::Stretches { line, .. } => Some(line),
            },
        }
    }

    /// Whether the sums are those of the values themselves, unrounded.
    pub fn is_exact(&self) -> bool {
        matches!(self, Self::Histogram { .. }) || self.line().is_none_or(Line::is_exact)
    }

    pub fn bin_labels(&self) -> Vec<Option<Label>> {
        let Self::Histogram { bins, with_missing } = self else {
            return vec![None];
        };
        match bins {
            Bins::Values(reader) => labels_of(reader.values(), *with_missing).map(Some).collect(),
            Bins::Stretches { line, starts, .. } => {
                let mut labels: Vec<_> = (0..starts.len())
                    .map(|bin| Some(stretch(line, starts, bin)))
                    .collect();
                labels.extend(with_missing.then_some(Some(Label::Missing)));
                labels
            }
        }
    }

    pub fn value(&self, sums: &[NoisySum]) -> (Value, Interval) {
        match self {
            Self::Rows { .. } | Self::Persons | Self::Present(_) | Self::Histogram { .. } => {
                between(sums[0], |steps| Value::Whole(steps as i64))
            }
            Self::Sum { line, kind } => between(sums[0], |steps| {
                let sum = line.sum(steps);
                let is_whole = matches!(kind, Kind::Integer | Kind::Boolean) && sum.abs() < 9.0e15;
                if is_whole {
                    Value::Whole(sum as i64)
                } else {
                    Value::Number(sum)
                }
            }),
            Self::Mean(spread) => {
                let mean = spread.mean(sums).plus(spread.centre.first as f64);
                let line = &spread.line;
                if spread.kind.is_temporal() {
                    let text = |position: f64| Value::from(line.bound(position));
                    let interval = Interval::Between(
                        text(line.position(mean.low).floor()),
                        text(line.position(mean.high).ceil()),
                    );
                    (text(line.position(mean.value)), interval)
                } else {
                    between(mean, |steps| Value::Number(line.number(steps)))
                }
            }
            Self::Variance(spread) => {
                let unit = spread.line.step_value();
                between(spread.variance(sums), |steps| Value::Number(steps * unit * unit))
            }
        }
    }
}

fn between(sum: NoisySum, value: impl Fn(f64) -> Value) -> (Value, Interval) {
    (
        value(sum.value),
        Interval::Between(value(sum.low), value(sum.high)),
    )
}

/// What a stretch of a line is called.
fn stretch(line: &Line, starts: &[f64], bin: usize) -> Label {
    let from = starts[bin];
    let value = |position: f64| Value::from(line.bound(position));
    let (_, upper) = line.range();
    match starts.get(bin + 1) {
        Some(&next) if line.is_whole() => whole_stretch(value(from), value(next - 1.0)),
        None if line.is_whole() => whole_stretch(value(from), value(upper)),
        Some(&next) => Label::Below(value(from), value(next)),
        None => Label::UpTo(value(from), value(upper)),
    }
}

fn whole_stretch(from: Value, to: Value) -> Label {
    if from == to {
        Label::Value(from.to_string())
    } else {
        Label::UpTo(from, to)
    }
}
