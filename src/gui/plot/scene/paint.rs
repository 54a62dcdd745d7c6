//! How a scene is painted.

use eframe::egui::{Align2, FontId, Painter, Pos2, Rect, Shape, Stroke, Ui, pos2, vec2};

use super::super::labels;
use super::{Look, Scene, Trace};
use crate::gui::context::Cx;
use crate::gui::fonts::semibold;
use crate::gui::theme::SMALL;

/// Grid lines for each so many points of an axis.
const GRID: (f32, f32) = (90.0, 48.0);
/// Shares of a line's length at which its name may stand.
const PLACES: [f32; 5] = [0.97, 0.72, 0.5, 0.28, 0.08];

impl Scene<'_> {
    pub(super) fn paint(&self, ui: &Ui, cx: &Cx<'_>, frame: Rect) {
        let palette = cx.palette;
        self.bands(ui.painter(), cx, frame);
        self.grid(ui.painter(), cx, frame);
        let inside = ui
            .painter()
            .with_clip_rect(frame.expand(1.0).intersect(ui.clip_rect()));
        for trace in &self.traces {
            self.trace(&inside, cx, frame, trace);
        }
        for mark in &self.marks {
            let x = self.place(frame, [mark.x, self.y.range.0]).x;
            if frame.x_range().contains(x) {
                inside.vline(x, frame.y_range(), Stroke::new(1.5, mark.color));
            }
        }
        self.names(ui, cx, frame);
        let corner = pos2(frame.right(), frame.bottom() + 18.0);
        let small = FontId::proportional(SMALL);
        ui.painter().text(
            corner,
            Align2::RIGHT_TOP,
            self.x.unit,
            small.clone(),
            palette.muted,
        );
        let corner = frame.left_top() + vec2(6.0, 0.0);
        let galley = ui
            .painter()
            .layout_no_wrap(self.y.unit.to_owned(), small, palette.muted);
        ui.painter()
            .rect_filled(Rect::from_min_size(corner, galley.size()), 2.0, palette.panel);
        ui.painter().galley(corner, galley, palette.muted);
    }

    fn bands(&self, painter: &Painter, cx: &Cx<'_>, frame: Rect) {
        for &(from, to, name) in &self.bands {
            let left = self.place(frame, [from, self.y.range.0]).x.max(frame.left());
            let right = self.place(frame, [to, self.y.range.0]).x.min(frame.right());
            if right <= left {
                continue;
            }
            let band = Rect::from_x_y_ranges(left..=right, frame.y_range());
            painter.rect_filled(band, 0.0, cx.palette.accent.gamma_multiply(0.09));
            let font = FontId::proportional(SMALL);
            let place = pos2(left + 4.0, frame.top() + 20.0);
            painter.text(place, Align2::LEFT_TOP, name, font, cx.palette.muted);
        }
    }

    fn grid(&self, painter: &Painter, cx: &Cx<'_>, frame: Rect) {
        let palette = cx.palette;
        let line = Stroke::new(1.0, palette.line);
        let font = FontId::proportional(SMALL);
        let mut free_from = f32::NEG_INFINITY;
        for (value, text) in self.x.marks(f64::from(frame.width() / GRID.0)) {
            let x = self.place(frame, [value, self.y.range.0]).x;
            if !frame.x_range().contains(x) {
                continue;
            }
            if self.x.names.is_empty() {
                painter.vline(x, frame.y_range(), line);
            }
            let galley = painter.layout_no_wrap(text, font.clone(), palette.muted);
            let left = x - galley.size().x / 2.0;
            // Names that would touch are left out.
            if left > free_from {
                free_from = left + galley.size().x + 6.0;
                painter.galley(pos2(left, frame.bottom() + 4.0), galley, palette.muted);
            }
        }
        for (value, text) in self.y.marks(f64::from(frame.height() / GRID.1)) {
            let y = self.place(frame, [self.x.range.0, value]).y;
            if frame.y_range().contains(y) {
                painter.hline(frame.x_range(), y, line);
                let place = pos2(frame.left() - 6.0, y);
                painter.text(place, Align2::RIGHT_CENTER, text, font.clone(), palette.muted);
            }
        }
        painter.hline(frame.x_range(), frame.bottom(), Stroke::new(1.0, palette.muted));
    }

    fn placed(&self, frame: Rect, trace: &Trace<'_>) -> Vec<Pos2> {
        let finite = trace
            .points
            .iter()
            .filter(|point| point.iter().all(|value| value.is_finite()));
        finite.map(|point| self.place(frame, *point)).collect()
    }

    fn trace(&self, painter: &Painter, cx: &Cx<'_>, frame: Rect, trace: &Trace<'_>) {
        let points = self.placed(frame, trace);
        let stroke = Stroke::new(trace.size, trace.color);
        match trace.look {
            Look::Line => drop(painter.add(Shape::line(points, stroke))),
            Look::Dashed => drop(painter.add(Shape::dashed_line(&points, stroke, 6.0, 4.0))),
            Look::Dotted => drop(painter.add(Shape::dashed_line(&points, stroke, 1.5, 3.0))),
            Look::Dots => {
                for point in points {
                    painter.circle_filled(point, trace.size, trace.color);
                }
            }
            Look::Discs => {
                for point in points {
                    painter.circle(point, trace.size, trace.color, Stroke::new(1.5, cx.palette.panel));
                }
            }
            Look::Area => {
                // A strip for each piece: the area under a curve is not convex.
                let foot = self.place(frame, [self.x.range.0, self.y.range.0]).y;
                for pair in points.windows(2) {
                    let strip = vec![pair[0], pair[1], pos2(pair[1].x, foot), pos2(pair[0].x, foot)];
                    painter.add(Shape::convex_polygon(strip, trace.color, Stroke::NONE));
                }
            }
            Look::Ticks => {
                for point in points {
                    let foot = frame.bottom();
                    painter.vline(point.x, foot - 18.0..=foot, stroke);
                }
            }
            Look::Bars(width) => {
                let foot = self.place(frame, [self.x.range.0, self.y.range.0.max(0.0)]).y;
                let wide = (f64::from(frame.width()) * width / (self.x.range.1 - self.x.range.0)) as f32;
                for point in points {
                    let (top, bottom) = (point.y.min(foot), point.y.max(foot));
                    let half = (wide / 2.0).max(0.5);
                    let bar = Rect::from_x_y_ranges(point.x - half..=point.x + half, top..=bottom);
                    painter.rect_filled(bar, 1.0, trace.color);
                }
            }
        }
    }

    /// Writes the names of lines and marks, each off all lines.
    fn names(&self, ui: &Ui, cx: &Cx<'_>, frame: Rect) {
        let painter = ui
            .painter()
            .with_clip_rect(frame.expand(2.0).intersect(ui.clip_rect()));
        let font = FontId::new(SMALL, semibold());
        let mut lines = Vec::new();
        let mut written = Vec::new();
        for trace in self.traces.iter().filter(|trace| trace.look.is_line()) {
            let points = self.placed(frame, trace);
            let seen: Vec<Pos2> = points
                .iter()
                .copied()
                .filter(|point| frame.contains(*point))
                .collect();
            if !trace.quiet && !trace.name.is_empty() && !seen.is_empty() {
                let at = |share: &f32| seen[((seen.len() - 1) as f32 * share).round() as usize];
                written.push(labels::Label {
                    galley: painter.layout_no_wrap(trace.name.to_owned(), font.clone(), trace.text),
                    anchors: PLACES.iter().map(at).collect(),
                });
            }
            lines.push(points);
        }
        for mark in self.marks.iter().filter(|mark| !mark.name.is_empty()) {
            let top = self.place(frame, [mark.x, self.y.range.1]);
            if frame.x_range().contains(top.x) {
                written.push(labels::Label {
                    galley: painter.layout_no_wrap(mark.name.to_owned(), font.clone(), cx.palette.text),
                    anchors: vec![top + vec2(0.0, 12.0), top + vec2(0.0, 40.0)],
                });
                lines.push(vec![top, pos2(top.x, frame.bottom())]);
            }
        }
        if let Some(handle) = &self.handle {
            let top = self.place(frame, [handle.value, self.y.range.1]);
            lines.push(vec![top, pos2(top.x, frame.bottom())]);
            let y = handle.at.map(|at| self.place(frame, [handle.value, at]).y);
            let y = y.map(|y| y.clamp(frame.top(), frame.bottom()));
            // What is written beside it is in the way of the names like a line to and fro.
            let (rect, _) = handle.label(&painter, cx, frame, (top.x, y));
            let middle = |share: f32| rect.top() + share * rect.height();
            let strokes = [0.1, 0.5, 0.9].map(middle);
            lines.extend(strokes.map(|y| vec![pos2(rect.left(), y), pos2(rect.right(), y)]));
        }
        labels::draw(&painter, cx.palette.panel, frame, &lines, written);
    }
}
