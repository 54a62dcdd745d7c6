//! Models made by hand, byte by byte, and the stored one.

use std::fs;
use std::path::Path;

use super::*;
use crate::data::image::{ImageOptions, read_images};
use crate::model::DeviceKind;

use super::super::{Extractor, ExtractorChoice};

/// A field of a protocol buffer: a number.
fn number(field: u64, value: u64) -> Vec<u8> {
    let mut bytes = variable(field << 3);
    bytes.extend(variable(value));
    bytes
}

/// A field of a protocol buffer: bytes or a message.
fn message(field: u64, content: &[u8]) -> Vec<u8> {
    let mut bytes = variable(field << 3 | 2);
    bytes.extend(variable(content.len() as u64));
    bytes.extend(content);
    bytes
}

fn variable(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// `ValueInfoProto`: a name, and a tensor of floats (or another kind) of these sizes, 0 for an open one.
fn value(name: &str, kind: u64, sizes: &[u64]) -> Vec<u8> {
    let sizes = sizes.iter().flat_map(|size| {
        let size = if *size == 0 {
            message(2, b"N")
        } else {
            number(1, *size)
        };
        message(1, &size)
    });
    let tensor = [number(1, kind), message(2, &sizes.collect::<Vec<u8>>())].concat();
    [message(1, name.as_bytes()), message(2, &message(1, &tensor))].concat()
}

fn node(kind: &str, input: &str, output: &str) -> Vec<u8> {
    [
        message(1, input.as_bytes()),
        message(2, output.as_bytes()),
        message(4, kind.as_bytes()),
    ]
    .concat()
}

/// A model of nodes from `input` to the outputs, with one property.
fn model(nodes: &[Vec<u8>], input: Vec<u8>, outputs: &[Vec<u8>], property: Option<(&str, &str)>) -> Vec<u8> {
    let mut graph: Vec<u8> = nodes.iter().flat_map(|node| message(1, node)).collect();
    graph.extend(message(2, b"made by hand"));
    graph.extend(message(11, &input));
    outputs
        .iter()
        .for_each(|output| graph.extend(message(12, output)));
    let mut model = number(1, 8);
    model.extend(message(7, &graph));
    model.extend(message(8, &number(2, 13)));
    if let Some((key, value)) = property {
        model.extend(message(
            14,
            &[message(1, key.as_bytes()), message(2, value.as_bytes())].concat(),
        ));
    }
    model
}

/// Flattens the images it is given: its features are what goes in.
fn flat(sizes: &[u64], property: Option<(&str, &str)>) -> Vec<u8> {
    let nodes = [node("Flatten", "pixels", "features")];
    model(
        &nodes,
        value("pixels", 1, sizes),
        &[value("features", 1, &[0, 0])],
        property,
    )
}

const GREY: ImageForm = ImageForm { side: 8, colours: 1 };
const COLOUR: ImageForm = ImageForm { side: 8, colours: 3 };

fn open(
    bytes: &[u8],
    form: ImageForm,
    change: impl FnOnce(&mut OnnxChoice),
) -> Result<Extractor, ComparisonError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.onnx");
    fs::write(&path, bytes).unwrap();
    let mut choice = OnnxChoice {
        path,
        ..OnnxChoice::default()
    };
    change(&mut choice);
    Extractor::open(&ExtractorChoice::Onnx(choice), form, DeviceKind::Flex)
}

fn features(extractor: &Extractor, bytes: &[u8]) -> Features {
    extractor.read(bytes, &Progress::new()).unwrap()
}

#[test]
fn images_go_in_as_the_model_says() {
    let image: Vec<u8> = (0..64).map(|place| 4 * place).collect();
    let scaled: Vec<f32> = image.iter().map(|byte| f32::from(*byte) / 255.0).collect();
    let plain = open(&flat(&[0, 1, 8, 8], None), GREY, |_| {}).unwrap();
    assert!(
        plain
            .name()
            .starts_with("model.onnx (features; 8 × 8 grey, 0 to 1; BLAKE3 ")
    );
    let twenty = image.repeat(20);
    let found = features(&plain, &twenty);
    assert_eq!((found.count(), found.width, found.classes), (20, 64, 0));
    assert_eq!(found.values[..64], scaled);
    assert_eq!(found.values[19 * 64..], scaled);

    // A fixed batch is filled up, and what was filled in is dropped.
    let fixed = open(&flat(&[3, 1, 8, 8], None), GREY, |_| {}).unwrap();
    assert_eq!(features(&fixed, &twenty).values, found.values);

    // The size is the model's; grey becomes three equal channels, and those of an image lie one after the other.
    let large = open(&flat(&[0, 3, 16, 24], None), GREY, |_| {}).unwrap();
    let found = features(&large, &image);
    assert_eq!(found.width, 3 * 16 * 24);
    assert_eq!(found.values[..384], found.values[768..]);

    // Channels last: colours stay together. To grey by their brightness.
    let colours: Vec<u8> = (0..64).flat_map(|place| [place, 255, 0]).collect();
    let last = open(&flat(&[0, 8, 8, 3], None), COLOUR, |_| {}).unwrap();
    let found = features(&last, &colours);
    assert_eq!(found.values[3..6], [1.0 / 255.0, 1.0, 0.0]);
    let first = open(&flat(&[0, 3, 8, 8], None), COLOUR, |_| {}).unwrap();
    assert_eq!(features(&first, &colours).values[64..128], [1.0; 64]);
    let grey = open(&flat(&[0, 1, 8, 8], None), COLOUR, |_| {}).unwrap();
    assert!((features(&grey, &colours).values[0] - 0.7152).abs() < 0.01);
}

#[test]
fn black_and_white_are_what_is_declared_or_what_the_file_says() {
    let image = [0, 255].repeat(32);
    let ends = |extractor: &Extractor| features(extractor, &image).values[..2].to_vec();
    let property = Some(("Image.NominalPixelRange", "Normalized_1_1"));
    let said = open(&flat(&[0, 1, 8, 8], property), GREY, |_| {}).unwrap();
    assert_eq!(ends(&said), [-1.0, 1.0]);
    let declared = open(&flat(&[0, 1, 8, 8], property), GREY, |choice| {
        choice.range = vec![[5.0, 2.0]];
    });
    let declared = declared.unwrap();
    assert_eq!(ends(&declared), [5.0, 2.0]);
    assert!(declared.name().contains("5 to 2"), "{}", declared.name());
    let each = open(&flat(&[0, 3, 8, 8], None), GREY, |choice| {
        choice.range = vec![[0.0, 1.0], [0.0, 2.0], [0.0, 3.0]];
    });
    let found = features(&each.unwrap(), &image);
    assert_eq!(
        [found.values[1], found.values[65], found.values[129]],
        [1.0, 2.0, 3.0]
    );
}

#[test]
fn another_output_gives_classes() {
    let nodes = [
        node("Flatten", "pixels", "logits"),
        node("Relu", "logits", "features"),
    ];
    let outputs = [value("logits", 1, &[0, 64]), value("features", 1, &[0, 64])];
    let bytes = model(&nodes, value("pixels", 1, &[0, 1, 8, 8]), &outputs, None);
    let both = open(&bytes, GREY, |choice| choice.range = vec![[-1.0, 1.0]]).unwrap();
    let found = features(&both, &[0; 64]);
    assert_eq!((found.width, found.classes), (64, 64));
    assert_eq!(found.values, [0.0; 64], "cut off at zero");
    assert!(
        found
            .probabilities
            .iter()
            .all(|share| (share - 1.0 / 64.0).abs() < 1e-6)
    );
    let turned = open(&bytes, GREY, |choice| {
        choice.range = vec![[-1.0, 1.0]];
        choice.output = Some("logits".to_owned());
    });
    assert_eq!(features(&turned.unwrap(), &[0; 64]).values, [-1.0; 64]);
}

#[test]
fn what_cannot_be_used_is_said() {
    let says = |bytes: &[u8], form: ImageForm, change: fn(&mut OnnxChoice), word: &str| {
        let Err(error) = open(bytes, form, change) else {
            panic!("{word}: it was taken");
        };
        let said = error.to_string();
        assert!(said.contains(word) && said.contains("model.onnx"), "{said}");
    };
    let good = flat(&[0, 1, 8, 8], None);
    says(b"", GREY, |_| {}, "no ONNX model");
    says(b"this is a text and no model", GREY, |_| {}, "no ONNX model");
    says(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", GREY, |_| {}, "no ONNX model");
    says(&good[..good.len() / 2], GREY, |_| {}, "no ONNX model");
    says(&flat(&[0, 5, 8, 8], None), GREY, |_| {}, "? × 5 × 8 × 8");
    says(&flat(&[0, 64], None), GREY, |_| {}, "? × 64");
    says(&flat(&[0, 1, 9999, 9999], None), GREY, |_| {}, "9999");
    says(
        &good,
        GREY,
        |choice| choice.output = Some("pool".to_owned()),
        "it has `features`",
    );
    says(
        &good,
        GREY,
        |choice| choice.range = vec![[0.0, 1.0]; 2],
        "2 ranges",
    );
    let strange = flat(
        &[0, 1, 8, 8],
        Some(("Image.NominalPixelRange", "NominalRange_16_235")),
    );
    says(&strange, GREY, |_| {}, "NominalRange_16_235");
    let whole = model(
        &[node("Flatten", "pixels", "features")],
        value("pixels", 7, &[0, 1, 8, 8]),
        &[value("features", 7, &[0, 0])],
        None,
    );
    says(&whole, GREY, |_| {}, "numbers of a kind");
    let missing = Path::new("nowhere.onnx");
    let choice = ExtractorChoice::Onnx(OnnxChoice {
        path: missing.to_owned(),
        ..OnnxChoice::default()
    });
    assert!(Extractor::open(&choice, GREY, DeviceKind::Flex).is_err());
    let unfit = Extractor::open(&ExtractorChoice::Network, GREY, DeviceKind::Flex);
    assert!(unfit.err().unwrap().to_string().contains("28 × 28"));
}

#[test]
fn a_file_cut_or_changed_anywhere_is_an_error_or_a_model() {
    let good = flat(&[0, 1, 8, 8], None);
    for place in 0..good.len() {
        // Neither may end the program.
        let _ = open(&good[..place], GREY, |_| {});
        let mut changed = good.clone();
        changed[place] ^= 0x15;
        if let Ok(extractor) = open(&changed, GREY, |_| {}) {
            let _ = extractor.read(&[7; 128], &Progress::new());
        }
    }
}

#[test]
fn the_stored_model_tells_digits_from_clothes() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let path = shared.join("models/efficientnet_lite0.onnx");
    if !path.is_file() {
        println!("skipped: {} is not at hand", path.display());
        return;
    }
    let images = |set: &str, first: usize| -> Vec<u8> {
        let path = shared.join(format!("images/{set}/t10k-images-idx3-ubyte.gz"));
        let set = read_images(&path, &ImageOptions::default(), &Progress::new()).unwrap();
        set.bytes()[first * 784..(first + 40) * 784].to_vec()
    };
    let form = ImageForm { side: 28, colours: 1 };
    let choice = ExtractorChoice::Onnx(OnnxChoice {
        path,
        output: None,
        // (pixel − 127) / 128, as its notes say.
        range: vec![[-127.0 / 128.0, 1.0]],
    });
    let extractor = Extractor::open(&choice, form, DeviceKind::Flex).unwrap();
    assert!(
        extractor.name().contains("features; 224 × 224 RGB"),
        "{}",
        extractor.name()
    );
    let clothes = features(&extractor, &images("fashion-mnist", 0));
    assert_eq!(
        (clothes.count(), clothes.width, clothes.classes),
        (40, 1280, 1000)
    );
    let more = features(&extractor, &images("fashion-mnist", 40));
    let digits = features(&extractor, &images("mnist", 0));
    let distance = |other: &Features| super::super::RealSide::of(clothes.clone()).fid(other).unwrap();
    assert!(
        distance(&digits) > 1.5 * distance(&more),
        "{} {}",
        distance(&digits),
        distance(&more)
    );
}
