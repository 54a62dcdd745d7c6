//! The private statistics of this session, the latest first: values, intervals, and how they are to be read.

use eframe::egui::{self, Grid, RichText, Ui};

use crate::engine::release_note;
use crate::engine::snapshot::Released;
use crate::gui::context::{Cx, Intent};
use crate::gui::format;
use crate::gui::theme::{SMALL, STEP};
use crate::gui::widgets;
use crate::release::{Interval, Label, Purchase, ReleaseRequest, Value};

/// Values drawn of one release; the rest is counted.
const MOST: usize = 60;

/// Draws the list.
pub fn show(ui: &mut Ui, cx: &mut Cx<'_>) {
    let t = cx.texts;
    if cx.snapshot.releases.is_empty() {
        ui.add(egui::Label::new(cx.palette.caption(t.get("released-none"))).wrap());
        return;
    }
    let save = ui
        .button(t.get("released-save"))
        .on_hover_text(t.get("released-save-tip"));
    if save.clicked() {
        cx.intents.push(Intent::SaveReleases);
    }
    ui.add_space(STEP);
    for (at, released) in cx.snapshot.releases.iter().enumerate().rev() {
        ui.push_id(("released", at), |ui| one(ui, cx, released));
        ui.add_space(STEP);
    }
}

/// What was asked, in the window's language.
pub fn asked(cx: &Cx<'_>, request: &ReleaseRequest) -> String {
    let t = cx.texts;
    let key = format!("query-{}", request.query.name());
    let column = request.column.as_deref().unwrap_or(t.get("release-all-rows"));
    let query = match request.query {
        crate::release::Query::Quantile { share } => format!("{} {share}", t.get(&key)),
        _ => t.get(&key).to_owned(),
    };
    match &request.by {
        Some(by) => t.with(
            "released-by",
            [
                ("query", query.into()),
                ("column", column.into()),
                ("by", by.as_str().into()),
            ],
        ),
        None => t.with(
            "released-of",
            [("query", query.into()), ("column", column.into())],
        ),
    }
}

fn one(ui: &mut Ui, cx: &Cx<'_>, released: &Released) {
    let t = cx.texts;
    ui.horizontal_wrapped(|ui| {
        ui.label(cx.palette.strong(asked(cx, &released.request)));
        let charge = t.with(
            "released-charge",
            [
                ("epsilon", format::significant(released.epsilon, 3).into()),
                ("delta", format::delta(released.delta).into()),
                ("entry", released.ledger_entry.to_string().into()),
            ],
        );
        ui.label(cx.palette.caption(format!("{} · {charge}", released.dataset)));
    });
    if released.seed.is_some() {
        ui.label(RichText::new(t.get("seed-warning")).color(cx.palette.warn_text));
    }
    values(ui, cx, released);
    if let Some(purchase) = &released.answer.purchase {
        bought(ui, cx, purchase, released.schema_changed);
    }
    if !released.unprotected.is_empty() {
        let names = released.unprotected.join(", ");
        let text = t.with("released-unprotected", [("names", names.into())]);
        let text = RichText::new(text).size(SMALL).color(cx.palette.warn_text);
        ui.add(egui::Label::new(text).wrap());
    }
    let notes: Vec<String> = released
        .answer
        .notes
        .iter()
        .map(|note| t.say(&release_note(note)))
        .collect();
    if !notes.is_empty() {
        let line = notes.join(t.get("between-notes"));
        ui.add(egui::Label::new(cx.palette.caption(line)).wrap());
    }
    widgets::rule(ui, cx.palette);
}

fn values(ui: &mut Ui, cx: &Cx<'_>, released: &Released) {
    let t = cx.texts;
    let cells = &released.answer.cells;
    let has_group = cells.iter().any(|cell| cell.group.is_some());
    let has_bin = cells.iter().any(|cell| cell.bin.is_some());
    Grid::new("values").spacing([2.0 * STEP, 2.0]).show(ui, |ui| {
        let head = |ui: &mut Ui, key: &str| ui.label(cx.palette.caption(cx.texts.get(key)));
        if has_group {
            head(ui, "released-group");
        }
        if has_bin {
            head(ui, "released-bin");
        }
        head(ui, "released-value");
        head(ui, "released-interval");
        ui.end_row();
        for cell in cells.iter().take(MOST) {
            for (shown, name) in [(has_group, &cell.group), (has_bin, &cell.bin)] {
                if shown {
                    ui.label(
                        name.as_ref()
                            .map_or_else(String::new, |name| label_text(cx, name)),
                    );
                }
            }
            ui.label(RichText::new(value(&cell.value)).strong());
            let interval = cell.interval.as_ref();
            ui.label(interval.map_or_else(|| "—".to_owned(), |interval| within(cx, interval)));
            ui.end_row();
        }
    });
    if cells.len() > MOST {
        let more = format::count((cells.len() - MOST) as u64);
        ui.label(
            cx.palette
                .caption(t.with("released-more", [("count", more.into())])),
        );
    }
}

fn value(value: &Value) -> String {
    match value {
        Value::Whole(number) if *number < 0 => format!("−{}", format::count(number.unsigned_abs())),
        Value::Whole(number) => format::count(number.unsigned_abs()),
        Value::Number(number) => format::significant(*number, 6),
        Value::Text(text) => text.clone(),
    }
}

/// A group or bin in the window's language.
pub fn label_text(cx: &Cx<'_>, label: &Label) -> String {
    match label {
        Label::Value(text) => text.clone(),
        Label::Below(from, to) => cx.texts.with(
            "released-below",
            [("from", value(from).into()), ("to", value(to).into())],
        ),
        Label::UpTo(from, to) => cx.texts.with(
            "released-up-to",
            [("from", value(from).into()), ("to", value(to).into())],
        ),
        Label::Missing => cx.texts.get("cell-missing").to_owned(),
    }
}

fn within(cx: &Cx<'_>, interval: &Interval) -> String {
    match interval {
        Interval::Between(low, high) => format!("{} – {}", value(low), value(high)),
        Interval::Rank(off) => {
            let off = format::significant(*off, 3);
            cx.texts.with("released-rank", [("off", off.into())])
        }
        Interval::Frequency(off) => {
            let off = format::significant(*off, 3);
            cx.texts.with("released-frequency", [("off", off.into())])
        }
    }
}

fn bought(ui: &mut Ui, cx: &Cx<'_>, purchase: &Purchase, kept: bool) {
    let t = cx.texts;
    let what = match purchase {
        Purchase::Bounds { column, lower, upper } => t.with(
            "bought-bounds",
            [
                ("column", column.as_str().into()),
                ("lower", lower.to_string().into()),
                ("upper", upper.to_string().into()),
            ],
        ),
        Purchase::Domain { column, values } => t.with(
            "bought-domain",
            [("column", column.as_str().into()), ("count", values.len().into())],
        ),
        Purchase::Persons(persons) => t.with("bought-persons", [("persons", format::count(*persons).into())]),
        Purchase::Rows(rows) => t.with("bought-rows", [("rows", format::count(*rows).into())]),
    };
    ui.horizontal_wrapped(|ui| {
        let (color, key) = if kept {
            (cx.palette.accent, "source-bought")
        } else {
            (cx.palette.warn_text, "bought-not-kept")
        };
        widgets::badge(ui, t.get(key), color, t.get("source-bought-tip"));
        ui.label(what);
    });
}
