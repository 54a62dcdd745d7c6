//! The images as they are, for the steward only, and how they were read.

use eframe::egui::{self, Ui};

use super::form::choose;
use crate::data::ReadOptions;
use crate::data::image::{ImageOptions, ImageSet, LARGEST_SIDE, MOST_CLASSES};
use crate::engine::command::{Command, DataSource, SchemaSource};
use crate::engine::snapshot::Dataset;
use crate::gui::context::Cx;
use crate::gui::theme::STEP;
use crate::gui::widgets::{self, NumberField, PictureWall};

/// The sides to which pictures are brought.
const SIDES: [usize; 3] = [16, 28, LARGEST_SIDE];

/// What the page remembers of the images between frames.
#[derive(Default)]
pub struct Images {
    generation: u64,
    draft: ImageOptions,
    wall: PictureWall,
}

impl Images {
    /// Draws the images.
    pub fn show(&mut self, ui: &mut Ui, cx: &Cx<'_>, dataset: &Dataset, images: &ImageSet) {
        let pixels = images.form().pixels();
        let none = cx.texts.get("pictures-no-label");
        let height = ui.available_height();
        self.wall.show(
            ui,
            (dataset.generation, images.len()),
            images.form(),
            height,
            |at| &images.bytes()[at * pixels..(at + 1) * pixels],
            |at| {
                let label = images
                    .labels()
                    .map(|labels| labels.names[usize::from(labels.codes[at])].as_str());
                label.unwrap_or(none).to_owned()
            },
        );
    }

    /// Draws how the images were read, as a button that opens the way to change it.
    pub fn form(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset, images: &ImageSet) {
        if self.generation != dataset.generation {
            *self = Self {
                generation: dataset.generation,
                draft: dataset.image_options.clone(),
                wall: PictureWall::default(),
            };
        }
        let t = cx.texts;
        let form = images.form();
        let colour = if form.colours == 1 {
            "pictures-grey"
        } else {
            "pictures-colour"
        };
        let line = t.with(
            "pictures-form",
            [
                ("side", form.side.to_string().into()),
                ("colour", t.get(colour).into()),
            ],
        );
        let button = widgets::quiet_button(ui, cx.palette, &line).on_hover_text(t.get("form-tip"));
        egui::Popup::from_toggle_button_response(&button)
            .kind(egui::PopupKind::Popup)
            .close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside)
            .show(|ui| {
                ui.set_width(330.0);
                ui.label(cx.palette.strong(t.get("pictures-title")));
                ui.add(egui::Label::new(cx.palette.caption(t.get("pictures-lead"))).wrap());
                ui.add_space(STEP / 2.0);
                egui::Grid::new("pictures").num_columns(2).show(ui, |ui| {
                    fields(ui, cx, &mut self.draft);
                });
                ui.checkbox(&mut self.draft.skip_damaged, t.get("pictures-skip"))
                    .on_hover_text(t.get("pictures-skip-tip"));
                ui.add_space(STEP / 2.0);
                ui.add(egui::Label::new(cx.palette.caption(t.get("form-again"))).wrap());
                self.apply(ui, cx, dataset);
            });
    }

    fn apply(&self, ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset) {
        let t = cx.texts;
        let button = ui
            .add_enabled_ui(self.draft != dataset.image_options, |ui| {
                widgets::accent_button(ui, cx.palette, t.get("form-apply"))
            })
            .inner
            .on_disabled_hover_text(t.get("form-apply-nothing"));
        let Some(path) = dataset.path.clone().filter(|_| button.clicked()) else {
            return;
        };
        cx.send(Command::Open(DataSource::File {
            path,
            options: ReadOptions::default(),
            images: self.draft.clone(),
            schema: SchemaSource::Beside,
        }));
        ui.close();
    }
}

fn fields(ui: &mut Ui, cx: &Cx<'_>, draft: &mut ImageOptions) {
    let t = cx.texts;
    let as_is = t.get("pictures-as-is");
    let side_name =
        |side: Option<usize>| side.map_or_else(|| as_is.to_owned(), |side| format!("{side} × {side}"));
    let sides = std::iter::once(None).chain(SIDES.map(Some));
    let offered = sides.map(|side| (side, side_name(side)));
    if let Some(side) = choose(
        ui,
        t.get("pictures-side"),
        draft.side,
        side_name(draft.side),
        offered,
    ) {
        draft.side = side;
    }
    let colours_name = |colours: Option<usize>| match colours {
        None => as_is.to_owned(),
        Some(1) => t.get("pictures-grey").to_owned(),
        Some(_) => t.get("pictures-colour").to_owned(),
    };
    let offered = [None, Some(1), Some(3)].map(|colours| (colours, colours_name(colours)));
    let shown = colours_name(draft.colours);
    if let Some(colours) = choose(ui, t.get("pictures-colours"), draft.colours, shown, offered) {
        draft.colours = colours;
    }
    let label = ui.label(t.get("pictures-classes"));
    let classes = NumberField {
        speed: 1.0,
        is_live: true,
        ..NumberField::whole(t.get("pictures-classes"), (1.0, MOST_CLASSES as f64))
    };
    classes
        .show(ui, cx, &mut draft.classes)
        .labelled_by(label.id)
        .on_hover_text(t.get("pictures-classes-tip"));
    ui.end_row();
    let label = ui.label(t.get("pictures-window"));
    ui.horizontal(|ui| {
        let mut has_window = draft.window.is_some();
        let check = ui.checkbox(&mut has_window, "").labelled_by(label.id);
        if check.on_hover_text(t.get("pictures-window-tip")).changed() {
            draft.window = has_window.then_some([0, u16::MAX]);
        }
        if let Some([black, white]) = &mut draft.window {
            for (key, value) in [("pictures-black", black), ("pictures-white", white)] {
                let field = NumberField {
                    speed: 50.0,
                    is_live: true,
                    ..NumberField::whole(t.get(key), (0.0, f64::from(u16::MAX)))
                };
                field.show(ui, cx, value).on_hover_text(t.get(key));
            }
        }
    });
    ui.end_row();
}
