//! Columns of files whose cells have types of their own, whatever their neighbours are: a column gets the type that
//! holds all of its cells, text if nothing else does.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, Time64MicrosecondArray,
    TimestampMicrosecondArray,
};
use arrow::datatypes::{Field, Schema as ArrowSchema, SchemaRef};
use arrow::record_batch::RecordBatch;

use super::columns::{CHUNK_ROWS, Cell as TextCell, Joint, Spellings, TextColumn};
use crate::data::schema::Kind;
use crate::data::value::{DAY_MICROS, format_iso, format_number};

/// Whole numbers up to this size are exact as doubles.
const EXACT: i64 = 1 << 53;

/// A cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    Missing,
    Whole(i64),
    Real(f64),
    Flag(bool),
    /// Days since 1970 of a date, microseconds of a time (since midnight) or datetime (since 1970).
    Temporal(Kind, i64),
    Text(&'a str),
}

impl Cell<'_> {
    /// Whether there is nothing in it.
    fn is_missing(&self) -> bool {
        match self {
            Self::Missing => true,
            Self::Text(text) => text.trim_ascii().is_empty(),
            Self::Real(value) => value.is_nan(),
            _ => false,
        }
    }
}

/// One column while its cells arrive.
pub(super) struct MixedColumn {
    values: Values,
    rows: usize,
}

enum Values {
    /// None has come yet.
    Missing,
    Whole(Vec<Option<i64>>),
    Real(Vec<Option<f64>>),
    Flag(Vec<Option<bool>>),
    Temporal(Kind, Vec<Option<i64>>),
    Text(Box<TextColumn>),
}

impl MixedColumn {
    pub fn new() -> Self {
        Self {
            values: Values::Missing,
            rows: 0,
        }
    }

    pub fn push(&mut self, cell: Cell<'_>) {
        if cell.is_missing() {
            self.push_missing();
        } else {
            self.make_room_for(cell);
            self.put(cell);
        }
        self.rows += 1;
    }

    fn push_missing(&mut self) {
        match &mut self.values {
            Values::Missing => {}
            Values::Whole(values) | Values::Temporal(_, values) => values.push(None),
            Values::Real(values) => values.push(None),
            Values::Flag(values) => values.push(None),
            Values::Text(column) => push_text(column, self.rows, None),
        }
    }

    /// Gives the column a type that holds this cell, too.
    fn make_room_for(&mut self, cell: Cell<'_>) {
        let rows = self.rows;
        let widened = match (&self.values, cell) {
            (Values::Missing, cell) => Some(match cell {
                Cell::Whole(_) => Values::Whole(vec![None; rows]),
                Cell::Real(_) => Values::Real(vec![None; rows]),
                Cell::Flag(_) => Values::Flag(vec![None; rows]),
                Cell::Temporal(kind, _) => Values::Temporal(kind, vec![None; rows]),
                Cell::Text(_) | Cell::Missing => self.as_text(),
            }),
            (Values::Whole(_), Cell::Whole(_))
            | (Values::Real(_), Cell::Real(_))
            | (Values::Flag(_), Cell::Flag(_))
            | (Values::Temporal(Kind::Datetime, _), Cell::Temporal(Kind::Date, _))
            | (Values::Text(_), _) => None,
            (Values::Real(_), Cell::Whole(value)) if value.abs() <= EXACT => None,
            (Values::Whole(values), Cell::Real(_))
                if values.iter().flatten().all(|value| value.abs() <= EXACT) =>
            {
                let reals = values.iter().map(|value| value.map(|value| value as f64));
                Some(Values::Real(reals.collect()))
            }
            (Values::Temporal(known, _), Cell::Temporal(kind, _)) if *known == kind => None,
            (Values::Temporal(Kind::Date, days), Cell::Temporal(Kind::Datetime, _)) => {
                let moments = days.iter().map(|day| day.map(|day| day * DAY_MICROS));
                Some(Values::Temporal(Kind::Datetime, moments.collect()))
            }
            _ => Some(self.as_text()),
        };
        if let Some(values) = widened {
            self.values = values;
        }
    }

    fn put(&mut self, cell: Cell<'_>) {
        match (&mut self.values, cell) {
            (Values::Real(values), Cell::Real(value)) => values.push(Some(value)),
            (Values::Real(values), Cell::Whole(value)) => values.push(Some(value as f64)),
            (Values::Flag(values), Cell::Flag(value)) => values.push(Some(value)),
            (Values::Temporal(Kind::Datetime, values), Cell::Temporal(Kind::Date, day)) => {
                values.push(Some(day * DAY_MICROS));
            }
            (Values::Whole(values), Cell::Whole(value))
            | (Values::Temporal(_, values), Cell::Temporal(_, value)) => values.push(Some(value)),
            (Values::Text(column), Cell::Text(text)) => push_text(column, self.rows, Some(text)),
            (Values::Text(column), cell) => push_text(column, self.rows, Some(&spelled(cell))),
            // There was made room for it.
            _ => {}
        }
    }

    /// All cells so far, spelled.
    fn as_text(&self) -> Values {
        let mut column = Box::new(TextColumn::new());
        for row in 0..self.rows {
            let cell = match &self.values {
                Values::Whole(values) => values[row].map(Cell::Whole),
                Values::Real(values) => values[row].map(Cell::Real),
                Values::Flag(values) => values[row].map(Cell::Flag),
                Values::Temporal(kind, values) => values[row].map(|value| Cell::Temporal(*kind, value)),
                Values::Missing | Values::Text(_) => None,
            };
            push_text(&mut column, row, cell.map(spelled).as_deref());
        }
        Values::Text(column)
    }

    pub fn finish(self) -> Vec<ArrayRef> {
        fn chunks<T>(values: &[T], array: impl Fn(&[T]) -> ArrayRef) -> Vec<ArrayRef> {
            values.chunks(CHUNK_ROWS).map(array).collect()
        }
        match self.values {
            Values::Missing => {
                let mut column = TextColumn::new();
                (0..self.rows).for_each(|row| push_text(&mut column, row, None));
                Joint::new().join(vec![&mut column])
            }
            Values::Whole(values) => chunks(&values, |values| Arc::new(Int64Array::from(values.to_vec()))),
            Values::Real(values) => chunks(&values, |values| Arc::new(Float64Array::from(values.to_vec()))),
            Values::Flag(values) => chunks(&values, |values| Arc::new(BooleanArray::from(values.to_vec()))),
            Values::Temporal(Kind::Date, values) => chunks(&values, |values| {
                let days = values
                    .iter()
                    .map(|day| day.and_then(|day| i32::try_from(day).ok()));
                Arc::new(days.collect::<Date32Array>())
            }),
            Values::Temporal(Kind::Time, values) => chunks(&values, |values| {
                Arc::new(Time64MicrosecondArray::from(values.to_vec()))
            }),
            Values::Temporal(_, values) => chunks(&values, |values| {
                Arc::new(TimestampMicrosecondArray::from(values.to_vec()))
            }),
            Values::Text(mut column) => Joint::new().join(vec![&mut *column]),
        }
    }
}

/// A cell as text.
fn spelled(cell: Cell<'_>) -> String {
    match cell {
        Cell::Missing => String::new(),
        Cell::Whole(value) => value.to_string(),
        Cell::Real(value) => format_number(value),
        Cell::Flag(value) => value.to_string(),
        Cell::Temporal(kind, value) => format_iso(kind, value),
        Cell::Text(text) => text.to_owned(),
    }
}

fn push_text(column: &mut TextColumn, row: usize, text: Option<&str>) {
    let cell = std::iter::once(TextCell::of(text.unwrap_or_default().as_bytes()));
    // It is UTF-8, so it is taken.
    let _ = column.push((row / CHUNK_ROWS) as u32, cell, Spellings::default());
}

/// The columns as batches; each has the same number of rows, and at least one.
pub(super) fn assemble(names: &[String], columns: Vec<MixedColumn>) -> (SchemaRef, Vec<RecordBatch>) {
    let arrays: Vec<Vec<ArrayRef>> = columns.into_iter().map(MixedColumn::finish).collect();
    let fields = names
        .iter()
        .zip(&arrays)
        .map(|(name, chunks)| Field::new(name, chunks[0].data_type().clone(), true));
    let schema = Arc::new(ArrowSchema::new(fields.collect::<Vec<_>>()));
    let batches = (0..arrays[0].len()).map(|chunk| {
        let columns = arrays.iter().map(|chunks| Arc::clone(&chunks[chunk])).collect();
        RecordBatch::try_new(Arc::clone(&schema), columns).expect("every column got every row")
    });
    let batches = batches.collect();
    (schema, batches)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(cells: &[Cell<'_>]) -> (String, Vec<Option<String>>) {
        let mut column = MixedColumn::new();
        cells.iter().for_each(|cell| column.push(*cell));
        let array = column.finish().remove(0);
        let mut buffer = String::new();
        let texts = (0..array.len())
            .map(|row| crate::data::table::cell(&array, row, &mut buffer).map(str::to_owned))
            .collect();
        (array.data_type().to_string(), texts)
    }

    #[test]
    fn a_column_gets_the_type_that_holds_all_cells() {
        let (date, time, moment) = (Kind::Date, Kind::Time, Kind::Datetime);
        for (cells, kind, texts) in [
            (&[Cell::Missing, Cell::Whole(1)][..], "Int64", "-|1"),
            (
                &[Cell::Whole(1), Cell::Real(0.5), Cell::Whole(2)],
                "Float64",
                "1.0|0.5|2.0",
            ),
            (
                &[Cell::Whole(i64::MAX), Cell::Real(0.5)],
                "Dictionary",
                "9223372036854775807|0.5",
            ),
            (
                &[Cell::Flag(true), Cell::Text("  "), Cell::Flag(false)],
                "Boolean",
                "true|-|false",
            ),
            (&[Cell::Flag(true), Cell::Whole(1)], "Dictionary", "true|1"),
            (
                &[Cell::Temporal(date, 0), Cell::Temporal(moment, 1_000_000)],
                "Timestamp",
                "1970-01-01T00:00:00|1970-01-01T00:00:01",
            ),
            (
                &[Cell::Temporal(moment, 0), Cell::Temporal(date, 1)],
                "Timestamp",
                "1970-01-01T00:00:00|1970-01-02T00:00:00",
            ),
            (
                &[Cell::Temporal(date, 0), Cell::Temporal(time, 0)],
                "Dictionary",
                "1970-01-01|00:00:00",
            ),
            (&[Cell::Real(f64::NAN), Cell::Missing], "Dictionary", "-|-"),
            (
                &[Cell::Whole(7), Cell::Missing, Cell::Text(" a ")],
                "Dictionary",
                "7|-|a",
            ),
        ] {
            let (found, cells_found) = column(cells);
            assert!(found.starts_with(kind), "{found} for {cells:?}");
            let found: Vec<String> = cells_found
                .into_iter()
                .map(|cell| cell.unwrap_or_else(|| "-".into()))
                .collect();
            assert_eq!(found.join("|"), texts);
        }
    }
}
