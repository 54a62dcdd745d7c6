//! The frame around the pages: rail and top bar.

use std::sync::Arc;

use eframe::egui::{
    self, Align, Align2, Color32, ComboBox, FontId, Layout, RichText, Sense, Stroke, StrokeKind, Ui,
    WidgetInfo, accesskit::Role, vec2,
};

use crate::engine::relation_under;
use crate::engine::snapshot::{Dataset, RunState, RunView};
use crate::gui::command::{Action, Page};
use crate::gui::context::{Cx, Intent};
use crate::gui::fonts::semibold;
use crate::gui::format;
use crate::gui::i18n;
use crate::gui::theme::{BODY, SMALL, STEP};
use crate::gui::widgets::{self, Icon};
use crate::privacy::Neighboring;
use crate::privacy::ledger::{Budget, Shares};
use crate::privacy::meaning::Unit;
use crate::train::DeviceKind;

/// The height of the top bar.
pub const TOP: f32 = 44.0;
/// The width of the budget gauge.
const GAUGE: f32 = 210.0;
/// Below this width, in points, the rail shows its dots only and the top bar leaves its captions out.
pub const NARROW: f32 = 760.0;

/// How far the work of a page has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Empty,
    Ready,
    Running,
    Done,
    Attention,
}

fn progress(cx: &Cx<'_>, page: Page) -> Progress {
    let snapshot = cx.snapshot;
    match page {
        Page::Data => match &snapshot.dataset {
            _ if snapshot.loading.is_some() => Progress::Running,
            None => Progress::Empty,
            Some(dataset) if !dataset.open.is_empty() || dataset.misfit.is_some() => Progress::Attention,
            Some(_) => Progress::Done,
        },
        Page::Explore => match &snapshot.dataset {
            None => Progress::Empty,
            Some(_) if snapshot.releasing.is_some() => Progress::Running,
            Some(_) if !snapshot.releases.is_empty() => Progress::Done,
            Some(_) => Progress::Ready,
        },
        Page::Train => {
            // Runs of other tables say nothing of what is open.
            let open = snapshot.dataset.as_ref().map(|dataset| dataset.generation);
            let is_of_this = |run: &&Arc<RunView>| open.is_none_or(|open| run.generation == open);
            match snapshot.runs.iter().rev().find(is_of_this) {
                _ if snapshot.runs.iter().any(|run| run.state.is_active()) => Progress::Running,
                Some(run) if matches!(run.state, RunState::Failed(_)) => Progress::Attention,
                Some(_) => Progress::Done,
                None => match &snapshot.dataset {
                    Some(dataset) if dataset.open.is_empty() => Progress::Ready,
                    _ => Progress::Empty,
                },
            }
        }
        Page::Export => {
            if snapshot.exporting.is_some() {
                Progress::Running
            } else if snapshot
                .runs
                .iter()
                .any(|run| matches!(run.state, RunState::Finished(_)))
            {
                Progress::Ready
            } else {
                Progress::Empty
            }
        }
        Page::Privacy => {
            if snapshot.ledger.problem.is_some() {
                Progress::Attention
            } else if snapshot.ledger.entries.is_empty() {
                Progress::Empty
            } else {
                Progress::Done
            }
        }
    }
}

fn progress_key(progress: Progress) -> &'static str {
    match progress {
        Progress::Empty => "state-empty",
        Progress::Ready => "state-ready",
        Progress::Running => "state-running",
        Progress::Done => "state-done",
        Progress::Attention => "state-attention",
    }
}

/// The rail: the pages in the order of the work, each with the state of its part.
pub fn rail(ui: &mut Ui, cx: &mut Cx<'_>, current: Page, (narrow, folded): (bool, bool)) {
    if !narrow {
        ui.with_layout(Layout::bottom_up(Align::Min), |ui| {
            widgets::fold(ui, cx, Action::FoldRail, folded);
            ui.with_layout(Layout::top_down(Align::Min), |ui| {
                entries(ui, cx, current, folded);
            });
        });
        return;
    }
    entries(ui, cx, current, true);
}

fn entries(ui: &mut Ui, cx: &mut Cx<'_>, current: Page, narrow: bool) {
    ui.spacing_mut().item_spacing.y = 4.0;
    let mut number = 0;
    for page in Page::ALL {
        if page == Page::Privacy {
            widgets::rule(ui, cx.palette);
        } else {
            number += 1;
        }
        let action = Action::Go(page);
        let label = cx.texts.get(action.described().key);
        let shown = match page {
            Page::Privacy => label.to_owned(),
            _ => format!("{number} {label}"),
        };
        if rail_entry(ui, cx, page, &shown, page == current, narrow) {
            cx.act(action);
        }
    }
}

fn rail_entry(ui: &mut Ui, cx: &Cx<'_>, page: Page, shown: &str, selected: bool, narrow: bool) -> bool {
    let palette = cx.palette;
    let state = progress(cx, page);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 32.0), Sense::click());
    let label = cx.texts.get(Action::Go(page).described().key);
    response.widget_info(|| WidgetInfo::selected(Role::Tab, true, selected, label));
    if selected || response.hovered() || response.has_focus() {
        let fill = if selected {
            palette.panel
        } else {
            Color32::TRANSPARENT
        };
        let line = if response.has_focus() {
            Stroke::new(2.0, palette.accent)
        } else {
            Stroke::new(1.0, palette.line)
        };
        ui.painter().rect(rect, 6.0, fill, line, StrokeKind::Inside);
    }
    let color = match state {
        Progress::Empty => palette.line,
        Progress::Ready => palette.muted_on_ground,
        Progress::Running => palette.accent,
        Progress::Done => palette.ok,
        Progress::Attention => palette.warn,
    };
    let middle = rect.center().y;
    let at = if narrow {
        rect.center().x
    } else {
        rect.left() + 13.0
    };
    ui.painter().circle_filled(egui::pos2(at, middle), 3.5, color);
    if !narrow {
        let font = if selected {
            FontId::new(BODY, semibold())
        } else {
            FontId::proportional(BODY)
        };
        let galley = ui
            .painter()
            .layout(shown.to_owned(), font, palette.text, rect.width() - 32.0);
        ui.painter().galley(
            egui::pos2(rect.left() + 26.0, middle - galley.size().y / 2.0),
            galley,
            palette.text,
        );
    }
    let tip = format!(
        "{} — {}",
        cx.tip(ui, Action::Go(page)),
        cx.texts.get(progress_key(state))
    );
    response.on_hover_text(tip).clicked()
}

/// The top bar: what is open on the left; budget, device, language and theme on the right.
pub fn top(ui: &mut Ui, cx: &mut Cx<'_>, relation: Neighboring, narrow: bool) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        if widgets::icon_button(ui, Icon::Theme, cx.texts.get("action-theme")).clicked() {
            cx.act(Action::ToggleTheme);
        }
        language(ui, cx);
        device(ui, cx);
        if !narrow && let Some(dataset) = cx.snapshot.dataset.clone() {
            ui.add_space(STEP);
            if let Some(budget) = &dataset.budget {
                gauge(ui, cx, &dataset, budget);
            }
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            ui.label(cx.palette.title(cx.texts.get("app-name")));
            if narrow {
                return;
            }
            ui.add_space(STEP);
            if let Some(dataset) = &cx.snapshot.dataset {
                let line = dataset_line(cx, dataset, relation);
                widgets::truncated(ui, cx.palette.caption(&line)).on_hover_text(line);
            }
        });
    });
}

fn dataset_line(cx: &Cx<'_>, dataset: &Dataset, relation: Neighboring) -> String {
    let key = if dataset.images.is_some() {
        "top-images"
    } else {
        "top-dataset"
    };
    cx.texts.with(
        key,
        [
            ("name", dataset.name.as_str().into()),
            ("rows", format::count(dataset.table.rows() as u64).into()),
            ("columns", dataset.schema.column.len().into()),
            ("unit", unit(cx, dataset).into()),
            (
                "relation",
                cx.texts
                    .get(relation_key(relation_under(&dataset.schema, relation)))
                    .into(),
            ),
        ],
    )
}

/// The unit of privacy, in words.
pub fn unit(cx: &Cx<'_>, dataset: &Dataset) -> String {
    match &dataset.schema.unit {
        None if dataset.images.is_some() => cx.texts.get("unit-image").to_owned(),
        None => cx.texts.get("unit-row").to_owned(),
        Some(unit) => cx.texts.with(
            "unit-person",
            [
                ("column", unit.column.as_str().into()),
                ("rows", unit.max_rows.into()),
            ],
        ),
    }
}

/// What a promise of a run on the table that is open says where this relation is asked for.
pub fn relation_of_runs(cx: &Cx<'_>, asked: Neighboring) -> Neighboring {
    let dataset = cx.snapshot.dataset.as_ref();
    dataset.map_or(asked, |dataset| relation_under(&dataset.schema, asked))
}

/// What a promise about the open data hides, as sentences call it; a row where nothing is open.
pub fn hidden(dataset: Option<&Dataset>) -> Unit {
    dataset.map_or(Unit::default(), |dataset| {
        match (&dataset.schema.unit, &dataset.images) {
            (Some(_), _) => Unit::Person,
            (None, Some(_)) => Unit::Image,
            (None, None) => Unit::Row,
        }
    })
}

/// The name by which a text chooses its words for what is hidden.
pub const fn word(unit: Unit) -> &'static str {
    match unit {
        Unit::Row => "row",
        Unit::Image => "image",
        Unit::Person => "person",
    }
}

/// The key of a relation's name.
pub fn relation_key(relation: Neighboring) -> &'static str {
    match relation {
        Neighboring::AddRemoveOne => "relation-add-remove",
        Neighboring::ZeroOutOne => "relation-zero-out",
        Neighboring::ReplaceOne => "relation-replace",
    }
}

fn language(ui: &mut Ui, cx: &mut Cx<'_>) {
    let current = cx.texts.language();
    let next = i18n::other(current);
    let tip = cx.texts.get("action-language-tip");
    // Named in the other language, so that who cannot read this one finds it.
    let response = ui
        .button(i18n::own_name(current))
        .on_hover_text(format!("{tip}: {}", i18n::own_name(next)));
    if response.clicked() {
        cx.intents.push(Intent::Speak(next));
    }
}

/// The devices that this build offers, with the keys of their names.
const DEVICES: &[(DeviceKind, &str)] = &[
    (DeviceKind::Flex, "device-flex"),
    (DeviceKind::Ndarray, "device-ndarray"),
    #[cfg(feature = "gpu")]
    (DeviceKind::Wgpu, "device-wgpu"),
];

fn device(ui: &mut Ui, cx: &mut Cx<'_>) {
    let current = cx.settings.device;
    let name = |kind| {
        DEVICES
            .iter()
            .find(|(known, _)| *known == kind)
            .map_or("device-flex", |(_, key)| key)
    };
    let mut chosen = current;
    let response = ComboBox::from_id_salt("device")
        .icon(widgets::arrow)
        .selected_text(cx.texts.get(name(current)))
        .width(84.0)
        .show_ui(ui, |ui| {
            for &(kind, key) in DEVICES {
                let tip = format!("{key}-tip");
                ui.selectable_value(&mut chosen, kind, cx.texts.get(key))
                    .on_hover_text(cx.texts.get(&tip));
            }
        })
        .response;
    response
        .accessible_name(cx.texts.get("device-name"))
        .on_hover_text(format!(
            "{}\n{}",
            cx.texts.get("device-tip"),
            cx.texts.get(&format!("{}-tip", name(current)))
        ));
    if chosen != current {
        cx.intents.push(Intent::UseDevice(chosen));
    }
}

/// The shares of a total under the gauge.
fn gauge_shares(ui: &mut Ui, cx: &Cx<'_>, shares: Shares) {
    let part = |key, share| cx.texts.with(key, [("share", format::percent(share).into())]);
    let rect = ui.allocate_exact_size(vec2(GAUGE, 14.0), Sense::hover()).0;
    for (text, align) in [
        (part("budget-spent", shares.spent), Align2::LEFT_CENTER),
        (part("budget-reserved", shares.reserved), Align2::CENTER_CENTER),
        (part("budget-left", shares.left), Align2::RIGHT_CENTER),
    ] {
        let place = align.pos_in_rect(&rect);
        ui.painter()
            .text(place, align, text, FontId::proportional(SMALL), cx.palette.muted);
    }
}

/// What was spent and reserved, where there is no total to take shares of.
fn gauge_sums(ui: &mut Ui, cx: &Cx<'_>, dataset: &Dataset, budget: &Budget) {
    let spent = format::epsilon(budget.spent.epsilon);
    let line = if budget.reserved.epsilon > 0.0 {
        let reserved = format::epsilon(budget.reserved.epsilon);
        cx.texts.with(
            "budget-no-total-reserved",
            [("spent", spent.into()), ("reserved", reserved.into())],
        )
    } else {
        cx.texts.with("budget-spent-only", [("spent", spent.into())])
    };
    // Without a total there is nothing to take a share of, so there is no bar either.
    let key = if dataset.schema.public {
        "budget-public"
    } else {
        "budget-no-total"
    };
    let head = cx.texts.get(key);
    let size = vec2(GAUGE, 15.0);
    for text in [RichText::new(head).size(SMALL), cx.palette.caption(line)] {
        ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
            widgets::truncated(ui, text);
        });
    }
}

fn gauge(ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset, budget: &Budget) {
    let t = cx.texts;
    let spent = t.with(
        "budget-charge",
        [
            ("epsilon", format::epsilon(budget.spent.epsilon).into()),
            ("delta", format::delta(budget.spent.delta).into()),
        ],
    );
    let mut tip = t.with("budget-tip", [("spent", spent.as_str().into())]);
    if budget.shares.is_some() {
        tip = format!("{tip} {}", t.get("share-tip"));
    } else {
        let key = if dataset.schema.public {
            "budget-public-tip"
        } else {
            "budget-no-total-tip"
        };
        tip = format!("{} {tip}", t.get(key));
    }
    let inner = ui.allocate_ui_with_layout(vec2(GAUGE, 34.0), Layout::top_down(Align::Min), |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        ui.set_width(GAUGE);
        // Two lines of text stand closer to the edge than a bar with one.
        ui.add_space(if budget.shares.is_some() { 6.0 } else { 1.0 });
        let name = t.get("budget-name");
        match budget.shares {
            Some(shares) => {
                let (spent, reserved) = (shares.spent as f32, shares.reserved as f32);
                widgets::budget(ui, cx.palette, spent, reserved, GAUGE, name);
                gauge_shares(ui, cx, shares);
            }
            None => gauge_sums(ui, cx, dataset, budget),
        }
    });
    let area = inner.response.interact(Sense::click());
    area.widget_info(|| WidgetInfo::labeled(Role::Button, true, t.get("budget-open")));
    if area.has_focus() {
        ui.painter().rect_stroke(
            area.rect.expand(3.0),
            4.0,
            Stroke::new(1.0, cx.palette.accent),
            StrokeKind::Inside,
        );
    }
    if area.on_hover_text(tip).clicked() {
        cx.act(Action::Go(Page::Privacy));
    }
    ui.label(cx.palette.caption(t.get("budget-label")));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::settings::Language;
    use crate::gui::i18n::Texts;

    #[test]
    fn sentences_about_what_is_hidden_call_it_by_its_name_alone() {
        let said = |language, key: &str, unit| {
            let texts = Texts::new(language);
            let fill = |name| (name, "7".into());
            let said = texts.with(
                key,
                [
                    ("unit", word(unit).into()),
                    fill("alarms"),
                    fill("found"),
                    fill("right"),
                    fill("gaussian"),
                    fill("worst"),
                ],
            );
            assert!(texts.missing().is_empty(), "{key}: {said}");
            said
        };
        let names = [
            (Unit::Row, "row", "行"),
            (Unit::Image, "image", "图像"),
            (Unit::Person, "person", "某人"),
        ];
        for key in ["words-found", "words-odds", "cost-odds"] {
            for (unit, name, _) in names {
                let english = said(Language::English, key, unit);
                let told = |name: &str| english.contains(&format!(" {name}"));
                assert!(told(name), "{english}");
                let others = names.iter().filter(|(other, ..)| *other != unit);
                assert!(others.clone().all(|(_, other, _)| !told(other)), "{english}");
            }
        }
        for (unit, _, name) in names {
            let chinese = said(Language::Chinese, "words-odds", unit);
            assert!(chinese.contains(name), "{chinese}");
        }
        let chinese = said(Language::Chinese, "words-found", Unit::Image);
        assert!(
            chinese.contains("100 张图像") && !chinese.contains('行'),
            "{chinese}"
        );
    }
}
