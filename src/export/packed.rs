//! Tensors and a JSON text in one safetensors file, under a hash: what damage has touched is refused, not used.

use std::collections::HashMap;
use std::path::Path;

use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensors, serialize};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::ExportError;
use super::certificate::hexadecimal;
use crate::model::NamedTensor;

/// The key in the file's header of the hash over text and tensors.
const HASH_KEY: &str = "pointillist-sha256";

/// A file's bytes; `key` is that of the text in its header, and `path` is named in errors.
///
/// # Errors
/// When a tensor cannot be written in this format.
pub(super) fn pack(
    path: &Path,
    key: &str,
    json: String,
    tensors: &[NamedTensor],
) -> Result<Vec<u8>, ExportError> {
    let unwritable = |reason: String| ExportError::Unwritable {
        path: path.into(),
        reason,
    };
    let tensors: Vec<_> = tensors
        .iter()
        .map(|tensor| {
            let bytes: Vec<u8> = tensor
                .values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect();
            (tensor.name.as_str(), tensor.shape, bytes)
        })
        .collect();
    let views = tensors.iter().map(|(name, shape, bytes)| {
        let view = TensorView::new(Dtype::F32, shape.to_vec(), bytes);
        view.map(|view| (*name, view))
            .map_err(|error| unwritable(error.to_string()))
    });
    let views = views.collect::<Result<Vec<_>, _>>()?;
    let parts = tensors.iter().map(|(name, _, bytes)| (*name, bytes.as_slice()));
    let hash = hash_of(&json, parts);
    let header = HashMap::from([(key.to_owned(), json), (HASH_KEY.to_owned(), hash)]);
    serialize(views, Some(header)).map_err(|error| unwritable(error.to_string()))
}

/// The text in the header of a file, before anything else of it is read.
///
/// # Errors
/// When the file is none of this kind.
pub(super) fn text_of(bytes: &[u8], key: &str) -> Result<String, String> {
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| error.to_string())?;
    let json = header.metadata().as_ref().and_then(|metadata| metadata.get(key));
    json.cloned()
        .ok_or_else(|| "its header does not name this program".to_owned())
}

/// The same of a file's header alone, without the tensors behind it.
///
/// # Errors
/// When the header is none of this kind.
pub(super) fn text_in(header: &[u8], key: &str) -> Result<String, String> {
    #[derive(Deserialize)]
    struct Header {
        #[serde(rename = "__metadata__")]
        metadata: HashMap<String, String>,
    }
    let header: Header = serde_json::from_slice(header).map_err(|error| error.to_string())?;
    (header.metadata.get(key).cloned()).ok_or_else(|| "its header does not name this program".to_owned())
}

/// The tensors of a file, held against its hash.
///
/// # Errors
/// When the file is none of this kind, or damaged.
pub(super) fn tensors_of(bytes: &[u8], json: &str) -> Result<Vec<NamedTensor>, String> {
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| error.to_string())?;
    let tensors = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
    let metadata = header.metadata().as_ref();
    let stated = metadata.and_then(|metadata| metadata.get(HASH_KEY));
    let found = hash_of(json, tensors.iter().map(|(name, view)| (name, view.data())));
    if stated != Some(&found) {
        return Err("its content does not fit its hash: it is damaged or was changed".to_owned());
    }
    tensors
        .iter()
        .map(|(name, view)| NamedTensor::of(name, &view))
        .collect()
}

/// The version that a text states; refused if it is later than `known`, before the rest is read, which may have other
/// fields.
///
/// # Errors
/// When it states none, in words, or a later one.
pub(super) fn check_version(
    path: &Path,
    json: &str,
    known: u64,
    bad: impl FnOnce(String) -> ExportError,
) -> Result<(), ExportError> {
    #[derive(Deserialize)]
    struct Version {
        version: u64,
    }
    let found = serde_json::from_str::<Version>(json);
    let found = found.map_err(|error| bad(error.to_string()))?;
    if found.version > known {
        return Err(ExportError::Newer {
            path: path.into(),
            found: found.version,
            known,
        });
    }
    Ok(())
}

/// SHA-256 over the text and all tensors, whatever their order, as hexadecimal digits.
fn hash_of<'a>(json: &str, tensors: impl Iterator<Item = (&'a str, &'a [u8])>) -> String {
    let mut tensors: Vec<_> = tensors.collect();
    tensors.sort_unstable_by_key(|(name, _)| *name);
    let mut hasher = Sha256::new();
    for part in std::iter::once(json.as_bytes())
        .chain(tensors.iter().flat_map(|(name, bytes)| [name.as_bytes(), *bytes]))
    {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hexadecimal(&hasher.finalize())
}
