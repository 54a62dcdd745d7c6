//! A sheet of an Excel workbook (`.xlsx`): the one that is named, else the first that is shown.
//!
//! The first row with anything in it names the columns; a table is as wide as that row. Formulas count as the results
//! that are stored with them. What a person would see and a table could not hold is told with its place: merged cells,
//! formulas without a result, cells beside the table.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use calamine::{DataRef, Dimensions, Reader as _, SheetType, SheetVisible, Xlsx, XlsxError};
use zip::ZipArchive;

use super::form::FileForm;
use super::mixed::{self, Cell, MixedColumn};
use super::{ReadOptions, check_names, digest};
use crate::data::schema::Kind;
use crate::data::spill::Room;
use crate::data::table::{Origin, Shelved, Shelver, TableSource};
use crate::data::value::{DAY_MICROS, file_name, format_number, parse_iso};
use crate::data::{DataError, Table};
use crate::message;
use crate::num::progress::Progress;
use crate::num::{Message, caught};

/// Unpacked bytes that any workbook may have.
const ROOM: u64 = if cfg!(test) { 1 << 24 } else { 1 << 30 };
/// Cells, present or missing, that any sheet may have.
const ROOM_OF_CELLS: u64 = if cfg!(test) { 1 << 16 } else { 1 << 27 };
/// Beyond that, how many times the file's size: see `source.rs`.
const RATIO: u64 = 500;
/// Parts of more unpacked bytes than this are looked through before they are read.
const LONG_PART: u64 = if cfg!(test) { 1 << 22 } else { 1 << 26 };
/// Bytes without a tag: far more than the longest text of a cell, whatever its letters are spelled by.
const LONGEST_TEXT: usize = 1 << 20;
/// Rows of any sheet.
const MOST_ROWS: u64 = 1 << 20;
/// Rows between two looks at the progress.
const STRIDE: u32 = 1 << 12;
/// Days from 30 December 1899, from which sheets count, to 1970.
const EPOCH_DAYS: i64 = 25_569;
/// The same from 1 January 1904, from which some workbooks count.
const EPOCH_1904_DAYS: i64 = 24_107;
/// 1 March 1900. Before it, sheets count a day that never was.
const MARCH_1900: f64 = 61.0;
/// A sheet's times are good to a thousandth of a second.
const DAY_MILLIS: f64 = 86_400_000.0;

type Workbook = Xlsx<BufReader<File>>;

/// Whether an archive is a workbook.
///
/// # Errors
/// When it is damaged.
pub(super) fn is_workbook(path: &Path, file: File) -> Result<bool, DataError> {
    let archive = ZipArchive::new(BufReader::new(file)).map_err(|error| DataError::CorruptFile {
        path: path.to_owned(),
        kind: "zip or Excel",
        reason: error.to_string(),
    })?;
    let is_workbook = archive
        .file_names()
        .flatten()
        .any(|name| name.replace('\\', "/").eq_ignore_ascii_case("xl/workbook.xml"));
    Ok(is_workbook)
}

/// Reads the sheet that the options name, or the first that is shown.
pub(super) fn read(
    path: &Path,
    mut file: File,
    options: &ReadOptions,
    progress: &Progress,
) -> Result<Table, DataError> {
    let (digest, bytes) = digest(path, &mut file, 2, progress)?;
    let reading = Reading {
        path,
        room: &options.room,
        progress,
        bytes,
    };
    // The reader is not ours and the bytes are anybody's: should it panic, that is one more damaged file.
    let work = || reading.sheet(file, options.form.sheet.as_deref());
    let (sheet, sheets, shelved) =
        caught(work).unwrap_or_else(|| Err(reading.damaged("its cells do not decode")))?;
    let origin = Origin {
        name: file_name(path).into_owned(),
        path: Some(path.to_owned()),
        source: TableSource::Xlsx { sheets },
        form: FileForm {
            sheet: Some(sheet),
            provenance: options.form.provenance,
            ..FileForm::default()
        },
        digest: Some(digest),
        bytes,
    };
    Ok(Table::of_shelved(origin, shelved))
}

#[derive(Clone, Copy)]
struct Reading<'a> {
    path: &'a Path,
    room: &'a Room,
    progress: &'a Progress,
    bytes: u64,
}

type Found = (String, Vec<String>, Shelved);

impl Reading<'_> {
    fn damaged(&self, reason: impl ToString) -> DataError {
        DataError::CorruptFile {
            path: self.path.to_owned(),
            kind: "Excel",
            reason: reason.to_string(),
        }
    }

    fn failed(&self, error: &XlsxError) -> DataError {
        self.damaged(error)
    }

    fn at(&self, message: Message) -> DataError {
        DataError::Sheet {
            path: self.path.to_owned(),
            message,
        }
    }

    /// A file whose parts say that they are enormous, or that hold what no sheet does. What they say of their size binds:
    /// the archive's reader takes no byte more.
    fn check_size(&self, file: &File) -> Result<(), DataError> {
        let failed = |error: zip::result::ZipError| match self.progress.check() {
            Err(cancelled) => DataError::from(cancelled),
            Ok(()) => self.damaged(error),
        };
        let copy = file.try_clone().map_err(|error| failed(error.into()))?;
        let mut archive = ZipArchive::new(BufReader::new(copy)).map_err(failed)?;
        let mut unpacked = 0_u64;
        let mut long = Vec::new();
        for part in 0..archive.len() {
            let found = archive.by_index_raw(part).map_err(failed)?;
            let size = found.size();
            unpacked = unpacked.saturating_add(size);
            // Pictures are not read.
            if size > LONG_PART && found.name().is_ok_and(|name| name.ends_with(".xml")) {
                long.push(part);
            }
        }
        if unpacked > ROOM && unpacked / RATIO > self.bytes {
            return Err(self.too_much());
        }
        for part in long {
            let part = archive.by_index(part).map_err(failed)?;
            self.check_part(part)?;
        }
        Ok(())
    }

    /// The reader takes a piece of text, and rows without a cell, at one go, however long that is: so they are looked for
    /// beforehand in parts that have room for it.
    fn check_part(&self, mut part: impl Read) -> Result<(), DataError> {
        let mut buffer = vec![0; 1 << 16];
        let (mut stretch, mut rows) = (0, 0_u64);
        loop {
            self.progress.check()?;
            let count = part.read(&mut buffer).map_err(|error| self.damaged(error))?;
            let Some(bytes) = buffer.get(..count).filter(|bytes| !bytes.is_empty()) else {
                return Ok(());
            };
            // A row whose name is cut by the buffer's end is not counted: a few of a million.
            rows += memchr::memmem::find_iter(bytes, b"<row").count() as u64;
            let mut last = 0;
            for place in memchr::memchr_iter(b'<', bytes) {
                if stretch + place - last > LONGEST_TEXT {
                    return Err(self.too_long_a_text());
                }
                (stretch, last) = (0, place);
            }
            stretch += bytes.len() - last;
            if stretch > LONGEST_TEXT {
                return Err(self.too_long_a_text());
            }
            if rows > MOST_ROWS {
                return Err(self.damaged(format!(
                    "a sheet has more than {MOST_ROWS} rows, which none can have"
                )));
            }
        }
    }

    fn too_long_a_text(&self) -> DataError {
        self.damaged(format!(
            "it has a text of more than {} MB; a cell holds 32,767 letters",
            LONGEST_TEXT >> 20
        ))
    }

    fn too_much(&self) -> DataError {
        DataError::UnpacksToTooMuch {
            path: self.path.to_owned(),
            ratio: RATIO,
        }
    }

    fn sheet(&self, file: File, wanted: Option<&str>) -> Result<Found, DataError> {
        self.check_size(&file)?;
        let mut workbook: Workbook =
            Xlsx::new(BufReader::with_capacity(1 << 18, file)).map_err(|error| self.failed(&error))?;
        let mut sheets: Vec<_> = (workbook.sheets_metadata().iter())
            .filter(|sheet| sheet.typ == SheetType::WorkSheet)
            .collect();
        // Those that are shown first, otherwise in their order.
        sheets.sort_by_key(|sheet| sheet.visible != SheetVisible::Visible);
        let sheets: Vec<String> = sheets.into_iter().map(|sheet| sheet.name.clone()).collect();
        let found = wanted.map_or(sheets.first(), |wanted| {
            sheets.iter().find(|name| *name == wanted)
        });
        let Some(name) = found.cloned() else {
            return Err(DataError::WhichPart {
                path: self.path.to_owned(),
                kind: "sheet",
                wanted: wanted.map(str::to_owned),
                parts: sheets,
            });
        };
        let merged = workbook
            .merge_cells_by_sheet_name(&name)
            .map_err(|error| self.failed(&error))?;
        let table = self.cells(&mut workbook, &name, &merged)?;
        Ok((name, sheets, table))
    }

    fn cells(
        &self,
        workbook: &mut Workbook,
        name: &str,
        merged: &[Dimensions],
    ) -> Result<Shelved, DataError> {
        let failed = |error: XlsxError| self.failed(&error);
        let is_1904 = workbook.has_1904_epoch();
        let mut reader = workbook.worksheet_cells_reader(name).map_err(failed)?;
        let last_row = reader.dimensions().end.0.max(1);
        let mut table: Option<Growing> = None;
        let mut row: (u32, Vec<(u32, DataRef<'_>)>) = (0, Vec::new());
        loop {
            let record = reader.next_cell_with_formula_metadata().map_err(failed)?;
            let place = record.as_ref().map(|record| record.pos.0);
            if place != Some(row.0) {
                if place.is_some_and(|place| place < row.0) {
                    return Err(self.damaged("its rows are not in order"));
                }
                self.take_row(&mut table, row.0, &row.1, is_1904)?;
                if row.0.is_multiple_of(STRIDE) {
                    self.progress.check()?;
                    let share = (f64::from(row.0) / f64::from(last_row)).min(1.0);
                    self.progress
                        .set(self.bytes + (self.bytes as f64 * share) as u64, 2 * self.bytes);
                }
                row.1.clear();
            }
            let Some(record) = record else { break };
            let (at, column) = record.pos;
            row.0 = at;
            match record.value {
                DataRef::Empty if record.formula.is_some() => {
                    return Err(self.at(message!(
                        "sheet-no-result",
                        "cell {cell} has a formula whose result is not stored; open the file in a spreadsheet program, \
                         save it, and open it here again",
                        cell = spell(at, column)
                    )));
                }
                DataRef::Empty => {}
                value => row.1.push((column, value)),
            }
        }
        self.progress.set(2 * self.bytes, 2 * self.bytes);
        let Some(table) = table else {
            return Err(DataError::Empty {
                path: self.path.to_owned(),
            });
        };
        table.check_merged(self, merged)?;
        if table.rows == 0 {
            return Err(DataError::NoRows {
                path: self.path.to_owned(),
            });
        }
        // A sheet is short enough to be read whole; what it takes afterwards is another matter.
        let mut shelver = Shelver::new(self.room);
        mixed::shelve(table.columns.into_iter().map(MixedColumn::finish), &mut shelver)?;
        shelver
            .finish(table.names.iter().map(String::as_str))
            .map_err(|error| self.damaged(error))
    }

    /// One row of the sheet: nothing, the header, or a row of the table.
    fn take_row(
        &self,
        table: &mut Option<Growing>,
        at: u32,
        cells: &[(u32, DataRef<'_>)],
        is_1904: bool,
    ) -> Result<(), DataError> {
        let (Some((first, _)), Some((last, _))) = (cells.first(), cells.last()) else {
            return Ok(());
        };
        if cells.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
            return Err(self.damaged("its cells are not in order"));
        }
        let Some(table) = table else {
            let mut names = vec![String::new(); (last - first + 1) as usize];
            for (column, value) in cells {
                names[(column - first) as usize] = name_of(value);
            }
            check_names(self.path, names.iter().map(String::as_str))?;
            *table = Some(Growing {
                header: at,
                first: *first,
                columns: names.iter().map(|_| MixedColumn::new()).collect(),
                names,
                rows: 0,
            });
            return Ok(());
        };
        let width = table.columns.len() as u32;
        if let Some((column, _)) =
            (cells.iter()).find(|(column, _)| *column < table.first || *column >= table.first + width)
        {
            return Err(self.at(message!(
                "sheet-beside",
                "cell {cell} lies beside the table, whose columns are named in row {header}; the first row with anything \
                 in it must name every column: delete what stands above the table or beside it",
                cell = spell(at, *column),
                header = table.header + 1
            )));
        }
        let row = u64::from(at - table.header);
        let all = row * u64::from(width);
        if all > ROOM_OF_CELLS && all / RATIO > self.bytes {
            return Err(self.too_much());
        }
        // Rows without any cell are rows, too, if one with cells follows.
        for column in &mut table.columns {
            (table.rows + 1..row).for_each(|_| column.push(Cell::Missing));
        }
        let mut cells = cells.iter().peekable();
        for (place, column) in (table.first..).zip(&mut table.columns) {
            let value = cells.next_if(|(column, _)| *column == place);
            column.push(value.map_or(Cell::Missing, |(_, value)| cell_of(value, is_1904)));
        }
        table.rows = row;
        Ok(())
    }
}

/// A table while its rows arrive.
struct Growing {
    /// The header's row in the sheet, from 0.
    header: u32,
    /// The first column in the sheet, from 0.
    first: u32,
    names: Vec<String>,
    columns: Vec<MixedColumn>,
    rows: u64,
}

impl Growing {
    /// Of merged cells only the first has a value, whatever a person sees.
    fn check_merged(&self, reading: &Reading<'_>, merged: &[Dimensions]) -> Result<(), DataError> {
        let last_row = u64::from(self.header) + self.rows;
        let last_column = self.first + self.columns.len() as u32 - 1;
        let inside = merged.iter().find(|area| {
            area.start != area.end
                && u64::from(area.start.0) <= last_row
                && area.end.0 >= self.header
                && area.start.1 <= last_column
                && area.end.1 >= self.first
        });
        match inside {
            None => Ok(()),
            Some(area) => Err(reading.at(message!(
                "sheet-merged",
                "the cells {first} to {last} are merged, so that only the first has a value; unmerge them, fill in what \
                 each row has, and save the file",
                first = spell(area.start.0, area.start.1),
                last = spell(area.end.0, area.end.1)
            ))),
        }
    }
}

/// A place as sheets name it.
fn spell(row: u32, column: u32) -> String {
    let mut letters = Vec::new();
    let mut rest = column + 1;
    while rest > 0 {
        letters.push(b'A' + ((rest - 1) % 26) as u8);
        rest = (rest - 1) / 26;
    }
    let letters: String = letters.into_iter().rev().map(char::from).collect();
    format!("{letters}{}", row + 1)
}

/// A column's name.
fn name_of(value: &DataRef<'_>) -> String {
    match value {
        DataRef::String(text) => text.trim().to_owned(),
        DataRef::SharedString(text) => text.trim().to_owned(),
        DataRef::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => format!("{number:.0}"),
        DataRef::Float(number) => format_number(*number),
        DataRef::Int(number) => number.to_string(),
        DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.clone(),
        DataRef::DateTime(moment) => format_number(moment.as_f64()),
        DataRef::Bool(flag) => flag.to_string(),
        DataRef::Error(error) => error.to_string(),
        DataRef::Empty => String::new(),
    }
}

fn cell_of<'a>(value: &'a DataRef<'_>, is_1904: bool) -> Cell<'a> {
    match value {
        DataRef::Empty => Cell::Missing,
        DataRef::Int(number) => Cell::Whole(*number),
        DataRef::Float(number) => number_cell(*number),
        DataRef::String(text) | DataRef::DurationIso(text) => Cell::Text(text),
        DataRef::SharedString(text) => Cell::Text(text),
        DataRef::Bool(flag) => Cell::Flag(*flag),
        DataRef::DateTime(moment) if moment.is_duration() => number_cell(moment.as_f64()),
        DataRef::DateTime(moment) => moment_cell(moment.as_f64(), is_1904),
        DataRef::DateTimeIso(text) => [Kind::Date, Kind::Time, Kind::Datetime]
            .into_iter()
            .find_map(|kind| Some(Cell::Temporal(kind, parse_iso(kind, text)?)))
            .unwrap_or(Cell::Text(text)),
        // As a sheet shows it: whether it stands for "missing" is for the schema to say.
        DataRef::Error(error) => Cell::Text(error_text(error)),
    }
}

const fn error_text(error: &calamine::CellErrorType) -> &'static str {
    use calamine::CellErrorType as Kind;
    match error {
        Kind::Div0 => "#DIV/0!",
        Kind::NA => "#N/A",
        Kind::Name => "#NAME?",
        Kind::Null => "#NULL!",
        Kind::Num => "#NUM!",
        Kind::Ref => "#REF!",
        Kind::Value => "#VALUE!",
        Kind::GettingData => "#GETTING_DATA",
    }
}

/// Sheets know no whole numbers of their own.
fn number_cell(number: f64) -> Cell<'static> {
    // Up to here, every whole number is exact.
    let most = (1_u64 << 53) as f64;
    if number.fract() == 0.0 && number.abs() <= most {
        Cell::Whole(number as i64)
    } else {
        Cell::Real(number)
    }
}

/// Days and a fraction of a day: less than one day is a time, no fraction is a date.
fn moment_cell(serial: f64, is_1904: bool) -> Cell<'static> {
    if !(-1e7..1e7).contains(&serial) {
        return Cell::Real(serial);
    }
    let millis = (serial * DAY_MILLIS).round() as i64;
    let day_millis = DAY_MILLIS as i64;
    let (days, rest) = (millis.div_euclid(day_millis), millis.rem_euclid(day_millis));
    if days == 0 {
        return Cell::Temporal(Kind::Time, rest * 1000);
    }
    let epoch = match (is_1904, serial < MARCH_1900) {
        (true, _) => EPOCH_1904_DAYS,
        (false, false) => EPOCH_DAYS,
        (false, true) => EPOCH_DAYS - 1,
    };
    let days = days - epoch;
    if rest == 0 {
        Cell::Temporal(Kind::Date, days)
    } else {
        Cell::Temporal(Kind::Datetime, days * DAY_MICROS + rest * 1000)
    }
}

#[cfg(test)]
mod tests;
