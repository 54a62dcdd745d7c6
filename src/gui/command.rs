//! What a person can do with a key or a button, each described once: the buttons, menus, shortcuts and the
//! palette all derive from this table.

use eframe::egui::{Key, KeyboardShortcut, Modifiers};

/// A page of the window, in the order of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Page {
    /// The table and its schema.
    Data,
    /// What a budget buys, before it is spent.
    Explore,
    /// The plan and the live run.
    Train,
    /// Writing synthetic rows.
    Export,
    /// What was spent.
    Privacy,
}

impl Page {
    /// All pages, as the rail lists them.
    pub const ALL: [Self; 5] = [
        Self::Data,
        Self::Explore,
        Self::Train,
        Self::Export,
        Self::Privacy,
    ];
}

/// Something a person can ask for by a button, a menu or a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Chooses a file in a dialog.
    OpenFile,
    /// Chooses a folder of pictures in a dialog.
    OpenFolder,
    /// Gives the open table up.
    CloseTable,
    /// Writes the present work to a file.
    SaveSession,
    /// Writes the schema beside the data.
    SaveSchema,
    /// Lets all suggestions of the schema stand.
    AcceptAll,
    /// Starts the run as planned.
    Start,
    /// Pauses the latest run, or lets it go on.
    PauseOrResume,
    /// Asks whether to stop the latest run.
    Stop,
    /// Writes the synthetic table.
    Export,
    /// Goes to a page.
    Go(Page),
    /// Shows or hides the log.
    ToggleLog,
    /// Light or dark.
    ToggleTheme,
    /// English or Chinese.
    SwitchLanguage,
    /// Larger text and controls.
    ZoomIn,
    /// Smaller text and controls.
    ZoomOut,
    /// Text and controls at their designed size.
    ZoomReset,
    /// Takes the last change of schema, plan or form back.
    Undo,
    /// Makes it again.
    Redo,
    /// Folds the rail to its dots, or unfolds it.
    FoldRail,
    /// Puts the plan's form away, or brings it back.
    FoldPlan,
    /// Puts the table's rows away, or brings them back.
    FoldRows,
    /// Puts every panel back.
    ResetLayout,
    /// Lists all of these.
    Palette,
    /// Lists the keys.
    Keys,
}

/// How an action is shown and reached.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// The action.
    pub action: Action,
    /// The key of its label; its tooltip's key is the same with `-tip`.
    pub key: &'static str,
    /// Its shortcut.
    pub shortcut: Option<KeyboardShortcut>,
}

const fn described(action: Action, key: &'static str) -> Described {
    Described {
        action,
        key,
        shortcut: None,
    }
}

const fn keyed(action: Action, key: &'static str, shortcut: Key) -> Described {
    Described {
        action,
        key,
        shortcut: Some(KeyboardShortcut::new(Modifiers::COMMAND, shortcut)),
    }
}

/// Every action.
pub const TABLE: [Described; 29] = [
    keyed(Action::OpenFile, "action-open", Key::O),
    described(Action::OpenFolder, "action-open-folder"),
    described(Action::CloseTable, "action-close"),
    keyed(Action::SaveSchema, "action-save-schema", Key::S),
    described(Action::SaveSession, "action-save-session"),
    described(Action::AcceptAll, "action-accept-all"),
    keyed(Action::Start, "action-start", Key::Enter),
    keyed(Action::PauseOrResume, "action-pause-or-resume", Key::P),
    keyed(Action::Stop, "action-stop", Key::Period),
    keyed(Action::Export, "action-export", Key::E),
    keyed(Action::Go(Page::Data), "page-data", Key::Num1),
    keyed(Action::Go(Page::Explore), "page-explore", Key::Num2),
    keyed(Action::Go(Page::Train), "page-train", Key::Num3),
    keyed(Action::Go(Page::Export), "page-export", Key::Num4),
    keyed(Action::Go(Page::Privacy), "page-privacy", Key::Num5),
    keyed(Action::ToggleLog, "action-log", Key::L),
    keyed(Action::ToggleTheme, "action-theme", Key::T),
    described(Action::SwitchLanguage, "action-language"),
    keyed(Action::ZoomIn, "action-zoom-in", Key::Plus),
    keyed(Action::ZoomOut, "action-zoom-out", Key::Minus),
    keyed(Action::ZoomReset, "action-zoom-reset", Key::Num0),
    // Ahead of undo: a shortcut without Shift is taken to fit one with it.
    Described {
        action: Action::Redo,
        key: "action-redo",
        shortcut: Some(KeyboardShortcut::new(
            Modifiers::COMMAND.plus(Modifiers::SHIFT),
            Key::Z,
        )),
    },
    keyed(Action::Undo, "action-undo", Key::Z),
    keyed(Action::FoldRail, "action-fold-rail", Key::B),
    described(Action::FoldPlan, "action-fold-plan"),
    described(Action::FoldRows, "action-fold-rows"),
    described(Action::ResetLayout, "action-reset-layout"),
    keyed(Action::Palette, "action-palette", Key::K),
    Described {
        action: Action::Keys,
        key: "action-keys",
        shortcut: Some(KeyboardShortcut::new(Modifiers::NONE, Key::Questionmark)),
    },
];

impl Action {
    /// The action's entry in the table.
    pub fn described(self) -> &'static Described {
        // The table names every action (see the test), so the first entry is never taken for another.
        TABLE
            .iter()
            .find(|entry| entry.action == self)
            .unwrap_or(&TABLE[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::settings::Language;
    use crate::gui::i18n::Texts;

    #[test]
    fn every_action_stands_in_the_table_once_with_its_texts() {
        let texts = [Texts::new(Language::English), Texts::new(Language::Chinese)];
        for entry in TABLE {
            assert_eq!(
                TABLE.iter().filter(|other| other.action == entry.action).count(),
                1
            );
            assert_eq!(TABLE.iter().filter(|other| other.key == entry.key).count(), 1);
            for texts in &texts {
                assert!(texts.has(entry.key), "{}", entry.key);
                assert!(texts.has(&format!("{}-tip", entry.key)), "{}-tip", entry.key);
            }
        }
    }

    #[test]
    fn no_two_actions_share_a_shortcut() {
        let shortcuts: Vec<_> = TABLE.iter().filter_map(|entry| entry.shortcut).collect();
        for (index, one) in shortcuts.iter().enumerate() {
            assert!(!shortcuts[index + 1..].contains(one), "{one:?}");
        }
    }
}
