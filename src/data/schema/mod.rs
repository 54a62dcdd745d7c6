//! The schema: what is publicly known about each column, and where that knowledge comes from.
//!
//! A schema is reviewed by a person before anything is trained. What [`profile`](crate::data::profile()) reads off
//! private rows is [`Provenance::Suggested`]; a person may let it stand ([`Column::accept_suggestion`], listed
//! on the certificate as not protected) or replace it by public knowledge ([`Column::declare_bounds`],
//! [`Column::declare_domain`]).

mod bound;
mod carry;
mod check;
mod edit;
mod file;
mod rule;
mod types;
mod validate;

pub use bound::Bound;
pub use rule::Rule;
pub use types::{
    Column, Kind, OpenColumn, OpenReason, Provenance, RowCount, SCHEMA_VERSION, Scale, Schema, Unit,
};
pub use validate::{MAX_DOMAIN, Problem};

/// The kinds have names of their own in each language.
impl crate::num::Fills for Kind {
    fn argument(&self) -> crate::num::Argument {
        crate::num::Argument::Key(format!("kind-{}", self.as_str()))
    }
}

impl crate::num::Fills for OpenReason {
    fn argument(&self) -> crate::num::Argument {
        let key = match self {
            Self::Suggested => "open-suggested",
            Self::NoBounds => "open-no-bounds",
            Self::NoDomain => "open-no-domain",
            Self::NoProvenance => "open-no-provenance",
            Self::FoundForm => "open-found-form",
        };
        crate::num::Argument::Key(key.to_owned())
    }
}
