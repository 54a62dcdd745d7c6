//! The export in progress: one at a time, on a thread of its own.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::engine::command::ExportRequest;
use crate::engine::coordinator::Coordinator;
use crate::engine::event::{Area, EngineEvent, Exported, Problem};
use crate::engine::export_job::{ExportJob, exported_files};
use crate::engine::release_table;
use crate::engine::snapshot::Exporting;
use crate::export::{AtomicFile, ExportError, check_not_input, check_target};
use crate::message;
use crate::num::Progress;

/// How an export ended without files.
#[derive(Debug)]
pub enum ExportEnd {
    /// The person gave it up.
    Cancelled,
    /// A file is there already.
    Exists(PathBuf),
    /// It failed.
    Failed(Problem),
}

#[derive(Default)]
pub(super) struct ExportState {
    busy: Option<(PathBuf, usize, Progress)>,
}

impl ExportState {
    pub fn is_busy(&self) -> bool {
        self.busy.is_some()
    }

    pub fn cancel(&self) {
        if let Some((_, _, progress)) = &self.busy {
            progress.cancel();
        }
    }

    pub fn shown(&self) -> Option<Exporting> {
        self.busy.as_ref().map(|(path, total, progress)| Exporting {
            path: path.clone(),
            rows: (progress.fraction().unwrap_or(0.0) * *total as f64) as usize,
            total: *total,
        })
    }
}

impl Coordinator {
    pub(super) fn start_export(&mut self, request: ExportRequest) {
        if self.export.is_busy() {
            return self.fail(Problem::plain(
                Area::Export,
                message!(
                    "say-export-busy",
                    "another export is being written; wait for it or cancel it"
                ),
            ));
        }
        let Some(finished) = self.runs.finished(request.run) else {
            let message = message!(
                "say-no-generator",
                "run {run} has no generator: only a run that has ended can be exported",
                run = request.run.0
            );
            return self.fail(Problem::plain(Area::Export, message));
        };
        // What the run learned from, and the table at hand, with their schemas.
        let open = self.dataset.current();
        let inputs: Vec<PathBuf> = [Some(&finished.dataset), open]
            .into_iter()
            .flatten()
            .flat_map(|dataset| dataset.files())
            .collect();
        let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
        if let Err(error) = check_not_input(&exported_files(&request.path), &inputs) {
            return self.fail(Problem::new(Area::Export, &error));
        }
        let progress = Progress::default();
        self.export.busy = Some((request.path.clone(), request.rows, progress.clone()));
        let job = ExportJob {
            request,
            finished,
            ledger: self.ledger.clone(),
            progress,
        };
        let notes = self.note_sender.clone();
        let spawned = std::thread::Builder::new()
            .name("export".into())
            .spawn(move || drop(notes.send(super::Note::Exported(Box::new(job.run())))));
        if let Err(error) = spawned {
            self.export.busy = None;
            self.fail(Problem::new(
                Area::Export,
                &super::super::EngineError::Thread(error),
            ));
        }
    }

    pub(super) fn export_ended(&mut self, outcome: Result<Exported, ExportEnd>) {
        self.export.busy = None;
        if let Ok(exported) = &outcome {
            self.runs.exported(exported.run);
        }
        self.tell(match outcome {
            Ok(exported) => EngineEvent::Exported(Box::new(exported)),
            Err(ExportEnd::Cancelled) => EngineEvent::ExportCancelled,
            Err(ExportEnd::Exists(path)) => EngineEvent::TargetExists(path),
            // Whatever failed, a file that was asked for is not written.
            Err(ExportEnd::Failed(problem)) => EngineEvent::Failed(Problem {
                area: Area::Export,
                ..problem
            }),
        });
    }

    /// Writes a figure on a thread of its own.
    pub(super) fn save_figure(&mut self, path: PathBuf, content: Arc<Vec<u8>>, overwrite: bool) {
        let notes = self.note_sender.clone();
        let spawned = std::thread::Builder::new().name("figure".into()).spawn(move || {
            let outcome = write_figure(&path, &content, overwrite).map(|()| path);
            drop(notes.send(super::Note::FigureSaved(outcome)));
        });
        if let Err(error) = spawned {
            self.fail(Problem::new(
                Area::Figure,
                &super::super::EngineError::Thread(error),
            ));
        }
    }

    /// Writes the statistics of this session on a thread of its own.
    pub(super) fn save_releases(&mut self, path: PathBuf, overwrite: bool) {
        let (notes, releases) = (self.note_sender.clone(), self.releases.done());
        let open = self.dataset.current();
        let inputs: Vec<PathBuf> = open.into_iter().flat_map(|dataset| dataset.files()).collect();
        let spawned = std::thread::Builder::new().name("figure".into()).spawn(move || {
            let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
            let outcome = check_not_input(std::slice::from_ref(&path), &inputs)
                .and_then(|()| release_table::write(&releases, &path, overwrite))
                .map(|()| path)
                .map_err(|error| match error {
                    ExportError::Exists { path } => ExportEnd::Exists(path),
                    error => ExportEnd::Failed(Problem::new(Area::Export, &error)),
                });
            drop(notes.send(super::Note::FigureSaved(outcome)));
        });
        if let Err(error) = spawned {
            self.fail(Problem::new(
                Area::Export,
                &super::super::EngineError::Thread(error),
            ));
        }
    }

    pub(super) fn figure_saved(&mut self, outcome: Result<PathBuf, ExportEnd>) {
        self.tell(match outcome {
            Ok(path) => EngineEvent::FigureSaved(path),
            Err(ExportEnd::Exists(path)) => EngineEvent::TargetExists(path),
            Err(ExportEnd::Cancelled) => EngineEvent::ExportCancelled,
            Err(ExportEnd::Failed(problem)) => EngineEvent::Failed(problem),
        });
    }
}

fn write_figure(path: &Path, content: &[u8], overwrite: bool) -> Result<(), ExportEnd> {
    let failed = |error: &ExportError| ExportEnd::Failed(Problem::new(Area::Figure, error));
    if !overwrite && path.exists() {
        return Err(ExportEnd::Exists(path.to_path_buf()));
    }
    check_target(path, overwrite).map_err(|error| failed(&error))?;
    let mut file = AtomicFile::create(path, overwrite).map_err(|error| failed(&error))?;
    file.write_all(content)
        .map_err(|source| failed(&ExportError::from_write(path, source)))?;
    file.commit().map_err(|error| failed(&error))
}
