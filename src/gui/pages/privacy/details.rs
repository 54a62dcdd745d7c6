//! All that the ledger keeps of one entry.

use eframe::egui::{self, Align, Layout, Ui};

use crate::gui::bars;
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::pages::privacy::ledger::{charge, status_key, what};
use crate::gui::widgets::{self, Icon};
use crate::num::Fills as _;
use crate::privacy::ledger::Entry;

/// Draws the details; true when they were closed.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, entry: &Entry, share: Option<f64>) -> bool {
    let t = cx.texts;
    let mut closed = false;
    ui.horizontal(|ui| {
        let title = t.with("details-title", [("number", entry.id.to_string().into())]);
        ui.label(cx.palette.strong(title));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            closed = widgets::icon_button(ui, Icon::Close, t.get("details-close")).clicked();
        });
    });
    egui::ScrollArea::vertical()
        .id_salt("details")
        .auto_shrink(false)
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 3.0;
            facts(ui, cx, entry, share);
            events(ui, cx, entry);
        });
    closed
}

fn facts(ui: &mut Ui, cx: &Cx<'_>, entry: &Entry, share: Option<f64>) {
    let t = cx.texts;
    let mut fact = |key: &str, value: &str| {
        if !value.is_empty() {
            let line = t.with(
                "details-fact",
                [("name", t.get(key).into()), ("value", value.into())],
            );
            ui.add(egui::Label::new(line).wrap().selectable(true));
        }
    };
    fact("ledger-what", &what(cx, entry));
    fact("ledger-data", &entry.dataset_name);
    fact("ledger-time", &format::local_time(entry.time_ms));
    fact(
        "details-settled",
        &entry.settled_ms.map(format::local_time).unwrap_or_default(),
    );
    fact("ledger-state", t.get(status_key(entry)));
    fact("ledger-charge", &charge(cx, entry));
    fact("ledger-share", &share.map(format::percent).unwrap_or_default());
    let reserved = entry.reserved.map(|reserved| {
        t.with(
            "budget-charge",
            [
                ("epsilon", format::epsilon(reserved.epsilon).into()),
                ("delta", format::delta(reserved.delta).into()),
            ],
        )
    });
    fact("details-reserved", &reserved.unwrap_or_default());
    let relation = entry
        .relation
        .map_or("", |relation| t.get(bars::relation_key(relation)));
    fact("certificate-relation", relation);
    let unit = entry.unit.as_ref().map(|unit| t.filled(&unit.argument()));
    fact("certificate-unit", &unit.unwrap_or_default());
    fact("details-description", &entry.description);
    fact("details-note", entry.note.as_deref().unwrap_or_default());
    if entry.public {
        fact("details-remark", t.get("details-teaching"));
    }
    if entry.seed.is_some() {
        fact("details-remark", t.get("seed-warning"));
    }
}

fn events(ui: &mut Ui, cx: &Cx<'_>, entry: &Entry) {
    let Some(list) = &entry.events else { return };
    let t = cx.texts;
    ui.horizontal(|ui| {
        ui.label(cx.palette.strong(t.get("details-events")));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let copy = widgets::quiet_button(ui, cx.palette, t.get("details-copy"));
            if copy.on_hover_text(t.get("details-copy-tip")).clicked()
                && let Ok(text) = serde_json::to_string_pretty(list)
            {
                ui.ctx().copy_text(text);
            }
        });
    });
    for counted in &list.events {
        // The form that the command line's `account` reads.
        let Ok(text) = serde_json::to_string(&counted.event) else {
            continue;
        };
        let text = if counted.count > 1 {
            format!("{} × {text}", format::count(counted.count))
        } else {
            text
        };
        ui.add(egui::Label::new(cx.palette.caption(text)).wrap().selectable(true));
    }
}
