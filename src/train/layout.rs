//! Where columns lie in an encoded row, and which histograms can be bought of them.

use super::plan::PlanError;
use crate::data::{Block, RowEncoder, Schema};
use crate::model::{HeadKind, Heads};
use crate::privacy::Neighboring;

/// The blocks of an encoded row, and the marginals over them.
#[derive(Clone, Debug)]
pub struct RowLayout {
    heads: Heads,
    /// Offset and width of each one-hot block, in the order of `EncodedRows::codes`.
    one_hot: Vec<OneHotBlock>,
    /// The one-hot block of the label, if one is declared and there is anything beside it.
    label: Option<usize>,
    /// Numeric columns with a fine layout: how many fine cells each has, in the order of `EncodedRows::fine`.
    fine: Vec<FineColumn>,
    /// The most rows of one unit of privacy.
    max_rows: u32,
}

/// A one-hot block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneHotBlock {
    /// Its column in the schema.
    pub column: usize,
    /// Its first encoded column.
    pub offset: usize,
    /// Its categories.
    pub width: usize,
}

/// A binned number with fine cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FineColumn {
    /// Its column in the schema.
    pub column: usize,
    /// Its fine cells.
    pub cells: usize,
}

impl RowLayout {
    /// Reads the layout off an encoder.
    ///
    /// # Errors
    /// When the schema's label has no one-hot block.
    pub fn new(schema: &Schema, encoder: &RowEncoder) -> Result<Self, PlanError> {
        let one_hot: Vec<OneHotBlock> = (encoder.blocks().iter())
            .filter_map(|block| match *block {
                Block::OneHot {
                    column,
                    offset,
                    width,
                } => Some(OneHotBlock {
                    column,
                    offset,
                    width,
                }),
                Block::Scalar { .. } => None,
            })
            .collect();
        let label = match &schema.label {
            None => None,
            Some(name) => {
                let column = schema.position(name);
                // A missing-able number also has a block, which says present or missing: not a class.
                let is_class = |column: usize| !schema.column[column].kind.is_numeric();
                let block = column
                    .filter(|&column| is_class(column))
                    .and_then(|column| one_hot.iter().position(|block| block.column == column));
                Some(block.ok_or_else(|| PlanError::Label(name.clone()))?)
            }
        };
        let fine = encoder.fine_layouts();
        let fine = fine
            .map(|layout| FineColumn {
                column: layout.column,
                cells: layout.cells(),
            })
            .collect();
        let label = label.filter(|_| one_hot.len() > 1);
        Ok(Self {
            heads: heads_of(encoder),
            one_hot,
            label,
            fine,
            max_rows: schema.max_rows(),
        })
    }

    /// The generator's heads.
    pub const fn heads(&self) -> &Heads {
        &self.heads
    }

    /// The encoded width of a row.
    pub const fn width(&self) -> usize {
        self.heads.width()
    }

    /// The one-hot blocks, in the order of codes.
    pub fn one_hot(&self) -> &[OneHotBlock] {
        &self.one_hot
    }

    /// The block by whose categories marginals are split.
    pub fn label(&self) -> Option<OneHotBlock> {
        self.label.map(|block| self.one_hot[block])
    }

    /// The index of the label among the one-hot blocks.
    pub const fn label_index(&self) -> Option<usize> {
        self.label
    }

    /// The blocks of which marginals are bought: all but the label, whose counts each of them contains.
    pub fn features(&self) -> impl Iterator<Item = (usize, OneHotBlock)> {
        self.one_hot
            .iter()
            .copied()
            .enumerate()
            .filter(|(index, _)| Some(*index) != self.label)
    }

    /// How many histograms the marginals are.
    pub fn feature_count(&self) -> usize {
        self.features().count()
    }

    /// The binned numbers of which fine histograms are bought.
    pub fn fine(&self) -> &[FineColumn] {
        &self.fine
    }

    /// ℓ2 sensitivity of all marginals together.
    pub fn marginal_sensitivity(&self, neighboring: Neighboring) -> f64 {
        self.histogram_sensitivity(self.feature_count(), neighboring)
    }

    /// ℓ2 sensitivity of all fine histograms together.
    pub fn fine_sensitivity(&self, neighboring: Neighboring) -> f64 {
        self.histogram_sensitivity(self.fine.len(), neighboring)
    }

    /// The most rows of one unit: 1, unless a person is the unit.
    pub(super) const fn max_rows(&self) -> u32 {
        self.max_rows
    }

    /// The ℓ2 sensitivity of counts of which one row moves `count`: for a person, as many times it as they may have rows.
    ///
    /// A row counts once in each of `count` histograms: √count when it comes or goes, √(2·count) when it is replaced (one
    /// cell of each loses a row, another gains one). The counts of `m` rows are a sum of `m` such vectors, and so at most
    /// `m` times as long; equal rows are just that long. Where a person is replaced, each histogram loses `m` rows from
    /// one cell and gains `m` in another at worst: vectors without negative entries whose sums are at most `m` lie at
    /// most `m·√2` apart.
    pub(super) fn histogram_sensitivity(&self, count: usize, neighboring: Neighboring) -> f64 {
        f64::from(self.max_rows) * histogram_sensitivity(count, neighboring)
    }
}

/// The generator's heads for an encoder's blocks.
pub fn heads_of(encoder: &RowEncoder) -> Heads {
    Heads::new(encoder.blocks().iter().map(|block| match *block {
        Block::OneHot { width, .. } => (HeadKind::OneHot, width),
        Block::Scalar { .. } => (HeadKind::Scalar, 1),
    }))
}

/// The same for units of one row.
fn histogram_sensitivity(count: usize, neighboring: Neighboring) -> f64 {
    let cells = match neighboring {
        Neighboring::AddRemoveOne | Neighboring::ZeroOutOne => count,
        Neighboring::ReplaceOne => 2 * count,
    };
    (cells as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sensitivities_follow_the_relation() {
        assert_eq!(histogram_sensitivity(9, Neighboring::AddRemoveOne), 3.0);
        assert_eq!(histogram_sensitivity(9, Neighboring::ZeroOutOne), 3.0);
        assert_eq!(histogram_sensitivity(8, Neighboring::ReplaceOne), 4.0);
    }
}
