//! Drives the engine for a command: sends, waits, tells the progress, and stops cleanly when asked to.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::cli::form::FormArgs;
use crate::cli::output::{CliError, warn};
use crate::data::image::ImageOptions;
use crate::engine::{Area, Command, DataSource, Engine, EngineEvent, SchemaSource, home_folder};

/// How long to wait for an event before looking at the interrupt flag and the progress again.
const TICK: Duration = Duration::from_millis(100);

/// At this many requests to stop the program ends at once; the ledger keeps what is reserved.
const ENOUGH: usize = 3;

/// An engine, and how often the person has asked to stop.
pub struct Driver {
    /// The engine.
    pub engine: Engine,
    interrupts: Interrupts,
}

/// Counts requests to stop: Ctrl-C, and what the system sends when it ends a program or its terminal.
#[derive(Clone)]
pub struct Interrupts(Arc<AtomicUsize>);

impl Interrupts {
    /// Takes over the signals.
    ///
    /// # Errors
    /// When the system does not allow it.
    pub fn take_over() -> Result<Self, CliError> {
        let count = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&count);
        ctrlc::set_handler(move || {
            if counter.fetch_add(1, Ordering::SeqCst) + 1 >= ENOUGH {
                std::process::exit(130);
            }
        })
        .map_err(|error| CliError::failure("Ctrl-C cannot be handled here", &error))?;
        Ok(Self(count))
    }

    /// How many there were.
    pub fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Driver {
    /// Starts an engine on the program's folder and takes over Ctrl-C.
    ///
    /// # Errors
    /// When the engine cannot be started.
    pub fn start() -> Result<Self, CliError> {
        let home = home_folder().map_err(|error| CliError::from_error(&error))?;
        let engine = Engine::spawn(&home, Arc::new(|| {})).map_err(|error| CliError::from_error(&error))?;
        Ok(Self {
            engine,
            interrupts: Interrupts::take_over()?,
        })
    }

    /// Whether the person has asked to stop.
    pub fn is_interrupted(&self) -> bool {
        self.interrupts() > 0
    }

    /// How often the person has asked to stop.
    pub fn interrupts(&self) -> usize {
        self.interrupts.count()
    }

    /// Warns when nothing limits what is spent on the open table.
    pub fn warn_without_total(&self) {
        let snapshot = self.engine.snapshot();
        let Some(dataset) = &snapshot.dataset else { return };
        // A ledger that cannot be read says nothing of totals; what is wrong with it is told by itself. A budget that is
        // continued may have a total that only the reservation will show.
        let Some(budget) = &dataset.budget else { return };
        if snapshot.ledger.problem.is_none()
            && dataset.may_be_version_of.is_empty()
            && budget.total.is_none()
            && !dataset.schema.public
        {
            warn(&format!(
                "no total is set for {}, so this is recorded and nothing limits what is spent on it; `ledger set-total` sets one",
                dataset.name
            ));
        }
    }

    /// Opens a file and waits until it is there.
    ///
    /// # Errors
    /// When it cannot be read, or the person interrupted.
    pub fn open(&self, path: PathBuf, read: &FormArgs, schema: SchemaSource) -> Result<(), CliError> {
        self.open_with(path, read, schema, ImageOptions::default())
    }

    /// As [`Driver::open`], with what is declared of images.
    ///
    /// # Errors
    /// As [`Driver::open`].
    pub fn open_with(
        &self,
        path: PathBuf,
        read: &FormArgs,
        schema: SchemaSource,
        images: ImageOptions,
    ) -> Result<(), CliError> {
        self.engine.send(Command::Open(DataSource::File {
            path,
            options: read.options(),
            images,
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
    /// The work was given up at the person's wish.
    pub fn from_interrupt() -> Self {
        Self::Failure {
            message: "stopped as asked; nothing was written".into(),
            causes: Vec::new(),
        }
    }
}
