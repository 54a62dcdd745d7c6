//! The window's own widgets: what egui has not, or draws otherwise than the design.

mod asked;
mod gauge;
mod images;
pub mod number;
mod rows;
mod slider;

use eframe::egui::{
    self, Color32, FontId, Response, RichText, Sense, Stroke, Ui, WidgetInfo, WidgetText, accesskit::Role,
    vec2,
};

pub use asked::asked;
pub use gauge::{bar, budget};
pub use images::{ClassGrid, ClassImages, ImageCaption, ImageStrip, PictureWall};
pub use number::{NumberField, NumberRow};
pub use rows::{RowText, rows};
pub use slider::Slider;

use crate::gui::command::Action;
use crate::gui::context::Cx;
use crate::gui::fonts::semibold;
use crate::gui::theme::{BODY, CONTROL, Palette, SMALL, STEP};

/// The page's one button in the accent colour.
pub fn accent_button(ui: &mut Ui, palette: &Palette, label: &str) -> Response {
    let text = RichText::new(label)
        .font(FontId::new(BODY, semibold()))
        .color(palette.on_accent);
    let button = ui.scope(|ui| {
        let widgets = &mut ui.visuals_mut().widgets;
        for state in [&mut widgets.inactive, &mut widgets.hovered, &mut widgets.active] {
            state.weak_bg_fill = palette.accent;
            state.bg_stroke = Stroke::new(1.0, palette.accent);
        }
        widgets.hovered.bg_stroke = Stroke::new(1.0, palette.text);
        ui.spacing_mut().button_padding = vec2(14.0, 6.0);
        ui.button(text)
    });
    let button = button.inner;
    if button.has_focus() {
        // A ring on the accent itself would hardly show: it stands around the button.
        let ring = Stroke::new(2.0, palette.text);
        let around = button.rect.expand(2.0);
        ui.painter()
            .rect_stroke(around, 7.0, ring, egui::StrokeKind::Outside);
    }
    button
}

/// A button that reads as text in the accent colour, for steps aside.
pub fn quiet_button(ui: &mut Ui, palette: &Palette, label: &str) -> Response {
    ui.add(egui::Button::new(RichText::new(label).color(palette.accent)).frame_when_inactive(false))
}

/// The width of a plain button with this label, its frame included.
pub fn button_width(ui: &Ui, label: &str) -> f32 {
    let text = WidgetText::from(label).into_galley(
        ui,
        Some(egui::TextWrapMode::Extend),
        f32::INFINITY,
        egui::TextStyle::Button,
    );
    // A line of the frame on either side.
    text.size().x.ceil() + 2.0 * (ui.spacing().button_padding.x + 1.0)
}

/// A word that chooses what a card shows; the chosen one is underlined.
pub fn tab(ui: &mut Ui, palette: &Palette, chosen: bool, label: &str) -> Response {
    let color = if chosen { palette.text } else { palette.muted };
    let text = RichText::new(label)
        .font(FontId::new(BODY, semibold()))
        .color(color);
    let response = ui.add(egui::Button::new(text).frame_when_inactive(false));
    let enabled = ui.is_enabled();
    response.widget_info(|| WidgetInfo::selected(Role::Button, enabled, chosen, label));
    if chosen {
        let rect = response.rect;
        let inside = rect.x_range().shrink(ui.spacing().button_padding.x);
        ui.painter()
            .hline(inside, rect.bottom() - 3.0, Stroke::new(2.0, palette.accent));
    }
    response
}

/// The outlined mark of what only the steward may see.
pub fn badge(ui: &mut Ui, text: &str, color: Color32, tip: &str) -> Response {
    let galley = ui
        .painter()
        .layout_no_wrap(text.to_owned(), FontId::new(SMALL, semibold()), color);
    let size = galley.size() + vec2(10.0, 3.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    ui.painter()
        .rect_stroke(rect, 4.0, Stroke::new(1.0, color), egui::StrokeKind::Inside);
    ui.painter()
        .galley(rect.center() - galley.size() / 2.0, galley, color);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
    response.on_hover_text(tip)
}

/// A filled dot as wide as a letter.
pub fn dot(ui: &mut Ui, color: Color32) {
    let (rect, _) = ui.allocate_exact_size(vec2(8.0, BODY), Sense::hover());
    ui.painter().circle_filled(rect.center(), 3.5, color);
}

/// A thin rule with a step of space on both sides.
pub fn rule(ui: &mut Ui, palette: &Palette) {
    ui.add_space(STEP / 2.0);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), 1.0), Sense::hover());
    ui.painter().rect_filled(rect, 0.0, palette.line);
    ui.add_space(STEP / 2.0);
}

/// A square button with a drawn sign and a spoken name.
pub fn icon_button(ui: &mut Ui, icon: Icon, name: &str) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(CONTROL, CONTROL), Sense::click());
    let enabled = ui.is_enabled();
    response.widget_info(|| WidgetInfo::labeled(Role::Button, enabled, name));
    let visuals = ui.style().interact(&response);
    let painter = ui.painter();
    painter.rect(
        rect,
        visuals.corner_radius,
        visuals.weak_bg_fill,
        visuals.bg_stroke,
        egui::StrokeKind::Inside,
    );
    let color = visuals.text_color();
    let center = rect.center();
    match icon {
        Icon::Pause => {
            for x in [-3.0, 3.0] {
                let bar = egui::Rect::from_center_size(center + vec2(x, 0.0), vec2(2.5, 10.0));
                painter.rect_filled(bar, 0.5, color);
            }
        }
        Icon::Resume => {
            let points = vec![
                center + vec2(-3.5, -5.0),
                center + vec2(5.0, 0.0),
                center + vec2(-3.5, 5.0),
            ];
            painter.add(egui::Shape::convex_polygon(points, color, Stroke::NONE));
        }
        Icon::Stop => {
            painter.rect_filled(egui::Rect::from_center_size(center, vec2(9.0, 9.0)), 1.0, color);
        }
        Icon::Close => {
            for (from, to) in [((-4.0, -4.0), (4.0, 4.0)), ((-4.0, 4.0), (4.0, -4.0))] {
                painter.line_segment(
                    [center + vec2(from.0, from.1), center + vec2(to.0, to.1)],
                    Stroke::new(1.5, color),
                );
            }
        }
        Icon::Reset => {
            let arc: Vec<_> = (0..=14)
                .map(|index| {
                    let angle = -0.6 + index as f32 * 0.37;
                    center + vec2(angle.cos(), angle.sin()) * 5.0
                })
                .collect();
            let tip = arc[0];
            painter.add(egui::Shape::line(arc, Stroke::new(1.5, color)));
            let head = vec![
                tip + vec2(-3.5, -1.0),
                tip + vec2(1.5, -4.0),
                tip + vec2(2.0, 2.0),
            ];
            painter.add(egui::Shape::convex_polygon(head, color, Stroke::NONE));
        }
        Icon::Fold(way) => {
            let (along, across) = match way {
                Way::Left => (vec2(-1.0, 0.0), vec2(0.0, 1.0)),
                Way::Right => (vec2(1.0, 0.0), vec2(0.0, 1.0)),
                Way::Up => (vec2(0.0, -1.0), vec2(1.0, 0.0)),
                Way::Down => (vec2(0.0, 1.0), vec2(1.0, 0.0)),
            };
            let points = vec![
                center - along * 2.5 - across * 4.5,
                center + along * 2.5,
                center - along * 2.5 + across * 4.5,
            ];
            painter.add(egui::Shape::line(points, Stroke::new(1.5, color)));
        }
        Icon::Theme => {
            painter.circle_stroke(center, 6.0, Stroke::new(1.5, color));
            let half: Vec<_> = (0..=16)
                .map(|index| {
                    let angle = std::f32::consts::PI * (0.5 + index as f32 / 16.0);
                    center + vec2(angle.cos(), angle.sin()) * 6.0
                })
                .collect();
            painter.add(egui::Shape::convex_polygon(half, color, Stroke::NONE));
        }
    }
    response.on_hover_text(name)
}

/// A sign drawn by hand, so that it needs no glyph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icon {
    /// Two bars.
    Pause,
    /// A triangle.
    Resume,
    /// A square.
    Stop,
    /// A cross.
    Close,
    /// A turning arrow.
    Reset,
    /// A half-filled circle.
    Theme,
    /// An angle that points where a panel goes.
    Fold(Way),
}

/// Where a panel goes when it is folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To the left.
    Left,
    /// To the right.
    Right,
    /// Upwards.
    Up,
    /// Downwards.
    Down,
}

/// The button that folds a panel or unfolds it.
pub fn fold(ui: &mut Ui, cx: &mut Cx<'_>, action: Action, folded: bool) {
    let way = match (action, folded) {
        (Action::FoldRows, false) => Way::Down,
        (Action::FoldRows, true) => Way::Up,
        (_, false) => Way::Left,
        (_, true) => Way::Right,
    };
    let name = cx.texts.get(action.described().key);
    let tip = cx.tip(ui, action);
    let button = ui.scope(|ui| {
        ui.visuals_mut().widgets.inactive.bg_stroke = Stroke::NONE;
        ui.visuals_mut().widgets.inactive.weak_bg_fill = Color32::TRANSPARENT;
        icon_button(ui, Icon::Fold(way), name)
    });
    if button.inner.on_hover_text(tip).clicked() {
        cx.act(action);
    }
}

/// A label that ends in dots where the space ends and shows its whole text on hover.
pub fn truncated(ui: &mut Ui, text: impl Into<WidgetText>) -> Response {
    ui.add(egui::Label::new(text).truncate())
}

/// The small sign of a box that opens, in place of egui's large triangle.
pub fn arrow(ui: &Ui, rect: egui::Rect, _: &egui::style::WidgetVisuals, _: bool) {
    let center = rect.center();
    let points = [
        center + vec2(-3.5, -1.5),
        center + vec2(0.0, 2.0),
        center + vec2(3.5, -1.5),
    ];
    let color = ui.visuals().weak_text_color();
    ui.painter()
        .add(egui::Shape::line(points.to_vec(), Stroke::new(1.5, color)));
}

/// The line above a row, drawn cell by cell.
pub fn row_line(ui: &Ui, palette: &Palette) {
    let rect = ui.max_rect();
    let reach = ui.spacing().item_spacing.x;
    // A cell clips what it draws; the line reaches over the gap to the next one.
    let mut painter = ui.painter().clone();
    painter.set_clip_rect(ui.clip_rect().expand2(vec2(reach, 0.0)));
    painter.hline(
        egui::Rangef::new(rect.left(), rect.right() + reach),
        rect.top(),
        Stroke::new(1.0, palette.line),
    );
}

/// A table without lines between its columns: those show only under the pointer, where they can be dragged.
pub fn quiet_table(ui: &mut Ui) {
    ui.visuals_mut().widgets.noninteractive.bg_stroke = Stroke::NONE;
}

/// Draws `add_contents` in a card as wide as what is left.
pub fn card<R>(ui: &mut Ui, palette: &Palette, add_contents: impl FnOnce(&mut Ui) -> R) -> R {
    palette
        .card()
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            add_contents(ui)
        })
        .inner
}

/// A card's head: its title with what it is on hover, the steward's mark if it needs one, and a caption on the right.
pub fn card_head(ui: &mut Ui, cx: &Cx<'_>, (title, tip): (&str, &str), steward: bool, caption: &str) {
    ui.spacing_mut().interact_size.y = 18.0;
    ui.horizontal(|ui| {
        let title = ui.label(cx.palette.strong(title));
        if !tip.is_empty() {
            title.on_hover_text(tip);
        }
        if steward {
            let tip = cx.texts.get("steward-only-tip");
            badge(ui, cx.texts.get("steward-only"), cx.palette.warn_text, tip);
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            truncated(ui, cx.palette.caption(caption)).on_hover_text(caption);
        });
    });
}
