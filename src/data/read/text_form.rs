//! What a text file is like, from its first bytes: encoding, delimiter, quotes, comment lines.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

use super::form::{FileForm, Mark, TextEncoding};
use super::scan::{Marks, Records, Scanner, Stop};

/// How many records the delimiter is judged by.
const RECORDS: usize = 200;
/// Usual delimiters, then rarer ones.
const DELIMITERS: [u8; 12] = [
    b',', b';', b'\t', b'|', b':', b'^', b'~', b'#', b'!', b'&', 0x1f, 0x01,
];

/// The encoding, if these bytes are text. `is_whole` says that nothing comes after them.
pub(super) fn encoding_of(bytes: &[u8], is_whole: bool) -> Option<TextEncoding> {
    if let Some((encoding, _)) = encoding_rs::Encoding::for_bom(bytes) {
        return Some(encoding.into());
    }
    if bytes.contains(&0) {
        return wide(bytes);
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => Some(TextEncoding::UTF_8),
        // The last character may be cut off.
        Err(error) if !is_whole && error.error_len().is_none() => Some(TextEncoding::UTF_8),
        Err(_) => guess_encoding(bytes, is_whole),
    }
}

/// Whether bytes are text but for zeros among them: a damaged file, or UTF-16 of Latin letters.
pub(super) fn is_text_with_nuls(bytes: &[u8]) -> bool {
    let rest: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
    let text = match std::str::from_utf8(&rest) {
        Ok(text) => text,
        // The last character may be cut off.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&rest[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !text.contains(|letter: char| letter.is_control() && !letter.is_whitespace())
}

/// UTF-16 without a mark: the high bytes of Latin letters, digits and delimiters are zero.
fn wide(bytes: &[u8]) -> Option<TextEncoding> {
    let zeros = |offset| {
        bytes
            .iter()
            .skip(offset)
            .step_by(2)
            .filter(|byte| **byte == 0)
            .count()
    };
    let (even, odd) = (zeros(0), zeros(1));
    let encoding = if odd > even {
        TextEncoding::UTF_16LE
    } else {
        TextEncoding::UTF_16BE
    };
    let most = even.max(odd);
    // Letters of other scripts have high bytes of their own, so that a zero in twenty bytes is enough; but where all
    // bytes between the zeros are text by themselves, nearly every second one must be zero.
    let least = if is_text_with_nuls(bytes) {
        bytes.len() * 9 / 20
    } else {
        bytes.len() / 20
    };
    let is_clear = most >= 4 && most > least && even.min(odd) * 20 <= most;
    let whole = &bytes[..bytes.len() - bytes.len() % 2];
    let (text, has_faults) = encoding.get().decode_without_bom_handling(whole);
    // Bytes of another kind decode to characters, too, but hardly to lines of them.
    let is_text = !has_faults
        && text.contains(['\n', '\r'])
        && !text.contains(|letter: char| letter.is_control() && !letter.is_whitespace());
    (is_clear && is_text).then_some(encoding)
}

/// The likeliest encoding of bytes that are no UTF-8, if they are whole text in it.
pub(super) fn guess_encoding(bytes: &[u8], is_whole: bool) -> Option<TextEncoding> {
    let guessed = guess(bytes, is_whole)?;
    // Its last character may be cut off all the same, which a file of single bytes never looks like.
    let cut = (is_whole && guessed.get().is_single_byte())
        .then(|| guess(bytes, false))
        .flatten()
        .filter(|open| !open.get().is_single_byte() && has_many_letters(*open, bytes));
    Some(cut.unwrap_or(guessed))
}

/// Whether the text has characters of several bytes in number: a single one may be two accents.
fn has_many_letters(encoding: TextEncoding, bytes: &[u8]) -> bool {
    let mut decoder = encoding.get().new_decoder_without_bom_handling();
    let Some(most) = decoder.max_utf8_buffer_length(bytes.len()) else {
        return false;
    };
    let mut text = String::with_capacity(most);
    let _ = decoder.decode_to_string(bytes, &mut text, false);
    text.chars().filter(|letter| !letter.is_ascii()).count() >= 4
}

fn guess(bytes: &[u8], is_whole: bool) -> Option<TextEncoding> {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, is_whole);
    let guessed = TextEncoding::from(detector.guess(None, Utf8Detection::Deny));
    let mut decoder = guessed.get().new_decoder_without_bom_handling();
    let mut text = String::with_capacity(decoder.max_utf8_buffer_length(bytes.len())?);
    let (result, _) = decoder.decode_to_string_without_replacement(bytes, &mut text, is_whole);
    (result == encoding_rs::DecoderResult::InputEmpty).then_some(guessed)
}

/// What a text file is like, where `said` leaves it open. `text` is its beginning as UTF-8.
pub(super) fn detect(text: &[u8], is_whole: bool, said: &FileForm) -> FileForm {
    // The last line may be cut off.
    let text = match text.iter().rposition(|&byte| byte == b'\n') {
        Some(end) if !is_whole => &text[..=end],
        _ => text,
    };
    let quote = said.quote.unwrap_or_else(|| {
        if is_single_quoted(text) {
            Mark::of(b'\'')
        } else {
            Mark::of(b'"')
        }
    });
    let mut marks = Marks {
        delimiter: b',',
        quote: quote.byte(),
        escape: said.escape.and_then(Mark::byte),
        comment: said.comment.and_then(Mark::byte),
    };
    if said.comment.is_none() && text.starts_with(b"#") {
        marks.comment = Some(b'#');
        // A header may begin with that character, too.
        let without = best_delimiter(text, marks, said);
        let with = best_delimiter(
            text,
            Marks {
                comment: None,
                ..marks
            },
            said,
        );
        if with.1 >= without.1 {
            marks.comment = None;
        }
    }
    marks.delimiter = best_delimiter(text, marks, said).0;
    if said.escape.is_none() && has_escapes(text, marks) {
        let escaped = Marks {
            escape: Some(b'\\'),
            ..marks
        };
        if agreement(text, escaped) >= agreement(text, marks) {
            marks = escaped;
        }
    }
    let mark = |byte: Option<u8>| Some(byte.map_or(Mark::NONE, Mark::of));
    FileForm {
        delimiter: Some(Mark::of(marks.delimiter)),
        quote: mark(marks.quote),
        escape: mark(marks.escape),
        comment: mark(marks.comment),
        ..FileForm::default()
    }
}

/// The delimiter under which most records have as many fields as the header, more than one, with that agreement; the
/// usual one wins a tie.
fn best_delimiter(text: &[u8], marks: Marks, said: &FileForm) -> (u8, f64) {
    if let Some(delimiter) = said.delimiter.and_then(Mark::byte) {
        return (delimiter, agreement(text, Marks { delimiter, ..marks }));
    }
    let mut best = (b',', 0.0);
    for delimiter in DELIMITERS {
        if Some(delimiter) == marks.comment {
            continue;
        }
        let score = agreement(text, Marks { delimiter, ..marks });
        if score > best.1 + 1e-9 {
            best = (delimiter, score);
        }
    }
    best
}

/// The share of records with as many fields as the header (more than one), a little more for wider tables.
fn agreement(text: &[u8], marks: Marks) -> f64 {
    let mut records = Records::default();
    let mut scanner = Scanner::new(marks, text, true);
    let mut width = 0;
    let (mut equal, mut all) = (0_u32, 0_u32);
    while (all as usize) < RECORDS {
        records.clear();
        if scanner.scan(None, usize::MAX, &mut records) != Stop::Done || records.len() == 0 {
            break;
        }
        let found = records.first(text).len();
        if all == 0 {
            width = found;
            if width < 2 {
                return 0.0;
            }
        }
        all += 1;
        equal += u32::from(found == width);
    }
    if all == 0 {
        0.0
    } else {
        f64::from(equal) / f64::from(all) * (1.0 + 0.002 * (width.min(50) as f64))
    }
}

/// Whether quotes are single ones: there is no double one, and most words stand within them.
fn is_single_quoted(text: &[u8]) -> bool {
    if !text.contains(&b'\'') || text.contains(&b'"') {
        return false;
    }
    let (mut within, mut words) = (0, 0);
    for field in text.split(|byte| matches!(byte, b',' | b';' | b'\t' | b'|' | b'\n' | b'\r')) {
        let field = field.trim_ascii();
        if field.iter().any(u8::is_ascii_alphabetic) {
            words += 1;
            within += usize::from(field.len() > 1 && field.starts_with(b"'") && field.ends_with(b"'"));
        }
    }
    within > 0 && 2 * within >= words
}

/// Whether a quote stands behind a backslash where no field can end.
fn has_escapes(text: &[u8], marks: Marks) -> bool {
    let Some(quote) = marks.quote else { return false };
    text.windows(3).any(|three| {
        three[0] == b'\\'
            && three[1] == quote
            && three[2] != marks.delimiter
            && !matches!(three[2], b'\n' | b'\r' | b' ')
            && three[2] != quote
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> FileForm {
        detect(text.as_bytes(), true, &FileForm::default())
    }

    #[test]
    fn a_file_that_is_cut_within_its_last_character_is_found_all_the_same() {
        let encoding = encoding_rs::GB18030;
        let (bytes, ..) = encoding.encode("姓名,城市\n张三,北京市\n李四,上海市\n王五,广州市");
        for end in [bytes.len(), bytes.len() - 1] {
            let found = guess_encoding(&bytes[..end], true).map(|found| found.get().name());
            assert!(matches!(found, Some("gb18030" | "GBK")), "{end}: {found:?}");
        }
        let (bytes, ..) = encoding_rs::WINDOWS_1252.encode("name;ville\nRen\u{e9};Orl\u{e9}ans\nZo\u{e9}");
        let found = guess_encoding(&bytes, true).map(|found| found.get().name());
        assert_eq!(found, Some("windows-1252"));
    }

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
            assert_eq!(found(text).delimiter, Some(Mark::of(delimiter)), "{text}");
        }
    }

    #[test]
    fn quotes_escapes_and_comments_are_found() {
        let usual = found("# no comment,b\n1,2\n");
        assert_eq!(
            (usual.comment, usual.quote),
            (Some(Mark::NONE), Some(Mark::of(b'"')))
        );
        let remarks = found("# made by hand, 2019\n# twice\na;b\n1;2\n#x\n3;4\n");
        assert_eq!(remarks.comment, Some(Mark::of(b'#')));
        assert_eq!(remarks.delimiter, Some(Mark::of(b';')));
        let single = found("'a','b'\n1,'x,y'\n");
        assert_eq!(single.quote, Some(Mark::of(b'\'')));
        let apostrophe = found("a,b\nit's,John's\n");
        assert_eq!(apostrophe.quote, Some(Mark::of(b'"')));
        let escaped = found("a,b\n\"x \\\"y\\\", z\",1\n");
        assert_eq!(escaped.escape, Some(Mark::of(b'\\')));
        assert_eq!(found("a,b\n\"C:\\\",1\n").escape, Some(Mark::NONE), "a path");
    }

    #[test]
    fn encodings_are_found() {
        let text = "姓名,年龄,备注\n王小明,34,门诊病人\n李雷,45,住院病人\n";
        let (bytes, _, _) = encoding_rs::GB18030.encode(text);
        assert_eq!(encoding_of(&bytes, true).unwrap().name(), "gb18030");
        let traditional = "姓名,年齡,備註\n王小明,34,門診病人與藥品\n李雷,45,住院病人觀察記錄\n";
        let (bytes, _, _) = encoding_rs::BIG5.encode(traditional);
        assert_eq!(encoding_of(&bytes, true).unwrap().name(), "big5");
        let wide: Vec<u16> = "age,name\n1,x\n".encode_utf16().collect();
        let little: Vec<u8> = wide.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = wide.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        assert_eq!(encoding_of(&little, true), Some(TextEncoding::UTF_16LE));
        assert_eq!(encoding_of(&big, true), Some(TextEncoding::UTF_16BE));
        assert_eq!(encoding_of(b"\xff\xfea\0", true), Some(TextEncoding::UTF_16LE));
        assert_eq!(
            encoding_of("Größe,Übung\n1,2\n".as_bytes(), true),
            Some(TextEncoding::UTF_8)
        );
        assert_eq!(
            encoding_of("Grö".as_bytes().split_last().unwrap().1, false),
            Some(TextEncoding::UTF_8)
        );
        let latin = encoding_of(b"Gr\xf6\xdfe,\xdcbung und Fl\xe4che\n1,2\n", true).unwrap();
        assert_eq!(latin.name(), "windows-1252");
        assert_eq!(encoding_of(b"ab\0\x01\x02\0\0\0", true), None);
        // Without a mark, and hardly a Latin letter.
        let wide: Vec<u16> = text.encode_utf16().collect();
        let little: Vec<u8> = wide.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        assert_eq!(encoding_of(&little, true), Some(TextEncoding::UTF_16LE));
    }

    #[test]
    fn ascii_with_nuls_is_not_wide() {
        // Fields of fixed width that their program filled with zeros; a zero before each line, always at an odd place.
        for line in [
            &b"ab,1\0\0\0,x\0\n"[..],
            b"abcdefgh,1234567\n\0",
            b"xy,\x0012345678,\0\n",
        ] {
            let text = line.repeat(40);
            assert_eq!(
                encoding_of(&text, true),
                None,
                "{:?}",
                String::from_utf8_lossy(&text)
            );
            assert!(is_text_with_nuls(&text));
        }
        assert!(!is_text_with_nuls(b"\0\x01\x02"));
    }
}
