//! A table (or view) of an SQLite database: the one that is named, else the first by name.
//!
//! Its cells have types of their own, whatever the columns say: a column is of whole numbers, of numbers, or of text, as
//! all its cells are. What a column declares (boolean, date, time) is believed where the cells bear it out.

use std::fs::File;
use std::path::Path;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::form::FileForm;
use super::mixed::{self, Cell, MixedColumn};
use super::{ReadOptions, check_names, digest};
use crate::data::schema::Kind;
use crate::data::table::{Origin, TableSource};
use crate::data::value::{file_name, parse_iso};
use crate::data::{DataError, Table};
use crate::num::progress::Progress;

/// Rows between two looks at the progress.
const STRIDE: u64 = 1 << 12;

/// Reads the table that the options name, or the only one.
pub(super) fn read(
    path: &Path,
    mut file: File,
    options: &ReadOptions,
    progress: &Progress,
) -> Result<Table, DataError> {
    let (digest, bytes) = digest(path, &mut file, 2, progress)?;
    let database = Database {
        path,
        progress,
        bytes,
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|error| database.failed(&error))?;
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
    let (schema, batches) = database.read(&connection, &table)?;
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
    Ok(Table::assemble(origin, schema, batches))
}

struct Database<'a> {
    path: &'a Path,
    progress: &'a Progress,
    bytes: u64,
}

impl Database<'_> {
    fn failed(&self, error: &rusqlite::Error) -> DataError {
        let kind = error.sqlite_error_code();
        let path = self.path.to_owned();
        match kind {
            Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
                DataError::Changed { path }
            }
            _ => DataError::CorruptFile {
                path,
                kind: "SQLite",
                reason: error.to_string(),
            },
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

    fn read(&self, connection: &Connection, table: &str) -> Result<(SchemaRef, Vec<RecordBatch>), DataError> {
        let failed = |error: rusqlite::Error| self.failed(&error);
        let quoted = format!("\"{}\"", table.replace('"', "\"\""));
        let count: i64 = connection
            .query_row(&format!("SELECT count(*) FROM {quoted}"), [], |row| row.get(0))
            .map_err(failed)?;
        let mut statement = connection
            .prepare(&format!("SELECT * FROM {quoted}"))
            .map_err(failed)?;
        let mut columns = columns_of(connection, table).map_err(failed)?;
        check_names(self.path, columns.iter().map(|column| column.name.as_str()))?;
        let mut rows = statement.query([]).map_err(failed)?;
        let mut done = 0_u64;
        while let Some(row) = rows.next().map_err(failed)? {
            for (index, column) in columns.iter_mut().enumerate() {
                column.push(self.path, row.get_ref(index).map_err(failed)?, done)?;
            }
            done += 1;
            if done.is_multiple_of(STRIDE) {
                self.progress.check()?;
                let share = (done as f64 / count.max(1) as f64).min(1.0);
                self.progress
                    .set(self.bytes + (self.bytes as f64 * share) as u64, 2 * self.bytes);
            }
        }
        if done == 0 {
            return Err(DataError::NoRows {
                path: self.path.to_owned(),
            });
        }
        self.progress.set(2 * self.bytes, 2 * self.bytes);
        let (names, cells): (Vec<_>, Vec<_>) = columns
            .into_iter()
            .map(|column| (column.name, column.cells))
            .unzip();
        Ok(mixed::assemble(&names, cells))
    }
}

/// One column: what it declares, and its cells.
struct Column {
    name: String,
    declared: Option<Kind>,
    cells: MixedColumn,
}

impl Column {
    fn push(&mut self, path: &Path, value: ValueRef<'_>, row: u64) -> Result<(), DataError> {
        let path = || path.to_owned();
        let cell = match value {
            ValueRef::Null => Cell::Missing,
            ValueRef::Integer(flag @ (0 | 1)) if self.declared == Some(Kind::Boolean) => {
                Cell::Flag(flag == 1)
            }
            ValueRef::Integer(value) => Cell::Whole(value),
            ValueRef::Real(value) => Cell::Real(value),
            ValueRef::Text(text) => {
                let text = std::str::from_utf8(text).map_err(|_| DataError::CorruptFile {
                    path: path(),
                    kind: "SQLite",
                    reason: format!("row {}, column {} is not UTF-8 text", row + 1, self.name),
                })?;
                let declared = self.declared.filter(|kind| kind.is_temporal());
                let parsed = declared.and_then(|kind| Some((kind, parse_iso(kind, text.trim_ascii())?)));
                parsed.map_or(Cell::Text(text), |(kind, value)| Cell::Temporal(kind, value))
            }
            ValueRef::Blob(_) => {
                return Err(DataError::UnsupportedColumn {
                    path: path(),
                    column: self.name.clone(),
                    found: "BLOB".to_owned(),
                });
            }
        };
        self.cells.push(cell);
        Ok(())
    }
}

/// The columns of a table or view, without cells.
fn columns_of(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Column>> {
    let mut statement = connection.prepare("SELECT name, type FROM pragma_table_info(?1) ORDER BY cid")?;
    let columns = statement.query_map([table], |row| {
        let declared: String = row.get(1)?;
        Ok(Column {
            name: row.get(0)?,
            declared: kind_of(&declared),
            cells: MixedColumn::new(),
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
mod tests {
    use super::*;
    use crate::data::read_table;

    fn database(statements: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.db");
        Connection::open(&path)
            .unwrap()
            .execute_batch(statements)
            .unwrap();
        (folder, path)
    }

    fn read(path: &Path, table: Option<&str>) -> Result<Table, DataError> {
        let mut options = ReadOptions::default();
        options.form.table = table.map(str::to_owned);
        read_table(path, &options, &Progress::new())
    }

    #[test]
    fn cells_decide_and_declarations_are_believed_where_they_hold() {
        let (_folder, path) = database(
            "CREATE TABLE t (id INTEGER, x REAL, mixed, flag BOOLEAN, day DATE, not_a_day DATE, code TEXT, none TEXT, big);
             INSERT INTO t VALUES (1, 2, 1, 1, '2019-03-31', 'soon', '007', NULL, 9007199254740993),
                                  (NULL, 2.5, 'word', NULL, NULL, '2019-03-31', ' a ', '', 0.5);",
        );
        let table = read(&path, None).unwrap();
        assert_eq!((table.rows(), table.width()), (2, 9));
        let types: Vec<String> = table
            .schema()
            .fields()
            .iter()
            .map(|field| field.data_type().to_string())
            .collect();
        assert_eq!(types[..2], ["Int64", "Float64"]);
        assert_eq!(types[3..5], ["Boolean", "Date32"]);
        assert!(types[5].starts_with("Dictionary"), "{types:?}");
        let line = |row: usize| table.preview(row..row + 1).unwrap().remove(0);
        let texts = |cells: [&str; 9]| cells.map(|cell| (cell != "-").then(|| cell.to_owned())).to_vec();
        assert_eq!(
            line(0),
            texts([
                "1",
                "2.0",
                "1",
                "true",
                "2019-03-31",
                "soon",
                "007",
                "-",
                "9007199254740993"
            ])
        );
        assert_eq!(
            line(1),
            texts(["-", "2.5", "word", "-", "-", "2019-03-31", "a", "-", "0.5"])
        );
    }

    #[test]
    fn of_several_tables_one_is_named_and_damage_is_said() {
        let (_folder, path) = database(
            "CREATE TABLE a (x); CREATE TABLE \"b \"\"c\" (y); INSERT INTO a VALUES (1); INSERT INTO \"b \"\"c\" VALUES (2);
             CREATE TABLE blobs (z); INSERT INTO blobs VALUES (x'00'); CREATE TABLE empty (e);",
        );
        assert_eq!(
            read(&path, None).unwrap().form().table.as_deref(),
            Some("a"),
            "the first"
        );
        let error = read(&path, Some("none")).unwrap_err().to_string();
        assert!(error.contains("a, b \"c") && error.contains("table"), "{error}");
        let table = read(&path, Some("b \"c")).unwrap();
        assert_eq!(table.cell(0, 0).unwrap().as_deref(), Some("2"));
        assert!(
            read(&path, Some("blobs"))
                .unwrap_err()
                .to_string()
                .contains("BLOB")
        );
        assert!(
            read(&path, Some("empty"))
                .unwrap_err()
                .to_string()
                .contains("no row")
        );
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        let error = read(&path, Some("blobs")).unwrap_err().to_string();
        assert!(error.contains("damaged"), "{error}");
    }
}
