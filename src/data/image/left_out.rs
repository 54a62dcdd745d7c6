//! What lies in a folder of pictures and is not read, though somebody may think that it is.

use std::path::{Path, PathBuf};

/// Endings of pictures in forms that are not read.
const OTHERS: [&str; 13] = [
    "gif", "bmp", "webp", "heic", "heif", "avif", "jp2", "svg", "tga", "ico", "ppm", "pgm", "psd",
];

/// Pictures of other forms, names of pictures with no file behind them, and folders too deep to be looked into. `is_deep`
/// says that folders here are.
pub fn left_out(
    entries: &[PathBuf],
    is_deep: bool,
    is_picture: impl Fn(&Path) -> bool,
) -> impl Iterator<Item = &PathBuf> {
    entries.iter().filter(move |entry| {
        let is_hidden = entry
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if is_hidden || is_picture(entry) {
            return false;
        }
        if entry.is_dir() {
            return is_deep;
        }
        let ending = entry.extension().unwrap_or_default();
        let ending = ending.to_string_lossy().to_lowercase();
        OTHERS.contains(&ending.as_str()) || super::folder::ENDINGS.contains(&ending.as_str())
    })
}

/// Says how many were left out, and which was the first.
pub fn note(names: &[String]) -> Option<String> {
    let first = names.first()?;
    let count = names.len();
    let were = if count == 1 { "entry was" } else { "entries were" };
    Some(format!(
        "{count} {were} left out, the first of them {first}: only PNG, JPEG and TIFF files are read, and those at most one \
         folder down"
    ))
}

#[cfg(test)]
mod tests {
    use image::{GrayImage, Luma};

    use crate::data::image::{ImageOptions, read_images};
    use crate::num::progress::Progress;

    #[test]
    fn what_is_left_out_is_counted_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let picture = GrayImage::from_pixel(16, 16, Luma([7]));
        std::fs::create_dir_all(path.join("cat/deeper")).unwrap();
        picture.save(path.join("cat/a.png")).unwrap();
        picture.save(path.join("cat/deeper/b.png")).unwrap();
        let notes = || {
            let set = read_images(path, &ImageOptions::default(), &Progress::new()).unwrap();
            set.notes().to_vec()
        };
        let said = notes();
        assert!(
            said[0].contains("1 entry") && said[0].contains("cat/deeper"),
            "{said:?}"
        );
        std::fs::write(path.join("anim.gif"), b"GIF89a").unwrap();
        std::fs::write(path.join("notes.txt"), b"of no concern").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("nowhere", path.join("cat/lost.png")).unwrap();
        let said = notes();
        let count = if cfg!(unix) { "3 entries" } else { "2 entries" };
        assert!(
            said[0].contains(count) && said[0].contains("anim.gif"),
            "{said:?}"
        );
        std::fs::remove_file(path.join("anim.gif")).unwrap();
        let _ = std::fs::remove_file(path.join("cat/lost.png"));
        std::fs::remove_dir_all(path.join("cat/deeper")).unwrap();
        assert!(notes().is_empty());
    }
}
