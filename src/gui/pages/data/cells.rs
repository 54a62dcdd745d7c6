//! The cells of a column's row in the schema: its kind, scale, missing cells and where all is known from.

use eframe::egui::{self, ComboBox, Ui, vec2};

use crate::data::{Column, Kind, OpenReason, Provenance, Scale};
use crate::engine::command::{ColumnEdit, Command, SchemaEdit};
use crate::engine::snapshot::Dataset;
use crate::gui::context::Cx;
use crate::gui::widgets;

/// Sends a change of a column.
pub fn send(cx: &mut Cx<'_>, column: &Column, edit: ColumnEdit) {
    cx.send(Command::EditSchema(SchemaEdit::Column {
        name: column.name.clone(),
        edit,
    }));
}

/// Draws the cell.
pub fn kind(ui: &mut Ui, cx: &mut Cx<'_>, column: &Column) {
    widgets::row_line(ui, cx.palette);
    let mut chosen = column.kind;
    let key = |kind: Kind| format!("kind-{}", kind.as_str());
    let combo = ComboBox::from_id_salt(("kind", &column.name))
        .icon(widgets::arrow)
        .selected_text(cx.texts.get(&key(chosen)))
        .width(104.0)
        .show_ui(ui, |ui| {
            for kind in Kind::ALL {
                ui.selectable_value(&mut chosen, kind, cx.texts.get(&key(kind)));
            }
        });
    combo.response.accessible_name(
        cx.texts
            .with("kind-of", [("column", column.name.as_str().into())]),
    );
    if chosen != column.kind {
        send(cx, column, ColumnEdit::Kind(chosen));
    }
}

/// Draws the cell.
pub fn scale(ui: &mut Ui, cx: &mut Cx<'_>, column: &Column) {
    widgets::row_line(ui, cx.palette);
    if !matches!(column.kind, Kind::Continuous | Kind::Integer) {
        return;
    }
    let t = cx.texts;
    let mut chosen = column.scale;
    let key = |scale| {
        if scale == Scale::Log {
            "scale-log"
        } else {
            "scale-linear"
        }
    };
    let combo = ComboBox::from_id_salt(("scale", &column.name))
        .icon(widgets::arrow)
        .selected_text(t.get(key(chosen)))
        .width(80.0)
        .show_ui(ui, |ui| {
            for scale in [Scale::Linear, Scale::Log] {
                ui.selectable_value(&mut chosen, scale, t.get(key(scale)));
            }
        });
    combo
        .response
        .accessible_name(t.with("scale-of", [("column", column.name.as_str().into())]));
    if chosen != column.scale {
        send(cx, column, ColumnEdit::Scale(chosen));
    }
}

/// Draws the cell.
pub fn missing(ui: &mut Ui, cx: &mut Cx<'_>, column: &Column) {
    widgets::row_line(ui, cx.palette);
    if !column.is_used() {
        return;
    }
    let mut may_miss = column.missing;
    let name = cx
        .texts
        .with("missing-of", [("column", column.name.as_str().into())]);
    if ui
        .add(egui::Checkbox::without_text(&mut may_miss))
        .accessible_name(name)
        .changed()
    {
        send(cx, column, ColumnEdit::Missing(may_miss));
    }
}

/// Where the column's public knowledge comes from, and the way out of a suggestion.
pub fn source(ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset, column: &Column) {
    widgets::row_line(ui, cx.palette);
    if !column.is_used() {
        return;
    }
    let t = cx.texts;
    let palette = cx.palette;
    let (key, color) = match column.provenance {
        Some(Provenance::Declared) => ("source-declared", palette.ok),
        Some(Provenance::Bought) => ("source-bought", palette.accent),
        Some(Provenance::Suggested) => ("source-suggested", palette.warn_text),
        // Nobody was asked about the classes of images: they are what the files are called or hold.
        Some(Provenance::Accepted) if dataset.images.is_some() => ("source-read", palette.muted),
        Some(Provenance::Accepted) => ("source-accepted", palette.muted),
        None => ("source-none", palette.warn_text),
    };
    let tip = format!("{key}-tip");
    widgets::badge(ui, t.get(key), color, t.get(&tip));
    if column.open_reason() == Some(OpenReason::Suggested) {
        let name = t.with("accept-column", [("column", column.name.as_str().into())]);
        ui.spacing_mut().interact_size.y = 24.0;
        ui.spacing_mut().button_padding = vec2(8.0, 3.0);
        let button = ui
            .button(t.get("accept"))
            .accessible_name(name)
            .on_hover_text(t.get("accept-tip"));
        if button.clicked() {
            send(cx, column, ColumnEdit::AcceptSuggestion);
        }
    }
}
