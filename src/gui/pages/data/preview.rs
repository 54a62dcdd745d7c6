//! The rows as they are: for the steward only. Rows are fetched as they come into view.

use std::ops::Range;

use eframe::egui::{self, Align, Layout, Ui};
use egui_extras::{Column, TableBuilder};

use crate::engine::snapshot::Dataset;
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::theme::STEP;
use crate::gui::widgets;

/// The height of a row.
const ROW: f32 = 22.0;
/// How many rows are fetched around the first one that is missing.
const WINDOW: usize = 96;

/// The rows in view, as text.
#[derive(Default)]
pub struct Preview {
    generation: u64,
    range: Range<usize>,
    cells: Vec<Vec<Option<String>>>,
}

impl Preview {
    /// Draws the rows.
    pub fn show(&mut self, ui: &mut Ui, cx: &Cx<'_>, dataset: &Dataset) {
        let t = cx.texts;
        if self.generation != dataset.generation {
            *self = Self {
                generation: dataset.generation,
                ..Self::default()
            };
        }
        let names: Vec<&str> = dataset.table.column_names().collect();
        let rows = dataset.table.rows();
        egui::ScrollArea::horizontal()
            .id_salt("preview")
            .auto_shrink(false)
            .show(ui, |ui| {
                let height = ui.available_height() - ROW - STEP;
                widgets::quiet_table(ui);
                TableBuilder::new(ui)
                    .id_salt(("preview", dataset.generation))
                    .striped(false)
                    .resizable(true)
                    .auto_shrink(false)
                    .min_scrolled_height(height)
                    .max_scroll_height(height)
                    .cell_layout(Layout::left_to_right(Align::Center))
                    .column(Column::initial(64.0).at_least(40.0))
                    .columns(Column::initial(118.0).at_least(48.0).clip(true), names.len())
                    .header(ROW, |mut header| {
                        header.col(|ui| {
                            ui.label(cx.palette.caption(t.get("preview-row")));
                        });
                        for name in &names {
                            header.col(|ui| {
                                widgets::truncated(ui, cx.palette.caption(*name));
                            });
                        }
                    })
                    .body(|body| {
                        body.rows(ROW, rows, |mut row| {
                            let at = row.index();
                            row.col(|ui| {
                                widgets::row_line(ui, cx.palette);
                                ui.label(cx.palette.caption(format::count(at as u64 + 1)));
                            });
                            let cells = self.row(dataset, at);
                            for cell in cells {
                                row.col(|ui| widgets::cell(ui, cx, cell.as_deref()));
                            }
                        });
                    });
            });
    }

    fn row(&mut self, dataset: &Dataset, at: usize) -> &[Option<String>] {
        if !self.range.contains(&at) {
            let start = at.saturating_sub(WINDOW / 4);
            let end = (start + WINDOW).min(dataset.table.rows());
            self.cells = dataset.table.preview(start..end);
            self.range = start..end;
        }
        self.cells.get(at - self.range.start).map_or(&[], Vec::as_slice)
    }
}
