//! The program is killed in the middle of a run, without a warning, and takes the run up again.

#[path = "support/images.rs"]
mod small_images;
mod support;

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use small_images::idx_pair;
use support::{Bench, text};

/// Long enough that nobody gets to its end before the kill.
const STEPS: u64 = 1500;

/// Starts `synthesize` in the background, and kills it once it has a checkpoint and a while has passed.
fn killed(bench: &Bench, arguments: &[&str], id: &str, after: Duration) {
    let checkpoint = bench.home().join("checkpoints").join(format!("{id}.checkpoint"));
    killed_once(bench, arguments, || checkpoint.exists(), after);
}

/// As [`killed`], once this holds and a while has passed.
fn killed_once(bench: &Bench, arguments: &[&str], holds: impl Fn() -> bool, after: Duration) {
    let mut child: Child = bench
        .program()
        .args(arguments)
        .args(["--keep-every", "0.05"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(120), "no checkpoint came");
        assert!(child.try_wait().unwrap().is_none(), "the run ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(after);
    assert!(child.try_wait().unwrap().is_none(), "the run ended by itself");
    // SIGKILL: nothing of the program gets to clean up.
    child.kill().unwrap();
    child.wait().unwrap();
}

fn dpgan<'a>(input: &'a str, out: &'a str, steps: &'a str) -> Vec<&'a str> {
    vec![
        "synthesize",
        input,
        "--method",
        "dpgan",
        "--epsilon",
        "2",
        "--delta",
        "1e-5",
        "--rows",
        "50",
        "--out",
        out,
        "--steps",
        steps,
        "--set",
        "batch-size=64",
    ]
}

/// How many steps an entry's or a certificate's events come to.
fn steps_of(events: &Value) -> u64 {
    let events = events["events"].as_array().unwrap();
    events.iter().filter_map(|event| event["steps"].as_u64()).sum()
}

fn certificate(result: &Value) -> Value {
    let path = result["certificate"].as_str().unwrap();
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn entry(bench: &Bench, id: u64) -> Value {
    let entries = bench.json(&["ledger", "show"]);
    let entries = entries["entries"].as_array().unwrap();
    entries.iter().find(|entry| entry["id"] == id).unwrap().clone()
}

fn interrupted(bench: &Bench) -> Vec<Value> {
    bench.json(&["runs", "list"])["runs"].as_array().unwrap().clone()
}

fn files(bench: &Bench) -> Vec<PathBuf> {
    let folder = bench.home().join("checkpoints");
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// All of a folder's files, those in its folders too.
fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for file in std::fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        let target = to.join(file.file_name());
        if file.path().is_dir() {
            copy_folder(&file.path(), &target);
        } else {
            std::fs::copy(file.path(), target).unwrap();
        }
    }
}

/// The end of the charge and of the papers: the ledger whole, the certificate right, and every step charged once.
fn check_papers(bench: &Bench, result: &Value, out: &Path, lost: u64, times: u64) {
    let papers = certificate(result);
    assert_eq!(papers["resumed"]["times"], times, "{papers}");
    assert_eq!(papers["resumed"]["lost_steps"], lost);
    assert_eq!(papers["verdict"]["claim"], "differentially_private");
    let verified = bench.json(&[
        "verify",
        result["certificate"].as_str().unwrap(),
        "--data",
        text(out),
    ]);
    assert_eq!(verified["verified"], true, "{verified}");
    assert_eq!(bench.json(&["ledger", "verify"])["verified"], true);
    let charged = entry(bench, result["ledger_entry"].as_u64().unwrap());
    assert_eq!(charged["status"], "finished");
    assert_eq!(charged["events"], papers["events"]);
    assert!(charged["epsilon"].as_f64().unwrap() <= 2.0);
    assert!(files(bench).is_empty(), "{:?}", files(bench));
    assert!(interrupted(bench).is_empty());
}

/// The first step of a curve in a file of curves.
fn begins(table: &str, curve: &str) -> f64 {
    let lines = table.lines().filter(|line| line.starts_with(curve));
    let steps = lines.filter_map(|line| line.split(',').nth(2)?.parse().ok());
    steps.fold(f64::INFINITY, f64::min)
}

#[test]
fn a_resumed_run_has_its_curves_from_the_beginning_or_says_where_they_begin() {
    for is_lost in [false, true] {
        let bench = Bench::new();
        let input = bench.visits(2000);
        let (out, curves) = (bench.path("synthetic.csv"), bench.path("curves.csv"));
        let mut arguments = dpgan(text(&input), text(&out), "4000");
        arguments.extend(["--curves", text(&curves)]);
        let kept = bench.home().join("checkpoints/entry-1.curves");
        // The first checkpoint comes before the first step, with curves that are empty: a later one is waited for.
        let has_steps = || std::fs::metadata(&kept).is_ok_and(|file| file.len() > 1000);
        killed_once(&bench, &arguments, has_steps, Duration::from_millis(500));
        let checkpoint = interrupted(&bench)[0]["checkpoint"].as_u64().unwrap() as f64;
        assert!(checkpoint > 0.0);
        if is_lost {
            std::fs::write(&kept, b"no curves").unwrap();
        }
        let resume = ["runs", "resume", "latest", "--rows", "50", "--out", text(&out)];
        let output = bench.run(&[&resume[..], &["--curves", text(&curves)]].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        assert_eq!(said.contains("its curves begin at step"), is_lost, "{said}");
        let table = std::fs::read_to_string(&curves).unwrap();
        for curve in ["epsilon,", "generator-loss,", "critic-loss,"] {
            let first = begins(&table, curve);
            assert_eq!(first > checkpoint, is_lost, "{curve} {first} {checkpoint}");
        }
        assert!(files(&bench).is_empty(), "{:?}", files(&bench));
    }
}

#[test]
fn a_killed_run_on_a_table_goes_on_with_its_account_intact() {
    let bench = Bench::new();
    let input = bench.visits(2000);
    let out = bench.path("synthetic.csv");
    let steps = STEPS.to_string();
    let arguments = dpgan(text(&input), text(&out), &steps);
    killed(&bench, &arguments, "entry-1", Duration::from_millis(300));
    let open = entry(&bench, 1);
    assert_eq!(open["status"], "reserved");
    assert_eq!(steps_of(&open["events"]), STEPS, "the whole plan is charged");
    let first = interrupted(&bench)[0].clone();
    let at = |run: &Value, key: &str| run[key].as_u64().unwrap();
    assert_eq!(first["id"], "entry-1");
    assert!(at(&first, "goes_on") >= at(&first, "checkpoint"));
    assert!(at(&first, "goes_on") < STEPS);

    // A second life, cut short as well.
    killed_again(
        &bench,
        &["runs", "resume", "latest", "--rows", "50", "--out", text(&out)],
        &first,
    );
    let second = interrupted(&bench)[0].clone();
    assert!(at(&second, "goes_on") >= at(&first, "goes_on"));
    assert_eq!(second["resumed"], 1);

    let result = bench.json(&["runs", "resume", "entry-1", "--rows", "50", "--out", text(&out)]);
    assert_eq!(result["rows"], 50);
    assert_eq!(result["steps"], STEPS);
    let lost = at(&first, "lost_steps") + at(&second, "lost_steps");
    assert!(
        lost > 0,
        "a kill comes between two announcements, not after the last step of one"
    );
    check_papers(&bench, &result, &out, lost, 2);
    // What ran is at most what is charged: each life's steps lie between two positions of the plan, one behind the other.
    assert_eq!(steps_of(&certificate(&result)["events"]), STEPS);
    let note = entry(&bench, 1)["note"].as_str().unwrap().to_owned();
    assert!(
        note.contains("taken up 2 ×") && note.contains(&lost.to_string()),
        "{note}"
    );
    // The same by the recipe, the generator and the rows.
    assert_eq!(std::fs::read_to_string(&out).unwrap().lines().count(), 51);
    let more = bench.path("more.csv");
    let generator = result["generator"].as_str().unwrap();
    assert_eq!(
        bench.json(&["sample", generator, "--rows", "5", "--out", text(&more)])["rows"],
        5
    );
}

/// Kills a resumption once it has written a checkpoint of its own.
fn killed_again(bench: &Bench, arguments: &[&str], first: &Value) {
    let mut child = bench
        .program()
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let path = bench.home().join("checkpoints/entry-1.checkpoint");
    let before = std::fs::metadata(&path).unwrap().modified().unwrap();
    let start = Instant::now();
    while std::fs::metadata(&path).and_then(|data| data.modified()).unwrap() == before {
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "no checkpoint came after {first}"
        );
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    // While it goes on, nobody else can take it up, and nobody is offered it.
    assert!(interrupted(bench).is_empty());
    std::thread::sleep(Duration::from_millis(300));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_killed_run_on_images_goes_on_with_its_account_intact() {
    let bench = Bench::new();
    let input = idx_pair(bench.path("x").parent().unwrap(), "train", 1500);
    let out = bench.path("new-images-idx3-ubyte");
    let mut arguments = vec![
        "synthesize",
        text(&input),
        "--method",
        "dpgan",
        "--epsilon",
        "2",
        "--delta",
        "1e-5",
        "--rows",
        "20",
        "--out",
        text(&out),
        "--steps",
        "1500",
        "--classes",
        "3",
    ];
    for setting in [
        "batch-size=32",
        "warm-steps=30",
        "frequencies=250",
        "critic-hidden=16",
        "fake-batch=16",
        "generator-hidden=16",
        "generator-channels=4",
        "generator-batch=16",
    ] {
        arguments.extend(["--set", setting]);
    }
    killed(&bench, &arguments, "entry-1", Duration::from_millis(300));
    let first = interrupted(&bench)[0].clone();
    let result = bench.json(&["runs", "resume", "latest", "--rows", "20", "--out", text(&out)]);
    check_papers(&bench, &result, &out, first["lost_steps"].as_u64().unwrap(), 1);
}

/// What a run has left when the program is killed between the end of its account and the end of its export.
fn killed_at_its_export(method: &[&str]) {
    let bench = Bench::new();
    let input = bench.visits(600);
    let out = bench.path("synthetic.csv");
    let mut arguments = vec!["synthesize", text(&input), "--epsilon", "2", "--delta", "1e-5"];
    arguments.extend(["--rows", "3000000", "--out", text(&out), "--method"]);
    arguments.extend(method);
    let kill = |arguments: &[&str]| {
        let mut child = bench
            .program()
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        // More than what is tried before anything is spent.
        let is_writing = || {
            let mut files = std::fs::read_dir(out.parent().unwrap()).unwrap().flatten();
            files.any(|file| {
                file.file_name().to_string_lossy().starts_with(".synthetic.csv.")
                    && file.metadata().is_ok_and(|data| data.len() > 2 << 20)
            })
        };
        while !is_writing() {
            assert!(start.elapsed() < Duration::from_secs(240), "nothing is written");
            assert!(child.try_wait().unwrap().is_none(), "the run ended by itself");
            std::thread::sleep(Duration::from_millis(5));
        }
        // Somebody holds it, so it is not offered.
        assert!(interrupted(&bench).is_empty());
        assert!(child.try_wait().unwrap().is_none(), "the export ended by itself");
        child.kill().unwrap();
        child.wait().unwrap();
        // What it had begun to write is not its output, and the next one of that name is told from it.
        for file in std::fs::read_dir(out.parent().unwrap()).unwrap().flatten() {
            if file.file_name().to_string_lossy().starts_with(".synthetic.csv.") {
                std::fs::remove_file(file.path()).unwrap();
            }
        }
    };
    kill(&arguments);
    let charged = entry(&bench, 1);
    assert_eq!(charged["status"], "finished");
    assert!(!out.exists());
    let left = interrupted(&bench);
    assert_eq!(
        (&left[0]["id"], &left[0]["ended"]),
        (&Value::from("entry-1"), &Value::from(true))
    );
    // The same in a resumption.
    kill(&[
        "runs",
        "resume",
        "latest",
        "--rows",
        "3000000",
        "--out",
        text(&out),
    ]);
    let copy = Bench::new();
    copy_folder(&bench.home(), &copy.home());
    copy.json(&["runs", "discard", "latest"]);
    assert_eq!(entry(&copy, 1), charged, "what is settled stays as it is");
    assert!(files(&copy).is_empty());

    let result = bench.json(&["runs", "resume", "latest", "--rows", "50", "--out", text(&out)]);
    assert_eq!(result["rows"], 50);
    assert_eq!(entry(&bench, 1), charged, "nothing is charged again");
    let verified = bench.json(&[
        "verify",
        result["certificate"].as_str().unwrap(),
        "--data",
        text(&out),
    ]);
    assert_eq!(verified["verified"], true, "{verified}");
    assert_eq!(certificate(&result)["events"], charged["events"]);
    assert!(certificate(&result).get("resumed").is_none_or(Value::is_null));
    assert!(files(&bench).is_empty() && interrupted(&bench).is_empty());
}

#[test]
fn a_run_that_is_killed_at_its_export_is_exported_without_another_charge() {
    killed_at_its_export(&["dpgan", "--steps", "40", "--set", "batch-size=64"]);
    killed_at_its_export(&["gem", "--steps", "40"]);
}

#[test]
fn after_a_single_release_nothing_is_lost() {
    let bench = Bench::new();
    let input = bench.visits(2000);
    let out = bench.path("synthetic.csv");
    let arguments = [
        "synthesize",
        text(&input),
        "--method",
        "gem",
        "--epsilon",
        "2",
        "--delta",
        "1e-5",
        "--rows",
        "50",
        "--out",
        text(&out),
        "--steps",
        "600",
    ];
    killed(&bench, &arguments, "entry-1", Duration::from_millis(300));
    let first = interrupted(&bench)[0].clone();
    assert_eq!(first["lost_steps"], 0);
    // All is spent before the first step: thrown away, it stays charged with what was reserved and no more.
    let reserved = entry(&bench, 1)["epsilon"].as_f64().unwrap();
    let copy = Bench::new();
    copy_folder(&bench.home(), &copy.home());
    copy.json(&["runs", "discard", "latest"]);
    let charged = entry(&copy, 1);
    assert_eq!(charged["status"], "failed");
    let epsilon = charged["epsilon"].as_f64().unwrap();
    assert!(
        epsilon <= reserved && epsilon > 0.99 * reserved,
        "{epsilon} of {reserved}"
    );
    let result = bench.json(&["runs", "resume", "latest", "--rows", "50", "--out", text(&out)]);
    check_papers(&bench, &result, &out, 0, 1);
}

#[test]
fn a_run_that_is_discarded_is_charged_for_what_it_may_have_done() {
    let bench = Bench::new();
    let input = bench.visits(2000);
    let out = bench.path("synthetic.csv");
    let steps = STEPS.to_string();
    let arguments = dpgan(text(&input), text(&out), &steps);
    killed(&bench, &arguments, "entry-1", Duration::from_millis(300));
    let known = interrupted(&bench)[0].clone();
    let whole = entry(&bench, 1)["epsilon"].as_f64().unwrap();
    assert!(bench.home().join("checkpoints/entry-1.curves").is_file());
    let said = bench.json(&["runs", "discard", "entry-1"]);
    let charged = entry(&bench, 1);
    assert_eq!(said["epsilon"], charged["epsilon"]);
    assert_eq!(charged["status"], "failed");
    assert_eq!(steps_of(&charged["events"]), known["goes_on"].as_u64().unwrap());
    let epsilon = charged["epsilon"].as_f64().unwrap();
    assert!(epsilon > 0.0 && epsilon < whole, "{epsilon} of {whole}");
    assert!(interrupted(&bench).is_empty() && files(&bench).is_empty());
    let said = bench.fails(
        1,
        &["runs", "resume", "entry-1", "--rows", "5", "--out", text(&out)],
    );
    assert!(said.contains("no run was cut short"), "{said}");
}

#[test]
fn what_is_damaged_or_changed_is_told_and_stays_charged() {
    let bench = Bench::new();
    let input = bench.visits(2000);
    let out = bench.path("synthetic.csv");
    let steps = STEPS.to_string();
    let arguments = dpgan(text(&input), text(&out), &steps);
    killed(&bench, &arguments, "entry-1", Duration::from_millis(300));
    let resume = ["runs", "resume", "entry-1", "--rows", "5", "--out", text(&out)];

    // The data has changed.
    let rows = std::fs::read_to_string(&input).unwrap();
    std::fs::write(&input, rows.replacen("north", "south", 1)).unwrap();
    let said = bench.fails(1, &resume);
    assert!(said.contains("its content has changed"), "{said}");
    // It is gone.
    std::fs::rename(&input, bench.path("elsewhere.csv")).unwrap();
    let said = bench.fails(1, &resume);
    assert!(said.contains("visits.csv"), "{said}");
    std::fs::write(&input, rows).unwrap();

    // A condition that no row can meet, before a step is done.
    let mut odd = resume.to_vec();
    odd.extend(["--where", "no_such=1"]);
    let said = bench.fails(1, &odd);
    assert!(said.contains("no_such"), "{said}");
    assert_eq!(interrupted(&bench).len(), 1, "nothing of the run is lost");

    // The checkpoint is cut off, and damaged in its midst.
    let checkpoint = bench.home().join("checkpoints/entry-1.checkpoint");
    let whole = std::fs::read(&checkpoint).unwrap();
    let mut damaged = whole.clone();
    let middle = damaged.len() - 100;
    damaged[middle] ^= 1;
    for bytes in [&whole[..whole.len() / 2], &whole[..3], &[][..], &damaged[..]] {
        std::fs::write(&checkpoint, bytes).unwrap();
        let said = bench.fails(1, &resume);
        assert!(
            said.contains("entry-1.checkpoint") && said.contains("runs discard"),
            "{said}"
        );
        assert_eq!(entry(&bench, 1)["status"], "reserved");
    }
    std::fs::write(&checkpoint, &whole).unwrap();
    // The journal is damaged on both places.
    let journal = bench.home().join("checkpoints/entry-1.steps");
    let steps = std::fs::read(&journal).unwrap();
    std::fs::write(&journal, vec![7; steps.len()]).unwrap();
    let said = bench.fails(1, &resume);
    assert!(said.contains("the journal of steps is damaged"), "{said}");
    // It never had a checkpoint, only one that was being written.
    let part = checkpoint.with_file_name(".entry-1.checkpoint.x.partial");
    std::fs::rename(&checkpoint, &part).unwrap();
    std::fs::write(&journal, &steps).unwrap();
    let said = bench.fails(1, &resume);
    assert!(said.contains("first checkpoint"), "{said}");
    // Whoever gives it up then keeps the whole charge, and nothing else: it is settled in full, not reserved any more.
    let reserved = entry(&bench, 1)["epsilon"].clone();
    bench.json(&["runs", "discard", "latest"]);
    let charged = entry(&bench, 1);
    assert_eq!(charged["status"], "failed");
    assert_eq!(charged["epsilon"], reserved);
    assert!(
        charged["note"]
            .as_str()
            .is_some_and(|note| note.contains("charged in full"))
    );
    assert_eq!(steps_of(&charged["events"]), STEPS);
    assert!(files(&bench).is_empty(), "{:?}", files(&bench));
    assert_eq!(bench.json(&["ledger", "verify"])["verified"], true);
}

#[test]
fn a_run_without_a_promise_goes_on_too() {
    let bench = Bench::new();
    let input = bench.visits(2000);
    let out = bench.path("synthetic.csv");
    let arguments = [
        "synthesize",
        text(&input),
        "--method",
        "gan",
        "--rows",
        "50",
        "--out",
        text(&out),
        "--steps",
        "1500",
    ];
    killed(&bench, &arguments, "run-1", Duration::from_millis(300));
    let known = interrupted(&bench)[0].clone();
    assert_eq!(
        (known["id"].as_str(), known["lost_steps"].as_u64()),
        (Some("run-1"), Some(0))
    );
    let result = bench.json(&["runs", "resume", "latest", "--rows", "50", "--out", text(&out)]);
    assert_eq!(certificate(&result)["resumed"]["times"], 1);
    assert!(
        bench.json(&["ledger", "list"])["entries"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    assert!(files(&bench).is_empty());
}

#[test]
fn a_run_whose_folder_vanishes_ends_with_a_message() {
    let bench = Bench::new();
    let input = bench.visits(400);
    let out = bench.path("out.csv");
    // Kept so seldom that the run itself needs nothing of the folder before its end.
    let mut arguments = dpgan(text(&input), text(&out), "1500");
    arguments.extend(["--keep-every", "600"]);
    let mut child = bench
        .program()
        .args(&arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let ledger = bench.home().join("ledger.sqlite");
    let start = Instant::now();
    while !ledger.exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing was begun");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(300));
    std::fs::remove_dir_all(bench.home()).unwrap();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(240) {
            child.kill().unwrap();
            panic!("it waits for ever");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("error:"), "{said}");
    assert!(!out.exists(), "nothing is written without its certificate");
}
