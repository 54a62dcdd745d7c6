//! Bad input on the command line: a clear message that names place and remedy, and nothing left behind.

mod support;

use std::fs;

use support::{Bench, text};

/// `synthesize` with this table and promise; the output is always `out.csv`.
fn attempt<'a>(bench: &Bench, input: &'a str, more: &[&'a str]) -> Vec<String> {
    let out = bench.path("out.csv");
    let mut arguments: Vec<String> = ["synthesize", input, "--method", "dpgan", "--rows", "10"]
        .map(String::from)
        .to_vec();
    arguments.extend(["--out".into(), text(&out).into()]);
    arguments.extend(more.iter().map(|&word| word.into()));
    arguments
}

fn fails(bench: &Bench, status: i32, input: &str, more: &[&str]) -> String {
    let arguments = attempt(bench, input, more);
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let said = bench.fails(status, &words);
    assert!(!bench.path("out.csv").exists(), "half a file was left");
    said
}

const PROMISE: [&str; 6] = ["--epsilon", "1", "--delta", "1e-5", "--steps", "20"];

/// Runs what [`attempt`] puts together, expects success, and gives what was said on standard error.
fn succeeds(bench: &Bench, input: &str, more: &[&str]) -> String {
    let arguments = attempt(bench, input, more);
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = bench.run(&words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    said
}

fn assert_nothing_spent(bench: &Bench) {
    let listed = bench.json(&["ledger", "list"]);
    assert_eq!(listed["entries"].as_array().unwrap().len(), 0, "{listed}");
}

#[test]
fn files_that_are_no_tables_name_themselves() {
    let bench = Bench::new();
    bench.visits(100);
    let cases: [(&str, &[u8], &str); 6] = [
        ("empty.csv", b"", "empty"),
        ("header.csv", b"age,ward,smoker,outcome\n", "row"),
        ("ragged.csv", b"age,ward\n1,north\n2,south,9\n", "3"),
        (
            "binary.csv",
            &[0x50, 0x4b, 0x03, 0x04, 0, 0, 0xff, 0xfe, 0x00, 0x01],
            "binary.csv",
        ),
        (
            "broken.parquet",
            b"PAR1 this is not a parquet file PAR1",
            "broken.parquet",
        ),
        ("twice.csv", b"age,age\n1,2\n", "age"),
    ];
    for (name, bytes, expected) in cases {
        let path = bench.write(name, bytes);
        let said = bench.fails(1, &["profile", text(&path)]);
        assert!(said.contains(expected) && said.contains(name), "{name}: {said}");
    }
    let said = bench.fails(1, &["profile", "missing.csv"]);
    assert!(said.contains("missing.csv"), "{said}");
    let said = bench.fails(1, &["profile", "."]);
    assert!(said.contains("folder"), "{said}");
    // They are no better for training, and nothing is spent or left.
    for name in [
        "empty.csv",
        "header.csv",
        "ragged.csv",
        "binary.csv",
        "broken.parquet",
        "missing.csv",
    ] {
        let said = fails(&bench, 1, name, &PROMISE);
        assert!(said.contains(name), "{said}");
    }
    assert_nothing_spent(&bench);
}

#[test]
fn a_parquet_file_cut_short_anywhere_is_damaged_and_no_worse() {
    let bench = Bench::new();
    let input = bench.visits(300);
    let whole = bench.path("whole.parquet");
    bench.json(&[
        "synthesize",
        text(&input),
        "--method",
        "gan",
        "--rows",
        "200",
        "--steps",
        "3",
        "--out",
        text(&whole),
    ]);
    let bytes = fs::read(&whole).unwrap();
    for share in [0.0, 0.3, 0.9, 0.999] {
        let cut = bench.write("cut.parquet", &bytes[..(bytes.len() as f64 * share) as usize]);
        let said = bench.fails(1, &["profile", text(&cut)]);
        assert!(said.contains("cut.parquet"), "{said}");
    }
    let mut flipped = bytes.clone();
    let end = flipped.len() - 30;
    flipped[end] ^= 0xff;
    let flipped = bench.write("flipped.parquet", flipped);
    let output = bench.run(&["profile", text(&flipped)]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn a_schema_that_does_not_fit_says_where() {
    let bench = Bench::new();
    let input = bench.visits(100);
    let input = text(&input);
    let schema = support::schema(100);
    let cases = [
        (schema.replace("name = \"ward\"", "name = \"wing\""), "ward"),
        (schema.replace("\"north\", ", ""), "north"),
        (schema.replace("lower = 18", "lower = 95"), "age"),
        (schema.replace("version = 1", "version = 99"), "99"),
        (
            schema.replace("kind = \"boolean\"", "kind = \"booleen\""),
            "booleen",
        ),
        (
            schema.replace("kind = \"boolean\"", "kind = \"boolean\"\ncolour = 3"),
            "colour",
        ),
        (schema.replace("missing = true", "missing = false"), "ward"),
        ("version = [".into(), "schema.toml"),
    ];
    for (text, expected) in cases {
        bench.write("visits.schema.toml", &text);
        let said = fails(&bench, 1, input, &PROMISE);
        assert!(said.contains(expected), "expected {expected}: {said}");
    }
    let dropped = schema
        .replace(
            "kind = \"integer\"\nlower = 18\nupper = 90",
            "kind = \"identifier\"",
        )
        .replace(
            "kind = \"categorical\"\ndomain = [\"north\", \"south\", \"east\", \"west\"]",
            "kind = \"identifier\"",
        )
        .replace("kind = \"boolean\"", "kind = \"identifier\"")
        .replace(
            "kind = \"categorical\"\ndomain = [\"well\", \"ill\"]",
            "kind = \"identifier\"",
        )
        .replace("label = \"outcome\"\n", "");
    bench.write("visits.schema.toml", dropped);
    let said = fails(&bench, 1, input, &PROMISE);
    assert!(said.contains("no column is left"), "{said}");
    assert_nothing_spent(&bench);
}

#[test]
fn open_columns_are_named_and_nothing_is_spent() {
    let bench = Bench::new();
    let input = bench.visits(100);
    let suggested = support::schema(100).replacen(
        "upper = 90\nprovenance = \"declared\"",
        "upper = 90\nprovenance = \"suggested\"",
        1,
    );
    bench.write("visits.schema.toml", suggested);
    let said = fails(&bench, 1, text(&input), &PROMISE);
    assert!(said.contains("`age`") && said.contains("declare"), "{said}");
    assert!(!said.contains("`ward`"), "only the open one is named: {said}");
    assert_nothing_spent(&bench);
}

#[test]
fn impossible_promises_are_refused_before_anything_is_spent() {
    let bench = Bench::new();
    let input = bench.visits(500);
    let input = text(&input);
    for epsilon in ["0", "-1", "NaN", "inf", "abc"] {
        let flag = format!("--epsilon={epsilon}");
        fails(&bench, 2, input, &[&flag, "--delta", "1e-5"]);
    }
    for delta in ["1", "-0.1", "NaN"] {
        let flag = format!("--delta={delta}");
        fails(&bench, 2, input, &["--epsilon", "1", &flag]);
    }
    let said = fails(&bench, 1, input, &["--epsilon", "1e9", "--delta", "1e-5"]);
    assert!(said.contains("at most 100"), "{said}");
    let said = fails(&bench, 1, input, &["--epsilon", "1", "--delta", "0"]);
    assert!(said.contains("δ is 0"), "{said}");
    let said = fails(
        &bench,
        1,
        input,
        &["--epsilon", "0.0000001", "--delta", "1e-15", "--steps", "3"],
    );
    assert!(said.contains("the smallest that works is ε ="), "{said}");
    let works = said.split("works is ε =").nth(1).unwrap().trim().to_owned();
    assert_nothing_spent(&bench);
    // It keeps its word, in a folder of its own.
    let probe = Bench::new();
    let elsewhere = probe.visits(500);
    let smallest = attempt(
        &probe,
        text(&elsewhere),
        &["--epsilon", &works, "--delta", "1e-15", "--steps", "3"],
    );
    let words: Vec<&str> = smallest.iter().map(String::as_str).collect();
    let output = probe.run(&words);
    assert!(
        output.status.success(),
        "the ε that it names works: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    fails(
        &bench,
        2,
        input,
        &["--epsilon", "1", "--delta", "1e-5", "--set", "no-such-setting=1"],
    );
    fails(
        &bench,
        2,
        input,
        &["--epsilon", "1", "--delta", "1e-5", "--set", "batch-size=banana"],
    );
    fails(&bench, 2, input, &["--epsilon", "1"]);
    assert_eq!(
        bench.json(&["ledger", "list"])["entries"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
}

#[test]
fn a_delta_above_one_in_the_rows_warns_and_says_why() {
    let bench = Bench::new();
    let input = bench.visits(200);
    let more = ["--epsilon", "1", "--delta", "0.01", "--steps", "5"];
    let said = succeeds(&bench, text(&input), &more);
    assert!(said.contains("warning") && said.contains('δ'), "{said}");
}

#[test]
fn a_batch_larger_than_the_table_is_lowered_and_told() {
    let bench = Bench::new();
    let input = bench.visits(20);
    let said = succeeds(
        &bench,
        text(&input),
        &[
            "--epsilon",
            "5",
            "--delta",
            "1e-5",
            "--steps",
            "5",
            "--set",
            "batch-size=512",
        ],
    );
    assert!(said.contains("lowered from 512 to 20"), "{said}");
}

#[test]
fn few_rows_and_empty_batches_work() {
    let bench = Bench::new();
    let input = bench.visits(12);
    succeeds(
        &bench,
        text(&input),
        &[
            "--epsilon",
            "5",
            "--delta",
            "1e-5",
            "--steps",
            "30",
            "--set",
            "batch-size=1",
        ],
    );
}

#[test]
fn targets_that_cannot_be_written_are_told_before_budget_is_spent() {
    let bench = Bench::new();
    let input = bench.visits(200);
    let input = text(&input);
    let mut arguments = vec!["synthesize", input, "--method", "dpgan", "--rows", "10"];
    arguments.extend(PROMISE);
    let missing = bench.path("no/such/folder/out.csv");
    let mut into_missing = arguments.clone();
    into_missing.extend(["--out", text(&missing)]);
    let said = bench.fails(1, &into_missing);
    assert!(said.contains("folder"), "{said}");

    let existing = bench.write("out.csv", "precious\n");
    let mut into_existing = arguments.clone();
    into_existing.extend(["--out", text(&existing)]);
    let said = bench.fails(1, &into_existing);
    assert!(said.contains("--force"), "{said}");
    assert_eq!(fs::read_to_string(&existing).unwrap(), "precious\n");

    let odd = bench.path("out.docx");
    let mut into_odd = arguments.clone();
    into_odd.extend(["--out", text(&odd)]);
    let said = bench.fails(2, &into_odd);
    assert!(said.contains(".csv") && said.contains(".parquet"), "{said}");
    assert_eq!(
        bench.json(&["ledger", "list"])["entries"]
            .as_array()
            .unwrap()
            .len(),
        0
    );

    into_existing.push("--force");
    let output = bench.run(&into_existing);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(fs::read_to_string(&existing).unwrap().starts_with("age,"));
}

#[test]
fn wrong_words_are_wrong_arguments() {
    let bench = Bench::new();
    for words in [
        &["synthesize"][..],
        &[
            "synthesize",
            "x.csv",
            "--method",
            "magic",
            "--rows",
            "1",
            "--out",
            "y.csv",
        ],
        &["sample", "x", "--rows", "0", "--out", "y.csv"],
        &["sample", "x", "--rows", "-3", "--out", "y.csv"],
        &["profile"],
        &["ledger"],
    ] {
        bench.fails(2, words);
    }
    let said = bench.fails(
        1,
        &["sample", "nothing.safetensors", "--rows", "3", "--out", "y.csv"],
    );
    assert!(said.contains("nothing.safetensors"), "{said}");
    let path = bench.write("odd.safetensors", "no generator");
    let said = bench.fails(1, &["sample", text(&path), "--rows", "3", "--out", "y.csv"]);
    assert!(said.contains("odd.safetensors"), "{said}");
}
