//! A number to type: a field that says what it does not take, and a setting's row with its unit, slider and reset.

use std::cell::RefCell;
use std::collections::HashMap;

use eframe::egui::emath::Numeric;
use eframe::egui::{
    self, Align, Context, DragValue, Id, Key, Layout, Popup, PopupCloseBehavior, Response, RichText, Stroke,
    StrokeKind, Ui, vec2,
};

use crate::gui::context::Cx;
use crate::gui::format::{self, Unread};
use crate::gui::i18n::Texts;
use crate::gui::theme::SMALL;
use crate::gui::widgets::{Icon, Slider, icon_button};

/// A number that can be typed.
///
/// A text that it does not take stays in it, marked, with a word on what is expected: it never becomes another number.
pub struct NumberField<'a> {
    /// The spoken name, one of its kind within its panel.
    pub name: &'a str,
    /// How the number is written.
    pub write: fn(f64) -> String,
    /// The least and the greatest number.
    pub range: (f64, f64),
    /// Whether the least number itself is none that the field takes.
    pub is_above: bool,
    /// How much a point of dragging adds.
    pub speed: f64,
    /// Whether only whole numbers count.
    pub is_whole: bool,
    /// Whether the number follows each key, or waits until the field is left.
    pub is_live: bool,
    /// The width; none for as wide as the number.
    pub width: Option<f32>,
}

/// Why what was typed is not taken.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// It cannot be read.
    Unread(Unread),
    /// It is not whole.
    NotWhole,
    /// It is no list of numbers.
    NoList,
    /// It cannot be read as a whole number, where thousands may be set apart.
    NoWhole,
    /// It is beyond the range, written as the field writes it.
    Outside(String, String),
    /// It is beyond a range whose least number is not part of it.
    NotAbove(String, String),
}

/// A text that was not taken.
#[derive(Clone, Debug)]
struct Refused {
    text: String,
    why: Refusal,
    /// The field's number then: when it changes, the text is past.
    value: u64,
    /// When it was last drawn: a page that is left takes its fields along.
    drawn: u64,
    /// Whether what is expected was said already.
    is_said: bool,
}

/// All texts that were not taken, by field.
#[derive(Clone, Default)]
struct Refusals(HashMap<Id, Refused>);

fn refusals<R>(ctx: &Context, with: impl FnOnce(&mut Refusals) -> R) -> R {
    let place = Id::unique("refused numbers");
    ctx.data_mut(|data| with(data.get_temp_mut_or_default::<Refusals>(place)))
}

impl Refused {
    fn said(&self, texts: &Texts) -> String {
        let text = ("text", self.text.as_str().into());
        match &self.why {
            Refusal::Unread(Unread::Shape) => texts.with("number-shape", [text]),
            Refusal::Unread(Unread::TwoWays(first, second)) => texts.with(
                "number-two-ways",
                [
                    text,
                    ("first", first.as_str().into()),
                    ("second", second.as_str().into()),
                ],
            ),
            Refusal::NoList => texts.with("number-list", [text]),
            Refusal::NotWhole => texts.with("number-whole", [text]),
            Refusal::NoWhole => texts.with("number-whole-shape", [text]),
            Refusal::Outside(low, high) | Refusal::NotAbove(low, high) => texts.with(
                if matches!(self.why, Refusal::NotAbove(..)) {
                    "number-above"
                } else {
                    "number-outside"
                },
                [text, ("low", low.as_str().into()), ("high", high.as_str().into())],
            ),
        }
    }
}

/// What stands in a field in view and is not taken, in words: nothing may begin with the number that stood there before.
pub fn refused(ctx: &Context, texts: &Texts) -> Option<String> {
    let now = ctx.cumulative_pass_nr();
    refusals(ctx, |all| {
        let standing = |refused: &&Refused| refused.drawn + 1 >= now;
        all.0.values().find(standing).map(|refused| refused.said(texts))
    })
}

/// Notes that the field at `key` does not take a text.
pub fn refuse(ctx: &Context, key: Id, text: &str, why: Refusal, value: u64) {
    let refused = Refused {
        text: text.to_owned(),
        why,
        value,
        drawn: ctx.cumulative_pass_nr(),
        is_said: false,
    };
    refusals(ctx, |all| all.0.insert(key, refused));
}

/// Takes back that the field at `key` does not take its text.
pub fn take(ctx: &Context, key: Id) {
    refusals(ctx, |all| all.0.remove(&key));
}

/// Takes every text back that a field does not take: they show their numbers again.
pub fn take_all(ctx: &Context) {
    refusals(ctx, |all| all.0.clear());
}

/// The text that the field at `key` holds and does not take, while its number is still `value`.
pub fn standing(ctx: &Context, key: Id, value: u64) -> Option<String> {
    refusals(ctx, |all| {
        let refused = all.0.get(&key)?;
        if refused.value == value {
            return Some(refused.text.clone());
        }
        all.0.remove(&key);
        None
    })
}

/// Marks a field that does not take its text, and says what is expected: at once until the pointer is pressed
/// elsewhere, and then on hover.
pub fn mark(ui: &Ui, cx: &Cx<'_>, key: Id, field: &Response) {
    let ctx = ui.ctx();
    let (now, pressed) = (
        ctx.cumulative_pass_nr(),
        ctx.input(|input| input.pointer.any_pressed()),
    );
    let known = refusals(ctx, |all| {
        let refused = all.0.get_mut(&key)?;
        // The press that took the keyboard away from the field is not one that has seen the words.
        refused.is_said |= pressed && refused.drawn < now;
        refused.drawn = now;
        Some(refused.clone())
    });
    let Some(refused) = known else { return };
    let line = Stroke::new(1.5, cx.palette.warn_text);
    ui.painter()
        .rect_stroke(field.rect, 4.0, line, StrokeKind::Outside);
    if refused.is_said && !field.hovered() && !field.has_focus() {
        return;
    }
    Popup::from_response(field)
        .open(true)
        .close_behavior(PopupCloseBehavior::IgnoreClicks)
        .show(|ui| {
            ui.set_max_width(280.0);
            let words = RichText::new(refused.said(cx.texts)).color(cx.palette.warn_text);
            ui.add(egui::Label::new(words).wrap());
        });
}

impl<'a> NumberField<'a> {
    /// A field for any number.
    pub fn new(name: &'a str) -> Self {
        Self {
            name,
            write: |value| format::significant(value, 6),
            range: (f64::NEG_INFINITY, f64::INFINITY),
            is_above: false,
            speed: 0.0,
            is_whole: false,
            is_live: false,
            width: None,
        }
    }

    /// A field for a whole number.
    pub fn whole(name: &'a str, range: (f64, f64)) -> Self {
        Self {
            write: |value| format::count(value.max(0.0) as u64),
            range,
            is_whole: true,
            ..Self::new(name)
        }
    }

    /// The number that a text is.
    ///
    /// # Errors
    /// When it is none that the field takes.
    pub fn read(&self, text: &str) -> Result<f64, Refusal> {
        let read = if self.is_whole {
            format::parse_whole(text)
        } else {
            format::parse(text)
        };
        let value = read.map_err(|unread| match unread {
            Unread::Shape if self.is_whole => Refusal::NoWhole,
            unread => Refusal::Unread(unread),
        })?;
        let (low, high) = self.range;
        if self.is_whole && value.fract() != 0.0 {
            Err(Refusal::NotWhole)
        } else if self.is_above && !(value > low && value <= high) {
            Err(Refusal::NotAbove((self.write)(low), (self.write)(high)))
        } else if (low..=high).contains(&value) {
            Ok(value)
        } else {
            Err(Refusal::Outside((self.write)(low), (self.write)(high)))
        }
    }

    /// Draws the field.
    pub fn show<N: Numeric>(&self, ui: &mut Ui, cx: &Cx<'_>, value: &mut N) -> Response {
        let key = ui.scope_id().with(("refused", self.name));
        let before = value.to_f64().to_bits();
        let kept = standing(ui.ctx(), key, before);
        let outcome = RefCell::new(None);
        let field = DragValue::new(value)
            .speed(self.speed)
            .range(self.range.0..=self.range.1)
            .custom_formatter(|number, _| kept.clone().unwrap_or_else(|| (self.write)(number)))
            .custom_parser(|text| {
                let read = self.read(text);
                let number = read.as_ref().ok().copied();
                outcome.replace(Some((text.to_owned(), read)));
                number
            })
            .update_while_editing(self.is_live);
        let field = match self.width {
            Some(width) => ui.add_sized(vec2(width, 24.0), field),
            None => ui.add(field),
        };
        let ctx = ui.ctx();
        match outcome.into_inner() {
            Some((_, Ok(_))) => take(ctx, key),
            // As long as it is being typed, it is not said to be wrong.
            Some((text, Err(why))) if !field.has_focus() => refuse(ctx, key, &text, why, before),
            _ if field.lost_focus() && ctx.input(|input| input.key_pressed(Key::Escape)) => take(ctx, key),
            _ => {}
        }
        mark(ui, cx, key, &field);
        field.accessible_name(self.name)
    }
}

/// A number that can be typed, dragged and reset.
///
/// The field takes any number, so that a value from a paper can be tried; what a plan cannot use, the plan
/// says. The slider spans what makes sense.
pub struct NumberRow<'a> {
    /// The setting's name.
    pub name: &'a str,
    /// What it is, in a sentence.
    pub help: &'a str,
    /// Its unit, shown behind the number; empty for pure numbers.
    pub unit: &'a str,
    /// The slider.
    pub slider: Slider<'a>,
    /// The value that reset returns to.
    pub default: f64,
    /// How the number is written.
    pub write: fn(f64) -> String,
}

impl NumberRow<'_> {
    /// Draws the row; true when the value changed.
    pub fn show(&self, ui: &mut Ui, cx: &Cx<'_>, value: &mut f64) -> bool {
        self.draw(ui, cx, (f64::NEG_INFINITY, f64::INFINITY, false), value)
    }

    /// Draws a row whose field takes no number beyond `range`; true when the value changed.
    pub fn show_within(&self, ui: &mut Ui, cx: &Cx<'_>, range: (f64, f64), value: &mut f64) -> bool {
        self.draw(ui, cx, (range.0, range.1, false), value)
    }

    /// Draws a row whose field takes numbers above 0 and at most `most`; true when the value changed.
    pub fn show_above_zero(&self, ui: &mut Ui, cx: &Cx<'_>, most: f64, value: &mut f64) -> bool {
        self.draw(ui, cx, (0.0, most, true), value)
    }

    fn draw(
        &self,
        ui: &mut Ui,
        cx: &Cx<'_>,
        (low, high, is_above): (f64, f64, bool),
        value: &mut f64,
    ) -> bool {
        let before = *value;
        ui.spacing_mut().item_spacing.y = 1.0;
        ui.allocate_ui_with_layout(
            vec2(ui.available_width(), 24.0),
            Layout::right_to_left(Align::Center),
            |ui| {
                ui.spacing_mut().interact_size.y = 24.0;
                let field = NumberField {
                    write: self.write,
                    range: (low, high),
                    is_above,
                    is_whole: self.slider.integer,
                    width: Some(64.0),
                    ..NumberField::new(self.name)
                };
                field.show(ui, cx, value).on_hover_text(self.help);
                if !self.unit.is_empty() {
                    ui.label(RichText::new(self.unit).size(SMALL).color(cx.palette.muted));
                }
                if (*value - self.default).abs() > 1e-12 * self.default.abs() {
                    let reset = cx.texts.with(
                        "setting-reset",
                        [
                            ("name", self.name.into()),
                            ("value", (self.write)(self.default).into()),
                        ],
                    );
                    ui.spacing_mut().interact_size.y = 20.0;
                    if icon_button(ui, Icon::Reset, &reset).clicked() {
                        *value = self.default;
                    }
                }
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    ui.add(egui::Label::new(self.name).truncate())
                        .on_hover_text(self.help);
                });
            },
        );
        self.slider.show(ui, cx.palette, value);
        if self.slider.integer {
            *value = value.round();
        }
        value.to_bits() != before.to_bits()
    }
}
