//! A scene as something to take away: its points as CSV, its drawing as SVG. What is for the steward only says so.

use std::fmt::Write as _;

use eframe::egui::Color32;

use super::super::figure::{escape, field, hex};
use super::{Look, Scene, Trace};
use crate::gui::context::Cx;

/// The size of the drawing.
const SIZE: (f64, f64) = (720.0, 400.0);
/// Space around it: left, top, right, bottom.
const SPACE: (f64, f64, f64, f64) = (70.0, 40.0, 24.0, 46.0);

/// The points of all traces, one a line: the trace, how it is drawn, x, y.
pub fn csv(scene: &Scene<'_>, cx: &Cx<'_>) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail, here and below.
    if scene.steward {
        let _ = writeln!(text, "# {}", cx.texts.get("figure-steward"));
    }
    let _ = writeln!(text, "trace,look,{},{}", field(scene.x.unit), field(scene.y.unit));
    for trace in &scene.traces {
        for [x, y] in &trace.points {
            let _ = writeln!(text, "{},{},{x},{y}", field(trace.name), trace.look.name());
        }
    }
    for mark in &scene.marks {
        let _ = writeln!(text, "{},mark,{},", field(mark.name), mark.x);
    }
    text
}

fn place(scene: &Scene<'_>, [x, y]: [f64; 2]) -> (f64, f64) {
    let (left, top, right, bottom) = SPACE;
    (
        left + scene.x.share(x).clamp(0.0, 1.0) * (SIZE.0 - left - right),
        SIZE.1 - bottom - scene.y.share(y).clamp(0.0, 1.0) * (SIZE.1 - top - bottom),
    )
}

fn words(svg: &mut String, (x, y): (f64, f64), anchor: &str, color: Color32, text: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{}\">{}</text>",
        hex(color),
        escape(text)
    );
}

fn segment(svg: &mut String, from: (f64, f64), to: (f64, f64), color: Color32, width: f64) {
    let _ = writeln!(
        svg,
        "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"{}\" stroke-width=\"{width}\" fill=\"none\"/>",
        from.0,
        from.1,
        to.0,
        to.1,
        hex(color)
    );
}

/// The picture as a drawing that any program can show.
pub fn svg(scene: &Scene<'_>, cx: &Cx<'_>) -> String {
    let (width, height) = SIZE;
    let p = cx.palette;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"Inter, 'Noto Sans SC', sans-serif\" font-size=\"11\">\n<title>{}</title>\n<rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>\n",
        escape(scene.name),
        hex(p.panel)
    );
    words(&mut svg, (SPACE.0, 22.0), "start", p.text, scene.name);
    let (low, high) = (scene.y.range.0, scene.y.range.1);
    for &(from, to, _) in &scene.bands {
        let ((left, bottom), (right, top)) = (place(scene, [from, low]), place(scene, [to, high]));
        let _ = writeln!(
            svg,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\" fill-opacity=\".09\"/>",
            right - left,
            bottom - top,
            hex(p.accent)
        );
    }
    for (value, text) in scene.x.marks(7.0) {
        let (x, y) = place(scene, [value, low]);
        segment(&mut svg, (x, y), (x, SPACE.1), p.line, 1.0);
        words(&mut svg, (x, y + 16.0), "middle", p.muted, &text);
    }
    for (value, text) in scene.y.marks(6.0) {
        let (x, y) = place(scene, [scene.x.range.0, value]);
        segment(&mut svg, (x, y), (width - SPACE.2, y), p.line, 1.0);
        words(&mut svg, (x - 6.0, y + 4.0), "end", p.muted, &text);
    }
    words(
        &mut svg,
        (width - SPACE.2, height - 12.0),
        "end",
        p.muted,
        scene.x.unit,
    );
    words(
        &mut svg,
        (SPACE.0 + 6.0, SPACE.1 + 10.0),
        "start",
        p.muted,
        scene.y.unit,
    );
    for trace in &scene.traces {
        draw(&mut svg, scene, trace);
    }
    let handle = scene.handle.as_ref().map(|handle| (handle.value, handle.label));
    for (x, name) in scene.marks.iter().map(|mark| (mark.x, mark.name)).chain(handle) {
        let (foot, head) = (place(scene, [x, low]), place(scene, [x, high]));
        segment(&mut svg, foot, head, p.text, 1.5);
        words(&mut svg, (head.0 + 5.0, head.1 + 24.0), "start", p.text, name);
    }
    if scene.steward {
        let (x, y) = (width / 2.0, height / 2.0);
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" font-size=\"26\" fill=\"{}\" fill-opacity=\".4\" transform=\"rotate(-12 {x:.1} {y:.1})\">{}</text>",
            hex(p.warn),
            escape(cx.texts.get("figure-steward"))
        );
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw(svg: &mut String, scene: &Scene<'_>, trace: &Trace<'_>) {
    let color = hex(trace.color);
    let finite = || {
        trace
            .points
            .iter()
            .filter(|point| point.iter().all(|value| value.is_finite()))
    };
    let path = || {
        let mut path = String::new();
        for point in finite() {
            let (x, y) = place(scene, *point);
            let _ = write!(path, "{}{x:.1} {y:.1}", if path.is_empty() { "M" } else { "L" });
        }
        path
    };
    match trace.look {
        Look::Line | Look::Dashed | Look::Dotted => {
            let dash = match trace.look {
                Look::Dashed => " stroke-dasharray=\"6 4\"",
                Look::Dotted => " stroke-dasharray=\"1.5 3\"",
                _ => "",
            };
            let _ = writeln!(
                svg,
                "<path d=\"{}\" stroke=\"{color}\" stroke-width=\"{}\" fill=\"none\"{dash}/>",
                path(),
                trace.size
            );
            if let Some(last) = finite().next_back().filter(|_| !trace.quiet) {
                let (x, y) = place(scene, *last);
                words(svg, (x - 4.0, y - 6.0), "end", trace.text, trace.name);
            }
        }
        Look::Area => {
            let foot = place(scene, [scene.x.range.0, scene.y.range.0]).1;
            let ends = finite().next().zip(finite().next_back());
            if let Some((first, last)) = ends {
                let (left, right) = (place(scene, *first).0, place(scene, *last).0);
                let _ = writeln!(
                    svg,
                    "<path d=\"{}L{right:.1} {foot:.1}L{left:.1} {foot:.1}Z\" fill=\"{color}\" fill-opacity=\".3\"/>",
                    path()
                );
            }
        }
        Look::Dots | Look::Discs => {
            for point in finite() {
                let (x, y) = place(scene, *point);
                let _ = writeln!(
                    svg,
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{}\" fill=\"{color}\"/>",
                    trace.size
                );
            }
        }
        Look::Ticks => {
            for point in finite() {
                let (x, _) = place(scene, *point);
                let foot = SIZE.1 - SPACE.3;
                segment(svg, (x, foot), (x, foot - 18.0), trace.color, 1.5);
            }
        }
        Look::Bars(width) => {
            let foot = place(scene, [scene.x.range.0, scene.y.range.0.max(0.0)]).1;
            for [x, y] in finite() {
                let (left, top) = place(scene, [x - width / 2.0, *y]);
                let (right, _) = place(scene, [x + width / 2.0, *y]);
                let _ = writeln!(
                    svg,
                    "<rect x=\"{left:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{color}\"/>",
                    top.min(foot),
                    right - left,
                    (foot - top).abs()
                );
            }
        }
    }
}
