//! The installation's key: makes the identity of a data set and the chain of entries its own.
//!
//! Keyed, because a plain hash of a small or well-known file would tell everybody which file it is, and
//! because a chain that anybody can compute is a chain that anybody can mend after changing it.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rand::TryRng;
use rand::rngs::SysRng;

use super::LedgerError;
use super::entry::DatasetId;
use super::files::{KEY_IN_MAKING, sync_folder};

/// Bytes of the key and of every hash made with it.
pub(super) const HASH_BYTES: usize = 32;

/// A keyed hash.
pub(super) type Hash = [u8; HASH_BYTES];

const IDENTITY: &str = "pointillist 2026 ledger: identity of a data set";
const CHAIN: &str = "pointillist 2026 ledger: chain of entries";
const SEAL: &str = "pointillist 2026 ledger: seal of a certificate";

/// Keys for three purposes, derived from the one in the file.
#[derive(Clone)]
pub(super) struct Key {
    identity: Hash,
    chain: Hash,
    seal: Hash,
}

impl Key {
    fn derive(secret: &Hash) -> Self {
        Self {
            identity: blake3::derive_key(IDENTITY, secret),
            chain: blake3::derive_key(CHAIN, secret),
            seal: blake3::derive_key(SEAL, secret),
        }
    }

    /// Reads the key, if there is one.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, LedgerError> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(LedgerError::KeyWrong {
                    path: path.into(),
                    reason: "it is not text".into(),
                });
            }
            Err(error) => return Err(LedgerError::from_file(path, error)),
        };
        let secret = from_hex(text.trim()).ok_or_else(|| LedgerError::KeyWrong {
            path: path.into(),
            reason: "it does not hold 64 hexadecimal digits".into(),
        })?;
        Ok(Some(Self::derive(&secret)))
    }

    /// Draws a key from the operating system and writes it, synced, readable by its owner only.
    pub(super) fn create(path: &Path) -> Result<Self, LedgerError> {
        let mut secret = Hash::default();
        SysRng
            .try_fill_bytes(&mut secret)
            .map_err(|error| LedgerError::NoRandomness {
                reason: error.to_string(),
            })?;
        let failed = |error| LedgerError::from_file(path, error);
        let folder: PathBuf = path.parent().unwrap_or(Path::new(".")).into();
        // Temporary files are private to their owner from the start.
        let mut file = tempfile::Builder::new()
            .prefix(KEY_IN_MAKING)
            .tempfile_in(&folder)
            .map_err(failed)?;
        writeln!(file, "{}", to_hex(&secret)).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist_noclobber(path)
            .map_err(|error| failed(error.error))?;
        sync_folder(&folder).map_err(failed)?;
        Ok(Self::derive(&secret))
    }

    /// The identity of content with this digest.
    pub(super) fn identify(&self, digest: &[u8; 32]) -> DatasetId {
        DatasetId(*blake3::keyed_hash(&self.identity, digest).as_bytes())
    }

    /// The seal of a text that this installation issues.
    pub(super) fn seal(&self, text: &str) -> String {
        blake3::keyed_hash(&self.seal, text.as_bytes())
            .to_hex()
            .to_string()
    }

    /// A hasher for the chain.
    pub(super) fn chain(&self) -> blake3::Hasher {
        blake3::Hasher::new_keyed(&self.chain)
    }

    /// What stands before the first entry.
    pub(super) fn genesis(&self) -> Hash {
        *self.chain().update(b"genesis").finalize().as_bytes()
    }
}

/// Takes a file back from anybody but its owner.
#[cfg(unix)]
pub(super) fn make_private(path: &Path) -> Result<(), LedgerError> {
    use std::os::unix::fs::PermissionsExt;
    let failed = |error| LedgerError::from_file(path, error);
    let mut permissions = fs::metadata(path).map_err(failed)?.permissions();
    if permissions.mode() & 0o077 != 0 {
        permissions.set_mode(0o600);
        fs::set_permissions(path, permissions).map_err(failed)?;
    }
    Ok(())
}

/// Takes a file back from anybody but its owner: other platforms keep a person's folders private by themselves.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on the platforms where it can fail")]
pub(super) fn make_private(_path: &Path) -> Result<(), LedgerError> {
    Ok(())
}

/// Lower-case hexadecimal digits.
pub(super) fn to_hex(hash: &Hash) -> String {
    blake3::Hash::from_bytes(*hash).to_hex().to_string()
}

/// The hash written as 64 hexadecimal digits.
pub(super) fn from_hex(text: &str) -> Option<Hash> {
    blake3::Hash::from_hex(text).ok().map(|hash| *hash.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_comes_back_and_stays_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.key");
        assert!(Key::read(&path).unwrap().is_none());
        let made = Key::create(&path).unwrap();
        let read = Key::read(&path).unwrap().unwrap();
        assert_eq!(made.identify(&[7; 32]), read.identify(&[7; 32]));
        assert_eq!(made.genesis(), read.genesis());
        assert!(Key::create(&path).is_err(), "a key is never replaced");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(), 0o600);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            make_private(&path).unwrap();
            assert_eq!(mode(), 0o600);
        }
    }

    #[test]
    fn identities_differ_between_installations() {
        let folder = tempfile::tempdir().unwrap();
        let one = Key::create(&folder.path().join("one")).unwrap();
        let other = Key::create(&folder.path().join("other")).unwrap();
        assert_ne!(one.identify(&[7; 32]), other.identify(&[7; 32]));
        assert_ne!(one.identify(&[7; 32]).0, [7; 32]);
        assert_eq!(one.seal("a certificate"), one.seal("a certificate"));
        assert_ne!(one.seal("a certificate"), one.seal("another"));
        assert_ne!(one.seal("a certificate"), other.seal("a certificate"));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.key");
        for text in ["", "abc", "zz".repeat(32).as_str(), "a".repeat(65).as_str()] {
            fs::write(&path, text).unwrap();
            assert!(
                matches!(Key::read(&path), Err(LedgerError::KeyWrong { .. })),
                "{text}"
            );
        }
        fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(matches!(Key::read(&path), Err(LedgerError::KeyWrong { .. })));
    }
}
