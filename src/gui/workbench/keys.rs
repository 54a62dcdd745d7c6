//! What keys do anywhere in the window.

use eframe::egui::{self, Context, Key, Modifiers};

use crate::gui::command::{Action, TABLE};
use crate::gui::context::Cx;
use crate::gui::workbench::Workbench;

impl Workbench {
    /// Acts on the keys that are pressed; while a question is asked, they are its own.
    pub(super) fn shortcuts(&self, ctx: &Context, cx: &mut Cx<'_>) {
        if self.question.is_some() {
            return;
        }
        // A text that is being typed has its own undo.
        let typing = ctx
            .memory(egui::Memory::focused)
            .is_some_and(|id| egui::widgets::text_edit::TextEditState::load(ctx, id).is_some());
        for described in &TABLE {
            let is_typed = matches!(described.action, Action::Undo | Action::Redo | Action::Keys);
            if typing && is_typed {
                continue;
            }
            if let Some(shortcut) = described.shortcut
                && ctx.input_mut(|input| input.consume_shortcut(&shortcut))
            {
                cx.act(described.action);
            }
        }
        // A second way to make a change again, as some systems have it.
        if !typing && ctx.input_mut(|input| input.consume_key(Modifiers::COMMAND, Key::Y)) {
            cx.act(Action::Redo);
        }
        // What a keyboard may say for a question mark, and the key that many programs have for help.
        let asks = !typing && ctx.input_mut(|input| input.consume_key(Modifiers::SHIFT, Key::Slash));
        if asks || ctx.input_mut(|input| input.consume_key(Modifiers::NONE, Key::F1)) {
            cx.act(Action::Keys);
        }
        // Keyboards where plus needs Shift or shares its key with the equals sign.
        if ctx.input_mut(|input| input.consume_key(Modifiers::COMMAND, Key::Equals)) {
            cx.act(Action::ZoomIn);
        }
    }
}
