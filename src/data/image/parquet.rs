//! Parquet with a column of pictures, as data sets of images are often published: PNG, JPEG or TIFF files in a binary
//! column, or in the field `bytes` of a structure, and a column `label` of numbers or names.

use std::path::Path;

use arrow::array::{Array, ArrayRef, AsArray as _, BinaryArray, Int64Array, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, Schema as ArrowSchema};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::decode::{Picture, decode_all};
use super::folder::notes;
use super::labels::number;
use super::{Found, ImageOptions, LABEL, Labels, MOST_CLASSES};
use crate::data::{DataError, Provenance};
use crate::num::files::open_regular;
use crate::num::progress::Progress;

/// Rows read at a time.
const BATCH: usize = 4096;

fn is_bytes(kind: &DataType) -> bool {
    matches!(
        kind,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView
    )
}

/// Where the pictures are: the first column of bytes, or the first structure with a field `bytes`.
fn picture_column(schema: &ArrowSchema) -> Option<usize> {
    schema.fields().iter().position(|field| match field.data_type() {
        DataType::Struct(parts) => {
            let bytes = parts.iter().find(|part| part.name() == "bytes");
            bytes.is_some_and(|part| is_bytes(part.data_type()))
        }
        kind => is_bytes(kind),
    })
}

/// Whether it is a Parquet file with a column of pictures.
pub fn holds_pictures(path: &Path) -> bool {
    let Ok(file) = open_regular(path) else {
        return false;
    };
    ParquetRecordBatchReaderBuilder::try_new(file)
        .is_ok_and(|builder| picture_column(builder.schema()).is_some())
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
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| corrupt(&error))?;
    let column = picture_column(builder.schema())
        .ok_or_else(|| wrong(path, "it has no column of pictures".to_owned()))?;
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
