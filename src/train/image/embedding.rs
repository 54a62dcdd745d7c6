//! A generator that follows a mean embedding: one look at the private images, and then as many steps as are wanted.
//!
//! After the release nothing private is left to see, so steps, restarts and the moment of stopping are free; batch
//! norm couples generated images only.

use std::f64::consts::PI;

use burn::tensor::{Device, Tensor};

use super::ImagePlan;
use super::kept::{Kept, Release};
use super::watched::Watched;
use crate::model::image::{EmbeddingMap, EmbeddingTarget, ImageGeneratorNet};
use crate::model::{Adam, NamedTensor, find_tensor, read, vector};
use crate::num::RandomSource;
use crate::train::control::Control;
use crate::train::keep::{Checkpoint, Keeping};
use crate::train::observe::{Observation, StepObservation};
use crate::train::privatize::{Account, ClassMeans};
use crate::train::training::{StopReason, TrainError, stopped};

/// The learning rate at the end, as a share of that at the start.
const LAST_RATE: f64 = 0.02;
/// A run reports about this many steps in all.
const REPORTS: u64 = 400;

/// A generator on its way to the released means. It holds nothing private.
pub(super) struct Learner {
    network: ImageGeneratorNet,
    adam: Adam,
    learning_rate: f64,
    averaged: Tensor<1>,
    map: EmbeddingMap,
    target: EmbeddingTarget,
    /// What the map is drawn from, and what was released through it: to be kept.
    released: ([u8; 32], ClassMeans),
    /// The class of each image of a step, class by class.
    classes: Vec<usize>,
    step: u64,
}

impl Learner {
    pub fn new(plan: &ImagePlan, released: Release, device: &Device, random: &mut RandomSource) -> Self {
        let settings = plan.settings();
        let network = ImageGeneratorNet::new(plan.shape().clone(), random, device);
        let adam = plan.embedding_adam();
        let classes = plan.shape().classes;
        // At least two of each class: their distance from each other is half of what is learned from.
        let each = (settings.generator_batch as usize).div_ceil(classes).max(2);
        Self {
            learning_rate: adam.learning_rate,
            adam: Adam::new(adam, network.parameters().dims()[0], device),
            averaged: network.parameters().clone(),
            target: released.map.target(&released.means.means, classes, device),
            classes: (0..classes).flat_map(|class| vec![class; each]).collect(),
            network,
            map: released.map,
            released: (released.key, released.means),
            step: 0,
        }
    }

    /// Steps done.
    pub const fn step(&self) -> u64 {
        self.step
    }

    /// Follows the means to the last step that is planned for it, or until stopped.
    ///
    /// # Errors
    /// When the network's numbers stop being finite.
    pub fn take_steps(
        &mut self,
        plan: &ImagePlan,
        (control, account, keeping): (&Control, &Account, &mut Keeping),
        watched: &mut Watched,
        random: &mut RandomSource,
        observe: &mut dyn FnMut(Observation),
    ) -> Result<StopReason, TrainError> {
        let settings = plan.settings();
        let steps = plan.embedding_steps();
        let report_every = plan.steps().div_ceil(REPORTS);
        while self.step < steps {
            if !control.may_go_on() {
                return stopped((control, keeping), account, self.step, || self.checkpoint());
            }
            let done = self.step as f64 / steps as f64;
            let fall = LAST_RATE + (1.0 - LAST_RATE) * 0.5 * (1.0 + (PI * done).cos());
            self.adam.set_learning_rate(self.learning_rate * fall);
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
            keeping.keep_if_due(|| self.checkpoint());
            watched.show(self.step, || self.averaged_network(), observe);
            if self.step.is_multiple_of(report_every) || self.step == steps {
                let loss = f64::from(read(loss)[0]);
                if !loss.is_finite() {
                    return Err(TrainError::NotFinite {
                        step: self.step,
                        executed: account.executed(),
                    });
                }
                observe(Observation::Step(StepObservation {
                    epsilon: account.epsilon(),
                    generator_loss: Some(loss),
                    ..StepObservation::without_critic(self.step, plan.steps())
                }));
            }
        }
        Ok(StopReason::Planned)
    }

    /// Everything that the run needs to go on: released, or worked out of what was.
    pub fn checkpoint(&self) -> Checkpoint {
        let (key, means) = &self.released;
        let mut tensors = vec![
            NamedTensor::flat("generator", self.network.parameters()),
            NamedTensor::flat("generator.averaged", &self.averaged),
            Release::tensor(means),
        ];
        tensors.extend(self.adam.tensors("generator.adam"));
        let kept = Kept::Embedding {
            map: *key,
            counts: means.counts.clone(),
            adam: self.adam.steps(),
        };
        Checkpoint::new(self.step, &kept, tensors)
    }

    /// Goes on from a checkpoint. Nothing looks at images any more, so the steps after it are free.
    pub fn restore(&mut self, checkpoint: &Checkpoint, adam: i32, device: &Device) -> Result<(), TrainError> {
        let length = self.network.parameters().dims()[0];
        let restored = (|| {
            let flat = |name: &str| {
                find_tensor(&checkpoint.tensors, name, [1, length])
                    .map(|values| vector(values.to_vec(), device))
            };
            self.network.set_parameters(flat("generator")?);
            self.averaged = flat("generator.averaged")?;
            self.adam
                .restore("generator.adam", &checkpoint.tensors, adam, device)
        })();
        restored.map_err(TrainError::other_checkpoint)?;
        self.step = checkpoint.step;
        Ok(())
    }

    /// The generator with its averaged weights.
    pub fn averaged_network(&self) -> ImageGeneratorNet {
        let mut network = self.network.clone();
        network.set_parameters(self.averaged.clone());
        network
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::some_images;
    use super::super::{ImageMethod, ImageSettings, ImageTraining};
    use super::*;
    use crate::model::DeviceKind;
    use crate::privacy::Neighboring;
    use crate::train::{Privacy, Synthesizer, Trained};

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
