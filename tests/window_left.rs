//! What is chosen for one table or run stays with it, and what would be lost by closing is asked about.
#![cfg(feature = "gui")]

#[path = "support/window.rs"]
mod support;

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, ViewportEvent, ViewportId};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use pointillist::engine::settings::Language;
use pointillist::engine::snapshot::RunState;
use pointillist::gui::App;
use pointillist::gui::i18n::Texts;
use support::{assert_no_missing_texts, fill, go, opened, press, type_into, visit, wait, wait_for_label};

fn open(home: &std::path::Path) -> (Harness<'static, App>, Texts) {
    let (mut harness, texts) = opened(home, Language::English);
    press(&mut harness, texts.get("sample-german-credit"));
    wait(&mut harness, "the sample", |snapshot| snapshot.dataset.is_some());
    visit(&mut harness, texts.get("page-train"));
    (harness, texts)
}

#[test]
fn another_table_begins_with_what_is_recommended_for_it() {
    let home = tempfile::tempdir().unwrap();
    let (mut harness, texts) = open(home.path());
    wait_for_label(&mut harness, texts.get("plan-recommended"));
    fill(&mut harness, (Role::SpinButton, texts.get("epsilon-name")), "3");
    fill(&mut harness, (Role::SpinButton, texts.get("delta-name")), "0.001");
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
    fill(&mut harness, (Role::SpinButton, texts.get("setting-steps")), "30");
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
    fill(&mut harness, (Role::SpinButton, texts.get("export-rows")), "77");
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

#[test]
fn a_promise_that_does_not_add_up_with_the_total_is_told_before_the_start() {
    let home = tempfile::tempdir().unwrap();
    let (mut harness, texts) = open(home.path());
    go(&mut harness, Key::Num1);
    harness
        .get_by_role_and_label(Role::CheckBox, texts.get("schema-public"))
        .click_accesskit();
    wait(&mut harness, "private data", |snapshot| {
        snapshot.dataset.as_ref().is_some_and(|data| !data.schema.public)
    });
    go(&mut harness, Key::Num5);
    type_into(&mut harness, texts.get("total-reason"), "a study");
    press(&mut harness, texts.get("total-set"));
    go(&mut harness, Key::Num3);
    fill(&mut harness, (Role::SpinButton, texts.get("setting-steps")), "30");
    wait(&mut harness, "the plan", |snapshot| {
        let plan = snapshot.plan.as_ref();
        plan.is_some_and(|plan| {
            plan.share.is_some() && plan.outcome.as_ref().is_ok_and(|plan| plan.steps == 30)
        })
    });
    go(&mut harness, Key::Enter);
    wait(&mut harness, "the run", |snapshot| {
        let last = snapshot.runs.last();
        last.is_some_and(|run| matches!(run.state, RunState::Finished(_)))
    });
    // What was charged so far is of add-or-remove-one.
    harness
        .get_by_role_and_label(Role::ComboBox, texts.get("relation-name"))
        .click_accesskit();
    harness.run_steps(4);
    press(&mut harness, texts.get("relation-replace"));
    wait(&mut harness, "the refusal", |snapshot| {
        snapshot.plan.as_ref().is_some_and(|plan| plan.outcome.is_err())
    });
    let words = "the two do not add up, so choose the total's relation in the plan";
    assert!(harness.query_all_by_label_contains(words).next().is_some());
    press(&mut harness, texts.get("action-start"));
    assert_eq!(harness.state().snapshot().runs.len(), 1, "Start is blocked");
}

#[test]
fn runs_of_different_data_say_of_which() {
    let home = tempfile::tempdir().unwrap();
    let (mut harness, texts) = open(home.path());
    let data = texts.get("compare-data");
    for (at, sample) in ["sample-german-credit", "sample-adult"].iter().enumerate() {
        if at > 0 {
            visit(&mut harness, texts.get("page-data"));
            press(&mut harness, texts.get("action-close"));
            wait(&mut harness, "nothing open", |snapshot| {
                snapshot.dataset.is_none()
            });
            press(&mut harness, texts.get(sample));
            wait(&mut harness, "the sample", |snapshot| snapshot.dataset.is_some());
            visit(&mut harness, texts.get("page-train"));
        }
        fill(&mut harness, (Role::SpinButton, texts.get("setting-steps")), "30");
        wait(&mut harness, "the plan", |snapshot| {
            let plan = snapshot.plan.as_ref();
            plan.is_some_and(|plan| plan.outcome.as_ref().is_ok_and(|plan| plan.steps == 30))
        });
        go(&mut harness, Key::Enter);
        wait(&mut harness, "the run", |snapshot| {
            let last = snapshot.runs.last();
            snapshot.runs.len() == at + 1
                && last.is_some_and(|run| matches!(run.state, RunState::Finished(_)))
        });
        harness.run_steps(3);
        let heads = harness.query_all_by_role_and_label(Role::Button, data).count();
        assert_eq!(heads, at, "a column for the data once runs differ in it");
    }
    assert_no_missing_texts(&harness);
}

/// Files of one name in two folders, as sets of images have them: the table says which run is of which.
#[test]
fn runs_of_files_of_one_name_are_told_apart() {
    let home = tempfile::tempdir().unwrap();
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/samples");
    let (mut harness, texts) = opened(home.path(), Language::English);
    for (at, sample) in ["german_credit", "adult"].into_iter().enumerate() {
        let folder = home.path().join(sample);
        std::fs::create_dir(&folder).unwrap();
        for ending in ["parquet", "schema.toml"] {
            let to = folder.join(format!("data.{ending}"));
            std::fs::copy(samples.join(format!("{sample}.{ending}")), to).unwrap();
        }
        if at > 0 {
            visit(&mut harness, texts.get("page-data"));
            press(&mut harness, texts.get("action-close"));
            wait(&mut harness, "nothing open", |snapshot| {
                snapshot.dataset.is_none()
            });
        }
        let path = folder.join("data.parquet").display().to_string();
        type_into(&mut harness, texts.get("path-label"), &path);
        press(&mut harness, texts.get("path-open"));
        wait(&mut harness, "the file", |snapshot| snapshot.dataset.is_some());
        visit(&mut harness, texts.get("page-train"));
        fill(&mut harness, (Role::SpinButton, texts.get("setting-steps")), "30");
        wait(&mut harness, "the plan", |snapshot| {
            let plan = snapshot.plan.as_ref();
            plan.is_some_and(|plan| plan.outcome.as_ref().is_ok_and(|plan| plan.steps == 30))
        });
        go(&mut harness, Key::Enter);
        wait(&mut harness, "the run", |snapshot| {
            let last = snapshot.runs.last();
            snapshot.runs.len() == at + 1
                && last.is_some_and(|run| matches!(run.state, RunState::Finished(_)))
        });
    }
    let runs = harness.state().snapshot().runs.clone();
    assert_eq!(runs[0].dataset, runs[1].dataset);
    assert!(!runs[0].has_data_of(&runs[1]) && runs[0].has_data_of(&runs[0]));
    for number in 1..=2 {
        let name = format!("{} ({number})", runs[0].dataset);
        assert!(harness.query_by_label(&name).is_some(), "{name}");
    }
    assert_no_missing_texts(&harness);
}
