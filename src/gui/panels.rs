//! Panels whose size a person can drag: how large each is belongs to a session, and comes back with it.

use std::ops::RangeInclusive;

use eframe::egui::{self, Id, Ui};

use crate::engine::settings::Sizes;
use crate::gui::context::{Cx, Intent};

/// A panel whose size can be dragged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sized {
    /// The plan's form in Train.
    Plan,
    /// The question's form in Explore.
    Question,
    /// The table's rows in Data.
    Rows,
    /// The log.
    Log,
}

impl Sized {
    /// Its size among all.
    fn of(self, sizes: &Sizes) -> Option<f32> {
        match self {
            Self::Plan => sizes.plan,
            Self::Question => sizes.question,
            Self::Rows => sizes.rows,
            Self::Log => sizes.log,
        }
    }

    /// Remembers its size among all.
    pub fn remember(self, sizes: &mut Sizes, size: f32) {
        let kept = match self {
            Self::Plan => &mut sizes.plan,
            Self::Question => &mut sizes.question,
            Self::Rows => &mut sizes.rows,
            Self::Log => &mut sizes.log,
        };
        *kept = Some(size);
    }

    /// Draws the panel. It has the size that the layout says when that has come from elsewhere (a session), and tells
    /// the layout its size whenever a person has dragged it.
    pub fn show(
        self,
        ui: &mut Ui,
        cx: &mut Cx<'_>,
        panel: egui::Panel,
        (usual, range): (f32, RangeInclusive<f32>),
        add_contents: impl FnOnce(&mut Ui, &mut Cx<'_>),
    ) {
        let memory = Id::unique(("size", self));
        let seen = ui.data(|data| data.get_temp::<f32>(memory));
        let panel = match self.of(&cx.settings.sizes) {
            Some(wanted) if !seen.is_some_and(|seen| same(seen, wanted)) => {
                panel.exact_size(wanted.clamp(*range.start(), *range.end()))
            }
            _ => panel.resizable(true).default_size(usual).size_range(range),
        };
        let size = panel.show(ui, |ui| add_contents(ui, cx)).response.rect.size();
        let length = match self {
            Self::Plan | Self::Question => size.x,
            Self::Rows | Self::Log => size.y,
        };
        ui.data_mut(|data| data.insert_temp(memory, length));
        if !self
            .of(&cx.settings.sizes)
            .is_some_and(|known| same(known, length))
        {
            cx.intents.push(Intent::Resized(self, length));
        }
    }
}

/// Whether two sizes are the same to the eye.
fn same(a: f32, b: f32) -> bool {
    (a - b).abs() < 0.5
}
