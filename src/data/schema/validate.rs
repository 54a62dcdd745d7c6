//! What a schema must satisfy by itself, before any data is seen.

mod column;

use std::collections::HashSet;
use std::fmt;

use super::types::{Kind, SCHEMA_VERSION, Schema};
use crate::data::DataError;
use crate::data::read::FileForm;
use crate::message;
use crate::num::Message;

/// The most values that a domain may list: codes are 16 bits wide.
pub const MAX_DOMAIN: usize = 65_000;

/// One contradiction in a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The column's index, when it is about one.
    pub index: Option<usize>,
    /// The column's name.
    pub column: Option<String>,
    /// The key of the TOML file at fault.
    pub key: Option<&'static str>,
    /// What is wrong and what to do.
    pub message: Message,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.in_words().fmt(f)
    }
}

impl Problem {
    /// The problem with the column it is about.
    pub fn in_words(&self) -> Message {
        match &self.column {
            Some(column) => {
                message!(
                    "in-column",
                    "column `{column}`: {message}",
                    column = column,
                    message = self.message
                )
            }
            None => self.message.clone(),
        }
    }
}

impl Schema {
    /// Whether the schema makes sense by itself. Open columns are no contradiction.
    ///
    /// # Errors
    /// The first of [`Schema::problems`].
    pub fn validate(&self) -> Result<(), DataError> {
        match self.problems().into_iter().next() {
            None => Ok(()),
            Some(problem) => Err(DataError::Schema {
                place: message!("place-schema", "schema"),
                message: problem.in_words(),
            }),
        }
    }

    /// All contradictions, for a form that marks each field.
    pub fn problems(&self) -> Vec<Problem> {
        let mut found = Vec::new();
        let mut say = |key, message: Message| {
            found.push(Problem {
                index: None,
                column: None,
                key: Some(key),
                message,
            });
        };
        if self.version != SCHEMA_VERSION {
            say(
                "version",
                message!(
                    "schema-version",
                    "this program reads schemas of version {known}, not {found}; update it, or profile the data again",
                    known = SCHEMA_VERSION,
                    found = self.version
                ),
            );
        }
        if let Some(label) = &self.label {
            match self.find(label) {
                None => say(
                    "label",
                    message!(
                        "schema-label-unknown",
                        "the label `{label}` is not a column; name one of the columns",
                        label = label
                    ),
                ),
                Some(column) if matches!(column.kind, Kind::Categorical | Kind::Boolean | Kind::Integer) => {}
                Some(column) => say(
                    "label",
                    message!(
                        "schema-label-kind",
                        "the label `{label}` is {kind}; a label must be categorical, boolean or integer",
                        label = label,
                        kind = column.kind
                    ),
                ),
            }
        }
        self.unit_problems()
            .into_iter()
            .for_each(|message| say("unit", message));
        if self.rows.is_some_and(|rows| rows.value == 0) {
            say(
                "rows",
                message!("schema-no-rows", "the number of rows must be at least 1"),
            );
        }
        self.rule
            .iter()
            .filter_map(|rule| rule.problem(self))
            .for_each(|message| say("rule", message));
        for (key, message) in self.read.iter().flat_map(FileForm::problems) {
            found.push(Problem {
                index: None,
                column: None,
                key: Some(key),
                message,
            });
        }
        let mut names = HashSet::new();
        for (index, column) in self.column.iter().enumerate() {
            let mut problems = column.problems(&self.missing);
            if !names.insert(column.name.as_str()) {
                problems.push((
                    "name",
                    message!(
                        "schema-name-twice",
                        "this name is used by two columns; each needs its own"
                    ),
                ));
            }
            found.extend(problems.into_iter().map(|(key, message)| Problem {
                index: Some(index),
                column: Some(column.name.clone()),
                key: Some(key),
                message,
            }));
        }
        found
    }

    /// What is wrong with the unit of privacy.
    fn unit_problems(&self) -> Vec<Message> {
        let mut found = Vec::new();
        let Some(unit) = &self.unit else { return found };
        if self.find(&unit.column).is_none() {
            found.push(message!(
                "schema-unit-unknown",
                "the unit's column `{column}` is not a column of the schema",
                column = unit.column
            ));
        }
        if unit.max_rows == 0 {
            found.push(message!(
                "schema-max-rows",
                "the unit's max_rows must be at least 1"
            ));
        }
        if unit.persons.is_some_and(|persons| persons.value == 0) {
            found.push(message!(
                "schema-no-persons",
                "the number of persons must be at least 1"
            ));
        }
        found
    }
}

#[cfg(test)]
mod tests;
