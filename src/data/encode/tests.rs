//! The encoder's promises: exact where the issue says exact, and never a value outside the declared domain.

use std::fmt::Write as _;
use std::path::Path;

use arrow::array::{Array as _, AsArray as _, RecordBatch};
use arrow::datatypes::{Float64Type, Int64Type};
use proptest::prelude::*;
use rand::SeedableRng as _;
use rand_chacha::ChaCha20Rng;

use super::*;
use crate::data::{Column, Kind, Provenance, ReadOptions, Scale, profile, read_table};

const BINNED: EncoderSettings = EncoderSettings {
    numeric: NumericCode::Binned { bins: 20 },
};
const SCALAR: EncoderSettings = EncoderSettings {
    numeric: NumericCode::AsDeclared,
};

fn random() -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(7)
}

fn table_of(text: &str) -> Table {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, text).unwrap();
    read_table(&path, &ReadOptions::default(), &Progress::new()).unwrap()
}

fn encode(schema: &Schema, settings: &EncoderSettings, table: &Table) -> (RowEncoder, EncodedRows) {
    let encoder = RowEncoder::new(schema, settings).unwrap();
    let rows = encoder.encode(table, &Progress::new()).unwrap();
    (encoder, rows)
}

/// A batch as a table, so that cells compare as text.
fn cells(batch: &RecordBatch) -> Vec<Vec<Option<String>>> {
    Table::from_batches("t", &batch.schema(), std::slice::from_ref(batch))
        .unwrap()
        .preview(0..batch.num_rows())
        .unwrap()
}

fn declared(column: Column) -> Column {
    column.with_provenance(Provenance::Declared)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn categories_booleans_and_missing_come_back_exactly(
        picks in proptest::collection::vec((0_usize..5, 0_u8..3, any::<bool>()), 1..200)
    ) {
        let domain = ["a", "b c", "ü", "普外科", "x,\"y\""];
        let mut text = "word,flag,both\n".to_owned();
        let mut expected = Vec::new();
        for (word, flag, missing) in picks {
            let word = (!missing).then_some(domain[word]);
            let flag = ["no", "yes", "NA"][flag as usize];
            writeln!(text, "\"{}\",{flag},{}", word.unwrap_or("").replace('"', "\"\""), flag != "no").unwrap();
            let truth = match flag { "no" => Some("false"), "yes" => Some("true"), _ => None };
            expected.push(vec![
                word.map(str::to_owned),
                truth.map(str::to_owned),
                Some((flag != "no").to_string()),
            ]);
        }
        let mut schema = Schema::new(vec![
            declared(Column::new("word", Kind::Categorical).with_domain(domain).with_missing(true)),
            declared(Column::new("flag", Kind::Boolean).with_domain(["no", "yes"]).with_missing(true)),
            declared(Column::new("both", Kind::Boolean)),
        ]);
        schema.missing = vec![String::new(), "NA".to_owned()];
        for settings in [BINNED, SCALAR] {
            let (encoder, rows) = encode(&schema, &settings, &table_of(&text));
            let batch = encoder.decode(&rows, None, &mut random()).unwrap();
            prop_assert_eq!(cells(&batch), expected.clone());
        }
    }

    #[test]
    fn whole_numbers_come_back_exactly_on_either_scale(
        lower in 0_i64..1_000_000, range in 1_i64..(1 << 24), shares in proptest::collection::vec(0.0_f64..=1.0, 1..100)
    ) {
        let values: Vec<i64> = shares.iter().map(|share| lower + (share * range as f64) as i64).collect();
        let text = values.iter().fold("n,m\n".to_owned(), |text, value| format!("{text}{value},{value}.0\n"));
        let column = |name, scale| {
            declared(Column::new(name, Kind::Integer).with_bounds(lower, lower + range).with_scale(scale))
        };
        let schema = Schema::new(vec![column("n", Scale::Linear), column("m", Scale::Log)]);
        let (encoder, rows) = encode(&schema, &SCALAR, &table_of(&text));
        prop_assert_eq!(rows.clamped_cells(), 0);
        prop_assert!(rows.scalars.iter().all(|scalar| (0.0..=1.0).contains(scalar)));
        let batch = encoder.decode(&rows, None, &mut random()).unwrap();
        for column in 0..2 {
            prop_assert_eq!(batch.column(column).as_primitive::<Int64Type>().values(), &values[..]);
        }
    }

    #[test]
    fn real_numbers_come_back_within_a_millionth_of_the_range(
        lower in -1e6_f64..1e6, range in 1e-3_f64..1e9, shares in proptest::collection::vec(0.0_f64..=1.0, 1..100), log: bool
    ) {
        let lower = if log { lower.abs() } else { lower };
        let values: Vec<f64> = shares.iter().map(|share| (lower + share * range).min(lower + range)).collect();
        let text = values.iter().fold("x\n".to_owned(), |text, value| format!("{text}{value:?}\n"));
        let scale = if log { Scale::Log } else { Scale::Linear };
        let schema =
            Schema::new(vec![declared(Column::new("x", Kind::Continuous).with_bounds(lower, lower + range).with_scale(scale))]);
        let (encoder, rows) = encode(&schema, &SCALAR, &table_of(&text));
        let batch = encoder.decode(&rows, None, &mut random()).unwrap();
        for (back, value) in batch.column(0).as_primitive::<Float64Type>().values().iter().zip(&values) {
            prop_assert!((back - value).abs() <= 1e-6 * range, "{back} {value}");
            prop_assert!(*back >= lower && *back <= lower + range);
        }
    }

    #[test]
    fn a_bin_decodes_to_a_value_inside_itself(
        lower in -1000.0_f64..1000.0, range in 1e-2_f64..1e7, decimals in proptest::option::of(0_u8..4), log: bool,
        bins in 1_usize..60, weighted: bool, seed: u64
    ) {
        let lower = if log && lower < 500.0 { 0.0 } else { lower };
        let mut column = declared(Column::new("x", Kind::Continuous).with_bounds(lower, lower + range));
        column.decimals = decimals;
        column.scale = if log { Scale::Log } else { Scale::Linear };
        column.missing = true;
        let schema = Schema::new(vec![column]);
        let Ok(encoder) = RowEncoder::new(&schema, &EncoderSettings { numeric: NumericCode::Binned { bins } }) else {
            // No decimal of that length lies between the bounds.
            return Ok(());
        };
        let layout = encoder.fine_cells(0).unwrap().clone();
        let places = layout.bins() + 1;
        let mut rows = encoder.blank_rows(places * 5);
        for (row, code) in rows.codes.iter_mut().enumerate() {
            *code = (row % places) as u16;
        }
        let weights = FineWeights { columns: vec![(0..layout.cells()).map(|cell| f64::from(u8::from(cell % 3 == 0))).collect()] };
        let mut random = ChaCha20Rng::seed_from_u64(seed);
        let batch = encoder.decode(&rows, weighted.then_some(&weights), &mut random).unwrap();
        let values = batch.column(0).as_primitive::<Float64Type>();
        let table = Table::from_batches("t", &batch.schema(), std::slice::from_ref(&batch)).unwrap();
        let again = encoder.encode(&table, &Progress::new()).unwrap();
        prop_assert_eq!(&again.codes, &rows.codes);
        prop_assert_eq!(again.clamped_cells(), 0);
        for (row, &cell) in again.fine.iter().enumerate() {
            if cell == FINE_MISSING {
                prop_assert!(values.is_null(row));
            } else if weighted && layout.cells_of(layout.bin_of(cell as usize)).any(|cell| cell % 3 == 0) {
                prop_assert_eq!(cell % 3, 0, "only cells with weight are drawn");
            }
        }
    }
}

#[test]
fn dense_rows_expand_and_read_back() {
    let schema = Schema::new(vec![
        declared(
            Column::new("w", Kind::Categorical)
                .with_domain(["a", "b"])
                .with_missing(true),
        ),
        declared(Column::new("id", Kind::Identifier)),
        declared(
            Column::new("x", Kind::Continuous)
                .with_bounds(0, 4)
                .with_missing(true),
        ),
        declared(Column::new("n", Kind::Integer).with_bounds(0, 10)),
    ]);
    let table = table_of("w,id,x,n\nb,1,1,5\n,2,,10\na,3,9,-3\n");
    let (encoder, rows) = encode(&schema, &SCALAR, &table);
    assert_eq!(encoder.width(), 3 + 2 + 1 + 1);
    assert_eq!(
        encoder.blocks(),
        [
            Block::OneHot {
                column: 0,
                offset: 0,
                width: 3
            },
            Block::OneHot {
                column: 2,
                offset: 3,
                width: 2
            },
            Block::Scalar { column: 2, offset: 5 },
            Block::Scalar { column: 3, offset: 6 },
        ]
    );
    assert_eq!(rows.clamped, [0, 0, 1, 1]);
    let mut dense = vec![9.0; 2 * 7];
    rows.write_dense(&[1, 0], &mut dense);
    assert_eq!(
        dense,
        [
            0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.25, 0.5
        ]
    );
    let mut back = encoder.blank_rows(2);
    back.read_dense(&dense).unwrap();
    assert_eq!(back.codes, rows.select(&[1, 0]).codes);
    assert_eq!(back.scalars, rows.select(&[1, 0]).scalars);
    assert!(back.read_dense(&dense[1..]).is_err());
    let batch = encoder.decode(&back, None, &mut random()).unwrap();
    let text = |cells: [&str; 3]| cells.map(|cell| (cell != "-").then(|| cell.to_owned())).to_vec();
    assert_eq!(cells(&batch), [text(["-", "-", "10"]), text(["b", "1.0", "5"])]);
    assert_eq!(encoder.labels(&encoder.blocks()[0]), ["a", "b", ""]);
}

#[test]
fn labels_name_ranges() {
    let schema = Schema::new(vec![
        declared(Column::new("age", Kind::Integer).with_bounds(17, 90)),
        declared(
            Column::new("x", Kind::Continuous)
                .with_bounds(0, 1)
                .with_missing(true),
        ),
        declared(Column::new("born", Kind::Date).with_bounds("2000-01-01", "2000-01-10")),
    ]);
    let encoder = RowEncoder::new(&schema, &BINNED).unwrap();
    let labels: Vec<_> = encoder
        .blocks()
        .iter()
        .map(|block| encoder.labels(block))
        .collect();
    assert_eq!(labels[0][..2], ["17 – 20", "21 – 23"]);
    assert_eq!(
        (labels[1][1].as_str(), labels[1][20].as_str()),
        ("0.05 – 0.1", "")
    );
    assert_eq!(labels[2][9], "2000-01-10");
    assert!(
        labels
            .iter()
            .zip(encoder.blocks())
            .all(|(labels, block)| labels.len() == block.width())
    );
}

#[test]
fn cells_that_do_not_fit_are_named() {
    let column = |kind| declared(Column::new("x", kind));
    let numbers = |kind| column(kind).with_bounds(0, 9);
    for (column, text, words) in [
        (
            numbers(Kind::Integer),
            "x\n1\n2.5\n",
            &["`x`", "row 2", "2.5", "whole number"][..],
        ),
        (
            numbers(Kind::Continuous),
            "x\n1\ninf\n",
            &["row 2", "\"inf\"", "a number"],
        ),
        (
            numbers(Kind::Continuous),
            "x,y\n1,2\n,3\n",
            &["row 2", "missing = true"],
        ),
        (
            column(Kind::Categorical).with_domain(["a"]),
            "x\na\nb\n",
            &["row 2", "\"b\"", "domain"],
        ),
        (
            column(Kind::Boolean),
            "x\ntrue\nyes\n",
            &["row 2", "\"yes\"", "\"false\" nor \"true\""],
        ),
        (
            column(Kind::Date).with_bounds("2000-01-01", "2001-01-01"),
            "x\n2000-02-30\n",
            &["row 1", "date"],
        ),
    ] {
        let mut schema = Schema::new(vec![column]);
        if text.starts_with("x,y") {
            schema.column.push(Column::new("y", Kind::Text));
        }
        let table = table_of(text);
        for error in [
            RowEncoder::new(&schema, &BINNED)
                .unwrap()
                .encode(&table, &Progress::new())
                .unwrap_err(),
            schema.check(&table, &Progress::new()).unwrap_err(),
        ] {
            let error = error.to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        }
    }
}

#[test]
fn a_schema_that_does_not_fit_is_refused() {
    let table = table_of("a,b\n1,2\n");
    let numbers = |names: &[&str]| {
        Schema::new(
            names
                .iter()
                .map(|name| declared(Column::new(*name, Kind::Integer).with_bounds(0, 9)))
                .collect(),
        )
    };
    let refused = |schema: &Schema| schema.check(&table, &Progress::new()).unwrap_err().to_string();
    assert!(refused(&numbers(&["a"])).contains("`b`"));
    assert!(refused(&numbers(&["a", "b", "c"])).contains("`c`"));
    let mut counted = numbers(&["b", "a"]);
    counted.check(&table, &Progress::new()).unwrap();
    counted.rows = Some(crate::data::RowCount {
        value: 2,
        provenance: Provenance::Declared,
    });
    assert!(refused(&counted).contains("2 rows, it has 1"));
    let mut dropped = numbers(&["a", "b"]);
    dropped
        .column
        .iter_mut()
        .for_each(|column| column.set_kind(Kind::Text));
    assert!(matches!(
        RowEncoder::new(&dropped, &BINNED),
        Err(DataError::NoColumns)
    ));
    let open = Schema::new(vec![Column::new("a", Kind::Integer)]);
    assert!(
        RowEncoder::new(&open, &BINNED)
            .unwrap_err()
            .to_string()
            .contains("bounds")
    );
}

#[test]
fn rows_of_another_encoder_are_refused() {
    let encoder = |upper| {
        let schema = Schema::new(vec![declared(
            Column::new("a", Kind::Integer).with_bounds(0, upper),
        )]);
        RowEncoder::new(&schema, &BINNED).unwrap()
    };
    let mut rows = encoder(5).blank_rows(3);
    assert!(encoder(9).decode(&rows, None, &mut random()).is_err());
    rows.codes[2] = 77;
    assert!(
        encoder(5)
            .decode(&rows, None, &mut random())
            .unwrap_err()
            .to_string()
            .contains("77")
    );
    rows.codes[2] = 5;
    let short = FineWeights {
        columns: vec![vec![1.0]],
    };
    assert!(encoder(5).decode(&rows, Some(&short), &mut random()).is_err());
    assert!(encoder(5).decode(&rows, None, &mut random()).is_ok());
}

#[test]
fn a_cancelled_encoding_ends() {
    let schema = Schema::new(vec![declared(Column::new("a", Kind::Integer).with_bounds(0, 9))]);
    let progress = Progress::new();
    progress.cancel();
    let encoder = RowEncoder::new(&schema, &BINNED).unwrap();
    assert!(
        encoder
            .encode(&table_of("a\n1\n"), &progress)
            .unwrap_err()
            .is_cancelled()
    );
}

/// The tables that the team tests on, where they are at hand.
fn real_table(name: &str) -> Option<Table> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../shared/data/tabular")
        .join(name);
    if !path.is_file() {
        println!("skipped: {} is not at hand", path.display());
        return None;
    }
    Some(read_table(&path, &ReadOptions::default(), &Progress::new()).unwrap())
}

#[test]
fn real_tables_profile_encode_and_decode() {
    for name in [
        "acs2012_sample.csv",
        "adult.csv",
        "breast_cancer.csv",
        "credit_scoring.csv",
        "diabetes_progression.csv",
        "fake_identities_en.csv",
        "fake_patients_zh.csv",
        "german_credit.csv",
        "heart_disease_uci.csv",
        "nhanes_2017_2018.csv",
        "pima_diabetes.csv",
        "pseudopeople_census_2020.csv",
    ] {
        let Some(table) = real_table(name) else { continue };
        let mut schema = profile(&table, &Progress::new()).unwrap().schema;
        schema.validate().unwrap();
        assert!(
            !schema.open_columns().is_empty(),
            "{name}: nothing is accepted by itself"
        );
        schema.column.iter_mut().for_each(|column| {
            column.accept_suggestion();
        });
        assert!(
            schema.open_columns().is_empty(),
            "{name}: {:?}",
            schema.open_columns()
        );
        assert_eq!(
            Schema::from_toml(&schema.to_toml().unwrap()).unwrap(),
            schema,
            "{name}"
        );
        schema.check(&table, &Progress::new()).unwrap();
        // What is decoded has no dropped columns.
        let mut kept = schema.clone();
        kept.column.retain(Column::is_used);
        for settings in [BINNED, SCALAR] {
            let (encoder, rows) = encode(&schema, &settings, &table);
            assert_eq!(rows.clamped_cells(), 0, "{name}: suggested bounds hold all rows");
            let batch = encoder.decode(&rows, None, &mut random()).unwrap();
            let back = Table::from_batches("t", &batch.schema(), &[batch]).unwrap();
            let (_, again) = encode(&kept, &settings, &back);
            if settings == BINNED {
                assert_eq!(again.codes, rows.codes, "{name}");
            } else {
                compare_cells(name, &schema, &table, &back);
            }
        }
    }
}

/// On scalars, every cell of a used column comes back: exactly unless it is a real number without fixed decimals.
fn compare_cells(name: &str, schema: &Schema, table: &Table, back: &Table) {
    for (_, column) in schema.used_columns() {
        let format = crate::data::value::TemporalFormat::new(column.kind, column.format.as_deref());
        let (from, to) = (
            table.position(&column.name).unwrap(),
            back.position(&column.name).unwrap(),
        );
        for row in (0..table.rows()).step_by(1 + table.rows() / 2000) {
            let (cell, again) = (table.cell(row, from).unwrap(), back.cell(row, to).unwrap());
            let Some(cell) = cell.filter(|cell| !schema.is_missing(cell)) else {
                assert_eq!(again, None, "{name} {} {row}", column.name);
                continue;
            };
            let again = again.unwrap_or_default();
            let same = match column.kind {
                Kind::Boolean => (cell == column.boolean_spellings().1).to_string() == again,
                Kind::Integer | Kind::Continuous => {
                    let (cell, again): (f64, f64) = (cell.parse().unwrap(), again.parse().unwrap());
                    let range = column.upper.as_ref().unwrap().as_f64().unwrap()
                        - column.lower.as_ref().unwrap().as_f64().unwrap();
                    let is_exact = column.kind == Kind::Integer || column.decimals.is_some();
                    let off = (cell - again).abs();
                    if is_exact { off <= 0.0 } else { off <= 1e-6 * range }
                }
                kind if kind.is_temporal() => {
                    format.as_ref().unwrap().parse(&cell) == crate::data::value::parse_iso(kind, &again)
                }
                _ => cell == again,
            };
            assert!(same, "{name}, {}, row {row}: {cell} became {again}", column.name);
        }
    }
}
