//! A table of an SQLite database.
//!
//! The database writes a file of its own beside the target, which then goes the way of every other file: hashed,
//! synced, renamed.

use std::io::{self, Read as _, Write as _};
use std::path::Path;

use arrow::array::RecordBatch;
use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use tempfile::NamedTempFile;

use super::{Cells, ExportError, Sink, columns_of, is_missing};
use crate::data::{CellFormat, Kind, Schema};

/// The name of the table.
const TABLE: &str = "synthetic";
/// SQLite's own limit on columns.
const MOST_COLUMNS: usize = 2000;

/// A database in the making.
pub(super) struct SqliteOutput {
    connection: Connection,
    file: NamedTempFile,
    insert: String,
    formats: Vec<CellFormat>,
    sink: Sink,
}

impl SqliteOutput {
    pub fn new(path: &Path, schema: &Schema, sink: Sink) -> Result<Self, ExportError> {
        let columns: Vec<_> = schema.used_columns().map(|(_, column)| column).collect();
        if columns.len() > MOST_COLUMNS {
            return Err(
                sink.unwritable("a table of a database has at most 2000 columns; choose .parquet or .csv")
            );
        }
        let folder = super::super::atomic::folder_of(path);
        let file = tempfile::Builder::new()
            .prefix(".rows-")
            .tempfile_in(folder)
            .map_err(|source| ExportError::from_write(path, source))?;
        let named = columns
            .iter()
            .map(|column| format!("{} {}", quoted(&column.name), sql_type(column.kind)));
        let create = format!("CREATE TABLE {TABLE} ({})", named.collect::<Vec<_>>().join(", "));
        let places = vec!["?"; columns.len()].join(", ");
        // Nothing needs to be rolled back: what is not finished is thrown away.
        let begin = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;";
        let connection = Connection::open(file.path())
            .and_then(|connection| {
                connection.execute_batch(begin)?;
                connection.execute_batch(&create)?;
                connection.execute_batch("BEGIN")?;
                Ok(connection)
            })
            .map_err(|error| sink.explain_sql(&error))?;
        Ok(Self {
            connection,
            file,
            insert: format!("INSERT INTO {TABLE} VALUES ({places})"),
            formats: columns.into_iter().map(CellFormat::new).collect(),
            sink,
        })
    }

    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), ExportError> {
        let columns = columns_of(batch);
        let mut insert = self
            .connection
            .prepare_cached(&self.insert)
            .map_err(|error| self.sink.explain_sql(&error))?;
        for row in 0..batch.num_rows() {
            let cells = columns
                .iter()
                .zip(&self.formats)
                .map(|((column, nulls), format)| {
                    if is_missing(*nulls, row) {
                        return ToSqlOutput::Borrowed(ValueRef::Null);
                    }
                    match column {
                        Cells::Keyed(keys, values) => text(values.value(keys.value(row) as usize)),
                        Cells::Words(values) => text(values.value(row)),
                        Cells::Flags(values) => ToSqlOutput::Owned(Value::Integer(values.value(row).into())),
                        Cells::Whole(values) => ToSqlOutput::Owned(Value::Integer(values.value(row))),
                        Cells::Real(values) => ToSqlOutput::Owned(Value::Real(values.value(row))),
                        Cells::Steps(values) => ToSqlOutput::Owned(Value::Text(format.iso(values(row)))),
                    }
                });
            insert
                .execute(rusqlite::params_from_iter(cells))
                .map_err(|error| self.sink.explain_sql(&error))?;
        }
        Ok(())
    }

    pub fn finish(self) -> Result<(), ExportError> {
        let Self {
            connection,
            file,
            mut sink,
            ..
        } = self;
        connection
            .execute_batch("COMMIT")
            .map_err(|error| sink.explain_sql(&error))?;
        connection
            .close()
            .map_err(|(_, error)| sink.explain_sql(&error))?;
        let mut copy = || -> io::Result<()> {
            let mut source = file.reopen()?;
            let mut buffer = vec![0; 1 << 18];
            loop {
                match source.read(&mut buffer)? {
                    0 => return sink.flush(),
                    count => sink.write_all(&buffer[..count])?,
                }
            }
        };
        let copied = copy();
        copied.map_err(|error| sink.explain(&error))
    }
}

fn text(text: &str) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes()))
}

/// A name as SQL takes it, whatever it is.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The declared type, by which readers know what texts and whole numbers stand for.
const fn sql_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Continuous => "REAL",
        Kind::Integer => "INTEGER",
        Kind::Boolean => "BOOLEAN",
        Kind::Date => "DATE",
        Kind::Time => "TIME",
        Kind::Datetime => "DATETIME",
        Kind::Categorical | Kind::Text | Kind::Identifier => "TEXT",
    }
}
