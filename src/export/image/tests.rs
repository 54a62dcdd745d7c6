//! What is written against what is read back.

use std::fs;

use super::*;
use crate::data::image::{ImageOptions, read_images};
use crate::num::Progress;

const FORM: ImageForm = ImageForm { side: 8, colours: 1 };

fn classes() -> Vec<String> {
    vec!["cat".to_owned(), "dog, black".to_owned()]
}

fn drawn(count: usize) -> DrawnImages {
    DrawnImages {
        bytes: (0..count * 64).map(|place| (place * 7 % 251) as u8).collect(),
        codes: (0..count).map(|image| (image % 2) as u8).collect(),
    }
}

fn write(path: &Path, images: &DrawnImages, overwrite: bool) -> Result<Written, ExportError> {
    let classes = classes();
    let ahead = ImagesAhead {
        form: FORM,
        count: images.codes.len(),
        classes: &classes,
    };
    let mut writer = ImageWriter::create(path, ahead, overwrite)?;
    let (bytes, codes) = (images.bytes.split_at(64), images.codes.split_at(1));
    for (bytes, codes) in [(bytes.0, codes.0), (bytes.1, codes.1)] {
        writer.write(&DrawnImages {
            bytes: bytes.to_vec(),
            codes: codes.to_vec(),
        })?;
    }
    writer.seal()?.publish()
}

#[test]
fn a_pair_of_idx_files_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new-images-idx3-ubyte");
    let images = drawn(5);
    let written = write(&path, &images, false).unwrap();
    let read = read_images(&path, &ImageOptions::default(), &Progress::new()).unwrap();
    assert_eq!((read.bytes(), read.codes()), (&images.bytes[..], images.codes));
    let (sha256, bytes) = hash_of_set(&path).unwrap();
    assert_eq!(
        (written.sha256, written.bytes, written.rows),
        (sha256.clone(), bytes, 5)
    );
    // A changed label is a changed set.
    let labels = folder.path().join("new-labels-idx1-ubyte");
    let mut changed = fs::read(&labels).unwrap();
    *changed.last_mut().unwrap() ^= 1;
    fs::write(&labels, changed).unwrap();
    assert_ne!(hash_of_set(&path).unwrap().0, sha256);
    assert!(matches!(
        write(&path, &drawn(2), false),
        Err(ExportError::Exists { .. })
    ));
    write(&path, &drawn(2), true).unwrap();
}

#[test]
fn a_folder_holds_png_files_and_their_labels() {
    let around = tempfile::tempdir().unwrap();
    let path = around.path().join("digits");
    let images = drawn(3);
    let written = write(&path, &images, false).unwrap();
    let mut names: Vec<String> = fs::read_dir(&path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["00000.png", "00001.png", "00002.png", "labels.csv"]);
    let labels = fs::read_to_string(path.join("labels.csv")).unwrap();
    assert_eq!(
        labels,
        "file,label\n00000.png,cat\n00001.png,\"dog, black\"\n00002.png,cat\n"
    );
    let picture = image::open(path.join("00001.png")).unwrap().to_luma8();
    assert_eq!(picture.as_raw(), &images.bytes[64..128]);
    assert_eq!(hash_of_set(&path).unwrap(), (written.sha256, written.bytes));
    assert_eq!(
        fs::read_dir(around.path()).unwrap().count(),
        1,
        "nothing else is left"
    );
    // An earlier export may be replaced, anything else never.
    assert!(matches!(
        write(&path, &images, false),
        Err(ExportError::Exists { .. })
    ));
    write(&path, &drawn(2), true).unwrap();
    assert_eq!(fs::read_dir(&path).unwrap().count(), 3);
    fs::write(path.join("thesis.txt"), "years of work").unwrap();
    assert!(matches!(
        write(&path, &images, true),
        Err(ExportError::NotAnExport { .. })
    ));
    assert!(path.join("thesis.txt").exists());
    assert_eq!(fs::read_dir(around.path()).unwrap().count(), 1);
}

#[test]
fn parquet_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.parquet");
    let images = drawn(4);
    let written = write(&path, &images, false).unwrap();
    assert_eq!(written.bytes, fs::metadata(&path).unwrap().len());
    assert!(crate::data::image::holds_images(&path));
    let read = read_images(&path, &ImageOptions::default(), &Progress::new()).unwrap();
    assert_eq!((read.bytes(), read.codes()), (&images.bytes[..], images.codes));
    assert_eq!(read.labels().unwrap().names, classes());
}

#[test]
fn npz_holds_two_arrays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.npz");
    let images = drawn(4);
    write(&path, &images, false).unwrap();
    let bytes = fs::read(&path).unwrap();
    // The directory at the end leads to both members.
    let end = &bytes[bytes.len() - 22..];
    assert!(end.starts_with(b"PK\x05\x06") && end[8..12] == [2, 0, 2, 0]);
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let mut entry = number(bytes.len() - 6);
    for (name, shape, expected) in [
        ("images.npy", "(4,8,8,)", &images.bytes),
        ("labels.npy", "(4,)", &images.codes),
    ] {
        assert!(bytes[entry..].starts_with(b"PK\x01\x02"));
        assert_eq!(&bytes[entry + 46..entry + 46 + name.len()], name.as_bytes());
        let (checksum, size, start) = (number(entry + 16), number(entry + 24), number(entry + 42));
        entry += 46 + name.len();
        assert!(bytes[start..].starts_with(b"PK\x03\x04"));
        let content = &bytes[start + 30 + name.len()..][..size];
        assert_eq!(crc32fast::hash(content) as usize, checksum);
        assert!(content.starts_with(b"\x93NUMPY\x01\x00"));
        let length = usize::from(u16::from_le_bytes([content[8], content[9]]));
        assert_eq!((10 + length) % 64, 0);
        let header = std::str::from_utf8(&content[10..10 + length]).unwrap();
        assert!(header.contains("'|u1'") && header.contains(shape), "{header}");
        assert_eq!(&content[10 + length..], &expected[..]);
    }
}

#[test]
fn other_endings_are_refused() {
    for (name, expected) in [
        ("a-images-idx3-ubyte", Some(ImageFormat::Idx)),
        ("a.parquet", Some(ImageFormat::Parquet)),
        ("a.NPZ", Some(ImageFormat::Npz)),
        ("a", Some(ImageFormat::Folder)),
        ("a.csv", None),
        ("a.png", None),
    ] {
        assert_eq!(ImageFormat::from_path(Path::new(name)).ok(), expected, "{name}");
    }
}
