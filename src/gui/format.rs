//! Numbers as the window writes them. Digits are tabular, so columns of them line up.

/// A space at which no line is broken; at the narrow one of its kind the window breaks lines.
const UNBROKEN: char = '\u{a0}';

/// A count with its thousands set apart: `32,561`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with about `digits` significant digits and no trailing zeros; powers of ten beyond a million and
/// below a ten thousandth.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return if value.is_nan() {
            "—".to_owned()
        } else if value > 0.0 {
            "∞".to_owned()
        } else {
            "−∞".to_owned()
        };
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-4..7).contains(&magnitude) {
        return scientific(value);
    }
    let decimals = (digits as i32 - 1 - magnitude).clamp(0, 12) as usize;
    minus(trimmed(format!("{value:.decimals$}")))
}

/// A power of ten: `1e-5`, `2.5e-6`.
pub fn scientific(value: f64) -> String {
    let text = format!("{value:.2e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => format!("{}e{exponent}", minus(trimmed(mantissa.to_owned()))),
        None => text,
    }
}

fn trimmed(text: String) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// The typographic minus, as wide as a plus.
fn minus(text: String) -> String {
    match text.strip_prefix('-') {
        Some(rest) => format!("−{rest}"),
        None => text,
    }
}

/// ε: two decimals from 0.1 on, three significant digits below.
pub fn epsilon(value: f64) -> String {
    if (0.1..1e6).contains(&value) {
        format!("{value:.2}")
    } else {
        significant(value, 3)
    }
}

/// δ as a power of ten.
pub fn delta(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if value < 0.01 {
        scientific(value)
    } else {
        significant(value, 3)
    }
}

/// A share of one as a percentage: `38 %`; small shares keep a digit.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    let text = if value > 0.0 && value < 0.1 {
        return format!("<0.1{UNBROKEN}%");
    } else if value > 0.0 && value < 10.0 && (value - value.round()).abs() > 0.05 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    };
    format!("{text}{UNBROKEN}%")
}

/// A stretch of time: `0:15`, `12:04`, `1:02:03`.
pub fn duration(seconds: f64) -> String {
    let total = seconds.max(0.0).round() as u64;
    let (hours, minutes, rest) = (total / 3600, total / 60 % 60, total % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{rest:02}")
    } else {
        format!("{minutes}:{rest:02}")
    }
}

/// A moment in milliseconds since 1970 as this place's clocks show it; empty for none that clocks know.
pub fn local_time(time_ms: i64) -> String {
    chrono::DateTime::from_timestamp_millis(time_ms)
        .map(|time| {
            time.with_timezone(&chrono::Local)
                .format("%Y-%m-%d %H:%M")
                .to_string()
        })
        .unwrap_or_default()
}

/// A moment as an axis writes it: the hour within a day, the day beyond.
pub fn moment(time_ms: i64, within_a_day: bool) -> String {
    chrono::DateTime::from_timestamp_millis(time_ms)
        .map(|time| {
            let pattern = if within_a_day { "%H:%M" } else { "%Y-%m-%d" };
            time.with_timezone(&chrono::Local).format(pattern).to_string()
        })
        .unwrap_or_default()
}

/// A size in bytes.
pub fn bytes(value: u64) -> String {
    let units = ["B", "KB", "MB", "GB"];
    let mut size = value as f64;
    let mut unit = 0;
    while size >= 1000.0 && unit + 1 < units.len() {
        size /= 1000.0;
        unit += 1;
    }
    if unit == 0 {
        format!("{value}{UNBROKEN}B")
    } else {
        format!("{size:.1}{UNBROKEN}{}", units[unit])
    }
}

/// Why a text is not taken as a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It is none, or its marks do not go together.
    Shape,
    /// It has two meanings, written here without doubt.
    TwoWays(String, String),
}

/// Spaces that set thousands apart.
const SPACES: [char; 4] = [' ', UNBROKEN, '\u{202f}', '\u{2009}'];

/// Reads a number as a person types it: a decimal point or comma, spaces between thousands, a power of ten, a
/// typographic minus.
///
/// # Errors
/// When it is no number, or could be two: `1,234`.
pub fn parse(text: &str) -> Result<f64, Unread> {
    read(text, false)
}

/// Reads a whole number, where a comma before three digits sets thousands apart, as [`count`] writes them.
///
/// # Errors
/// When it is no number, or could be two: `2.000` is two thousand where a point sets thousands apart. One that is not whole is read all the same.
pub fn parse_whole(text: &str) -> Result<f64, Unread> {
    read(text, true)
}

fn read(text: &str, is_whole: bool) -> Result<f64, Unread> {
    let text: String = text
        .trim()
        .chars()
        .map(|c| match c {
            '−' => '-',
            // As Chinese keyboards write them.
            '，' => ',',
            '．' => '.',
            other => other,
        })
        .collect();
    let (sign, rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (&text[..1], rest),
        None => ("", text.as_str()),
    };
    let (mantissa, power) = match rest.find(['e', 'E']) {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let mantissa = without_thousands(mantissa, is_whole).map_err(|unread| match unread {
        Unread::TwoWays(first, second) => {
            Unread::TwoWays(format!("{sign}{first}{power}"), format!("{sign}{second}{power}"))
        }
        Unread::Shape => Unread::Shape,
    })?;
    format!("{sign}{mantissa}{power}")
        .parse::<f64>()
        .ok()
        .filter(|value| value.is_finite())
        .ok_or(Unread::Shape)
}

/// Digits with a point before the decimals, if there are any.
fn without_thousands(text: &str, is_whole: bool) -> Result<String, Unread> {
    let is_number = |c: char| c.is_ascii_digit() || c == ',' || c == '.' || SPACES.contains(&c);
    if !text.chars().all(is_number) {
        return Err(Unread::Shape);
    }
    let (before, after) = text.split_at(text.find([',', '.']).unwrap_or(text.len()));
    let groups: Vec<&str> = before.split(SPACES).collect();
    if (groups.len() > 1 && !are_thousands(&groups)) || after.contains(SPACES) {
        return Err(Unread::Shape);
    }
    let text = format!("{}{after}", groups.concat());
    let parts: Vec<&str> = text.split(',').collect();
    match (parts.len() - 1, text.contains('.')) {
        (0, true) if is_whole => {
            let parts: Vec<&str> = text.split('.').collect();
            let is_round = parts.len() == 2 && parts[1].bytes().all(|digit| digit == b'0');
            if is_round && are_thousands(&parts) {
                Err(Unread::TwoWays(parts[0].to_owned(), parts.concat()))
            } else {
                Ok(text)
            }
        }
        (0, _) => Ok(text),
        (_, true) => Err(Unread::Shape),
        (1, false) if !are_thousands(&parts) => {
            let is_cut = parts[1].is_empty();
            (!is_cut).then(|| parts.join(".")).ok_or(Unread::Shape)
        }
        (1, false) if !is_whole => Err(Unread::TwoWays(parts.join("."), parts.concat())),
        _ if are_thousands(&parts) => Ok(parts.concat()),
        _ => Err(Unread::Shape),
    }
}

/// Whether digits lie as thousands do: up to three, none of them a leading zero, and threes behind them.
fn are_thousands(groups: &[&str]) -> bool {
    let (first, rest) = (groups[0], &groups[1..]);
    (1..=3).contains(&first.len()) && !first.starts_with('0') && rest.iter().all(|group| group.len() == 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_a_person_writes_them() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(32_561), "32,561");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(significant(0.25, 3), "0.25");
        assert_eq!(significant(-12.3456, 4), "−12.35");
        assert_eq!(significant(1e-5, 3), "1e-5");
        assert_eq!(significant(2.5e9, 3), "2.5e9");
        assert_eq!(significant(f64::NAN, 3), "—");
        assert_eq!(epsilon(8.0), "8.00");
        assert_eq!(epsilon(0.0123), "0.0123");
        assert_eq!(delta(1e-5), "1e-5");
        assert_eq!(percent(0.38), "38\u{a0}%");
        assert_eq!(percent(0.0625), "6.2\u{a0}%");
        assert_eq!(percent(0.0001), "<0.1\u{a0}%");
        assert_eq!(duration(15.4), "0:15");
        assert_eq!(duration(3723.0), "1:02:03");
        assert_eq!(bytes(1_250_000), "1.2\u{a0}MB");
    }

    #[test]
    fn a_decimal_comma_is_a_decimal_point() {
        for (text, value) in [
            ("1,5", 1.5),
            ("0,00001", 1e-5),
            ("12,5", 12.5),
            ("0,125", 0.125),
            (",5", 0.5),
            ("-1,5e-3", -1.5e-3),
            ("1 234,567", 1234.567),
            ("1，5", 1.5),
            ("−1e-5", -1e-5),
            ("1.234", 1.234),
            ("1,234,567", 1_234_567.0),
            ("32 561", 32561.0),
        ] {
            assert_eq!(parse(text), Ok(value), "{text}");
        }
        assert_eq!(parse_whole("32,561"), Ok(32561.0));
        assert_eq!(parse_whole("1,5"), Ok(1.5));
    }

    #[test]
    fn what_cannot_be_read_in_one_way_is_refused() {
        for text in [
            "",
            "ten",
            "1,234.5",
            "1.234,5",
            "1.2.3",
            "1,2,3",
            "5,",
            "1 5",
            "1,5 0",
            "inf",
            "NaN",
            "1e999",
            "0,5,5",
            "12,34,567",
            "--1",
            "1e1,5",
        ] {
            assert_eq!(parse(text), Err(Unread::Shape), "{text}");
        }
        let both = Unread::TwoWays("-1.234".to_owned(), "-1234".to_owned());
        assert_eq!(parse("-1,234"), Err(both));
        let both = Unread::TwoWays("2".to_owned(), "2000".to_owned());
        assert_eq!(parse_whole("2.000"), Err(both));
        assert_eq!(parse_whole("2.0"), Ok(2.0));
        assert_eq!(parse_whole("1.500"), Ok(1.5), "refused as not whole");
    }
}
