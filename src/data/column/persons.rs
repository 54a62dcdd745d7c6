//! Which of a person's rows a row is.

use std::collections::HashMap;
use std::hash::BuildHasher as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use arrow::array::Array as _;

use super::hash::Mixing;
use super::{NO_VALUE, NumberedTexts, position, threads};
use crate::data::schema::Schema;
use crate::data::table::Cells;
use crate::data::{DataError, Table};

/// How many rows with the same text in this column come before each row; [`NO_VALUE`] where the text is missing.
///
/// # Errors
/// When the table has no such column.
pub fn rows_before(table: &Table, schema: &Schema, name: &str) -> Result<Arc<Vec<u32>>, DataError> {
    let column = position(table, name)?;
    let is_plain = |column| {
        table
            .chunks(column)
            .all(|array| matches!(Cells::of(array), Cells::Plain(_)))
    };
    let rule = format!("{:?}", schema.missing);
    if is_plain(column) {
        return Ok(table
            .kept()
            .rows_before
            .get(column, rule, || of_many_texts(table, schema, column)));
    }
    let numbered = NumberedTexts::read(table, schema, name)?;
    Ok(table.kept().rows_before.get(column, rule, || {
        let mut seen = vec![0_u32; numbered.texts.len()];
        let before = |&text: &u32| {
            let Some(seen) = seen.get_mut(text as usize) else {
                return NO_VALUE;
            };
            let before = *seen;
            *seen = seen.saturating_add(1);
            before
        };
        numbered.rows.iter().map(before).collect()
    }))
}

/// Each thread sees all texts and counts its own share of them, by their hash.
fn of_many_texts(table: &Table, schema: &Schema, column: usize) -> Vec<u32> {
    let rows: Vec<AtomicU32> = (0..table.rows()).map(|_| AtomicU32::new(NO_VALUE)).collect();
    let mixing = Mixing::new();
    let shares = threads() as u64;
    std::thread::scope(|scope| {
        for share in 0..shares {
            let (rows, mixing) = (&rows, &mixing);
            scope.spawn(move || {
                let room = table.rows() / (2 * shares as usize);
                let mut seen: HashMap<&str, u32, _> = HashMap::with_capacity_and_hasher(room, mixing.clone());
                let mut first = 0;
                for array in table.chunks(column) {
                    let Cells::Plain(texts) = Cells::of(array) else {
                        continue;
                    };
                    for (text, row) in texts.iter().zip(&rows[first..]) {
                        let Some(text) = text else { continue };
                        // The upper half of the hash: the map itself goes by both ends.
                        if (mixing.hash_one(text) >> 20) % shares != share || schema.is_missing(text) {
                            continue;
                        }
                        let seen = seen.entry(text).or_insert(0);
                        row.store(*seen, Ordering::Relaxed);
                        *seen = seen.saturating_add(1);
                    }
                    first += array.len();
                }
            });
        }
    });
    rows.into_iter().map(AtomicU32::into_inner).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, LargeStringArray, StringArray};
    use arrow::record_batch::RecordBatch;
    use proptest::prelude::*;

    use super::*;
    use crate::data::schema::{Column, Kind};

    fn before(array: ArrayRef, cut: usize) -> Vec<u32> {
        let batch = RecordBatch::try_from_iter([("person", array)]).unwrap();
        let cut = cut.min(batch.num_rows());
        let batches = [batch.slice(0, cut), batch.slice(cut, batch.num_rows() - cut)];
        let table = Table::from_batches("t", &batch.schema(), &batches).unwrap();
        let schema = Schema::new(vec![Column::new("person", Kind::Identifier)]);
        rows_before(&table, &schema, "person").unwrap().to_vec()
    }

    #[test]
    fn what_is_prepared_is_what_is_asked_for() {
        use crate::data::{NumberReader, Provenance, Unit, prepare};
        let persons = Arc::new(LargeStringArray::from(vec!["a", "b", "a"])) as ArrayRef;
        let weights = Arc::new(LargeStringArray::from(vec![Some("1.5"), None, Some("x")]));
        let batch = RecordBatch::try_from_iter([("person", persons), ("weight", weights)]).unwrap();
        let table = Table::from_batches("t", &batch.schema(), &[batch]).unwrap();
        let weight = Column::new("weight", Kind::Continuous).with_bounds(0.0, 9.0);
        let mut schema = Schema::new(vec![
            Column::new("person", Kind::Identifier),
            weight.with_provenance(Provenance::Declared),
        ]);
        schema.unit = Some(Unit {
            column: "person".into(),
            max_rows: 2,
        });
        prepare(&table, &schema);
        let rule = |column| {
            table
                .kept()
                .rows_before
                .get(column, format!("{:?}", schema.missing), || vec![7])
        };
        assert_eq!(*rule(0), [0, 0, 1], "kept, not read again");
        let mut seen = Vec::new();
        let reader = NumberReader::new(&schema, "weight").unwrap();
        reader
            .read(&table, &mut |cells| seen.extend_from_slice(cells))
            .unwrap();
        assert!(seen[0].to_bits() == 1.5_f64.to_bits() && seen[1].is_nan() && seen[2].is_nan());
    }

    proptest! {
        #[test]
        fn each_row_knows_the_rows_before_it(
            persons in prop::collection::vec(prop::option::of("[ab]{0,2}"), 0..60),
            cut in 0..60_usize,
        ) {
            let expected: Vec<u32> = (0..persons.len())
                .map(|row| match &persons[row] {
                    Some(text) if !text.is_empty() => {
                        persons[..row].iter().filter(|other| **other == persons[row]).count() as u32
                    }
                    _ => NO_VALUE,
                })
                .collect();
            let long = Arc::new(LargeStringArray::from(persons.clone()));
            prop_assert_eq!(before(long, cut), expected.clone());
            let numbered = Arc::new(StringArray::from(persons));
            prop_assert_eq!(before(numbered, cut), expected);
        }
    }
}
