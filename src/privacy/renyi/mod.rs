//! Rényi divergences of single events: R(α) = ln E_Q[(P/Q)^α] / (α − 1) at every order of [`ORDERS`].
//!
//! Each event is judged by its worst pair (P, Q) in its worst direction. Moments are computed as M − 1 where M is
//! close to 1, since a training run multiplies ln M by a hundred thousand.

#![allow(
    clippy::float_cmp,
    reason = "exact edges such as q = 1 and an unchanged bracket are meant"
)]

mod sampled;

pub use sampled::{
    mixture_ln_ratio, poisson_add_remove, poisson_replace, poisson_whole_order, without_replacement,
};

use super::{AccountingError, CountedEvent, Neighboring, PrivacyEvent};

/// Orders at which divergences are kept: 1.1, 1.2 … 10.9, 11 … 63, 128, 256, 512, 1024.
pub static ORDERS: [f64; 156] = orders();

const fn orders() -> [f64; 156] {
    let mut orders = [0.0; 156];
    let mut i = 0;
    while i < 99 {
        orders[i] = (11 + i) as f64 / 10.0;
        i += 1;
    }
    while i < 152 {
        orders[i] = (i - 99 + 11) as f64;
        i += 1;
    }
    orders[152] = 128.0;
    orders[153] = 256.0;
    orders[154] = 512.0;
    orders[155] = 1024.0;
    orders
}

/// What an event costs: a divergence per order, outside an event of probability `delta`.
#[derive(Clone, Debug)]
pub struct Cost {
    /// R(α) at each of [`ORDERS`].
    pub divergences: Vec<f64>,
    /// Probability with which nothing is promised (only `approx` has any).
    pub delta: f64,
    /// The ε of pure differential privacy, if the event has one.
    pub pure: Option<f64>,
}

impl Cost {
    /// The cost of nothing.
    pub fn none() -> Self {
        Self {
            divergences: vec![0.0; ORDERS.len()],
            delta: 0.0,
            pure: Some(0.0),
        }
    }

    /// Adds `count` repetitions of another cost: divergences add up at each order (Mironov 2017, Prop. 1), the
    /// failure probabilities by 1 − Π(1 − δᵢ).
    pub fn add(&mut self, other: &Self, count: u64) {
        if count == 0 {
            return;
        }
        let times = count as f64;
        for (sum, divergence) in self.divergences.iter_mut().zip(&other.divergences) {
            *sum += times * divergence;
        }
        self.delta = -(((-self.delta).ln_1p() + times * (-other.delta).ln_1p()).exp_m1());
        self.pure = self.pure.zip(other.pure).map(|(a, b)| a + times * b);
    }
}

/// The cost of one event under a relation.
///
/// # Errors
/// An impossible parameter, or an event without a proof under the relation.
pub fn cost(event: &PrivacyEvent, neighboring: Neighboring) -> Result<Cost, AccountingError> {
    event.validate()?;
    let simple = |divergence: &dyn Fn(f64) -> f64, pure| Cost {
        divergences: ORDERS.iter().map(|&order| divergence(order).max(0.0)).collect(),
        delta: 0.0,
        pure,
    };
    Ok(match *event {
        PrivacyEvent::Laplace { scale, sensitivity } => {
            let epsilon = sensitivity / scale;
            simple(&|order| laplace(epsilon, order), Some(epsilon))
        }
        PrivacyEvent::Gaussian { noise_multiplier } => {
            simple(&|order| gaussian(noise_multiplier, order), None)
        }
        PrivacyEvent::DiscreteLaplace { scale, sensitivity } => simple(
            &|order| discrete_laplace(scale, sensitivity as f64, order),
            Some(sensitivity as f64 / scale),
        ),
        // Nothing of anyone's row is in these.
        PrivacyEvent::DiscreteGaussian { sensitivity: 0, .. }
        | PrivacyEvent::PoissonSampledGaussian {
            sampling_rate: 0.0, ..
        } => Cost::none(),
        PrivacyEvent::FixedSizeSampledGaussian { batch: 0, .. } => {
            only_replace(event, neighboring)?;
            Cost::none()
        }
        // Canonne, Kamath, Steinke 2020, Thm 4: s²/(2σ²)-zCDP, and equal to it at whole α·s.
        PrivacyEvent::DiscreteGaussian { sigma, sensitivity } => {
            simple(&|order| gaussian(sigma / sensitivity as f64, order), None)
        }
        PrivacyEvent::PoissonSampledGaussian {
            sampling_rate,
            noise_multiplier,
            steps,
        } => {
            let step = match neighboring {
                Neighboring::AddRemoveOne | Neighboring::ZeroOutOne => {
                    poisson_add_remove(sampling_rate, noise_multiplier)
                }
                Neighboring::ReplaceOne => poisson_replace(sampling_rate, noise_multiplier),
            };
            repeated(step, steps)
        }
        PrivacyEvent::FixedSizeSampledGaussian {
            population,
            batch,
            noise_multiplier,
            steps,
        } => {
            only_replace(event, neighboring)?;
            // A replaced row moves the clipped sum by up to 2C.
            repeated(
                without_replacement(batch as f64 / population as f64, noise_multiplier / 2.0),
                steps,
            )
        }
        PrivacyEvent::RowDrawGaussian {
            shards,
            sigma,
            rows,
            steps,
        } => {
            only_replace(event, neighboring)?;
            repeated(
                without_replacement(1.0 / shards as f64, sigma),
                rows.saturating_mul(steps),
            )
        }
        PrivacyEvent::RoundRobinGaussian { uses, sigma, rows } => simple(
            &|order| (uses as f64 * rows as f64) * gaussian(sigma, order),
            None,
        ),
        PrivacyEvent::RandomizedResponse {
            truth_probability,
            categories,
        } => {
            let (epsilon, probability) = randomized_response(truth_probability, categories);
            simple(&|order| two_losses(epsilon, probability, order), Some(epsilon))
        }
        PrivacyEvent::Exponential { epsilon } => simple(&|order| exponential(epsilon, order), Some(epsilon)),
        PrivacyEvent::Pure { epsilon } => simple(&|order| two_losses(epsilon, 1.0, order), Some(epsilon)),
        // Any (ε, δ)-DP pair is, outside an event of probability δ, an ε-DP pair (Murtagh & Vadhan 2016, Lemma 3.2).
        PrivacyEvent::Approx { epsilon, delta } => Cost {
            delta,
            ..simple(
                &|order| two_losses(epsilon, 1.0, order),
                (delta == 0.0).then_some(epsilon),
            )
        },
        PrivacyEvent::Zcdp { rho } => simple(&|order| rho * order, (rho == 0.0).then_some(0.0)),
        PrivacyEvent::Parallel { ref branches } => parallel(branches, neighboring)?,
    })
}

fn only_replace(event: &PrivacyEvent, neighboring: Neighboring) -> Result<(), AccountingError> {
    if neighboring == Neighboring::ReplaceOne {
        return Ok(());
    }
    Err(AccountingError::Unprovable {
        event: event.name(),
        accountant: "rdp",
        neighboring,
        reason: "it is proven under replace_one only",
    })
}

fn repeated(step: Vec<f64>, steps: u64) -> Cost {
    let mut total = Cost::none();
    total.add(
        &Cost {
            divergences: step,
            delta: 0.0,
            pure: None,
        },
        steps,
    );
    total
}

/// Events on disjoint parts fixed ahead of the data. Under add/remove the changed row lies in one part, so at each
/// order the largest branch bounds the divergence. Under replace one it may leave one part and enter another, so
/// the two largest branches compose.
fn parallel(branches: &[Vec<CountedEvent>], neighboring: Neighboring) -> Result<Cost, AccountingError> {
    let costs = branches
        .iter()
        .map(|branch| total(branch, neighboring))
        .collect::<Result<Vec<_>, _>>()?;
    let parts = if neighboring == Neighboring::ReplaceOne {
        2
    } else {
        1
    };
    let largest = |value: &dyn Fn(&Cost) -> f64| {
        let mut values: Vec<f64> = costs.iter().map(value).collect();
        values.sort_by(|a, b| b.total_cmp(a));
        values.iter().take(parts).copied().collect::<Vec<_>>()
    };
    Ok(Cost {
        divergences: (0..ORDERS.len())
            .map(|i| largest(&|cost| cost.divergences[i]).iter().sum())
            .collect(),
        delta: 1.0
            - largest(&|cost| cost.delta)
                .iter()
                .map(|delta| 1.0 - delta)
                .product::<f64>(),
        pure: costs
            .iter()
            .all(|cost| cost.pure.is_some())
            .then(|| largest(&|cost| cost.pure.unwrap_or(0.0)).iter().sum()),
    })
}

/// The cost of a list of events.
///
/// # Errors
/// As [`cost`].
pub fn total(events: &[CountedEvent], neighboring: Neighboring) -> Result<Cost, AccountingError> {
    let mut sum = Cost::none();
    for CountedEvent { event, count } in events {
        sum.add(&cost(event, neighboring)?, *count);
    }
    Ok(sum)
}

/// N(0, z²) against N(1, z²): α/(2z²) (Mironov 2017, Prop. 7).
pub(super) fn gaussian(noise_multiplier: f64, order: f64) -> f64 {
    order / 2.0 / noise_multiplier / noise_multiplier
}

/// Lap(0, b) against Lap(1, b), ε = 1/b (Mironov 2017, Prop. 6), with e^((α−1)ε) taken out of the logarithm:
/// M = e^((α−1)ε) (α + (α−1) e^(−(2α−1)ε)) / (2α−1). Where that cancels, the first terms of
/// M − 1 = Σ_{k≥2} (α(α−1)^k + (−1)^k (α−1)α^k) ε^k / (k! (2α−1)).
pub(super) fn laplace(epsilon: f64, order: f64) -> f64 {
    let (twice, power) = (2.0 * order - 1.0, order - 1.0);
    if order * epsilon > 1e-2 {
        return epsilon + ((order + power * (-twice * epsilon).exp()) / twice).ln() / power;
    }
    let (up, down) = (power * epsilon, -order * epsilon);
    let mut excess = 0.0;
    let (mut first, mut second) = (up, down);
    for k in 2..9 {
        first *= up / f64::from(k);
        second *= down / f64::from(k);
        excess += (order * first + power * second) / twice;
    }
    excess.ln_1p() / power
}

/// An ε-bounded-range mechanism is ε²/8-zCDP (Cesar & Rogers 2021, Lemma 3.2), and ε-DP besides.
pub(super) fn exponential(epsilon: f64, order: f64) -> f64 {
    (epsilon * epsilon * order / 8.0).min(two_losses(epsilon, 1.0, order))
}

/// A divergence at each of [`ORDERS`].
pub(super) fn at_orders(divergence: impl Fn(f64) -> f64) -> Vec<f64> {
    ORDERS.iter().map(|&order| divergence(order).max(0.0)).collect()
}

/// Losses +ε with probability p·e^ε/(1+e^ε) and −ε with p/(1+e^ε), 0 otherwise: randomised response, or (p = 1)
/// the worst case of any ε-DP mechanism (Kairouz, Oh, Viswanath 2015).
/// M − 1 = 2p sinh(αε/2) sinh((α−1)ε/2) / cosh(ε/2), which does not cancel.
pub(super) fn two_losses(epsilon: f64, probability: f64, order: f64) -> f64 {
    let power = order - 1.0;
    if order * epsilon < 600.0 {
        let excess = 2.0 * probability * (0.5 * order * epsilon).sinh() * (0.5 * power * epsilon).sinh();
        return (excess / (0.5 * epsilon).cosh()).ln_1p() / power;
    }
    let up = probability / (1.0 + (-epsilon).exp());
    let down = probability - up;
    // M = e^((α−1)ε) [up + down e^(−2(α−1)ε) + (1−p) e^(−(α−1)ε)]
    epsilon
        + (up + down * (-2.0 * power * epsilon).exp() + (1.0 - probability) * (-power * epsilon).exp()).ln()
            / power
}

/// The largest loss of k-ary randomised response and the total probability of the two answers that tell.
///
/// The pair differs in the true category: answers i and j have t against (1−t)/(k−1) and the reverse, all
/// others are equally likely.
pub fn randomized_response(truth_probability: f64, categories: u64) -> (f64, f64) {
    let other = (1.0 - truth_probability) / (categories - 1) as f64;
    ((truth_probability / other).ln().abs(), truth_probability + other)
}

/// Noise ∝ r^|k|, r = e^(−1/t), shifted by s: losses s/t for k ≤ 0, (s−2k)/t between, −s/t for k ≥ s. With
/// ρ = r^(2α−1): M = e^((α−1)s/t) [1/(1+r) + (1−r)/(1+r) · ρ(1−ρ^(s−1))/(1−ρ) + ρ^s/(1+r)], a geometric sum.
pub(super) fn discrete_laplace(scale: f64, sensitivity: f64, order: f64) -> f64 {
    if sensitivity == 0.0 {
        return 0.0;
    }
    if order * sensitivity / scale < 1e-3 {
        // The sum below would cancel; as an ε-DP mechanism it costs at most this, and exactly this for s = 1.
        return two_losses(sensitivity / scale, 1.0, order);
    }
    let r = (-1.0 / scale).exp();
    let ln_rho = -(2.0 * order - 1.0) / scale;
    let between = if sensitivity > 1.0 {
        -(-1.0 / scale).exp_m1() * ln_rho.exp() * ((sensitivity - 1.0) * ln_rho).exp_m1() / ln_rho.exp_m1()
    } else {
        0.0
    };
    let sum = (1.0 + between + (sensitivity * ln_rho).exp()) / (1.0 + r);
    sensitivity / scale + sum.ln() / (order - 1.0)
}
