//! Images and their classes as a critic is shown them.

use crate::data::StoreError;
use burn::tensor::{Device, Tensor};

use super::{CriticKind, ImagePlan, TrainImages};
use crate::model::{CriticBatch, matrix, read};
use crate::train::privatize::Examples;

/// What a class adds to a dense critic's row, beside pixels of 0 to 1.
const LABEL_WEIGHT: f64 = 2.0;

/// How images become rows of a critic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Showing {
    /// Classes; 1 without labels.
    classes: usize,
    /// Whether the label stands beside the pixels.
    beside: bool,
}

impl Showing {
    pub fn of(plan: &ImagePlan) -> Self {
        let classes = plan.shape().classes;
        Self {
            classes,
            beside: classes > 1 && plan.settings().critic == CriticKind::Dense,
        }
    }

    /// A batch of pixels and classes. Pixels: `[batch, pixels]`.
    pub fn batch(self, pixels: Tensor<2>, codes: impl ExactSizeIterator<Item = usize>) -> CriticBatch {
        if self.classes < 2 {
            return pixels.into();
        }
        let count = codes.len();
        let mut labels = vec![0.0; count * self.classes];
        codes
            .zip(labels.chunks_exact_mut(self.classes))
            .for_each(|(code, row)| row[code] = 1.0);
        let labels = matrix(labels, count, self.classes, &pixels.device());
        let rows = if self.beside {
            Tensor::cat(vec![pixels, labels.clone().mul_scalar(LABEL_WEIGHT)], 1)
        } else {
            pixels
        };
        CriticBatch {
            rows,
            labels: Some(labels),
        }
    }

    /// The classes of a batch.
    pub fn classes_of(self, batch: &CriticBatch) -> Vec<usize> {
        match &batch.labels {
            None => vec![0; batch.rows.dims()[0]],
            Some(labels) => {
                let labels = read(labels.clone());
                let rows = labels.chunks_exact(self.classes);
                rows.map(|row| row.iter().position(|one| *one > 0.5).unwrap_or(0))
                    .collect()
            }
        }
    }
}

/// Private images, shown to a critic.
#[derive(Debug)]
pub(super) struct ShownImages {
    pub images: TrainImages,
    pub showing: Showing,
}

impl Examples for ShownImages {
    fn batch(&self, indices: &[usize], device: &Device) -> Result<CriticBatch, StoreError> {
        let pixels = self.images.set().form().pixels();
        let bytes = self.images.set().bytes();
        let mut values = Vec::with_capacity(indices.len() * pixels);
        for &index in indices {
            let image = &bytes[index * pixels..(index + 1) * pixels];
            values.extend(image.iter().map(|byte| f32::from(*byte) / 255.0));
        }
        let codes = self.images.codes();
        Ok(self.showing.batch(
            matrix(values, indices.len(), pixels, device),
            indices.iter().map(|index| usize::from(codes[*index])),
        ))
    }
}
