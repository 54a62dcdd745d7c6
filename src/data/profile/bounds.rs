//! Bounds that a person might have named without looking: the data's own, rounded outwards.

use super::gather::{Distinct, Gathered, Line};
use crate::data::encode::Axis;
use crate::data::numeral::NumberFormat;
use crate::data::schema::{Bound, Column, Kind, Scale};
use crate::data::value::{self, DAY_MICROS, MICROS, format_iso};

/// More digits than this are no fixed number of decimals.
const MAX_DECIMALS: u8 = 6;
/// Skewness from which a log scale is worth a suggestion.
const SKEWED: f64 = 1.5;

/// Fills bounds, scale and decimals of a numeric column. Where a schema cannot hold what would be said, nothing is.
pub(super) fn suggest(column: &mut Column, values: &Gathered<'_>, line: &Line) {
    suggest_ends(column, values, line);
    if !is_possible(column) {
        (column.decimals, column.scale) = (None, Scale::Linear);
    }
    if !is_possible(column) {
        (column.lower, column.upper) = (None, None);
    }
}

/// Whether a schema can hold the bounds, and values lie between them.
fn is_possible(column: &Column) -> bool {
    let is_of_these = |key: &str| matches!(key, "lower" | "upper" | "scale" | "decimals");
    let problems = column.problems(&[]);
    !problems.iter().any(|(key, _)| is_of_these(key)) && Axis::new(column).is_ok()
}

fn suggest_ends(column: &mut Column, values: &Gathered<'_>, line: &Line) {
    let (min, max) = (line.min(), line.max());
    if column.kind.is_temporal() {
        let (lower, upper) = calendar(column.kind, min as i64, max as i64);
        column.lower = Some(Bound::Text(lower));
        column.upper = Some(Bound::Text(upper));
        return;
    }
    if column.kind == Kind::Continuous {
        column.decimals = decimals(values, NumberFormat::of(column).as_ref())
            .filter(|digits| max.abs().max(min.abs()) * 10_f64.powi(i32::from(*digits)) < 1e14);
    }
    column.scale = scale(line);
    let is_code_range = column.kind == Kind::Integer && max - min <= 20.0;
    let (lower, upper) = match (column.scale, is_code_range) {
        (_, true) => (min, max),
        (Scale::Log, _) => (
            if min > 0.0 {
                significant(min, 1, f64::floor)
            } else {
                0.0
            },
            significant(max, 2, f64::ceil),
        ),
        (Scale::Linear, _) => outwards(min, max),
    };
    let finest = column
        .decimals
        .map_or(0.0, |digits| 0.5 / 10_f64.powi(i32::from(digits)));
    // A lower end below the finest step is zero to any reader.
    let lower = if lower > 0.0 && lower < finest { 0.0 } else { lower };
    column.lower = Some(Bound::from(lower));
    column.upper = Some(Bound::from(upper));
    if column.kind == Kind::Integer {
        column.lower = Some(Bound::Integer(lower.floor() as i64));
        column.upper = Some(Bound::Integer(upper.ceil() as i64));
    }
}

/// Log for a long tail to the right of non-negative values, when the logarithm really takes it away.
fn scale(line: &Line) -> Scale {
    if line.min() < 0.0 || line.max() - line.min() <= 20.0 && line.max() <= 20.0 && line.points.len() <= 21 {
        return Scale::Linear;
    }
    let (_, _, skewness) = line.moments(|value| value);
    if skewness <= SKEWED {
        return Scale::Linear;
    }
    // With many zeros the log scale gives them a bin of their own, whatever the rest looks like.
    let zeros = if line.min() == 0.0 {
        line.points[0].1 as f64 / line.total() as f64
    } else {
        0.0
    };
    let shift = if line.min() > 0.0 { 0.0 } else { 1.0 };
    let (_, _, on_log) = line.moments(|value| (value + shift).ln());
    if zeros > 0.3 || on_log.abs() < 0.7 * skewness {
        Scale::Log
    } else {
        Scale::Linear
    }
}

/// Both ends moved outwards to multiples of a round step of about a twentieth of the range.
fn outwards(min: f64, max: f64) -> (f64, f64) {
    let range = max - min;
    if range <= 0.0 {
        return (min, max);
    }
    let rough = range / 20.0;
    // Ends of doubles' own range have no round numbers around them.
    if !rough.is_normal() {
        return (min, max);
    }
    let power = rough.log10().floor();
    let lead = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|lead| lead * 10_f64.powf(power) >= rough * (1.0 - 1e-9));
    let (lead, power) = (lead.unwrap_or(10.0), power as i32);
    // Whole multiples first, so that the result is the nearest double of a short decimal.
    let step = lead * 10_f64.powi(power);
    let times = |count: f64| {
        if power < 0 {
            count * lead / 10_f64.powi(-power)
        } else {
            count * step
        }
    };
    let (lower, upper) = (
        times((min / step + 1e-9).floor()),
        times((max / step - 1e-9).ceil()),
    );
    if lower.is_finite() && upper.is_finite() {
        (lower.min(min), upper.max(max))
    } else {
        (min, max)
    }
}

/// Rounded to that many significant digits.
fn significant(value: f64, digits: i32, round: fn(f64) -> f64) -> f64 {
    if value <= 0.0 {
        return value;
    }
    let power = value.log10().floor() as i32 - digits + 1;
    let rounded = if power >= 0 {
        let step = 10_f64.powi(power);
        round(value / step) * step
    } else {
        let steps = 10_f64.powi(-power);
        round(value * steps) / steps
    };
    // The least and the greatest doubles have no such neighbour.
    if rounded.is_finite() { rounded } else { value }
}

/// The digits after the point that the values use, if they are few.
fn decimals(values: &Gathered<'_>, numeral: Option<&NumberFormat>) -> Option<u8> {
    let mut most = 0_u8;
    match &values.distinct {
        Distinct::Texts(texts) => {
            for (text, _) in texts {
                let plain = numeral.and_then(|numeral| numeral.plain(text));
                let text = plain.as_deref().unwrap_or(text);
                if text.bytes().any(|byte| matches!(byte, b'e' | b'E')) {
                    return None;
                }
                let fraction = text
                    .split_once('.')
                    .map_or("", |(_, fraction)| fraction)
                    .trim_end_matches('0');
                most = most.max(u8::try_from(fraction.len()).ok()?);
            }
        }
        Distinct::Numbers(numbers) => {
            for (value, _) in numbers {
                while most <= MAX_DECIMALS {
                    let steps = value * 10_f64.powi(i32::from(most));
                    if (steps - steps.round()).abs() <= 1e-9 * steps.abs().max(1.0) {
                        break;
                    }
                    most += 1;
                }
            }
        }
        _ => {}
    }
    (most <= MAX_DECIMALS).then_some(most)
}

/// Whole years around dates and datetimes, of those that ISO 8601 has; the whole day for times.
fn calendar(kind: Kind, min: i64, max: i64) -> (String, String) {
    let known = value::calendar(kind);
    let year = |value: i64| {
        let value = value.clamp(*known.start(), *known.end());
        let day = if kind == Kind::Date {
            value
        } else {
            value.div_euclid(DAY_MICROS)
        };
        format_iso(Kind::Date, day).get(..4).unwrap_or("1970").to_owned()
    };
    match kind {
        Kind::Time => ("00:00:00".to_owned(), "23:59:59".to_owned()),
        Kind::Date => (format!("{}-01-01", year(min)), format!("{}-12-31", year(max))),
        _ => (
            format!("{}-01-01T00:00:00", year(min)),
            format!("{}-12-31T23:59:59", year(max)),
        ),
    }
}

/// A typed time column with fractions of a second needs a format that keeps them.
pub(super) fn fraction_format(values: &Gathered<'_>, kind: Kind) -> Option<String> {
    let Distinct::Temporal(found, values) = &values.distinct else {
        return None;
    };
    if kind == Kind::Date || *found == Kind::Date || values.iter().all(|(value, _)| value % MICROS == 0) {
        return None;
    }
    let clock = if values.iter().all(|(value, _)| value % 1000 == 0) {
        "%H:%M:%S%.3f"
    } else {
        "%H:%M:%S%.6f"
    };
    Some(if kind == Kind::Time {
        clock.to_owned()
    } else {
        format!("%Y-%m-%dT{clock}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::value::parse_iso;

    #[test]
    #[expect(clippy::float_cmp, reason = "the nearest double of a short decimal is meant")]
    fn ends_move_outwards_to_round_numbers() {
        for (min, max, lower, upper) in [
            (17.0, 90.0, 15.0, 90.0),
            (72.0, 236.0, 70.0, 240.0),
            (3.8, 16.2, 3.0, 17.0),
            (0.05, 1.0, 0.05, 1.0),
            (-2.6, 6.2, -3.0, 6.5),
            (0.0, 99_999.0, 0.0, 100_000.0),
            (5.0, 5.0, 5.0, 5.0),
            (0.0, 5e-324, 0.0, 5e-324),
            (f64::MIN, f64::MAX, f64::MIN, f64::MAX),
        ] {
            assert_eq!(outwards(min, max), (lower, upper), "{min} to {max}");
        }
        assert_eq!(significant(12_285.0, 1, f64::floor), 10_000.0);
        assert_eq!(significant(1_484_705.0, 2, f64::ceil), 1_500_000.0);
        assert_eq!(significant(0.078, 1, f64::floor), 0.07);
        assert_eq!(significant(5e-324, 1, f64::floor), 5e-324);
        assert_eq!(significant(f64::MAX, 2, f64::ceil), f64::MAX);
    }

    #[test]
    fn calendars_are_whole_years() {
        let day = parse_iso(Kind::Date, "1982-03-29").unwrap();
        assert_eq!(
            calendar(Kind::Date, day, day),
            ("1982-01-01".to_owned(), "1982-12-31".to_owned())
        );
        assert_eq!(calendar(Kind::Time, 5, 6).0, "00:00:00");
        for kind in [Kind::Date, Kind::Datetime] {
            let (lower, upper) = calendar(kind, i64::MIN, i64::MAX);
            assert!(lower.starts_with("0000-01-01") && upper.starts_with("9999-12-31"));
            assert_eq!(parse_iso(kind, &lower), Some(*value::calendar(kind).start()));
        }
    }
}
