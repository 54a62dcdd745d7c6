//! Where the exponential mechanism lands: candidates in order, many of them alike.

use super::{MechanismError, distribution};

/// Candidates that lie beside each other and score alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// The value of the first.
    pub from: f64,
    /// The value of the last.
    pub to: f64,
    /// How many there are, evenly spread.
    pub count: f64,
    /// How far their score lies below the best.
    pub shortfall: f64,
}

/// The candidates of a choice in the order of their values, and the value that was looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidates {
    stretches: Vec<Stretch>,
    target: f64,
    rate: f64,
}

/// Scores that differ by less than this share of the shortfall are taken as alike.
const ALIKE: f64 = 0.01;

impl Candidates {
    /// Candidates in order, at least one with shortfall 0. `rate` is the λ of ε = 1; λ grows in proportion to ε.
    ///
    /// Neighbouring stretches whose shortfalls differ by less than a hundredth are merged, with the mean of their
    /// shortfalls: a weight e^(−λs) is then off by at most λs per cent, which matters only where λs is large and the
    /// weight is nothing beside the best. So a million rows become a few thousand stretches.
    ///
    /// # Errors
    /// No candidates.
    pub fn new(stretches: impl IntoIterator<Item = Stretch>, rate: f64) -> Result<Self, MechanismError> {
        let mut kept: Vec<Stretch> = Vec::new();
        // The least and the largest shortfall of the last stretch that is kept.
        let mut range = (0.0, 0.0);
        for next in stretches {
            if next.count <= 0.0 {
                continue;
            }
            if let Some(last) = kept.last_mut() {
                let (low, high) = (
                    f64::min(range.0, next.shortfall),
                    f64::max(range.1, next.shortfall),
                );
                if high - low <= ALIKE * low {
                    let count = last.count + next.count;
                    last.shortfall = (last.shortfall * last.count + next.shortfall * next.count) / count;
                    last.to = next.to;
                    last.count = count;
                    range = (low, high);
                    continue;
                }
            }
            range = (next.shortfall, next.shortfall);
            kept.push(next);
        }
        let best = kept
            .iter()
            .min_by(|a, b| a.shortfall.total_cmp(&b.shortfall))
            .ok_or(MechanismError::NothingToChoose("there is no candidate"))?;
        Ok(Self {
            target: f64::midpoint(best.from, best.to),
            stretches: kept,
            rate,
        })
    }

    /// The value of the best score.
    pub fn target(&self) -> f64 {
        self.target
    }

    /// The stretches, in order.
    pub fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }

    /// The choice at ε: each candidate with probability e^(−λ·shortfall) over the sum (McSherry & Talwar 2007, Def. 2).
    pub fn at(&self, epsilon: f64) -> ChoiceLaw<'_> {
        let rate = self.rate * epsilon;
        let mut chances: Vec<f64> = self
            .stretches
            .iter()
            .map(|stretch| stretch.count * (-rate * stretch.shortfall).exp())
            .collect();
        let total: f64 = chances.iter().sum();
        // The best candidate's own weight is its count, so the sum is above 0.
        chances.iter_mut().for_each(|chance| *chance /= total);
        ChoiceLaw {
            candidates: self,
            chances,
        }
    }
}

/// The choice at one ε.
#[derive(Clone, Debug)]
pub struct ChoiceLaw<'a> {
    candidates: &'a Candidates,
    chances: Vec<f64>,
}

impl ChoiceLaw<'_> {
    fn mean(&self, of: impl Fn(&Stretch) -> f64) -> f64 {
        let parts = self.candidates.stretches.iter().zip(&self.chances);
        parts
            .filter(|part| *part.1 > 0.0)
            .map(|(stretch, chance)| chance * of(stretch))
            .sum()
    }

    /// E|value − target|, values spread evenly over each stretch.
    pub fn expected_error(&self) -> f64 {
        let target = self.candidates.target;
        self.mean(|stretch| {
            let (below, above) = (target - stretch.from, stretch.to - target);
            if below > 0.0 && above > 0.0 {
                // The target lies inside: half the squares of both sides over the width.
                (below * below + above * above) / (2.0 * (below + above))
            } else {
                (f64::midpoint(stretch.from, stretch.to) - target).abs()
            }
        })
    }

    /// √E[(value − target)²].
    pub fn root_mean_square_error(&self) -> f64 {
        let target = self.candidates.target;
        self.mean(|stretch| {
            let (middle, width) = (f64::midpoint(stretch.from, stretch.to), stretch.to - stretch.from);
            (middle - target).powi(2) + width * width / 12.0
        })
        .sqrt()
    }

    /// P(|value − target| ≤ a).
    pub fn probability_within(&self, a: f64) -> f64 {
        let (low, high) = (self.candidates.target - a, self.candidates.target + a);
        self.mean(|stretch| inside(stretch, low, high)).min(1.0)
    }

    /// The least a, nearly, with P(|value − target| ≤ a) ≥ p: by bisection.
    ///
    /// # Errors
    /// A p that is not above 0 and below 1.
    pub fn error_quantile(&self, p: f64) -> Result<f64, MechanismError> {
        distribution::probability("the probability", p)?;
        let (first, last) = (&self.candidates.stretches[0], self.candidates.stretches.last());
        let far = last.map_or(first.to, |last| last.to) - first.from;
        if self.probability_within(0.0) >= p {
            return Ok(0.0);
        }
        let (mut low, mut high) = (0.0, far.max(f64::MIN_POSITIVE));
        for _ in 0..50 {
            let middle = f64::midpoint(low, high);
            if self.probability_within(middle) < p {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(high)
    }

    /// The chance that the value lies from `low` to `high`.
    pub fn chance(&self, low: f64, high: f64) -> f64 {
        self.mean(|stretch| inside(stretch, low, high))
    }

    /// The value that a uniform number between 0 and 1 stands for: the inverse of the distribution function.
    pub fn draw(&self, uniform: f64) -> f64 {
        let mut rest = uniform.clamp(0.0, 1.0);
        for (stretch, &chance) in self.candidates.stretches.iter().zip(&self.chances) {
            if rest <= chance && chance > 0.0 {
                return stretch.from + (stretch.to - stretch.from) * rest / chance;
            }
            rest -= chance;
        }
        self.candidates.target
    }
}

/// The share of a stretch between two values.
fn inside(stretch: &Stretch, low: f64, high: f64) -> f64 {
    let width = stretch.to - stretch.from;
    if width <= 0.0 {
        return f64::from(u8::from(low <= stretch.from && stretch.from <= high));
    }
    ((stretch.to.min(high) - stretch.from.max(low)) / width).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::super::Shortfall;
    use super::*;
    use crate::num::Epsilon;
    use crate::privacy::mechanism::Selection;

    fn points(scores: &[f64]) -> Vec<Stretch> {
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let stretches = scores.iter().enumerate().map(|(at, score)| Stretch {
            from: at as f64,
            to: at as f64,
            count: 1.0,
            shortfall: best - score,
        });
        stretches.collect()
    }

    #[test]
    fn single_candidates_are_those_of_the_exponential_mechanism() {
        let scores = [3.0, 9.0, 7.5, 0.0];
        let selection = Selection::new(Epsilon::new(0.7).unwrap(), 1.0).unwrap();
        let candidates = Candidates::new(points(&scores), selection.rate() / 0.7).unwrap();
        let law = candidates.at(0.7);
        let known = Shortfall::of_exponential(selection, &scores).unwrap();
        let shortfall: f64 = law
            .chances
            .iter()
            .zip(candidates.stretches())
            .map(|(chance, stretch)| chance * stretch.shortfall)
            .sum();
        assert!((shortfall - known.expected_error()).abs() < 1e-12);
        assert!((law.chance(1.0, 1.0) - known.probability_within(0.0)).abs() < 1e-12);
        assert!((candidates.target() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn merged_stretches_tell_nearly_the_same_as_all_candidates() {
        // Ranks off a median: a hundred thousand candidates.
        let scores: Vec<f64> = (0..100_001)
            .map(|at| -f64::abs(f64::from(at) - 50_000.0))
            .collect();
        let candidates = Candidates::new(points(&scores), 0.5).unwrap();
        assert!(
            candidates.stretches().len() < 3000,
            "{}",
            candidates.stretches().len()
        );
        for epsilon in [0.001, 0.1, 1.0] {
            let law = candidates.at(epsilon);
            // A two-sided geometric law with r = e^(−λ), cut far out: E|k| = 2r/(1 − r²).
            let ratio = (-0.5_f64 * epsilon).exp();
            let expected = 2.0 * ratio / (1.0 - ratio * ratio);
            assert!((law.expected_error() / expected - 1.0).abs() < 0.02, "{epsilon}");
            let p = law.probability_within(law.error_quantile(0.95).unwrap());
            assert!(
                (0.95..0.96).contains(&p) || law.error_quantile(0.95).unwrap() < 20.0,
                "{epsilon}: {p}"
            );
        }
    }

    #[test]
    fn draws_follow_the_chances() {
        let candidates = Candidates::new(points(&[0.0, 2.0, 1.0]), 1.0).unwrap();
        let law = candidates.at(1.0);
        let count = 10_000;
        let hits = (0..count)
            .filter(|at| law.draw((f64::from(*at) + 0.5) / f64::from(count)) < 0.5)
            .count();
        assert!((hits as f64 / f64::from(count) - law.chance(0.0, 0.0)).abs() < 1e-3);
        assert!(Candidates::new([], 1.0).is_err());
    }
}
