//! How many steps the critic takes between two of the generator's.
//!
//! Under noise a critic learns slowly, and a generator that steps too often runs away from it. So the critic's turn grows
//! by rungs of 1, 2, 5, 10, 20, 50 … whenever it no longer tells generated rows or images from real ones (Bie, Kamath & Zhang
//! 2023, "adaptive discriminator step frequency"). It is read off **generated** examples and a critic that has been paid
//! for: post-processing, which costs nothing.

use serde::{Deserialize, Serialize};

use crate::model::{ClippedSum, CriticLoss, read};

/// Weight of the past in the critic's accuracy, a step.
const MEMORY: f64 = 0.99;
/// A critic that is right about this share of generated examples at most needs a longer turn.
const UNDECIDED: f64 = 0.6;
/// No turn is longer.
const LONGEST: u64 = 500;

/// Whether a score under this loss says on which side the critic takes an example to be: above 0 is real. Only the
/// differences of Wasserstein scores mean anything.
pub fn knows_sides(loss: CriticLoss) -> bool {
    loss.undecided().is_some()
}

/// The share of generated examples that the critic is right about; `None` where a score has no such side.
pub fn accuracy(loss: CriticLoss, fake: &ClippedSum) -> Option<f64> {
    let undecided = loss.undecided()?;
    let losses = read(fake.losses.clone());
    let right = losses.iter().filter(|loss| f64::from(**loss) < undecided);
    Some(right.count() as f64 / losses.len() as f64)
}

/// Where a run stands on the ladder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ladder {
    turn: u64,
    grace: u64,
    accuracy: f64,
    /// Generator steps since the last climb.
    here: u64,
}

impl Ladder {
    /// Starts with turns of this many critic steps, and stays at a rung for at least `grace` generator steps.
    pub const fn new(turn: u64, grace: u64) -> Self {
        Self {
            turn,
            grace,
            accuracy: 1.0,
            here: 0,
        }
    }

    /// Critic steps between two generator steps.
    pub const fn turn(&self) -> u64 {
        self.turn
    }

    /// The critic was right about this share of generated examples.
    pub fn critic_seen(&mut self, accuracy: f64) {
        self.accuracy = MEMORY * self.accuracy + (1.0 - MEMORY) * accuracy;
    }

    /// The generator took a step.
    pub fn generator_stepped(&mut self) {
        self.here += 1;
        if self.here >= self.grace && self.accuracy <= UNDECIDED && self.turn < LONGEST {
            self.turn = next_rung(self.turn);
            self.here = 0;
        }
    }
}

/// The first of 1, 2, 5, 10, 20, 50 … above this many.
fn next_rung(turn: u64) -> u64 {
    let mut scale = 1;
    loop {
        if let Some(rung) = [1, 2, 5]
            .into_iter()
            .map(|step| step * scale)
            .find(|rung| *rung > turn)
        {
            return rung;
        }
        scale *= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rungs_are_climbed_one_by_one_and_only_when_the_critic_cannot_tell() {
        let mut ladder = Ladder::new(2, 3);
        let mut turns = vec![ladder.turn()];
        for _ in 0..100 {
            for _ in 0..100 {
                ladder.critic_seen(0.5);
            }
            ladder.generator_stepped();
            if turns.last() != Some(&ladder.turn()) {
                turns.push(ladder.turn());
            }
        }
        assert_eq!(turns, [2, 5, 10, 20, 50, 100, 200, 500]);
        let mut sure = Ladder::new(3, 1);
        for _ in 0..1000 {
            sure.critic_seen(0.7);
            sure.generator_stepped();
        }
        assert_eq!(sure.turn(), 3);
        assert_eq!([3, 5, 99, 100].map(next_rung), [5, 10, 100, 200]);
    }

    #[test]
    fn a_rung_is_held_for_its_grace() {
        let mut ladder = Ladder::new(1, 300);
        for _ in 0..2000 {
            ladder.critic_seen(0.0);
        }
        for _ in 0..299 {
            ladder.generator_stepped();
        }
        assert_eq!(ladder.turn(), 1);
        ladder.generator_stepped();
        assert_eq!(ladder.turn(), 2);
    }
}
