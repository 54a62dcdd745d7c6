//! What was spent: the budget of the open data set, and every entry of the ledger.

use eframe::egui::{self, Align, DragValue, Layout, RichText, TextEdit, Ui};
use egui_extras::{Column, TableBuilder, TableRow};

use crate::engine::command::Command;
use crate::engine::snapshot::Dataset;
use crate::gui::bars;
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::jobs;
use crate::gui::theme::{SMALL, STEP};
use crate::gui::widgets;
use crate::num::{Epsilon, Fills as _};
use crate::privacy::PrivacyEvent;
use crate::privacy::ledger::{Budget, Entry, Status};

/// The height of an entry.
const ROW: f32 = 28.0;

/// What the page remembers between frames.
pub struct PrivacyPage {
    epsilon: f64,
    delta: f64,
    reason: String,
}

impl Default for PrivacyPage {
    fn default() -> Self {
        Self {
            epsilon: 10.0,
            delta: 1e-5,
            reason: String::new(),
        }
    }
}

impl PrivacyPage {
    /// Draws the page.
    pub fn show(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        egui::Frame::new().inner_margin(12).show(ui, |ui| {
            if let Some(problem) = &cx.snapshot.ledger.problem {
                widgets::card(ui, cx.palette, |ui| jobs::problem(ui, cx, problem));
            }
            if let Some(dataset) = cx.snapshot.dataset.clone()
                && let Some(budget) = &dataset.budget
            {
                widgets::card(ui, cx.palette, |ui| self.budget(ui, cx, &dataset, budget));
            }
            let height = ui.available_height().max(180.0) - 2.0;
            widgets::card(ui, cx.palette, |ui| {
                ui.set_min_height(height - 22.0);
                ledger(ui, cx, height - 104.0);
            });
        });
    }

    fn budget(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset, budget: &Budget) {
        let t = cx.texts;
        ui.horizontal(|ui| {
            ui.label(cx.palette.title(t.get("budget-title")));
            widgets::truncated(ui, cx.palette.caption(&dataset.name));
        });
        let charge = |epsilon, delta| {
            t.with(
                "budget-charge",
                [
                    ("epsilon", format::epsilon(epsilon).into()),
                    ("delta", format::delta(delta).into()),
                ],
            )
        };
        if let (Some(total), Some(shares)) = (budget.total, budget.shares) {
            let name = t.get("budget-name");
            let width = ui.available_width().min(520.0);
            widgets::budget(
                ui,
                cx.palette,
                shares.spent as f32,
                shares.reserved as f32,
                width,
                name,
            );
            let line = t.with(
                "budget-of-total",
                [
                    ("spent", format::percent(shares.spent).into()),
                    ("reserved", format::percent(shares.reserved).into()),
                    ("left", format::percent(shares.left).into()),
                    ("total", charge(total.epsilon, total.delta).into()),
                ],
            );
            ui.add(egui::Label::new(line).wrap());
        } else {
            let key = if dataset.schema.public {
                "budget-none-public"
            } else {
                "budget-none"
            };
            ui.add(egui::Label::new(t.get(key)).wrap());
        }
        let sum = t.with(
            "budget-sum",
            [
                ("spent", charge(budget.spent.epsilon, budget.spent.delta).into()),
                ("jobs", budget.jobs.into()),
            ],
        );
        ui.add(egui::Label::new(cx.palette.caption(sum)).wrap());
        if budget.total.is_none() && !dataset.schema.public {
            self.set_total(ui, cx);
        }
    }

    fn set_total(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let t = cx.texts;
        ui.add_space(STEP / 2.0);
        ui.horizontal_wrapped(|ui| {
            let label = ui.label(t.get("total-epsilon"));
            ui.add(DragValue::new(&mut self.epsilon).speed(0.1).range(0.01..=1000.0))
                .labelled_by(label.id);
            let label = ui.label("δ");
            let delta = DragValue::new(&mut self.delta)
                .speed(0.0)
                .range(0.0..=0.5)
                .custom_formatter(|value, _| format::delta(value))
                .custom_parser(format::parse);
            ui.add(delta).labelled_by(label.id);
            let label = ui.label(t.get("total-reason"));
            ui.add(TextEdit::singleline(&mut self.reason).desired_width(220.0))
                .labelled_by(label.id);
            let epsilon = Epsilon::new(self.epsilon).ok();
            let ready = epsilon.is_some() && !self.reason.trim().is_empty();
            let button = ui
                .add_enabled(ready, egui::Button::new(t.get("total-set")))
                .on_hover_text(t.get("total-set-tip"))
                .on_disabled_hover_text(t.get("total-set-needs"));
            if button.clicked()
                && let Some(epsilon) = epsilon
            {
                let reason = self.reason.trim().to_owned();
                cx.send(Command::SetTotal {
                    epsilon,
                    delta: self.delta,
                    reason,
                });
                self.reason.clear();
            }
        });
    }
}

fn ledger(ui: &mut Ui, cx: &Cx<'_>, height: f32) {
    let t = cx.texts;
    let entries = &cx.snapshot.ledger.entries;
    ui.horizontal(|ui| {
        ui.label(cx.palette.title(t.get("ledger-title")));
        ui.label(
            cx.palette
                .caption(t.with("ledger-count", [("count", entries.len().into())])),
        );
    });
    if entries.is_empty() {
        ui.add(egui::Label::new(t.get("ledger-empty")).wrap());
        return;
    }
    let heads = [
        "ledger-number",
        "ledger-time",
        "ledger-data",
        "ledger-what",
        "ledger-charge",
        "ledger-state",
    ];
    egui::ScrollArea::horizontal()
        .id_salt("ledger")
        .auto_shrink(false)
        .show(ui, |ui| {
            widgets::quiet_table(ui);
            TableBuilder::new(ui)
                .id_salt("ledger")
                .auto_shrink(false)
                .resizable(true)
                .min_scrolled_height(height)
                .max_scroll_height(height)
                .cell_layout(Layout::left_to_right(Align::Center))
                .column(Column::initial(44.0).at_least(36.0))
                .column(Column::initial(132.0).at_least(110.0).clip(true))
                .column(Column::initial(170.0).at_least(80.0).clip(true))
                .column(Column::initial(230.0).at_least(80.0).clip(true))
                .column(Column::initial(170.0).at_least(120.0).clip(true))
                .column(Column::remainder().at_least(160.0).clip(true))
                .header(22.0, |mut header| {
                    for key in heads {
                        header.col(|ui| {
                            widgets::truncated(ui, cx.palette.caption(t.get(key)));
                        });
                    }
                })
                .body(|body| {
                    body.rows(ROW, entries.len(), |mut row| {
                        // The latest stands first.
                        let at = entries.len() - 1 - row.index();
                        entry_row(&mut row, cx, &entries[at]);
                    });
                });
        });
}

fn entry_row(row: &mut TableRow<'_, '_>, cx: &Cx<'_>, entry: &Entry) {
    let t = cx.texts;
    let mut cell = |text: RichText, tip: Option<&str>| {
        row.col(|ui| {
            widgets::row_line(ui, cx.palette);
            let response = widgets::truncated(ui, text);
            if let Some(tip) = tip.filter(|tip| !tip.is_empty()) {
                response.on_hover_text(tip);
            }
        });
    };
    cell(RichText::new(entry.id.to_string()).color(cx.palette.muted), None);
    cell(RichText::new(format::local_time(entry.time_ms)), None);
    cell(RichText::new(&entry.dataset_name), None);
    cell(RichText::new(what(cx, entry)), Some(&entry.description));
    let charge = t.with(
        "budget-charge",
        [
            ("epsilon", format::epsilon(entry.epsilon).into()),
            ("delta", format::delta(entry.delta).into()),
        ],
    );
    let relation = entry.relation.map(|relation| t.get(bars::relation_key(relation)));
    let unit = entry.unit.as_ref().map(|unit| t.filled(&unit.argument()));
    let tip = [relation.map(str::to_owned), unit]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" · ");
    cell(RichText::new(charge), Some(&tip));
    let (key, color) = match &entry.status {
        Status::Reserved => ("status-reserved", cx.palette.accent),
        Status::Finished => ("status-finished", cx.palette.ok),
        Status::StoppedByPerson => ("status-stopped", cx.palette.warn_text),
        Status::Failed { .. } => ("status-failed", cx.palette.second_text),
        Status::Discarded => ("status-discarded", cx.palette.muted),
        Status::TotalSet => ("status-total-set", cx.palette.muted),
        Status::TotalRaised => ("status-total-raised", cx.palette.muted),
        Status::NewVersion => ("status-new-version", cx.palette.muted),
    };
    cell(
        RichText::new(t.get(key)).size(SMALL + 1.0).color(color),
        entry.note.as_deref(),
    );
}

/// What a job was, in the window's language as far as its events say it; in the words it was entered with
/// otherwise.
fn what(cx: &Cx<'_>, entry: &Entry) -> String {
    let t = cx.texts;
    let key = format!("job-{}", entry.kind);
    let kind = if t.has(&key) {
        t.get(&key)
    } else {
        entry.kind.as_str()
    };
    let steps: u64 = entry.events.as_ref().map_or(0, |list| {
        list.events
            .iter()
            .map(|counted| match counted.event {
                PrivacyEvent::PoissonSampledGaussian { steps, .. } => steps * counted.count,
                _ => 0,
            })
            .sum()
    });
    let more = if steps > 0 {
        t.with("run-steps", [("steps", format::count(steps).into())])
    } else {
        entry.description.clone()
    };
    [kind, &more]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" · ")
}
