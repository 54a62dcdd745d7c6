//! From raw settings to a plan of a run on images: checked, calibrated, and the only thing that trains.

use super::{CriticKind, ImageSettings};
use crate::data::image::ImageSet;
use crate::data::{Provenance, Schema};
use crate::model::image::ImageGeneratorShape;
use crate::model::{AdamSettings, CriticInput, CriticLoss, CriticShape};
use crate::num::{Delta, NoiseMultiplier, SamplingRate};
use crate::privacy::{AccountantKind, EventList};
use crate::train::budget::{self, Budget, least_noise};
use crate::train::describe;
use crate::train::plan::{
    Counted, PlanError, PlanSummary, PlanWarning, Privacy, Promise, Protection, RunSettings, weak_promise,
};
use crate::train::privatize::embedding_sensitivity;
use crate::train::schedule::{Schedule, Stretch};
use crate::train::settings::ScheduleKind;

/// Points of the planned ε curve.
const CURVE_POINTS: u64 = 48;
/// The slope of the critic's leaky ReLU below zero.
const NEGATIVE_SLOPE: f64 = 0.2;

/// How a generator learns from images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageMethod {
    /// From noisy means of a public embedding, released once.
    MeanEmbedding,
    /// From a critic; under a promise, one that is trained by DP-SGD.
    Gan,
    /// From a critic held smooth by a penalty on its slope (Gulrajani et al. 2017): without a promise only.
    GanWithPenalty,
}

impl ImageMethod {
    /// The accountant that its plans are made with.
    pub const fn accountant(self) -> AccountantKind {
        match self {
            Self::MeanEmbedding => AccountantKind::Pld,
            Self::Gan | Self::GanWithPenalty => AccountantKind::Rdp,
        }
    }

    /// Whether the method looks at the setting of this key.
    pub fn uses(self, key: &str) -> bool {
        match (self, key) {
            (_, "steps" | "frequencies" | "latent" | "averaging") => true,
            (Self::MeanEmbedding, key) => key.starts_with("generator-"),
            (Self::Gan, key) => key != "penalty",
            // Its loss is fixed, and it has no noise to shape.
            (Self::GanWithPenalty, key) => {
                !key.starts_with("schedule") && !matches!(key, "critic-loss" | "clip-norm" | "warm-share")
            }
        }
    }
}

/// A checked and calibrated run on images.
#[derive(Clone, Debug)]
pub struct ImagePlan {
    method: ImageMethod,
    settings: ImageSettings,
    shape: ImageGeneratorShape,
    images: usize,
    expected_batch: usize,
    sampling_rate: SamplingRate,
    protection: Option<Protection>,
    warnings: Vec<PlanWarning>,
}

impl ImagePlan {
    /// Checks the settings against the images and the schema of their labels, and finds the noise that keeps the
    /// promise. Reads what is public of the images: their form; with a critic also how many they are, unless the
    /// schema declares it.
    ///
    /// # Errors
    /// Names the setting, the label or the budget that is in the way.
    pub fn new(
        method: ImageMethod,
        settings: &ImageSettings,
        schema: &Schema,
        images: &ImageSet,
        privacy: Privacy,
    ) -> Result<Self, PlanError> {
        describe::check(settings)?;
        let promise = Promise::check(privacy)?;
        check_schema(schema, promise.is_some())?;
        if method == ImageMethod::GanWithPenalty && promise.is_some() {
            return Err(PlanError::Method {
                method: "wgan-gp",
                data: "images under a promise",
                instead: "dpgan",
            });
        }
        let form = images.form();
        let declared = schema
            .find(crate::data::image::LABEL)
            .and_then(|column| column.domain.as_ref());
        let shape = ImageGeneratorShape {
            latent: settings.latent as usize,
            classes: declared.map_or(1, Vec::len),
            hidden: settings.generator_hidden as usize,
            channels: settings.generator_channels as usize,
            side: form.side,
            colours: form.colours,
        };
        let known = crate::train::known_units(schema, images.len());
        let mut warnings = weak_promise(promise, Counted::Rows, known);
        let (mut expected_batch, mut sampling_rate) = (0, SamplingRate::new(1.0)?);
        if method != ImageMethod::MeanEmbedding {
            expected_batch = usize::try_from(settings.batch_size).map_or(known, |batch| batch.min(known));
            sampling_rate = SamplingRate::new(expected_batch as f64 / known as f64)?;
            warnings.extend(PlanWarning::of_sampling(
                settings.batch_size,
                expected_batch,
                schema,
                promise,
            ));
        }
        let protection = promise
            .map(|promise| protect(method, settings, promise.into_budget(), sampling_rate))
            .transpose()?;
        Ok(Self {
            method,
            settings: settings.clone(),
            shape,
            images: images.len(),
            expected_batch,
            sampling_rate,
            protection,
            warnings,
        })
    }

    /// How it learns.
    pub const fn method(&self) -> ImageMethod {
        self.method
    }

    /// The settings behind the plan.
    pub const fn settings(&self) -> &ImageSettings {
        &self.settings
    }

    /// The generator's shape.
    pub const fn shape(&self) -> &ImageGeneratorShape {
        &self.shape
    }

    /// The critic's shape, for the methods that have one.
    pub fn critic_shape(&self) -> CriticShape {
        let shape = &self.shape;
        let labels = if shape.classes > 1 { shape.classes } else { 0 };
        let input = match self.settings.critic {
            CriticKind::Dense => CriticInput::Row(shape.pixels() + labels),
            CriticKind::Convolution => CriticInput::Image {
                side: shape.side,
                colours: shape.colours,
                channels: self.settings.critic_channels.clone(),
            },
        };
        CriticShape {
            input,
            hidden: match self.settings.critic {
                CriticKind::Dense => self.settings.critic_hidden.clone(),
                CriticKind::Convolution => Vec::new(),
            },
            scores: shape.classes,
            negative_slope: NEGATIVE_SLOPE,
        }
    }

    /// What the critic is trained to tell apart by.
    pub fn critic_loss(&self) -> CriticLoss {
        match self.method {
            ImageMethod::GanWithPenalty => CriticLoss::Wasserstein,
            ImageMethod::MeanEmbedding | ImageMethod::Gan => self.settings.critic_loss,
        }
    }

    /// The images planned for.
    pub const fn images(&self) -> usize {
        self.images
    }

    /// Images expected in a step of the critic: the divisor of each update.
    pub const fn expected_batch(&self) -> usize {
        self.expected_batch
    }

    /// The probability with which each image enters a step of the critic.
    pub const fn sampling_rate(&self) -> SamplingRate {
        self.sampling_rate
    }

    /// The private part; `None` when no promise is made.
    pub(in crate::train) const fn protection(&self) -> Option<&Protection> {
        self.protection.as_ref()
    }

    /// The accountant that calibrates and that steps are held against: of a single release the tightest is as quick
    /// as any.
    pub const fn accountant(&self) -> AccountantKind {
        self.method.accountant()
    }

    /// Steps in which the generator follows a mean embedding: all of them, those before it meets the critic, or none.
    pub const fn embedding_steps(&self) -> u64 {
        match self.method {
            ImageMethod::MeanEmbedding => self.settings.steps,
            ImageMethod::Gan | ImageMethod::GanWithPenalty => self.settings.warm_steps,
        }
    }

    /// All steps: those that follow a mean embedding, and then those of the critic.
    pub const fn steps(&self) -> u64 {
        match self.method {
            ImageMethod::MeanEmbedding => self.settings.steps,
            ImageMethod::Gan | ImageMethod::GanWithPenalty => self.settings.warm_steps + self.settings.steps,
        }
    }

    /// How the generator steps while it follows a mean embedding. Before a critic it does so as a run of its own would.
    pub fn embedding_adam(&self) -> AdamSettings {
        let alone = ImageSettings::default();
        let settings = match self.method {
            ImageMethod::MeanEmbedding => &self.settings,
            ImageMethod::Gan | ImageMethod::GanWithPenalty => &alone,
        };
        AdamSettings {
            learning_rate: settings.generator_learning_rate,
            beta1: settings.generator_beta1,
            beta2: settings.generator_beta2,
        }
    }

    /// Noise over the clip norm at a step of the critic, counted from 0; `None` past the end or without a promise.
    pub fn noise_multiplier(&self, step: u64) -> Option<f64> {
        self.protection
            .as_ref()
            .and_then(|protection| protection.schedule.noise_multiplier(step))
    }

    /// ε of everything planned: at most the one promised.
    pub fn epsilon(&self) -> Option<f64> {
        self.protection.as_ref().map(|protection| protection.epsilon)
    }

    /// δ.
    pub fn delta(&self) -> Option<Delta> {
        self.protection.as_ref().map(|protection| protection.budget.delta)
    }

    /// Everything that will be charged, in the order in which it happens. Empty without a promise.
    pub fn events(&self) -> EventList {
        self.protection
            .as_ref()
            .map_or_else(EventList::default, |protection| {
                budget::events(protection, self.sampling_rate)
            })
    }

    /// What will have been charged when so many of all steps are done.
    pub fn events_until(&self, steps: u64) -> EventList {
        self.protection
            .as_ref()
            .map_or_else(EventList::default, |protection| {
                let looks = steps.saturating_sub(self.embedding_steps());
                budget::events_until(protection, self.sampling_rate, looks)
            })
    }

    /// What a person should know before the start.
    pub fn warnings(&self) -> &[PlanWarning] {
        &self.warnings
    }

    /// The noise that is shown: that of the one release, or of each step of the critic.
    fn noise(&self, protection: &Protection) -> Vec<Stretch> {
        match (self.method, protection.marginals) {
            (ImageMethod::MeanEmbedding, Some(noise)) => Schedule::flat(1, noise.get()).stretches().to_vec(),
            _ => protection.schedule.stretches().to_vec(),
        }
    }

    /// ε over all steps. What buys a mean embedding is spent before the first.
    fn epsilon_curve(&self, protection: &Protection) -> Vec<[f64; 2]> {
        if self.method == ImageMethod::MeanEmbedding {
            return vec![
                [0.0, protection.epsilon],
                [self.steps() as f64, protection.epsilon],
            ];
        }
        let before = self.embedding_steps() as f64;
        let mut curve = budget::epsilon_curve(protection, self.sampling_rate, CURVE_POINTS);
        curve.iter_mut().for_each(|point| point[0] += before);
        if let (true, Some(&[_, first])) = (before > 0.0, curve.first()) {
            curve.insert(0, [0.0, first]);
        }
        curve
    }

    fn halves(&self, protection: &Protection) -> Option<[f64; 2]> {
        if self.method == ImageMethod::MeanEmbedding || self.settings.schedule != ScheduleKind::TwoPhase {
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
        PlanSummary {
            settings: RunSettings::Images(self.settings.clone()),
            budget_epsilon: protection.map(|protection| protection.budget.epsilon.get()),
            epsilon: self.epsilon(),
            delta: self.delta().map(Delta::get),
            neighboring: protection.map(|protection| protection.budget.neighboring),
            steps: self.steps(),
            // A mean embedding looks at all images, however many: their number is private then.
            expected_batch: self.expected_batch,
            sampling_rate: self.sampling_rate.get(),
            noise: protection.map_or_else(Vec::new, |protection| self.noise(protection)),
            marginal_deviation: protection.and_then(|protection| {
                Some(protection.marginals?.get() * embedding_sensitivity(protection.budget.neighboring))
            }),
            fine_deviation: None,
            halves: protection.and_then(|protection| self.halves(protection)),
            encoded_width: self.shape.pixels(),
            epsilon_curve: protection.map_or_else(Vec::new, |protection| self.epsilon_curve(protection)),
            // A summary leaves with the generator, and a warning that δ is large for this many images tells how many.
            warnings: (self.warnings.iter())
                .filter(|warning| !matches!(warning, PlanWarning::LargeDelta { .. }))
                .map(PlanWarning::message)
                .collect(),
        }
    }
}

/// What a schema must not leave open.
fn check_schema(schema: &Schema, is_private: bool) -> Result<(), PlanError> {
    if let (Some(unit), true) = (&schema.unit, is_private) {
        return Err(PlanError::Unit(unit.column.clone()));
    }
    let open = schema.open_columns();
    if !open.is_empty() {
        return Err(PlanError::OpenColumns(open));
    }
    let is_suggested = schema
        .rows
        .is_some_and(|rows| rows.provenance == Provenance::Suggested);
    if is_private && is_suggested {
        return Err(PlanError::RowsSuggested);
    }
    Ok(())
}

/// The least noise that keeps the promise.
fn protect(
    method: ImageMethod,
    settings: &ImageSettings,
    budget: Budget,
    rate: SamplingRate,
) -> Result<Protection, PlanError> {
    if method != ImageMethod::MeanEmbedding {
        let embedding = if settings.warm_steps > 0 {
            settings.warm_share
        } else {
            0.0
        };
        return budget::protect_images(&budget, embedding, &settings.schedule_shape(), rate);
    }
    let release = |noise: Option<NoiseMultiplier>| Protection {
        budget,
        marginals: noise,
        fine: None,
        schedule: Schedule::default(),
        epsilon: 0.0,
    };
    let found = least_noise(&budget, method.accountant(), |noise| {
        budget::events(&release(NoiseMultiplier::new(noise).ok()), rate)
    })?;
    let Some(found) = found else {
        return Err(PlanError::BudgetTooSmall {
            epsilon: budget.epsilon.get(),
            smallest: budget::smallest_epsilon(&budget)?,
        });
    };
    Ok(Protection {
        epsilon: found.epsilon,
        ..release(Some(NoiseMultiplier::new(found.value)?))
    })
}

#[cfg(test)]
mod tests;
