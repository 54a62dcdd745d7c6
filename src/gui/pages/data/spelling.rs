//! How the dates, times or numbers of a column are spelled, and those cells that have none: shown with what an example
//! means, and changed.

use eframe::egui::{self, TextEdit, Ui};

use crate::data::{Column, Kind, readings};
use crate::engine::command::ColumnEdit;
use crate::engine::snapshot::Dataset;
use crate::gui::context::Cx;
use crate::gui::pages::data::cells;
use crate::gui::widgets;

/// A number as it is written where no format is given.
const PLAIN_NUMBER: &str = "1234.5";
/// Texts that stand for no reading, offered as spellings of a missing cell.
const MOST_UNREAD: usize = 4;

/// What is being typed.
#[derive(Default)]
pub struct Typed {
    format: String,
    missing: String,
}

/// Draws the format of a column of text as a button that opens the others; nothing for columns that are no text.
pub fn button(ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset, at: usize, typed: &mut Typed) {
    let column = &dataset.schema.column[at];
    let place = dataset.table.position(&column.name);
    let is_text = place.is_some_and(|place| dataset.table.is_text(place));
    if !is_text {
        return;
    }
    let t = cx.texts;
    let usual = if column.kind.is_temporal() {
        "ISO 8601"
    } else {
        PLAIN_NUMBER
    };
    let shown = column.format.as_deref().unwrap_or(usual);
    let button = widgets::quiet_button(ui, cx.palette, shown)
        .on_hover_text(t.get("spelling-tip"))
        .accessible_name(t.with("spelling-of", [("column", column.name.as_str().into())]));
    if button.clicked() {
        *typed = Typed {
            format: column.format.clone().unwrap_or_default(),
            missing: String::new(),
        };
    }
    let mut chosen = None;
    let mut missing = None;
    egui::Popup::from_toggle_button_response(&button)
        .kind(egui::PopupKind::Popup)
        .close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside)
        .show(|ui| {
            ui.set_width(300.0);
            ui.label(cx.palette.strong(&column.name));
            let (read, unread): (Vec<String>, Vec<String>) = examples(dataset, at)
                .into_iter()
                .partition(|text| !readings(column.kind, text).is_empty());
            for text in read.iter().take(2) {
                for (format, meaning) in readings(column.kind, text) {
                    let name = format.as_deref().unwrap_or(usual).to_owned();
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
                let field = TextEdit::singleline(&mut typed.format).desired_width(170.0);
                let name = t.with("spelling-of", [("column", column.name.as_str().into())]);
                ui.add(field).accessible_name(name);
                if ui.button(t.get("spelling-apply")).clicked() {
                    let text = typed.format.trim();
                    chosen = Some((!text.is_empty()).then(|| text.to_owned()));
                }
            });
            widgets::rule(ui, cx.palette);
            missing = missing_spelling(ui, cx, dataset, &unread, &mut typed.missing);
            if chosen.is_some() {
                ui.close();
            }
        });
    if let Some(text) = missing {
        cells::send(cx, column, ColumnEdit::MissingSpelling(text));
    }
    if let Some(format) = chosen
        && format != column.format
    {
        cells::send(cx, column, ColumnEdit::Format(format));
    }
}

/// Offers what does not read, or a text to type, as a spelling of a missing cell; the one that was chosen.
fn missing_spelling(
    ui: &mut Ui,
    cx: &Cx<'_>,
    dataset: &Dataset,
    unread: &[String],
    typed: &mut String,
) -> Option<String> {
    let t = cx.texts;
    let mut chosen = None;
    ui.add(egui::Label::new(cx.palette.caption(t.get("missing-spellings-help"))).wrap());
    let open = unread.iter().filter(|text| !dataset.schema.is_missing(text));
    for text in open.take(MOST_UNREAD) {
        let line = t.with("missing-spelling-of", [("text", text.as_str().into())]);
        if ui.selectable_label(false, line).clicked() {
            chosen = Some(text.clone());
        }
    }
    ui.horizontal(|ui| {
        let field = TextEdit::singleline(typed).desired_width(170.0);
        ui.add(field).accessible_name(t.get("missing-spelling"));
        let text = typed.trim();
        let is_new = !dataset.schema.is_missing(text);
        let add = ui.add_enabled(is_new, egui::Button::new(t.get("missing-spelling-add")));
        if add.clicked() {
            chosen = Some(text.to_owned());
        }
    });
    if chosen.is_some() {
        typed.clear();
    }
    chosen
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
    let mut texts: Vec<String> = summary.values.iter().map(|value| value.value.clone()).collect();
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
