//! What a column must satisfy by itself.

use std::collections::HashSet;

use super::MAX_DOMAIN;
use crate::data::numeral::NumberFormat;
use crate::data::schema::bound::Bound;
use crate::data::schema::types::{Column, Kind, Scale};
use crate::data::value::{TemporalFormat, parse_iso};
use crate::message;
use crate::num::Message;

/// Integers of this size and more are not exact in a double.
const EXACT: f64 = 9_007_199_254_740_992.0;

type Found = Vec<(&'static str, Message)>;

impl Column {
    /// All contradictions within one column, each with the key at fault.
    pub fn problems(&self, missing: &[String]) -> Vec<(&'static str, Message)> {
        let mut found = Found::new();
        if self.name.is_empty() {
            found.push(("name", message!("schema-no-name", "the name is empty")));
        }
        if !self.is_used() {
            return found;
        }
        if self.kind.is_numeric() {
            self.bound_problems(&mut found);
            if self.domain.is_some() {
                found.push((
                    "domain",
                    message!(
                        "schema-not-a-domain",
                        "a column of kind {kind} has bounds, not a domain",
                        kind = self.kind
                    ),
                ));
            }
        } else {
            if self.lower.is_some() || self.upper.is_some() {
                let key = if self.lower.is_some() { "lower" } else { "upper" };
                found.push((
                    key,
                    message!(
                        "schema-not-bounds",
                        "a column of kind {kind} has a domain, not bounds",
                        kind = self.kind
                    ),
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
                    message!(
                        "schema-bounds-swapped",
                        "the lower bound {lower} is above its upper bound {upper}",
                        lower = ends[0],
                        upper = ends[1]
                    ),
                ));
            } else if self.kind == Kind::Continuous && !(upper - lower).is_finite() {
                found.push((
                    "upper",
                    message!(
                        "schema-bounds-far",
                        "the bounds are too far apart; give plausible ones"
                    ),
                ));
            }
        }
    }

    /// A bound as a number: days for dates, microseconds for times.
    fn bound_value(&self, bound: &Bound) -> Result<f64, Message> {
        match (self.kind, bound) {
            (Kind::Continuous, Bound::Integer(_) | Bound::Number(_)) => {
                let value = bound.as_f64().unwrap_or(f64::NAN);
                if value.is_finite() {
                    Ok(value)
                } else {
                    Err(message!("schema-bound-finite", "a bound must be a finite number"))
                }
            }
            (Kind::Integer, Bound::Integer(value)) if (*value as f64).abs() <= EXACT => Ok(*value as f64),
            (Kind::Integer, Bound::Integer(value)) => Err(message!(
                "schema-bound-long",
                "the bound {value} is beyond ±2^53; such a long number is no quantity: make the column an identifier",
                value = value
            )),
            (Kind::Integer, Bound::Number(value)) => Err(message!(
                "schema-bound-whole",
                "the bound {value} is not a whole number; round it, or make the column continuous",
                value = value
            )),
            (Kind::Continuous | Kind::Integer, Bound::Text(text)) => Err(message!(
                "schema-bound-quoted",
                "the bound \"{value}\" must be a number without quotes",
                value = text
            )),
            (kind, Bound::Text(text)) => match parse_iso(kind, text) {
                Some(value) => Ok(value as f64),
                None => Err(message!(
                    "schema-bound-iso",
                    "\"{value}\" is not a {kind} in ISO 8601, such as \"{example}\"",
                    value = text,
                    kind = kind,
                    example = example(kind)
                )),
            },
            (kind, _) => Err(message!(
                "schema-bound-unquoted",
                "a {kind} is bounded by ISO 8601 in quotes, such as \"{example}\"",
                kind = kind,
                example = example(kind)
            )),
        }
    }

    fn domain_problems(&self, missing: &[String], found: &mut Found) {
        let Some(domain) = &self.domain else { return };
        let mut seen = HashSet::new();
        for value in domain {
            if !seen.insert(value.as_str()) {
                found.push((
                    "domain",
                    message!(
                        "schema-value-twice",
                        "the value \"{value}\" is listed twice",
                        value = value
                    ),
                ));
            }
            if value.is_empty() || missing.contains(value) {
                found.push((
                    "domain",
                    message!(
                        "schema-value-missing",
                        "the value \"{value}\" is a spelling of missing; take it out and set missing = true",
                        value = value
                    ),
                ));
            }
        }
        if self.kind == Kind::Boolean && domain.len() != 2 {
            found.push((
                "domain",
                message!(
                    "schema-boolean-domain",
                    "a boolean's domain holds the spellings of false and of true, here it has {count}",
                    count = domain.len()
                ),
            ));
        }
        if domain.len() > MAX_DOMAIN {
            found.push((
                "domain",
                message!(
                    "schema-many-values",
                    "{count} values are too many (at most {most}); make the column text",
                    count = domain.len(),
                    most = MAX_DOMAIN
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
                message!(
                    "schema-log-kind",
                    "a log scale is for numbers, not for kind {kind}",
                    kind = self.kind
                ),
            ));
        } else if self
            .lower
            .as_ref()
            .and_then(Bound::as_f64)
            .is_some_and(|lower| lower < 0.0)
        {
            found.push((
                "scale",
                message!(
                    "schema-log-bound",
                    "a log scale needs a lower bound of 0 or more; raise it, or use the linear scale"
                ),
            ));
        }
    }

    fn bin_problems(&self, found: &mut Found) {
        let Some(edges) = &self.bins else { return };
        if !matches!(self.kind, Kind::Continuous | Kind::Integer) {
            found.push((
                "bins",
                message!(
                    "schema-bins-kind",
                    "bins are for numbers, not for kind {kind}",
                    kind = self.kind
                ),
            ));
            return;
        }
        if edges.len() < 2
            || edges.iter().any(|edge| !edge.is_finite())
            || edges.windows(2).any(|w| w[0] >= w[1])
        {
            found.push((
                "bins",
                message!("schema-bins-edges", "bins needs at least two edges, rising"),
            ));
            return;
        }
        if edges.len() - 1 > MAX_DOMAIN {
            found.push((
                "bins",
                message!("schema-bins-many", "more than {most} bins", most = MAX_DOMAIN),
            ));
        }
        if self.kind == Kind::Integer && edges.iter().any(|edge| edge.fract() != 0.0) {
            found.push((
                "bins",
                message!(
                    "schema-bins-whole",
                    "the edges of an integer column must be whole numbers"
                ),
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
                    message!(
                        "schema-bins-bound",
                        "the outer edge {edge} differs from the {bound} bound",
                        edge = edge,
                        bound = key
                    ),
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
                    message!(
                        "schema-decimals-kind",
                        "decimals are for continuous columns, not for kind {kind}",
                        kind = self.kind
                    ),
                ));
            } else if decimals > 15 || reach * 10_f64.powi(i32::from(decimals)) > EXACT {
                found.push((
                    "decimals",
                    message!(
                        "schema-decimals-many",
                        "more digits than a double holds; use fewer, or none"
                    ),
                ));
            }
        }
        if let Some(format) = &self.format {
            if matches!(self.kind, Kind::Continuous | Kind::Integer) {
                if NumberFormat::new(format).is_none() {
                    found.push((
                        "format",
                        message!(
                            "schema-format-number",
                            "\"{format}\" does not spell a number; write it as 1234.5 would look, such as 1.234,5 or $1,234.5",
                            format = format
                        ),
                    ));
                }
            } else if !self.kind.is_temporal() {
                found.push((
                    "format",
                    message!(
                        "schema-format-kind",
                        "a format is for numbers, dates and times, not for kind {kind}",
                        kind = self.kind
                    ),
                ));
            } else if TemporalFormat::new(self.kind, Some(format)).is_none() {
                found.push((
                    "format",
                    message!(
                        "schema-format-whole",
                        "\"{format}\" does not spell a whole {kind}; use strftime's letters, such as %d.%m.%Y",
                        format = format,
                        kind = self.kind
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
