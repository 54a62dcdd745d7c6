//! The window, driven by the names that screen readers say: from welcome to export in both languages, every
//! page at every scale, by keyboard alone, and idle.
#![cfg(feature = "gui")]

#[path = "support/window.rs"]
mod support;

use std::time::{Duration, Instant};

use eframe::egui::Key;
use eframe::egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use pointillist::engine::settings::{Language, Settings, Theme};
use pointillist::engine::snapshot::RunState;
use pointillist::gui::App;
use pointillist::gui::command::Page;
use pointillist::gui::i18n::Texts;
use support::{PATIENCE, assert_no_missing_texts, go, press, type_into, visit, wait, wait_for_label, window};

fn from_welcome_to_export(language: Language) {
    let home = tempfile::tempdir().unwrap();
    let texts = Texts::new(language);
    let settings = Settings {
        language,
        ..Settings::default()
    };
    let mut harness = window(home.path(), &settings, [1440.0, 900.0]);
    harness.run_steps(3);

    press(&mut harness, texts.get("sample-german-credit"));
    wait(&mut harness, "the sample", |snapshot| snapshot.dataset.is_some());
    assert_eq!(harness.state().workbench().page(), Page::Data);
    assert!(
        harness
            .query_all_by_label(texts.get("schema-title"))
            .next()
            .is_some()
    );

    press(&mut harness, texts.get("schema-continue"));
    assert_eq!(harness.state().workbench().page(), Page::Train);
    wait(&mut harness, "a plan", |snapshot| {
        snapshot.plan.as_ref().is_some_and(|plan| plan.outcome.is_ok())
    });
    // A short run: the same form a person uses.
    harness
        .get_by_role_and_label(Role::Slider, texts.get("setting-steps"))
        .set_value_accesskit(40.0);
    harness.run_steps(4);
    wait(&mut harness, "the new plan", |snapshot| {
        let plan = snapshot.plan.as_ref().and_then(|plan| plan.outcome.as_ref().ok());
        plan.is_some_and(|plan| plan.steps == 40)
    });
    press(&mut harness, texts.get("action-start"));
    wait(&mut harness, "the end of the run", |snapshot| {
        let state = snapshot.runs.last().map(|run| run.state.clone());
        if let Some(RunState::Failed(problem)) = &state {
            panic!("{problem}");
        }
        matches!(state, Some(RunState::Finished(_)))
    });

    go(&mut harness, Key::Num4);
    assert_eq!(harness.state().workbench().page(), Page::Export);
    let target = home.path().join("rows.csv");
    type_into(
        &mut harness,
        texts.get("export-path"),
        &target.display().to_string(),
    );
    press(&mut harness, texts.get("page-export"));
    // Until the window itself says that the files are there, a second press is not taken.
    wait_for_label(&mut harness, "SHA-256");
    assert!(target.is_file());
    let page = std::fs::read_to_string(home.path().join("rows.csv.certificate.html")).unwrap();
    let tag = match language {
        Language::English => "<html lang=\"en\">",
        Language::Chinese => "<html lang=\"zh-CN\">",
    };
    assert!(
        page.contains(tag),
        "the certificate opens in the window's language"
    );
    assert!(home.path().join("rows.csv.certificate.json").is_file());
    let lines = std::fs::read_to_string(&target).unwrap().lines().count();
    assert!(lines > 1, "{lines} lines");

    // A second export asks before it replaces the first.
    press(&mut harness, texts.get("page-export"));
    wait_for_label(&mut harness, texts.get("replace-confirm"));
    let before = std::fs::metadata(&target).unwrap().modified().unwrap();
    press(&mut harness, texts.get("replace-confirm"));
    wait(&mut harness, "the replacement", |_| {
        std::fs::metadata(&target).is_ok_and(|file| file.modified().unwrap() > before)
    });

    go(&mut harness, Key::Num5);
    go(&mut harness, Key::L);
    harness.check_accessibility();
    assert_no_missing_texts(&harness);
}

#[test]
fn from_welcome_to_export_in_english() {
    from_welcome_to_export(Language::English);
}

#[test]
fn from_welcome_to_export_in_chinese() {
    from_welcome_to_export(Language::Chinese);
}

/// Every page in both languages and themes, at every scale: all glyphs are there (the harness panics on a
/// missing one), every control has a name and none reaches over the window's edge.
#[test]
fn every_page_at_every_scale() {
    for (language, theme) in [
        (Language::English, Theme::Dark),
        (Language::Chinese, Theme::Light),
    ] {
        for zoom in [1.0, 1.5, 2.0, 3.0] {
            let home = tempfile::tempdir().unwrap();
            let settings = Settings {
                language,
                theme,
                zoom,
                ..Settings::default()
            };
            let mut harness = window(home.path(), &settings, [1440.0, 900.0]);
            harness.run_steps(3);
            let texts = Texts::new(language);
            check_controls(&harness, "welcome", zoom);
            press(&mut harness, texts.get("sample-adult"));
            wait(&mut harness, "the sample", |snapshot| snapshot.dataset.is_some());
            for (page, key) in [
                ("data", Key::Num1),
                ("explore", Key::Num2),
                ("train", Key::Num3),
                ("export", Key::Num4),
                ("privacy", Key::Num5),
            ] {
                go(&mut harness, key);
                harness.run_steps(3);
                check_controls(&harness, page, zoom);
            }
            assert_no_missing_texts(&harness);
        }
    }
}

#[track_caller]
fn check_controls(harness: &Harness<'static, App>, page: &str, zoom: f32) {
    harness.check_accessibility();
    let width = harness.ctx.content_rect().width();
    for role in [
        Role::Button,
        Role::Slider,
        Role::TextInput,
        Role::CheckBox,
        Role::ComboBox,
    ] {
        for node in harness.query_all_by_role(role) {
            let rect = node.rect();
            let name = node.accesskit_node().label().unwrap_or_default();
            let inside = rect.left() >= -1.0 && rect.width() <= width;
            assert!(
                inside,
                "{page} at {zoom}: {role:?} {name:?} at {rect:?} in {width}"
            );
        }
    }
}

#[test]
fn the_keyboard_alone_opens_a_sample() {
    let home = tempfile::tempdir().unwrap();
    let mut harness = window(home.path(), &Settings::default(), [1280.0, 800.0]);
    harness.run_steps(3);
    let texts = Texts::new(Language::English);
    let wanted = texts.get("sample-german-credit");
    for _ in 0..40 {
        harness.key_press(Key::Tab);
        harness.run_steps(2);
        if harness.get_by_role_and_label(Role::Button, wanted).is_focused() {
            harness.key_press(Key::Enter);
            wait(&mut harness, "the sample", |snapshot| snapshot.dataset.is_some());
            return;
        }
    }
    panic!("Tab never reached the sample");
}

#[test]
fn an_idle_window_asks_for_no_frame() {
    let home = tempfile::tempdir().unwrap();
    let mut harness = window(home.path(), &Settings::default(), [1280.0, 800.0]);
    let texts = Texts::new(Language::English);
    harness.run_steps(3);
    press(&mut harness, texts.get("sample-german-credit"));
    wait(&mut harness, "the sample", |snapshot| snapshot.dataset.is_some());
    assert_quiet(&mut harness, texts.get("toast-close"));
    // Every page comes to rest, whatever it asks the engine for first.
    for page in ["page-explore", "page-train", "page-privacy"] {
        visit(&mut harness, texts.get(page));
        assert_quiet(&mut harness, texts.get("toast-close"));
    }
}

/// Runs until the window asks for no frame, and for none in a while after: a cursor that blinks would.
fn assert_quiet(harness: &mut Harness<'static, App>, close: &str) {
    // The engine may still have news for a moment, and a toast asks for one frame when it goes.
    let start = Instant::now();
    loop {
        std::thread::sleep(Duration::from_millis(200));
        harness.run_steps(3);
        if let Some(toast) = harness.query_all_by_label(close).next() {
            toast.click_accesskit();
            continue;
        }
        if !harness.ctx.has_requested_repaint() {
            std::thread::sleep(Duration::from_millis(1500));
            if !harness.ctx.has_requested_repaint() {
                return;
            }
        }
        assert!(start.elapsed() < PATIENCE, "{:?}", harness.ctx.repaint_causes());
    }
}

#[test]
fn a_bad_file_is_told_in_the_windows_language_and_the_window_lives_on() {
    for (language, words) in [
        (Language::English, ["the file is empty", "there is no such file"]),
        (Language::Chinese, ["文件是空的", "没有这个文件"]),
    ] {
        bad_files(language, words);
    }
}

fn bad_files(language: Language, words: [&str; 2]) {
    let home = tempfile::tempdir().unwrap();
    let empty = home.path().join("empty.csv");
    std::fs::write(&empty, "").unwrap();
    let settings = Settings {
        language,
        ..Settings::default()
    };
    let mut harness = window(home.path(), &settings, [1280.0, 800.0]);
    harness.run_steps(3);
    let texts = Texts::new(language);
    for (path, word) in [empty, home.path().join("missing.csv")].into_iter().zip(words) {
        type_into(&mut harness, texts.get("path-label"), &path.display().to_string());
        press(&mut harness, texts.get("path-open"));
        let title = texts.get("problem-load");
        let start = Instant::now();
        while [title, word]
            .iter()
            .any(|said| harness.query_all_by_label_contains(said).next().is_none())
        {
            assert!(start.elapsed() < PATIENCE, "nothing was said");
            std::thread::sleep(Duration::from_millis(30));
            harness.step();
        }
        while harness
            .query_all_by_label(texts.get("toast-close"))
            .next()
            .is_some()
        {
            if let Some(close) = harness.query_all_by_label(texts.get("toast-close")).next() {
                close.click_accesskit();
            }
            harness.run_steps(3);
        }
    }
    press(&mut harness, texts.get("sample-german-credit"));
    wait(&mut harness, "the sample", |snapshot| snapshot.dataset.is_some());
}
