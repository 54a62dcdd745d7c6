//! Planned errors against draws, and against each other.

use super::super::utility::*;
use super::super::*;
use super::{Golden, assert_frequencies, counts, epsilon};
use crate::num::{Delta, Epsilon, RandomSource};
use crate::privacy::gaussian_sigma;

const SCALES: [f64; 6] = [0.3, 1.0, 4.7, 60.0, 140.0, 2500.0];

fn planned(scale: f64) -> [Noise; 4] {
    [
        Noise::Laplace { scale },
        Noise::Gaussian { sigma: scale },
        Noise::DiscreteLaplace { scale },
        Noise::DiscreteGaussian { sigma: scale },
    ]
}

#[test]
fn means_are_the_integrals_of_the_tails() {
    for scale in SCALES {
        for noise in planned(scale) {
            // E|X| = ∫ P(|X| > a) da and E[X²] = ∫ 2a P(|X| > a) da: steps of the discrete ones, fine panels otherwise.
            let discrete = matches!(
                noise,
                Noise::DiscreteLaplace { .. } | Noise::DiscreteGaussian { .. }
            );
            let width = if discrete { 1.0 } else { scale / 2000.0 };
            let panels = (45.0 * scale / width) as u32 + 20;
            let (mut mean, mut square) = (0.0, 0.0);
            for i in 0..panels {
                let middle = (f64::from(i) + 0.5) * width;
                let beyond = 1.0 - noise.probability_within(middle);
                mean += beyond * width;
                square += 2.0 * middle * beyond * width;
            }
            assert!(
                (noise.expected_error() / mean - 1.0).abs() < 1e-6,
                "{noise:?}: {mean}"
            );
            assert!(
                (noise.root_mean_square_error() / square.sqrt() - 1.0).abs() < 1e-6,
                "{noise:?}"
            );
        }
    }
}

#[test]
fn quantiles_and_probabilities_are_inverse() {
    for scale in SCALES {
        for noise in planned(scale) {
            for p in [0.01, 0.5, 0.9, 0.999] {
                let a = noise.error_quantile(p).unwrap();
                assert!(noise.probability_within(a) >= p - 1e-12, "{noise:?}, {p}");
                assert!(
                    noise.probability_within(a * (1.0 - 1e-9) - 1e-9) < p,
                    "{noise:?}, {p}"
                );
            }
            assert!(noise.probability_within(-1.0) == 0.0 && noise.probability_within(f64::NAN) == 0.0);
            assert!((noise.probability_within(f64::INFINITY) - 1.0).abs() < 1e-15);
            assert!(noise.error_quantile(1.0).is_err());
        }
    }
}

/// False alarms: those of [`assert_frequencies`].
#[test]
fn discrete_noise_errs_as_planned() {
    let mut random = RandomSource::from_operating_system();
    for scale in SCALES {
        let (laplace, gaussian) = (
            DiscreteLaplace::new(scale).unwrap(),
            DiscreteGaussian::new(scale).unwrap(),
        );
        let [_, _, plan_laplace, plan_gaussian] = planned(scale);
        for a in [0.0, 0.5 * scale, 2.0 * scale] {
            let within = |noise: &mut dyn FnMut() -> i64| {
                counts(2, 50_000, || usize::from(noise().unsigned_abs() as f64 > a))
            };
            let p = plan_laplace.probability_within(a);
            assert_frequencies(&within(&mut || laplace.sample(&mut random)), &[p, 1.0 - p]);
            let p = plan_gaussian.probability_within(a);
            assert_frequencies(&within(&mut || gaussian.sample(&mut random)), &[p, 1.0 - p]);
        }
    }
}

/// False alarms: those of [`assert_frequencies`].
#[test]
fn choices_fall_short_as_planned() {
    let mut random = RandomSource::from_operating_system();
    let selection = Selection::new(epsilon(1.0), 1.0).unwrap();
    let scores = [3.0, 9.0, 8.5, 8.5, 0.0, 7.0];
    for flip in [false, true] {
        let plan = if flip {
            Shortfall::of_permute_and_flip(selection, &scores)
        } else {
            Shortfall::of_exponential(selection, &scores)
        }
        .unwrap();
        let draw = |random: &mut RandomSource| {
            let chosen = if flip {
                selection.permute_and_flip(&scores, random)
            } else {
                selection.exponential(&scores, random)
            };
            9.0 - scores[chosen.unwrap()]
        };
        for a in [0.0, 0.5, 2.0, 6.5] {
            let found = counts(2, 50_000, || usize::from(draw(&mut random) > a));
            let p = plan.probability_within(a);
            assert_frequencies(&found, &[p, 1.0 - p]);
        }
        assert!((plan.probability_within(9.0) - 1.0).abs() < 1e-12);
        // Means again from the probabilities of each shortfall.
        let levels = [0.0, 0.5, 2.0, 6.0, 9.0];
        let mass = |i: usize| {
            plan.probability_within(levels[i])
                - if i == 0 {
                    0.0
                } else {
                    plan.probability_within(levels[i - 1])
                }
        };
        let mean: f64 = (0..5).map(|i| mass(i) * levels[i]).sum();
        let square: f64 = (0..5).map(|i| mass(i) * levels[i] * levels[i]).sum();
        assert!((plan.expected_error() - mean).abs() < 1e-12);
        assert!((plan.root_mean_square_error() - square.sqrt()).abs() < 1e-12);
        assert_eq!(
            plan.error_quantile(plan.probability_within(0.5) - 1e-9).unwrap(),
            0.5
        );
        // No worse than what holds for any scores.
        for p in [0.5, 0.9, 0.999] {
            assert!(plan.error_quantile(p).unwrap() <= shortfall_bound(selection, 6, p).unwrap());
        }
    }
}

#[test]
fn permute_and_flip_is_planned_exactly_and_never_worse() {
    for (at, scores) in [
        (1.0, &[0.0, 1.0, 2.0, 3.0][..]),
        (0.3, &[5.0, 5.0, 5.0, 4.0, 1.0]),
        (40.0, &[5.0, 5.0, 4.9]),
        (1.0, &[f64::MAX, f64::MIN]),
        (1.0, &[0.0]),
    ] {
        let selection = Selection::new(epsilon(at), 1.0).unwrap();
        let plan = Shortfall::of_permute_and_flip(selection, scores).unwrap();
        let expected = super::selection::permuted_and_flipped(scores, selection.rate());
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let hits: f64 = scores
            .iter()
            .zip(&expected)
            .filter(|pair| *pair.0 == best)
            .map(|pair| pair.1)
            .sum();
        assert!((plan.probability_within(0.0) - hits).abs() < 1e-13, "{scores:?}");
        let other = Shortfall::of_exponential(selection, scores).unwrap();
        assert!(
            plan.expected_error() <= other.expected_error() + 1e-12,
            "{scores:?}"
        );
    }
    // Very many candidates: the probabilities still add up.
    let scores: Vec<f64> = (0..20_000).map(|i| f64::from(i % 100)).collect();
    let plan = Shortfall::of_permute_and_flip(Selection::new(epsilon(0.1), 1.0).unwrap(), &scores).unwrap();
    assert!((plan.probability_within(100.0) - 1.0).abs() < 1e-10);
    assert!(Shortfall::of_exponential(Selection::new(epsilon(0.1), 1.0).unwrap(), &[]).is_err());
    assert!(shortfall_bound(Selection::new(epsilon(0.1), 1.0).unwrap(), 0, 0.5).is_err());
}

/// Exactly by convolving the two binomials, and by draws (false alarms: those of [`assert_frequencies`]).
#[test]
fn responses_err_as_planned() {
    let mut random = RandomSource::from_operating_system();
    let (persons, holders) = (400u64, 130u64);
    let response = RandomizedResponse::new(0.6, 4).unwrap();
    let (p, other) = (0.6, response.other_probability());
    let plan = ResponseError::new(response, persons, holders).unwrap();
    let mut reports = vec![1.0];
    for person in 0..persons {
        let p = if person < holders { p } else { other };
        let mut next = vec![0.0; reports.len() + 1];
        for (count, mass) in reports.iter().enumerate() {
            next[count] += mass * (1.0 - p);
            next[count + 1] += mass * p;
        }
        reports = next;
    }
    let error = |count: usize| (count as f64 - persons as f64 * other) / (p - other) - holders as f64;
    let mean = |of: &dyn Fn(f64) -> f64| -> f64 {
        reports
            .iter()
            .enumerate()
            .map(|(count, mass)| mass * of(error(count)))
            .sum()
    };
    assert!(mean(&|error| error).abs() < 1e-9);
    assert!((plan.root_mean_square_error() - mean(&|error| error * error).sqrt()).abs() < 1e-9);
    assert!((plan.expected_error() / mean(&f64::abs) - 1.0).abs() < 0.01);
    let exact = |a: f64| mean(&|error| f64::from(error.abs() <= a));
    let count_deviation = plan.root_mean_square_error() * (p - other);
    for a in [5.0, 12.5, 30.0] {
        assert!(
            (plan.probability_within(a) - exact(a)).abs() <= 1.12 / count_deviation,
            "{a}"
        );
    }
    let found = counts(2, 5_000, || {
        let mut reports = [0; 4];
        for person in 0..persons {
            let truth = if person < holders { 2 } else { person % 2 };
            reports[response.respond(truth, &mut random).unwrap() as usize] += 1;
        }
        let estimate = response.estimate_counts(&reports).unwrap()[2];
        usize::from((estimate - holders as f64).abs() > 12.5)
    });
    assert_frequencies(&found, &[exact(12.5), 1.0 - exact(12.5)]);
    assert_eq!(
        ResponseError::new(response, 0, 0)
            .unwrap()
            .probability_within(0.0),
        1.0
    );
    assert!(ResponseError::new(response, 1, 2).is_err());
    assert!(ResponseError::new(RandomizedResponse::new(0.5, 2).unwrap(), 2, 1).is_err());
}

#[test]
fn textbook_noise_is_the_golden_one() {
    let golden = Golden::read("gaussian_calibration.csv");
    for [at, delta, classic, analytic] in
        golden.columns(["epsilon", "delta", "sigma_classic", "sigma_analytic"])
    {
        let (at, delta) = (epsilon(at), Delta::new(delta).unwrap());
        let found = textbook_gaussian_sigma(at, delta, 1.0).unwrap();
        assert!((found / classic - 1.0).abs() < 1e-13);
        assert!((gaussian_sigma(at, delta, 1.0).unwrap() / analytic - 1.0).abs() < 1e-12);
    }
    assert!(textbook_gaussian_sigma(epsilon(1.0), Delta::new(0.0).unwrap(), 1.0).is_err());
    assert!(textbook_gaussian_sigma(epsilon(1.0), Delta::new(0.1).unwrap(), f64::NAN).is_err());
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for noise in planned(scale) {
            assert!(noise.validate().is_err());
        }
    }
    assert!(Noise::Laplace { scale: 1e-300 }.validate().is_ok());
    assert!(Noise::DiscreteLaplace { scale: 1e-300 }.validate().is_err());
}

#[test]
fn a_uniform_number_gives_the_quantile_of_the_discrete_mechanisms() {
    for scale in [0.3, 1.0, 7.5, 60.0, 300.0] {
        for u in [1e-9, 0.003, 0.2, 0.499, 0.5, 0.501, 0.77, 0.95, 1.0 - 1e-9] {
            let gaussian = DiscreteGaussian::new(scale).unwrap().quantile(u).unwrap() as f64;
            let found = Noise::DiscreteGaussian { sigma: scale }.quantile(u);
            assert!((found - gaussian).abs() < 0.5, "{scale} {u}: {found} {gaussian}");
            let laplace = DiscreteLaplace::new(scale).unwrap().quantile(u).unwrap() as f64;
            assert!((Noise::DiscreteLaplace { scale }.quantile(u) - laplace).abs() < 0.5);
        }
    }
    // The median of the continuous ones is 0, and quantiles invert the chance to be within.
    for noise in [Noise::Laplace { scale: 2.0 }, Noise::Gaussian { sigma: 3.0 }] {
        assert!(noise.quantile(0.5).abs() < 1e-12);
        let a = noise.quantile(0.975);
        assert!((noise.probability_within(a) - 0.95).abs() < 1e-9);
    }
}

#[test]
fn densities_add_up_to_one() {
    for noise in [
        Noise::Laplace { scale: 2.0 },
        Noise::Gaussian { sigma: 3.0 },
        Noise::DiscreteLaplace { scale: 2.0 },
        Noise::DiscreteGaussian { sigma: 3.0 },
    ] {
        let fine = 50;
        let sum: f64 = (-60 * fine..60 * fine)
            .map(|at| noise.density((f64::from(at) + 0.5) / f64::from(fine)) / f64::from(fine))
            .sum();
        assert!((sum - 1.0).abs() < 1e-3, "{noise:?}: {sum}");
    }
}

#[test]
fn the_textbook_breaks_its_promise_where_the_analytic_formula_says() {
    let delta = Delta::new(1e-5).unwrap();
    let keeps =
        |epsilon: f64| textbook_gaussian_true_delta(Epsilon::new(epsilon).unwrap(), delta).unwrap() <= 1e-5;
    assert!(keeps(0.1) && keeps(1.0) && keeps(8.3));
    assert!(!keeps(8.5) && !keeps(20.0));
}

#[test]
fn concentrated_noise_is_what_the_renyi_accountant_asks_for() {
    use crate::privacy::{AccountantKind, EventList, Neighboring, PrivacyEvent};
    for (epsilon, delta) in [(0.05, 1e-6), (1.0, 1e-5), (8.0, 1e-9)] {
        let delta = Delta::new(delta).unwrap();
        let sigma = concentrated_sigma(Epsilon::new(epsilon).unwrap(), delta).unwrap();
        let spent = |sigma: f64| {
            let mut events = EventList::new(Neighboring::AddRemoveOne);
            events.push(
                PrivacyEvent::Gaussian {
                    noise_multiplier: sigma,
                },
                1,
            );
            AccountantKind::Rdp.epsilon(&events, delta).unwrap()
        };
        assert!((spent(sigma) / epsilon - 1.0).abs() < 1e-6, "{}", spent(sigma));
    }
    assert!(concentrated_sigma(Epsilon::new(1.0).unwrap(), Delta::new(0.0).unwrap()).is_err());
}
