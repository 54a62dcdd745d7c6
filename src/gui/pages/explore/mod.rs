//! What a budget buys, before any of it is spent: a question on the left, pictures of its noise on the right.
//!
//! Everything is drawn from closed forms in the frame; what the rows say is read once for each question, off the frame.
//! A preview costs nothing and is for the steward; a release is charged.

mod density;
mod form;
mod histogram;
mod inverse;
mod model;
mod price;
pub mod released;
mod rows;
mod runs;
mod settings;
mod several;
mod units;
mod utility;

use std::sync::Arc;

use eframe::egui::{self, Align, ComboBox, Layout, Ui, vec2};

pub use settings::{ExploreSettings, Measure, Picture};

use crate::data::Schema;
use crate::engine::snapshot::{Dataset, Snapshot};
use crate::engine::{Area, Command, Explored, SeveralRequest};
use crate::gui::command::{Action, Page};
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::panels::Sized;
use crate::gui::problems;
use crate::gui::theme::STEP;
use crate::gui::widgets::{self, NumberField};
use crate::release::Query;
use crate::release::outlook::Question;
use model::{CurveStore, Model};

/// Round stops of ε.
const EPSILONS: [f64; 12] = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0,
];
/// Round stops of δ.
const DELTAS: [f64; 5] = [1e-9, 1e-8, 1e-7, 1e-6, 1e-5];
/// The width of the form.
const FORM: f32 = 300.0;
/// Below this width the form stands above the picture.
const STACKED: f32 = 700.0;
/// The height of a picture under the form.
const PICTURE: f32 = 440.0;

/// What the page remembers between frames.
#[derive(Default)]
pub struct ExplorePage {
    /// What was chosen.
    pub settings: ExploreSettings,
    model: Model,
    price: price::Price,
    generation: u64,
    asked: Option<(Question, Arc<Schema>)>,
    asked_several: Option<SeveralRequest>,
}

impl ExplorePage {
    /// Begins anew with another table; runs before any page is drawn.
    pub fn meet(&mut self, snapshot: &Snapshot) {
        let Some(dataset) = &snapshot.dataset else { return };
        if self.generation != dataset.generation {
            self.generation = dataset.generation;
            self.asked_several = None;
            self.settings.begin(dataset);
            self.follow(dataset);
        }
    }

    /// What can be taken back: the question and its price. Which picture is in view is no choice of that kind.
    pub fn choices(&self) -> ExploreSettings {
        ExploreSettings {
            picture: Picture::default(),
            ..self.settings.clone()
        }
    }

    /// Takes choices back, the picture in view apart.
    pub fn choose(&mut self, choices: ExploreSettings) {
        self.settings = ExploreSettings {
            picture: self.settings.picture,
            ..choices
        };
    }

    /// Brings what was released into view.
    pub fn show_released(&mut self) {
        self.settings.picture = Picture::Released;
    }

    /// Draws the page; there is an open table.
    pub fn show(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let Some(dataset) = cx.snapshot.dataset.clone() else {
            return;
        };
        self.follow(&dataset);
        let explored = model::explored(cx.snapshot, &dataset, &self.settings.question()).cloned();
        if ui.available_width() < STACKED {
            egui::ScrollArea::vertical()
                .id_salt("explore")
                .auto_shrink(false)
                .show(ui, |ui| {
                    egui::Frame::new().inner_margin(12).show(ui, |ui| {
                        widgets::card(ui, cx.palette, |ui| {
                            self.form(ui, cx, &dataset, explored.as_ref());
                            self.price.button(ui, cx, &dataset, &self.settings);
                        });
                        ui.add_space(STEP);
                        ui.allocate_ui(vec2(ui.available_width(), PICTURE), |ui| {
                            ui.set_min_height(PICTURE);
                            self.card(ui, cx, &dataset, explored.as_ref());
                        });
                    });
                });
        } else {
            self.beside(ui, cx, &dataset, explored.as_ref());
        }
        // After the form, so that what it asks for is what it shows.
        self.follow(&dataset);
        self.ask(cx, &dataset);
    }

    /// Form and picture beside each other.
    fn beside(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset, explored: Option<&Arc<Explored>>) {
        let margin = egui::Margin {
            left: 14,
            right: 6,
            top: 12,
            bottom: 12,
        };
        let panel = egui::Panel::left("question")
            .frame(egui::Frame::new().fill(cx.palette.panel).inner_margin(margin));
        Sized::Question.show(ui, cx, panel, (FORM, 256.0..=440.0), |ui, cx| {
            // What asks for the release stays in view, however long the form is.
            egui::Panel::bottom("release")
                .resizable(false)
                .show_separator_line(false)
                .frame(egui::Frame::new().inner_margin(egui::Margin {
                    right: 8,
                    top: 8,
                    ..Default::default()
                }))
                .show(ui, |ui| self.price.button(ui, cx, dataset, &self.settings));
            egui::ScrollArea::vertical()
                .id_salt("explore form")
                .auto_shrink(false)
                .show(ui, |ui| {
                    ui.set_width(ui.available_width() - 8.0);
                    self.form(ui, cx, dataset, explored);
                });
        });
        egui::CentralPanel::no_frame().show(ui, |ui| {
            egui::Frame::new().inner_margin(12).show(ui, |ui| {
                self.card(ui, cx, dataset, explored);
            });
        });
    }

    /// Takes up what has changed: closed forms and price.
    fn follow(&mut self, dataset: &Dataset) {
        self.settings.keep_to(dataset);
        self.model.follow(dataset, &self.settings.question());
        let outlook = self.model.outlook().and_then(|outlook| outlook.as_ref().ok());
        self.settings.fit(outlook.map(Arc::as_ref));
        self.price.follow(&self.settings, dataset);
    }

    /// Asks the engine to read the rows whenever the question or the schema has changed.
    fn ask(&mut self, cx: &mut Cx<'_>, dataset: &Dataset) {
        let question = self.settings.question();
        let known = self
            .asked
            .as_ref()
            .is_some_and(|(asked, schema)| *asked == question && Arc::ptr_eq(schema, &dataset.schema));
        let has_pictures =
            matches!(self.model.outlook(), Some(Ok(outlook)) if outlook.mechanisms().next().is_some());
        if !known && has_pictures {
            self.asked = Some((question.clone(), Arc::clone(&dataset.schema)));
            cx.send(Command::Explore(Box::new(question)));
        }
    }

    fn form(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset, explored: Option<&Arc<Explored>>) {
        ui.spacing_mut().item_spacing.y = 6.0;
        form::question(ui, cx, dataset, &mut self.settings);
        let seen = explored.and_then(|explored| explored.outcome.as_ref().ok());
        form::cell(
            ui,
            cx,
            seen.map(|seen| seen.truth.for_steward()),
            &mut self.settings,
        );
        let outlook = self.model.outlook().and_then(|outlook| outlook.as_ref().ok());
        let offered = self.settings.fit(outlook.map(Arc::as_ref));
        form::price(ui, cx, &offered, &mut self.settings);
        if let Some(outlook) = outlook {
            form::sensitivity(ui, cx, dataset, outlook, &self.settings);
        }
        // The question may have changed in this very frame: its closed forms come with the next one.
        let same = self.model.is_of(&self.settings.question());
        let wanted = self
            .model
            .view(&self.settings, dataset, explored)
            .filter(|_| same)
            .and_then(|view| inverse::show(ui, cx, &view));
        if let Some(epsilon) = wanted {
            self.settings.epsilon = epsilon;
        }
        inverse::how_many(ui, cx, dataset, &self.price, &self.settings);
        self.price.show(ui, cx, dataset, &self.settings);
    }

    /// The card with the pictures.
    fn card(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset, explored: Option<&Arc<Explored>>) {
        widgets::card(ui, cx.palette, |ui| {
            ui.set_min_height(ui.available_height());
            self.tabs(ui, cx);
            problems::show(ui, cx, Area::Release);
            match self.settings.picture {
                Picture::Released => {
                    egui::ScrollArea::vertical()
                        .id_salt("released")
                        .auto_shrink(false)
                        .show(ui, |ui| {
                            released::show(ui, cx);
                        });
                }
                Picture::Runs => {
                    self.head(ui, cx);
                    runs::show(ui, cx, self.settings.epsilon, dataset);
                }
                _ => self.picture(ui, cx, dataset, explored),
            }
        });
    }

    fn tabs(&mut self, ui: &mut Ui, cx: &Cx<'_>) {
        let t = cx.texts;
        ui.horizontal_wrapped(|ui| {
            for picture in Picture::ALL {
                let count = cx.snapshot.releases.len();
                let name = if picture == Picture::Released && count > 0 {
                    format!("{} {}", t.get(picture.key()), format::count(count as u64))
                } else {
                    t.get(picture.key()).to_owned()
                };
                if widgets::tab(ui, cx.palette, self.settings.picture == picture, &name).clicked() {
                    self.settings.picture = picture;
                }
            }
        });
    }

    /// What the picture measures, and who may see it.
    fn head(&mut self, ui: &mut Ui, cx: &Cx<'_>) {
        let t = cx.texts;
        ui.horizontal_wrapped(|ui| {
            if self.settings.picture == Picture::Several {
                ui.label(cx.palette.caption(t.get("several-public")));
            } else {
                let tip = t.get("steward-only-tip");
                widgets::badge(ui, t.get("steward-only"), cx.palette.warn_text, tip);
                let lead = format!("{}-lead", self.settings.picture.key());
                widgets::truncated(ui, cx.palette.caption(t.get(&lead)));
            }
        });
        match self.settings.picture {
            Picture::Utility => self.measure(ui, cx),
            Picture::Several => several::controls(ui, cx, &mut self.settings),
            _ => {}
        }
    }

    fn measure(&mut self, ui: &mut Ui, cx: &Cx<'_>) {
        let t = cx.texts;
        ui.horizontal(|ui| {
            let label = ui.label(cx.palette.caption(t.get("measure-name")));
            let combo = ComboBox::from_id_salt("measure")
                .icon(widgets::arrow)
                .selected_text(t.get(self.settings.measure.key()))
                .width(220.0)
                .show_ui(ui, |ui| {
                    for measure in Measure::ALL {
                        ui.selectable_value(&mut self.settings.measure, measure, t.get(measure.key()));
                    }
                });
            combo.response.labelled_by(label.id);
            if self.settings.measure == Measure::Within {
                let label = ui.label("a =");
                let field = NumberField {
                    write: |value| format::significant(value, 3),
                    range: (0.0, 1e15),
                    width: Some(84.0),
                    ..NumberField::new(t.get("measure-tolerance"))
                };
                field.show(ui, cx, &mut self.settings.tolerance);
                let _ = label;
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                // A quotient of noisy sums has its closed form to first order only.
                let is_ratio = matches!(self.settings.query, Query::Mean | Query::Variance);
                let key = if is_ratio {
                    "utility-caption-ratio"
                } else {
                    "utility-caption"
                };
                widgets::truncated(ui, cx.palette.caption(t.get(key)));
            });
        });
    }

    fn picture(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset, explored: Option<&Arc<Explored>>) {
        let t = cx.texts;
        if let Some(Err(problem)) = self.model.outlook() {
            let problem = problem.clone();
            crate::gui::jobs::problem(ui, cx, &problem);
            cx.button(ui, Action::Go(Page::Data), None);
            return;
        }
        if let Some(Err(problem)) = explored.map(|explored| &explored.outcome) {
            crate::gui::jobs::problem(ui, cx, problem);
            return;
        }
        self.head(ui, cx);
        let mut curves = self.model.take_curves();
        let moved = self.draw(ui, cx, dataset, explored, &mut curves);
        self.model.put_curves(curves);
        match moved {
            Drawn::Several(several) => {
                let asked = (several, &mut self.asked_several);
                several::show(ui, cx, &mut self.model, &self.settings, asked);
            }
            Drawn::Moved(epsilon) => self.settings.epsilon = epsilon,
            Drawn::Nothing => {
                ui.add(egui::Label::new(cx.palette.caption(t.get("explore-search"))).wrap());
            }
            Drawn::Done => {}
        }
    }

    fn draw(
        &self,
        ui: &mut Ui,
        cx: &mut Cx<'_>,
        dataset: &Dataset,
        explored: Option<&Arc<Explored>>,
        curves: &mut CurveStore,
    ) -> Drawn {
        // The form above may have changed the question in this very frame.
        let same = self.model.is_of(&self.settings.question());
        let Some(view) = self
            .model
            .view(&self.settings, dataset, explored)
            .filter(|_| same)
        else {
            return if same { Drawn::Nothing } else { Drawn::Done };
        };
        match self.settings.picture {
            Picture::Utility => utility::show(ui, cx, &view, curves).map_or(Drawn::Done, Drawn::Moved),
            Picture::Noise => {
                density::show(ui, cx, &view);
                Drawn::Done
            }
            Picture::Histogram => {
                histogram::show(ui, cx, &view);
                Drawn::Done
            }
            Picture::Rows => {
                rows::show(ui, cx, &view);
                Drawn::Done
            }
            Picture::Several => Drawn::Several(view.several()),
            Picture::Runs | Picture::Released => Drawn::Done,
        }
    }
}

/// What came of drawing a picture.
enum Drawn {
    /// It is there.
    Done,
    /// Its mark was dragged to this ε.
    Moved(f64),
    /// It is about several questions and needs the model's other parts.
    Several(Option<SeveralRequest>),
    /// The question has no picture.
    Nothing,
}
