//! Stop, pause and resume, from any thread.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Shared between the thread that trains and those that may hold or end it.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    /// Whether a stopped run is to be left so that it can be taken up again.
    leave: AtomicBool,
    paused: Mutex<bool>,
    changed: Condvar,
    /// For how long the run was held in all, in nanoseconds.
    held: AtomicU64,
}

impl Control {
    /// A control that lets the run go on.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the run after the step that it is in, even if it is paused.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        // Taken so that a run that is about to wait cannot miss the wake.
        drop(self.paused.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }

    /// Ends the run as [`Control::stop`] does, but leaves it so that it can be taken up again, if it is kept.
    pub fn leave(&self) {
        self.leave.store(true, Ordering::Release);
        self.stop();
    }

    /// Whether the run is to be left rather than ended.
    pub fn is_left(&self) -> bool {
        self.leave.load(Ordering::Acquire)
    }

    /// Whether the run has been asked to end.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Holds the run after the step that it is in.
    pub fn pause(&self) {
        self.set_paused(true);
    }

    /// Lets a held run go on.
    pub fn resume(&self) {
        self.set_paused(false);
    }

    /// Whether the run is to be held.
    pub fn is_paused(&self) -> bool {
        *self.paused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_paused(&self, paused: bool) {
        *self.paused.lock().unwrap_or_else(PoisonError::into_inner) = paused;
        self.changed.notify_all();
    }

    /// For how long the run was held in all, as far as pauses have ended.
    pub fn held(&self) -> Duration {
        Duration::from_nanos(self.held.load(Ordering::Acquire))
    }

    /// Parks the calling thread while the run is held, and returns whether the run may take another step.
    pub fn may_go_on(&self) -> bool {
        let mut paused = self.paused.lock().unwrap_or_else(PoisonError::into_inner);
        if *paused && !self.is_stopped() {
            let since = Instant::now();
            while *paused && !self.is_stopped() {
                paused = self.changed.wait(paused).unwrap_or_else(PoisonError::into_inner);
            }
            let held = u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
            self.held.fetch_add(held, Ordering::AcqRel);
        }
        !self.is_stopped()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_held_run_resumes_and_a_held_run_stops() {
        for end in [Control::resume, Control::stop] {
            let control = Arc::new(Control::new());
            control.pause();
            let (sender, receiver) = std::sync::mpsc::channel();
            let held = Arc::clone(&control);
            let worker = std::thread::spawn(move || sender.send(held.may_go_on()));
            assert!(
                receiver.recv_timeout(Duration::from_millis(50)).is_err(),
                "the run is held"
            );
            end(&control);
            let goes_on = receiver.recv_timeout(Duration::from_secs(10)).unwrap();
            assert_eq!(goes_on, !control.is_stopped());
            let held = control.held();
            assert!(
                held > Duration::ZERO && held < Duration::from_secs(10),
                "{held:?}"
            );
            worker.join().unwrap().unwrap();
        }
    }
}
