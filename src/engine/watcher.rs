//! What a run tells while it goes on: collected on its own thread, offered at most ten times a second.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arrow::record_batch::RecordBatch;

use crate::data::Table;
use crate::engine::curves::{Curves, SharedCurves};
use crate::engine::snapshot::{CriticView, NormHistogram, RunView, SampleRows, Series};
use crate::evaluate::image::LiveFigures;
use crate::num::StewardOnly;
use crate::train::image::ImageGrid;
use crate::train::{ColumnHistogram, Control, Observation, PlanSummary, RunSettings, StepObservation};

/// The newest progress is offered this often, at most.
const OFFER_EVERY: Duration = Duration::from_millis(100);
/// Bins of the gradients' norms.
const NORM_BINS: usize = 24;
/// The rate shown is that of the last this many seconds.
const RATE_WINDOW: f64 = 5.0;

/// Where a run's thread leaves its newest progress; the latest wins.
#[derive(Debug, Default)]
pub(super) struct RunSlot(Mutex<Option<RunLive>>);

impl RunSlot {
    pub fn take(&self) -> Option<RunLive> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn offer(&self, live: RunLive) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(live);
    }
}

/// The part of a [`RunView`] that changes with every step.
#[derive(Clone, Debug)]
pub(super) struct RunLive {
    step: u64,
    taken_up_at: u64,
    seconds: f64,
    steps_per_second: f64,
    seconds_left: Option<f64>,
    critic_loss: StewardOnly<Series>,
    generator_loss: Series,
    critic: CriticView,
    total_variation: StewardOnly<Option<f64>>,
    frechet: StewardOnly<Series>,
    frechet_samples: usize,
    epsilon: Series,
    epsilon_projected: Series,
    histograms: StewardOnly<Arc<Vec<ColumnHistogram>>>,
    sample: Arc<SampleRows>,
    grids: Arc<Vec<Arc<ImageGrid>>>,
    judged: Option<Arc<LiveFigures>>,
}

impl RunLive {
    pub fn put_into(self, view: &mut RunView) {
        view.step = self.step;
        view.seconds = self.seconds;
        view.taken_up_at = self.taken_up_at;
        view.steps_per_second = self.steps_per_second;
        view.seconds_left = self.seconds_left;
        view.critic_loss = self.critic_loss;
        view.generator_loss = self.generator_loss;
        view.critic = self.critic;
        view.total_variation = self.total_variation;
        view.frechet = self.frechet;
        view.frechet_samples = self.frechet_samples;
        view.epsilon = self.epsilon;
        view.epsilon_projected = self.epsilon_projected;
        view.histograms = self.histograms;
        view.sample = self.sample;
        view.grids = self.grids;
        view.judged = self.judged;
    }
}

/// The first rows of a batch as text; `None` is missing.
fn format_rows(batch: &RecordBatch) -> SampleRows {
    SampleRows {
        columns: batch
            .schema()
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect(),
        rows: Table::from_batches("sample", &batch.schema(), std::slice::from_ref(batch))
            .and_then(|table| table.preview(0..table.rows()))
            .unwrap_or_default(),
    }
}

/// Collects what a run tells and offers it, at most ten times a second.
pub(super) struct Watcher {
    slot: Arc<RunSlot>,
    control: Arc<Control>,
    clock: Clock,
    taken_up_at: u64,
    step: u64,
    steps: u64,
    curves: SharedCurves,
    critic: CriticCollector,
    frechet_samples: usize,
    total_variation: Option<f64>,
    planned_curve: Vec<[f64; 2]>,
    histograms: Arc<Vec<ColumnHistogram>>,
    sample: Arc<SampleRows>,
    grids: Arc<Vec<Arc<ImageGrid>>>,
    judged: Option<Arc<LiveFigures>>,
    offered: Option<Instant>,
}

impl Watcher {
    /// Watches a run that begins, or that goes on from a step, and draws its curves.
    pub fn new(
        slot: Arc<RunSlot>,
        control: Arc<Control>,
        (plan, curves): (&PlanSummary, SharedCurves),
        from: u64,
    ) -> Self {
        Self {
            slot,
            control,
            clock: Clock::new(from),
            taken_up_at: from,
            step: from,
            steps: plan.steps,
            curves,
            critic: CriticCollector::new(plan),
            frechet_samples: 0,
            total_variation: None,
            planned_curve: plan.epsilon_curve.clone(),
            histograms: Arc::default(),
            sample: Arc::default(),
            grids: Arc::default(),
            judged: None,
            offered: None,
        }
    }

    pub fn observe(&mut self, observation: Observation) {
        match observation {
            Observation::Step(seen) => {
                self.step = seen.step;
                self.clock.tick(seen.step, self.control.held());
                let at = seen.step as f64;
                let mut curves = self.curves.lock();
                self.critic.see(&seen, &mut curves);
                if let Some(loss) = seen.critic_loss.into_steward() {
                    curves.critic_loss.push(at, loss);
                }
                if let Some(loss) = seen.generator_loss {
                    curves.generator_loss.push(at, loss);
                }
                if let Some(epsilon) = seen.epsilon {
                    curves.epsilon.push(at, epsilon);
                }
            }
            Observation::Fidelity(fidelity) => {
                if let Some(distance) = fidelity.frechet.into_steward() {
                    self.curves.lock().frechet.push(fidelity.step as f64, distance);
                }
                self.frechet_samples = fidelity.samples;
                self.total_variation = Some(fidelity.total_variation.into_steward());
                self.histograms = Arc::new(fidelity.histograms.into_steward());
            }
            Observation::Sample(batch) => self.sample = Arc::new(format_rows(&batch)),
            Observation::Judged(figures) => {
                if let Some(fid) = figures.figure("fid").into_steward() {
                    self.curves.lock().frechet.push(figures.step as f64, fid.value);
                }
                self.frechet_samples = figures.compared[0];
                self.judged = Some(Arc::new(figures));
            }
            Observation::Images(grid) => Arc::make_mut(&mut self.grids).push(Arc::new(grid)),
        }
        if self.offered.is_none_or(|at| at.elapsed() >= OFFER_EVERY) {
            self.offer();
        }
    }

    pub fn offer(&mut self) {
        self.offered = Some(Instant::now());
        let rate = self.clock.steps_per_second();
        let left = self.steps.saturating_sub(self.step) as f64;
        let curves = self.curves.lock();
        self.slot.offer(RunLive {
            step: self.step,
            taken_up_at: self.taken_up_at,
            seconds: self.clock.seconds(),
            steps_per_second: rate,
            seconds_left: (rate > 0.0 && !self.control.is_paused()).then(|| left / rate),
            critic_loss: StewardOnly::new(curves.critic_loss.series()),
            generator_loss: curves.generator_loss.series(),
            critic: self.critic.view(&curves),
            total_variation: StewardOnly::new(self.total_variation),
            frechet: StewardOnly::new(curves.frechet.series()),
            frechet_samples: self.frechet_samples,
            epsilon: curves.epsilon.series(),
            epsilon_projected: self.projection(),
            histograms: StewardOnly::new(Arc::clone(&self.histograms)),
            sample: Arc::clone(&self.sample),
            grids: Arc::clone(&self.grids),
            judged: self.judged.clone(),
        });
    }

    /// The planned ε from the present step on.
    fn projection(&self) -> Series {
        let at = self.step as f64;
        let points: Vec<_> = self
            .planned_curve
            .iter()
            .copied()
            .filter(|point| point[0] >= at)
            .collect();
        let last = points.last().map(|point| point[1]);
        let points = Arc::new(points);
        Series {
            raw: Arc::clone(&points),
            smooth: points,
            last,
        }
    }
}

/// Collects how the critic fares with single examples.
struct CriticCollector {
    /// The norm to which gradients are cut; `None` where nothing is cut.
    clip_norm: Option<f64>,
    norms: Option<Arc<NormHistogram>>,
}

impl CriticCollector {
    fn new(plan: &PlanSummary) -> Self {
        let clip_norm = match &plan.settings {
            RunSettings::Table(settings) => Some(settings.clip_norm),
            RunSettings::Images(settings) => Some(settings.clip_norm),
            RunSettings::Pairs(_) => None,
        };
        Self {
            // Without a promise gradients are left as they are.
            clip_norm: clip_norm.filter(|_| plan.budget_epsilon.is_some()),
            norms: None,
        }
    }

    fn see(&mut self, seen: &StepObservation, curves: &mut Curves) {
        let at = seen.step as f64;
        if let Some(accuracy) = seen.critic_accuracy {
            curves.accuracy.push(at, accuracy);
        }
        if let Some(share) = seen
            .clipped_share
            .for_steward()
            .filter(|_| self.clip_norm.is_some())
        {
            curves.clipped_share.push(at, share);
        }
        let norms = seen.gradient_norms.for_steward();
        if let Some(histogram) = norm_histogram(seen.step, norms, self.clip_norm) {
            self.norms = Some(Arc::new(histogram));
        }
    }

    fn view(&self, curves: &Curves) -> CriticView {
        CriticView {
            accuracy: curves.accuracy.series(),
            clipped_share: StewardOnly::new(curves.clipped_share.series()),
            norms: StewardOnly::new(self.norms.clone()),
        }
    }
}

/// Norms in [`NORM_BINS`] bins from 0 to the longest, or a little past the norm to which they are cut if all are shorter.
/// `None` without a norm.
fn norm_histogram(step: u64, norms: &[f32], clip_norm: Option<f64>) -> Option<NormHistogram> {
    let longest = norms.iter().copied().fold(0.0, f32::max);
    let end = f64::from(longest).max(clip_norm.unwrap_or(0.0) * 1.1);
    if norms.is_empty() || !end.is_finite() || end <= 0.0 {
        return None;
    }
    let width = end / NORM_BINS as f64;
    let mut counts = vec![0; NORM_BINS];
    for norm in norms.iter().filter(|norm| norm.is_finite()) {
        let bin = (f64::from(*norm) / width) as usize;
        counts[bin.min(NORM_BINS - 1)] += 1;
    }
    Some(NormHistogram {
        step,
        width,
        counts,
        clip_norm,
    })
}

/// Time spent on steps, pauses left out, and the rate of the last seconds.
///
/// The run's control measures the pauses, so a step that takes long is not mistaken for one, and a short pause
/// counts as what it is.
struct Clock {
    start: Instant,
    seconds: f64,
    /// `(seconds, step)` of the last few seconds.
    window: VecDeque<(f64, u64)>,
}

impl Clock {
    fn new(from: u64) -> Self {
        Self {
            start: Instant::now(),
            seconds: 0.0,
            window: VecDeque::from([(0.0, from)]),
        }
    }

    fn tick(&mut self, step: u64, held: Duration) {
        self.at(self.start.elapsed().saturating_sub(held).as_secs_f64(), step);
    }

    fn at(&mut self, seconds: f64, step: u64) {
        self.seconds = seconds;
        self.window.push_back((seconds, step));
        // One report from before the window stays, so that rare reports have a rate as well.
        while self.window.len() > 2
            && self
                .window
                .get(1)
                .is_some_and(|(at, _)| seconds - at > RATE_WINDOW)
        {
            self.window.pop_front();
        }
    }

    fn seconds(&self) -> f64 {
        self.seconds
    }

    fn steps_per_second(&self) -> f64 {
        match (self.window.front(), self.window.back()) {
            (Some((start, first)), Some((end, last))) if end > start => (last - first) as f64 / (end - start),
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_leaves_rate_and_time_left_as_they_were() {
        let mut clock = Clock::new(0);
        for report in 1..=40 {
            clock.at(0.25 * f64::from(report), 50 * u64::try_from(report).unwrap());
        }
        assert!((clock.steps_per_second() - 200.0).abs() < 1e-9);
        // An hour's pause is no time on steps, so the next report comes a quarter of a second later.
        clock.at(10.25, 2050);
        assert!((clock.steps_per_second() - 200.0).abs() < 1e-9);
        assert!((clock.seconds() - 10.25).abs() < 1e-12);
    }

    #[test]
    fn a_run_that_is_taken_up_is_timed_from_where_it_goes_on() {
        let mut clock = Clock::new(300);
        clock.at(2.0, 310);
        assert!((clock.steps_per_second() - 5.0).abs() < 1e-12);
    }

    #[test]
    fn held_time_is_not_spent_on_steps() {
        let mut clock = Clock::new(0);
        std::thread::sleep(Duration::from_millis(60));
        clock.tick(1, Duration::from_millis(50));
        let since = clock.start.elapsed().as_secs_f64();
        assert!(
            clock.seconds() >= 0.01 && clock.seconds() <= since - 0.05 + 1e-9,
            "{}",
            clock.seconds()
        );
    }

    #[test]
    fn every_norm_is_in_one_bin_and_the_clip_norm_in_view() {
        let norms = [0.0, 0.1, 0.5, 0.99, 2.4, 2.4];
        let seen = norm_histogram(7, &norms, Some(1.0)).unwrap();
        assert_eq!((seen.step, seen.counts.len()), (7, NORM_BINS));
        assert!((seen.width - 0.1).abs() < 1e-6, "{}", seen.width);
        assert_eq!(seen.counts.iter().sum::<u32>(), 6);
        assert_eq!(seen.counts[NORM_BINS - 1], 2, "the longest are in the last");
        let short = norm_histogram(8, &[0.01], Some(1.0)).unwrap();
        assert!(short.width * NORM_BINS as f64 > 1.0);
        assert_eq!(norm_histogram(9, &[], Some(1.0)), None);
        assert_eq!(norm_histogram(9, &[0.0], None), None);
        assert_eq!(norm_histogram(9, &[f32::INFINITY], None), None);
    }

    #[test]
    fn rare_reports_have_a_rate_too() {
        let mut clock = Clock::new(0);
        clock.at(20.0, 10);
        clock.at(40.0, 30);
        assert!((clock.steps_per_second() - 1.0).abs() < 1e-12);
        clock.at(60.0, 50);
        assert!((clock.steps_per_second() - 1.0).abs() < 1e-12);
    }
}
