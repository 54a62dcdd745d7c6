//! Persons as the unit of privacy, from the schema's keys to the verified certificate.

mod support;

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;
use support::{Bench, text};

const PERSONS: usize = 600;

/// Visits of persons with one to five rows each, and a few that nobody is named for.
fn visits(bench: &Bench, unit: &str) -> std::path::PathBuf {
    let mut csv = String::from("patient,age,outcome\n");
    for person in 0..PERSONS {
        for visit in 0..=person % 5 {
            let age = 20 + (person * 7 + visit) % 60;
            let outcome = if age > 50 { "ill" } else { "well" };
            writeln!(csv, "p{person},{age},{outcome}").unwrap();
        }
    }
    csv.push_str(",33,well\n");
    let schema = format!(
        r#"version = 1
label = "outcome"
unit = {unit}

[[column]]
name = "patient"
kind = "identifier"

[[column]]
name = "age"
kind = "integer"
lower = 18
upper = 90
provenance = "declared"

[[column]]
name = "outcome"
kind = "categorical"
domain = ["well", "ill"]
provenance = "declared"
"#
    );
    bench.write("visits.schema.toml", schema);
    bench.write("visits.csv", csv)
}

fn synthesize(bench: &Bench, input: &std::path::Path, method: &str, out: &std::path::Path) -> Value {
    bench.json(&[
        "synthesize",
        text(input),
        "--method",
        method,
        "--rows",
        "200",
        "--out",
        text(out),
        "--steps",
        "40",
        "--epsilon",
        "2",
        "--delta",
        "1e-5",
    ])
}

fn certificate(result: &Value) -> Value {
    serde_json::from_str(&fs::read_to_string(result["certificate"].as_str().unwrap()).unwrap()).unwrap()
}

fn is_named(certificate: &Value, what: &str) -> bool {
    let list = certificate["not_protected"].as_array().unwrap();
    list.iter().any(|item| item["what"] == what)
}

#[test]
fn the_certificate_names_the_person_and_verifies() {
    let bench = Bench::new();
    let input = visits(&bench, r#"{ column = "patient", max_rows = 3 }"#);
    for method in ["dpgan", "gem"] {
        let out = bench.path(&format!("{method}.csv"));
        let result = synthesize(&bench, &input, method, &out);
        let table = fs::read_to_string(&out).unwrap();
        assert_eq!(
            table.lines().next(),
            Some("age,outcome"),
            "persons are never made up"
        );
        let certificate = certificate(&result);
        assert_eq!(
            certificate["verdict"]["claim"], "differentially_private",
            "{certificate}"
        );
        assert_eq!(
            certificate["unit"]["column"], "patient",
            "{}",
            certificate["unit"]
        );
        assert_eq!(certificate["unit"]["max_rows"], 3);
        assert_eq!(certificate["domain"]["dropped"], serde_json::json!(["patient"]));
        // The rate of a critic's steps tells the number of persons; counts under noise do not.
        assert_eq!(
            is_named(&certificate, "person_count"),
            method == "dpgan",
            "{certificate}"
        );
        assert!(!is_named(&certificate, "row_count"));
        if method == "dpgan" {
            let events = certificate["events"]["events"].as_array().unwrap();
            let rate = events
                .iter()
                .find_map(|event| event["sampling_rate"].as_f64())
                .unwrap();
            assert_eq!(rate, 512.0 / PERSONS as f64, "each person enters by one coin");
        }
        let path = result["certificate"].as_str().unwrap();
        let verified = bench.json(&["verify", path, "--data", text(&out)]);
        assert_eq!(verified["verified"], true, "{verified}");
        let page = fs::read_to_string(path.replace(".json", ".html")).unwrap_or_default();
        assert!(page.is_empty() || page.contains("patient"), "{page}");
    }
    let entries = bench.json(&["ledger", "list"]);
    for entry in entries["entries"].as_array().unwrap() {
        assert_eq!(entry["unit"]["max_rows"], 3, "{entry}");
    }
}

#[test]
fn a_public_number_of_persons_has_to_be_the_tables_and_is_then_protected_no_more_than_declared() {
    let bench = Bench::new();
    let unit = |persons: usize| {
        format!(
            r#"{{ column = "patient", max_rows = 2, persons = {{ value = {persons}, provenance = "declared" }} }}"#
        )
    };
    let wrong = visits(&bench, &unit(PERSONS + 1));
    let said = bench.fails(
        1,
        &[
            "synthesize",
            text(&wrong),
            "--method",
            "dpgan",
            "--rows",
            "5",
            "--out",
            text(&bench.path("wrong.csv")),
            "--epsilon",
            "1",
            "--delta",
            "1e-5",
        ],
    );
    assert!(said.contains("patient") && said.contains("persons"), "{said}");
    let input = visits(&bench, &unit(PERSONS));
    let result = synthesize(&bench, &input, "dpgan", &bench.path("right.csv"));
    let certificate = certificate(&result);
    assert_eq!(certificate["relation"], "zero_out_one");
    assert_eq!(certificate["domain"]["persons"], "declared");
    assert!(!is_named(&certificate, "person_count"));
}

#[test]
fn the_number_of_persons_can_be_bought_for_the_schema() {
    let bench = Bench::new();
    let input = visits(&bench, r#"{ column = "patient", max_rows = 2 }"#);
    let ask = [
        "release",
        text(&input),
        "--query",
        "count",
        "--column",
        "patient",
        "--epsilon",
        "1",
    ];
    let bought = bench.json(&ask);
    let value = bought["value"].as_i64().unwrap();
    // Discrete Laplace noise of scale 1 is 15 or more with probability 1e-6 at most.
    assert!(value.abs_diff(PERSONS as i64) < 15, "{bought}");
    assert_eq!(bought["bought"], true, "{bought}");
    let schema = fs::read_to_string(bench.path("visits.schema.toml")).unwrap();
    let schema: toml::Table = toml::from_str(&schema).unwrap();
    let persons = &schema["unit"]["persons"];
    assert_eq!(persons["value"].as_integer(), Some(value));
    assert_eq!(persons["provenance"].as_str(), Some("bought"));
    let entries = bench.json(&["ledger", "show"]);
    assert_eq!(entries["entries"][0]["epsilon"], 1.0);
    // A run under it names its source, and no longer says that the number is told.
    let result = synthesize(&bench, &input, "dpgan", &bench.path("out.csv"));
    let certificate = certificate(&result);
    assert_eq!(certificate["relation"], "add_remove_one");
    assert_eq!(certificate["domain"]["persons"], "bought");
    assert!(!is_named(&certificate, "person_count"));
    let said = bench.fails(1, &[&ask[..], &["--by", "outcome"]].concat());
    assert!(said.contains("leave out --by"), "{said}");
}
