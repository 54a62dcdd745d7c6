//! Fourier transforms with plans kept per thread: a plan costs more than a transform.

use std::cell::RefCell;

use rustfft::FftPlanner;
pub use rustfft::num_complex::Complex64;

thread_local! {
    static PLANNER: RefCell<FftPlanner<f64>> = RefCell::new(FftPlanner::new());
}

/// The transform of the buffer, in place, not scaled.
pub fn forward(buffer: &mut [Complex64]) {
    PLANNER
        .with_borrow_mut(|planner| planner.plan_fft_forward(buffer.len()))
        .process(buffer);
}

/// The inverse transform of the buffer, in place, not scaled: a round trip multiplies by the length.
pub fn inverse(buffer: &mut [Complex64]) {
    PLANNER
        .with_borrow_mut(|planner| planner.plan_fft_inverse(buffer.len()))
        .process(buffer);
}

/// The least length of the form 2ᵏ, 3·2ᵏ or 5·2ᵏ that is at least `least`: quick to transform.
pub fn quick_length(least: usize) -> usize {
    let power = |odd: usize| odd * least.div_ceil(odd).max(1).next_power_of_two();
    power(1).min(power(3)).min(power(5)).max(16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_multiplies_by_the_length() {
        let mut buffer: Vec<Complex64> = (0..48).map(|i| Complex64::new(f64::from(i), -1.0)).collect();
        let before = buffer.clone();
        forward(&mut buffer);
        inverse(&mut buffer);
        assert!(
            buffer
                .iter()
                .zip(&before)
                .all(|(after, before)| (after / 48.0 - before).norm() < 1e-12)
        );
    }

    #[test]
    fn lengths_are_quick_and_long_enough() {
        assert_eq!(quick_length(0), 16);
        assert_eq!(quick_length(1025), 1280);
        assert_eq!(quick_length(1300), 1536);
        assert_eq!(quick_length(2048), 2048);
    }
}
