//! A private statistic: what is asked, what it would cost, and what was released so far.

use eframe::egui::{self, Align, ComboBox, DragValue, Layout, RichText, Ui, vec2};

use crate::engine::command::ReleaseOrder;
use crate::engine::snapshot::Dataset;
use crate::engine::{Problem, preview_release, release_share};
use crate::gui::bars::relation_key;
use crate::gui::context::{Cx, Intent};
use crate::gui::format;
use crate::gui::pages::data::released;
use crate::gui::pages::train::cost::{gaussian_rate, worst_case_rate};
use crate::gui::theme::{SMALL, STEP};
use crate::gui::widgets::{self, NumberRow, Slider};
use crate::privacy::Neighboring;
use crate::release::{Noise, Preview, Query, ReleaseRequest};

/// Round stops of ε.
const EPSILONS: [f64; 8] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0];
/// Round stops of δ.
const DELTAS: [f64; 5] = [1e-9, 1e-8, 1e-7, 1e-6, 1e-5];
/// The width of the form, and of its price.
const FORM: f32 = 304.0;
/// The false-alarm rate of the sentence about attackers.
const FALSE_ALARMS: f64 = 0.01;

/// What the form holds between frames.
pub struct ReleaseForm {
    query: Query,
    column: Option<String>,
    by: Option<String>,
    epsilon: f64,
    delta: f64,
    gaussian: bool,
    neighboring: Neighboring,
    simultaneous: bool,
    /// The cost of the request last looked at, and what it was looked at for.
    cost: Option<(Key, Result<Cost, Problem>)>,
}

/// What a release would be, and the share of the total that it would take.
type Cost = (Preview, Option<f64>);

/// What a cost depends on: the request, the schema and the total.
#[derive(PartialEq)]
struct Key(
    ReleaseRequest,
    std::sync::Arc<crate::data::Schema>,
    Option<crate::privacy::ledger::Total>,
);

impl Default for ReleaseForm {
    fn default() -> Self {
        Self {
            query: Query::Histogram { bins: None },
            column: None,
            by: None,
            epsilon: 0.1,
            delta: 1e-6,
            gaussian: false,
            neighboring: Neighboring::AddRemoveOne,
            simultaneous: false,
            cost: None,
        }
    }
}

impl ReleaseForm {
    /// Draws the form, and the results beside it or under it.
    pub fn show(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset) {
        self.keep_to(dataset);
        let height = ui.available_height();
        let width = ui.available_width();
        if width < 2.0 * FORM {
            egui::ScrollArea::vertical().id_salt("release").show(ui, |ui| {
                self.form(ui, cx, dataset);
                widgets::rule(ui, cx.palette);
                self.price(ui, cx, dataset);
                widgets::rule(ui, cx.palette);
                released::show(ui, cx);
            });
            return;
        }
        // What is asked, what it costs, what was released: beside each other where there is room.
        let apart = width >= 3.0 * FORM;
        ui.horizontal_top(|ui| {
            column(ui, "form", vec2(FORM, height), |ui| {
                self.form(ui, cx, dataset);
                if !apart {
                    widgets::rule(ui, cx.palette);
                    self.price(ui, cx, dataset);
                }
            });
            if apart {
                column(ui, "price", vec2(FORM, height), |ui| self.price(ui, cx, dataset));
            }
            let room = vec2(ui.available_width(), height);
            column(ui, "released", room, |ui| released::show(ui, cx));
        });
    }

    /// Columns that the open table does not have are forgotten.
    fn keep_to(&mut self, dataset: &Dataset) {
        let known = |name: &Option<String>| {
            name.as_ref().is_some_and(|name| {
                dataset
                    .schema
                    .find(name)
                    .is_some_and(crate::data::Column::is_used)
            })
        };
        if !known(&self.column) {
            self.column = None;
        }
        if !known(&self.by) || !self.query.can_group() {
            self.by = None;
        }
        if self.column.is_none() && !self.query.column_is_optional() {
            self.column = dataset
                .schema
                .used_columns()
                .next()
                .map(|(_, column)| column.name.clone());
        }
    }

    /// Whether the query's mechanism spends δ.
    fn needs_delta(&self) -> bool {
        self.query == Query::Categories
            || (self.gaussian && self.query.mechanisms().contains(&Noise::Gaussian))
    }

    /// The request as the form has it.
    fn request(&self) -> ReleaseRequest {
        let mechanism =
            (self.gaussian && self.query.mechanisms().contains(&Noise::Gaussian)).then_some(Noise::Gaussian);
        ReleaseRequest {
            by: self.by.clone(),
            delta: if self.needs_delta() { self.delta } else { 0.0 },
            mechanism,
            neighboring: self.neighboring,
            simultaneous: self.simultaneous,
            ..ReleaseRequest::new(self.query, self.column.as_deref(), self.epsilon)
        }
    }

    fn form(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset) {
        let t = cx.texts;
        ui.spacing_mut().item_spacing.y = 5.0;
        self.what(ui, cx, dataset);
        ui.push_id("epsilon", |ui| {
            let (name, help) = (t.get("release-epsilon-name"), t.get("release-epsilon-help"));
            let row = NumberRow {
                name,
                help,
                unit: "",
                slider: Slider {
                    name,
                    range: (0.001, 10.0),
                    logarithmic: true,
                    integer: false,
                    stops: &EPSILONS,
                },
                default: 0.1,
                write: small,
            };
            row.show(ui, cx, &mut self.epsilon);
        });
        self.error_row(ui, cx, dataset);
        if self.query.mechanisms().len() > 1 {
            ui.checkbox(&mut self.gaussian, t.get("release-gaussian"))
                .on_hover_text(t.get("release-gaussian-tip"));
        }
        if self.needs_delta() {
            ui.push_id("delta", |ui| {
                let (name, help) = (t.get("delta-name"), t.get("delta-help"));
                let row = NumberRow {
                    name,
                    help,
                    unit: "",
                    slider: Slider {
                        name,
                        range: (1e-10, 1e-4),
                        logarithmic: true,
                        integer: false,
                        stops: &DELTAS,
                    },
                    default: 1e-6,
                    write: format::delta,
                };
                row.show(ui, cx, &mut self.delta);
            });
        }
        if self.by.is_some() || matches!(self.query, Query::Histogram { .. }) {
            ui.checkbox(&mut self.simultaneous, t.get("release-simultaneous"))
                .on_hover_text(t.get("release-simultaneous-tip"));
        }
    }

    /// Query, column and groups.
    fn what(&mut self, ui: &mut Ui, cx: &Cx<'_>, dataset: &Dataset) {
        let t = cx.texts;
        let key = |query: Query| format!("query-{}", query.name());
        let mut query = self.query;
        row(ui, t.get("release-query"), "query", t.get(&key(query)), |ui| {
            for other in Query::ALL {
                let chosen = query.name() == other.name();
                if ui.selectable_label(chosen, t.get(&key(other))).clicked() && !chosen {
                    query = other;
                }
            }
        });
        self.query = query;
        let columns: Vec<&str> = dataset
            .schema
            .used_columns()
            .map(|(_, column)| column.name.as_str())
            .collect();
        let shown = self.column.clone();
        let shown = shown.as_deref().unwrap_or(t.get("release-all-rows"));
        let optional = self.query.column_is_optional();
        row(ui, t.get("release-column"), "column", shown, |ui| {
            if optional {
                ui.selectable_value(&mut self.column, None, t.get("release-all-rows"));
            }
            for column in &columns {
                ui.selectable_value(&mut self.column, Some((*column).to_owned()), *column);
            }
        });
        if let Query::Quantile { share } = &mut self.query {
            ui.horizontal(|ui| {
                let label = ui.label(t.get("release-quantile"));
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    ui.add(DragValue::new(share).speed(0.01).range(0.001..=0.999))
                        .labelled_by(label.id);
                });
            });
        }
        if self.query.can_group() {
            let groups: Vec<&str> = dataset
                .schema
                .used_columns()
                .map(|(_, column)| column)
                .filter(|column| {
                    use crate::data::Kind;
                    matches!(column.kind, Kind::Categorical | Kind::Boolean)
                        && Some(&column.name) != self.column.as_ref()
                })
                .map(|column| column.name.as_str())
                .collect();
            let shown = self.by.clone();
            let shown = shown.as_deref().unwrap_or(t.get("release-ungrouped"));
            row(ui, t.get("release-by"), "by", shown, |ui| {
                ui.selectable_value(&mut self.by, None, t.get("release-ungrouped"));
                for column in &groups {
                    ui.selectable_value(&mut self.by, Some((*column).to_owned()), *column);
                }
            });
        }
    }

    /// The inverse: an error that can be stood gives the ε. Only where the error is known beforehand.
    fn error_row(&mut self, ui: &mut Ui, cx: &Cx<'_>, dataset: &Dataset) {
        let width = |epsilon: f64| {
            let request = ReleaseRequest {
                epsilon,
                ..self.request()
            };
            preview_release(&dataset.schema, &request)
                .ok()
                .and_then(|preview| preview.half_width)
        };
        let Some(half_width) = width(self.epsilon) else {
            return;
        };
        let t = cx.texts;
        let mut wanted = half_width;
        ui.horizontal(|ui| {
            let label = ui
                .label(t.get("release-error"))
                .on_hover_text(t.get("release-error-tip"));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let field = DragValue::new(&mut wanted)
                    .speed(0.0)
                    .range(0.0..=1e15)
                    .custom_formatter(|value, _| format::significant(value, 3))
                    .custom_parser(format::parse)
                    .update_while_editing(false);
                ui.add_sized(vec2(72.0, 24.0), field).labelled_by(label.id);
            });
        });
        let typed = format::significant(wanted, 3) != format::significant(half_width, 3);
        if typed && wanted > 0.0 {
            self.epsilon = epsilon_for(wanted, width).unwrap_or(self.epsilon);
        }
    }

    /// What it costs in ε, in shares of the total and in plain words, and the button that asks.
    fn price(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset) {
        let t = cx.texts;
        let request = self.request();
        let total = dataset.budget.as_ref().and_then(|budget| budget.total);
        let key = Key(request.clone(), std::sync::Arc::clone(&dataset.schema), total);
        if self.cost.as_ref().is_none_or(|(known, _)| *known != key) {
            let cost = preview_release(&dataset.schema, &request)
                .map(|preview| (preview, release_share(&dataset.schema, &request, total.as_ref())));
            self.cost = Some((key, cost));
        }
        let Some((_, cost)) = &self.cost else { return };
        ui.label(cx.palette.strong(t.get("cost-title")));
        let (lines, blocked) = match cost {
            Ok((preview, share)) => {
                let lines = price_lines(cx, dataset, (preview, *share), request.neighboring);
                let blocked = over(cx, dataset, *share);
                (lines, blocked)
            }
            Err(problem) => (Vec::new(), Some(t.say(&problem.message))),
        };
        for line in &lines {
            ui.add(egui::Label::new(cx.palette.caption(line)).wrap());
        }
        let blocked = blocked.or_else(|| {
            if cx.snapshot.releasing.is_some() {
                Some(t.get("release-running").to_owned())
            } else if !dataset.may_be_version_of.is_empty() {
                Some(t.get("start-version-open").to_owned())
            } else {
                cx.snapshot
                    .ledger
                    .problem
                    .as_ref()
                    .map(|problem| t.say(&problem.message))
            }
        });
        if let Some(reason) = &blocked {
            let text = RichText::new(reason).size(SMALL).color(cx.palette.warn_text);
            ui.add(egui::Label::new(text).wrap());
        }
        let button = ui
            .add_enabled(blocked.is_none(), egui::Button::new(t.get("release-ask")))
            .on_hover_text(t.get("release-ask-tip"));
        if button.clicked() {
            let order = ReleaseOrder { request, seed: None };
            cx.intents.push(Intent::AskRelease(Box::new(order), lines));
        }
    }
}

/// One of the columns beside each other, as high as the card.
fn column(ui: &mut Ui, id: &str, size: egui::Vec2, contents: impl FnOnce(&mut Ui)) {
    ui.allocate_ui_with_layout(size, Layout::top_down(Align::Min), |ui| {
        egui::ScrollArea::vertical()
            .id_salt(("release", id))
            .auto_shrink(false)
            .show(ui, |ui| {
                ui.set_width(size.x - 2.0 * STEP);
                contents(ui);
            });
    });
}

fn small(value: f64) -> String {
    format::significant(value, 3)
}

/// A labelled choice across the form.
fn row(ui: &mut Ui, name: &str, id: &str, shown: &str, choices: impl FnOnce(&mut Ui)) {
    ui.horizontal(|ui| {
        let label = ui.label(name);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let combo = ComboBox::from_id_salt(id)
                .icon(widgets::arrow)
                .selected_text(shown)
                .width(176.0)
                .truncate()
                .show_ui(ui, choices);
            combo.response.labelled_by(label.id);
        });
    });
}

/// The least ε whose error is at most the wanted one: the error falls as ε grows.
fn epsilon_for(wanted: f64, width: impl Fn(f64) -> Option<f64>) -> Option<f64> {
    let fits = |epsilon: f64| width(epsilon).is_some_and(|width| width <= wanted);
    let (mut low, mut high) = (1e-4, 10.0);
    if !fits(high) {
        return None;
    }
    while high / low > 1.005 {
        let middle = f64::sqrt(low * high);
        if fits(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

/// Why the release does not fit into what is left of the total, if it does not.
fn over(cx: &Cx<'_>, dataset: &Dataset, share: Option<f64>) -> Option<String> {
    let shares = dataset.budget.as_ref()?.shares?;
    let share = share?;
    (share > shares.left * (1.0 + 1e-9) + 1e-9).then(|| {
        cx.texts.with(
            "release-over",
            [
                ("share", format::percent(share).into()),
                ("left", format::percent(shares.left).into()),
            ],
        )
    })
}

/// The cost in plain words, a line for each thing that a person must know.
fn price_lines(
    cx: &Cx<'_>,
    dataset: &Dataset,
    (preview, share): (&Preview, Option<f64>),
    neighboring: Neighboring,
) -> Vec<String> {
    let t = cx.texts;
    let unit = crate::gui::bars::unit(cx, dataset);
    let mut lines = vec![t.with(
        "release-charge",
        [
            ("epsilon", small(preview.epsilon).into()),
            ("delta", format::delta(preview.delta).into()),
            ("unit", unit.into()),
            ("relation", t.get(relation_key(neighboring)).into()),
        ],
    )];
    lines.push(
        match (dataset.budget.as_ref().and_then(|budget| budget.shares), share) {
            (Some(shares), Some(share)) => t.with(
                "release-share-line",
                [
                    ("share", format::percent(share).into()),
                    ("left", format::percent((shares.left - share).max(0.0)).into()),
                ],
            ),
            _ if dataset.schema.public => t.get("cost-teaching").to_owned(),
            _ => t.get("cost-no-total").to_owned(),
        },
    );
    let (epsilon, delta) = (preview.epsilon, preview.delta);
    let worst = if preview.noise == Noise::Gaussian {
        gaussian_rate(epsilon, delta, FALSE_ALARMS)
    } else {
        worst_case_rate(epsilon, delta, FALSE_ALARMS)
    };
    lines.push(t.with(
        "release-odds",
        [("found", format!("{:.1}", (worst * 1000.0).ceil() / 10.0).into())],
    ));
    if let Some(width) = preview.half_width {
        lines.push(t.with(
            "release-width",
            [
                ("width", format::significant(width, 3).into()),
                ("count", format::count(preview.values as u64).into()),
            ],
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::settings::Language;
    use crate::gui::i18n::Texts;

    #[test]
    fn every_query_has_its_name_in_both_languages() {
        for language in [Language::English, Language::Chinese] {
            let texts = Texts::new(language);
            for query in Query::ALL {
                assert!(texts.has(&format!("query-{}", query.name())), "{}", query.name());
                assert!(texts.has(&format!("job-{}", query.name())), "{}", query.name());
            }
        }
    }

    #[test]
    fn an_error_that_can_be_stood_gives_its_epsilon() {
        // The error of Laplace noise is about 3/ε.
        let width = |epsilon: f64| Some(3.0 / epsilon);
        let epsilon = epsilon_for(5.0, width).unwrap();
        assert!((0.6..0.61).contains(&epsilon), "{epsilon}");
        assert!(epsilon_for(0.1, width).is_none());
    }
}
