//! Neighbouring relations, events, accountants, calibration, mechanisms, the ledger, and what ε means. Knows no data and no Burn, so it can be reviewed alone.

mod accountant;
pub mod calibrate;
mod event;
pub mod gaussian;
pub mod ledger;
pub mod meaning;
pub mod mechanism;
mod part;
mod pld;
mod rdp;
pub mod renyi;
mod view;

pub use accountant::{Accountant, AccountantKind, AccountingError, RunningAccountant};
pub use calibrate::{
    Bracket, Calibrated, CalibrationError, Effect, calibrate, discrete_gaussian_sigma, gaussian_sigma,
    laplace_scale, smallest_epsilon,
};
pub use event::{CountedEvent, EventList, Neighboring, PrivacyEvent};
pub use part::epsilon_of_part;
pub use pld::PldAccountant;
pub use rdp::RdpAccountant;
pub use view::{PureView, ZcdpView};
