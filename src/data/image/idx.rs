//! IDX files, as MNIST is published: a magic number, the sizes, and then nothing but bytes; also packed with gzip.
//!
//! ```text
//! images   00 00 08 03   count, rows, columns           (big-endian, four bytes each), one byte a pixel
//!          00 00 08 04   count, rows, columns, channels
//! labels   00 00 08 01   count, one byte an image
//! ```

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use super::{Found, ImageForm, ImageOptions, Labels, labels};
use crate::data::DataError;
use crate::data::read::{RATIO, is_too_much};
use crate::num::files::open_regular;
use crate::num::progress::Progress;

/// Unsigned bytes.
const BYTES: u8 = 0x08;
/// Read at a time, so that a cancelled load ends soon.
const PIECE: usize = 1 << 20;
/// No set of small images is larger; a file that says so is no such set.
const MOST_BYTES: u64 = 1 << 34;
/// What the name of a labels' file has where that of the images' file has this.
const NAMES: [(&str, &str); 2] = [("images", "labels"), ("idx3", "idx1")];

/// Whether the file starts as an IDX file does, packed or not.
pub fn is_idx(path: &Path) -> bool {
    let head = || -> io::Result<[u8; 4]> {
        let mut head = [0; 4];
        unpacked(open_regular(path)?)?.0.read_exact(&mut head)?;
        Ok(head)
    };
    head().is_ok_and(|[zero, nought, kind, _]| zero == 0 && nought == 0 && (0x08..=0x0e).contains(&kind))
}

/// The file's bytes, without gzip around them, and whether there was any.
fn unpacked(mut file: File) -> io::Result<(Box<dyn Read>, bool)> {
    let mut magic = [0; 2];
    let count = file.read(&mut magic)?;
    let start = io::Cursor::new(magic[..count].to_vec());
    let whole = io::BufReader::with_capacity(1 << 16, start.chain(file));
    Ok(if magic == [0x1f, 0x8b] {
        (Box::new(MultiGzDecoder::new(whole)), true)
    } else {
        (Box::new(whole), false)
    })
}

/// The file that should hold the labels, where there is one.
pub fn labels_beside(images: &Path) -> Option<PathBuf> {
    let name = images.file_name()?.to_str()?;
    let mut labels = name.to_owned();
    for (in_images, in_labels) in NAMES {
        labels = labels.replace(in_images, in_labels);
    }
    let bare = labels.strip_suffix(".gz").unwrap_or(&labels).to_owned();
    [labels.clone(), bare.clone(), format!("{bare}.gz")]
        .into_iter()
        .filter(|candidate| candidate != name)
        .map(|candidate| images.with_file_name(candidate))
        .find(|candidate| candidate.is_file())
}

/// Reads images and, where they lie beside them, their labels.
pub fn read(path: &Path, options: &ImageOptions, progress: &Progress) -> Result<Found, DataError> {
    let images = read_file(path, progress)?;
    let (rows, columns, colours) = match *images.sizes {
        [_, rows, columns] => (rows, columns, 1),
        [_, rows, columns, colours] => (rows, columns, colours),
        _ => {
            return Err(wrong(
                path,
                format!(
                    "it holds labels, not images (its magic number says {} size{}); name the file with the images, \
                     which is often called `…-images-idx3-ubyte`",
                    images.sizes.len(),
                    if images.sizes.len() == 1 { "" } else { "s" }
                ),
            ));
        }
    };
    if rows != columns {
        return Err(wrong(
            path,
            format!("its images have {rows} rows and {columns} columns; only squares can be learned from"),
        ));
    }
    if colours != 1 && colours != 3 {
        return Err(wrong(
            path,
            format!("its images have {colours} channels; 1 (grey) or 3 (red, green, blue) are needed"),
        ));
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(&images.bytes);
    let mut file_bytes = images.file_bytes;
    let labels = match labels_beside(path) {
        Some(beside) => {
            let labels = read_file(&beside, progress)?;
            hasher.update(&labels.bytes);
            file_bytes += labels.file_bytes;
            Some(classes_of(&beside, labels, images.sizes[0], options)?)
        }
        None => None,
    };
    Ok(Found {
        form: ImageForm { side: rows, colours },
        bytes: images.bytes,
        labels,
        digest: *hasher.finalize().as_bytes(),
        file_bytes,
        notes: Vec::new(),
    })
}

fn classes_of(
    path: &Path,
    file: Content,
    images: usize,
    options: &ImageOptions,
) -> Result<Labels, DataError> {
    let [count] = *file.sizes else {
        return Err(wrong(
            path,
            "it should hold the labels, and its magic number says that it holds images".to_owned(),
        ));
    };
    if count != images {
        return Err(wrong(
            path,
            format!("it has {count} labels for {images} images; every image needs one"),
        ));
    }
    labels::declared(path, file.bytes, options)
}

/// What an IDX file holds.
struct Content {
    sizes: Vec<usize>,
    bytes: Vec<u8>,
    file_bytes: u64,
}

fn read_file(path: &Path, progress: &Progress) -> Result<Content, DataError> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::UnexpectedEof => wrong(
            path,
            "it is cut off: it has fewer bytes than its sizes say; get a fresh copy".to_owned(),
        ),
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
            wrong(path, format!("it is damaged ({source}); get a fresh copy"))
        }
        _ => DataError::Io {
            path: path.to_owned(),
            action: "read the file",
            source,
        },
    };
    let file = open_regular(path).map_err(failed)?;
    let file_bytes = file.metadata().map_or(0, |meta| meta.len());
    let (mut reader, is_packed) = unpacked(file).map_err(failed)?;
    let mut magic = [0; 4];
    reader.read_exact(&mut magic).map_err(failed)?;
    let [0, 0, kind, dimensions] = magic else {
        return Err(wrong(
            path,
            "it does not start with the magic number of an IDX file".to_owned(),
        ));
    };
    if kind != BYTES || !matches!(dimensions, 1 | 3 | 4) {
        return Err(wrong(
            path,
            format!(
                "its magic number {:#010x} is not that of images (0x00000803) or labels (0x00000801) of one byte each",
                u32::from_be_bytes(magic)
            ),
        ));
    }
    let mut sizes = Vec::with_capacity(usize::from(dimensions));
    for _ in 0..dimensions {
        let mut size = [0; 4];
        reader.read_exact(&mut size).map_err(failed)?;
        sizes.push(u32::from_be_bytes(size) as usize);
    }
    let expected = sizes
        .iter()
        .try_fold(1_u64, |all, &size| all.checked_mul(size as u64))
        .filter(|all| *all <= MOST_BYTES)
        .ok_or_else(|| {
            wrong(
                path,
                format!("its sizes {sizes:?} are beyond any set of small images"),
            )
        })?;
    // No packer makes a file this much smaller: a header may say anything, and is not worth the memory.
    if is_packed && is_too_much(expected, file_bytes) {
        return Err(DataError::UnpacksToTooMuch {
            path: path.to_owned(),
            ratio: RATIO,
        });
    }
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < expected {
        progress.check()?;
        let left = (expected - bytes.len() as u64).min(PIECE as u64);
        let before = bytes.len();
        reader
            .by_ref()
            .take(left)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        if bytes.len() == before {
            return Err(failed(io::ErrorKind::UnexpectedEof.into()));
        }
        progress.set(bytes.len() as u64, expected);
    }
    let mut more = [0];
    if reader.read(&mut more).map_err(failed)? > 0 {
        return Err(wrong(
            path,
            "it has more bytes than its sizes say; its header or its content is damaged".to_owned(),
        ));
    }
    Ok(Content {
        sizes,
        bytes,
        file_bytes,
    })
}

fn wrong(path: &Path, message: String) -> DataError {
    DataError::Images {
        path: path.to_owned(),
        message,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::super::testing::{idx_images, idx_labels};
    use super::super::{ImageSet, LABEL, holds_images, read_images};
    use super::*;

    fn load(path: &Path) -> Result<ImageSet, DataError> {
        read_images(path, &ImageOptions::default(), &Progress::new())
    }

    fn pack(bytes: &[u8]) -> Vec<u8> {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    }

    #[test]
    fn a_pair_is_read_packed_or_not_with_or_without_labels() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("train-images-idx3-ubyte");
        let pixels: Vec<u8> = (0..3 * 64).map(|place| place as u8).collect();
        fs::write(&path, idx_images(8, &pixels)).unwrap();
        assert!(holds_images(&path));
        let bare = load(&path).unwrap();
        assert!(bare.labels().is_none());
        assert_eq!(bare.schema().column.len(), 0);
        assert_eq!(bare.table().unwrap().rows(), 3);
        fs::write(
            folder.path().join("train-labels-idx1-ubyte.gz"),
            pack(&idx_labels(&[3, 0, 9])),
        )
        .unwrap();
        let set = load(&path).unwrap();
        assert_eq!((set.len(), set.form().side, set.bytes()), (3, 8, &pixels[..]));
        assert_eq!(set.codes(), [3, 0, 9]);
        assert_eq!(set.labels().unwrap().names.len(), 10);
        let (table, schema) = (set.table().unwrap(), set.schema());
        assert_eq!(table.cell(2, 0).unwrap().as_deref(), Some("9"));
        assert_eq!(schema.label.as_deref(), Some(LABEL));
        assert!(schema.open_columns().is_empty());
        schema.check(&table, &Progress::new()).unwrap();
        // Labels are part of the identity.
        assert_ne!(table.content_digest(), bare.table().unwrap().content_digest());
        // Images of another side are no later state of these.
        let larger = folder.path().join("larger-images-idx3-ubyte");
        fs::write(&larger, idx_images(16, &[7; 3 * 256])).unwrap();
        fs::write(
            folder.path().join("larger-labels-idx1-ubyte"),
            idx_labels(&[3, 0, 9]),
        )
        .unwrap();
        let columns = |path: &Path| load(path).unwrap().table().unwrap().columns_digest();
        assert_ne!(columns(&larger), columns(&path));
        let packed = folder.path().join("other-images-idx3-ubyte.gz");
        fs::write(&packed, pack(&idx_images(8, &pixels))).unwrap();
        assert!(holds_images(&packed));
        assert_eq!(load(&packed).unwrap().bytes(), set.bytes());
    }

    #[test]
    fn a_packed_file_is_not_believed_to_hold_what_none_of_its_size_holds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x-images-idx3-ubyte.gz");
        let mut header = idx_images(8, &[]);
        header[4..8].copy_from_slice(&40_000_000_u32.to_be_bytes());
        fs::write(&path, pack(&[header, vec![0; 1 << 20]].concat())).unwrap();
        let error = load(&path).unwrap_err();
        assert!(matches!(error, DataError::UnpacksToTooMuch { .. }), "{error}");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x-images-idx3-ubyte");
        let beside = folder.path().join("x-labels-idx1-ubyte");
        let good = idx_images(8, &[7; 128]);
        let says = |bytes: &[u8], word: &str| {
            fs::write(&path, bytes).unwrap();
            let said = load(&path).unwrap_err().to_string();
            assert!(said.contains(word) && said.contains("x-"), "{said}");
        };
        says(&good[..good.len() - 1], "cut off");
        says(&good[..6], "cut off");
        says(&[&good[..], &[0]].concat(), "more bytes");
        let packed = pack(&good);
        says(&packed[..packed.len() - 12], "cut off");
        says(b"\0\0\x0d\x03rest", "magic number");
        says(b"PNG or so", "magic number");
        says(&idx_labels(&[1, 2]), "holds labels");
        says(&idx_images(8, &[]), "no image");
        says(&idx_images(7, &[0; 49]), "4 divides");
        let huge = [&good[..4], &[0xff; 12][..]].concat();
        says(&huge, "beyond any");
        fs::write(&beside, idx_labels(&[1])).unwrap();
        says(&good, "1 labels for 2 images");
        fs::write(&beside, idx_labels(&[1, 10])).unwrap();
        says(&good, "label 10 of image 2");
        fs::write(&beside, &good).unwrap();
        says(&good, "should hold the labels");
        fs::write(&path, &good).unwrap();
        fs::write(&beside, idx_labels(&[1, 10])).unwrap();
        let more = ImageOptions {
            classes: 11,
            ..ImageOptions::default()
        };
        assert_eq!(
            read_images(&path, &more, &Progress::new()).unwrap().codes(),
            [1, 10]
        );
    }
}
