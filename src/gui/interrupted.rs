//! What stands above every page while a run that was cut short waits for an answer: go on, or throw away.

use std::collections::HashSet;

use eframe::egui::{self, Align, Layout, Ui};

use crate::engine::command::Command;
use crate::engine::{Interrupted, InterruptedRun};
use crate::gui::context::{Cx, Intent};
use crate::gui::format;
use crate::gui::questions::Question;
use crate::gui::theme::STEP;
use crate::gui::widgets::{self, Icon};

/// Runs that a person has put off.
#[derive(Default)]
pub struct PutOff(HashSet<String>);

impl PutOff {
    /// The first run that waits for an answer.
    pub fn next<'a>(&self, known: &'a [Interrupted]) -> Option<&'a Interrupted> {
        known.iter().find(|run| !self.0.contains(&run.id))
    }

    /// Draws the banner of the first run that waits.
    pub fn banner(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let t = cx.texts;
        let Some(waiting) = self.next(&cx.snapshot.interrupted).cloned() else {
            return;
        };
        let busy = cx.snapshot.loading.is_some();
        cx.palette.card().show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.horizontal(|ui| {
                widgets::dot(ui, cx.palette.warn);
                ui.label(cx.palette.strong(title(cx, &waiting)));
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    let later = t.get("interrupted-later");
                    if widgets::icon_button(ui, Icon::Close, later).clicked() {
                        self.0.insert(waiting.id.clone());
                    }
                    let discard = ui.button(t.get("interrupted-discard"));
                    if discard.clicked() {
                        cx.intents
                            .push(Intent::Ask(Box::new(Question::Abandon(waiting.id.clone()))));
                    }
                    if waiting.run.is_ok() {
                        let resume = ui
                            .add_enabled(!busy, egui::Button::new(t.get("interrupted-resume")))
                            .on_disabled_hover_text(t.get("load-reading"));
                        if resume.clicked() {
                            // What becomes of it is seen on its cards; until then it is not asked about again.
                            self.0.insert(waiting.id.clone());
                            cx.send(Command::TakeUp {
                                id: waiting.id.clone(),
                                device: Some(cx.settings.device),
                                watched: true,
                            });
                        }
                    }
                });
            });
            let text = match &waiting.run {
                Ok(run) => resume_text(cx, run),
                Err(problem) => format!("{} {}", t.get("interrupted-unusable"), t.say(&problem.message)),
            };
            ui.add(egui::Label::new(cx.palette.caption(text)).wrap());
        });
        ui.add_space(STEP);
    }

    /// The run that was to go on could not: it waits again.
    pub fn ask_again(&mut self) {
        self.0.clear();
    }
}

/// Which run, and how far it came.
pub fn title(cx: &Cx<'_>, waiting: &Interrupted) -> String {
    let t = cx.texts;
    let Ok(run) = &waiting.run else {
        let called = waiting.name.as_ref().unwrap_or(&waiting.id);
        return t.with("interrupted-title-unknown", [("id", called.as_str().into())]);
    };
    let key = match (&waiting.name, run.is_ended) {
        (Some(_), false) => "interrupted-title-named",
        (None, false) => "interrupted-title",
        (Some(_), true) => "interrupted-title-ended-named",
        (None, true) => "interrupted-title-ended",
    };
    t.with(
        key,
        [
            ("called", waiting.name.as_deref().unwrap_or_default().into()),
            ("method", t.get(&format!("method-{}", run.method.name())).into()),
            ("name", run.dataset.as_str().into()),
            ("step", format::count(run.step).into()),
            ("steps", format::count(run.steps).into()),
        ],
    )
}

/// What going on means for the account.
fn resume_text(cx: &Cx<'_>, run: &InterruptedRun) -> String {
    let t = cx.texts;
    if run.target.is_none() {
        return t.get("interrupted-resume-no-claim").to_owned();
    }
    let entry = run.entry.map(|entry| entry.to_string()).unwrap_or_default();
    let key = if run.is_ended {
        "interrupted-resume-ended"
    } else if run.lost() > 0 {
        "interrupted-resume-lost"
    } else {
        "interrupted-resume-text"
    };
    t.with(
        key,
        [
            ("entry", entry.into()),
            ("lost", format::count(run.lost()).into()),
            ("at", format::count(run.goes_on).into()),
        ],
    )
}

/// What throwing away means for the account.
pub fn discard_text(cx: &Cx<'_>, waiting: &Interrupted) -> String {
    let t = cx.texts;
    match &waiting.run {
        Ok(run) if run.target.is_none() => t.get("interrupted-discard-no-claim").to_owned(),
        Ok(run) if run.is_ended => t.get("interrupted-discard-ended").to_owned(),
        Ok(run) if run.is_all_spent => t.get("interrupted-discard-all").to_owned(),
        Ok(run) => t.with(
            "interrupted-discard-text",
            [
                ("at", format::count(run.goes_on).into()),
                ("steps", format::count(run.steps).into()),
            ],
        ),
        Err(_) => t.get("interrupted-discard-unusable").to_owned(),
    }
}
