//! Distinct texts, each with a number.

use std::hash::{BuildHasher as _, RandomState};

use arrow::array::StringArray;
use arrow::buffer::{Buffer, OffsetBuffer};

use crate::data::value::trimmed;

/// A text that is not UTF-8.
#[derive(Clone, Copy, Debug)]
pub(in crate::data::read) struct NotUtf8;

/// Texts of at most so many bytes are compared as numbers.
const SHORT: usize = 16;

/// The lowest bytes of a number, by how many.
const LOWEST: [u128; SHORT + 1] = {
    let mut masks = [u128::MAX; SHORT + 1];
    let mut bytes = 0;
    while bytes < SHORT {
        masks[bytes] = (1 << (8 * bytes)) - 1;
        bytes += 1;
    }
    masks
};

/// A text with its first bytes as a number: for a short one that is all of it.
#[derive(Clone, Copy, Debug)]
pub(in crate::data::read) struct Cell<'a> {
    text: &'a [u8],
    word: u128,
}

impl<'a> Cell<'a> {
    /// From a text alone.
    pub fn of(text: &'a [u8]) -> Self {
        let word = match text.first_chunk::<SHORT>() {
            Some(head) => u128::from_le_bytes(*head),
            None => text
                .iter()
                .rev()
                .fold(0, |word, &byte| (word << 8) | u128::from(byte)),
        };
        Self { text, word }
    }

    /// From a text at the beginning of more bytes, which lets it be read at once.
    #[inline]
    pub fn at(bytes: &'a [u8], length: usize) -> Self {
        let text = &bytes[..length];
        match bytes.first_chunk::<SHORT>() {
            Some(head) => Self {
                text,
                word: u128::from_le_bytes(*head) & LOWEST[length.min(SHORT)],
            },
            None => Self::of(text),
        }
    }

    /// The text.
    pub const fn text(self) -> &'a [u8] {
        self.text
    }
}

/// Spellings of a missing cell.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::data::read) struct Spellings<'a> {
    all: &'a [String],
    /// Bit n: one of them has n bytes.
    lengths: u64,
}

impl<'a> Spellings<'a> {
    pub fn new(all: &'a [String]) -> Self {
        let short = all.iter().map(String::len).filter(|length| *length < 64);
        Self {
            all,
            lengths: short.fold(0, |bits, length| bits | 1 << length),
        }
    }

    /// Whether a text (without blanks around it) stands for a missing cell. An empty one always does.
    pub fn has(self, text: &[u8]) -> bool {
        let is_length = text.len() > 63 || self.lengths >> text.len() & 1 == 1;
        text.is_empty() || is_length && self.all.iter().any(|spelling| spelling.as_bytes() == text)
    }
}

/// The number of a missing cell.
pub(super) const MISSING: u32 = u32::MAX;

/// An open-addressing hash table over one byte buffer. It knows cells as they stand in the file, so that blanks around a
/// text, spellings of missing and bytes that are no text are looked for once each.
pub(super) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    /// The block in which each text was first met.
    blocks: Vec<u32>,
    slots: Vec<Slot>,
    /// How many slots are taken.
    taken: usize,
    seeds: [u64; 2],
}

#[derive(Clone, Copy)]
struct Slot {
    /// Of a short cell all of it, of a longer one its first bytes and a hash.
    words: [u64; 2],
    /// The cell's length; that of no cell marks a free slot.
    length: u32,
    number: u32,
}

impl Slot {
    const FREE: Self = Self {
        words: [0; 2],
        length: u32::MAX,
        number: MISSING,
    };
}

impl Texts {
    pub fn new() -> Self {
        let random = RandomState::new();
        Self {
            bytes: Vec::new(),
            ends: Vec::new(),
            blocks: Vec::new(),
            slots: vec![Slot::FREE; 16],
            taken: 0,
            // Random, so that no file can be made to collide.
            seeds: [0_u8, 1].map(|which| random.hash_one(which)),
        }
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many cells of different spelling were met.
    pub const fn spellings(&self) -> usize {
        self.taken
    }

    /// The bytes of all texts.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    pub fn text(&self, number: usize) -> &[u8] {
        let start = if number == 0 {
            0
        } else {
            self.ends[number - 1] as usize
        };
        &self.bytes[start..self.ends[number] as usize]
    }

    /// The number of a cell's text without the blanks around it, which is new if it was not met before; [`MISSING`] if the
    /// cell is.
    #[inline]
    pub fn key(&mut self, cell: Cell<'_>, block: u32, missing: Spellings<'_>) -> Result<u32, NotUtf8> {
        match self.find(cell) {
            Some(number) => Ok(number),
            None => self.meet(cell, block, missing),
        }
    }

    /// The number of a cell that was met before.
    #[inline]
    fn find(&self, cell: Cell<'_>) -> Option<u32> {
        let length = cell.text.len() as u32;
        let is_short = cell.text.len() <= SHORT;
        let words = self.words(cell);
        let mask = self.slots.len() - 1;
        let mut place = self.place(words, length) & mask;
        loop {
            let slot = self.slots[place];
            if slot.words == words
                && slot.length == length
                && (is_short || self.text(slot.number as usize) == trimmed(cell.text))
            {
                return Some(slot.number);
            }
            if slot.length == u32::MAX {
                return None;
            }
            place = (place + 1) & mask;
        }
    }

    #[inline]
    fn words(&self, cell: Cell<'_>) -> [u64; 2] {
        let second = if cell.text.len() <= SHORT {
            (cell.word >> 64) as u64
        } else {
            hash(self.seeds[0], cell.text)
        };
        [cell.word as u64, second]
    }

    /// Numbers a cell that was not met before.
    #[cold]
    fn meet(&mut self, cell: Cell<'_>, block: u32, missing: Spellings<'_>) -> Result<u32, NotUtf8> {
        let text = trimmed(cell.text);
        let number = if missing.has(text) {
            MISSING
        } else if text.len() < cell.text.len() {
            self.key(Cell::of(text), block, missing)?
        } else {
            std::str::from_utf8(text).map_err(|_| NotUtf8)?;
            self.bytes.extend_from_slice(text);
            self.ends.push(self.bytes.len() as u32);
            self.blocks.push(block);
            self.ends.len() as u32 - 1
        };
        // There is no text that a long one could be held against.
        if number != MISSING || cell.text.len() <= SHORT {
            self.put(Slot {
                words: self.words(cell),
                length: cell.text.len() as u32,
                number,
            });
            self.taken += 1;
            if self.taken * 3 > self.slots.len() * 2 {
                self.grow();
            }
        }
        Ok(number)
    }

    fn place(&self, [first, second]: [u64; 2], length: u32) -> usize {
        let product =
            u128::from(first ^ self.seeds[0]) * u128::from(second ^ self.seeds[1] ^ u64::from(length) << 56);
        (product as u64 ^ (product >> 64) as u64) as usize
    }

    fn put(&mut self, slot: Slot) {
        let mask = self.slots.len() - 1;
        let mut place = self.place(slot.words, slot.length) & mask;
        while self.slots[place].length != u32::MAX {
            place = (place + 1) & mask;
        }
        self.slots[place] = slot;
    }

    fn grow(&mut self) {
        let larger = vec![Slot::FREE; self.slots.len() * 2];
        for slot in std::mem::replace(&mut self.slots, larger) {
            if slot.length != u32::MAX {
                self.put(slot);
            }
        }
    }

    /// Adds the texts of several that are not known by `numbers` yet, in the order in which the file has them, and their
    /// numbers here. A block belongs to one part, and each part numbered its own texts in order.
    pub fn add(&mut self, parts: &[&Self], numbers: &mut [Vec<i32>]) {
        let mut order: Vec<(u32, u32, usize)> = Vec::new();
        for (part, (texts, known)) in parts.iter().zip(&*numbers).enumerate() {
            let new = known.len()..texts.len();
            order.extend(new.map(|number| (texts.blocks[number], number as u32, part)));
        }
        order.sort_unstable();
        for (block, number, part) in order {
            let text = parts[part].text(number as usize);
            // They were UTF-8 and not missing when they were taken.
            let key = self.key(Cell::of(text), block, Spellings::default());
            numbers[part].push(key.map_or(0, |key| key as i32));
        }
    }

    /// All texts by number.
    pub fn array(&self) -> StringArray {
        let ends = self.ends.iter().map(|&end| end as i32);
        let offsets: Vec<i32> = std::iter::once(0).chain(ends).collect();
        StringArray::new(
            OffsetBuffer::new(offsets.into()),
            Buffer::from_slice_ref(&self.bytes),
            None,
        )
    }
}

/// Multiply and fold.
fn fold(state: u64, word: u64) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let product = u128::from(state ^ word.wrapping_mul(0xff51_afd7_ed55_8ccd)) * u128::from(FACTOR);
    (product as u64) ^ (product >> 64) as u64
}

/// Eight bytes at a time.
fn hash(seed: u64, text: &[u8]) -> u64 {
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
    fold(fold(state, last), seed)
}
