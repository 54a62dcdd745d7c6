//! Whom a promise protects, and what the public knows of their number.

use eframe::egui::{ComboBox, DragValue, TextEdit, Ui};

use crate::data::{Provenance, RowCount, Unit};
use crate::engine::command::{Command, SchemaEdit};
use crate::engine::snapshot::Dataset;
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::theme::STEP;
use crate::gui::widgets;

/// Rows that a person may have when a column is first chosen: enough for a few visits, little enough to add little noise.
const USUAL_ROWS: u32 = 3;
/// The most that can be typed; the noise grows with it.
const MOST_ROWS: u32 = 100_000;

/// The number that is being typed and not yet taken over.
#[derive(Default)]
pub struct UnitEditor {
    count: Option<String>,
}

impl UnitEditor {
    /// Draws the unit, with its most rows if it is a person, and the number of units.
    pub fn show(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset) {
        let t = cx.texts;
        let unit = &dataset.schema.unit;
        let label = ui.label(cx.palette.caption(t.get("schema-unit")));
        let row = t.get(if dataset.images.is_some() {
            "unit-image"
        } else {
            "unit-row"
        });
        let shown = unit.as_ref().map_or_else(
            || row.to_owned(),
            |unit| t.with("schema-unit-person", [("column", unit.column.as_str().into())]),
        );
        if dataset.images.is_some() {
            ui.label(row).on_hover_text(t.get("schema-unit-tip"));
        } else {
            let mut chosen = unit.as_ref().map(|unit| unit.column.clone());
            let combo = ComboBox::from_id_salt("unit")
                .icon(widgets::arrow)
                .selected_text(shown)
                .show_ui(ui, |ui| {
                    ui.selectable_value(&mut chosen, None, row);
                    for column in &dataset.schema.column {
                        let name = t.with("schema-unit-person", [("column", column.name.as_str().into())]);
                        ui.selectable_value(&mut chosen, Some(column.name.clone()), name);
                    }
                });
            combo
                .response
                .labelled_by(label.id)
                .on_hover_text(t.get("schema-unit-tip"));
            if chosen.as_ref() != unit.as_ref().map(|unit| &unit.column) {
                self.count = None;
                let max_rows = unit.as_ref().map_or(USUAL_ROWS, |unit| unit.max_rows);
                let unit = chosen.map(|column| Unit {
                    column,
                    max_rows,
                    persons: None,
                });
                cx.send(Command::EditSchema(SchemaEdit::Unit(unit)));
            }
        }
        if let Some(unit) = unit {
            most_rows(ui, cx, unit);
        }
        ui.add_space(STEP);
        self.count(ui, cx, dataset);
    }

    /// The public number of rows, or of persons.
    fn count(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset) {
        let t = cx.texts;
        let (name, tip) = match dataset.schema.unit {
            None => ("schema-rows", "schema-rows-tip"),
            Some(_) => ("schema-persons", "schema-persons-tip"),
        };
        let label = ui.label(cx.palette.caption(t.get(name)));
        let declared = dataset.schema.known_units().map(|count| count.value);
        let mut typed = self
            .count
            .clone()
            .unwrap_or_else(|| declared.map(format::count).unwrap_or_default());
        let field = ui.add(
            TextEdit::singleline(&mut typed)
                .desired_width(76.0)
                .hint_text(t.get("schema-rows-private")),
        );
        let done = field.lost_focus();
        self.count = field.has_focus().then(|| typed.clone());
        field.labelled_by(label.id).on_hover_text(t.get(tip));
        if !done {
            return;
        }
        let wanted = format::parse(&typed)
            .filter(|value| *value >= 1.0)
            .map(|value| value.round() as u64);
        if (wanted.is_none() && !typed.trim().is_empty()) || wanted == declared {
            return;
        }
        cx.send(Command::EditSchema(match &dataset.schema.unit {
            None => SchemaEdit::Rows(wanted),
            Some(unit) => SchemaEdit::Unit(Some(Unit {
                persons: wanted.map(|value| RowCount {
                    value,
                    provenance: Provenance::Declared,
                }),
                ..unit.clone()
            })),
        }));
    }
}

fn most_rows(ui: &mut Ui, cx: &mut Cx<'_>, unit: &Unit) {
    let t = cx.texts;
    let label = ui.label(cx.palette.caption(t.get("schema-max-rows-of")));
    let mut most = unit.max_rows;
    let field = DragValue::new(&mut most)
        .range(1..=MOST_ROWS)
        .speed(0.05)
        .update_while_editing(false);
    let field = ui.add(field).labelled_by(label.id);
    field.on_hover_text(t.get("schema-max-rows-tip"));
    if most != unit.max_rows {
        cx.send(Command::EditSchema(SchemaEdit::Unit(Some(Unit {
            max_rows: most,
            ..unit.clone()
        }))));
    }
}
