//! Panics of code that is not ours, on bytes that are anybody's: caught, and without a word on standard error.
//!
//! A program has one hook that prints panics, for all of its threads. So one is set when the program starts, before
//! any thread does, and asks a mark of the thread that panics whether its panic is expected.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread is caught and told by who called.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Lets panics that [`caught`] catches pass in silence; all others are printed as before. For the start of a program.
pub fn silence_caught_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |info| {
            if !IS_CAUGHT.get() {
                usual(info);
            }
        }));
    });
}

/// Runs what may panic on a damaged file; `None` if it did.
pub fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    let before = IS_CAUGHT.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    IS_CAUGHT.set(before);
    outcome.ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn only_a_panic_that_is_caught_here_is_silent() {
        let (usual, own) = (take_hook(), thread::current().id());
        let said = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&said);
        // Other tests of this process go on meanwhile.
        set_hook(Box::new(move |info| {
            if thread::current().id() == own {
                counter.fetch_add(1, Ordering::SeqCst);
            } else {
                usual(info);
            }
        }));
        silence_caught_panics();
        assert_eq!(caught(|| panic!("of a decoder")), None::<()>);
        assert_eq!(said.load(Ordering::SeqCst), 0);
        let own_fault = || -> () { panic!("of the program") };
        assert!(catch_unwind(AssertUnwindSafe(own_fault)).is_err());
        assert_eq!(said.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_panic_within_is_caught_and_the_mark_goes_with_it() {
        assert_eq!(caught(|| 1), Some(1));
        assert!(!IS_CAUGHT.get());
        let seen = caught(|| {
            assert_eq!(caught(|| panic!("an inner one")), None::<()>);
            IS_CAUGHT.get()
        });
        assert_eq!(seen, Some(true), "still within the outer one");
        assert_eq!(caught(|| panic!("an outer one")), None::<()>);
        assert!(!IS_CAUGHT.get());
    }
}
