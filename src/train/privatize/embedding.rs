//! The one look of `dp-merf` at private images: the sum of their embeddings, class by class, under noise.
//!
//! Each image contributes the vector `[φ(x); 0.1]` to the row of its class, and ‖φ(x)‖ ≤ 1 ([`EmbeddingMap`]). So
//!
//! - adding or removing an image, or zeroing one out, moves the matrix of sums by at most `√(1 + 0.1²)`;
//! - replacing one moves it by at most 2 within a class (the 0.1 stays, and two points of the unit ball are at most 2
//!   apart), and by at most `√2·√(1 + 0.1²)` between two classes.
//!
//! Noise of σ times that on every entry is one Gaussian release of noise multiplier σ. The last entry over 0.1 is a
//! noisy count: it turns sums into means, and nothing else is ever asked of the images (Harder, Adamczewski & Park
//! 2021, Algorithm 1, with the count inside the release).

use burn::tensor::{Device, Tensor, TensorData};

use super::{Account, Refusal, add_noise};
use crate::model::image::EmbeddingMap;
use crate::model::{matrix, read};
use crate::num::{NoiseMultiplier, RandomSource};
use crate::privacy::{Neighboring, PrivacyEvent};
use crate::train::image::TrainImages;

/// What an image adds to the count.
const COUNT_ENTRY: f64 = 0.1;
/// Images that are embedded at a time.
const PIECE: usize = 250;
/// A class whose noisy count is below this many standard deviations has no mean to speak of.
const LEAST_DEVIATIONS: f64 = 3.0;

/// Noisy means of φ over each class, and how many images each seems to have.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassMeans {
    /// `[classes, width]`, row-major.
    pub means: Vec<f64>,
    /// Noisy numbers of images; at least 0.
    pub counts: Vec<f64>,
}

/// The most that the sums can differ between neighbours, in ℓ2 norm.
pub fn sensitivity(neighboring: Neighboring) -> f64 {
    match neighboring {
        Neighboring::AddRemoveOne | Neighboring::ZeroOutOne => (1.0 + COUNT_ENTRY * COUNT_ENTRY).sqrt(),
        Neighboring::ReplaceOne => 2.0,
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
    let deviation = match (&account.private, noise) {
        (Some(private), Some(noise)) => noise.get() * sensitivity(private.budget.neighboring),
        _ => 0.0,
    };
    let event = PrivacyEvent::Gaussian {
        noise_multiplier: noise.map_or(0.0, NoiseMultiplier::get),
    };
    account.charge(event, || {
        let mut sums = sums(map, images, device);
        add_noise(&mut sums, deviation, random);
        means(&sums, map.width(), deviation)
    })
}

/// `Σ [φ(x); 0.1]` by class: `[classes, width + 1]`, row-major.
fn sums(map: &EmbeddingMap, images: &TrainImages, device: &Device) -> Vec<f64> {
    let (classes, width) = (images.classes().len(), map.width());
    let form = images.set().form();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.min(images.len().div_ceil(PIECE));
    // Which thread adds what is fixed, so that a fixed seed gives the same sums to the last digit.
    let work = &|first: usize| {
        let mut own = vec![0.0; classes * (width + 1)];
        for start in (first * PIECE..images.len()).step_by(threads * PIECE) {
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
        }
        own
    };
    let mut total = vec![0.0; classes * (width + 1)];
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

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::num::{Delta, Epsilon};
    use crate::privacy::AccountantKind;
    use crate::train::budget::Budget;
    use crate::train::image::testing::{images, some_images};

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
