//! Judging generated images against real ones: distances between distributions of features, how near and how varied
//! they are, and what a classifier learns from them. All of it touches real images, so all of it is for the steward.
//!
//! Scores do not compare across extractors of features, so every result names its own.

mod distance;
mod extractor;
mod manifold;

pub use distance::{KernelDistance, kernel_distance};
pub use extractor::{Extractor, Features};
pub use manifold::{PrecisionRecall, precision_recall};

use crate::data::image::ImageSet;
use crate::evaluate::{FrechetReference, Moments};
use crate::model::DeviceKind;
use crate::model::image::{Classifier, ClassifierShape, ClassifierTraining};
use crate::num::{Cancelled, Progress, RandomSource, StewardOnly};

/// Generated images that distances are taken over, at most; and real ones.
const MOST_SYNTHETIC: usize = 5000;
const MOST_REAL: usize = 10_000;
/// Images that a judge is trained on, at most.
const MOST_TRAINING: usize = 20_000;
/// Images of each side between which neighbours are looked for.
const MOST_NEIGHBOURS: usize = 3000;

/// One figure, with a 95 % interval where it has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Its value.
    pub value: f64,
    /// The interval.
    pub interval: Option<[f64; 2]>,
}

impl Figure {
    const fn of(value: f64) -> Self {
        Self {
            value,
            interval: None,
        }
    }

    /// A mean and its standard error, as an interval of 1.96 of them.
    fn with_error(value: f64, error: f64) -> Self {
        Self {
            value,
            interval: Some([value - 1.96 * error, value + 1.96 * error]),
        }
    }

    /// A share of `count` trials (Wilson 1927).
    fn share(hits: usize, count: usize) -> Self {
        let (n, z) = (count.max(1) as f64, 1.96_f64);
        let share = hits as f64 / n;
        let centre = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
        let half = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt() / (1.0 + z * z / n);
        Self {
            value: share,
            interval: Some([centre - half, centre + half]),
        }
    }
}

/// What is compared.
#[derive(Clone, Debug)]
pub struct ImageComparison {
    /// The images that were learned from.
    pub real: ImageSet,
    /// Real images that were not, where there are any: what is generated is held against these.
    pub holdout: Option<ImageSet>,
    /// The generated images.
    pub synthetic: ImageSet,
    /// Where the networks of the comparison work.
    pub device: DeviceKind,
}

/// Why images could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum ComparisonError {
    /// They are of different forms.
    #[error(
        "the real images are {real}, the synthetic ones {synthetic}; only images of one form can be compared"
    )]
    Form {
        /// The real images' form.
        real: crate::data::image::ImageForm,
        /// The synthetic ones'.
        synthetic: crate::data::image::ImageForm,
    },
    /// Too few to say anything.
    #[error("there are {found} {which} images; at least {least} are needed")]
    TooFew {
        /// Which side.
        which: &'static str,
        /// How many there are.
        found: usize,
        /// How many are needed.
        least: usize,
    },
    /// A label that only one side has.
    #[error("the synthetic images' class `{0}` is none of the real ones'")]
    Class(String),
    /// The device cannot be used.
    #[error(transparent)]
    Device(#[from] crate::model::DeviceError),
    /// Given up.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Fewer images than this have no distance.
const LEAST_IMAGES: usize = 50;

/// Everything that was found, each figure under its name.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageReport {
    /// What the features are those of.
    pub extractor: String,
    /// Generated and real images that distances were taken over.
    pub compared: [usize; 2],
    /// The figures, in order.
    pub figures: Vec<(&'static str, Figure)>,
}

/// Compares images in every way that they allow.
///
/// # Errors
/// When they cannot be compared, or the work was cancelled.
pub fn compare_images(
    comparison: &ImageComparison,
    random: &mut RandomSource,
    progress: &Progress,
) -> Result<StewardOnly<ImageReport>, ComparisonError> {
    let ImageComparison {
        real,
        holdout,
        synthetic,
        ..
    } = comparison;
    for set in [Some(real), holdout.as_ref()].into_iter().flatten() {
        if set.form() != synthetic.form() {
            return Err(ComparisonError::Form {
                real: set.form(),
                synthetic: synthetic.form(),
            });
        }
    }
    let judged = holdout.as_ref().unwrap_or(real);
    for (which, found) in [("real", judged.len()), ("synthetic", synthetic.len())] {
        if found < LEAST_IMAGES {
            return Err(ComparisonError::TooFew {
                which,
                found,
                least: LEAST_IMAGES,
            });
        }
    }
    let extractor = Extractor::of(synthetic.form());
    let truth = extractor.read(&some(judged, MOST_REAL, random));
    let made = extractor.read(&some(synthetic, MOST_SYNTHETIC, random));
    let mut figures = distances(&truth, &made, random);
    if holdout.is_some() && real.len() >= LEAST_IMAGES {
        // What the same number of real images would get: the floor.
        let floor = extractor.read(&some(real, made.count().max(LEAST_IMAGES), random));
        if let Some(distance) = fid(&truth, &floor) {
            figures.push(("fid_of_real", Figure::of(distance)));
        }
    }
    progress.check()?;
    figures.extend(utility(comparison, judged, random, progress)?);
    Ok(StewardOnly::new(ImageReport {
        extractor: extractor.name().to_owned(),
        compared: [made.count(), truth.count()],
        figures,
    }))
}

/// At most so many images of a set, chosen at random, as bytes.
fn some(set: &ImageSet, most: usize, random: &mut RandomSource) -> Vec<u8> {
    let pixels = set.form().pixels();
    if set.len() <= most {
        return set.bytes().to_vec();
    }
    let chosen = rand::seq::index::sample(random, set.len(), most);
    chosen
        .iter()
        .flat_map(|image| &set.bytes()[image * pixels..(image + 1) * pixels])
        .copied()
        .collect()
}

fn fid(one: &Features, other: &Features) -> Option<f64> {
    FrechetReference::new(Moments::of(&one.values, one.width)?)?
        .distance(&Moments::of(&other.values, other.width)?)
}

fn distances(real: &Features, made: &Features, random: &mut RandomSource) -> Vec<(&'static str, Figure)> {
    let mut figures = Vec::new();
    if let Some(distance) = fid(real, made) {
        figures.push(("fid", Figure::of(distance)));
        // The distance falls as 1/N with the images it is taken over (Chong & Forsyth 2020), so half as many tell
        // where it would end.
        let halves = [made.half(0), made.half(1)];
        let halved: Option<f64> = halves.iter().map(|half| fid(real, half)).sum();
        if let Some(halved) = halved {
            figures.push(("fid_unbiased", Figure::of(2.0 * distance - halved / 2.0)));
        }
    }
    let kernel = kernel_distance(real, made, random);
    figures.push(("kid", Figure::with_error(kernel.mean, kernel.standard_error)));
    let found = precision_recall(&real.first(MOST_NEIGHBOURS), &made.first(MOST_NEIGHBOURS));
    figures.push(("precision", Figure::share(found.precise, found.synthetic)));
    figures.push(("recall", Figure::share(found.recalled, found.real)));
    figures
}

/// The accuracy on real images of a classifier that was trained on the synthetic ones, and of one trained on real ones.
fn utility(
    comparison: &ImageComparison,
    judged: &ImageSet,
    random: &mut RandomSource,
    progress: &Progress,
) -> Result<Vec<(&'static str, Figure)>, ComparisonError> {
    let (Some(labels), Some(_)) = (judged.labels(), comparison.synthetic.labels()) else {
        return Ok(Vec::new());
    };
    if labels.names.len() < 2 {
        return Ok(Vec::new());
    }
    let mut figures = Vec::new();
    let mut judge = |set: &ImageSet, name: &'static str| -> Result<(), ComparisonError> {
        let codes = codes_in(set, &labels.names)?;
        let hits = train_and_test(set, &codes, judged, comparison.device, random, progress)?;
        figures.push((name, Figure::share(hits, judged.len())));
        Ok(())
    };
    judge(&comparison.synthetic, "accuracy")?;
    if comparison.holdout.is_some() && comparison.real.labels().is_some() {
        judge(&comparison.real, "accuracy_of_real")?;
    }
    Ok(figures)
}

/// A set's classes under the names of another.
fn codes_in(set: &ImageSet, names: &[String]) -> Result<Vec<u8>, ComparisonError> {
    let Some(labels) = set.labels() else {
        return Ok(vec![0; set.len()]);
    };
    let place = |name: &String| names.iter().position(|known| known == name);
    let places: Vec<Option<usize>> = labels.names.iter().map(place).collect();
    let code = |code: &u8| {
        places[usize::from(*code)]
            .map(|place| place as u8)
            .ok_or_else(|| ComparisonError::Class(labels.names[usize::from(*code)].clone()))
    };
    labels.codes.iter().map(code).collect()
}

/// How many of the judged images a classifier gets right that was trained on the others.
fn train_and_test(
    set: &ImageSet,
    codes: &[u8],
    judged: &ImageSet,
    device: DeviceKind,
    random: &mut RandomSource,
    progress: &Progress,
) -> Result<usize, ComparisonError> {
    let form = set.form();
    let classes = judged.labels().map_or(1, |labels| labels.names.len());
    let shape = ClassifierShape::judge(form.side, form.colours, classes);
    let mut judge = Classifier::new(shape, random, &device.open()?);
    let chosen = rand::seq::index::sample(random, set.len(), set.len().min(MOST_TRAINING));
    let pixels = form.pixels();
    let (mut bytes, mut labels) = (Vec::with_capacity(chosen.len() * pixels), Vec::new());
    for image in chosen {
        bytes.extend_from_slice(&set.bytes()[image * pixels..(image + 1) * pixels]);
        labels.push(codes[image]);
    }
    judge.train(
        &bytes,
        &labels,
        ClassifierTraining::default(),
        random,
        &mut |share| {
            progress.set((share * 1000.0) as u64, 1000);
            !progress.is_cancelled()
        },
    );
    progress.check()?;
    let reading = judge.read(judged.bytes(), &mut |_| !progress.is_cancelled());
    progress.check()?;
    let found = reading.classes(classes);
    let truth = judged.codes();
    Ok(found
        .iter()
        .zip(&truth)
        .filter(|(found, truth)| **found == usize::from(**truth))
        .count())
}

#[cfg(test)]
mod tests;
