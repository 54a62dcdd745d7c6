//! Profiles of made-up columns and of the real tables.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Date32Array, Float64Array, Int64Array, Time64MicrosecondArray, TimestampMicrosecondArray,
};
use arrow::record_batch::RecordBatch;
use proptest::prelude::*;

use super::*;
use crate::data::{Bound, EncoderSettings, NumericCode, ReadOptions, RowEncoder, Scale, read_table};

fn profile_of(text: &str) -> Profile {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, text).unwrap();
    let table = read_table(&path, &ReadOptions::default(), &Progress::new()).unwrap();
    profile(&table, &Progress::new()).unwrap()
}

/// A table of one column (and a counter, so that empty cells are no empty lines).
fn column_of<T: ToString>(cells: impl IntoIterator<Item = T>) -> (Column, Vec<WarningKind>) {
    let rows = cells.into_iter().map(|cell| format!("{},0\n", cell.to_string()));
    let mut profile = profile_of(&rows.fold("c,other\n".to_owned(), |text, row| text + &row));
    let warnings = profile
        .warnings
        .iter()
        .filter(|warning| warning.column.as_deref() == Some("c"));
    (
        profile.schema.column.remove(0),
        warnings.map(|warning| warning.what.clone()).collect(),
    )
}

fn ends(column: &Column) -> (String, String) {
    let text = |bound: &Option<Bound>| bound.as_ref().map_or_else(String::new, Bound::to_string);
    (text(&column.lower), text(&column.upper))
}

#[test]
fn kinds_are_told_apart() {
    let many = |text: fn(usize) -> String| column_of((0..400).map(text)).0;
    let codes = many(|row| (row % 5).to_string());
    assert_eq!(
        (codes.kind, ends(&codes)),
        (Kind::Integer, ("0".into(), "4".into()))
    );
    let flags = many(|row| (row % 2).to_string());
    assert_eq!(
        (flags.kind, flags.domain.unwrap()),
        (Kind::Boolean, vec!["0".to_owned(), "1".to_owned()])
    );
    let classes = many(|row| [10, 200, 3000][row % 3].to_string());
    assert_eq!(
        (classes.kind, classes.domain.unwrap()),
        (Kind::Categorical, vec!["10".into(), "200".into(), "3000".into()])
    );
    let whole = many(|row| format!("{}.0", 40 + row % 77));
    assert_eq!(
        (whole.kind, ends(&whole)),
        (Kind::Integer, ("40".into(), "120".into()))
    );
    let tenths = many(|row| format!("{:.1}", (row % 100) as f64 / 10.0));
    assert_eq!((tenths.kind, tenths.decimals), (Kind::Continuous, Some(1)));
    let zips = many(|row| format!("0{}", 1000 + row % 50));
    assert_eq!(zips.kind, Kind::Categorical, "leading zeros make a code");
    let words = many(|row| ["red", "green"][row % 2].to_owned());
    assert_eq!(
        (words.kind, words.domain.unwrap()),
        (Kind::Categorical, vec!["green".to_owned(), "red".to_owned()])
    );
    let days = many(|row| format!("2019-{:02}-{:02}", 1 + row % 12, 1 + row % 28));
    assert_eq!(
        (days.kind, ends(&days)),
        (Kind::Date, ("2019-01-01".into(), "2019-12-31".into()))
    );
    let compact = many(|row| format!("2019{:02}{:02}", 1 + row % 12, 1 + row % 28));
    assert_eq!(
        (compact.kind, compact.format.as_deref()),
        (Kind::Date, Some("%Y%m%d"))
    );
    let yes = many(|_| "Yes".to_owned());
    assert_eq!(
        (yes.kind, yes.domain.unwrap()),
        (Kind::Boolean, vec!["No".to_owned(), "Yes".to_owned()])
    );
}

#[test]
fn everything_is_a_suggestion() {
    let profile = profile_of("a,b,c,d\n1,x,true,2019-01-01\n2,y,false,2019-01-02\n");
    for column in &profile.schema.column {
        assert_eq!(column.provenance, Some(Provenance::Suggested), "{}", column.name);
    }
    assert_eq!(profile.schema.open_columns().len(), 4);
    assert_eq!(profile.schema.rows, None, "the number of rows is private");
}

#[test]
fn skewed_columns_get_a_log_scale_from_zero() {
    let gain = column_of((0..1000).map(|row| if row % 10 == 0 { 100 * row + 50 } else { 0 })).0;
    assert_eq!((gain.scale, gain.lower), (Scale::Log, Some(Bound::Integer(0))));
    let even = column_of(0..1000).0;
    assert_eq!(even.scale, Scale::Linear);
}

#[test]
fn missing_spellings_are_found_and_the_most_frequent_leads() {
    let profile = profile_of("n,w\n1,none\nNA,a\n3,b\n-,none\nNA,b\n");
    assert_eq!(profile.schema.missing, ["NA", "-", ""]);
    assert_eq!(profile.columns[0].missing, 3);
    assert_eq!(profile.schema.column[0].kind, Kind::Integer);
    assert!(
        profile.schema.column[1]
            .domain
            .as_ref()
            .unwrap()
            .contains(&"none".to_owned())
    );
    let spaced = profile_of("n,w\n1,\n2,\n?,x\n");
    assert_eq!(spaced.schema.missing, ["", "?"]);
}

#[test]
fn identifiers_are_proposed_for_dropping() {
    let reason = |cells: fn(usize) -> String| {
        let (column, warnings) = column_of((0..200).map(cells));
        match warnings.first() {
            Some(WarningKind::LikelyIdentifier { reason }) => {
                assert_eq!((column.kind, column.provenance), (Kind::Identifier, None));
                Some(*reason)
            }
            _ => None,
        }
    };
    assert_eq!(
        reason(|row| (row + 1).to_string()),
        Some(IdentifierReason::RecordNumber)
    );
    assert_eq!(
        reason(|row| format!("ZY{}", 100_000 + row)),
        Some(IdentifierReason::Unique)
    );
    assert_eq!(
        reason(|row| format!("u{row}@mail.example.org")),
        Some(IdentifierReason::Email)
    );
    assert_eq!(
        reason(|row| format!("+49 30 {}", 1_000_000 + row)),
        Some(IdentifierReason::Phone)
    );
    assert_eq!(
        reason(|row| format!("138{:08}", row * 7919)),
        Some(IdentifierReason::Phone)
    );
    assert_eq!(
        reason(|row| format!("10.0.{}.{}", row / 100, row % 100)),
        Some(IdentifierReason::Key)
    );
    assert_eq!(
        reason(|row| format!("{:.3}", row as f64 * 1.7)),
        None,
        "a measurement may differ in every row"
    );
    assert_eq!(reason(|row| (row * row % 907 + 20).to_string()), None);
}

#[test]
fn text_is_dropped_and_said_so() {
    let long = column_of((0..300).map(|row| {
        format!(
            "patient {} came in with a cough and a temperature of {row}",
            row % 250
        )
    }));
    assert_eq!((long.0.kind, long.1), (Kind::Text, vec![WarningKind::FreeText]));
    let towns = column_of((0..400).map(|row| format!("town {}", row % 90)));
    assert_eq!(
        (towns.0.kind, towns.1),
        (Kind::Text, vec![WarningKind::ManyValues { distinct: 90 }])
    );
    let empty = column_of((0..30).map(|_| ""));
    assert_eq!(
        (empty.0.kind, empty.1),
        (Kind::Text, vec![WarningKind::AllMissing])
    );
}

#[test]
fn summaries_count() {
    let profile = profile_of("n,w\n1,a\n2,b\n3,b\n,\n");
    let numbers = profile.columns[0].numbers.as_ref().unwrap();
    assert_eq!((numbers.min, numbers.max, numbers.mean), (1.0, 3.0, 2.0));
    assert_eq!(
        (numbers.quartiles[1], numbers.histogram.iter().sum::<u64>()),
        (2.0, 3)
    );
    let words = &profile.columns[1];
    assert_eq!((words.present, words.missing, words.distinct), (3, 1, 2));
    assert_eq!(
        words.values[0],
        ValueCount {
            value: "b".into(),
            count: 2
        }
    );
    let json = serde_json::to_value(&profile).unwrap();
    assert_eq!(json["warnings"][0]["warning"], "few_rows");
    assert_eq!(json["schema"]["column"][0]["provenance"], "suggested");
}

#[test]
fn a_kind_chosen_by_hand_is_filled_from_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "id,w\n1,a\n2,b\n3,a\n").unwrap();
    let table = read_table(&path, &ReadOptions::default(), &Progress::new()).unwrap();
    let schema = profile(&table, &Progress::new()).unwrap().schema;
    let column = suggest_column(&table, &schema, "id", Kind::Categorical).unwrap();
    assert_eq!(
        (column.domain.unwrap().len(), column.provenance),
        (3, Some(Provenance::Suggested))
    );
    let words = suggest_column(&table, &schema, "w", Kind::Integer).unwrap();
    assert_eq!(
        (words.lower, words.provenance),
        (None, None),
        "words have no bounds"
    );
    assert!(suggest_column(&table, &schema, "x", Kind::Integer).is_err());
    let progress = Progress::new();
    progress.cancel();
    assert!(profile(&table, &progress).unwrap_err().is_cancelled());
}

/// Column kinds of a real table, by name.
fn real(name: &str) -> Option<Profile> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../shared/data/tabular")
        .join(name);
    if !path.is_file() {
        println!("skipped: {} is not at hand", path.display());
        return None;
    }
    let table = read_table(&path, &ReadOptions::default(), &Progress::new()).unwrap();
    Some(profile(&table, &Progress::new()).unwrap())
}

fn kinds(profile: &Profile, kind: Kind) -> Vec<&str> {
    profile
        .schema
        .column
        .iter()
        .filter(|column| column.kind == kind)
        .map(|column| column.name.as_str())
        .collect()
}

#[test]
fn the_real_tables_are_read_as_a_person_would() {
    if let Some(adult) = real("adult.csv") {
        assert_eq!(kinds(&adult, Kind::Identifier), [""; 0]);
        assert_eq!(kinds(&adult, Kind::Text), [""; 0]);
        assert_eq!(kinds(&adult, Kind::Integer).len(), 6);
        for name in ["capital_gain", "capital_loss"] {
            assert_eq!(adult.schema.find(name).unwrap().scale, Scale::Log, "{name}");
        }
        assert_eq!(
            ends(adult.schema.find("education_num").unwrap()),
            ("1".into(), "16".into())
        );
    }
    if let Some(patients) = real("fake_patients_zh.csv") {
        assert_eq!(
            kinds(&patients, Kind::Identifier),
            [
                "住院号",
                "姓名",
                "身份证号",
                "手机号",
                "住址",
                "邮箱",
                "工作单位",
                "银行卡号"
            ]
        );
        assert_eq!(kinds(&patients, Kind::Date), ["出生日期"]);
    }
    if let Some(heart) = real("heart_disease_uci.csv") {
        assert_eq!(kinds(&heart, Kind::Identifier), ["id"]);
        assert_eq!(kinds(&heart, Kind::Boolean), ["fbs", "exang"]);
        assert_eq!(heart.schema.find("oldpeak").unwrap().decimals, Some(1));
        assert_eq!(heart.schema.find("diagnosis").unwrap().kind, Kind::Integer);
    }
    if let Some(nhanes) = real("nhanes_2017_2018.csv") {
        assert_eq!(kinds(&nhanes, Kind::Identifier), ["participant_id"]);
        assert_eq!(kinds(&nhanes, Kind::Text), [""; 0]);
        assert_eq!(
            nhanes.schema.find("household_income").unwrap().kind,
            Kind::Categorical
        );
    }
    if let Some(german) = real("german_credit.csv") {
        assert_eq!(kinds(&german, Kind::Identifier), [""; 0]);
        assert_eq!(kinds(&german, Kind::Text), [""; 0]);
    }
    if let Some(people) = real("fake_identities_en.csv") {
        let dropped = kinds(&people, Kind::Identifier);
        for name in [
            "Number",
            "GivenName",
            "Surname",
            "StreetAddress",
            "EmailAddress",
            "TelephoneNumber",
            "NationalID",
        ] {
            assert!(dropped.contains(&name), "{name} {dropped:?}");
        }
        assert_eq!(
            people.schema.find("Birthday").unwrap().format.as_deref(),
            Some("%-m/%-d/%Y")
        );
    }
    if let Some(census) = real("pseudopeople_census_2020.csv") {
        let dropped: Vec<_> = census
            .schema
            .dropped_columns()
            .map(|column| column.name.as_str())
            .collect();
        for name in [
            "simulant_id",
            "household_id",
            "first_name",
            "last_name",
            "street_name",
        ] {
            assert!(dropped.contains(&name), "{name} {dropped:?}");
        }
    }
}

/// A table of one typed column.
fn typed(array: ArrayRef) -> Table {
    let batch = RecordBatch::try_from_iter([("c", array)]).unwrap();
    Table::from_batches("t", &batch.schema(), &[batch]).unwrap()
}

#[test]
fn infinite_numbers_and_impossible_dates_are_counted() {
    let said = |array: ArrayRef| {
        let profile = profile(&typed(array), &Progress::new()).unwrap();
        let warnings = profile.warnings.iter();
        let own = warnings.filter(|warning| warning.column.is_some());
        let own: Vec<_> = own.map(|warning| warning.what.clone()).collect();
        (profile.schema.column[0].clone(), own)
    };
    let mut numbers: Vec<f64> = (0..600).map(|row| f64::from(row) / 7.0).collect();
    let (_, none) = said(Arc::new(Float64Array::from(numbers.clone())));
    assert!(none.is_empty(), "{none:?}");
    numbers.extend([f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::NAN]);
    let (column, warnings) = said(Arc::new(Float64Array::from(numbers)));
    assert_eq!(warnings, [WarningKind::Infinite { count: 3 }]);
    assert_eq!(ends(&column), ("0".into(), "90".into()));
    assert!(warnings[0].is_loss() && warnings[0].to_string().contains("infinite cells: 3"));

    let days: Vec<i32> = (0..600).chain([i32::MIN, i32::MAX, 2_932_897]).collect();
    let (column, warnings) = said(Arc::new(Date32Array::from(days)));
    assert_eq!(warnings, [WarningKind::BeyondCalendar { count: 3 }]);
    assert_eq!(ends(&column), ("0000-01-01".into(), "9999-12-31".into()));
    let (_, warnings) = said(Arc::new(Time64MicrosecondArray::from(vec![
        0,
        -1,
        86_400_000_000,
    ])));
    assert!(
        warnings.contains(&WarningKind::BeyondCalendar { count: 2 }),
        "{warnings:?}"
    );

    let (column, warnings) = said(Arc::new(Float64Array::from(vec![f64::MIN, 0.5, f64::MAX])));
    assert!(warnings.contains(&WarningKind::NoBounds), "{warnings:?}");
    assert_eq!(ends(&column), (String::new(), String::new()));
}

/// Numbers of every size, the ends of what doubles hold among them.
fn odd_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        prop::num::f64::ANY,
        prop::num::f64::SUBNORMAL,
        -1e4..1e4_f64,
        (-9_007_199_254_740_993_i64..9_007_199_254_740_993).prop_map(|value| value as f64),
        prop::sample::select(vec![
            5e-324,
            -5e-324,
            f64::MAX,
            f64::MIN,
            f64::MIN_POSITIVE,
            0.0,
            1e15,
            1e-15
        ]),
    ]
}

fn odd_column() -> impl Strategy<Value = ArrayRef> {
    let rows = 1..60_usize;
    let whole = || {
        prop_oneof![
            any::<i64>(),
            -1000..1000_i64,
            -1_000_000_000_000_000..1_000_000_000_000_000_i64
        ]
    };
    prop_oneof![
        prop::collection::vec(odd_number(), rows.clone())
            .prop_map(|cells| Arc::new(Float64Array::from(cells)) as ArrayRef),
        prop::collection::vec(odd_number(), 1..3_usize)
            .prop_map(|cells| Arc::new(Float64Array::from(cells.repeat(30))) as ArrayRef),
        prop::collection::vec(whole(), rows.clone())
            .prop_map(|cells| Arc::new(Int64Array::from(cells)) as ArrayRef),
        prop::collection::vec(any::<i32>(), rows.clone())
            .prop_map(|cells| Arc::new(Date32Array::from(cells)) as ArrayRef),
        prop::collection::vec(whole(), rows.clone())
            .prop_map(|cells| Arc::new(TimestampMicrosecondArray::from(cells)) as ArrayRef),
        prop::collection::vec(whole(), rows)
            .prop_map(|cells| Arc::new(Time64MicrosecondArray::from(cells)) as ArrayRef),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Whatever the values, what is suggested is a schema that can be used as it is.
    #[test]
    fn suggestions_are_what_a_schema_takes(array in odd_column()) {
        let table = typed(array);
        let found = profile(&table, &Progress::new()).unwrap();
        let mut columns = found.schema.column.clone();
        for kind in [
            Kind::Continuous,
            Kind::Integer,
            Kind::Date,
            Kind::Time,
            Kind::Datetime,
            Kind::Categorical,
            Kind::Boolean,
        ] {
            columns.push(suggest_column(&table, &found.schema, "c", kind).unwrap());
        }
        for column in columns {
            let mut schema = Schema::new(vec![column]);
            prop_assert!(schema.validate().is_ok(), "{:?}: {:?}", schema.column, schema.validate());
            schema.accept_suggestions();
            let settings = EncoderSettings { numeric: NumericCode::AsDeclared };
            if schema.column[0].is_used() && schema.column[0].open_reason().is_none() {
                let encoder = RowEncoder::new(&schema, &settings);
                prop_assert!(encoder.is_ok(), "{:?}: {:?}", schema.column, encoder.err());
            }
        }
    }
}
