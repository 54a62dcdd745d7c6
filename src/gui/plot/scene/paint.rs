//! How a scene is painted.

use std::sync::Arc;

use eframe::egui::{Align2, FontId, Galley, Painter, Pos2, Rangef, Rect, Shape, Stroke, Ui, pos2, vec2};

use super::super::labels;
use super::{AIR, BELOW, LEFT, Look, Scene, Trace};
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
        let (unit, corner) = self.corner(ui.painter(), cx, frame);
        self.names(ui, cx, frame, corner);
        // Under the axis's numbers.
        let foot = pos2(frame.right(), frame.bottom() + BELOW);
        let small = FontId::proportional(SMALL);
        ui.painter()
            .text(foot, Align2::RIGHT_BOTTOM, self.x.unit, small, palette.muted);
        ui.painter().rect_filled(corner, 2.0, palette.panel);
        ui.painter().galley(corner.min, unit, palette.muted);
    }

    /// The vertical axis's unit, and where it stands: in the frame's upper corner.
    fn corner(&self, painter: &Painter, cx: &Cx<'_>, frame: Rect) -> (Arc<Galley>, Rect) {
        let small = FontId::proportional(SMALL);
        let galley = painter.layout_no_wrap(self.y.unit.to_owned(), small, cx.palette.muted);
        let rect = Rect::from_min_size(frame.left_top() + vec2(6.0, 0.0), galley.size());
        (galley, rect)
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
        let marks = self.x.marks(f64::from(frame.width() / GRID.0)).into_iter();
        let written: Vec<(f32, Arc<Galley>)> = marks
            .map(|(value, text)| (self.place(frame, [value, self.y.range.0]).x, text))
            .filter(|(x, _)| frame.x_range().contains(*x))
            .map(|(x, text)| (x, painter.layout_no_wrap(text, font.clone(), palette.muted)))
            .collect();
        let room = Rangef::new(frame.left() - LEFT, frame.right() + AIR);
        let lefts = labels::along(room, written.iter().map(|(x, galley)| (*x, galley.size().x)));
        for ((x, galley), left) in written.into_iter().zip(lefts) {
            if self.x.names.is_empty() {
                painter.vline(x, frame.y_range(), line);
            }
            if let Some(left) = left {
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

    /// Writes the names of lines and marks, each off all lines and off the unit in the corner.
    fn names(&self, ui: &Ui, cx: &Cx<'_>, frame: Rect, corner: Rect) {
        let painter = ui
            .painter()
            .with_clip_rect(frame.expand(2.0).intersect(ui.clip_rect()));
        let font = FontId::new(SMALL, semibold());
        let mut lines: Vec<Vec<Pos2>> = labels::strokes(corner).into();
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
            let (rect, _) = handle.label(&painter, cx, frame, (top.x, y));
            lines.extend(labels::strokes(rect));
        }
        labels::draw(&painter, cx.palette.panel, frame, &lines, written);
    }
}
