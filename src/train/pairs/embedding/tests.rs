use rand::RngExt;

use super::*;
use crate::model::{DeviceKind, read};
use crate::num::RandomSource;
use crate::privacy::AccountantKind;
use crate::train::privatize::{Account, joint_embedding};
use crate::train::testing::{encoder, rows, schema};

fn layout(is_labelled: bool) -> RowLayout {
    let mut schema = schema();
    if !is_labelled {
        schema.label = None;
    }
    RowLayout::new(&schema, &encoder()).unwrap()
}

/// What 400 rows say, without noise.
fn released(layout: &RowLayout, linear: f64) -> ReleasedEmbedding {
    let mut random = RandomSource::seeded(1);
    let map = RowEmbedding::new(ReleasedEmbedding::features(layout), 500, linear, &mut random);
    let mut account = Account::of(None, AccountantKind::Pld);
    let means = joint_embedding(&mut account, &map, (&rows(400).into(), layout), None, &mut random).unwrap();
    ReleasedEmbedding { map, means }
}

#[test]
fn the_rows_themselves_are_where_they_should_be() {
    let device = DeviceKind::Flex.open().unwrap();
    for is_labelled in [true, false] {
        let layout = layout(is_labelled);
        let released = released(&layout, 0.4);
        let loss = EmbeddingLoss::new(&released, &layout, &device);
        let table = rows(400);
        let mut dense = vec![0.0; 400 * layout.width()];
        table.write_dense(&(0..400).collect::<Vec<_>>(), &mut dense);
        let dense = matrix(dense, 400, layout.width(), &device);
        for step in [0, 1, 2] {
            let (means, _) = loss.means(&dense, step);
            let target = &loss.blocks[step as usize % loss.blocks.len()].target;
            let apart = means.waves.with(target, |mean, target| mean - target).squares();
            assert!(read(apart)[0] < 1e-6);
            assert!(read((means.linear - loss.linear.clone()).square().sum())[0] < 1e-6);
        }
        // The start are the columns' shares.
        let columns = released.column_shares(&layout);
        let expected = read(dense.mean_dim(0));
        for (share, expected) in columns.iter().zip(expected) {
            assert!((share - f64::from(expected)).abs() < 1e-4, "{share} {expected}");
        }
    }
}

#[test]
fn without_a_linear_part_every_category_starts_alike() {
    let layout = layout(true);
    let columns = released(&layout, 0.0).column_shares(&layout);
    for (_, block) in layout.features() {
        let cells = &columns[block.offset..block.offset + block.width];
        assert!(
            cells
                .iter()
                .all(|share| (share * block.width as f64 - 1.0).abs() < 1e-9)
        );
    }
}

#[test]
fn a_batch_of_any_size_has_the_same_loss_in_the_mean() {
    let device = DeviceKind::Flex.open().unwrap();
    let layout = layout(true);
    let loss = EmbeddingLoss::new(&released(&layout, 0.4), &layout, &device);
    let width = layout.width();
    let mut random = RandomSource::seeded(3);
    let mut of_batch = |batch: usize| {
        let mut values: Vec<f32> = (0..batch * width).map(|_| random.random::<f32>()).collect();
        for row in values.chunks_exact_mut(width) {
            for block in layout.one_hot() {
                let cells = &mut row[block.offset..block.offset + block.width];
                let sum: f32 = cells.iter().sum();
                cells.iter_mut().for_each(|cell| *cell /= sum);
            }
        }
        let (means, _) = loss.means(&matrix(values, batch, width, &device), 0);
        f64::from(read(loss.distance(means, batch, 0).value)[0])
    };
    let large = of_batch(8000);
    let small: Vec<f64> = (0..2000).map(|_| of_batch(2)).collect();
    let mean = small.iter().sum::<f64>() / 2000.0;
    let variance = small.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 1999.0;
    // Five deviations of the mean: a false alarm has probability below 1e-6.
    assert!(
        (mean - large).abs() < 5.0 * (variance / 2000.0).sqrt(),
        "{mean} {large}, deviation {}",
        (variance / 2000.0).sqrt()
    );
}

#[test]
fn the_slope_is_that_of_the_loss_with_and_without_a_label() {
    for is_labelled in [true, false] {
        let layout = layout(is_labelled);
        for kind in DeviceKind::ALL {
            let device = match kind.open() {
                Ok(device) => device,
                Err(error) => {
                    println!("skipped on {kind}: {error}");
                    continue;
                }
            };
            let loss = EmbeddingLoss::new(&released(&layout, 0.4), &layout, &device);
            let (batch, width) = (6, layout.width());
            let mut random = RandomSource::seeded(2);
            let start: Vec<f32> = (0..batch * width).map(|_| random.random::<f32>() / 4.0).collect();
            // Two parts of one batch, as a run takes them.
            let halves = |values: &[f32]| {
                let halves = values.chunks_exact(batch / 2 * width);
                let halves = halves.map(|half| matrix(half.to_vec(), batch / 2, width, &device));
                halves.collect::<Vec<_>>()
            };
            let at = |values: &[f32]| {
                let parts = halves(values).into_iter().map(|half| {
                    let (means, pass) = loss.means(&half, 1);
                    (means, (half, pass))
                });
                let (means, passes): (Vec<_>, Vec<_>) = parts.unzip();
                let means = EmbeddingLoss::of_parts(means).unwrap();
                (loss.distance(means, batch, 1), passes)
            };
            let (distance, passes) = at(&start);
            let slope: Vec<f32> = (passes.into_iter())
                .flat_map(|(half, pass)| read(loss.slope(&distance, &half, pass, batch)))
                .collect();
            let scale = slope.iter().map(|x| f64::from(x.abs())).fold(0.0, f64::max);
            for place in (0..batch * width).step_by(5) {
                let moved = |shift: f32| {
                    let mut values = start.clone();
                    values[place] += shift;
                    f64::from(read(at(&values).0.value)[0])
                };
                let step = 1e-2;
                let numeric = (moved(step) - moved(-step)) / f64::from(2.0 * step);
                let found = f64::from(slope[place]);
                assert!(
                    (found - numeric).abs() < 5e-3 * scale,
                    "{kind} {place}: {found} {numeric} of {scale}"
                );
            }
        }
    }
}
