//! What becomes of what a person asked for: intents of a frame, actions of the table.

use std::rc::Rc;
use std::sync::Arc;

use eframe::egui::{self, Context, ViewportCommand};

use crate::engine::command::Command;
use crate::engine::event::Area;
use crate::engine::settings::{Folded, Sizes, Theme};
use crate::engine::snapshot::{RunState, RunView, Snapshot};
use crate::gui::command::{Action, Page};
use crate::gui::context::{Cx, Intent};
use crate::gui::dialogs::{Purpose, Words};
use crate::gui::history::Choices;
use crate::gui::i18n::{self, Texts};
use crate::gui::pages::welcome::typed_path;
use crate::gui::questions::{Question, Raise};
use crate::gui::theme::Palette;
use crate::gui::workbench::Workbench;
use crate::privacy::ledger::Charge;

/// The range of the zoom.
const ZOOM: (f32, f32) = (1.0, 3.0);
/// A step of the zoom.
const ZOOM_STEP: f32 = 0.25;

impl Workbench {
    pub(super) fn apply(&mut self, ctx: &Context, snapshot: &Snapshot, intent: Intent) {
        match intent {
            Intent::Do(action) => self.perform(ctx, snapshot, action),
            Intent::Engine(command) => self.commands.push(command),
            Intent::Open(path) => self.open(path),
            Intent::UseDevice(device) => {
                self.settings.device = device;
                self.keep_settings();
            }
            Intent::Speak(language) => {
                self.settings.language = language;
                self.texts = Rc::new(Texts::new(language));
                self.keep_settings();
            }
            Intent::Resume(session) => self.resume(*session),
            Intent::Quit => {
                self.quitting = true;
                // The person was asked, and let go of them.
                for run in snapshot.runs.iter().filter(|run| run.is_unexported()) {
                    self.commands.push(Command::Forget(run.id));
                }
                ctx.send_viewport_cmd(ViewportCommand::Close);
            }
            Intent::Ask(question) => self.question = Some(*question),
            Intent::AskForget(run) => self.question = Some(Question::Forget(run)),
            Intent::AskRaise => {
                if let Some(dataset) = &snapshot.dataset
                    && let Some(total) = dataset.budget.as_ref().and_then(|budget| budget.total)
                {
                    let present = Charge {
                        epsilon: total.epsilon,
                        delta: total.delta,
                    };
                    self.question = Some(Question::RaiseTotal(Raise {
                        name: dataset.name.clone(),
                        present,
                        wanted: present,
                        reason: String::new(),
                    }));
                }
            }
            Intent::Export(run) => {
                self.export.choose_run(run);
                self.page = Page::Export;
            }
            Intent::AskStop(run) => self.question = Some(Question::Stop(run)),
            Intent::CloseProblems => {
                self.problems.clear(&[Area::Load, Area::Schema]);
            }
            Intent::AskVersion => {
                if let Some(dataset) = &snapshot.dataset {
                    self.question = Some(Question::Version(dataset.may_be_version_of.clone(), 0));
                }
            }
            Intent::AskRelease(order, lines) => self.question = Some(Question::Release(order, lines)),
            Intent::SaveReleases => self.save_releases(),
            Intent::Resized(panel, size) => panel.remember(&mut self.settings.sizes, size),
            Intent::SaveFigure(name, content) => self.save_figure(&name, content),
            Intent::TakePicture { name, rect, steward } => self.pictures.take(name, rect, steward),
            Intent::ChooseFigure => {
                if let Some(Question::Figure(figure)) = &self.question {
                    let start = typed_path(&figure.path);
                    let words = self.words(figure.title);
                    self.dialogs.ask(ctx, Purpose::Figure, words, Some(&start));
                }
            }
            Intent::ChooseTarget => {
                let words = self.words("dialog-target");
                let path = self.export.path();
                self.dialogs.ask(ctx, Purpose::Target, words, Some(&path));
            }
        }
    }

    fn words(&self, title: &str) -> Words {
        Words {
            title: self.texts.get(title).to_owned(),
            tables: self.texts.get("dialog-tables").to_owned(),
            everything: self.texts.get("dialog-everything").to_owned(),
        }
    }

    fn perform(&mut self, ctx: &Context, snapshot: &Snapshot, action: Action) {
        // One that is stopping already can neither be stopped again nor held.
        let is_held = |run: &&Arc<RunView>| run.state.is_active() && run.state != RunState::Stopping;
        let active = snapshot.runs.iter().rev().find(is_held);
        match action {
            Action::OpenFile => {
                let words = self.words("dialog-open");
                let start = self.settings.recent.first().cloned();
                self.dialogs.ask(ctx, Purpose::Open, words, start.as_deref());
            }
            Action::OpenFolder => {
                let words = self.words("dialog-open-folder");
                let start = self.settings.recent.first().cloned();
                self.dialogs.ask(ctx, Purpose::Folder, words, start.as_deref());
            }
            Action::CloseTable => {
                self.commands.push(Command::Close);
                self.page = Page::Data;
            }
            Action::SaveSchema if snapshot.dataset.is_some() => self.commands.push(Command::SaveSchema(None)),
            Action::AcceptAll if snapshot.dataset.is_some() => {
                self.question = Some(Question::AcceptAll);
            }
            Action::SaveSession => {
                if let Some(session) = self.session(snapshot)
                    && let Some(text) = session.to_toml()
                {
                    self.save_session(&session.file_name(), text.into_bytes());
                }
            }
            Action::Start => self.start(snapshot),
            Action::PauseOrResume => {
                if let Some(run) = active {
                    let paused = run.state == RunState::Paused;
                    self.commands.push(if paused {
                        Command::Resume(run.id)
                    } else {
                        Command::Pause(run.id)
                    });
                }
            }
            Action::Stop => self.question = active.map(|run| Question::Stop(run.id)),
            Action::Export => match (self.page, self.export.request()) {
                (Page::Export, Some(request)) => {
                    self.commands.push(Command::Export(Box::new(request.clone())));
                }
                _ => self.page = Page::Export,
            },
            Action::Go(page) => self.page = page,
            Action::ToggleLog => self.messages.log_open = !self.messages.log_open,
            Action::Keys => self.question = Some(Question::Keys),
            Action::Palette => self.question = Some(Question::Palette(String::new(), 0)),
            Action::ResetLayout => {
                ctx.memory_mut(|memory| *memory = egui::Memory::default());
                self.dressed = None;
                self.messages.log_open = false;
                self.settings.folded = Folded::default();
                self.settings.sizes = Sizes::default();
                self.keep_settings();
            }
            Action::Undo | Action::Redo => {
                let step = if action == Action::Undo {
                    self.history.back()
                } else {
                    self.history.forth()
                };
                if let Some((wanted, left)) = step {
                    self.turn_to(wanted, &left);
                }
            }
            Action::FoldRail | Action::FoldPlan | Action::FoldRows => {
                let folded = &mut self.settings.folded;
                let panel = match action {
                    Action::FoldRail => &mut folded.rail,
                    Action::FoldPlan => &mut folded.plan,
                    _ => &mut folded.rows,
                };
                *panel = !*panel;
                self.keep_settings();
            }
            Action::SaveSchema | Action::AcceptAll => {}
            Action::ToggleTheme
            | Action::SwitchLanguage
            | Action::ZoomIn
            | Action::ZoomOut
            | Action::ZoomReset => self.change_look(action),
        }
    }

    /// Goes to choices that stood before or after those left, and to the page that shows the difference.
    fn turn_to(&mut self, wanted: Choices, left: &Choices) {
        self.page = wanted.page_of_difference(left);
        if wanted.schema != left.schema
            && let Some((_, schema)) = &wanted.schema.0
        {
            self.commands.push(Command::RestoreSchema(Arc::clone(schema)));
        }
        let device = self.train.request.device;
        self.train.request = wanted.plan;
        self.train.request.device = device;
        self.export.choose(wanted.export);
        self.explore.choose(wanted.explore);
        self.privacy.choices = wanted.privacy;
    }

    fn change_look(&mut self, action: Action) {
        let settings = &mut self.settings;
        match action {
            Action::ToggleTheme => {
                settings.theme = if settings.theme == Theme::Light {
                    Theme::Dark
                } else {
                    Theme::Light
                };
            }
            Action::SwitchLanguage => {
                settings.language = i18n::other(settings.language);
                self.texts = Rc::new(Texts::new(settings.language));
            }
            Action::ZoomIn => settings.zoom = (settings.zoom + ZOOM_STEP).min(ZOOM.1),
            Action::ZoomOut => settings.zoom = (settings.zoom - ZOOM_STEP).max(ZOOM.0),
            _ => settings.zoom = 1.0,
        }
        self.keep_settings();
    }

    /// Starts the run as the form has it, unless something keeps it from starting.
    fn start(&mut self, snapshot: &Snapshot) {
        self.page = Page::Train;
        let palette = Palette::of(self.settings.theme);
        let cx = Cx {
            snapshot,
            texts: &self.texts,
            palette,
            settings: &self.settings,
            problems: &self.problems,
            intents: Vec::new(),
        };
        if self.train.blocked(&cx).is_none() {
            let mut request = self.train.request.clone();
            request.device = self.settings.device;
            // A second press while a run is going may be meant for the first: it is asked about once.
            let going = snapshot
                .runs
                .iter()
                .any(|run| run.state.is_active() && run.target.is_some());
            if going && request.target.is_some() {
                self.question = Some(Question::StartAnother(Box::new(request)));
            } else {
                self.commands.push(Command::Start(Box::new(request)));
            }
        }
    }
}
