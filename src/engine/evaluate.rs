//! Synthetic images held against real ones, from their files.

use std::path::{Path, PathBuf};

use crate::data::image::{ImageOptions, ImageSet, holds_images, read_images};
use crate::engine::event::{Area, Problem};
use crate::evaluate::image::{ImageComparison, ImageReport, compare_images};
use crate::message;
use crate::num::{Progress, RandomSource, StewardOnly};
use crate::train::DeviceKind;

pub use crate::evaluate::image::{ExtractorChoice, Figure, OnnxChoice};

/// What to compare.
#[derive(Clone, Debug)]
pub struct EvaluateRequest {
    /// The images that were learned from.
    pub real: PathBuf,
    /// Real images that were not.
    pub holdout: Option<PathBuf>,
    /// The synthetic ones.
    pub synthetic: PathBuf,
    /// What is declared of them.
    pub images: ImageOptions,
    /// What features they are compared by.
    pub extractor: ExtractorChoice,
    /// Images of each side that distances are taken over, at most.
    pub most: Option<usize>,
    /// Where networks work.
    pub device: DeviceKind,
}

/// Compares images. What comes of it was computed on real images without noise: for the steward only.
///
/// # Errors
/// When a file cannot be read or holds no images, or they cannot be compared.
pub fn evaluate_files(
    request: &EvaluateRequest,
    progress: &Progress,
) -> Result<StewardOnly<ImageReport>, Problem> {
    // A table of labels that is named is that of the real images.
    let unnamed = ImageOptions {
        labels: None,
        ..request.images.clone()
    };
    let read = |path: &Path, options: &ImageOptions| -> Result<ImageSet, Problem> {
        if !holds_images(path) {
            let message = message!(
                "evaluate-no-images",
                "{path}: these are no images, and only images can be compared here so far",
                path = path.display()
            );
            return Err(Problem::plain(Area::Load, message));
        }
        read_images(path, options, progress).map_err(|error| Problem::new(Area::Load, &error))
    };
    let comparison = ImageComparison {
        real: read(&request.real, &request.images)?,
        holdout: (request.holdout.as_deref())
            .map(|path| read(path, &unnamed))
            .transpose()?,
        synthetic: read(&request.synthetic, &unnamed)?,
        extractor: request.extractor.clone(),
        most: request.most,
        device: request.device,
    };
    compare_images(&comparison, &mut RandomSource::from_operating_system(), progress)
        .map_err(|error| Problem::new(Area::Train, &error))
}
