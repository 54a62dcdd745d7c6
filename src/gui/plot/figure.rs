//! A plot as something to take away: its points as CSV, its drawing as SVG.
//!
//! What is for the steward only says so in the file itself.

use std::fmt::Write as _;

use eframe::egui::Color32;

use super::{Chart, Dash, last, marks};
use crate::gui::context::Cx;
use crate::gui::format;

/// The size of the drawing.
const SIZE: (f64, f64) = (720.0, 360.0);
/// Space around it: left, top, right, bottom.
const SPACE: (f64, f64, f64, f64) = (64.0, 40.0, 24.0, 40.0);

/// A field of a CSV file, quoted where it must be.
pub(super) fn field(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

pub(super) fn hex(color: Color32) -> String {
    format!("#{:02x}{:02x}{:02x}", color.r(), color.g(), color.b())
}

/// The points of all curves, one a line: the curve, whether raw or drawn, the step, the value.
pub fn csv(chart: &Chart<'_>, cx: &Cx<'_>) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail, here and below.
    if chart.steward {
        let _ = writeln!(text, "# {}", cx.texts.get("figure-steward"));
    }
    let _ = writeln!(text, "curve,line,{},value", field(chart.x_unit));
    for curve in &chart.curves {
        let name = if curve.name.is_empty() {
            cx.texts.get("figure-projected")
        } else {
            curve.name
        };
        for (line, points) in [("raw", curve.raw), ("drawn", curve.line)] {
            for [x, y] in points {
                let _ = writeln!(text, "{},{line},{x},{y}", field(name));
            }
        }
    }
    text
}

/// Where a point of the plot lies in the drawing.
struct Place {
    x: (f64, f64),
    y: (f64, f64),
}

impl Place {
    fn of(&self, [x, y]: [f64; 2]) -> (f64, f64) {
        let (left, top, right, bottom) = SPACE;
        let across = (x - self.x.0) / (self.x.1 - self.x.0);
        let up = (y - self.y.0) / (self.y.1 - self.y.0);
        (
            left + across * (SIZE.0 - left - right),
            SIZE.1 - bottom - up * (SIZE.1 - top - bottom),
        )
    }

    fn path(&self, points: &[[f64; 2]]) -> String {
        let mut path = String::new();
        for point in points.iter().filter(|[x, y]| x.is_finite() && y.is_finite()) {
            let (x, y) = self.of(*point);
            let _ = write!(path, "{}{x:.1} {y:.1} ", if path.is_empty() { "M" } else { "L" });
        }
        path
    }
}

/// The plot as a drawing that any program can show.
pub fn svg(chart: &Chart<'_>, cx: &Cx<'_>) -> String {
    let (width, height) = SIZE;
    let p = cx.palette;
    let place = Place {
        x: (0.0, chart.x_end.max(1.0) * 1.02),
        y: chart.heights(),
    };
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"Inter, 'Noto Sans SC', sans-serif\" font-size=\"11\">"
    );
    let _ = writeln!(svg, "<title>{}</title>", escape(chart.name));
    let _ = writeln!(
        svg,
        "<rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>",
        hex(p.panel)
    );
    let text = |svg: &mut String, (x, y): (f64, f64), anchor: &str, color: Color32, words: &str| {
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{}\">{}</text>",
            hex(color),
            escape(words)
        );
    };
    text(&mut svg, (SPACE.0, 22.0), "start", p.text, chart.name);
    axes(&mut svg, chart, cx, &place, &text);
    if let Some((value, name, color)) = chart.limit {
        let ends = [[place.x.0, value], [place.x.1, value]];
        let _ = writeln!(
            svg,
            "<path d=\"{}\" stroke=\"{}\" stroke-width=\"1.5\" fill=\"none\"/>",
            place.path(&ends),
            hex(color)
        );
        let (x, y) = place.of(ends[0]);
        text(&mut svg, (x + 6.0, y - 4.0), "start", p.warn_text, name);
    }
    for curve in &chart.curves {
        let color = hex(curve.color);
        let dash = if curve.dash == Dash::Dashed {
            " stroke-dasharray=\"5 4\""
        } else {
            ""
        };
        let _ = writeln!(
            svg,
            "<path d=\"{}\" stroke=\"{color}\" stroke-opacity=\".35\" fill=\"none\"/>\n<path d=\"{}\" stroke=\"{color}\" stroke-width=\"{}\" fill=\"none\"{dash}/>",
            place.path(curve.raw),
            place.path(curve.line),
            curve.dash.width()
        );
        if let Some(end) = last(curve.line).filter(|_| !curve.name.is_empty()) {
            let (x, y) = place.of(end);
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{color}\"/>"
            );
            let words = format!("{} {}", curve.name, (chart.write)(end[1]));
            text(&mut svg, (x - 6.0, y - 7.0), "end", curve.text, &words);
        }
    }
    if chart.steward {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"26\" fill=\"{}\" fill-opacity=\".4\" transform=\"rotate(-12 {:.1} {:.1})\">{}</text>",
            width / 2.0,
            height / 2.0,
            hex(p.warn),
            width / 2.0,
            height / 2.0,
            escape(cx.texts.get("figure-steward"))
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// Writes words at a place, anchored there, in a colour.
type Writer = dyn Fn(&mut String, (f64, f64), &str, Color32, &str);

fn axes(svg: &mut String, chart: &Chart<'_>, cx: &Cx<'_>, place: &Place, text: &Writer) {
    let p = cx.palette;
    let line = |svg: &mut String, ends: [[f64; 2]; 2]| {
        let _ = writeln!(
            svg,
            "<path d=\"{}\" stroke=\"{}\" fill=\"none\"/>",
            place.path(&ends),
            hex(p.line)
        );
    };
    for mark in marks(place.x, 5.0) {
        line(svg, [[mark.value, place.y.0], [mark.value, place.y.1]]);
        let (x, y) = place.of([mark.value, place.y.0]);
        let words = format::count(mark.value.round() as u64);
        text(svg, (x, y + 16.0), "middle", p.muted, &words);
    }
    for mark in marks(place.y, 4.0) {
        line(svg, [[place.x.0, mark.value], [place.x.1, mark.value]]);
        let (x, y) = place.of([place.x.0, mark.value]);
        text(
            svg,
            (x - 6.0, y + 4.0),
            "end",
            p.muted,
            &(chart.write)(mark.value),
        );
    }
    let (x, y) = place.of([place.x.1, place.y.0]);
    text(svg, (x, y + 30.0), "end", p.muted, chart.x_unit);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::settings::{Language, Settings};
    use crate::engine::snapshot::Snapshot;
    use crate::gui::i18n::Texts;
    use crate::gui::plot::Curve;
    use crate::gui::theme::Palette;

    fn with_chart(steward: bool, look: impl FnOnce(&Chart<'_>, &Cx<'_>)) {
        let (snapshot, texts, settings) = (
            Snapshot::default(),
            Texts::new(Language::English),
            Settings::default(),
        );
        let cx = Cx {
            snapshot: &snapshot,
            texts: &texts,
            palette: &Palette::LIGHT,
            settings: &settings,
            problems: &crate::gui::problems::Problems::default(),
            intents: Vec::new(),
        };
        let chart = Chart {
            id: ("loss", 1),
            name: "Loss <1>",
            x_unit: "step",
            x_end: 10.0,
            include: &[],
            limit: Some((2.0, "limit", Color32::RED)),
            curves: vec![Curve {
                name: "critic, raw",
                color: Color32::BLUE,
                text: Color32::BLUE,
                raw: &[[1.0, 0.5], [2.0, f64::NAN]],
                line: &[[1.0, 0.5], [2.0, 0.25]],
                dash: Dash::Solid,
            }],
            write: |value| format!("{value}"),
            steward,
        };
        look(&chart, &cx);
    }

    #[test]
    fn a_figure_of_private_rows_says_so_and_another_does_not() {
        for steward in [true, false] {
            with_chart(steward, |chart, cx| {
                let mark = cx.texts.get("figure-steward");
                assert_eq!(csv(chart, cx).contains(mark), steward);
                assert_eq!(svg(chart, cx).contains(mark), steward);
            });
        }
    }

    #[test]
    fn a_figure_holds_every_point_and_escapes_its_texts() {
        with_chart(false, |chart, cx| {
            let text = csv(chart, cx);
            assert_eq!(text.lines().count(), 5, "{text}");
            assert!(text.contains("\"critic, raw\",drawn,2,0.25"), "{text}");
            let drawing = svg(chart, cx);
            assert!(drawing.contains("Loss &lt;1&gt;") && drawing.contains("limit"));
            assert!(!drawing.contains("NaN"), "{drawing}");
        });
    }
}
