//! Columns of text under construction: numbered while there are few distinct texts, plain after that.
//!
//! Several threads each build a part of every column, from blocks of the file; [`join`] puts the parts together.
//! Nothing in the result depends on how many threads there were: texts are numbered in the order in which the file
//! has them.

mod texts;

use std::sync::Arc;

use arrow::array::{ArrayRef, DictionaryArray, Int32Array, LargeStringArray, StringArray};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::Int32Type;

use texts::Texts;
pub(super) use texts::{Cell, NotUtf8};

/// More distinct texts than this, and numbering them no longer pays.
const MAX_DISTINCT: usize = 1 << 16;
/// More bytes of distinct texts than this, and they do not fit the offsets of a dictionary.
const MAX_BYTES: usize = 1 << 30;
/// Rows of one array; small enough for the cache, large enough for loops.
pub(super) const CHUNK_ROWS: usize = 1 << 16;
/// The number of a missing cell.
const MISSING: i32 = -1;

/// One column while its cells arrive, block by block.
pub(super) struct TextColumn {
    blocks: Vec<Block>,
    /// The distinct texts, while they are few.
    texts: Option<Texts>,
}

/// The cells that one block of the file has of a column.
struct Block {
    number: u32,
    cells: Cells,
}

enum Cells {
    Numbered(Vec<i32>),
    Plain(Plain),
}

/// Cells one after another.
#[derive(Default)]
struct Plain {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    valid: Vec<bool>,
}

impl TextColumn {
    pub(super) fn new() -> Self {
        Self {
            blocks: Vec::new(),
            texts: Some(Texts::new()),
        }
    }

    /// Adds cells of a block; `None` is a missing one. Blocks come in rising order.
    ///
    /// # Errors
    /// When a text is not UTF-8; the column is of no use then.
    pub(super) fn push<'a>(
        &mut self,
        number: u32,
        cells: impl Iterator<Item = Option<Cell<'a>>>,
    ) -> Result<(), NotUtf8> {
        if self.blocks.last().is_none_or(|block| block.number != number) {
            let cells = match self.texts {
                Some(_) => Cells::Numbered(Vec::new()),
                None => Cells::Plain(Plain::default()),
            };
            self.blocks.push(Block { number, cells });
        }
        let Some(block) = self.blocks.last_mut() else {
            return Ok(());
        };
        match (&mut block.cells, &mut self.texts) {
            (Cells::Numbered(keys), Some(texts)) => {
                for cell in cells {
                    keys.push(match cell {
                        None => MISSING,
                        Some(cell) => texts.key(cell, number)?,
                    });
                }
                if texts.len() > MAX_DISTINCT || texts.size() > MAX_BYTES {
                    self.turn_plain();
                }
            }
            (Cells::Plain(plain), _) => {
                for cell in cells {
                    plain.push(cell.map(Cell::text))?;
                }
            }
            // Without texts every block is plain.
            (Cells::Numbered(_), None) => {}
        }
        Ok(())
    }

    /// The distinct texts are too many: every block gets its own.
    fn turn_plain(&mut self) {
        let Some(texts) = self.texts.take() else { return };
        for block in &mut self.blocks {
            let Cells::Numbered(keys) = &block.cells else {
                continue;
            };
            let mut plain = Plain::default();
            for &key in keys {
                plain.add((key != MISSING).then(|| texts.text(key as usize)));
            }
            block.cells = Cells::Plain(plain);
        }
    }
}

impl Plain {
    fn push(&mut self, cell: Option<&[u8]>) -> Result<(), NotUtf8> {
        if let Some(cell) = cell {
            std::str::from_utf8(cell).map_err(|_| NotUtf8)?;
        }
        self.add(cell);
        Ok(())
    }

    fn add(&mut self, cell: Option<&[u8]>) {
        self.bytes.extend_from_slice(cell.unwrap_or_default());
        self.ends.push(self.bytes.len() as u32);
        self.valid.push(cell.is_some());
    }
}

/// The arrays of a column, of [`CHUNK_ROWS`] rows each (the last one shorter), from its parts.
pub(super) fn join(mut parts: Vec<TextColumn>) -> Vec<ArrayRef> {
    let known: Option<Vec<&Texts>> = parts.iter().map(|part| part.texts.as_ref()).collect();
    let joined = known
        .map(|known| Texts::join(&known))
        .filter(|(texts, _)| texts.len() <= MAX_DISTINCT && texts.size() <= MAX_BYTES);
    if let Some((texts, numbers)) = joined {
        return join_numbered(parts, texts, &numbers);
    }
    parts.iter_mut().for_each(TextColumn::turn_plain);
    join_plain(parts)
}

/// All blocks in order, each with the place of its part.
fn in_order(parts: Vec<TextColumn>) -> Vec<(usize, Block)> {
    let mut blocks: Vec<(usize, Block)> = parts
        .into_iter()
        .enumerate()
        .flat_map(|(part, column)| column.blocks.into_iter().map(move |block| (part, block)))
        .collect();
    blocks.sort_by_key(|(_, block)| block.number);
    blocks
}

fn join_numbered(parts: Vec<TextColumn>, texts: Texts, numbers: &[Vec<i32>]) -> Vec<ArrayRef> {
    let texts = Arc::new(texts.finish());
    let mut arrays = Vec::new();
    let mut keys: Vec<i32> = Vec::new();
    for (part, block) in in_order(parts) {
        let Cells::Numbered(own) = block.cells else {
            continue;
        };
        let mut own = own.as_slice();
        while !own.is_empty() {
            keys.reserve_exact(CHUNK_ROWS - keys.len());
            let (now, later) = own.split_at(own.len().min(CHUNK_ROWS - keys.len()));
            keys.extend(now.iter().map(|&key| match key {
                MISSING => MISSING,
                key => numbers[part][key as usize],
            }));
            if keys.len() == CHUNK_ROWS {
                arrays.push(dictionary(std::mem::take(&mut keys), &texts));
            }
            own = later;
        }
    }
    if !keys.is_empty() {
        keys.shrink_to_fit();
        arrays.push(dictionary(keys, &texts));
    }
    arrays
}

fn dictionary(mut keys: Vec<i32>, texts: &Arc<StringArray>) -> ArrayRef {
    let rows = keys.len();
    let valid: NullBuffer = keys.iter().map(|&key| key != MISSING).collect();
    // A null's key is never looked at, but it must be in range for Arrow's own checks.
    keys.iter_mut().for_each(|key| *key = (*key).max(0));
    let keys = Int32Array::new(
        ScalarBuffer::from(keys),
        (valid.null_count() > 0).then_some(valid),
    );
    match DictionaryArray::<Int32Type>::try_new(keys, Arc::clone(texts) as ArrayRef) {
        Ok(array) => Arc::new(array),
        // Only a column without any text has keys out of range: all its cells are missing.
        Err(_) => Arc::new(DictionaryArray::<Int32Type>::new(
            Int32Array::new_null(rows),
            Arc::new(StringArray::from(vec![""])),
        )),
    }
}

fn join_plain(parts: Vec<TextColumn>) -> Vec<ArrayRef> {
    let mut arrays = Vec::new();
    let mut bytes = Vec::new();
    let mut ends: Vec<i64> = vec![0];
    let mut valid = Vec::new();
    for (_, block) in in_order(parts) {
        let Cells::Plain(plain) = block.cells else {
            continue;
        };
        let mut row = 0;
        while row < plain.ends.len() {
            let last = plain.ends.len().min(row + CHUNK_ROWS - valid.len());
            let start = if row == 0 { 0 } else { plain.ends[row - 1] };
            let shift = bytes.len() as i64 - i64::from(start);
            bytes.extend_from_slice(&plain.bytes[start as usize..plain.ends[last - 1] as usize]);
            ends.extend(plain.ends[row..last].iter().map(|&end| i64::from(end) + shift));
            valid.extend_from_slice(&plain.valid[row..last]);
            if valid.len() == CHUNK_ROWS {
                arrays.push(strings(&mut bytes, &mut ends, &mut valid));
            }
            row = last;
        }
    }
    if !valid.is_empty() {
        arrays.push(strings(&mut bytes, &mut ends, &mut valid));
    }
    arrays
}

fn strings(bytes: &mut Vec<u8>, ends: &mut Vec<i64>, valid: &mut Vec<bool>) -> ArrayRef {
    let mut bytes = std::mem::take(bytes);
    bytes.shrink_to_fit();
    let offsets = std::mem::replace(ends, vec![0]);
    let valid: NullBuffer = valid.drain(..).collect();
    Arc::new(LargeStringArray::new(
        OffsetBuffer::new(offsets.into()),
        Buffer::from_vec(bytes),
        (valid.null_count() > 0).then_some(valid),
    ))
}

#[cfg(test)]
mod tests {
    use arrow::array::{Array as _, AsArray as _};

    use super::*;

    fn column(
        rows: std::ops::Range<usize>,
        block: usize,
        text: impl Fn(usize) -> Option<String>,
    ) -> TextColumn {
        let mut column = TextColumn::new();
        for row in rows {
            let cell = text(row);
            let cell = cell.as_deref().map(|text| Cell::of(text.as_bytes()));
            column.push((row / block) as u32, std::iter::once(cell)).unwrap();
        }
        column
    }

    #[test]
    fn few_texts_are_numbered_and_many_are_kept_plain() {
        let rows = CHUNK_ROWS * 2 + 100;
        for distinct in [3, rows] {
            let text = |row: usize| (row % 7 != 6).then(|| format!("text {}", row % distinct));
            let arrays = join(vec![column(0..rows, 1000, text)]);
            assert_eq!(arrays.iter().map(arrow::array::Array::len).sum::<usize>(), rows);
            let is_plain = arrays[0].as_string_opt::<i64>().is_some();
            assert_eq!(is_plain, distinct > MAX_DISTINCT);
            let mut row = 0;
            for array in &arrays {
                for offset in 0..array.len() {
                    let mut buffer = String::new();
                    assert_eq!(
                        crate::data::table::cell(array, offset, &mut buffer),
                        text(row).as_deref()
                    );
                    row += 1;
                }
            }
        }
    }

    #[test]
    fn parts_of_any_number_make_the_same_column() {
        // Few texts, many, and as many as one part alone can still number.
        for distinct in [5, 40_000, 90_000] {
            let rows = 100_000;
            let text = |row: usize| (row % 11 != 3).then(|| format!("{}", row * 7919 % distinct));
            let whole = join(vec![column(0..rows, 9000, text)]);
            for count in [2, 3] {
                let mut parts: Vec<TextColumn> = (0..count).map(|_| TextColumn::new()).collect();
                for row in 0..rows {
                    let block = row / 9000;
                    let cell = text(row);
                    let cell = cell.as_deref().map(|text| Cell::of(text.as_bytes()));
                    // Not in turn: a thread takes what it gets.
                    let part = block * block % count;
                    parts[part].push(block as u32, std::iter::once(cell)).unwrap();
                }
                let joined = join(parts);
                assert_eq!(joined.len(), whole.len());
                assert!(
                    whole.iter().zip(&joined).all(|(a, b)| a == b),
                    "{distinct} in {count}"
                );
            }
        }
    }

    #[test]
    fn a_column_without_a_cell_is_all_missing() {
        let arrays = join(vec![column(0..3, 2, |_| None)]);
        assert_eq!((arrays[0].len(), arrays[0].null_count()), (3, 3));
        let cell = std::iter::once(Some(Cell::of(b"\xff")));
        assert!(TextColumn::new().push(0, cell).is_err());
    }
}
