//! Synthetic rows as of now: free to look at, the run has paid for them.

use eframe::egui::{self, Align, Layout, Ui};
use egui_extras::{Column, TableBuilder};

use crate::engine::snapshot::SampleRows;
use crate::gui::context::Cx;
use crate::gui::widgets;

/// The height of a row.
const ROW: f32 = 22.0;

/// Draws the rows.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, sample: &SampleRows, id: u64, height: f32) {
    if sample.rows.is_empty() {
        ui.label(cx.palette.caption(cx.texts.get("sample-none")));
        return;
    }
    egui::ScrollArea::horizontal()
        .id_salt(("sample", id))
        .auto_shrink(false)
        .max_height(height)
        .show(ui, |ui| {
            let width = (ui.available_width() / sample.columns.len().max(1) as f32).max(96.0) - 8.0;
            widgets::quiet_table(ui);
            TableBuilder::new(ui)
                .id_salt(("sample", id))
                .auto_shrink(false)
                .resizable(true)
                .min_scrolled_height(height)
                .max_scroll_height(height)
                .cell_layout(Layout::left_to_right(Align::Center))
                .columns(
                    Column::initial(width).at_least(48.0).clip(true),
                    sample.columns.len(),
                )
                .header(ROW, |mut header| {
                    for name in &sample.columns {
                        header.col(|ui| {
                            widgets::truncated(ui, cx.palette.caption(name));
                        });
                    }
                })
                .body(|body| {
                    body.rows(ROW, sample.rows.len(), |mut row| {
                        let at = row.index();
                        for cell in &sample.rows[at] {
                            row.col(|ui| widgets::cell(ui, cx, cell.as_deref()));
                        }
                    });
                });
        });
}
