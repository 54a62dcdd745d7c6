//! What an entry costs, and how long a large ledger takes to open.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use pointillist::privacy::ledger::{Ledger, Outcome, PrivacyUnit, Reservation, Settlement};
use pointillist::privacy::{EventList, Neighboring, PrivacyEvent};

/// Entries of the large ledger.
const ENTRIES: u64 = 100_000;

fn events() -> EventList {
    let mut events = EventList::new(Neighboring::AddRemoveOne);
    events.push(
        PrivacyEvent::Gaussian {
            noise_multiplier: 20.0,
        },
        2,
    );
    let step = PrivacyEvent::PoissonSampledGaussian {
        sampling_rate: 0.008,
        noise_multiplier: 1.1,
        steps: 2000,
    };
    events.push(step, 1);
    events
}

fn open(home: &tempfile::TempDir) -> (Ledger, Reservation) {
    let ledger = Ledger::open(home.path()).expect("a fresh ledger opens");
    let dataset = ledger.identify([1; 32]).expect("a digest has an identity");
    let reservation = Reservation {
        dataset,
        dataset_name: "rows.csv".into(),
        kind: "dpgan".into(),
        events: events(),
        epsilon: 1.0,
        delta: 1e-5,
        unit: PrivacyUnit::Row,
        public: false,
        seed: None,
        description: "2000 steps".into(),
    };
    (ledger, reservation)
}

fn entry(criterion: &mut Criterion) {
    let home = tempfile::tempdir().expect("a temporary folder");
    let (mut ledger, reservation) = open(&home);
    let settlement = Settlement {
        events: events(),
        epsilon: 1.0,
        delta: 1e-5,
        outcome: Outcome::Finished,
        note: None,
    };
    criterion.bench_function("ledger: reserve and settle, both synced", |bencher| {
        bencher.iter(|| {
            let entry = ledger.reserve(black_box(&reservation)).expect("no total is set");
            ledger
                .settle(entry, black_box(&settlement))
                .expect("it is reserved");
        });
    });
}

fn large(criterion: &mut Criterion) {
    let home = tempfile::tempdir().expect("a temporary folder");
    let (mut ledger, reservation) = open(&home);
    ledger.fill(&reservation, ENTRIES).expect("there is space");
    drop(ledger);
    let mut group = criterion.benchmark_group("ledger of 100,000 entries");
    group.sample_size(10);
    group.bench_function("open, which verifies the chain", |bencher| {
        bencher.iter(|| Ledger::open(home.path()).expect("it is whole"));
    });
    let ledger = Ledger::open(home.path()).expect("it is whole");
    group.bench_function("verify afresh", |bencher| {
        bencher.iter(|| ledger.verify().expect("it can be read"));
    });
    group.finish();
}

criterion_group!(benches, entry, large);
criterion_main!(benches);
