//! From raw settings to a plan of a run by one release: checked, calibrated, and the only thing that trains.

use super::PairSettings;
use crate::data::{EncoderSettings, NumericCode, Provenance, RowEncoder, Schema};
use crate::num::{Delta, NoiseMultiplier};
use crate::privacy::{AccountantKind, EventList, PrivacyEvent};
use crate::train::budget::{Budget, least_noise, smallest_epsilon};
use crate::train::describe;
use crate::train::known_units;
use crate::train::layout::RowLayout;
use crate::train::plan::{
    Counted, PlanError, PlanSummary, PlanWarning, Privacy, Promise, RunSettings, weak_promise,
};
use crate::train::privatize::pair_sensitivity;
use crate::train::schedule::Stretch;

/// More cells than this are not counted: they would take half a gigabyte, and hold more noise than rows.
const MOST_CELLS: usize = 1 << 25;

/// A map of more numbers than this is not made: it would take half a gigabyte.
const MOST_WEIGHTS: usize = 1 << 27;

/// What is released of a table before the first step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableRelease {
    /// Noisy counts of pairs of columns.
    Pairs,
    /// A noisy mean embedding.
    MeanEmbedding,
}

impl TableRelease {
    /// Whether the setting of this key matters.
    pub fn uses(self, key: &str) -> bool {
        match self {
            Self::Pairs => !matches!(key, "frequencies" | "marginal-share"),
            Self::MeanEmbedding => key != "pair-weight",
        }
    }
}

/// A checked and calibrated run by one release.
#[derive(Clone, Debug)]
pub struct PairPlan {
    release: TableRelease,
    settings: PairSettings,
    encoder: EncoderSettings,
    layout: RowLayout,
    units: usize,
    protection: Option<PairProtection>,
    warnings: Vec<PlanWarning>,
}

/// The private part of a plan.
#[derive(Clone, Copy, Debug)]
pub struct PairProtection {
    /// The promise.
    pub budget: Budget,
    /// Noise of the pairs or of the embedding over their ℓ2 sensitivity.
    pub first: NoiseMultiplier,
    /// Noise of the fine histograms over theirs.
    pub fine: Option<NoiseMultiplier>,
    /// ε of all of it at the budget's δ: at most the budget.
    pub epsilon: f64,
}

impl PairPlan {
    /// The accountant that calibrates and that releases are held against. There are two of them, so the tightest is
    /// as quick as any.
    pub const ACCOUNTANT: AccountantKind = AccountantKind::Pld;

    /// Checks the settings against the schema and finds the noise that keeps the promise.
    ///
    /// `units` are the rows, or the persons where the schema makes them the unit of a promise.
    ///
    /// # Errors
    /// When a setting, the promise, the schema or the budget does not allow a run; the message says what to change.
    pub fn new(
        release: TableRelease,
        settings: &PairSettings,
        schema: &Schema,
        units: usize,
        privacy: Privacy,
    ) -> Result<Self, PlanError> {
        describe::check(settings)?;
        let promise = Promise::check(privacy)?;
        if units == 0 {
            return Err(PlanError::NoRows);
        }
        let open = schema.open_columns();
        if !open.is_empty() {
            return Err(PlanError::OpenColumns(open));
        }
        let is_suggested = schema
            .known_units()
            .is_some_and(|rows| rows.provenance == Provenance::Suggested);
        if promise.is_some() && is_suggested {
            return Err(PlanError::RowsSuggested);
        }
        if schema.used_columns().next().is_none() {
            return Err(PlanError::NothingToLearn);
        }
        let encoder = EncoderSettings {
            numeric: NumericCode::Binned {
                bins: settings.bins as usize,
            },
        };
        let layout = RowLayout::new(schema, &RowEncoder::new(schema, &encoder)?)?;
        check_size(release, settings, &layout)?;
        let fine = if settings.fine_decode && !layout.fine().is_empty() {
            settings.fine_share
        } else {
            0.0
        };
        let protection = promise
            .map(|promise| protect(promise.into_budget(), fine))
            .transpose()?;
        let known = if promise.is_some() {
            known_units(schema, units)
        } else {
            units
        };
        let mut warnings = weak_promise(promise, Counted::of(schema), known);
        warnings.extend(PlanWarning::of_persons(schema, promise));
        Ok(Self {
            release,
            settings: settings.clone(),
            encoder,
            layout,
            units,
            protection,
            warnings,
        })
    }

    /// What is released.
    pub const fn release(&self) -> TableRelease {
        self.release
    }

    /// The settings behind the plan.
    pub const fn settings(&self) -> &PairSettings {
        &self.settings
    }

    /// How rows are encoded.
    pub const fn encoder_settings(&self) -> &EncoderSettings {
        &self.encoder
    }

    /// Where columns lie in an encoded row.
    pub(in crate::train) const fn layout(&self) -> &RowLayout {
        &self.layout
    }

    /// The private part; `None` when no promise is made.
    pub(in crate::train) const fn protection(&self) -> Option<&PairProtection> {
        self.protection.as_ref()
    }

    /// The units planned for: rows, or persons where those are the unit of privacy.
    pub const fn units(&self) -> usize {
        self.units
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
                let fine = protection.fine.map(NoiseMultiplier::get);
                events(&protection.budget, protection.first.get(), fine)
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
            settings: RunSettings::Pairs(self.settings.clone()),
            budget_epsilon: protection.map(|protection| protection.budget.epsilon.get()),
            epsilon: self.epsilon(),
            delta: self.delta().map(Delta::get),
            neighboring: protection.map(|protection| protection.budget.neighboring),
            steps: self.steps(),
            // The releases look at all rows, however many: their number is private.
            expected_batch: 0,
            sampling_rate: 1.0,
            noise: protection.map_or_else(Vec::new, |protection| {
                vec![Stretch {
                    steps: 1,
                    noise_multiplier: protection.first.get(),
                }]
            }),
            // Waves have no rows to tell their noise in.
            marginal_deviation: (protection.filter(|_| self.release == TableRelease::Pairs)).map(
                |protection| {
                    protection.first.get() * pair_sensitivity(&self.layout, protection.budget.neighboring)
                },
            ),
            fine_deviation: protection.and_then(|protection| {
                let sensitivity = self.layout.fine_sensitivity(protection.budget.neighboring);
                Some(protection.fine?.get() * sensitivity)
            }),
            halves: None,
            encoded_width: self.layout.width(),
            // All of it is spent before the first step.
            epsilon_curve: self.epsilon().map_or_else(Vec::new, |epsilon| {
                vec![[0.0, epsilon], [self.steps() as f64, epsilon]]
            }),
            // A summary leaves with the generator, and a warning that δ is large for this many rows tells how many.
            warnings: (self.warnings.iter())
                .filter(|warning| !matches!(warning, PlanWarning::LargeDelta { .. }))
                .map(PlanWarning::message)
                .collect(),
        }
    }
}

/// Refuses what would not fit into memory.
fn check_size(release: TableRelease, settings: &PairSettings, layout: &RowLayout) -> Result<(), PlanError> {
    let (width, classes) = (layout.width(), layout.label().map_or(1, |label| label.width));
    match release {
        TableRelease::Pairs => {
            let cells = classes.saturating_mul(width.saturating_mul(width));
            if cells > MOST_CELLS {
                return Err(PlanError::ManyCells {
                    cells,
                    most: MOST_CELLS,
                });
            }
        }
        TableRelease::MeanEmbedding => {
            let frequencies = settings.frequencies as usize;
            let weights = (width + 2 * classes).saturating_mul(frequencies);
            if weights > MOST_WEIGHTS {
                return Err(PlanError::LargeEmbedding { width, frequencies });
            }
        }
    }
    Ok(())
}

/// The least noise on both releases, in the proportion of their shares of ρ, that keeps the promise.
fn protect(budget: Budget, fine: f64) -> Result<PairProtection, PlanError> {
    let of_share = |noise: f64, share: f64| noise / share.sqrt();
    let fine_noise = |noise: f64| (fine > 0.0).then(|| of_share(noise, fine));
    let found = least_noise(&budget, PairPlan::ACCOUNTANT, |noise| {
        events(&budget, of_share(noise, 1.0 - fine), fine_noise(noise))
    })?;
    let Some(found) = found else {
        return Err(PlanError::BudgetTooSmall {
            epsilon: budget.epsilon.get(),
            smallest: smallest_epsilon(&budget)?,
        });
    };
    Ok(PairProtection {
        budget,
        first: NoiseMultiplier::new(of_share(found.value, 1.0 - fine))?,
        fine: fine_noise(found.value).map(NoiseMultiplier::new).transpose()?,
        epsilon: found.epsilon,
    })
}

fn events(budget: &Budget, first: f64, fine: Option<f64>) -> EventList {
    let mut list = EventList::new(budget.neighboring);
    for noise_multiplier in std::iter::once(first).chain(fine) {
        list.push(PrivacyEvent::Gaussian { noise_multiplier }, 1);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, Kind};
    use crate::privacy::Neighboring;
    use crate::train::testing::{price_of_replacing, schema};

    fn plan(epsilon: f64, neighboring: Neighboring) -> Result<PairPlan, PlanError> {
        plan_of(TableRelease::Pairs, epsilon, neighboring)
    }

    fn plan_of(release: TableRelease, epsilon: f64, neighboring: Neighboring) -> Result<PairPlan, PlanError> {
        let privacy = Privacy::Private {
            epsilon,
            delta: 1e-5,
            neighboring,
        };
        PairPlan::new(
            release,
            &PairSettings::recommended(release),
            &schema(),
            600,
            privacy,
        )
    }

    #[test]
    fn both_releases_together_are_one_gaussian_of_the_budget() {
        // σ of the analytic Gaussian mechanism at δ = 1e-5 (Balle & Wang 2018): 1/σ² adds up.
        let sigmas = [(1.0, 3.7306), (10.0, 0.4999)];
        let releases = [TableRelease::Pairs, TableRelease::MeanEmbedding];
        for ((epsilon, sigma), release) in sigmas
            .into_iter()
            .flat_map(|sigma| releases.map(|of| (sigma, of)))
        {
            let plan = plan_of(release, epsilon, Neighboring::AddRemoveOne).unwrap();
            let protection = plan.protection().unwrap();
            let (first, fine) = (protection.first.get(), protection.fine.unwrap().get());
            let together = (first.powi(-2) + fine.powi(-2)).powf(-0.5);
            assert!((together / sigma - 1.0).abs() < 2e-3, "{together}");
            assert!(((first / fine).powi(2) - 0.1 / 0.9).abs() < 1e-9);
            assert!(plan.epsilon().unwrap() <= epsilon);
            assert_eq!(plan.events().events.len(), 2);
        }
        assert!(matches!(
            plan(1e-9, Neighboring::AddRemoveOne),
            Err(PlanError::BudgetTooSmall { .. })
        ));
    }

    #[test]
    fn a_replaced_row_needs_more_noise() {
        let ratio = price_of_replacing(|neighboring| plan(1.0, neighboring).unwrap().summary());
        assert!((ratio - 2.0_f64.sqrt()).abs() < 1e-9, "{ratio}");
    }

    #[test]
    fn a_map_that_would_not_fit_is_refused_and_each_release_knows_its_settings() {
        let mut schema = schema();
        let values: Vec<String> = (0..20_000).map(|value| value.to_string()).collect();
        schema.column.push(
            Column::new("wide", Kind::Categorical)
                .with_domain(values)
                .with_provenance(Provenance::Declared),
        );
        let (release, mut settings) = (TableRelease::MeanEmbedding, PairSettings::default());
        assert!(PairPlan::new(release, &settings, &schema, 600, Privacy::None).is_ok());
        settings.frequencies = 20_000;
        let refused = PairPlan::new(release, &settings, &schema, 600, Privacy::None);
        assert!(matches!(
            refused,
            Err(PlanError::LargeEmbedding {
                frequencies: 20_000,
                ..
            })
        ));
        assert!(release.uses("frequencies") && !TableRelease::Pairs.uses("frequencies"));
        assert!(TableRelease::Pairs.uses("pair-weight") && !release.uses("pair-weight"));
    }

    #[test]
    fn too_many_cells_are_refused_with_their_number() {
        let mut schema = schema();
        let values: Vec<String> = (0..6000).map(|value| value.to_string()).collect();
        schema.column.push(
            Column::new("wide", Kind::Categorical)
                .with_domain(values)
                .with_provenance(Provenance::Declared),
        );
        let refused = PairPlan::new(
            TableRelease::Pairs,
            &PairSettings::default(),
            &schema,
            600,
            Privacy::None,
        );
        assert!(matches!(refused, Err(PlanError::ManyCells { cells, .. }) if cells > MOST_CELLS));
    }
}
