//! Whole runs with a critic on small images.

use super::super::testing::some_images;
use super::super::{CriticKind, ImageGenerator, ImageSettings, ImageTraining};
use super::*;
use crate::model::DeviceKind;
use crate::privacy::{Neighboring, PrivacyEvent};
use crate::train::{Privacy, Synthesizer, Trained};

const PRIVATE: Privacy = Privacy::Private {
    epsilon: 10.0,
    delta: 1e-5,
    neighboring: Neighboring::AddRemoveOne,
};

fn quick(method: ImageMethod, steps: u64) -> ImageSettings {
    ImageSettings {
        steps,
        batch_size: 100,
        micro_batch: 64,
        critic_hidden: vec![32],
        critic_channels: vec![4, 8],
        critic_learning_rate: 2e-3,
        fake_batch: 32,
        frequencies: 250,
        generator_hidden: 32,
        generator_channels: 8,
        generator_batch: 32,
        generator_learning_rate: 2e-3,
        averaging: 0.9,
        ..ImageSettings::recommended(method, Some(10.0))
    }
}

/// What a run came to, what it told, and what was planned.
struct Done {
    trained: Trained,
    steps: Vec<StepObservation>,
    grids: Vec<u64>,
    planned: crate::privacy::EventList,
}

fn train_on(device: DeviceKind, method: ImageMethod, settings: &ImageSettings, privacy: Privacy) -> Done {
    let images = some_images(2000);
    let schema = images.set().schema();
    let plan = ImagePlan::new(method, settings, &schema, images.set(), privacy).unwrap();
    let planned = plan.events();
    let training = ImageTraining::new(plan, images, device, RandomSource::seeded(8)).unwrap();
    let (mut steps, mut grids) = (Vec::new(), Vec::new());
    let trained = training
        .run(&Control::new(), &mut |seen| match seen {
            Observation::Step(seen) => steps.push(seen),
            Observation::Images(grid) => grids.push(grid.step),
            _ => panic!("images have no rows"),
        })
        .unwrap();
    Done {
        trained,
        steps,
        grids,
        planned,
    }
}

fn train(method: ImageMethod, settings: &ImageSettings, privacy: Privacy) -> Done {
    train_on(DeviceKind::Flex, method, settings, privacy)
}

fn generator_of(trained: Trained) -> ImageGenerator {
    match trained.generator {
        Synthesizer::Images(generator) => *generator,
        Synthesizer::Table(_) => panic!("images make images"),
    }
}

/// The share of generated images that are bright on the side of their class.
fn right_share(generator: &ImageGenerator) -> f64 {
    let mut random = RandomSource::seeded(9);
    let mut right = 0;
    for drawn in generator.batches(400, None, &mut random) {
        for (image, code) in drawn.bytes.chunks_exact(64).zip(&drawn.codes) {
            let half = |rows: &[u8]| rows.iter().map(|byte| u32::from(*byte)).sum::<u32>();
            let bright_above = half(&image[..32]) > half(&image[32..]);
            right += usize::from(bright_above == (*code == 0));
        }
    }
    f64::from(u32::try_from(right).unwrap()) / 400.0
}

#[test]
fn a_private_run_executes_exactly_what_was_planned_and_learns() {
    for critic in [CriticKind::Dense, CriticKind::Convolution] {
        let settings = ImageSettings {
            critic,
            ..quick(ImageMethod::Gan, 500)
        };
        let done = train(ImageMethod::Gan, &settings, PRIVATE);
        let trained = &done.trained;
        assert_eq!(trained.executed, done.planned);
        assert_eq!((trained.stopped, trained.steps_done), (StopReason::Planned, 500));
        assert!(trained.epsilon.unwrap() <= 10.0 && trained.epsilon.unwrap() > 9.9);
        assert!(
            done.steps
                .windows(2)
                .all(|pair| pair[0].epsilon < pair[1].epsilon)
        );
        assert!(done.steps.iter().all(|step| step.critic_accuracy.is_some()));
        let last = done.steps.last().unwrap();
        assert_eq!(last.step, 500);
        assert_eq!(last.gradient_norms.for_steward().len(), *last.batch.for_steward());
        assert_eq!((done.grids.first(), done.grids.last()), (Some(&1), Some(&500)));
        let right = right_share(&generator_of(done.trained));
        assert!(right > 0.9, "{critic:?}: {right}");
    }
}

#[test]
fn a_warm_start_is_bought_first_and_counted() {
    let settings = ImageSettings {
        warm_steps: 200,
        warm_share: 0.3,
        ..quick(ImageMethod::Gan, 40)
    };
    let done = train(ImageMethod::Gan, &settings, PRIVATE);
    assert_eq!(done.trained.executed, done.planned);
    assert_eq!(done.trained.steps_done, 240);
    let events = &done.planned.events;
    assert!(matches!(events[0].event, PrivacyEvent::Gaussian { .. }));
    assert!(matches!(
        events[1].event,
        PrivacyEvent::PoissonSampledGaussian { steps: 40, .. }
    ));
    let first = &done.steps[0];
    assert!(first.epsilon.unwrap() > 0.0 && first.critic_loss.for_steward().is_none());
    let generator = generator_of(done.trained);
    assert_ne!(
        generator.shares()[0],
        0.5,
        "shares follow the noisy counts that were bought"
    );
    assert!(right_share(&generator) > 0.9);
}

#[test]
fn a_run_without_a_promise_charges_nothing_and_learns() {
    for method in [ImageMethod::Gan, ImageMethod::GanWithPenalty] {
        let done = train(method, &quick(method, 500), Privacy::None);
        assert!(done.trained.executed.events.is_empty() && done.trained.epsilon.is_none());
        assert!(done.steps.iter().all(|step| step.epsilon.is_none()));
        let right = right_share(&generator_of(done.trained));
        assert!(right > 0.9, "{method:?}: {right}");
    }
}

#[test]
fn a_stopped_run_keeps_its_generator_and_its_account() {
    let images = some_images(2000);
    let schema = images.set().schema();
    let settings = quick(ImageMethod::Gan, 200);
    let plan = ImagePlan::new(ImageMethod::Gan, &settings, &schema, images.set(), PRIVATE).unwrap();
    let training = ImageTraining::new(plan, images, DeviceKind::Flex, RandomSource::seeded(1)).unwrap();
    let control = Control::new();
    let trained = training
        .run(&control, &mut |seen| {
            if matches!(&seen, Observation::Step(step) if step.step == 30) {
                control.stop();
            }
        })
        .unwrap();
    assert_eq!((trained.stopped, trained.steps_done), (StopReason::ByPerson, 30));
    assert!(matches!(
        trained.executed.events[..],
        [crate::privacy::CountedEvent {
            event: PrivacyEvent::PoissonSampledGaussian { steps: 30, .. },
            count: 1
        }]
    ));
    assert!(trained.epsilon.unwrap() < 10.0);
}

#[test]
fn the_size_of_a_micro_batch_changes_nothing() {
    let losses = |micro_batch: u64| -> Vec<f64> {
        let settings = ImageSettings {
            micro_batch,
            ..quick(ImageMethod::Gan, 20)
        };
        let done = train(ImageMethod::Gan, &settings, PRIVATE);
        done.steps.iter().filter_map(|step| step.generator_loss).collect()
    };
    let whole = losses(1000);
    assert!(whole.len() > 10);
    for parts in [7, 50] {
        for (one, other) in losses(parts).iter().zip(&whole) {
            assert!((one - other).abs() < 1e-4, "{one} {other}");
        }
    }
}

#[test]
fn every_device_gives_the_same_losses() {
    for (method, critic, privacy) in [
        (ImageMethod::Gan, CriticKind::Convolution, PRIVATE),
        (ImageMethod::GanWithPenalty, CriticKind::Dense, Privacy::None),
    ] {
        let settings = ImageSettings {
            critic,
            ..quick(method, 20)
        };
        let losses = |device: DeviceKind| -> Vec<[f64; 2]> {
            let done = train_on(device, method, &settings, privacy);
            let both = done
                .steps
                .into_iter()
                .filter_map(|step| Some([step.generator_loss?, step.critic_loss.into_steward()?]));
            both.collect()
        };
        let expected = losses(DeviceKind::Flex);
        assert!(expected.len() > 10);
        for device in [DeviceKind::Ndarray, DeviceKind::Wgpu] {
            if let Err(error) = device.open() {
                println!("skipped on {device}: {error}");
                continue;
            }
            for (step, (one, other)) in losses(device).iter().zip(&expected).enumerate() {
                for (one, other) in one.iter().zip(other) {
                    assert!((one - other).abs() < 1e-3, "{device}, step {step}: {one} {other}");
                }
            }
        }
    }
}
