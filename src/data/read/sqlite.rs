//! A table (or view) of an SQLite database: the one that is named, else the first by name.
//!
//! Its cells have types of their own, whatever the columns say: a column is of whole numbers, of numbers, or of text, as
//! all its cells are. What a column declares (boolean, date, time) is believed where the cells bear it out. So rows that
//! are many are walked through twice, within one transaction: for the columns' types, and for the cells, which go where a
//! table's rows lie a round at a time. Few are held until their types are known.

use std::fs::File;
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::form::FileForm;
use super::mixed::{self, Cell, MixedColumn, Shape};
use super::{ReadOptions, check_names, digest};
use crate::data::schema::Kind;
use crate::data::spill::Room;
use crate::data::table::{Origin, Shelved, Shelver, TableSource};
use crate::data::value::{file_name, parse_iso};
use crate::data::{DataError, Table};
use crate::num::progress::Progress;

/// Steps of SQLite's machine between two looks at whether to go on: a view can be without an end, and hand over no row.
const STEPS: i32 = 1 << 16;
/// Rows between two looks at the progress.
const STRIDE: u64 = 1 << 12;
/// Passes that the progress counts: the hash, the types, the cells.
const PASSES: u64 = 3;
/// What a cell takes while its round is read, without its text.
const CELL_BYTES: u64 = 16;
/// Cells of at most so many bytes are held until the columns' types are known.
const AT_ONCE: u64 = 1 << 28;

/// Reads the table that the options name, or the only one.
pub(super) fn read(
    path: &Path,
    mut file: File,
    options: &ReadOptions,
    progress: &Progress,
) -> Result<Table, DataError> {
    let (digest, bytes) = digest(path, &mut file, PASSES, progress)?;
    let database = Database {
        path,
        progress,
        bytes,
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(|error| database.failed(&error))?;
    let watched = progress.clone();
    connection
        .progress_handler(STEPS, Some(move || watched.is_cancelled()))
        .map_err(|error| database.failed(&error))?;
    let tables = database.tables(&connection)?;
    // Unless one is named, the first; the profile warns if there are more.
    let wanted = options.form.table.as_ref();
    let found = wanted.map_or(tables.first(), |wanted| {
        tables.iter().find(|table| *table == wanted)
    });
    let Some(table) = found.cloned() else {
        return Err(DataError::WhichPart {
            path: path.to_owned(),
            kind: "table",
            wanted: wanted.cloned(),
            parts: tables,
        });
    };
    let shelved = database.read(&connection, &table, &options.room)?;
    let origin = Origin {
        name: file_name(path).into_owned(),
        path: Some(path.to_owned()),
        source: TableSource::Sqlite { tables },
        form: FileForm {
            table: Some(table),
            provenance: options.form.provenance,
            ..FileForm::default()
        },
        digest: Some(digest),
        bytes,
    };
    Ok(Table::of_shelved(origin, shelved))
}

struct Database<'a> {
    path: &'a Path,
    progress: &'a Progress,
    bytes: u64,
}

impl Database<'_> {
    fn failed(&self, error: &rusqlite::Error) -> DataError {
        let path = || self.path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => DataError::Cancelled,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => DataError::Locked { path: path() },
            // It would have to be mended first, and what is read is never written to.
            Some(ErrorCode::ReadOnly) => DataError::Unfinished { path: path() },
            _ => self.damaged(error),
        }
    }

    /// As [`Self::failed`], of something that was asked of a table or view: it may need what is not there.
    fn failed_of(&self, part: &str, error: &rusqlite::Error) -> DataError {
        let reason = match error {
            rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
            rusqlite::Error::SqliteFailure(failure, Some(said)) if failure.code == ErrorCode::Unknown => {
                said.clone()
            }
            other => return self.failed(other),
        };
        DataError::BrokenPart {
            path: self.path.to_owned(),
            part: part.to_owned(),
            reason,
        }
    }

    fn damaged(&self, reason: impl ToString) -> DataError {
        DataError::CorruptFile {
            path: self.path.to_owned(),
            kind: "SQLite",
            reason: reason.to_string(),
        }
    }

    fn changed(&self) -> DataError {
        DataError::Changed {
            path: self.path.to_owned(),
        }
    }

    /// The tables and views, by name.
    fn tables(&self, connection: &Connection) -> Result<Vec<String>, DataError> {
        let query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') \
                     AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name";
        let names = |connection: &Connection| -> rusqlite::Result<Vec<String>> {
            let mut statement = connection.prepare(query)?;
            let names = statement.query_map([], |row| row.get(0))?;
            names.collect()
        };
        names(connection).map_err(|error| self.failed(&error))
    }

    fn read(&self, connection: &Connection, table: &str, room: &Room) -> Result<Shelved, DataError> {
        let failed = |error: rusqlite::Error| self.failed_of(table, &error);
        // Whatever others write meanwhile, both walks see the same rows.
        let unchanging = connection.unchecked_transaction().map_err(failed)?;
        let columns = columns_of(&unchanging, table).map_err(failed)?;
        check_names(self.path, columns.iter().map(|column| column.name.as_str()))?;
        let names: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
        let rows: i64 = unchanging
            .query_row(&format!("SELECT count(*) FROM {}", quoted(table)), [], |row| {
                row.get(0)
            })
            .map_err(failed)?;
        if rows == 0 || columns.is_empty() {
            return Err(DataError::NoRows {
                path: self.path.to_owned(),
            });
        }
        let walk = Walk {
            database: self,
            table,
            connection: &unchanging,
            query: format!("SELECT {} FROM {}", names.join(", "), quoted(table)),
            columns: &columns,
            rows,
        };
        let mut shelver = Shelver::new(room);
        let is_whole = walk.at_once(room, &mut shelver)? || walk.by_rounds(room, &mut shelver)?;
        if !is_whole || shelver.rows() == 0 {
            return Err(self.changed());
        }
        self.progress.set(PASSES * self.bytes, PASSES * self.bytes);
        shelver
            .finish(columns.iter().map(|column| column.name.as_str()))
            .map_err(|error| self.damaged(error))
    }
}

/// A name as a query has it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The rows of a table, to be walked through.
struct Walk<'a> {
    database: &'a Database<'a>,
    table: &'a str,
    connection: &'a Connection,
    query: String,
    columns: &'a [Column],
    rows: i64,
}

impl Walk<'_> {
    /// Reads all rows if they are few. Tells whether they were, and each cell that became text says what it says alone.
    fn at_once(&self, room: &Room, shelver: &mut Shelver<'_>) -> Result<bool, DataError> {
        let width = self.columns.len() as u64;
        let most = AT_ONCE.min(room.table_bytes);
        if (self.rows as u64).saturating_mul(width * CELL_BYTES) > most {
            return Ok(false);
        }
        let mut all: Vec<MixedColumn> = self.columns.iter().map(|_| MixedColumn::new()).collect();
        let mut bytes = 0;
        let is_whole = self.go(1, &mut |index, cell| {
            bytes += size_of(cell);
            all[index].push(cell);
            Ok(bytes <= most && !all[index].is_respelled())
        })?;
        if is_whole {
            mixed::shelve(all.into_iter().map(MixedColumn::finish), shelver)?;
        }
        Ok(is_whole)
    }

    /// Reads the columns' types, then all rows, a round at a time. Tells whether the rows were the same both times: those
    /// of a view need not be.
    fn by_rounds(&self, room: &Room, shelver: &mut Shelver<'_>) -> Result<bool, DataError> {
        let mut shapes = vec![Shape::Missing; self.columns.len()];
        self.go(1, &mut |index, cell| {
            shapes[index] = shapes[index].widened(&cell);
            Ok(true)
        })?;
        let mut round: Vec<MixedColumn> = shapes.iter().map(|shape| MixedColumn::of(*shape)).collect();
        let mut shelve = |round: &mut [MixedColumn]| {
            let is_same = round
                .iter()
                .zip(&shapes)
                .all(|(column, shape)| column.shape() == *shape);
            if is_same {
                mixed::shelve(round.iter_mut().map(MixedColumn::take), shelver)?;
            }
            Ok::<_, DataError>(is_same)
        };
        let mut bytes = 0;
        let is_same = self.go(2, &mut |index, cell| {
            bytes += size_of(cell);
            round[index].push(cell);
            if bytes < room.round() || index + 1 < self.columns.len() {
                return Ok(true);
            }
            bytes = 0;
            shelve(&mut round)
        })?;
        Ok(is_same && shelve(&mut round)?)
    }

    /// Hands over each cell of each row with the place of its column, as long as more is wanted. Tells whether that were
    /// all. `pass` is how many passes came before.
    fn go(
        &self,
        pass: u64,
        take: &mut dyn FnMut(usize, Cell<'_>) -> Result<bool, DataError>,
    ) -> Result<bool, DataError> {
        let Database {
            path,
            progress,
            bytes,
        } = *self.database;
        let failed = |error: rusqlite::Error| self.database.failed_of(self.table, &error);
        let mut statement = self.connection.prepare(&self.query).map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        let mut done = 0_u64;
        while let Some(row) = rows.next().map_err(failed)? {
            for (index, column) in self.columns.iter().enumerate() {
                let value = row.get_ref(index).map_err(failed)?;
                if !take(index, column.cell(path, value, done)?)? {
                    return Ok(false);
                }
            }
            done += 1;
            if done.is_multiple_of(STRIDE) {
                progress.check()?;
                let share = (done as f64 / self.rows.max(1) as f64).min(1.0);
                progress.set(pass * bytes + (bytes as f64 * share) as u64, PASSES * bytes);
            }
        }
        Ok(true)
    }
}

/// What a cell takes while it is held.
const fn size_of(cell: Cell<'_>) -> u64 {
    match cell {
        Cell::Text(text) => CELL_BYTES + text.len() as u64,
        _ => CELL_BYTES,
    }
}

/// One column, and what it declares.
struct Column {
    name: String,
    declared: Option<Kind>,
}

impl Column {
    fn cell<'a>(&self, path: &Path, value: ValueRef<'a>, row: u64) -> Result<Cell<'a>, DataError> {
        Ok(match value {
            ValueRef::Null => Cell::Missing,
            ValueRef::Integer(flag @ (0 | 1)) if self.declared == Some(Kind::Boolean) => {
                Cell::Flag(flag == 1)
            }
            ValueRef::Integer(value) => Cell::Whole(value),
            ValueRef::Real(value) => Cell::Real(value),
            ValueRef::Text(text) => {
                let text = std::str::from_utf8(text).map_err(|_| DataError::CorruptFile {
                    path: path.to_owned(),
                    kind: "SQLite",
                    reason: format!("row {}, column {} is not UTF-8 text", row + 1, self.name),
                })?;
                let declared = self.declared.filter(|kind| kind.is_temporal());
                let parsed = declared.and_then(|kind| Some((kind, parse_iso(kind, text.trim_ascii())?)));
                parsed.map_or(Cell::Text(text), |(kind, value)| Cell::Temporal(kind, value))
            }
            ValueRef::Blob(_) => {
                return Err(DataError::UnsupportedColumn {
                    path: path.to_owned(),
                    column: self.name.clone(),
                    found: "BLOB".to_owned(),
                });
            }
        })
    }
}

/// The columns of a table or view, those that it works out from others among them.
fn columns_of(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Column>> {
    // 1 marks the hidden columns of a virtual table, which are no part of its rows.
    let query = "SELECT name, type FROM pragma_table_xinfo(?1) WHERE hidden <> 1 ORDER BY cid";
    let mut statement = connection.prepare(query)?;
    let columns = statement.query_map([table], |row| {
        let declared: String = row.get(1)?;
        Ok(Column {
            name: row.get(0)?,
            declared: kind_of(&declared),
        })
    })?;
    columns.collect()
}

/// What a declared type promises beyond what cells have of their own.
fn kind_of(declared: &str) -> Option<Kind> {
    let declared = declared.to_ascii_uppercase();
    match declared.as_str() {
        "DATE" => Some(Kind::Date),
        "TIME" => Some(Kind::Time),
        _ if declared.starts_with("BOOL") => Some(Kind::Boolean),
        _ if declared.starts_with("DATETIME") || declared.starts_with("TIMESTAMP") => Some(Kind::Datetime),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
