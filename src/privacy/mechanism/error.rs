//! Why a mechanism refuses what it was given.

use thiserror::Error;

use crate::privacy::CalibrationError;

/// A parameter or an input that no mechanism can work with.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum MechanismError {
    /// A parameter outside its range.
    #[error("{parameter} must be {range}, not {value}")]
    Parameter {
        /// The parameter.
        parameter: &'static str,
        /// The range it must lie in, in words.
        range: &'static str,
        /// Its value.
        value: f64,
    },
    /// No noise keeps the budget.
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
    /// No candidate to choose from.
    #[error("there is nothing to choose from: {0}")]
    NothingToChoose(&'static str),
    /// A score that is no number.
    #[error("score {index} must be finite, not {value}")]
    Score {
        /// Its place, from 0.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// Lists that belong together differ in length.
    #[error("{multiplicities} multiplicities do not match {scores} scores")]
    Lengths {
        /// Number of scores.
        scores: usize,
        /// Number of multiplicities.
        multiplicities: usize,
    },
    /// A category beyond those declared.
    #[error("category {category} is not among the {categories} declared ones, which count from 0")]
    Category {
        /// The category that was given.
        category: u64,
        /// How many there are.
        categories: u64,
    },
}

impl MechanismError {
    /// The value, if it lies in its range.
    pub(super) fn check(
        parameter: &'static str,
        range: &'static str,
        value: f64,
        holds: bool,
    ) -> Result<f64, Self> {
        if holds {
            Ok(value)
        } else {
            Err(Self::Parameter {
                parameter,
                range,
                value,
            })
        }
    }
}
