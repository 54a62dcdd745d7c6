//! A few images as they are made at a step, as many of each class: what a person watches.

use std::sync::Arc;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha20Rng;

use crate::data::image::ImageForm;
use crate::model::image::ImageGeneratorNet;
use crate::num::RandomSource;

/// A run shows about this many grids in all.
const GRIDS: u64 = 48;
/// Images of each class, with few classes; fewer with many.
const EACH: usize = 10;
/// No grid has more images than this and two of each class.
const MOST: usize = 200;

/// Generated images as of a step. The run has paid for them: free to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageGrid {
    /// Steps done when they were drawn.
    pub step: u64,
    /// What every image has in common.
    pub form: ImageForm,
    /// The classes' names; none for images without labels.
    pub names: Arc<[String]>,
    /// Images of each class.
    pub each: usize,
    /// `[classes, each, side · side · colours]`, row by row, channels last.
    pub bytes: Vec<u8>,
}

impl ImageGrid {
    /// The images, class by class.
    pub fn images(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.form.pixels().max(1))
    }
}

/// Draws grids now and then, always from the same latents, so that only what was learned differs between two of them.
#[derive(Debug)]
pub(super) struct GridSampler {
    seed: u64,
    classes: usize,
    names: Arc<[String]>,
    each: usize,
    every: u64,
    steps: u64,
}

impl GridSampler {
    pub fn new(names: &[String], steps: u64, random: &mut RandomSource) -> Self {
        let classes = names.len();
        Self {
            seed: random.random(),
            classes,
            names: if classes > 1 { names.into() } else { Arc::default() },
            each: (MOST / classes.max(1)).clamp(2, EACH),
            every: steps.div_ceil(GRIDS).max(1),
            steps,
        }
    }

    /// Whether a grid is shown after this step.
    pub fn is_due(&self, step: u64) -> bool {
        step == 1 || step.is_multiple_of(self.every) || step == self.steps
    }

    pub fn draw(&self, step: u64, network: &ImageGeneratorNet) -> ImageGrid {
        let classes: Vec<usize> = (0..self.classes)
            .flat_map(|class| std::iter::repeat_n(class, self.each))
            .collect();
        // The latents are no secret: they are as free as the images.
        let mut latents = ChaCha20Rng::seed_from_u64(self.seed);
        let shape = network.shape();
        ImageGrid {
            step,
            form: ImageForm {
                side: shape.side,
                colours: shape.colours,
            },
            names: Arc::clone(&self.names),
            each: self.each,
            bytes: network.sample(&classes, &mut latents),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::DeviceKind;
    use crate::model::image::ImageGeneratorShape;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|class| class.to_string()).collect()
    }

    #[test]
    fn a_grid_has_as_many_of_each_class_and_the_same_latents_every_time() {
        let mut random = RandomSource::seeded(3);
        let device = DeviceKind::Flex.open().unwrap();
        let shape = ImageGeneratorShape {
            latent: 4,
            classes: 3,
            hidden: 8,
            channels: 4,
            side: 8,
            colours: 1,
        };
        let network = ImageGeneratorNet::new(shape, &mut random, &device);
        let sampler = GridSampler::new(&names(3), 1000, &mut random);
        let (one, other) = (sampler.draw(1, &network), sampler.draw(2, &network));
        assert_eq!((one.images().len(), one.each), (30, 10));
        assert_eq!(one.bytes, other.bytes);
        assert_ne!(one.images().next(), one.images().nth(1));
    }

    #[test]
    fn grids_are_few_and_the_first_and_the_last_step_have_one() {
        let mut random = RandomSource::seeded(3);
        for steps in [1, 7, 48, 4001] {
            let sampler = GridSampler::new(&names(10), steps, &mut random);
            let due: Vec<u64> = (1..=steps).filter(|step| sampler.is_due(*step)).collect();
            assert!(due.len() as u64 <= GRIDS + 2, "{steps}: {}", due.len());
            assert_eq!((due.first(), due.last()), (Some(&1), Some(&steps)));
        }
        assert_eq!(GridSampler::new(&names(256), 10, &mut random).each, 2);
    }
}
