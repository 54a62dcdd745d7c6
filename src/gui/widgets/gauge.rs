//! Bars: progress, and the budget with what is spent, reserved and left.

use eframe::egui::{Rect, Response, Sense, Ui, WidgetInfo, accesskit::Role, pos2, vec2};

use crate::gui::theme::Palette;

/// A progress bar with a spoken name, of this width.
pub fn bar(ui: &mut Ui, palette: &Palette, share: Option<f32>, width: f32, name: &str) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(width, 7.0), Sense::hover());
    let enabled = ui.is_enabled();
    response.widget_info(|| WidgetInfo::labeled(Role::ProgressIndicator, enabled, name));
    ui.ctx().accesskit_node_builder(response.id, |node| {
        if let Some(share) = share {
            node.set_numeric_value(f64::from(share));
            node.set_min_numeric_value(0.0);
            node.set_max_numeric_value(1.0);
        }
    });
    ui.painter().rect_filled(rect, 3.5, palette.line);
    // Work whose length is unknown fills a third in the paler colour instead of moving: nothing repaints for it.
    let (share, color) = match share {
        Some(share) => (share.clamp(0.0, 1.0), palette.accent),
        None => (0.33, palette.accent_soft),
    };
    if share > 0.0 {
        let filled = Rect::from_min_max(rect.min, pos2(rect.left() + rect.width() * share, rect.bottom()));
        ui.painter().rect_filled(filled, 3.5, color);
    }
    response
}

/// The budget's bar: spent in the accent, reserved paler, the rest empty.
pub fn budget(ui: &mut Ui, palette: &Palette, spent: f32, reserved: f32, width: f32, name: &str) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(width, 7.0), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Meter, true, name));
    ui.ctx().accesskit_node_builder(response.id, |node| {
        node.set_numeric_value(f64::from(spent + reserved));
        node.set_min_numeric_value(0.0);
        node.set_max_numeric_value(1.0);
    });
    let painter = ui.painter();
    painter.rect_filled(rect, 3.5, palette.line);
    let at = |share: f32| rect.left() + rect.width() * share.clamp(0.0, 1.0);
    if spent + reserved > 0.0 {
        painter.rect_filled(
            Rect::from_min_max(rect.min, pos2(at(spent + reserved), rect.bottom())),
            3.5,
            palette.accent_soft,
        );
    }
    if spent > 0.0 {
        painter.rect_filled(
            Rect::from_min_max(rect.min, pos2(at(spent), rect.bottom())),
            3.5,
            palette.accent,
        );
    }
    response
}
