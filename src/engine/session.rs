//! What a person was working on, to be taken up again: which table, its schema, the plan, the page, what is folded and
//! how large panels are.
//! Never rows, and nothing read off rows but what a person has let stand in the schema.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::data::image::ImageOptions;
use crate::data::{ReadOptions, Schema, samples};
use crate::engine::command::{DataSource, Method, PrivacyTarget, RunRequest, SchemaSource};
use crate::engine::event::{Area, Problem};
use crate::engine::settings::{Folded, Sizes};
use crate::engine::snapshot::Dataset;
use crate::message;
use crate::num::Message;
use crate::privacy::Neighboring;
use crate::train::image::ImageSettings;
use crate::train::pairs::PairSettings;
use crate::train::{RunSettings, TrainSettings};

/// The version of the file that this program writes, and the newest that it reads.
const VERSION: u32 = 1;
/// Of so many files the work is kept.
const MOST_FILES: usize = 50;
/// How the name of a session's file ends.
const ENDING: &str = ".session.toml";

/// Work to be taken up again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// The version of this file.
    pub version: u32,
    /// The page in view, by the key of its name.
    #[serde(default)]
    pub page: String,
    /// What is folded.
    #[serde(default)]
    pub folded: Folded,
    /// How large panels are.
    #[serde(default)]
    pub sizes: Sizes,
    /// The table.
    pub data: SessionData,
    /// The plan.
    #[serde(default)]
    pub plan: SessionPlan,
}

/// A table and its schema, without rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionData {
    /// The name as shown.
    pub name: String,
    /// The file; none for the tables that ship with the program.
    #[serde(default)]
    pub path: Option<PathBuf>,
    /// How images are read; none for a table.
    #[serde(default)]
    pub images: Option<ImageOptions>,
    /// The schema under review, as its own file would hold it.
    pub schema: String,
}

/// The plan's form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionPlan {
    /// The method.
    pub method: Method,
    /// ε of the promise, where the method makes one.
    pub epsilon: f64,
    /// δ of the promise.
    pub delta: f64,
    /// The relation of the promise.
    pub relation: Neighboring,
    /// A fixed seed.
    pub seed: Option<u64>,
    /// Settings for a table; none for the recommended ones.
    pub settings: Option<TrainSettings>,
    /// Settings for a table by one release; none for the recommended ones, and in sessions that are older than they are.
    pub pair_settings: Option<PairSettings>,
    /// Settings for images; none for the recommended ones.
    pub image_settings: Option<ImageSettings>,
}

impl Default for SessionPlan {
    fn default() -> Self {
        Self::of(&RunRequest::default())
    }
}

impl SessionPlan {
    fn of(request: &RunRequest) -> Self {
        let target = request.target.unwrap_or_default();
        Self {
            method: request.method,
            epsilon: target.epsilon,
            delta: target.delta,
            relation: target.neighboring,
            seed: request.seed,
            settings: request.settings.as_ref().and_then(RunSettings::table).cloned(),
            pair_settings: request.settings.as_ref().and_then(RunSettings::pairs).cloned(),
            image_settings: request.settings.as_ref().and_then(RunSettings::images).cloned(),
        }
    }

    /// The run that the form asked for.
    pub fn request(&self) -> RunRequest {
        let target = PrivacyTarget {
            epsilon: self.epsilon,
            delta: self.delta,
            neighboring: self.relation,
        };
        RunRequest {
            method: self.method,
            target: self.method.is_private().then_some(target),
            settings: (self.settings.clone().map(RunSettings::Table))
                .or_else(|| self.pair_settings.clone().map(RunSettings::Pairs))
                .or_else(|| self.image_settings.clone().map(RunSettings::Images)),
            seed: self.seed,
            ..RunRequest::default()
        }
    }
}

impl Session {
    /// The work on a table; `None` where its schema cannot be written.
    pub fn of(
        dataset: &Dataset,
        request: &RunRequest,
        page: &str,
        (folded, sizes): (Folded, Sizes),
    ) -> Option<Self> {
        Some(Self {
            version: VERSION,
            page: page.to_owned(),
            folded,
            sizes,
            data: SessionData::of(dataset)?,
            plan: SessionPlan::of(request),
        })
    }

    /// Where the program keeps the last session.
    pub fn file(home: &Path) -> PathBuf {
        home.join("sessions").join(format!("last{ENDING}"))
    }

    /// Where the program keeps the work on a file.
    fn file_of(home: &Path, data: &Path) -> PathBuf {
        let whole = std::path::absolute(data).unwrap_or_else(|_| data.to_owned());
        let name = blake3::hash(whole.as_os_str().as_encoded_bytes()).to_hex();
        home.join("sessions")
            .join("files")
            .join(format!("{}{ENDING}", &name[..32]))
    }

    /// The work on a file that was kept in `home`; none if a schema that lies beside the file was written since.
    pub(super) fn on(home: &Path, data: &Path) -> Option<Self> {
        let file = Self::file_of(home, data);
        let written = |path: &Path| std::fs::metadata(path).and_then(|meta| meta.modified()).ok();
        let kept = written(&file)?;
        let beside = Schema::find_beside(data).and_then(|schema| written(&schema));
        if beside.is_some_and(|beside| beside > kept) {
            return None;
        }
        Self::load(&file).ok()
    }

    /// Whether a file's name says that it is a session.
    pub fn is_session(path: &Path) -> bool {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
        name.is_some_and(|name| name.ends_with(ENDING))
    }

    /// A name for the session's file.
    pub fn file_name(&self) -> String {
        let stem = self
            .data
            .name
            .rsplit_once('.')
            .map_or(self.data.name.as_str(), |parts| parts.0);
        format!("{stem}{ENDING}")
    }

    /// The file's text; `None` for numbers that TOML cannot hold.
    pub fn to_toml(&self) -> Option<String> {
        toml::to_string(self).ok()
    }

    /// Reads a session.
    ///
    /// # Errors
    /// When the file cannot be read, is no session, or is of a newer program.
    pub fn load(path: &Path) -> Result<Self, Problem> {
        let told = |message: Message, cause: String| Problem {
            area: Area::Load,
            message,
            causes: vec![Message::plain(cause)],
        };
        let text = std::fs::read_to_string(path).map_err(|error| {
            let message = message!(
                "session-unreadable",
                "{path}: the session cannot be read; check the path",
                path = path.display().to_string()
            );
            told(message, error.to_string())
        })?;
        let malformed = |cause: String| {
            let message = message!(
                "session-malformed",
                "{path}: not a session that this program can take up; open the table itself instead",
                path = path.display().to_string()
            );
            told(message, cause)
        };
        let session: Self = toml::from_str(&text).map_err(|error| malformed(error.to_string()))?;
        if session.version > VERSION {
            return Err(malformed(format!("version {} > {VERSION}", session.version)));
        }
        session.schema()?;
        session.source()?;
        Ok(session)
    }

    /// The session kept in `home`, if there is one that can be taken up.
    pub fn last(home: &Path) -> Option<Self> {
        Self::load(&Self::file(home)).ok()
    }

    /// Keeps the session in `home`, as the last one and as that of its file; each whole or not at all.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub(super) fn keep(&self, home: &Path) -> std::io::Result<()> {
        let text = toml::to_string(self).map_err(std::io::Error::other)?;
        write(&Self::file(home), &text)?;
        if let Some(data) = &self.data.path {
            let file = Self::file_of(home, data);
            let is_new = !file.exists();
            write(&file, &text)?;
            if is_new && let Some(folder) = file.parent() {
                forget_oldest(folder)?;
            }
        }
        Ok(())
    }

    /// The schema under review.
    ///
    /// # Errors
    /// When the text is no schema.
    pub fn schema(&self) -> Result<Schema, Problem> {
        self.data.schema()
    }

    /// Where the table is read from.
    ///
    /// # Errors
    /// When it is one of the program's own tables and the program has none of that name.
    pub fn source(&self) -> Result<DataSource, Problem> {
        self.data.source()
    }
}

/// Writes a file whole or not at all.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    std::io::Write::write_all(&mut file, text.as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Keeps the files whose work is the latest.
fn forget_oldest(folder: &Path) -> std::io::Result<()> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if Session::is_session(&entry.path()) {
            files.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    files.sort_unstable();
    let surplus = files.len().saturating_sub(MOST_FILES);
    files[..surplus]
        .iter()
        .try_for_each(|(_, path)| std::fs::remove_file(path))
}

impl SessionData {
    /// Where a table comes from, and its schema; `None` where the schema cannot be written.
    pub(super) fn of(dataset: &Dataset) -> Option<Self> {
        Some(Self {
            name: dataset.name.clone(),
            path: dataset.path.clone(),
            images: dataset.images.is_some().then(|| dataset.image_options.clone()),
            schema: dataset.schema.to_toml().ok()?,
        })
    }

    /// The schema under review.
    ///
    /// # Errors
    /// When the text is no schema.
    pub fn schema(&self) -> Result<Schema, Problem> {
        Schema::from_toml(&self.schema).map_err(|error| Problem::new(Area::Schema, &error))
    }

    /// Where the table is read from.
    ///
    /// # Errors
    /// When it is one of the program's own tables and the program has none of that name.
    pub fn source(&self) -> Result<DataSource, Problem> {
        if let Some(path) = &self.path {
            // The schema that is taken up says how its table is read.
            let form = self.schema()?.read.unwrap_or_default();
            return Ok(DataSource::File {
                path: path.clone(),
                options: ReadOptions {
                    form,
                    ..ReadOptions::default()
                },
                images: self.images.clone().unwrap_or_default(),
                schema: SchemaSource::Beside,
            });
        }
        let id = self.name.trim_end_matches(".parquet");
        match samples::find(id) {
            Some(sample) => Ok(DataSource::Sample(sample.id)),
            None => Err(Problem::plain(
                Area::Load,
                message!("say-no-sample", "no sample table is called `{name}`", name = id),
            )),
        }
    }
}

#[cfg(test)]
mod tests;
