//! The sum of every row's deviations from a mean times themselves transposed, in double precision: what a covariance is
//! made of, and nearly all of the time that a Fréchet distance takes.
//!
//! Only the half above the diagonal is computed. Deviations are laid out in panels of a few columns, so that the innermost
//! loop reads two of them from front to back and keeps its sums in registers (Goto & van de Geijn, "Anatomy of
//! high-performance matrix multiplication", 2008, section 4). The vectors are those of the processor at hand.

use fearless_simd::{Level, Simd, SimdBase as _, SimdFloat as _, SimdWiden as _, dispatch, f32x8, f64x4};
use nalgebra::{DMatrix, DVector};

/// Columns of a panel: two vectors of four.
const PANEL: usize = 8;
/// Rows of the sum that are in registers together, by the columns of one panel.
const TILE: usize = 4;
/// Rows of the sample that are taken together: their panels fit a core's own cache.
const PIECE: usize = 96;

/// The entries of one row of a panel.
type Strip = [f64; PANEL];

/// A sample's mean and how its rows lie around it.
#[derive(Clone, Debug)]
pub(super) struct Scatter {
    count: usize,
    pub mean: DVector<f64>,
    /// Σ (x − m)(x − m)ᵀ over rows x, for their mean m.
    pub sum: DMatrix<f64>,
}

impl Scatter {
    /// Of at least one row. Not finite where a row is not.
    ///
    /// Deviations are taken from the mean of the first rows, which is near enough that nothing cancels when what that is
    /// off is taken away in the end (Chan, Golub & LeVeque, "Algorithms for computing the sample variance", 1983,
    /// section 3); so the rows are read once.
    ///
    /// # Shapes
    /// - rows: `[count, width]` row-major
    pub fn of(rows: &[f32], width: usize) -> Self {
        let count = rows.len() / width;
        let panels = width.div_ceil(PANEL);
        let padded = panels * PANEL;
        let near = mean_of(&rows[..count.min(PIECE) * width], width);
        let mut sum = vec![0.0; padded * padded];
        let mut off = vec![[0.0; PANEL]; panels];
        let mut strips = vec![[0.0; PANEL]; PIECE * panels];
        let level = Level::new();
        for piece in rows.chunks(PIECE * width) {
            let strips = &mut strips[..piece.len() / width * panels];
            dispatch!(level, simd => {
                deviate(simd, piece, &near, strips, &mut off);
                add_square(simd, strips, piece.len() / width, &mut sum);
            });
        }
        let off = DVector::from_iterator(
            width,
            off.iter().flatten().take(width).map(|sum| sum / count as f64),
        );
        let sum = DMatrix::from_fn(width, width, |row, column| {
            let (row, column) = (row.min(column), row.max(column));
            sum[row * padded + column] - count as f64 * off[row] * off[column]
        });
        Self {
            count,
            mean: DVector::from_vec(near) + off,
            sum,
        }
    }

    /// That of both samples together (the same, section 2).
    pub fn with(self, other: &Self) -> Self {
        let count = self.count + other.count;
        let shift = &other.mean - &self.mean;
        let share = other.count as f64 / count as f64;
        let mut sum = self.sum + &other.sum;
        sum.ger(self.count as f64 * share, &shift, &shift, 1.0);
        Self {
            count,
            mean: self.mean + shift * share,
            sum,
        }
    }
}

fn mean_of(rows: &[f32], width: usize) -> Vec<f64> {
    let mut mean = vec![0.0; width];
    for row in rows.chunks_exact(width) {
        mean.iter_mut()
            .zip(row)
            .for_each(|(sum, value)| *sum += f64::from(*value));
    }
    let count = (rows.len() / width) as f64;
    mean.iter_mut().for_each(|sum| *sum /= count);
    mean
}

/// Rows less what is near their mean, panel by panel, zero where the last panel is wider than the rows; and adds them up.
#[expect(
    clippy::inline_always,
    reason = "its vectors are those of whoever dispatches it"
)]
#[inline(always)]
fn deviate<S: Simd>(simd: S, rows: &[f32], near: &[f64], strips: &mut [Strip], sums: &mut [Strip]) {
    let width = near.len();
    let count = rows.len() / width;
    for (index, (panel, near)) in strips.chunks_exact_mut(count).zip(near.chunks(PANEL)).enumerate() {
        let first = index * PANEL;
        let sums = &mut sums[index];
        if near.len() == PANEL {
            let (low, high) = near.split_at(PANEL / 2);
            let (low, high) = (f64x4::from_slice(simd, low), f64x4::from_slice(simd, high));
            let mut low_sum = f64x4::from_slice(simd, &sums[..PANEL / 2]);
            let mut high_sum = f64x4::from_slice(simd, &sums[PANEL / 2..]);
            for (row, strip) in rows.chunks_exact(width).zip(panel) {
                let (left, right) = f32x8::from_slice(simd, &row[first..first + PANEL]).widen();
                let (left, right) = (left - low, right - high);
                left.store_slice(&mut strip[..PANEL / 2]);
                right.store_slice(&mut strip[PANEL / 2..]);
                low_sum += left;
                high_sum += right;
            }
            low_sum.store_slice(&mut sums[..PANEL / 2]);
            high_sum.store_slice(&mut sums[PANEL / 2..]);
            continue;
        }
        for (row, strip) in rows.chunks_exact(width).zip(panel) {
            strip[near.len()..].fill(0.0);
            for (place, near) in near.iter().enumerate() {
                strip[place] = f64::from(row[first + place]) - near;
                sums[place] += strip[place];
            }
        }
    }
}

/// Adds a piece of so many rows to the upper triangle of the sum.
#[expect(
    clippy::inline_always,
    reason = "its vectors are those of whoever dispatches it"
)]
#[inline(always)]
fn add_square<S: Simd>(simd: S, strips: &[Strip], count: usize, sum: &mut [f64]) {
    let padded = strips.len() / count * PANEL;
    for (column, right) in strips.chunks_exact(count).enumerate() {
        for (row, left) in strips.chunks_exact(count).enumerate().take(column + 1) {
            for part in (0..PANEL).step_by(TILE) {
                let first = (row * PANEL + part) * padded + column * PANEL;
                add_tile(simd, (left, part), right, &mut sum[first..], padded);
            }
        }
    }
}

/// Adds the products of some columns of the left panel with all of the right one.
#[expect(
    clippy::inline_always,
    reason = "its vectors are those of whoever dispatches it"
)]
#[inline(always)]
fn add_tile<S: Simd>(
    simd: S,
    (left, part): (&[Strip], usize),
    right: &[Strip],
    sum: &mut [f64],
    padded: usize,
) {
    let mut tile = [[f64x4::splat(simd, 0.0); PANEL / 4]; TILE];
    for (left, right) in left.iter().zip(right) {
        let (low, high) = right.split_at(4);
        let right = [f64x4::from_slice(simd, low), f64x4::from_slice(simd, high)];
        for (sums, number) in tile.iter_mut().zip(&left[part..part + TILE]) {
            let number = f64x4::splat(simd, *number);
            for (sum, right) in sums.iter_mut().zip(right) {
                *sum = number.mul_add(right, *sum);
            }
        }
    }
    for (sums, out) in tile.iter().zip(sum.chunks_mut(padded)) {
        for (sum, out) in sums.iter().zip(out[..PANEL].chunks_exact_mut(4)) {
            let before = f64x4::from_slice(simd, out);
            (before + *sum).store_slice(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn is_the_sum_that_its_name_says(
            width in 1_usize..40,
            numbers in prop::collection::vec(-9.0_f32..9.0, 40..2000),
            shift in -300.0_f32..300.0,
        ) {
            let count = numbers.len() / width;
            let rows: Vec<f32> = numbers[..count * width].iter().map(|number| number + shift).collect();
            let wide = DMatrix::from_fn(width, count, |column, row| f64::from(rows[row * width + column]));
            let mean = wide.column_mean();
            let mut deviations = wide;
            deviations.column_iter_mut().for_each(|mut row| row -= &mean);
            let plain = &deviations * deviations.transpose();
            let whole = Scatter::of(&rows, width);
            let (first, rest) = rows.split_at(count.div_ceil(3) * width);
            let mut parts = Scatter::of(first, width);
            if !rest.is_empty() {
                parts = parts.with(&Scatter::of(rest, width));
            }
            for found in [whole, parts] {
                prop_assert_eq!(found.count, count);
                prop_assert!((&found.mean - &mean).amax() <= 1e-12 * (1.0 + mean.amax()));
                prop_assert!((&found.sum - &plain).amax() <= 1e-11 * (1.0 + plain.amax()), "{} {plain}", found.sum);
            }
            let whole = Scatter::of(&rows, width).sum;
            prop_assert_eq!(whole.transpose(), whole);
        }
    }

    #[test]
    fn rows_that_drift_away_from_the_first_ones_are_no_worse() {
        // The first rows are far from all others; a variance of about 1 beside a mean of a million.
        let (count, width) = (20 * PIECE + 5, 11);
        let rows: Vec<f32> = (0..count * width)
            .map(|place| {
                let far = if place / width < PIECE { 0.0 } else { 1e6 };
                far + (place * 7919 % 101) as f32 / 32.0
            })
            .collect();
        let wide = DMatrix::from_fn(width, count, |column, row| f64::from(rows[row * width + column]));
        let mean = wide.column_mean();
        let mut deviations = wide;
        deviations.column_iter_mut().for_each(|mut row| row -= &mean);
        let plain = &deviations * deviations.transpose();
        let found = Scatter::of(&rows, width);
        assert!((&found.sum - &plain).amax() <= 1e-12 * plain.amax());
    }

    #[test]
    fn a_row_that_is_not_finite_shows() {
        for odd in [f32::NAN, f32::INFINITY] {
            let mut rows = vec![1.0; 3 * PIECE * 9];
            rows[2 * PIECE * 9 + 4] = odd;
            assert!(!Scatter::of(&rows, 9).mean[4].is_finite());
        }
    }
}
