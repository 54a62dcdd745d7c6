//! The settings of images, one by one.

use super::table::{Settable, integer, real, scale, setting};
use super::{Described, SettingDescription, SettingGroup};
use crate::train::image::ImageSettings;

/// All settings of images.
#[rustfmt::skip]
pub const IMAGE_SETTINGS: [SettingDescription<ImageSettings>; 10] = [
    setting!("steps", steps, Privacy, "steps", integer(1, 1_000_000), false,
        "Steps of the generator; with a mean embedding they cost no privacy."),
    setting!("frequencies", frequencies, Privacy, "", integer(250, 20_000), false,
        "Random frequencies of each part of the mean embedding: more tell more, under the same noise each."),
    setting!("latent", latent, Generator, "numbers", integer(1, 1024), true,
        "Random numbers from which one image is made, beside its class."),
    setting!("generator-hidden", generator_hidden, Generator, "units", integer(1, 4096), true,
        "The width of the generator's first layer."),
    setting!("generator-channels", generator_channels, Generator, "channels", integer(2, 512), true,
        "Channels of the generator's smallest map, at a quarter of the image's side."),
    setting!("generator-batch", generator_batch, Generator, "images", integer(2, 65_536), true,
        "Generated images in a step, equally many of each class."),
    setting!("generator-learning-rate", generator_learning_rate, Generator, "", scale(1e-6, 1.0), true,
        "How far the generator moves in a step, at the start."),
    setting!("generator-beta1", generator_beta1, Generator, "", real(0.0, 0.999), true,
        "How long the generator's Adam remembers past gradients."),
    setting!("generator-beta2", generator_beta2, Generator, "", real(0.0, 0.9999), true,
        "How long the generator's Adam remembers past squared gradients."),
    setting!("averaging", averaging, Generator, "", real(0.0, 0.99999), true,
        "Decay of the running average of the generator's weights, from which images are drawn."),
];

impl Described for ImageSettings {
    const TEXTS: &'static str = "images-setting";

    fn table() -> &'static [SettingDescription<Self>] {
        &IMAGE_SETTINGS
    }
}
