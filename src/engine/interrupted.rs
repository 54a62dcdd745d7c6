//! Runs that were cut short, and what is kept of them: a checkpoint, a journal of steps and the curves each, in the
//! folder `checkpoints` beside the ledger.

mod kept;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::data::{Schema, Table};
use crate::engine::command::{Method, PrivacyTarget};
use crate::engine::event::{Area, Problem};
use crate::engine::ledger_thread::LedgerHandle;
use crate::engine::snapshot::Dataset;
use crate::export::{CheckpointFile, ExportError, StepJournal, write_atomically};
use crate::message;
use crate::num::files::read_whole;
use crate::privacy::ledger::{Entry, EntryId, Status};
use crate::train::keep::TakenUp;
pub(super) use kept::{Ended, KeptRun};

/// How the name of a checkpoint ends.
const CHECKPOINT: &str = "checkpoint";
/// How the name of a journal ends.
const JOURNAL: &str = "steps";
/// How the name of the file ends that holds the curves of a run (steward only).
const CURVES: &str = "curves";
/// How the name of the file ends that holds what a person calls a run.
const GIVEN_NAME: &str = "name";
/// How the name of a run with an entry in the ledger begins.
const ENTRY: &str = "entry-";
/// How the name of a run without a promise begins.
const PLAIN: &str = "run-";

/// Runs without a promise that can be kept at a time.
const MOST_PLAIN: u64 = 10_000;

/// Far more than the longest name that can be typed.
const MOST_NAME_BYTES: u64 = 4096;

/// A run that was cut short, as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct InterruptedRun {
    /// The data set's name.
    pub dataset: String,
    /// The data set's file; none for one that ships with the program.
    pub path: Option<PathBuf>,
    /// The method.
    pub method: Method,
    /// The promise.
    pub target: Option<PrivacyTarget>,
    /// Its entry in the ledger; none without a promise.
    pub entry: Option<EntryId>,
    /// The step of the checkpoint.
    pub step: u64,
    /// The step at which it goes on: those before it may have been done, and count as done.
    pub goes_on: u64,
    /// All steps.
    pub steps: u64,
    /// How often it was taken up before.
    pub resumed: u32,
    /// The schema that it learns under.
    pub schema: Arc<Schema>,
    /// Whether it learns from images.
    pub is_images: bool,
    /// Whether all that the run was to spend counts as spent: thrown away, it frees nothing.
    pub is_all_spent: bool,
    /// Whether it has ended and is charged, and only its export is missing.
    pub is_ended: bool,
}

impl InterruptedRun {
    /// Steps that may have been done since the checkpoint, and count as done.
    pub const fn lost(&self) -> u64 {
        self.goes_on.saturating_sub(self.step)
    }
}

/// One that was cut short, or what is wrong with its files.
#[derive(Clone, Debug, PartialEq)]
pub struct Interrupted {
    /// Its name, by which it is taken up.
    pub id: String,
    /// What a person called it.
    pub name: Option<String>,
    /// Its entry in the ledger, by the name.
    pub entry: Option<EntryId>,
    /// What is known of it, or why it cannot be taken up.
    pub run: Result<Arc<InterruptedRun>, Problem>,
}

/// The folder of all checkpoints.
pub(super) fn folder(home: &Path) -> PathBuf {
    home.join("checkpoints")
}

/// The files of a run: checkpoint, journal and curves, and what a person calls it, which is written whenever that changes and
/// not only with the next checkpoint.
#[derive(Clone, Debug)]
pub(super) struct KeptFiles {
    pub id: String,
    folder: PathBuf,
}

impl KeptFiles {
    pub fn of(home: &Path, id: &str) -> Self {
        Self {
            id: id.to_owned(),
            folder: folder(home),
        }
    }

    /// Names a new run: by its entry in the ledger, or by the first number that is free.
    pub fn name(home: &Path, entry: Option<EntryId>) -> Self {
        if let Some(entry) = entry {
            return Self::of(home, &format!("{ENTRY}{entry}"));
        }
        let free = (1..=MOST_PLAIN)
            .map(|number| Self::of(home, &format!("{PLAIN}{number}")))
            .find(|files| {
                [
                    files.journal(),
                    files.checkpoint(),
                    files.curves(),
                    files.given_name_file(),
                ]
                .iter()
                .all(|path| !path.exists())
            });
        free.unwrap_or_else(|| Self::of(home, PLAIN))
    }

    pub fn checkpoint(&self) -> PathBuf {
        self.folder.join(format!("{}.{CHECKPOINT}", self.id))
    }

    pub fn journal(&self) -> PathBuf {
        self.folder.join(format!("{}.{JOURNAL}", self.id))
    }

    pub fn curves(&self) -> PathBuf {
        self.folder.join(format!("{}.{CURVES}", self.id))
    }

    fn given_name_file(&self) -> PathBuf {
        self.folder.join(format!("{}.{GIVEN_NAME}", self.id))
    }

    /// What a person called the run; nothing if its file cannot be read, since nothing depends on it.
    pub fn given_name(&self) -> Option<String> {
        let bytes = read_whole(&self.given_name_file(), MOST_NAME_BYTES).ok()?;
        let name = String::from_utf8(bytes).ok()?.trim().to_owned();
        (!name.is_empty()).then_some(name)
    }

    /// Keeps what a person calls the run, or that it is called by itself again.
    ///
    /// # Errors
    /// When the file cannot be written or taken away.
    pub fn give_name(&self, name: Option<&str>) -> Result<(), Problem> {
        let outcome = match name {
            Some(name) => write_atomically(&self.given_name_file(), name.as_bytes(), true),
            None => remove_if_there(&self.given_name_file())
                .map_err(|source| ExportError::from_write(&self.given_name_file(), source)),
        };
        outcome.map_err(|error| Problem::new(Area::Train, &error))
    }

    /// Takes the checkpoint away for good: after this the run cannot be taken up, whatever happens to the machine.
    ///
    /// # Errors
    /// When it is still there.
    pub fn remove_checkpoint(&self) -> std::io::Result<()> {
        remove_if_there(&self.checkpoint())?;
        if cfg!(unix) && self.folder.exists() {
            fs::File::open(&self.folder)?.sync_all()?;
        }
        Ok(())
    }

    /// Takes all files away: the checkpoint first, so that no journal is ever missing beside one.
    ///
    /// # Errors
    /// When one of them is still there.
    pub fn remove(&self) -> std::io::Result<()> {
        self.remove_checkpoint()?;
        remove_if_there(&self.curves())?;
        remove_if_there(&self.journal())?;
        self.remove_parts()?;
        remove_if_there(&self.given_name_file())
    }

    /// Takes away what is left of a checkpoint or of curves that were being written when the program was killed.
    fn remove_parts(&self) -> std::io::Result<()> {
        let begins = [CHECKPOINT, CURVES].map(|kept| format!(".{}.{kept}.", self.id));
        let Ok(files) = fs::read_dir(&self.folder) else {
            return Ok(());
        };
        for file in files.flatten() {
            let name = file.file_name();
            if begins
                .iter()
                .any(|begins| name.to_string_lossy().starts_with(begins))
            {
                remove_if_there(&file.path())?;
            }
        }
        Ok(())
    }

    /// Its entry in the ledger, by the name.
    pub fn entry(&self) -> Option<EntryId> {
        self.id.strip_prefix(ENTRY)?.parse().ok().map(EntryId)
    }

    /// What is known of the run, without its tensors; `None` while some program runs it.
    fn look(&self) -> Option<Interrupted> {
        let seen = StepJournal::look(&self.journal());
        if matches!(seen, Ok((_, true))) {
            return None;
        }
        let run = seen
            .map_err(|error| Problem::new(Area::Train, &error))
            .and_then(|(announced, _)| self.describe(announced));
        Some(Interrupted {
            id: self.id.clone(),
            name: self.given_name(),
            entry: self.entry(),
            run: run.map(Arc::new),
        })
    }

    fn describe(&self, announced: u64) -> Result<InterruptedRun, Problem> {
        if !self.checkpoint().exists() {
            return Err(Problem::plain(
                Area::Train,
                message!(
                    "say-no-checkpoint",
                    "it was cut short before its first checkpoint, so there is nothing to go on from: discard it"
                ),
            ));
        }
        let (run, step) = CheckpointFile::<KeptRun>::look(&self.checkpoint())
            .map_err(|error| Problem::new(Area::Train, &error))?;
        let request = run.request()?;
        let at = goes_on(&run, step, announced);
        Ok(InterruptedRun {
            dataset: run.data.name.clone(),
            path: run.data.path.clone(),
            method: request.method,
            target: request.target,
            entry: run.entry,
            step,
            goes_on: at,
            steps: run.steps,
            resumed: run.resumed.times,
            schema: Arc::new(run.data.schema()?),
            is_images: run.data.images.is_some(),
            is_all_spent: run.events_until(at) == run.planned,
            is_ended: run.ended.is_some(),
        })
    }

    /// What the engine keeps of the run, without its tensors.
    ///
    /// # Errors
    /// When the checkpoint cannot be read.
    pub fn describe_whole(&self) -> Result<KeptRun, Problem> {
        CheckpointFile::<KeptRun>::look(&self.checkpoint())
            .map(|(run, _)| run)
            .map_err(|error| Problem::new(Area::Train, &error))
    }

    /// Whether some program runs it just now.
    pub fn is_held(&self) -> bool {
        matches!(StepJournal::look(&self.journal()), Ok((_, true)))
    }

    /// Reads all of the run, and holds it: nobody else can take it up until the journal is dropped.
    ///
    /// # Errors
    /// When somebody holds it, or a file cannot be used.
    pub fn take_up(&self) -> Result<(KeptRun, TakenUp, StepJournal), Problem> {
        let failed = |error: &(dyn std::error::Error + 'static)| Problem::new(Area::Train, error);
        let (journal, announced) = StepJournal::take_up(&self.journal()).map_err(|error| failed(&error))?;
        let file = CheckpointFile::<KeptRun>::load(&self.checkpoint()).map_err(|error| failed(&error))?;
        if file.program != env!("CARGO_PKG_VERSION") {
            return Err(Problem::plain(
                Area::Train,
                message!(
                    "say-other-program",
                    "the run was begun by version {version} of the program; take it up with that one (what it reserved stays charged)",
                    version = file.program
                ),
            ));
        }
        let charged = goes_on(&file.run, file.checkpoint.step, announced);
        let taken = TakenUp {
            checkpoint: file.checkpoint,
            charged,
        };
        Ok((file.run, taken, journal))
    }
}

/// Takes a file away, if it is there.
fn remove_if_there(path: &Path) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Where a run goes on. Without a promise nothing is counted, so no step is lost.
fn goes_on(run: &KeptRun, step: u64, announced: u64) -> u64 {
    let counted = if run.entry.is_some() { announced } else { 0 };
    step.max(counted.min(run.steps))
}

/// All runs of which files are kept and that no program runs, by name.
pub(super) fn find(home: &Path) -> Vec<Interrupted> {
    let Ok(entries) = fs::read_dir(folder(home)) else {
        return Vec::new();
    };
    let mut ids: Vec<String> = entries
        .flatten()
        .filter_map(|entry| {
            let path = entry.path();
            let ending = path.extension()?;
            let stem = path.file_stem()?.to_str()?;
            let is_kept = [CHECKPOINT, JOURNAL, CURVES, GIVEN_NAME]
                .iter()
                .any(|kept| ending == *kept);
            is_kept.then(|| stem.to_owned())
        })
        .collect();
    ids.sort_by_key(|id| (id.len(), id.clone()));
    ids.dedup();
    ids.iter()
        .filter_map(|id| KeptFiles::of(home, id).look())
        .collect()
}

/// Those of them that can be taken up or thrown away. What is left of runs whose account is settled is cleared away:
/// `open` are the reservations that are not, read after the files were found, so that none is missing; or `None` where
/// the ledger cannot be read.
pub(super) fn sort_out(home: &Path, found: Vec<Interrupted>, open: Option<&[EntryId]>) -> Vec<Interrupted> {
    let mut kept = Vec::new();
    for interrupted in found {
        let files = KeptFiles::of(home, &interrupted.id);
        let is_settled = match (interrupted.entry, open) {
            // It waits for its export, which is paid for.
            _ if matches!(&interrupted.run, Ok(run) if run.is_ended) => false,
            (Some(entry), Some(open)) => !open.contains(&entry),
            // One without a promise that has no checkpoint has nothing to go on from.
            (None, _) => !files.checkpoint().exists(),
            (Some(_), None) => false,
        };
        if is_settled {
            // What cannot be removed now is tried again at the next start.
            let _ = files.remove();
        } else {
            kept.push(interrupted);
        }
    }
    kept
}

/// Reservations that nobody has settled.
pub(super) fn open_reservations(entries: &[Entry]) -> Vec<EntryId> {
    let open = entries.iter().filter(|entry| entry.status == Status::Reserved);
    open.map(|entry| entry.id).collect()
}

/// The ledger's seal under the digest of a table: by it a run knows its data again.
///
/// # Errors
/// When the ledger cannot be used.
pub(super) fn seal_of(table: &Table, ledger: &LedgerHandle) -> Result<String, Problem> {
    let digest: Vec<String> = table
        .content_digest()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    ledger
        .seal(format!("data of a run: {}", digest.concat()))
        .map_err(|error| Problem::new(Area::Ledger, &error))
}

/// Whether a run that was cut short learned from this data set.
///
/// # Errors
/// When it did not, or the ledger cannot be used.
pub(super) fn check_data(run: &KeptRun, dataset: &Dataset, ledger: &LedgerHandle) -> Result<(), Problem> {
    if seal_of(&dataset.table, ledger)? == run.seal {
        return Ok(());
    }
    Err(Problem::plain(
        Area::Train,
        message!(
            "say-other-data",
            "`{name}` is not the data that the run learned from: its content has changed; put the file back as it was, or discard the run (what it reserved stays charged)",
            name = dataset.name
        ),
    ))
}
