//! What a run tells while it goes.

use arrow::record_batch::RecordBatch;
use burn::tensor::Tensor;

use super::image::ImageGrid;
use super::privatize::RealGradient;
use crate::evaluate::image::LiveFigures;
use crate::model::{ClippedSum, read};
use crate::num::StewardOnly;

/// Something to show of a run in progress.
#[derive(Clone, Debug)]
pub enum Observation {
    /// A step was taken. Reported every few steps, so that reading numbers back does not hold up the device.
    Step(StepObservation),
    /// Real and synthetic rows were compared.
    Fidelity(Fidelity),
    /// A few synthetic rows as of now. The run has paid for them: free to show.
    Sample(RecordBatch),
    /// A few images as of now. The run has paid for them: free to show.
    Images(ImageGrid),
    /// Generated images were compared with real ones.
    Judged(LiveFigures),
}

/// A critic step.
#[derive(Clone, Debug)]
pub struct StepObservation {
    /// Critic steps done.
    pub step: u64,
    /// Critic steps planned.
    pub steps: u64,
    /// ε spent so far at the promise's δ; `None` without a promise.
    pub epsilon: Option<f64>,
    /// The critic's mean loss on real rows (if any were drawn) and generated ones.
    pub critic_loss: StewardOnly<Option<f64>>,
    /// The generator's loss at its last step; `None` before the first. Computed from released quantities only.
    pub generator_loss: Option<f64>,
    /// How many real rows were drawn.
    pub batch: StewardOnly<usize>,
    /// Mean norm of the gradients of real rows before clipping.
    pub gradient_norm: StewardOnly<Option<f64>>,
    /// The share of real rows whose gradient was clipped.
    pub clipped_share: StewardOnly<Option<f64>>,
    /// The norms of the gradients of real rows before clipping, one each.
    pub gradient_norms: StewardOnly<Vec<f32>>,
    /// The share of generated rows that the critic was right about, where its score has a side: of released quantities
    /// only.
    pub critic_accuracy: Option<f64>,
}

impl StepObservation {
    /// Of a step that has no critic, or none yet.
    pub fn without_critic(step: u64, steps: u64) -> Self {
        Self {
            step,
            steps,
            epsilon: None,
            critic_loss: StewardOnly::new(None),
            generator_loss: None,
            batch: StewardOnly::new(0),
            gradient_norm: StewardOnly::new(None),
            clipped_share: StewardOnly::new(None),
            gradient_norms: StewardOnly::new(Vec::new()),
            critic_accuracy: None,
        }
    }

    /// What a critic's step tells of real rows and generated ones.
    pub(super) fn of_critic(real: &RealGradient, fake: &ClippedSum, clip_norm: f64) -> Self {
        let mean = |tensor: &Tensor<2>| f64::from(read(tensor.clone().mean())[0]);
        let seen = real.seen.as_ref();
        let norms = seen.map_or_else(Vec::new, |seen| read(seen.norms.clone()));
        let share = |count: usize| count as f64 / norms.len() as f64;
        let clipped = norms.iter().filter(|norm| f64::from(**norm) > clip_norm).count();
        Self {
            critic_loss: StewardOnly::new(seen.map(|seen| mean(&seen.losses) + mean(&fake.losses))),
            batch: StewardOnly::new(real.batch),
            gradient_norm: StewardOnly::new(seen.map(|seen| mean(&seen.norms))),
            clipped_share: StewardOnly::new(seen.map(|_| share(clipped))),
            gradient_norms: StewardOnly::new(norms),
            ..Self::without_critic(0, 0)
        }
    }
}

/// How synthetic rows compare with real ones at some step.
#[derive(Clone, Debug)]
pub struct Fidelity {
    /// Critic steps done when the synthetic rows were drawn.
    pub step: u64,
    /// The Fréchet distance of encoded rows; `None` where it has none.
    pub frechet: StewardOnly<Option<f64>>,
    /// Rows of each side that it is taken over.
    pub samples: usize,
    /// Mean total variation of single columns, over all real rows.
    pub total_variation: StewardOnly<f64>,
    /// Synthetic over real, column by column.
    pub histograms: StewardOnly<Vec<ColumnHistogram>>,
}

/// Shares of one column's categories or bins, real and synthetic.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnHistogram {
    /// The column.
    pub column: String,
    /// What each bar stands for.
    pub labels: Vec<String>,
    /// Shares of real rows.
    pub real: Vec<f64>,
    /// Shares of synthetic rows.
    pub synthetic: Vec<f64>,
}
