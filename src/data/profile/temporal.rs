//! How the dates and times of a text column are spelled.

use crate::data::schema::Kind;
use crate::data::value::{TemporalFormat, format_iso, parse_integer};

/// The format that reads every value, and whether another reads them too with another meaning.
pub(super) struct Spelling {
    pub kind: Kind,
    pub format: Option<String>,
    /// A text with two readings, and both in ISO 8601.
    pub ambiguous: Option<[String; 3]>,
}

const DATES: [&str; 17] = [
    "%Y/%m/%d",
    "%Y/%-m/%-d",
    "%Y.%m.%d",
    "%Y-%-m-%-d",
    "%d.%m.%Y",
    "%-d.%-m.%Y",
    "%m/%d/%Y",
    "%-m/%-d/%Y",
    "%d/%m/%Y",
    "%-d/%-m/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%Y年%m月%d日",
    "%Y年%-m月%-d日",
    "%d %b %Y",
    "%d-%b-%Y",
    "%b %d, %Y",
];
const TIMES: [&str; 3] = ["%H:%M", "%H:%M:%S%.3f", "%H:%M:%S%.f"];
/// After a date's pattern, and joined by either.
const CLOCKS: [&str; 5] = ["%H:%M:%S", "%H:%M", "%H:%M:%S%.3f", "%H:%M:%S%.6f", "%H:%M:%S%.f"];

/// The spelling of a column of text, if all its values are dates or times.
pub(super) fn spelling<'a>(values: &'a [(&'a str, u64)]) -> Option<Spelling> {
    let (first, _) = values.first()?;
    // Everything here has digits; anything much longer or without them is none.
    if !(4..=32).contains(&first.len()) || !first.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    for (kind, patterns) in [
        (Kind::Date, dates()),
        (Kind::Time, times()),
        (Kind::Datetime, datetimes()),
    ] {
        let mut reading = patterns
            .into_iter()
            .filter(|pattern| reads_all(kind, pattern.as_deref(), values));
        if let Some(format) = reading.next() {
            let meaning = |format: &Option<String>| {
                let format = TemporalFormat::new(kind, format.as_deref());
                values
                    .iter()
                    .map(|(text, _)| format.as_ref().and_then(|format| format.parse(text)))
                    .collect::<Vec<_>>()
            };
            let sense = meaning(&format);
            let ambiguous = reading.find_map(|other| {
                let both = sense.iter().zip(meaning(&other));
                let (place, (one, two)) = both.enumerate().find(|(_, (one, two))| **one != *two)?;
                Some([
                    values[place].0.to_owned(),
                    format_iso(kind, (*one)?),
                    format_iso(kind, two?),
                ])
            });
            return Some(Spelling {
                kind,
                format,
                ambiguous,
            });
        }
    }
    None
}

/// The formats that read a text, with what it means in each.
pub(super) fn readings(kind: Kind, text: &str) -> Vec<(Option<String>, String)> {
    let patterns = match kind {
        Kind::Date => dates(),
        Kind::Time => times(),
        _ => datetimes(),
    };
    let mut found: Vec<(Option<String>, String)> = Vec::new();
    for pattern in patterns {
        let value = TemporalFormat::new(kind, pattern.as_deref()).and_then(|format| format.parse(text));
        let Some(value) = value.filter(|_| reads_all(kind, pattern.as_deref(), &[(text, 1)])) else {
            continue;
        };
        let meaning = format_iso(kind, value);
        // Of several formats with one meaning the first: it is the one that profiling takes.
        if found.iter().all(|(_, known)| *known != meaning) {
            found.push((pattern, meaning));
        }
    }
    found
}

/// Whether whole numbers of eight digits are days such as 20190331.
pub(super) fn compact_date(values: &[(&str, u64)]) -> bool {
    let years = 19_000_101..=20_991_231;
    values.len() >= 20
        && values
            .iter()
            .all(|(text, _)| text.len() == 8 && parse_integer(text).is_some_and(|day| years.contains(&day)))
        && reads_all(Kind::Date, Some("%Y%m%d"), values)
}

fn dates() -> Vec<Option<String>> {
    std::iter::once(None)
        .chain(DATES.iter().map(|pattern| Some((*pattern).to_owned())))
        .collect()
}

fn times() -> Vec<Option<String>> {
    std::iter::once(None)
        .chain(TIMES.iter().map(|pattern| Some((*pattern).to_owned())))
        .collect()
}

fn datetimes() -> Vec<Option<String>> {
    let mut patterns = vec![None];
    for date in std::iter::once("%Y-%m-%d").chain(DATES) {
        for clock in CLOCKS {
            for (joint, end) in [(" ", ""), ("T", ""), ("T", "Z"), (" ", "Z")] {
                patterns.push(Some(format!("{date}{joint}{clock}{end}")));
            }
        }
    }
    patterns
}

/// Reads and spells back every value; the fraction of a second may be spelled shorter.
fn reads_all(kind: Kind, pattern: Option<&str>, values: &[(&str, u64)]) -> bool {
    let Some(format) = TemporalFormat::new(kind, pattern) else {
        return false;
    };
    values.iter().all(|(text, _)| {
        format.parse(text).is_some_and(|value| {
            let step = format.resolution();
            format.format(value.div_euclid(step) * step) == *text
                || (pattern.is_some_and(|pattern| pattern.contains("%.f")) && format.parse(text).is_some())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_spellings_are_found() {
        for (texts, kind, format) in [
            (&["2019-03-31", "2020-02-29"][..], Kind::Date, None),
            (&["3/29/1982", "12/1/1990"], Kind::Date, Some("%-m/%-d/%Y")),
            (&["31.03.2019"], Kind::Date, Some("%d.%m.%Y")),
            (&["2019年3月31日"], Kind::Date, Some("%Y年%-m月%-d日")),
            (&["08:30:00", "23:59:59"], Kind::Time, None),
            (&["08:30"], Kind::Time, Some("%H:%M")),
            (&["2019-03-31T08:30:00"], Kind::Datetime, None),
            (
                &["2019-03-31 08:30:00"],
                Kind::Datetime,
                Some("%Y-%m-%d %H:%M:%S"),
            ),
            (
                &["2019-03-31 08:30:00.250"],
                Kind::Datetime,
                Some("%Y-%m-%d %H:%M:%S%.3f"),
            ),
            (&["2019/03/31 08:30"], Kind::Datetime, Some("%Y/%m/%d %H:%M")),
        ] {
            let values: Vec<_> = texts.iter().map(|text| (*text, 1)).collect();
            let found = spelling(&values).unwrap();
            assert_eq!((found.kind, found.format.as_deref()), (kind, format), "{texts:?}");
        }
        for text in ["1234", "word", "2019-02-30", "12.5"] {
            assert!(spelling(&[(text, 1)]).is_none(), "{text}");
        }
    }

    #[test]
    fn day_first_or_month_first_is_called_ambiguous() {
        assert!(spelling(&[("03/04/2019", 1)]).unwrap().ambiguous.is_some());
        assert!(
            spelling(&[("03/04/2019", 1), ("25/04/2019", 1)])
                .unwrap()
                .ambiguous
                .is_none()
        );
        assert!(spelling(&[("2019-03-04", 1)]).unwrap().ambiguous.is_none());
    }
}
