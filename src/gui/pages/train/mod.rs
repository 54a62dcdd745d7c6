//! The plan on the left, the live run on the right.

mod cards;
mod compare;
pub mod cost;
mod critic;
mod form;
pub mod grid;
mod histograms;
mod inverse;
mod nearest;
pub mod sample;
mod schedule;

use std::cell::Cell;
use std::mem::discriminant;
use std::path::PathBuf;
use std::sync::Arc;

use eframe::egui::{self, Ui};

use crate::data::Schema;
use crate::engine::command::{Command, PrivacyTarget, RunId, RunRequest};
use crate::engine::snapshot::{Dataset, PlanPreview, RunView, Snapshot};
use crate::gui::command::Action;
use crate::gui::context::Cx;
use crate::gui::pages::data::open_names;
use crate::gui::panels::Sized;
use crate::gui::theme::STEP;
use crate::gui::widgets;
use crate::train::{RunSettings, TrainSettings};

/// The width of the form.
const FORM: f32 = 292.0;
/// Below this width the form stands above the cards.
const STACKED: f32 = 700.0;

/// What the page remembers between frames.
pub struct TrainPage {
    /// The run as the form has it.
    pub request: RunRequest,
    /// The promise to return to when a method without one is left.
    target: PrivacyTarget,
    /// The settings that the engine recommended last; the form's reset returns to them.
    recommended: RunSettings,
    asked: Option<(RunRequest, Arc<Schema>)>,
    focus: Option<RunId>,
    odds: Cell<Option<([u64; 3], f64)>>,
    form: form::Form,
    /// The latest run when a start was sent, until the new run is seen: a second press must not reserve twice.
    starting: Option<RunId>,
    inverse: inverse::Inverse,
    grid: grid::GridView,
    compare: compare::Compare,
    advised: Advised,
    /// What stands in a field and is not taken.
    refused: Option<String>,
}

/// Whose choice the method is.
#[derive(Default)]
struct Advised {
    /// The opening of a table that this is about.
    generation: Option<u64>,
    /// Which table that was: its file, and its name.
    table: Option<(Option<PathBuf>, String)>,
    /// Whether the method stays as it is, whatever is advised: it was advised, or a person chose it.
    settled: bool,
    /// Whether the next table comes with its method.
    resumes: bool,
    /// Whether the method was changed since it was last asked.
    changed: bool,
}

impl Default for TrainPage {
    fn default() -> Self {
        Self {
            request: RunRequest::default(),
            target: PrivacyTarget::default(),
            recommended: RunSettings::Table(TrainSettings::default()),
            asked: None,
            focus: None,
            odds: Cell::new(None),
            form: form::Form::default(),
            starting: None,
            inverse: inverse::Inverse::default(),
            grid: grid::GridView::default(),
            compare: compare::Compare::default(),
            advised: Advised::default(),
            refused: None,
        }
    }
}

impl TrainPage {
    /// Draws the page; there is an open table or a run.
    pub fn show(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        self.request.device = cx.settings.device;
        self.suit(cx.snapshot.dataset.as_deref());
        self.take_advice(cx);
        self.inverse.take(cx, &mut self.request);
        self.draw(ui, cx);
        self.refused = widgets::number::refused(ui.ctx(), cx.texts);
        // After the form, so that what it asks for is what it shows.
        self.ask_for_plan(cx);
    }

    fn draw(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        if ui.available_width() < STACKED {
            egui::ScrollArea::vertical()
                .id_salt("train")
                .auto_shrink(false)
                .show(ui, |ui| {
                    cx.palette.card().show(ui, |ui| {
                        ui.set_width(ui.available_width());
                        self.form_contents(ui, cx);
                        cost::start(ui, cx, self);
                    });
                    ui.add_space(STEP);
                    self.cards(ui, cx);
                });
            return;
        }
        let frame = egui::Frame::new()
            .fill(cx.palette.panel)
            .inner_margin(egui::Margin {
                left: 14,
                right: 6,
                top: 12,
                bottom: 12,
            });
        if cx.settings.folded.plan {
            egui::Panel::left("plan folded")
                .resizable(false)
                .exact_size(44.0)
                .frame(egui::Frame::new().fill(cx.palette.panel).inner_margin(8))
                .show(ui, |ui| widgets::fold(ui, cx, Action::FoldPlan, true));
            self.cards_area(ui, cx);
            return;
        }
        let panel = egui::Panel::left("plan").frame(frame);
        Sized::Plan.show(ui, cx, panel, (FORM, 248.0..=440.0), |ui, cx| {
            // What starts the run stays in view, however long the form is.
            egui::Panel::bottom("start")
                .resizable(false)
                .show_separator_line(false)
                .frame(egui::Frame::new().inner_margin(egui::Margin {
                    right: 8,
                    top: 8,
                    ..Default::default()
                }))
                .show(ui, |ui| cost::start(ui, cx, self));
            egui::ScrollArea::vertical()
                .id_salt("form")
                .auto_shrink(false)
                .show(ui, |ui| {
                    ui.set_width(ui.available_width() - 8.0);
                    self.form_contents(ui, cx);
                });
        });
        self.cards_area(ui, cx);
    }

    fn cards_area(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        egui::CentralPanel::no_frame().show(ui, |ui| {
            egui::Frame::new().inner_margin(12).show(ui, |ui| {
                egui::ScrollArea::vertical()
                    .id_salt("cards")
                    .auto_shrink(false)
                    .show(ui, |ui| {
                        self.cards(ui, cx);
                    });
            });
        });
    }

    /// Takes back what does not suit the data that is open: a method or settings of the other kind of data.
    fn suit(&mut self, dataset: Option<&Dataset>) {
        let Some(dataset) = dataset else { return };
        if self.advised.generation != Some(dataset.generation) {
            let table = (dataset.path.clone(), dataset.name.clone());
            let is_other = self.advised.table.as_ref().is_some_and(|known| *known != table);
            let begins_anew = is_other && !self.advised.resumes;
            self.advised = Advised {
                generation: Some(dataset.generation),
                table: Some(table),
                settled: self.advised.resumes,
                changed: begins_anew,
                resumes: false,
            };
            if begins_anew {
                self.begin_anew();
            }
        }
        let methods = form::methods_for(Some(dataset));
        if dataset.images.is_some() && !self.advised.settled {
            // The first of the methods for images is the one to begin with.
            self.advised.settled = true;
            self.advised.changed = self.request.method != methods[0];
            self.request.method = methods[0];
            self.request.target = self.request.method.is_private().then_some(self.target);
        }
        if !methods.contains(&self.request.method) {
            self.request.method = methods[0];
            self.request.target = self.request.method.is_private().then_some(self.target);
        }
        let kind = self.request.method.settings(dataset.images.is_some());
        let fits = |settings: &RunSettings| discriminant(settings) == discriminant(&kind);
        self.request.settings = self.request.settings.take().filter(fits);
        if !fits(&self.recommended) {
            self.recommended = kind;
        }
    }

    /// What was chosen for another table is no plan for this one; how much of ε a person will spend may be.
    fn begin_anew(&mut self) {
        let target = PrivacyTarget {
            epsilon: self.target.epsilon,
            ..PrivacyTarget::default()
        };
        self.target = target;
        self.request = RunRequest {
            target: Some(target),
            device: self.request.device,
            ..RunRequest::default()
        };
        self.request.target = self.request.method.is_private().then_some(target);
        self.recommended = self.request.method.settings(false);
    }

    /// Looks at the table that is open, whichever page is in view.
    pub fn meet(&mut self, snapshot: &Snapshot) {
        self.suit(snapshot.dataset.as_deref());
    }

    /// Looks for the run that a start was sent for. Once it is there the start is over for good: the runs may be
    /// deleted again, and then the latest would be an old one.
    pub fn await_start(&mut self, snapshot: &Snapshot) {
        self.starting = self
            .starting
            .filter(|last| latest(snapshot).is_none_or(|run| run <= *last));
    }

    /// Begins with the method that is advised, once for each table, unless a person has chosen.
    fn take_advice(&mut self, cx: &Cx<'_>) {
        let advice = self.answer(cx).and_then(|plan| plan.advice.as_ref());
        if let Some(advice) = advice.filter(|_| !self.advised.settled) {
            self.advised.settled = true;
            if self.request.method != advice.method {
                self.request.method = advice.method;
                self.advised.changed = true;
                self.suit(cx.snapshot.dataset.as_deref());
            }
        }
    }

    /// Takes up a plan of an earlier session; its method stays.
    pub fn resume(&mut self, request: RunRequest) {
        self.request = request;
        self.advised.resumes = true;
    }

    /// Whether the program itself has changed the method since this was last asked: no step to take back.
    pub fn was_advised(&mut self) -> bool {
        std::mem::take(&mut self.advised.changed)
    }

    /// The answer to what the form asks, once it is there.
    fn answer<'a>(&self, cx: &Cx<'a>) -> Option<&'a Arc<PlanPreview>> {
        cx.snapshot
            .plan
            .as_ref()
            .filter(|plan| plan.request == self.request)
    }

    /// Asks the engine what the form's run would be, whenever the form or the schema has changed.
    fn ask_for_plan(&mut self, cx: &mut Cx<'_>) {
        let snapshot = cx.snapshot;
        if let Some(plan) = &snapshot.plan
            && plan.request.settings.is_none()
            && let Ok(summary) = &plan.outcome
        {
            self.recommended.clone_from(&summary.settings);
        }
        let Some(dataset) = &snapshot.dataset else {
            self.asked = None;
            return;
        };
        if !dataset.open.is_empty() || dataset.misfit.is_some() {
            self.asked = None;
            return;
        }
        let known = self.asked.as_ref().is_some_and(|(request, schema)| {
            *request == self.request && Arc::ptr_eq(schema, &dataset.schema)
        });
        if !known {
            self.asked = Some((self.request.clone(), Arc::clone(&dataset.schema)));
            cx.send(Command::PreviewPlan(Box::new(self.request.clone())));
        }
    }

    /// Why the run cannot be started, if it cannot.
    pub fn blocked(&self, cx: &Cx<'_>) -> Option<String> {
        let t = cx.texts;
        if self.starting.is_some() {
            return Some(t.get("start-sent").to_owned());
        }
        if let Some(refused) = &self.refused {
            return Some(refused.clone());
        }
        if let Some(problem) = &cx.snapshot.ledger.problem
            && self.request.method.is_private()
        {
            return Some(t.say(&problem.message));
        }
        let Some(dataset) = &cx.snapshot.dataset else {
            return Some(t.get("start-no-table").to_owned());
        };
        if let Some(misfit) = &dataset.misfit {
            return Some(t.say(&misfit.message));
        }
        if !dataset.open.is_empty() {
            let names = open_names(t, &dataset.open);
            return Some(t.with("start-open-columns", [("names", names.into())]));
        }
        if self.request.method.is_private() && !dataset.may_be_version_of.is_empty() {
            return Some(t.get("start-version-open").to_owned());
        }
        let plan = self.answer(cx)?;
        match &plan.outcome {
            Err(problem) => Some(t.say(&problem.message)),
            Ok(_) => cost::over_total(cx, plan),
        }
    }

    fn form_contents(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let plan = self.answer(cx).cloned();
        let typed = self.request.settings.clone();
        let planned = plan.as_ref().and_then(|plan| plan.outcome.as_ref().ok());
        let settings = typed
            .or_else(|| planned.map(|plan| plan.settings.clone()))
            .unwrap_or_else(|| self.recommended.clone());
        let known = form::Known {
            settings: &settings,
            recommended: &self.recommended,
            // What was worked out last stays in view, dimmed, until the new plan is there.
            plan: cx.snapshot.plan.clone(),
        };
        let method = self.request.method;
        self.form
            .show(ui, cx, &mut self.request, &mut self.target, &known);
        self.advised.settled |= self.request.method != method;
        self.inverse.show(ui, cx, &self.request, plan.as_deref());
        cost::show(ui, cx, self, plan.as_deref());
    }

    /// The run in view: the one chosen, or the latest.
    fn run<'a>(&self, cx: &Cx<'a>) -> Option<&'a Arc<RunView>> {
        self.focus
            .and_then(|id| cx.snapshot.run(id))
            .or_else(|| cx.snapshot.runs.last())
    }

    fn cards(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let Some(run) = self.run(cx).cloned() else {
            cards::empty(ui, cx, self.blocked(cx).as_deref());
            return;
        };
        if cx.snapshot.runs.len() > 1
            && let Some(chosen) = self.compare.show(ui, cx, run.id)
        {
            self.focus = Some(chosen);
        }
        let over = self.compare.overlaid(cx, run.id);
        let shown = cards::Shown {
            run: &run,
            over: &over,
        };
        cards::show(ui, cx, &shown, &mut self.grid);
    }

    /// The rate at which an attacker finds rows behind one Gaussian mechanism of the same promise.
    fn gaussian_rate(&self, epsilon: f64, delta: f64, false_alarms: f64) -> f64 {
        // The last answer is kept: the same promise is asked for in every frame.
        let key = [epsilon, delta, false_alarms].map(f64::to_bits);
        if let Some((known, rate)) = self.odds.get()
            && known == key
        {
            return rate;
        }
        let rate = cost::gaussian_rate(epsilon, delta, false_alarms);
        self.odds.set(Some((key, rate)));
        rate
    }

    /// Shows this run from now on.
    pub fn look_at(&mut self, run: RunId) {
        self.focus = Some(run);
    }

    /// A run is on its way to the engine.
    pub fn sent(&mut self, snapshot: &Snapshot) {
        self.starting = Some(latest(snapshot).unwrap_or(RunId(0)));
    }

    /// The engine has answered.
    pub fn answered(&mut self) {
        self.starting = None;
    }
}

fn latest(snapshot: &Snapshot) -> Option<RunId> {
    snapshot.runs.last().map(|run| run.id)
}
