//! What may be asked.

use std::fmt;

use serde::Serialize;

use crate::privacy::Neighboring;

/// The least ε of a release: the noise of less drowns any table that fits a computer.
pub const MIN_EPSILON: f64 = 1e-6;
/// The largest ε of a release: at 100 an attacker's odds may rise by a factor of e^100, which is no promise.
pub const MAX_EPSILON: f64 = 100.0;

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
