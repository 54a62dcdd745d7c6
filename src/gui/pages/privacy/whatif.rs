//! What a further run or release would come to, before anything is charged.

use eframe::egui::{self, RichText, Ui, vec2};

use crate::engine::{MeaningAnswer, MeaningQuestion};
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::jobs;
use crate::gui::pages::privacy::choices::{PrivacyChoices, Subject};
use crate::gui::theme::STEP;
use crate::gui::widgets::{self, NumberRow, Slider};
use crate::train::LARGEST_EPSILON;

/// The width of the form.
const FORM: f32 = 330.0;
/// Round stops of ε.
const EPSILONS: [f64; 8] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0];
/// Round stops of the number of releases.
const COUNTS: [f64; 6] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0];

/// Draws form and outcome.
pub fn show(
    ui: &mut Ui,
    cx: &mut Cx<'_>,
    choices: &mut PrivacyChoices,
    answer: Option<&MeaningAnswer>,
    asked: Option<&MeaningQuestion>,
) {
    egui::ScrollArea::vertical()
        .id_salt("what if")
        .auto_shrink(false)
        .show(ui, |ui| {
            if ui.available_width() < 2.0 * FORM {
                form(ui, cx, choices);
                widgets::rule(ui, cx.palette);
                outcome(ui, cx, choices, answer, asked);
                return;
            }
            ui.horizontal_top(|ui| {
                ui.allocate_ui(vec2(FORM, ui.available_height()), |ui| {
                    ui.vertical(|ui| {
                        ui.set_width(FORM);
                        form(ui, cx, choices);
                    });
                });
                ui.add_space(2.0 * STEP);
                ui.vertical(|ui| outcome(ui, cx, choices, answer, asked));
            });
        });
}

fn form(ui: &mut Ui, cx: &Cx<'_>, choices: &mut PrivacyChoices) {
    let t = cx.texts;
    let run = cx
        .snapshot
        .plan
        .as_ref()
        .filter(|plan| plan.events.is_some())
        .and_then(|plan| plan.outcome.as_ref().ok());
    let planned = match run {
        Some(plan) => t.with(
            "what-if-run",
            [
                ("epsilon", format::epsilon(plan.epsilon.unwrap_or(0.0)).into()),
                ("steps", format::count(plan.steps).into()),
            ],
        ),
        None => t.get("what-if-no-run").to_owned(),
    };
    ui.add_enabled_ui(run.is_some(), |ui| {
        ui.checkbox(&mut choices.with_run, planned)
            .on_hover_text(t.get("what-if-run-tip"))
            .on_disabled_hover_text(t.get("what-if-no-run-tip"));
    });
    ui.checkbox(&mut choices.with_releases, t.get("what-if-releases"))
        .on_hover_text(t.get("what-if-releases-tip"));
    if !choices.with_releases {
        return;
    }
    ui.push_id("releases", |ui| {
        let (name, help) = (t.get("what-if-count"), t.get("what-if-releases-tip"));
        let row = NumberRow {
            name,
            help,
            unit: "",
            slider: Slider {
                name,
                range: (1.0, 100.0),
                logarithmic: true,
                integer: true,
                stops: &COUNTS,
            },
            default: 1.0,
            write: |value| format::count(value.max(0.0) as u64),
        };
        row.show(ui, cx, &mut choices.releases);
    });
    ui.push_id("release ε", |ui| {
        let (name, help) = (t.get("what-if-epsilon"), t.get("release-epsilon-help"));
        let row = NumberRow {
            name,
            help,
            unit: "",
            slider: Slider {
                name,
                range: (0.001, 10.0),
                logarithmic: true,
                integer: false,
                stops: &EPSILONS,
            },
            default: 0.1,
            write: |value| format::significant(value, 2),
        };
        row.show_above_zero(ui, cx, LARGEST_EPSILON, &mut choices.release_epsilon);
    });
    ui.checkbox(&mut choices.gaussian, t.get("what-if-gaussian"))
        .on_hover_text(t.get("what-if-gaussian-tip"));
}

fn outcome(
    ui: &mut Ui,
    cx: &mut Cx<'_>,
    choices: &mut PrivacyChoices,
    answer: Option<&MeaningAnswer>,
    asked: Option<&MeaningQuestion>,
) {
    let t = cx.texts;
    let Some(dataset) = cx.snapshot.dataset.clone() else {
        ui.label(t.get("meaning-no-table"));
        return;
    };
    let Some(answer) = answer else {
        ui.label(cx.palette.caption(t.get("meaning-working")));
        return;
    };
    let Some(after) = &answer.with_planned else {
        ui.add(egui::Label::new(t.get("meaning-nothing-supposed")).wrap());
        return;
    };
    if asked != Some(&answer.question) {
        // Of an earlier question: dimmed until the new answer is there.
        ui.multiply_opacity(0.6);
    }
    let shares = dataset.budget.as_ref().and_then(|budget| budget.shares);
    match (shares, answer.planned_share) {
        (Some(shares), Some(planned)) => {
            let taken = shares.spent + shares.reserved;
            let width = ui.available_width();
            let name = t.get("what-if-gauge");
            widgets::budget(ui, cx.palette, taken as f32, planned as f32, width, name);
            let line = t.with(
                "what-if-shares",
                [
                    ("taken", format::percent(taken).into()),
                    ("planned", format::percent(planned).into()),
                    ("total", format::percent(taken + planned).into()),
                ],
            );
            ui.add(egui::Label::new(line).wrap());
            let fits = planned <= shares.left * (1.0 + 1e-9) + 1e-9;
            let (key, color) = if fits {
                ("what-if-fits", cx.palette.ok)
            } else {
                ("what-if-over", cx.palette.warn_text)
            };
            let left = format::percent((shares.left - planned).max(0.0));
            let line = t.with(key, [("left", left.into())]);
            ui.add(egui::Label::new(RichText::new(line).color(color)).wrap());
        }
        (Some(_), None) => {
            let text = RichText::new(t.get("what-if-no-room")).color(cx.palette.warn_text);
            ui.add(egui::Label::new(text).wrap());
        }
        (None, _) => {
            let key = if dataset.schema.public {
                "budget-public-tip"
            } else {
                "budget-no-total-tip"
            };
            ui.add(egui::Label::new(t.get(key)).wrap());
        }
    }
    match (&answer.spent, after) {
        (Ok(before), Ok(after)) => {
            let line = t.with(
                "what-if-epsilon-line",
                [
                    ("before", format::epsilon(before.epsilon).into()),
                    ("after", format::epsilon(after.epsilon).into()),
                    ("delta", format::delta(answer.question.delta).into()),
                ],
            );
            ui.add(egui::Label::new(line).wrap());
        }
        (Err(problem), _) | (_, Err(problem)) => jobs::problem(ui, cx, problem),
    }
    ui.add(egui::Label::new(cx.palette.caption(t.get("what-if-filter"))).wrap());
    if ui.button(t.get("what-if-look")).clicked() {
        choices.subject = Subject::Supposed;
    }
}
