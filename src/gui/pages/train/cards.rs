//! The cards of a live run.

mod plots;

use eframe::egui::{self, Align, Layout, RichText, Ui, vec2};

use crate::engine::command::Method;
use crate::engine::event::Problem;
use crate::engine::snapshot::{RunState, RunView, Series};
use crate::gui::command::{Action, Page};
use crate::gui::context::{Cx, Intent};
use crate::gui::format;
use crate::gui::jobs;
use crate::gui::messages::was_discarded;
use crate::gui::pages::train::compare::Overlaid;
use crate::gui::pages::train::grid::GridView;
use crate::gui::pages::train::{critic, sample};
use crate::gui::plot::{self, Curve, Dash};
use crate::gui::theme::{Palette, STEP};
use crate::gui::widgets;

/// The least height of a plot's card.
const LEAST: f32 = 204.0;
/// The least height of the rows' card.
const LEAST_ROWS: f32 = 150.0;
/// The least height of a plot beside the images.
const LEAST_BESIDE: f32 = 168.0;
/// The least height of the images' card where plots stand under it.
const LEAST_IMAGES: f32 = 360.0;
/// Below this width the cards stand in one column.
const TWO_COLUMNS: f32 = 640.0;
/// What a card's frame and head take of its height.
const HEAD: f32 = 48.0;

/// The page before there is any run: what to do next.
pub fn empty(ui: &mut Ui, cx: &mut Cx<'_>, blocked: Option<&str>) {
    let t = cx.texts;
    widgets::card(ui, cx.palette, |ui| {
        ui.set_min_height((ui.available_height() - 2.0).max(160.0));
        ui.with_layout(Layout::top_down(Align::Center), |ui| {
            ui.add_space((ui.available_height() * 0.3).min(200.0));
            ui.label(cx.palette.title(t.get("train-empty-title")));
            ui.set_max_width(460.0);
            ui.add(
                egui::Label::new(t.get(if blocked.is_some() {
                    "train-empty-blocked"
                } else {
                    "train-empty"
                }))
                .wrap(),
            );
            if blocked.is_some() {
                cx.button(ui, Action::Go(Page::Data), None);
            } else {
                cx.button(ui, Action::Start, None);
            }
        });
    });
}

/// Draws the inside of a card of this height.
type Draw = fn(&mut Ui, &mut Cx<'_>, &Shown<'_>, f32);

/// The run in view, and those that are drawn over it.
pub struct Shown<'a> {
    /// The run in view.
    pub run: &'a RunView,
    /// Those drawn over it.
    pub over: &'a [Overlaid],
}

impl Shown<'_> {
    /// The last planned step of any of them.
    pub fn x_end(&self) -> f64 {
        let steps = self.over.iter().map(|over| over.run.steps);
        steps.fold(self.run.steps, u64::max) as f64
    }

    /// The same line of each run that is drawn over, where it has one that can be held against this run's.
    pub fn curves<'a>(
        &'a self,
        line: impl Fn(&'a RunView) -> &'a [[f64; 2]],
        names: &'a [String],
    ) -> Vec<Curve<'a>> {
        let over = self.over.iter().zip(names);
        over.filter(|(over, _)| !line(&over.run).is_empty())
            .map(|(over, name)| Curve {
                name,
                color: over.color,
                text: over.color,
                raw: &[],
                line: line(&over.run),
                dash: Dash::Over(over.place),
            })
            .collect()
    }

    /// What the lines of runs drawn over are called; `part` tells lines of one run apart.
    pub fn names(&self, part: &str) -> Vec<String> {
        let name = |over: &Overlaid| {
            if part.is_empty() {
                over.name.clone()
            } else {
                format!("{} · {part}", over.name)
            }
        };
        self.over.iter().map(name).collect()
    }
}

/// Draws all cards of a run.
pub fn show(ui: &mut Ui, cx: &mut Cx<'_>, shown: &Shown<'_>, grid: &mut GridView) {
    let run = shown.run;
    banner(ui, cx, run);
    if run.thrown_away {
        return;
    }
    let open = cx.snapshot.dataset.as_ref().map(|dataset| dataset.generation);
    if open != Some(run.generation) {
        let line = cx
            .texts
            .with("run-of-table", [("name", run.dataset.as_str().into())]);
        ui.label(cx.palette.caption_on_ground(line));
    }
    let is_of_images = run
        .plan
        .as_ref()
        .is_some_and(|plan| plan.settings.images().is_some());
    if is_of_images {
        of_images(ui, cx, shown, grid);
    } else {
        of_table(ui, cx, shown);
    }
}

/// The cards of a run on images: the images large, its plots beside them.
fn of_images(ui: &mut Ui, cx: &mut Cx<'_>, shown: &Shown<'_>, grid: &mut GridView) {
    let run = shown.run;
    let size = ui.available_size() - vec2(0.0, 4.0);
    let two = size.x >= TWO_COLUMNS;
    ui.spacing_mut().item_spacing = vec2(STEP, STEP);
    let plots: [Draw; 3] = [plots::loss, plots::fid, plots::privacy];
    let count = plots.len() as f32;
    let plot = if two {
        let height = ((size.y - STEP * (count - 1.0)) / count).max(LEAST_BESIDE);
        vec2(((size.x - STEP) * 0.42).min(460.0), height)
    } else {
        vec2(size.x, LEAST)
    };
    // A run that steps a critic has two plots more, under the images.
    let below: &[Draw] = if run.method == Method::DpMerf {
        &[]
    } else {
        &[critic::shares, critic::norms]
    };
    let images = if two {
        let rows = if below.is_empty() { count } else { count - 1.0 };
        vec2(size.x - STEP - plot.x, rows * (plot.y + STEP) - STEP)
    } else {
        vec2(size.x, LEAST_IMAGES)
    };
    let plots = |ui: &mut Ui, cx: &mut Cx<'_>| {
        ui.vertical(|ui| {
            for (at, draw) in plots.iter().enumerate() {
                ui.push_id(("card", at), |ui| {
                    card(ui, cx.palette, plot, |ui| draw(ui, cx, shown, plot.y - HEAD));
                });
            }
        });
    };
    if two {
        ui.horizontal_top(|ui| {
            plots(ui, cx);
            ui.vertical(|ui| {
                card(ui, cx.palette, images, |ui| {
                    grid.show(ui, cx, run, images.y - HEAD);
                });
                if !below.is_empty() {
                    let each = vec2((images.x - STEP) / 2.0, plot.y);
                    ui.horizontal_top(|ui| beside(ui, cx, shown, below, each));
                }
            });
        });
    } else {
        card(ui, cx.palette, images, |ui| {
            grid.show(ui, cx, run, images.y - HEAD);
        });
        plots(ui, cx);
        ui.vertical(|ui| beside(ui, cx, shown, below, plot));
    }
}

/// Cards of this size, one after the other.
fn beside(ui: &mut Ui, cx: &mut Cx<'_>, shown: &Shown<'_>, cards: &[Draw], size: egui::Vec2) {
    for (at, draw) in cards.iter().enumerate() {
        ui.push_id(("critic card", at), |ui| {
            card(ui, cx.palette, size, |ui| draw(ui, cx, shown, size.y - HEAD));
        });
    }
}

/// The cards of a run on a table.
fn of_table(ui: &mut Ui, cx: &mut Cx<'_>, shown: &Shown<'_>) {
    let run = shown.run;
    let gap = STEP;
    let size = ui.available_size();
    let two = size.x >= TWO_COLUMNS;
    let width = if two { (size.x - gap) / 2.0 } else { size.x };
    let height = ((size.y - 2.0 * gap) * 0.31).clamp(LEAST, 320.0);
    ui.spacing_mut().item_spacing = vec2(gap, gap);
    let cards: [Draw; 4] = [plots::loss, plots::frechet, plots::privacy, plots::histogram];
    let columns = if two { 2 } else { 1 };
    for (row, pair) in cards.chunks(columns).enumerate() {
        ui.horizontal_top(|ui| {
            for (at, draw) in pair.iter().enumerate() {
                ui.push_id(("card", row, at), |ui| {
                    card(ui, cx.palette, vec2(width, height), |ui| {
                        draw(ui, cx, shown, height - HEAD);
                    });
                });
            }
        });
    }
    let used = 2.0 * (height + gap) * if two { 1.0 } else { 2.0 };
    let rest = (size.y - used - 4.0).max(LEAST_ROWS);
    card(ui, cx.palette, vec2(size.x, rest), |ui| {
        plot::head(
            ui,
            cx,
            cx.texts.get("card-sample"),
            false,
            cx.texts.get("card-sample-caption"),
        );
        sample::show(ui, cx, &run.sample, run.id.0, rest - HEAD);
    });
}

fn card(ui: &mut Ui, palette: &Palette, size: egui::Vec2, contents: impl FnOnce(&mut Ui)) {
    ui.allocate_ui_with_layout(size, Layout::top_down(Align::Min), |ui| {
        palette.card().show(ui, |ui| {
            let inner = size - vec2(26.0, 22.0);
            ui.set_min_size(inner);
            ui.set_max_size(inner);
            ui.spacing_mut().item_spacing = vec2(STEP, 4.0);
            contents(ui);
        });
    });
}

/// What a person must know of the run's state, above its cards.
fn banner(ui: &mut Ui, cx: &mut Cx<'_>, run: &RunView) {
    let t = cx.texts;
    match &run.state {
        RunState::Failed(problem) => failed(ui, cx, problem),
        RunState::Finished(_) => {
            widgets::card(ui, cx.palette, |ui| {
                ui.horizontal_wrapped(|ui| {
                    widgets::dot(ui, cx.palette.ok);
                    ui.label(cx.palette.strong(jobs::run_state(cx, run)));
                    let (key, steps) = match run.taken_up_at {
                        0 => ("finished-line", run.step),
                        from => ("finished-line-resumed", run.step.saturating_sub(from)),
                    };
                    let line = t.with(
                        key,
                        [
                            ("steps", format::count(steps).into()),
                            ("all", format::count(run.step).into()),
                            ("time", format::duration(run.seconds).into()),
                        ],
                    );
                    ui.label(cx.palette.caption(line));
                    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                        if cx.button(ui, Action::Go(Page::Export), None).clicked() {
                            cx.intents.push(Intent::Export(run.id));
                        }
                    });
                });
            });
        }
        _ => {}
    }
    if run.seed.is_some() {
        ui.label(RichText::new(t.get("seed-warning")).color(cx.palette.warn_text));
    } else if run.target.is_none() {
        ui.label(RichText::new(t.get("run-no-claim")).color(cx.palette.warn_text));
    }
}

fn failed(ui: &mut Ui, cx: &Cx<'_>, problem: &Problem) {
    let key = if was_discarded(problem) {
        "event-discarded"
    } else {
        "problem-train"
    };
    widgets::card(ui, cx.palette, |ui| {
        ui.label(cx.palette.strong(cx.texts.get(key)));
        jobs::problem(ui, cx, problem);
    });
}

/// A card's head, with what the card shows on hover over its title.
pub(super) fn head(ui: &mut Ui, cx: &Cx<'_>, key: &str, steward: bool, caption: &str) {
    let tip = format!("{key}-tip");
    let title = (cx.texts.get(key), cx.texts.get(&tip));
    widgets::card_head(ui, cx, title, steward, caption);
}

/// Says what an empty plot waits for; true if the plot is empty.
pub(super) fn waits(ui: &mut Ui, cx: &Cx<'_>, series: &Series, key: &str) -> bool {
    let empty = series.raw.is_empty() && series.smooth.is_empty();
    if empty {
        ui.label(cx.palette.caption(cx.texts.get(key)));
    }
    empty
}

pub(super) fn smooth(series: &Series) -> &[[f64; 2]] {
    if series.smooth.is_empty() {
        &series.raw
    } else {
        &series.smooth
    }
}
