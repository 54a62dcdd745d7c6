//! Losses far beyond what any promise is made of: what an accountant says of them is never below the truth.

use pointillist::num::Delta;
use pointillist::privacy::{
    Accountant as _, AccountantKind, EventList, Neighboring, PldAccountant, PrivacyEvent, gaussian,
};
use proptest::prelude::*;

fn list(events: &[PrivacyEvent]) -> EventList {
    let mut list = EventList::new(Neighboring::ReplaceOne);
    for event in events {
        list.push(event.clone(), 1);
    }
    list
}

fn delta_of(events: &[PrivacyEvent], epsilon: f64) -> f64 {
    AccountantKind::Pld.delta(&list(events), epsilon).unwrap()
}

/// δ(ε) of noise ∝ e^(−k²/2σ²) against itself shifted by s: Σ P(k) max(0, 1 − e^(ε − loss)), loss (s² − 2sk)/2σ²; from
/// σ = 2000 on the continuous one's, which is the same to about 1/σ.
fn exact(sigma: f64, sensitivity: u64, epsilon: f64) -> f64 {
    let s = sensitivity as f64;
    if sigma > 2000.0 {
        return gaussian::delta(s / sigma, epsilon);
    }
    let reach = (40.0 * sigma).ceil() as i64 + 1;
    let weight = |k: f64| (-0.5 * (k / sigma) * (k / sigma)).exp();
    let (mut sum, mut total) = (0.0, 0.0);
    for k in -reach..=reach {
        let k = k as f64;
        let loss = 0.5 * (s / sigma) * ((s - 2.0 * k) / sigma);
        total += weight(k);
        if loss > epsilon {
            sum += weight(k) * -(epsilon - loss).exp_m1();
        }
    }
    sum / total
}

/// δ of one discrete Gaussian, by single question and off the whole curve.
fn both(sigma: f64, sensitivity: u64, epsilon: f64) -> (f64, f64) {
    let event = PrivacyEvent::DiscreteGaussian { sigma, sensitivity };
    let mut accountant = PldAccountant::new(Neighboring::AddRemoveOne);
    accountant.compose(&event, 1).unwrap();
    let curve = accountant.profile(&[epsilon]).unwrap()[0];
    (accountant.delta(epsilon).unwrap(), curve)
}

#[test]
fn delta_rises_with_the_sensitivity_over_all_decades_and_is_never_below_the_truth() {
    for sigma in [0.3, 1.0, 12.5, 800.0, 1500.0, 4000.5, 1e5, 1e9] {
        for epsilon in [0.0, 1.0, 60.0, 1e4] {
            let (mut before, mut curve_before) = (0.0, 0.0);
            for decade in 0..=18 {
                for first in [1, 3] {
                    let sensitivity = first * 10_u64.pow(decade);
                    let (delta, curve) = both(sigma, sensitivity, epsilon);
                    let truth = exact(sigma, sensitivity, epsilon);
                    let what =
                        format!("s {sensitivity}, σ {sigma}, ε {epsilon}: {delta:e}, {curve:e}, {truth:e}");
                    let rounding = 1.0 - 2.0 / sigma.max(1e6) - 1e-9;
                    // Probabilities add up to 1 within some 1e-16 only.
                    assert!(delta >= truth * rounding - 1e-15 && delta <= 1.0, "{what}");
                    assert!(curve >= truth * rounding - 1e-11 && curve <= 1.0, "{what}");
                    // An upper bound a thousandth above one time and none the next; a grid cuts tails off at 1e-300.
                    assert!(
                        delta >= before * 0.995 - 1e-290 && curve >= curve_before * 0.99 - 1e-11,
                        "{what} {before:e}"
                    );
                    if sigma < 5000.0 {
                        assert!(delta <= truth * 1.02 + 1e-12, "{what}");
                    }
                    (before, curve_before) = (delta, curve);
                }
            }
            assert!(before > 0.999, "{sigma} {epsilon}: {before}");
        }
    }
}

#[test]
fn epsilon_at_a_huge_loss_is_no_less_than_the_truth() {
    let delta = Delta::new(1e-5).unwrap();
    for (sigma, sensitivity) in [
        (1.0, 1_000_000_000),
        (1e-3, 1),
        (7.5, 30_000_000),
        (1e3, u64::MAX),
        (1e6, 1 << 60),
    ] {
        let event = PrivacyEvent::DiscreteGaussian { sigma, sensitivity };
        let epsilon = AccountantKind::Pld.epsilon(&list(&[event]), delta).unwrap();
        let ratio = sensitivity as f64 / sigma;
        // Where P is one point, its loss; otherwise that of a Gaussian.
        let least = (0.5 * ratio * ratio).min(gaussian::epsilon(ratio, 1e-5f64.ln()));
        assert!(
            epsilon >= least * (1.0 - 1e-12),
            "{sigma} {sensitivity}: {epsilon:e} {least:e}"
        );
        // Where all of P is one atom the grid gives up and the Rényi bound of order 1.1 answers, a tenth above.
        assert!(
            epsilon <= 1.11 * gaussian::epsilon(ratio, 1e-5f64.ln()),
            "{sigma} {sensitivity}: {epsilon:e}"
        );
    }
}

#[test]
fn whatever_tells_everything_leaves_nothing_whatever_stands_beside_it() {
    let telling = [
        PrivacyEvent::Gaussian {
            noise_multiplier: 1e-10,
        },
        PrivacyEvent::Laplace {
            scale: 1e-20,
            sensitivity: 1.0,
        },
        PrivacyEvent::DiscreteLaplace {
            scale: 1e-20,
            sensitivity: 1,
        },
        PrivacyEvent::DiscreteLaplace {
            scale: 1.0,
            sensitivity: u64::MAX,
        },
        PrivacyEvent::DiscreteGaussian {
            sigma: 1e-9,
            sensitivity: 1,
        },
        PrivacyEvent::DiscreteGaussian {
            sigma: 1.0,
            sensitivity: 1_000_000_000,
        },
        PrivacyEvent::DiscreteGaussian {
            sigma: 5e-324,
            sensitivity: u64::MAX,
        },
        PrivacyEvent::Exponential { epsilon: 1e20 },
        PrivacyEvent::Pure { epsilon: 1e20 },
        PrivacyEvent::Pure { epsilon: f64::MAX },
        PrivacyEvent::Zcdp { rho: 1e20 },
    ];
    let usual = PrivacyEvent::PoissonSampledGaussian {
        sampling_rate: 0.01,
        noise_multiplier: 1.0,
        steps: 100,
    };
    for event in telling {
        for events in [
            vec![event.clone()],
            vec![event.clone(), usual.clone()],
            vec![usual.clone(), event.clone(), event.clone()],
        ] {
            for epsilon in [0.0, 1.0, 1e3] {
                let delta = delta_of(&events, epsilon);
                assert!(delta > 0.999 && delta <= 1.0, "{events:?} at {epsilon}: {delta}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn no_discrete_gaussian_is_accounted_below_its_truth(
        ln_sigma in -6.9..27.0f64,
        ln_ratio in -9.0..41.0f64,
        epsilon in prop_oneof![Just(0.0), (-7.0..14.0f64).prop_map(f64::exp)],
    ) {
        let sigma = ln_sigma.exp();
        let sensitivity = (sigma * ln_ratio.exp()).ceil().min(1e19) as u64;
        let (delta, curve) = both(sigma, sensitivity, epsilon);
        let truth = exact(sigma, sensitivity, epsilon);
        let rounding = 1.0 - 2.0 / sigma.max(1e6) - 1e-9;
        prop_assert!(delta >= truth * rounding && delta <= 1.0, "{delta:e} {truth:e}");
        prop_assert!(curve >= truth * rounding - 1e-11 && curve <= 1.0, "{curve:e} {truth:e}");
    }
}
