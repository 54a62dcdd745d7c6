//! The privacy page by its accessible names, its numbers against the functions behind them.
#![cfg(feature = "gui")]

#[path = "support/window.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, OutputCommand};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use pointillist::engine::settings::Language;
use pointillist::gui::App;
use pointillist::gui::i18n::Texts;
use pointillist::num::{Delta, Epsilon};
use pointillist::privacy::gaussian_sigma;
use pointillist::privacy::ledger::Status;
use pointillist::privacy::meaning::{Meaning, of_hundred, rounded_up};
use support::{
    PATIENCE, assert_no_missing_texts, fill, opened, press, type_into, visit, wait, wait_for_label,
};

/// The German credit sample as a table of one's own: no teaching data, so a total applies.
fn own_table(home: &Path) -> PathBuf {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/samples");
    let table = home.join("credit.parquet");
    std::fs::copy(samples.join("german_credit.parquet"), &table).unwrap();
    let schema = std::fs::read_to_string(samples.join("german_credit.schema.toml")).unwrap();
    let schema: Vec<&str> = schema
        .lines()
        .filter(|line| !line.starts_with("public"))
        .collect();
    std::fs::write(home.join("credit.schema.toml"), schema.join("\n")).unwrap();
    table
}

fn open(home: &Path, language: Language) -> (Harness<'static, App>, Texts) {
    let (mut harness, texts) = opened(home, language);
    let table = own_table(home);
    type_into(
        &mut harness,
        texts.get("path-label"),
        &table.display().to_string(),
    );
    press(&mut harness, texts.get("path-open"));
    wait(&mut harness, "the table", |snapshot| snapshot.dataset.is_some());
    (harness, texts)
}

fn set_total(harness: &mut Harness<'static, App>, texts: &Texts) {
    visit(harness, texts.get("page-privacy"));
    // What is missing is said, and a δ that is none.
    assert!(shows(harness, texts.get("total-set-needs")));
    fill(harness, (Role::SpinButton, "δ"), "2");
    assert!(shows(harness, "“2”"));
    fill(harness, (Role::SpinButton, "δ"), "1e-5");
    type_into(harness, texts.get("total-reason"), "a test");
    press(harness, texts.get("total-set"));
    wait(harness, "the total", |snapshot| {
        let budget = snapshot
            .dataset
            .as_ref()
            .and_then(|dataset| dataset.budget.clone());
        budget.is_some_and(|budget| budget.total.is_some())
    });
}

fn slide(harness: &mut Harness<'static, App>, name: &str, value: f64) {
    harness
        .get_all_by_role_and_label(Role::Slider, name)
        .next()
        .unwrap()
        .set_value_accesskit(value);
    harness.run_steps(4);
}

fn choose(harness: &mut Harness<'static, App>, combo: &str, item: &str) {
    harness
        .get_by_role_and_label(Role::ComboBox, combo)
        .click_accesskit();
    harness.run_steps(3);
    harness.get_by_label(item).click_accesskit();
    harness.run_steps(4);
}

fn shows(harness: &Harness<'static, App>, text: &str) -> bool {
    harness.query_all_by_label_contains(text).next().is_some()
}

#[test]
fn an_epsilon_of_ones_own_is_read_as_its_functions_say() {
    for language in [Language::English, Language::Chinese] {
        let home = tempfile::tempdir().unwrap();
        let (mut harness, texts) = opened(home.path(), language);
        visit(&mut harness, texts.get("page-privacy"));
        choose(&mut harness, texts.get("meaning-of"), texts.get("meaning-of-own"));
        slide(&mut harness, texts.get("meaning-epsilon"), 8.0);
        let sigma = gaussian_sigma(Epsilon::new(8.0).unwrap(), Delta::new(1e-5).unwrap(), 1.0).unwrap();
        let whole = Meaning::Gaussian { mu: 1.0 / sigma };
        let pair = Meaning::Pair {
            epsilon: 8.0,
            delta: 1e-5,
        };
        for rate in [1.0, 10.0] {
            slide(&mut harness, texts.get("false-alarms-name"), rate);
            for meaning in [&whole, &pair] {
                let found = rounded_up(100.0 * meaning.true_positive_rate(rate / 100.0), 2) + "\u{a0}%";
                assert!(shows(&harness, &found), "{language:?} {rate}: {found}");
            }
            // As a certificate says it.
            let people = of_hundred(whole.true_positive_rate(rate / 100.0));
            let picture = texts.with("words-picture", [("found", people.into())]);
            assert!(shows(&harness, &picture), "{picture}");
        }
        // The point on the curve is the same choice.
        slide(&mut harness, texts.get("tradeoff-handle"), 0.02);
        let value = harness
            .get_by_role_and_label(Role::Slider, texts.get("false-alarms-name"))
            .accesskit_node()
            .numeric_value();
        assert!((value.unwrap() - 2.0).abs() < 1e-9);
        slide(&mut harness, texts.get("prior-name"), 20.0);
        let after = of_hundred(whole.precision(0.02, 0.2)) + "\u{a0}%";
        assert!(shows(&harness, &after), "{after}");
        harness.check_accessibility();
        assert_no_missing_texts(&harness);
    }
}

#[test]
fn a_planned_run_is_weighed_before_it_is_charged() {
    for language in [Language::English, Language::Chinese] {
        let home = tempfile::tempdir().unwrap();
        let (mut harness, texts) = open(home.path(), language);
        set_total(&mut harness, &texts);
        visit(&mut harness, texts.get("page-train"));
        wait(&mut harness, "a plan", |snapshot| {
            snapshot.plan.as_ref().is_some_and(|plan| plan.share.is_some())
        });
        visit(&mut harness, texts.get("page-privacy"));
        press(&mut harness, texts.get("what-if-title"));
        wait(&mut harness, "its meaning", |snapshot| {
            snapshot
                .meaning
                .as_ref()
                .is_some_and(|meaning| meaning.planned_share.is_some())
        });
        let snapshot = harness.state().snapshot();
        let (meaning, plan) = (snapshot.meaning.clone().unwrap(), snapshot.plan.clone().unwrap());
        // The same share as the train page says, and an ε no larger than the plan's own bound.
        assert!((meaning.planned_share.unwrap() - plan.share.unwrap()).abs() < 1e-12);
        let after = meaning.with_planned.clone().unwrap().unwrap();
        let bound = plan.outcome.as_ref().unwrap().epsilon.unwrap();
        assert!(
            after.epsilon > 0.0 && after.epsilon <= bound * 1.001,
            "{} {bound}",
            after.epsilon
        );
        // Releases are added to it.
        harness
            .get_by_role_and_label(Role::CheckBox, texts.get("what-if-releases"))
            .click_accesskit();
        harness.run_steps(3);
        slide(&mut harness, texts.get("what-if-count"), 10.0);
        wait(&mut harness, "the releases", |snapshot| {
            let meaning = snapshot.meaning.as_ref().unwrap();
            let planned = meaning.question.planned.as_ref().unwrap();
            planned.events.last().is_some_and(|last| last.count == 10)
        });
        let snapshot = harness.state().snapshot();
        let later = snapshot
            .meaning
            .as_ref()
            .and_then(|meaning| meaning.planned_share);
        assert!(later.unwrap() > plan.share.unwrap() * 1.01);
        assert!(
            harness.state().snapshot().ledger.entries.len() == 1,
            "nothing was charged"
        );
        press(&mut harness, texts.get("what-if-look"));
        let subject = harness
            .get_by_role_and_label(Role::ComboBox, texts.get("meaning-of"))
            .accesskit_node()
            .value();
        assert_eq!(subject.as_deref(), Some(texts.get("meaning-of-supposed")));
        harness.check_accessibility();
        assert_no_missing_texts(&harness);
    }
}

#[test]
fn the_ledger_is_sorted_filtered_opened_and_taken_away() {
    let home = tempfile::tempdir().unwrap();
    let (mut harness, texts) = open(home.path(), Language::English);
    set_total(&mut harness, &texts);
    press(&mut harness, texts.get("ledger-title"));
    wait_for_label(&mut harness, texts.get("status-total-set"));
    wait(&mut harness, "the check", |snapshot| {
        snapshot.ledger.check.is_some()
    });
    assert!(shows(&harness, texts.get("chain-whole")));
    for key in ["ledger-number", "ledger-time", "ledger-charge", "ledger-share"] {
        let sort = texts.with("ledger-sort", [("column", texts.get(key).into())]);
        press(&mut harness, &sort);
        press(&mut harness, &sort);
    }
    type_into(&mut harness, texts.get("ledger-filter"), "no such entry");
    assert!(shows(&harness, texts.get("ledger-none-fits")));
    type_into(&mut harness, texts.get("ledger-filter"), "total");
    let details = texts.with("ledger-details-of", [("number", "1".into())]);
    press(&mut harness, &details);
    assert!(shows(&harness, "a test"));
    // The entry stays in its row while its details are open, and those have room to be read.
    let row = harness.get_by_role_and_label(Role::Button, &details).rect();
    let head = texts.with("ledger-sort", [("column", texts.get("ledger-number").into())]);
    let head = harness.get_by_role_and_label(Role::Button, &head).rect();
    assert!(
        (row.left() - head.left()).abs() < 30.0 && row.top() > head.top(),
        "{row:?} {head:?}"
    );
    press(&mut harness, texts.get("details-close"));
    press(&mut harness, texts.get("ledger-export"));
    let target = home.path().join("ledger.csv");
    type_into(
        &mut harness,
        texts.get("export-path"),
        &target.display().to_string(),
    );
    press(&mut harness, texts.get("figure-save"));
    let start = Instant::now();
    while !target.is_file() {
        assert!(start.elapsed() < PATIENCE, "the file is written");
        std::thread::sleep(Duration::from_millis(30));
        harness.step();
    }
    let text = std::fs::read_to_string(&target).unwrap();
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(
        text.contains("credit.parquet") && text.contains("total_set"),
        "{text}"
    );
    assert_no_missing_texts(&harness);
}

#[test]
fn a_chain_that_is_not_whole_is_told_above_everything() {
    let home = tempfile::tempdir().unwrap();
    {
        let (mut harness, texts) = open(home.path(), Language::English);
        set_total(&mut harness, &texts);
    }
    let ledger = home.path().join("ledger.sqlite");
    let connection = rusqlite::Connection::open(&ledger).unwrap();
    connection
        .execute_batch("drop trigger if exists entries_no_update")
        .unwrap();
    let changed = connection.execute("update entries set body = replace(body, 'a test', 'no test')", []);
    drop(connection);
    let Ok(1..) = changed else {
        panic!("the ledger could not be changed: {changed:?}");
    };
    for language in [Language::English, Language::Chinese] {
        let (mut harness, texts) = opened(home.path(), language);
        visit(&mut harness, texts.get("page-privacy"));
        wait_for_label(&mut harness, texts.get("chain-broken-title"));
        assert_no_missing_texts(&harness);
    }
}

#[test]
fn a_picture_of_the_page_gives_its_points() {
    let home = tempfile::tempdir().unwrap();
    let (mut harness, texts) = opened(home.path(), Language::English);
    visit(&mut harness, texts.get("page-privacy"));
    choose(&mut harness, texts.get("meaning-of"), texts.get("meaning-of-own"));
    let figure = harness.get_by_role_and_label(Role::Figure, texts.get("tradeoff-title"));
    figure.click_secondary();
    harness.run_steps(3);
    harness
        .get_by_role_and_label(Role::Button, texts.get("figure-copy"))
        .click_accesskit();
    harness.step();
    let copied = harness
        .output()
        .platform_output
        .commands
        .iter()
        .find_map(|command| match command {
            OutputCommand::CopyText(text) => Some(text.clone()),
            _ => None,
        });
    let text = copied.unwrap();
    assert!(text.contains(texts.get("tradeoff-guessing")), "{text}");
    harness.key_press(Key::Escape);
    let snapshot = harness.state().snapshot();
    assert!(
        snapshot
            .ledger
            .entries
            .iter()
            .all(|entry| entry.status != Status::Finished)
    );
}
