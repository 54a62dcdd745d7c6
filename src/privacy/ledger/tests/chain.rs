//! Whether the chain is whole: changed, lost, moved and cut-off entries, and heads that do not fit.

use std::fs;

use super::*;

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
