//! Released numbers with where the true ones lie, and what follows from several.

use super::Spread;
use crate::release::noise::NoisyPart;

impl Spread {
    /// The number of values, and where it lies; never below 1.
    pub fn count(&self, sums: &[NoisySum]) -> NoisySum {
        let found = match (self.known_count, sums.last()) {
            (None, Some(sum)) => *sum,
            (known, _) => {
                let known = known.unwrap_or(1) as f64;
                NoisySum {
                    value: known,
                    low: known,
                    high: known,
                }
            }
        };
        NoisySum {
            value: found.value.max(1.0),
            low: found.low.max(1.0),
            high: found.high.max(1.0),
        }
    }

    /// Where the mean lies, in steps from the centre.
    pub fn mean(&self, sums: &[NoisySum]) -> NoisySum {
        let least = -(self.centre.first as f64);
        let most = (self.line.length - self.centre.first) as f64;
        sums[0].over(self.count(sums)).within(least, most)
    }

    /// Where the variance lies, in squared steps.
    pub fn variance(&self, sums: &[NoisySum]) -> NoisySum {
        let mean = self.mean(sums);
        let largest = self.centre.largest_square as f64;
        let square = sums[1].over(self.count(sums)).plus(self.centre.second as f64);
        let (low, high) = (mean.low * mean.low, mean.high * mean.high);
        let least_square = if mean.low <= 0.0 && mean.high >= 0.0 {
            0.0
        } else {
            low.min(high)
        };
        NoisySum {
            value: square.value - mean.value * mean.value,
            low: square.low - low.max(high),
            high: square.high - least_square,
        }
        .within(0.0, largest)
    }
}

/// A released number and where the true one lies.
#[derive(Clone, Copy, Debug)]
pub struct NoisySum {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl NoisySum {
    /// In steps of the line.
    pub fn new(part: &NoisyPart, released: i64, width: i64) -> Self {
        let grid = part.grid as f64;
        Self {
            value: released as f64 * grid,
            low: released.saturating_sub(width) as f64 * grid,
            high: released.saturating_add(width) as f64 * grid,
        }
    }

    /// Divided by a positive number.
    pub fn over(self, count: Self) -> Self {
        Self {
            value: self.value / count.value,
            low: (self.low / count.low).min(self.low / count.high),
            high: (self.high / count.low).max(self.high / count.high),
        }
    }

    pub fn plus(self, shift: f64) -> Self {
        Self {
            value: self.value + shift,
            low: self.low + shift,
            high: self.high + shift,
        }
    }

    /// Cut to what is possible; the ends a hair wider, for the rounding of the divisions.
    pub fn within(self, least: f64, most: f64) -> Self {
        let hair = 1e-12 * (most - least);
        Self {
            value: self.value.clamp(least, most),
            low: (self.low - hair).clamp(least, most),
            high: (self.high + hair).clamp(least, most),
        }
    }
}
