//! Work that is kept, taken up again after a restart, and written to a file and opened from it.
#![cfg(feature = "gui")]

#[path = "support/window.rs"]
mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use eframe::egui::Key;
use eframe::egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use pointillist::engine::Session;
use pointillist::engine::settings::Language;
use pointillist::gui::App;
use pointillist::gui::command::Page;
use pointillist::gui::i18n::Texts;
use support::{PATIENCE, assert_no_missing_texts, go, opened, press, type_into, visit, wait};

fn until(harness: &mut Harness<'static, App>, what: &str, done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(30));
        harness.step();
    }
    harness.run_steps(3);
}

/// The sample with a changed schema and a changed plan, on the train page.
fn work(harness: &mut Harness<'static, App>, texts: &Texts) {
    press(harness, texts.get("sample-german-credit"));
    wait(harness, "the sample", |snapshot| snapshot.dataset.is_some());
    let name = texts.with("missing-of", [("column", "status".into())]);
    harness
        .get_by_role_and_label(Role::CheckBox, &name)
        .click_accesskit();
    wait(harness, "the change", |snapshot| {
        let dataset = snapshot.dataset.as_ref().unwrap();
        dataset.schema.find("status").unwrap().missing
    });
    plan_for(harness, texts, 3.0);
}

/// The train page, with this ε.
fn plan_for(harness: &mut Harness<'static, App>, texts: &Texts, epsilon: f64) {
    visit(harness, texts.get("page-train"));
    harness
        .get_by_role_and_label(Role::Slider, texts.get("epsilon-name"))
        .set_value_accesskit(epsilon);
    harness.run_steps(4);
}

fn assert_as_it_was(harness: &mut Harness<'static, App>, texts: &Texts) {
    wait(harness, "the table and its schema", |snapshot| {
        let dataset = snapshot.dataset.as_ref();
        dataset.is_some_and(|dataset| dataset.schema.find("status").unwrap().missing)
    });
    assert_eq!(harness.state().workbench().page(), Page::Train);
    let epsilon = harness
        .get_by_role_and_label(Role::Slider, texts.get("epsilon-name"))
        .accesskit_node()
        .numeric_value()
        .unwrap();
    assert!((epsilon - 3.0).abs() < 1e-9, "{epsilon}");
    assert_no_missing_texts(harness);
}

#[test]
fn work_is_taken_up_again_after_a_restart() {
    for language in [Language::English, Language::Chinese] {
        let home = tempfile::tempdir().unwrap();
        {
            let (mut harness, texts) = opened(home.path(), language);
            work(&mut harness, &texts);
            let kept = home.path().to_path_buf();
            until(&mut harness, "the kept session", || {
                Session::last(&kept).is_some_and(|session| session.plan.epsilon > 2.9)
            });
        }
        let (mut harness, texts) = opened(home.path(), language);
        let resume = texts.with("session-resume", [("name", "german_credit.parquet".into())]);
        press(&mut harness, &resume);
        assert_as_it_was(&mut harness, &texts);
    }
}

#[test]
fn a_session_is_written_to_a_file_and_opened_by_its_path() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("mine.session.toml");
    {
        let (mut harness, texts) = opened(home.path(), Language::English);
        work(&mut harness, &texts);
        go(&mut harness, Key::K);
        press(&mut harness, texts.get("action-save-session"));
        type_into(
            &mut harness,
            texts.get("export-path"),
            &file.display().to_string(),
        );
        press(&mut harness, texts.get("figure-save"));
        let written = file.clone();
        until(&mut harness, "the file", || written.is_file());
    }
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.contains("german_credit") && !text.contains("rows = ["),
        "{text}"
    );
    // A panel's width is drawn as the file says, and stays so in what is kept next.
    let mut session: Session = toml::from_str(&text).unwrap();
    assert!((session.plan.epsilon - 3.0).abs() < 1e-9, "{text}");
    let usual = session.sizes.plan.expect("the form was drawn");
    let wanted = usual + 61.0;
    session.sizes.plan = Some(wanted);
    std::fs::write(&file, toml::to_string(&session).unwrap()).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let (mut harness, texts) = opened(elsewhere.path(), Language::English);
    type_into(&mut harness, texts.get("path-label"), &file.display().to_string());
    press(&mut harness, texts.get("path-open"));
    assert_as_it_was(&mut harness, &texts);
    harness.run_steps(4);
    let kept = elsewhere.path().to_path_buf();
    until(&mut harness, "the width", || {
        let kept = Session::last(&kept).and_then(|session| session.sizes.plan);
        kept.is_some_and(|kept| (kept - wanted).abs() < 1.0)
    });
    let slider = harness.get_by_role_and_label(Role::Slider, texts.get("epsilon-name"));
    assert!(slider.rect().width() > usual * 0.5, "{:?}", slider.rect());
}

#[test]
fn a_bad_session_is_told_beside_the_path() {
    for (language, word) in [
        (Language::English, "not a session"),
        (Language::Chinese, "不是本程序能继续的会话"),
    ] {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("bad.session.toml");
        std::fs::write(&file, "version = [").unwrap();
        let (mut harness, texts) = opened(home.path(), language);
        type_into(&mut harness, texts.get("path-label"), &file.display().to_string());
        press(&mut harness, texts.get("path-open"));
        let start = Instant::now();
        while harness.query_all_by_label_contains(word).count() < 2 {
            assert!(
                start.elapsed() < PATIENCE,
                "said in the toast and beside the field"
            );
            std::thread::sleep(Duration::from_millis(30));
            harness.step();
        }
        assert_no_missing_texts(&harness);
    }
}

/// Opens a table by its path from the welcome page.
fn open_path(harness: &mut Harness<'static, App>, texts: &Texts, path: &Path) {
    if harness.state().snapshot().dataset.is_some() {
        visit(harness, texts.get("page-data"));
        press(harness, texts.get("action-close"));
        wait(harness, "no table", |snapshot| snapshot.dataset.is_none());
    }
    type_into(harness, texts.get("path-label"), &path.display().to_string());
    press(harness, texts.get("path-open"));
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    wait(harness, "the table", |snapshot| {
        let dataset = snapshot.dataset.as_ref();
        dataset.is_some_and(|dataset| dataset.name == name)
    });
}

fn may_be_missing(harness: &Harness<'static, App>, column: &str) -> bool {
    let snapshot = harness.state().snapshot();
    let dataset = snapshot.dataset.as_ref().unwrap();
    dataset.schema.find(column).unwrap().missing
}

#[test]
fn a_files_review_and_plan_outlive_another_table() {
    let home = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<String> = (0..60).map(|row| format!("{row},{},red", row % 7)).collect();
    let rows = lines.join("\n");
    let [first, second] = ["first.csv", "second.csv"].map(|name| folder.path().join(name));
    std::fs::write(&first, format!("age,visits,colour\n{rows}")).unwrap();
    std::fs::write(&second, format!("x,y,z\n{rows}")).unwrap();
    let (mut harness, texts) = opened(home.path(), Language::English);
    open_path(&mut harness, &texts, &first);
    let name = texts.with("missing-of", [("column", "visits".into())]);
    harness
        .get_by_role_and_label(Role::CheckBox, &name)
        .click_accesskit();
    wait(&mut harness, "the change", |snapshot| {
        let dataset = snapshot.dataset.as_ref().unwrap();
        dataset.schema.find("visits").unwrap().missing
    });
    plan_for(&mut harness, &texts, 3.0);
    open_path(&mut harness, &texts, &second);
    assert!(!may_be_missing(&harness, "y"));
    plan_for(&mut harness, &texts, 5.0);

    // Back again: the review is there, and the plan; the page is that of a table that was just opened.
    open_path(&mut harness, &texts, &first);
    wait(&mut harness, "the review", |snapshot| {
        let dataset = snapshot.dataset.as_ref().unwrap();
        dataset.schema.find("visits").is_some_and(|column| column.missing)
    });
    assert_eq!(harness.state().workbench().page(), Page::Data);
    visit(&mut harness, texts.get("page-train"));
    let epsilon = harness
        .get_by_role_and_label(Role::Slider, texts.get("epsilon-name"))
        .accesskit_node()
        .numeric_value()
        .unwrap();
    assert!((epsilon - 3.0).abs() < 1e-9, "{epsilon}");

    // The file has other columns by now: what still fits is kept, and the rest told.
    std::fs::write(&first, format!("age,visits,shade\n{rows}")).unwrap();
    open_path(&mut harness, &texts, &second);
    open_path(&mut harness, &texts, &first);
    wait(&mut harness, "what fits of the review", |snapshot| {
        let dataset = snapshot.dataset.as_ref().unwrap();
        dataset.schema.find("visits").is_some_and(|column| column.missing)
            && dataset.schema.find("shade").is_some()
    });
    let start = Instant::now();
    while harness
        .query_all_by_label_contains("gone: colour; new, to be reviewed: shade")
        .count()
        == 0
    {
        assert!(start.elapsed() < PATIENCE, "the change of columns is told");
        std::thread::sleep(Duration::from_millis(30));
        harness.step();
    }
    assert_no_missing_texts(&harness);
}
