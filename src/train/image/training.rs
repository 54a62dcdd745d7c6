//! A run on images, from its plan to a generator.

use burn::tensor::Device;

use super::embedding::Learner;
use super::gan::{Gan, Streams};
use super::kept::{Kept, Release};
use super::watched::Watched;
use super::{ImageGenerator, ImageMethod, ImagePlan, TrainImages};
use crate::model::DeviceKind;
use crate::model::image::ImageGeneratorNet;
use crate::num::RandomSource;
use crate::train::control::Control;
use crate::train::keep::{Life, TakenUp};
use crate::train::observe::Observation;
use crate::train::privatize::{self, Account, Refusal};
use crate::train::training::{StopReason, Synthesizer, TrainError, Trained};

/// A run on images that is ready to start.
pub struct ImageTraining {
    plan: ImagePlan,
    images: TrainImages,
    device: Device,
    random: RandomSource,
    figures: bool,
    life: Life,
}

/// A generator as it is when a run ends.
struct Outcome {
    network: ImageGeneratorNet,
    steps_done: u64,
    stopped: StopReason,
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
            figures: false,
            life: Life::unkept(),
        })
    }

    /// Keeps the run where a crash cannot reach it, and goes on from where an earlier life of it was cut short.
    #[must_use]
    pub fn kept(self, life: Life) -> Self {
        Self { life, ..self }
    }

    /// Has figures of the generator worked out beside the run, for somebody who watches it (steward only).
    #[must_use]
    pub fn with_figures(self, figures: bool) -> Self {
        Self { figures, ..self }
    }

    /// Trains to the planned end, or until stopped. Blocks the calling thread, which owns the tensors;
    /// `observe` is called on it now and then and should return at once.
    ///
    /// # Errors
    /// When the networks' numbers stop being finite, or the account refuses the plan's own releases.
    pub fn run(self, control: &Control, observe: &mut dyn FnMut(Observation)) -> Result<Trained, TrainError> {
        let Self {
            plan,
            images,
            device,
            mut random,
            figures,
            life: Life { mut keeping, taken },
        } = self;
        let budget = plan.protection().map(|protection| protection.budget);
        let mut account = Account::of(budget, plan.accountant());
        // Noise rests on its own stream; the map, latents and weights are independent of the images.
        let mut privacy = random.fork();
        let mut free = random.fork();
        let classes = images.classes().to_vec();
        let mut watched =
            Watched::start(&images, plan.steps(), figures, &mut free).map_err(TrainError::Thread)?;
        let mut shares = vec![1.0 / classes.len() as f64; classes.len()];
        let kept = take_up(&plan, taken.as_ref(), &mut account)?;
        let mut followed = None;
        let is_past = matches!(kept, Some(Kept::Critic { .. }));
        if plan.embedding_steps() > 0 && !is_past {
            let (released, adam) =
                if let (Some(taken), Some(Kept::Embedding { map, counts, adam })) = (&taken, kept) {
                    let released = Release::restored(&plan, (map, counts), &taken.checkpoint, &device)?;
                    (released, Some((&taken.checkpoint, adam)))
                } else {
                    let key = Release::draw_key(&mut free);
                    let released = release(&plan, key, &images, &mut account, &mut privacy, &device)?;
                    (released, None)
                };
            shares = shares_of(&released.means.counts);
            let mut learner = Learner::new(&plan, released, &device, &mut free);
            if let Some((checkpoint, adam)) = adam {
                learner.restore(checkpoint, adam, &device)?;
            }
            // Behind the release and before the first step, so that it is never made twice.
            keeping.keep(|| learner.checkpoint());
            let stopped = learner.take_steps(
                &plan,
                (control, &account, &mut keeping),
                &mut watched,
                &mut free,
                observe,
            )?;
            followed = Some(Outcome {
                network: learner.averaged_network(),
                steps_done: learner.step(),
                stopped,
            });
        }
        let outcome = match followed {
            Some(followed)
                if plan.method() == ImageMethod::MeanEmbedding || followed.stopped != StopReason::Planned =>
            {
                followed
            }
            followed => {
                let network = match followed {
                    Some(followed) => followed.network,
                    None => ImageGeneratorNet::new(plan.shape().clone(), &mut free, &device),
                };
                if let (Some(taken), true) = (&taken, is_past) {
                    shares = kept_shares(taken, classes.len())?;
                }
                let mut gan = Gan::new(&plan, images, (network, shares.clone()), &mut free, device);
                match &taken {
                    Some(taken) if is_past => gan.restore(taken)?,
                    // Its first checkpoint may never have been written, and its first steps done all the same.
                    Some(taken) => gan.skip(taken.charged),
                    None => {}
                }
                keeping.keep(|| gan.checkpoint());
                let streams = Streams {
                    privacy: &mut privacy,
                    free: &mut free,
                };
                let stopped = gan.take_steps(
                    (control, &mut watched, &mut keeping),
                    &mut account,
                    streams,
                    observe,
                )?;
                Outcome {
                    network: gan.averaged_network(),
                    steps_done: gan.steps_done(),
                    stopped,
                }
            }
        };
        watched.finish(observe);
        let network = outcome.network.freeze(&mut free);
        Ok(Trained {
            generator: Synthesizer::Images(Box::new(ImageGenerator::new(network, classes, shares))),
            executed: account.executed(),
            epsilon: account.epsilon(),
            steps_done: outcome.steps_done,
            stopped: outcome.stopped,
            random: privacy.origin(),
        })
    }
}

/// The noisy mean embedding that a generator follows.
fn release(
    plan: &ImagePlan,
    key: [u8; 32],
    images: &TrainImages,
    account: &mut Account,
    random: &mut RandomSource,
    device: &Device,
) -> Result<Release, TrainError> {
    let map = Release::map(plan, key, device);
    let noise = plan.protection().and_then(|protection| protection.marginals);
    let means = privatize::mean_embedding(account, &map, images, noise, random, device)
        .map_err(|source| refused(source, account))?;
    Ok(Release { key, map, means })
}

fn refused(source: Refusal, account: &Account) -> TrainError {
    TrainError::Refused {
        source,
        executed: account.executed(),
    }
}

/// Charges what an earlier life of the run may have done, and says which part of it the checkpoint belongs to.
fn take_up(
    plan: &ImagePlan,
    taken: Option<&TakenUp>,
    account: &mut Account,
) -> Result<Option<Kept>, TrainError> {
    let Some(taken) = taken else { return Ok(None) };
    let kept = Kept::of(taken)?;
    let has_part = match kept {
        Kept::Embedding { .. } => {
            let steps = plan.embedding_steps();
            steps > 0 && taken.checkpoint.step <= steps
        }
        Kept::Critic { .. } => plan.method() != ImageMethod::MeanEmbedding,
    };
    if !has_part {
        let words = "it is from a part that this plan does not have";
        return Err(TrainError::OtherCheckpoint(words.to_owned()));
    }
    account.taken_up(&plan.events_until(taken.charged))?;
    Ok(Some(kept))
}

/// How often each class is drawn, as a checkpoint holds it.
fn kept_shares(taken: &TakenUp, classes: usize) -> Result<Vec<f64>, TrainError> {
    match Kept::of(taken)? {
        Kept::Critic { shares, .. }
            if shares.len() == classes && shares.iter().all(|share| share.is_finite() && *share >= 0.0) =>
        {
            Ok(shares)
        }
        _ => {
            let words = "its classes are others";
            Err(TrainError::OtherCheckpoint(words.to_owned()))
        }
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
