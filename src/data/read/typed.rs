//! Files that know their columns' types: Parquet and Arrow, with flat columns.

mod lengths;
mod shares;

use std::fs::File;
use std::io::{BufReader, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Schema as ArrowSchema, SchemaRef};
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::ChunkReader;

use super::columns::CHUNK_ROWS;
use super::form::FileForm;
use crate::data::spill::Room;
use crate::data::table::{Origin, Shelved, Shelver, TableSource, normal_batch, normal_schema, text_type};
use crate::data::value::file_name;
use crate::data::{DataError, Table};
use crate::num::caught;
use crate::num::progress::Progress;

/// Bytes for which another thread is worth starting.
const SHARE: u64 = 1 << 18;
/// A column with fewer bytes than this has texts that fit the offsets of a dictionary, however they lie.
const MOST_TEXT_BYTES: i64 = 1 << 30;

/// What is told of a file on which the decoder panics.
const UNDECODABLE: &str = "its pages do not decode";

/// The forms of such files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Parquet,
    /// With its parts listed at its end.
    ArrowFile,
    /// Its parts one after the other.
    ArrowStream,
}

impl Typed {
    const fn name(self) -> &'static str {
        match self {
            Self::Parquet => "Parquet",
            Self::ArrowFile | Self::ArrowStream => "Arrow",
        }
    }

    const fn source(self) -> TableSource {
        match self {
            Self::Parquet => TableSource::Parquet,
            Self::ArrowFile | Self::ArrowStream => TableSource::Arrow,
        }
    }
}

/// Reads a file that begins like one of these.
pub(super) fn read_file(
    path: &Path,
    mut file: File,
    form: Typed,
    room: &Room,
    progress: &Progress,
) -> Result<Table, DataError> {
    // Twice the bytes: once to hash them, once to decode them.
    let (digest, bytes) = super::digest(path, &mut file, 2, progress)?;
    let origin = Origin {
        name: file_name(path).into_owned(),
        path: Some(path.to_owned()),
        source: form.source(),
        form: FileForm::default(),
        digest: Some(digest),
        bytes,
    };
    let io = |source| DataError::Io {
        path: path.to_owned(),
        action: "read the file",
        source,
    };
    file.seek(SeekFrom::Start(0)).map_err(io)?;
    if form != Typed::Parquet {
        let mut walk = BufReader::new(&file);
        if form == Typed::ArrowFile {
            lengths::to_first_message(&mut walk).map_err(io)?;
        }
        if !lengths::are_possible(&mut walk).map_err(io)? {
            return Err(DataError::CorruptFile {
                path: path.to_owned(),
                kind: form.name(),
                reason: "a part says that it unpacks to more than its bytes can hold".to_owned(),
            });
        }
        file.seek(SeekFrom::Start(0)).map_err(io)?;
    }
    decode((path, form), origin, room, progress, |decoding| match form {
        Typed::Parquet => {
            let bytes = decoding.bytes;
            decoding.parquet(&shares::Positioned::new(file, bytes))
        }
        Typed::ArrowFile => {
            let reader = FileReader::try_new(BufReader::with_capacity(1 << 18, file), None)?;
            decoding.batches(&reader.schema(), reader)
        }
        Typed::ArrowStream => {
            let reader = StreamReader::try_new(BufReader::with_capacity(1 << 18, file), None)?;
            decoding.batches(&reader.schema(), reader)
        }
    })
}

/// Reads a Parquet file that is in memory.
pub(super) fn read_parquet_bytes(
    name: &str,
    bytes: &'static [u8],
    progress: &Progress,
) -> Result<Table, DataError> {
    let origin = Origin {
        name: name.to_owned(),
        path: None,
        source: TableSource::Parquet,
        form: FileForm::default(),
        digest: Some(*blake3::hash(bytes).as_bytes()),
        bytes: bytes.len() as u64,
    };
    let source = bytes::Bytes::from_static(bytes);
    let path = Path::new(name);
    decode(
        (path, Typed::Parquet),
        origin,
        &Room::memory(),
        progress,
        |decoding| decoding.parquet(&source),
    )
}

/// Why decoding ended early.
enum Trouble {
    /// The decoder's own words.
    Damage(String),
    Told(DataError),
}

impl From<DataError> for Trouble {
    fn from(error: DataError) -> Self {
        Self::Told(error)
    }
}

impl From<ArrowError> for Trouble {
    fn from(error: ArrowError) -> Self {
        Self::Damage(error.to_string())
    }
}

impl From<parquet::errors::ParquetError> for Trouble {
    fn from(error: parquet::errors::ParquetError) -> Self {
        Self::Damage(error.to_string())
    }
}

/// What decoding needs to know.
struct Decoding<'a> {
    path: &'a Path,
    /// The file's size.
    bytes: u64,
    room: &'a Room,
    progress: &'a Progress,
}

fn decode(
    (path, form): (&Path, Typed),
    origin: Origin,
    room: &Room,
    progress: &Progress,
    read: impl FnOnce(Decoding<'_>) -> Result<Shelved, Trouble>,
) -> Result<Table, DataError> {
    let corrupt = |reason: String| DataError::CorruptFile {
        path: path.to_owned(),
        kind: form.name(),
        reason,
    };
    let decoding = Decoding {
        path,
        bytes: origin.bytes,
        room,
        progress,
    };
    // The decoder is not ours and the bytes are anybody's: should it panic, that is one more damaged file.
    match caught(|| read(decoding)) {
        Some(Ok(shelved)) => Ok(Table::of_shelved(origin, shelved)),
        Some(Err(Trouble::Told(error))) => Err(error),
        Some(Err(Trouble::Damage(reason))) => Err(corrupt(reason)),
        None => Err(corrupt(UNDECODABLE.to_owned())),
    }
}

/// Takes some ten thousand rows, an array for each column.
type Take<'a> = dyn FnMut(Vec<ArrayRef>) -> Result<(), Trouble> + 'a;

impl Decoding<'_> {
    fn parquet<R: ChunkReader + Clone + 'static>(self, source: &R) -> Result<Shelved, Trouble> {
        let known = ArrowReaderMetadata::load(source, ArrowReaderOptions::new())?;
        let rows = known.metadata().file_metadata().num_rows().max(0) as u64;
        // Texts that the file numbers stay numbered, and are not spelled out only to be numbered again.
        let options = ArrowReaderOptions::new().with_schema(numbered(known.schema(), known.metadata()));
        let metadata = ArrowReaderMetadata::try_new(Arc::clone(known.metadata()), options).unwrap_or(known);
        let path = self.path;
        let cores = std::thread::available_parallelism().map_or(1, usize::from).min(8);
        let threads = cores.min(1 + (self.bytes / SHARE) as usize);
        self.shelve(metadata.schema(), Some(rows), |schema, take| {
            shares::decode((path, source), &metadata, schema, threads, take)
        })
    }

    fn batches(
        self,
        found: &ArrowSchema,
        reader: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    ) -> Result<Shelved, Trouble> {
        let path = self.path;
        self.shelve(found, None, |schema, take| {
            let mut before = 0;
            for batch in reader {
                let batch = batch?;
                for start in (0..batch.num_rows()).step_by(CHUNK_ROWS) {
                    let piece = batch.slice(start, CHUNK_ROWS.min(batch.num_rows() - start));
                    take(normal_batch(path, schema, &piece, before)?.columns().to_vec())?;
                    before += piece.num_rows() as u64;
                }
            }
            Ok(())
        })
    }

    /// Puts what `read` hands on into a table.
    fn shelve(
        self,
        found: &ArrowSchema,
        rows: Option<u64>,
        read: impl FnOnce(&SchemaRef, &mut Take<'_>) -> Result<(), Trouble>,
    ) -> Result<Shelved, Trouble> {
        let Self {
            path,
            bytes,
            room,
            progress,
        } = self;
        check_names(path, found)?;
        let schema = normal_schema(path, found)?;
        let mut shelver = Shelver::new(room);
        read(&schema, &mut |columns| {
            progress.check().map_err(DataError::from)?;
            shelver.push(columns)?;
            if let Some(rows) = rows.filter(|rows| *rows > 0) {
                let share = (shelver.rows() as f64 / rows as f64).min(1.0);
                progress.set(bytes + (bytes as f64 * share) as u64, 2 * bytes);
            }
            Ok(())
        })?;
        progress.set(2 * bytes, 2 * bytes);
        if shelver.rows() == 0 {
            return Err(Trouble::Told(DataError::NoRows {
                path: path.to_owned(),
            }));
        }
        Ok(shelver.finish(found.fields().iter().map(|field| field.name().as_str()))?)
    }
}

/// The same columns, those of text by number; but those of long offsets whose texts might not fit a dictionary's.
fn numbered(found: &ArrowSchema, metadata: &ParquetMetaData) -> SchemaRef {
    let is_short = |column: usize| {
        let groups = metadata.row_groups().iter();
        let chunks = groups.filter_map(|group| group.columns().get(column));
        let bytes = chunks.fold(0_i64, |bytes, chunk| {
            bytes.saturating_add(chunk.uncompressed_size())
        });
        bytes < MOST_TEXT_BYTES
    };
    let fields = found.fields().iter().enumerate().map(|(column, field)| {
        let is_text = match field.data_type() {
            DataType::Utf8 | DataType::Utf8View => true,
            DataType::LargeUtf8 => is_short(column),
            _ => false,
        };
        if is_text {
            Arc::new(field.as_ref().clone().with_data_type(text_type()))
        } else {
            Arc::clone(field)
        }
    });
    Arc::new(ArrowSchema::new_with_metadata(
        fields.collect::<Vec<_>>(),
        found.metadata().clone(),
    ))
}

fn check_names(path: &Path, found: &ArrowSchema) -> Result<(), DataError> {
    super::check_names(path, found.fields().iter().map(|field| field.name().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{ReadOptions, read_table, samples};

    fn write(bytes: &[u8], name: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    #[test]
    fn parquet_is_known_by_content_and_damage_is_said() {
        let whole: &[u8] = include_bytes!("../../../assets/samples/german_credit.parquet");
        let read = |bytes: &[u8]| {
            let (_folder, path) = write(bytes, "t.csv");
            read_table(&path, &ReadOptions::default(), &Progress::new())
        };
        let table = read(whole).unwrap();
        assert_eq!((table.rows(), table.source()), (1000, &TableSource::Parquet));
        assert_eq!(table.content_digest(), *blake3::hash(whole).as_bytes());
        let sample = samples::find("german_credit")
            .unwrap()
            .table(&Progress::new())
            .unwrap();
        assert_eq!(table.content_digest(), sample.content_digest());

        let mut scrambled = whole.to_vec();
        scrambled[4..whole.len() / 2]
            .iter_mut()
            .for_each(|byte| *byte ^= 0x5a);
        let cut = &whole[..whole.len() - 100];
        for damaged in [b"PAR1".as_slice(), b"PAR1 and nothing else PAR1", cut, &scrambled] {
            let error = read(damaged).unwrap_err().to_string();
            assert!(error.contains("t.csv") && error.contains("damaged"), "{error}");
        }
    }

    #[test]
    fn a_cancelled_read_ends_and_a_whole_one_is_counted() {
        let whole: &[u8] = include_bytes!("../../../assets/samples/german_credit.parquet");
        let (_folder, path) = write(whole, "t.parquet");
        let progress = Progress::new();
        read_table(&path, &ReadOptions::default(), &progress).unwrap();
        assert_eq!(progress.fraction(), Some(1.0));
        progress.cancel();
        assert!(
            read_table(&path, &ReadOptions::default(), &progress)
                .unwrap_err()
                .is_cancelled()
        );
    }
}
