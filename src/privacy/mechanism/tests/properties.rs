//! For any parameters at all.

use proptest::prelude::*;

use super::super::*;
use super::epsilon;
use crate::num::RandomSource;

/// Positive doubles of every size.
fn any_size() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>().prop_map(f64::abs), 1e-4..1e4f64]
}

fn any_score() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("finite", |x| x.is_finite()),
        -10.0..10.0f64
    ]
}

proptest! {
    #[test]
    fn rounding_brings_none_farther_apart(
        value in -1e6..1e6f64,
        distance in 0.0..1e3f64,
        exponent in -20..10i32,
    ) {
        let grid = Grid::new(2f64.powi(exponent)).unwrap();
        let other = value + distance;
        let apart = grid.round(other).abs_diff(grid.round(value));
        // The sum above is itself rounded: what counts is the true distance of the two.
        prop_assert!(apart <= grid.sensitivity((other - value).next_up()).unwrap());
    }

    #[test]
    fn any_noise_is_drawn_or_refused(scale in any_size(), seed in any::<u64>()) {
        let mut random = RandomSource::seeded(seed);
        if let Ok(noise) = DiscreteLaplace::new(scale) {
            let limit = 400.0 * scale + 1.0;
            prop_assert!((noise.sample(&mut random) as f64).abs() <= limit);
            prop_assert!(noise.quantile(0.975).unwrap() >= 0);
            prop_assert!(noise.variance() >= 0.0);
        }
        if let Ok(noise) = DiscreteGaussian::new(scale) {
            prop_assert!((noise.sample(&mut random) as f64).abs() <= 40.0 * scale + 1.0);
            let half = noise.half_width(0.95).unwrap() as f64;
            prop_assert!((half - 1.96 * scale).abs() <= 1.0 + 1e-3 * scale);
        }
    }

    #[test]
    fn laplace_scales_keep_their_epsilon(at in 1e-6..100.0f64, sensitivity in 1..1u64 << 20) {
        let noise = DiscreteLaplace::for_epsilon(epsilon(at), sensitivity).unwrap();
        prop_assert!(sensitivity as f64 / noise.scale() <= at);
        prop_assert!(noise.scale() <= sensitivity as f64 / at * (1.0 + 1e-15));
    }

    #[test]
    fn any_choice_is_among_the_candidates(
        scores in prop::collection::vec(any_score(), 1..8),
        at in 1e-9..1e6f64,
        magnitude in -99..100i32,
        seed in any::<u64>(),
    ) {
        let mut random = RandomSource::seeded(seed);
        let mut selection = Selection::new(epsilon(at), 10f64.powi(magnitude)).unwrap();
        if seed % 2 == 0 {
            selection = selection.monotonic();
        }
        let multiplicities: Vec<u64> = (0..scores.len() as u64).map(|i| (seed >> i & 3) * i).collect();
        prop_assert!(selection.exponential(&scores, &mut random).unwrap() < scores.len());
        prop_assert!(selection.permute_and_flip(&scores, &mut random).unwrap() < scores.len());
        prop_assert!(selection.report_noisy_max(&scores, &mut random).unwrap() < scores.len());
        match selection.exponential_grouped(&scores, &multiplicities, &mut random) {
            Ok(i) => prop_assert!(multiplicities[i] > 0),
            Err(_) => prop_assert!(multiplicities.iter().all(|&m| m == 0)),
        }
    }

    #[test]
    fn any_randomized_response_is_a_category(p in any_size(), k in any::<u64>(), seed in any::<u64>()) {
        let mut random = RandomSource::seeded(seed);
        if let Ok(response) = RandomizedResponse::new(p, k) {
            prop_assert!(response.respond(k - 1, &mut random).unwrap() < k);
            prop_assert!(response.respond(0, &mut random).unwrap() < k);
        }
    }
}
