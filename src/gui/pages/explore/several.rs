//! What several questions like this one cost together: as a sum, by Rényi divergences, by privacy loss distributions.

use eframe::egui::{self, Ui};

use super::model::{Model, Points};
use super::settings::ExploreSettings;
use crate::engine::{Command, Composed, Several, SeveralRequest};
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::plot::scene::{Axis, Look, Scene, Trace, range_from_zero};
use crate::gui::widgets::{NumberRow, Slider};
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
fn ask(cx: &mut Cx<'_>, asked: &mut Option<SeveralRequest>, request: &SeveralRequest) {
    if !asked.as_ref().is_some_and(|asked| asked.is(request)) {
        *asked = Some(request.clone());
        cx.send(Command::ComposeSeveral(Box::new(request.clone())));
    }
}

/// Draws the picture.
pub fn show(
    ui: &mut Ui,
    cx: &mut Cx<'_>,
    model: &mut Model,
    settings: &ExploreSettings,
    (request, asked): (Option<SeveralRequest>, &mut Option<SeveralRequest>),
) {
    let t = cx.texts;
    let Some(request) = request else {
        ui.label(cx.palette.caption(t.get("several-none")));
        return;
    };
    ask(cx, asked, &request);
    let several = &request.several;
    let renyi = model.renyi(several, COUNTS);
    let composed = cx.snapshot.composed.clone();
    let present = composed
        .as_deref()
        .filter(|composed| composed.request.is(&request));
    totals(ui, cx, settings, several, (&renyi, present));
    shares(ui, cx, &request, (model.share(&request), present));
    notes(ui, cx, settings);
    let palette = cx.palette;
    let counts = several.counts(COUNTS);
    let sums = counts
        .iter()
        .map(|&count| [count as f64, several.sum(settings.epsilon, count)])
        .collect();
    let dim = if present.is_some() {
        palette.accent
    } else {
        palette.accent_soft
    };
    let most = several.most.max(2) as f64;
    // The last curve stays, dimmed, until the new one is there; what lies beyond the present axis is cut.
    let known = composed.as_deref().map_or(&[][..], |composed| &composed.points);
    let loss: Vec<[f64; 2]> = known.iter().copied().filter(|point| point[0] <= most).collect();
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

fn written(value: Option<f64>) -> String {
    value.map_or_else(|| "…".to_owned(), |value| format::significant(value, 3))
}

fn caption(ui: &mut Ui, cx: &Cx<'_>, line: impl Into<String>) {
    ui.add(egui::Label::new(cx.palette.caption(line)).wrap());
}

/// The totals at the chosen number.
fn totals(
    ui: &mut Ui,
    cx: &Cx<'_>,
    settings: &ExploreSettings,
    several: &Several,
    (renyi, present): (&Points, Option<&Composed>),
) {
    let last = |points: &[[f64; 2]]| points.last().map(|point| point[1]);
    let sum = several.sum(settings.epsilon, several.most);
    let line = cx.texts.with(
        "several-totals",
        [
            ("count", format::count(several.most).into()),
            ("epsilon", format::significant(settings.epsilon, 3).into()),
            ("sum", written(Some(sum)).into()),
            ("rdp", written(last(renyi)).into()),
            (
                "pld",
                written(present.and_then(|composed| last(&composed.points))).into(),
            ),
            ("delta", format::delta(settings.delta).into()),
        ],
    );
    caption(ui, cx, line);
}

/// What each question may have if all together shall cost the present ε.
fn shares(
    ui: &mut Ui,
    cx: &Cx<'_>,
    request: &SeveralRequest,
    (renyi, present): (Option<f64>, Option<&Composed>),
) {
    let line = cx.texts.with(
        "several-split",
        [
            ("count", format::count(request.several.most).into()),
            ("epsilon", format::significant(request.total, 3).into()),
            ("sum", written(Some(request.share_by_sum())).into()),
            ("rdp", written(renyi).into()),
            ("pld", written(present.and_then(|composed| composed.share)).into()),
        ],
    );
    caption(ui, cx, line);
}

/// What must be said of the question as it is.
fn notes(ui: &mut Ui, cx: &Cx<'_>, settings: &ExploreSettings) {
    if settings.mechanism.needs_delta() && !settings.parallel {
        caption(ui, cx, cx.texts.get("several-delta"));
    }
    if matches!(settings.query, Query::Histogram { .. }) {
        caption(ui, cx, cx.texts.get("several-bins"));
    }
}
