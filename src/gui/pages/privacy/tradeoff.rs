//! The trade-off of the best attacker: whom one finds against whom one accuses wrongly.

use eframe::egui::{self, ComboBox, Ui};

use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::pages::privacy::choices::{PrivacyChoices, Subject};
use crate::gui::pages::privacy::reading::Reading;
use crate::gui::plot::scene::{Axis, Handle, Look, Scene, Trace};
use crate::gui::theme::{CONTROL, STEP};
use crate::gui::widgets::{self, NumberRow, Slider};
use crate::privacy::meaning::{Meaning, of_hundred};

/// At how many rates of false alarms a curve is drawn; they stand closer near 0, where it is steep.
const POINTS: usize = 120;
/// Round stops of the rate of false alarms, in per cent.
const RATES: [f64; 7] = [0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 50.0];
/// Round stops of ε.
const EPSILONS: [f64; 9] = [0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 10.0];
/// Round stops of δ.
const DELTAS: [f64; 7] = [1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3];

/// Ranges of ε that one article gives for kinds of data, with the keys of their names: opinions.
const OPINIONS: [(&str, f64, f64); 3] = [
    ("opinion-medical", 1.0, 3.0),
    ("opinion-finance", 0.5, 2.0),
    ("opinion-users", 3.0, 5.0),
];

/// The curves drawn last, with what they were drawn of: the same guarantee is drawn in every frame.
#[derive(Default)]
pub struct Curve(Option<(Meaning, f64, Lines)>);

/// The whole curve's line, and that of the worst case.
type Lines = [Vec<[f64; 2]>; 2];

impl Curve {
    fn of(&mut self, reading: &Reading) -> &Lines {
        let known = self.0.take().filter(|(whole, epsilon, _)| {
            *whole == reading.whole && epsilon.to_bits() == reading.epsilon.to_bits()
        });
        let fresh = || {
            let lines = [points(&reading.whole), points(&reading.pair)];
            (reading.whole.clone(), reading.epsilon, lines)
        };
        &self.0.insert(known.unwrap_or_else(fresh)).2
    }
}

fn points(meaning: &Meaning) -> Vec<[f64; 2]> {
    (0..=POINTS)
        .map(|at| (at as f64 / POINTS as f64).powi(4))
        .map(|rate| [rate, meaning.true_positive_rate(rate)])
        .collect()
}

/// Draws the card.
pub fn show(
    ui: &mut Ui,
    cx: &mut Cx<'_>,
    choices: &mut PrivacyChoices,
    reading: &Result<Reading, String>,
    curve: &mut Curve,
) {
    let t = cx.texts;
    let caption = reading.as_ref().map_or(String::new(), |reading| {
        t.with(
            "budget-charge",
            [
                ("epsilon", format::epsilon(reading.epsilon).into()),
                ("delta", format::delta(reading.delta).into()),
            ],
        )
    });
    let title = (t.get("tradeoff-title"), t.get("tradeoff-tip"));
    widgets::card_head(ui, cx, title, false, &caption);
    subject(ui, cx, choices);
    if choices.subject == Subject::Own {
        own(ui, cx, choices);
    }
    match reading {
        Ok(reading) => picture(ui, cx, choices, reading, curve),
        Err(why) => {
            ui.add_space(STEP);
            ui.add(egui::Label::new(why).wrap());
        }
    }
}

fn subject(ui: &mut Ui, cx: &Cx<'_>, choices: &mut PrivacyChoices) {
    let t = cx.texts;
    ui.spacing_mut().interact_size.y = CONTROL;
    ui.horizontal(|ui| {
        let label = ui.label(t.get("meaning-of"));
        let combo = ComboBox::from_id_salt("subject")
            .icon(widgets::arrow)
            .selected_text(t.get(choices.subject.key()))
            .width((ui.available_width() - 8.0).clamp(80.0, 300.0))
            .truncate()
            .show_ui(ui, |ui| {
                for subject in Subject::ALL {
                    ui.selectable_value(&mut choices.subject, subject, t.get(subject.key()));
                }
            });
        combo.response.labelled_by(label.id);
    });
}

/// ε and δ of one's own, and what others think of them.
fn own(ui: &mut Ui, cx: &Cx<'_>, choices: &mut PrivacyChoices) {
    let t = cx.texts;
    let half = (ui.available_width() - 2.0 * STEP) / 2.0;
    ui.horizontal_top(|ui| {
        let row = |ui: &mut Ui, id, name, slider: Slider<'_>, default, write, value: &mut f64| {
            ui.push_id(id, |ui| {
                ui.vertical(|ui| {
                    ui.set_width(half);
                    let row = NumberRow {
                        name,
                        help: t.get("meaning-own-help"),
                        unit: "",
                        slider,
                        default,
                        write,
                    };
                    row.show(ui, cx, value);
                });
            });
        };
        let scale = |name, range, stops| Slider {
            name,
            range,
            logarithmic: true,
            integer: false,
            stops,
        };
        let name = t.get("meaning-epsilon");
        let slider = scale(name, (0.05, 20.0), &EPSILONS[..]);
        row(
            ui,
            "own ε",
            name,
            slider,
            1.0,
            format::epsilon,
            &mut choices.epsilon,
        );
        let name = t.get("meaning-delta");
        let slider = scale(name, (1e-9, 1e-3), &DELTAS[..]);
        row(ui, "own δ", name, slider, 1e-5, format::delta, &mut choices.delta);
    });
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        ui.label(cx.palette.caption(t.get("opinion-lead")))
            .on_hover_text(t.get("opinion-source"));
        for (key, low, high) in OPINIONS {
            let range = [
                ("low", format::significant(low, 2).into()),
                ("high", format::significant(high, 2).into()),
            ];
            let button = widgets::quiet_button(ui, cx.palette, &t.with(key, range));
            if button.on_hover_text(t.get("opinion-source")).clicked() {
                choices.epsilon = high;
            }
        }
    });
}

fn percent_written(value: f64) -> String {
    format::significant(value, 2)
}

fn picture(ui: &mut Ui, cx: &mut Cx<'_>, choices: &mut PrivacyChoices, reading: &Reading, curve: &mut Curve) {
    let t = cx.texts;
    let mut percent = choices.false_alarms * 100.0;
    let (name, help) = (t.get("false-alarms-name"), t.get("false-alarms-help"));
    ui.push_id("false alarms", |ui| {
        let row = NumberRow {
            name,
            help,
            unit: "%",
            slider: Slider {
                name,
                range: (0.1, 50.0),
                logarithmic: true,
                integer: false,
                stops: &RATES,
            },
            default: 1.0,
            write: percent_written,
        };
        if row.show(ui, cx, &mut percent) {
            choices.false_alarms = (percent / 100.0).clamp(0.0, 1.0);
        }
    });
    let found = reading.whole.true_positive_rate(choices.false_alarms);
    let label = t.with(
        "tradeoff-point",
        [
            ("rate", format::percent(choices.false_alarms).into()),
            ("found", format!("{}\u{a0}%", of_hundred(found)).into()),
        ],
    );
    let [whole, pair] = curve.of(reading).clone();
    let p = cx.palette;
    let worst = t.with(
        "tradeoff-worst",
        [
            ("epsilon", format::significant(reading.epsilon, 3).into()),
            ("delta", format::delta(reading.delta).into()),
        ],
    );
    let trace = |name, (color, text), points, look| Trace {
        name,
        color,
        text,
        points,
        look,
        size: 2.0,
        quiet: false,
    };
    // A curve that is being worked out anew stays, dimmed.
    let color = if reading.is_stale { p.accent_soft } else { p.accent };
    let percent = |value: f64| format::percent(value);
    let axis = |unit| Axis {
        range: (0.0, 1.0),
        log: false,
        unit,
        write: &percent,
        names: Vec::new(),
    };
    let scene = Scene {
        id: "trade-off",
        name: t.get("tradeoff-title"),
        x: axis(t.get("axis-false-alarms")),
        y: axis(t.get("axis-found")),
        bands: Vec::new(),
        traces: vec![
            trace(
                t.get("tradeoff-guessing"),
                (p.muted, p.muted),
                vec![[0.0, 0.0], [1.0, 1.0]],
                Look::Dotted,
            ),
            trace(&worst, (p.second, p.second_text), pair, Look::Dashed),
            trace(t.get("tradeoff-whole"), (color, p.accent), whole, Look::Line),
        ],
        marks: Vec::new(),
        handle: Some(Handle {
            name: t.get("tradeoff-handle"),
            label: &label,
            value: choices.false_alarms,
            at: Some(found),
            stops: &[0.01, 0.05, 0.1],
        }),
        steward: false,
    };
    if let Some(rate) = scene.show(ui, cx) {
        choices.false_alarms = rate.clamp(0.001, 1.0);
    }
}
