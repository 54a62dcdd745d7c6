//! Where fields may end: delimiters and line ends, found by vectors of the processor at hand.

use fearless_simd::{Level, Simd, SimdBase as _, SimdMask as _, dispatch, u8x64};

use super::Marks;

/// Bytes whose delimiters and line ends are found together.
const WINDOW: usize = 1 << 14;
/// Bytes that are compared at once.
const LANES: usize = 64;
/// Marks the place of a line end; texts are shorter than this.
pub(super) const LINE: u32 = 1 << 31;

/// Where delimiters and line ends stand, some way ahead of whoever asks.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// Only so many of them are meant.
    places: Vec<u32>,
    count: usize,
    next: usize,
    /// Where the search goes on.
    until: usize,
    /// Whether there is no quote where the places were looked for.
    is_plain: bool,
}

impl Ends {
    /// Where there is no quote, the ends that follow; else none.
    pub fn plain(&self) -> &[u32] {
        if self.is_plain {
            self.places.get(self.next..self.count).unwrap_or_default()
        } else {
            &[]
        }
    }

    /// Forgets so many of them.
    pub const fn pass(&mut self, ends: usize) {
        self.next += ends;
    }

    /// Forgets places before this one.
    pub fn skip_to(&mut self, at: usize) {
        while self.next < self.count && ((self.places[self.next] & !LINE) as usize) < at {
            self.next += 1;
        }
    }

    /// The first at `from` or behind it; else the text's end. Who asks never goes back.
    pub fn next(&mut self, marks: Marks, text: &[u8], from: usize) -> usize {
        loop {
            self.skip_to(from);
            if self.next < self.count {
                return (self.places[self.next] & !LINE) as usize;
            }
            let start = self.until.max(from).min(text.len());
            let end = text.len().min(start + WINDOW);
            if start == end {
                return text.len();
            }
            self.until = end;
            self.next = 0;
            // All bytes may be ends, and some places more are written than are meant.
            self.places.resize(WINDOW + LANES, 0);
            let found = find(&text[start..end], start, marks, &mut self.places);
            (self.count, self.is_plain) = (found.count, !found.has_quote);
        }
    }
}

/// What was found in a piece of text.
#[derive(Default)]
struct Found {
    count: usize,
    has_quote: bool,
}

/// Writes the places of delimiters and line ends in a piece of the text that begins at `start`.
fn find(piece: &[u8], start: usize, marks: Marks, places: &mut [u32]) -> Found {
    dispatch!(Level::new(), simd => find_by(simd, piece, start, marks, places))
}

#[expect(
    clippy::inline_always,
    reason = "its vectors are those of whoever dispatches it, which a closure's would not be"
)]
#[inline(always)]
fn find_by<S: Simd>(simd: S, piece: &[u8], start: usize, marks: Marks, places: &mut [u32]) -> Found {
    let mut found = Found::default();
    let (whole, rest) = piece.as_chunks::<LANES>();
    for (index, bytes) in whole.iter().enumerate() {
        add(
            marked(simd, bytes, marks),
            start + index * LANES,
            places,
            &mut found,
        );
    }
    if !rest.is_empty() {
        let mut bytes = [0; LANES];
        bytes[..rest.len()].copy_from_slice(rest);
        let known = (1 << rest.len()) - 1;
        let marked = marked(simd, &bytes, marks).map(|bits| bits & known);
        add(marked, start + whole.len() * LANES, places, &mut found);
    }
    found
}

/// Bit n: the byte n is a delimiter; or of a line end; or a quote.
#[expect(
    clippy::inline_always,
    reason = "its vectors are those of whoever dispatches it"
)]
#[inline(always)]
fn marked<S: Simd>(simd: S, bytes: &[u8; LANES], marks: Marks) -> [u64; 3] {
    let bytes = u8x64::from_slice(simd, bytes);
    let is = |mark: u8| bytes.simd_eq(u8x64::splat(simd, mark));
    let lines = is(b'\n') | is(b'\r');
    let quotes = marks.quote.map_or(0, |quote| is(quote).to_bitmask());
    [is(marks.delimiter).to_bitmask(), lines.to_bitmask(), quotes]
}

/// Most vectors have no more ends than this.
const FEW: usize = 12;

/// Writes the place of each bit of a delimiter or line end.
#[expect(clippy::inline_always, reason = "it counts bits as whoever dispatches it can")]
#[inline(always)]
fn add([delimiters, lines, quotes]: [u64; 3], start: usize, places: &mut [u32], found: &mut Found) {
    let mut ends = delimiters | lines;
    let count = ends.count_ones() as usize;
    let Some(room) = places[found.count..].first_chunk_mut::<LANES>() else {
        return;
    };
    let mut next = || {
        let bit = ends.trailing_zeros() & (LANES as u32 - 1);
        let is_line = (lines >> bit) as u32 & 1;
        ends &= ends.wrapping_sub(1);
        (start as u32 + bit) | is_line << 31
    };
    // A loop of a known length is quicker than one that ends where the ends do.
    for place in &mut room[..FEW] {
        *place = next();
    }
    if count > FEW {
        for place in &mut room[FEW..count] {
            *place = next();
        }
    }
    found.count += count;
    found.has_quote |= quotes != 0;
}
