//! The real images nearest to a generated one, to look for copies: for the steward only.

use eframe::egui::{Align, Key, Label, Layout, Modifiers, Ui, vec2};

use crate::engine::command::{Command, NearestQuestion, RunId};
use crate::engine::snapshot::{NearestAnswer, RunView};
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::widgets::{self, ImageCaption, ImageStrip};
use crate::train::image::ImageGrid;

/// What the strip takes of the height of the images' card.
pub const HEIGHT: f32 = 128.0;

/// The image whose neighbours are in view.
#[derive(Default)]
pub struct Nearest {
    asked: Option<NearestQuestion>,
    drawn: ImageStrip,
}

impl Nearest {
    /// Whether there is anything to show.
    pub const fn is_open(&self) -> bool {
        self.asked.is_some()
    }

    /// The place of the image asked about among those of a run's step.
    pub fn of(&self, run: RunId, step: u64) -> Option<usize> {
        let asked = self.asked.as_ref()?;
        (asked.run == run && asked.step == step).then_some(asked.place)
    }

    /// Shows none any more.
    pub fn close(&mut self) {
        self.asked = None;
    }

    /// Asks for the neighbours of the image at a place, unless the images that it was learned from are open no longer.
    pub fn ask(&mut self, cx: &mut Cx<'_>, run: &RunView, grid: &ImageGrid, place: usize) {
        let open = cx.snapshot.dataset.as_deref();
        if open.is_none_or(|dataset| dataset.generation != run.generation) {
            return;
        }
        let Some(image) = grid.images().nth(place) else {
            return;
        };
        let question = NearestQuestion {
            run: run.id,
            step: grid.step,
            place,
            image: image.into(),
        };
        self.asked = Some(question.clone());
        cx.send(Command::FindNearest(Box::new(question)));
    }

    /// Draws the image asked about and its neighbours, once they are found.
    pub fn show(&mut self, ui: &mut Ui, cx: &Cx<'_>, grid: &ImageGrid) {
        let Some(asked) = &self.asked else { return };
        let t = cx.texts;
        let mut closed = false;
        let line = vec2(ui.available_width(), ui.spacing().interact_size.y);
        // The way out first: the caption takes what room is left and is cut there.
        ui.allocate_ui_with_layout(line, Layout::right_to_left(Align::Center), |ui| {
            closed = widgets::quiet_button(ui, cx.palette, t.get("nearest-close")).clicked();
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.label(cx.palette.strong(t.get("nearest-title")))
                    .on_hover_text(t.get("nearest-tip"));
                let tip = t.get("steward-only-tip");
                widgets::badge(ui, t.get("steward-only"), cx.palette.warn_text, tip);
                let caption = t.get("nearest-caption");
                ui.add(Label::new(cx.palette.caption(caption)).truncate())
                    .on_hover_text(caption);
            });
        });
        closed |= ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
        match answer(cx, asked) {
            None => {
                ui.label(cx.palette.caption(t.get("nearest-looking")));
            }
            Some((images, captions)) => {
                let mut all = vec![&*asked.image];
                all.extend(images);
                let key = (asked.run.0, asked.step, asked.place);
                self.drawn.show(ui, cx, key, grid.form, &all, &captions);
            }
        }
        if closed {
            self.asked = None;
        }
    }
}

/// The neighbours' bytes, and what is written under each image and said of it, the generated one first.
fn answer<'a>(cx: &Cx<'a>, asked: &NearestQuestion) -> Option<(Vec<&'a [u8]>, Vec<ImageCaption>)> {
    let t = cx.texts;
    let found: &NearestAnswer = cx.snapshot.nearest.as_deref()?;
    let dataset = cx.snapshot.dataset.as_deref()?;
    let images = dataset.images.as_ref()?;
    if found.question != *asked || found.generation != dataset.generation {
        return None;
    }
    let real = found.real.for_steward();
    let pixels = images.form().pixels();
    let bytes = real
        .iter()
        .map(|near| &images.bytes()[near.image * pixels..(near.image + 1) * pixels]);
    let captions = real.iter().map(|near| {
        let short = format::significant(near.distance, 3);
        let said = t.with(
            "nearest-distance",
            [
                ("number", format::count(near.image as u64 + 1).into()),
                ("distance", short.as_str().into()),
            ],
        );
        ImageCaption { short, said }
    });
    let generated = t.get("nearest-generated").to_owned();
    let generated = ImageCaption {
        short: generated.clone(),
        said: generated,
    };
    Some((
        bytes.collect(),
        std::iter::once(generated).chain(captions).collect(),
    ))
}
