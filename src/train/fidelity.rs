//! Comparing synthetic with real rows beside the run, on a thread of its own. The run never waits for a comparison.

use std::sync::Arc;

use super::observe::{ColumnHistogram, Fidelity, Observation};
use super::synthesizer::{SampleError, TableGenerator};
use crate::data::{Block, EncodedRows, RowEncoder, StoreError, StoredRows};
use crate::evaluate::{FrechetReference, Moments, total_variation};
use crate::num::{Beside, RandomSource, StewardOnly};

/// Rows of each side behind a Fréchet distance.
const FRECHET_ROWS: usize = 2000;
/// Synthetic rows that are shown while training.
const SHOWN_ROWS: usize = 24;
/// Rows encoded wider than this are compared over fewer of them: the cost grows with the cube of the width.
const WIDE: usize = 600;
/// Rows of each side when they are wide.
const WIDE_FRECHET_ROWS: usize = 500;
/// Bars of a column that is encoded as one scalar.
const SCALAR_BARS: usize = 20;

/// Names of a column's bars, and where its counts come from.
#[derive(Clone, Debug)]
pub struct Bars {
    /// The column.
    pub column: String,
    /// What each bar stands for.
    pub labels: Vec<String>,
    /// Where the bars' numbers come from.
    pub source: BarSource,
}

/// Where a column's value lies in encoded rows.
#[derive(Clone, Copy, Debug)]
pub enum BarSource {
    /// The one-hot block of this index.
    Code(usize),
    /// The scalar block of this index, in equal parts of `[0, 1]`.
    Scalar(usize),
}

impl Bars {
    /// Counts the rows in each bar.
    fn count(&self, rows: &EncodedRows, counts: &mut [f64]) {
        let last = counts.len().saturating_sub(1);
        match self.source {
            BarSource::Code(block) => {
                let blocks = rows.codes_per_row().max(1);
                for code in rows.codes.iter().skip(block).step_by(blocks) {
                    counts[usize::from(*code).min(last)] += 1.0;
                }
            }
            BarSource::Scalar(block) => {
                let blocks = rows.scalars_per_row().max(1);
                let bars = counts.len() as f32;
                for scalar in rows.scalars.iter().skip(block).step_by(blocks) {
                    counts[((scalar * bars) as usize).min(last)] += 1.0;
                }
            }
        }
    }

    /// The share of rows in each bar.
    pub fn shares(&self, rows: &EncodedRows) -> Vec<f64> {
        let mut counts = vec![0.0; self.labels.len()];
        self.count(rows, &mut counts);
        let total = (rows.rows() as f64).max(1.0);
        counts.iter().map(|count| count / total).collect()
    }
}

/// The share of stored rows in each bar of each column, in one pass.
fn stored_shares(bars: &[Bars], rows: &StoredRows) -> Result<Vec<Vec<f64>>, StoreError> {
    let mut counts: Vec<Vec<f64>> = bars.iter().map(|bars| vec![0.0; bars.labels.len()]).collect();
    rows.each_piece(|piece| {
        for (bars, counts) in bars.iter().zip(&mut counts) {
            bars.count(piece, counts);
        }
    })?;
    let total = (rows.rows() as f64).max(1.0);
    counts.iter_mut().flatten().for_each(|count| *count /= total);
    Ok(counts)
}

/// The bars of every used column: its categories, its bins, or equal parts of a scalar's range.
pub fn bars_of(encoder: &RowEncoder) -> Vec<Bars> {
    let (mut codes, mut scalars) = (0, 0);
    let mut bars: Vec<Bars> = Vec::new();
    for block in encoder.blocks() {
        let column = encoder.schema().column[block.column()].name.clone();
        let (labels, source) = match block {
            Block::OneHot { .. } => {
                codes += 1;
                (encoder.labels(block), BarSource::Code(codes - 1))
            }
            Block::Scalar { .. } => {
                // The block before it only says present or missing.
                bars.retain(|bars| bars.column != column);
                scalars += 1;
                let parts = (0..SCALAR_BARS).map(|part| format!("{part}/{SCALAR_BARS}"));
                (parts.collect(), BarSource::Scalar(scalars - 1))
            }
        };
        bars.push(Bars {
            column,
            labels,
            source,
        });
    }
    bars
}

/// The thread that compares.
pub struct FidelityThread(Beside<EncodedRows, Fidelity>);

impl FidelityThread {
    /// Starts the thread for these real rows.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub fn start(real: Arc<StoredRows>, bars: Vec<Bars>) -> std::io::Result<Self> {
        Beside::start("fidelity", move || {
            let mut sample = vec![0.0; sample_size(real.rows(), real.width()) * real.width()];
            let picks = evenly_spaced(real.rows(), real.width());
            // Rows that cannot be read end the run at its next step, with a message; nothing is compared until then.
            let seen = real
                .write_dense(&picks, &mut sample)
                .and_then(|()| stored_shares(&bars, &real));
            let shares =
                seen.unwrap_or_else(|_| bars.iter().map(|bars| vec![0.0; bars.labels.len()]).collect());
            let reference = Moments::of(&sample, real.width()).and_then(FrechetReference::new);
            move |step, rows: EncodedRows| compare(step, &rows, (&real, reference.as_ref()), (&bars, &shares))
        })
        .map(Self)
    }

    /// Whether rows offered now would be looked at soon.
    pub fn wants_rows(&self) -> bool {
        self.0.wants_more()
    }

    /// Hands over rows; replaces an offer that has not been taken up.
    pub fn offer(&mut self, step: u64, rows: EncodedRows) {
        self.0.offer(step, rows);
    }

    /// A comparison that has been finished since the last question.
    pub fn latest(&mut self) -> Option<Fidelity> {
        self.0.latest().map(|(_, fidelity)| fidelity)
    }

    /// Passes on a finished comparison, and offers rows of the generator for another when its time has come or the run
    /// is at its last step. A few of those rows are shown: the run has paid for them.
    ///
    /// # Errors
    /// When rows cannot be decoded.
    pub fn compare(
        &mut self,
        (step, is_last): (u64, bool),
        generator: impl FnOnce() -> TableGenerator,
        random: &mut RandomSource,
        observe: &mut dyn FnMut(Observation),
    ) -> Result<(), SampleError> {
        if let Some(latest) = self.latest() {
            observe(Observation::Fidelity(latest));
        }
        if !self.wants_rows() && !is_last {
            return Ok(());
        }
        // Not frozen: its moments come from these rows themselves, which saves a pass over many latents.
        let generator = generator();
        let rows = generator.sample_encoded(FRECHET_ROWS, random);
        let first: Vec<usize> = (0..SHOWN_ROWS).collect();
        let shown = generator.decode(&rows.select(&first), random)?;
        self.offer(step, rows);
        observe(Observation::Sample(shown));
        Ok(())
    }

    /// Waits a moment for the comparison of the rows offered last, if there is one.
    pub fn finish(self) -> Option<Fidelity> {
        self.0.finish().map(|(_, fidelity)| fidelity)
    }
}

fn compare(
    step: u64,
    synthetic: &EncodedRows,
    (real, reference): (&StoredRows, Option<&FrechetReference>),
    (bars, shares): (&[Bars], &[Vec<f64>]),
) -> Fidelity {
    let sample = dense_sample(synthetic);
    let frechet = reference.and_then(|reference| {
        Moments::of(&sample, real.width()).and_then(|moments| reference.distance(&moments))
    });
    let histograms: Vec<_> = bars
        .iter()
        .zip(shares)
        .map(|(bars, real)| ColumnHistogram {
            column: bars.column.clone(),
            labels: bars.labels.clone(),
            real: real.clone(),
            synthetic: bars.shares(synthetic),
        })
        .collect();
    let variations = histograms
        .iter()
        .map(|bars| total_variation(&bars.real, &bars.synthetic));
    let variation = variations.sum::<f64>() / histograms.len().max(1) as f64;
    Fidelity {
        step,
        frechet: StewardOnly::new(frechet),
        samples: sample_size(real.rows(), real.width()).min(sample_size(synthetic.rows(), synthetic.width())),
        total_variation: StewardOnly::new(variation),
        histograms: StewardOnly::new(histograms),
    }
}

/// How many of so many rows of this width a distance is taken over.
fn sample_size(rows: usize, width: usize) -> usize {
    rows.min(if width > WIDE {
        WIDE_FRECHET_ROWS
    } else {
        FRECHET_ROWS
    })
}

/// Evenly spaced rows, as many as a distance is taken over.
fn evenly_spaced(rows: usize, width: usize) -> Vec<usize> {
    let count = sample_size(rows, width);
    (0..count).map(|index| index * rows / count).collect()
}

/// Evenly spaced rows, dense.
fn dense_sample(rows: &EncodedRows) -> Vec<f32> {
    let picks = evenly_spaced(rows.rows(), rows.width());
    let mut values = vec![0.0; picks.len() * rows.width()];
    rows.write_dense(&picks, &mut values);
    values
}
