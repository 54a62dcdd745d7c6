//! The parts of a column put together, round by round.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanBufferBuilder, DictionaryArray, Int32Array, LargeStringArray, StringArray,
};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::Int32Type;

use super::texts::Texts;
use super::{Block, CHUNK_ROWS, Cells, MAX_BYTES, MAX_DISTINCT, TextColumn};

/// What is known of a column's texts from round to round.
pub(in crate::data::read) struct Joint {
    texts: Texts,
    /// The number here of each text of each part.
    numbers: Vec<Vec<i32>>,
    array: Option<Arc<StringArray>>,
}

impl Joint {
    pub fn new() -> Self {
        Self {
            texts: Texts::new(),
            numbers: Vec::new(),
            array: None,
        }
    }

    /// Takes the cells that all parts of the column have, as arrays of [`CHUNK_ROWS`] rows each (the last one shorter).
    pub fn join(&mut self, mut parts: Vec<&mut TextColumn>) -> Vec<ArrayRef> {
        let texts = self.add(&parts);
        if texts.is_none() {
            *self = Self::new();
            parts.iter_mut().for_each(|part| part.turn_plain());
        }
        let mut blocks: Vec<(usize, &Block)> = Vec::new();
        for (part, column) in parts.iter().enumerate() {
            blocks.extend(column.blocks.iter().map(|block| (part, block)));
        }
        blocks.sort_by_key(|(_, block)| block.number);
        let arrays = match texts {
            Some(texts) => self.numbered(&parts, &blocks, &texts),
            None => plain(&parts, &blocks),
        };
        parts.iter_mut().for_each(|part| part.clear());
        arrays
    }

    /// All texts so far; none when they are too many.
    fn add(&mut self, parts: &[&mut TextColumn]) -> Option<Arc<StringArray>> {
        let known: Vec<&Texts> = parts
            .iter()
            .map(|part| part.texts.as_ref())
            .collect::<Option<_>>()?;
        let before = self.texts.len();
        self.numbers.resize(known.len(), Vec::new());
        self.texts.add(&known, &mut self.numbers);
        if self.texts.len() > MAX_DISTINCT || self.texts.size() > MAX_BYTES {
            return None;
        }
        if before < self.texts.len() || self.array.is_none() {
            self.array = Some(Arc::new(self.texts.array()));
        }
        self.array.clone()
    }

    fn numbered(
        &self,
        parts: &[&mut TextColumn],
        blocks: &[(usize, &Block)],
        texts: &Arc<StringArray>,
    ) -> Vec<ArrayRef> {
        let mut arrays = Vec::new();
        let mut keys: Vec<i32> = Vec::new();
        let mut valid = BooleanBufferBuilder::new(0);
        for &(part, block) in blocks {
            let Cells::Numbered(own) = &parts[part].cells else {
                continue;
            };
            let numbers = &self.numbers[part];
            let mut own = &own[block.rows.clone()];
            while !own.is_empty() {
                keys.reserve_exact(CHUNK_ROWS - keys.len());
                let (now, later) = own.split_at(own.len().min(CHUNK_ROWS - keys.len()));
                if now.contains(&u16::MAX) {
                    valid.append_n(keys.len() - valid.len(), true);
                    now.iter().for_each(|&key| valid.append(key != u16::MAX));
                }
                // A missing cell's number is never looked at, but it must be in range for Arrow's own checks.
                let number = |&key: &u16| numbers.get(usize::from(key)).copied().unwrap_or(0);
                keys.extend(now.iter().map(number));
                if keys.len() == CHUNK_ROWS {
                    arrays.push(dictionary(std::mem::take(&mut keys), &mut valid, texts));
                }
                own = later;
            }
        }
        if !keys.is_empty() {
            keys.shrink_to_fit();
            arrays.push(dictionary(keys, &mut valid, texts));
        }
        arrays
    }
}

/// `valid` is empty if all cells are, and shorter than the numbers if those behind it are.
fn dictionary(keys: Vec<i32>, valid: &mut BooleanBufferBuilder, texts: &Arc<StringArray>) -> ArrayRef {
    let rows = keys.len();
    let nulls = (!valid.is_empty()).then(|| {
        valid.append_n(rows - valid.len(), true);
        NullBuffer::new(valid.finish())
    });
    let keys = Int32Array::new(ScalarBuffer::from(keys), nulls);
    match DictionaryArray::<Int32Type>::try_new(keys, Arc::clone(texts) as ArrayRef) {
        Ok(array) => Arc::new(array),
        // Only a column without any text has keys out of range: all its cells are missing.
        Err(_) => Arc::new(DictionaryArray::<Int32Type>::new(
            Int32Array::new_null(rows),
            Arc::new(StringArray::from(vec![""])),
        )),
    }
}

fn plain(parts: &[&mut TextColumn], blocks: &[(usize, &Block)]) -> Vec<ArrayRef> {
    let mut arrays = Vec::new();
    let mut bytes = Vec::new();
    let mut ends: Vec<i64> = vec![0];
    let mut valid = Vec::new();
    for &(part, block) in blocks {
        let Cells::Plain(plain) = &parts[part].cells else {
            continue;
        };
        let mut row = block.rows.start;
        while row < block.rows.end {
            let last = block.rows.end.min(row + CHUNK_ROWS - valid.len());
            let start = plain.start(row);
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
