//! The method and its promise, and the seed that takes it back.

use eframe::egui::{self, RichText, Ui};

use super::{methods_for, pick};
use crate::engine::command::{PrivacyTarget, RunRequest};
use crate::gui::bars::{relation_key, relation_of_runs};
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::theme::{SMALL, STEP};
use crate::gui::widgets::{NumberField, NumberRow, Slider};
use crate::privacy::Neighboring;
use crate::train::LARGEST_EPSILON;

/// The greatest seed that a field of floating-point numbers holds exactly.
const MOST_SEED: f64 = 9_007_199_254_740_991.0;
/// The greatest δ that can be typed: more is no promise.
const MOST_DELTA: f64 = 0.999;
/// Round stops of ε.
const EPSILONS: [f64; 9] = [0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 10.0];
/// Round stops of δ.
const DELTAS: [f64; 7] = [1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3];

pub fn method(ui: &mut Ui, cx: &Cx<'_>, request: &mut RunRequest, target: &PrivacyTarget) {
    let t = cx.texts;
    let methods = methods_for(cx.snapshot.dataset.as_deref());
    let keys: Vec<String> = methods
        .iter()
        .map(|method| format!("method-{}-choice", method.name()))
        .collect();
    let names: Vec<&str> = keys.iter().map(|key| t.get(key)).collect();
    let chosen = methods
        .iter()
        .position(|method| *method == request.method)
        .unwrap_or(0);
    if let Some(at) = pick(ui, t.get("method-name"), t.get("method-tip"), chosen, &names) {
        request.method = methods[at];
        request.target = request.method.is_private().then_some(*target);
    }
}

pub fn promise(ui: &mut Ui, cx: &Cx<'_>, promise: &mut PrivacyTarget) {
    let t = cx.texts;
    let defaults = PrivacyTarget::default();
    let row = |name, help, slider, default, write| NumberRow {
        name,
        help,
        unit: "",
        slider,
        default,
        write,
    };
    let (name, help) = (t.get("epsilon-name"), t.get("epsilon-help"));
    let slider = Slider {
        name,
        range: (0.05, 20.0),
        logarithmic: true,
        integer: false,
        stops: &EPSILONS,
    };
    ui.push_id("epsilon", |ui| {
        row(name, help, slider, defaults.epsilon, format::epsilon).show_above_zero(
            ui,
            cx,
            LARGEST_EPSILON,
            &mut promise.epsilon,
        );
    });
    let (name, help) = (t.get("delta-name"), t.get("delta-help"));
    let slider = Slider {
        name,
        range: (1e-9, 1e-3),
        logarithmic: true,
        integer: false,
        stops: &DELTAS,
    };
    ui.push_id("delta", |ui| {
        row(name, help, slider, defaults.delta, format::delta).show_above_zero(
            ui,
            cx,
            MOST_DELTA,
            &mut promise.delta,
        );
    });
    let relations = [Neighboring::AddRemoveOne, Neighboring::ReplaceOne];
    let names: Vec<&str> = relations
        .iter()
        .map(|relation| t.get(relation_key(relation_of_runs(cx, *relation))))
        .collect();
    let chosen = relations
        .iter()
        .position(|relation| *relation == promise.neighboring)
        .unwrap_or(0);
    if let Some(at) = pick(ui, t.get("relation-name"), t.get("relation-tip"), chosen, &names) {
        promise.neighboring = relations[at];
    }
}

pub fn seed(ui: &mut Ui, cx: &Cx<'_>, request: &mut RunRequest) {
    let t = cx.texts;
    ui.add_space(STEP);
    ui.label(cx.palette.strong(t.get("group-teaching")));
    let mut fixed = request.seed.is_some();
    if ui
        .checkbox(&mut fixed, t.get("seed-fixed"))
        .on_hover_text(t.get("seed-tip"))
        .changed()
    {
        request.seed = fixed.then_some(1);
    }
    if let Some(seed) = &mut request.seed {
        ui.horizontal(|ui| {
            let label = ui.label(t.get("seed-name"));
            let field = NumberField {
                write: |value| format!("{value:.0}"),
                speed: 1.0,
                is_live: true,
                ..NumberField::whole(t.get("seed-name"), (0.0, MOST_SEED))
            };
            field.show(ui, cx, seed).labelled_by(label.id);
        });
        let text = RichText::new(t.get("seed-warning"))
            .size(SMALL)
            .color(cx.palette.warn_text);
        ui.add(egui::Label::new(text).wrap());
    }
}
