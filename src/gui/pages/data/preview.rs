//! The rows as they are: for the steward only. Rows are fetched as they come into view.

use std::ops::Range;

use eframe::egui::Ui;

use crate::engine::event::{Area, Problem};
use crate::engine::snapshot::Dataset;
use crate::gui::context::Cx;
use crate::gui::jobs;
use crate::gui::widgets::{self, RowText};

/// The width of a column at first.
const COLUMN: f32 = 118.0;
/// How many rows are fetched around the first one that is missing.
const WINDOW: usize = 96;

/// The rows in view, as text.
#[derive(Default)]
pub struct Preview {
    generation: u64,
    range: Range<usize>,
    cells: Vec<Vec<Option<String>>>,
    /// Why rows that lie in a file cannot be shown.
    problem: Option<Problem>,
}

impl Preview {
    /// Draws the rows.
    pub fn show(&mut self, ui: &mut Ui, cx: &Cx<'_>, dataset: &Dataset) {
        if self.generation != dataset.generation {
            *self = Self {
                generation: dataset.generation,
                ..Self::default()
            };
        }
        if let Some(problem) = &self.problem {
            jobs::problem(ui, cx, problem);
        }
        let names: Vec<&str> = dataset.table.column_names().collect();
        let height = ui.available_height();
        widgets::rows(
            ui,
            cx,
            ("preview", dataset.generation),
            &names,
            (height, COLUMN),
            dataset.table.rows(),
            Fetched {
                preview: self,
                dataset,
            },
        );
    }
}

/// The rows of a data set, fetched as they are asked for.
struct Fetched<'a> {
    preview: &'a mut Preview,
    dataset: &'a Dataset,
}

impl RowText for Fetched<'_> {
    fn cells(&mut self, at: usize) -> &[Option<String>] {
        let preview = &mut *self.preview;
        if !preview.range.contains(&at) {
            let start = at.saturating_sub(WINDOW / 4);
            let end = (start + WINDOW).min(self.dataset.table.rows());
            let fetched = self.dataset.table.preview(start..end);
            preview.problem = fetched
                .as_ref()
                .err()
                .map(|error| Problem::new(Area::Load, error));
            preview.cells = fetched.unwrap_or_default();
            preview.range = start..end;
        }
        preview
            .cells
            .get(at - preview.range.start)
            .map_or(&[], Vec::as_slice)
    }
}
