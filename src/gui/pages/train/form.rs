//! The plan's form, made from the settings' own descriptions.

mod head;
mod relevance;

use std::str::FromStr;

use eframe::egui::{self, Align, ComboBox, Layout, TextEdit, Ui};

use self::head::{method, promise, seed};
use self::relevance::{applies, applies_to_images, applies_to_release};
use crate::engine::command::{Method, PrivacyTarget, RunRequest};
use crate::engine::snapshot::{Dataset, PlanPreview};
use crate::gui::command::Action;
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::i18n::Texts;
use crate::gui::pages::train::schedule;
use crate::gui::theme::STEP;
use crate::gui::widgets::number::{self, Refusal};
use crate::gui::widgets::{self, NumberRow, Slider};
use crate::train::RunSettings;
use crate::train::describe::{
    Described, SettingDescription, SettingGroup, SettingRange, SettingValue, listed,
};

/// The groups, in the order of the form.
const GROUPS: [(SettingGroup, &str); 5] = [
    (SettingGroup::Privacy, "group-privacy"),
    (SettingGroup::Marginals, "group-marginals"),
    (SettingGroup::Encoding, "group-encoding"),
    (SettingGroup::Critic, "group-critic"),
    (SettingGroup::Generator, "group-generator"),
];

/// What the form starts from.
pub struct Known<'a> {
    /// The settings in force.
    pub settings: &'a RunSettings,
    /// What reset returns to, of the same kind.
    pub recommended: &'a RunSettings,
    /// The plan worked out last, perhaps for an earlier request.
    pub plan: Option<std::sync::Arc<PlanPreview>>,
}

/// What the form remembers between frames.
#[derive(Default)]
pub struct Form {
    all: bool,
    drafts: std::collections::HashMap<&'static str, String>,
}

impl Form {
    /// Draws the form and changes the request.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        cx: &mut Cx<'_>,
        request: &mut RunRequest,
        target: &mut PrivacyTarget,
        known: &Known<'_>,
    ) {
        let Known {
            settings,
            recommended,
            plan,
        } = known;
        ui.spacing_mut().item_spacing.y = 5.0;
        let advice = plan.as_ref().and_then(|plan| plan.advice.as_ref());
        heading(ui, cx, request, advice.map(|advice| advice.method));
        method(ui, cx, request, target);
        // A place of its own, with or without advice: what follows keeps its identity when the advice comes, and a
        // drag that is under way goes on.
        ui.push_id("advice", |ui| {
            if let Some(advice) = advice.filter(|_| request.target.is_some()) {
                let text = cx.texts.say(&advice.reason);
                ui.add(egui::Label::new(cx.palette.caption(text)).wrap());
            }
        });
        if let Some(promise) = &mut request.target {
            self::promise(ui, cx, promise);
            *target = *promise;
        }
        // Whoever comes back to the recommended values has the recommended plan again.
        match (settings, recommended) {
            (RunSettings::Table(settings), RunSettings::Table(recommended)) => {
                let mut edited = settings.clone();
                self.settings(ui, cx, request, (&mut edited, recommended), applies);
                if request.method.is_private() {
                    schedule::show(ui, cx, &mut edited, recommended, plan.as_deref());
                }
                if edited != *settings {
                    request.settings = (edited != *recommended).then_some(RunSettings::Table(edited));
                }
            }
            (RunSettings::Pairs(settings), RunSettings::Pairs(recommended)) => {
                let mut edited = settings.clone();
                self.settings(
                    ui,
                    cx,
                    request,
                    (&mut edited, recommended),
                    |description, method, edited| applies_to_release(description.key, method, edited),
                );
                if edited != *settings {
                    request.settings = (edited != *recommended).then_some(RunSettings::Pairs(edited));
                }
            }
            (RunSettings::Images(settings), RunSettings::Images(recommended)) => {
                let mut edited = settings.clone();
                self.settings(
                    ui,
                    cx,
                    request,
                    (&mut edited, recommended),
                    |description, method, edited| applies_to_images(description.key, method, edited),
                );
                if edited != *settings {
                    request.settings = (edited != *recommended).then_some(RunSettings::Images(edited));
                }
            }
            _ => {}
        }
    }

    /// Every setting of a kind: those that most people change, and behind a button the others.
    fn settings<S: Described>(
        &mut self,
        ui: &mut Ui,
        cx: &Cx<'_>,
        request: &mut RunRequest,
        (edited, recommended): (&mut S, &S),
        applies: impl Fn(&SettingDescription<S>, Method, &S) -> bool,
    ) {
        for description in S::table().iter().filter(|description| !description.advanced) {
            if applies(description, request.method, edited) {
                self.setting(ui, cx, description, edited, recommended);
            }
        }
        let label = cx.texts.get(if self.all {
            "settings-fewer"
        } else {
            "settings-all"
        });
        if widgets::quiet_button(ui, cx.palette, label).clicked() {
            self.all = !self.all;
        }
        if !self.all {
            return;
        }
        for (group, key) in GROUPS {
            let members: Vec<_> = S::table()
                .iter()
                .filter(|description| description.group == group && description.advanced)
                .filter(|description| applies(description, request.method, edited))
                .collect();
            if members.is_empty() {
                continue;
            }
            ui.add_space(STEP);
            ui.label(cx.palette.strong(cx.texts.get(key)));
            for description in members {
                self.setting(ui, cx, description, edited, recommended);
            }
        }
        seed(ui, cx, request);
    }

    fn setting<S: Described>(
        &mut self,
        ui: &mut Ui,
        cx: &Cx<'_>,
        description: &'static SettingDescription<S>,
        settings: &mut S,
        recommended: &S,
    ) {
        let name_key = text_key::<S>(cx.texts, description.key);
        let help_key = format!("{name_key}-help");
        let (name, help) = (cx.texts.get(&name_key), cx.texts.get(&help_key));
        ui.push_id(description.key, |ui| {
            let value = description.get(settings);
            let changed = match (value, description.range) {
                (SettingValue::Integer(value), SettingRange::Integer { min, max }) => {
                    let mut number = value as f64;
                    let log = max / min.max(1) > 100;
                    let slider = Slider {
                        name,
                        range: (min as f64, max as f64),
                        logarithmic: log,
                        integer: true,
                        stops: &[],
                    };
                    let default = number_of(&description.get(recommended));
                    let row = NumberRow {
                        name,
                        help,
                        unit: unit(cx, description),
                        slider,
                        default,
                        write: whole,
                    };
                    row.show_within(ui, cx, (min as f64, max as f64), &mut number)
                        .then_some(SettingValue::Integer(number as u64))
                }
                (SettingValue::Real(value), SettingRange::Real { min, max, log }) => {
                    let mut number = value;
                    let slider = Slider {
                        name,
                        range: (min, max),
                        logarithmic: log,
                        integer: false,
                        stops: &[],
                    };
                    let default = number_of(&description.get(recommended));
                    let row = NumberRow {
                        name,
                        help,
                        unit: unit(cx, description),
                        slider,
                        default,
                        write: short,
                    };
                    row.show_within(ui, cx, (min, max), &mut number)
                        .then_some(SettingValue::Real(number))
                }
                (SettingValue::Switch(mut on), _) => ui
                    .checkbox(&mut on, name)
                    .on_hover_text(help)
                    .changed()
                    .then_some(SettingValue::Switch(on)),
                (SettingValue::Choice(chosen), SettingRange::Choice(names)) => {
                    choice(ui, cx, name, help, chosen, names).map(SettingValue::Choice)
                }
                (SettingValue::Widths(widths), _) => self
                    .list(ui, cx, (name, help), description.key, &widths)
                    .map(SettingValue::Widths),
                (SettingValue::Numbers(numbers), _) => self
                    .list(ui, cx, (name, help), description.key, &numbers)
                    .map(SettingValue::Numbers),
                _ => None,
            };
            if let Some(value) = changed {
                // A value outside the range stays out of the settings; the field shows the old one again.
                let _ = description.set(settings, value);
            }
        });
    }

    /// Layer widths or points, typed as numbers with commas between them.
    fn list<T: FromStr + ToString + PartialEq>(
        &mut self,
        ui: &mut Ui,
        cx: &Cx<'_>,
        (name, help): (&str, &str),
        key: &'static str,
        numbers: &[T],
    ) -> Option<Vec<T>> {
        let written = numbers
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", ");
        ui.horizontal(|ui| {
            let label = ui.label(name).on_hover_text(help);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let draft = self.drafts.entry(key).or_insert_with(|| written.clone());
                let field = ui.add(TextEdit::singleline(draft).desired_width(96.0));
                let done = field.lost_focus();
                let place = ui.scope_id().with(("refused", key));
                let value = egui::Id::unique(&written).value();
                let mut taken = None;
                if done {
                    number::take(ui.ctx(), place);
                    taken = listed(draft).filter(|typed| typed != numbers);
                    if listed::<T>(draft).is_none() {
                        number::refuse(ui.ctx(), place, draft, Refusal::NoList, value);
                    }
                }
                if !field.has_focus() && taken.is_none() {
                    // A text that was not taken stays until it is mended.
                    *draft = number::standing(ui.ctx(), place, value).unwrap_or(written);
                }
                number::mark(ui, cx, place, &field);
                field.labelled_by(label.id).on_hover_text(help);
                taken
            })
            .inner
        })
        .inner
    }
}

/// The key of a setting's text: that of its kind of data, or the one that serves every kind.
fn text_key<S: Described>(texts: &Texts, key: &str) -> String {
    let own = format!("{}-{key}", S::TEXTS);
    if texts.has(&own) {
        own
    } else {
        format!("setting-{key}")
    }
}

fn number_of(value: &SettingValue) -> f64 {
    match value {
        SettingValue::Integer(value) => *value as f64,
        SettingValue::Real(value) => *value,
        _ => f64::NAN,
    }
}

fn whole(value: f64) -> String {
    format::count(value.max(0.0).round() as u64)
}

fn short(value: f64) -> String {
    format::significant(value, 4)
}

fn unit<'a, S: Default>(cx: &Cx<'a>, description: &SettingDescription<S>) -> &'a str {
    match description.unit {
        "steps" => cx.texts.get("unit-steps"),
        "rows" => cx.texts.get("unit-rows"),
        "times" => cx.texts.get("unit-times"),
        "of ρ" => cx.texts.get("unit-of-rho"),
        "of ε" => cx.texts.get("unit-of-epsilon"),
        "bins" => cx.texts.get("unit-bins"),
        "numbers" => cx.texts.get("unit-numbers"),
        "images" => cx.texts.get("unit-images"),
        "units" => cx.texts.get("unit-units"),
        "channels" => cx.texts.get("unit-channels"),
        _ => "",
    }
}

/// The methods that can learn from what is open.
pub fn methods_for(dataset: Option<&Dataset>) -> &'static [Method] {
    if dataset.is_some_and(|dataset| dataset.images.is_some()) {
        &Method::FOR_IMAGES
    } else {
        &Method::FOR_TABLES
    }
}

/// The plan that is recommended for what is open, but for ε, which is a person's own choice.
fn is_recommended(request: &RunRequest, method: Method) -> bool {
    let usual = PrivacyTarget::default();
    let is_usual = request.target.is_none_or(|target| {
        target.delta.to_bits() == usual.delta.to_bits() && target.neighboring == usual.neighboring
    });
    request.method == method && request.settings.is_none() && request.seed.is_none() && is_usual
}

fn heading(ui: &mut Ui, cx: &mut Cx<'_>, request: &mut RunRequest, advised: Option<Method>) {
    let t = cx.texts;
    ui.horizontal(|ui| {
        ui.label(cx.palette.title(t.get("plan-title")));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            widgets::fold(ui, cx, Action::FoldPlan, false);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let dataset = cx.snapshot.dataset.as_deref();
                let begins = match advised {
                    Some(method) => method,
                    None if dataset.is_some_and(|dataset| dataset.images.is_some()) => {
                        methods_for(dataset)[0]
                    }
                    None => request.method,
                };
                // What stands in a field and is not taken is no recommended plan either.
                let is_refused = number::refused(ui.ctx(), t).is_some();
                if is_recommended(request, begins) && !is_refused {
                    widgets::truncated(ui, cx.palette.caption(t.get("plan-recommended")));
                } else {
                    let back = widgets::quiet_button(ui, cx.palette, t.get("plan-recommended-back"));
                    if back.on_hover_text(t.get("plan-recommended-back-tip")).clicked() {
                        number::take_all(ui.ctx());
                        request.method = begins;
                        request.settings = None;
                        request.seed = None;
                        let target = PrivacyTarget {
                            epsilon: request.target.unwrap_or_default().epsilon,
                            ..PrivacyTarget::default()
                        };
                        request.target = begins.is_private().then_some(target);
                    }
                }
            });
        });
    });
}

/// A labelled combo box across the form; the index of a new choice.
pub fn pick(ui: &mut Ui, name: &str, tip: &str, chosen: usize, names: &[&str]) -> Option<usize> {
    let mut picked = chosen;
    ui.horizontal(|ui| {
        let label = ui.label(name).on_hover_text(tip);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let room = (ui.available_width() - 8.0).clamp(60.0, 240.0);
            let combo = ComboBox::from_id_salt(name)
                .icon(widgets::arrow)
                .selected_text(names.get(chosen).copied().unwrap_or_default())
                .width(room)
                .truncate()
                .show_ui(ui, |ui| {
                    for (at, name) in names.iter().enumerate() {
                        ui.selectable_value(&mut picked, at, *name);
                    }
                });
            // A name that the box has no room for can be read in full.
            let whole = names.get(chosen).copied().unwrap_or_default();
            let response = combo.response.labelled_by(label.id);
            response.on_hover_text(format!("{whole}\n{tip}"));
        });
    });
    (picked != chosen).then_some(picked)
}

fn choice(
    ui: &mut Ui,
    cx: &Cx<'_>,
    name: &str,
    help: &str,
    chosen: &'static str,
    names: &'static [&'static str],
) -> Option<&'static str> {
    let keys: Vec<String> = names.iter().map(|name| format!("choice-{name}")).collect();
    let shown: Vec<&str> = keys.iter().map(|key| cx.texts.get(key)).collect();
    let at = names.iter().position(|name| *name == chosen).unwrap_or(0);
    pick(ui, name, help, at, &shown).map(|at| names[at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::settings::Language;
    use crate::train::TrainSettings;
    use crate::train::image::ImageSettings;
    use crate::train::pairs::PairSettings;

    fn told<S: Described>(texts: &Texts) {
        for description in S::table() {
            let key = text_key::<S>(texts, description.key);
            assert!(texts.has(&key), "{key}");
            assert!(texts.has(&format!("{key}-help")), "{key}-help");
            if let SettingRange::Choice(names) = description.range {
                for name in names {
                    assert!(texts.has(&format!("choice-{name}")), "choice-{name}");
                }
            }
        }
    }

    #[test]
    fn every_setting_choice_and_method_has_its_texts_in_both_languages() {
        for language in [Language::English, Language::Chinese] {
            let texts = Texts::new(language);
            told::<TrainSettings>(&texts);
            told::<ImageSettings>(&texts);
            told::<PairSettings>(&texts);
            for method in Method::FOR_TABLES.iter().chain(&Method::FOR_IMAGES) {
                assert!(
                    texts.has(&format!("method-{}-choice", method.name())),
                    "{method:?}"
                );
                assert!(texts.has(&format!("method-{}", method.name())), "{method:?}");
            }
        }
    }
}
