//! Which of a person's rows a row is.

use std::collections::HashMap;
use std::hash::BuildHasher as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use arrow::array::{Array as _, ArrayRef};
use arrow::datatypes::DataType;
use rand::{Rng, RngExt as _};

use super::hash::Mixing;
use super::{NO_VALUE, NumberedTexts, position, threads};
use crate::data::schema::{Schema, Unit};
use crate::data::table::Cells;
use crate::data::{DataError, Table};

/// How many rows with the same text in this column come before each row; [`NO_VALUE`] where the text is missing.
///
/// # Errors
/// When the table has no such column.
pub fn rows_before(table: &Table, schema: &Schema, name: &str) -> Result<Arc<Vec<u32>>, DataError> {
    let column = position(table, name)?;
    let rule = format!("{:?}", schema.missing);
    if table.schema().field(column).data_type() == &DataType::LargeUtf8 {
        let arrays = table.chunks(column).collect::<Result<Vec<_>, _>>()?;
        return Ok(table
            .kept()
            .rows_before
            .get(column, rule, || of_many_texts(&arrays, table.rows(), schema)));
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

/// How many persons the unit's column tells apart; as many as rows where the unit is a row.
///
/// # Errors
/// When the table has no such column.
pub fn persons(table: &Table, schema: &Schema) -> Result<usize, DataError> {
    let Some(unit) = &schema.unit else {
        return Ok(table.rows());
    };
    let before = rows_before(table, schema, &unit.column)?;
    Ok(before.iter().filter(|before| **before == 0).count())
}

/// The rows that count when persons are the unit, person by person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PersonRows {
    /// Rows of the table: all of the first person, then all of the second.
    pub rows: Vec<usize>,
    /// Where each person's rows begin among them, and where the last one's end.
    pub starts: Vec<usize>,
}

impl PersonRows {
    /// At most `max_rows` rows of each person. A row without a person belongs to nobody whose rows could be counted, so
    /// it is left out.
    ///
    /// Of a person with more rows, as many are drawn, each choice of them as likely as any other. Which ones depends on
    /// fresh randomness and on how many rows that person has, and on nothing of anybody else; so whoever comes or goes
    /// brings or takes at most `max_rows` rows, whatever the others' rows are.
    ///
    /// # Errors
    /// When the table has no such column.
    pub fn drawn(
        table: &Table,
        schema: &Schema,
        unit: &Unit,
        random: &mut impl Rng,
    ) -> Result<Self, DataError> {
        let numbered = NumberedTexts::read(table, schema, &unit.column)?;
        let mut ends = vec![0_usize; numbered.texts.len() + 1];
        for &person in numbered.rows.iter().filter(|person| **person != NO_VALUE) {
            ends[person as usize + 1] += 1;
        }
        for person in 1..ends.len() {
            ends[person] += ends[person - 1];
        }
        let all = ends.clone();
        let mut rows = vec![0; all.last().copied().unwrap_or(0)];
        for (row, &person) in numbered.rows.iter().enumerate() {
            if person != NO_VALUE {
                let place = &mut ends[person as usize];
                rows[*place] = row;
                *place += 1;
            }
        }
        let most = unit.max_rows as usize;
        let mut starts = vec![0];
        let mut kept = 0;
        for person in all.windows(2) {
            let (start, count) = (person[0], person[1] - person[0]);
            if count > most {
                // The first places of a shuffle (Fisher & Yates).
                let own = &mut rows[start..person[1]];
                for place in 0..most {
                    own.swap(place, random.random_range(place..count));
                }
                own[..most].sort_unstable();
            }
            let take = count.min(most);
            rows.copy_within(start..start + take, kept);
            kept += take;
            starts.push(kept);
        }
        rows.truncate(kept);
        Ok(Self { rows, starts })
    }
}

/// Each thread sees all texts and counts its own share of them, by their hash.
fn of_many_texts(arrays: &[ArrayRef], rows: usize, schema: &Schema) -> Vec<u32> {
    let rows: Vec<AtomicU32> = (0..rows).map(|_| AtomicU32::new(NO_VALUE)).collect();
    let mixing = Mixing::new();
    let shares = threads() as u64;
    std::thread::scope(|scope| {
        for share in 0..shares {
            let (rows, mixing) = (&rows, &mixing);
            scope.spawn(move || {
                let room = rows.len() / (2 * shares as usize);
                let mut seen: HashMap<&str, u32, _> = HashMap::with_capacity_and_hasher(room, mixing.clone());
                let mut first = 0;
                for array in arrays {
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
    use crate::num::RandomSource;

    fn table_of(persons: Vec<Option<&str>>) -> (Table, Schema) {
        let persons = Arc::new(StringArray::from(persons)) as ArrayRef;
        let batch = RecordBatch::try_from_iter([("person", persons)]).unwrap();
        let table = Table::from_batches("t", &batch.schema(), &[batch]).unwrap();
        let schema = Schema::new(vec![Column::new("person", Kind::Identifier)]);
        (table, schema)
    }

    fn unit(max_rows: u32) -> Unit {
        Unit {
            column: "person".into(),
            max_rows,
            persons: None,
        }
    }

    #[test]
    fn each_of_a_persons_rows_is_as_likely_to_be_drawn() {
        let names = vec![
            Some("a"),
            Some("b"),
            None,
            Some("a"),
            Some("a"),
            Some("a"),
            Some("a"),
        ];
        let (table, mut schema) = table_of(names);
        let unit = unit(2);
        schema.unit = Some(unit.clone());
        assert_eq!(persons(&table, &schema).unwrap(), 2);
        let mut random = RandomSource::seeded(8);
        let draws = 20_000;
        let mut hits = [0_u32; 7];
        for _ in 0..draws {
            let drawn = PersonRows::drawn(&table, &schema, &unit, &mut random).unwrap();
            assert_eq!(drawn.starts, [0, 2, 3]);
            assert!(drawn.rows[0] < drawn.rows[1] && drawn.rows[2] == 1);
            drawn.rows.iter().for_each(|&row| hits[row] += 1);
        }
        assert_eq!((hits[1], hits[2]), (draws, 0));
        for row in [0, 3, 4, 5, 6] {
            // 2 of 5 rows. Six standard deviations: a false alarm in a billion.
            let missed = f64::from(hits[row]) - f64::from(draws) * 0.4;
            assert!(missed.abs() < 6.0 * (f64::from(draws) * 0.24).sqrt(), "{hits:?}");
        }
    }

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
            persons: None,
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
        fn a_person_who_goes_takes_own_rows_only_and_no_more_than_may_be(
            names in prop::collection::vec(prop::option::of("[abcd]"), 1..60),
            max_rows in 1..5_u32,
        ) {
            let cells = |leave: Option<&str>| {
                let cells = names.iter().map(|name| name.as_deref().filter(|name| Some(*name) != leave));
                cells.collect::<Vec<_>>()
            };
            let drawn = |leave| {
                let (table, schema) = table_of(cells(leave));
                PersonRows::drawn(&table, &schema, &unit(max_rows), &mut RandomSource::seeded(1)).unwrap()
            };
            let all = drawn(None);
            prop_assert_eq!(*all.starts.last().unwrap(), all.rows.len());
            for person in all.starts.windows(2) {
                let own = &all.rows[person[0]..person[1]];
                let name = names[own[0]].as_deref();
                let rows = names.iter().filter(|other| other.as_deref() == name).count();
                prop_assert_eq!(own.len(), rows.min(max_rows as usize));
                prop_assert!(own.iter().all(|&row| names[row].as_deref() == name));
                // The others keep as many rows as before.
                let left = drawn(name);
                prop_assert_eq!(left.rows.len(), all.rows.len() - own.len());
                prop_assert!(left.rows.iter().all(|&row| names[row].as_deref() != name));
            }
        }

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
