//! Speed of the accountants; `tests/peers/dp_accounting_speed.py` times the same questions with Google's library.

use criterion::{Criterion, criterion_group, criterion_main};
use pointillist::num::{Delta, Epsilon};
use pointillist::privacy::{AccountantKind, EventList, Neighboring, PrivacyEvent, calibrate};
use std::hint::black_box;

const ADD: Neighboring = Neighboring::AddRemoveOne;

fn poisson(q: f64, z: f64, steps: u64) -> PrivacyEvent {
    PrivacyEvent::PoissonSampledGaussian {
        sampling_rate: q,
        noise_multiplier: z,
        steps,
    }
}

fn run(steps: u64) -> EventList {
    let mut list = EventList::new(ADD);
    list.push(poisson(0.01, 1.0, steps), 1);
    list
}

/// A hundred different events: noisy phases of training, statistics of several kinds.
fn mixed() -> EventList {
    let mut list = EventList::new(ADD);
    for i in 0..20 {
        let i = f64::from(i);
        list.push(poisson(0.01, 1.0 + 0.05 * i, 100), 1);
        list.push(
            PrivacyEvent::Laplace {
                scale: 20.0 + i,
                sensitivity: 1.0,
            },
            1,
        );
        list.push(
            PrivacyEvent::Gaussian {
                noise_multiplier: 30.0 + i,
            },
            1,
        );
        list.push(
            PrivacyEvent::Pure {
                epsilon: 0.01 + 0.001 * i,
            },
            1,
        );
        list.push(
            PrivacyEvent::DiscreteGaussian {
                sigma: 30.0 + i,
                sensitivity: 1,
            },
            1,
        );
    }
    list
}

/// A hundred phases of training, each with its own noise.
fn phases() -> EventList {
    let mut list = EventList::new(ADD);
    for i in 0..100 {
        list.push(poisson(0.01, 1.0 + 0.02 * f64::from(i), 100), 1);
    }
    list
}

fn accounting(criterion: &mut Criterion) {
    let delta = Delta::new(1e-5).expect("a δ");
    let mut group = criterion.benchmark_group("accounting");
    group.sample_size(20);
    let cases = [
        ("10,000 steps", run(10_000)),
        ("1,000,000 steps", run(1_000_000)),
        ("100 mixed events", mixed()),
        ("100 phases", phases()),
    ];
    for (name, list) in &cases {
        for kind in [AccountantKind::Pld, AccountantKind::Rdp] {
            group.bench_function(format!("{kind}: {name}"), |bencher| {
                bencher.iter(|| kind.epsilon(black_box(list), delta).expect("an answer"));
            });
        }
    }
    let target = (Epsilon::new(2.0).expect("an ε"), delta);
    for kind in [AccountantKind::Pld, AccountantKind::Rdp] {
        group.bench_function(format!("{kind}: noise for 10,000 steps"), |bencher| {
            bencher.iter(|| calibrate::noise_multiplier(target, 0.01, 10_000, ADD, kind).expect("noise"));
        });
    }
    group.finish();
}

criterion_group!(benches, accounting);
criterion_main!(benches);
