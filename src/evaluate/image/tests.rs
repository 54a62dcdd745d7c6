//! The figures against cases whose answer is known.

use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

use super::*;
use crate::data::Provenance;
use crate::data::image::{ImageForm, ImageOptions, Labels, read_images};

fn normal(count: usize, width: usize, shift: f32, random: &mut RandomSource) -> Features {
    Features {
        values: (0..count * width)
            .map(|_| {
                let value: f32 = StandardNormal.sample(random);
                value + shift
            })
            .collect(),
        width,
        ..Features::default()
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
        extractor: ExtractorChoice::Fitting,
        most: None,
        device: DeviceKind::Flex,
    };
    let mut random = RandomSource::seeded(3);
    compare_images(&comparison, &mut random, &Progress::new()).map(StewardOnly::into_steward)
}

#[test]
fn a_comparison_says_all_that_it_can() {
    for side in [8, 28] {
        let real = set(400, side, 100, ["a", "b"], 1);
        let good = compare(real.clone(), set(400, side, 100, ["b", "a"], 2)).unwrap();
        let bad = compare(real, set(400, side, 10, ["a", "b"], 3)).unwrap();
        assert_eq!(good.extractor == "pixels", side == 8);
        assert_eq!(good.extractor_classes, if side == 8 { 0 } else { 20 });
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
        assert!(figure(&good, "fid_of_real") < figure(&bad, "fid"));
    }
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

#[test]
fn the_inception_score_is_between_one_and_the_classes() {
    let features = |row: &dyn Fn(usize) -> [f32; 3]| Features {
        values: vec![0.0; 300],
        width: 1,
        probabilities: (0..300).flat_map(row).collect(),
        classes: 3,
    };
    let sure = features(&|image| {
        let mut row = [0.0; 3];
        row[image % 3] = 1.0;
        row
    });
    assert!((inception_score(&sure).unwrap().mean - 3.0).abs() < 1e-6);
    let unsure = features(&|_| [1.0 / 3.0; 3]);
    assert!((inception_score(&unsure).unwrap().mean - 1.0).abs() < 1e-6);
    let always_one = features(&|_| [1.0, 0.0, 0.0]);
    assert!((inception_score(&always_one).unwrap().mean - 1.0).abs() < 1e-6);
    assert_eq!(inception_score(&Features::default()), None);
}

#[test]
fn without_a_holdout_the_real_images_are_held_against_themselves() {
    let real = set(400, 8, 100, ["a", "b"], 1);
    let comparison = ImageComparison {
        real: real.clone(),
        holdout: None,
        synthetic: set(400, 8, 100, ["a", "b"], 2),
        extractor: ExtractorChoice::Pixels,
        most: Some(100),
        device: DeviceKind::Flex,
    };
    let mut random = RandomSource::seeded(3);
    let report = compare_images(&comparison, &mut random, &Progress::new())
        .unwrap()
        .into_steward();
    assert_eq!(report.compared, [100, 100]);
    let names: Vec<&str> = report.figures.iter().map(|(name, _)| *name).collect();
    assert_eq!(names[..4], ["fid", "fid_unbiased", "fid_of_real_halves", "kid"]);
    // Images of one distribution: what is left is the bias of few, and real halves of fifty have more of it.
    let value = |place: usize| report.figures[place].1.value;
    assert!(
        value(0) > 0.0 && value(1) < value(0) && value(2) > value(0),
        "{:?}",
        report.figures
    );
}

#[test]
fn the_network_that_ships_knows_its_digits() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/images");
    let form = ImageForm { side: 28, colours: 1 };
    let extractor = Extractor::open(&ExtractorChoice::Network, form, DeviceKind::Flex).unwrap();
    for (name, first) in [("mnist", 0), ("fashion-mnist", 10)] {
        let path = folder.join(name).join("t10k-images-idx3-ubyte.gz");
        if !path.is_file() {
            println!("skipped: {} is not at hand", path.display());
            continue;
        }
        let set = read_images(&path, &ImageOptions::default(), &Progress::new()).unwrap();
        let found = extractor
            .read(&set.bytes()[..2000 * 784], &Progress::new())
            .unwrap();
        assert_eq!((found.count(), found.width), (2000, 128));
        let right = found
            .probabilities
            .chunks_exact(20)
            .zip(set.codes())
            .filter(|(shares, code)| {
                let own = shares[first + usize::from(*code)];
                shares.iter().all(|share| *share <= own)
            });
        // Of the stored accuracies, .98 and .89, five standard deviations less.
        let least = if first == 0 { 0.96 } else { 0.85 };
        let share = right.count() as f64 / 2000.0;
        assert!(share > least, "{name}: {share}");
    }
}

#[test]
fn live_figures_come_beside_the_loop() {
    let real = set(600, 8, 100, ["a", "b"], 1);
    let mut live = LiveImages::start(real.clone(), RandomSource::seeded(4)).unwrap();
    assert!(live.wants_images());
    let good = set(300, 8, 100, ["a", "b"], 2).bytes().to_vec();
    let started = std::time::Instant::now();
    live.offer(7, Box::new(move || good));
    assert!(started.elapsed() < std::time::Duration::from_millis(500));
    let figures = loop {
        if let Some(figures) = live.latest() {
            break figures;
        }
        assert!(started.elapsed() < std::time::Duration::from_secs(60));
        std::thread::sleep(std::time::Duration::from_millis(5));
    };
    assert_eq!(
        (figures.step, &*figures.extractor, figures.compared),
        (7, "pixels", [300, 600])
    );
    let value = |figures: &LiveFigures, name: &str| figures.figure(name).into_steward().unwrap().value;
    let good = value(&figures, "fid");
    assert!(figures.fid_of_real.into_steward().unwrap() > 0.0);
    let bad = set(300, 8, 10, ["a", "b"], 3).bytes().to_vec();
    live.offer(8, Box::new(move || bad));
    let last = live.finish().unwrap();
    assert!(last.step == 8 && value(&last, "fid") > 2.0 * good);
    // What makes no image, or fails, is the thread's own affair.
    let mut live = LiveImages::start(real, RandomSource::seeded(4)).unwrap();
    live.offer(1, Box::new(Vec::new));
    assert!(live.finish().is_none());
}
