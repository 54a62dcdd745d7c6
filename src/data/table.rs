//! A table: Arrow batches of a few plain types, with what is known of their file.

mod normal;
mod shelf;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use arrow::array::{
    Array, ArrayRef, AsArray as _, BooleanArray, Date32Array, Float64Array, Int32Array, Int64Array,
    LargeStringArray, StringArray, Time64MicrosecondArray, TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, Int32Type, Schema as ArrowSchema, SchemaRef};
use arrow::record_batch::RecordBatch;

use super::DataError;
use super::column::Kept;
use super::image::ImageForm;
use super::read::FileForm;
use super::schema::Kind;
use super::value::{format_iso, format_number};
pub(super) use normal::{normal_batch, normal_schema, text_type};
use shelf::Rows;
pub(super) use shelf::{Shelved, Shelver};

/// Where a table came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableSource {
    /// A text file.
    Csv,
    /// A Parquet file.
    Parquet,
    /// Images, of which this is the table of labels.
    Images(ImageForm),
    /// An Arrow file or stream.
    Arrow,
    /// A database.
    Sqlite {
        /// The tables in it.
        tables: Vec<String>,
    },
    /// An Excel workbook.
    Xlsx {
        /// The sheets in it.
        sheets: Vec<String>,
    },
    /// Made in this program.
    Memory,
}

/// A table: columns of one length under distinct names. Cloning shares the data.
///
/// Every column has one of these Arrow types, whatever the file said: `Dictionary(Int32, Utf8)` or `LargeUtf8`
/// (all columns of a CSV file: text keeps its spelling until a schema says what it means), `Int64`, `Float64`,
/// `Boolean`, `Date32`, `Time64(Microsecond)`, `Timestamp(Microsecond)`. Empty cells are null.
#[derive(Clone, Debug)]
pub struct Table(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    name: String,
    path: Option<PathBuf>,
    source: TableSource,
    form: FileForm,
    schema: SchemaRef,
    rows: Rows,
    /// The first row of each batch, and the number of rows.
    starts: Vec<usize>,
    digest: OnceLock<[u8; 32]>,
    bytes: u64,
    kept: Kept,
}

/// What a reader knows beside the rows.
pub(super) struct Origin {
    pub name: String,
    pub path: Option<PathBuf>,
    pub source: TableSource,
    pub form: FileForm,
    pub digest: Option<[u8; 32]>,
    pub bytes: u64,
}

impl Table {
    /// From batches whose columns have any flat Arrow type; they are cast to the types listed above.
    ///
    /// # Errors
    /// When a column has a nested or binary type.
    pub fn from_batches(
        name: &str,
        schema: &ArrowSchema,
        batches: &[RecordBatch],
    ) -> Result<Self, DataError> {
        let origin = Origin {
            name: name.to_owned(),
            path: None,
            source: TableSource::Memory,
            form: FileForm::default(),
            digest: None,
            bytes: batches
                .iter()
                .map(|batch| batch.get_array_memory_size() as u64)
                .sum(),
        };
        let fields = normal_schema(Path::new(name), schema)?;
        let mut before = 0;
        let batches = batches
            .iter()
            .map(|batch| {
                let normal = normal_batch(Path::new(name), &fields, batch, before);
                before += batch.num_rows() as u64;
                normal
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self::assemble(origin, fields, batches))
    }

    /// Batches must already have the types of `schema`.
    pub(super) fn assemble(origin: Origin, schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        let mut starts = Vec::with_capacity(batches.len() + 1);
        let mut rows = 0;
        starts.push(0);
        for batch in &batches {
            rows += batch.num_rows();
            starts.push(rows);
        }
        let rows = Rows::Memory(batches);
        Self::of_shelved(origin, Shelved { schema, rows, starts })
    }

    /// From the rows that a reader has read.
    pub(super) fn of_shelved(origin: Origin, shelved: Shelved) -> Self {
        let Shelved { schema, rows, starts } = shelved;
        let digest = OnceLock::new();
        if let Some(known) = origin.digest {
            let _ = digest.set(known);
        }
        Self(Arc::new(Inner {
            name: origin.name,
            path: origin.path,
            source: origin.source,
            form: origin.form,
            schema,
            rows,
            starts,
            digest,
            bytes: origin.bytes,
            kept: Kept::default(),
        }))
    }

    /// The file's name without folder, or the name given.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The file, if the table was read from one.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// What kind of file it was.
    pub fn source(&self) -> &TableSource {
        &self.0.source
    }

    /// The tables (or sheets) that are in the file, where it may have several.
    pub fn parts(&self) -> &[String] {
        match &self.0.source {
            TableSource::Sqlite { tables } => tables,
            TableSource::Xlsx { sheets } => sheets,
            _ => &[],
        }
    }

    /// How the file was read: all that it does not say itself, whether it was told or found.
    pub fn form(&self) -> &FileForm {
        &self.0.form
    }

    /// The size of the file (of its content, if it is packed), or of the arrays of a table made in memory.
    pub fn size_bytes(&self) -> u64 {
        self.0.bytes
    }

    /// What the rows take in memory: the columns' arrays, what they share counted once.
    pub fn memory_bytes(&self) -> usize {
        let batches = match &self.0.rows {
            Rows::Memory(batches) => batches,
            Rows::File(shelf) => return shelf.memory_bytes(),
        };
        let mut seen = std::collections::HashSet::new();
        let columns = batches.iter().flat_map(RecordBatch::columns);
        let parts = columns.flat_map(|array| {
            let data = array.to_data();
            let values = data.child_data().to_vec();
            std::iter::once(data).chain(values)
        });
        let buffers = parts.flat_map(|data| {
            let nulls = data.nulls().map(|nulls| nulls.buffer().clone());
            data.buffers().iter().cloned().chain(nulls).collect::<Vec<_>>()
        });
        buffers
            .filter(|buffer| seen.insert(buffer.as_ptr()))
            .map(|buffer| buffer.capacity())
            .sum()
    }

    /// What the rows take in a file, if they were too many for memory.
    pub fn file_bytes(&self) -> Option<u64> {
        match &self.0.rows {
            Rows::Memory(_) => None,
            Rows::File(shelf) => Some(shelf.bytes()),
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.0.starts.last().copied().unwrap_or(0)
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.0.schema.fields().len()
    }

    /// Names and Arrow types.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.0.schema)
    }

    /// The columns' names, in order.
    pub fn column_names(&self) -> impl Iterator<Item = &str> {
        self.0.schema.fields().iter().map(|field| field.name().as_str())
    }

    /// Where the column of that name stands.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.0.schema.index_of(name).ok()
    }

    /// Whether a column's cells are text, whatever they mean.
    pub fn is_text(&self, column: usize) -> bool {
        let fields = self.0.schema.fields();
        fields
            .get(column)
            .is_some_and(|field| matches!(field.data_type(), DataType::Dictionary(..) | DataType::LargeUtf8))
    }

    /// How many pieces of some ten thousand rows there are.
    pub(super) fn pieces(&self) -> usize {
        self.0.starts.len() - 1
    }

    /// The rows of a piece.
    pub(super) fn piece(&self, piece: usize) -> Range<usize> {
        self.0.starts[piece]..self.0.starts[piece + 1]
    }

    /// One column of a piece.
    ///
    /// # Errors
    /// When the rows lie in a file that cannot be read.
    pub(super) fn array(&self, piece: usize, column: usize) -> Result<ArrayRef, DataError> {
        match &self.0.rows {
            Rows::Memory(batches) => Ok(Arc::clone(batches[piece].column(column))),
            Rows::File(shelf) => shelf.array(piece, column),
        }
    }

    /// One column's arrays, in order.
    pub(super) fn chunks(&self, column: usize) -> impl Iterator<Item = Result<ArrayRef, DataError>> {
        (0..self.pieces()).map(move |piece| self.array(piece, column))
    }

    /// The rows, in order.
    ///
    /// # Errors
    /// When they lie in a file that cannot be read.
    pub fn batches(&self) -> impl Iterator<Item = Result<RecordBatch, DataError>> {
        (0..self.pieces()).map(|piece| match &self.0.rows {
            Rows::Memory(batches) => Ok(batches[piece].clone()),
            Rows::File(shelf) => shelf.batch(piece),
        })
    }

    /// A piece that a person looks at.
    fn look_at(&self, piece: usize) -> Result<RecordBatch, DataError> {
        match &self.0.rows {
            Rows::Memory(batches) => Ok(batches[piece].clone()),
            Rows::File(shelf) => shelf.look_at(piece),
        }
    }

    /// What was read of its text columns.
    pub(super) fn kept(&self) -> &Kept {
        &self.0.kept
    }

    /// BLAKE3 of the columns' names, whatever their order, without a key. Two tables of one form have the same; sets of
    /// images have at most the one column, so their form counts as well.
    pub fn columns_digest(&self) -> [u8; 32] {
        let mut names: Vec<_> = self.column_names().collect();
        names.sort_unstable();
        let mut hasher = blake3::Hasher::new();
        for name in names {
            hash_cell(&mut hasher, Some(name));
        }
        if let TableSource::Images(form) = self.source() {
            hash_cell(&mut hasher, Some(&form.to_string()));
        }
        *hasher.finalize().as_bytes()
    }

    /// BLAKE3 of the file's bytes (of the cells, for a table made in memory), without a key. It identifies
    /// private data: keep it in memory, show and store only what the ledger's key makes of it.
    pub fn content_digest(&self) -> [u8; 32] {
        *self.0.digest.get_or_init(|| {
            let mut hasher = blake3::Hasher::new();
            let mut text = String::new();
            for name in self.column_names() {
                hash_cell(&mut hasher, Some(name));
            }
            // Rows that lie in a file came from one, and its digest is known.
            for batch in self.batches().flatten() {
                for row in 0..batch.num_rows() {
                    for column in batch.columns() {
                        hash_cell(&mut hasher, cell(column, row, &mut text));
                    }
                }
            }
            *hasher.finalize().as_bytes()
        })
    }

    /// The cells of some rows as text, missing ones as `None`. Costs the same at any offset.
    ///
    /// # Errors
    /// When the rows lie in a file that cannot be read.
    pub fn preview(&self, range: Range<usize>) -> Result<Vec<Vec<Option<String>>>, DataError> {
        let range = range.start..range.end.min(self.rows());
        let mut lines = Vec::with_capacity(range.len());
        let mut text = String::new();
        let mut row = range.start;
        while row < range.end {
            let piece = self.piece_of(row);
            let batch = self.look_at(piece)?;
            let own = self.piece(piece);
            for row in row..own.end.min(range.end) {
                let cells = batch
                    .columns()
                    .iter()
                    .map(|array| cell(array, row - own.start, &mut text).map(str::to_owned));
                lines.push(cells.collect());
            }
            row = own.end;
        }
        Ok(lines)
    }

    /// One cell as text; `None` where it is missing.
    ///
    /// # Errors
    /// When the rows lie in a file that cannot be read.
    pub fn cell(&self, row: usize, column: usize) -> Result<Option<String>, DataError> {
        if row >= self.rows() || column >= self.width() {
            return Ok(None);
        }
        let piece = self.piece_of(row);
        let batch = self.look_at(piece)?;
        let row = row - self.piece(piece).start;
        Ok(cell(batch.column(column), row, &mut String::new()).map(str::to_owned))
    }

    fn piece_of(&self, row: usize) -> usize {
        self.0.starts.partition_point(|&start| start <= row) - 1
    }
}

/// Whether an array numbers other texts than the one before it; remembers which.
pub(super) fn has_new_texts(array: &ArrayRef, latest: &mut Option<ArrayRef>) -> bool {
    let Some(array) = array.as_dictionary_opt::<Int32Type>() else {
        return false;
    };
    let texts = array.values();
    let is_known = latest.as_ref().is_some_and(|known| Arc::ptr_eq(known, texts));
    if !is_known {
        *latest = Some(Arc::clone(texts));
    }
    !is_known
}

fn hash_cell(hasher: &mut blake3::Hasher, text: Option<&str>) {
    let length = text.map_or(u64::MAX, |text| text.len() as u64);
    hasher.update(&length.to_le_bytes());
    hasher.update(text.unwrap_or_default().as_bytes());
}

/// A cell of a normal array as text; typed cells are formatted into `buffer`.
pub(super) fn cell<'a>(array: &'a ArrayRef, row: usize, buffer: &'a mut String) -> Option<&'a str> {
    if array.is_null(row) {
        return None;
    }
    if let Some(array) = array.as_dictionary_opt::<Int32Type>() {
        let values: &StringArray = array.values().as_string();
        return Some(values.value(array.keys().value(row) as usize));
    }
    if let Some(array) = array.as_string_opt::<i64>() {
        return Some(array.value(row));
    }
    *buffer = typed_text(array, row)?;
    Some(buffer)
}

/// A typed (not text) cell, spelled as in a CSV file.
fn typed_text(array: &ArrayRef, row: usize) -> Option<String> {
    let any = array.as_any();
    if let Some(array) = any.downcast_ref::<Int64Array>() {
        return Some(array.value(row).to_string());
    }
    if let Some(array) = any.downcast_ref::<Float64Array>() {
        let value = array.value(row);
        return (!value.is_nan()).then(|| format_number(value));
    }
    if let Some(array) = any.downcast_ref::<BooleanArray>() {
        return Some(if array.value(row) { "true" } else { "false" }.to_owned());
    }
    if let Some(array) = any.downcast_ref::<Date32Array>() {
        return Some(format_iso(Kind::Date, i64::from(array.value(row))));
    }
    if let Some(array) = any.downcast_ref::<Time64MicrosecondArray>() {
        return Some(format_iso(Kind::Time, array.value(row)));
    }
    any.downcast_ref::<TimestampMicrosecondArray>()
        .map(|array| format_iso(Kind::Datetime, array.value(row)))
}

/// One column of a table, cut into the arrays of its batches, seen by its type.
pub(super) enum Cells<'a> {
    /// Text by number: the distinct texts and each row's key.
    Keyed(&'a Int32Array, &'a StringArray),
    /// Text as it is.
    Plain(&'a LargeStringArray),
    /// Whole numbers.
    Integers(&'a Int64Array),
    /// Numbers; NaN is missing.
    Numbers(&'a Float64Array),
    /// Truth values.
    Booleans(&'a BooleanArray),
    /// Days since 1970.
    Dates(&'a Date32Array),
    /// Microseconds since midnight.
    Times(&'a Time64MicrosecondArray),
    /// Microseconds since 1970.
    Datetimes(&'a TimestampMicrosecondArray),
}

impl<'a> Cells<'a> {
    /// Sees through an array of a [`Table`].
    pub(super) fn of(array: &'a ArrayRef) -> Self {
        match array.data_type() {
            DataType::Dictionary(..) => {
                let array = array.as_dictionary::<Int32Type>();
                Self::Keyed(array.keys(), array.values().as_string())
            }
            DataType::LargeUtf8 => Self::Plain(array.as_string()),
            DataType::Int64 => Self::Integers(array.as_primitive()),
            DataType::Float64 => Self::Numbers(array.as_primitive()),
            DataType::Boolean => Self::Booleans(array.as_boolean()),
            DataType::Date32 => Self::Dates(array.as_primitive()),
            DataType::Time64(_) => Self::Times(array.as_primitive()),
            _ => Self::Datetimes(array.as_primitive()),
        }
    }
}

#[cfg(test)]
mod tests;
