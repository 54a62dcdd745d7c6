//! What a person has chosen and can take back, what failed and stands beside its cause, and a run that is thrown away.
#![cfg(feature = "gui")]

#[path = "support/window.rs"]
mod support;

use std::time::{Duration, Instant};

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use pointillist::engine::settings::{Language, Settings};
use pointillist::engine::snapshot::RunState;
use pointillist::gui::App;
use pointillist::gui::command::Page;
use pointillist::gui::i18n::Texts;
use pointillist::privacy::ledger::Status;
use support::{PATIENCE, assert_no_missing_texts, go, press, type_into, wait, wait_for_label, window};

const SIZE: [f32; 2] = [1440.0, 900.0];

fn settings(language: Language) -> Settings {
    Settings {
        language,
        ..Settings::default()
    }
}

fn open_sample(harness: &mut Harness<'static, App>, texts: &Texts) {
    harness.run_steps(3);
    press(harness, texts.get("sample-german-credit"));
    wait(harness, "the sample", |snapshot| snapshot.dataset.is_some());
}

#[test]
fn a_change_of_the_schema_is_taken_back_and_made_again() {
    let home = tempfile::tempdir().unwrap();
    let texts = Texts::new(Language::English);
    let mut harness = window(home.path(), &settings(Language::English), SIZE);
    open_sample(&mut harness, &texts);
    let missing = |harness: &Harness<'static, App>| {
        let snapshot = harness.state().snapshot();
        snapshot
            .dataset
            .as_ref()
            .unwrap()
            .schema
            .find("status")
            .unwrap()
            .missing
    };
    assert!(!missing(&harness));
    let name = texts.with("missing-of", [("column", "status".into())]);
    harness
        .get_by_role_and_label(Role::CheckBox, &name)
        .click_accesskit();
    wait(&mut harness, "the change", |snapshot| {
        let dataset = snapshot.dataset.as_ref().unwrap();
        dataset.schema.find("status").unwrap().missing
    });
    // From another page: going back leads to the page that shows it.
    go(&mut harness, Key::Num4);
    go(&mut harness, Key::Z);
    wait(&mut harness, "the schema as it was", |snapshot| {
        let dataset = snapshot.dataset.as_ref().unwrap();
        !dataset.schema.find("status").unwrap().missing
    });
    assert_eq!(harness.state().workbench().page(), Page::Data);
    harness.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
    wait(&mut harness, "the change again", |snapshot| {
        let dataset = snapshot.dataset.as_ref().unwrap();
        dataset.schema.find("status").unwrap().missing
    });
    // Nothing is left to make again.
    go(&mut harness, Key::Y);
    harness.run_steps(4);
    assert!(missing(&harness));
    assert_no_missing_texts(&harness);
}

#[test]
fn a_bad_path_stands_beside_its_field_until_a_file_opens() {
    for (language, word) in [
        (Language::English, "there is no such file"),
        (Language::Chinese, "没有这个文件"),
    ] {
        let home = tempfile::tempdir().unwrap();
        let texts = Texts::new(language);
        let mut harness = window(home.path(), &settings(language), SIZE);
        harness.run_steps(3);
        let path = home.path().join("missing.csv");
        type_into(&mut harness, texts.get("path-label"), &path.display().to_string());
        press(&mut harness, texts.get("path-open"));
        let said = |harness: &Harness<'static, App>| harness.query_all_by_label_contains(word).count();
        let start = Instant::now();
        while said(&harness) < 2 {
            assert!(
                start.elapsed() < PATIENCE,
                "said in the toast and beside the field"
            );
            std::thread::sleep(Duration::from_millis(30));
            harness.step();
        }
        press(&mut harness, texts.get("toast-close"));
        assert_eq!(
            said(&harness),
            1,
            "it stands beside the field when the toast has gone"
        );
        open_sample(&mut harness, &texts);
        go(&mut harness, Key::K);
        press(&mut harness, texts.get("action-close"));
        wait(&mut harness, "the closed table", |snapshot| {
            snapshot.dataset.is_none()
        });
        assert_eq!(said(&harness), 0, "a success has mended it");
        assert_no_missing_texts(&harness);
    }
}

#[test]
fn a_run_is_thrown_away_by_the_third_answer_and_not_charged() {
    for language in [Language::English, Language::Chinese] {
        let home = tempfile::tempdir().unwrap();
        let texts = Texts::new(language);
        let mut harness = window(home.path(), &settings(language), SIZE);
        open_sample(&mut harness, &texts);
        go(&mut harness, Key::Num3);
        wait(&mut harness, "a plan", |snapshot| {
            snapshot.plan.as_ref().is_some_and(|plan| plan.outcome.is_ok())
        });
        press(&mut harness, texts.get("action-start"));
        wait(&mut harness, "some steps", |snapshot| {
            snapshot.runs.last().is_some_and(|run| run.step > 2)
        });
        go(&mut harness, Key::Period);
        wait_for_label(&mut harness, texts.get("stop-discard"));
        assert!(
            harness
                .query_all_by_label(texts.get("stop-confirm"))
                .next()
                .is_some()
        );
        press(&mut harness, texts.get("stop-discard"));
        wait(&mut harness, "its end", |snapshot| {
            matches!(
                snapshot.runs.last().map(|run| &run.state),
                Some(RunState::Failed(_))
            )
        });
        wait_for_label(&mut harness, texts.get("event-discarded"));
        let snapshot = harness.state().snapshot();
        let entry = snapshot.ledger.entries.last().unwrap();
        assert_eq!((&entry.status, entry.epsilon), (&Status::Discarded, 0.0));
        assert_no_missing_texts(&harness);
    }
}

#[test]
fn values_are_declared_or_left_by_framed_buttons() {
    let home = tempfile::tempdir().unwrap();
    let texts = Texts::new(Language::English);
    let mut harness = window(home.path(), &settings(Language::English), SIZE);
    open_sample(&mut harness, &texts);
    let name = texts.with("domain-edit", [("column", "status".into())]);
    harness
        .get_by_role_and_label(Role::Button, &name)
        .click_accesskit();
    harness.run_steps(3);
    assert!(
        harness
            .query_all_by_label(texts.get("domain-apply"))
            .next()
            .is_some()
    );
    press(&mut harness, texts.get("figure-cancel"));
    assert!(
        harness
            .query_all_by_label(texts.get("domain-apply"))
            .next()
            .is_none()
    );
}
