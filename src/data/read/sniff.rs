//! What a file is, from its first bytes.

use std::path::Path;

use super::scan::count_lines;
use super::text_form::{encoding_of, is_text_with_nuls};
use super::typed::Typed;
use crate::data::DataError;

/// How much of a file is looked at.
pub(super) const HEAD_BYTES: usize = 1 << 16;

/// The forms that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Typed(Typed),
    Sqlite,
    /// An archive, which may be a workbook.
    Zip,
    Text,
}

/// Tells tables from everything else, by content.
pub(super) fn recognise(path: &Path, head: &[u8]) -> Result<Form, DataError> {
    const TABLES: [(&[u8], Form); 5] = [
        (b"PAR1", Form::Typed(Typed::Parquet)),
        (b"ARROW1", Form::Typed(Typed::ArrowFile)),
        // The mark of a stream's first message.
        (b"\xff\xff\xff\xff", Form::Typed(Typed::ArrowStream)),
        (b"SQLite format 3\0", Form::Sqlite),
        (b"PK\x03\x04", Form::Zip),
    ];
    const MAGICS: [(&[u8], &str, &str, &str); 6] = [
        (
            b"\xd0\xcf\x11\xe0",
            "not-a-table-office",
            "an old spreadsheet or document, or one with a password",
            "save the sheet as .xlsx without a password, or as CSV",
        ),
        (
            b"\x1f\x8b",
            "not-a-table-packed-twice",
            "an archive within an archive",
            "unpack it",
        ),
        (
            b"\x28\xb5\x2f\xfd",
            "not-a-table-packed-twice",
            "an archive within an archive",
            "unpack it",
        ),
        (
            b"%PDF",
            "not-a-table-pdf",
            "a PDF document",
            "choose a CSV or Parquet file",
        ),
        (
            b"\x89PNG",
            "not-a-table-picture",
            "a picture",
            "choose a CSV or Parquet file",
        ),
        (
            b"FEA1",
            "not-a-table-feather",
            "a Feather file of the first version",
            "save it as Arrow (Feather 2), Parquet or CSV",
        ),
    ];
    let not_a_table = |key, found, remedy| {
        Err(DataError::NotATable {
            path: path.to_owned(),
            key,
            found,
            remedy,
        })
    };
    if let Some((_, form)) = TABLES.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Ok(*form);
    }
    let is_mark_only = matches!(head, b"\xef\xbb\xbf" | b"\xff\xfe" | b"\xfe\xff");
    if head.trim_ascii().is_empty() || is_mark_only {
        return Err(DataError::Empty {
            path: path.to_owned(),
        });
    }
    if let Some((_, key, found, remedy)) = MAGICS.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return not_a_table(key, found, remedy);
    }
    if let Some(nul) = memchr::memchr(0, head)
        && encoding_of(head, head.len() < HEAD_BYTES).is_none()
    {
        if is_text_with_nuls(head) {
            return Err(DataError::NulInText {
                path: path.to_owned(),
                line: count_lines(&head[..nul]) + 1,
            });
        }
        return not_a_table(
            "not-a-table-binary",
            "a binary file",
            "choose a CSV or Parquet file",
        );
    }
    if path
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("parquet"))
    {
        return not_a_table(
            "not-a-table-parquet",
            "no Parquet file although its name says so",
            "get a fresh copy, or rename it to .csv if it is text",
        );
    }
    Ok(Form::Text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_counts_not_the_ending() {
        let csv = Path::new("t.csv");
        assert_eq!(recognise(csv, b"PAR1....").unwrap(), Form::Typed(Typed::Parquet));
        assert_eq!(recognise(csv, b"SQLite format 3\0\x10").unwrap(), Form::Sqlite);
        assert_eq!(recognise(csv, b"PK\x03\x04...").unwrap(), Form::Zip);
        assert_eq!(recognise(csv, b"a,b\n").unwrap(), Form::Text);
        assert_eq!(recognise(csv, b"\xff\xfea\x00,\x00").unwrap(), Form::Text);
        for (head, word) in [
            (&b""[..], "empty"),
            (b" \n\n", "empty"),
            (b"\xff\xfe", "empty"),
            (b"ab\x00\x01", "binary"),
            (b"a,b\n1,2\n3,\x00\n", "line 3"),
        ] {
            let error = recognise(csv, head).unwrap_err().to_string();
            assert!(error.contains(word) && error.contains("t.csv"), "{error}");
        }
        assert!(recognise(Path::new("t.parquet"), b"a,b\n").is_err());
    }
}
