//! Whether what is asked for has room where it is to go: told when the first pieces of it are there, not hours later.

use std::path::Path;

use arrow::record_batch::RecordBatch;

use super::ExportError;
use super::atomic::folder_of;
use super::image::{ImageFormat, ImagesAhead, file_bytes};
use super::table::TableWriter;
use crate::data::Schema;
use crate::num::machine::free_space;
use crate::train::image::DrawnImages;

/// Fewer rows are written without asking: a disk that is full tells so before long.
const MANY_ROWS: usize = 1 << 20;
/// The same of images.
const MANY_IMAGES: usize = 1 << 16;
/// The most that an NPZ's array and an IDX file's count can be.
const MOST: u64 = u32::MAX as u64;

/// Refuses what would take at least so many bytes where fewer are free. Where the system does not tell what is free,
/// nothing is refused.
///
/// # Errors
/// With both figures.
pub(super) fn check_room(path: &Path, needed: u64) -> Result<(), ExportError> {
    match free_space(folder_of(path)) {
        Some(free) if needed > free => Err(ExportError::NoRoom {
            path: path.to_owned(),
            needed,
            free,
        }),
        _ => Ok(()),
    }
}

/// Whether a table has room at `path`, judged by the bytes that its first rows take there.
///
/// # Errors
/// When it has none, or the first rows cannot be written.
pub fn check_table_room(
    path: &Path,
    schema: &Schema,
    first: &RecordBatch,
    rows: usize,
) -> Result<(), ExportError> {
    if rows < MANY_ROWS {
        return Ok(());
    }
    // A file of its own, which goes when its size is known.
    let mut trial = TableWriter::create(path, schema, true)?;
    trial.write(first)?;
    let bytes = trial.seal()?.written().bytes;
    check_room(path, scaled(bytes, first.num_rows(), rows))
}

/// Whether images have room at `path`, and fit its form, judged by the first of them.
///
/// # Errors
/// When they have none, or do not.
pub fn check_images_room(
    path: &Path,
    ahead: ImagesAhead<'_>,
    first: &DrawnImages,
) -> Result<(), ExportError> {
    if ahead.count < MANY_IMAGES {
        return Ok(());
    }
    let unwritable = |reason: &str| {
        Err(ExportError::Unwritable {
            path: path.to_owned(),
            reason: reason.to_owned(),
        })
    };
    let count = ahead.count as u64;
    let bytes = count.saturating_mul(ahead.form.pixels() as u64);
    match ImageFormat::from_path(path)? {
        ImageFormat::Idx if count > MOST => {
            unwritable("such a file counts at most 4294967295 images; choose .parquet")
        }
        ImageFormat::Idx => check_room(path, bytes),
        ImageFormat::Npz if bytes > MOST => {
            unwritable("an array of 4 GB or more does not fit into this form; choose .parquet")
        }
        ImageFormat::Npz => Ok(()),
        ImageFormat::Folder | ImageFormat::Parquet => {
            let bytes =
                file_bytes(first, ahead.form).map_err(|source| ExportError::from_write(path, source))?;
            check_room(path, scaled(bytes, first.codes.len(), ahead.count))
        }
    }
}

/// What all take if the first take so much. A quarter less: the head of a file is written once, and to refuse what would
/// fit is worse than to tell later that it does not.
fn scaled(bytes: u64, first: usize, all: usize) -> u64 {
    let all = u128::from(bytes) * all as u128 / (first.max(1) as u128);
    u64::try_from(all - all / 4).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::image::ImageForm;

    #[test]
    fn what_the_first_take_tells_of_all() {
        assert_eq!(scaled(800, 10, 10), 600);
        assert_eq!(scaled(1 << 20, 8192, 1_000_000_000_000), 96_000_000_000_000);
        assert_eq!(scaled(u64::MAX, 1, usize::MAX), u64::MAX);
    }

    #[test]
    fn what_has_no_room_is_refused_with_both_figures() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        check_room(&path, 0).unwrap();
        let Err(ExportError::NoRoom { needed, free, .. }) = check_room(&path, u64::MAX) else {
            assert!(free_space(folder.path()).is_none());
            return;
        };
        assert!(free < needed);
        let said = check_room(&path, 3_000_000_000_000_000).unwrap_err().to_string();
        assert!(said.contains("rows.csv") && said.contains("3000 TB"), "{said}");
    }

    #[test]
    fn images_are_held_against_room_and_form() {
        let folder = tempfile::tempdir().unwrap();
        let form = ImageForm { side: 8, colours: 1 };
        let first = DrawnImages {
            bytes: vec![7; 2 * form.pixels()],
            codes: vec![0, 0],
        };
        let check = |name: &str, count: usize| {
            let ahead = ImagesAhead {
                form,
                count,
                classes: &[],
            };
            check_images_room(&folder.path().join(name), ahead, &first)
        };
        for name in ["some-images-idx3-ubyte", "some.npz", "some.parquet", "some"] {
            check(name, 100_000).unwrap();
        }
        for name in ["many-images-idx3-ubyte", "many.npz"] {
            let said = check(name, 1_000_000_000_000).unwrap_err().to_string();
            assert!(said.contains(name) && said.contains(".parquet"), "{said}");
        }
        if free_space(folder.path()).is_some() {
            for name in ["many.parquet", "many"] {
                let error = check(name, 1_000_000_000_000_000).unwrap_err();
                assert!(matches!(error, ExportError::NoRoom { .. }), "{error}");
            }
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
