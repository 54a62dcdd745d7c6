//! Simple sums: pure ε, and ρ of zero-concentrated differential privacy.

use super::pld::profile::{zcdp_ln_delta, zcdp_range};
use super::{Accountant, AccountingError, CountedEvent, EventList, Neighboring, PrivacyEvent, renyi};
use crate::num::Delta;

/// The sum of pure ε: basic composition (Dwork, McSherry, Nissim, Smith 2006). Knows pure events only.
#[derive(Clone, Debug)]
pub struct PureView {
    neighboring: Neighboring,
    epsilon: f64,
}

/// The sum of ρ (Bun & Steinke 2016, Lemma 1.7). Knows the events that are ρ-zCDP: Gaussians without sampling, and pure
/// ones.
#[derive(Clone, Debug)]
pub struct ZcdpView {
    neighboring: Neighboring,
    rho: f64,
}

impl PureView {
    /// A sum of nothing.
    pub fn new(neighboring: Neighboring) -> Self {
        Self {
            neighboring,
            epsilon: 0.0,
        }
    }

    /// The sum.
    pub fn total(&self) -> f64 {
        self.epsilon
    }
}

impl ZcdpView {
    /// A sum of nothing.
    pub fn new(neighboring: Neighboring) -> Self {
        Self {
            neighboring,
            rho: 0.0,
        }
    }

    /// The sum.
    pub fn rho(&self) -> f64 {
        self.rho
    }
}

fn unprovable(event: &PrivacyEvent, accountant: &'static str, neighboring: Neighboring) -> AccountingError {
    let reason = "the event has no such guarantee; account it with pld or rdp";
    AccountingError::Unprovable {
        event: event.name(),
        accountant,
        neighboring,
        reason,
    }
}

/// Sums over disjoint parts: the largest, or under replace one the two largest; see the accountants.
fn parallel(
    branches: &[Vec<CountedEvent>],
    neighboring: Neighboring,
    of: &impl Fn(&PrivacyEvent, Neighboring) -> Result<f64, AccountingError>,
) -> Result<f64, AccountingError> {
    let mut sums = branches
        .iter()
        .map(|branch| {
            branch.iter().try_fold(0.0, |sum, counted| {
                Ok(sum + counted.count as f64 * of(&counted.event, neighboring)?)
            })
        })
        .collect::<Result<Vec<f64>, _>>()?;
    sums.sort_by(|a, b| b.total_cmp(a));
    Ok(sums
        .iter()
        .take(if neighboring == Neighboring::ReplaceOne {
            2
        } else {
            1
        })
        .sum())
}

fn pure(event: &PrivacyEvent, neighboring: Neighboring) -> Result<f64, AccountingError> {
    event.validate()?;
    match event {
        PrivacyEvent::Parallel { branches } => parallel(branches, neighboring, &pure),
        _ => renyi::cost(event, neighboring)?
            .pure
            .ok_or_else(|| unprovable(event, "pure", neighboring)),
    }
}

/// ρ of one event: 1/(2z²) for Gaussians (Bun & Steinke 2016, Prop. 1.6; Canonne, Kamath, Steinke 2020, Thm 4 for the
/// discrete one), ε²/8 for bounded range (Cesar & Rogers 2021), ε²/2 for anything pure (Bun & Steinke, Prop. 1.4).
fn rho(event: &PrivacyEvent, neighboring: Neighboring) -> Result<f64, AccountingError> {
    event.validate()?;
    Ok(match *event {
        PrivacyEvent::Gaussian { noise_multiplier: z } => 0.5 / z / z,
        PrivacyEvent::DiscreteGaussian { sigma, sensitivity } => 0.5 * (sensitivity as f64 / sigma).powi(2),
        PrivacyEvent::RoundRobinGaussian { uses, sigma, rows } => {
            0.5 * uses as f64 * rows as f64 / sigma / sigma
        }
        PrivacyEvent::Exponential { epsilon } => epsilon * epsilon / 8.0,
        PrivacyEvent::Zcdp { rho } => rho,
        PrivacyEvent::Parallel { ref branches } => parallel(branches, neighboring, &rho)?,
        // The sampled ones are not zCDP with any useful ρ, whatever their parameters.
        PrivacyEvent::PoissonSampledGaussian { .. }
        | PrivacyEvent::FixedSizeSampledGaussian { .. }
        | PrivacyEvent::RowDrawGaussian { .. } => return Err(unprovable(event, "zcdp", neighboring)),
        _ => match renyi::cost(event, neighboring)?.pure {
            Some(epsilon) => 0.5 * epsilon * epsilon,
            None => return Err(unprovable(event, "zcdp", neighboring)),
        },
    })
}

fn sum_of(
    list: &EventList,
    neighboring: Neighboring,
    of: impl Fn(&PrivacyEvent, Neighboring) -> Result<f64, AccountingError>,
) -> Result<f64, AccountingError> {
    if list.neighboring != neighboring {
        return Err(AccountingError::Relation {
            list: list.neighboring,
            accountant: neighboring,
        });
    }
    list.events.iter().try_fold(0.0, |sum, counted| {
        Ok(sum + counted.count as f64 * of(&counted.event, neighboring)?)
    })
}

fn check(epsilon: f64) -> Result<(), AccountingError> {
    if epsilon >= 0.0 {
        Ok(())
    } else {
        Err(AccountingError::Epsilon(epsilon))
    }
}

impl Accountant for PureView {
    fn neighboring(&self) -> Neighboring {
        self.neighboring
    }

    fn compose(&mut self, event: &PrivacyEvent, count: u64) -> Result<(), AccountingError> {
        self.epsilon += count as f64 * pure(event, self.neighboring)?;
        Ok(())
    }

    fn compose_list(&mut self, list: &EventList) -> Result<(), AccountingError> {
        self.epsilon += sum_of(list, self.neighboring, pure)?;
        Ok(())
    }

    fn epsilon(&self, _delta: Delta) -> Result<f64, AccountingError> {
        Ok(self.epsilon)
    }

    /// (e^ε₀ − e^ε)/(e^ε₀ + 1) for a sum ε₀: the curve of the worst ε₀-DP pair.
    fn delta(&self, epsilon: f64) -> Result<f64, AccountingError> {
        check(epsilon)?;
        if epsilon >= self.epsilon {
            return Ok(0.0);
        }
        Ok(-(epsilon - self.epsilon).exp_m1() / (1.0 + (-self.epsilon).exp()))
    }
}

impl Accountant for ZcdpView {
    fn neighboring(&self) -> Neighboring {
        self.neighboring
    }

    fn compose(&mut self, event: &PrivacyEvent, count: u64) -> Result<(), AccountingError> {
        self.rho += count as f64 * rho(event, self.neighboring)?;
        Ok(())
    }

    fn compose_list(&mut self, list: &EventList) -> Result<(), AccountingError> {
        self.rho += sum_of(list, self.neighboring, rho)?;
        Ok(())
    }

    fn epsilon(&self, delta: Delta) -> Result<f64, AccountingError> {
        let target = delta.get().ln();
        if self.rho == 0.0 {
            return Ok(0.0);
        }
        if !self.rho.is_finite() || delta.get() == 0.0 {
            return Ok(f64::INFINITY);
        }
        if zcdp_ln_delta(self.rho, 0.0) <= target {
            return Ok(0.0);
        }
        let (mut low, mut high) = (0.0, zcdp_range(self.rho, delta.get()));
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if zcdp_ln_delta(self.rho, middle) <= target {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok(high)
    }

    fn delta(&self, epsilon: f64) -> Result<f64, AccountingError> {
        check(epsilon)?;
        if self.rho == 0.0 {
            return Ok(0.0);
        }
        if !self.rho.is_finite() {
            return Ok(1.0);
        }
        Ok(zcdp_ln_delta(self.rho, epsilon).exp().min(1.0))
    }
}
