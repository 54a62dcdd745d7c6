//! Synthetic over real, a small histogram a column: grey bars are real, orange marks synthetic.

use eframe::egui::{self, Align2, FontId, Rect, Sense, Stroke, Ui, WidgetInfo, accesskit::Role, pos2, vec2};

use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::pages::train::compare::Overlaid;
use crate::gui::plot::scene::{Axis, Look, Scene, Trace, range_from_zero};
use crate::gui::theme::{SMALL, STEP};
use crate::gui::widgets;
use crate::train::ColumnHistogram;

/// The least width of one histogram.
const LEAST: f32 = 150.0;
/// The least height of one histogram, its name included.
const HEIGHT: f32 = 78.0;

/// Draws the histograms that come into view.
pub fn show(
    ui: &mut Ui,
    cx: &mut Cx<'_>,
    (histograms, over): (&[ColumnHistogram], &[Overlaid]),
    height: f32,
) {
    if histograms.is_empty() {
        ui.label(cx.palette.caption(cx.texts.get("histograms-none")));
        return;
    }
    let columns = ((ui.available_width() + STEP) / (LEAST + STEP)).floor().max(1.0) as usize;
    let rows = histograms.len().div_ceil(columns);
    // As many whole rows as fit: none is cut at the card's edge.
    let gap = ui.spacing().item_spacing.y;
    let fit = ((height + gap) / (HEIGHT + gap)).floor().max(1.0);
    let tall = (height + gap) / fit - gap;
    // Whole rows need no hint that something is cut.
    ui.spacing_mut().scroll.fade.strength = 0.0;
    egui::ScrollArea::vertical()
        .id_salt("histograms")
        .max_height(height)
        .auto_shrink(false)
        .show_rows(ui, tall, rows, |ui, range| {
            let width = (ui.available_width() - STEP * columns as f32) / columns as f32;
            for row in range {
                ui.horizontal(|ui| {
                    for histogram in histograms.iter().skip(row * columns).take(columns) {
                        draw(ui, cx, histogram, over, vec2(width, tall));
                    }
                });
            }
        });
}

fn draw(ui: &mut Ui, cx: &mut Cx<'_>, histogram: &ColumnHistogram, over: &[Overlaid], size: egui::Vec2) {
    let palette = cx.palette;
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.context_menu(|ui| offer(ui, cx, histogram, rect));
    response.widget_info(|| WidgetInfo::labeled(Role::Figure, true, &histogram.column));
    let name = rect.min + vec2(0.0, 7.0);
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    painter.text(
        name,
        Align2::LEFT_CENTER,
        &histogram.column,
        FontId::proportional(SMALL),
        palette.text,
    );
    let plot = Rect::from_min_max(rect.min + vec2(0.0, 16.0), rect.max - vec2(0.0, 16.0));
    let highest = histogram
        .real
        .iter()
        .chain(&histogram.synthetic)
        .copied()
        .chain(highest_over(over, histogram))
        .fold(0.0, f64::max)
        .max(1e-12);
    let bins = histogram.real.len().max(histogram.synthetic.len()).max(1);
    let step = plot.width() / bins as f32;
    let top = |share: f64| plot.bottom() - plot.height() * (share / highest) as f32;
    for (bin, &share) in histogram.real.iter().enumerate() {
        let left = plot.left() + step * bin as f32;
        let bar = Rect::from_min_max(
            pos2(left + 0.5, top(share)),
            pos2(left + step - 0.5, plot.bottom()),
        );
        painter.rect_filled(bar, 0.0, palette.real);
    }
    painter.line_segment(
        [plot.left_bottom(), plot.right_bottom()],
        Stroke::new(1.0, palette.line),
    );
    for (bin, &share) in histogram.synthetic.iter().enumerate() {
        let (left, y) = (plot.left() + step * bin as f32, top(share));
        painter.line_segment(
            [pos2(left + 0.5, y), pos2(left + step - 0.5, y)],
            Stroke::new(2.0, palette.second),
        );
    }
    // Other runs as marks in the middle of a bar, narrower one by one, so that none hides another.
    for other in over {
        let known = other.run.histograms.for_steward().iter();
        let Some(known) = known
            .clone()
            .find(|known| known.column == histogram.column && known.labels == histogram.labels)
        else {
            continue;
        };
        let inset = step * (0.12 + 0.07 * other.place as f32);
        for (bin, &share) in known.synthetic.iter().enumerate() {
            let (left, y) = (plot.left() + step * bin as f32, top(share));
            painter.line_segment(
                [pos2(left + inset, y), pos2(left + step - inset, y)],
                Stroke::new(1.5, other.color),
            );
        }
    }
    ends(&painter, cx, histogram, plot);
    if let Some(pointer) = response.hover_pos() {
        let bin = (((pointer.x - plot.left()) / step).floor().max(0.0) as usize).min(bins - 1);
        response.on_hover_text(reading(cx, histogram, bin));
    }
}

/// The highest share of each run that is drawn over.
fn highest_over<'a>(over: &'a [Overlaid], of: &'a ColumnHistogram) -> impl Iterator<Item = f64> + 'a {
    over.iter().filter_map(|other| {
        let known = other.run.histograms.for_steward().iter();
        let known = known.clone().find(|known| known.column == of.column)?;
        known.synthetic.iter().copied().reduce(f64::max)
    })
}

/// The menu: the histogram as a picture with axes.
fn offer(ui: &mut Ui, cx: &mut Cx<'_>, histogram: &ColumnHistogram, rect: Rect) {
    let t = cx.texts;
    let middles = |shares: &[f64]| {
        let shares = shares.iter().enumerate();
        shares.map(|(bin, share)| [bin as f64 + 0.5, *share]).collect()
    };
    let bins = histogram.real.len().max(histogram.synthetic.len()).max(1) as f64;
    let shares = histogram.real.iter().chain(&histogram.synthetic).copied();
    let label = |value: f64| {
        let label = histogram.labels.get(value.max(0.0) as usize);
        label.cloned().unwrap_or_default()
    };
    let scene = Scene {
        id: "column-histogram",
        name: &histogram.column,
        x: Axis {
            range: (0.0, bins),
            log: false,
            unit: &histogram.column,
            write: &label,
            names: [0.5, bins - 0.5].map(|middle| (middle, label(middle))).to_vec(),
        },
        y: Axis {
            range: range_from_zero(shares),
            log: false,
            unit: t.get("axis-share"),
            write: &format::percent,
            names: Vec::new(),
        },
        bands: Vec::new(),
        traces: vec![
            Trace {
                name: t.get("legend-real"),
                color: cx.palette.real,
                text: cx.palette.muted,
                points: middles(&histogram.real),
                look: Look::Bars(0.9),
                size: 1.0,
                quiet: false,
            },
            Trace {
                name: t.get("legend-synthetic"),
                color: cx.palette.second,
                text: cx.palette.second,
                points: middles(&histogram.synthetic),
                look: Look::Discs,
                size: 3.0,
                quiet: false,
            },
        ],
        marks: Vec::new(),
        handle: None,
        steward: true,
    };
    scene.offer(ui, cx, rect);
}

/// The first and the last bin's name, where they fit.
fn ends(painter: &egui::Painter, cx: &Cx<'_>, histogram: &ColumnHistogram, plot: Rect) {
    let font = FontId::proportional(10.0);
    let (Some(first), Some(last)) = (histogram.labels.first(), histogram.labels.last()) else {
        return;
    };
    let half = plot.width() / 2.0 - 4.0;
    let short = |text: &str| -> String {
        let room = (half / 5.6).max(3.0) as usize;
        if text.chars().count() <= room {
            text.to_owned()
        } else {
            text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
        }
    };
    let y = plot.bottom() + 8.0;
    painter.text(
        pos2(plot.left(), y),
        Align2::LEFT_CENTER,
        short(first),
        font.clone(),
        cx.palette.muted,
    );
    if histogram.labels.len() > 1 {
        painter.text(
            pos2(plot.right(), y),
            Align2::RIGHT_CENTER,
            short(last),
            font,
            cx.palette.muted,
        );
    }
}

fn reading(cx: &Cx<'_>, histogram: &ColumnHistogram, bin: usize) -> String {
    let share = |shares: &[f64]| {
        shares
            .get(bin)
            .copied()
            .map_or_else(|| "—".to_owned(), format::percent)
    };
    let label = histogram.labels.get(bin).map_or("", String::as_str);
    cx.texts.with(
        "histogram-reading",
        [
            ("label", label.into()),
            ("real", share(&histogram.real).into()),
            ("synthetic", share(&histogram.synthetic).into()),
        ],
    )
}

/// The head's caption: what the colours are.
pub fn legend(ui: &mut Ui, cx: &Cx<'_>) {
    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
        for (color, key) in [
            (cx.palette.second, "legend-synthetic"),
            (cx.palette.real, "legend-real"),
        ] {
            ui.label(cx.palette.caption(cx.texts.get(key)));
            let (rect, _) = ui.allocate_exact_size(vec2(12.0, 10.0), Sense::hover());
            let mark = if key == "legend-real" {
                Rect::from_center_size(rect.center(), vec2(10.0, 8.0))
            } else {
                Rect::from_center_size(rect.center(), vec2(12.0, 2.0))
            };
            ui.painter().rect_filled(mark, 0.0, color);
        }
    });
}

/// The head of the card.
pub fn head(ui: &mut Ui, cx: &Cx<'_>) {
    ui.spacing_mut().interact_size.y = 18.0;
    ui.horizontal(|ui| {
        ui.label(cx.palette.strong(cx.texts.get("card-histograms")));
        let tip = cx.texts.get("steward-only-tip");
        widgets::badge(ui, cx.texts.get("steward-only"), cx.palette.warn_text, tip);
        legend(ui, cx);
    });
}
