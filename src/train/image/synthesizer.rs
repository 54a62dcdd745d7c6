//! A trained generator of images together with what its classes are called.

use crate::data::image::{ImageForm, LABEL};
use crate::model::image::ImageGeneratorNet;
use crate::num::RandomSource;
use crate::train::synthesizer::{Condition, SampleError};
use rand::RngExt as _;

/// Images drawn at a time.
const BATCH: usize = 500;

/// Images that were drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrawnImages {
    /// `[images, side · side · colours]`, row by row, channels last.
    pub bytes: Vec<u8>,
    /// Each image's class.
    pub codes: Vec<u8>,
}

/// Draws images: post-processing, so any number costs nothing more.
#[derive(Clone, Debug)]
pub struct ImageGenerator {
    network: ImageGeneratorNet,
    classes: Vec<String>,
    shares: Vec<f64>,
}

impl ImageGenerator {
    /// Puts a frozen network together with its classes and their shares, as they were released.
    ///
    /// # Panics
    /// When there is not one share for each of the network's classes.
    pub fn new(network: ImageGeneratorNet, classes: Vec<String>, shares: Vec<f64>) -> Self {
        assert_eq!(classes.len(), network.shape().classes, "one name for each class");
        assert_eq!(shares.len(), classes.len(), "one share for each class");
        Self {
            network,
            classes,
            shares,
        }
    }

    /// The network.
    pub const fn network(&self) -> &ImageGeneratorNet {
        &self.network
    }

    /// The classes.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// How often each class is drawn.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// What every image has in common.
    pub const fn form(&self) -> ImageForm {
        ImageForm {
            side: self.network.shape().side,
            colours: self.network.shape().colours,
        }
    }

    /// Whether its images have labels.
    pub fn has_labels(&self) -> bool {
        self.classes.len() > 1
    }

    /// The class that a condition asks for.
    ///
    /// # Errors
    /// When it names no class of the generator.
    pub fn class_of(&self, condition: &Condition) -> Result<usize, SampleError> {
        class_of(&self.classes, condition)
    }

    /// Images of one class, or of all by their shares, a few hundred at a time.
    pub fn batches<'a>(
        &'a self,
        images: usize,
        class: Option<usize>,
        random: &'a mut RandomSource,
    ) -> impl Iterator<Item = DrawnImages> + 'a {
        let mut left = images;
        std::iter::from_fn(move || {
            let count = left.min(BATCH);
            left -= count;
            (count > 0).then(|| {
                let classes: Vec<usize> = (0..count)
                    .map(|_| class.unwrap_or_else(|| self.draw_class(random)))
                    .collect();
                DrawnImages {
                    bytes: self.network.sample(&classes, random),
                    codes: classes.into_iter().map(|class| class as u8).collect(),
                }
            })
        })
    }

    fn draw_class(&self, random: &mut RandomSource) -> usize {
        let mut left = random.random::<f64>() * self.shares.iter().sum::<f64>();
        for (class, share) in self.shares.iter().enumerate() {
            left -= share;
            if left < 0.0 {
                return class;
            }
        }
        self.shares.len() - 1
    }
}

/// The class that a condition asks for.
///
/// # Errors
/// When it is not on the label, or names no class.
pub fn class_of(classes: &[String], condition: &Condition) -> Result<usize, SampleError> {
    if condition.column != LABEL || classes.len() < 2 {
        return Err(SampleError::Column(condition.column.clone()));
    }
    let place = classes.iter().position(|class| *class == condition.value);
    place.ok_or_else(|| SampleError::Value {
        column: condition.column.clone(),
        value: condition.value.clone(),
        known: classes
            .iter()
            .map(|class| format!("`{class}`"))
            .collect::<Vec<_>>()
            .join(", "),
    })
}
