//! The curves of a run over its steps, and how they are kept beside its checkpoint: a run that is taken up has them whole.
//!
//! Losses of a critic and distances are computed on rows without noise, so the file is for the steward as the plots are.
//! It stays in the program's folder and goes when the checkpoint goes. What was not watched is not in it. No run depends
//! on it: where it cannot be read, the curves begin where the run goes on, and that is told.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::engine::series::SeriesCollector;
use crate::engine::told;
use crate::export::ExportError;
use crate::message;
use crate::num::Message;
use crate::num::files::read_whole;
use crate::train::PlanSummary;

/// What a file begins with: what it is, and in which form.
const MAGIC: &[u8; 8] = b"PTCURVE1";
/// Bytes of the check at a file's end.
const CHECK: usize = 16;
/// More than all curves take that can be drawn.
const MOST_BYTES: u64 = 1 << 20;

/// Weight of the past in the smoothed losses, a report: a critic's loss hops from one drawn batch to the next.
const LOSS_MEMORY: f64 = 0.98;
/// The same of a generator that follows one release.
const CALM_MEMORY: f64 = 0.9;

/// All curves of a run.
#[derive(Clone, Debug)]
pub(super) struct Curves {
    pub critic_loss: SeriesCollector,
    pub generator_loss: SeriesCollector,
    pub accuracy: SeriesCollector,
    pub clipped_share: SeriesCollector,
    pub frechet: SeriesCollector,
    pub epsilon: SeriesCollector,
}

impl Curves {
    /// Empty ones for a run of this plan.
    pub fn new(plan: &PlanSummary) -> Self {
        Self::with_memory(if plan.looks_once() {
            CALM_MEMORY
        } else {
            LOSS_MEMORY
        })
    }

    fn with_memory(memory: f64) -> Self {
        Self {
            critic_loss: SeriesCollector::new(memory),
            generator_loss: SeriesCollector::new(memory),
            accuracy: SeriesCollector::new(LOSS_MEMORY),
            clipped_share: SeriesCollector::new(LOSS_MEMORY),
            frechet: SeriesCollector::new(0.0),
            epsilon: SeriesCollector::new(0.0),
        }
    }

    const fn all(&self) -> [&SeriesCollector; 6] {
        [
            &self.critic_loss,
            &self.generator_loss,
            &self.accuracy,
            &self.clipped_share,
            &self.frechet,
            &self.epsilon,
        ]
    }

    const fn all_mut(&mut self) -> [&mut SeriesCollector; 6] {
        [
            &mut self.critic_loss,
            &mut self.generator_loss,
            &mut self.accuracy,
            &mut self.clipped_share,
            &mut self.frechet,
            &mut self.epsilon,
        ]
    }

    /// As a file holds them.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for series in self.all() {
            series.write(&mut bytes);
        }
        let check = blake3::hash(&bytes);
        bytes.extend_from_slice(&check.as_bytes()[..CHECK]);
        bytes
    }

    /// Goes on from a file's curves, up to a step; `None` for what is no whole file of curves.
    fn read(&self, bytes: &[u8], step: u64) -> Option<Self> {
        let (content, check) = bytes.split_last_chunk::<CHECK>()?;
        let mut rest = content.strip_prefix(MAGIC)?;
        if blake3::hash(content).as_bytes()[..CHECK] != check[..] {
            return None;
        }
        let mut read = self.clone();
        for series in read.all_mut() {
            series.read(&mut rest)?;
            // A program that was killed between the two files leaves curves that are ahead of the checkpoint.
            series.end_at(step as f64);
        }
        rest.is_empty().then_some(read)
    }

    /// Goes on from the curves in a file, up to the step of its checkpoint.
    ///
    /// # Errors
    /// When the file is missing or damaged: a person should know, and the curves stay as they are.
    pub fn take_up(&mut self, path: &Path, step: u64) -> Result<(), Message> {
        let bytes = read_whole(path, MOST_BYTES).map_err(|source| {
            told::message(&ExportError::Read {
                path: path.into(),
                source,
            })
        })?;
        let read = self
            .read(&bytes, step)
            .ok_or_else(|| message!("say-curves-damaged", "the file of its curves is damaged"))?;
        *self = read;
        Ok(())
    }
}

/// The curves as the run's watcher and its keeper hold them.
#[derive(Clone, Debug)]
pub(super) struct SharedCurves(Arc<Mutex<Curves>>);

impl SharedCurves {
    /// Empty ones for a run of this plan.
    pub fn new(plan: &PlanSummary) -> Self {
        Self(Arc::new(Mutex::new(Curves::new(plan))))
    }

    /// Holds them for a moment.
    pub fn lock(&self) -> MutexGuard<'_, Curves> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Pushes the same values into all curves, from a step on.
    fn push(curves: &mut Curves, from: usize, values: &[f64]) {
        for (at, value) in values.iter().enumerate() {
            for series in curves.all_mut() {
                series.push((from + at) as f64, *value);
            }
        }
    }

    /// The bits of a line's points, of its smoothed points and of its last value.
    type Bits = (Vec<[u64; 2]>, Vec<[u64; 2]>, Option<u64>);

    /// All that is drawn of them, bit by bit.
    fn drawn(curves: &Curves) -> Vec<Bits> {
        let bits = |points: &[[f64; 2]]| points.iter().map(|point| point.map(f64::to_bits)).collect();
        let series = curves.all().into_iter().map(SeriesCollector::series);
        series
            .map(|series| {
                (
                    bits(&series.raw),
                    bits(&series.smooth),
                    series.last.map(f64::to_bits),
                )
            })
            .collect()
    }

    fn value() -> impl Strategy<Value = f64> {
        prop_oneof![8 => -1e6_f64..1e6, 1 => Just(f64::NAN), 1 => Just(f64::INFINITY)]
    }

    proptest! {
        #[test]
        fn a_run_that_is_cut_and_taken_up_has_the_curves_of_one_that_was_not(
            before in prop::collection::vec(value(), 0..4000),
            after in prop::collection::vec(value(), 0..2000),
        ) {
            let mut whole = Curves::with_memory(LOSS_MEMORY);
            push(&mut whole, 0, &before);
            let taken = Curves::with_memory(LOSS_MEMORY).read(&whole.to_bytes(), 1 << 40);
            let mut taken = taken.expect("what was written can be read");
            prop_assert_eq!(drawn(&taken), drawn(&whole));
            push(&mut whole, before.len(), &after);
            push(&mut taken, before.len(), &after);
            prop_assert_eq!(drawn(&taken), drawn(&whole));
        }

        #[test]
        fn curves_ahead_of_the_checkpoint_end_at_its_step(
            values in prop::collection::vec(-9.0_f64..9.0, 1..4000),
            step in 0_u64..5000,
        ) {
            let mut whole = Curves::with_memory(LOSS_MEMORY);
            push(&mut whole, 0, &values);
            let mut taken = Curves::with_memory(LOSS_MEMORY).read(&whole.to_bytes(), step).unwrap();
            let ends = |curves: &Curves| curves.epsilon.series().raw.last().map_or(-1.0, |point| point[0]);
            prop_assert!(ends(&taken) <= step as f64);
            push(&mut taken, step as usize + 1, &[1.0]);
            let raw = taken.epsilon.series().raw;
            prop_assert!(raw.is_sorted_by(|one, other| one[0] <= other[0]));
        }

        #[test]
        fn a_damaged_file_is_found_out(
            values in prop::collection::vec(-9.0_f64..9.0, 0..50),
            at in any::<prop::sample::Index>(),
            change in 1_u8..,
        ) {
            let mut curves = Curves::with_memory(CALM_MEMORY);
            push(&mut curves, 0, &values);
            let mut bytes = curves.to_bytes();
            let at = at.index(bytes.len());
            prop_assert!(curves.read(&bytes[..at], 1 << 40).is_none());
            bytes[at] ^= change;
            prop_assert!(curves.read(&bytes, 1 << 40).is_none());
        }
    }

    /// Whole by its check, and still not a file that this program wrote.
    #[test]
    fn numbers_that_make_no_sense_are_refused() {
        for numbers in [
            &[0_u64, 0, 0, 0, 0][..],
            &[1, 2, 0, 0, 0],
            &[1, 0, u64::MAX, 0, 0],
            &[1, 0, 0, 7, 0],
        ] {
            let mut bytes = MAGIC.to_vec();
            for _ in 0..6 {
                bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            }
            let check = blake3::hash(&bytes);
            bytes.extend_from_slice(&check.as_bytes()[..CHECK]);
            assert!(Curves::with_memory(0.5).read(&bytes, 9).is_none(), "{numbers:?}");
        }
    }

    #[test]
    fn a_missing_file_is_told_and_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut curves = Curves::with_memory(0.5);
        push(&mut curves, 0, &[1.0, 2.0]);
        let before = drawn(&curves);
        let path = folder.path().join("x.curves");
        assert!(curves.take_up(&path, 9).is_err());
        std::fs::write(&path, b"no curves").unwrap();
        let said = curves.take_up(&path, 9).unwrap_err();
        assert_eq!(said.key(), Some("say-curves-damaged"));
        assert_eq!(drawn(&curves), before);
    }
}
