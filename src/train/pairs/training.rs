//! The run: two releases, and then a generator that learns them. After them nothing private is left to see, so steps
//! and the moment of stopping are free, and batch norm couples generated rows only.

use std::sync::Arc;

use burn::tensor::Device;

use super::PairPlan;
use super::embedding::ReleasedEmbedding;
use super::learner::{Kept, Learner};
use super::loss::PairShares;
use super::plan::TableRelease;
use super::released::Released;
use crate::data::{FineWeights, RowEncoder, StoredRows};
use crate::model::{DeviceKind, RowEmbedding};
use crate::num::RandomSource;
use crate::train::control::Control;
use crate::train::fidelity::{FidelityThread, bars_of};
use crate::train::keep::{Checkpoint, Life};
use crate::train::observe::Observation;
use crate::train::privatize::{self, Account, Refusal};
use crate::train::targets::fine_weights;
use crate::train::training::{Synthesizer, TrainError, Trained};

/// A run by one release that is ready to start.
pub struct PairTraining {
    plan: PairPlan,
    encoder: RowEncoder,
    rows: Arc<StoredRows>,
    device: Device,
    random: RandomSource,
    life: Life,
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
            life: Life::unkept(),
        })
    }

    /// Keeps the run where a crash cannot reach it, and goes on from where an earlier life of it was cut short.
    #[must_use]
    pub fn kept(self, life: Life) -> Self {
        Self { life, ..self }
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
            life: Life { mut keeping, taken },
        } = self;
        let budget = plan.protection().map(|protection| protection.budget);
        let mut account = Account::of(budget, PairPlan::ACCOUNTANT);
        // Noise rests on its own stream; latents and weights are independent of the rows.
        let mut privacy_random = random.fork();
        let mut free_random = random.fork();
        let (released, fine) = match &taken {
            None => {
                let random = (&mut privacy_random, &mut free_random);
                let bought = buy(&plan, &rows, &mut account, random);
                bought.map_err(|source| TrainError::Refused {
                    source,
                    executed: account.executed(),
                })?
            }
            Some(taken) => {
                account.taken_up(&plan.events())?;
                bought(&plan, &taken.checkpoint)?
            }
        };
        let fidelity =
            FidelityThread::start(Arc::clone(&rows), bars_of(&encoder)).map_err(TrainError::Thread)?;
        let mut learner = Learner::new(&plan, &released, (encoder, fine), &device, &mut free_random);
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

/// The two looks at the rows. The embedding's map is public, and its randomness free.
fn buy(
    plan: &PairPlan,
    rows: &StoredRows,
    account: &mut Account,
    (random, free_random): (&mut RandomSource, &mut RandomSource),
) -> Result<(Released, Option<FineWeights>), Refusal> {
    let (layout, protection) = (plan.layout(), plan.protection());
    let noise = protection.map(|protection| protection.first);
    let released = match plan.release() {
        TableRelease::Pairs => {
            let counts = privatize::pairs(account, rows, layout, noise, random)?;
            Released::Pairs(PairShares::from_counts(&counts, layout))
        }
        TableRelease::MeanEmbedding => {
            let (settings, features) = (plan.settings(), ReleasedEmbedding::features(layout));
            let frequencies = settings.frequencies as usize;
            let map = RowEmbedding::new(features, frequencies, settings.marginal_share, free_random);
            let means = privatize::joint_embedding(account, &map, (rows, layout), noise, random)?;
            Released::Embedding(ReleasedEmbedding { map, means })
        }
    };
    let mut fine = None;
    if plan.settings().fine_decode && !layout.fine().is_empty() {
        let noise = protection.and_then(|protection| protection.fine);
        let counts = privatize::fine_histograms(account, rows, layout, noise, random)?;
        fine = Some(FineWeights {
            columns: fine_weights(&counts),
        });
    }
    Ok((released, fine))
}

/// The same, as a checkpoint holds it.
fn bought(plan: &PairPlan, checkpoint: &Checkpoint) -> Result<(Released, Option<FineWeights>), TrainError> {
    let layout = plan.layout();
    let kept: Kept = checkpoint.state().map_err(TrainError::OtherCheckpoint)?;
    let released = Released::restored(&checkpoint.tensors, plan).map_err(TrainError::other_checkpoint)?;
    let cells: Vec<usize> = layout.fine().iter().map(|column| column.cells).collect();
    let is_wanted = plan.settings().fine_decode && !cells.is_empty();
    if kept.fine.as_ref().map(FineWeights::cells) != is_wanted.then_some(cells) {
        let words = "its weights of fine cells are of another schema";
        return Err(TrainError::OtherCheckpoint(words.to_owned()));
    }
    Ok((released, kept.fine))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::EncoderSettings;
    use crate::num::RandomOrigin;
    use crate::privacy::Neighboring;
    use crate::train::Privacy;
    use crate::train::pairs::PairSettings;
    use crate::train::testing::{encoder, rows, schema};
    use crate::train::training::StopReason;

    const ROWS: usize = 4000;

    const BOTH: [TableRelease; 2] = [TableRelease::Pairs, TableRelease::MeanEmbedding];

    fn train(
        release: TableRelease,
        privacy: Privacy,
        steps: u64,
        control: &Control,
        device: DeviceKind,
    ) -> (Trained, Vec<f64>) {
        let settings = PairSettings {
            steps,
            generator_batch: 256,
            generator_hidden: vec![32],
            ..PairSettings::recommended(release)
        };
        let plan = PairPlan::new(release, &settings, &schema(), ROWS, privacy).unwrap();
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
    fn columns_come_out_related_as_they_were() {
        for release in BOTH {
            let (trained, losses) = train(release, promise(), 300, &Control::new(), DeviceKind::Flex);
            assert!(trained.epsilon.unwrap() <= 5.0 && trained.random == RandomOrigin::Seeded(4));
            assert!(
                losses.last().unwrap() < &(0.5 * losses[0]),
                "{release:?}: {losses:?}"
            );
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
            assert!(told > 0.85, "{release:?}: {told}");
            let low = share(&|row| row[0] == 0 && row[1] < 6);
            assert!((low - 0.3).abs() < 0.08, "{release:?}: {low}");
        }
    }

    #[test]
    fn a_stopped_run_keeps_what_it_has_and_a_run_without_a_promise_charges_nothing() {
        for release in BOTH {
            let control = Control::new();
            control.stop();
            let (trained, losses) = train(release, promise(), 50, &control, DeviceKind::Flex);
            assert_eq!((trained.steps_done, trained.stopped), (0, StopReason::ByPerson));
            assert!(losses.is_empty());
            let (trained, _) = train(release, Privacy::None, 10, &Control::new(), DeviceKind::Flex);
            assert!(trained.epsilon.is_none() && trained.executed.events.is_empty());
        }
    }

    #[test]
    fn every_device_learns_alike() {
        for release in BOTH {
            let (_, expected) = train(release, Privacy::None, 20, &Control::new(), DeviceKind::Flex);
            for device in [DeviceKind::Ndarray, DeviceKind::Wgpu] {
                if let Err(error) = device.open() {
                    println!("skipped on {device}: {error}");
                    continue;
                }
                let (_, losses) = train(release, Privacy::None, 20, &Control::new(), device);
                assert_eq!(losses.len(), 20);
                for (step, (one, other)) in losses.iter().zip(&expected).enumerate() {
                    assert!(
                        (one - other).abs() < 1e-3 * (1.0 + other.abs()),
                        "{release:?} on {device}, step {step}: {one} {other}"
                    );
                }
            }
        }
    }

    #[test]
    fn almost_no_budget_and_almost_no_rows_make_a_table_all_the_same() {
        let alone = || {
            let mut schema = schema();
            schema.column.truncate(1);
            schema.label = None;
            schema
        };
        for schema in [schema(), alone()] {
            let encoder = RowEncoder::new(&schema, &EncoderSettings::default()).unwrap();
            for (rows, epsilon) in [(1, 1e-3), (1, 1.0), (50, 1e-3)] {
                let settings = PairSettings {
                    steps: 5,
                    generator_batch: 2,
                    ..PairSettings::recommended(TableRelease::MeanEmbedding)
                };
                let privacy = Privacy::Private {
                    epsilon,
                    delta: 1e-5,
                    neighboring: Neighboring::AddRemoveOne,
                };
                let plan =
                    PairPlan::new(TableRelease::MeanEmbedding, &settings, &schema, rows, privacy).unwrap();
                let (encoded, random) = (encoder.blank_rows(rows), RandomSource::seeded(7));
                let training = PairTraining::new(plan, encoder.clone(), encoded, DeviceKind::Flex, random);
                let trained = training.unwrap().run(&Control::new(), &mut |_| {}).unwrap();
                let drawn = trained.generator.table().unwrap();
                let drawn = drawn.sample_encoded(20, &mut RandomSource::seeded(8));
                assert_eq!(drawn.rows(), 20, "{rows} rows at {epsilon}");
            }
        }
    }
}
