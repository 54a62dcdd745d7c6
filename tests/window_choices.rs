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
use pointillist::train::ScheduleKind;
use support::{PATIENCE, assert_no_missing_texts, go, press, type_into, visit, wait, wait_for_label, window};

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
    visit(&mut harness, texts.get("page-export"));
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
        visit(&mut harness, texts.get("page-train"));
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
        let run = harness.state().snapshot().runs.last().unwrap().clone();
        assert!(run.thrown_away && run.sample.rows.is_empty() && run.claims.is_none());
        assert!(run.histograms.for_steward().is_empty());
        for gone in ["card-sample-caption", "card-loss", "card-privacy"] {
            let shown = harness.query_all_by_label(texts.get(gone)).next();
            assert!(shown.is_none(), "{gone} of a run that was thrown away");
        }
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

#[test]
fn a_schedule_of_ones_own_points_is_planned_within_the_same_total() {
    for language in [Language::English, Language::Chinese] {
        let home = tempfile::tempdir().unwrap();
        let texts = Texts::new(language);
        let mut harness = window(home.path(), &settings(language), SIZE);
        open_sample(&mut harness, &texts);
        visit(&mut harness, texts.get("page-train"));
        wait(&mut harness, "a plan", |snapshot| {
            snapshot.plan.as_ref().is_some_and(|plan| plan.outcome.is_ok())
        });
        let kinds = [
            "choice-two-phase",
            "choice-linear",
            "choice-exponential",
            "choice-points",
        ];
        for kind in kinds {
            // An answer by assistive technology leaves the list open.
            if harness.query_all_by_label(texts.get(kind)).next().is_none() {
                harness
                    .get_by_role_and_label(Role::ComboBox, texts.get("setting-schedule"))
                    .click_accesskit();
                harness.run_steps(3);
            }
            harness.get_by_label(texts.get(kind)).click_accesskit();
            harness.run_steps(4);
            wait(&mut harness, "the plan of the schedule", |snapshot| {
                let plan = snapshot.plan.as_ref().unwrap();
                let noise = plan.outcome.as_ref().map_or(0, |plan| plan.noise.len());
                !plan.outdated && noise > 1
            });
        }
        let start = texts.with("schedule-point", [("share", percent(0.0).into())]);
        // Below zero there is no noise: the point stays at its least.
        for (wanted, kept) in [(4.0, 4.0), (-3.0, 0.1)] {
            harness
                .get_by_role_and_label(Role::Slider, &start)
                .set_value_accesskit(wanted);
            harness.run_steps(4);
            wait(&mut harness, "the point", |snapshot| {
                let plan = snapshot.plan.as_ref().unwrap();
                let points = plan
                    .request
                    .settings
                    .as_ref()
                    .and_then(|settings| settings.table())
                    .map(|settings| &settings.schedule_points);
                !plan.outdated && points.is_some_and(|points| (points[0] - kept).abs() < 1e-9)
            });
        }
        let snapshot = harness.state().snapshot();
        let plan = snapshot.plan.as_ref().unwrap();
        let summary = plan.outcome.as_ref().unwrap();
        assert_eq!(summary.settings.table().unwrap().schedule, ScheduleKind::Points);
        // The total is met, from below, whatever the shape; and the curve ends there.
        let (budget, epsilon) = (summary.budget_epsilon.unwrap(), summary.epsilon.unwrap());
        assert!(
            epsilon <= budget && epsilon > 0.999 * budget,
            "{epsilon} {budget}"
        );
        let end = summary.epsilon_curve.last().unwrap();
        assert!((end[1] - epsilon).abs() < 1e-6 * budget, "{end:?} {epsilon}");
        // The first point was dragged lower than the second: noise rises at first.
        assert!(summary.noise[0].noise_multiplier < summary.noise[5].noise_multiplier);
        // One step back is one drag.
        go(&mut harness, Key::Z);
        wait(&mut harness, "the point as it was", |snapshot| {
            let plan = snapshot.plan.as_ref().unwrap();
            let points = plan
                .request
                .settings
                .as_ref()
                .and_then(|settings| settings.table())
                .map(|settings| &settings.schedule_points);
            points.is_some_and(|points| (points[0] - 4.0).abs() < 1e-9)
        });
        assert_no_missing_texts(&harness);
    }
}

#[test]
fn a_question_mark_lists_the_keys_and_is_no_letter_of_a_text() {
    let home = tempfile::tempdir().unwrap();
    let texts = Texts::new(Language::English);
    let mut harness = window(home.path(), &settings(Language::English), SIZE);
    harness.run_steps(3);
    harness.key_press(Key::Questionmark);
    harness.run_steps(3);
    wait_for_label(&mut harness, texts.get("keys-title"));
    press(&mut harness, texts.get("keys-close"));
    harness
        .get_by_role_and_label(Role::TextInput, texts.get("path-label"))
        .focus();
    harness.run_steps(3);
    harness.key_press(Key::Questionmark);
    harness.run_steps(3);
    assert!(
        harness
            .query_all_by_label(texts.get("keys-title"))
            .next()
            .is_none()
    );
    assert_no_missing_texts(&harness);
}

/// A share as the window writes it.
fn percent(share: f64) -> String {
    format!("{:.0}\u{a0}%", share * 100.0)
}

/// A public number of rows makes "one more or less" into "one zeroed out": wherever the window says a relation, it is the
/// one that the certificate will state.
#[test]
fn neighbours_are_named_as_the_certificate_names_them() {
    let home = tempfile::tempdir().unwrap();
    let texts = Texts::new(Language::English);
    let mut harness = window(home.path(), &settings(Language::English), SIZE);
    open_sample(&mut harness, &texts);
    for page in ["page-data", "page-explore", "page-train"] {
        visit(&mut harness, texts.get(page));
        let says = |key: &str| harness.query_all_by_label_contains(texts.get(key)).count();
        assert_eq!(says("relation-add-remove"), 0, "{page}");
        assert!(says("relation-zero-out") > 0, "{page}");
    }
    visit(&mut harness, texts.get("page-explore"));
    wait(&mut harness, "the rows' answer", |snapshot| {
        snapshot
            .explored
            .as_ref()
            .is_some_and(|explored| explored.outcome.is_ok())
    });
    harness.run_steps(3);
    let why = harness.query_all_by_label_contains("one row is made blank");
    assert!(
        why.count() > 0,
        "how far one unit moves the answer is told of the same neighbours"
    );
}
