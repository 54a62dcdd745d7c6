//! The ledger under ordinary use, bad luck and bad faith.

use std::path::Path;

use rusqlite::Connection;

mod chain;
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
