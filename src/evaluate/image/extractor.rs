//! What images are compared by.

use crate::data::image::ImageForm;

/// Turns images into features: at present their pixels, from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub struct Extractor {
    width: usize,
}

/// Features of images.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Features {
    /// `[images, width]`, row-major.
    pub values: Vec<f32>,
    /// The width.
    pub width: usize,
}

impl Features {
    /// How many images.
    pub fn count(&self) -> usize {
        self.values.len() / self.width.max(1)
    }

    /// Every second image, from the first or the second on.
    pub(super) fn half(&self, start: usize) -> Self {
        let rows = self.values.chunks_exact(self.width.max(1)).skip(start).step_by(2);
        Self {
            values: rows.flatten().copied().collect(),
            width: self.width,
        }
    }

    /// At most so many.
    pub(super) fn first(&self, most: usize) -> Self {
        Self {
            values: self.values[..self.count().min(most) * self.width].to_vec(),
            width: self.width,
        }
    }
}

impl Extractor {
    /// For images of this form.
    pub const fn of(form: ImageForm) -> Self {
        Self { width: form.pixels() }
    }

    /// Its name in every result: scores do not compare across extractors.
    pub const fn name(self) -> &'static str {
        "pixels"
    }

    /// The features of images, given as bytes.
    pub fn read(self, bytes: &[u8]) -> Features {
        Features {
            values: bytes.iter().map(|byte| f32::from(*byte) / 255.0).collect(),
            width: self.width,
        }
    }
}
