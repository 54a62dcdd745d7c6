//! From what a person can stand back to ε, how many more such questions fit, and a warning where noise swamps all.

use eframe::egui::{self, Align, Layout, RichText, Ui};

use super::model::{View, epsilon_for};
use super::price::Price;
use super::settings::ExploreSettings;
use super::units;
use crate::engine::snapshot::Dataset;
use crate::gui::command::{Action, Page};
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::theme::SMALL;
use crate::gui::widgets::{self, NumberField};
use crate::release::Query;
use crate::release::outlook::{SHOWN_EPSILONS, Sensitivity};

/// The error at 95 %, as a share of the answer, that is suggested instead of one that swamps it.
const BEARABLE: f64 = 0.1;

/// Three digits, not below the value: a little more ε, and no more error than asked for.
fn rounded_up(epsilon: f64) -> f64 {
    let inverse = 10f64.powf(2.0 - epsilon.log10().floor());
    (epsilon * inverse - 1e-6).ceil() / inverse
}

/// Draws the fields; the ε that was asked for, if one was.
pub fn show(ui: &mut Ui, cx: &mut Cx<'_>, view: &View<'_>) -> Option<f64> {
    let t = cx.texts;
    let settings = view.settings;
    let mechanism = settings.mechanism;
    widgets::rule(ui, cx.palette);
    ui.label(cx.palette.strong(t.get("explore-inverse")));
    let Some(error) = view.error(mechanism, settings.epsilon) else {
        let key = if settings.delta == 0.0 && mechanism.needs_delta() {
            "explore-delta-zero"
        } else if view.seen.is_none() {
            "explore-reading"
        } else {
            "explore-no-noise"
        };
        let text = RichText::new(t.get(key)).size(SMALL).color(cx.palette.warn_text);
        ui.add(egui::Label::new(text).wrap());
        return None;
    };
    let mut wanted = error;
    ui.horizontal(|ui| {
        let label = ui
            .label(t.get("release-error"))
            .on_hover_text(t.get("release-error-tip"));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let field = NumberField {
                write: |value| format::significant(value, 3),
                range: (0.0, 1e15),
                width: Some(84.0),
                ..NumberField::new(t.get("release-error"))
            };
            field.show(ui, cx, &mut wanted).labelled_by(label.id);
        });
    });
    let unit = units::name(cx, view.dataset, settings);
    ui.add(egui::Label::new(cx.palette.caption(unit)).wrap());
    let mut found = None;
    let typed = format::significant(wanted, 3) != format::significant(error, 3);
    if typed && wanted > 0.0 {
        found = epsilon_for(wanted, |epsilon| view.error(mechanism, epsilon)).map(rounded_up);
        // Out of reach: as near as the slider goes, and the field shows what that gives.
        found = found.or(Some(SHOWN_EPSILONS.1));
    }
    found.or_else(|| swamped(ui, cx, view, error))
}

/// What an error is held against: the answer, or the range of what a mean or a quantile can be.
fn yardstick(view: &View<'_>) -> Option<f64> {
    let answer = view.cell()?.number.abs();
    match (view.settings.query, view.outlook.sensitivity()) {
        (Query::Mode, _) => None,
        (Query::Mean | Query::Quantile { .. } | Query::Variance, _) => {
            let column = view.dataset.schema.find(view.settings.column.as_deref()?)?;
            let ends = column.lower.as_ref().zip(column.upper.as_ref());
            let range = ends.and_then(|(lower, upper)| Some(upper.as_f64()? - lower.as_f64()?));
            Some(match (view.settings.query, range) {
                (Query::Variance, Some(range)) => range * range / 4.0,
                (_, Some(range)) => range / 2.0,
                (_, None) => return None,
            })
        }
        (_, Some(Sensitivity::Sums { .. })) => Some(answer),
        _ => None,
    }
    .filter(|yardstick| yardstick.is_finite() && *yardstick > 0.0)
}

/// Says that the noise is as large as the answer, with the ε that would do.
fn swamped(ui: &mut Ui, cx: &Cx<'_>, view: &View<'_>, error: f64) -> Option<f64> {
    let t = cx.texts;
    let cell = view.cell()?;
    let warn = |ui: &mut Ui, text: String| {
        let text = RichText::new(text).size(SMALL).color(cx.palette.warn_text);
        ui.add(egui::Label::new(text).wrap());
    };
    if cell.count().is_some_and(|count| count < 1.0) {
        warn(ui, t.get("explore-empty").to_owned());
        return None;
    }
    let yardstick = yardstick(view)?;
    if error < yardstick {
        return None;
    }
    warn(ui, t.get("explore-swamped").to_owned());
    let enough = epsilon_for(BEARABLE * yardstick, |epsilon| {
        view.error(view.settings.mechanism, epsilon)
    });
    let Some(enough) = enough.map(rounded_up) else {
        warn(ui, t.get("explore-swamped-always").to_owned());
        return None;
    };
    let label = t.with(
        "explore-use",
        [("epsilon", format::significant(enough, 3).into())],
    );
    widgets::quiet_button(ui, cx.palette, &label)
        .clicked()
        .then_some(enough)
}

/// How many more questions like this one fit into the data set's total.
pub fn how_many(ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset, price: &Price, settings: &ExploreSettings) {
    let t = cx.texts;
    let has_total = dataset
        .budget
        .as_ref()
        .is_some_and(|budget| budget.shares.is_some());
    let line = match price.how_many_more(dataset) {
        Some(count) if settings.mechanism.released().is_some() => {
            t.with("explore-fit", [("count", format::count(count).into())])
        }
        _ if !has_total => {
            ui.add(egui::Label::new(cx.palette.caption(t.get("explore-fit-no-total"))).wrap());
            if widgets::quiet_button(ui, cx.palette, t.get("explore-set-total")).clicked() {
                cx.act(Action::Go(Page::Privacy));
            }
            return;
        }
        _ => return,
    };
    ui.add(egui::Label::new(cx.palette.caption(line)).wrap());
}

#[cfg(test)]
mod tests {
    use super::rounded_up;

    #[test]
    fn an_epsilon_is_rounded_to_the_side_of_less_error() {
        for (epsilon, wanted) in [(0.123_41, 0.124), (1.0, 1.0), (0.050_000_000_01, 0.05)] {
            assert!(
                (rounded_up(epsilon) - wanted).abs() < 1e-9,
                "{}",
                rounded_up(epsilon)
            );
        }
    }
}
