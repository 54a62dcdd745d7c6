//! What images are compared by: the features of a small network that ships with the program, or their pixels.

use safetensors::SafeTensors;

use super::ComparisonError;
use crate::data::image::ImageForm;
use crate::model::image::{Classifier, ClassifierShape};
use crate::model::{DeviceKind, NamedTensor};
use crate::num::Progress;

/// The weights, and in their header the shape; see `assets/extractor/README.md` for how they came about.
const WEIGHTS: &[u8] = include_bytes!("../../../assets/extractor/digits-and-clothes.safetensors");
/// Its name in every result.
const NAME: &str = "pointillist-digits-and-clothes-1";
/// Its shape. It knows the ten classes of MNIST and, after them, the ten of Fashion-MNIST.
pub const EXTRACTOR_SHAPE: ClassifierShape = ClassifierShape {
    side: 28,
    colours: 1,
    channels: [16, 32],
    features: 128,
    classes: 20,
};

/// Turns images into features.
pub struct Extractor(Kind);

enum Kind {
    Network(Box<Classifier>),
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
    /// `[images, classes]`; empty for an extractor without classes.
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

    fn select(&self, images: impl Iterator<Item = usize>) -> Self {
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
    /// The network for images like those that it was trained on, pixels for all others.
    ///
    /// # Errors
    /// When the device cannot be used.
    pub fn of(form: ImageForm, device: DeviceKind) -> Result<Self, ComparisonError> {
        if form.side != EXTRACTOR_SHAPE.side || form.colours != EXTRACTOR_SHAPE.colours {
            return Ok(Self(Kind::Pixels(form.pixels())));
        }
        let broken = |reason: String| ComparisonError::Extractor(reason);
        let file = SafeTensors::deserialize(WEIGHTS).map_err(|error| broken(error.to_string()))?;
        let tensors = file
            .iter()
            .map(|(name, view)| NamedTensor::of(name, &view))
            .collect::<Result<Vec<_>, _>>()
            .map_err(broken)?;
        let network = Classifier::from_tensors(EXTRACTOR_SHAPE, &tensors, &device.open()?)
            .map_err(|error| broken(error.to_string()))?;
        Ok(Self(Kind::Network(Box::new(network))))
    }

    /// Its name.
    pub const fn name(&self) -> &'static str {
        match self.0 {
            Kind::Network(_) => NAME,
            Kind::Pixels(_) => "pixels",
        }
    }

    /// The features of images, given as bytes.
    ///
    /// # Errors
    /// When the work was cancelled.
    pub fn read(&self, bytes: &[u8], progress: &Progress) -> Result<Features, ComparisonError> {
        let network = match &self.0 {
            Kind::Network(network) => network,
            Kind::Pixels(width) => {
                return Ok(Features {
                    values: bytes.iter().map(|byte| f32::from(*byte) / 255.0).collect(),
                    width: *width,
                    ..Features::default()
                });
            }
        };
        let total = (bytes.len() / EXTRACTOR_SHAPE.pixels()) as u64;
        let reading = network.read(bytes, &mut |done| {
            progress.set(done as u64, total);
            !progress.is_cancelled()
        });
        progress.check()?;
        Ok(Features {
            values: reading.features,
            width: EXTRACTOR_SHAPE.features,
            probabilities: reading.probabilities,
            classes: EXTRACTOR_SHAPE.classes,
        })
    }
}
