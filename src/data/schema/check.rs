//! Whether a schema fits a table.

use super::types::{OpenReason, Schema};
use crate::data::encode::{EncoderSettings, NumericCode, RowEncoder};
use crate::data::{DataError, Provenance, Table, persons};
use crate::message;
use crate::num::progress::Progress;

impl Schema {
    /// Whether every column of the table is in the schema and the reverse, whatever the order.
    ///
    /// # Errors
    /// Names the columns that only one of them has.
    pub fn check_names(&self, table: &Table) -> Result<(), DataError> {
        let list = |names: &[&str]| {
            names
                .iter()
                .map(|name| format!("`{name}`"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let unnamed: Vec<_> = table
            .column_names()
            .filter(|name| self.find(name).is_none())
            .collect();
        if !unnamed.is_empty() {
            return Err(DataError::Mismatch {
                message: message!(
                    "misfit-unnamed",
                    "the data has columns that the schema does not name: {columns}; describe them there (kind = \"text\" drops one)",
                    columns = list(&unnamed)
                ),
            });
        }
        let absent: Vec<_> = self
            .column
            .iter()
            .map(|column| column.name.as_str())
            .filter(|name| table.position(name).is_none())
            .collect();
        if !absent.is_empty() {
            return Err(DataError::Mismatch {
                message: message!(
                    "misfit-absent",
                    "the schema names columns that the data does not have: {columns}; take them out, or choose the right file",
                    columns = list(&absent)
                ),
            });
        }
        Ok(())
    }

    /// Whether the table is one that the schema describes: the same columns, every cell of a used column readable
    /// as its kind, in its domain, and missing only where that is allowed; the number of rows unless it was bought. Numbers
    /// outside the bounds fit (they are clamped); columns without bounds or domain are passed over.
    ///
    /// # Errors
    /// Names the column, the row, the value, and what to do.
    pub fn check(&self, table: &Table, progress: &Progress) -> Result<(), DataError> {
        self.validate()?;
        self.check_names(table)?;
        // A bought number carries noise, so it is not the table's own.
        if let Some(rows) = self.rows
            && rows.provenance != Provenance::Bought
            && rows.value != table.rows() as u64
        {
            return Err(DataError::Mismatch {
                message: message!(
                    "misfit-rows",
                    "the schema says that the data has {declared} rows, it has {found}; correct `rows`, or take it out",
                    declared = rows.value,
                    found = table.rows()
                ),
            });
        }
        self.check_persons(table)?;
        let mut readable = self.clone();
        readable.column.retain(|column| {
            self.uses(column)
                && !matches!(
                    column.open_reason(),
                    Some(OpenReason::NoBounds | OpenReason::NoDomain)
                )
        });
        readable.label = None;
        readable.rule = Vec::new();
        readable.unit = None;
        match RowEncoder::new(
            &readable,
            &EncoderSettings {
                numeric: NumericCode::AsDeclared,
            },
        ) {
            Ok(encoder) => encoder.try_cells(table, progress),
            Err(DataError::NoColumns) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// A declared number of persons has to be the table's, as a declared number of rows.
    fn check_persons(&self, table: &Table) -> Result<(), DataError> {
        let Some(unit) = &self.unit else { return Ok(()) };
        let Some(declared) = unit
            .persons
            .filter(|persons| persons.provenance != Provenance::Bought)
        else {
            return Ok(());
        };
        let found = persons(table, self)? as u64;
        if found == declared.value {
            return Ok(());
        }
        Err(DataError::Mismatch {
            message: message!(
                "misfit-persons",
                "the schema says that `{column}` tells {declared} persons apart, it tells {found}; correct `persons`, or take it out",
                column = unit.column,
                declared = declared.value,
                found = found
            ),
        })
    }
}
