//! How far generated images are from real ones in the space of features, and how sure and how varied they look.

use rand::RngExt as _;

use super::Features;
use crate::num::RandomSource;

/// Images of each side in one estimate of the kernel distance, and the estimates that are averaged.
const SUBSET: usize = 500;
const SUBSETS: usize = 50;
/// Parts over which the Inception Score is averaged.
const SPLITS: usize = 10;

/// The mean of several estimates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub standard_error: f64,
}

/// The Kernel Inception Distance (Bińkowski et al. 2018): the squared maximum mean discrepancy under the kernel
/// `(x·y/d + 1)³`, in its unbiased form, averaged over random subsets. Around 0 for images of one distribution, and
/// without the bias of small samples that the Fréchet distance has.
pub fn kernel_distance(real: &Features, made: &Features, random: &mut RandomSource) -> Estimate {
    let size = SUBSET.min(real.count()).min(made.count());
    if size < 2 {
        return Estimate::default();
    }
    let estimates: Vec<f64> = (0..SUBSETS)
        .map(|_| {
            let draw = |features: &Features, random: &mut RandomSource| -> Vec<usize> {
                (0..size)
                    .map(|_| random.random_range(0..features.count()))
                    .collect()
            };
            let one = rows(real, &draw(real, random));
            let other = rows(made, &draw(made, random));
            discrepancy(&one, &other)
        })
        .collect();
    mean_and_error(&estimates)
}

/// Rows in double precision, an image a column: products of columns are what the kernel needs.
fn rows(features: &Features, images: &[usize]) -> nalgebra::DMatrix<f64> {
    nalgebra::DMatrix::from_fn(features.width, images.len(), |place, image| {
        f64::from(features.values[images[image] * features.width + place])
    })
}

/// The unbiased estimate: pairs of an image with itself are left out.
fn discrepancy(one: &nalgebra::DMatrix<f64>, other: &nalgebra::DMatrix<f64>) -> f64 {
    let width = one.nrows() as f64;
    let kernel = |product: f64| (product / width + 1.0).powi(3);
    let within = |columns: &nalgebra::DMatrix<f64>| {
        let count = columns.ncols() as f64;
        let products = columns.transpose() * columns;
        let all: f64 = products.iter().map(|product| kernel(*product)).sum();
        let own: f64 = products.diagonal().iter().map(|product| kernel(*product)).sum();
        (all - own) / (count * (count - 1.0))
    };
    let products = one.transpose() * other;
    let between: f64 = products.iter().map(|product| kernel(*product)).sum();
    within(one) + within(other) - 2.0 * between / (products.len() as f64)
}

fn mean_and_error(values: &[f64]) -> Estimate {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Estimate {
        mean,
        standard_error: (squares / (count - 1.0).max(1.0) / count).sqrt(),
    }
}

/// The score of Salimans et al. (2016), `exp E KL(p(y|x) ‖ p(y))`, over the classes of whatever network it is taken by:
/// between 1 and their number. High when each image looks like one class and all classes occur; it never looks at a
/// real image. `None` for features without classes, or too few images.
pub fn inception_score(features: &Features) -> Option<Estimate> {
    if features.probabilities.is_empty() || features.count() < SPLITS {
        return None;
    }
    let classes = features.classes;
    let images: Vec<&[f32]> = features.probabilities.chunks_exact(classes).collect();
    let size = images.len() / SPLITS;
    let scores: Vec<f64> = images
        .chunks_exact(size)
        .take(SPLITS)
        .map(|part| {
            let mut mean = vec![0.0; classes];
            for image in part {
                for (sum, share) in mean.iter_mut().zip(*image) {
                    *sum += f64::from(*share) / part.len() as f64;
                }
            }
            let divergence: f64 = part
                .iter()
                .flat_map(|image| image.iter().zip(&mean))
                .filter(|(share, _)| **share > 0.0)
                .map(|(share, mean)| f64::from(*share) * (f64::from(*share) / mean).ln())
                .sum();
            (divergence / part.len() as f64).exp()
        })
        .collect();
    Some(mean_and_error(&scores))
}
