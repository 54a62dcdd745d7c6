//! Runs that outlive the program: what is kept of them, and which steps count as done when one is taken up again.
//!
//! A [`Checkpoint`] holds networks, optimisers, averaged weights and what was bought before the first step, all of it
//! released or post-processing of what was. It holds no row, nothing that was computed on rows without noise, and not
//! the state of a random source: a run that is taken up draws fresh entropy, so that no noise is ever used twice.
//!
//! # Why the account covers everything that ran
//!
//! A plan fixes its looks in advance: releases, and then steps at positions 0, 1, …, T − 1, the one at position p with
//! sampling rate q and noise z_p. What is reserved in the ledger is one look for each. Four rules hold:
//!
//! 1. **No release twice.** The first checkpoint is durable before the first step and holds every release. A program that
//!    is cut short before it leaves no checkpoint: its run cannot be taken up, and its whole plan stays charged.
//! 2. **Announced, then done.** Before the step at position p, a journal says durably that positions up to some J > p may
//!    have been used ([`Keeping::before_look`]). What the journal says is never less than what was done.
//! 3. **No position twice.** A run taken up from the checkpoint of step k continues at position J, with the networks as
//!    they were at k. Positions k to J − 1 are counted as if all of them had been done, whether they were or not.
//! 4. **One at a time.** Whoever runs holds the journal's lock, and only an open reservation can be taken up.
//!
//! So in all lives of a run together each position is used at most once, always with its own q and z_p, and each release
//! is made once. What the rows were asked is a sequence of mechanisms, each chosen by the outcomes before it: those of the
//! life that was cut short (of which some may have been seen), then those of the next, which starts from one of these
//! outcomes. That is adaptive composition; it lets a mechanism depend on earlier outcomes in any way, also by leaving
//! the last of them aside. Positions that were announced and not used only make the true sequence shorter, and a
//! mechanism that is left out costs nothing. Hence the plan's own events bound the whole, position by position, and
//! they are what the account holds after a resumption ([`Account::taken_up`](super::privatize::Account::taken_up)), what
//! the ledger charges and what the certificate states. The price is paid in learning: the run ends J − k steps poorer.
//!
//! When a run is cut short is not chosen by the mechanism. Somebody who watches private figures could do so by them;
//! then the certificate lists the choice of a checkpoint as not accounted, as it does for a stop by hand.
//!
//! Steps that follow a release without another look (`gem`, `dp-merf`, the first part of an image GAN) are
//! post-processing: they go on from k and nothing is counted.

use std::io;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::model::NamedTensor;

/// Keeping may cost this share of a run's time at most, so what took long once waits longer.
const LARGEST_SHARE: u32 = 100;
/// The journal is written about this often.
const ANNOUNCE_EVERY: Duration = Duration::from_secs(1);
/// An announcement reaches at most this many times further than the one before.
const GROWTH: u64 = 4;

/// The state of a run after a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Steps done.
    pub step: u64,
    /// What is not a tensor; each method knows its own.
    pub state: serde_json::Value,
    /// Weights, moments and releases.
    pub tensors: Vec<NamedTensor>,
}

impl Checkpoint {
    /// A checkpoint with a method's own state.
    pub(super) fn new(step: u64, state: &impl Serialize, tensors: Vec<NamedTensor>) -> Self {
        Self {
            step,
            // Numbers, lists and names only: nothing that JSON cannot hold.
            state: serde_json::to_value(state).unwrap_or_default(),
            tensors,
        }
    }

    /// The method's own state.
    ///
    /// # Errors
    /// When the checkpoint is one of another method.
    pub(super) fn state<T: DeserializeOwned>(&self) -> Result<T, String> {
        T::deserialize(&self.state).map_err(|error| error.to_string())
    }
}

/// Where a run goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenUp {
    /// The state to go on from.
    pub checkpoint: Checkpoint,
    /// How many steps that look at rows may have been done, and so count as done: J above. At least those of the
    /// checkpoint.
    pub charged: u64,
}

/// A run's life from one start of the program to its end: how it is kept, and what it goes on from.
pub struct Life {
    /// When its state is kept.
    pub keeping: Keeping,
    /// What an earlier life of it left; none in its first.
    pub taken: Option<TakenUp>,
}

impl Life {
    /// The first and only one of a run that is not kept.
    pub fn unkept() -> Self {
        Self {
            keeping: Keeping::none(),
            taken: None,
        }
    }
}

/// What can be kept neither of a run nor taken away from it.
#[derive(Debug, thiserror::Error)]
#[error(
    "the journal of steps cannot be written, nor the checkpoint be taken away, so the run ends here: taken up later it could spend more than is charged"
)]
pub struct KeepError(#[from] io::Error);

/// Keeps a run where a crash cannot reach it.
pub trait Keeper: Send {
    /// Says durably that steps before this one may have been done; the next announcement adds `next` at most. A
    /// keeper that cannot write it takes the checkpoint away for good, so that the run cannot be taken up.
    ///
    /// # Errors
    /// When neither can be done: no further step may look at rows then.
    fn announce(&mut self, steps: u64, next: u64) -> Result<(), KeepError>;

    /// Replaces the checkpoint, whole or not at all. What cannot be written is told and tried again later: the one
    /// before stays good. Says whether there is one, this or an earlier.
    fn keep(&mut self, checkpoint: &Checkpoint) -> bool;
}

/// When a run is kept, and how far ahead its steps are announced.
pub struct Keeping {
    keeper: Option<Box<dyn Keeper>>,
    every: Duration,
    /// When the next checkpoint is due; `None` for never.
    due: Option<Instant>,
    /// Steps before this one are announced.
    announced: u64,
    /// How many steps the last announcement added.
    ahead: u64,
    announced_at: Instant,
    /// What the slowest announcement took.
    slowest: Duration,
}

impl Keeping {
    /// Nothing is kept.
    pub fn none() -> Self {
        Self::with(None, Duration::MAX)
    }

    /// Keeps a checkpoint about as often as this.
    pub fn by(keeper: Box<dyn Keeper>, every: Duration) -> Self {
        Self::with(Some(keeper), every)
    }

    fn with(keeper: Option<Box<dyn Keeper>>, every: Duration) -> Self {
        let now = Instant::now();
        Self {
            keeper,
            every,
            due: Some(now),
            announced: 0,
            ahead: 1,
            announced_at: now,
            slowest: Duration::ZERO,
        }
    }

    /// Whether anything is kept.
    pub const fn is_on(&self) -> bool {
        self.keeper.is_some()
    }

    /// To be asked before the look at rows of each step, counted from 0. `planned` is the number of all steps.
    ///
    /// # Errors
    /// When the step must not be taken.
    pub fn before_look(&mut self, step: u64, planned: u64) -> Result<(), KeepError> {
        let Some(keeper) = &mut self.keeper else {
            return Ok(());
        };
        if step < self.announced {
            return Ok(());
        }
        let now = Instant::now();
        let took = now.duration_since(self.announced_at).as_secs_f64().max(1e-6);
        let wanted = ANNOUNCE_EVERY.max(self.slowest * LARGEST_SHARE).as_secs_f64();
        let fitting = (self.ahead as f64 * wanted / took) as u64;
        self.ahead = fitting.clamp(1, self.ahead.saturating_mul(GROWTH));
        self.announced = step.saturating_add(self.ahead).min(planned.max(step + 1));
        keeper.announce(self.announced, self.ahead.saturating_mul(GROWTH))?;
        self.announced_at = Instant::now();
        self.slowest = self.slowest.max(self.announced_at - now);
        Ok(())
    }

    /// Keeps the state if it is time.
    pub fn keep_if_due(&mut self, state: impl FnOnce() -> Checkpoint) {
        if self.keeper.is_some() && self.due.is_some_and(|due| Instant::now() >= due) {
            self.keep(state);
        }
    }

    /// Keeps the state now. Says whether there is a checkpoint, this or an earlier.
    pub fn keep(&mut self, state: impl FnOnce() -> Checkpoint) -> bool {
        let Some(keeper) = &mut self.keeper else {
            return false;
        };
        let start = Instant::now();
        let is_kept = keeper.keep(&state());
        let cost = start.elapsed();
        self.due = start.checked_add(self.every.max(cost * LARGEST_SHARE));
        is_kept
    }

    /// Keeps the state of a run that is left as it is, with exactly the steps that were done. Says whether there is
    /// anything that it can be taken up from.
    ///
    /// # Errors
    /// As [`Keeper::announce`].
    pub fn leave(&mut self, looks: u64, state: impl FnOnce() -> Checkpoint) -> Result<bool, KeepError> {
        if !self.keep(state) {
            return Ok(false);
        }
        match &mut self.keeper {
            Some(keeper) => keeper.announce(looks, 1).map(|()| true),
            None => Ok(false),
        }
    }
}

#[cfg(test)]
mod tests;
