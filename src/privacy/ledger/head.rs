//! The end of the chain, kept in a second file, so that entries cut off the end of the first are missed.
//!
//! The file holds two places, a block of the disk apart. They are written in turn, the older one each time, in
//! place and synced, after the database has committed and while the lock is held. So:
//! - the head never runs ahead of the database, and a database with fewer entries than the head says has
//!   lost some;
//! - a writer that finds the head behind the database (the one before it died between the two) moves the head
//!   up before it adds anything. So the head lags by one entry at most, whose reservation was never handed
//!   out: nothing was done under it, it stays charged, and only that entry could be cut off unnoticed;
//! - a head that lags by more was put back from an older copy, and is told;
//! - a power failure while a place is written spoils that one only. The other then lags by exactly one; where
//!   it does not, the spoilt place was edited, and that is told.
//!
//! Writing in place needs no new space on the disk and one sync; a new file under a new name would need two
//! more, and tens of milliseconds on a busy disk.
//!
//! The seal is keyed: a head that was edited to fit a shortened ledger does not pass.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::LedgerError;
use super::files::{HEAD_IN_MAKING, Paths, sync_folder};
use super::key::{Hash, Key, from_hex, to_hex};

/// The most entries that one transaction adds.
pub(super) const MOST_IN_FLIGHT: u64 = 1;

/// How far apart the two places are: no disk writes more than this at once.
const PLACE_BYTES: usize = 4096;
const PLACES: usize = 2;

/// Count and hash of the last entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// How many entries there are.
    pub count: u64,
    /// The hash of the last one.
    pub hash: Hash,
}

/// How a place of the head file reads.
#[derive(Serialize, Deserialize)]
struct Written {
    version: u32,
    count: u64,
    hash: String,
    seal: String,
}

/// What the head file turned out to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// No such file.
    Missing,
    /// Something that this installation did not write.
    Damaged,
    /// A head.
    Head(Head),
    /// A head, and beside it a place that is not as this installation wrote it: the head of the entry after
    /// this one was cut short while it was written.
    CutShort(Head),
}

impl Found {
    /// The newest head in the file.
    pub(super) const fn head(&self) -> Option<Head> {
        match self {
            Self::Head(head) | Self::CutShort(head) => Some(*head),
            Self::Missing | Self::Damaged => None,
        }
    }
}

/// The head file as it was read, and where the next head goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeadFile {
    pub found: Found,
    /// The place to write next; `None` if the file has to be made anew.
    next: Option<usize>,
}

fn seal(key: &Key, head: &Head) -> Hash {
    *key.chain()
        .update(b"head 1")
        .update(&head.count.to_le_bytes())
        .update(&head.hash)
        .finalize()
        .as_bytes()
}

impl Head {
    fn parse(text: &[u8], key: &Key) -> Option<Self> {
        let written: Written = serde_json::from_slice(text).ok()?;
        let head = Self {
            count: written.count,
            hash: from_hex(&written.hash)?,
        };
        (written.version == 1 && from_hex(&written.seal)? == seal(key, &head)).then_some(head)
    }

    /// The text of one place, filled up with blanks to its size.
    fn place(&self, key: &Key) -> io::Result<Vec<u8>> {
        let written = Written {
            version: 1,
            count: self.count,
            hash: to_hex(&self.hash),
            seal: to_hex(&seal(key, self)),
        };
        let mut text = serde_json::to_vec(&written)?;
        text.resize(PLACE_BYTES - 1, b' ');
        text.push(b'\n');
        Ok(text)
    }
}

impl HeadFile {
    /// Reads the head file.
    ///
    /// # Errors
    /// Only when the file is there and cannot be read.
    pub(super) fn read(path: &Path, key: &Key) -> Result<Self, LedgerError> {
        let text = match std::fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self {
                    found: Found::Missing,
                    next: None,
                });
            }
            Err(error) => return Err(LedgerError::from_file(path, error)),
        };
        if text.len() != PLACES * PLACE_BYTES {
            // One place and nothing else: written by the first version of this program.
            return Ok(Self {
                found: Head::parse(&text, key).map_or(Found::Damaged, Found::Head),
                next: None,
            });
        }
        let (first, second) = text.split_at(PLACE_BYTES);
        let places = (Head::parse(first, key), Head::parse(second, key));
        let (found, next) = match places {
            (Some(first), Some(second)) if first.count > second.count => (Found::Head(first), 1),
            (_, Some(second)) if places.0.is_some() => (Found::Head(second), 0),
            (Some(first), _) => (Found::CutShort(first), 1),
            (None, Some(second)) => (Found::CutShort(second), 0),
            (None, None) => (Found::Damaged, 0),
        };
        Ok(Self {
            found,
            next: Some(next),
        })
    }

    /// Writes the head that follows this one, for good when it returns.
    pub(super) fn advance(&mut self, to: Head, paths: &Paths, key: &Key) -> io::Result<()> {
        let text = to.place(key)?;
        self.next = Some(if let Some(next) = self.next {
            let mut file = File::options().write(true).open(&paths.head)?;
            file.seek(SeekFrom::Start((next * PLACE_BYTES) as u64))?;
            file.write_all(&text)?;
            file.sync_data()?;
            PLACES - 1 - next
        } else {
            make(&text, paths)?;
            0
        });
        self.found = Found::Head(to);
        Ok(())
    }
}

/// Makes the file with the same head in both places, under another name first.
fn make(place: &[u8], paths: &Paths) -> io::Result<()> {
    let mut file = tempfile::Builder::new()
        .prefix(HEAD_IN_MAKING)
        .tempfile_in(&paths.home)?;
    for _ in 0..PLACES {
        file.write_all(place)?;
    }
    file.as_file().sync_all()?;
    file.persist(&paths.head).map_err(|error| error.error)?;
    sync_folder(&paths.home)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(count: u64) -> Head {
        Head {
            count,
            hash: [count as u8; 32],
        }
    }

    fn home() -> (tempfile::TempDir, Paths, Key) {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::new(home.path());
        let key = Key::create(&paths.key).unwrap();
        (home, paths, key)
    }

    fn advance(count: u64, paths: &Paths, key: &Key) {
        let mut file = HeadFile::read(&paths.head, key).unwrap();
        file.advance(head(count), paths, key).unwrap();
        assert_eq!(file.found, Found::Head(head(count)));
        assert_eq!(HeadFile::read(&paths.head, key).unwrap().found, file.found);
    }

    #[test]
    fn the_two_places_are_written_in_turn() {
        let (_home, paths, key) = home();
        assert_eq!(HeadFile::read(&paths.head, &key).unwrap().found, Found::Missing);
        advance(0, &paths, &key);
        for count in 1..6 {
            let before = std::fs::read(&paths.head).unwrap();
            advance(count, &paths, &key);
            let after = std::fs::read(&paths.head).unwrap();
            let changed = |place: usize| {
                let range = place * PLACE_BYTES..(place + 1) * PLACE_BYTES;
                before[range.clone()] != after[range]
            };
            assert_ne!(changed(0), changed(1), "one place at a time");
        }
    }

    #[test]
    fn a_place_cut_short_leaves_the_one_before() {
        let (_home, paths, key) = home();
        advance(6, &paths, &key);
        advance(7, &paths, &key);
        let whole = std::fs::read(&paths.head).unwrap();
        for place in 0..PLACES {
            let mut spoilt = whole.clone();
            spoilt[place * PLACE_BYTES + 40..place * PLACE_BYTES + 90].fill(0);
            std::fs::write(&paths.head, &spoilt).unwrap();
            let found = HeadFile::read(&paths.head, &key).unwrap().found;
            // The first place holds 7, the second 6.
            assert_eq!(found, Found::CutShort(head([6, 7][place])));
            advance(8, &paths, &key);
        }
        std::fs::write(&paths.head, vec![b'x'; whole.len()]).unwrap();
        assert_eq!(HeadFile::read(&paths.head, &key).unwrap().found, Found::Damaged);
        std::fs::write(&paths.head, &whole[..PLACE_BYTES + 10]).unwrap();
        assert_eq!(HeadFile::read(&paths.head, &key).unwrap().found, Found::Damaged);
    }

    #[test]
    fn the_first_versions_file_is_read_and_made_anew() {
        let (_home, paths, key) = home();
        let text = head(3).place(&key).unwrap();
        let old = [text.trim_ascii_end(), b"\n"].concat();
        std::fs::write(&paths.head, old).unwrap();
        assert_eq!(
            HeadFile::read(&paths.head, &key).unwrap().found,
            Found::Head(head(3))
        );
        advance(4, &paths, &key);
        assert_eq!(std::fs::read(&paths.head).unwrap().len(), PLACES * PLACE_BYTES);
    }
}
