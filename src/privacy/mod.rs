//! Neighbouring relations, events, accountants, calibration, mechanisms, the ledger, and what ε means. Knows no data and no Burn, so it can be reviewed alone.

mod accountant;
mod event;
mod pld;
mod rdp;
pub mod renyi;

pub use accountant::{Accountant, AccountantKind, AccountingError};
pub use event::{CountedEvent, EventList, Neighboring, PrivacyEvent};
pub use pld::PldAccountant;
pub use rdp::RdpAccountant;
