//! What errors say, with the keys by which a window says it in other languages.
//!
//! The English is each error's own. Here every variant that a person is likely to meet gets a key and what fills
//! it; the match names all variants, so a new one is not forgotten. What comes from below (the operating system,
//! SQLite, the readers' libraries) has no key and stays in its own words.

pub(super) mod ledger;
pub(super) mod release;
mod train;

use std::error::Error;

use crate::data::DataError;
use crate::engine::EngineError;
use crate::engine::settings::SettingsError;
use crate::export::{ExportError, JournalError, size};
use crate::message;
use crate::model::DeviceError;
use crate::num::{Argument, Cancelled, Fills, Message, UnitError};
use crate::privacy::ledger::LedgerError;
use crate::privacy::{AccountingError, CalibrationError, Neighboring};
use crate::release::ReleaseError;
use crate::train::keep::KeepError;
use crate::train::{PlanError, Refusal, SampleError, SettingError, TrainError, describe::SettingTextError};

/// The message of an error, with a key where there is one.
pub(super) fn message(error: &(dyn Error + 'static)) -> Message {
    known(error).unwrap_or_else(|| Message::plain(error.to_string()))
}

/// An error's own English under a key, and what fills the translation.
macro_rules! said {
    ($error:expr, $key:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::num::Message::new(
            $key,
            $error.to_string(),
            vec![$((stringify!($name), $crate::num::Fills::argument(&$value))),*],
        )
    };
}
use said;

fn known(error: &(dyn Error + 'static)) -> Option<Message> {
    macro_rules! try_each {
        ($($type:ty => $say:expr),* $(,)?) => {
            $(if let Some(error) = error.downcast_ref::<$type>() {
                return Some($say(error));
            })*
        };
    }
    try_each!(
        DataError => data,
        ExportError => export,
        LedgerError => ledger::say,
        PlanError => train::plan,
        ReleaseError => release::say,
        TrainError => train::training,
        JournalError => journal,
        KeepError => |error: &KeepError| said!(error, "train-keep-neither"),
        Refusal => train::refusal,
        SampleError => train::sample,
        SettingError => train::setting,
        SettingTextError => train::setting_text,
        CalibrationError => train::calibration,
        AccountingError => train::accounting,
        DeviceError => device,
        EngineError => engine,
        SettingsError => settings,
        UnitError => unit,
        Cancelled => |error: &Cancelled| said!(error, "say-cancelled"),
    );
    None
}

impl Fills for Neighboring {
    fn argument(&self) -> Argument {
        let key = match self {
            Self::AddRemoveOne => "relation-add-remove",
            Self::ZeroOutOne => "relation-zero-out",
            Self::ReplaceOne => "relation-replace",
        };
        Argument::Key(key.to_owned())
    }
}

fn data(error: &DataError) -> Message {
    match error {
        DataError::Cancelled => said!(error, "say-cancelled"),
        DataError::NotFound { path } => said!(error, "data-not-found", path = path),
        DataError::Io { path, source, .. } => {
            said!(error, "data-io", path = path, reason = source.to_string())
        }
        DataError::Spill {
            folder, megabytes, ..
        } => {
            said!(error, "data-spill", folder = folder, megabytes = megabytes)
        }
        DataError::ReadBack { folder, reason } => {
            said!(error, "data-read-back", folder = folder, reason = reason)
        }
        DataError::Empty { path } => said!(error, "data-empty", path = path),
        DataError::NoRows { path } => said!(error, "data-no-rows", path = path),
        DataError::NotATable { path, key, .. } => {
            Message::new(key, error.to_string(), vec![("path", path.argument())])
        }
        DataError::RaggedRow {
            path,
            row,
            line,
            found,
            expected,
            delimiter,
        } => said!(
            error,
            "data-ragged-row",
            path = path,
            row = row,
            line = line,
            found = found,
            expected = expected,
            delimiter = delimiter
        ),
        DataError::NotUtf8 { path, place } => {
            said!(error, "data-not-utf8", path = path, place = place)
        }
        DataError::DuplicateColumn {
            path,
            name,
            first,
            second,
        } => said!(
            error,
            "data-duplicate-column",
            path = path,
            column = name,
            first = first,
            second = second
        ),
        DataError::UnnamedColumn { path, position } => {
            said!(error, "data-unnamed-column", path = path, position = position)
        }
        DataError::UnsupportedColumn { path, column, found } => said!(
            error,
            "data-unsupported-column",
            path = path,
            column = column,
            found = found
        ),
        DataError::Schema { place, message } => {
            said!(error, "data-schema", place = place, message = message)
        }
        DataError::Mismatch { message } => said!(error, "data-mismatch", message = message),
        DataError::Cell { column, row, message } => {
            said!(error, "data-cell", column = column, row = row, message = message)
        }
        DataError::NoColumns => said!(error, "data-no-columns"),
        DataError::Images { path, message } => {
            said!(error, "data-images", path = path, message = message)
        }
        DataError::Encoded { message } => said!(error, "data-encoded", message = message),
        other => file(other),
    }
}

fn journal(error: &JournalError) -> Message {
    match error {
        JournalError::NoSpace { path, .. } => said!(error, "journal-no-space", path = path),
        JournalError::Io { path, .. } => said!(error, "journal-io", path = path),
        JournalError::Held { path } => said!(error, "journal-held", path = path),
        JournalError::Damaged { path } => said!(error, "journal-damaged", path = path),
    }
}

/// What is wrong with a file before it is a table.
fn file(error: &DataError) -> Message {
    match error {
        DataError::NotInEncoding { path, line, encoding } => said!(
            error,
            "data-not-in-encoding",
            path = path,
            line = line,
            encoding = encoding
        ),
        DataError::UnclosedQuote { path, row, line } => {
            said!(error, "data-unclosed-quote", path = path, row = row, line = line)
        }
        DataError::RecordTooLong { path, line, most } => {
            said!(
                error,
                "data-record-too-long",
                path = path,
                line = line,
                most = most
            )
        }
        DataError::CorruptFile { path, kind, reason } => {
            said!(
                error,
                "data-corrupt-file",
                path = path,
                kind = *kind,
                reason = reason
            )
        }
        DataError::UnpacksToTooMuch { path, ratio } => {
            said!(error, "data-unpacks-to-too-much", path = path, ratio = ratio)
        }
        DataError::WhichPart {
            path,
            kind,
            wanted,
            parts,
        } => {
            let key = match wanted {
                Some(_) if !parts.is_empty() => "data-other-part",
                _ => "data-no-part",
            };
            Message::new(
                key,
                error.to_string(),
                vec![
                    ("path", path.argument()),
                    ("kind", Argument::Key(format!("part-{kind}"))),
                    ("wanted", wanted.clone().unwrap_or_default().argument()),
                    ("parts", parts.join(", ").argument()),
                ],
            )
        }
        DataError::OtherKindOfPart { path, said, wanted } => {
            let key = if *said == "table" {
                "data-sheets-not-tables"
            } else {
                "data-tables-not-sheets"
            };
            let arguments = vec![("path", path.argument()), ("wanted", wanted.argument())];
            Message::new(key, error.to_string(), arguments)
        }
        DataError::NulInText { path, line } => said!(error, "data-nul-in-text", path = path, line = line),
        DataError::BytesColumn { path, column } => {
            said!(error, "data-bytes-column", path = path, column = column)
        }
        DataError::Sheet { path, message } => {
            said!(error, "data-sheet", path = path, message = message)
        }
        DataError::Locked { path } => said!(error, "data-locked", path = path),
        DataError::Unfinished { path } => said!(error, "data-unfinished", path = path),
        DataError::BrokenPart { path, part, reason } => {
            said!(
                error,
                "data-broken-part",
                path = path,
                part = part,
                reason = reason
            )
        }
        DataError::TooLarge {
            path,
            row,
            column,
            value,
        } => {
            let value = value.to_string();
            said!(
                error,
                "data-too-large",
                path = path,
                row = row,
                column = column,
                value = &value
            )
        }
        DataError::Changed { path } => said!(error, "data-changed", path = path),
        _ => Message::plain(error.to_string()),
    }
}

fn export(error: &ExportError) -> Message {
    match error {
        ExportError::IsInput { path } => said!(error, "export-is-input", path = path),
        ExportError::Exists { path } => said!(error, "export-exists", path = path),
        ExportError::NotAFile { path } => said!(error, "export-not-a-file", path = path),
        ExportError::LeftOver { path, left } => said!(error, "export-left-over", path = path, left = left),
        ExportError::NotAFileName { path } => said!(error, "export-not-a-name", path = path),
        ExportError::UnknownEnding { path } => said!(error, "export-unknown-ending", path = path),
        ExportError::UnknownImages { path } => said!(error, "export-unknown-images", path = path),
        ExportError::NotAnExport { path } => said!(error, "export-not-an-export", path = path),
        ExportError::FolderMissing { folder } => said!(error, "export-folder-missing", path = folder),
        ExportError::FolderReadOnly { folder, .. } => {
            said!(error, "export-folder-read-only", path = folder)
        }
        ExportError::NoSpace { path, .. } => said!(error, "export-no-space", path = path),
        ExportError::NoRoom { path, needed, free } => said!(
            error,
            "export-no-room",
            path = path,
            needed = size(*needed),
            free = size(*free)
        ),
        ExportError::Write { path, .. } => said!(error, "export-write", path = path),
        ExportError::Read { path, .. } => said!(error, "export-read", path = path),
        ExportError::NotACertificate { path, reason } => {
            said!(error, "export-not-a-certificate", path = path, reason = reason)
        }
        ExportError::NotARecipe { path, reason } => {
            said!(error, "export-not-a-recipe", path = path, reason = reason)
        }
        ExportError::NotACheckpoint { path, reason } => {
            said!(error, "export-not-a-checkpoint", path = path, reason = reason)
        }
        ExportError::NotAGenerator { path, reason } => {
            said!(error, "export-not-a-generator", path = path, reason = reason)
        }
        ExportError::Newer { path, found, known } => {
            said!(error, "export-newer", path = path, found = found, known = known)
        }
        ExportError::Unwritable { path, reason } => {
            said!(error, "export-unwritable", path = path, reason = reason)
        }
    }
}

fn device(error: &DeviceError) -> Message {
    match error {
        DeviceError::NotBuilt => said!(error, "device-not-built"),
        DeviceError::NoAdapter => said!(error, "device-no-adapter"),
    }
}

fn engine(error: &EngineError) -> Message {
    match error {
        EngineError::Thread(_) => said!(error, "engine-thread"),
        EngineError::NoHome => said!(error, "engine-no-home"),
        EngineError::EmptyHome => said!(error, "engine-empty-home"),
        EngineError::Home { path, .. } => said!(error, "engine-home", path = path),
    }
}

fn settings(error: &SettingsError) -> Message {
    match error {
        SettingsError::Io { path, .. } => said!(error, "settings-io", path = path),
        SettingsError::Malformed { path, .. } => said!(error, "settings-malformed", path = path),
    }
}

fn unit(error: &UnitError) -> Message {
    said!(
        error,
        "unit-range",
        unit = error.unit,
        range = error.range,
        value = error.value
    )
}

/// Several names in a row.
fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn an_error_keeps_its_english_and_gets_a_key() {
        let error = DataError::NotFound {
            path: PathBuf::from("rows.csv"),
        };
        let told = message(&error);
        assert_eq!(told.as_str(), error.to_string());
        assert_eq!(told.key(), Some("data-not-found"));
        let other = std::io::Error::other("the system's own words");
        assert_eq!(message(&other), Message::plain("the system's own words"));
    }

    #[test]
    fn an_error_inside_another_is_the_same_message() {
        let inner = DataError::NoColumns;
        let outer = PlanError::Encoding(DataError::NoColumns);
        assert_eq!(message(&outer), message(&inner));
    }
}
