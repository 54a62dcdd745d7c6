//! How a plan's budget is divided between marginals, fine histograms and the critic's steps.
//!
//! Shares are shares of ρ, the zCDP of a single Gaussian release that would use up the whole budget: Gaussian
//! releases add up in ρ, and the critic's steps get the noise that brings the RDP total of everything to ε.

use super::layout::RowLayout;
use super::plan::{LARGEST_EPSILON, PlanError, Protection};
use super::schedule::{Schedule, ScheduleShape, Stretch};
use super::settings::{ScheduleKind, TrainSettings};
use crate::num::{Delta, Epsilon, NoiseMultiplier, SamplingRate};
use crate::privacy::{
    Accountant, AccountantKind, Bracket, Calibrated, CalibrationError, EventList, Neighboring, PrivacyEvent,
    RdpAccountant, calibrate,
};

/// Noise beyond this teaches nothing, so a budget that needs more is refused.
const LOUDEST: f64 = 1e4;
/// The least share of ρ that is left for the critic.
const CRITIC_SHARE: f64 = 0.05;
/// How far below the promise a calibrated ε may stay, relative.
const TOLERANCE: f64 = 1e-6;
/// The same of noise that changes: each account of it costs as many times more as it has stretches.
const STEPPED: f64 = 1e-5;
/// The shares of two phases are met to this, relative, in at most so many rounds; a handful does.
const CLOSE: f64 = 1e-3;
const ROUNDS: usize = 20;
/// The most noise that one phase has over the other: at so little ε that no share can be told, shares are not met.
const STEEPEST: f64 = 100.0;
/// More than a million additions of ε can lose to rounding, relative.
const ROUNDING: f64 = 1e-9;

/// A promise whose numbers have been checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// ε promised.
    pub epsilon: Epsilon,
    /// δ.
    pub delta: Delta,
    /// The neighbouring relation.
    pub neighboring: Neighboring,
}

/// Divides the budget and calibrates the critic's noise.
pub fn protect(
    budget: &Budget,
    settings: &TrainSettings,
    layout: &RowLayout,
    rate: SamplingRate,
) -> Result<Protection, PlanError> {
    let marginals = if settings.marginals && layout.feature_count() > 0 {
        settings.marginal_share
    } else {
        0.0
    };
    let fine = if settings.fine_decode && !layout.fine().is_empty() {
        settings.fine_share
    } else {
        0.0
    };
    Shares { marginals, fine }.protect(budget, &settings.into(), rate)
}

/// The same for images: a share for a mean embedding, which is bought first, and the rest for the critic.
pub fn protect_images(
    budget: &Budget,
    embedding: f64,
    schedule: &ScheduleShape,
    rate: SamplingRate,
) -> Result<Protection, PlanError> {
    let shares = Shares {
        marginals: embedding,
        fine: 0.0,
    };
    shares.protect(budget, schedule, rate)
}

/// Shares of ρ.
#[derive(Clone, Copy)]
struct Shares {
    marginals: f64,
    fine: f64,
}

impl Shares {
    fn protect(
        self,
        budget: &Budget,
        schedule: &ScheduleShape,
        rate: SamplingRate,
    ) -> Result<Protection, PlanError> {
        let before = self.marginals + self.fine;
        if before > 1.0 - CRITIC_SHARE + 1e-9 {
            return Err(PlanError::Shares(before));
        }
        match self.divide(budget, schedule, rate)? {
            Some(protection) => Ok(protection),
            None => Err(self.too_small(budget, schedule, rate)?),
        }
    }

    /// The noise of each part; `None` if the budget is too small for it.
    fn divide(
        self,
        budget: &Budget,
        shape: &ScheduleShape,
        rate: SamplingRate,
    ) -> Result<Option<Protection>, PlanError> {
        let Some(rho) = largest_rho(budget)? else {
            return Ok(None);
        };
        let noise = |share: f64| {
            (share > 0.0)
                .then(|| NoiseMultiplier::new((2.0 * share * rho).sqrt().recip()))
                .transpose()
        };
        let protection = Protection {
            budget: *budget,
            marginals: noise(self.marginals)?,
            fine: noise(self.fine)?,
            schedule: Schedule::shape(shape.clone()),
            epsilon: 0.0,
        };
        let Some(flat) = protection.flat(rate)? else {
            return Ok(None);
        };
        match protection.scaled_to_budget(&flat, rate)? {
            Some(scaled) if shape.kind == ScheduleKind::TwoPhase => {
                scaled.with_halves(shape.early, &flat, rate)
            }
            other => Ok(other),
        }
    }

    /// The error that names the smallest ε that works with these settings.
    fn too_small(
        self,
        budget: &Budget,
        shape: &ScheduleShape,
        rate: SamplingRate,
    ) -> Result<PlanError, PlanError> {
        let works = |epsilon: f64| -> Result<bool, PlanError> {
            let budget = Budget {
                epsilon: Epsilon::new(epsilon)?,
                ..*budget
            };
            Ok(self.divide(&budget, shape, rate)?.is_some())
        };
        let asked = budget.epsilon.get();
        let (mut low, mut high) = (asked, asked.max(1e-6) * 2.0);
        while high < LARGEST_EPSILON && !works(high)? {
            (low, high) = (high, high * 2.0);
        }
        while high / low > 1.01 {
            let middle = (low * high).sqrt();
            if works(middle)? {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok(PlanError::BudgetTooSmall {
            epsilon: asked,
            smallest: high,
        })
    }
}

impl Protection {
    /// The same with one noise in all steps that meets the budget; `None` if even the loudest passes it.
    fn flat(&self, rate: SamplingRate) -> Result<Option<Self>, PlanError> {
        let at = |noise: f64| Self {
            schedule: Schedule::flat(self.schedule.steps(), noise),
            ..self.clone()
        };
        let known = least_noise(&self.budget, AccountantKind::Rdp, |noise| {
            events(&at(noise), rate)
        })?;
        Ok(known.map(|Calibrated { value, epsilon }| Self { epsilon, ..at(value) }))
    }

    /// The same with the critic's noise scaled so that everything together meets the budget.
    ///
    /// The noise of `flat` is between the quietest and the loudest of any shape of the same cost, so that a list of
    /// many stretches is accounted only a few times.
    fn scaled_to_budget(&self, flat: &Self, rate: SamplingRate) -> Result<Option<Self>, PlanError> {
        let ends = |schedule: &Schedule| {
            let noise = schedule
                .stretches()
                .iter()
                .map(|stretch| stretch.noise_multiplier);
            noise.fold((f64::INFINITY, 0.0), |(quiet, loud), noise| {
                (f64::min(quiet, noise), f64::max(loud, noise))
            })
        };
        if self.schedule.stretches().len() == 1 {
            return Ok(Some(flat.clone()));
        }
        let ((quiet, loud), (_, known)) = (ends(&self.schedule), ends(&flat.schedule));
        let bracket = Bracket {
            low: known / loud * (1.0 - TOLERANCE),
            high: known / quiet * (1.0 + TOLERANCE),
            tolerance: STEPPED,
            ..Bracket::noise()
        };
        let at = |scale: f64| Self {
            schedule: self.schedule.scaled(scale),
            ..self.clone()
        };
        let list = |scale: f64| events(&at(scale), rate);
        let found = least_noise_in(&self.budget, AccountantKind::Rdp, list, bracket)?;
        Ok(found.map(|Calibrated { value, epsilon }| Self { epsilon, ..at(value) }))
    }

    /// ε of each stretch of steps as if it were a run of its own. The shares of two phases are measured by it.
    pub(super) fn stretches_alone(&self, rate: SamplingRate) -> Result<Vec<f64>, PlanError> {
        let alone = |stretch: &Stretch| -> Result<f64, PlanError> {
            let mut list = EventList::new(self.budget.neighboring);
            list.push(step_event(rate, stretch.noise_multiplier, stretch.steps), 1);
            AccountantKind::Rdp
                .epsilon(&list, self.budget.delta)
                .map_err(|error| CalibrationError::from(error).into())
        };
        self.schedule.stretches().iter().map(alone).collect()
    }

    /// Two phases, already scaled, whose first takes `early` of the sum of both ε, the whole meeting the budget again.
    ///
    /// The first phase's part falls as its noise grows over the second's, so their ratio is found by the secant of the
    /// last two, on log scales, and by bisection wherever that would leave the bracket.
    fn with_halves(self, early: f64, flat: &Self, rate: SamplingRate) -> Result<Option<Self>, PlanError> {
        let wanted = (early / (1.0 - early)).ln();
        let (mut low, mut high) = (-STEEPEST.ln(), STEEPEST.ln());
        let mut found = self;
        let mut last: Option<(f64, f64)> = None;
        for _ in 0..ROUNDS {
            let (Some(ratio), [first, second]) = (found.phases_ratio(), &found.stretches_alone(rate)?[..])
            else {
                break;
            };
            let (place, missed) = (ratio.ln(), (first / second).ln() - wanted);
            if !missed.is_finite() || missed.abs() < CLOSE {
                break;
            }
            if missed > 0.0 {
                low = place;
            } else {
                high = place;
            }
            let slope = match last {
                Some((before, then)) => (missed - then) / (place - before),
                // ε of a phase goes by 1/σ while it is small.
                None => -1.0,
            };
            last = Some((place, missed));
            let guess = place - missed / slope;
            let next = if guess > low && guess < high {
                guess
            } else {
                f64::midpoint(low, high)
            };
            let shaped = Self {
                schedule: Schedule::two_phases(found.schedule.steps(), next.exp()),
                ..found.clone()
            };
            match shaped.scaled_to_budget(flat, rate)? {
                Some(scaled) => found = scaled,
                None => return Ok(None),
            }
        }
        Ok(Some(found))
    }

    /// The noise of the first of two phases over that of the second.
    fn phases_ratio(&self) -> Option<f64> {
        match self.schedule.stretches() {
            [first, second] => Some(first.noise_multiplier / second.noise_multiplier),
            _ => None,
        }
    }
}

/// ρ of the one Gaussian release that uses up the whole budget; `None` if even the loudest passes it.
pub fn largest_rho(budget: &Budget) -> Result<Option<f64>, PlanError> {
    let one = |noise_multiplier| {
        let mut list = EventList::new(budget.neighboring);
        list.push(PrivacyEvent::Gaussian { noise_multiplier }, 1);
        list
    };
    Ok(least_noise(budget, AccountantKind::Rdp, one)?.map(|noise| 0.5 / (noise.value * noise.value)))
}

/// The least noise whose events stay within the budget, and their ε; `None` if even the loudest pass it.
pub fn least_noise(
    budget: &Budget,
    accountant: AccountantKind,
    make: impl Fn(f64) -> EventList,
) -> Result<Option<Calibrated>, PlanError> {
    let bracket = Bracket {
        high: LOUDEST,
        tolerance: TOLERANCE,
        ..Bracket::noise()
    };
    least_noise_in(budget, accountant, make, bracket)
}

/// The same within a bracket.
fn least_noise_in(
    budget: &Budget,
    accountant: AccountantKind,
    make: impl Fn(f64) -> EventList,
    bracket: Bracket,
) -> Result<Option<Calibrated>, PlanError> {
    // A hair below the promise, so that adding up step by step cannot round past it at the last one.
    let target = Epsilon::new(budget.epsilon.get() * (1.0 - ROUNDING))?;
    match calibrate(make, (target, budget.delta), accountant, bracket) {
        Ok(calibrated) => Ok(Some(calibrated)),
        Err(CalibrationError::BudgetTooSmall { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The smallest ε for which a single Gaussian release still teaches something.
pub fn smallest_epsilon(budget: &Budget) -> Result<f64, PlanError> {
    let mut list = EventList::new(budget.neighboring);
    list.push(
        PrivacyEvent::Gaussian {
            noise_multiplier: LOUDEST,
        },
        1,
    );
    let smallest = AccountantKind::Pld.epsilon(&list, budget.delta);
    // A hair above, so that the number shown works itself.
    Ok(smallest.map_err(CalibrationError::from)? * 1.001)
}

/// The events of a protection up to the critic's first so many steps, in the order in which they happen.
pub fn events_until(protection: &Protection, rate: SamplingRate, steps: u64) -> EventList {
    let first = Protection {
        schedule: protection.schedule.first(steps),
        ..protection.clone()
    };
    events(&first, rate)
}

/// The events of a protection, in the order in which they happen.
pub fn events(protection: &Protection, rate: SamplingRate) -> EventList {
    let mut list = EventList::new(protection.budget.neighboring);
    for noise in [protection.marginals, protection.fine].into_iter().flatten() {
        list.push(
            PrivacyEvent::Gaussian {
                noise_multiplier: noise.get(),
            },
            1,
        );
    }
    push_steps(&mut list, &protection.schedule, rate);
    list
}

fn push_steps(list: &mut EventList, schedule: &Schedule, rate: SamplingRate) {
    for stretch in schedule.stretches() {
        list.push(step_event(rate, stretch.noise_multiplier, stretch.steps), 1);
    }
}

/// Steps of DP-SGD at one noise.
pub const fn step_event(rate: SamplingRate, noise_multiplier: f64, steps: u64) -> PrivacyEvent {
    PrivacyEvent::PoissonSampledGaussian {
        sampling_rate: rate.get(),
        noise_multiplier,
        steps,
    }
}

/// ε after some steps, from before the first to after the last: `[step, ε]`.
pub fn epsilon_curve(protection: &Protection, rate: SamplingRate, points: u64) -> Vec<[f64; 2]> {
    let mut accountant = RdpAccountant::new(protection.budget.neighboring);
    for noise in [protection.marginals, protection.fine].into_iter().flatten() {
        let _ = accountant.compose(
            &PrivacyEvent::Gaussian {
                noise_multiplier: noise.get(),
            },
            1,
        );
    }
    let steps = protection.schedule.steps();
    let mut curve = Vec::new();
    let mut done = 0;
    for point in 0..=points.min(steps) {
        let until = steps * point / points.min(steps).max(1);
        while done < until {
            // All steps up to the point share a stair, or the stair ends first.
            let (noise, length) = stair_at(&protection.schedule, done);
            let length = length.min(until - done);
            let _ = accountant.compose(&step_event(rate, noise, length), 1);
            done += length;
        }
        if let Ok(epsilon) = accountant.epsilon(protection.budget.delta) {
            curve.push([until as f64, epsilon]);
        }
    }
    curve
}

/// The noise at a step, and how many steps of the same stair are left from it on.
fn stair_at(schedule: &Schedule, step: u64) -> (f64, u64) {
    let mut end = 0;
    for stretch in schedule.stretches() {
        end += stretch.steps;
        if step < end {
            return (stretch.noise_multiplier, end - step);
        }
    }
    (LOUDEST, u64::MAX)
}
