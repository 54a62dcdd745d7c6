//! Files that are read in rounds, and rows that lie in a file.

use std::sync::Arc;

use super::*;

/// Some megabytes: a column of few texts, one of which there are more and more, one of numbers, one with missing cells and
/// a line end in quotes.
fn megabytes() -> String {
    let mut text = "few,more,number,note\n".to_owned();
    for row in 0..150_000_u32 {
        let note = match row % 5 {
            0 => "",
            1 => "\"two\nlines\"",
            _ => "plain",
        };
        let few = row.wrapping_mul(row) % 7;
        // Few at first, then too many to be numbered.
        let more = if row < 60_000 { row % 9 } else { row };
        text += &format!("kind {few},text number {more},{}.5,{note}\n", row % 1000);
    }
    text
}

fn rooms(folder: &Path) -> [Room; 3] {
    let small = |folder: Option<PathBuf>| Room {
        folder,
        encoded_bytes: u64::MAX,
        table_bytes: 0,
    };
    [Room::memory(), small(None), small(Some(folder.to_owned()))]
}

fn read_in(room: &Room, path: &Path) -> Result<Table, DataError> {
    let options = ReadOptions {
        room: Arc::new(room.clone()),
        ..ReadOptions::default()
    };
    read_table(path, &options, &Progress::new())
}

#[test]
fn rows_in_a_file_are_those_in_memory() {
    use crate::data::{EncoderSettings, RowEncoder};
    let bench = Bench::new();
    let text = megabytes();
    let path = bench.write("t.csv", text.as_bytes());
    let rooms = rooms(bench.folder.path());
    let [whole, rounds, filed] = rooms.each_ref().map(|room| read_in(room, &path).unwrap());
    assert!(whole.file_bytes().is_none() && rounds.file_bytes().is_none());
    let (held, least) = (rounds.memory_bytes(), whole.memory_bytes());
    assert!(
        held < least + least / 20,
        "texts are held once: {held} of {least}"
    );
    let bytes = filed.file_bytes().unwrap();
    assert!(bytes < text.len() as u64, "{bytes}");
    // What was numbered before the texts became too many.
    let held = filed.memory_bytes();
    assert!(held < text.len() / 2, "only texts stay: {held}");

    // The same from a file that knows its types.
    let parquet = bench.folder.path().join("t.parquet");
    let file = File::create(&parquet).unwrap();
    let mut writer = ::parquet::arrow::ArrowWriter::try_new(file, filed.schema(), None).unwrap();
    for batch in filed.batches() {
        writer.write(&batch.unwrap()).unwrap();
    }
    writer.close().unwrap();
    let typed = read_in(&rooms[2], &parquet).unwrap();
    assert!(typed.file_bytes().is_some());

    let expected = cells(&whole);
    let found = profile(&whole, &Progress::new()).unwrap();
    let schema = found.schema.clone();
    let mut reviewed = schema.clone();
    for column in &mut reviewed.column {
        column.provenance = Some(Provenance::Accepted);
        if column.name == "more" {
            column.kind = Kind::Identifier;
        }
    }
    let encoder = RowEncoder::new(&reviewed, &EncoderSettings::default()).unwrap();
    let encoded = encoder.encode(&whole, &Progress::new()).unwrap();
    let numbers = |table: &Table| {
        let reader = crate::data::NumberReader::unbounded(&schema, "number").unwrap();
        let mut all = Vec::new();
        reader
            .read(table, &mut |cells| all.extend_from_slice(cells))
            .unwrap();
        all
    };
    let before = |table: &Table| crate::data::rows_before(table, &schema, "more").unwrap();
    for table in [&rounds, &filed, &typed] {
        assert!(cells(table) == expected, "{}", table.name());
        assert_eq!(
            table.preview(140_000..140_003).unwrap(),
            expected[140_000..140_003]
        );
        assert_eq!(table.cell(77_777, 1).unwrap(), expected[77_777][1]);
        let own = profile(table, &Progress::new()).unwrap();
        assert_eq!(
            serde_json::to_value(&own).unwrap(),
            serde_json::to_value(&found).unwrap()
        );
        assert!(encoder.encode(table, &Progress::new()).unwrap() == encoded);
        assert!(numbers(table) == numbers(&whole));
        assert_eq!(before(table), before(&whole));
    }
    assert_eq!(filed.content_digest(), whole.content_digest());
    let gone = Room {
        folder: Some(bench.folder.path().join("gone")),
        ..rooms[2].clone()
    };
    let error = read_in(&gone, &path).unwrap_err().to_string();
    assert!(error.contains("gone"), "{error}");
}

/// Rows of a database: a column whose type only its last cell tells, and more rows than a round has.
#[test]
fn a_databases_rows_in_a_file_are_those_in_memory() {
    let bench = Bench::new();
    let path = bench.folder.path().join("t.db");
    let mut connection = rusqlite::Connection::open(&path).unwrap();
    let writing = connection.transaction().unwrap();
    writing
        .execute_batch("CREATE TABLE t (few TEXT, more TEXT, number REAL, late, day DATE, none)")
        .unwrap();
    let mut insert = writing
        .prepare("INSERT INTO t VALUES (?1, ?2, ?3, ?4, ?5, NULL)")
        .unwrap();
    for row in 0..150_000_i64 {
        let day = (row % 5 > 0).then(|| format!("2019-03-{:02}", 1 + row % 31));
        let more = if row < 60_000 { row % 9 } else { row };
        insert
            .execute((
                format!("kind {}", row % 7),
                format!("text number {more}"),
                row as f64 / 4.0,
                row,
                day,
            ))
            .unwrap();
    }
    drop(insert);
    writing
        .execute("UPDATE t SET late = 'a word' WHERE rowid = 150000", [])
        .unwrap();
    writing.commit().unwrap();
    drop(connection);

    let [whole, rounds, filed] = rooms(bench.folder.path()).map(|room| read_in(&room, &path).unwrap());
    assert!(whole.file_bytes().is_none() && rounds.file_bytes().is_none());
    assert!(filed.file_bytes().is_some());
    assert!(rounds.pieces() > whole.pieces() && filed.pieces() >= 9);
    let expected = cells(&whole);
    assert_eq!(expected.len(), 150_000);
    let line = |row: usize, words: [&str; 4]| {
        let words = words.map(|word| (!word.is_empty()).then(|| word.to_owned()));
        assert_eq!(expected[row][..4], words, "{row}");
    };
    line(8, ["kind 1", "text number 8", "2.0", "8"]);
    line(149_999, ["kind 3", "text number 149999", "37499.75", "a word"]);
    let found = serde_json::to_value(profile(&whole, &Progress::new()).unwrap()).unwrap();
    for table in [&rounds, &filed] {
        assert!(cells(table) == expected);
        let own = profile(table, &Progress::new()).unwrap();
        assert_eq!(serde_json::to_value(own).unwrap(), found);
    }
}

/// A sheet is read whole; afterwards its rows lie where others do.
#[test]
fn a_sheets_rows_go_to_a_file_too() {
    let bench = Bench::new();
    let path = bench.folder.path().join("t.xlsx");
    let mut workbook = rust_xlsxwriter::Workbook::new();
    let sheet = workbook.add_worksheet();
    sheet.write_row(0, 0, ["word", "number"]).unwrap();
    for row in 1..3000_u32 {
        sheet.write(row, 0, format!("w{}", row % 5)).unwrap();
        sheet.write(row, 1, f64::from(row) / 2.0).unwrap();
    }
    workbook.save(&path).unwrap();
    let [whole, rounds, filed] = rooms(bench.folder.path()).map(|room| read_in(&room, &path).unwrap());
    assert!(filed.file_bytes().is_some() && rounds.file_bytes().is_none());
    assert!(cells(&filed) == cells(&whole));
}

#[test]
fn what_is_wrong_in_a_later_round_has_its_place() {
    let bench = Bench::new();
    let text = megabytes();
    let (head, rest) = text.split_at(text.match_indices('\n').nth(130_000).unwrap().0 + 1);
    for (name, odd) in [
        ("ragged.csv", &b"one,two\n"[..]),
        ("open.csv", b"a,b,1,\"never closed\n"),
    ] {
        let path = bench.write(name, &[head.as_bytes(), odd, rest.as_bytes()].concat());
        let errors = rooms(bench.folder.path()).map(|room| read_in(&room, &path).unwrap_err().to_string());
        assert!(errors[0].contains(name), "{}", errors[0]);
        assert!(errors.iter().all(|error| *error == errors[0]), "{errors:#?}");
    }
}
