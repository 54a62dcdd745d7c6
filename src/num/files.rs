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

/// Reads by position: how many bytes there were, none at the end. Where the file is read otherwise does not change.
///
/// # Errors
/// When the system refuses.
#[cfg(unix)]
pub fn read_at(file: &File, out: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, out, at)
}

/// Reads by position: how many bytes there were, none at the end.
///
/// # Errors
/// When the system refuses.
#[cfg(windows)]
pub fn read_at(file: &File, out: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, out, at)
}

/// Reads as many bytes as there is room for, by position.
///
/// # Errors
/// When the file ends before, or the system refuses.
pub fn read_exact_at(file: &File, mut out: &mut [u8], mut at: u64) -> io::Result<()> {
    while !out.is_empty() {
        match read_at(file, out, at) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                out = &mut out[count..];
                at += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
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

    #[test]
    fn positions_are_ones_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, b"0123456789").unwrap();
        let file = open_regular(&path).unwrap();
        let mut out = [0; 4];
        read_exact_at(&file, &mut out, 5).unwrap();
        assert_eq!(&out, b"5678");
        assert_eq!(read_at(&file, &mut out, 8).unwrap(), 2);
        assert_eq!(read_at(&file, &mut out, 10).unwrap(), 0);
        let ended = read_exact_at(&file, &mut out, 8).unwrap_err();
        assert_eq!(ended.kind(), io::ErrorKind::UnexpectedEof);
    }
}
