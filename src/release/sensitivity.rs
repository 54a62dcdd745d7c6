//! How far one unit of privacy can move a statistic.
//!
//! A statistic here is a list of cells (groups, bins), each the sum of what its rows contribute: whole numbers from
//! `low` ≤ 0 to `high` ≥ 0, in steps of the line. A row lies in at most one cell; a missing one contributes 0. Let one
//! unit have at most m rows, A = m·max(−low, high) and B = m·(high − low).
//!
//! - **Add/remove one** and **zero out one**: at most m contributions appear or vanish, so the absolute changes of all
//!   cells add up to at most A.
//! - **Replace one**, a single cell: at most m contributions go and at most m come, so it changes by at most B.
//! - **Replace one**, several cells, contributions of one sign (`low` or `high` is 0): the rises add up to at most A,
//!   and so do the falls: two changes of A.
//! - **Replace one**, several cells, both signs: the absolute changes add up to at most 2A.
//!
//! **Noise grid.** Sums are rounded to multiples of a coarser step of g before noise is added. Rounding keeps
//! order, so a change of d steps becomes at most ⌈d/g⌉; where up to k cells change, ⌈d/g⌉ + k − 1 together.
//!
//! **One event for many cells.** A change spread over cells is no worse than the same total on one cell. For shifts a
//! of one cell and b of another, with independent noise that is log-concave (both kinds here are): the trade-off
//! function f of the pair satisfies f ≥ f_b ∘ (1 − f_a) by the transitivity of tests (Dong, Roth, Su 2022,
//! "Gaussian differential privacy", Lemma A.5, with the middle distribution shifted by a alone), and for a single
//! cell f_{a+b} = f_b ∘ (1 − f_a), since the best test between shifts is a threshold and one threshold
//! serves both stages. So the pair is never easier to tell apart than the single cell shifted by a + b, at every ε.

use crate::privacy::Neighboring;

/// What one row may add to a cell, in steps of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contribution {
    /// The least: 0 or less.
    pub low: i128,
    /// The most: 0 or more.
    pub high: i128,
}

impl Contribution {
    /// A row counts once.
    pub const COUNT: Self = Self { low: 0, high: 1 };

    /// From the least to the most; 0 (a row without a value) is always among them.
    pub fn new(low: i128, high: i128) -> Self {
        Self {
            low: low.min(0),
            high: high.max(0),
        }
    }

    /// The largest size of a contribution, at least one step.
    pub fn size(self) -> i128 {
        self.high.max(-self.low).max(1)
    }
}

/// The worst change of a statistic: that many cells, each by that many steps of the noise's grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shift {
    /// Steps of each.
    pub steps: u64,
    /// How many.
    pub times: u64,
}

impl Shift {
    /// All changes together.
    pub fn total(self) -> u64 {
        self.steps.saturating_mul(self.times)
    }
}

/// Which tables are neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Neighbours {
    /// The relation.
    pub relation: Neighboring,
    /// The most rows of one unit that count.
    pub max_rows: u64,
}

impl Neighbours {
    /// The worst change of sums in `cells` cells, rounded to multiples of `grid` steps.
    pub fn shift(self, contribution: Contribution, cells: usize, grid: i128) -> Shift {
        let rows = i128::from(self.max_rows);
        let one_way = rows * contribution.size();
        let both_ways = (rows * (contribution.high - contribution.low)).max(1);
        let steps = |change: i128, rows: i128| {
            let touched = if grid == 1 {
                1
            } else {
                rows.min(cells.max(1) as i128)
            };
            // More than 64 bits is more than any noise that can be drawn; the mechanism refuses it by name.
            u64::try_from((change + grid - 1) / grid + touched - 1).unwrap_or(u64::MAX)
        };
        match self.relation {
            Neighboring::AddRemoveOne | Neighboring::ZeroOutOne => Shift {
                steps: steps(one_way, rows),
                times: 1,
            },
            Neighboring::ReplaceOne if cells <= 1 => Shift {
                steps: steps(both_ways, 1),
                times: 1,
            },
            Neighboring::ReplaceOne if contribution.low == 0 || contribution.high == 0 => Shift {
                steps: steps(one_way, rows),
                times: 2,
            },
            Neighboring::ReplaceOne => Shift {
                steps: steps(2 * one_way, 2 * rows),
                times: 1,
            },
        }
    }

    /// Whether neighbours differ in what is there, so that one more row can only raise counts.
    pub fn is_one_way(self) -> bool {
        self.relation != Neighboring::ReplaceOne
    }
}

#[cfg(test)]
mod tests {
    use Neighboring::{AddRemoveOne, ReplaceOne, ZeroOutOne};

    use super::*;

    #[test]
    fn the_cases_are_those_of_the_text() {
        let shift = |relation, max_rows, (low, high), cells, grid| {
            let shift = Neighbours { relation, max_rows }.shift(Contribution::new(low, high), cells, grid);
            (shift.steps, shift.times)
        };
        assert_eq!(shift(AddRemoveOne, 1, (0, 1), 1, 1), (1, 1));
        assert_eq!(shift(ZeroOutOne, 3, (0, 1), 9, 1), (3, 1));
        assert_eq!(shift(ReplaceOne, 1, (0, 1), 1, 1), (1, 1));
        assert_eq!(shift(ReplaceOne, 1, (0, 1), 9, 1), (1, 2));
        assert_eq!(shift(AddRemoveOne, 2, (-5, 3), 1, 1), (10, 1));
        assert_eq!(shift(ReplaceOne, 2, (-5, 3), 1, 1), (16, 1));
        assert_eq!(shift(ReplaceOne, 2, (-5, 3), 4, 1), (20, 1));
        // Bounds that leave 0 out: a missing cell still contributes 0.
        assert_eq!(shift(ReplaceOne, 1, (10, 12), 1, 1), (12, 1));
        // On a coarser grid, one step more for each further cell that may change.
        assert_eq!(shift(AddRemoveOne, 1, (-5, 3), 9, 4), (2, 1));
        assert_eq!(shift(AddRemoveOne, 3, (-5, 3), 9, 4), (4 + 2, 1));
        assert_eq!(shift(AddRemoveOne, 3, (-5, 3), 2, 4), (4 + 1, 1));
        assert_eq!(shift(ReplaceOne, 3, (-5, 3), 9, 4), (8 + 5, 1));
        // A statistic that cannot change still gets noise.
        assert_eq!(shift(ReplaceOne, 1, (0, 0), 1, 1), (1, 1));
    }
}
