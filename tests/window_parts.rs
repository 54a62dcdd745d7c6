//! Single parts of the window by their accessible names: folding, undo, a plan's share and inverse, figures, and the
//! question about a changed file.
#![cfg(feature = "gui")]

#[path = "support/window.rs"]
mod support;

use std::path::Path;

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, OutputCommand};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use pointillist::engine::settings::{Language, Settings};
use pointillist::engine::snapshot::RunState;
use pointillist::gui::App;
use pointillist::gui::i18n::Texts;
use support::{assert_no_missing_texts, go, opened, press, type_into, wait, wait_for_label};

fn english() -> Texts {
    Texts::new(Language::English)
}

/// A window with the German credit sample open and its plan worked out.
fn with_plan(home: &Path) -> Harness<'static, App> {
    let texts = english();
    let (mut harness, _) = opened(home, Language::English);
    press(&mut harness, texts.get("sample-german-credit"));
    wait(&mut harness, "the sample", |snapshot| snapshot.dataset.is_some());
    go(&mut harness, Key::Num3);
    wait(&mut harness, "a plan", |snapshot| {
        snapshot.plan.as_ref().is_some_and(|plan| plan.outcome.is_ok())
    });
    harness
}

fn slider(harness: &Harness<'static, App>, name: &str) -> f64 {
    harness
        .get_by_role_and_label(Role::Slider, name)
        .accesskit_node()
        .numeric_value()
        .unwrap()
}

fn close_to(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

#[test]
fn panels_fold_and_reset_layout_brings_them_back() {
    let home = tempfile::tempdir().unwrap();
    let texts = english();
    let mut harness = with_plan(home.path());
    let steps = texts.get("setting-steps");
    let shown = |harness: &Harness<'static, App>| {
        harness
            .query_all_by_role_and_label(Role::Slider, steps)
            .next()
            .is_some()
    };
    assert!(shown(&harness));
    press(&mut harness, texts.get("action-fold-plan"));
    assert!(!shown(&harness));
    press(&mut harness, texts.get("action-fold-rail"));
    go(&mut harness, Key::Num1);
    press(&mut harness, texts.get("action-fold-rows"));
    assert!(Settings::load(home.path()).is_ok());
    // The palette names every action.
    go(&mut harness, Key::K);
    press(&mut harness, texts.get("action-reset-layout"));
    go(&mut harness, Key::Num3);
    assert!(shown(&harness));
    harness.check_accessibility();
    assert_no_missing_texts(&harness);
}

#[test]
fn a_change_of_the_plan_is_taken_back_in_one_step() {
    let home = tempfile::tempdir().unwrap();
    let texts = english();
    let mut harness = with_plan(home.path());
    let name = texts.get("epsilon-name");
    for epsilon in [2.0, 8.0] {
        harness
            .get_by_role_and_label(Role::Slider, name)
            .set_value_accesskit(epsilon);
        harness.run_steps(4);
        assert!(close_to(slider(&harness, name), epsilon));
    }
    go(&mut harness, Key::Z);
    assert!(close_to(slider(&harness, name), 2.0));
    go(&mut harness, Key::Z);
    assert!(close_to(slider(&harness, name), 1.0));
    go(&mut harness, Key::Y);
    assert!(close_to(slider(&harness, name), 2.0));
}

#[test]
fn the_share_of_the_total_is_shown_before_the_start_and_refused_when_it_does_not_fit() {
    let home = tempfile::tempdir().unwrap();
    let texts = english();
    let mut harness = with_plan(home.path());
    go(&mut harness, Key::Num1);
    harness
        .get_by_role_and_label(Role::CheckBox, texts.get("schema-public"))
        .click_accesskit();
    harness.run_steps(3);
    // A total is asked for where the data is private, which the engine has to have heard first.
    wait(&mut harness, "private data", |snapshot| {
        snapshot.dataset.as_ref().is_some_and(|data| !data.schema.public)
    });
    go(&mut harness, Key::Num5);
    type_into(&mut harness, texts.get("total-reason"), "a study");
    press(&mut harness, texts.get("total-set"));
    go(&mut harness, Key::Num3);
    wait(&mut harness, "a share", |snapshot| {
        snapshot.plan.as_ref().is_some_and(|plan| plan.share.is_some())
    });
    let share = harness.state().snapshot().plan.as_ref().unwrap().share.unwrap();
    // The total is ε = 10 at the same δ, the plan ε = 1.
    assert!(share > 0.001 && share < 0.5, "{share}");
    assert!(
        harness
            .query_all_by_label_contains("of the data set’s total is reserved now")
            .next()
            .is_some()
    );
    harness
        .get_by_role_and_label(Role::Slider, texts.get("epsilon-name"))
        .set_value_accesskit(20.0);
    harness.run_steps(3);
    wait(&mut harness, "a larger share", |snapshot| {
        snapshot
            .plan
            .as_ref()
            .is_some_and(|plan| plan.share.is_some_and(|share| share > 1.0))
    });
    assert!(
        harness
            .query_all_by_label_contains("This run would take")
            .next()
            .is_some()
    );
    press(&mut harness, texts.get("action-start"));
    assert!(harness.state().snapshot().runs.is_empty(), "Start is blocked");
}

#[test]
fn a_noise_that_can_be_stood_gives_its_epsilon() {
    let home = tempfile::tempdir().unwrap();
    let texts = english();
    let mut harness = with_plan(home.path());
    let name = texts.get("epsilon-name");
    let field = texts.get("inverse-marginals");
    let before = harness.state().snapshot().plan.as_ref().map(|plan| {
        let summary = plan.outcome.as_ref().unwrap();
        summary.marginal_deviation.unwrap()
    });
    let wanted = before.unwrap() / 2.0;
    harness
        .get_by_role_and_label(Role::SpinButton, field)
        .set_value_accesskit(wanted);
    harness.run_steps(4);
    wait(&mut harness, "an answer", |snapshot| snapshot.epsilon.is_some());
    let epsilon = slider(&harness, name);
    assert!(epsilon > 1.0, "half the noise costs more: {epsilon}");
    wait(&mut harness, "its plan", |snapshot| {
        snapshot.plan.as_ref().is_some_and(|plan| {
            plan.request
                .target
                .is_some_and(|target| close_to(target.epsilon, epsilon))
                && plan.outcome.is_ok()
        })
    });
    let snapshot = harness.state().snapshot();
    let summary = snapshot.plan.as_ref().unwrap().outcome.as_ref().unwrap();
    assert!(summary.marginal_deviation.unwrap() <= wanted * (1.0 + 1e-9));
}

#[test]
fn a_plot_gives_its_points_and_its_drawing_marked_for_the_steward() {
    let home = tempfile::tempdir().unwrap();
    let texts = english();
    let mut harness = with_plan(home.path());
    harness
        .get_by_role_and_label(Role::Slider, texts.get("setting-steps"))
        .set_value_accesskit(30.0);
    harness.run_steps(4);
    wait(&mut harness, "the new plan", |snapshot| {
        let plan = snapshot.plan.as_ref().and_then(|plan| plan.outcome.as_ref().ok());
        plan.is_some_and(|plan| plan.steps == 30)
    });
    press(&mut harness, texts.get("action-start"));
    wait(&mut harness, "the end of the run", |snapshot| {
        let run = snapshot.runs.last();
        run.is_some_and(|run| matches!(run.state, RunState::Finished(_)))
    });
    let menu = |harness: &mut Harness<'static, App>, item: &str| {
        harness
            .get_by_role_and_label(Role::Figure, texts.get("card-loss"))
            .click_secondary();
        harness.run_steps(4);
        press(harness, item);
    };
    harness
        .get_by_role_and_label(Role::Figure, texts.get("card-loss"))
        .click_secondary();
    harness.run_steps(4);
    harness
        .get_by_role_and_label(Role::Button, texts.get("figure-copy"))
        .click_accesskit();
    harness.step();
    let copied = harness
        .output()
        .platform_output
        .commands
        .iter()
        .find_map(|command| {
            if let OutputCommand::CopyText(text) = command {
                Some(text.clone())
            } else {
                None
            }
        });
    let copied = copied.expect("the points are on the clipboard");
    assert!(copied.starts_with("# steward only") && copied.lines().count() > 30);
    harness.run_steps(3);

    let path = home.path().join("loss.svg");
    menu(&mut harness, texts.get("figure-svg"));
    type_into(
        &mut harness,
        texts.get("export-path"),
        &path.display().to_string(),
    );
    press(&mut harness, texts.get("figure-save"));
    wait_for_label(&mut harness, texts.get("event-figure-saved"));
    let drawing = std::fs::read_to_string(&path).unwrap();
    assert!(drawing.starts_with("<svg") && drawing.contains("steward only"));
    assert_no_missing_texts(&harness);
}

#[test]
fn a_changed_file_is_asked_about_and_continues_its_budget() {
    let home = tempfile::tempdir().unwrap();
    let texts = english();
    let file = home.path().join("patients.csv");
    let rows = |more: u32| -> String {
        (0..80 + more).fold("age,sex\n".to_owned(), |text, row| {
            let sex = if row % 2 == 0 { "f" } else { "m" };
            text + &format!("{},{sex}\n", 20 + row % 60)
        })
    };
    std::fs::write(&file, rows(0)).unwrap();
    let (mut harness, _) = opened(home.path(), Language::English);
    let open = |harness: &mut Harness<'static, App>| {
        type_into(harness, texts.get("path-label"), &file.display().to_string());
        press(harness, texts.get("path-open"));
        wait(harness, "the table", |snapshot| {
            snapshot.dataset.is_some() && snapshot.loading.is_none()
        });
    };
    open(&mut harness);
    go(&mut harness, Key::Num5);
    type_into(&mut harness, texts.get("total-reason"), "a study");
    press(&mut harness, texts.get("total-set"));
    wait(&mut harness, "the total", |snapshot| {
        let budget = snapshot
            .dataset
            .as_ref()
            .and_then(|dataset| dataset.budget.as_ref());
        budget.is_some_and(|budget| budget.total.is_some())
    });
    go(&mut harness, Key::Num1);
    press(&mut harness, texts.get("action-close"));
    wait(&mut harness, "the table to close", |snapshot| {
        snapshot.dataset.is_none()
    });

    std::fs::write(&file, rows(7)).unwrap();
    open(&mut harness);
    wait_for_label(&mut harness, texts.get("version-title"));
    harness.check_accessibility();
    press(&mut harness, texts.get("version-continue"));
    wait(&mut harness, "the answer", |snapshot| {
        snapshot.dataset.as_ref().is_some_and(|dataset| {
            dataset.may_be_version_of.is_empty()
                && dataset
                    .budget
                    .as_ref()
                    .is_some_and(|budget| budget.total.is_some())
        })
    });
    assert_no_missing_texts(&harness);
}

#[track_caller]
fn choose(harness: &mut Harness<'static, App>, combo: &str, item: &str) {
    harness
        .get_by_role_and_label(Role::ComboBox, combo)
        .click_accesskit();
    harness.run_steps(4);
    press(harness, item);
}

#[test]
fn a_private_statistic_shows_its_cost_asks_once_and_stands_with_its_interval() {
    let home = tempfile::tempdir().unwrap();
    let texts = english();
    let mut harness = with_plan(home.path());
    go(&mut harness, Key::Num2);
    choose(
        &mut harness,
        texts.get("release-query"),
        texts.get("query-histogram"),
    );
    choose(&mut harness, texts.get("release-column"), "housing");
    assert!(
        harness
            .query_all_by_label_contains("Charges ε = 0.1 at δ = 0, for good.")
            .next()
            .is_some()
    );
    press(&mut harness, texts.get("release-ask"));
    wait_for_label(&mut harness, texts.get("release-question"));
    harness.check_accessibility();
    assert!(
        harness.state().snapshot().releases.is_empty(),
        "nothing without the answer"
    );
    press(&mut harness, texts.get("release-now"));
    wait(&mut harness, "the release", |snapshot| {
        snapshot.releases.len() == 1
    });
    let snapshot = harness.state().snapshot();
    let released = &snapshot.releases[0];
    assert!(released.answer.cells.iter().all(|cell| cell.interval.is_some()));
    assert_eq!(snapshot.ledger.entries.len(), 1);
    press(&mut harness, &format!("{} 1", texts.get("picture-released")));
    let spent = snapshot.dataset.as_ref().unwrap().budget.as_ref().unwrap();
    assert!((spent.spent.epsilon - 0.1).abs() < 1e-9);
    assert!(
        harness
            .query_all_by_label(texts.get("released-interval"))
            .next()
            .is_some()
    );
    harness.check_accessibility();
    assert_no_missing_texts(&harness);
}

#[test]
fn bounds_are_bought_into_the_schema() {
    let home = tempfile::tempdir().unwrap();
    let texts = english();
    let file = home.path().join("amounts.csv");
    let rows = (0..2000).fold("amount\n".to_owned(), |text, row| {
        text + &format!("{}.5\n", 10 + row % 900)
    });
    std::fs::write(&file, rows).unwrap();
    let (mut harness, _) = opened(home.path(), Language::English);
    type_into(&mut harness, texts.get("path-label"), &file.display().to_string());
    press(&mut harness, texts.get("path-open"));
    wait(&mut harness, "the table", |snapshot| snapshot.dataset.is_some());
    go(&mut harness, Key::Num2);
    choose(
        &mut harness,
        texts.get("release-query"),
        texts.get("query-bounds"),
    );
    harness
        .get_by_role_and_label(Role::Slider, texts.get("release-epsilon-name"))
        .set_value_accesskit(1.0);
    harness.run_steps(4);
    press(&mut harness, texts.get("release-ask"));
    wait_for_label(&mut harness, texts.get("release-question"));
    press(&mut harness, texts.get("release-now"));
    wait(&mut harness, "the purchase", |snapshot| {
        snapshot.dataset.as_ref().is_some_and(|dataset| {
            let column = dataset.schema.find("amount");
            column.is_some_and(|column| column.provenance == Some(pointillist::data::Provenance::Bought))
        })
    });
    go(&mut harness, Key::Num1);
    assert!(
        harness
            .query_all_by_label(texts.get("source-bought"))
            .next()
            .is_some()
    );
    assert_no_missing_texts(&harness);
}
