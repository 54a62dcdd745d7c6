//! A setting's row: its name, a number field with its unit, a slider and a reset.

use eframe::egui::{self, Align, DragValue, Layout, RichText, Ui, vec2};

use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::theme::SMALL;
use crate::gui::widgets::{Icon, Slider, icon_button};

/// A number that can be typed, dragged and reset.
///
/// The field takes any number, so that a value from a paper can be tried; what a plan cannot use, the plan
/// says. The slider spans what makes sense.
pub struct NumberRow<'a> {
    /// The setting's name.
    pub name: &'a str,
    /// What it is, in a sentence.
    pub help: &'a str,
    /// Its unit, shown behind the number; empty for pure numbers.
    pub unit: &'a str,
    /// The slider.
    pub slider: Slider<'a>,
    /// The value that reset returns to.
    pub default: f64,
    /// How the number is written.
    pub write: fn(f64) -> String,
}

impl NumberRow<'_> {
    /// Draws the row; true when the value changed.
    pub fn show(&self, ui: &mut Ui, cx: &Cx<'_>, value: &mut f64) -> bool {
        let before = *value;
        ui.spacing_mut().item_spacing.y = 1.0;
        ui.allocate_ui_with_layout(
            vec2(ui.available_width(), 24.0),
            Layout::right_to_left(Align::Center),
            |ui| {
                ui.spacing_mut().interact_size.y = 24.0;
                let field = DragValue::new(value)
                    .speed(0.0)
                    .custom_formatter(|number, _| (self.write)(number))
                    .custom_parser(format::parse)
                    .update_while_editing(false);
                let field = ui.add_sized(vec2(64.0, 24.0), field);
                let field = field.accessible_name(self.name);
                field.on_hover_text(self.help);
                if !self.unit.is_empty() {
                    ui.label(RichText::new(self.unit).size(SMALL).color(cx.palette.muted));
                }
                if (*value - self.default).abs() > 1e-12 * self.default.abs() {
                    let reset = cx.texts.with(
                        "setting-reset",
                        [
                            ("name", self.name.into()),
                            ("value", (self.write)(self.default).into()),
                        ],
                    );
                    ui.spacing_mut().interact_size.y = 20.0;
                    if icon_button(ui, Icon::Reset, &reset).clicked() {
                        *value = self.default;
                    }
                }
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    ui.add(egui::Label::new(self.name).truncate())
                        .on_hover_text(self.help);
                });
            },
        );
        self.slider.show(ui, cx.palette, value);
        if self.slider.integer {
            *value = value.round();
        }
        value.to_bits() != before.to_bits()
    }
}
