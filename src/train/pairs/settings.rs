//! Raw settings of a run by one release, as a form or a file holds them.

use serde::{Deserialize, Serialize};

use super::TableRelease;

/// Everything a person can choose of a run by one release, unchecked: counts of pairs, or a mean embedding. Which of it
/// matters, the [release](TableRelease::uses) says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PairSettings {
    /// Steps of the generator.
    pub steps: u64,
    /// Whether noisy fine histograms are bought, from which numbers inside a bin are drawn.
    pub fine_decode: bool,
    /// The fine histograms' share of the budget (of ρ); the pairs or the embedding have the rest.
    pub fine_share: f64,
    /// Bins of a number.
    pub bins: u64,
    /// Weight of the pairs in the generator's loss.
    pub pair_weight: f64,
    /// Random frequencies of the mean embedding.
    pub frequencies: u64,
    /// The share of the embedding's budget (of ρ) that tells each category by itself; its waves have the rest.
    pub marginal_share: f64,
    /// Generated rows in a step.
    pub generator_batch: u64,
    /// Latents that a row is made from.
    pub latent: u64,
    /// Widths of the generator's hidden layers.
    pub generator_hidden: Vec<usize>,
    /// Whether the generator's hidden layers are normalised over the batch.
    pub batch_norm: bool,
    /// The generator's learning rate at the start; it falls in a straight line to nothing.
    pub generator_learning_rate: f64,
    /// Decay of the first moment in the generator's Adam.
    pub generator_beta1: f64,
    /// Decay of the second moment in the generator's Adam.
    pub generator_beta2: f64,
    /// Decay of the running average of the generator's weights.
    pub averaging: f64,
}

impl PairSettings {
    /// A setting that every recipe by one release has, and none of another kind.
    pub const OWN_KEY: &str = "pair-weight";

    /// The settings to start from.
    pub fn recommended(release: TableRelease) -> Self {
        match release {
            TableRelease::Pairs => Self::default(),
            // Its loss has no bias that a large batch would have to keep down.
            TableRelease::MeanEmbedding => Self {
                generator_batch: 512,
                ..Self::default()
            },
        }
    }
}

impl Default for PairSettings {
    fn default() -> Self {
        Self {
            steps: 1000,
            fine_decode: true,
            fine_share: 0.10,
            bins: 20,
            pair_weight: 100.0,
            frequencies: 2000,
            marginal_share: 0.3,
            generator_batch: 1024,
            latent: 64,
            generator_hidden: vec![256, 256],
            batch_norm: true,
            generator_learning_rate: 3e-3,
            generator_beta1: 0.9,
            generator_beta2: 0.999,
            averaging: 0.99,
        }
    }
}
