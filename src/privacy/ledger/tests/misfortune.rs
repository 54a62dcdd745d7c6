//! Damaged, missing, foreign and newer files, full disks, other holders, and coming back from all that.

use std::fs;

use super::super::files::Paths;
use super::super::store::{self, MIGRATIONS, Migration, OpenFailure};
use super::*;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Damages the database, and says what must hold then: it is put aside as it was, and nothing is spent.
fn expect_set_aside(damage: impl Fn(&Path)) {
    let home = home();
    with_jobs(home.path(), 20);
    let backup = home.path().join("backups").join("one");
    Ledger::open(home.path()).unwrap().backup(&backup).unwrap();
    let path = home.path().join("ledger.sqlite");
    damage(&path);
    let damaged = fs::read(&path).unwrap();
    let aside = match Ledger::open(home.path()) {
        Err(error @ LedgerError::SetAside { .. }) => {
            let text = error.to_string();
            let LedgerError::SetAside { aside, .. } = error else {
                unreachable!()
            };
            assert!(text.contains(aside.to_str().unwrap()), "{text}");
            aside
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(fs::read(&aside).unwrap(), damaged, "nothing of it is lost");
    for _ in 0..2 {
        match Ledger::open(home.path()) {
            Err(LedgerError::Missing {
                aside: Some(told), ..
            }) => assert_eq!(told, aside),
            other => panic!("{other:?}"),
        }
        assert!(!path.exists(), "no fresh ledger with all the budget left");
    }
    for name in ["ledger.sqlite", "ledger.head", "ledger.key"] {
        fs::copy(backup.join(name), home.path().join(name)).unwrap();
    }
    let mut restored = Ledger::open(home.path()).unwrap();
    let dataset = restored.identify([1; 32]).unwrap();
    assert_eq!(restored.budget(&dataset).unwrap().jobs, 20);
    assert_eq!(fs::read(&aside).unwrap(), damaged);
}

#[test]
fn a_damaged_ledger_is_set_aside() {
    expect_set_aside(|path| fs::write(path, "no database at all, whatever its name says").unwrap());
    expect_set_aside(|path| fs::write(path, vec![0xa5; 50_000]).unwrap());
}

#[test]
fn a_half_written_ledger_is_set_aside() {
    expect_set_aside(|path| fs::write(path, "").unwrap());
    expect_set_aside(|path| {
        let whole = fs::read(path).unwrap();
        fs::write(path, &whole[..whole.len() / 2]).unwrap();
    });
    expect_set_aside(|path| {
        let whole = fs::read(path).unwrap();
        fs::write(path, &whole[..100]).unwrap();
    });
}

#[test]
fn another_programs_database_is_set_aside() {
    expect_set_aside(|path| {
        fs::remove_file(path).unwrap();
        Connection::open(path)
            .unwrap()
            .execute_batch("CREATE TABLE notes (text)")
            .unwrap();
    });
    expect_set_aside(|path| {
        fs::remove_file(path).unwrap();
        let other = Connection::open(path).unwrap();
        other
            .execute_batch("CREATE TABLE notes (text); PRAGMA user_version = 1")
            .unwrap();
    });
}

#[test]
fn two_that_are_set_aside_keep_their_names() {
    let home = home();
    let path = home.path().join("ledger.sqlite");
    let mut asides = Vec::new();
    for text in ["the first", "the second"] {
        fs::write(&path, text).unwrap();
        match Ledger::open(home.path()) {
            Err(LedgerError::SetAside { aside, .. }) => asides.push(aside),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(fs::read(&asides[0]).unwrap(), b"the first");
    assert_eq!(fs::read(&asides[1]).unwrap(), b"the second");
    assert!(matches!(
        Ledger::open(home.path()),
        Err(LedgerError::Missing { .. })
    ));
}

#[test]
fn no_flipped_byte_hides_a_spend() {
    let home = home();
    with_jobs(home.path(), 12);
    let path = home.path().join("ledger.sqlite");
    let whole = fs::read(&path).unwrap();
    let step = whole.len() / 150 + 1;
    let mut noticed = 0;
    for at in (0..whole.len()).step_by(step) {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x10;
        fs::write(&path, &flipped).unwrap();
        match Ledger::open(home.path()) {
            Ok(mut ledger) => {
                // The byte was in unused space, or one that SQLite mends.
                let dataset = ledger.identify([1; 32]).unwrap();
                assert_eq!(ledger.budget(&dataset).unwrap().jobs, 12, "byte {at}");
            }
            Err(_) => noticed += 1,
        }
        for name in names(home.path()) {
            if name.starts_with("ledger.sqlite") {
                fs::remove_file(home.path().join(name)).unwrap();
            }
        }
    }
    assert!(noticed > 30, "{noticed}");
}

#[test]
fn a_newer_ledger_is_left_alone() {
    let home = home();
    with_jobs(home.path(), 1);
    database(home.path())
        .pragma_update(None, "user_version", 9)
        .unwrap();
    let before = fs::read(home.path().join("ledger.sqlite")).unwrap();
    match Ledger::open(home.path()) {
        Err(error @ LedgerError::Newer { found: 9, .. }) => {
            assert!(error.to_string().contains("update the program"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(fs::read(home.path().join("ledger.sqlite")).unwrap(), before);
    assert!(!names(home.path()).iter().any(|name| name.contains("damaged")));
}

#[test]
fn an_older_format_is_brought_up_to_date_and_kept() {
    fn add_a_table(transaction: &rusqlite::Transaction<'_>) -> rusqlite::Result<()> {
        transaction.execute_batch("CREATE TABLE remarks (entry INTEGER, text TEXT) STRICT")
    }
    let home = home();
    with_jobs(home.path(), 3);
    let paths = Paths::new(home.path());
    let newer: Vec<Migration> = MIGRATIONS
        .iter()
        .copied()
        .chain([add_a_table as Migration])
        .collect();
    let Ok(connection) = store::open(&paths, &newer) else {
        panic!("it opens")
    };
    let version: i64 = connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    assert_eq!(version, newer.len() as i64);
    assert_eq!(read::count(&connection).unwrap(), 6);
    connection
        .execute("INSERT INTO remarks VALUES (1, 'new')", [])
        .unwrap();
    drop(connection);
    assert!(matches!(
        store::open(&paths, MIGRATIONS),
        Err(OpenFailure::Other(LedgerError::Newer { .. }))
    ));
    let kept = home
        .path()
        .join(format!("ledger.sqlite.version-{}", MIGRATIONS.len()));
    let old = Connection::open(kept).unwrap();
    assert_eq!(read::count(&old).unwrap(), 6);
    assert!(old.prepare("SELECT * FROM remarks").is_err());
}

#[test]
fn a_missing_file_is_never_a_fresh_start() {
    for (gone, from_key_on) in [
        ("ledger.sqlite", false),
        ("ledger.key", true),
        ("ledger.head", false),
    ] {
        let home = home();
        with_jobs(home.path(), 2);
        fs::remove_file(home.path().join(gone)).unwrap();
        for _ in 0..2 {
            let error = Ledger::open(home.path()).unwrap_err();
            assert!(error.to_string().contains(gone), "{error}");
            assert_eq!(matches!(error, LedgerError::KeyMissing { .. }), from_key_on);
            assert!(!home.path().join(gone).exists());
        }
    }
    let home = home();
    with_jobs(home.path(), 2);
    fs::remove_file(home.path().join("ledger.sqlite")).unwrap();
    fs::remove_file(home.path().join("ledger.head")).unwrap();
    assert!(matches!(
        Ledger::open(home.path()),
        Err(LedgerError::Missing { .. })
    ));
}

#[test]
fn a_first_start_cut_short_starts_again() {
    let whole = home();
    drop(Ledger::open(whole.path()).unwrap());
    // Database, key, head: in this order they come.
    for made in [&["ledger.sqlite"][..], &["ledger.sqlite", "ledger.key"], &[]] {
        let home = home();
        for name in made {
            fs::copy(whole.path().join(name), home.path().join(name)).unwrap();
        }
        fs::write(home.path().join(".ledger.head.abc"), "half").unwrap();
        fs::write(home.path().join(".ledger.key.abc"), "half").unwrap();
        with_jobs(home.path(), 1);
        assert!(findings(home.path()).is_empty());
        assert!(names(home.path()).iter().all(|name| !name.starts_with('.')));
    }
    let home = home();
    fs::write(home.path().join("ledger.sqlite"), "").unwrap();
    with_jobs(home.path(), 1);
}

#[test]
fn another_installations_key_is_told() {
    let (home, other) = (home(), home());
    with_jobs(home.path(), 2);
    with_jobs(other.path(), 2);
    fs::copy(other.path().join("ledger.key"), home.path().join("ledger.key")).unwrap();
    match Ledger::open(home.path()) {
        Err(error @ LedgerError::KeyWrong { .. }) => {
            assert!(
                error.to_string().contains("the key that was backed up with it"),
                "{error}"
            );
        }
        error => panic!("{error:?}"),
    }
    fs::write(home.path().join("ledger.key"), "gone").unwrap();
    assert!(matches!(
        Ledger::open(home.path()),
        Err(LedgerError::KeyWrong { .. })
    ));
}

#[test]
fn a_full_disk_is_refused_before_anything_is_spent() {
    let home = home();
    let mut ledger = Ledger::open(home.path()).unwrap();
    let dataset = ledger.identify([1; 32]).unwrap();
    let before = ledger.reserve(&job(dataset, gaussian(5.0, 1), 1.0)).unwrap();
    let pages: i64 = ledger
        .files()
        .unwrap()
        .1
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .unwrap();
    let limit = |ledger: &Ledger, pages: i64| {
        let set: i64 = ledger
            .files()
            .unwrap()
            .1
            .pragma_update_and_check(None, "max_page_count", pages, |row| row.get(0))
            .unwrap();
        assert_eq!(set, pages);
    };
    limit(&ledger, pages);
    let mut large = job(dataset, gaussian(5.0, 1), 1.0);
    large.description = "x".repeat(100_000);
    let refused = ledger.reserve(&large);
    assert!(matches!(refused, Err(LedgerError::NoSpace { .. })), "{refused:?}");
    assert_eq!(ledger.budget(&dataset).unwrap().jobs, 1);
    assert!(ledger.verify().unwrap().verified);
    limit(&ledger, 1_000_000);
    assert_eq!(ledger.reserve(&large).unwrap().0, before.0 + 1);
    assert!(ledger.verify().unwrap().verified);
}

#[test]
fn a_read_only_ledger_is_refused_before_anything_is_spent() {
    let home = home();
    let mut ledger = Ledger::open(home.path()).unwrap();
    let dataset = ledger.identify([1; 32]).unwrap();
    ledger
        .files()
        .unwrap()
        .1
        .pragma_update(None, "query_only", true)
        .unwrap();
    let refused = ledger.reserve(&job(dataset, gaussian(5.0, 1), 1.0));
    assert!(
        matches!(refused, Err(LedgerError::ReadOnly { .. })),
        "{refused:?}"
    );
    assert!(ledger.entries(None).unwrap().is_empty());
}

#[test]
fn a_home_that_cannot_be_is_told() {
    let folder = home();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for home in [file.clone(), file.join("below")] {
        let error = Ledger::open(&home).unwrap_err();
        assert!(error.to_string().contains("POINTILLIST_HOME"), "{error}");
    }
}

#[test]
fn a_ledger_held_by_another_is_waited_for_and_then_refused() {
    let home = home();
    let mut ledger = Ledger::open(home.path()).unwrap();
    let dataset = ledger.identify([1; 32]).unwrap();
    let wanted = job(dataset, gaussian(5.0, 1), 1.0);
    // A program that knows nothing of the lock file.
    let foreign = database(home.path());
    foreign.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = ledger.reserve(&wanted);
    assert!(matches!(refused, Err(LedgerError::Locked { .. })), "{refused:?}");
    foreign.execute_batch("COMMIT").unwrap();
    ledger.reserve(&wanted).unwrap();
    // One that does, and lets go in time; then one that does not.
    let other = files::Lock::open(&home.path().join("ledger.lock")).unwrap();
    std::thread::scope(|scope| {
        let held = other.hold(&home.path().join("ledger.sqlite")).unwrap();
        let waiting = scope.spawn(|| ledger.reserve(&wanted));
        std::thread::sleep(std::time::Duration::from_millis(200));
        drop(held);
        waiting.join().unwrap().unwrap();
    });
    let _held = other.hold(&home.path().join("ledger.sqlite")).unwrap();
    let refused = ledger.reserve(&wanted);
    assert!(matches!(refused, Err(LedgerError::Locked { .. })), "{refused:?}");
    assert_eq!(ledger.budget(&dataset).unwrap().jobs, 2);
}

#[test]
fn a_backup_is_a_home_of_its_own() {
    let home = home();
    with_jobs(home.path(), 3);
    let mut ledger = Ledger::open(home.path()).unwrap();
    let dataset = ledger.identify([1; 32]).unwrap();
    let target = home.path().join("kept").join("today");
    assert_eq!(ledger.backup(&target).unwrap(), 6);
    assert!(matches!(
        ledger.backup(&target),
        Err(LedgerError::BackupExists { .. })
    ));
    ledger.reserve(&job(dataset, gaussian(5.0, 1), 1.0)).unwrap();
    let mut moved = Ledger::open(&target).unwrap();
    assert_eq!(
        moved.identify([1; 32]).unwrap(),
        dataset,
        "the same data set, known by the same key"
    );
    assert_eq!(moved.budget(&dataset).unwrap().jobs, 3);
    moved.reserve(&job(dataset, gaussian(5.0, 1), 1.0)).unwrap();
    assert!(moved.verify().unwrap().verified);
    assert_eq!(names(&home.path().join("kept")), ["today"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&target.join("ledger.key")), 0o600);
        assert_eq!(mode(&target), 0o700);
    }
}

#[test]
fn certificates_of_a_ledger_rolled_back_as_a_whole_show_it() {
    let home = home();
    with_jobs(home.path(), 2);
    let backup = home.path().join("old");
    let mut ledger = Ledger::open(home.path()).unwrap();
    ledger.backup(&backup).unwrap();
    let old_end = ledger.head().unwrap();
    let dataset = ledger.identify([1; 32]).unwrap();
    ledger.reserve(&job(dataset, gaussian(5.0, 1), 1.0)).unwrap();
    let new_end = ledger.head().unwrap();
    for end in [&old_end, &new_end] {
        assert!(ledger.knows_end(end.0, &end.1).unwrap());
    }
    let rolled_back = Ledger::open(&backup).unwrap();
    assert!(rolled_back.verify().unwrap().verified, "nothing inside it tells");
    assert!(rolled_back.knows_end(old_end.0, &old_end.1).unwrap());
    assert!(!rolled_back.knows_end(new_end.0, &new_end.1).unwrap());
    assert!(!ledger.knows_end(3, &old_end.1).unwrap());
}

/// Run by hand or by the bench; here only so that the order of magnitude cannot slip unnoticed.
#[test]
fn a_hundred_thousand_entries_open_quickly() {
    let home = home();
    let mut ledger = Ledger::open(home.path()).unwrap();
    let dataset = ledger.identify([1; 32]).unwrap();
    ledger
        .fill(&job(dataset, gaussian(5.0, 1), 1.0), 100_000)
        .unwrap();
    drop(ledger);
    let started = std::time::Instant::now();
    let mut ledger = Ledger::open(home.path()).unwrap();
    let opened = started.elapsed();
    assert_eq!(ledger.budget(&dataset).unwrap().jobs, 100_000);
    println!("100,000 entries open and verify in {opened:?}");
    // The aim is a second on an idle machine; the test leaves room for a busy one.
    assert!(opened.as_secs_f64() < 10.0, "{opened:?}");
}

#[test]
fn the_head_file_of_the_first_version_goes_on() {
    let home = home();
    with_jobs(home.path(), 2);
    let path = home.path().join("ledger.head");
    let newest = fs::read_to_string(&path)
        .unwrap()
        .lines()
        .find(|place| place.contains("\"count\":4,"))
        .unwrap()
        .trim_end()
        .to_owned();
    fs::write(&path, newest + "\n").unwrap();
    assert!(findings(home.path()).is_empty());
    with_jobs(home.path(), 1);
    assert!(findings(home.path()).is_empty());
}

/// A home whose files are there and whose lock cannot be had for writing: what a read-only disk looks like, made
/// by other means, since the tests may run as somebody whom permissions do not bind.
fn copy_of(home: &Path) -> reading::Copy {
    reading::copy(&Paths::new(home)).unwrap()
}

#[test]
fn a_copy_shows_all_that_was_spent_and_takes_no_writes() {
    let home = home();
    with_jobs(home.path(), 3);
    // While another program has the ledger open, its newest entries are in the log only.
    let mut writer = Ledger::open(home.path()).unwrap();
    let dataset = writer.identify([1; 32]).unwrap();
    writer.reserve(&job(dataset, gaussian(5.0, 1), 1.0)).unwrap();
    assert!(Paths::new(home.path()).log_has_content());
    let before = names(home.path());
    let copy = copy_of(home.path());
    assert_eq!(names(home.path()), before, "nothing is written beside it");
    assert_eq!(read::count(&copy.connection).unwrap(), 7);
    assert_eq!(copy.key.identify(&[1; 32]), dataset);
    assert!(copy.connection.execute("DELETE FROM entries", []).is_err());
    let paths = Paths::new(home.path());
    let verification = opening::verify_as_of(&copy.connection, &copy.key, &paths, &copy.found).unwrap();
    assert!(verification.verified, "{:?}", verification.findings);
    let folder = copy.folder.path().to_owned();
    drop(copy);
    assert!(!folder.exists());
}

#[test]
fn a_home_without_a_ledger_reads_as_nothing_spent() {
    let home = home();
    let copy = copy_of(home.path());
    assert_eq!(read::count(&copy.connection).unwrap(), 0);
    assert!(names(home.path()).is_empty());
    // But one whose ledger has gone does not.
    with_jobs(home.path(), 1);
    fs::remove_file(home.path().join("ledger.sqlite")).unwrap();
    assert!(matches!(
        reading::copy(&Paths::new(home.path())),
        Err(LedgerError::Missing { .. })
    ));
}
