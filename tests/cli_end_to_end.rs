//! The whole way from a file to a certified synthetic table, by the command line.

mod support;

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use support::{Bench, text};

const PROMISE: [&str; 4] = ["--epsilon", "2", "--delta", "1e-5"];

fn synthesize(bench: &Bench, input: &str, out: &str, more: &[&str]) -> Value {
    let mut arguments = vec![
        "synthesize",
        input,
        "--method",
        "dpgan",
        "--rows",
        "300",
        "--out",
        out,
        "--steps",
        "40",
    ];
    arguments.extend(PROMISE);
    arguments.extend(more);
    bench.json(&arguments)
}

#[test]
fn a_table_becomes_a_synthetic_one_with_its_papers() {
    let bench = Bench::new();
    let input = bench.visits(2000);
    let out = bench.path("synthetic.csv");
    let result = synthesize(&bench, text(&input), text(&out), &[]);

    assert_eq!(result["rows"], 300);
    assert_eq!(result["steps"], 40);
    assert_eq!(result["delta"], 1e-5);
    let epsilon = result["epsilon"].as_f64().unwrap();
    // The plan is calibrated by Rényi orders, and the certificate states the tighter ε of the same events.
    assert!(epsilon <= 2.0 && epsilon > 1.6, "ε = {epsilon}");

    let table = fs::read_to_string(&out).unwrap();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("age,ward,smoker,outcome"));
    let mut wards = BTreeSet::new();
    let mut rows = 0;
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let age: i64 = cells[0].parse().unwrap();
        assert!((18..=90).contains(&age), "{line}");
        assert!(
            ["north", "south", "east", "west", ""].contains(&cells[1]),
            "{line}"
        );
        assert!(["true", "false"].contains(&cells[2]), "{line}");
        assert!(["well", "ill"].contains(&cells[3]), "{line}");
        wards.insert(cells[1].to_owned());
        rows += 1;
    }
    assert_eq!(rows, 300);
    assert!(wards.len() > 1, "every row has the same ward");

    let certificate: Value =
        serde_json::from_str(&fs::read_to_string(result["certificate"].as_str().unwrap()).unwrap()).unwrap();
    assert!(!certificate.to_string().contains("no DP claim"), "{certificate}");
    let verified = bench.json(&[
        "verify",
        result["certificate"].as_str().unwrap(),
        "--data",
        text(&out),
    ]);
    assert_eq!(verified["verified"], true, "{verified}");
    let recomputed = verified["epsilon"].as_f64().unwrap();
    assert!(
        (recomputed - epsilon).abs() < 1e-9,
        "{recomputed} against {epsilon}"
    );

    let entries = bench.json(&["ledger", "list"]);
    let entries = entries["entries"].as_array().unwrap();
    assert!(!entries.is_empty());
    assert!(
        entries.iter().any(|entry| entry["id"] == result["ledger_entry"]),
        "{entries:?}"
    );
    assert_eq!(bench.json(&["ledger", "verify"])["verified"], true);

    // The generator draws more rows at no cost, and only those asked for.
    let more = bench.path("more.parquet");
    let generator = result["generator"].as_str().unwrap();
    let sampled = bench.json(&[
        "sample",
        generator,
        "--rows",
        "50",
        "--out",
        text(&more),
        "--where",
        "outcome=ill",
    ]);
    assert_eq!(sampled["rows"], 50);
    assert!(more.exists());
    let after = bench.json(&["ledger", "list"]);
    assert_eq!(after["entries"].as_array().unwrap().len(), entries.len());
}

#[test]
fn one_release_of_a_table_becomes_a_synthetic_one() {
    let bench = Bench::new();
    let input = bench.visits(1500);
    for (method, own, other) in [
        ("gem", "pair-weight=50", "frequencies"),
        ("dp-merf", "frequencies=500", "pair-weight"),
    ] {
        let out = bench.path(&format!("{method}.csv"));
        let run = |out: &str, more: &[&str]| {
            let mut arguments = vec!["synthesize", text(&input), "--method", method, "--rows", "200"];
            arguments.extend(["--steps", "30", "--out", out]);
            arguments.extend(PROMISE);
            arguments.extend(more);
            arguments.into_iter().map(ToOwned::to_owned).collect::<Vec<_>>()
        };
        let words = run(text(&out), &["--set", own]);
        let result = bench.json(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!((&result["rows"], &result["steps"]), (&200.into(), &30.into()));
        let epsilon = result["epsilon"].as_f64().unwrap();
        assert!(epsilon <= 2.0 && epsilon > 1.99, "{method}: ε = {epsilon}");
        assert_eq!(fs::read_to_string(&out).unwrap().lines().count(), 201);
        let certificate = result["certificate"].as_str().unwrap();
        let verified = bench.json(&["verify", certificate, "--data", text(&out)]);
        assert_eq!(verified["verified"], true, "{verified}");
        let issued = fs::read_to_string(certificate).unwrap();
        assert!(
            !issued.contains("no DP claim") && issued.contains("all_rows"),
            "{issued}"
        );
        let generator = result["generator"].as_str().unwrap();
        let more = bench.path(&format!("{method}-more.csv"));
        let sampled = bench.json(&["sample", generator, "--rows", "20", "--out", text(&more)]);
        assert_eq!(sampled["rows"], 20);
        // More than any disk holds is refused before hours are spent on it.
        for name in ["endless.csv", "endless.parquet"] {
            let endless = bench.path(name);
            let rows = "1000000000000000";
            let said = bench.fails(1, &["sample", generator, "--rows", rows, "--out", text(&endless)]);
            assert!(
                said.contains(name) && said.contains("free on that disk"),
                "{said}"
            );
        }
        // The recipe is one of this method, whose settings are its own.
        let again = bench.path(&format!("{method}-again.csv"));
        let recipe = result["recipe"].as_str().unwrap();
        let repeated = bench.json(&[
            "synthesize",
            text(&input),
            "--recipe",
            recipe,
            "--rows",
            "10",
            "--out",
            text(&again),
        ]);
        assert_eq!(
            (&repeated["epsilon"], &repeated["steps"]),
            (&result["epsilon"], &30.into())
        );
        let unused = format!("{other}=500");
        let words = run(text(&bench.path("never.csv")), &["--set", &unused]);
        let said = bench.fails(1, &words.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(
            said.contains(&format!("does not look at the setting `{other}`")),
            "{said}"
        );
    }
}

#[test]
fn the_recipe_repeats_the_run() {
    let bench = Bench::new();
    let input = bench.visits(2000);
    let first = synthesize(
        &bench,
        text(&input),
        text(&bench.path("first.csv")),
        &["--seed", "7"],
    );
    assert_eq!(
        first["claim"].as_str().map(|claim| claim.contains("no DP claim")),
        Some(true),
        "{first}"
    );
    let recipe = first["recipe"].as_str().unwrap();
    let second = bench.json(&[
        "synthesize",
        text(&input),
        "--recipe",
        recipe,
        "--rows",
        "300",
        "--out",
        text(&bench.path("second.csv")),
    ]);
    assert_eq!(first["epsilon"], second["epsilon"]);
    assert_eq!(first["steps"], second["steps"]);
    let first = fs::read_to_string(bench.path("first.csv")).unwrap();
    let second = fs::read_to_string(bench.path("second.csv")).unwrap();
    assert_eq!(first, second, "a fixed seed gives the same rows");
}

#[test]
fn without_a_promise_everything_says_so() {
    let bench = Bench::new();
    let input = bench.visits(500);
    let out = bench.path("plain.csv");
    let result = bench.json(&[
        "synthesize",
        text(&input),
        "--method",
        "gan",
        "--rows",
        "50",
        "--out",
        text(&out),
        "--steps",
        "10",
    ]);
    assert!(
        result["epsilon"].is_null() && result["ledger_entry"].is_null(),
        "{result}"
    );
    assert!(
        result["claim"].as_str().unwrap().contains("no DP claim"),
        "{result}"
    );
    let said = bench.fails(
        2,
        &[
            "synthesize",
            text(&input),
            "--method",
            "gan",
            "--epsilon",
            "1",
            "--rows",
            "5",
            "--out",
            "x.csv",
        ],
    );
    assert!(said.contains("--epsilon"), "{said}");
}

#[test]
fn profile_suggests_and_training_refuses_what_is_only_suggested() {
    let bench = Bench::new();
    let input = bench.visits(300);
    fs::remove_file(bench.path("visits.schema.toml")).unwrap();
    let schema = bench.path("visits.schema.toml");
    let profile = bench.json(&["profile", text(&input), "--out", text(&schema)]);
    assert_eq!(profile["rows"], 300);
    assert_eq!(profile["columns"].as_array().unwrap().len(), 4);
    assert!(fs::read_to_string(&schema).unwrap().contains("suggested"));
    let out = bench.path("never.csv");
    let mut arguments = vec![
        "synthesize",
        text(&input),
        "--method",
        "dpgan",
        "--rows",
        "10",
        "--out",
        text(&out),
    ];
    arguments.extend(PROMISE);
    let said = bench.fails(1, &arguments);
    assert!(said.contains("age"), "the open column is named: {said}");
    assert!(!out.exists());
    assert_eq!(
        bench.json(&["ledger", "list"])["entries"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_cleanly_and_the_record_is_right() {
    let bench = Bench::new();
    let input = bench.visits(2000);
    let out = bench.path("stopped.csv");
    let child = bench
        .program()
        .args([
            "synthesize",
            text(&input),
            "--method",
            "dpgan",
            "--rows",
            "20",
            "--out",
            text(&out),
            "--json",
        ])
        .args(PROMISE)
        .args(["--steps", "500000", "--set", "batch-size=64"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // The entry is in the ledger before the first step, so it is there as soon as training goes on.
    let started = std::time::Instant::now();
    loop {
        let listed = bench.json(&["ledger", "list"]);
        if !listed["entries"].as_array().unwrap().is_empty() {
            break;
        }
        assert!(
            started.elapsed().as_secs() < 120,
            "the run never reserved its budget"
        );
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    std::thread::sleep(std::time::Duration::from_millis(500));
    let interrupt = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(interrupt.success());
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(result["steps"].as_u64().unwrap() < 500_000);
    // A stop by a person is charged as planned.
    let listed = bench.json(&["ledger", "list"]);
    let charged = listed["entries"][0]["epsilon"].as_f64().unwrap();
    assert!((charged - 2.0).abs() < 0.02, "{listed}");
    let epsilon = result["epsilon"].as_f64().unwrap();
    assert!(epsilon > 1.6 && epsilon <= charged, "{result}");
    let certificate = fs::read_to_string(result["certificate"].as_str().unwrap()).unwrap();
    assert!(certificate.contains("moment_of_stopping"), "{certificate}");
    let page = fs::read_to_string(out.with_extension("csv.certificate.html")).unwrap();
    assert!(
        page.contains("stopping was chosen with private plots in view"),
        "{page}"
    );
    assert_eq!(bench.json(&["ledger", "verify"])["verified"], true);
}

#[test]
fn the_schemas_rules_hold_in_every_row_and_are_counted() {
    let bench = Bench::new();
    let mut csv = String::from("first,last,days,town,state\n");
    for row in 0..1500_usize {
        let (first, days) = (row % 40, row * 7 % 30);
        let (town, state) = [("Paris", "France"), ("Rome", "Italy"), ("Lyon", "France")][row % 3];
        csv.push_str(&format!("{first},{},{days},{town},{state}\n", first + days));
    }
    let number = |name: &str, upper: u32| {
        format!(
            "[[column]]\nname = \"{name}\"\nkind = \"integer\"\nlower = 0\nupper = {upper}\nprovenance = \"declared\"\n"
        )
    };
    let words = |name: &str, domain: &str| {
        format!(
            "[[column]]\nname = \"{name}\"\nkind = \"categorical\"\ndomain = {domain}\nprovenance = \"declared\"\n"
        )
    };
    let rules = "[[rule]]\nkind = \"order\"\nlower = \"first\"\nupper = \"last\"\n\
        [[rule]]\nkind = \"sum\"\ntotal = \"last\"\nparts = [\"first\", \"days\"]\n\
        [[rule]]\nkind = \"decides\"\nby = \"town\"\ncolumn = \"state\"\n\
        values = { Paris = \"France\", Rome = \"Italy\", Lyon = \"France\" }\n";
    let schema = [
        "version = 1\n".to_owned(),
        rules.to_owned(),
        number("first", 40),
        number("last", 70),
        number("days", 30),
        words("town", r#"["Paris", "Rome", "Lyon"]"#),
        words("state", r#"["France", "Italy"]"#),
    ]
    .concat();
    bench.write("stays.schema.toml", schema);
    let input = bench.write("stays.csv", csv);
    let out = bench.path("made.csv");
    let result = synthesize(&bench, text(&input), text(&out), &["--where", "state=Italy"]);
    let rules = result["rules"].as_array().unwrap();
    assert_eq!(rules[1]["rule"], "last = first + days");
    assert!(rules[1]["mended"].as_u64().unwrap() > 0, "{rules:?}");
    let made = fs::read_to_string(&out).unwrap();
    assert_eq!(made.lines().count(), 301);
    for line in made.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let numbers: Vec<i64> = cells[..3].iter().map(|cell| cell.parse().unwrap()).collect();
        assert_eq!(numbers[1], numbers[0] + numbers[2], "{line}");
        assert_eq!((cells[3], cells[4]), ("Rome", "Italy"), "{line}");
    }
    let more = bench.path("more.csv");
    let generator = result["generator"].as_str().unwrap();
    let sampled = bench.json(&["sample", generator, "--rows", "40", "--out", text(&more)]);
    assert_eq!(sampled["rules"].as_array().unwrap().len(), 3);
}
