//! The kind of a column, from its distinct values, and the suggestion that goes with it.

use std::borrow::Cow;

use super::gather::{Distinct, Gathered};
use super::{MARK, WarningKind, bounds, identifier, temporal};
use crate::data::numeral::{self, NumberFormat, Spelling};
use crate::data::schema::{Column, Kind};
use crate::data::value::{TemporalFormat, parse_number, whole_number};

/// Pairs of spellings of false and true, in lower case.
const PAIRS: [(&str, &str); 9] = [
    ("false", "true"),
    ("no", "yes"),
    ("n", "y"),
    ("f", "t"),
    ("0", "1"),
    ("0.0", "1.0"),
    ("否", "是"),
    ("无", "有"),
    ("off", "on"),
];
/// Of these pairs, one spelling alone is enough to know the other.
const TELLING: [&str; 6] = ["false", "true", "no", "yes", "否", "是"];
/// Up to this range every whole number is a bin of its own, so codes may stay integers.
const SHORT_RANGE: f64 = 20.0;
/// Up to so many values, words are a category however few the rows.
const FEW_VALUES: usize = 60;
/// More values than this are no category.
const MANY_VALUES: usize = 1000;

/// How likely a decimal comma is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comma {
    /// Not likelier than a point.
    Unlikely,
    /// Where both can be meant.
    Likely,
    /// Other columns of the file have it: a point may stand between thousands.
    Known,
}

/// What the values of a column can be read as.
struct Reading {
    kind: Kind,
    format: Option<String>,
    /// If some value has another reading, too.
    ambiguous: Option<WarningKind>,
}

impl Reading {
    const fn plain(kind: Kind) -> Self {
        Self {
            kind,
            format: None,
            ambiguous: None,
        }
    }
}

/// The suggested column and what a person should look at.
pub(super) fn column(name: &str, values: &Gathered<'_>, comma: Comma) -> (Column, Vec<WarningKind>) {
    let mut warnings = Vec::new();
    if values.present() == 0 {
        warnings.push(WarningKind::AllMissing);
        return (as_kind(name, values, Kind::Text), warnings);
    }
    let Reading {
        kind,
        format,
        ambiguous,
    } = reading_of(values, comma);
    let kind = if let Some(reason) = identifier::reason(name, values, kind) {
        warnings.push(WarningKind::LikelyIdentifier { reason });
        Kind::Identifier
    } else if kind == Kind::Categorical {
        categorical_or_text(values, &mut warnings)
    } else {
        kind
    };
    if values.distinct() == 1 {
        warnings.push(WarningKind::Constant);
    }
    let missing = values.missing() as f64 / (values.missing() + values.present()) as f64;
    if missing > 0.5 && kind.is_used() {
        warnings.push(WarningKind::MostlyMissing {
            percent: (missing * 100.0).round() as u8,
        });
    }
    warnings.extend(ambiguous.filter(|_| kind.is_used()));
    let column = suggestion(name, values, kind, format);
    if kind.is_used() {
        let some = |count: u64| (count > 0).then_some(count);
        warnings.extend(some(values.infinite()).map(|count| WarningKind::Infinite { count }));
        warnings.extend(some(values.beyond_calendar()).map(|count| WarningKind::BeyondCalendar { count }));
    }
    if kind.is_numeric() && column.lower.is_none() {
        warnings.push(WarningKind::NoBounds);
    }
    (column, warnings)
}

/// The suggestion for a kind that a person chose.
pub(super) fn as_kind(name: &str, values: &Gathered<'_>, kind: Kind) -> Column {
    let reading = reading_of(values, Comma::Unlikely);
    // A spelling of another kind (that of moments for days, say) is none of this one.
    let is_of_kind = |format: &String| match kind {
        Kind::Continuous | Kind::Integer => {
            !reading.kind.is_temporal() && NumberFormat::new(format).is_some()
        }
        kind => kind.is_temporal() && TemporalFormat::new(kind, Some(format)).is_some(),
    };
    let format = reading.format.as_ref().filter(|format| is_of_kind(format));
    suggestion(name, values, kind, format.cloned())
}

fn suggestion(name: &str, values: &Gathered<'_>, kind: Kind, format: Option<String>) -> Column {
    let mut column = Column::new(name, kind);
    column.missing = values.missing() > 0;
    if !kind.is_used() {
        column.missing = false;
        return column;
    }
    match kind {
        Kind::Categorical => column.domain = Some(domain(values)),
        Kind::Boolean => column.domain = boolean_pair(values).map(|(no, yes)| vec![no, yes]),
        _ => {
            column.format = format;
            if let Some(line) = values.line(&column) {
                bounds::suggest(&mut column, values, &line);
            }
        }
    }
    let has_content = column.domain.is_some() || column.lower.is_some() || kind == Kind::Boolean;
    column.provenance = MARK.filter(|_| has_content);
    column
}

/// The values of a category: numbers by size, words by spelling. Never by frequency, which would say more than
/// the list itself.
fn domain(values: &Gathered<'_>) -> Vec<String> {
    // A date that no calendar has is spelled by nothing.
    let texts = values.texts().filter(|(text, _)| !text.is_empty());
    let mut texts: Vec<String> = texts.map(|(text, _)| text.into_owned()).collect();
    texts.sort_by(|a, b| {
        match (parse_number(a), parse_number(b)) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        }
        .then_with(|| a.cmp(b))
    });
    texts
}

const fn is_number(kind: Kind) -> bool {
    matches!(kind, Kind::Continuous | Kind::Integer)
}

/// What the values are, and how they are spelled.
fn reading_of(values: &Gathered<'_>, comma: Comma) -> Reading {
    match &values.distinct {
        Distinct::Booleans(_) => return Reading::plain(Kind::Boolean),
        Distinct::Temporal(kind, _) => {
            return Reading {
                format: bounds::fraction_format(values, *kind),
                ..Reading::plain(*kind)
            };
        }
        _ => {}
    }
    if boolean_pair(values).is_some() {
        return Reading::plain(Kind::Boolean);
    }
    if comma == Comma::Known
        && let Some(reading) = pointed_thousands(values)
    {
        return reading;
    }
    if let Some(kind) = number_kind(values, None) {
        if let Distinct::Texts(texts) = &values.distinct
            && kind == Kind::Integer
            && temporal::compact_date(texts)
        {
            return Reading {
                format: Some("%Y%m%d".to_owned()),
                ..Reading::plain(Kind::Date)
            };
        }
        return Reading::plain(kind);
    }
    let Distinct::Texts(texts) = &values.distinct else {
        return Reading::plain(Kind::Categorical);
    };
    if let Some(found) = numeral::spelling(texts, comma != Comma::Unlikely)
        && let Some(reading) = spelled(values, found)
    {
        return reading;
    }
    if let Some(found) = temporal::spelling(texts) {
        let ambiguous = found
            .ambiguous
            .map(|[example, first, second]| WarningKind::AmbiguousDate {
                example,
                first,
                second,
            });
        return Reading {
            kind: found.kind,
            format: found.format,
            ambiguous,
        };
    }
    Reading::plain(Kind::Categorical)
}

/// Numbers in a spelling of their own; codes are the words that they are.
fn spelled(values: &Gathered<'_>, found: Spelling) -> Option<Reading> {
    let kind = number_kind(values, Some(&found.format))?;
    if !is_number(kind) {
        return Some(Reading::plain(kind));
    }
    Some(Reading {
        kind,
        format: Some(found.format.to_string()),
        ambiguous: found
            .ambiguous
            .map(|[example, first, second]| WarningKind::AmbiguousNumber {
                example,
                first,
                second,
            }),
    })
}

/// Whether the column is of numbers with a decimal comma, and nothing else could be meant.
pub(super) fn has_decimal_comma(values: &Gathered<'_>) -> bool {
    let Distinct::Texts(texts) = &values.distinct else {
        return false;
    };
    let Some((first, _)) = texts.first() else {
        return false;
    };
    // Every text of such a column has a digit, and one a comma.
    first.contains(|letter: char| letter.is_ascii_digit())
        && texts.iter().any(|(text, _)| text.contains(','))
        && numeral::spelling(texts, true)
            .is_some_and(|found| found.ambiguous.is_none() && found.format.has_decimal_comma())
}

/// Numbers such as 1.234 where other columns have decimal commas.
fn pointed_thousands(values: &Gathered<'_>) -> Option<Reading> {
    let Distinct::Texts(texts) = &values.distinct else {
        return None;
    };
    let found = numeral::spelling(texts, true)?;
    let has_points = found.format.has_decimal_comma() || found.format.has_pointed_thousands();
    spelled(values, found).filter(|_| has_points)
}

/// The spellings of false and true, as written, if the column has no other values.
fn boolean_pair(values: &Gathered<'_>) -> Option<(String, String)> {
    if matches!(values.distinct, Distinct::Booleans(_)) {
        return Some(("false".to_owned(), "true".to_owned()));
    }
    if !(1..=2).contains(&values.distinct()) {
        return None;
    }
    let texts: Vec<Cow<'_, str>> = values.texts().map(|(text, _)| text).collect();
    let spelled = |word: &str, like: &str| {
        let mut letters = like.chars();
        let is_upper = |letter: Option<char>| letter.is_some_and(char::is_uppercase);
        match (is_upper(letters.next()), is_upper(letters.next())) {
            (true, false) if like.chars().count() > 1 => word[..1].to_uppercase() + &word[1..],
            (true, true | false) => word.to_uppercase(),
            _ => word.to_owned(),
        }
    };
    PAIRS.iter().find_map(|&(no, yes)| {
        if texts.len() == 1 {
            let lower = texts[0].to_lowercase();
            if !TELLING.contains(&lower.as_str()) || (lower != no && lower != yes) {
                return None;
            }
            return Some((spelled(no, &texts[0]), spelled(yes, &texts[0])));
        }
        let find = |word: &str| texts.iter().find(|text| text.to_lowercase() == word);
        Some((find(no)?.to_string(), find(yes)?.to_string()))
    })
}

/// Integer, continuous, or categorical for codes; `None` when a value is no number in that spelling.
fn number_kind(values: &Gathered<'_>, numeral: Option<&NumberFormat>) -> Option<Kind> {
    let number = |text: &str| match numeral {
        Some(numeral) => plain_number(&numeral.plain(text)?),
        None => plain_number(text),
    };
    let numbers: Option<Vec<f64>> = match &values.distinct {
        Distinct::Texts(texts) => texts.iter().map(|(text, _)| number(text)).collect(),
        Distinct::Integers(values) => Some(values.iter().map(|&(value, _)| value as f64).collect()),
        Distinct::Numbers(values) => Some(values.iter().map(|&(value, _)| value).collect()),
        _ => None,
    };
    let numbers = numbers?;
    if numbers.iter().any(|value| whole_number(*value).is_none()) {
        return Some(Kind::Continuous);
    }
    let (min, max) = numbers.iter().fold((f64::MAX, f64::MIN), |(min, max), &value| {
        (min.min(value), max.max(value))
    });
    // A handful of values far apart, each met often, are codes or classes, not a range.
    let is_code =
        numbers.len() <= 20 && max - min > SHORT_RANGE && values.present() >= 10 * numbers.len() as u64;
    Some(if is_code { Kind::Categorical } else { Kind::Integer })
}

/// A number as people write quantities: no leading zeros (those are codes), no more digits than a double holds.
fn plain_number(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let is_code = matches!(digits, [b'0', b'0'..=b'9', ..]) || text.starts_with('+');
    let is_too_long = digits.len() > 25 || (digits.len() > 15 && digits.iter().all(u8::is_ascii_digit));
    if is_code || is_too_long {
        None
    } else {
        parse_number(text)
    }
}

fn categorical_or_text(values: &Gathered<'_>, warnings: &mut Vec<WarningKind>) -> Kind {
    let distinct = values.distinct();
    let share = distinct as f64 / values.present() as f64;
    if distinct <= FEW_VALUES || (distinct <= MANY_VALUES && share <= 0.05) {
        return Kind::Categorical;
    }
    let (mut letters, mut count) = (0.0, 0.0);
    for (text, times) in values.texts() {
        letters += text.chars().count() as f64 * times as f64;
        count += times as f64;
    }
    warnings.push(if share > 0.5 && letters / count > 25.0 {
        WarningKind::FreeText
    } else {
        WarningKind::ManyValues {
            distinct: distinct as u64,
        }
    });
    Kind::Text
}
