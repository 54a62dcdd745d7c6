//! What a preview reads off the rows, and what several questions cost together: off every frame, and free, since
//! nothing of it is released.

use std::sync::Arc;

use rand::Rng as _;

use crate::data::{Schema, Table};
use crate::engine::event::{Area, Problem};
use crate::num::{Delta, RandomSource, StewardOnly};
use crate::privacy::{Accountant as _, AccountantKind, EventList, PldAccountant, PrivacyEvent};
use crate::release::outlook::{DRAWS, Outlook, Question, Truth};
use crate::release::{Query, ReleaseError};

/// Uniform numbers of one draw: one for each part that a statistic is made of.
const PARTS: usize = 3;
/// At how many counts of questions the loss-distribution accountant is asked, at most.
const ASKED: usize = 10;

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

/// Several questions alike, to be composed by privacy loss distributions.
#[derive(Clone, Debug, PartialEq)]
pub struct Several {
    /// What one question does.
    pub events: EventList,
    /// δ of all of them together.
    pub delta: f64,
    /// The most questions.
    pub most: u64,
    /// Whether each is about another, disjoint part of the rows that is fixed ahead of them.
    pub parallel: bool,
}

/// What several questions cost together.
#[derive(Clone, Debug)]
pub struct Composed {
    /// What was asked.
    pub several: Several,
    /// (number of questions, ε); empty where no ε holds at the δ.
    pub points: Vec<[f64; 2]>,
}

impl Several {
    /// The counts of questions at which a curve is drawn: all of a few, evenly spread ones of many.
    pub fn counts(&self, at_most: usize) -> Vec<u64> {
        let most = self.most.max(1);
        if most <= at_most as u64 {
            return (1..=most).collect();
        }
        let mut counts: Vec<u64> = (0..at_most)
            .map(|at| 1 + ((most - 1) as f64 * at as f64 / (at_most - 1) as f64).round() as u64)
            .collect();
        counts.dedup();
        counts
    }

    /// So many of the questions, as one list.
    ///
    /// Over disjoint parts a list of many branches costs what two cost: under add/remove one the largest counts, under
    /// replace one the two largest.
    pub fn list(&self, count: u64) -> EventList {
        let mut list = EventList::new(self.events.neighboring);
        if self.parallel {
            let branches = vec![self.events.events.clone(); count.min(2) as usize];
            list.push(PrivacyEvent::Parallel { branches }, 1);
        } else {
            for counted in &self.events.events {
                list.push(counted.event.clone(), counted.count.saturating_mul(count));
            }
        }
        list
    }

    /// The total by the Rényi accountant: cheap enough for a frame.
    pub fn by_renyi(&self, count: u64) -> Option<f64> {
        let delta = Delta::new(self.delta).ok()?;
        let epsilon = AccountantKind::Rdp.epsilon(&self.list(count), delta).ok()?;
        epsilon.is_finite().then_some(epsilon)
    }

    /// The totals by privacy loss distributions: not for a frame.
    pub fn compose(&self) -> Vec<[f64; 2]> {
        let Ok(delta) = Delta::new(self.delta) else {
            return Vec::new();
        };
        let total = |count: u64| {
            let mut accountant = PldAccountant::new(self.events.neighboring);
            accountant.compose_list(&self.list(count)).ok()?;
            let epsilon = accountant.epsilon(delta).ok()?;
            epsilon.is_finite().then_some([count as f64, epsilon])
        };
        self.counts(ASKED).into_iter().filter_map(total).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::Neighboring;

    fn several(parallel: bool, neighboring: Neighboring) -> Several {
        let mut events = EventList::new(neighboring);
        events.push(
            PrivacyEvent::Laplace {
                scale: 2.0,
                sensitivity: 1.0,
            },
            1,
        );
        Several {
            events,
            delta: 1e-6,
            most: 64,
            parallel,
        }
    }

    #[test]
    fn loss_distributions_are_below_the_renyi_bound_and_both_below_the_sum() {
        let several = several(false, Neighboring::AddRemoveOne);
        let points = several.compose();
        assert_eq!(points.first().map(|point| point[0]), Some(1.0));
        assert_eq!(points.last().map(|point| point[0]), Some(64.0));
        for [count, epsilon] in points {
            let renyi = several.by_renyi(count as u64).unwrap();
            let sum = 0.5 * count;
            assert!(epsilon <= renyi * (1.0 + 1e-3), "{count}: {epsilon} {renyi}");
            assert!(epsilon <= sum * (1.0 + 1e-3), "{count}: {epsilon} {sum}");
        }
    }

    #[test]
    fn disjoint_parts_cost_one_question_or_two() {
        let one = several(true, Neighboring::AddRemoveOne).compose();
        assert!(
            one.iter().all(|point| (point[1] - one[0][1]).abs() < 1e-9),
            "{one:?}"
        );
        let two = several(true, Neighboring::ReplaceOne).compose();
        assert!(
            two[1][1] > 1.5 * two[0][1] && (two[1][1] - two[2][1]).abs() < 1e-9,
            "{two:?}"
        );
    }

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
