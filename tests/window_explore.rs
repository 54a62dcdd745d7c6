//! Explore, driven by the names that screen readers say: every control in both languages, numbers held against the
//! core's functions, what bad input says, and what is released and taken away.
#![cfg(feature = "gui")]

#[path = "support/window.rs"]
mod support;

use std::path::Path;

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, OutputCommand};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use pointillist::engine::Several;
use pointillist::engine::settings::{Language, Settings, Theme};
use pointillist::gui::App;
use pointillist::gui::command::Page;
use pointillist::gui::i18n::Texts;
use pointillist::num::{Delta, Epsilon};
use pointillist::release::outlook::{Mechanism, Outlook, Question};
use pointillist::release::{Query, Value};
use support::{assert_no_missing_texts, go, press, type_into, wait, wait_for_label, window};

const SIZE: [f32; 2] = [1440.0, 900.0];

const PICTURES: [&str; 7] = [
    "picture-noise",
    "picture-histogram",
    "picture-rows",
    "picture-several",
    "picture-runs",
    "picture-released",
    "picture-utility",
];

/// A window on this page with the German credit sample open and its rows read.
fn explore(home: &Path, settings: &Settings) -> Harness<'static, App> {
    let texts = Texts::new(settings.language);
    let mut harness = window(home, settings, SIZE);
    harness.run_steps(3);
    press(&mut harness, texts.get("sample-german-credit"));
    wait(&mut harness, "the sample", |snapshot| snapshot.dataset.is_some());
    go(&mut harness, Key::Num2);
    assert_eq!(harness.state().workbench().page(), Page::Explore);
    rows_read(&mut harness, "mean", None);
    harness
}

/// Waits for the rows' answer to the question in the form, not to an earlier one.
fn rows_read(harness: &mut Harness<'static, App>, query: &str, column: Option<&str>) {
    wait(harness, "the rows' answer", |snapshot| {
        snapshot.explored.as_ref().is_some_and(|explored| {
            let question = &explored.question;
            question.query.name() == query
                && column.is_none_or(|column| question.column.as_deref() == Some(column))
                && explored.outcome.is_ok()
        })
    });
}

fn english(home: &Path) -> (Harness<'static, App>, Texts) {
    (explore(home, &Settings::default()), Texts::new(Language::English))
}

#[track_caller]
fn choose(harness: &mut Harness<'static, App>, combo: &str, item: &str) {
    harness
        .get_by_role_and_label(Role::ComboBox, combo)
        .click_accesskit();
    harness.run_steps(4);
    // A list that another one's choice has left open is closed by the first press.
    if harness
        .query_all_by_role_and_label(Role::Button, item)
        .next()
        .is_none()
    {
        harness
            .get_by_role_and_label(Role::ComboBox, combo)
            .click_accesskit();
        harness.run_steps(4);
    }
    press(harness, item);
}

#[track_caller]
fn number(harness: &Harness<'static, App>, role: Role, name: &str) -> f64 {
    let node = harness.get_by_role_and_label(role, name);
    node.accesskit_node().numeric_value().unwrap()
}

#[track_caller]
fn set(harness: &mut Harness<'static, App>, slider: &str, value: f64) {
    harness
        .get_by_role_and_label(Role::Slider, slider)
        .set_value_accesskit(value);
    harness.run_steps(4);
}

#[track_caller]
fn type_number(harness: &mut Harness<'static, App>, name: &str, value: f64) {
    harness
        .get_by_role_and_label(Role::SpinButton, name)
        .set_value_accesskit(value);
    harness.run_steps(4);
}

#[track_caller]
fn says(harness: &Harness<'static, App>, words: &str) {
    assert!(
        harness.query_all_by_label_contains(words).next().is_some(),
        "nothing says {words:?}"
    );
}

#[test]
fn every_control_has_its_name_and_every_picture_is_drawn_in_both_languages() {
    for (language, theme) in [
        (Language::English, Theme::Light),
        (Language::Chinese, Theme::Dark),
    ] {
        let home = tempfile::tempdir().unwrap();
        let settings = Settings {
            language,
            theme,
            ..Settings::default()
        };
        let mut harness = explore(home.path(), &settings);
        let texts = Texts::new(language);
        for combo in [
            "release-query",
            "release-column",
            "release-by",
            "explore-mechanism",
            "explore-relation",
            "measure-name",
        ] {
            harness.get_by_role_and_label(Role::ComboBox, texts.get(combo));
        }
        for slider in ["release-epsilon-name", "delta-name", "utility-handle"] {
            harness.get_by_role_and_label(Role::Slider, texts.get(slider));
        }
        harness.get_by_role_and_label(Role::SpinButton, texts.get("release-error"));
        for query in [
            "count",
            "sum",
            "variance",
            "quantile",
            "mode",
            "histogram",
            "mean",
        ] {
            let wanted = texts.get(&format!("query-{query}")).to_owned();
            choose(&mut harness, texts.get("release-query"), &wanted);
            harness.run_steps(4);
            for picture in PICTURES {
                press(&mut harness, texts.get(picture));
                harness.run_steps(2);
                harness.check_accessibility();
            }
        }
        rows_read(&mut harness, "mean", None);
        for picture in PICTURES
            .iter()
            .filter(|picture| !["picture-runs", "picture-released"].contains(*picture))
        {
            press(&mut harness, texts.get(picture));
            harness.run_steps(3);
            harness.get_by_role_and_label(Role::Figure, texts.get(picture));
        }
        press(&mut harness, texts.get("picture-several"));
        harness.run_steps(3);
        harness.get_by_role_and_label(Role::Slider, texts.get("several-count"));
        harness.get_by_role_and_label(Role::CheckBox, texts.get("several-parallel"));
        assert_no_missing_texts(&harness);
    }
}

/// The error that the window states is that of the core's closed form, at every ε that the mark is dragged to.
#[test]
fn the_mark_on_the_plot_moves_epsilon_and_the_error_is_the_closed_forms() {
    let home = tempfile::tempdir().unwrap();
    let (mut harness, texts) = english(home.path());
    choose(&mut harness, texts.get("release-query"), texts.get("query-count"));
    choose(&mut harness, texts.get("release-column"), "age");
    rows_read(&mut harness, "count", Some("age"));
    let snapshot = harness.state().snapshot();
    let schema = &snapshot.dataset.as_ref().unwrap().schema;
    let question = Question {
        query: Query::Count,
        column: Some("age".into()),
        by: None,
        neighboring: pointillist::privacy::Neighboring::AddRemoveOne,
    };
    let outlook = Outlook::new(schema, &question).unwrap();
    for epsilon in [0.02, 0.5, 4.0] {
        set(&mut harness, texts.get("utility-handle"), epsilon);
        let slider = number(&harness, Role::Slider, texts.get("release-epsilon-name"));
        assert!((slider - epsilon).abs() < 1e-9, "{slider}");
        let budget = (Epsilon::new(epsilon).unwrap(), Delta::new(1e-6).unwrap());
        let law = outlook
            .law(Mechanism::DiscreteLaplace, budget, None, None)
            .unwrap();
        let shown = number(&harness, Role::SpinButton, texts.get("release-error"));
        let exact = law.error_quantile(0.95).unwrap();
        assert!(
            (shown - exact).abs() <= 1e-9 * exact,
            "{epsilon}: {shown} {exact}"
        );
    }
    // One drag is one step back.
    go(&mut harness, Key::Z);
    let slider = number(&harness, Role::Slider, texts.get("release-epsilon-name"));
    assert!((slider - 0.5).abs() < 1e-9, "{slider}");
    go(&mut harness, Key::Y);
    let slider = number(&harness, Role::Slider, texts.get("release-epsilon-name"));
    assert!((slider - 4.0).abs() < 1e-9, "{slider}");
}

/// The points of the picture in view, as its menu copies them: (trace, look, x, y).
fn points(
    harness: &mut Harness<'static, App>,
    texts: &Texts,
    picture: &str,
) -> Vec<(String, String, f64, f64)> {
    harness
        .get_by_role_and_label(Role::Figure, texts.get(picture))
        .click_secondary();
    harness.run_steps(4);
    harness
        .get_by_role_and_label(Role::Button, texts.get("figure-copy"))
        .click_accesskit();
    harness.step();
    let commands = &harness.output().platform_output.commands;
    let copied = commands.iter().find_map(|command| match command {
        OutputCommand::CopyText(text) => Some(text.clone()),
        _ => None,
    });
    harness.run_steps(3);
    let copied = copied.expect("the points are on the clipboard");
    let point = |line: &str| {
        let mut fields = line.rsplitn(4, ',');
        let y = fields.next()?.parse().ok()?;
        let x = fields.next()?.parse().ok()?;
        let look = fields.next()?.to_owned();
        Some((fields.next()?.trim_matches('"').to_owned(), look, x, y))
    };
    copied.lines().filter_map(point).collect()
}

/// Every line of the utility picture, point by point, is the core's closed form; and the totals of several questions are
/// the accountants'.
#[test]
fn the_points_of_the_pictures_are_the_cores() {
    let home = tempfile::tempdir().unwrap();
    let (mut harness, texts) = english(home.path());
    choose(&mut harness, texts.get("release-query"), texts.get("query-count"));
    choose(&mut harness, texts.get("release-column"), "age");
    rows_read(&mut harness, "count", Some("age"));
    harness.run_steps(4);
    let snapshot = harness.state().snapshot();
    let question = snapshot.explored.as_ref().unwrap().question.clone();
    let outlook = Outlook::new(&snapshot.dataset.as_ref().unwrap().schema, &question).unwrap();
    let found = points(&mut harness, &texts, "picture-utility");
    let delta = Delta::new(1e-6).unwrap();
    let mut compared = 0;
    for mechanism in outlook.mechanisms() {
        let name = texts.get(&format!("mechanism-{}", mechanism.name())).to_owned();
        for (_, _, x, y) in found.iter().filter(|point| point.0 == name && point.1 == "line") {
            let budget = (Epsilon::new(*x).unwrap(), delta);
            let exact = outlook
                .law(mechanism, budget, None, None)
                .unwrap()
                .expected_error();
            assert!((y - exact).abs() <= 1e-9 * exact, "{name} at {x}: {y} {exact}");
            compared += 1;
        }
    }
    assert!(compared > 400, "{compared}");
    let dots = found.iter().filter(|point| point.1 == "dots").count();
    assert_eq!(dots, 200);
    // Several questions: the sum, the Rényi accountant and loss distributions.
    press(&mut harness, texts.get("picture-several"));
    wait(&mut harness, "the composition", |snapshot| {
        snapshot.composed.is_some()
    });
    let found = points(&mut harness, &texts, "picture-several");
    let last = |name: &str| {
        let name = texts.get(name);
        found
            .iter()
            .rev()
            .find(|point| point.0 == name)
            .map(|point| (point.2, point.3))
            .unwrap()
    };
    let events = outlook
        .events(Mechanism::DiscreteLaplace, Epsilon::new(0.1).unwrap(), delta)
        .unwrap();
    let several = Several {
        events,
        delta: 1e-6,
        most: 20,
        parallel: false,
    };
    let close = |(x, y): (f64, f64), exact: f64| {
        assert!(
            (x - 20.0).abs() < 1e-9 && (y - exact).abs() <= 1e-9 * exact,
            "{x} {y} {exact}"
        );
    };
    close(last("several-sum"), 2.0);
    close(last("several-rdp"), several.by_renyi(20).unwrap());
    close(last("several-pld"), several.by_loss(20).unwrap());
    // And the share of each, at which all of them come to the present ε.
    let share = harness
        .state()
        .snapshot()
        .composed
        .as_ref()
        .unwrap()
        .share
        .unwrap();
    let at = |epsilon: f64| Several {
        events: outlook
            .events(Mechanism::DiscreteLaplace, Epsilon::new(epsilon).unwrap(), delta)
            .unwrap(),
        ..several.clone()
    };
    assert!(at(share).by_loss(20).unwrap() <= 0.1);
    assert!(at(share * 1.01).by_loss(20).unwrap() > 0.1);
}

#[test]
fn an_error_that_can_be_stood_gives_its_epsilon() {
    let home = tempfile::tempdir().unwrap();
    let (mut harness, texts) = english(home.path());
    choose(&mut harness, texts.get("release-query"), texts.get("query-count"));
    choose(&mut harness, texts.get("release-column"), "age");
    rows_read(&mut harness, "count", Some("age"));
    for mechanism in ["mechanism-discrete-laplace", "mechanism-discrete-gaussian"] {
        choose(&mut harness, texts.get("explore-mechanism"), texts.get(mechanism));
        type_number(&mut harness, texts.get("release-error"), 25.0);
        let error = number(&harness, Role::SpinButton, texts.get("release-error"));
        assert!(error <= 25.0 && error > 23.0, "{mechanism}: {error}");
    }
    assert_no_missing_texts(&harness);
}

#[test]
fn what_cannot_be_is_said_and_no_number_is_nan() {
    let home = tempfile::tempdir().unwrap();
    let (mut harness, texts) = english(home.path());
    // So small an ε that noise swamps all: it says so, and offers the ε that would do.
    set(&mut harness, texts.get("release-epsilon-name"), 0.001);
    says(&harness, texts.get("explore-swamped"));
    let offer = texts.get("explore-swamped");
    let use_it = harness
        .get_all_by_role(Role::Button)
        .find(|button| {
            let label = button.accesskit_node().label().unwrap_or_default();
            label.starts_with("Take ε")
        })
        .expect("an ε is offered");
    use_it.click_accesskit();
    harness.run_steps(4);
    assert!(
        harness.query_all_by_label(offer).next().is_none(),
        "the offered ε is enough"
    );
    // δ of 0 with a Gaussian.
    let gaussian = texts.get("mechanism-discrete-gaussian");
    choose(&mut harness, texts.get("explore-mechanism"), gaussian);
    type_number(&mut harness, texts.get("delta-name"), 0.0);
    says(&harness, texts.get("explore-delta-zero"));
    for picture in PICTURES {
        press(&mut harness, texts.get(picture));
        harness.run_steps(2);
        for wrong in ["NaN", "inf", "∞"] {
            assert!(
                harness.query_all_by_label_contains(wrong).next().is_none(),
                "{picture}: {wrong}"
            );
        }
    }
    // What only compares cannot be released.
    type_number(&mut harness, texts.get("delta-name"), 1e-6);
    let textbook = texts.with(
        "mechanism-compared",
        [("mechanism", texts.get("mechanism-textbook-gaussian").into())],
    );
    choose(&mut harness, texts.get("explore-mechanism"), &textbook);
    says(&harness, texts.get("explore-compare-only"));
    let ask = harness.get_by_role_and_label(Role::Button, texts.get("release-ask"));
    assert!(ask.accesskit_node().is_disabled());
    assert_no_missing_texts(&harness);
}

/// Columns without bounds, all missing, and of one category; each through every picture.
#[test]
fn odd_columns_are_no_panic() {
    let home = tempfile::tempdir().unwrap();
    let texts = Texts::new(Language::English);
    let file = home.path().join("odd.csv");
    let rows = (0..60).fold("open,nothing,same,number\n".to_owned(), |text, row| {
        text + &format!("{}.5,,only,{}\n", row * 7 % 40, row % 9)
    });
    std::fs::write(&file, rows).unwrap();
    let schema = "version = 1\n[[column]]\nname = \"open\"\nkind = \"continuous\"\n\
        [[column]]\nname = \"nothing\"\nkind = \"integer\"\nlower = 0\nupper = 9\nmissing = true\nprovenance = \"declared\"\n\
        [[column]]\nname = \"same\"\nkind = \"categorical\"\ndomain = [\"only\"]\nprovenance = \"declared\"\n\
        [[column]]\nname = \"number\"\nkind = \"integer\"\nlower = 0\nupper = 9\nprovenance = \"declared\"\n";
    std::fs::write(home.path().join("odd.schema.toml"), schema).unwrap();
    let mut harness = window(home.path(), &Settings::default(), SIZE);
    harness.run_steps(3);
    type_into(&mut harness, texts.get("path-label"), &file.display().to_string());
    press(&mut harness, texts.get("path-open"));
    wait(&mut harness, "the table", |snapshot| snapshot.dataset.is_some());
    go(&mut harness, Key::Num2);
    for column in ["nothing", "number", "same", "open"] {
        choose(&mut harness, texts.get("release-column"), column);
        for query in [
            "count",
            "mean",
            "variance",
            "quantile",
            "histogram",
            "mode",
            "bounds",
            "categories",
        ] {
            choose(
                &mut harness,
                texts.get("release-query"),
                texts.get(&format!("query-{query}")),
            );
            for _ in 0..5 {
                std::thread::sleep(std::time::Duration::from_millis(30));
                harness.run_steps(2);
            }
            for picture in PICTURES {
                press(&mut harness, texts.get(picture));
                harness.run_steps(1);
                for wrong in ["NaN", "inf "] {
                    let found = harness.query_all_by_label_contains(wrong).next();
                    assert!(found.is_none(), "{column} {query} {picture}: {wrong}");
                }
            }
        }
    }
    choose(&mut harness, texts.get("release-column"), "open");
    choose(&mut harness, texts.get("release-query"), texts.get("query-mean"));
    harness.run_steps(4);
    says(&harness, "cannot be used yet");
    assert_no_missing_texts(&harness);
}

#[test]
fn releases_are_counted_against_the_total_and_saved_as_a_table() {
    let home = tempfile::tempdir().unwrap();
    let (mut harness, texts) = english(home.path());
    says(&harness, texts.get("explore-fit-no-total"));
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
    wait(&mut harness, "the total", |snapshot| {
        let budget = snapshot
            .dataset
            .as_ref()
            .and_then(|dataset| dataset.budget.as_ref());
        budget.is_some_and(|budget| budget.total.is_some())
    });
    go(&mut harness, Key::Num2);
    rows_read(&mut harness, "mean", None);
    says(&harness, "more questions like this fit");
    press(&mut harness, texts.get("release-ask"));
    wait_for_label(&mut harness, texts.get("release-question"));
    press(&mut harness, texts.get("release-now"));
    wait(&mut harness, "the release", |snapshot| {
        snapshot.releases.len() == 1
    });
    press(&mut harness, &format!("{} 1", texts.get("picture-released")));
    for name in ["released.csv", "released.parquet"] {
        press(&mut harness, texts.get("released-save"));
        wait_for_label(&mut harness, texts.get("released-save-title"));
        let target = home.path().join(name);
        type_into(
            &mut harness,
            texts.get("export-path"),
            &target.display().to_string(),
        );
        press(&mut harness, texts.get("figure-save"));
        wait(&mut harness, "the table", |_| target.is_file());
    }
    let text = std::fs::read_to_string(home.path().join("released.csv")).unwrap();
    let snapshot = harness.state().snapshot();
    let Value::Number(value) = snapshot.releases[0].answer.cells[0].value else {
        panic!("a mean is a number")
    };
    assert!(text.contains(&value.to_string()), "{text}");
    // A release that would pass the cap is refused before it is asked for.
    set(&mut harness, texts.get("release-epsilon-name"), 10.0);
    let ask = harness.get_by_role_and_label(Role::Button, texts.get("release-ask"));
    assert!(ask.accesskit_node().is_disabled());
    says(&harness, "of the total, and");
    assert_no_missing_texts(&harness);
}
