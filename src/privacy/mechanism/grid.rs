//! The grid on which noise is added.
//!
//! # Argument
//! Noise on floating-point numbers leaks: which results can occur, and how often, depends on the value that they hide
//! (Mironov 2012, "On significance of the least significant bits for differential privacy"). So a statistic is first
//! rounded to a multiple of a public spacing g; noise is drawn on whole numbers of steps and added to whole numbers.
//! The spacing is a power of two, so that neither dividing by it nor multiplying rounds.
//!
//! Rounding to the nearest step (halves upwards) never changes the order of two numbers and commutes with
//! shifts by whole steps. So two numbers at most Δ apart, hence at most ⌈Δ/g⌉ steps apart, are still at most ⌈Δ/g⌉
//! steps apart when rounded: that is [`Grid::sensitivity`]. Δ must bound the distance of the numbers as they were
//! computed; a floating-point sum over rows has rounding errors that depend on all of them (Casacuberta,
//! Shoemate, Vadhan, Wagaman 2022, "Widespread underestimation of sensitivity"). Round each row's contribution and
//! add up the integers, and there is no such error.

use super::MechanismError;
use super::exact::decompose;

/// Binary logarithm of the steps in one scale of [`Grid::for_scale`].
const FINENESS: i32 = 10;

/// Multiples of a spacing that is a power of two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    spacing: f64,
}

impl Grid {
    /// A grid of the given spacing.
    ///
    /// # Errors
    /// A spacing that is not a power of two from 2^(−900) to 2^900.
    pub fn new(spacing: f64) -> Result<Self, MechanismError> {
        let range = "a power of two between 2^-900 and 2^900";
        let within = spacing >= 2f64.powi(-900) && spacing <= 2f64.powi(900);
        let power = within && decompose(spacing).0 == 1 << 52;
        MechanismError::check("the grid's spacing", range, spacing, power).map(|spacing| Self { spacing })
    }

    /// A grid with 1024 to 2047 steps in `scale`. Give the smaller of the sensitivity and the noise's scale:
    /// rounding the sensitivity up to whole steps then adds less than 0.1 % to it, and the rounding of the
    /// statistic is less than 0.05 % of the noise.
    ///
    /// # Errors
    /// A scale that is not between 1e-250 and 1e250.
    pub fn for_scale(scale: f64) -> Result<Self, MechanismError> {
        let within = (1e-250..=1e250).contains(&scale);
        MechanismError::check("the scale of a grid", "between 1e-250 and 1e250", scale, within)?;
        let (_, exponent) = decompose(scale);
        Self::new(2f64.powi(exponent + 52 - FINENESS))
    }

    /// The distance of neighbouring points.
    pub fn spacing(self) -> f64 {
        self.spacing
    }

    /// The nearest step, halves upwards; the first or last of 64 bits for numbers beyond, 0 for NaN.
    pub fn round(self, value: f64) -> i64 {
        let steps = value / self.spacing;
        let floor = steps.floor();
        // The difference is exact wherever it is near a half.
        (if steps - floor >= 0.5 { floor + 1.0 } else { floor }) as i64
    }

    /// The value at a step, exact up to 2⁵³ steps.
    pub fn value(self, steps: i64) -> f64 {
        steps as f64 * self.spacing
    }

    /// How many steps apart two rounded numbers are at most that were at most `real` apart.
    ///
    /// # Errors
    /// A sensitivity that is negative, NaN, or more than 2⁵² steps.
    pub fn sensitivity(self, real: f64) -> Result<u64, MechanismError> {
        let steps = (real / self.spacing).ceil();
        let within = real >= 0.0 && steps <= (1u64 << 52) as f64;
        MechanismError::check(
            "sensitivity",
            "at least 0 and at most 2^52 grid steps",
            real,
            within,
        )?;
        // A positive sensitivity that the division lost is still one step.
        Ok(if real > 0.0 { (steps as u64).max(1) } else { 0 })
    }
}
