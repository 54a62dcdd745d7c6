//! A whole `dpgan` run on images: noisy steps of a convolutional critic, steps of the generator, and images drawn at the
//! end. 60,000 images of 28 × 28 in ten classes, convolutions 1-32-64, expected batch 128, two critic steps to one of the
//! generator.
//!
//! Run with `taskset -c 0 cargo bench --bench image_training`; `tests/peers/opacus_dpgan.py` times the same in PyTorch with
//! Opacus. Prints milliseconds a critic step, all included, and milliseconds a drawn image.

use std::time::Instant;

use pointillist::data::Provenance;
use pointillist::data::image::{ImageForm, ImageSet, Labels};
use pointillist::model::DeviceKind;
use pointillist::num::RandomSource;
use pointillist::privacy::Neighboring;
use pointillist::train::image::{
    CriticKind, ImageMethod, ImagePlan, ImageSettings, ImageTraining, TrainImages,
};
use pointillist::train::{Control, Privacy, Synthesizer};
use rand::RngExt as _;

const IMAGES: usize = 60_000;
const SIDE: usize = 28;
const STEPS: u64 = 100;
const DRAWN: usize = 1000;

fn main() {
    let mut random = RandomSource::from_operating_system();
    let form = ImageForm {
        side: SIDE,
        colours: 1,
    };
    let bytes = (0..IMAGES * SIDE * SIDE).map(|_| random.random()).collect();
    let names = (0..10).map(|class| class.to_string()).collect();
    let codes = (0..IMAGES).map(|image| (image % 10) as u8).collect();
    let labels = Labels {
        codes,
        names,
        provenance: Provenance::Declared,
    };
    let set = ImageSet::from_bytes("bench", form, bytes, Some(labels)).expect("images and labels fit");
    let settings = ImageSettings {
        steps: STEPS,
        batch_size: 128,
        fake_batch: 128,
        generator_batch: 128,
        critic: CriticKind::Convolution,
        critic_channels: vec![32, 64],
        critic_steps: 2,
        ladder: false,
        warm_steps: 0,
        ..ImageSettings::default()
    };
    let privacy = Privacy::Private {
        epsilon: 10.0,
        delta: 1e-5,
        neighboring: Neighboring::AddRemoveOne,
    };
    let schema = set.schema();
    let plan = ImagePlan::new(ImageMethod::Gan, &settings, &schema, &set, privacy).expect("a plan");
    let images = TrainImages::new(set, &schema).expect("labels fit");
    let training = ImageTraining::new(plan, images, DeviceKind::Flex, random.fork()).expect("a processor");
    let since = Instant::now();
    let trained = training.run(&Control::new(), &mut |_| ()).expect("a generator");
    let taken = 1e3 * since.elapsed().as_secs_f64();
    println!(
        "{} steps: {:.1} ms a critic step, all included",
        trained.steps_done,
        taken / trained.steps_done as f64
    );
    let Synthesizer::Images(generator) = trained.generator else {
        unreachable!("images make images")
    };
    let since = Instant::now();
    let drawn: usize = generator
        .batches(DRAWN, None, &mut random)
        .map(|drawn| drawn.codes.len())
        .sum();
    println!(
        "{drawn} images drawn: {:.3} ms each",
        1e3 * since.elapsed().as_secs_f64() / drawn as f64
    );
}
