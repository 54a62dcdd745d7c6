//! Delimited text, read once from start to end.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use arrow::datatypes::{Field, Schema as ArrowSchema};
use arrow::record_batch::RecordBatch;
use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};

use super::columns::TextColumn;
use super::{ReadOptions, sniff};
use crate::data::table::{Origin, TableSource};
use crate::data::value::{file_name, trimmed};
use crate::data::{DataError, Table};
use crate::message;
use crate::num::progress::Progress;

/// Rows between two looks at the progress.
const STRIDE: u64 = 1 << 12;

/// Passes bytes on, counts and hashes them.
struct Hashing<'a> {
    file: File,
    hasher: blake3::Hasher,
    done: u64,
    total: u64,
    progress: &'a Progress,
}

impl Read for Hashing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        self.done += count as u64;
        self.progress.set(self.done, self.total.max(self.done));
        Ok(count)
    }
}

/// Reads the whole file; `head` is its beginning.
pub(super) fn read(
    path: &Path,
    file: File,
    bytes: u64,
    head: &[u8],
    options: &ReadOptions,
    progress: &Progress,
) -> Result<Table, DataError> {
    let delimiter = options.delimiter.unwrap_or_else(|| sniff::detect_delimiter(head));
    let source = Hashing {
        file,
        hasher: blake3::Hasher::new(),
        done: 0,
        total: bytes,
        progress,
    };
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(1 << 18)
        .from_reader(source);
    let names = read_header(path, &mut reader)?;
    let mut columns: Vec<TextColumn> = names.iter().map(|_| TextColumn::new()).collect();
    let rows = read_rows(
        path,
        &mut reader,
        &names,
        &mut columns,
        delimiter,
        options,
        progress,
    )?;
    if rows == 0 {
        return Err(DataError::NoRows {
            path: path.to_owned(),
        });
    }
    let source = reader.into_inner();
    let origin = Origin {
        name: file_name(path).into_owned(),
        path: Some(path.to_owned()),
        source: TableSource::Csv { delimiter },
        digest: Some(*source.hasher.finalize().as_bytes()),
        bytes: source.done,
    };
    Ok(assemble(origin, &names, columns))
}

fn assemble(origin: Origin, names: &[String], columns: Vec<TextColumn>) -> Table {
    let arrays: Vec<_> = columns.into_iter().map(TextColumn::finish).collect();
    let fields: Vec<_> = names
        .iter()
        .zip(&arrays)
        .map(|(name, chunks)| Field::new(name, chunks[0].data_type().clone(), true))
        .collect();
    let schema = Arc::new(ArrowSchema::new(fields));
    let batches = (0..arrays[0].len()).map(|chunk| {
        let columns = arrays.iter().map(|chunks| Arc::clone(&chunks[chunk])).collect();
        RecordBatch::try_new(Arc::clone(&schema), columns).expect("every column got every row")
    });
    let batches = batches.collect();
    Table::assemble(origin, schema, batches)
}

fn read_header<R: Read>(path: &Path, reader: &mut Reader<R>) -> Result<Vec<String>, DataError> {
    let mut record = ByteRecord::new();
    if !reader
        .read_byte_record(&mut record)
        .map_err(|error| read_error(path, error))?
    {
        return Err(DataError::Empty {
            path: path.to_owned(),
        });
    }
    let mut seen = HashMap::new();
    let mut names = Vec::with_capacity(record.len());
    for (index, field) in record.iter().enumerate() {
        let field = if index == 0 {
            field.strip_prefix(b"\xef\xbb\xbf").unwrap_or(field)
        } else {
            field
        };
        let name = std::str::from_utf8(trimmed(field)).map_err(|_| DataError::NotUtf8 {
            path: path.to_owned(),
            place: message!(
                "place-header",
                "the header line, column {column}",
                column = index + 1
            ),
        })?;
        if name.is_empty() {
            return Err(DataError::UnnamedColumn {
                path: path.to_owned(),
                position: index + 1,
            });
        }
        if let Some(first) = seen.insert(name.to_owned(), index + 1) {
            return Err(DataError::DuplicateColumn {
                path: path.to_owned(),
                name: name.to_owned(),
                first,
                second: index + 1,
            });
        }
        names.push(name.to_owned());
    }
    Ok(names)
}

fn read_rows<R: Read>(
    path: &Path,
    reader: &mut Reader<R>,
    names: &[String],
    columns: &mut [TextColumn],
    delimiter: u8,
    options: &ReadOptions,
    progress: &Progress,
) -> Result<u64, DataError> {
    let mut record = ByteRecord::new();
    let mut row = 0_u64;
    while reader
        .read_byte_record(&mut record)
        .map_err(|error| read_error(path, error))?
    {
        row += 1;
        if row.is_multiple_of(STRIDE) {
            progress.check()?;
        }
        let line = || record.position().map_or(0, |position| line_of(path, position));
        if record.len() != columns.len() {
            return Err(DataError::RaggedRow {
                path: path.to_owned(),
                row,
                line: line(),
                found: record.len(),
                expected: columns.len(),
                delimiter: char::from(delimiter),
            });
        }
        for (index, (column, cell)) in columns.iter_mut().zip(&record).enumerate() {
            let cell = trimmed(cell);
            let is_missing =
                cell.is_empty() || options.missing.iter().any(|spelling| spelling.as_bytes() == cell);
            column
                .push((!is_missing).then_some(cell))
                .map_err(|_| DataError::NotUtf8 {
                    path: path.to_owned(),
                    place: message!(
                        "place-cell",
                        "row {row} (line {line}), column `{column}`",
                        row = row,
                        line = line(),
                        column = names[index]
                    ),
                })?;
        }
    }
    progress.check()?;
    Ok(row)
}

/// The line of a record: its position is that of the empty lines before it, which are not records.
fn line_of(path: &Path, position: &csv::Position) -> u64 {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|mut file| {
        file.seek(SeekFrom::Start(position.byte()))?;
        file.take(1 << 16).read_to_end(&mut bytes)
    });
    // A file that is gone meanwhile leaves the line of the empty ones.
    let blank = bytes
        .iter()
        .take_while(|byte| read.is_ok() && matches!(byte, b'\n' | b'\r'));
    position.line() + blank.filter(|byte| **byte == b'\n').count() as u64
}

fn read_error(path: &Path, error: csv::Error) -> DataError {
    let source = match error.into_kind() {
        ErrorKind::Io(source) => source,
        other => std::io::Error::other(format!("{other:?}")),
    };
    DataError::Io {
        path: path.to_owned(),
        action: "read the file",
        source,
    }
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
        assert_eq!(*table.source(), TableSource::Csv { delimiter: b';' });
        let cells = table.preview(0..9);
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
            (b"a,b\n1,2\n1,\xc4\n", &["row 2", "line 3", "`b`", "UTF-8"]),
            (b"\xc4,b\n1,2\n", &["header", "column 1"]),
            (b"a,b\n1,\x00\n", &["binary"]),
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
        assert_eq!(table.cell(1, 0), None);
        assert_eq!(progress.fraction(), Some(1.0));
    }
}
