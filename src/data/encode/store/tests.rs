use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, StringArray};
use arrow::record_batch::RecordBatch;
use proptest::prelude::*;

use super::*;
use crate::data::schema::{Column, Kind, Schema};
use crate::data::{EncoderSettings, NumericCode, Provenance};

fn table(rows: &[(Option<u8>, i64, f64)], cut: usize) -> Table {
    let colours = rows
        .iter()
        .map(|row| row.0.map(|colour| format!("c{}", colour % 3)));
    let columns: [(&str, ArrayRef); 3] = [
        ("colour", Arc::new(colours.collect::<StringArray>())),
        (
            "size",
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.1))),
        ),
        (
            "level",
            Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row.2))),
        ),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let cut = cut.min(rows.len());
    let batches = [batch.slice(0, cut), batch.slice(cut, rows.len() - cut)];
    Table::from_batches("t", &batch.schema(), &batches).unwrap()
}

fn encoder(numeric: NumericCode) -> RowEncoder {
    let declared = |column: Column| column.with_provenance(Provenance::Declared);
    let schema = Schema::new(vec![
        declared(Column::new("colour", Kind::Categorical).with_domain(["c0", "c1", "c2"])).with_missing(true),
        // More fine cells than a byte counts.
        declared(Column::new("size", Kind::Integer).with_bounds(0, 5000)),
        declared(Column::new("level", Kind::Continuous).with_bounds(0.0, 1.0)),
    ]);
    RowEncoder::new(&schema, &EncoderSettings { numeric }).unwrap()
}

fn room(folder: Option<&Path>) -> Room {
    Room {
        folder: folder.map(Path::to_owned),
        encoded_bytes: 0,
        ..Room::memory()
    }
}

fn all(stored: &StoredRows) -> (Vec<u16>, Vec<f32>, Vec<u16>) {
    let mut all = (Vec::new(), Vec::new(), Vec::new());
    let read = stored.each_piece(|piece| {
        all.0.extend_from_slice(&piece.codes);
        all.1.extend_from_slice(&piece.scalars);
        all.2.extend_from_slice(&piece.fine);
    });
    read.unwrap();
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_stored_is_what_is_encoded(
        rows in prop::collection::vec((prop::option::of(0..3_u8), 0..6000_i64, -0.2..1.2_f64), 1..80),
        cut in 0..80_usize,
        in_file in any::<bool>(),
        binned in any::<bool>(),
    ) {
        let numeric = if binned { NumericCode::Binned { bins: 300 } } else { NumericCode::AsDeclared };
        let (encoder, table) = (encoder(numeric), table(&rows, cut));
        let folder = tempfile::tempdir().unwrap();
        let room = room(in_file.then_some(folder.path()));
        let plain = encoder.encode(&table, &Progress::new()).unwrap();
        let stored = encoder.store(&table, None, &room, &Progress::new()).unwrap();
        prop_assert_eq!(stored.is_in_file(), in_file);
        prop_assert_eq!(stored.clamped_cells(), plain.clamped_cells());
        prop_assert_eq!(all(&stored), (plain.codes.clone(), plain.scalars.clone(), plain.fine.clone()));
        let picks: Vec<usize> = (0..rows.len()).rev().step_by(2).collect();
        let mut dense = vec![0.0; picks.len() * plain.width()];
        let mut expected = dense.clone();
        stored.write_dense(&picks, &mut dense).unwrap();
        plain.write_dense(&picks, &mut expected);
        prop_assert_eq!(dense, expected);
        // Nothing of it has a name.
        prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn persons_rows_lie_together(
        rows in prop::collection::vec((prop::option::of(0..3_u8), 0..6000_i64, 0.0..1.0_f64), 1..80),
        of in prop::collection::vec(0..6_usize, 80),
        in_file in any::<bool>(),
    ) {
        let (encoder, table) = (encoder(NumericCode::Binned { bins: 20 }), table(&rows, 7));
        // Person 5 is nobody.
        let mut persons = PersonRows { rows: Vec::new(), starts: vec![0] };
        for person in 0..5 {
            persons.rows.extend((0..rows.len()).filter(|row| of[*row] == person));
            persons.starts.push(persons.rows.len());
        }
        let plain = encoder.encode(&table, &Progress::new()).unwrap().select(&persons.rows);
        let folder = tempfile::tempdir().unwrap();
        let room = room(in_file.then_some(folder.path()));
        let stored = encoder.store(&table, Some(persons.clone()), &room, &Progress::new()).unwrap();
        prop_assert_eq!(stored.persons().unwrap(), &persons.starts[..]);
        prop_assert_eq!((stored.rows(), stored.units()), (persons.rows.len(), 5));
        prop_assert_eq!(all(&stored), (plain.codes.clone(), plain.scalars.clone(), plain.fine.clone()));
    }
}

#[test]
fn few_rows_stay_in_memory_and_a_folder_that_is_not_there_is_named() {
    let (encoder, table) = (
        encoder(NumericCode::Binned { bins: 20 }),
        table(&[(None, 1, 0.5)], 0),
    );
    let folder = tempfile::tempdir().unwrap();
    let usual = Room::beyond_memory_in(folder.path().to_owned());
    let stored = encoder.store(&table, None, &usual, &Progress::new()).unwrap();
    // Three codes, and two fine cells.
    assert_eq!((stored.is_in_file(), stored.bytes()), (false, 3 + 2));
    let gone = room(Some(&folder.path().join("gone")));
    let error = encoder.store(&table, None, &gone, &Progress::new()).unwrap_err();
    assert!(error.to_string().contains("gone"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_with_what_to_do() {
    let file = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut writer = Writer {
        place: Place::File(Spill::of(file, Path::new("folder"))),
        bytes: 1,
        waiting: Vec::new(),
        first: 0,
    };
    writer.put(0, |out| out.push(1)).unwrap();
    let error = writer.finish().unwrap_err().to_string();
    assert!(error.contains("folder") && error.contains("free"), "{error}");
}
