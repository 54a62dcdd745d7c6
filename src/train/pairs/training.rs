//! The loop: after two releases nothing private is left to see, so steps and the moment of stopping are free, and
//! batch norm couples generated rows only.

use std::sync::Arc;

use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::PairPlan;
use super::loss::{PairDistance, PairLoss, PairMeans, PairShares};
use crate::data::{FineWeights, RowEncoder, StoredRows};
use crate::model::{
    Adam, AdamSettings, DeviceKind, Generator, GeneratorShape, NamedTensor, find_tensor, read, vector,
};
use crate::num::RandomSource;
use crate::train::control::Control;
use crate::train::fidelity::{FidelityThread, bars_of};
use crate::train::keep::{Checkpoint, Keeping, TakenUp};
use crate::train::observe::{Observation, StepObservation};
use crate::train::privatize::{self, Account, Refusal};
use crate::train::synthesizer::TableGenerator;
use crate::train::targets::fine_weights;
use crate::train::training::{StopReason, Synthesizer, TrainError, Trained, stopped};

/// A run reports about this many steps in all.
const REPORTS: u64 = 250;
/// Parts of a batch, each worked on by a core of its own.
const PARTS: usize = 2;
/// Smaller batches are not split.
const LEAST_SPLIT: u64 = 128;

/// A run by pairs that is ready to start.
pub struct PairTraining {
    plan: PairPlan,
    encoder: RowEncoder,
    rows: Arc<StoredRows>,
    device: Device,
    random: RandomSource,
    keeping: Keeping,
    taken: Option<TakenUp>,
}

/// What is kept of a run that is not a tensor.
#[derive(Serialize, Deserialize)]
struct Kept {
    steps: i32,
    fine: Option<FineWeights>,
}

impl PairTraining {
    /// Puts a run together.
    ///
    /// # Errors
    /// When the device cannot be used, or rows and plan do not belong together.
    pub fn new(
        plan: PairPlan,
        encoder: RowEncoder,
        rows: impl Into<StoredRows>,
        device: DeviceKind,
        random: RandomSource,
    ) -> Result<Self, TrainError> {
        let rows = rows.into();
        let (planned, width) = (plan.units(), plan.layout().width());
        if rows.units() != planned || rows.width() != width || encoder.width() != width {
            return Err(TrainError::OtherRows {
                planned,
                width,
                found: rows.units(),
                found_width: rows.width(),
            });
        }
        Ok(Self {
            plan,
            encoder,
            rows: Arc::new(rows),
            device: device.open()?,
            random,
            keeping: Keeping::none(),
            taken: None,
        })
    }

    /// Keeps the run where a crash cannot reach it, and goes on from where an earlier life of it was cut short.
    #[must_use]
    pub fn kept(self, keeping: Keeping, taken: Option<TakenUp>) -> Self {
        Self {
            keeping,
            taken,
            ..self
        }
    }

    /// Trains to the planned end, or until stopped. Blocks the calling thread, which owns the tensors; `observe` is
    /// called on it now and then and should return at once.
    ///
    /// # Errors
    /// When the network's numbers stop being finite, or the account refuses the plan's own releases.
    pub fn run(self, control: &Control, observe: &mut dyn FnMut(Observation)) -> Result<Trained, TrainError> {
        let Self {
            plan,
            encoder,
            rows,
            device,
            mut random,
            mut keeping,
            taken,
        } = self;
        let budget = plan.protection().map(|protection| protection.budget);
        let mut account = Account::of(budget, PairPlan::ACCOUNTANT);
        // Noise rests on its own stream; latents and weights are independent of the rows.
        let mut privacy_random = random.fork();
        let mut free_random = random.fork();
        let (shares, fine) = match &taken {
            None => buy(&plan, &rows, &mut account, &mut privacy_random).map_err(|source| {
                TrainError::Refused {
                    source,
                    executed: account.executed(),
                }
            })?,
            Some(taken) => {
                account.taken_up(&plan.events())?;
                bought(&plan, &taken.checkpoint)?
            }
        };
        let fidelity =
            FidelityThread::start(Arc::clone(&rows), bars_of(&encoder)).map_err(TrainError::Thread)?;
        let mut learner = Learner::new(&plan, &shares, (encoder, fine), &device, &mut free_random);
        if let Some(taken) = &taken {
            learner.restore(&taken.checkpoint, &device)?;
        }
        // Behind both releases and before the first step, so that neither is ever made twice.
        keeping.keep(|| learner.checkpoint());
        let mut fidelity = Some(fidelity);
        let stopped = learner.take_steps(
            &plan,
            (control, &account, &mut keeping),
            &mut fidelity,
            // When rows are compared is a matter of time, so that has a stream of its own: a fixed seed repeats the run.
            &mut random.fork(),
            observe,
        )?;
        if let Some(last) = fidelity.and_then(FidelityThread::finish) {
            observe(Observation::Fidelity(last));
        }
        Ok(Trained {
            executed: account.executed(),
            epsilon: account.epsilon(),
            steps_done: learner.step,
            stopped,
            random: privacy_random.origin(),
            generator: Synthesizer::Table(Box::new(learner.generator_so_far(Some(&mut free_random)))),
        })
    }
}

/// The two looks at the rows.
fn buy(
    plan: &PairPlan,
    rows: &StoredRows,
    account: &mut Account,
    random: &mut RandomSource,
) -> Result<(PairShares, Option<FineWeights>), Refusal> {
    let (layout, protection) = (plan.layout(), plan.protection());
    let noise = protection.map(|protection| protection.pairs);
    let counts = privatize::pairs(account, rows, layout, noise, random)?;
    let shares = PairShares::from_counts(&counts, layout);
    let mut fine = None;
    if plan.settings().fine_decode && !layout.fine().is_empty() {
        let noise = protection.and_then(|protection| protection.fine);
        let counts = privatize::fine_histograms(account, rows, layout, noise, random)?;
        fine = Some(FineWeights {
            columns: fine_weights(&counts),
        });
    }
    Ok((shares, fine))
}

/// The same, as a checkpoint holds it.
fn bought(plan: &PairPlan, checkpoint: &Checkpoint) -> Result<(PairShares, Option<FineWeights>), TrainError> {
    let layout = plan.layout();
    let kept: Kept = checkpoint.state().map_err(TrainError::OtherCheckpoint)?;
    let shares = PairShares::restored(&checkpoint.tensors, layout).map_err(TrainError::other_checkpoint)?;
    let cells: Vec<usize> = layout.fine().iter().map(|column| column.cells).collect();
    let is_wanted = plan.settings().fine_decode && !cells.is_empty();
    if kept.fine.as_ref().map(FineWeights::cells) != is_wanted.then_some(cells) {
        let words = "its weights of fine cells are of another schema";
        return Err(TrainError::OtherCheckpoint(words.to_owned()));
    }
    Ok((shares, kept.fine))
}

/// A generator on its way to the released pairs. It holds nothing private.
struct Learner {
    generator: Generator,
    adam: Adam,
    /// The running average of the generator's parameters. Shape `[parameters]`.
    averaged: Tensor<1>,
    loss: PairLoss,
    encoder: RowEncoder,
    fine: Option<FineWeights>,
    /// The latents' randomness, one for each part of a batch.
    randoms: Vec<RandomSource>,
    step: u64,
}

/// Runs the jobs side by side, the last one on this thread; what they came to, in their order.
fn in_parallel<T: Send, F: FnOnce() -> T + Send>(jobs: impl Iterator<Item = F>) -> Vec<T> {
    let mut jobs: Vec<F> = jobs.collect();
    let Some(last) = jobs.pop() else { return Vec::new() };
    std::thread::scope(|scope| {
        let others: Vec<_> = jobs.into_iter().map(|job| scope.spawn(job)).collect();
        let last = last();
        let joined = others.into_iter().map(|other| {
            other
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        joined.chain(std::iter::once(last)).collect()
    })
}

impl Learner {
    fn new(
        plan: &PairPlan,
        shares: &PairShares,
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
        generator.set_output_shares(&shares.column_shares(layout));
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
            loss: PairLoss::new(shares, layout, settings.pair_weight, device),
            generator,
            encoder,
            fine,
            randoms: (0..parts).map(|_| random.fork()).collect(),
            step: 0,
        }
    }

    fn take_steps(
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
            let (distance, gradient) = self.slope(settings.generator_batch as usize);
            let parameters = self.adam.step(self.generator.parameters().clone(), gradient);
            let keep = settings.averaging;
            self.averaged =
                self.averaged.clone().mul_scalar(keep) + parameters.clone().mul_scalar(1.0 - keep);
            self.generator.set_parameters(parameters);
            self.step += 1;
            keeping.keep_if_due(|| self.checkpoint());
            if self.step.is_multiple_of(report_every) || self.step == steps {
                let loss = distance.read();
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
    fn checkpoint(&self) -> Checkpoint {
        let mut tensors = vec![
            NamedTensor::flat("generator", self.generator.parameters()),
            NamedTensor::flat("generator.averaged", &self.averaged),
            self.loss.tensor(),
        ];
        tensors.extend(self.adam.tensors("generator.adam"));
        let kept = Kept {
            steps: self.adam.steps(),
            fine: self.fine.clone(),
        };
        Checkpoint::new(self.step, &kept, tensors)
    }

    /// Goes on from a checkpoint. Nothing looks at rows any more, so the steps after it are free.
    fn restore(&mut self, checkpoint: &Checkpoint, device: &Device) -> Result<(), TrainError> {
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

    /// The loss of a fresh batch and its slope by the parameters, each part of the batch on a core of its own.
    ///
    /// The loss's slope is worked out by hand: autodiff then only has to know the generator. Parts are normalised by
    /// themselves, which is as sound as all together: they hold generated rows only.
    fn slope(&mut self, batch: usize) -> (PairDistance, Tensor<1>) {
        let (generator, loss) = (&self.generator, &self.loss);
        let part = batch / self.randoms.len();
        let randoms = self.randoms.iter_mut();
        let passes = in_parallel(randoms.map(|random| {
            move || {
                let pass = generator.soft_pass(part, random);
                let means = loss.means(&pass.probabilities().inner());
                (pass, means)
            }
        }));
        let (passes, means): (Vec<_>, Vec<_>) = passes.into_iter().unzip();
        let count = passes.len();
        let means = PairMeans::of_parts(means).expect("a batch has a part");
        let distance = loss.distance(means);
        let of = &distance;
        let gradients = in_parallel(passes.into_iter().map(|pass| {
            move || {
                let probabilities = pass.probabilities();
                let slope = loss.slope(of, &probabilities.clone().inner(), part * count);
                pass.gradient(&(probabilities * slope.autodiff()).sum())
            }
        }));
        let gradient = gradients.into_iter().reduce(|sum, more| sum + more);
        (distance, gradient.expect("a batch has a part"))
    }

    /// The generator with its averaged weights, as it would be if the run ended now; frozen if there is randomness to
    /// freeze it with.
    fn generator_so_far(&self, freeze: Option<&mut RandomSource>) -> TableGenerator {
        let mut generator = self.generator.clone();
        generator.set_parameters(self.averaged.clone());
        if let Some(random) = freeze {
            generator = generator.freeze(random);
        }
        TableGenerator::new(generator, self.encoder.clone(), self.fine.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::RandomOrigin;
    use crate::privacy::Neighboring;
    use crate::train::Privacy;
    use crate::train::pairs::PairSettings;
    use crate::train::testing::{encoder, rows, schema};

    const ROWS: usize = 4000;

    fn train(privacy: Privacy, steps: u64, control: &Control, device: DeviceKind) -> (Trained, Vec<f64>) {
        let settings = PairSettings {
            steps,
            generator_batch: 256,
            generator_hidden: vec![32],
            ..PairSettings::default()
        };
        let plan = PairPlan::new(&settings, &schema(), ROWS, privacy).unwrap();
        let planned = plan.events();
        let (mut losses, mut shown) = (Vec::new(), 0);
        let trained = PairTraining::new(plan, encoder(), rows(ROWS), device, RandomSource::seeded(4))
            .unwrap()
            .run(control, &mut |seen| match seen {
                Observation::Step(seen) => losses.extend(seen.generator_loss),
                Observation::Sample(batch) => shown += batch.num_rows(),
                _ => {}
            })
            .unwrap();
        assert_eq!(shown > 0, steps > 0 && trained.stopped == StopReason::Planned);
        if matches!(privacy, Privacy::Private { .. }) {
            assert_eq!(trained.executed, planned, "what was done is what was planned");
        }
        (trained, losses)
    }

    fn promise() -> Privacy {
        Privacy::Private {
            epsilon: 5.0,
            delta: 1e-5,
            neighboring: Neighboring::AddRemoveOne,
        }
    }

    #[test]
    fn pairs_of_columns_come_out_as_they_were() {
        let (trained, losses) = train(promise(), 300, &Control::new(), DeviceKind::Flex);
        assert!(trained.epsilon.unwrap() <= 5.0 && trained.random == RandomOrigin::Seeded(4));
        assert!(losses.last().unwrap() < &(0.5 * losses[0]), "{losses:?}");
        let mut random = RandomSource::seeded(6);
        let drawn = trained
            .generator
            .table()
            .unwrap()
            .sample_encoded(8000, &mut random);
        // The label says whether the colour is the first, and the size's bin follows the colour.
        let share = |wanted: &dyn Fn(&[u16]) -> bool| {
            let hits = drawn.codes.chunks_exact(3).filter(|row| wanted(row)).count();
            hits as f64 / 8000.0
        };
        let told = share(&|row| (row[0] == 0) == (row[2] == 1));
        // Without any relation between the two it would be 0.56.
        assert!(told > 0.85, "{told}");
        let low = share(&|row| row[0] == 0 && row[1] < 6);
        assert!((low - 0.3).abs() < 0.08, "{low}");
    }

    #[test]
    fn a_stopped_run_keeps_what_it_has_and_a_run_without_a_promise_charges_nothing() {
        let control = Control::new();
        control.stop();
        let (trained, losses) = train(promise(), 50, &control, DeviceKind::Flex);
        assert_eq!((trained.steps_done, trained.stopped), (0, StopReason::ByPerson));
        assert!(losses.is_empty());
        let (trained, _) = train(Privacy::None, 10, &Control::new(), DeviceKind::Flex);
        assert!(trained.epsilon.is_none() && trained.executed.events.is_empty());
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
                assert!(
                    (one - other).abs() < 1e-3 * (1.0 + other),
                    "{device}, step {step}: {one} {other}"
                );
            }
        }
    }
}
