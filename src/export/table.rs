//! Tables that leave: CSV and Parquet with the schema's names, order, types and spellings.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use arrow::array::{Array, AsArray as _, RecordBatch};
use arrow::datatypes::{
    DataType, Date32Type, Field, Float64Type, Int32Type, Int64Type, Schema as ArrowSchema, SchemaRef,
    Time64MicrosecondType, TimestampMicrosecondType,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use sha2::{Digest as _, Sha256};

use super::ExportError;
use super::atomic::AtomicFile;
use crate::data::{CellFormat, Kind, Schema, write_number};

/// The forms of a table file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableFormat {
    /// Text with a delimiter (a comma; a tab for `.tsv`).
    Csv,
    /// Parquet, compressed with zstd.
    Parquet,
}

impl TableFormat {
    /// By the path's ending: `.csv`, `.tsv`, `.txt`, `.parquet`.
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
            _ => Err(ExportError::UnknownEnding {
                path: path.to_owned(),
            }),
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
    formats: Vec<CellFormat>,
    missing: String,
    sink: Sink,
    rows: u64,
}

enum Output {
    Csv(Box<csv::Writer<Sink>>),
    Parquet(Box<ArrowWriter<Sink>>, SchemaRef),
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
        let formats = schema
            .used_columns()
            .map(|(_, column)| CellFormat::new(column))
            .collect();
        let sink = Sink::new(AtomicFile::create(path, overwrite)?);
        let output = match format {
            TableFormat::Csv => {
                let is_tabbed = path
                    .extension()
                    .is_some_and(|ending| ending.eq_ignore_ascii_case("tsv"));
                let mut writer = csv::WriterBuilder::new()
                    .delimiter(if is_tabbed { b'\t' } else { b',' })
                    .buffer_capacity(1 << 16)
                    .from_writer(sink.clone());
                writer
                    .write_record(&names)
                    .map_err(|error| sink.explain(&error))?;
                Output::Csv(Box::new(writer))
            }
            TableFormat::Parquet => {
                let fields = schema
                    .used_columns()
                    .map(|(_, column)| Field::new(&column.name, parquet_type(column.kind), column.missing));
                let fields: SchemaRef = Arc::new(ArrowSchema::new(fields.collect::<Vec<_>>()));
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(ZstdLevel::default()))
                    .set_created_by(concat!("pointillist ", env!("CARGO_PKG_VERSION")).to_owned())
                    .build();
                let writer = ArrowWriter::try_new(sink.clone(), Arc::clone(&fields), Some(properties))
                    .map_err(|error| sink.explain(&error))?;
                Output::Parquet(Box::new(writer), fields)
            }
        };
        Ok(Self {
            output,
            names,
            formats,
            missing: schema.missing_spelling().to_owned(),
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
            Output::Csv(writer) => {
                write_lines(writer, batch, &self.formats, &self.missing)
                    .map_err(|error| self.sink.explain(&error))?;
            }
            Output::Parquet(writer, fields) => {
                let columns = fields.fields().iter().zip(batch.columns());
                let columns = columns.map(|(field, array)| arrow::compute::cast(array, field.data_type()));
                let batch = columns
                    .collect::<Result<Vec<_>, _>>()
                    .and_then(|columns| RecordBatch::try_new(Arc::clone(fields), columns))
                    .map_err(|error| self.sink.unwritable(&error.to_string()))?;
                writer.write(&batch).map_err(|error| self.sink.explain(&error))?;
            }
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
            Output::Csv(writer) => {
                writer.into_inner().map_err(|error| sink.explain(error.error()))?;
            }
            Output::Parquet(writer, _) => {
                writer.close().map_err(|error| sink.explain(&error))?;
            }
        }
        sink.seal(rows)
    }
}

const fn parquet_type(kind: Kind) -> DataType {
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

/// Spells a batch out, row by row.
fn write_lines(
    writer: &mut csv::Writer<Sink>,
    batch: &RecordBatch,
    formats: &[CellFormat],
    missing: &str,
) -> Result<(), csv::Error> {
    let cells: Vec<Cells<'_>> = batch.columns().iter().map(|array| Cells::of(array)).collect();
    let mut text = String::new();
    for row in 0..batch.num_rows() {
        for ((column, array), format) in cells.iter().zip(batch.columns()).zip(formats) {
            text.clear();
            let field = match column {
                _ if array.is_null(row) => missing,
                Cells::Keyed(keys, values) => values.value(keys.value(row) as usize),
                Cells::Words(values) => values.value(row),
                Cells::Flags(values) => format.boolean(values.value(row)),
                Cells::Whole(values) => {
                    // Writing to a String cannot fail.
                    let _ = write!(text, "{}", values.value(row));
                    &text
                }
                Cells::Real(values) => {
                    write_number(values.value(row), &mut text);
                    &text
                }
                Cells::Steps(values) => {
                    text = format.temporal(values(row));
                    &text
                }
            };
            writer.write_field(field)?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    Ok(())
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
    let mut file = std::fs::File::open(path).map_err(read)?;
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
mod tests {
    use rand::SeedableRng as _;

    use super::*;
    use crate::data::{EncoderSettings, NumericCode, ReadOptions, RowEncoder, Table, read_table};
    use crate::num::Progress;

    const SCHEMA: &str = r#"
version = 1
missing = ["NA", ""]

[[column]]
name = "dose, mg"
kind = "continuous"
lower = 0
upper = 10
decimals = 1
missing = true
provenance = "declared"

[[column]]
name = "count"
kind = "integer"
lower = 0
upper = 200
missing = true
provenance = "declared"

[[column]]
name = "note"
kind = "text"

[[column]]
name = "ward"
kind = "categorical"
domain = ["a, \"b\"", "普外科"]
missing = true
provenance = "declared"

[[column]]
name = "smoker"
kind = "boolean"
domain = ["No", "Yes"]
missing = true
provenance = "declared"

[[column]]
name = "born"
kind = "date"
lower = "1900-01-01"
upper = "2024-12-31"
format = "%d.%m.%Y"
provenance = "declared"

[[column]]
name = "seen"
kind = "datetime"
lower = "2020-01-01T00:00:00"
upper = "2020-12-31T23:59:59"
format = "%Y-%m-%d %H:%M"
provenance = "declared"

[[column]]
name = "at"
kind = "time"
lower = "00:00:00"
upper = "23:59:59"
provenance = "declared"
"#;

    const TABLE: &str = "\"dose, mg\",count,ward,smoker,born,seen,at\n\
        3.5,7,\"a, \"\"b\"\"\",Yes,31.03.1982,2020-03-31 08:30,08:30:05\n\
        NA,200,普外科,No,29.02.2000,2020-12-31 23:59,00:00:00\n\
        10.0,NA,NA,NA,01.01.1900,2020-01-01 00:00,23:59:59\n";

    /// Reads the table, encodes and decodes it without loss.
    fn decoded(folder: &Path) -> (Schema, RecordBatch) {
        let schema = Schema::from_toml(SCHEMA).unwrap();
        let path = folder.join("in.csv");
        let with_note: String = TABLE
            .lines()
            .map(|line| line.replacen(",count,", ",count,note,", 1))
            .map(|line| {
                if line.contains("note") {
                    line
                } else {
                    insert_note(&line)
                }
            })
            .fold(String::new(), |text, line| text + &line + "\n");
        std::fs::write(&path, with_note).unwrap();
        let table = read_table(&path, &ReadOptions::default(), &Progress::new()).unwrap();
        schema.check(&table, &Progress::new()).unwrap();
        let encoder = RowEncoder::new(
            &schema,
            &EncoderSettings {
                numeric: NumericCode::AsDeclared,
            },
        )
        .unwrap();
        let rows = encoder.encode(&table, &Progress::new()).unwrap();
        let mut random = rand_chacha::ChaCha20Rng::seed_from_u64(1);
        (schema.clone(), encoder.decode(&rows, None, &mut random).unwrap())
    }

    fn insert_note(line: &str) -> String {
        let (dose, rest) = line.split_once(',').unwrap();
        let (count, rest) = rest.split_once(',').unwrap();
        format!("{dose},{count},free words,{rest}")
    }

    #[test]
    fn csv_keeps_spellings_names_and_order() {
        let folder = tempfile::tempdir().unwrap();
        let (schema, batch) = decoded(folder.path());
        let path = folder.path().join("out.csv");
        let mut writer = TableWriter::create(&path, &schema, false).unwrap();
        writer.write(&batch).unwrap();
        assert!(!path.exists(), "not before it is whole");
        let written = writer.seal().unwrap().publish().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), TABLE);
        assert_eq!((written.rows, written.bytes), (3, TABLE.len() as u64));
        assert_eq!(written.sha256, sha256_of_file(&path).unwrap());
        assert_eq!(written.sha256.len(), 64);
    }

    #[test]
    fn parquet_keeps_types() {
        let folder = tempfile::tempdir().unwrap();
        let (schema, batch) = decoded(folder.path());
        let path = folder.path().join("out.parquet");
        let mut writer = TableWriter::create(&path, &schema, false).unwrap();
        writer.write(&batch.slice(0, 2)).unwrap();
        writer.write(&batch.slice(2, 1)).unwrap();
        let written = writer.seal().unwrap().publish().unwrap();
        assert_eq!(written.sha256, sha256_of_file(&path).unwrap());
        let back = read_table(&path, &ReadOptions::default(), &Progress::new()).unwrap();
        let again = Table::from_batches("t", &batch.schema(), &[batch]).unwrap();
        assert_eq!(back.preview(0..9), again.preview(0..9));
        let types: Vec<String> = back
            .schema()
            .fields()
            .iter()
            .map(|field| field.data_type().to_string())
            .collect();
        assert_eq!(types[0], "Float64");
        assert_eq!(types[1], "Int64");
        assert_eq!(types[3], "Boolean");
        assert_eq!(types[4], "Date32");
    }

    #[test]
    fn nothing_is_left_of_a_file_that_was_not_finished() {
        let folder = tempfile::tempdir().unwrap();
        let (schema, batch) = decoded(folder.path());
        std::fs::remove_file(folder.path().join("in.csv")).unwrap();
        for name in ["out.csv", "out.parquet"] {
            let path = folder.path().join(name);
            let mut writer = TableWriter::create(&path, &schema, false).unwrap();
            writer.write(&batch).unwrap();
            let other = batch.project(&[0]).unwrap();
            assert!(matches!(
                writer.write(&other),
                Err(ExportError::Unwritable { .. })
            ));
            drop(writer);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn targets_are_checked_before_any_row() {
        let folder = tempfile::tempdir().unwrap();
        let (schema, _) = decoded(folder.path());
        let there = folder.path().join("in.csv");
        assert!(matches!(
            TableWriter::create(&there, &schema, false),
            Err(ExportError::Exists { .. })
        ));
        let odd = folder.path().join("out.xlsx");
        assert!(matches!(
            TableWriter::create(&odd, &schema, false),
            Err(ExportError::UnknownEnding { .. })
        ));
        let lost = folder.path().join("no/out.csv");
        assert!(matches!(
            TableWriter::create(&lost, &schema, false),
            Err(ExportError::FolderMissing { .. })
        ));
    }
}
