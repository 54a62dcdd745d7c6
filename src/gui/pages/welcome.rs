//! The first thing a person sees: sample tables, recent files, and the ways to open a table or images.

use std::path::PathBuf;

use eframe::egui::{
    self, Align, Key, Layout, Sense, Stroke, StrokeKind, TextEdit, Ui, WidgetInfo, accesskit::Role, vec2,
};

use crate::data::samples::{self, Sample};
use crate::engine::Session;
use crate::engine::command::{Command, DataSource};
use crate::engine::event::Area;
use crate::gui::command::{Action, Page};
use crate::gui::context::{Cx, Intent};
use crate::gui::problems;
use crate::gui::theme::{BODY, STEP};
use crate::gui::widgets;

/// The widest that the page's column gets.
const WIDTH: f32 = 760.0;
/// The least width of a sample's card.
const CARD: f32 = 220.0;

/// What the page remembers between frames.
#[derive(Default)]
pub struct Welcome {
    path: String,
    /// Whether the path field takes the keyboard in the next frame.
    wants_focus: bool,
    /// What was worked on before, to be taken up again.
    pub last: Option<Session>,
}

impl Welcome {
    /// Draws the page.
    pub fn show(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            let width = WIDTH.min(ui.available_width() - 4.0 * STEP);
            let side = ((ui.available_width() - width) / 2.0).max(0.0);
            ui.add_space((ui.available_height() * 0.08).clamp(STEP, 6.0 * STEP));
            ui.horizontal_top(|ui| {
                ui.add_space(side);
                ui.vertical(|ui| {
                    ui.set_width(width);
                    self.column(ui, cx);
                });
            });
        });
    }

    fn column(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let t = cx.texts;
        ui.label(cx.palette.title(t.get("welcome-title")));
        ui.label(t.get("welcome-lead"));
        ui.add_space(2.0 * STEP);

        self.again(ui, cx);
        ui.label(cx.palette.strong(t.get("welcome-samples")));
        samples(ui, cx);
        ui.add_space(STEP);

        ui.label(cx.palette.strong(t.get("welcome-open-title")));
        widgets::card(ui, cx.palette, |ui| {
            ui.horizontal_wrapped(|ui| {
                cx.accent_button(ui, Action::OpenFile, None);
                cx.button(ui, Action::OpenFolder, None);
                ui.label(cx.palette.caption(t.get("welcome-drop")));
            });
            ui.add(egui::Label::new(cx.palette.caption(t.get("welcome-images"))).wrap());
            self.path_field(ui, cx);
            // What was wrong with a file stands beside the field that named it.
            problems::show(ui, cx, Area::Load);
            problems::show(ui, cx, Area::Schema);
        });
        ui.add_space(STEP);

        if !cx.settings.recent.is_empty() {
            ui.label(cx.palette.strong(t.get("welcome-recent")));
            widgets::card(ui, cx.palette, |ui| recent(ui, cx));
        }
        ui.add_space(STEP);
        ui.label(cx.palette.caption_on_ground(t.get("welcome-keys")));
    }

    /// The way back to what was worked on before.
    fn again(&self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let Some(session) = &self.last else { return };
        let t = cx.texts;
        widgets::card(ui, cx.palette, |ui| {
            ui.horizontal_wrapped(|ui| {
                let name = [("name", session.data.name.as_str().into())];
                let tip = t.get("session-resume-tip");
                if ui
                    .button(t.with("session-resume", name))
                    .on_hover_text(tip)
                    .clicked()
                {
                    cx.intents.push(Intent::Resume(Box::new(session.clone())));
                }
                ui.label(cx.palette.caption(tip));
            });
        });
        ui.add_space(STEP);
    }

    /// The path field takes the keyboard.
    pub fn focus_path(&mut self) {
        self.wants_focus = true;
    }

    fn path_field(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let t = cx.texts;
        ui.horizontal(|ui| {
            let label = ui.label(t.get("path-label"));
            // What the button beside it leaves, so that the row ends where its card does in any language.
            let open = t.get("path-open");
            let room = ui.available_width() - ui.spacing().item_spacing.x - widgets::button_width(ui, open);
            let field = ui.add(
                TextEdit::singleline(&mut self.path)
                    .hint_text(t.get("path-hint"))
                    .desired_width(room.max(120.0)),
            );
            if std::mem::take(&mut self.wants_focus) {
                field.request_focus();
            }
            let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            field.labelled_by(label.id);
            let ready = !self.path.trim().is_empty();
            let pressed = ui
                .add_enabled(ready, egui::Button::new(open))
                .on_disabled_hover_text(t.get("path-empty"))
                .clicked();
            if ready && (entered || pressed) {
                cx.intents.push(Intent::Open(typed_path(&self.path)));
            }
        });
    }
}

/// Says why a page that was asked for is not the one in view.
pub fn needed(ui: &mut Ui, cx: &Cx<'_>, page: Page) {
    let name = cx.texts.get(Action::Go(page).described().key);
    let line = cx.texts.with("page-needs-data", [("page", name.into())]);
    egui::Frame::new().inner_margin(12).show(ui, |ui| {
        widgets::card(ui, cx.palette, |ui| {
            ui.horizontal(|ui| {
                widgets::dot(ui, cx.palette.warn);
                ui.label(line);
            });
        });
    });
}

/// A path as a person types or pastes it: without quotes around it, with `~` for the home folder.
pub fn typed_path(text: &str) -> PathBuf {
    let text = text.trim();
    let text = text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .or_else(|| text.strip_prefix("file://"))
        .unwrap_or(text);
    if let Some(rest) = text.strip_prefix("~/")
        && let Some(home) = directories::BaseDirs::new()
    {
        return home.home_dir().join(rest);
    }
    PathBuf::from(text)
}

fn samples(ui: &mut Ui, cx: &mut Cx<'_>) {
    let gap = ui.spacing().item_spacing.x;
    let columns = ((ui.available_width() + gap) / (CARD + gap))
        .floor()
        .clamp(1.0, 3.0) as usize;
    let width = (ui.available_width() - gap * (columns as f32 - 1.0)) / columns as f32;
    for row in samples::all().chunks(columns) {
        ui.horizontal_top(|ui| {
            for sample in row {
                if sample_card(ui, cx, sample, width) {
                    cx.send(Command::Open(DataSource::Sample(sample.id)));
                }
            }
        });
    }
}

fn sample_card(ui: &mut Ui, cx: &Cx<'_>, sample: &Sample, width: f32) -> bool {
    let key = sample_key(sample);
    let name = cx.texts.get(&key);
    let about_key = format!("{key}-about");
    let about = cx.texts.get(&about_key);
    let inner = ui.allocate_ui_with_layout(vec2(width, 96.0), Layout::top_down(Align::Min), |ui| {
        cx.palette
            .card()
            .show(ui, |ui| {
                ui.set_width(ui.available_width());
                ui.set_min_height(72.0);
                ui.spacing_mut().item_spacing.y = 4.0;
                ui.label(cx.palette.strong(name));
                ui.add(egui::Label::new(cx.palette.caption(about)).wrap());
            })
            .response
            .rect
    });
    let response = ui.interact(
        inner.inner,
        ui.scope_id().with(("sample", sample.id)),
        Sense::click(),
    );
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
    if response.hovered() || response.has_focus() {
        let line = Stroke::new(1.5, cx.palette.accent);
        ui.painter()
            .rect_stroke(inner.inner, 8.0, line, StrokeKind::Inside);
    }
    response
        .on_hover_text(cx.texts.get("welcome-sample-tip"))
        .clicked()
}

/// The key of a sample's texts: `sample-` and its name, with dashes.
fn sample_key(sample: &Sample) -> String {
    format!("sample-{}", sample.id.replace('_', "-"))
}

fn recent(ui: &mut Ui, cx: &mut Cx<'_>) {
    ui.spacing_mut().item_spacing.y = 2.0;
    for path in &cx.settings.recent {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let folder = path
            .parent()
            .map(|folder| folder.display().to_string())
            .unwrap_or_default();
        ui.horizontal(|ui| {
            let button = widgets::quiet_button(ui, cx.palette, &name);
            let room = ui.available_width();
            ui.allocate_ui_with_layout(
                vec2(room, BODY + 4.0),
                Layout::left_to_right(Align::Center),
                |ui| {
                    widgets::truncated(ui, cx.palette.caption(folder.as_str()));
                },
            );
            if button.on_hover_text(path.display().to_string()).clicked() {
                cx.intents.push(Intent::Open(path.clone()));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::settings::Language;
    use crate::gui::i18n::Texts;

    #[test]
    fn every_sample_has_its_texts_in_both_languages() {
        for language in [Language::English, Language::Chinese] {
            let texts = Texts::new(language);
            for sample in samples::all() {
                let key = sample_key(sample);
                assert!(texts.has(&key) && texts.has(&format!("{key}-about")), "{key}");
            }
        }
    }

    #[test]
    fn paths_are_read_as_people_paste_them() {
        assert_eq!(typed_path("  a b.csv "), PathBuf::from("a b.csv"));
        assert_eq!(typed_path("\"a b.csv\""), PathBuf::from("a b.csv"));
        assert_eq!(typed_path("file:///data/a.csv"), PathBuf::from("/data/a.csv"));
        assert!(!typed_path("~/a.csv").starts_with("~"));
    }
}
