//! Where a text file may be cut into blocks.

use super::super::source::Source;
use super::{Failure, LONGEST, Layout};
use crate::data::DataError;
use crate::num::progress::Progress;

/// The size of a block; it fits the cache with what is made of it.
pub(super) const BLOCK: usize = 1 << 18;

/// The source on its way into blocks.
pub(super) struct Cutter<'a, 's> {
    source: &'a mut Source<'s>,
    layout: &'a Layout<'a>,
    progress: &'a Progress,
    /// What was read and not cut yet.
    text: Vec<u8>,
    /// Of the next block.
    number: u32,
    /// Bytes until the round is full.
    left: usize,
}

/// What a block is called, and whether the text ends with it.
pub(super) struct Label {
    pub number: u32,
    pub is_last: bool,
}

impl<'a, 's> Cutter<'a, 's> {
    /// With what was read already.
    pub const fn new(
        source: &'a mut Source<'s>,
        text: Vec<u8>,
        layout: &'a Layout<'a>,
        progress: &'a Progress,
    ) -> Self {
        Self {
            source,
            layout,
            progress,
            text,
            number: 0,
            left: 0,
        }
    }

    /// Whether all blocks were cut.
    pub const fn is_at_end(&self) -> bool {
        self.number > 0 && self.source.is_at_end()
    }

    /// Cuts as many blocks as make a round.
    pub const fn begin_round(&mut self) {
        self.left = self.layout.round;
    }

    /// Cuts no more blocks in this round.
    pub const fn end_round(&mut self) {
        self.left = 0;
    }

    /// Puts the next block of the round into `block`; none when the round is full or the source ended.
    pub fn cut(&mut self, block: &mut Vec<u8>) -> Result<Option<Label>, Failure> {
        if self.left == 0 || self.is_at_end() {
            return Ok(None);
        }
        let mut wanted = BLOCK;
        let end = loop {
            self.progress.check().map_err(DataError::from)?;
            while self.text.len() < wanted && !self.source.is_at_end() {
                self.source.read(&mut self.text)?;
            }
            if self.source.is_at_end() {
                break self.text.len();
            }
            match last_cut(&self.text, self.layout.marks.quote) {
                Some(end) => break end,
                None if self.text.len() > LONGEST => return Err(Failure::Uncut),
                None => wanted = 2 * self.text.len(),
            }
        };
        block.clear();
        block.extend_from_slice(&self.text[end..]);
        self.text.truncate(end);
        std::mem::swap(block, &mut self.text);
        self.left = self.left.saturating_sub(end);
        let label = Label {
            number: self.number,
            is_last: self.source.is_at_end(),
        };
        self.number += 1;
        Ok(Some(label))
    }
}

/// Behind the last line end that has an even number of quotes before it.
fn last_cut(text: &[u8], quote: Option<u8>) -> Option<usize> {
    // Whether a return at the very end has its newline is not known yet.
    let known = &text[..text.len().saturating_sub(1)];
    let Some(quote) = quote else {
        return memchr::memrchr2(b'\n', b'\r', known).map(|place| place + 1);
    };
    let mut is_even = memchr::memchr_iter(quote, known).count().is_multiple_of(2);
    let mut end = known.len();
    while let Some(place) = memchr::memrchr3(b'\n', b'\r', quote, &known[..end]) {
        if known[place] == quote {
            is_even = !is_even;
        } else if is_even {
            let is_pair = known[place] == b'\r' && text[place + 1] == b'\n';
            return Some(place + 1 + usize::from(is_pair));
        }
        end = place;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_end_where_lines_do() {
        for (text, quote, cut) in [
            ("a\nb\nc", Some(b'"'), Some(4)),
            ("a\nb\n", Some(b'"'), Some(2)),
            ("a\n\"b\nc", Some(b'"'), Some(2)),
            ("\"a\nb\nc", Some(b'"'), None),
            ("\"a\nb\nc", None, Some(5)),
            ("a\r\nb", Some(b'"'), Some(3)),
            ("a\rb", Some(b'"'), Some(2)),
            ("a\r", Some(b'"'), None),
            ("abc", Some(b'"'), None),
        ] {
            assert_eq!(last_cut(text.as_bytes(), quote), cut, "{text:?}");
        }
    }
}
