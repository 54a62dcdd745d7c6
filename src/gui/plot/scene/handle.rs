//! The mark across a picture that can be dragged: a slider as wide as the horizontal axis.

use std::sync::Arc;

use eframe::egui::{
    Align2, CursorIcon, FontId, Galley, Key, Painter, Rect, Sense, Stroke, Ui, WidgetInfo, accesskit, pos2,
    vec2,
};

use super::Axis;
use crate::gui::context::Cx;
use crate::gui::fonts::semibold;
use crate::gui::theme::SMALL;
use crate::gui::widgets;

/// How far from the mark the pointer still takes it.
const REACH: f32 = 9.0;
/// The share of the axis that an arrow key moves.
const KEY_SHARE: f64 = 0.02;

/// A marked value that can be dragged.
pub struct Handle<'a> {
    /// Its spoken name.
    pub name: &'a str,
    /// What is written beside it.
    pub label: &'a str,
    /// The value.
    pub value: f64,
    /// Where on the vertical axis its disc lies.
    pub at: Option<f64>,
    /// Values where it likes to rest.
    pub stops: &'a [f64],
}

/// Two significant digits, as a slider has them.
fn rounded(value: f64) -> f64 {
    let unit = 10f64.powf(1.0 - value.abs().max(f64::MIN_POSITIVE).log10().floor());
    (value * unit).round() / unit
}

impl Handle<'_> {
    /// Draws the mark; the new value when it was moved by pointer, arrow keys or assistive technology.
    pub(super) fn show(
        &self,
        ui: &mut Ui,
        cx: &Cx<'_>,
        frame: Rect,
        axis: &Axis<'_>,
        height: impl Fn(f64) -> f64,
    ) -> Option<f64> {
        let x = frame.left() + frame.width() * axis.share(self.value).clamp(0.0, 1.0) as f32;
        let hold = Rect::from_center_size(pos2(x, frame.center().y), vec2(2.0 * REACH, frame.height()));
        let id = ui.scope_id().with("handle");
        let response = ui.interact(hold, id, Sense::click_and_drag());
        let (low, high) = axis.range;
        let mut wanted = None;
        if response.dragged()
            && let Some(pointer) = response.interact_pointer_pos()
        {
            let share = f64::from((pointer.x - frame.left()) / frame.width()).clamp(0.0, 1.0);
            let near = |stop: &&f64| {
                let at = frame.left() + frame.width() * axis.share(**stop) as f32;
                (at - pointer.x).abs() <= 4.0
            };
            let stop = self.stops.iter().find(near).copied();
            wanted = Some(stop.unwrap_or_else(|| rounded(axis.value(share))));
            response.request_focus();
        }
        if response.clicked() {
            response.request_focus();
        }
        let (steps, set) = widgets::asked(ui, &response, (Key::ArrowLeft, Key::ArrowRight));
        wanted = set.or(wanted);
        if steps != 0.0 {
            wanted = Some(rounded(axis.value(axis.share(self.value) + steps * KEY_SHARE)));
        }
        let enabled = ui.is_enabled();
        response.widget_info(|| WidgetInfo::slider(enabled, self.value, self.name));
        ui.ctx().accesskit_node_builder(id, |node| {
            node.set_min_numeric_value(low);
            node.set_max_numeric_value(high);
            node.add_action(accesskit::Action::SetValue);
            node.add_action(accesskit::Action::Increment);
            node.add_action(accesskit::Action::Decrement);
        });
        self.draw(
            ui,
            cx,
            frame,
            x,
            &height,
            response.has_focus() || response.hovered(),
        );
        response.on_hover_cursor(CursorIcon::ResizeHorizontal);
        wanted
            .map(|value| value.clamp(low, high))
            .filter(|value| value.to_bits() != self.value.to_bits())
    }

    fn draw(&self, ui: &Ui, cx: &Cx<'_>, frame: Rect, x: f32, height: &impl Fn(f64) -> f64, lively: bool) {
        let palette = cx.palette;
        let painter = ui.painter();
        let width = if lively { 2.0 } else { 1.5 };
        painter.vline(x, frame.y_range(), Stroke::new(width, palette.text));
        let y = self
            .at
            .map(|at| frame.bottom() - frame.height() * height(at).clamp(0.0, 1.0) as f32);
        if let Some(y) = y {
            let ring = Stroke::new(if lively { 2.5 } else { 2.0 }, palette.accent);
            painter.circle(pos2(x, y), 6.0, palette.panel, ring);
        }
        let (rect, galley) = self.label(painter, cx, frame, (x, y));
        painter.rect_filled(rect.expand(2.0), 2.0, palette.panel.gamma_multiply(0.9));
        painter.galley(rect.min, galley, palette.text);
    }

    /// Where the label stands: beside the mark, on the side with more room, off the disc.
    pub(super) fn label(
        &self,
        painter: &Painter,
        cx: &Cx<'_>,
        frame: Rect,
        (x, y): (f32, Option<f32>),
    ) -> (Rect, Arc<Galley>) {
        let before = x > frame.center().x;
        let font = FontId::new(SMALL, semibold());
        let galley = painter.layout_no_wrap(self.label.to_owned(), font, cx.palette.text);
        let top = match y {
            Some(y) if y - frame.top() < 40.0 => y + 14.0,
            Some(y) => y - 14.0 - galley.size().y,
            None => frame.top() + 6.0,
        };
        let align = if before {
            Align2::RIGHT_TOP
        } else {
            Align2::LEFT_TOP
        };
        let anchor = pos2(if before { x - 10.0 } else { x + 10.0 }, top);
        (align.anchor_size(anchor, galley.size()), galley)
    }
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn a_dragged_value_has_two_digits() {
        for (value, wanted) in [(1.2345, 1.2), (0.00345, 0.0035), (123.0, 120.0)] {
            assert!(
                (rounded(value) - wanted).abs() < 1e-9 * wanted,
                "{}",
                rounded(value)
            );
        }
    }
}
