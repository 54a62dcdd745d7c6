//! "New version of …?": a changed file is asked about before anything is spent on it.

mod support;

use serde_json::Value;
use support::{Bench, schema, text, visits_csv};

/// A short run on the table, with these words more.
fn arguments<'a>(input: &'a str, out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec![
        "synthesize",
        input,
        "--method",
        "dpgan",
        "--rows",
        "5",
        "--out",
        out,
    ];
    arguments.extend(["--epsilon", "1", "--delta", "1e-5", "--steps", "5", "--force"]);
    arguments.extend(more);
    arguments
}

fn entries(bench: &Bench) -> Vec<Value> {
    bench.json(&["ledger", "list"])["entries"]
        .as_array()
        .unwrap()
        .clone()
}

#[test]
fn a_changed_file_is_asked_about_and_continues_its_budget() {
    let bench = Bench::new();
    let input = bench.visits(400);
    let (input, out) = (text(&input), bench.path("out.csv"));
    let out = text(&out);
    let run = |more: &[&str]| bench.json(&arguments(input, out, more));
    run(&[]);
    run(&[]);
    assert_eq!(entries(&bench).len(), 2, "the same content is not asked about");

    // Rows came in under the same name.
    bench.visits(500);
    let said = bench.fails(1, &arguments(input, out, &[]));
    for part in [
        "visits.csv",
        "--version-of 1",
        "--version-of none",
        "nothing was spent",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(entries(&bench).len(), 2, "nothing was spent");
    // What makes no promise spends nothing, so nothing has to be known.
    let plain = [
        "synthesize",
        input,
        "--method",
        "gan",
        "--rows",
        "5",
        "--out",
        out,
        "--steps",
        "2",
        "--force",
    ];
    assert!(bench.run(&plain).status.success());

    let wrong = bench.fails(2, &arguments(input, out, &["--version-of", "nobody.csv"]));
    assert!(wrong.contains("nobody.csv"), "{wrong}");
    let wrong = bench.fails(1, &arguments(input, out, &["--version-of", "9"]));
    assert!(wrong.contains("number 9"), "{wrong}");
    assert_eq!(entries(&bench).len(), 2);

    run(&["--version-of", "visits.csv"]);
    let known = entries(&bench);
    assert_eq!(known.len(), 4, "a version and a run: {known:?}");
    assert_eq!(known[2]["status"], "new_version");
    assert!(known.iter().all(|entry| entry["dataset"] == 1), "{known:?}");
    // Said once, it is known; saying it again does no harm.
    run(&[]);
    run(&["--version-of", "1"]);
    assert_eq!(entries(&bench).len(), 6);

    bench.visits(600);
    run(&["--version-of", "none"]);
    assert_eq!(entries(&bench)[6]["dataset"], 2);
    run(&[]);
    let shown = bench.json(&["ledger", "show"]);
    let jobs: Vec<_> = shown["data_sets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|dataset| dataset["budget"]["jobs"].as_u64().unwrap())
        .collect();
    assert_eq!(jobs, [5, 2]);
}

#[test]
fn teaching_data_is_asked_about_only_under_a_total() {
    let bench = Bench::new();
    let public = |rows: usize| {
        let input = bench.write("visits.csv", visits_csv(rows));
        let marked = schema(rows).replacen("version = 1", "version = 1\npublic = true", 1);
        bench.write("visits.schema.toml", marked);
        input
    };
    let input = public(300);
    let out = bench.path("out.csv");
    let run = arguments(text(&input), text(&out), &[]);
    bench.json(&run);
    public(310);
    bench.json(&run);
    let total = [
        "ledger",
        "set-total",
        text(&input),
        "--epsilon",
        "50",
        "--delta",
        "1e-4",
    ];
    bench.json(&[&total[..], &["--reason", "a course"]].concat());
    public(320);
    let said = bench.fails(1, &run);
    assert!(said.contains("--version-of"), "{said}");
}
