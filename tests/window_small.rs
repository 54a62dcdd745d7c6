//! The window where there is little room: what stands on its pages is there and ends where it should.
#![cfg(feature = "gui")]

#[path = "support/window.rs"]
mod support;

use eframe::egui::accesskit::Role;
use egui_kittest::kittest::Queryable as _;
use pointillist::engine::settings::{Language, Settings};
use pointillist::gui::i18n::Texts;
use support::{SIZE, assert_no_missing_texts, window};

/// As little room as a person with a small screen has.
const SMALL: [f32; 2] = [1000.0, 700.0];

/// The row of the path once ran over its card by 8 points, and the card with it over the samples above.
#[test]
fn the_welcome_page_names_images_and_its_boxes_end_at_one_line() {
    for language in [Language::English, Language::Chinese] {
        for size in [SMALL, SIZE] {
            let home = tempfile::tempdir().unwrap();
            let settings = Settings {
                language,
                ..Settings::default()
            };
            let texts = Texts::new(language);
            let mut harness = window(home.path(), &settings, size);
            harness.run_steps(3);
            assert!(harness.query_by_label(texts.get("welcome-images")).is_some());
            let right = |name: &str| {
                let button = harness.get_by_role_and_label(Role::Button, texts.get(name));
                button.rect().right()
            };
            let samples = ["sample-adult", "sample-nhanes", "sample-german-credit"].map(right);
            let edge = samples.into_iter().fold(0.0, f32::max);
            // The card's frame: 12 points of air and a line.
            let gap = edge - right("path-open");
            assert!((11.0..=17.0).contains(&gap), "{language:?} {size:?}: {gap}");
            assert_no_missing_texts(&harness);
        }
    }
}
