//! Where the rows of a table lie: in memory, or beyond a size in a file, of which a column's cells of some ten thousand
//! rows are read at a time.
//!
//! What is kept of a piece is Arrow's own stream format, one column in each. Texts that are few stay in memory and are
//! numbered over the whole file; their cells take one or two bytes each there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{
    Array, ArrayRef, AsArray as _, DictionaryArray, Int32Array, StringArray, UInt8Array, UInt16Array,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Int32Type, Schema as ArrowSchema, SchemaRef};
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;

use super::{has_new_texts, text_type};
use crate::data::DataError;
use crate::data::spill::{Room, Spill};

/// More distinct texts than this are not numbered.
const MOST_TEXTS: usize = 1 << 16;
/// Rows of a piece in the file: few enough that whoever scrolls does not wait for one.
const PIECE_ROWS: usize = 1 << 14;
/// Texts of more bytes than this are not held in memory.
const MOST_TEXT_BYTES: usize = 1 << 28;

/// The rows of a table.
#[derive(Debug)]
pub(super) enum Rows {
    Memory(Vec<RecordBatch>),
    File(Shelf),
}

/// Rows while they arrive, piece by piece: in memory until they are too many.
pub(in crate::data) struct Shelver<'a> {
    room: &'a Room,
    pieces: Vec<Vec<ArrayRef>>,
    rows: usize,
    /// What they take in memory.
    bytes: u64,
    /// The texts that each column's last piece numbers: they are counted once.
    texts: Vec<Option<ArrayRef>>,
    file: Option<Writer>,
}

/// All rows, with the types of their columns.
pub(in crate::data) struct Shelved {
    pub schema: SchemaRef,
    pub(super) rows: Rows,
    pub(super) starts: Vec<usize>,
}

impl<'a> Shelver<'a> {
    pub fn new(room: &'a Room) -> Self {
        Self {
            room,
            pieces: Vec::new(),
            rows: 0,
            bytes: 0,
            texts: Vec::new(),
            file: None,
        }
    }

    /// The rows so far.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Adds rows: an array for each column, all of one length, and of one type except that texts may come numbered or
    /// plain.
    ///
    /// # Errors
    /// When they are too many for memory and the file cannot be written.
    pub fn push(&mut self, columns: Vec<ArrayRef>) -> Result<(), DataError> {
        self.rows += rows_of(&columns);
        if let Some(file) = &mut self.file {
            return file.write(&columns);
        }
        self.texts.resize(columns.len(), None);
        for (array, texts) in columns.iter().zip(&mut self.texts) {
            self.bytes += memory_of(array, has_new_texts(array, texts));
        }
        self.pieces.push(columns);
        let Some(folder) = self
            .room
            .folder
            .as_deref()
            .filter(|_| self.bytes > self.room.table_bytes)
        else {
            return Ok(());
        };
        let spill = Spill::create(folder).map_err(|source| Spill::full(folder, 0, source))?;
        let mut file = Writer::new(spill, self.texts.len());
        self.texts.clear();
        for columns in self.pieces.drain(..) {
            file.write(&columns)?;
        }
        self.file = Some(file);
        Ok(())
    }

    /// All rows under the columns' names.
    ///
    /// # Errors
    /// When arrays do not have one type and length as promised.
    pub fn finish<'n>(self, names: impl Iterator<Item = &'n str>) -> Result<Shelved, ArrowError> {
        let Self { pieces, file, .. } = self;
        let lengths = match &file {
            Some(file) => file.lengths.clone(),
            None => pieces.iter().map(|columns| rows_of(columns)).collect(),
        };
        let starts = lengths.into_iter().scan(0, |rows, length| {
            *rows += length;
            Some(*rows)
        });
        let starts = std::iter::once(0).chain(starts).collect();
        let types: Vec<DataType> = match &file {
            Some(file) => file.columns.iter().map(Column::data_type).collect(),
            None => types_of(&pieces),
        };
        let fields = names
            .zip(&types)
            .map(|(name, found)| Field::new(name, found.clone(), true));
        let schema = Arc::new(ArrowSchema::new(fields.collect::<Vec<_>>()));
        let rows = if let Some(file) = file {
            Rows::File(file.finish(Arc::clone(&schema)))
        } else {
            let pieces = with_one_dictionary(pieces);
            let of_type = |(array, wanted): (ArrayRef, &DataType)| {
                if array.data_type() == wanted {
                    Ok(array)
                } else {
                    cast(&array, wanted)
                }
            };
            let batch = |columns: Vec<ArrayRef>| {
                let columns = columns.into_iter().zip(&types).map(of_type);
                RecordBatch::try_new(Arc::clone(&schema), columns.collect::<Result<_, _>>()?)
            };
            Rows::Memory(pieces.into_iter().map(batch).collect::<Result<_, _>>()?)
        };
        Ok(Shelved { schema, rows, starts })
    }
}

fn rows_of(columns: &[ArrayRef]) -> usize {
    columns.first().map_or(0, Array::len)
}

/// A column's type is that of its pieces; texts of which a piece is plain are all plain.
fn types_of(pieces: &[Vec<ArrayRef>]) -> Vec<DataType> {
    let width = pieces.first().map_or(0, Vec::len);
    let of_column = |column: usize| {
        let mut types = pieces.iter().map(|columns| columns[column].data_type());
        let first = types.next().cloned().unwrap_or_else(text_type);
        match types.find(|found| **found != first) {
            Some(_) => DataType::LargeUtf8,
            None => first,
        }
    };
    (0..width).map(of_column).collect()
}

/// The same cells; where the last piece of a column numbers the texts of an earlier one alike, and more of them, all pieces
/// share its texts.
fn with_one_dictionary(mut pieces: Vec<Vec<ArrayRef>>) -> Vec<Vec<ArrayRef>> {
    let Some((last, earlier)) = pieces.split_last_mut() else {
        return pieces;
    };
    for (column, array) in last.iter().enumerate() {
        let Some(all) = array
            .as_dictionary_opt::<Int32Type>()
            .map(DictionaryArray::values)
        else {
            continue;
        };
        // Whether the texts that were looked at last are the first of all.
        let mut known: Option<(ArrayRef, bool)> = None;
        for piece in &mut *earlier {
            let Some(numbered) = piece[column].as_dictionary_opt::<Int32Type>() else {
                continue;
            };
            let own = numbered.values();
            if Arc::ptr_eq(own, all) {
                continue;
            }
            let is_known = known.as_ref().is_some_and(|(texts, _)| Arc::ptr_eq(texts, own));
            if !is_known {
                let is_first = own.len() <= all.len() && all.slice(0, own.len()).as_ref() == own.as_ref();
                known = Some((Arc::clone(own), is_first));
            }
            if known.as_ref().is_some_and(|(_, is_first)| *is_first) {
                piece[column] = Arc::new(numbered.with_values(Arc::clone(all)));
            }
        }
    }
    pieces
}

/// What an array takes, with or without the texts that it numbers.
fn memory_of(array: &ArrayRef, with_texts: bool) -> u64 {
    match array.as_dictionary_opt::<Int32Type>() {
        Some(numbered) if with_texts => {
            (numbered.keys().get_array_memory_size() + numbered.values().get_array_memory_size()) as u64
        }
        Some(numbered) => numbered.keys().get_array_memory_size() as u64,
        None => array.get_array_memory_size() as u64,
    }
}

/// A column's texts and its type.
#[derive(Debug)]
struct Column {
    data_type: Option<DataType>,
    /// The number of each text.
    numbers: HashMap<Box<str>, i32>,
    /// The texts by number.
    texts: Vec<Box<str>>,
    bytes: usize,
    /// The texts of the latest piece, and their numbers here.
    latest: Option<ArrayRef>,
    map: Vec<i32>,
}

impl Column {
    fn new() -> Self {
        Self {
            data_type: None,
            numbers: HashMap::new(),
            texts: Vec::new(),
            bytes: 0,
            latest: None,
            map: Vec::new(),
        }
    }

    fn data_type(&self) -> DataType {
        self.data_type.clone().unwrap_or_else(text_type)
    }

    /// The cells as they are kept: those of numbered texts by as few bytes as their numbers need.
    fn packed(&mut self, array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
        let is_plain = self.data_type.as_ref() == Some(&DataType::LargeUtf8);
        let Some(numbered) = array.as_dictionary_opt::<Int32Type>().filter(|_| !is_plain) else {
            if array.data_type() == &text_type() {
                return cast(array, &DataType::LargeUtf8);
            }
            self.data_type = Some(array.data_type().clone());
            return Ok(Arc::clone(array));
        };
        if has_new_texts(array, &mut self.latest) {
            self.map = numbered
                .values()
                .as_string::<i32>()
                .iter()
                .map(|text| self.number(text.unwrap_or_default()))
                .collect();
        }
        let keys = numbered
            .keys()
            .iter()
            .map(|key| key.map(|key| self.map[key as usize]));
        let packed: ArrayRef = match self.texts.len() {
            // A number that is smaller than these is one that fits.
            0..=0x100 => Arc::new(keys.map(|key| key.map(|key| key as u8)).collect::<UInt8Array>()),
            0x101..=0x1_0000 => Arc::new(keys.map(|key| key.map(|key| key as u16)).collect::<UInt16Array>()),
            _ => Arc::new(keys.collect::<Int32Array>()),
        };
        let is_many = self.texts.len() > MOST_TEXTS || self.bytes > MOST_TEXT_BYTES;
        self.data_type = Some(if is_many { DataType::LargeUtf8 } else { text_type() });
        Ok(packed)
    }

    fn number(&mut self, text: &str) -> i32 {
        if let Some(&known) = self.numbers.get(text) {
            return known;
        }
        let number = self.texts.len() as i32;
        self.numbers.insert(text.into(), number);
        self.texts.push(text.into());
        self.bytes += text.len();
        number
    }
}

/// A file that is being filled.
struct Writer {
    spill: Spill,
    bytes: u64,
    columns: Vec<Column>,
    /// The rows of each piece.
    lengths: Vec<usize>,
    /// Where each piece's columns lie: their first byte and how many there are.
    places: Vec<Vec<(u64, usize)>>,
}

impl Writer {
    fn new(spill: Spill, width: usize) -> Self {
        Self {
            spill,
            bytes: 0,
            columns: (0..width).map(|_| Column::new()).collect(),
            lengths: Vec::new(),
            places: Vec::new(),
        }
    }

    fn write(&mut self, columns: &[ArrayRef]) -> Result<(), DataError> {
        let rows = rows_of(columns);
        for start in (0..rows).step_by(PIECE_ROWS) {
            let length = PIECE_ROWS.min(rows - start);
            let piece: Vec<_> = columns.iter().map(|array| array.slice(start, length)).collect();
            self.write_piece(&piece)?;
            self.lengths.push(length);
        }
        Ok(())
    }

    fn write_piece(&mut self, columns: &[ArrayRef]) -> Result<(), DataError> {
        let mut packed = Vec::new();
        let mut places = Vec::with_capacity(columns.len());
        for (array, column) in columns.iter().zip(&mut self.columns) {
            let start = packed.len();
            column
                .packed(array)
                .and_then(|array| encode(&array, &mut packed))
                .map_err(|error| DataError::ReadBack {
                    folder: self.spill.folder().to_owned(),
                    reason: error.to_string(),
                })?;
            places.push((self.bytes + start as u64, packed.len() - start));
        }
        self.spill
            .write(&packed, self.bytes)
            .map_err(|source| Spill::full(self.spill.folder(), self.bytes, source))?;
        self.bytes += packed.len() as u64;
        self.places.push(places);
        Ok(())
    }

    fn finish(self, schema: SchemaRef) -> Shelf {
        let texts_of = |column: Column| {
            // A column without any text has missing cells only; their number is never looked at, but it must have one.
            let texts: StringArray = if column.texts.is_empty() {
                vec![""].into()
            } else {
                column.texts.iter().map(|text| Some(&**text)).collect()
            };
            Arc::new(texts) as ArrayRef
        };
        Shelf {
            spill: self.spill,
            bytes: self.bytes,
            schema,
            texts: self.columns.into_iter().map(texts_of).collect(),
            places: self.places,
            latest: Mutex::default(),
        }
    }
}

/// One column as Arrow's stream format.
fn encode(array: &ArrayRef, out: &mut Vec<u8>) -> Result<(), ArrowError> {
    let field = Field::new("", array.data_type().clone(), true);
    let schema = Arc::new(ArrowSchema::new(vec![field]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::clone(array)])?;
    let mut writer = StreamWriter::try_new(out, &schema)?;
    writer.write(&batch)?;
    writer.finish()
}

/// Rows in a file.
#[derive(Debug)]
pub(super) struct Shelf {
    spill: Spill,
    bytes: u64,
    schema: SchemaRef,
    /// Each column's distinct texts, if they are numbered.
    texts: Vec<ArrayRef>,
    places: Vec<Vec<(u64, usize)>>,
    /// The piece that was looked at last: whoever scrolls will look at it again.
    latest: Mutex<Option<(usize, RecordBatch)>>,
}

impl Shelf {
    /// The size of the file.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What is held in memory all the same.
    pub fn memory_bytes(&self) -> usize {
        self.texts.iter().map(Array::get_array_memory_size).sum()
    }

    /// One column of a piece.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn array(&self, piece: usize, column: usize) -> Result<ArrayRef, DataError> {
        let told = |reason: String| DataError::ReadBack {
            folder: self.spill.folder().to_owned(),
            reason,
        };
        let (at, length) = self.places[piece][column];
        let mut bytes = vec![0; length];
        self.spill
            .read(&mut bytes, at)
            .map_err(|error| told(error.to_string()))?;
        self.decode(&bytes, column)
            .map_err(|error| told(error.to_string()))
    }

    fn decode(&self, bytes: &[u8], column: usize) -> Result<ArrayRef, ArrowError> {
        let mut reader = StreamReader::try_new(bytes, None)?;
        let batch = reader
            .next()
            .unwrap_or_else(|| Err(ArrowError::IpcError("the piece is empty".to_owned())))?;
        let array = Arc::clone(batch.column(0));
        let wanted = self.schema.field(column).data_type();
        let is_number = matches!(
            array.data_type(),
            DataType::UInt8 | DataType::UInt16 | DataType::Int32
        );
        // No column of a table has one of these types itself.
        if !is_number {
            return Ok(array);
        }
        let keys = cast(&array, &DataType::Int32)?;
        let keys = keys.as_primitive::<Int32Type>().clone();
        let numbered: ArrayRef = Arc::new(DictionaryArray::try_new(keys, Arc::clone(&self.texts[column]))?);
        if wanted == numbered.data_type() {
            Ok(numbered)
        } else {
            cast(&numbered, wanted)
        }
    }

    /// A piece.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn batch(&self, piece: usize) -> Result<RecordBatch, DataError> {
        let columns = (0..self.texts.len())
            .map(|column| self.array(piece, column))
            .collect::<Result<_, _>>()?;
        RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(|error| DataError::ReadBack {
            folder: self.spill.folder().to_owned(),
            reason: error.to_string(),
        })
    }

    /// A piece, kept until another one is looked at.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn look_at(&self, piece: usize) -> Result<RecordBatch, DataError> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, batch)) = latest.as_ref().filter(|(known, _)| *known == piece) {
            return Ok(batch.clone());
        }
        let batch = self.batch(piece)?;
        *latest = Some((piece, batch.clone()));
        Ok(batch)
    }
}

#[cfg(test)]
mod tests;
