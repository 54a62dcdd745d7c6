//! The plan's past: one drag, one typed number, one choice is one step back.

use crate::engine::command::RunRequest;

/// How many steps are kept.
const KEPT: usize = 200;

/// The plans before and after the one in the form.
#[derive(Default)]
pub struct History {
    before: Vec<RunRequest>,
    after: Vec<RunRequest>,
    settled: Option<RunRequest>,
}

impl History {
    /// Looks at the form after a frame. A change counts as made once nothing is held down.
    pub fn observe(&mut self, now: &RunRequest, held: bool) {
        let Some(settled) = &mut self.settled else {
            self.settled = Some(now.clone());
            return;
        };
        // The device is no part of the plan's form.
        settled.device = now.device;
        if held || settled == now {
            return;
        }
        self.before.push(std::mem::replace(settled, now.clone()));
        if self.before.len() > KEPT {
            self.before.remove(0);
        }
        self.after.clear();
    }

    /// The plan before the last change, if there was one.
    pub fn back(&mut self) -> Option<RunRequest> {
        Self::step(&mut self.before, &mut self.after, &mut self.settled)
    }

    /// The plan after the change that was last taken back.
    pub fn forth(&mut self) -> Option<RunRequest> {
        Self::step(&mut self.after, &mut self.before, &mut self.settled)
    }

    fn step(
        from: &mut Vec<RunRequest>,
        to: &mut Vec<RunRequest>,
        settled: &mut Option<RunRequest>,
    ) -> Option<RunRequest> {
        let wanted = from.pop()?;
        to.extend(settled.replace(wanted.clone()));
        Some(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::command::PrivacyTarget;

    fn at(epsilon: f64) -> RunRequest {
        RunRequest {
            target: Some(PrivacyTarget {
                epsilon,
                ..PrivacyTarget::default()
            }),
            ..RunRequest::default()
        }
    }

    #[test]
    fn a_drag_is_one_step_and_can_be_made_again() {
        let mut history = History::default();
        history.observe(&at(1.0), false);
        for epsilon in [1.2, 1.7, 2.4] {
            history.observe(&at(epsilon), true);
        }
        history.observe(&at(2.4), false);
        history.observe(&at(3.0), false);
        assert_eq!(history.back(), Some(at(2.4)));
        assert_eq!(history.back(), Some(at(1.0)));
        assert_eq!(history.back(), None);
        assert_eq!(history.forth(), Some(at(2.4)));
        // A new change forgets what was taken back.
        history.observe(&at(5.0), false);
        assert_eq!(history.forth(), None);
        assert_eq!(history.back(), Some(at(2.4)));
    }
}
