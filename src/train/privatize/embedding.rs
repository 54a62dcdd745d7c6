//! The one look of `dp-merf` at private images or rows: the sum of their embeddings, class by class, under noise.
//!
//! Each image or row contributes the vector `[φ(x); 0.1]` to the row of its class, and ‖φ(x)‖ ≤ 1 ([`EmbeddingMap`],
//! [`RowEmbedding`]). So
//!
//! - adding or removing one, or zeroing one out, moves the matrix of sums by at most `√(1 + 0.1²)`;
//! - replacing one moves it by at most 2 within a class (the 0.1 stays, and two points of the unit ball are at most 2
//!   apart), and by at most `√2·√(1 + 0.1²)` between two classes.
//!
//! Noise of σ times that on every entry is one Gaussian release of noise multiplier σ. The last entry over 0.1 is a
//! noisy count: it turns sums into means, and nothing else is ever asked of the data (Harder, Adamczewski & Park
//! 2021, Algorithm 1, with the count inside the release).

use burn::tensor::{Device, Tensor, TensorData};

use super::{Account, Refusal, add_noise};
use crate::data::{EncodedRows, StoreError, StoredRows};
use crate::model::image::EmbeddingMap;
use crate::model::{RowEmbedding, matrix, read};
use crate::num::{NoiseMultiplier, RandomSource};
use crate::privacy::{Neighboring, PrivacyEvent};
use crate::train::image::TrainImages;
use crate::train::layout::RowLayout;

/// What an image or a row adds to the count.
const COUNT_ENTRY: f64 = 0.1;
/// Images that are embedded at a time.
const PIECE: usize = 250;
/// Rows that a thread takes at a time.
const ROWS: usize = 1024;
/// A class or table whose noisy count is below this many standard deviations has no mean to speak of.
const LEAST_DEVIATIONS: f64 = 3.0;

/// Noisy means of φ over each class, and how many images each seems to have.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassMeans {
    /// `[classes, width]`, row-major.
    pub means: Vec<f64>,
    /// Noisy numbers of images; at least 0.
    pub counts: Vec<f64>,
}

/// Noisy means over a whole table of φ times "is of this class", and what share of the rows each class seems to have.
#[derive(Clone, Debug, PartialEq)]
pub struct JointMeans {
    /// Categories of the label; 1 without a label.
    pub classes: usize,
    /// `[classes, width]`, row-major.
    pub means: Vec<f64>,
    /// Noisy shares, one a class.
    pub shares: Vec<f64>,
}

/// The most that the sums can differ between neighbours, in ℓ2 norm.
pub fn sensitivity(neighboring: Neighboring) -> f64 {
    match neighboring {
        Neighboring::AddRemoveOne | Neighboring::ZeroOutOne => (1.0 + COUNT_ENTRY * COUNT_ENTRY).sqrt(),
        Neighboring::ReplaceOne => 2.0,
    }
}

/// The same for rows of which a person has at most so many: a sum of so many vectors is at most so many times as long. Two
/// persons may differ in the number of their rows, so that nothing cancels between them.
fn row_sensitivity(layout: &RowLayout, neighboring: Neighboring) -> f64 {
    let most = f64::from(layout.max_rows());
    match neighboring {
        _ if layout.max_rows() <= 1 => sensitivity(neighboring),
        Neighboring::AddRemoveOne | Neighboring::ZeroOutOne => most * sensitivity(neighboring),
        Neighboring::ReplaceOne => 2.0 * most * sensitivity(Neighboring::AddRemoveOne),
    }
}

/// Noisy class means of the embedding, charged as one Gaussian event. Without a promise: the plain means.
///
/// # Errors
/// When the release would pass the budget; no image has been looked at then.
pub fn mean_embedding(
    account: &mut Account,
    map: &EmbeddingMap,
    images: &TrainImages,
    noise: Option<NoiseMultiplier>,
    random: &mut RandomSource,
    device: &Device,
) -> Result<ClassMeans, Refusal> {
    let (sums, deviation) = noisy_sums(account, noise, random, sensitivity, || {
        Ok(sums(map, images, device))
    })?;
    Ok(means(&sums, map.width(), deviation))
}

/// Noisy means over a whole table of φ times "is of this class", charged as one Gaussian event. Without a promise: the
/// plain means.
///
/// # Errors
/// When the release would pass the budget; no row has been looked at then. When the rows are kept in a file that cannot be
/// read.
pub fn joint_embedding(
    account: &mut Account,
    map: &RowEmbedding,
    (rows, layout): (&StoredRows, &RowLayout),
    noise: Option<NoiseMultiplier>,
    random: &mut RandomSource,
) -> Result<JointMeans, Refusal> {
    let of_rows = |neighboring| row_sensitivity(layout, neighboring);
    let (sums, deviation) = noisy_sums(account, noise, random, of_rows, || stored_sums(map, rows, layout))?;
    Ok(joint_means(&sums, map.width(), deviation))
}

/// Sums of `[φ; 0.1]` by class under noise, and that noise's standard deviation.
fn noisy_sums(
    account: &mut Account,
    noise: Option<NoiseMultiplier>,
    random: &mut RandomSource,
    sensitivity: impl FnOnce(Neighboring) -> f64,
    sums: impl FnOnce() -> Result<Vec<f64>, StoreError>,
) -> Result<(Vec<f64>, f64), Refusal> {
    let deviation = match (&account.private, noise) {
        (Some(private), Some(noise)) => noise.get() * sensitivity(private.budget.neighboring),
        _ => 0.0,
    };
    let event = PrivacyEvent::Gaussian {
        noise_multiplier: noise.map_or(0.0, NoiseMultiplier::get),
    };
    account.charge(event, || {
        let mut sums = sums()?;
        add_noise(&mut sums, deviation, random);
        Ok((sums, deviation))
    })?
}

/// `Σ [φ(x); 0.1]` by class: `[classes, width + 1]`, row-major.
fn sums(map: &EmbeddingMap, images: &TrainImages, device: &Device) -> Vec<f64> {
    let (classes, width) = (images.classes().len(), map.width());
    let form = images.set().form();
    let pieces = images.len().div_ceil(PIECE);
    summed(classes * (width + 1), pieces, |piece, own| {
        let start = piece * PIECE;
        let codes = &images.codes()[start..images.len().min(start + PIECE)];
        let bytes = &images.set().bytes()[start * form.pixels()..(start + codes.len()) * form.pixels()];
        let values: Vec<f32> = bytes.iter().map(|byte| f32::from(*byte) / 255.0).collect();
        let shape = [codes.len(), form.side, form.side, form.colours];
        let embedded = map.embed(Tensor::from_data(TensorData::new(values, shape), device));
        let mut members = vec![0.0; classes * codes.len()];
        for (image, code) in codes.iter().enumerate() {
            members[usize::from(*code) * codes.len() + image] = 1.0;
            own[usize::from(*code) * (width + 1) + width] += COUNT_ENTRY;
        }
        let by_class = read(matrix(members, classes, codes.len(), device).matmul(embedded));
        for (sums, piece) in own.chunks_exact_mut(width + 1).zip(by_class.chunks_exact(width)) {
            for (sum, value) in sums.iter_mut().zip(piece) {
                *sum += f64::from(*value);
            }
        }
    })
}

/// The same of rows, wherever they are stored.
fn stored_sums(map: &RowEmbedding, rows: &StoredRows, layout: &RowLayout) -> Result<Vec<f64>, StoreError> {
    let classes = layout.label().map_or(1, |label| label.width);
    let mut total = vec![0.0; classes * (map.width() + 1)];
    rows.each_piece(|piece| {
        let own = row_sums(map, piece, layout);
        total.iter_mut().zip(own).for_each(|(sum, value)| *sum += value);
    })?;
    Ok(total)
}

/// The same of rows in memory.
fn row_sums(map: &RowEmbedding, rows: &EncodedRows, layout: &RowLayout) -> Vec<f64> {
    let width = map.width();
    let classes = layout.label().map_or(1, |label| label.width);
    let codes = layout.one_hot().len().max(1);
    let pieces = rows.rows().div_ceil(ROWS);
    summed(classes * (width + 1), pieces, |piece, own| {
        let mut phases = Vec::new();
        let end = rows.codes.len().min((piece + 1) * ROWS * codes);
        for row in rows.codes[piece * ROWS * codes..end].chunks_exact(codes) {
            let class = layout.label_index().map_or(0, |label| usize::from(row[label]));
            let sums = &mut own[class * (width + 1)..(class + 1) * (width + 1)];
            map.add(row, &mut sums[..width], &mut phases);
            sums[width] += COUNT_ENTRY;
        }
    })
}

/// The sum of what every piece adds, the pieces shared by all cores.
///
/// Which thread adds what is fixed, so that a fixed seed gives the same sums to the last digit.
fn summed(length: usize, pieces: usize, add: impl Fn(usize, &mut [f64]) + Sync) -> Vec<f64> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.min(pieces);
    let add = &add;
    let work = move |first: usize| {
        let mut own = vec![0.0; length];
        (first..pieces)
            .step_by(threads)
            .for_each(|piece| add(piece, &mut own));
        own
    };
    let mut total = vec![0.0; length];
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|first| scope.spawn(move || work(first)))
            .collect();
        for worker in workers {
            let own = worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            total.iter_mut().zip(own).for_each(|(sum, value)| *sum += value);
        }
    });
    total
}

/// From noisy sums to means: post-processing.
fn means(sums: &[f64], width: usize, deviation: f64) -> ClassMeans {
    let least = (LEAST_DEVIATIONS * deviation / COUNT_ENTRY).max(1.0);
    let mut means = Vec::with_capacity(sums.len());
    let mut counts = Vec::new();
    for row in sums.chunks_exact(width + 1) {
        let count = row[width] / COUNT_ENTRY;
        means.extend(row[..width].iter().map(|sum| sum / count.max(least)));
        counts.push(count.max(0.0));
    }
    ClassMeans { means, counts }
}

/// The same over all classes together.
///
/// The number of rows is the sum of the classes' counts, whose noise is √classes times as large.
fn joint_means(sums: &[f64], width: usize, deviation: f64) -> JointMeans {
    let counts: Vec<f64> = sums
        .chunks_exact(width + 1)
        .map(|row| row[width] / COUNT_ENTRY)
        .collect();
    let least = LEAST_DEVIATIONS * deviation / COUNT_ENTRY * (counts.len() as f64).sqrt();
    let rows = counts.iter().sum::<f64>().max(least).max(1.0);
    let means = sums.chunks_exact(width + 1).flat_map(|row| &row[..width]);
    JointMeans {
        classes: counts.len(),
        means: means.map(|sum| sum / rows).collect(),
        shares: counts.iter().map(|count| count / rows).collect(),
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::model::Feature;
    use crate::num::{Delta, Epsilon};
    use crate::privacy::AccountantKind;
    use crate::train::budget::Budget;
    use crate::train::image::testing::{images, some_images};
    use crate::train::testing::{encoder, rows, schema};

    /// A false alarm in any of a test's comparisons has probability at most 1e-6.
    const DEVIATIONS: f64 = 5.9;

    fn account(epsilon: f64, neighboring: Neighboring) -> Account {
        let budget = Budget {
            epsilon: Epsilon::new(epsilon).unwrap(),
            delta: Delta::new(1e-5).unwrap(),
            neighboring,
        };
        Account::of(Some(budget), AccountantKind::Pld)
    }

    fn layout() -> RowLayout {
        RowLayout::new(&schema(), &encoder()).unwrap()
    }

    fn row_map(layout: &RowLayout, linear: f64) -> RowEmbedding {
        let features = layout.features().map(|(code, block)| Feature {
            code,
            offset: block.offset,
            width: block.width,
        });
        RowEmbedding::new(features.collect(), 250, linear, &mut RandomSource::seeded(3))
    }

    fn map(device: &Device) -> EmbeddingMap {
        EmbeddingMap::new((8, 1), 250, &mut RandomSource::seeded(3), device)
    }

    #[test]
    fn no_image_moves_the_sums_by_more_than_the_sensitivity() {
        let device = Device::flex();
        let map = map(&device);
        let mut random = RandomSource::seeded(4);
        let norm = |one: &[f64], other: &[f64]| -> f64 {
            let squares = one.iter().zip(other).map(|(x, y)| (x - y).powi(2));
            squares.sum::<f64>().sqrt()
        };
        let blank = |count: usize| vec![0.0; count];
        for _ in 0..20 {
            let mut draw = |code: u8| {
                // Extremes and everything between.
                let bytes: Vec<u8> = match random.random_range(0..3) {
                    0 => vec![0; 64],
                    1 => vec![255; 64],
                    _ => (0..64).map(|_| random.random()).collect(),
                };
                sums(&map, &images(bytes, vec![code]), &device)
            };
            let (one, same, other) = (draw(0), draw(0), draw(1));
            let alone = norm(&one, &blank(one.len()));
            assert!(alone <= sensitivity(Neighboring::AddRemoveOne));
            assert!(
                alone > sensitivity(Neighboring::AddRemoveOne) - 1e-4,
                "the bound is tight"
            );
            for replaced in [&same, &other] {
                assert!(norm(&one, replaced) <= sensitivity(Neighboring::ReplaceOne));
            }
        }
    }

    #[test]
    fn no_row_moves_the_sums_by_more_than_the_sensitivity() {
        let layout = layout();
        let all = rows(60);
        let norm = |one: &[f64], other: &[f64]| -> f64 {
            let squares = one.iter().zip(other).map(|(x, y)| (x - y).powi(2));
            squares.sum::<f64>().sqrt()
        };
        for linear in [0.0, 0.4, 0.99] {
            let map = row_map(&layout, linear);
            let sums = |rows: &[usize]| row_sums(&map, &all.select(rows), &layout);
            let everything: Vec<usize> = (0..60).collect();
            let whole = sums(&everything);
            for row in 0..60 {
                let without: Vec<usize> = (0..60).filter(|other| *other != row).collect();
                let moved = norm(&whole, &sums(&without));
                let bound = sensitivity(Neighboring::AddRemoveOne);
                assert!(
                    moved <= bound && moved > bound - 1e-4,
                    "{moved}: the bound is tight"
                );
                let replaced: Vec<usize> = (0..60)
                    .map(|other| if other == row { 59 - row } else { other })
                    .collect();
                assert!(norm(&whole, &sums(&replaced)) <= sensitivity(Neighboring::ReplaceOne));
            }
        }
    }

    #[test]
    fn sums_of_rows_do_not_depend_on_how_the_work_is_divided() {
        let layout = layout();
        let all = rows(3 * ROWS / 2);
        let map = row_map(&layout, 0.4);
        let whole = row_sums(&map, &all, &layout);
        let halves = [0..ROWS / 2, ROWS / 2..3 * ROWS / 2];
        let halves = halves.map(|half| row_sums(&map, &all.select(&half.collect::<Vec<_>>()), &layout));
        for (one, (first, second)) in whole.iter().zip(halves[0].iter().zip(&halves[1])) {
            assert!((one - first - second).abs() < 1e-9);
        }
        let counts: f64 = whole.iter().skip(map.width()).step_by(map.width() + 1).sum();
        assert!((counts / COUNT_ENTRY - 1536.0).abs() < 1e-6, "{counts}");
    }

    #[test]
    fn the_noise_on_rows_is_what_is_charged() {
        let (layout, all) = (layout(), rows(300));
        let map = row_map(&layout, 0.4);
        let plain = row_sums(&map, &all, &layout);
        for neighboring in [Neighboring::AddRemoveOne, Neighboring::ReplaceOne] {
            let mut account = account(2.0, neighboring);
            let noise = NoiseMultiplier::new(30.0).unwrap();
            let mut random = RandomSource::seeded(5);
            let released = joint_embedding(
                &mut account,
                &map,
                (&all.clone().into(), &layout),
                Some(noise),
                &mut random,
            )
            .unwrap();
            let events = account.executed().events;
            assert_eq!(events.len(), 1);
            let charged = PrivacyEvent::Gaussian {
                noise_multiplier: 30.0,
            };
            assert_eq!(events[0].event, charged);
            // 300 rows are too few to be counted through this noise, so the divisor is the floor.
            let deviation = 30.0 * sensitivity(neighboring);
            let divisor = LEAST_DEVIATIONS * deviation / COUNT_ENTRY * 2.0_f64.sqrt();
            let mut squares = 0.0;
            for (class, row) in released.means.chunks_exact(map.width()).enumerate() {
                let sums = &plain[class * (map.width() + 1)..];
                for (mean, sum) in row.iter().zip(sums) {
                    squares += ((mean * divisor - sum) / deviation).powi(2);
                }
            }
            let count = released.means.len() as f64;
            assert!((squares - count).abs() < DEVIATIONS * (2.0 * count).sqrt());
        }
    }

    #[test]
    fn sums_do_not_depend_on_how_the_work_is_divided() {
        let device = Device::flex();
        let map = map(&device);
        let set = some_images(3 * PIECE / 2);
        let whole = sums(&map, &set, &device);
        let width = map.width() + 1;
        let mut single = vec![0.0; whole.len()];
        for (image, code) in set.codes().iter().enumerate() {
            let bytes = set.set().bytes()[image * 64..(image + 1) * 64].to_vec();
            let alone = sums(&map, &images(bytes, vec![*code]), &device);
            single
                .iter_mut()
                .zip(alone)
                .for_each(|(sum, value)| *sum += value);
        }
        for (place, (one, other)) in whole.iter().zip(&single).enumerate() {
            assert!(
                (one - other).abs() < 1e-2,
                "class {}: {one} {other}",
                place / width
            );
        }
    }

    #[test]
    fn the_noise_is_what_is_charged() {
        let device = Device::flex();
        let map = map(&device);
        let set = some_images(40);
        let plain = sums(&map, &set, &device);
        for neighboring in [Neighboring::AddRemoveOne, Neighboring::ReplaceOne] {
            let mut account = account(1.0, neighboring);
            let noise = NoiseMultiplier::new(5.0).unwrap();
            let mut random = RandomSource::seeded(5);
            let released =
                mean_embedding(&mut account, &map, &set, Some(noise), &mut random, &device).unwrap();
            let events = account.executed().events;
            assert_eq!(events.len(), 1);
            assert_eq!(
                events[0].event,
                PrivacyEvent::Gaussian {
                    noise_multiplier: 5.0
                }
            );
            assert!(account.epsilon().unwrap() < 1.0);
            // 20 images a class are too few to be counted through this noise, so the divisor is the floor.
            let deviation = 5.0 * sensitivity(neighboring);
            let least = LEAST_DEVIATIONS * deviation / COUNT_ENTRY;
            let width = map.width();
            let mut squares = 0.0;
            for (class, row) in released.means.chunks_exact(width).enumerate() {
                let divisor = released.counts[class].max(least);
                for (mean, sum) in row.iter().zip(&plain[class * (width + 1)..]) {
                    squares += ((mean * divisor - sum) / deviation).powi(2);
                }
            }
            let count = released.means.len() as f64;
            assert!((squares - count).abs() < DEVIATIONS * (2.0 * count).sqrt());
        }
    }

    #[test]
    fn a_release_past_the_budget_does_not_happen() {
        let device = Device::flex();
        let mut account = account(1.0, Neighboring::AddRemoveOne);
        let noise = NoiseMultiplier::new(3.0).unwrap();
        let refused = mean_embedding(
            &mut account,
            &map(&device),
            &some_images(10),
            Some(noise),
            &mut RandomSource::seeded(6),
            &device,
        );
        assert!(matches!(refused, Err(Refusal::OverBudget { .. })));
        assert!(account.executed().events.is_empty());
    }
}
