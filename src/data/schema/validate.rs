//! What a schema must satisfy by itself, before any data is seen.

use std::collections::HashSet;
use std::fmt;

use super::bound::Bound;
use super::types::{Column, Kind, SCHEMA_VERSION, Scale, Schema};
use crate::data::DataError;
use crate::data::value::{TemporalFormat, parse_iso};

/// The most values that a domain may list: codes are 16 bits wide.
pub const MAX_DOMAIN: usize = 65_000;
/// Integers of this size and more are not exact in a double.
const EXACT: f64 = 9_007_199_254_740_992.0;

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
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.column {
            Some(column) => write!(f, "column `{column}`: {}", self.message),
            None => f.write_str(&self.message),
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
                place: "schema".to_owned(),
                message: problem.to_string(),
            }),
        }
    }

    /// All contradictions, for a form that marks each field.
    pub fn problems(&self) -> Vec<Problem> {
        let mut found = Vec::new();
        let mut say = |key, message: String| {
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
                format!(
                    "this program reads schemas of version {SCHEMA_VERSION}, not {}; update it, or profile the data again",
                    self.version
                ),
            );
        }
        if let Some(label) = &self.label {
            match self.find(label) {
                None => say(
                    "label",
                    format!("the label `{label}` is not a column; name one of the columns"),
                ),
                Some(column) if matches!(column.kind, Kind::Categorical | Kind::Boolean | Kind::Integer) => {}
                Some(column) => say(
                    "label",
                    format!(
                        "the label `{label}` is {}; a label must be categorical, boolean or integer",
                        column.kind
                    ),
                ),
            }
        }
        if let Some(unit) = &self.unit {
            if self.find(&unit.column).is_none() {
                say(
                    "unit",
                    format!(
                        "the unit's column `{}` is not a column of the schema",
                        unit.column
                    ),
                );
            }
            if unit.max_rows == 0 {
                say("unit", "the unit's max_rows must be at least 1".to_owned());
            }
        }
        if self.rows.is_some_and(|rows| rows.value == 0) {
            say("rows", "the number of rows must be at least 1".to_owned());
        }
        let mut names = HashSet::new();
        for (index, column) in self.column.iter().enumerate() {
            let mut problems = column.problems(&self.missing);
            if !names.insert(column.name.as_str()) {
                problems.push((
                    "name",
                    "this name is used by two columns; each needs its own".to_owned(),
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
}

type Found = Vec<(&'static str, String)>;

impl Column {
    /// All contradictions within one column, each with the key at fault.
    pub fn problems(&self, missing: &[String]) -> Vec<(&'static str, String)> {
        let mut found = Found::new();
        if self.name.is_empty() {
            found.push(("name", "the name is empty".to_owned()));
        }
        if !self.is_used() {
            return found;
        }
        if self.kind.is_numeric() {
            self.bound_problems(&mut found);
            if self.domain.is_some() {
                found.push((
                    "domain",
                    format!("a column of kind {} has bounds, not a domain", self.kind),
                ));
            }
        } else {
            if self.lower.is_some() || self.upper.is_some() {
                let key = if self.lower.is_some() { "lower" } else { "upper" };
                found.push((
                    key,
                    format!("a column of kind {} has a domain, not bounds", self.kind),
                ));
            }
            self.domain_problems(missing, &mut found);
        }
        self.scale_problems(&mut found);
        self.bin_problems(&mut found);
        self.spelling_problems(&mut found);
        found
    }

    fn bound_problems(&self, found: &mut Found) {
        let mut values = [None, None];
        for (slot, (key, bound)) in values
            .iter_mut()
            .zip([("lower", self.lower.as_ref()), ("upper", self.upper.as_ref())])
        {
            let Some(bound) = bound else { continue };
            match self.bound_value(bound) {
                Ok(value) => *slot = Some(value),
                Err(message) => found.push((key, message)),
            }
        }
        if let [Some(lower), Some(upper)] = values {
            if lower > upper {
                let ends = [&self.lower, &self.upper]
                    .map(|end| end.as_ref().map_or_else(String::new, Bound::to_string));
                found.push((
                    "lower",
                    format!("the lower bound {} is above its upper bound {}", ends[0], ends[1]),
                ));
            } else if self.kind == Kind::Continuous && !(upper - lower).is_finite() {
                found.push((
                    "upper",
                    "the bounds are too far apart; give plausible ones".to_owned(),
                ));
            }
        }
    }

    /// A bound as a number: days for dates, microseconds for times.
    fn bound_value(&self, bound: &Bound) -> Result<f64, String> {
        match (self.kind, bound) {
            (Kind::Continuous, Bound::Integer(_) | Bound::Number(_)) => {
                let value = bound.as_f64().unwrap_or(f64::NAN);
                if value.is_finite() {
                    Ok(value)
                } else {
                    Err("a bound must be a finite number".to_owned())
                }
            }
            (Kind::Integer, Bound::Integer(value)) if (*value as f64).abs() <= EXACT => Ok(*value as f64),
            (Kind::Integer, Bound::Integer(value)) => Err(format!(
                "the bound {value} is beyond ±2^53; such a long number is no quantity: make the column an identifier"
            )),
            (Kind::Integer, Bound::Number(value)) => Err(format!(
                "the bound {value} is not a whole number; round it, or make the column continuous"
            )),
            (Kind::Continuous | Kind::Integer, Bound::Text(text)) => {
                Err(format!("the bound \"{text}\" must be a number without quotes"))
            }
            (kind, Bound::Text(text)) => match parse_iso(kind, text) {
                Some(value) => Ok(value as f64),
                None => Err(format!(
                    "\"{text}\" is not a {kind} in ISO 8601, such as \"{}\"",
                    example(kind)
                )),
            },
            (kind, _) => Err(format!(
                "a {kind} is bounded by ISO 8601 in quotes, such as \"{}\"",
                example(kind)
            )),
        }
    }

    fn domain_problems(&self, missing: &[String], found: &mut Found) {
        let Some(domain) = &self.domain else { return };
        let mut seen = HashSet::new();
        for value in domain {
            if !seen.insert(value.as_str()) {
                found.push(("domain", format!("the value \"{value}\" is listed twice")));
            }
            if value.is_empty() || missing.contains(value) {
                found.push((
                    "domain",
                    format!(
                        "the value \"{value}\" is a spelling of missing; take it out and set missing = true"
                    ),
                ));
            }
        }
        if self.kind == Kind::Boolean && domain.len() != 2 {
            found.push((
                "domain",
                format!(
                    "a boolean's domain holds the spellings of false and of true, here it has {}",
                    domain.len()
                ),
            ));
        }
        if domain.len() > MAX_DOMAIN {
            found.push((
                "domain",
                format!(
                    "{} values are too many (at most {MAX_DOMAIN}); make the column text",
                    domain.len()
                ),
            ));
        }
    }

    fn scale_problems(&self, found: &mut Found) {
        if self.scale == Scale::Linear {
            return;
        }
        if !matches!(self.kind, Kind::Continuous | Kind::Integer) {
            found.push((
                "scale",
                format!("a log scale is for numbers, not for kind {}", self.kind),
            ));
        } else if self
            .lower
            .as_ref()
            .and_then(Bound::as_f64)
            .is_some_and(|lower| lower < 0.0)
        {
            found.push((
                "scale",
                "a log scale needs a lower bound of 0 or more; raise it, or use the linear scale".to_owned(),
            ));
        }
    }

    fn bin_problems(&self, found: &mut Found) {
        let Some(edges) = &self.bins else { return };
        if !matches!(self.kind, Kind::Continuous | Kind::Integer) {
            found.push((
                "bins",
                format!("bins are for numbers, not for kind {}", self.kind),
            ));
            return;
        }
        if edges.len() < 2
            || edges.iter().any(|edge| !edge.is_finite())
            || edges.windows(2).any(|w| w[0] >= w[1])
        {
            found.push(("bins", "bins needs at least two edges, rising".to_owned()));
            return;
        }
        if edges.len() - 1 > MAX_DOMAIN {
            found.push(("bins", format!("more than {MAX_DOMAIN} bins")));
        }
        if self.kind == Kind::Integer && edges.iter().any(|edge| edge.fract() != 0.0) {
            found.push((
                "bins",
                "the edges of an integer column must be whole numbers".to_owned(),
            ));
        }
        for (key, bound, edge) in [
            ("lower", &self.lower, edges[0]),
            ("upper", &self.upper, edges[edges.len() - 1]),
        ] {
            if bound
                .as_ref()
                .and_then(Bound::as_f64)
                .is_some_and(|bound| (bound - edge).abs() > 0.0)
            {
                found.push((
                    "bins",
                    format!("the outer edge {edge} differs from the {key} bound"),
                ));
            }
        }
    }

    fn spelling_problems(&self, found: &mut Found) {
        if let Some(decimals) = self.decimals {
            let reach = [&self.lower, &self.upper]
                .into_iter()
                .filter_map(|bound| bound.as_ref().and_then(Bound::as_f64))
                .fold(1.0_f64, |reach, bound| reach.max(bound.abs()));
            if self.kind != Kind::Continuous {
                found.push((
                    "decimals",
                    format!("decimals are for continuous columns, not for kind {}", self.kind),
                ));
            } else if decimals > 15 || reach * 10_f64.powi(i32::from(decimals)) > EXACT {
                found.push((
                    "decimals",
                    "more digits than a double holds; use fewer, or none".to_owned(),
                ));
            }
        }
        if let Some(format) = &self.format {
            if !self.kind.is_temporal() {
                found.push((
                    "format",
                    format!("a format is for dates and times, not for kind {}", self.kind),
                ));
            } else if TemporalFormat::new(self.kind, Some(format)).is_none() {
                found.push((
                    "format",
                    format!(
                        "\"{format}\" does not spell a whole {}; use strftime's letters, such as %d.%m.%Y",
                        self.kind
                    ),
                ));
            }
        }
    }
}

const fn example(kind: Kind) -> &'static str {
    match kind {
        Kind::Date => "2019-03-31",
        Kind::Time => "08:30:00",
        _ => "2019-03-31T08:30:00",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(column: &Column) -> Vec<&'static str> {
        column
            .problems(&[String::new(), "NA".to_owned()])
            .into_iter()
            .map(|(key, _)| key)
            .collect()
    }

    #[test]
    fn each_contradiction_is_found_at_its_key() {
        let number = || Column::new("x", Kind::Continuous).with_bounds(0, 10);
        let words = || Column::new("x", Kind::Categorical).with_domain(["a", "b"]);
        assert!(keys(&number()).is_empty());
        assert!(keys(&words()).is_empty());
        let with = |mut column: Column, edit: fn(&mut Column)| {
            edit(&mut column);
            keys(&column)
        };
        assert_eq!(with(number(), |c| c.lower = Some(11.into())), ["lower"]);
        assert_eq!(with(number(), |c| c.upper = Some("2019-01-01".into())), ["upper"]);
        assert_eq!(
            with(number(), |c| c.upper = Some(Bound::Number(f64::NAN))),
            ["upper"]
        );
        assert_eq!(with(number(), |c| c.domain = Some(vec![])), ["domain"]);
        assert_eq!(with(number(), |c| c.decimals = Some(16)), ["decimals"]);
        assert_eq!(with(number(), |c| c.format = Some("%Y".into())), ["format"]);
        assert_eq!(with(number(), |c| c.bins = Some(vec![0.0, 0.0, 10.0])), ["bins"]);
        assert_eq!(with(number(), |c| c.bins = Some(vec![0.0, 9.0])), ["bins"]);
        assert_eq!(with(number(), |c| c.kind = Kind::Integer), Vec::<&str>::new());
        assert_eq!(
            with(number(), |c| {
                c.kind = Kind::Integer;
                c.upper = Some(Bound::Number(9.5));
            }),
            ["upper"]
        );
        assert_eq!(
            with(number(), |c| {
                c.lower = Some((-1).into());
                c.scale = Scale::Log;
            }),
            ["scale"]
        );
        assert_eq!(with(words(), |c| c.lower = Some(1.into())), ["lower"]);
        assert_eq!(
            with(words(), |c| c.domain = Some(vec!["a".into(), "NA".into()])),
            ["domain"]
        );
        assert_eq!(with(words(), |c| c.kind = Kind::Boolean), Vec::<&str>::new());
        assert_eq!(
            with(words(), |c| {
                c.kind = Kind::Boolean;
                c.add_value("c");
            }),
            ["domain"]
        );
    }

    #[test]
    fn names_labels_and_units_must_exist() {
        let column = || Column::new("x", Kind::Continuous).with_bounds(0, 1);
        let mut schema = Schema::new(vec![column(), column()]);
        schema.label = Some("x".to_owned());
        schema.unit = Some(crate::data::schema::Unit {
            column: "person".to_owned(),
            max_rows: 0,
        });
        let messages: Vec<String> = schema.problems().iter().map(ToString::to_string).collect();
        for word in ["label `x` is continuous", "`person`", "max_rows", "two columns"] {
            assert!(
                messages.iter().any(|message| message.contains(word)),
                "{word}: {messages:?}"
            );
        }
        assert!(schema.validate().is_err());
    }
}
