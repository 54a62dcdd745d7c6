//! What every accountant can do.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{EventList, Neighboring, PldAccountant, PrivacyEvent, RdpAccountant};
use crate::num::Delta;

/// Which accountant turned events into an ε.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AccountantKind {
    /// Privacy loss distributions: the tightest.
    #[default]
    Pld,
    /// Rényi differential privacy: cheap at every step, a little above.
    Rdp,
}

impl AccountantKind {
    /// An accountant of this kind that has seen nothing.
    pub fn start(self, neighboring: Neighboring) -> Box<dyn Accountant> {
        match self {
            Self::Pld => Box::new(PldAccountant::new(neighboring)),
            Self::Rdp => Box::new(RdpAccountant::new(neighboring)),
        }
    }

    /// ε of a list of events at δ.
    ///
    /// # Errors
    /// As [`Accountant::compose`] and [`Accountant::epsilon`].
    pub fn epsilon(self, list: &EventList, delta: Delta) -> Result<f64, AccountingError> {
        let mut accountant = self.start(list.neighboring);
        accountant.compose_list(list)?;
        accountant.epsilon(delta)
    }

    /// δ of a list of events at ε.
    ///
    /// # Errors
    /// As [`Accountant::compose`] and [`Accountant::delta`].
    pub fn delta(self, list: &EventList, epsilon: f64) -> Result<f64, AccountingError> {
        let mut accountant = self.start(list.neighboring);
        accountant.compose_list(list)?;
        accountant.delta(epsilon)
    }

    /// The name in commands and certificates.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pld => "pld",
            Self::Rdp => "rdp",
        }
    }
}

impl fmt::Display for AccountantKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for AccountantKind {
    type Err = String;
    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "pld" => Ok(Self::Pld),
            "rdp" => Ok(Self::Rdp),
            other => Err(format!("unknown accountant `{other}` (pld or rdp)")),
        }
    }
}

/// An accountant that can be copied, to ask what one more event would come to before it happens.
#[derive(Clone, Debug)]
pub enum RunningAccountant {
    /// By privacy loss distributions: right for few events.
    Pld(PldAccountant),
    /// By Rényi orders: right for many steps, each asked about.
    Rdp(RdpAccountant),
}

impl RunningAccountant {
    /// One that has seen nothing.
    pub fn new(kind: AccountantKind, neighboring: Neighboring) -> Self {
        match kind {
            AccountantKind::Pld => Self::Pld(PldAccountant::new(neighboring)),
            AccountantKind::Rdp => Self::Rdp(RdpAccountant::new(neighboring)),
        }
    }

    /// Adds an event.
    ///
    /// # Errors
    /// As [`Accountant::compose`].
    pub fn compose(&mut self, event: &PrivacyEvent) -> Result<(), AccountingError> {
        match self {
            Self::Pld(accountant) => accountant.compose(event, 1),
            Self::Rdp(accountant) => accountant.compose(event, 1),
        }
    }

    /// The least ε known to hold at δ.
    ///
    /// # Errors
    /// As [`Accountant::epsilon`].
    pub fn epsilon(&self, delta: Delta) -> Result<f64, AccountingError> {
        match self {
            Self::Pld(accountant) => accountant.epsilon(delta),
            Self::Rdp(accountant) => accountant.epsilon(delta),
        }
    }
}

/// Why events cannot be accounted, or a question cannot be answered.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum AccountingError {
    /// A parameter that no mechanism can have.
    #[error("{parameter} of `{event}` must be {range}, not {value}")]
    Parameter {
        /// The event's `type`.
        event: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// The range it must lie in, in words.
        range: &'static str,
        /// Its value.
        value: f64,
    },
    /// No proof covers this event under this relation with this accountant.
    #[error("`{event}` has no {accountant} proof under {neighboring}: {reason}")]
    Unprovable {
        /// The event's `type`.
        event: &'static str,
        /// The accountant.
        accountant: &'static str,
        /// The relation.
        neighboring: Neighboring,
        /// What is missing, and what to do.
        reason: &'static str,
    },
    /// The list is of another relation than the accountant.
    #[error("events under {list} cannot be composed by an accountant for {accountant}")]
    Relation {
        /// The list's relation.
        list: Neighboring,
        /// The accountant's.
        accountant: Neighboring,
    },
    /// The question itself is impossible.
    #[error("epsilon must be at least 0, not {0}")]
    Epsilon(f64),
}

/// Composes events and answers for all of them together.
///
/// Every answer is an upper bound: never below the true value. Composing an event that is an error changes
/// nothing.
pub trait Accountant: Send {
    /// The relation under which events are judged.
    fn neighboring(&self) -> Neighboring;

    /// Adds `count` repetitions of an event.
    ///
    /// # Errors
    /// An impossible parameter, or an event without a proof under the relation.
    fn compose(&mut self, event: &PrivacyEvent, count: u64) -> Result<(), AccountingError>;

    /// Adds a whole list, or nothing if any of its events is an error.
    ///
    /// # Errors
    /// As [`Accountant::compose`], or a list under another relation.
    fn compose_list(&mut self, list: &EventList) -> Result<(), AccountingError>;

    /// The least ε known to hold at δ; ∞ if none does.
    ///
    /// # Errors
    /// None at present for a valid δ; kept for accountants whose answer can fail.
    fn epsilon(&self, delta: Delta) -> Result<f64, AccountingError>;

    /// The least δ known to hold at ε ≥ 0.
    ///
    /// # Errors
    /// [`AccountingError::Epsilon`] for a negative ε or NaN.
    fn delta(&self, epsilon: f64) -> Result<f64, AccountingError>;
}
