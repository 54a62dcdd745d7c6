//! The critic's DP step (forward, per-example norms, clip, sum): MLP 64-256-256-1 at batch 256, one core.
//!
//! Run with `RAYON_NUM_THREADS=1 cargo bench --bench critic_step`; `tests/peers/opacus_speed.py` times the same
//! step in PyTorch with and without Opacus.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use pointillist::model::{Critic, CriticLoss, CriticShape, DeviceKind, Side, matrix, read};
use pointillist::num::RandomSource;
use rand::RngExt;

const INPUT: usize = 64;
const BATCH: usize = 256;

fn critic_step(criterion: &mut Criterion) {
    let mut random = RandomSource::seeded(1);
    for kind in [DeviceKind::Flex, DeviceKind::Ndarray] {
        let device = kind.open().expect("processor devices always open");
        let shape = CriticShape {
            input: INPUT,
            hidden: vec![256, 256],
            negative_slope: 0.2,
        };
        let critic = Critic::new(shape, &mut random, &device);
        let rows: Vec<f32> = (0..BATCH * INPUT).map(|_| random.random::<f32>()).collect();
        let rows = matrix(rows, BATCH, INPUT, &device);
        criterion.bench_function(&format!("critic step, {kind}"), |bencher| {
            bencher.iter(|| {
                let rows = black_box(rows.clone());
                let clipped =
                    critic.clipped_gradient_sum(rows, CriticLoss::Wasserstein, Side::Real, Some(0.5));
                // Reading waits for the device; the sum is what a step needs.
                read(clipped.sum)
            });
        });
    }
}

criterion_group!(benches, critic_step);
criterion_main!(benches);
