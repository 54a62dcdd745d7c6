//! Networks for images: convolutions as patches and products, a generator by class, and a small classifier.
//!
//! A batch lies as `[batch, height, width, channels]`, channels last, so that a window of an image is a few long runs
//! of numbers and every convolution is one matrix product. Gradients are written out: there are few kinds of layer,
//! and the order in which a patch is cut out and put back decides how fast a CPU is.

mod classifier;
mod features;
mod generator;
mod layers;
mod patches;

pub use classifier::{Classifier, ClassifierShape, ClassifierTraining, Reading};
pub use features::{EmbeddingMap, EmbeddingTarget};
pub use generator::{ImageGeneratorNet, ImageGeneratorShape, ImagePass};
pub(in crate::model) use patches::Window;
