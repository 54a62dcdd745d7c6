//! A generator that follows a mean embedding: one look at the private images, and then as many steps as are wanted.
//!
//! After the release nothing private is left to see, so steps, restarts and the moment of stopping are free; batch
//! norm couples generated images only.

use std::f64::consts::PI;

use burn::tensor::{Device, Tensor};

use super::grid::GridSampler;
use super::{ImageGenerator, ImagePlan, TrainImages};
use crate::model::image::{EmbeddingMap, EmbeddingTarget, ImageGeneratorNet};
use crate::model::{Adam, AdamSettings, DeviceKind, read};
use crate::num::{RandomSource, StewardOnly};
use crate::train::control::Control;
use crate::train::observe::{Observation, StepObservation};
use crate::train::privatize::{self, Account, ClassMeans};
use crate::train::training::{StopReason, Synthesizer, TrainError, Trained};

/// The learning rate at the end, as a share of that at the start.
const LAST_RATE: f64 = 0.02;
/// A run reports about this many steps in all.
const REPORTS: u64 = 400;

/// A run on images that is ready to start.
pub struct ImageTraining {
    plan: ImagePlan,
    images: TrainImages,
    device: Device,
    random: RandomSource,
}

impl ImageTraining {
    /// Puts a run together.
    ///
    /// # Errors
    /// When the device cannot be used, or images and plan do not belong together.
    pub fn new(
        plan: ImagePlan,
        images: TrainImages,
        device: DeviceKind,
        random: RandomSource,
    ) -> Result<Self, TrainError> {
        let shape = plan.shape();
        let width = images.set().form().pixels();
        if images.len() != plan.images() || width != shape.pixels() || images.classes().len() != shape.classes
        {
            return Err(TrainError::OtherRows {
                planned: plan.images(),
                width: shape.pixels(),
                found: images.len(),
                found_width: width,
            });
        }
        Ok(Self {
            plan,
            images,
            device: device.open()?,
            random,
        })
    }

    /// Trains to the planned end, or until stopped. Blocks the calling thread, which owns the tensors;
    /// `observe` is called on it now and then and should return at once.
    ///
    /// # Errors
    /// When the network's numbers stop being finite, or the account refuses the plan's own release.
    pub fn run(self, control: &Control, observe: &mut dyn FnMut(Observation)) -> Result<Trained, TrainError> {
        let Self {
            plan,
            images,
            device,
            mut random,
        } = self;
        let protection = plan.protection().copied();
        let mut account = Account::of(
            protection.map(|protection| protection.budget),
            ImagePlan::ACCOUNTANT,
        );
        // Noise rests on its own stream; the map, latents and weights are independent of the images.
        let mut privacy_random = random.fork();
        let mut free_random = random.fork();
        let form = images.set().form();
        let map = EmbeddingMap::new(
            (form.side, form.colours),
            plan.settings().frequencies as usize,
            &mut free_random,
            &device,
        );
        let noise = protection.map(|protection| protection.embedding);
        let released =
            privatize::mean_embedding(&mut account, &map, &images, noise, &mut privacy_random, &device);
        let released = released.map_err(|source| TrainError::Refused {
            source,
            executed: account.executed(),
        })?;
        let mut learner = Learner::new(&plan, &released, map, &device, &mut free_random);
        drop(device);
        let grids = GridSampler::new(images.classes(), plan.steps(), &mut free_random);
        let stopped = learner.take_steps(&plan, (control, &account, &grids), &mut free_random, observe)?;
        let network = learner.averaged_network().freeze(&mut free_random);
        let shares = shares_of(&released.counts);
        Ok(Trained {
            generator: Synthesizer::Images(Box::new(ImageGenerator::new(
                network,
                images.classes().to_vec(),
                shares,
            ))),
            executed: account.executed(),
            epsilon: account.epsilon(),
            steps_done: learner.step,
            stopped,
            random: privacy_random.origin(),
        })
    }
}

/// Shares of the classes by their noisy counts; alike if nothing can be told.
fn shares_of(counts: &[f64]) -> Vec<f64> {
    let sum: f64 = counts.iter().sum();
    if sum > 0.0 {
        counts.iter().map(|count| count / sum).collect()
    } else {
        vec![1.0 / counts.len() as f64; counts.len()]
    }
}

/// A generator on its way to the released means. It holds nothing private.
struct Learner {
    network: ImageGeneratorNet,
    adam: Adam,
    averaged: Tensor<1>,
    map: EmbeddingMap,
    target: EmbeddingTarget,
    /// The class of each image of a step, class by class.
    classes: Vec<usize>,
    step: u64,
}

impl Learner {
    fn new(
        plan: &ImagePlan,
        released: &ClassMeans,
        map: EmbeddingMap,
        device: &Device,
        random: &mut RandomSource,
    ) -> Self {
        let settings = plan.settings();
        let network = ImageGeneratorNet::new(plan.shape().clone(), random, device);
        let adam = AdamSettings {
            learning_rate: settings.generator_learning_rate,
            beta1: settings.generator_beta1,
            beta2: settings.generator_beta2,
        };
        let classes = plan.shape().classes;
        // At least two of each class: their distance from each other is half of what is learned from.
        let each = (settings.generator_batch as usize).div_ceil(classes).max(2);
        Self {
            adam: Adam::new(adam, network.parameters().dims()[0], device),
            averaged: network.parameters().clone(),
            target: map.target(&released.means, classes, device),
            classes: (0..classes).flat_map(|class| vec![class; each]).collect(),
            network,
            map,
            step: 0,
        }
    }

    fn take_steps(
        &mut self,
        plan: &ImagePlan,
        (control, account, grids): (&Control, &Account, &GridSampler),
        random: &mut RandomSource,
        observe: &mut dyn FnMut(Observation),
    ) -> Result<StopReason, TrainError> {
        let settings = plan.settings();
        let steps = plan.steps();
        let report_every = steps.div_ceil(REPORTS);
        while self.step < steps {
            if !control.may_go_on() {
                return Ok(StopReason::ByPerson);
            }
            let done = self.step as f64 / steps as f64;
            let fall = LAST_RATE + (1.0 - LAST_RATE) * 0.5 * (1.0 + (PI * done).cos());
            self.adam
                .set_learning_rate(settings.generator_learning_rate * fall);
            let pass = self.network.training_pass(&self.classes, random);
            let (gradient, loss) = self.map.step(pass.images.clone(), &self.target, random);
            let gradient = self.network.backward(pass, gradient);
            let parameters = self.adam.step(self.network.parameters().clone(), gradient);
            let keep = settings.averaging;
            self.averaged = if keep > 0.0 {
                self.averaged.clone().mul_scalar(keep) + parameters.clone().mul_scalar(1.0 - keep)
            } else {
                parameters.clone()
            };
            self.network.set_parameters(parameters);
            self.step += 1;
            if grids.is_due(self.step) {
                observe(Observation::Images(
                    grids.draw(self.step, &self.averaged_network()),
                ));
            }
            if self.step.is_multiple_of(report_every) || self.step == steps {
                let loss = f64::from(read(loss)[0]);
                if !loss.is_finite() {
                    return Err(TrainError::NotFinite {
                        step: self.step,
                        executed: account.executed(),
                    });
                }
                observe(Observation::Step(StepObservation {
                    step: self.step,
                    steps,
                    epsilon: account.epsilon(),
                    critic_loss: StewardOnly::new(None),
                    generator_loss: Some(loss),
                    batch: StewardOnly::new(0),
                    gradient_norm: StewardOnly::new(None),
                    clipped_share: StewardOnly::new(None),
                }));
            }
        }
        Ok(StopReason::Planned)
    }

    fn averaged_network(&self) -> ImageGeneratorNet {
        let mut network = self.network.clone();
        network.set_parameters(self.averaged.clone());
        network
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::some_images;
    use super::super::{ImageMethod, ImageSettings};
    use super::*;
    use crate::privacy::Neighboring;
    use crate::train::Privacy;

    fn train(privacy: Privacy, steps: u64, control: &Control, device: DeviceKind) -> (Trained, Vec<f64>) {
        let images = some_images(2000);
        let settings = ImageSettings {
            steps,
            frequencies: 250,
            generator_hidden: 32,
            generator_channels: 8,
            generator_batch: 32,
            ..ImageSettings::default()
        };
        let schema = images.set().schema();
        let plan = ImagePlan::new(
            ImageMethod::MeanEmbedding,
            &settings,
            &schema,
            images.set(),
            privacy,
        )
        .unwrap();
        let planned = plan.events();
        let training = ImageTraining::new(plan, images, device, RandomSource::seeded(8)).unwrap();
        let (mut losses, mut grids) = (Vec::new(), Vec::new());
        let trained = training
            .run(control, &mut |seen| match seen {
                Observation::Step(seen) => losses.extend(seen.generator_loss),
                Observation::Images(grid) => grids.push(grid),
                _ => {}
            })
            .unwrap();
        assert_eq!(grids.last().map_or(0, |grid| grid.step), trained.steps_done);
        assert!(grids.iter().all(|grid| grid.images().len() == 20));
        if matches!(privacy, Privacy::Private { .. }) {
            assert_eq!(trained.executed, planned, "what was done is what was planned");
        }
        (trained, losses)
    }

    #[test]
    fn images_of_a_class_look_like_that_class() {
        let privacy = Privacy::Private {
            epsilon: 10.0,
            delta: 1e-5,
            neighboring: Neighboring::AddRemoveOne,
        };
        let (trained, _) = train(privacy, 300, &Control::new(), DeviceKind::Flex);
        assert!(trained.epsilon.unwrap() <= 10.0 && trained.stopped == StopReason::Planned);
        let Synthesizer::Images(generator) = trained.generator else {
            panic!("images make images");
        };
        let mut random = RandomSource::seeded(9);
        let mut right = 0;
        let mut counts = [0; 2];
        for drawn in generator.batches(400, None, &mut random) {
            for (image, code) in drawn.bytes.chunks_exact(64).zip(&drawn.codes) {
                let half = |rows: &[u8]| rows.iter().map(|byte| u32::from(*byte)).sum::<u32>();
                let bright_above = half(&image[..32]) > half(&image[32..]);
                right += usize::from(bright_above == (*code == 0));
                counts[usize::from(*code)] += 1;
            }
        }
        assert!(right > 380, "{right} of 400");
        assert!(counts.iter().all(|count| *count > 120), "{counts:?}");
        let only: Vec<u8> = generator
            .batches(30, Some(1), &mut random)
            .flat_map(|drawn| drawn.codes)
            .collect();
        assert_eq!(only, [1; 30]);
    }

    #[test]
    fn a_stopped_run_keeps_what_it_has() {
        let control = Control::new();
        control.stop();
        let (trained, losses) = train(Privacy::None, 300, &control, DeviceKind::Flex);
        assert_eq!((trained.steps_done, trained.stopped), (0, StopReason::ByPerson));
        assert!(losses.is_empty() && trained.epsilon.is_none());
    }

    #[test]
    fn every_device_learns_alike() {
        let (_, expected) = train(Privacy::None, 20, &Control::new(), DeviceKind::Flex);
        for device in [DeviceKind::Ndarray, DeviceKind::Wgpu] {
            if let Err(error) = device.open() {
                println!("skipped on {device}: {error}");
                continue;
            }
            let (_, losses) = train(Privacy::None, 20, &Control::new(), device);
            assert_eq!(losses.len(), 20);
            for (step, (one, other)) in losses.iter().zip(&expected).enumerate() {
                assert!((one - other).abs() < 1e-3, "{device}, step {step}: {one} {other}");
            }
        }
    }
}
