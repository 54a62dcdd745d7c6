//! A folder of PNG files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::set::SetHash;
use super::{ImagesAhead, Place, SealedImages, png};
use crate::export::ExportError;
use crate::export::atomic::folder_of;
use crate::export::certificate::hexadecimal;
use crate::export::table::Written;
use crate::train::image::DrawnImages;

/// The labels, in the folder.
const LABELS: &str = "labels.csv";

/// Writes a folder under another name beside its own.
pub struct FolderWriter<'a> {
    making: TempDir,
    path: PathBuf,
    overwrite: bool,
    ahead: ImagesAhead<'a>,
    /// Digits of an image's number.
    digits: usize,
    written: usize,
    hash: SetHash,
    labels: csv::Writer<Vec<u8>>,
}

/// A whole folder that waits for its name.
pub struct SealedFolder {
    making: TempDir,
    path: PathBuf,
    overwrite: bool,
}

/// Whether a folder may be written at `path`. One that is there is replaced only if it looks like an export: nothing
/// but PNG files and their labels.
pub fn check(path: &Path, overwrite: bool) -> Result<(), ExportError> {
    if path.file_name().is_none() {
        return Err(ExportError::NotAFileName { path: path.into() });
    }
    let around = folder_of(path);
    if !around.is_dir() {
        return Err(ExportError::FolderMissing {
            folder: around.into(),
        });
    }
    if fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    if !overwrite {
        return Err(ExportError::Exists { path: path.into() });
    }
    let is_ours = |entry: io::Result<fs::DirEntry>| {
        entry.is_ok_and(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            entry.file_type().is_ok_and(|kind| kind.is_file()) && (name == LABELS || name.ends_with(".png"))
        })
    };
    let is_export =
        path.is_dir() && !path.is_symlink() && path.read_dir().is_ok_and(|mut entries| entries.all(is_ours));
    if is_export {
        Ok(())
    } else {
        Err(ExportError::NotAnExport { path: path.into() })
    }
}

impl<'a> FolderWriter<'a> {
    pub fn create(path: &Path, ahead: ImagesAhead<'a>, overwrite: bool) -> Result<Self, ExportError> {
        check(path, overwrite)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let making = tempfile::Builder::new()
            .prefix(&format!(".{name}."))
            .suffix(".partial")
            .tempdir_in(folder_of(path))
            .map_err(|source| ExportError::from_write(path, source))?;
        #[cfg(unix)]
        {
            // A folder that is meant to leave gets the permissions of any new folder, not those of a private one.
            use std::os::unix::fs::PermissionsExt as _;
            let around = fs::metadata(folder_of(path));
            let mode = around.map_or(0o755, |meta| meta.permissions().mode() & 0o777 | 0o700);
            let _ = fs::set_permissions(making.path(), fs::Permissions::from_mode(mode));
        }
        let mut labels = csv::Writer::from_writer(Vec::new());
        labels
            .write_record(["file", "label"])
            .map_err(|error| ExportError::from_write(path, io::Error::other(error)))?;
        Ok(Self {
            making,
            path: path.to_owned(),
            overwrite,
            digits: ahead.count.max(1).to_string().len().max(5),
            ahead,
            written: 0,
            hash: SetHash::default(),
            labels,
        })
    }

    pub fn write(&mut self, images: &DrawnImages) -> Result<(), ExportError> {
        let pixels = self.ahead.form.pixels();
        for (image, code) in images.bytes.chunks_exact(pixels).zip(&images.codes) {
            let name = format!("{:0digits$}.png", self.written, digits = self.digits);
            let failed = |source| ExportError::from_write(&self.path, source);
            let bytes = png(image, self.ahead.form).map_err(failed)?;
            put(self.making.path(), &name, &bytes, &mut self.hash).map_err(failed)?;
            if self.ahead.has_labels() {
                let label = &self.ahead.classes[usize::from(*code)];
                self.labels
                    .write_record([&name, label])
                    .map_err(|error| failed(io::Error::other(error)))?;
            }
            self.written += 1;
        }
        Ok(())
    }

    pub fn seal(mut self) -> Result<SealedImages, ExportError> {
        let failed = |source| ExportError::from_write(&self.path, source);
        if self.ahead.has_labels() {
            let labels = self
                .labels
                .into_inner()
                .map_err(|error| failed(io::Error::other(error.error().to_string())))?;
            put(self.making.path(), LABELS, &labels, &mut self.hash).map_err(failed)?;
        }
        let (sha256, bytes) = self.hash.finish();
        Ok(SealedImages {
            written: Written {
                sha256,
                bytes,
                rows: self.written as u64,
                rules: Vec::new(),
                left_out: 0,
            },
            place: Place::Folder(SealedFolder {
                making: self.making,
                path: self.path,
                overwrite: self.overwrite,
            }),
        })
    }
}

fn put(folder: &Path, name: &str, bytes: &[u8], hash: &mut SetHash) -> io::Result<()> {
    hash.push(name, &hexadecimal(&Sha256::digest(bytes)), bytes.len() as u64);
    fs::write(folder.join(name), bytes)
}

impl SealedFolder {
    /// Gives the folder its name; one that was there goes only once the new one is whole.
    pub fn commit(self) -> Result<(), ExportError> {
        check(&self.path, self.overwrite)?;
        let failed = |source| ExportError::from_write(&self.path, source);
        let old = if fs::symlink_metadata(&self.path).is_ok() {
            let aside = tempfile::Builder::new()
                .prefix(".replaced.")
                .tempdir_in(folder_of(&self.path))
                .map_err(failed)?;
            fs::rename(&self.path, aside.path().join("old")).map_err(failed)?;
            Some(aside)
        } else {
            None
        };
        let made = self.making.keep();
        if let Err(source) = fs::rename(&made, &self.path) {
            if let Some(aside) = &old {
                let _ = fs::rename(aside.path().join("old"), &self.path);
            }
            let _ = fs::remove_dir_all(&made);
            return Err(failed(source));
        }
        Ok(())
    }
}
