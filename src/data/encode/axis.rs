//! The number line of one column: from the column's own units to positions and back.
//!
//! A position is a double. On a grid (whole numbers, fixed decimals, days, seconds) positions are whole and
//! exact; otherwise they are the values themselves.

use std::borrow::Cow;

use crate::data::numeral::NumberFormat;
use crate::data::schema::{Bound, Column, Kind, Scale};
use crate::data::value::{TemporalFormat, parse_integer, parse_iso, parse_number, whole_number};
use crate::data::{DataError, value::DAY_MICROS};
use crate::message;
use crate::num::Message;

/// Positions up to this size are exact in a double.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// How a cell's value becomes a position.
#[derive(Clone, Debug)]
pub(in crate::data) enum Units {
    /// The value itself, a real number.
    Real,
    /// Steps of 1.
    Whole,
    /// Steps of 1 / the number held.
    Decimal(f64),
    /// Steps of the format's resolution.
    Temporal(TemporalFormat),
}

/// The range of one column in positions, and how it is divided.
#[derive(Clone, Debug)]
pub(in crate::data) struct Axis {
    pub kind: Kind,
    pub units: Units,
    /// How numbers are spelled in text, if otherwise than programs do.
    pub numeral: Option<Box<NumberFormat>>,
    pub lower: f64,
    pub upper: f64,
    pub scale: Scale,
}

impl Units {
    fn of(column: &Column) -> Result<Self, DataError> {
        Ok(match column.kind {
            Kind::Continuous => match column.decimals {
                Some(decimals) => Self::Decimal(10_f64.powi(i32::from(decimals))),
                None => Self::Real,
            },
            Kind::Integer => Self::Whole,
            kind => Self::Temporal(
                TemporalFormat::new(kind, column.format.as_deref()).ok_or_else(|| {
                    schema_error(
                        column,
                        message!("schema-format", "the format does not spell a {kind}", kind = kind),
                    )
                })?,
            ),
        })
    }
}

impl Axis {
    /// From a numeric column, whatever its bounds: the whole line.
    pub fn unbounded(column: &Column) -> Result<Self, DataError> {
        Ok(Self {
            kind: column.kind,
            units: Units::of(column)?,
            numeral: NumberFormat::of(column).map(Box::new),
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            scale: Scale::Linear,
        })
    }

    /// From a numeric column with bounds (or declared bins, whose outer edges are bounds).
    pub fn new(column: &Column) -> Result<Self, DataError> {
        let units = Units::of(column)?;
        let edges = column.bins.as_deref().unwrap_or_default();
        let end = |bound: &Option<Bound>, edge: Option<&f64>| {
            let value = match bound {
                Some(Bound::Text(text)) => parse_iso(column.kind, text).map(|value| value as f64),
                Some(number) => number.as_f64(),
                None => edge.copied(),
            };
            value.ok_or_else(|| {
                schema_error(
                    column,
                    message!("schema-no-bounds", "it has no bounds; give lower and upper"),
                )
            })
        };
        let lower = end(&column.lower, edges.first())?;
        let upper = end(&column.upper, edges.last())?;
        let (lower, upper) = match &units {
            Units::Real => (lower, upper),
            Units::Whole => (lower.ceil(), upper.floor()),
            // Bounds such as 0.1 are not exact: do not lose a step to their last bit.
            Units::Decimal(steps) => ((lower * steps - 1e-6).ceil(), (upper * steps + 1e-6).floor()),
            Units::Temporal(format) => {
                let step = format.resolution() as f64;
                ((lower / step).ceil(), (upper / step).floor())
            }
        };
        let is_exact = matches!(units, Units::Real) || lower.abs().max(upper.abs()) <= EXACT;
        if !is_exact || lower > upper {
            return Err(schema_error(
                column,
                message!(
                    "schema-empty-range",
                    "no value lies between its bounds; widen them"
                ),
            ));
        }
        Ok(Self {
            kind: column.kind,
            units,
            numeral: NumberFormat::of(column).map(Box::new),
            lower,
            upper,
            scale: column.scale,
        })
    }

    /// Whether positions are whole.
    pub fn is_grid(&self) -> bool {
        !matches!(self.units, Units::Real)
    }

    /// Steps in one unit of the value: the log scale counts in the column's own units.
    fn steps(&self) -> f64 {
        if let Units::Decimal(steps) = self.units {
            steps
        } else {
            1.0
        }
    }

    /// A cell of text. `None` when it does not read as the column's kind.
    pub fn of_text(&self, text: &str) -> Option<f64> {
        let plain = match &self.numeral {
            Some(numeral) => numeral.plain(text)?,
            None => Cow::Borrowed(text),
        };
        let text = plain.as_ref();
        match &self.units {
            Units::Whole => parse_integer(text).map(|value| value as f64),
            Units::Temporal(format) => Some(format.parse(text)?.div_euclid(format.resolution()) as f64),
            Units::Real | Units::Decimal(_) => self.of_number(parse_number(text)?),
        }
    }

    /// A cell that is a number. Infinite ones lie beyond a bound.
    pub fn of_number(&self, value: f64) -> Option<f64> {
        match self.units {
            Units::Real => Some(value),
            Units::Decimal(steps) => Some((value * steps).round()),
            Units::Whole if value.is_infinite() => Some(value),
            Units::Whole => whole_number(value).map(|value| value as f64),
            Units::Temporal(_) => None,
        }
    }

    /// A cell that is a date (`days` since 1970).
    pub fn of_date(&self, days: i64) -> Option<f64> {
        match (&self.units, self.kind) {
            (Units::Temporal(_), Kind::Date) => Some(days as f64),
            (Units::Temporal(format), Kind::Datetime) => {
                Some((days * DAY_MICROS).div_euclid(format.resolution()) as f64)
            }
            _ => None,
        }
    }

    /// A cell that is a time or datetime (`found` says which), in microseconds.
    pub fn of_micros(&self, found: Kind, micros: i64) -> Option<f64> {
        match (&self.units, self.kind) {
            (Units::Temporal(_), Kind::Date) if found == Kind::Datetime => {
                Some(micros.div_euclid(DAY_MICROS) as f64)
            }
            (Units::Temporal(format), kind) if kind == found => {
                Some(micros.div_euclid(format.resolution()) as f64)
            }
            _ => None,
        }
    }

    /// The number that a position stands for.
    pub fn to_number(&self, position: f64) -> f64 {
        if let Units::Decimal(steps) = self.units {
            position / steps
        } else {
            position
        }
    }

    /// The whole number, day count or microseconds that a position stands for.
    pub fn to_whole(&self, position: f64) -> i64 {
        match &self.units {
            Units::Temporal(format) => position as i64 * format.resolution(),
            _ => position as i64,
        }
    }

    /// A position as a number from 0 to 1, in single precision.
    ///
    /// Linear: the share of the way from the lower bound. Log: the share of the way *down from the upper bound*
    /// on the logarithm, because single precision is finest near 0 and the logarithm coarsest at the top; so
    /// whole numbers survive over any range below 2^24 on either scale.
    pub fn to_scalar(&self, position: f64) -> f32 {
        let range = self.upper - self.lower;
        if range <= 0.0 {
            return 0.0;
        }
        match self.scale {
            Scale::Linear => ((position - self.lower) / range) as f32,
            Scale::Log => {
                let shift = self.log_shift();
                (((self.upper - position) / (shift + position)).ln_1p() / self.log_length()) as f32
            }
        }
    }

    /// The inverse of [`Axis::to_scalar`]; anything outside 0 to 1 is taken as the nearer end.
    pub fn of_scalar(&self, scalar: f32) -> f64 {
        let range = self.upper - self.lower;
        let share = if scalar.is_nan() {
            0.0
        } else {
            f64::from(scalar.clamp(0.0, 1.0))
        };
        let position = match self.scale {
            _ if range <= 0.0 => self.lower,
            Scale::Linear => self.lower + share * range,
            Scale::Log => {
                let top = self.log_shift() + self.upper;
                self.upper + top * (-share * self.log_length()).exp_m1()
            }
        };
        let position = if self.is_grid() {
            position.round()
        } else {
            position
        };
        position.clamp(self.lower, self.upper)
    }

    /// log(1 + x) from a lower bound of 0 (in the column's own units), log x from a positive one.
    fn log_shift(&self) -> f64 {
        if self.lower > 0.0 { 0.0 } else { self.steps() }
    }

    fn log_length(&self) -> f64 {
        ((self.upper - self.lower) / (self.log_shift() + self.lower)).ln_1p()
    }

    /// The position at a share of the way up, on the axis's scale.
    pub fn at_share(&self, share: f64) -> f64 {
        match self.scale {
            Scale::Linear => self.lower + share * (self.upper - self.lower),
            Scale::Log => {
                let shift = self.log_shift();
                let bottom = shift + self.lower;
                self.lower + bottom * (share * self.log_length()).exp_m1()
            }
        }
        .clamp(self.lower, self.upper)
    }
}

pub(super) fn schema_error(column: &Column, message: Message) -> DataError {
    DataError::Schema {
        place: message!("place-schema", "schema"),
        message: message!(
            "in-column",
            "column `{column}`: {message}",
            column = column.name,
            message = message
        ),
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "positions come back exactly or not at all")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn axis(kind: Kind, lower: impl Into<Bound>, upper: impl Into<Bound>, scale: Scale) -> Axis {
        Axis::new(&Column::new("x", kind).with_bounds(lower, upper).with_scale(scale)).unwrap()
    }

    proptest! {
        #[test]
        fn whole_numbers_survive_single_precision(
            lower in 0_i64..1_000_000_000, range in 0_i64..(1 << 24), share in 0.0_f64..=1.0, from_zero: bool
        ) {
            let lower = if from_zero { 0 } else { lower };
            let value = (lower + (share * range as f64) as i64) as f64;
            for scale in [Scale::Linear, Scale::Log] {
                let axis = axis(Kind::Integer, lower, lower + range, scale);
                prop_assert_eq!(axis.of_scalar(axis.to_scalar(value)), value);
            }
        }

        #[test]
        fn negative_whole_numbers_survive_too(lower in -1_000_000_000_i64..0, range in 0_i64..(1 << 24), share in 0.0_f64..=1.0) {
            let value = (lower + (share * range as f64) as i64) as f64;
            let axis = axis(Kind::Integer, lower, lower + range, Scale::Linear);
            prop_assert_eq!(axis.of_scalar(axis.to_scalar(value)), value);
        }

        #[test]
        fn decimals_survive(decimals in 0_u8..6, range in 1_i64..(1 << 24), share in 0.0_f64..=1.0, log: bool) {
            let steps = 10_f64.powi(i32::from(decimals));
            let mut column = Column::new("x", Kind::Continuous).with_bounds(0.0, range as f64 / steps);
            column.decimals = Some(decimals);
            column.scale = if log { Scale::Log } else { Scale::Linear };
            let axis = Axis::new(&column).unwrap();
            prop_assert_eq!(axis.upper, range as f64);
            let value = (share * range as f64).round() / steps;
            let position = axis.of_number(value).unwrap();
            prop_assert_eq!(axis.to_number(axis.of_scalar(axis.to_scalar(position))), value);
        }

        #[test]
        fn real_numbers_are_within_a_millionth(
            lower in -1e9_f64..1e9, range in 1e-3_f64..1e12, share in 0.0_f64..=1.0, log: bool
        ) {
            let scale = if log { Scale::Log } else { Scale::Linear };
            let lower = if log { lower.abs() } else { lower };
            let axis = axis(Kind::Continuous, lower, lower + range, scale);
            let value = (lower + share * range).clamp(axis.lower, axis.upper);
            let back = axis.of_scalar(axis.to_scalar(value));
            prop_assert!((back - value).abs() <= 1e-6 * range, "{value} {back}");
        }

        #[test]
        fn large_ranges_are_within_a_millionth(range in (1_i64 << 24)..(1 << 50), share in 0.0_f64..=1.0, log: bool) {
            let axis = axis(Kind::Integer, 0, range, if log { Scale::Log } else { Scale::Linear });
            let value = (share * range as f64).round();
            let back = axis.of_scalar(axis.to_scalar(value));
            prop_assert!((back - value).abs() <= 1e-6 * range as f64, "{value} {back}");
        }
    }

    #[test]
    fn the_worst_corners_of_the_log_scale_hold() {
        for lower in [0, 1, 7, 100_000] {
            let upper = lower + (1 << 24) - 1;
            let axis = axis(Kind::Integer, lower, upper, Scale::Log);
            let middle = (f64::from(1 << 24) / std::f64::consts::E) as i64;
            for value in (lower..lower + 2000)
                .chain(lower + middle..lower + middle + 2000)
                .chain(upper - 2000..=upper)
            {
                let value = value as f64;
                assert_eq!(axis.of_scalar(axis.to_scalar(value)), value, "from {lower}");
            }
        }
    }

    #[test]
    fn scalars_outside_their_range_are_pulled_in() {
        let axis = axis(Kind::Integer, 5, 9, Scale::Linear);
        assert_eq!(axis.of_scalar(7.0), 9.0);
        assert_eq!(axis.of_scalar(-1.0), 5.0);
        assert_eq!(axis.of_scalar(f32::NAN), 5.0);
    }
}
