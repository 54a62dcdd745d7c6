//! Images in files: IDX, Parquet, NPZ.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, StringArray};
use arrow::datatypes::{DataType, Field, Schema as ArrowSchema, SchemaRef};
use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

use super::set::{SetHash, labels_file};
use super::{HashedFile, ImagesAhead, Place, SealedImages, png};
use crate::data::image::{ImageForm, LABEL};
use crate::export::ExportError;
use crate::train::image::DrawnImages;

/// A pair of IDX files.
pub struct IdxWriter {
    images: HashedFile,
    labels: Option<HashedFile>,
    written: usize,
    pixels: usize,
}

/// The start of an IDX file of bytes.
fn idx_head(sizes: &[usize]) -> Vec<u8> {
    let mut head = vec![0, 0, 8, sizes.len() as u8];
    for size in sizes {
        head.extend((*size as u32).to_be_bytes());
    }
    head
}

impl IdxWriter {
    pub fn create(path: &Path, ahead: ImagesAhead<'_>, overwrite: bool) -> Result<Self, ExportError> {
        let ImageForm { side, colours } = ahead.form;
        let mut images = HashedFile::create(path, overwrite)?;
        let mut sizes = vec![ahead.count, side, side];
        if colours > 1 {
            sizes.push(colours);
        }
        let head = idx_head(&sizes);
        images.write_all(&head).map_err(|error| images.failed(error))?;
        let labels = match labels_file(path).filter(|_| ahead.has_labels()) {
            Some(path) => {
                let mut labels = HashedFile::create(&path, overwrite)?;
                let head = idx_head(&[ahead.count]);
                labels.write_all(&head).map_err(|error| labels.failed(error))?;
                Some(labels)
            }
            None => None,
        };
        Ok(Self {
            images,
            labels,
            written: 0,
            pixels: ahead.form.pixels(),
        })
    }

    pub fn write(&mut self, images: &DrawnImages) -> Result<(), ExportError> {
        self.images
            .write_all(&images.bytes)
            .map_err(|error| self.images.failed(error))?;
        if let Some(labels) = &mut self.labels {
            labels
                .write_all(&images.codes)
                .map_err(|error| labels.failed(error))?;
        }
        self.written += images.bytes.len() / self.pixels;
        Ok(())
    }

    pub fn seal(self) -> SealedImages {
        let (images, mut written) = self.images.seal(self.written);
        let Some(labels) = self.labels else {
            return SealedImages {
                place: Place::Files(vec![images]),
                written,
            };
        };
        let (labels, beside) = labels.seal(self.written);
        let mut set = SetHash::default();
        for (file, written) in [(&images, &written), (&labels, &beside)] {
            let name = file.path().file_name().unwrap_or_default().to_string_lossy();
            set.push(&name, &written.sha256, written.bytes);
        }
        (written.sha256, written.bytes) = set.finish();
        SealedImages {
            place: Place::Files(vec![images, labels]),
            written,
        }
    }
}

/// A Parquet file: `image` holds PNG files, `label` the classes' names.
pub struct ParquetImages<'a> {
    writer: ArrowWriter<HashedFile>,
    path: std::path::PathBuf,
    schema: SchemaRef,
    ahead: ImagesAhead<'a>,
    written: usize,
}

impl<'a> ParquetImages<'a> {
    pub fn create(path: &Path, ahead: ImagesAhead<'a>, overwrite: bool) -> Result<Self, ExportError> {
        let mut fields = vec![Field::new("image", DataType::Binary, false)];
        if ahead.has_labels() {
            fields.push(Field::new(LABEL, DataType::Utf8, false));
        }
        let schema: SchemaRef = Arc::new(ArrowSchema::new(fields));
        let properties = WriterProperties::builder()
            .set_created_by(concat!("pointillist ", env!("CARGO_PKG_VERSION")).to_owned())
            // PNG files are compressed already, and no two are alike.
            .set_dictionary_enabled(false)
            .build();
        let file = HashedFile::create(path, overwrite)?;
        let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties))
            .map_err(|error| ExportError::from_write(path, io::Error::other(error)))?;
        Ok(Self {
            writer,
            path: path.to_owned(),
            schema,
            ahead,
            written: 0,
        })
    }

    pub fn write(&mut self, images: &DrawnImages) -> Result<(), ExportError> {
        let failed = |source| ExportError::from_write(&self.path, source);
        let form = self.ahead.form;
        let files = images
            .bytes
            .chunks_exact(form.pixels())
            .map(|image| png(image, form));
        let files = files.collect::<io::Result<Vec<_>>>().map_err(failed)?;
        let mut columns: Vec<ArrayRef> = vec![Arc::new(BinaryArray::from_iter_values(&files))];
        if self.ahead.has_labels() {
            let labels = images
                .codes
                .iter()
                .map(|code| &self.ahead.classes[usize::from(*code)]);
            columns.push(Arc::new(StringArray::from_iter_values(labels)));
        }
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .map_err(|error| failed(io::Error::other(error)))?;
        self.writer
            .write(&batch)
            .map_err(|error| failed(io::Error::other(error)))?;
        self.written += files.len();
        Ok(())
    }

    pub fn seal(self) -> Result<SealedImages, ExportError> {
        let file = self
            .writer
            .into_inner()
            .map_err(|error| ExportError::from_write(&self.path, io::Error::other(error)))?;
        let (file, written) = file.seal(self.written);
        Ok(SealedImages {
            place: Place::Files(vec![file]),
            written,
        })
    }
}

/// An NPZ file: `images` as `uint8[count, side, side]` (with colours, a fourth axis), `labels` as `uint8[count]`, and
/// the classes' names. The images are collected in memory, since an archive's member tells its size first.
pub struct NpzWriter {
    file: HashedFile,
    form: ImageForm,
    has_labels: bool,
    images: DrawnImages,
}

impl NpzWriter {
    pub fn create(path: &Path, ahead: ImagesAhead<'_>, overwrite: bool) -> Result<Self, ExportError> {
        Ok(Self {
            file: HashedFile::create(path, overwrite)?,
            form: ahead.form,
            has_labels: ahead.has_labels(),
            images: DrawnImages::default(),
        })
    }

    pub fn write(&mut self, images: &DrawnImages) {
        self.images.bytes.extend_from_slice(&images.bytes);
        self.images.codes.extend_from_slice(&images.codes);
    }

    pub fn seal(self) -> Result<SealedImages, ExportError> {
        let Self {
            file,
            form,
            has_labels,
            images,
        } = self;
        let path = file.file.path().to_owned();
        let failed = |source: io::Error| ExportError::from_write(&path, source);
        let count = images.codes.len();
        let mut shape = vec![count, form.side, form.side];
        if form.colours > 1 {
            shape.push(form.colours);
        }
        let mut archive = Archive::default();
        let mut file = file;
        let mut members = vec![("images.npy", shape, &images.bytes)];
        if has_labels {
            members.push(("labels.npy", vec![count], &images.codes));
        }
        for (name, shape, bytes) in members {
            archive
                .add(&mut file, name, [&npy_head(&shape), bytes])
                .map_err(failed)?;
        }
        archive.finish(&mut file).map_err(failed)?;
        let (file, written) = file.seal(count);
        Ok(SealedImages {
            place: Place::Files(vec![file]),
            written,
        })
    }
}

/// A ZIP archive of members that are stored as they are (APPNOTE.TXT 6.3, sections 4.3.7, 4.3.12 and 4.3.16): all that
/// NPZ needs, and smaller than what a crate would bring along.
#[derive(Default)]
struct Archive {
    directory: Vec<u8>,
    members: u16,
    bytes: u64,
}

impl Archive {
    /// Writes a member, and notes it for the directory at the end.
    fn add(&mut self, file: &mut HashedFile, name: &str, content: [&[u8]; 2]) -> io::Result<()> {
        let large =
            || io::Error::other("an array of 4 GB or more does not fit into this form; choose Parquet");
        let size =
            u32::try_from(content.iter().map(|part| part.len()).sum::<usize>()).map_err(|_| large())?;
        let start = u32::try_from(self.bytes).map_err(|_| large())?;
        let mut checksum = crc32fast::Hasher::new();
        content.iter().for_each(|part| checksum.update(part));
        // Version 2.0, no flags, stored, 1 January 1980: the same content makes the same file.
        let mut common = Vec::new();
        for short in [20_u16, 0, 0, 0, 0x21] {
            common.extend(short.to_le_bytes());
        }
        for long in [checksum.finalize(), size, size] {
            common.extend(long.to_le_bytes());
        }
        common.extend((name.len() as u16).to_le_bytes());
        common.extend(0_u16.to_le_bytes());
        let mut local = b"PK\x03\x04".to_vec();
        local.extend(&common);
        local.extend(name.as_bytes());
        for part in [&local, content[0], content[1]] {
            file.write_all(part)?;
            self.bytes += part.len() as u64;
        }
        self.directory.extend(b"PK\x01\x02\x14\x00");
        self.directory.extend(&common);
        // No comment, the first disk, no attributes.
        self.directory.extend([0; 10]);
        self.directory.extend(start.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.members += 1;
        Ok(())
    }

    /// Writes the directory.
    fn finish(self, file: &mut HashedFile) -> io::Result<()> {
        let mut end = b"PK\x05\x06\0\0\0\0".to_vec();
        end.extend(self.members.to_le_bytes());
        end.extend(self.members.to_le_bytes());
        end.extend((self.directory.len() as u32).to_le_bytes());
        end.extend((self.bytes as u32).to_le_bytes());
        end.extend([0; 2]);
        file.write_all(&self.directory)?;
        file.write_all(&end)
    }
}

/// The start of an array file of bytes, version 1.0 of NumPy's format: the header ends at a multiple of 64.
fn npy_head(shape: &[usize]) -> Vec<u8> {
    let sizes: Vec<_> = shape.iter().map(usize::to_string).collect();
    let sizes = sizes.join(",");
    // The comma after the last size makes a tuple of a single one.
    let mut header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({sizes},), }}");
    let start = 10;
    let padding = (64 - (start + header.len() + 1) % 64) % 64;
    header.push_str(&" ".repeat(padding));
    header.push('\n');
    let mut head = b"\x93NUMPY\x01\x00".to_vec();
    head.extend((header.len() as u16).to_le_bytes());
    head.extend(header.as_bytes());
    head
}
