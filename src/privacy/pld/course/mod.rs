//! What a changed unit went through: pairs and their counts, with all that has a closed form gathered apart.

#![allow(clippy::float_cmp, reason = "exact edges such as q = 1 are meant")]

mod answer;

use std::collections::BTreeMap;

use self::answer::gathered;
use super::pair::{self, Layout, Pair};
use crate::privacy::renyi::{self, Cost};
use crate::privacy::{AccountingError, CountedEvent, Neighboring, PrivacyEvent};

/// Most distinct courses that disjoint parts may multiply to.
const MOST_COURSES: usize = 64;
/// Most different pairs composed one by one; more are gathered into classes of nearly equal ones.
const MOST_PAIRS: usize = 2000;

/// One sequence of events that a changed unit went through.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Course {
    /// μ² of all Gaussians together.
    pub(super) mu_squared: f64,
    /// ρ of all zCDP events together.
    pub(super) rho: f64,
    /// ln of the probability that no `approx` event failed.
    pub(super) ln_kept: f64,
    /// Whether every event is pure or `approx`, and the sum of their ε.
    pub(super) unbounded: bool,
    pub(super) pure: f64,
    pub(super) pairs: BTreeMap<Pair, u64>,
}

impl Course {
    pub(super) fn add(&mut self, other: &Self, count: u64) {
        if count == 0 {
            return;
        }
        let times = count as f64;
        self.mu_squared += times * other.mu_squared;
        self.rho += times * other.rho;
        self.ln_kept += times * other.ln_kept;
        self.unbounded |= other.unbounded;
        self.pure += times * other.pure;
        for (pair, repeated) in &other.pairs {
            let sum = self.pairs.entry(*pair).or_insert(0);
            *sum = sum.saturating_add(repeated.saturating_mul(count));
        }
    }

    pub(super) fn pair(pair: Pair, count: u64, pure: Option<f64>) -> Self {
        if count == 0 {
            return Self::default();
        }
        Self {
            unbounded: pure.is_none(),
            pure: pure.unwrap_or(0.0),
            pairs: BTreeMap::from([(pair, count)]),
            ..Self::default()
        }
    }

    /// The Rényi cost of the course.
    pub(super) fn cost(&self) -> Cost {
        let mut cost = Cost {
            delta: -self.ln_kept.exp_m1(),
            ..Cost::none()
        };
        if self.unbounded || self.ln_kept < 0.0 {
            cost.pure = None;
        }
        for (pair, count) in gathered(&self.pairs) {
            cost.add(&pair.cost(), count);
        }
        for (divergence, order) in cost.divergences.iter_mut().zip(&renyi::ORDERS) {
            *divergence += order * (0.5 * self.mu_squared + self.rho);
        }
        cost
    }

    pub(super) fn gaussian(mu_squared: f64) -> Self {
        Self {
            mu_squared,
            unbounded: mu_squared > 0.0,
            ..Self::default()
        }
    }

    /// Whether every event of `other` is here at least as often: then `other` never costs more.
    pub(super) fn covers(&self, other: &Self) -> bool {
        self.mu_squared >= other.mu_squared
            && self.rho >= other.rho
            && self.ln_kept <= other.ln_kept
            && other
                .pairs
                .iter()
                .all(|(pair, count)| self.pairs.get(pair).is_some_and(|own| own >= count))
    }
}

/// Drops courses that another one covers.
pub(super) fn distinct(courses: Vec<Course>) -> Vec<Course> {
    let mut kept: Vec<Course> = Vec::new();
    for course in courses {
        if kept.iter().any(|other| other.covers(&course)) {
            continue;
        }
        kept.retain(|other| !course.covers(other));
        kept.push(course);
    }
    kept
}

/// The courses of one event.
pub(super) fn courses(
    event: &PrivacyEvent,
    neighboring: Neighboring,
) -> Result<Vec<Course>, AccountingError> {
    let replace = neighboring == Neighboring::ReplaceOne;
    let squared = |mu: f64| mu * mu;
    let only_replace = || {
        if replace {
            return Ok(());
        }
        Err(AccountingError::Unprovable {
            event: event.name(),
            accountant: "pld",
            neighboring,
            reason: "it is proven under replace_one only",
        })
    };
    Ok(vec![match *event {
        PrivacyEvent::Laplace { scale, sensitivity } => {
            pure(sensitivity / scale, |epsilon| Pair::Laplace { epsilon })
        }
        PrivacyEvent::Gaussian { noise_multiplier } => Course::gaussian(squared(1.0 / noise_multiplier)),
        PrivacyEvent::DiscreteLaplace { scale, sensitivity } => pure(sensitivity as f64 / scale, |_| {
            Pair::DiscreteLaplace { scale, sensitivity }
        }),
        PrivacyEvent::DiscreteGaussian { sensitivity: 0, .. } => Course::default(),
        PrivacyEvent::DiscreteGaussian { sigma, sensitivity }
            if pair::layout(sigma, sensitivity) == Layout::Rho =>
        {
            // s²/2σ²-zCDP (Canonne, Kamath, Steinke 2020, Thm 4).
            let rho = 0.5 * squared(sensitivity as f64 / sigma);
            Course {
                rho,
                unbounded: true,
                ..Course::default()
            }
        }
        PrivacyEvent::DiscreteGaussian { sigma, sensitivity } => {
            Course::pair(Pair::DiscreteGaussian { sigma, sensitivity }, 1, None)
        }
        PrivacyEvent::PoissonSampledGaussian {
            sampling_rate: q,
            noise_multiplier: z,
            steps,
        } => {
            if q == 0.0 {
                Course::default()
            } else if q == 1.0 {
                Course::gaussian(steps as f64 * squared(if replace { 2.0 } else { 1.0 } / z))
            } else if replace {
                Course::pair(Pair::TwoMixtures { q, z }, steps, None)
            } else {
                Course::pair(Pair::Mixture { q, z }, steps, None)
            }
        }
        PrivacyEvent::FixedSizeSampledGaussian {
            population,
            batch,
            noise_multiplier,
            steps,
        } => {
            only_replace()?;
            // A replaced row moves the clipped sum by up to 2C.
            envelope(batch as f64 / population as f64, noise_multiplier / 2.0, steps)
        }
        PrivacyEvent::RowDrawGaussian {
            shards,
            sigma,
            rows,
            steps,
        } => {
            only_replace()?;
            envelope(1.0 / shards as f64, sigma, rows.saturating_mul(steps))
        }
        // Known steps use the changed critic: N(0, σ²) against a shift of up to 1 (in units of 2C), uses·rows times.
        // Under add/remove the shard of a row is drawn for it alone, so the same one critic changes.
        PrivacyEvent::RoundRobinGaussian { uses, sigma, rows } => {
            Course::gaussian(uses as f64 * rows as f64 * squared(1.0 / sigma))
        }
        PrivacyEvent::RandomizedResponse {
            truth_probability,
            categories,
        } => {
            let (epsilon, telling) = renyi::randomized_response(truth_probability, categories);
            pure(epsilon, |epsilon| Pair::TwoLosses { epsilon, telling })
        }
        PrivacyEvent::Exponential { epsilon } => pure(epsilon, |epsilon| Pair::Exponential { epsilon }),
        PrivacyEvent::Pure { epsilon } => pure(epsilon, |epsilon| Pair::TwoLosses {
            epsilon,
            telling: 1.0,
        }),
        PrivacyEvent::Approx { epsilon, delta } => Course {
            ln_kept: (-delta).ln_1p(),
            ..pure(epsilon, |epsilon| Pair::TwoLosses {
                epsilon,
                telling: 1.0,
            })
        },
        PrivacyEvent::Zcdp { rho } => Course {
            rho,
            unbounded: rho > 0.0,
            ..Course::default()
        },
        PrivacyEvent::Parallel { ref branches } => return parallel(branches, neighboring),
    }])
}

pub(super) fn pure(epsilon: f64, pair: impl Fn(f64) -> Pair) -> Course {
    if epsilon == 0.0 {
        Course::default()
    } else {
        Course::pair(pair(epsilon), 1, Some(epsilon))
    }
}

pub(super) fn envelope(q: f64, sigma: f64, count: u64) -> Course {
    if q == 0.0 {
        Course::default()
    } else if q >= 1.0 {
        Course::gaussian(count as f64 / sigma / sigma)
    } else {
        Course::pair(Pair::Envelope { q, sigma }, count, None)
    }
}

/// Disjoint parts fixed ahead of the data: a changed row goes through one branch; under replace one it may leave one
/// and enter another, and goes through two. Which ones is fixed, so the largest of all courses holds.
pub(super) fn parallel(
    branches: &[Vec<CountedEvent>],
    neighboring: Neighboring,
) -> Result<Vec<Course>, AccountingError> {
    let each = branches
        .iter()
        .map(|branch| sequence(branch, neighboring))
        .collect::<Result<Vec<Vec<Course>>, _>>()?;
    if neighboring != Neighboring::ReplaceOne || each.len() < 2 {
        let all = distinct(each.into_iter().flatten().collect());
        let all = if all.is_empty() {
            vec![Course::default()]
        } else {
            all
        };
        return limited(all, neighboring);
    }
    // Branches that cost the same are one course; of each, two are enough for any pair of branches.
    let mut different: Vec<(Vec<Course>, usize)> = Vec::new();
    for branch in each {
        match different.iter_mut().find(|(known, _)| *known == branch) {
            Some((_, times)) => *times += 1,
            None => different.push((branch, 1)),
        }
        if different.len() > 2 * MOST_COURSES {
            return limited(Vec::new(), neighboring);
        }
    }
    let mut both = Vec::new();
    for (i, (first, times)) in different.iter().enumerate() {
        for (second, _) in &different[i + usize::from(*times == 1)..] {
            both = distinct(both.into_iter().chain(product(first, second)).collect());
        }
    }
    limited(both, neighboring)
}

pub(super) fn product(first: &[Course], second: &[Course]) -> Vec<Course> {
    let mut both = Vec::with_capacity(first.len() * second.len());
    for a in first {
        for b in second {
            let mut sum = a.clone();
            sum.add(b, 1);
            both.push(sum);
        }
    }
    both
}

pub(super) fn limited(
    courses: Vec<Course>,
    neighboring: Neighboring,
) -> Result<Vec<Course>, AccountingError> {
    if (1..=MOST_COURSES).contains(&courses.len()) {
        return Ok(courses);
    }
    Err(AccountingError::Unprovable {
        event: "parallel",
        accountant: "pld",
        neighboring,
        reason: "its branches make too many different courses; account it with rdp",
    })
}

/// The Rényi cost of many events that are not `parallel`, equal ones counted together and very many different ones
/// gathered into classes; see [`gathered`].
///
/// # Errors
/// As [`Accountant::compose`].
pub(in crate::privacy) fn gathered_cost<'a>(
    events: impl Iterator<Item = &'a CountedEvent>,
    neighboring: Neighboring,
) -> Result<Cost, AccountingError> {
    let mut all = vec![Course::default()];
    for CountedEvent { event, count } in events {
        extend(&mut all, event, *count, neighboring).map_err(|error| match error {
            AccountingError::Unprovable {
                event,
                neighboring,
                reason,
                ..
            } => AccountingError::Unprovable {
                event,
                accountant: "rdp",
                neighboring,
                reason,
            },
            other => other,
        })?;
    }
    Ok(all.first().map_or_else(Cost::none, Course::cost))
}

/// The courses of a sequence of events.
pub(super) fn sequence(
    events: &[CountedEvent],
    neighboring: Neighboring,
) -> Result<Vec<Course>, AccountingError> {
    let mut all = vec![Course::default()];
    for CountedEvent { event, count } in events {
        extend(&mut all, event, *count, neighboring)?;
    }
    Ok(all)
}

pub(super) fn extend(
    all: &mut Vec<Course>,
    event: &PrivacyEvent,
    count: u64,
    neighboring: Neighboring,
) -> Result<(), AccountingError> {
    event.validate()?;
    let mut more = courses(event, neighboring)?;
    if more.len() == 1 {
        for course in all.iter_mut() {
            course.add(&more[0], count);
        }
        return Ok(());
    }
    if count == 0 {
        return Ok(());
    }
    // The parts are fixed once for all repetitions, so a row goes through the same branch each time.
    for course in &mut more {
        let once = course.clone();
        course.add(&once, count - 1);
    }
    *all = limited(distinct(product(all, &more)), neighboring)?;
    Ok(())
}
