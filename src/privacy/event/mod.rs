//! What happened to private data, as plain data: accountants consume it, certificates carry it, the ledger keeps
//! it. An event's meaning never changes; a new mechanism is a new event.

mod file;

use std::fmt;

use serde::{Deserialize, Serialize};

use super::AccountingError;

/// Which pairs of data sets the guarantee speaks of.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Neighboring {
    /// One unit more or less; the number of rows is then private too.
    #[default]
    AddRemoveOne,
    /// One unit's contribution becomes zero while its place stays: the number of rows is public. The events here
    /// have the same loss as under [`Neighboring::AddRemoveOne`].
    ZeroOutOne,
    /// One unit exchanged for any other: a clipped sum then moves by up to twice the clip norm.
    ReplaceOne,
}

impl Neighboring {
    /// The name used in event files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AddRemoveOne => "add_remove_one",
            Self::ZeroOutOne => "zero_out_one",
            Self::ReplaceOne => "replace_one",
        }
    }
}

impl fmt::Display for Neighboring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One access to private data. Field names and `type` tags are those of the events file.
///
/// Noise of `gaussian` is over the ℓ2 sensitivity under the stated relation; that of the sampled Gaussians is
/// over the clip norm under every relation (the accountant applies the factor 2 of replace one).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PrivacyEvent {
    /// Laplace noise of scale `scale` on a query of ℓ1 sensitivity `sensitivity`.
    Laplace {
        /// Scale b of the noise, in the query's unit.
        scale: f64,
        /// ℓ1 sensitivity, same unit.
        sensitivity: f64,
    },
    /// Gaussian noise.
    Gaussian {
        /// σ over the ℓ2 sensitivity.
        noise_multiplier: f64,
    },
    /// Noise on integers with P(k) ∝ e^(−|k|/scale).
    DiscreteLaplace {
        /// Scale t of the noise, in grid steps.
        scale: f64,
        /// Sensitivity in grid steps.
        sensitivity: u64,
    },
    /// Noise on integers with P(k) ∝ e^(−k²/2σ²).
    DiscreteGaussian {
        /// σ of the formula, in grid steps.
        sigma: f64,
        /// Sensitivity in grid steps.
        sensitivity: u64,
    },
    /// DP-SGD steps: each row enters by its own coin, clipped rows are summed, noise is added.
    PoissonSampledGaussian {
        /// Probability of each row in each step.
        sampling_rate: f64,
        /// σ over the clip norm.
        noise_multiplier: f64,
        /// Number of steps.
        steps: u64,
    },
    /// As above with batches of exactly `batch` rows drawn without replacement.
    FixedSizeSampledGaussian {
        /// Number of rows drawn from.
        population: u64,
        /// Rows of a batch.
        batch: u64,
        /// σ over the clip norm.
        noise_multiplier: f64,
        /// Number of steps.
        steps: u64,
    },
    /// Generated rows whose gradients come from critics drawn anew for each row (noise 2σC a row).
    RowDrawGaussian {
        /// Number of shards, each with its critic.
        shards: u64,
        /// Noise over the sensitivity 2C of one row.
        sigma: f64,
        /// Generated rows of a step.
        rows: u64,
        /// Number of steps.
        steps: u64,
    },
    /// Generated rows whose gradients come from critics on a public rota.
    RoundRobinGaussian {
        /// Steps that use one critic.
        uses: u64,
        /// Noise over the sensitivity 2C of one row.
        sigma: f64,
        /// Generated rows of a step.
        rows: u64,
    },
    /// A category reported truthfully with some probability, otherwise uniformly among the others.
    RandomizedResponse {
        /// Total probability of the true category.
        truth_probability: f64,
        /// Number of categories.
        categories: u64,
    },
    /// The exponential mechanism at `epsilon`, or any other of ε-bounded range. Permute-and-flip and report-noisy-max
    /// have none: they are `pure`.
    Exponential {
        /// Its ε.
        epsilon: f64,
    },
    /// Any ε-DP mechanism.
    Pure {
        /// Its ε.
        epsilon: f64,
    },
    /// Any (ε, δ)-DP mechanism.
    Approx {
        /// Its ε.
        epsilon: f64,
        /// Its δ.
        delta: f64,
    },
    /// Any ρ-zCDP mechanism.
    Zcdp {
        /// Its ρ.
        rho: f64,
    },
    /// Events on disjoint parts of the data, the parts fixed ahead of it.
    Parallel {
        /// The events on each part.
        branches: Vec<Vec<CountedEvent>>,
    },
}

/// An event and how often it happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CountedEvent {
    /// What happened.
    #[serde(flatten)]
    pub event: PrivacyEvent,
    /// How often; 1 when a file does not say.
    #[serde(skip_serializing_if = "is_one")]
    pub count: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's signature
fn is_one(count: &u64) -> bool {
    *count == 1
}

impl From<PrivacyEvent> for CountedEvent {
    fn from(event: PrivacyEvent) -> Self {
        Self { event, count: 1 }
    }
}

/// Everything that happened, in order, and the relation it is judged under. The events file.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct EventList {
    /// The relation.
    pub neighboring: Neighboring,
    /// The events, in order.
    pub events: Vec<CountedEvent>,
}

impl EventList {
    /// A list of nothing.
    pub fn new(neighboring: Neighboring) -> Self {
        Self {
            neighboring,
            events: Vec::new(),
        }
    }

    /// Adds an event at the end.
    pub fn push(&mut self, event: PrivacyEvent, count: u64) {
        self.events.push(CountedEvent { event, count });
    }

    /// Reads the events file.
    ///
    /// # Errors
    /// `serde_json`'s, with line and column; a wrong event is named.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

/// Deepest nesting of `parallel` in `parallel`: more says nothing, and recursion stays bounded.
const DEEPEST_NESTING: usize = 8;

impl PrivacyEvent {
    /// The `type` of the events file.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Laplace { .. } => "laplace",
            Self::Gaussian { .. } => "gaussian",
            Self::DiscreteLaplace { .. } => "discrete_laplace",
            Self::DiscreteGaussian { .. } => "discrete_gaussian",
            Self::PoissonSampledGaussian { .. } => "poisson_sampled_gaussian",
            Self::FixedSizeSampledGaussian { .. } => "fixed_size_sampled_gaussian",
            Self::RowDrawGaussian { .. } => "row_draw_gaussian",
            Self::RoundRobinGaussian { .. } => "round_robin_gaussian",
            Self::RandomizedResponse { .. } => "randomized_response",
            Self::Exponential { .. } => "exponential",
            Self::Pure { .. } => "pure",
            Self::Approx { .. } => "approx",
            Self::Zcdp { .. } => "zcdp",
            Self::Parallel { .. } => "parallel",
        }
    }

    /// Whether every parameter is possible.
    ///
    /// # Errors
    /// [`AccountingError::Parameter`] naming event, parameter, range and value.
    pub fn validate(&self) -> Result<(), AccountingError> {
        self.validate_nested(0)
    }

    fn validate_nested(&self, depth: usize) -> Result<(), AccountingError> {
        let check = |parameter: &'static str, value: f64, range: &'static str, holds: bool| {
            if holds {
                Ok(())
            } else {
                Err(AccountingError::Parameter {
                    event: self.name(),
                    parameter,
                    range,
                    value,
                })
            }
        };
        let positive = |parameter, value: f64| {
            check(
                parameter,
                value,
                "positive and finite",
                value > 0.0 && value.is_finite(),
            )
        };
        let not_negative = |parameter, value: f64| {
            check(
                parameter,
                value,
                "finite and at least 0",
                value >= 0.0 && value.is_finite(),
            )
        };
        let at_least_one = |parameter, value: u64| check(parameter, value as f64, "at least 1", value >= 1);
        match *self {
            Self::Laplace { scale, sensitivity } => {
                positive("scale", scale)?;
                not_negative("sensitivity", sensitivity)
            }
            Self::Gaussian { noise_multiplier } => positive("noise_multiplier", noise_multiplier),
            Self::DiscreteLaplace { scale, .. } => positive("scale", scale),
            Self::DiscreteGaussian { sigma, .. } | Self::RoundRobinGaussian { sigma, .. } => {
                positive("sigma", sigma)
            }
            Self::PoissonSampledGaussian {
                sampling_rate: q,
                noise_multiplier,
                ..
            } => {
                check("sampling_rate", q, "between 0 and 1", (0.0..=1.0).contains(&q))?;
                positive("noise_multiplier", noise_multiplier)
            }
            Self::FixedSizeSampledGaussian {
                population,
                batch,
                noise_multiplier,
                ..
            } => {
                at_least_one("population", population)?;
                check(
                    "batch",
                    batch as f64,
                    "at most the population",
                    batch <= population,
                )?;
                positive("noise_multiplier", noise_multiplier)
            }
            Self::RowDrawGaussian { shards, sigma, .. } => {
                at_least_one("shards", shards)?;
                positive("sigma", sigma)
            }
            Self::RandomizedResponse {
                truth_probability: p,
                categories,
            } => {
                check("categories", categories as f64, "at least 2", categories >= 2)?;
                check("truth_probability", p, "above 0 and below 1", p > 0.0 && p < 1.0)
            }
            Self::Exponential { epsilon } | Self::Pure { epsilon } => not_negative("epsilon", epsilon),
            Self::Approx { epsilon, delta } => {
                not_negative("epsilon", epsilon)?;
                check(
                    "delta",
                    delta,
                    "at least 0 and at most 1",
                    (0.0..=1.0).contains(&delta),
                )
            }
            Self::Zcdp { rho } => not_negative("rho", rho),
            Self::Parallel { ref branches } => {
                check(
                    "branches",
                    depth as f64,
                    "nested at most 8 deep",
                    depth < DEEPEST_NESTING || branches.iter().all(Vec::is_empty),
                )?;
                branches
                    .iter()
                    .flatten()
                    .try_for_each(|inner| inner.event.validate_nested(depth + 1))
            }
        }
    }
}

#[cfg(test)]
mod tests;
