//! Features by a model in an ONNX file.
//!
//! The size of its images and the order of their axes are those of its input; what black and white become is declared,
//! or said by the file in the property `Image.NominalPixelRange` (ONNX, "Metadata", image types), or 0 and 1. All of
//! that changes the features, so all of it is part of the extractor's name.

use std::path::Path;
use std::sync::Arc;

use image::imageops::{FilterType, resize};
use image::{GrayImage, RgbImage};
use rten::{DataType, Dimension, Model, NodeId, RunOptions, ThreadPool, Value, ValueType};
use rten_tensor::Layout as _;

use super::extractor::{Features, OnnxChoice};
use super::{ComparisonError, ModelError};
use crate::data::image::ImageForm;
use crate::num::files::read_whole;
use crate::num::{Progress, caught};

/// No model of features is larger.
const MOST_BYTES: u64 = 1 << 31;
/// Images that go through the model at a time, where it leaves that open.
const BATCH: usize = 16;
/// No input is wider or higher.
const MOST_SIDE: usize = 2048;
/// The output that holds the features, if there is one of that name.
const FEATURES: &str = "features";
/// How files name the range of their pixels.
const RANGES: [(&str, [f32; 2]); 3] = [
    ("NominalRange_0_255", [0.0, 255.0]),
    ("Normalized_0_1", [0.0, 1.0]),
    ("Normalized_1_1", [-1.0, 1.0]),
];

/// What the model takes.
#[derive(Clone, Debug)]
struct Input {
    node: NodeId,
    /// Whether channels come before rows and columns.
    channels_first: bool,
    channels: usize,
    height: usize,
    width: usize,
    /// Images in a call, where it is fixed.
    batch: Option<usize>,
    is_bytes: bool,
    /// What black and white become, for each channel.
    range: Vec<[f32; 2]>,
}

/// A model that turns images into features.
pub struct OnnxExtractor {
    model: Model,
    input: Input,
    features: NodeId,
    /// Another output with a number for each class, where there is one.
    classes: Option<NodeId>,
    form: ImageForm,
    name: String,
    threads: Arc<ThreadPool>,
}

impl OnnxExtractor {
    /// Loads a model for images of a form.
    pub fn open(choice: &OnnxChoice, form: ImageForm) -> Result<Self, ComparisonError> {
        let wrong = |reason: ModelError| ComparisonError::Model {
            path: choice.path.clone(),
            reason,
        };
        let bytes = read_whole(&choice.path, MOST_BYTES).map_err(|error| wrong(error.into()))?;
        let digest = blake3::hash(&bytes).to_hex();
        let model = load(bytes).map_err(&wrong)?;
        let input = input_of(&model, choice, form).map_err(&wrong)?;
        let (features, classes) = outputs_of(&model, choice.output.as_deref()).map_err(&wrong)?;
        let output = model
            .node_info(features)
            .and_then(|info| info.name())
            .unwrap_or("?");
        let name = name_of(&choice.path, output, &input, &digest[..8]);
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        Ok(Self {
            model,
            input,
            features,
            classes,
            form,
            name,
            threads: Arc::new(ThreadPool::with_num_threads(threads)),
        })
    }

    /// Its name: the file, the output, what goes in, and the start of the file's BLAKE3.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The features of images.
    pub fn read(&self, bytes: &[u8], progress: &Progress) -> Result<Features, ComparisonError> {
        let pixels = self.form.pixels();
        let total = (bytes.len() / pixels) as u64;
        progress.set(0, total);
        let batch = self.input.batch.unwrap_or(BATCH);
        let mut all = Features::default();
        for piece in bytes.chunks(batch * pixels) {
            progress.check()?;
            let count = piece.len() / pixels;
            let found = self
                .run(piece, count, batch)
                .map_err(|reason| ComparisonError::Model {
                    path: self.name.clone().into(),
                    reason,
                })?;
            all.width = found.width;
            all.classes = found.classes;
            all.values.extend(found.values);
            all.probabilities.extend(found.probabilities);
            progress.advance(count as u64);
        }
        Ok(all)
    }

    /// One call of the model. A call of a fixed number of images is filled up with the last one.
    fn run(&self, bytes: &[u8], count: usize, batch: usize) -> Result<Features, ModelError> {
        let images = if self.input.batch.is_some() { batch } else { count };
        let value = self.value(bytes, images)?;
        let outputs: Vec<NodeId> = std::iter::once(self.features).chain(self.classes).collect();
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&self.threads)));
        let found = guarded(|| {
            self.model
                .run(vec![(self.input.node, value.into())], &outputs, Some(options))
                .map_err(|error| ModelError::Fails(error.to_string()))
        })?;
        let mut found = found.into_iter();
        let (mut values, width) = rows_of(found.next(), images)?;
        values.truncate(count * width);
        if values.iter().any(|value| !value.is_finite()) {
            return Err(ModelError::NotFinite);
        }
        let mut features = Features {
            values,
            width,
            ..Features::default()
        };
        if self.classes.is_some() {
            let (mut values, classes) = rows_of(found.next(), images)?;
            values.truncate(count * classes);
            features.probabilities = distributions(values, classes);
            features.classes = classes;
        }
        Ok(features)
    }

    /// Images as the model's input.
    fn value(&self, bytes: &[u8], images: usize) -> Result<Value, ModelError> {
        let Input {
            channels_first,
            channels,
            height,
            width,
            is_bytes,
            ref range,
            ..
        } = self.input;
        let mut pixels = Vec::with_capacity(images * channels * height * width);
        for image in bytes.chunks_exact(self.form.pixels()) {
            let resized = resized(image, self.form, channels, [width, height]);
            if channels_first {
                for channel in 0..channels {
                    pixels.extend(resized.iter().skip(channel).step_by(channels));
                }
            } else {
                pixels.extend(resized);
            }
        }
        let one = channels * height * width;
        while pixels.len() < images * one {
            pixels.extend_from_within(pixels.len() - one..);
        }
        let shape = if channels_first {
            [images, channels, height, width]
        } else {
            [images, height, width, channels]
        };
        let broken = |error: &dyn std::fmt::Display| ModelError::Fails(error.to_string());
        if is_bytes {
            return Value::from_shape(shape, pixels).map_err(|error| broken(&error));
        }
        let scaled = pixels.into_iter().enumerate().map(|(place, byte)| {
            let channel = if channels_first {
                place / (height * width) % channels
            } else {
                place % channels
            };
            let [black, white] = range[channel];
            black + (white - black) * f32::from(byte) / 255.0
        });
        Value::from_shape(shape, scaled.collect::<Vec<f32>>()).map_err(|error| broken(&error))
    }
}

/// Runs what reads a file that anybody may have made: its panic is an error like any other.
fn guarded<T>(work: impl FnOnce() -> Result<T, ModelError>) -> Result<T, ModelError> {
    caught(work).unwrap_or_else(|| Err(ModelError::Fails("it cannot be run".to_owned())))
}

fn load(bytes: Vec<u8>) -> Result<Model, ModelError> {
    guarded(|| Model::load(bytes).map_err(|error| ModelError::NoModel(error.to_string())))
}

fn input_of(model: &Model, choice: &OnnxChoice, form: ImageForm) -> Result<Input, ModelError> {
    let [node] = *model.input_ids() else {
        return Err(ModelError::Inputs(model.input_ids().len()));
    };
    let info = model.node_info(node).ok_or(ModelError::Inputs(0))?;
    let is_bytes = match info.dtype() {
        None | Some(ValueType::Tensor(DataType::Float)) => false,
        Some(ValueType::Tensor(DataType::UInt8)) => true,
        Some(_) => return Err(ModelError::Numbers),
    };
    let shape = info.shape().unwrap_or_default();
    let sizes: Vec<Option<usize>> = shape
        .iter()
        .map(|size| match size {
            Dimension::Fixed(size) => Some(*size),
            Dimension::Symbolic(_) => None,
        })
        .collect();
    let &[batch, second, third, fourth] = sizes.as_slice() else {
        return Err(ModelError::Shape(described(&sizes)));
    };
    let is_channels = |size: Option<usize>| matches!(size, Some(1 | 3));
    let (channels_first, channels, height, width) = if is_channels(second) {
        (true, second, third, fourth)
    } else if is_channels(fourth) {
        (false, fourth, second, third)
    } else {
        return Err(ModelError::Shape(described(&sizes)));
    };
    let channels = channels.unwrap_or(1);
    // Where the model leaves the size open, images keep theirs.
    let [height, width] = [height, width].map(|size| size.unwrap_or(form.side));
    if height > MOST_SIDE || width > MOST_SIDE || height * width == 0 {
        return Err(ModelError::Shape(described(&sizes)));
    }
    let said = model.metadata().get("Image.NominalPixelRange");
    let range = match (choice.range.as_slice(), said) {
        ([], None) => vec![[0.0, 1.0]; channels],
        ([], Some(said)) => {
            let known = RANGES.iter().find(|(name, _)| *name == said);
            let (_, range) = known.ok_or_else(|| ModelError::Range(said.to_owned()))?;
            vec![*range; channels]
        }
        ([one], _) => vec![*one; channels],
        (several, _) if several.len() == channels => several.to_vec(),
        (several, _) => {
            return Err(ModelError::Ranges {
                found: several.len(),
                channels,
            });
        }
    };
    Ok(Input {
        node,
        channels_first,
        channels,
        height,
        width,
        batch: batch.filter(|batch| *batch > 0),
        is_bytes,
        range,
    })
}

fn described(sizes: &[Option<usize>]) -> String {
    let sizes: Vec<String> = sizes
        .iter()
        .map(|size| size.map_or_else(|| "?".to_owned(), |size| size.to_string()))
        .collect();
    sizes.join(" × ")
}

/// The output that holds the features, and another one with a number for each class.
fn outputs_of(model: &Model, wanted: Option<&str>) -> Result<(NodeId, Option<NodeId>), ModelError> {
    let outputs = model.output_ids();
    let name_of = |node: NodeId| {
        model
            .node_info(node)
            .and_then(|info| info.name())
            .unwrap_or_default()
    };
    let rank = |node: NodeId| {
        let shape = model.node_info(node).and_then(|info| info.shape());
        shape.map(|shape| shape.len())
    };
    let features = match wanted {
        Some(wanted) => outputs
            .iter()
            .find(|node| name_of(**node) == wanted)
            .ok_or_else(|| {
                let names: Vec<&str> = outputs.iter().map(|node| name_of(*node)).collect();
                ModelError::Output {
                    wanted: wanted.to_owned(),
                    known: names.join("`, `"),
                }
            })?,
        None => outputs
            .iter()
            .find(|node| name_of(**node) == FEATURES)
            .or_else(|| outputs.first())
            .ok_or(ModelError::NoOutput)?,
    };
    let classes = outputs
        .iter()
        .find(|node| *node != features && rank(**node) == Some(2))
        .copied();
    Ok((*features, classes))
}

fn name_of(path: &Path, output: &str, input: &Input, digest: &str) -> String {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let colour = if input.channels == 1 { "grey" } else { "RGB" };
    let range = if input.is_bytes {
        "bytes".to_owned()
    } else {
        let mut pairs: Vec<String> = input
            .range
            .iter()
            .map(|[black, white]| format!("{black} to {white}"))
            .collect();
        pairs.dedup();
        pairs.join(", ")
    };
    format!(
        "{file} ({output}; {} × {} {colour}, {range}; BLAKE3 {digest})",
        input.width, input.height
    )
}

/// An image in the size and with the channels that are wanted, channels last.
fn resized(image: &[u8], form: ImageForm, channels: usize, [width, height]: [usize; 2]) -> Vec<u8> {
    let side = form.side as u32;
    let (columns, rows) = (width as u32, height as u32);
    // The lengths are those of the form, so that the buffers always exist.
    let grey = |bytes: Vec<u8>| GrayImage::from_raw(side, side, bytes).unwrap_or_default();
    let colour = |bytes: Vec<u8>| RgbImage::from_raw(side, side, bytes).unwrap_or_default();
    match (form.colours, channels) {
        (1, 1) => resize(&grey(image.to_vec()), columns, rows, FilterType::Triangle).into_raw(),
        (1, _) => {
            let small = resize(&grey(image.to_vec()), columns, rows, FilterType::Triangle);
            small.into_raw().into_iter().flat_map(|byte| [byte; 3]).collect()
        }
        (_, 1) => {
            let small = image::DynamicImage::ImageRgb8(colour(image.to_vec())).into_luma8();
            resize(&small, columns, rows, FilterType::Triangle).into_raw()
        }
        _ => resize(&colour(image.to_vec()), columns, rows, FilterType::Triangle).into_raw(),
    }
}

/// An output as `[images, width]`; maps of features are averaged over their places.
fn rows_of(value: Option<Value>, images: usize) -> Result<(Vec<f32>, usize), ModelError> {
    let value = value.ok_or(ModelError::NoOutput)?;
    let shape: Vec<usize> = value.shape().iter().copied().collect();
    let other = || ModelError::OutputShape(described(&shape.iter().copied().map(Some).collect::<Vec<_>>()));
    match *shape.as_slice() {
        [count, width] if count == images && width > 0 => {
            let (_, values) = value
                .into_shape_vec::<f32, 2>()
                .map_err(|_| ModelError::Numbers)?;
            Ok((values, width))
        }
        [count, width, rows, columns] if count == images && width * rows * columns > 0 => {
            let (_, values) = value
                .into_shape_vec::<f32, 4>()
                .map_err(|_| ModelError::Numbers)?;
            let places = rows * columns;
            let means = values
                .chunks_exact(places)
                .map(|map| map.iter().sum::<f32>() / places as f32);
            Ok((means.collect(), width))
        }
        _ => Err(other()),
    }
}

/// Each row as a distribution: as it is if it is one, else by softmax.
fn distributions(mut values: Vec<f32>, classes: usize) -> Vec<f32> {
    for row in values.chunks_exact_mut(classes) {
        let is_one = row.iter().all(|value| *value >= 0.0) && (row.iter().sum::<f32>() - 1.0).abs() < 1e-3;
        if is_one {
            continue;
        }
        let top = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        row.iter_mut().for_each(|value| *value = (*value - top).exp());
        let sum: f32 = row.iter().sum();
        row.iter_mut().for_each(|value| *value /= sum);
    }
    values
}

#[cfg(test)]
mod tests;
