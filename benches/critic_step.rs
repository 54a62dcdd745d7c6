//! One whole step of the critic under privacy: forward, backward, per-example norms, clip, sum, noise and Adam.
//! MLP 64-256-256-1 at batch 256, one core.
//!
//! Run with `RAYON_NUM_THREADS=1 cargo bench --bench critic_step`; `tests/peers/opacus_speed.py` times the same
//! step in PyTorch, with Opacus and without privacy.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use pointillist::model::{
    Adam, AdamSettings, Critic, CriticInput, CriticLoss, CriticShape, DeviceKind, Side, matrix, read, vector,
};
use pointillist::num::RandomSource;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

const INPUT: usize = 64;
const BATCH: usize = 256;
const CLIP: f64 = 0.5;
const NOISE_MULTIPLIER: f64 = 1.0;
/// Weights are held inside this bound after each step.
const CLAMP: f64 = 0.1;
const ADAM: AdamSettings = AdamSettings {
    learning_rate: 2e-4,
    beta1: 0.5,
    beta2: 0.999,
};

fn critic_step(criterion: &mut Criterion) {
    let mut random = RandomSource::from_operating_system();
    for kind in [DeviceKind::Flex, DeviceKind::Ndarray] {
        let device = kind.open().expect("processor devices always open");
        let shape = CriticShape {
            input: CriticInput::Row(INPUT),
            hidden: vec![256, 256],
            scores: 1,
            negative_slope: 0.2,
        };
        let mut critic = Critic::new(shape, &mut random, &device);
        let length = critic.parameter_count();
        let mut adam = Adam::new(ADAM, length, &device);
        let rows: Vec<f32> = (0..BATCH * INPUT).map(|_| random.random::<f32>()).collect();
        let rows = matrix(rows, BATCH, INPUT, &device);
        criterion.bench_function(&format!("critic step with noise, {kind}"), |bencher| {
            bencher.iter(|| {
                let rows = black_box(rows.clone());
                let clipped =
                    critic.clipped_gradient_sum(rows, CriticLoss::Wasserstein, Side::Real, Some(CLIP));
                let noise = (0..length).map(|_| {
                    let unit: f64 = StandardNormal.sample(&mut random);
                    (unit * NOISE_MULTIPLIER * CLIP) as f32
                });
                let noisy = clipped.sum + vector(noise.collect(), &device);
                let gradient = noisy.div_scalar(BATCH as f64);
                let parameters = adam.step(critic.parameters().clone(), gradient);
                critic.set_parameters(parameters, CLAMP);
                // Reading waits for the device.
                read(critic.parameters().clone())
            });
        });
    }
}

criterion_group!(benches, critic_step);
criterion_main!(benches);
