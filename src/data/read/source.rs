//! The bytes of a text file on their way to UTF-8: counted, unpacked, hashed, decoded.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use encoding_rs::{Decoder, DecoderResult};

use super::form::TextEncoding;
use super::scan::count_lines;
use crate::data::DataError;
use crate::num::progress::Progress;

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    None,
    Gzip,
    Zstd,
}

impl Packing {
    /// From a file's first bytes.
    pub fn of(head: &[u8]) -> Self {
        if head.starts_with(b"\x1f\x8b") {
            Self::Gzip
        } else if head.starts_with(b"\x28\xb5\x2f\xfd") {
            Self::Zstd
        } else {
            Self::None
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::None => "file",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// Unpacked bytes that any file may have.
const ROOM: u64 = if cfg!(test) { 1 << 24 } else { 1 << 30 };
/// Beyond that, how many times its packed size a file may have. Tables pack to a tenth, very repetitive ones to a
/// hundredth; deflate's limit is 1032.
pub(in crate::data) const RATIO: u64 = 500;

/// Whether so many unpacked bytes are more than a packed file of that size should have.
pub(in crate::data) const fn is_too_much(unpacked: u64, packed: u64) -> bool {
    unpacked > ROOM && unpacked / RATIO > packed
}

/// Bytes read at a time.
pub(super) const PIECE: usize = 1 << 18;

/// Counts what is read of the file itself.
struct Counted<'a> {
    file: File,
    done: u64,
    total: u64,
    progress: &'a Progress,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.done += count as u64;
        self.progress.set(self.done, self.total.max(self.done));
        Ok(count)
    }
}

enum Unpacked<'a> {
    Plain(Counted<'a>),
    Gzip(Box<flate2::read::MultiGzDecoder<BufReader<Counted<'a>>>>),
    Zstd(Box<zstd::stream::read::Decoder<'static, BufReader<Counted<'a>>>>),
}

impl<'a> Unpacked<'a> {
    fn new(file: Counted<'a>, packing: Packing) -> io::Result<Self> {
        Ok(match packing {
            Packing::None => Self::Plain(file),
            Packing::Gzip => {
                let buffered = BufReader::with_capacity(PIECE, file);
                Self::Gzip(Box::new(flate2::read::MultiGzDecoder::new(buffered)))
            }
            Packing::Zstd => {
                let buffered = BufReader::with_capacity(PIECE, file);
                Self::Zstd(Box::new(zstd::stream::read::Decoder::with_buffer(buffered)?))
            }
        })
    }

    fn packed(&self) -> u64 {
        match self {
            Self::Plain(file) => file.done,
            Self::Gzip(decoder) => decoder.get_ref().get_ref().done,
            Self::Zstd(decoder) => decoder.get_ref().get_ref().done,
        }
    }
}

impl Read for Unpacked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.read(buffer),
            Self::Gzip(decoder) => decoder.read(buffer),
            Self::Zstd(decoder) => decoder.read(buffer),
        }
    }
}

/// A text file as UTF-8. UTF-8 itself is passed on as it is, to be checked where texts are taken.
pub(super) struct Source<'a> {
    path: &'a Path,
    unpacked: Unpacked<'a>,
    packing: Packing,
    hasher: blake3::Hasher,
    bytes: u64,
    decoder: Option<Decoder>,
    encoding: TextEncoding,
    raw: Vec<u8>,
    /// Line ends of what was decoded.
    lines: u64,
    is_at_end: bool,
}

impl<'a> Source<'a> {
    /// From a file at its beginning.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn new(
        path: &'a Path,
        file: File,
        packing: Packing,
        encoding: TextEncoding,
        progress: &'a Progress,
    ) -> Result<Self, DataError> {
        let total = file.metadata().map_or(0, |meta| meta.len());
        let counted = Counted {
            file,
            done: 0,
            total,
            progress,
        };
        let unpacked = Unpacked::new(counted, packing).map_err(|error| failed(path, packing, error))?;
        Ok(Self {
            path,
            unpacked,
            packing,
            hasher: blake3::Hasher::new(),
            bytes: 0,
            decoder: (encoding != TextEncoding::UTF_8).then(|| encoding.get().new_decoder_with_bom_removal()),
            encoding,
            raw: Vec::new(),
            lines: 0,
            is_at_end: false,
        })
    }

    /// Whether all was read.
    pub const fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    /// BLAKE3 of the unpacked bytes, and how many there are. A packed copy of a file is the same data.
    pub fn finish(&self) -> ([u8; 32], u64) {
        (*self.hasher.finalize().as_bytes(), self.bytes)
    }

    /// Adds some more text to `out`; at the end nothing.
    ///
    /// # Errors
    /// When the system refuses, the packing is damaged or unpacks to far too much, or the bytes are no text of the
    /// encoding.
    pub fn read(&mut self, out: &mut Vec<u8>) -> Result<(), DataError> {
        let Some(mut decoder) = self.decoder.take() else {
            // Straight to where it is needed.
            let start = out.len();
            out.resize(start + PIECE, 0);
            let count = self.fill(&mut out[start..])?;
            out.truncate(start + count);
            return Ok(());
        };
        let mut raw = std::mem::take(&mut self.raw);
        raw.resize(PIECE, 0);
        let count = self.fill(&mut raw)?;
        let mut rest = &raw[..count];
        let start = out.len();
        loop {
            let room = decoder
                .max_utf8_buffer_length_without_replacement(rest.len())
                .unwrap_or(3 * rest.len() + 16);
            let end = out.len();
            out.resize(end + room, 0);
            let (result, read, written) =
                decoder.decode_to_utf8_without_replacement(rest, &mut out[end..], self.is_at_end);
            out.truncate(end + written);
            rest = &rest[read..];
            match result {
                DecoderResult::InputEmpty => break,
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(..) => {
                    return Err(DataError::NotInEncoding {
                        path: self.path.to_owned(),
                        line: self.lines + count_lines(&out[start..]) + 1,
                        encoding: self.encoding.to_string(),
                    });
                }
            }
        }
        self.lines += count_lines(&out[start..]);
        self.raw = raw;
        if !self.is_at_end {
            self.decoder = Some(decoder);
        }
        Ok(())
    }

    /// Raw bytes, as many as there is room for unless they end.
    fn fill(&mut self, room: &mut [u8]) -> Result<usize, DataError> {
        let mut count = 0;
        while count < room.len() && !self.is_at_end {
            match self.unpacked.read(&mut room[count..]) {
                Ok(0) => self.is_at_end = true,
                Ok(more) => count += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(self.path, self.packing, error)),
            }
        }
        self.hasher.update(&room[..count]);
        self.bytes += count as u64;
        let packed = self.unpacked.packed();
        if self.packing != Packing::None && is_too_much(self.bytes, packed) {
            return Err(DataError::UnpacksToTooMuch {
                path: self.path.to_owned(),
                ratio: RATIO,
            });
        }
        Ok(count)
    }
}

/// The first bytes of a file as they are unpacked; fewer if it ends, or is damaged, before.
pub(super) fn unpacked_head(
    path: &Path,
    file: File,
    packing: Packing,
    most: usize,
) -> Result<Vec<u8>, DataError> {
    let progress = Progress::new();
    let counted = Counted {
        file,
        done: 0,
        total: 0,
        progress: &progress,
    };
    let mut head = Vec::with_capacity(most);
    let unpacked = Unpacked::new(counted, packing).map_err(|error| failed(path, packing, error))?;
    match unpacked.take(most as u64).read_to_end(&mut head) {
        // Damage after some bytes is told when they are read for good.
        Err(error) if head.is_empty() => Err(failed(path, packing, error)),
        _ => Ok(head),
    }
}

fn failed(path: &Path, packing: Packing, source: io::Error) -> DataError {
    // The system's own errors have a number; a decoder's have none.
    if packing == Packing::None || source.raw_os_error().is_some() {
        DataError::Io {
            path: path.to_owned(),
            action: "read the file",
            source,
        }
    } else {
        DataError::CorruptFile {
            path: path.to_owned(),
            kind: packing.name(),
            reason: source.to_string(),
        }
    }
}
