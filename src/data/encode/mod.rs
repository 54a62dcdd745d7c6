//! The invertible row encoder: rows to numbers for a model, and back to rows of the schema's own types.
//!
//! An encoder is made from a schema alone, so nothing in it was learned from rows. Categories and booleans
//! become one-hot blocks; numbers, dates and times either scalars from 0 to 1 (on the declared scale) or one-hot
//! blocks of bins; a missing cell is a place of its own. Decoding yields values of the declared domain and range
//! only.

mod axis;
mod bins;
mod codec;
mod decode;
mod rows;
mod rules;
mod store;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub(super) use axis::{Axis, Units};
pub use bins::FineLayout;
pub use codec::FINE_MISSING;
pub use decode::FineWeights;
pub use rows::EncodedRows;
pub use rules::RuleCounts;
pub use store::{StoreError, StoredRows};

use super::schema::Schema;
use super::{DataError, Table};
use crate::num::progress::Progress;
use codec::{Codec, Coding};

/// How numbers, dates and times are coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum NumericCode {
    /// As a scalar on the declared scale, or in the declared bins.
    AsDeclared,
    /// In that many equal bins on the declared scale (one a value where the range is no longer; declared bins stay).
    Binned {
        /// The number of bins.
        bins: usize,
    },
}

/// Settings of a [`RowEncoder`]; with the schema they determine it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EncoderSettings {
    /// How numbers are coded.
    pub numeric: NumericCode,
}

impl Default for EncoderSettings {
    fn default() -> Self {
        Self {
            numeric: NumericCode::Binned { bins: 20 },
        }
    }
}

/// A stretch of a dense row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// One place is 1, the others 0. The last place stands for missing where the column allows it; a scalar that
    /// may be missing has a block of two (present, missing) just before it.
    OneHot {
        /// The column's index in the schema.
        column: usize,
        /// Where the block begins.
        offset: usize,
        /// How many places.
        width: usize,
    },
    /// One number from 0 to 1 (0 where missing). On a log scale 0 is the *upper* bound: see the source of `Axis`.
    Scalar {
        /// The column's index in the schema.
        column: usize,
        /// Where it stands.
        offset: usize,
    },
}

impl Block {
    /// The column's index in the schema.
    pub const fn column(&self) -> usize {
        match self {
            Self::OneHot { column, .. } | Self::Scalar { column, .. } => *column,
        }
    }

    /// Where the block begins in a dense row.
    pub const fn offset(&self) -> usize {
        match self {
            Self::OneHot { offset, .. } | Self::Scalar { offset, .. } => *offset,
        }
    }

    /// How many numbers it takes.
    pub const fn width(&self) -> usize {
        match self {
            Self::OneHot { width, .. } => *width,
            Self::Scalar { .. } => 1,
        }
    }

    /// Whether it is a one-hot block.
    pub const fn is_one_hot(&self) -> bool {
        matches!(self, Self::OneHot { .. })
    }
}

/// Where one column's numbers stand in an encoded row.
#[derive(Clone, Copy, Debug, Default)]
struct Slots {
    code: Option<usize>,
    scalar: Option<usize>,
    fine: Option<usize>,
}

/// Turns rows into numbers and back; see the module.
#[derive(Clone, Debug)]
pub struct RowEncoder {
    schema: Arc<Schema>,
    settings: EncoderSettings,
    codecs: Vec<(Codec, Slots)>,
    blocks: Arc<[Block]>,
    width: usize,
    binned: Vec<usize>,
}

impl RowEncoder {
    /// An encoder for the used columns of a schema.
    ///
    /// # Errors
    /// When the schema contradicts itself, a used column has no bounds or domain, or no column is used.
    pub fn new(schema: &Schema, settings: &EncoderSettings) -> Result<Self, DataError> {
        schema.validate()?;
        let mut codecs = Vec::new();
        let mut blocks = Vec::new();
        let mut binned = Vec::new();
        let (mut width, mut codes, mut scalars) = (0, 0, 0);
        for (index, _) in schema.used_columns() {
            let codec = Codec::new(schema, index, settings)?;
            let mut slots = Slots::default();
            let missing = usize::from(codec.allows_missing);
            let places = match codec.places() {
                Some(places) => Some(places + missing),
                None => codec.allows_missing.then_some(2),
            };
            if let Some(places) = places {
                blocks.push(Block::OneHot {
                    column: index,
                    offset: width,
                    width: places,
                });
                slots.code = Some(codes);
                codes += 1;
                width += places;
            }
            if codec.places().is_none() {
                blocks.push(Block::Scalar {
                    column: index,
                    offset: width,
                });
                slots.scalar = Some(scalars);
                scalars += 1;
                width += 1;
            }
            if matches!(codec.coding, Coding::Bins { .. }) {
                slots.fine = Some(binned.len());
                binned.push(codecs.len());
            }
            codecs.push((codec, slots));
        }
        if codecs.is_empty() {
            return Err(DataError::NoColumns);
        }
        Ok(Self {
            schema: Arc::new(schema.clone()),
            settings: *settings,
            codecs,
            blocks: blocks.into(),
            width,
            binned,
        })
    }

    /// The schema that it was made from.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The settings that it was made with.
    pub fn settings(&self) -> &EncoderSettings {
        &self.settings
    }

    /// The length of a dense row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The blocks of a dense row, in order: the used columns in the schema's order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The binned columns' layouts, in the order of [`EncodedRows::fine`] and [`FineWeights`].
    pub fn fine_layouts(&self) -> impl Iterator<Item = &FineLayout> {
        self.binned
            .iter()
            .filter_map(|&index| match &self.codecs[index].0.coding {
                Coding::Bins { layout, .. } => Some(layout),
                _ => None,
            })
    }

    /// The bins and fine cells of one column (by its index in the schema), if it is binned.
    pub fn fine_cells(&self, column: usize) -> Option<&FineLayout> {
        self.fine_layouts().find(|layout| layout.column == column)
    }

    /// What the places of a one-hot block stand for: values, spellings, ranges such as `17 to 20`, and an empty
    /// text for missing. Empty for a block that is not one-hot.
    pub fn labels(&self, block: &Block) -> Vec<String> {
        let Some((codec, slots)) = self
            .codecs
            .iter()
            .find(|(codec, _)| codec.index == block.column())
        else {
            return Vec::new();
        };
        if !block.is_one_hot() {
            return Vec::new();
        }
        let mut labels = match &codec.coding {
            Coding::Words { values, .. } => values.clone(),
            Coding::Flag { spellings } => spellings.to_vec(),
            Coding::Bins { .. } => decode::bin_labels(codec),
            Coding::Scalar { .. } => vec!["present".to_owned()],
        };
        if codec.allows_missing && slots.code.is_some() {
            labels.push(String::new());
        }
        labels
    }

    /// Rows of zeros (the first place of every block), to be filled by a generator.
    pub fn blank_rows(&self, rows: usize) -> EncodedRows {
        EncodedRows::new(rows, &self.blocks, self.binned.len(), self.schema.column.len())
    }

    /// Encodes all rows of a table. Numbers outside the bounds are moved to the nearer one and counted.
    ///
    /// `progress` counts rows.
    ///
    /// # Errors
    /// When the table's columns are not the schema's, or a cell does not fit: named by column and row.
    pub fn encode(&self, table: &Table, progress: &Progress) -> Result<EncodedRows, DataError> {
        let mut out = self.blank_rows(table.rows());
        let (codes, scalars, fine) = (out.codes_per_row(), out.scalars_per_row(), out.fine_per_row());
        progress.set(0, table.rows() as u64);
        self.encode_pieces(table, progress, &mut |first, piece| {
            let end = first + piece.rows();
            out.codes[first * codes..end * codes].copy_from_slice(&piece.codes);
            out.scalars[first * scalars..end * scalars].copy_from_slice(&piece.scalars);
            out.fine[first * fine..end * fine].copy_from_slice(&piece.fine);
            for (sum, more) in out.clamped.iter_mut().zip(&piece.clamped) {
                *sum += more;
            }
            progress.advance(piece.rows() as u64);
            Ok(())
        })?;
        Ok(out)
    }

    /// Encodes a table batch by batch; the sink gets each one's first row.
    fn encode_pieces(
        &self,
        table: &Table,
        progress: &Progress,
        sink: &mut dyn FnMut(usize, &EncodedRows) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        self.schema.check_names(table)?;
        let mut columns = self
            .codecs
            .iter()
            .map(|(codec, _)| codec.column_of(table))
            .collect::<Result<Vec<_>, _>>()?;
        let mut cells = Vec::new();
        for index in 0..table.pieces() {
            progress.check()?;
            let rows = table.piece(index);
            let mut piece = self.blank_rows(rows.len());
            let (codes, scalars, fine) = (
                piece.codes_per_row(),
                piece.scalars_per_row(),
                piece.fine_per_row(),
            );
            for ((codec, slots), column) in self.codecs.iter().zip(&mut columns) {
                cells.clear();
                let array = table.array(index, column.position())?;
                column.encode(&array, rows.start, &mut cells)?;
                if let Some(slot) = slots.code {
                    let places = piece.codes.iter_mut().skip(slot).step_by(codes);
                    places.zip(&cells).for_each(|(place, cell)| *place = cell.code);
                }
                if let Some(slot) = slots.scalar {
                    let places = piece.scalars.iter_mut().skip(slot).step_by(scalars);
                    places.zip(&cells).for_each(|(place, cell)| *place = cell.scalar);
                }
                if let Some(slot) = slots.fine {
                    let places = piece.fine.iter_mut().skip(slot).step_by(fine);
                    places.zip(&cells).for_each(|(place, cell)| *place = cell.fine);
                }
                piece.clamped[codec.index] = cells.iter().filter(|cell| cell.was_clamped).count() as u64;
            }
            sink(rows.start, &piece)?;
        }
        Ok(())
    }

    /// Runs every cell of the used columns through the encoder and keeps nothing.
    pub(super) fn try_cells(&self, table: &Table, progress: &Progress) -> Result<(), DataError> {
        for (codec, _) in &self.codecs {
            let mut column = codec.column_of(table)?;
            let mut cells = Vec::new();
            for index in 0..table.pieces() {
                progress.check()?;
                cells.clear();
                let array = table.array(index, column.position())?;
                column.encode(&array, table.piece(index).start, &mut cells)?;
            }
        }
        Ok(())
    }
}
