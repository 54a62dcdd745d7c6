//! What is asked before budget is reserved, raised or lost, and before values read off private rows are let stand.

use eframe::egui::{self, RichText, TextEdit, Ui};

use super::answer;
use crate::data::OpenReason;
use crate::engine::command::{Command, RunId, RunRequest, SchemaEdit};
use crate::engine::snapshot::{RunState, RunView};
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::interrupted;
use crate::gui::jobs;
use crate::gui::theme::STEP;
use crate::gui::widgets::{NumberField, number};
use crate::num::Epsilon;
use crate::privacy::ledger::Charge;

/// A higher total.
#[derive(Clone, Debug)]
pub struct Raise {
    /// The data set's name.
    pub name: String,
    /// The present total.
    pub present: Charge,
    /// The new one as it stands in the fields.
    pub wanted: Charge,
    /// Why.
    pub reason: String,
}

/// What goes with a run that is deleted, what stays of it in files, and what stays in the ledger.
pub(super) fn forget(ui: &mut Ui, cx: &mut Cx<'_>, run: RunId) -> bool {
    let t = cx.texts;
    let Some(view) = cx.snapshot.run(run) else {
        return true;
    };
    ui.label(cx.palette.title(t.get("forget-title")));
    ui.label(cx.palette.strong(jobs::run_title(cx, view)));
    let has_result = matches!(view.state, RunState::Finished(_));
    let result = match (has_result, view.exported, view.target.is_some()) {
        (false, ..) => "forget-no-result",
        (true, true, _) => "forget-exported",
        (true, false, true) => "forget-paid",
        (true, false, false) => "forget-text",
    };
    ui.add(egui::Label::new(t.get(result)).wrap());
    ui.add(egui::Label::new(charge_of(cx, view)).wrap());
    match answer(ui, cx, t.get("forget-keep"), t.get("forget-confirm")) {
        Some(true) => {
            cx.send(Command::Forget(run));
            true
        }
        Some(false) => true,
        None => false,
    }
}

/// What stays charged of a run when it is gone.
pub(super) fn charge_of(cx: &Cx<'_>, run: &RunView) -> String {
    let t = cx.texts;
    let entries = &cx.snapshot.ledger.entries;
    let entry = run
        .entry
        .and_then(|id| entries.iter().find(|entry| entry.id == id));
    match entry {
        Some(entry) => t.with(
            "forget-entry",
            [
                ("entry", entry.id.to_string().into()),
                ("epsilon", format::epsilon(entry.epsilon).into()),
                ("delta", format::delta(entry.delta).into()),
            ],
        ),
        None => t.get("forget-no-entry").to_owned(),
    }
}

/// What is kept of a run that was cut short, and what stays charged of it.
pub(super) fn abandon(ui: &mut Ui, cx: &mut Cx<'_>, id: &str) -> bool {
    let t = cx.texts;
    let Some(waiting) = cx.snapshot.interrupted.iter().find(|known| known.id == id) else {
        return true;
    };
    ui.label(cx.palette.title(t.get("interrupted-discard-title")));
    ui.label(cx.palette.strong(interrupted::title(cx, waiting)));
    ui.add(egui::Label::new(interrupted::discard_text(cx, waiting)).wrap());
    match answer(ui, cx, t.get("interrupted-keep"), t.get("interrupted-discard")) {
        Some(true) => {
            cx.send(Command::Abandon(id.to_owned()));
            true
        }
        Some(false) => true,
        None => false,
    }
}

/// A private run beside another: what it reserves more.
pub(super) fn start_another(ui: &mut Ui, cx: &mut Cx<'_>, request: &RunRequest) -> bool {
    let t = cx.texts;
    ui.label(cx.palette.title(t.get("another-title")));
    let target = request.target.unwrap_or_default();
    let planned = cx
        .snapshot
        .plan
        .as_ref()
        .filter(|plan| plan.request == *request)
        .and_then(|plan| plan.outcome.as_ref().ok());
    let epsilon = planned.and_then(|plan| plan.epsilon).unwrap_or(target.epsilon);
    let line = t.with(
        "another-text",
        [
            ("epsilon", format::epsilon(epsilon).into()),
            ("delta", format::delta(target.delta).into()),
        ],
    );
    ui.add(egui::Label::new(line).wrap());
    match answer(ui, cx, t.get("another-keep"), t.get("another-confirm")) {
        Some(true) => {
            cx.send(Command::Start(Box::new(request.clone())));
            true
        }
        Some(false) => true,
        None => false,
    }
}

/// What letting all suggestions stand means.
pub(super) fn accept_all(ui: &mut Ui, cx: &mut Cx<'_>) -> bool {
    let t = cx.texts;
    let Some(dataset) = &cx.snapshot.dataset else {
        return true;
    };
    let names: Vec<&str> = dataset
        .open
        .iter()
        .filter(|open| open.why == OpenReason::Suggested)
        .map(|open| open.name.as_str())
        .collect();
    if names.is_empty() {
        return true;
    }
    ui.label(cx.palette.title(t.get("accept-all-title")));
    let line = t.with(
        "accept-all-text",
        [("count", names.len().into()), ("names", names.join(", ").into())],
    );
    ui.add(egui::Label::new(line).wrap());
    ui.add(egui::Label::new(t.get("accept-all-instead")).wrap());
    match answer(ui, cx, t.get("accept-all-keep"), t.get("accept-all-confirm")) {
        Some(true) => {
            cx.send(Command::EditSchema(SchemaEdit::AcceptAllSuggestions));
            true
        }
        Some(false) => true,
        None => false,
    }
}

/// A higher total and why: it cannot be lowered again.
pub(super) fn raise_total(ui: &mut Ui, cx: &mut Cx<'_>, raise: &mut Raise) -> bool {
    let t = cx.texts;
    ui.label(cx.palette.title(t.get("raise-title")));
    let present = t.with(
        "raise-present",
        [
            ("name", raise.name.as_str().into()),
            ("epsilon", format::epsilon(raise.present.epsilon).into()),
            ("delta", format::delta(raise.present.delta).into()),
        ],
    );
    ui.add(egui::Label::new(present).wrap());
    ui.add(egui::Label::new(t.get("raise-text")).wrap());
    ui.horizontal_wrapped(|ui| {
        let label = ui.label(t.get("raise-epsilon"));
        let epsilon = NumberField {
            range: (raise.present.epsilon, 1000.0),
            speed: 0.1,
            is_live: true,
            ..NumberField::new(t.get("raise-epsilon"))
        };
        epsilon
            .show(ui, cx, &mut raise.wanted.epsilon)
            .labelled_by(label.id);
        let label = ui.label("δ");
        let delta = NumberField {
            write: format::delta,
            range: (raise.present.delta, 0.5),
            is_live: true,
            ..NumberField::new("δ")
        };
        delta.show(ui, cx, &mut raise.wanted.delta).labelled_by(label.id);
    });
    ui.horizontal(|ui| {
        let label = ui.label(t.get("total-reason"));
        ui.add(TextEdit::singleline(&mut raise.reason).desired_width(f32::INFINITY))
            .labelled_by(label.id);
    });
    ui.add_space(STEP);
    let (wanted, present) = (raise.wanted, raise.present);
    let higher = wanted.epsilon > present.epsilon || wanted.delta > present.delta;
    let refused = number::refused(ui.ctx(), t);
    let ready = higher && !raise.reason.trim().is_empty() && refused.is_none();
    let mut done = false;
    ui.horizontal_wrapped(|ui| {
        done |= ui.button(t.get("raise-keep")).clicked();
        let text = RichText::new(t.get("raise-confirm")).color(cx.palette.second_text);
        let raised = ui
            .add_enabled(ready, egui::Button::new(text))
            .on_disabled_hover_text(refused.as_deref().unwrap_or(t.get("raise-needs")));
        if raised.clicked()
            && let Ok(epsilon) = Epsilon::new(wanted.epsilon)
        {
            cx.send(Command::SetTotal {
                epsilon,
                delta: wanted.delta,
                reason: raise.reason.trim().to_owned(),
            });
            done = true;
        }
    });
    done
}
