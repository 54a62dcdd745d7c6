//! Files that may be anything: a person can name a pipe, a device without an end, or a film.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Opens a file to read, unless it is a pipe or a device: opening a pipe waits for somebody to write into it.
///
/// # Errors
/// When it is none that can be read to an end.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let meta = std::fs::metadata(path)?;
    if meta.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    if !meta.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is a pipe or a device; write its content into a file and choose that",
        ));
    }
    File::open(path)
}

/// Reads a whole file of at most so many bytes.
///
/// # Errors
/// When it is larger, or cannot be read.
pub fn read_whole(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?
        .take(most.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it has more than {} megabytes", most >> 20),
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_an_end_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, b"abc").unwrap();
        assert_eq!(read_whole(&path, 3).unwrap(), b"abc");
        assert_eq!(
            read_whole(&path, 2).unwrap_err().kind(),
            io::ErrorKind::FileTooLarge
        );
        assert_eq!(
            read_whole(folder.path(), 9).unwrap_err().kind(),
            io::ErrorKind::IsADirectory
        );
        #[cfg(unix)]
        assert_eq!(
            read_whole(Path::new("/dev/zero"), 9).unwrap_err().kind(),
            io::ErrorKind::InvalidInput
        );
    }
}
