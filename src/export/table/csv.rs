//! Text with a delimiter.

use std::fmt::Write as _;
use std::path::Path;

use arrow::array::RecordBatch;

use super::{Cells, ExportError, Sink, columns_of, is_missing};
use crate::data::{CellFormat, Schema, write_number};

/// A text file in the making: tabs in a `.tsv`; else what the schema says that its table is read by, or commas.
pub(super) struct CsvOutput {
    writer: Box<csv::Writer<Sink>>,
    formats: Vec<CellFormat>,
    missing: String,
}

impl CsvOutput {
    pub fn new(path: &Path, schema: &Schema, sink: &Sink) -> Result<Self, ExportError> {
        let is_tabbed = path
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("tsv"));
        let known = schema.read.as_ref().and_then(|form| form.delimiter?.byte());
        let mut writer = csv::WriterBuilder::new()
            .delimiter(if is_tabbed { b'\t' } else { known.unwrap_or(b',') })
            .buffer_capacity(1 << 16)
            .from_writer(sink.clone());
        let columns = || schema.used_columns().map(|(_, column)| column);
        writer
            .write_record(columns().map(|column| &column.name))
            .map_err(|error| sink.explain(&error))?;
        Ok(Self {
            writer: Box::new(writer),
            formats: columns().map(CellFormat::new).collect(),
            missing: schema.missing_spelling().to_owned(),
        })
    }

    /// Spells a batch out, row by row.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), csv::Error> {
        let columns = columns_of(batch);
        let mut text = String::new();
        for row in 0..batch.num_rows() {
            for ((column, nulls), format) in columns.iter().zip(&self.formats) {
                text.clear();
                let field = match column {
                    _ if is_missing(*nulls, row) => &self.missing,
                    Cells::Keyed(keys, values) => values.value(keys.value(row) as usize),
                    Cells::Words(values) => values.value(row),
                    Cells::Flags(values) => format.boolean(values.value(row)),
                    Cells::Whole(values) => {
                        // Writing to a String cannot fail.
                        let _ = write!(text, "{}", values.value(row));
                        respelled(&mut text, format)
                    }
                    Cells::Real(values) => {
                        write_number(values.value(row), &mut text);
                        respelled(&mut text, format)
                    }
                    Cells::Steps(values) => {
                        text = format.temporal(values(row));
                        &text
                    }
                };
                self.writer.write_field(field)?;
            }
            self.writer.write_record(None::<&[u8]>)?;
        }
        Ok(())
    }

    pub fn finish(self) -> Result<(), std::io::Error> {
        self.writer
            .into_inner()
            .map(drop)
            .map_err(csv::IntoInnerError::into_error)
    }
}

/// A number as its column spells it.
fn respelled<'a>(text: &'a mut String, format: &CellFormat) -> &'a str {
    if let Some(own) = format.number(text) {
        *text = own;
    }
    text
}
