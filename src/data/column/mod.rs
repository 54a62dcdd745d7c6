//! One column of a table, read for statistics: numbers on the column's own line, codes of its domain, or the texts
//! themselves, numbered.
//!
//! Unlike the row encoder, these readers never fail on a cell. A cell that is missing, does not read as the column's
//! kind or is not in its domain is read as missing, so that what is computed from them is defined for every
//! table, and a single row cannot decide whether there is a result.

mod codes;
mod hash;
mod kept;
mod numbers;
mod persons;
mod texts;

use arrow::array::ArrayRef;

pub use codes::CodeReader;
pub(super) use kept::Kept;
pub use numbers::NumberReader;
pub use persons::{PersonRows, persons, rows_before};
pub use texts::NumberedTexts;

use super::schema::{Column, Schema};
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

fn position(table: &Table, name: &str) -> Result<usize, DataError> {
    table.position(name).ok_or_else(|| DataError::Mismatch {
        message: message!(
            "column-not-in-data",
            "the data has no column `{column}`; choose the file that has it",
            column = name
        ),
    })
}

fn chunks<'a>(
    table: &'a Table,
    name: &str,
) -> Result<impl Iterator<Item = Result<ArrayRef, DataError>> + use<'a>, DataError> {
    Ok(table.chunks(position(table, name)?))
}

/// Reads beforehand what statistics will ask of the text columns, so that the first of them need not wait. What cannot be
/// read is told by the statistic that asks for it.
pub fn prepare(table: &Table, schema: &Schema) {
    for (_, column) in schema.used_columns() {
        if let Ok(reader) = NumberReader::unbounded(schema, &column.name) {
            let _ = reader.prepare(table);
        }
    }
    if let Some(unit) = &schema.unit {
        let _ = rows_before(table, schema, &unit.column);
    }
}

/// The most threads that one column is read with.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(8)
}
