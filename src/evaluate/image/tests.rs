//! The figures against cases whose answer is known.

use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

use super::*;
use crate::data::Provenance;
use crate::data::image::{ImageForm, Labels};

fn normal(count: usize, width: usize, shift: f32, random: &mut RandomSource) -> Features {
    Features {
        values: (0..count * width)
            .map(|_| {
                let value: f32 = StandardNormal.sample(random);
                value + shift
            })
            .collect(),
        width,
    }
}

#[test]
fn the_kernel_distance_is_none_between_equals_and_grows_with_the_shift() {
    let mut random = RandomSource::seeded(1);
    let one = normal(2000, 8, 0.0, &mut random);
    let same = kernel_distance(&one, &normal(2000, 8, 0.0, &mut random), &mut random);
    let near = kernel_distance(&one, &normal(2000, 8, 0.5, &mut random), &mut random);
    let far = kernel_distance(&one, &normal(2000, 8, 1.0, &mut random), &mut random);
    assert!(same.mean.abs() < 0.02, "{same:?}");
    assert!(
        near.mean > 5.0 * same.mean.abs() && far.mean > 2.0 * near.mean,
        "{near:?} {far:?}"
    );
}

#[test]
fn precision_and_recall_see_what_is_made_up_and_what_is_left_out() {
    let mut random = RandomSource::seeded(2);
    let real = normal(600, 2, 0.0, &mut random);
    let same = precision_recall(&real, &normal(600, 2, 0.0, &mut random));
    assert!(same.precise > 480 && same.recalled > 480, "{same:?}");
    let far = precision_recall(&real, &normal(600, 2, 20.0, &mut random));
    assert_eq!((far.precise, far.recalled), (0, 0));
    // All alike, in the middle: precise, and recalling next to nothing.
    let mut alike = normal(600, 2, 0.0, &mut random);
    alike.values.iter_mut().for_each(|value| *value *= 0.01);
    let alike = precision_recall(&real, &alike);
    assert!(alike.precise > 590 && alike.recalled < 20, "{alike:?}");
}

#[test]
fn shares_have_the_interval_of_their_count() {
    let share = Figure::share(90, 100);
    let [low, high] = share.interval.unwrap();
    assert!(
        (low - 0.8256).abs() < 1e-3 && (high - 0.9448).abs() < 1e-3,
        "{low} {high}"
    );
}

/// Images of `side` squared, bright above or below.
fn set(count: usize, side: usize, noise: u8, names: [&str; 2], seed: u64) -> ImageSet {
    let mut random = RandomSource::seeded(seed);
    let mut bytes = Vec::new();
    let codes: Vec<u8> = (0..count).map(|image| (image % 2) as u8).collect();
    for code in &codes {
        for row in 0..side {
            let bright = (row < side / 2) == (*code == 0);
            bytes.extend((0..side).map(|_| random.random_range(0..noise) + if bright { 150 } else { 0 }));
        }
    }
    let labels = Labels {
        codes,
        names: names.map(str::to_owned).to_vec(),
        provenance: Provenance::Declared,
    };
    ImageSet::from_bytes("set", ImageForm { side, colours: 1 }, bytes, Some(labels)).unwrap()
}

fn compare(real: ImageSet, synthetic: ImageSet) -> Result<ImageReport, ComparisonError> {
    let comparison = ImageComparison {
        holdout: Some(real.clone()),
        real,
        synthetic,
        device: DeviceKind::Flex,
    };
    let mut random = RandomSource::seeded(3);
    compare_images(&comparison, &mut random, &Progress::new()).map(StewardOnly::into_steward)
}

#[test]
fn a_comparison_says_all_that_it_can() {
    let side = 8;
    let real = set(400, side, 100, ["a", "b"], 1);
    let good = compare(real.clone(), set(400, side, 100, ["b", "a"], 2)).unwrap();
    let bad = compare(real, set(400, side, 10, ["a", "b"], 3)).unwrap();
    assert_eq!(good.extractor, "pixels");
    let figure = |report: &ImageReport, name: &str| {
        let found = report.figures.iter().find(|(known, _)| *known == name);
        found.unwrap_or_else(|| panic!("{name}")).1.value
    };
    for name in ["fid", "kid"] {
        assert!(
            figure(&good, name) < 0.5 * figure(&bad, name),
            "{name}, side {side}"
        );
    }
    // Classes are matched by name: those of the good set stand in the other order, so what it teaches is wrong.
    assert!(figure(&good, "accuracy") < 0.1 && figure(&bad, "accuracy") > 0.9);
    assert!(figure(&good, "accuracy_of_real") > 0.9);
}

#[test]
fn what_cannot_be_compared_is_said() {
    let real = set(60, 8, 100, ["a", "b"], 1);
    let says = |synthetic: ImageSet, word: &str| {
        let said = compare(real.clone(), synthetic).unwrap_err().to_string();
        assert!(said.contains(word), "{said}");
    };
    says(set(60, 12, 100, ["a", "b"], 1), "one form");
    says(set(20, 8, 100, ["a", "b"], 1), "at least 50");
    says(set(60, 8, 100, ["a", "c"], 1), "`c`");
}
