//! Writing synthetic rows or images: how many, where to, and what goes with them.

mod certificate;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use eframe::egui::{self, Align, ComboBox, Layout, RichText, TextEdit, Ui};

use crate::data::Kind;
use crate::engine::command::{Condition, ExportRequest, RunId};
use crate::engine::event::{Area, Exported};
use crate::engine::exported_files;
use crate::engine::snapshot::{RunState, RunView};
use crate::export::certificate::Records;
use crate::export::{ImageFormat, TableFormat};
use crate::gui::command::{Action, Page};
use crate::gui::context::{Cx, Intent};
use crate::gui::format;
use crate::gui::history::ExportChoices;
use crate::gui::jobs;
use crate::gui::pages::train::{grid, sample};
use crate::gui::pages::welcome::typed_path;
use crate::gui::plot;
use crate::gui::problems;
use crate::gui::theme::{SMALL, STEP};
use crate::gui::widgets::{self, ClassGrid, NumberField, number};

/// The most rows that the field takes.
const MOST_ROWS: usize = 100_000_000;
/// The least height of the rows' card.
const LEAST_ROWS: f32 = 180.0;
/// Below this width the certificate stands under the form.
const STACKED: f32 = 760.0;

/// What the page remembers between frames.
#[derive(Default)]
pub struct ExportPage {
    choices: ExportChoices,
    path: String,
    /// The path that was suggested last, and for which run.
    suggested: Option<(RunId, String)>,
    /// Whether the path field takes the keyboard in the next frame.
    wants_focus: bool,
    /// The last export that was written.
    done: Option<Box<Exported>>,
    /// The request as the form has it, if it can be carried out.
    asked: Option<ExportRequest>,
    /// What was sent to the engine and has not been heard of since. A snapshot may be older than the command, so
    /// it alone cannot tell that an export is under way.
    sent: Option<ExportRequest>,
    /// The height of the taller column, in the last frame.
    tall: f32,
    drawn: ClassGrid,
    /// The run that the form was about in the last frame.
    about: Option<RunId>,
    /// Whether the choices were taken back with the run they are for.
    is_taken_back: bool,
}

impl ExportPage {
    /// Draws the page.
    pub fn show(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let finished: Vec<Arc<RunView>> = cx
            .snapshot
            .runs
            .iter()
            .filter(|run| matches!(run.state, RunState::Finished(_)))
            .cloned()
            .collect();
        egui::Frame::new().inner_margin(12).show(ui, |ui| {
            egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                let chosen = self
                    .choices
                    .run
                    .and_then(|id| finished.iter().find(|run| run.id == id));
                let Some(run) = chosen.or(finished.last()).cloned() else {
                    empty(ui, cx);
                    return;
                };
                let room = ui.available_width();
                if room < STACKED {
                    widgets::card(ui, cx.palette, |ui| self.form(ui, cx, &finished, &run));
                    widgets::card(ui, cx.palette, |ui| certificate::show(ui, cx, &run));
                    self.written(ui, cx, &run);
                    self.sample(ui, cx, &run, LEAST_ROWS);
                    return;
                }
                let height = ui.available_height();
                let half = (room - STEP) / 2.0;
                // Both columns end where the taller one did; a frame that changes that is drawn anew at once.
                let (least, palette) = (self.tall, cx.palette);
                let columns = ui.horizontal_top(|ui| {
                    let mut tall = 0.0_f32;
                    let mut column = |ui: &mut Ui, contents: &mut dyn FnMut(&mut Ui)| {
                        let inner = ui.vertical(|ui| {
                            ui.set_width(half);
                            let frame = palette.card().show(ui, |ui| {
                                ui.set_width(ui.available_width());
                                ui.set_min_height(least);
                                let start = ui.cursor().top();
                                contents(ui);
                                ui.cursor().top() - start
                            });
                            frame.inner
                        });
                        tall = tall.max(inner.inner);
                    };
                    column(ui, &mut |ui| {
                        self.form(ui, cx, &finished, &run);
                        self.written(ui, cx, &run);
                    });
                    column(ui, &mut |ui| certificate::show(ui, cx, &run));
                    tall
                });
                if (columns.inner - self.tall).abs() > 0.5 {
                    self.tall = columns.inner;
                    ui.ctx().request_discard("the columns' height");
                }
                let rest = height - columns.response.rect.height() - 2.0 * STEP;
                self.sample(ui, cx, &run, rest.max(LEAST_ROWS));
            });
        });
    }

    fn form(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, finished: &[Arc<RunView>], run: &Arc<RunView>) {
        let t = cx.texts;
        self.turn_to(run);
        ui.label(cx.palette.title(t.get("export-title")));
        ui.add(
            egui::Label::new(
                cx.palette
                    .caption(t.get(records(run).choose("export-free", "export-images-free"))),
            )
            .wrap(),
        );
        ui.horizontal(|ui| {
            let label = ui.label(t.get("export-run"));
            let combo = ComboBox::from_id_salt("run")
                .icon(widgets::arrow)
                .selected_text(format!("{} {}", run.id.0, jobs::run_title(cx, run)))
                .width((ui.available_width() - 8.0).max(80.0))
                .truncate()
                .show_ui(ui, |ui| {
                    for other in finished {
                        let name = format!("{} {}", other.id.0, jobs::run_title(cx, other));
                        if ui.selectable_label(other.id == run.id, name).clicked() {
                            self.choices.run = Some(other.id);
                        }
                    }
                });
            combo.response.labelled_by(label.id);
        });
        let mut rows = self.choices.rows.unwrap_or_else(|| default_rows(run));
        ui.horizontal(|ui| {
            let name = t.get(records(run).choose("export-rows", "export-images"));
            let label = ui.label(name);
            let field = NumberField {
                speed: 100.0,
                is_live: true,
                ..NumberField::whole(name, (1.0, MOST_ROWS as f64))
            };
            let field = field.show(ui, cx, &mut rows);
            if field.changed() {
                self.choices.rows = Some(rows);
            }
            field
                .labelled_by(label.id)
                .on_hover_text(t.get(records(run).choose("export-rows-tip", "export-images-tip")));
        });
        self.condition_row(ui, cx, run);
        let is_other = self.suggested.as_ref().is_none_or(|(of, _)| *of != run.id);
        if is_other || self.path.is_empty() {
            let suggested = default_path(run).display().to_string();
            if self.path.is_empty()
                || self
                    .suggested
                    .as_ref()
                    .is_some_and(|(_, last)| *last == self.path)
            {
                self.path.clone_from(&suggested);
            }
            self.suggested = Some((run.id, suggested));
        }
        let label = ui.label(t.get("export-path"));
        ui.horizontal(|ui| {
            let choose = t.get("export-choose");
            let room = (ui.available_width() - 110.0).max(120.0);
            let field = ui.add(TextEdit::singleline(&mut self.path).desired_width(room));
            if std::mem::take(&mut self.wants_focus) {
                field.request_focus();
            }
            field.labelled_by(label.id).on_hover_text(&self.path);
            if ui
                .button(choose)
                .on_hover_text(t.get("export-choose-tip"))
                .clicked()
            {
                cx.intents.push(Intent::ChooseTarget);
            }
        });
        let path = typed_path(&self.path);
        files(ui, cx, &path);
        if is_of_images(run) {
            ui.add(egui::Label::new(cx.palette.caption(t.get("export-forms-images"))).wrap());
        }
        let blocked = number::refused(ui.ctx(), t).or_else(|| self.blocked(cx, run, &path));
        ui.add_space(STEP / 2.0);
        cx.accent_button(ui, Action::Export, blocked.as_deref());
        if let Some(reason) = &blocked {
            ui.add(egui::Label::new(RichText::new(reason).size(SMALL).color(cx.palette.warn_text)).wrap());
        }
        problems::show(ui, cx, Area::Export);
        self.asked = blocked.is_none().then(|| ExportRequest {
            run: run.id,
            rows,
            path,
            overwrite: false,
            condition: self.choices.condition.clone(),
            language: cx.texts.language(),
        });
    }

    /// Another run begins with its own path and number of rows, and nothing is written of it yet.
    fn turn_to(&mut self, run: &RunView) {
        let before = self.about.replace(run.id);
        let is_taken_back = std::mem::take(&mut self.is_taken_back);
        if before.is_none_or(|before| before == run.id) {
            return;
        }
        self.path.clear();
        self.done = None;
        if !is_taken_back {
            self.choices.rows = None;
            self.choices.condition = None;
        }
    }

    /// Shows this run from now on.
    pub fn choose_run(&mut self, run: RunId) {
        self.choices.run = Some(run);
    }

    fn condition_row(&mut self, ui: &mut Ui, cx: &Cx<'_>, run: &RunView) {
        let t = cx.texts;
        let Some(Ok(claims)) = &run.claims else {
            return;
        };
        let schema = &claims.schema;
        let columns: Vec<_> = schema
            .column
            .iter()
            .filter(|column| column.kind == Kind::Categorical)
            .collect();
        if columns.is_empty() {
            return;
        }
        ui.horizontal_wrapped(|ui| {
            let label = ui.label(t.get("export-only"));
            let shown = self
                .choices
                .condition
                .as_ref()
                .map_or(t.get("export-only-all"), |only| only.column.as_str());
            let mut column = self.choices.condition.as_ref().map(|only| only.column.clone());
            let combo = ComboBox::from_id_salt("only-column")
                .icon(widgets::arrow)
                .selected_text(shown)
                .show_ui(ui, |ui| {
                    ui.selectable_value(&mut column, None, t.get("export-only-all"));
                    for candidate in &columns {
                        ui.selectable_value(&mut column, Some(candidate.name.clone()), &candidate.name);
                    }
                });
            combo
                .response
                .labelled_by(label.id)
                .on_hover_text(t.get("export-only-tip"));
            if column.as_ref() != self.choices.condition.as_ref().map(|only| &only.column) {
                self.choices.condition = column.and_then(|name: String| {
                    let first = schema.find(&name)?.domain.as_ref()?.first()?.clone();
                    Some(Condition {
                        column: name,
                        value: first,
                    })
                });
            }
            if let Some(only) = &mut self.choices.condition
                && let Some(domain) = schema
                    .find(&only.column)
                    .and_then(|column| column.domain.as_ref())
            {
                let value = ComboBox::from_id_salt("only-value")
                    .icon(widgets::arrow)
                    .selected_text(&only.value)
                    .show_ui(ui, |ui| {
                        for value in domain {
                            ui.selectable_value(&mut only.value, value.clone(), value);
                        }
                    });
                value
                    .response
                    .accessible_name(t.with("export-only-value", [("column", only.column.as_str().into())]));
            }
        });
    }

    fn blocked(&self, cx: &Cx<'_>, run: &RunView, path: &Path) -> Option<String> {
        let t = cx.texts;
        if self.sent.is_some() || cx.snapshot.exporting.is_some() {
            return Some(t.get("export-busy").to_owned());
        }
        if path.as_os_str().is_empty() {
            return Some(t.get("path-empty").to_owned());
        }
        if is_of_images(run) {
            if ImageFormat::from_path(path).is_err() {
                return Some(t.get("export-ending-images").to_owned());
            }
        } else if TableFormat::from_path(path).is_err() {
            return Some(t.get("export-ending").to_owned());
        }
        None
    }

    fn written(&self, ui: &mut Ui, cx: &Cx<'_>, run: &RunView) {
        let Some(done) = self.done.as_ref().filter(|done| done.run == run.id) else {
            return;
        };
        certificate::written(ui, cx, done);
    }

    /// What the run makes now: what an export would hold.
    fn sample(&mut self, ui: &mut Ui, cx: &Cx<'_>, run: &RunView, height: f32) {
        widgets::card(ui, cx.palette, |ui| {
            let inner = height - 26.0;
            ui.set_height(inner);
            let t = cx.texts;
            let title = t.get(records(run).choose("export-rows-title", "export-images-title"));
            plot::head(ui, cx, title, false, t.get("card-sample-caption"));
            match run.grids.last() {
                Some(last) => {
                    let _ = grid::draw(ui, cx, &mut self.drawn, run.id, (last, "", None), inner - 26.0);
                }
                None => sample::show(ui, cx, &run.sample, run.id.0, inner - 26.0),
            }
        });
    }

    /// The request as the form has it, if it can be carried out.
    pub fn request(&self) -> Option<&ExportRequest> {
        self.asked.as_ref()
    }

    /// What a person has chosen in the form.
    pub fn choices(&self) -> &ExportChoices {
        &self.choices
    }

    /// Takes choices back.
    pub fn choose(&mut self, choices: ExportChoices) {
        self.is_taken_back = true;
        self.choices = choices;
    }

    /// The path field takes the keyboard.
    pub fn focus_path(&mut self) {
        self.wants_focus = true;
    }

    /// Takes a path from a dialog.
    pub fn set_path(&mut self, path: &Path) {
        self.path = path.display().to_string();
    }

    /// The path as it stands in the form.
    pub fn path(&self) -> PathBuf {
        typed_path(&self.path)
    }

    /// An export is on its way to the engine: no second one until its end is heard of.
    pub fn sent(&mut self, request: &ExportRequest) {
        self.sent = Some(request.clone());
        self.asked = None;
    }

    /// The export has ended; what was asked for.
    pub fn ended(&mut self) -> Option<ExportRequest> {
        self.sent.take()
    }

    /// Shows what was written.
    pub fn finished(&mut self, exported: Box<Exported>) {
        self.done = Some(exported);
    }
}

fn default_rows(run: &RunView) -> usize {
    // The table's own count would be read off private rows; a declared one is public.
    let declared = match &run.claims {
        Some(Ok(claims)) => claims.schema.rows,
        _ => None,
    };
    declared.map_or(10_000, |rows| {
        usize::try_from(rows.value)
            .unwrap_or(MOST_ROWS)
            .clamp(1, MOST_ROWS)
    })
}

/// That an export is written, and how much.
pub fn written(cx: &Cx<'_>, exported: &Exported) -> String {
    let key = exported.records.choose("event-exported", "event-exported-images");
    let count = format::count(exported.written.rows);
    cx.texts.with(key, [("rows", count.into())])
}

/// What the run makes.
fn records(run: &RunView) -> Records {
    if is_of_images(run) {
        Records::Images
    } else {
        Records::Rows
    }
}

/// Whether the run makes images rather than rows.
fn is_of_images(run: &RunView) -> bool {
    run.plan
        .as_ref()
        .is_some_and(|plan| plan.settings.images().is_some())
}

/// Beside the data, or in the home folder for the tables that ship with the program.
fn default_path(run: &RunView) -> PathBuf {
    let own = match &run.claims {
        Some(Ok(claims)) => claims.path.as_ref(),
        _ => None,
    };
    let folder = own
        .and_then(|path| path.parent().map(Path::to_path_buf))
        .or_else(|| directories::UserDirs::new().map(|dirs| dirs.home_dir().to_path_buf()))
        .unwrap_or_default();
    let stem = run
        .dataset
        .rsplit_once('.')
        .map_or(run.dataset.as_str(), |(stem, _)| stem);
    // Images without an ending become a folder of pictures.
    let ending = if is_of_images(run) { "" } else { ".csv" };
    folder.join(format!("{stem}-synthetic{ending}"))
}

fn files(ui: &mut Ui, cx: &Cx<'_>, path: &Path) {
    let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
        return;
    };
    let papers: Vec<String> = exported_files(path)[1..]
        .iter()
        .filter_map(|paper| Some(paper.file_name()?.to_string_lossy().into_owned()))
        .collect();
    let text = cx.texts.with(
        "export-files",
        [("name", name.into()), ("papers", papers.join(", ").into())],
    );
    ui.add(egui::Label::new(cx.palette.caption(text)).wrap());
}

fn empty(ui: &mut Ui, cx: &mut Cx<'_>) {
    let t = cx.texts;
    widgets::card(ui, cx.palette, |ui| {
        ui.set_min_height((ui.available_height() - 2.0).max(160.0));
        ui.with_layout(Layout::top_down(Align::Center), |ui| {
            ui.add_space((ui.available_height() * 0.3).min(200.0));
            ui.label(cx.palette.title(t.get("export-empty-title")));
            ui.add(egui::Label::new(t.get("export-empty")).wrap());
            cx.button(ui, Action::Go(Page::Train), None);
        });
    });
}
