//! The noise of each step, as a plan fixes it before the first one.

use serde::{Deserialize, Serialize};

use super::settings::{ScheduleKind, TrainSettings};

/// Falling schedules change in this many stairs: fine enough to the eye, and each stair is one event to
/// account for instead of one event a step.
const STAIRS: u64 = 16;

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

/// How noise is to change over how many steps, as settings ask for it.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleShape {
    /// How it changes.
    pub kind: ScheduleKind,
    /// The first half's share of ε in two phases.
    pub early: f64,
    /// Noise at the first step over noise at the last.
    pub ratio: f64,
    /// Noise at equally distant places.
    pub points: Vec<f64>,
    /// Steps.
    pub steps: u64,
}

impl From<&TrainSettings> for ScheduleShape {
    fn from(settings: &TrainSettings) -> Self {
        Self {
            kind: settings.schedule,
            early: settings.schedule_early,
            ratio: settings.schedule_ratio,
            points: settings.schedule_points.clone(),
            steps: settings.steps,
        }
    }
}

impl Schedule {
    /// The shape of the settings' schedule over all steps, with noise 1 at its quietest. The settings are checked.
    ///
    /// Of two phases it is the shape from which a plan begins: ε of many Gaussian steps goes by 1/σ while it is small,
    /// so their noise is in the inverse proportion of their shares. [`Self::two_phases`] is what it comes to.
    pub fn shape(settings: impl Into<ScheduleShape>) -> Self {
        let ScheduleShape {
            kind,
            early,
            ratio,
            points,
            steps,
        } = settings.into();
        if kind == ScheduleKind::TwoPhase {
            return Self::two_phases(steps, (1.0 - early) / early);
        }
        let quietest = points.iter().copied().fold(f64::INFINITY, f64::min);
        let stairs = match kind {
            ScheduleKind::Constant | ScheduleKind::TwoPhase => 1,
            ScheduleKind::Linear | ScheduleKind::Exponential | ScheduleKind::Points => STAIRS,
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
                ScheduleKind::Constant | ScheduleKind::TwoPhase => 1.0,
                ScheduleKind::Linear => ratio + (1.0 - ratio) * place,
                ScheduleKind::Exponential => ratio.powf(1.0 - place),
                ScheduleKind::Points => between(&points, place) / quietest,
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

    /// The same noise at every step.
    pub fn flat(steps: u64, noise_multiplier: f64) -> Self {
        Self {
            stretches: vec![Stretch {
                steps,
                noise_multiplier,
            }],
        }
    }

    /// Two halves, the first with `ratio` times the noise of the second, and noise 1 in the quieter. A single step
    /// has no halves.
    pub fn two_phases(steps: u64, ratio: f64) -> Self {
        let first = steps / 2;
        let halves = [(first, ratio.max(1.0)), (steps - first, ratio.recip().max(1.0))];
        let stretches =
            halves
                .into_iter()
                .filter(|(steps, _)| *steps > 0)
                .map(|(steps, noise_multiplier)| Stretch {
                    steps,
                    noise_multiplier: if first == 0 { 1.0 } else { noise_multiplier },
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

    /// The noise of the first steps alone.
    #[must_use]
    pub fn first(&self, steps: u64) -> Self {
        let mut left = steps;
        let cut = self.stretches.iter().map(|stretch| {
            let steps = stretch.steps.min(left);
            left -= steps;
            Stretch { steps, ..*stretch }
        });
        Self {
            stretches: cut.filter(|stretch| stretch.steps > 0).collect(),
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

/// The value at a place from 0 to 1 on the straight lines between equally distant points.
fn between(points: &[f64], place: f64) -> f64 {
    let last = points.len().saturating_sub(1);
    let along = place * last as f64;
    let first = (along.floor() as usize).min(last);
    let share = along - first as f64;
    let value = |index: usize| points.get(index.min(last)).copied().unwrap_or(1.0);
    value(first) + share * (value(first + 1) - value(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_points_are_met_at_their_places() {
        let settings = TrainSettings {
            schedule: ScheduleKind::Points,
            schedule_points: vec![4.0, 2.0, 6.0],
            steps: 15 * 16,
            ..TrainSettings::default()
        };
        let schedule = Schedule::shape(&settings);
        assert_eq!(schedule.steps(), 15 * 16);
        let at = |stair: u64| schedule.noise_multiplier(stair * 15).unwrap();
        // Relative to the quietest point; the 16 stairs are the 16 places from the first point to the last.
        assert!((at(0) - 2.0).abs() < 1e-12 && (at(15) - 3.0).abs() < 1e-12);
        assert!((at(7) - (1.0 + 1.0 / 15.0)).abs() < 1e-12, "{}", at(7));
        let single = TrainSettings {
            schedule_points: vec![5.0],
            steps: 1,
            ..settings
        };
        assert_eq!(Schedule::shape(&single).noise_multiplier(0), Some(1.0));
    }

    #[test]
    fn every_step_has_its_noise() {
        for kind in [
            ScheduleKind::Constant,
            ScheduleKind::TwoPhase,
            ScheduleKind::Linear,
            ScheduleKind::Exponential,
        ] {
            for steps in [1, 2, 15, 16, 17, 3000] {
                let settings = TrainSettings {
                    schedule: kind,
                    schedule_early: 0.25,
                    schedule_ratio: 3.0,
                    steps,
                    ..TrainSettings::default()
                };
                let schedule = Schedule::shape(&settings).scaled(2.0);
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
        let linear = Schedule::shape(&TrainSettings {
            schedule: ScheduleKind::Linear,
            schedule_ratio: 3.0,
            steps: 3000,
            ..TrainSettings::default()
        });
        assert_eq!(
            (linear.noise_multiplier(0), linear.noise_multiplier(2999)),
            (Some(3.0), Some(1.0))
        );
    }
}
