//! Colours, type and spacing: the one place that knows them.
//!
//! The named colours are the design's. Some texts stand on darker grounds than the design's muted grey or
//! ochre can carry at a contrast of 4.5 to 1, so those uses have their own, darker or lighter, entries; a test
//! holds every pair that the window uses to that ratio.

use eframe::egui::{
    self, Color32, CornerRadius, FontFamily, FontId, Margin, RichText, Shadow, Stroke, Style, TextStyle,
    Visuals, style::HandleShape, style::WidgetVisuals, vec2,
};

use crate::engine::settings::Theme;
use crate::gui::fonts::semibold;

/// The step of the spacing grid, in points.
pub const STEP: f32 = 8.0;
/// The corner radius of cards.
pub const CARD_RADIUS: u8 = 8;
/// Size of muted captions.
pub const SMALL: f32 = 11.0;
/// Size of text.
pub const BODY: f32 = 13.0;
/// Size of titles.
pub const TITLE: f32 = 15.0;
/// The least height of what can be pressed.
pub const CONTROL: f32 = 28.0;

/// Every colour of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    /// Whether this is the dark theme.
    pub dark: bool,
    /// Behind everything.
    pub ground: Color32,
    /// Cards, bars and forms.
    pub panel: Color32,
    /// The rail on the left.
    pub rail: Color32,
    /// Borders, rules and grids.
    pub line: Color32,
    /// Text.
    pub text: Color32,
    /// Captions on a panel.
    pub muted: Color32,
    /// Captions on the ground or the rail.
    pub muted_on_ground: Color32,
    /// The one accent; in plots it is privacy.
    pub accent: Color32,
    /// Text on the accent.
    pub on_accent: Color32,
    /// The accent's paler companion: reserved budget, selected rows.
    pub accent_soft: Color32,
    /// The second series; in plots it is synthetic.
    pub second: Color32,
    /// Text in the second colour.
    pub second_text: Color32,
    /// Done, verified.
    pub ok: Color32,
    /// Needs attention.
    pub warn: Color32,
    /// Text in the warning colour.
    pub warn_text: Color32,
    /// A promise that does not hold, in plots.
    pub broken: Color32,
    /// Real rows in plots.
    pub real: Color32,
    /// Other runs that are drawn over the one in view.
    pub overlaid: [Color32; 5],
}

const fn rgb(hex: u32) -> Color32 {
    Color32::from_rgb((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

impl Palette {
    /// The warm light theme.
    pub const LIGHT: Self = Self {
        dark: false,
        ground: rgb(0xF6F5F1),
        panel: rgb(0xFFFFFF),
        rail: rgb(0xEFEDE6),
        line: rgb(0xDDD9CF),
        text: rgb(0x23221F),
        muted: rgb(0x78746A),
        muted_on_ground: rgb(0x6A665D),
        accent: rgb(0x2F5D8C),
        on_accent: rgb(0xFFFFFF),
        accent_soft: rgb(0x9DB3CB),
        second: rgb(0xC4622D),
        second_text: rgb(0xB05424),
        ok: rgb(0x3C7A57),
        warn: rgb(0xB7791F),
        warn_text: rgb(0x8F5C12),
        broken: rgb(0xC62828),
        real: rgb(0xD3D0CA),
        overlaid: [
            rgb(0x6B4C9A),
            rgb(0x2F704C),
            rgb(0xA83A6B),
            rgb(0x6E6614),
            rgb(0x1B6F7A),
        ],
    };

    /// The dark theme.
    pub const DARK: Self = Self {
        dark: true,
        ground: rgb(0x16171A),
        panel: rgb(0x1E2024),
        rail: rgb(0x191A1E),
        line: rgb(0x30333A),
        text: rgb(0xE8E6E1),
        muted: rgb(0x9A968C),
        muted_on_ground: rgb(0x9A968C),
        accent: rgb(0x7FB0E0),
        on_accent: rgb(0x16171A),
        accent_soft: rgb(0x4A6178),
        second: rgb(0xE59866),
        second_text: rgb(0xE59866),
        ok: rgb(0x7CC29B),
        warn: rgb(0xE0B050),
        warn_text: rgb(0xE0B050),
        broken: rgb(0xF2665E),
        real: rgb(0x565961),
        overlaid: [
            rgb(0xB99AE0),
            rgb(0x7CC29B),
            rgb(0xE08FB0),
            rgb(0xC8C26A),
            rgb(0x6FC7CF),
        ],
    };

    /// The colours of a theme.
    pub const fn of(theme: Theme) -> &'static Self {
        match theme {
            Theme::Light => &Self::LIGHT,
            Theme::Dark => &Self::DARK,
        }
    }

    /// A card's frame: panel ground, a line around it, no shadow.
    pub fn card(&self) -> egui::Frame {
        egui::Frame::new()
            .fill(self.panel)
            .stroke(Stroke::new(1.0, self.line))
            .corner_radius(CARD_RADIUS)
            .inner_margin(Margin::symmetric(12, 10))
    }

    /// A title: 15 points, semibold.
    pub fn title(&self, text: impl Into<String>) -> RichText {
        RichText::new(text)
            .font(FontId::new(TITLE, semibold()))
            .color(self.text)
    }

    /// A card's or section's heading: text size, semibold.
    pub fn strong(&self, text: impl Into<String>) -> RichText {
        RichText::new(text)
            .font(FontId::new(BODY, semibold()))
            .color(self.text)
    }

    /// A caption on a panel.
    pub fn caption(&self, text: impl Into<String>) -> RichText {
        RichText::new(text).size(SMALL).color(self.muted)
    }

    /// A caption on the ground or the rail.
    pub fn caption_on_ground(&self, text: impl Into<String>) -> RichText {
        RichText::new(text).size(SMALL).color(self.muted_on_ground)
    }

    fn widget(&self, fill: Color32, stroke: Color32, width: f32) -> WidgetVisuals {
        WidgetVisuals {
            bg_fill: fill,
            weak_bg_fill: fill,
            bg_stroke: Stroke::new(width, stroke),
            corner_radius: CornerRadius::same(6),
            fg_stroke: Stroke::new(1.0, self.text),
            expansion: 0.0,
        }
    }

    fn visuals(&self) -> Visuals {
        let mut visuals = if self.dark {
            Visuals::dark()
        } else {
            Visuals::light()
        };
        let widgets = &mut visuals.widgets;
        widgets.noninteractive = self.widget(self.panel, self.line, 1.0);
        widgets.inactive = self.widget(self.panel, self.line, 1.0);
        widgets.hovered = self.widget(self.rail, self.muted, 1.0);
        widgets.active = self.widget(self.rail, self.accent, 1.5);
        widgets.open = self.widget(self.rail, self.accent, 1.0);
        visuals.selection.bg_fill = self.accent;
        visuals.selection.stroke = Stroke::new(1.0, self.on_accent);
        visuals.hyperlink_color = self.accent;
        visuals.faint_bg_color = self.ground;
        visuals.extreme_bg_color = self.ground;
        visuals.text_edit_bg_color = Some(self.ground);
        visuals.code_bg_color = self.ground;
        visuals.warn_fg_color = self.warn_text;
        visuals.error_fg_color = self.second_text;
        visuals.weak_text_color = Some(self.muted);
        visuals.window_fill = self.panel;
        visuals.window_stroke = Stroke::new(1.0, self.line);
        visuals.window_corner_radius = CornerRadius::same(CARD_RADIUS);
        visuals.menu_corner_radius = CornerRadius::same(CARD_RADIUS);
        visuals.window_shadow = Shadow::NONE;
        visuals.popup_shadow = Shadow::NONE;
        visuals.panel_fill = self.ground;
        visuals.slider_trailing_fill = true;
        visuals.handle_shape = HandleShape::Circle;
        visuals.striped = false;
        visuals.indent_has_left_vline = false;
        visuals.text_cursor.stroke = Stroke::new(1.5, self.accent);
        // A blinking cursor would repaint an idle window twice a second.
        visuals.text_cursor.blink = false;
        visuals
    }

    fn style(&self) -> Style {
        let text = |size| FontId::new(size, FontFamily::Proportional);
        let mut style = Style {
            text_styles: [
                (TextStyle::Small, text(SMALL)),
                (TextStyle::Body, text(BODY)),
                (TextStyle::Button, text(BODY)),
                (TextStyle::Monospace, FontId::new(BODY, FontFamily::Monospace)),
                (TextStyle::Heading, FontId::new(TITLE, semibold())),
            ]
            .into(),
            visuals: self.visuals(),
            ..Style::default()
        };
        let spacing = &mut style.spacing;
        spacing.item_spacing = vec2(STEP, STEP);
        spacing.button_padding = vec2(10.0, 5.0);
        spacing.interact_size = vec2(40.0, CONTROL);
        spacing.window_margin = Margin::same(16);
        spacing.menu_margin = Margin::same(6);
        spacing.combo_width = 96.0;
        spacing.combo_height = 320.0;
        spacing.tooltip_width = 320.0;
        spacing.icon_width = 16.0;
        spacing.icon_width_inner = 9.0;
        spacing.icon_spacing = 6.0;
        spacing.scroll = egui::style::ScrollStyle::thin();
        style.interaction.selectable_labels = false;
        style.interaction.tooltip_delay = 0.4;
        style.animation_time = 0.0;
        style.scroll_animation = egui::style::ScrollAnimation::none();
        style
    }
}

/// Gives the whole window this theme.
pub fn apply(ctx: &egui::Context, theme: Theme) {
    let palette = Palette::of(theme);
    let egui_theme = if palette.dark {
        egui::Theme::Dark
    } else {
        egui::Theme::Light
    };
    ctx.set_theme(egui_theme);
    ctx.set_style_of(egui_theme, palette.style());
    ctx.options_mut(|options| options.zoom_with_keyboard = false);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(color: Color32) -> f64 {
        let linear = |channel: u8| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.03928 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * linear(color.r()) + 0.7152 * linear(color.g()) + 0.0722 * linear(color.b())
    }

    fn contrast(one: Color32, other: Color32) -> f64 {
        let (a, b) = (luminance(one), luminance(other));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn every_text_reaches_a_contrast_of_four_and_a_half_on_its_ground() {
        for palette in [Palette::LIGHT, Palette::DARK] {
            let pairs = [
                ("text on ground", palette.text, palette.ground),
                ("text on panel", palette.text, palette.panel),
                ("text on rail", palette.text, palette.rail),
                ("caption on panel", palette.muted, palette.panel),
                ("caption on ground", palette.muted_on_ground, palette.ground),
                ("caption on rail", palette.muted_on_ground, palette.rail),
                ("accent on panel", palette.accent, palette.panel),
                ("text on accent", palette.on_accent, palette.accent),
                ("second on panel", palette.second_text, palette.panel),
                ("second on ground", palette.second_text, palette.ground),
                ("ok on panel", palette.ok, palette.panel),
                ("warning on panel", palette.warn_text, palette.panel),
                ("warning on ground", palette.warn_text, palette.ground),
            ];
            for (name, text, ground) in pairs {
                let ratio = contrast(text, ground);
                assert!(ratio >= 4.5, "{name}, dark {}: {ratio:.2}", palette.dark);
            }
        }
    }

    #[test]
    fn lines_of_plots_stand_out_from_their_card() {
        for palette in [Palette::LIGHT, Palette::DARK] {
            for color in [palette.accent, palette.second, palette.warn, palette.ok] {
                assert!(contrast(color, palette.panel) >= 3.0, "dark {}", palette.dark);
            }
        }
    }
}
