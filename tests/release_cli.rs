//! Private statistics by the command line: what is printed, charged, bought and refused; and the whole way on real
//! tables where they are at hand.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use support::{Bench, text};

/// A copy of a table of the shared folder, if this machine has it.
fn shared_table(bench: &Bench, name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../shared/data/tabular")
        .join(name);
    if path.exists() {
        return Some(bench.write(name, fs::read(&path).unwrap()));
    }
    println!("skipped: {} is not here", path.display());
    None
}

fn entries(bench: &Bench) -> Vec<Value> {
    bench.json(&["ledger", "show"])["entries"]
        .as_array()
        .unwrap()
        .clone()
}

/// `release INPUT` with these flags, and ε = 1.
fn arguments<'a>(input: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec!["release", input, "--epsilon", "1"];
    all.extend(more);
    all
}

/// Arguments made on the way, as the program takes them.
trait Each {
    fn each(&self) -> Vec<&str>;
}

impl Each for Vec<String> {
    fn each(&self) -> Vec<&str> {
        self.iter().map(String::as_str).collect()
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("not a number: {value}"))
}

#[test]
fn a_statistic_has_a_value_an_interval_and_an_entry() {
    let bench = Bench::new();
    let input = bench.visits(2000);
    let input = text(&input);
    let found = bench.json(&arguments(input, &["--query", "mean", "--column", "age"]));
    let (value, interval) = (number(&found["value"]), &found["interval"]);
    assert!((45.0..55.0).contains(&value), "{found}");
    assert!(
        number(&interval[0]) < value && value < number(&interval[1]),
        "{found}"
    );
    assert_eq!((&found["epsilon"], &found["delta"]), (&1.0.into(), &0.0.into()));
    assert_eq!(found["neighboring"], "zero_out_one", "the row count is declared");
    assert_eq!(found["claim"], "differentially private");
    assert_eq!(found["not_protected"], serde_json::json!([]));
    let kept = entries(&bench);
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0]["id"], found["ledger_entry"]);
    assert_eq!(kept[0]["kind"], "mean");
    assert_eq!(kept[0]["status"], "finished");
    assert_eq!(kept[0]["epsilon"], 1.0);
    // The noise is what the events say, and they cost what was asked.
    let events = bench.write("events.json", serde_json::to_string(&kept[0]["events"]).unwrap());
    let account = bench.json(&["account", text(&events), "--delta", "0"]);
    assert!(number(&account["epsilon"]) <= 1.0 + 1e-9, "{account}");

    let found = bench.json(&arguments(input, &["--query", "histogram", "--column", "ward"]));
    let bins: Vec<_> = found["values"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cell| cell["bin"].clone())
        .collect();
    assert_eq!(
        bins,
        serde_json::json!(["north", "south", "east", "west", null])
            .as_array()
            .unwrap()[..]
    );
    assert_eq!(found["interval"].as_array().unwrap().len(), 5);
    let north = number(&found["values"][0]["value"]);
    assert!((north - 500.0).abs() < 20.0, "{found}");

    let found = bench.json(&arguments(
        input,
        &[
            "--query",
            "quantile",
            "--column",
            "age",
            "--by",
            "outcome",
            "--quantile",
            "0.5",
        ],
    ));
    assert_eq!(found["values"][1]["group"], "ill");
    assert!(number(&found["values"][1]["interval"]["ranks"]) > 0.0, "{found}");

    let found = bench.json(&arguments(
        input,
        &[
            "--query",
            "sum",
            "--column",
            "age",
            "--mechanism",
            "gaussian",
            "--delta",
            "1e-6",
        ],
    ));
    assert!(
        number(&found["epsilon"]) <= 1.0 && number(&found["epsilon"]) > 0.99,
        "{found}"
    );
    assert_eq!(found["delta"], 1e-6);
    assert_eq!(entries(&bench).len(), 4);
    assert_eq!(bench.json(&["ledger", "verify"])["verified"], true);

    let said = bench.run(&arguments(input, &["--query", "mode", "--column", "smoker"]));
    let said = String::from_utf8(said.stdout).unwrap();
    for word in ["mode of `smoker`: false", "ε 1, pure", "zero out one", "entry 9"] {
        assert!(said.contains(word), "{word}: {said}");
    }
}

#[test]
fn suggestions_are_refused_until_they_are_bought_and_the_file_says_so() {
    let bench = Bench::new();
    let input = bench.visits(2000);
    let input = text(&input);
    let schema = bench.path("visits.schema.toml");
    fs::remove_file(&schema).unwrap();
    let said = bench.fails(1, &arguments(input, &["--query", "mean", "--column", "age"]));
    assert!(said.contains("profile"), "{said}");
    bench.json(&["profile", input, "--out", text(&schema)]);

    let said = bench.fails(1, &arguments(input, &["--query", "mean", "--column", "age"]));
    assert!(
        said.contains("`age`") && said.contains("--query bounds"),
        "{said}"
    );
    let said = bench.fails(1, &arguments(input, &["--query", "count", "--by", "ward"]));
    assert!(
        said.contains("`ward`") && said.contains("--query categories"),
        "{said}"
    );
    assert!(entries(&bench).is_empty(), "nothing was spent");

    let bounds = bench.json(&arguments(input, &["--query", "bounds", "--column", "age"]));
    assert_eq!(bounds["bought"], true);
    assert_eq!(bounds["schema"], text(&schema));
    assert_eq!(
        bounds["values"],
        serde_json::json!([17, 128]),
        "powers of two hold 20 to 79"
    );
    let found = bench.json(&arguments(
        input,
        &["--query", "categories", "--column", "ward", "--delta", "1e-6"],
    ));
    assert_eq!(found["values"], serde_json::json!(["east", "north", "south"]));
    let rows = bench.json(&arguments(input, &["--query", "count"]));
    assert!((number(&rows["value"]) - 2000.0).abs() < 30.0, "{rows}");
    let text_of_schema = fs::read_to_string(&schema).unwrap();
    assert_eq!(text_of_schema.matches("bought").count(), 3, "{text_of_schema}");
    assert!(bench.leftovers(&["visits.csv", "visits.schema.toml"]).is_empty());

    let mean = bench.json(&arguments(
        input,
        &["--query", "mean", "--column", "age", "--by", "ward"],
    ));
    assert_eq!(
        mean["not_protected"],
        serde_json::json!([]),
        "what was bought is protected"
    );
    assert_eq!(
        mean["neighboring"], "add_remove_one",
        "a bought row count is not public"
    );
    assert_eq!(entries(&bench).len(), 4);
}

#[test]
fn acceptances_are_listed_and_seeds_claim_nothing() {
    let bench = Bench::new();
    let input = bench.visits(2000);
    let schema = bench.path("visits.schema.toml");
    let declared = fs::read_to_string(&schema).unwrap();
    fs::write(
        &schema,
        declared.replacen(
            "provenance = \"declared\"\n\n[[column]]\nname = \"ward\"",
            "provenance = \"accepted\"\n\n[[column]]\nname = \"ward\"",
            1,
        ),
    )
    .unwrap();
    let mean = ["--query", "mean", "--column", "age", "--seed", "7"];
    let first = bench.json(&arguments(text(&input), &mean));
    assert_eq!(first["not_protected"], serde_json::json!(["age"]));
    assert!(
        first["claim"].as_str().unwrap().contains("no DP claim"),
        "{first}"
    );
    assert_eq!(
        first["value"],
        bench.json(&arguments(text(&input), &mean))["value"]
    );
    let before = fs::read_to_string(&schema).unwrap();
    let bounds = ["--query", "bounds", "--column", "age", "--seed", "7"];
    let found = bench.json(&arguments(text(&input), &bounds));
    assert_eq!(
        (&found["bought"], &found["schema"]),
        (&false.into(), &Value::Null)
    );
    assert_eq!(
        fs::read_to_string(&schema).unwrap(),
        before,
        "a fixed seed buys nothing"
    );
    assert!(
        entries(&bench)
            .iter()
            .all(|entry| entry.to_string().contains("not private"))
    );
}

#[test]
fn wrong_arguments_are_told_before_anything_is_read() {
    let bench = Bench::new();
    let nowhere = "nowhere.csv";
    for (more, word) in [
        (&["--query", "mean"][..], "--column"),
        (&["--query", "median", "--column", "age"], "quantile"),
        (
            &["--query", "mean", "--column", "age", "--mechanism", "gaussian"],
            "--delta",
        ),
        (
            &["--query", "mean", "--column", "age", "--mechanism", "exponential"],
            "laplace",
        ),
        (&["--query", "categories", "--column", "ward"], "--delta"),
        (
            &["--query", "quantile", "--column", "age", "--quantile", "1"],
            "share",
        ),
        (
            &["--query", "mean", "--column", "age", "--quantile", "0.5"],
            "--query quantile",
        ),
        (
            &["--query", "mean", "--column", "age", "--bins", "5"],
            "--query histogram",
        ),
        (
            &["--query", "histogram", "--column", "age", "--bins", "0"],
            "at least 1",
        ),
        (&["--query", "bounds", "--column", "age", "--by", "ward"], "--by"),
        (&["--query", "count", "--column", "age", "--delta", "1"], "delta"),
    ] {
        let said = bench.fails(2, &arguments(nowhere, more));
        assert!(said.contains(word), "{more:?}: {said}");
    }
    for epsilon in ["0", "-1", "nan", "inf", "1e9", "1e-9", "much"] {
        let said = bench.fails(2, &["release", nowhere, "--query", "count", "--epsilon", epsilon]);
        assert!(said.contains("epsilon"), "{epsilon}: {said}");
    }
    assert!(!bench.path("home/ledger.sqlite").exists());
}

#[test]
fn bad_input_is_told_and_nothing_is_spent() {
    let bench = Bench::new();
    let input = bench.visits(400);
    let input = text(&input);
    let schema = bench.path("visits.schema.toml");
    let good = fs::read_to_string(&schema).unwrap();
    let mean = ["--query", "mean", "--column", "age"];
    let said = bench.fails(1, &arguments(input, &["--query", "mean", "--column", "size"]));
    assert!(said.contains("`size`") && said.contains("`age`"), "{said}");
    let said = bench.fails(1, &arguments(input, &["--query", "count"]));
    assert!(said.contains("400"), "the row count is public: {said}");
    let said = bench.fails(
        2,
        &arguments(input, &["--query", "mean", "--column", "age", "--by", "age"]),
    );
    assert!(said.contains("itself"), "{said}");
    let said = bench.fails(1, &arguments(input, &["--query", "count", "--by", "age"]));
    assert!(said.contains("categorical"), "{said}");
    for (from, to, word) in [
        (
            "lower = 18\nupper = 90",
            "lower = 90\nupper = 18",
            "above its upper bound",
        ),
        (
            "kind = \"integer\"\nlower = 18\nupper = 90",
            "kind = \"identifier\"",
            "dropped",
        ),
        (
            "kind = \"integer\"\nlower = 18\nupper = 90",
            "kind = \"text\"",
            "dropped",
        ),
        ("value = 400", "value = 399", "399 rows"),
    ] {
        assert!(good.contains(from), "{good}");
        fs::write(&schema, good.replacen(from, to, 1)).unwrap();
        let said = bench.fails(1, &arguments(input, &mean));
        assert!(said.contains(word), "{to}: {said}");
    }
    fs::write(&schema, &good).unwrap();

    // A column without any value: the steward is told before paying.
    let empty = bench.write("empty.csv", "age,ward\n,north\n,south\n");
    let empty_schema = "version = 1\n\n[[column]]\nname = \"age\"\nkind = \"integer\"\nlower = 0\nupper = 9\nmissing = true\nprovenance = \"declared\"\n\n[[column]]\nname = \"ward\"\nkind = \"categorical\"\ndomain = [\"north\", \"south\"]\nprovenance = \"declared\"\n";
    bench.write("empty.schema.toml", empty_schema);
    let said = bench.fails(1, &arguments(text(&empty), &mean));
    assert!(said.contains("every cell of column `age` is missing"), "{said}");
    assert!(entries(&bench).is_empty(), "nothing was spent");

    // A changed file asks whose budget it is.
    bench.json(&arguments(input, &mean));
    let longer = fs::read_to_string(input).unwrap() + "30,north,true,well\n";
    fs::write(input, longer).unwrap();
    fs::write(&schema, good.replacen("value = 400", "value = 401", 1)).unwrap();
    let said = bench.fails(1, &arguments(input, &mean));
    assert!(said.contains("--version-of 1"), "{said}");
    assert_eq!(entries(&bench).len(), 1);
    let mut again = arguments(input, &mean);
    again.extend(["--version-of", "1"]);
    bench.json(&again);

    // A ledger that cannot be read spends nothing, and what the release would have said is not said.
    let ledger = bench.path("home/ledger.sqlite");
    let whole = fs::read(&ledger).unwrap();
    fs::write(&ledger, &whole[..whole.len() / 2]).unwrap();
    let output = bench.run(&arguments(input, &mean));
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("ledger"), "{said}");
}

#[test]
fn a_total_is_kept_and_what_is_left_is_told() {
    let bench = Bench::new();
    let input = bench.visits(2000);
    let input = text(&input);
    bench.json(&[
        "ledger",
        "set-total",
        input,
        "--epsilon",
        "1",
        "--delta",
        "1e-6",
        "--reason",
        "a year of questions",
    ]);
    let mean = |epsilon: &str| -> Vec<String> {
        [
            "release",
            input,
            "--query",
            "mean",
            "--column",
            "age",
            "--epsilon",
            epsilon,
        ]
        .map(str::to_owned)
        .to_vec()
    };
    let output = bench.run(&mean("0.1").each());
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("% of the data set's total is left"), "{said}");
    let said = bench.fails(1, &mean("50").each());
    assert!(said.contains("% is left"), "{said}");
    let fits: f64 = said
        .split("ε = ")
        .last()
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|number| number.parse().ok())
        .unwrap_or_else(|| panic!("{said}"));
    assert!(fits > 0.05 && fits < 50.0, "{said}");
    assert_eq!(entries(&bench).len(), 2, "the total and one release");
    // What is said to fit does, and a hair more does not.
    bench.fails(1, &mean(&(fits + 0.005).to_string()).each());
    bench.json(&mean(&fits.to_string()).each());
}

#[test]
fn the_whole_way_on_pima() {
    let bench = Bench::new();
    let Some(input) = shared_table(&bench, "pima_diabetes.csv") else {
        return;
    };
    whole_way(&bench, &input, &["age", "bmi", "glucose"], "diabetes", 768.0);
}

#[test]
fn the_whole_way_on_nhanes() {
    let bench = Bench::new();
    let Some(input) = shared_table(&bench, "nhanes_2017_2018.csv") else {
        return;
    };
    whole_way(
        &bench,
        &input,
        &["age", "bmi", "systolic_bp"],
        "general_health",
        8366.0,
    );
}

/// Profile, buy bounds, values and the row count, and ask for every statistic of what was bought.
fn whole_way(bench: &Bench, input: &Path, numbers: &[&str], category: &str, rows: f64) {
    let schema = input.with_extension("schema.toml");
    let (input, schema) = (text(input), text(&schema));
    bench.json(&["profile", input, "--out", schema]);
    let release = |more: &[&str]| bench.json(&arguments(input, more));
    let count = release(&["--query", "count"]);
    assert!((number(&count["value"]) - rows).abs() < 20.0, "{count}");
    for column in numbers {
        let bounds = release(&["--query", "bounds", "--column", column]);
        assert_eq!(bounds["schema"], schema, "{bounds}");
        assert!(
            number(&bounds["values"][0]) < number(&bounds["values"][1]),
            "{bounds}"
        );
        for query in ["sum", "mean", "variance", "quantile", "count", "histogram"] {
            let found = release(&["--query", query, "--column", column]);
            assert!(found["ledger_entry"].is_number(), "{found}");
            assert_eq!(found["not_protected"], serde_json::json!([]));
        }
    }
    // A column of two values may have been taken for a boolean, whose values need not be bought.
    let kind = fs::read_to_string(schema).unwrap();
    let is_boolean = kind.contains(&format!("name = \"{category}\"\nkind = \"boolean\""));
    if !is_boolean {
        let found = release(&["--query", "categories", "--column", category, "--delta", "1e-6"]);
        assert!(found["values"].as_array().unwrap().len() >= 2, "{found}");
    }
    for query in ["mean", "quantile"] {
        let found = release(&["--query", query, "--column", numbers[0], "--by", category]);
        assert!(found["values"].as_array().unwrap().len() >= 2, "{found}");
    }
    let found = release(&["--query", "mode", "--column", category]);
    assert!(found["value"].is_string(), "{found}");
    assert_eq!(bench.json(&["ledger", "verify"])["verified"], true);
    assert!(entries(bench).iter().all(|entry| entry["status"] == "finished"));
}
