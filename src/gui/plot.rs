//! Line plots in the window's own look: a light grid, labels on the lines, the current value marked. A plot
//! follows what it draws until a person pans or zooms it, holds then, and follows again when asked.

mod figure;
mod labels;
pub mod scene;

use eframe::egui::{
    Color32, FontId, Pos2, Rect, Response, RichText, Stroke, Ui, UiBuilder, Vec2b, WidgetInfo,
    accesskit::Role, vec2,
};
use egui_plot::{
    AxisHints, GridMark, HLine, HoverPosition, Line, LineStyle, MarkerShape, Plot, PlotBounds, PlotPoint,
    PlotPoints, PlotTransform, Points,
};

use crate::gui::context::{Cx, Intent};
use crate::gui::fonts::semibold;
use crate::gui::format;
use crate::gui::theme::SMALL;
use crate::gui::widgets;

/// The space, in points, that an axis needs for its labels.
const AXIS: f32 = 34.0;

/// How a line is drawn, beside its colour: two lines of one plot never differ by colour alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dash {
    /// Unbroken, its end marked by a disc.
    Solid,
    /// Unbroken, its end marked by a diamond.
    SolidDiamond,
    /// Dashed: planned or projected.
    Dashed,
    /// A thinner line of another run, its end marked by its place among them.
    Over(usize),
}

impl Dash {
    /// The mark at the line's end, if it has one.
    const fn mark(self) -> Option<MarkerShape> {
        match self {
            Self::Solid => Some(MarkerShape::Circle),
            Self::SolidDiamond => Some(MarkerShape::Diamond),
            Self::Dashed => None,
            Self::Over(0) => Some(MarkerShape::Square),
            Self::Over(1) => Some(MarkerShape::Up),
            Self::Over(2) => Some(MarkerShape::Down),
            Self::Over(3) => Some(MarkerShape::Right),
            Self::Over(_) => Some(MarkerShape::Left),
        }
    }

    /// The line's width.
    const fn width(self) -> f32 {
        match self {
            Self::Over(_) => 1.4,
            _ => 2.0,
        }
    }
}

/// A line of a plot.
pub struct Curve<'a> {
    /// Its name, written at its end.
    pub name: &'a str,
    /// Its colour.
    pub color: Color32,
    /// The colour of its name.
    pub text: Color32,
    /// The points as they came, drawn faint; may be empty.
    pub raw: &'a [[f64; 2]],
    /// The line itself.
    pub line: &'a [[f64; 2]],
    /// How it is drawn.
    pub dash: Dash,
}

/// A plot of curves over steps.
pub struct Chart<'a> {
    /// Tells plots apart, also from run to run.
    pub id: (&'static str, u64),
    /// What is drawn, for screen readers.
    pub name: &'a str,
    /// The unit at the end of the horizontal axis.
    pub x_unit: &'a str,
    /// The last planned step.
    pub x_end: f64,
    /// Values that the vertical axis must show.
    pub include: &'a [f64],
    /// A limit, with its name.
    pub limit: Option<(f64, &'a str, Color32)>,
    /// The curves.
    pub curves: Vec<Curve<'a>>,
    /// How values are written.
    pub write: fn(f64) -> String,
    /// Whether it is drawn from private rows without noise.
    pub steward: bool,
}

fn finite(points: &[[f64; 2]]) -> PlotPoints<'static> {
    points
        .iter()
        .copied()
        .filter(|[x, y]| x.is_finite() && y.is_finite())
        .collect()
}

fn last(points: &[[f64; 2]]) -> Option<[f64; 2]> {
    points
        .iter()
        .rev()
        .copied()
        .find(|[x, y]| x.is_finite() && y.is_finite())
}

/// Grid lines at round values, about `count` of them.
fn marks(bounds: (f64, f64), count: f64) -> Vec<GridMark> {
    let rough = (bounds.1 - bounds.0) / count;
    if !rough.is_finite() || rough <= 0.0 {
        return Vec::new();
    }
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|round| round * power)
        .into_iter()
        .find(|step| *step >= rough);
    let step = step.unwrap_or(10.0 * power);
    let first = (bounds.0 / step).ceil() as i64;
    let last = (bounds.1 / step).floor() as i64;
    (first..=last.min(first + 20))
        .map(|at| GridMark {
            value: at as f64 * step,
            step_size: step,
        })
        .collect()
}

impl Chart<'_> {
    /// The values that fit the vertical axis: all that is drawn, with a little air above.
    fn heights(&self) -> (f64, f64) {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut see = |value: f64| {
            if value.is_finite() {
                low = low.min(value);
                high = high.max(value);
            }
        };
        self.include.iter().copied().for_each(&mut see);
        if let Some((limit, ..)) = self.limit {
            see(limit);
        }
        for curve in &self.curves {
            curve.line.iter().chain(curve.raw).for_each(|point| see(point[1]));
        }
        if low > high {
            return (0.0, 1.0);
        }
        let air = ((high - low) * 0.08).max(high.abs() * 1e-3).max(1e-9);
        let floor = if self.include.contains(&low) {
            low
        } else {
            low - air
        };
        (floor, high + air * 1.5)
    }

    /// Draws the plot in the space that is left.
    pub fn show(self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let held_id = ui.scope_id().with(("held", self.id));
        let held = ui.data(|data| data.get_temp::<bool>(held_id)).unwrap_or(false);
        let origin = ui.cursor().min;
        let size = ui.available_size();
        let rect = Rect::from_min_size(origin, size);
        let response = ui
            .scope_builder(UiBuilder::new().max_rect(rect), |ui| self.plot(ui, cx, held))
            .inner;
        let moved = response.dragged()
            || (response.hovered()
                && ui.input(|input| input.smooth_scroll_delta() != vec2(0.0, 0.0) && input.modifiers.ctrl));
        if moved && !held {
            ui.data_mut(|data| data.insert_temp(held_id, true));
        }
        let enabled = ui.is_enabled();
        response.widget_info(|| WidgetInfo::labeled(Role::Figure, enabled, self.name));
        // What stands at the lines' ends, for who does not see it.
        ui.ctx().accesskit_node_builder(response.id, |node| {
            let named = self.curves.iter().filter(|curve| !curve.name.is_empty());
            let ends: Vec<String> = named.filter_map(|curve| self.end_of(curve)).collect();
            node.set_value(ends.join(", "));
        });
        self.menu(&response, cx, rect);
        if held || moved {
            let place = Rect::from_min_size(
                Pos2::new(origin.x + size.x - 84.0, origin.y + 2.0),
                vec2(80.0, 22.0),
            );
            let label = RichText::new(cx.texts.get("plot-follow"))
                .size(SMALL)
                .color(cx.palette.accent);
            let button = ui.put(place, eframe::egui::Button::new(label));
            if button.on_hover_text(cx.texts.get("plot-follow-tip")).clicked() {
                ui.data_mut(|data| data.insert_temp(held_id, false));
            }
        }
    }

    /// A curve's name and last value.
    fn end_of(&self, curve: &Curve<'_>) -> Option<String> {
        last(curve.line).map(|[_, value]| format!("{} {}", curve.name, (self.write)(value)))
    }

    /// What a right click, or the menu key on the focused plot, offers: the points and the picture.
    fn menu(&self, response: &Response, cx: &mut Cx<'_>, rect: Rect) {
        let t = cx.texts;
        response.context_menu(|ui| {
            if ui.button(t.get("figure-copy")).clicked() {
                ui.ctx().copy_text(figure::csv(self, cx));
                ui.close();
            }
            let name = |ending: &str| format!("{}-{}.{ending}", self.id.0, self.id.1);
            for (key, ending) in [("figure-svg", "svg"), ("figure-csv", "csv")] {
                if ui.button(t.get(key)).clicked() {
                    let content = if ending == "svg" {
                        figure::svg(self, cx)
                    } else {
                        figure::csv(self, cx)
                    };
                    cx.intents
                        .push(Intent::SaveFigure(name(ending), content.into_bytes()));
                    ui.close();
                }
            }
            if ui.button(t.get("figure-png")).clicked() {
                // The card around the plot, with its title.
                cx.intents.push(Intent::TakePicture {
                    name: name("png"),
                    rect: Rect::from_min_max(rect.min - vec2(8.0, 28.0), rect.max + vec2(8.0, 6.0)),
                    steward: self.steward,
                });
                ui.close();
            }
        });
    }

    fn plot(&self, ui: &mut Ui, cx: &Cx<'_>, held: bool) -> Response {
        let palette = cx.palette;
        let write = self.write;
        let axis = |hints: AxisHints<'static>| {
            hints
                .tick_label_color(palette.muted)
                .tick_label_font(FontId::proportional(SMALL))
        };
        let x_axis = axis(AxisHints::new_x()).formatter(|mark, _| {
            if mark.value < 0.0 {
                String::new()
            } else {
                format::count(mark.value.round() as u64)
            }
        });
        let y_axis = axis(AxisHints::new_y())
            .min_thickness(AXIS)
            .formatter(move |mark, _| write(mark.value));
        let x_end = self.x_end.max(1.0);
        let (low, high) = self.heights();
        let margin = x_end * 0.02;
        let shown = PlotBounds::from_min_max([0.0, low], [x_end + margin, high]);
        let name_of_step = self.x_unit.to_owned();
        let drawn = Plot::new(self.id)
            .height(ui.available_height())
            .show_background(false)
            .grid_color(palette.line)
            .grid_fade(0.0)
            .x_grid_spacer(|input| marks(input.bounds, 4.0))
            .y_grid_spacer(|input| marks(input.bounds, 3.0))
            .custom_x_axes(vec![x_axis])
            .custom_y_axes(vec![y_axis])
            .show_x(true)
            .show_y(true)
            .show_crosshair(false)
            .allow_boxed_zoom(false)
            .allow_scroll(false)
            .allow_zoom(true)
            .allow_drag(true)
            .auto_bounds(Vec2b::FALSE)
            .cursor_color(palette.muted)
            .label_formatter(move |hover| match hover {
                HoverPosition::NearDataPoint {
                    plot_name, position, ..
                } if !plot_name.is_empty() => {
                    let step = format::count(position.x.max(0.0).round() as u64);
                    Some(format!(
                        "{plot_name}: {}\n{name_of_step} {step}",
                        write(position.y)
                    ))
                }
                _ => None,
            })
            .show(ui, |plot| {
                if !held {
                    plot.set_plot_bounds(shown);
                }
                self.draw(plot);
            });
        self.names(ui, cx, &drawn.transform, x_end);
        drawn.response
    }

    fn draw(&self, plot: &mut egui_plot::PlotUi<'_>) {
        if let Some((value, name, color)) = self.limit {
            plot.hline(HLine::new(name, value).color(color).width(1.5).allow_hover(false));
        }
        for curve in &self.curves {
            if !curve.raw.is_empty() {
                let faint = Stroke::new(1.0, curve.color.gamma_multiply(0.35));
                plot.line(Line::new("", finite(curve.raw)).stroke(faint).allow_hover(false));
            }
            let style = if curve.dash == Dash::Dashed {
                LineStyle::dashed_dense()
            } else {
                LineStyle::Solid
            };
            let stroke = Stroke::new(curve.dash.width(), curve.color);
            plot.line(
                Line::new(curve.name, finite(curve.line))
                    .stroke(stroke)
                    .style(style),
            );
            let Some([x, y]) = last(curve.line) else { continue };
            if let Some(shape) = curve.dash.mark() {
                let end = Points::new("", vec![[x, y]])
                    .shape(shape)
                    .radius(4.0)
                    .color(curve.color);
                plot.points(end.filled(true).allow_hover(false));
            }
        }
    }

    /// Writes the names of curves and limit, each off all lines, and the axis's unit in the corner.
    fn names(&self, ui: &Ui, cx: &Cx<'_>, transform: &PlotTransform, x_end: f64) {
        let frame = transform.frame().shrink(2.0);
        let painter = ui.painter().with_clip_rect(transform.frame().expand(2.0));
        let place = |[x, y]: [f64; 2]| transform.position_from_point(&PlotPoint::new(x, y));
        let mut lines: Vec<Vec<Pos2>> = self
            .curves
            .iter()
            .map(|curve| {
                let finite = curve.line.iter().filter(|[x, y]| x.is_finite() && y.is_finite());
                finite.map(|point| place(*point)).collect()
            })
            .collect();
        let mut written = Vec::new();
        let small = FontId::proportional(SMALL);
        let name = |text: String, font: FontId, color| painter.layout_no_wrap(text, font, color);
        let corner = vec![frame.right_bottom()];
        written.push(labels::Label {
            galley: name(self.x_unit.to_owned(), small.clone(), cx.palette.muted),
            anchors: corner,
        });
        if let Some((value, text, _)) = self.limit {
            lines.push(vec![place([0.0, value]), place([x_end * 1.02, value])]);
            written.push(labels::Label {
                galley: name(text.to_owned(), small, cx.palette.warn_text),
                anchors: [0.01, 0.4, 0.75]
                    .map(|share| place([x_end * share, value]))
                    .to_vec(),
            });
        }
        for curve in self.curves.iter().filter(|curve| !curve.name.is_empty()) {
            let Some((end, text)) = last(curve.line).zip(self.end_of(curve)) else {
                continue;
            };
            written.push(labels::Label {
                galley: name(text, FontId::new(SMALL, semibold()), curve.text),
                anchors: vec![place(end)],
            });
        }
        labels::draw(&painter, cx.palette.panel, frame, &lines, written);
    }
}

/// A card's head: its title, the steward's mark if it needs one, and a caption on the right.
pub fn head(ui: &mut Ui, cx: &Cx<'_>, title: &str, steward: bool, caption: &str) {
    widgets::card_head(ui, cx, (title, ""), steward, caption);
}
