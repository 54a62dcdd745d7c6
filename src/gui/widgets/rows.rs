//! Rows of a table as text, drawn as they come into view.

use std::fmt::Debug;
use std::hash::Hash;

use eframe::egui::{self, Align, Layout, Rangef, Stroke, TextStyle, TextWrapMode, Ui, WidgetText, pos2};
use egui_extras::{Column, TableBuilder};

use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::theme::STEP;
use crate::gui::widgets;

/// The height of a row.
const ROW: f32 = 22.0;
/// The width of the rows' numbers.
const NUMBERS: f32 = 64.0;

/// Where the rows come from.
pub trait RowText {
    /// The cells of a row; an absent one is a missing value.
    fn cells(&mut self, at: usize) -> &[Option<String>];
}

impl RowText for &[Vec<Option<String>>] {
    fn cells(&mut self, at: usize) -> &[Option<String>] {
        self.get(at).map_or(&[], Vec::as_slice)
    }
}

/// Draws the first `count` rows with their numbers, `height` points high, each column at first `width` wide.
///
/// Rows scroll past faster than any other part of the window changes, so a cell is painted and is no widget of its
/// own: that would cost a response, a copy of the style and a text made twice. What assistive technology reads is
/// the number of the row, which says all its cells.
pub fn rows(
    ui: &mut Ui,
    cx: &Cx<'_>,
    salt: impl Hash + Debug + Copy,
    names: &[&str],
    (height, width): (f32, f32),
    count: usize,
    mut text: impl RowText,
) {
    egui::ScrollArea::horizontal()
        .id_salt(("rows", salt))
        .auto_shrink(false)
        .max_height(height)
        .show(ui, |ui| {
            // What a scroll bar leaves: a table that is too high by a point would push its panel open frame by frame.
            let height = ui.available_height().min(height) - ROW - STEP;
            widgets::quiet_table(ui);
            TableBuilder::new(ui)
                .id_salt(("rows", salt))
                .striped(false)
                .resizable(true)
                .auto_shrink(false)
                .min_scrolled_height(height)
                .max_scroll_height(height)
                .cell_layout(Layout::left_to_right(Align::Center))
                .column(Column::initial(NUMBERS).at_least(40.0))
                .columns(Column::initial(width).at_least(48.0), names.len())
                .header(ROW, |mut header| {
                    header.col(|ui| {
                        ui.label(cx.palette.caption(cx.texts.get("preview-row")));
                    });
                    for name in names {
                        header.col(|ui| {
                            widgets::truncated(ui, cx.palette.caption(*name));
                        });
                    }
                })
                .body(|body| {
                    body.rows(ROW, count, |mut row| {
                        let at = row.index();
                        let cells = text.cells(at);
                        row.col(|ui| number(ui, cx, at, cells));
                        for text in cells {
                            row.col(|ui| cell(ui, cx, text.as_deref()));
                        }
                    });
                });
        });
}

/// The row's number, and the line above the whole row.
fn number(ui: &mut Ui, cx: &Cx<'_>, at: usize, cells: &[Option<String>]) {
    let line = Rangef::new(ui.max_rect().left(), ui.clip_rect().right());
    ui.painter()
        .hline(line, ui.max_rect().top(), Stroke::new(1.0, cx.palette.line));
    let count = format::count(at as u64 + 1);
    let label = ui.label(cx.palette.caption(count.as_str()));
    // Only run where somebody listens.
    ui.ctx().accesskit_node_builder(label.id, |node| {
        let missing = cx.texts.get("cell-missing");
        let cells: Vec<&str> = cells
            .iter()
            .map(|cell| cell.as_deref().unwrap_or(missing))
            .collect();
        node.set_value(format!("{count}: {}", cells.join(", ")));
    });
}

fn cell(ui: &mut Ui, cx: &Cx<'_>, text: Option<&str>) {
    let (text, color) = match text {
        Some(text) => (WidgetText::from(text), cx.palette.text),
        None => (
            WidgetText::from(cx.palette.caption(cx.texts.get("cell-missing"))),
            cx.palette.muted,
        ),
    };
    let rect = ui.max_rect();
    let galley = text.into_galley(ui, Some(TextWrapMode::Truncate), rect.width(), TextStyle::Body);
    let at = pos2(rect.left(), rect.center().y - 0.5 * galley.size().y);
    let cut = galley.elided.then(|| galley.text().to_owned());
    ui.painter().galley(at, galley, color);
    if let Some(whole) = cut {
        ui.response().on_hover_text(whole);
    }
}
