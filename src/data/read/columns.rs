//! Columns of text under construction: numbered while there are few distinct texts, plain after that.
//!
//! Several threads each build a part of every column, from blocks of the file; [`Joint`] puts the parts together.
//! Nothing in the result depends on how many threads there were: texts are numbered in the order in which the file
//! has them.

mod joint;
mod texts;

use std::ops::Range;

use crate::data::value::trimmed;
pub(super) use joint::Joint;
use texts::Texts;
pub(super) use texts::{Cell, NotUtf8, Spellings};

/// More distinct texts than this, and numbering them no longer pays.
const MAX_DISTINCT: usize = u16::MAX as usize;
/// More spellings of them, with blanks around, and their table is of no use.
const MAX_SPELLINGS: usize = 1 << 18;
/// More bytes of distinct texts than this, and they do not fit the offsets of a dictionary.
const MAX_BYTES: usize = 1 << 30;
/// Rows of one array; small enough for the cache, large enough for loops.
pub(super) const CHUNK_ROWS: usize = 1 << 16;

/// One column while its cells arrive, block by block. Its room is kept from round to round.
pub(super) struct TextColumn {
    blocks: Vec<Block>,
    cells: Cells,
    /// The distinct texts, while they are few.
    texts: Option<Texts>,
}

/// The cells that one block of the file has of a column.
struct Block {
    number: u32,
    rows: Range<usize>,
}

enum Cells {
    /// By the numbers of their texts; the largest number is that of a missing cell.
    Numbered(Vec<u16>),
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
            cells: Cells::Numbered(Vec::new()),
            texts: Some(Texts::new()),
        }
    }

    /// Adds `count` cells of a block as they stand in the file: blanks around them do not count, and those that are empty or
    /// spelled so are missing. Blocks come in rising order.
    ///
    /// # Errors
    /// When a text is not UTF-8; the column is of no use then.
    pub(super) fn push<'a>(
        &mut self,
        number: u32,
        count: usize,
        cell: impl Fn(usize) -> Cell<'a>,
        missing: Spellings<'_>,
    ) -> Result<(), NotUtf8> {
        let mut taken = 0;
        if let (Some(texts), Cells::Numbered(keys)) = (&mut self.texts, &mut self.cells) {
            // A missing cell's number becomes the largest one.
            taken = texts.number((count, &cell), number, missing, MAX_DISTINCT, keys)?;
            if taken < count || texts.spellings() > MAX_SPELLINGS || texts.size() > MAX_BYTES {
                self.turn_plain();
            }
        }
        if let Cells::Plain(plain) = &mut self.cells {
            for row in taken..count {
                plain.push(trimmed(cell(row).text()), missing)?;
            }
        }
        let rows = self.cells.len();
        match self.blocks.last_mut() {
            Some(block) if block.number == number => block.rows.end = rows,
            last => {
                let before = last.map_or(0, |block| block.rows.end);
                self.blocks.push(Block {
                    number,
                    rows: before..rows,
                });
            }
        }
        Ok(())
    }

    /// The distinct texts are too many: cells are kept as they are.
    fn turn_plain(&mut self) {
        let Some(texts) = self.texts.take() else { return };
        let mut plain = Plain::default();
        if let Cells::Numbered(keys) = &self.cells {
            for &key in keys {
                plain.add((key != u16::MAX).then(|| texts.text(usize::from(key))));
            }
        }
        self.cells = Cells::Plain(plain);
    }

    /// Forgets the cells, not the texts.
    fn clear(&mut self) {
        self.blocks.clear();
        match &mut self.cells {
            Cells::Numbered(keys) => keys.clear(),
            Cells::Plain(plain) => plain.clear(),
        }
    }
}

impl Cells {
    const fn len(&self) -> usize {
        match self {
            Self::Numbered(keys) => keys.len(),
            Self::Plain(plain) => plain.ends.len(),
        }
    }
}

impl Plain {
    fn push(&mut self, text: &[u8], missing: Spellings<'_>) -> Result<(), NotUtf8> {
        let is_missing = missing.has(text);
        if !is_missing {
            std::str::from_utf8(text).map_err(|_| NotUtf8)?;
        }
        self.add((!is_missing).then_some(text));
        Ok(())
    }

    fn add(&mut self, text: Option<&[u8]>) {
        self.bytes.extend_from_slice(text.unwrap_or_default());
        self.ends.push(self.bytes.len() as u32);
        self.valid.push(text.is_some());
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.valid.clear();
    }

    /// Where the cell before this one ends.
    fn start(&self, row: usize) -> u32 {
        if row == 0 { 0 } else { self.ends[row - 1] }
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Array as _, ArrayRef, AsArray as _};
    use arrow::datatypes::Int32Type;

    use super::*;

    fn column(rows: Range<usize>, block: usize, text: impl Fn(usize) -> Option<String>) -> TextColumn {
        let mut column = TextColumn::new();
        for row in rows {
            push(&mut column, row / block, text(row));
        }
        column
    }

    fn push(column: &mut TextColumn, block: usize, text: Option<String>) {
        let text = text.unwrap_or_default();
        let cell = Cell::of(text.as_bytes());
        column
            .push(block as u32, 1, |_| cell, Spellings::default())
            .unwrap();
    }

    fn join(parts: &mut [TextColumn]) -> Vec<ArrayRef> {
        Joint::new().join(parts.iter_mut().collect())
    }

    fn cells(arrays: &[ArrayRef]) -> Vec<Option<String>> {
        let of_array = |array: &ArrayRef| {
            let mut buffer = String::new();
            (0..array.len())
                .map(|row| crate::data::table::cell(array, row, &mut buffer).map(str::to_owned))
                .collect::<Vec<_>>()
        };
        arrays.iter().flat_map(of_array).collect()
    }

    #[test]
    fn few_texts_are_numbered_and_many_are_kept_plain() {
        let rows = CHUNK_ROWS * 2 + 100;
        for distinct in [3, rows] {
            let text = |row: usize| (row % 7 != 6).then(|| format!("text {}", row % distinct));
            let arrays = join(&mut [column(0..rows, 1000, text)]);
            assert_eq!(arrays.iter().map(arrow::array::Array::len).sum::<usize>(), rows);
            let is_plain = arrays[0].as_string_opt::<i64>().is_some();
            assert_eq!(is_plain, distinct > MAX_DISTINCT);
            assert_eq!(cells(&arrays), (0..rows).map(text).collect::<Vec<_>>());
        }
    }

    #[test]
    fn parts_of_any_number_make_the_same_column() {
        // Few texts, many, and as many as one part alone can still number.
        for distinct in [5, 40_000, 90_000] {
            let rows = 100_000;
            let text = |row: usize| (row % 11 != 3).then(|| format!("{}", row * 7919 % distinct));
            let whole = join(&mut [column(0..rows, 9000, text)]);
            for count in [2, 3] {
                let mut parts: Vec<TextColumn> = (0..count).map(|_| TextColumn::new()).collect();
                for row in 0..rows {
                    let block = row / 9000;
                    // Not in turn: a thread takes what it gets.
                    push(&mut parts[block * block % count], block, text(row));
                }
                let joined = join(&mut parts);
                assert_eq!(joined.len(), whole.len());
                assert!(
                    whole.iter().zip(&joined).all(|(a, b)| a == b),
                    "{distinct} in {count}"
                );
            }
        }
    }

    #[test]
    fn texts_keep_their_numbers_from_round_to_round() {
        // Few, and so many that the second round has too many.
        for distinct in [500, 100_000] {
            let text = |row: usize| (row % 13 != 5).then(|| format!("{:03}", row % distinct));
            let mut joint = Joint::new();
            let mut parts = [TextColumn::new(), TextColumn::new()];
            let mut arrays = Vec::new();
            for round in 0..4 {
                for row in round * 50_000..(round + 1) * 50_000 {
                    let block = row / 7000 * 2 + round;
                    push(&mut parts[block % 3 % 2], block, text(row));
                }
                arrays.extend(joint.join(parts.iter_mut().collect()));
            }
            assert_eq!(cells(&arrays), (0..200_000).map(text).collect::<Vec<_>>());
            let numbers = |array: &ArrayRef| {
                array
                    .as_dictionary_opt::<Int32Type>()
                    .map(|all| all.keys().clone())
            };
            let whole = join(&mut [column(0..50_000, 7000, text)]);
            assert_eq!(numbers(&arrays[0]), numbers(&whole[0]));
            assert_eq!(numbers(&arrays[3]).is_none(), distinct > MAX_DISTINCT);
        }
    }

    #[test]
    fn cells_are_met_as_they_stand_in_the_file() {
        let missing = ["NA".to_owned(), "not known to anybody".to_owned()];
        let cells_of = [
            (" a ", Some("a")),
            ("a", Some("a")),
            ("\ta", Some("a")),
            ("  ", None),
            ("", None),
            ("NA ", None),
            ("NA", None),
            ("NAN", Some("NAN")),
            ("sixteen bytes...", Some("sixteen bytes...")),
            ("seventeen bytes..", Some("seventeen bytes..")),
            (" seventeen bytes..", Some("seventeen bytes..")),
            ("seventeen bytes.. ", Some("seventeen bytes..")),
            ("seventeen bytes,,", Some("seventeen bytes,,")),
            ("not known to anybody", None),
            (" not known to anybody", None),
        ];
        let expected: Vec<_> = cells_of.iter().map(|(_, cell)| cell.map(str::to_owned)).collect();
        let all: Vec<u8> = cells_of.iter().flat_map(|(cell, _)| cell.bytes()).collect();
        for is_plain in [false, true] {
            let mut column = TextColumn::new();
            if is_plain {
                column.turn_plain();
            }
            for round in 0..2 {
                let mut at = 0;
                let mut next = |text: &str| {
                    let cell = Cell::at(&all, at as u32, text.len() as u32);
                    at += text.len();
                    cell
                };
                let cells: Vec<_> = cells_of.iter().map(|(cell, _)| next(cell)).collect();
                column
                    .push(round, cells.len(), |row| cells[row], Spellings::new(&missing))
                    .unwrap();
            }
            assert_eq!(cells(&join(&mut [column])), [&expected[..], &expected].concat());
        }
    }

    #[test]
    fn a_column_without_a_cell_is_all_missing() {
        let arrays = join(&mut [column(0..3, 2, |_| None)]);
        assert_eq!((arrays[0].len(), arrays[0].null_count()), (3, 3));
        let cell = Cell::of(b"\xff");
        assert!(
            TextColumn::new()
                .push(0, 1, |_| cell, Spellings::default())
                .is_err()
        );
    }
}
