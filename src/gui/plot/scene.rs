//! Pictures on axes of any scale: lines, dots, bars, bands and marks, one of which can be dragged.
//!
//! [`super::Chart`] draws what grows with the steps of a run and can be panned; a scene draws a closed form whole, again
//! in every frame, in the window's look: a light grid, names on the lines, units on the axes.

mod export;
mod handle;
mod paint;

use eframe::egui::{
    Color32, Pos2, Rect, Response, Sense, Ui, UiBuilder, WidgetInfo, accesskit::Role, pos2, vec2,
};

pub use handle::Handle;

use crate::gui::context::{Cx, Intent};

/// Space for the vertical axis's numbers.
const LEFT: f32 = 58.0;
/// Space for the horizontal axis's numbers and unit.
const BELOW: f32 = 34.0;
/// Space above and beside.
const AIR: f32 = 10.0;

/// An axis: its ends, how equal distances are read, its unit.
pub struct Axis<'a> {
    /// The ends, the lower first. Both are positive on a log scale.
    pub range: (f64, f64),
    /// Whether equal distances are equal factors.
    pub log: bool,
    /// What it measures, at its end.
    pub unit: &'a str,
    /// How its values are written.
    pub write: &'a dyn Fn(f64) -> String,
    /// Names at places of their own, in place of round values.
    pub names: Vec<(f64, String)>,
}

impl Axis<'_> {
    /// Where a value lies, 0 at the lower end and 1 at the upper.
    fn share(&self, value: f64) -> f64 {
        let (low, high) = self.range;
        let share = if self.log {
            (value.max(low * 1e-6) / low).ln() / (high / low).ln()
        } else {
            (value - low) / (high - low)
        };
        if share.is_finite() { share } else { 0.0 }
    }

    /// The value at a share.
    fn value(&self, share: f64) -> f64 {
        let (low, high) = self.range;
        if self.log {
            low * (high / low).powf(share)
        } else {
            low + share * (high - low)
        }
    }

    /// Where grid lines lie, with what is written there.
    fn marks(&self, count: f64) -> Vec<(f64, String)> {
        if !self.names.is_empty() {
            return self.names.clone();
        }
        let (low, high) = self.range;
        if !self.log {
            let marks = super::marks(self.range, count);
            // One number alone is no scale: in a low picture they stand closer.
            let marks = if marks.len() < 2 {
                super::marks(self.range, 3.0)
            } else {
                marks
            };
            return marks
                .iter()
                .map(|mark| (mark.value, (self.write)(mark.value)))
                .collect();
        }
        let (first, last) = (low.log10().ceil() as i32, high.log10().floor() as i32);
        let decades = (last - first + 1).max(1);
        // All powers of ten where there is room, else every second or third; where there are few, 2 and 5 as well.
        let stride = (f64::from(decades) / count).ceil().max(1.0) as i32;
        let parts: &[f64] = if decades <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        (first - 1..=last)
            .filter(|power| power.rem_euclid(stride) == 0)
            .flat_map(|power| parts.iter().map(move |part| part * 10f64.powi(power)))
            .filter(|value| (low * 0.999..=high * 1.001).contains(value))
            .map(|value| (value, (self.write)(value)))
            .collect()
    }
}

/// How a trace is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Look {
    /// An unbroken line.
    Line,
    /// A dashed line.
    Dashed,
    /// A dotted line.
    Dotted,
    /// Filled dots.
    Dots,
    /// Larger discs with a ring.
    Discs,
    /// The area under a line.
    Area,
    /// Short strokes at the foot.
    Ticks,
    /// Bars from the foot, so wide in the unit of the horizontal axis.
    Bars(f64),
}

impl Look {
    /// The name in a file of points.
    const fn name(self) -> &'static str {
        match self {
            Self::Line | Self::Dashed | Self::Dotted => "line",
            Self::Dots | Self::Discs => "dots",
            Self::Area => "area",
            Self::Ticks => "ticks",
            Self::Bars(_) => "bars",
        }
    }

    /// Whether its points are joined.
    const fn is_line(self) -> bool {
        matches!(self, Self::Line | Self::Dashed | Self::Dotted)
    }
}

/// Points that belong together.
pub struct Trace<'a> {
    /// Its name; written on the picture unless `quiet`.
    pub name: &'a str,
    /// Its colour.
    pub color: Color32,
    /// The colour of its name.
    pub text: Color32,
    /// The points.
    pub points: Vec<[f64; 2]>,
    /// How it is drawn.
    pub look: Look,
    /// How thick a line is, how large a dot.
    pub size: f32,
    /// Whether its name is left out of the picture (a legend or another trace says it).
    pub quiet: bool,
}

/// A value that is marked across the picture.
pub struct Mark<'a> {
    /// The value on the horizontal axis.
    pub x: f64,
    /// What it is.
    pub name: &'a str,
    /// Its colour.
    pub color: Color32,
}

/// A picture.
pub struct Scene<'a> {
    /// Tells pictures apart; the name of a saved file.
    pub id: &'static str,
    /// What is drawn, for screen readers and as the title of a saved file.
    pub name: &'a str,
    /// The horizontal axis.
    pub x: Axis<'a>,
    /// The vertical axis.
    pub y: Axis<'a>,
    /// Stretches of the horizontal axis, shaded, the wider first.
    pub bands: Vec<(f64, f64, &'a str)>,
    /// What is drawn, the hindmost first.
    pub traces: Vec<Trace<'a>>,
    /// Marked values.
    pub marks: Vec<Mark<'a>>,
    /// The mark that can be dragged.
    pub handle: Option<Handle<'a>>,
    /// Whether it is drawn from private rows without noise.
    pub steward: bool,
}

/// A picture in its place on the screen.
pub struct Placed<'s> {
    scene: &'s Scene<'s>,
    frame: Rect,
}

impl Placed<'_> {
    /// Where a point lies.
    pub fn at(&self, point: [f64; 2]) -> Pos2 {
        self.scene.place(self.frame, point)
    }

    /// The value on the vertical axis at this height, within its ends.
    pub fn value_at(&self, y: f32) -> f64 {
        let share = f64::from((self.frame.bottom() - y) / self.frame.height());
        self.scene.y.value(share.clamp(0.0, 1.0))
    }
}

impl Scene<'_> {
    /// Draws the picture in the space that is left; the new value when its handle was moved.
    pub fn show(self, ui: &mut Ui, cx: &mut Cx<'_>) -> Option<f64> {
        self.show_under(ui, cx, |_, _, _| ()).0
    }

    /// Draws the picture in the space that is left, and `over` it what can be grasped; the new value when its handle
    /// was moved, and what came of `over` if there was room.
    pub fn show_under<R>(
        self,
        ui: &mut Ui,
        cx: &mut Cx<'_>,
        over: impl FnOnce(&mut Ui, &mut Cx<'_>, &Placed<'_>) -> R,
    ) -> (Option<f64>, Option<R>) {
        let size = vec2(ui.available_width(), ui.available_height().max(120.0));
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        let enabled = ui.is_enabled();
        response.widget_info(|| WidgetInfo::labeled(Role::Figure, enabled, self.name));
        let frame = Rect::from_min_max(
            pos2(rect.left() + LEFT, rect.top() + AIR),
            pos2(rect.right() - AIR, rect.bottom() - BELOW),
        );
        if frame.width() < 20.0 || frame.height() < 20.0 {
            return (None, None);
        }
        self.paint(ui, cx, frame);
        // By a right click, or the menu key on the focused picture.
        response.context_menu(|ui| self.offer(ui, cx, rect));
        let moved = self.handle.as_ref().and_then(|handle| {
            let mut inside = ui.new_child(UiBuilder::new().id_salt(self.id).max_rect(frame));
            handle.show(&mut inside, cx, frame, &self.x, |y| self.y.share(y))
        });
        if response.hovered() && moved.is_none() {
            self.read(ui, &response, frame);
        }
        let placed = Placed { scene: &self, frame };
        let mut inside = ui.new_child(UiBuilder::new().id_salt((self.id, "over")).max_rect(frame));
        let over = over(&mut inside, cx, &placed);
        (moved, Some(over))
    }

    /// Where a point lies on the screen.
    fn place(&self, frame: Rect, [x, y]: [f64; 2]) -> Pos2 {
        pos2(
            frame.left() + frame.width() * self.x.share(x).clamp(-0.5, 1.5) as f32,
            frame.bottom() - frame.height() * self.y.share(y).clamp(-0.5, 1.5) as f32,
        )
    }

    /// Says what lies under the pointer.
    fn read(&self, ui: &Ui, response: &Response, frame: Rect) {
        let Some(pointer) = ui
            .input(|input| input.pointer.hover_pos())
            .filter(|at| frame.contains(*at))
        else {
            return;
        };
        let named = self.traces.iter().filter(|trace| !trace.name.is_empty());
        let nearest = named
            .flat_map(|trace| trace.points.iter().map(move |point| (trace, *point)))
            .filter(|(_, point)| point.iter().all(|value| value.is_finite()))
            .map(|(trace, point)| (self.place(frame, point).distance(pointer), trace, point))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((distance, trace, [x, y])) = nearest
            && distance < 24.0
        {
            let place = format!("{}: {}", self.x.unit, (self.x.write)(x));
            let text = format!("{}: {}\n{place}", trace.name, (self.y.write)(y));
            response.clone().on_hover_text_at_pointer(text);
        }
    }

    /// What the menu of a picture offers: the points and the picture, which is drawn at `rect`.
    pub fn offer(&self, ui: &mut Ui, cx: &mut Cx<'_>, rect: Rect) {
        let t = cx.texts;
        if ui.button(t.get("figure-copy")).clicked() {
            ui.ctx().copy_text(export::csv(self, cx));
            ui.close();
        }
        for (key, ending) in [("figure-svg", "svg"), ("figure-csv", "csv")] {
            if ui.button(t.get(key)).clicked() {
                let content = if ending == "svg" {
                    export::svg(self, cx)
                } else {
                    export::csv(self, cx)
                };
                let name = format!("{}.{ending}", self.id);
                cx.intents.push(Intent::SaveFigure(name, content.into_bytes()));
                ui.close();
            }
        }
        if ui.button(t.get("figure-png")).clicked() {
            cx.intents.push(Intent::TakePicture {
                name: format!("{}.png", self.id),
                rect: rect.expand(4.0),
                steward: self.steward,
            });
            ui.close();
        }
    }
}

/// The ends of a log axis that shows all of these values: rounded to halves of a decade, at least one decade.
pub fn log_range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .filter(|value| value.is_finite() && *value > 0.0)
        .fold((f64::INFINITY, 0.0), |(low, high), value| {
            (f64::min(low, value), f64::max(high, value))
        });
    if low > high {
        return (0.1, 10.0);
    }
    let (low, high) = (
        (low.log10() * 2.0 - 0.1).floor() / 2.0,
        (high.log10() * 2.0 + 0.1).ceil() / 2.0,
    );
    let high = if high - low < 1.0 { low + 1.0 } else { high };
    (10f64.powf(low), 10f64.powf(high))
}

/// The ends of a linear axis from 0 that shows all of these values.
pub fn range_from_zero(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .filter(|value| value.is_finite())
        .fold((0.0, 0.0), |(low, high), value| {
            (f64::min(low, value), f64::max(high, value))
        });
    let air = (high - low) * 0.08;
    if air > 0.0 {
        (if low < 0.0 { low - air } else { 0.0 }, high + air)
    } else {
        (0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(range: (f64, f64), log: bool) -> Axis<'static> {
        Axis {
            range,
            log,
            unit: "",
            write: &|value| format!("{value}"),
            names: Vec::new(),
        }
    }

    #[test]
    fn shares_and_values_are_inverse_and_never_nan() {
        for axis in [axis((0.001, 10.0), true), axis((-3.0, 5.0), false)] {
            for step in 0..=10 {
                let share = f64::from(step) / 10.0;
                assert!((axis.share(axis.value(share)) - share).abs() < 1e-9);
            }
            for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0] {
                assert!(axis.share(wrong).is_finite());
            }
        }
        assert!(axis((1.0, 1.0), false).share(1.0).is_finite());
    }

    #[test]
    fn log_marks_are_powers_of_ten_within_the_ends() {
        let marks = axis((0.001, 10.0), true).marks(8.0);
        let values: Vec<f64> = marks.iter().map(|mark| mark.0).collect();
        assert_eq!(values.len(), 5, "{values:?}");
        assert!((values[0] - 0.001).abs() < 1e-12 && (values[4] - 10.0).abs() < 1e-9);
        // Few decades get halves, many a few of them.
        assert!(axis((1.0, 30.0), true).marks(8.0).len() >= 4);
        assert!(axis((1e-9, 1e9), true).marks(5.0).len() <= 6);
    }

    #[test]
    fn ranges_hold_their_values() {
        let (low, high) = log_range([0.02, 300.0, f64::NAN, 0.0].into_iter());
        assert!(low <= 0.02 && high >= 300.0);
        assert_eq!(log_range(std::iter::empty()), (0.1, 10.0));
        let (low, high) = range_from_zero([3.0, 7.0].into_iter());
        assert!(low == 0.0 && high > 7.0);
        assert_eq!(range_from_zero(std::iter::empty()), (0.0, 1.0));
    }

    #[test]
    fn a_low_picture_has_more_than_one_number_on_its_axis() {
        for high in [0.3, 1.08, 3.24, 4.32, 7.0, 95.0] {
            for count in [0.8, 1.0, 1.9, 4.0] {
                let marks = axis((0.0, high), false).marks(count);
                assert!(marks.len() > 1, "{high} {count}");
            }
        }
    }
}
