//! The noise over the run: its shape, dragged on a plot, and how ε adds up under it.

use eframe::egui::{self, CursorIcon, Key, Rect, Sense, Stroke, Ui, WidgetInfo, accesskit, vec2};

use crate::engine::snapshot::PlanPreview;
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::plot::scene::{Axis, Look, Mark, Scene, Trace};
use crate::gui::theme::STEP;
use crate::gui::widgets::{self, NumberRow, Slider};
use crate::train::{PlanSummary, Schedule, ScheduleKind, TrainSettings};

/// The height of the shape.
const SHAPE: f32 = 132.0;
/// The height of ε over the steps.
const EPSILON: f32 = 132.0;
/// The relative noise that a point can have.
const RANGE: (f64, f64) = (0.1, 10.0);
/// The share of ε that the first of two phases can have.
const EARLY: (f64, f64) = (0.05, 0.95);
/// How far from a point the pointer still takes it.
const REACH: f32 = 9.0;
/// The factor by which an arrow key moves a point.
const KEY_FACTOR: f64 = 1.05;
/// At how many places the shape is drawn.
const PLACES: u64 = 200;

/// The kinds that the section offers.
const KINDS: [(ScheduleKind, &str); 5] = [
    (ScheduleKind::Constant, "choice-constant"),
    (ScheduleKind::TwoPhase, "choice-two-phase"),
    (ScheduleKind::Linear, "choice-linear"),
    (ScheduleKind::Exponential, "choice-exponential"),
    (ScheduleKind::Points, "choice-points"),
];

/// Draws the section and changes the settings.
pub fn show(
    ui: &mut Ui,
    cx: &mut Cx<'_>,
    settings: &mut TrainSettings,
    recommended: &TrainSettings,
    plan: Option<&PlanPreview>,
) {
    let t = cx.texts;
    widgets::rule(ui, cx.palette);
    let names: Vec<&str> = KINDS.iter().map(|(_, key)| t.get(key)).collect();
    let chosen = KINDS
        .iter()
        .position(|(kind, _)| *kind == settings.schedule)
        .unwrap_or(0);
    let (name, help) = (t.get("setting-schedule"), t.get("setting-schedule-help"));
    if let Some(at) = super::form::pick(ui, name, help, chosen, &names) {
        settings.schedule = KINDS[at].0;
    }
    if settings.schedule != ScheduleKind::Constant {
        shape(ui, cx, settings, plan);
    }
    match settings.schedule {
        ScheduleKind::Constant => {}
        ScheduleKind::Points => {
            if settings.schedule_points != recommended.schedule_points
                && widgets::quiet_button(ui, cx.palette, t.get("schedule-reset")).clicked()
            {
                settings.schedule_points.clone_from(&recommended.schedule_points);
            }
        }
        ScheduleKind::TwoPhase => {
            early(ui, cx, settings, recommended);
            halves(ui, cx, plan);
        }
        ScheduleKind::Linear | ScheduleKind::Exponential => ratio(ui, cx, settings, recommended),
    }
    if let Some(plan) = plan
        && let Ok(summary) = &plan.outcome
        && !summary.epsilon_curve.is_empty()
    {
        epsilon(ui, cx, summary, plan.outdated);
    }
}

fn early(ui: &mut Ui, cx: &Cx<'_>, settings: &mut TrainSettings, recommended: &TrainSettings) {
    let t = cx.texts;
    let (name, help) = (
        t.get("setting-schedule-early"),
        t.get("setting-schedule-early-help"),
    );
    ui.push_id("schedule-early", |ui| {
        let row = NumberRow {
            name,
            help,
            unit: t.get("unit-of-epsilon"),
            slider: Slider {
                name,
                range: EARLY,
                logarithmic: false,
                integer: false,
                stops: &[0.1, 0.2, 0.5, 0.8],
            },
            default: recommended.schedule_early,
            write: |value| format::significant(value, 2),
        };
        if row.show(ui, cx, &mut settings.schedule_early) {
            settings.schedule_early = settled(settings.schedule_early, EARLY.0, EARLY.1);
        }
    });
}

/// What each half comes to by itself, as planned.
fn halves(ui: &mut Ui, cx: &Cx<'_>, plan: Option<&PlanPreview>) {
    let summary = plan.and_then(|plan| plan.outcome.as_ref().ok());
    let Some([first, second]) = summary.and_then(|summary| summary.halves) else {
        return;
    };
    let line = cx.texts.with(
        "schedule-halves",
        [
            ("early", format::epsilon(first).into()),
            ("late", format::epsilon(second).into()),
            ("share", format::percent(first / (first + second)).into()),
            ("rest", format::percent(second / (first + second)).into()),
        ],
    );
    ui.add(egui::Label::new(cx.palette.caption(line)).wrap());
}

fn ratio(ui: &mut Ui, cx: &Cx<'_>, settings: &mut TrainSettings, recommended: &TrainSettings) {
    let t = cx.texts;
    let (name, help) = (
        t.get("setting-schedule-ratio"),
        t.get("setting-schedule-ratio-help"),
    );
    ui.push_id("schedule-ratio", |ui| {
        let row = NumberRow {
            name,
            help,
            unit: t.get("unit-times"),
            slider: Slider {
                name,
                range: (1.0, RANGE.1),
                logarithmic: true,
                integer: false,
                stops: &[1.0, 2.0, 4.0],
            },
            default: recommended.schedule_ratio,
            write: |value| format::significant(value, 3),
        };
        if row.show(ui, cx, &mut settings.schedule_ratio) {
            settings.schedule_ratio = settings.schedule_ratio.clamp(1.0, RANGE.1);
        }
    });
}

/// The relative noise over the run, with the points that can be dragged.
fn shape(ui: &mut Ui, cx: &mut Cx<'_>, settings: &mut TrainSettings, plan: Option<&PlanPreview>) {
    let t = cx.texts;
    let by_points = settings.schedule == ScheduleKind::Points;
    let line = drawn(settings, plan);
    let highest = line.iter().map(|point| point[1]).fold(RANGE.1, f64::max);
    let range = if by_points { RANGE } else { (1.0, highest) };
    let times = |value: f64| format!("×{}", format::significant(value, 2));
    let places = [0.0, 0.5, 1.0].map(|share| (share, format::percent(share)));
    let points: Vec<[f64; 2]> = if by_points {
        let last = settings.schedule_points.len().saturating_sub(1).max(1) as f64;
        let points = settings.schedule_points.iter().enumerate();
        points.map(|(at, value)| [at as f64 / last, *value]).collect()
    } else {
        line.first().copied().into_iter().collect()
    };
    let scene = Scene {
        id: "noise-schedule",
        name: t.get("schedule-shape"),
        x: Axis {
            range: (0.0, 1.0),
            log: false,
            unit: t.get("axis-run"),
            write: &format::percent,
            names: places.to_vec(),
        },
        y: Axis {
            range,
            log: true,
            unit: t.get("axis-noise"),
            write: &times,
            names: Vec::new(),
        },
        bands: Vec::new(),
        traces: vec![Trace {
            name: t.get("schedule-shape"),
            color: cx.palette.second,
            text: cx.palette.second,
            points: line,
            look: Look::Line,
            size: 2.0,
            quiet: true,
        }],
        marks: Vec::new(),
        handle: None,
        steward: false,
    };
    let moved = ui.allocate_ui(vec2(ui.available_width(), SHAPE), |ui| {
        ui.set_height(SHAPE);
        let (_, moved) = scene.show_under(ui, cx, |ui, cx, placed| {
            let mut moved = None;
            for (at, place) in points.iter().enumerate() {
                let share = format::percent(place[0]);
                let name = cx.texts.with("schedule-point", [("share", share.into())]);
                let here = (placed.at(*place), place[1]);
                let read = |y: f32| placed.value_at(y);
                if let Some(value) = point(ui, cx, (at, &name), here, (range, &read)) {
                    moved = Some((at, value));
                }
            }
            moved
        });
        moved.flatten()
    });
    match (moved.inner, settings.schedule) {
        (Some((at, value)), ScheduleKind::Points) => settings.schedule_points[at] = value,
        // As a plan begins: the shares go by the inverse of the noise.
        (Some((_, value)), ScheduleKind::TwoPhase) => {
            settings.schedule_early = settled(1.0 / (1.0 + value), EARLY.0, EARLY.1);
        }
        (Some((_, value)), _) => settings.schedule_ratio = value.min(RANGE.1),
        (None, _) => {}
    }
}

/// The shape as it is drawn: for points, through them; otherwise with the quietest noise as one. Two phases are those of
/// the plan once it is there.
fn drawn(settings: &TrainSettings, plan: Option<&PlanPreview>) -> Vec<[f64; 2]> {
    let planned = plan
        .filter(|plan| settings.schedule == ScheduleKind::TwoPhase && !plan.outdated)
        .and_then(|plan| plan.outcome.as_ref().ok())
        .filter(|summary| summary.settings.table() == Some(settings))
        .map(|summary| summary.noise.clone());
    let is_planned = planned.is_some();
    let stretches = planned.unwrap_or_else(|| {
        let shape = Schedule::shape(&TrainSettings {
            steps: PLACES,
            ..settings.clone()
        });
        shape.stretches().to_vec()
    });
    // A shape is relative to its quietest place already.
    let quietest = if is_planned {
        let noise = stretches.iter().map(|stretch| stretch.noise_multiplier);
        noise.fold(f64::INFINITY, f64::min)
    } else {
        1.0
    };
    let lowest = if settings.schedule == ScheduleKind::Points {
        let points = settings.schedule_points.iter().copied();
        points.fold(f64::INFINITY, f64::min).clamp(RANGE.0, RANGE.1)
    } else {
        1.0
    };
    let steps: u64 = stretches.iter().map(|stretch| stretch.steps).sum();
    let mut done = 0;
    stretches
        .iter()
        .flat_map(|stretch| {
            let from = done as f64 / steps as f64;
            done += stretch.steps;
            let value = stretch.noise_multiplier / quietest * lowest;
            [[from, value], [done as f64 / steps as f64, value]]
        })
        .collect()
}

/// A point that can be dragged up and down; its new value when it was moved.
fn point(
    ui: &Ui,
    cx: &Cx<'_>,
    (at, name): (usize, &str),
    (center, value): (egui::Pos2, f64),
    ((low, high), read): ((f64, f64), &dyn Fn(f32) -> f64),
) -> Option<f64> {
    let id = ui.scope_id().with(("schedule point", at));
    let hold = Rect::from_center_size(center, egui::Vec2::splat(2.0 * REACH));
    let response = ui.interact(hold, id, Sense::click_and_drag());
    let mut wanted = None;
    if response.dragged()
        && let Some(pointer) = response.interact_pointer_pos()
    {
        wanted = Some(read(pointer.y));
    }
    if response.dragged() || response.clicked() {
        response.request_focus();
    }
    let (steps, set) = widgets::asked(ui, &response, (Key::ArrowDown, Key::ArrowUp));
    wanted = set.or(wanted);
    if steps != 0.0 {
        wanted = Some(value * KEY_FACTOR.powf(steps));
    }
    let enabled = ui.is_enabled();
    response.widget_info(|| WidgetInfo::slider(enabled, value, name));
    ui.ctx().accesskit_node_builder(id, |node| {
        node.set_min_numeric_value(low);
        node.set_max_numeric_value(high);
        node.add_action(accesskit::Action::SetValue);
        node.add_action(accesskit::Action::Increment);
        node.add_action(accesskit::Action::Decrement);
    });
    let p = cx.palette;
    let lively = response.has_focus() || response.hovered();
    let ring = Stroke::new(if lively { 2.5 } else { 2.0 }, p.second);
    ui.painter().circle(center, 5.5, p.panel, ring);
    if response.has_focus() {
        ui.painter().circle_stroke(center, 8.0, Stroke::new(1.0, p.text));
    }
    let tip = format!("{name}: ×{}", format::significant(value, 3));
    response
        .on_hover_cursor(CursorIcon::ResizeVertical)
        .on_hover_text(tip);
    wanted
        .map(|value| settled(value, low, high))
        .filter(|moved| moved.to_bits() != value.to_bits())
}

/// A value within the range, to a hundredth; what is no number is the least.
fn settled(value: f64, low: f64, high: f64) -> f64 {
    if value.is_finite() {
        ((value * 100.0).round() / 100.0).clamp(low, high)
    } else {
        low
    }
}

/// ε over the steps, up to the budget; the last curve stays, dimmed, until the new one is there.
fn epsilon(ui: &mut Ui, cx: &mut Cx<'_>, summary: &PlanSummary, outdated: bool) {
    let t = cx.texts;
    let p = cx.palette;
    let Some(total) = summary.budget_epsilon else {
        return;
    };
    let color = if outdated { p.accent_soft } else { p.accent };
    let count = |value: f64| format::count(value.max(0.0).round() as u64);
    let number = |value: f64| format::significant(value, 3);
    let limit = t.with("limit-budget", [("epsilon", number(total).into())]);
    let end = summary.steps.max(1) as f64;
    let curve = summary.epsilon_curve.clone();
    let half = at(&curve, end / 2.0);
    let scene = Scene {
        id: "planned-epsilon",
        name: t.get("schedule-epsilon"),
        x: Axis {
            range: (0.0, end),
            log: false,
            unit: t.get("axis-step"),
            write: &count,
            names: Vec::new(),
        },
        y: Axis {
            range: (0.0, total * 1.18),
            log: false,
            unit: "ε",
            write: &number,
            names: Vec::new(),
        },
        bands: Vec::new(),
        traces: vec![
            Trace {
                name: &limit,
                color: p.warn,
                text: p.warn_text,
                points: vec![[0.0, total], [end, total]],
                look: Look::Line,
                size: 1.5,
                quiet: true,
            },
            Trace {
                name: "ε",
                color,
                text: p.accent,
                points: curve,
                look: if outdated { Look::Dashed } else { Look::Line },
                size: 2.0,
                quiet: true,
            },
        ],
        marks: vec![Mark {
            x: end / 2.0,
            name: "",
            color: p.line,
        }],
        handle: None,
        steward: false,
    };
    ui.add_space(STEP / 2.0);
    ui.allocate_ui(vec2(ui.available_width(), EPSILON), |ui| {
        ui.set_height(EPSILON);
        let _ = scene.show(ui, cx);
    });
    let reached = summary.epsilon.unwrap_or(total);
    let line = t.with(
        "schedule-parts",
        [
            ("half", format::epsilon(half).into()),
            ("total", format::epsilon(reached).into()),
            (
                "share",
                format::percent(half / reached.max(f64::MIN_POSITIVE)).into(),
            ),
        ],
    );
    ui.add(egui::Label::new(cx.palette.caption(line)).wrap());
}

/// The curve's height at a step, in a straight line between its points.
fn at(curve: &[[f64; 2]], step: f64) -> f64 {
    let after = curve.iter().position(|point| point[0] >= step);
    match after {
        Some(0) => curve[0][1],
        Some(after) => {
            let ([x0, y0], [x1, y1]) = (curve[after - 1], curve[after]);
            y0 + (y1 - y0) * (step - x0) / (x1 - x0).max(f64::MIN_POSITIVE)
        }
        None => curve.last().map_or(0.0, |point| point[1]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_never_leaves_its_range() {
        assert_eq!(settled(-3.0, 0.1, 10.0), 0.1);
        assert_eq!(settled(0.0, 0.1, 10.0), 0.1);
        assert_eq!(settled(f64::NAN, 0.1, 10.0), 0.1);
        assert_eq!(settled(99.0, 0.1, 10.0), 10.0);
        assert_eq!(settled(1.234, 0.1, 10.0), 1.23);
    }

    #[test]
    fn the_drawn_shape_goes_through_its_points() {
        let settings = TrainSettings {
            schedule: ScheduleKind::Points,
            schedule_points: vec![4.0, 0.5, 2.0],
            ..TrainSettings::default()
        };
        let line = drawn(&settings, None);
        assert!((line[0][1] - 4.0).abs() < 1e-9 && (line[line.len() - 1][1] - 2.0).abs() < 1e-9);
        assert!((at(&[[0.0, 0.0], [10.0, 1.0]], 5.0) - 0.5).abs() < 1e-12);
    }
}
