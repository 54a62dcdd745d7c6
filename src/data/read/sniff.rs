//! What a file is, from its first bytes.

use std::path::Path;

use crate::data::DataError;
use crate::message;

/// How much of a file is looked at.
pub(super) const HEAD_BYTES: usize = 1 << 16;
/// How many records the delimiter is judged by.
const RECORDS: usize = 200;
/// Usual delimiters, then rarer ones.
const DELIMITERS: [u8; 12] = [
    b',', b';', b'\t', b'|', b':', b'^', b'~', b'#', b'!', b'&', 0x1f, 0x01,
];

/// The two forms that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Parquet,
    Text,
}

/// Tells Parquet and text from everything else, by content.
pub(super) fn recognise(path: &Path, head: &[u8]) -> Result<Form, DataError> {
    const MAGICS: [(&[u8], &str, &str, &str); 8] = [
        (
            b"PK\x03\x04",
            "not-a-table-zip",
            "a zip archive or spreadsheet",
            "export the sheet as CSV, or unpack it",
        ),
        (
            b"\xd0\xcf\x11\xe0",
            "not-a-table-office",
            "an old spreadsheet or document",
            "export the sheet as CSV",
        ),
        (b"\x1f\x8b", "not-a-table-gzip", "a gzip archive", "unpack it"),
        (
            b"\x28\xb5\x2f\xfd",
            "not-a-table-zstd",
            "a zstd archive",
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
            b"SQLite format 3",
            "not-a-table-sqlite",
            "an SQLite database",
            "export one of its tables as CSV",
        ),
        (
            b"ARROW1",
            "not-a-table-arrow",
            "an Arrow file",
            "save it as Parquet or CSV",
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
    if head.starts_with(b"PAR1") {
        return Ok(Form::Parquet);
    }
    if head.trim_ascii().is_empty() || head == b"\xef\xbb\xbf" {
        return Err(DataError::Empty {
            path: path.to_owned(),
        });
    }
    if let Some((_, key, found, remedy)) = MAGICS.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return not_a_table(key, found, remedy);
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Err(DataError::NotUtf8 {
            path: path.to_owned(),
            place: message!("place-utf16", "the file (it is UTF-16)"),
        });
    }
    if head.contains(&0) {
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

/// The delimiter under which most records have as many fields as the header, more than one; the usual one wins
/// a tie.
pub(super) fn detect_delimiter(head: &[u8]) -> u8 {
    // The last line may be cut off.
    let head = match head.iter().rposition(|&byte| byte == b'\n') {
        Some(end) if head.len() == HEAD_BYTES => &head[..=end],
        _ => head,
    };
    let mut best = (b',', 0.0);
    for delimiter in DELIMITERS {
        let score = agreement(head, delimiter);
        if score > best.1 + 1e-9 {
            best = (delimiter, score);
        }
    }
    best.0
}

/// The share of records with as many fields as the header (more than one), a little more for wider tables.
fn agreement(head: &[u8], delimiter: u8) -> f64 {
    let mut reader = ::csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(head);
    let mut record = ::csv::ByteRecord::new();
    let mut width = 0;
    let (mut equal, mut all) = (0_u32, 0_u32);
    while (all as usize) < RECORDS && reader.read_byte_record(&mut record).unwrap_or(false) {
        if all == 0 {
            width = record.len();
            if width < 2 {
                return 0.0;
            }
        }
        all += 1;
        equal += u32::from(record.len() == width);
    }
    if all == 0 {
        0.0
    } else {
        f64::from(equal) / f64::from(all) * (1.0 + 0.002 * (width.min(50) as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_found() {
        for (text, delimiter) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2,5\n3,5;4,5\n", b';'),
            ("a\tb c\n1\t2 3\n", b'\t'),
            ("a|b|c\n1|2|3\n", b'|'),
            ("name^time\nx^10:30\ny^11:30\n", b'^'),
            ("\"a;b\",c\n\"1;2\",3\n", b','),
            ("only\n1\n2\n", b','),
            ("a,b,c\n1,2,3\n1,2\n1,2,3\n", b','),
        ] {
            assert_eq!(
                detect_delimiter(text.as_bytes()) as char,
                delimiter as char,
                "{text}"
            );
        }
    }

    #[test]
    fn content_counts_not_the_ending() {
        let csv = Path::new("t.csv");
        assert_eq!(recognise(csv, b"PAR1....").unwrap(), Form::Parquet);
        assert_eq!(recognise(csv, b"a,b\n").unwrap(), Form::Text);
        for (head, word) in [
            (&b""[..], "empty"),
            (b" \n\n", "empty"),
            (b"PK\x03\x04...", "zip"),
            (b"ab\x00\x01", "binary"),
            (b"\xff\xfea\x00", "UTF-16"),
        ] {
            let error = recognise(csv, head).unwrap_err().to_string();
            assert!(error.contains(word) && error.contains("t.csv"), "{error}");
        }
        assert!(recognise(Path::new("t.parquet"), b"a,b\n").is_err());
    }
}
