//! What a promise means for the strongest attacker: one who knows the method and all other rows.

use serde::{Deserialize, Serialize};

use super::ProfilePoint;
use crate::privacy::meaning::{Language, Meaning, Unit};

/// The odds of an attacker who wants to know whether one unit's data was used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Odds {
    /// In a sentence.
    pub sentence: String,
    /// At most this much better than guessing: true positives less false positives, as a rate.
    pub advantage: f64,
    /// At most this share is found when 1 in 100 accusations of those absent is tolerated.
    pub tpr_at_fpr_1_percent: f64,
    /// At most this share is found when 1 in 1000 is tolerated.
    pub tpr_at_fpr_0_1_percent: f64,
}

impl Odds {
    /// The odds of one unit under every point of a profile at once.
    pub fn of(profile: &[ProfilePoint], unit: Unit) -> Self {
        let meaning = Meaning::Profile(profile.iter().map(|point| (point.epsilon, point.delta)).collect());
        Self {
            sentence: meaning.odds_sentence(Language::English, unit),
            advantage: meaning.advantage(),
            tpr_at_fpr_1_percent: meaning.true_positive_rate(0.01),
            tpr_at_fpr_0_1_percent: meaning.true_positive_rate(0.001),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn odds(points: &[(f64, f64)]) -> Odds {
        let profile: Vec<_> = points
            .iter()
            .map(|&(epsilon, delta)| ProfilePoint { epsilon, delta })
            .collect();
        Odds::of(&profile, Unit::Row)
    }

    #[test]
    fn known_values() {
        // PRIVACY.md: at ε = 1 advantage .4621 and TPR .0272; at ε = 8 .9993 and .9997.
        let one = odds(&[(1.0, 0.0)]);
        assert!((one.advantage - 0.462_117_157_260_009_74).abs() < 1e-15);
        assert!((one.tpr_at_fpr_1_percent - 0.027_182_818_284_590_453).abs() < 1e-15);
        assert!(one.sentence.contains("2.8 of 100"), "{}", one.sentence);
        let eight = odds(&[(8.0, 0.0)]);
        assert!((eight.advantage - 0.9993).abs() < 5e-5);
        assert!((eight.tpr_at_fpr_1_percent - 0.9997).abs() < 5e-5);
        let huge = odds(&[(5000.0, 0.0)]);
        assert!(huge.advantage <= 1.0 && huge.tpr_at_fpr_0_1_percent <= 1.0);
    }

    #[test]
    fn every_point_of_the_profile_counts() {
        // The worst case of (8, 0) is far above what a profile with δ(0) = 0.5 allows.
        let both = odds(&[(0.0, 0.5), (8.0, 0.0)]);
        assert!((both.advantage - 0.5).abs() < 1e-15);
        assert!((both.tpr_at_fpr_1_percent - 0.51).abs() < 1e-15);
        assert_eq!(odds(&[]).advantage.to_bits(), 1.0_f64.to_bits());
    }
}
