//! Values that only the data steward may see.

use std::fmt;

/// A value computed on private rows without noise: a loss, a batch size, a distance to the real rows.
///
/// It is deliberately poor: it cannot be serialised or printed, and `Debug` hides it, so that it cannot slip
/// into a certificate, a log or an export. The two places that may look (a plot for the steward, the
/// steward's own report) say so by calling [`StewardOnly::for_steward`].
#[derive(Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct StewardOnly<T>(T);

impl<T> StewardOnly<T> {
    /// Marks a value as for the steward only.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// The value, for the steward's eyes.
    pub const fn for_steward(&self) -> &T {
        &self.0
    }

    /// The value itself, for the steward's eyes.
    pub fn into_steward(self) -> T {
        self.0
    }

    /// Computes on the value; what comes out is marked as well.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> StewardOnly<U> {
        StewardOnly(change(self.0))
    }
}

impl<T> fmt::Debug for StewardOnly<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("StewardOnly(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_hides_the_value() {
        let secret = StewardOnly::new(41).map(|value| value + 1);
        assert_eq!(*secret.for_steward(), 42);
        assert!(!format!("{secret:?}").contains("42"));
    }
}
