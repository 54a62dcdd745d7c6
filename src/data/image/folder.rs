//! A folder of pictures: with a sub-folder for each class, with a table of labels, or without labels.

use std::fs;
use std::path::{Path, PathBuf};

use super::decode::{Picture, decode_all};
use super::labels::{self, number};
use super::left_out;
use super::{Found, ImageOptions};
use crate::data::DataError;
use crate::num::files::read_whole;
use crate::num::progress::Progress;

/// Endings of pictures.
pub(super) const ENDINGS: [&str; 5] = ["png", "jpg", "jpeg", "tif", "tiff"];
/// No picture's file is larger.
const MOST_BYTES: u64 = 1 << 28;

fn is_picture(path: &Path) -> bool {
    let ending = path
        .extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    let is_hidden = path
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with('.'));
    !is_hidden && ENDINGS.contains(&ending.as_str()) && path.is_file()
}

/// Whether pictures lie in the folder, or in one of its sub-folders.
pub fn holds_pictures(path: &Path) -> bool {
    let Ok(entries) = list(path) else { return false };
    entries.iter().any(|entry| {
        is_picture(entry)
            || (entry.is_dir() && list(entry).is_ok_and(|inner| inner.iter().any(|file| is_picture(file))))
    })
}

/// What lies in a folder, in order of names.
fn list(path: &Path) -> Result<Vec<PathBuf>, DataError> {
    let io = |source| DataError::Io {
        path: path.to_owned(),
        action: "read the folder",
        source,
    };
    let mut entries = fs::read_dir(path)
        .map_err(io)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(io)?;
    entries.sort();
    Ok(entries)
}

fn wrong(path: &Path, message: String) -> DataError {
    DataError::Images {
        path: path.to_owned(),
        message,
    }
}

/// There is no picture in a folder.
pub fn nothing_in(path: &Path) -> DataError {
    wrong(
        path,
        "there is no image in it: no PNG, JPEG or TIFF file, neither in itself nor one folder down"
            .to_owned(),
    )
}

/// Pictures and the class of each, if there are any.
struct Listed {
    files: Vec<PathBuf>,
    classes: Option<Vec<String>>,
    /// What is not read, though somebody may think that it is.
    left_out: Vec<String>,
}

/// Reads all pictures and their classes.
pub fn read(path: &Path, options: &ImageOptions, progress: &Progress) -> Result<Found, DataError> {
    let listed = listed(path, options)?;
    if listed.files.is_empty() {
        return Err(nothing_in(path));
    }
    let pictures: Vec<Picture<'_>> = listed
        .files
        .iter()
        .map(|file| Picture {
            name: shown(path, file),
            bytes: Box::new(move || read_whole(file, MOST_BYTES)),
        })
        .collect();
    let decoded = decode_all(path.to_owned(), &pictures, options, progress)?;
    let mut notes = notes(&pictures, &decoded.skipped);
    notes.extend(left_out::note(&listed.left_out));
    let kept = |place: usize| decoded.skipped.iter().all(|(skipped, _)| *skipped != place);
    let mut hasher = blake3::Hasher::new();
    let names = pictures.iter().enumerate().filter(|(place, _)| kept(*place));
    for ((_, picture), digest) in names.zip(&decoded.digests) {
        hasher.update(picture.name.as_bytes());
        hasher.update(digest);
    }
    let labels = match listed.classes {
        None => None,
        Some(classes) => {
            let classes: Vec<String> = classes
                .into_iter()
                .enumerate()
                .filter(|(place, _)| kept(*place))
                .map(|(_, class)| class)
                .collect();
            for class in &classes {
                hasher.update(class.as_bytes());
            }
            Some(number(path, &classes)?)
        }
    };
    Ok(Found {
        form: decoded.form,
        bytes: decoded.bytes,
        labels,
        digest: *hasher.finalize().as_bytes(),
        file_bytes: decoded.file_bytes,
        notes,
    })
}

fn shown(folder: &Path, file: &Path) -> String {
    let inside = file.strip_prefix(folder).unwrap_or(file).display().to_string();
    // One way to write a path, so that a table of labels is good everywhere.
    inside.replace('\\', "/")
}

pub(super) fn notes(pictures: &[Picture<'_>], skipped: &[(usize, String)]) -> Vec<String> {
    let Some((first, reason)) = skipped.first() else {
        return Vec::new();
    };
    let count = skipped.len();
    let images = if count == 1 { "image was" } else { "images were" };
    vec![format!(
        "{count} {images} skipped, the first of them {}: {reason}",
        pictures[*first].name
    )]
}

fn listed(path: &Path, options: &ImageOptions) -> Result<Listed, DataError> {
    let entries = list(path)?;
    let mut files: Vec<PathBuf> = entries
        .iter()
        .filter(|entry| is_picture(entry))
        .cloned()
        .collect();
    let unread = left_out::left_out(&entries, false, is_picture);
    let mut left_out: Vec<String> = unread.map(|entry| shown(path, entry)).collect();
    let mut inner = Vec::new();
    for folder in entries.iter().filter(|entry| entry.is_dir()) {
        let class = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let within = list(folder)?;
        left_out.extend(left_out::left_out(&within, true, is_picture).map(|entry| shown(path, entry)));
        inner.extend(
            within
                .into_iter()
                .filter(|file| is_picture(file))
                .map(|file| (file, class.clone())),
        );
    }
    let table = labels::table_of(path, options);
    if let (Some(table), Some(_)) = (&table, &options.labels) {
        // A table that is named says more than where a picture lies.
        files.extend(inner.into_iter().map(|(file, _)| file));
        let names: Vec<String> = files.iter().map(|file| shown(path, file)).collect();
        let classes = Some(labels::classes_of(table, &names)?);
        return Ok(Listed {
            files,
            classes,
            left_out,
        });
    }
    match (files.is_empty(), inner.is_empty(), table) {
        (false, false, _) => Err(wrong(
            path,
            "images lie both in it and in folders within; put all of them into folders named after their classes, or \
             none"
                .to_owned(),
        )),
        (true, false, Some(table)) if table.starts_with(path) => Err(wrong(
            path,
            format!(
                "there are both folders named after classes and {}; take one of them away, or name the table (--labels)",
                shown(path, &table)
            ),
        )),
        (true, false, _) => {
            let (files, classes) = inner.into_iter().unzip();
            Ok(Listed {
                files,
                classes: Some(classes),
                left_out,
            })
        }
        (true, true, Some(table)) => Err(wrong(
            path,
            format!("there is {}, and no image that it could be about", shown(path, &table)),
        )),
        (_, _, Some(table)) => {
            let names: Vec<String> = files.iter().map(|file| shown(path, file)).collect();
            let classes = Some(labels::classes_of(&table, &names)?);
            Ok(Listed {
                files,
                classes,
                left_out,
            })
        }
        (_, _, None) => Ok(Listed {
            files,
            classes: None,
            left_out,
        }),
    }
}

#[cfg(test)]
mod tests;
