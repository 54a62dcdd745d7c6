//! The window's state and its frame: reads one snapshot, draws, and hands back commands.

mod actions;
mod keys;
mod resume;

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use eframe::egui::{self, Context, Margin, RichText, Stroke, Ui, ViewportCommand, vec2};

use crate::engine::Session;
use crate::engine::command::Command;
use crate::engine::event::{Area, EngineEvent};
use crate::engine::settings::{Settings, Theme};
use crate::engine::snapshot::{RunView, Snapshot};
use crate::gui::bars;
use crate::gui::command::Page;
use crate::gui::context::Cx;
use crate::gui::dialogs::{Answer, Dialogs, Purpose};
use crate::gui::fonts;
use crate::gui::history::{Choices, History, SchemaChoice};
use crate::gui::i18n::Texts;
use crate::gui::interrupted::PutOff;
use crate::gui::jobs;
use crate::gui::messages::{Messages, News, Note};
use crate::gui::pages::data::DataPage;
use crate::gui::pages::explore::ExplorePage;
use crate::gui::pages::export::ExportPage;
use crate::gui::pages::privacy::PrivacyPage;
use crate::gui::pages::train::TrainPage;
use crate::gui::pages::welcome::{self, Welcome};
use crate::gui::panels::Sized;
use crate::gui::pictures::{Picture, Pictures};
use crate::gui::problems::Problems;
use crate::gui::questions::{self, Figure, Question};
use crate::gui::theme::{self, Palette, STEP};
use crate::privacy::Neighboring;

/// The title of the question where the table of what was released goes.
const RELEASED: &str = "released-save-title";

/// The window, apart from the engine behind it.
pub struct Workbench {
    page: Page,
    settings: Settings,
    texts: Rc<Texts>,
    dressed: Option<(Theme, f32)>,
    messages: Messages,
    problems: Problems,
    history: History,
    dialogs: Dialogs,
    question: Option<Question>,
    welcome: Welcome,
    data: DataPage,
    explore: ExplorePage,
    train: TrainPage,
    export: ExportPage,
    privacy: PrivacyPage,
    known_table: u64,
    kept: Option<resume::Kept>,
    /// The work to take up once its table is read.
    resuming: Option<Box<Session>>,
    asked_version: u64,
    put_off: PutOff,
    pictures: Pictures,
    quitting: bool,
    commands: Vec<Command>,
}

impl Workbench {
    /// A window with these settings; fonts and theme are installed with the first frame.
    pub fn new(ctx: &Context, settings: Settings) -> Self {
        fonts::install(ctx);
        let texts = Rc::new(Texts::new(settings.language));
        let mut workbench = Self {
            page: Page::Data,
            settings,
            texts,
            dressed: None,
            messages: Messages::default(),
            problems: Problems::default(),
            history: History::default(),
            dialogs: Dialogs::default(),
            question: None,
            welcome: Welcome::default(),
            data: DataPage::default(),
            explore: ExplorePage::default(),
            train: TrainPage::default(),
            export: ExportPage::default(),
            privacy: PrivacyPage::default(),
            known_table: 0,
            kept: None,
            resuming: None,
            asked_version: 0,
            put_off: PutOff::default(),
            pictures: Pictures::default(),
            quitting: false,
            commands: Vec::new(),
        };
        workbench.dress(ctx);
        workbench
    }

    /// The page in view.
    pub fn page(&self) -> Page {
        self.page
    }

    /// Keys of texts that were asked for in vain.
    pub fn missing_texts(&self) -> std::collections::BTreeSet<String> {
        self.texts.missing()
    }

    /// Adds a message of the window itself.
    pub fn note(&mut self, note: Note) {
        self.messages.add(News::Note(note));
    }

    /// Opens a file as if a person had chosen it.
    pub fn open(&mut self, path: PathBuf) {
        // It is tried again: what was said of the last try holds no longer.
        let tried = self.problems.clear(&[Area::Load, Area::Schema]);
        self.messages.settle(tried);
        self.resuming = None;
        if Session::is_session(&path) {
            self.commands.push(Command::OpenSession(path));
            return;
        }
        self.commands.push(Command::OpenFile(path));
    }

    /// Takes in what happened since the last frame. Runs when the window is hidden, too.
    pub fn observe(&mut self, events: impl IntoIterator<Item = EngineEvent>) {
        for event in events {
            let mended = self.problems.hear(&event);
            self.messages.settle(mended);
            match &event {
                EngineEvent::Opened { .. } => {
                    self.page = Page::Data;
                    self.resumed();
                }
                EngineEvent::SessionOpened(session) => self.resume((**session).clone()),
                EngineEvent::ReviewFound(session) => self.review_again((**session).clone()),
                EngineEvent::LoadCancelled => self.resuming = None,
                EngineEvent::Started { run, .. } => {
                    self.train.look_at(*run);
                    self.page = Page::Train;
                }
                EngineEvent::Released(_) => self.explore.show_released(),
                EngineEvent::Exported(exported) => {
                    drop(self.export.ended());
                    self.export.finished(exported.clone());
                }
                EngineEvent::ExportCancelled => drop(self.export.ended()),
                EngineEvent::RunFailed { .. } => {
                    self.put_off.ask_again();
                    self.train.answered();
                }
                EngineEvent::Failed(problem) => match problem.area {
                    Area::Export => drop(self.export.ended()),
                    Area::Load | Area::Schema => {
                        self.put_off.ask_again();
                        self.resuming = None;
                    }
                    _ => self.train.answered(),
                },
                EngineEvent::TargetExists(_) => {
                    // Not the file that is there, which may be one of the papers: the table that was asked for.
                    if let Some(request) = self.export.ended() {
                        self.question = Some(Question::Replace(Box::new(request)));
                        // The question says it already.
                        continue;
                    }
                }
                _ => {}
            }
            self.messages.add(News::Engine(Box::new(event)));
        }
    }

    /// Takes answers of dialogs and dropped files.
    pub fn listen(&mut self, ctx: &Context) {
        match self.dialogs.poll() {
            Some(Answer::Chosen(Purpose::Open | Purpose::Folder, path)) => self.open(path),
            Some(Answer::Chosen(Purpose::Target, path)) => self.export.set_path(&path),
            Some(Answer::Chosen(Purpose::Figure, path)) => {
                if let Some(Question::Figure(figure)) = &mut self.question {
                    figure.path = path.display().to_string();
                    figure.chosen = Some(path);
                }
            }
            Some(Answer::Unavailable(purpose)) => self.without_dialog(purpose),
            None => {}
        }
        match self.pictures.poll() {
            Some(Picture::Taken(name, bytes)) => self.save_figure(&name, bytes),
            Some(Picture::Unavailable) => self.note(Note::NoPicture),
            None => {}
        }
        let dropped: Vec<PathBuf> = ctx.input(|input| {
            input
                .raw
                .dropped_files
                .iter()
                .map(|file| file.path().to_path_buf())
                .collect()
        });
        if dropped.len() > 1 {
            self.note(Note::OneFileOnly);
        }
        if let Some(path) = dropped.into_iter().next() {
            self.open(path);
        }
    }

    /// Draws a frame from one snapshot and returns what the engine is asked for, in order.
    pub fn frame(&mut self, ui: &mut Ui, snapshot: &Snapshot) -> Vec<Command> {
        let ctx = ui.ctx().clone();
        self.dress(&ctx);
        self.remember(snapshot);
        self.explore.meet(snapshot);
        self.train.await_start(snapshot);
        if self.resuming.is_none() {
            self.train.meet(snapshot);
        }
        self.hold_closing(&ctx, snapshot);
        self.ask_version(snapshot);
        let palette = Palette::of(self.settings.theme);
        let settings = self.settings.clone();
        let texts = Rc::clone(&self.texts);
        let problems = std::mem::take(&mut self.problems);
        let mut cx = Cx {
            snapshot,
            texts: &texts,
            palette,
            settings: &settings,
            problems: &problems,
            intents: Vec::new(),
        };
        self.shortcuts(&ctx, &mut cx);
        self.draw(ui, &mut cx);
        self.messages.toasts(&ctx, &cx, jobs::STRIP);
        drop_target(&ctx, &cx);
        questions::show(&ctx, &mut cx, &mut self.question);
        self.pictures.show(&ctx, &cx);
        let intents = std::mem::take(&mut cx.intents);
        self.problems = problems;
        let held = ctx.input(|input| input.pointer.any_down());
        if self.train.was_advised() {
            self.history.absorb(&self.train.request);
        }
        self.history.observe(self.choices(snapshot), held);
        self.keep_session(snapshot, held);
        for intent in intents {
            self.apply(&ctx, snapshot, intent);
        }
        for command in &self.commands {
            match command {
                Command::Export(request) => self.export.sent(request),
                Command::Start(_) => self.train.sent(snapshot),
                _ => {}
            }
        }
        std::mem::take(&mut self.commands)
    }

    fn draw(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let p = cx.palette;
        let narrow = ui.available_width() < bars::NARROW;
        let folded = self.settings.folded;
        let line = Stroke::new(1.0, p.line);
        let frame = |fill, margin| egui::Frame::new().fill(fill).inner_margin(margin);
        let relation = self
            .train
            .request
            .target
            .map_or(Neighboring::AddRemoveOne, |target| target.neighboring);
        let top = egui::Panel::top("top")
            .exact_size(bars::TOP)
            .frame(frame(p.panel, Margin::symmetric(16, 0)))
            .show(ui, |ui| bars::top(ui, cx, relation, narrow));
        let strip = egui::Panel::bottom("jobs")
            .exact_size(jobs::STRIP)
            .frame(frame(p.panel, Margin::symmetric(16, 0)))
            .show(ui, |ui| jobs::strip(ui, cx, &mut self.messages));
        if self.messages.log_open {
            let log = egui::Panel::bottom("log").frame(frame(p.panel, Margin::symmetric(16, 8)));
            Sized::Log.show(ui, cx, log, (180.0, 90.0..=480.0), |ui, cx| {
                self.messages.log(ui, cx);
            });
        }
        let page = self.page;
        egui::Panel::left("rail")
            // It has no edge to drag, and so none for the tab key to stop at.
            .resizable(false)
            .exact_size(if narrow || folded.rail { 44.0 } else { 148.0 })
            .frame(frame(p.rail, Margin::symmetric(8, 10)))
            .show(ui, |ui| bars::rail(ui, cx, page, (narrow, folded.rail)));
        egui::CentralPanel::no_frame().show(ui, |ui| {
            ui.painter().rect_filled(ui.max_rect(), 0.0, p.ground);
            if self.put_off.next(&cx.snapshot.interrupted).is_some() {
                egui::Panel::top("interrupted")
                    .resizable(false)
                    .show_separator_line(false)
                    .frame(egui::Frame::new().inner_margin(Margin {
                        left: 12,
                        right: 12,
                        top: 12,
                        bottom: 0,
                    }))
                    .show(ui, |ui| self.put_off.banner(ui, cx));
            }
            self.draw_page(ui, cx);
        });
        for rect in [top.response.rect, strip.response.rect] {
            let y = if rect.top() <= 1.0 {
                rect.bottom()
            } else {
                rect.top()
            };
            ui.painter().hline(rect.x_range(), y, line);
        }
    }

    fn draw_page(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let has_table = cx.snapshot.dataset.is_some();
        let has_runs = !cx.snapshot.runs.is_empty();
        match self.page {
            Page::Data if has_table => {
                egui::Frame::new()
                    .inner_margin(12)
                    .show(ui, |ui| self.data.show(ui, cx));
            }
            Page::Explore if has_table => self.explore.show(ui, cx),
            Page::Train if has_table || has_runs => self.train.show(ui, cx),
            Page::Export if has_table || has_runs => self.export.show(ui, cx),
            Page::Privacy => self.privacy.show(ui, cx),
            Page::Data => self.welcome.show(ui, cx),
            Page::Explore | Page::Train | Page::Export => {
                welcome::needed(ui, cx, self.page);
                self.welcome.show(ui, cx);
            }
        }
    }

    /// Asks before the window closes over a run: one that goes on is left, and its whole plan stays charged until it
    /// goes on; what one has learned that has ended and was never exported is lost.
    fn hold_closing(&mut self, ctx: &Context, snapshot: &Snapshot) {
        let closing = ctx.input(|input| input.viewport().close_requested());
        let is_to_ask = |run: &Arc<RunView>| run.state.is_active() || run.is_unexported();
        if closing && !self.quitting && snapshot.runs.iter().any(is_to_ask) {
            ctx.send_viewport_cmd(ViewportCommand::CancelClose);
            self.question = Some(Question::Quit);
        }
    }

    /// Asks of which known data set a newly opened table is a new version, once; the pages keep the way to the
    /// question.
    fn ask_version(&mut self, snapshot: &Snapshot) {
        let Some(dataset) = &snapshot.dataset else { return };
        if self.question.is_none()
            && self.asked_version != dataset.generation
            && !dataset.may_be_version_of.is_empty()
        {
            self.asked_version = dataset.generation;
            self.question = Some(Question::Version(dataset.may_be_version_of.clone(), 0));
        }
    }

    /// All that can be taken back, as it stands.
    fn choices(&self, snapshot: &Snapshot) -> Choices {
        let schema = snapshot
            .dataset
            .as_ref()
            .map(|dataset| (dataset.generation, Arc::clone(&dataset.schema)));
        Choices {
            schema: SchemaChoice(schema),
            explore: self.explore.choices(),
            plan: self.train.request.clone(),
            export: self.export.choices().clone(),
            privacy: self.privacy.choices.clone(),
        }
    }

    /// Where no dialog can be shown, the path field is the way: it takes the keyboard.
    fn without_dialog(&mut self, purpose: Purpose) {
        match purpose {
            Purpose::Open | Purpose::Folder if self.known_table == 0 && self.page == Page::Data => {
                self.note(Note::NoDialog);
                self.welcome.focus_path();
            }
            Purpose::Open | Purpose::Folder => self.question = Some(Question::Path(String::new())),
            Purpose::Target => {
                self.note(Note::NoDialog);
                self.export.focus_path();
            }
            // The question about the figure is open and has its own field.
            Purpose::Figure => self.note(Note::NoDialog),
        }
    }

    /// Asks where a figure goes: at first, beside the latest file or in the home folder.
    fn save_figure(&mut self, name: &str, content: Vec<u8>) {
        self.ask_where(name, content, "figure-title");
    }

    /// Asks where a session goes.
    fn save_session(&mut self, name: &str, content: Vec<u8>) {
        self.ask_where(name, content, "session-save-title");
    }

    /// Asks where the table of what was released goes, in the same way.
    fn save_releases(&mut self) {
        self.ask_where("released.csv", Vec::new(), RELEASED);
    }

    fn ask_where(&mut self, name: &str, content: Vec<u8>, title: &'static str) {
        let beside = self.settings.recent.first().and_then(|path| path.parent());
        let folder = beside
            .map(std::path::Path::to_path_buf)
            .or_else(|| directories::UserDirs::new().map(|dirs| dirs.home_dir().to_path_buf()))
            .unwrap_or_default();
        self.question = Some(Question::Figure(Figure {
            path: folder.join(name).display().to_string(),
            chosen: None,
            content: Arc::new(content),
            releases: title == RELEASED,
            title,
        }));
    }

    /// Theme and zoom, whenever they have changed.
    fn dress(&mut self, ctx: &Context) {
        let wanted = (self.settings.theme, self.settings.zoom);
        let dark = ctx.theme() == egui::Theme::Dark;
        if self.dressed != Some(wanted) || dark != Palette::of(wanted.0).dark {
            theme::apply(ctx, wanted.0);
            ctx.set_zoom_factor(wanted.1);
            self.dressed = Some(wanted);
            // This frame was begun in the old style; an idle window would keep showing half of each.
            ctx.request_repaint();
        }
    }

    /// Keeps a newly opened file among the recent ones.
    fn remember(&mut self, snapshot: &Snapshot) {
        let Some(dataset) = &snapshot.dataset else {
            self.known_table = 0;
            return;
        };
        if dataset.generation == self.known_table {
            return;
        }
        self.known_table = dataset.generation;
        if let Some(path) = &dataset.path {
            self.settings.remember(path);
            self.keep_settings();
        }
    }

    fn keep_settings(&mut self) {
        self.commands
            .push(Command::SaveSettings(Box::new(self.settings.clone())));
    }
}

/// Says that a file may be let go, while one is held over the window.
fn drop_target(ctx: &Context, cx: &Cx<'_>) {
    if ctx.input(|input| input.raw.hovered_files.is_empty()) {
        return;
    }
    let screen = ctx.content_rect();
    egui::Area::new(egui::Id::unique("drop"))
        .order(egui::Order::Foreground)
        .fixed_pos(screen.min)
        .show(ctx, |ui| {
            let inside = screen.shrink(2.0 * STEP);
            ui.painter().rect(
                inside,
                f32::from(theme::CARD_RADIUS),
                cx.palette.panel.gamma_multiply(0.92),
                Stroke::new(2.0, cx.palette.accent),
                egui::StrokeKind::Inside,
            );
            let text = RichText::new(cx.texts.get("drop-here")).heading();
            let place = egui::Rect::from_center_size(inside.center(), vec2(inside.width(), 40.0));
            ui.put(place, egui::Label::new(text));
        });
}
