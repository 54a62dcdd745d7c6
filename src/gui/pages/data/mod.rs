//! The table and its schema under review.

mod cells;
mod form;
mod images;
mod preview;
mod schema;
mod spelling;
mod state;
mod unit;

pub use state::open_names;

use eframe::egui::{self, Align, Layout, Ui};

use crate::engine::event::Area;
use crate::gui::command::Action;
use crate::gui::context::{Cx, Intent};
use crate::gui::format;
use crate::gui::panels::Sized;
use crate::gui::problems;
use crate::gui::theme::STEP;
use crate::gui::widgets::{self, Icon};

/// What the page remembers between frames.
#[derive(Default)]
pub struct DataPage {
    preview: preview::Preview,
    images: images::Images,
    form: form::FormEditor,
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
        failed(ui, cx);
        version_open(ui, cx, &dataset);
        let folded = cx.settings.folded.rows;
        let height = ui.available_height();
        if folded {
            egui::Panel::bottom("rows folded")
                .resizable(false)
                .show_separator_line(false)
                .frame(egui::Frame::new())
                .show(ui, |ui| {
                    ui.add_space(STEP);
                    widgets::card(ui, cx.palette, |ui| self.head(ui, cx, &dataset));
                });
            egui::CentralPanel::no_frame().show(ui, |ui| self.schema_card(ui, cx, &dataset));
            return;
        }
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
        let panel = egui::Panel::bottom("preview")
            .show_separator_line(false)
            .frame(egui::Frame::new());
        // Images have one column at most, and need the room themselves.
        let share = if dataset.images.is_some() { 0.66 } else { 0.42 };
        let size = (height * share, 140.0..=(height - 200.0).max(141.0));
        Sized::Rows.show(ui, cx, panel, size, |ui, cx| {
            ui.add_space(STEP);
            self.preview_card(ui, cx, &dataset);
        });
        egui::CentralPanel::no_frame().show(ui, |ui| self.schema_card(ui, cx, &dataset));
    }

    fn schema_card(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, dataset: &crate::engine::snapshot::Dataset) {
        widgets::card(ui, cx.palette, |ui| {
            ui.set_min_height(ui.available_height());
            self.schema.show(ui, cx, dataset);
        });
    }

    fn preview_card(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, dataset: &crate::engine::snapshot::Dataset) {
        widgets::card(ui, cx.palette, |ui| {
            ui.set_min_height(ui.available_height());
            self.head(ui, cx, dataset);
            match &dataset.images {
                Some(images) => self.images.show(ui, cx, dataset, images),
                None => self.preview.show(ui, cx, dataset),
            }
        });
    }

    /// The head of the rows or images: what they are, how they were read, and what folds them.
    fn head(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, dataset: &crate::engine::snapshot::Dataset) {
        let t = cx.texts;
        let (title, count) = if dataset.images.is_some() {
            ("pictures-head", "pictures-count")
        } else {
            ("preview-title", "preview-rows")
        };
        ui.horizontal(|ui| {
            ui.label(cx.palette.strong(t.get(title)));
            let tip = t.get("steward-only-tip");
            widgets::badge(ui, t.get("steward-only"), cx.palette.warn_text, tip);
            match &dataset.images {
                Some(images) => self.images.form(ui, cx, dataset, images),
                None => self.form.show(ui, cx, dataset),
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                widgets::fold(ui, cx, Action::FoldRows, cx.settings.folded.rows);
                let rows = format::count(dataset.table.rows() as u64);
                let text = t.with(count, [("rows", rows.into())]);
                ui.label(cx.palette.caption(text));
            });
        });
    }
}

/// What could not be read or written, above the table that stays open.
fn failed(ui: &mut Ui, cx: &mut Cx<'_>) {
    let areas = [Area::Load, Area::Schema];
    if areas.iter().all(|area| cx.problems.of(*area).is_none()) {
        return;
    }
    widgets::card(ui, cx.palette, |ui| {
        ui.with_layout(Layout::right_to_left(Align::TOP), |ui| {
            if widgets::icon_button(ui, Icon::Close, cx.texts.get("problem-close")).clicked() {
                cx.intents.push(Intent::CloseProblems);
            }
            ui.vertical(|ui| {
                for area in areas {
                    problems::show(ui, cx, area);
                }
            });
        });
    });
    ui.add_space(STEP);
}

/// Says that nothing may be spent before it is known whose budget it is, and leads to the question.
fn version_open(ui: &mut Ui, cx: &mut Cx<'_>, dataset: &crate::engine::snapshot::Dataset) {
    let Some(newest) = dataset.may_be_version_of.first() else {
        return;
    };
    let t = cx.texts;
    widgets::card(ui, cx.palette, |ui| {
        ui.horizontal_wrapped(|ui| {
            widgets::dot(ui, cx.palette.warn);
            ui.label(t.with("version-open", [("name", newest.name.as_str().into())]));
            if ui.button(t.get("version-ask")).clicked() {
                cx.intents.push(Intent::AskVersion);
            }
        });
    });
    ui.add_space(STEP);
}
