//! How an error is distributed, whatever it comes from.

use crate::privacy::mechanism::MechanismError;
use crate::privacy::mechanism::utility::{ChoiceLaw, NoiseSum, ResponseError};

/// How the error of a released value is distributed.
#[derive(Clone, Debug)]
pub enum Law<'a> {
    /// Of added noise.
    Noise(NoiseSum),
    /// Of a choice.
    Choice(ChoiceLaw<'a>),
    /// Of an estimate from randomised responses.
    Response(ResponseError),
}

impl Law<'_> {
    /// E|error|.
    pub fn expected_error(&self) -> f64 {
        match self {
            Self::Noise(law) => law.expected_error(),
            Self::Choice(law) => law.expected_error(),
            Self::Response(law) => law.expected_error(),
        }
    }

    /// √E[error²].
    pub fn root_mean_square_error(&self) -> f64 {
        match self {
            Self::Noise(law) => law.root_mean_square_error(),
            Self::Choice(law) => law.root_mean_square_error(),
            Self::Response(law) => law.root_mean_square_error(),
        }
    }

    /// P(|error| ≤ a).
    pub fn probability_within(&self, a: f64) -> f64 {
        match self {
            Self::Noise(law) => law.probability_within(a),
            Self::Choice(law) => law.probability_within(a),
            Self::Response(law) => law.probability_within(a),
        }
    }

    /// The least a with P(|error| ≤ a) ≥ p.
    ///
    /// # Errors
    /// A p that is not above 0 and below 1.
    pub fn error_quantile(&self, p: f64) -> Result<f64, MechanismError> {
        match self {
            Self::Noise(law) => law.error_quantile(p),
            Self::Choice(law) => law.error_quantile(p),
            Self::Response(law) => law.error_quantile(p),
        }
    }
}
