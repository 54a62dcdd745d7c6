//! What no mechanism can work with is refused by name.

use super::super::*;
use super::epsilon;
use crate::num::RandomSource;

fn named(error: MechanismError, name: &str) {
    assert!(error.to_string().contains(name), "{error}");
}

#[test]
fn absurd_noise_is_named() {
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300, 1e300, 1e-4, 5e15] {
        named(DiscreteLaplace::new(scale).unwrap_err(), "scale");
        named(DiscreteGaussian::new(scale).unwrap_err(), "sigma");
    }
    for sensitivity in [0, u64::MAX, 1 << 53] {
        named(
            DiscreteLaplace::for_epsilon(epsilon(1.0), sensitivity).unwrap_err(),
            "sensitivity",
        );
    }
    named(
        DiscreteLaplace::for_epsilon(epsilon(1e-300), 1).unwrap_err(),
        "scale",
    );
    named(
        DiscreteLaplace::for_epsilon(epsilon(1e300), 1).unwrap_err(),
        "scale",
    );
    let delta = |delta| crate::num::Delta::new(delta).unwrap();
    named(
        DiscreteGaussian::for_budget(epsilon(1.0), delta(0.0), 1).unwrap_err(),
        "delta",
    );
    named(
        DiscreteGaussian::for_budget(epsilon(1.0), delta(1e-5), 0).unwrap_err(),
        "sensitivity",
    );
    named(
        DiscreteGaussian::for_budget(epsilon(1.0), delta(1e-5), u64::MAX).unwrap_err(),
        "sigma",
    );
    for p in [0.0, 1.0, -0.5, f64::NAN] {
        named(
            DiscreteLaplace::new(1.0).unwrap().quantile(p).unwrap_err(),
            "p must",
        );
        named(
            DiscreteGaussian::new(1.0).unwrap().half_width(p).unwrap_err(),
            "confidence",
        );
        named(RandomizedResponse::new(p, 2).unwrap_err(), "truth probability");
    }
}

#[test]
fn absurd_responses_are_named() {
    let mut random = RandomSource::seeded(1);
    named(RandomizedResponse::new(0.5, 1).unwrap_err(), "categories");
    named(
        RandomizedResponse::for_epsilon(epsilon(1.0), 0).unwrap_err(),
        "categories",
    );
    named(
        RandomizedResponse::new(0.5, 3)
            .unwrap()
            .respond(3, &mut random)
            .unwrap_err(),
        "category 3",
    );
}

#[test]
fn absurd_choices_are_named() {
    let mut random = RandomSource::seeded(1);
    for sensitivity in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300, 1e300] {
        named(
            Selection::new(epsilon(1.0), sensitivity).unwrap_err(),
            "sensitivity",
        );
    }
    for at in [1e-300, 1e300] {
        named(Selection::new(epsilon(at), 1.0).unwrap_err(), "epsilon");
    }
    let selection = Selection::new(epsilon(1.0), 1.0).unwrap();
    for scores in [
        &[1.0, f64::NAN][..],
        &[1.0, f64::INFINITY],
        &[1.0, f64::NEG_INFINITY],
    ] {
        named(selection.exponential(scores, &mut random).unwrap_err(), "score 1");
        named(
            selection
                .exponential_grouped(scores, &[1, 1], &mut random)
                .unwrap_err(),
            "score 1",
        );
        named(
            selection.permute_and_flip(scores, &mut random).unwrap_err(),
            "score 1",
        );
        named(
            selection.report_noisy_max(scores, &mut random).unwrap_err(),
            "score 1",
        );
    }
    named(selection.exponential(&[], &mut random).unwrap_err(), "nothing");
    named(
        selection.permute_and_flip(&[], &mut random).unwrap_err(),
        "nothing",
    );
    named(
        selection.report_noisy_max(&[], &mut random).unwrap_err(),
        "nothing",
    );
    let grouped = |scores: &[f64], multiplicities: &[u64], random: &mut RandomSource| {
        selection
            .exponential_grouped(scores, multiplicities, random)
            .unwrap_err()
    };
    named(grouped(&[], &[], &mut random), "nothing");
    named(grouped(&[1.0, 2.0], &[0, 0], &mut random), "multiplicity is 0");
    named(grouped(&[1.0, 2.0], &[1], &mut random), "do not match");
    named(
        grouped(&[1.0, 2.0], &[u64::MAX, 1], &mut random),
        "multiplicities",
    );
}
