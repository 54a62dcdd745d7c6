//! The runs of this session: queued beyond the cores, each on a thread of its own.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::data::Room;
use crate::engine::command::{RunId, RunRequest};
use crate::engine::coordinator::Coordinator;
use crate::engine::event::{Area, EngineEvent, Problem};
use crate::engine::interrupted::KeptFiles;
use crate::engine::run_job::{DeviceLost, FinishedRun, RunEnd, RunJob};
use crate::engine::snapshot::{CriticView, RunState, RunView, SampleRows, Series};
use crate::engine::watcher::RunSlot;
use crate::message;
use crate::num::StewardOnly;
use crate::privacy::ledger::{DatasetId, EntryId};
use crate::train::{Control, DeviceKind, PlanSummary};

#[derive(Default)]
#[expect(
    clippy::struct_field_names,
    reason = "the runs themselves, among what is known of them"
)]
pub(super) struct Runs {
    runs: Vec<Run>,
    started: u64,
    /// Data sets of which private figures of a run may have been seen in this session.
    watched: HashSet<DatasetId>,
}

struct Run {
    view: Arc<RunView>,
    control: Arc<Control>,
    slot: Arc<RunSlot>,
    /// The job of a run that still waits for a core.
    waiting: Option<Box<RunJob>>,
    /// Set when nothing of it is to be kept.
    unwanted: Arc<AtomicBool>,
    /// What came of it, for exports.
    finished: Option<Arc<FinishedRun>>,
    /// The files from which it can be taken up, while there are any.
    kept: Option<KeptFiles>,
}

impl Run {
    /// Nothing of it needs to outlive the program any more.
    fn let_go(&mut self) {
        self.kept = None;
        if let Some(keeper) = self
            .finished
            .as_ref()
            .and_then(|finished| finished.keeper.as_ref())
        {
            keeper.finish();
        }
    }
}

impl Runs {
    pub fn views(&self) -> Vec<Arc<RunView>> {
        self.runs.iter().map(|run| Arc::clone(&run.view)).collect()
    }

    pub fn any_active(&self) -> bool {
        self.runs.iter().any(|run| run.view.state.is_active())
    }

    /// Takes the newest progress of each run. Says whether there was any.
    pub fn poll(&mut self) -> bool {
        let mut news = false;
        for run in &mut self.runs {
            if let Some(live) = run.slot.take() {
                live.put_into(Arc::make_mut(&mut run.view));
                news = true;
            }
        }
        news
    }

    /// Keeps in mind that a run on this data set may be watched, and says whether one was before: the settings of
    /// this one may have been chosen by what it showed.
    fn watch(&mut self, dataset: Option<DatasetId>, is_watched: bool) -> bool {
        let Some(dataset) = dataset else { return false };
        let before = self.watched.contains(&dataset);
        if is_watched {
            self.watched.insert(dataset);
        }
        before
    }

    fn find(&mut self, id: RunId) -> Option<&mut Run> {
        self.runs.iter_mut().find(|run| run.view.id == id)
    }

    pub fn finished(&self, id: RunId) -> Option<Arc<FinishedRun>> {
        self.runs.iter().find(|run| run.view.id == id)?.finished.clone()
    }

    pub fn pause(&mut self, id: RunId) {
        if let Some(run) = self.find(id)
            && run.view.state == RunState::Running
        {
            run.control.pause();
            Arc::make_mut(&mut run.view).state = RunState::Paused;
        }
    }

    pub fn resume(&mut self, id: RunId) {
        if let Some(run) = self.find(id)
            && run.view.state == RunState::Paused
        {
            run.control.resume();
            Arc::make_mut(&mut run.view).state = RunState::Running;
        }
    }

    pub fn forget(&mut self, id: RunId) {
        let is_to_go = |run: &mut Run| run.view.id == id && !run.view.state.is_active();
        for mut run in self.runs.extract_if(.., is_to_go) {
            run.let_go();
        }
    }

    pub fn exported(&mut self, id: RunId) {
        if let Some(run) = self.find(id) {
            Arc::make_mut(&mut run.view).exported = true;
            // Only now: killed before, the program would have nothing left of what was paid for.
            run.let_go();
        }
    }

    pub fn stop_all(&mut self) {
        for run in &mut self.runs {
            if run.waiting.take().is_some() {
                Arc::make_mut(&mut run.view).state = RunState::Failed(never_started());
            } else if run.view.state.is_active() {
                run.control.leave();
            }
        }
    }

    pub fn set_plan(&mut self, id: RunId, plan: Arc<PlanSummary>, device: DeviceKind) {
        if let Some(run) = self.find(id) {
            let view = Arc::make_mut(&mut run.view);
            view.steps = plan.steps;
            view.device = device;
            view.plan = Some(plan);
        }
    }

    /// Takes the last progress and the end of a run.
    pub fn end(&mut self, id: RunId, end: &RunEnd) {
        if let Some(run) = self.find(id) {
            let view = Arc::make_mut(&mut run.view);
            if let Some(live) = run.slot.take() {
                live.put_into(view);
            }
            view.seconds_left = None;
            if !matches!(end, RunEnd::Finished(finished, _) if finished.keeper.is_some()) {
                run.kept = None;
            }
            match end {
                RunEnd::Finished(finished, claims) => {
                    view.step = view.step.max(finished.trained.steps_done);
                    view.claims = Some(claims.clone());
                    view.state = RunState::Finished(finished.reason());
                    run.finished = Some(Arc::clone(finished));
                }
                RunEnd::DeviceLost(lost) => view.state = RunState::Failed(lost.problem.clone()),
                RunEnd::Failed(problem) | RunEnd::Left(problem) => {
                    view.state = RunState::Failed(problem.clone());
                    if run.unwanted.load(Ordering::Acquire) {
                        throw_away(view);
                    }
                }
            }
        }
    }

    fn running(&self) -> usize {
        self.runs
            .iter()
            .filter(|run| run.waiting.is_none() && run.view.state.is_active())
            .count()
    }
}

/// Nothing of a run that was thrown away is kept, so nothing of it is shown either: neither what was computed on
/// private rows nor rows that nobody has paid for.
fn throw_away(view: &mut RunView) {
    view.thrown_away = true;
    view.critic_loss = StewardOnly::new(Series::default());
    view.generator_loss = Series::default();
    view.critic = CriticView::default();
    view.total_variation = StewardOnly::new(None);
    view.frechet = StewardOnly::new(Series::default());
    view.frechet_samples = 0;
    view.epsilon = Series::default();
    view.epsilon_projected = Series::default();
    view.histograms = StewardOnly::new(Arc::default());
    view.sample = Arc::default();
    view.grids = Arc::default();
    view.judged = None;
}

fn never_started() -> Problem {
    Problem::plain(
        Area::Train,
        message!(
            "say-never-started",
            "the run was stopped while it waited for a core; nothing was spent"
        ),
    )
}

impl Coordinator {
    pub(super) fn start_run(&mut self, request: RunRequest) {
        self.begin_run(request, None);
    }

    /// Starts a run, or goes on with one that was cut short.
    pub(super) fn begin_run(&mut self, request: RunRequest, takes_up: Option<String>) {
        let Some(dataset) = self.dataset.current().cloned() else {
            return self.fail(Problem::plain(
                Area::Train,
                message!("say-run-no-table", "open a table before starting a run"),
            ));
        };
        if let Some(problem) = &dataset.misfit
            && takes_up.is_none()
        {
            return self.fail(problem.clone());
        }
        if request.method.is_private()
            && takes_up.is_none()
            && let Err(problem) = self.dataset.whose_budget()
        {
            return self.fail(problem);
        }
        self.runs.started += 1;
        let id = RunId(self.runs.started);
        let control = Arc::new(Control::default());
        let slot = Arc::new(RunSlot::default());
        let kept = takes_up.as_ref().map(|id| KeptFiles::of(&self.home, id));
        let view = Arc::new(RunView {
            id,
            name: kept.as_ref().and_then(KeptFiles::given_name),
            entry: None,
            dataset: dataset.name.clone(),
            path: dataset.path.clone(),
            identity: self.dataset.identity(),
            method: request.method,
            target: request.target,
            seed: request.seed,
            device: request.device,
            state: RunState::Queued,
            plan: None,
            step: 0,
            steps: 0,
            steps_per_second: 0.0,
            seconds_left: None,
            seconds: 0.0,
            taken_up_at: 0,
            critic_loss: StewardOnly::new(Series::default()),
            generator_loss: Series::default(),
            critic: CriticView::default(),
            total_variation: StewardOnly::new(None),
            frechet: StewardOnly::new(Series::default()),
            frechet_samples: 0,
            epsilon: Series::default(),
            epsilon_projected: Series::default(),
            histograms: StewardOnly::new(Arc::default()),
            sample: Arc::new(SampleRows::default()),
            grids: Arc::default(),
            judged: None,
            generation: dataset.generation,
            thrown_away: false,
            exported: false,
            claims: None,
        });
        let identity = self.dataset.identity();
        let tuned = self.runs.watch(identity, request.watched);
        let unwanted = Arc::new(AtomicBool::new(false));
        let job = Box::new(RunJob {
            id,
            dataset,
            identity,
            request,
            tuned,
            unwanted: Arc::clone(&unwanted),
            takes_up,
            home: self.home.clone(),
            room: Room::beyond_memory_in(self.home.clone()),
            ledger: self.ledger.clone(),
            control: Arc::clone(&control),
            slot: Arc::clone(&slot),
            notes: self.note_sender.clone(),
        });
        self.runs.runs.push(Run {
            view,
            control,
            slot,
            waiting: Some(job),
            unwanted,
            finished: None,
            kept,
        });
        self.start_waiting_runs();
    }

    /// Starts as many waiting runs as there are free cores, the oldest first.
    fn start_waiting_runs(&mut self) {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        while self.runs.running() < cores {
            let Some(run) = self.runs.runs.iter_mut().find(|run| run.waiting.is_some()) else {
                return;
            };
            let Some(job) = run.waiting.take() else { return };
            let view = Arc::make_mut(&mut run.view);
            view.state = RunState::Preparing;
            let id = view.id;
            let spawned = std::thread::Builder::new()
                .name(id.to_string())
                .spawn(move || job.run());
            if let Err(error) = spawned {
                let problem = Problem::new(Area::Train, &super::super::EngineError::Thread(error));
                self.runs.end(id, &RunEnd::Failed(problem.clone()));
                self.tell(EngineEvent::RunFailed { run: id, problem });
            }
        }
    }

    pub(super) fn stop_run(&mut self, id: RunId) {
        let Some(run) = self.runs.find(id) else { return };
        if run.waiting.take().is_some() {
            let problem = never_started();
            Arc::make_mut(&mut run.view).state = RunState::Failed(problem.clone());
            self.tell(EngineEvent::RunFailed { run: id, problem });
        } else if run.view.state.is_active() {
            run.control.stop();
            Arc::make_mut(&mut run.view).state = RunState::Stopping;
        }
    }

    pub(super) fn discard_run(&mut self, id: RunId) {
        if let Some(run) = self.runs.find(id)
            && run.view.state.is_active()
        {
            run.unwanted.store(true, Ordering::Release);
            self.stop_run(id);
        }
    }

    /// Gives a run another name, which outlives the program as far as the run does.
    pub(super) fn rename_run(&mut self, id: RunId, name: &str) {
        if let Some(run) = self.runs.find(id) {
            let name = name.trim();
            Arc::make_mut(&mut run.view).name = (!name.is_empty()).then(|| name.to_owned());
            self.keep_name(id);
        }
    }

    /// Keeps a run's name beside its checkpoint, if it has one.
    fn keep_name(&mut self, id: RunId) {
        let Some(run) = self.runs.find(id) else { return };
        let Some(files) = &run.kept else { return };
        if let Err(problem) = files.give_name(run.view.name.as_deref()) {
            let message = message!(
                "say-name-not-kept",
                "the run's name is not kept beyond the end of the program: {reason}",
                reason = problem.message
            );
            self.tell(EngineEvent::Warning {
                run: Some(id),
                area: Area::Train,
                message,
            });
        }
    }

    pub(super) fn run_started(&mut self, id: RunId, entry: Option<EntryId>, kept: Option<String>) {
        let kept = kept.map(|kept| KeptFiles::of(&self.home, &kept));
        if let Some(run) = self.runs.find(id) {
            run.kept = kept;
            let view = Arc::make_mut(&mut run.view);
            view.entry = entry;
            if view.state == RunState::Preparing {
                view.state = RunState::Running;
            }
        }
        // It may have been renamed while it waited.
        self.keep_name(id);
        self.refresh_ledger();
        self.find_interrupted();
        self.tell(EngineEvent::Started {
            run: id,
            ledger_entry: entry,
        });
    }

    pub(super) fn run_ended(&mut self, id: RunId, end: RunEnd) {
        self.runs.end(id, &end);
        self.refresh_ledger();
        self.find_interrupted();
        self.tell(match end {
            RunEnd::Finished(finished, _) => EngineEvent::Finished {
                run: id,
                reason: finished.reason(),
            },
            RunEnd::Failed(problem) => EngineEvent::RunFailed { run: id, problem },
            RunEnd::Left(_) => EngineEvent::Left { run: id },
            RunEnd::DeviceLost(lost) => {
                self.go_on_without_device(id, *lost);
                return self.start_waiting_runs();
            }
        });
        self.start_waiting_runs();
    }
}

impl Coordinator {
    /// Takes up a run whose device failed on the processor, under the same reservation: at once if its table is still
    /// open, and otherwise when a person says so.
    fn go_on_without_device(&mut self, id: RunId, lost: DeviceLost) {
        let device = lost.request.device.name();
        let reason = lost.problem.message.clone();
        let is_open = self
            .dataset
            .current()
            .is_some_and(|dataset| dataset.generation == lost.generation);
        let message = if is_open {
            message!(
                "say-device-lost",
                "the device `{device}` failed, so the run goes on on `flex` from its last checkpoint, under the same reservation: {reason}",
                device = device,
                reason = reason
            )
        } else {
            message!(
                "say-device-lost-later",
                "the device `{device}` failed; the run can be resumed from its last checkpoint on `flex`: {reason}",
                device = device,
                reason = reason
            )
        };
        self.tell(EngineEvent::Warning {
            run: Some(id),
            area: Area::Train,
            message,
        });
        if is_open {
            let request = RunRequest {
                device: DeviceKind::Flex,
                ..lost.request
            };
            self.begin_run(request, Some(lost.kept));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::ledger::Ledger;

    #[test]
    fn settings_may_have_been_chosen_by_an_earlier_run_that_was_watched() {
        let home = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(home.path()).unwrap();
        let [one, other] = [1, 2].map(|digest| Some(ledger.identify([digest; 32]).unwrap()));
        let mut runs = Runs::default();
        assert!(!runs.watch(one, false), "it is the first");
        assert!(!runs.watch(one, true), "nobody saw the one before");
        assert!(runs.watch(one, false), "somebody may have seen the one before");
        assert!(runs.watch(one, true));
        assert!(!runs.watch(other, true), "that was another table");
        assert!(!runs.watch(None, true));
    }
}
