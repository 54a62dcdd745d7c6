//! Choosing the best of many candidates: the exponential mechanism, permute-and-flip, report-noisy-max.

use num_bigint::{BigInt, BigUint};
use rand::Rng;

use super::exact::{
    decompose, exp_minus_ln_2_rest, exp_minus_one, exp_minus_ratio, ln_2_below, uniform_below,
    uniform_below_wide,
};
use super::{DiscreteLaplace, Grid, MechanismError};
use crate::num::{Epsilon, RandomSource};
use crate::privacy::PrivacyEvent;

/// The deepest level of the exponential mechanism's proposals.
const DEEPEST: u32 = 63;

/// What brings a product of a few rounded numbers below the true one.
const FROM_BELOW: f64 = 1.0 - 1e-14;

/// Report-noisy-max cuts scores and noise to this many steps.
const FARTHEST: i64 = 1 << 61;

/// A private choice of the candidate with a high score.
///
/// **Precondition**, the same for all three: every candidate's score changes by at most `sensitivity` when one unit does
/// (under the stated relation), as the numbers are given here; the list of candidates is public. Counts and
/// ranks are whole numbers, so nothing is rounded in them.
///
/// With λ = ε/2Δ, or ε/Δ for [`Selection::monotonic`] scores, a candidate with score u is favoured by e^(λu).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Selection {
    epsilon: f64,
    sensitivity: f64,
    monotonic: bool,
}

impl Selection {
    /// A choice at ε among scores of the given sensitivity.
    ///
    /// # Errors
    /// An ε that is not between 1e-9 and 1e6, or a sensitivity that is not between 1e-100 and 1e100.
    pub fn new(epsilon: Epsilon, sensitivity: f64) -> Result<Self, MechanismError> {
        let epsilon = epsilon.get();
        let within = (1e-9..=1e6).contains(&epsilon);
        MechanismError::check("epsilon", "between 1e-9 and 1e6", epsilon, within)?;
        let within = (1e-100..=1e100).contains(&sensitivity);
        MechanismError::check("sensitivity", "between 1e-100 and 1e100", sensitivity, within)?;
        Ok(Self {
            epsilon,
            sensitivity,
            monotonic: false,
        })
    }

    /// The same for scores that, when one unit is added, all rise or stay, or all fall or stay (counts do, under
    /// add/remove; never under replace one): twice the λ at the same ε.
    #[must_use]
    pub fn monotonic(self) -> Self {
        Self {
            monotonic: true,
            ..self
        }
    }

    /// λ: the logarithm by which one more point of score favours a candidate.
    pub fn rate(self) -> f64 {
        self.epsilon / self.divisor() / self.sensitivity
    }

    fn divisor(self) -> f64 {
        if self.monotonic { 1.0 } else { 2.0 }
    }

    /// What the accountants are told of one choice by [`Selection::exponential`] or
    /// [`Selection::exponential_grouped`].
    pub fn exponential_event(self) -> PrivacyEvent {
        PrivacyEvent::Exponential {
            epsilon: self.epsilon,
        }
    }

    /// What the accountants are told of one choice by [`Selection::permute_and_flip`] or
    /// [`Selection::report_noisy_max`].
    pub fn pure_event(self) -> PrivacyEvent {
        PrivacyEvent::Pure {
            epsilon: self.epsilon,
        }
    }

    /// The exponential mechanism: candidate i with probability e^(λuᵢ)/Σ e^(λuⱼ).
    ///
    /// **Guarantee.** ε-DP (McSherry & Talwar 2007, "Mechanism design via differential privacy", Thm 6), and ε-bounded
    /// range (Durfee & Rogers 2019, "Practical differentially private top-k selection with pay-what-you-get composition",
    /// Lemma 3.2), which costs a quarter of the Rényi divergence of other ε-DP mechanisms: the event is
    /// `exponential`. Monotonic scores: one term of the numerator changes by at most e^(λΔ), and the sum in the same
    /// direction by no more, so λ = ε/Δ will do.
    ///
    /// # Errors
    /// No score, or one that is not finite.
    pub fn exponential(self, scores: &[f64], random: &mut RandomSource) -> Result<usize, MechanismError> {
        let best = best(scores)?;
        self.choose(scores, |_| 1, best, random)
    }

    /// The exponential mechanism among groups of equally scored candidates: group i, which stands for
    /// `multiplicities[i]` of them, with probability mᵢ e^(λuᵢ)/Σ mⱼ e^(λuⱼ).
    ///
    /// A quantile's candidates are the points of a public grid between public bounds; all points between two
    /// neighbouring rows score alike, and a uniform draw among the group's points makes the choice one of a point
    /// (Smith 2011, "Privacy-preserving statistical estimation with optimal convergence rates", §3). The groups may
    /// depend on the data then, since the points do not.
    ///
    /// # Errors
    /// No candidate, a score that is not finite, lists of different lengths, multiplicities that add up to more than
    /// 2^63.
    pub fn exponential_grouped(
        self,
        scores: &[f64],
        multiplicities: &[u64],
        random: &mut RandomSource,
    ) -> Result<usize, MechanismError> {
        if scores.len() != multiplicities.len() {
            return Err(MechanismError::Lengths {
                scores: scores.len(),
                multiplicities: multiplicities.len(),
            });
        }
        best(scores)?;
        let total: u128 = multiplicities.iter().map(|&m| u128::from(m)).sum();
        let within = total <= 1 << 63;
        MechanismError::check("the sum of multiplicities", "at most 2^63", total as f64, within)?;
        let best = scores
            .iter()
            .zip(multiplicities)
            .filter(|&(_, &m)| m > 0)
            .map(|(&score, _)| score)
            .reduce(f64::max)
            .ok_or(MechanismError::NothingToChoose("every multiplicity is 0"))?;
        self.choose(scores, |i| multiplicities[i], best, random)
    }

    /// Draws from P(i) ∝ mᵢ e^(−γᵢ), γᵢ = λ(best − uᵢ), exactly.
    ///
    /// Proposals come with masses mᵢ·2^(−hᵢ), whole multiples of 2^(−H), where h ≤ H is a whole number with h·c ≤ γ and
    /// c = p/q is a fraction just below ln 2, τ = ln 2 − c. One is kept with probability
    /// e^(−(γ − hc)) · e^(−(H − h)τ), which is e^(−Hτ) · e^(−γ)/2^(−h): the wanted distribution. Any h with h·c ≤ γ will
    /// do, so it may be found in floating point from below; what it is worth is then computed in whole numbers. A
    /// proposal with h < H is kept with probability ½ or more, and those with h = H are at most half of all.
    fn choose(
        self,
        scores: &[f64],
        multiplicity: impl Fn(usize) -> u64,
        best: f64,
        random: &mut RandomSource,
    ) -> Result<usize, MechanismError> {
        let level = self.levels(best, scores);
        let mut at_level = [0u64; DEEPEST as usize + 1];
        for i in 0..scores.len() {
            at_level[level(i) as usize] += multiplicity(i);
        }
        let masses = || (0..=DEEPEST).map(|h| u128::from(at_level[h as usize]) << (DEEPEST - h));
        let total: u128 = masses().sum();
        loop {
            let mut place = uniform_below_wide(total, random);
            let Some((h, _)) = (0..).zip(masses()).find(|&(_, mass)| {
                let here = place < mass;
                if !here {
                    place -= mass;
                }
                here
            }) else {
                continue;
            };
            // Each candidate of the level owns 2^(H − h) places for each that it stands for.
            let mut rank = (place >> (DEEPEST - h)) as u64;
            let found = (0..scores.len()).filter(|&i| level(i) == h).find(|&i| {
                let here = rank < multiplicity(i);
                if !here {
                    rank -= multiplicity(i);
                }
                here
            });
            if let Some(i) = found
                && (h..DEEPEST).all(|_| exp_minus_ln_2_rest(random))
                && self.keeps(best, scores[i], u64::from(h), random)
            {
                return Ok(i);
            }
        }
    }

    /// For each candidate a whole number h ≤ [`DEEPEST`] with h·ln 2 ≤ γ, nearly always the largest.
    fn levels(self, best: f64, scores: &[f64]) -> impl Fn(usize) -> u32 {
        // Fewer than ten roundings of at most 2^(−53) each stand between this and the true γ/ln 2.
        let per_score = self.rate() * FROM_BELOW / std::f64::consts::LN_2;
        move |i| ((best - scores[i]) * per_score).min(f64::from(DEEPEST)) as u32
    }

    /// True with probability e^(−(γ − h·p/q)), γ from the exact values of the doubles.
    fn keeps(self, best: f64, score: f64, h: u64, random: &mut impl Rng) -> bool {
        let (numerator, denominator) = self.gamma(best, score);
        let (p, q) = ln_2_below();
        let (scaled, taken) = (numerator * q, &denominator * (p * h));
        debug_assert!(scaled >= taken, "the level was found from below");
        exp_minus_ratio(&(scaled - taken), &(denominator * q), random)
    }

    /// γ = ε(best − u)/(2Δ), or without the 2, as a fraction of whole numbers.
    fn gamma(self, best: f64, score: f64) -> (BigUint, BigUint) {
        let (distance, distance_exponent) = difference(best, score);
        let (epsilon, epsilon_exponent) = decompose(self.epsilon);
        let (sensitivity, sensitivity_exponent) = decompose(self.sensitivity);
        let numerator = distance * epsilon;
        let denominator = BigUint::from(sensitivity) * (self.divisor() as u64);
        let exponent = distance_exponent + epsilon_exponent - sensitivity_exponent;
        if exponent >= 0 {
            (numerator << exponent, denominator)
        } else {
            (numerator, denominator << exponent.unsigned_abs())
        }
    }

    /// Permute-and-flip: candidates in random order, each accepted with probability e^(λ(uᵢ − max u)), the first
    /// that is.
    ///
    /// **Guarantee.** ε-DP, and never a worse expected score than the exponential mechanism's at that ε (McKenna &
    /// Sheldon 2020, "Permute-and-flip: a new mechanism for differentially private selection", Thms 1 and 2). It is
    /// report-noisy-max with exponential noise (Ding, Kifer, Sayed, Steinke, Wang, Xiao, Zhang 2021, "The
    /// permute-and-flip mechanism is identical to report-noisy-max with exponential noise"), whose proof for
    /// monotonic scores is that of [`Selection::report_noisy_max`]. It does **not** have ε-bounded range: of two equal
    /// candidates, one falling behind by 2Δ goes from ½ to e^(−ε)/2, whose two losses lie ε + ln(2 − e^(−ε)) apart.
    /// So the event is `pure`, and under composition the exponential mechanism may be the better buy.
    ///
    /// # Errors
    /// No score, or one that is not finite.
    pub fn permute_and_flip(
        self,
        scores: &[f64],
        random: &mut RandomSource,
    ) -> Result<usize, MechanismError> {
        let best = best(scores)?;
        let mut order: Vec<usize> = (0..scores.len()).collect();
        for place in 0..order.len() {
            let rest = (order.len() - place) as u64;
            order.swap(place, place + uniform_below(rest, random) as usize);
            let score = scores[order[place]];
            // Whole units of γ, from below, cost a comparison each and turn most away before any long division.
            let whole = ((best - score) * self.rate() * FROM_BELOW).min(1e18) as u64;
            if (0..whole).all(|_| exp_minus_one(random)) && self.flips(best, score, whole, random) {
                return Ok(order[place]);
            }
        }
        // The best one is accepted with probability 1, so the loop does return.
        Err(MechanismError::NothingToChoose("no candidate was accepted"))
    }

    /// True with probability e^(−(γ − whole)).
    fn flips(self, best: f64, score: f64, whole: u64, random: &mut impl Rng) -> bool {
        let (numerator, denominator) = self.gamma(best, score);
        exp_minus_ratio(&(numerator - &denominator * whole), &denominator, random)
    }

    /// Report-noisy-max: geometric noise on every score, the index of the largest sum.
    ///
    /// **Guarantee.** ε-DP; the event is `pure` (not bounded range, for the reason given at permute-and-flip).
    /// Scores are rounded to a public grid on which the sensitivity is s steps, 1024 to 2048 (rounded up by less than
    /// 0.1 %, and not at all if it is a power of two); the noise is P(k) ∝ e^(−kε/2s), k ≥ 0. Dwork &
    /// Roth 2014, §3.3 (Claim 3.9, there with Laplace noise and monotonic counts): fix the others' noise. Candidate i wins
    /// if its own noise is at least a threshold m; for a neighbour m moves by at most 2s (s when scores are
    /// monotonic), and P(noise ≥ m + 2s) ≥ e^(−ε) P(noise ≥ m). Equal sums go by a random order drawn first,
    /// whatever the data; given it, one of the two candidates' thresholds is one step higher, and the argument
    /// holds as it stands.
    ///
    /// # Errors
    /// No score, or one that is not finite.
    pub fn report_noisy_max(
        self,
        scores: &[f64],
        random: &mut RandomSource,
    ) -> Result<usize, MechanismError> {
        best(scores)?;
        let grid = Grid::for_scale(self.sensitivity)?;
        let steps = grid.sensitivity(self.sensitivity)?;
        let noise = DiscreteLaplace::for_rate(self.epsilon / self.divisor(), steps)?;
        let mut winner = (i64::MIN, 0, 0);
        for (i, &score) in scores.iter().enumerate() {
            // Cutting scores brings none farther apart; noise beyond 2^61 has probability below e^(−2^18).
            let score = grid.round(score).clamp(-FARTHEST, FARTHEST);
            let drawn = i64::try_from(noise.magnitude(random)).map_or(FARTHEST, |drawn| drawn.min(FARTHEST));
            let candidate = (score + drawn, random.next_u64(), i);
            winner = winner.max(candidate);
        }
        Ok(winner.2)
    }
}

/// The largest score, if all are finite.
pub(super) fn best(scores: &[f64]) -> Result<f64, MechanismError> {
    let mut best = f64::NEG_INFINITY;
    for (index, &value) in scores.iter().enumerate() {
        if !value.is_finite() {
            return Err(MechanismError::Score { index, value });
        }
        best = best.max(value);
    }
    if scores.is_empty() {
        return Err(MechanismError::NothingToChoose("no score was given"));
    }
    Ok(best)
}

/// best − score ≥ 0, exactly: a whole number and the power of two that it is to be multiplied by.
fn difference(best: f64, score: f64) -> (BigUint, i32) {
    let signed = |x: f64, shift: i32| {
        let magnitude = BigInt::from(decompose(x.abs()).0) << shift;
        if x < 0.0 { -magnitude } else { magnitude }
    };
    let (of_best, of_score) = (decompose(best.abs()).1, decompose(score.abs()).1);
    let exponent = of_best.min(of_score);
    let distance = signed(best, of_best - exponent) - signed(score, of_score - exponent);
    (distance.magnitude().clone(), exponent)
}
