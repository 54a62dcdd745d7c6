//! Keeps a run's checkpoint, curves and journal on disk while it trains.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::Sender;

use crate::engine::command::RunId;
use crate::engine::coordinator::Note;
use crate::engine::curves::SharedCurves;
use crate::engine::event::{Area, Problem};
use crate::engine::interrupted::{Ended, KeptFiles, KeptRun, folder};
use crate::engine::told;
use crate::export::{ExportError, StepJournal, save_checkpoint, write_atomically};
use crate::message;
use crate::num::Message;
use crate::train::keep::{Checkpoint, KeepError, Keeper};

/// Where a run is kept. Clones keep the same run; the journal is held until the last is gone.
#[derive(Clone)]
pub(super) struct RunKeeper(Arc<Mutex<Kept>>);

struct Kept {
    files: KeptFiles,
    journal: StepJournal,
    run: KeptRun,
    /// The curves that go with the checkpoint, once they are drawn.
    curves: Option<SharedCurves>,
    /// Whether there is a checkpoint.
    is_there: bool,
    /// Whether keeping has been given up.
    is_over: bool,
    /// Whether the last checkpoint could not be written: told once.
    has_failed: bool,
    teller: Teller,
}

/// Who is told what a person should know.
#[derive(Clone)]
pub(super) struct Teller {
    pub run: RunId,
    pub notes: Sender<Note>,
}

impl Teller {
    fn warn(&self, message: Message) {
        let _ = self.notes.send(Note::RunWarning {
            run: self.run,
            message,
        });
    }
}

impl RunKeeper {
    /// Begins to keep a run that has just been reserved.
    ///
    /// # Errors
    /// When folder or journal cannot be made.
    pub fn begin(home: &Path, run: KeptRun, teller: Teller) -> Result<Self, Problem> {
        let failed = |error: &(dyn std::error::Error + 'static)| Problem::new(Area::Train, error);
        let folder = folder(home);
        std::fs::create_dir_all(&folder).map_err(|error| failed(&ExportError::from_write(&folder, error)))?;
        let files = KeptFiles::name(home, run.entry);
        let journal = StepJournal::create(&files.journal()).map_err(|error| failed(&error))?;
        Ok(Self::new(files, journal, run, teller, false))
    }

    /// Goes on keeping a run that has been taken up.
    pub fn go_on(files: KeptFiles, journal: StepJournal, run: KeptRun, teller: Teller) -> Self {
        Self::new(files, journal, run, teller, true)
    }

    fn new(files: KeptFiles, journal: StepJournal, run: KeptRun, teller: Teller, is_there: bool) -> Self {
        Self(Arc::new(Mutex::new(Kept {
            files,
            journal,
            run,
            curves: None,
            is_there,
            is_over: false,
            has_failed: false,
            teller,
        })))
    }

    /// Keeps these curves with every checkpoint from now on. Those of a run that was taken up go on from what was kept
    /// with the checkpoint of this step; where that is not there, the run goes on without.
    pub fn keep_curves(&self, curves: SharedCurves, taken_up: Option<u64>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Before its first step there is nothing to be missed.
        if let Some(step) = taken_up.filter(|step| *step > 0)
            && let Err(reason) = curves.lock().take_up(&kept.files.curves(), step)
        {
            kept.teller.warn(message!(
                "say-curves-lost",
                "the run goes on, but its curves begin at step {step}: {reason}",
                step = step,
                reason = reason
            ));
        }
        kept.curves = Some(curves);
    }

    /// The run has ended: from now on its generator is kept, and not how far it is.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn end(&self, ended: Ended, generator: &Checkpoint) -> Result<(), ExportError> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.is_over = true;
        kept.run.ended = Some(ended);
        save_checkpoint(&kept.files.checkpoint(), &kept.run, generator)
    }

    /// Nothing is left to be taken up: the run is exported, or its account is settled without a result. What cannot be
    /// removed is cleared away at the next start, which finds no open reservation to go with it.
    pub fn finish(&self) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.is_over = true;
        kept.is_there = false;
        let _ = kept.files.remove();
    }
}

impl RunKeeper {
    /// Whether there is a checkpoint.
    pub fn has_checkpoint(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_there
    }

    /// The name by which the run can be taken up.
    pub fn id(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.files.id.clone()
    }
}

impl Keeper for RunKeeper {
    fn announce(&mut self, steps: u64, next: u64) -> Result<(), KeepError> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.is_over {
            return Ok(());
        }
        let Err(error) = kept.journal.announce(steps, next) else {
            return Ok(());
        };
        kept.files.remove_checkpoint()?;
        kept.is_over = true;
        kept.is_there = false;
        kept.teller.warn(message!(
            "say-not-announced",
            "the run goes on, but it cannot be taken up if the program is cut short: its journal cannot be written ({reason})",
            reason = error.to_string()
        ));
        Ok(())
    }

    fn keep(&mut self, checkpoint: &Checkpoint) -> bool {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.is_over {
            return false;
        }
        // First, so that they are never behind the checkpoint. Nothing depends on them, and a disk that refuses them
        // refuses the checkpoint as well, which is told.
        if let Some(curves) = &kept.curves {
            let bytes = curves.lock().to_bytes();
            let _ = write_atomically(&kept.files.curves(), &bytes, true);
        }
        match save_checkpoint(&kept.files.checkpoint(), &kept.run, checkpoint) {
            Ok(()) => {
                kept.is_there = true;
                kept.has_failed = false;
            }
            Err(error) => {
                if !std::mem::replace(&mut kept.has_failed, true) {
                    kept.teller.warn(message!(
                        "say-not-kept",
                        "the run goes on, but its state at step {step} could not be kept: {reason}",
                        step = checkpoint.step,
                        reason = told::message(&error)
                    ));
                }
            }
        }
        kept.is_there
    }
}
