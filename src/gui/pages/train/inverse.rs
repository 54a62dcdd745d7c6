//! From what a person can stand back to ε: the noise multiplier, or the error of the marginals.

use eframe::egui::{self, Align, Layout, RichText, Ui, vec2};

use crate::engine::command::{Bearable, Command, EpsilonQuestion, RunRequest};
use crate::engine::snapshot::PlanPreview;
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::theme::SMALL;
use crate::gui::widgets::NumberField;

/// What was asked last, and is not answered or answered with a refusal.
#[derive(Default)]
pub struct Inverse {
    asked: Option<EpsilonQuestion>,
    refused: Option<EpsilonQuestion>,
}

/// Three digits, not below the value: a little more ε, and no more noise than asked for.
fn rounded_up(epsilon: f64) -> f64 {
    let inverse = 10f64.powf(2.0 - epsilon.log10().floor());
    (epsilon * inverse - 1e-9).ceil() / inverse
}

impl Inverse {
    /// Takes the ε that was looked for once it is found, if the form still asks for it.
    pub fn take(&mut self, cx: &Cx<'_>, request: &mut RunRequest) {
        let (Some(asked), Some(answer)) = (&self.asked, &cx.snapshot.epsilon) else {
            return;
        };
        if answer.question != *asked {
            return;
        }
        let is_wanted = asked.request == *request;
        if let (Ok(epsilon), Some(target), true) = (&answer.outcome, &mut request.target, is_wanted) {
            target.epsilon = rounded_up(*epsilon);
            self.asked = None;
        } else {
            self.refused = self.asked.take();
        }
    }

    /// Draws the fields that the plan has noise for.
    pub fn show(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, request: &RunRequest, plan: Option<&PlanPreview>) {
        let Some(summary) = plan.and_then(|plan| plan.outcome.as_ref().ok()) else {
            return;
        };
        if request.target.is_none() {
            return;
        }
        let t = cx.texts;
        ui.add(egui::Label::new(cx.palette.caption(t.get("inverse-lead"))).wrap());
        let mut wanted = None;
        if let Some(first) = summary.noise.first() {
            wanted =
                field(ui, cx, "inverse-noise", "", first.noise_multiplier).map(Bearable::NoiseMultiplier);
        }
        let deviation = summary.marginal_deviation;
        if let Some(deviation) = deviation.filter(|_| summary.settings.images().is_none()) {
            let key = if summary.settings.pairs().is_some() {
                "inverse-pairs"
            } else {
                "inverse-marginals"
            };
            let typed = field(ui, cx, key, t.get("unit-rows"), deviation);
            wanted = typed.map(Bearable::MarginalError).or(wanted);
        }
        if let Some(bearable) = wanted {
            let question = EpsilonQuestion {
                request: request.clone(),
                bearable,
            };
            self.asked = Some(question.clone());
            self.refused = None;
            cx.send(Command::FindEpsilon(Box::new(question)));
        }
        if self.asked.is_some() {
            ui.label(cx.palette.caption(t.get("inverse-working")));
        }
        if let (Some(refused), Some(answer)) = (&self.refused, &cx.snapshot.epsilon)
            && answer.question == *refused
            && let Err(problem) = &answer.outcome
        {
            let text = RichText::new(t.say(&problem.message)).size(SMALL);
            ui.add(egui::Label::new(text.color(cx.palette.warn_text)).wrap());
        }
    }
}

/// A number to type; the number once another one was typed.
fn field(ui: &mut Ui, cx: &Cx<'_>, key: &str, unit: &str, value: f64) -> Option<f64> {
    let help_key = format!("{key}-help");
    let (name, help) = (cx.texts.get(key), cx.texts.get(&help_key));
    let mut typed = value;
    ui.allocate_ui_with_layout(
        vec2(ui.available_width(), 24.0),
        Layout::right_to_left(Align::Center),
        |ui| {
            ui.spacing_mut().interact_size.y = 24.0;
            let field = NumberField {
                write: |number| format::significant(number, 3),
                range: (0.0, 1e9),
                width: Some(64.0),
                ..NumberField::new(name)
            };
            field.show(ui, cx, &mut typed).on_hover_text(help);
            if !unit.is_empty() {
                ui.label(RichText::new(unit).size(SMALL).color(cx.palette.muted));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.add(egui::Label::new(name).truncate()).on_hover_text(help);
            });
        },
    );
    // What is shown is rounded; only another number is a wish.
    let shown = format::significant(value, 3);
    (typed > 0.0 && format::significant(typed, 3) != shown).then_some(typed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epsilon_is_rounded_to_the_side_of_less_noise() {
        for (epsilon, shown) in [(0.731_2, 0.732), (1.0, 1.0), (12.341, 12.4), (0.05, 0.05)] {
            assert!((rounded_up(epsilon) - shown).abs() < 1e-9, "{epsilon}");
        }
    }
}
