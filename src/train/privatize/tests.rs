//! What is done to private rows against what is charged for it.

use super::*;
use crate::model::{CriticInput, CriticLoss, CriticShape, read};
use crate::privacy::Neighboring;
use crate::train::testing::{encoder, rows, schema};
use crate::train::{Privacy, TrainSettings};

const ROWS: usize = 2000;
/// A false alarm in any of a test's comparisons (below 100, both sides) has probability at most 1e-6.
const DEVIATIONS: f64 = 5.9;

fn plan(settings: &TrainSettings, epsilon: f64) -> Plan {
    let privacy = Privacy::Private {
        epsilon,
        delta: 1e-5,
        neighboring: Neighboring::AddRemoveOne,
    };
    Plan::new(settings, &schema(), ROWS, privacy).unwrap()
}

fn critic(random: &mut RandomSource, device: &Device) -> Critic {
    let shape = CriticShape {
        input: CriticInput::Row(encoder().width()),
        hidden: vec![16],
        scores: 1,
        negative_slope: 0.2,
    };
    Critic::new(shape, random, device)
}

fn rule(plan: &Plan) -> StepRule {
    StepRule {
        sampler: PoissonSampler::new(plan.units(), plan.sampling_rate().get()),
        rate: plan.sampling_rate(),
        clip_norm: plan.settings().clip_norm,
        loss: CriticLoss::Wasserstein,
        micro_batch: 37,
    }
}

#[test]
fn batches_and_noise_are_those_that_are_charged() {
    let device = Device::flex();
    let mut random = RandomSource::seeded(1);
    let plan = plan(
        &TrainSettings {
            steps: 60,
            batch_size: 100,
            ..TrainSettings::default()
        },
        1.0,
    );
    let rows = StoredRows::from(rows(ROWS));
    let critic = critic(&mut random, &device);
    let rule = rule(&plan);
    let mut account = Account::open(&plan);
    let (mut sum, mut squares, mut count, mut drawn) = (0.0, 0.0, 0.0, 0.0);
    for step in 0..plan.steps() {
        let noise = plan.noise_multiplier(step);
        let real = critic_gradient(&mut account, &critic, &rows, &rule, noise, &mut random, &device).unwrap();
        // What was added to the clipped sum of the rows drawn, in units of the noise that is charged.
        let clean = real
            .seen
            .as_ref()
            .map_or_else(|| real.sum.zeros_like(), |seen| seen.sum.clone());
        let unit = noise.unwrap() * plan.settings().clip_norm;
        for added in read(real.sum.clone() - clean) {
            let scaled = f64::from(added) / unit;
            sum += scaled;
            squares += scaled * scaled;
            count += 1.0;
        }
        drawn += real.batch as f64;
    }
    let (mean, variance) = (sum / count, squares / count);
    assert!(mean.abs() < DEVIATIONS / f64::sqrt(count), "mean {mean}");
    assert!(
        (variance - 1.0).abs() < DEVIATIONS * f64::sqrt(2.0 / count),
        "variance {variance}"
    );
    let (trials, rate) = (60.0 * ROWS as f64, 0.05);
    assert!(
        (drawn - trials * rate).abs() < DEVIATIONS * (trials * rate * (1.0 - rate)).sqrt(),
        "{drawn} rows"
    );
    // The events are the plan's, without what was not bought here.
    let planned = plan.events().events.last().cloned();
    assert_eq!(account.executed().events.last().cloned(), planned);
    assert_eq!(account.executed().events.len(), 1);
}

#[test]
fn an_empty_batch_is_pure_noise_and_charged_all_the_same() {
    let device = Device::flex();
    let mut random = RandomSource::seeded(2);
    let plan = plan(
        &TrainSettings {
            steps: 5,
            batch_size: 1,
            ..TrainSettings::default()
        },
        1.0,
    );
    let rows = StoredRows::from(rows(ROWS));
    let critic = critic(&mut random, &device);
    let rule = rule(&plan);
    let mut account = Account::open(&plan);
    let mut empty = 0;
    for step in 0..5 {
        let noise = plan.noise_multiplier(step);
        let real = critic_gradient(&mut account, &critic, &rows, &rule, noise, &mut random, &device).unwrap();
        if real.batch == 0 {
            empty += 1;
            assert!(real.seen.is_none());
            assert!(read(real.sum).iter().any(|value| *value != 0.0));
        }
    }
    assert!(empty > 0, "with this seed some batch is empty");
    assert!(matches!(
        account.executed().events[0].event,
        PrivacyEvent::PoissonSampledGaussian { steps: 5, .. }
    ));
}

#[test]
fn a_step_past_the_budget_is_refused_before_it_runs() {
    let device = Device::flex();
    let mut random = RandomSource::seeded(3);
    let settings = TrainSettings {
        steps: 10,
        batch_size: 200,
        marginals: false,
        fine_decode: false,
        ..TrainSettings::default()
    };
    let plan = plan(&settings, 1.0);
    let rows = StoredRows::from(rows(ROWS));
    let critic = critic(&mut random, &device);
    let rule = rule(&plan);
    let mut account = Account::open(&plan);
    let step = |account: &mut Account, random: &mut RandomSource| {
        critic_gradient(
            account,
            &critic,
            &rows,
            &rule,
            plan.noise_multiplier(0),
            random,
            &device,
        )
        .map(|_| ())
    };
    for _ in 0..10 {
        step(&mut account, &mut random).unwrap();
    }
    let before = account.executed();
    assert!(matches!(
        step(&mut account, &mut random),
        Err(Refusal::OverBudget { .. })
    ));
    assert_eq!(account.executed(), before, "nothing was charged");
    assert_eq!(
        account.epsilon(),
        plan.epsilon().map(|_| account.epsilon().unwrap())
    );
    assert!(account.epsilon().unwrap() <= 1.0);
    let without_noise =
        critic_gradient(&mut account, &critic, &rows, &rule, None, &mut random, &device).map(|_| ());
    assert!(
        without_noise.is_err(),
        "a private account never lets a step without noise through"
    );
}

#[test]
fn histograms_are_exact_counts_plus_the_noise_that_is_charged() {
    let mut random = RandomSource::seeded(4);
    let plan = plan(&TrainSettings::default(), 2.0);
    let rows = StoredRows::from(rows(ROWS));
    let layout = plan.layout();
    let protection = plan.protection().unwrap();
    let mut free = Account { private: None };
    let exact = marginals(&mut free, &rows, layout, None, &mut random).unwrap();
    for (_, block) in layout.features() {
        let total: f64 = (0..exact.classes)
            .map(|class| {
                let start = class * layout.width() + block.offset;
                exact.counts[start..start + block.width].iter().sum::<f64>()
            })
            .sum();
        assert_eq!(total, ROWS as f64, "each row counts once in each feature");
    }
    let sensitivity = f64::sqrt(2.0);
    let expected = protection.marginals.unwrap().get() * sensitivity;
    let (mut squares, mut count) = (0.0, 0.0);
    for _ in 0..100 {
        let mut account = Account::open(&plan);
        let noisy = marginals(&mut account, &rows, layout, protection.marginals, &mut random).unwrap();
        assert!((noisy.deviation - expected).abs() < 1e-12);
        for (_, block) in layout.features() {
            for class in 0..noisy.classes {
                let start = class * layout.width() + block.offset;
                for cell in start..start + block.width {
                    squares += ((noisy.counts[cell] - exact.counts[cell]) / expected).powi(2);
                    count += 1.0;
                }
            }
        }
        assert_eq!(account.executed().events[0], plan.events().events[0]);
    }
    assert!(
        (squares / count - 1.0).abs() < DEVIATIONS * f64::sqrt(2.0 / count),
        "{}",
        squares / count
    );
    let fine = fine_histograms(&mut free, &rows, layout, None, &mut random).unwrap();
    let plain = crate::train::testing::rows(ROWS);
    let present = plain
        .fine
        .iter()
        .filter(|cell| usize::from(**cell) < layout.fine()[0].cells)
        .count();
    assert_eq!(
        fine.counts[0].iter().sum::<f64>(),
        present as f64,
        "missing numbers have no fine cell"
    );
}

#[test]
fn a_run_without_a_promise_is_never_charged() {
    let device = Device::flex();
    let mut random = RandomSource::seeded(5);
    let plan = Plan::new(&TrainSettings::default(), &schema(), ROWS, Privacy::None).unwrap();
    let rows = StoredRows::from(rows(ROWS));
    let critic = critic(&mut random, &device);
    let mut account = Account::open(&plan);
    let real = critic_gradient(
        &mut account,
        &critic,
        &rows,
        &rule(&plan),
        None,
        &mut random,
        &device,
    )
    .unwrap();
    let clean = real.seen.unwrap().sum;
    assert_eq!(read(real.sum), read(clean));
    assert!(account.executed().events.is_empty() && account.epsilon().is_none());
}
