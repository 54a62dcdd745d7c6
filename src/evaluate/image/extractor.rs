//! What images are compared by: the features of a small network that ships with the program, those of an ONNX model,
//! or their pixels.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use safetensors::SafeTensors;

use super::ComparisonError;
use super::onnx::OnnxExtractor;
use crate::data::image::ImageForm;
use crate::model::image::{Classifier, ClassifierShape, Reading};
use crate::model::{DeviceKind, NamedTensor};
use crate::num::Progress;

/// The weights; `assets/extractor/README.md` says how they came about.
const WEIGHTS: &[u8] = include_bytes!("../../../assets/extractor/cnn.safetensors");
/// The name of the network that ships, in every result. Other weights need another one.
const NAME: &str = "pointillist-cnn-1";
/// Its shape. It knows the ten classes of MNIST and, after them, the ten of Fashion-MNIST.
pub const EXTRACTOR_SHAPE: ClassifierShape = ClassifierShape {
    side: 28,
    colours: 1,
    channels: [16, 32],
    features: 128,
    classes: 20,
};
/// Images that one thread takes at a time.
const PIECE: usize = 500;

/// Which extractor is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ExtractorChoice {
    /// The network that ships for images like those that it was made for, pixels for all others.
    #[default]
    Fitting,
    /// The network that ships.
    Network,
    /// The pixels as they are, from 0 to 1.
    Pixels,
    /// A model in a file.
    Onnx(OnnxChoice),
}

/// A model in a file, and what the file does not say of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OnnxChoice {
    /// The file.
    pub path: PathBuf,
    /// The output that holds the features; without it the one called `features`, or the first.
    pub output: Option<String>,
    /// What black and white become: one pair, or one for each channel. Without it as the file says, or 0 and 1.
    pub range: Vec<[f32; 2]>,
}

/// Turns images into features.
pub struct Extractor {
    kind: Kind,
    name: String,
}

enum Kind {
    Network(Box<Classifier>),
    Onnx(Box<OnnxExtractor>),
    /// So many numbers an image.
    Pixels(usize),
}

/// Features of images, and what the extractor takes them for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Features {
    /// `[images, width]`, row-major.
    pub values: Vec<f32>,
    /// The width.
    pub width: usize,
    /// `[images, classes]`, each row a distribution; empty for an extractor without classes.
    pub probabilities: Vec<f32>,
    /// Classes of the extractor.
    pub classes: usize,
}

impl Features {
    /// How many images.
    pub fn count(&self) -> usize {
        self.values.len() / self.width.max(1)
    }

    /// Every second image, from the first or the second on.
    pub(super) fn half(&self, start: usize) -> Self {
        self.select((start..self.count()).step_by(2))
    }

    /// At most so many.
    pub(super) fn first(&self, most: usize) -> Self {
        self.select(0..self.count().min(most))
    }

    /// The images of these places.
    pub(super) fn select(&self, images: impl Iterator<Item = usize>) -> Self {
        let mut chosen = Self {
            width: self.width,
            classes: self.classes,
            ..Self::default()
        };
        for image in images {
            let row = image * self.width..(image + 1) * self.width;
            chosen.values.extend_from_slice(&self.values[row]);
            if !self.probabilities.is_empty() {
                let row = image * self.classes..(image + 1) * self.classes;
                chosen.probabilities.extend_from_slice(&self.probabilities[row]);
            }
        }
        chosen
    }
}

impl Extractor {
    /// The extractor that was asked for, for images of this form.
    ///
    /// # Errors
    /// When it does not take such images, its file is no model, or the device cannot be used.
    pub fn open(
        choice: &ExtractorChoice,
        form: ImageForm,
        device: DeviceKind,
    ) -> Result<Self, ComparisonError> {
        let fits = form.side == EXTRACTOR_SHAPE.side && form.colours == EXTRACTOR_SHAPE.colours;
        match choice {
            ExtractorChoice::Onnx(choice) => {
                let model = OnnxExtractor::open(choice, form)?;
                Ok(Self {
                    name: model.name().to_owned(),
                    kind: Kind::Onnx(Box::new(model)),
                })
            }
            ExtractorChoice::Network if !fits => Err(ComparisonError::Unfit(form)),
            ExtractorChoice::Network | ExtractorChoice::Fitting if fits => Ok(Self {
                kind: Kind::Network(Box::new(shipped(device)?)),
                name: NAME.to_owned(),
            }),
            _ => Ok(Self {
                kind: Kind::Pixels(form.pixels()),
                name: "pixels".to_owned(),
            }),
        }
    }

    /// Its name in every result: scores do not compare across extractors.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether reading an image takes milliseconds rather than microseconds.
    pub const fn is_slow(&self) -> bool {
        matches!(self.kind, Kind::Onnx(_))
    }

    /// The features of images, given as bytes, on every core.
    ///
    /// # Errors
    /// When a model fails on them, or the work was cancelled.
    pub fn read(&self, bytes: &[u8], progress: &Progress) -> Result<Features, ComparisonError> {
        match &self.kind {
            Kind::Network(network) => network_features(network, bytes, progress),
            Kind::Onnx(model) => model.read(bytes, progress),
            Kind::Pixels(width) => Ok(Features {
                values: bytes.iter().map(|byte| f32::from(*byte) / 255.0).collect(),
                width: *width,
                ..Features::default()
            }),
        }
    }
}

/// The network that ships with the program.
fn shipped(device: DeviceKind) -> Result<Classifier, ComparisonError> {
    let broken = |reason: String| ComparisonError::Shipped(reason);
    let file = SafeTensors::deserialize(WEIGHTS).map_err(|error| broken(error.to_string()))?;
    let tensors = file
        .iter()
        .map(|(name, view)| NamedTensor::of(name, &view))
        .collect::<Result<Vec<_>, _>>()
        .map_err(broken)?;
    Classifier::from_tensors(EXTRACTOR_SHAPE, &tensors, &device.open()?)
        .map_err(|error| broken(error.to_string()))
}

/// A piece for each core in turn. Batches on one core are quicker than one batch on all.
fn network_features(
    network: &Classifier,
    bytes: &[u8],
    progress: &Progress,
) -> Result<Features, ComparisonError> {
    let shape = network.shape();
    let total = (bytes.len() / shape.pixels()) as u64;
    progress.set(0, total);
    let pieces: Vec<&[u8]> = bytes.chunks(PIECE * shape.pixels()).collect();
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let share = pieces.len().div_ceil(threads).max(1);
    let read = |pieces: &[&[u8]]| -> Vec<Reading> {
        let mut readings = Vec::with_capacity(pieces.len());
        for piece in pieces {
            if progress.is_cancelled() {
                break;
            }
            readings.push(network.read(piece, &mut |_| !progress.is_cancelled()));
            progress.advance((piece.len() / shape.pixels()) as u64);
        }
        readings
    };
    let readings: Vec<Reading> = std::thread::scope(|scope| {
        let work: Vec<_> = pieces
            .chunks(share)
            .map(|pieces| scope.spawn(move || read(pieces)))
            .collect();
        work.into_iter()
            .flat_map(|work| {
                work.join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    });
    progress.check()?;
    let mut features = Features {
        width: shape.features,
        classes: shape.classes,
        ..Features::default()
    };
    for reading in readings {
        features.values.extend(reading.features);
        features.probabilities.extend(reading.probabilities);
    }
    Ok(features)
}
