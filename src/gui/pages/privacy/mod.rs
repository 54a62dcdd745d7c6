//! What was spent, what it means, and what a further spend would come to: the dashboard of the budget.

mod budget;
mod choices;
mod csv;
mod details;
mod ledger;
mod reading;
mod tradeoff;
mod whatif;
mod words;

use std::sync::Arc;

use eframe::egui::{self, Align, Layout, RichText, Ui, vec2};

pub use choices::PrivacyChoices;

use crate::engine::command::Command;
use crate::engine::{MeaningAnswer, MeaningQuestion};
use crate::gui::context::Cx;
use crate::gui::jobs;
use crate::gui::theme::STEP;
use crate::gui::widgets;

/// Below this width the cards stand under each other.
const STACKED: f32 = 820.0;
/// The height of the cards that say what ε means.
const MEANING: f32 = 400.0;
/// The least height of the ledger's card.
const LEAST_LEDGER: f32 = 204.0;
/// The same while an entry is open: its details have to be read.
const OPEN_LEDGER: f32 = 400.0;
/// δ at which ε is read where neither a total nor a charge names one.
const USUAL_DELTA: f64 = 1e-5;

/// What the page remembers between frames.
#[derive(Default)]
pub struct PrivacyPage {
    /// What can be taken back.
    pub choices: PrivacyChoices,
    total: budget::TotalForm,
    table: ledger::LedgerTable,
    curve: tradeoff::Curve,
    /// What the engine was last asked.
    asked: Option<MeaningQuestion>,
    /// Whether the ledger's card shows what a further spend would come to.
    supposing: bool,
}

impl PrivacyPage {
    /// Draws the page.
    pub fn show(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        self.ask(cx);
        egui::Frame::new().inner_margin(12).show(ui, |ui| {
            egui::ScrollArea::vertical()
                .id_salt("privacy")
                .auto_shrink(false)
                .show(ui, |ui| {
                    let height = ui.available_height();
                    let top = ui.cursor().top();
                    ui.spacing_mut().item_spacing = vec2(STEP, STEP);
                    banner(ui, cx);
                    self.budget(ui, cx);
                    self.meaning(ui, cx);
                    let rest = height - (ui.cursor().top() - top) - 2.0;
                    let least = if self.table.is_open() && !self.supposing {
                        OPEN_LEDGER
                    } else {
                        LEAST_LEDGER
                    };
                    self.entries(ui, cx, rest.max(least));
                });
        });
    }

    fn budget(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let Some(dataset) = cx.snapshot.dataset.clone() else {
            return;
        };
        let Some(budget) = &dataset.budget else { return };
        let answer = self.answer(cx);
        let two = ui.available_width() >= STACKED;
        let asks = budget.total.is_none() && !dataset.schema.public;
        let height = if asks { budget::WITH_FORM } else { budget::HEIGHT };
        if !two {
            widgets::card(ui, cx.palette, |ui| {
                self.total.budget(ui, cx, &dataset, budget);
            });
            let size = vec2(ui.available_width(), height);
            card(ui, cx, size, |ui, cx| {
                budget::over_time(ui, cx, budget, answer.as_deref());
            });
            return;
        }
        let half = (ui.available_width() - STEP) / 2.0;
        ui.horizontal_top(|ui| {
            card(ui, cx, vec2(half, height), |ui, cx| {
                self.total.budget(ui, cx, &dataset, budget);
            });
            card(ui, cx, vec2(half, height), |ui, cx| {
                budget::over_time(ui, cx, budget, answer.as_deref());
            });
        });
    }

    fn meaning(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let reading = reading::read(cx, &self.choices, self.answer(cx).as_deref(), self.asked.as_ref());
        let two = ui.available_width() >= STACKED;
        let width = if two {
            (ui.available_width() - STEP) / 2.0
        } else {
            ui.available_width()
        };
        let (choices, curve) = (&mut self.choices, &mut self.curve);
        let mut left = |ui: &mut Ui, cx: &mut Cx<'_>, choices: &mut PrivacyChoices| {
            card(ui, cx, vec2(width, MEANING), |ui, cx| {
                tradeoff::show(ui, cx, choices, &reading, curve);
            });
        };
        let right = |ui: &mut Ui, cx: &mut Cx<'_>, choices: &mut PrivacyChoices| {
            card(ui, cx, vec2(width, MEANING), |ui, cx| {
                words::show(ui, cx, choices, &reading);
            });
        };
        if two {
            ui.horizontal_top(|ui| {
                left(ui, cx, choices);
                right(ui, cx, choices);
            });
        } else {
            left(ui, cx, choices);
            right(ui, cx, choices);
        }
    }

    fn entries(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, height: f32) {
        let answer = self.answer(cx);
        let size = vec2(ui.available_width(), height);
        let was_open = self.table.is_open();
        let top = ui.cursor().min;
        card(ui, cx, size, |ui, cx| {
            ui.horizontal(|ui| {
                let t = cx.texts;
                for (supposing, key) in [(false, "ledger-title"), (true, "what-if-title")] {
                    if widgets::tab(ui, cx.palette, self.supposing == supposing, t.get(key)).clicked() {
                        self.supposing = supposing;
                    }
                }
                if self.supposing {
                    widgets::truncated(ui, cx.palette.caption(t.get("what-if-lead")));
                } else {
                    self.table.head(ui, cx, answer.as_deref());
                }
            });
            if self.supposing {
                whatif::show(ui, cx, &mut self.choices, answer.as_deref(), self.asked.as_ref());
            } else {
                self.table.show(ui, cx, answer.as_deref());
            }
        });
        if self.table.is_open() && !was_open {
            // The card grows downwards with the next frame.
            let grown = egui::Rect::from_min_size(top, vec2(size.x, OPEN_LEDGER));
            ui.scroll_to_rect(grown, None);
            ui.ctx().request_repaint();
        }
    }

    /// The last answer about the open table, which may be of an earlier question.
    fn answer(&self, cx: &Cx<'_>) -> Option<Arc<MeaningAnswer>> {
        let asked = self.asked.as_ref()?;
        cx.snapshot
            .meaning
            .clone()
            .filter(|answer| answer.question.dataset == asked.dataset)
    }

    /// Asks the engine what the account comes to, whenever it or the plan has changed. The chain is read afresh first.
    fn ask(&mut self, cx: &mut Cx<'_>) {
        let ledger = &cx.snapshot.ledger;
        if ledger.problem.is_some() {
            return;
        }
        if ledger.check.is_none() {
            if self
                .asked
                .as_ref()
                .is_none_or(|asked| !Arc::ptr_eq(&asked.ledger, ledger))
            {
                cx.send(Command::CheckLedger);
                // The view without a check stands for "being checked".
                self.asked = Some(self.question(cx));
            }
            return;
        }
        let question = self.question(cx);
        if self.asked.as_ref() != Some(&question) {
            cx.send(Command::Weigh(Box::new(question.clone())));
            self.asked = Some(question);
        }
    }

    fn question(&self, cx: &Cx<'_>) -> MeaningQuestion {
        let budget = cx
            .snapshot
            .dataset
            .as_ref()
            .and_then(|dataset| dataset.budget.as_ref());
        let total = budget.and_then(|budget| budget.total);
        let charged = budget.map_or(0.0, |budget| budget.spent.delta.max(budget.reserved.delta));
        MeaningQuestion {
            ledger: Arc::clone(&cx.snapshot.ledger),
            dataset: budget.and_then(|budget| budget.dataset),
            total,
            planned: self.choices.planned(cx),
            delta: total.map_or(
                if charged > 0.0 {
                    charged.min(0.5)
                } else {
                    USUAL_DELTA
                },
                |total| total.delta,
            ),
        }
    }
}

/// What a person must know before anything else: the ledger cannot be used, or its chain is not whole.
fn banner(ui: &mut Ui, cx: &mut Cx<'_>) {
    let t = cx.texts;
    let ledger = Arc::clone(&cx.snapshot.ledger);
    let findings = ledger.check.as_ref().map_or(&[][..], |check| &check.findings);
    if ledger.problem.is_none() && findings.is_empty() {
        crate::gui::problems::show(ui, cx, crate::engine::Area::Ledger);
        return;
    }
    let frame = cx
        .palette
        .card()
        .stroke(egui::Stroke::new(2.0, cx.palette.second));
    frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.label(cx.palette.title(t.get("chain-broken-title")));
        if let Some(problem) = &ledger.problem {
            jobs::problem(ui, cx, problem);
        }
        for finding in findings {
            let text = RichText::new(t.say(finding)).color(cx.palette.second_text);
            ui.add(egui::Label::new(text).wrap().selectable(true));
        }
        if !findings.is_empty() {
            ui.add(egui::Label::new(t.get("chain-broken-text")).wrap());
        }
        if ui.button(t.get("chain-check")).clicked() {
            cx.send(Command::CheckLedger);
        }
    });
}

/// A card of this size.
fn card(ui: &mut Ui, cx: &mut Cx<'_>, size: egui::Vec2, contents: impl FnOnce(&mut Ui, &mut Cx<'_>)) {
    ui.allocate_ui_with_layout(size, Layout::top_down(Align::Min), |ui| {
        cx.palette.card().show(ui, |ui| {
            let inner = size - vec2(26.0, 22.0);
            ui.set_min_size(inner);
            ui.set_max_size(inner);
            ui.spacing_mut().item_spacing = vec2(STEP, 4.0);
            contents(ui, cx);
        });
    });
}
