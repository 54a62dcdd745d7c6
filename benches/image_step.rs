//! One step of a generator that follows a mean embedding, at MNIST's size, and what its parts take.
//!
//! Run with `cargo bench --bench image_step`, and with `RAYON_NUM_THREADS=1` for one core. The last line is the time of
//! the step's matrix products alone, as the device multiplies: what is left of the whole is copies, sums and waves.

use std::time::Instant;

use burn::tensor::{Device, Tensor};
use cpu_time::ProcessTime;
use pointillist::model::image::{EmbeddingMap, ImageGeneratorNet, ImageGeneratorShape};
use pointillist::model::{Adam, AdamSettings, DeviceKind, matrix, read};
use pointillist::num::RandomSource;
use rand::RngExt as _;

const CLASSES: usize = 10;
const EACH: usize = 10;
const SIDE: usize = 28;
const FREQUENCIES: usize = 2000;
const STEPS: usize = 60;
const ADAM: AdamSettings = AdamSettings {
    learning_rate: 5e-3,
    beta1: 0.9,
    beta2: 0.999,
};
/// Rows, inner width and columns of the products of a pass forward. Each has two of its size on the way back, less the
/// one by the latents and the one by the pixels' frequencies, which are fixed.
const PRODUCTS: [([usize; 3], usize); 7] = [
    ([100, 20, 256], 2),
    ([100, 256, 1568], 3),
    ([4900, 32, 256], 3),
    ([19_600, 16, 16], 3),
    ([100, 784, 250], 2),
    ([19_600, 64, 24], 2),
    ([100, 588, 250], 2),
];

/// Milliseconds of each part, the medians of all steps, and of processor time that a step takes in all.
fn parts(device: &Device, random: &mut RandomSource) -> ([f64; 4], f64) {
    let shape = ImageGeneratorShape {
        latent: 10,
        classes: CLASSES,
        hidden: 256,
        channels: 32,
        side: SIDE,
        colours: 1,
    };
    let mut network = ImageGeneratorNet::new(shape, random, device);
    let map = EmbeddingMap::new((SIDE, 1), FREQUENCIES, random, device);
    let means: Vec<f64> = (0..CLASSES * map.width())
        .map(|_| random.random::<f64>() * 0.01)
        .collect();
    let target = map.target(&means, CLASSES, device);
    let mut adam = Adam::new(ADAM, network.parameters().dims()[0], device);
    let classes: Vec<usize> = (0..CLASSES).flat_map(|class| vec![class; EACH]).collect();
    let mut taken: [Vec<f64>; 4] = Default::default();
    let before = ProcessTime::now();
    for _ in 0..STEPS {
        let mut since = Instant::now();
        let mut lap = |part: usize| {
            taken[part].push(1e3 * since.elapsed().as_secs_f64());
            since = Instant::now();
        };
        let pass = network.training_pass(&classes, random);
        lap(0);
        let (gradient, loss) = map.step(pass.images.clone(), &target, random);
        lap(1);
        let gradient = network.backward(pass, gradient);
        lap(2);
        network.set_parameters(adam.step(network.parameters().clone(), gradient));
        assert!(read(loss)[0].is_finite());
        lap(3);
    }
    let processor = 1e3 * before.elapsed().as_secs_f64() / STEPS as f64;
    let medians = taken.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    (medians, processor)
}

/// Milliseconds of the products alone, and how many operations a second that is.
fn products(device: &Device, random: &mut RandomSource) -> (f64, f64) {
    let mut filled = |rows: usize, columns: usize| -> Tensor<2> {
        let values = (0..rows * columns).map(|_| random.random::<f32>()).collect();
        matrix(values, rows, columns, device)
    };
    let (mut taken, mut operations) = (0.0, 0.0);
    for ([rows, inner, columns], count) in PRODUCTS {
        let (left, right) = (filled(rows, inner), filled(inner, columns));
        let mut times: Vec<f64> = (0..21)
            .map(|_| {
                let since = Instant::now();
                let product = left.clone().matmul(right.clone());
                assert_eq!(product.dims(), [rows, columns]);
                since.elapsed().as_secs_f64()
            })
            .collect();
        times.sort_by(f64::total_cmp);
        taken += times[times.len() / 2] * count as f64;
        operations += (2 * rows * inner * columns * count) as f64;
    }
    (1e3 * taken, operations / taken)
}

fn main() {
    let mut random = RandomSource::from_operating_system();
    let device = DeviceKind::Flex.open().expect("processor devices always open");
    let (parts, processor) = parts(&device, &mut random);
    for (name, taken) in [
        "generator forward",
        "embedding and its gradient",
        "generator backward",
        "Adam",
    ]
    .iter()
    .zip(parts)
    {
        println!("{name:<28} {taken:>8.2} ms");
    }
    println!("{:<28} {:>8.2} ms", "a whole step", parts.iter().sum::<f64>());
    println!("{:<28} {processor:>8.2} ms", "of processor time");
    let (taken, rate) = products(&device, &mut random);
    println!(
        "{:<28} {taken:>8.2} ms, {:.0} GFLOP/s",
        "its products alone",
        rate / 1e9
    );
}
