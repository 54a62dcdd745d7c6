//! The ends of a column's public range, as they stand in the file.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// An end of a column's public range: a number, or a date or time in ISO 8601.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    /// A whole number, kept exactly.
    Integer(i64),
    /// Any finite number.
    Number(f64),
    /// A date (`2019-03-31`), time (`08:30:00`) or both (`2019-03-31T08:30:00`).
    Text(String),
}

impl Bound {
    /// The number, unless the bound is a date or time.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Integer(value) => Some(*value as f64),
            Self::Number(value) => Some(*value),
            Self::Text(_) => None,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value}"),
            Self::Text(value) => f.write_str(value),
        }
    }
}

impl From<i64> for Bound {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<i32> for Bound {
    fn from(value: i32) -> Self {
        Self::Integer(i64::from(value))
    }
}

impl From<f64> for Bound {
    /// Whole numbers that a double holds exactly become [`Bound::Integer`].
    fn from(value: f64) -> Self {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if value.fract() == 0.0 && value.abs() < EXACT {
            Self::Integer(value as i64)
        } else {
            Self::Number(value)
        }
    }
}

impl From<&str> for Bound {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl Serialize for Bound {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Integer(value) => serializer.serialize_i64(*value),
            Self::Number(value) => serializer.serialize_f64(*value),
            Self::Text(value) => serializer.serialize_str(value),
        }
    }
}

impl<'de> Deserialize<'de> for Bound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Bound;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or a date or time in quotes such as \"2019-03-31\"")
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Bound, E> {
                Ok(Bound::Integer(value))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Bound, E> {
                Ok(i64::try_from(value).map_or(Bound::Number(value as f64), Bound::Integer))
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Bound, E> {
                if value.is_finite() {
                    Ok(Bound::from(value))
                } else {
                    Err(E::custom("a bound must be a finite number"))
                }
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<Bound, E> {
                Ok(Bound::Text(value.to_owned()))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}
