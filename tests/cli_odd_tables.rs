//! Tables with something in them that a person would not expect, on the command line: each is told, none is silent.

mod support;

use std::fs::File;
use std::sync::Arc;

use arrow::array::{ArrayRef, Date32Array, Float64Array};
use arrow::record_batch::RecordBatch;
use support::{Bench, text};

/// A Parquet file of 600 rows, two of them infinite and one with a day that no calendar has.
fn beyond(bench: &Bench) -> std::path::PathBuf {
    let numbers = (0..600).map(|row| match row {
        3 => f64::INFINITY,
        4 => f64::NEG_INFINITY,
        _ => f64::from(row % 97) / 8.0,
    });
    let days = (0..600).map(|row| if row == 5 { i32::MAX } else { 17_000 + row % 300 });
    let columns: [(&str, ArrayRef); 2] = [
        ("level", Arc::new(numbers.collect::<Float64Array>())),
        ("day", Arc::new(Date32Array::from_iter_values(days))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let path = bench.path("beyond.parquet");
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    path
}

#[test]
fn infinite_numbers_and_impossible_days_are_told_with_and_without_a_schema() {
    let bench = Bench::new();
    let path = beyond(&bench);
    let told = |said: &str| {
        for word in ["`level`", "infinite cells: 2", "`day`", "calendar", ": 1;"] {
            assert!(said.contains(word), "{word}: {said}");
        }
    };
    let schema = bench.path("beyond.parquet.schema.toml");
    let output = bench.run(&["profile", text(&path), "--out", text(&schema)]);
    assert!(output.status.success(), "{output:?}");
    told(&String::from_utf8_lossy(&output.stderr));
    // The schema lies beside the data now, and says nothing of them.
    let output = bench.run(&[
        "release",
        text(&path),
        "--query",
        "count",
        "--epsilon",
        "1",
        "--schema",
        text(&schema),
    ]);
    told(&String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_table_of_a_workbook_and_a_sheet_of_a_database_are_named_otherwise() {
    let bench = Bench::new();
    let book = bench.path("t.xlsx");
    let mut workbook = rust_xlsxwriter::Workbook::new();
    workbook.add_worksheet().write_row(0, 0, ["a", "b"]).unwrap();
    workbook.save(&book).unwrap();
    let base = bench.path("t.db");
    rusqlite::Connection::open(&base)
        .unwrap()
        .execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1);")
        .unwrap();
    let said = bench.fails(1, &["profile", text(&book), "--table", "Sheet1"]);
    assert!(
        said.contains("t.xlsx") && said.contains("--sheet Sheet1"),
        "{said}"
    );
    let said = bench.fails(1, &["profile", text(&base), "--sheet", "t"]);
    assert!(said.contains("t.db") && said.contains("--table t"), "{said}");
}

#[test]
fn ascii_with_zeros_among_it_is_told_with_its_line() {
    let bench = Bench::new();
    let mut bytes = b"name,code\n".to_vec();
    for _ in 0..300 {
        bytes.extend_from_slice(b"abcdefgh,1234567\n\0");
    }
    let path = bench.write("zeros.csv", &bytes);
    let said = bench.fails(1, &["profile", text(&path)]);
    assert!(said.contains("zeros.csv") && said.contains("line 3"), "{said}");
}
