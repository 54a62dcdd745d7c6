//! What failed and still stands, by the part of the work: shown on the page that caused it until something of the
//! same part succeeds. The toast may have gone by then.

use eframe::egui::Ui;

use crate::engine::event::{Area, EngineEvent, Problem};
use crate::gui::context::Cx;
use crate::gui::jobs;
use crate::gui::widgets;

/// The latest problem of each part of the work.
#[derive(Default)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Takes in what happened: a failure stands, a success takes it away. Says which part was mended.
    pub fn hear(&mut self, event: &EngineEvent) -> &'static [Area] {
        match event {
            EngineEvent::Failed(problem) | EngineEvent::ReleaseFailed(problem) => {
                self.0.retain(|known| known.area != problem.area);
                self.0.push(problem.clone());
                &[]
            }
            // The schema's file is read together with the table's.
            EngineEvent::Opened { .. } | EngineEvent::LoadCancelled => {
                self.clear(&[Area::Load, Area::Schema])
            }
            EngineEvent::SchemaSaved(_) => self.clear(&[Area::Schema]),
            EngineEvent::Started { .. } => self.clear(&[Area::Train]),
            EngineEvent::Exported(_) => self.clear(&[Area::Export]),
            EngineEvent::FigureSaved(_) => self.clear(&[Area::Figure]),
            EngineEvent::Released(_) => self.clear(&[Area::Release]),
            _ => &[],
        }
    }

    /// Forgets the problems of these parts: they were mended, or are tried again.
    pub fn clear(&mut self, areas: &'static [Area]) -> &'static [Area] {
        self.0.retain(|problem| !areas.contains(&problem.area));
        areas
    }

    /// The problem of a part of the work.
    pub fn of(&self, area: Area) -> Option<&Problem> {
        self.0.iter().find(|problem| problem.area == area)
    }
}

/// Draws the problem of a part of the work, if there is one.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, area: Area) {
    if let Some(problem) = cx.problems.of(area) {
        ui.horizontal_top(|ui| {
            widgets::dot(ui, cx.palette.second);
            ui.vertical(|ui| jobs::problem(ui, cx, problem));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_stands_until_its_own_part_succeeds() {
        let mut problems = Problems::default();
        problems.hear(&EngineEvent::Failed(Problem::plain(Area::Load, "no such file")));
        problems.hear(&EngineEvent::FigureSaved("a.svg".into()));
        assert!(problems.of(Area::Load).is_some());
        problems.hear(&EngineEvent::Failed(Problem::plain(Area::Load, "empty")));
        assert_eq!(problems.of(Area::Load).unwrap().message.as_str(), "empty");
        let mended = problems.hear(&EngineEvent::Opened {
            name: "a.csv".into(),
            rows: 1,
        });
        assert!(mended.contains(&Area::Load));
        assert!(problems.of(Area::Load).is_none());
    }
}
