//! Why images could not be compared.

use std::path::PathBuf;

use crate::data::image::ImageForm;
use crate::num::Cancelled;

/// Why images could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum ComparisonError {
    /// They are of different forms.
    #[error(
        "the real images are {real}, the synthetic ones {synthetic}; only images of one form can be compared"
    )]
    Form {
        /// The real images' form.
        real: ImageForm,
        /// The synthetic ones'.
        synthetic: ImageForm,
    },
    /// Too few to say anything.
    #[error("there are {found} {which} images; at least {least} are needed")]
    TooFew {
        /// Which side.
        which: &'static str,
        /// How many there are.
        found: usize,
        /// How many are needed.
        least: usize,
    },
    /// A label that only one side has.
    #[error("the synthetic images' class `{0}` is none of the real ones'")]
    Class(String),
    /// The network that ships was asked for, and it knows no such images.
    #[error(
        "the extractor `cnn` takes images of 28 × 28, grey, and these are {0}; choose `pixels` or an ONNX model"
    )]
    Unfit(ImageForm),
    /// The network that ships with the program cannot be read.
    #[error("the extractor of features that ships with this program cannot be used: {0}")]
    Shipped(String),
    /// A model in a file cannot be used.
    #[error("{}: {reason}", .path.display())]
    Model {
        /// The file, or the model's name.
        path: PathBuf,
        /// Why.
        reason: ModelError,
    },
    /// The device cannot be used.
    #[error(transparent)]
    Device(#[from] crate::model::DeviceError),
    /// Given up.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Why a model in a file makes no features of images.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The file cannot be read.
    #[error("the file cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// It is something else.
    #[error(
        "this is no ONNX model that can be run ({0}); export the network to ONNX with its weights inside"
    )]
    NoModel(String),
    /// It takes more than images, or nothing.
    #[error("the model has {0} inputs; one, of images, is needed")]
    Inputs(usize),
    /// It takes numbers of another kind.
    #[error("the model takes or gives numbers of a kind that images and features are not")]
    Numbers,
    /// Its input is no batch of images.
    #[error(
        "the model's input has the sizes {0}; images × channels × rows × columns with 1 or 3 channels are needed, or \
         channels last"
    )]
    Shape(String),
    /// The file names a range of pixels that is not known here.
    #[error(
        "the model wants pixels as `{0}`, which is not known here; say what black and white become (--pixel-range)"
    )]
    Range(String),
    /// Another number of ranges than channels.
    #[error("there are {found} ranges of pixels for {channels} channels; give one, or one for each")]
    Ranges {
        /// Ranges that were given.
        found: usize,
        /// Channels of the model.
        channels: usize,
    },
    /// It gives nothing.
    #[error("the model has no output")]
    NoOutput,
    /// It has no output of that name.
    #[error("the model has no output `{wanted}`; it has `{known}`")]
    Output {
        /// The output that was asked for.
        wanted: String,
        /// Those that there are.
        known: String,
    },
    /// Its output is not a row an image.
    #[error("the model's output has the sizes {0}; a row of features an image is needed")]
    OutputShape(String),
    /// It fails while it runs.
    #[error("the model fails: {0}")]
    Fails(String),
    /// Its features are no numbers.
    #[error("the model's features are not finite; check what black and white become (--pixel-range)")]
    NotFinite,
}
