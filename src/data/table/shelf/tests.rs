use arrow::array::{Float64Array, LargeStringArray};
use proptest::prelude::*;

use super::*;
use crate::data::table::cell;

fn numbered(texts: &[Option<String>]) -> ArrayRef {
    Arc::new(
        texts
            .iter()
            .map(Option::as_deref)
            .collect::<DictionaryArray<Int32Type>>(),
    )
}

fn plain(texts: &[Option<String>]) -> ArrayRef {
    Arc::new(texts.iter().map(Option::as_deref).collect::<LargeStringArray>())
}

fn shelved(room: &Room, pieces: &[Vec<ArrayRef>]) -> Shelved {
    let mut shelver = Shelver::new(room);
    for piece in pieces {
        shelver.push(piece.clone()).unwrap();
    }
    shelver.finish(["text", "number"].into_iter()).unwrap()
}

fn in_file(folder: &std::path::Path) -> Room {
    Room {
        table_bytes: 0,
        ..Room::beyond_memory_in(folder.to_owned())
    }
}

fn cells(shelved: &Shelved, column: usize) -> Vec<Option<String>> {
    let pieces = shelved.starts.len() - 1;
    let array = |piece: usize| match &shelved.rows {
        Rows::Memory(batches) => Arc::clone(batches[piece].column(column)),
        Rows::File(shelf) => shelf.array(piece, column).unwrap(),
    };
    (0..pieces)
        .flat_map(|piece| {
            let array = array(piece);
            let texts = (0..array.len()).map(|row| cell(&array, row, &mut String::new()).map(str::to_owned));
            texts.collect::<Vec<_>>()
        })
        .collect()
}

proptest! {
    #[test]
    fn what_lies_in_a_file_is_what_would_lie_in_memory(
        pieces in prop::collection::vec(
            (prop::collection::vec(prop::option::of("[a-c日]{0,2}"), 1..40), any::<bool>()),
            1..6,
        ),
    ) {
        let arrays: Vec<Vec<ArrayRef>> = pieces
            .iter()
            .map(|(texts, is_plain)| {
                let numbers: Float64Array = (0..texts.len()).map(|row| (row % 3 > 0).then_some(row as f64)).collect();
                let texts = if *is_plain { plain(texts) } else { numbered(texts) };
                vec![texts, Arc::new(numbers) as ArrayRef]
            })
            .collect();
        let folder = tempfile::tempdir().unwrap();
        let (room, memory) = (in_file(folder.path()), Room::memory());
        let (kept, held) = (shelved(&room, &arrays), shelved(&memory, &arrays));
        prop_assert!(matches!((&kept.rows, &held.rows), (Rows::File(_), Rows::Memory(_))));
        prop_assert_eq!(&kept.starts, &held.starts);
        prop_assert_eq!(&kept.schema, &held.schema);
        for column in 0..2 {
            prop_assert_eq!(cells(&kept, column), cells(&held, column));
        }
    }
}

#[test]
fn texts_that_become_too_many_are_plain_in_all_pieces() {
    let folder = tempfile::tempdir().unwrap();
    let room = in_file(folder.path());
    let texts = |from: usize, count: usize| -> Vec<Option<String>> {
        (from..from + count).map(|text| Some(text.to_string())).collect()
    };
    // One byte a number, two, four, and none.
    let pieces = [
        texts(0, 200),
        texts(100, 400),
        texts(0, MOST_TEXTS + 1),
        texts(7, 9),
    ];
    let arrays: Vec<Vec<ArrayRef>> = pieces
        .iter()
        .map(|texts| {
            vec![
                numbered(texts),
                Arc::new(Float64Array::from(vec![0.0; texts.len()])) as ArrayRef,
            ]
        })
        .collect();
    let kept = shelved(&room, &arrays);
    assert_eq!(kept.schema.field(0).data_type(), &DataType::LargeUtf8);
    assert_eq!(cells(&kept, 0), pieces.concat());
}

#[test]
fn a_column_without_a_text_is_all_missing_and_a_look_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let room = in_file(folder.path());
    let none = vec![None; 3];
    let pieces = [
        vec![numbered(&none), plain(&none)],
        vec![numbered(&none), plain(&none)],
    ];
    let kept = shelved(&room, &pieces);
    assert_eq!(cells(&kept, 0), vec![None; 6]);
    let Rows::File(shelf) = &kept.rows else {
        panic!("it lies in a file");
    };
    let (one, again) = (shelf.look_at(1).unwrap(), shelf.look_at(1).unwrap());
    assert!(Arc::ptr_eq(one.column(1), again.column(1)));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_with_what_to_do() {
    let file = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let spill = Spill::of(file, std::path::Path::new("folder"));
    let error = Writer::new(spill, 1)
        .write(&[plain(&[Some("a".to_owned())])])
        .unwrap_err();
    let error = error.to_string();
    assert!(error.contains("folder") && error.contains("free"), "{error}");
}
