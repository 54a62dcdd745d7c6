//! The transform of a composition: the product of its pairs' transforms, each to the power of its count.

use super::grid::Point;
use super::side::{Cumulants, Side};
use crate::num::fft::{self, Complex64};

/// Half the distance of 1 from the next number: the relative error of one operation.
pub(super) const UNIT: f64 = f64::EPSILON / 2.0;

/// The composition's transform up to half the length, for each direction.
pub(super) struct Spectra {
    pub(super) values: Vec<Vec<Complex64>>,
    /// The grid point at index 0 of the circle.
    pub(super) offsets: Vec<i128>,
    /// Bound on the relative error of each value.
    pub(super) relative: f64,
}

/// |value|² below which a coefficient is dropped: 1e-30 is far below one unit of rounding.
const UNNOTICED: f64 = 1e-60;

/// Multiplies the pairs' transforms, each to the power of its count.
///
/// No factor is larger than 1 in size, so once the product of some pairs has vanished above a frequency, the rest
/// need no transform there. The widest pairs go first by FFT; the others are summed at the few frequencies left.
pub(super) fn spectra(sides: &[Side], tilted: &[(f64, Cumulants)], step: f64, length: usize) -> Spectra {
    let half = length / 2;
    let parts = sides[0].parts.len();
    let mut result = Spectra {
        values: vec![vec![Complex64::new(1.0, 0.0); half + 1]; sides.len()],
        offsets: vec![0; sides.len()],
        relative: 0.0,
    };
    let placed: Vec<Vec<Placed>> = sides
        .iter()
        .zip(tilted)
        .map(|(side, &(tilt, _))| {
            side.parts
                .iter()
                .map(|&(points, _)| Placed::new(points, step, tilt))
                .collect()
        })
        .collect();
    let mut order: Vec<usize> = (0..parts).collect();
    let width = |part: usize| placed[0][part].variance * sides[0].parts[part].1 as f64;
    order.sort_by(|&a, &b| width(b).total_cmp(&width(a)));
    let mut top = half;
    let mut total = 0.0;
    let mut buffer: Vec<Complex64> = Vec::new();
    for part in order {
        let count = sides[0].parts[part].1;
        total += count as f64;
        let points: usize = placed.iter().map(|side| side[part].weights.len()).sum();
        // A point and frequency of the sum against the butterflies of the transform, by their measured times.
        let by_sum = points * (top + 40) < length * (length.ilog2() as usize) / 2;
        if !by_sum {
            buffer.clear();
            buffer.resize(length, Complex64::default());
            for (s, side) in placed.iter().enumerate() {
                side[part].put(&mut buffer, s == 1);
            }
            fft::forward(&mut buffer);
        }
        for (s, side) in placed.iter().enumerate() {
            result.offsets[s] += i128::from(side[part].center) * i128::from(count);
            let values = &mut result.values[s];
            if by_sum {
                for (value, factor) in values.iter_mut().zip(side[part].low_frequencies(length, top)) {
                    *value *= power(factor, count);
                }
            } else {
                for k in 0..=top {
                    let (here, mirror) = (buffer[k], buffer[(length - k) % length].conj());
                    // (Z_k + Z*_{N−k}) / 2 and (Z_k − Z*_{N−k}) / 2i
                    let (sum, difference) = ((here + mirror) * 0.5, (here - mirror) * 0.5);
                    let factor = if s == 0 {
                        sum
                    } else {
                        Complex64::new(difference.im, -difference.re)
                    };
                    values[k] *= power(factor, count);
                }
            }
        }
        while top > 0
            && result
                .values
                .iter()
                .all(|values| values[top].norm_sqr() < UNNOTICED)
        {
            for values in &mut result.values {
                values[top] = Complex64::default();
            }
            top -= 1;
        }
    }
    // Each factor carries a relative error of a few units for the transform and as many for its power.
    result.relative = UNIT * (16.0 * total + 16.0 * parts as f64 + 4.0 * (length as f64).log2());
    result
}

/// One pair's tilted masses, divided by their sum, around the grid point nearest to their mean.
pub(super) struct Placed {
    center: i64,
    variance: f64,
    weights: Vec<(i64, f64)>,
}

impl Placed {
    fn new(points: &[Point], step: f64, tilt: f64) -> Self {
        let one = Cumulants::of(points, step, tilt);
        let center = (one.mean / step).round() as i64;
        let weights = points
            .iter()
            .map(|point| {
                (
                    point.index - center,
                    point.mass * (tilt * point.index as f64 * step - one.value).exp(),
                )
            })
            .filter(|point| point.1 > 0.0)
            .collect();
        Self {
            center,
            variance: one.variance,
            weights,
        }
    }

    /// Adds the masses to a circle, center at 0.
    fn put(&self, buffer: &mut [Complex64], imaginary: bool) {
        let length = buffer.len() as i64;
        for &(index, weight) in &self.weights {
            let value = &mut buffer[index.rem_euclid(length) as usize];
            if imaginary {
                value.im += weight;
            } else {
                value.re += weight;
            }
        }
    }

    /// Σ w e^(−2πi·k·index/length) for k = 0 … top, eight frequencies side by side.
    fn low_frequencies(&self, length: usize, top: usize) -> Vec<Complex64> {
        const LANES: usize = 8;
        let blocks = top / LANES + 1;
        let (mut real, mut imaginary) = (vec![[0.0f64; LANES]; blocks], vec![[0.0f64; LANES]; blocks]);
        for &(index, weight) in &self.weights {
            let turn = -2.0 * std::f64::consts::PI * (index.rem_euclid(length as i64) as f64 / length as f64);
            let (mut re, mut im) = ([0.0; LANES], [0.0; LANES]);
            for lane in 0..LANES {
                let (sin, cos) = (turn * lane as f64).sin_cos();
                (re[lane], im[lane]) = (weight * cos, weight * sin);
            }
            let (sin, cos) = (turn * LANES as f64).sin_cos();
            for (sum_re, sum_im) in real.iter_mut().zip(&mut imaginary) {
                for lane in 0..LANES {
                    sum_re[lane] += re[lane];
                    sum_im[lane] += im[lane];
                    let turned = re[lane] * cos - im[lane] * sin;
                    im[lane] = re[lane] * sin + im[lane] * cos;
                    re[lane] = turned;
                }
            }
        }
        let flat = real.iter().flatten().zip(imaginary.iter().flatten());
        flat.take(top + 1)
            .map(|(&re, &im)| Complex64::new(re, im))
            .collect()
    }
}

/// zⁿ by squaring; 0 where it is beyond notice.
pub(super) fn power(z: Complex64, n: u64) -> Complex64 {
    if n == 1 {
        return z;
    }
    let size = z.norm_sqr();
    if size <= 0.0 || 0.5 * n as f64 * size.ln() < -90.0 {
        return Complex64::default();
    }
    let (mut base, mut rest, mut product) = (z, n, Complex64::new(1.0, 0.0));
    while rest > 0 {
        if rest & 1 == 1 {
            product *= base;
        }
        base *= base;
        rest >>= 1;
    }
    product
}
