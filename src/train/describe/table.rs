//! The settings, one by one.

use super::{SettingDescription, SettingGroup, SettingRange, SettingValue};
use crate::model::CriticLoss;
use crate::train::settings::ScheduleKind;

/// Types that a setting can have.
pub(super) trait Settable: Sized {
    fn wrap(&self) -> SettingValue;
    fn unwrap(value: SettingValue) -> Option<Self>;
}

impl Settable for u64 {
    fn wrap(&self) -> SettingValue {
        SettingValue::Integer(*self)
    }

    fn unwrap(value: SettingValue) -> Option<Self> {
        if let SettingValue::Integer(value) = value {
            Some(value)
        } else {
            None
        }
    }
}

impl Settable for f64 {
    fn wrap(&self) -> SettingValue {
        SettingValue::Real(*self)
    }

    fn unwrap(value: SettingValue) -> Option<Self> {
        if let SettingValue::Real(value) = value {
            Some(value)
        } else {
            None
        }
    }
}

impl Settable for bool {
    fn wrap(&self) -> SettingValue {
        SettingValue::Switch(*self)
    }

    fn unwrap(value: SettingValue) -> Option<Self> {
        if let SettingValue::Switch(value) = value {
            Some(value)
        } else {
            None
        }
    }
}

impl Settable for Vec<usize> {
    fn wrap(&self) -> SettingValue {
        SettingValue::Widths(self.clone())
    }

    fn unwrap(value: SettingValue) -> Option<Self> {
        if let SettingValue::Widths(value) = value {
            Some(value)
        } else {
            None
        }
    }
}

impl Settable for Vec<f64> {
    fn wrap(&self) -> SettingValue {
        SettingValue::Numbers(self.clone())
    }

    fn unwrap(value: SettingValue) -> Option<Self> {
        if let SettingValue::Numbers(value) = value {
            Some(value)
        } else {
            None
        }
    }
}

/// Choices by name, in the order in which a form shows them.
const SCHEDULES: [(&str, ScheduleKind); 5] = [
    ("constant", ScheduleKind::Constant),
    ("two-phase", ScheduleKind::TwoPhase),
    ("linear", ScheduleKind::Linear),
    ("exponential", ScheduleKind::Exponential),
    ("points", ScheduleKind::Points),
];
pub(super) const SCHEDULE_NAMES: [&str; 5] = [
    SCHEDULES[0].0,
    SCHEDULES[1].0,
    SCHEDULES[2].0,
    SCHEDULES[3].0,
    SCHEDULES[4].0,
];
const LOSSES: [(&str, CriticLoss); 3] = [
    ("wasserstein", CriticLoss::Wasserstein),
    ("cross-entropy", CriticLoss::CrossEntropy),
    ("hinge", CriticLoss::Hinge),
];
pub(super) const LOSS_NAMES: [&str; 3] = [LOSSES[0].0, LOSSES[1].0, LOSSES[2].0];

pub(super) fn name_of<T: PartialEq>(choices: &[(&'static str, T)], wanted: &T) -> SettingValue {
    let found = choices.iter().find(|(_, value)| value == wanted);
    SettingValue::Choice(found.map_or("", |(name, _)| name))
}

pub(super) fn value_of<T: Copy>(choices: &[(&'static str, T)], name: &SettingValue) -> Option<T> {
    let SettingValue::Choice(name) = name else {
        return None;
    };
    choices
        .iter()
        .find(|(known, _)| known == name)
        .map(|(_, value)| *value)
}

impl Settable for ScheduleKind {
    fn wrap(&self) -> SettingValue {
        name_of(&SCHEDULES, self)
    }

    fn unwrap(value: SettingValue) -> Option<Self> {
        value_of(&SCHEDULES, &value)
    }
}

impl Settable for CriticLoss {
    fn wrap(&self) -> SettingValue {
        name_of(&LOSSES, self)
    }

    fn unwrap(value: SettingValue) -> Option<Self> {
        value_of(&LOSSES, &value)
    }
}

/// A row of a table of settings.
macro_rules! setting {
    ($key:literal, $field:ident, $group:ident, $unit:literal, $range:expr, $advanced:literal, $help:literal) => {
        SettingDescription {
            key: $key,
            group: SettingGroup::$group,
            unit: $unit,
            range: $range,
            help: $help,
            advanced: $advanced,
            get: |settings| Settable::wrap(&settings.$field),
            set: |settings, value| {
                Settable::unwrap(value)
                    .map(|value| settings.$field = value)
                    .is_some()
            },
        }
    };
}
pub(super) use setting;

pub(super) const fn integer(min: u64, max: u64) -> SettingRange {
    SettingRange::Integer { min, max }
}

pub(super) const fn real(min: f64, max: f64) -> SettingRange {
    SettingRange::Real { min, max, log: false }
}

pub(super) const fn scale(min: f64, max: f64) -> SettingRange {
    SettingRange::Real { min, max, log: true }
}

pub(super) const WIDTHS: SettingRange = SettingRange::Widths {
    layers: 4,
    width: 2048,
};

/// Drawn noise: the loudest point may be a hundred times the quietest.
pub(super) const POINTS: SettingRange = SettingRange::Numbers {
    min: 0.1,
    max: 10.0,
    most: 16,
};

/// All settings, in the order in which a form shows them.
#[rustfmt::skip]
pub const SETTINGS: [SettingDescription; 33] = [
    setting!("steps", steps, Privacy, "steps", integer(1, 1_000_000), false,
        "Critic steps, each one noisy look at the data; more steps mean more noise in each."),
    setting!("batch-size", batch_size, Privacy, "rows", integer(1, 65_536), false,
        "Rows, or persons, expected in a step: each enters by its own coin, so the number varies."),
    setting!("clip-norm", clip_norm, Privacy, "", scale(1e-4, 1e3), false,
        "The most that one row's gradient may move a step (ℓ2 norm over all layers together)."),
    setting!("schedule", schedule, Privacy, "", SettingRange::Choice(&SCHEDULE_NAMES), true,
        "How the noise changes over the steps; the whole is scaled to meet the budget exactly."),
    setting!("schedule-early", schedule_early, Privacy, "of ε", real(0.05, 0.95), true,
        "The first half's share of ε in two phases: 0.2 is \"2 early, 8 late\" of a total of 10."),
    setting!("schedule-ratio", schedule_ratio, Privacy, "times", real(1.0, 10.0), true,
        "Noise at the first step over noise at the last, where it falls in a line or by a factor."),
    setting!("schedule-points", schedule_points, Privacy, "", POINTS, true,
        "Noise at equally distant places from the first step to the last, each relative to the others."),
    SettingDescription {
        // What depends on it moves along.
        set: |settings, value| Settable::unwrap(value).map(|on| settings.switch_marginals(on)).is_some(),
        ..setting!("marginals", marginals, Marginals, "", SettingRange::Switch, false,
            "Buys noisy histograms of each column (by class, if a label is declared) to guide the generator.")
    },
    setting!("marginal-share", marginal_share, Marginals, "of ρ", real(0.01, 0.9), false,
        "The share of the budget that buys the marginals."),
    setting!("marginal-weight", marginal_weight, Marginals, "", scale(0.01, 1000.0), true,
        "How strongly the generator is pulled towards the noisy marginals."),
    setting!("fine-decode", fine_decode, Marginals, "", SettingRange::Switch, false,
        "Buys noisy fine histograms, so that numbers inside a bin follow the data instead of being uniform."),
    setting!("fine-share", fine_share, Marginals, "of ρ", real(0.01, 0.9), true,
        "The share of the budget that buys the fine histograms."),
    setting!("binned", binned, Encoding, "", SettingRange::Switch, true,
        "Encodes numbers in bins (recommended); otherwise each as one scaled number."),
    setting!("bins", bins, Encoding, "bins", integer(2, 256), true,
        "Bins of a number that has none declared, equally wide on its scale."),
    setting!("critic-hidden", critic_hidden, Critic, "units", WIDTHS, true,
        "Widths of the critic's hidden layers; wider ones did not help on tables."),
    setting!("critic-loss", critic_loss, Critic, "", SettingRange::Choice(&LOSS_NAMES), true,
        "What the critic is trained to tell real from generated rows by."),
    setting!("critic-steps", critic_steps, Critic, "steps", integer(1, 1000), true,
        "Critic steps between two steps of the generator, at the start."),
    setting!("ladder", ladder, Critic, "", SettingRange::Switch, true,
        "Takes more critic steps a turn when the critic no longer tells generated rows (not with Wasserstein scores)."),
    setting!("ladder-grace", ladder_grace, Critic, "steps", integer(1, 100_000), true,
        "Generator steps before that number may grow again."),
    setting!("critic-learning-rate", critic_learning_rate, Critic, "", scale(1e-6, 1.0), true,
        "How far the critic moves in a step."),
    setting!("critic-beta1", critic_beta1, Critic, "", real(0.0, 0.999), true,
        "How long the critic's Adam remembers past gradients."),
    setting!("critic-beta2", critic_beta2, Critic, "", real(0.0, 0.9999), true,
        "How long the critic's Adam remembers past squared gradients."),
    setting!("weight-clamp", weight_clamp, Critic, "", scale(1e-3, 10.0), true,
        "The bound to which the critic's weights are clamped after each step, which keeps it smooth."),
    setting!("fake-batch", fake_batch, Critic, "rows", integer(2, 65_536), true,
        "Generated rows that the critic compares real ones with in a step."),
    setting!("generator-batch", generator_batch, Generator, "rows", integer(2, 65_536), true,
        "Generated rows in a step of the generator."),
    setting!("latent", latent, Generator, "numbers", integer(1, 4096), true,
        "Random numbers from which one row is made."),
    setting!("generator-hidden", generator_hidden, Generator, "units", WIDTHS, true,
        "Widths of the generator's hidden layers."),
    setting!("batch-norm", batch_norm, Generator, "", SettingRange::Switch, true,
        "Normalises the generator's hidden layers over generated rows (never over private ones)."),
    setting!("generator-learning-rate", generator_learning_rate, Generator, "", scale(1e-6, 1.0), true,
        "How far the generator moves in a step."),
    setting!("generator-beta1", generator_beta1, Generator, "", real(0.0, 0.999), true,
        "How long the generator's Adam remembers past gradients."),
    setting!("generator-beta2", generator_beta2, Generator, "", real(0.0, 0.9999), true,
        "How long the generator's Adam remembers past squared gradients."),
    setting!("averaging", averaging, Generator, "", real(0.0, 0.99999), true,
        "Decay of the running average of the generator's weights, from which rows are drawn."),
    setting!("temperature", temperature, Generator, "", real(0.1, 10.0), true,
        "How hard the generator commits to one category while training."),
];
