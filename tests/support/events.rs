//! Events of every kind, for suites of accountants.

#![allow(clippy::too_many_lines, reason = "the list of all events is one list")]

use pointillist::privacy::PrivacyEvent;
use proptest::prelude::*;

pub fn poisson(q: f64, z: f64, steps: u64) -> PrivacyEvent {
    PrivacyEvent::PoissonSampledGaussian {
        sampling_rate: q,
        noise_multiplier: z,
        steps,
    }
}

/// Every kind of event, moderate, and the same with less noise.
pub fn events() -> Vec<(PrivacyEvent, PrivacyEvent)> {
    use PrivacyEvent as E;
    let fixed = |z| E::FixedSizeSampledGaussian {
        population: 1000,
        batch: 10,
        noise_multiplier: z,
        steps: 20,
    };
    let draws = |sigma| E::RowDrawGaussian {
        shards: 100,
        sigma,
        rows: 4,
        steps: 10,
    };
    let branches = |epsilon| E::Parallel {
        branches: vec![
            vec![E::Pure { epsilon }.into()],
            vec![
                E::Gaussian {
                    noise_multiplier: 2.0 / epsilon,
                }
                .into(),
            ],
        ],
    };
    vec![
        (
            E::Laplace {
                scale: 4.0,
                sensitivity: 1.0,
            },
            E::Laplace {
                scale: 2.0,
                sensitivity: 1.0,
            },
        ),
        (
            E::Gaussian {
                noise_multiplier: 5.0,
            },
            E::Gaussian {
                noise_multiplier: 4.0,
            },
        ),
        (
            E::DiscreteLaplace {
                scale: 4.0,
                sensitivity: 2,
            },
            E::DiscreteLaplace {
                scale: 4.0,
                sensitivity: 3,
            },
        ),
        (
            E::DiscreteGaussian {
                sigma: 5.0,
                sensitivity: 1,
            },
            E::DiscreteGaussian {
                sigma: 5.0,
                sensitivity: 2,
            },
        ),
        (poisson(0.01, 1.0, 100), poisson(0.01, 0.8, 100)),
        (fixed(3.0), fixed(2.0)),
        (draws(2.0), draws(1.5)),
        (
            E::RoundRobinGaussian {
                uses: 3,
                sigma: 9.0,
                rows: 4,
            },
            E::RoundRobinGaussian {
                uses: 3,
                sigma: 8.0,
                rows: 4,
            },
        ),
        (
            E::RandomizedResponse {
                truth_probability: 0.6,
                categories: 3,
            },
            E::RandomizedResponse {
                truth_probability: 0.7,
                categories: 3,
            },
        ),
        (E::Exponential { epsilon: 0.3 }, E::Exponential { epsilon: 0.4 }),
        (E::Pure { epsilon: 0.2 }, E::Pure { epsilon: 0.3 }),
        (
            E::Approx {
                epsilon: 0.2,
                delta: 1e-8,
            },
            E::Approx {
                epsilon: 0.3,
                delta: 1e-8,
            },
        ),
        (E::Zcdp { rho: 0.05 }, E::Zcdp { rho: 0.07 }),
        (branches(0.3), branches(0.5)),
    ]
}

/// Any event of the file format, possible ones all.
pub fn any_event() -> impl Strategy<Value = PrivacyEvent> {
    use PrivacyEvent as E;
    let positive = || (-3.0..3.0f64).prop_map(|x| 10f64.powf(x));
    let noise = || (-0.7..2.0f64).prop_map(|x| 10f64.powf(x));
    let rate = || prop_oneof![(-4.0..0.0f64).prop_map(|x| 10f64.powf(x)), Just(1.0), Just(0.0)];
    prop_oneof![
        (positive(), 0.0..3.0f64).prop_map(|(scale, sensitivity)| E::Laplace { scale, sensitivity }),
        noise().prop_map(|noise_multiplier| E::Gaussian { noise_multiplier }),
        (positive(), 0..5u64).prop_map(|(scale, sensitivity)| E::DiscreteLaplace { scale, sensitivity }),
        (noise(), 0..4u64).prop_map(|(sigma, sensitivity)| E::DiscreteGaussian { sigma, sensitivity }),
        (rate(), noise(), 0..5000u64).prop_map(|(q, z, steps)| poisson(q, z, steps)),
        (1..2000u64, 0.0..1.0f64, noise(), 0..500u64).prop_map(|(population, share, z, steps)| {
            let batch = (population as f64 * share) as u64;
            E::FixedSizeSampledGaussian {
                population,
                batch,
                noise_multiplier: z,
                steps,
            }
        }),
        (1..2000u64, noise(), 0..64u64, 0..500u64).prop_map(|(shards, sigma, rows, steps)| {
            E::RowDrawGaussian {
                shards,
                sigma,
                rows,
                steps,
            }
        }),
        (0..50u64, noise(), 0..64u64).prop_map(|(uses, sigma, rows)| E::RoundRobinGaussian {
            uses,
            sigma,
            rows
        }),
        (0.001..0.999f64, 2..50u64).prop_map(|(truth_probability, categories)| E::RandomizedResponse {
            truth_probability,
            categories
        }),
        (0.0..3.0f64).prop_map(|epsilon| E::Exponential { epsilon }),
        (0.0..3.0f64).prop_map(|epsilon| E::Pure { epsilon }),
        (0.0..1.0f64, -12.0..-6.0f64).prop_map(|(epsilon, d)| E::Approx {
            epsilon,
            delta: 10f64.powf(d)
        }),
        (0.0..1.0f64).prop_map(|rho| E::Zcdp { rho }),
    ]
}
