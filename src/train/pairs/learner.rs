//! The generator while it learns what was released: steps, checkpoints, the averaged weights.

use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::PairPlan;
use super::released::{ReleaseLoss, Released};
use crate::data::{FineWeights, RowEncoder};
use crate::model::{Adam, AdamSettings, Generator, GeneratorShape, NamedTensor, find_tensor, read, vector};
use crate::num::RandomSource;
use crate::train::control::Control;
use crate::train::fidelity::FidelityThread;
use crate::train::keep::{Checkpoint, Keeping};
use crate::train::observe::{Observation, StepObservation};
use crate::train::privatize::Account;
use crate::train::synthesizer::TableGenerator;
use crate::train::training::{StopReason, TrainError, stopped};

/// A run reports about this many steps in all.
const REPORTS: u64 = 250;
/// Parts of a batch, each worked on by a core of its own.
const PARTS: usize = 2;
/// Smaller batches are not split.
const LEAST_SPLIT: u64 = 128;

/// What is kept of a run that is not a tensor.
#[derive(Serialize, Deserialize)]
pub(super) struct Kept {
    steps: i32,
    pub fine: Option<FineWeights>,
}

/// A generator on its way to what was released. It holds nothing private.
pub(super) struct Learner {
    generator: Generator,
    adam: Adam,
    /// The running average of the generator's parameters. Shape `[parameters]`.
    averaged: Tensor<1>,
    loss: ReleaseLoss,
    encoder: RowEncoder,
    fine: Option<FineWeights>,
    /// The latents' randomness, one for each part of a batch.
    randoms: Vec<RandomSource>,
    pub step: u64,
}

impl Learner {
    pub fn new(
        plan: &PairPlan,
        released: &Released,
        (encoder, fine): (RowEncoder, Option<FineWeights>),
        device: &Device,
        random: &mut RandomSource,
    ) -> Self {
        let (settings, layout) = (plan.settings(), plan.layout());
        let shape = GeneratorShape {
            latent: settings.latent as usize,
            hidden: settings.generator_hidden.clone(),
            batch_norm: settings.batch_norm,
            heads: layout.heads().clone(),
        };
        let mut generator = Generator::new(shape, random, device);
        generator.set_output_shares(&released.column_shares(layout));
        // The same number on every machine, so that a fixed seed repeats on all of them.
        let parts = if settings.generator_batch >= LEAST_SPLIT {
            PARTS
        } else {
            1
        };
        let adam = AdamSettings {
            learning_rate: settings.generator_learning_rate,
            beta1: settings.generator_beta1,
            beta2: settings.generator_beta2,
        };
        Self {
            adam: Adam::new(adam, generator.parameters().dims()[0], device),
            averaged: generator.parameters().clone(),
            loss: released.loss(plan, device),
            generator,
            encoder,
            fine,
            randoms: (0..parts).map(|_| random.fork()).collect(),
            step: 0,
        }
    }

    pub fn take_steps(
        &mut self,
        plan: &PairPlan,
        (control, account, keeping): (&Control, &Account, &mut Keeping),
        fidelity: &mut Option<FidelityThread>,
        random: &mut RandomSource,
        observe: &mut dyn FnMut(Observation),
    ) -> Result<StopReason, TrainError> {
        let (settings, steps) = (plan.settings(), plan.steps());
        let report_every = steps.div_ceil(REPORTS);
        while self.step < steps {
            if !control.may_go_on() {
                return stopped((control, keeping), account, self.step, || self.checkpoint());
            }
            let left = 1.0 - self.step as f64 / steps as f64;
            self.adam
                .set_learning_rate(settings.generator_learning_rate * left);
            let batch = settings.generator_batch as usize;
            let randoms = &mut self.randoms;
            let (loss, gradient) = self.loss.slope(&self.generator, randoms, batch, self.step);
            let parameters = self.adam.step(self.generator.parameters().clone(), gradient);
            let keep = settings.averaging;
            self.averaged =
                self.averaged.clone().mul_scalar(keep) + parameters.clone().mul_scalar(1.0 - keep);
            self.generator.set_parameters(parameters);
            self.step += 1;
            keeping.keep_if_due(|| self.checkpoint());
            if self.step.is_multiple_of(report_every) || self.step == steps {
                let loss = f64::from(read(loss)[0]);
                let weights = read(self.averaged.clone().sum())[0];
                if !(loss.is_finite() && weights.is_finite()) {
                    return Err(TrainError::NotFinite {
                        step: self.step,
                        executed: account.executed(),
                    });
                }
                observe(Observation::Step(StepObservation {
                    epsilon: account.epsilon(),
                    generator_loss: Some(loss),
                    ..StepObservation::without_critic(self.step, steps)
                }));
                if let Some(fidelity) = fidelity {
                    let generator = || self.generator_so_far(None);
                    let is_last = self.step == steps;
                    fidelity
                        .compare((self.step, is_last), generator, random, observe)
                        .map_err(|source| TrainError::Sample {
                            source,
                            executed: account.executed(),
                        })?;
                }
            }
        }
        Ok(StopReason::Planned)
    }

    /// Everything that the run needs to go on: released, or worked out of what was.
    pub fn checkpoint(&self) -> Checkpoint {
        let mut tensors = vec![
            NamedTensor::flat("generator", self.generator.parameters()),
            NamedTensor::flat("generator.averaged", &self.averaged),
        ];
        tensors.extend(self.loss.tensors());
        tensors.extend(self.adam.tensors("generator.adam"));
        let kept = Kept {
            steps: self.adam.steps(),
            fine: self.fine.clone(),
        };
        Checkpoint::new(self.step, &kept, tensors)
    }

    /// Goes on from a checkpoint. Nothing looks at rows any more, so the steps after it are free.
    pub fn restore(&mut self, checkpoint: &Checkpoint, device: &Device) -> Result<(), TrainError> {
        let kept: Kept = checkpoint.state().map_err(TrainError::OtherCheckpoint)?;
        let length = self.generator.parameters().dims()[0];
        let restored = (|| {
            let flat = |name: &str| {
                find_tensor(&checkpoint.tensors, name, [1, length])
                    .map(|values| vector(values.to_vec(), device))
            };
            self.generator.set_parameters(flat("generator")?);
            self.averaged = flat("generator.averaged")?;
            self.adam
                .restore("generator.adam", &checkpoint.tensors, kept.steps, device)
        })();
        restored.map_err(TrainError::other_checkpoint)?;
        self.step = checkpoint.step;
        Ok(())
    }

    /// The generator with its averaged weights, as it would be if the run ended now; frozen if there is randomness to
    /// freeze it with.
    pub fn generator_so_far(&self, freeze: Option<&mut RandomSource>) -> TableGenerator {
        let mut generator = self.generator.clone();
        generator.set_parameters(self.averaged.clone());
        if let Some(random) = freeze {
            generator = generator.freeze(random);
        }
        TableGenerator::new(generator, self.encoder.clone(), self.fine.clone())
    }
}
