//! Schema, table, readers, profile and the invertible row encoder.
//!
//! A file becomes a [`Table`] ([`read_table`]); a person and [`profile()`] describe it by a [`Schema`]; a
//! [`RowEncoder`] made from the schema alone turns rows into [`EncodedRows`] for the models and back into a
//! record batch of the schema's own types.

mod column;
mod encode;
mod error;
pub mod image;
mod numeral;
mod profile;
mod read;
pub mod samples;
mod schema;
mod spill;
mod table;
mod value;

pub use column::{
    CodeReader, NO_VALUE, NumberReader, NumberedTexts, PersonRows, persons, prepare, rows_before,
};
pub use encode::{
    Block, EncodedRows, EncoderSettings, FINE_MISSING, FineLayout, FineWeights, NumericCode, RowEncoder,
    RuleCounts, StoreError, StoredRows,
};
pub use error::DataError;
pub use profile::{
    ColumnSummary, IdentifierReason, NumberSummary, Profile, ProfileWarning, ValueCount, WarningKind,
    profile, readings, respell_column, suggest_column,
};
pub use read::{FileForm, Mark, ReadOptions, TextEncoding, read_table};
pub use schema::{
    Bound, Column, Kind, MAX_DOMAIN, OpenColumn, OpenReason, Problem, Provenance, RowCount, Rule,
    SCHEMA_VERSION, Scale, Schema, Unit,
};
pub use spill::Room;
pub use table::{Table, TableSource};
pub use value::{CellFormat, write_number};
