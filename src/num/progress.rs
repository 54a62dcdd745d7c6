//! Progress and cancellation of one piece of work, shared between the thread that does it and those that watch.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The work was cancelled by whoever holds its [`Progress`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// How far a piece of work has come, and whether it should go on.
///
/// Cloning shares the same counters. All accesses are relaxed atomics: cheap enough for inner loops.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Counters>);

#[derive(Debug, Default)]
struct Counters {
    done: AtomicU64,
    total: AtomicU64,
    cancelled: AtomicBool,
}

impl Progress {
    /// Nothing done yet, total unknown.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets both counters. A `total` of 0 means "unknown".
    pub fn set(&self, done: u64, total: u64) {
        self.0.done.store(done, Ordering::Relaxed);
        self.0.total.store(total, Ordering::Relaxed);
    }

    /// Adds to what is done and leaves the total alone.
    pub fn advance(&self, by: u64) {
        self.0.done.fetch_add(by, Ordering::Relaxed);
    }

    /// Units done so far.
    pub fn done(&self) -> u64 {
        self.0.done.load(Ordering::Relaxed)
    }

    /// Units in all; 0 when unknown.
    pub fn total(&self) -> u64 {
        self.0.total.load(Ordering::Relaxed)
    }

    /// The share done, 0 to 1, when the total is known.
    pub fn fraction(&self) -> Option<f64> {
        let total = self.total();
        (total > 0).then(|| (self.done() as f64 / total as f64).clamp(0.0, 1.0))
    }

    /// Asks the work to end at its next check.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked the work to end.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Relaxed)
    }

    /// For inner loops: `progress.check()?` leaves the work when it was cancelled.
    ///
    /// # Errors
    /// [`Cancelled`] after [`Progress::cancel`].
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() {
            Err(Cancelled)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_counters_and_cancellation() {
        let progress = Progress::new();
        let watcher = progress.clone();
        assert_eq!(watcher.fraction(), None);
        progress.set(1, 4);
        progress.advance(1);
        assert_eq!(watcher.fraction(), Some(0.5));
        watcher.cancel();
        assert_eq!(progress.check(), Err(Cancelled));
    }
}
