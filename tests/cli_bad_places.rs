//! Places that cannot be written and ledgers that cannot be used, on the command line: told before anything is
//! spent, with a remedy, and nothing is left behind.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use support::{Bench, text};

/// A short private run that writes `out`.
fn arguments<'a>(input: &'a str, out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec![
        "synthesize",
        input,
        "--method",
        "dpgan",
        "--rows",
        "10",
        "--out",
        out,
    ];
    arguments.extend(["--epsilon", "1", "--delta", "1e-5", "--steps", "5"]);
    arguments.extend(more);
    arguments
}

fn entries(bench: &Bench) -> usize {
    bench.json(&["ledger", "list"])["entries"]
        .as_array()
        .unwrap()
        .len()
}

#[cfg(target_os = "linux")]
struct Mounted<'a>(&'a Path);

#[cfg(target_os = "linux")]
impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[cfg(target_os = "linux")]
fn mount(options: &str, at: &Path) -> bool {
    fs::create_dir_all(at).unwrap();
    let mut command = Command::new("mount");
    command.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(at);
    command.output().is_ok_and(|output| output.status.success())
}

/// A folder that takes no files from anybody, administrators included.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_takes_no_files_is_told_before_anything_is_spent() {
    let bench = Bench::new();
    let input = bench.visits(200);
    let said = bench.fails(1, &arguments(text(&input), "/sys/out.csv", &[]));
    assert!(said.contains("/sys") && said.contains("choose another"), "{said}");
    assert_eq!(entries(&bench), 0);
    let said = bench.fails(1, &["profile", text(&input), "--out", "/sys/s.toml"]);
    assert!(
        said.contains("/sys") && said.contains("choose another") && !said.contains("os error"),
        "{said}"
    );
    let output = bench
        .program()
        .env("POINTILLIST_HOME", "/sys/pointillist")
        .args(arguments(text(&input), "out.csv", &[]))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("POINTILLIST_HOME"), "{said}");
    assert!(!bench.path("out.csv").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_or_read_only_disk_is_told_before_anything_is_spent() {
    let bench = Bench::new();
    let input = bench.visits(200);
    let (small, fixed) = (bench.path("small"), bench.path("fixed"));
    if !mount("size=200k", &small) {
        println!("skipped: no right to mount a small disk");
        return;
    }
    let _small = Mounted(&small);
    assert!(mount("size=8m,ro", &fixed));
    let _fixed = Mounted(&fixed);
    let said = bench.fails(1, &arguments(text(&input), text(&small.join("out.csv")), &[]));
    assert!(
        said.contains("no space is left") && said.contains("out.csv"),
        "{said}"
    );
    assert_eq!(fs::read_dir(&small).unwrap().count(), 0);
    let said = bench.fails(1, &arguments(text(&input), text(&fixed.join("out.csv")), &[]));
    assert!(said.contains("takes no new files"), "{said}");
    assert_eq!(entries(&bench), 0);

    // The program's own folder on such disks: nothing is trained that could not be charged.
    for home in [&small, &fixed] {
        let filler = home.join("filler");
        if home == &small {
            let _ = fs::write(&filler, vec![0; 1 << 20]);
        }
        let output = bench
            .program()
            .env("POINTILLIST_HOME", home)
            .args(arguments(text(&input), text(&bench.path("out.csv")), &[]))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        let reason = if home == &small {
            "the disk is full"
        } else {
            "read-only"
        };
        assert!(said.contains(reason), "{said}");
        assert!(!bench.path("out.csv").exists());
    }
}

/// Every form of a table, in the words of a full disk and not of a fault.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fills_while_a_table_is_written_is_told_in_every_form() {
    let bench = Bench::new();
    let input = bench.visits(200);
    let small = bench.path("small");
    if !mount("size=3m", &small) {
        println!("skipped: no right to mount a small disk");
        return;
    }
    let _small = Mounted(&small);
    let out = bench.path("out.csv");
    bench.json(&arguments(text(&input), text(&out), &[]));
    let generator = format!("{}.generator.safetensors", text(&out));
    for ending in ["xlsx", "csv", "sqlite"] {
        let out = small.join(format!("o.{ending}"));
        fs::write(&out, "old").unwrap();
        let rows = ["sample", &generator, "--rows", "400000", "--force", "--out"];
        let said = bench.fails(1, &[&rows[..], &[text(&out)]].concat());
        assert!(
            said.contains("no space is left") || said.contains("would take about"),
            "{ending}: {said}"
        );
        assert!(!said.contains("panicked"), "{said}");
        assert_eq!(fs::read_to_string(&out).unwrap(), "old");
        fs::remove_file(&out).unwrap();
        assert_eq!(fs::read_dir(&small).unwrap().count(), 0, "{ending}");
    }
}

#[test]
fn nothing_is_spent_on_a_database_beside_what_an_old_one_has_left() {
    let bench = Bench::new();
    let input = bench.visits(200);
    let out = bench.path("out.sqlite");
    for (ending, more) in [("-journal", &[][..]), ("-wal", &["--force"][..])] {
        let left = bench.path(&format!("out.sqlite{ending}"));
        fs::write(&left, "rows").unwrap();
        let said = bench.fails(1, &arguments(text(&input), text(&out), more));
        assert!(
            said.contains(text(&left)) && said.contains("choose another name"),
            "{said}"
        );
        assert_eq!(entries(&bench), 0);
        fs::remove_file(left).unwrap();
        fs::write(&out, "old").unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_is_not_written_into() {
    let bench = Bench::new();
    let input = bench.visits(200);
    let pipe = bench.path("pipe.csv");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let said = bench.fails(1, &arguments(text(&input), text(&pipe), &["--force"]));
    assert!(said.contains("a pipe or a device"), "{said}");
    assert_eq!(entries(&bench), 0);
}

#[test]
fn a_fixed_seed_is_told_where_the_run_ends() {
    let bench = Bench::new();
    let input = bench.visits(200);
    let out = bench.path("out.csv");
    let output = bench.run(&arguments(text(&input), text(&out), &["--seed", "4"]));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("no DP claim") && said.contains("seed"), "{said}");
}

#[test]
fn a_ledger_that_cannot_be_used_stops_every_spend_and_stays_as_it_was() {
    let bench = Bench::new();
    let input = bench.visits(200);
    let out = bench.path("out.csv");
    let run = arguments(text(&input), text(&out), &["--force"]);
    bench.json(&run);
    let database = bench.home().join("ledger.sqlite");
    let whole = fs::read(&database).unwrap();
    let refused = |expected: &[&str]| {
        fs::remove_file(&out).unwrap();
        let said = bench.fails(1, &run);
        for part in expected {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(!out.exists(), "nothing is made that could not be charged");
        fs::write(&out, "").unwrap();
    };

    // Not a database at all, and one that is half written.
    for damaged in [b"no database".to_vec(), whole[..whole.len() / 2].to_vec()] {
        fs::write(&database, &damaged).unwrap();
        refused(&["ledger.sqlite", "set aside as", "backup"]);
        let aside = fs::read_dir(bench.home())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| text(path).contains("damaged-"))
            .unwrap();
        assert_eq!(fs::read(&aside).unwrap(), damaged, "nothing of it is lost");
        assert!(!database.exists(), "no fresh ledger with all the budget left");
        // Told again, not forgotten.
        refused(&["missing", text(&aside)]);
        fs::remove_file(aside).unwrap();
        fs::write(&database, &whole).unwrap();
    }

    let change = |statement: &str| {
        rusqlite::Connection::open(&database)
            .unwrap()
            .execute_batch(statement)
            .unwrap();
        let changed = fs::read(&database).unwrap();
        let expected: &[&str] = if statement.starts_with("PRAGMA") {
            &["format version 9", "update the program"]
        } else {
            &["is not whole", "backup"]
        };
        refused(expected);
        assert_eq!(fs::read(&database).unwrap(), changed, "it is left as it was");
        fs::write(&database, &whole).unwrap();
    };
    change("PRAGMA user_version = 9");
    change("DELETE FROM entries WHERE sequence = 2");
    change(
        "UPDATE entries SET body = replace(body, '\"epsilon\":0.9', '\"epsilon\":0.1') WHERE sequence = 1",
    );

    fs::write(&out, "").unwrap();
    bench.json(&run);
    assert_eq!(entries(&bench), 2);
}

#[test]
fn a_ledger_that_another_program_holds_is_waited_for_and_then_told() {
    let bench = Bench::new();
    let input = bench.visits(200);
    let out = bench.path("out.csv");
    bench.json(&arguments(text(&input), text(&out), &[]));
    let lock = fs::File::options()
        .write(true)
        .open(bench.home().join("ledger.lock"))
        .unwrap();
    lock.lock().unwrap();
    let start = std::time::Instant::now();
    let said = bench.fails(1, &arguments(text(&input), text(&out), &["--force"]));
    assert!(
        said.contains("in use by another program") && said.contains("try again"),
        "{said}"
    );
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    let said = bench.fails(1, &["ledger", "list"]);
    assert!(said.contains("in use by another program"), "{said}");
    lock.unlock().unwrap();
    assert_eq!(entries(&bench), 1, "nothing was spent");
}

#[test]
fn a_condition_that_no_row_meets_is_told_before_anything_is_spent() {
    let bench = Bench::new();
    let input = bench.visits(200);
    let out = bench.path("out.csv");
    for (condition, expected) in [
        ("wing=west", "wing"),
        ("age=40", "age"),
        ("outcome=dead", "`well`, `ill`"),
    ] {
        let said = bench.fails(1, &arguments(text(&input), text(&out), &["--where", condition]));
        assert!(said.contains(expected), "{said}");
        assert!(!out.exists());
    }
    assert_eq!(entries(&bench), 0);
}
