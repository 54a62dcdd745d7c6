//! The frame around the pages: rail, top bar and job strip.

use eframe::egui::{self, Align, Color32, ComboBox, Layout, RichText, Sense, Stroke, StrokeKind, Ui, WidgetInfo, accesskit::Role, vec2};

use crate::engine::command::{Command, Method};
use crate::engine::event::Problem;
use crate::engine::snapshot::{Dataset, LoadStage, RunState, RunView};
use crate::gui::command::{Action, Page};
use crate::gui::context::{Cx, Intent};
use crate::gui::fonts::semibold;
use crate::gui::format;
use crate::gui::i18n;
use crate::gui::messages::{Messages, Weight, stop_reason};
use crate::gui::theme::{BODY, SMALL, STEP};
use crate::gui::widgets::{self, Icon};
use crate::privacy::Neighboring;
use crate::privacy::ledger::Budget;
use crate::train::DeviceKind;

/// The height of the top bar.
pub const TOP: f32 = 44.0;
/// The height of the job strip.
pub const STRIP: f32 = 56.0;
/// Below this width, in points, the rail shows its dots only and the top bar leaves its captions out.
pub const NARROW: f32 = 760.0;

/// How far the work of a page has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Empty,
    Ready,
    Running,
    Done,
    Attention,
}

fn progress(cx: &Cx<'_>, page: Page) -> Progress {
    let snapshot = cx.snapshot;
    match page {
        Page::Data => match &snapshot.dataset {
            _ if snapshot.loading.is_some() => Progress::Running,
            None => Progress::Empty,
            Some(dataset) if !dataset.open.is_empty() || dataset.misfit.is_some() => Progress::Attention,
            Some(_) => Progress::Done,
        },
        Page::Train => {
            if snapshot.runs.iter().any(|run| run.state.is_active()) {
                Progress::Running
            } else if snapshot.runs.last().is_some_and(|run| matches!(run.state, RunState::Failed(_))) {
                Progress::Attention
            } else if !snapshot.runs.is_empty() {
                Progress::Done
            } else if snapshot.dataset.as_ref().is_some_and(|dataset| dataset.open.is_empty()) {
                Progress::Ready
            } else {
                Progress::Empty
            }
        }
        Page::Export => {
            if snapshot.exporting.is_some() {
                Progress::Running
            } else if snapshot.runs.iter().any(|run| matches!(run.state, RunState::Finished(_))) {
                Progress::Ready
            } else {
                Progress::Empty
            }
        }
        Page::Privacy => {
            if snapshot.ledger.problem.is_some() {
                Progress::Attention
            } else if snapshot.ledger.entries.is_empty() {
                Progress::Empty
            } else {
                Progress::Done
            }
        }
    }
}

fn progress_key(progress: Progress) -> &'static str {
    match progress {
        Progress::Empty => "state-empty",
        Progress::Ready => "state-ready",
        Progress::Running => "state-running",
        Progress::Done => "state-done",
        Progress::Attention => "state-attention",
    }
}

/// The rail: the pages in the order of the work, each with the state of its part.
pub fn rail(ui: &mut Ui, cx: &mut Cx<'_>, current: Page, narrow: bool) {
    ui.spacing_mut().item_spacing.y = 4.0;
    let mut number = 0;
    for page in Page::ALL {
        if page == Page::Privacy {
            widgets::rule(ui, cx.palette);
        } else {
            number += 1;
        }
        let action = Action::Go(page);
        let label = cx.texts.get(action.described().key);
        let shown = match page {
            Page::Privacy => label.to_owned(),
            _ => format!("{number} {label}"),
        };
        if rail_entry(ui, cx, page, &shown, page == current, narrow) {
            cx.act(action);
        }
    }
}

fn rail_entry(ui: &mut Ui, cx: &Cx<'_>, page: Page, shown: &str, selected: bool, narrow: bool) -> bool {
    let palette = cx.palette;
    let state = progress(cx, page);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 32.0), Sense::click());
    let label = cx.texts.get(Action::Go(page).described().key);
    response.widget_info(|| WidgetInfo::selected(Role::Tab, true, selected, label));
    if selected || response.hovered() || response.has_focus() {
        let fill = if selected { palette.panel } else { Color32::TRANSPARENT };
        let line = if response.has_focus() { palette.accent } else { palette.line };
        ui.painter().rect(rect, 6.0, fill, Stroke::new(1.0, line), StrokeKind::Inside);
    }
    let color = match state {
        Progress::Empty => palette.line,
        Progress::Ready => palette.muted_on_ground,
        Progress::Running => palette.accent,
        Progress::Done => palette.ok,
        Progress::Attention => palette.warn,
    };
    let middle = rect.center().y;
    let at = if narrow { rect.center().x } else { rect.left() + 13.0 };
    ui.painter().circle_filled(egui::pos2(at, middle), 3.5, color);
    if !narrow {
        let font = if selected { egui::FontId::new(BODY, semibold()) } else { egui::FontId::proportional(BODY) };
        let galley = ui.painter().layout(shown.to_owned(), font, palette.text, rect.width() - 32.0);
        ui.painter().galley(egui::pos2(rect.left() + 26.0, middle - galley.size().y / 2.0), galley, palette.text);
    }
    let tip = format!("{} — {}", cx.tip(ui, Action::Go(page)), cx.texts.get(progress_key(state)));
    response.on_hover_text(tip).clicked()
}

/// The top bar: what is open on the left; budget, device, language and theme on the right.
pub fn top(ui: &mut Ui, cx: &mut Cx<'_>, relation: Neighboring, narrow: bool) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        if widgets::icon_button(ui, Icon::Theme, cx.texts.get("action-theme")).clicked() {
            cx.act(Action::ToggleTheme);
        }
        language(ui, cx);
        device(ui, cx);
        if !narrow && let Some(dataset) = cx.snapshot.dataset.clone() {
            ui.add_space(STEP);
            if let Some(budget) = &dataset.budget {
                gauge(ui, cx, &dataset, budget);
            }
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            ui.label(cx.palette.title(cx.texts.get("app-name")));
            if narrow {
                return;
            }
            ui.add_space(STEP);
            if let Some(dataset) = &cx.snapshot.dataset {
                let line = dataset_line(cx, dataset, relation);
                widgets::truncated(ui, cx.palette.caption(&line)).on_hover_text(line);
            }
        });
    });
}

fn dataset_line(cx: &Cx<'_>, dataset: &Dataset, relation: Neighboring) -> String {
    cx.texts.with(
        "top-dataset",
        [
            ("name", dataset.name.as_str().into()),
            ("rows", format::count(dataset.table.rows() as u64).into()),
            ("columns", dataset.schema.column.len().into()),
            ("unit", unit(cx, dataset).into()),
            ("relation", cx.texts.get(relation_key(relation)).into()),
        ],
    )
}

/// The unit of privacy, in words.
pub fn unit(cx: &Cx<'_>, dataset: &Dataset) -> String {
    match &dataset.schema.unit {
        None => cx.texts.get("unit-row").to_owned(),
        Some(unit) => cx.texts.with(
            "unit-person",
            [("column", unit.column.as_str().into()), ("rows", unit.max_rows.into())],
        ),
    }
}

/// The key of a relation's name.
pub fn relation_key(relation: Neighboring) -> &'static str {
    match relation {
        Neighboring::AddRemoveOne => "relation-add-remove",
        Neighboring::ZeroOutOne => "relation-zero-out",
        Neighboring::ReplaceOne => "relation-replace",
    }
}

fn language(ui: &mut Ui, cx: &mut Cx<'_>) {
    let current = cx.texts.language();
    let next = i18n::other(current);
    let tip = cx.texts.get("action-language-tip");
    // Named in the other language, so that who cannot read this one finds it.
    let response = ui.button(i18n::own_name(current)).on_hover_text(format!("{tip}: {}", i18n::own_name(next)));
    if response.clicked() {
        cx.intents.push(Intent::Speak(next));
    }
}

/// The devices that this build offers, with the keys of their names.
const DEVICES: &[(DeviceKind, &str)] = &[
    (DeviceKind::Flex, "device-flex"),
    (DeviceKind::Ndarray, "device-ndarray"),
    #[cfg(feature = "gpu")]
    (DeviceKind::Wgpu, "device-wgpu"),
];

fn device(ui: &mut Ui, cx: &mut Cx<'_>) {
    let current = cx.settings.device;
    let name = |kind| DEVICES.iter().find(|(known, _)| *known == kind).map_or("device-flex", |(_, key)| key);
    let mut chosen = current;
    let response = ComboBox::from_id_salt("device")
        .selected_text(cx.texts.get(name(current)))
        .width(84.0)
        .show_ui(ui, |ui| {
            for &(kind, key) in DEVICES {
                ui.selectable_value(&mut chosen, kind, cx.texts.get(key));
            }
        })
        .response;
    response.accessible_name(cx.texts.get("device-name")).on_hover_text(cx.texts.get("device-tip"));
    if chosen != current {
        cx.intents.push(Intent::UseDevice(chosen));
    }
}

fn gauge(ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset, budget: &Budget) {
    let t = cx.texts;
    let spent = t.with(
        "budget-charge",
        [
            ("epsilon", format::epsilon(budget.spent.epsilon).into()),
            ("delta", format::delta(budget.spent.delta).into()),
        ],
    );
    let tip = t.with("budget-tip", [("spent", spent.as_str().into())]);
    let inner = ui.allocate_ui_with_layout(vec2(210.0, 34.0), Layout::top_down(Align::Min), |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        ui.set_width(210.0);
        ui.add_space(6.0);
        match budget.shares {
            Some(shares) => {
                let name = t.get("budget-name");
                widgets::budget(ui, cx.palette, shares.spent as f32, shares.reserved as f32, 210.0, name);
                let parts = [
                    t.with("budget-spent", [("share", format::percent(shares.spent).into())]),
                    t.with("budget-reserved", [("share", format::percent(shares.reserved).into())]),
                    t.with("budget-left", [("share", format::percent(shares.left).into())]),
                ];
                let rect = ui.allocate_exact_size(vec2(210.0, 14.0), Sense::hover()).0;
                let font = egui::FontId::proportional(SMALL);
                for (text, align, x) in [
                    (&parts[0], egui::Align2::LEFT_CENTER, rect.left()),
                    (&parts[1], egui::Align2::CENTER_CENTER, rect.center().x),
                    (&parts[2], egui::Align2::RIGHT_CENTER, rect.right()),
                ] {
                    let place = egui::pos2(x, rect.center().y);
                    ui.painter().text(place, align, text, font.clone(), cx.palette.muted);
                }
            }
            None => {
                let reserved = budget.reserved.epsilon > 0.0;
                let key = if dataset.schema.public { "budget-public" } else { "budget-no-total" };
                widgets::budget(ui, cx.palette, 0.0, 0.0, 210.0, t.get("budget-name"));
                let line = if reserved {
                    t.with(
                        "budget-no-total-reserved",
                        [
                            ("spent", format::epsilon(budget.spent.epsilon).into()),
                            ("reserved", format::epsilon(budget.reserved.epsilon).into()),
                        ],
                    )
                } else {
                    t.with(key, [("spent", format::epsilon(budget.spent.epsilon).into())])
                };
                widgets::truncated(ui, cx.palette.caption(line));
            }
        }
    });
    let area = inner.response.interact(Sense::click());
    area.widget_info(|| WidgetInfo::labeled(Role::Button, true, t.get("budget-open")));
    if area.has_focus() {
        ui.painter().rect_stroke(area.rect.expand(3.0), 4.0, Stroke::new(1.0, cx.palette.accent), StrokeKind::Inside);
    }
    if area.on_hover_text(tip).clicked() {
        cx.act(Action::Go(Page::Privacy));
    }
    ui.label(cx.palette.caption(t.get("budget-label")));
}

/// What a run is called: method, data set, promise.
pub fn run_title(cx: &Cx<'_>, run: &RunView) -> String {
    let method = cx.texts.get(match run.method {
        Method::Dpgan => "method-dpgan",
        Method::Gan => "method-gan",
    });
    match run.target {
        Some(target) => format!("{method} · {} · ε {}", run.dataset, format::significant(target.epsilon, 3)),
        None => format!("{method} · {} · {}", run.dataset, cx.texts.get("no-dp-claim")),
    }
}

/// A run's state in a word or two.
pub fn run_state(cx: &Cx<'_>, run: &RunView) -> String {
    let t = cx.texts;
    match &run.state {
        RunState::Queued => t.get("run-queued").to_owned(),
        RunState::Preparing => t.get("run-preparing").to_owned(),
        RunState::Stopping => t.get("run-stopping").to_owned(),
        RunState::Finished(reason) => stop_reason(cx, *reason).to_owned(),
        RunState::Failed(problem) => problem.message.clone(),
        RunState::Paused => t.with("run-paused", [("steps", steps(run).into())]),
        RunState::Running => {
            let mut parts = vec![t.with("run-steps", [("steps", steps(run).into())])];
            if run.steps_per_second > 0.0 {
                let rate = format::significant(run.steps_per_second, 3);
                parts.push(t.with("run-rate", [("rate", rate.into())]));
            }
            if let Some(left) = run.seconds_left {
                parts.push(t.with("run-left", [("time", format::duration(left).into())]));
            }
            parts.join(" · ")
        }
    }
}

fn steps(run: &RunView) -> String {
    format!("{} / {}", format::count(run.step), format::count(run.steps))
}

/// The job strip: everything that runs, and the latest message.
pub fn jobs(ui: &mut Ui, cx: &mut Cx<'_>, messages: &mut Messages) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        let toggle = ui.selectable_label(messages.log_open, cx.texts.get("action-log"));
        if toggle.on_hover_text(cx.tip(ui, Action::ToggleLog)).clicked() {
            cx.act(Action::ToggleLog);
        }
        let wide = ui.available_width() > 640.0;
        if wide && let Some((line, weight)) = messages.latest(cx) {
            let color = if weight == Weight::Problem { cx.palette.second_text } else { cx.palette.muted };
            ui.allocate_ui_with_layout(vec2(240.0, 20.0), Layout::right_to_left(Align::Center), |ui| {
                widgets::truncated(ui, RichText::new(line).size(SMALL).color(color));
            });
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            egui::ScrollArea::horizontal().id_salt("jobs").auto_shrink([false, true]).show(ui, |ui| {
                ui.horizontal_centered(|ui| job_list(ui, cx));
            });
        });
    });
}

fn job_list(ui: &mut Ui, cx: &mut Cx<'_>) {
    let snapshot = cx.snapshot;
    let mut any = false;
    if let Some(loading) = &snapshot.loading {
        any = true;
        let stage = cx.texts.get(match loading.stage {
            LoadStage::Reading => "load-reading",
            LoadStage::Profiling => "load-profiling",
            LoadStage::Checking => "load-checking",
        });
        job(ui, cx, &loading.name, stage, loading.share);
        if widgets::icon_button(ui, Icon::Stop, cx.texts.get("load-cancel")).clicked() {
            cx.send(Command::CancelLoad);
        }
    }
    if let Some(exporting) = &snapshot.exporting {
        any = true;
        let name = exporting.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let line = cx.texts.with(
            "export-progress",
            [
                ("rows", format::count(exporting.rows as u64).into()),
                ("total", format::count(exporting.total as u64).into()),
            ],
        );
        let share = exporting.rows as f32 / exporting.total.max(1) as f32;
        job(ui, cx, &name, &line, Some(share));
        if widgets::icon_button(ui, Icon::Stop, cx.texts.get("export-cancel")).clicked() {
            cx.send(Command::CancelExport);
        }
    }
    for run in snapshot.runs.iter().rev() {
        any = true;
        run_job(ui, cx, run);
        ui.add_space(STEP);
    }
    if !any {
        ui.label(cx.palette.caption(cx.texts.get("jobs-none")));
    }
}

fn run_job(ui: &mut Ui, cx: &mut Cx<'_>, run: &RunView) {
    let share = match run.state {
        RunState::Queued | RunState::Preparing => Some(0.0),
        _ => Some(run.step as f32 / run.steps.max(1) as f32),
    };
    let (title, state) = (run_title(cx, run), run_state(cx, run));
    job(ui, cx, &title, &state, share);
    ui.push_id(run.id, |ui| match run.state {
        RunState::Finished(_) | RunState::Failed(_) => {
            if widgets::icon_button(ui, Icon::Close, cx.texts.get("run-forget")).clicked() {
                cx.send(Command::Forget(run.id));
            }
        }
        _ => {
            if run.state == RunState::Paused {
                if widgets::icon_button(ui, Icon::Resume, cx.texts.get("run-resume")).clicked() {
                    cx.send(Command::Resume(run.id));
                }
            } else if widgets::icon_button(ui, Icon::Pause, cx.texts.get("run-pause")).clicked() {
                cx.send(Command::Pause(run.id));
            }
            if widgets::icon_button(ui, Icon::Stop, cx.texts.get("action-stop")).clicked() {
                cx.intents.push(Intent::AskStop(run.id));
            }
        }
    });
}

fn job(ui: &mut Ui, cx: &Cx<'_>, title: &str, state: &str, share: Option<f32>) {
    let width = 340.0_f32.min(ui.clip_rect().width() - 96.0).max(160.0);
    ui.allocate_ui_with_layout(vec2(width, 36.0), Layout::top_down(Align::Min), |ui| {
        ui.spacing_mut().item_spacing.y = 4.0;
        ui.set_width(width);
        ui.add_space(5.0);
        ui.horizontal(|ui| {
            ui.spacing_mut().interact_size.y = 16.0;
            ui.set_width(width);
            let font = egui::FontId::new(BODY, semibold());
            let wanted = ui.painter().layout_no_wrap(title.to_owned(), font, cx.palette.text).size().x;
            let room = (wanted + 2.0).min(width * 0.55);
            ui.allocate_ui_with_layout(vec2(room, 16.0), Layout::left_to_right(Align::Center), |ui| {
                widgets::truncated(ui, cx.palette.strong(title));
            });
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                widgets::truncated(ui, cx.palette.caption(state)).on_hover_text(state);
            });
        });
        widgets::bar(ui, cx.palette, share, width, title);
    });
}

/// A problem drawn where it belongs: what, and its causes on hover.
pub fn problem(ui: &mut Ui, cx: &Cx<'_>, problem: &Problem) {
    let response = ui.add(
        egui::Label::new(RichText::new(&problem.message).color(cx.palette.warn_text)).wrap().selectable(true),
    );
    if !problem.causes.is_empty() {
        response.on_hover_text(problem.causes.join("\n"));
    }
}
