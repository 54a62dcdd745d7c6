//! Values beside their noisy selves: a histogram's bins, or the value of each group.

use eframe::egui::Ui;

use super::model::View;
use super::units;
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::pages::explore::released::label_text;
use crate::gui::plot::scene::{Axis, Look, Scene, Trace, range_from_zero};
use crate::release::outlook::{CellTruth, Law, Mechanism, Outlook, Truth};

/// The most values side by side.
const MOST: usize = 48;
/// Letters of a value's name under the axis.
const LETTERS: usize = 12;

/// What is drawn: the values, the noise they get, and by which mechanism.
struct Drawn<'a> {
    outlook: &'a Outlook,
    truth: &'a Truth,
    mechanism: Mechanism,
    /// Whether these are the values of the question itself.
    own: bool,
}

fn drawn<'a>(view: &View<'a>) -> Option<Drawn<'a>> {
    let own = view.truth().filter(|truth| truth.cells.len() > 1);
    let (outlook, truth) = match own {
        Some(truth) => (view.outlook.as_ref(), truth),
        None => (view.beside?, view.seen?.histogram.for_steward().as_ref()?),
    };
    let chosen = view.settings.mechanism;
    // A choice has no histogram of its own: it is shown as it would be released.
    let fits = outlook.mechanisms().any(|known| known == chosen);
    Some(Drawn {
        outlook,
        truth,
        mechanism: if fits {
            chosen
        } else {
            outlook.mechanisms().next()?
        },
        own: own.is_some(),
    })
}

/// A noisy value for each of these cells.
fn noisy(view: &View<'_>, drawn: &Drawn<'_>) -> Vec<f64> {
    let (Some(seen), Some(budget)) = (view.seen, view.budget(view.settings.epsilon)) else {
        return Vec::new();
    };
    let parts = drawn
        .outlook
        .noise(drawn.mechanism, budget.0, budget.1)
        .unwrap_or_default();
    let answer = |(at, cell): (usize, &CellTruth)| {
        let law = if parts.is_empty() || drawn.mechanism == Mechanism::RandomizedResponse {
            drawn
                .outlook
                .law(drawn.mechanism, budget, Some(cell), Some(drawn.truth))
                .ok()
        } else {
            None::<Law<'_>>
        };
        let answer = drawn
            .outlook
            .answer(&parts, law.as_ref(), cell, seen.draws.of(at));
        answer.unwrap_or(cell.number)
    };
    drawn
        .truth
        .cells
        .iter()
        .take(MOST)
        .enumerate()
        .map(answer)
        .collect()
}

fn short(name: &str) -> String {
    if name.chars().count() <= LETTERS {
        return name.to_owned();
    }
    name.chars()
        .take(LETTERS - 1)
        .chain(std::iter::once('…'))
        .collect()
}

/// The name of a cell: its bin, its group, or both.
pub fn cell_name(cx: &Cx<'_>, cell: &CellTruth) -> String {
    let of = |label: &Option<crate::release::Label>| label.as_ref().map(|label| label_text(cx, label));
    match (of(&cell.group), of(&cell.bin)) {
        (Some(group), Some(bin)) => format!("{group} · {bin}"),
        (Some(name), None) | (None, Some(name)) => name,
        (None, None) => String::new(),
    }
}

/// Draws the picture.
pub fn show(ui: &mut Ui, cx: &mut Cx<'_>, view: &View<'_>) {
    let t = cx.texts;
    let Some(drawn) = drawn(view) else {
        let key = if view.seen.is_some() {
            "histogram-none"
        } else {
            "explore-reading"
        };
        ui.add(eframe::egui::Label::new(cx.palette.caption(t.get(key))).wrap());
        return;
    };
    let cells: Vec<&CellTruth> = drawn.truth.cells.iter().take(MOST).collect();
    let noisy = noisy(view, &drawn);
    let bars = |name, color, text, values: Vec<f64>, shift: f64| Trace {
        name,
        color,
        text,
        points: values
            .into_iter()
            .enumerate()
            .map(|(at, value)| [at as f64 + shift, value])
            .collect(),
        look: Look::Bars(0.38),
        size: 1.0,
        quiet: true,
    };
    let palette = cx.palette;
    let exact: Vec<f64> = cells.iter().map(|cell| cell.number).collect();
    let range = range_from_zero(exact.iter().chain(&noisy).copied());
    let names = cells
        .iter()
        .enumerate()
        .map(|(at, cell)| (at as f64, short(&cell_name(cx, cell))))
        .collect();
    let unit = if drawn.own {
        units::name(cx, view.dataset, view.settings)
    } else {
        t.get("unit-in-rows").to_owned()
    };
    let mechanism = t.get(&format!("mechanism-{}", drawn.mechanism.name())).to_owned();
    legend(ui, cx, &mechanism, drawn.truth.cells.len());
    let number = |value: f64| format::significant(value, 4);
    let scene = Scene {
        id: "histogram",
        name: t.get("picture-histogram"),
        x: Axis {
            range: (-0.6, cells.len() as f64 - 0.4),
            log: false,
            unit: view
                .settings
                .column
                .as_deref()
                .or(view.settings.by.as_deref())
                .unwrap_or_default(),
            write: &number,
            names,
        },
        y: Axis {
            range,
            log: false,
            unit: &unit,
            write: &number,
            names: Vec::new(),
        },
        bands: Vec::new(),
        traces: vec![
            bars(t.get("histogram-true"), palette.real, palette.muted, exact, -0.2),
            bars(
                t.get("histogram-noisy"),
                palette.accent,
                palette.accent,
                noisy,
                0.2,
            ),
        ],
        marks: Vec::new(),
        handle: None,
        steward: true,
    };
    let _ = scene.show(ui, cx);
}

/// Which bars are which, and by which noise.
fn legend(ui: &mut Ui, cx: &Cx<'_>, mechanism: &str, cells: usize) {
    let t = cx.texts;
    ui.horizontal_wrapped(|ui| {
        for (color, text) in [
            (cx.palette.real, t.get("histogram-true").to_owned()),
            (
                cx.palette.accent,
                t.with("histogram-by", [("mechanism", mechanism.into())]),
            ),
        ] {
            crate::gui::widgets::dot(ui, color);
            ui.label(cx.palette.caption(text));
        }
        if cells > MOST {
            let more = format::count((cells - MOST) as u64);
            ui.label(
                cx.palette
                    .caption(t.with("released-more", [("count", more.into())])),
            );
        }
    });
}
