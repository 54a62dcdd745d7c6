//! Raw settings of a run, as a form or a file holds them. Only a [`Plan`](super::Plan) made from them trains.

use serde::{Deserialize, Serialize};

use crate::model::CriticLoss;

/// How the noise changes over the steps. The calibration scales the whole shape to meet the budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScheduleKind {
    /// The same noise at every step.
    #[default]
    Constant,
    /// One noise in the first half, another in the second, by the first half's share of ε.
    TwoPhase,
    /// Noise that falls in a straight line.
    Linear,
    /// Noise that falls by the same factor from step to step.
    Exponential,
    /// Noise along straight lines between points drawn by hand.
    Points,
}

/// Everything a person can choose of a DP-GAN, unchecked. [`super::describe::SETTINGS`] gives each its unit,
/// range and sentence; the defaults are those of the recipe that did best on tables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct TrainSettings {
    /// Critic steps, each one noisy look at the data.
    pub steps: u64,
    /// Expected rows in a step.
    pub batch_size: u64,
    /// The ℓ2 norm to which each row's gradient is clipped.
    pub clip_norm: f64,
    /// How the noise changes over the steps.
    pub schedule: ScheduleKind,
    /// The first half's share of ε in a schedule of two phases, each half taken by itself.
    pub schedule_early: f64,
    /// Noise at the first step over noise at the last, where it falls in a line or by a factor.
    pub schedule_ratio: f64,
    /// Noise at equally distant places from the first step to the last, each relative to the others.
    pub schedule_points: Vec<f64>,
    /// Whether noisy marginals are bought before the first step.
    pub marginals: bool,
    /// The marginals' share of the budget (of ρ).
    pub marginal_share: f64,
    /// Weight of the marginals in the generator's loss.
    pub marginal_weight: f64,
    /// Whether noisy fine histograms are bought, from which numbers inside a bin are drawn.
    pub fine_decode: bool,
    /// The fine histograms' share of the budget (of ρ).
    pub fine_share: f64,
    /// Whether numbers without declared bins are encoded in bins; otherwise as one scalar each.
    pub binned: bool,
    /// Bins of a number.
    pub bins: u64,
    /// Widths of the critic's hidden layers.
    pub critic_hidden: Vec<usize>,
    /// What the critic is trained to tell apart by.
    pub critic_loss: CriticLoss,
    /// Critic steps between two generator steps.
    pub critic_steps: u64,
    /// Whether that number grows while the critic cannot tell generated rows.
    pub ladder: bool,
    /// Generator steps at a rung of that ladder, at least.
    pub ladder_grace: u64,
    /// The critic's learning rate.
    pub critic_learning_rate: f64,
    /// Decay of the first moment in the critic's Adam.
    pub critic_beta1: f64,
    /// Decay of the second moment in the critic's Adam.
    pub critic_beta2: f64,
    /// The bound to which the critic's weights are clamped after each step.
    pub weight_clamp: f64,
    /// Generated rows in a critic step.
    pub fake_batch: u64,
    /// Generated rows in a generator step.
    pub generator_batch: u64,
    /// Latents that a row is made from.
    pub latent: u64,
    /// Widths of the generator's hidden layers.
    pub generator_hidden: Vec<usize>,
    /// Whether the generator's hidden layers are normalised over the batch.
    pub batch_norm: bool,
    /// The generator's learning rate.
    pub generator_learning_rate: f64,
    /// Decay of the first moment in the generator's Adam.
    pub generator_beta1: f64,
    /// Decay of the second moment in the generator's Adam.
    pub generator_beta2: f64,
    /// Decay of the running average of the generator's weights.
    pub averaging: f64,
    /// Temperature of the Gumbel-softmax.
    pub temperature: f64,
}

/// The settings whose best value depends on whether the generator also follows marginals.
struct Pace {
    critic_steps: u64,
    critic_learning_rate: f64,
    averaging: f64,
}

impl Pace {
    /// What did best in trials on Adult at ε = 1. A critic that is all the generator learns from does better when it
    /// moves less, with a generator that steps more often and a longer average over its noisier path.
    const fn of(marginals: bool) -> Self {
        if marginals {
            Self {
                critic_steps: 5,
                critic_learning_rate: 4e-3,
                averaging: 0.99,
            }
        } else {
            Self {
                critic_steps: 3,
                critic_learning_rate: 2e-3,
                averaging: 0.997,
            }
        }
    }
}

impl TrainSettings {
    /// Switches marginals on or off. Settings whose best value depends on it move along, unless they have been set
    /// to a value of their own.
    pub fn switch_marginals(&mut self, on: bool) {
        let (before, after) = (Pace::of(self.marginals), Pace::of(on));
        self.marginals = on;
        if self.critic_steps == before.critic_steps {
            self.critic_steps = after.critic_steps;
        }
        if self.critic_learning_rate == before.critic_learning_rate {
            self.critic_learning_rate = after.critic_learning_rate;
        }
        if self.averaging == before.averaging {
            self.averaging = after.averaging;
        }
    }
}

impl Default for TrainSettings {
    fn default() -> Self {
        let pace = Pace::of(true);
        Self {
            steps: 3000,
            batch_size: 512,
            clip_norm: 0.5,
            schedule: ScheduleKind::Constant,
            schedule_early: 0.2,
            schedule_ratio: 2.0,
            schedule_points: vec![2.0, 1.5, 1.2, 1.0],
            marginals: true,
            marginal_share: 0.10,
            marginal_weight: 20.0,
            fine_decode: true,
            fine_share: 0.05,
            binned: true,
            bins: 20,
            critic_hidden: vec![64],
            critic_loss: CriticLoss::Wasserstein,
            critic_steps: pace.critic_steps,
            ladder: false,
            ladder_grace: 200,
            critic_learning_rate: pace.critic_learning_rate,
            critic_beta1: 0.5,
            critic_beta2: 0.9,
            weight_clamp: 0.1,
            fake_batch: 256,
            generator_batch: 256,
            latent: 64,
            generator_hidden: vec![256, 256],
            batch_norm: true,
            generator_learning_rate: 1e-3,
            generator_beta1: 0.5,
            generator_beta2: 0.9,
            averaging: pace.averaging,
            temperature: 0.66,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_depends_on_marginals_moves_along_and_what_was_set_by_hand_stays() {
        let mut settings = TrainSettings {
            critic_learning_rate: 7e-3,
            ..TrainSettings::default()
        };
        settings.switch_marginals(false);
        assert!(!settings.marginals);
        assert_eq!(settings.critic_learning_rate, 7e-3);
        assert!(settings.critic_steps < TrainSettings::default().critic_steps);
        assert!(settings.averaging > TrainSettings::default().averaging);
        settings.switch_marginals(true);
        settings.critic_learning_rate = TrainSettings::default().critic_learning_rate;
        assert_eq!(settings, TrainSettings::default());
        let mut same = TrainSettings::default();
        same.switch_marginals(true);
        assert_eq!(same, TrainSettings::default());
    }
}
