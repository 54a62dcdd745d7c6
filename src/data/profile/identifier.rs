//! Columns that likely tell persons apart: by what their cells look like, and by their names.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use super::gather::{Distinct, Gathered};
use crate::data::schema::Kind;
use crate::num::{Argument, Fills};

/// What speaks for an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IdentifierReason {
    /// Every row has its own value.
    Unique,
    /// A running or record number.
    RecordNumber,
    /// E-mail addresses.
    Email,
    /// Telephone numbers.
    Phone,
    /// National identity numbers.
    NationalId,
    /// Bank card or account numbers.
    CardNumber,
    /// Names of persons or their employers.
    Name,
    /// Postal addresses.
    Address,
    /// Machine-made keys (UUIDs, network addresses).
    Key,
}

impl fmt::Display for IdentifierReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unique => "every row has its own value",
            Self::RecordNumber => "record numbers",
            Self::Email => "e-mail addresses",
            Self::Phone => "telephone numbers",
            Self::NationalId => "identity numbers",
            Self::CardNumber => "card or account numbers",
            Self::Name => "names",
            Self::Address => "addresses",
            Self::Key => "machine-made keys",
        })
    }
}

impl Fills for IdentifierReason {
    fn argument(&self) -> Argument {
        let key = match self {
            Self::Unique => "identifier-unique",
            Self::RecordNumber => "identifier-record-number",
            Self::Email => "identifier-email",
            Self::Phone => "identifier-phone",
            Self::NationalId => "identifier-national-id",
            Self::CardNumber => "identifier-card-number",
            Self::Name => "identifier-name",
            Self::Address => "identifier-address",
            Self::Key => "identifier-key",
        };
        Argument::Key(key.to_owned())
    }
}

/// Fewer values than this are never called unique.
const ENOUGH: u64 = 20;
/// Whether a cell looks like something.
type Looks = fn(&str) -> bool;
/// Distinct values looked at.
const SAMPLE: usize = 500;

/// Why the column should be dropped as an identifier, if it should.
pub(super) fn reason(name: &str, values: &Gathered<'_>, kind: Kind) -> Option<IdentifierReason> {
    let distinct = values.distinct() as u64;
    let share = distinct as f64 / values.present() as f64;
    if distinct < 3 || values.present() < ENOUGH {
        return None;
    }
    let is_unique = distinct == values.present();
    if let Some(found) = by_content(values, kind, share) {
        return Some(found);
    }
    // A name tells little about a column with few values: `region_id` is a category.
    if share >= 0.1
        && matches!(kind, Kind::Integer | Kind::Categorical)
        && let Some(found) = by_name(name)
        && (kind == Kind::Categorical || found == IdentifierReason::RecordNumber || share > 0.9)
    {
        return Some(found);
    }
    match kind {
        Kind::Categorical if is_long_text(values) => None,
        Kind::Categorical if is_unique || (share > 0.95 && values.present() >= 100) => {
            Some(IdentifierReason::Unique)
        }
        Kind::Integer if is_unique && is_running(values) => Some(IdentifierReason::RecordNumber),
        _ => None,
    }
}

/// Sentences rather than keys.
fn is_long_text(values: &Gathered<'_>) -> bool {
    let letters: usize = values.texts().map(|(text, _)| text.chars().count()).sum();
    letters > 30 * values.distinct()
}

/// Unique whole numbers that are dense (a running number) or all of one, great length.
fn is_running(values: &Gathered<'_>) -> bool {
    let texts: Vec<Cow<'_, str>> = values.texts().map(|(text, _)| text).collect();
    let length = texts[0].len();
    if length >= 6 && texts.iter().all(|text| text.len() == length) {
        return true;
    }
    let numbers: Vec<f64> = texts.iter().filter_map(|text| text.parse().ok()).collect();
    let (min, max) = numbers.iter().fold((f64::MAX, f64::MIN), |(min, max), &value| {
        (min.min(value), max.max(value))
    });
    numbers.len() >= 50 && max - min + 1.0 <= 2.0 * numbers.len() as f64
}

fn by_content(values: &Gathered<'_>, kind: Kind, share: f64) -> Option<IdentifierReason> {
    if !matches!(values.distinct, Distinct::Texts(_) | Distinct::Integers(_))
        || !matches!(kind, Kind::Integer | Kind::Categorical)
        || share < 0.1
    {
        return None;
    }
    // Spread over the sorted values, so that one corner does not stand for all.
    let step = values.distinct().div_ceil(SAMPLE);
    let sample: Vec<Cow<'_, str>> = values.texts().step_by(step).map(|(text, _)| text).collect();
    let most = |looks: Looks| sample.iter().filter(|text| looks(text)).count() * 10 >= sample.len() * 8;
    let tests: [(IdentifierReason, Looks); 6] = [
        (IdentifierReason::Email, is_email),
        (IdentifierReason::Key, is_key),
        (IdentifierReason::NationalId, is_national_id),
        (IdentifierReason::Phone, is_mobile),
        (IdentifierReason::CardNumber, is_card),
        (IdentifierReason::Phone, is_phone),
    ];
    tests
        .into_iter()
        .find(|(reason, looks)| {
            let is_spread =
                !matches!(reason, IdentifierReason::Phone | IdentifierReason::CardNumber) || share > 0.5;
            is_spread && most(*looks)
        })
        .map(|(reason, _)| reason)
}

fn is_email(text: &str) -> bool {
    text.split_once('@').is_some_and(|(user, host)| {
        !user.is_empty()
            && host.contains('.')
            && !host.contains(['@', ' '])
            && !host.starts_with('.')
            && !host.ends_with('.')
    })
}

/// A UUID or an IPv4 address.
fn is_key(text: &str) -> bool {
    let is_uuid = text.len() == 36
        && text.bytes().enumerate().all(|(place, byte)| {
            if matches!(place, 8 | 13 | 18 | 23) {
                byte == b'-'
            } else {
                byte.is_ascii_hexdigit()
            }
        });
    is_uuid || (text.len() >= 7 && text.parse::<std::net::Ipv4Addr>().is_ok())
}

/// A Chinese identity number with its check digit, or a US social security number as written.
fn is_national_id(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() == 18 && bytes[..17].iter().all(u8::is_ascii_digit) {
        const WEIGHTS: [u32; 17] = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
        let sum: u32 = bytes
            .iter()
            .zip(WEIGHTS)
            .map(|(byte, weight)| u32::from(byte - b'0') * weight)
            .sum();
        return b"10X98765432"[(sum % 11) as usize] == bytes[17].to_ascii_uppercase();
    }
    bytes.len() == 11
        && bytes.iter().enumerate().all(|(place, byte)| {
            if matches!(place, 3 | 6) {
                *byte == b'-'
            } else {
                byte.is_ascii_digit()
            }
        })
}

/// A Chinese mobile number.
fn is_mobile(text: &str) -> bool {
    matches!(text.as_bytes(), [b'1', b'3'..=b'9', rest @ ..] if rest.len() == 9 && rest.iter().all(u8::is_ascii_digit))
}

/// Sixteen to nineteen digits, perhaps in groups.
fn is_card(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    (16..=19).contains(&digits)
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'-'))
}

/// Seven to fifteen digits with the marks of a telephone number among them.
fn is_phone(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let marks = text
        .bytes()
        .filter(|byte| matches!(byte, b' ' | b'-' | b'(' | b')' | b'+' | b'/'))
        .count();
    (6..=15).contains(&digits)
        && digits + marks + text.matches('.').count() == text.len()
        && (marks > 0 || text.starts_with('0'))
}

/// What the column's name says, in English or Chinese.
fn by_name(name: &str) -> Option<IdentifierReason> {
    const CHINESE: [(&str, IdentifierReason); 20] = [
        ("姓名", IdentifierReason::Name),
        ("名字", IdentifierReason::Name),
        ("单位", IdentifierReason::Name),
        ("身份证", IdentifierReason::NationalId),
        ("证件", IdentifierReason::NationalId),
        ("护照", IdentifierReason::NationalId),
        ("社保", IdentifierReason::NationalId),
        ("手机", IdentifierReason::Phone),
        ("电话", IdentifierReason::Phone),
        ("邮箱", IdentifierReason::Email),
        ("住址", IdentifierReason::Address),
        ("地址", IdentifierReason::Address),
        ("卡号", IdentifierReason::CardNumber),
        ("账号", IdentifierReason::CardNumber),
        ("住院号", IdentifierReason::RecordNumber),
        ("病历号", IdentifierReason::RecordNumber),
        ("门诊号", IdentifierReason::RecordNumber),
        ("就诊号", IdentifierReason::RecordNumber),
        ("学号", IdentifierReason::RecordNumber),
        ("编号", IdentifierReason::RecordNumber),
    ];
    const ENGLISH: [(&str, IdentifierReason); 30] = [
        ("id", IdentifierReason::RecordNumber),
        ("ids", IdentifierReason::RecordNumber),
        ("uuid", IdentifierReason::Key),
        ("guid", IdentifierReason::Key),
        ("mrn", IdentifierReason::RecordNumber),
        ("identifier", IdentifierReason::RecordNumber),
        ("ssn", IdentifierReason::NationalId),
        ("passport", IdentifierReason::NationalId),
        ("nationalid", IdentifierReason::NationalId),
        ("license", IdentifierReason::NationalId),
        ("licence", IdentifierReason::NationalId),
        ("iban", IdentifierReason::CardNumber),
        ("account", IdentifierReason::CardNumber),
        ("card", IdentifierReason::CardNumber),
        ("name", IdentifierReason::Name),
        ("firstname", IdentifierReason::Name),
        ("lastname", IdentifierReason::Name),
        ("surname", IdentifierReason::Name),
        ("forename", IdentifierReason::Name),
        ("fullname", IdentifierReason::Name),
        ("username", IdentifierReason::Name),
        ("company", IdentifierReason::Name),
        ("employer", IdentifierReason::Name),
        ("email", IdentifierReason::Email),
        ("mail", IdentifierReason::Email),
        ("phone", IdentifierReason::Phone),
        ("telephone", IdentifierReason::Phone),
        ("mobile", IdentifierReason::Phone),
        ("address", IdentifierReason::Address),
        ("street", IdentifierReason::Address),
    ];
    if let Some((_, reason)) = CHINESE.iter().find(|(word, _)| name.contains(word)) {
        return Some(*reason);
    }
    let words = words(name);
    ENGLISH
        .iter()
        .find(|(word, _)| words.iter().any(|found| found == word))
        .map(|(_, reason)| *reason)
}

/// `givenName`, `given_name` and `GIVEN NAME` as words in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = letter.is_lowercase();
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_identifiers_are_known() {
        assert!(is_email("wanwei@gmail.com") && !is_email("a@b") && !is_email("@b.c"));
        assert!(is_national_id("420117201504306743") || !is_national_id("420117201504306744"));
        assert!(is_national_id("123-45-6789") && !is_national_id("2019-03-31"));
        assert!(is_mobile("18186156498") && !is_mobile("12345"));
        assert!(
            is_phone("082 490 1693") && is_phone("+49 30 1234567") && !is_phone("12.5") && !is_phone("77516")
        );
        assert!(is_key("123e4567-e89b-12d3-a456-426614174000") && is_key("192.168.0.1") && !is_key("1.5"));
        assert_eq!(words("EmailAddress"), ["email", "address"]);
        assert_eq!(by_name("first_name"), Some(IdentifierReason::Name));
        assert_eq!(by_name("身份证号"), Some(IdentifierReason::NationalId));
        assert_eq!(by_name("hours_per_week"), None);
    }
}
