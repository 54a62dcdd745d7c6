//! Training generators of images: by one noisy mean embedding, after which everything is free, or by a critic whose
//! every step is a noisy look.

mod embedding;
mod gan;
mod grid;
mod kept;
mod memory;
mod plan;
mod settings;
mod shown;
mod synthesizer;
#[cfg(test)]
pub(in crate::train) mod testing;
mod training;
mod watched;

pub use grid::ImageGrid;
pub use plan::{ImageMethod, ImagePlan};
pub use settings::{CriticKind, ImageSettings};
pub use synthesizer::{DrawnImages, ImageGenerator, class_of};
pub use training::ImageTraining;

use crate::data::image::{ImageSet, LABEL};
use crate::data::{DataError, Schema};
use crate::message;

/// Images whose classes are those of a schema.
#[derive(Clone, Debug)]
pub struct TrainImages {
    set: ImageSet,
    codes: Vec<u8>,
    classes: Vec<String>,
}

impl TrainImages {
    /// Gives the images the classes that the schema declares; without labels they are all of one.
    ///
    /// # Errors
    /// When an image's label is no class of the schema.
    pub fn new(set: ImageSet, schema: &Schema) -> Result<Self, DataError> {
        let Some(labels) = set.labels() else {
            let codes = vec![0; set.len()];
            return Ok(Self {
                set,
                codes,
                classes: vec![String::new()],
            });
        };
        let declared = schema.find(LABEL).and_then(|column| column.domain.clone());
        let classes = declared.unwrap_or_else(|| labels.names.clone());
        let places: Vec<Option<usize>> = (labels.names.iter())
            .map(|name| classes.iter().position(|class| class == name))
            .collect();
        let code = |(image, &code): (usize, &u8)| {
            let place = places.get(usize::from(code)).copied().flatten();
            place
                .and_then(|place| u8::try_from(place).ok())
                .ok_or_else(|| DataError::Cell {
                    column: LABEL.to_owned(),
                    row: image as u64 + 1,
                    message: message!(
                        "image-label-unknown",
                        "`{label}` is not one of the schema's classes; add it there, or correct the labels",
                        label = labels.names[usize::from(code)]
                    ),
                })
        };
        let codes = labels
            .codes
            .iter()
            .enumerate()
            .map(code)
            .collect::<Result<_, _>>()?;
        Ok(Self { set, codes, classes })
    }

    /// The images.
    pub const fn set(&self) -> &ImageSet {
        &self.set
    }

    /// Each image's class.
    pub fn codes(&self) -> &[u8] {
        &self.codes
    }

    /// The classes.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// How many images there are.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Never: a set has at least one image.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }
}
