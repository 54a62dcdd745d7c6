//! Statistics that are sums over rows: counts, sums, histograms, and what follows from them (means, variances).

mod measure;
mod noisy;
mod outlook;
mod value;

use self::measure::count_rows;
use self::noisy::NoisySum;
use crate::data::{CodeReader, Column, Kind, NumberReader, Provenance, Schema, Table, persons};
use crate::num::RandomSource;
use crate::privacy::Neighboring;

use crate::release::CONFIDENCE;
use crate::release::answer::{Answer, Cell, Label, Purchase};
use crate::release::error::ReleaseError;
use crate::release::line::Line;
use crate::release::noise::{Calibrated, NoisyPart, Part, calibrate};
use crate::release::note::Note;
use crate::release::persons::counts_persons;
use crate::release::plan::{Setting, check_decided};
use crate::release::request::Query;
use crate::release::sensitivity::Contribution;
use crate::release::tally::{Bins, Centre, Groups, Moments, group_of_rows};

pub(super) use self::outlook::Sums;

/// Bins of a histogram for which nobody has said how many.
const USUAL_BINS: usize = 10;
/// Up to this many whole values get a bin each.
const FEW_PLACES: f64 = 32.0;

/// A sum, or what follows from a few of them, in each cell.
#[derive(Clone, Debug)]
pub(super) struct Additive {
    what: What,
    groups: Option<Groups>,
    parts: Vec<NoisyPart>,
    simultaneous: bool,
    notes: Vec<Note>,
}

#[derive(Clone, Debug)]
enum What {
    /// Rows; whether the answer may be written into the schema as the row count.
    Rows { is_bought: bool },
    /// Persons, for the schema.
    Persons,
    /// Cells with a value.
    Present(Presence),
    /// The sum of the values.
    Sum { line: Line, kind: Kind },
    /// Their mean; the number of values where it is public.
    Mean(Spread),
    /// Their variance.
    Variance(Spread),
    /// Rows in each bin, those without a value in one of their own.
    Histogram { bins: Bins, with_missing: bool },
}

/// What decides whether a cell has a value.
#[derive(Clone, Debug)]
enum Presence {
    Number(NumberReader),
    Text(String),
}

#[derive(Clone, Debug)]
struct Spread {
    line: Line,
    centre: Centre,
    kind: Kind,
    known_count: Option<u64>,
}

impl Additive {
    pub fn new(setting: &Setting<'_>) -> Result<(Self, Calibrated), ReleaseError> {
        let groups = match &setting.request.by {
            Some(by) => Some(Groups::new(setting.schema, by)?),
            None => None,
        };
        let (what, contributions) = plan_what(setting)?;
        let bins = what.bins();
        let cells = bins * groups.as_ref().map_or(1, Groups::len);
        let parts: Vec<Part> = contributions
            .into_iter()
            .map(|contribution| Part { cells, contribution })
            .collect();
        let cost = calibrate(
            &parts,
            setting.neighbours,
            setting.noise,
            setting.epsilon,
            setting.delta,
        )?;
        let mut task = Self {
            what,
            groups,
            parts: cost.parts.clone(),
            simultaneous: setting.request.simultaneous,
            notes: Vec::new(),
        };
        task.notes = task.remarks(setting);
        Ok((task, cost))
    }

    /// How many values are released.
    pub fn cells(&self) -> usize {
        self.what.bins() * self.group_count()
    }

    fn group_count(&self) -> usize {
        self.groups.as_ref().map_or(1, Groups::len)
    }

    /// The confidence of each part's interval, so that all that must hold together hold at 95 % (Bonferroni).
    fn confidence(&self) -> f64 {
        let together = if self.simultaneous { self.cells() } else { 1 };
        1.0 - (1.0 - CONFIDENCE) / (together * self.parts.len()) as f64
    }

    /// The half-width of counts and sums, in the value's unit.
    pub fn half_width(&self) -> Option<f64> {
        let part = self.parts.first()?;
        let (is_exact, unit) = match &self.what {
            What::Rows { .. } | What::Persons | What::Present(_) | What::Histogram { .. } => (true, 1.0),
            What::Sum { line, .. } => (line.is_exact(), line.step_value()),
            What::Mean(_) | What::Variance(_) => return None,
        };
        let steps = part.half_width(self.confidence(), is_exact).ok()?;
        Some(steps as f64 * part.grid as f64 * unit)
    }

    /// The exact sums, a list for each part, in steps of the line.
    pub fn measure(&self, schema: &Schema, table: &Table) -> Result<Vec<Vec<i128>>, ReleaseError> {
        let rows = group_of_rows(schema, table, self.groups.as_ref())?;
        let groups = (rows.as_deref(), self.group_count());
        Ok(match &self.what {
            What::Rows { .. } => vec![count_rows(table, groups)],
            What::Persons => vec![vec![persons(table, schema)? as i128]],
            What::Present(presence) => vec![presence.count(schema, table, groups)?],
            What::Sum { line, .. } => {
                vec![Moments::of(table, line, Centre::zero(line), groups, false)?.first]
            }
            What::Mean(spread) => spread.measure(table, groups, false)?,
            What::Variance(spread) => spread.measure(table, groups, true)?,
            What::Histogram { bins, with_missing } => vec![bins.count(table, groups, *with_missing)?],
        })
    }

    /// The parts with their noise, for tests of the sensitivity.
    #[cfg(test)]
    pub fn parts(&self) -> &[NoisyPart] {
        &self.parts
    }

    /// The value of one step of the line, for tests of the sensitivity.
    #[cfg(test)]
    pub fn unit(&self) -> f64 {
        match &self.what {
            What::Sum { line, .. } => line.step_value(),
            What::Mean(spread) | What::Variance(spread) => spread.line.step_value(),
            _ => 1.0,
        }
    }

    pub fn run(
        &self,
        schema: &Schema,
        table: &Table,
        random: &mut RandomSource,
    ) -> Result<Answer, ReleaseError> {
        let sums = self.measure(schema, table)?;
        let released: Vec<Vec<i64>> = self
            .parts
            .iter()
            .zip(&sums)
            .map(|(part, sums)| part.release(sums, random))
            .collect();
        let confidence = self.confidence();
        let widths = self
            .parts
            .iter()
            .map(|part| Ok(part.half_width(confidence, self.what.is_exact())?))
            .collect::<Result<Vec<i64>, ReleaseError>>()?;
        let labels = self.labels();
        let cells: Vec<Cell> = labels
            .into_iter()
            .enumerate()
            .map(|(index, (group, bin))| {
                let parts = self.parts.iter().zip(&released).zip(&widths);
                let sums: Vec<NoisySum> = parts
                    .map(|((part, values), &width)| NoisySum::new(part, values[index], width))
                    .collect();
                let (value, interval) = self.what.value(&sums);
                Cell {
                    group,
                    bin,
                    value,
                    interval: Some(interval),
                }
            })
            .collect();
        let count = match &cells[..] {
            [cell] => cell.value.whole().map(|count| count.max(1) as u64),
            _ => None,
        };
        let purchase = match &self.what {
            What::Rows { is_bought: true } => count.map(Purchase::Rows),
            What::Persons => count.map(Purchase::Persons),
            _ => None,
        };
        Ok(Answer {
            is_single: self.groups.is_none() && !matches!(self.what, What::Histogram { .. }),
            cells,
            purchase,
            notes: self.notes.clone(),
        })
    }

    fn labels(&self) -> Vec<(Option<Label>, Option<Label>)> {
        let groups: Vec<Option<Label>> = self.groups.as_ref().map_or_else(
            || vec![None],
            |groups| {
                let (values, with_missing) = groups.values();
                labels_of(values, with_missing).map(Some).collect()
            },
        );
        let bins = self.what.bin_labels();
        groups
            .iter()
            .flat_map(|group| bins.iter().map(|bin| (group.clone(), bin.clone())))
            .collect()
    }

    fn remarks(&self, setting: &Setting<'_>) -> Vec<Note> {
        let mut notes = Vec::new();
        if let Some(column) = setting.column {
            let has_own_bin = matches!(
                self.what,
                What::Histogram {
                    with_missing: true,
                    ..
                }
            );
            if !has_own_bin && (column.missing || matches!(self.what, What::Present(_))) {
                notes.push(Note::MissingLeftOut {
                    column: column.name.clone(),
                });
            }
            if let Some(line) = self.what.line().filter(|_| column.kind != Kind::Boolean) {
                notes.push(clamped(column, line));
            }
            if let (What::Variance(_), Some(unit)) = (&self.what, square_unit(column.kind)) {
                notes.push(Note::Unit { unit });
            }
        }
        if let Some(by) = setting
            .request
            .by
            .as_ref()
            .filter(|_| self.groups.as_ref().is_some_and(|groups| !groups.values().1))
        {
            notes.push(Note::GroupLeftOut { column: by.clone() });
        }
        if let What::Mean(spread) | What::Variance(spread) = &self.what {
            if spread.known_count.is_some() {
                notes.push(Note::PublicCount);
            }
        } else {
            notes.push(Note::NotCutOff);
        }
        if self.cells() > 1 {
            notes.push(if self.simultaneous {
                Note::Simultaneous
            } else {
                Note::Pointwise
            });
        }
        notes
    }
}

/// Says that values beyond the bounds are clamped.
pub(super) fn clamped(column: &Column, line: &Line) -> Note {
    let (lower, upper) = line.ends();
    Note::Clamped {
        column: column.name.clone(),
        lower: lower.into(),
        upper: upper.into(),
    }
}

/// Labels of a domain's values.
pub(super) fn labels_of(values: &[String], with_missing: bool) -> impl Iterator<Item = Label> + '_ {
    values
        .iter()
        .cloned()
        .map(Label::Value)
        .chain(with_missing.then_some(Label::Missing))
}

const fn square_unit(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Date => Some("squared days"),
        Kind::Time | Kind::Datetime => Some("squared seconds"),
        _ => None,
    }
}

/// Decides what is summed and what one row may add to each sum.
fn plan_what(setting: &Setting<'_>) -> Result<(What, Vec<Contribution>), ReleaseError> {
    let query = setting.request.query;
    if let Query::Count = query {
        let what = plan_count(setting)?;
        return Ok((what, vec![Contribution::COUNT]));
    }
    let column = setting.column()?;
    if let Query::Histogram { bins } = query {
        let what = plan_histogram(setting, column, bins)?;
        return Ok((what, vec![Contribution::COUNT]));
    }
    check_summable(query, column)?;
    check_decided(column)?;
    let line = Line::new(setting.schema, &column.name)?;
    if let Query::Sum = query {
        let origin = i128::from(line.origin);
        let contribution = Contribution::new(origin, origin + i128::from(line.length));
        let kind = column.kind;
        return Ok((What::Sum { line, kind }, vec![contribution]));
    }
    let centre = Centre::of(&line);
    let first = Contribution::new(i128::from(-centre.first), i128::from(line.length - centre.first));
    let second = Contribution::new(-centre.second, centre.largest_square - centre.second);
    let known_count = known_count(setting, column);
    let spread = Spread {
        line,
        centre,
        kind: column.kind,
        known_count,
    };
    let (what, mut contributions) = if let Query::Mean = query {
        (What::Mean(spread), vec![first])
    } else {
        (What::Variance(spread), vec![first, second])
    };
    if known_count.is_none() {
        contributions.push(Contribution::COUNT);
    }
    Ok((what, contributions))
}

/// The number of values, where the promise leaves it public: every row has one, the row count is declared, and
/// neighbours have that many rows.
fn known_count(setting: &Setting<'_>, column: &Column) -> Option<u64> {
    let is_public = setting.neighbours.relation != Neighboring::AddRemoveOne
        && setting.schema.unit.is_none()
        && setting.request.by.is_none()
        && !column.missing;
    let rows = setting.schema.rows?;
    (is_public && rows.provenance == Provenance::Declared).then_some(rows.value)
}

/// Persons are counted in all, where their number is not declared.
fn plan_persons(setting: &Setting<'_>) -> Result<What, ReleaseError> {
    if setting.request.by.is_some() {
        return Err(ReleaseError::PersonsByGroup);
    }
    let known = setting.schema.known_units();
    if let Some(persons) = known.filter(|persons| persons.provenance == Provenance::Declared) {
        return Err(ReleaseError::PersonsDeclared {
            persons: persons.value,
        });
    }
    // Also under replace one: who replaces a person may have no rows.
    Ok(What::Persons)
}

fn plan_count(setting: &Setting<'_>) -> Result<What, ReleaseError> {
    if counts_persons(setting.schema, setting.request) {
        return plan_persons(setting);
    }
    let Some(column) = setting.column else {
        if setting.request.by.is_some() {
            return Ok(What::Rows { is_bought: false });
        }
        if let Some(rows) = setting.schema.rows
            && rows.provenance == Provenance::Declared
        {
            return Err(ReleaseError::RowsDeclared { rows: rows.value });
        }
        if setting.neighbours.relation == Neighboring::ReplaceOne && setting.schema.unit.is_none() {
            return Err(ReleaseError::RowsPublic {
                relation: setting.neighbours.relation,
            });
        }
        return Ok(What::Rows { is_bought: true });
    };
    Ok(What::Present(if column.kind == Kind::Categorical {
        Presence::Text(column.name.clone())
    } else {
        Presence::Number(NumberReader::unbounded(setting.schema, &column.name)?)
    }))
}

fn plan_histogram(
    setting: &Setting<'_>,
    column: &Column,
    asked: Option<usize>,
) -> Result<What, ReleaseError> {
    check_decided(column)?;
    let bins = if column.kind.is_numeric() {
        let line = Line::new(setting.schema, &column.name)?;
        let (lower, upper) = line.range();
        match (asked, &column.bins) {
            (Some(bins), _) => Bins::equal(line, bins),
            (None, Some(edges)) => Bins::declared(line, edges),
            (None, None) if line.is_whole() && upper - lower < FEW_PLACES => {
                Bins::equal(line, FEW_PLACES as usize)
            }
            (None, None) => Bins::equal(line, USUAL_BINS),
        }
    } else if asked.is_some() {
        return Err(ReleaseError::WrongKind {
            query: "histogram with bins",
            column: column.name.clone(),
            kind: column.kind.as_str(),
            remedy: "leave out --bins: each value is a bin",
        });
    } else {
        Bins::Values(CodeReader::new(setting.schema, &column.name)?)
    };
    Ok(What::Histogram {
        bins,
        with_missing: column.missing,
    })
}

fn check_summable(query: Query, column: &Column) -> Result<(), ReleaseError> {
    let wrong = |remedy| ReleaseError::WrongKind {
        query: query.name(),
        column: column.name.clone(),
        kind: column.kind.as_str(),
        remedy,
    };
    if column.kind == Kind::Categorical {
        return Err(wrong("ask for its histogram or its mode"));
    }
    if column.kind.is_temporal() && query == Query::Sum {
        return Err(wrong("ask for its mean or a quantile"));
    }
    Ok(())
}
