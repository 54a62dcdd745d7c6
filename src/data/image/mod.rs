//! Images as data: bytes in memory, with a class each where there are labels.
//!
//! An image data set is also a table: one row an image, with the column `label` where there are labels. That table has
//! a schema, an identity in the ledger and private statistics like any other, and its rows are the images' rows.

mod decode;
mod folder;
mod idx;
mod labels;
mod left_out;
mod npz;
mod parquet;
#[cfg(test)]
mod testing;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{DictionaryArray, Int32Array, StringArray};
use arrow::datatypes::{Field, Int32Type, Schema as ArrowSchema};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use serde::{Deserialize, Serialize};

use super::DataError;
use super::schema::{Column, Kind, Provenance, Schema};
use super::table::{Origin, Table, TableSource, text_type};
use crate::num::progress::Progress;

/// The name of the labels' column.
pub const LABEL: &str = "label";

/// The largest side of an image that is learned from.
pub const LARGEST_SIDE: usize = 32;

/// More classes than this make no picture of a class each.
pub const MOST_CLASSES: usize = 256;

/// How to read images. What is declared here is public knowledge, never read off the images.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImageOptions {
    /// The classes of labels that are numbers: 0 up to one less than this.
    pub classes: usize,
    /// The side to which pictures are cropped and resized; none for pictures that are squares of one side already.
    pub side: Option<usize>,
    /// Channels that all pictures get: 1 for grey, 3 for colour; none for those of the first.
    pub colours: Option<usize>,
    /// The values of 16-bit pictures that become black and white.
    pub window: Option<[u16; 2]>,
    /// A table that names the class of each picture of a folder; none for folders that name classes, or for one that lies
    /// where it is looked for.
    pub labels: Option<PathBuf>,
    /// Whether pictures that cannot be read are left out instead of ending the load.
    pub skip_damaged: bool,
}

impl Default for ImageOptions {
    fn default() -> Self {
        Self {
            classes: 10,
            side: None,
            colours: None,
            window: None,
            labels: None,
            skip_damaged: false,
        }
    }
}

/// What every image of a set has in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageForm {
    /// Rows and columns.
    pub side: usize,
    /// Channels: 1 for grey, 3 for red, green and blue.
    pub colours: usize,
}

impl ImageForm {
    /// Bytes of one image.
    pub const fn pixels(self) -> usize {
        self.side * self.side * self.colours
    }
}

impl std::fmt::Display for ImageForm {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let colour = if self.colours == 1 { "grey" } else { "colour" };
        write!(formatter, "{0} × {0}, {colour}", self.side)
    }
}

/// The class of each image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// An index into the names for each image.
    pub codes: Vec<u8>,
    /// The classes.
    pub names: Vec<String>,
    /// How the classes are known.
    pub provenance: Provenance,
}

/// Images in memory, one byte a channel of a pixel. Cloning shares them.
#[derive(Clone, Debug)]
pub struct ImageSet(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    name: String,
    path: Option<PathBuf>,
    form: ImageForm,
    bytes: Vec<u8>,
    labels: Option<Labels>,
    digest: [u8; 32],
    file_bytes: u64,
    notes: Vec<String>,
}

/// What a reader found.
struct Found {
    form: ImageForm,
    bytes: Vec<u8>,
    labels: Option<Labels>,
    /// BLAKE3 of all that was read, without a key.
    digest: [u8; 32],
    file_bytes: u64,
    /// What a person should know of the reading.
    notes: Vec<String>,
}

impl ImageSet {
    /// From bytes in memory.
    ///
    /// # Errors
    /// When they are no whole number of images, there is none, or the labels are not one for each.
    ///
    /// # Shapes
    /// - bytes: `[images, side · side · colours]`, row by row, channels last
    pub fn from_bytes(
        name: &str,
        form: ImageForm,
        bytes: Vec<u8>,
        labels: Option<Labels>,
    ) -> Result<Self, DataError> {
        let digest = *blake3::hash(&bytes).as_bytes();
        let file_bytes = bytes.len() as u64;
        Self::assemble(
            Path::new(name),
            None,
            Found {
                form,
                bytes,
                labels,
                digest,
                file_bytes,
                notes: Vec::new(),
            },
        )
    }

    fn assemble(shown: &Path, path: Option<&Path>, found: Found) -> Result<Self, DataError> {
        let images = found.bytes.len() / found.form.pixels().max(1);
        let wrong = |message: String| DataError::Images {
            path: shown.to_owned(),
            message,
        };
        if images == 0 {
            return Err(wrong("there is no image in it".to_owned()));
        }
        if let Some(labels) = &found.labels
            && labels.codes.len() != images
        {
            return Err(wrong(format!(
                "there are {images} images and {} labels; every image needs one",
                labels.codes.len()
            )));
        }
        let form = found.form;
        if !form.side.is_multiple_of(4) || !(8..=LARGEST_SIDE).contains(&form.side) {
            return Err(wrong(format!(
                "the images are {form}; a side from 8 to {LARGEST_SIDE} that 4 divides is needed"
            )));
        }
        let name = shown.file_name().unwrap_or(shown.as_os_str());
        Ok(Self(Arc::new(Inner {
            name: name.to_string_lossy().into_owned(),
            path: path.map(Path::to_owned),
            form,
            bytes: found.bytes,
            labels: found.labels,
            digest: found.digest,
            file_bytes: found.file_bytes,
            notes: found.notes,
        })))
    }

    /// The file's or folder's name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The file or folder.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// What all images have in common.
    pub fn form(&self) -> ImageForm {
        self.0.form
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.bytes.len() / self.0.form.pixels()
    }

    /// Never: a set without an image is an error where it is read.
    pub fn is_empty(&self) -> bool {
        self.0.bytes.is_empty()
    }

    /// All images, one after the other, row by row, channels last.
    pub fn bytes(&self) -> &[u8] {
        &self.0.bytes
    }

    /// The classes.
    pub fn labels(&self) -> Option<&Labels> {
        self.0.labels.as_ref()
    }

    /// What a person should know of how they were read (steward only).
    pub fn notes(&self) -> &[String] {
        &self.0.notes
    }

    /// Each image's class; all the same without labels.
    pub fn codes(&self) -> Vec<u8> {
        self.labels()
            .map_or_else(|| vec![0; self.len()], |labels| labels.codes.clone())
    }

    /// The images as a table of their labels. Its identity is that of the files, pixels and all.
    ///
    /// # Errors
    /// Never for a set that was read; the type is that of every table.
    pub fn table(&self) -> Result<Table, DataError> {
        let mut fields = Vec::new();
        let mut columns: Vec<arrow::array::ArrayRef> = Vec::new();
        if let Some(labels) = self.labels() {
            fields.push(Field::new(LABEL, text_type(), true));
            let keys = Int32Array::from_iter_values(labels.codes.iter().map(|code| i32::from(*code)));
            let names = StringArray::from_iter_values(&labels.names);
            let array = DictionaryArray::<Int32Type>::try_new(keys, Arc::new(names));
            columns.push(Arc::new(array.map_err(|error| self.wrong(error.to_string()))?));
        }
        let schema = Arc::new(ArrowSchema::new(fields));
        let options = RecordBatchOptions::new().with_row_count(Some(self.len()));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &options)
            .map_err(|error| self.wrong(error.to_string()))?;
        let origin = Origin {
            name: self.0.name.clone(),
            path: self.0.path.clone(),
            form: super::FileForm::default(),
            source: TableSource::Images(self.0.form),
            digest: Some(self.0.digest),
            bytes: self.0.file_bytes,
        };
        Ok(Table::assemble(origin, schema, vec![batch]))
    }

    /// What is publicly known of that table: the classes.
    pub fn schema(&self) -> Schema {
        let Some(labels) = self.labels() else {
            return Schema::new(Vec::new());
        };
        let column = Column::new(LABEL, Kind::Categorical)
            .with_domain(labels.names.clone())
            .with_provenance(labels.provenance);
        let mut schema = Schema::new(vec![column]);
        schema.label = Some(LABEL.to_owned());
        schema
    }

    fn wrong(&self, message: String) -> DataError {
        DataError::Images {
            path: PathBuf::from(&self.0.name),
            message,
        }
    }
}

/// Whether a path leads to images rather than to a table, judged by its first bytes.
pub fn holds_images(path: &Path) -> bool {
    if path.is_dir() {
        folder::holds_pictures(path)
    } else {
        idx::is_idx(path) || npz::is_npz(path) || parquet::holds_pictures(path)
    }
}

/// Why a path leads to no images, for whoever wanted some: by what it is, and without reading it.
pub fn no_images(path: &Path) -> DataError {
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_dir() => folder::nothing_in(path),
        Ok(_) => DataError::Images {
            path: path.to_owned(),
            message: "there is no image in it: it is neither an IDX file, nor an NPZ archive with `images.npy`, nor \
                      Parquet with a column of PNG, JPEG or TIFF files"
                .to_owned(),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => DataError::NotFound {
            path: path.to_owned(),
        },
        Err(source) => DataError::Io {
            path: path.to_owned(),
            action: "read the file",
            source,
        },
    }
}

/// Reads images.
///
/// # Errors
/// Whatever is wrong with a file, with its place and the remedy.
pub fn read_images(path: &Path, options: &ImageOptions, progress: &Progress) -> Result<ImageSet, DataError> {
    let found = if path.is_dir() {
        folder::read(path, options, progress)?
    } else if npz::is_npz(path) {
        npz::read(path, options, progress)?
    } else if idx::is_idx(path) || !parquet::holds_pictures(path) {
        idx::read(path, options, progress)?
    } else {
        parquet::read(path, options, progress)?
    };
    ImageSet::assemble(path, Some(path), found)
}

/// The files that are read when these images are: what may never be written over.
pub fn image_files(path: &Path, options: &ImageOptions) -> Vec<PathBuf> {
    let labels = if path.is_dir() {
        labels::table_of(path, options)
    } else {
        idx::labels_beside(path)
    };
    std::iter::once(path.to_owned()).chain(labels).collect()
}
