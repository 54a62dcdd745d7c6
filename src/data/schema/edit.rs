//! Editing a column by hand, with the rules of provenance kept: a suggestion becomes accepted or is replaced,
//! and only what a person has typed is ever called declared.

use super::bound::Bound;
use super::types::{Column, Kind, Provenance, Scale};

/// Which parts of a column a person has typed since it was suggested.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Typed {
    lower: bool,
    upper: bool,
}

impl Column {
    /// Builder: with these bounds.
    #[must_use]
    pub fn with_bounds(mut self, lower: impl Into<Bound>, upper: impl Into<Bound>) -> Self {
        self.lower = Some(lower.into());
        self.upper = Some(upper.into());
        self
    }

    /// Builder: with these values.
    #[must_use]
    pub fn with_domain<S: Into<String>>(mut self, domain: impl IntoIterator<Item = S>) -> Self {
        self.domain = Some(domain.into_iter().map(Into::into).collect());
        self
    }

    /// Builder: with this provenance.
    #[must_use]
    pub fn with_provenance(mut self, provenance: Provenance) -> Self {
        self.provenance = Some(provenance);
        self
    }

    /// Builder: with this scale.
    #[must_use]
    pub fn with_scale(mut self, scale: Scale) -> Self {
        self.scale = scale;
        self
    }

    /// Builder: with missing cells allowed.
    #[must_use]
    pub fn with_missing(mut self, missing: bool) -> Self {
        self.missing = missing;
        self
    }

    /// Lets a suggestion stand. It becomes accepted (allowed in training, listed as not protected), never
    /// declared. Returns whether anything changed.
    pub fn accept_suggestion(&mut self) -> bool {
        let is_suggestion = self.provenance == Some(Provenance::Suggested);
        if is_suggestion {
            self.provenance = Some(Provenance::Accepted);
        }
        is_suggestion
    }

    /// Takes back [`Column::accept_suggestion`]. Returns whether anything changed.
    pub fn withdraw_acceptance(&mut self) -> bool {
        let is_accepted = self.provenance == Some(Provenance::Accepted);
        if is_accepted {
            self.provenance = Some(Provenance::Suggested);
        }
        is_accepted
    }

    /// A person states that the column, as it stands, is public knowledge (a code book says so). This is a
    /// claim about the world: ask for it in so many words, never as a click on a suggestion.
    pub fn declare(&mut self) {
        self.provenance = Some(Provenance::Declared);
    }

    /// A person types both bounds from public knowledge.
    pub fn declare_bounds(&mut self, lower: impl Into<Bound>, upper: impl Into<Bound>) {
        self.lower = Some(lower.into());
        self.upper = Some(upper.into());
        self.typed = Typed {
            lower: true,
            upper: true,
        };
        self.provenance = Some(Provenance::Declared);
    }

    /// A person types the lower bound. The column counts as declared once nothing of a suggestion is left.
    pub fn type_lower(&mut self, lower: impl Into<Bound>) {
        self.lower = Some(lower.into());
        self.typed.lower = true;
        self.settle_bounds();
    }

    /// A person types the upper bound; see [`Column::type_lower`].
    pub fn type_upper(&mut self, upper: impl Into<Bound>) {
        self.upper = Some(upper.into());
        self.typed.upper = true;
        self.settle_bounds();
    }

    fn settle_bounds(&mut self) {
        if self.typed.lower && self.typed.upper {
            self.provenance = Some(Provenance::Declared);
        }
    }

    /// A person types the whole list of values from public knowledge.
    pub fn declare_domain<S: Into<String>>(&mut self, domain: impl IntoIterator<Item = S>) {
        self.domain = Some(domain.into_iter().map(Into::into).collect());
        self.provenance = Some(Provenance::Declared);
    }

    /// Bounds that were bought with privacy budget. What else was read off the rows goes: cells may be missing,
    /// the range is divided evenly, and no digits or bins are promised. Public declarations stay.
    pub fn buy_bounds(&mut self, lower: impl Into<Bound>, upper: impl Into<Bound>) {
        self.forget_private();
        self.lower = Some(lower.into());
        self.upper = Some(upper.into());
        self.provenance = Some(Provenance::Bought);
    }

    /// Values that were bought with privacy budget. Those too rare to be found count as missing from now on.
    pub fn buy_domain<S: Into<String>>(&mut self, domain: impl IntoIterator<Item = S>) {
        self.forget_private();
        self.missing = true;
        self.domain = Some(domain.into_iter().map(Into::into).collect());
        self.provenance = Some(Provenance::Bought);
    }

    /// Puts what was read off private rows back to what says nothing about them. The kind and a date's spelling
    /// stay: they say how the file is written.
    fn forget_private(&mut self) {
        self.typed = Typed::default();
        if self.provenance != Some(Provenance::Declared) {
            self.missing = true;
            self.scale = Scale::Linear;
            self.decimals = None;
            self.bins = None;
        }
    }

    /// Adds a value to the list; what is known of the others stays as it was. Returns whether it was new.
    pub fn add_value(&mut self, value: impl Into<String>) -> bool {
        let value = value.into();
        let domain = self.domain.get_or_insert_default();
        let is_new = !domain.contains(&value);
        if is_new {
            domain.push(value);
        }
        is_new
    }

    /// Removes a value from the list. Returns whether it was there.
    pub fn remove_value(&mut self, value: &str) -> bool {
        let Some(domain) = &mut self.domain else {
            return false;
        };
        let before = domain.len();
        domain.retain(|known| known != value);
        domain.len() < before
    }

    /// Changes the kind. What cannot hold for the new kind is cleared, so the column is open again unless the
    /// new kind is dropped; [`suggest_column`](crate::data::suggest_column) fills it from the rows.
    pub fn set_kind(&mut self, kind: Kind) {
        if self.kind == kind {
            return;
        }
        let numbers = [Kind::Continuous, Kind::Integer];
        let keeps_bounds = numbers.contains(&self.kind) && numbers.contains(&kind);
        let keeps_domain = self.kind == Kind::Boolean && kind == Kind::Categorical;
        let fresh = Self::new(std::mem::take(&mut self.name), kind);
        let old = std::mem::replace(self, fresh);
        self.missing = old.missing;
        if keeps_bounds {
            self.lower = old.lower;
            self.upper = old.upper;
            self.scale = old.scale;
            self.bins = old.bins;
            self.provenance = old.provenance;
            self.typed = old.typed;
            if kind == Kind::Integer {
                self.bins = None;
                self.lower = self.lower.take().map(|bound| whole(&bound, f64::floor));
                self.upper = self.upper.take().map(|bound| whole(&bound, f64::ceil));
            }
        } else if keeps_domain {
            self.domain = old.domain;
            self.provenance = old.provenance;
        }
    }
}

fn whole(bound: &Bound, round: fn(f64) -> f64) -> Bound {
    match bound {
        Bound::Number(value) => Bound::from(round(*value)),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggested() -> Column {
        Column::new("age", Kind::Integer)
            .with_bounds(15, 90)
            .with_provenance(Provenance::Suggested)
    }

    #[test]
    fn accepting_never_declares() {
        let mut column = suggested();
        assert!(column.accept_suggestion());
        assert_eq!(column.provenance, Some(Provenance::Accepted));
        assert!(!column.accept_suggestion());
        assert!(column.withdraw_acceptance());
        assert_eq!(column.provenance, Some(Provenance::Suggested));
        column.declare_bounds(0, 120);
        assert!(!column.accept_suggestion(), "a declared column is no suggestion");
        assert_eq!(column.provenance, Some(Provenance::Declared));
    }

    #[test]
    fn one_typed_bound_leaves_the_other_a_suggestion() {
        let mut column = suggested();
        column.type_lower(0);
        assert_eq!(column.provenance, Some(Provenance::Suggested));
        column.type_upper(120);
        assert_eq!(column.provenance, Some(Provenance::Declared));
    }

    #[test]
    fn a_new_kind_opens_the_column_again() {
        let mut column = suggested();
        column.set_kind(Kind::Continuous);
        assert_eq!(column.lower, Some(Bound::Integer(15)));
        column.set_kind(Kind::Categorical);
        assert_eq!((column.lower.clone(), column.provenance), (None, None));
        assert!(column.open_reason().is_some());
        column.set_kind(Kind::Identifier);
        assert!(column.open_reason().is_none());
    }
}
