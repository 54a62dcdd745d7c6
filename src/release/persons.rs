//! Which rows count when the unit is a person.

use crate::data::{DataError, NO_VALUE, NumberedTexts, Schema, Table};

/// Marks the rows that count: the first `max_rows` of each person. `None`: every row is a unit of its own.
///
/// A row without a person belongs to nobody whose rows could be counted, so it is left out.
pub(super) fn kept_rows(schema: &Schema, table: &Table) -> Result<Option<Vec<bool>>, DataError> {
    let Some(unit) = &schema.unit else {
        return Ok(None);
    };
    let persons = NumberedTexts::read(table, schema, &unit.column)?;
    let mut rows = vec![0_u32; persons.texts.len()];
    let kept = persons.rows.iter().map(|&person| {
        if person == NO_VALUE {
            return false;
        }
        let seen = &mut rows[person as usize];
        *seen += 1;
        *seen <= unit.max_rows
    });
    Ok(Some(kept.collect()))
}
