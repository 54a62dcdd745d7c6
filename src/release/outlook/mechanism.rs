//! The mechanisms that a statistic may have, and how far one unit moves it.

use crate::release::answer::Value;
use crate::release::request::Noise;

/// How privacy may be bought, or only compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mechanism {
    /// Laplace noise on real numbers: pure ε.
    Laplace,
    /// Laplace noise on whole steps, as it is released.
    DiscreteLaplace,
    /// Gaussian noise with the textbook's σ.
    TextbookGaussian,
    /// Gaussian noise with the least σ (Balle & Wang 2018).
    AnalyticGaussian,
    /// Gaussian noise on whole steps, as it is released.
    DiscreteGaussian,
    /// A choice by the exponential mechanism, as it is released.
    Exponential,
    /// Each person's own answer, noised before it leaves them.
    RandomizedResponse,
}

impl Mechanism {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 7] = [
        Self::DiscreteLaplace,
        Self::Laplace,
        Self::DiscreteGaussian,
        Self::AnalyticGaussian,
        Self::TextbookGaussian,
        Self::Exponential,
        Self::RandomizedResponse,
    ];

    /// A name for keys of texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Laplace => "laplace",
            Self::DiscreteLaplace => "discrete-laplace",
            Self::TextbookGaussian => "textbook-gaussian",
            Self::AnalyticGaussian => "analytic-gaussian",
            Self::DiscreteGaussian => "discrete-gaussian",
            Self::Exponential => "exponential",
            Self::RandomizedResponse => "randomized-response",
        }
    }

    /// The mechanism of a release, or `None` where it can only be compared.
    pub const fn released(self) -> Option<Noise> {
        match self {
            Self::DiscreteLaplace => Some(Noise::Laplace),
            Self::DiscreteGaussian => Some(Noise::Gaussian),
            Self::Exponential => Some(Noise::Exponential),
            _ => None,
        }
    }

    /// Whether it needs a δ.
    pub const fn needs_delta(self) -> bool {
        matches!(
            self,
            Self::TextbookGaussian | Self::AnalyticGaussian | Self::DiscreteGaussian
        )
    }
}

/// Why one unit can move a sum by so much (see `sensitivity.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A unit's rows come or go.
    Appears,
    /// A unit's rows change within one cell.
    Replaced,
    /// A unit's rows leave some cells and enter others.
    Moves,
}

/// What is summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Summed {
    /// Rows or values.
    Count,
    /// Values.
    Values,
    /// Values' distances from the middle of the bounds.
    Distances,
    /// Squares of those distances, less half the largest.
    Squares,
}

/// How far one unit moves a part of the statistic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartSensitivity {
    /// What is summed.
    pub summed: Summed,
    /// Δ₁: all absolute changes together, in the part's unit.
    pub one: f64,
    /// Δ₂: the root of the changes' squares.
    pub two: f64,
    /// Why.
    pub reason: Reason,
}

/// How far one unit moves a statistic, and what that follows from.
#[derive(Clone, Debug, PartialEq)]
pub enum Sensitivity {
    /// Of sums; ε is shared equally among them.
    Sums {
        /// Each sum.
        parts: Vec<PartSensitivity>,
        /// The public bounds, where values are summed.
        bounds: Option<(Value, Value)>,
    },
    /// Of a candidate's score, in ranks or rows.
    Score(f64),
}
