//! Coins with exact probabilities, from uniform bits and integer arithmetic only.
//!
//! # Argument
//! If A₁, A₂ … are independent coins with P(Aₖ) = γ/k, 0 ≤ γ ≤ 1, then P(A₁ … Aⱼ all succeed) = γʲ/j!, so the first
//! to fail has an odd number with probability 1 − γ + γ²/2! − … = e^(−γ) (von Neumann 1951; Canonne, Kamath, Steinke
//! 2020, "The discrete Gaussian for differential privacy", §5.1). Larger exponents are products of such coins. A coin of probability a/b is a
//! comparison of a with a uniform integer below b. Every step is a comparison of integers, so a probability is
//! what its formula says, provided that the bits of the source are uniform and independent; no logarithm or
//! exponential is ever rounded.
//!
//! The time that a draw takes depends on its outcome; an attacker who can time single draws is out of scope.

use num_bigint::BigUint;
use rand::Rng;

use super::MechanismError;

/// A uniform integer below `bound`, which is above 0: the upper half of bound × 64 uniform bits, except where some
/// results would have one more preimage than others (Lemire 2019, "Fast random integer generation in an interval").
pub fn uniform_below(bound: u64, random: &mut impl Rng) -> u64 {
    debug_assert!(bound > 0, "an empty range has no member");
    let mut product = u128::from(random.next_u64()) * u128::from(bound);
    if (product as u64) < bound {
        let surplus = bound.wrapping_neg() % bound;
        while (product as u64) < surplus {
            product = u128::from(random.next_u64()) * u128::from(bound);
        }
    }
    (product >> 64) as u64
}

/// A uniform integer below `bound`, which is above 0, by rejection of those of its length that are not below.
pub fn uniform_below_wide(bound: u128, random: &mut impl Rng) -> u128 {
    if let Ok(bound) = u64::try_from(bound) {
        return u128::from(uniform_below(bound, random));
    }
    let unused = (bound - 1).leading_zeros();
    loop {
        let bits = (u128::from(random.next_u64()) << 64 | u128::from(random.next_u64())) >> unused;
        if bits < bound {
            return bits;
        }
    }
}

/// A uniform integer below `bound`, which is above 0.
fn uniform_below_big(bound: &BigUint, random: &mut impl Rng) -> BigUint {
    let bits = bound.bits();
    let words = bits.div_ceil(32) as usize;
    loop {
        let mut digits: Vec<u32> = (0..words).map(|_| random.next_u32()).collect();
        if let Some(top) = digits.last_mut() {
            *top >>= (32 - bits % 32) % 32;
        }
        let candidate = BigUint::new(digits);
        if candidate < *bound {
            return candidate;
        }
    }
}

/// True with probability ½.
pub fn fair(random: &mut impl Rng) -> bool {
    random.next_u32() & 1 == 1
}

/// 20!, the largest factorial below 2⁶⁴.
const FACTORIAL_20: u64 = 2_432_902_008_176_640_000;

/// True with probability e^(−1).
///
/// P(A₁ … Aⱼ all succeed) = 1/j! for all j ≤ 20 at once is "a uniform integer below 20! is below 20!/j!", so one
/// integer decides, but for the one time in 20! when even the twentieth succeeds.
pub fn exp_minus_one(random: &mut impl Rng) -> bool {
    let uniform = uniform_below(FACTORIAL_20, random);
    let mut threshold = FACTORIAL_20;
    for k in 2..=20 {
        threshold /= k;
        if uniform >= threshold {
            // Coin k is the first to fail.
            return k % 2 == 1;
        }
    }
    let mut k = 21;
    while uniform_below(k, random) == 0 {
        k += 1;
    }
    k % 2 == 1
}

/// True with probability e^(−γ), for a coin that succeeds with probability γ.
pub fn exp_minus<R: Rng>(random: &mut R, mut gamma: impl FnMut(&mut R) -> bool) -> bool {
    let mut k = 1;
    while gamma(random) && uniform_below(k, random) == 0 {
        k += 1;
    }
    k % 2 == 1
}

/// True with probability e^(−count).
pub fn exp_minus_whole(count: u128, random: &mut impl Rng) -> bool {
    // Ends at the first failure, so a huge count costs no more than a small one.
    (0..count).all(|_| exp_minus_one(random))
}

/// True with probability e^(−a/b), b above 0.
pub fn exp_minus_ratio(a: &BigUint, b: &BigUint, random: &mut impl Rng) -> bool {
    let whole = a / b;
    // Beyond 2¹²⁸ no run of successes will get to the end of either.
    if !exp_minus_whole(u128::try_from(&whole).unwrap_or(u128::MAX), random) {
        return false;
    }
    let rest = a - whole * b;
    exp_minus(random, |random| uniform_below_big(b, random) < rest)
}

/// Terms of ln 2 = ⅔ Σₖ 9^(−k)/(2k+1) that [`ln_2_below`] adds up.
const LN_2_TERMS: u32 = 8;

/// A fraction p/q just below ln 2: the first eight terms of its series.
pub const fn ln_2_below() -> (u64, u64) {
    // lcm(1, 3, …, 15)
    const COMMON: u64 = 45_045;
    let (mut numerator, mut k) = (0, 0);
    while k < LN_2_TERMS {
        numerator += 2 * 9u64.pow(LN_2_TERMS - 1 - k) * (COMMON / (2 * k as u64 + 1));
        k += 1;
    }
    (numerator, 3 * 9u64.pow(LN_2_TERMS - 1) * COMMON)
}

/// True with probability e^(−τ), τ = ln 2 − p/q with [`ln_2_below`], about 9e-10.
pub fn exp_minus_ln_2_rest(random: &mut impl Rng) -> bool {
    exp_minus(random, |random| ln_2_beyond(LN_2_TERMS, random))
}

/// True with the probability of what the series of ln 2 still adds after its first `terms`: with n terms,
/// ⅔ Σ_{k≥n} 9^(−k)/(2k+1) = ¾·9^(−n) · E[1/(2(n+G)+1)], P(G = m) = 8/9 · 9^(−m): three coins in a row.
fn ln_2_beyond(terms: u32, random: &mut impl Rng) -> bool {
    if uniform_below(4 * 9u64.pow(terms), random) >= 3 {
        return false;
    }
    let mut k = u64::from(terms);
    while uniform_below(9, random) == 0 {
        k += 1;
    }
    uniform_below(2 * k + 1, random) == 0
}

/// The scale, if discrete noise can have it.
pub fn checked_scale(name: &'static str, scale: f64) -> Result<f64, MechanismError> {
    let within = (LEAST_SCALE..=GREATEST_SCALE).contains(&scale);
    MechanismError::check(name, "between 2^-10 and 2^52 grid steps", scale, within)
}

/// A number of at most 53 bits over a power of two: (n, k) with x = n/2^k exactly, k as small as
/// possible.
/// For a [`checked_scale`], n is below 2^53 and k at most 62.
pub fn dyadic(x: f64) -> (u64, u32) {
    let (mantissa, exponent) = decompose(x);
    let zeros = mantissa.trailing_zeros();
    let (odd, exponent) = (mantissa >> zeros, exponent + zeros as i32);
    if exponent >= 0 {
        (odd << exponent, 0)
    } else {
        (odd, exponent.unsigned_abs())
    }
}

/// Least scale of discrete noise, in grid steps; below it a draw other than 0 has probability under 2e^(−1024).
pub const LEAST_SCALE: f64 = 1.0 / 1024.0;
/// Greatest scale of discrete noise, in grid steps; up to it draws lie within 64 bits but for probability e^(−2000).
pub const GREATEST_SCALE: f64 = (1u64 << 52) as f64;

/// x = mantissa · 2^exponent for finite x ≥ 0.
pub fn decompose(x: f64) -> (u64, i32) {
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    if exponent == 0 {
        (fraction, -1074)
    } else {
        (fraction | 1 << 52, exponent - 1075)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_frequencies;
    use super::*;
    use crate::num::RandomSource;

    const DRAWS: u64 = 200_000;

    fn assert_coin(probability: f64, mut coin: impl FnMut(&mut RandomSource) -> bool) {
        let mut random = RandomSource::from_operating_system();
        let heads = (0..DRAWS).filter(|_| coin(&mut random)).count() as u64;
        assert_frequencies(&[heads, DRAWS - heads], &[probability, 1.0 - probability]);
    }

    #[test]
    fn coins_have_their_probability() {
        assert_coin((-1.0_f64).exp(), exp_minus_one);
        assert_coin((-3.0_f64).exp(), |random| exp_minus_whole(3, random));
        assert_coin((-0.3_f64).exp(), |random| {
            exp_minus(random, |random| uniform_below(10, random) < 3)
        });
        assert_coin(1.0, |random| exp_minus(random, |_| false));
        assert_coin((-1.0_f64).exp(), |random| exp_minus(random, |_| true));
        let ratio = |a: u64, b: u64, shift: u32| {
            move |random: &mut RandomSource| {
                exp_minus_ratio(&(BigUint::from(a) << shift), &(BigUint::from(b) << shift), random)
            }
        };
        assert_coin((-2.5_f64).exp(), ratio(5, 2, 0));
        assert_coin((-0.25_f64).exp(), ratio(1, 4, 300));
        assert_coin(1.0, ratio(0, 7, 31));
        // With no term the rest of the series is ln 2 itself.
        assert_coin(std::f64::consts::LN_2, |random| ln_2_beyond(0, random));
        assert_coin(0.5, |random| exp_minus(random, |random| ln_2_beyond(0, random)));
        assert_coin(std::f64::consts::LN_2 - 2.0 / 3.0, |random| {
            ln_2_beyond(1, random)
        });
    }

    #[test]
    fn uniform_integers_are_uniform() {
        let mut random = RandomSource::from_operating_system();
        for bound in [1, 2, 3, 7, 64] {
            let mut counts = vec![0; bound];
            let mut wide = vec![0; bound];
            for _ in 0..DRAWS {
                counts[uniform_below(bound as u64, &mut random) as usize] += 1;
                wide[uniform_below_wide(bound as u128, &mut random) as usize] += 1;
            }
            let even = vec![1.0 / bound as f64; bound];
            assert_frequencies(&counts, &even);
            assert_frequencies(&wide, &even);
        }
        // Three parts of a range that ends in the middle of its bits; by rejection in 128 and in any number of bits.
        let (third, big) = (1u128 << 80, BigUint::from(1u32) << 80);
        let (mut wide, mut bigger) = ([0; 3], [0; 3]);
        for _ in 0..DRAWS {
            wide[(uniform_below_wide(3 * third, &mut random) / third) as usize] += 1;
            let part = uniform_below_big(&(&big * 3u32), &mut random) / &big;
            bigger[u32::try_from(part).unwrap() as usize] += 1;
        }
        assert_frequencies(&wide, &[1.0 / 3.0; 3]);
        assert_frequencies(&bigger, &[1.0 / 3.0; 3]);
    }

    #[test]
    fn the_fraction_lies_just_below_ln_2() {
        let (p, q) = ln_2_below();
        // The next term alone, and all that follow as a geometric sum.
        let next = 2.0 / 3.0 / (17.0 * 9f64.powi(8));
        let rest = std::f64::consts::LN_2 - p as f64 / q as f64;
        assert!((next - 2e-16..next * 9.0 / 8.0 + 2e-16).contains(&rest), "{rest}");
        assert_eq!(q, 3 * 4_782_969 * 45_045);
    }

    #[test]
    fn dyadic_fractions_are_the_number_itself() {
        for x in [
            LEAST_SCALE,
            0.1,
            1.0 / 3.0,
            1.0,
            1.5,
            1e6 + 0.1,
            3e15,
            GREATEST_SCALE,
        ] {
            let (n, k) = dyadic(checked_scale("x", x).unwrap());
            assert!(n < 1 << 53 && k <= 62 && (k == 0 || n % 2 == 1), "{x}: {n}/2^{k}");
            assert_eq!(n as f64 / 2f64.powi(k as i32), x);
        }
        for x in [
            0.0,
            -1.0,
            1e-4,
            1e-300,
            1e300,
            4503599627370497.0,
            f64::NAN,
            f64::INFINITY,
        ] {
            assert!(checked_scale("x", x).is_err());
        }
        for x in [0.0, 5e-324, 1e-310, 1.0, 3.75, f64::MAX] {
            let (mantissa, exponent) = decompose(x);
            assert_eq!(
                mantissa as f64 * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2),
                x
            );
        }
    }
}
