//! Whom a promise protects, and what the public knows of their number.

use eframe::egui::{ComboBox, Key, TextEdit, Ui};

use crate::data::{ColumnSummary, Provenance, RowCount, Unit, WarningKind};
use crate::engine::command::{Command, SchemaEdit};
use crate::engine::snapshot::Dataset;
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::theme::STEP;
use crate::gui::widgets::{self, NumberField, number};

/// Rows that a person may have when a column is first chosen: enough for a few visits, little enough to add little noise.
const USUAL_ROWS: u32 = 3;
/// The most that can be typed; the noise grows with it.
const MOST_ROWS: u32 = 100_000;
/// More rows or persons than any table has.
const MOST_UNITS: f64 = 1e15;

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
        let key = ui.scope_id().with(("refused", name));
        let field = ui.add(
            TextEdit::singleline(&mut typed)
                .desired_width(76.0)
                .hint_text(t.get("schema-rows-private")),
        );
        let done = field.lost_focus();
        let escaped = ui.input(|input| input.key_pressed(Key::Escape));
        self.count = field.has_focus().then(|| typed.clone());
        if done {
            number::take(ui.ctx(), key);
        }
        let mut wanted = None;
        if done && !escaped && !typed.trim().is_empty() {
            match NumberField::whole(t.get(name), (1.0, MOST_UNITS)).read(&typed) {
                Ok(value) => wanted = Some(value as u64),
                Err(why) => {
                    number::refuse(ui.ctx(), key, &typed, why, 0);
                    self.count = Some(typed);
                }
            }
        } else if self.count.is_none() {
            // What is not taken stays in the field until it is mended.
            self.count = number::standing(ui.ctx(), key, 0);
        }
        number::mark(ui, cx, key, &field);
        field.labelled_by(label.id).on_hover_text(t.get(tip));
        if !done || escaped || self.count.is_some() || wanted == declared {
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

/// A column that seems to tell persons apart, with values that stand in several rows.
fn repeated(dataset: &Dataset) -> Option<&ColumnSummary> {
    let mut likely = dataset
        .warnings
        .iter()
        .filter(|warning| matches!(warning.what, WarningKind::LikelyIdentifier { .. }))
        .filter_map(|warning| warning.column.as_deref());
    likely.find_map(|name| {
        let mut all = dataset.summaries.iter();
        all.find(|summary| summary.name == name && summary.distinct < summary.present)
    })
}

/// Asks whether persons have several rows, where it looks like it: a promise to rows protects none of them whole.
pub fn hint(ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset) {
    let t = cx.texts;
    if dataset.schema.unit.is_some() {
        return;
    }
    let Some(column) = repeated(dataset) else { return };
    let name = column.name.as_str();
    ui.horizontal_wrapped(|ui| {
        let tip = t.get("steward-only-tip");
        widgets::badge(ui, t.get("steward-only"), cx.palette.warn_text, tip);
        ui.label(t.with(
            "schema-unit-repeats",
            [
                ("column", name.into()),
                ("values", format::count(column.distinct).into()),
                ("rows", format::count(column.present).into()),
            ],
        ));
        let protect = t.with("schema-unit-protect", [("column", name.into())]);
        if widgets::quiet_button(ui, cx.palette, &protect).clicked() {
            cx.send(Command::EditSchema(SchemaEdit::Unit(Some(Unit {
                column: name.to_owned(),
                max_rows: USUAL_ROWS,
                persons: None,
            }))));
        }
    });
}

fn most_rows(ui: &mut Ui, cx: &mut Cx<'_>, unit: &Unit) {
    let t = cx.texts;
    let label = ui.label(cx.palette.caption(t.get("schema-max-rows-of")));
    let mut most = unit.max_rows;
    let field = NumberField {
        speed: 0.05,
        ..NumberField::whole(t.get("schema-max-rows-of"), (1.0, f64::from(MOST_ROWS)))
    };
    let field = field.show(ui, cx, &mut most).labelled_by(label.id);
    field.on_hover_text(t.get("schema-max-rows-tip"));
    if most != unit.max_rows {
        cx.send(Command::EditSchema(SchemaEdit::Unit(Some(Unit {
            max_rows: most,
            ..unit.clone()
        }))));
    }
}
