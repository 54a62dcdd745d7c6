//! A generator that learns from a critic: noisy steps of the critic on private images, and a generator that sees the
//! critic alone.
//!
//! The generator's batch norm couples images of one pass to each other. Every pass runs on latents and classes alone, so
//! no image that enters the private sum depends on another example.

use burn::tensor::{Device, Tensor};
use rand::RngExt as _;

use super::ImagePlan;
use super::kept::Kept;
use super::shown::{Showing, ShownImages};
use super::watched::Watched;
use super::{ImageMethod, TrainImages};
use crate::model::image::ImageGeneratorNet;
use crate::model::{
    Adam, AdamSettings, ClippedSum, Critic, CriticBatch, NamedTensor, Side, find_tensor, matrix, read, vector,
};
use crate::num::RandomSource;
use crate::train::control::Control;
use crate::train::keep::{Checkpoint, Keeping, TakenUp};
use crate::train::ladder::{self, Ladder};
use crate::train::observe::{Observation, StepObservation};
use crate::train::privatize::{self, Account, RealGradient, Refusal, StepRule};
use crate::train::sampler::PoissonSampler;
use crate::train::training::{StopReason, TrainError, stopped};

/// A run reports about this many steps in all.
const REPORTS: u64 = 600;
/// Losses are looked at for NaN at least this often, in steps.
const LONGEST_SILENCE: u64 = 50;

/// Where a run's randomness comes from.
pub(super) struct Streams<'a> {
    /// Coins and noise: the promise rests on this stream.
    pub privacy: &'a mut RandomSource,
    /// Latents and whatever else is independent of the images.
    pub free: &'a mut RandomSource,
}

/// A generator and its critic.
pub(super) struct Gan<'a> {
    plan: &'a ImagePlan,
    examples: ShownImages,
    device: Device,
    rule: StepRule,
    critic: Critic,
    critic_adam: Adam,
    generator: ImageGeneratorNet,
    generator_adam: Adam,
    /// The running average of the generator's parameters. Shape `[parameters]`.
    averaged: Tensor<1>,
    ladder: Ladder,
    /// How often each class is drawn, as it was released: to be kept.
    shares: Vec<f64>,
    /// Critic steps since the generator's last.
    since: u64,
    /// Critic steps done.
    step: u64,
    generator_loss: Option<Tensor<1>>,
}

impl<'a> Gan<'a> {
    /// Begins with this generator.
    pub fn new(
        plan: &'a ImagePlan,
        images: TrainImages,
        (generator, shares): (ImageGeneratorNet, Vec<f64>),
        random: &mut RandomSource,
        device: Device,
    ) -> Self {
        let settings = plan.settings();
        let mut critic = Critic::new(plan.critic_shape(), random, &device);
        critic.set_parameters(critic.parameters().clone(), settings.weight_clamp);
        let critic_adam = AdamSettings {
            learning_rate: settings.critic_learning_rate,
            beta1: settings.critic_beta1,
            beta2: settings.critic_beta2,
        };
        let generator_adam = AdamSettings {
            learning_rate: settings.generator_learning_rate,
            beta1: settings.generator_beta1,
            beta2: settings.generator_beta2,
        };
        let rule = StepRule {
            sampler: PoissonSampler::new(images.len(), plan.sampling_rate().get()),
            rate: plan.sampling_rate(),
            clip_norm: settings.clip_norm,
            loss: plan.critic_loss(),
            micro_batch: settings.micro_batch as usize,
        };
        Self {
            examples: ShownImages {
                images,
                showing: Showing::of(plan),
            },
            critic_adam: Adam::new(critic_adam, critic.parameter_count(), &device),
            generator_adam: Adam::new(generator_adam, generator.parameters().dims()[0], &device),
            averaged: generator.parameters().clone(),
            ladder: Ladder::new(settings.critic_steps, settings.ladder_grace),
            shares,
            plan,
            device,
            rule,
            critic,
            generator,
            since: 0,
            step: 0,
            generator_loss: None,
        }
    }

    /// All steps done, those before the critic's included.
    pub const fn steps_done(&self) -> u64 {
        self.plan.embedding_steps() + self.step
    }

    /// The generator with its averaged weights.
    pub fn averaged_network(&self) -> ImageGeneratorNet {
        let mut network = self.generator.clone();
        network.set_parameters(self.averaged.clone());
        network
    }

    /// Trains to the planned end, or until stopped.
    ///
    /// # Errors
    /// When the networks' numbers stop being finite, or a step cannot be accounted.
    pub fn take_steps(
        &mut self,
        (control, watched, keeping): (&Control, &mut Watched, &mut Keeping),
        account: &mut Account,
        mut streams: Streams<'_>,
        observe: &mut dyn FnMut(Observation),
    ) -> Result<StopReason, TrainError> {
        let steps = self.plan.steps();
        let report_every = steps.div_ceil(REPORTS).clamp(1, LONGEST_SILENCE);
        while self.steps_done() < steps {
            if !control.may_go_on() {
                return stopped((control, keeping), account, self.steps_done(), || {
                    self.checkpoint()
                });
            }
            if account.is_private() {
                keeping
                    .before_look(self.steps_done(), steps)
                    .map_err(|error| TrainError::keep(error, account))?;
            }
            let (real, fake) = match self.critic_step(account, &mut streams) {
                Ok(seen) => seen,
                Err(Refusal::OverBudget { .. }) => return Ok(StopReason::BudgetReached),
                Err(source) => {
                    return Err(TrainError::Refused {
                        source,
                        executed: account.executed(),
                    });
                }
            };
            self.step += 1;
            self.since += 1;
            if self.plan.settings().ladder
                && let Some(accuracy) = ladder::accuracy(self.rule.loss, &fake)
            {
                self.ladder.critic_seen(accuracy);
            }
            if self.since >= self.ladder.turn() {
                self.since = 0;
                self.generator_step(streams.free);
                if self.plan.settings().ladder && ladder::knows_sides(self.rule.loss) {
                    self.ladder.generator_stepped();
                }
            }
            keeping.keep_if_due(|| self.checkpoint());
            let done = self.steps_done();
            if done.is_multiple_of(report_every) || done == steps {
                if !self.is_finite() {
                    return Err(TrainError::NotFinite {
                        step: done,
                        executed: account.executed(),
                    });
                }
                observe(Observation::Step(self.report(account, &real, &fake)));
            }
            watched.show(done, || self.averaged_network(), observe);
        }
        Ok(StopReason::Planned)
    }

    /// Everything that the run needs to go on: released, or worked out of what was.
    pub fn checkpoint(&self) -> Checkpoint {
        let mut tensors = vec![
            NamedTensor::flat("critic", self.critic.parameters()),
            NamedTensor::flat("generator", self.generator.parameters()),
            NamedTensor::flat("generator.averaged", &self.averaged),
        ];
        tensors.extend(self.critic_adam.tensors("critic.adam"));
        tensors.extend(self.generator_adam.tensors("generator.adam"));
        let kept = Kept::Critic {
            shares: self.shares.clone(),
            critic: self.critic_adam.steps(),
            generator: self.generator_adam.steps(),
            ladder: self.ladder.clone(),
            since: self.since,
        };
        Checkpoint::new(self.steps_done(), &kept, tensors)
    }

    /// Goes on from a checkpoint: the networks as they were, the position behind all steps that may have been done.
    ///
    /// # Errors
    /// When it is one of another plan.
    pub fn restore(&mut self, taken: &TakenUp) -> Result<(), TrainError> {
        let Kept::Critic {
            critic,
            generator,
            ladder,
            since,
            ..
        } = Kept::of(taken)?
        else {
            let words = "it is from before the critic's first step";
            return Err(TrainError::OtherCheckpoint(words.to_owned()));
        };
        let (tensors, device) = (&taken.checkpoint.tensors, self.device.clone());
        let restored = (|| {
            let flat = |name: &str, length: usize| {
                find_tensor(tensors, name, [1, length]).map(|values| vector(values.to_vec(), &device))
            };
            let weights = flat("critic", self.critic.parameter_count())?;
            self.critic
                .set_parameters(weights, self.plan.settings().weight_clamp);
            let length = self.generator.parameters().dims()[0];
            self.generator.set_parameters(flat("generator", length)?);
            self.averaged = flat("generator.averaged", length)?;
            self.critic_adam
                .restore("critic.adam", tensors, critic, &device)?;
            self.generator_adam
                .restore("generator.adam", tensors, generator, &device)
        })();
        restored.map_err(TrainError::other_checkpoint)?;
        (self.ladder, self.since) = (ladder, since);
        self.skip(taken.charged.max(taken.checkpoint.step));
        Ok(())
    }

    /// Leaves out the steps up to this one, counted with those before the critic's: an earlier life of the run may have
    /// done them.
    pub fn skip(&mut self, charged: u64) {
        let done = charged.min(self.plan.steps());
        self.step = done.saturating_sub(self.plan.embedding_steps());
    }

    /// Equally many images of each class, in turn.
    fn classes(&self, count: usize) -> Vec<usize> {
        let classes = self.plan.shape().classes;
        (0..count).map(|image| image % classes).collect()
    }

    /// One noisy step of the critic. What it returns of real images is for the steward's report only.
    fn critic_step(
        &mut self,
        account: &mut Account,
        streams: &mut Streams<'_>,
    ) -> Result<(RealGradient, ClippedSum), Refusal> {
        let noise = self.plan.noise_multiplier(self.step);
        let settings = self.plan.settings();
        let count = settings.fake_batch as usize;
        let classes = self.classes(count);
        // The fakes' number is fixed and their pass holds no private image, so they need no noise of their own, and a
        // second core can draw them meanwhile.
        let (generator, free, showing) = (&self.generator, &mut *streams.free, self.examples.showing);
        let draw = move || fakes(generator, showing, &classes, free);
        let (real, rows) = std::thread::scope(|scope| {
            let drawn = scope.spawn(draw);
            let real = privatize::critic_gradient(
                account,
                &self.critic,
                &self.examples,
                &self.rule,
                noise,
                streams.privacy,
                &self.device,
            );
            let rows = drawn
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (real, rows)
        });
        let real = real?;
        let clip = noise.map(|_| settings.clip_norm);
        let fake = self
            .critic
            .clipped_gradient_sum(rows, self.rule.loss, Side::Fake, clip);
        let mut gradient = real.sum.clone().div_scalar(self.plan.expected_batch() as f64)
            + fake.sum.clone().div_scalar(count as f64);
        if self.plan.method() == ImageMethod::GanWithPenalty
            && let Some(penalty) = self.penalty(account, streams)
        {
            gradient = gradient + penalty;
        }
        let parameters = self.critic_adam.step(self.critic.parameters().clone(), gradient);
        self.critic.set_parameters(parameters, settings.weight_clamp);
        Ok((real, fake))
    }

    /// The gradient of the penalty's mean, between real images and generated ones of the same classes. Only without a
    /// promise; `None` too when no image was drawn.
    fn penalty(&self, account: &Account, streams: &mut Streams<'_>) -> Option<Tensor<1>> {
        let real =
            privatize::unprotected_batch(account, &self.examples, &self.rule, streams.privacy, &self.device)?;
        let showing = self.examples.showing;
        let classes = showing.classes_of(&real);
        let fake = fakes(&self.generator, showing, &classes, streams.free);
        let count = classes.len();
        let places = (0..count).map(|_| streams.free.random::<f32>()).collect();
        let places = matrix(places, count, 1, &self.device);
        let rows = fake.rows.clone() + (real.rows - fake.rows) * places;
        let between = CriticBatch {
            rows,
            labels: real.labels,
        };
        let (sum, _) = self
            .critic
            .penalty_gradient_sum(between, self.plan.shape().pixels());
        Some(sum.mul_scalar(self.plan.settings().penalty / count as f64))
    }

    /// One step of the generator: it sees the critic, never an image.
    fn generator_step(&mut self, random: &mut RandomSource) {
        let settings = self.plan.settings();
        let count = settings.generator_batch as usize;
        let classes = self.classes(count);
        let pass = self.generator.training_pass(&classes, random);
        let shape = pass.images.dims();
        let pixels = self.plan.shape().pixels();
        let rows = pass.images.clone().reshape([count, pixels]);
        let batch = self.examples.showing.batch(rows, classes.into_iter());
        let loss = self.rule.loss;
        let (at_rows, scores) = self.critic.row_gradient(batch, |scores| {
            loss.generator_slopes(scores).div_scalar(count as f64)
        });
        let at_images = at_rows.narrow(1, 0, pixels).reshape(shape);
        let gradient = self.generator.backward(pass, at_images);
        let parameters = self
            .generator_adam
            .step(self.generator.parameters().clone(), gradient);
        let keep = settings.averaging;
        self.averaged = self.averaged.clone().mul_scalar(keep) + parameters.clone().mul_scalar(1.0 - keep);
        self.generator.set_parameters(parameters);
        self.generator_loss = Some(loss.generator_value(scores));
    }

    /// Whether all weights are numbers.
    fn is_finite(&self) -> bool {
        let sum = self.critic.parameters().clone().sum() + self.generator.parameters().clone().sum();
        read(sum)[0].is_finite()
    }

    fn report(&self, account: &Account, real: &RealGradient, fake: &ClippedSum) -> StepObservation {
        StepObservation {
            step: self.steps_done(),
            steps: self.plan.steps(),
            epsilon: account.epsilon(),
            generator_loss: self
                .generator_loss
                .as_ref()
                .map(|loss| f64::from(read(loss.clone())[0])),
            critic_accuracy: ladder::accuracy(self.rule.loss, fake),
            ..StepObservation::of_critic(real, fake, self.rule.clip_norm)
        }
    }
}

/// Generated images as a critic is shown them.
fn fakes(
    generator: &ImageGeneratorNet,
    showing: Showing,
    classes: &[usize],
    random: &mut RandomSource,
) -> CriticBatch {
    let pixels = generator.shape().pixels();
    let images = generator.generate(classes, random);
    showing.batch(images.reshape([classes.len(), pixels]), classes.iter().copied())
}

#[cfg(test)]
mod tests;
