//! From raw settings to a plan: checked, calibrated, and the only thing that trains.
//!
//! The sampler, the noise and the accountant all read the same plan, so what is charged is what is used.

mod error;
mod warning;

use serde::{Deserialize, Serialize};

use super::budget::{self, Budget};
use super::image::ImageSettings;
use super::layout::RowLayout;
use super::pairs::PairSettings;
use super::schedule::{Schedule, Stretch};
use super::settings::{ScheduleKind, TrainSettings};
use crate::data::{EncoderSettings, NumericCode, Provenance, RowEncoder, Schema};
use crate::num::{Delta, Epsilon, Message, NoiseMultiplier, SamplingRate};
use crate::privacy::{EventList, Neighboring};

pub use error::{PlanError, rounded_up};
pub use warning::Counted;
pub use warning::PlanWarning;
pub(super) use warning::weak_promise;

/// An ε beyond this promises nothing worth the noise.
pub const LARGEST_EPSILON: f64 = 100.0;

/// The promise that a run is to keep, as asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Privacy {
    /// Differential privacy with these parameters.
    Private {
        /// ε in nats.
        epsilon: f64,
        /// δ.
        delta: f64,
        /// The neighbouring relation.
        neighboring: Neighboring,
    },
    /// None: the same networks without clipping or noise, for comparison. Whatever they make carries no claim.
    None,
}

/// A checked and calibrated run.
#[derive(Clone, Debug)]
pub struct Plan {
    settings: TrainSettings,
    encoder: EncoderSettings,
    layout: RowLayout,
    units: usize,
    expected_batch: usize,
    sampling_rate: SamplingRate,
    protection: Option<Protection>,
    warnings: Vec<PlanWarning>,
}

/// The private part of a plan.
#[derive(Clone, Debug)]
pub(super) struct Protection {
    /// The promise.
    pub budget: Budget,
    /// Noise of the marginals, or of the mean embedding of images, over their ℓ2 sensitivity.
    pub marginals: Option<NoiseMultiplier>,
    /// Noise of the fine histograms over their ℓ2 sensitivity.
    pub fine: Option<NoiseMultiplier>,
    /// Noise of the critic's steps over the clip norm.
    pub schedule: Schedule,
    /// ε of all of it at the budget's δ: at most the budget.
    pub epsilon: f64,
}

/// The settings of a run, by what it learns from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RunSettings {
    /// A table.
    Table(TrainSettings),
    /// A table, by one release: counts of pairs of its columns, or a mean embedding.
    Pairs(PairSettings),
    /// Images.
    Images(ImageSettings),
}

impl RunSettings {
    /// Those of a run on a table that steps a critic.
    pub const fn table(&self) -> Option<&TrainSettings> {
        match self {
            Self::Table(settings) => Some(settings),
            Self::Pairs(_) | Self::Images(_) => None,
        }
    }

    /// Those of a run on a table by one release.
    pub const fn pairs(&self) -> Option<&PairSettings> {
        match self {
            Self::Pairs(settings) => Some(settings),
            Self::Table(_) | Self::Images(_) => None,
        }
    }

    /// Those of a run on images.
    pub const fn images(&self) -> Option<&ImageSettings> {
        match self {
            Self::Images(settings) => Some(settings),
            Self::Table(_) | Self::Pairs(_) => None,
        }
    }
}

/// What a plan comes to, for display and for a recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanSummary {
    /// The settings.
    pub settings: RunSettings,
    /// ε promised; `None` without a promise.
    pub budget_epsilon: Option<f64>,
    /// ε of everything planned: at most the one promised.
    pub epsilon: Option<f64>,
    /// δ.
    pub delta: Option<f64>,
    /// The neighbouring relation.
    pub neighboring: Option<Neighboring>,
    /// Critic steps.
    pub steps: u64,
    /// Rows expected in a step.
    pub expected_batch: usize,
    /// The probability with which each row enters a step.
    pub sampling_rate: f64,
    /// Noise over the clip norm, stretch by stretch.
    pub noise: Vec<Stretch>,
    /// ε of the first and the second half as if each were a run of its own, in a schedule of two phases.
    pub halves: Option<[f64; 2]>,
    /// Noise of the marginals, in rows (one standard deviation of each cell).
    pub marginal_deviation: Option<f64>,
    /// Noise of the fine histograms, in rows.
    pub fine_deviation: Option<f64>,
    /// The encoded width of a row.
    pub encoded_width: usize,
    /// ε after some steps, from the first to the last: `[step, ε]`.
    pub epsilon_curve: Vec<[f64; 2]>,
    /// Warnings, in words.
    pub warnings: Vec<Message>,
}

impl PlanSummary {
    /// Whether all private looks are releases before the first step, none of them at a sample of the rows.
    pub fn looks_once(&self) -> bool {
        let looks: u64 = self.noise.iter().map(|stretch| stretch.steps).sum();
        self.sampling_rate >= 1.0 && looks <= 1
    }
}

/// Points of the planned ε curve.
const CURVE_POINTS: u64 = 48;

impl Plan {
    /// Checks the settings against the schema and finds the noise that keeps the promise.
    ///
    /// `units` are the rows, or the persons where the schema makes them the unit of a promise.
    ///
    /// # Errors
    /// When a setting, the promise, the schema or the budget does not allow a run; the message says what to
    /// change.
    pub fn new(
        settings: &TrainSettings,
        schema: &Schema,
        units: usize,
        privacy: Privacy,
    ) -> Result<Self, PlanError> {
        settings.check()?;
        let promise = Promise::check(privacy)?;
        if units == 0 {
            return Err(PlanError::NoRows);
        }
        let open = schema.open_columns();
        if !open.is_empty() {
            return Err(PlanError::OpenColumns(open));
        }
        if promise.is_some()
            && schema
                .known_units()
                .is_some_and(|rows| rows.provenance == Provenance::Suggested)
        {
            return Err(PlanError::RowsSuggested);
        }
        let encoder = Self::encoder_of(settings);
        if schema.used_columns().next().is_none() {
            return Err(PlanError::NothingToLearn);
        }
        let layout = RowLayout::new(schema, &RowEncoder::new(schema, &encoder)?)?;
        // Without a promise each row is drawn by itself.
        let known = if promise.is_some() {
            known_units(schema, units)
        } else {
            units
        };
        let expected_batch = usize::try_from(settings.batch_size).map_or(known, |batch| batch.min(known));
        let sampling_rate = SamplingRate::new(expected_batch as f64 / known as f64)?;
        let protection = promise
            .map(|promise| budget::protect(&promise.into_budget(), settings, &layout, sampling_rate))
            .transpose()?;
        let warnings = warning::warnings(settings, schema, known, expected_batch, promise);
        Ok(Self {
            settings: settings.clone(),
            encoder,
            layout,
            units,
            expected_batch,
            sampling_rate,
            protection,
            warnings,
        })
    }

    /// How rows are encoded under these settings.
    fn encoder_of(settings: &TrainSettings) -> EncoderSettings {
        let numeric = if settings.binned {
            NumericCode::Binned {
                bins: settings.bins as usize,
            }
        } else {
            NumericCode::AsDeclared
        };
        EncoderSettings { numeric }
    }

    /// The settings behind the plan.
    pub const fn settings(&self) -> &TrainSettings {
        &self.settings
    }

    /// How rows are encoded.
    pub const fn encoder_settings(&self) -> &EncoderSettings {
        &self.encoder
    }

    /// Where columns lie in an encoded row.
    pub(super) const fn layout(&self) -> &RowLayout {
        &self.layout
    }

    /// The private part; `None` when no promise is made.
    pub(super) const fn protection(&self) -> Option<&Protection> {
        self.protection.as_ref()
    }

    /// Whether a promise is made.
    pub const fn is_private(&self) -> bool {
        self.protection.is_some()
    }

    /// The units planned for: rows, or persons where those are the unit of privacy.
    pub const fn units(&self) -> usize {
        self.units
    }

    /// Rows expected in a step: the divisor of each update, whatever the batch turns out to be.
    pub const fn expected_batch(&self) -> usize {
        self.expected_batch
    }

    /// The probability with which each row enters a step.
    pub const fn sampling_rate(&self) -> SamplingRate {
        self.sampling_rate
    }

    /// Critic steps.
    pub const fn steps(&self) -> u64 {
        self.settings.steps
    }

    /// ε promised.
    pub fn budget_epsilon(&self) -> Option<Epsilon> {
        self.protection
            .as_ref()
            .map(|protection| protection.budget.epsilon)
    }

    /// ε of everything planned: at most the one promised.
    pub fn epsilon(&self) -> Option<f64> {
        self.protection.as_ref().map(|protection| protection.epsilon)
    }

    /// δ.
    pub fn delta(&self) -> Option<Delta> {
        self.protection.as_ref().map(|protection| protection.budget.delta)
    }

    /// The neighbouring relation.
    pub fn neighboring(&self) -> Option<Neighboring> {
        self.protection
            .as_ref()
            .map(|protection| protection.budget.neighboring)
    }

    /// Noise over the clip norm at a step, counted from 0; `None` past the end or without a promise.
    pub fn noise_multiplier(&self, step: u64) -> Option<f64> {
        self.protection
            .as_ref()
            .and_then(|protection| protection.schedule.noise_multiplier(step))
    }

    /// Everything that will be charged, in the order in which it happens. Empty without a promise.
    pub fn events(&self) -> EventList {
        self.protection
            .as_ref()
            .map_or_else(EventList::default, |protection| {
                budget::events(protection, self.sampling_rate)
            })
    }

    /// What will have been charged when the critic has done so many steps.
    pub fn events_until(&self, steps: u64) -> EventList {
        self.protection
            .as_ref()
            .map_or_else(EventList::default, |protection| {
                budget::events_until(protection, self.sampling_rate, steps)
            })
    }

    /// What a person should know before the start.
    pub fn warnings(&self) -> &[PlanWarning] {
        &self.warnings
    }

    fn halves(&self, protection: &Protection) -> Option<[f64; 2]> {
        if self.settings.schedule != ScheduleKind::TwoPhase {
            return None;
        }
        protection
            .stretches_alone(self.sampling_rate)
            .ok()?
            .try_into()
            .ok()
    }

    /// What the plan comes to.
    pub fn summary(&self) -> PlanSummary {
        let protection = self.protection.as_ref();
        let deviation = |noise: Option<NoiseMultiplier>, sensitivity: f64| Some(noise?.get() * sensitivity);
        PlanSummary {
            settings: RunSettings::Table(self.settings.clone()),
            budget_epsilon: self.budget_epsilon().map(Epsilon::get),
            epsilon: self.epsilon(),
            delta: self.delta().map(Delta::get),
            neighboring: self.neighboring(),
            steps: self.steps(),
            expected_batch: self.expected_batch,
            sampling_rate: self.sampling_rate.get(),
            noise: protection.map_or_else(Vec::new, |protection| protection.schedule.stretches().to_vec()),
            halves: protection.and_then(|protection| self.halves(protection)),
            marginal_deviation: protection.and_then(|protection| {
                deviation(
                    protection.marginals,
                    self.layout.marginal_sensitivity(protection.budget.neighboring),
                )
            }),
            fine_deviation: protection.and_then(|protection| {
                deviation(
                    protection.fine,
                    self.layout.fine_sensitivity(protection.budget.neighboring),
                )
            }),
            encoded_width: self.layout.width(),
            epsilon_curve: protection.map_or_else(Vec::new, |protection| {
                budget::epsilon_curve(protection, self.sampling_rate, CURVE_POINTS)
            }),
            warnings: self.warnings.iter().map(PlanWarning::message).collect(),
        }
    }
}

/// The number of units, rows or persons, by which sampling rates and settings are chosen: the declared or bought one,
/// which a bought one may miss by its noise, so that nothing chosen by it tells the true one. Without either the true
/// one, which is then not protected.
pub fn known_units(schema: &Schema, units: usize) -> usize {
    let public = schema
        .known_units()
        .filter(|known| matches!(known.provenance, Provenance::Declared | Provenance::Bought));
    public.map_or(units, |known| {
        usize::try_from(known.value).unwrap_or(units).max(1)
    })
}

/// A promise whose numbers have been checked.
#[derive(Clone, Copy)]
pub(super) struct Promise {
    epsilon: Epsilon,
    delta: Delta,
    neighboring: Neighboring,
}

impl Promise {
    pub fn check(privacy: Privacy) -> Result<Option<Self>, PlanError> {
        let Privacy::Private {
            epsilon,
            delta,
            neighboring,
        } = privacy
        else {
            return Ok(None);
        };
        let checked = Epsilon::new(epsilon).map_err(|_| PlanError::Epsilon(epsilon))?;
        if epsilon > LARGEST_EPSILON {
            return Err(PlanError::Epsilon(epsilon));
        }
        // Gaussian noise keeps no promise at δ = 0.
        let delta = Delta::new(delta)
            .ok()
            .filter(|delta| delta.get() > 0.0)
            .ok_or(PlanError::Delta(delta))?;
        Ok(Some(Self {
            epsilon: checked,
            delta,
            neighboring,
        }))
    }

    pub const fn into_budget(self) -> Budget {
        Budget {
            epsilon: self.epsilon,
            delta: self.delta,
            neighboring: self.neighboring,
        }
    }
}

#[cfg(test)]
mod tests;
