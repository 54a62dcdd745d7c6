//! Judging synthetic rows against real ones. What is computed on real rows is for the steward only: whoever
//! keeps a result marks it so.

mod frechet;
pub mod image;
mod scatter;
mod singular;
mod variation;

pub use frechet::{FrechetReference, Moments, frechet_distance};
pub use variation::{mean_total_variation, total_variation};
