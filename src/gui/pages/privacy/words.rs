//! The same in plain words: a hundred people, a belief before and after, two readings side by side, and what they
//! leave out.

use eframe::egui::{self, Rect, RichText, Sense, Ui, WidgetInfo, accesskit::Role, pos2, vec2};

use crate::engine::settings::Language;
use crate::gui::bars::{hidden, word};
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::pages::privacy::choices::PrivacyChoices;
use crate::gui::pages::privacy::reading::Reading;
use crate::gui::theme::{SMALL, STEP};
use crate::gui::widgets::{self, NumberRow, Slider};
use crate::privacy::meaning::{self, Meaning, caveats};

/// The side of the picture of a hundred people.
const HUNDRED: f32 = 144.0;
/// Round stops of the belief before, in per cent.
const BELIEFS: [f64; 5] = [1.0, 10.0, 50.0, 90.0, 99.0];

/// A rate as people of a hundred to draw: never fewer than it is.
fn people(rate: f64) -> u64 {
    // A hair of rounding must not make 26 of 25.
    (rate * 100.0 - 1e-9).ceil().clamp(0.0, 100.0) as u64
}

/// Draws the card.
pub fn show(ui: &mut Ui, cx: &mut Cx<'_>, choices: &mut PrivacyChoices, reading: &Result<Reading, String>) {
    let t = cx.texts;
    widgets::card_head(ui, cx, (t.get("words-title"), ""), false, "");
    let Ok(reading) = reading else {
        ui.add(egui::Label::new(cx.palette.caption(t.get("words-wait"))).wrap());
        return;
    };
    egui::ScrollArea::vertical()
        .id_salt("words")
        .auto_shrink(false)
        .show(ui, |ui| {
            let unit = hidden(cx.snapshot.dataset.as_deref());
            let rate = reading.whole.true_positive_rate(choices.false_alarms);
            // The certificate's own words for a rate: what is read here and there agrees.
            let found = meaning::of_hundred(rate);
            ui.horizontal_top(|ui| {
                hundred(ui, cx, (people(rate), &found));
                ui.add_space(STEP);
                ui.vertical(|ui| {
                    let sentence = t.with(
                        "words-found",
                        [
                            ("alarms", format::percent(choices.false_alarms).into()),
                            ("found", found.as_str().into()),
                            ("unit", word(unit).into()),
                        ],
                    );
                    ui.add(egui::Label::new(RichText::new(sentence).size(14.0)).wrap());
                    let right = meaning::of_hundred(reading.whole.accuracy(0.5));
                    let odds = t.with(
                        "words-odds",
                        [("right", right.into()), ("unit", word(unit).into())],
                    );
                    ui.add(egui::Label::new(odds).wrap());
                    belief(ui, cx, choices, reading);
                });
            });
            widgets::rule(ui, cx.palette);
            two_readings(ui, cx, choices, reading);
            let language = match cx.texts.language() {
                Language::English => meaning::Language::English,
                Language::Chinese => meaning::Language::Chinese,
            };
            widgets::rule(ui, cx.palette);
            for caveat in caveats(language, unit) {
                ui.horizontal_top(|ui| {
                    widgets::dot(ui, cx.palette.warn);
                    ui.add(egui::Label::new(cx.palette.caption(caveat)).wrap());
                });
            }
        });
}

/// A hundred people, those found filled; and how many they are in words.
fn hundred(ui: &mut Ui, cx: &Cx<'_>, (filled, found): (u64, &str)) {
    let (rect, response) = ui.allocate_exact_size(vec2(HUNDRED, HUNDRED), Sense::hover());
    let name = cx.texts.with("words-picture", [("found", found.into())]);
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &name));
    let cell = HUNDRED / 10.0;
    for person in 0..100_u64 {
        let (row, column) = ((person / 10) as f32, (person % 10) as f32);
        let center = rect.min + vec2((column + 0.5) * cell, (row + 0.5) * cell);
        let color = if person < filled {
            cx.palette.second
        } else {
            cx.palette.line
        };
        ui.painter().circle_filled(center, cell * 0.4, color);
    }
    response.on_hover_text(name);
}

/// The belief before and after an alarm.
fn belief(ui: &mut Ui, cx: &Cx<'_>, choices: &mut PrivacyChoices, reading: &Reading) {
    let t = cx.texts;
    let mut percent = choices.prior * 100.0;
    let (name, help) = (t.get("prior-name"), t.get("prior-help"));
    ui.push_id("prior", |ui| {
        let row = NumberRow {
            name,
            help,
            unit: "%",
            slider: Slider {
                name,
                range: (1.0, 99.0),
                logarithmic: false,
                integer: false,
                stops: &BELIEFS,
            },
            default: 50.0,
            write: |value| format::significant(value, 2),
        };
        if row.show(ui, cx, &mut percent) {
            choices.prior = (percent / 100.0).clamp(0.0, 1.0);
        }
    });
    let after = reading.whole.precision(choices.false_alarms, choices.prior);
    let line = t.with(
        "prior-after",
        [
            ("prior", format::percent(choices.prior).into()),
            ("after", format!("{}\u{a0}%", meaning::of_hundred(after)).into()),
        ],
    );
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 9.0), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Meter, true, &line));
    ui.ctx().accesskit_node_builder(response.id, |node| {
        node.set_numeric_value(after);
        node.set_min_numeric_value(0.0);
        node.set_max_numeric_value(1.0);
    });
    let until = |share: f64| {
        let right = rect.left() + rect.width() * share.clamp(0.0, 1.0) as f32;
        Rect::from_min_max(rect.min, pos2(right, rect.bottom()))
    };
    let painter = ui.painter();
    painter.rect_filled(rect, 4.0, cx.palette.line);
    painter.rect_filled(until(after), 4.0, cx.palette.second);
    painter.rect_filled(until(choices.prior), 4.0, cx.palette.accent);
    ui.add(egui::Label::new(cx.palette.caption(line)).wrap());
}

/// Reads a number off a guarantee, at a rate of false alarms.
type Read = fn(&Meaning, f64) -> f64;

/// The worst case of ε and δ beside the whole curve, and why they differ.
fn two_readings(ui: &mut Ui, cx: &Cx<'_>, choices: &PrivacyChoices, reading: &Reading) {
    let t = cx.texts;
    let rate = format::percent(choices.false_alarms);
    let found = t.with("readings-found", [("rate", rate.into())]);
    let rows: [(&str, Read); 3] = [
        (&found, |meaning, rate| meaning.true_positive_rate(rate)),
        (t.get("readings-advantage"), |meaning, _| meaning.advantage()),
        (t.get("readings-accuracy"), |meaning, _| meaning.accuracy(0.5)),
    ];
    egui::Grid::new("readings")
        .num_columns(3)
        .spacing(vec2(2.0 * STEP, 3.0))
        .show(ui, |ui| {
            ui.label("");
            ui.label(
                RichText::new(t.get("readings-whole"))
                    .size(SMALL)
                    .color(cx.palette.accent),
            );
            ui.label(
                RichText::new(t.get("readings-pair"))
                    .size(SMALL)
                    .color(cx.palette.second_text),
            );
            ui.end_row();
            for (name, read) in rows {
                ui.label(cx.palette.caption(name));
                for meaning in [&reading.whole, &reading.pair] {
                    ui.label(precise(read(meaning, choices.false_alarms)));
                }
                ui.end_row();
            }
        });
    ui.add(egui::Label::new(cx.palette.caption(t.get("readings-why"))).wrap());
}

/// A rate in per cent, with the digits that tell 99.97 from 100, and never below it.
fn precise(rate: f64) -> String {
    format!("{}\u{a0}%", meaning::rounded_up(rate * 100.0, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_of_a_hundred_are_rounded_up_and_no_more() {
        assert_eq!(people(0.25), 25);
        assert_eq!(people(0.2545), 26);
        assert_eq!(people(0.0), 0);
        assert_eq!(people(1.0), 100);
        assert_eq!(precise(0.0211), "2.11\u{a0}%");
        assert_eq!(precise(0.021_101), "2.12\u{a0}%");
        assert_eq!(precise(0.9997), "99.97\u{a0}%");
    }
}
