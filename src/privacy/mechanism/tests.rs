//! Draws against exact probabilities, and what no parameter may do.
//!
//! **False alarms.** [`assert_frequencies`] fails with probability at most 1e-6 when the draws do follow the
//! probabilities, by a bound that holds for any number of draws; each call counts on its own.

use super::*;
use crate::num::{Epsilon, RandomSource};

const DRAWS: u64 = 200_000;

/// Fails unless each count is as likely as its probability says.
///
/// Of n draws with probability p, P(share beyond x) ≤ e^(−n·KL(x ‖ p)) on either side (Chernoff 1952; Hoeffding 1963,
/// Thm 1). Over c counts and two sides, all within n·KL ≤ ln(2c/1e-6) but with probability 1e-6.
pub fn assert_frequencies(counts: &[u64], probabilities: &[f64]) {
    assert_eq!(counts.len(), probabilities.len());
    let total = counts.iter().sum::<u64>() as f64;
    let limit = (2.0 * counts.len() as f64 / 1e-6).ln();
    let part = |x: f64, p: f64| if x == 0.0 { 0.0 } else { x * (x / p).ln() };
    for (i, (&count, &p)) in counts.iter().zip(probabilities).enumerate() {
        let x = count as f64 / total;
        // The probabilities themselves are rounded.
        let divergence = part(x, p) + part(1.0 - x, (1.0 - p).max(1e-15));
        assert!(
            total * divergence <= limit,
            "cell {i}: {count} of {total} draws, expected {:.1} ({:.1} > {limit:.1})",
            p * total,
            total * divergence
        );
    }
}

pub fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// A column of a golden file.
struct Golden(csv::StringRecord, Vec<csv::StringRecord>);

impl Golden {
    fn read(file: &str) -> Self {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/golden")
            .join(file);
        let mut reader = csv::Reader::from_path(path).unwrap();
        let header = reader.headers().unwrap().clone();
        Self(header, reader.records().map(Result::unwrap).collect())
    }

    /// The named columns of every row.
    fn columns<const N: usize>(&self, names: [&str; N]) -> Vec<[f64; N]> {
        let places = names.map(|name| self.0.iter().position(|column| column == name).unwrap());
        self.1
            .iter()
            .map(|row| places.map(|place| row[place].parse().unwrap()))
            .collect()
    }
}

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

/// e^(λu), normalised, with multiplicities.
fn favoured(scores: &[f64], multiplicities: &[u64], rate: f64) -> Vec<f64> {
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = scores
        .iter()
        .zip(multiplicities)
        .map(|(score, &m)| m as f64 * (rate * (score - best)).exp())
        .collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

fn counts(candidates: usize, draws: u64, mut choose: impl FnMut() -> usize) -> Vec<u64> {
    let mut counts = vec![0; candidates];
    for _ in 0..draws {
        counts[choose()] += 1;
    }
    counts
}

#[test]
fn the_exponential_mechanism_favours_by_e_to_the_score() {
    let mut random = RandomSource::from_operating_system();
    let cases: [(&[f64], f64, f64, bool); 5] = [
        (&[0.0, 1.0, 2.0, 3.0], 1.0, 1.0, false),
        (&[10.0, 10.0, 3.0, -1.0, 9.5], 0.7, 1.0, true),
        (&[0.1, 0.25, 0.3], 2.0, 0.1, false),
        (&[1e-3, 5.0, -7.25, 4.75, 5.0, 2.0], 3.0, 2.5, true),
        (&[42.0], 1.0, 1.0, false),
    ];
    for (scores, at, sensitivity, monotonic) in cases {
        let mut selection = Selection::new(epsilon(at), sensitivity).unwrap();
        if monotonic {
            selection = selection.monotonic();
        }
        let found = counts(scores.len(), 50_000, || {
            selection.exponential(scores, &mut random).unwrap()
        });
        let even = vec![1; scores.len()];
        assert_frequencies(&found, &favoured(scores, &even, selection.rate()));
    }
}

#[test]
fn groups_count_for_what_they_stand_for() {
    let mut random = RandomSource::from_operating_system();
    let selection = Selection::new(epsilon(2.0), 1.0).unwrap();
    // Every level down to beyond the deepest, each as likely as the next.
    let cases: [(&[f64], &[u64]); 4] = [
        (&[0.0, -1.0, -2.0], &[1, 3, 7]),
        (
            &[0.0, -10.0, -20.0, -30.0, -40.0],
            &[
                1,
                22_026,
                485_165_195,
                10_686_474_581_524,
                235_385_266_837_019_985,
            ],
        ),
        (&[5.0, 1e9, 3.0, 4.0], &[2, 0, 30, 1]),
        (&[0.0, -300.0], &[1 << 62, 1 << 62]),
    ];
    for (scores, multiplicities) in cases {
        let found = counts(scores.len(), 50_000, || {
            selection
                .exponential_grouped(scores, multiplicities, &mut random)
                .unwrap()
        });
        let present: Vec<f64> = scores
            .iter()
            .zip(multiplicities)
            .map(|(&score, &m)| if m == 0 { 0.0 } else { score })
            .collect();
        assert_frequencies(&found, &favoured(&present, multiplicities, selection.rate()));
    }
}
