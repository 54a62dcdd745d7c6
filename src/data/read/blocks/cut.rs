//! Where a text file may be cut into blocks.

use crossbeam_channel::{Receiver, Sender};

use super::super::source::{PIECE, Source};
use super::{Block, Failure, LONGEST, Layout};
use crate::data::DataError;
use crate::num::progress::Progress;

/// The size of a block; some of them fit the cache.
pub(super) const BLOCK: usize = 1 << 20;

/// The source on its way into blocks.
pub(super) struct Cutter {
    /// What was read and not cut yet.
    text: Vec<u8>,
    /// Of the next block.
    number: u32,
    pub is_at_end: bool,
}

impl Cutter {
    /// With what was read already.
    pub const fn new(text: Vec<u8>) -> Self {
        Self {
            text,
            number: 0,
            is_at_end: false,
        }
    }

    /// Cuts the source into blocks until it ends, nobody takes them, or they make a round.
    pub fn cut_round(
        &mut self,
        source: &mut Source<'_>,
        layout: &Layout<'_>,
        blocks: &Sender<Block>,
        empty: &Receiver<Vec<u8>>,
        progress: &Progress,
    ) -> Result<(), Failure> {
        let mut wanted = BLOCK;
        let mut bytes = 0;
        loop {
            progress.check().map_err(DataError::from)?;
            while self.text.len() < wanted && !source.is_at_end() {
                source.read(&mut self.text)?;
            }
            self.is_at_end = source.is_at_end();
            let end = if self.is_at_end {
                self.text.len()
            } else {
                match last_cut(&self.text, layout.marks.quote) {
                    Some(end) => end,
                    None if self.text.len() > LONGEST => return Err(Failure::Uncut),
                    None => {
                        wanted = 2 * self.text.len();
                        continue;
                    }
                }
            };
            let mut next = empty
                .try_recv()
                .unwrap_or_else(|_| Vec::with_capacity(BLOCK + PIECE));
            next.clear();
            next.extend_from_slice(&self.text[end..]);
            self.text.truncate(end);
            let block = Block {
                number: self.number,
                text: std::mem::replace(&mut self.text, next),
                is_last: self.is_at_end,
            };
            self.number += 1;
            bytes += end;
            // Nobody takes it: all have stopped at a fault.
            if blocks.send(block).is_err() || self.is_at_end || bytes >= layout.round {
                return Ok(());
            }
            wanted = BLOCK;
        }
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
