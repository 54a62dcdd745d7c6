//! Encoded rows that are only read: as few bytes a row as their codes need, in memory or, beyond a size, in a file. That
//! is read a row at a time for a batch, and in long pieces for a pass over all rows.

use std::path::PathBuf;
use std::sync::Arc;

use super::codec::FINE_MISSING;
use super::{Block, EncodedRows, RowEncoder};
use crate::data::spill::{Room, Spill};
use crate::data::{DataError, PersonRows, Table};
use crate::num::progress::Progress;

/// Rows of a pass that are unpacked at a time.
const PIECE: usize = 1 << 15;
/// A row's place among those that are left out.
const LEFT_OUT: u32 = u32::MAX;

/// How a row is packed: a byte for each number that fits one, else two; scalars as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Packing {
    /// Whether a code takes two bytes.
    codes: Vec<bool>,
    scalars: usize,
    /// Whether a fine cell takes two bytes. In one byte the last value stands for missing.
    fine: Vec<bool>,
    bytes: usize,
}

impl Packing {
    fn new(blocks: &[Block], fine_cells: impl Iterator<Item = usize>) -> Self {
        let one_hot = blocks.iter().filter(|block| block.is_one_hot());
        let codes: Vec<bool> = one_hot.map(|block| block.width() > 1 << 8).collect();
        let fine: Vec<bool> = fine_cells.map(|cells| cells > usize::from(u8::MAX)).collect();
        let scalars = blocks.len() - codes.len();
        let width = |wide: &bool| 1 + usize::from(*wide);
        let bytes = codes.iter().chain(&fine).map(width).sum::<usize>() + size_of::<f32>() * scalars;
        Self {
            codes,
            scalars,
            fine,
            bytes,
        }
    }

    fn pack(&self, rows: &EncodedRows, row: usize, out: &mut Vec<u8>) {
        let codes = &rows.codes[row * self.codes.len()..];
        for (&code, &wide) in codes.iter().zip(&self.codes) {
            put(out, code, wide);
        }
        for scalar in &rows.scalars[row * self.scalars..(row + 1) * self.scalars] {
            out.extend_from_slice(&scalar.to_le_bytes());
        }
        let fine = &rows.fine[row * self.fine.len()..];
        for (&cell, &wide) in fine.iter().zip(&self.fine) {
            let cell = if cell == FINE_MISSING && !wide {
                u16::from(u8::MAX)
            } else {
                cell
            };
            put(out, cell, wide);
        }
    }

    /// The codes and scalars of a packed row, in order.
    fn unpack(
        &self,
        bytes: &[u8],
        mut code: impl FnMut(usize, u16),
        mut scalar: impl FnMut(usize, f32),
    ) -> usize {
        let mut at = 0;
        for (index, &wide) in self.codes.iter().enumerate() {
            code(index, take(bytes, &mut at, wide));
        }
        for index in 0..self.scalars {
            let number = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
            scalar(index, f32::from_le_bytes(number));
            at += size_of::<f32>();
        }
        at
    }

    fn unpack_fine(&self, bytes: &[u8], mut at: usize, mut fine: impl FnMut(usize, u16)) {
        for (index, &wide) in self.fine.iter().enumerate() {
            let cell = take(bytes, &mut at, wide);
            let is_missing = !wide && cell == u16::from(u8::MAX);
            fine(index, if is_missing { FINE_MISSING } else { cell });
        }
    }
}

fn put(out: &mut Vec<u8>, number: u16, wide: bool) {
    let [low, high] = number.to_le_bytes();
    out.push(low);
    if wide {
        out.push(high);
    }
}

fn take(bytes: &[u8], at: &mut usize, wide: bool) -> u16 {
    let low = bytes[*at];
    let high = if wide { bytes[*at + 1] } else { 0 };
    *at += 1 + usize::from(wide);
    u16::from_le_bytes([low, high])
}

#[derive(Debug)]
enum Place {
    Memory(Vec<u8>),
    File(Spill),
}

/// Encoded rows that are only read; see the module.
#[derive(Debug)]
pub struct StoredRows {
    rows: usize,
    blocks: Arc<[Block]>,
    packing: Packing,
    place: Place,
    /// Where each person's rows begin, and where the last one's end, if persons are the unit of privacy.
    persons: Option<Vec<usize>>,
    clamped: u64,
}

/// Rows kept in a file could not be read back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{folder}: encoded rows that were kept there cannot be read back: {reason}; check the disk")]
pub struct StoreError {
    /// The folder.
    pub folder: PathBuf,
    /// What the system said.
    pub reason: String,
}

impl From<EncodedRows> for StoredRows {
    /// Keeps the rows in memory. Without an encoder it is not known how many fine cells there are.
    fn from(rows: EncodedRows) -> Self {
        let packing = Packing::new(
            rows.blocks(),
            std::iter::repeat_n(usize::MAX, rows.fine_per_row()),
        );
        let mut bytes = Vec::with_capacity(rows.rows() * packing.bytes);
        (0..rows.rows()).for_each(|row| packing.pack(&rows, row, &mut bytes));
        Self {
            rows: rows.rows(),
            blocks: rows.blocks.clone(),
            packing,
            place: Place::Memory(bytes),
            persons: None,
            clamped: rows.clamped_cells(),
        }
    }
}

impl StoredRows {
    /// The number of rows.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// The dense width.
    pub fn width(&self) -> usize {
        self.blocks
            .last()
            .map_or(0, |block| block.offset() + block.width())
    }

    /// Cells moved to a bound, over all columns. For the steward only.
    pub const fn clamped_cells(&self) -> u64 {
        self.clamped
    }

    /// Whether they lie in a file.
    pub const fn is_in_file(&self) -> bool {
        matches!(self.place, Place::File(_))
    }

    /// What they take, in memory or in the file.
    pub const fn bytes(&self) -> u64 {
        self.rows as u64 * self.packing.bytes as u64
    }

    /// Where each person's rows begin, and where the last one's end; `None` where each row is a unit of its own.
    pub fn persons(&self) -> Option<&[usize]> {
        self.persons.as_deref()
    }

    /// How many units of privacy the rows belong to: persons, or rows.
    pub fn units(&self) -> usize {
        self.persons
            .as_ref()
            .map_or(self.rows, |starts| starts.len().saturating_sub(1))
    }

    /// The same rows, belonging to persons whose rows follow each other: where each one's begin, and the last one's end.
    #[must_use]
    pub fn with_persons(self, starts: Vec<usize>) -> Self {
        Self {
            persons: Some(starts),
            ..self
        }
    }

    /// The packed rows from one on.
    fn packed<'a>(
        &'a self,
        first: usize,
        rows: usize,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], StoreError> {
        let (start, length) = (first * self.packing.bytes, rows * self.packing.bytes);
        match &self.place {
            Place::Memory(bytes) => Ok(&bytes[start..start + length]),
            Place::File(file) => {
                buffer.resize(length, 0);
                file.read(buffer, start as u64).map_err(|error| StoreError {
                    folder: file.folder().to_owned(),
                    reason: error.to_string(),
                })?;
                Ok(buffer)
            }
        }
    }

    /// Expands some rows.
    ///
    /// # Shapes
    /// `out` is `[row_indices.len(), width]`, row-major, overwritten.
    ///
    /// # Errors
    /// When the file cannot be read.
    ///
    /// # Panics
    /// When `out` has another length, or a row does not exist.
    pub fn write_dense(&self, row_indices: &[usize], out: &mut [f32]) -> Result<(), StoreError> {
        let width = self.width();
        assert_eq!(out.len(), row_indices.len() * width, "one dense vector a row");
        out.fill(0.0);
        let offsets = |one_hot: bool| -> Vec<usize> {
            let blocks = self.blocks.iter().filter(|block| block.is_one_hot() == one_hot);
            blocks.map(Block::offset).collect()
        };
        let (hot, scalar) = (offsets(true), offsets(false));
        let mut buffer = Vec::new();
        for (&row, dense) in row_indices.iter().zip(out.chunks_exact_mut(width.max(1))) {
            let bytes = self.packed(row, 1, &mut buffer)?;
            // Two passes over the numbers, since both write into the same row.
            self.packing.unpack(
                bytes,
                |index, code| dense[hot[index] + usize::from(code)] = 1.0,
                |_, _| (),
            );
            if !scalar.is_empty() {
                self.packing
                    .unpack(bytes, |_, _| (), |index, number| dense[scalar[index]] = number);
            }
        }
        Ok(())
    }

    /// One pass over all rows, some thousand at a time.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn each_piece(&self, mut visit: impl FnMut(&EncodedRows)) -> Result<(), StoreError> {
        let mut buffer = Vec::new();
        let mut first = 0;
        while first < self.rows {
            let count = PIECE.min(self.rows - first);
            let bytes = self.packed(first, count, &mut buffer)?;
            let mut piece = EncodedRows::new(count, &self.blocks, self.packing.fine.len(), 0);
            let (codes, scalars, fine) = (
                self.packing.codes.len(),
                self.packing.scalars,
                self.packing.fine.len(),
            );
            for (row, bytes) in bytes.chunks_exact(self.packing.bytes.max(1)).enumerate() {
                let (own, numbers) = (
                    &mut piece.codes[row * codes..],
                    &mut piece.scalars[row * scalars..],
                );
                let at = self.packing.unpack(
                    bytes,
                    |index, code| own[index] = code,
                    |index, number| numbers[index] = number,
                );
                let own = &mut piece.fine[row * fine..];
                self.packing
                    .unpack_fine(bytes, at, |index, cell| own[index] = cell);
            }
            visit(&piece);
            first += count;
        }
        Ok(())
    }
}

impl RowEncoder {
    /// Encodes the rows of a table, as [`RowEncoder::encode`] does, piece by piece into as few bytes as they need, in
    /// memory or in a file. With persons: the rows that count, person by person.
    ///
    /// `progress` counts rows.
    ///
    /// # Errors
    /// As [`RowEncoder::encode`], and when the file cannot be written.
    pub fn store(
        &self,
        table: &Table,
        persons: Option<PersonRows>,
        room: &Room,
        progress: &Progress,
    ) -> Result<StoredRows, DataError> {
        let packing = Packing::new(&self.blocks, self.fine_layouts().map(super::FineLayout::cells));
        let rows = persons
            .as_ref()
            .map_or(table.rows(), |persons| persons.rows.len());
        let (targets, starts) = match persons {
            Some(persons) => (Some(targets(table.rows(), &persons.rows)), Some(persons.starts)),
            None => (None, None),
        };
        let mut writer = Writer::new(&packing, rows, room)?;
        let mut clamped = 0;
        progress.set(0, table.rows() as u64);
        self.encode_pieces(table, progress, &mut |first, piece| {
            clamped += piece.clamped_cells();
            for row in 0..piece.rows() {
                let target = match &targets {
                    None => first + row,
                    Some(targets) if targets[first + row] == LEFT_OUT => continue,
                    Some(targets) => targets[first + row] as usize,
                };
                writer.put(target, |out| packing.pack(piece, row, out))?;
            }
            progress.advance(piece.rows() as u64);
            Ok(())
        })?;
        let place = writer.finish()?;
        Ok(StoredRows {
            rows,
            blocks: Arc::clone(&self.blocks),
            packing,
            place,
            persons: starts,
            clamped,
        })
    }
}

/// Where each row of a table goes.
fn targets(rows: usize, wanted: &[usize]) -> Vec<u32> {
    let mut targets = vec![LEFT_OUT; rows];
    for (target, &row) in (0..LEFT_OUT).zip(wanted) {
        targets[row] = target;
    }
    targets
}

/// Puts packed rows where they belong. Rows that follow each other are written together.
struct Writer {
    place: Place,
    bytes: usize,
    /// Rows of the file that are not written yet, and where the first of them goes.
    waiting: Vec<u8>,
    first: usize,
}

/// Bytes that wait to be written, at most.
const TOGETHER: usize = 1 << 20;

impl Writer {
    fn new(packing: &Packing, rows: usize, room: &Room) -> Result<Self, DataError> {
        let bytes = packing.bytes;
        let place = match &room.folder {
            Some(folder) if rows as u64 * bytes as u64 > room.encoded_bytes => Place::File(
                Spill::create(folder).map_err(|source| Spill::full(folder, (rows * bytes) as u64, source))?,
            ),
            _ => Place::Memory(vec![0; rows * bytes]),
        };
        Ok(Self {
            place,
            bytes,
            waiting: Vec::new(),
            first: 0,
        })
    }

    fn put(&mut self, target: usize, pack: impl FnOnce(&mut Vec<u8>)) -> Result<(), DataError> {
        let follows = target == self.first + self.waiting.len() / self.bytes.max(1);
        if !follows || self.waiting.len() >= TOGETHER {
            self.flush()?;
            self.first = target;
        }
        pack(&mut self.waiting);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), DataError> {
        let start = self.first * self.bytes;
        match &mut self.place {
            Place::Memory(bytes) => {
                bytes[start..start + self.waiting.len()].copy_from_slice(&self.waiting);
            }
            Place::File(file) => {
                let written = file.write(&self.waiting, start as u64);
                let bytes = (start + self.waiting.len()) as u64;
                written.map_err(|source| Spill::full(file.folder(), bytes, source))?;
            }
        }
        self.waiting.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<Place, DataError> {
        self.flush()?;
        Ok(self.place)
    }
}

#[cfg(test)]
mod tests;
