//! The loop: noisy critic steps, and a generator that learns from the critic alone.

mod end;
mod kept;

use std::sync::Arc;

use burn::tensor::{Device, Tensor};

pub use end::{StopReason, TrainError};
pub(in crate::train) use kept::stopped;

use super::control::Control;
use super::fidelity::{FidelityThread, bars_of};
use super::image::ImageGenerator;
use super::keep::{Keeping, Life};
use super::ladder::{self, Ladder};
use super::observe::{Observation, StepObservation};
use super::plan::Plan;
use super::privatize::{self, Account, RealGradient, Refusal, StepRule};
use super::sampler::PoissonSampler;
use super::synthesizer::{SampleError, TableGenerator};
use super::targets::{MarginalLoss, Marginals, fine_weights};
use crate::data::{FineWeights, RowEncoder, StoredRows};
use crate::model::{
    Adam, AdamSettings, ClippedSum, Critic, CriticInput, CriticShape, DeviceKind, Generator, GeneratorShape,
    Side, matrix, read,
};
use crate::num::{RandomOrigin, RandomSource};
use crate::privacy::EventList;

/// A run reports about this many steps in all.
const REPORTS: u64 = 600;
/// Losses are looked at for NaN at least this often, in steps.
const LONGEST_SILENCE: u64 = 50;
/// Rows whose gradients are taken at a time: a batch of more is summed in parts.
const MICRO_BATCH: usize = 4096;

/// A run that is ready to start.
pub struct Training {
    plan: Plan,
    encoder: RowEncoder,
    rows: Arc<StoredRows>,
    device: Device,
    random: RandomSource,
    life: Life,
}

/// What a run ends with: it draws as much as is wanted, at no further cost.
#[derive(Clone, Debug)]
pub enum Synthesizer {
    /// Rows of a table.
    Table(Box<TableGenerator>),
    /// Images.
    Images(Box<ImageGenerator>),
}

impl Synthesizer {
    /// The generator of rows, if it is one.
    pub fn table(&self) -> Option<&TableGenerator> {
        match self {
            Self::Table(generator) => Some(generator.as_ref()),
            Self::Images(_) => None,
        }
    }
}

/// A run that has ended with a generator.
#[derive(Debug)]
pub struct Trained {
    /// The generator.
    pub generator: Synthesizer,
    /// Every look at private rows, as it happened.
    pub executed: EventList,
    /// ε of what was executed; `None` without a promise.
    pub epsilon: Option<f64>,
    /// Critic steps done.
    pub steps_done: u64,
    /// Why it ended.
    pub stopped: StopReason,
    /// Where its noise came from.
    pub random: RandomOrigin,
}

impl Training {
    /// Puts a run together.
    ///
    /// # Errors
    /// When the device cannot be used, or rows and plan do not belong together.
    pub fn new(
        plan: Plan,
        encoder: RowEncoder,
        rows: impl Into<StoredRows>,
        device: DeviceKind,
        random: RandomSource,
    ) -> Result<Self, TrainError> {
        let rows = rows.into();
        let (planned, width) = (plan.units(), plan.layout().width());
        if rows.units() != planned || rows.width() != width || encoder.width() != width {
            let (found, found_width) = (rows.units(), rows.width());
            return Err(TrainError::OtherRows {
                planned,
                width,
                found,
                found_width,
            });
        }
        Ok(Self {
            plan,
            encoder,
            rows: Arc::new(rows),
            device: device.open()?,
            random,
            life: Life::unkept(),
        })
    }

    /// Keeps the run where a crash cannot reach it, and goes on from where an earlier life of it was cut short.
    #[must_use]
    pub fn kept(self, life: Life) -> Self {
        Self { life, ..self }
    }

    /// Trains to the planned end, or until stopped. Blocks the calling thread, which owns the tensors;
    /// `observe` is called on it now and then and should return at once.
    ///
    /// # Errors
    /// When the networks' numbers stop being finite, or the account refuses the plan's own releases.
    pub fn run(
        mut self,
        control: &Control,
        observe: &mut dyn FnMut(Observation),
    ) -> Result<Trained, TrainError> {
        let mut account = Account::open(&self.plan);
        let mut keeping = std::mem::replace(&mut self.life.keeping, Keeping::none());
        let mut state = State::start(self, &mut account)?;
        // Behind every release and before the first step, so that none is ever made twice.
        keeping.keep(|| state.checkpoint());
        let stopped = state.take_steps((control, &mut keeping), &mut account, observe)?;
        if !state.is_finite() {
            return Err(TrainError::NotFinite {
                step: state.step,
                executed: account.executed(),
            });
        }
        if let Some(last) = state.fidelity.take().and_then(FidelityThread::finish) {
            observe(Observation::Fidelity(last));
        }
        Ok(Trained {
            executed: account.executed(),
            epsilon: account.epsilon(),
            steps_done: state.step,
            stopped,
            random: state.privacy_random.origin(),
            generator: Synthesizer::Table(Box::new(state.last_generator())),
        })
    }
}

/// What changes from step to step.
struct State {
    plan: Plan,
    encoder: RowEncoder,
    rows: Arc<StoredRows>,
    device: Device,
    /// Coins and noise: the promise rests on this stream.
    privacy_random: RandomSource,
    /// Latents and categories of generated rows: independent of the data, so nothing rests on it.
    free_random: RandomSource,
    /// Rows that are compared and shown. When that happens is a matter of time, so it has a stream of its own: a fixed
    /// seed repeats the run.
    shown_random: RandomSource,
    rule: StepRule,
    critic: Critic,
    critic_adam: Adam,
    generator: Generator,
    generator_adam: Adam,
    /// The running average of the generator's parameters. Shape `[parameters]`.
    averaged: Tensor<1>,
    marginals: Option<MarginalLoss>,
    fine: Option<FineWeights>,
    fidelity: Option<FidelityThread>,
    step: u64,
    /// How long the critic's turn is, and how many steps of it are done.
    ladder: Ladder,
    since: u64,
    generator_loss: Option<Tensor<1>>,
}

impl State {
    /// Buys marginals and fine histograms, or takes up what an earlier life of the run bought, and builds the networks.
    fn start(training: Training, account: &mut Account) -> Result<Self, TrainError> {
        let Training {
            plan,
            encoder,
            rows,
            device,
            mut random,
            life: Life { taken, .. },
        } = training;
        let mut privacy_random = random.fork();
        let mut free_random = random.fork();
        let shown_random = random.fork();
        let settings = plan.settings();
        let layout = plan.layout();
        let (marginals, fine) = match &taken {
            None => {
                buy(&plan, &rows, account, &mut privacy_random).map_err(|source| TrainError::Refused {
                    source,
                    executed: account.executed(),
                })?
            }
            Some(taken) => {
                account.taken_up(&plan.events_until(taken.charged))?;
                kept::bought(&plan, taken)?
            }
        };
        let critic_shape = CriticShape {
            input: CriticInput::Row(layout.width()),
            hidden: settings.critic_hidden.clone(),
            scores: 1,
            negative_slope: 0.2,
        };
        let mut critic = Critic::new(critic_shape, &mut free_random, &device);
        critic.set_parameters(critic.parameters().clone(), settings.weight_clamp);
        let generator_shape = GeneratorShape {
            latent: settings.latent as usize,
            hidden: settings.generator_hidden.clone(),
            batch_norm: settings.batch_norm,
            heads: layout.heads().clone(),
        };
        let mut generator = Generator::new(generator_shape, &mut free_random, &device);
        if let Some(marginals) = &marginals {
            generator.set_output_shares(&marginals.column_shares(layout));
        }
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
            sampler: PoissonSampler::new(rows.units(), plan.sampling_rate().get()),
            rate: plan.sampling_rate(),
            clip_norm: settings.clip_norm,
            loss: settings.critic_loss,
            micro_batch: MICRO_BATCH,
        };
        let fidelity =
            FidelityThread::start(Arc::clone(&rows), bars_of(&encoder)).map_err(TrainError::Thread)?;
        let mut state = Self {
            critic_adam: Adam::new(critic_adam, critic.parameter_count(), &device),
            generator_adam: Adam::new(generator_adam, generator.parameters().dims()[0], &device),
            averaged: generator.parameters().clone(),
            marginals: marginals
                .map(|marginals| MarginalLoss::new(&marginals, layout, settings.marginal_weight, &device)),
            fine,
            fidelity: Some(fidelity),
            rule,
            critic,
            generator,
            ladder: Ladder::new(settings.critic_steps, settings.ladder_grace),
            since: 0,
            plan,
            encoder,
            rows,
            device,
            privacy_random,
            free_random,
            shown_random,
            step: 0,
            generator_loss: None,
        };
        if let Some(taken) = &taken {
            state.restore(taken)?;
        }
        Ok(state)
    }

    fn take_steps(
        &mut self,
        (control, keeping): (&Control, &mut Keeping),
        account: &mut Account,
        observe: &mut dyn FnMut(Observation),
    ) -> Result<StopReason, TrainError> {
        let steps = self.plan.steps();
        let report_every = steps.div_ceil(REPORTS).clamp(1, LONGEST_SILENCE);
        while self.step < steps {
            if !control.may_go_on() {
                return stopped((control, keeping), account, self.step, || self.checkpoint());
            }
            if self.plan.is_private() {
                keeping
                    .before_look(self.step, steps)
                    .map_err(|error| TrainError::keep(error, account))?;
            }
            let (real, fake) = match self.critic_step(account) {
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
            self.take_turn(&fake);
            keeping.keep_if_due(|| self.checkpoint());
            if self.step.is_multiple_of(report_every) || self.step == steps {
                if !self.is_finite() {
                    return Err(TrainError::NotFinite {
                        step: self.step,
                        executed: account.executed(),
                    });
                }
                observe(Observation::Step(self.report(account, &real, &fake)));
                self.compare(observe).map_err(|source| TrainError::Sample {
                    source,
                    executed: account.executed(),
                })?;
            }
        }
        Ok(StopReason::Planned)
    }

    /// Lets the generator step when the critic's turn is over, and makes the turn longer when it is time for that.
    fn take_turn(&mut self, fake: &ClippedSum) {
        let climbs = self.plan.settings().ladder;
        if climbs && let Some(accuracy) = ladder::accuracy(self.rule.loss, fake) {
            self.ladder.critic_seen(accuracy);
        }
        self.since += 1;
        if self.since >= self.ladder.turn() {
            self.since = 0;
            self.generator_step();
            if climbs && ladder::knows_sides(self.rule.loss) {
                self.ladder.generator_stepped();
            }
        }
    }

    /// One noisy step of the critic. What it returns is for the steward's report only.
    fn critic_step(&mut self, account: &mut Account) -> Result<(RealGradient, ClippedSum), Refusal> {
        let noise = self.plan.noise_multiplier(self.step);
        let settings = self.plan.settings();
        // The fakes' number is fixed and their pass holds no private row, so they need no noise of their own, and
        // a second core can draw them meanwhile.
        let count = settings.fake_batch as usize;
        let (generator, free_random, device) = (&self.generator, &mut self.free_random, &self.device);
        let draw = move || {
            let samples = generator.sample(count, free_random);
            let heads = generator.heads();
            matrix(heads.dense(&samples), count, heads.width(), device)
        };
        let (real, rows) = std::thread::scope(|scope| {
            let fakes = scope.spawn(draw);
            let real = privatize::critic_gradient(
                account,
                &self.critic,
                self.rows.as_ref(),
                &self.rule,
                noise,
                &mut self.privacy_random,
                &self.device,
            );
            let rows = fakes
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (real, rows)
        });
        let real = real?;
        let clip = noise.map(|_| settings.clip_norm);
        let fake = self
            .critic
            .clipped_gradient_sum(rows, settings.critic_loss, Side::Fake, clip);
        let gradient = real.sum.clone().div_scalar(self.plan.expected_batch() as f64)
            + fake.sum.clone().div_scalar(count as f64);
        let parameters = self.critic_adam.step(self.critic.parameters().clone(), gradient);
        self.critic.set_parameters(parameters, settings.weight_clamp);
        Ok((real, fake))
    }

    /// One step of the generator: it sees the critic and what was bought, never a row.
    fn generator_step(&mut self) {
        let settings = self.plan.settings();
        let count = settings.generator_batch as usize;
        let pass = self
            .generator
            .training_pass(count, settings.temperature, &mut self.free_random);
        let loss = settings.critic_loss;
        // Through the critic by hand: autodiff then only has to know the generator.
        let (at_rows, scores) = self.critic.row_gradient(pass.rows().inner(), |scores| {
            loss.generator_slopes(scores).div_scalar(count as f64)
        });
        let value = loss.generator_value(scores);
        let mut objective = (pass.rows() * at_rows.autodiff()).sum();
        let mut shown = value;
        if let Some(marginals) = &self.marginals {
            let distance = marginals.value(pass.probabilities());
            shown = shown + distance.clone().inner();
            objective = objective + distance;
        }
        let gradient = pass.gradient(&objective);
        let parameters = self
            .generator_adam
            .step(self.generator.parameters().clone(), gradient);
        let keep = settings.averaging;
        self.averaged = self.averaged.clone().mul_scalar(keep) + parameters.clone().mul_scalar(1.0 - keep);
        self.generator.set_parameters(parameters);
        self.generator_loss = Some(shown);
    }

    /// Whether all weights are numbers.
    fn is_finite(&self) -> bool {
        let sum = self.critic.parameters().clone().sum() + self.generator.parameters().clone().sum();
        read(sum)[0].is_finite()
    }

    fn report(&self, account: &Account, real: &RealGradient, fake: &ClippedSum) -> StepObservation {
        StepObservation {
            step: self.step,
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

    fn compare(&mut self, observe: &mut dyn FnMut(Observation)) -> Result<(), SampleError> {
        let Some(mut fidelity) = self.fidelity.take() else {
            return Ok(());
        };
        let at = (self.step, self.step == self.plan.steps());
        let (generator, averaged) = (&self.generator, &self.averaged);
        let (encoder, fine) = (&self.encoder, &self.fine);
        let so_far = || {
            let mut generator = generator.clone();
            generator.set_parameters(averaged.clone());
            TableGenerator::new(generator, encoder.clone(), fine.clone())
        };
        let compared = fidelity.compare(at, so_far, &mut self.shown_random, observe);
        self.fidelity = Some(fidelity);
        compared
    }

    /// The generator with its averaged weights, frozen.
    fn last_generator(&mut self) -> TableGenerator {
        let mut generator = self.generator.clone();
        generator.set_parameters(self.averaged.clone());
        let generator = generator.freeze(&mut self.free_random);
        TableGenerator::new(generator, self.encoder.clone(), self.fine.clone())
    }
}

/// What is bought before the first step: marginals and weights of fine cells, as far as the settings ask.
fn buy(
    plan: &Plan,
    rows: &StoredRows,
    account: &mut Account,
    random: &mut RandomSource,
) -> Result<(Option<Marginals>, Option<FineWeights>), Refusal> {
    let (settings, layout, protection) = (plan.settings(), plan.layout(), plan.protection());
    let mut marginals = None;
    if settings.marginals && layout.feature_count() > 0 {
        let noise = protection.and_then(|protection| protection.marginals);
        let counts = privatize::marginals(account, rows, layout, noise, random)?;
        marginals = Some(Marginals::from_counts(&counts, layout));
    }
    let mut fine = None;
    if settings.fine_decode && !layout.fine().is_empty() {
        let noise = protection.and_then(|protection| protection.fine);
        let counts = privatize::fine_histograms(account, rows, layout, noise, random)?;
        fine = Some(FineWeights {
            columns: fine_weights(&counts),
        });
    }
    Ok((marginals, fine))
}

#[cfg(test)]
mod tests;
