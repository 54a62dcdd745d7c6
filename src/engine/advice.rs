//! Which method to begin with on a table, by what is public of it: its schema, a declared or bought row count, and ε.

use crate::data::{Provenance, Schema};
use crate::engine::command::Method;
use crate::message;
use crate::num::Message;
use crate::train::{PlanError, pair_deviation};

/// Counts of pairs are worth their noise while that is at most this share of the rows. It is set between two cases at
/// ε = 1: Adult's 32,561 rows, where pairs do better than a critic (0.1 %), and 2,000 rows, where they do poorly (2 %).
const TOLERABLE_NOISE: f64 = 0.01;

/// A method to begin with, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// The method.
    pub method: Method,
    /// Why it.
    pub reason: Message,
}

impl Advice {
    /// The advice for a table; `None` while its schema allows no run. Nothing private is read for it: a row count that
    /// is not public has no part in it.
    pub fn on_table(schema: &Schema, epsilon: f64) -> Option<Self> {
        let deviation = match pair_deviation(schema, epsilon) {
            Ok(deviation) => deviation,
            Err(PlanError::ManyCells { .. }) => {
                return Some(Self {
                    method: Method::Dpgan,
                    reason: message!(
                        "advice-dpgan-wide",
                        "DPGAN is recommended: this table has too many values for counts of pairs of columns"
                    ),
                });
            }
            Err(_) => return None,
        };
        let noise = format!("{deviation:.0}");
        let units = schema
            .known_units()
            .filter(|rows| matches!(rows.provenance, Provenance::Declared | Provenance::Bought))
            .map(|rows| rows.value);
        if let Some(rows) = units.filter(|units| deviation > TOLERABLE_NOISE * *units as f64) {
            return Some(Self {
                method: Method::Dpgan,
                reason: if schema.unit.is_some() {
                    message!(
                        "advice-dpgan-few-persons",
                        "DPGAN is recommended: with {persons} persons, a noise of {noise} rows on the count of each pair of columns' values would drown most of them",
                        persons = rows,
                        noise = noise
                    )
                } else {
                    message!(
                        "advice-dpgan-few",
                        "DPGAN is recommended: with {rows} rows, a noise of {noise} on the count of each pair of columns' values would drown most of them",
                        rows = rows,
                        noise = noise
                    )
                },
            });
        }
        Some(Self {
            method: Method::Gem,
            reason: message!(
                "advice-gem",
                "GEM is recommended: counts of pairs of columns' values, each with a noise of {noise} rows, tell how columns relate, and everything after that one look is free",
                noise = noise
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, Kind, samples};

    fn advised(schema: &Schema, epsilon: f64) -> Option<Method> {
        Advice::on_table(schema, epsilon).map(|advice| advice.method)
    }

    #[test]
    fn many_rows_get_pairs_and_few_a_critic() {
        let adult = samples::find("adult").unwrap().schema().unwrap();
        assert_eq!(advised(&adult, 1.0), Some(Method::Gem));
        let german = samples::find("german_credit").unwrap().schema().unwrap();
        assert_eq!(advised(&german, 1.0), Some(Method::Dpgan));
        // A budget that drowns little helps few rows too.
        assert_eq!(advised(&german, 50.0), Some(Method::Gem));
    }

    #[test]
    fn a_row_count_that_is_not_public_has_no_part_in_it() {
        let mut german = samples::find("german_credit").unwrap().schema().unwrap();
        german.rows = None;
        assert_eq!(advised(&german, 1.0), Some(Method::Gem));
        let mut wide = german;
        let values: Vec<String> = (0..9000).map(|value| value.to_string()).collect();
        let column = Column::new("wide", Kind::Categorical).with_domain(values);
        wide.column.push(column.with_provenance(Provenance::Declared));
        assert_eq!(advised(&wide, 1.0), Some(Method::Dpgan));
        // Nothing is advised before the schema is decided on.
        wide.column.push(Column::new("open", Kind::Categorical));
        assert_eq!(advised(&wide, 1.0), None);
    }
}
