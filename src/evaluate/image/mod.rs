//! Judging generated images against real ones: distances between distributions of features, how sharp, how near and how
//! varied they are, and what a classifier learns from them. All of it touches real images, so all of it is for the
//! steward.
//!
//! Scores do not compare across extractors of features, so every result names its own.

mod distance;
mod error;
mod extractor;
mod live;
mod manifold;
mod nearest;
mod onnx;

pub use distance::{Estimate, inception_score, kernel_distance};
pub use error::{ComparisonError, ModelError};
pub use extractor::{EXTRACTOR_SHAPE, Extractor, ExtractorChoice, Features, OnnxChoice};
pub use live::{LIVE_SYNTHETIC, LiveFigures, LiveImages, MakeImages};
pub use manifold::{PrecisionRecall, precision_recall};
pub use nearest::{Neighbour, nearest_images};

use crate::data::image::ImageSet;
use crate::evaluate::{FrechetReference, Moments};
use crate::model::DeviceKind;
use crate::model::image::{Classifier, ClassifierShape, ClassifierTraining};
use crate::num::{Progress, RandomSource, StewardOnly};

/// Generated images that distances are taken over, at most; and real ones.
const MOST_SYNTHETIC: usize = 5000;
const MOST_REAL: usize = 10_000;
/// Of both, where an image takes long.
const MOST_SLOW: usize = 2000;
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
    /// What features they are compared by.
    pub extractor: ExtractorChoice,
    /// Images of each side that distances are taken over, at most; without it, as many as that takes seconds or minutes.
    pub most: Option<usize>,
    /// Where the networks of the comparison work.
    pub device: DeviceKind,
}

/// Fewer images than this have no distance.
const LEAST_IMAGES: usize = 50;

/// Everything that was found, each figure under its name.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageReport {
    /// What the features are those of.
    pub extractor: String,
    /// Classes that the extractor knows, over which the Inception Score is taken; 0 for one without.
    pub extractor_classes: usize,
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
    let extractor = Extractor::open(&comparison.extractor, synthetic.form(), comparison.device)?;
    let [most_made, most_real] = match comparison.most {
        Some(most) => [most.max(LEAST_IMAGES); 2],
        None if extractor.is_slow() => [MOST_SLOW; 2],
        None => [MOST_SYNTHETIC, MOST_REAL],
    };
    let truth = RealSide::of(extractor.read(&some(judged, most_real, random), progress)?);
    let made = extractor.read(&some(synthetic, most_made, random), progress)?;
    let mut figures = distances(&truth, &made, random);
    let (name, floor) = if holdout.is_some() && real.len() >= LEAST_IMAGES {
        let others = extractor.read(&some(real, made.count().max(LEAST_IMAGES), random), progress)?;
        ("fid_of_real", truth.fid(&others))
    } else {
        ("fid_of_real_halves", halves(&truth.features, made.count()))
    };
    if let Some(floor) = floor {
        // What real images would get over as many of them: no generator can be told to be better.
        let place = figures
            .iter()
            .take_while(|(name, _)| name.starts_with("fid"))
            .count();
        figures.insert(place, (name, Figure::of(floor)));
    }
    progress.check()?;
    figures.extend(utility(comparison, judged, random, progress)?);
    Ok(StewardOnly::new(ImageReport {
        extractor: extractor.name().to_owned(),
        extractor_classes: made.classes,
        compared: [made.count(), truth.features.count()],
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

/// Real images as their features, and the Fréchet distance prepared.
struct RealSide {
    features: Features,
    reference: Option<FrechetReference>,
}

impl RealSide {
    fn of(features: Features) -> Self {
        Self {
            reference: Moments::of(&features.values, features.width).and_then(FrechetReference::new),
            features,
        }
    }

    /// The Fréchet distance of others.
    fn fid(&self, others: &Features) -> Option<f64> {
        self.reference
            .as_ref()?
            .distance(&Moments::of(&others.values, others.width)?)
    }
}

/// The distance between two parts of the real images, of at most so many each that no image is in both.
fn halves(real: &Features, most: usize) -> Option<f64> {
    RealSide::of(real.half(0).first(most)).fid(&real.half(1).first(most))
}

/// All figures of two sets of features.
fn distances(side: &RealSide, made: &Features, random: &mut RandomSource) -> Vec<(&'static str, Figure)> {
    let real = &side.features;
    let mut figures = Vec::new();
    if let Some(distance) = side.fid(made) {
        figures.push(("fid", Figure::of(distance)));
        // The distance falls as 1/N with the images it is taken over (Chong & Forsyth 2020), so half as many tell
        // where it would end.
        let halves = [made.half(0), made.half(1)];
        let halved: Option<f64> = halves.iter().map(|half| side.fid(half)).sum();
        if let Some(halved) = halved {
            figures.push(("fid_unbiased", Figure::of(2.0 * distance - halved / 2.0)));
        }
    }
    let kernel = kernel_distance(real, made, random);
    figures.push(("kid", Figure::with_error(kernel.mean, kernel.standard_error)));
    if let (Some(score), Some(best)) = (inception_score(made), inception_score(real)) {
        figures.push((
            "inception_score",
            Figure::with_error(score.mean, score.standard_error),
        ));
        figures.push((
            "inception_score_of_real",
            Figure::with_error(best.mean, best.standard_error),
        ));
    }
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
    let judge = |set: &ImageSet, name: &'static str, mut random: RandomSource| {
        let codes = codes_in(set, &labels.names)?;
        let hits = train_and_test(set, &codes, judged, comparison.device, &mut random, progress)?;
        Ok((name, Figure::share(hits, judged.len())))
    };
    let (one, other) = (random.fork(), random.fork());
    if comparison.holdout.is_none() || comparison.real.labels().is_none() {
        return Ok(vec![judge(&comparison.synthetic, "accuracy", one)?]);
    }
    // They know nothing of each other: each on a core of its own.
    let both = std::thread::scope(|scope| {
        let real = scope.spawn(|| judge(&comparison.real, "accuracy_of_real", other));
        let made = judge(&comparison.synthetic, "accuracy", one);
        let real = real
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        [made, real]
    });
    both.into_iter().collect()
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
