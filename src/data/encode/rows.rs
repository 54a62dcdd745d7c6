//! Encoded rows: compact codes that expand to dense vectors one batch at a time.

use std::sync::Arc;

use super::Block;
use super::codec::FINE_MISSING;
use crate::data::DataError;

/// Rows as numbers for a model: a code per one-hot block, a value per scalar block.
///
/// # Shapes
/// `codes` is `[rows, one-hot blocks]`, `scalars` `[rows, scalar blocks]`, `fine` `[rows, binned columns]`, all
/// row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedRows {
    rows: usize,
    pub(super) blocks: Arc<[Block]>,
    width: usize,
    binned: usize,
    /// The hot place of each one-hot block.
    pub codes: Vec<u16>,
    /// The value of each scalar block, 0 to 1.
    pub scalars: Vec<f32>,
    /// The fine cell of each binned column ([`FINE_MISSING`](super::FINE_MISSING) where missing or unknown).
    pub fine: Vec<u16>,
    /// Cells per schema column whose number lay outside the bounds and was moved to the nearer one. Counted on
    /// private rows: for the steward only.
    pub clamped: Vec<u64>,
}

impl EncodedRows {
    pub(super) fn new(rows: usize, blocks: &Arc<[Block]>, binned: usize, columns: usize) -> Self {
        let one_hot = blocks.iter().filter(|block| block.is_one_hot()).count();
        Self {
            rows,
            blocks: Arc::clone(blocks),
            width: blocks.last().map_or(0, |block| block.offset() + block.width()),
            binned,
            codes: vec![0; rows * one_hot],
            scalars: vec![0.0; rows * (blocks.len() - one_hot)],
            fine: vec![FINE_MISSING; rows * binned],
            clamped: vec![0; columns],
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The dense width.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The blocks of a dense row, in order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// One-hot blocks, and so codes of one row.
    pub fn codes_per_row(&self) -> usize {
        self.blocks.iter().filter(|block| block.is_one_hot()).count()
    }

    /// Scalar blocks, and so scalars of one row.
    pub fn scalars_per_row(&self) -> usize {
        self.blocks.len() - self.codes_per_row()
    }

    /// Binned columns, and so fine cells of one row.
    pub fn fine_per_row(&self) -> usize {
        self.binned
    }

    /// Expands some rows.
    ///
    /// # Shapes
    /// `out` is `[row_indices.len(), width]`, row-major, overwritten.
    ///
    /// # Panics
    /// When `out` has another length, or a row does not exist.
    pub fn write_dense(&self, row_indices: &[usize], out: &mut [f32]) {
        assert_eq!(
            out.len(),
            row_indices.len() * self.width,
            "one dense vector a row"
        );
        out.fill(0.0);
        if self.width == 0 {
            return;
        }
        let (codes, scalars) = (self.codes_per_row(), self.scalars_per_row());
        for (&row, dense) in row_indices.iter().zip(out.chunks_exact_mut(self.width)) {
            let mut codes = self.codes[row * codes..(row + 1) * codes].iter();
            let mut scalars = self.scalars[row * scalars..(row + 1) * scalars].iter();
            for block in self.blocks.iter() {
                match block {
                    Block::OneHot { offset, .. } => {
                        if let Some(&code) = codes.next() {
                            dense[offset + code as usize] = 1.0;
                        }
                    }
                    Block::Scalar { offset, .. } => {
                        if let Some(&scalar) = scalars.next() {
                            dense[*offset] = scalar;
                        }
                    }
                }
            }
        }
    }

    /// Reads dense rows back: the largest entry of each one-hot block, each scalar pulled into 0 to 1.
    ///
    /// # Shapes
    /// `dense` is `[self.rows(), width]`, row-major.
    ///
    /// # Errors
    /// When the length does not fit.
    pub fn read_dense(&mut self, dense: &[f32]) -> Result<(), DataError> {
        if dense.len() != self.rows * self.width {
            return Err(DataError::Encoded {
                message: format!(
                    "{} numbers for {} rows of width {}",
                    dense.len(),
                    self.rows,
                    self.width
                ),
            });
        }
        self.codes.clear();
        self.scalars.clear();
        self.fine.fill(FINE_MISSING);
        for row in dense.chunks_exact(self.width.max(1)) {
            for block in self.blocks.iter() {
                let part = &row[block.offset()..block.offset() + block.width()];
                match block {
                    Block::OneHot { .. } => {
                        let hottest =
                            (1..part.len()).fold(
                                0,
                                |best, place| if part[place] > part[best] { place } else { best },
                            );
                        self.codes.push(hottest as u16);
                    }
                    Block::Scalar { .. } => self.scalars.push(if part[0].is_nan() {
                        0.0
                    } else {
                        part[0].clamp(0.0, 1.0)
                    }),
                }
            }
        }
        Ok(())
    }

    /// Some rows, in the order given.
    ///
    /// # Panics
    /// When a row does not exist.
    #[must_use]
    pub fn select(&self, row_indices: &[usize]) -> Self {
        fn pick<T: Copy>(from: &[T], width: usize, rows: &[usize]) -> Vec<T> {
            rows.iter()
                .flat_map(|row| &from[row * width..(row + 1) * width])
                .copied()
                .collect()
        }
        Self {
            rows: row_indices.len(),
            blocks: Arc::clone(&self.blocks),
            width: self.width,
            binned: self.binned,
            codes: pick(&self.codes, self.codes_per_row(), row_indices),
            scalars: pick(&self.scalars, self.scalars_per_row(), row_indices),
            fine: pick(&self.fine, self.binned, row_indices),
            clamped: vec![0; self.clamped.len()],
        }
    }

    /// Cells moved to a bound, over all columns. For the steward only.
    pub fn clamped_cells(&self) -> u64 {
        self.clamped.iter().sum()
    }
}
