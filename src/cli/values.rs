//! Reads the values of flags.

use clap::ValueEnum;

use crate::engine::{Condition, Method};
use crate::privacy::Neighboring;
use crate::train::DeviceKind;

/// The relation as the command line spells it.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Relation {
    /// One row more or less.
    AddRemove,
    /// One row exchanged for another.
    Replace,
}

impl From<Relation> for Neighboring {
    fn from(relation: Relation) -> Self {
        match relation {
            Relation::AddRemove => Self::AddRemoveOne,
            Relation::Replace => Self::ReplaceOne,
        }
    }
}

pub fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().into(), value.trim().into())),
        _ => Err("expected KEY=VALUE".into()),
    }
}

/// Reads `COLUMN=VALUE`.
///
/// # Errors
/// When there is no `=` or no column before it.
pub fn parse_condition(text: &str) -> Result<Condition, String> {
    let (column, value) = parse_pair(text).map_err(|_| "expected COLUMN=VALUE")?;
    Ok(Condition { column, value })
}

/// Reads a length of time.
pub fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "expected a number of seconds".to_owned())?;
    if (0.0..=86_400.0).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("expected 0 to 86400 seconds".to_owned())
    }
}

/// Reads an ε.
///
/// # Errors
/// When it is no number above 0.
pub fn parse_epsilon(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "expected a number above 0".to_owned())?;
    crate::num::Epsilon::new(value)
        .map(crate::num::Epsilon::get)
        .map_err(|error| error.to_string())
}

/// Reads a δ.
///
/// # Errors
/// When it is no number from 0 to below 1.
pub fn parse_delta(text: &str) -> Result<f64, String> {
    let value: f64 = text
        .parse()
        .map_err(|_| "expected a number between 0 and 1".to_owned())?;
    crate::num::Delta::new(value)
        .map(crate::num::Delta::get)
        .map_err(|error| error.to_string())
}

pub fn parse_method(text: &str) -> Result<Method, String> {
    Method::ALL
        .into_iter()
        .find(|method| method.name() == text)
        .ok_or_else(|| {
            let names: Vec<_> = Method::ALL.iter().map(|method| method.name()).collect();
            format!("expected one of {}", names.join(", "))
        })
}

/// Reads a device's name.
///
/// # Errors
/// When it is none.
pub fn parse_device(text: &str) -> Result<DeviceKind, String> {
    DeviceKind::from_name(text).ok_or_else(|| "expected flex, ndarray or wgpu".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_and_settings_are_pairs() {
        let condition = parse_condition("income=>50K").unwrap();
        assert_eq!(
            (condition.column.as_str(), condition.value.as_str()),
            ("income", ">50K")
        );
        assert!(parse_condition("income").is_err());
        assert!(parse_pair("=3").is_err());
    }

    #[test]
    fn impossible_budgets_are_wrong_arguments() {
        for text in ["0", "-1", "nan", "inf", "one"] {
            assert!(parse_epsilon(text).is_err(), "{text}");
        }
        for text in ["-0.1", "1", "nan", "x"] {
            assert!(parse_delta(text).is_err(), "{text}");
        }
        assert!(parse_epsilon("8").is_ok() && parse_delta("1e-5").is_ok());
    }

    #[test]
    fn every_method_is_known_by_its_name() {
        for method in Method::ALL {
            assert_eq!(parse_method(method.name()), Ok(method));
        }
        assert!(parse_method("magic").unwrap_err().contains("dpgan"));
    }
}
