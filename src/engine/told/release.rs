//! What private statistics say: why one was refused, and how one is to be read.

use super::{Message, message, said};
use crate::num::{Argument, Fills};
use crate::release::{Note, ReleaseError, Value};

impl Fills for Value {
    fn argument(&self) -> Argument {
        Argument::Text(self.to_string())
    }
}

/// A word of the window by its key.
fn word(prefix: &str, name: &str) -> Message {
    // A message whose only word is another text of the window.
    Message::new(
        "a-word",
        name,
        vec![("word", Argument::Key(format!("{prefix}-{name}")))],
    )
}

fn query(name: &str) -> Message {
    word("query", name)
}

fn kind(name: &str) -> Message {
    word("kind", name)
}

pub(super) fn say(error: &ReleaseError) -> Message {
    use ReleaseError as E;
    match error {
        E::NoColumn { query: name } => said!(error, "release-no-column", query = query(name)),
        E::UnknownColumn { column, known } => {
            said!(error, "release-unknown-column", column = column, known = known)
        }
        E::Dropped { column, kind: name } => {
            said!(error, "release-dropped", column = column, kind = kind(name))
        }
        E::WrongKind {
            query: asked,
            column,
            kind: name,
            ..
        } => said!(
            error,
            "release-wrong-kind",
            query = query(asked),
            column = column,
            kind = kind(name)
        ),
        E::Open { column, why, buy } => said!(
            error,
            "release-open",
            column = column,
            why = why,
            query = query(buy)
        ),
        E::OpenBoolean { column, why } => {
            said!(error, "release-open-boolean", column = column, why = why)
        }
        E::NoGroups { column, kind: name } => {
            said!(error, "release-no-groups", column = column, kind = kind(name))
        }
        E::NotByGroup { query: name } => said!(error, "release-not-by-group", query = query(name)),
        E::GroupedByItself { column } => said!(error, "release-grouped-by-itself", column = column),
        E::TooManyCells { cells, most } => {
            said!(error, "release-too-many", count = cells, most = most)
        }
        E::NothingToBuy { column, .. } => said!(error, "release-nothing-to-buy", column = column),
        E::RowsDeclared { rows } => said!(error, "release-rows-declared", rows = rows),
        E::PersonsDeclared { persons } => said!(error, "release-persons-declared", persons = persons),
        E::PersonsByGroup => said!(error, "release-persons-by-group"),
        E::RowsPublic { relation } => said!(error, "release-rows-public", relation = relation),
        E::Epsilon {
            epsilon, least, most, ..
        } => said!(
            error,
            "release-epsilon",
            epsilon = epsilon,
            least = least,
            most = most
        ),
        E::DeltaNeeded { .. } => said!(error, "release-delta-needed"),
        E::Unit(inner) => message(inner),
        E::Share { share } => said!(error, "release-share", share = share),
        E::Bins { bins, most } => said!(error, "release-bins", bins = bins, most = most),
        E::Mechanism { query: name, .. } => said!(error, "release-mechanism", query = query(name)),
        E::Data(inner) => message(inner),
        E::Noise(_) => said!(error, "release-noise"),
        E::Accounting(_) => said!(error, "release-accounting"),
    }
}

/// A remark on a release, with its key.
pub(in crate::engine) fn note(note: &Note) -> Message {
    match note {
        Note::MissingLeftOut { column } => said!(note, "note-missing-left-out", column = column),
        Note::Clamped { column, lower, upper } => said!(
            note,
            "note-clamped",
            column = column,
            lower = lower,
            upper = upper
        ),
        Note::FirstRows { column, max_rows } => {
            said!(note, "note-first-rows", column = column, rows = max_rows)
        }
        Note::PersonsOnce { column } => said!(note, "note-persons-once", column = column),
        Note::GroupLeftOut { column } => said!(note, "note-group-left-out", column = column),
        Note::FormAccepted => said!(note, "note-form-accepted"),
        Note::NotCutOff => said!(note, "note-not-cut-off"),
        Note::PublicCount => said!(note, "note-public-count"),
        Note::Pointwise => said!(note, "note-pointwise"),
        Note::Simultaneous => said!(note, "note-simultaneous"),
        Note::OnGrid { spacing } => said!(note, "note-on-grid", spacing = spacing),
        Note::Unit { unit } => said!(note, "note-unit", unit = unit),
        Note::BoundsThreshold { rows, failure } => {
            said!(note, "note-bounds-threshold", rows = rows, failure = failure)
        }
        Note::CategoriesThreshold { rows } => said!(note, "note-categories-threshold", rows = rows),
        Note::NothingFound => said!(note, "note-nothing-found"),
    }
}
