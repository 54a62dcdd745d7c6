//! The engine's own thread: keeps the state, hands work to the other threads, and publishes snapshots.
//!
//! It never computes anything that could take long, so a command is answered at once whatever else goes on.

mod dataset;
mod explore;
mod exports;
mod interrupted;
mod meaning;
mod nearest;
mod plans;
mod releases;
mod review;
mod runs;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, after, bounded, never, select};

use crate::data::Column;
use crate::engine::command::{Command, DataSource, RunId};
use crate::engine::event::{Area, EngineEvent, Exported, Problem};
use crate::engine::explore::Explored;
use crate::engine::ledger_thread::LedgerHandle;
use crate::engine::loader::{self, LoadEnd, Task};
use crate::engine::meaning::MeaningAnswer;
use crate::engine::run_job::RunEnd;
use crate::engine::session::Session;
use crate::engine::settings::Settings;
use crate::engine::several::Composed;
use crate::engine::snapshot::{EpsilonAnswer, LedgerView, NearestAnswer, PlanPreview, Released, Snapshot};
use crate::engine::{Latest, Wake};
use crate::message;
use crate::num::Message;
use crate::privacy::ledger::EntryId;
use crate::train::{DeviceKind, PlanSummary};

/// Snapshots are replaced at most ten times a second.
const PUBLISH_EVERY: Duration = Duration::from_millis(100);
/// How many notes of workers may wait; workers wait beyond that.
const NOTE_QUEUE: usize = 1024;

/// Where events and snapshots go.
pub(super) struct Outlet {
    pub events: Sender<EngineEvent>,
    pub latest: Arc<Latest>,
    pub wake: Wake,
}

impl Outlet {
    fn event(&self, event: EngineEvent) {
        // A reader that is gone needs no events.
        let _ = self.events.send(event);
        (self.wake)();
    }
}

/// What workers tell the coordinator.
pub(super) enum Note {
    LoadEnded {
        generation: u64,
        end: LoadEnd,
    },
    Checked {
        generation: u64,
        revision: u64,
        misfit: Option<Problem>,
    },
    Reprofiled {
        generation: u64,
        suggestion: Box<Result<Column, Problem>>,
    },
    Planned {
        generation: u64,
        preview: Box<PlanPreview>,
    },
    EpsilonFound {
        generation: u64,
        answer: Box<EpsilonAnswer>,
    },
    Explored {
        generation: u64,
        explored: Box<Explored>,
    },
    Composed(Box<Composed>),
    NearestFound(Box<NearestAnswer>),
    Weighed(Box<Result<MeaningAnswer, Problem>>),
    FigureSaved(Result<PathBuf, ExportEnd>),
    RunPlanned {
        run: RunId,
        plan: Arc<PlanSummary>,
        device: DeviceKind,
    },
    RunStarted {
        run: RunId,
        entry: Option<EntryId>,
        /// The name by which it can be taken up; none for a run that is not kept.
        kept: Option<String>,
    },
    RunWarning {
        run: RunId,
        message: Message,
    },
    RunEnded {
        run: RunId,
        end: Box<RunEnd>,
    },
    Exported(Box<Result<Exported, ExportEnd>>),
    ReleaseWarning(Message),
    Released {
        generation: u64,
        outcome: Box<Result<Released, Problem>>,
    },
}

pub(super) use exports::ExportEnd;

/// The state of everything.
pub(super) struct Coordinator {
    home: PathBuf,
    outlet: Outlet,
    notes: Receiver<Note>,
    note_sender: Sender<Note>,
    tasks: Sender<Task>,
    ledger: LedgerHandle,
    threads: Vec<JoinHandle<()>>,
    dataset: dataset::DatasetState,
    plan: plans::PlanState,
    meaning: meaning::MeaningState,
    runs: runs::Runs,
    interrupted: interrupted::InterruptedState,
    export: exports::ExportState,
    releases: releases::Releases,
    explore: explore::ExploreState,
    nearest: nearest::NearestState,
    ledger_view: Arc<LedgerView>,
    revision: u64,
    changed: bool,
    told_of_session: bool,
}

impl Coordinator {
    pub fn new(home: &Path, outlet: Outlet) -> std::io::Result<Self> {
        let (note_sender, notes) = bounded(NOTE_QUEUE);
        let (tasks, loader) = loader::spawn(home, note_sender.clone())?;
        let (ledger, ledger_thread) = LedgerHandle::spawn(home)?;
        Ok(Self {
            home: home.to_path_buf(),
            outlet,
            notes,
            note_sender,
            tasks,
            ledger,
            threads: vec![loader, ledger_thread],
            dataset: dataset::DatasetState::default(),
            plan: plans::PlanState::default(),
            meaning: meaning::MeaningState::default(),
            runs: runs::Runs::default(),
            interrupted: interrupted::InterruptedState::default(),
            export: exports::ExportState::default(),
            releases: releases::Releases::default(),
            explore: explore::ExploreState::default(),
            nearest: nearest::NearestState::default(),
            ledger_view: Arc::default(),
            revision: 0,
            changed: true,
            told_of_session: false,
        })
    }

    /// Serves commands and notes until nobody can send commands any more.
    pub fn run(mut self, commands: &Receiver<Command>) {
        self.refresh_ledger();
        self.find_interrupted();
        let mut last_published: Option<Instant> = None;
        loop {
            let wait = self.wait_before_publishing(last_published);
            let timer = wait.map_or_else(never, after);
            select! {
                recv(commands) -> command => match command {
                    Ok(command) => self.command(command),
                    Err(_) => break,
                },
                recv(self.notes) -> note => if let Ok(note) = note { self.note(note) },
                recv(timer) -> _ => {}
            }
            let due = last_published.is_none_or(|at| at.elapsed() >= PUBLISH_EVERY);
            if due && (self.changed | self.poll_progress()) {
                self.publish();
                last_published = Some(Instant::now());
            }
        }
        self.shut_down();
    }

    /// How long to sleep: not at all past the next publication when there is something to tell, forever when
    /// nothing goes on.
    fn wait_before_publishing(&self, last: Option<Instant>) -> Option<Duration> {
        if self.changed {
            return Some(last.map_or(Duration::ZERO, |at| PUBLISH_EVERY.saturating_sub(at.elapsed())));
        }
        let busy = self.dataset.is_loading() || self.runs.any_active() || self.export.is_busy();
        busy.then_some(PUBLISH_EVERY)
    }

    fn poll_progress(&mut self) -> bool {
        let runs = self.runs.poll();
        runs || self.dataset.is_loading() || self.export.is_busy()
    }

    fn publish(&mut self) {
        self.revision += 1;
        self.changed = false;
        self.outlet.latest.set(Snapshot {
            revision: self.revision,
            loading: self.dataset.loading(),
            dataset: self.dataset.shown(),
            plan: self.plan.shown(),
            meaning: self.meaning.answer(),
            epsilon: self.plan.epsilon(),
            runs: self.runs.views(),
            interrupted: self.interrupted.known(),
            exporting: self.export.shown(),
            releasing: self.releases.in_progress(),
            releases: self.releases.done(),
            explored: self.explore.seen(),
            composed: self.explore.composed(),
            nearest: self.nearest.answer(),
            ledger: Arc::clone(&self.ledger_view),
        });
        (self.outlet.wake)();
    }

    /// Publishes at once and then tells the event, so that who hears of it finds it in the snapshot.
    fn tell(&mut self, event: EngineEvent) {
        self.publish();
        self.outlet.event(event);
    }

    fn fail(&mut self, problem: Problem) {
        self.tell(EngineEvent::Failed(problem));
    }

    fn command(&mut self, command: Command) {
        self.changed = true;
        match command {
            Command::Open(source) => self.open(source),
            Command::OpenFile(path) => match Session::on(&self.home, &path) {
                Some(session) => self.tell(EngineEvent::ReviewFound(Box::new(session))),
                None => self.open(DataSource::file(path)),
            },
            Command::CancelLoad => self.dataset.cancel_load(),
            Command::Close => self.close(),
            Command::EditSchema(edit) => self.edit_schema(edit),
            Command::RestoreSchema(schema) => self.restore_schema(&schema),
            Command::SaveSchema(path) => self.save_schema(path),
            Command::PreviewPlan(request) => self.preview_plan(request),
            Command::FindEpsilon(question) => self.find_epsilon(question),
            Command::Explore(question) => self.explore(question),
            Command::FindNearest(question) => self.find_nearest(question),
            Command::ComposeSeveral(several) => self.compose_several(several),
            Command::Start(request) => self.start_run(*request),
            Command::TakeUp { id, device, watched } => self.take_up(&id, device, watched),
            Command::Abandon(id) => self.abandon(&id),
            Command::Pause(run) => self.runs.pause(run),
            Command::Resume(run) => self.runs.resume(run),
            Command::Stop(run) => self.stop_run(run),
            Command::Discard(run) => self.discard_run(run),
            Command::Rename(run, name) => self.rename_run(run, &name),
            Command::Forget(run) => self.runs.forget(run),
            Command::Export(request) => self.start_export(*request),
            Command::CancelExport => self.export.cancel(),
            Command::SaveFigure {
                path,
                content,
                overwrite,
            } => self.save_figure(path, content, overwrite),
            Command::SaveReleases { path, overwrite } => self.save_releases(path, overwrite),
            Command::AnswerNewVersion(of) => self.answer_new_version(of),
            Command::Release(order) => self.start_release(*order),
            Command::SetTotal {
                epsilon,
                delta,
                reason,
            } => self.set_total(epsilon.get(), delta, reason),
            Command::Weigh(question) => self.weigh(question),
            Command::CheckLedger => self.check_ledger(),
            Command::OpenSession(path) => match Session::load(&path) {
                Ok(session) => self.tell(EngineEvent::SessionOpened(Box::new(session))),
                Err(problem) => self.fail(problem),
            },
            Command::KeepSession(session) => self.keep_session(&session),
            Command::SaveSettings(settings) => self.save_settings(&settings),
        }
    }

    /// Whether a note answers what a person has just asked. Such answers are put out at once: there is one question
    /// of a kind at a time, so they cannot come thick and fast as the news of a run do.
    const fn is_answer(note: &Note) -> bool {
        matches!(
            note,
            Note::Planned { .. }
                | Note::EpsilonFound { .. }
                | Note::Explored { .. }
                | Note::Composed(_)
                | Note::NearestFound(_)
                | Note::Weighed(_)
        )
    }

    fn note(&mut self, note: Note) {
        self.changed = true;
        let is_answer = Self::is_answer(&note);
        self.take(note);
        if is_answer {
            self.publish();
        }
    }

    fn take(&mut self, note: Note) {
        match note {
            Note::LoadEnded { generation, end } => self.load_ended(generation, end),
            Note::Checked {
                generation,
                revision,
                misfit,
            } => self.checked(generation, revision, misfit),
            Note::Reprofiled {
                generation,
                suggestion,
            } => self.reprofiled(generation, *suggestion),
            Note::Planned { generation, preview } => self.planned(generation, *preview),
            Note::EpsilonFound { generation, answer } => self.epsilon_found(generation, *answer),
            Note::Explored { generation, explored } => self.explored(generation, *explored),
            Note::Composed(composed) => self.several_composed(*composed),
            Note::NearestFound(answer) => self.nearest_found(*answer),
            Note::Weighed(answer) => self.weighed(*answer),
            Note::FigureSaved(outcome) => self.figure_saved(outcome),
            Note::RunPlanned { run, plan, device } => self.runs.set_plan(run, plan, device),
            Note::RunStarted { run, entry, kept } => self.run_started(run, entry, kept),
            Note::RunWarning { run, message } => {
                self.tell(EngineEvent::Warning {
                    run: Some(run),
                    area: Area::Train,
                    message,
                });
            }
            Note::RunEnded { run, end } => self.run_ended(run, *end),
            Note::Exported(outcome) => self.export_ended(*outcome),
            Note::ReleaseWarning(message) => {
                self.tell(EngineEvent::Warning {
                    run: None,
                    area: Area::Release,
                    message,
                });
            }
            Note::Released { generation, outcome } => self.release_ended(generation, *outcome),
        }
    }

    fn set_total(&mut self, epsilon: f64, delta: f64, reason: String) {
        let Some(dataset) = self.dataset.current() else {
            return self.fail(Problem::plain(
                Area::Ledger,
                message!(
                    "say-total-no-table",
                    "open a table before setting its total budget"
                ),
            ));
        };
        let outcome = self
            .dataset
            .identity()
            .ok_or_else(|| self.dataset.no_identity())
            .and_then(|id| {
                let total = super::ledger_thread::Total {
                    dataset: id,
                    name: dataset.name.clone(),
                    epsilon,
                    delta,
                    reason,
                };
                self.ledger
                    .set_total(total)
                    .map_err(|error| Problem::new(Area::Ledger, &error))
            });
        self.refresh_ledger();
        self.plan_again();
        if let Err(problem) = outcome {
            self.fail(problem);
        }
    }

    /// Reads the ledger's entries and the open data set's budget anew.
    fn refresh_ledger(&mut self) {
        self.changed = true;
        self.ledger_view = Arc::new(match self.ledger.entries() {
            Ok(entries) => LedgerView {
                entries,
                problem: None,
                check: None,
            },
            Err(error) => LedgerView {
                entries: Vec::new(),
                problem: Some(Problem::new(Area::Ledger, &error)),
                check: None,
            },
        });
        let ledger = self.ledger.clone();
        self.dataset.refresh_budget(&ledger);
    }

    /// What cannot be kept is no more than a convenience lost, so it is told once and not again at every change.
    fn keep_session(&mut self, session: &Session) {
        if let Err(error) = session.keep(&self.home)
            && !std::mem::replace(&mut self.told_of_session, true)
        {
            let message = message!(
                "session-not-kept",
                "{path}: the session cannot be kept here; check that the folder can be written",
                path = Session::file(&self.home).display().to_string()
            );
            self.fail(Problem {
                causes: vec![Message::plain(error.to_string())],
                ..Problem::plain(Area::Settings, message)
            });
        }
    }

    fn save_settings(&mut self, settings: &Settings) {
        if let Err(error) = settings.save(&self.home) {
            self.fail(Problem::new(Area::Settings, &error));
        }
    }

    /// Stops the runs after their present step, waits for their accounts, and ends the other threads.
    fn shut_down(mut self) {
        self.dataset.cancel_load();
        self.export.cancel();
        self.runs.stop_all();
        while self.runs.any_active() || self.releases.is_busy() {
            match self.notes.recv_timeout(Duration::from_secs(30)) {
                Ok(Note::RunEnded { run, end }) => self.runs.end(run, &end),
                Ok(Note::Released { .. }) => self.releases.end(),
                Ok(_) => {}
                // A run that does not answer keeps its reservation, which is charged in full.
                Err(_) => break,
            }
        }
        drop(self.tasks);
        drop(self.ledger);
        drop(self.runs);
        drop(self.notes);
        for thread in self.threads {
            let _ = thread.join();
        }
    }
}
