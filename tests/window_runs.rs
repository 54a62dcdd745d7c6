//! The table of runs: two side by side, ordered, renamed, drawn over one another, deleted; and a name that is there
//! again after a restart.
#![cfg(feature = "gui")]

#[path = "support/window.rs"]
mod support;

use std::time::{Duration, Instant};

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Rect};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use pointillist::engine::settings::Language;
use pointillist::engine::snapshot::{RunState, Snapshot};
use pointillist::gui::App;
use pointillist::gui::i18n::Texts;
use support::{PATIENCE, assert_no_missing_texts, go, opened, press, visit, wait, wait_for_label};

/// More than a run gets through before it is stopped.
const LONG: f64 = 4000.0;
/// What a run gets through at once.
const SHORT: f64 = 30.0;

/// The sample on the train page, with a plan.
fn plan_sample(harness: &mut Harness<'static, App>, texts: &Texts) {
    press(harness, texts.get("sample-german-credit"));
    wait(harness, "the sample", |snapshot| snapshot.dataset.is_some());
    visit(harness, texts.get("page-train"));
}

/// Presses Start with so many steps.
fn start(harness: &mut Harness<'static, App>, texts: &Texts, steps: f64) {
    wait(harness, "a plan", |snapshot| {
        snapshot.plan.as_ref().is_some_and(|plan| plan.outcome.is_ok())
    });
    harness
        .get_by_role_and_label(Role::Slider, texts.get("setting-steps"))
        .set_value_accesskit(steps);
    harness.run_steps(4);
    wait(harness, "the plan of these steps", |snapshot| {
        let plan = snapshot.plan.as_ref().and_then(|plan| plan.outcome.as_ref().ok());
        plan.is_some_and(|plan| plan.steps == steps as u64)
    });
    press(harness, texts.get("action-start"));
}

/// A text of the table that holds a run's name.
fn named(texts: &Texts, key: &str, name: &str) -> String {
    texts.with(key, [("name", name.into())])
}

/// Opens the field for the name of the run that is called so.
fn begin_renaming(harness: &mut Harness<'static, App>, texts: &Texts, from: &str) {
    press(harness, &named(texts, "compare-rename-tip", from));
    let field = texts.get("compare-new-name");
    let start = Instant::now();
    while !harness
        .query_by_role_and_label(Role::TextInput, field)
        .is_some_and(|field| field.is_focused())
    {
        assert!(start.elapsed() < PATIENCE, "the field is not focused");
        harness.step();
    }
    harness.get_by_role_and_label(Role::TextInput, field).focus();
    harness.run_steps(2);
    harness.key_press_modifiers(eframe::egui::Modifiers::COMMAND, Key::A);
    harness.run_steps(2);
}

fn rename(harness: &mut Harness<'static, App>, texts: &Texts, from: &str, to: &str) {
    begin_renaming(harness, texts, from);
    harness
        .get_by_role_and_label(Role::TextInput, texts.get("compare-new-name"))
        .type_text(to);
    harness.run_steps(2);
    harness.key_press(Key::Enter);
    wait(harness, "the new name", |snapshot| {
        let mut runs = snapshot.runs.iter();
        runs.any(|run| run.name.as_deref() == Some(to))
    });
}

/// Where the table has the button by which a run is renamed: its row.
fn row_of(harness: &Harness<'static, App>, texts: &Texts, name: &str) -> Rect {
    let button = named(texts, "compare-rename-tip", name);
    harness.get_by_role_and_label(Role::Button, &button).rect()
}

/// What the plot of this name says of the ends of its curves.
fn curves(harness: &Harness<'static, App>, plot: &str) -> String {
    let figure = harness.get_by_role_and_label(Role::Figure, plot);
    figure.accesskit_node().value().unwrap_or_default()
}

/// Draws frames until the plot does or does not draw this run.
fn until_drawn(harness: &mut Harness<'static, App>, plot: &str, name: &str, is_drawn: bool) {
    let start = Instant::now();
    while curves(harness, plot).contains(name) != is_drawn {
        assert!(
            start.elapsed() < PATIENCE,
            "{name} is drawn: {} in {:?}",
            !is_drawn,
            curves(harness, plot)
        );
        std::thread::sleep(Duration::from_millis(30));
        harness.step();
    }
}

fn stop_all(harness: &mut Harness<'static, App>, texts: &Texts) {
    loop {
        let active = |harness: &Harness<'static, App>| {
            let snapshot = harness.state().snapshot();
            let active = snapshot.runs.iter().filter(|run| run.state.is_active());
            active.filter(|run| run.state != RunState::Stopping).count()
        };
        let before = active(harness);
        if before == 0 {
            break;
        }
        go(harness, Key::Period);
        wait_for_label(harness, texts.get("stop-confirm"));
        press(harness, texts.get("stop-confirm"));
        let start = Instant::now();
        while active(harness) == before {
            assert!(start.elapsed() < PATIENCE, "it is not stopped");
            std::thread::sleep(Duration::from_millis(30));
            harness.step();
        }
    }
    wait(harness, "their ends", |snapshot| {
        let mut runs = snapshot.runs.iter();
        runs.all(|run| matches!(run.state, RunState::Finished(_)))
    });
}

#[test]
fn two_runs_are_ordered_renamed_overlaid_and_deleted() {
    for language in [Language::English, Language::Chinese] {
        let home = tempfile::tempdir().unwrap();
        let (mut harness, texts) = opened(home.path(), language);
        plan_sample(&mut harness, &texts);
        start(&mut harness, &texts, LONG);
        wait(&mut harness, "some steps", |snapshot| {
            snapshot.runs.last().is_some_and(|run| run.step > 2)
        });
        let table = |count: u64| texts.with("compare-title", [("count", count.into())]);
        assert!(
            harness.query_by_label(&table(1)).is_none(),
            "one run needs no table"
        );
        // A second beside it, which is asked about since it costs too.
        start(&mut harness, &texts, LONG - 1000.0);
        wait_for_label(&mut harness, texts.get("another-confirm"));
        press(&mut harness, texts.get("another-confirm"));
        wait(&mut harness, "both at once", |snapshot| {
            let going = snapshot.runs.iter().filter(|run| run.state.is_active());
            going.count() == 2 && snapshot.runs.iter().all(|run| run.step > 2)
        });
        wait_for_label(&mut harness, &table(2));
        rename_and_order(&mut harness, &texts);
        overlay(&mut harness, &texts);
        stop_all(&mut harness, &texts);
        delete(&mut harness, &texts);
        assert!(
            harness.query_by_label(&table(2)).is_none(),
            "the table goes with it"
        );
        assert_no_missing_texts(&harness);
    }
}

fn rename_and_order(harness: &mut Harness<'static, App>, texts: &Texts) {
    // Both are called alike until they are given names; the first row is the older one.
    let snapshot = harness.state().snapshot();
    let method = texts
        .get(&format!("method-{}", snapshot.runs[0].method.name()))
        .to_owned();
    let own = format!("{method} · german_credit · ε 1");
    assert_eq!(
        harness
            .query_all_by_label(&named(texts, "compare-rename-tip", &own))
            .count(),
        2
    );
    rename(harness, texts, &own, "Zulu");
    rename(harness, texts, &own, "Alpha");
    let names: Vec<_> = harness
        .state()
        .snapshot()
        .runs
        .iter()
        .map(|run| run.name.clone())
        .collect();
    assert_eq!(names, [Some("Zulu".to_owned()), Some("Alpha".to_owned())]);
    // Escape leaves the name as it was.
    begin_renaming(harness, texts, "Alpha");
    harness
        .get_by_role_and_label(Role::TextInput, texts.get("compare-new-name"))
        .type_text("Bravo");
    harness.run_steps(2);
    harness.key_press(Key::Escape);
    harness.run_steps(4);
    let zulu_first = |harness: &Harness<'static, App>| {
        row_of(harness, texts, "Zulu").top() < row_of(harness, texts, "Alpha").top()
    };
    assert!(zulu_first(harness), "the newest last");
    // Zulu has more steps planned, but the order goes by what is done; by name it is certain.
    let name = texts.get("compare-name").to_owned();
    press(harness, &name);
    assert!(!zulu_first(harness), "by name");
    press(harness, &format!("{name} ↑"));
    assert!(zulu_first(harness), "by name, the other way round");
    press(harness, &format!("{name} ↓"));
    assert!(!zulu_first(harness), "and back");
}

fn overlay(harness: &mut Harness<'static, App>, texts: &Texts) {
    // The newest is in view: it cannot be drawn over itself.
    let tick = |name: &str| named(texts, "compare-overlay", name);
    assert!(harness.query_by_label(&tick("Alpha")).is_none());
    let plot = texts.get("card-loss");
    until_drawn(harness, plot, texts.get("curve-generator"), true);
    assert!(!curves(harness, plot).contains("Zulu"));
    for is_drawn in [true, false, true] {
        harness
            .get_by_role_and_label(Role::CheckBox, &tick("Zulu"))
            .click_accesskit();
        harness.run_steps(3);
        for plot in ["card-loss", "card-privacy"] {
            until_drawn(harness, texts.get(plot), "Zulu", is_drawn);
        }
    }
    // The other comes into view: now that one can be drawn over it.
    harness
        .get_by_role_and_label(Role::Button, "Zulu")
        .click_accesskit();
    harness.run_steps(4);
    assert!(harness.query_by_label(&tick("Zulu")).is_none());
    harness
        .get_by_role_and_label(Role::CheckBox, &tick("Alpha"))
        .click_accesskit();
    harness.run_steps(3);
    until_drawn(harness, plot, "Alpha", true);
}

fn delete(harness: &mut Harness<'static, App>, texts: &Texts) {
    let snapshot = harness.state().snapshot();
    let entry = snapshot.runs[0].entry.unwrap();
    let delete = named(texts, "compare-forget", "Zulu");
    press(harness, &delete);
    wait_for_label(harness, texts.get("forget-title"));
    // It has a generator that was paid for and never exported, and its entry stays.
    assert!(harness.query_by_label(texts.get("forget-paid")).is_some());
    let charged = snapshot
        .ledger
        .entries
        .iter()
        .find(|known| known.id == entry)
        .unwrap();
    assert!(charged.epsilon > 0.0);
    let stays = texts.with(
        "forget-entry",
        [
            ("entry", entry.to_string().into()),
            ("epsilon", "1".into()),
            ("delta", "1e-5".into()),
        ],
    );
    let said = harness
        .query_all_by_label_contains(stays.split('ε').next().unwrap())
        .count();
    assert_eq!(said, 1, "{stays}");
    press(harness, texts.get("forget-keep"));
    assert_eq!(harness.state().snapshot().runs.len(), 2);
    press(harness, &delete);
    wait_for_label(harness, texts.get("forget-title"));
    press(harness, texts.get("forget-confirm"));
    wait(harness, "one run", |snapshot| snapshot.runs.len() == 1);
    let after = harness.state().snapshot();
    assert_eq!(after.runs[0].name.as_deref(), Some("Alpha"));
    assert_eq!(after.ledger.entries, snapshot.ledger.entries);
}

#[test]
fn when_the_newest_run_is_deleted_another_can_be_started() {
    let home = tempfile::tempdir().unwrap();
    let (mut harness, texts) = opened(home.path(), Language::English);
    plan_sample(&mut harness, &texts);
    let ended = |snapshot: &Snapshot, count: usize| {
        let mut runs = snapshot.runs.iter();
        snapshot.runs.len() == count && runs.all(|run| matches!(run.state, RunState::Finished(_)))
    };
    for count in [1, 2] {
        start(&mut harness, &texts, SHORT);
        wait(&mut harness, "its end", |snapshot| ended(snapshot, count));
    }
    for left in [1, 0] {
        // The newest is the first in the strip of jobs.
        press(&mut harness, texts.get("run-forget"));
        wait_for_label(&mut harness, texts.get("forget-title"));
        press(&mut harness, texts.get("forget-confirm"));
        wait(&mut harness, "the run's going", |snapshot| {
            snapshot.runs.len() == left
        });
        let mut buttons = harness.query_all_by_role_and_label(Role::Button, texts.get("action-start"));
        let is_dead = buttons.any(|button| button.accesskit_node().is_disabled());
        assert!(!is_dead, "with {left} left");
    }
    start(&mut harness, &texts, SHORT);
    wait(&mut harness, "one more", |snapshot| ended(snapshot, 1));
    assert_no_missing_texts(&harness);
}

#[test]
fn a_run_that_goes_on_stands_first_and_is_held_in_the_table() {
    let home = tempfile::tempdir().unwrap();
    let (mut harness, texts) = opened(home.path(), Language::English);
    plan_sample(&mut harness, &texts);
    start(&mut harness, &texts, LONG);
    wait(&mut harness, "some steps", |snapshot| {
        snapshot.runs.last().is_some_and(|run| run.step > 2)
    });
    start(&mut harness, &texts, SHORT);
    wait_for_label(&mut harness, texts.get("another-confirm"));
    press(&mut harness, texts.get("another-confirm"));
    wait(&mut harness, "the end of the second", |snapshot| {
        let last = snapshot.runs.get(1);
        last.is_some_and(|run| matches!(run.state, RunState::Finished(_)))
    });
    let left = |harness: &Harness<'static, App>, key: &str| {
        let button = harness.get_by_role_and_label(Role::Button, texts.get(key));
        button.rect().left()
    };
    assert!(left(&harness, "run-pause") < left(&harness, "run-forget"));
    let method = harness.state().snapshot().runs[0].method.name();
    let key = format!("method-{method}");
    let method = texts.get(&key);
    let own = format!("{method} · german_credit · ε 1");
    press(&mut harness, &named(&texts, "compare-pause", &own));
    wait(&mut harness, "the pause", |snapshot| {
        snapshot.runs[0].state == RunState::Paused
    });
    press(&mut harness, &named(&texts, "compare-resume", &own));
    wait(&mut harness, "the run to go on", |snapshot| {
        snapshot.runs[0].state == RunState::Running
    });
    press(&mut harness, &named(&texts, "compare-stop", &own));
    wait_for_label(&mut harness, texts.get("stop-confirm"));
    press(&mut harness, texts.get("stop-discard"));
    wait(&mut harness, "its end", |snapshot| {
        snapshot.runs.iter().all(|run| !run.state.is_active())
    });
    assert_no_missing_texts(&harness);
}

#[test]
fn a_runs_name_is_there_again_after_a_restart() {
    for language in [Language::English, Language::Chinese] {
        let home = tempfile::tempdir().unwrap();
        let called = "Zulu – 夜";
        {
            let (mut harness, texts) = opened(home.path(), language);
            plan_sample(&mut harness, &texts);
            // The table of runs needs two; the first is at its end when the second is cut short.
            start(&mut harness, &texts, SHORT);
            wait(&mut harness, "its end", |snapshot| {
                let last = snapshot.runs.last();
                last.is_some_and(|run| matches!(run.state, RunState::Finished(_)))
            });
            start(&mut harness, &texts, LONG);
            wait(&mut harness, "some steps", |snapshot| {
                snapshot.runs.len() == 2 && snapshot.runs[1].step > 2
            });
            let snapshot = harness.state().snapshot();
            let method = texts
                .get(&format!("method-{}", snapshot.runs[0].method.name()))
                .to_owned();
            rename(
                &mut harness,
                &texts,
                &format!("{method} · german_credit · ε 1"),
                "first",
            );
            rename(
                &mut harness,
                &texts,
                &format!("{method} · german_credit · ε 1"),
                called,
            );
        }
        let (mut harness, texts) = opened(home.path(), language);
        wait(&mut harness, "the run that was cut short", |snapshot| {
            !snapshot.interrupted.is_empty()
        });
        // The one that had ended and was not exported comes back as it was, without another step.
        let before = harness.state().snapshot().ledger.entries.clone();
        press(&mut harness, texts.get("interrupted-resume"));
        wait(&mut harness, "the run that had ended", |snapshot| {
            let run = snapshot.runs.first();
            run.is_some_and(|run| {
                run.name.as_deref() == Some("first") && matches!(run.state, RunState::Finished(_))
            }) && snapshot.loading.is_none()
        });
        assert_eq!(harness.state().snapshot().ledger.entries, before);
        harness.run_steps(4);
        let banner = harness.query_all_by_label_contains(called).count();
        assert!(banner > 0, "the banner calls it by its name");
        press(&mut harness, texts.get("interrupted-resume"));
        wait(&mut harness, "the run", |snapshot| {
            let mut runs = snapshot.runs.iter();
            runs.any(|run| run.name.as_deref() == Some(called) && run.state == RunState::Running)
        });
        assert!(harness.query_all_by_label_contains(called).next().is_some());
        assert_no_missing_texts(&harness);
    }
}
