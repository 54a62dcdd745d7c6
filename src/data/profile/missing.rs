//! Which spellings of "no value" a table uses.

use super::gather::{Distinct, Gathered};
use crate::data::schema::Kind;
use crate::data::value::{parse_iso, parse_number};

/// Always a missing value.
const SURE: [&str; 10] = [
    "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "#N/A", "<NA>", "?",
];
/// A missing value where all else in the column is a number or a date.
const AMONG_NUMBERS: [&str; 12] = [
    "-", "--", ".", "None", "none", "missing", "Missing", "unknown", "Unknown", "无", "未知", "缺失",
];

/// The spellings in use, the most frequent first (it is the one that is written), and the empty one.
pub(super) fn spellings(columns: &[Gathered<'_>]) -> Vec<String> {
    let mut found: Vec<(&str, u64)> = Vec::new();
    let empty: u64 = columns.iter().map(Gathered::missing).sum();
    for spelling in SURE {
        let count: u64 = texts(columns).map(|values| count_of(values, spelling)).sum();
        if count > 0 {
            found.push((spelling, count));
        }
    }
    for spelling in AMONG_NUMBERS {
        let mut users = texts(columns)
            .filter(|values| count_of(values, spelling) > 0)
            .peekable();
        if users.peek().is_some() && users.all(|values| is_numbers_but_for(values, spelling)) {
            found.push((
                spelling,
                texts(columns).map(|values| count_of(values, spelling)).sum(),
            ));
        }
    }
    found.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let mut spellings: Vec<String> = found.iter().map(|(spelling, _)| (*spelling).to_owned()).collect();
    let leads = found.first().is_none_or(|&(_, count)| empty >= count);
    spellings.insert(if leads { 0 } else { spellings.len() }, String::new());
    spellings
}

fn texts<'a>(columns: &'a [Gathered<'a>]) -> impl Iterator<Item = &'a [(&'a str, u64)]> {
    columns.iter().filter_map(|column| match &column.distinct {
        Distinct::Texts(values) => Some(values.as_slice()),
        _ => None,
    })
}

fn count_of(values: &[(&str, u64)], text: &str) -> u64 {
    values
        .binary_search_by(|(value, _)| (*value).cmp(text))
        .map_or(0, |index| values[index].1)
}

fn is_numbers_but_for(values: &[(&str, u64)], spelling: &str) -> bool {
    let mut others = values
        .iter()
        .map(|(text, _)| *text)
        .filter(|text| *text != spelling && !SURE.contains(text))
        .peekable();
    others.peek().is_some()
        && others.all(|text| parse_number(text).is_some() || parse_iso(Kind::Date, text).is_some())
}
