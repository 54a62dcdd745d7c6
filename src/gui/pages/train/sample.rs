//! Synthetic rows as of now: free to look at, the run has paid for them.

use eframe::egui::Ui;

use crate::engine::snapshot::SampleRows;
use crate::gui::context::Cx;
use crate::gui::widgets;

/// Draws the rows.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, sample: &SampleRows, id: u64, height: f32) {
    if sample.rows.is_empty() {
        ui.label(cx.palette.caption(cx.texts.get("sample-none")));
        return;
    }
    let columns = sample.columns.len().max(1) as f32;
    let width = (ui.available_width() / columns).max(96.0) - 8.0;
    let names: Vec<&str> = sample.columns.iter().map(String::as_str).collect();
    let rows = sample.rows.as_slice();
    widgets::rows(ui, cx, ("sample", id), &names, (height, width), rows.len(), rows);
}
