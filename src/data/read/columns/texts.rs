//! Distinct texts, each with a number.

use std::hash::{BuildHasher as _, RandomState};

use arrow::array::StringArray;
use arrow::buffer::{Buffer, OffsetBuffer};

/// A text that is not UTF-8.
#[derive(Clone, Copy, Debug)]
pub(in crate::data::read) struct NotUtf8;

/// A text with its first eight bytes as a number: for a short one that is all of it.
#[derive(Clone, Copy, Debug)]
pub(in crate::data::read) struct Cell<'a> {
    text: &'a [u8],
    word: u64,
}

impl<'a> Cell<'a> {
    /// From a text alone.
    pub fn of(text: &'a [u8]) -> Self {
        let head = &text[..text.len().min(8)];
        let word = head
            .iter()
            .rev()
            .fold(0, |word, &byte| (word << 8) | u64::from(byte));
        Self { text, word }
    }

    /// From a text at the beginning of more bytes, which lets it be read at once.
    pub fn at(bytes: &'a [u8], length: usize) -> Self {
        let text = &bytes[..length];
        match bytes.get(..8) {
            Some(head) => {
                let word = u64::from_le_bytes([
                    head[0], head[1], head[2], head[3], head[4], head[5], head[6], head[7],
                ]);
                let mask = if length >= 8 {
                    u64::MAX
                } else {
                    (1 << (8 * length)) - 1
                };
                Self {
                    text,
                    word: word & mask,
                }
            }
            None => Self::of(text),
        }
    }

    /// The text.
    pub const fn text(self) -> &'a [u8] {
        self.text
    }
}

/// An open-addressing hash table over one byte buffer.
pub(super) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    /// The block in which each text was first met.
    blocks: Vec<u32>,
    slots: Vec<Slot>,
    seed: u64,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    /// Of a text of at most eight bytes the text itself, of a longer one its hash.
    word: u64,
    length: u32,
    /// One more than the text's number; 0 marks a free slot.
    number: u32,
}

impl Texts {
    pub fn new() -> Self {
        Self {
            bytes: Vec::new(),
            ends: Vec::new(),
            blocks: Vec::new(),
            slots: vec![Slot::default(); 16],
            // Random, so that no file can be made to collide.
            seed: RandomState::new().hash_one(0_u8) | 1,
        }
    }

    pub fn len(&self) -> usize {
        self.ends.len()
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

    /// The number of a text, which is new if it was not met before.
    pub fn key(&mut self, cell: Cell<'_>, block: u32) -> Result<i32, NotUtf8> {
        let length = cell.text.len() as u32;
        let is_short = length <= 8;
        let word = if is_short {
            cell.word
        } else {
            hash(self.seed, cell.text)
        };
        let mask = self.slots.len() - 1;
        let mut place = self.place(word, length) & mask;
        loop {
            let slot = self.slots[place];
            if slot.number == 0 {
                break;
            }
            if slot.word == word
                && slot.length == length
                && (is_short || self.text(slot.number as usize - 1) == cell.text)
            {
                return Ok(slot.number as i32 - 1);
            }
            place = (place + 1) & mask;
        }
        std::str::from_utf8(cell.text).map_err(|_| NotUtf8)?;
        self.bytes.extend_from_slice(cell.text);
        self.ends.push(self.bytes.len() as u32);
        self.blocks.push(block);
        let number = self.ends.len() as u32;
        self.slots[place] = Slot { word, length, number };
        if self.ends.len() * 2 > self.slots.len() {
            self.grow();
        }
        Ok(number as i32 - 1)
    }

    fn place(&self, word: u64, length: u32) -> usize {
        if length <= 8 {
            fold(word ^ self.seed, u64::from(length)) as usize
        } else {
            word as usize
        }
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        let mut slots = vec![Slot::default(); mask + 1];
        for slot in self.slots.iter().filter(|slot| slot.number > 0) {
            let mut place = self.place(slot.word, slot.length) & mask;
            while slots[place].number != 0 {
                place = (place + 1) & mask;
            }
            slots[place] = *slot;
        }
        self.slots = slots;
    }

    /// One table of the texts of several, numbered in the order in which the file has them, and for each table the new
    /// number of each of its texts. A block belongs to one table, and each table numbered its own texts in order.
    pub fn join(parts: &[&Self]) -> (Self, Vec<Vec<i32>>) {
        let mut order: Vec<(u32, u32, usize)> = parts
            .iter()
            .enumerate()
            .flat_map(|(part, texts)| {
                texts
                    .blocks
                    .iter()
                    .zip(0..)
                    .map(move |(&block, number)| (block, number, part))
            })
            .collect();
        order.sort_unstable();
        let mut joined = Self::new();
        let mut numbers: Vec<Vec<i32>> = parts.iter().map(|texts| vec![0; texts.len()]).collect();
        for (block, number, part) in order {
            let text = parts[part].text(number as usize);
            // They were UTF-8 when they were taken.
            if let Ok(key) = joined.key(Cell::of(text), block) {
                numbers[part][number as usize] = key;
            }
        }
        (joined, numbers)
    }

    pub fn finish(self) -> StringArray {
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
