//! One queue of commands in, one stream of events and one latest snapshot out; the workers behind them.
//!
//! Named threads and bounded channels only: `engine` keeps the state and answers at once, `loader` reads,
//! profiles and plans, `ledger` owns the ledger, and each running job has a thread of its own that owns its
//! tensors. A panic in a worker becomes a failure with its message, and the program lives on.

mod certify;
mod coordinator;
mod curves;
mod evaluate;
mod explore;
mod export_job;
mod interrupted;
mod inverse;
mod keeper;
mod ledger_thread;
mod loader;
mod meaning;
mod pipeline;
mod planned;
mod release_job;
mod release_table;
mod run_job;
mod sample;
mod series;
pub mod session;
mod watcher;

pub mod advice;
pub mod command;
pub mod event;
pub mod settings;
mod several;
pub mod snapshot;
mod told;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::message;

pub use command::{
    Bearable, ColumnEdit, Command, Condition, DataSource, EpsilonQuestion, ExportRequest, KEEP_EVERY, Method,
    PrivacyTarget, ReleaseOrder, RunId, RunRequest, SchemaEdit, SchemaSource,
};
pub use evaluate::{EvaluateRequest, ExtractorChoice, Figure, OnnxChoice, evaluate_files};
pub use event::{Area, EngineEvent, Exported, Problem};
pub use explore::{Draws, Explored, Seen, histogram_of, outlook_for};
pub use export_job::exported_files;
pub use interrupted::{Interrupted, InterruptedRun};
pub use meaning::{MeaningAnswer, MeaningQuestion, Whole, is_charged};
pub use planned::relation_under;
pub use release_job::{preview_release, release_note, release_share};
pub use sample::{SampleRequest, Sampled, sample_file};
pub use session::Session;
pub use settings::{Language, Settings, Theme};
pub use several::{Composed, Several, SeveralRequest};
pub use snapshot::{
    Dataset, EpsilonAnswer, Exporting, LedgerView, LoadStage, Loading, PlanPreview, Released, RunClaims,
    RunState, RunView, SampleRows, Series, Snapshot,
};

/// How many commands may wait.
const COMMAND_QUEUE: usize = 1024;
/// How many events may wait to be drained; the engine waits for the reader beyond that, and drops none.
const EVENT_QUEUE: usize = 4096;

/// Called after each event and each new snapshot: a window asks for a repaint in it.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// Why the engine could not be started.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The operating system starts no more threads.
    #[error("no thread could be started; close other programs and try again")]
    Thread(#[source] std::io::Error),
    /// There is no folder to keep the ledger in.
    #[error("no folder for the program's data is known here; set POINTILLIST_HOME to one")]
    NoHome,
    /// The folder's name is empty.
    #[error("POINTILLIST_HOME is set and empty; set it to a folder, or take it away to use the usual one")]
    EmptyHome,
    /// The folder cannot be made.
    #[error("{path}: the program's folder cannot be made; set POINTILLIST_HOME to one that can be written")]
    Home {
        /// The folder.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
}

/// The folder for ledger, settings, sessions and recipes: `POINTILLIST_HOME`, or the platform's data folder.
///
/// # Errors
/// When neither is known.
pub fn home_folder() -> Result<PathBuf, EngineError> {
    if let Some(home) = std::env::var_os("POINTILLIST_HOME") {
        // A variable that failed to expand must not lead to another ledger.
        return if home.is_empty() {
            Err(EngineError::EmptyHome)
        } else {
            Ok(PathBuf::from(home))
        };
    }
    directories::ProjectDirs::from("", "", "pointillist")
        .map(|folders| folders.data_dir().to_path_buf())
        .ok_or(EngineError::NoHome)
}

/// The slot of the latest snapshot: replaced whole, read by cloning one `Arc`.
#[derive(Debug, Default)]
struct Latest(Mutex<Arc<Snapshot>>);

impl Latest {
    fn get(&self) -> Arc<Snapshot> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn set(&self, snapshot: Snapshot) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(snapshot);
    }
}

/// The running engine. Dropping it stops the runs after their present step and waits for their accounts.
pub struct Engine {
    commands: Option<Sender<Command>>,
    events: Receiver<EngineEvent>,
    latest: Arc<Latest>,
    thread: Option<JoinHandle<()>>,
}

impl Engine {
    /// Starts the engine's threads on the folder `home`, which is made when it is not there.
    ///
    /// # Errors
    /// When the folder cannot be made or no thread can be started.
    pub fn spawn(home: &Path, wake: Wake) -> Result<Self, EngineError> {
        std::fs::create_dir_all(home).map_err(|source| EngineError::Home {
            path: home.to_path_buf(),
            source,
        })?;
        let (commands, inbox) = bounded(COMMAND_QUEUE);
        let (outbox, events) = bounded(EVENT_QUEUE);
        let latest = Arc::new(Latest::default());
        let outlet = coordinator::Outlet {
            events: outbox,
            latest: Arc::clone(&latest),
            wake,
        };
        let coordinator = coordinator::Coordinator::new(home, outlet).map_err(EngineError::Thread)?;
        let thread = std::thread::Builder::new()
            .name("engine".into())
            .spawn(move || coordinator.run(&inbox))
            .map_err(EngineError::Thread)?;
        Ok(Self {
            commands: Some(commands),
            events,
            latest,
            thread: Some(thread),
        })
    }

    /// Sends a command. Commands are carried out in order; what becomes of them is told by events.
    pub fn send(&self, command: Command) {
        if let Some(commands) = &self.commands {
            // An engine that has ended tells so by `has_ended`.
            let _ = commands.send(command);
        }
    }

    /// All events since the last call, in order. Never waits.
    pub fn drain(&self) -> Vec<EngineEvent> {
        self.events.try_iter().collect()
    }

    /// The next event, waiting for it at most this long.
    pub fn next_event(&self, timeout: Duration) -> Option<EngineEvent> {
        self.events.recv_timeout(timeout).ok()
    }

    /// The latest state.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.latest.get()
    }

    /// Whether the engine's own thread is gone.
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

/// Does a piece of work and turns a panic into a problem with its message.
fn catching<T>(area: Area, work: impl FnOnce() -> Result<T, Problem>) -> Result<T, Problem> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "without a message".into());
        Err(Problem::plain(
            area,
            message!(
                "say-fault",
                "a fault in the program, please report it: {words}",
                words = message
            ),
        ))
    })
}

impl Drop for Engine {
    fn drop(&mut self) {
        drop(self.commands.take());
        if let Some(thread) = self.thread.take() {
            // Nobody reads events any more; drain them so that the engine never waits for room.
            while !thread.is_finished() {
                let _ = self.events.recv_timeout(Duration::from_millis(20));
            }
            let _ = thread.join();
        }
    }
}
