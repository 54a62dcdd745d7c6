//! One walk over the rows: exact sums of whole numbers, a cell each.

use crate::data::{CodeReader, NO_VALUE, Schema, Table};

use super::error::ReleaseError;
use super::line::Line;
use super::persons::kept_rows;

/// The public groups of a release.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    reader: CodeReader,
    /// Whether rows without a value are a group of their own (the last); otherwise they are left out.
    with_missing: bool,
}

impl Groups {
    pub fn new(schema: &Schema, column: &str) -> Result<Self, ReleaseError> {
        Ok(Self {
            reader: CodeReader::new(schema, column)?,
            with_missing: schema.find(column).is_some_and(|column| column.missing),
        })
    }

    /// The values, and whether one more group holds the rows without a value.
    pub fn values(&self) -> (&[String], bool) {
        (self.reader.values(), self.with_missing)
    }

    pub fn len(&self) -> usize {
        self.reader.values().len() + usize::from(self.with_missing)
    }
}

/// The group of each row. `None`: all rows are in group 0. [`NO_VALUE`]: the row is left out.
pub(super) fn group_of_rows(
    schema: &Schema,
    table: &Table,
    groups: Option<&Groups>,
) -> Result<Option<Vec<u32>>, ReleaseError> {
    let kept = kept_rows(schema, table)?;
    let mut rows = match groups {
        None => match &kept {
            None => return Ok(None),
            Some(_) => vec![0; table.rows()],
        },
        Some(groups) => {
            let missing = if groups.with_missing {
                groups.reader.values().len() as u32
            } else {
                NO_VALUE
            };
            let mut rows = Vec::with_capacity(table.rows());
            groups.reader.read(table, &mut |codes| {
                rows.extend(
                    codes
                        .iter()
                        .map(|&code| if code == NO_VALUE { missing } else { code }),
                );
            })?;
            rows
        }
    };
    if let Some(kept) = kept {
        for (row, kept) in rows.iter_mut().zip(kept) {
            if !kept {
                *row = NO_VALUE;
            }
        }
    }
    Ok(Some(rows))
}

/// Hands each row's group and cell to `add`; rows that are left out are skipped.
pub(super) fn each_row<T: Copy>(
    groups: Option<&[u32]>,
    read: impl FnOnce(&mut dyn FnMut(&[T])) -> Result<(), crate::data::DataError>,
    mut add: impl FnMut(usize, T),
) -> Result<(), ReleaseError> {
    let mut row = 0;
    read(&mut |cells| {
        match groups {
            None => cells.iter().for_each(|&cell| add(0, cell)),
            Some(groups) => {
                for (&cell, &group) in cells.iter().zip(&groups[row..]) {
                    if group != NO_VALUE {
                        add(group as usize, cell);
                    }
                }
            }
        }
        row += cells.len();
    })?;
    Ok(())
}

/// What is summed of a column of numbers, measured from the middle of its range.
#[derive(Clone, Debug)]
pub(super) struct Moments {
    /// Cells with a value.
    pub count: Vec<i128>,
    /// Σ (steps − centre).
    pub first: Vec<i128>,
    /// Σ ((steps − centre)² − half the largest square); empty unless asked for.
    pub second: Vec<i128>,
}

/// The middle of a line, from which sums are smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Centre {
    /// Steps from the lower bound.
    pub first: i64,
    /// What is taken off each square.
    pub second: i128,
    /// The largest square.
    pub largest_square: i128,
}

impl Centre {
    /// The middle of the range.
    pub fn of(line: &Line) -> Self {
        let first = line.length / 2;
        let half = i128::from(first.max(line.length - first));
        let largest_square = half * half;
        Self {
            first,
            second: largest_square / 2,
            largest_square,
        }
    }

    /// The column's own zero: sums are then sums of the values.
    pub fn zero(line: &Line) -> Self {
        Self {
            first: -line.origin,
            second: 0,
            largest_square: 0,
        }
    }
}

impl Moments {
    /// One walk over the column.
    pub fn of(
        table: &Table,
        line: &Line,
        centre: Centre,
        groups: (Option<&[u32]>, usize),
        with_squares: bool,
    ) -> Result<Self, ReleaseError> {
        let zeros = vec![0_i128; groups.1];
        let mut found = Self {
            count: zeros.clone(),
            first: zeros.clone(),
            second: if with_squares { zeros } else { Vec::new() },
        };
        each_row(
            groups.0,
            |sink| line.read(table, sink),
            |group, position: f64| {
                if position.is_nan() {
                    return;
                }
                let steps = line.steps(position) - centre.first;
                found.count[group] += 1;
                found.first[group] += i128::from(steps);
                if with_squares {
                    found.second[group] += i128::from(steps) * i128::from(steps) - centre.second;
                }
            },
        )?;
        Ok(found)
    }
}

/// Public bins of a column: the values of a domain, or stretches of a line.
#[derive(Clone, Debug)]
pub(super) enum Bins {
    /// One bin a value.
    Values(CodeReader),
    /// Stretches of a line by their first positions, rising, the first at the lower bound.
    Stretches {
        line: Line,
        starts: Vec<f64>,
        /// Bins in one position, of equal ones: where to look first.
        rate: Option<f64>,
    },
}

impl Bins {
    /// Equal stretches of a line; of whole positions no more than there are.
    pub fn equal(line: Line, bins: usize) -> Self {
        let (lower, upper) = line.range();
        if line.is_whole() {
            let places = upper - lower + 1.0;
            let bins = (bins as f64).min(places);
            let starts: Vec<f64> = (0..bins as usize)
                .map(|bin| lower + (bin as f64 * places / bins).ceil())
                .collect();
            return Self::Stretches {
                rate: Some(bins / places),
                line,
                starts,
            };
        }
        let width = (upper - lower) / bins as f64;
        let mut starts: Vec<f64> = (0..bins).map(|bin| lower + bin as f64 * width).collect();
        starts.dedup();
        Self::Stretches {
            rate: Some(starts.len() as f64 / (upper - lower)),
            line,
            starts,
        }
    }

    /// Stretches by edges in the column's own unit; the outer ones are the bounds.
    pub fn declared(line: Line, edges: &[f64]) -> Self {
        let (lower, upper) = line.range();
        let mut starts = vec![lower];
        for &edge in edges.get(1..edges.len().saturating_sub(1)).unwrap_or_default() {
            let mut position = line.position_of(edge);
            if line.is_whole() {
                // The first whole position that is the edge or above it; a hair of a step is the edge's own rounding.
                position = (position - 1e-6).ceil();
            }
            if position > starts[starts.len() - 1] && position <= upper {
                starts.push(position);
            }
        }
        Self::Stretches {
            line,
            starts,
            rate: None,
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Values(reader) => reader.values().len(),
            Self::Stretches { starts, .. } => starts.len(),
        }
    }

    /// Counts a group's bins; those without a value come last if asked for.
    pub fn count(
        &self,
        table: &Table,
        groups: (Option<&[u32]>, usize),
        with_missing: bool,
    ) -> Result<Vec<i128>, ReleaseError> {
        let width = self.len() + usize::from(with_missing);
        let mut counts = vec![0_u64; groups.1 * width];
        let missing = with_missing.then_some(self.len());
        let mut add = |group: usize, bin: Option<usize>| {
            if let Some(bin) = bin.or(missing) {
                counts[group * width + bin] += 1;
            }
        };
        match self {
            Self::Values(reader) => each_row(
                groups.0,
                |sink| reader.read(table, sink),
                |group, code: u32| add(group, (code != NO_VALUE).then_some(code as usize)),
            )?,
            Self::Stretches { line, starts, rate } => {
                let (lower, upper) = line.range();
                each_row(
                    groups.0,
                    |sink| line.read(table, sink),
                    |group, position: f64| {
                        let bin =
                            (!position.is_nan()).then(|| bin_of(starts, *rate, position.clamp(lower, upper)));
                        add(group, bin);
                    },
                )?;
            }
        }
        Ok(counts.into_iter().map(i128::from).collect())
    }
}

/// The bin of a position within the bounds: the last that starts at or below it.
fn bin_of(starts: &[f64], rate: Option<f64>, position: f64) -> usize {
    let last = starts.len() - 1;
    let Some(rate) = rate else {
        return starts.partition_point(|&start| start <= position).max(1) - 1;
    };
    // A guess may be off by the rounding of the starts; the starts decide.
    let mut bin = (((position - starts[0]) * rate) as usize).min(last);
    while bin > 0 && starts[bin] > position {
        bin -= 1;
    }
    while bin < last && starts[bin + 1] <= position {
        bin += 1;
    }
    bin
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guess_never_decides_the_bin() {
        let starts: Vec<f64> = (0..7).map(|bin| -3.5 + f64::from(bin) * (13.75 / 7.0)).collect();
        for step in 0..=2000 {
            let position = -3.5 + f64::from(step) * (13.75 / 2000.0);
            let sure = bin_of(&starts, None, position);
            for rate in [7.0 / 13.75, 0.0, 3.0, f64::INFINITY, f64::NAN] {
                assert_eq!(bin_of(&starts, Some(rate), position), sure, "{position} {rate}");
            }
        }
        assert!(
            starts
                .iter()
                .enumerate()
                .all(|(bin, &start)| bin_of(&starts, Some(0.5), start) == bin)
        );
    }
}
