use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::*;
use crate::engine::command::{Command, DataSource, PrivacyTarget};
use crate::engine::event::EngineEvent;
use crate::engine::{Engine, RunState};
use crate::privacy::ledger::Status;
use crate::train::Observation;

/// Whether the next run on the older processor backend loses its device in the midst.
static IS_TO_BE_LOST: AtomicBool = AtomicBool::new(false);

/// What a driver does that goes away: some operation fails.
pub(super) fn lose_device(device: DeviceKind, seen: &Observation) {
    if device == DeviceKind::Ndarray
        && matches!(seen, Observation::Step(step) if step.step >= 20)
        && IS_TO_BE_LOST.swap(false, Ordering::SeqCst)
    {
        panic!("the device was lost");
    }
}

#[test]
fn a_run_that_loses_its_device_goes_on_without_it_and_its_account_is_whole() {
    let home = tempfile::tempdir().unwrap();
    let engine = Engine::spawn(home.path(), Arc::new(|| {})).unwrap();
    engine.send(Command::Open(DataSource::Sample("german_credit")));
    let opened = |event| matches!(event, Some(EngineEvent::Opened { .. }));
    while !opened(engine.next_event(Duration::from_secs(60))) {}
    IS_TO_BE_LOST.store(true, Ordering::SeqCst);
    engine.send(Command::Start(Box::new(RunRequest {
        target: Some(PrivacyTarget {
            epsilon: 2.0,
            ..PrivacyTarget::default()
        }),
        overrides: vec![("steps".into(), "60".into()), ("batch-size".into(), "32".into())],
        device: DeviceKind::Ndarray,
        keep_every: Some(Duration::ZERO),
        ..RunRequest::default()
    })));
    let start = Instant::now();
    let mut told = Vec::new();
    let run = loop {
        assert!(start.elapsed() < Duration::from_secs(300), "{told:?}");
        match engine.next_event(Duration::from_millis(100)) {
            Some(EngineEvent::Warning { message, .. }) => told.push(message),
            Some(EngineEvent::Finished { run, .. }) => break run,
            Some(EngineEvent::RunFailed { problem, .. } | EngineEvent::Failed(problem)) => {
                panic!("{problem}")
            }
            _ => {}
        }
    };
    let keys: Vec<_> = told.iter().filter_map(Message::key).collect();
    assert!(keys.contains(&"say-device-lost"), "{told:?}");
    let snapshot = engine.snapshot();
    assert_eq!(snapshot.runs.len(), 2);
    assert!(matches!(snapshot.runs[0].state, RunState::Failed(_)));
    let view = snapshot.run(run).unwrap();
    assert_eq!((view.device, view.step), (DeviceKind::Flex, 60));
    let [entry] = snapshot.ledger.entries.as_slice() else {
        panic!("{:?}", snapshot.ledger.entries);
    };
    assert_eq!(entry.status, Status::Finished);
    assert!(entry.epsilon <= 2.0);
    assert!(
        entry
            .note
            .as_ref()
            .is_some_and(|note| note.contains("taken up 1 ×"))
    );
    assert!(snapshot.interrupted.is_empty());
}
