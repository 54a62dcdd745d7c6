//! What a person watches of a run on images: grids of what it makes, and figures that are worked out beside it.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha20Rng;

use super::TrainImages;
use super::grid::GridSampler;
use crate::evaluate::image::{LIVE_SYNTHETIC, LiveImages};
use crate::model::image::ImageGeneratorNet;
use crate::num::RandomSource;
use crate::train::observe::Observation;

/// Images that are made at a time for the figures: a copy of a larger pass would crowd out the run's own.
const PIECE: usize = 250;

/// What is shown of a run while it goes.
pub(super) struct Watched {
    grids: GridSampler,
    live: Option<LiveImages>,
    classes: usize,
    steps: u64,
    /// Latents of the images that are judged; as free as the images.
    latents: ChaCha20Rng,
}

impl Watched {
    /// For a run on these images; without `figures`, grids are all there is.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub fn start(
        images: &TrainImages,
        steps: u64,
        figures: bool,
        random: &mut RandomSource,
    ) -> std::io::Result<Self> {
        let grids = GridSampler::new(images.classes(), steps, random);
        let live = figures.then(|| LiveImages::start(images.set().clone(), random.fork()));
        Ok(Self {
            grids,
            live: live.transpose()?,
            classes: images.classes().len(),
            steps,
            latents: ChaCha20Rng::seed_from_u64(random.random()),
        })
    }

    /// Shows what is due after a step. `network` is asked for only if something is.
    pub fn show(
        &mut self,
        step: u64,
        network: impl FnOnce() -> ImageGeneratorNet,
        observe: &mut dyn FnMut(Observation),
    ) {
        let mut wanted = false;
        if let Some(live) = &mut self.live {
            if let Some(latest) = live.latest() {
                observe(Observation::Judged(latest));
            }
            wanted = live.wants_images() || step == self.steps;
        }
        let is_due = self.grids.is_due(step);
        if !wanted && !is_due {
            return;
        }
        let network = network();
        if is_due {
            observe(Observation::Images(self.grids.draw(step, &network)));
        }
        if let Some(live) = self.live.as_mut().filter(|_| wanted) {
            let classes = self.classes;
            let mut latents = ChaCha20Rng::from_rng(&mut self.latents);
            live.offer(
                step,
                Box::new(move || {
                    let all: Vec<usize> = (0..LIVE_SYNTHETIC).map(|image| image % classes).collect();
                    all.chunks(PIECE)
                        .flat_map(|piece| network.sample(piece, &mut latents))
                        .collect()
                }),
            );
        }
    }

    /// Waits a moment for the figures of what was made last.
    pub fn finish(self, observe: &mut dyn FnMut(Observation)) {
        if let Some(last) = self.live.and_then(LiveImages::finish) {
            observe(Observation::Judged(last));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::some_images;
    use super::*;
    use crate::model::DeviceKind;
    use crate::model::image::ImageGeneratorShape;

    #[test]
    fn figures_come_beside_the_grids_and_only_if_they_are_wanted() {
        let images = some_images(400);
        let mut random = RandomSource::seeded(3);
        let device = DeviceKind::Flex.open().unwrap();
        let shape = ImageGeneratorShape {
            latent: 4,
            classes: 2,
            hidden: 8,
            channels: 4,
            side: 8,
            colours: 1,
        };
        let network = ImageGeneratorNet::new(shape, &mut random, &device);
        for figures in [true, false] {
            let (mut grids, mut judged) = (0, Vec::new());
            let mut observe = |seen: Observation| match seen {
                Observation::Images(_) => grids += 1,
                Observation::Judged(figures) => judged.push(figures),
                _ => {}
            };
            let mut watched = Watched::start(&images, 2, figures, &mut random).unwrap();
            for step in 1..=2 {
                watched.show(step, || network.clone(), &mut observe);
            }
            watched.finish(&mut observe);
            assert_eq!(grids, 2);
            assert_eq!(judged.is_empty(), !figures);
            for seen in &judged {
                assert_eq!(seen.compared[0], LIVE_SYNTHETIC);
                let fid = seen.figure("fid");
                assert!(fid.for_steward().is_some_and(|fid| fid.value > 0.0));
            }
        }
    }
}
