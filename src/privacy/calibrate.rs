//! From a budget to a setting: the value whose ε comes closest to the target without passing it.

#![allow(
    clippy::float_cmp,
    reason = "exact edges such as q = 1 and an unchanged bracket are meant"
)]

use thiserror::Error;

use super::{AccountantKind, AccountingError, EventList, Neighboring, PrivacyEvent, gaussian};
use crate::num::{Delta, Epsilon, Readable, UnitError};

/// A calibrated setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibrated {
    /// The setting's value.
    pub value: f64,
    /// The ε that it reaches, never above the target.
    pub epsilon: f64,
}

/// Why no setting was found.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum CalibrationError {
    /// Even the safest value passes the budget.
    #[error("the budget is too small: the smallest epsilon that works is {}", Readable(*.smallest_epsilon))]
    BudgetTooSmall {
        /// ε at the safest value of the bracket.
        smallest_epsilon: f64,
    },
    /// A Gaussian keeps no promise at δ = 0.
    #[error("delta must be above 0: Gaussian noise gives no pure guarantee")]
    DeltaZero,
    /// A sensitivity, rate or bracket that cannot be.
    #[error("{0} must be {1}, not {2}")]
    Setting(&'static str, &'static str, f64),
    /// The events cannot be accounted.
    #[error(transparent)]
    Accounting(#[from] AccountingError),
    /// A number outside its unit's range.
    #[error(transparent)]
    Unit(#[from] UnitError),
}

/// What more of the setting does to ε.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Effect {
    /// More noise: ε falls.
    Safer,
    /// More steps, a higher rate: ε rises.
    Costlier,
}

/// Where a setting is looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracket {
    /// Least value that makes sense (positive).
    pub low: f64,
    /// Largest value that makes sense.
    pub high: f64,
    /// What more of it does.
    pub effect: Effect,
    /// Whether only whole numbers count.
    pub whole: bool,
    /// How far below the target ε may stay, relative.
    pub tolerance: f64,
}

impl Bracket {
    /// Noise multipliers.
    pub const fn noise() -> Self {
        Self {
            low: 1e-3,
            high: 1e7,
            effect: Effect::Safer,
            whole: false,
            tolerance: 2e-4,
        }
    }

    /// Whole numbers of steps up to `most`.
    pub const fn steps(most: u64) -> Self {
        Self {
            low: 1.0,
            high: most as f64,
            effect: Effect::Costlier,
            whole: true,
            tolerance: 0.0,
        }
    }

    /// Sampling rates from `least` to 1.
    pub const fn sampling_rate(least: f64) -> Self {
        Self {
            low: least,
            high: 1.0,
            effect: Effect::Costlier,
            whole: false,
            tolerance: 2e-4,
        }
    }
}

/// The least σ for which Gaussian noise on a query of ℓ2 sensitivity `sensitivity` is (ε, δ)-DP: the analytic
/// Gaussian mechanism (Balle & Wang 2018), to the last bits.
///
/// # Errors
/// δ = 0, a sensitivity that is not positive and finite, or a budget that takes more noise than a number can hold.
pub fn gaussian_sigma(epsilon: Epsilon, delta: Delta, sensitivity: f64) -> Result<f64, CalibrationError> {
    if delta.get() == 0.0 {
        return Err(CalibrationError::DeltaZero);
    }
    check_sensitivity(sensitivity)?;
    let mu = gaussian::largest_mu(epsilon.get(), delta.get());
    noise_of_ratio(sensitivity, mu, |mu| gaussian::epsilon(mu, delta.get().ln()))
}

/// The least noise with sensitivity over noise at most `ratio`. Rounding takes none away, and never all of it.
///
/// # Errors
/// The ε of the most noise that a number can hold, where that is too little.
fn noise_of_ratio(
    sensitivity: f64,
    ratio: f64,
    epsilon: impl Fn(f64) -> f64,
) -> Result<f64, CalibrationError> {
    let mut noise = sensitivity / ratio;
    while sensitivity / noise > ratio {
        noise = noise.next_up();
    }
    if noise.is_finite() {
        Ok(noise)
    } else {
        // A hair above the edge, so that what is named works in spite of rounding.
        Err(CalibrationError::BudgetTooSmall {
            smallest_epsilon: epsilon(sensitivity / f64::MAX * (1.0 + 1e-9)),
        })
    }
}

/// The least σ, to 1e-4 relative, for which discrete Gaussian noise on a statistic that one unit changes by at most
/// `sensitivity` whole steps costs (ε, δ), as the loss-distribution accountant counts it.
///
/// # Errors
/// δ = 0, or a sensitivity of 0.
pub fn discrete_gaussian_sigma(
    epsilon: Epsilon,
    delta: Delta,
    sensitivity: u64,
) -> Result<Calibrated, CalibrationError> {
    let continuous = gaussian_sigma(epsilon, delta, sensitivity as f64)?;
    let make = |sigma: f64| {
        let mut list = EventList::new(Neighboring::default());
        list.push(PrivacyEvent::DiscreteGaussian { sigma, sensitivity }, 1);
        list
    };
    // The two kinds of noise cost nearly the same from σ = 1 on; below, the discrete one less, as it is often 0.
    let bracket = Bracket {
        low: 0.25 * continuous,
        high: 1.5 * continuous,
        tolerance: 1e-4,
        ..Bracket::noise()
    };
    calibrate(make, (epsilon, delta), AccountantKind::Pld, bracket)
}

/// The least scale for which Laplace noise on a query of ℓ1 sensitivity `sensitivity` is ε-DP: b = Δ/ε (Dwork,
/// McSherry, Nissim, Smith 2006), rounded so that Δ/b is not above ε.
///
/// # Errors
/// A sensitivity that is not positive and finite, or a budget that takes more noise than a number can hold.
pub fn laplace_scale(epsilon: Epsilon, sensitivity: f64) -> Result<f64, CalibrationError> {
    check_sensitivity(sensitivity)?;
    noise_of_ratio(sensitivity, epsilon.get(), |smallest| smallest)
}

fn check_sensitivity(sensitivity: f64) -> Result<(), CalibrationError> {
    if sensitivity > 0.0 && sensitivity.is_finite() {
        Ok(())
    } else {
        Err(CalibrationError::Setting(
            "sensitivity",
            "positive and finite",
            sensitivity,
        ))
    }
}

/// The value in the bracket whose events reach an ε closest to the target from below.
///
/// Both edges are tested first; then regula falsi (Illinois) on ln ε over ln value, with bisection where ε is
/// not a positive number. The value returned has itself been accounted, so it is always on the side within.
///
/// # Errors
/// [`CalibrationError::BudgetTooSmall`] with the smallest ε that works, an impossible bracket, or events that
/// cannot be accounted.
pub fn calibrate(
    make: impl Fn(f64) -> EventList,
    target: (Epsilon, Delta),
    accountant: AccountantKind,
    bracket: Bracket,
) -> Result<Calibrated, CalibrationError> {
    let Bracket {
        low,
        high,
        effect,
        whole,
        tolerance,
    } = bracket;
    if !(low > 0.0 && low <= high && high.is_finite()) {
        return Err(CalibrationError::Setting(
            "the lower edge of the bracket",
            "positive and at most the upper",
            low,
        ));
    }
    let (goal, delta) = (target.0.get(), target.1);
    let cost = |value: f64| accountant.epsilon(&make(value), delta);
    let (safe, costly) = if effect == Effect::Safer {
        (high, low)
    } else {
        (low, high)
    };
    let mut inside = Calibrated {
        value: safe,
        epsilon: cost(safe)?,
    };
    if inside.epsilon > goal {
        return Err(CalibrationError::BudgetTooSmall {
            smallest_epsilon: inside.epsilon,
        });
    }
    let mut outside = Calibrated {
        value: costly,
        epsilon: cost(costly)?,
    };
    if outside.epsilon <= goal {
        return Ok(outside);
    }
    // ln(ε/target) at both ends, halved when an end stays twice in a row (Illinois).
    let height = |epsilon: f64| (epsilon / goal).ln();
    let (mut below, mut above) = (height(inside.epsilon), height(outside.epsilon));
    let mut last_side = 0i8;
    for round in 0..200 {
        if inside.epsilon >= goal * (1.0 - tolerance) {
            break;
        }
        let (a, b) = (inside.value.ln(), outside.value.ln());
        let straight = (a * above - b * below) / (above - below);
        let wide = (a - b).abs() > 2.0;
        let mut middle = if straight.is_finite() && !(wide && round % 2 == 0) {
            straight
        } else {
            0.5 * (a + b)
        };
        // A hair towards the safe side, so that the last step lands within.
        middle += (a - middle) * 1e-3;
        let mut value = middle.exp();
        if whole {
            value = value.round();
            if value == inside.value || value == outside.value {
                value = f64::midpoint(inside.value, outside.value).floor();
            }
        }
        if value == inside.value || value == outside.value || (a - b).abs() < 1e-13 {
            break;
        }
        let epsilon = cost(value)?;
        let point = Calibrated { value, epsilon };
        if epsilon <= goal {
            if last_side == -1 {
                above /= 2.0;
            }
            (inside, below, last_side) = (point, height(epsilon), -1);
        } else {
            if last_side == 1 {
                below /= 2.0;
            }
            (outside, above, last_side) = (point, height(epsilon), 1);
        }
    }
    Ok(inside)
}

/// The least noise multiplier of `steps` Poisson-sampled Gaussian steps within (ε, δ).
///
/// # Errors
/// As [`calibrate`].
pub fn noise_multiplier(
    target: (Epsilon, Delta),
    sampling_rate: f64,
    steps: u64,
    neighboring: Neighboring,
    accountant: AccountantKind,
) -> Result<Calibrated, CalibrationError> {
    scaled_noise(target, sampling_rate, &[(1.0, steps)], neighboring, accountant)
}

/// The factor on a whole schedule of noise: `schedule` holds (relative noise, steps) of each phase, and the phases'
/// noise multipliers are the returned value times the relative noise.
///
/// # Errors
/// As [`calibrate`].
pub fn scaled_noise(
    target: (Epsilon, Delta),
    sampling_rate: f64,
    schedule: &[(f64, u64)],
    neighboring: Neighboring,
    accountant: AccountantKind,
) -> Result<Calibrated, CalibrationError> {
    let make = |value: f64| {
        let mut list = EventList::new(neighboring);
        for &(relative, steps) in schedule {
            let noise_multiplier = value * relative;
            list.push(
                PrivacyEvent::PoissonSampledGaussian {
                    sampling_rate,
                    noise_multiplier,
                    steps,
                },
                1,
            );
        }
        list
    };
    if target.1.get() == 0.0 {
        return Err(CalibrationError::DeltaZero);
    }
    // The Rényi bound is cheap and never below, so its solution is within; the tighter accountant then only looks
    // between it and a little less noise.
    let tight = accountant == AccountantKind::Pld;
    let tolerance = if tight { 0.02 } else { Bracket::noise().tolerance };
    let rough = around_one(&make, target, AccountantKind::Rdp).and_then(|bracket| {
        calibrate(
            make,
            target,
            AccountantKind::Rdp,
            Bracket { tolerance, ..bracket },
        )
    });
    if !tight {
        return rough;
    }
    let Ok(rough) = rough else {
        return around_one(&make, target, accountant)
            .and_then(|bracket| calibrate(make, target, accountant, bracket));
    };
    let mut narrow = Bracket {
        low: (rough.value * 0.8).max(Bracket::noise().low),
        high: rough.value,
        ..Bracket::noise()
    };
    while narrow.low > Bracket::noise().low
        && accountant.epsilon(&make(narrow.low), target.1)? <= target.0.get()
    {
        (narrow.low, narrow.high) = ((narrow.low * 0.7).max(Bracket::noise().low), narrow.low);
    }
    calibrate(make, target, accountant, narrow)
}

/// A bracket of noise found by doubling from 1, so that absurd values are not accounted unless they are asked for.
fn around_one(
    make: &impl Fn(f64) -> EventList,
    target: (Epsilon, Delta),
    accountant: AccountantKind,
) -> Result<Bracket, CalibrationError> {
    let whole = Bracket::noise();
    let within = |value: f64| {
        Ok::<bool, CalibrationError>(accountant.epsilon(&make(value), target.1)? <= target.0.get())
    };
    let (mut low, mut high) = (1.0, 1.0);
    if within(1.0)? {
        while low > whole.low && within(low)? {
            (low, high) = ((low / 2.0).max(whole.low), low);
        }
    } else {
        while high < whole.high && !within(high)? {
            (low, high) = (high, (high * 2.0).min(whole.high));
        }
    }
    Ok(Bracket { low, high, ..whole })
}

/// The most Poisson-sampled Gaussian steps within (ε, δ), up to `most`.
///
/// # Errors
/// As [`calibrate`]; a budget too small for one step says the smallest that works.
pub fn steps(
    target: (Epsilon, Delta),
    sampling_rate: f64,
    noise_multiplier: f64,
    most: u64,
    neighboring: Neighboring,
    accountant: AccountantKind,
) -> Result<Calibrated, CalibrationError> {
    let make = |value: f64| {
        let steps = value as u64;
        let mut list = EventList::new(neighboring);
        list.push(
            PrivacyEvent::PoissonSampledGaussian {
                sampling_rate,
                noise_multiplier,
                steps,
            },
            1,
        );
        list
    };
    calibrate(make, target, accountant, Bracket::steps(most.max(1)))
}

/// The highest sampling rate at which `steps` steps stay within (ε, δ).
///
/// # Errors
/// As [`calibrate`].
pub fn sampling_rate(
    target: (Epsilon, Delta),
    noise_multiplier: f64,
    steps: u64,
    neighboring: Neighboring,
    accountant: AccountantKind,
) -> Result<Calibrated, CalibrationError> {
    let make = |sampling_rate: f64| {
        let mut list = EventList::new(neighboring);
        list.push(
            PrivacyEvent::PoissonSampledGaussian {
                sampling_rate,
                noise_multiplier,
                steps,
            },
            1,
        );
        list
    };
    calibrate(make, target, accountant, Bracket::sampling_rate(1e-12))
}

/// The smallest ε that a setting can reach: that of its safest value.
///
/// # Errors
/// Events that cannot be accounted.
pub fn smallest_epsilon(
    make: impl Fn(f64) -> EventList,
    delta: Delta,
    accountant: AccountantKind,
    bracket: Bracket,
) -> Result<f64, CalibrationError> {
    let safest = if bracket.effect == Effect::Safer {
        bracket.high
    } else {
        bracket.low
    };
    Ok(accountant.epsilon(&make(safest), delta)?)
}

#[cfg(test)]
mod tests;
