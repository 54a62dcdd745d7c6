//! A first description of a table, read off its rows: kinds, suggested bounds and domains, likely identifiers.
//!
//! Everything here looks at private rows without noise. It is for the steward who reviews it; what lands in the
//! schema is marked [`Provenance::Suggested`](super::Provenance), which training refuses until a person has
//! decided.

mod bounds;
mod gather;
mod identifier;
mod infer;
mod missing;
mod temporal;
mod warning;

#[cfg(test)]
mod tests;

use serde::Serialize;

use super::numeral;
use super::schema::{Column, Kind, Provenance, Schema};
use super::{DataError, Mark, Table};
use crate::message;
use crate::num::progress::Progress;
use gather::{Counts, Gathered};
pub use identifier::IdentifierReason;
use infer::Comma;
pub use warning::{ProfileWarning, WarningKind};

/// Values of a column that a summary lists at most.
const TOP_VALUES: usize = 40;
/// Bars of a summary's histogram.
const BARS: usize = 30;

/// What profiling found. For the steward only.
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    /// A schema to be reviewed: everything in it is suggested.
    pub schema: Schema,
    /// The number of rows.
    pub rows: u64,
    /// One summary per column, in the table's order.
    pub columns: Vec<ColumnSummary>,
    /// What a person should look at.
    pub warnings: Vec<ProfileWarning>,
}

/// What one column holds, counted exactly. For the steward only.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnSummary {
    /// The column.
    pub name: String,
    /// The suggested kind.
    pub kind: Kind,
    /// Cells with a value.
    pub present: u64,
    /// Missing cells.
    pub missing: u64,
    /// Distinct values.
    pub distinct: u64,
    /// Of numbers, dates and times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numbers: Option<NumberSummary>,
    /// The most frequent values, falling; empty for numbers with many.
    pub values: Vec<ValueCount>,
}

/// Figures of a numeric column: in its own units; days since 1970 for dates, microseconds for times.
#[derive(Clone, Debug, Serialize)]
pub struct NumberSummary {
    /// The least value.
    pub min: f64,
    /// The greatest value.
    pub max: f64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub std: f64,
    /// First quartile, median, third quartile.
    pub quartiles: [f64; 3],
    /// The least value as it is spelled.
    pub min_text: String,
    /// The greatest value as it is spelled.
    pub max_text: String,
    /// Counts in equal bars from `min` to `max`.
    pub histogram: Vec<u64>,
}

/// A value and how often it occurs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ValueCount {
    /// The value.
    pub value: String,
    /// Its count.
    pub count: u64,
}

/// Reads kinds, bounds, domains and likely identifiers off a table.
///
/// `progress` counts columns.
///
/// # Errors
/// Only when cancelled.
pub fn profile(table: &Table, progress: &Progress) -> Result<Profile, DataError> {
    let width = table.width() as u64;
    progress.set(0, 2 * width);
    let mut counts = Vec::with_capacity(table.width());
    for index in 0..table.width() {
        progress.check()?;
        counts.push(Counts::of(table, index)?);
        progress.advance(1);
    }
    let mut gathered: Vec<_> = counts.iter().map(Gathered::of).collect();
    let missing = missing::spellings(&gathered);
    let mut warnings = Vec::new();
    if table
        .column_names()
        .filter(|name| name.parse::<f64>().is_ok())
        .count()
        >= 2
    {
        warnings.push(ProfileWarning::new(None, WarningKind::HeaderLooksLikeData));
    }
    let form = table.form();
    let part = form.table.as_ref().or(form.sheet.as_ref());
    if let Some(chosen) = part.filter(|_| table.parts().len() > 1) {
        let others: Vec<_> = table
            .parts()
            .iter()
            .filter(|part| *part != chosen)
            .cloned()
            .collect();
        let what = WarningKind::SeveralParts {
            chosen: chosen.clone(),
            others: others.join(", "),
        };
        warnings.push(ProfileWarning::new(None, what));
    }
    if table.rows() < 500 {
        warnings.push(ProfileWarning::new(
            None,
            WarningKind::FewRows {
                rows: table.rows() as u64,
            },
        ));
    }
    let mut columns = Vec::with_capacity(table.width());
    let mut summaries = Vec::with_capacity(table.width());
    for values in &mut gathered {
        values.set_missing(&missing);
    }
    let comma = comma_of(table, &gathered);
    for (name, values) in table.column_names().zip(gathered) {
        progress.check()?;
        let (column, found) = infer::column(name, &values, comma);
        warnings.extend(
            found
                .into_iter()
                .map(|what| ProfileWarning::new(Some(name), what)),
        );
        summaries.push(summarise(&column, &values));
        columns.push(column);
        progress.advance(1);
    }
    let mut schema = Schema::new(columns);
    schema.missing = missing;
    Ok(Profile {
        schema,
        rows: table.rows() as u64,
        columns: summaries,
        warnings,
    })
}

/// Whether the file spells numbers with a decimal comma: some column has one that is nothing else, or semicolons stand
/// between its fields, as where the comma is taken.
fn comma_of(table: &Table, gathered: &[Gathered<'_>]) -> Comma {
    if gathered.iter().any(infer::has_decimal_comma) {
        Comma::Known
    } else if table.form().delimiter == Some(Mark::of(b';')) {
        Comma::Likely
    } else {
        Comma::Unlikely
    }
}

/// What the rows suggest for one column if it is of that kind: its bounds or domain, marked as suggested. For a
/// person who changes a kind by hand.
///
/// # Errors
/// When the table has no such column.
pub fn suggest_column(table: &Table, schema: &Schema, name: &str, kind: Kind) -> Result<Column, DataError> {
    let index = table.position(name).ok_or_else(|| DataError::Mismatch {
        message: message!(
            "misfit-no-column",
            "the data has no column `{column}`; take it out of the schema, or choose the file that has it",
            column = name
        ),
    })?;
    let counts = Counts::of(table, index)?;
    let mut values = Gathered::of(&counts);
    values.set_missing(&schema.missing);
    Ok(infer::as_kind(name, &values, kind))
}

/// The column with its cells spelled otherwise. Bounds that were read off the rows are suggested anew; declared ones stay
/// what they are.
///
/// # Errors
/// When the table or the schema has no such column, the format is none, or a cell does not read in it.
pub fn respell_column(
    table: &Table,
    schema: &Schema,
    name: &str,
    format: Option<String>,
) -> Result<Column, DataError> {
    let known = schema.find(name).zip(table.position(name));
    let Some((known, index)) = known else {
        return Err(DataError::Mismatch {
            message: message!(
                "misfit-no-column",
                "the data has no column `{column}`; take it out of the schema, or choose the file that has it",
                column = name
            ),
        });
    };
    let mut column = known.clone();
    column.format = format;
    let told = |message| DataError::Schema {
        place: message!("place-schema", "schema"),
        message: message!(
            "in-column",
            "column `{column}`: {message}",
            column = name,
            message = message
        ),
    };
    let problems = column.problems(&schema.missing);
    if let Some((_, problem)) = problems.into_iter().find(|(key, _)| *key == "format") {
        return Err(told(problem));
    }
    let counts = Counts::of(table, index)?;
    let mut values = Gathered::of(&counts);
    values.set_missing(&schema.missing);
    let Some(line) = values.line(&column) else {
        return Err(told(message!(
            "profile-format-misfit",
            "not every cell reads in the format {format}; choose another, or add the texts that stand for a missing cell to \
             the missing spellings",
            format = column.format.as_deref().unwrap_or("ISO 8601")
        )));
    };
    if !column.provenance.is_some_and(Provenance::is_protected) {
        bounds::suggest(&mut column, &values, &line);
        column.provenance = MARK;
    }
    Ok(column)
}

/// A text's readings in the spellings that are known for a kind: each format with what the text means in it, by ISO 8601
/// or as programs spell numbers.
pub fn readings(kind: Kind, text: &str) -> Vec<(Option<String>, String)> {
    if kind.is_temporal() {
        temporal::readings(kind, text)
    } else {
        numeral::readings(text)
    }
}

fn summarise(column: &Column, values: &Gathered<'_>) -> ColumnSummary {
    let line = column.kind.is_numeric().then(|| values.line(column)).flatten();
    let mut top: Vec<ValueCount> = Vec::new();
    if line.is_none() || values.distinct() <= TOP_VALUES {
        top = values
            .texts()
            .map(|(value, count)| ValueCount {
                value: value.into_owned(),
                count,
            })
            .collect();
        top.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.value.cmp(&b.value)));
        top.truncate(TOP_VALUES);
    }
    ColumnSummary {
        name: column.name.clone(),
        kind: column.kind,
        present: values.present(),
        missing: values.missing(),
        distinct: values.distinct() as u64,
        numbers: line.map(|line| line.summary(column, BARS)),
        values: top,
    }
}

/// The mark of everything that is read off rows.
const MARK: Option<Provenance> = Some(Provenance::Suggested);
