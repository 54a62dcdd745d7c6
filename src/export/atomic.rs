//! Files that are whole or absent: written under another name in the same folder, synced, then renamed.
//!
//! A reader, or the next start after a crash, sees the old file, the whole new one, or none; never half of
//! one. What is dropped unfinished leaves nothing behind. A process killed at the wrong moment can leave a hidden
//! `.NAME.….partial`, which nobody takes for the file itself, and which the next file of that name takes away:
//! whoever writes one holds its lock.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::{Builder, NamedTempFile};

use super::{ExportError, TableFormat};

/// How the name of a file in the making ends.
const SUFFIX: &str = ".partial";

/// A file in the making that is younger than this may be somebody's who has not locked it yet.
const SETTLED: Duration = Duration::from_secs(5);

/// Bytes kept back before they go to the file.
const BUFFER_BYTES: usize = 1 << 16;

/// A file in the making. Nothing is at its path until [`AtomicFile::commit`].
#[derive(Debug)]
pub struct AtomicFile {
    writer: BufWriter<NamedTempFile>,
    path: PathBuf,
    overwrite: bool,
}

impl AtomicFile {
    /// Begins a file that will be `path`. An existing file is refused here unless `overwrite`.
    ///
    /// # Errors
    /// When the file exists and may not be replaced, or its folder is missing, read-only or full.
    pub fn create(path: &Path, overwrite: bool) -> Result<Self, ExportError> {
        check_target(path, overwrite)?;
        let prefix = partial_prefix(path);
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(SUFFIX);
        // A file that is meant to leave gets the permissions of any new file, not those of a private one.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        clear_abandoned(path);
        let file = builder
            .tempfile_in(folder_of(path))
            .map_err(|source| ExportError::from_write(path, source))?;
        // Some network folders have no locks; a file in the making is then never taken for an abandoned one.
        let _ = file.as_file().try_lock();
        Ok(Self {
            writer: BufWriter::with_capacity(BUFFER_BYTES, file),
            path: path.to_path_buf(),
            overwrite,
        })
    }

    /// The path that the file will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Syncs the file and gives it its name.
    ///
    /// # Errors
    /// When a byte could not be written, or a file of that name appeared meanwhile and may not be replaced.
    /// Nothing is left behind then, and an existing file is as it was.
    pub fn commit(self) -> Result<(), ExportError> {
        let Self {
            writer,
            path,
            overwrite,
        } = self;
        let failed = |source| ExportError::from_write(&path, source);
        let file = writer.into_inner().map_err(|error| failed(error.into_error()))?;
        file.as_file().sync_all().map_err(failed)?;
        check_left_over(&path)?;
        if overwrite {
            file.persist(&path).map_err(|error| failed(error.error))?;
        } else {
            file.persist_noclobber(&path)
                .map_err(|error| failed(error.error))?;
        }
        sync_folder(folder_of(&path)).map_err(failed)
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Takes away what a killed process left of an earlier attempt at this file. Whatever fails, the new file can
/// still be written.
fn clear_abandoned(path: &Path) {
    let prefix = partial_prefix(path);
    let Ok(entries) = fs::read_dir(folder_of(path)) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_partial = name.as_encoded_bytes().starts_with(prefix.as_encoded_bytes())
            && name.as_encoded_bytes().ends_with(SUFFIX.as_bytes())
            && entry.file_type().is_ok_and(|kind| kind.is_file())
            && is_settled(&entry);
        // A lock that can be had belongs to nobody who lives.
        if is_partial && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether nobody has written to it for a while: a file is made a moment before it is locked.
fn is_settled(entry: &fs::DirEntry) -> bool {
    let modified = entry.metadata().and_then(|data| data.modified());
    modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > SETTLED))
}

/// Bytes of a file's own name that the name in the making repeats: with what is added, a name may have 255.
const MOST_REPEATED: usize = 200;

/// How the name of a file in the making begins.
fn partial_prefix(path: &Path) -> OsString {
    let mut prefix = OsString::from(".");
    let name = path.file_name().unwrap_or_default();
    if name.len() > MOST_REPEATED {
        let name = name.to_string_lossy();
        prefix.push(&name[..name.floor_char_boundary(MOST_REPEATED)]);
    } else {
        prefix.push(name);
    }
    prefix.push(".");
    prefix
}

/// What SQLite looks for beside a database when it opens one, and takes the rows of before those of the file.
const LEFT_OVER: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Refuses a database beside which another one has left what it had not finished.
fn check_left_over(path: &Path) -> Result<(), ExportError> {
    if !matches!(TableFormat::from_path(path), Ok(TableFormat::Sqlite)) {
        return Ok(());
    }
    for ending in LEFT_OVER {
        let mut left = path.as_os_str().to_owned();
        left.push(ending);
        if fs::symlink_metadata(&left).is_ok() {
            return Err(ExportError::LeftOver {
                path: path.into(),
                left: left.into(),
            });
        }
    }
    Ok(())
}

/// Writes a whole small file.
///
/// # Errors
/// As [`AtomicFile::create`] and [`AtomicFile::commit`].
pub fn write_atomically(path: &Path, bytes: &[u8], overwrite: bool) -> Result<(), ExportError> {
    let mut file = AtomicFile::create(path, overwrite)?;
    file.write_all(bytes)
        .map_err(|source| ExportError::from_write(path, source))?;
    file.commit()
}

/// How much free space a target's folder must have before long work starts.
const PROBE_BYTES: usize = 1 << 20;

/// As [`check_target`], and whether the folder really takes files and has some room, by trying: a disk that is full
/// or read-only should be told before budget is spent on something that then has nowhere to go.
///
/// # Errors
/// As [`check_target`], and when the folder is read-only or full.
pub fn try_target(path: &Path, overwrite: bool) -> Result<(), ExportError> {
    check_target(path, overwrite)?;
    let failed = |source| ExportError::from_write(path, source);
    // Under the name that the file will have in the making.
    let mut probe = Builder::new()
        .prefix(&partial_prefix(path))
        .suffix(SUFFIX)
        .tempfile_in(folder_of(path))
        .map_err(failed)?;
    probe.write_all(&vec![0; PROBE_BYTES]).map_err(failed)?;
    probe.flush().map_err(failed)
}

/// Whether a file may be written at `path`: to be asked before long work starts, and for every file of a set
/// before the first of them is written.
///
/// # Errors
/// When it exists and may not be replaced, is a folder, or its folder is missing.
pub fn check_target(path: &Path, overwrite: bool) -> Result<(), ExportError> {
    if path.file_name().is_none() || path.is_dir() {
        return Err(ExportError::NotAFileName { path: path.into() });
    }
    let folder = folder_of(path);
    if !folder.is_dir() {
        return Err(ExportError::FolderMissing {
            folder: folder.into(),
        });
    }
    match fs::symlink_metadata(path) {
        // A dangling link is there too: writing through it would surprise.
        Ok(_) if !overwrite => return Err(ExportError::Exists { path: path.into() }),
        Err(error) if error.kind() == io::ErrorKind::InvalidFilename => {
            return Err(ExportError::from_write(path, error));
        }
        _ => {}
    }
    check_kind(path)?;
    check_left_over(path)
}

/// Refuses what is there and is neither file nor folder: a pipe has nothing to replace, and waits for ever when it is
/// opened.
fn check_kind(path: &Path) -> Result<(), ExportError> {
    match fs::metadata(path) {
        Ok(data) if !data.is_file() && !data.is_dir() => Err(ExportError::NotAFile { path: path.into() }),
        _ => Ok(()),
    }
}

/// Refuses to write over what is read: whatever name or link leads there, and whatever may be replaced. The rows that
/// a synthetic table was learned from may exist nowhere else.
///
/// # Errors
/// When a target is one of the inputs.
pub fn check_not_input(targets: &[PathBuf], inputs: &[&Path]) -> Result<(), ExportError> {
    for target in targets {
        check_kind(target)?;
        // A target that is not there yet is no input.
        if inputs
            .iter()
            .any(|input| same_file::is_same_file(target, input).unwrap_or(false))
        {
            return Err(ExportError::IsInput { path: target.clone() });
        }
    }
    Ok(())
}

/// The folder that a path lies in; `.` for a bare name.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Makes a rename in `folder` survive a power cut, where the platform has a way to.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_whole_or_absent() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        let mut file = AtomicFile::create(&path, false).unwrap();
        file.write_all(b"a,b\n").unwrap();
        assert!(!path.exists());
        drop(file);
        assert!(
            names(folder.path()).is_empty(),
            "an unfinished file leaves nothing"
        );
        write_atomically(&path, b"a,b\n1,2\n", false).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"a,b\n1,2\n");
        assert_eq!(names(folder.path()), ["table.csv"]);
    }

    #[test]
    fn an_existing_file_is_replaced_only_when_asked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        fs::write(&path, b"old").unwrap();
        assert!(matches!(
            write_atomically(&path, b"new", false),
            Err(ExportError::Exists { .. })
        ));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        write_atomically(&path, b"new", true).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["table.csv"]);
    }

    #[test]
    fn a_database_is_not_put_beside_what_an_old_one_has_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.sqlite");
        for (ending, is_there) in [("-wal", false), ("-shm", true), ("-journal", true)] {
            if is_there {
                fs::write(&path, b"old").unwrap();
            }
            let left = folder.path().join(format!("table.sqlite{ending}"));
            // There from the beginning, and there at the end.
            fs::write(&left, b"rows").unwrap();
            let early = check_target(&path, is_there).unwrap_err();
            fs::remove_file(&left).unwrap();
            let file = AtomicFile::create(&path, is_there).unwrap();
            fs::write(&left, b"rows").unwrap();
            let late = file.commit().unwrap_err();
            for error in [early, late] {
                let said = error.to_string();
                assert!(
                    said.contains(&left.display().to_string()) && said.contains("delete it"),
                    "{said}"
                );
            }
            assert_eq!(path.exists(), is_there);
            fs::remove_file(&left).unwrap();
        }
        // Nobody opens these as databases.
        let text = folder.path().join("table.csv");
        fs::write(folder.path().join("table.csv-wal"), b"").unwrap();
        write_atomically(&text, b"", false).unwrap();
    }

    #[test]
    fn a_name_as_long_as_a_name_can_be_is_written_and_a_longer_one_is_told_early() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("{}.csv", "数".repeat(83)));
        try_target(&path, false).unwrap();
        write_atomically(&path, b"a", false).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"a");
        let longer = folder.path().join(format!("{}.csv", "n".repeat(252)));
        assert!(check_target(&longer, true).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_never_replaced() {
        let null = Path::new("/dev/null");
        assert!(matches!(
            check_target(null, true),
            Err(ExportError::NotAFile { .. })
        ));
        assert!(check_not_input(&[null.into()], &[]).is_err());
    }

    #[test]
    fn what_a_killed_process_left_is_taken_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        let left = |name: &str, age: Duration| {
            let file = File::create(folder.path().join(name)).unwrap();
            file.set_modified(std::time::SystemTime::now() - age).unwrap();
            file
        };
        let old = SETTLED + Duration::from_secs(5);
        left(".table.csv.abc.partial", old);
        left(".other.csv.abc.partial", old);
        left(".table.csv.new.partial", Duration::ZERO);
        let alive = left(".table.csv.def.partial", old);
        alive.try_lock().unwrap();
        write_atomically(&path, b"new", false).unwrap();
        assert_eq!(
            names(folder.path()),
            [
                ".other.csv.abc.partial",
                ".table.csv.def.partial",
                ".table.csv.new.partial",
                "table.csv"
            ]
        );
    }

    #[test]
    fn a_file_that_appears_meanwhile_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        let mut file = AtomicFile::create(&path, false).unwrap();
        file.write_all(b"new").unwrap();
        fs::write(&path, b"somebody else's").unwrap();
        assert!(matches!(file.commit(), Err(ExportError::Exists { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"somebody else's");
        assert_eq!(names(folder.path()), ["table.csv"]);
    }

    #[test]
    fn bad_targets_are_named() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(
            check_target(folder.path(), true),
            Err(ExportError::NotAFileName { .. })
        ));
        let missing = folder.path().join("no").join("table.csv");
        let error = write_atomically(&missing, b"", false).unwrap_err();
        assert!(matches!(&error, ExportError::FolderMissing { .. }));
        assert!(error.to_string().contains("does not exist"), "{error}");
        assert!(check_target(Path::new("table.csv"), true).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_has_the_permissions_of_any_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let ours = folder.path().join("ours");
        let plain = folder.path().join("plain");
        write_atomically(&ours, b"", false).unwrap();
        fs::write(&plain, b"").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&plain));
    }
}
