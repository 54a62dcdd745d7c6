//! What the window asks before it does something that cannot be taken back, and the palette of all actions.

mod budget;
mod palette;

use std::path::PathBuf;
use std::sync::Arc;

use eframe::egui::{self, Context, Id, Key, Modal, RichText, TextEdit, Ui};

use crate::engine::command::{Command, ExportRequest, ReleaseOrder, RunId, RunRequest};
use crate::gui::command::TABLE;
use crate::gui::context::{Cx, Intent};
use crate::gui::format;
use crate::gui::jobs;
use crate::gui::pages::explore::released::asked;
use crate::gui::pages::welcome::typed_path;
use crate::gui::theme::STEP;
use crate::privacy::ledger::DatasetSummary;

pub use budget::Raise;

/// The question that is open.
#[derive(Clone, Debug)]
pub enum Question {
    /// Whether to stop a run, with what stopping means.
    Stop(RunId),
    /// Whether to replace an existing file.
    Replace(Box<ExportRequest>),
    /// Whether to close the window while runs go on.
    Quit,
    /// No question: the list of keys.
    Keys,
    /// Which action to do, by name, and the highlighted one of those that match.
    Palette(String, usize),
    /// Whether a run is deleted, and what stays of it.
    Forget(RunId),
    /// Whether to throw away what is kept of a run that was cut short.
    Abandon(String),
    /// Whether to start a private run while another is going, with its ε and δ.
    StartAnother(Box<RunRequest>),
    /// Whether to let every suggestion stand, with what that means.
    AcceptAll,
    /// By how much to raise the open data set's total, and why.
    RaiseTotal(Raise),
    /// Of which known data set the open table is a new version, and which of them is chosen.
    Version(Vec<DatasetSummary>, usize),
    /// Where a figure goes.
    Figure(Figure),
    /// Which file to open, by its path: where there is no dialog to choose it in.
    Path(String),
    /// Whether to release a private statistic, and what it costs.
    Release(Box<ReleaseOrder>, Vec<String>),
}

/// A figure to save.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The path as it stands in the field.
    pub path: String,
    /// The path that a dialog gave, which has asked about replacing already.
    pub chosen: Option<PathBuf>,
    /// Its content.
    pub content: Arc<Vec<u8>>,
    /// Whether it is not a figure but the table of what was released, which the engine writes.
    pub releases: bool,
    /// The title of the question and of the file dialog, by its key.
    pub title: &'static str,
}

/// Draws the open question and takes it away once it is answered.
pub fn show(ctx: &Context, cx: &mut Cx<'_>, question: &mut Option<Question>) {
    let before = Id::unique("focus before the question");
    let Some(open) = question else {
        give_back(ctx, before);
        return;
    };
    // What had the keyboard gets it back: a question is an aside.
    let focused = ctx.memory(egui::Memory::focused);
    ctx.data_mut(|data| {
        data.get_temp_mut_or_insert_with::<Option<Id>>(before, || focused);
    });
    let width = (ctx.content_rect().width() - 6.0 * STEP).min(460.0);
    let response = Modal::new(Id::unique("question"))
        .frame(cx.palette.card().inner_margin(20))
        .show(ctx, |ui| {
            ui.set_width(width);
            match open {
                Question::Stop(run) => stop(ui, cx, *run),
                Question::Replace(request) => replace(ui, cx, request),
                Question::Quit => quit(ui, cx),
                Question::Keys => keys(ui, cx),
                Question::Palette(filter, at) => palette::palette(ui, cx, filter, at),
                Question::Forget(run) => budget::forget(ui, cx, *run),
                Question::Abandon(id) => budget::abandon(ui, cx, id),
                Question::StartAnother(request) => budget::start_another(ui, cx, request),
                Question::AcceptAll => budget::accept_all(ui, cx),
                Question::RaiseTotal(raise) => budget::raise_total(ui, cx, raise),
                Question::Version(known, chosen) => version(ui, cx, known, chosen),
                Question::Figure(saved) => figure(ui, cx, saved),
                Question::Path(path) => by_path(ui, cx, path),
                Question::Release(order, lines) => release(ui, cx, order, lines),
            }
        });
    // A dialog is placed by the size that it had: until that is the one it has, it is drawn again in the same frame.
    let place = Id::unique("question size");
    let size = response.response.rect.size();
    let known = ctx.data_mut(|data| data.get_temp::<egui::Vec2>(place));
    if known.is_none_or(|known| (known - size).length() > 0.5) {
        ctx.data_mut(|data| data.insert_temp(place, size));
        ctx.request_discard("a dialog's place");
        ctx.request_repaint();
    }
    if response.inner || response.should_close() {
        *question = None;
    }
}

/// Gives the keyboard to what had it before the question. What is under a dialog may not have it until the frame after
/// the dialog's last one is over.
fn give_back(ctx: &Context, before: Id) {
    let Some(focused) = ctx.data(|data| data.get_temp::<Option<Id>>(before)) else {
        return;
    };
    if ctx.memory(|memory| memory.top_modal_layer().is_some()) {
        ctx.request_repaint();
        return;
    }
    ctx.data_mut(|data| data.remove_temp::<Option<Id>>(before));
    // Unless a person has gone on already.
    ctx.memory_mut(|memory| match focused {
        Some(focused) if memory.focused().is_none() => memory.request_focus(focused),
        _ => {}
    });
}

/// Two buttons, the safe one first and focused; the answer once there is one.
fn answer(ui: &mut Ui, cx: &Cx<'_>, safe: &str, unsafe_: &str) -> Option<bool> {
    answers(ui, cx, safe, &[unsafe_]).map(|at| at > 0)
}

/// The safe answer, focused, and those that cannot be taken back; the number of the one given, the safe one first.
fn answers(ui: &mut Ui, cx: &Cx<'_>, safe: &str, others: &[&str]) -> Option<usize> {
    ui.add_space(STEP);
    let mut chosen = None;
    ui.horizontal_wrapped(|ui| {
        let keep = ui.button(safe);
        if ui.memory(|memory| memory.focused().is_none()) {
            keep.request_focus();
        }
        if keep.clicked() {
            chosen = Some(0);
        }
        for (at, other) in others.iter().enumerate() {
            let text = RichText::new(*other).color(cx.palette.second_text);
            if ui.button(text).clicked() {
                chosen = Some(at + 1);
            }
        }
    });
    chosen
}

fn stop(ui: &mut Ui, cx: &mut Cx<'_>, run: RunId) -> bool {
    let t = cx.texts;
    let Some(view) = cx.snapshot.run(run).filter(|run| run.state.is_active()) else {
        return true;
    };
    ui.label(cx.palette.title(t.get("stop-title")));
    // Each answer with its own consequence: what one charges, the other does not.
    let line = |ui: &mut Ui, key: &str| {
        ui.add(egui::Label::new(t.get(key)).wrap());
    };
    if view.target.is_some() && view.seed.is_none() {
        ui.label(cx.palette.strong(t.get("stop-if-kept")));
        line(ui, "stop-charge");
        line(ui, "stop-certificate");
        line(ui, "stop-instead");
        ui.label(cx.palette.strong(t.get("stop-if-discarded")));
        line(ui, "stop-discard-text");
    } else {
        line(ui, "stop-no-claim");
    }
    let choices = [t.get("stop-confirm"), t.get("stop-discard")];
    match answers(ui, cx, t.get("stop-keep"), &choices) {
        Some(0) => true,
        Some(1) => {
            cx.send(Command::Stop(run));
            true
        }
        Some(_) => {
            cx.send(Command::Discard(run));
            true
        }
        None => false,
    }
}

fn replace(ui: &mut Ui, cx: &mut Cx<'_>, request: &ExportRequest) -> bool {
    let t = cx.texts;
    ui.label(cx.palette.title(t.get("replace-title")));
    ui.add(egui::Label::new(request.path.display().to_string()).wrap());
    ui.add(egui::Label::new(t.get("replace-text")).wrap());
    match answer(ui, cx, t.get("replace-keep"), t.get("replace-confirm")) {
        Some(true) => {
            cx.send(Command::Export(Box::new(ExportRequest {
                overwrite: true,
                ..request.clone()
            })));
            true
        }
        Some(false) => true,
        None => false,
    }
}

fn quit(ui: &mut Ui, cx: &mut Cx<'_>) -> bool {
    let t = cx.texts;
    let runs = &cx.snapshot.runs;
    let goes_on = runs.iter().any(|run| run.state.is_active());
    let lost: Vec<_> = runs.iter().filter(|run| run.is_unexported()).collect();
    let title = if goes_on { "quit-title" } else { "quit-title-lost" };
    ui.label(cx.palette.title(t.get(title)));
    if goes_on {
        ui.add(egui::Label::new(t.get("quit-text")).wrap());
    }
    if !lost.is_empty() {
        ui.add(egui::Label::new(t.get("quit-lost")).wrap());
        egui::ScrollArea::vertical().max_height(220.0).show(ui, |ui| {
            for run in &lost {
                ui.label(cx.palette.strong(jobs::run_title(cx, run)));
                ui.add(egui::Label::new(cx.palette.caption(budget::charge_of(cx, run))).wrap());
            }
        });
    }
    let confirm = if lost.is_empty() {
        "quit-confirm"
    } else {
        "quit-confirm-lost"
    };
    match answer(ui, cx, t.get("quit-keep"), t.get(confirm)) {
        Some(true) => {
            cx.intents.push(Intent::Quit);
            true
        }
        Some(false) => true,
        None => false,
    }
}

fn version(ui: &mut Ui, cx: &mut Cx<'_>, known: &[DatasetSummary], chosen: &mut usize) -> bool {
    let t = cx.texts;
    ui.label(cx.palette.title(t.get("version-title")));
    ui.add(egui::Label::new(t.get("version-text")).wrap());
    for (at, candidate) in known.iter().enumerate() {
        let line = t.with(
            "version-candidate",
            [
                ("number", candidate.number.into()),
                ("name", candidate.name.as_str().into()),
                ("versions", candidate.versions.into()),
                ("last", format::local_time(candidate.last_ms).into()),
            ],
        );
        ui.radio_value(chosen, at, line);
    }
    ui.add(egui::Label::new(cx.palette.caption(t.get("version-separate-text"))).wrap());
    ui.add_space(STEP);
    let mut done = false;
    ui.horizontal_wrapped(|ui| {
        let nobody = ui.memory(|memory| memory.focused().is_none());
        let continues = ui.button(t.get("version-continue"));
        if continues.clicked()
            && let Some(candidate) = known.get(*chosen)
        {
            cx.send(Command::AnswerNewVersion(Some(candidate.number)));
            done = true;
        }
        let separate = RichText::new(t.get("version-separate")).color(cx.palette.second_text);
        let separate = ui.button(separate);
        // A file of the same name is most likely the same data later on, and continuing forgets nothing that was
        // spent; one that is only of the same form is most likely other data.
        let name = cx.snapshot.dataset.as_ref().map(|dataset| dataset.name.as_str());
        let is_namesake = known
            .iter()
            .any(|candidate| Some(candidate.name.as_str()) == name);
        if nobody {
            (if is_namesake { &continues } else { &separate }).request_focus();
        }
        if separate.clicked() {
            cx.send(Command::AnswerNewVersion(None));
            done = true;
        }
    });
    done
}

fn release(ui: &mut Ui, cx: &mut Cx<'_>, order: &ReleaseOrder, lines: &[String]) -> bool {
    let t = cx.texts;
    ui.label(cx.palette.title(t.get("release-question")));
    ui.label(cx.palette.strong(asked(cx, &order.request)));
    for line in lines {
        ui.add(egui::Label::new(line).wrap());
    }
    ui.add(egui::Label::new(cx.palette.caption(t.get("release-question-text"))).wrap());
    match answer(ui, cx, t.get("release-not-yet"), t.get("release-now")) {
        Some(true) => {
            cx.send(Command::Release(Box::new(order.clone())));
            true
        }
        Some(false) => true,
        None => false,
    }
}

fn by_path(ui: &mut Ui, cx: &mut Cx<'_>, path: &mut String) -> bool {
    let t = cx.texts;
    ui.label(cx.palette.title(t.get("dialog-open")));
    ui.add(egui::Label::new(cx.palette.caption(t.get("note-no-dialog"))).wrap());
    let label = ui.label(t.get("path-label"));
    let field = ui.add(
        TextEdit::singleline(path)
            .hint_text(t.get("path-hint"))
            .desired_width(f32::INFINITY),
    );
    // Before the field asks for the keyboard again: afterwards it has not lost it.
    let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    if ui.memory(|memory| memory.focused().is_none()) {
        field.request_focus();
    }
    field.labelled_by(label.id);
    ui.add_space(STEP);
    let mut done = false;
    ui.horizontal_wrapped(|ui| {
        let ready = !path.trim().is_empty();
        let pressed = ui
            .add_enabled(ready, egui::Button::new(t.get("path-open")))
            .on_disabled_hover_text(t.get("path-empty"))
            .clicked();
        if ready && (pressed || entered) {
            cx.intents.push(Intent::Open(typed_path(path)));
            done = true;
        }
        done |= ui.button(t.get("figure-cancel")).clicked();
    });
    done
}

fn figure(ui: &mut Ui, cx: &mut Cx<'_>, saved: &mut Figure) -> bool {
    let t = cx.texts;
    ui.label(cx.palette.title(t.get(saved.title)));
    ui.horizontal(|ui| {
        let label = ui.label(t.get("export-path"));
        let room = (ui.available_width() - 110.0).max(120.0);
        ui.add(TextEdit::singleline(&mut saved.path).desired_width(room))
            .labelled_by(label.id);
        if ui.button(t.get("export-choose")).clicked() {
            cx.intents.push(Intent::ChooseFigure);
        }
    });
    ui.add_space(STEP);
    let mut done = false;
    ui.horizontal_wrapped(|ui| {
        let path = typed_path(&saved.path);
        let ready = !path.as_os_str().is_empty();
        let save = ui
            .add_enabled(ready, egui::Button::new(t.get("figure-save")))
            .on_disabled_hover_text(t.get("path-empty"));
        if save.clicked() {
            let overwrite = saved.chosen.as_ref() == Some(&path);
            cx.send(if saved.releases {
                Command::SaveReleases { path, overwrite }
            } else {
                Command::SaveFigure {
                    path,
                    content: Arc::clone(&saved.content),
                    overwrite,
                }
            });
            done = true;
        }
        done |= ui.button(t.get("figure-cancel")).clicked();
    });
    done
}

/// The list of keys: those of actions, and those that work inside controls.
fn keys(ui: &mut Ui, cx: &Cx<'_>) -> bool {
    let t = cx.texts;
    ui.label(cx.palette.title(t.get("keys-title")));
    egui::ScrollArea::vertical()
        .max_height(420.0)
        .min_scrolled_height(300.0)
        .show(ui, |ui| {
            egui::Grid::new("keys")
                .num_columns(2)
                .spacing(egui::vec2(2.0 * STEP, 4.0))
                .show(ui, |ui| {
                    let actions = TABLE.iter().filter_map(|described| {
                        let keys = ui.ctx().format_shortcut(&described.shortcut?);
                        Some((keys, t.get(described.key)))
                    });
                    let inside = [
                        ("keys-tab", "keys-tab-does"),
                        ("keys-arrows", "keys-arrows-does"),
                        ("keys-page", "keys-page-does"),
                        ("keys-menu", "keys-menu-does"),
                        ("keys-escape", "keys-escape-does"),
                    ];
                    let inside = inside.map(|(keys, does)| (t.get(keys).to_owned(), t.get(does)));
                    let all: Vec<_> = actions.chain(inside).collect();
                    for (keys, does) in all {
                        ui.label(cx.palette.strong(keys));
                        ui.label(does);
                        ui.end_row();
                    }
                });
        });
    ui.add_space(STEP);
    let close = ui.button(t.get("keys-close"));
    if ui.memory(|memory| memory.focused().is_none()) {
        close.request_focus();
    }
    close.clicked()
}
