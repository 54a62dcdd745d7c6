//! How numbers are spelled in text: the decimal mark, marks between thousands, currencies and per cent.
//!
//! A spelling is written by example, as the number 1234.5 would look: `1.234,5 €`, `$1,234.5`, `1 234,5`, `1234.5%`.
//! The value is the number as it stands there: a hundred per cent is 100.

use std::borrow::Cow;
use std::fmt;

use super::schema::{Column, Kind};

/// Marks that may stand between thousands.
const GROUPS: [char; 8] = [',', '.', ' ', '\u{a0}', '\u{202f}', '\'', '’', '_'];
/// Currencies by code or word.
const WORDS: [&str; 42] = [
    "USD", "EUR", "GBP", "JPY", "CNY", "RMB", "CHF", "CAD", "AUD", "NZD", "HKD", "TWD", "KRW", "INR", "RUB",
    "BRL", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "MXN", "SGD", "ZAR", "TRY", "US$", "CA$", "A$", "R$",
    "HK$", "NT$", "kr", "kr.", "zł", "Kč", "Ft", "Fr.", "元", "円", "원", "руб.",
];

/// A spelling of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NumberFormat {
    prefix: String,
    suffix: String,
    group: Option<char>,
    decimal: Option<char>,
}

impl NumberFormat {
    /// From its example. `None` when that does not spell 1234 or 1234.5.
    pub fn new(example: &str) -> Option<Self> {
        let start = example.find(|letter: char| letter.is_ascii_digit())?;
        let (prefix, rest) = example.split_at(start);
        let rest = rest.strip_prefix('1')?;
        let (group, rest) = if let Some(rest) = rest.strip_prefix("234") {
            (None, rest)
        } else {
            let mark = rest.chars().next()?;
            (Some(mark), rest[mark.len_utf8()..].strip_prefix("234")?)
        };
        let mut letters = rest.chars();
        let (decimal, suffix) = match (letters.next(), letters.next()) {
            (Some(mark), Some('5')) => (Some(mark), letters.as_str()),
            _ => (None, rest),
        };
        let is_sound = group.is_none_or(|mark| GROUPS.contains(&mark))
            && decimal.is_none_or(|mark| matches!(mark, '.' | ','))
            && (group.is_none() || group != decimal)
            && !format!("{prefix}{suffix}")
                .contains(|letter: char| letter.is_ascii_digit() || "+-".contains(letter));
        is_sound.then(|| Self {
            prefix: prefix.to_owned(),
            suffix: suffix.to_owned(),
            group,
            decimal,
        })
    }

    /// The spelling of a column of numbers, if it has one of its own.
    pub fn of(column: &Column) -> Option<Self> {
        let is_number = matches!(column.kind, Kind::Continuous | Kind::Integer);
        column.format.as_deref().filter(|_| is_number).and_then(Self::new)
    }

    /// The number as programs spell it (`-1234.5`); `None` when the text is none in this spelling. Signs may stand
    /// before or behind the currency, and brackets for a minus; currency and per cent may be left out.
    pub fn plain<'a>(&self, text: &'a str) -> Option<Cow<'a, str>> {
        let text = text.trim();
        let (is_bracketed, text) = match text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
            Some(inner) => (true, inner.trim()),
            None => (false, text),
        };
        let (first, text) = sign(text);
        let text = text.strip_prefix(self.prefix.trim()).unwrap_or(text).trim_start();
        let (second, text) = sign(text);
        let body = text.strip_suffix(self.suffix.trim()).unwrap_or(text).trim_end();
        let signs = usize::from(is_bracketed) + usize::from(first.is_some()) + usize::from(second.is_some());
        if signs > 1 {
            return None;
        }
        let is_negative = is_bracketed || first == Some('-') || second == Some('-');
        let (whole, fraction) = match self.decimal.and_then(|mark| body.split_once(mark)) {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (body, None),
        };
        let (fraction, exponent) = match fraction.and_then(|fraction| fraction.split_once(['e', 'E'])) {
            Some((fraction, exponent)) => (Some(fraction), Some(exponent)),
            None => (fraction, None),
        };
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_fraction = fraction.is_none_or(|fraction| !fraction.is_empty() && is_digits(fraction));
        let is_exponent = exponent.is_none_or(|text| {
            let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
            !digits.is_empty() && is_digits(digits)
        });
        let is_whole = match self.group {
            Some(mark) if whole.contains(mark) => is_grouped(whole, mark),
            _ => is_digits(whole) && (!whole.is_empty() || fraction.is_some()),
        };
        if !is_whole || !is_fraction || !is_exponent {
            return None;
        }
        if !is_negative && fraction.is_none() && is_digits(whole) {
            return Some(Cow::Borrowed(whole));
        }
        let mut plain = String::with_capacity(body.len() + 2);
        if is_negative {
            plain.push('-');
        }
        plain.extend(whole.chars().filter(char::is_ascii_digit));
        if let Some(fraction) = fraction {
            plain.push('.');
            plain.push_str(fraction);
        }
        if let Some(exponent) = exponent {
            plain.push('e');
            plain.push_str(exponent);
        }
        Some(Cow::Owned(plain))
    }

    /// A number that programs spell so, in this spelling, with that many decimals at least. One in scientific notation
    /// stays so.
    pub fn spell(&self, plain: &str, decimals: usize) -> String {
        let (minus, digits) = match plain.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", plain),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let is_scientific = digits.contains(['e', 'E']);
        let mut text = format!("{minus}{}", self.prefix);
        for (place, digit) in whole.chars().enumerate() {
            if let Some(mark) = self.group
                && place > 0
                && !is_scientific
                && (whole.len() - place).is_multiple_of(3)
            {
                text.push(mark);
            }
            text.push(digit);
        }
        // `101.0` is a whole number unless its decimals are asked for.
        let fraction = if fraction == "0" { "" } else { fraction };
        let missing = if is_scientific {
            0
        } else {
            decimals.saturating_sub(fraction.len())
        };
        if !fraction.is_empty() || missing > 0 {
            text.push(self.decimal.unwrap_or('.'));
            text.push_str(fraction);
            (0..missing).for_each(|_| text.push('0'));
        }
        text + &self.suffix
    }

    /// Whether points stand between thousands.
    pub fn has_pointed_thousands(&self) -> bool {
        self.group == Some('.')
    }

    /// Whether numbers are spelled with a decimal comma.
    pub fn has_decimal_comma(&self) -> bool {
        self.decimal == Some(',')
    }
}

impl fmt::Display for NumberFormat {
    /// The example.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}1", self.prefix)?;
        self.group.iter().try_for_each(|mark| write!(f, "{mark}"))?;
        f.write_str("234")?;
        self.decimal.iter().try_for_each(|mark| write!(f, "{mark}5"))?;
        f.write_str(&self.suffix)
    }
}

fn sign(text: &str) -> (Option<char>, &str) {
    match text.chars().next() {
        Some('-' | '−') => (
            Some('-'),
            text[text.chars().next().map_or(0, char::len_utf8)..].trim_start(),
        ),
        Some('+') => (Some('+'), text[1..].trim_start()),
        _ => (None, text),
    }
}

/// Groups of three digits, or of two and a last one of three as in India.
fn is_grouped(whole: &str, mark: char) -> bool {
    let groups: Vec<&str> = whole.split(mark).collect();
    let is_digits = groups
        .iter()
        .all(|group| group.bytes().all(|byte| byte.is_ascii_digit()));
    let (Some((first, rest)), Some(last)) = (groups.split_first(), groups.last()) else {
        return false;
    };
    let middle = rest.split_last().map_or(&[][..], |(_, middle)| middle);
    let all_of = |size: usize| middle.iter().all(|group| group.len() == size);
    is_digits
        && last.len() == 3
        && ((1..=3).contains(&first.len()) && all_of(3) || (1..=2).contains(&first.len()) && all_of(2))
}

/// The spelling in which all these texts are numbers.
pub(crate) struct Spelling {
    pub format: NumberFormat,
    /// A text with two readings, and both.
    pub ambiguous: Option<[String; 3]>,
}

/// Finds the spelling of a column of text; `comma` says that a decimal comma is likelier than a decimal point.
pub(crate) fn spelling<'a>(texts: &'a [(&'a str, u64)], comma: bool) -> Option<Spelling> {
    let (prefix, suffix) = affixes(texts)?;
    let mut marks = vec![
        (None, '.'),
        (Some(','), '.'),
        (Some('.'), ','),
        (Some(' '), ','),
        (Some(' '), '.'),
        (Some('\u{a0}'), ','),
        (Some('\u{202f}'), ','),
        (Some('\''), '.'),
        (Some('’'), '.'),
        (None, ','),
    ];
    if comma {
        marks.sort_by_key(|(_, decimal)| *decimal != ',');
    }
    // Of the marks only those that occur: most columns have one, and one or two ways to read it.
    let mut met = Vec::new();
    for (text, _) in texts {
        let marks = inner(text, prefix, suffix)
            .chars()
            .filter(|letter| GROUPS.contains(letter));
        marks.for_each(|mark| {
            if !met.contains(&mark) {
                met.push(mark);
            }
        });
    }
    let mut candidates = Vec::new();
    for (group, decimal) in marks {
        let marks = (
            group.filter(|mark| met.contains(mark)),
            Some(decimal).filter(|mark| met.contains(mark)),
        );
        if !candidates.contains(&marks) {
            candidates.push(marks);
        }
    }
    let mut fitting = candidates.into_iter().filter_map(|(group, decimal)| {
        let format = NumberFormat {
            prefix: prefix.to_owned(),
            suffix: suffix.to_owned(),
            group,
            decimal,
        };
        let is_number = |(text, _): &(&str, u64)| format.plain(text).is_some_and(|plain| !is_code(&plain));
        texts.iter().all(is_number).then_some(format)
    });
    let format = fitting.next()?;
    let ambiguous = fitting.find_map(|other| {
        let differs = texts
            .iter()
            .find(|(text, _)| format.plain(text) != other.plain(text));
        let (text, _) = differs?;
        Some([
            (*text).to_owned(),
            format.plain(text)?.into_owned(),
            other.plain(text)?.into_owned(),
        ])
    });
    Some(Spelling { format, ambiguous })
}

/// The spellings in which a text is a number, with the number in each.
pub(crate) fn readings(text: &str) -> Vec<(Option<String>, String)> {
    let mut found: Vec<(Option<String>, String)> = Vec::new();
    for comma in [false, true] {
        if let Some(spelling) = spelling(&[(text, 1)], comma)
            && let Some(plain) = spelling.format.plain(text)
        {
            let reading = (Some(spelling.format.to_string()), plain.into_owned());
            if !found.contains(&reading) {
                found.push(reading);
            }
        }
    }
    found
}

/// Leading zeros and very long digits are codes, not quantities.
fn is_code(plain: &str) -> bool {
    let digits = plain.strip_prefix('-').unwrap_or(plain).as_bytes();
    matches!(digits, [b'0', b'0'..=b'9', ..]) || (digits.len() > 15 && digits.iter().all(u8::is_ascii_digit))
}

fn inner<'a>(text: &'a str, prefix: &str, suffix: &str) -> &'a str {
    let text = text.trim();
    let text = text.strip_prefix(prefix.trim()).unwrap_or(text);
    text.strip_suffix(suffix.trim()).unwrap_or(text)
}

/// What stands around the numbers: the same around all that have anything, and a currency or per cent.
fn affixes<'a>(texts: &'a [(&'a str, u64)]) -> Option<(&'a str, &'a str)> {
    let mut found = ("", "");
    for (text, _) in texts {
        let text = text
            .trim()
            .trim_start_matches(['(', '-', '−', '+'])
            .trim_end_matches(')');
        if text.len() > 40 {
            return None;
        }
        let is_digit = |letter: char| letter.is_ascii_digit();
        let (start, end) = (text.find(is_digit)?, text.rfind(is_digit)? + 1);
        let start = if text[..start].ends_with(['.', ',']) && start == 1 {
            0
        } else {
            start
        };
        let (prefix, suffix) = (text[..start].trim_end_matches(['-', '−', '+']), &text[end..]);
        for (known, now) in [(&mut found.0, prefix), (&mut found.1, suffix)] {
            if known.is_empty() {
                *known = now;
            } else if !now.is_empty() && known.trim() != now.trim() {
                return None;
            }
        }
    }
    (is_affix(found.0) && is_affix(found.1)).then_some(found)
}

fn is_affix(text: &str) -> bool {
    let text = text.trim();
    let is_sign = |letter: char| {
        matches!(
            letter,
            '%' | '％' | '‰' | '$' | '¢' | '£' | '¥' | '￥' | '₠'..='⃀' | '＄' | '￡'
        )
    };
    let mut letters = text.chars();
    let is_single = letters.next().is_some_and(is_sign) && letters.next().is_none();
    text.is_empty() || is_single || WORDS.contains(&text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_are_read_in_their_spelling() {
        for (example, text, plain) in [
            ("1.234,5", "1.234.567,25", Some("1234567.25")),
            ("1.234,5", "12,5", Some("12.5")),
            ("1.234,5", "1234,5", Some("1234.5")),
            ("1.234,5", "1.23,5", None),
            ("1.234,5", "1.234.5", None),
            ("1,234", "1,234", Some("1234")),
            ("1,234", "12,34,567", Some("1234567")),
            ("1,234", "1,234.5", None),
            ("1234,5 €", "-3,5 €", Some("-3.5")),
            ("1234,5 €", "(3,50)", Some("-3.50")),
            ("$1,234.5", "$-1,000", Some("-1000")),
            ("$1,234.5", "-$1,000.0", Some("-1000.0")),
            ("$1,234.5", "--1", None),
            ("1234.5%", "12 %", Some("12")),
            ("1 234,5", "12 345,6", Some("12345.6")),
            ("1'234.5", "−1'234.5e3", Some("-1234.5e3")),
            ("1234,5", "0x10", None),
            ("1234,5", "", None),
            ("1234,5", ",5", Some(".5")),
        ] {
            let format = NumberFormat::new(example).unwrap();
            assert_eq!(format.plain(text).as_deref(), plain, "{text} as {example}");
            assert_eq!(format.to_string(), example);
        }
        for wrong in ["", "%d", "12345", "1.234.5", "1x234", "1234;5", "$9"] {
            assert!(NumberFormat::new(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn numbers_are_spelled_back() {
        for (example, plain, decimals, text) in [
            ("1.234,5 €", "-1234567.25", 2, "-1.234.567,25 €"),
            ("1.234,5 €", "7.0", 2, "7,00 €"),
            ("1,234", "999.0", 0, "999"),
            ("$1,234.5", "1234.5", 0, "$1,234.5"),
        ] {
            let format = NumberFormat::new(example).unwrap();
            assert_eq!(format.spell(plain, decimals), text);
        }
    }

    #[test]
    fn spellings_are_found_with_their_ambiguity() {
        let of = |texts: &[&str], comma| {
            let texts: Vec<_> = texts.iter().map(|text| (*text, 1)).collect();
            spelling(&texts, comma).map(|found| (found.format.to_string(), found.ambiguous.is_some()))
        };
        for (texts, example, is_ambiguous) in [
            (&["1,5", "2,25"][..], "1234,5", false),
            (&["1.234,5", "7"], "1.234,5", false),
            (&["1,234", "12,345"], "1,234", true),
            (&["1,234", "12,345.5"], "1,234.5", false),
            (&["12%", "7 %"], "1234%", false),
            (&["€ 1.000,50", "€ 2,10"], "€ 1.234,5", false),
            (&["1 234,5"], "1 234,5", false),
            (&["$5", "-$3.2"], "$1234.5", false),
        ] {
            assert_eq!(
                of(texts, false),
                Some((example.to_owned(), is_ambiguous)),
                "{texts:?}"
            );
        }
        assert_eq!(of(&["1,234"], true), Some(("1234,5".to_owned(), true)));
        for none in [
            &["abc"][..],
            &["1,5", "x"],
            &["12 kg"],
            &["0123,4"],
            &["1.2.3"],
            &["$5", "€5"],
            &[""],
        ] {
            assert_eq!(of(none, false), None, "{none:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]

        #[test]
        fn what_is_spelled_reads_back(value in -1e9_f64..1e9, decimals in 0_usize..4, which in 0_usize..6) {
            let example = ["1.234,5 €", "$1,234.5", "1 234,5", "1'234.5", "1234.5%", "1234,5"][which];
            let format = NumberFormat::new(example).unwrap();
            let plain = crate::data::value::format_number(value);
            let text = format.spell(&plain, decimals);
            let back: f64 = format.plain(&text).unwrap().parse().unwrap();
            prop_assert_eq!(back, value);
        }

        #[test]
        fn no_text_is_too_odd(text in "\\PC{0,20}|[-+(). ,0-9€%]{0,14}") {
            for example in ["1.234,5 €", "1,234", "1234.5%"] {
                if let Some(plain) = NumberFormat::new(example).unwrap().plain(&text) {
                    prop_assert!(plain.parse::<f64>().is_ok(), "{} -> {}", text, plain);
                }
            }
            let _ = spelling(&[(&text, 1)], false);
            let _ = NumberFormat::new(&text);
        }
    }
}
