//! The journal of a run's steps: how many of them may have looked at the rows, whatever became of the program.
//!
//! A file of two places of one sector each, written by turns and synced before any step that a record announces is
//! taken. A record is written in place, so a full disk does not keep it from being written. When one of the two is
//! damaged, nobody can tell a record that was never finished (its steps were not taken) from a newer one that was lost
//! (its steps were), so it counts as the newer one: each record says how far the next may reach.
//!
//! Whoever runs holds the file's lock, so that nobody else takes the run up meanwhile.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Room for a record: a disk writes it whole or not at all, or it is found out by its check.
const PLACE: usize = 512;
/// What a record begins with.
const MAGIC: &[u8; 8] = b"PTSTEPS1";
/// Bytes of the check.
const CHECK: usize = 16;
/// Bytes of a record: the magic, three numbers, and the check.
const RECORD: usize = 8 + 3 * 8 + CHECK;

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The disk is full.
    #[error("{}: the disk is full, so the journal of steps cannot be written; free some space there", .path.display())]
    NoSpace {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// It cannot be read or written.
    #[error("{}: the journal of steps cannot be used", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// Somebody else holds it.
    #[error("{}: the run is going on in another program; end that first", .path.display())]
    Held {
        /// The file.
        path: PathBuf,
    },
    /// Neither record can be read.
    #[error("{}: the journal of steps is damaged, so nobody knows how many were taken", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
}

impl JournalError {
    /// Sorts a failure by what a person can do about it.
    fn from_file(path: &Path, source: io::Error) -> Self {
        let path = path.into();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::NoSpace { path, source }
            }
            _ => Self::Io { path, source },
        }
    }
}

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Record {
    /// Counts up with each record.
    number: u64,
    /// Steps before this one may have been taken.
    steps: u64,
    /// The next record adds this many at most.
    next: u64,
}

impl Record {
    fn to_bytes(self) -> [u8; PLACE] {
        let mut bytes = [0; PLACE];
        bytes[..8].copy_from_slice(MAGIC);
        for (place, value) in [self.number, self.steps, self.next].into_iter().enumerate() {
            bytes[8 + 8 * place..16 + 8 * place].copy_from_slice(&value.to_le_bytes());
        }
        let check = Sha256::digest(&bytes[..RECORD - CHECK]);
        bytes[RECORD - CHECK..RECORD].copy_from_slice(&check[..CHECK]);
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let record = bytes.get(..RECORD)?;
        let (body, check) = record.split_at(RECORD - CHECK);
        let is_right = body.starts_with(MAGIC) && Sha256::digest(body)[..CHECK] == *check;
        let number = |place: usize| {
            let bytes = body.get(8 + 8 * place..16 + 8 * place)?;
            Some(u64::from_le_bytes(bytes.try_into().ok()?))
        };
        if !is_right {
            return None;
        }
        Some(Self {
            number: number(0)?,
            steps: number(1)?,
            next: number(2)?,
        })
    }
}

/// The steps that may have been taken, and the number of the last record.
fn newest(bytes: &[u8]) -> Option<(u64, u64)> {
    let places = [0, 1].map(|place| bytes.get(PLACE * place..).and_then(Record::read));
    match places {
        [Some(one), Some(other)] => {
            let newer = if one.number > other.number { one } else { other };
            Some((newer.steps, newer.number))
        }
        [Some(only), None] | [None, Some(only)] => Some((
            only.steps.saturating_add(only.next),
            only.number.saturating_add(1),
        )),
        [None, None] => None,
    }
}

/// A journal that this program holds.
#[derive(Debug)]
pub struct StepJournal {
    file: File,
    path: PathBuf,
    number: u64,
}

impl StepJournal {
    /// Begins a journal with no step announced. Both places are written, so that later records need no more room.
    ///
    /// # Errors
    /// When it cannot be written, or is there already.
    pub fn create(path: &Path) -> Result<Self, JournalError> {
        let failed = |source| JournalError::from_file(path, source);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(failed)?;
        lock(&file, path)?;
        let written = Self::begin(&mut file);
        if let Err(source) = written {
            // Half a journal would look like a run that was cut short.
            let _ = std::fs::remove_file(path);
            return Err(failed(source));
        }
        Ok(Self {
            file,
            path: path.into(),
            number: 1,
        })
    }

    /// Fills both places of a new journal.
    fn begin(file: &mut File) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(2 * PLACE);
        for number in [0, 1] {
            let record = Record {
                number,
                steps: 0,
                next: 1,
            };
            bytes.extend_from_slice(&record.to_bytes());
        }
        file.write_all(&bytes)?;
        file.sync_all()
    }

    /// Takes up a journal and says how many steps may have been taken.
    ///
    /// # Errors
    /// When somebody else holds it, or it cannot be read.
    pub fn take_up(path: &Path) -> Result<(Self, u64), JournalError> {
        let failed = |source| JournalError::from_file(path, source);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(failed)?;
        lock(&file, path)?;
        let (steps, number) = read(&mut file, path)?;
        let path = path.into();
        Ok((Self { file, path, number }, steps))
    }

    /// How many steps may have been taken, and whether somebody holds the journal just now.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn look(path: &Path) -> Result<(u64, bool), JournalError> {
        let failed = |source| JournalError::from_file(path, source);
        let mut file = File::open(path).map_err(failed)?;
        let is_held = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
        let (steps, _) = read(&mut file, path)?;
        Ok((steps, is_held))
    }

    /// Says durably that steps before this one may have been taken, and that the next record adds `next` at most.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn announce(&mut self, steps: u64, next: u64) -> io::Result<()> {
        let record = Record {
            number: self.number.saturating_add(1),
            steps,
            next,
        };
        self.file
            .seek(SeekFrom::Start(PLACE as u64 * (record.number % 2)))?;
        self.file.write_all(&record.to_bytes())?;
        self.file.sync_data()?;
        self.number = record.number;
        Ok(())
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn lock(file: &File, path: &Path) -> Result<(), JournalError> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(JournalError::Held { path: path.into() }),
        // Some network folders have no locks; the ledger, which needs them, refuses to be kept there.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

fn read(file: &mut File, path: &Path) -> Result<(u64, u64), JournalError> {
    let mut bytes = Vec::with_capacity(2 * PLACE);
    file.take(2 * PLACE as u64)
        .read_to_end(&mut bytes)
        .map_err(|source| JournalError::from_file(path, source))?;
    newest(&bytes).ok_or_else(|| JournalError::Damaged { path: path.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_announced_last_is_what_may_have_been_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("entry-1.steps");
        let mut journal = StepJournal::create(&path).unwrap();
        assert!(StepJournal::create(&path).is_err());
        assert_eq!(StepJournal::look(&path).unwrap(), (0, true));
        assert!(matches!(
            StepJournal::take_up(&path),
            Err(JournalError::Held { .. })
        ));
        for (steps, next) in [(1, 4), (5, 16), (21, 64), (40, 64)] {
            journal.announce(steps, next).unwrap();
            assert_eq!(StepJournal::look(&path).unwrap().0, steps);
        }
        drop(journal);
        let (mut journal, steps) = StepJournal::take_up(&path).unwrap();
        assert_eq!(steps, 40);
        journal.announce(50, 8).unwrap();
        drop(journal);
        assert_eq!(StepJournal::look(&path).unwrap(), (50, false));
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 2 * PLACE as u64);
    }

    #[test]
    fn damage_never_makes_steps_fewer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("entry-1.steps");
        let mut journal = StepJournal::create(&path).unwrap();
        let mut inputs = 0;
        let mut before = 0;
        for (steps, next) in [(1, 4), (4, 16), (20, 64), (70, 64)] {
            journal.announce(steps, next).unwrap();
            let whole = std::fs::read(&path).unwrap();
            for place in 0..whole.len() {
                for bit in 0..8 {
                    let mut bytes = whole.clone();
                    bytes[place] ^= 1 << bit;
                    if let Some((found, _)) = newest(&bytes) {
                        assert!(found >= steps, "bit {bit} of {place}: {found} of {steps}");
                    }
                    inputs += 1;
                }
            }
            for cut in 0..whole.len() {
                if let Some((found, _)) = newest(&whole[..cut]) {
                    assert!(found >= steps, "cut at {cut}: {found} of {steps}");
                }
                inputs += 1;
            }
            before = steps;
        }
        assert_eq!(before, 70);
        println!("{inputs} inputs");
    }
}
