//! A checkpoint of a run as a file: tensors in safetensors, and in its metadata what else the run needs to go on.
//!
//! It stays in the program's own folder, beside the ledger; it never leaves as an export does. It holds no row and
//! nothing read off rows without noise: see [`keep`](crate::train::keep).

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::ExportError;
use super::atomic::write_atomically;
use super::packed::{check_version, pack, tensors_of, text_in, text_of};
use crate::num::files::read_whole;
use crate::train::keep::Checkpoint;

/// Far more than the largest networks that can be set up.
const MOST_BYTES: u64 = 8 << 30;
/// Far more than a header with the longest schema.
const MOST_HEADER_BYTES: u64 = 1 << 28;
/// The version of the metadata that this program writes.
const VERSION: u64 = 1;
/// The metadata's key in the file's header.
const KEY: &str = "pointillist-checkpoint";

/// What the metadata says, beside the tensors.
#[derive(Serialize, Deserialize)]
struct Metadata<H> {
    version: u64,
    program: String,
    step: u64,
    state: serde_json::Value,
    run: H,
}

/// A checkpoint as it was read.
#[derive(Debug)]
pub struct CheckpointFile<H> {
    /// What the engine needs to know of the run.
    pub run: H,
    /// The run's state.
    pub checkpoint: Checkpoint,
    /// The program's version that wrote it.
    pub program: String,
}

/// Replaces the file, whole or not at all.
///
/// # Errors
/// When the file cannot be written; the one before stays as it was.
pub fn save_checkpoint<H: Serialize>(
    path: &Path,
    run: &H,
    checkpoint: &Checkpoint,
) -> Result<(), ExportError> {
    let metadata = Metadata {
        version: VERSION,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        step: checkpoint.step,
        state: checkpoint.state.clone(),
        run,
    };
    let json = serde_json::to_string(&metadata).map_err(|error| ExportError::Unwritable {
        path: path.into(),
        reason: error.to_string(),
    })?;
    let bytes = pack(path, KEY, json, &checkpoint.tensors)?;
    write_atomically(path, &bytes, true)
}

impl<H: DeserializeOwned> CheckpointFile<H> {
    /// Reads what a file says of its run and its step, without its tensors: for a list.
    ///
    /// # Errors
    /// As [`Self::load`], as far as the file's beginning tells.
    pub fn look(path: &Path) -> Result<(H, u64), ExportError> {
        let failed = |source| ExportError::Read {
            path: path.into(),
            source,
        };
        let bad = |reason: String| ExportError::NotACheckpoint {
            path: path.into(),
            reason,
        };
        let mut length = [0; 8];
        let mut file = File::open(path).map_err(failed)?;
        file.read_exact(&mut length)
            .map_err(|error| bad(error.to_string()))?;
        let length = u64::from_le_bytes(length);
        if length > MOST_HEADER_BYTES {
            return Err(bad("its header is too long".to_owned()));
        }
        let mut header = Vec::new();
        file.take(length).read_to_end(&mut header).map_err(failed)?;
        let json = text_in(&header, KEY).map_err(bad)?;
        check_version(path, &json, VERSION, bad)?;
        let metadata: Metadata<H> = serde_json::from_str(&json).map_err(|error| bad(error.to_string()))?;
        Ok((metadata.run, metadata.step))
    }

    /// Reads a file back, held against its hash.
    ///
    /// # Errors
    /// When the file cannot be read, is no checkpoint of this program, or is damaged.
    pub fn load(path: &Path) -> Result<Self, ExportError> {
        let bytes = read_whole(path, MOST_BYTES).map_err(|source| ExportError::Read {
            path: path.into(),
            source,
        })?;
        Self::read(path, &bytes)
    }

    /// Reads a file's bytes; `path` is named in errors.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn read(path: &Path, bytes: &[u8]) -> Result<Self, ExportError> {
        let bad = |reason: String| ExportError::NotACheckpoint {
            path: path.into(),
            reason,
        };
        let json = text_of(bytes, KEY).map_err(bad)?;
        check_version(path, &json, VERSION, bad)?;
        let metadata: Metadata<H> = serde_json::from_str(&json).map_err(|error| bad(error.to_string()))?;
        let tensors = tensors_of(bytes, &json).map_err(bad)?;
        Ok(Self {
            run: metadata.run,
            checkpoint: Checkpoint {
                step: metadata.step,
                state: metadata.state,
                tensors,
            },
            program: metadata.program,
        })
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, RngExt as _};

    use super::*;
    use crate::model::NamedTensor;

    fn checkpoint() -> Checkpoint {
        Checkpoint {
            step: 7,
            state: serde_json::json!({"critic_steps": 7, "fine": [[0.1, 1e-300]]}),
            tensors: vec![NamedTensor {
                name: "critic".into(),
                shape: [1, 4],
                values: vec![0.5, -0.25, 1e-30, 3.0],
            }],
        }
    }

    fn load(path: &Path) -> Result<CheckpointFile<String>, ExportError> {
        CheckpointFile::load(path)
    }

    #[test]
    fn a_checkpoint_comes_back_as_it_was_and_replaces_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("entry-1.checkpoint");
        for step in [7, 8] {
            let saved = Checkpoint { step, ..checkpoint() };
            save_checkpoint(&path, &"header", &saved).unwrap();
            let loaded = load(&path).unwrap();
            assert_eq!((loaded.run.as_str(), loaded.checkpoint), ("header", saved));
            let (run, found) = CheckpointFile::<String>::look(&path).unwrap();
            assert_eq!((run.as_str(), found), ("header", step));
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn no_damaged_file_is_ever_taken_for_a_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("entry-1.checkpoint");
        save_checkpoint(&path, &"header", &checkpoint()).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let mut inputs = 0;
        for cut in 0..whole.len() {
            assert!(
                CheckpointFile::<String>::read(&path, &whole[..cut]).is_err(),
                "cut at {cut}"
            );
            inputs += 1;
        }
        // Every bit of the file, and blocks of noise: either it is refused, or it says what it said before.
        let same = |bytes: &[u8]| match CheckpointFile::<String>::read(&path, bytes) {
            Ok(read) => read.checkpoint == checkpoint() && read.run == "header",
            Err(_) => true,
        };
        for place in 0..whole.len() {
            for bit in 0..8 {
                let mut bytes = whole.clone();
                bytes[place] ^= 1 << bit;
                assert!(same(&bytes), "bit {bit} of {place}");
                inputs += 1;
            }
        }
        let mut random = crate::num::RandomSource::seeded(5);
        for _ in 0..20_000 {
            let mut bytes = whole.clone();
            let start = random.random_range(0..bytes.len());
            let end = (start + random.random_range(1..64)).min(bytes.len());
            random.fill_bytes(&mut bytes[start..end]);
            if random.random::<bool>() {
                bytes.truncate(random.random_range(0..=bytes.len()));
            }
            assert!(same(&bytes));
            inputs += 1;
        }
        println!("{inputs} inputs");
    }
}
