//! Plans for images: what is refused, what is charged.

use super::super::testing::some_images;
use super::*;
use crate::privacy::{Accountant as _, Neighboring, PrivacyEvent, RdpAccountant};
use crate::train::testing::price_of_replacing;

const PRIVATE: Privacy = Privacy::Private {
    epsilon: 1.0,
    delta: 1e-5,
    neighboring: Neighboring::AddRemoveOne,
};

fn plan_with(
    method: ImageMethod,
    settings: &ImageSettings,
    privacy: Privacy,
) -> Result<ImagePlan, PlanError> {
    let images = some_images(2000);
    let schema = images.set().schema();
    ImagePlan::new(method, settings, &schema, images.set(), privacy)
}

fn plan(epsilon: f64, neighboring: Neighboring) -> Result<ImagePlan, PlanError> {
    let privacy = Privacy::Private {
        epsilon,
        delta: 1e-5,
        neighboring,
    };
    plan_with(ImageMethod::MeanEmbedding, &ImageSettings::default(), privacy)
}

#[test]
fn the_noise_is_that_of_one_gaussian_release() {
    // σ of the analytic Gaussian mechanism at δ = 1e-5 (Balle & Wang 2018).
    for (epsilon, sigma) in [(1.0, 3.7306), (10.0, 0.4999)] {
        let plan = plan(epsilon, Neighboring::AddRemoveOne).unwrap();
        let found = plan.protection().unwrap().marginals.unwrap().get();
        assert!((found / sigma - 1.0).abs() < 2e-3, "{found}");
        assert!(plan.epsilon().unwrap() <= epsilon);
        assert_eq!(plan.events().events.len(), 1);
        assert_eq!(plan.shape().classes, 2);
    }
    assert!(matches!(
        plan(1e-9, Neighboring::AddRemoveOne),
        Err(PlanError::BudgetTooSmall { .. })
    ));
    assert!(matches!(
        plan(f64::NAN, Neighboring::AddRemoveOne),
        Err(PlanError::Epsilon(_))
    ));
}

#[test]
fn replacing_one_costs_twice_the_noise() {
    let ratio = price_of_replacing(|neighboring| plan(1.0, neighboring).unwrap().summary());
    assert!((ratio - 2.0 / 1.01_f64.sqrt()).abs() < 1e-3, "{ratio}");
}

#[test]
fn the_critics_noise_is_calibrated_for_the_steps_that_run_and_what_was_bought_before() {
    let mut noise = Vec::new();
    for (steps, warm_steps) in [(500, 0), (2000, 0), (2000, 300)] {
        let settings = ImageSettings {
            steps,
            warm_steps,
            warm_share: 0.2,
            batch_size: 100,
            ..ImageSettings::default()
        };
        let plan = plan_with(ImageMethod::Gan, &settings, PRIVATE).unwrap();
        let events = plan.events();
        assert_eq!(events.events.len(), 1 + usize::from(warm_steps > 0));
        let last = events.events.last().unwrap();
        let PrivacyEvent::PoissonSampledGaussian {
            sampling_rate,
            noise_multiplier,
            steps: charged,
        } = last.event
        else {
            panic!("{last:?}");
        };
        assert_eq!((sampling_rate, charged, last.count), (0.05, steps, 1));
        assert_eq!(plan.noise_multiplier(steps - 1), Some(noise_multiplier));
        assert_eq!(
            (plan.noise_multiplier(steps), plan.steps()),
            (None, steps + warm_steps)
        );
        let mut accountant = RdpAccountant::new(Neighboring::AddRemoveOne);
        for event in &events.events {
            accountant.compose(&event.event, event.count).unwrap();
        }
        let spent = accountant.epsilon(plan.delta().unwrap()).unwrap();
        assert!(spent <= 1.0 && spent > 0.99, "{spent}");
        let summary = plan.summary();
        assert_eq!(summary.expected_batch, 100);
        let [last_step, last_epsilon] = *summary.epsilon_curve.last().unwrap();
        assert!(last_step as u64 == plan.steps() && (last_epsilon - spent).abs() < 1e-6);
        noise.push(noise_multiplier);
    }
    assert!(noise[0] < noise[1] && noise[1] < noise[2], "{noise:?}");
}

#[test]
fn two_phases_share_the_budget_as_asked() {
    let settings = ImageSettings {
        steps: 400,
        schedule: ScheduleKind::TwoPhase,
        batch_size: 100,
        ..ImageSettings::default()
    };
    let plan = plan_with(ImageMethod::Gan, &settings, PRIVATE).unwrap();
    let [first, second] = plan.summary().halves.unwrap();
    assert!((first / (first + second) - 0.2).abs() < 2e-3, "{first} {second}");
}

#[test]
fn a_penalty_on_private_images_is_refused() {
    let settings = ImageSettings::recommended(ImageMethod::GanWithPenalty, None);
    assert!(plan_with(ImageMethod::GanWithPenalty, &settings, Privacy::None).is_ok());
    assert!(matches!(
        plan_with(ImageMethod::GanWithPenalty, &settings, PRIVATE),
        Err(PlanError::Method { instead: "dpgan", .. })
    ));
}
