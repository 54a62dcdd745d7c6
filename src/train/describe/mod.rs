//! Every setting described once: its unit, range and a sentence. Forms, the command line's help and the
//! check of a plan derive from this table.

mod image;
mod pairs;
mod table;

use super::settings::TrainSettings;

pub use image::IMAGE_SETTINGS;
pub use pairs::PAIR_SETTINGS;
pub use table::SETTINGS;

/// A setting's value, whatever its type.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingValue {
    /// A count.
    Integer(u64),
    /// A number.
    Real(f64),
    /// On or off.
    Switch(bool),
    /// One of a few names.
    Choice(&'static str),
    /// Widths of layers, from the input on.
    Widths(Vec<usize>),
    /// A few numbers in order.
    Numbers(Vec<f64>),
}

/// What values a setting can have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SettingRange {
    /// A count between these, both included.
    Integer {
        /// The least.
        min: u64,
        /// The most.
        max: u64,
    },
    /// A number between these, both included.
    Real {
        /// The least.
        min: f64,
        /// The most.
        max: f64,
        /// Whether a slider is best on a log scale.
        log: bool,
    },
    /// On or off.
    Switch,
    /// One of these names.
    Choice(&'static [&'static str]),
    /// Up to this many layers of up to this width.
    Widths {
        /// The most layers.
        layers: usize,
        /// The widest.
        width: usize,
    },
    /// A few numbers between these, both included.
    Numbers {
        /// The least.
        min: f64,
        /// The most.
        max: f64,
        /// The most numbers; at least two.
        most: usize,
    },
}

/// Which part of a form a setting belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingGroup {
    /// How often and how loudly the data is looked at.
    Privacy,
    /// What is bought beside the critic's gradients.
    Marginals,
    /// How rows become numbers.
    Encoding,
    /// The critic.
    Critic,
    /// The generator.
    Generator,
}

/// Settings that are described in a table.
pub trait Described: Sized + Default + 'static {
    /// Under which name translations of the whole kind are filed, where they differ from `setting-KEY`.
    const TEXTS: &'static str;

    /// The table, in the order in which a form shows it.
    fn table() -> &'static [SettingDescription<Self>];
}

impl Described for TrainSettings {
    const TEXTS: &'static str = "setting";

    fn table() -> &'static [SettingDescription<Self>] {
        &SETTINGS
    }
}

/// One setting, of tables unless another kind of settings is named.
#[derive(Clone, Copy, Debug)]
pub struct SettingDescription<S: 'static = TrainSettings> {
    /// Its name in files and on the command line; translations are filed under `setting-KEY`.
    pub key: &'static str,
    /// Its part of the form.
    pub group: SettingGroup,
    /// Its unit; empty for plain numbers.
    pub unit: &'static str,
    /// Its range.
    pub range: SettingRange,
    /// What it does, in a sentence.
    pub help: &'static str,
    /// Whether most people leave it alone.
    pub advanced: bool,
    get: fn(&S) -> SettingValue,
    set: fn(&mut S, SettingValue) -> bool,
}

/// A value outside a setting's range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("setting `{key}` is {value}; expected {expected}")]
pub struct SettingError {
    /// The setting.
    pub key: &'static str,
    /// The value, as text.
    pub value: String,
    /// The range, in words.
    pub expected: String,
}

impl<S: Default> SettingDescription<S> {
    /// The setting's value.
    pub fn get(&self, settings: &S) -> SettingValue {
        (self.get)(settings)
    }

    /// Its default.
    pub fn default_value(&self) -> SettingValue {
        (self.get)(&S::default())
    }

    /// Changes the setting. Switching marginals on or off moves along what depends on them
    /// ([`TrainSettings::switch_marginals`]).
    ///
    /// # Errors
    /// When the value is of another type or outside the range; the settings stay as they were.
    pub fn set(&self, settings: &mut S, value: SettingValue) -> Result<(), SettingError> {
        let error = self.error(&value);
        if self.range.contains(&value) && (self.set)(settings, value) {
            Ok(())
        } else {
            Err(error)
        }
    }

    /// Checks the setting's present value.
    ///
    /// # Errors
    /// When it is outside the range.
    pub fn check(&self, settings: &S) -> Result<(), SettingError> {
        let value = self.get(settings);
        if self.range.contains(&value) {
            Ok(())
        } else {
            Err(self.error(&value))
        }
    }

    fn error(&self, value: &SettingValue) -> SettingError {
        SettingError {
            key: self.key,
            value: value.to_string(),
            expected: self.range.to_string(),
        }
    }
}

impl SettingRange {
    /// Whether a value has the range's type and lies in it.
    pub fn contains(&self, value: &SettingValue) -> bool {
        match (self, value) {
            (Self::Integer { min, max }, SettingValue::Integer(value)) => (min..=max).contains(&value),
            // NaN lies in no range.
            (Self::Real { min, max, .. }, SettingValue::Real(value)) => (min..=max).contains(&value),
            (Self::Switch, SettingValue::Switch(_)) => true,
            (Self::Choice(names), SettingValue::Choice(name)) => names.contains(name),
            (Self::Widths { layers, width }, SettingValue::Widths(widths)) => {
                widths.len() <= *layers && widths.iter().all(|w| (1..=*width).contains(w))
            }
            (Self::Numbers { min, max, most }, SettingValue::Numbers(numbers)) => {
                (2..=*most).contains(&numbers.len()) && numbers.iter().all(|x| (min..=max).contains(&x))
            }
            _ => false,
        }
    }
}

impl std::fmt::Display for SettingRange {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer { min, max } => write!(formatter, "a whole number from {min} to {max}"),
            Self::Real { min, max, .. } => write!(formatter, "a number from {min} to {max}"),
            Self::Switch => formatter.write_str("true or false"),
            Self::Choice(names) => write!(formatter, "one of {}", names.join(", ")),
            Self::Widths { layers, width } => {
                write!(formatter, "at most {layers} layer widths, each from 1 to {width}")
            }
            Self::Numbers { min, max, most } => {
                write!(formatter, "2 to {most} numbers, each from {min} to {max}")
            }
        }
    }
}

impl std::fmt::Display for SettingValue {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(value) => value.fmt(formatter),
            Self::Real(value) => value.fmt(formatter),
            Self::Switch(value) => value.fmt(formatter),
            Self::Choice(name) => formatter.write_str(name),
            Self::Widths(widths) => write!(formatter, "{widths:?}"),
            Self::Numbers(numbers) => write!(formatter, "{numbers:?}"),
        }
    }
}

/// The description of a setting.
pub fn setting(key: &str) -> Option<&'static SettingDescription> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

/// Changes a setting given by key and text, as a command line or a file has them. Lists are separated
/// by commas; switches are `true` or `false`.
///
/// # Errors
/// When there is no such setting, or the text is no value in its range; the settings stay as they were.
pub fn set_text<S: Described>(settings: &mut S, key: &str, text: &str) -> Result<(), SettingTextError> {
    let setting = S::table().iter().find(|setting| setting.key == key);
    let setting = setting.ok_or_else(|| SettingTextError::Unknown(key.to_owned()))?;
    let value = match setting.range {
        SettingRange::Integer { .. } => text.parse().ok().map(SettingValue::Integer),
        SettingRange::Real { .. } => text.parse().ok().map(SettingValue::Real),
        SettingRange::Switch => text.parse().ok().map(SettingValue::Switch),
        SettingRange::Choice(names) => names
            .iter()
            .find(|name| **name == text)
            .map(|name| SettingValue::Choice(name)),
        SettingRange::Widths { .. } => listed(text).map(SettingValue::Widths),
        SettingRange::Numbers { .. } => listed(text).map(SettingValue::Numbers),
    };
    let Some(value) = value else {
        let expected = setting.error(&setting.get(settings)).expected;
        return Err(SettingError {
            key: setting.key,
            value: text.to_owned(),
            expected,
        }
        .into());
    };
    Ok(setting.set(settings, value)?)
}

/// What stands between commas or spaces, all of one type.
pub fn listed<T: std::str::FromStr>(text: &str) -> Option<Vec<T>> {
    text.split([',', ' '])
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().ok())
        .collect()
}

/// Why a setting given as text was not taken.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SettingTextError {
    /// There is no such setting.
    #[error("there is no setting `{0}`; `pointillist synthesize --help` lists them")]
    Unknown(String),
    /// The value is not one it can have.
    #[error(transparent)]
    Value(#[from] SettingError),
}

/// Checks every setting against its range.
///
/// # Errors
/// The first setting that is outside its range.
pub fn check<S: Described>(settings: &S) -> Result<(), SettingError> {
    S::table().iter().try_for_each(|setting| setting.check(settings))
}

impl TrainSettings {
    /// Checks every setting against its range.
    ///
    /// # Errors
    /// The first setting that is outside its range.
    pub fn check(&self) -> Result<(), SettingError> {
        check(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::image::ImageSettings;
    use crate::train::pairs::PairSettings;

    fn described_once_and_in_range<S: Described + serde::Serialize>() {
        let settings = S::default();
        check(&settings).unwrap();
        let fields = serde_json::to_value(&settings).unwrap();
        let mut fields: Vec<_> = fields.as_object().unwrap().keys().cloned().collect();
        let mut keys: Vec<_> = S::table().iter().map(|setting| setting.key.to_owned()).collect();
        fields.sort();
        keys.sort();
        assert_eq!(fields, keys);
    }

    #[test]
    fn every_setting_of_every_kind_is_described_once_and_in_range() {
        described_once_and_in_range::<TrainSettings>();
        described_once_and_in_range::<PairSettings>();
        described_once_and_in_range::<ImageSettings>();
    }

    #[test]
    fn defaults_are_in_range_and_survive_set() {
        let mut settings = TrainSettings::default();
        settings.check().unwrap();
        for setting in &SETTINGS {
            let value = setting.default_value();
            setting.set(&mut settings, value).unwrap();
        }
        assert_eq!(settings, TrainSettings::default());
    }

    #[test]
    fn bad_values_are_named() {
        let clip = setting("clip-norm").unwrap();
        let mut settings = TrainSettings::default();
        for bad in [f64::NAN, -1.0, 0.0, f64::INFINITY] {
            let error = clip.set(&mut settings, SettingValue::Real(bad)).unwrap_err();
            assert!(error.to_string().contains("clip-norm"), "{error}");
        }
        for bad in [
            "1",
            "1,-1",
            "1,nan",
            "0,1",
            "1,2;3",
            "",
            "1,2,3,4,5,6,7,8,9,10,1,2,3,4,5,6,7",
        ] {
            assert!(set_text(&mut settings, "schedule-points", bad).is_err(), "{bad}");
        }
        set_text(&mut settings, "schedule-points", "3, 2,1").unwrap();
        assert_eq!(settings.schedule_points, [3.0, 2.0, 1.0]);
        settings.critic_hidden = vec![0];
        assert_eq!(settings.check().unwrap_err().key, "critic-hidden");
    }
}
