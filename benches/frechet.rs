//! The Fréchet distance of 10,000 against 10,000 rows of 256 features.
//!
//! With `FRECHET_BENCH_FOLDER` set, the rows are those that `tests/peers/frechet_speed.py` stored there and timed SciPy
//! on, and its distance is held against ours.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use pointillist::evaluate::frechet_distance;
use pointillist::num::RandomSource;
use rand::RngExt as _;

const ROWS: usize = 10_000;
const WIDTH: usize = 256;

fn stored(folder: &Path, name: &str) -> Vec<f32> {
    let bytes = std::fs::read(folder.join(name)).expect("the peer script stored it");
    let (values, _) = bytes.as_chunks::<4>();
    values.iter().map(|value| f32::from_le_bytes(*value)).collect()
}

fn features() -> (Vec<f32>, Vec<f32>, Option<f64>) {
    if let Some(folder) = std::env::var_os("FRECHET_BENCH_FOLDER") {
        let folder = Path::new(&folder);
        let text = std::fs::read_to_string(folder.join("distance.txt")).expect("the peer script stored it");
        let expected = text.trim().parse().expect("it is a number");
        return (
            stored(folder, "real.f32"),
            stored(folder, "made.f32"),
            Some(expected),
        );
    }
    let mut random = RandomSource::seeded(1);
    let mut draw = |scale: f32| -> Vec<f32> {
        (0..ROWS * WIDTH)
            .map(|place| (random.random::<f32>() - 0.5) * scale * (1.0 + (place % WIDTH) as f32 / 16.0))
            .collect()
    };
    (draw(1.0), draw(1.1), None)
}

fn frechet(criterion: &mut Criterion) {
    let (real, made, expected) = features();
    let distance = frechet_distance(&real, &made, WIDTH).expect("finite");
    if let Some(expected) = expected {
        let off = (distance / expected - 1.0).abs();
        println!("distance {distance}, SciPy's {expected}, relative difference {off:.1e}");
        assert!(off < 1e-6);
    }
    let mut group = criterion.benchmark_group("frechet");
    group.sample_size(20);
    group.bench_function("10,000 × 256", |bencher| {
        bencher.iter(|| frechet_distance(black_box(&real), black_box(&made), WIDTH));
    });
    group.finish();
}

criterion_group!(benches, frechet);
criterion_main!(benches);
