//! Runs through the engine as a window drives it: watched, thrown away, and what later certificates say of that.

mod support;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pointillist::engine::{
    Area, Command, DataSource, Engine, EngineEvent, ExportRequest, Language, PrivacyTarget, RunId, RunRequest,
};
use pointillist::export::certificate::{Certificate, NotAccounted};
use pointillist::export::read_certificate;
use pointillist::privacy::ledger::Status;
use support::Bench;

/// Waits for what `decide` looks for.
fn wait<T>(engine: &Engine, mut decide: impl FnMut(&EngineEvent) -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(event) = engine.next_event(Duration::from_millis(100)) {
            if let Some(found) = decide(&event) {
                return found;
            }
            if let EngineEvent::Failed(problem) = event {
                panic!("{problem}");
            }
        }
        assert!(start.elapsed() < Duration::from_secs(300), "waited in vain");
    }
}

fn open(bench: &Bench, table: &Path) -> Engine {
    let engine = Engine::spawn(&bench.home(), Arc::new(|| {})).unwrap();
    engine.send(Command::Open(DataSource::file(table.to_path_buf())));
    wait(&engine, |event| {
        matches!(event, EngineEvent::Opened { .. }).then_some(())
    });
    engine
}

fn start(engine: &Engine, steps: u64) -> RunId {
    engine.send(Command::Start(Box::new(RunRequest {
        target: Some(PrivacyTarget {
            epsilon: 2.0,
            ..PrivacyTarget::default()
        }),
        overrides: vec![
            ("steps".into(), steps.to_string()),
            ("batch-size".into(), "32".into()),
        ],
        ..RunRequest::default()
    })));
    wait(engine, |event| match event {
        EngineEvent::Started { run, .. } => Some(*run),
        EngineEvent::RunFailed { problem, .. } => panic!("{problem}"),
        _ => None,
    })
}

/// The certificate of a short run that is kept.
fn kept(bench: &Bench, engine: &Engine, name: &str) -> Certificate {
    let run = start(engine, 5);
    wait(engine, |event| match event {
        EngineEvent::Finished { run: ended, .. } => (*ended == run).then_some(()),
        _ => None,
    });
    engine.send(Command::Export(Box::new(ExportRequest {
        run,
        rows: 5,
        path: bench.path(name),
        overwrite: false,
        condition: None,
        language: Language::English,
    })));
    let path = wait(engine, |event| match event {
        EngineEvent::Exported(exported) => Some(exported.certificate.clone()),
        _ => None,
    });
    let certificate = read_certificate(&path).unwrap();
    // What a window can show of it beforehand is what it says.
    let snapshot = engine.snapshot();
    let view = snapshot.run(run).unwrap();
    let claims = view.claims.clone().unwrap().unwrap();
    assert_eq!(claims.guarantee, certificate.guarantee);
    assert_eq!(claims.relation, certificate.relation);
    assert_eq!(claims.unit, certificate.unit);
    assert_eq!(claims.not_protected, certificate.not_protected);
    assert_eq!(claims.not_accounted, certificate.not_accounted);
    assert!(view.exported);
    certificate
}

#[test]
fn a_run_that_is_thrown_away_costs_nothing_and_is_counted() {
    let bench = Bench::new();
    let engine = open(&bench, &bench.visits(500));
    let run = start(&engine, 500_000);
    let reserved = engine.snapshot().ledger.entries[0].clone();
    assert_eq!(reserved.status, Status::Reserved);
    assert!(reserved.epsilon > 1.9);
    engine.send(Command::Discard(run));
    let problem = wait(&engine, |event| match event {
        EngineEvent::RunFailed { run: ended, problem } => (*ended == run).then(|| problem.clone()),
        _ => None,
    });
    assert!(problem.to_string().contains("thrown away"), "{problem}");
    let snapshot = engine.snapshot();
    let entry = &snapshot.ledger.entries[0];
    assert_eq!(entry.status, Status::Discarded);
    assert_eq!((entry.epsilon, entry.delta), (0.0, 0.0));
    let budget = snapshot.dataset.as_ref().unwrap().budget.as_ref().unwrap();
    assert_eq!((budget.spent.epsilon, budget.discarded), (0.0, 1));

    // Nothing is left that could be exported.
    engine.send(Command::Export(Box::new(ExportRequest {
        run,
        rows: 5,
        path: bench.path("never.csv"),
        overwrite: false,
        condition: None,
        language: Language::English,
    })));
    let start = Instant::now();
    loop {
        match engine.next_event(Duration::from_millis(100)) {
            Some(EngineEvent::Failed(problem)) => {
                assert!(problem.to_string().contains("no generator"), "{problem}");
                break;
            }
            Some(EngineEvent::Exported(_)) => panic!("it was kept after all"),
            _ => assert!(start.elapsed() < Duration::from_secs(60)),
        }
    }

    let certificate = kept(&bench, &engine, "kept.csv");
    let spending = certificate.spending.unwrap();
    assert_eq!(spending.discarded_runs, 1);
    assert!(spending.data_set_spent.epsilon <= 2.0, "{spending:?}");
    // The one that was thrown away may have been seen, and the settings of this one chosen by it.
    assert_eq!(
        certificate.not_accounted,
        [NotAccounted::Tuning, NotAccounted::Looking]
    );
}

#[test]
fn the_first_watched_run_was_looked_at_and_not_tuned() {
    let bench = Bench::new();
    let engine = open(&bench, &bench.visits(300));
    let first = kept(&bench, &engine, "first.csv");
    assert_eq!(first.not_accounted, [NotAccounted::Looking]);
    let second = kept(&bench, &engine, "second.csv");
    assert_eq!(
        second.not_accounted,
        [NotAccounted::Tuning, NotAccounted::Looking]
    );
}

#[test]
fn a_changed_table_waits_for_an_answer() {
    let bench = Bench::new();
    let table = bench.visits(300);
    let engine = open(&bench, &table);
    kept(&bench, &engine, "first.csv");
    drop(engine);
    bench.visits(310);
    let engine = open(&bench, &table);
    let asked = engine.snapshot();
    let versions = &asked.dataset.as_ref().unwrap().may_be_version_of;
    assert_eq!(versions.len(), 1);
    assert_eq!((versions[0].number, versions[0].name.as_str()), (1, "visits.csv"));
    engine.send(Command::Start(Box::default()));
    let start = Instant::now();
    let said = loop {
        match engine.next_event(Duration::from_millis(100)) {
            Some(EngineEvent::Failed(problem)) => break problem.to_string(),
            Some(EngineEvent::Started { .. }) => panic!("it spends before it knows whose budget that is"),
            _ => assert!(start.elapsed() < Duration::from_secs(60)),
        }
    };
    assert!(said.contains("new version"), "{said}");
    engine.send(Command::AnswerNewVersion(Some(1)));
    kept(&bench, &engine, "second.csv");
    let snapshot = engine.snapshot();
    let dataset = snapshot.dataset.as_ref().unwrap();
    assert!(dataset.may_be_version_of.is_empty());
    assert_eq!(dataset.budget.as_ref().unwrap().jobs, 2);
}

/// A long run that is kept from its first step on.
fn start_kept(engine: &Engine) -> RunId {
    engine.send(Command::Start(Box::new(RunRequest {
        overrides: vec![
            ("steps".into(), "200000".into()),
            ("batch-size".into(), "32".into()),
        ],
        keep_every: Some(Duration::from_secs(3600)),
        ..RunRequest::default()
    })));
    wait(engine, |event| match event {
        EngineEvent::Started { run, .. } => Some(*run),
        EngineEvent::RunFailed { problem, .. } => panic!("{problem}"),
        _ => None,
    })
}

fn name_of(engine: &Engine, run: RunId) -> Option<String> {
    engine.snapshot().run(run).unwrap().name.clone()
}

#[test]
fn a_name_outlives_the_program_with_its_run() {
    let bench = Bench::new();
    let table = bench.visits(300);
    let name_file = bench.home().join("checkpoints/entry-1.name");
    {
        let engine = open(&bench, &table);
        let run = start_kept(&engine);
        for name in ["first try", "  ", "夜间 \"B\" "] {
            engine.send(Command::Rename(run, name.into()));
        }
        let start = Instant::now();
        while name_of(&engine, run).as_deref() != Some("夜间 \"B\"") {
            assert!(start.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(5));
        }
        // It is there as soon as it is shown: a crash would not take it away.
        assert_eq!(std::fs::read_to_string(&name_file).unwrap(), "夜间 \"B\"");
        let checkpoint = bench.home().join("checkpoints/entry-1.checkpoint");
        while !checkpoint.exists() {
            assert!(start.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    let listed = bench.json(&["runs", "list"]);
    assert_eq!(listed["runs"][0]["name"], "夜间 \"B\"");
    let said = bench.run(&["runs", "list"]);
    assert!(String::from_utf8_lossy(&said.stdout).contains("“夜间 \"B\"”"));

    let engine = Engine::spawn(&bench.home(), Arc::new(|| {})).unwrap();
    let take_up = Command::TakeUp {
        id: "entry-1".into(),
        device: None,
        watched: true,
    };
    engine.send(take_up);
    let run = wait(&engine, |event| match event {
        EngineEvent::Started { run, .. } => Some(*run),
        _ => None,
    });
    assert_eq!(name_of(&engine, run).as_deref(), Some("夜间 \"B\""));
    // An empty name takes the given one away, here and on disk; so does the end of the run.
    engine.send(Command::Rename(run, String::new()));
    engine.send(Command::Rename(run, "again".into()));
    engine.send(Command::Stop(run));
    wait(&engine, |event| match event {
        EngineEvent::Finished { run: ended, .. } => (*ended == run).then_some(()),
        EngineEvent::RunFailed { problem, .. } => panic!("{problem}"),
        _ => None,
    });
    assert_eq!(name_of(&engine, run).as_deref(), Some("again"));
    engine.send(Command::Rename(run, "and again".into()));
    // Not exported yet, it is kept, with what it is called; deleted, it is not.
    while std::fs::read_to_string(&name_file).unwrap_or_default() != "and again" {
        std::thread::sleep(Duration::from_millis(5));
    }
    engine.send(Command::Forget(run));
    drop(engine);
    let left = std::fs::read_dir(bench.home().join("checkpoints")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// The ledger seals every certificate; without it there is no export, and whoever asked for one hears of that.
#[test]
fn an_export_that_the_ledger_cannot_seal_has_failed() {
    let bench = Bench::new();
    let engine = open(&bench, &bench.visits(500));
    let run = start(&engine, 5);
    wait(&engine, |event| match event {
        EngineEvent::Finished { run: ended, .. } => (*ended == run).then_some(()),
        _ => None,
    });
    std::fs::remove_dir_all(bench.home()).unwrap();
    engine.send(Command::Export(Box::new(ExportRequest {
        run,
        rows: 5,
        path: bench.path("never.csv"),
        overwrite: false,
        condition: None,
        language: Language::English,
    })));
    let start = Instant::now();
    let problem = loop {
        match engine.next_event(Duration::from_millis(100)) {
            Some(EngineEvent::Failed(problem)) if problem.area == Area::Export => break problem,
            Some(EngineEvent::Exported(_)) => panic!("nothing seals it"),
            _ => {}
        }
        assert!(start.elapsed() < Duration::from_secs(60), "waited in vain");
    };
    assert!(problem.to_string().contains("ledger"), "{problem}");
    assert!(!bench.path("never.csv").exists());
    assert!(engine.snapshot().exporting.is_none());
}
