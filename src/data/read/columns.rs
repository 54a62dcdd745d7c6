//! Columns of text under construction: numbered while there are few distinct texts, plain after that.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use arrow::array::{ArrayRef, DictionaryArray, Int32Array, LargeStringArray, StringArray};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::Int32Type;

/// More distinct texts than this, and numbering them no longer pays.
const MAX_DISTINCT: usize = 1 << 16;
/// Rows of one array; small enough for the cache, large enough for loops.
pub(super) const CHUNK_ROWS: usize = 1 << 16;

/// A text that is not UTF-8.
#[derive(Clone, Copy, Debug)]
pub(super) struct NotUtf8;

/// One column while its cells arrive.
pub(super) struct TextColumn {
    rows: Vec<i32>,
    texts: Texts,
    plain: Option<Plain>,
}

/// Cells one after another.
#[derive(Default)]
struct Plain {
    finished: Vec<ArrayRef>,
    bytes: Vec<u8>,
    ends: Vec<i64>,
    valid: Vec<bool>,
}

impl TextColumn {
    pub(super) fn new() -> Self {
        Self {
            rows: Vec::new(),
            texts: Texts::new(),
            plain: None,
        }
    }

    /// Adds a cell; `None` is a missing one.
    pub(super) fn push(&mut self, cell: Option<&[u8]>) -> Result<(), NotUtf8> {
        if let Some(plain) = &mut self.plain {
            return plain.push(cell);
        }
        let Some(cell) = cell else {
            self.rows.push(-1);
            return Ok(());
        };
        let key = self.texts.key(cell)?;
        self.rows.push(key);
        if self.texts.len() > MAX_DISTINCT {
            self.turn_plain()?;
        }
        Ok(())
    }

    fn turn_plain(&mut self) -> Result<(), NotUtf8> {
        let mut plain = Plain::default();
        for &key in &self.rows {
            let cell = (key >= 0).then(|| self.texts.text(key as usize));
            plain.push(cell)?;
        }
        self.rows = Vec::new();
        self.texts = Texts::new();
        self.plain = Some(plain);
        Ok(())
    }

    /// The finished arrays of [`CHUNK_ROWS`] rows each (the last one shorter).
    pub(super) fn finish(self) -> Vec<ArrayRef> {
        if let Some(plain) = self.plain {
            return plain.finish();
        }
        let texts: ArrayRef = Arc::new(self.texts.finish());
        let keys = self.rows.chunks(CHUNK_ROWS).map(|rows| {
            let valid: NullBuffer = rows.iter().map(|&key| key >= 0).collect();
            // A null's key is never looked at, but it must be in range for Arrow's own checks.
            let keys: ScalarBuffer<i32> = rows.iter().map(|&key| key.max(0)).collect();
            let keys = Int32Array::new(keys, (valid.null_count() > 0).then_some(valid));
            match DictionaryArray::<Int32Type>::try_new(keys, Arc::clone(&texts)) {
                Ok(array) => Arc::new(array) as ArrayRef,
                // Only a column without any text has keys out of range: all its cells are missing.
                Err(_) => Arc::new(DictionaryArray::<Int32Type>::new_null_like(rows.len())) as ArrayRef,
            }
        });
        keys.collect()
    }
}

/// A dictionary column of missing cells only.
trait NullLike {
    fn new_null_like(rows: usize) -> Self;
}

impl NullLike for DictionaryArray<Int32Type> {
    fn new_null_like(rows: usize) -> Self {
        Self::new(Int32Array::new_null(rows), Arc::new(StringArray::from(vec![""])))
    }
}

impl Plain {
    fn push(&mut self, cell: Option<&[u8]>) -> Result<(), NotUtf8> {
        if let Some(cell) = cell {
            std::str::from_utf8(cell).map_err(|_| NotUtf8)?;
            self.bytes.extend_from_slice(cell);
        }
        self.ends.push(self.bytes.len() as i64);
        self.valid.push(cell.is_some());
        if self.ends.len() == CHUNK_ROWS {
            self.flush();
        }
        Ok(())
    }

    fn flush(&mut self) {
        if self.ends.is_empty() {
            return;
        }
        let mut offsets = Vec::with_capacity(self.ends.len() + 1);
        offsets.push(0);
        offsets.append(&mut self.ends);
        let valid: NullBuffer = self.valid.drain(..).collect();
        let array = LargeStringArray::new(
            OffsetBuffer::new(offsets.into()),
            Buffer::from_vec(std::mem::take(&mut self.bytes)),
            (valid.null_count() > 0).then_some(valid),
        );
        self.finished.push(Arc::new(array));
    }

    fn finish(mut self) -> Vec<ArrayRef> {
        self.flush();
        self.finished
    }
}

/// Distinct texts, each with a number; an open-addressing hash table over one byte buffer.
struct Texts {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    /// `(hash, number + 1)`; number 0 marks a free slot.
    slots: Vec<(u32, u32)>,
    seed: u64,
}

impl Texts {
    fn new() -> Self {
        Self {
            bytes: Vec::new(),
            ends: Vec::new(),
            slots: vec![(0, 0); 64],
            // Random, so that no file can be made to collide.
            seed: RandomState::new().hash_one(0_u8) | 1,
        }
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn text(&self, number: usize) -> &[u8] {
        let start = if number == 0 {
            0
        } else {
            self.ends[number - 1] as usize
        };
        &self.bytes[start..self.ends[number] as usize]
    }

    fn key(&mut self, text: &[u8]) -> Result<i32, NotUtf8> {
        let hash = hash(self.seed, text);
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let (known_hash, number) = self.slots[slot];
            if number == 0 {
                break;
            }
            if known_hash == hash && self.text(number as usize - 1) == text {
                return Ok(number as i32 - 1);
            }
            slot = (slot + 1) & mask;
        }
        std::str::from_utf8(text).map_err(|_| NotUtf8)?;
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len() as u32);
        let number = self.ends.len() as u32;
        self.slots[slot] = (hash, number);
        if self.ends.len() * 2 > self.slots.len() {
            self.grow();
        }
        Ok(number as i32 - 1)
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        let mut slots = vec![(0, 0); mask + 1];
        for &(hash, number) in self.slots.iter().filter(|(_, number)| *number > 0) {
            let mut slot = hash as usize & mask;
            while slots[slot].1 != 0 {
                slot = (slot + 1) & mask;
            }
            slots[slot] = (hash, number);
        }
        self.slots = slots;
    }

    fn finish(self) -> StringArray {
        let mut offsets = Vec::with_capacity(self.ends.len() + 1);
        offsets.push(0_i32);
        offsets.extend(self.ends.iter().map(|&end| end as i32));
        StringArray::new(
            OffsetBuffer::new(offsets.into()),
            Buffer::from_vec(self.bytes),
            None,
        )
    }
}

/// Multiply and fold, eight bytes at a time.
fn hash(seed: u64, text: &[u8]) -> u32 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let fold = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * u128::from(FACTOR);
        (product as u64) ^ (product >> 64) as u64
    };
    let mut state = seed ^ (text.len() as u64);
    let mut words = text.chunks_exact(8);
    for word in &mut words {
        state = fold(
            state,
            u64::from_le_bytes([
                word[0], word[1], word[2], word[3], word[4], word[5], word[6], word[7],
            ]),
        );
    }
    let last = words
        .remainder()
        .iter()
        .fold(0_u64, |word, &byte| (word << 8) | u64::from(byte));
    state = fold(fold(state, last), seed);
    (state ^ (state >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use arrow::array::{Array as _, AsArray as _};

    use super::*;

    #[test]
    fn few_texts_are_numbered_and_many_are_kept_plain() {
        let rows = CHUNK_ROWS * 2 + 100;
        for distinct in [3, rows] {
            let mut column = TextColumn::new();
            let text = |row: usize| (row % 7 != 6).then(|| format!("text {}", row % distinct));
            for row in 0..rows {
                column.push(text(row).as_deref().map(str::as_bytes)).unwrap();
            }
            let arrays = column.finish();
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
    fn a_column_without_a_cell_is_all_missing() {
        let mut column = TextColumn::new();
        for _ in 0..3 {
            column.push(None).unwrap();
        }
        let arrays = column.finish();
        assert_eq!((arrays[0].len(), arrays[0].null_count()), (3, 3));
        assert!(TextColumn::new().push(Some(b"\xff")).is_err());
    }
}
