//! What is chosen for one table or run stays with it, and what would be lost by closing is asked about.
#![cfg(feature = "gui")]

#[path = "support/window.rs"]
mod support;

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers, ViewportEvent, ViewportId};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use pointillist::engine::settings::{Language, Settings};
use pointillist::engine::snapshot::RunState;
use pointillist::gui::App;
use pointillist::gui::i18n::Texts;
use support::{assert_no_missing_texts, go, press, visit, wait, wait_for_label, window};

fn open(home: &std::path::Path) -> (Harness<'static, App>, Texts) {
    let settings = Settings {
        language: Language::English,
        ..Settings::default()
    };
    let texts = Texts::new(Language::English);
    let mut harness = window(home, &settings, [1440.0, 900.0]);
    harness.run_steps(3);
    press(&mut harness, texts.get("sample-german-credit"));
    wait(&mut harness, "the sample", |snapshot| snapshot.dataset.is_some());
    visit(&mut harness, texts.get("page-train"));
    (harness, texts)
}

#[track_caller]
fn fill(harness: &mut Harness<'static, App>, name: &str, text: &str) {
    harness.get_by_role_and_label(Role::SpinButton, name).focus();
    harness.run_steps(2);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    harness.run_steps(2);
    harness
        .get_by_role_and_label(Role::SpinButton, name)
        .type_text(text);
    harness.run_steps(2);
    harness.key_press(Key::Enter);
    harness.run_steps(4);
}

#[test]
fn another_table_begins_with_what_is_recommended_for_it() {
    let home = tempfile::tempdir().unwrap();
    let (mut harness, texts) = open(home.path());
    wait_for_label(&mut harness, texts.get("plan-recommended"));
    fill(&mut harness, texts.get("epsilon-name"), "3");
    fill(&mut harness, texts.get("delta-name"), "0.001");
    assert!(harness.query_by_label(texts.get("plan-recommended")).is_none());
    visit(&mut harness, texts.get("page-data"));
    press(&mut harness, texts.get("action-close"));
    wait(&mut harness, "nothing open", |snapshot| {
        snapshot.dataset.is_none()
    });
    press(&mut harness, texts.get("sample-adult"));
    wait(&mut harness, "the other sample", |snapshot| {
        snapshot.dataset.is_some()
    });
    visit(&mut harness, texts.get("page-train"));
    wait(&mut harness, "its plan", |snapshot| {
        snapshot.plan.as_ref().is_some_and(|plan| {
            plan.request.settings.is_none()
                && plan
                    .request
                    .target
                    .is_some_and(|target| target.delta < 1.1e-5 && target.epsilon > 2.9)
        })
    });
    wait_for_label(&mut harness, texts.get("plan-recommended"));
    assert_no_missing_texts(&harness);
}

#[test]
fn export_shows_the_run_it_was_pressed_for_and_closing_names_what_is_lost() {
    let home = tempfile::tempdir().unwrap();
    let (mut harness, texts) = open(home.path());
    fill(&mut harness, texts.get("setting-steps"), "30");
    let train = |harness: &mut Harness<'static, App>, runs: usize| {
        wait(harness, "the plan", |snapshot| {
            snapshot
                .plan
                .as_ref()
                .is_some_and(|plan| plan.outcome.as_ref().is_ok_and(|summary| summary.steps == 30))
        });
        go(harness, Key::Enter);
        wait(harness, "the run", |snapshot| {
            let last = snapshot.runs.last();
            snapshot.runs.len() == runs && last.is_some_and(|run| matches!(run.state, RunState::Finished(_)))
        });
    };
    train(&mut harness, 1);
    visit(&mut harness, texts.get("page-export"));
    fill(&mut harness, texts.get("export-rows"), "77");
    visit(&mut harness, texts.get("page-train"));
    train(&mut harness, 2);
    press(&mut harness, texts.get("page-export"));
    let rows = harness
        .get_by_role_and_label(Role::SpinButton, texts.get("export-rows"))
        .value();
    assert_eq!(
        rows.as_deref(),
        Some("1,000"),
        "the second run's own number of rows"
    );
    // Nothing was exported: the window stays, and says what would be lost.
    let root = harness.input_mut().viewports.entry(ViewportId::ROOT).or_default();
    root.events.push(ViewportEvent::Close);
    harness.run_steps(3);
    let asked = harness.get_by_label(texts.get("quit-title-lost")).rect();
    // A dialog stands where it will stand, from its first frame on.
    harness.run_steps(5);
    let stands = harness.get_by_label(texts.get("quit-title-lost")).rect();
    assert!((asked.min - stands.min).length() < 0.5, "{asked:?} {stands:?}");
    assert!(harness.query_by_label(texts.get("quit-confirm-lost")).is_some());
    assert_no_missing_texts(&harness);
}
