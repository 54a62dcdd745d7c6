//! Utility of synthetic rows over ε: the training runs of this session as points, the run without privacy as a line.

use eframe::egui::{self, Ui};

use crate::engine::Method;
use crate::engine::snapshot::{Dataset, RunState, RunView};
use crate::gui::command::{Action, Page};
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::plot::scene::{Axis, Look, Scene, Trace, log_range, range_from_zero};

/// The last Fréchet distance of a run that has ended.
fn distance(run: &RunView) -> Option<f64> {
    let ended = matches!(run.state, RunState::Finished(_));
    run.frechet
        .for_steward()
        .last
        .filter(|distance| ended && distance.is_finite())
}

/// Draws the picture.
pub fn show(ui: &mut Ui, cx: &mut Cx<'_>, epsilon: f64, dataset: &Dataset) {
    let t = cx.texts;
    let runs: Vec<(&RunView, f64)> = cx
        .snapshot
        .runs
        .iter()
        // Another file of the same name holds other data.
        .filter(|run| run.dataset == dataset.name && run.path == dataset.path)
        .filter_map(|run| Some((&**run, distance(run)?)))
        .collect();
    if runs.is_empty() {
        ui.add(egui::Label::new(cx.palette.caption(t.get("runs-none"))).wrap());
        cx.button(ui, Action::Go(Page::Train), None);
        return;
    }
    let points: Vec<[f64; 2]> = runs
        .iter()
        .filter_map(|(run, distance)| Some([run.target?.epsilon, *distance]))
        .collect();
    // The latest run without a promise: what privacy costs is the distance to it.
    let open = runs
        .iter()
        .rev()
        .find(|(run, _)| run.method == Method::Gan)
        .map(|(_, distance)| *distance);
    let range = log_range(points.iter().map(|point| point[0]).chain([epsilon]));
    let palette = cx.palette;
    let mut traces = vec![Trace {
        name: t.get("runs-private"),
        color: palette.second,
        text: palette.second_text,
        points,
        look: Look::Discs,
        size: 6.0,
        quiet: true,
    }];
    if let Some(distance) = open {
        traces.push(Trace {
            name: t.get("runs-open"),
            color: palette.muted,
            text: palette.muted,
            points: vec![
                [range.0, distance],
                [(range.0 * range.1).sqrt(), distance],
                [range.1, distance],
            ],
            look: Look::Dashed,
            size: 1.5,
            quiet: false,
        });
    }
    let samples = runs
        .iter()
        .map(|(run, _)| run.frechet_samples)
        .max()
        .unwrap_or_default();
    let note = t.with("runs-note", [("samples", format::count(samples as u64).into())]);
    ui.add(egui::Label::new(cx.palette.caption(note)).wrap());
    let heights: Vec<f64> = runs.iter().map(|(_, distance)| *distance).collect();
    let number = |value: f64| format::significant(value, 3);
    let scene = Scene {
        id: "runs",
        name: t.get("picture-runs"),
        x: Axis {
            range,
            log: true,
            unit: t.get("axis-epsilon"),
            write: &number,
            names: Vec::new(),
        },
        y: Axis {
            range: range_from_zero(heights.into_iter()),
            log: false,
            unit: t.get("axis-frechet"),
            write: &number,
            names: Vec::new(),
        },
        bands: Vec::new(),
        traces,
        marks: Vec::new(),
        handle: None,
        steward: true,
    };
    let _ = scene.show(ui, cx);
}
