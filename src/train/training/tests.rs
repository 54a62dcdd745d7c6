//! Whole runs on a small table.

use super::*;
use crate::data::Unit;
use crate::model::CriticLoss;
use crate::privacy::Neighboring;
use crate::train::testing::{encoder, rows, schema};
use crate::train::{Condition, PlanError, Privacy, ScheduleKind, TrainSettings};

const ROWS: usize = 600;

fn quick() -> TrainSettings {
    TrainSettings {
        steps: 40,
        batch_size: 60,
        fake_batch: 64,
        generator_batch: 64,
        generator_hidden: vec![32],
        critic_hidden: vec![16],
        ..TrainSettings::default()
    }
}

fn promise() -> Privacy {
    Privacy::Private {
        epsilon: 5.0,
        delta: 1e-5,
        neighboring: Neighboring::AddRemoveOne,
    }
}

fn plan(settings: &TrainSettings, privacy: Privacy) -> Result<Plan, PlanError> {
    Plan::new(settings, &schema(), ROWS, privacy)
}

fn training(settings: &TrainSettings, privacy: Privacy, device: DeviceKind) -> Training {
    let plan = plan(settings, privacy).unwrap();
    Training::new(plan, encoder(), rows(ROWS), device, RandomSource::seeded(1)).unwrap()
}

#[test]
fn a_planned_run_executes_exactly_what_was_planned() {
    for schedule in [ScheduleKind::Constant, ScheduleKind::Linear] {
        let settings = TrainSettings { schedule, ..quick() };
        let planned = plan(&settings, promise()).unwrap();
        let mut seen = Vec::new();
        let mut shown = 0;
        let trained = training(&settings, promise(), DeviceKind::Flex)
            .run(&Control::new(), &mut |observation| match observation {
                Observation::Step(step) => seen.push(step),
                Observation::Sample(batch) => shown += batch.num_rows(),
                Observation::Fidelity(fidelity) => {
                    assert!(
                        fidelity
                            .frechet
                            .for_steward()
                            .is_some_and(|distance| distance >= 0.0)
                    );
                    assert_eq!(fidelity.histograms.for_steward().len(), 3, "one a used column");
                }
                Observation::Images(_) | Observation::Judged(_) => panic!("a table has no images"),
            })
            .unwrap();
        assert_eq!(trained.executed, planned.events());
        assert_eq!((trained.stopped, trained.steps_done), (StopReason::Planned, 40));
        assert!(trained.epsilon.unwrap() <= 5.0);
        assert!((trained.epsilon.unwrap() - planned.epsilon().unwrap()).abs() < 1e-6);
        assert_eq!(trained.random, RandomOrigin::Seeded(1));
        assert_eq!(seen.last().unwrap().step, 40);
        assert!(seen.windows(2).all(|pair| pair[0].epsilon < pair[1].epsilon));
        assert!(shown > 0);
    }
}

#[test]
fn a_fixed_seed_repeats_and_rows_come_back_in_the_schemas_form() {
    let draw = || {
        let trained = training(&quick(), promise(), DeviceKind::Flex)
            .run(&Control::new(), &mut |_| ())
            .unwrap();
        trained
            .generator
            .table()
            .unwrap()
            .sample(500, None, &mut RandomSource::seeded(3))
            .unwrap()
    };
    let batch = draw();
    assert_eq!(batch, draw());
    assert_eq!(batch.num_rows(), 500);
    let names: Vec<_> = batch
        .schema()
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect();
    assert_eq!(names, ["colour", "size", "kind"], "dropped columns are absent");
    assert!(batch.columns().iter().all(|column| column.len() == 500));
}

#[test]
fn every_device_and_kind_of_head_trains() {
    for device in DeviceKind::ALL {
        if let Err(error) = device.open() {
            println!("skipped on {device}: {error}");
            continue;
        }
        for critic_loss in [CriticLoss::Wasserstein, CriticLoss::CrossEntropy] {
            let settings = TrainSettings {
                steps: 6,
                binned: false,
                fine_decode: false,
                critic_loss,
                ..quick()
            };
            let plan = plan(&settings, promise()).unwrap();
            let encoder = RowEncoder::new(&schema(), plan.encoder_settings()).unwrap();
            let mut rows = encoder.blank_rows(ROWS);
            rows.scalars
                .iter_mut()
                .enumerate()
                .for_each(|(row, scalar)| *scalar = (row % 10) as f32 / 10.0);
            let trained = Training::new(plan, encoder, rows, device, RandomSource::seeded(2))
                .unwrap()
                .run(&Control::new(), &mut |_| ())
                .unwrap();
            let batch = trained
                .generator
                .table()
                .unwrap()
                .sample(20, None, &mut RandomSource::seeded(4))
                .unwrap();
            assert_eq!(batch.num_rows(), 20);
        }
    }
}

/// The losses of both networks at every step, from the same start.
fn losses_on(device: DeviceKind, settings: &TrainSettings, privacy: Privacy) -> Vec<[f64; 2]> {
    let mut losses = Vec::new();
    training(settings, privacy, device)
        .run(&Control::new(), &mut |seen| {
            if let Observation::Step(step) = seen {
                let critic = step.critic_loss.into_steward();
                losses.extend(step.generator_loss.zip(critic).map(<[f64; 2]>::from));
            }
        })
        .unwrap();
    losses
}

#[test]
fn every_device_gives_the_same_losses() {
    for (critic_loss, marginals, privacy) in [
        (CriticLoss::Wasserstein, true, promise()),
        (CriticLoss::CrossEntropy, false, promise()),
        (CriticLoss::Wasserstein, true, Privacy::None),
    ] {
        let settings = TrainSettings {
            steps: 20,
            critic_loss,
            marginals,
            critic_steps: 1,
            ..quick()
        };
        let expected = losses_on(DeviceKind::Flex, &settings, privacy);
        assert_eq!(expected.len(), 20);
        for device in [DeviceKind::Ndarray, DeviceKind::Wgpu] {
            if let Err(error) = device.open() {
                println!("skipped on {device}: {error}");
                continue;
            }
            let losses = losses_on(device, &settings, privacy);
            assert_eq!(losses.len(), 20);
            for (step, (one, other)) in losses.iter().zip(&expected).enumerate() {
                for (one, other) in one.iter().zip(other) {
                    assert!(
                        (one - other).abs() < 1e-3,
                        "{critic_loss:?} on {device}, step {step}: {one} {other}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_run_without_a_promise_charges_nothing() {
    let trained = training(&quick(), Privacy::None, DeviceKind::Flex)
        .run(&Control::new(), &mut |_| ())
        .unwrap();
    assert!(trained.executed.events.is_empty() && trained.epsilon.is_none());
}

#[test]
fn a_stopped_run_keeps_its_generator_and_its_account() {
    let control = Control::new();
    let trained = training(&quick(), promise(), DeviceKind::Flex)
        .run(&control, &mut |observation| {
            if matches!(&observation, Observation::Step(step) if step.step == 10) {
                control.stop();
            }
        })
        .unwrap();
    assert_eq!((trained.stopped, trained.steps_done), (StopReason::ByPerson, 10));
    let steps = trained.executed.events.last().unwrap();
    assert!(matches!(
        steps.event,
        crate::privacy::PrivacyEvent::PoissonSampledGaussian { steps: 10, .. }
    ));
    assert_eq!(
        trained
            .generator
            .table()
            .unwrap()
            .sample(5, None, &mut RandomSource::seeded(1))
            .unwrap()
            .num_rows(),
        5
    );
}

#[test]
fn numbers_that_stop_being_finite_end_the_run_and_keep_the_account() {
    let training = training(&quick(), promise(), DeviceKind::Flex);
    let mut account = Account::open(&training.plan);
    let mut state = State::start(training, &mut account).unwrap();
    let broken = state.generator.parameters().clone().mul_scalar(f64::NAN);
    state.generator.set_parameters(broken);
    let error = state
        .take_steps((&Control::new(), &mut Keeping::none()), &mut account, &mut |_| ())
        .unwrap_err();
    assert!(matches!(error, TrainError::NotFinite { step: 1, .. }), "{error}");
    assert_eq!(error.executed(), account.executed());
    assert_eq!(
        error.executed().events.len(),
        3,
        "marginals, fine histograms, one step"
    );
}

#[test]
fn rows_of_another_table_are_refused() {
    let plan = plan(&quick(), promise()).unwrap();
    let error = Training::new(
        plan,
        encoder(),
        rows(ROWS - 1),
        DeviceKind::Flex,
        RandomSource::seeded(1),
    );
    assert!(matches!(error.err(), Some(TrainError::OtherRows { .. })));
}

#[test]
fn conditions_keep_matching_rows_and_name_what_is_wrong() {
    let generator = training(&quick(), promise(), DeviceKind::Flex)
        .run(&Control::new(), &mut |_| ())
        .unwrap()
        .generator;
    let generator = generator.table().unwrap();
    let mut random = RandomSource::seeded(5);
    let condition = |column: &str, value: &str| Condition {
        column: column.to_owned(),
        value: value.to_owned(),
    };
    let red = condition("colour", "red");
    let batch = generator.sample(100, Some(&red), &mut random).unwrap();
    assert_eq!(batch.num_rows(), 100);
    let colours = arrow::compute::cast(batch.column(0), &arrow::datatypes::DataType::Utf8).unwrap();
    let colours = colours
        .as_any()
        .downcast_ref::<arrow::array::StringArray>()
        .unwrap();
    assert!(colours.iter().all(|colour| colour == Some("red")));
    for (column, value, word) in [
        ("colour", "purple", "`red`"),
        ("size", "5", "categorical"),
        ("name", "x", "categorical"),
        ("no", "x", "categorical"),
    ] {
        let error = generator
            .sample(1, Some(&condition(column, value)), &mut random)
            .unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn persons_are_drawn_with_all_their_rows_and_charged_as_planned() {
    let mut schema = schema();
    schema.unit = Some(Unit {
        column: "name".to_owned(),
        max_rows: 4,
        persons: None,
    });
    // Persons of one to four rows.
    let mut starts = vec![0];
    while starts.last() != Some(&ROWS) {
        let last = starts[starts.len() - 1];
        starts.push((last + 1 + starts.len() % 4).min(ROWS));
    }
    let persons = starts.len() - 1;
    let plan = Plan::new(&quick(), &schema, persons, promise()).unwrap();
    assert_eq!(plan.sampling_rate().get(), 60.0 / persons as f64);
    let planned = plan.events();
    let stored = StoredRows::from(rows(ROWS)).with_persons(starts);
    let mut batches = Vec::new();
    let trained = Training::new(plan, encoder(), stored, DeviceKind::Flex, RandomSource::seeded(1))
        .unwrap()
        .run(&Control::new(), &mut |observation| {
            if let Observation::Step(step) = observation {
                batches.push(*step.batch.for_steward() as f64);
                let norms = step.gradient_norms.for_steward();
                assert_eq!(norms.len(), *step.batch.for_steward(), "one norm a person");
            }
        })
        .unwrap();
    assert_eq!(trained.executed, planned);
    assert!(trained.epsilon.unwrap() <= 5.0);
    // 40 steps of 60 expected persons: six standard deviations.
    let mean = batches.iter().sum::<f64>() / batches.len() as f64;
    assert!(
        (mean - 60.0).abs() < 6.0 * (60.0 / batches.len() as f64).sqrt(),
        "{mean}"
    );
    // Rows of a plan for persons are no rows of a plan for rows.
    let of_rows = plan_of_rows();
    let stored = StoredRows::from(rows(ROWS)).with_persons(vec![0, ROWS]);
    let refused = Training::new(
        of_rows,
        encoder(),
        stored,
        DeviceKind::Flex,
        RandomSource::seeded(1),
    );
    assert!(matches!(refused, Err(TrainError::OtherRows { found: 1, .. })));
}

fn plan_of_rows() -> Plan {
    plan(&quick(), promise()).unwrap()
}
