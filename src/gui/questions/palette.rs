//! The palette of all actions, and of what can be opened.

use std::path::PathBuf;

use eframe::egui::{self, Key, KeyboardShortcut, Modifiers, RichText, TextEdit, Ui};

use crate::data::samples;
use crate::engine::command::{Command, DataSource};
use crate::gui::command::{Action, Described, TABLE};
use crate::gui::context::{Cx, Intent};
use crate::gui::i18n::Texts;

/// An action's name in the palette. Pages say that they are gone to: one is called as what is done there.
fn palette_name(t: &Texts, described: &Described) -> String {
    let label = t.get(described.key);
    match described.action {
        Action::Go(_) => t.with("palette-go", [("page", label.into())]),
        _ => label.to_owned(),
    }
}

/// What is behind a line of the palette.
enum Does {
    Act(Action),
    Sample(&'static str),
    Open(PathBuf),
}

/// A line of the palette.
struct Line {
    does: Does,
    name: String,
    tip: String,
    shortcut: Option<KeyboardShortcut>,
}

/// All actions, the samples and the files that were open lately.
fn lines(cx: &Cx<'_>) -> Vec<Line> {
    let t = cx.texts;
    let actions = TABLE
        .iter()
        .filter(|described| described.action != Action::Palette)
        .map(|described| Line {
            does: Does::Act(described.action),
            name: palette_name(t, described),
            tip: t.get(&format!("{}-tip", described.key)).to_owned(),
            shortcut: described.shortcut,
        });
    let samples = samples::all().iter().map(|sample| Line {
        does: Does::Sample(sample.id),
        name: t.with("palette-sample", [("name", sample.title.into())]),
        tip: sample.attribution.to_owned(),
        shortcut: None,
    });
    let recent = cx.settings.recent.iter().map(|path| {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        Line {
            does: Does::Open(path.clone()),
            name: t.with("palette-recent", [("name", (&*name).into())]),
            tip: path.display().to_string(),
            shortcut: None,
        }
    });
    actions.chain(samples).chain(recent).collect()
}

/// Draws the palette; true once an action was taken.
pub(super) fn palette(ui: &mut Ui, cx: &mut Cx<'_>, filter: &mut String, at: &mut usize) -> bool {
    let t = cx.texts;
    // Taken before the field is drawn, which would use these keys itself.
    let pressed = |ui: &Ui, key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let (up, down, entered) = (
        pressed(ui, Key::ArrowUp),
        pressed(ui, Key::ArrowDown),
        pressed(ui, Key::Enter),
    );
    let field = ui.add(
        TextEdit::singleline(filter)
            .hint_text(t.get("palette-hint"))
            .desired_width(f32::INFINITY),
    );
    if ui.memory(|memory| memory.focused().is_none()) {
        field.request_focus();
    }
    if field.changed() {
        *at = 0;
    }
    field.accessible_name(t.get("palette-hint"));
    let wanted = filter.to_lowercase();
    let mut matching = lines(cx);
    matching.retain(|line| {
        line.name.to_lowercase().contains(&wanted) || line.tip.to_lowercase().contains(&wanted)
    });
    let last = matching.len().saturating_sub(1);
    *at = (*at + usize::from(down))
        .min(last)
        .saturating_sub(usize::from(up));
    let mut done = false;
    // Without a least height the list gets what little room a new dialog has.
    let list = egui::ScrollArea::vertical()
        .max_height(360.0)
        .min_scrolled_height(360.0);
    list.show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        for (index, line) in matching.iter().enumerate() {
            let shortcut = line
                .shortcut
                .map(|keys| ui.ctx().format_shortcut(&keys))
                .unwrap_or_default();
            let highlighted = index == *at;
            let button = egui::Button::selectable(highlighted, line.name.as_str())
                .shortcut_text(RichText::new(shortcut).color(cx.palette.muted))
                .min_size(egui::vec2(ui.available_width(), 28.0));
            let response = ui
                .add(button)
                .accessible_name(&line.name)
                .on_hover_text(&line.tip);
            if highlighted && (up || down) {
                response.scroll_to_me(None);
            }
            if response.clicked() || (entered && highlighted) {
                match &line.does {
                    Does::Act(action) => cx.act(*action),
                    Does::Sample(id) => cx.send(Command::Open(DataSource::Sample(id))),
                    Does::Open(path) => cx.intents.push(Intent::Open(path.clone())),
                }
                done = true;
            }
        }
        if matching.is_empty() {
            ui.label(cx.palette.caption(t.get("palette-none")));
        }
    });
    done
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::engine::settings::Language;

    #[test]
    fn no_two_actions_have_one_name_in_the_palette() {
        for language in [Language::English, Language::Chinese] {
            let texts = Texts::new(language);
            let names: BTreeSet<String> = TABLE.iter().map(|each| palette_name(&texts, each)).collect();
            assert_eq!(names.len(), TABLE.len());
        }
    }
}
