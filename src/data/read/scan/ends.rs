//! Where fields may end: delimiters and line ends, found by vectors of the processor at hand.

use fearless_simd::{Level, Simd, SimdBase as _, SimdMask as _, dispatch, u8x64};
use memchr::memchr;

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
    pub places: Vec<u32>,
    pub next: usize,
    /// Where the search goes on.
    until: usize,
    /// Whether there is no quote where the places were looked for.
    pub is_plain: bool,
}

impl Ends {
    /// Forgets places before this one.
    pub fn skip_to(&mut self, at: usize) {
        while let Some(&place) = self.places.get(self.next)
            && ((place & !LINE) as usize) < at
        {
            self.next += 1;
        }
    }

    /// The first at `from` or behind it; else the text's end. Who asks never goes back.
    pub fn next(&mut self, marks: Marks, text: &[u8], from: usize) -> usize {
        loop {
            self.skip_to(from);
            if let Some(&place) = self.places.get(self.next) {
                return (place & !LINE) as usize;
            }
            let start = self.until.max(from).min(text.len());
            let end = text.len().min(start + WINDOW);
            if start == end {
                return text.len();
            }
            self.until = end;
            self.next = 0;
            self.places.clear();
            let piece = &text[start..end];
            self.is_plain = marks.quote.is_none_or(|quote| memchr(quote, piece).is_none());
            find(piece, start, marks.delimiter, &mut self.places);
        }
    }
}

/// Adds the places of delimiters and line ends in a piece of the text that begins at `start`.
fn find(piece: &[u8], start: usize, delimiter: u8, places: &mut Vec<u32>) {
    dispatch!(Level::new(), simd => find_by(simd, piece, start, delimiter, places));
}

#[expect(
    clippy::inline_always,
    reason = "its vectors are those of whoever dispatches it, which a closure's would not be"
)]
#[inline(always)]
fn find_by<S: Simd>(simd: S, piece: &[u8], start: usize, delimiter: u8, places: &mut Vec<u32>) {
    let (whole, rest) = piece.as_chunks::<LANES>();
    for (index, bytes) in whole.iter().enumerate() {
        let (delimiters, lines) = ends_of(simd, bytes, delimiter);
        add(delimiters, lines, start + index * LANES, places);
    }
    if !rest.is_empty() {
        let mut bytes = [0; LANES];
        bytes[..rest.len()].copy_from_slice(rest);
        let known = (1 << rest.len()) - 1;
        let (delimiters, lines) = ends_of(simd, &bytes, delimiter);
        add(
            delimiters & known,
            lines & known,
            start + whole.len() * LANES,
            places,
        );
    }
}

/// Bit n: the byte n is a delimiter; or of a line end.
#[expect(
    clippy::inline_always,
    reason = "its vectors are those of whoever dispatches it"
)]
#[inline(always)]
fn ends_of<S: Simd>(simd: S, bytes: &[u8; LANES], delimiter: u8) -> (u64, u64) {
    let bytes = u8x64::from_slice(simd, bytes);
    let delimiters = bytes.simd_eq(u8x64::splat(simd, delimiter));
    let newlines = bytes.simd_eq(u8x64::splat(simd, b'\n'));
    let returns = bytes.simd_eq(u8x64::splat(simd, b'\r'));
    (delimiters.to_bitmask(), (newlines | returns).to_bitmask())
}

/// Adds the place of each bit.
#[inline]
fn add(delimiters: u64, lines: u64, start: usize, places: &mut Vec<u32>) {
    let mut found = delimiters | lines;
    let before = places.len();
    places.resize(before + found.count_ones() as usize, 0);
    for place in &mut places[before..] {
        let bit = found.trailing_zeros();
        let is_line = (lines >> bit) as u32 & 1;
        *place = (start as u32 + bit) | is_line << 31;
        found &= found.wrapping_sub(1);
    }
}
