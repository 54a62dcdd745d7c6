//! What several questions alike cost together, and what each may have of a total: as a sum, by Rényi divergences and
//! by privacy loss distributions. Nothing of it is read off rows.

use std::sync::Arc;

use crate::num::{Delta, Epsilon};
use crate::privacy::{Accountant as _, AccountantKind, EventList, Neighboring, PldAccountant, PrivacyEvent};
use crate::release::outlook::{Mechanism, Outlook};

/// At how many counts of questions the loss-distribution accountant is asked, at most.
const ASKED: usize = 10;
/// A share is looked for in steps of this factor, and then within [`CLOSE`].
const WIDEN: f64 = 1.25;
const CLOSE: f64 = 1e-3;

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

/// Several questions alike whose totals, and whose shares of a total, are asked for.
#[derive(Clone, Debug)]
pub struct SeveralRequest {
    /// The questions, each at the present ε.
    pub several: Several,
    /// What one of them does at any ε.
    pub outlook: Arc<Outlook>,
    /// How it does it.
    pub mechanism: Mechanism,
    /// The ε that all of them shall share.
    pub total: f64,
}

impl SeveralRequest {
    /// Whether the answer to `other` answers this.
    pub fn is(&self, other: &Self) -> bool {
        self.several == other.several
            && self.mechanism == other.mechanism
            && self.total.to_bits() == other.total.to_bits()
    }

    /// The ε that each question may have, so that all of them together spend at most the total by `spent`: found by
    /// bisection to one part in a thousand, from below. `at_least` is known to fit; `None` where nothing does.
    fn share(&self, at_least: f64, spent: impl Fn(&Several) -> Option<f64>) -> Option<f64> {
        let delta = Delta::new(self.several.delta).ok()?;
        let fits = |epsilon: f64| {
            let events = Epsilon::new(epsilon)
                .ok()
                .and_then(|epsilon| self.outlook.events(self.mechanism, epsilon, delta).ok());
            events.is_some_and(|events| {
                let several = Several {
                    events,
                    ..self.several.clone()
                };
                spent(&several).is_some_and(|spent| spent <= self.total)
            })
        };
        let (mut low, mut high) = (at_least, at_least);
        // Composition costs more than a single question, so the share is never above the total.
        loop {
            high = (high * WIDEN).min(self.total);
            if !fits(high) {
                break;
            }
            low = high;
            if high >= self.total {
                return Some(self.total);
            }
        }
        while high / low > 1.0 + CLOSE {
            let middle = (low * high).sqrt();
            if fits(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(low)
    }

    /// The share by the sum of all ε.
    pub fn share_by_sum(&self) -> f64 {
        self.total / self.several.sum(1.0, self.several.most).max(1.0)
    }

    /// The share by the Rényi accountant, or by the sum where that gives more: cheap enough for a frame.
    pub fn share_by_renyi(&self) -> Option<f64> {
        self.share(self.share_by_sum(), |several| several.by_renyi(several.most))
    }

    /// The totals and the share by privacy loss distributions: not for a frame.
    pub(super) fn compose(self) -> Composed {
        let by_loss = |several: &Several| several.by_loss(several.most);
        let share = self
            .share_by_renyi()
            .and_then(|at_least| self.share(at_least, by_loss));
        Composed {
            points: self.several.compose(),
            share,
            request: self,
        }
    }
}

/// What several questions cost together.
#[derive(Clone, Debug)]
pub struct Composed {
    /// What was asked.
    pub request: SeveralRequest,
    /// (number of questions, ε); empty where no ε holds at the δ.
    pub points: Vec<[f64; 2]>,
    /// The ε that each question may have of the total, if any will do.
    pub share: Option<f64>,
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

    /// The total by privacy loss distributions: not for a frame.
    pub fn by_loss(&self, count: u64) -> Option<f64> {
        let delta = Delta::new(self.delta).ok()?;
        let mut accountant = PldAccountant::new(self.events.neighboring);
        accountant.compose_list(&self.list(count)).ok()?;
        let epsilon = accountant.epsilon(delta).ok()?;
        epsilon.is_finite().then_some(epsilon)
    }

    /// The totals at a few counts.
    fn compose(&self) -> Vec<[f64; 2]> {
        let total = |count: u64| Some([count as f64, self.by_loss(count)?]);
        self.counts(ASKED).into_iter().filter_map(total).collect()
    }

    /// The sum: ε adds up over questions, and over disjoint parts the largest counts, or the two largest where a row
    /// may move between them.
    pub fn sum(&self, epsilon: f64, count: u64) -> f64 {
        match (self.parallel, self.events.neighboring) {
            (false, _) => epsilon * count as f64,
            (true, Neighboring::ReplaceOne) => epsilon * count.min(2) as f64,
            (true, _) => epsilon,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::Query;
    use crate::release::outlook::Question;

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
    fn a_sum_over_disjoint_parts_counts_one_or_two() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        close(several(false, Neighboring::AddRemoveOne).sum(0.5, 10), 5.0);
        close(several(true, Neighboring::AddRemoveOne).sum(0.5, 10), 0.5);
        close(several(true, Neighboring::ReplaceOne).sum(0.5, 10), 1.0);
        close(several(true, Neighboring::ReplaceOne).sum(0.5, 1), 0.5);
    }

    #[test]
    fn shares_of_a_total_keep_to_it_and_better_accounts_give_more() {
        let sample = crate::data::samples::all()
            .iter()
            .find(|sample| sample.id == "adult")
            .unwrap();
        let question = Question {
            query: Query::Mean,
            column: Some("age".into()),
            by: None,
            neighboring: Neighboring::AddRemoveOne,
        };
        let outlook = Arc::new(Outlook::new(&sample.schema().unwrap(), &question).unwrap());
        for mechanism in [Mechanism::DiscreteLaplace, Mechanism::DiscreteGaussian] {
            for (total, most) in [(0.5, 1), (0.5, 7), (3.0, 50)] {
                let at = |epsilon: f64| Several {
                    events: outlook
                        .events(
                            mechanism,
                            Epsilon::new(epsilon).unwrap(),
                            Delta::new(1e-6).unwrap(),
                        )
                        .unwrap(),
                    delta: 1e-6,
                    most,
                    parallel: false,
                };
                let request = SeveralRequest {
                    several: at(total),
                    outlook: Arc::clone(&outlook),
                    mechanism,
                    total,
                };
                let (sum, renyi) = (request.share_by_sum(), request.share_by_renyi().unwrap());
                let loss = request.compose().share.unwrap();
                assert!((sum * most as f64 - total).abs() < 1e-12);
                assert!(
                    sum <= renyi && renyi <= loss && loss <= total,
                    "{mechanism:?} {most}: {sum} {renyi} {loss}"
                );
                if most > 1 {
                    assert!(at(loss).by_loss(most).unwrap() <= total, "{mechanism:?} {most}");
                    assert!(
                        at(loss * 1.01).by_loss(most).unwrap() > total,
                        "{mechanism:?} {most}"
                    );
                }
            }
        }
    }
}
