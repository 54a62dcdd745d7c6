//! The noise around the answer: its density with the 50 and 95 % bands, the true answer, and noisy ones.

use eframe::egui::Ui;

use super::model::View;
use super::units;
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::plot::scene::{Axis, Look, Mark, Scene, Trace, range_from_zero};
use crate::privacy::mechanism::utility::{Noise, NoiseSum};
use crate::release::Query;
use crate::release::outlook::Law;

/// Points of the curve on either side.
const HALF: usize = 120;
/// Bars of a choice's chances.
const BINS: usize = 96;
/// Noisy answers shown.
const ANSWERS: usize = 40;
/// Noise of fewer steps than this is drawn step by step.
const FEW_STEPS: f64 = 40.0;
/// The share of answers that the picture spans.
const SPAN: f64 = 0.999;

/// The curve or the bars around the answer, and the width of a bar.
struct Shape {
    points: Vec<[f64; 2]>,
    bar: Option<f64>,
    far: f64,
}

/// The width of a step of discrete noise, where steps are few enough to be seen.
fn visible_step(law: &Law<'_>, far: f64) -> Option<f64> {
    match law {
        Law::Noise(NoiseSum::One {
            noise: Noise::DiscreteLaplace { .. } | Noise::DiscreteGaussian { .. },
            weight,
        }) if far / weight <= FEW_STEPS => Some(*weight),
        _ => None,
    }
}

fn shape(law: &Law<'_>, origin: f64, only_above: bool) -> Option<Shape> {
    let far = law.error_quantile(SPAN).ok().filter(|far| far.is_finite())?;
    if let Law::Choice(choice) = law {
        let far = far.max(1e-9 * origin.abs()).max(1e-12);
        let low = if only_above { 0.0 } else { origin - 1.1 * far };
        let high = origin + 1.1 * far;
        let width = (high - low) / BINS as f64;
        let bar = |at: usize| {
            let from = low + at as f64 * width;
            // Half-open, so that a value on an edge is counted once.
            let chance = choice.chance(from, from + width * (1.0 - 1e-9));
            [from + width / 2.0, chance]
        };
        return Some(Shape {
            points: (0..BINS).map(bar).collect(),
            bar: Some(width),
            far: 1.1 * far,
        });
    }
    let density = |x: f64| match law {
        Law::Noise(sum) => sum.density(x),
        Law::Response(error) => Noise::Gaussian {
            sigma: error.root_mean_square_error().max(f64::MIN_POSITIVE),
        }
        .density(x),
        Law::Choice(_) => 0.0,
    };
    let far = if far > 0.0 { far } else { 1.0 };
    let step = visible_step(law, far);
    let (width, half) = match step {
        Some(step) => (step, ((1.1 * far / step).ceil() as usize).max(3)),
        None => (1.1 * far / HALF as f64, HALF),
    };
    let points = (0..=2 * half).map(|at| {
        let x = (at as f64 - half as f64) * width;
        // Of steps, the probability; of a curve, the density.
        [origin + x, density(x) * if step.is_some() { width } else { 1.0 }]
    });
    Some(Shape {
        points: points.collect(),
        bar: step.map(|step| 0.7 * step),
        far: half as f64 * width,
    })
}

/// What is drawn: the curve or the bars, and noisy answers at the foot.
fn traces<'a>(cx: &Cx<'a>, shape: &Shape, answers: Vec<[f64; 2]>) -> Vec<Trace<'a>> {
    let (t, palette) = (cx.texts, cx.palette);
    let curve = |name, look, color, size| Trace {
        name,
        color,
        text: palette.text,
        points: shape.points.clone(),
        look,
        size,
        quiet: true,
    };
    let name = t.get("noise-density");
    let mut traces = match shape.bar {
        Some(width) => vec![curve(name, Look::Bars(width), palette.accent, 1.0)],
        None => vec![
            curve("", Look::Area, palette.accent.gamma_multiply(0.18), 0.0),
            curve(name, Look::Line, palette.accent, 2.0),
        ],
    };
    traces.push(Trace {
        name: t.get("noise-answers"),
        color: palette.second,
        text: palette.second_text,
        points: answers,
        look: Look::Ticks,
        size: 1.5,
        quiet: true,
    });
    traces
}

/// Draws the picture.
pub fn show(ui: &mut Ui, cx: &mut Cx<'_>, view: &View<'_>) {
    let t = cx.texts;
    let settings = view.settings;
    let Some(law) = view.law(settings.mechanism, settings.epsilon) else {
        ui.label(cx.palette.caption(t.get("explore-reading")));
        return;
    };
    let is_mode = settings.query == Query::Mode;
    let cell = view.cell();
    // Dates and times, and a true answer that is not read yet, are measured from the answer.
    let relative = units::is_temporal(view.dataset, settings) || cell.is_none();
    let truth = cell.map_or(0.0, |cell| cell.number);
    let origin = if relative { 0.0 } else { truth };
    // A choice knows its own values.
    let base = if matches!(law, Law::Choice(_)) {
        truth
    } else {
        origin
    };
    let Some(mut shape) = shape(&law, base, is_mode) else {
        ui.label(cx.palette.caption(t.get("explore-no-noise")));
        return;
    };
    shape
        .points
        .iter_mut()
        .for_each(|point| point[0] += origin - base);
    let answers = view.answers(settings.mechanism, settings.epsilon, 0..ANSWERS);
    let answers = answers
        .iter()
        .map(|answer| [answer - truth + origin, 0.0])
        .collect();
    let band = |share: f64, name| {
        let error = law.error_quantile(share).unwrap_or_default();
        (if is_mode { 0.0 } else { origin - error }, origin + error, name)
    };
    let mark = cell.map(|cell| t.with("noise-truth", [("value", format_value(&cell.shown).into())]));
    let unit = units::name(cx, view.dataset, settings);
    let unit = if relative && !is_mode {
        t.with("axis-distance", [("unit", unit.into())])
    } else {
        unit
    };
    let number = |value: f64| format::significant(value, 4);
    let axis = |range, unit| Axis {
        range,
        log: false,
        unit,
        write: &number,
        names: Vec::new(),
    };
    let low = if is_mode {
        -0.02 * shape.far
    } else {
        origin - shape.far
    };
    let heights = range_from_zero(shape.points.iter().map(|point| point[1]));
    let scene = Scene {
        id: "noise",
        name: t.get("picture-noise"),
        x: axis((low, origin + shape.far), &unit),
        y: axis(
            heights,
            t.get(if shape.bar.is_some() {
                "axis-chance"
            } else {
                "axis-density"
            }),
        ),
        bands: vec![band(0.95, t.get("band-95")), band(0.5, t.get("band-50"))],
        traces: traces(cx, &shape, answers),
        marks: mark
            .iter()
            .map(|name| Mark {
                x: origin,
                name,
                color: cx.palette.text,
            })
            .collect(),
        handle: None,
        steward: true,
    };
    let _ = scene.show(ui, cx);
}

/// A value as the window writes it.
pub fn format_value(value: &crate::release::Value) -> String {
    use crate::release::Value;
    match value {
        Value::Whole(number) if *number < 0 => format!("−{}", format::count(number.unsigned_abs())),
        Value::Whole(number) => format::count(number.unsigned_abs()),
        Value::Number(number) => format::significant(*number, 6),
        Value::Text(text) => text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_steps_are_bars_and_their_chances_add_up() {
        let noise = Noise::DiscreteLaplace { scale: 2.0 };
        let law = Law::Noise(NoiseSum::new(&[(1.0, noise)]).unwrap());
        let shape = shape(&law, 100.0, false).unwrap();
        let sum: f64 = shape.points.iter().map(|point| point[1]).sum();
        assert!(shape.bar.is_some() && (0.999..=1.0).contains(&sum), "{sum}");
        let peak = shape.points.iter().max_by(|a, b| a[1].total_cmp(&b[1])).unwrap();
        assert!((peak[0] - 100.0).abs() < 1e-9);
    }

    #[test]
    fn a_curve_is_the_density_around_the_answer() {
        let noise = Noise::Gaussian { sigma: 3.0 };
        let law = Law::Noise(NoiseSum::new(&[(2.0, noise)]).unwrap());
        let shape = shape(&law, 5.0, false).unwrap();
        assert!(shape.bar.is_none());
        for [x, y] in shape.points {
            let exact = Noise::Gaussian { sigma: 6.0 }.density(x - 5.0);
            assert!((y - exact).abs() < 1e-12, "{x}");
        }
    }
}
