//! What a changed unit went through: pairs and their counts, with all that has a closed form gathered apart.
//!
//! Longer than other files: the events are one list, and what is known of a course belongs together.

#![allow(clippy::float_cmp, reason = "exact edges such as q = 1 are meant")]

use std::collections::BTreeMap;

use super::compose::{self, Guess, Question};
use super::pair::{self, Layout, Pair};
use crate::privacy::renyi::{self, Cost};
use crate::privacy::{AccountingError, CountedEvent, Neighboring, PrivacyEvent, gaussian};

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

/// Orders used to guess where the answer lies; the sums behind whole orders are quick.
const GUESS_ORDERS: [usize; 17] = [2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 128, 256, 512];

impl Course {
    /// The part of δ left when `approx` events have taken theirs; see the Rényi accountant.
    pub(super) fn remaining(&self, delta: f64) -> f64 {
        if self.ln_kept == 0.0 {
            delta
        } else {
            (delta + self.ln_kept.exp_m1()) / self.ln_kept.exp()
        }
    }

    /// Whether there is nothing but Gaussians.
    pub(super) fn is_gaussian(&self) -> bool {
        self.pairs.is_empty() && self.rho == 0.0
    }

    pub(super) fn all_pairs(&self) -> Vec<(Pair, u64)> {
        let mut pairs: Vec<(Pair, u64)> = gathered(&self.pairs);
        if self.mu_squared > 0.0 {
            pairs.push((
                Pair::Envelope {
                    q: 1.0,
                    sigma: 1.0 / self.mu_squared.sqrt(),
                },
                1,
            ));
        }
        if self.rho > 0.0 {
            pairs.push((Pair::Zcdp { rho: self.rho }, 1));
        }
        pairs
    }

    /// Rényi divergence of all pairs at a whole order, as a place to look.
    pub(super) fn divergence(pairs: &[(Pair, u64)], order: usize) -> f64 {
        pairs
            .iter()
            .map(|&(pair, count)| count as f64 * guess_divergence(pair, order))
            .sum()
    }

    pub(super) fn guess(pairs: &[(Pair, u64)], question: Question) -> Guess {
        let mut best = Guess {
            tilt: 1.0,
            epsilon: f64::INFINITY,
            ln_delta: 0.0,
        };
        let mut least = f64::INFINITY;
        for order in GUESS_ORDERS {
            let divergence = Self::divergence(pairs, order);
            let alpha = order as f64;
            let offset = (-1.0 / alpha).ln_1p();
            let (height, guess) = match question {
                Question::Epsilon { ln_delta } => {
                    let epsilon = divergence + offset - (ln_delta + alpha.ln()) / (alpha - 1.0);
                    (
                        epsilon,
                        Guess {
                            tilt: alpha - 1.0,
                            epsilon,
                            ln_delta,
                        },
                    )
                }
                Question::Delta { epsilon } => {
                    let ln_delta = (alpha - 1.0) * (divergence - epsilon + offset) - alpha.ln();
                    (
                        ln_delta,
                        Guess {
                            tilt: alpha - 1.0,
                            epsilon,
                            ln_delta: ln_delta.min(0.0),
                        },
                    )
                }
            };
            if height < least {
                (least, best) = (height, guess);
            } else {
                // One minimum: R and the order's own part are both convex enough for a guess.
                break;
            }
            if order == 2 {
                // Between orders 1 and 2 there is no quick sum: as if Gaussian, R(α) = αρ, θ = √(ln(1/δ)/ρ).
                let rho = 0.5 * divergence;
                let gaussian = match question {
                    Question::Epsilon { ln_delta } => {
                        let tilt = (-ln_delta / rho).sqrt();
                        (tilt < 1.0).then_some(Guess {
                            tilt,
                            epsilon: rho + 2.0 * (-ln_delta * rho).sqrt(),
                            ln_delta,
                        })
                    }
                    Question::Delta { epsilon } => {
                        let tilt = ((epsilon - rho) / (2.0 * rho)).max(0.0);
                        (tilt < 1.0).then_some(Guess {
                            tilt,
                            epsilon,
                            ln_delta: -tilt * tilt * rho,
                        })
                    }
                };
                if let Some(gaussian) = gaussian {
                    return gaussian;
                }
            }
        }
        best
    }

    pub(super) fn epsilon(&self, delta: f64) -> (f64, f64) {
        let rest = self.remaining(delta);
        // With no δ left only what is pure promises anything.
        let pure = if self.unbounded || rest < 0.0 {
            f64::INFINITY
        } else {
            self.pure
        };
        if rest <= 0.0 || pure == 0.0 {
            return (pure, 0.0);
        }
        let ln_delta = rest.ln();
        if self.is_gaussian() {
            return (gaussian::epsilon(self.mu_squared.sqrt(), ln_delta).min(pure), 0.0);
        }
        let pairs = self.all_pairs();
        let question = Question::Epsilon { ln_delta };
        let guess = Self::guess(&pairs, question);
        if !guess.epsilon.is_finite() {
            return (pure, f64::INFINITY);
        }
        let answer = compose::answer(&pairs, question, guess);
        (answer.value.min(pure), answer.excess)
    }

    pub(super) fn curve(&self, epsilons: &[f64]) -> Vec<f64> {
        let (kept, failed) = (self.ln_kept.exp(), -self.ln_kept.exp_m1());
        if self.is_gaussian() {
            let mu = self.mu_squared.sqrt();
            return epsilons
                .iter()
                .map(|&epsilon| failed + kept * gaussian::delta(mu, epsilon))
                .collect();
        }
        let pairs = self.all_pairs();
        // The grid suits what matters for a trade-off curve: ε where δ is about 1e-6.
        let guess = Self::guess(
            &pairs,
            Question::Epsilon {
                ln_delta: 1e-6f64.ln(),
            },
        );
        let guess = Guess {
            ln_delta: 1e-13f64.ln(),
            ..guess
        };
        if !guess.epsilon.is_finite() {
            return vec![1.0; epsilons.len()];
        }
        compose::curve(&pairs, epsilons, guess)
            .into_iter()
            .map(|delta| (failed + kept * delta).min(1.0))
            .collect()
    }

    pub(super) fn delta(&self, epsilon: f64) -> (f64, f64) {
        let kept = self.ln_kept.exp();
        let failed = -self.ln_kept.exp_m1();
        if !self.unbounded && epsilon >= self.pure {
            return (failed, 0.0);
        }
        if self.is_gaussian() {
            return (
                failed + kept * gaussian::delta(self.mu_squared.sqrt(), epsilon),
                0.0,
            );
        }
        let pairs = self.all_pairs();
        let question = Question::Delta { epsilon };
        let guess = Self::guess(&pairs, question);
        let answer = compose::answer(&pairs, question, guess);
        ((failed + kept * answer.value).min(1.0), answer.excess)
    }
}

/// A rough divergence of a pair at a whole order: exact where that is quick, else an estimate. Used only to choose
/// grid and tilt, never in an answer.
pub(super) fn guess_divergence(pair: Pair, order: usize) -> f64 {
    let alpha = order as f64;
    match pair {
        Pair::Mixture { q, z } => renyi::poisson_whole_order(q, z, order) / (alpha - 1.0),
        Pair::TwoMixtures { q, z } => {
            let mixture = renyi::poisson_whole_order(q, z, order) / (alpha - 1.0);
            // Between 2 and 4: the ratio of the second moments of both ratios' distances from 1.
            let a = (1.0 / z / z).min(50.0);
            mixture * 2.0 * (a.exp() - (-a).exp()) / a.exp_m1()
        }
        Pair::Envelope { q, sigma } => {
            let plain = 0.5 * alpha / sigma / sigma;
            if q >= 1.0 {
                plain
            } else {
                (1.2 * renyi::poisson_whole_order(q, sigma, order) / (alpha - 1.0)).min(plain)
            }
        }
        Pair::Laplace { epsilon } | Pair::Exponential { epsilon } => renyi::laplace(epsilon, alpha),
        Pair::TwoLosses { epsilon, telling } => renyi::two_losses(epsilon, telling, alpha),
        Pair::DiscreteLaplace { scale, sensitivity } => renyi::laplace(sensitivity as f64 / scale, alpha),
        Pair::DiscreteGaussian { sigma, sensitivity } => {
            let s = sensitivity as f64 / sigma;
            0.5 * alpha * s * s
        }
        Pair::Zcdp { rho } => alpha * rho,
    }
}

/// The pairs and their counts, gathered into classes of nearly equal ones where there are very many: the noise of a
/// class is its smallest and the rate its largest, so a class never costs less than its members (less noise is
/// undone by adding noise, a higher rate by dropping rows at random: both are post-processing).
pub(super) fn gathered(pairs: &BTreeMap<Pair, u64>) -> Vec<(Pair, u64)> {
    if pairs.len() <= MOST_PAIRS {
        return pairs.iter().map(|(pair, count)| (*pair, *count)).collect();
    }
    // Round to ever fewer binary digits until few enough are left.
    for digits in (0..=12).rev() {
        let mut classes: BTreeMap<Pair, u64> = BTreeMap::new();
        for (pair, count) in pairs {
            let sum = classes.entry(pair.coarser(digits)).or_insert(0);
            *sum = sum.saturating_add(*count);
            if classes.len() > MOST_PAIRS {
                break;
            }
        }
        if classes.len() <= MOST_PAIRS {
            return classes.into_iter().collect();
        }
    }
    // Everything apart even by powers of two: all as the costliest two-point pair would be useless, so let the
    // Rényi bound answer.
    vec![(
        Pair::TwoLosses {
            epsilon: f64::MAX,
            telling: 1.0,
        },
        1,
    )]
}
