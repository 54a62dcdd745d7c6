//! What can go wrong between a file and an encoded row, each with its place and a remedy.

use std::path::PathBuf;

use crate::num::Message;
use crate::num::progress::Cancelled;

/// An error of reading, describing or encoding a table.
///
/// Every message names the place (file, row, column) and, where there is one, the remedy. Rows are counted
/// from 1 without the header line; lines are counted from 1 with it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The work was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// There is no such file.
    #[error("{path}: there is no such file; check the path")]
    NotFound {
        /// The path that was asked for.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("{path}: cannot {action}; {}", remedy(.action))]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried, as a verb phrase ("read the file").
        action: &'static str,
        /// The system's own error.
        source: std::io::Error,
    },
    /// Rows that are too many for memory could not be kept in a file.
    #[error(
        "{folder}: rows that are too many for memory cannot be kept there after {megabytes} MB; free space on that disk, or set POINTILLIST_HOME to a folder on another one"
    )]
    Spill {
        /// The folder.
        folder: PathBuf,
        /// How much there was to write until then.
        megabytes: u64,
        /// The system's own error.
        source: std::io::Error,
    },
    /// Rows that were kept in a file could not be read back.
    #[error("{folder}: rows that were kept there cannot be read back: {reason}; check the disk")]
    ReadBack {
        /// The folder.
        folder: PathBuf,
        /// What the system, or the decoder, said.
        reason: String,
    },
    /// The file has no bytes, or nothing but white space.
    #[error("{path}: the file is empty; it needs a header line with the column names and at least one row")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// There is a header and no row.
    #[error("{path}: there is a header line but no row below it")]
    NoRows {
        /// The file.
        path: PathBuf,
    },
    /// The content is not the kind of file that can be read here.
    #[error("{path}: this is {found}, not a table; {remedy}")]
    NotATable {
        /// The file.
        path: PathBuf,
        /// The key under which other languages say the whole of it.
        key: &'static str,
        /// What it looks like.
        found: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A record has another number of fields than the header.
    #[error(
        "{path}: row {row} (line {line}) has {found} fields, the header has {expected}; \
         put quotes around values that contain the delimiter '{delimiter}', or fix the row"
    )]
    RaggedRow {
        /// The file.
        path: PathBuf,
        /// The row, from 1.
        row: u64,
        /// The line in the file, from 1.
        line: u64,
        /// Fields in this row.
        found: usize,
        /// Fields in the header.
        expected: usize,
        /// The delimiter that was used.
        delimiter: char,
    },
    /// A text that is not UTF-8.
    #[error(
        "{path}: {place} is not UTF-8 text; say which encoding the file has, or save it as UTF-8 (in a spreadsheet: \"CSV UTF-8\") and open it again"
    )]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// "the header line" or "row 17 (line 18), column `name`".
        place: Message,
    },
    /// Bytes that are no text in the file's encoding.
    #[error("{path}: line {line} is not {encoding} text; choose the encoding that the file was saved in")]
    NotInEncoding {
        /// The file.
        path: PathBuf,
        /// The line in the file, from 1.
        line: u64,
        /// The encoding.
        encoding: String,
    },
    /// A quote that the file does not close.
    #[error(
        "{path}: a quote in row {row} (line {line}) is never closed; close it, or say that the file uses other quotes"
    )]
    UnclosedQuote {
        /// The file.
        path: PathBuf,
        /// The row, from 1; 0 is the header.
        row: u64,
        /// The line in the file where the row begins, from 1.
        line: u64,
    },
    /// A record longer than any should be.
    #[error(
        "{path}: the row that begins at line {line} is longer than {most} megabytes; a quote there may never be closed, or the file is no table"
    )]
    RecordTooLong {
        /// The file.
        path: PathBuf,
        /// The line in the file, from 1.
        line: u64,
        /// The most, in megabytes.
        most: usize,
    },
    /// A file whose form is damaged.
    #[error("{path}: the {kind} file is damaged or cut off ({reason}); get a fresh copy")]
    CorruptFile {
        /// The file.
        path: PathBuf,
        /// What it is ("Parquet", "gzip").
        kind: &'static str,
        /// The reader's words.
        reason: String,
    },
    /// A packed file that may be made to fill the memory.
    #[error(
        "{path}: it unpacks to more than {ratio} times its size, which tables do not; if it is meant so, unpack it first and open that"
    )]
    UnpacksToTooMuch {
        /// The file.
        path: PathBuf,
        /// How many times.
        ratio: u64,
    },
    /// A file with tables in it, but not the one that was named, or with none.
    #[error("{path}: {}", which(.kind, .wanted.as_deref(), .parts))]
    WhichPart {
        /// The file.
        path: PathBuf,
        /// "sheet" or "table".
        kind: &'static str,
        /// The one that was named.
        wanted: Option<String>,
        /// Those that are there.
        parts: Vec<String>,
    },
    /// A table was named in a workbook, or a sheet in a database.
    #[error("{path}: {}", other_kind(.said, .wanted))]
    OtherKindOfPart {
        /// The file.
        path: PathBuf,
        /// What was named: "table" or "sheet".
        said: &'static str,
        /// Its name.
        wanted: String,
    },
    /// A byte of zero in the midst of text.
    #[error(
        "{path}: line {line} has a NUL character, which no text has; the file is damaged or no text: get a fresh copy, or \
         take these characters out"
    )]
    NulInText {
        /// The file.
        path: PathBuf,
        /// The line in the file, from 1.
        line: u64,
    },
    /// Something in a sheet that a table cannot hold.
    #[error("{path}: {message}")]
    Sheet {
        /// The file.
        path: PathBuf,
        /// What, where, and what to do.
        message: Message,
    },
    /// The file is not what it was when reading began.
    #[error("{path}: the file changed while it was read; wait until it is complete and open it again")]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A database that another program writes to.
    #[error(
        "{path}: another program has it locked; close it there, or wait until it is done, and open it again"
    )]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// A database beside which lies the journal of a write that was cut short.
    #[error(
        "{path}: a journal of an unfinished write lies beside it; open it once with the program that wrote it, which puts it right, and then here"
    )]
    Unfinished {
        /// The file.
        path: PathBuf,
    },
    /// A table or view of a database that needs what is not there.
    #[error(
        "{path}: `{part}` cannot be read: {reason}; name another table, or mend it with the program that made it"
    )]
    BrokenPart {
        /// The file.
        path: PathBuf,
        /// The table or view.
        part: String,
        /// The database's words.
        reason: String,
    },
    /// A whole number beyond those that a column can have.
    #[error(
        "{path}: row {row}, column `{column}`: {value} is beyond the largest whole number that is read, 9223372036854775807; save the column as text or as floating-point numbers"
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The row, from 1.
        row: u64,
        /// The column.
        column: String,
        /// The number.
        value: u64,
    },
    /// Two columns carry one name.
    #[error(
        "{path}: the column name `{name}` appears twice (columns {first} and {second}); every column needs its own"
    )]
    DuplicateColumn {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
        /// Where first, from 1.
        first: usize,
        /// Where again, from 1.
        second: usize,
    },
    /// A column without a name.
    #[error("{path}: column {position} has no name; the first line of the file must name every column")]
    UnnamedColumn {
        /// The file.
        path: PathBuf,
        /// Which, from 1.
        position: usize,
    },
    /// A column type that has no place in a flat table.
    #[error(
        "{path}: column `{column}` has the type {found}; only flat columns of numbers, text, booleans, dates and times \
         can be read: drop or flatten it"
    )]
    UnsupportedColumn {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// Its type.
        found: String,
    },
    /// A column of bytes that are no pictures.
    #[error(
        "{path}: column `{column}` holds bytes, which are no values of a table; only PNG, JPEG and TIFF files in a column \
         of Parquet are read, as images: drop the column, or save it as text"
    )]
    BytesColumn {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
    },
    /// A schema file that does not parse, or says something impossible.
    #[error("{place}: {message}")]
    Schema {
        /// "FILE, line 12, column `age`" as far as known.
        place: Message,
        /// What is wrong and what to do.
        message: Message,
    },
    /// The schema does not fit the table.
    #[error("the schema does not fit the data: {message}")]
    Mismatch {
        /// What is wrong and what to do.
        message: Message,
    },
    /// One cell does not fit its column's schema.
    #[error("column `{column}`, row {row}: {message}")]
    Cell {
        /// The column.
        column: String,
        /// The row, from 1.
        row: u64,
        /// What is wrong and what to do.
        message: Message,
    },
    /// Images, or their labels, that cannot be used as they are.
    #[error("{path}: {message}")]
    Images {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong and what to do.
        message: String,
    },
    /// Nothing is left to learn from.
    #[error(
        "no column is left: all are identifiers or text, which are dropped; give at least one another kind in the schema"
    )]
    NoColumns,
    /// Rows that an encoder of another schema made, or a code outside its block.
    #[error("the encoded rows do not belong to this schema: {message}")]
    Encoded {
        /// What does not fit.
        message: String,
    },
}

impl From<Cancelled> for DataError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl DataError {
    /// Whether this is no failure but a wish fulfilled.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled)
    }
}

/// Which of the parts to name.
fn which(kind: &str, wanted: Option<&str>, parts: &[String]) -> String {
    let parts = parts.join(", ");
    match wanted {
        Some(wanted) if !parts.is_empty() => {
            format!("there is no {kind} called {wanted} in it; name one of these: {parts}")
        }
        _ => format!("there is no {kind} in it; choose another file"),
    }
}

/// What to name instead of a table, or of a sheet.
fn other_kind(said: &str, wanted: &str) -> String {
    if said == "table" {
        format!(
            "this is a workbook, which has sheets and no tables; name its sheet (`--sheet {wanted}`) instead"
        )
    } else {
        format!(
            "this is a database, which has tables and no sheets; name its table (`--table {wanted}`) instead"
        )
    }
}

/// What to do when the operating system refuses; what it said follows as the cause.
fn remedy(action: &str) -> &'static str {
    if action.starts_with("write") {
        "choose a folder that takes new files and has room"
    } else {
        "check that it may be read"
    }
}
