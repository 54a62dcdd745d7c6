//! About how much memory a run on images takes: so that one which cannot end is refused before anything is spent.
//!
//! Counted are the numbers that lie in memory at the same time: parameters with what Adam keeps of each, the public map, and
//! what a pass keeps of each image, forward and backward.

use super::ImagePlan;
use super::plan::ImageMethod;
use super::settings::CriticKind;
use crate::model::CriticInput;

/// Bytes of a number in a tensor.
const NUMBER: u64 = 4;
/// Parameters, their gradient, Adam's two moments and the running average.
const COPIES: u64 = 5;
/// Cells of a window of a transposed convolution or of a critic's convolution.
const WINDOW: u64 = 16;
/// Images that are embedded at a time, and that are made at a time to freeze a generator.
const EMBEDDED: u64 = 250;
const FROZEN: u64 = 2000;
/// Numbers of a Gabor window, of its filters' parts and of what their gradient keeps.
const GABOR: u64 = 64 + 4 * 24;
/// Numbers of the Gabor part for each image and colour, over the pixels of a quarter of the image's side.
const GABOR_INPUTS: u64 = 12;

impl ImagePlan {
    /// About how many bytes the run takes at most, beside the images themselves.
    pub fn memory(&self) -> u64 {
        let generator = self.generator_numbers();
        let numbers = match self.method() {
            ImageMethod::MeanEmbedding => self.embedding_numbers(),
            ImageMethod::Gan | ImageMethod::GanWithPenalty => {
                let warm = if self.embedding_steps() > 0 {
                    self.embedding_numbers()
                } else {
                    0
                };
                self.critic_numbers().max(warm)
            }
        };
        generator.saturating_add(numbers).saturating_mul(NUMBER)
    }

    fn generator_numbers(&self) -> u64 {
        let shape = self.shape();
        let [latent, classes, hidden, channels, colours] = [
            shape.latent,
            shape.classes,
            shape.hidden,
            shape.channels,
            shape.colours,
        ]
        .map(|size| size as u64);
        let quarter = (shape.side as u64 / 4).pow(2);
        let half = channels.div_ceil(2);
        let parameters =
            (latent + classes) * hidden + hidden * quarter * channels + WINDOW * half * (channels + colours);
        // Of each layer its windows, its output and what its normalisation keeps.
        let forward = 3 * hidden
            + 4 * quarter * channels
            + quarter * half * (WINDOW + 3 * 4)
            + 4 * quarter * colours * WINDOW
            + 4 * shape.pixels() as u64;
        let batch = self.settings().generator_batch.max(self.settings().fake_batch);
        COPIES * parameters + forward * FROZEN.max(2 * batch)
    }

    fn embedding_numbers(&self) -> u64 {
        let (shape, settings) = (self.shape(), self.settings());
        let [side, classes, colours] = [shape.side, shape.classes, shape.colours].map(|size| size as u64);
        let inputs = shape.pixels() as u64 + (side / 4).pow(2) * GABOR_INPUTS * colours;
        let width = 4 * settings.frequencies;
        let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
        // Sums are in double precision; an embedding and the parts that it is put together from lie side by side.
        let release = threads * (2 * classes * width + 2 * EMBEDDED * width);
        let gabor = (side / 2).pow(2) * colours * GABOR;
        let step = settings.generator_batch * (gabor + 2 * inputs);
        let map = settings.frequencies * inputs + classes * width;
        map + release.max(step).max(threads * EMBEDDED * gabor)
    }

    fn critic_numbers(&self) -> u64 {
        let settings = self.settings();
        let shape = self.critic_shape();
        let (mut width, mut parameters, mut each) = (0, 0, 0);
        match &shape.input {
            CriticInput::Row(row) => {
                width = *row as u64;
                each += width;
            }
            CriticInput::Image {
                side,
                colours,
                channels,
            } => {
                let (mut side, mut below) = (*side as u64, *colours as u64);
                for &channels in channels {
                    let (channels, places) = (channels as u64, (side / 2).pow(2));
                    parameters += WINDOW * below * channels;
                    // Windows forward and on the way back, outputs, slopes and gradients; and where norms come from the
                    // windows' likeness, that.
                    each += 2 * places * WINDOW * below + 4 * places * channels;
                    each += (2 * places * places).min(WINDOW * below * channels);
                    (side, below) = (side / 2, channels);
                    width = places * channels;
                }
            }
        }
        for &outputs in shape.hidden.iter().chain(std::iter::once(&shape.scores)) {
            parameters += width * outputs as u64;
            each += 4 * outputs as u64;
            width = outputs as u64;
        }
        // A draw is as large as chance has it, but is taken a micro-batch at a time; of each image its pixels lie there.
        let together = settings
            .micro_batch
            .min(2 * self.expected_batch() as u64)
            .max(settings.fake_batch);
        let penalty = if self.method() == ImageMethod::GanWithPenalty {
            2
        } else {
            1
        };
        let dense = u64::from(settings.critic == CriticKind::Dense);
        COPIES * parameters + penalty * together * (each + (1 + dense) * self.shape().pixels() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::some_images;
    use super::super::{ImagePlan, ImageSettings};
    use super::*;
    use crate::train::Privacy;

    fn memory(method: ImageMethod, settings: &ImageSettings) -> u64 {
        let images = some_images(200);
        let schema = images.set().schema();
        ImagePlan::new(method, settings, &schema, images.set(), Privacy::None)
            .unwrap()
            .memory()
    }

    #[test]
    fn every_size_counts() {
        let usual = ImageSettings::default();
        let mib = |bytes: u64| bytes >> 20;
        for method in [ImageMethod::MeanEmbedding, ImageMethod::Gan] {
            let base = memory(method, &usual);
            assert!((1..500).contains(&mib(base)), "{method:?}: {} MiB", mib(base));
            let wide = ImageSettings {
                generator_hidden: 4096,
                generator_channels: 512,
                ..usual.clone()
            };
            assert!(memory(method, &wide) > 2 * base);
        }
        let many = ImageSettings {
            frequencies: 20_000,
            ..usual.clone()
        };
        let base = memory(ImageMethod::MeanEmbedding, &usual);
        assert!(memory(ImageMethod::MeanEmbedding, &many) > 2 * base);
        let convolution = ImageSettings {
            critic: CriticKind::Convolution,
            ..usual.clone()
        };
        let large = ImageSettings {
            critic_channels: vec![512, 512],
            fake_batch: 65_536,
            ..convolution.clone()
        };
        let base = memory(ImageMethod::Gan, &convolution);
        assert!(mib(memory(ImageMethod::Gan, &large)) > 100 * mib(base));
        assert!(memory(ImageMethod::GanWithPenalty, &convolution) > base);
    }
}
