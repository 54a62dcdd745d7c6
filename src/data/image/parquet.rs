//! Parquet with a column of pictures, as data sets of images are often published: PNG, JPEG or TIFF files in a binary
//! column, or in the field `bytes` of a structure, and a column `label` of numbers or names.

use std::fs::File;
use std::path::Path;

use arrow::array::{Array, ArrayRef, AsArray as _, BinaryArray, Int64Array, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, Schema as ArrowSchema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::decode::{Picture, decode_all};
use super::folder::notes;
use super::labels::number;
use super::{Found, ImageOptions, LABEL, Labels, MOST_CLASSES};
use crate::data::{DataError, Provenance};
use crate::num::caught;
use crate::num::files::open_regular;
use crate::num::progress::Progress;

/// Rows read at a time.
const BATCH: usize = 4096;
/// Values by which a column is known as one of pictures.
const LOOK: usize = 16;

fn is_bytes(kind: &DataType) -> bool {
    matches!(
        kind,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView
    )
}

/// Columns that may hold pictures: those of bytes, and structures with a field `bytes`.
fn columns_of_bytes(schema: &ArrowSchema) -> impl Iterator<Item = usize> {
    let holds_bytes = |kind: &DataType| match kind {
        DataType::Struct(parts) => {
            let bytes = parts.iter().find(|part| part.name() == "bytes");
            bytes.is_some_and(|part| is_bytes(part.data_type()))
        }
        kind => is_bytes(kind),
    };
    let fields = schema.fields().iter().enumerate();
    fields
        .filter(move |(_, field)| holds_bytes(field.data_type()))
        .map(|(place, _)| place)
}

/// How the files of pictures begin.
const MAGICS: [&[u8]; 6] = [
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"II*\0",
    b"MM\0*",
    b"II+\0",
    b"MM\0+",
];

/// The first column whose bytes begin as pictures do: one of its first values, since any may be damaged.
fn picture_column(file: &File) -> Option<usize> {
    let open = || ParquetRecordBatchReaderBuilder::try_new(file.try_clone().ok()?).ok();
    let builder = open()?;
    columns_of_bytes(builder.schema()).find(|column| {
        let reader = open().and_then(|builder| {
            let only = ProjectionMask::roots(builder.parquet_schema(), [*column]);
            builder.with_projection(only).with_batch_size(LOOK).build().ok()
        });
        let batches = reader.into_iter().flatten().map_while(Result::ok);
        let values = batches.filter_map(|batch| bytes_of(batch.column(0)).ok());
        let first = values.flat_map(|values| {
            let present = values.iter().flatten();
            present
                .map(|file| MAGICS.iter().any(|magic| file.starts_with(magic)))
                .collect::<Vec<_>>()
        });
        first.take(LOOK).any(|is_picture| is_picture)
    })
}

/// Whether it is a Parquet file with a column of pictures.
pub fn holds_pictures(path: &Path) -> bool {
    // The decoder is not ours and the bytes are anybody's: should it panic, that is no file of pictures.
    open_regular(path).is_ok_and(|file| caught(|| picture_column(&file)).flatten().is_some())
}

fn wrong(path: &Path, message: String) -> DataError {
    DataError::Images {
        path: path.to_owned(),
        message,
    }
}

/// Reads all pictures and their labels.
pub fn read(path: &Path, options: &ImageOptions, progress: &Progress) -> Result<Found, DataError> {
    let corrupt = |error: &dyn std::fmt::Display| DataError::CorruptFile {
        kind: "Parquet",
        path: path.to_owned(),
        reason: error.to_string(),
    };
    let file = open_regular(path).map_err(|source| DataError::Io {
        path: path.to_owned(),
        action: "read the file",
        source,
    })?;
    let column =
        picture_column(&file).ok_or_else(|| wrong(path, "it has no column of pictures".to_owned()))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| corrupt(&error))?;
    let label = builder.schema().index_of(LABEL).ok();
    let reader = builder
        .with_batch_size(BATCH)
        .build()
        .map_err(|error| corrupt(&error))?;
    let (mut files, mut labels) = (Vec::new(), Vec::new());
    for batch in reader {
        progress.check()?;
        let batch = batch.map_err(|error| corrupt(&error))?;
        files.push(bytes_of(batch.column(column)).map_err(|error| corrupt(&error))?);
        labels.extend(label.map(|label| batch.column(label).clone()));
    }
    let pictures: Vec<Picture<'_>> = files
        .iter()
        .flat_map(|files| (0..files.len()).map(move |row| (files, row)))
        .enumerate()
        .map(|(place, (files, row))| Picture {
            name: format!("row {}", place + 1),
            bytes: Box::new(move || {
                if files.is_null(row) {
                    return Err(std::io::Error::other("there is no picture"));
                }
                Ok(files.value(row).to_vec())
            }),
        })
        .collect();
    if pictures.is_empty() {
        return Err(wrong(path, "there is no image in it".to_owned()));
    }
    let decoded = decode_all(path.to_owned(), &pictures, options, progress)?;
    let notes = notes(&pictures, &decoded.skipped);
    let mut hasher = blake3::Hasher::new();
    for digest in &decoded.digests {
        hasher.update(digest);
    }
    let mut labels = classes_of(path, &labels, options)?;
    if let Some(labels) = &mut labels {
        for (place, _) in decoded.skipped.iter().rev() {
            labels.codes.remove(*place);
        }
        hasher.update(&labels.codes);
        labels.names.iter().for_each(|name| {
            hasher.update(name.as_bytes());
        });
    }
    Ok(Found {
        form: decoded.form,
        bytes: decoded.bytes,
        labels,
        digest: *hasher.finalize().as_bytes(),
        file_bytes: decoded.file_bytes,
        notes,
    })
}

fn bytes_of(column: &ArrayRef) -> Result<BinaryArray, arrow::error::ArrowError> {
    let plain = match column.data_type() {
        DataType::Struct(_) => column
            .as_struct()
            .column_by_name("bytes")
            .map_or_else(|| column.clone(), Clone::clone),
        _ => column.clone(),
    };
    Ok(cast(&plain, &DataType::Binary)?.as_binary::<i32>().clone())
}

/// The class of every row: numbers are the declared classes, names are numbered in their order.
fn classes_of(path: &Path, chunks: &[ArrayRef], options: &ImageOptions) -> Result<Option<Labels>, DataError> {
    let Some(first) = chunks.first() else {
        return Ok(None);
    };
    let broken = |error: arrow::error::ArrowError| wrong(path, format!("its labels cannot be read: {error}"));
    let missing = |row: usize| {
        wrong(
            path,
            format!("row {} has no label; every image needs one", row + 1),
        )
    };
    if first.data_type().is_integer() {
        let classes = options.classes.clamp(1, MOST_CLASSES);
        let mut codes = Vec::new();
        for chunk in chunks {
            let numbers = cast(chunk, &DataType::Int64).map_err(broken)?;
            let numbers: &Int64Array = numbers.as_primitive::<Int64Type>();
            for number in numbers {
                let number = number.ok_or_else(|| missing(codes.len()))?;
                let code = usize::try_from(number).ok().filter(|code| *code < classes);
                codes.push(code.ok_or_else(|| {
                    wrong(
                        path,
                        format!(
                            "label {number} of row {} is not one of the {classes} declared classes, 0 to {}; declare \
                             more if it is public knowledge that there are",
                            codes.len() + 1,
                            classes - 1
                        ),
                    )
                })? as u8);
            }
        }
        return Ok(Some(Labels {
            codes,
            names: (0..classes).map(|class| class.to_string()).collect(),
            provenance: Provenance::Declared,
        }));
    }
    let mut names = Vec::new();
    for chunk in chunks {
        let texts = cast(chunk, &DataType::Utf8).map_err(broken)?;
        let texts: &StringArray = texts.as_string();
        for text in texts {
            names.push(text.ok_or_else(|| missing(names.len()))?.to_owned());
        }
    }
    number(path, &names).map(Some)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::StructArray;
    use arrow::datatypes::Field;
    use arrow::record_batch::RecordBatch;
    use parquet::arrow::ArrowWriter;

    use super::*;
    use crate::data::image::holds_images;
    use crate::data::{ReadOptions, read_table};

    /// A file with a column of numbers and these.
    fn file(columns: &[(&str, ArrayRef)]) -> (tempfile::TempDir, std::path::PathBuf) {
        let rows = columns[0].1.len() as i64;
        let numbers: ArrayRef = Arc::new((0..rows).collect::<Int64Array>());
        let all = std::iter::once(("number", numbers)).chain(columns.iter().cloned());
        let batch = RecordBatch::try_from_iter(all).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        (folder, path)
    }

    fn bytes(cells: &[Option<&[u8]>]) -> ArrayRef {
        Arc::new(cells.iter().copied().collect::<BinaryArray>())
    }

    #[test]
    fn bytes_that_are_no_pictures_make_no_images_and_no_table() {
        let hashes = bytes(&[Some(b"\x01\x02"), None, Some(b"\xfe\xff")]);
        let (_folder, path) = file(&[("hash", Arc::clone(&hashes))]);
        assert!(!holds_images(&path));
        let error = read_table(&path, &ReadOptions::default(), &Progress::new()).unwrap_err();
        let said = error.to_string();
        assert!(matches!(error, DataError::BytesColumn { .. }), "{said}");
        assert!(said.contains("`hash`") && said.contains("PNG"), "{said}");
        let (_folder, path) = file(&[("hash", bytes(&[None, None, None]))]);
        assert!(!holds_images(&path));
        // Pictures beside them are found.
        let pictures = bytes(&[Some(b"\xff\xd8\xff\xe0"), None, None]);
        let (_folder, path) = file(&[("hash", hashes), ("picture", pictures)]);
        assert_eq!(picture_column(&File::open(&path).unwrap()), Some(2));
    }

    #[test]
    fn pictures_are_known_behind_missing_and_damaged_ones() {
        let mut cells: Vec<Option<&[u8]>> = vec![None; 5000];
        cells.extend([Some(&b"damaged"[..]), Some(&b"\x89PNG\r\n"[..])]);
        let plain = bytes(&cells);
        let parts = [(
            Arc::new(Field::new("bytes", DataType::Binary, true)),
            Arc::clone(&plain),
        )];
        let structured: ArrayRef = Arc::new(StructArray::from(parts.to_vec()));
        for column in [plain, structured] {
            let (_folder, path) = file(&[("image", column)]);
            assert!(holds_images(&path));
        }
    }
}
