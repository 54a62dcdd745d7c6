//! How a file is read: what its bytes mean before they are rows. Part of the schema, so that a run repeats.

use std::fmt;
use std::path::Path;

use encoding_rs::Encoding;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::data::schema::Provenance;
use crate::message;
use crate::num::Message;

/// How the bytes of a file become rows. What is absent is found in the file.
///
/// Parquet and Arrow files say all of it themselves; a spreadsheet has sheets, a database tables, and text all the
/// rest. What numbers and dates look like belongs to their columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileForm {
    /// The encoding of a text file, by its usual name (`utf-8`, `gb18030`, `utf-16le`, `windows-1252`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<TextEncoding>,
    /// What stands between the fields of a text file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<Mark>,
    /// What stands around fields that contain delimiters or line ends. [`Mark::NONE`]: nothing does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quote: Option<Mark>,
    /// What stands before a quote within quotes, when that is not doubled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub escape: Option<Mark>,
    /// What begins a line that is no row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<Mark>,
    /// The sheet of a spreadsheet. Absent: the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sheet: Option<String>,
    /// The table of a database. Absent: the only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// Where this comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
}

impl FileForm {
    /// What a text file is like if nobody says more: UTF-8, commas (tabs in a `.tsv`), double quotes, no comments.
    pub fn ordinary(path: &Path) -> Self {
        let is_tabbed = path
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("tsv"));
        Self {
            encoding: Some(TextEncoding::UTF_8),
            delimiter: Some(Mark::of(if is_tabbed { b'\t' } else { b',' })),
            quote: Some(Mark::of(b'"')),
            escape: Some(Mark::NONE),
            comment: Some(Mark::NONE),
            ..Self::default()
        }
    }

    /// This, and where it says nothing, the other. What comes from both is vouched for by the weaker.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let provenance = match (self.is_empty(), other.is_empty()) {
            (_, true) => self.provenance,
            (true, false) => other.provenance,
            (false, false) => weaker(self.provenance, other.provenance),
        };
        Self {
            encoding: self.encoding.or(other.encoding),
            delimiter: self.delimiter.or(other.delimiter),
            quote: self.quote.or(other.quote),
            escape: self.escape.or(other.escape),
            comment: self.comment.or(other.comment),
            sheet: self.sheet.clone().or_else(|| other.sheet.clone()),
            table: self.table.clone().or_else(|| other.table.clone()),
            provenance,
        }
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        *self
            == Self {
                provenance: self.provenance,
                ..Self::default()
            }
    }

    /// What is said here and not, or otherwise, there.
    #[must_use]
    pub fn beyond(&self, known: &Self) -> Self {
        fn beyond<T: Clone + PartialEq>(said: Option<&T>, known: Option<&T>) -> Option<T> {
            said.filter(|said| known != Some(*said)).cloned()
        }
        Self {
            encoding: beyond(self.encoding.as_ref(), known.encoding.as_ref()),
            delimiter: beyond(self.delimiter.as_ref(), known.delimiter.as_ref()),
            quote: beyond(self.quote.as_ref(), known.quote.as_ref()),
            escape: beyond(self.escape.as_ref(), known.escape.as_ref()),
            comment: beyond(self.comment.as_ref(), known.comment.as_ref()),
            sheet: beyond(self.sheet.as_ref(), known.sheet.as_ref()),
            table: beyond(self.table.as_ref(), known.table.as_ref()),
            provenance: None,
        }
    }

    /// What a schema should keep of the form that a file was read by: what was said of it, and what was found and is
    /// not as usual. `None` if that is nothing.
    pub fn to_keep(&self, said: &Self, path: &Path) -> Option<Self> {
        let kept = if self.provenance == Some(Provenance::Suggested) {
            Self {
                provenance: self.provenance,
                ..said.or(&self.beyond(&Self::ordinary(path)))
            }
        } else {
            said.clone()
        };
        (!kept.is_empty()).then_some(kept)
    }

    /// The contradictions within it, each with the key at fault.
    pub fn problems(&self) -> Vec<(&'static str, Message)> {
        let mut found = Vec::new();
        if self.delimiter == Some(Mark::NONE) {
            found.push((
                "delimiter",
                message!(
                    "form-no-delimiter",
                    "a delimiter is one character, here it is none"
                ),
            ));
        }
        let marks = [
            ("delimiter", self.delimiter),
            ("quote", self.quote),
            ("escape", self.escape),
            ("comment", self.comment),
        ];
        for (place, (key, mark)) in marks.iter().enumerate() {
            let Some(byte) = mark.and_then(Mark::byte) else {
                continue;
            };
            let twin = marks[..place]
                .iter()
                .find(|(_, other)| other.and_then(Mark::byte) == Some(byte));
            if let Some((other, _)) = twin {
                found.push((
                    *key,
                    message!(
                        "form-same-mark",
                        "{key} and {other} are the same character; give each its own",
                        key = key,
                        other = other
                    ),
                ));
            }
            if matches!(byte, b'\n' | b'\r' | b' ') || byte.is_ascii_alphanumeric() {
                found.push((
                    *key,
                    message!(
                        "form-bad-mark",
                        "{key} cannot be a letter, a digit, a space or a line end",
                        key = key
                    ),
                ));
            }
        }
        found
    }
}

/// The provenance that says less: nobody's, a suggestion, an accepted one, what was bought, what was declared.
fn weaker(one: Option<Provenance>, other: Option<Provenance>) -> Option<Provenance> {
    let strength = |provenance: &Option<Provenance>| match provenance {
        None => 0,
        Some(Provenance::Suggested) => 1,
        Some(Provenance::Accepted) => 2,
        Some(Provenance::Bought) => 3,
        Some(Provenance::Declared) => 4,
    };
    [one, other].into_iter().min_by_key(strength).flatten()
}

/// An encoding of text, by the WHATWG's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextEncoding(&'static Encoding);

impl TextEncoding {
    /// UTF-8, with or without a byte order mark.
    pub const UTF_8: Self = Self(encoding_rs::UTF_8);
    /// The encodings that a form offers; any other of the WHATWG's may be named.
    pub const OFFERED: [Self; 11] = [
        Self(encoding_rs::UTF_8),
        Self(encoding_rs::UTF_16LE),
        Self(encoding_rs::UTF_16BE),
        Self(encoding_rs::GB18030),
        Self(encoding_rs::BIG5),
        Self(encoding_rs::SHIFT_JIS),
        Self(encoding_rs::EUC_JP),
        Self(encoding_rs::EUC_KR),
        Self(encoding_rs::WINDOWS_1250),
        Self(encoding_rs::WINDOWS_1251),
        Self(encoding_rs::WINDOWS_1252),
    ];

    pub(super) const UTF_16LE: Self = Self(encoding_rs::UTF_16LE);
    pub(super) const UTF_16BE: Self = Self(encoding_rs::UTF_16BE);

    /// The encoding of that name or alias (`gbk` is read as GB18030, which holds it).
    pub fn named(name: &str) -> Option<Self> {
        Encoding::for_label_no_replacement(name.as_bytes()).map(Self::from)
    }

    /// Its name in lower case.
    pub fn name(self) -> String {
        self.0.name().to_ascii_lowercase()
    }

    pub(super) const fn get(self) -> &'static Encoding {
        self.0
    }
}

impl From<&'static Encoding> for TextEncoding {
    fn from(encoding: &'static Encoding) -> Self {
        // GB 18030 holds all of GBK, and more.
        Self(if encoding == encoding_rs::GBK {
            encoding_rs::GB18030
        } else {
            encoding
        })
    }
}

impl fmt::Display for TextEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

impl std::str::FromStr for TextEncoding {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::named(text).ok_or_else(|| {
            format!("`{text}` is no encoding that is known here; try utf-8, utf-16le, gb18030, big5 or windows-1252")
        })
    }
}

impl Serialize for TextEncoding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

impl<'de> Deserialize<'de> for TextEncoding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

/// A character that has a meaning in a text file, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark(Option<u8>);

impl Mark {
    /// No character has this meaning.
    pub const NONE: Self = Self(None);

    /// This one has; it must be ASCII.
    pub const fn of(byte: u8) -> Self {
        Self(Some(byte))
    }

    /// The character.
    pub const fn byte(self) -> Option<u8> {
        self.0
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => Ok(()),
            Some(byte) => write!(f, "{}", char::from(byte)),
        }
    }
}

impl std::str::FromStr for Mark {
    type Err = String;

    /// One ASCII character, `\t` or `tab`, or nothing.
    fn from_str(text: &str) -> Result<Self, String> {
        match text.as_bytes() {
            [] => Ok(Self::NONE),
            [byte] if byte.is_ascii() => Ok(Self::of(*byte)),
            b"\\t" | b"tab" => Ok(Self::of(b'\t')),
            _ => Err(format!(
                "`{text}` is not one ASCII character (or `tab`, or nothing)"
            )),
        }
    }
}

impl Serialize for Mark {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Mark {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_survives_its_file_and_names_its_faults() {
        let text = "encoding = \"GBK\"\ndelimiter = \"\\t\"\nquote = \"\"\nprovenance = \"declared\"\n";
        let form: FileForm = toml::from_str(text).unwrap();
        assert_eq!(form.encoding, TextEncoding::named("gb18030"));
        assert_eq!(
            (form.delimiter, form.quote),
            (Some(Mark::of(b'\t')), Some(Mark::NONE))
        );
        assert_eq!(
            toml::from_str::<FileForm>(&toml::to_string(&form).unwrap()).unwrap(),
            form
        );
        assert!(form.problems().is_empty());
        for wrong in [
            "encoding = \"klingon\"",
            "delimiter = \"ab\"",
            "quote = \"。\"",
            "delimeter = \",\"",
        ] {
            assert!(toml::from_str::<FileForm>(wrong).is_err(), "{wrong}");
        }
        for (wrong, key) in [
            ("delimiter = \"\"", "delimiter"),
            ("delimiter = \"a\"", "delimiter"),
            ("delimiter = \"#\"\ncomment = \"#\"", "comment"),
        ] {
            let form: FileForm = toml::from_str(wrong).unwrap();
            assert_eq!(form.problems()[0].0, key, "{wrong}");
        }
    }

    #[test]
    fn what_is_said_wins_and_what_is_ordinary_need_not_be_said() {
        let ordinary = FileForm::ordinary(Path::new("t.TSV"));
        assert_eq!(ordinary.delimiter, Some(Mark::of(b'\t')));
        let said = FileForm {
            delimiter: Some(Mark::of(b';')),
            ..FileForm::default()
        };
        let all = said.or(&ordinary);
        assert_eq!(all.delimiter, said.delimiter);
        assert_eq!(all.encoding, Some(TextEncoding::UTF_8));
        assert_eq!(all.beyond(&ordinary), said);
        assert!(ordinary.beyond(&ordinary).is_empty());
    }
}
