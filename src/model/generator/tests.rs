use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

use super::*;
use crate::model::{DeviceKind, HeadKind};

fn shape() -> GeneratorShape {
    let heads = Heads::new([(HeadKind::OneHot, 3), (HeadKind::Scalar, 1)]);
    GeneratorShape {
        latent: 4,
        hidden: vec![8, 6],
        batch_norm: true,
        heads,
    }
}

#[test]
fn rows_drawn_in_pieces_are_those_drawn_at_once() {
    let heads = Heads::new([
        (HeadKind::OneHot, 40),
        (HeadKind::Scalar, 1),
        (HeadKind::OneHot, 30),
    ]);
    let shape = GeneratorShape {
        latent: 64,
        hidden: vec![256, 256],
        batch_norm: true,
        heads,
    };
    let device = DeviceKind::Flex.open().unwrap();
    let mut random = ChaCha20Rng::seed_from_u64(3);
    let generator = Generator::new(shape, &mut random, &device).freeze(&mut random);
    for rows in [1, 2, 511, 513, 1025, 3000] {
        let mut random = ChaCha20Rng::seed_from_u64(4);
        let latents = generator.latents(rows, &mut random);
        let (logits, _) = generator.flow(&generator.leaves, latents, generator.frozen.as_deref());
        let draws = generator.shape.heads.draws(rows, &mut random);
        let at_once = generator.shape.heads.place(rows, &read(logits), &draws);
        let drawn = generator.sample(rows, &mut ChaCha20Rng::seed_from_u64(4));
        assert!(drawn == at_once, "{rows} rows");
    }
}

#[test]
fn gradients_match_finite_differences() {
    for kind in DeviceKind::ALL {
        let device = match kind.open() {
            Ok(device) => device,
            Err(error) => {
                println!("skipped on {kind}: {error}");
                continue;
            }
        };
        let mut generator = Generator::new(shape(), &mut ChaCha20Rng::seed_from_u64(1), &device);
        // Probabilities are smooth in the parameters (straight-through rows are not). The same seed gives
        // the same latents in each pass.
        let loss = |generator: &Generator| {
            let pass = generator.training_pass(16, 0.66, &mut ChaCha20Rng::seed_from_u64(2));
            let loss = pass.probabilities().narrow(1, 0, 1).square().sum()
                + pass.probabilities().narrow(1, 3, 1).sum();
            (pass, loss)
        };
        let (pass, at_start) = loss(&generator);
        let gradient = read(pass.gradient(&at_start));
        let start = read(generator.parameters().clone());
        let stride = if kind == DeviceKind::Wgpu { 41 } else { 5 };
        for position in (0..start.len()).step_by(stride) {
            let mut at = |shift: f32| {
                let mut moved = start.clone();
                moved[position] += shift;
                generator.set_parameters(vector(moved, &device));
                read(loss(&generator).1.inner())[0]
            };
            let step = 2e-3;
            let numeric = (at(step) - at(-step)) / (2.0 * step);
            let error = (gradient[position] - numeric).abs();
            assert!(
                error < 2e-2 * (1.0 + numeric.abs()),
                "{kind} {position}: {} {numeric}",
                gradient[position]
            );
        }
    }
}

#[test]
fn output_starts_at_the_given_shares() {
    let device = Device::flex();
    let mut random = ChaCha20Rng::seed_from_u64(3);
    let mut generator = Generator::new(shape(), &mut random, &device);
    generator.set_output_shares(&[0.7, 0.25, 0.05, 0.0]);
    let samples = generator.sample(20_000, &mut random);
    let first = samples.codes.iter().filter(|code| **code == 0).count() as f64 / 20_000.0;
    assert!(
        (first - 0.7).abs() < 0.15,
        "{first}: the weights add some spread, no more"
    );
}

#[test]
fn a_frozen_generator_survives_its_tensors() {
    let device = Device::flex();
    let mut random = ChaCha20Rng::seed_from_u64(4);
    let frozen = Generator::new(shape(), &mut random, &device).freeze(&mut random);
    let tensors = frozen.tensors();
    let loaded = Generator::from_tensors(shape(), &tensors, &device).unwrap();
    let draw = |generator: &Generator| generator.sample(50, &mut ChaCha20Rng::seed_from_u64(9));
    assert_eq!(draw(&frozen), draw(&loaded));
    let error = Generator::from_tensors(shape(), &tensors[1..], &device).unwrap_err();
    assert_eq!(error, WeightsError::Missing("hidden.0.weight".to_owned()));
}
