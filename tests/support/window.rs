//! The window in a test: opened, waited for, pressed and typed into by accessible names.
#![allow(dead_code, reason = "not every test uses every helper")]

use std::path::Path;
use std::time::{Duration, Instant};

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use pointillist::engine::settings::{Language, Settings};
use pointillist::engine::snapshot::Snapshot;
use pointillist::gui::App;
use pointillist::gui::i18n::Texts;

/// How long a test waits for work on a slow machine.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// The usual size of a window.
pub const SIZE: [f32; 2] = [1440.0, 900.0];

/// A window of this size on an engine in `home`, with these settings.
pub fn window(home: &Path, settings: &Settings, size: [f32; 2]) -> Harness<'static, App> {
    settings.save(home).unwrap();
    let home = home.to_path_buf();
    Harness::builder()
        .with_size(vec2(size[0], size[1]))
        .with_max_steps(12)
        .build_eframe(move |creation| App::new(&creation.egui_ctx, &home, None).unwrap())
}

/// A window of the usual size in this language, with its texts.
pub fn opened(home: &Path, language: Language) -> (Harness<'static, App>, Texts) {
    let settings = Settings {
        language,
        ..Settings::default()
    };
    let mut harness = window(home, &settings, SIZE);
    harness.run_steps(3);
    (harness, Texts::new(language))
}

/// Draws frames until the engine's state is as wanted.
#[track_caller]
pub fn wait(harness: &mut Harness<'static, App>, what: &str, until: impl Fn(&Snapshot) -> bool) {
    let start = Instant::now();
    while !until(&harness.state().snapshot()) {
        assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(30));
        harness.step();
    }
    harness.run_steps(4);
}

/// Draws frames until something has this name.
#[track_caller]
pub fn wait_for_label(harness: &mut Harness<'static, App>, label: &str) {
    let start = Instant::now();
    while harness.query_all_by_label(label).next().is_none() {
        assert!(start.elapsed() < PATIENCE, "waited in vain for {label:?}");
        std::thread::sleep(Duration::from_millis(30));
        harness.step();
    }
    harness.run_steps(4);
}

/// Goes where a shortcut leads.
pub fn go(harness: &mut Harness<'static, App>, key: Key) {
    harness.key_press_modifiers(Modifiers::COMMAND, key);
    harness.run_steps(3);
}

/// Presses the first button of this name.
#[track_caller]
pub fn press(harness: &mut Harness<'static, App>, name: &str) {
    harness
        .get_all_by_role_and_label(Role::Button, name)
        .next()
        .unwrap()
        .click_accesskit();
    harness.run_steps(3);
}

/// Goes to a page by its entry in the rail.
#[track_caller]
pub fn visit(harness: &mut Harness<'static, App>, page: &str) {
    harness.get_by_role_and_label(Role::Tab, page).click_accesskit();
    harness.run_steps(3);
}

/// Replaces what a field holds.
#[track_caller]
pub fn type_into(harness: &mut Harness<'static, App>, name: &str, text: &str) {
    {
        let field = harness.get_by_role_and_label(Role::TextInput, name);
        field.focus();
    }
    harness.run_steps(2);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    harness.run_steps(2);
    harness
        .get_by_role_and_label(Role::TextInput, name)
        .type_text(text);
    harness.run_steps(3);
}

/// Replaces what a field of this role holds, and leaves it.
#[track_caller]
pub fn fill(harness: &mut Harness<'static, App>, (role, name): (Role, &str), text: &str) {
    harness.get_by_role_and_label(role, name).focus();
    harness.run_steps(2);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    harness.run_steps(2);
    harness.get_by_role_and_label(role, name).type_text(text);
    harness.run_steps(2);
    harness.key_press(Key::Enter);
    harness.run_steps(4);
}

/// Every text that was asked for so far was there.
pub fn assert_no_missing_texts(harness: &Harness<'static, App>) {
    let missing = harness.state().workbench().missing_texts();
    assert!(missing.is_empty(), "texts without a translation: {missing:?}");
}
