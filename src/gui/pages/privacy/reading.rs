//! The guarantee whose meaning is read: its one pair (ε, δ), and the whole curve behind it.

use crate::engine::{MeaningAnswer, MeaningQuestion, Whole};
use crate::gui::context::Cx;
use crate::gui::pages::privacy::choices::{PrivacyChoices, Subject};
use crate::num::{Delta, Epsilon};
use crate::privacy::gaussian_sigma;
use crate::privacy::meaning::Meaning;

/// A guarantee in both readings.
pub struct Reading {
    /// ε.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// The worst case of all mechanisms with this ε and δ.
    pub pair: Meaning,
    /// What the events really allow.
    pub whole: Meaning,
    /// Whether a newer one is being worked out.
    pub is_stale: bool,
}

/// Reads what is chosen, or says why there is nothing to read.
pub fn read(
    cx: &Cx<'_>,
    choices: &PrivacyChoices,
    answer: Option<&MeaningAnswer>,
    asked: Option<&MeaningQuestion>,
) -> Result<Reading, String> {
    let t = cx.texts;
    if choices.subject == Subject::Own {
        return own(choices.epsilon, choices.delta).ok_or_else(|| t.get("meaning-no-number").to_owned());
    }
    if cx.snapshot.dataset.is_none() {
        return Err(t.get("meaning-no-table").to_owned());
    }
    let Some(answer) = answer else {
        return Err(t.get("meaning-working").to_owned());
    };
    let outcome = if choices.subject == Subject::Spent {
        Some(&answer.spent)
    } else {
        answer.with_planned.as_ref()
    };
    match outcome {
        None => Err(t.get("meaning-nothing-supposed").to_owned()),
        Some(Err(problem)) => Err(t.say(&problem.message)),
        Some(Ok(whole)) => Ok(of(whole, answer.question.delta, asked != Some(&answer.question))),
    }
}

fn of(whole: &Whole, delta: f64, is_stale: bool) -> Reading {
    Reading {
        epsilon: whole.epsilon,
        delta,
        pair: Meaning::Pair {
            epsilon: whole.epsilon,
            delta,
        },
        whole: Meaning::Profile(whole.profile.to_vec()),
        is_stale,
    }
}

/// One Gaussian noise that just keeps ε and δ.
fn own(epsilon: f64, delta: f64) -> Option<Reading> {
    let sigma = gaussian_sigma(Epsilon::new(epsilon).ok()?, Delta::new(delta).ok()?, 1.0).ok()?;
    Some(Reading {
        epsilon,
        delta,
        pair: Meaning::Pair { epsilon, delta },
        whole: Meaning::Gaussian { mu: 1.0 / sigma },
        is_stale: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epsilon_of_ones_own_gives_the_published_figures() {
        let eight = own(8.0, 1e-5).unwrap();
        assert!((eight.pair.true_positive_rate(0.01) - 0.9997).abs() < 5e-5);
        assert!((eight.whole.true_positive_rate(0.01) - 0.2545).abs() < 1e-4);
        assert!(own(f64::NAN, 1e-5).is_none() && own(1.0, 2.0).is_none());
    }
}
