//! How the dates, times or numbers of a column are spelled: shown with what an example means, and changed.

use eframe::egui::{self, TextEdit, Ui};

use crate::data::{Column, Kind, readings};
use crate::engine::command::ColumnEdit;
use crate::engine::snapshot::Dataset;
use crate::gui::context::Cx;
use crate::gui::pages::data::cells;
use crate::gui::widgets;

/// Draws the format of a column of text as a button that opens the others; nothing for columns without one.
pub fn button(ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset, at: usize, typed: &mut String) {
    let column = &dataset.schema.column[at];
    let place = dataset.table.position(&column.name);
    let is_text = place.is_some_and(|place| dataset.table.is_text(place));
    if !is_text || (column.format.is_none() && !column.kind.is_temporal()) {
        return;
    }
    let t = cx.texts;
    let shown = column.format.as_deref().unwrap_or("ISO 8601");
    let button = widgets::quiet_button(ui, cx.palette, shown)
        .on_hover_text(t.get("spelling-tip"))
        .accessible_name(t.with("spelling-of", [("column", column.name.as_str().into())]));
    if button.clicked() {
        *typed = column.format.clone().unwrap_or_default();
    }
    let mut chosen = None;
    egui::Popup::from_toggle_button_response(&button)
        .kind(egui::PopupKind::Popup)
        .close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside)
        .show(|ui| {
            ui.set_width(300.0);
            ui.label(cx.palette.strong(&column.name));
            for text in examples(dataset, at) {
                for (format, meaning) in readings(column.kind, &text) {
                    let name = format.as_deref().unwrap_or("ISO 8601").to_owned();
                    let line = t.with(
                        "spelling-reading",
                        [
                            ("text", text.as_str().into()),
                            ("meaning", meaning.into()),
                            ("format", name.into()),
                        ],
                    );
                    if ui.selectable_label(format == column.format, line).clicked() {
                        chosen = Some(format);
                    }
                }
            }
            ui.add(egui::Label::new(cx.palette.caption(t.get(help_key(column)))).wrap());
            ui.horizontal(|ui| {
                let field = TextEdit::singleline(typed).desired_width(170.0);
                let name = t.with("spelling-of", [("column", column.name.as_str().into())]);
                ui.add(field).accessible_name(name);
                if ui.button(t.get("spelling-apply")).clicked() {
                    let text = typed.trim();
                    chosen = Some((!text.is_empty()).then(|| text.to_owned()));
                }
            });
            if chosen.is_some() {
                ui.close();
            }
        });
    if let Some(format) = chosen
        && format != column.format
    {
        cells::send(cx, column, ColumnEdit::Format(format));
    }
}

const fn help_key(column: &Column) -> &'static str {
    match column.kind {
        Kind::Continuous | Kind::Integer => "spelling-help-number",
        _ => "spelling-help-time",
    }
}

/// Texts of the column that show its spelling: its least and its greatest value, or frequent ones. For the steward only.
fn examples(dataset: &Dataset, at: usize) -> Vec<String> {
    let Some(summary) = dataset.summaries.get(at) else {
        return Vec::new();
    };
    let mut texts: Vec<String> = summary
        .values
        .iter()
        .take(2)
        .map(|value| value.value.clone())
        .collect();
    if texts.is_empty()
        && let Some(numbers) = summary.numbers.as_ref().filter(|_| summary.kind.is_temporal())
    {
        texts.extend([numbers.min_text.clone(), numbers.max_text.clone()]);
    }
    if texts.is_empty()
        && let Some(place) = dataset.table.position(&summary.name)
    {
        texts.extend(
            (0..dataset.table.rows().min(50))
                .filter_map(|row| dataset.table.cell(row, place).ok().flatten())
                .take(1),
        );
    }
    texts.dedup();
    texts
}
