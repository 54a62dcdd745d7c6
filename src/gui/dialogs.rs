//! File dialogs of the system, each on its own thread, so that no frame waits for one.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

use eframe::egui::Context;

/// After this long without an answer the button works again; the dialog may stay open, its answer is dropped.
const PATIENCE: Duration = Duration::from_mins(10);
/// An empty answer that comes this fast was not given by a person: the system has no dialog to show.
const TOO_FAST: Duration = Duration::from_millis(600);

/// What a dialog is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A file to open.
    Open,
    /// A folder of pictures to open.
    Folder,
    /// Where a synthetic table goes.
    Target,
    /// Where a figure goes.
    Figure,
}

/// What came of a dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A file.
    Chosen(Purpose, PathBuf),
    /// The system could not show the dialog for this.
    Unavailable(Purpose),
}

/// The dialog that is open, if any.
#[derive(Default)]
pub struct Dialogs {
    waiting: Option<Waiting>,
}

struct Waiting {
    purpose: Purpose,
    since: Instant,
    answer: Receiver<Option<PathBuf>>,
}

/// The words in a dialog.
pub struct Words {
    /// Its title.
    pub title: String,
    /// What tables are called.
    pub tables: String,
    /// What all files are called: files of images have any name.
    pub everything: String,
}

impl Dialogs {
    /// Whether a dialog is open.
    pub fn is_open(&self) -> bool {
        self.waiting.is_some()
    }

    /// Opens a dialog, unless one is open.
    pub fn ask(&mut self, ctx: &Context, purpose: Purpose, words: Words, start: Option<&Path>) {
        if self.is_open() {
            return;
        }
        let (send, answer) = channel();
        let ctx = ctx.clone();
        let start = start.map(Path::to_path_buf);
        let spawned = thread::Builder::new()
            .name("file dialog".to_owned())
            .spawn(move || {
                let chosen = show(purpose, words, start.as_deref());
                // The window may be gone by now.
                let _ = send.send(chosen);
                ctx.request_repaint();
            });
        if spawned.is_ok() {
            self.waiting = Some(Waiting {
                purpose,
                since: Instant::now(),
                answer,
            });
        }
    }

    /// Takes the answer if there is one.
    pub fn poll(&mut self) -> Option<Answer> {
        let waiting = self.waiting.as_ref()?;
        let (purpose, since) = (waiting.purpose, waiting.since);
        match waiting.answer.try_recv() {
            Ok(Some(path)) => {
                self.waiting = None;
                Some(Answer::Chosen(purpose, path))
            }
            Ok(None) | Err(TryRecvError::Disconnected) => {
                self.waiting = None;
                (since.elapsed() < TOO_FAST).then_some(Answer::Unavailable(purpose))
            }
            Err(TryRecvError::Empty) => {
                if since.elapsed() > PATIENCE {
                    self.waiting = None;
                }
                None
            }
        }
    }
}

/// How the names of tables, packed ones, and sessions end.
const TABLE_ENDINGS: [&str; 14] = [
    "csv", "tsv", "txt", "gz", "zst", "parquet", "pq", "arrow", "feather", "sqlite", "sqlite3", "db", "xlsx",
    "toml",
];

fn show(purpose: Purpose, words: Words, start: Option<&Path>) -> Option<PathBuf> {
    let mut dialog = rfd::FileDialog::new().set_title(words.title);
    if let Some(folder) = start.and_then(Path::parent).filter(|folder| folder.is_dir()) {
        dialog = dialog.set_directory(folder);
    }
    match purpose {
        Purpose::Open => dialog
            .add_filter(words.everything, &["*"])
            .add_filter(words.tables, &TABLE_ENDINGS)
            .pick_file(),
        Purpose::Folder => dialog.pick_folder(),
        Purpose::Figure => {
            let name = start.and_then(Path::file_name).and_then(|name| name.to_str());
            dialog.set_file_name(name.unwrap_or("figure.svg")).save_file()
        }
        Purpose::Target => {
            let name = start
                .and_then(Path::file_name)
                .and_then(|name| name.to_str())
                .unwrap_or("synthetic.csv");
            dialog
                .set_file_name(name)
                .add_filter("CSV", &["csv"])
                .add_filter("Parquet", &["parquet"])
                .add_filter("Arrow", &["arrow", "feather"])
                .add_filter("SQLite", &["sqlite", "db"])
                .add_filter("Excel", &["xlsx"])
                .save_file()
        }
    }
}
