//! Checked units: a number that went through `new` is in its range, so nothing downstream has to ask again.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a number is not a value of the unit it was offered as.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{unit} must be {range}, not {value}")]
pub struct UnitError {
    /// The unit's name, as a person reads it.
    pub unit: &'static str,
    /// The range that it accepts, in words.
    pub range: &'static str,
    /// The number that was offered.
    pub value: f64,
}

macro_rules! unit {
    ($(#[$doc:meta])* $name:ident, $unit:literal, $range:literal, $accepts:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Deserialize, PartialEq, PartialOrd, Serialize)]
        #[serde(try_from = "f64", into = "f64")]
        pub struct $name(f64);

        impl $name {
            /// Takes the number if it is in range.
            ///
            /// # Errors
            /// [`UnitError`] naming the unit, its range and the number (NaN is in no range).
            pub fn new(value: f64) -> Result<Self, UnitError> {
                let accepts: fn(f64) -> bool = $accepts;
                if accepts(value) { Ok(Self(value)) } else { Err(UnitError { unit: $unit, range: $range, value }) }
            }

            /// The plain number.
            pub const fn get(self) -> f64 {
                self.0
            }
        }

        impl TryFrom<f64> for $name {
            type Error = UnitError;
            fn try_from(value: f64) -> Result<Self, UnitError> {
                Self::new(value)
            }
        }

        impl From<$name> for f64 {
            fn from(value: $name) -> f64 {
                value.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

unit!(
    /// The ε of a differential-privacy guarantee, in nats.
    Epsilon, "epsilon", "positive and finite", |x| x > 0.0 && x.is_finite()
);
unit!(
    /// The δ of a differential-privacy guarantee: a probability, 0 for a pure one.
    Delta, "delta", "at least 0 and below 1", |x| (0.0..1.0).contains(&x)
);
unit!(
    /// Standard deviation of the noise divided by the ℓ2 clip norm (or sensitivity).
    NoiseMultiplier, "noise multiplier", "positive and finite", |x| x > 0.0 && x.is_finite()
);
unit!(
    /// The ℓ2 norm to which one unit's contribution is clipped.
    ClipNorm, "clip norm", "positive and finite", |x| x > 0.0 && x.is_finite()
);
unit!(
    /// The probability with which each row enters a step by its own coin.
    SamplingRate, "sampling rate", "above 0 and at most 1", |x| x > 0.0 && x <= 1.0
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_at_their_edges() {
        assert!(Epsilon::new(0.0).is_err());
        assert!(Epsilon::new(f64::INFINITY).is_err());
        assert!(Epsilon::new(f64::NAN).is_err());
        assert!(Delta::new(0.0).is_ok());
        assert!(Delta::new(1.0).is_err());
        assert!(SamplingRate::new(1.0).is_ok());
        assert!(SamplingRate::new(1.0 + f64::EPSILON).is_err());
        assert!(NoiseMultiplier::new(-1.0).is_err());
        assert!(ClipNorm::new(1e-300).is_ok());
    }

    #[test]
    fn serde_is_a_plain_checked_number() {
        assert_eq!(
            serde_json::to_string(&Delta::new(1e-5).unwrap()).unwrap(),
            "0.00001"
        );
        assert!(
            serde_json::from_str::<Epsilon>("-2.0")
                .unwrap_err()
                .to_string()
                .contains("epsilon must be")
        );
    }
}
