//! A sheet of an Excel workbook, written row by row.
//!
//! Cells have the types of the columns. What a sheet's numbers cannot hold stays exact as text: whole numbers of more
//! than fifteen digits, days before March 1900, fractions of a second finer than a thousandth.

use std::io;
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use rust_xlsxwriter::{Format, Workbook, XlsxError};

use super::super::atomic::try_target;
use super::{Cells, ExportError, Sink, columns_of, is_missing};
use crate::data::{CellFormat, Kind, Schema};
use crate::num::caught;

/// Rows of a sheet, without the header's.
pub(super) const MOST_ROWS: usize = (1 << 20) - 1;
/// What is said of more.
pub(super) const TOO_MANY_ROWS: &str =
    "a sheet has at most 1048575 rows under its header; choose .parquet or .csv";
/// Columns of a sheet.
const MOST_COLUMNS: usize = 1 << 14;
/// Larger whole numbers are not exact in a sheet.
const EXACT: i64 = 1_000_000_000_000_000;
/// Days from 30 December 1899, where sheets count from, to 1970.
const EPOCH_DAYS: i64 = 25_569;
/// 1 March 1900: before it, sheets count a day that never was.
const FIRST_DAY: i64 = 61 - EPOCH_DAYS;
/// 31 December 9999.
const LAST_DAY: i64 = 2_958_465 - EPOCH_DAYS;
const DAY_MILLIS: i64 = 86_400_000;

/// A workbook in the making. Its rows go to a file of its own beside the target, and the library panics when that
/// cannot be written.
pub(super) struct XlsxOutput {
    path: PathBuf,
    workbook: Workbook,
    columns: Vec<(Kind, CellFormat, Format)>,
    row: u32,
    sink: Sink,
}

impl XlsxOutput {
    pub fn new(path: &Path, schema: &Schema, sink: Sink) -> Result<Self, ExportError> {
        let columns: Vec<_> = schema.used_columns().map(|(_, column)| column).collect();
        if columns.len() > MOST_COLUMNS {
            return Err(sink.unwritable("a sheet has at most 16384 columns; choose .parquet or .csv"));
        }
        let mut workbook = Workbook::new();
        let begin = |workbook: &mut Workbook| -> Result<(), XlsxError> {
            workbook.set_tempdir(super::super::atomic::folder_of(path))?;
            let sheet = workbook.add_worksheet_with_constant_memory()?;
            sheet.set_name("synthetic")?;
            for (column, place) in columns.iter().zip(0..) {
                sheet.write_string(0, place, &column.name)?;
            }
            Ok(())
        };
        begin(&mut workbook).map_err(|error| sink.explain(&error))?;
        let columns = columns.into_iter().map(|column| {
            let pattern = match column.kind {
                Kind::Date => "yyyy-mm-dd",
                Kind::Time => "hh:mm:ss.000",
                Kind::Datetime => "yyyy-mm-dd hh:mm:ss.000",
                _ => "General",
            };
            let format = Format::new().set_num_format(pattern);
            (column.kind, CellFormat::new(column), format)
        });
        Ok(Self {
            path: path.to_owned(),
            workbook,
            columns: columns.collect(),
            row: 0,
            sink,
        })
    }

    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), ExportError> {
        if self.row as usize + batch.num_rows() > MOST_ROWS {
            return Err(self.sink.unwritable(TOO_MANY_ROWS));
        }
        match caught(|| self.rows(batch)) {
            Some(written) => written.map_err(|error| self.sink.explain(&error)),
            None => Err(unwritten(&self.path)),
        }
    }

    fn rows(&mut self, batch: &RecordBatch) -> Result<(), XlsxError> {
        let columns = columns_of(batch);
        let sheet = self.workbook.worksheet_from_index(0)?;
        for row in 0..batch.num_rows() {
            self.row += 1;
            let at = self.row;
            for (((column, nulls), (kind, format, number)), place) in
                columns.iter().zip(&self.columns).zip(0..)
            {
                if is_missing(*nulls, row) {
                    continue;
                }
                match column {
                    Cells::Keyed(keys, values) => {
                        sheet.write_string(at, place, values.value(keys.value(row) as usize))?;
                    }
                    Cells::Words(values) => {
                        sheet.write_string(at, place, values.value(row))?;
                    }
                    Cells::Flags(values) => {
                        sheet.write_boolean(at, place, values.value(row))?;
                    }
                    Cells::Whole(values) => {
                        let value = values.value(row);
                        if value.abs() < EXACT {
                            sheet.write_number(at, place, value as f64)?;
                        } else {
                            sheet.write_string(at, place, value.to_string())?;
                        }
                    }
                    Cells::Real(values) => {
                        sheet.write_number(at, place, values.value(row))?;
                    }
                    Cells::Steps(values) => match serial(*kind, values(row)) {
                        Some(serial) => {
                            sheet.write_number_with_format(at, place, serial, number)?;
                        }
                        None => {
                            sheet.write_string(at, place, format.iso(values(row)))?;
                        }
                    },
                }
            }
        }
        Ok(())
    }

    pub fn finish(mut self) -> Result<(), ExportError> {
        let saved = caught(|| self.workbook.save_to_writer(self.sink.clone()));
        let explained = match saved {
            Some(saved) => saved.map_err(|error| self.sink.explain(&error)),
            // Asked while the rows' own file is there still: it may be what fills the disk.
            None => Err(unwritten(&self.path)),
        };
        // The rows' own file goes with the workbook.
        drop(self.workbook);
        explained
    }
}

/// Why the rows' own file could not be written, which the library keeps to itself: found by writing another one there.
fn unwritten(path: &Path) -> ExportError {
    let other = || io::Error::other("the sheet's rows could not be written beside it");
    try_target(path, true)
        .err()
        .unwrap_or_else(|| ExportError::from_write(path, other()))
}

/// A date or time as a sheet counts it: in days. `None` when it would not come back as it was.
fn serial(kind: Kind, value: i64) -> Option<f64> {
    let (days, micros) = match kind {
        Kind::Date => (value, 0),
        Kind::Time => (-EPOCH_DAYS, value),
        _ => (
            value.div_euclid(DAY_MILLIS * 1000),
            value.rem_euclid(DAY_MILLIS * 1000),
        ),
    };
    let is_known = kind == Kind::Time || (FIRST_DAY..=LAST_DAY).contains(&days);
    (is_known && micros % 1000 == 0)
        .then(|| (days + EPOCH_DAYS) as f64 + (micros / 1000) as f64 / DAY_MILLIS as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_as_sheets_do() {
        assert_eq!(serial(Kind::Date, 0), Some(25_569.0));
        assert_eq!(serial(Kind::Date, FIRST_DAY), Some(61.0));
        assert_eq!(serial(Kind::Date, FIRST_DAY - 1), None);
        assert_eq!(serial(Kind::Time, 43_200_000_000), Some(0.5));
        assert_eq!(
            serial(Kind::Datetime, 86_400_000_000 + 21_600_000_000),
            Some(25_570.25)
        );
        assert_eq!(serial(Kind::Datetime, 1), None);
        assert_eq!(serial(Kind::Date, LAST_DAY), Some(2_958_465.0));
        assert_eq!(serial(Kind::Date, LAST_DAY + 1), None);
    }
}
