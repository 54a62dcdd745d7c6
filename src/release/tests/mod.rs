//! Tests of the room: sensitivities by brute force, coverage by simulation, what is refused, what is charged.

mod coverage;
mod neighbours;
mod outlook;
mod plans;
mod purchases;

use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray};
use arrow::record_batch::RecordBatch;

use crate::data::{Column, Kind, Provenance, Schema, Table, Unit};

/// One row of the tests' table; `None` is a missing cell.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    person: Option<&'static str>,
    /// Continuous, from −3.5 to 10.25.
    x: Option<&'static str>,
    /// Whole, from −2 to 5.
    k: Option<&'static str>,
    /// `a`, `b` or `c`.
    group: Option<&'static str>,
    /// A date in 2020.
    day: Option<&'static str>,
    flag: Option<&'static str>,
}

const BLANK: Row = Row {
    person: None,
    x: None,
    k: None,
    group: None,
    day: None,
    flag: None,
};

fn table(rows: &[Row]) -> Table {
    type Cell = fn(&Row) -> Option<&'static str>;
    let columns: [(&str, Cell); 6] = [
        ("person", |row| row.person),
        ("x", |row| row.x),
        ("k", |row| row.k),
        ("group", |row| row.group),
        ("day", |row| row.day),
        ("flag", |row| row.flag),
    ];
    let arrays = columns.map(|(name, cell)| {
        let array: StringArray = rows.iter().map(cell).collect();
        (name, Arc::new(array) as ArrayRef)
    });
    let batch = RecordBatch::try_from_iter(arrays).unwrap();
    Table::from_batches("t", &batch.schema(), &[batch]).unwrap()
}

fn schema() -> Schema {
    let declared = |column: Column| column.with_provenance(Provenance::Declared).with_missing(true);
    Schema::new(vec![
        Column::new("person", Kind::Identifier),
        declared(Column::new("x", Kind::Continuous).with_bounds(-3.5, 10.25)),
        declared(Column::new("k", Kind::Integer).with_bounds(-2, 5)),
        declared(Column::new("group", Kind::Categorical).with_domain(["a", "b", "c"])),
        declared(Column::new("day", Kind::Date).with_bounds("2020-01-01", "2020-12-31")),
        declared(Column::new("flag", Kind::Boolean)),
    ])
}

fn by_person(max_rows: u32) -> Schema {
    let mut schema = schema();
    schema.unit = Some(Unit {
        persons: None,
        column: "person".into(),
        max_rows,
    });
    schema
}
