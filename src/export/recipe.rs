//! The recipe of a run: all that is needed to do it again, as a TOML file beside its output.
//!
//! Holds choices and public knowledge (the schema), nothing read off private rows.

use std::path::Path;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ExportError;
use super::atomic::write_atomically;
use crate::num::files::read_whole;
use crate::privacy::Neighboring;

/// A recipe has some thousand bytes, and as many again for each long domain of its schema.
const MOST_BYTES: u64 = 64 << 20;

/// The version of the recipe file that this program writes.
pub const RECIPE_VERSION: u64 = 1;

/// A run, ready to be done again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The file format's version, [`RECIPE_VERSION`].
    pub version: u64,
    /// The version of the program that wrote it.
    pub program: String,
    /// The method, as the command line names it.
    pub method: String,
    /// ε asked for; absent for methods without a promise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,
    /// δ asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<f64>,
    /// The neighbouring relation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation: Option<Neighboring>,
    /// The fixed seed, if there was one. It marks all output "not private".
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "seed_to_toml",
        deserialize_with = "seed_from_toml"
    )]
    pub seed: Option<u64>,
    /// Where the tensors were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// How many rows were drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// The method's settings.
    #[serde(default)]
    pub settings: toml::Table,
    /// The schema.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    pub schema: toml::Table,
}

impl Recipe {
    /// A recipe of this program's version, with nothing but a method in it.
    pub fn new(method: &str) -> Self {
        Self {
            version: RECIPE_VERSION,
            program: env!("CARGO_PKG_VERSION").into(),
            method: method.into(),
            epsilon: None,
            delta: None,
            relation: None,
            seed: None,
            device: None,
            rows: None,
            settings: toml::Table::new(),
            schema: toml::Table::new(),
        }
    }

    /// Takes in the method's settings.
    ///
    /// # Errors
    /// When a value cannot be written as TOML.
    pub fn with_settings(mut self, settings: &impl Serialize) -> Result<Self, toml::ser::Error> {
        self.settings = toml::Table::try_from(settings)?;
        Ok(self)
    }

    /// Takes in the schema.
    ///
    /// # Errors
    /// When a value cannot be written as TOML.
    pub fn with_schema(mut self, schema: &impl Serialize) -> Result<Self, toml::ser::Error> {
        self.schema = toml::Table::try_from(schema)?;
        Ok(self)
    }

    /// The settings as the method knows them.
    ///
    /// # Errors
    /// Names the setting that the method does not know or cannot take.
    pub fn settings<T: DeserializeOwned>(&self) -> Result<T, toml::de::Error> {
        self.settings.clone().try_into()
    }

    /// The schema; `None` if the recipe, which was read from this file, holds none.
    ///
    /// # Errors
    /// Names the file and what is wrong in it.
    pub fn schema<T: DeserializeOwned>(&self, path: &Path) -> Result<Option<T>, ExportError> {
        if self.schema.is_empty() {
            return Ok(None);
        }
        let read = self.schema.clone().try_into().map(Some);
        read.map_err(|error: toml::de::Error| ExportError::NotARecipe {
            path: path.into(),
            // The key stands on a line of its own behind what was expected.
            reason: format!("[schema]: {}", error.to_string().trim_end().replace('\n', " ")),
        })
    }

    /// Reads a recipe file.
    ///
    /// # Errors
    /// When it cannot be read, is not a recipe, or is of a later version: names file, line and remedy.
    pub fn load(path: &Path) -> Result<Self, ExportError> {
        let not = |reason: String| ExportError::NotARecipe {
            path: path.into(),
            reason,
        };
        let bytes = read_whole(path, MOST_BYTES).map_err(|source| ExportError::Read {
            path: path.into(),
            source,
        })?;
        let text = String::from_utf8(bytes).map_err(|_| not("it is not UTF-8 text".into()))?;
        let table: toml::Table = toml::from_str(&text).map_err(|error| not(error.to_string()))?;
        if let Some(version) = table.get("version").and_then(toml::Value::as_integer)
            && let Ok(found) = u64::try_from(version)
            && found > RECIPE_VERSION
        {
            return Err(ExportError::Newer {
                path: path.into(),
                found,
                known: RECIPE_VERSION,
            });
        }
        toml::from_str(&text).map_err(|error| not(error.to_string()))
    }

    /// The file's text.
    ///
    /// # Errors
    /// When a value cannot be written as TOML.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string_pretty(self)
    }

    /// Writes the recipe file, whole or not at all.
    ///
    /// # Errors
    /// When a value cannot be written as TOML, or the file cannot be written.
    pub fn save(&self, path: &Path, overwrite: bool) -> Result<(), ExportError> {
        let text = self.to_toml().map_err(|error| ExportError::Unwritable {
            path: path.into(),
            reason: error.to_string(),
        })?;
        write_atomically(path, text.as_bytes(), overwrite)
    }
}

/// TOML's whole numbers end at 2⁶³ − 1; larger seeds are written in quotes.
#[expect(clippy::ref_option, reason = "serde hands over a reference to the field")]
fn seed_to_toml<S: Serializer>(seed: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    match seed {
        None => serializer.serialize_none(),
        Some(seed) => match i64::try_from(*seed) {
            Ok(seed) => serializer.serialize_i64(seed),
            Err(_) => serializer.serialize_str(&seed.to_string()),
        },
    }
}

fn seed_from_toml<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Seed {
        Number(u64),
        Text(String),
    }
    match Seed::deserialize(deserializer)? {
        Seed::Number(seed) => Ok(Some(seed)),
        Seed::Text(text) => text.parse().map(Some).map_err(|_| {
            D::Error::custom(format!(
                "`{text}` is not a seed: a whole number from 0 to 2^64 - 1"
            ))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
    struct Settings {
        steps: u64,
        learning_rate: f64,
        widths: Vec<usize>,
    }

    impl Default for Settings {
        fn default() -> Self {
            Self {
                steps: 100,
                learning_rate: 2e-4,
                widths: vec![256, 256],
            }
        }
    }

    fn recipe() -> Recipe {
        let settings = Settings {
            steps: 700,
            learning_rate: 0.1 + 0.2,
            widths: vec![64],
        };
        Recipe {
            epsilon: Some(1.0 / 3.0),
            delta: Some(1e-5),
            relation: Some(Neighboring::ReplaceOne),
            seed: Some(u64::MAX),
            ..Recipe::new("dpgan").with_settings(&settings).unwrap()
        }
    }

    #[test]
    fn a_recipe_comes_back_to_the_last_digit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv.recipe.toml");
        recipe().save(&path, false).unwrap();
        let read = Recipe::load(&path).unwrap();
        assert_eq!(read, recipe());
        assert_eq!(read.epsilon.unwrap().to_bits(), (1.0_f64 / 3.0).to_bits());
        let settings: Settings = read.settings().unwrap();
        assert_eq!(settings.learning_rate.to_bits(), (0.1_f64 + 0.2).to_bits());
        assert_eq!(read.schema::<Settings>(&path).unwrap(), None);
        assert!(matches!(
            recipe().save(&path, false),
            Err(ExportError::Exists { .. })
        ));
    }

    #[test]
    fn what_is_no_recipe_is_told_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recipe.toml");
        let load = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Recipe::load(&path).unwrap_err().to_string()
        };
        assert!(load("version = 1\nmethod = ").contains("line 2"));
        assert!(load("version = 1").contains("program"));
        assert!(load("version = 9").contains("update the program"));
        assert!(load("version = 1\nprogram = '1'\nmethod = 'x'\nsede = 3").contains("sede"));
        assert!(load("version = 1\nprogram = '1'\nmethod = 'x'\nseed = 'seven'").contains("seven"));
        assert!(
            Recipe::load(&folder.path().join("none"))
                .unwrap_err()
                .to_string()
                .contains("could not be read")
        );
        let other = recipe().with_schema(&Settings::default()).unwrap();
        let wrong = other.schema::<Vec<String>>(&path).unwrap_err().to_string();
        assert!(
            wrong.contains("recipe.toml") && wrong.contains("[schema]"),
            "{wrong}"
        );
        let unknown = Recipe {
            settings: "stpes = 3".parse().unwrap(),
            ..recipe()
        };
        assert!(
            unknown
                .settings::<Settings>()
                .unwrap_err()
                .to_string()
                .contains("stpes")
        );
    }
}
