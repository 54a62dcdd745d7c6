//! The certificate as a JSON file.

use std::io;
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{Certificate, FORMAT, VERSION};
use crate::export::ExportError;
use crate::export::atomic::write_atomically;
use crate::num::files::read_whole;

/// The JSON schema of the file that is written, as published; those of earlier versions lie beside it.
pub const JSON_SCHEMA: &str = include_str!("../../../assets/schemas/certificate-2.schema.json");

/// Bytes as lower-case hexadecimal digits.
pub(in crate::export) fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes
        .iter()
        .fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
}

impl Certificate {
    /// SHA-256 over the certificate without its digest, as compact JSON in the order of the fields.
    pub(super) fn compute_digest(&self) -> String {
        let plain = Self {
            digest: String::new(),
            seal: None,
            ..self.clone()
        };
        // A certificate that JSON cannot hold has no digest, and is refused when it is written.
        serde_json::to_vec(&plain).map_or_else(|_| String::new(), |bytes| hexadecimal(&Sha256::digest(bytes)))
    }

    /// The file's text.
    ///
    /// # Errors
    /// When a number is one that JSON cannot hold.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        // A number that is none would have become `null`, which does not read back.
        serde_json::from_str::<Self>(&text)?;
        Ok(text)
    }
}

/// Writes the certificate, whole or not at all.
///
/// # Errors
/// When a number is one that JSON cannot hold, or the file cannot be written.
pub fn write_certificate(path: &Path, certificate: &Certificate, overwrite: bool) -> Result<(), ExportError> {
    let text = certificate.to_json().map_err(|error| ExportError::Unwritable {
        path: path.into(),
        reason: error.to_string(),
    })?;
    write_atomically(path, text.as_bytes(), overwrite)
}

/// The most bytes that are read of a file that may be a certificate: one of ten thousand events has some two
/// million.
const MOST_BYTES: u64 = 16 << 20;

/// Reads a certificate.
///
/// # Errors
/// When the file cannot be read, is not a certificate, or is of a later version.
pub fn read_certificate(path: &Path) -> Result<Certificate, ExportError> {
    let bytes = read_whole(path, MOST_BYTES).map_err(|source| {
        if source.kind() == io::ErrorKind::FileTooLarge {
            ExportError::NotACertificate {
                path: path.into(),
                reason: source.to_string(),
            }
        } else {
            ExportError::Read {
                path: path.into(),
                source,
            }
        }
    })?;
    parse(path, &bytes)
}

/// Reads the bytes of a certificate; `path` is for the errors only.
pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Certificate, ExportError> {
    let not = |reason: String| ExportError::NotACertificate {
        path: path.into(),
        reason,
    };
    let value: Value =
        serde_json::from_slice(bytes).map_err(|error| not(format!("it is not JSON ({error})")))?;
    match value.get("format").and_then(Value::as_str) {
        Some(FORMAT) => {}
        Some(other) => return Err(not(format!("its format is \"{other}\""))),
        None => return Err(not("it does not say its format".into())),
    }
    match value.get("version").and_then(Value::as_u64) {
        Some(1..=VERSION) => {}
        Some(found) if found > VERSION => {
            return Err(ExportError::Newer {
                path: path.into(),
                found,
                known: VERSION,
            });
        }
        _ => return Err(not("its version is none".into())),
    }
    let certificate: Certificate = serde_json::from_slice(bytes).map_err(|error| not(error.to_string()))?;
    match (certificate.version, certificate.records) {
        (1, Some(_)) => return Err(not("version 1 does not say what its records are".into())),
        (1, None) | (_, Some(_)) => {}
        (_, None) => return Err(not("it does not say what its records are".into())),
    }
    // What was not understood may be what somebody wanted to say with it: nothing is passed over in silence.
    let understood = serde_json::to_value(&certificate).map_err(|error| not(error.to_string()))?;
    if let Some(place) = first_unknown(&value, &understood) {
        return Err(not(format!("it holds an unknown field, {place}")));
    }
    // What is always written, and would be filled in with what nobody has said.
    match first_unknown(&understood, &value) {
        Some(place) => Err(not(format!("it lacks the field {place}"))),
        None => Ok(certificate),
    }
}

/// The place of the first field that is in the one and not in the other: in a file, and not in what was understood of it.
fn first_unknown(file: &Value, understood: &Value) -> Option<String> {
    match (file, understood) {
        (Value::Object(file), Value::Object(understood)) => {
            file.iter().find_map(|(name, value)| match understood.get(name) {
                Some(known) => first_unknown(value, known).map(|place| format!("{name}/{place}")),
                None if value.is_null() => None,
                None => Some(name.clone()),
            })
        }
        (Value::Array(file), Value::Array(understood)) => {
            file.iter()
                .zip(understood)
                .enumerate()
                .find_map(|(index, (value, known))| {
                    first_unknown(value, known).map(|place| format!("{index}/{place}"))
                })
        }
        _ => None,
    }
}
