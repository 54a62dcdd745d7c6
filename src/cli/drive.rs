//! Drives the engine for a command: sends, waits, tells the progress, and stops cleanly on Ctrl-C.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::cli::output::{CliError, warn};
use crate::engine::{Area, Command, DataSource, Engine, EngineEvent, SchemaSource, home_folder};

/// How long to wait for an event before looking at the interrupt flag and the progress again.
const TICK: Duration = Duration::from_millis(100);

/// An engine, and whether the person has asked to stop.
pub struct Driver {
    /// The engine.
    pub engine: Engine,
    interrupted: Arc<AtomicBool>,
}

impl Driver {
    /// Starts an engine on the program's folder and takes over Ctrl-C.
    ///
    /// # Errors
    /// When the engine cannot be started.
    pub fn start() -> Result<Self, CliError> {
        let home = home_folder().map_err(|error| CliError::from_error(&error))?;
        let engine = Engine::spawn(&home, Arc::new(|| {})).map_err(|error| CliError::from_error(&error))?;
        let interrupted = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&interrupted);
        // A second Ctrl-C while the first is being obeyed ends the program: the ledger keeps the reservation.
        ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        })
        .map_err(|error| CliError::failure("Ctrl-C cannot be handled here", &error))?;
        Ok(Self { engine, interrupted })
    }

    /// Whether the person has pressed Ctrl-C.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }

    /// Opens a file and waits until it is there.
    ///
    /// # Errors
    /// When it cannot be read, or the person interrupted.
    pub fn open(&self, path: PathBuf, schema: SchemaSource) -> Result<(), CliError> {
        let options = crate::data::ReadOptions::default();
        self.engine.send(Command::Open(DataSource::File {
            path,
            options,
            schema,
        }));
        let mut cancelled = false;
        self.wait(|driver, event| match event {
            Some(EngineEvent::Opened { .. }) => Some(Ok(())),
            Some(EngineEvent::LoadCancelled) => Some(Err(CliError::from_interrupt())),
            Some(EngineEvent::Failed(problem)) if matches!(problem.area, Area::Load | Area::Schema) => {
                Some(Err(problem.into()))
            }
            _ => {
                if driver.is_interrupted() && !cancelled {
                    cancelled = true;
                    driver.engine.send(Command::CancelLoad);
                }
                None
            }
        })
    }

    /// Hands every event, and `None` once a tick, to `decide` until it has an answer. Warnings are printed.
    ///
    /// # Errors
    /// What `decide` answers; or when the engine has ended.
    pub fn wait<T>(
        &self,
        mut decide: impl FnMut(&Self, Option<EngineEvent>) -> Option<Result<T, CliError>>,
    ) -> Result<T, CliError> {
        loop {
            let event = self.engine.next_event(TICK);
            if let Some(EngineEvent::Warning { message, .. }) = &event {
                warn(message.as_str());
            }
            if let Some(answer) = decide(self, event) {
                return answer;
            }
            if self.engine.has_ended() {
                return Err(CliError::Failure {
                    message: "the engine ended before the work was done".into(),
                    causes: Vec::new(),
                });
            }
        }
    }
}

impl CliError {
    fn from_interrupt() -> Self {
        Self::Failure {
            message: "stopped by Ctrl-C; nothing was written".into(),
            causes: Vec::new(),
        }
    }
}
