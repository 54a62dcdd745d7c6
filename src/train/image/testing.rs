//! Small images of two classes, for the tests of this room.

use rand::RngExt;

use super::TrainImages;
use crate::data::Provenance;
use crate::data::image::{ImageForm, ImageSet, Labels};
use crate::num::RandomSource;

/// Images of 8 × 8 with classes `a` and `b`.
pub fn images(bytes: Vec<u8>, codes: Vec<u8>) -> TrainImages {
    let labels = Labels {
        codes,
        names: vec!["a".to_owned(), "b".to_owned()],
        provenance: Provenance::Declared,
    };
    let form = ImageForm { side: 8, colours: 1 };
    let set = ImageSet::from_bytes("test", form, bytes, Some(labels)).unwrap();
    let schema = set.schema();
    TrainImages::new(set, &schema).unwrap()
}

/// `a` is bright above, `b` below.
pub fn some_images(count: usize) -> TrainImages {
    let mut random = RandomSource::seeded(77);
    let mut bytes = Vec::with_capacity(64 * count);
    let codes: Vec<u8> = (0..count).map(|image| (image % 2) as u8).collect();
    for code in &codes {
        for row in 0..8 {
            let bright = (row < 4) == (*code == 0);
            bytes.extend((0..8).map(|_| random.random_range(0..60_u8) + if bright { 180 } else { 0 }));
        }
    }
    images(bytes, codes)
}
