//! What may be asked.

use std::fmt;

use serde::Serialize;

use crate::num::Delta;
use crate::privacy::Neighboring;

use super::error::ReleaseError;

/// The least ε of a release: the noise of less drowns any table that fits a computer.
pub const MIN_EPSILON: f64 = 1e-6;
/// The largest ε of a release: at 100 an attacker's odds may rise by a factor of e^100, which is no promise.
pub const MAX_EPSILON: f64 = 100.0;
/// More bins than this, and a histogram is no summary.
pub(super) const MAX_BINS: usize = 65_000;

/// A statistic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Query {
    /// Rows; of a column, those with a value in it.
    Count,
    /// The sum of a column.
    Sum,
    /// The mean of the values that are there.
    Mean,
    /// The variance of the values that are there, divided by their number.
    Variance,
    /// How many rows hold each value, or lie in each bin.
    Histogram {
        /// Equal bins between the bounds; `None` takes the schema's, or as many as are customary.
        bins: Option<usize>,
    },
    /// A quantile.
    Quantile {
        /// The share of values below it, above 0 and below 1.
        share: f64,
    },
    /// The most frequent value.
    Mode,
    /// Bounds for the schema.
    Bounds,
    /// The values of a categorical column for the schema.
    Categories,
}

impl Query {
    /// One of each, with the usual parameters, in the order in which a form offers them.
    pub const ALL: [Self; 9] = [
        Self::Count,
        Self::Sum,
        Self::Mean,
        Self::Variance,
        Self::Histogram { bins: None },
        Self::Quantile { share: 0.5 },
        Self::Mode,
        Self::Bounds,
        Self::Categories,
    ];

    /// The name on the command line and in the ledger.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Variance => "variance",
            Self::Histogram { .. } => "histogram",
            Self::Quantile { .. } => "quantile",
            Self::Mode => "mode",
            Self::Bounds => "bounds",
            Self::Categories => "categories",
        }
    }

    /// The mechanisms that can answer it; the first is the default.
    pub const fn mechanisms(self) -> &'static [Noise] {
        match self {
            Self::Quantile { .. } | Self::Mode => &[Noise::Exponential],
            Self::Categories => &[Noise::Laplace],
            _ => &[Noise::Laplace, Noise::Gaussian],
        }
    }

    /// Whether it can be asked for each value of another column.
    pub const fn can_group(self) -> bool {
        !matches!(self, Self::Bounds | Self::Categories)
    }

    /// Whether it can be asked without a column.
    pub const fn column_is_optional(self) -> bool {
        matches!(self, Self::Count)
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quantile { share } => write!(f, "quantile {share}"),
            other => f.write_str(other.name()),
        }
    }
}

/// How privacy is bought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Noise {
    /// Discrete Laplace noise: pure ε.
    Laplace,
    /// Discrete Gaussian noise: needs δ.
    Gaussian,
    /// A choice by the exponential mechanism: pure ε.
    Exponential,
}

impl Noise {
    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Laplace => "laplace",
            Self::Gaussian => "gaussian",
            Self::Exponential => "exponential",
        }
    }
}

/// A statistic, of what, and at which price.
#[derive(Clone, Debug, PartialEq)]
pub struct ReleaseRequest {
    /// The statistic.
    pub query: Query,
    /// The column; a count may do without.
    pub column: Option<String>,
    /// A column of a public domain: the statistic of each of its values.
    pub by: Option<String>,
    /// ε in nats, of all that is released together.
    pub epsilon: f64,
    /// δ, where the mechanism needs one; otherwise it is not spent.
    pub delta: f64,
    /// The mechanism; `None` takes the query's default.
    pub mechanism: Option<Noise>,
    /// Add/remove one or replace one. A declared row count turns the former into zero-out one.
    pub neighboring: Neighboring,
    /// Whether the intervals of several values hold all at once instead of each by itself.
    pub simultaneous: bool,
}

impl ReleaseRequest {
    /// A statistic of a column at ε under add/remove one, without groups.
    pub fn new(query: Query, column: Option<&str>, epsilon: f64) -> Self {
        Self {
            query,
            column: column.map(str::to_owned),
            by: None,
            epsilon,
            delta: 0.0,
            mechanism: None,
            neighboring: Neighboring::AddRemoveOne,
            simultaneous: false,
        }
    }
}

impl ReleaseRequest {
    /// Whether the request makes sense by itself, before any schema is seen; answers with its mechanism.
    ///
    /// # Errors
    /// Names the number, the column or the mechanism that is missing or impossible.
    pub fn check(&self) -> Result<Noise, ReleaseError> {
        let query = self.query.name();
        check_epsilon(self.epsilon)?;
        Delta::new(self.delta)?;
        let noise = self.choose_noise()?;
        if self.column.is_none() && !self.query.column_is_optional() {
            return Err(ReleaseError::NoColumn { query });
        }
        if self.by.is_some() && !self.query.can_group() {
            return Err(ReleaseError::NotByGroup { query });
        }
        if let Some(by) = &self.by
            && self.column.as_ref() == Some(by)
        {
            return Err(ReleaseError::GroupedByItself { column: by.clone() });
        }
        let needs_delta = match (noise, self.query) {
            (Noise::Gaussian, _) => Some("the Gaussian mechanism"),
            (_, Query::Categories) => Some("the search for values"),
            _ => None,
        };
        if let Some(what) = needs_delta.filter(|_| self.delta == 0.0) {
            return Err(ReleaseError::DeltaNeeded { what });
        }
        match self.query {
            Query::Quantile { share } if millionths(share).is_none() => Err(ReleaseError::Share { share }),
            Query::Histogram { bins: Some(bins) } if !(1..=MAX_BINS).contains(&bins) => {
                Err(ReleaseError::Bins { bins, most: MAX_BINS })
            }
            _ => Ok(noise),
        }
    }

    fn choose_noise(&self) -> Result<Noise, ReleaseError> {
        let known = self.query.mechanisms();
        match self.mechanism {
            None => Ok(known[0]),
            Some(asked) if known.contains(&asked) => Ok(asked),
            Some(asked) => Err(ReleaseError::Mechanism {
                query: self.query.name(),
                mechanism: asked.name(),
                choice: known
                    .iter()
                    .map(|noise| noise.name())
                    .collect::<Vec<_>>()
                    .join(" or "),
            }),
        }
    }
}

fn check_epsilon(epsilon: f64) -> Result<(), ReleaseError> {
    let why = if epsilon > MAX_EPSILON {
        "so much is no promise to anyone"
    } else if epsilon >= MIN_EPSILON {
        return Ok(());
    } else {
        "so little is all noise"
    };
    Err(ReleaseError::Epsilon {
        epsilon,
        least: MIN_EPSILON,
        most: MAX_EPSILON,
        why,
    })
}

/// A share in whole millionths, if it lies between 0 and 1 and is neither.
pub(super) fn millionths(share: f64) -> Option<f64> {
    let millionths = (share * 1e6).round();
    (1.0..1e6).contains(&millionths).then_some(millionths)
}

impl fmt::Display for ReleaseRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.query)?;
        match &self.column {
            Some(column) => write!(f, " of `{column}`")?,
            None => f.write_str(" of rows")?,
        }
        match &self.by {
            Some(by) => write!(f, " by `{by}`"),
            None => Ok(()),
        }
    }
}
