//! NPZ: a ZIP archive of NumPy's arrays, `images.npy` as `uint8[count, side, side]` (with colours, a fourth axis) and,
//! where there are labels, `labels.npy` as `uint8[count]`; as this program writes it.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use zip::ZipArchive;

use super::{Found, ImageForm, ImageOptions, labels};
use crate::data::DataError;
use crate::num::files::open_regular;
use crate::num::progress::Progress;

/// The members.
const IMAGES: &str = "images.npy";
const LABELS: &str = "labels.npy";
/// No set of small images is larger.
const MOST_BYTES: u64 = 1 << 34;
/// Read at a time, so that a cancelled load ends soon.
const PIECE: u64 = 1 << 20;
/// No header is longer.
const MOST_HEADER: usize = 1 << 16;

type Archive = ZipArchive<BufReader<File>>;

fn wrong(path: &Path, message: impl Into<String>) -> DataError {
    DataError::Images {
        path: path.to_owned(),
        message: message.into(),
    }
}

fn open(path: &Path) -> io::Result<Archive> {
    let mut file = open_regular(path)?;
    let mut magic = [0; 4];
    file.read_exact(&mut magic)?;
    if magic != *b"PK\x03\x04" {
        return Err(io::ErrorKind::InvalidData.into());
    }
    ZipArchive::new(BufReader::new(file)).map_err(io::Error::other)
}

/// Whether it is an archive with a member of images.
pub fn is_npz(path: &Path) -> bool {
    open(path).is_ok_and(|archive| archive.index_for_name(IMAGES).is_some())
}

/// Reads images and, where they lie in the same archive, their labels.
pub fn read(path: &Path, options: &ImageOptions, progress: &Progress) -> Result<Found, DataError> {
    let mut archive = open(path).map_err(|source| DataError::Io {
        path: path.to_owned(),
        action: "read the file",
        source,
    })?;
    let images = array(path, &mut archive, IMAGES, progress)?;
    let form = match *images.sizes {
        [_, rows, columns] if rows == columns => ImageForm {
            side: rows,
            colours: 1,
        },
        [_, rows, columns, colours @ (1 | 3)] if rows == columns => ImageForm { side: rows, colours },
        _ => {
            return Err(wrong(
                path,
                format!(
                    "its images have the sizes {:?}; count × side × side, and 1 or 3 colours, are needed",
                    images.sizes
                ),
            ));
        }
    };
    let mut hasher = blake3::Hasher::new();
    hasher.update(&images.bytes);
    let labels = if archive.index_for_name(LABELS).is_some() {
        let labels = array(path, &mut archive, LABELS, progress)?;
        if *labels.sizes != [images.sizes[0]] {
            return Err(wrong(
                path,
                format!(
                    "its labels have the sizes {:?} for {} images; every image needs one",
                    labels.sizes, images.sizes[0]
                ),
            ));
        }
        hasher.update(&labels.bytes);
        Some(labels::declared(path, labels.bytes, options)?)
    } else {
        None
    };
    Ok(Found {
        form,
        bytes: images.bytes,
        labels,
        digest: *hasher.finalize().as_bytes(),
        file_bytes: path.metadata().map_or(0, |meta| meta.len()),
        notes: Vec::new(),
    })
}

struct Array {
    sizes: Vec<usize>,
    bytes: Vec<u8>,
}

/// One member: NumPy's format, versions 1 to 3, of unsigned bytes in C's order.
fn array(path: &Path, archive: &mut Archive, name: &str, progress: &Progress) -> Result<Array, DataError> {
    let damaged = |error: &dyn std::fmt::Display| {
        wrong(
            path,
            format!("{name} is damaged or cut off ({error}); get a fresh copy"),
        )
    };
    let mut member = archive.by_name(name).map_err(|error| damaged(&error))?;
    let header = header(&mut member).map_err(|error| damaged(&error))?;
    if field(&header, "'descr':").is_none_or(|kind| kind.trim_matches('\'') != "|u1") {
        return Err(wrong(
            path,
            format!("{name} holds no unsigned bytes (uint8); convert it with astype('uint8')"),
        ));
    }
    let sizes = shape(&header).ok_or_else(|| damaged(&"its header says no shape"))?;
    if sizes.len() > 1 && field(&header, "'fortran_order':") != Some("False") {
        return Err(wrong(
            path,
            format!("{name} lies in Fortran's order; save it with numpy.ascontiguousarray"),
        ));
    }
    let expected = sizes
        .iter()
        .try_fold(1_u64, |all, &size| all.checked_mul(size as u64))
        .filter(|all| *all <= MOST_BYTES)
        .ok_or_else(|| {
            wrong(
                path,
                format!("the sizes {sizes:?} of {name} are beyond any set of small images"),
            )
        })?;
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < expected {
        progress.check()?;
        let left = (expected - bytes.len() as u64).min(PIECE);
        let before = bytes.len();
        member
            .by_ref()
            .take(left)
            .read_to_end(&mut bytes)
            .map_err(|error| damaged(&error))?;
        if bytes.len() == before {
            return Err(damaged(&"it has fewer bytes than its sizes say"));
        }
        progress.set(bytes.len() as u64, expected);
    }
    // The end of a member is where its checksum is compared.
    if member.read(&mut [0]).map_err(|error| damaged(&error))? > 0 {
        return Err(damaged(&"it has more bytes than its sizes say"));
    }
    Ok(Array { sizes, bytes })
}

/// The header of an array's file.
fn header(member: &mut impl Read) -> io::Result<String> {
    let mut start = [0; 8];
    member.read_exact(&mut start)?;
    let length = match &start {
        [0x93, b'N', b'U', b'M', b'P', b'Y', 1, _] => {
            let mut length = [0; 2];
            member.read_exact(&mut length)?;
            usize::from(u16::from_le_bytes(length))
        }
        [0x93, b'N', b'U', b'M', b'P', b'Y', 2 | 3, _] => {
            let mut length = [0; 4];
            member.read_exact(&mut length)?;
            u32::from_le_bytes(length) as usize
        }
        _ => return Err(io::Error::other("it is no array of NumPy's")),
    };
    if length > MOST_HEADER {
        return Err(io::Error::other("its header is too long"));
    }
    let mut header = vec![0; length];
    member.read_exact(&mut header)?;
    String::from_utf8(header).map_err(io::Error::other)
}

/// What stands behind a key of the header, up to the next comma.
fn field<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = header.split_once(key)?;
    Some(rest.split([',', '}']).next()?.trim())
}

fn shape(header: &str) -> Option<Vec<usize>> {
    let (_, rest) = header.split_once("'shape':")?;
    let inside = rest.trim_start().strip_prefix('(')?.split_once(')')?.0;
    inside
        .split(',')
        .map(str::trim)
        .filter(|size| !size.is_empty())
        .map(|size| size.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use zip::write::SimpleFileOptions;

    use super::super::{ImageSet, holds_images, read_images};
    use super::*;

    fn npy(kind: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}\n");
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(bytes);
        file
    }

    fn write(path: &Path, members: &[(&str, Vec<u8>)], packed: bool) {
        let mut archive = zip::ZipWriter::new(File::create(path).unwrap());
        let method = if packed {
            zip::CompressionMethod::Deflated
        } else {
            zip::CompressionMethod::Stored
        };
        for (name, bytes) in members {
            let options = SimpleFileOptions::default().compression_method(method);
            archive.start_file(*name, options).unwrap();
            archive.write_all(bytes).unwrap();
        }
        archive.finish().unwrap();
    }

    fn load(path: &Path) -> Result<ImageSet, DataError> {
        read_images(path, &ImageOptions::default(), &Progress::new())
    }

    #[test]
    fn arrays_are_read_packed_or_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set.npz");
        let pixels: Vec<u8> = (0..3 * 8 * 8).map(|place| place as u8).collect();
        for packed in [false, true] {
            let members = [
                (IMAGES, npy("|u1", "3, 8, 8", &pixels)),
                (LABELS, npy("|u1", "3,", &[2, 0, 1])),
            ];
            write(&path, &members, packed);
            assert!(holds_images(&path));
            let set = load(&path).unwrap();
            assert_eq!(
                (set.len(), set.bytes(), set.codes()),
                (3, &pixels[..], vec![2, 0, 1])
            );
        }
        write(&path, &[(IMAGES, npy("|u1", "1, 8, 8, 3", &pixels))], true);
        let set = load(&path).unwrap();
        assert_eq!((set.form().colours, set.labels()), (3, None));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set.npz");
        let pixels = [7; 64];
        let says = |members: &[(&str, Vec<u8>)], word: &str| {
            write(&path, members, true);
            let said = load(&path).unwrap_err().to_string();
            assert!(said.contains(word), "{said}");
        };
        says(&[(IMAGES, npy("<f4", "1, 4, 4", &pixels))], "uint8");
        says(&[(IMAGES, npy("|u1", "2, 8, 8", &pixels))], "fewer bytes");
        says(&[(IMAGES, npy("|u1", "1, 8, 4", &pixels[..32]))], "[1, 8, 4]");
        says(&[(IMAGES, npy("|u1", "1, 4, 4", &pixels))], "more bytes");
        says(&[(IMAGES, b"no array".to_vec())], "no array");
        says(
            &[(IMAGES, npy("|u1", "99999999999, 8, 8", &pixels))],
            "beyond any",
        );
        let good = (IMAGES, npy("|u1", "1, 8, 8", &pixels));
        says(
            &[good.clone(), (LABELS, npy("|u1", "2,", &[1, 1]))],
            "every image needs one",
        );
        says(
            &[good.clone(), (LABELS, npy("|u1", "1,", &[10]))],
            "label 10 of image 1",
        );
        write(&path, &[good], false);
        let mut bytes = fs::read(&path).unwrap();
        let place = bytes.iter().rposition(|byte| *byte == 7).unwrap();
        bytes[place] = 8;
        fs::write(&path, bytes).unwrap();
        let said = load(&path).unwrap_err().to_string();
        assert!(said.contains("damaged"), "{said}");
        write(&path, &[("other.npy", Vec::new())], true);
        assert!(!holds_images(&path));
    }
}
