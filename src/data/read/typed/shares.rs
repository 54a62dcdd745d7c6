//! A Parquet file decoded by several threads, some of its columns each.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array as _, ArrayRef};
use arrow::datatypes::{Schema as ArrowSchema, SchemaRef};
use bytes::Bytes;
use crossbeam_channel::{Receiver, Sender, bounded};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, Length};

use super::{Take, Trouble, UNDECODABLE};
use crate::data::read::columns::CHUNK_ROWS;
use crate::data::table::normal_batch;
use crate::num::caught;
use crate::num::files::{read_at, read_exact_at};

/// A file that several threads read at once, each by its own position.
#[derive(Clone, Debug)]
pub(super) struct Positioned {
    file: Arc<File>,
    length: u64,
}

impl Positioned {
    /// From a file and its length.
    pub fn new(file: File, length: u64) -> Self {
        Self {
            file: Arc::new(file),
            length,
        }
    }
}

impl Length for Positioned {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Positioned {
    type T = BufReader<From>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        let from = From {
            file: Arc::clone(&self.file),
            at: start,
            end: self.length,
        };
        Ok(BufReader::with_capacity(1 << 10, from))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        // Before any memory is asked for: the length may be a damaged one.
        if start
            .checked_add(length as u64)
            .is_none_or(|end| end > self.length)
        {
            return Err(ParquetError::EOF(format!(
                "{length} bytes at {start} do not fit a file of {}",
                self.length
            )));
        }
        let mut bytes = vec![0; length];
        read_exact_at(&self.file, &mut bytes, start)?;
        Ok(bytes.into())
    }
}

/// A file from some place on.
#[derive(Debug)]
pub(super) struct From {
    file: Arc<File>,
    at: u64,
    end: u64,
}

impl Read for From {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_sub(self.at).min(out.len() as u64) as usize;
        let count = read_at(&self.file, &mut out[..left], self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// What a thread decodes: the places of its columns in the table, in rising order.
type Share = Vec<usize>;

/// The columns dealt out, so that each thread has about the same number of bytes to unpack.
fn shares(metadata: &ParquetMetaData, width: usize, threads: usize) -> Vec<Share> {
    let mut sizes: Vec<(i64, usize)> = (0..width)
        .map(|column| {
            let chunks = metadata
                .row_groups()
                .iter()
                .filter_map(|group| group.columns().get(column));
            let size = chunks.fold(0_i64, |size, chunk| {
                size.saturating_add(chunk.uncompressed_size())
            });
            (size, column)
        })
        .collect();
    // The largest first, each to whoever has the least.
    sizes.sort_unstable_by_key(|&(size, column)| (std::cmp::Reverse(size), column));
    let mut shares = vec![(0_i64, Share::new()); threads.clamp(1, width.max(1))];
    for (size, column) in sizes {
        if let Some((load, share)) = shares.iter_mut().min_by_key(|(load, share)| (*load, share.len())) {
            *load = load.saturating_add(size);
            share.push(column);
        }
    }
    let sorted = |(_, mut share): (i64, Share)| {
        share.sort_unstable();
        share
    };
    shares.into_iter().map(sorted).collect()
}

/// Decodes all rows, some ten thousand at a time, to the types of the schema. The columns are flat ones.
pub(super) fn decode<R: ChunkReader + Clone + 'static>(
    (path, source): (&Path, &R),
    metadata: &ArrowReaderMetadata,
    schema: &SchemaRef,
    threads: usize,
    take: &mut Take<'_>,
) -> Result<(), Trouble> {
    let shares = shares(metadata.metadata(), schema.fields().len(), threads);
    std::thread::scope(|scope| {
        let mut parts = Vec::with_capacity(shares.len());
        for share in &shares {
            let (sender, receiver) = bounded(2);
            parts.push((share, receiver));
            let source = source.clone();
            scope.spawn(move || {
                // Here, for a panic is caught in silence only on the thread that marks it so.
                let done = caught(|| decode_share((path, source), metadata.clone(), schema, share, &sender));
                let done = done.unwrap_or_else(|| Err(Trouble::Damage(UNDECODABLE.to_owned())));
                if let Err(trouble) = done {
                    // Whoever waits for it may have gone.
                    let _ = sender.send(Err(trouble));
                }
            });
        }
        // The receivers go with it, so that nobody waits for room.
        gather(parts, schema.fields().len(), take)
    })
}

type Part = Result<Vec<ArrayRef>, Trouble>;

fn decode_share<R: ChunkReader + 'static>(
    (path, source): (&Path, R),
    metadata: ArrowReaderMetadata,
    schema: &ArrowSchema,
    share: &[usize],
    out: &Sender<Part>,
) -> Result<(), Trouble> {
    let own = Arc::new(schema.project(share)?);
    let mask = ProjectionMask::roots(metadata.parquet_schema(), share.iter().copied());
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(source, metadata)
        .with_projection(mask)
        .with_batch_size(CHUNK_ROWS)
        .build()?;
    let mut before = 0;
    for batch in reader {
        let batch = batch?;
        let arrays = normal_batch(path, &own, &batch, before)?.columns().to_vec();
        before += batch.num_rows() as u64;
        if out.send(Ok(arrays)).is_err() {
            break;
        }
    }
    Ok(())
}

/// Puts the columns of all threads beside each other.
fn gather(parts: Vec<(&Share, Receiver<Part>)>, width: usize, take: &mut Take<'_>) -> Result<(), Trouble> {
    loop {
        let mut columns = vec![None; width];
        for (share, part) in &parts {
            let Ok(arrays) = part.recv() else { continue };
            for (&place, array) in share.iter().zip(arrays?) {
                columns[place] = Some(array);
            }
        }
        if columns.iter().all(Option::is_none) {
            return Ok(());
        }
        let columns: Vec<ArrayRef> = columns.into_iter().flatten().collect();
        let rows = columns[0].len();
        if columns.len() < width || columns.iter().any(|array| array.len() != rows) {
            return Err(Trouble::Damage("its columns are not of one length".to_owned()));
        }
        take(columns)?;
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Float64Array, Int32Array, LargeStringArray, StringArray};
    use arrow::record_batch::RecordBatch;
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ArrowReaderOptions;
    use parquet::file::properties::WriterProperties;

    use super::*;
    use crate::data::table::normal_schema;

    const ROWS: i32 = 150_000;

    /// Columns of unlike size, in row groups that do not end where pieces do; later groups have other texts.
    fn file() -> Bytes {
        let columns: [(&str, ArrayRef); 5] = [
            ("whole", Arc::new((0..ROWS).collect::<Int32Array>())),
            (
                "few",
                Arc::new(
                    (0..ROWS)
                        .map(|row| (row % 7 != 0).then(|| format!("{}", row / 40_000 + row % 3)))
                        .collect::<StringArray>(),
                ),
            ),
            (
                "many",
                Arc::new(
                    (0..ROWS)
                        .map(|row| Some(format!("text {row}")))
                        .collect::<LargeStringArray>(),
                ),
            ),
            (
                "half",
                Arc::new(
                    (0..ROWS)
                        .map(|row| f64::from(row) / 2.0)
                        .collect::<Float64Array>(),
                ),
            ),
            ("missing", Arc::new(StringArray::new_null(ROWS as usize))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some(40_000))
            .build();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.into_inner().unwrap().into()
    }

    fn decoded(source: &(impl ChunkReader + Clone + 'static), threads: usize) -> Vec<Vec<ArrayRef>> {
        let known = ArrowReaderMetadata::load(source, ArrowReaderOptions::new()).unwrap();
        let options =
            ArrowReaderOptions::new().with_schema(super::super::numbered(known.schema(), known.metadata()));
        let metadata = ArrowReaderMetadata::try_new(Arc::clone(known.metadata()), options).unwrap();
        let path = Path::new("t.parquet");
        let schema = normal_schema(path, metadata.schema()).unwrap();
        let mut pieces = Vec::new();
        decode((path, source), &metadata, &schema, threads, &mut |columns| {
            pieces.push(columns);
            Ok(())
        })
        .map_err(|_| "it is whole")
        .unwrap();
        pieces
    }

    #[test]
    fn any_number_of_threads_decodes_the_same() {
        let file = file();
        let alone = decoded(&file, 1);
        assert_eq!(alone.iter().map(|piece| piece[0].len() as i32).sum::<i32>(), ROWS);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        std::fs::write(&path, &file).unwrap();
        let positioned = Positioned::new(File::open(&path).unwrap(), file.len() as u64);
        for threads in [2, 3, 9] {
            assert_eq!(decoded(&file, threads), alone, "{threads} threads");
            assert_eq!(
                decoded(&positioned, threads),
                alone,
                "{threads} threads, from a file"
            );
        }
        let known = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).unwrap();
        let shares = shares(known.metadata(), 5, 3);
        let mut all: Vec<usize> = shares.iter().flatten().copied().collect();
        all.sort_unstable();
        assert_eq!((shares.len(), all), (3, vec![0, 1, 2, 3, 4]));
        assert_eq!(shares[0], [2], "the texts weigh most");
    }

    #[test]
    fn who_takes_may_stop_and_a_file_may_become_shorter() {
        let file = file();
        let known = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).unwrap();
        let path = Path::new("t.parquet");
        let schema = normal_schema(path, known.schema()).unwrap();
        let stopped = decode((path, &file), &known, &schema, 3, &mut |_| {
            Err(Trouble::Damage("enough".to_owned()))
        });
        assert!(matches!(stopped, Err(Trouble::Damage(reason)) if reason == "enough"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        std::fs::write(&path, &file[..file.len() / 2]).unwrap();
        let cut = Positioned::new(File::open(&path).unwrap(), file.len() as u64);
        let ended = decode((&path, &cut), &known, &schema, 3, &mut |_| Ok(()));
        assert!(matches!(ended, Err(Trouble::Damage(_))));
        let beyond = Positioned::new(File::open(&path).unwrap(), 100).get_bytes(50, usize::MAX);
        assert!(beyond.is_err(), "no memory is asked for");
    }

    /// Bytes whose decoder panics.
    #[derive(Clone)]
    struct Panics(Bytes);

    impl Length for Panics {
        fn len(&self) -> u64 {
            self.0.len() as u64
        }
    }

    impl ChunkReader for Panics {
        type T = bytes::buf::Reader<Bytes>;

        fn get_read(&self, _: u64) -> Result<Self::T, ParquetError> {
            panic!("as a decoder might")
        }

        fn get_bytes(&self, _: u64, _: usize) -> Result<Bytes, ParquetError> {
            panic!("as a decoder might")
        }
    }

    #[test]
    fn a_panic_of_any_thread_is_damage() {
        let file = file();
        let known = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).unwrap();
        let path = Path::new("t.parquet");
        let schema = normal_schema(path, known.schema()).unwrap();
        let ended = decode((path, &Panics(file)), &known, &schema, 3, &mut |_| Ok(()));
        assert!(matches!(ended, Err(Trouble::Damage(reason)) if reason == UNDECODABLE));
    }
}
