//! The ledger under ordinary use, bad luck and bad faith.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

mod misfortune;
mod totals;

use super::*;
use crate::privacy::{EventList, Neighboring, PrivacyEvent};

fn gaussian(noise_multiplier: f64, count: u64) -> EventList {
    let mut events = EventList::new(Neighboring::AddRemoveOne);
    events.push(PrivacyEvent::Gaussian { noise_multiplier }, count);
    events
}

fn job(dataset: DatasetId, events: EventList, epsilon: f64) -> Reservation {
    Reservation {
        dataset,
        dataset_name: "patients.csv".into(),
        kind: "dpgan".into(),
        events,
        epsilon,
        delta: 1e-5,
        unit: PrivacyUnit::Row,
        public: false,
        seed: None,
        description: "a run".into(),
    }
}

fn settled(events: EventList, epsilon: f64, outcome: Outcome) -> Settlement {
    Settlement {
        events,
        epsilon,
        delta: 1e-5,
        outcome,
        note: None,
    }
}

fn home() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn database(home: &Path) -> Connection {
    Connection::open(home.join("ledger.sqlite")).unwrap()
}

/// A ledger with `jobs` settled jobs, closed.
fn with_jobs(home: &Path, jobs: usize) {
    let mut ledger = Ledger::open(home).unwrap();
    let dataset = ledger.identify([1; 32]).unwrap();
    for _ in 0..jobs {
        let entry = ledger.reserve(&job(dataset, gaussian(5.0, 1), 1.0)).unwrap();
        ledger
            .settle(entry, &settled(gaussian(5.0, 1), 1.0, Outcome::Finished))
            .unwrap();
    }
}

fn findings(home: &Path) -> Vec<Finding> {
    let verification = Ledger::inspect(home).unwrap();
    assert_eq!(verification.verified, verification.findings.is_empty());
    assert_eq!(
        matches!(Ledger::open(home), Err(LedgerError::Broken { .. })),
        !verification.verified
    );
    verification.findings
}

#[test]
fn a_job_is_charged_from_its_reservation_on() {
    let home = home();
    let dataset = {
        let mut ledger = Ledger::open(home.path()).unwrap();
        let dataset = ledger.identify([1; 32]).unwrap();
        assert_eq!(ledger.budget(&dataset).unwrap().jobs, 0);
        let entry = ledger.reserve(&job(dataset, gaussian(5.0, 2), 1.5)).unwrap();
        assert_eq!(entry, EntryId(1));
        dataset
    };
    // As after a crash: the reservation stands.
    let mut ledger = Ledger::open(home.path()).unwrap();
    assert_eq!(ledger.identify([1; 32]).unwrap(), dataset);
    let budget = ledger.budget(&dataset).unwrap();
    assert_eq!(
        budget.reserved,
        Charge {
            epsilon: 1.5,
            delta: 1e-5
        }
    );
    assert_eq!(budget.spent, Charge::default());
    ledger
        .settle(EntryId(1), &settled(gaussian(5.0, 1), 1.0, Outcome::Finished))
        .unwrap();
    let budget = ledger.budget(&dataset).unwrap();
    assert_eq!(
        budget.spent,
        Charge {
            epsilon: 1.0,
            delta: 1e-5
        }
    );
    assert_eq!(budget.reserved, Charge::default());
    let entries = ledger.entries(Some(&dataset)).unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].status, Status::Finished);
    assert_eq!(entries[0].events, Some(gaussian(5.0, 1)));
    assert_eq!(
        entries[0].reserved,
        Some(Charge {
            epsilon: 1.5,
            delta: 1e-5
        })
    );
    assert!(ledger.verify().unwrap().verified);
}

#[test]
fn how_a_job_ends_decides_what_is_charged() {
    let home = home();
    let mut ledger = Ledger::open(home.path()).unwrap();
    let dataset = ledger.identify([1; 32]).unwrap();
    let outcomes = [
        (Outcome::Finished, 1.0),
        (
            Outcome::Failed {
                message: "the loss is not a number".into(),
            },
            1.0,
        ),
        (Outcome::StoppedByPerson, 2.0),
        (Outcome::Discarded, 0.0),
    ];
    let mut sum = 0.0;
    for (outcome, charged) in outcomes {
        let entry = ledger.reserve(&job(dataset, gaussian(5.0, 4), 2.0)).unwrap();
        ledger
            .settle(entry, &settled(gaussian(5.0, 1), 1.0, outcome.clone()))
            .unwrap();
        sum += charged;
        assert_eq!(
            ledger.budget(&dataset).unwrap().spent.epsilon.to_bits(),
            f64::to_bits(sum),
            "{outcome:?}"
        );
    }
    let entries = ledger.entries(None).unwrap();
    assert_eq!(
        entries[2].events,
        Some(gaussian(5.0, 4)),
        "a stop charges the plan"
    );
    assert_eq!(entries[3].events, Some(EventList::new(Neighboring::AddRemoveOne)));
    assert_eq!(
        ledger.budget(&dataset).unwrap().discarded,
        2,
        "nothing was kept of one that failed either"
    );
    assert!(matches!(
        ledger.settle(EntryId(1), &settled(gaussian(5.0, 1), 1.0, Outcome::Finished)),
        Err(LedgerError::AlreadySettled(EntryId(1)))
    ));
    assert!(matches!(
        ledger.settle(EntryId(99), &settled(gaussian(5.0, 1), 1.0, Outcome::Finished)),
        Err(LedgerError::UnknownEntry(EntryId(99)))
    ));
}

#[test]
fn what_was_executed_is_charged_even_beyond_the_reservation() {
    let home = home();
    let mut ledger = Ledger::open(home.path()).unwrap();
    let dataset = ledger.identify([1; 32]).unwrap();
    for outcome in [Outcome::Finished, Outcome::StoppedByPerson] {
        let entry = ledger.reserve(&job(dataset, gaussian(5.0, 1), 1.0)).unwrap();
        ledger
            .settle(entry, &settled(gaussian(5.0, 9), 3.0, outcome))
            .unwrap();
    }
    assert_eq!(
        ledger.budget(&dataset).unwrap().spent.epsilon.to_bits(),
        6.0_f64.to_bits()
    );
    assert!(
        ledger
            .entries(None)
            .unwrap()
            .iter()
            .all(|entry| entry.events == Some(gaussian(5.0, 9)))
    );
}

#[test]
fn numbers_come_back_to_the_last_digit() {
    let home = home();
    let mut ledger = Ledger::open(home.path()).unwrap();
    let dataset = ledger.identify([1; 32]).unwrap();
    let mut number = 0.1_f64;
    for _ in 0..50 {
        number = (number * 1.9).fract() + f64::EPSILON;
        let events = gaussian(1.0 / number, 1);
        let mut wanted = job(dataset, events.clone(), 3.0 * number);
        wanted.delta = number * 1e-9;
        let entry = ledger.reserve(&wanted).unwrap();
        let read = ledger.entries(None).unwrap().pop().unwrap();
        assert_eq!(read.id, entry);
        assert_eq!(read.epsilon.to_bits(), (3.0 * number).to_bits());
        assert_eq!(read.delta.to_bits(), (number * 1e-9).to_bits());
        assert_eq!(read.events, Some(events));
    }
}

#[test]
fn promises_that_are_none_are_refused() {
    let home = home();
    let mut ledger = Ledger::open(home.path()).unwrap();
    let dataset = ledger.identify([1; 32]).unwrap();
    for epsilon in [f64::NAN, f64::INFINITY, -1.0] {
        let refused = ledger.reserve(&job(dataset, gaussian(5.0, 1), epsilon));
        assert!(
            matches!(refused, Err(LedgerError::NotAPromise { .. })),
            "{epsilon}"
        );
    }
    let refused = ledger.reserve(&job(dataset, gaussian(f64::NAN, 1), 1.0));
    assert!(
        matches!(refused, Err(LedgerError::Unwritable { .. })),
        "{refused:?}"
    );
    assert!(ledger.entries(None).unwrap().is_empty());
    assert!(ledger.verify().unwrap().verified);
}

#[test]
fn every_change_of_every_column_is_found() {
    let changes = [
        "UPDATE entries SET time = time + 1 WHERE sequence = 3",
        "UPDATE entries SET kind = 'settlement' WHERE sequence = 3",
        "UPDATE entries SET dataset = zeroblob(32) WHERE sequence = 3",
        "UPDATE entries SET job = 1 WHERE sequence = 4",
        "UPDATE entries SET body = replace(body, '\"epsilon\":1.0', '\"epsilon\":0.5') WHERE sequence = 3",
        "UPDATE entries SET previous = zeroblob(32) WHERE sequence = 3",
        "UPDATE entries SET hash = zeroblob(32) WHERE sequence = 3",
        "UPDATE entries SET hash = zeroblob(3) WHERE sequence = 3",
        "UPDATE entries SET body = 'not even JSON' WHERE sequence = 6",
    ];
    for change in changes {
        let home = home();
        with_jobs(home.path(), 3);
        assert!(findings(home.path()).is_empty());
        assert_eq!(database(home.path()).execute(change, []).unwrap(), 1, "{change}");
        let found = findings(home.path());
        assert!(matches!(found[0], Finding::Changed { .. }), "{change}: {found:?}");
    }
}

#[test]
fn lost_moved_and_cut_off_entries_are_found() {
    let home = home();
    with_jobs(home.path(), 3);
    let whole = fs::read(home.path().join("ledger.sqlite")).unwrap();
    let change = |statement: &str| {
        fs::write(home.path().join("ledger.sqlite"), &whole).unwrap();
        database(home.path()).execute_batch(statement).unwrap();
        findings(home.path())
    };
    assert_eq!(
        change("DELETE FROM entries WHERE sequence = 2")[0],
        Finding::Lost { from: 2, to: 2 }
    );
    assert_eq!(
        change("DELETE FROM entries WHERE sequence <= 2")[0],
        Finding::Lost { from: 1, to: 2 }
    );
    assert_eq!(
        change("DELETE FROM entries WHERE sequence = 6"),
        [Finding::CutOff {
            found: 5,
            expected: 6
        }]
    );
    assert_eq!(
        change("DELETE FROM entries"),
        [Finding::CutOff {
            found: 0,
            expected: 6
        }]
    );
    let swapped = change(
        "UPDATE entries SET sequence = 99 WHERE sequence = 3;
         UPDATE entries SET sequence = 3 WHERE sequence = 5;
         UPDATE entries SET sequence = 5 WHERE sequence = 99",
    );
    assert!(swapped.contains(&Finding::Reordered { entry: 3 }), "{swapped:?}");
    assert!(swapped.contains(&Finding::Reordered { entry: 5 }), "{swapped:?}");
    let closed_up =
        change("DELETE FROM entries WHERE sequence = 5; UPDATE entries SET sequence = 5 WHERE sequence = 6");
    assert!(!closed_up.is_empty());
    assert_eq!(change(""), []);
}

#[test]
fn a_head_edited_to_fit_is_found() {
    let home = home();
    with_jobs(home.path(), 2);
    let head = home.path().join("ledger.head");
    let before = fs::read_to_string(&head).unwrap();
    let newest = before
        .lines()
        .find(|place| place.contains("\"count\":4"))
        .unwrap();
    let connection = database(home.path());
    connection
        .execute("DELETE FROM entries WHERE sequence = 4", [])
        .unwrap();
    let hash: Vec<u8> = connection
        .query_row("SELECT hash FROM entries WHERE sequence = 3", [], |row| {
            row.get(0)
        })
        .unwrap();
    drop(connection);
    // The end that fits, under the seal of another; or nothing where the newest end stood.
    let mut edited: serde_json::Value = serde_json::from_str(newest).unwrap();
    edited["count"] = 3.into();
    edited["hash"] = key::to_hex(&hash.try_into().unwrap()).into();
    let edited = format!("{:<4095}", edited.to_string());
    assert_eq!(edited.len(), newest.len());
    for place in [edited, " ".repeat(newest.len())] {
        fs::write(&head, before.replace(newest, &place)).unwrap();
        assert_eq!(findings(home.path()), [Finding::HeadDamaged]);
    }
    fs::write(&head, newest).unwrap();
    assert_eq!(
        findings(home.path()),
        [Finding::CutOff {
            found: 3,
            expected: 4
        }]
    );
    fs::remove_file(&head).unwrap();
    assert_eq!(findings(home.path()), [Finding::HeadMissing]);
}

#[test]
fn a_head_cut_short_by_a_power_failure_is_mended() {
    let home = home();
    with_jobs(home.path(), 2);
    let head = home.path().join("ledger.head");
    let before = fs::read_to_string(&head).unwrap();
    let cut_short = |count: u64| {
        let place = before
            .lines()
            .find(|place| place.contains(&format!("\"count\":{count},")))
            .unwrap();
        before.replace(place, &format!("{:\0<4095}", &place[..100]))
    };
    // The head of entry 4 was being written: its entry is there, and so is the head of the one before.
    fs::write(&head, cut_short(4)).unwrap();
    {
        let mut ledger = Ledger::open(home.path()).unwrap();
        let dataset = ledger.identify([1; 32]).unwrap();
        assert_eq!(ledger.budget(&dataset).unwrap().jobs, 2);
    }
    assert!(findings(home.path()).is_empty());
    // Nothing was being written after entry 4, so this was done by hand.
    fs::write(&head, cut_short(3)).unwrap();
    assert_eq!(findings(home.path()), [Finding::HeadDamaged]);
}

#[test]
fn two_writers_that_die_one_after_the_other_leave_no_gap() {
    let home = home();
    with_jobs(home.path(), 2);
    let head = home.path().join("ledger.head");
    let mut living = Ledger::open(home.path()).unwrap();
    let dataset = living.identify([1; 32]).unwrap();
    // One dies between database and head while the other has the ledger open, and so does the other.
    for _ in 0..2 {
        let before = fs::read(&head).unwrap();
        living.reserve(&job(dataset, gaussian(5.0, 1), 1.0)).unwrap();
        let known: Vec<u8> = fs::read(&head).unwrap();
        fs::write(&head, before).unwrap();
        living.reserve(&job(dataset, gaussian(5.0, 1), 1.0)).unwrap();
        assert_ne!(fs::read(&head).unwrap(), known);
    }
    drop(living);
    assert!(findings(home.path()).is_empty());
}

#[test]
fn a_crash_between_database_and_head_is_mended() {
    let home = home();
    with_jobs(home.path(), 2);
    let head = home.path().join("ledger.head");
    let before = fs::read(&head).unwrap();
    {
        let mut ledger = Ledger::open(home.path()).unwrap();
        let dataset = ledger.identify([1; 32]).unwrap();
        ledger.reserve(&job(dataset, gaussian(5.0, 1), 1.0)).unwrap();
    }
    fs::write(&head, &before).unwrap();
    {
        let mut ledger = Ledger::open(home.path()).unwrap();
        let dataset = ledger.identify([1; 32]).unwrap();
        assert_eq!(
            ledger.budget(&dataset).unwrap().reserved.epsilon.to_bits(),
            1.0_f64.to_bits()
        );
        assert!(ledger.verify().unwrap().verified);
        // From now on the entry cannot be cut off unnoticed either.
        ledger.reserve(&job(dataset, gaussian(5.0, 1), 1.0)).unwrap();
    }
    fs::write(&head, &before).unwrap();
    assert_eq!(findings(home.path()), [Finding::HeadStale { known: 4, found: 6 }]);
}

#[test]
fn an_open_ledger_notices_what_happens_to_its_files() {
    let home = home();
    with_jobs(home.path(), 2);
    let mut ledger = Ledger::open(home.path()).unwrap();
    let dataset = ledger.identify([1; 32]).unwrap();
    database(home.path())
        .execute("DELETE FROM entries WHERE sequence = 4", [])
        .unwrap();
    assert!(matches!(
        ledger.reserve(&job(dataset, gaussian(5.0, 1), 1.0)),
        Err(LedgerError::Broken { .. })
    ));
    assert!(matches!(ledger.budget(&dataset), Err(LedgerError::Broken { .. })));
}

#[test]
fn a_clock_that_runs_backwards_changes_no_order() {
    let home = home();
    let mut ledger = Ledger::open(home.path()).unwrap();
    let dataset = ledger.identify([1; 32]).unwrap();
    ledger.set_clock(|| 2_000_000_000_000);
    ledger.reserve(&job(dataset, gaussian(5.0, 1), 1.0)).unwrap();
    ledger.set_clock(|| 1_000_000_000_000);
    ledger.reserve(&job(dataset, gaussian(5.0, 1), 1.0)).unwrap();
    ledger.set_clock(|| -5);
    ledger.reserve(&job(dataset, gaussian(5.0, 1), 1.0)).unwrap();
    let times: Vec<i64> = ledger
        .entries(None)
        .unwrap()
        .iter()
        .map(|entry| entry.time_ms)
        .collect();
    assert_eq!(times, [2_000_000_000_000; 3]);
    assert!(ledger.verify().unwrap().verified);
    drop(ledger);
    assert!(findings(home.path()).is_empty());
}

#[test]
fn a_changed_file_continues_its_budget() {
    let home = home();
    let mut ledger = Ledger::open(home.path()).unwrap();
    let (old, new) = (
        ledger.identify([1; 32]).unwrap(),
        ledger.identify([2; 32]).unwrap(),
    );
    ledger.reserve(&job(old, gaussian(5.0, 1), 1.0)).unwrap();
    let asked = ledger.may_be_version_of(&new, "patients.csv").unwrap();
    assert_eq!((asked.len(), asked[0].number, asked[0].id), (1, 1, old));
    assert!(ledger.may_be_version_of(&new, "other.csv").unwrap().is_empty());
    ledger.continue_budget(&new, &old, "patients.csv").unwrap();
    assert!(ledger.may_be_version_of(&new, "patients.csv").unwrap().is_empty());
    ledger.reserve(&job(new, gaussian(5.0, 1), 1.0)).unwrap();
    for dataset in [&old, &new] {
        assert_eq!(
            ledger.budget(dataset).unwrap().reserved.epsilon.to_bits(),
            2.0_f64.to_bits()
        );
        assert_eq!(ledger.entries(Some(dataset)).unwrap().len(), 3);
    }
    assert_eq!(ledger.datasets().unwrap()[0].versions, 2);
    let again = ledger.continue_budget(&new, &old, "patients.csv");
    assert!(matches!(again, Err(LedgerError::AlreadyKnown { .. })));
    drop(ledger);
    assert_eq!(
        Ledger::open(home.path())
            .unwrap()
            .entries(Some(&new))
            .unwrap()
            .len(),
        3
    );
}

#[test]
fn what_people_read_holds_no_hash() {
    let home = home();
    let mut ledger = Ledger::open(home.path()).unwrap();
    let dataset = ledger.identify([1; 32]).unwrap();
    ledger.reserve(&job(dataset, gaussian(5.0, 1), 1.0)).unwrap();
    ledger
        .set_total(&dataset, "patients.csv", (9.0, 1e-5), "a study")
        .unwrap();
    let shown = [
        serde_json::to_string(&ledger.entries(None).unwrap()).unwrap(),
        serde_json::to_string(&ledger.datasets().unwrap()).unwrap(),
        serde_json::to_string(&ledger.budget(&dataset).unwrap()).unwrap(),
        format!("{ledger:?} {dataset:?} {:?}", ledger.entries(None).unwrap()),
    ];
    let hash = key::to_hex(&dataset.0);
    for text in &shown {
        assert!(!text.contains(&hash[..16]), "{text}");
        assert!(!text.contains(&format!("{:?}", dataset.0)), "{text}");
    }
    assert!(
        shown[0].contains(r#""status":"reserved","epsilon":1.0,"delta":0.00001"#),
        "{}",
        shown[0]
    );
}
