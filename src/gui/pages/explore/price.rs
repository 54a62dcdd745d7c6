//! What a release would cost, in ε, in shares of the total and in plain words, and the button that asks.

use std::sync::Arc;

use eframe::egui::{self, RichText, Ui};

use super::settings::ExploreSettings;
use crate::data::Schema;
use crate::engine::command::ReleaseOrder;
use crate::engine::snapshot::Dataset;
use crate::engine::{Problem, preview_release, release_share};
use crate::gui::bars::relation_key;
use crate::gui::context::{Cx, Intent};
use crate::gui::format;
use crate::gui::pages::train::cost::{gaussian_rate, worst_case_rate};
use crate::gui::theme::SMALL;
use crate::gui::widgets;
use crate::privacy::Neighboring;
use crate::privacy::ledger::Total;
use crate::release::{Noise, Preview, ReleaseRequest, relation_under};

/// The false-alarm rate of the sentence about attackers.
const FALSE_ALARMS: f64 = 0.01;

/// What a release would be, and the share of the total that it would take.
type Cost = (Preview, Option<f64>);

/// What a cost depends on: the request, the schema and the total.
#[derive(PartialEq)]
struct Key(ReleaseRequest, Arc<Schema>, Option<Total>);

/// The price of the question, kept until something that it depends on changes.
#[derive(Default)]
pub struct Price {
    cost: Option<(Key, Result<Cost, Problem>)>,
}

impl Price {
    /// Works the price out if it is not known.
    pub fn follow(&mut self, settings: &ExploreSettings, dataset: &Dataset) {
        let request = settings.request();
        let total = dataset.budget.as_ref().and_then(|budget| budget.total);
        let key = Key(request, Arc::clone(&dataset.schema), total);
        if self.cost.as_ref().is_none_or(|(known, _)| *known != key) {
            let cost = preview_release(&dataset.schema, &key.0).map(|preview| {
                let share = release_share(&dataset.schema, &key.0, total.as_ref());
                (preview, share)
            });
            self.cost = Some((key, cost));
        }
    }

    fn known(&self) -> Option<&Result<Cost, Problem>> {
        self.cost.as_ref().map(|(_, cost)| cost)
    }

    /// How many more releases like this one fit into what is left of the total; `None` without a total.
    pub fn how_many_more(&self, dataset: &Dataset) -> Option<u64> {
        let shares = dataset.budget.as_ref()?.shares?;
        let share = self.known()?.as_ref().ok()?.1?;
        // The ledger decides; a rounding in the last digit is left to it.
        (share > 0.0).then(|| ((shares.left / share) * (1.0 + 1e-9)).floor().min(1e15) as u64)
    }

    /// The cost in plain words; nothing where the question is refused.
    pub fn lines(&self, cx: &Cx<'_>, dataset: &Dataset, settings: &ExploreSettings) -> Vec<String> {
        match self.known() {
            Some(Ok((preview, share))) if settings.mechanism.released().is_some() => price_lines(
                cx,
                dataset,
                (preview, *share),
                relation_under(&dataset.schema, settings.neighboring),
            ),
            _ => Vec::new(),
        }
    }

    /// What keeps the release from being asked for.
    fn blocked(&self, cx: &Cx<'_>, dataset: &Dataset, settings: &ExploreSettings) -> Option<String> {
        let t = cx.texts;
        if settings.mechanism.released().is_none() {
            return Some(t.get("explore-compare-only").to_owned());
        }
        match self.known()? {
            Err(problem) => return Some(t.say(&problem.message)),
            Ok((_, share)) => {
                if let Some(over) = over(cx, dataset, *share) {
                    return Some(over);
                }
            }
        }
        if cx.snapshot.releasing.is_some() {
            return Some(t.get("release-running").to_owned());
        }
        if !dataset.may_be_version_of.is_empty() {
            return Some(t.get("start-version-open").to_owned());
        }
        let problem = cx.snapshot.ledger.problem.as_ref();
        problem.map(|problem| t.say(&problem.message))
    }

    /// Draws the price.
    pub fn show(&self, ui: &mut Ui, cx: &Cx<'_>, dataset: &Dataset, settings: &ExploreSettings) {
        let t = cx.texts;
        widgets::rule(ui, cx.palette);
        ui.label(cx.palette.strong(t.get("release-title")));
        for line in self.lines(cx, dataset, settings) {
            ui.add(egui::Label::new(cx.palette.caption(line)).wrap());
        }
        ui.add(egui::Label::new(cx.palette.caption(t.get("explore-free"))).wrap());
    }

    /// Draws the button that asks, and what keeps it from being pressed.
    pub fn button(&self, ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset, settings: &ExploreSettings) {
        let t = cx.texts;
        let blocked = self.blocked(cx, dataset, settings);
        let button = ui
            .add_enabled_ui(blocked.is_none(), |ui| {
                widgets::accent_button(ui, cx.palette, t.get("release-ask"))
            })
            .inner
            .on_hover_text(t.get("release-ask-tip"));
        if let Some(reason) = &blocked {
            let text = RichText::new(reason).size(SMALL).color(cx.palette.warn_text);
            ui.add(egui::Label::new(text).wrap());
        }
        if button.clicked() {
            let order = ReleaseOrder {
                request: settings.request(),
                seed: None,
            };
            let lines = self.lines(cx, dataset, settings);
            cx.intents.push(Intent::AskRelease(Box::new(order), lines));
        }
    }
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
            ("epsilon", format::significant(preview.epsilon, 3).into()),
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
    use crate::engine::settings::Language;
    use crate::gui::i18n::Texts;
    use crate::release::Query;

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
}
