//! Choices against the definition of their mechanism.

use super::super::*;
use super::{assert_frequencies, counts, epsilon};
use crate::num::RandomSource;

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

/// Permute-and-flip by its definition: the average over all orders.
pub fn permuted_and_flipped(scores: &[f64], rate: f64) -> Vec<f64> {
    fn visit(left: &[usize], reached: f64, accept: &[f64], result: &mut [f64]) {
        for (place, &i) in left.iter().enumerate() {
            let here = reached / left.len() as f64;
            result[i] += here * accept[i];
            let rest: Vec<usize> = left[..place].iter().chain(&left[place + 1..]).copied().collect();
            visit(&rest, here * (1.0 - accept[i]), accept, result);
        }
    }
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let accept: Vec<f64> = scores.iter().map(|score| (rate * (score - best)).exp()).collect();
    let all: Vec<usize> = (0..scores.len()).collect();
    let mut result = vec![0.0; scores.len()];
    visit(&all, 1.0, &accept, &mut result);
    result
}

#[test]
fn permute_and_flip_follows_its_definition() {
    let mut random = RandomSource::from_operating_system();
    let cases: [(&[f64], f64, f64, bool); 5] = [
        (&[0.0, 1.0, 2.0, 3.0], 1.0, 1.0, false),
        (&[7.0, 7.0, 7.0], 1.0, 1.0, false),
        (&[0.1, 0.25, 0.3], 2.0, 0.1, true),
        (&[1e-3, 5.0, -7.25, 4.75, 2.0], 3.0, 2.5, true),
        (&[f64::MAX, f64::MIN], 1.0, 1.0, false),
    ];
    for (scores, at, sensitivity, monotonic) in cases {
        let mut selection = Selection::new(epsilon(at), sensitivity).unwrap();
        if monotonic {
            selection = selection.monotonic();
        }
        let found = counts(scores.len(), 50_000, || {
            selection.permute_and_flip(scores, &mut random).unwrap()
        });
        assert_frequencies(&found, &permuted_and_flipped(scores, selection.rate()));
    }
}

/// Report-noisy-max by its definition: `values` in steps, geometric noise at ratio r, ties by lot. With Lⱼ and Eⱼ the
/// probabilities that another's sum is lower or equal, and x the share of lots below one's own, i wins at a sum with
/// probability ∫ Π (Lⱼ + xEⱼ) dx.
fn noisy_max(values: [i64; 3], r: f64) -> Vec<f64> {
    let probability = |k: i64| if k < 0 { 0.0 } else { (1.0 - r) * r.powi(k as i32) };
    let below = |k: i64| if k <= 0 { 0.0 } else { 1.0 - r.powi(k as i32) };
    (0..3)
        .map(|i| {
            let (a, b) = ((i + 1) % 3, (i + 2) % 3);
            (values[i]..values[i] + 400_000)
                .map(|sum| {
                    let other = |j: usize| (below(sum - values[j]), probability(sum - values[j]));
                    let ((la, ea), (lb, eb)) = (other(a), other(b));
                    probability(sum - values[i]) * (la * lb + 0.5 * (la * eb + ea * lb) + ea * eb / 3.0)
                })
                .sum()
        })
        .collect()
}

#[test]
fn report_noisy_max_follows_its_definition() {
    let mut random = RandomSource::from_operating_system();
    // A large ε, so that ties matter; 1024 steps are one unit.
    for (scores, at) in [
        ([0.0, 1.0, 2.0], 1.0),
        ([3.0, 3.0, 2.75], 0.5),
        ([5.0, 5.0, 5.0], 2000.0),
        ([1.0, 1.0, 0.9995], 4000.0),
    ] {
        let selection = Selection::new(epsilon(at), 1.0).unwrap();
        let values = scores.map(|score: f64| (score * 1024.0 + 0.5).floor() as i64);
        let expected = noisy_max(values, (-0.5 * at / 1024.0).exp());
        assert!((expected.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let found = counts(3, 50_000, || {
            selection.report_noisy_max(&scores, &mut random).unwrap()
        });
        assert_frequencies(&found, &expected);
    }
}
