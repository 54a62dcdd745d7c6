//! Drawing and writing side by side: one thread draws pieces, the caller's takes them, in order.

use std::panic::resume_unwind;

use crossbeam_channel::bounded;

use crate::engine::event::{Area, Problem};
use crate::num::Progress;

/// Pieces that wait between the two: enough that neither waits for the other's every hiccup, few enough that memory stays
/// what it is however many there are.
const WAITING: usize = 2;

/// Draws pieces on a thread of its own and hands each to `take`, in the order in which they are drawn. What fails on
/// either side, or a wish to end, ends both before this returns.
///
/// # Errors
/// What either side says; of both, what `take` does.
pub(super) fn side_by_side<T: Send, Pieces: Iterator<Item = Result<T, Problem>>>(
    progress: &Progress,
    draw: impl FnOnce() -> Result<Pieces, Problem> + Send,
    mut take: impl FnMut(T) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let failed = |error: &(dyn std::error::Error + 'static)| Problem::new(Area::Export, error);
    let (sender, receiver) = bounded(WAITING);
    std::thread::scope(|scope| {
        let work = move || -> Result<(), Problem> {
            for piece in draw()? {
                progress.check().map_err(|error| failed(&error))?;
                // Whoever takes no more has said why.
                if sender.send(piece?).is_err() {
                    break;
                }
            }
            Ok(())
        };
        let drawing = std::thread::Builder::new()
            .name("draw".into())
            .spawn_scoped(scope, work)
            .map_err(|error| failed(&error))?;
        // The receiver is gone when this is over, so that the other side does not wait for room.
        let taken = receiver.into_iter().try_for_each(|piece| {
            progress.check().map_err(|error| failed(&error))?;
            take(piece)
        });
        let drawn = drawing.join().unwrap_or_else(|panic| resume_unwind(panic));
        taken.and(drawn)
    })
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn problem(text: &str) -> Problem {
        Problem::plain(Area::Export, text)
    }

    #[test]
    fn pieces_come_in_order_and_only_a_few_wait() {
        let drawn = AtomicUsize::new(0);
        let mut taken = Vec::new();
        let draw = || {
            Ok((0..1000).map(|piece| {
                drawn.fetch_add(1, Ordering::SeqCst);
                Ok(piece)
            }))
        };
        side_by_side(&Progress::new(), draw, |piece| {
            taken.push(piece);
            // One more is in the hands of each side.
            assert!(drawn.load(Ordering::SeqCst) <= taken.len() + WAITING + 1);
            Ok(())
        })
        .unwrap();
        assert_eq!(taken, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn a_failure_of_either_side_ends_both() {
        let endless = || Ok((0_u64..).map(Ok));
        let full = |piece| {
            if piece == 3 {
                Err(problem("the disk is full"))
            } else {
                Ok(())
            }
        };
        let said = side_by_side(&Progress::new(), endless, full);
        assert_eq!(said.unwrap_err(), problem("the disk is full"));

        let mut taken = 0;
        let rare = || {
            Ok((0..9).map(|piece| {
                if piece < 5 {
                    Ok(piece)
                } else {
                    Err(problem("too rare"))
                }
            }))
        };
        let said = side_by_side(&Progress::new(), rare, |_| {
            taken += 1;
            Ok(())
        });
        assert_eq!((said.unwrap_err(), taken), (problem("too rare"), 5));

        let none = || Err::<std::iter::Empty<Result<u8, Problem>>, _>(problem("no such column"));
        let said = side_by_side(&Progress::new(), none, |_| Ok(()));
        assert_eq!(said.unwrap_err(), problem("no such column"));

        let broken = || {
            Ok((0..9).map(|piece| {
                assert!(piece < 2, "a fault");
                Ok(piece)
            }))
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            side_by_side(&Progress::new(), broken, |_| Ok(()))
        }));
        assert!(outcome.is_err(), "a fault is the caller's to tell");
    }

    #[test]
    fn a_wish_to_end_ends_both() {
        let progress = Progress::new();
        let mut taken = 0;
        let said = side_by_side(
            &progress,
            || Ok((0_u64..).map(Ok)),
            |_| {
                taken += 1;
                if taken == 4 {
                    progress.cancel();
                }
                Ok(())
            },
        );
        assert!(said.unwrap_err().to_string().contains("cancelled"));
        assert_eq!(taken, 4);
    }
}
