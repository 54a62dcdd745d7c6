//! The sum of a matrix's singular values (its nuclear norm), in double precision.
//!
//! Householder reflections from both sides leave two diagonals (Golub & Kahan, "Calculating the singular values and
//! pseudo-inverse of a matrix", 1965, section 2), which QR sweeps make one (Demmel & Kahan, "Accurate singular values of
//! bidiagonal matrices", 1990, sections 2 and 3). No vectors are asked for, so that each column of what is left is
//! read twice a step: what the last step takes away is taken when the next one looks at the column (Howell, Demmel, Fulton,
//! Hammarling & Marmol, "Cache efficient bidiagonalization using BLAS 2.5 operators", 2008).

use fearless_simd::{Level, Simd, SimdBase as _, SimdFloat as _, dispatch, f64x4};
use nalgebra::DMatrix;

/// Numbers in a vector.
const LANES: usize = 4;
/// Sweeps for each singular value, at most; two or three are usual.
const SWEEPS: usize = 60;

/// The sum of the singular values; `None` where a number is not finite or the sweeps do not end.
///
/// # Shapes
/// - matrix: any
pub(super) fn sum_of_singular_values(matrix: &DMatrix<f64>) -> Option<f64> {
    let largest = matrix.amax();
    if !largest.is_finite() || matrix.iter().any(|value| value.is_nan()) {
        return None;
    }
    if largest == 0.0 {
        return Some(0.0);
    }
    // Scaled, so that no square is too large or too small.
    let mut scaled = matrix / largest;
    // The same values, and fewer columns than rows.
    if scaled.ncols() > scaled.nrows() {
        scaled = scaled.transpose();
    }
    let shape = scaled.shape();
    let level = Level::new();
    let mut both = dispatch!(level, simd => bidiagonal(simd, scaled.as_mut_slice(), shape));
    both.reduce().then(|| {
        let sum: f64 = both.diagonal.iter().map(|value| value.abs()).sum();
        sum * largest
    })
}

/// A vector that is shorter is none: beside entries of 1 it is nothing, and its square is still a normal number.
const NO_LENGTH: f64 = 1e-140;

/// The two diagonals that are left of a matrix.
struct Bidiagonal {
    diagonal: Vec<f64>,
    /// Above the diagonal.
    upper: Vec<f64>,
}

/// A reflection of a vector onto its first axis: 1 − factor · axis · axisᵀ.
struct Reflection {
    factor: f64,
    /// What becomes of the vector's first number.
    first: f64,
}

/// Turns a vector into the axis of its reflection.
#[expect(
    clippy::inline_always,
    reason = "its vectors are those of whoever dispatches it"
)]
#[inline(always)]
fn reflect<S: Simd>(simd: S, vector: &mut [f64]) -> Reflection {
    let norm = dot(simd, vector, vector).sqrt();
    match vector.first_mut() {
        Some(head) if norm > NO_LENGTH => {
            let first = -norm.copysign(*head);
            let factor = 1.0 / (norm * (norm + head.abs()));
            *head -= first;
            Reflection { factor, first }
        }
        _ => Reflection {
            factor: 0.0,
            first: 0.0,
        },
    }
}

/// # Shapes
/// - entries: `[height, width]`, column by column, no wider than high; of no use afterwards
#[expect(
    clippy::inline_always,
    reason = "its vectors are those of whoever dispatches it"
)]
#[inline(always)]
fn bidiagonal<S: Simd>(simd: S, entries: &mut [f64], (height, width): (usize, usize)) -> Bidiagonal {
    let mut both = Bidiagonal {
        diagonal: Vec::with_capacity(width),
        upper: Vec::with_capacity(width),
    };
    // What is still to be taken from the entries: left · aboveᵀ + right · acrossᵀ. All of the last step, by row or column.
    let (mut left, mut above) = (vec![0.0; height], vec![0.0; width]);
    let (mut right, mut across) = (vec![0.0; height], vec![0.0; width]);
    let mut axis = vec![0.0; height];
    for step in 0..width {
        let (from, next) = (step * height, step + 1);
        // The column that is reflected now, up to date.
        let column = &mut entries[from + step..from + height];
        take(simd, column, &left[step..], above[step]);
        take(simd, column, &right[step..], across[step]);
        axis[step..].copy_from_slice(column);
        let down = reflect(simd, &mut axis[step..]);
        both.diagonal.push(down.first);
        if next == width {
            break;
        }
        // All other columns, up to date, and what the reflection takes from them.
        let mut new_above = vec![0.0; width];
        for (column, at) in entries[from + height..].chunks_exact_mut(height).zip(next..) {
            let known = [(&left[step..], above[at]), (&right[step..], across[at])];
            let sum = take_both_and_dot(simd, &mut column[step..], known, &axis[step..]);
            new_above[at] = down.factor * sum;
        }
        // The row that is reflected next, without what is still to be taken from it.
        let head = axis[step];
        for at in next..width {
            across[at] = entries[at * height + step] - head * new_above[at];
        }
        let along = reflect(simd, &mut across[next..]);
        both.upper.push(along.first);
        let overlap = dot(simd, &new_above[next..], &across[next..]);
        right[next..].fill(0.0);
        for (column, at) in entries[from + height..].chunks_exact(height).zip(next..) {
            take(simd, &mut right[next..], &column[next..], -across[at]);
        }
        take(simd, &mut right[next..], &axis[next..], overlap);
        right[next..].iter_mut().for_each(|value| *value *= along.factor);
        left[next..].copy_from_slice(&axis[next..]);
        above = new_above;
    }
    both
}

/// The sum of products.
#[expect(
    clippy::inline_always,
    reason = "its vectors are those of whoever dispatches it"
)]
#[inline(always)]
fn dot<S: Simd>(simd: S, one: &[f64], other: &[f64]) -> f64 {
    let ((ones, one_rest), (others, other_rest)) = (one.as_chunks::<LANES>(), other.as_chunks::<LANES>());
    let mut sums = f64x4::splat(simd, 0.0);
    for (one, other) in ones.iter().zip(others) {
        sums = f64x4::from_slice(simd, one).mul_add(f64x4::from_slice(simd, other), sums);
    }
    let rest = one_rest.iter().zip(other_rest).map(|(one, other)| one * other);
    sum_of(sums) + rest.sum::<f64>()
}

/// Takes so many times `other` away.
#[expect(
    clippy::inline_always,
    reason = "its vectors are those of whoever dispatches it"
)]
#[inline(always)]
fn take<S: Simd>(simd: S, from: &mut [f64], other: &[f64], times: f64) {
    let ((outs, out_rest), (others, other_rest)) =
        (from.as_chunks_mut::<LANES>(), other.as_chunks::<LANES>());
    let factor = f64x4::splat(simd, -times);
    for (out, other) in outs.iter_mut().zip(others) {
        let sum = f64x4::from_slice(simd, other).mul_add(factor, f64x4::from_slice(simd, &*out));
        sum.store_slice(out);
    }
    for (out, other) in out_rest.iter_mut().zip(other_rest) {
        *out -= times * other;
    }
}

/// Takes so many times two others away; the sum of products of what is left with `axis`.
#[expect(
    clippy::inline_always,
    reason = "its vectors are those of whoever dispatches it"
)]
#[inline(always)]
fn take_both_and_dot<S: Simd>(
    simd: S,
    from: &mut [f64],
    [(first, first_times), (second, second_times)]: [(&[f64], f64); 2],
    axis: &[f64],
) -> f64 {
    let (outs, out_rest) = from.as_chunks_mut::<LANES>();
    let ((firsts, first_rest), (seconds, second_rest)) =
        (first.as_chunks::<LANES>(), second.as_chunks::<LANES>());
    let (axes, axis_rest) = axis.as_chunks::<LANES>();
    let (by_first, by_second) = (
        f64x4::splat(simd, -first_times),
        f64x4::splat(simd, -second_times),
    );
    let mut sums = f64x4::splat(simd, 0.0);
    for (((out, first), second), axis) in outs.iter_mut().zip(firsts).zip(seconds).zip(axes) {
        let left = f64x4::from_slice(simd, first).mul_add(by_first, f64x4::from_slice(simd, &*out));
        let left = f64x4::from_slice(simd, second).mul_add(by_second, left);
        left.store_slice(out);
        sums = f64x4::from_slice(simd, axis).mul_add(left, sums);
    }
    let mut sum = sum_of(sums);
    let rests = out_rest
        .iter_mut()
        .zip(first_rest)
        .zip(second_rest)
        .zip(axis_rest);
    for (((out, first), second), axis) in rests {
        *out -= first_times * first + second_times * second;
        sum += axis * *out;
    }
    sum
}

#[expect(
    clippy::inline_always,
    reason = "its vectors are those of whoever dispatches it"
)]
#[inline(always)]
fn sum_of<S: Simd>(vector: f64x4<S>) -> f64 {
    let mut lanes = [0.0; LANES];
    vector.store_slice(&mut lanes);
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
}

/// A rotation that turns (one, other) into (length, 0): cosine, sine, length.
fn rotation(one: f64, other: f64) -> (f64, f64, f64) {
    let length = (one * one + other * other).sqrt();
    if length == 0.0 {
        return (1.0, 0.0, 0.0);
    }
    let inverse = 1.0 / length;
    (one * inverse, other * inverse, length)
}

impl Bidiagonal {
    /// Sweeps until the upper diagonal is nothing beside the whole; whether that was reached.
    ///
    /// Each number that is left out moves a singular value by no more than itself, and their sum is no less than the
    /// root of their squares' sum: relative to it, what is left out is less than the width times the rounding.
    fn reduce(&mut self) -> bool {
        let squares = self.diagonal.iter().chain(&self.upper).map(|value| value * value);
        let nothing = f64::EPSILON * squares.sum::<f64>().sqrt();
        let mut sweeps = SWEEPS * self.diagonal.len();
        let mut last = self.diagonal.len() - 1;
        while last > 0 {
            let is_nothing = |at: &usize| self.upper[*at].abs() <= nothing;
            let first = (0..last).rev().find(is_nothing).map_or(0, |at| at + 1);
            if first == last {
                last -= 1;
                continue;
            }
            if sweeps == 0 {
                return false;
            }
            sweeps -= 1;
            self.sweep(first, last, nothing);
        }
        true
    }

    /// One sweep from `first` to `last`, by the least singular value of the last two rows where that is of use.
    fn sweep(&mut self, first: usize, last: usize, nothing: f64) {
        let shift = self.shift(last);
        let ratio = shift / self.diagonal[first].abs();
        let has_zero = self.diagonal[first..=last]
            .iter()
            .any(|value| value.abs() <= nothing);
        if has_zero || !ratio.is_finite() || ratio * ratio < f64::EPSILON {
            self.sweep_unshifted(first, last);
        } else {
            self.sweep_shifted(first, last, shift);
        }
    }

    /// The least singular value of the last two rows and columns.
    fn shift(&self, last: usize) -> f64 {
        let (one, between, other) = (self.diagonal[last - 1], self.upper[last - 1], self.diagonal[last]);
        // Their sum and difference follow from the squares' sum and the determinant.
        let (squares, product) = (one * one + between * between + other * other, (one * other).abs());
        let (sum, difference) = (
            (squares + 2.0 * product).sqrt(),
            (squares - 2.0 * product).max(0.0).sqrt(),
        );
        let largest = f64::midpoint(sum, difference);
        if largest == 0.0 { 0.0 } else { product / largest }
    }

    /// Zeros on the diagonal are no hindrance here.
    fn sweep_unshifted(&mut self, first: usize, last: usize) {
        let (mut cosine, mut old_cosine, mut old_sine) = (1.0, 1.0, 0.0);
        for at in first..last {
            let (new_cosine, sine, length) = rotation(self.diagonal[at] * cosine, self.upper[at]);
            if at > first {
                self.upper[at - 1] = old_sine * length;
            }
            cosine = new_cosine;
            (old_cosine, old_sine, self.diagonal[at]) =
                rotation(old_cosine * length, self.diagonal[at + 1] * sine);
        }
        let end = self.diagonal[last] * cosine;
        self.upper[last - 1] = end * old_sine;
        self.diagonal[last] = end * old_cosine;
    }

    fn sweep_shifted(&mut self, first: usize, last: usize, shift: f64) {
        let (diagonal, upper) = (&mut self.diagonal, &mut self.upper);
        let start = diagonal[first];
        let mut one = (start.abs() - shift) * (1_f64.copysign(start) + shift / start);
        let mut other = upper[first];
        for at in first..last {
            let (cosine, sine, length) = rotation(one, other);
            if at > first {
                upper[at - 1] = length;
            }
            one = cosine * diagonal[at] + sine * upper[at];
            upper[at] = cosine * upper[at] - sine * diagonal[at];
            other = sine * diagonal[at + 1];
            diagonal[at + 1] *= cosine;
            let (cosine, sine, length) = rotation(one, other);
            diagonal[at] = length;
            one = cosine * upper[at] + sine * diagonal[at + 1];
            diagonal[at + 1] = cosine * diagonal[at + 1] - sine * upper[at];
            if at + 1 < last {
                other = sine * upper[at + 1];
                upper[at + 1] *= cosine;
            }
        }
        upper[last - 1] = one;
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{DVector, SVD};
    use proptest::prelude::*;

    use super::*;

    fn known(matrix: &DMatrix<f64>) -> f64 {
        SVD::new(matrix.clone(), false, false).singular_values.sum()
    }

    #[test]
    fn matrices_of_every_kind() {
        let diagonal = DMatrix::from_diagonal(&DVector::from_vec(vec![3.0, 0.0, -2.0, 0.0, 1e-9]));
        assert!((sum_of_singular_values(&diagonal).unwrap() - (5.0 + 1e-9)).abs() < 1e-14);
        assert_eq!(sum_of_singular_values(&DMatrix::zeros(4, 4)), Some(0.0));
        assert_eq!(
            sum_of_singular_values(&DMatrix::from_element(1, 1, -7.0)),
            Some(7.0)
        );
        // A shift to the right: all singular values but one are 1, and nothing stands on the diagonal.
        let shift = DMatrix::from_fn(9, 9, |row, column| f64::from(u8::from(row + 1 == column)));
        assert!((sum_of_singular_values(&shift).unwrap() - 8.0).abs() < 1e-13);
        // Of one rank, near the ends of the numbers.
        for scale in [1e-150, 1.0, 1e150] {
            let flat = DMatrix::from_element(6, 6, scale);
            let sum = sum_of_singular_values(&flat).unwrap();
            assert!((sum / scale - 6.0).abs() < 1e-13, "{scale}: {sum}");
        }
        // Wide, and of few dimensions: what the reflections leave of the others grows smaller with each step.
        let wave = |row: usize, column: usize| ((row * 37 + column * 101) as f64).sin();
        let low = DMatrix::from_fn(120, 5, wave) * DMatrix::from_fn(5, 117, wave);
        let (sum, all) = (sum_of_singular_values(&low).unwrap(), known(&low));
        assert!((sum / all - 1.0).abs() < 1e-13, "{sum} {all}");
        for value in [f64::NAN, f64::INFINITY] {
            let mut matrix = DMatrix::identity(3, 3);
            matrix[(2, 1)] = value;
            assert_eq!(sum_of_singular_values(&matrix), None);
        }
    }

    proptest! {
        #[test]
        fn is_that_of_nalgebra(
            (height, width) in (1_usize..24, 1_usize..24),
            rank in 1_usize..24,
            numbers in prop::collection::vec(-3.0_f64..3.0, 24 * 48),
            decay in 0.0_f64..2.0,
        ) {
            // Of this rank at most, with singular values that fall off.
            let (left, right) = numbers.split_at(24 * 24);
            let one = DMatrix::from_fn(height, rank, |row, column| left[row * 24 + column] * (-decay * column as f64).exp());
            let other = DMatrix::from_fn(rank, width, |row, column| right[row * 24 + column]);
            let matrix = one * other;
            let (found, known) = (sum_of_singular_values(&matrix).unwrap(), known(&matrix));
            prop_assert!((found - known).abs() <= 1e-12 * known.max(1e-9), "{found} {known}");
        }
    }
}
