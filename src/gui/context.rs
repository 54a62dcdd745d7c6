//! What a frame hands to every panel: what to draw from, and where to leave what was asked for.

use std::path::PathBuf;

use eframe::egui::{Rect, Response, Ui};

use crate::engine::Session;
use crate::engine::command::{Command, ReleaseOrder, RunId};
use crate::engine::settings::{Language, Settings};
use crate::engine::snapshot::Snapshot;
use crate::gui::command::Action;
use crate::gui::i18n::Texts;
use crate::gui::panels::Sized;
use crate::gui::problems::Problems;
use crate::gui::questions::Question;
use crate::gui::theme::Palette;
use crate::gui::widgets;
use crate::train::DeviceKind;

/// What a person asked for in a frame; applied in order when the frame is drawn.
#[derive(Clone, Debug)]
pub enum Intent {
    /// An action of the command table.
    Do(Action),
    /// A command for the engine.
    Engine(Command),
    /// A file to open.
    Open(PathBuf),
    /// Where tensors live from now on.
    UseDevice(DeviceKind),
    /// Another language.
    Speak(Language),
    /// Shows the export page with this run's rows.
    Export(RunId),
    /// Asks whether a run shall stop, and says what that means.
    AskStop(RunId),
    /// Asks whether a run is deleted, and says what stays of it.
    AskForget(RunId),
    /// Asks a question that needs nothing but its answer.
    Ask(Box<Question>),
    /// Asks by how much the open data set's total is raised.
    AskRaise,
    /// A panel has another size now.
    Resized(Sized, f32),
    /// Takes up what was worked on before.
    Resume(Box<Session>),
    /// Closes the window although runs go on.
    Quit,
    /// A file dialog for the export's target.
    ChooseTarget,
    /// A file dialog for the figure that is being saved.
    ChooseFigure,
    /// Asks where a figure goes: its name and its content.
    SaveFigure(String, Vec<u8>),
    /// Asks where the table of what was released goes.
    SaveReleases,
    /// Takes a picture of a part of the window, to be saved.
    TakePicture {
        /// The name that the file gets unless a person changes it.
        name: String,
        /// The part, in points.
        rect: Rect,
        /// Whether it shows private rows without noise, and so gets the steward's mark.
        steward: bool,
    },
    /// Takes away what stands of a file that could not be read.
    CloseProblems,
    /// Asks of which known data set the open table is a new version.
    AskVersion,
    /// Asks whether a private statistic shall be released, with what it costs.
    AskRelease(Box<ReleaseOrder>, Vec<String>),
}

/// The frame's inputs and its outbox.
pub struct Cx<'a> {
    /// The latest state of the engine.
    pub snapshot: &'a Snapshot,
    /// The window's texts.
    pub texts: &'a Texts,
    /// The window's colours.
    pub palette: &'static Palette,
    /// What the program remembers.
    pub settings: &'a Settings,
    /// What failed and still stands.
    pub problems: &'a Problems,
    /// What was asked for so far in this frame.
    pub intents: Vec<Intent>,
}

impl Cx<'_> {
    /// Leaves an action to be done.
    pub fn act(&mut self, action: Action) {
        self.intents.push(Intent::Do(action));
    }

    /// Leaves a command for the engine.
    pub fn send(&mut self, command: Command) {
        self.intents.push(Intent::Engine(command));
    }

    /// A plain button for an action; what keeps it from being pressed is its tooltip then.
    pub fn button(&mut self, ui: &mut Ui, action: Action, blocked: Option<&str>) -> Response {
        self.action_button(ui, action, blocked, false)
    }

    /// The one accent button of a page.
    pub fn accent_button(&mut self, ui: &mut Ui, action: Action, blocked: Option<&str>) -> Response {
        self.action_button(ui, action, blocked, true)
    }

    fn action_button(
        &mut self,
        ui: &mut Ui,
        action: Action,
        blocked: Option<&str>,
        accent: bool,
    ) -> Response {
        let described = action.described();
        let label = self.texts.get(described.key);
        let response = ui
            .add_enabled_ui(blocked.is_none(), |ui| {
                if accent {
                    widgets::accent_button(ui, self.palette, label)
                } else {
                    ui.button(label)
                }
            })
            .inner;
        let response = match blocked {
            Some(reason) => response.on_disabled_hover_text(reason),
            None => response.on_hover_text(self.tip(ui, action)),
        };
        if response.clicked() {
            self.act(action);
        }
        response
    }

    /// What an action does, with its shortcut.
    pub fn tip(&self, ui: &Ui, action: Action) -> String {
        let described = action.described();
        let key = format!("{}-tip", described.key);
        let tip = self.texts.get(&key).to_owned();
        match described.shortcut {
            Some(shortcut) => format!("{tip} ({})", ui.ctx().format_shortcut(&shortcut)),
            None => tip,
        }
    }
}
