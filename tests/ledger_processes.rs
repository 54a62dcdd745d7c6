//! The ledger among processes: killed at any moment, and several at once.
//!
//! The test binary starts itself again as the other process.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use pointillist::num::RandomSource;
use pointillist::privacy::ledger::{
    DatasetId, EntryId, Ledger, LedgerError, Outcome, PrivacyUnit, Reservation, Settlement, Status,
};
use pointillist::privacy::{EventList, Neighboring, PrivacyEvent};
use rand::RngExt;

/// Names the home folder to a process that is to work in it.
const HOME: &str = "POINTILLIST_TEST_LEDGER_HOME";
/// Seeds its work.
const SEED: &str = "POINTILLIST_TEST_LEDGER_SEED";
/// At how many moments the process is killed.
const KILLS: u32 = 200;

fn gaussian(noise_multiplier: f64, count: u64) -> EventList {
    let mut events = EventList::new(Neighboring::AddRemoveOne);
    events.push(PrivacyEvent::Gaussian { noise_multiplier }, count);
    events
}

fn job(dataset: DatasetId, events: EventList, epsilon: f64) -> Reservation {
    Reservation {
        dataset,
        dataset_name: "rows.csv".into(),
        kind: "dpgan".into(),
        events,
        epsilon,
        delta: 1e-6,
        unit: PrivacyUnit::Row,
        public: false,
        seed: None,
        description: "work".into(),
    }
}

/// Starts this binary again, to run only the test named `task`.
fn start(task: &str, home: &Path, seed: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", task, "--nocapture", "--test-threads", "1"])
        .env(HOME, home)
        .env(SEED, seed.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn task() -> Option<(std::path::PathBuf, u64)> {
    let home = std::env::var_os(HOME)?;
    Some((home.into(), std::env::var(SEED).ok()?.parse().ok()?))
}

/// Says in one line what was done; whole or not at all, since the pipe takes a short line at once.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("\n@ {line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

/// The other process: random work for as long as it lives. Does nothing when the tests run it as a test.
#[test]
fn task_of_random_work() {
    let Some((home, seed)) = task() else { return };
    let mut random = RandomSource::seeded(seed);
    let mut ledger = Ledger::open(&home).unwrap();
    let mut open: Vec<(EntryId, f64)> = Vec::new();
    say("ready");
    loop {
        let dataset = ledger.identify([random.random_range(0..3); 32]).unwrap();
        match random.random_range(0..10) {
            0..4 => {
                let epsilon: f64 = random.random_range(0.01..2.0);
                let entry = ledger
                    .reserve(&job(dataset, gaussian(4.0 / epsilon, 1), epsilon))
                    .unwrap();
                say(&format!("reserved {entry} {epsilon}"));
                open.push((entry, epsilon));
            }
            4..8 if !open.is_empty() => {
                let (entry, planned) = open.swap_remove(random.random_range(0..open.len()));
                let (outcome, charged) = match random.random_range(0..3) {
                    0 => (Outcome::Finished, 0.75 * planned),
                    1 => (Outcome::StoppedByPerson, planned),
                    _ => (Outcome::Discarded, 0.0),
                };
                say(&format!("settling {entry} {charged}"));
                let settlement = Settlement {
                    events: gaussian(4.0 / planned, 1),
                    epsilon: 0.75 * planned,
                    delta: 1e-6,
                    outcome,
                    note: None,
                };
                ledger.settle(entry, &settlement).unwrap();
                say(&format!("settled {entry} {charged}"));
            }
            8 => {
                drop(ledger);
                ledger = Ledger::open(&home).unwrap();
            }
            _ => {
                ledger.budget(&dataset).unwrap();
            }
        }
    }
}

/// What the killed processes are known to have done.
#[derive(Default)]
struct Known {
    /// ε that each reservation holds.
    reserved: BTreeMap<u64, f64>,
    /// ε of settlements that were begun, and whether they came back.
    settled: BTreeMap<u64, (f64, bool)>,
    ready: u32,
}

impl Known {
    fn take(&mut self, line: &str) {
        let mut words = line.split(' ');
        let what = words.next().unwrap();
        let entry = words.next().and_then(|word| word.parse().ok());
        let epsilon = words.next().and_then(|word| word.parse().ok());
        match (what, entry, epsilon) {
            ("ready", ..) => self.ready += 1,
            ("reserved", Some(entry), Some(epsilon)) => {
                assert!(
                    self.reserved.insert(entry, epsilon).is_none(),
                    "entry {entry} was given out twice"
                );
            }
            ("settling", Some(entry), Some(epsilon)) => {
                self.settled.insert(entry, (epsilon, false));
            }
            ("settled", Some(entry), Some(epsilon)) => {
                self.settled.insert(entry, (epsilon, true));
            }
            // The last line of a killed process may be cut short; what it would have said is then not known.
            _ => {}
        }
    }

    /// Holds the ledger against what is known.
    fn check(&self, home: &Path, kill: u32) {
        let verification = Ledger::inspect(home).unwrap_or_else(|error| panic!("kill {kill}: {error}"));
        assert!(verification.verified, "kill {kill}: {:?}", verification.findings);
        let mut ledger = Ledger::open(home).unwrap();
        let entries: BTreeMap<u64, _> = ledger
            .entries(None)
            .unwrap()
            .into_iter()
            .map(|entry| (entry.id.0, entry))
            .collect();
        let mut least = 0.0;
        for (id, planned) in &self.reserved {
            let entry = entries
                .get(id)
                .unwrap_or_else(|| panic!("kill {kill}: entry {id} is lost"));
            let (charged, is_sure) = self.settled.get(id).copied().unwrap_or((*planned, true));
            let holds = |epsilon: f64| entry.epsilon.to_bits() == epsilon.to_bits();
            assert!(
                holds(charged) || (!is_sure && holds(*planned)),
                "kill {kill}: {entry:?}"
            );
            if is_sure && self.settled.contains_key(id) {
                assert_ne!(entry.status, Status::Reserved, "kill {kill}");
            }
            least += entry.epsilon;
        }
        let shown: f64 = ledger
            .datasets()
            .unwrap()
            .iter()
            .map(|dataset| ledger.budget(&dataset.id).unwrap())
            .map(|budget| budget.spent.epsilon + budget.reserved.epsilon)
            .sum();
        assert!(shown >= least - 1e-6, "kill {kill}: {shown} shown, {least} spent");
    }
}

#[test]
fn a_process_killed_at_any_moment_leaves_the_ledger_whole() {
    let home = tempfile::tempdir().unwrap();
    let mut random = RandomSource::from_operating_system();
    let mut known = Known::default();
    for kill in 0..KILLS {
        let mut child = start("task_of_random_work", home.path(), random.random());
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        let reader = std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if let Some(said) = line.strip_prefix("@ ") {
                    let _ = sender.send(said.to_owned());
                }
            }
        });
        if kill % 5 == 0 {
            // While it starts and opens the ledger.
            std::thread::sleep(Duration::from_micros(random.random_range(0..30_000)));
        } else {
            // While it works: after some of its words, so that a busy machine gets as far as an idle one.
            for _ in 0..=random.random_range(0..8) {
                let word = lines
                    .recv_timeout(Duration::from_secs(60))
                    .expect("the process works");
                known.take(&word);
            }
            std::thread::sleep(Duration::from_micros(random.random_range(0..10_000)));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        reader.join().unwrap();
        lines.try_iter().for_each(|line| known.take(&line));
        known.check(home.path(), kill);
    }
    let settled = known.settled.len();
    println!(
        "{KILLS} kills: {} reservations and {settled} settlements were checked",
        known.reserved.len()
    );
    assert!(known.ready > KILLS / 2 && known.reserved.len() > 100 && settled > 50);
}

/// The other process: spends what it can of one total, and says how often that was allowed.
#[test]
fn task_of_spending_the_last() {
    let Some((home, _)) = task() else { return };
    // On a busy machine the others may hold the ledger for longer than anybody waits.
    let mut ledger = loop {
        match Ledger::open(&home) {
            Ok(ledger) => break ledger,
            Err(LedgerError::Locked { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    };
    let dataset = ledger.identify([7; 32]).unwrap();
    let mut allowed = 0;
    loop {
        match ledger.reserve(&job(dataset, gaussian(20.0, 1), 0.2)) {
            Ok(_) => allowed += 1,
            Err(LedgerError::Locked { .. }) => {}
            Err(LedgerError::OverTotal { .. }) => break,
            Err(other) => panic!("{other}"),
        }
    }
    say(&format!("allowed {allowed}"));
}

#[test]
fn several_processes_at_once_spend_a_total_once() {
    let count_for = |home: &Path, processes: u64| {
        let mut ledger = Ledger::open(home).unwrap();
        let dataset = ledger.identify([7; 32]).unwrap();
        ledger
            .set_total(&dataset, "rows.csv", (1.0, 1e-5), "a test")
            .unwrap();
        let children: Vec<_> = (0..processes)
            .map(|seed| start("task_of_spending_the_last", home, seed))
            .collect();
        let mut allowed = 0;
        for child in children {
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            let line = said
                .lines()
                .find_map(|line| line.strip_prefix("@ allowed "))
                .expect("it ends well");
            allowed += line.parse::<u64>().unwrap();
        }
        assert!(ledger.verify().unwrap().verified);
        assert_eq!(ledger.budget(&dataset).unwrap().jobs, allowed);
        allowed
    };
    let (alone, together) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let alone = count_for(alone.path(), 1);
    assert!(alone > 3, "{alone}");
    assert_eq!(count_for(together.path(), 4), alone);
}
