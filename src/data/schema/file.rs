//! The schema as a TOML file: reading it with errors that name the line, and writing it whole or not at all.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::types::Schema;
use super::validate::Problem;
use crate::data::DataError;
use crate::message;
use crate::num::Message;
use crate::num::files::read_whole;

/// A schema has some hundred bytes a column, and the texts of its domains.
const MOST_BYTES: u64 = 64 << 20;

impl Schema {
    /// Reads and validates a schema file.
    ///
    /// # Errors
    /// When the file cannot be read, is not valid TOML, has an unknown key, or contradicts itself: the message
    /// names the file, the line, the column and the remedy.
    pub fn load(path: &Path) -> Result<Self, DataError> {
        let bytes = read_whole(path, MOST_BYTES).map_err(|source| {
            if source.kind() == std::io::ErrorKind::NotFound {
                DataError::NotFound {
                    path: path.to_owned(),
                }
            } else {
                DataError::Io {
                    path: path.to_owned(),
                    action: "read the schema",
                    source,
                }
            }
        })?;
        let text = String::from_utf8(bytes).map_err(|_| DataError::NotUtf8 {
            path: path.to_owned(),
            place: message!("place-the-schema", "the schema"),
        })?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Reads and validates a schema from TOML text.
    ///
    /// # Errors
    /// As [`Schema::load`], without a file name.
    pub fn from_toml(text: &str) -> Result<Self, DataError> {
        Self::parse(text, "schema")
    }

    fn parse(text: &str, source: &str) -> Result<Self, DataError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let schema: Self = toml::from_str(text).map_err(|error| DataError::Schema {
            place: place(source, error.span().map(|span| line_at(text, span.start))),
            message: Message::plain(error.message().trim_end()),
        })?;
        match schema.problems().into_iter().next() {
            None => Ok(schema),
            Some(problem) => Err(DataError::Schema {
                place: place(source, problem_line(text, &problem)),
                message: problem.in_words(),
            }),
        }
    }

    /// The schema as TOML text.
    ///
    /// # Errors
    /// Only when a value has no TOML form (a number that is not finite).
    pub fn to_toml(&self) -> Result<String, DataError> {
        toml::to_string(self).map_err(|error| DataError::Schema {
            place: message!("place-schema", "schema"),
            message: Message::plain(error.to_string()),
        })
    }

    /// Writes the schema to a temporary file, syncs it and renames it to `path`; an older file is replaced.
    ///
    /// # Errors
    /// When the folder cannot be written; nothing is left behind then.
    pub fn save(&self, path: &Path) -> Result<(), DataError> {
        let text = self.to_toml()?;
        let io = |source| DataError::Io {
            path: path.to_owned(),
            action: "write the schema",
            source,
        };
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut file = tempfile::Builder::new()
            .prefix(".schema-")
            .tempfile_in(folder)
            .map_err(io)?;
        file.write_all(text.as_bytes()).map_err(io)?;
        file.as_file().sync_all().map_err(io)?;
        file.persist(path).map_err(|error| io(error.error))?;
        Ok(())
    }

    /// Where the schema of a data file is kept: `NAME.schema.toml` beside `NAME.csv`.
    pub fn path_beside(data: &Path) -> PathBuf {
        let mut name = data.file_stem().unwrap_or_default().to_os_string();
        name.push(".schema.toml");
        data.with_file_name(name)
    }

    /// The schema file beside a data file, if there is one: `NAME.schema.toml`, or `NAME.csv.schema.toml`.
    pub fn find_beside(data: &Path) -> Option<PathBuf> {
        let mut long = data.file_name().unwrap_or_default().to_os_string();
        long.push(".schema.toml");
        [Self::path_beside(data), data.with_file_name(long)]
            .into_iter()
            .find(|path| path.is_file())
    }
}

/// The line, from 1, of a byte offset.
fn place(source: &str, line: Option<usize>) -> Message {
    match line {
        Some(line) => message!(
            "place-line",
            "{source}, line {line}",
            source = source,
            line = line
        ),
        None => Message::plain(source),
    }
}

fn line_at(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or(text);
    before.matches('\n').count() + 1
}

/// The line of a problem's key inside its `[[column]]` table, or of the table's header.
fn problem_line(text: &str, problem: &Problem) -> Option<usize> {
    let mut header = None;
    let mut tables = 0;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        if line.starts_with('[') {
            if header.is_some() {
                break;
            }
            if line.replace(' ', "").starts_with("[[column]]") {
                if Some(tables) == problem.index {
                    header = Some(index + 1);
                }
                tables += 1;
            }
        }
        let is_inside = header.is_some() || problem.index.is_none();
        let key = line.split(['=', ' ', '\t', '.']).next();
        if is_inside && key.is_some() && key == problem.key {
            return Some(index + 1);
        }
    }
    header
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::schema::{Bound, Column, Kind, Provenance, RowCount, Scale, Unit};

    const EXAMPLE: &str = r#"
version = 1
missing = ["", "NA"]
rows = { value = 32561, provenance = "declared" }
unit = { column = "patient_id", max_rows = 3, persons = { value = 700, provenance = "declared" } }
public = true
label = "workclass"

[[column]]
name = "age"
kind = "integer"
lower = 17
upper = 90
missing = false
provenance = "declared"

[[column]]
name = "workclass"
kind = "categorical"
domain = ["Private", "State-gov"]
missing = true
provenance = "declared"

[[column]]
name = "patient_id"
kind = "identifier"

[[column]]
name = "born"
kind = "date"
lower = "1900-01-01"
upper = "2024-12-31"
provenance = "accepted"
"#;

    #[test]
    fn the_file_of_the_manual_reads_and_survives_a_round_trip() {
        let schema = Schema::from_toml(EXAMPLE).unwrap();
        assert_eq!(
            schema.rows,
            Some(RowCount {
                value: 32561,
                provenance: Provenance::Declared
            })
        );
        assert_eq!(
            schema.unit,
            Some(Unit {
                column: "patient_id".to_owned(),
                max_rows: 3,
                persons: Some(RowCount {
                    value: 700,
                    provenance: Provenance::Declared
                }),
            })
        );
        assert_eq!(schema.column[0].lower, Some(Bound::Integer(17)));
        assert_eq!(schema.column[3].upper, Some(Bound::Text("2024-12-31".to_owned())));
        assert!(schema.open_columns().is_empty());
        assert_eq!(schema.unprotected_columns().count(), 1);
        let text = schema.to_toml().unwrap();
        assert!(text.contains("lower = 17\n"), "{text}");
        assert_eq!(Schema::from_toml(&text).unwrap(), schema);
    }

    #[test]
    fn mistakes_name_their_line() {
        for (wrong, right, line, word) in [
            ("lowr = 17", "lower = 17", "line 12", "lowr"),
            ("lower = 91", "lower = 17", "line 12", "above its upper"),
            ("lower = 2019-01-01", "lower = 17", "line 12", "quotes"),
            ("kind = \"number\"", "kind = \"integer\"", "line 11", "number"),
            (
                "domain = [\"Private\", \"Private\"]",
                "domain = [\"Private\", \"State-gov\"]",
                "line 20",
                "twice",
            ),
            ("version = 2", "version = 1", "line 2", "version"),
            (
                "upper = \"2024-13-31\"",
                "upper = \"2024-12-31\"",
                "line 32",
                "2024-13-31",
            ),
        ] {
            let text = EXAMPLE.replacen(right, wrong, 1);
            assert_ne!(text, EXAMPLE);
            let error = Schema::from_toml(&text).unwrap_err().to_string();
            assert!(error.contains(&format!("{line}:")), "{wrong}: {error}");
            assert!(error.contains(word), "{wrong}: {error}");
        }
    }

    #[test]
    fn saving_replaces_the_file_and_leaves_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.schema.toml");
        let mut schema = Schema::new(vec![
            Column::new("x\"y", Kind::Continuous)
                .with_bounds(0.0, 1e9)
                .with_scale(Scale::Log)
                .with_provenance(Provenance::Suggested),
        ]);
        schema.save(&path).unwrap();
        assert_eq!(Schema::load(&path).unwrap(), schema);
        schema.column[0].accept_suggestion();
        schema.save(&path).unwrap();
        assert_eq!(Schema::load(&path).unwrap(), schema);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(schema.save(&folder.path().join("no/such/folder.toml")).is_err());
    }

    #[test]
    fn a_schema_is_found_beside_its_data() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("t.csv");
        assert_eq!(Schema::find_beside(&data), None);
        let long = folder.path().join("t.csv.schema.toml");
        std::fs::write(&long, "").unwrap();
        assert_eq!(Schema::find_beside(&data), Some(long));
        std::fs::write(Schema::path_beside(&data), "").unwrap();
        assert_eq!(
            Schema::find_beside(&data),
            Some(folder.path().join("t.schema.toml"))
        );
    }
}
