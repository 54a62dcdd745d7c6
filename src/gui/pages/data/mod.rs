//! The table and its schema under review.

mod cells;
mod preview;
mod schema;

use eframe::egui::{self, Ui};

use crate::gui::context::Cx;
use crate::gui::jobs;
use crate::gui::theme::STEP;
use crate::gui::widgets;

/// What the page remembers between frames.
#[derive(Default)]
pub struct DataPage {
    preview: preview::Preview,
    schema: schema::SchemaEditor,
}

/// The least height of either half before the page scrolls.
const LEAST: f32 = 240.0;

impl DataPage {
    /// Draws the page; there is an open table.
    pub fn show(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let Some(dataset) = cx.snapshot.dataset.clone() else {
            return;
        };
        let height = ui.available_height();
        if height < 2.0 * LEAST {
            egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                for half in 0..2 {
                    ui.allocate_ui(egui::vec2(ui.available_width(), LEAST), |ui| {
                        ui.set_min_height(LEAST);
                        if half == 0 {
                            self.schema_card(ui, cx, &dataset);
                        } else {
                            self.preview_card(ui, cx, &dataset);
                        }
                    });
                    ui.add_space(STEP);
                }
            });
            return;
        }
        egui::Panel::bottom("preview")
            .resizable(true)
            .default_size(height * 0.42)
            .size_range(140.0..=(height - 200.0).max(141.0))
            .show_separator_line(false)
            .frame(egui::Frame::new())
            .show(ui, |ui| {
                ui.add_space(STEP);
                self.preview_card(ui, cx, &dataset);
            });
        egui::CentralPanel::no_frame().show(ui, |ui| self.schema_card(ui, cx, &dataset));
    }

    fn schema_card(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, dataset: &crate::engine::snapshot::Dataset) {
        widgets::card(ui, cx.palette, |ui| {
            ui.set_min_height(ui.available_height());
            if let Some(misfit) = &dataset.misfit {
                jobs::problem(ui, cx, misfit);
            }
            self.schema.show(ui, cx, dataset);
        });
    }

    fn preview_card(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, dataset: &crate::engine::snapshot::Dataset) {
        widgets::card(ui, cx.palette, |ui| {
            ui.set_min_height(ui.available_height());
            self.preview.show(ui, cx, dataset);
        });
    }
}
