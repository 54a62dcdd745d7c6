//! The accountant of privacy loss distributions.

use super::{Accountant, AccountingError, EventList, Neighboring, PrivacyEvent, RdpAccountant};
use crate::num::Delta;

/// Privacy loss distributions of everything composed so far. For now it answers with the (larger) Rényi bound.
#[derive(Clone, Debug)]
pub struct PldAccountant {
    bound: RdpAccountant,
}

impl PldAccountant {
    /// An accountant that has seen nothing.
    pub fn new(neighboring: Neighboring) -> Self {
        Self {
            bound: RdpAccountant::new(neighboring),
        }
    }
}

impl Accountant for PldAccountant {
    fn neighboring(&self) -> Neighboring {
        self.bound.neighboring()
    }

    fn compose(&mut self, event: &PrivacyEvent, count: u64) -> Result<(), AccountingError> {
        self.bound.compose(event, count)
    }

    fn compose_list(&mut self, list: &EventList) -> Result<(), AccountingError> {
        self.bound.compose_list(list)
    }

    fn epsilon(&self, delta: Delta) -> Result<f64, AccountingError> {
        self.bound.epsilon(delta)
    }

    fn delta(&self, epsilon: f64) -> Result<f64, AccountingError> {
        self.bound.delta(epsilon)
    }
}
