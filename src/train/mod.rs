//! Training a generator under a promise: raw settings become a [`Plan`], and only a plan trains.
//!
//! Private rows meet noise in one file, `privatize.rs`, where the look and the recording of its event are one.
//! Everything else in this room works on what came out of there.

mod budget;
mod control;
pub mod describe;
mod fidelity;
pub mod image;
pub mod keep;
mod ladder;
mod layout;
mod observe;
pub mod pairs;
mod plan;
mod privatize;
mod recommend;
mod sampler;
mod schedule;
mod settings;
mod synthesizer;
mod targets;
#[cfg(test)]
mod testing;
mod training;

pub use control::Control;
pub use describe::{
    SETTINGS, SettingDescription, SettingError, SettingGroup, SettingRange, SettingValue, setting,
};
pub use layout::heads_of;
pub use observe::{ColumnHistogram, Fidelity, Observation, StepObservation};
pub use plan::{
    Counted, LARGEST_EPSILON, Plan, PlanError, PlanSummary, PlanWarning, Privacy, RunSettings, known_units,
    rounded_up,
};
pub use privatize::Refusal;
pub use recommend::{pair_deviation, recommended};
pub use sampler::PoissonSampler;
pub use schedule::{Schedule, Stretch};
pub use settings::{ScheduleKind, TrainSettings};
pub use synthesizer::{Condition, SampleError, TableGenerator};
pub use training::{StopReason, Synthesizer, TrainError, Trained, Training};

pub use crate::model::{CriticLoss, DeviceKind};
