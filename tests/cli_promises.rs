//! What the program promises, against bad faith and bad luck on the real command line: inputs are never written over,
//! a forged certificate does not fit its ledger, a total is not passed by another name, and nobody is left to guess
//! what may be claimed.

mod support;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use support::{Bench, text, visits_csv};

/// A short private run that writes `out` over what is there.
fn run_of<'a>(input: &'a str, out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["synthesize", input, "--method", "dpgan", "--rows", "10"];
    arguments.extend(["--epsilon", "1", "--delta", "1e-5", "--steps", "5", "--force"]);
    arguments.extend(["--out", out]);
    arguments.extend(more);
    arguments
}

fn entries(bench: &Bench) -> usize {
    bench.json(&["ledger", "list"])["entries"]
        .as_array()
        .unwrap()
        .len()
}

#[test]
fn what_is_read_is_never_written_over() {
    let bench = Bench::new();
    let input = bench.visits(400);
    let (data, schema) = (visits_csv(400), support::schema(400));
    let refused = |arguments: &[&str]| {
        let said = bench.fails(1, arguments);
        assert!(said.contains("is what this reads from"), "{said}");
    };
    let input = text(&input);
    refused(&run_of(input, input, &[]));
    let other_way = bench.path("./home/../visits.csv");
    fs::create_dir_all(bench.home()).unwrap();
    refused(&run_of(input, text(&other_way), &[]));
    #[cfg(unix)]
    {
        let link = bench.path("link.csv");
        std::os::unix::fs::symlink(input, &link).unwrap();
        refused(&run_of(input, text(&link), &[]));
        let hard = bench.path("hard.csv");
        fs::hard_link(input, &hard).unwrap();
        refused(&run_of(input, text(&hard), &[]));
    }
    // The recipe of `out.csv` would lie where the schema is.
    let recipe = bench.write("out.csv.recipe.toml", &schema);
    let out = bench.path("out.csv");
    refused(&run_of(input, text(&out), &["--schema", text(&recipe)]));
    assert_eq!(fs::read_to_string(&recipe).unwrap(), schema);
    refused(&["profile", input, "--out", input]);
    assert_eq!(entries(&bench), 0, "nothing was spent");

    fs::remove_file(&recipe).unwrap();
    bench.json(&run_of(input, text(&out), &[]));
    let model = bench.path("out.csv.generator.safetensors");
    let as_table = bench.path("model.csv");
    fs::copy(&model, &as_table).unwrap();
    let as_table = text(&as_table);
    refused(&["sample", as_table, "--rows", "5", "--out", as_table, "--force"]);
    assert_eq!(fs::read(as_table).unwrap(), fs::read(&model).unwrap());
    assert_eq!(fs::read_to_string(input).unwrap(), data);
}

#[test]
fn a_reviewed_schema_is_replaced_only_when_told() {
    let bench = Bench::new();
    let input = bench.visits(400);
    let schema = bench.path("visits.schema.toml");
    let reviewed = fs::read_to_string(&schema).unwrap();
    let said = bench.fails(1, &["profile", text(&input), "--out", text(&schema)]);
    assert!(said.contains("--force"), "{said}");
    assert_eq!(fs::read_to_string(&schema).unwrap(), reviewed);
    bench.json(&["profile", text(&input), "--out", text(&schema), "--force"]);
    assert!(fs::read_to_string(&schema).unwrap().contains("suggested"));
}

#[test]
fn a_recipe_brings_its_schema_and_says_when_another_is_used() {
    let bench = Bench::new();
    let input = bench.visits(400);
    let out = bench.path("out.csv");
    bench.json(&run_of(text(&input), text(&out), &[]));
    let recipe = bench.path("out.csv.recipe.toml");
    let again = |name: &str| {
        let path = bench.path(name);
        let arguments = ["synthesize", text(&input), "--recipe", text(&recipe)];
        let out = ["--rows", "10", "--out", text(&path)];
        let output = bench.run(&[arguments.as_slice(), &out].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        said
    };
    let other = "the run is not repeated exactly";
    assert!(!again("same.csv").contains(other));
    let beside = bench.path("visits.schema.toml");
    let changed = fs::read_to_string(&beside)
        .unwrap()
        .replace("upper = 90", "upper = 99");
    fs::write(&beside, changed).unwrap();
    assert!(again("changed.csv").contains(other));
    // Without one beside the data, the recipe's own.
    fs::remove_file(&beside).unwrap();
    assert!(!again("own.csv").contains(other));
}

#[test]
fn a_recipes_wrong_value_is_told_with_file_key_and_what_was_expected() {
    let bench = Bench::new();
    let input = bench.visits(400);
    let out = bench.path("out.csv");
    bench.json(&run_of(text(&input), text(&out), &[]));
    let whole = fs::read_to_string(bench.path("out.csv.recipe.toml")).unwrap();
    let with = |key: &str, value: &str| {
        let line = whole.lines().find(|line| line.starts_with(&format!("{key} = ")));
        let line = format!("\n{}\n", line.unwrap());
        whole.replacen(&line, &format!("\n{key} = {value}\n"), 1)
    };
    let out = bench.path("never.csv");
    let run = |recipe: &Path| {
        let arguments = ["synthesize", text(&input), "--recipe", text(recipe)];
        let out = ["--rows", "10", "--out", text(&out)];
        bench.fails(1, &[arguments.as_slice(), &out].concat())
    };
    for (text, expected) in [
        (with("method", "\"dogan\""), ["dogan", "dpgan, gem"]),
        (with("device", "\"abacus\""), ["abacus", "ndarray"]),
        (with("epsilon", "-1.0"), ["epsilon", "not -1"]),
        (with("delta", "2.0"), ["delta", "not 2"]),
        (with("steps", "0"), ["`steps` is 0", "a whole number from 1"]),
        (
            with("clip-norm", "-0.5"),
            ["`clip-norm` is -0.5", "a number from"],
        ),
        (with("steps", "\"many\""), ["steps", "expected u64"]),
        (
            whole.replace("clip-norm", "clip-worm"),
            ["clip-worm", "expected one of"],
        ),
    ] {
        let recipe = bench.write("wrong.recipe.toml", &text);
        let said = run(&recipe);
        assert!(said.contains("wrong.recipe.toml"), "{said}");
        assert!(
            expected.iter().all(|word| said.contains(word)),
            "{expected:?}: {said}"
        );
    }
    assert!(!out.exists());
}

/// Writes the certificate anew with a digest that fits: it is a guard, no signature.
fn forge(path: &Path, edit: impl FnOnce(&mut Value)) {
    let mut certificate: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    edit(&mut certificate);
    let seal = certificate.as_object_mut().unwrap().shift_remove("seal").unwrap();
    certificate["digest"] = json!("");
    let digest = Sha256::digest(serde_json::to_vec(&certificate).unwrap());
    let mut digits = String::new();
    for byte in digest {
        write!(digits, "{byte:02x}").unwrap();
    }
    certificate["digest"] = json!(digits);
    certificate["seal"] = seal;
    fs::write(path, serde_json::to_string_pretty(&certificate).unwrap()).unwrap();
}

#[test]
fn a_forged_certificate_does_not_fit_the_ledger() {
    let bench = Bench::new();
    let input = bench.visits(400);
    let out = bench.path("out.csv");
    bench.json(&run_of(text(&input), text(&out), &["--seed", "5"]));
    let path = bench.path("out.csv.certificate.json");
    let check = ["ledger", "verify", "--certificate", text(&path)];
    bench.json(&check);
    let honest = fs::read(&path).unwrap();

    forge(&path, |certificate| {
        certificate["random_source"] = json!("operating_system");
        certificate["verdict"] = json!({"claim": "differentially_private"});
    });
    let said = bench.fails(1, &check);
    assert!(
        said.contains("the random source is not what the ledger recorded"),
        "{said}"
    );
    // An edit of the job's number, and of what was spent.
    fs::write(&path, &honest).unwrap();
    forge(&path, |certificate| {
        certificate["spending"]["ledger_entry"] = json!(77);
    });
    let said = bench.fails(1, &check);
    assert!(said.contains("no job of that number"), "{said}");
    fs::write(&path, &honest).unwrap();
    forge(&path, |certificate| {
        certificate["spending"]["spent"]["epsilon"] = json!(0.01);
    });
    let said = bench.fails(1, &check);
    assert!(said.contains("what was spent"), "{said}");
    // What no entry holds: the seal over the whole does not fit.
    for (field, value) in [
        ("not_protected", json!([])),
        ("noise", json!(["discrete_gaussian"])),
        ("issued", json!("2030-01-01T00:00:00Z")),
        ("software", json!([])),
    ] {
        fs::write(&path, &honest).unwrap();
        forge(&path, |certificate| certificate[field] = value);
        let said = bench.fails(1, &check);
        assert!(said.contains("did not seal it as it is"), "{field}: {said}");
    }
    // Without a new digest `verify` finds it as well, and a certificate without a seal is none of this installation's.
    let mut plain: Value = serde_json::from_slice(&honest).unwrap();
    plain["synthetic_file"]["rows"] = json!(5);
    fs::write(&path, plain.to_string()).unwrap();
    let said = bench.fails(1, &check);
    assert!(said.contains("its digest does not fit"), "{said}");
    let mut plain: Value = serde_json::from_slice(&honest).unwrap();
    plain.as_object_mut().unwrap().shift_remove("seal");
    fs::write(&path, plain.to_string()).unwrap();
    assert!(bench.fails(1, &check).contains("did not seal it as it is"));
}

#[test]
fn the_smallest_epsilon_that_is_named_works() {
    let bench = Bench::new();
    let input = bench.visits(400);
    let run = |epsilon: &str, out: &str| {
        let out = bench.path(out);
        let mut arguments = run_of(text(&input), text(&out), &[]);
        let at = arguments
            .iter()
            .position(|argument| *argument == "--epsilon")
            .unwrap();
        arguments[at + 1] = epsilon;
        bench.run(&arguments)
    };
    for tiny in ["1e-9", "0.001"] {
        let said = String::from_utf8(run(tiny, "tiny.csv").stderr).unwrap();
        let (_, named) = said.split_once("the smallest that works is ε = ").expect(&said);
        let named: String = named
            .chars()
            .take_while(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | '-'))
            .collect();
        let output = run(&named, "works.csv");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{tiny}: ε = {named} was named, and then: {said}"
        );
    }
}

#[test]
fn a_known_file_continues_no_other_budget() {
    let bench = Bench::new();
    let input = bench.visits(400);
    let release = |file: &Path, version: &str| {
        let schema = bench.path("visits.schema.toml");
        let query = [
            "release",
            text(file),
            "--query",
            "mean",
            "--column",
            "age",
            "--epsilon",
            "0.1",
            "--schema",
            text(&schema),
        ];
        bench.run(&[&query[..], &["--version-of", version]].concat())
    };
    assert!(
        bench
            .run(&[
                "release",
                text(&input),
                "--query",
                "mean",
                "--column",
                "age",
                "--epsilon",
                "0.1"
            ])
            .status
            .success()
    );
    let other = bench.write("visits-2.csv", visits_csv(400).replacen("20,", "21,", 1));
    assert!(release(&other, "none").status.success());
    for version in ["1", "99"] {
        let refused = release(&other, version);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(
            !refused.status.success() && said.contains("known to the ledger as data set 2"),
            "{version}: {said}"
        );
    }
    for version in ["2", "none"] {
        assert!(
            release(&other, version).status.success(),
            "the same answer is no contradiction"
        );
    }
}

#[test]
fn what_has_no_end_is_not_read() {
    let bench = Bench::new();
    let input = bench.visits(400);
    let out = bench.path("out.csv");
    for arguments in [
        vec!["verify", "/dev/zero"],
        vec!["account", "/dev/zero", "--delta", "1e-5"],
        vec!["sample", "/dev/zero", "--rows", "5", "--out", text(&out)],
        run_of(text(&input), text(&out), &["--recipe", "/dev/zero"]),
        run_of(text(&input), text(&out), &["--schema", "/dev/zero"]),
    ] {
        let said = bench.fails(1, &arguments);
        assert!(said.contains("a pipe or a device"), "{said}");
    }
}

#[test]
fn a_total_is_not_passed_by_another_name() {
    let bench = Bench::new();
    let input = bench.visits(400);
    let input = text(&input);
    let total = ["ledger", "set-total", input, "--epsilon", "2", "--delta", "1e-4"];
    bench.json(&[&total[..], &["--reason", "a study"]].concat());
    // A blank line after the header, line ends of another system, the columns in another order.
    let data = visits_csv(400);
    let reordered: String = data.lines().fold(String::new(), |text, line| {
        let mut cells: Vec<_> = line.split(',').collect();
        cells.rotate_left(1);
        text + &cells.join(",") + "\n"
    });
    for (name, content) in [
        ("other.csv", data.replacen('\n', "\n\n", 1)),
        ("dos.csv", data.replace('\n', "\r\n")),
        ("order.csv", reordered),
    ] {
        let other = bench.write(name, content);
        let schema = bench.path("visits.schema.toml");
        let said = bench.fails(
            1,
            &run_of(
                text(&other),
                text(&bench.path("out.csv")),
                &["--schema", text(&schema)],
            ),
        );
        assert!(
            said.contains("--version-of 1") && said.contains("nothing was spent"),
            "{name}: {said}"
        );
    }
}

#[test]
fn nobody_is_left_to_guess_what_may_be_claimed() {
    let bench = Bench::new();
    let input = bench.visits(400);
    let (input, out) = (text(&input), bench.path("out.csv"));
    let said = |arguments: &[&str]| {
        let output = bench.run(arguments);
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let first = said(&run_of(input, text(&out), &["--seed", "5"]));
    assert!(first.contains("no total is set for visits.csv"), "{first}");
    let model = bench.path("out.csv.generator.safetensors");
    let more = bench.path("more.csv");
    let sample = [
        "sample",
        text(&model),
        "--rows",
        "5",
        "--out",
        text(&more),
        "--force",
    ];
    let claim = bench.json(&sample)["claim"].as_str().unwrap().to_owned();
    assert!(claim.contains("no DP claim") && claim.contains("seed"), "{claim}");
    bench.json(&run_of(input, text(&out), &[]));
    assert_eq!(bench.json(&sample)["claim"], "differentially private");

    // A δ that would allow to publish whole rows is told of a release as it is of a run.
    let mean = ["release", input, "--query", "mean", "--column", "age"];
    let said = said(
        &[
            &mean[..],
            &["--epsilon", "1", "--delta", "0.9", "--mechanism", "gaussian"],
        ]
        .concat(),
    );
    assert!(said.contains("publishes a whole row"), "{said}");
}

#[test]
fn a_damaged_generator_is_refused() {
    let bench = Bench::new();
    let input = bench.visits(400);
    let out = bench.path("out.csv");
    bench.json(&run_of(text(&input), text(&out), &[]));
    let path = bench.path("out.csv.generator.safetensors");
    let whole = fs::read(&path).unwrap();
    let more = bench.path("more.csv");
    // Every bit counts: of the header, its text, and the weights, all over the file.
    for step in 0..40 {
        let mut damaged = whole.clone();
        damaged[step * (whole.len() - 1) / 39] ^= 1 << (step % 8);
        fs::write(&path, &damaged).unwrap();
        let said = bench.fails(1, &["sample", text(&path), "--rows", "5", "--out", text(&more)]);
        assert!(said.contains("out.csv.generator.safetensors"), "{said}");
        assert!(!more.exists());
    }
}

#[test]
fn names_and_homes_that_cannot_work_are_told_before_anything_is_spent() {
    let bench = Bench::new();
    let input = bench.visits(400);
    let input = text(&input);
    // Long enough for the table's own name and too long for its papers'.
    let long = bench.path(&format!("{}.csv", "n".repeat(236)));
    bench.fails(1, &run_of(input, text(&long), &[]));
    assert_eq!(entries(&bench), 0);
    let output = bench
        .program()
        .env("POINTILLIST_HOME", "")
        .args(["ledger", "list"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("POINTILLIST_HOME is set and empty"), "{said}");
    for arguments in [
        run_of(input, "out.ods", &[]),
        vec![
            "ledger",
            "set-total",
            input,
            "--epsilon",
            "1",
            "--delta",
            "1e-5",
            "--reason",
            " ",
        ],
        vec![
            "release",
            input,
            "--query",
            "mean",
            "--column",
            "age",
            "--epsilon",
            "-1",
        ],
    ] {
        let said = bench.fails(2, &arguments);
        assert!(!said.contains("unexpected argument"), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_is_told_and_not_waited_for() {
    let bench = Bench::new();
    let pipe = bench.path("pipe.csv");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let said = bench.fails(1, &["profile", text(&pipe)]);
    assert!(said.contains("a pipe or a device"), "{said}");
}

/// Starts the program, asks it to stop while it writes `.NAME.….partial`, and gives what it said.
#[cfg(unix)]
fn stopped_while_writing(bench: &Bench, name: &str, arguments: &[&str]) -> String {
    use std::time::{Duration, Instant};
    let partial = format!(".{name}.");
    let writing = || {
        bench
            .leftovers(&[])
            .iter()
            .any(|found| found.starts_with(&partial))
    };
    let mut command = bench.program();
    command.args(arguments).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let start = Instant::now();
    // Whether the target can be written is tried first, with an empty file that is gone at once.
    let has_rows = || {
        let files = bench.leftovers(&[]);
        let partials = files.iter().filter(|found| found.starts_with(&partial));
        partials
            .into_iter()
            .any(|found| fs::metadata(bench.path(found)).is_ok_and(|file| file.len() > 0))
    };
    while !has_rows() {
        assert!(start.elapsed() < Duration::from_secs(120), "nothing is written");
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut kill = std::process::Command::new("kill");
    assert!(
        kill.args(["-TERM", &child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    let asked = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if asked.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("still writing");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        !bench.path(name).exists() && !writing(),
        "{:?}",
        bench.leftovers(&[])
    );
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A request to stop while rows are written ends the writing at once and leaves nothing but what was paid for.
#[cfg(unix)]
#[test]
fn a_stop_while_rows_are_written_leaves_nothing_and_keeps_what_was_paid_for() {
    let bench = Bench::new();
    let input = bench.visits(400);
    let many = bench.path("many.csv");
    let mut run = run_of(text(&input), text(&many), &[]);
    let rows = run.iter().position(|word| *word == "10").unwrap();
    run[rows] = "900000000";
    let said = stopped_while_writing(&bench, "many.csv", &run);
    assert!(said.contains("paid for and kept"), "{said}");
    let kept = said.split('`').find(|part| part.starts_with("sample ")).unwrap();
    let generator = &kept["sample ".len()..];
    let few = bench.path("few.csv");
    bench.json(&["sample", generator, "--rows", "7", "--out", text(&few)]);
    let sample = ["sample", generator, "--rows", "900000000", "--out", text(&many)];
    stopped_while_writing(&bench, "many.csv", &sample);
}
