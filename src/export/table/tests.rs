//! What is written is what was decoded, and nothing is left of what was not finished.

use rand::SeedableRng as _;

use super::*;
use crate::data::{EncoderSettings, NumericCode, ReadOptions, RowEncoder, Table, read_table};
use crate::num::Progress;
use crate::num::machine::free_space;

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
fn typed_files_keep_types() {
    for name in ["out.parquet", "out.arrow", "out.sqlite", "out.xlsx"] {
        keeps_types(name);
    }
}

fn keeps_types(name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (schema, batch) = decoded(folder.path());
    let path = folder.path().join(name);
    let mut writer = TableWriter::create(&path, &schema, false).unwrap();
    writer.write(&batch.slice(0, 2)).unwrap();
    writer.write(&batch.slice(2, 1)).unwrap();
    let written = writer.seal().unwrap().publish().unwrap();
    assert_eq!(written.sha256, sha256_of_file(&path).unwrap());
    let back = read_table(&path, &ReadOptions::default(), &Progress::new()).unwrap();
    let again = Table::from_batches("t", &batch.schema(), &[batch]).unwrap();
    assert_eq!(
        back.preview(0..9).unwrap(),
        again.preview(0..9).unwrap(),
        "{name}"
    );
    let types: Vec<String> = back
        .schema()
        .fields()
        .iter()
        .map(|field| field.data_type().to_string())
        .collect();
    assert_eq!(types[0], "Float64");
    assert_eq!(types[1], "Int64");
    assert_eq!(types[3], "Boolean");
    // A workbook holds days before March 1900, of which sheets count one too many, as text.
    if !name.ends_with("xlsx") {
        assert_eq!(types[4], "Date32");
    }
    assert!(types[5].starts_with("Timestamp"), "{name}: {}", types[5]);
}

#[test]
fn nothing_is_left_of_a_file_that_was_not_finished() {
    let folder = tempfile::tempdir().unwrap();
    let (schema, batch) = decoded(folder.path());
    std::fs::remove_file(folder.path().join("in.csv")).unwrap();
    for name in ["out.csv", "out.parquet", "out.arrow", "out.sqlite", "out.xlsx"] {
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
    let odd = folder.path().join("out.ods");
    assert!(matches!(
        TableWriter::create(&odd, &schema, false),
        Err(ExportError::UnknownEnding { .. })
    ));
    let sheet = folder.path().join("out.xlsx");
    TableFormat::check_rows(&sheet, 1_048_575).unwrap();
    let said = TableFormat::check_rows(&sheet, 1_048_576)
        .unwrap_err()
        .to_string();
    assert!(said.contains("1048575") && said.contains("out.xlsx"), "{said}");
    TableFormat::check_rows(&there, 1_000_000).unwrap();
    TableFormat::check_rows(&folder.path().join("out.parquet"), usize::MAX).unwrap();
    if free_space(folder.path()).is_some() {
        let said = TableFormat::check_rows(&there, usize::MAX)
            .unwrap_err()
            .to_string();
        assert!(said.contains("TB") && said.contains("free"), "{said}");
    }
    let lost = folder.path().join("no/out.csv");
    assert!(matches!(
        TableWriter::create(&lost, &schema, false),
        Err(ExportError::FolderMissing { .. })
    ));
}

/// What was read with semicolons and decimal commas leaves so: the schema that says how it is read fits both.
#[test]
fn a_csv_file_has_the_delimiter_of_the_file_that_it_is_like() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("in.csv");
    let rows = (0..40).fold("dose;ward\n".to_owned(), |text, row| {
        text + &format!("{},{:02};{}\n", 1 + row % 7, row, ["a", "b"][row % 2])
    });
    std::fs::write(&source, rows).unwrap();
    let table = read_table(&source, &ReadOptions::default(), &Progress::new()).unwrap();
    let mut schema = crate::data::profile(&table, &Progress::new()).unwrap().schema;
    schema.read = table.form().to_keep(&crate::data::FileForm::default(), &source);
    schema.accept_suggestions();
    let encoder = RowEncoder::new(&schema, &EncoderSettings::default()).unwrap();
    let rows = encoder.encode(&table, &Progress::new()).unwrap();
    let mut random = rand_chacha::ChaCha20Rng::seed_from_u64(1);
    let batch = encoder.decode(&rows, None, &mut random).unwrap();
    for (name, delimiter) in [("out.csv", ';'), ("out.tsv", '\t')] {
        let path = folder.path().join(name);
        let mut writer = TableWriter::create(&path, &schema, false).unwrap();
        writer.write(&batch).unwrap();
        writer.seal().unwrap().publish().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().take(2).collect();
        assert_eq!(lines[0], format!("dose{delimiter}ward"));
        assert!(lines[1].contains(',') && !lines[1].contains('"'), "{lines:?}");
    }
}

/// Every table at hand goes through the schema that its profile suggests, an encoder without loss, and each form of
/// file: what is read back is what was read.
#[test]
fn tables_at_hand_come_back_as_they_were() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/tabular");
    let Ok(files) = std::fs::read_dir(&folder) else {
        println!("skipped: {} is not at hand", folder.display());
        return;
    };
    let out = tempfile::tempdir().unwrap();
    for file in files.flatten() {
        let path = file.path();
        if path.extension().is_none_or(|ending| ending != "csv") {
            continue;
        }
        let table = read_table(&path, &ReadOptions::default(), &Progress::new()).unwrap();
        let mut schema = crate::data::profile(&table, &Progress::new()).unwrap().schema;
        schema.accept_suggestions();
        let encoder = RowEncoder::new(
            &schema,
            &EncoderSettings {
                numeric: NumericCode::AsDeclared,
            },
        )
        .unwrap();
        let rows = encoder.encode(&table, &Progress::new()).unwrap();
        let mut random = rand_chacha::ChaCha20Rng::seed_from_u64(1);
        let batch = encoder.decode(&rows, None, &mut random).unwrap();
        // What is written has no dropped columns.
        let mut used = schema.clone();
        used.column.retain(crate::data::Column::is_used);
        let reader = RowEncoder::new(
            &used,
            &EncoderSettings {
                numeric: NumericCode::AsDeclared,
            },
        )
        .unwrap();
        for name in ["t.csv", "t.parquet", "t.arrow", "t.sqlite", "t.xlsx"] {
            let target = out.path().join(name);
            let mut writer = TableWriter::create(&target, &schema, true).unwrap();
            writer.write(&batch).unwrap();
            writer.seal().unwrap().publish().unwrap();
            let back = read_table(&target, &ReadOptions::default(), &Progress::new()).unwrap();
            let what = format!("{} as {name}", path.display());
            assert_eq!(back.rows(), table.rows(), "{what}");
            let again = reader.encode(&back, &Progress::new()).unwrap();
            assert_eq!(again.clamped_cells(), rows.clamped_cells(), "{what}");
            let mut random = rand_chacha::ChaCha20Rng::seed_from_u64(1);
            assert_eq!(reader.decode(&again, None, &mut random).unwrap(), batch, "{what}");
        }
    }
}
