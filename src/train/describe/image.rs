//! The settings of images, one by one.

use super::table::{
    LOSS_NAMES, POINTS, SCHEDULE_NAMES, Settable, WIDTHS, integer, name_of, real, scale, setting, value_of,
};
use super::{Described, SettingDescription, SettingGroup, SettingRange, SettingValue};
use crate::train::image::{CriticKind, ImageSettings};

/// Every convolution halves a side that 4 divides.
const CHANNELS: SettingRange = SettingRange::Widths {
    layers: 2,
    width: 512,
};
const CRITICS: [(&str, CriticKind); 2] = [
    ("dense", CriticKind::Dense),
    ("convolution", CriticKind::Convolution),
];
const CRITIC_NAMES: [&str; 2] = [CRITICS[0].0, CRITICS[1].0];

impl Settable for CriticKind {
    fn wrap(&self) -> SettingValue {
        name_of(&CRITICS, self)
    }

    fn unwrap(value: SettingValue) -> Option<Self> {
        value_of(&CRITICS, &value)
    }
}

/// All settings of images. Which of them a method looks at, it says itself
/// ([`ImageMethod::uses`](crate::train::image::ImageMethod::uses)).
#[rustfmt::skip]
pub const IMAGE_SETTINGS: [SettingDescription<ImageSettings>; 32] = [
    setting!("steps", steps, Privacy, "steps", integer(1, 1_000_000), false,
        "Critic steps, each one noisy look at the images; with dp-merf steps of the generator, which cost no privacy."),
    setting!("batch-size", batch_size, Privacy, "images", integer(1, 65_536), false,
        "Images expected in a step: every image enters by its own coin, so the number varies."),
    setting!("micro-batch", micro_batch, Privacy, "images", integer(1, 65_536), true,
        "Images whose gradients are taken at a time: bounds memory and changes nothing else."),
    setting!("clip-norm", clip_norm, Privacy, "", scale(1e-4, 1e3), false,
        "The most that one image's gradient may move a step (ℓ2 norm over all layers together)."),
    setting!("schedule", schedule, Privacy, "", SettingRange::Choice(&SCHEDULE_NAMES), true,
        "How the noise changes over the steps; the whole is scaled to meet the budget exactly."),
    setting!("schedule-early", schedule_early, Privacy, "of ε", real(0.05, 0.95), true,
        "The first half's share of ε in two phases: 0.2 is \"2 early, 8 late\" of a total of 10."),
    setting!("schedule-ratio", schedule_ratio, Privacy, "times", real(1.0, 10.0), true,
        "Noise at the first step over noise at the last, where it falls in a line or by a factor."),
    setting!("schedule-points", schedule_points, Privacy, "", POINTS, true,
        "Noise at equally distant places from the first step to the last, each relative to the others."),
    setting!("frequencies", frequencies, Privacy, "", integer(250, 20_000), false,
        "Random frequencies of each part of the mean embedding: more tell more, under the same noise each."),
    setting!("warm-steps", warm_steps, Privacy, "steps", integer(0, 100_000), false,
        "Steps in which the generator follows a mean embedding before it meets the critic; 0 buys none."),
    setting!("warm-share", warm_share, Privacy, "of ρ", real(0.01, 0.9), true,
        "The share of the budget that buys that mean embedding."),
    setting!("critic", critic, Critic, "", SettingRange::Choice(&CRITIC_NAMES), true,
        "How the critic looks at images: at all pixels in one row, or through convolutions."),
    setting!("critic-hidden", critic_hidden, Critic, "units", WIDTHS, true,
        "Widths of the dense critic's hidden layers."),
    setting!("critic-channels", critic_channels, Critic, "channels", CHANNELS, true,
        "Channels of the critic's convolutions, each of which halves the image's side."),
    setting!("critic-loss", critic_loss, Critic, "", SettingRange::Choice(&LOSS_NAMES), true,
        "What the critic is trained to tell real from generated images by."),
    setting!("critic-steps", critic_steps, Critic, "steps", integer(1, 1000), true,
        "Critic steps between two steps of the generator, at the start."),
    setting!("ladder", ladder, Critic, "", SettingRange::Switch, true,
        "Takes more critic steps a turn when the critic no longer tells generated images (not with Wasserstein scores)."),
    setting!("ladder-grace", ladder_grace, Critic, "steps", integer(1, 100_000), true,
        "Generator steps before that number may grow again."),
    setting!("critic-learning-rate", critic_learning_rate, Critic, "", scale(1e-6, 1.0), true,
        "How far the critic moves in a step."),
    setting!("critic-beta1", critic_beta1, Critic, "", real(0.0, 0.999), true,
        "How long the critic's Adam remembers past gradients."),
    setting!("critic-beta2", critic_beta2, Critic, "", real(0.0, 0.9999), true,
        "How long the critic's Adam remembers past squared gradients."),
    setting!("weight-clamp", weight_clamp, Critic, "", scale(1e-3, 10.0), true,
        "The bound to which the critic's weights are clamped after each step."),
    setting!("penalty", penalty, Critic, "", scale(0.01, 1000.0), true,
        "Weight of the penalty that holds the critic's slope at 1 (wgan-gp only)."),
    setting!("fake-batch", fake_batch, Critic, "images", integer(2, 65_536), true,
        "Generated images that the critic compares real ones with in a step."),
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
