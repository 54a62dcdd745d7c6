//! The budget of the open data set: its gauge, its total, and how the spends added up over time.

use eframe::egui::{self, Align, Layout, RichText, TextEdit, Ui};

use crate::engine::command::Command;
use crate::engine::snapshot::Dataset;
use crate::engine::{MeaningAnswer, is_charged};
use crate::gui::context::{Cx, Intent};
use crate::gui::format;
use crate::gui::plot::scene::{Axis, Look, Scene, Trace, range_from_zero};
use crate::gui::theme::{SMALL, STEP};
use crate::gui::widgets::{self, NumberField, number};
use crate::num::Epsilon;
use crate::privacy::ledger::{Budget, Entry};

/// The height of the budget's cards.
pub const HEIGHT: f32 = 166.0;
/// The same where a total can be set.
pub const WITH_FORM: f32 = 180.0;
/// The total of a table of which little is spent.
const USUAL_EPSILON: f64 = 10.0;
/// Its δ.
const USUAL_DELTA: f64 = 1e-5;
/// The greatest δ of a total.
const MOST_DELTA: f64 = 0.5;
/// A day in milliseconds.
const DAY: f64 = 86_400_000.0;

/// What the form of a total holds between frames.
#[derive(Default)]
pub struct TotalForm {
    /// ε and δ that a person has chosen; those to begin with follow what is spent.
    epsilon: Option<f64>,
    delta: Option<f64>,
    reason: String,
}

/// The total to begin with: the usual one, or as much as is needed to hold what is spent and held already. δ has room
/// for more to come.
fn usual_total(epsilon: f64, delta: f64) -> (f64, f64) {
    let epsilon = epsilon.ceil();
    let delta = if delta > USUAL_DELTA {
        10f64.powf((delta.log10() - 1e-9).ceil())
    } else {
        USUAL_DELTA
    };
    (epsilon.max(USUAL_EPSILON), delta.min(MOST_DELTA))
}

impl TotalForm {
    /// Draws gauge, sums, and the form of a total where there is none.
    pub fn budget(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset, budget: &Budget) {
        let t = cx.texts;
        ui.horizontal(|ui| {
            ui.label(cx.palette.title(t.get("budget-title")));
            if budget.total.is_some() && !dataset.schema.public {
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    let raise = widgets::quiet_button(ui, cx.palette, t.get("total-raise"));
                    if raise.on_hover_text(t.get("total-raise-tip")).clicked() {
                        cx.intents.push(Intent::AskRaise);
                    }
                    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                        widgets::truncated(ui, cx.palette.caption(&dataset.name));
                    });
                });
            } else {
                widgets::truncated(ui, cx.palette.caption(&dataset.name));
            }
        });
        let charge = |epsilon, delta| {
            t.with(
                "budget-charge",
                [
                    ("epsilon", format::epsilon(epsilon).into()),
                    ("delta", format::delta(delta).into()),
                ],
            )
        };
        if let (Some(total), Some(shares)) = (budget.total, budget.shares) {
            let name = t.get("budget-name");
            let width = ui.available_width();
            widgets::budget(
                ui,
                cx.palette,
                shares.spent as f32,
                shares.reserved as f32,
                width,
                name,
            );
            let line = t.with(
                "budget-of-total",
                [
                    ("spent", format::percent(shares.spent).into()),
                    ("reserved", format::percent(shares.reserved).into()),
                    ("left", format::percent(shares.left).into()),
                    ("total", charge(total.epsilon, total.delta).into()),
                ],
            );
            ui.add(egui::Label::new(line).wrap())
                .on_hover_text(t.get("share-tip"));
        } else {
            let key = if dataset.schema.public {
                "budget-none-public"
            } else {
                "budget-none"
            };
            ui.add(egui::Label::new(t.get(key)).wrap());
        }
        let sum = t.with(
            "budget-sum",
            [
                ("spent", charge(budget.spent.epsilon, budget.spent.delta).into()),
                ("jobs", budget.jobs.into()),
            ],
        );
        ui.add(egui::Label::new(cx.palette.caption(sum)).wrap());
        if budget.total.is_none() && !dataset.schema.public {
            self.set_total(ui, cx, budget);
        }
    }

    fn set_total(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, budget: &Budget) {
        let t = cx.texts;
        let (spent, held) = (budget.spent, budget.reserved);
        let usual = usual_total(spent.epsilon + held.epsilon, spent.delta + held.delta);
        let (mut wanted, mut delta_wanted) = (self.epsilon.unwrap_or(usual.0), self.delta.unwrap_or(usual.1));
        ui.add_space(STEP / 2.0);
        ui.horizontal_wrapped(|ui| {
            let label = ui.label(t.get("total-epsilon"));
            let epsilon = NumberField {
                range: (0.01, 1000.0),
                speed: 0.1,
                is_live: true,
                ..NumberField::new(t.get("total-epsilon"))
            };
            let epsilon = epsilon.show(ui, cx, &mut wanted);
            if epsilon.labelled_by(label.id).changed() {
                self.epsilon = Some(wanted);
            }
            let label = ui.label("δ");
            let delta = NumberField {
                write: format::delta,
                range: (0.0, MOST_DELTA),
                is_live: true,
                ..NumberField::new("δ")
            };
            let delta = delta.show(ui, cx, &mut delta_wanted);
            if delta.labelled_by(label.id).changed() {
                self.delta = Some(delta_wanted);
            }
            let label = ui.label(t.get("total-reason"));
            ui.add(TextEdit::singleline(&mut self.reason).desired_width(220.0))
                .labelled_by(label.id);
            let epsilon = Epsilon::new(wanted).ok();
            let refused = number::refused(ui.ctx(), t);
            let ready = epsilon.is_some() && !self.reason.trim().is_empty() && refused.is_none();
            let button = ui
                .add_enabled(ready, egui::Button::new(t.get("total-set")))
                .on_hover_text(t.get("total-set-tip"))
                .on_disabled_hover_text(refused.as_deref().unwrap_or(t.get("total-set-needs")));
            if button.clicked()
                && let Some(epsilon) = epsilon
            {
                let reason = self.reason.trim().to_owned();
                cx.send(Command::SetTotal {
                    epsilon,
                    delta: delta_wanted,
                    reason,
                });
                self.reason.clear();
            }
            if let Some(refused) = refused {
                let text = RichText::new(refused).size(SMALL).color(cx.palette.warn_text);
                ui.add(egui::Label::new(text).wrap());
            } else if self.reason.trim().is_empty() {
                ui.label(cx.palette.caption(t.get("total-set-needs")));
            }
        });
    }
}

/// Draws what was charged, adding up over time: shares of the total, or ε where there is none.
pub fn over_time(ui: &mut Ui, cx: &mut Cx<'_>, budget: &Budget, answer: Option<&MeaningAnswer>) {
    let t = cx.texts;
    let title = (t.get("over-time-title"), t.get("over-time-tip"));
    let entries = cx.snapshot.ledger.entries.clone();
    let charged: Vec<&Entry> = entries
        .iter()
        .filter(|entry| Some(entry.dataset) == budget.dataset && is_charged(entry))
        .collect();
    let key = if budget.total.is_some() {
        "over-time-shares"
    } else {
        "over-time-sums"
    };
    widgets::card_head(ui, cx, title, false, t.get(key));
    if charged.is_empty() {
        ui.add(egui::Label::new(t.get("ledger-empty")).wrap());
        return;
    }
    let size = |entry: &Entry| match (budget.total, answer) {
        (None, _) => entry.epsilon,
        (Some(_), Some(answer)) => answer.shares.get(&entry.id).copied().unwrap_or(0.0),
        (Some(_), None) => 0.0,
    };
    let times: Vec<f64> = charged.iter().map(|entry| entry.time_ms as f64).collect();
    let points = steps(times.iter().copied().zip(charged.iter().map(|entry| size(entry))));
    let (first, last) = (times[0], times[times.len() - 1]);
    let air = ((last - first) * 0.06).max(60_000.0);
    let range = (first - air, last + air);
    let p = cx.palette;
    let mut traces = vec![Trace {
        name: t.get("over-time-line"),
        color: p.accent,
        text: p.accent,
        points: std::iter::once([range.0, 0.0])
            .chain(points)
            .chain(std::iter::once([
                range.1,
                charged.iter().map(|entry| size(entry)).sum(),
            ]))
            .collect(),
        look: Look::Line,
        size: 2.0,
        quiet: true,
    }];
    if budget.total.is_some() {
        traces.push(Trace {
            name: t.get("over-time-limit"),
            color: p.warn,
            text: p.warn_text,
            points: vec![[range.0, 1.0], [range.1, 1.0]],
            look: Look::Dashed,
            size: 1.5,
            quiet: false,
        });
    }
    let heights = traces
        .iter()
        .flat_map(|trace| trace.points.iter().map(|point| point[1]));
    let shares = budget.total.is_some();
    let heights = range_from_zero(heights);
    let when = |value: f64| format::moment(value as i64, range.1 - range.0 < DAY);
    let height = |value: f64| {
        if shares {
            format::percent(value)
        } else {
            format::significant(value, 3)
        }
    };
    let moments = (0..4).map(|at| range.0 + (range.1 - range.0) * (0.12 + 0.25 * f64::from(at)));
    let scene = Scene {
        id: "spent-over-time",
        name: t.get("over-time-title"),
        x: Axis {
            range,
            log: false,
            unit: "",
            write: &when,
            names: apart(moments.map(|moment| (moment, when(moment)))),
        },
        y: Axis {
            range: heights,
            log: false,
            unit: if shares { "" } else { "ε" },
            write: &height,
            names: Vec::new(),
        },
        bands: Vec::new(),
        traces,
        marks: Vec::new(),
        handle: None,
        steward: false,
    };
    let _ = scene.show(ui, cx);
}

/// Names at their places; one that says the same as the one before it is left out.
fn apart(names: impl Iterator<Item = (f64, String)>) -> Vec<(f64, String)> {
    let mut kept: Vec<(f64, String)> = names.collect();
    kept.dedup_by(|one, before| one.1 == before.1);
    kept
}

/// A line that goes up by each amount at its time.
fn steps(amounts: impl Iterator<Item = (f64, f64)>) -> Vec<[f64; 2]> {
    let mut sum = 0.0;
    amounts
        .flat_map(|(time, amount)| {
            let before = sum;
            sum += amount;
            [[time, before], [time, sum]]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_total_to_begin_with_holds_what_is_spent() {
        assert_eq!(usual_total(0.0, 0.0), (10.0, 1e-5));
        assert_eq!(usual_total(3.0, 1e-5), (10.0, 1e-5));
        let (epsilon, delta) = usual_total(12.5, 3e-5);
        assert!((epsilon - 13.0).abs() < 1e-9 && (delta - 1e-4).abs() < 1e-12);
    }

    #[test]
    fn spends_add_up_in_steps() {
        let line = steps([(1.0, 0.25), (4.0, 0.5)].into_iter());
        assert_eq!(line, [[1.0, 0.0], [1.0, 0.25], [4.0, 0.25], [4.0, 0.75]]);
    }
}
