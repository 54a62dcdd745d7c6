//! The whole way from images to certified synthetic ones, by the command line.

#[path = "support/images.rs"]
mod small_images;
mod support;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use small_images::idx_pair;
use support::{Bench, text};

/// Small images of three classes.
fn images(bench: &Bench, name: &str, count: usize) -> PathBuf {
    let file = bench.path(&format!("{name}-images-idx3-ubyte"));
    idx_pair(file.parent().unwrap(), name, count)
}

fn synthesize(bench: &Bench, input: &str, out: &str, more: &[&str]) -> Value {
    let mut arguments = vec![
        "synthesize",
        input,
        "--method",
        "dp-merf",
        "--rows",
        "300",
        "--out",
        out,
    ];
    arguments.extend([
        "--epsilon",
        "5",
        "--delta",
        "1e-5",
        "--classes",
        "3",
        "--steps",
        "250",
    ]);
    for setting in [
        "frequencies=250",
        "generator-hidden=32",
        "generator-channels=8",
        "generator-batch=30",
    ] {
        arguments.extend(["--set", setting]);
    }
    arguments.extend(more);
    bench.json(&arguments)
}

#[test]
fn images_become_synthetic_ones_with_their_papers() {
    let bench = Bench::new();
    let input = images(&bench, "train", 3000);
    let held = images(&bench, "test", 600);
    let out = bench.path("new-images-idx3-ubyte");
    let result = synthesize(&bench, text(&input), text(&out), &[]);
    assert_eq!((&result["rows"], &result["steps"]), (&300.into(), &250.into()));
    let epsilon = result["epsilon"].as_f64().unwrap();
    assert!(epsilon <= 5.0 && epsilon > 4.9, "ε = {epsilon}");
    assert!(
        result["claim"]
            .as_str()
            .unwrap()
            .starts_with("differentially private")
    );

    let path = result["certificate"].as_str().unwrap();
    let certificate: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(certificate["sampling"], "all_rows");
    assert_eq!(certificate["domain"]["columns"][0]["name"], "image");
    // One look at all images, and the number of images is among what it hides.
    let events = certificate["events"]["events"].as_array().unwrap();
    assert_eq!((events.len(), &events[0]["type"]), (1, &"gaussian".into()));
    assert!(
        !certificate["not_protected"].to_string().contains("row_count"),
        "{certificate}"
    );
    let generator = fs::read(result["generator"].as_str().unwrap()).unwrap();
    assert!(
        !String::from_utf8_lossy(&generator[..8000.min(generator.len())]).contains("3000"),
        "the number of images stays where it is"
    );

    // The certificate is about both files.
    let verify = |expected: bool| {
        let output = bench.run(&["verify", path, "--data", text(&out), "--json"]);
        assert_eq!(output.status.success(), expected, "{output:?}");
    };
    verify(true);
    assert!(
        bench
            .run(&["ledger", "verify", "--certificate", path])
            .status
            .success()
    );
    let labels = bench.path("new-labels-idx1-ubyte");
    let mut changed = fs::read(&labels).unwrap();
    let whole = changed.clone();
    *changed.last_mut().unwrap() ^= 1;
    fs::write(&labels, changed).unwrap();
    verify(false);
    fs::write(&labels, whole).unwrap();

    let entries = bench.json(&["ledger", "list"]);
    assert_eq!(entries["entries"][0]["kind"], "dp-merf", "{entries}");

    let found = bench.json(&[
        "evaluate",
        "--real",
        text(&input),
        "--holdout",
        text(&held),
        "--synthetic",
        text(&out),
        "--classes",
        "3",
    ]);
    assert_eq!(found["extractor"], "pixels");
    assert!(found["audience"].as_str().unwrap().contains("steward only"));
    assert!(found["accuracy"]["value"].as_f64().unwrap() > 0.9, "{found}");
    assert!(found["accuracy"]["interval"].is_array() && found["fid"]["value"].is_number());

    more_of_a_class(&bench, result["generator"].as_str().unwrap());
    judged_by_what_is_asked_for(&bench, &input, result["generator"].as_str().unwrap());
}

/// For nothing, in every form.
fn more_of_a_class(bench: &Bench, model: &str) {
    for name in ["more", "more.parquet", "more.npz", "more-images-idx3-ubyte"] {
        let more = bench.path(name);
        let arguments = [
            "sample",
            model,
            "--rows",
            "20",
            "--where",
            "label=2",
            "--out",
            text(&more),
        ];
        let drawn = bench.json(&arguments);
        assert_eq!(drawn["rows"], 20, "{name}");
        assert!(more.exists());
        assert!(bench.fails(1, &arguments).contains("exists already"));
    }
    assert_eq!(
        fs::read(bench.path("more-labels-idx1-ubyte")).unwrap()[8..],
        [2; 20]
    );
    let table = fs::read_to_string(bench.path("more").join("labels.csv")).unwrap();
    assert_eq!(table.lines().count(), 21);
    let again = bench.path("again.npz");
    let drawn = bench.run(&["sample", model, "--rows", "20", "--out", text(&again)]);
    let said = String::from_utf8_lossy(&drawn.stdout);
    assert!(said.starts_with("20 images in "), "{said}");
    // A folder that was exported is a data set again; twenty images have no distance.
    let more = bench.path("more");
    let said = bench.fails(
        1,
        &["evaluate", "--real", text(&more), "--synthetic", text(&more)],
    );
    assert!(said.contains("there are 20 real images"), "{said}");
}

/// What was written as NPZ is judged as well.
fn judged_by_what_is_asked_for(bench: &Bench, input: &Path, model: &str) {
    let judged = bench.path("judged.npz");
    bench.json(&["sample", model, "--rows", "80", "--out", text(&judged)]);
    let judge = [
        "evaluate",
        "--real",
        text(input),
        "--synthetic",
        text(&judged),
        "--classes",
        "3",
    ];
    let found = bench.json(&[&judge[..], &["--extractor", "pixels", "--most", "60"]].concat());
    assert_eq!(
        (&found["extractor"], &found["extractor_classes"]),
        (&"pixels".into(), &0.into())
    );
    assert_eq!(found["compared"]["synthetic"], 60);
    assert!(found["fid_of_real_halves"]["value"].is_number(), "{found}");
    for (extractor, status, word) in [
        ("cnn", 1, "28 × 28"),
        ("inception", 2, "expected cnn, pixels"),
        (text(input), 2, "ends in .onnx"),
        ("nowhere.onnx", 1, "nowhere.onnx"),
    ] {
        let said = bench.fails(status, &[&judge[..], &["--extractor", extractor]].concat());
        assert!(said.contains(word), "{extractor}: {said}");
    }
    let model_file = bench.write("model.onnx", "no model");
    let said = bench.fails(1, &[&judge[..], &["--extractor", text(&model_file)]].concat());
    assert!(
        said.contains("model.onnx") && said.contains("no ONNX model"),
        "{said}"
    );
    let said = bench.fails(
        2,
        &[&judge[..], &["--extractor", "pixels", "--pixel-range=-1,1"]].concat(),
    );
    assert!(said.contains("--pixel-range"), "{said}");
}

/// A run of a method with a critic, small enough for a test.
fn adversarial(bench: &Bench, input: &str, method: &str, out: &str, more: &[&str]) -> Value {
    let mut arguments = vec!["synthesize", input, "--method", method, "--out", out];
    arguments.extend(["--rows", "60", "--classes", "3", "--steps", "40"]);
    for setting in [
        "batch-size=100",
        "fake-batch=30",
        "critic-hidden=32",
        "generator-hidden=32",
        "generator-channels=8",
        "generator-batch=30",
        "averaging=0.5",
    ] {
        arguments.extend(["--set", setting]);
    }
    arguments.extend(more);
    bench.json(&arguments)
}

#[test]
fn a_critics_steps_are_charged_as_they_are_sampled() {
    let bench = Bench::new();
    let input = images(&bench, "train", 2000);
    let out = bench.path("gan-images-idx3-ubyte");
    let more = ["--epsilon", "5", "--delta", "1e-5", "--schedule", "two-phase"];
    let warm = [
        "--set",
        "warm-steps=30",
        "--set",
        "warm-share=0.2",
        "--set",
        "frequencies=250",
    ];
    let result = adversarial(
        &bench,
        text(&input),
        "dpgan",
        text(&out),
        &[&more[..], &warm[..]].concat(),
    );
    assert_eq!((&result["rows"], &result["steps"]), (&60.into(), &70.into()));
    let epsilon = result["epsilon"].as_f64().unwrap();
    // Calibrated by Rényi orders, told by loss distributions.
    assert!(epsilon <= 5.0 && epsilon > 4.0, "ε = {epsilon}");
    let path = result["certificate"].as_str().unwrap();
    let certificate: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(certificate["sampling"], "poisson");
    let events = certificate["events"]["events"].as_array().unwrap();
    let types: Vec<&str> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    let sampled = "poisson_sampled_gaussian";
    assert_eq!(types, ["gaussian", sampled, sampled]);
    for half in &events[1..] {
        assert_eq!(
            (&half["steps"], &half["sampling_rate"]),
            (&20.into(), &0.05.into())
        );
    }
    // A sampling rate tells how many images there are.
    assert!(
        certificate["not_protected"].to_string().contains("row_count"),
        "{certificate}"
    );
    assert!(
        bench
            .run(&["verify", path, "--data", text(&out), "--json"])
            .status
            .success()
    );
    let entries = bench.json(&["ledger", "list"]);
    assert_eq!(entries["entries"][0]["kind"], "dpgan", "{entries}");
    let more = bench.path("more.npz");
    let model = result["generator"].as_str().unwrap();
    let drawn = bench.json(&["sample", model, "--rows", "20", "--out", text(&more)]);
    assert_eq!(drawn["rows"], 20);
    let again = bench.path("again-images-idx3-ubyte");
    let recipe = result["recipe"].as_str().unwrap();
    let repeated = bench.json(&[
        "synthesize",
        text(&input),
        "--recipe",
        recipe,
        "--rows",
        "10",
        "--classes",
        "3",
        "--out",
        text(&again),
    ]);
    assert_eq!(repeated["epsilon"], result["epsilon"]);
}

#[test]
fn curves_are_the_stewards_and_who_reads_them_has_looked() {
    let bench = Bench::new();
    let input = images(&bench, "train", 600);
    let promise = ["--epsilon", "5", "--delta", "1e-5"];
    let looked = |result: &Value| {
        let certificate = fs::read_to_string(result["certificate"].as_str().unwrap()).unwrap();
        let certificate: Value = serde_json::from_str(&certificate).unwrap();
        !certificate["not_accounted"].as_array().unwrap().is_empty()
    };
    let out = bench.path("unseen-images-idx3-ubyte");
    let unseen = adversarial(&bench, text(&input), "dpgan", text(&out), &promise);
    assert!(!looked(&unseen));

    let (out, curves) = (bench.path("seen-images-idx3-ubyte"), bench.path("curves.csv"));
    let wish = ["--curves", text(&curves)];
    let seen = adversarial(
        &bench,
        text(&input),
        "dpgan",
        text(&out),
        &[&promise[..], &wish[..]].concat(),
    );
    assert!(looked(&seen), "{seen}");
    let table = fs::read_to_string(&curves).unwrap();
    assert!(table.starts_with("# steward only"), "{table}");
    let lines: Vec<&str> = table.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines[0], "curve,for,step,value");
    for curve in [
        "epsilon,anyone",
        "generator-loss,anyone",
        "critic-accuracy,anyone",
        "critic-loss,steward",
        "clipped-share,steward",
    ] {
        let points: Vec<f64> = lines
            .iter()
            .filter_map(|line| line.strip_prefix(&format!("{curve},")))
            .map(|point| point.split_once(',').unwrap().1.parse().unwrap())
            .collect();
        assert!(points.len() >= 10, "{curve}: {points:?}");
        assert!(points.iter().all(|value| value.is_finite()), "{curve}");
    }
    let last = lines.iter().rfind(|line| line.starts_with("epsilon,")).unwrap();
    assert!(last.starts_with("epsilon,anyone,40,"), "{last}");

    // One of the export's own files, or a file that is there: told before anything is spent.
    let before = bench.json(&["ledger", "list"]);
    let new = bench.path("third-images-idx3-ubyte");
    for curves in [text(&new), text(&curves)] {
        let output = bench.run(&[
            "synthesize",
            text(&input),
            "--method",
            "dpgan",
            "--epsilon",
            "5",
            "--delta",
            "1e-5",
            "--rows",
            "5",
            "--classes",
            "3",
            "--out",
            text(&new),
            "--curves",
            curves,
        ]);
        assert!(!output.status.success());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(curves), "{said}");
    }
    assert_eq!(bench.json(&["ledger", "list"]), before);
}

#[test]
fn images_without_a_promise_carry_no_claim() {
    let bench = Bench::new();
    let input = images(&bench, "train", 500);
    for (method, more) in [
        ("gan", &["--set", "critic=convolution"][..]),
        ("wgan-gp", &[][..]),
    ] {
        let out = bench.path(&format!("{method}-images-idx3-ubyte"));
        let result = adversarial(&bench, text(&input), method, text(&out), more);
        assert!(
            result["claim"].as_str().unwrap().contains("no DP claim"),
            "{result}"
        );
        let certificate = fs::read_to_string(result["certificate"].as_str().unwrap()).unwrap();
        assert!(certificate.contains("no_dp_claim"), "{certificate}");
    }
    assert_eq!(
        bench.json(&["ledger", "list"])["entries"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
    let table = bench.visits(100);
    let arguments = [
        "synthesize",
        text(&table),
        "--method",
        "wgan-gp",
        "--rows",
        "5",
        "--out",
        "x.csv",
    ];
    assert!(bench.fails(1, &arguments).contains("choose gan"));
}

#[test]
fn input_without_images_is_named_before_the_output() {
    let bench = Bench::new();
    let out = bench.path("new-images-idx3-ubyte");
    let empty = bench.write("empty-images-idx3-ubyte", b"");
    let folder = bench.path("nothing");
    fs::create_dir(&folder).unwrap();
    for input in [bench.path("gone-images-idx3-ubyte"), empty, folder] {
        let said = bench.fails(
            1,
            &[
                "synthesize",
                text(&input),
                "--method",
                "gan",
                "--rows",
                "5",
                "--out",
                text(&out),
            ],
        );
        assert!(
            said.contains(text(&input)) && !said.contains("new-images"),
            "{said}"
        );
    }
    // By what the input is, not by what reading it says.
    let table = bench.visits(50);
    let mut arguments = vec!["synthesize", text(&table), "--method", "gan", "--rows", "5"];
    arguments.extend(["--out", text(&out)]);
    let said = bench.fails(1, &arguments);
    assert!(
        said.contains("visits.csv") && said.contains("neither an IDX file"),
        "{said}"
    );
}

#[test]
fn a_recipe_and_a_seed_repeat_the_run() {
    let bench = Bench::new();
    let input = images(&bench, "train", 900);
    let first = bench.path("first-images-idx3-ubyte");
    let result = synthesize(&bench, text(&input), text(&first), &["--seed", "7"]);
    assert!(result["claim"].as_str().unwrap().contains("fixed seed"));
    let second = bench.path("second-images-idx3-ubyte");
    let recipe = result["recipe"].as_str().unwrap();
    bench.json(&[
        "synthesize",
        text(&input),
        "--recipe",
        recipe,
        "--rows",
        "300",
        "--classes",
        "3",
        "--out",
        text(&second),
    ]);
    assert_eq!(fs::read(first).unwrap(), fs::read(second).unwrap());
}

#[test]
fn what_cannot_be_is_said_before_anything_is_spent() {
    let bench = Bench::new();
    let input = images(&bench, "train", 300);
    let input = text(&input);
    let out = bench.path("out");
    let promise = ["--epsilon", "1", "--delta", "1e-5", "--rows", "10"];
    let run = |method: &str, out: &str, more: &[&str]| {
        let mut arguments = vec!["synthesize", input, "--method", method, "--out", out];
        arguments.extend(promise);
        arguments.extend(more);
        bench.fails(
            if more.contains(&"usage") { 2 } else { 1 },
            &arguments
                .into_iter()
                .filter(|word| *word != "usage")
                .collect::<Vec<_>>(),
        )
    };
    assert!(
        run("dp-merf", text(&out), &["--set", "clip-norm=2"])
            .contains("does not look at the setting `clip-norm`")
    );
    assert!(
        run("dpgan", text(&out), &["--set", "penalty=2"]).contains("does not look at the setting `penalty`")
    );
    assert!(run("dp-merf", text(&out), &["--classes", "2"]).contains("declared classes"));
    assert!(run("dp-merf", text(&out), &["--where", "label=12"]).contains("never is `12`"));
    assert!(run("dp-merf", text(&out), &["--set", "bins=3", "usage"]).contains("no setting `bins`"));
    assert!(run("dp-merf", text(&bench.path("out.csv")), &["usage"]).contains("images-idx3-ubyte"));
    let table = bench.visits(100);
    let arguments = [
        "synthesize",
        text(&table),
        "--method",
        "wgan-gp",
        "--rows",
        "10",
        "--out",
        "x.csv",
    ];
    assert!(bench.fails(1, &arguments).contains("does not learn from tables"));
    assert_eq!(
        bench.json(&["ledger", "list"])["entries"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
}
