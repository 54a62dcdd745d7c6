//! Randomised response: each person's own answer, noised before it leaves them.

use rand::Rng;

use super::MechanismError;
use super::exact::{decompose, uniform_below};
use crate::num::{Epsilon, RandomSource};
use crate::privacy::{PrivacyEvent, renyi};

/// k-ary randomised response: the true category with probability p, otherwise one of the others, all alike.
///
/// **Guarantee.** ε-DP in the local model, with ε = |ln(p(k − 1)/(1 − p))|: two true answers make any report likely
/// p or (1 − p)/(k − 1) (Warner 1965, "Randomized response: a survey technique for eliminating evasive answer bias", for two;
/// Kairouz, Oh, Viswanath 2016, "Extremal mechanisms for local differential privacy", §4.2, for k).
///
/// **Precondition.** One answer of one person; the categories are public. Several answers compose.
///
/// **Sampling.** Exact: every p is a whole number over a power of two, and the others are drawn by whole numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomizedResponse {
    truth_probability: f64,
    categories: u64,
}

impl RandomizedResponse {
    /// Truth with total probability `truth_probability` among `categories`.
    ///
    /// # Errors
    /// A probability that is not above 0 and below 1, fewer than two categories.
    pub fn new(truth_probability: f64, categories: u64) -> Result<Self, MechanismError> {
        let within = truth_probability > 0.0 && truth_probability < 1.0;
        MechanismError::check(
            "the truth probability",
            "above 0 and below 1",
            truth_probability,
            within,
        )?;
        let (count, within) = (categories as f64, categories >= 2);
        MechanismError::check("the number of categories", "at least 2", count, within)?;
        Ok(Self {
            truth_probability,
            categories,
        })
    }

    /// The most truth that ε allows: p = e^ε/(e^ε + k − 1), rounded down, and at most the last number below 1.
    ///
    /// # Errors
    /// Fewer than two categories.
    pub fn for_epsilon(epsilon: Epsilon, categories: u64) -> Result<Self, MechanismError> {
        let others = categories.saturating_sub(1) as f64;
        let truth = 1.0 / (1.0 + others * (-epsilon.get()).exp());
        let mut response = Self::new(truth.min(1.0_f64.next_down()), categories)?;
        while response.epsilon() > epsilon.get() && response.truth_probability > 1.0 / (others + 1.0) {
            response.truth_probability = response.truth_probability.next_down();
        }
        Ok(response)
    }

    /// Total probability of the true category.
    pub fn truth_probability(self) -> f64 {
        self.truth_probability
    }

    /// Probability of each of the other categories.
    pub fn other_probability(self) -> f64 {
        (1.0 - self.truth_probability) / (self.categories - 1) as f64
    }

    /// Number of categories.
    pub fn categories(self) -> u64 {
        self.categories
    }

    /// The local ε.
    pub fn epsilon(self) -> f64 {
        renyi::randomized_response(self.truth_probability, self.categories).0
    }

    /// A report for a true category, both counted from 0.
    ///
    /// # Errors
    /// A category beyond the last.
    pub fn respond(self, truth: u64, random: &mut RandomSource) -> Result<u64, MechanismError> {
        if truth >= self.categories {
            return Err(MechanismError::Category {
                category: truth,
                categories: self.categories,
            });
        }
        if happens(self.truth_probability, random) {
            return Ok(truth);
        }
        let other = uniform_below(self.categories - 1, random);
        Ok(if other >= truth { other + 1 } else { other })
    }

    /// Unbiased estimates of how many persons hold each category, from the counts of reports: with o = (1 − p)/(k − 1),
    /// (count − n·o)/(p − o) (Wang, Blocki, Li, Jha 2017, "Locally differentially private protocols for frequency
    /// estimation", §3.1 and eq. 1). Post-processing; may lie below 0.
    ///
    /// # Errors
    /// Counts of another number of categories, or p = 1/k, whose reports say nothing.
    pub fn estimate_counts(self, reports: &[u64]) -> Result<Vec<f64>, MechanismError> {
        let found = reports.len() as f64;
        let matching = reports.len() as u64 == self.categories;
        MechanismError::check("the number of counts", "that of the categories", found, matching)?;
        let p = self.truth_probability;
        let other = self.other_probability();
        MechanismError::check("the truth probability", "other than 1/k", p, p != other)?;
        let total: f64 = reports.iter().map(|&count| count as f64).sum();
        Ok(reports
            .iter()
            .map(|&count| (count as f64 - total * other) / (p - other))
            .collect())
    }

    /// What the accountants are told of one report.
    pub fn event(self) -> PrivacyEvent {
        PrivacyEvent::RandomizedResponse {
            truth_probability: self.truth_probability,
            categories: self.categories,
        }
    }
}

/// True with probability p, a double above 0 and below 1, exactly: p is m/2^e, and a number of e uniform bits is
/// below m. Its leading bits, beyond 64, must all be 0.
fn happens(p: f64, random: &mut RandomSource) -> bool {
    let (mantissa, exponent) = decompose(p);
    let mut bits = exponent.unsigned_abs();
    while bits > 64 {
        let taken = (bits - 64).min(64);
        if random.next_u64() >> (64 - taken) != 0 {
            return false;
        }
        bits -= taken;
    }
    random.next_u64() >> (64 - bits) < mantissa
}
