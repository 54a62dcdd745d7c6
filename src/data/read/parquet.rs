//! Parquet with flat columns.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::reader::ChunkReader;

use super::columns::CHUNK_ROWS;
use crate::data::table::{Origin, TableSource, normal_batch, normal_schema};
use crate::data::value::file_name;
use crate::data::{DataError, Table};
use crate::num::progress::Progress;

/// Reads a file that begins like Parquet.
pub(super) fn read_file(
    path: &Path,
    mut file: File,
    bytes: u64,
    progress: &Progress,
) -> Result<Table, DataError> {
    let io = |source| DataError::Io {
        path: path.to_owned(),
        action: "read the file",
        source,
    };
    // Twice the bytes: once to hash them, once to decode them.
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 1 << 18];
    let mut done = 0;
    loop {
        let count = file.read(&mut buffer).map_err(io)?;
        if count == 0 {
            break;
        }
        progress.check()?;
        hasher.update(&buffer[..count]);
        done += count as u64;
        progress.set(done, 2 * bytes.max(done));
    }
    file.seek(SeekFrom::Start(0)).map_err(io)?;
    let origin = Origin {
        name: file_name(path).into_owned(),
        path: Some(path.to_owned()),
        source: TableSource::Parquet,
        digest: Some(*hasher.finalize().as_bytes()),
        bytes: done,
    };
    decode(path, file, origin, progress)
}

/// Reads a file that is in memory.
pub(super) fn read_bytes(name: &str, bytes: &'static [u8], progress: &Progress) -> Result<Table, DataError> {
    let origin = Origin {
        name: name.to_owned(),
        path: None,
        source: TableSource::Parquet,
        digest: Some(*blake3::hash(bytes).as_bytes()),
        bytes: bytes.len() as u64,
    };
    decode(
        Path::new(name),
        bytes::Bytes::from_static(bytes),
        origin,
        progress,
    )
}

fn decode<R: ChunkReader + 'static>(
    path: &Path,
    source: R,
    origin: Origin,
    progress: &Progress,
) -> Result<Table, DataError> {
    let corrupt = |reason: String| DataError::CorruptParquet {
        path: path.to_owned(),
        reason,
    };
    // The decoder is not ours and the bytes are anybody's: should it panic, that is one more damaged file.
    let decoded = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let bytes = origin.bytes;
        let builder =
            ParquetRecordBatchReaderBuilder::try_new(source).map_err(|error| corrupt(error.to_string()))?;
        let found = builder.schema().clone();
        let mut seen = HashMap::new();
        for (index, field) in found.fields().iter().enumerate() {
            if field.name().is_empty() {
                return Err(DataError::UnnamedColumn {
                    path: path.to_owned(),
                    position: index + 1,
                });
            }
            if let Some(first) = seen.insert(field.name().clone(), index + 1) {
                return Err(DataError::DuplicateColumn {
                    path: path.to_owned(),
                    name: field.name().clone(),
                    first,
                    second: index + 1,
                });
            }
        }
        let schema = normal_schema(path, &found)?;
        let rows = builder.metadata().file_metadata().num_rows().max(0) as u64;
        if rows == 0 {
            return Err(DataError::NoRows {
                path: path.to_owned(),
            });
        }
        let reader = builder
            .with_batch_size(CHUNK_ROWS)
            .build()
            .map_err(|error| corrupt(error.to_string()))?;
        let mut batches = Vec::new();
        let mut done = 0_u64;
        for batch in reader {
            progress.check()?;
            let batch = batch.map_err(|error| corrupt(error.to_string()))?;
            done += batch.num_rows() as u64;
            batches.push(normal_batch(path, &schema, &batch)?);
            progress.set(
                bytes + (bytes as f64 * (done as f64 / rows as f64)) as u64,
                2 * bytes,
            );
        }
        if done == 0 {
            return Err(DataError::NoRows {
                path: path.to_owned(),
            });
        }
        Ok((schema, batches))
    }));
    match decoded {
        Ok(Ok((schema, batches))) => Ok(Table::assemble(origin, schema, batches)),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(corrupt("its pages do not decode".to_owned())),
    }
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
