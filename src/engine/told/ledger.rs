//! What the ledger says.

use super::{Message, message, said};
use crate::num::{Argument, Fills};
use crate::privacy::ledger::{Finding, LedgerError, PrivacyUnit};

impl Fills for PrivacyUnit {
    fn argument(&self) -> Argument {
        match self {
            Self::Row => Argument::Key("unit-row".to_owned()),
            Self::Person { column, max_rows } => {
                Argument::Said(said!(self, "unit-person", column = column, rows = max_rows))
            }
        }
    }
}

/// A share of one, in per cent.
fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

pub(super) fn say(error: &LedgerError) -> Message {
    use LedgerError as E;
    match error {
        E::Closed => said!(error, "ledger-closed"),
        E::Folder { path, .. } => said!(error, "ledger-folder", path = path),
        E::ReadOnly { path } => said!(error, "ledger-read-only", path = path),
        E::NoSpace { path } => said!(error, "ledger-no-space", path = path),
        E::Locked { path, waited } => {
            said!(error, "ledger-locked", path = path, seconds = waited.as_secs())
        }
        E::Newer { path, found, known } => {
            said!(error, "ledger-newer", path = path, found = found, known = known)
        }
        E::SetAside { path, aside, reason } => {
            said!(
                error,
                "ledger-set-aside",
                path = path,
                aside = aside,
                reason = reason
            )
        }
        E::Missing { path, aside: None } => said!(error, "ledger-missing", path = path),
        E::Missing {
            path,
            aside: Some(aside),
        } => said!(error, "ledger-missing-aside", path = path, aside = aside),
        E::KeyMissing { path } => said!(error, "ledger-key-missing", path = path),
        E::KeyWrong { path, reason } => said!(error, "ledger-key-wrong", path = path, reason = reason),
        E::Broken { path, findings } => {
            let findings: Vec<Message> = findings.iter().map(finding).collect();
            said!(error, "ledger-broken", path = path, findings = findings)
        }
        E::HeadNotWritten { entry, path, .. } => {
            said!(error, "ledger-head-not-written", entry = entry.0, path = path)
        }
        E::File { path, .. } => said!(error, "ledger-file", path = path),
        E::Database { path, .. } => said!(error, "ledger-database", path = path),
        E::NoRandomness { reason } => said!(error, "ledger-no-randomness", reason = reason),
        E::OverTotal { .. }
        | E::RelationDiffers { .. }
        | E::UnitDiffers { .. }
        | E::CannotTotal { .. }
        | E::TotalNotRaised { .. }
        | E::NoDeltaApart { .. }
        | E::TotalTooLarge { .. }
        | E::TotalTooSmall { .. } => total(error),
        E::ReasonMissing => said!(error, "ledger-reason-missing"),
        E::NotAPromise { epsilon, delta } => {
            said!(error, "ledger-not-a-promise", epsilon = epsilon, delta = delta)
        }
        E::Unwritable { reason } => said!(error, "ledger-unwritable", reason = reason),
        E::UnknownEntry(entry) => said!(error, "ledger-unknown-entry", entry = entry.0),
        E::UnknownDataset(name) => said!(error, "ledger-unknown-dataset", name = name),
        E::AlreadySettled(entry) => said!(error, "ledger-already-settled", entry = entry.0),
        E::AlreadyKnown { dataset_name } => said!(error, "ledger-already-known", name = dataset_name),
        E::BackupExists { path } => said!(error, "ledger-backup-exists", path = path),
        E::Accounting(inner) => message(inner),
    }
}

/// What stands between a job and the total.
fn total(error: &LedgerError) -> Message {
    use LedgerError as E;
    match error {
        E::OverTotal {
            dataset_name,
            epsilon,
            delta,
            needed,
            left,
        } => said!(
            error,
            "ledger-over-total",
            name = dataset_name,
            epsilon = epsilon,
            delta = format!("{delta:e}"),
            needed = percent(*needed),
            left = percent(*left)
        ),
        E::NoDeltaApart { dataset_name } => said!(error, "ledger-no-delta-apart", name = dataset_name),
        E::TotalTooLarge { epsilon, delta, most } => said!(
            error,
            "ledger-total-too-large",
            epsilon = epsilon,
            delta = delta,
            most = most.0,
            least = most.1
        ),
        E::RelationDiffers {
            dataset_name,
            kept,
            asked,
        } => said!(
            error,
            "ledger-relation-differs",
            name = dataset_name,
            kept = kept,
            asked = asked
        ),
        E::UnitDiffers {
            dataset_name,
            kept,
            asked,
        } => said!(
            error,
            "ledger-unit-differs",
            name = dataset_name,
            kept = kept,
            asked = asked
        ),
        E::CannotTotal { dataset_name, reason } => {
            said!(error, "ledger-cannot-total", name = dataset_name, reason = reason)
        }
        E::TotalNotRaised {
            dataset_name,
            epsilon,
            delta,
        } => said!(
            error,
            "ledger-total-not-raised",
            name = dataset_name,
            epsilon = epsilon,
            delta = format!("{delta:e}")
        ),
        E::TotalTooSmall { epsilon, delta } => said!(
            error,
            "ledger-total-too-small",
            epsilon = epsilon,
            delta = format!("{delta:e}")
        ),
        _ => Message::plain(error.to_string()),
    }
}

pub(in crate::engine) fn finding(finding: &Finding) -> Message {
    match finding {
        Finding::Changed { entry } => said!(finding, "finding-changed", entry = entry),
        Finding::Lost { from, to } => said!(finding, "finding-lost", from = from, to = to),
        Finding::Reordered { entry } => said!(finding, "finding-reordered", entry = entry),
        Finding::CutOff { found, expected } => {
            said!(finding, "finding-cut-off", found = found, expected = expected)
        }
        Finding::Meaningless { entry, reason } => {
            said!(finding, "finding-meaningless", entry = entry, reason = reason)
        }
        Finding::HeadMissing => said!(finding, "finding-head-missing"),
        Finding::HeadDamaged => said!(finding, "finding-head-damaged"),
        Finding::HeadStale { known, found } => {
            said!(finding, "finding-head-stale", known = known, found = found)
        }
        Finding::CertificateUnknown { count } => {
            said!(finding, "finding-certificate-unknown", count = count)
        }
        Finding::CertificateDiffers { entry, what } => {
            said!(finding, "finding-certificate-differs", entry = entry, what = what)
        }
        Finding::Database { reason } => said!(finding, "finding-database", reason = reason),
    }
}
