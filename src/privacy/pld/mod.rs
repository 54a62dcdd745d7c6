//! The accountant of privacy loss distributions: the tightest ε that a list of events supports.
//!
//! Each event becomes a dominating pair ([`pair`]), pairs are composed on a grid ([`compose`]). What has a closed
//! form is not discretised: all Gaussians together are one Gaussian pair with μ² = Σ 1/z², all zCDP events one ρ.

mod compose;
mod pair;
pub(super) mod profile;

use std::collections::BTreeMap;

use self::compose::{Guess, Question};
use self::pair::Pair;
use super::renyi::{self, Cost};
use super::{
    Accountant, AccountingError, CountedEvent, EventList, Neighboring, PrivacyEvent, RdpAccountant, gaussian,
};
use crate::num::Delta;

/// Privacy loss distributions of everything composed so far.
#[derive(Clone, Debug)]
pub struct PldAccountant {
    neighboring: Neighboring,
    /// What a changed unit can have gone through: one course, or several where parts of the data are disjoint.
    courses: Vec<Course>,
}

/// Largest σ of a discrete Gaussian that is laid out atom by atom.
const MOST_SIGMA: f64 = 5000.0;
/// Most distinct courses that disjoint parts may multiply to.
const MOST_COURSES: usize = 64;
/// Most different pairs composed one by one; more are gathered into classes of nearly equal ones.
const MOST_PAIRS: usize = 2000;

/// One sequence of events that a changed unit went through.
#[derive(Clone, Debug, Default, PartialEq)]
struct Course {
    /// μ² of all Gaussians together.
    mu_squared: f64,
    /// ρ of all zCDP events together.
    rho: f64,
    /// ln of the probability that no `approx` event failed.
    ln_kept: f64,
    /// Whether every event is pure or `approx`, and the sum of their ε.
    unbounded: bool,
    pure: f64,
    pairs: BTreeMap<Pair, u64>,
}

impl Course {
    fn add(&mut self, other: &Self, count: u64) {
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

    fn pair(pair: Pair, count: u64, pure: Option<f64>) -> Self {
        let mut course = Self {
            unbounded: pure.is_none(),
            pure: pure.unwrap_or(0.0),
            ..Self::default()
        };
        if count > 0 {
            course.pairs.insert(pair, count);
        }
        course
    }

    /// The Rényi cost of the course.
    fn cost(&self) -> Cost {
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

    fn gaussian(mu_squared: f64) -> Self {
        Self {
            mu_squared,
            unbounded: mu_squared > 0.0,
            ..Self::default()
        }
    }

    /// Whether every event of `other` is here at least as often: then `other` never costs more.
    fn covers(&self, other: &Self) -> bool {
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
fn distinct(courses: Vec<Course>) -> Vec<Course> {
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
fn courses(event: &PrivacyEvent, neighboring: Neighboring) -> Result<Vec<Course>, AccountingError> {
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
        PrivacyEvent::DiscreteGaussian { sigma, sensitivity } if sigma > MOST_SIGMA => {
            // s²/2σ²-zCDP (Canonne, Kamath, Steinke 2020, Thm 4), and on so fine a grid no more than that is lost.
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

fn pure(epsilon: f64, pair: impl Fn(f64) -> Pair) -> Course {
    if epsilon == 0.0 {
        Course::default()
    } else {
        Course::pair(pair(epsilon), 1, Some(epsilon))
    }
}

fn envelope(q: f64, sigma: f64, count: u64) -> Course {
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
fn parallel(
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

fn product(first: &[Course], second: &[Course]) -> Vec<Course> {
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

fn limited(courses: Vec<Course>, neighboring: Neighboring) -> Result<Vec<Course>, AccountingError> {
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
pub(super) fn gathered_cost<'a>(
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
fn sequence(events: &[CountedEvent], neighboring: Neighboring) -> Result<Vec<Course>, AccountingError> {
    let mut all = vec![Course::default()];
    for CountedEvent { event, count } in events {
        extend(&mut all, event, *count, neighboring)?;
    }
    Ok(all)
}

fn extend(
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

/// Orders used to guess where the answer lies; the sums behind whole orders are quick.
const GUESS_ORDERS: [usize; 17] = [2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 128, 256, 512];

impl Course {
    /// The part of δ left when `approx` events have taken theirs; see the Rényi accountant.
    fn remaining(&self, delta: f64) -> f64 {
        if self.ln_kept == 0.0 {
            delta
        } else {
            (delta + self.ln_kept.exp_m1()) / self.ln_kept.exp()
        }
    }

    /// Whether there is nothing but Gaussians.
    fn is_gaussian(&self) -> bool {
        self.pairs.is_empty() && self.rho == 0.0
    }

    fn all_pairs(&self) -> Vec<(Pair, u64)> {
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
    fn divergence(pairs: &[(Pair, u64)], order: usize) -> f64 {
        pairs
            .iter()
            .map(|&(pair, count)| count as f64 * guess_divergence(pair, order))
            .sum()
    }

    fn guess(pairs: &[(Pair, u64)], question: Question) -> Guess {
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

    fn epsilon(&self, delta: f64) -> (f64, f64) {
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

    fn curve(&self, epsilons: &[f64]) -> Vec<f64> {
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

    fn delta(&self, epsilon: f64) -> (f64, f64) {
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
fn guess_divergence(pair: Pair, order: usize) -> f64 {
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
fn gathered(pairs: &BTreeMap<Pair, u64>) -> Vec<(Pair, u64)> {
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
