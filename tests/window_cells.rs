//! Cells that do not read as their column's kind: the way out stands at the column itself.
#![cfg(feature = "gui")]

#[path = "support/window.rs"]
mod support;

use std::fmt::Write as _;

use eframe::egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use pointillist::data::{Kind, ProfileWarning};
use pointillist::engine::settings::Language;
use pointillist::gui::App;
use pointillist::gui::i18n::Texts;
use support::{assert_no_missing_texts, fill, opened, press, type_into, wait};

const COLUMN: &str = "HbA1c";

/// Numbers with decimal commas, and now and then a text for one that is not there.
fn laboratory() -> String {
    let mut text = format!("Fall;{COLUMN}\n");
    for row in 0..600 {
        let group = if row % 3 == 0 { "a" } else { "b" };
        if row % 10 == 0 {
            let _ = writeln!(text, "{group};k.A.");
        } else {
            let _ = writeln!(text, "{group};{},{:03}", 4 + row % 9, row * 7 % 1000);
        }
    }
    text
}

fn says(harness: &Harness<'static, App>, words: &str) -> bool {
    harness.query_all_by_label_contains(words).next().is_some()
}

fn choose_kind(harness: &mut Harness<'static, App>, texts: &Texts, kind: Kind) {
    let combo = texts.with("kind-of", [("column", COLUMN.into())]);
    harness
        .get_by_role_and_label(Role::ComboBox, &combo)
        .click_accesskit();
    harness.run_steps(4);
    press(harness, texts.get(&format!("kind-{}", kind.as_str())));
    wait(harness, "the kind", |snapshot| {
        let schema = &snapshot.dataset.as_ref().unwrap().schema;
        schema.find(COLUMN).unwrap().kind == kind
    });
}

#[test]
fn decimal_commas_and_a_text_for_a_missing_number_are_told_at_the_column() {
    for language in [Language::English, Language::Chinese] {
        let home = tempfile::tempdir().unwrap();
        let (mut harness, texts) = opened(home.path(), language);
        let file = home.path().join("laboratory.csv");
        std::fs::write(&file, laboratory()).unwrap();
        type_into(&mut harness, texts.get("path-label"), &file.display().to_string());
        press(&mut harness, texts.get("path-open"));
        wait(&mut harness, "the table", |snapshot| snapshot.dataset.is_some());
        let snapshot = harness.state().snapshot();
        let dataset = snapshot.dataset.as_ref().unwrap();
        assert!(
            !dataset.schema.find(COLUMN).unwrap().is_used(),
            "dropped at first"
        );
        let of_column = |warning: &&ProfileWarning| warning.column.as_deref() == Some(COLUMN);
        let dropped = dataset.warnings.iter().find(of_column).unwrap();
        let dropped = texts.say(&dropped.message);
        assert!(says(&harness, &dropped));
        choose_kind(&mut harness, &texts, Kind::Continuous);
        assert!(!says(&harness, &dropped), "it is dropped no longer");
        for (bound, value) in [("bound-lower", "3"), ("bound-upper", "20")] {
            let name = texts.with(bound, [("column", COLUMN.into())]);
            fill(&mut harness, (Role::TextInput, &name), value);
        }
        wait(&mut harness, "what does not fit", |snapshot| {
            snapshot.dataset.as_ref().unwrap().misfit.is_some()
        });
        press(
            &mut harness,
            &texts.with("spelling-of", [("column", COLUMN.into())]),
        );
        press(
            &mut harness,
            &texts.with("missing-spelling-of", [("text", "k.A.".into())]),
        );
        wait(&mut harness, "the spelling", |snapshot| {
            let schema = &snapshot.dataset.as_ref().unwrap().schema;
            schema.is_missing("k.A.") && schema.find(COLUMN).unwrap().missing
        });
        let reading = harness
            .query_all_by_role(Role::Button)
            .find(|node| {
                let label = node.accesskit_node().label().unwrap_or_default();
                label.contains("(1234,5)") || label.contains("（1234,5）")
            })
            .expect("decimal commas are offered");
        reading.click_accesskit();
        harness.run_steps(3);
        wait(&mut harness, "all to fit", |snapshot| {
            let dataset = snapshot.dataset.as_ref().unwrap();
            dataset.schema.find(COLUMN).unwrap().format.is_some() && dataset.misfit.is_none()
        });
        assert_no_missing_texts(&harness);
    }
}
