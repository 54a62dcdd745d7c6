//! What a preview reads off the rows: off every frame, and free, since nothing of it is released.

use std::sync::Arc;

use rand::Rng as _;

use crate::data::{Schema, Table};
use crate::engine::event::{Area, Problem};
use crate::num::{RandomSource, StewardOnly};
use crate::release::outlook::{DRAWS, Outlook, Question, Truth};
use crate::release::{Query, ReleaseError};

/// Uniform numbers of one draw: one for each part that a statistic is made of.
const PARTS: usize = 3;
/// What the rows say to a question. For the steward only.
#[derive(Clone, Debug)]
pub struct Explored {
    /// The question that this answers.
    pub question: Question,
    /// The schema that it was answered under.
    pub schema: Arc<Schema>,
    /// The rows' answer, or why there is none.
    pub outcome: Result<Seen, Problem>,
}

/// The exact answer, and the randomness of the draws that a picture shows.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The statistic without noise.
    pub truth: StewardOnly<Truth>,
    /// The column's histogram, where it has one.
    pub histogram: StewardOnly<Option<Truth>>,
    /// What turns into noise at any scale.
    pub draws: Draws,
}

/// Uniform numbers between 0 and 1, drawn once: at any ε each stands for a quantile of the noise, so a draw moves
/// with the slider as the noise does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draws(Arc<Vec<f64>>);

impl Draws {
    pub(super) fn new(random: &mut RandomSource) -> Self {
        // 53 bits, the middle of each of 2^53 cells: never 0 or 1.
        let uniform = |_| ((random.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        Self(Arc::new((0..DRAWS * PARTS).map(uniform).collect()))
    }

    /// The numbers of one draw; of the last ones again beyond them.
    pub fn of(&self, draw: usize) -> &[f64] {
        let start = draw % DRAWS * PARTS;
        self.0.get(start..start + PARTS).unwrap_or_default()
    }
}

/// What a question's noise would be, from public knowledge only. Cheap enough for a frame.
///
/// # Errors
/// Says what stands in the way, as a release would.
pub fn outlook_for(schema: &Schema, question: &Question) -> Result<Outlook, Problem> {
    Outlook::new(schema, question).map_err(|error| Problem::new(Area::Release, &error))
}

/// Reads the rows for a question.
pub(super) fn explore(schema: &Schema, table: &Table, question: &Question) -> Result<Seen, Problem> {
    let failed = |error: ReleaseError| Problem::new(Area::Release, &error);
    let mut random = RandomSource::from_operating_system();
    let outlook = Outlook::new(schema, question).map_err(failed)?;
    let truth = outlook.measure(schema, table, &mut random).map_err(failed)?;
    Ok(Seen {
        truth: StewardOnly::new(truth),
        histogram: StewardOnly::new(histogram(schema, table, question, &mut random)),
        draws: Draws::new(&mut random),
    })
}

/// The histogram beside another question. A column that has none is no fault.
fn histogram(
    schema: &Schema,
    table: &Table,
    question: &Question,
    random: &mut RandomSource,
) -> Option<Truth> {
    let beside = histogram_of(question)?;
    let outlook = Outlook::new(schema, &beside).ok()?;
    outlook.measure(schema, table, random).ok()
}

/// The histogram that stands beside a question: of its column, or of what it groups by. `None` where the question is a
/// histogram itself, or about all rows.
pub fn histogram_of(question: &Question) -> Option<Question> {
    if matches!(question.query, Query::Histogram { .. }) && question.by.is_none() {
        return None;
    }
    let column = question.column.clone().or_else(|| question.by.clone())?;
    Some(Question {
        query: Query::Histogram { bins: None },
        column: Some(column),
        by: None,
        neighboring: question.neighboring,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_inside_and_not_alike() {
        let draws = Draws::new(&mut RandomSource::seeded(1));
        assert!(
            (0..DRAWS)
                .flat_map(|at| draws.of(at).to_vec())
                .all(|u| u > 0.0 && u < 1.0)
        );
        assert_ne!(draws.of(0), draws.of(1));
        assert_eq!(draws.of(0), draws.of(DRAWS));
    }
}
