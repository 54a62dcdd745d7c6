//! Networks on Burn tensors: a critic of rows or images with per-example gradients, and a generator with a head for each block
//! of an encoded row.
//!
//! Tensors pick their backend at run time ([`DeviceKind`]), so one program offers them all. Gradients of the
//! critic are written out by hand, because its per-example norms need the layers' inputs and output gradients;
//! those of the generator come from autodiff.

mod adam;
mod critic;
mod device;
mod generator;
mod heads;
pub mod image;
mod parameters;
mod row_embedding;
mod tensors;

pub use adam::{Adam, AdamSettings};
pub use critic::{ClippedSum, Critic, CriticBatch, CriticInput, CriticLoss, CriticShape, Side};
pub use device::{DeviceError, DeviceKind};
pub use generator::{Generator, GeneratorShape, TrainingPass};
pub use heads::{Head, HeadKind, HeadSamples, Heads};
pub use parameters::{Slot, matrix, read, vector};
pub use row_embedding::{BLOCK as FREQUENCY_BLOCK, Feature, RowEmbedding};
pub use tensors::{NamedTensor, WeightsError, find as find_tensor};
