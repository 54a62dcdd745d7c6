//! Numbers as whole steps between public bounds.

use crate::data::{Bound, DataError, NumberReader, Schema, Table};

/// Binary logarithm of the steps between the bounds, where positions are not whole: sums of a billion rows are
/// then off by less than a thousandth of the noise (at ε up to 8), and squares stay exact in 128 bits.
const FINENESS: i32 = 42;
/// The most steps that a bound may lie from 0, as a binary logarithm.
const REACH: i32 = 60;

/// A column's cells as whole steps from its lower bound.
#[derive(Clone, Debug)]
pub(super) struct Line {
    reader: NumberReader,
    lower: f64,
    upper: f64,
    /// Positions in a step: 1 for whole positions within a sensible range, else a power of two.
    step: f64,
    /// Steps from lower to upper bound.
    pub length: i64,
    /// Steps from position 0 to the lower bound.
    pub origin: i64,
}

/// The exponent e with 2^e ≤ x < 2^(e+1), for positive finite x.
fn exponent(x: f64) -> i32 {
    x.log2().floor() as i32
}

impl Line {
    pub fn new(schema: &Schema, column: &str) -> Result<Self, DataError> {
        let reader = NumberReader::new(schema, column)?;
        let (lower, upper) = reader.bounds();
        let reach = lower.abs().max(upper.abs());
        let range = upper - lower;
        let fine = if range > 0.0 {
            2_f64.powi((exponent(range) + 1 - FINENESS).max(-1000))
        } else {
            0.0
        };
        let coarse = if reach > 0.0 {
            2_f64.powi((exponent(reach) + 1 - REACH).max(-1000))
        } else {
            1.0
        };
        let mut step = fine.max(coarse);
        if reader.is_whole() {
            step = step.max(1.0);
        }
        let mut line = Self {
            reader,
            lower,
            upper,
            step,
            length: 0,
            origin: (lower / step).round() as i64,
        };
        line.length = line.steps(upper);
        Ok(line)
    }

    /// Steps from the lower bound of a position, clamped. Rising with the position, so it lies from 0 to
    /// [`Line::length`]. Not for NaN.
    #[inline]
    pub fn steps(&self, position: f64) -> i64 {
        // Never negative, so that cutting off after adding a half rounds; exact where positions are whole.
        ((position.clamp(self.lower, self.upper) - self.lower) / self.step + 0.5) as i64
    }

    /// Whether a sum of steps is the sum of the values, without rounding.
    pub fn is_exact(&self) -> bool {
        self.reader.is_whole() && self.step == 1.0
    }

    /// The position that many steps above the lower bound.
    pub fn position(&self, steps: f64) -> f64 {
        (self.lower + steps * self.step).clamp(self.lower, self.upper)
    }

    /// The value in one step, in the column's unit (dates in days, times in seconds).
    pub fn step_value(&self) -> f64 {
        self.reader.number(self.step)
    }

    /// The value that many steps above the lower bound, as a number of the column's unit.
    pub fn number(&self, steps: f64) -> f64 {
        self.reader.number(self.position(steps))
    }

    /// So many positions apart, in the column's unit (dates in days, times in seconds).
    pub fn difference(&self, positions: f64) -> f64 {
        self.reader.number(positions)
    }

    /// A sum of values that comes to that many steps, as a number of the column's unit.
    pub fn sum(&self, steps: f64) -> f64 {
        self.reader.number(steps * self.step)
    }

    /// A position as it stands in a schema's bounds.
    pub fn bound(&self, position: f64) -> Bound {
        self.reader.bound(position)
    }

    /// The bounds as they stand in the schema.
    pub fn ends(&self) -> (Bound, Bound) {
        (self.reader.bound(self.lower), self.reader.bound(self.upper))
    }

    /// The lowest and highest position.
    pub fn range(&self) -> (f64, f64) {
        (self.lower, self.upper)
    }

    /// Whether positions are whole numbers.
    pub fn is_whole(&self) -> bool {
        self.reader.is_whole()
    }

    /// The position of a number of the column's own unit.
    pub fn position_of(&self, number: f64) -> f64 {
        self.reader.position_of(number)
    }

    /// Hands over all positions, a stretch of rows at a time; NaN is missing.
    pub fn read(&self, table: &Table, sink: &mut dyn FnMut(&[f64])) -> Result<(), DataError> {
        self.reader.read(table, sink)
    }
}
