//! The Rényi accountant (Mironov 2017): divergences add up at every order, and the best order gives ε.

use std::collections::HashMap;
use std::sync::Arc;

use super::renyi::{self, Cost, ORDERS};
use super::{Accountant, AccountingError, CountedEvent, EventList, Neighboring, PrivacyEvent};
use crate::num::Delta;

/// Most sampled Gaussians whose divergences are remembered.
const MOST_REMEMBERED: usize = 256;
/// Longest list whose events are composed one by one.
const MOST_ONE_BY_ONE: usize = 1000;

/// Rényi differential privacy of everything composed so far.
///
/// Incremental and cheap to ask: another step with a (rate, noise) seen before costs one addition per order, and
/// a clone shares what is remembered.
#[derive(Clone, Debug)]
pub struct RdpAccountant {
    neighboring: Neighboring,
    total: Cost,
    remembered: Arc<HashMap<(u64, u64), Arc<Cost>>>,
}

impl RdpAccountant {
    /// An accountant that has seen nothing.
    pub fn new(neighboring: Neighboring) -> Self {
        Self {
            neighboring,
            total: Cost::none(),
            remembered: Arc::default(),
        }
    }

    /// An accountant of what already has a cost.
    pub(super) fn with_cost(neighboring: Neighboring, total: Cost) -> Self {
        Self {
            neighboring,
            total,
            remembered: Arc::default(),
        }
    }

    /// R(α) composed so far, at each of [`ORDERS`].
    pub fn divergences(&self) -> &[f64] {
        &self.total.divergences
    }

    /// The order that gives ε at δ, and that ε.
    pub fn best_order(&self, delta: Delta) -> (f64, f64) {
        let rest = self.remaining_delta(delta.get());
        ORDERS
            .iter()
            .zip(&self.total.divergences)
            .map(|(&order, &divergence)| (order, epsilon_at_order(order, divergence, rest)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .unwrap_or((ORDERS[0], f64::INFINITY))
    }

    /// The part of δ that is left for the divergences when `approx` events have taken theirs: if outside an
    /// event of probability δ₀ the rest is (ε, δ′)-DP, all is (ε, δ₀ + (1−δ₀)δ′)-DP.
    fn remaining_delta(&self, delta: f64) -> f64 {
        if self.total.delta == 0.0 {
            delta
        } else {
            (delta - self.total.delta) / (1.0 - self.total.delta)
        }
    }

    fn compose_all(&mut self, events: &[CountedEvent]) -> Result<(), AccountingError> {
        let parallel = |event: &&CountedEvent| matches!(event.event, PrivacyEvent::Parallel { .. });
        if events.len() <= MOST_ONE_BY_ONE {
            return events
                .iter()
                .try_for_each(|counted| self.compose(&counted.event, counted.count));
        }
        let rest =
            super::pld::gathered_cost(events.iter().filter(|event| !parallel(event)), self.neighboring)?;
        self.total.add(&rest, 1);
        events
            .iter()
            .filter(parallel)
            .try_for_each(|counted| self.compose(&counted.event, counted.count))
    }

    fn cost(&mut self, event: &PrivacyEvent) -> Result<(Arc<Cost>, u64), AccountingError> {
        let PrivacyEvent::PoissonSampledGaussian {
            sampling_rate,
            noise_multiplier,
            steps,
        } = *event
        else {
            return Ok((Arc::new(renyi::cost(event, self.neighboring)?), 1));
        };
        event.validate()?;
        let key = (sampling_rate.to_bits(), noise_multiplier.to_bits());
        if let Some(step) = self.remembered.get(&key) {
            return Ok((Arc::clone(step), steps));
        }
        let one = PrivacyEvent::PoissonSampledGaussian {
            sampling_rate,
            noise_multiplier,
            steps: 1,
        };
        let step = Arc::new(renyi::cost(&one, self.neighboring)?);
        let remembered = Arc::make_mut(&mut self.remembered);
        if remembered.len() >= MOST_REMEMBERED {
            remembered.clear();
        }
        remembered.insert(key, Arc::clone(&step));
        Ok((step, steps))
    }
}

/// Canonne, Kamath, Steinke 2020, Prop. 12 (Balle et al. 2020, Thm 21):
/// ε = R + ln(1 − 1/α) − ln(δα)/(α − 1); and 0 where δ² > 1 − e^(−R) already (the total variation is at most
/// √(1 − e^(−R)) by Bretagnolle & Huber 1979, since KL ≤ R).
///
/// A divergence that came out as 0 may be one that is too small for a float, and is taken as the smallest.
fn epsilon_at_order(order: f64, divergence: f64, delta: f64) -> f64 {
    if delta <= 0.0 || !divergence.is_finite() {
        return f64::INFINITY;
    }
    let divergence = divergence.max(f64::MIN_POSITIVE);
    if delta * delta + (-divergence).exp_m1() > 0.0 {
        return 0.0;
    }
    let epsilon = divergence + (-1.0 / order).ln_1p() - (delta.ln() + order.ln()) / (order - 1.0);
    epsilon.max(0.0)
}

/// The same solved for δ, and never above the total variation bound.
fn delta_at_order(order: f64, divergence: f64, epsilon: f64) -> f64 {
    let divergence = divergence.max(f64::MIN_POSITIVE);
    let ln_delta = (order - 1.0) * (divergence - epsilon + (-1.0 / order).ln_1p()) - order.ln();
    ln_delta.exp().min((-(-divergence).exp_m1()).sqrt()).min(1.0)
}

impl Accountant for RdpAccountant {
    fn neighboring(&self) -> Neighboring {
        self.neighboring
    }

    fn compose(&mut self, event: &PrivacyEvent, count: u64) -> Result<(), AccountingError> {
        let (cost, steps) = self.cost(event)?;
        self.total.add(&cost, steps.saturating_mul(count));
        Ok(())
    }

    fn compose_list(&mut self, list: &EventList) -> Result<(), AccountingError> {
        if list.neighboring != self.neighboring {
            return Err(AccountingError::Relation {
                list: list.neighboring,
                accountant: self.neighboring,
            });
        }
        let before = self.total.clone();
        let result = self.compose_all(&list.events);
        if result.is_err() {
            self.total = before;
        }
        result
    }

    fn epsilon(&self, delta: Delta) -> Result<f64, AccountingError> {
        if self.total.pure == Some(0.0) {
            return Ok(0.0);
        }
        let epsilon = self.best_order(delta).1;
        // At δ = 0 (or below what Rényi can reach) the sum of pure ε still holds.
        Ok(if epsilon.is_finite() {
            epsilon
        } else {
            self.total.pure.unwrap_or(epsilon)
        })
    }

    fn delta(&self, epsilon: f64) -> Result<f64, AccountingError> {
        if epsilon.is_nan() || epsilon < 0.0 {
            return Err(AccountingError::Epsilon(epsilon));
        }
        if self.total.pure.is_some_and(|pure| pure <= epsilon) {
            return Ok(0.0);
        }
        let least = ORDERS
            .iter()
            .zip(&self.total.divergences)
            .map(|(&order, &divergence)| delta_at_order(order, divergence, epsilon))
            .fold(1.0, f64::min);
        Ok(self.total.delta + (1.0 - self.total.delta) * least)
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "0 and ∞ are exact answers")]
mod tests {
    use super::*;

    fn epsilon(q: f64, z: f64, steps: u64, delta: f64, neighboring: Neighboring) -> f64 {
        let mut accountant = RdpAccountant::new(neighboring);
        let event = PrivacyEvent::PoissonSampledGaussian {
            sampling_rate: q,
            noise_multiplier: z,
            steps,
        };
        accountant.compose(&event, 1).unwrap();
        accountant.epsilon(Delta::new(delta).unwrap()).unwrap()
    }

    #[test]
    fn known_runs() {
        let one = Neighboring::AddRemoveOne;
        // PRIVACY.md's list of published runs.
        assert!((epsilon(1.0 / 469.0, 1.0, 450_000, 1e-5, one) - 9.96).abs() < 0.01);
        assert!((epsilon(1.0 / 118.0, 2.0, 174_000, 1e-5, one) - 9.99).abs() < 0.01);
        // Golden: 60 digits elsewhere, orders as here.
        assert!((epsilon(0.01, 1.0, 10_000, 1e-5, one) - 6.712738297545547).abs() < 1e-9);
        assert!((epsilon(0.001, 0.3, 1000, 1e-5, one) - 22.113084767683183).abs() < 1e-6);
        assert!((epsilon(0.001, 10.0, 100_000, 1e-5, one) - 0.10900766548570298).abs() < 1e-9);
    }

    #[test]
    fn one_more_step_is_cheap_and_adds_up() {
        let event = |steps| PrivacyEvent::PoissonSampledGaussian {
            sampling_rate: 0.01,
            noise_multiplier: 1.0,
            steps,
        };
        let delta = Delta::new(1e-5).unwrap();
        let mut by_steps = RdpAccountant::new(Neighboring::AddRemoveOne);
        for _ in 0..1000 {
            by_steps.compose(&event(1), 1).unwrap();
        }
        let mut at_once = RdpAccountant::new(Neighboring::AddRemoveOne);
        at_once.compose(&event(10), 100).unwrap();
        let (a, b) = (by_steps.epsilon(delta).unwrap(), at_once.epsilon(delta).unwrap());
        assert!((a - b).abs() < 1e-10, "{a} {b}");
        // A hundred questions; the best of several rounds, since the machine may be busy.
        let round = || {
            let started = std::time::Instant::now();
            for _ in 0..100 {
                let mut next = by_steps.clone();
                next.compose(&event(1), 1).unwrap();
                assert!(next.epsilon(delta).unwrap() >= a);
            }
            started.elapsed()
        };
        let best = (0..50).map(|_| round()).min().unwrap();
        assert!(best.as_millis() < 10, "{best:?}");
    }

    #[test]
    fn replace_one_costs_more_than_add_remove_and_less_than_no_amplification() {
        for (q, z) in [(0.01, 1.0), (0.1, 2.0), (0.5, 5.0), (0.01, 0.6)] {
            let near = epsilon(q, z, 100, 1e-5, Neighboring::AddRemoveOne);
            let far = epsilon(q, z, 100, 1e-5, Neighboring::ReplaceOne);
            let plain = epsilon(1.0, z, 100, 1e-5, Neighboring::ReplaceOne);
            assert!(near < far && far < plain, "{q} {z}: {near} {far} {plain}");
        }
    }

    #[test]
    fn a_divergence_too_small_for_a_float_is_not_nothing() {
        // About one of the 1.8e19 batches holds the row, so at δ = 1e-300 something must be paid.
        let event = PrivacyEvent::FixedSizeSampledGaussian {
            population: u64::MAX,
            batch: 1,
            noise_multiplier: 1.0,
            steps: 1,
        };
        let mut accountant = RdpAccountant::new(Neighboring::ReplaceOne);
        accountant.compose(&event, u64::MAX).unwrap();
        assert!(accountant.epsilon(Delta::new(1e-300).unwrap()).unwrap() > 20.0);
        assert_eq!(accountant.epsilon(Delta::new(1e-5).unwrap()).unwrap(), 0.0);
        let mut pld = crate::privacy::PldAccountant::new(Neighboring::ReplaceOne);
        pld.compose(&event, u64::MAX).unwrap();
        assert!(pld.epsilon(Delta::new(1e-300).unwrap()).unwrap() > 20.0);
    }

    #[test]
    fn absurd_parameters_are_infinite_or_zero_never_nan() {
        for (q, z, steps) in [
            (0.5, 1e-300, 1),
            (0.5, 1e300, 1 << 40),
            (1.0, 1e-300, 1),
            (1e-300, 1.0, 5),
            (0.3, 0.01, 7),
        ] {
            for neighboring in [Neighboring::AddRemoveOne, Neighboring::ReplaceOne] {
                let value = epsilon(q, z, steps, 1e-5, neighboring);
                assert!(value >= 0.0, "{q} {z} {steps}: {value}");
            }
        }
        assert_eq!(epsilon(0.5, 1.0, 0, 1e-5, Neighboring::AddRemoveOne), 0.0);
        assert_eq!(epsilon(0.0, 1.0, 10, 1e-5, Neighboring::ReplaceOne), 0.0);
    }
}
