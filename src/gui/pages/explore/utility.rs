//! Noise against utility: the error over ε at this δ, every mechanism that fits, the present ε to be dragged.

use eframe::egui::{Color32, Ui};

use super::model::{CurveStore, Model, View};
use super::settings::Measure;
use super::{EPSILONS, units};
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::plot::scene::{Axis, Handle, Look, Scene, Trace, log_range};
use crate::gui::theme::Palette;
use crate::num::{Delta, Epsilon};
use crate::privacy::mechanism::utility::{TEXTBOOK_PROOF_ENDS, textbook_gaussian_true_delta};
use crate::release::outlook::{Mechanism, SHOWN_EPSILONS};

/// The look of each mechanism's line: no two differ by colour alone.
pub fn look(palette: &Palette, mechanism: Mechanism) -> (Color32, Color32, Look) {
    match mechanism {
        Mechanism::DiscreteLaplace => (palette.ok, palette.ok, Look::Line),
        Mechanism::Laplace => (palette.ok, palette.ok, Look::Dotted),
        // These two never answer the same question.
        Mechanism::AnalyticGaussian | Mechanism::Exponential => (palette.accent, palette.accent, Look::Line),
        Mechanism::DiscreteGaussian => (palette.accent, palette.accent, Look::Dotted),
        Mechanism::TextbookGaussian => (palette.second, palette.second_text, Look::Line),
        Mechanism::RandomizedResponse => (palette.warn, palette.warn_text, Look::Line),
    }
}

/// Where the textbook's line is whole, dashed and red: its proof holds below ε = 1, and its promise until its true δ
/// passes the δ that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Textbook {
    /// Proven.
    Proven,
    /// Beyond the proof; the promise holds all the same.
    Unproven,
    /// The true δ is larger than the one asked for.
    Broken,
}

impl Textbook {
    /// How it is at ε and δ; broken where there is no δ.
    pub fn at(epsilon: f64, delta: f64) -> Self {
        let true_delta = Epsilon::new(epsilon)
            .ok()
            .zip(Delta::new(delta).ok())
            .and_then(|(epsilon, delta)| textbook_gaussian_true_delta(epsilon, delta).ok());
        if true_delta.is_none_or(|found| found > delta) {
            Self::Broken
        } else if epsilon >= TEXTBOOK_PROOF_ENDS {
            Self::Unproven
        } else {
            Self::Proven
        }
    }
}

/// Stretches of the textbook's curve that are of one kind, each with the first point of the next.
pub fn textbook_pieces(points: &[[f64; 2]], delta: f64) -> Vec<(Textbook, Vec<[f64; 2]>)> {
    let mut pieces: Vec<(Textbook, Vec<[f64; 2]>)> = Vec::new();
    for &point in points {
        let kind = Textbook::at(point[0], delta);
        match pieces.last_mut() {
            Some((last, piece)) if *last == kind => piece.push(point),
            Some((_, piece)) => {
                piece.push(point);
                pieces.push((kind, vec![point]));
            }
            None => pieces.push((kind, vec![point])),
        }
    }
    pieces
}

/// The lines of the mechanisms at this δ, the chosen one last and thickest.
fn lines<'a>(cx: &Cx<'a>, curves: &mut CurveStore, view: &View<'_>, names: &'a [String]) -> Vec<Trace<'a>> {
    let chosen = view.settings.mechanism;
    let mut order: Vec<(Mechanism, &String)> = view.outlook.mechanisms().zip(names).collect();
    order.sort_by_key(|(mechanism, _)| *mechanism == chosen);
    let mut traces = Vec::new();
    for (mechanism, name) in order {
        let points = Model::curve(curves, view, mechanism);
        let (color, text, look) = look(cx.palette, mechanism);
        let size = if mechanism == chosen { 2.5 } else { 1.25 };
        let trace = |color, text, look, points, quiet| Trace {
            name,
            color,
            text,
            points,
            look,
            size,
            quiet,
        };
        if mechanism != Mechanism::TextbookGaussian {
            traces.push(trace(color, text, look, points.to_vec(), false));
            continue;
        }
        for (at, (kind, piece)) in textbook_pieces(&points, view.settings.delta)
            .into_iter()
            .enumerate()
        {
            let (color, look) = match kind {
                Textbook::Proven => (color, Look::Line),
                Textbook::Unproven => (color, Look::Dashed),
                Textbook::Broken => (cx.palette.broken, Look::Line),
            };
            let mut piece = trace(color, text, look, piece, at > 0);
            if kind == Textbook::Broken {
                piece.size = 2.5;
            }
            traces.push(piece);
        }
    }
    traces
}

/// Draws the picture; the new ε when the mark was dragged.
pub fn show(ui: &mut Ui, cx: &mut Cx<'_>, view: &View<'_>, curves: &mut CurveStore) -> Option<f64> {
    let t = cx.texts;
    let names: Vec<String> = view
        .outlook
        .mechanisms()
        .map(|mechanism| t.get(&format!("mechanism-{}", mechanism.name())).to_owned())
        .collect();
    let settings = view.settings;
    let mut traces = lines(cx, curves, view, &names);
    let dots = Model::dots(curves, view);
    let within = settings.measure == Measure::Within;
    let unit = units::name(cx, view.dataset, settings);
    let y_unit = match settings.measure {
        Measure::Expected => t.with("axis-expected", [("unit", unit.as_str().into())]),
        Measure::RootMeanSquare => t.with("axis-rms", [("unit", unit.as_str().into())]),
        Measure::Within => t.with(
            "axis-within",
            [("a", format::significant(settings.tolerance, 3).into())],
        ),
    };
    let heights = traces
        .iter()
        .flat_map(|trace| trace.points.iter().map(|point| point[1]));
    let range = if within { (0.0, 1.0) } else { log_range(heights) };
    let (color, text, _) = look(cx.palette, settings.mechanism);
    let dot_name = t.get("utility-draws");
    traces.insert(
        0,
        Trace {
            name: dot_name,
            color: color.gamma_multiply(0.55),
            text,
            points: dots.to_vec(),
            look: Look::Dots,
            size: if within { 3.0 } else { 1.6 },
            quiet: true,
        },
    );
    let here = view.measure(settings.mechanism, settings.epsilon);
    let label = label(cx, view);
    let percent = |value: f64| format::percent(value);
    let number = |value: f64| format::significant(value, 3);
    let scene = Scene {
        id: "utility",
        name: t.get("picture-utility"),
        x: Axis {
            range: SHOWN_EPSILONS,
            log: true,
            unit: t.get("axis-epsilon"),
            write: &number,
            names: Vec::new(),
        },
        y: Axis {
            range,
            log: !within,
            unit: &y_unit,
            write: if within { &percent } else { &number },
            names: Vec::new(),
        },
        bands: Vec::new(),
        traces,
        marks: Vec::new(),
        handle: Some(Handle {
            name: t.get("utility-handle"),
            label: &label,
            value: settings.epsilon,
            at: here,
            stops: &EPSILONS,
        }),
        // Where the error itself tells of the rows, and in the dots, which are drawn around the rows' answer.
        steward: true,
    };
    scene.show(ui, cx)
}

/// What is written beside the mark: the present ε and its error.
fn label(cx: &Cx<'_>, view: &View<'_>) -> String {
    let settings = view.settings;
    let epsilon = format::significant(settings.epsilon, 3);
    match (
        settings.measure,
        view.measure(settings.mechanism, settings.epsilon),
    ) {
        (Measure::Within, Some(chance)) => cx.texts.with(
            "utility-here-within",
            [
                ("epsilon", epsilon.into()),
                ("chance", format::percent(chance).into()),
                ("a", format::significant(settings.tolerance, 3).into()),
            ],
        ),
        _ => match view.error(settings.mechanism, settings.epsilon) {
            Some(error) => cx.texts.with(
                "utility-here",
                [
                    ("epsilon", epsilon.into()),
                    ("error", format::significant(error, 3).into()),
                ],
            ),
            None => format!("ε = {epsilon}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_textbook_is_proven_below_one_and_broken_above_eight() {
        for (epsilon, kind) in [
            (0.5, Textbook::Proven),
            (1.0, Textbook::Unproven),
            (8.0, Textbook::Unproven),
            (9.0, Textbook::Broken),
        ] {
            assert_eq!(Textbook::at(epsilon, 1e-5), kind, "{epsilon}");
        }
        assert_eq!(Textbook::at(0.5, 0.0), Textbook::Broken);
    }

    #[test]
    fn pieces_of_the_textbook_meet() {
        let points: Vec<[f64; 2]> = super::super::model::epsilons()
            .map(|epsilon| [epsilon, 1.0 / epsilon])
            .collect();
        let pieces = textbook_pieces(&points, 1e-5);
        assert_eq!(pieces.len(), 3);
        for pair in pieces.windows(2) {
            assert_eq!(pair[0].1.last(), pair[1].1.first());
        }
        assert!((pieces[2].1[0][0] - 8.4).abs() < 0.9, "{:?}", pieces[2].1[0]);
    }
}
