//! Numbers as people type them: read as they are meant, or refused in words, never another number.
#![cfg(feature = "gui")]

#[path = "support/window.rs"]
mod support;

use eframe::egui::Key;
use eframe::egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use pointillist::engine::settings::{Language, Settings};
use pointillist::engine::snapshot::RunState;
use pointillist::gui::App;
use pointillist::gui::command::Page;
use pointillist::gui::i18n::Texts;
use support::{assert_no_missing_texts, fill, go, opened, press, visit, wait, window};

#[track_caller]
fn says(harness: &Harness<'static, App>, words: &str, is_said: bool) {
    let found = harness.query_all_by_label_contains(words).next().is_some();
    assert_eq!(found, is_said, "{words}");
}

/// A number that is no ε is refused as a text that is no number is: what stands below stays where it is.
fn a_wrong_epsilon_moves_nothing(harness: &mut Harness<'static, App>, texts: &Texts) {
    let name = texts.get("epsilon-name");
    fill(harness, (Role::SpinButton, name), "1.5");
    let place = |harness: &Harness<'static, App>| {
        harness
            .get_by_role_and_label(Role::SpinButton, texts.get("delta-name"))
            .rect()
    };
    let before = place(harness);
    for text in ["-1", "0", "1000"] {
        fill(harness, (Role::SpinButton, name), text);
        says(harness, "a number above 0 and at most 100", true);
        says(harness, "gan", false);
        assert_eq!(place(harness), before, "{text}");
        let field = harness.get_by_role_and_label(Role::SpinButton, name);
        assert_eq!(field.value().as_deref(), Some(text));
        says(harness, texts.get("plan-recommended"), false);
    }
    press(harness, texts.get("plan-recommended-back"));
    let field = harness.get_by_role_and_label(Role::SpinButton, name);
    assert_eq!(field.value().as_deref(), Some("1.50"), "what was typed is gone");
    harness.run_steps(4);
    says(harness, "a number above 0", false);
    says(harness, texts.get("plan-recommended"), true);
}

#[test]
fn a_number_of_rows_means_what_is_shown() {
    let home = tempfile::tempdir().unwrap();
    let (mut harness, texts) = opened(home.path(), Language::English);
    press(&mut harness, texts.get("sample-german-credit"));
    wait(&mut harness, "the sample", |snapshot| snapshot.dataset.is_some());
    visit(&mut harness, texts.get("page-train"));
    wait(&mut harness, "a plan", |snapshot| snapshot.plan.is_some());
    let steps = (Role::SpinButton, texts.get("setting-steps"));
    fill(&mut harness, steps, "20");
    wait(&mut harness, "its plan", |snapshot| {
        let plan = snapshot.plan.as_ref().and_then(|plan| plan.outcome.as_ref().ok());
        plan.is_some_and(|plan| plan.steps == 20)
    });
    press(&mut harness, texts.get("action-start"));
    wait(&mut harness, "its end", |snapshot| {
        let mut runs = snapshot.runs.iter();
        runs.any(|run| matches!(run.state, RunState::Finished(_)))
    });
    visit(&mut harness, texts.get("page-export"));
    let rows = (Role::SpinButton, texts.get("export-rows"));
    for (text, words) in [("2.000", "Write 2 or 2000"), ("many", "32561 or 32,561")] {
        fill(&mut harness, rows, text);
        says(&harness, words, true);
        let export = harness.get_by_role_and_label(Role::Button, texts.get("action-export"));
        assert!(export.accesskit_node().is_disabled(), "{text}");
    }
    for (text, shown) in [("5,000", "5,000"), ("2000", "2,000"), ("32 561", "32,561")] {
        fill(&mut harness, rows, text);
        let field = harness.get_by_role_and_label(Role::SpinButton, rows.1);
        assert_eq!(field.value().as_deref(), Some(shown), "{text}");
        let export = harness.get_by_role_and_label(Role::Button, texts.get("action-export"));
        assert!(!export.accesskit_node().is_disabled(), "{text}");
    }
    assert_no_missing_texts(&harness);
}

#[test]
fn a_decimal_comma_is_read_and_what_cannot_be_read_is_said() {
    let home = tempfile::tempdir().unwrap();
    let settings = Settings {
        language: Language::English,
        ..Settings::default()
    };
    let texts = Texts::new(Language::English);
    let mut harness = window(home.path(), &settings, [1440.0, 900.0]);
    harness.run_steps(3);
    press(&mut harness, texts.get("sample-german-credit"));
    wait(&mut harness, "the sample", |snapshot| snapshot.dataset.is_some());
    visit(&mut harness, texts.get("page-train"));
    let planned = |harness: &mut Harness<'static, App>, epsilon: f64, delta: f64| {
        wait(harness, "the plan", |snapshot| {
            snapshot.plan.as_ref().is_some_and(|plan| {
                plan.request.target.is_some_and(|target| {
                    (target.epsilon - epsilon).abs() < 1e-12 && (target.delta - delta).abs() < 1e-18
                })
            })
        });
    };
    let epsilon = (Role::SpinButton, texts.get("epsilon-name"));
    let delta = (Role::SpinButton, texts.get("delta-name"));
    fill(&mut harness, epsilon, "1,5");
    fill(&mut harness, delta, "0,00001");
    planned(&mut harness, 1.5, 1e-5);
    says(&harness, "cannot be read as a number", false);
    for (text, words) in [
        ("abc", "cannot be read as a number"),
        ("1,234.5", "cannot be read as a number"),
        ("1,234", "Write 1.234 or 1234"),
    ] {
        fill(&mut harness, epsilon, text);
        says(&harness, words, true);
        // The field keeps the text, the plan its number, and no run starts with a number that nobody typed.
        let field = harness.get_by_role_and_label(Role::SpinButton, epsilon.1);
        assert_eq!(field.value().as_deref(), Some(text));
        planned(&mut harness, 1.5, 1e-5);
        go(&mut harness, Key::Enter);
        harness.run_steps(4);
        assert!(harness.state().snapshot().runs.is_empty(), "{text}");
    }
    a_wrong_epsilon_moves_nothing(&mut harness, &texts);
    fill(&mut harness, epsilon, "2,25");
    planned(&mut harness, 2.25, 1e-5);
    says(&harness, "Write 1.234", false);
    // A whole number with a part is none.
    fill(
        &mut harness,
        (Role::SpinButton, texts.get("setting-steps")),
        "2,5",
    );
    says(&harness, "a whole number is expected", true);
    go(&mut harness, Key::Num1);
    assert_eq!(harness.state().workbench().page(), Page::Data);
    let upper = texts.with("bound-upper", [("column", "credit_amount".into())]);
    fill(&mut harness, (Role::TextInput, &upper), "12,5,1");
    says(&harness, "cannot be read as a whole number", true);
    fill(&mut harness, (Role::TextInput, &upper), "25,000");
    wait(&mut harness, "the bound", |snapshot| {
        let schema = &snapshot.dataset.as_ref().unwrap().schema;
        let upper = schema.find("credit_amount").unwrap().upper.clone();
        upper.is_some_and(|upper| upper.to_string() == "25000")
    });
    says(&harness, "cannot be read as a whole number", false);
    assert_no_missing_texts(&harness);
}
