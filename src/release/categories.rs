//! The values of a categorical column, bought: those that are in enough rows.
//!
//! Every value that is met gets discrete Laplace noise on its count, and is told if the sum passes a threshold T
//! (Korolova, Kenthapadi, Mishra, Ntoulas 2009, "Releasing search queries and clicks privately"; the stability-based
//! histogram of Bun, Nissim, Stemmer 2016, "Simultaneous private learning of multiple concepts", §2.3).
//!
//! **Guarantee** (ε, δ). Take two neighbours. Counts of the values that both hold move by at most Δ together (m under
//! add/remove, 2m under replace, for m rows of a unit), which costs ε = Δ/t. A value that only one of them holds is in
//! at most m rows, all of one unit, and there are at most m such values. In the table without it, it is never told. In
//! the other it is with probability at most P(m + noise > T), so any of them is with at most m·P(noise > T − m) ≤ δ.
//! Outside that event the two tables' outputs are within e^ε.
//!
//! The values are sorted before they are told: the order in which they stand in the table is private.

use crate::data::{Kind, MAX_DOMAIN, NO_VALUE, NumberedTexts, Provenance, Schema, Table};
use crate::num::RandomSource;
use crate::privacy::mechanism::DiscreteLaplace;
use crate::privacy::{EventList, PrivacyEvent};

use super::answer::{Answer, Cell, Purchase, Value};
use super::error::ReleaseError;
use super::note::Note;
use super::plan::Setting;
use super::sensitivity::{Contribution, Neighbours};
use super::tally::group_of_rows;

/// The search for a column's values.
#[derive(Clone, Debug)]
pub(super) struct CategorySearch {
    column: String,
    neighbours: Neighbours,
    noise: DiscreteLaplace,
    epsilon: f64,
    delta: f64,
    threshold: i64,
}

/// The least k ≥ 0 with P(noise > k) ≤ p: with r = e^(−1/t), P(noise > k) = r^(k+1)/(1 + r).
fn tail(scale: f64, probability: f64) -> i64 {
    let ratio = (-1.0 / scale).exp();
    let exceeds = |k: f64| ratio / (1.0 + ratio) * (-k / scale).exp() > probability;
    let mut k = (scale * (-(probability * (1.0 + ratio)).ln()) - 1.0)
        .ceil()
        .max(0.0);
    // The logarithm's last digit must not leave the threshold a step too low.
    while exceeds(k) {
        k += 1.0;
    }
    k as i64
}

impl CategorySearch {
    pub fn new(setting: &Setting<'_>) -> Result<Self, ReleaseError> {
        let column = setting.column()?;
        if column.kind != Kind::Categorical {
            return Err(ReleaseError::WrongKind {
                query: "search for values",
                column: column.name.clone(),
                kind: column.kind.as_str(),
                remedy: "only categorical columns have a list of values; --query bounds buys bounds of numbers and dates",
            });
        }
        if column.provenance == Some(Provenance::Declared) {
            return Err(ReleaseError::NothingToBuy {
                what: "values",
                column: column.name.clone(),
            });
        }
        let delta = setting.delta.get();
        let neighbours = setting.neighbours;
        let shift = neighbours.shift(Contribution::COUNT, usize::MAX, 1);
        let noise = DiscreteLaplace::for_epsilon(setting.epsilon, shift.total())?;
        let rows = neighbours.max_rows;
        Ok(Self {
            column: column.name.clone(),
            threshold: rows as i64 + tail(noise.scale(), delta / rows as f64),
            neighbours,
            noise,
            epsilon: setting.epsilon.get(),
            delta,
        })
    }

    pub fn events(&self) -> EventList {
        let mut events = EventList::new(self.neighbours.relation);
        events.push(
            PrivacyEvent::Approx {
                epsilon: self.epsilon,
                delta: self.delta,
            },
            1,
        );
        events
    }

    pub fn run(
        &self,
        schema: &Schema,
        table: &Table,
        random: &mut RandomSource,
    ) -> Result<Answer, ReleaseError> {
        let kept = group_of_rows(schema, table, None)?;
        let found = NumberedTexts::read(table, schema, &self.column)?;
        let mut counts = vec![0_i64; found.texts.len()];
        for (row, &text) in found.rows.iter().enumerate() {
            let is_kept = kept.as_ref().is_none_or(|kept| kept[row] != NO_VALUE);
            if is_kept && text != NO_VALUE {
                counts[text as usize] += 1;
            }
        }
        let mut told: Vec<(String, i64)> = found
            .texts
            .into_iter()
            .zip(counts)
            // A value of which no row counts is as if it were not there.
            .filter(|&(_, count)| count > 0)
            .map(|(text, count)| (text.to_string(), count.saturating_add(self.noise.sample(random))))
            .filter(|&(_, count)| count > self.threshold)
            .collect();
        // More than a schema may list: those with the largest noisy counts, which is post-processing.
        told.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        told.truncate(MAX_DOMAIN);
        told.sort();
        let mut notes = vec![Note::CategoriesThreshold { rows: self.threshold }];
        let values: Vec<String> = told.into_iter().map(|(value, _)| value).collect();
        let purchase = if values.is_empty() {
            notes.push(Note::NothingFound);
            None
        } else {
            Some(Purchase::Domain {
                column: self.column.clone(),
                values: values.clone(),
            })
        };
        Ok(Answer {
            cells: values
                .into_iter()
                .map(|value| Cell {
                    group: None,
                    bin: None,
                    value: Value::Text(value),
                    interval: None,
                })
                .collect(),
            is_single: false,
            purchase,
            notes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_the_least_that_keeps_delta() {
        for scale in [0.05, 0.7, 1.0, 12.5, 4e5] {
            let noise = DiscreteLaplace::new(scale).unwrap();
            for probability in [0.3, 0.01, 1e-6, 1e-15] {
                let k = tail(scale, probability);
                let above = |k: i64| {
                    let ratio = (-1.0 / scale).exp();
                    ratio.powf((k + 1) as f64) / (1.0 + ratio)
                };
                assert!(
                    above(k) <= probability * (1.0 + 1e-9),
                    "{scale} {probability}: {k}"
                );
                assert!(
                    k == 0 || above(k - 1) > probability * (1.0 - 1e-9),
                    "{scale} {probability}: {k}"
                );
                if probability > 1e-3 {
                    assert_eq!(noise.quantile(1.0 - probability).unwrap().max(0), k);
                }
            }
        }
    }
}
