//! What several questions like this one cost together: as a sum, by Rényi divergences, by privacy loss distributions.

use eframe::egui::{self, Ui};

use super::model::{Model, Points};
use super::settings::ExploreSettings;
use crate::engine::{Command, Several};
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::plot::scene::{Axis, Look, Scene, Trace, range_from_zero};
use crate::gui::widgets::{NumberRow, Slider};
use crate::privacy::Neighboring;
use crate::release::Query;

/// At how many counts the Rényi curve is drawn.
const COUNTS: usize = 40;
/// Round stops of the number of questions.
const STOPS: [f64; 7] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0];

/// Number of questions, and whether they are about disjoint parts.
pub fn controls(ui: &mut Ui, cx: &Cx<'_>, settings: &mut ExploreSettings) {
    let t = cx.texts;
    ui.push_id("several", |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.allocate_ui(egui::vec2(260.0, 44.0), |ui| {
                ui.vertical(|ui| {
                    let (name, help) = (t.get("several-count"), t.get("several-count-help"));
                    let row = NumberRow {
                        name,
                        help,
                        unit: "",
                        slider: Slider {
                            name,
                            range: (1.0, 200.0),
                            logarithmic: true,
                            integer: true,
                            stops: &STOPS,
                        },
                        default: 20.0,
                        write: |value| format::count(value.max(0.0) as u64),
                    };
                    row.show(ui, cx, &mut settings.questions);
                });
            });
            ui.add_space(crate::gui::theme::STEP);
            ui.checkbox(&mut settings.parallel, t.get("several-parallel"))
                .on_hover_text(t.get("several-parallel-tip"));
        });
    });
}

/// The sum: ε adds up over questions, and over disjoint parts the largest counts, or the two largest where a row may
/// move between them.
pub fn sum(several: &Several, epsilon: f64, count: u64) -> f64 {
    match (several.parallel, several.events.neighboring) {
        (false, _) => epsilon * count as f64,
        (true, Neighboring::ReplaceOne) => epsilon * count.min(2) as f64,
        (true, _) => epsilon,
    }
}

fn line(name: &str, color: egui::Color32, points: Vec<[f64; 2]>, look: Look) -> Trace<'_> {
    Trace {
        name,
        color,
        text: color,
        points,
        look,
        size: 2.0,
        quiet: false,
    }
}

/// Asks for the loss distributions whenever the question has changed.
fn ask(cx: &mut Cx<'_>, asked: &mut Option<Several>, several: &Several) {
    if asked.as_ref() != Some(several) {
        *asked = Some(several.clone());
        cx.send(Command::ComposeSeveral(Box::new(several.clone())));
    }
}

/// Draws the picture.
pub fn show(
    ui: &mut Ui,
    cx: &mut Cx<'_>,
    model: &mut Model,
    settings: &ExploreSettings,
    (several, asked): (Option<Several>, &mut Option<Several>),
) {
    let t = cx.texts;
    let Some(several) = several else {
        ui.label(cx.palette.caption(t.get("several-none")));
        return;
    };
    ask(cx, asked, &several);
    let renyi = model.renyi(&several, COUNTS);
    let split = model.split(settings, &several);
    let composed = cx.snapshot.composed.clone();
    let is_present = composed
        .as_ref()
        .is_some_and(|composed| composed.several == several);
    let loss = composed
        .map(|composed| composed.points.clone())
        .unwrap_or_default();
    totals(
        ui,
        cx,
        settings,
        (&several, &renyi, if is_present { &loss } else { &[] }),
        split,
    );
    let palette = cx.palette;
    let counts = several.counts(COUNTS);
    let sums = counts
        .iter()
        .map(|&count| [count as f64, sum(&several, settings.epsilon, count)])
        .collect();
    let dim = if is_present {
        palette.accent
    } else {
        palette.accent_soft
    };
    let most = several.most.max(2) as f64;
    // The last curve stays, dimmed, until the new one is there; what lies beyond the present axis is cut.
    let loss: Vec<[f64; 2]> = loss.into_iter().filter(|point| point[0] <= most).collect();
    let traces = vec![
        line(t.get("several-sum"), palette.muted, sums, Look::Line),
        line(t.get("several-rdp"), palette.second, renyi.to_vec(), Look::Dashed),
        line(t.get("several-pld"), dim, loss, Look::Line),
    ];
    let heights = traces
        .iter()
        .flat_map(|trace| trace.points.iter().map(|point| point[1]));
    let range = range_from_zero(heights);
    let number = |value: f64| format::significant(value, 3);
    let count = |value: f64| {
        if (value - value.round()).abs() < 1e-9 {
            format::count(value.max(0.0).round() as u64)
        } else {
            String::new()
        }
    };
    let unit = t.with("axis-total", [("delta", format::delta(settings.delta).into())]);
    let scene = Scene {
        id: "several",
        name: t.get("picture-several"),
        x: Axis {
            range: (1.0, most),
            log: false,
            unit: t.get("axis-questions"),
            write: &count,
            names: Vec::new(),
        },
        y: Axis {
            range,
            log: false,
            unit: &unit,
            write: &number,
            names: Vec::new(),
        },
        bands: Vec::new(),
        traces,
        marks: Vec::new(),
        handle: None,
        // Nothing of it was read off rows.
        steward: false,
    };
    let _ = scene.show(ui, cx);
}

/// The totals at the chosen number, and what each question may have if all together shall cost the present ε.
fn totals(
    ui: &mut Ui,
    cx: &Cx<'_>,
    settings: &ExploreSettings,
    (several, renyi, loss): (&Several, &Points, &[[f64; 2]]),
    split: Option<f64>,
) {
    let t = cx.texts;
    let write =
        |value: Option<f64>| value.map_or_else(|| "…".to_owned(), |value| format::significant(value, 3));
    let last = |points: &[[f64; 2]]| points.last().map(|point| point[1]);
    let count = format::count(several.most);
    let line = t.with(
        "several-totals",
        [
            ("count", count.as_str().into()),
            ("epsilon", format::significant(settings.epsilon, 3).into()),
            (
                "sum",
                write(Some(sum(several, settings.epsilon, several.most))).into(),
            ),
            ("rdp", write(last(renyi)).into()),
            ("pld", write(last(loss)).into()),
            ("delta", format::delta(settings.delta).into()),
        ],
    );
    ui.add(egui::Label::new(cx.palette.caption(line)).wrap());
    let share = settings.epsilon / sum(several, 1.0, several.most).max(1.0);
    let line = t.with(
        "several-split",
        [
            ("count", count.as_str().into()),
            ("epsilon", format::significant(settings.epsilon, 3).into()),
            ("sum", write(Some(share)).into()),
            ("rdp", write(split.map(|split| split.max(share))).into()),
        ],
    );
    ui.add(egui::Label::new(cx.palette.caption(line)).wrap());
    if settings.mechanism.needs_delta() && !settings.parallel {
        ui.add(egui::Label::new(cx.palette.caption(t.get("several-delta"))).wrap());
    }
    if matches!(settings.query, Query::Histogram { .. }) {
        ui.add(egui::Label::new(cx.palette.caption(t.get("several-bins"))).wrap());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::EventList;

    #[test]
    fn a_sum_over_disjoint_parts_counts_one_or_two() {
        let several = |parallel, neighboring| Several {
            events: EventList::new(neighboring),
            delta: 1e-6,
            most: 10,
            parallel,
        };
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        close(sum(&several(false, Neighboring::AddRemoveOne), 0.5, 10), 5.0);
        close(sum(&several(true, Neighboring::AddRemoveOne), 0.5, 10), 0.5);
        close(sum(&several(true, Neighboring::ReplaceOne), 0.5, 10), 1.0);
        close(sum(&several(true, Neighboring::ReplaceOne), 0.5, 1), 0.5);
    }
}
