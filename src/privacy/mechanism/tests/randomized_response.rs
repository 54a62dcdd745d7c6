//! Randomised response against its definition.

use super::super::*;
use super::{assert_frequencies, counts, epsilon};
use crate::num::RandomSource;

#[test]
fn randomized_response_tells_the_truth_as_often_as_it_says() {
    let mut random = RandomSource::from_operating_system();
    for (p, k) in [
        (0.75, 2),
        (0.2, 5),
        (0.9, 7),
        (0.01, 3),
        (1e-3, 2),
        (1.0 / 3.0, 4),
    ] {
        let response = RandomizedResponse::new(p, k).unwrap();
        for truth in [0, k - 1] {
            let found = counts(k as usize, 50_000, || {
                response.respond(truth, &mut random).unwrap() as usize
            });
            let mut expected = vec![(1.0 - p) / (k - 1) as f64; k as usize];
            expected[truth as usize] = p;
            assert_frequencies(&found, &expected);
        }
    }
    // Far below what can be counted: never true in a million.
    let response = RandomizedResponse::new(1e-300, 2).unwrap();
    assert!((0..1_000_000).all(|_| response.respond(0, &mut random).unwrap() == 1));
}

#[test]
fn randomized_response_keeps_its_epsilon_and_estimates_without_bias() {
    for at in [1e-6, 0.1, 1.0, 5.0, 30.0, 700.0] {
        for k in [2, 3, 1000] {
            let response = RandomizedResponse::for_epsilon(epsilon(at), k).unwrap();
            assert!(response.epsilon() <= at, "{at}, {k}: {}", response.epsilon());
            assert!(
                at > 35.0 || response.epsilon() > at - 1e-8 - 1e-14 * at.exp(),
                "{at}, {k}"
            );
        }
    }
    // The expected counts of reports give back the true ones.
    let (p, truth) = (0.6, [500.0, 300.0, 200.0]);
    let response = RandomizedResponse::new(p, 3).unwrap();
    let reports = truth.map(|count| p * count + 0.2 * (1000.0 - count));
    let estimates = response
        .estimate_counts(&reports.map(|x| x.round() as u64))
        .unwrap();
    for (estimate, count) in estimates.iter().zip(truth) {
        assert!((estimate - count).abs() < 1e-9, "{estimate}");
    }
    assert!(response.estimate_counts(&[1, 2]).is_err());
    assert!(
        RandomizedResponse::new(0.5, 2)
            .unwrap()
            .estimate_counts(&[1, 2])
            .is_err()
    );
}
