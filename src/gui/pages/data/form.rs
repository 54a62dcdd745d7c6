//! How the file is read: shown beside its rows, and changed there.

use eframe::egui::{self, ComboBox, Ui};

use crate::data::image::ImageOptions;
use crate::data::{FileForm, Mark, Provenance, ReadOptions, TextEncoding};
use crate::engine::command::{Command, DataSource, SchemaEdit, SchemaSource};
use crate::engine::snapshot::Dataset;
use crate::gui::context::Cx;
use crate::gui::theme::STEP;
use crate::gui::widgets;

/// Delimiters that are offered; another one that is in use is offered as well.
const DELIMITERS: [u8; 5] = *b",;\t|:";
/// Characters around fields.
const QUOTES: [Option<u8>; 3] = [Some(b'"'), Some(b'\''), None];
/// Characters before a quote within quotes, when it is not doubled.
const ESCAPES: [Option<u8>; 2] = [None, Some(b'\\')];
/// Characters that begin a line that is no row.
const COMMENTS: [Option<u8>; 4] = [None, Some(b'#'), Some(b'%'), Some(b'!')];

/// What a person has changed and not yet applied.
#[derive(Default)]
pub struct FormEditor {
    generation: u64,
    draft: FileForm,
}

impl FormEditor {
    /// Draws what the file is read by, as a button that opens the way to change it; nothing for files that say it
    /// themselves.
    pub fn show(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset) {
        let form = dataset.table.form();
        if dataset.path.is_none() || form.is_empty() {
            return;
        }
        if self.generation != dataset.generation {
            *self = Self {
                generation: dataset.generation,
                draft: FileForm::default(),
            };
        }
        let t = cx.texts;
        let is_open = dataset.schema.read_provenance() == Some(Provenance::Suggested);
        let line = t.with("form-line", [("form", summary(cx, form).into())]);
        let button = if is_open {
            ui.button(egui::RichText::new(line).color(cx.palette.warn_text))
        } else {
            widgets::quiet_button(ui, cx.palette, &line)
        }
        .on_hover_text(t.get("form-tip"));
        egui::Popup::from_toggle_button_response(&button)
            .kind(egui::PopupKind::Popup)
            .close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside)
            .show(|ui| {
                ui.set_width(330.0);
                ui.label(cx.palette.strong(t.get("form-title")));
                provenance(ui, cx, dataset);
                ui.add_space(STEP / 2.0);
                let now = self.draft.or(form);
                egui::Grid::new("form").num_columns(2).show(ui, |ui| {
                    self.fields(ui, cx, dataset, &now);
                });
                ui.add_space(STEP / 2.0);
                ui.add(egui::Label::new(cx.palette.caption(t.get("form-again"))).wrap());
                self.apply(ui, cx, dataset);
            });
    }

    fn fields(&mut self, ui: &mut Ui, cx: &Cx<'_>, dataset: &Dataset, now: &FileForm) {
        let t = cx.texts;
        if let Some(known) = now.encoding {
            let offered = TextEncoding::OFFERED.map(|encoding| (encoding, encoding.to_string()));
            if let Some(chosen) = choose(ui, t.get("form-encoding"), known, known.to_string(), offered) {
                self.draft.encoding = Some(chosen);
            }
        }
        let named = |byte: Option<u8>| mark_name(cx, byte);
        let marks = |known: Mark, offered: &[Option<u8>]| {
            let mut bytes = offered.to_vec();
            if !bytes.contains(&known.byte()) {
                bytes.push(known.byte());
            }
            bytes
                .into_iter()
                .map(|byte| (byte.map_or(Mark::NONE, Mark::of), named(byte)))
                .collect::<Vec<_>>()
        };
        let delimiters = DELIMITERS.map(Some);
        for (key, known, offered, place) in [
            (
                "form-delimiter",
                now.delimiter,
                &delimiters[..],
                &mut self.draft.delimiter,
            ),
            ("form-quote", now.quote, &QUOTES[..], &mut self.draft.quote),
            ("form-escape", now.escape, &ESCAPES[..], &mut self.draft.escape),
            (
                "form-comment",
                now.comment,
                &COMMENTS[..],
                &mut self.draft.comment,
            ),
        ] {
            let Some(known) = known else { continue };
            let shown = named(known.byte());
            if let Some(chosen) = choose(ui, t.get(key), known, shown, marks(known, offered)) {
                *place = Some(chosen);
            }
        }
        for (key, known, place) in [
            ("form-table", &now.table, &mut self.draft.table),
            ("form-sheet", &now.sheet, &mut self.draft.sheet),
        ] {
            let Some(known) = known else { continue };
            let parts = dataset.table.parts().iter();
            let offered = parts.map(|name| (name.clone(), name.clone()));
            if let Some(chosen) = choose(ui, t.get(key), known.clone(), known.clone(), offered) {
                *place = Some(chosen);
            }
        }
    }

    fn apply(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset) {
        let changed = self.draft.beyond(dataset.table.form());
        let t = cx.texts;
        let is_sound = self.draft.or(dataset.table.form()).problems().is_empty();
        let button = ui
            .add_enabled_ui(!changed.is_empty() && is_sound, |ui| {
                widgets::accent_button(ui, cx.palette, t.get("form-apply"))
            })
            .inner
            .on_disabled_hover_text(t.get("form-apply-nothing"));
        let Some(path) = dataset.path.clone().filter(|_| button.clicked()) else {
            return;
        };
        // What a person chose is declared; what was declared before stays so.
        let before = dataset.schema.read.clone().unwrap_or_default();
        let before = Some(before).filter(|form| form.provenance == Some(Provenance::Declared));
        let said = FileForm {
            provenance: Some(Provenance::Declared),
            ..changed
        };
        let form = said.or(&before.unwrap_or_default());
        cx.send(Command::Open(DataSource::File {
            path,
            options: ReadOptions {
                form,
                ..ReadOptions::default()
            },
            images: ImageOptions::default(),
            schema: SchemaSource::Beside,
        }));
        ui.close();
    }
}

/// Where it is known from, and the way to let it stand.
fn provenance(ui: &mut Ui, cx: &mut Cx<'_>, dataset: &Dataset) {
    let t = cx.texts;
    let (key, color) = match dataset.schema.read_provenance() {
        None => ("form-usual", cx.palette.muted),
        Some(Provenance::Suggested) => ("form-suggested", cx.palette.warn_text),
        Some(Provenance::Accepted) => ("form-accepted", cx.palette.warn_text),
        Some(Provenance::Declared | Provenance::Bought) => ("form-declared", cx.palette.ok),
    };
    ui.add(egui::Label::new(egui::RichText::new(t.get(key)).color(color)).wrap());
    if dataset.schema.read_provenance() == Some(Provenance::Suggested)
        && ui
            .button(t.get("form-accept"))
            .on_hover_text(t.get("accept-tip"))
            .clicked()
    {
        cx.send(Command::EditSchema(SchemaEdit::AcceptForm));
    }
}

/// A choice of one; what was chosen, if that is another.
pub(super) fn choose<T: PartialEq + Clone>(
    ui: &mut Ui,
    label: &str,
    known: T,
    shown: String,
    offered: impl IntoIterator<Item = (T, String)>,
) -> Option<T> {
    let name = ui.label(label);
    let mut chosen = known.clone();
    ComboBox::from_id_salt(label)
        .icon(widgets::arrow)
        .selected_text(shown)
        .width(180.0)
        .show_ui(ui, |ui| {
            for (value, text) in offered {
                ui.selectable_value(&mut chosen, value, text);
            }
        })
        .response
        .labelled_by(name.id);
    ui.end_row();
    (chosen != known).then_some(chosen)
}

/// What the file is read by, in a few words.
fn summary(cx: &Cx<'_>, form: &FileForm) -> String {
    let mut words = Vec::new();
    words.extend(form.encoding.map(|encoding| encoding.to_string()));
    words.extend(form.delimiter.map(|mark| mark_name(cx, mark.byte())));
    let unusual = [
        ("form-quote", form.quote, Some(b'"')),
        ("form-comment", form.comment, None),
    ];
    for (key, mark, usual) in unusual {
        if let Some(mark) = mark.filter(|mark| mark.byte() != usual) {
            words.push(format!("{} {}", cx.texts.get(key), mark_name(cx, mark.byte())));
        }
    }
    words.extend(form.table.clone());
    words.extend(form.sheet.clone());
    words.join(" · ")
}

fn mark_name(cx: &Cx<'_>, byte: Option<u8>) -> String {
    let key = match byte {
        None => "mark-none",
        Some(b',') => "mark-comma",
        Some(b';') => "mark-semicolon",
        Some(b'\t') => "mark-tab",
        Some(b'|') => "mark-bar",
        Some(b':') => "mark-colon",
        Some(b'"') => "mark-double",
        Some(b'\'') => "mark-single",
        Some(b'\\') => "mark-backslash",
        Some(byte) => return char::from(byte).to_string(),
    };
    cx.texts.get(key).to_owned()
}
