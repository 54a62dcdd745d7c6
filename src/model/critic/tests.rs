//! Per-example gradients against one-example batches, autodiff and finite differences.

use burn::tensor::{Device, Tensor};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::*;
use crate::model::device::DeviceKind;
use crate::model::parameters::{matrix, read};

const INPUT: usize = 7;
const BATCH: usize = 9;
const LOSSES: [CriticLoss; 3] = [
    CriticLoss::Wasserstein,
    CriticLoss::CrossEntropy,
    CriticLoss::Hinge,
];

fn shape(hidden: &[usize]) -> CriticShape {
    CriticShape {
        input: CriticInput::Row(INPUT),
        hidden: hidden.to_vec(),
        scores: 1,
        negative_slope: 0.2,
    }
}

/// Critics of three classes: of rows, of images whose norms come from products (few channels, many windows), and of
/// images whose norms come from the windows' likeness (many channels, few windows).
///
/// A software adapter takes long over tiny tensors, so the last has to do there.
fn shapes_with_labels(kind: DeviceKind) -> Vec<(CriticShape, usize)> {
    let image = |side: usize, colours: usize, channels: &[usize], hidden: &[usize]| {
        let shape = CriticShape {
            input: CriticInput::Image {
                side,
                colours,
                channels: channels.to_vec(),
            },
            hidden: hidden.to_vec(),
            scores: 3,
            negative_slope: 0.2,
        };
        (shape, side * side * colours)
    };
    let rows = CriticShape {
        scores: 3,
        ..shape(&[6, 5])
    };
    let mut shapes = vec![(rows, INPUT), image(16, 1, &[2], &[]), image(8, 3, &[8, 6], &[5])];
    if kind == DeviceKind::Wgpu {
        shapes.drain(..2);
    }
    shapes
}

/// Some examples of this width, with labels in turn.
fn some_batch(width: usize, random: &mut ChaCha20Rng) -> (Vec<f32>, Vec<f32>) {
    let rows = (0..BATCH * width).map(|_| random.random::<f32>()).collect();
    let labels = (0..BATCH).flat_map(|example| (0..3).map(move |class| f32::from(example % 3 == class)));
    (rows, labels.collect())
}

/// The examples from this one on.
fn part(
    (rows, labels): &(Vec<f32>, Vec<f32>),
    examples: std::ops::Range<usize>,
    device: &Device,
) -> CriticBatch {
    let width = rows.len() / BATCH;
    let count = examples.len();
    let cut = |values: &[f32], width: usize| {
        let values = values[examples.start * width..examples.end * width].to_vec();
        matrix(values, count, width, device)
    };
    CriticBatch {
        rows: cut(rows, width),
        labels: Some(cut(labels, 3)),
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
fn norms_of_images_and_labels_match_one_example_batches() {
    on_each_device(|device, random, kind| {
        for (shape, width) in shapes_with_labels(kind) {
            let examples = some_batch(width, random);
            let critic = Critic::new(shape, random, device);
            let loss = CriticLoss::CrossEntropy;
            let single: Vec<Vec<f32>> = (0..BATCH)
                .map(|example| {
                    let alone = part(&examples, example..example + 1, device);
                    read(critic.clipped_gradient_sum(alone, loss, Side::Real, None).sum)
                })
                .collect();
            let norm_of = |gradient: &[f32]| {
                let squares = gradient.iter().map(|value| f64::from(*value).powi(2));
                squares.sum::<f64>().sqrt()
            };
            let norms: Vec<f64> = single.iter().map(|gradient| norm_of(gradient)).collect();
            let mut sorted = norms.clone();
            sorted.sort_by(f64::total_cmp);
            let clip = sorted[BATCH / 2];
            let whole = part(&examples, 0..BATCH, device);
            let clipped = critic.clipped_gradient_sum(whole, loss, Side::Real, Some(clip));
            for (got, expected) in read(clipped.norms).into_iter().zip(&norms) {
                // Above the true one by what rounding could have hidden, and never below it.
                let ratio = f64::from(got) / expected;
                assert!((1.0 - 2e-6..1.0 + 2e-3).contains(&ratio), "{got}, not {expected}");
            }
            let mut expected = vec![0.0_f32; critic.parameter_count()];
            for (gradient, norm) in single.iter().zip(&norms) {
                let factor = (clip / norm).min(1.0) as f32;
                for (sum, value) in expected.iter_mut().zip(gradient) {
                    *sum += factor * value;
                }
            }
            assert_close(&read(clipped.sum), &expected, 2e-3, "clipped sum");
            for example in 0..BATCH {
                let alone = part(&examples, example..example + 1, device);
                let short = critic.clipped_gradient_sum(alone, loss, Side::Real, Some(clip / 3.0));
                assert!(
                    norm_of(&read(short.sum)) <= clip / 3.0,
                    "a clipped gradient is within the bound"
                );
            }
        }
    });
}

/// The slope at some places of what is summed in double precision, and whether all units keep their signs on the way:
/// a step over the kink of a leaky ReLU tells the slope of neither side.
fn slopes_by_differences(
    critic: &mut Critic,
    batch: &CriticBatch,
    stride: usize,
    value: impl Fn(&Critic) -> f64,
) -> Vec<(usize, f64)> {
    const STEP: f32 = 2e-3;
    let start = read(critic.parameters().clone());
    let signs = |critic: &Critic| -> Vec<bool> {
        let outputs = critic.forward(batch.clone()).outputs;
        outputs
            .into_iter()
            .flat_map(read)
            .map(|unit| unit > 0.0)
            .collect()
    };
    let device = batch.rows.device();
    let mut found = Vec::new();
    for place in (0..start.len()).step_by(stride) {
        let mut at = |shift: f32| {
            let mut moved = start.clone();
            moved[place] += shift;
            critic.set_parameters(Tensor::from_floats(moved.as_slice(), &device), 10.0);
            (value(critic), signs(critic))
        };
        let ((above, signs_above), (below, signs_below)) = (at(STEP), at(-STEP));
        if signs_above == signs_below {
            found.push((place, (above - below) / (2.0 * f64::from(STEP))));
        }
    }
    critic.set_parameters(Tensor::from_floats(start.as_slice(), &device), 10.0);
    assert!(2 * found.len() > start.len() / stride, "most places have a slope");
    found
}

fn summed(values: Tensor<2>) -> f64 {
    read(values).into_iter().map(f64::from).sum()
}

#[test]
fn gradients_of_images_and_labels_match_finite_differences() {
    on_each_device(|device, random, kind| {
        let stride = if kind == DeviceKind::Wgpu { 397 } else { 5 };
        for (shape, width) in shapes_with_labels(kind) {
            let examples = part(&some_batch(width, random), 0..2, device);
            let mut critic = Critic::new(shape, random, device);
            for (loss, side) in [
                (CriticLoss::CrossEntropy, Side::Real),
                (CriticLoss::Wasserstein, Side::Fake),
            ] {
                let gradient = critic
                    .clipped_gradient_sum(examples.clone(), loss, side, None)
                    .sum;
                let gradient = read(gradient);
                let slopes = slopes_by_differences(&mut critic, &examples, stride, |critic| {
                    summed(loss.values(critic.scores(examples.clone()), side))
                });
                for (place, expected) in slopes {
                    let got = f64::from(gradient[place]);
                    assert!(
                        (got - expected).abs() < 2e-3 * (1.0 + expected.abs()),
                        "{got}, not {expected}"
                    );
                }
            }
        }
    });
}

#[test]
fn the_penaltys_gradient_matches_finite_differences() {
    on_each_device(|device, random, kind| {
        let stride = if kind == DeviceKind::Wgpu { 397 } else { 3 };
        for (shape, width) in shapes_with_labels(kind) {
            let examples = part(&some_batch(width, random), 0..2, device);
            let mut critic = Critic::new(shape, random, device);
            // The last two numbers of a row are no direction.
            let columns = width - 2;
            let (gradient, values) = critic.penalty_gradient_sum(examples.clone(), columns);
            let gradient = read(gradient);
            let (at_rows, _) = critic.row_gradient(examples.clone(), |scores| scores.ones_like());
            for (row, value) in read(at_rows).chunks_exact(width).zip(read(values)) {
                let length = row[..columns]
                    .iter()
                    .map(|slope| slope * slope)
                    .sum::<f32>()
                    .sqrt();
                assert!(((length - 1.0).powi(2) - value).abs() < 1e-4);
            }
            let slopes = slopes_by_differences(&mut critic, &examples, stride, |critic| {
                summed(critic.penalty_gradient_sum(examples.clone(), columns).1)
            });
            for (place, expected) in slopes {
                let got = f64::from(gradient[place]);
                assert!(
                    (got - expected).abs() < 2e-3 * (1.0 + expected.abs()),
                    "{got}, not {expected}"
                );
            }
        }
    });
}

#[test]
fn pieces_of_a_large_batch_add_up_to_the_whole() {
    on_each_device(|device, random, kind| {
        let count = 2 * PIECE + 5;
        for (shape, width) in shapes_with_labels(kind) {
            let labels = shape.scores;
            let critic = Critic::new(shape, random, device);
            let rows = (0..count * width).map(|_| random.random::<f32>()).collect();
            let one_hot =
                (0..count * labels).map(|at| f32::from(u8::from(at % labels == at / labels % labels)));
            let batch = CriticBatch {
                rows: matrix(rows, count, width, device),
                labels: Some(matrix(one_hot.collect(), count, labels, device)),
            };
            let sum = |pieces: bool| {
                let (loss, side, clip) = (CriticLoss::CrossEntropy, Side::Real, Some(0.3));
                let sum = if pieces {
                    critic.clipped_gradient_sum(batch.clone(), loss, side, clip)
                } else {
                    critic.clipped_part(batch.clone(), loss, side, clip)
                };
                [read(sum.sum), read(sum.norms), read(sum.losses)]
            };
            for (got, expected) in sum(true).iter().zip(&sum(false)) {
                assert_eq!(got.len(), expected.len());
                assert_close(got, expected, 1e-4, "in pieces");
            }
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
                    .zip(&gradient)
                    .map(|(position, own)| {
                        let step = 1e-2_f32;
                        let mut at = |shift: f32| {
                            let mut moved = start.clone();
                            moved[position] += shift;
                            critic.set_parameters(Tensor::from_floats(moved.as_slice(), device), 10.0);
                            read(loss.values(critic.scores(row()), side))[0]
                        };
                        let here = at(0.0);
                        let (left, right) = ((here - at(-step)) / step, (at(step) - here) / step);
                        // A ReLU's or the hinge's kink lies on one side of here at most; the other side's slope is ours.
                        let has_kink = (left - right).abs() > 2e-2;
                        if !has_kink {
                            f32::midpoint(left, right)
                        } else if (left - own).abs() < (right - own).abs() {
                            left
                        } else {
                            right
                        }
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
    tracking.leaves = tracking.leaves.into_iter().map(Tensor::autodiff).collect();
    let gradients = tracking.scores(tracked.clone()).sum().backward();
    let automatic = tracked.grad(&gradients).expect("the rows require a gradient");
    assert_close(&read(by_hand), &read(automatic), 1e-5, "autodiff");
}
