//! A slider with a log scale and round stops.

use eframe::egui::{self, Key, Response, Sense, Stroke, Ui, WidgetInfo, accesskit, pos2, vec2};

use crate::gui::theme::Palette;

/// How near the pointer must come to a stop, in points, for the handle to rest on it.
const SNAP: f32 = 5.0;
/// The share of the rail that an arrow key moves.
const KEY_SHARE: f64 = 0.02;

/// A horizontal slider as wide as the space that is left.
pub struct Slider<'a> {
    /// Its spoken name.
    pub name: &'a str,
    /// The values at its ends, the lower first.
    pub range: (f64, f64),
    /// Whether equal distances are equal factors; both ends are positive then.
    pub logarithmic: bool,
    /// Whether only whole numbers count.
    pub integer: bool,
    /// Values where the handle likes to rest.
    pub stops: &'a [f64],
}

impl Slider<'_> {
    fn share(&self, value: f64) -> f64 {
        let (low, high) = self.range;
        let value = value.clamp(low, high);
        let share = if self.logarithmic {
            (value / low).ln() / (high / low).ln()
        } else {
            (value - low) / (high - low)
        };
        if share.is_finite() {
            share.clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    fn value(&self, share: f64) -> f64 {
        let (low, high) = self.range;
        let share = share.clamp(0.0, 1.0);
        let value = if self.logarithmic {
            low * (high / low).powf(share)
        } else {
            low + (high - low) * share
        };
        self.rounded(value)
    }

    /// Two significant digits on a log scale, whole numbers where only they count, a thousandth of the range
    /// otherwise.
    fn rounded(&self, value: f64) -> f64 {
        let (low, high) = self.range;
        let unit = if self.logarithmic {
            10f64.powf(value.abs().max(f64::MIN_POSITIVE).log10().floor() - 1.0)
        } else {
            10f64.powf(((high - low) / 1000.0).log10().ceil())
        };
        let unit = if self.integer { unit.max(1.0) } else { unit };
        let rounded = if unit >= 1.0 {
            (value / unit).round() * unit
        } else {
            // Dividing by the inverse keeps decimal fractions as short as they look.
            let inverse = (1.0 / unit).round();
            (value * inverse).round() / inverse
        };
        rounded.clamp(low, high)
    }

    fn next_stop(&self, value: f64, up: bool) -> Option<f64> {
        let beyond = |stop: &&f64| {
            if up {
                **stop > value * (1.0 + 1e-9)
            } else {
                **stop < value * (1.0 - 1e-9)
            }
        };
        if up {
            self.stops.iter().find(beyond).copied()
        } else {
            self.stops.iter().rev().find(beyond).copied()
        }
    }

    /// Draws the slider and moves `value` by pointer, arrow keys (page keys go from stop to stop) or assistive
    /// technology.
    pub fn show(&self, ui: &mut Ui, palette: &Palette, value: &mut f64) -> Response {
        let size = vec2(ui.available_width(), 16.0);
        let (rect, mut response) = ui.allocate_exact_size(size, Sense::click_and_drag());
        let radius = 6.0;
        let (left, right) = (rect.left() + radius + 1.0, rect.right() - radius - 1.0);
        let width = (right - left).max(1.0);
        let mut wanted = None;
        if let Some(pointer) = response.interact_pointer_pos() {
            let near = |stop: &&f64| (left + width * self.share(**stop) as f32 - pointer.x).abs() <= SNAP;
            let free = || self.value(f64::from((pointer.x - left) / width));
            wanted = Some(self.stops.iter().find(near).copied().unwrap_or_else(free));
            response.request_focus();
        }
        if response.has_focus() {
            wanted = self.by_keys(ui, &response, *value).or(wanted);
        }
        wanted = self.by_accessibility(ui, &response, *value).or(wanted);
        if let Some(wanted) = wanted
            && (wanted - *value).abs() > f64::EPSILON * wanted.abs()
        {
            *value = wanted;
            response.mark_changed();
        }
        let enabled = ui.is_enabled();
        response.widget_info(|| WidgetInfo::slider(enabled, *value, self.name));
        ui.ctx().accesskit_node_builder(response.id, |node| {
            node.set_min_numeric_value(self.range.0);
            node.set_max_numeric_value(self.range.1);
            node.add_action(accesskit::Action::SetValue);
            node.add_action(accesskit::Action::Increment);
            node.add_action(accesskit::Action::Decrement);
        });
        self.paint(ui, palette, &response, *value, (left, width, radius));
        response
    }

    fn by_keys(&self, ui: &Ui, response: &Response, value: f64) -> Option<f64> {
        ui.memory_mut(|memory| {
            memory.set_focus_lock_filter(
                response.id,
                egui::EventFilter {
                    horizontal_arrows: true,
                    ..egui::EventFilter::default()
                },
            );
        });
        let pressed = |key| ui.input(|input| input.num_presses(key)) as f64;
        let steps = pressed(Key::ArrowRight) - pressed(Key::ArrowLeft);
        if steps != 0.0 {
            let least = if self.integer { 1.0 } else { 0.0 };
            let moved = self.value(self.share(value) + steps * KEY_SHARE);
            return Some(if (moved - value).abs() < least {
                self.rounded(value + steps.signum())
            } else {
                moved
            });
        }
        if pressed(Key::PageUp) > 0.0 {
            return self.next_stop(value, true).or(Some(self.range.1));
        }
        if pressed(Key::PageDown) > 0.0 {
            return self.next_stop(value, false).or(Some(self.range.0));
        }
        None
    }

    fn by_accessibility(&self, ui: &Ui, response: &Response, value: f64) -> Option<f64> {
        ui.input(|input| {
            let steps = input.num_accesskit_action_requests(response.id, accesskit::Action::Increment) as f64
                - input.num_accesskit_action_requests(response.id, accesskit::Action::Decrement) as f64;
            let mut wanted = (steps != 0.0).then(|| self.value(self.share(value) + steps * KEY_SHARE));
            for request in input.accesskit_action_requests(response.id, accesskit::Action::SetValue) {
                if let Some(accesskit::ActionData::NumericValue(number)) = request.data {
                    wanted = Some(number.clamp(self.range.0, self.range.1));
                }
            }
            wanted
        })
    }

    fn paint(
        &self,
        ui: &Ui,
        palette: &Palette,
        response: &Response,
        value: f64,
        (left, width, radius): (f32, f32, f32),
    ) {
        let middle = response.rect.center().y;
        let at = left + width * self.share(value) as f32;
        let painter = ui.painter();
        let rail = |from: f32, to: f32| {
            egui::Rect::from_min_max(pos2(from, middle - 2.0), pos2(to.max(from), middle + 2.0))
        };
        painter.rect_filled(rail(left - radius, left + width + radius), 2.0, palette.line);
        painter.rect_filled(rail(left - radius, at), 2.0, palette.accent);
        for stop in self.stops {
            let x = left + width * self.share(*stop) as f32;
            painter.line_segment(
                [pos2(x, middle + 5.0), pos2(x, middle + 7.5)],
                Stroke::new(1.0, palette.muted),
            );
        }
        let wide = if response.has_focus() || response.hovered() {
            2.5
        } else {
            2.0
        };
        painter.circle(
            pos2(at, middle),
            radius,
            palette.panel,
            Stroke::new(wide, palette.accent),
        );
        if response.has_focus() {
            painter.circle_stroke(pos2(at, middle), radius + 2.5, Stroke::new(1.0, palette.text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epsilon() -> Slider<'static> {
        Slider {
            name: "ε",
            range: (0.1, 20.0),
            logarithmic: true,
            integer: false,
            stops: &[0.1, 0.5, 1.0, 2.0, 8.0],
        }
    }

    #[test]
    fn a_log_slider_rounds_to_two_digits_and_inverts() {
        let slider = epsilon();
        for value in [0.1, 0.25, 1.0, 3.3, 8.0, 20.0] {
            assert!(
                (slider.value(slider.share(value)) - value).abs() < 1e-9,
                "{value}"
            );
        }
        assert!(slider.share(1e9) > 0.999_999);
        assert!(slider.share(f64::NAN) < 1e-6);
    }

    #[test]
    fn page_keys_find_the_neighbouring_stops() {
        let slider = epsilon();
        assert_eq!(slider.next_stop(1.0, true), Some(2.0));
        assert_eq!(slider.next_stop(1.0, false), Some(0.5));
        assert_eq!(slider.next_stop(8.0, true), None);
    }

    #[test]
    fn whole_numbers_stay_whole() {
        let slider = Slider {
            name: "steps",
            range: (10.0, 20000.0),
            logarithmic: true,
            integer: true,
            stops: &[],
        };
        for step in 0..=50 {
            let value = slider.value(f64::from(step) / 50.0);
            assert!((value - value.round()).abs() < 1e-9, "{value}");
        }
    }
}
