//! The flags that say how a file is read. What they say is declared; the schema keeps it.

use clap::Args;

use crate::data::{FileForm, Mark, Provenance, ReadOptions, TextEncoding};

/// How the input is read, where it is not to be found out.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "How the input is read (found in the file unless said here or in the schema)")]
pub struct FormArgs {
    /// The encoding of a text file: utf-8, utf-16le, gb18030, windows-1252, …
    #[arg(long, value_name = "NAME")]
    encoding: Option<TextEncoding>,
    /// The character between the fields of a text file (`tab` for a tab).
    #[arg(long, value_name = "C", allow_hyphen_values = true)]
    delimiter: Option<Mark>,
    /// The character around fields that contain delimiters; empty for none.
    #[arg(long, value_name = "C")]
    quote: Option<Mark>,
    /// The character before a quote within quotes, when it is not doubled.
    #[arg(long, value_name = "C")]
    escape: Option<Mark>,
    /// The character that begins a line that is no row.
    #[arg(long, value_name = "C")]
    comment: Option<Mark>,
    /// The table of a database, when there is more than one.
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// The sheet of a workbook, when it is not the first.
    #[arg(long, value_name = "NAME")]
    sheet: Option<String>,
}

impl FormArgs {
    /// As the reader takes them.
    pub fn options(&self) -> ReadOptions {
        let mut form = FileForm {
            encoding: self.encoding,
            delimiter: self.delimiter,
            quote: self.quote,
            escape: self.escape,
            comment: self.comment,
            table: self.table.clone(),
            sheet: self.sheet.clone(),
            ..FileForm::default()
        };
        form.provenance = (!form.is_empty()).then_some(Provenance::Declared);
        ReadOptions {
            form,
            ..ReadOptions::default()
        }
    }
}
