//! What the program remembers of a person's choices between sessions.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::train::DeviceKind;

/// How many recent files are kept.
const RECENT_FILES: usize = 8;

/// The language of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Language {
    /// English.
    #[default]
    #[serde(rename = "en")]
    English,
    /// 简体中文.
    #[serde(rename = "zh-CN")]
    Chinese,
}

/// Light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// Warm and light.
    #[default]
    Light,
    /// Dark.
    Dark,
}

/// Choices that outlive a session. Holds no rows and nothing read off rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The language of the window.
    pub language: Language,
    /// Light or dark.
    pub theme: Theme,
    /// Scale of the window's text and controls, 1.0 to 3.0.
    pub zoom: f32,
    /// Where tensors live.
    pub device: DeviceKind,
    /// Files opened, the latest first.
    pub recent: Vec<PathBuf>,
    /// Which panels are folded.
    pub folded: Folded,
    /// How large panels are.
    pub sizes: Sizes,
}

/// Which panels of the window are folded away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Folded {
    /// The rail shows its dots only.
    pub rail: bool,
    /// The plan's form is put away.
    pub plan: bool,
    /// The table's rows are put away.
    pub rows: bool,
}

/// How large the panels are that can be dragged, in points; none for one that has its usual size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sizes {
    /// The width of the plan's form.
    pub plan: Option<f32>,
    /// The width of the form of what is explored.
    pub question: Option<f32>,
    /// The height of the table's rows.
    pub rows: Option<f32>,
    /// The height of the log.
    pub log: Option<f32>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            language: Language::default(),
            theme: Theme::default(),
            zoom: 1.0,
            device: DeviceKind::Flex,
            recent: Vec::new(),
            folded: Folded::default(),
            sizes: Sizes::default(),
        }
    }
}

/// Why settings could not be read or kept.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The folder or file cannot be used.
    #[error("{path}: cannot keep settings here; check that the folder exists and can be written")]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// The file is not what it should be.
    #[error("{path}: not a settings file; the defaults are used and the file is left as it is")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: toml::de::Error,
    },
}

impl Settings {
    /// The file inside the program's folder.
    pub fn file(home: &Path) -> PathBuf {
        home.join("settings.toml")
    }

    /// Reads the settings kept in `home`; the defaults if there are none yet.
    ///
    /// # Errors
    /// When the file is there but cannot be read or understood.
    pub fn load(home: &Path) -> Result<Self, SettingsError> {
        let path = Self::file(home);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(source) => return Err(SettingsError::Io { path, source }),
        };
        let mut settings: Self =
            toml::from_str(&text).map_err(|source| SettingsError::Malformed { path, source })?;
        settings.zoom = if settings.zoom.is_finite() {
            settings.zoom.clamp(1.0, 3.0)
        } else {
            1.0
        };
        Ok(settings)
    }

    /// Writes the settings to `home`, whole or not at all.
    ///
    /// # Errors
    /// When the folder or the file cannot be written.
    pub fn save(&self, home: &Path) -> Result<(), SettingsError> {
        let path = Self::file(home);
        let fail = |source| SettingsError::Io {
            path: path.clone(),
            source,
        };
        std::fs::create_dir_all(home).map_err(fail)?;
        let text = toml::to_string(self).map_err(|error| fail(std::io::Error::other(error)))?;
        let mut file = tempfile::NamedTempFile::new_in(home).map_err(fail)?;
        std::io::Write::write_all(&mut file, text.as_bytes()).map_err(fail)?;
        file.persist(&path).map_err(|error| fail(error.error))?;
        Ok(())
    }

    /// Puts a file at the head of the recent ones.
    pub fn remember(&mut self, path: &Path) {
        self.recent.retain(|known| known != path);
        self.recent.insert(0, path.to_path_buf());
        self.recent.truncate(RECENT_FILES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_survive_a_round_trip_and_keep_recent_files_unique() {
        let home = tempfile::tempdir().unwrap();
        let mut settings = Settings {
            language: Language::Chinese,
            zoom: 1.5,
            ..Settings::default()
        };
        for name in ["a.csv", "b.csv", "a.csv"] {
            settings.remember(Path::new(name));
        }
        assert_eq!(settings.recent, [PathBuf::from("a.csv"), PathBuf::from("b.csv")]);
        settings.save(home.path()).unwrap();
        assert_eq!(Settings::load(home.path()).unwrap(), settings);
    }

    #[test]
    fn a_damaged_file_is_told_and_left_alone() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(Settings::file(home.path()), "zoom = [").unwrap();
        let error = Settings::load(home.path()).unwrap_err();
        assert!(error.to_string().contains("settings.toml"), "{error}");
        assert!(Settings::file(home.path()).exists());
    }
}
