//! What is kept of a run on images, and how it goes on from there.

use burn::tensor::Device;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha20Rng;
use serde::{Deserialize, Serialize};

use super::ImagePlan;
use crate::model::image::EmbeddingMap;
use crate::model::{NamedTensor, find_tensor};
use crate::num::RandomSource;
use crate::train::keep::{Checkpoint, TakenUp};
use crate::train::ladder::Ladder;
use crate::train::privatize::ClassMeans;
use crate::train::training::TrainError;

/// The released means' name in files.
const MEANS: &str = "released.means";

/// What is not a tensor, by the part of the run that it belongs to.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "snake_case")]
pub(super) enum Kept {
    /// The generator follows a mean embedding.
    Embedding {
        /// What the public map is drawn from: neither it nor the map holds anything of the images.
        map: [u8; 32],
        /// Noisy numbers of images.
        counts: Vec<f64>,
        /// Steps of its optimiser.
        adam: i32,
    },
    /// The generator learns from a critic.
    Critic {
        /// How often each class is drawn.
        shares: Vec<f64>,
        /// Steps of both optimisers.
        critic: i32,
        generator: i32,
        /// How long the critic's turn is.
        ladder: Ladder,
        /// Critic steps since the generator's last.
        since: u64,
    },
}

impl Kept {
    /// What a checkpoint holds.
    pub fn of(taken: &TakenUp) -> Result<Self, TrainError> {
        taken.checkpoint.state().map_err(TrainError::OtherCheckpoint)
    }
}

/// One look at the images, and the public map through which it was made.
pub(super) struct Release {
    /// What the map is drawn from.
    pub key: [u8; 32],
    pub map: EmbeddingMap,
    pub means: ClassMeans,
}

impl Release {
    /// A map drawn anew.
    pub fn draw_key(random: &mut RandomSource) -> [u8; 32] {
        random.random()
    }

    /// The map of this key: the same whenever it is asked for.
    pub fn map(plan: &ImagePlan, key: [u8; 32], device: &Device) -> EmbeddingMap {
        EmbeddingMap::new(
            (plan.shape().side, plan.shape().colours),
            plan.settings().frequencies as usize,
            &mut ChaCha20Rng::from_seed(key),
            device,
        )
    }

    /// Takes a release back from a checkpoint.
    pub fn restored(
        plan: &ImagePlan,
        (key, counts): ([u8; 32], Vec<f64>),
        checkpoint: &Checkpoint,
        device: &Device,
    ) -> Result<Self, TrainError> {
        let map = Self::map(plan, key, device);
        let classes = plan.shape().classes;
        if counts.len() != classes {
            let words = "its counts are of other classes";
            return Err(TrainError::OtherCheckpoint(words.to_owned()));
        }
        let means = find_tensor(&checkpoint.tensors, MEANS, [classes, map.width()])
            .map_err(TrainError::other_checkpoint)?;
        let means = means.iter().copied().map(f64::from).collect();
        Ok(Self {
            key,
            map,
            means: ClassMeans { means, counts },
        })
    }

    /// The means as a file's tensor.
    pub fn tensor(means: &ClassMeans) -> NamedTensor {
        let classes = means.counts.len();
        NamedTensor {
            name: MEANS.to_owned(),
            shape: [classes, means.means.len() / classes.max(1)],
            values: means.means.iter().map(|value| *value as f32).collect(),
        }
    }
}
