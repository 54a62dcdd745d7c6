//! The schema under review: what is publicly known of each column, and where it comes from.

use std::collections::HashMap;

use eframe::egui::{self, Align, ComboBox, Key, Layout, RichText, TextEdit, Ui};
use egui_extras::{Column as TableColumn, TableBuilder, TableRow};

use crate::data::{Bound, Column, Kind, Provenance};
use crate::engine::command::{ColumnEdit, Command, SchemaEdit};
use crate::engine::snapshot::Dataset;
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::pages::data::unit::{self, UnitEditor};
use crate::gui::pages::data::{cells, spelling, state};
use crate::gui::theme::STEP;
use crate::gui::widgets::number::{self, Refusal};
use crate::gui::widgets::{self, NumberField};

/// The height of the table's header, the space under it included.
const HEADER: f32 = 30.0;
/// The height of a column's row.
const ROW: f32 = 34.0;

/// The width of what the bounds or values are known from, with the button that accepts them.
const SOURCE: f32 = 190.0;

/// Which text of which column is being typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Field {
    Lower,
    Upper,
    Domain,
}

/// Texts that are being typed and not yet taken over.
#[derive(Default)]
pub struct SchemaEditor {
    generation: u64,
    drafts: HashMap<(usize, Field), String>,
    /// How cells are spelled, as it is being typed.
    spelling: spelling::Typed,
    unit: UnitEditor,
}

impl SchemaEditor {
    /// Draws the schema.
    pub fn show(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset) {
        if self.generation != dataset.generation {
            *self = Self {
                generation: dataset.generation,
                ..Self::default()
            };
        }
        state::header(ui, cx, dataset);
        self.table_facts(ui, cx, dataset);
        unit::hint(ui, cx, dataset);
        state::warnings(ui, cx, dataset);
        widgets::rule(ui, cx.palette);
        egui::ScrollArea::horizontal()
            .id_salt("schema")
            .auto_shrink(false)
            .show(ui, |ui| {
                self.columns(ui, cx, dataset);
            });
    }

    fn table_facts(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset) {
        let t = cx.texts;
        let schema = &dataset.schema;
        ui.horizontal_wrapped(|ui| {
            self.unit.show(ui, cx, dataset);
            ui.add_space(STEP);
            let label = ui.label(cx.palette.caption(t.get("schema-label")));
            let mut chosen = schema.label.clone();
            let shown = chosen
                .clone()
                .unwrap_or_else(|| t.get("schema-label-none").to_owned());
            let combo = ComboBox::from_id_salt("label")
                .icon(widgets::arrow)
                .selected_text(shown)
                .show_ui(ui, |ui| {
                    ui.selectable_value(&mut chosen, None, t.get("schema-label-none"));
                    let classes = schema
                        .column
                        .iter()
                        .filter(|column| matches!(column.kind, Kind::Categorical | Kind::Boolean));
                    for column in classes {
                        ui.selectable_value(&mut chosen, Some(column.name.clone()), &column.name);
                    }
                });
            combo
                .response
                .labelled_by(label.id)
                .on_hover_text(t.get("schema-label-tip"));
            if chosen != schema.label {
                cx.send(Command::EditSchema(SchemaEdit::Label(chosen)));
            }
            ui.add_space(STEP);
            let mut public = schema.public;
            if ui
                .checkbox(&mut public, t.get("schema-public"))
                .on_hover_text(t.get("schema-public-tip"))
                .changed()
            {
                cx.send(Command::EditSchema(SchemaEdit::Public(public)));
            }
        });
    }

    fn columns(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset) {
        let t = cx.texts;
        let height = ui.available_height() - HEADER;
        let heads = [
            "column-name",
            "column-kind",
            "column-values",
            "column-scale",
            "column-missing",
            "column-source",
        ];
        widgets::quiet_table(ui);
        TableBuilder::new(ui)
            .id_salt(("schema", dataset.generation))
            .auto_shrink(false)
            .resizable(true)
            .min_scrolled_height(height)
            .max_scroll_height(height)
            .cell_layout(Layout::left_to_right(Align::Center))
            .column(TableColumn::initial(150.0).at_least(80.0).clip(true))
            .column(TableColumn::initial(126.0).at_least(110.0))
            // The values get what the others leave: they are the longest by far.
            .column(
                TableColumn::remainder()
                    .at_least(220.0)
                    .clip(true)
                    .resizable(false),
            )
            .column(TableColumn::initial(104.0).at_least(96.0))
            .column(TableColumn::initial(70.0).at_least(56.0))
            .column(TableColumn::initial(SOURCE).at_least(SOURCE))
            .header(HEADER - STEP, |mut header| {
                for key in heads {
                    header.col(|ui| {
                        let tip = format!("{key}-tip");
                        ui.label(cx.palette.caption(t.get(key)))
                            .on_hover_text(t.get(&tip));
                    });
                }
            })
            .body(|body| {
                body.rows(ROW, dataset.schema.column.len(), |mut row| {
                    let at = row.index();
                    self.column_row(&mut row, cx, dataset, at);
                });
            });
    }

    fn column_row(&mut self, row: &mut TableRow<'_, '_>, cx: &mut Cx<'_>, dataset: &Dataset, at: usize) {
        let column = &dataset.schema.column[at];
        row.col(|ui| {
            widgets::row_line(ui, cx.palette);
            let text = RichText::new(&column.name);
            let text = if column.is_used() {
                text
            } else {
                text.color(cx.palette.muted)
            };
            widgets::truncated(ui, text).on_hover_ui(|ui| {
                ui.label(summary(cx, dataset, at));
            });
        });
        row.col(|ui| cells::kind(ui, cx, column));
        row.col(|ui| {
            widgets::row_line(ui, cx.palette);
            if column.kind.is_numeric() {
                self.bounds(ui, cx, column, at);
                spelling::button(ui, cx, dataset, at, &mut self.spelling);
            } else if matches!(column.kind, Kind::Categorical | Kind::Boolean) {
                self.domain(ui, cx, column, at);
            } else {
                widgets::truncated(ui, cx.palette.caption(cx.texts.get("column-dropped")));
            }
        });
        row.col(|ui| cells::scale(ui, cx, column));
        row.col(|ui| cells::missing(ui, cx, column));
        row.col(|ui| cells::source(ui, cx, dataset, column));
    }

    fn bounds(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, column: &Column, at: usize) {
        for (field, bound, key) in [
            (Field::Lower, &column.lower, "bound-lower"),
            (Field::Upper, &column.upper, "bound-upper"),
        ] {
            if field == Field::Upper {
                ui.label(cx.palette.caption("–"));
            }
            let name = cx.texts.with(key, [("column", column.name.as_str().into())]);
            let current = bound.as_ref().map(ToString::to_string).unwrap_or_default();
            let key = ui
                .scope_id()
                .with(("refused", &column.name, field == Field::Lower));
            let draft = self.drafts.entry((at, field)).or_insert_with(|| current.clone());
            let suggested = column.provenance == Some(Provenance::Suggested);
            let color = if suggested {
                cx.palette.warn_text
            } else {
                cx.palette.text
            };
            let wide = if column.kind == Kind::Datetime {
                130.0
            } else {
                96.0
            };
            let response = ui.add(
                TextEdit::singleline(draft)
                    .desired_width(wide)
                    .text_color(color)
                    .hint_text(cx.texts.get("bound-hint")),
            );
            let typed = draft.trim().to_owned();
            let done = response.lost_focus();
            // Without a pending edit the field follows the schema.
            if !response.has_focus() && !done {
                // A text that was not taken stays until it is mended, or the schema has another bound.
                *draft =
                    number::standing(ui.ctx(), key, hash_of(&current)).unwrap_or_else(|| current.clone());
            }
            let escaped = ui.input(|input| input.key_pressed(Key::Escape));
            if done {
                self.drafts.remove(&(at, field));
                number::take(ui.ctx(), key);
                if !escaped && !typed.is_empty() && typed != current {
                    match parse_bound(column.kind, &typed) {
                        Ok(bound) if field == Field::Lower => {
                            cells::send(cx, column, ColumnEdit::Lower(bound));
                        }
                        Ok(bound) => cells::send(cx, column, ColumnEdit::Upper(bound)),
                        Err(why) => {
                            number::refuse(ui.ctx(), key, &typed, why, hash_of(&current));
                            self.drafts.insert((at, field), typed);
                        }
                    }
                }
            }
            number::mark(ui, cx, key, &response);
            response.accessible_name(name);
        }
    }

    fn domain(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, column: &Column, at: usize) {
        let t = cx.texts;
        let values = column.domain.as_deref().unwrap_or_default();
        let line = if values.is_empty() {
            t.get("domain-empty").to_owned()
        } else {
            t.with(
                "domain-values",
                [
                    ("count", values.len().into()),
                    ("values", values.join(", ").into()),
                ],
            )
        };
        let suggested = column.provenance == Some(Provenance::Suggested);
        let color = if suggested {
            cx.palette.warn_text
        } else {
            cx.palette.text
        };
        let width = ui.available_width() - 8.0;
        let button = ui
            .scope(|ui| {
                ui.set_max_width(width);
                ui.add(egui::Button::new(RichText::new(line).color(color)).truncate())
            })
            .inner
            .accessible_name(t.with("domain-edit", [("column", column.name.as_str().into())]))
            // Joined only when it is looked at: there are many columns and values.
            .on_hover_ui(|ui| {
                ui.label(values.join("\n"));
            });
        let mut apply = None;
        // No menu: its buttons have their frames.
        let popup = egui::Popup::from_toggle_button_response(&button)
            .kind(egui::PopupKind::Popup)
            .close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside)
            .show(|ui| {
                ui.set_width(280.0);
                ui.label(cx.palette.strong(&column.name));
                ui.add(egui::Label::new(cx.palette.caption(t.get("domain-help"))).wrap());
                let draft = self
                    .drafts
                    .entry((at, Field::Domain))
                    .or_insert_with(|| values.join("\n"));
                egui::ScrollArea::vertical().max_height(240.0).show(ui, |ui| {
                    ui.add(
                        TextEdit::multiline(draft)
                            .desired_rows(8)
                            .desired_width(f32::INFINITY),
                    )
                    .accessible_name(t.with("domain-edit", [("column", column.name.as_str().into())]));
                });
                ui.horizontal_wrapped(|ui| {
                    if widgets::accent_button(ui, cx.palette, t.get("domain-apply")).clicked() {
                        apply = Some(lines(draft));
                        ui.close();
                    }
                    if ui.button(t.get("figure-cancel")).clicked() {
                        ui.close();
                    }
                });
            });
        if popup.is_none() {
            self.drafts.remove(&(at, Field::Domain));
        }
        if let Some(wanted) = apply
            && !wanted.is_empty()
            && wanted != values
        {
            cells::send(cx, column, ColumnEdit::Domain(wanted));
        }
    }
}

/// One value a line; blank lines and repeats are left out.
fn lines(text: &str) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if !values.iter().any(|value| value == line) {
            values.push(line.to_owned());
        }
    }
    values
}

/// What stands for a bound's text where it is held against a later one.
fn hash_of(text: &str) -> u64 {
    egui::Id::unique(text).value()
}

fn parse_bound(kind: Kind, text: &str) -> Result<Bound, Refusal> {
    if kind.is_temporal() {
        return Ok(Bound::from(text));
    }
    let field = NumberField {
        is_whole: kind == Kind::Integer,
        ..NumberField::new("")
    };
    field.read(text).map(Bound::from)
}

/// What the profile counted of a column; for the steward, so only on hover.
fn summary(cx: &Cx<'_>, dataset: &Dataset, at: usize) -> String {
    dataset.summaries.get(at).map_or_else(String::new, |summary| {
        cx.texts.with(
            "column-summary",
            [
                ("name", summary.name.as_str().into()),
                ("present", format::count(summary.present).into()),
                ("missing", format::count(summary.missing).into()),
                ("distinct", format::count(summary.distinct).into()),
            ],
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_by_the_columns_kind() {
        assert_eq!(parse_bound(Kind::Integer, "1,000"), Ok(Bound::Integer(1000)));
        assert_eq!(parse_bound(Kind::Integer, "12,5"), Err(Refusal::NotWhole));
        assert_eq!(parse_bound(Kind::Continuous, "0.5"), Ok(Bound::Number(0.5)));
        assert_eq!(parse_bound(Kind::Continuous, "12,5"), Ok(Bound::Number(12.5)));
        assert!(parse_bound(Kind::Continuous, "1,234").is_err());
        assert_eq!(
            parse_bound(Kind::Date, "2019-03-31"),
            Ok(Bound::Text("2019-03-31".to_owned()))
        );
        assert!(parse_bound(Kind::Integer, "many").is_err());
    }

    #[test]
    fn a_domain_is_one_value_a_line() {
        assert_eq!(lines(" yes\n\nno \nyes"), ["yes", "no"]);
    }
}
