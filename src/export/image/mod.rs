//! Images that leave: a folder of PNG files, a pair of IDX files, Parquet or NPZ.
//!
//! As with tables, all of it is prepared under another name and given its own at the end.

mod folder;
mod forms;
mod set;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::ExportError;
use super::atomic::{AtomicFile, check_target, try_target};
use super::certificate::hexadecimal;
use super::table::Written;
use crate::data::image::ImageForm;
use crate::train::image::DrawnImages;

pub use set::{hash_of_set, is_set, labels_file};

/// The forms in which images are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageFormat {
    /// A folder of PNG files, with `labels.csv` in it.
    Folder,
    /// `NAME-images-idx3-ubyte`, its labels in `NAME-labels-idx1-ubyte`.
    Idx,
    /// Parquet: a column of PNG files, a column of labels.
    Parquet,
    /// NPZ: an array of images and one of labels.
    Npz,
}

impl ImageFormat {
    /// By the path's ending; without one it is a folder.
    ///
    /// # Errors
    /// For any other ending.
    pub fn from_path(path: &Path) -> Result<Self, ExportError> {
        if labels_file(path).is_some() {
            return Ok(Self::Idx);
        }
        let ending = path
            .extension()
            .map(|ending| ending.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            None => Ok(Self::Folder),
            Some("parquet") => Ok(Self::Parquet),
            Some("npz") => Ok(Self::Npz),
            Some(_) => Err(ExportError::UnknownImages {
                path: path.to_owned(),
            }),
        }
    }
}

/// What is known of images before the first is written.
#[derive(Clone, Copy, Debug)]
pub struct ImagesAhead<'a> {
    /// What they have in common.
    pub form: ImageForm,
    /// How many there will be.
    pub count: usize,
    /// The classes; fewer than two for images without labels.
    pub classes: &'a [String],
}

impl ImagesAhead<'_> {
    const fn has_labels(&self) -> bool {
        self.classes.len() > 1
    }
}

/// Writes images batch by batch; [`ImageWriter::seal`] completes them, [`SealedImages::publish`] gives them their name.
/// Dropped before that, or after an error, it leaves nothing.
pub struct ImageWriter<'a>(Output<'a>);

enum Output<'a> {
    Folder(folder::FolderWriter<'a>),
    Idx(forms::IdxWriter),
    Parquet(Box<forms::ParquetImages<'a>>),
    Npz(forms::NpzWriter),
}

/// Whole images that wait for their name. Dropped, they leave nothing.
pub struct SealedImages {
    place: Place,
    written: Written,
}

enum Place {
    Folder(folder::SealedFolder),
    Files(Vec<AtomicFile>),
}

impl SealedImages {
    /// Their hash, size and number.
    pub const fn written(&self) -> &Written {
        &self.written
    }

    /// Gives them their name.
    ///
    /// # Errors
    /// When the disk refuses, or something of that name appeared meanwhile.
    pub fn publish(self) -> Result<Written, ExportError> {
        match self.place {
            Place::Folder(folder) => folder.commit()?,
            // The images last: whoever finds them finds their labels.
            Place::Files(files) => files.into_iter().rev().try_for_each(AtomicFile::commit)?,
        }
        Ok(self.written)
    }
}

impl<'a> ImageWriter<'a> {
    /// Begins. What exists is refused unless `overwrite`.
    ///
    /// # Errors
    /// When the ending is unknown, something of that name exists, or its folder is missing, read-only or full.
    pub fn create(path: &Path, ahead: ImagesAhead<'a>, overwrite: bool) -> Result<Self, ExportError> {
        Ok(Self(match ImageFormat::from_path(path)? {
            ImageFormat::Folder => Output::Folder(folder::FolderWriter::create(path, ahead, overwrite)?),
            ImageFormat::Idx => Output::Idx(forms::IdxWriter::create(path, ahead, overwrite)?),
            ImageFormat::Parquet => {
                Output::Parquet(Box::new(forms::ParquetImages::create(path, ahead, overwrite)?))
            }
            ImageFormat::Npz => Output::Npz(forms::NpzWriter::create(path, ahead, overwrite)?),
        }))
    }

    /// Adds images.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn write(&mut self, images: &DrawnImages) -> Result<(), ExportError> {
        match &mut self.0 {
            Output::Folder(writer) => writer.write(images),
            Output::Idx(writer) => writer.write(images),
            Output::Parquet(writer) => writer.write(images),
            Output::Npz(writer) => {
                writer.write(images);
                Ok(())
            }
        }
    }

    /// Completes the files under their temporary names.
    ///
    /// # Errors
    /// When the disk refuses; nothing is left behind then.
    pub fn seal(self) -> Result<SealedImages, ExportError> {
        match self.0 {
            Output::Folder(writer) => writer.seal(),
            Output::Idx(writer) => Ok(writer.seal()),
            Output::Parquet(writer) => writer.seal(),
            Output::Npz(writer) => writer.seal(),
        }
    }
}

/// Whether images may be written here: to be asked before long work starts.
///
/// # Errors
/// As [`ImageWriter::create`].
pub fn check_images_target(path: &Path, overwrite: bool) -> Result<(), ExportError> {
    match ImageFormat::from_path(path)? {
        ImageFormat::Folder => folder::check(path, overwrite),
        ImageFormat::Idx => {
            let labels = labels_file(path);
            std::iter::once(path)
                .chain(labels.as_deref())
                .try_for_each(|path| check_target(path, overwrite))
        }
        ImageFormat::Parquet | ImageFormat::Npz => check_target(path, overwrite),
    }
}

/// As [`check_images_target`], and whether the place really takes files.
///
/// # Errors
/// As [`check_images_target`], and when the folder is read-only or full.
pub fn try_images_target(path: &Path, overwrite: bool) -> Result<(), ExportError> {
    check_images_target(path, overwrite)?;
    if ImageFormat::from_path(path)? == ImageFormat::Folder {
        // A file of that name is not what will be there, but it tells whether the folder around takes any.
        let mut beside = path.as_os_str().to_owned();
        beside.push(".probe");
        return try_target(&PathBuf::from(beside), true);
    }
    try_target(path, overwrite)
}

/// A file that hashes itself.
pub(super) struct HashedFile {
    file: AtomicFile,
    hasher: Sha256,
    bytes: u64,
}

impl HashedFile {
    fn create(path: &Path, overwrite: bool) -> Result<Self, ExportError> {
        Ok(Self {
            file: AtomicFile::create(path, overwrite)?,
            hasher: Sha256::new(),
            bytes: 0,
        })
    }

    fn failed(&self, source: io::Error) -> ExportError {
        ExportError::from_write(self.file.path(), source)
    }

    /// The file that waits for its name, and what is in it.
    fn seal(self, rows: usize) -> (AtomicFile, Written) {
        let written = Written {
            sha256: hexadecimal(&self.hasher.finalize()),
            bytes: self.bytes,
            rows: rows as u64,
            rules: Vec::new(),
            left_out: 0,
        };
        (self.file, written)
    }
}

impl Write for HashedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Bytes of images as PNG files.
pub(super) fn file_bytes(images: &DrawnImages, form: ImageForm) -> io::Result<u64> {
    let files = images.bytes.chunks_exact(form.pixels());
    files.map(|image| Ok(png(image, form)?.len() as u64)).sum()
}

/// One image as a PNG file.
fn png(bytes: &[u8], form: ImageForm) -> io::Result<Vec<u8>> {
    use image::{ExtendedColorType, ImageEncoder as _, codecs::png::PngEncoder};
    let colour = if form.colours == 1 {
        ExtendedColorType::L8
    } else {
        ExtendedColorType::Rgb8
    };
    let mut file = Vec::new();
    let side = form.side as u32;
    PngEncoder::new(&mut file)
        .write_image(bytes, side, side, colour)
        .map_err(io::Error::other)?;
    Ok(file)
}

#[cfg(test)]
mod tests;
