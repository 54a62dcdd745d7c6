//! Comparing synthetic with real rows beside the run, on a thread of its own.
//!
//! The run offers rows and goes on; if the thread is still busy with the last ones, the offer waits in a slot
//! of one place where a newer one replaces it. The run never waits for a comparison.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::observe::{ColumnHistogram, Fidelity, Observation};
use super::synthesizer::{SampleError, TableGenerator};
use crate::data::{Block, EncodedRows, RowEncoder};
use crate::evaluate::{FrechetReference, Moments, total_variation};
use crate::num::{RandomSource, StewardOnly};

/// Rows of each side behind a Fréchet distance.
const FRECHET_ROWS: usize = 2000;
/// Synthetic rows that are shown while training.
const SHOWN_ROWS: usize = 24;
/// Rows encoded wider than this are compared over fewer of them: the cost grows with the cube of the width.
const WIDE: usize = 600;
/// Rows of each side when they are wide.
const WIDE_FRECHET_ROWS: usize = 500;
/// Comparisons start at most this often.
const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);
/// A comparison may take this share of one core: after one that took a second, the next starts this many
/// seconds later.
const REST_FACTOR: u32 = 8;

/// At its end, a run waits this long for a comparison in progress.
const LONGEST_FINISH: Duration = Duration::from_secs(2);

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
    /// The share of rows in each bar.
    pub fn shares(&self, rows: &EncodedRows) -> Vec<f64> {
        let mut counts = vec![0.0; self.labels.len()];
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
        let total = (rows.rows() as f64).max(1.0);
        counts.iter().map(|count| count / total).collect()
    }
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

/// Synthetic rows to compare.
struct Offer {
    step: u64,
    rows: EncodedRows,
}

#[derive(Default)]
struct Slot {
    offer: Option<Offer>,
    is_closed: bool,
}

type Shared = Arc<(Mutex<Slot>, Condvar)>;

/// The thread that compares.
pub struct FidelityThread {
    shared: Shared,
    results: Receiver<(Fidelity, Duration)>,
    next: Instant,
    is_idle: bool,
    /// The step of the rows offered last.
    offered: u64,
}

impl FidelityThread {
    /// Starts the thread for these real rows.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub fn start(real: Arc<EncodedRows>, bars: Vec<Bars>) -> std::io::Result<Self> {
        let shared = Shared::default();
        let (sender, results) = channel();
        let slot = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("fidelity".to_owned())
            .spawn(move || compare_offers(&slot, &sender, &real, &bars))?;
        Ok(Self {
            shared,
            results,
            next: Instant::now(),
            is_idle: true,
            offered: 0,
        })
    }

    /// Whether rows offered now would be looked at soon.
    pub fn wants_rows(&self) -> bool {
        self.is_idle && Instant::now() >= self.next
    }

    /// Hands over rows; replaces an offer that has not been taken up.
    pub fn offer(&mut self, step: u64, rows: EncodedRows) {
        let (slot, changed) = &*self.shared;
        slot.lock().unwrap_or_else(PoisonError::into_inner).offer = Some(Offer { step, rows });
        changed.notify_one();
        self.is_idle = false;
        self.offered = step;
        self.next = Instant::now() + SHORTEST_INTERVAL;
    }

    /// A comparison that has been finished since the last question.
    pub fn latest(&mut self) -> Option<Fidelity> {
        let (fidelity, took) = self.results.try_iter().last()?;
        self.is_idle = fidelity.step == self.offered;
        self.next = self.next.max(Instant::now() + took * REST_FACTOR);
        Some(fidelity)
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
        let end = Instant::now() + LONGEST_FINISH;
        let mut last = None;
        if self.is_idle {
            return None;
        }
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let Ok((fidelity, _)) = self.results.recv_timeout(left) else {
                break;
            };
            let is_over = fidelity.step == self.offered;
            last = Some(fidelity);
            if is_over {
                break;
            }
        }
        last
    }
}

impl Drop for FidelityThread {
    fn drop(&mut self) {
        // The thread ends by itself after what it is in; a run that was stopped must not wait for that.
        let (slot, changed) = &*self.shared;
        slot.lock().unwrap_or_else(PoisonError::into_inner).is_closed = true;
        changed.notify_one();
    }
}

fn compare_offers(
    shared: &Shared,
    results: &Sender<(Fidelity, Duration)>,
    real: &EncodedRows,
    bars: &[Bars],
) {
    let width = real.width();
    let sample = dense_sample(real);
    let reference = Moments::of(&sample, width).and_then(FrechetReference::new);
    let shares: Vec<_> = bars.iter().map(|bars| bars.shares(real)).collect();
    while let Some(offer) = next_offer(shared) {
        let started = Instant::now();
        let synthetic = dense_sample(&offer.rows);
        let frechet = reference.as_ref().and_then(|reference| {
            Moments::of(&synthetic, width).and_then(|moments| reference.distance(&moments))
        });
        let histograms: Vec<_> = bars
            .iter()
            .zip(&shares)
            .map(|(bars, real)| ColumnHistogram {
                column: bars.column.clone(),
                labels: bars.labels.clone(),
                real: real.clone(),
                synthetic: bars.shares(&offer.rows),
            })
            .collect();
        let variations = histograms
            .iter()
            .map(|bars| total_variation(&bars.real, &bars.synthetic));
        let variation = variations.sum::<f64>() / histograms.len().max(1) as f64;
        let fidelity = Fidelity {
            step: offer.step,
            frechet: StewardOnly::new(frechet),
            samples: sample_size(real).min(sample_size(&offer.rows)),
            total_variation: StewardOnly::new(variation),
            histograms: StewardOnly::new(histograms),
        };
        if results.send((fidelity, started.elapsed())).is_err() {
            return;
        }
    }
}

/// How many of some rows a distance is taken over.
fn sample_size(rows: &EncodedRows) -> usize {
    rows.rows().min(if rows.width() > WIDE {
        WIDE_FRECHET_ROWS
    } else {
        FRECHET_ROWS
    })
}

/// Evenly spaced rows, dense.
fn dense_sample(rows: &EncodedRows) -> Vec<f32> {
    let count = sample_size(rows);
    let indices: Vec<usize> = (0..count).map(|index| index * rows.rows() / count).collect();
    let mut values = vec![0.0; count * rows.width()];
    rows.write_dense(&indices, &mut values);
    values
}

fn next_offer(shared: &Shared) -> Option<Offer> {
    let (slot, changed) = &**shared;
    let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if let Some(offer) = slot.offer.take() {
            return Some(offer);
        }
        if slot.is_closed {
            return None;
        }
        slot = changed.wait(slot).unwrap_or_else(PoisonError::into_inner);
    }
}
