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
    /// The text begins here.
    bytes: &'a [u8],
    start: u32,
    length: u32,
    word: u128,
}

impl<'a> Cell<'a> {
    /// From a text alone.
    pub fn of(text: &'a [u8]) -> Self {
        Self::at(text, 0, text.len() as u32)
    }

    /// From a text within more bytes, which lets it be read at once.
    #[inline]
    pub fn at(bytes: &'a [u8], start: u32, length: u32) -> Self {
        let from = start as usize;
        let word = match bytes.get(from..from + SHORT).and_then(<[u8]>::first_chunk) {
            Some(head) => u128::from_le_bytes(*head) & LOWEST[(length as usize).min(SHORT)],
            None => word_at_end(&bytes[from..from + length as usize]),
        };
        Self {
            bytes,
            start,
            length,
            word,
        }
    }

    /// The text.
    pub fn text(self) -> &'a [u8] {
        &self.bytes[self.start as usize..][..self.length as usize]
    }
}

/// The first bytes of a text that no others follow.
#[cold]
fn word_at_end(text: &[u8]) -> u128 {
    let head = text.iter().take(SHORT).rev();
    head.fold(0, |word, &byte| (word << 8) | u128::from(byte))
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

/// A table of fewer slots is kept nearly empty.
const SPARSE: usize = 1 << 11;

/// The number of a missing cell.
pub(super) const MISSING: u32 = u32::MAX;

/// An open-addressing hash table over one byte buffer. It knows cells as they stand in the file, so that blanks around a
/// text, spellings of missing and bytes that are no text are looked for once each.
pub(super) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    /// The block in which each text was first met.
    blocks: Vec<u32>,
    /// The first one is none.
    spellings: Vec<Spelling>,
    /// Places in `spellings` by hash; zero where there is none. They are few bytes, so that also a large table is near.
    slots: Vec<u32>,
    seeds: [u64; 2],
    /// Room for [`Self::number`].
    later: Vec<u32>,
}

/// A cell as it stands in the file.
#[derive(Clone, Copy)]
struct Spelling {
    /// Of a short cell all of it, of a longer one its first bytes and a hash.
    words: [u64; 2],
    /// The cell's length.
    length: u32,
    number: u32,
}

impl Spelling {
    /// Equal to no cell.
    const NONE: Self = Self {
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
            spellings: vec![Spelling::NONE],
            slots: vec![0; 128],
            // Random, so that no file can be made to collide.
            seeds: [0_u8, 1].map(|which| random.hash_one(which)),
            later: Vec::new(),
        }
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many cells of different spelling were met.
    pub const fn spellings(&self) -> usize {
        self.spellings.len() - 1
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

    /// Adds the numbers of `cells` to `keys`, as [`Self::key`] has them, the largest for a missing one; how many. It ends before a
    /// cell whose number would be `most` or more.
    ///
    /// Nearly all cells are short and stand where the table is looked at first. That way has no branch, so that the
    /// processor looks for many at a time; all others are gathered and looked for after it.
    pub fn number<'a>(
        &mut self,
        (count, cell): (usize, &impl Fn(usize) -> Cell<'a>),
        block: u32,
        missing: Spellings<'_>,
        most: usize,
        keys: &mut Vec<u16>,
    ) -> Result<usize, NotUtf8> {
        let before = keys.len();
        keys.resize(before + count, 0);
        let added = &mut keys[before..];
        let mask = self.slots.len() - 1;
        let mut later = std::mem::take(&mut self.later);
        later.resize(count, 0);
        let mut others = 0;
        for (row, key) in added.iter_mut().enumerate() {
            let cell = cell(row);
            let words = [cell.word as u64, (cell.word >> 64) as u64];
            let first = self.slots[self.place(words, cell.length) & mask];
            let first = &self.spellings[first as usize];
            let is_other = (first.words[0] ^ words[0])
                | (first.words[1] ^ words[1])
                | u64::from(first.length ^ cell.length)
                | u64::from(cell.length > SHORT as u32);
            *key = first.number as u16;
            later[others] = row as u32;
            others += usize::from(is_other != 0);
        }
        let mut taken = count;
        for &row in &later[..others] {
            let row = row as usize;
            let key = self.key(cell(row), block, missing)?;
            if key as usize >= most && key != MISSING {
                taken = row;
                break;
            }
            added[row] = key as u16;
        }
        keys.truncate(before + taken);
        self.later = later;
        Ok(taken)
    }

    /// The number of a cell's text without the blanks around it, which is new if it was not met before; [`MISSING`] if the
    /// cell is.
    #[inline]
    fn key(&mut self, cell: Cell<'_>, block: u32, missing: Spellings<'_>) -> Result<u32, NotUtf8> {
        match self.find(cell) {
            Some(number) => Ok(number),
            None => self.meet(cell, block, missing),
        }
    }

    /// The number of a cell that was met before.
    #[inline]
    fn find(&self, cell: Cell<'_>) -> Option<u32> {
        let length = cell.length;
        let is_short = cell.length <= SHORT as u32;
        let words = self.words(cell);
        let mask = self.slots.len() - 1;
        let mut place = self.place(words, length) & mask;
        loop {
            let slot = self.slots[place];
            if slot == 0 {
                return None;
            }
            let known = self.spellings[slot as usize];
            if known.words == words
                && known.length == length
                && (is_short || self.text(known.number as usize) == trimmed(cell.text()))
            {
                return Some(known.number);
            }
            place = (place + 1) & mask;
        }
    }

    #[inline]
    fn words(&self, cell: Cell<'_>) -> [u64; 2] {
        let second = if cell.length <= SHORT as u32 {
            (cell.word >> 64) as u64
        } else {
            hash(self.seeds[0], cell.text())
        };
        [cell.word as u64, second]
    }

    /// Numbers a cell that was not met before.
    #[cold]
    fn meet(&mut self, cell: Cell<'_>, block: u32, missing: Spellings<'_>) -> Result<u32, NotUtf8> {
        let text = trimmed(cell.text());
        let number = if missing.has(text) {
            MISSING
        } else if text.len() < cell.length as usize {
            self.key(Cell::of(text), block, missing)?
        } else {
            std::str::from_utf8(text).map_err(|_| NotUtf8)?;
            self.bytes.extend_from_slice(text);
            self.ends.push(self.bytes.len() as u32);
            self.blocks.push(block);
            self.ends.len() as u32 - 1
        };
        // There is no text that a long one could be held against.
        if number != MISSING || cell.length <= SHORT as u32 {
            let spelling = Spelling {
                words: self.words(cell),
                length: cell.length,
                number,
            };
            self.spellings.push(spelling);
            self.put(self.spellings.len() - 1);
            if self.is_crowded() {
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

    /// Puts a spelling, by its place, where it is looked for.
    fn put(&mut self, spelling: usize) {
        let Spelling { words, length, .. } = self.spellings[spelling];
        let mask = self.slots.len() - 1;
        let mut place = self.place(words, length) & mask;
        while self.slots[place] != 0 {
            place = (place + 1) & mask;
        }
        self.slots[place] = spelling as u32;
    }

    /// Cells are numbered fastest where no two begin at the same slot; a large table had better stay in the cache.
    const fn is_crowded(&self) -> bool {
        let room = if self.slots.len() < SPARSE { 8 } else { 3 };
        self.spellings.len() * room > self.slots.len()
    }

    fn grow(&mut self) {
        self.slots = vec![0; self.slots.len() * 2];
        for spelling in 1..self.spellings.len() {
            self.put(spelling);
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
