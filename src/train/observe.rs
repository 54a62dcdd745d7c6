//! What a run tells while it goes.

use arrow::record_batch::RecordBatch;

use super::image::ImageGrid;
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
