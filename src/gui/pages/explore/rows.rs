//! The error against the number of rows, at this ε and δ.

use eframe::egui::Ui;

use super::model::View;
use super::units;
use super::utility::look;
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::plot::scene::{Axis, Look, Mark, Scene, Trace, log_range};
use crate::release::Query;
use crate::release::outlook::{CellTruth, Mechanism};

/// The numbers of rows that are shown.
const ROWS: (f64, f64) = (10.0, 1e7);
/// Points of a curve.
const POINTS: usize = 49;

/// How a statistic's error depends on the number of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// The error stays, so its share of the rows falls as 1/n: counts and sums.
    Share,
    /// The error itself falls as 1/n: means and variances.
    Falls,
    /// Each person's own noise: the share falls as 1/√n.
    Response,
    /// A bound on the rank that a choice is off by, as a share: 1/n.
    Rank,
}

fn shape(query: Query, mechanism: Mechanism) -> Shape {
    match (query, mechanism) {
        (_, Mechanism::RandomizedResponse) => Shape::Response,
        (_, Mechanism::Exponential) => Shape::Rank,
        (Query::Mean | Query::Variance, _) => Shape::Falls,
        _ => Shape::Share,
    }
}

/// The error at n rows, from the error at the rows that there are.
fn at_rows(shape: Shape, error: f64, known: f64, rows: f64) -> f64 {
    match shape {
        Shape::Share | Shape::Rank => error / rows,
        Shape::Falls => error * known / rows,
        Shape::Response => error * (rows / known).sqrt() / rows,
    }
}

/// The curve of one mechanism.
fn curve(view: &View<'_>, mechanism: Mechanism, known: f64) -> Vec<[f64; 2]> {
    let settings = view.settings;
    let shape = shape(settings.query, mechanism);
    let error = match shape {
        Shape::Rank => view.outlook.rank_error(settings.epsilon),
        // An error per value or row that is there: of a group, of the group's.
        _ => view
            .law(mechanism, settings.epsilon)
            .map(|law| law.expected_error()),
    };
    let Some(error) = error.filter(|error| error.is_finite()) else {
        return Vec::new();
    };
    let (low, high) = ROWS;
    (0..POINTS)
        .map(|at| low * (high / low).powf(at as f64 / (POINTS - 1) as f64))
        .map(|rows| [rows, at_rows(shape, error, known, rows)])
        .collect()
}

/// Draws the picture.
pub fn show(ui: &mut Ui, cx: &mut Cx<'_>, view: &View<'_>) {
    let t = cx.texts;
    let settings = view.settings;
    if view.outlook.depends_on_rows(settings.mechanism) && view.seen.is_none() {
        ui.label(cx.palette.caption(t.get("explore-reading")));
        return;
    }
    let rows = view.dataset.table.rows() as f64;
    // Means are over the values of their cell, which may be fewer than the rows.
    let known = view.cell().and_then(CellTruth::count).unwrap_or(rows).max(1.0);
    let names: Vec<(Mechanism, String)> = view
        .outlook
        .mechanisms()
        .map(|mechanism| {
            (
                mechanism,
                t.get(&format!("mechanism-{}", mechanism.name())).to_owned(),
            )
        })
        .collect();
    let traces: Vec<Trace<'_>> = names
        .iter()
        .map(|(mechanism, name)| {
            let (color, text, look) = look(cx.palette, *mechanism);
            let chosen = *mechanism == settings.mechanism;
            Trace {
                name,
                color,
                text,
                points: curve(view, *mechanism, known),
                look: if look == Look::Dotted {
                    Look::Dotted
                } else {
                    Look::Line
                },
                size: if chosen { 2.5 } else { 1.25 },
                quiet: false,
            }
        })
        .collect();
    let kind = shape(settings.query, settings.mechanism);
    let unit = units::name(cx, view.dataset, settings);
    let y_unit = match kind {
        Shape::Falls => t.with("axis-expected", [("unit", unit.into())]),
        Shape::Rank => t.get("axis-rank-share").to_owned(),
        Shape::Share if settings.query == Query::Sum => t.get("axis-per-row").to_owned(),
        Shape::Share | Shape::Response => t.get("axis-row-share").to_owned(),
    };
    let count = |value: f64| format::count(value.round() as u64);
    let number = |value: f64| format::significant(value, 3);
    let here = t.with("rows-here", [("rows", format::count(known as u64).into())]);
    let scene = Scene {
        id: "rows",
        name: t.get("picture-rows"),
        x: Axis {
            range: ROWS,
            log: true,
            unit: t.get("axis-rows"),
            write: &count,
            names: Vec::new(),
        },
        y: Axis {
            range: log_range(
                traces
                    .iter()
                    .flat_map(|trace| trace.points.iter().map(|point| point[1])),
            ),
            log: true,
            unit: &y_unit,
            write: &number,
            names: Vec::new(),
        },
        bands: Vec::new(),
        traces,
        marks: vec![Mark {
            x: known,
            name: &here,
            color: cx.palette.muted,
        }],
        handle: None,
        steward: true,
    };
    let _ = scene.show(ui, cx);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_fall_with_the_rows_as_they_must() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        close(at_rows(Shape::Share, 5.0, 1000.0, 100.0), 0.05);
        close(at_rows(Shape::Falls, 5.0, 1000.0, 100.0), 50.0);
        close(at_rows(Shape::Falls, 5.0, 1000.0, 1000.0), 5.0);
        close(at_rows(Shape::Response, 50.0, 10_000.0, 10_000.0), 0.005);
        close(at_rows(Shape::Response, 50.0, 10_000.0, 100.0), 0.05);
    }
}
