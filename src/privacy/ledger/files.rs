//! Where the ledger's files lie, and the lock that orders those who write them.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::LedgerError;

/// How long to wait for another program that writes. A write takes some milliseconds, and the longest turns (a
/// large ledger that is opened or copied) a second or two, so who waits longer than this waits for a program
/// that hangs.
pub(super) const WAIT: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });

/// How long to wait before giving up on writing down what a job has spent: its work is done and would be lost.
pub(super) const WAIT_TO_SETTLE: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 30 });

/// The names of the ledger's files in one home folder.
#[derive(Clone, Debug)]
pub(super) struct Paths {
    /// The home folder.
    pub home: PathBuf,
    /// The database.
    pub database: PathBuf,
    /// Hash and count of the chain's end.
    pub head: PathBuf,
    /// The installation's key.
    pub key: PathBuf,
    /// Locked by whoever writes.
    pub lock: PathBuf,
}

/// What the name of a head begins with until it is whole.
pub(super) const HEAD_IN_MAKING: &str = ".ledger.head.";

/// What the name of a key begins with until it is whole.
pub(super) const KEY_IN_MAKING: &str = ".ledger.key.";

/// What a set-aside database's name begins with.
const ASIDE: &str = "ledger.sqlite.damaged-";

impl Paths {
    pub(super) fn new(home: &Path) -> Self {
        Self {
            home: home.into(),
            database: home.join("ledger.sqlite"),
            head: home.join("ledger.head"),
            key: home.join("ledger.key"),
            lock: home.join("ledger.lock"),
        }
    }

    /// Whether a write-ahead log with content lies beside the database.
    pub(super) fn log_has_content(&self) -> bool {
        fs::metadata(with_ending(&self.database, "-wal")).is_ok_and(|data| data.len() > 0)
    }

    /// The newest database that was set aside here.
    pub(super) fn aside(&self) -> Option<PathBuf> {
        let mut found: Vec<PathBuf> = fs::read_dir(&self.home)
            .ok()?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with(ASIDE) && !name.ends_with("-wal") && !name.ends_with("-shm")
            })
            .collect();
        found.sort();
        found.pop()
    }

    /// Removes what a process that died left half written under another name. The caller holds the lock, so
    /// nobody is writing them.
    pub(super) fn sweep(&self) {
        for entry in fs::read_dir(&self.home).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(HEAD_IN_MAKING) || name.starts_with(KEY_IN_MAKING) {
                // One that stays does no harm, and the next start tries again.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Renames a damaged database, with what SQLite keeps beside it, to a name that nothing else has.
    pub(super) fn set_aside(&self) -> Result<PathBuf, LedgerError> {
        let stamp = chrono::Utc::now().format("%Y%m%dT%H%M%SZ");
        let mut aside = self.home.join(format!("{ASIDE}{stamp}"));
        let mut attempt = 2;
        while aside.exists() {
            aside = self.home.join(format!("{ASIDE}{stamp}-{attempt}"));
            attempt += 1;
        }
        // The log first: a database without its log must never be found under the old name.
        for ending in ["-wal", "-shm", ""] {
            let from = with_ending(&self.database, ending);
            if from.exists() {
                fs::rename(&from, with_ending(&aside, ending))
                    .map_err(|error| LedgerError::from_file(&from, error))?;
            }
        }
        sync_folder(&self.home).map_err(|error| LedgerError::from_file(&self.home, error))?;
        Ok(aside)
    }
}

pub(super) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Makes the home folder, for its owner only, when it is not there.
pub(super) fn make_home(home: &Path) -> Result<(), LedgerError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(home)
        .map_err(|source| match LedgerError::from_file(home, source) {
            LedgerError::File { path, source } => LedgerError::Folder { path, source },
            other => other,
        })
}

/// Makes a rename in `folder` survive a power cut, where the platform has a way to.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// The lock file of the ledger, open.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    pub(super) fn open(path: &Path) -> Result<Self, LedgerError> {
        let file = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(path)
            .map_err(|error| LedgerError::from_file(path, error))?;
        Ok(Self {
            file,
            path: path.into(),
        })
    }

    /// The lock file of a home that cannot be written, if it can be opened.
    pub(super) fn open_existing(path: &Path) -> Option<Self> {
        let file = File::open(path).ok()?;
        Some(Self {
            file,
            path: path.into(),
        })
    }

    /// Waits for its turn to write; gives up after [`WAIT`]. The operating system lets go of the lock when
    /// its holder dies.
    pub(super) fn hold(&self, database: &Path) -> Result<Held<'_>, LedgerError> {
        self.hold_within(database, WAIT)
    }

    /// As [`Lock::hold`], with another patience.
    pub(super) fn hold_within(&self, database: &Path, wait: Duration) -> Result<Held<'_>, LedgerError> {
        let start = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            match self.file.try_lock() {
                Ok(()) => return Ok(Held(&self.file)),
                Err(TryLockError::Error(error)) => return Err(LedgerError::from_file(&self.path, error)),
                Err(TryLockError::WouldBlock) if start.elapsed() > wait => {
                    return Err(LedgerError::Locked {
                        path: database.into(),
                        waited: wait,
                    });
                }
                Err(TryLockError::WouldBlock) => {
                    std::thread::sleep(pause);
                    // Looks often: a turn lasts a few milliseconds, and whoever looks seldom misses the gaps
                    // between the turns of a program that writes one entry after the other.
                    pause = (pause * 2).min(Duration::from_millis(4));
                }
            }
        }
    }
}

/// The turn to write, until dropped.
#[derive(Debug)]
pub(super) struct Held<'a>(&'a File);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // Closing the file unlocks as well, so a failure here is only a later unlock.
        let _ = self.0.unlock();
    }
}
