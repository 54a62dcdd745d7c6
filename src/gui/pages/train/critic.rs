//! How a run's critic fares with single examples: what it gets right, how many gradients are cut, and how long they are.

use eframe::egui::Ui;

use super::cards::{Shown, head, smooth, waits};
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::plot::scene::{Axis, Look, Mark, Scene, Trace, range_from_zero};
use crate::gui::plot::{Chart, Curve, Dash};

/// The critic's accuracy on generated images, and the share of real ones whose gradient was cut.
pub fn shares(ui: &mut Ui, cx: &mut Cx<'_>, view: &Shown<'_>, _: f32) {
    let run = view.run;
    let (t, p) = (cx.texts, cx.palette);
    let accuracy = &run.critic.accuracy;
    let clipped = run.critic.clipped_share.for_steward();
    let steward = !clipped.raw.is_empty();
    head(ui, cx, "card-critic", steward, t.get("card-loss-caption"));
    let first = if accuracy.raw.is_empty() {
        clipped
    } else {
        accuracy
    };
    if waits(ui, cx, first, "card-waits-critic") {
        return;
    }
    let names = view.names(t.get("curve-accuracy"));
    let over = view.curves(|run| smooth(&run.critic.accuracy), &names);
    let curve = |name: &'static str, series| (t.get(name), series);
    let shown = [
        (
            curve("curve-accuracy", accuracy),
            (p.accent, p.accent),
            Dash::Solid,
        ),
        (
            curve("curve-clipped", clipped),
            (p.second, p.second_text),
            Dash::SolidDiamond,
        ),
    ];
    Chart {
        id: ("critic", run.id.0),
        name: t.get("card-critic"),
        x_unit: t.get("axis-step"),
        x_end: view.x_end(),
        include: &[0.0, 1.0],
        limit: None,
        curves: shown
            .into_iter()
            .filter(|((_, series), ..)| !series.raw.is_empty())
            .map(|((name, series), (color, text), dash)| Curve {
                name,
                color,
                text,
                raw: &series.raw,
                line: smooth(series),
                dash,
            })
            .chain(over)
            .collect(),
        write: format::percent,
        steward,
    }
    .show(ui, cx);
}

/// The norms of the gradients of real images before they are cut.
pub fn norms(ui: &mut Ui, cx: &mut Cx<'_>, view: &Shown<'_>, _: f32) {
    let run = view.run;
    let (t, p) = (cx.texts, cx.palette);
    let Some(histogram) = run.critic.norms.for_steward().as_deref() else {
        head(ui, cx, "card-norms", true, "");
        ui.label(p.caption(t.get("card-waits-step")));
        return;
    };
    let step = format::count(histogram.step);
    let caption = t.with("grid-step", [("step", step.into())]);
    head(ui, cx, "card-norms", true, &caption);
    let middle = |bin: usize| (bin as f64 + 0.5) * histogram.width;
    let counts = histogram.counts.iter().map(|count| f64::from(*count));
    let write = |value: f64| format::significant(value, 2);
    let mark = histogram.clip_norm.map(|clip_norm| {
        let name = t.with("norms-clip", [("norm", format::significant(clip_norm, 3).into())]);
        (clip_norm, name)
    });
    let scene = Scene {
        id: "gradient-norms",
        name: t.get("card-norms"),
        x: Axis {
            range: (0.0, histogram.width * histogram.counts.len() as f64),
            log: false,
            unit: t.get("axis-norm"),
            write: &write,
            names: Vec::new(),
        },
        y: Axis {
            range: range_from_zero(counts.clone()),
            log: false,
            unit: t.get("axis-examples"),
            write: &write,
            names: Vec::new(),
        },
        bands: Vec::new(),
        traces: std::iter::once(Trace {
            name: t.get("card-norms"),
            color: p.real,
            text: p.muted,
            points: counts
                .enumerate()
                .map(|(bin, count)| [middle(bin), count])
                .collect(),
            look: Look::Bars(0.9 * histogram.width),
            size: 1.0,
            quiet: true,
        })
        .chain(over_norms(view))
        .collect(),
        marks: mark
            .iter()
            .map(|(x, name)| Mark {
                x: *x,
                name,
                color: p.warn_text,
            })
            .collect(),
        handle: None,
        steward: true,
    };
    let _ = scene.show(ui, cx);
}

/// The norms of runs that are drawn over the one in view, as lines.
fn over_norms<'a>(view: &'a Shown<'_>) -> impl Iterator<Item = Trace<'a>> {
    view.over.iter().filter_map(|over| {
        let histogram = over.run.critic.norms.for_steward().as_deref()?;
        let counts = histogram.counts.iter().enumerate();
        Some(Trace {
            name: &over.name,
            color: over.color,
            text: over.color,
            points: counts
                .map(|(bin, count)| [(bin as f64 + 0.5) * histogram.width, f64::from(*count)])
                .collect(),
            look: Look::Line,
            size: 1.4,
            quiet: false,
        })
    })
}
