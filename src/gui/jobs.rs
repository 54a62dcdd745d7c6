//! The job strip: everything that runs, how far it has come, and the latest message.

use eframe::egui::{self, Align, FontId, Layout, RichText, Ui, vec2};

use crate::engine::command::{Command, Method};
use crate::engine::event::Problem;
use crate::engine::snapshot::{LoadStage, RunState, RunView};
use crate::gui::command::Action;
use crate::gui::context::{Cx, Intent};
use crate::gui::fonts::semibold;
use crate::gui::format;
use crate::gui::messages::{Messages, Weight, stop_reason};
use crate::gui::theme::{BODY, SMALL, STEP};
use crate::gui::widgets::{self, Icon};

/// The height of the job strip.
pub const STRIP: f32 = 56.0;

/// What a run is called: by a person, or else by method, data set and promise.
pub fn run_title(cx: &Cx<'_>, run: &RunView) -> String {
    if let Some(name) = &run.name {
        return name.clone();
    }
    let key = format!("method-{}", run.method.name());
    let method = cx.texts.get(&key);
    let data = run
        .dataset
        .rsplit_once('.')
        .map_or(run.dataset.as_str(), |(stem, _)| stem);
    match run.target {
        Some(target) => {
            format!("{method} · {data} · ε {}", format::significant(target.epsilon, 3))
        }
        None => format!("{method} · {data} · {}", cx.texts.get("no-dp-claim")),
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
        RunState::Failed(problem) => t.say(&problem.message),
        RunState::Paused => t.with("run-paused", [("steps", steps(run).into())]),
        RunState::Running if run.step == 0 && is_mean_embedding(run) => t.get("run-embedding").to_owned(),
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

/// A run's state where its steps stand beside it.
pub fn run_stage(cx: &Cx<'_>, run: &RunView) -> String {
    let t = cx.texts;
    match (&run.state, run.seconds_left) {
        (RunState::Running, Some(left)) if run.step > 0 => {
            t.with("run-left", [("time", format::duration(left).into())])
        }
        (RunState::Running, None) if run.step > 0 => t.get("run-going").to_owned(),
        (RunState::Paused, _) => t.get("run-held").to_owned(),
        _ => run_state(cx, run),
    }
}

/// Steps done and planned; none before they are known.
pub fn run_steps(run: &RunView) -> String {
    if run.steps == 0 {
        return "—".to_owned();
    }
    steps(run)
}

/// Whether a run's one look at the data is the mean embedding, before which no step is taken.
fn is_mean_embedding(run: &RunView) -> bool {
    run.method == Method::DpMerf
}

fn steps(run: &RunView) -> String {
    format!("{} / {}", format::count(run.step), format::count(run.steps))
}

/// The job strip: everything that runs, and the latest message.
pub fn strip(ui: &mut Ui, cx: &mut Cx<'_>, messages: &mut Messages) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        let toggle = ui.selectable_label(messages.log_open, cx.texts.get("action-log"));
        if toggle.on_hover_text(cx.tip(ui, Action::ToggleLog)).clicked() {
            cx.act(Action::ToggleLog);
        }
        let wide = ui.available_width() > 640.0;
        if wide && let Some((line, weight)) = messages.latest(cx) {
            let color = if weight == Weight::Problem {
                cx.palette.second_text
            } else {
                cx.palette.muted
            };
            ui.allocate_ui_with_layout(vec2(240.0, 20.0), Layout::right_to_left(Align::Center), |ui| {
                widgets::truncated(ui, RichText::new(line).size(SMALL).color(color));
            });
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            egui::ScrollArea::horizontal()
                .id_salt("jobs")
                .auto_shrink([false, true])
                .show(ui, |ui| {
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
        let name = exporting
            .path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
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
    // What goes on comes first: a row of runs that have ended must not push it out of sight.
    let mut runs: Vec<_> = snapshot.runs.iter().rev().collect();
    runs.sort_by_key(|run| rank(&run.state));
    for run in runs {
        any = true;
        run_job(ui, cx, run);
        ui.add_space(STEP);
    }
    if !any {
        ui.label(cx.palette.caption(cx.texts.get("jobs-none")));
    }
}

/// Runs that go on, those that wait, those that have ended.
const fn rank(state: &RunState) -> u8 {
    match state {
        RunState::Running | RunState::Paused | RunState::Stopping | RunState::Preparing => 0,
        RunState::Queued => 1,
        RunState::Finished(_) | RunState::Failed(_) => 2,
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
                cx.intents.push(Intent::AskForget(run.id));
            }
        }
        _ => {
            let t = cx.texts;
            let names = [t.get("run-pause"), t.get("run-resume"), t.get("action-stop")];
            hold(ui, cx, run, names);
        }
    });
}

/// The buttons that hold a run or let it go on, and that end it, by these names.
pub fn hold(ui: &mut Ui, cx: &mut Cx<'_>, run: &RunView, [pause, resume, stop]: [&str; 3]) {
    if run.state == RunState::Paused {
        if widgets::icon_button(ui, Icon::Resume, resume).clicked() {
            cx.send(Command::Resume(run.id));
        }
    } else if widgets::icon_button(ui, Icon::Pause, pause).clicked() {
        cx.send(Command::Pause(run.id));
    }
    if widgets::icon_button(ui, Icon::Stop, stop).clicked() {
        cx.intents.push(Intent::AskStop(run.id));
    }
}

fn job(ui: &mut Ui, cx: &Cx<'_>, title: &str, state: &str, share: Option<f32>) {
    let width = 400.0_f32.min(ui.clip_rect().width() - 96.0).max(160.0);
    ui.allocate_ui_with_layout(vec2(width, 36.0), Layout::top_down(Align::Min), |ui| {
        ui.spacing_mut().item_spacing.y = 4.0;
        ui.set_width(width);
        ui.add_space(5.0);
        ui.spacing_mut().interact_size.y = 16.0;
        ui.horizontal(|ui| {
            ui.set_width(width);
            let font = FontId::new(BODY, semibold());
            let wanted = ui
                .painter()
                .layout_no_wrap(title.to_owned(), font, cx.palette.text)
                .size()
                .x;
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
        egui::Label::new(RichText::new(cx.texts.say(&problem.message)).color(cx.palette.warn_text))
            .wrap()
            .selectable(true),
    );
    if !problem.causes.is_empty() {
        let causes: Vec<String> = problem.causes.iter().map(|cause| cx.texts.say(cause)).collect();
        response.on_hover_text(causes.join("\n"));
    }
}
