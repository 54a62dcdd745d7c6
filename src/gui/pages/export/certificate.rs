//! What the certificate beside an export will say.

use eframe::egui::{self, Align, Layout, RichText, Sense, Ui, UiBuilder};

use crate::engine::event::Exported;
use crate::engine::snapshot::{RunClaims, RunState, RunView};
use crate::export::certificate::{Guarantee, NotAccounted, NotProtected};
use crate::gui::bars;
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::jobs;
use crate::gui::widgets;
use crate::privacy::AccountantKind;
use crate::privacy::ledger::PrivacyUnit;

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

/// What was written, where it lies, and what can be taken along of that.
pub fn written(ui: &mut Ui, cx: &Cx<'_>, done: &Exported) {
    let t = cx.texts;
    widgets::rule(ui, cx.palette);
    ui.scope(|ui| {
        ui.horizontal(|ui| {
            widgets::dot(ui, cx.palette.ok);
            ui.label(cx.palette.strong(super::written(cx, done)));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.label(cx.palette.caption(format::bytes(done.written.bytes)));
            });
        });
        for (key, path) in [
            (done.records.choose("file-table", "file-images"), &done.table),
            ("file-certificate", &done.certificate),
            ("file-page", &done.certificate_page),
            ("file-recipe", &done.recipe),
            ("file-generator", &done.generator),
        ] {
            fact(ui, cx, t.get(key), &path.display().to_string());
        }
        fact(ui, cx, "SHA-256", &done.written.sha256);
        ui.horizontal_wrapped(|ui| {
            let copies = [
                ("export-copy-path", done.table.display().to_string()),
                ("export-copy-hash", done.written.sha256.clone()),
            ];
            for (key, text) in copies {
                let copy = widgets::quiet_button(ui, cx.palette, t.get(key));
                if copy.on_hover_text(t.get(&format!("{key}-tip"))).clicked() {
                    ui.ctx().copy_text(text);
                }
            }
        });
    });
}

/// What the certificate beside the export will say.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, run: &RunView) {
    let t = cx.texts;
    ui.label(cx.palette.title(t.get("certificate-title")));
    ui.add(egui::Label::new(cx.palette.caption(t.get("certificate-lead"))).wrap());
    if run.seed.is_some() || run.target.is_none() {
        let key = if run.seed.is_some() {
            "seed-warning"
        } else {
            "run-no-claim"
        };
        ui.label(RichText::new(t.get(key)).color(cx.palette.warn_text));
        return;
    }
    let claims = match &run.claims {
        Some(Ok(claims)) => claims,
        Some(Err(problem)) => return jobs::problem(ui, cx, problem),
        None => return,
    };
    promise(ui, cx, claims);
    if let Some(plan) = run.plan.as_deref() {
        let sampling = if plan.looks_once() {
            t.get("certificate-sampling-once").to_owned()
        } else {
            t.with(
                "certificate-sampling-value",
                [
                    ("rate", format::percent(plan.sampling_rate).into()),
                    ("steps", format::count(plan.steps).into()),
                ],
            )
        };
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
    widgets::rule(ui, cx.palette);
    unprotected(ui, cx, claims);
}

/// ε and δ, whose presence they hide, and from which change: as the certificate states them.
fn promise(ui: &mut Ui, cx: &Cx<'_>, claims: &RunClaims) {
    let t = cx.texts;
    let promise = match &claims.guarantee {
        Some(guarantee) => t.with(
            "certificate-promise-value",
            [
                ("epsilon", format::significant(guarantee.epsilon, 3).into()),
                ("delta", format::delta(guarantee.delta).into()),
                (
                    "accountant",
                    match guarantee.accountant {
                        AccountantKind::Pld => "PLD",
                        AccountantKind::Rdp => "RDP",
                    }
                    .into(),
                ),
            ],
        ),
        None => t.get("no-dp-claim").to_owned(),
    };
    fact(ui, cx, t.get("certificate-promise"), &promise);
    let is_tight = |guarantee: &Guarantee| guarantee.accountant == AccountantKind::Pld;
    if claims.guarantee.as_ref().is_some_and(is_tight) {
        ui.add(egui::Label::new(cx.palette.caption(t.get("certificate-tighter"))).wrap());
    }
    match &claims.unit {
        Some(PrivacyUnit::Row) => {
            let unit = t.get(claims.records.choose("unit-row", "unit-image"));
            fact(ui, cx, t.get("certificate-unit"), unit);
        }
        Some(PrivacyUnit::Person { column, max_rows }) => {
            let unit = t.with(
                "unit-person",
                [("column", column.as_str().into()), ("rows", (*max_rows).into())],
            );
            fact(ui, cx, t.get("certificate-unit"), &unit);
        }
        None => {}
    }
    if let Some(relation) = claims.relation {
        fact(
            ui,
            cx,
            t.get("certificate-relation"),
            t.get(bars::relation_key(relation)),
        );
    }
}

/// The very list of the certificate, columns joined in one line.
fn unprotected(ui: &mut Ui, cx: &Cx<'_>, claims: &RunClaims) {
    let t = cx.texts;
    ui.label(cx.palette.strong(t.get("certificate-unprotected")));
    let accepted: Vec<&str> = claims
        .not_protected
        .iter()
        .filter_map(|item| match item {
            NotProtected::AcceptedDomain { column } => Some(column.as_str()),
            _ => None,
        })
        .collect();
    let mut lines = Vec::new();
    if !accepted.is_empty() {
        lines.push(t.with("certificate-accepted", [("names", accepted.join(", ").into())]));
    }
    for item in &claims.not_protected {
        match item {
            NotProtected::AcceptedDomain { .. } => {}
            NotProtected::AcceptedForm => lines.push(t.get("certificate-form").to_owned()),
            NotProtected::RowCount => {
                let key = claims.records.choose("certificate-rows", "certificate-images");
                lines.push(t.get(key).to_owned());
            }
            NotProtected::PersonCount => lines.push(t.get("certificate-persons").to_owned()),
            NotProtected::FloatingPointNoise => lines.push(t.get("certificate-floating").to_owned()),
        }
    }
    for item in &claims.not_accounted {
        lines.push(
            t.get(match item {
                NotAccounted::Tuning => "certificate-tuning",
                NotAccounted::Looking => "certificate-looking",
                NotAccounted::CheckpointChoice => "certificate-checkpoint",
                NotAccounted::MomentOfStopping => "certificate-stopped",
            })
            .to_owned(),
        );
    }
    for line in lines {
        ui.horizontal_top(|ui| {
            widgets::dot(ui, cx.palette.warn);
            ui.add(egui::Label::new(line).wrap());
        });
    }
}
