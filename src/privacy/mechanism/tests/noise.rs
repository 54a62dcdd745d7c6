//! Noise against its distribution, golden and computed.

use super::super::*;
use super::{Golden, assert_frequencies};
use crate::num::RandomSource;

const DRAWS: u64 = 200_000;

/// Cells −reach … reach and one for what lies beyond, and their counts among [`DRAWS`] draws.
fn assert_noise(probability: impl Fn(i64) -> f64, mut draw: impl FnMut() -> i64, reach: i64) {
    let mut counts = vec![0; 2 * reach as usize + 2];
    for _ in 0..DRAWS {
        let k = draw();
        let cell = if k.abs() <= reach {
            (k + reach) as usize
        } else {
            2 * reach as usize + 1
        };
        counts[cell] += 1;
    }
    let mut probabilities: Vec<f64> = (-reach..=reach).map(probability).collect();
    probabilities.push((1.0 - probabilities.iter().sum::<f64>()).max(1e-15));
    assert_frequencies(&counts, &probabilities);
}

#[test]
fn discrete_laplace_draws_follow_the_golden_distribution() {
    let mut random = RandomSource::from_operating_system();
    let golden = Golden::read("laplace_discrete.csv");
    let mut last = 0.0;
    for [scale, sensitivity, at, variance, zero, delta] in golden.columns([
        "scale",
        "sensitivity",
        "epsilon",
        "variance",
        "prob_zero",
        "delta",
    ]) {
        let noise = DiscreteLaplace::new(scale).unwrap();
        assert!((noise.variance() / variance - 1.0).abs() < 1e-13, "{scale}");
        assert!((noise.probability(0) / zero - 1.0).abs() < 1e-13, "{scale}");
        assert_delta(|k| noise.probability(k), scale, (sensitivity, at, delta));
        if scale != last {
            last = scale;
            let reach = (3.0 * scale).ceil() as i64;
            assert_noise(
                |k| noise.probability(k),
                || noise.sample(&mut random),
                reach.min(200),
            );
        }
    }
}

#[test]
fn discrete_gaussian_draws_follow_the_golden_distribution() {
    let mut random = RandomSource::from_operating_system();
    let golden = Golden::read("discrete_gaussian.csv");
    let mut last = 0.0;
    for [sigma, sensitivity, at, variance, zero, delta] in golden.columns([
        "sigma",
        "sensitivity",
        "epsilon",
        "variance",
        "prob_zero",
        "delta",
    ]) {
        let noise = DiscreteGaussian::new(sigma).unwrap();
        assert!((noise.variance() / variance - 1.0).abs() < 1e-12, "{sigma}");
        assert!((noise.probability(0) / zero - 1.0).abs() < 1e-12, "{sigma}");
        assert_delta(|k| noise.probability(k), sigma, (sensitivity, at, delta));
        if sigma != last {
            last = sigma;
            let reach = (3.0 * sigma).ceil() as i64;
            assert_noise(
                |k| noise.probability(k),
                || noise.sample(&mut random),
                reach.min(200),
            );
        }
    }
}

/// Σ max(0, P(k) − e^ε P(k − s)) is the golden δ(ε).
fn assert_delta(
    probability: impl Fn(i64) -> f64,
    width: f64,
    (sensitivity, epsilon, delta): (f64, f64, f64),
) {
    let reach = (60.0 * width) as i64 + 2 * sensitivity as i64 + 2;
    let sum: f64 = (-reach..=reach)
        .map(|k| (probability(k) - epsilon.exp() * probability(k - sensitivity as i64)).max(0.0))
        .sum();
    // Where it is 0 the terms are rounding errors of probabilities.
    assert!(
        (sum - delta).abs() <= 1e-11 * delta + 2e-16,
        "width {width}, ε {epsilon}: {sum}, golden {delta}"
    );
}

#[test]
fn noise_that_is_wide_small_or_odd_follows_its_distribution() {
    let mut random = RandomSource::from_operating_system();
    for scale in [1.0_f64 / 1024.0, 0.07, 1.0 / 3.0, 1.0, 7.3, 31.25] {
        let reach = (4.0 * scale).ceil() as i64;
        let noise = DiscreteLaplace::new(scale).unwrap();
        assert_noise(|k| noise.probability(k), || noise.sample(&mut random), reach);
        let noise = DiscreteGaussian::new(scale).unwrap();
        assert_noise(|k| noise.probability(k), || noise.sample(&mut random), reach);
    }
    // Wide ones by the tenths of the distribution that they fall into.
    for scale in [1e4, 123_456_789.123, 2f64.powi(52)] {
        let tenths: Vec<f64> = (1..10).map(|i| f64::from(i) / 10.0).collect();
        let noise = DiscreteLaplace::new(scale).unwrap();
        let ends: Vec<i64> = tenths.iter().map(|&p| noise.quantile(p).unwrap()).collect();
        assert_tenths(&ends, || noise.sample(&mut random), scale);
        let noise = DiscreteGaussian::new(scale).unwrap();
        let ends: Vec<i64> = tenths.iter().map(|&p| noise.quantile(p).unwrap()).collect();
        assert_tenths(&ends, || noise.sample(&mut random), scale);
    }
}

/// Draws up to each tenth; a step at most 2/scale wide may lie on either side, which the counts do not notice.
fn assert_tenths(ends: &[i64], mut draw: impl FnMut() -> i64, scale: f64) {
    assert!(ends.windows(2).all(|two| two[0] < two[1]), "{scale}: {ends:?}");
    let mut counts = [0; 10];
    for _ in 0..DRAWS / 4 {
        let k = draw();
        counts[ends.partition_point(|&end| end < k)] += 1;
    }
    assert_frequencies(&counts, &[0.1; 10]);
}

#[test]
fn quantiles_are_the_least_that_hold_their_probability() {
    for scale in [0.05, 0.4, 1.0, 3.3, 40.0, 90.0, 130.0, 1700.0] {
        let laplace = DiscreteLaplace::new(scale).unwrap();
        let gaussian = DiscreteGaussian::new(scale).unwrap();
        let reach = (45.0 * scale) as i64 + 10;
        for p in [1e-6, 0.01, 0.3, 0.5, 0.7, 0.95, 0.999, 1.0 - 1e-9] {
            let (quantile, half) = (laplace.quantile(p).unwrap(), laplace.half_width(p).unwrap());
            assert_least(|k| laplace.probability(k), reach, p, (quantile, half));
            let (quantile, half) = (gaussian.quantile(p).unwrap(), gaussian.half_width(p).unwrap());
            assert_least(|k| gaussian.probability(k), reach, p, (quantile, half));
        }
    }
}

/// The quantile and the half-width hold p, and one step less does not.
fn assert_least(probability: impl Fn(i64) -> f64, reach: i64, p: f64, (quantile, half): (i64, i64)) {
    let up_to = |k: i64| (-reach..=k).map(&probability).sum::<f64>();
    let within = |a: i64| (-a..=a).map(&probability).sum::<f64>();
    assert!(
        up_to(quantile) >= p - 1e-12 && up_to(quantile - 1) < p + 1e-12,
        "{reach}, {p}"
    );
    assert!(
        within(half) >= p - 1e-12 && within(half - 1) < p + 1e-12,
        "{reach}, {p}"
    );
}

#[test]
fn grids_round_to_the_nearest_step_and_bound_the_sensitivity() {
    let grid = Grid::new(0.25).unwrap();
    for (value, steps) in [
        (0.0, 0),
        (0.124, 0),
        (0.125, 1),
        (-0.125, 0),
        (-0.126, -1),
        (10.0, 40),
        (f64::NAN, 0),
    ] {
        assert_eq!(grid.round(value), steps, "{value}");
    }
    assert_eq!(grid.round(f64::INFINITY), i64::MAX);
    assert_eq!(grid.round(-1e300), i64::MIN);
    assert_eq!(grid.value(-3), -0.75);
    assert_eq!(grid.sensitivity(1.0).unwrap(), 4);
    assert_eq!(grid.sensitivity(1.01).unwrap(), 5);
    assert_eq!(grid.sensitivity(0.0).unwrap(), 0);
    assert_eq!(Grid::new(2f64.powi(900)).unwrap().sensitivity(5e-324).unwrap(), 1);
    for (scale, spacing) in [
        (1.0, 1.0 / 1024.0),
        (1.99, 1.0 / 1024.0),
        (1024.0, 1.0),
        (3e-7, 2f64.powi(-32)),
    ] {
        assert_eq!(Grid::for_scale(scale).unwrap().spacing(), spacing);
    }
    for spacing in [0.0, -1.0, 0.3, f64::NAN, f64::INFINITY, 5e-324, 1e300] {
        let error = Grid::new(spacing).unwrap_err().to_string();
        assert!(error.contains("the grid's spacing"), "{error}");
    }
    for scale in [0.0, -1.0, f64::NAN, 1e300, 1e-300] {
        assert!(Grid::for_scale(scale).is_err());
    }
    for real in [-1.0, f64::NAN, f64::INFINITY, 1e16] {
        assert!(
            grid.sensitivity(real)
                .unwrap_err()
                .to_string()
                .contains("sensitivity")
        );
    }
}

#[test]
fn seeds_repeat_and_stay_marked() {
    let draw = |random: &mut RandomSource| -> Vec<i64> {
        let noise = DiscreteGaussian::new(12.5).unwrap();
        (0..50).map(|_| noise.sample(random)).collect()
    };
    let mut random = RandomSource::seeded(5);
    assert_eq!(draw(&mut random), draw(&mut RandomSource::seeded(5)));
    assert_ne!(draw(&mut random), draw(&mut RandomSource::seeded(5)));
    assert!(!random.origin().is_private());
}
