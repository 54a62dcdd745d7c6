//! How long the window waits for what is not worked out in its frames, from the command to the snapshot that answers
//! it: plans with every noise schedule, the compositions of several questions, the meaning of an account, and the
//! rows' own answers, with a table of a million rows open. Prints the median and the longest of a few questions, each
//! a new one; fails above 100 ms.

mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use pointillist::engine::{
    Command, DataSource, Engine, MeaningQuestion, PrivacyTarget, RunRequest, Several, SeveralRequest,
    Snapshot, outlook_for,
};
use pointillist::num::{Delta, Epsilon};
use pointillist::privacy::Neighboring;
use pointillist::release::Query;
use pointillist::release::outlook::{Mechanism, Question};
use pointillist::train::{RunSettings, ScheduleKind, TrainSettings};

const ROWS: usize = 1_000_000;
const ASKED: usize = 9;
const LIMIT: Duration = Duration::from_millis(100);

/// Sends each command and waits for its answer; whether the longest took more than the limit.
fn measure(
    engine: &Engine,
    name: &str,
    questions: impl Iterator<Item = (Command, Box<dyn Fn(&Snapshot) -> bool>)>,
) -> bool {
    let mut times: Vec<Duration> = questions
        .map(|(command, is_answered)| {
            let start = Instant::now();
            engine.send(command);
            while !is_answered(&engine.snapshot()) {
                assert!(start.elapsed() < Duration::from_secs(60), "{name}: no answer");
                std::thread::sleep(Duration::from_micros(200));
            }
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    let (median, longest) = (times[times.len() / 2], times[times.len() - 1]);
    println!(
        "{name}: median {median:.1?}, longest {longest:.1?} of {}",
        times.len()
    );
    longest > LIMIT
}

/// An ε that was not asked about before.
fn epsilon(at: usize) -> f64 {
    0.5 + 0.37 * at as f64
}

fn plans(engine: &Engine, schedule: ScheduleKind) -> bool {
    let questions = (0..ASKED).map(|at| {
        let request = RunRequest {
            target: Some(PrivacyTarget {
                epsilon: epsilon(at),
                ..PrivacyTarget::default()
            }),
            settings: Some(RunSettings::Table(TrainSettings {
                schedule,
                ..TrainSettings::default()
            })),
            ..RunRequest::default()
        };
        let asked = request.clone();
        let is_answered = move |snapshot: &Snapshot| {
            snapshot
                .plan
                .as_ref()
                .is_some_and(|plan| plan.request == asked && !plan.outdated)
        };
        (
            Command::PreviewPlan(Box::new(request)),
            Box::new(is_answered) as Box<_>,
        )
    });
    measure(engine, &format!("plan, {schedule:?} noise"), questions)
}

fn question(query: Query, column: &str) -> Question {
    Question {
        query,
        column: Some(column.to_owned()),
        by: None,
        neighboring: Neighboring::AddRemoveOne,
    }
}

fn several(engine: &Engine, (query, mechanism): (Query, Mechanism), parallel: bool) -> bool {
    let dataset = engine.snapshot().dataset.clone().expect("a table is open");
    let outlook = outlook_for(&dataset.schema, &question(query, "age")).expect("the question has an outlook");
    let outlook = Arc::new(outlook);
    let questions = (0..ASKED).map(|at| {
        let (total, delta) = (epsilon(at), 1e-6);
        let events = outlook
            .events(
                mechanism,
                Epsilon::new(total).expect("in range"),
                Delta::new(delta).expect("in range"),
            )
            .expect("the mechanism fits");
        let request = SeveralRequest {
            several: Several {
                events,
                delta,
                most: 200,
                parallel,
            },
            outlook: Arc::clone(&outlook),
            mechanism,
            total,
        };
        let asked = request.clone();
        let is_answered = move |snapshot: &Snapshot| {
            let composed = snapshot.composed.as_ref();
            composed.is_some_and(|composed| composed.request.is(&asked))
        };
        (
            Command::ComposeSeveral(Box::new(request)),
            Box::new(is_answered) as Box<_>,
        )
    });
    measure(engine, &format!("200 questions, {mechanism:?}"), questions)
}

fn rows(engine: &Engine, name: &str, queries: &[Query]) -> bool {
    let columns = ["age", "amount"];
    let questions = queries.iter().flat_map(|query| {
        columns.map(|column| {
            let asked = question(*query, column);
            let wanted = asked.clone();
            let is_answered = move |snapshot: &Snapshot| {
                let explored = snapshot.explored.as_ref();
                explored.is_some_and(|explored| explored.question == wanted)
            };
            (Command::Explore(Box::new(asked)), Box::new(is_answered) as Box<_>)
        })
    });
    measure(engine, name, questions)
}

/// The account with a planned run beside what is spent.
fn meaning(engine: &Engine) -> bool {
    let snapshot = engine.snapshot();
    let planned = snapshot
        .plan
        .as_ref()
        .and_then(|plan| plan.events.clone())
        .expect("a plan is shown");
    let questions = (0..ASKED).map(|at| {
        let question = MeaningQuestion {
            ledger: Arc::clone(&snapshot.ledger),
            dataset: None,
            total: None,
            planned: Some((*planned).clone()),
            delta: 1e-6 * (1.0 + at as f64),
        };
        let asked = question.clone();
        let is_answered = move |snapshot: &Snapshot| {
            snapshot
                .meaning
                .as_ref()
                .is_some_and(|meaning| meaning.question == asked)
        };
        (
            Command::Weigh(Box::new(question)),
            Box::new(is_answered) as Box<_>,
        )
    });
    measure(engine, "meaning of a planned run", questions)
}

fn main() {
    // `cargo test --benches` only asks whether it runs.
    let brief = !std::env::args().any(|argument| argument == "--bench");
    let home = tempfile::tempdir().expect("a folder for the engine");
    let table = home.path().join("million.csv");
    support::write_table(&table, if brief { 1000 } else { ROWS });
    let engine = Engine::spawn(home.path(), Arc::new(|| {})).expect("the engine starts");
    engine.send(Command::Open(DataSource::file(table)));
    let start = Instant::now();
    while engine.snapshot().dataset.is_none() {
        assert!(start.elapsed() < Duration::from_secs(300), "waited in vain");
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut slow = false;
    for schedule in [
        ScheduleKind::Constant,
        ScheduleKind::TwoPhase,
        ScheduleKind::Linear,
        ScheduleKind::Exponential,
        ScheduleKind::Points,
    ] {
        slow |= plans(&engine, schedule);
    }
    slow |= meaning(&engine);
    for asked in [
        (Query::Mean, Mechanism::DiscreteLaplace),
        (Query::Mean, Mechanism::DiscreteGaussian),
        (Query::Variance, Mechanism::DiscreteGaussian),
        (Query::Quantile { share: 0.5 }, Mechanism::Exponential),
    ] {
        slow |= several(&engine, asked, false);
    }
    slow |= several(&engine, (Query::Mean, Mechanism::DiscreteLaplace), true);
    slow |= rows(
        &engine,
        "the rows' answer",
        &[
            Query::Count,
            Query::Sum,
            Query::Mean,
            Query::Variance,
            Query::Histogram { bins: None },
            Query::Quantile { share: 0.5 },
        ],
    );
    assert!(brief || !slow, "above {LIMIT:?}");
}
