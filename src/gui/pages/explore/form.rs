//! The question on the left: statistic, column, mechanism, ε and δ, and how far one unit can move the answer.

use eframe::egui::{self, Align, ComboBox, Layout, Ui};

use super::histogram::cell_name;
use super::settings::ExploreSettings;
use super::{DELTAS, EPSILONS};
use crate::data::Kind;
use crate::engine::snapshot::Dataset;
use crate::gui::bars::{relation_key, unit};
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::widgets::{self, NumberField, NumberRow, Slider};
use crate::privacy::Neighboring;
use crate::release::outlook::{
    Mechanism, Outlook, PartSensitivity, Reason, SHOWN_EPSILONS, Sensitivity, Summed, Truth,
};
use crate::release::{Query, relation_under};
use crate::train::LARGEST_EPSILON;

/// A labelled choice across the form.
pub fn row(ui: &mut Ui, name: &str, id: &str, shown: &str, choices: impl FnOnce(&mut Ui)) {
    ui.horizontal(|ui| {
        let label = ui.label(name);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let combo = ComboBox::from_id_salt(id)
                .icon(widgets::arrow)
                .selected_text(shown)
                .width(164.0)
                .truncate()
                .show_ui(ui, choices);
            combo.response.labelled_by(label.id);
        });
    });
}

/// Query, column and groups.
pub fn question(ui: &mut Ui, cx: &Cx<'_>, dataset: &Dataset, settings: &mut ExploreSettings) {
    let t = cx.texts;
    ui.label(cx.palette.strong(t.get("explore-question")));
    let key = |query: Query| format!("query-{}", query.name());
    let mut query = settings.query;
    row(ui, t.get("release-query"), "query", t.get(&key(query)), |ui| {
        for other in Query::ALL {
            let chosen = query.name() == other.name();
            if ui.selectable_label(chosen, t.get(&key(other))).clicked() && !chosen {
                query = other;
            }
        }
    });
    settings.query = query;
    let columns = || dataset.schema.used_columns().map(|(_, column)| column);
    let shown = settings.column.clone();
    let shown = shown.as_deref().unwrap_or(t.get("release-all-rows"));
    let optional = settings.query.column_is_optional();
    row(ui, t.get("release-column"), "column", shown, |ui| {
        if optional {
            ui.selectable_value(&mut settings.column, None, t.get("release-all-rows"));
        }
        for column in columns() {
            let name = &column.name;
            ui.selectable_value(&mut settings.column, Some(name.clone()), name);
        }
        if let Some(unit) = dataset
            .schema
            .unit
            .as_ref()
            .filter(|_| settings.query == Query::Count)
        {
            let persons = t.with("release-persons", [("column", unit.column.as_str().into())]);
            ui.selectable_value(&mut settings.column, Some(unit.column.clone()), persons);
        }
    });
    if let Query::Quantile { share } = &mut settings.query {
        ui.horizontal(|ui| {
            let label = ui.label(t.get("release-quantile"));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let field = NumberField {
                    range: (0.001, 0.999),
                    speed: 0.01,
                    is_live: true,
                    ..NumberField::new(t.get("release-quantile"))
                };
                field.show(ui, cx, share).labelled_by(label.id);
            });
        });
    }
    if settings.query.can_group() && !settings.counts_persons(dataset) {
        let groups = columns().filter(|column| {
            matches!(column.kind, Kind::Categorical | Kind::Boolean)
                && Some(&column.name) != settings.column.as_ref()
        });
        let groups: Vec<&str> = groups.map(|column| column.name.as_str()).collect();
        let shown = settings.by.clone();
        let shown = shown.as_deref().unwrap_or(t.get("release-ungrouped"));
        row(ui, t.get("release-by"), "by", shown, |ui| {
            ui.selectable_value(&mut settings.by, None, t.get("release-ungrouped"));
            for column in &groups {
                ui.selectable_value(&mut settings.by, Some((*column).to_owned()), *column);
            }
        });
    }
}

/// Which of several values the pictures are about.
pub fn cell(ui: &mut Ui, cx: &Cx<'_>, truth: Option<&Truth>, settings: &mut ExploreSettings) {
    let Some(truth) = truth.filter(|truth| truth.cells.len() > 1) else {
        return;
    };
    settings.cell = settings.cell.min(truth.cells.len() - 1);
    let shown = cell_name(cx, &truth.cells[settings.cell]);
    row(ui, cx.texts.get("explore-cell"), "cell", &shown, |ui| {
        for (at, cell) in truth.cells.iter().enumerate().take(200) {
            ui.selectable_value(&mut settings.cell, at, cell_name(cx, cell));
        }
    });
}

/// Mechanism, ε, δ, relation.
pub fn price(ui: &mut Ui, cx: &Cx<'_>, offered: &[Mechanism], settings: &mut ExploreSettings) {
    let t = cx.texts;
    let key = |mechanism: Mechanism| format!("mechanism-{}", mechanism.name());
    let shown = key(settings.mechanism);
    row(ui, t.get("explore-mechanism"), "mechanism", t.get(&shown), |ui| {
        for &mechanism in offered {
            let name = t.get(&key(mechanism)).to_owned();
            let name = if mechanism.released().is_none() {
                t.with("mechanism-compared", [("mechanism", name.into())])
            } else {
                name
            };
            ui.selectable_value(&mut settings.mechanism, mechanism, name);
        }
    });
    let slider = |name, range, stops| Slider {
        name,
        range,
        logarithmic: true,
        integer: false,
        stops,
    };
    ui.push_id("epsilon", |ui| {
        let (name, help) = (t.get("release-epsilon-name"), t.get("release-epsilon-help"));
        let row = NumberRow {
            name,
            help,
            unit: "",
            slider: slider(name, SHOWN_EPSILONS, &EPSILONS),
            default: 0.1,
            write: |value| format::significant(value, 3),
        };
        row.show_above_zero(ui, cx, LARGEST_EPSILON, &mut settings.epsilon);
    });
    ui.push_id("delta", |ui| {
        let (name, help) = (t.get("delta-name"), t.get("delta-help"));
        let row = NumberRow {
            name,
            help,
            unit: "",
            slider: slider(name, (1e-10, 1e-4), &DELTAS),
            default: 1e-6,
            write: format::delta,
        };
        row.show(ui, cx, &mut settings.delta);
    });
    if !settings.needs_delta() {
        let text = cx.palette.caption(t.get("explore-delta-unused"));
        ui.add(egui::Label::new(text).wrap());
    }
    let relations = [Neighboring::AddRemoveOne, Neighboring::ReplaceOne];
    // They are named as the promise will name them.
    let name = |asked| {
        let dataset = cx.snapshot.dataset.as_ref();
        let relation = dataset.map_or(asked, |dataset| relation_under(&dataset.schema, asked));
        t.get(relation_key(relation))
    };
    row(
        ui,
        t.get("explore-relation"),
        "relation",
        name(settings.neighboring),
        |ui| {
            for relation in relations {
                ui.selectable_value(&mut settings.neighboring, relation, name(relation));
            }
        },
    );
    if settings.by.is_some() || matches!(settings.query, Query::Histogram { .. }) {
        ui.checkbox(&mut settings.simultaneous, t.get("release-simultaneous"))
            .on_hover_text(t.get("release-simultaneous-tip"));
    }
}

/// How far one unit can move the answer, and why.
pub fn sensitivity(
    ui: &mut Ui,
    cx: &Cx<'_>,
    dataset: &Dataset,
    outlook: &Outlook,
    settings: &ExploreSettings,
) {
    let t = cx.texts;
    let mut lines = Vec::new();
    match outlook.sensitivity() {
        Some(Sensitivity::Sums { parts, bounds }) => {
            lines.extend(parts.iter().map(|part| part_line(cx, part, outlook, settings)));
            if let Some((lower, upper)) = bounds {
                lines.push(t.with(
                    "sensitivity-bounds",
                    [
                        ("lower", super::density::format_value(&lower).into()),
                        ("upper", super::density::format_value(&upper).into()),
                        ("source", source(cx, dataset, settings).into()),
                    ],
                ));
            }
            if parts.len() > 1 {
                lines.push(t.with("sensitivity-shared", [("count", parts.len().into())]));
            }
        }
        Some(Sensitivity::Score(score)) => {
            let key = if settings.query == Query::Mode {
                "sensitivity-mode"
            } else {
                "sensitivity-rank"
            };
            lines.push(t.with(key, [("delta", format::significant(score, 3).into())]));
        }
        None => return,
    }
    lines.push(t.with(
        "sensitivity-unit",
        [
            ("unit", unit(cx, dataset).into()),
            ("relation", t.get(relation_key(outlook.relation())).into()),
        ],
    ));
    for line in lines {
        ui.add(egui::Label::new(cx.palette.caption(line)).wrap());
    }
}

fn part_line(cx: &Cx<'_>, part: &PartSensitivity, outlook: &Outlook, settings: &ExploreSettings) -> String {
    let t = cx.texts;
    let what = match part.summed {
        Summed::Count => "summed-count",
        Summed::Values => "summed-values",
        Summed::Distances => "summed-distances",
        Summed::Squares => "summed-squares",
    };
    let why = match part.reason {
        Reason::Appears if outlook.relation() == Neighboring::ZeroOutOne => "reason-emptied",
        Reason::Appears => "reason-appears",
        Reason::Replaced => "reason-replaced",
        Reason::Moves => "reason-moves",
    };
    let (sign, amount) = if settings.mechanism.needs_delta() {
        ("Δ₂", part.two)
    } else {
        ("Δ₁", part.one)
    };
    t.with(
        "sensitivity-part",
        [
            ("what", t.get(what).into()),
            ("sign", sign.into()),
            ("amount", format::significant(amount, 4).into()),
            ("why", t.with(why, [("rows", outlook.max_rows().into())]).into()),
        ],
    )
}

/// Where the bounds come from.
fn source(cx: &Cx<'_>, dataset: &Dataset, settings: &ExploreSettings) -> String {
    use crate::data::Provenance;
    let provenance = settings
        .column
        .as_ref()
        .and_then(|name| dataset.schema.find(name))
        .and_then(|column| column.provenance);
    let key = match provenance {
        Some(Provenance::Declared) => "bounds-declared",
        Some(Provenance::Bought) => "bounds-bought",
        Some(Provenance::Accepted) => "bounds-accepted",
        Some(Provenance::Suggested) | None => "bounds-open",
    };
    cx.texts.get(key).to_owned()
}
