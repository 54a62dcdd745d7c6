//! The window and the engine behind it.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use eframe::egui::{self, Context, Ui, vec2};

use crate::engine::event::{Area, Problem};
use crate::engine::settings::Settings;
use crate::engine::snapshot::Snapshot;
use crate::engine::{Engine, EngineError, Session, home_folder};
use crate::gui::messages::Note;
use crate::gui::theme::Palette;
use crate::gui::workbench::Workbench;

/// The size of the window on its first start, in points.
const SIZE: [f32; 2] = [1440.0, 900.0];
/// The least size, in points at a scale of one.
const LEAST: [f32; 2] = [560.0, 420.0];

/// The window, joined to its engine.
pub struct App {
    engine: Engine,
    workbench: Workbench,
}

impl App {
    /// Starts the engine on the folder `home` and makes the window's state.
    ///
    /// # Errors
    /// When the engine cannot be started.
    pub fn new(ctx: &Context, home: &Path, file: Option<PathBuf>) -> Result<Self, EngineError> {
        let repaint = ctx.clone();
        let engine = Engine::spawn(home, Arc::new(move || repaint.request_repaint()))?;
        let (settings, problem) = match Settings::load(home) {
            Ok(settings) => (settings, None),
            Err(error) => {
                let problem = Problem::new(Area::Settings, &error);
                (Settings::default(), Some(problem.message))
            }
        };
        let mut workbench = Workbench::new(ctx, settings);
        if let Some(problem) = problem {
            workbench.note(Note::Settings(problem));
        }
        workbench.offer(Session::last(home));
        if let Some(file) = file {
            workbench.open(file);
        }
        Ok(Self { engine, workbench })
    }

    /// The state of the window.
    pub fn workbench(&self) -> &Workbench {
        &self.workbench
    }

    /// The latest state of the engine.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.engine.snapshot()
    }
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &Context, _frame: &mut eframe::Frame) {
        self.workbench.observe(self.engine.drain());
        self.workbench.listen(ctx);
    }

    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        let snapshot = self.engine.snapshot();
        for command in self.workbench.frame(ui, &snapshot) {
            self.engine.send(command);
        }
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.panel_fill.to_normalized_gamma_f32()
    }
}

/// Opens the window and returns when it is closed.
///
/// # Errors
/// When the program's folder, the engine or the window system cannot be used.
pub fn run(file: Option<PathBuf>) -> Result<(), Box<dyn Error>> {
    let home = home_folder()?;
    let viewport = egui::ViewportBuilder::default()
        .with_title("Pointillist")
        .with_app_id("pointillist")
        .with_inner_size(SIZE)
        .with_min_inner_size(LEAST)
        .with_icon(icon())
        .with_drag_and_drop(true);
    let options = eframe::NativeOptions {
        viewport,
        system_font_fallback: false,
        ..Default::default()
    };
    eframe::run_native(
        "pointillist",
        options,
        Box::new(move |creation| {
            let app = App::new(&creation.egui_ctx, &home, file)?;
            Ok(Box::new(app))
        }),
    )?;
    Ok(())
}

/// The window's icon: dots that grow into a picture, in the colours of real, synthetic and privacy.
fn icon() -> egui::IconData {
    const SIDE: u32 = 64;
    const CELL: f32 = 16.0;
    let palette = Palette::LIGHT;
    let colors = [palette.accent, palette.second, palette.real];
    let mut rgba = Vec::with_capacity((SIDE * SIDE * 4) as usize);
    for y in 0..SIDE {
        for x in 0..SIDE {
            let place = vec2(x as f32 + 0.5, y as f32 + 0.5);
            let cell = (place / CELL).floor();
            let radius = 2.5 + (cell.x + cell.y) * 0.75;
            let distance = (place - (cell + vec2(0.5, 0.5)) * CELL).length();
            let cover = (radius - distance + 0.5).clamp(0.0, 1.0);
            let color = colors[(cell.x as usize * 2 + cell.y as usize) % 3];
            rgba.extend([color.r(), color.g(), color.b(), (cover * 255.0) as u8]);
        }
    }
    egui::IconData {
        rgba,
        width: SIDE,
        height: SIDE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_icon_has_its_size_and_is_not_empty() {
        let icon = icon();
        assert_eq!(icon.rgba.len(), (icon.width * icon.height * 4) as usize);
        assert!(icon.rgba.chunks(4).any(|pixel| pixel[3] == 255));
    }
}
