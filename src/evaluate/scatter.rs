//! The sum of every row's deviations from a mean times themselves transposed, in double precision: what a covariance is
//! made of, and nearly all of the time that a Fréchet distance takes.
//!
//! Only the half above the diagonal is computed. Deviations are laid out in panels of a few columns, so that the innermost
//! loop reads two of them from front to back and keeps its sums in registers (Goto & van de Geijn, "Anatomy of
//! high-performance matrix multiplication", 2008, section 4). The vectors are those of the processor at hand.

use fearless_simd::{Level, Simd, SimdBase as _, SimdFloat as _, SimdWiden as _, dispatch, f32x8, f64x4};
use nalgebra::DMatrix;

/// Columns of a panel: two vectors of four.
const PANEL: usize = 8;
/// Rows of the sum that are in registers together, by the columns of one panel.
const TILE: usize = 4;
/// Rows of the sample that are taken together: their panels fit a core's own cache.
const PIECE: usize = 96;

/// The entries of one row of a panel.
type Strip = [f64; PANEL];

/// The upper triangle of Σ (x − m)(x − m)ᵀ over rows x, for a mean m.
///
/// # Shapes
/// - rows: `[count, width]` row-major, mean: `[width]`; the sum: `[width, width]`, its lower triangle the same as its upper
pub(super) fn scatter(rows: &[f32], mean: &[f64]) -> DMatrix<f64> {
    let width = mean.len();
    let panels = width.div_ceil(PANEL);
    let padded = panels * PANEL;
    let mut sum = vec![0.0; padded * padded];
    let mut strips = vec![[0.0; PANEL]; PIECE * panels];
    let level = Level::new();
    for piece in rows.chunks(PIECE * width) {
        let count = piece.len() / width;
        let strips = &mut strips[..count * panels];
        dispatch!(level, simd => {
            deviate(simd, piece, mean, strips);
            add_square(simd, strips, count, &mut sum);
        });
    }
    DMatrix::from_fn(width, width, |row, column| {
        sum[row.min(column) * padded + row.max(column)]
    })
}

/// Rows less their mean, panel by panel; zero where the last panel is wider than the rows.
#[expect(
    clippy::inline_always,
    reason = "its vectors are those of whoever dispatches it"
)]
#[inline(always)]
fn deviate<S: Simd>(simd: S, rows: &[f32], mean: &[f64], strips: &mut [Strip]) {
    let width = mean.len();
    let count = rows.len() / width;
    for (index, (panel, mean)) in strips.chunks_exact_mut(count).zip(mean.chunks(PANEL)).enumerate() {
        let first = index * PANEL;
        if mean.len() == PANEL {
            let (low, high) = mean.split_at(PANEL / 2);
            let (low, high) = (f64x4::from_slice(simd, low), f64x4::from_slice(simd, high));
            for (row, strip) in rows.chunks_exact(width).zip(panel) {
                let (left, right) = f32x8::from_slice(simd, &row[first..first + PANEL]).widen();
                (left - low).store_slice(&mut strip[..PANEL / 2]);
                (right - high).store_slice(&mut strip[PANEL / 2..]);
            }
            continue;
        }
        for (row, strip) in rows.chunks_exact(width).zip(panel) {
            for ((out, value), mean) in strip.iter_mut().zip(&row[first..]).zip(mean) {
                *out = f64::from(*value) - mean;
            }
            strip[mean.len()..].fill(0.0);
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
            numbers in prop::collection::vec(-9.0_f32..9.0, 0..2000),
            shift in -3.0_f64..3.0,
        ) {
            let count = numbers.len() / width;
            let rows = &numbers[..count * width];
            let mean: Vec<f64> = (0..width).map(|column| shift + column as f64 / 7.0).collect();
            let found = scatter(rows, &mean);
            let deviations = DMatrix::from_fn(width, count, |column, row| {
                f64::from(rows[row * width + column]) - mean[column]
            });
            let plain = &deviations * deviations.transpose();
            prop_assert!((&found - &plain).amax() <= 1e-12 * (1.0 + plain.amax()), "{found} {plain}");
            prop_assert_eq!(found.transpose(), found);
        }
    }

    #[test]
    fn pieces_of_rows_add_up() {
        // More rows than a piece, and a last one that is shorter; columns that do not fill a panel.
        let (count, width) = (2 * PIECE + 5, 11);
        let rows: Vec<f32> = (0..count * width)
            .map(|place| (place * 7919 % 101) as f32)
            .collect();
        let mean = vec![50.0; width];
        let (whole, parts) = (
            scatter(&rows, &mean),
            rows.chunks(width)
                .map(|row| scatter(row, &mean))
                .fold(DMatrix::zeros(width, width), |sum, part| sum + part),
        );
        assert_eq!(whole, parts, "whole numbers are exact");
    }
}
