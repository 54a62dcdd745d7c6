//! What holds in every row, declared as public knowledge: enforced in what is generated, never read off the data.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::types::{Column, Kind, Schema};
use crate::message;
use crate::num::Message;

/// Something that holds in every row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rule {
    /// One column is at most another; it says nothing where one of them is missing.
    Order {
        /// The column with the smaller value.
        lower: String,
        /// The one with the larger value.
        upper: String,
    },
    /// One column's value follows from another's.
    Decides {
        /// The column that decides.
        by: String,
        /// The column that is decided.
        column: String,
        /// For each value of the first the value of the second; an empty text is a missing cell. Values that are not
        /// listed decide nothing.
        values: BTreeMap<String, String>,
    },
    /// One column is the sum of others; it says nothing where one of them is missing.
    Sum {
        /// The column with the sum.
        total: String,
        /// The columns that add up to it.
        parts: Vec<String>,
    },
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order { lower, upper } => write!(f, "{lower} <= {upper}"),
            Self::Decides { by, column, .. } => write!(f, "{by} decides {column}"),
            Self::Sum { total, parts } => write!(f, "{total} = {}", parts.join(" + ")),
        }
    }
}

impl Rule {
    /// The columns that it speaks of, the one that it may change first.
    pub fn columns(&self) -> Vec<&str> {
        match self {
            Self::Order { lower, upper } => vec![upper, lower],
            Self::Decides { by, column, .. } => vec![column, by],
            Self::Sum { total, parts } => std::iter::once(total).chain(parts).map(String::as_str).collect(),
        }
    }

    /// What is wrong with it under a schema, and what to do.
    pub(super) fn problem(&self, schema: &Schema) -> Option<Message> {
        let mut columns = Vec::new();
        for name in self.columns() {
            match schema.find(name) {
                Some(column) if schema.uses(column) => columns.push(column),
                _ => {
                    return Some(message!(
                        "schema-rule-column",
                        "the rule `{rule}` names `{column}`, which is not a used column of the schema",
                        rule = self.to_string(),
                        column = name
                    ));
                }
            }
        }
        let mut names = self.columns();
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Some(message!(
                "schema-rule-twice",
                "the rule `{rule}` names a column twice",
                rule = self.to_string()
            ));
        }
        match self {
            Self::Order { .. } if columns[0].kind.is_numeric() && columns[0].kind == columns[1].kind => None,
            Self::Order { .. } => Some(message!(
                "schema-rule-order",
                "the rule `{rule}` needs two numbers, two dates or two times of the same kind",
                rule = self.to_string()
            )),
            Self::Sum { parts, .. } => {
                let whole = columns[0].kind == Kind::Integer;
                let fits = |column: &&Column| match column.kind {
                    Kind::Integer => true,
                    Kind::Continuous => !whole,
                    _ => false,
                };
                (parts.is_empty() || !columns.iter().all(fits)).then(|| {
                    message!(
                        "schema-rule-sum",
                        "the rule `{rule}` needs numbers, and whole ones where the sum is whole",
                        rule = self.to_string()
                    )
                })
            }
            Self::Decides { values, .. } => decided(columns[1], columns[0], values).map(|value| {
                message!(
                    "schema-rule-value",
                    "the rule `{rule}` names the value \"{value}\", which its column never has; both columns must be categorical",
                    rule = self.to_string(),
                    value = value
                )
            }),
        }
    }
}

/// A value that a column cannot have, if there is one.
fn decided<'a>(by: &Column, column: &Column, values: &'a BTreeMap<String, String>) -> Option<&'a str> {
    let has = |column: &Column, value: &str| {
        let listed = column.domain.iter().flatten().any(|known| known == value);
        column.kind == Kind::Categorical && (listed || (value.is_empty() && column.missing))
    };
    values.iter().find_map(|(from, to)| {
        let wrong_key = (!has(by, from)).then_some(from.as_str());
        wrong_key.or_else(|| (!has(column, to)).then_some(to.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::schema::Provenance;

    const RULES: &str = r#"
version = 1
[[rule]]
kind = "order"
lower = "start"
upper = "end"
[[rule]]
kind = "sum"
total = "end"
parts = ["start", "length"]
[[rule]]
kind = "decides"
by = "town"
column = "state"
values = { Paris = "France", Rome = "" }
"#;

    #[test]
    fn rules_read_write_and_say_what_they_are() {
        let read: Schema = toml::from_str(RULES).unwrap();
        let said: Vec<String> = read.rule.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            ["start <= end", "end = start + length", "town decides state"]
        );
        let again: Schema = toml::from_str(&toml::to_string(&read).unwrap()).unwrap();
        assert_eq!(again.rule, read.rule);
    }

    #[test]
    fn rules_that_cannot_hold_are_named() {
        let fine = Schema {
            rule: toml::from_str::<Schema>(RULES).unwrap().rule,
            ..Schema::new(schema_columns())
        };
        assert!(fine.problems().is_empty(), "{:?}", fine.problems());
        let order = |lower: &str, upper: &str| Rule::Order {
            lower: lower.into(),
            upper: upper.into(),
        };
        let sum = |total: &str, parts: &[&str]| Rule::Sum {
            total: total.into(),
            parts: parts.iter().map(|part| (*part).to_owned()).collect(),
        };
        let decides = |from: &str, to: &str| Rule::Decides {
            by: "town".into(),
            column: "state".into(),
            values: BTreeMap::from([(from.to_owned(), to.to_owned())]),
        };
        for (rule, word) in [
            (order("start", "note"), "`note`"),
            (order("start", "gone"), "`gone`"),
            (order("start", "start"), "twice"),
            (order("start", "town"), "same kind"),
            (sum("end", &[]), "numbers"),
            (sum("end", &["town"]), "numbers"),
            (decides("Oslo", "Italy"), "Oslo"),
            (decides("Rome", "Norway"), "Norway"),
        ] {
            let problem = rule.problem(&fine).unwrap().to_string();
            assert!(problem.contains(word), "{problem}");
        }
    }

    fn schema_columns() -> Vec<Column> {
        let number = |name| {
            let column = Column::new(name, Kind::Integer).with_bounds(0, 9);
            column.with_provenance(Provenance::Declared)
        };
        let words = |name, values: [&str; 2]| Column::new(name, Kind::Categorical).with_domain(values);
        vec![
            number("start"),
            number("end"),
            number("length"),
            words("town", ["Paris", "Rome"]),
            words("state", ["France", "Italy"]).with_missing(true),
            Column::new("note", Kind::Text),
        ]
    }
}
