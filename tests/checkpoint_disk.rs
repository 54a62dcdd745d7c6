//! A disk without room for a checkpoint: the run goes on and says so, and nothing that is half written is ever taken
//! for whole. A limit on the size of files stands for the disk: the journal, the ledger and what is exported fit under
//! it, a checkpoint does not.
#![cfg(unix)]

mod support;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Bench, text};

/// The largest file, in blocks of 512 bytes as `ulimit -f` has them: 3 MB. A checkpoint of [`arguments`] has 5.
const BLOCKS: u64 = 6000;
/// More steps than anybody waits for.
const ENDLESS: &str = "200000";

/// The program where no file may be larger. The signal that would end it is ignored, so that a write fails as it does on
/// a full disk.
fn limited(bench: &Bench) -> Command {
    let program = bench.program();
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg(format!("trap '' XFSZ; ulimit -f {BLOCKS}; exec \"$@\""))
        .arg("sh")
        .arg(program.get_program())
        .env("POINTILLIST_HOME", bench.home())
        .current_dir(bench.path("."));
    shell
}

fn arguments<'a>(input: &'a str, out: &'a str, steps: &'a str) -> Vec<&'a str> {
    let mut arguments = vec!["synthesize", input, "--method", "dpgan", "--epsilon", "2"];
    arguments.extend(["--delta", "1e-5", "--rows", "50", "--out", out, "--steps", steps]);
    arguments.extend(["--set", "batch-size=32", "--set", "generator-hidden=512,512"]);
    arguments.extend(["--set", "generator-batch=16", "--set", "fake-batch=16"]);
    arguments.extend(["--keep-every", "0.05"]);
    arguments
}

fn checkpoint(bench: &Bench) -> PathBuf {
    bench.home().join("checkpoints/entry-1.checkpoint")
}

fn entry(bench: &Bench) -> Value {
    bench.json(&["ledger", "show"])["entries"][0].clone()
}

fn interrupted(bench: &Bench) -> Vec<Value> {
    bench.json(&["runs", "list"])["runs"].as_array().unwrap().clone()
}

/// Waits until a file is there, and kills the run a while after: nothing of it gets to clean up.
fn kill_after(mut child: Child, file: &Path) {
    let start = Instant::now();
    while !file.exists() {
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "{} never came",
            file.display()
        );
        assert!(child.try_wait().unwrap().is_none(), "the run ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none(), "the run ended by itself");
    child.kill().unwrap();
    child.wait().unwrap();
}

fn quiet(command: &mut Command) -> Child {
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn assert_verified(bench: &Bench, certificate: &str, out: &Path) {
    let verified = bench.json(&["verify", certificate, "--data", text(out)]);
    assert_eq!(verified["verified"], true, "{verified}");
    assert_eq!(bench.json(&["ledger", "verify"])["verified"], true);
}

#[test]
fn a_run_without_room_for_its_checkpoint_goes_on_and_keeps_its_account() {
    let bench = Bench::new();
    let (input, out) = (bench.visits(1000), bench.path("out.csv"));
    let output = limited(&bench)
        .args(arguments(text(&input), text(&out), "150"))
        .arg("--json")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let told = "the run goes on, but its state at step 0 could not be kept: no space is left";
    assert_eq!(said.matches(told).count(), 1, "{said}");
    // It is tried again and again, and told once.
    assert_eq!(said.matches("could not be kept").count(), 1, "{said}");
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&result["steps"], &result["rows"]), (&150.into(), &50.into()));
    let charged = entry(&bench);
    assert_eq!(charged["status"], "finished");
    assert!(charged["epsilon"].as_f64().unwrap() <= 2.0, "{charged}");
    let certificate = result["certificate"].as_str().unwrap();
    assert_verified(&bench, certificate, &out);
    let papers: Value = serde_json::from_str(&std::fs::read_to_string(certificate).unwrap()).unwrap();
    assert_eq!(charged["events"], papers["events"]);
    assert!(papers["resumed"].is_null(), "{papers}");
    let left: Vec<_> = std::fs::read_dir(bench.home().join("checkpoints"))
        .unwrap()
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_run_that_was_never_kept_cannot_be_taken_up_and_stays_charged() {
    let bench = Bench::new();
    let (input, out) = (bench.visits(1000), bench.path("out.csv"));
    let child = quiet(limited(&bench).args(arguments(text(&input), text(&out), ENDLESS)));
    kill_after(child, &bench.home().join("checkpoints/entry-1.steps"));
    assert!(!checkpoint(&bench).exists());
    let whole = entry(&bench);
    assert_eq!(whole["status"], "reserved");
    let known = interrupted(&bench);
    assert_eq!(known.len(), 1);
    assert!(
        known[0]["checkpoint"].is_null() && known[0]["problem"].is_string(),
        "{known:?}"
    );
    let resume = ["runs", "resume", "entry-1", "--rows", "5", "--out", text(&out)];
    let said = bench.fails(1, &resume);
    assert!(
        said.contains("first checkpoint") && said.contains("runs discard entry-1"),
        "{said}"
    );
    bench.json(&["runs", "discard", "entry-1"]);
    // How far it came is not known: all that was reserved is charged.
    let settled = entry(&bench);
    assert_eq!(settled["status"], "failed", "{settled}");
    for key in ["id", "epsilon", "delta", "reserved", "events", "unit", "relation"] {
        assert_eq!(settled[key], whole[key], "{key}");
    }
    assert!(interrupted(&bench).is_empty());
}

#[test]
fn a_run_is_not_taken_up_where_that_cannot_be_noted() {
    let bench = Bench::new();
    let (input, out) = (bench.visits(1000), bench.path("out.csv"));
    let child = quiet(bench.program().args(arguments(text(&input), text(&out), "400")));
    kill_after(child, &checkpoint(&bench));
    let before = interrupted(&bench);
    let kept = std::fs::read(checkpoint(&bench)).unwrap();
    assert!(kept.len() as u64 > BLOCKS * 512, "it would fit: {}", kept.len());

    let resume = ["runs", "resume", "entry-1", "--rows", "50", "--out", text(&out)];
    let output = limited(&bench).args(resume).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("no space is left") && said.contains("entry-1.checkpoint"),
        "{said}"
    );
    // All is as it was: nothing was done, nothing more is counted as done.
    assert_eq!(std::fs::read(checkpoint(&bench)).unwrap(), kept);
    assert_eq!(interrupted(&bench), before);
    assert_eq!(entry(&bench)["status"], "reserved");

    // With room it goes on under the same reservation.
    let result = bench.json(&resume);
    assert_eq!(entry(&bench)["status"], "finished");
    let certificate = result["certificate"].as_str().unwrap();
    assert_verified(&bench, certificate, &out);
    let papers: Value = serde_json::from_str(&std::fs::read_to_string(certificate).unwrap()).unwrap();
    assert_eq!(papers["resumed"]["times"], 1);
    assert_eq!(papers["resumed"]["lost_steps"], before[0]["lost_steps"]);
}
