//! Speed of the samplers (a million draws a second is the least that is asked) and of choices among a million candidates.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pointillist::num::{Epsilon, RandomSource};
use pointillist::privacy::mechanism::{DiscreteGaussian, DiscreteLaplace, RandomizedResponse, Selection};

fn draws(criterion: &mut Criterion) {
    let mut random = RandomSource::from_operating_system();
    let mut group = criterion.benchmark_group("draws");
    group.throughput(Throughput::Elements(1000));
    for scale in [1.0, 1500.3, 1e9] {
        let laplace = DiscreteLaplace::new(scale).expect("a scale");
        group.bench_function(format!("1000 discrete Laplace, scale {scale}"), |bencher| {
            bencher.iter(|| (0..1000).fold(0, |sum: i64, _| sum ^ laplace.sample(&mut random)));
        });
        let gaussian = DiscreteGaussian::new(scale).expect("a scale");
        group.bench_function(format!("1000 discrete Gaussian, sigma {scale}"), |bencher| {
            bencher.iter(|| (0..1000).fold(0, |sum: i64, _| sum ^ gaussian.sample(&mut random)));
        });
    }
    let response = RandomizedResponse::new(0.75, 10).expect("a probability");
    group.bench_function("1000 randomised responses", |bencher| {
        bencher.iter(|| {
            (0..1000).fold(0, |sum, truth| {
                sum ^ response.respond(truth % 10, &mut random).expect("a category")
            })
        });
    });
    group.finish();
}

fn choices(criterion: &mut Criterion) {
    let mut random = RandomSource::from_operating_system();
    let mut group = criterion.benchmark_group("choices among a million");
    group.sample_size(20);
    // The ranks of a median, and intervals of uneven width.
    let scores: Vec<f64> = (0..1_000_000)
        .map(|i| -(f64::from(i) - 500_000.0).abs())
        .collect();
    let widths: Vec<u64> = (0..1_000_000).map(|i| i * 7919 % 1000).collect();
    let selection = Selection::new(Epsilon::new(1.0).expect("an ε"), 1.0).expect("a selection");
    group.bench_function("exponential", |bencher| {
        bencher.iter(|| {
            selection
                .exponential(black_box(&scores), &mut random)
                .expect("a choice")
        });
    });
    group.bench_function("exponential, grouped", |bencher| {
        bencher.iter(|| {
            selection
                .exponential_grouped(black_box(&scores), &widths, &mut random)
                .expect("a choice")
        });
    });
    group.bench_function("permute-and-flip", |bencher| {
        bencher.iter(|| {
            selection
                .permute_and_flip(black_box(&scores), &mut random)
                .expect("a choice")
        });
    });
    group.bench_function("report-noisy-max", |bencher| {
        bencher.iter(|| {
            selection
                .report_noisy_max(black_box(&scores), &mut random)
                .expect("a choice")
        });
    });
    group.finish();
}

criterion_group!(benches, draws, choices);
criterion_main!(benches);
