//! Generated images by class, with a way back to those of earlier steps: free to look at, the run has paid for them.

use eframe::egui::{Align, Layout, Ui};

use crate::engine::command::RunId;
use crate::engine::snapshot::RunView;
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::pages::train::nearest::{self, Nearest};
use crate::gui::plot;
use crate::gui::widgets::{self, ClassGrid, ClassImages, Slider};
use crate::train::image::ImageGrid;

/// What the slider's row takes of the height.
const SLIDER: f32 = 26.0;

/// Which of a run's grids is in view.
#[derive(Default)]
pub struct GridView {
    run: Option<RunId>,
    /// The grid chosen; none follows the run.
    place: Option<usize>,
    drawn: ClassGrid,
    nearest: Nearest,
}

impl GridView {
    /// Draws a card's inside: the images of the step chosen, `height` high.
    pub fn show(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, run: &RunView, height: f32) {
        let t = cx.texts;
        let caption = t.get("card-sample-caption");
        plot::head(ui, cx, t.get("card-grid"), false, caption);
        if self.run != Some(run.id) {
            (self.run, self.place) = (Some(run.id), None);
            self.nearest.close();
        }
        let Some(last) = run.grids.len().checked_sub(1) else {
            ui.label(cx.palette.caption(t.get("grid-none")));
            return;
        };
        let place = self.place.unwrap_or(last).min(last);
        let grid = &run.grids[place];
        if last > 0 {
            self.slider(ui, cx, run, (place, last));
        }
        let slider = if last > 0 { SLIDER } else { 0.0 };
        let strip = if self.nearest.is_open() {
            nearest::HEIGHT
        } else {
            0.0
        };
        let rest = height - slider - strip;
        let hint = t.get("grid-hint");
        let marked = self.nearest.of(run.id, grid.step);
        if let Some(clicked) = draw(ui, cx, &mut self.drawn, run.id, (grid, hint, marked), rest) {
            self.nearest.ask(cx, run, grid, clicked);
        }
        self.nearest.show(ui, cx, grid);
    }

    fn slider(&mut self, ui: &mut Ui, cx: &Cx<'_>, run: &RunView, (place, last): (usize, usize)) {
        let t = cx.texts;
        ui.horizontal(|ui| {
            let step = format::count(run.grids[place].step);
            let line = t.with("grid-step", [("step", step.into())]);
            ui.label(cx.palette.caption(line));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let follows = self.place.is_none();
                if !follows {
                    let back = widgets::quiet_button(ui, cx.palette, t.get("grid-latest"));
                    if back.on_hover_text(t.get("grid-latest-tip")).clicked() {
                        self.place = None;
                    }
                }
                let slider = Slider {
                    name: t.get("grid-slider"),
                    range: (0.0, last as f64),
                    logarithmic: false,
                    integer: true,
                    stops: &[],
                };
                let mut at = place as f64;
                if slider.show(ui, cx.palette, &mut at).changed() {
                    let at = at.round().max(0.0) as usize;
                    self.place = (at < last).then_some(at);
                }
            });
        });
    }
}

/// Draws one grid, with what a click on an image does, and one of them marked; the place of an image that was clicked.
pub fn draw(
    ui: &mut Ui,
    cx: &Cx<'_>,
    drawn: &mut ClassGrid,
    run: RunId,
    (grid, hint, marked): (&ImageGrid, &str, Option<usize>),
    height: f32,
) -> Option<usize> {
    let name = cx.texts.with(
        "grid-name",
        [
            ("images", format::count(grid.images().len() as u64).into()),
            ("step", format::count(grid.step).into()),
        ],
    );
    let images = ClassImages {
        key: (run.0, grid.step),
        form: grid.form,
        each: grid.each,
        bytes: &grid.bytes,
        names: &grid.names,
        hint,
        marked,
    };
    drawn.show(ui, cx, &name, &images, height)
}
