//! The noise of each step, as a plan fixes it before the first one.

use serde::{Deserialize, Serialize};

use super::settings::ScheduleKind;

/// Falling schedules change in this many stairs: fine enough to the eye, and each stair is one event to
/// account for instead of one event a step.
const STAIRS: u64 = 32;

/// A stretch of steps with the same noise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stretch {
    /// How many steps.
    pub steps: u64,
    /// Noise over the clip norm, in each of them.
    pub noise_multiplier: f64,
}

/// The noise of every step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    stretches: Vec<Stretch>,
}

impl Schedule {
    /// The shape of a schedule over `steps` steps, with noise 1 at its quietest.
    pub fn shape(kind: ScheduleKind, ratio: f64, steps: u64) -> Self {
        let stairs = match kind {
            ScheduleKind::Constant => 1,
            ScheduleKind::TwoPhase => 2,
            ScheduleKind::Linear | ScheduleKind::Exponential => STAIRS,
        };
        let stairs = stairs.min(steps).max(1);
        let stretches = (0..stairs).map(|stair| {
            // Stair boundaries at equal shares of the steps, so that lengths differ by at most one.
            let length = steps * (stair + 1) / stairs - steps * stair / stairs;
            let place = if stairs == 1 {
                1.0
            } else {
                stair as f64 / (stairs - 1) as f64
            };
            let noise_multiplier = match kind {
                ScheduleKind::Constant => 1.0,
                ScheduleKind::TwoPhase | ScheduleKind::Linear => ratio + (1.0 - ratio) * place,
                ScheduleKind::Exponential => ratio.powf(1.0 - place),
            };
            Stretch {
                steps: length,
                noise_multiplier,
            }
        });
        Self {
            stretches: stretches.collect(),
        }
    }

    /// The same shape with all noise multiplied.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let scale = |stretch: &Stretch| Stretch {
            steps: stretch.steps,
            noise_multiplier: stretch.noise_multiplier * factor,
        };
        Self {
            stretches: self.stretches.iter().map(scale).collect(),
        }
    }

    /// The stretches, in order.
    pub fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }

    /// All steps together.
    pub fn steps(&self) -> u64 {
        self.stretches.iter().map(|stretch| stretch.steps).sum()
    }

    /// The noise multiplier of a step, counted from 0; `None` past the end.
    pub fn noise_multiplier(&self, step: u64) -> Option<f64> {
        let mut end = 0;
        self.stretches.iter().find_map(|stretch| {
            end += stretch.steps;
            (step < end).then_some(stretch.noise_multiplier)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_has_its_noise() {
        for kind in [
            ScheduleKind::Constant,
            ScheduleKind::TwoPhase,
            ScheduleKind::Linear,
            ScheduleKind::Exponential,
        ] {
            for steps in [1, 2, 31, 32, 33, 3000] {
                let schedule = Schedule::shape(kind, 3.0, steps).scaled(2.0);
                assert_eq!(schedule.steps(), steps);
                let noise: Vec<_> = (0..steps)
                    .map(|step| schedule.noise_multiplier(step).unwrap())
                    .collect();
                assert!(
                    noise.windows(2).all(|pair| pair[0] >= pair[1]),
                    "{kind:?} never rises"
                );
                assert!(noise.iter().all(|z| (2.0..=6.0).contains(z)));
                assert_eq!(schedule.noise_multiplier(steps), None);
            }
        }
        let linear = Schedule::shape(ScheduleKind::Linear, 3.0, 3000);
        assert_eq!(
            (linear.noise_multiplier(0), linear.noise_multiplier(2999)),
            (Some(3.0), Some(1.0))
        );
    }
}
