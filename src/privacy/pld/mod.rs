//! The accountant of privacy loss distributions: the tightest ε that a list of events supports.
//!
//! Each event becomes a dominating pair ([`pair`]), pairs are composed on a grid ([`compose`]). What has a closed
//! form is not discretised: all Gaussians together are one Gaussian pair with μ² = Σ 1/z², all zCDP events one ρ.

mod compose;
mod course;
mod grid;
mod pair;
pub(super) mod profile;
mod side;
mod spectra;

pub(super) use self::course::gathered_cost;
use self::course::{Course, extend};
use self::pair::Pair;
use super::{Accountant, AccountingError, CountedEvent, EventList, Neighboring, PrivacyEvent, RdpAccountant};
use crate::num::Delta;

/// Privacy loss distributions of everything composed so far.
#[derive(Clone, Debug)]
pub struct PldAccountant {
    neighboring: Neighboring,
    /// What a changed unit can have gone through: one course, or several where parts of the data are disjoint.
    courses: Vec<Course>,
}

impl PldAccountant {
    /// An accountant that has seen nothing.
    pub fn new(neighboring: Neighboring) -> Self {
        Self {
            neighboring,
            courses: vec![Course::default()],
        }
    }

    /// δ at each ε: the whole privacy curve, from one composition. Exact to about 1e-12 absolute; a single
    /// [`Accountant::delta`] is exact relative to δ.
    ///
    /// # Errors
    /// [`AccountingError::Epsilon`] for a negative ε or NaN.
    pub fn profile(&self, epsilons: &[f64]) -> Result<Vec<f64>, AccountingError> {
        if let Some(&wrong) = epsilons
            .iter()
            .find(|epsilon| epsilon.is_nan() || **epsilon < 0.0)
        {
            return Err(AccountingError::Epsilon(wrong));
        }
        let mut largest = vec![0.0f64; epsilons.len()];
        for course in &self.courses {
            for (sum, delta) in largest.iter_mut().zip(course.curve(epsilons)) {
                *sum = sum.max(delta);
            }
        }
        Ok(largest)
    }

    /// Whether some event's divergences say more than the pair that stands for it: the curve of zCDP, and the envelope
    /// of bounded range.
    fn is_known_by_divergences(&self) -> bool {
        let loose = |pair: &Pair| matches!(pair, Pair::Exponential { .. } | Pair::Zcdp { .. });
        self.courses
            .iter()
            .any(|course| course.rho > 0.0 || course.pairs.keys().any(loose))
    }

    /// The Rényi bound on the same events, which answers where a grid cannot: the largest over the courses.
    fn bound(
        &self,
        ask: impl Fn(&RdpAccountant) -> Result<f64, AccountingError>,
    ) -> Result<f64, AccountingError> {
        self.courses.iter().try_fold(0.0, |largest: f64, course| {
            Ok(ask(&RdpAccountant::with_cost(self.neighboring, course.cost()))?.max(largest))
        })
    }

    /// ε at δ, and the excess that the grid may have caused (0 for closed forms).
    ///
    /// # Errors
    /// As [`Accountant::epsilon`].
    pub fn epsilon_and_excess(&self, delta: Delta) -> Result<(f64, f64), AccountingError> {
        let answers = self.courses.iter().map(|course| course.epsilon(delta.get()));
        let (epsilon, excess) = answers.fold((0.0, 0.0), |a, b| if b.0 > a.0 { b } else { a });
        // Both are bounds, so the smaller holds; it matters where the grid had to be coarse or has no answer, and for
        // events that are known by a bound on their divergences rather than by a pair.
        if epsilon.is_finite() && excess < 1e-3 * epsilon.max(0.5) && !self.is_known_by_divergences() {
            return Ok((epsilon, excess));
        }
        let bound = self.bound(|course| course.epsilon(delta))?;
        Ok(if bound < epsilon {
            (bound, excess)
        } else {
            (epsilon, excess)
        })
    }
}

impl Accountant for PldAccountant {
    fn neighboring(&self) -> Neighboring {
        self.neighboring
    }

    fn compose(&mut self, event: &PrivacyEvent, count: u64) -> Result<(), AccountingError> {
        // Nothing is changed before the event is known to be right.
        extend(&mut self.courses, event, count, self.neighboring)
    }

    fn compose_list(&mut self, list: &EventList) -> Result<(), AccountingError> {
        if list.neighboring != self.neighboring {
            return Err(AccountingError::Relation {
                list: list.neighboring,
                accountant: self.neighboring,
            });
        }
        let mut courses = self.courses.clone();
        for CountedEvent { event, count } in &list.events {
            extend(&mut courses, event, *count, self.neighboring)?;
        }
        self.courses = courses;
        Ok(())
    }

    fn epsilon(&self, delta: Delta) -> Result<f64, AccountingError> {
        self.epsilon_and_excess(delta).map(|answer| answer.0)
    }

    fn delta(&self, epsilon: f64) -> Result<f64, AccountingError> {
        if epsilon.is_nan() || epsilon < 0.0 {
            return Err(AccountingError::Epsilon(epsilon));
        }
        let answers = self.courses.iter().map(|course| course.delta(epsilon));
        let (delta, excess) = answers.fold((0.0, 0.0), |a, b| if b.0 > a.0 { b } else { a });
        if delta < 1.0 && excess < 1e-3 * epsilon.max(0.5) && !self.is_known_by_divergences() {
            return Ok(delta);
        }
        Ok(self.bound(|course| course.delta(epsilon))?.min(delta))
    }
}

#[cfg(test)]
mod tests {
    use super::compose::Question;
    use super::*;

    fn course(events: &[(PrivacyEvent, u64)], neighboring: Neighboring) -> Course {
        let mut accountant = PldAccountant::new(neighboring);
        for (event, count) in events {
            accountant.compose(event, *count).unwrap();
        }
        accountant.courses.remove(0)
    }

    /// ε with the usual grid and with one that aims at a twentieth of the excess.
    fn twice(course: &Course, delta: f64) -> (f64, f64) {
        let pairs = course.all_pairs();
        let question = Question::Epsilon { ln_delta: delta.ln() };
        let guess = Course::guess(&pairs, question);
        let usual = compose::answer(&pairs, question, guess).value;
        (usual, compose::answer_within(&pairs, question, guess, 1e-5).value)
    }

    #[test]
    fn a_finer_grid_lowers_epsilon_by_no_more_than_was_aimed_at() {
        let draws = |sigma, steps| PrivacyEvent::RowDrawGaussian {
            shards: 1000,
            sigma,
            rows: 32,
            steps,
        };
        let poisson = |q, z, steps| PrivacyEvent::PoissonSampledGaussian {
            sampling_rate: q,
            noise_multiplier: z,
            steps,
        };
        let cases = [
            // Golden 1.48147 is what a step of 1e-4 makes of this.
            (vec![(draws(2.5, 20_000), 1)], Neighboring::ReplaceOne, 1e-5),
            (vec![(draws(1.07, 1000), 1)], Neighboring::ReplaceOne, 1e-5),
            (
                vec![(poisson(0.004, 0.7, 1280), 1)],
                Neighboring::ReplaceOne,
                1e-6,
            ),
            (
                vec![(poisson(0.001, 10.0, 100_000), 1)],
                Neighboring::AddRemoveOne,
                1e-5,
            ),
            (
                vec![(poisson(0.01, 1.0, 10), 1), (PrivacyEvent::Zcdp { rho: 0.05 }, 1)],
                Neighboring::AddRemoveOne,
                1e-7,
            ),
            (
                vec![(PrivacyEvent::Exponential { epsilon: 0.3 }, 20)],
                Neighboring::AddRemoveOne,
                1e-6,
            ),
        ];
        for (events, neighboring, delta) in cases {
            let (usual, fine) = twice(&course(&events, neighboring), delta);
            let allowed = 7e-4 * usual.max(0.05);
            assert!(
                usual >= fine - 1e-9 && usual - fine <= allowed,
                "{events:?}: {usual} {fine}"
            );
        }
    }

    #[test]
    fn a_tiny_delta_is_answered_and_stays_below_the_renyi_bound() {
        let event = PrivacyEvent::PoissonSampledGaussian {
            sampling_rate: 0.01,
            noise_multiplier: 1.0,
            steps: 1000,
        };
        let mut accountant = PldAccountant::new(Neighboring::AddRemoveOne);
        accountant.compose(&event, 1).unwrap();
        for delta in [1e-20, 1e-100, 1e-200] {
            let delta = Delta::new(delta).unwrap();
            let (epsilon, bound) = (
                accountant.epsilon(delta).unwrap(),
                accountant.bound(|bound| bound.epsilon(delta)).unwrap(),
            );
            assert!(
                epsilon < bound && epsilon > 0.7 * bound,
                "{delta}: {epsilon} {bound}"
            );
            // The two questions are inverse.
            let back = accountant.delta(epsilon).unwrap();
            assert!(
                (back.ln() / delta.get().ln() - 1.0).abs() < 1e-2,
                "{delta}: {back:e}"
            );
        }
    }

    #[test]
    fn parallel_parts_cost_the_largest_or_the_two_largest() {
        let pure = |epsilon: f64| vec![CountedEvent::from(PrivacyEvent::Pure { epsilon })];
        let event = PrivacyEvent::Parallel {
            branches: vec![pure(0.5), pure(1.0), pure(0.2), Vec::new()],
        };
        let zero = Delta::new(0.0).unwrap();
        for (neighboring, expected) in [(Neighboring::AddRemoveOne, 1.0), (Neighboring::ReplaceOne, 1.5)] {
            let mut accountant = PldAccountant::new(neighboring);
            accountant.compose(&event, 2).unwrap();
            let found = accountant.epsilon(zero).unwrap();
            assert!((found - 2.0 * expected).abs() < 1e-12, "{neighboring}: {found}");
        }
    }

    #[test]
    fn the_profile_is_the_curve_that_single_questions_give() {
        let mut accountant = PldAccountant::new(Neighboring::AddRemoveOne);
        let event = PrivacyEvent::PoissonSampledGaussian {
            sampling_rate: 0.01,
            noise_multiplier: 1.0,
            steps: 2000,
        };
        accountant.compose(&event, 1).unwrap();
        let epsilons = [0.0, 0.5, 1.0, 2.0, 3.0];
        for (epsilon, delta) in epsilons.iter().zip(accountant.profile(&epsilons).unwrap()) {
            let single = accountant.delta(*epsilon).unwrap();
            assert!((delta / single - 1.0).abs() < 5e-3, "{epsilon}: {delta} {single}");
        }
    }
}
