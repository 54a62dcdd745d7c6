//! Delimited text, read once from start to end.

use std::fs::File;
use std::io::{Seek as _, SeekFrom};
use std::path::Path;

use arrow::array::ArrayRef;

use super::blocks::{self, Failure, Layout};
use super::form::{FileForm, Mark, TextEncoding};
use super::scan::{Marks, Records, Scanner, Stop, count_lines};
use super::sniff::HEAD_BYTES;
use super::source::{Packing, Source};
use super::{ReadOptions, text_form};
use crate::data::schema::Provenance;
use crate::data::table::{Origin, Shelver, TableSource};
use crate::data::value::{file_name, trimmed};
use crate::data::{DataError, Table};
use crate::message;
use crate::num::progress::Progress;

/// Bytes for which another thread is worth starting.
const SHARE: u64 = 1 << 20;

/// A file and what is known of its bytes.
struct Input<'a> {
    path: &'a Path,
    file: &'a File,
    packing: Packing,
    options: &'a ReadOptions,
    progress: &'a Progress,
}

/// Reads the whole file; `head` is its beginning, unpacked.
pub(super) fn read(
    path: &Path,
    file: &File,
    packing: Packing,
    head: &[u8],
    options: &ReadOptions,
    progress: &Progress,
) -> Result<Table, DataError> {
    let said = &options.form;
    let is_whole = head.len() < HEAD_BYTES;
    let encoding = said.encoding.or_else(|| text_form::encoding_of(head, is_whole));
    let form = FileForm {
        encoding: Some(encoding.unwrap_or(TextEncoding::UTF_8)),
        ..said.clone()
    };
    let input = Input {
        path,
        file,
        packing,
        options,
        progress,
    };
    match input.read(head, form.clone()) {
        Err(Failure::NotUtf8 { error, sample }) if said.encoding.is_none() => {
            // The file begins like UTF-8 and goes on in another encoding.
            let line = sample
                .iter()
                .position(|byte| *byte == b'\n')
                .map_or(0, |place| place + 1);
            let guess = text_form::guess_encoding(&sample[line..], false)
                .or_else(|| text_form::guess_encoding(&sample, false));
            let Some(encoding) = guess else { return Err(error) };
            let form = FileForm {
                encoding: Some(encoding),
                ..form
            };
            input.read(head, form).map_err(|second| match second {
                Failure::Told(DataError::Cancelled) => DataError::Cancelled,
                _ => error,
            })
        }
        Err(Failure::NotUtf8 { error, .. } | Failure::Told(error)) => Err(error),
        // It was read uncut before that could be said.
        Err(Failure::Uncut) => Err(blocks::too_long(path, 1)),
        Ok(table) => Ok(table),
    }
}

impl Input<'_> {
    /// Reads the file by an encoding and what else is said of its form; the rest is found.
    fn read(&self, head: &[u8], said: FileForm) -> Result<Table, Failure> {
        let encoding = said.encoding.unwrap_or(TextEncoding::UTF_8);
        let (text, _) = encoding.get().decode_with_bom_removal(head);
        let is_whole = head.len() < HEAD_BYTES;
        let found = text_form::detect(text.as_bytes(), is_whole, &said);
        let ordinary = FileForm::ordinary(self.path);
        let mut form = said.or(&found).or(&ordinary);
        // What was found and is not as usual was read off private rows.
        let own = &self.options.form;
        let is_found = !form.beyond(&own.or(&ordinary)).is_empty();
        form.provenance = if is_found {
            Some(Provenance::Suggested)
        } else {
            own.provenance
        };
        match self.read_blocks(&form, false) {
            Err(Failure::Uncut) => self.read_blocks(&form, true),
            other => other,
        }
    }

    fn read_blocks(&self, form: &FileForm, is_uncut: bool) -> Result<Table, Failure> {
        let path = self.path;
        let marks = marks_of(form);
        let mut source = self.source(form)?;
        let (head, names, at) = read_header(path, &mut source, marks)?;
        let layout = Layout {
            path,
            marks,
            names: &names,
            missing: &self.options.missing,
            threads: self.threads(),
            round: self.options.room.round() as usize,
        };
        let mut shelver = Shelver::new(&self.options.room);
        let mut shelve = |columns: Vec<ArrayRef>| shelver.push(columns);
        // Only quotes can be counted before a record is followed, not what escapes them.
        let read = if is_uncut || marks.escape.is_some() {
            blocks::read_uncut
        } else {
            blocks::read
        };
        let rows = read(&mut source, (&head, at), &layout, self.progress, &mut shelve)?;
        self.progress.check().map_err(DataError::from)?;
        if rows == 0 {
            return Err(Failure::Told(DataError::NoRows {
                path: path.to_owned(),
            }));
        }
        let (digest, bytes) = source.finish();
        let origin = Origin {
            name: file_name(path).into_owned(),
            path: Some(path.to_owned()),
            source: TableSource::Csv,
            form: form.clone(),
            digest: Some(digest),
            bytes,
        };
        let shelved = shelver.finish(names.iter().map(String::as_str));
        let shelved = shelved.map_err(|error| DataError::CorruptFile {
            path: path.to_owned(),
            kind: "text",
            reason: error.to_string(),
        })?;
        Ok(Table::of_shelved(origin, shelved))
    }

    fn source(&self, form: &FileForm) -> Result<Source<'_>, DataError> {
        let io = |source| DataError::Io {
            path: self.path.to_owned(),
            action: "read the file",
            source,
        };
        let mut file = self.file.try_clone().map_err(io)?;
        file.seek(SeekFrom::Start(0)).map_err(io)?;
        let encoding = form.encoding.unwrap_or(TextEncoding::UTF_8);
        Source::new(self.path, file, self.packing, encoding, self.progress)
    }

    fn threads(&self) -> usize {
        let bytes = self.file.metadata().map_or(0, |meta| meta.len());
        let cores = std::thread::available_parallelism().map_or(1, usize::from).min(8);
        cores.min(1 + (bytes / SHARE) as usize)
    }
}

fn marks_of(form: &FileForm) -> Marks {
    Marks {
        delimiter: form.delimiter.and_then(Mark::byte).unwrap_or(b','),
        quote: form.quote.and_then(Mark::byte),
        escape: form.escape.and_then(Mark::byte),
        comment: form.comment.and_then(Mark::byte),
    }
}

/// What was read of the source, the columns' names, and where the header ends.
fn read_header(
    path: &Path,
    source: &mut Source<'_>,
    marks: Marks,
) -> Result<(Vec<u8>, Vec<String>, usize), DataError> {
    let mut text = Vec::new();
    let mut records = Records::default();
    loop {
        let before = text.len();
        source.read(&mut text)?;
        if before == 0 && text.starts_with(b"\xef\xbb\xbf") {
            text.drain(..3);
        }
        let is_last = source.is_at_end();
        let mut scanner = Scanner::new(marks, &text, is_last);
        let stop = scanner.scan(None, usize::MAX, &mut records);
        let at = scanner.at();
        let line = || count_lines(&text[..at]) + 1;
        match stop {
            Stop::Done if records.len() > 0 => {
                let names = names_of(path, &records.first(&text))?;
                return Ok((text, names, at));
            }
            Stop::Incomplete { in_quotes: true } if is_last => {
                return Err(DataError::UnclosedQuote {
                    path: path.to_owned(),
                    row: 0,
                    line: line(),
                });
            }
            _ if is_last => {
                return Err(DataError::Empty {
                    path: path.to_owned(),
                });
            }
            _ if text.len() > blocks::LONGEST => return Err(blocks::too_long(path, line())),
            _ => records.clear(),
        }
    }
}

fn names_of(path: &Path, fields: &[&[u8]]) -> Result<Vec<String>, DataError> {
    let mut names = Vec::with_capacity(fields.len());
    for (index, field) in fields.iter().enumerate() {
        let name = std::str::from_utf8(trimmed(field)).map_err(|_| DataError::NotUtf8 {
            path: path.to_owned(),
            place: message!(
                "place-header",
                "the header line, column {column}",
                column = index + 1
            ),
        })?;
        names.push(name.to_owned());
    }
    super::check_names(path, names.iter().map(String::as_str))?;
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::read_table;

    fn read_bytes(bytes: &[u8]) -> Result<Table, DataError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, bytes).unwrap();
        read_table(&path, &ReadOptions::default(), &Progress::new())
    }

    #[test]
    fn cells_keep_their_spelling() {
        let table =
            read_bytes(b"\xef\xbb\xbfid; name ;x\r\n007;\"a;\"\"b\"\"\nc\";1,50\r\n8; d ;\r\n").unwrap();
        assert_eq!(table.column_names().collect::<Vec<_>>(), ["id", "name", "x"]);
        assert_eq!(*table.source(), TableSource::Csv);
        assert_eq!(table.form().delimiter, Some(Mark::of(b';')));
        assert_eq!(table.form().provenance, Some(Provenance::Suggested));
        let cells = table.preview(0..9).unwrap();
        assert_eq!(
            cells[0],
            [Some("007".into()), Some("a;\"b\"\nc".into()), Some("1,50".into())]
        );
        assert_eq!(cells[1], [Some("8".into()), Some("d".into()), None]);
    }

    #[test]
    fn bad_files_say_where_and_what_to_do() {
        for (bytes, words) in [
            (&b""[..], &["t.csv", "empty"][..]),
            (b"a,b\n", &["no row"]),
            (b"a,b\n1,2\n3\n", &["row 2", "line 3", "1 fields", "has 2"]),
            (b"a,b\n1,2\n\n3,4,5\n", &["row 2", "line 4", "3 fields"]),
            (b"a,b,a\n1,2,3\n", &["`a`", "columns 1 and 3"]),
            (b"a,,c\n1,2,3\n", &["column 2 has no name"]),
            (b"a,b\n1,\x00\n", &["line 2", "NUL"]),
            (b"a,b\n1,2\n\n3,\"4\n5,6\n", &["row 2", "line 4", "never closed"]),
            (b"a,\"b\n1,2\n", &["line 1", "never closed"]),
        ] {
            let error = read_bytes(bytes).unwrap_err().to_string();
            for word in words {
                assert!(error.contains(word), "{word}: {error}");
            }
        }
        let missing = read_table(
            Path::new("no/such.csv"),
            &ReadOptions::default(),
            &Progress::new(),
        );
        assert!(matches!(missing, Err(DataError::NotFound { .. })));
    }

    #[test]
    fn the_digest_is_of_the_bytes_and_a_cancelled_read_ends() {
        let bytes = b"a\n1\n2\n";
        assert_eq!(
            read_bytes(bytes).unwrap().content_digest(),
            *blake3::hash(bytes).as_bytes()
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, bytes).unwrap();
        let progress = Progress::new();
        progress.cancel();
        assert!(
            read_table(&path, &ReadOptions::default(), &progress)
                .unwrap_err()
                .is_cancelled()
        );
        let options = ReadOptions {
            missing: vec!["2".to_owned()],
            ..ReadOptions::default()
        };
        let progress = Progress::new();
        let table = read_table(&path, &options, &progress).unwrap();
        assert_eq!(table.cell(1, 0).unwrap(), None);
        assert_eq!(progress.fraction(), Some(1.0));
    }
}
