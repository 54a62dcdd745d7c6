//! Trains the network whose features `evaluate` compares images by, and says how good it is.
//!
//! ```text
//! cargo run --release --example train_extractor -- MNIST FASHION-MNIST
//! ```
//!
//! Both are folders with the four files as they are published (`train-images-idx3-ubyte.gz` and so on). Writes
//! `assets/extractor/cnn.safetensors`, from whatever folder it is run in. The weights are rounded to half precision, and
//! the accuracy is that of the rounded ones.

use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use half::f16;
use pointillist::data::image::{ImageOptions, ImageSet, read_images};
use pointillist::evaluate::image::EXTRACTOR_SHAPE;
use pointillist::model::image::{Classifier, ClassifierTraining};
use pointillist::model::{DeviceKind, NamedTensor};
use pointillist::num::{Progress, RandomSource};
use safetensors::serialize;
use safetensors::tensor::{Dtype, TensorView};

const SEED: u64 = 28;
const TRAINING: ClassifierTraining = ClassifierTraining {
    epochs: 6,
    batch: 100,
    learning_rate: 2e-3,
};
const TARGET: &str = "assets/extractor/cnn.safetensors";

fn load(folder: &Path, part: &str) -> Result<ImageSet, Box<dyn Error>> {
    let path = folder.join(format!("{part}-images-idx3-ubyte.gz"));
    Ok(read_images(&path, &ImageOptions::default(), &Progress::new())?)
}

/// Both sets one after the other, the classes of the second after those of the first.
fn together(sets: &[ImageSet]) -> (Vec<u8>, Vec<u8>) {
    let (mut bytes, mut classes) = (Vec::new(), Vec::new());
    for (set, first) in sets.iter().zip([0_u8, 10]) {
        bytes.extend_from_slice(set.bytes());
        classes.extend(set.codes().iter().map(|code| code + first));
    }
    (bytes, classes)
}

/// The weights in half precision: as a file holds them, and as they come back from it.
fn rounded(tensors: &[NamedTensor]) -> (Vec<Vec<u8>>, Vec<NamedTensor>) {
    let bytes = tensors.iter().map(|tensor| {
        let values = tensor.values.iter();
        values
            .flat_map(|value| f16::from_f32(*value).to_le_bytes())
            .collect()
    });
    let back = tensors.iter().map(|tensor| NamedTensor {
        values: tensor
            .values
            .iter()
            .map(|value| f16::from_f32(*value).to_f32())
            .collect(),
        ..tensor.clone()
    });
    (bytes.collect(), back.collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    let folders: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [_, _] = folders.as_slice() else {
        return Err("name the folders of MNIST and of Fashion-MNIST".into());
    };
    let read = |part: &str| -> Result<Vec<ImageSet>, Box<dyn Error>> {
        folders.iter().map(|folder| load(folder, part)).collect()
    };
    let (bytes, classes) = together(&read("train")?);
    let mut random = RandomSource::seeded(SEED);
    let device = DeviceKind::Flex.open()?;
    let mut network = Classifier::new(EXTRACTOR_SHAPE, &mut random, &device);
    let mut shown = 0;
    network.train(&bytes, &classes, TRAINING, &mut random, &mut |share| {
        let percent = (share * 100.0) as u32;
        if percent > shown {
            shown = percent;
            println!("{shown} %");
        }
        true
    });
    let tensors = network.tensors();
    let (halves, tensors) = rounded(&tensors);
    let network = Classifier::from_tensors(EXTRACTOR_SHAPE, &tensors, &device)?;
    let mut said = Vec::new();
    for ((set, first), name) in read("t10k")?.iter().zip([0, 10]).zip(["MNIST", "Fashion-MNIST"]) {
        let found = network
            .read(set.bytes(), &mut |_| true)
            .classes(EXTRACTOR_SHAPE.classes);
        let codes = set.codes();
        let right = found
            .iter()
            .zip(&codes)
            .filter(|(found, code)| **found == first + usize::from(**code));
        said.push(format!("{name} {:.4}", right.count() as f64 / set.len() as f64));
    }
    let said = said.join(", ");
    println!("accuracy on the test parts: {said}");
    let views = tensors
        .iter()
        .zip(&halves)
        .map(|(tensor, bytes)| {
            let view = TensorView::new(Dtype::F16, tensor.shape.to_vec(), bytes)?;
            Ok((tensor.name.as_str(), view))
        })
        .collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    let header = HashMap::from([("accuracy on the test parts".to_owned(), said)]);
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join(TARGET);
    std::fs::write(&target, serialize(views, Some(header))?)?;
    println!("{}", target.display());
    Ok(())
}
