//! From raw settings to a plan of a run on images: checked, calibrated, and the only thing that trains.

use super::ImageSettings;
use crate::data::image::ImageSet;
use crate::data::{Provenance, Schema};
use crate::model::image::ImageGeneratorShape;
use crate::num::{Delta, NoiseMultiplier};
use crate::privacy::{AccountantKind, EventList, Neighboring, PrivacyEvent};
use crate::train::budget::{Budget, least_noise};
use crate::train::describe;
use crate::train::plan::{PlanError, PlanSummary, PlanWarning, Privacy, Promise, RunSettings, weak_promise};
use crate::train::privatize::embedding_sensitivity;
use crate::train::schedule::Stretch;

/// How a generator learns from images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageMethod {
    /// From noisy means of a public embedding, released once.
    MeanEmbedding,
}

/// A checked and calibrated run on images.
#[derive(Clone, Debug)]
pub struct ImagePlan {
    method: ImageMethod,
    settings: ImageSettings,
    shape: ImageGeneratorShape,
    images: usize,
    protection: Option<ImageProtection>,
    warnings: Vec<PlanWarning>,
}

/// The private part of a plan.
#[derive(Clone, Copy, Debug)]
pub struct ImageProtection {
    /// The promise.
    pub budget: Budget,
    /// Noise of the mean embedding over its ℓ2 sensitivity.
    pub embedding: NoiseMultiplier,
    /// ε of all of it at the budget's δ: at most the budget.
    pub epsilon: f64,
}

impl ImagePlan {
    /// The accountant that calibrates and that steps are held against.
    ///
    /// There is a single release, so the tightest is as quick as any.
    pub const ACCOUNTANT: AccountantKind = AccountantKind::Pld;

    /// Checks the settings against the images and the schema of their labels, and finds the noise that keeps the
    /// promise. Reads what is public of the images: their form.
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
        if let (Some(unit), Some(_)) = (&schema.unit, promise) {
            return Err(PlanError::Unit(unit.column.clone()));
        }
        let open = schema.open_columns();
        if !open.is_empty() {
            return Err(PlanError::OpenColumns(open));
        }
        let is_suggested = schema
            .rows
            .is_some_and(|rows| rows.provenance == Provenance::Suggested);
        if promise.is_some() && is_suggested {
            return Err(PlanError::RowsSuggested);
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
        let protection = promise
            .map(|promise| protect(promise.into_budget()))
            .transpose()?;
        Ok(Self {
            method,
            settings: settings.clone(),
            shape,
            images: images.len(),
            protection,
            warnings: weak_promise(promise, crate::train::known_rows(schema, images.len())),
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

    /// The images planned for.
    pub const fn images(&self) -> usize {
        self.images
    }

    /// The private part; `None` when no promise is made.
    pub(in crate::train) const fn protection(&self) -> Option<&ImageProtection> {
        self.protection.as_ref()
    }

    /// Steps of the generator.
    pub const fn steps(&self) -> u64 {
        self.settings.steps
    }

    /// ε of everything planned: at most the one promised.
    pub fn epsilon(&self) -> Option<f64> {
        self.protection.map(|protection| protection.epsilon)
    }

    /// δ.
    pub fn delta(&self) -> Option<Delta> {
        self.protection.map(|protection| protection.budget.delta)
    }

    /// Everything that will be charged, in the order in which it happens. Empty without a promise.
    pub fn events(&self) -> EventList {
        self.protection
            .as_ref()
            .map_or_else(EventList::default, |protection| {
                events(protection.embedding.get(), protection.budget.neighboring)
            })
    }

    /// What a person should know before the start.
    pub fn warnings(&self) -> &[PlanWarning] {
        &self.warnings
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
            // The release looks at all images, however many: their number is private.
            expected_batch: 0,
            sampling_rate: 1.0,
            noise: protection.map_or_else(Vec::new, |protection| {
                vec![Stretch {
                    steps: 1,
                    noise_multiplier: protection.embedding.get(),
                }]
            }),
            marginal_deviation: protection.map(|protection| {
                protection.embedding.get() * embedding_sensitivity(protection.budget.neighboring)
            }),
            fine_deviation: None,
            halves: None,
            encoded_width: self.shape.pixels(),
            // All of it is spent before the first step.
            epsilon_curve: self.epsilon().map_or_else(Vec::new, |epsilon| {
                vec![[0.0, epsilon], [self.steps() as f64, epsilon]]
            }),
            // A summary leaves with the generator, and a warning that δ is large for this many images tells how many.
            warnings: (self.warnings.iter())
                .filter(|warning| !matches!(warning, PlanWarning::LargeDelta { .. }))
                .map(PlanWarning::message)
                .collect(),
        }
    }
}

/// The least noise on the one release that keeps the promise.
fn protect(budget: Budget) -> Result<ImageProtection, PlanError> {
    let found = least_noise(&budget, ImagePlan::ACCOUNTANT, |noise| {
        events(noise, budget.neighboring)
    })?;
    let Some(found) = found else {
        return Err(PlanError::BudgetTooSmall {
            epsilon: budget.epsilon.get(),
            smallest: crate::train::budget::smallest_epsilon(&budget)?,
        });
    };
    Ok(ImageProtection {
        budget,
        embedding: NoiseMultiplier::new(found.value)?,
        epsilon: found.epsilon,
    })
}

fn events(noise_multiplier: f64, neighboring: Neighboring) -> EventList {
    let mut list = EventList::new(neighboring);
    list.push(PrivacyEvent::Gaussian { noise_multiplier }, 1);
    list
}

#[cfg(test)]
mod tests {
    use super::super::testing::some_images;
    use super::*;

    fn plan(epsilon: f64, neighboring: Neighboring) -> Result<ImagePlan, PlanError> {
        let images = some_images(20);
        let privacy = Privacy::Private {
            epsilon,
            delta: 1e-5,
            neighboring,
        };
        let schema = images.set().schema();
        ImagePlan::new(
            ImageMethod::MeanEmbedding,
            &ImageSettings::default(),
            &schema,
            images.set(),
            privacy,
        )
    }

    #[test]
    fn the_noise_is_that_of_one_gaussian_release() {
        // σ of the analytic Gaussian mechanism at δ = 1e-5 (Balle & Wang 2018).
        for (epsilon, sigma) in [(1.0, 3.7306), (10.0, 0.4999)] {
            let plan = plan(epsilon, Neighboring::AddRemoveOne).unwrap();
            let found = plan.protection().unwrap().embedding.get();
            assert!((found / sigma - 1.0).abs() < 2e-3, "{found}");
            assert!(plan.epsilon().unwrap() <= epsilon);
            assert_eq!(plan.events().events.len(), 1);
            assert_eq!(plan.shape().classes, 2);
        }
        assert!(matches!(
            plan(1e-9, Neighboring::AddRemoveOne),
            Err(PlanError::BudgetTooSmall { .. })
        ));
        assert!(matches!(
            plan(f64::NAN, Neighboring::AddRemoveOne),
            Err(PlanError::Epsilon(_))
        ));
    }

    #[test]
    fn replacing_one_costs_twice_the_noise() {
        let deviation = |neighboring| {
            plan(1.0, neighboring)
                .unwrap()
                .summary()
                .marginal_deviation
                .unwrap()
        };
        let ratio = deviation(Neighboring::ReplaceOne) / deviation(Neighboring::AddRemoveOne);
        assert!((ratio - 2.0 / 1.01_f64.sqrt()).abs() < 1e-3, "{ratio}");
    }
}
