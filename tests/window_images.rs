//! Images in the window, driven by the names that screen readers say: from a file to a folder of generated pictures.
#![cfg(feature = "gui")]

#[path = "support/images.rs"]
mod small_images;
#[path = "support/window.rs"]
mod support;

use eframe::egui::Key;
use eframe::egui::accesskit::Role;
use eframe::egui::vec2;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use pointillist::engine::settings::{Language, Settings};
use pointillist::engine::snapshot::RunState;
use pointillist::gui::App;
use pointillist::gui::command::Page;
use pointillist::gui::i18n::Texts;
use small_images::idx_pair;
use support::{assert_no_missing_texts, go, press, type_into, wait, wait_for_label, window};

const IMAGES: usize = 300;

fn opened(home: &std::path::Path, texts: &Texts) -> Harness<'static, App> {
    let file = idx_pair(home, "shapes", IMAGES);
    let settings = Settings {
        language: texts.language(),
        ..Settings::default()
    };
    let mut harness = window(home, &settings, [1440.0, 900.0]);
    harness.run_steps(3);
    type_into(&mut harness, texts.get("path-label"), &file.display().to_string());
    press(&mut harness, texts.get("path-open"));
    wait(&mut harness, "the images", |snapshot| {
        snapshot
            .dataset
            .as_ref()
            .is_some_and(|dataset| dataset.images.is_some())
    });
    harness
}

fn slide(harness: &mut Harness<'static, App>, name: &str, value: f64) {
    harness
        .get_by_role_and_label(Role::Slider, name)
        .set_value_accesskit(value);
    harness.run_steps(4);
}

/// Asks for the real images nearest to the first generated one, and closes them again.
fn look_for_copies(harness: &mut Harness<'static, App>, texts: &Texts, grid: &str) {
    // Below the class's name.
    let first = harness.get_by_label(grid).rect().min + vec2(6.0, 26.0);
    harness.drag_at(first);
    harness.run_steps(2);
    harness.drop_at(first);
    harness.run_steps(2);
    wait_for_label(harness, texts.get("nearest-title"));
    wait(harness, "the nearest images", |snapshot| {
        let nearest = snapshot.nearest.as_ref();
        nearest.is_some_and(|nearest| nearest.question.place == 0)
    });
    harness.run_steps(3);
    let snapshot = harness.state().snapshot();
    let nearest = snapshot.nearest.as_ref().unwrap().real.for_steward().clone();
    assert_eq!(nearest.len(), 6);
    assert!(nearest.is_sorted_by(|one, other| one.distance <= other.distance));
    let said = texts.with(
        "nearest-distance",
        [
            ("number", (nearest[0].image + 1).to_string().into()),
            ("distance", "§".into()),
        ],
    );
    let said = said.split('§').next().unwrap();
    assert!(
        harness.query_all_by_label_contains(said).next().is_some(),
        "{said}"
    );
    harness.check_accessibility();
    press(harness, texts.get("nearest-close"));
    assert!(harness.query_by_label(texts.get("nearest-title")).is_none());
}

fn from_images_to_pictures(language: Language) {
    let home = tempfile::tempdir().unwrap();
    let texts = Texts::new(language);
    let mut harness = opened(home.path(), &texts);
    assert_eq!(harness.state().workbench().page(), Page::Data);
    // The wall names its images by their labels, row by row.
    let count = texts.with("pictures-count", [("rows", IMAGES.to_string().into())]);
    wait_for_label(&mut harness, &count);
    assert!(harness.query_by_label_contains("1: 0, 1, 2, 0, 1, 2").is_some());
    harness.check_accessibility();

    go(&mut harness, Key::Num3);
    wait(&mut harness, "a plan", |snapshot| {
        snapshot.plan.as_ref().is_some_and(|plan| plan.outcome.is_ok())
    });
    slide(&mut harness, texts.get("setting-frequencies"), 250.0);
    slide(&mut harness, texts.get("images-setting-steps"), 60.0);
    wait(&mut harness, "the new plan", |snapshot| {
        let plan = snapshot.plan.as_ref().and_then(|plan| plan.outcome.as_ref().ok());
        plan.is_some_and(|plan| plan.steps == 60 && plan.settings.table().is_none())
    });
    press(&mut harness, texts.get("action-start"));
    wait(&mut harness, "the end of the run", |snapshot| {
        let state = snapshot.runs.last().map(|run| run.state.clone());
        if let Some(RunState::Failed(problem)) = &state {
            panic!("{problem}");
        }
        matches!(state, Some(RunState::Finished(_)))
    });
    // Labels that are numbers stand for ten classes unless declared otherwise.
    let grid = |step: &str| {
        texts.with(
            "grid-name",
            [("images", "100".into()), ("step", step.to_owned().into())],
        )
    };
    wait_for_label(&mut harness, &grid("60"));
    harness.check_accessibility();
    // Back to the first grid, and on to the latest again.
    slide(&mut harness, texts.get("grid-slider"), 0.0);
    wait_for_label(&mut harness, &grid("1"));
    press(&mut harness, texts.get("grid-latest"));
    wait_for_label(&mut harness, &grid("60"));
    look_for_copies(&mut harness, &texts, &grid("60"));

    go(&mut harness, Key::Num4);
    wait_for_label(&mut harness, &grid("60"));
    let folder = home.path().join("made");
    // A table's ending is no form of images.
    type_into(
        &mut harness,
        texts.get("export-path"),
        &format!("{}.csv", folder.display()),
    );
    wait_for_label(&mut harness, texts.get("export-ending-images"));
    type_into(
        &mut harness,
        texts.get("export-path"),
        &folder.display().to_string(),
    );
    press(&mut harness, texts.get("page-export"));
    wait_for_label(&mut harness, "SHA-256");
    assert!(folder.join("labels.csv").is_file());
    assert!(home.path().join("made.certificate.json").is_file());
    assert_no_missing_texts(&harness);
}

#[test]
fn from_images_to_pictures_in_english() {
    from_images_to_pictures(Language::English);
}

#[test]
fn from_images_to_pictures_in_chinese() {
    from_images_to_pictures(Language::Chinese);
}

#[test]
fn a_promise_about_images_speaks_of_images() {
    for (language, words) in [
        (
            Language::English,
            ["Of 100 images in the data", "whether one image is"],
        ),
        (Language::Chinese, ["数据中每 100 张图像", "某一张图像是否"]),
    ] {
        let home = tempfile::tempdir().unwrap();
        let texts = Texts::new(language);
        let mut harness = opened(home.path(), &texts);
        let shows = |harness: &Harness<'static, App>, words: &str| {
            harness.query_all_by_label_contains(words).next().is_some()
        };
        go(&mut harness, Key::Num3);
        wait(&mut harness, "a plan", |snapshot| {
            snapshot.plan.as_ref().is_some_and(|plan| plan.outcome.is_ok())
        });
        assert!(shows(&harness, words[0]), "the cost of a run");
        go(&mut harness, Key::Num5);
        harness
            .get_by_role_and_label(Role::ComboBox, texts.get("meaning-of"))
            .click_accesskit();
        harness.run_steps(3);
        harness
            .get_by_label(texts.get("meaning-of-own"))
            .click_accesskit();
        harness.run_steps(4);
        assert!(words.iter().all(|words| shows(&harness, words)), "{language:?}");
        assert_no_missing_texts(&harness);
    }
}

#[test]
fn images_are_read_again_in_another_size_and_a_table_after_them_has_its_own_plan() {
    let home = tempfile::tempdir().unwrap();
    let texts = Texts::new(Language::English);
    let mut harness = opened(home.path(), &texts);
    let form = texts.with(
        "pictures-form",
        [
            ("side", "8".into()),
            ("colour", texts.get("pictures-grey").into()),
        ],
    );
    press(&mut harness, &form);
    harness
        .get_by_role_and_label(Role::CheckBox, texts.get("pictures-skip"))
        .click_accesskit();
    harness.run_steps(3);
    press(&mut harness, texts.get("form-apply"));
    wait(&mut harness, "the second reading", |snapshot| {
        let dataset = snapshot.dataset.as_ref();
        dataset.is_some_and(|dataset| dataset.image_options.skip_damaged)
    });
    go(&mut harness, Key::Num3);
    wait(&mut harness, "a plan of images", |snapshot| {
        let plan = snapshot.plan.as_ref().and_then(|plan| plan.outcome.as_ref().ok());
        plan.is_some_and(|plan| plan.settings.table().is_none())
    });
    // Nothing of the images' plan stays with a table.
    go(&mut harness, Key::K);
    press(&mut harness, texts.get("action-close"));
    wait(&mut harness, "an empty desk", |snapshot| {
        snapshot.dataset.is_none()
    });
    press(&mut harness, texts.get("sample-german-credit"));
    wait(&mut harness, "the sample", |snapshot| {
        let dataset = snapshot.dataset.as_ref();
        dataset.is_some_and(|dataset| dataset.images.is_none())
    });
    go(&mut harness, Key::Num3);
    wait(&mut harness, "a plan of a table", |snapshot| {
        let plan = snapshot.plan.as_ref().and_then(|plan| plan.outcome.as_ref().ok());
        plan.is_some_and(|plan| plan.settings.table().is_some())
    });
}
