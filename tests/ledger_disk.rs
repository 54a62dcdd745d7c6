//! The ledger on a disk that is full, and on one that takes no writes. Needs the right to mount a small one;
//! without it the test says so and passes (the same refusals are tested inside the ledger by other means).
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;

use pointillist::export::{ExportError, write_atomically};
use pointillist::privacy::ledger::{Ledger, LedgerError, PrivacyUnit, Reservation};
use pointillist::privacy::{EventList, Neighboring, PrivacyEvent};

struct Mounted<'a>(&'a Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

fn mount(options: &str, at: &Path) -> bool {
    let done = Command::new("mount")
        .args(["-t", "tmpfs", "-o", options, "tmpfs"])
        .arg(at)
        .output();
    done.is_ok_and(|output| output.status.success())
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one disk goes through all its states, each resting on the one before"
)]
fn a_full_or_read_only_disk_is_refused_and_nothing_is_spent() {
    let home = tempfile::tempdir().unwrap();
    if !mount("size=512k", home.path()) {
        println!("skipped: no right to mount a small disk");
        return;
    }
    let _mounted = Mounted(home.path());
    let mut ledger = Ledger::open(home.path()).unwrap();
    let dataset = ledger.identify([1; 32]).unwrap();
    let mut events = EventList::new(Neighboring::AddRemoveOne);
    events.push(
        PrivacyEvent::Gaussian {
            noise_multiplier: 5.0,
        },
        1,
    );
    let job = Reservation {
        dataset,
        dataset_name: "rows.csv".into(),
        kind: "dpgan".into(),
        events,
        epsilon: 1.0,
        delta: 1e-5,
        unit: PrivacyUnit::Row,
        public: false,
        seed: None,
        description: "a run ".repeat(100),
    };
    ledger.reserve(&job).unwrap();

    // Fill what is left, to the last byte.
    let filler = home.path().join("filler");
    let mut size = 1 << 20;
    let mut bytes = Vec::new();
    while size > 0 {
        bytes.resize(bytes.len() + size, 0_u8);
        if fs::write(&filler, &bytes).is_err() {
            bytes.truncate(bytes.len() - size);
            size /= 2;
        }
    }
    let _ = fs::write(&filler, &bytes);
    let mut jobs = 1;
    let refused = loop {
        match ledger.reserve(&job) {
            // The log may still have had room in the pages it holds.
            Ok(_) => jobs += 1,
            Err(error) => break error,
        }
        assert!(jobs < 1000, "the disk is full");
    };
    assert!(matches!(refused, LedgerError::NoSpace { .. }), "{refused:?}");
    assert_eq!(
        ledger.budget(&dataset).unwrap().jobs,
        jobs,
        "what was refused is not charged"
    );
    assert!(ledger.verify().unwrap().verified);
    let mut shown = Ledger::open_to_read(home.path()).unwrap();
    assert_eq!(
        shown.budget(&dataset).unwrap().jobs,
        jobs,
        "a full disk can be looked at"
    );
    drop(shown);
    let table = home.path().join("out.csv");
    let error = write_atomically(&table, &vec![b'x'; 100_000], false).unwrap_err();
    assert!(matches!(error, ExportError::NoSpace { .. }), "{error:?}");
    assert!(!table.exists());

    // With space it goes on.
    fs::remove_file(&filler).unwrap();
    ledger.reserve(&job).unwrap();
    assert!(ledger.verify().unwrap().verified);
    drop(ledger);

    let remounted = Command::new("mount")
        .args(["-o", "remount,ro"])
        .arg(home.path())
        .status();
    assert!(remounted.is_ok_and(|status| status.success()));
    let refused = Ledger::open(home.path()).unwrap_err();
    assert!(matches!(refused, LedgerError::ReadOnly { .. }), "{refused:?}");
    // It can be looked at all the same.
    let mut shown = Ledger::open_to_read(home.path()).unwrap();
    assert!(shown.is_read_only());
    assert_eq!(shown.budget(&dataset).unwrap().jobs, jobs + 1);
    assert!(shown.verify().unwrap().verified);
    assert!(Ledger::inspect(home.path()).unwrap().verified);
    let refused = shown.reserve(&job).unwrap_err();
    assert!(matches!(refused, LedgerError::ReadOnly { .. }), "{refused:?}");
    let program = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_pointillist"))
            .args(arguments)
            .env("POINTILLIST_HOME", home.path())
            .output()
            .unwrap()
    };
    for command in ["list", "show", "verify"] {
        let output = program(&["ledger", command, "--json"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {said}");
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        if command == "verify" {
            assert_eq!(told["entries"], jobs + 1);
        } else {
            assert_eq!(told["entries"].as_array().unwrap().len() as u64, jobs + 1);
            assert!(said.contains("cannot be written"), "{said}");
        }
    }
    let total = [
        "ledger",
        "set-total",
        "rows.csv",
        "--epsilon",
        "1",
        "--delta",
        "1e-5",
        "--reason",
        "x",
    ];
    let output = program(&total);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("read-only"));
    let error = write_atomically(&table, b"x", false).unwrap_err();
    assert!(matches!(error, ExportError::FolderReadOnly { .. }), "{error:?}");
}

/// A first start on a disk of any size that is too small: the reason is the space, whichever file had none.
#[test]
fn a_first_start_on_a_full_disk_says_that_it_is_full() {
    let folder = tempfile::tempdir().unwrap();
    let mut refused = 0;
    for kilobytes in [4, 8, 12, 16, 24, 32, 40] {
        let home = folder.path().join(format!("home-{kilobytes}"));
        fs::create_dir(&home).unwrap();
        if !mount(&format!("size={kilobytes}k"), &home) {
            println!("skipped: no right to mount a small disk");
            return;
        }
        let _mounted = Mounted(&home);
        let mut ledger = match Ledger::open_to_read(&home) {
            Ok(ledger) => ledger,
            Err(error) => {
                assert!(
                    matches!(error, LedgerError::NoSpace { .. }),
                    "{kilobytes}: {error:?}"
                );
                assert!(
                    Ledger::inspect(&home).is_err_and(|error| matches!(error, LedgerError::NoSpace { .. }))
                );
                refused += 1;
                continue;
            }
        };
        // Nothing was ever kept there, which can be looked at; nothing can be spent.
        assert!(ledger.is_read_only() && ledger.entries(None).unwrap().is_empty());
        let dataset = ledger.identify([1; 32]).unwrap();
        let error = ledger
            .set_total(&dataset, "rows.csv", (1.0, 1e-5), "x")
            .unwrap_err();
        assert!(
            matches!(error, LedgerError::NoSpace { .. }),
            "{kilobytes}: {error:?}"
        );
        let said = error.to_string();
        assert!(
            said.contains("disk is full") && said.contains("free some space"),
            "{said}"
        );
        refused += 1;
    }
    assert_eq!(refused, 7);
}
