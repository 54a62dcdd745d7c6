//! What the certificate beside an export will say.

use eframe::egui::{self, Align, Layout, RichText, Sense, Ui, UiBuilder};

use crate::data::{Provenance, Schema};
use crate::engine::snapshot::{RunState, RunView};
use crate::gui::bars;
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::widgets;
use crate::train::StopReason;

/// The height of a name and its value.
const FACT: f32 = 20.0;
/// The width of the names.
const NAME: f32 = 132.0;

/// A name and a value beside it, in a row as high as its text.
pub fn fact(ui: &mut Ui, cx: &Cx<'_>, name: &str, value: &str) {
    ui.spacing_mut().item_spacing.y = 3.0;
    let size = egui::vec2(ui.available_width(), FACT);
    let (row, _) = ui.allocate_exact_size(size, Sense::hover());
    let (left, right) = row.split_left_right_at_x(row.left() + NAME.min(row.width() / 3.0));
    let layout = Layout::left_to_right(Align::Center);
    ui.scope_builder(UiBuilder::new().max_rect(left).layout(layout), |ui| {
        widgets::truncated(ui, cx.palette.caption(name));
    });
    ui.scope_builder(UiBuilder::new().max_rect(right).layout(layout), |ui| {
        ui.add(egui::Label::new(value).truncate().selectable(true))
            .on_hover_text(value);
    });
}

/// What the certificate beside the export will say.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, run: &RunView) {
    let t = cx.texts;
    ui.label(cx.palette.title(t.get("certificate-title")));
    ui.add(egui::Label::new(cx.palette.caption(t.get("certificate-lead"))).wrap());
    let claim = run.target.filter(|_| run.seed.is_none());
    let Some(target) = claim else {
        let key = if run.seed.is_some() {
            "seed-warning"
        } else {
            "run-no-claim"
        };
        ui.label(RichText::new(t.get(key)).color(cx.palette.warn_text));
        return;
    };
    let summary = run.plan.as_deref();
    let epsilon = summary.and_then(|plan| plan.epsilon).unwrap_or(target.epsilon);
    let promise = t.with(
        "budget-charge",
        [
            ("epsilon", format::epsilon(epsilon).into()),
            ("delta", format::delta(target.delta).into()),
        ],
    );
    fact(ui, cx, t.get("certificate-promise"), &promise);
    if let Some(dataset) = &cx.snapshot.dataset {
        fact(ui, cx, t.get("certificate-unit"), &bars::unit(cx, dataset));
    }
    fact(
        ui,
        cx,
        t.get("certificate-relation"),
        t.get(bars::relation_key(target.neighboring)),
    );
    if let Some(plan) = summary {
        let sampling = t.with(
            "certificate-sampling-value",
            [
                ("rate", format::percent(plan.sampling_rate).into()),
                ("steps", format::count(plan.steps).into()),
            ],
        );
        fact(ui, cx, t.get("certificate-sampling"), &sampling);
    }
    fact(
        ui,
        cx,
        t.get("certificate-random"),
        t.get("certificate-random-os"),
    );
    if let RunState::Finished(reason) = run.state {
        fact(
            ui,
            cx,
            t.get("certificate-end"),
            crate::gui::messages::stop_reason(cx, reason),
        );
    }
    if let Some(dataset) = &cx.snapshot.dataset {
        widgets::rule(ui, cx.palette);
        unprotected(ui, cx, &dataset.schema, &run.state);
    }
}

fn unprotected(ui: &mut Ui, cx: &Cx<'_>, schema: &Schema, state: &RunState) {
    let t = cx.texts;
    ui.label(cx.palette.strong(t.get("certificate-unprotected")));
    let accepted: Vec<&str> = schema
        .column
        .iter()
        .filter(|column| column.is_used() && column.provenance == Some(Provenance::Accepted))
        .map(|column| column.name.as_str())
        .collect();
    let mut lines = Vec::new();
    if !accepted.is_empty() {
        lines.push(t.with("certificate-accepted", [("names", accepted.join(", ").into())]));
    }
    if schema.rows.is_none() {
        lines.push(t.get("certificate-rows").to_owned());
    }
    if *state == RunState::Finished(StopReason::ByPerson) {
        lines.push(t.get("certificate-stopped").to_owned());
    }
    lines.push(t.get("certificate-looking").to_owned());
    for line in lines {
        ui.horizontal_top(|ui| {
            widgets::dot(ui, cx.palette.warn);
            ui.add(egui::Label::new(line).wrap());
        });
    }
}
