//! Which rows count when the unit is a person, and when it is persons who count.

use crate::data::{DataError, Schema, Table, rows_before};

use super::request::{Query, ReleaseRequest};

/// Whether a request counts persons: it counts the column that tells them apart.
pub(super) fn counts_persons(schema: &Schema, request: &ReleaseRequest) -> bool {
    let unit = schema.unit.as_ref();
    request.query == Query::Count && unit.is_some_and(|unit| Some(&unit.column) == request.column.as_ref())
}

/// Marks the rows that count: the first `max_rows` of each person. `None`: every row is a unit of its own.
///
/// A row without a person belongs to nobody whose rows could be counted, so it is left out.
pub(super) fn kept_rows(schema: &Schema, table: &Table) -> Result<Option<Vec<bool>>, DataError> {
    let Some(unit) = &schema.unit else {
        return Ok(None);
    };
    let before = rows_before(table, schema, &unit.column)?;
    let kept = before.iter().map(|&before| before < unit.max_rows);
    Ok(Some(kept.collect()))
}
