//! Lengths that a compressed Arrow file claims for what it unpacks to.
//!
//! The decoder asks for as much memory as a damaged length says, and a program that is refused memory ends at once. So
//! lengths are held against the bytes that are there before anything is decoded.

use std::io::{self, Read, Seek, SeekFrom};

use arrow_ipc::{MessageHeader, RecordBatch, root_as_message};

/// Zstandard makes at most so many bytes of one: a block of 128 KB is at least four.
const MOST_RATIO: u64 = 1 << 15;
/// Any buffer may have so many.
const ROOM: u64 = 1 << 20;
/// No buffer of a batch has more.
const MOST: u64 = 1 << 32;
/// Where the first message of a file begins at the latest.
const FURTHEST_START: u64 = 1 << 10;
/// What stands before a message's length.
const CONTINUATION: u32 = u32::MAX;
/// Descriptions of batches are much shorter.
const LONGEST_MESSAGE: u32 = 1 << 28;

/// Goes to the first message of a file with its parts listed at its end: behind its name, and zeros up to some round
/// place.
pub(super) fn to_first_message(file: &mut (impl Read + Seek)) -> io::Result<()> {
    let mut at = file.seek(SeekFrom::Start(8))?;
    while at < FURTHEST_START {
        match number(file)? {
            Some(0) => at += 4,
            _ => break,
        }
    }
    file.seek(SeekFrom::Start(at)).map(drop)
}

/// Whether all compressed buffers of the messages that follow here claim lengths that their bytes can have. What is no
/// message ends the walk: that is the decoder's to tell.
pub(super) fn are_possible(file: &mut (impl Read + Seek)) -> io::Result<bool> {
    let mut bytes = Vec::new();
    while let Some(length) = message_length(file)? {
        bytes.resize(length as usize, 0);
        if file.read_exact(&mut bytes).is_err() {
            return Ok(true);
        }
        let Ok(message) = root_as_message(&bytes) else {
            return Ok(true);
        };
        let body = file.stream_position()?;
        let batch = match message.header_type() {
            MessageHeader::RecordBatch => message.header_as_record_batch(),
            MessageHeader::DictionaryBatch => message
                .header_as_dictionary_batch()
                .and_then(|batch| batch.data()),
            _ => None,
        };
        if let Some(batch) = batch
            && !is_possible(&batch, body, file)?
        {
            return Ok(false);
        }
        let Some(next) = u64::try_from(message.bodyLength())
            .ok()
            .and_then(|length| body.checked_add(length))
        else {
            return Ok(true);
        };
        file.seek(SeekFrom::Start(next))?;
    }
    Ok(true)
}

/// The length of the message that begins here; none at the end.
fn message_length(file: &mut impl Read) -> io::Result<Option<u32>> {
    let Some(mut number) = number(file)? else {
        return Ok(None);
    };
    if number == CONTINUATION {
        match self::number(file)? {
            Some(length) => number = length,
            None => return Ok(None),
        }
    }
    Ok((1..=LONGEST_MESSAGE).contains(&number).then_some(number))
}

fn number(file: &mut impl Read) -> io::Result<Option<u32>> {
    let mut bytes = [0; 4];
    match file.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(u32::from_le_bytes(bytes))),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_possible(batch: &RecordBatch<'_>, body: u64, file: &mut (impl Read + Seek)) -> io::Result<bool> {
    let Some(buffers) = batch.compression().and_then(|_| batch.buffers()) else {
        return Ok(true);
    };
    for buffer in buffers {
        let (Ok(offset), Ok(length)) = (u64::try_from(buffer.offset()), u64::try_from(buffer.length()))
        else {
            return Ok(false);
        };
        let Some(at) = body.checked_add(offset) else {
            return Ok(false);
        };
        if length < 8 {
            continue;
        }
        file.seek(SeekFrom::Start(at))?;
        let mut claimed = [0; 8];
        if file.read_exact(&mut claimed).is_err() {
            return Ok(false);
        }
        // −1: the bytes are as they are.
        let claimed = i64::from_le_bytes(claimed);
        let most = MOST.min(ROOM + length.saturating_mul(MOST_RATIO));
        if claimed != -1 && u64::try_from(claimed).map_or(true, |claimed| claimed > most) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array};
    use arrow_ipc::CompressionType;
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};

    use super::*;

    fn batch() -> arrow::record_batch::RecordBatch {
        let zeros = Arc::new(Int64Array::from(vec![0; 100_000])) as ArrayRef;
        let numbers = Arc::new((0..100_000).map(|row| row * row % 97).collect::<Int64Array>()) as ArrayRef;
        arrow::record_batch::RecordBatch::try_from_iter([("zeros", zeros), ("numbers", numbers)]).unwrap()
    }

    #[test]
    fn whole_files_are_possible_and_a_length_beyond_its_bytes_is_not() {
        let batch = batch();
        for compression in [CompressionType::ZSTD, CompressionType::LZ4_FRAME] {
            let options = IpcWriteOptions::default()
                .try_with_compression(Some(compression))
                .unwrap();
            let mut file =
                FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options.clone()).unwrap();
            file.write(&batch).unwrap();
            let file = file.into_inner().unwrap();
            let mut stream =
                StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
            stream.write(&batch).unwrap();
            let stream = stream.into_inner().unwrap();
            for (bytes, is_file) in [(file, true), (stream, false)] {
                let check = |bytes: &[u8]| {
                    let mut cursor = Cursor::new(bytes);
                    if is_file {
                        to_first_message(&mut cursor).unwrap();
                    }
                    are_possible(&mut cursor).unwrap()
                };
                assert!(check(&bytes));
                // What the columns unpack to, wherever that is said.
                let claim = 800_000_i64.to_le_bytes();
                let places: Vec<usize> = (0..bytes.len() - 8)
                    .filter(|&place| bytes[place..place + 8] == claim)
                    .collect();
                assert_eq!(places.len(), 2);
                for place in places {
                    let mut damaged = bytes.clone();
                    damaged[place + 7] ^= 2;
                    assert!(!check(&damaged));
                    damaged[place + 7] ^= 0x80;
                    assert!(!check(&damaged), "a length below zero");
                }
                // However it is cut, there is an answer.
                for end in (0..bytes.len()).step_by(97) {
                    check(&bytes[..end]);
                }
            }
        }
    }
}
