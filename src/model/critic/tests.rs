//! Per-example gradients against one-example batches, autodiff and finite differences.

use burn::tensor::{Device, Tensor};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::*;
use crate::model::device::DeviceKind;
use crate::model::parameters::{matrix, read};

const INPUT: usize = 7;
const BATCH: usize = 9;
const LOSSES: [CriticLoss; 2] = [CriticLoss::Wasserstein, CriticLoss::CrossEntropy];

fn shape(hidden: &[usize]) -> CriticShape {
    CriticShape {
        input: INPUT,
        hidden: hidden.to_vec(),
        negative_slope: 0.2,
    }
}

fn some_rows(random: &mut ChaCha20Rng) -> Vec<f32> {
    (0..BATCH * INPUT).map(|_| random.random::<f32>()).collect()
}

/// Runs the test on every device that this machine has; says which it has not.
fn on_each_device(test: impl Fn(&Device, &mut ChaCha20Rng, DeviceKind)) {
    for kind in DeviceKind::ALL {
        match kind.open() {
            Ok(device) => test(&device, &mut ChaCha20Rng::seed_from_u64(7), kind),
            Err(error) => println!("skipped on {kind}: {error}"),
        }
    }
}

fn assert_close(got: &[f32], expected: &[f32], tolerance: f32, what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}: lengths");
    for (position, (got, expected)) in got.iter().zip(expected).enumerate() {
        let allowed = tolerance * (1.0 + expected.abs());
        assert!(
            (got - expected).abs() <= allowed,
            "{what}, position {position}: {got}, not {expected}"
        );
    }
}

/// The gradient of one example alone, by the same code without clipping.
fn alone(critic: &Critic, rows: &[f32], example: usize, loss: CriticLoss, device: &Device) -> Vec<f32> {
    let row = rows[example * INPUT..(example + 1) * INPUT].to_vec();
    let sum = critic
        .clipped_gradient_sum(matrix(row, 1, INPUT, device), loss, Side::Real, None)
        .sum;
    read(sum)
}

#[test]
fn clipped_sums_and_norms_match_one_example_batches() {
    on_each_device(|device, random, _| {
        let rows = some_rows(random);
        for loss in LOSSES {
            let critic = Critic::new(shape(&[6, 5]), random, device);
            let norms: Vec<f32> = (0..BATCH)
                .map(|i| {
                    alone(&critic, &rows, i, loss, device)
                        .iter()
                        .map(|g| g * g)
                        .sum::<f32>()
                        .sqrt()
                })
                .collect();
            // A clip in the middle of the norms, so that some examples are cut and some are not.
            let mut sorted = norms.clone();
            sorted.sort_by(f32::total_cmp);
            let clip = sorted[BATCH / 2];
            let mut expected = vec![0.0_f32; critic.parameter_count()];
            for (example, norm) in norms.iter().enumerate() {
                let factor = (clip / norm).min(1.0);
                for (sum, gradient) in expected
                    .iter_mut()
                    .zip(alone(&critic, &rows, example, loss, device))
                {
                    *sum += factor * gradient;
                }
            }
            let whole = matrix(rows.clone(), BATCH, INPUT, device);
            let clipped = critic.clipped_gradient_sum(whole, loss, Side::Real, Some(f64::from(clip)));
            assert_close(&read(clipped.norms), &norms, 1e-4, "norms");
            assert_close(&read(clipped.sum), &expected, 1e-4, "clipped sum");
        }
    });
}

#[test]
fn no_clipped_gradient_exceeds_the_bound() {
    let device = Device::flex();
    let mut random = ChaCha20Rng::seed_from_u64(3);
    let rows = some_rows(&mut random);
    let critic = Critic::new(shape(&[16]), &mut random, &device);
    for clip in [1e-3, 0.05, 0.5] {
        for example in 0..BATCH {
            let row = rows[example * INPUT..(example + 1) * INPUT].to_vec();
            let row = matrix(row, 1, INPUT, &device);
            let sum = critic
                .clipped_gradient_sum(row, CriticLoss::Wasserstein, Side::Real, Some(clip))
                .sum;
            let norm = read(sum)
                .iter()
                .map(|g| f64::from(*g).powi(2))
                .sum::<f64>()
                .sqrt();
            assert!(norm <= clip, "{norm} passes {clip}");
        }
    }
}

#[test]
fn gradients_match_finite_differences() {
    on_each_device(|device, random, kind| {
        // A software adapter takes long over tiny tensors, so a sample of the parameters has to do there.
        let stride = if kind == DeviceKind::Wgpu { 11 } else { 1 };
        let rows = some_rows(random);
        let row = || matrix(rows[..INPUT].to_vec(), 1, INPUT, device);
        for loss in LOSSES {
            for side in [Side::Real, Side::Fake] {
                let mut critic = Critic::new(shape(&[4]), random, device);
                let gradient = read(critic.clipped_gradient_sum(row(), loss, side, None).sum);
                let start = read(critic.parameters().clone());
                let gradient: Vec<f32> = gradient.into_iter().step_by(stride).collect();
                let numeric: Vec<f32> = (0..start.len())
                    .step_by(stride)
                    .map(|position| {
                        let step = 1e-2_f32;
                        let mut at = |shift: f32| {
                            let mut moved = start.clone();
                            moved[position] += shift;
                            critic.set_parameters(Tensor::from_floats(moved.as_slice(), device), 10.0);
                            read(loss.values(critic.scores(row()), side))[0]
                        };
                        (at(step) - at(-step)) / (2.0 * step)
                    })
                    .collect();
                assert_close(&gradient, &numeric, 3e-3, "finite differences");
            }
        }
    });
}

#[test]
fn row_gradients_match_autodiff() {
    let device = Device::flex();
    let mut random = ChaCha20Rng::seed_from_u64(5);
    let rows = some_rows(&mut random);
    let critic = Critic::new(shape(&[6, 5]), &mut random, &device);
    let (by_hand, _) = critic.row_gradient(matrix(rows.clone(), BATCH, INPUT, &device), |scores| {
        scores.ones_like()
    });
    let tracked = matrix(rows, BATCH, INPUT, &device).autodiff().require_grad();
    let mut tracking = critic.clone();
    tracking.parameters = tracking.parameters.autodiff();
    let gradients = tracking.scores(tracked.clone()).sum().backward();
    let automatic = tracked.grad(&gradients).expect("the rows require a gradient");
    assert_close(&read(by_hand), &read(automatic), 1e-5, "autodiff");
}
