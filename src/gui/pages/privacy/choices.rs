//! What a person has chosen on the page: whose meaning is read, the attacker, the belief before, and what is supposed.

use crate::gui::context::Cx;
use crate::num::{Delta, Epsilon};
use crate::privacy::{EventList, Neighboring, PrivacyEvent, gaussian_sigma};

/// Whose meaning is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Everything charged to the open table.
    Spent,
    /// The same with what is supposed.
    Supposed,
    /// An ε and a δ of one's own.
    Own,
}

impl Subject {
    /// All of them, in the order of the page.
    pub const ALL: [Self; 3] = [Self::Spent, Self::Supposed, Self::Own];

    /// The key of its name.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Spent => "meaning-of-spent",
            Self::Supposed => "meaning-of-supposed",
            Self::Own => "meaning-of-own",
        }
    }
}

/// All choices that can be taken back.
#[derive(Clone, Debug, PartialEq)]
pub struct PrivacyChoices {
    /// Whose meaning is read.
    pub subject: Subject,
    /// ε of one's own.
    pub epsilon: f64,
    /// δ of one's own.
    pub delta: f64,
    /// The share of people outside the data whom the attacker accepts to accuse.
    pub false_alarms: f64,
    /// What the attacker believes before.
    pub prior: f64,
    /// Whether the run on the train page is supposed.
    pub with_run: bool,
    /// Whether further releases are supposed.
    pub with_releases: bool,
    /// ε of each of them.
    pub release_epsilon: f64,
    /// How many.
    pub releases: f64,
    /// Whether their noise is Gaussian.
    pub gaussian: bool,
}

impl Default for PrivacyChoices {
    fn default() -> Self {
        Self {
            subject: Subject::Spent,
            epsilon: 1.0,
            delta: 1e-5,
            false_alarms: 0.01,
            prior: 0.5,
            with_run: true,
            with_releases: false,
            release_epsilon: 0.1,
            releases: 1.0,
            gaussian: false,
        }
    }
}

/// δ of a supposed Gaussian release.
pub const RELEASE_DELTA: f64 = 1e-6;

impl PrivacyChoices {
    /// The events of what is supposed; `None` where nothing is.
    pub fn planned(&self, cx: &Cx<'_>) -> Option<EventList> {
        let run = cx.snapshot.plan.as_ref().and_then(|plan| plan.events.as_deref());
        let mut list = match run.filter(|_| self.with_run) {
            Some(run) => run.clone(),
            None => EventList::new(Neighboring::AddRemoveOne),
        };
        if self.with_releases
            && let Some(event) = self.release()
        {
            list.push(event, self.releases.round().max(1.0) as u64);
        }
        (!list.events.is_empty()).then_some(list)
    }

    /// What one supposed release does.
    fn release(&self) -> Option<PrivacyEvent> {
        let epsilon = Epsilon::new(self.release_epsilon).ok()?;
        if !self.gaussian {
            return Some(PrivacyEvent::Laplace {
                scale: 1.0 / epsilon.get(),
                sensitivity: 1.0,
            });
        }
        let noise_multiplier = gaussian_sigma(epsilon, Delta::new(RELEASE_DELTA).ok()?, 1.0).ok()?;
        Some(PrivacyEvent::Gaussian { noise_multiplier })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_supposed_release_costs_what_it_says() {
        use crate::privacy::AccountantKind;
        for gaussian in [false, true] {
            let choices = PrivacyChoices {
                gaussian,
                release_epsilon: 0.5,
                ..PrivacyChoices::default()
            };
            let mut list = EventList::new(Neighboring::AddRemoveOne);
            list.push(choices.release().unwrap(), 1);
            let delta = Delta::new(if gaussian { RELEASE_DELTA } else { 0.0 }).unwrap();
            let epsilon = AccountantKind::Pld.epsilon(&list, delta).unwrap();
            assert!((epsilon - 0.5).abs() < 1e-3, "{gaussian}: {epsilon}");
        }
        let wrong = PrivacyChoices {
            release_epsilon: f64::NAN,
            ..PrivacyChoices::default()
        };
        assert!(wrong.release().is_none());
    }
}
