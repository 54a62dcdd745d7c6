//! Raw settings of a run on images, as a form or a file holds them.

use serde::{Deserialize, Serialize};

/// Everything a person can choose of a run on images, unchecked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ImageSettings {
    /// Steps of the generator.
    pub steps: u64,
    /// Random frequencies of each part of the mean embedding.
    pub frequencies: u64,
    /// Latents that an image is made from.
    pub latent: u64,
    /// The width of the generator's first layer.
    pub generator_hidden: u64,
    /// Channels of the generator's smallest map.
    pub generator_channels: u64,
    /// Generated images in a step.
    pub generator_batch: u64,
    /// The generator's learning rate at the start.
    pub generator_learning_rate: f64,
    /// Decay of the first moment in the generator's Adam.
    pub generator_beta1: f64,
    /// Decay of the second moment in the generator's Adam.
    pub generator_beta2: f64,
    /// Decay of the running average of the generator's weights.
    pub averaging: f64,
}

/// Below this ε a mean embedding has half the frequencies.
const SMALL_EPSILON: f64 = 3.0;

impl ImageSettings {
    /// A setting that every recipe of images has, and none of a table.
    pub const OWN_KEY: &str = "frequencies";

    /// The settings to start from. More frequencies tell more, but each has its own noise.
    pub fn recommended(epsilon: Option<f64>) -> Self {
        let settings = Self::default();
        match epsilon {
            Some(epsilon) if epsilon < SMALL_EPSILON => Self {
                frequencies: settings.frequencies / 2,
                ..settings
            },
            _ => settings,
        }
    }
}

impl Default for ImageSettings {
    fn default() -> Self {
        Self {
            steps: 4000,
            frequencies: 2000,
            latent: 10,
            generator_hidden: 256,
            generator_channels: 32,
            generator_batch: 100,
            generator_learning_rate: 5e-3,
            generator_beta1: 0.9,
            generator_beta2: 0.999,
            averaging: 0.0,
        }
    }
}
