//! What a run will cost, in plain words, and the button that starts it.

use eframe::egui::{self, RichText, Ui};

use crate::engine::snapshot::PlanPreview;
use crate::gui::bars::{hidden, relation_key, relation_of_runs, word};
use crate::gui::command::Action;
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::jobs;
use crate::gui::pages::train::TrainPage;
use crate::gui::theme::SMALL;
use crate::gui::widgets;
use crate::num::logspace::{normal_cdf, normal_quantile};
use crate::num::{Delta, Epsilon};
use crate::privacy::gaussian_sigma;
use crate::privacy::meaning::of_hundred;
use crate::train::PlanSummary;

/// The false-alarm rate of the sentence about attackers.
const FALSE_ALARMS: f64 = 0.01;

/// The most that an attacker finds at a rate of false alarms, known ε and δ only: the worst case of all
/// mechanisms that keep that promise.
pub fn worst_case_rate(epsilon: f64, delta: f64, false_alarms: f64) -> f64 {
    let one = epsilon.exp() * false_alarms + delta;
    let other = 1.0 - (-epsilon).exp() * (1.0 - delta - false_alarms);
    one.min(other).clamp(0.0, 1.0)
}

/// What an attacker finds at a rate of false alarms behind one Gaussian mechanism that just keeps the promise.
pub fn gaussian_rate(epsilon: f64, delta: f64, false_alarms: f64) -> f64 {
    let worst = worst_case_rate(epsilon, delta, false_alarms);
    let sigma = Epsilon::new(epsilon)
        .ok()
        .zip(Delta::new(delta).ok())
        .and_then(|(epsilon, delta)| gaussian_sigma(epsilon, delta, 1.0).ok());
    sigma.map_or(worst, |sigma| {
        normal_cdf(normal_quantile(false_alarms) + 1.0 / sigma).min(worst)
    })
}

/// Draws the section.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, page: &TrainPage, plan: Option<&PlanPreview>) {
    widgets::rule(ui, cx.palette);
    ui.label(cx.palette.strong(cx.texts.get("cost-title")));
    ui.spacing_mut().item_spacing.y = 6.0;
    match plan.map(|plan| &plan.outcome) {
        Some(Ok(summary)) => {
            if let Some(plan) = plan {
                share_line(ui, cx, plan);
            }
            summary_lines(ui, cx, page, summary);
        }
        // The reason stands above the button that starts the run, which is always in view.
        Some(Err(_)) => caption(ui, cx, cx.texts.get("cost-refused")),
        None if cx
            .snapshot
            .dataset
            .as_ref()
            .is_some_and(|dataset| dataset.open.is_empty()) =>
        {
            caption(ui, cx, cx.texts.get("cost-working"));
        }
        None => caption(ui, cx, cx.texts.get("cost-unknown")),
    }
}

/// Draws the button that starts the run, and what keeps it from being pressed.
pub fn start(ui: &mut Ui, cx: &mut Cx<'_>, page: &TrainPage) {
    let blocked = page.blocked(cx);
    if let Some(Ok(summary)) = page.answer(cx).map(|plan| &plan.outcome) {
        // Before anything is reserved, and in view however far the form is scrolled.
        for warning in &summary.warnings {
            let text = RichText::new(cx.texts.say(warning)).size(SMALL);
            ui.add(egui::Label::new(text.color(cx.palette.warn_text)).wrap());
        }
    }
    ui.horizontal_wrapped(|ui| {
        cx.accent_button(ui, Action::Start, blocked.as_deref());
    });
    if let Some(Err(problem)) = page.answer(cx).map(|plan| &plan.outcome)
        && blocked.as_deref() == Some(cx.texts.say(&problem.message).as_str())
    {
        // With its causes on hover.
        jobs::problem(ui, cx, problem);
    } else if let Some(reason) = blocked {
        ui.add(egui::Label::new(RichText::new(reason).size(SMALL).color(cx.palette.warn_text)).wrap());
    }
}

/// Why the run does not fit into what is left of the total, if it does not.
pub fn over_total(cx: &Cx<'_>, plan: &PlanPreview) -> Option<String> {
    let shares = cx.snapshot.dataset.as_ref()?.budget.as_ref()?.shares?;
    let share = plan.share?;
    // The ledger decides; a rounding in the last digit is left to it.
    (share > shares.left * (1.0 + 1e-9) + 1e-9).then(|| {
        cx.texts.with(
            "cost-share-over",
            [
                ("share", format::percent(share).into()),
                ("left", format::percent(shares.left).into()),
            ],
        )
    })
}

/// The share of the data set's total that the run would hold, before it is started.
fn share_line(ui: &mut Ui, cx: &Cx<'_>, plan: &PlanPreview) {
    let t = cx.texts;
    let Some(dataset) = &cx.snapshot.dataset else {
        return;
    };
    let Some(budget) = &dataset.budget else { return };
    if plan.request.target.is_none() {
        return;
    }
    // What keeps it from fitting stands above the button that starts it.
    if over_total(cx, plan).is_some() {
        caption(ui, cx, t.get("cost-refused"));
        return;
    }
    let line = match (budget.shares, plan.share) {
        (Some(shares), Some(share)) => {
            let width = ui.available_width();
            let name = t.get("cost-share-name");
            let spent = (shares.spent + shares.reserved) as f32;
            widgets::budget(ui, cx.palette, spent, share as f32, width, name);
            t.with(
                "cost-share",
                [
                    ("share", format::percent(share).into()),
                    ("left", format::percent(shares.left - share).into()),
                ],
            )
        }
        _ if dataset.schema.public => t.get("cost-teaching").to_owned(),
        _ => t.get("cost-no-total").to_owned(),
    };
    ui.add(egui::Label::new(cx.palette.caption(line)).wrap())
        .on_hover_text(t.get("share-tip"));
}

fn caption(ui: &mut Ui, cx: &Cx<'_>, text: &str) {
    ui.add(egui::Label::new(cx.palette.caption(text)).wrap());
}

fn summary_lines(ui: &mut Ui, cx: &Cx<'_>, page: &TrainPage, summary: &PlanSummary) {
    let t = cx.texts;
    let Some(target) = page.request.target else {
        caption(ui, cx, t.get("cost-no-claim"));
        return;
    };
    let (epsilon, delta) = (
        summary.epsilon.unwrap_or(target.epsilon),
        summary.delta.unwrap_or(target.delta),
    );
    let unit = cx
        .snapshot
        .dataset
        .as_ref()
        .map(|dataset| crate::gui::bars::unit(cx, dataset))
        .unwrap_or_default();
    let promise = t.with(
        "cost-promise",
        [
            ("epsilon", format::epsilon(epsilon).into()),
            ("delta", format::delta(delta).into()),
            ("unit", unit.into()),
            (
                "relation",
                t.get(relation_key(relation_of_runs(cx, target.neighboring)))
                    .into(),
            ),
        ],
    );
    caption(ui, cx, &promise);
    let worst = worst_case_rate(epsilon, delta, FALSE_ALARMS);
    let gaussian = page.gaussian_rate(epsilon, delta, FALSE_ALARMS);
    let odds = t.with(
        "cost-odds",
        [
            ("unit", word(hidden(cx.snapshot.dataset.as_deref())).into()),
            ("gaussian", of_hundred(gaussian).into()),
            ("worst", of_hundred(worst).into()),
        ],
    );
    caption(ui, cx, &odds);
    caption(ui, cx, &noise_line(cx, summary));
    let key = if summary.settings.pairs().is_some() {
        "cost-pairs"
    } else {
        "cost-marginals"
    };
    let marginals = summary.marginal_deviation;
    if let Some(marginals) = marginals.filter(|_| summary.settings.images().is_none()) {
        let text = t.with(key, [("rows", format::significant(marginals, 3).into())]);
        caption(ui, cx, &text);
    }
}

fn noise_line(cx: &Cx<'_>, summary: &PlanSummary) -> String {
    let first = summary
        .noise
        .first()
        .map_or(0.0, |stretch| stretch.noise_multiplier);
    let last = summary
        .noise
        .last()
        .map_or(first, |stretch| stretch.noise_multiplier);
    let noise = if (first - last).abs() < 1e-9 {
        format::significant(first, 3)
    } else {
        format!(
            "{} → {}",
            format::significant(first, 3),
            format::significant(last, 3)
        )
    };
    if summary.looks_once() {
        let steps = format::count(summary.steps);
        return cx.texts.with(
            "cost-one-look",
            [("noise", noise.into()), ("steps", steps.into())],
        );
    }
    cx.texts.with(
        "cost-noise",
        [
            ("noise", noise.into()),
            ("steps", format::count(summary.steps).into()),
            ("rate", format::percent(summary.sampling_rate).into()),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_case_matches_the_published_readings() {
        assert!((worst_case_rate(1.0, 0.0, 0.01) - 0.0272).abs() < 1e-4);
        assert!((worst_case_rate(8.0, 1e-5, 0.01) - 0.9997).abs() < 1e-4);
        assert!((gaussian_rate(1.0, 1e-5, 0.01) - 0.0198).abs() < 2e-4);
        assert!((gaussian_rate(8.0, 1e-5, 0.01) - 0.2545).abs() < 1e-3);
    }
}
