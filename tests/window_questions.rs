//! What the window asks before something is spent, given up or let stand, and the palette by keys alone.
#![cfg(feature = "gui")]

#[path = "support/window.rs"]
mod support;

use std::fmt::Write as _;

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::{AccessKitNode, NodeT as _, Queryable as _};
use pointillist::engine::settings::{Language, Settings};
use pointillist::engine::snapshot::RunState;
use pointillist::gui::App;
use pointillist::gui::command::Page;
use pointillist::gui::i18n::Texts;
use support::{assert_no_missing_texts, go, press, type_into, visit, wait, wait_for_label, window};

const SIZE: [f32; 2] = [1440.0, 900.0];

fn shows(harness: &Harness<'static, App>, text: &str) -> bool {
    harness.query_all_by_label_contains(text).next().is_some()
}

/// A window of its own with the German credit sample and its plan.
fn with_plan(home: &std::path::Path, texts: &Texts) -> Harness<'static, App> {
    let mut harness = window(home, &Settings::default(), SIZE);
    harness.run_steps(3);
    press(&mut harness, texts.get("sample-german-credit"));
    wait(&mut harness, "the sample", |snapshot| snapshot.dataset.is_some());
    visit(&mut harness, texts.get("page-train"));
    wait(&mut harness, "a plan", |snapshot| {
        snapshot.plan.as_ref().is_some_and(|plan| plan.outcome.is_ok())
    });
    harness
}

#[test]
fn the_palette_is_used_by_keys_alone() {
    let home = tempfile::tempdir().unwrap();
    let texts = Texts::new(Language::English);
    let mut harness = with_plan(home.path(), &texts);
    go(&mut harness, Key::K);
    type_into(&mut harness, texts.get("palette-hint"), "go to");
    harness.key_press_modifiers(Modifiers::NONE, Key::ArrowDown);
    harness.run_steps(3);
    harness.key_press_modifiers(Modifiers::NONE, Key::Enter);
    harness.run_steps(3);
    assert_eq!(
        harness.state().workbench().page(),
        Page::Explore,
        "the second match"
    );
    go(&mut harness, Key::K);
    type_into(&mut harness, texts.get("palette-hint"), "go to");
    harness.key_press_modifiers(Modifiers::NONE, Key::Enter);
    harness.run_steps(3);
    assert_eq!(harness.state().workbench().page(), Page::Data, "the first match");
    assert_no_missing_texts(&harness);
}

#[test]
fn the_palette_opens_samples_and_gives_the_keyboard_back() {
    for language in [Language::English, Language::Chinese] {
        let home = tempfile::tempdir().unwrap();
        let settings = Settings {
            language,
            ..Settings::default()
        };
        let texts = Texts::new(language);
        let mut harness = window(home.path(), &settings, SIZE);
        harness.run_steps(3);
        // Whoever asks for a page that needs a table is told so.
        visit(&mut harness, texts.get("page-train"));
        let needed = texts.with("page-needs-data", [("page", texts.get("page-train").into())]);
        assert!(shows(&harness, &needed));
        let open = texts.get("action-open");
        harness.get_by_role_and_label(Role::Button, open).focus();
        harness.run_steps(2);
        go(&mut harness, Key::K);
        type_into(&mut harness, texts.get("palette-hint"), "german");
        harness.key_press(Key::Escape);
        harness.run_steps(6);
        assert!(harness.get_by_role_and_label(Role::Button, open).is_focused());
        go(&mut harness, Key::K);
        type_into(&mut harness, texts.get("palette-hint"), "german");
        harness.key_press(Key::Enter);
        wait(&mut harness, "the sample", |snapshot| snapshot.dataset.is_some());
        assert_no_missing_texts(&harness);
    }
}

fn has_focus(node: &AccessKitNode<'_>) -> bool {
    node.is_focused()
}

#[test]
fn every_stop_of_the_tab_key_has_a_name() {
    let home = tempfile::tempdir().unwrap();
    let mut harness = window(home.path(), &Settings::default(), SIZE);
    harness.run_steps(3);
    for stop in 0..24 {
        harness.key_press(Key::Tab);
        harness.run_steps(2);
        let focused: Vec<String> = harness
            .query_all_by(has_focus)
            .map(|node| {
                let node = node.accesskit_node();
                format!("{:?} {:?}", node.role(), node.label().unwrap_or_default())
            })
            .collect();
        assert!(
            focused.iter().all(|stop| !stop.ends_with(" \"\"")) && !focused.is_empty(),
            "stop {stop}: {focused:?}"
        );
    }
}

#[test]
fn a_second_run_and_an_unexported_result_are_asked_about() {
    let home = tempfile::tempdir().unwrap();
    let texts = Texts::new(Language::English);
    let mut harness = with_plan(home.path(), &texts);
    press(&mut harness, texts.get("action-start"));
    wait(&mut harness, "some steps", |snapshot| {
        snapshot.runs.last().is_some_and(|run| run.step > 2)
    });
    press(&mut harness, texts.get("action-start"));
    wait_for_label(&mut harness, texts.get("another-confirm"));
    press(&mut harness, texts.get("another-keep"));
    assert_eq!(
        harness.state().snapshot().runs.len(),
        1,
        "nothing more was reserved"
    );

    go(&mut harness, Key::Period);
    wait_for_label(&mut harness, texts.get("stop-confirm"));
    press(&mut harness, texts.get("stop-confirm"));
    wait(&mut harness, "its end", |snapshot| {
        matches!(
            snapshot.runs.last().map(|run| &run.state),
            Some(RunState::Finished(_))
        )
    });
    press(&mut harness, texts.get("run-forget"));
    wait_for_label(&mut harness, texts.get("forget-confirm"));
    press(&mut harness, texts.get("forget-keep"));
    assert_eq!(harness.state().snapshot().runs.len(), 1);

    // With another table open, page and plots still speak of the run's own.
    go(&mut harness, Key::K);
    press(&mut harness, texts.get("action-close"));
    wait(&mut harness, "the closed table", |snapshot| {
        snapshot.dataset.is_none()
    });
    visit(&mut harness, texts.get("page-train"));
    assert!(shows(&harness, "Results of"));
    visit(&mut harness, texts.get("page-export"));
    let run = harness.state().snapshot().runs[0].clone();
    let claims = run.claims.clone().unwrap().unwrap();
    let epsilon = claims.guarantee.as_ref().unwrap().epsilon;
    assert!(
        epsilon < run.target.unwrap().epsilon,
        "by PLD it is less: {epsilon}"
    );
    assert!(shows(&harness, "(by PLD)"));
    assert!(shows(&harness, texts.get("certificate-stopped")));

    press(&mut harness, texts.get("run-forget"));
    wait_for_label(&mut harness, texts.get("forget-confirm"));
    press(&mut harness, texts.get("forget-confirm"));
    wait(&mut harness, "the empty list", |snapshot| {
        snapshot.runs.is_empty()
    });
    assert_no_missing_texts(&harness);
}

#[test]
fn suggestions_are_let_stand_after_a_question_and_the_page_says_so() {
    let home = tempfile::tempdir().unwrap();
    let texts = Texts::new(Language::English);
    let table = home.path().join("own.csv");
    let mut rows = String::from("age,town\n");
    for at in 0..300 {
        writeln!(rows, "{},{}", 20 + at % 50, ["Ulm", "Bern", "Graz"][at % 3]).unwrap();
    }
    std::fs::write(&table, rows).unwrap();
    let mut harness = window(home.path(), &Settings::default(), SIZE);
    harness.run_steps(3);
    type_into(
        &mut harness,
        texts.get("path-label"),
        &table.display().to_string(),
    );
    press(&mut harness, texts.get("path-open"));
    wait(&mut harness, "the table", |snapshot| snapshot.dataset.is_some());
    press(&mut harness, texts.get("action-accept-all"));
    wait_for_label(&mut harness, texts.get("accept-all-confirm"));
    assert!(
        !harness
            .state()
            .snapshot()
            .dataset
            .as_ref()
            .unwrap()
            .open
            .is_empty()
    );
    press(&mut harness, texts.get("accept-all-confirm"));
    wait(&mut harness, "no open column", |snapshot| {
        snapshot.dataset.as_ref().is_some_and(|data| data.open.is_empty())
    });
    assert!(shows(&harness, "read off private rows: not protected"));
    assert!(!shows(&harness, texts.get("schema-reviewed")));

    // Data of one's own: a total is set once, and raised by a question with a reason.
    visit(&mut harness, texts.get("page-privacy"));
    type_into(&mut harness, texts.get("total-reason"), "a study");
    press(&mut harness, texts.get("total-set"));
    let total = |snapshot: &pointillist::engine::snapshot::Snapshot| {
        let budget = snapshot.dataset.as_ref()?.budget.clone()?;
        Some(budget.total?.epsilon)
    };
    wait(&mut harness, "the total", |snapshot| total(snapshot).is_some());
    press(&mut harness, texts.get("total-raise"));
    wait_for_label(&mut harness, texts.get("raise-confirm"));
    harness
        .get_by_role_and_label(Role::SpinButton, texts.get("raise-epsilon"))
        .set_value_accesskit(12.0);
    harness.run_steps(3);
    type_into(&mut harness, texts.get("total-reason"), "a second study");
    press(&mut harness, texts.get("raise-confirm"));
    wait(&mut harness, "the higher total", |snapshot| {
        total(snapshot).is_some_and(|epsilon| epsilon > 11.9)
    });
    assert_no_missing_texts(&harness);
}
