//! Noisy counts of pairs, set right by what is public of their noise: its deviation. All of it is post-processing.
//!
//! What a generator is pulled towards it learns, noise and all: on a small table it comes closest to the truth early and
//! then fits the noise. So the noise is taken out of the counts beforehand, class by class:
//!
//! 1. A category's count is told by itself and by the sum over each of its column's tables of pairs; of w cells the sum has
//!    w times the variance. Their mean, each weighted by what it is worth, has less noise than any, and the counts of a
//!    column are then moved to the nearest that are not negative and add up to the rows of the class.
//! 2. A table of pairs is that of independent columns and a rest, whose rows and columns sum to 0. The noise on it is known
//!    to be K σ² in all, K = (w−1)(w′−1), so of the rest the share `1 − (K−2)σ²/‖rest‖²` is kept, and none where that is
//!    negative: whatever the rest is, that lies closer to it on average than the noisy one (James & Stein 1961; Baranchik
//!    1964). Columns that have to do with each other beyond the noise stay so, and others become independent.

use crate::train::layout::{OneHotBlock, RowLayout};
use crate::train::privatize::PairCounts;
use crate::train::targets::project_to_simplex;

/// The counts without what is likely to be noise, laid out as they are. Without noise: the counts.
pub fn denoised(counts: &PairCounts, layout: &RowLayout) -> Vec<f64> {
    let mut cleaned = counts.counts.clone();
    let variance = counts.deviation * counts.deviation;
    if variance <= 0.0 {
        return cleaned;
    }
    let width = layout.width();
    let blocks: Vec<OneHotBlock> = layout.features().map(|(_, block)| block).collect();
    for table in cleaned.chunks_exact_mut(width * width) {
        let mut class = ClassTable {
            cells: table,
            width,
            blocks: &blocks,
        };
        class.set_right(variance);
    }
    cleaned
}

/// The counts of one class.
struct ClassTable<'a> {
    /// `[width, width]`, categories by themselves on the diagonal and pairs above it.
    cells: &'a mut [f64],
    width: usize,
    blocks: &'a [OneHotBlock],
}

/// A weighted mean of measurements of one number.
#[derive(Clone, Copy, Default)]
struct Mean {
    sum: f64,
    weight: f64,
}

impl Mean {
    /// Takes a measurement of a variance so many times that of a cell.
    fn take(&mut self, value: f64, cells: usize) {
        let weight = 1.0 / cells.max(1) as f64;
        self.sum += weight * value;
        self.weight += weight;
    }

    fn value(self) -> f64 {
        if self.weight > 0.0 {
            self.sum / self.weight
        } else {
            0.0
        }
    }
}

impl ClassTable<'_> {
    fn set_right(&mut self, variance: f64) {
        let rows = self.rows();
        let singles: Vec<Vec<f64>> = (0..self.blocks.len())
            .map(|block| self.single(block, rows))
            .collect();
        for (block, counts) in self.blocks.iter().zip(&singles) {
            for (at, count) in counts.iter().enumerate() {
                let code = block.offset + at;
                self.cells[code * self.width + code] = *count;
            }
        }
        for first in 0..self.blocks.len() {
            for second in first + 1..self.blocks.len() {
                self.shrink(
                    (first, second),
                    (&singles[first], &singles[second]),
                    rows,
                    variance,
                );
            }
        }
    }

    /// A cell of the table of two blocks, the first one's category in the first place.
    fn pair(&self, (first, second): (usize, usize), (row, column): (usize, usize)) -> f64 {
        self.cells[(self.blocks[first].offset + row) * self.width + self.blocks[second].offset + column]
    }

    /// The number of rows, as all that was counted tells it; at least 0.
    fn rows(&self) -> f64 {
        let mut mean = Mean::default();
        for (first, block) in self.blocks.iter().enumerate() {
            let codes = block.offset..block.offset + block.width;
            mean.take(
                codes.map(|code| self.cells[code * self.width + code]).sum(),
                block.width,
            );
            for (second, other) in self.blocks.iter().enumerate().skip(first + 1) {
                let cells =
                    (0..block.width).flat_map(|row| (0..other.width).map(move |column| (row, column)));
                let sum = cells.map(|place| self.pair((first, second), place)).sum();
                mean.take(sum, block.width * other.width);
            }
        }
        mean.value().max(0.0)
    }

    /// The counts of a column's categories, which add up to the rows.
    fn single(&self, index: usize, rows: f64) -> Vec<f64> {
        let block = self.blocks[index];
        let counts = (0..block.width).map(|at| {
            let code = block.offset + at;
            let mut mean = Mean::default();
            mean.take(self.cells[code * self.width + code], 1);
            for (other, apart) in self
                .blocks
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != index)
            {
                let sum = (0..apart.width).map(|across| {
                    if other > index {
                        self.pair((index, other), (at, across))
                    } else {
                        self.pair((other, index), (across, at))
                    }
                });
                mean.take(sum.sum(), apart.width);
            }
            mean.value()
        });
        let scale = if rows > 0.0 { rows } else { 1.0 };
        let shares: Vec<f64> = counts.map(|count| count / scale).collect();
        project_to_simplex(&shares)
            .into_iter()
            .map(|share| share * rows)
            .collect()
    }

    /// Puts a table of pairs to what its columns make of it by themselves and the share of the rest that stands out.
    fn shrink(
        &mut self,
        blocks: (usize, usize),
        (first, second): (&[f64], &[f64]),
        rows: f64,
        variance: f64,
    ) {
        let (height, width) = (first.len(), second.len());
        let expected = |row: usize, column: usize| {
            if rows > 0.0 {
                first[row] * second[column] / rows
            } else {
                0.0
            }
        };
        let mut rest: Vec<f64> = (0..height)
            .flat_map(|row| (0..width).map(move |column| (row, column)))
            .map(|(row, column)| self.pair(blocks, (row, column)) - expected(row, column))
            .collect();
        center(&mut rest, width);
        let freedom = (height.saturating_sub(1) * width.saturating_sub(1)) as f64;
        let size: f64 = rest.iter().map(|cell| cell * cell).sum();
        let kept = if size > 0.0 {
            (1.0 - (freedom - 2.0).max(0.0) * variance / size).max(0.0)
        } else {
            0.0
        };
        let (top, left) = (self.blocks[blocks.0].offset, self.blocks[blocks.1].offset);
        for row in 0..height {
            for column in 0..width {
                let cell = &mut self.cells[(top + row) * self.width + left + column];
                *cell = expected(row, column) + kept * rest[row * width + column];
            }
        }
    }
}

/// Takes the mean of each row and of each column away.
fn center(cells: &mut [f64], width: usize) {
    if width == 0 {
        return;
    }
    let height = cells.len() / width;
    for row in cells.chunks_exact_mut(width) {
        let mean = row.iter().sum::<f64>() / width as f64;
        row.iter_mut().for_each(|cell| *cell -= mean);
    }
    for column in 0..width {
        let mean = (0..height).map(|row| cells[row * width + column]).sum::<f64>() / height as f64;
        for row in 0..height {
            cells[row * width + column] -= mean;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::RandomSource;
    use crate::privacy::AccountantKind;
    use crate::train::privatize::{Account, pairs};
    use crate::train::testing::{encoder, rows, schema};
    use rand_distr::{Distribution, Normal};

    /// The counts of so many rows, and the same with noise.
    fn counted(count: usize, deviation: f64, seed: u64, layout: &RowLayout) -> (PairCounts, PairCounts) {
        let mut account = Account::of(None, AccountantKind::Pld);
        let mut random = RandomSource::seeded(seed);
        let truth = pairs(&mut account, &rows(count).into(), layout, None, &mut random).unwrap();
        let noise = Normal::new(0.0, deviation).unwrap();
        let mut noisy = PairCounts {
            deviation,
            ..truth.clone()
        };
        let width = layout.width();
        for table in noisy.counts.chunks_exact_mut(width * width) {
            for (at, (_, first)) in layout.features().enumerate() {
                for row in first.offset..first.offset + first.width {
                    table[row * width + row] += noise.sample(&mut random);
                    for (_, second) in layout.features().skip(at + 1) {
                        for column in second.offset..second.offset + second.width {
                            table[row * width + column] += noise.sample(&mut random);
                        }
                    }
                }
            }
        }
        (truth, noisy)
    }

    fn distance(one: &[f64], other: &[f64]) -> f64 {
        let squares = one.iter().zip(other).map(|(one, other)| (one - other).powi(2));
        squares.sum::<f64>().sqrt()
    }

    #[test]
    fn counts_come_closer_to_the_truth_at_any_noise_and_stay_where_there_is_none() {
        let layout = RowLayout::new(&schema(), &encoder()).unwrap();
        for (rows, deviation, share) in [
            (300, 20.0, 0.6),
            (3000, 20.0, 0.8),
            (30_000, 20.0, 1.0),
            (3000, 1000.0, 0.4),
        ] {
            let (mut before, mut after) = (0.0, 0.0);
            for seed in 0..20 {
                let (truth, noisy) = counted(rows, deviation, seed, &layout);
                before += distance(&noisy.counts, &truth.counts);
                after += distance(&denoised(&noisy, &layout), &truth.counts);
            }
            assert!(
                after < share * before,
                "{rows} rows, ±{deviation}: {after} of {before}"
            );
        }
        let (truth, _) = counted(300, 1.0, 1, &layout);
        assert_eq!(denoised(&truth, &layout), truth.counts);
    }

    #[test]
    fn every_table_of_pairs_sums_to_the_columns_it_is_of() {
        let layout = RowLayout::new(&schema(), &encoder()).unwrap();
        let (_, noisy) = counted(200, 30.0, 3, &layout);
        let cleaned = denoised(&noisy, &layout);
        let width = layout.width();
        let blocks: Vec<_> = layout.features().map(|(_, block)| block).collect();
        for table in cleaned.chunks_exact(width * width) {
            for code in blocks[0].offset..blocks[0].offset + blocks[0].width {
                let by_itself = table[code * width + code];
                let other = blocks[1].offset..blocks[1].offset + blocks[1].width;
                let sum: f64 = other.map(|column| table[code * width + column]).sum();
                assert!(
                    by_itself >= 0.0 && (sum - by_itself).abs() < 1e-9,
                    "{code}: {by_itself} {sum}"
                );
            }
        }
    }

    #[test]
    fn noise_alone_makes_no_relation_and_nothing_impossible() {
        let layout = RowLayout::new(&schema(), &encoder()).unwrap();
        // Rows are lost in the noise: whatever comes of it is finite.
        for seed in 0..20 {
            let (_, noisy) = counted(1, 1e6, seed, &layout);
            assert!(denoised(&noisy, &layout).iter().all(|cell| cell.is_finite()));
        }
    }
}
