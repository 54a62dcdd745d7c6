//! Tables that leave, with the schema's names, order, types and spellings.

mod csv;
mod sqlite;
mod xlsx;

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use arrow::array::{Array, AsArray as _, RecordBatch};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    DataType, Date32Type, Field, Float64Type, Int32Type, Int64Type, Schema as ArrowSchema, SchemaRef,
    Time64MicrosecondType, TimestampMicrosecondType,
};
use arrow::error::ArrowError;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::ExportError;
use super::atomic::AtomicFile;
use super::room::check_room;
use crate::data::{Kind, Schema};
use crate::num::files::open_regular;
use csv::CsvOutput;
use sqlite::SqliteOutput;
use xlsx::XlsxOutput;

/// The forms of a table file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableFormat {
    /// Text with a delimiter (that of the schema's own file, or a comma; a tab for `.tsv`).
    Csv,
    /// Parquet, compressed with zstd.
    Parquet,
    /// An Arrow file (also called Feather), compressed with LZ4.
    Arrow,
    /// A table of an SQLite database.
    Sqlite,
    /// A sheet of an Excel workbook.
    Xlsx,
}

impl TableFormat {
    /// By the path's ending: `.csv`, `.tsv`, `.txt`, `.parquet`, `.arrow`, `.feather`, `.sqlite`, `.db`, `.xlsx`.
    ///
    /// # Errors
    /// For any other ending.
    pub fn from_path(path: &Path) -> Result<Self, ExportError> {
        let ending = path
            .extension()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        match ending.as_str() {
            "csv" | "tsv" | "txt" => Ok(Self::Csv),
            "parquet" => Ok(Self::Parquet),
            "arrow" | "feather" => Ok(Self::Arrow),
            "sqlite" | "sqlite3" | "db" => Ok(Self::Sqlite),
            "xlsx" => Ok(Self::Xlsx),
            _ => Err(ExportError::UnknownEnding {
                path: path.to_owned(),
            }),
        }
    }

    /// Whether so many rows fit a file of this name: to be asked before any is written, and before budget is spent on
    /// them.
    ///
    /// # Errors
    /// When the form has fewer, or the disk has no room for the least that so many can take; what no table is called fits
    /// any number.
    pub fn check_rows(path: &Path, rows: usize) -> Result<(), ExportError> {
        match Self::from_path(path) {
            Ok(Self::Xlsx) if rows > xlsx::MOST_ROWS => Err(ExportError::Unwritable {
                path: path.to_owned(),
                reason: xlsx::TOO_MANY_ROWS.to_owned(),
            }),
            // No row of these is shorter: a cell and a line's end, a row's number with its sizes.
            Ok(Self::Csv) => check_room(path, (rows as u64).saturating_mul(2)),
            Ok(Self::Sqlite) => check_room(path, (rows as u64).saturating_mul(4)),
            _ => Ok(()),
        }
    }
}

/// A file that is whole and in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// SHA-256 of the file, in lower-case hexadecimal.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
    /// Rows without the header.
    pub rows: u64,
    /// The schema's rules, and how often they had to be made to hold in what was generated.
    pub rules: Vec<KeptRule>,
    /// Generated rows that were left out, since the rules could not be made to hold in them.
    pub left_out: u64,
}

/// A rule of the schema in a file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeptRule {
    /// The rule.
    pub rule: String,
    /// Rows in which it had to be made to hold.
    pub mended: u64,
}

/// A whole table file that waits for its name. Dropped, it leaves nothing.
pub struct SealedTable {
    file: AtomicFile,
    written: Written,
}

impl SealedTable {
    /// Its hash, size and rows.
    pub const fn written(&self) -> &Written {
        &self.written
    }

    /// The same, with what became of the schema's rules.
    #[must_use]
    pub fn with_rules(mut self, rules: Vec<KeptRule>, left_out: u64) -> Self {
        self.written.rules = rules;
        self.written.left_out = left_out;
        self
    }

    /// Syncs the file and gives it its name.
    ///
    /// # Errors
    /// When the disk refuses, or a file of that name appeared meanwhile; nothing is left behind then.
    pub fn publish(self) -> Result<Written, ExportError> {
        self.file.commit()?;
        Ok(self.written)
    }
}

/// Writes a table batch by batch to a temporary file: [`TableWriter::seal`] completes it, [`SealedTable::publish`]
/// gives it its name.
/// Dropped before that, or after an error, it leaves nothing.
pub struct TableWriter {
    output: Output,
    names: Vec<String>,
    sink: Sink,
    rows: u64,
}

enum Output {
    Csv(CsvOutput),
    Parquet(Box<ArrowWriter<Sink>>, SchemaRef),
    Arrow(Box<FileWriter<Sink>>, SchemaRef),
    Sqlite(Box<SqliteOutput>),
    Xlsx(Box<XlsxOutput>),
}

impl TableWriter {
    /// Begins a file of the schema's used columns. An existing one is refused unless `overwrite`.
    ///
    /// # Errors
    /// When the ending is unknown, the file exists, or its folder is missing, read-only or full.
    pub fn create(path: &Path, schema: &Schema, overwrite: bool) -> Result<Self, ExportError> {
        let format = TableFormat::from_path(path)?;
        let names: Vec<String> = schema
            .used_columns()
            .map(|(_, column)| column.name.clone())
            .collect();
        let sink = Sink::new(AtomicFile::create(path, overwrite)?);
        let output = match format {
            TableFormat::Csv => Output::Csv(CsvOutput::new(path, schema, &sink)?),
            TableFormat::Parquet => {
                let fields = arrow_schema(schema);
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(ZstdLevel::default()))
                    .set_created_by(concat!("pointillist ", env!("CARGO_PKG_VERSION")).to_owned())
                    .build();
                let writer = ArrowWriter::try_new(sink.clone(), Arc::clone(&fields), Some(properties))
                    .map_err(|error| sink.explain(&error))?;
                Output::Parquet(Box::new(writer), fields)
            }
            TableFormat::Arrow => {
                let fields = arrow_schema(schema);
                let writer = IpcWriteOptions::default()
                    .try_with_compression(Some(CompressionType::LZ4_FRAME))
                    .and_then(|options| FileWriter::try_new_with_options(sink.clone(), &fields, options))
                    .map_err(|error| sink.explain(&error))?;
                Output::Arrow(Box::new(writer), fields)
            }
            TableFormat::Sqlite => Output::Sqlite(Box::new(SqliteOutput::new(path, schema, sink.clone())?)),
            TableFormat::Xlsx => Output::Xlsx(Box::new(XlsxOutput::new(path, schema, sink.clone())?)),
        };
        Ok(Self {
            output,
            names,
            sink,
            rows: 0,
        })
    }

    /// Adds rows as [`RowEncoder::decode`](crate::data::RowEncoder::decode) yields them.
    ///
    /// # Errors
    /// When the columns are not the schema's, or the disk refuses.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), ExportError> {
        let fields = batch.schema();
        if !fields.fields().iter().map(|field| field.name()).eq(&self.names) {
            return Err(self.sink.unwritable("its columns are not the schema's"));
        }
        match &mut self.output {
            Output::Csv(output) => output.write(batch).map_err(|error| self.sink.explain(&error))?,
            Output::Parquet(writer, fields) => {
                let batch = cast(batch, fields).map_err(|error| self.sink.unwritable(&error.to_string()))?;
                writer.write(&batch).map_err(|error| self.sink.explain(&error))?;
            }
            Output::Arrow(writer, fields) => {
                let batch = cast(batch, fields).map_err(|error| self.sink.unwritable(&error.to_string()))?;
                writer.write(&batch).map_err(|error| self.sink.explain(&error))?;
            }
            Output::Sqlite(output) => output.write(batch)?,
            Output::Xlsx(output) => output.write(batch)?,
        }
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// Completes the file and syncs it under its temporary name.
    ///
    /// # Errors
    /// When the disk refuses; nothing is left behind then.
    pub fn seal(self) -> Result<SealedTable, ExportError> {
        let Self {
            output, sink, rows, ..
        } = self;
        match output {
            Output::Csv(output) => output.finish().map_err(|error| sink.explain(&error))?,
            Output::Parquet(writer, _) => {
                writer.close().map_err(|error| sink.explain(&error))?;
            }
            Output::Arrow(mut writer, _) => writer.finish().map_err(|error| sink.explain(&error))?,
            Output::Sqlite(output) => output.finish()?,
            Output::Xlsx(output) => output.finish()?,
        }
        sink.seal(rows)
    }
}

/// The columns as typed files have them.
fn arrow_schema(schema: &Schema) -> SchemaRef {
    let fields = schema
        .used_columns()
        .map(|(_, column)| Field::new(&column.name, arrow_type(column.kind), column.missing));
    Arc::new(ArrowSchema::new(fields.collect::<Vec<_>>()))
}

fn cast(batch: &RecordBatch, fields: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let columns = fields.fields().iter().zip(batch.columns());
    let columns = columns.map(|(field, array)| arrow::compute::cast(array, field.data_type()));
    RecordBatch::try_new(Arc::clone(fields), columns.collect::<Result<Vec<_>, _>>()?)
}

const fn arrow_type(kind: Kind) -> DataType {
    match kind {
        Kind::Continuous => DataType::Float64,
        Kind::Integer => DataType::Int64,
        Kind::Boolean => DataType::Boolean,
        Kind::Date => DataType::Date32,
        Kind::Time => DataType::Time64(arrow::datatypes::TimeUnit::Microsecond),
        Kind::Datetime => DataType::Timestamp(arrow::datatypes::TimeUnit::Microsecond, None),
        Kind::Categorical | Kind::Text | Kind::Identifier => DataType::Utf8,
    }
}

/// A column seen by its type.
enum Cells<'a> {
    Keyed(&'a arrow::array::Int32Array, &'a arrow::array::StringArray),
    Words(&'a arrow::array::StringArray),
    Flags(&'a arrow::array::BooleanArray),
    Whole(&'a arrow::array::Int64Array),
    Real(&'a arrow::array::Float64Array),
    /// Days or microseconds.
    Steps(Box<dyn Fn(usize) -> i64 + 'a>),
}

/// The columns of a batch, each with its nulls.
fn columns_of(batch: &RecordBatch) -> Vec<(Cells<'_>, Option<&NullBuffer>)> {
    batch
        .columns()
        .iter()
        .map(|array| (Cells::of(array), array.nulls()))
        .collect()
}

fn is_missing(nulls: Option<&NullBuffer>, row: usize) -> bool {
    nulls.is_some_and(|nulls| nulls.is_null(row))
}

impl<'a> Cells<'a> {
    fn of(array: &'a dyn Array) -> Self {
        match array.data_type() {
            DataType::Dictionary(..) => {
                let array = array.as_dictionary::<Int32Type>();
                Self::Keyed(array.keys(), array.values().as_string())
            }
            DataType::Utf8 => Self::Words(array.as_string()),
            DataType::Boolean => Self::Flags(array.as_boolean()),
            DataType::Int64 => Self::Whole(array.as_primitive::<Int64Type>()),
            DataType::Date32 => {
                let array = array.as_primitive::<Date32Type>();
                Self::Steps(Box::new(|row| i64::from(array.value(row))))
            }
            DataType::Time64(_) => {
                let array = array.as_primitive::<Time64MicrosecondType>();
                Self::Steps(Box::new(|row| array.value(row)))
            }
            DataType::Timestamp(..) => {
                let array = array.as_primitive::<TimestampMicrosecondType>();
                Self::Steps(Box::new(|row| array.value(row)))
            }
            _ => Self::Real(array.as_primitive::<Float64Type>()),
        }
    }
}

/// The file, its running hash and the first failure, shared between the writer of a format and us: the formats'
/// own errors hide what the system said.
#[derive(Clone)]
struct Sink(Arc<Mutex<Inner>>);

struct Inner {
    file: AtomicFile,
    hasher: Sha256,
    bytes: u64,
    failure: Option<io::Error>,
}

impl Sink {
    fn new(file: AtomicFile) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            file,
            hasher: Sha256::new(),
            bytes: 0,
            failure: None,
        })))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        // Nothing panics while it holds the lock; if it did, the bytes would still be those written.
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn explain(&self, error: &dyn std::error::Error) -> ExportError {
        let mut inner = self.lock();
        let source = inner
            .failure
            .take()
            .unwrap_or_else(|| io::Error::other(error.to_string()));
        ExportError::from_write(inner.file.path(), source)
    }

    /// SQLite's own errors say whether the disk is full.
    fn explain_sql(&self, error: &rusqlite::Error) -> ExportError {
        let path = self.lock().file.path().to_owned();
        let source = match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => io::Error::from(io::ErrorKind::StorageFull),
            _ => io::Error::other(error.to_string()),
        };
        ExportError::from_write(&path, source)
    }

    fn unwritable(&self, reason: &str) -> ExportError {
        ExportError::Unwritable {
            path: self.lock().file.path().to_owned(),
            reason: reason.to_owned(),
        }
    }

    fn seal(self, rows: u64) -> Result<SealedTable, ExportError> {
        let path = self.lock().file.path().to_owned();
        let lost = || ExportError::from_write(&path, io::Error::other("the file is still being written"));
        let inner = Arc::into_inner(self.0).ok_or_else(lost)?;
        let Inner {
            file, hasher, bytes, ..
        } = inner
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(SealedTable {
            file,
            written: Written {
                sha256: hexadecimal(&hasher.finalize()),
                bytes,
                rows,
                rules: Vec::new(),
                left_out: 0,
            },
        })
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut inner = self.lock();
        match inner.file.write(bytes) {
            Ok(count) => {
                inner.hasher.update(&bytes[..count]);
                inner.bytes += count as u64;
                Ok(count)
            }
            Err(error) => Err(inner.keep(error)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut inner = self.lock();
        match inner.file.flush() {
            Ok(()) => Ok(()),
            Err(error) => Err(inner.keep(error)),
        }
    }
}

impl Inner {
    /// Keeps what the system said and passes a copy on.
    fn keep(&mut self, error: io::Error) -> io::Error {
        let copy = error
            .raw_os_error()
            .map_or_else(|| io::Error::from(error.kind()), io::Error::from_raw_os_error);
        self.failure = Some(error);
        copy
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// SHA-256 of a file, in lower-case hexadecimal.
///
/// # Errors
/// When it cannot be read.
pub fn sha256_of_file(path: &Path) -> Result<String, ExportError> {
    let read = |source| ExportError::Read {
        path: path.to_owned(),
        source,
    };
    let mut file = open_regular(path).map_err(read)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = io::Read::read(&mut file, &mut buffer).map_err(read)?;
        if count == 0 {
            return Ok(hexadecimal(&hasher.finalize()));
        }
        hasher.update(&buffer[..count]);
    }
}

#[cfg(test)]
mod tests;
