//! Trains the extractor of features that ships with the program, and says how good it is.
//!
//! ```text
//! cargo test --release --test train_extractor -- --ignored --nocapture
//! ```
//!
//! reads MNIST and Fashion-MNIST from `../shared/data/images` and writes `assets/extractor`.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use pointillist::data::image::{ImageOptions, ImageSet, read_images};
use pointillist::evaluate::image::EXTRACTOR_SHAPE;
use pointillist::model::DeviceKind;
use pointillist::model::image::{Classifier, ClassifierTraining};
use pointillist::num::{Progress, RandomSource};
use safetensors::serialize;
use safetensors::tensor::{Dtype, TensorView};

const SETS: [&str; 2] = ["mnist", "fashion-mnist"];
const SEED: u64 = 28;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/images")
}

fn load(set: &str, part: &str) -> ImageSet {
    let path = folder().join(set).join(format!("{part}-images-idx3-ubyte.gz"));
    read_images(&path, &ImageOptions::default(), &Progress::new()).unwrap()
}

/// All sets one after the other, the classes of the second after those of the first.
fn together(part: &str) -> (Vec<u8>, Vec<u8>, Vec<usize>) {
    let (mut bytes, mut classes, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for (index, set) in SETS.into_iter().enumerate() {
        let images = load(set, part);
        bytes.extend_from_slice(images.bytes());
        classes.extend(images.codes().iter().map(|code| code + 10 * index as u8));
        counts.push(images.len());
    }
    (bytes, classes, counts)
}

#[test]
#[ignore = "makes a file that ships with the program, in about ten minutes"]
fn train() {
    if !folder().is_dir() {
        println!("skipped: {} is not at hand", folder().display());
        return;
    }
    let (bytes, classes, _) = together("train");
    let mut random = RandomSource::seeded(SEED);
    let device = DeviceKind::Flex.open().unwrap();
    let mut network = Classifier::new(EXTRACTOR_SHAPE, &mut random, &device);
    let settings = ClassifierTraining {
        epochs: 6,
        ..ClassifierTraining::default()
    };
    let mut shown = 0;
    network.train(&bytes, &classes, settings, &mut random, &mut |share| {
        let percent = (share * 20.0) as u32;
        if percent > shown {
            shown = percent;
            println!("{} %", 5 * shown);
        }
        true
    });
    let (bytes, classes, counts) = together("t10k");
    let found = network
        .read(&bytes, &mut |_| true)
        .classes(EXTRACTOR_SHAPE.classes);
    let mut start = 0;
    let mut said = String::new();
    for (set, count) in SETS.into_iter().zip(counts) {
        let hits = (start..start + count)
            .filter(|image| found[*image] == usize::from(classes[*image]))
            .count();
        said.push_str(&format!("{set}: {:.4}\n", hits as f64 / count as f64));
        start += count;
    }
    println!("accuracy on the test parts\n{said}");
    let tensors: Vec<_> = network
        .tensors()
        .into_iter()
        .map(|tensor| {
            let bytes: Vec<u8> = tensor
                .values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect();
            (tensor.name, tensor.shape, bytes)
        })
        .collect();
    let views = tensors.iter().map(|(name, shape, bytes)| {
        let view = TensorView::new(Dtype::F32, shape.to_vec(), bytes).unwrap();
        (name.as_str(), view)
    });
    let header = HashMap::from([("accuracy on the test parts".to_owned(), said)]);
    let file = serialize(views, Some(header)).unwrap();
    let target =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/extractor/digits-and-clothes.safetensors");
    fs::write(target, file).unwrap();
}
