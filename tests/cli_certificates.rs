//! What the certificates of real runs say: relation, row count, looking, versions, and the published schema.

#[path = "support/json_schema.rs"]
mod json_schema;
mod support;

use std::fs;

use json_schema::check_schema;
use serde_json::Value;
use support::{Bench, schema, text};

const ROWS: usize = 2000;

/// The certificate of a short run under this schema.
fn certificate(bench: &Bench, schema: &str, more: &[&str]) -> Value {
    let input = bench.visits(ROWS);
    bench.write("visits.schema.toml", schema);
    let out = bench.path("out.csv");
    let mut arguments = vec![
        "synthesize",
        text(&input),
        "--method",
        "dpgan",
        "--rows",
        "20",
        "--out",
    ];
    arguments.extend([
        text(&out),
        "--force",
        "--epsilon",
        "2",
        "--delta",
        "1e-5",
        "--steps",
        "20",
    ]);
    arguments.extend(more);
    let result = bench.json(&arguments);
    let path = result["certificate"].as_str().unwrap();
    let verified = bench.json(&["verify", path, "--data", text(&out)]);
    assert_eq!(verified["verified"], true, "{verified}");
    assert_eq!(verified["epsilon"], result["epsilon"]);
    let certificate: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let published = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/assets/schemas/certificate-2.schema.json"
    );
    let published: Value = serde_json::from_str(&fs::read_to_string(published).unwrap()).unwrap();
    check_schema(&certificate, &published, &published, "").unwrap();
    certificate
}

fn listed(certificate: &Value, list: &str) -> Vec<String> {
    let items = certificate[list].as_array().unwrap().iter();
    items
        .map(|item| item["what"].as_str().or(item.as_str()).unwrap().to_owned())
        .collect()
}

/// q of the critic's steps, times this many rows.
fn expected_batch(certificate: &Value, rows: f64) -> f64 {
    let events = certificate["events"]["events"].as_array().unwrap();
    let step = events
        .iter()
        .find(|event| event["type"] == "poisson_sampled_gaussian")
        .unwrap();
    step["sampling_rate"].as_f64().unwrap() * rows
}

/// Two numbers of rows are told apart by which of them makes the expected batch whole.
fn is_whole(number: f64) -> bool {
    (number - number.round()).abs() < 1e-9
}

#[test]
fn the_row_counts_provenance_decides_relation_and_sampling_rate() {
    let bench = Bench::new();
    let declared = schema(ROWS);
    let known = certificate(&bench, &declared, &[]);
    assert_eq!(known["relation"], "zero_out_one");
    assert_eq!(known["domain"]["rows"], "declared");
    assert_eq!(listed(&known, "not_protected"), ["floating_point_noise"]);

    let start = declared.find("[rows]").unwrap();
    let end = declared.find("[[column]]").unwrap();
    let private = format!("{}{}", &declared[..start], &declared[end..]);
    let unprotected = certificate(&bench, &private, &[]);
    assert_eq!(unprotected["relation"], "add_remove_one");
    assert_eq!(
        listed(&unprotected, "not_protected"),
        ["row_count", "floating_point_noise"]
    );
    assert!(is_whole(expected_batch(&unprotected, ROWS as f64)));

    // A bought count is off by its noise; nothing that leaves may tell the true one.
    let bought = schema(2011).replacen("provenance = \"declared\"", "provenance = \"bought\"", 1);
    let paid = certificate(&bench, &bought, &[]);
    assert_eq!(paid["relation"], "add_remove_one");
    assert_eq!(paid["domain"]["rows"], "bought");
    assert_eq!(listed(&paid, "not_protected"), ["floating_point_noise"]);
    assert!(is_whole(expected_batch(&paid, 2011.0)));
    assert!(!is_whole(expected_batch(&paid, ROWS as f64)));

    let replace = certificate(&bench, &declared, &["--relation", "replace"]);
    assert_eq!(replace["relation"], "replace_one");
    // A declared count that is wrong is an error, not a bought one.
    bench.write("visits.schema.toml", schema(2011));
    let out = bench.path("never.csv");
    let said = bench.fails(
        1,
        &[
            "synthesize",
            text(&bench.path("visits.csv")),
            "--method",
            "dpgan",
            "--rows",
            "5",
            "--out",
            text(&out),
            "--epsilon",
            "1",
            "--delta",
            "1e-5",
        ],
    );
    assert!(said.contains("2011") && said.contains("rows"), "{said}");
}

#[test]
fn looking_is_listed_when_private_figures_were_shown_and_only_then() {
    let bench = Bench::new();
    let unseen = certificate(&bench, &schema(ROWS), &[]);
    assert_eq!(listed(&unseen, "not_accounted"), [""; 0]);
    // Numbers outside the bounds are counted in a warning: a figure read off private rows.
    let narrow = schema(ROWS).replacen("upper = 90", "upper = 60", 1);
    let seen = certificate(&bench, &narrow, &[]);
    assert_eq!(listed(&seen, "not_accounted"), ["looking"]);
}

#[test]
fn a_certificate_holds_all_that_makes_it_checkable() {
    let bench = Bench::new();
    let certificate = certificate(&bench, &schema(ROWS), &[]);
    let guarantee = &certificate["guarantee"];
    assert_eq!(guarantee["accountant"], "pld");
    assert!(guarantee["profile"].as_array().unwrap().len() > 10);
    let charged = certificate["spending"]["spent"]["epsilon"].as_f64().unwrap();
    assert!(guarantee["epsilon"].as_f64().unwrap() <= charged && charged <= 2.0);
    assert_eq!(
        (&certificate["version"], &certificate["records"]),
        (&2.into(), &"rows".into())
    );
    let odds = &certificate["odds"];
    for rate in ["advantage", "tpr_at_fpr_1_percent", "tpr_at_fpr_0_1_percent"] {
        let value = odds[rate].as_f64().unwrap();
        assert!(value > 0.0 && value < 1.0, "{rate}: {odds}");
    }
    assert!(
        odds["sentence"]
            .as_str()
            .unwrap()
            .contains("one row is in the data")
    );
    assert_eq!(certificate["sampling"], "poisson");
    assert_eq!(
        certificate["noise"],
        serde_json::json!(["floating_point_gaussian"])
    );
    assert_eq!(certificate["random_source"], "operating_system");
    assert_eq!(certificate["stop"], "planned");
    assert_eq!(
        certificate["spending"]["scope"],
        "spends known to this installation"
    );
    let software: Vec<_> = certificate["software"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| (part["name"].as_str().unwrap(), part["version"].as_str().unwrap()))
        .collect();
    assert_eq!(software[0], ("pointillist", env!("CARGO_PKG_VERSION")));
    for name in ["burn", "rand_chacha"] {
        let (_, version) = software.iter().find(|part| part.0 == name).unwrap();
        assert!(version.split('.').count() >= 3, "{name} {version}");
    }
}

#[test]
fn papers_in_the_way_are_told_before_anything_is_spent() {
    let bench = Bench::new();
    let input = bench.visits(ROWS);
    let paper = bench.write("out.csv.certificate.json", "somebody's");
    let said = bench.fails(
        1,
        &[
            "synthesize",
            text(&input),
            "--method",
            "dpgan",
            "--rows",
            "5",
            "--out",
            text(&bench.path("out.csv")),
            "--epsilon",
            "1",
            "--delta",
            "1e-5",
        ],
    );
    assert!(
        said.contains("certificate.json") && said.contains("--force"),
        "{said}"
    );
    assert_eq!(fs::read_to_string(paper).unwrap(), "somebody's");
    let listed = bench.json(&["ledger", "list"]);
    assert_eq!(listed["entries"].as_array().unwrap().len(), 0);
}

#[test]
fn a_file_with_its_tables_own_delimiter_is_held_against_its_certificate() {
    let bench = Bench::new();
    let input = bench.write("visits.csv", support::visits_csv(ROWS).replace(',', ";"));
    let form = "\n[read]\ndelimiter = \";\"\nprovenance = \"declared\"\n";
    bench.write("visits.schema.toml", schema(ROWS) + form);
    let out = bench.path("out.csv");
    let arguments = [
        "synthesize",
        text(&input),
        "--method",
        "dpgan",
        "--rows",
        "20",
        "--steps",
        "5",
    ];
    let promise = ["--epsilon", "2", "--delta", "1e-5", "--out", text(&out)];
    let result = bench.json(&[&arguments[..], &promise].concat());
    let written = fs::read_to_string(&out).unwrap();
    assert!(written.starts_with("age;ward;smoker;outcome\n"), "{written}");
    let certificate = result["certificate"].as_str().unwrap();
    let verified = bench.json(&["verify", certificate, "--data", text(&out)]);
    assert_eq!(verified["verified"], true, "{verified}");
}
