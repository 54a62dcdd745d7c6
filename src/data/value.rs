//! Cells as text and as numbers: parsing, formatting, and the spellings of dates and times.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::RangeInclusive;

use chrono::format::{Item, Parsed, StrftimeItems};
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Timelike as _};

use super::numeral::NumberFormat;
use super::schema::{Column, Kind};

/// Microseconds in a second.
pub(crate) const MICROS: i64 = 1_000_000;
/// Microseconds in a day.
pub(crate) const DAY_MICROS: i64 = 86_400 * MICROS;

/// A whole number: digits with an optional sign, or a decimal spelling of one (`145.0`, `1e3`).
pub(crate) fn parse_integer(text: &str) -> Option<i64> {
    if let Ok(value) = text.parse::<i64>() {
        return Some(value);
    }
    whole_number(parse_number(text)?)
}

/// The integer that a double stands for, when it is one that doubles hold exactly.
pub(crate) fn whole_number(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0).then_some(value as i64)
}

/// A finite number with a decimal point; words such as `inf` and `nan` are no numbers.
pub(crate) fn parse_number(text: &str) -> Option<f64> {
    if let Some(value) = plain_decimal(text.as_bytes()) {
        return Some(value);
    }
    let value = text.parse::<f64>().ok()?;
    (value.is_finite() && !text.as_bytes().iter().any(|byte| matches!(byte, b'n' | b'N'))).then_some(value)
}

/// Powers of ten that a double holds exactly.
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// Numbers as most files spell them, several times faster: digits with at most one point. Digits that make a whole
/// number below 2^53 and a power of ten up to 10^22 are both exact, so their quotient is the nearest double (Clinger
/// 1990, "How to read floating point numbers accurately"). `None` for every other spelling.
fn plain_decimal(text: &[u8]) -> Option<f64> {
    let (is_negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    let mut whole = 0_u64;
    let mut point = None;
    for (place, byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => whole = whole * 10 + u64::from(byte - b'0'),
            b'.' if point.is_none() => point = Some(place),
            _ => return None,
        }
    }
    let decimals = point.map_or(0, |place| digits.len() - 1 - place);
    if whole > 1 << 53 || (point.is_some() && digits.len() == 1) {
        return None;
    }
    let value = whole as f64 / TENS[decimals];
    Some(if is_negative { -value } else { value })
}

/// Adds a number in its shortest spelling that reads back the same, with a point: `37.5`, `101.0`.
pub fn write_number(value: f64, out: &mut String) {
    use std::fmt::Write as _;
    let magnitude = value.abs();
    // Writing to a String cannot fail.
    let _ = if value == 0.0 {
        out.write_str("0.0")
    } else if (1e-5..1e16).contains(&magnitude) {
        write!(out, "{value:?}")
    } else {
        write!(out, "{value:e}")
    };
}

/// [`write_number`] as a text of its own.
pub(crate) fn format_number(value: f64) -> String {
    let mut text = String::new();
    write_number(value, &mut text);
    text
}

/// How a date, a time or both are spelled.
#[derive(Clone, Debug)]
pub(crate) struct TemporalFormat {
    kind: Kind,
    /// None: ISO 8601.
    pattern: Option<(String, Vec<Item<'static>>)>,
    resolution: i64,
}

impl TemporalFormat {
    /// From a column's kind and its optional strftime pattern. `None` when the pattern is not valid.
    pub(crate) fn new(kind: Kind, pattern: Option<&str>) -> Option<Self> {
        let pattern = match pattern {
            None => None,
            Some(text) => {
                let items = StrftimeItems::new(text).parse_to_owned().ok()?;
                Some((text.to_owned(), items))
            }
        };
        let resolution = match (&pattern, kind) {
            (_, Kind::Date) => 1,
            (None, _) => MICROS,
            (Some((text, _)), _) => resolution_of(text),
        };
        let format = Self {
            kind,
            pattern,
            resolution,
        };
        // A pattern that cannot read what it writes (no year, no hour, …) is of no use.
        let probe = match kind {
            Kind::Date => 18_000,
            Kind::Time => 13 * 3600 * MICROS,
            _ => 18_000 * DAY_MICROS + 13 * 3600 * MICROS,
        };
        (format.parse(&format.format(probe)) == Some(probe)).then_some(format)
    }

    /// The step between neighbouring values: days for dates, microseconds for times and datetimes.
    pub(crate) const fn resolution(&self) -> i64 {
        self.resolution
    }

    /// Days since 1970 for dates, microseconds since midnight for times, since 1970 for datetimes.
    pub(crate) fn parse(&self, text: &str) -> Option<i64> {
        match &self.pattern {
            None => parse_iso(self.kind, text),
            Some((_, items)) => {
                let mut parsed = Parsed::new();
                chrono::format::parse(&mut parsed, text, items.iter()).ok()?;
                match self.kind {
                    Kind::Date => parsed.to_naive_date().ok().map(days),
                    Kind::Time => parsed.to_naive_time().ok().map(time_micros),
                    _ => parsed.to_naive_datetime_with_offset(0).ok().map(datetime_micros),
                }
            }
        }
    }

    /// The inverse of [`TemporalFormat::parse`].
    pub(crate) fn format(&self, value: i64) -> String {
        let Some((_, items)) = &self.pattern else {
            return format_iso(self.kind, value);
        };
        let items = items.iter();
        let mut text = String::new();
        // Not every kind has all that a pattern may ask for (a date has no hour): then there is no text.
        let written = match self.kind {
            Kind::Date => date_of(value).map(|date| write!(text, "{}", date.format_with_items(items))),
            Kind::Time => time_of(value).map(|time| write!(text, "{}", time.format_with_items(items))),
            _ => datetime_of(value).map(|datetime| write!(text, "{}", datetime.format_with_items(items))),
        };
        if matches!(written, Some(Ok(()))) {
            text
        } else {
            String::new()
        }
    }
}

fn resolution_of(pattern: &str) -> i64 {
    if pattern.contains("%.3f") || pattern.contains("%3f") {
        1000
    } else if pattern.contains('f')
        && (pattern.contains("%.") || pattern.contains("%f") || pattern.contains("%6f"))
    {
        1
    } else if ["%S", "%-S", "%T", "%X", "%s"]
        .iter()
        .any(|part| pattern.contains(part))
    {
        MICROS
    } else if ["%M", "%-M", "%R"].iter().any(|part| pattern.contains(part)) {
        60 * MICROS
    } else {
        3600 * MICROS
    }
}

/// Days since 1970-01-01.
pub(crate) fn days(date: NaiveDate) -> i64 {
    date.signed_duration_since(NaiveDate::default()).num_days()
}

/// Microseconds since midnight.
pub(crate) fn time_micros(time: NaiveTime) -> i64 {
    i64::from(time.num_seconds_from_midnight()) * MICROS + i64::from(time.nanosecond() / 1000)
}

/// Microseconds since 1970-01-01T00:00:00.
pub(crate) fn datetime_micros(datetime: NaiveDateTime) -> i64 {
    datetime.and_utc().timestamp_micros()
}

/// The day that many days after 1970-01-01.
pub(crate) fn date_of(value: i64) -> Option<NaiveDate> {
    NaiveDate::default().checked_add_signed(chrono::Duration::try_days(value)?)
}

fn time_of(value: i64) -> Option<NaiveTime> {
    let seconds = u32::try_from(value / MICROS).ok()?;
    NaiveTime::from_num_seconds_from_midnight_opt(seconds, u32::try_from(value % MICROS).ok()? * 1000)
}

fn datetime_of(value: i64) -> Option<NaiveDateTime> {
    DateTime::from_timestamp_micros(value).map(|datetime| datetime.naive_utc())
}

/// A date, time or datetime in ISO 8601. Seconds and their fraction may be absent; `T` may be a space; a
/// trailing `Z` is allowed.
pub(crate) fn parse_iso(kind: Kind, text: &str) -> Option<i64> {
    match kind {
        Kind::Date => parse_iso_date(text),
        Kind::Time => parse_iso_time(text),
        Kind::Datetime => {
            let (date, time) = text.split_at_checked(10)?;
            let day = parse_iso_date(date)?;
            let time = time.strip_suffix('Z').unwrap_or(time);
            let micros = match time.strip_prefix(['T', ' ', 't']) {
                Some(time) => parse_iso_time(time)?,
                None if time.is_empty() => 0,
                None => return None,
            };
            Some(day * DAY_MICROS + micros)
        }
        _ => None,
    }
}

fn parse_iso_date(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let year = digits(&bytes[..4])?;
    NaiveDate::from_ymd_opt(year as i32, digits(&bytes[5..7])?, digits(&bytes[8..])?).map(days)
}

fn parse_iso_time(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if !matches!(bytes.len(), 5 | 8 | 10..=15) || bytes[2] != b':' {
        return None;
    }
    let hour = digits(&bytes[..2])?;
    let minute = digits(&bytes[3..5])?;
    let mut second = 0;
    let mut micros = 0;
    if bytes.len() >= 8 {
        if bytes[5] != b':' {
            return None;
        }
        second = digits(&bytes[6..8])?;
        if bytes.len() > 8 {
            if bytes[8] != b'.' {
                return None;
            }
            let fraction = &bytes[9..];
            micros = digits(fraction)? * 10_u32.pow(6 - fraction.len() as u32);
        }
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    Some(i64::from(hour * 3600 + minute * 60 + second) * MICROS + i64::from(micros))
}

fn digits(bytes: &[u8]) -> Option<u32> {
    bytes.iter().try_fold(0_u32, |value, byte| {
        byte.is_ascii_digit().then(|| value * 10 + u32::from(byte - b'0'))
    })
}

/// The values that [`parse_iso`] can mean: the years 0 to 9999, and the moments of one day.
pub(crate) fn calendar(kind: Kind) -> RangeInclusive<i64> {
    /// 1 January of the year 0, 31 December 9999.
    const DAYS: (i64, i64) = (-719_528, 2_932_896);
    match kind {
        Kind::Date => DAYS.0..=DAYS.1,
        Kind::Time => 0..=DAY_MICROS - 1,
        _ => DAYS.0 * DAY_MICROS..=(DAYS.1 + 1) * DAY_MICROS - 1,
    }
}

/// The inverse of [`parse_iso`]; a fraction of a second is written only when there is one.
pub(crate) fn format_iso(kind: Kind, value: i64) -> String {
    match kind {
        Kind::Date => date_of(value).map(|date| date.format("%Y-%m-%d").to_string()),
        Kind::Time => time_of(value).map(|time| time.format("%H:%M:%S%.f").to_string()),
        _ => datetime_of(value).map(|datetime| datetime.format("%Y-%m-%dT%H:%M:%S%.f").to_string()),
    }
    .unwrap_or_default()
}

/// How the cells of one column are spelled in text.
#[derive(Clone, Debug)]
pub struct CellFormat {
    booleans: [String; 2],
    temporal: Option<TemporalFormat>,
    numeral: Option<NumberFormat>,
    decimals: usize,
    kind: Kind,
}

impl CellFormat {
    /// The spellings that a column's schema asks for.
    pub fn new(column: &Column) -> Self {
        let (no, yes) = column.boolean_spellings();
        Self {
            booleans: [no.to_owned(), yes.to_owned()],
            temporal: TemporalFormat::new(column.kind, column.format.as_deref())
                .filter(|_| column.kind.is_temporal()),
            numeral: NumberFormat::of(column),
            decimals: column.decimals.unwrap_or(0).into(),
            kind: column.kind,
        }
    }

    /// A number that programs spell so, as the column has it; `None` when that is the same.
    pub fn number(&self, plain: &str) -> Option<String> {
        let numeral = self.numeral.as_ref()?;
        Some(numeral.spell(plain, self.decimals))
    }

    /// False or true.
    pub fn boolean(&self, value: bool) -> &str {
        &self.booleans[usize::from(value)]
    }

    /// As [`CellFormat::temporal`], always in ISO 8601.
    pub fn iso(&self, value: i64) -> String {
        format_iso(self.kind, value)
    }

    /// Days since 1970 of a date, microseconds of a time (since midnight) or datetime (since 1970).
    pub fn temporal(&self, value: i64) -> String {
        match &self.temporal {
            Some(format) => format.format(value),
            None => format_iso(self.kind, value),
        }
    }
}

/// Text without the ASCII spaces around it.
pub(crate) fn trimmed(text: &[u8]) -> &[u8] {
    match text {
        [b' ' | b'\t', ..] | [.., b' ' | b'\t'] => text.trim_ascii(),
        _ => text,
    }
}

/// A file name for messages, without its folder.
pub(crate) fn file_name(path: &std::path::Path) -> Cow<'_, str> {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_of_another_kind_is_none() {
        for (kind, patterns) in [
            (Kind::Date, &["%H:%M", "%I:%M", "%z", "%Y-%m-%d %H"][..]),
            (Kind::Time, &["%Y-%m-%d", "%j", "%z"]),
            (Kind::Datetime, &["%Y-%m-%dT%H:%M:%S%z"]),
        ] {
            for pattern in patterns {
                assert!(TemporalFormat::new(kind, Some(pattern)).is_none(), "{pattern}");
            }
        }
        assert!(TemporalFormat::new(Kind::Date, Some("%d/%m/%Y")).is_some());
    }

    #[test]
    fn the_calendar_ends_where_its_spelling_does() {
        for kind in [Kind::Date, Kind::Time, Kind::Datetime] {
            let known = calendar(kind);
            let again = |value: i64| parse_iso(kind, &format_iso(kind, value));
            for end in [*known.start(), *known.end()] {
                assert_eq!(again(end), Some(end), "{kind}");
            }
            assert_eq!(again(known.end() + 1), None, "{kind}");
            assert_eq!(again(known.start() - 1), None, "{kind}");
        }
    }

    #[test]
    fn numbers_are_told_from_words() {
        assert_eq!(parse_integer("145.0"), Some(145));
        assert_eq!(parse_integer("-7"), Some(-7));
        assert_eq!(parse_integer("9223372036854775807"), Some(i64::MAX));
        assert_eq!(parse_integer("1.5"), None);
        for word in ["nan", "NaN", "inf", "-Infinity", "", "1,5", "0x10"] {
            assert_eq!(parse_number(word), None, "{word}");
        }
        assert_eq!(parse_number("1e-3"), Some(0.001));
    }

    #[test]
    fn the_short_way_reads_as_the_long_one() {
        let mut state = 7_u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let digits = (state >> 11) % 10_u64.pow((state % 17) as u32 + 1);
            let mut text = digits.to_string();
            text.insert((state >> 40) as usize % (text.len() + 1), '.');
            for text in [text.clone(), format!("-{text}"), digits.to_string()] {
                if let Some(value) = plain_decimal(text.as_bytes()) {
                    assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
                } else {
                    assert!(text.len() > 16 || text == "." || text == "-.", "{text}");
                }
            }
        }
        for text in [
            "",
            "-",
            ".",
            "-.",
            "1.2.3",
            "1e5",
            "+1",
            " 1",
            "1_0",
            "99999999999999999999",
        ] {
            assert_eq!(plain_decimal(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_spelled_as_people_do() {
        for (value, text) in [
            (37.5, "37.5"),
            (101.0, "101.0"),
            (-0.0, "0.0"),
            (1e-9, "1e-9"),
            (0.1 + 0.2, "0.30000000000000004"),
        ] {
            assert_eq!(format_number(value), text);
        }
    }

    #[test]
    fn dates_and_times_read_and_write() {
        for (kind, text, value) in [
            (Kind::Date, "1970-01-02", 1),
            (Kind::Date, "1900-03-01", -25_508),
            (Kind::Time, "00:00:01.5", 1_500_000),
            (Kind::Time, "23:59:59", 86_399 * MICROS),
            (Kind::Datetime, "1970-01-02T00:00:00", DAY_MICROS),
        ] {
            assert_eq!(parse_iso(kind, text), Some(value), "{text}");
            assert_eq!(parse_iso(kind, &format_iso(kind, value)), Some(value), "{text}");
        }
        assert_eq!(
            parse_iso(Kind::Datetime, "1970-01-02 00:01Z"),
            Some(DAY_MICROS + 60 * MICROS)
        );
        for text in ["2019-02-29", "2019-2-1", "20190201", "2019-02-0x"] {
            assert_eq!(parse_iso(Kind::Date, text), None, "{text}");
        }
        assert_eq!(parse_iso(Kind::Time, "24:00:00"), None);
    }

    #[test]
    fn patterns_keep_their_spelling_and_resolution() {
        let format = TemporalFormat::new(Kind::Date, Some("%-m/%-d/%Y")).unwrap();
        let day = format.parse("3/29/1982").unwrap();
        assert_eq!(format_iso(Kind::Date, day), "1982-03-29");
        assert_eq!(format.format(day), "3/29/1982");
        let minutes = TemporalFormat::new(Kind::Datetime, Some("%d.%m.%Y %H:%M")).unwrap();
        assert_eq!(minutes.resolution(), 60 * MICROS);
        assert_eq!(
            minutes.format(minutes.parse("01.02.2020 08:30").unwrap()),
            "01.02.2020 08:30"
        );
        assert!(
            TemporalFormat::new(Kind::Date, Some("%d.%m")).is_none(),
            "without a year"
        );
        assert!(TemporalFormat::new(Kind::Date, Some("%Q")).is_none(), "unknown");
    }
}
