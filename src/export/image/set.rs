//! Several files that are one thing: a folder of images, or images and their labels.
//!
//! Their hash is the SHA-256 of the list of their hashes, as `sha256sum` prints it for the files in order of their
//! names: `HASH  NAME` on a line each. Anyone can compute it again with `sha256sum * | sha256sum`.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::export::certificate::hexadecimal;

/// What the name of an images' file has where that of its labels' file has the other.
const IMAGES: (&str, &str) = ("images-idx3-ubyte", "labels-idx1-ubyte");

/// The labels' file that belongs to an images' file of that name; `None` for any other name.
pub fn labels_file(images: &Path) -> Option<PathBuf> {
    let name = images.file_name()?.to_str()?;
    let start = name.strip_suffix(IMAGES.0)?;
    Some(images.with_file_name(format!("{start}{}", IMAGES.1)))
}

/// Whether what lies at the path is hashed as a set.
pub fn is_set(path: &Path) -> bool {
    path.is_dir() || labels_file(path).is_some_and(|labels| labels.is_file())
}

/// The files of a set, in order of their names.
fn files_of(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = if path.is_dir() {
        let entries = path.read_dir()?.map(|entry| entry.map(|entry| entry.path()));
        entries.collect::<io::Result<Vec<_>>>()?
    } else {
        std::iter::once(path.to_owned())
            .chain(labels_file(path))
            .collect()
    };
    files.sort();
    Ok(files)
}

/// The hash of a set that lies at the path, and the bytes in it.
///
/// # Errors
/// When a file cannot be read.
pub fn hash_of_set(path: &Path) -> io::Result<(String, u64)> {
    let mut list = SetHash::default();
    let mut buffer = vec![0; 1 << 16];
    for file in files_of(path)? {
        let mut hasher = Sha256::new();
        let mut reader = File::open(&file)?;
        let mut bytes = 0;
        loop {
            match reader.read(&mut buffer)? {
                0 => break,
                count => {
                    hasher.update(&buffer[..count]);
                    bytes += count as u64;
                }
            }
        }
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        list.push(&name, &hexadecimal(&hasher.finalize()), bytes);
    }
    Ok(list.finish())
}

/// The list of a set's files, as it grows.
#[derive(Default)]
pub(super) struct SetHash {
    files: Vec<(String, String)>,
    bytes: u64,
}

impl SetHash {
    /// Adds a file.
    pub fn push(&mut self, name: &str, sha256: &str, bytes: u64) {
        self.files.push((name.to_owned(), sha256.to_owned()));
        self.bytes += bytes;
    }

    /// The hash, and all bytes.
    pub fn finish(mut self) -> (String, u64) {
        self.files.sort();
        let mut list = String::new();
        for (name, sha256) in self.files {
            // Writing to a String cannot fail.
            let _ = writeln!(list, "{sha256}  {name}");
        }
        (hexadecimal(&Sha256::digest(list.as_bytes())), self.bytes)
    }
}
