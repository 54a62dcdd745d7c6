//! One whole step of a critic of images under privacy: forward, backward, per-example norms, clip, sum, noise and Adam.
//! 28 × 28 grey, convolutions 1-32-64 of 4 × 4 windows at every second place, one score, batch 128.
//!
//! Run with `RAYON_NUM_THREADS=1 cargo bench --bench image_critic`; `tests/peers/opacus_images.py` times the same step in
//! PyTorch, with Opacus and without privacy. Prints the median of many steps, how far the step is from what the device
//! reaches on its matrix products alone, and the most memory that the steps took beyond what the process had before.

use std::time::Instant;

use burn::tensor::{Device, Tensor};
use pointillist::model::{
    Adam, AdamSettings, Critic, CriticInput, CriticLoss, CriticShape, DeviceKind, Side, matrix, read, vector,
};
use pointillist::num::RandomSource;
use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

const SIDE: usize = 28;
const BATCH: usize = 128;
const CLIP: f64 = 1.0;
const NOISE_MULTIPLIER: f64 = 1.0;
const STEPS: usize = 60;
const ADAM: AdamSettings = AdamSettings {
    learning_rate: 2e-4,
    beta1: 0.5,
    beta2: 0.999,
};
/// Rows, inner width and columns of the step's products that convolutions need: forward, back, and the clipped sums.
const PRODUCTS: [[usize; 3]; 5] = [
    [BATCH * 196, 16, 32],
    [BATCH * 49, 512, 64],
    [BATCH * 49, 64, 512],
    [512, BATCH * 49, 64],
    [16, BATCH * 196, 32],
];

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Milliseconds of a step.
fn steps(device: &Device, random: &mut RandomSource) -> f64 {
    let shape = CriticShape {
        input: CriticInput::Image {
            side: SIDE,
            colours: 1,
            channels: vec![32, 64],
        },
        hidden: Vec::new(),
        scores: 1,
        negative_slope: 0.2,
    };
    let mut critic = Critic::new(shape, random, device);
    let length = critic.parameter_count();
    let mut adam = Adam::new(ADAM, length, device);
    let rows = (0..BATCH * SIDE * SIDE).map(|_| random.random::<f32>()).collect();
    let rows = matrix(rows, BATCH, SIDE * SIDE, device);
    let times = (0..STEPS).map(|_| {
        let since = Instant::now();
        let clipped =
            critic.clipped_gradient_sum(rows.clone(), CriticLoss::CrossEntropy, Side::Real, Some(CLIP));
        let noise = (0..length).map(|_| {
            let unit: f64 = StandardNormal.sample(random);
            (unit * NOISE_MULTIPLIER * CLIP) as f32
        });
        let noisy = clipped.sum + vector(noise.collect(), device);
        let parameters = adam.step(critic.parameters().clone(), noisy.div_scalar(BATCH as f64));
        critic.set_parameters(parameters, 10.0);
        // Reading waits for the device.
        assert!(
            read(critic.parameters().clone())
                .iter()
                .all(|value| value.is_finite())
        );
        1e3 * since.elapsed().as_secs_f64()
    });
    median(times.collect())
}

/// Milliseconds of the products alone, and how many operations a second that is.
fn products(device: &Device, random: &mut RandomSource) -> (f64, f64) {
    let mut filled = |rows: usize, columns: usize| -> Tensor<2> {
        let values = (0..rows * columns).map(|_| random.random::<f32>()).collect();
        matrix(values, rows, columns, device)
    };
    let (mut taken, mut operations) = (0.0, 0.0);
    for [rows, inner, columns] in PRODUCTS {
        let (left, right) = (filled(rows, inner), filled(inner, columns));
        let times = (0..21).map(|_| {
            let since = Instant::now();
            assert_eq!(left.clone().matmul(right.clone()).dims(), [rows, columns]);
            since.elapsed().as_secs_f64()
        });
        taken += median(times.collect());
        operations += (2 * rows * inner * columns) as f64;
    }
    (1e3 * taken, operations / taken)
}

/// A line of what the system tells of this process, in MiB.
fn memory(line: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let found = status.lines().find_map(|text| text.strip_prefix(line))?;
    let kibibytes: f64 = found
        .trim_start_matches(':')
        .split_whitespace()
        .next()?
        .parse()
        .ok()?;
    Some(kibibytes / 1024.0)
}

fn main() {
    let mut random = RandomSource::from_operating_system();
    let device = DeviceKind::Flex.open().expect("processor devices always open");
    let before = memory("VmRSS");
    println!("critic step with noise: {:.2} ms", steps(&device, &mut random));
    if let (Some(before), Some(peak)) = (before, memory("VmHWM")) {
        println!(
            "memory beyond the process's own {before:.0} MiB: {:.0} MiB at most",
            peak - before
        );
    }
    let (taken, rate) = products(&device, &mut random);
    println!("its products alone: {taken:.2} ms, {:.0} GFLOP/s", rate / 1e9);
}
