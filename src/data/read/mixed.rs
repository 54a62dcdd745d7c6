//! Columns of files whose cells have types of their own, whatever their neighbours are: a column gets the type that
//! holds all of its cells, text if nothing else does.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, Time64MicrosecondArray,
    TimestampMicrosecondArray,
};

use super::columns::{CHUNK_ROWS, Cell as TextCell, Joint, Spellings, TextColumn};
use crate::data::DataError;
use crate::data::schema::Kind;
use crate::data::table::Shelver;
use crate::data::value::{DAY_MICROS, format_iso, format_number};

/// Whole numbers up to this size are exact as doubles.
const EXACT: u64 = 1 << 53;

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

/// The type that holds all cells seen so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// There is nothing in any.
    Missing,
    Whole {
        /// Whether doubles hold them all.
        is_exact: bool,
    },
    Real,
    Flag,
    Temporal(Kind),
    Text,
}

impl Shape {
    /// The type that holds this cell, too. In whatever order cells come, they end at the same type.
    pub fn widened(self, cell: &Cell<'_>) -> Self {
        if cell.is_missing() {
            return self;
        }
        match (self, *cell) {
            (Self::Missing, cell) => Self::of(cell),
            (Self::Whole { is_exact }, Cell::Whole(value)) => Self::Whole {
                is_exact: is_exact && is_exact_as_double(value),
            },
            (Self::Whole { is_exact: true } | Self::Real, Cell::Real(_)) => Self::Real,
            (Self::Real, Cell::Whole(value)) if is_exact_as_double(value) => Self::Real,
            (Self::Flag, Cell::Flag(_)) => Self::Flag,
            (Self::Temporal(known), Cell::Temporal(kind, _)) if known == kind => self,
            (Self::Temporal(Kind::Date | Kind::Datetime), Cell::Temporal(Kind::Date | Kind::Datetime, _)) => {
                Self::Temporal(Kind::Datetime)
            }
            _ => Self::Text,
        }
    }

    /// The type of one cell.
    fn of(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Missing => Self::Missing,
            Cell::Whole(value) => Self::Whole {
                is_exact: is_exact_as_double(value),
            },
            Cell::Real(_) => Self::Real,
            Cell::Flag(_) => Self::Flag,
            Cell::Temporal(kind, _) => Self::Temporal(kind),
            Cell::Text(_) => Self::Text,
        }
    }
}

const fn is_exact_as_double(value: i64) -> bool {
    value.unsigned_abs() <= EXACT
}

/// One column while its cells arrive.
pub(super) struct MixedColumn {
    shape: Shape,
    values: Values,
    rows: usize,
    is_respelled: bool,
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
    /// A column of which nothing is known.
    pub fn new() -> Self {
        Self::of(Shape::Missing)
    }

    /// A column whose cells all have room in this type.
    pub fn of(shape: Shape) -> Self {
        let values = match shape {
            Shape::Missing => Values::Missing,
            Shape::Whole { .. } => Values::Whole(Vec::new()),
            Shape::Real => Values::Real(Vec::new()),
            Shape::Flag => Values::Flag(Vec::new()),
            Shape::Temporal(kind) => Values::Temporal(kind, Vec::new()),
            Shape::Text => Values::Text(Box::new(TextColumn::new())),
        };
        Self {
            shape,
            values,
            rows: 0,
            is_respelled: false,
        }
    }

    /// Whether cells became text that had become something else before: a 1 among fractions is then spelled 1.0.
    pub const fn is_respelled(&self) -> bool {
        self.is_respelled
    }

    /// The type that holds its cells.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    pub fn push(&mut self, cell: Cell<'_>) {
        if cell.is_missing() {
            self.push_missing();
        } else {
            self.widen(self.shape.widened(&cell));
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

    /// Gives the column a type in which its cells have room.
    fn widen(&mut self, shape: Shape) {
        let rows = self.rows;
        let widened = match (&self.values, shape) {
            (Values::Missing, Shape::Whole { .. }) => Some(Values::Whole(vec![None; rows])),
            (Values::Missing, Shape::Real) => Some(Values::Real(vec![None; rows])),
            (Values::Missing, Shape::Flag) => Some(Values::Flag(vec![None; rows])),
            (Values::Missing, Shape::Temporal(kind)) => Some(Values::Temporal(kind, vec![None; rows])),
            (Values::Whole(values), Shape::Real) => {
                let reals = values.iter().map(|value| value.map(|value| value as f64));
                Some(Values::Real(reals.collect()))
            }
            (Values::Temporal(Kind::Date, days), Shape::Temporal(Kind::Datetime)) => {
                let moments = days.iter().map(|day| day.map(|day| day * DAY_MICROS));
                Some(Values::Temporal(Kind::Datetime, moments.collect()))
            }
            (Values::Text(_), _) => None,
            (_, Shape::Text) => Some(self.as_text()),
            _ => None,
        };
        let can_hold_others = matches!(self.shape, Shape::Real | Shape::Temporal(Kind::Datetime));
        self.is_respelled |= can_hold_others && shape == Shape::Text;
        self.shape = shape;
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

    /// The cells so far; the column goes on without them.
    pub fn take(&mut self) -> Vec<ArrayRef> {
        let rest = Self::of(self.shape);
        std::mem::replace(self, rest).finish()
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
    let cell = TextCell::of(text.unwrap_or_default().as_bytes());
    // It is UTF-8, so it is taken.
    let _ = column.push((row / CHUNK_ROWS) as u32, 1, |_| cell, Spellings::default());
}

/// Puts the cells of columns where a table's rows lie; each has the same number of rows.
pub(super) fn shelve(
    columns: impl Iterator<Item = Vec<ArrayRef>>,
    shelver: &mut Shelver<'_>,
) -> Result<(), DataError> {
    let mut columns: Vec<_> = columns.map(Vec::into_iter).collect();
    loop {
        let piece: Vec<_> = columns.iter_mut().filter_map(Iterator::next).collect();
        if piece.is_empty() {
            return Ok(());
        }
        shelver.push(piece)?;
    }
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
    fn the_type_does_not_depend_on_the_order_and_holds_from_the_start() {
        let (date, moment) = (Kind::Date, Kind::Datetime);
        let cells = [
            Cell::Missing,
            Cell::Whole(3),
            Cell::Whole(i64::MIN),
            Cell::Real(0.5),
            Cell::Flag(true),
            Cell::Temporal(date, 1),
            Cell::Temporal(moment, 1_000_000),
            Cell::Text("x"),
        ];
        let shape_of = |cells: &[Cell<'_>]| cells.iter().fold(Shape::Missing, Shape::widened);
        for a in cells {
            for b in cells {
                for c in cells {
                    let shape = shape_of(&[a, b, c]);
                    for order in [[a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]] {
                        assert_eq!(shape_of(&order), shape, "{order:?}");
                    }
                    let mut growing = MixedColumn::new();
                    let mut known = MixedColumn::of(shape);
                    for cell in [a, b, c] {
                        growing.push(cell);
                        known.push(cell);
                    }
                    assert_eq!((growing.shape(), known.shape()), (shape, shape));
                    let (first, known_first) = (growing.take(), known.take());
                    assert_eq!(first[0].data_type(), known_first[0].data_type());
                    assert!(growing.take().is_empty());
                }
            }
        }
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
