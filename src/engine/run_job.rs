//! One run, on its own thread: plan, encode, reserve, train, settle.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arrow::record_batch::RecordBatch;

use crossbeam_channel::Sender;

use crate::data::{EncodedRows, RowEncoder, Schema, Table};
use crate::engine::command::{RunId, RunRequest};
use crate::engine::coordinator::Note;
use crate::engine::event::{Area, Problem};
use crate::engine::ledger_thread::LedgerHandle;
use crate::engine::series::SeriesCollector;
use crate::engine::snapshot::{Dataset, RunView, SampleRows, Series};
use crate::num::Delta;
use crate::num::{Progress, RandomSource, StewardOnly};
use crate::privacy::ledger::{DatasetId, EntryId, Outcome, PrivacyUnit, Reservation, Settlement};
use crate::privacy::{AccountantKind, EventList};
use crate::train::{
    ColumnHistogram, Control, Observation, Plan, PlanSummary, Privacy, StopReason, TrainError, TrainSettings,
    Trained, Training, describe, recommended,
};

/// The newest progress is offered this often, at most.
const OFFER_EVERY: Duration = Duration::from_millis(100);
/// Weight of the past in the smoothed losses, a step.
const LOSS_MEMORY: f64 = 0.98;
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
    seconds: f64,
    steps_per_second: f64,
    seconds_left: Option<f64>,
    critic_loss: StewardOnly<Series>,
    generator_loss: Series,
    total_variation: StewardOnly<Option<f64>>,
    frechet: StewardOnly<Series>,
    frechet_samples: usize,
    epsilon: Series,
    epsilon_projected: Series,
    histograms: StewardOnly<Arc<Vec<ColumnHistogram>>>,
    sample: Arc<SampleRows>,
}

impl RunLive {
    pub fn put_into(self, view: &mut RunView) {
        view.step = self.step;
        view.seconds = self.seconds;
        view.steps_per_second = self.steps_per_second;
        view.seconds_left = self.seconds_left;
        view.critic_loss = self.critic_loss;
        view.generator_loss = self.generator_loss;
        view.total_variation = self.total_variation;
        view.frechet = self.frechet;
        view.frechet_samples = self.frechet_samples;
        view.epsilon = self.epsilon;
        view.epsilon_projected = self.epsilon_projected;
        view.histograms = self.histograms;
        view.sample = self.sample;
    }
}

/// A run that has ended with a generator, and all that its certificate needs.
pub(super) struct FinishedRun {
    pub request: RunRequest,
    pub dataset: Arc<Dataset>,
    pub identity: Option<DatasetId>,
    pub plan: PlanSummary,
    pub planned: EventList,
    pub entry: Option<EntryId>,
    pub trained: Trained,
}

impl FinishedRun {
    pub fn reason(&self) -> StopReason {
        self.trained.stopped
    }
}

/// How a run ended.
pub(super) enum RunEnd {
    Finished(Arc<FinishedRun>),
    Failed(Problem),
}

/// Everything that a run's thread needs.
pub(super) struct RunJob {
    pub id: RunId,
    pub dataset: Arc<Dataset>,
    pub identity: Option<DatasetId>,
    pub request: RunRequest,
    pub ledger: LedgerHandle,
    pub control: Arc<Control>,
    pub slot: Arc<RunSlot>,
    pub notes: Sender<Note>,
}

impl RunJob {
    /// Runs to the end, whatever it is, and tells it.
    pub fn run(self) {
        let (id, notes) = (self.id, self.notes.clone());
        let end = match super::catching(Area::Train, || self.attempt()) {
            Ok(finished) => RunEnd::Finished(Arc::new(finished)),
            Err(problem) => RunEnd::Failed(problem),
        };
        // A coordinator that is gone needs to hear nothing; the ledger has its entry.
        let _ = notes.send(Note::RunEnded {
            run: id,
            end: Box::new(end),
        });
    }

    fn attempt(self) -> Result<FinishedRun, Problem> {
        let failed = |error: &(dyn std::error::Error + 'static)| Problem::new(Area::Train, error);
        let dataset = Arc::clone(&self.dataset);
        let plan = plan_for(&self.request, &dataset.schema, dataset.table.rows())?;
        let summary = plan.summary();
        let _ = self.notes.send(Note::RunPlanned {
            run: self.id,
            plan: Arc::new(summary.clone()),
        });
        for warning in plan.warnings() {
            self.warn(warning.to_string());
        }
        let encoder =
            RowEncoder::new(&dataset.schema, plan.encoder_settings()).map_err(|error| failed(&error))?;
        let rows = encoder
            .encode(&dataset.table, &Progress::default())
            .map_err(|error| failed(&error))?;
        self.warn_of_clamped(&rows);
        let random = self
            .request
            .seed
            .map_or_else(RandomSource::from_operating_system, RandomSource::seeded);
        let planned = plan.events();
        let entry = self.reserve(&plan)?;
        let _ = self.notes.send(Note::RunStarted { run: self.id, entry });

        let mut watcher = Watcher::new(Arc::clone(&self.slot), Arc::clone(&self.control), &summary);
        // A panic while training must still leave the account right, so it is caught here, inside the entry.
        let outcome = super::catching(Area::Train, || {
            Training::new(plan, encoder, rows, self.request.device, random)
                .and_then(|training| training.run(&self.control, &mut |seen| watcher.observe(seen)))
                .map_err(|error| RunFailure::of(&error))
                .map_or_else(|failure| Ok(Err(failure)), |trained| Ok(Ok(trained)))
        });
        watcher.offer();
        match outcome {
            Ok(Ok(trained)) => {
                self.settle(entry, (&summary, &planned), &trained)?;
                Ok(FinishedRun {
                    request: self.request,
                    dataset,
                    identity: self.identity,
                    plan: summary,
                    planned,
                    entry,
                    trained,
                })
            }
            Ok(Err(failure)) => {
                self.settle_failure(entry, &summary, failure.executed, &failure.problem);
                Err(failure.problem)
            }
            Err(panic) => {
                // How far it came is not known: the whole plan stays charged.
                self.settle_failure(entry, &summary, planned, &panic);
                Err(panic)
            }
        }
    }

    fn warn(&self, message: String) {
        let _ = self.notes.send(Note::RunWarning {
            run: self.id,
            message,
        });
    }

    fn warn_of_clamped(&self, rows: &EncodedRows) {
        let cells = rows.clamped_cells();
        if cells > 0 {
            self.warn(format!(
                "{cells} numbers lie outside their public bounds and count as the nearest bound (steward only)"
            ));
        }
    }

    /// Charges the whole plan before the first step. Runs without a promise are not charged.
    fn reserve(&self, plan: &Plan) -> Result<Option<EntryId>, Problem> {
        let (Some(epsilon), Some(delta)) = (plan.epsilon(), plan.delta()) else {
            return Ok(None);
        };
        let Some(dataset) = self.identity else {
            let message = "the ledger cannot be used, so nothing may be spent; see the log for the reason";
            return Err(Problem::plain(Area::Ledger, message));
        };
        let schema = &self.dataset.schema;
        let steps = plan.steps();
        let reservation = Reservation {
            dataset,
            dataset_name: self.dataset.name.clone(),
            kind: self.request.method.name().into(),
            events: plan.events(),
            epsilon,
            delta: delta.get(),
            unit: PrivacyUnit::Row,
            public: schema.public,
            description: match self.request.seed {
                Some(seed) => format!("{steps} steps, fixed seed {seed}: not private"),
                None => format!("{steps} steps"),
            },
        };
        self.ledger
            .reserve(reservation)
            .map(Some)
            .map_err(|error| Problem::new(Area::Ledger, &error))
    }

    fn settle(
        &self,
        entry: Option<EntryId>,
        (plan, planned): (&PlanSummary, &EventList),
        trained: &Trained,
    ) -> Result<(), Problem> {
        let (Some(entry), Some(epsilon), Some(delta)) = (entry, trained.epsilon, plan.delta) else {
            return Ok(());
        };
        let by_person = trained.stopped == StopReason::ByPerson;
        let settlement = Settlement {
            events: if by_person {
                planned.clone()
            } else {
                trained.executed.clone()
            },
            epsilon: if by_person {
                plan.epsilon.unwrap_or(epsilon)
            } else {
                epsilon
            },
            delta,
            outcome: if by_person {
                Outcome::StoppedByPerson
            } else {
                Outcome::Finished
            },
            note: by_person.then(|| format!("stopped by a person after {} steps", trained.steps_done)),
        };
        self.ledger
            .settle(entry, settlement)
            .map_err(|error| Problem::new(Area::Ledger, &error))
    }

    /// Keeps the account of a run that failed. If even that fails, the reservation stays charged in full.
    fn settle_failure(
        &self,
        entry: Option<EntryId>,
        plan: &PlanSummary,
        events: EventList,
        problem: &Problem,
    ) {
        let (Some(entry), Some(delta)) = (entry, plan.delta) else {
            return;
        };
        // What cannot be accounted stays charged as planned.
        let Some(epsilon) = Delta::new(delta)
            .ok()
            .and_then(|delta| AccountantKind::Rdp.epsilon(&events, delta).ok())
        else {
            return;
        };
        let settlement = Settlement {
            events,
            epsilon,
            delta,
            outcome: Outcome::Failed {
                message: problem.message.clone(),
            },
            note: None,
        };
        if let Err(error) = self.ledger.settle(entry, settlement) {
            self.warn(format!(
                "the account of {} stays at its whole plan: {error}",
                self.id
            ));
        }
    }
}

/// A failure in training, with what had been executed by then.
struct RunFailure {
    problem: Problem,
    executed: EventList,
}

impl RunFailure {
    fn of(error: &TrainError) -> Self {
        Self {
            problem: Problem::new(Area::Train, error),
            executed: error.executed(),
        }
    }
}

/// The plan of a request: the settings asked for, or the recommended ones, and single changes to them.
pub(super) fn plan_for(request: &RunRequest, schema: &Schema, rows: usize) -> Result<Plan, Problem> {
    let privacy = match request.target {
        Some(target) => Privacy::Private {
            epsilon: target.epsilon,
            delta: target.delta,
            neighboring: target.neighboring,
        },
        None => Privacy::None,
    };
    let settings = settings_for(request, schema, rows)?;
    Plan::new(&settings, schema, rows, privacy).map_err(|error| Problem::new(Area::Train, &error))
}

fn settings_for(request: &RunRequest, schema: &Schema, rows: usize) -> Result<TrainSettings, Problem> {
    let epsilon = request.target.map(|target| target.epsilon);
    let mut settings = match (&request.settings, epsilon) {
        (Some(settings), _) => settings.clone(),
        (None, Some(epsilon)) => recommended(rows, schema, epsilon),
        (None, None) => TrainSettings::default(),
    };
    for (key, value) in &request.overrides {
        describe::set_text(&mut settings, key, value).map_err(|error| Problem::new(Area::Train, &error))?;
    }
    Ok(settings)
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
            .map_or_else(|_| Vec::new(), |table| table.preview(0..table.rows())),
    }
}

/// Collects what a run tells and offers it, at most ten times a second.
struct Watcher {
    slot: Arc<RunSlot>,
    control: Arc<Control>,
    clock: Clock,
    step: u64,
    steps: u64,
    critic_loss: SeriesCollector,
    generator_loss: SeriesCollector,
    frechet: SeriesCollector,
    frechet_samples: usize,
    total_variation: Option<f64>,
    epsilon: SeriesCollector,
    planned_curve: Vec<[f64; 2]>,
    histograms: Arc<Vec<ColumnHistogram>>,
    sample: Arc<SampleRows>,
    offered: Option<Instant>,
}

impl Watcher {
    fn new(slot: Arc<RunSlot>, control: Arc<Control>, plan: &PlanSummary) -> Self {
        Self {
            slot,
            control,
            clock: Clock::new(),
            step: 0,
            steps: plan.steps,
            critic_loss: SeriesCollector::new(LOSS_MEMORY),
            generator_loss: SeriesCollector::new(LOSS_MEMORY),
            frechet: SeriesCollector::new(0.0),
            frechet_samples: 0,
            total_variation: None,
            epsilon: SeriesCollector::new(0.0),
            planned_curve: plan.epsilon_curve.clone(),
            histograms: Arc::default(),
            sample: Arc::default(),
            offered: None,
        }
    }

    fn observe(&mut self, observation: Observation) {
        match observation {
            Observation::Step(seen) => {
                self.step = seen.step;
                self.clock.tick(seen.step);
                let at = seen.step as f64;
                if let Some(loss) = seen.critic_loss.into_steward() {
                    self.critic_loss.push(at, loss);
                }
                if let Some(loss) = seen.generator_loss {
                    self.generator_loss.push(at, loss);
                }
                if let Some(epsilon) = seen.epsilon {
                    self.epsilon.push(at, epsilon);
                }
            }
            Observation::Fidelity(fidelity) => {
                if let Some(distance) = fidelity.frechet.into_steward() {
                    self.frechet.push(fidelity.step as f64, distance);
                }
                self.frechet_samples = fidelity.samples;
                self.total_variation = Some(fidelity.total_variation.into_steward());
                self.histograms = Arc::new(fidelity.histograms.into_steward());
            }
            Observation::Sample(batch) => self.sample = Arc::new(format_rows(&batch)),
        }
        if self.offered.is_none_or(|at| at.elapsed() >= OFFER_EVERY) {
            self.offer();
        }
    }

    fn offer(&mut self) {
        self.offered = Some(Instant::now());
        let rate = self.clock.steps_per_second();
        let left = self.steps.saturating_sub(self.step) as f64;
        self.slot.offer(RunLive {
            step: self.step,
            seconds: self.clock.seconds(),
            steps_per_second: rate,
            seconds_left: (rate > 0.0 && !self.control.is_paused()).then(|| left / rate),
            critic_loss: StewardOnly::new(self.critic_loss.series()),
            generator_loss: self.generator_loss.series(),
            total_variation: StewardOnly::new(self.total_variation),
            frechet: StewardOnly::new(self.frechet.series()),
            frechet_samples: self.frechet_samples,
            epsilon: self.epsilon.series(),
            epsilon_projected: self.projection(),
            histograms: StewardOnly::new(Arc::clone(&self.histograms)),
            sample: Arc::clone(&self.sample),
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

/// Time spent on steps, pauses left out, and the rate of the last seconds.
struct Clock {
    last: Option<Instant>,
    seconds: f64,
    /// `(seconds, step)` of the last few seconds.
    window: VecDeque<(f64, u64)>,
}

impl Clock {
    /// A gap between two reports that is longer than this was a pause.
    const LONGEST_GAP: f64 = 2.0;

    fn new() -> Self {
        Self {
            last: None,
            seconds: 0.0,
            window: VecDeque::new(),
        }
    }

    fn tick(&mut self, step: u64) {
        let now = Instant::now();
        if let Some(last) = self.last {
            let gap = (now - last).as_secs_f64();
            self.seconds += gap.min(Self::LONGEST_GAP);
        }
        self.last = Some(now);
        self.window.push_back((self.seconds, step));
        while self
            .window
            .front()
            .is_some_and(|(at, _)| self.seconds - at > RATE_WINDOW)
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
