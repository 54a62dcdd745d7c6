//! Released statistics as a table: one row for each value, with all that it takes to read it. Everything in it is public.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow::error::ArrowError;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::engine::snapshot::Released;
use crate::export::{AtomicFile, ExportError, TableFormat};
use crate::release::{CONFIDENCE, Cell, Interval, Query, Value};

/// Why a table cannot be made of released values.
type Failed = Box<dyn std::error::Error + Send + Sync>;

/// A number, where the value is one.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Whole(value) => Some(*value as f64),
        Value::Number(value) => Some(*value),
        Value::Text(_) => None,
    }
}

/// One row of the table: a value, and the release that it is of.
type Row<'a> = (&'a Released, &'a Cell);

fn texts(rows: &[Row<'_>], of: impl Fn(&Released, &Cell) -> Option<String>) -> ArrayRef {
    Arc::new(
        rows.iter()
            .map(|(released, cell)| of(released, cell))
            .collect::<StringArray>(),
    )
}

fn numbers(rows: &[Row<'_>], of: impl Fn(&Released, &Cell) -> Option<f64>) -> ArrayRef {
    Arc::new(
        rows.iter()
            .map(|(released, cell)| of(released, cell))
            .collect::<Float64Array>(),
    )
}

/// What was asked, and at which price.
fn asked(rows: &[Row<'_>]) -> Vec<(&'static str, ArrayRef)> {
    let entries = rows.iter().map(|(released, _)| released.ledger_entry.0);
    let name = |released: &Released, _: &Cell| Some(released.request.query.name().to_owned());
    let share = |released: &Released, _: &Cell| match released.request.query {
        Query::Quantile { share } => Some(share),
        _ => None,
    };
    let relation = |released: &Released, _: &Cell| Some(released.neighboring.to_string());
    vec![
        ("ledger_entry", Arc::new(entries.collect::<UInt64Array>())),
        (
            "dataset",
            texts(rows, |released, _| Some(released.dataset.clone())),
        ),
        ("statistic", texts(rows, name)),
        ("share", numbers(rows, share)),
        (
            "column",
            texts(rows, |released, _| released.request.column.clone()),
        ),
        ("by", texts(rows, |released, _| released.request.by.clone())),
        (
            "mechanism",
            texts(rows, |released, _| Some(released.noise.name().to_owned())),
        ),
        ("epsilon", numbers(rows, |released, _| Some(released.epsilon))),
        ("delta", numbers(rows, |released, _| Some(released.delta))),
        ("neighbours", texts(rows, relation)),
    ]
}

/// What was answered, with its interval.
fn answered(rows: &[Row<'_>]) -> Vec<(&'static str, ArrayRef)> {
    let ends = |cell: &Cell, upper: bool| match &cell.interval {
        Some(Interval::Between(low, high)) => Some(if upper { high } else { low }.to_string()),
        _ => None,
    };
    let off = |_: &Released, cell: &Cell| match cell.interval {
        Some(Interval::Rank(off) | Interval::Frequency(off)) => Some(off),
        _ => None,
    };
    let confidence = |_: &Released, cell: &Cell| cell.interval.as_ref().map(|_| CONFIDENCE);
    vec![
        (
            "group",
            texts(rows, |_, cell| cell.group.as_ref().map(ToString::to_string)),
        ),
        (
            "bin",
            texts(rows, |_, cell| cell.bin.as_ref().map(ToString::to_string)),
        ),
        ("value", numbers(rows, |_, cell| number(&cell.value))),
        ("value_text", texts(rows, |_, cell| Some(cell.value.to_string()))),
        ("lower", texts(rows, |_, cell| ends(cell, false))),
        ("upper", texts(rows, |_, cell| ends(cell, true))),
        ("rank_or_rows_off", numbers(rows, off)),
        ("confidence", numbers(rows, confidence)),
        ("remarks", texts(rows, |released, _| remarks(released))),
    ]
}

/// How the values of a release are to be read, and what they do not promise.
fn remarks(released: &Released) -> Option<String> {
    let mut remarks: Vec<String> = released.answer.notes.iter().map(ToString::to_string).collect();
    if released.seed.is_some() {
        remarks.push("fixed seed: not private".to_owned());
    }
    if !released.unprotected.is_empty() {
        let names = released.unprotected.join(", ");
        remarks.push(format!("not protected: bounds or values of {names}"));
    }
    (!remarks.is_empty()).then(|| remarks.join("; "))
}

/// All values of these releases, the oldest first.
fn batch(releases: &[Arc<Released>]) -> Result<RecordBatch, ArrowError> {
    let rows: Vec<Row<'_>> = releases
        .iter()
        .flat_map(|released| released.answer.cells.iter().map(move |cell| (&**released, cell)))
        .collect();
    let columns = asked(&rows).into_iter().chain(answered(&rows));
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true)))
}

fn csv_bytes(batch: &RecordBatch) -> Result<Vec<u8>, Failed> {
    let mut bytes = Vec::new();
    arrow::csv::WriterBuilder::new()
        .with_header(true)
        .build(&mut bytes)
        .write(batch)?;
    Ok(bytes)
}

fn parquet_bytes(batch: &RecordBatch) -> Result<Vec<u8>, Failed> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(concat!("pointillist ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties))?;
    writer.write(batch)?;
    writer.close()?;
    Ok(bytes)
}

/// Writes the releases whole or not at all, as CSV or Parquet by the file's ending.
///
/// # Errors
/// When the ending is another one, the file exists and may not be replaced, or its folder is missing, read-only or full.
pub(super) fn write(releases: &[Arc<Released>], path: &Path, overwrite: bool) -> Result<(), ExportError> {
    let format = TableFormat::from_path(path)?;
    let unwritable = |reason: Failed| ExportError::Unwritable {
        path: path.to_path_buf(),
        reason: reason.to_string(),
    };
    let batch = batch(releases).map_err(|error| unwritable(error.into()))?;
    let bytes = match format {
        TableFormat::Csv => csv_bytes(&batch),
        TableFormat::Parquet => parquet_bytes(&batch),
        _ => {
            return Err(ExportError::Unwritable {
                path: path.to_owned(),
                reason: "released values are written as .csv or .parquet".to_owned(),
            });
        }
    };
    let bytes = bytes.map_err(unwritable)?;
    let mut file = AtomicFile::create(path, overwrite)?;
    file.write_all(&bytes)
        .map_err(|source| ExportError::from_write(path, source))?;
    file.commit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::Neighboring;
    use crate::privacy::ledger::{EntryId, PrivacyUnit};
    use crate::release::{Answer, Noise, ReleaseRequest};

    fn released() -> Arc<Released> {
        let cell = |value, interval| Cell {
            group: None,
            bin: None,
            value,
            interval: Some(interval),
        };
        Arc::new(Released {
            dataset: "a, b".into(),
            request: ReleaseRequest::new(Query::Quantile { share: 0.5 }, Some("x"), 0.5),
            answer: Answer {
                cells: vec![
                    cell(
                        Value::Number(1.5),
                        Interval::Between(Value::Whole(1), Value::Whole(2)),
                    ),
                    cell(Value::Text("2020-01-02".into()), Interval::Rank(7.0)),
                ],
                is_single: false,
                purchase: None,
                notes: Vec::new(),
            },
            noise: Noise::Exponential,
            epsilon: 0.5,
            delta: 0.0,
            neighboring: Neighboring::AddRemoveOne,
            unit: PrivacyUnit::Row,
            ledger_entry: EntryId(3),
            unprotected: vec!["x".into()],
            is_teaching_data: false,
            seed: None,
            schema_changed: false,
            schema_saved: None,
            warning: None,
        })
    }

    #[test]
    fn values_go_round_through_csv_and_parquet() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["released.csv", "released.parquet"] {
            let path = folder.path().join(name);
            write(&[released()], &path, false).unwrap();
            assert!(matches!(
                write(&[released()], &path, false),
                Err(ExportError::Exists { .. })
            ));
            write(&[released()], &path, true).unwrap();
            let table = crate::data::read_table(
                &path,
                &crate::data::ReadOptions::default(),
                &crate::num::Progress::new(),
            )
            .unwrap();
            assert_eq!(table.rows(), 2, "{name}");
            let names: Vec<&str> = table.column_names().collect();
            let at = |name: &str| names.iter().position(|known| *known == name).unwrap();
            let rows = table.preview(0..2).unwrap();
            assert_eq!(rows[0][at("dataset")].as_deref(), Some("a, b"));
            assert_eq!(rows[0][at("value")].as_deref(), Some("1.5"));
            assert_eq!(rows[0][at("upper")].as_deref(), Some("2"));
            assert_eq!(rows[1][at("value_text")].as_deref(), Some("2020-01-02"));
            assert!(rows[1][at("value")].is_none());
        }
        assert!(matches!(
            write(&[released()], &folder.path().join("released.ods"), false),
            Err(ExportError::UnknownEnding { .. })
        ));
        assert_eq!(
            std::fs::read_dir(folder.path()).unwrap().count(),
            2,
            "nothing else is left"
        );
    }
}
