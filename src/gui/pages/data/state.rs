//! Where the review of a schema stands: what is open, what the profile warns of, and the way on.

use eframe::egui::{self, Align, Layout, RichText, Ui};

use crate::data::{Column, OpenColumn, OpenReason, ProfileWarning, Provenance};
use crate::engine::snapshot::Dataset;
use crate::gui::command::{Action, Page};
use crate::gui::context::Cx;
use crate::gui::i18n::Texts;
use crate::gui::theme::SMALL;
use crate::gui::widgets;

/// Title, what is still open, and what can be done next.
pub fn header(ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset) {
    let t = cx.texts;
    ui.horizontal(|ui| {
        ui.label(cx.palette.strong(t.get("schema-title")));
        let narrow = ui.available_width() < 560.0;
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if dataset.open.is_empty() {
                // A misfit takes the button's use and not its place: nothing else on the page moves.
                let fits = dataset.misfit.is_none();
                let go = ui.add_enabled_ui(fits, |ui| {
                    widgets::accent_button(ui, cx.palette, t.get("schema-continue"))
                });
                let go = go
                    .inner
                    .on_hover_text(cx.tip(ui, Action::Go(Page::Train)))
                    .on_disabled_hover_text(t.get("schema-continue-misfit"));
                if go.clicked() {
                    cx.act(Action::Go(Page::Train));
                }
            } else if dataset.open.iter().any(|open| open.why == OpenReason::Suggested) {
                cx.button(ui, Action::AcceptAll, None);
            }
            if dataset.schema_changed {
                cx.button(ui, Action::SaveSchema, None);
            }
            if !narrow {
                cx.button(ui, Action::OpenFile, None);
                cx.button(ui, Action::CloseTable, None);
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                state_line(ui, cx, dataset);
            });
        });
    });
}

fn state_line(ui: &mut Ui, cx: &Cx<'_>, dataset: &Dataset) {
    let t = cx.texts;
    if let Some(misfit) = &dataset.misfit {
        let lines = std::iter::once(&misfit.message).chain(&misfit.causes);
        let lines: Vec<String> = lines.map(|line| t.say(line)).collect();
        let line = RichText::new(&lines[0]).size(SMALL).color(cx.palette.warn_text);
        widgets::truncated(ui, line).on_hover_text(lines.join("\n"));
        return;
    }
    if dataset.open.is_empty() {
        let read = dataset
            .schema
            .column
            .iter()
            .filter(|column| dataset.schema.uses(column) && column.provenance == Some(Provenance::Accepted))
            .count();
        if read == 0 {
            widgets::truncated(ui, cx.palette.caption(t.get("schema-reviewed")));
        } else {
            let line = t.with("schema-accepted", [("count", read.into())]);
            let line = RichText::new(line).size(SMALL).color(cx.palette.warn_text);
            widgets::truncated(ui, line).on_hover_text(t.get("source-accepted-tip"));
        }
        return;
    }
    let names = open_names(t, &dataset.open);
    let count = dataset.open.len();
    let line = t.with("schema-open", [("count", count.into()), ("names", names.into())]);
    let lines: Vec<String> = dataset
        .open
        .iter()
        .map(|open| {
            let why = t.get(open_key(open.why));
            match open.why {
                OpenReason::FoundForm => why.to_owned(),
                _ => format!("{}: {why}", open.name),
            }
        })
        .collect();
    widgets::truncated(ui, RichText::new(line).size(SMALL).color(cx.palette.warn_text))
        .on_hover_text(lines.join("\n"));
}

/// What is open, by name. How the file is read waits under the name of a key, which nobody has seen.
pub fn open_names(texts: &Texts, open: &[OpenColumn]) -> String {
    let name = |open: &OpenColumn| match open.why {
        OpenReason::FoundForm => texts.get("open-form").to_owned(),
        _ => open.name.clone(),
    };
    open.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn open_key(why: OpenReason) -> &'static str {
    match why {
        OpenReason::Suggested => "open-suggested",
        OpenReason::NoBounds => "open-no-bounds",
        OpenReason::NoDomain => "open-no-domain",
        OpenReason::NoProvenance => "open-no-provenance",
        OpenReason::FoundForm => "open-found-form",
    }
}

/// What the profile warns of; more than two open by a click.
pub fn warnings(ui: &mut Ui, cx: &Cx<'_>, dataset: &Dataset) {
    let lines: Vec<String> = dataset
        .warnings
        .iter()
        .filter(|warning| !is_past(warning, dataset))
        .map(|warning| cx.texts.say(&warning.message))
        .collect();
    if lines.is_empty() {
        return;
    }
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        for line in lines.iter().take(2) {
            let text = RichText::new(line).size(SMALL).color(cx.palette.warn_text);
            widgets::truncated(ui, text);
        }
        let more = lines.get(2..).unwrap_or_default();
        if !more.is_empty() {
            let text = cx
                .texts
                .with("schema-more-warnings", [("count", more.len().into())]);
            let button = widgets::quiet_button(ui, cx.palette, &text).on_hover_text(more.join("\n"));
            egui::Popup::from_toggle_button_response(&button).show(|ui| {
                ui.set_max_width(480.0);
                for warning in more {
                    let line = RichText::new(warning).color(cx.palette.warn_text);
                    ui.add(egui::Label::new(line).wrap().selectable(true));
                }
            });
        }
    });
}

/// Whether a warning tells why a column is dropped that a person has given another kind since.
fn is_past(warning: &ProfileWarning, dataset: &Dataset) -> bool {
    let column = warning.column.as_ref().and_then(|name| dataset.schema.find(name));
    warning.what.is_of_dropping() && column.is_some_and(Column::is_used)
}
