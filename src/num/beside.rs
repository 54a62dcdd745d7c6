//! Work beside a loop that may never wait for it.
//!
//! The loop offers something to work on and goes on; while the thread is still busy with the last, the offer waits in a
//! slot of one place where a newer one replaces it. Whatever happens to the thread, the loop goes on.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Work starts at most this often.
const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);
/// The thread may take this share of one core: after work of a second, the next starts this many seconds later.
const REST_FACTOR: u32 = 8;
/// At its end, a loop waits this long for work in progress.
const LONGEST_FINISH: Duration = Duration::from_secs(if cfg!(test) { 60 } else { 2 });

struct Slot<In> {
    offer: Option<(u64, In)>,
    is_closed: bool,
}

type Shared<In> = Arc<(Mutex<Slot<In>>, Condvar)>;

/// A thread that works on what it is offered, step by step, the latest only.
pub struct Beside<In, Out> {
    shared: Shared<In>,
    results: Receiver<(u64, Out, Duration)>,
    next: Instant,
    is_idle: bool,
    /// The step of what was offered last.
    offered: u64,
}

impl<In: Send + 'static, Out: Send + 'static> Beside<In, Out> {
    /// Starts the thread. `prepare` is called on it first, and makes what then works on each offer.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub fn start<Work>(name: &str, prepare: impl FnOnce() -> Work + Send + 'static) -> std::io::Result<Self>
    where
        Work: FnMut(u64, In) -> Out,
    {
        let slot = Slot {
            offer: None,
            is_closed: false,
        };
        let shared: Shared<In> = Arc::new((Mutex::new(slot), Condvar::new()));
        let (sender, results) = channel();
        let slot = Arc::clone(&shared);
        std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || work_on_offers(&slot, &sender, prepare()))?;
        Ok(Self {
            shared,
            results,
            next: Instant::now(),
            is_idle: true,
            offered: 0,
        })
    }

    /// Whether what is offered now would be looked at soon.
    pub fn wants_more(&self) -> bool {
        self.is_idle && Instant::now() >= self.next
    }

    /// Hands something over; replaces an offer that has not been taken up.
    pub fn offer(&mut self, step: u64, what: In) {
        let (slot, changed) = &*self.shared;
        slot.lock().unwrap_or_else(PoisonError::into_inner).offer = Some((step, what));
        changed.notify_one();
        self.is_idle = false;
        self.offered = step;
        self.next = Instant::now() + SHORTEST_INTERVAL;
    }

    /// What has come of the latest offer that was worked on since the last question, and its step.
    pub fn latest(&mut self) -> Option<(u64, Out)> {
        let (step, out, took) = self.results.try_iter().last()?;
        self.is_idle = step == self.offered;
        self.next = self.next.max(Instant::now() + took * REST_FACTOR);
        Some((step, out))
    }

    /// Waits a moment for what comes of the last offer, if there is one.
    pub fn finish(self) -> Option<(u64, Out)> {
        let end = Instant::now() + LONGEST_FINISH;
        let mut last = None;
        if self.is_idle {
            return None;
        }
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let Ok((step, out, _)) = self.results.recv_timeout(left) else {
                break;
            };
            last = Some((step, out));
            if step == self.offered {
                break;
            }
        }
        last
    }
}

impl<In, Out> Drop for Beside<In, Out> {
    fn drop(&mut self) {
        // The thread ends by itself after what it is in; a loop that was stopped must not wait for that.
        let (slot, changed) = &*self.shared;
        slot.lock().unwrap_or_else(PoisonError::into_inner).is_closed = true;
        changed.notify_one();
    }
}

fn work_on_offers<In, Out>(
    shared: &Shared<In>,
    results: &Sender<(u64, Out, Duration)>,
    mut work: impl FnMut(u64, In) -> Out,
) {
    while let Some((step, offer)) = next_offer(shared) {
        let started = Instant::now();
        let out = work(step, offer);
        if results.send((step, out, started.elapsed())).is_err() {
            return;
        }
    }
}

fn next_offer<In>(shared: &Shared<In>) -> Option<(u64, In)> {
    let (slot, changed) = &**shared;
    let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if slot.is_closed {
            return None;
        }
        if let Some(offer) = slot.offer.take() {
            return Some(offer);
        }
        slot = changed.wait(slot).unwrap_or_else(PoisonError::into_inner);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers_are_worked_on_and_the_loop_never_waits() {
        let mut beside = Beside::start("doubling", || {
            |_, number: u64| {
                std::thread::sleep(Duration::from_millis(50));
                2 * number
            }
        })
        .unwrap();
        assert!(beside.wants_more() && beside.latest().is_none());
        let started = Instant::now();
        for step in 0..1000 {
            beside.offer(step, step);
        }
        assert!(!beside.wants_more());
        assert!(
            started.elapsed() < Duration::from_secs(1),
            "a thousand would take fifty seconds"
        );
        assert_eq!(beside.finish(), Some((999, 1998)));
    }

    #[test]
    fn a_thread_that_fails_ends_nothing_else() {
        let mut beside: Beside<(), ()> = Beside::start("failing", || |_, ()| panic!("on purpose")).unwrap();
        beside.offer(1, ());
        let started = Instant::now();
        assert_eq!(beside.finish(), None);
        assert!(started.elapsed() < LONGEST_FINISH);
        let beside: Beside<u8, u8> = Beside::start("idle", || |_, number| number).unwrap();
        assert_eq!(beside.finish(), None);
    }
}
