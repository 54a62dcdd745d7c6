//! Poisson sampling: each unit, a row or a person, enters a step by its own coin.
//!
//! At a high rate every unit's coin is thrown. At a low one, the gaps between those that enter are drawn, so that a step
//! costs as much as its batch, however many units there are.
//!
//! **Gaps.** The number `G` of coins that fail before the next success is geometric: `P(G ≥ k) = a^k`, `a = 1 − q`. Its
//! binary digits are independent, since `P(G = Σ bⱼ2ʲ) = q·∏ a^(bⱼ2ʲ)` is a product over the digits: digit `j` is 1 with
//! probability `a^(2ʲ)/(1 + a^(2ʲ))`. So a gap is a few dozen coins, and no logarithm is rounded. Their probabilities are
//! computed in 127 binary places and thrown to 63, so a gap's law is within `J·2⁻⁶³` of the exact one in total
//! variation for `J` digits: over a run of a million gaps far below any δ.

use rand::Rng;

/// Coins are read from the random stream in pieces of this many.
const PIECE: usize = 4096;
/// From this rate on, gaps are so short that a coin for each unit is quicker.
const DENSE: f64 = 1.0 / 64.0;

/// A coin that compares 64 random bits with a threshold. The first 16 bits decide all but one in 65,536 throws.
#[derive(Clone, Copy, Debug)]
struct Coin {
    high: u16,
    low: u64,
}

impl Coin {
    const fn new(threshold: u64) -> Self {
        Self {
            high: (threshold >> 48) as u16,
            low: threshold & ((1 << 48) - 1),
        }
    }

    /// Falls by the first bits, and by fresh ones for the rest where those are a tie.
    fn falls(self, first: [u8; 2], random: &mut impl Rng) -> bool {
        let first = u16::from_le_bytes(first);
        first < self.high || (first == self.high && (random.next_u64() >> 16) < self.low)
    }
}

/// How the units of a batch are found.
#[derive(Clone, Debug)]
enum Way {
    /// All of them.
    All,
    /// None ever: the rate is below what a coin of 64 bits can tell from 0.
    None,
    /// By a coin for each.
    Coins(Coin),
    /// By the gaps between them: a coin for each digit of a gap, the last one for a gap past the end.
    Gaps { digits: Vec<Coin>, past_end: Coin },
}

/// Draws batches in which every unit is present with the same probability, independently of all others.
///
/// The coin of a unit compares 64 random bits with `⌊q·2⁶⁴⌋`, so the probability is `q` to within 2⁻⁶⁴, and never
/// above it; where gaps are drawn, they are those of such coins.
#[derive(Clone, Debug)]
pub struct PoissonSampler {
    units: usize,
    rate: f64,
    way: Way,
}

impl PoissonSampler {
    /// A sampler of `units` units at this rate, which a plan has checked to lie in (0, 1].
    pub fn new(units: usize, rate: f64) -> Self {
        // Scaling by a power of two is exact, and so is the cast of what is below 2⁶⁴.
        let threshold = (rate * 2.0_f64.powi(64)) as u64;
        let way = if rate >= 1.0 {
            Way::All
        } else if threshold == 0 {
            Way::None
        } else if rate >= DENSE {
            Way::Coins(Coin::new(threshold))
        } else {
            Self::gaps(units, threshold)
        };
        Self { units, rate, way }
    }

    fn gaps(units: usize, threshold: u64) -> Way {
        // a = 1 − q in 127 binary places, below 1.
        let mut power = (1_u128 << 127) - (u128::from(threshold) << 63);
        let mut digits = Vec::new();
        let mut reach = 1_usize;
        while reach <= units {
            let rounded = power >> 64;
            // The quotient is at most a half: 2⁶³ where the power is 1.
            digits.push(Coin::new(((rounded << 64) / ((1 << 63) + rounded)) as u64));
            power = multiplied(power, power);
            reach = reach.saturating_mul(2);
        }
        let past_end = Coin::new((power >> 63) as u64);
        Way::Gaps { digits, past_end }
    }

    /// The probability with which each unit enters.
    pub const fn rate(&self) -> f64 {
        self.rate
    }

    /// How many units there are.
    pub const fn units(&self) -> usize {
        self.units
    }

    /// The units of one batch, in order; possibly none.
    pub fn draw(&self, random: &mut impl Rng) -> Vec<usize> {
        match &self.way {
            Way::All => (0..self.units).collect(),
            Way::None => Vec::new(),
            Way::Coins(coin) => self.by_coins(*coin, random),
            Way::Gaps { digits, past_end } => self.by_gaps(digits, *past_end, random),
        }
    }

    fn room(&self) -> Vec<usize> {
        Vec::with_capacity((self.units as f64 * self.rate * 1.3) as usize + 16)
    }

    fn by_coins(&self, coin: Coin, random: &mut impl Rng) -> Vec<usize> {
        let mut batch = self.room();
        let mut bits = [0; 2 * PIECE];
        let mut start = 0;
        while start < self.units {
            let coins = PIECE.min(self.units - start);
            let piece = &mut bits[..2 * coins];
            random.fill_bytes(piece);
            for (offset, first) in piece.chunks_exact(2).enumerate() {
                if coin.falls([first[0], first[1]], random) {
                    batch.push(start + offset);
                }
            }
            start += coins;
        }
        batch
    }

    fn by_gaps(&self, digits: &[Coin], past_end: Coin, random: &mut impl Rng) -> Vec<usize> {
        let mut batch = self.room();
        let mut bits = vec![0; 2 * (digits.len() + 1)];
        let mut next = 0;
        loop {
            random.fill_bytes(&mut bits);
            let mut firsts = bits.chunks_exact(2).map(|first| [first[0], first[1]]);
            let mut falls = |coin: Coin| firsts.next().is_some_and(|first| coin.falls(first, random));
            if falls(past_end) {
                return batch;
            }
            let gap = digits
                .iter()
                .enumerate()
                .fold(0, |gap, (digit, coin)| gap | usize::from(falls(*coin)) << digit);
            next += gap;
            if next >= self.units {
                return batch;
            }
            batch.push(next);
            next += 1;
        }
    }
}

/// The product of two numbers of 127 binary places, each at most 1, rounded down to as many.
const fn multiplied(one: u128, other: u128) -> u128 {
    const LOW: u128 = u64::MAX as u128;
    let (a, b) = (one >> 64, one & LOW);
    let (c, d) = (other >> 64, other & LOW);
    // The middle terms and the carry of the lowest; each is below 2¹²⁸.
    let middle = ((b * d) >> 64) + ((a * d) & LOW) + ((b * c) & LOW);
    let high = a * c + ((a * d) >> 64) + ((b * c) >> 64) + (middle >> 64);
    (high << 1) | ((middle >> 63) & 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::RandomSource;

    /// 1e-6 of false alarms over all comparisons of a test needs this many standard deviations (normal tails,
    /// at most 50 comparisons, both sides).
    const DEVIATIONS: f64 = 5.7;

    #[test]
    fn batch_sizes_follow_the_binomial() {
        let mut random = RandomSource::seeded(11);
        for (rows, rate) in [
            (32_561, 512.0 / 32_561.0),
            (5000, 0.3),
            (100, 0.5),
            (70_000, 1e-5),
        ] {
            let sampler = PoissonSampler::new(rows, rate);
            let draws = 3000;
            let sizes: Vec<f64> = (0..draws)
                .map(|_| sampler.draw(&mut random).len() as f64)
                .collect();
            let mean = sizes.iter().sum::<f64>() / f64::from(draws);
            let variance = sizes.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / f64::from(draws - 1);
            let (expected, spread) = (rows as f64 * rate, rows as f64 * rate * (1.0 - rate));
            let allowed = DEVIATIONS * (spread / f64::from(draws)).sqrt();
            assert!(
                (mean - expected).abs() < allowed,
                "{rows} {rate}: mean {mean}, expected {expected}"
            );
            // Var(s²) ≈ σ⁴ (2 + 1/σ²)/draws for a binomial close to Poisson.
            let allowed = DEVIATIONS * spread * ((2.0 + 1.0 / spread) / f64::from(draws)).sqrt();
            assert!(
                (variance - spread).abs() < allowed,
                "{rows} {rate}: variance {variance}, expected {spread}"
            );
        }
    }

    #[test]
    fn rows_enter_alike_and_independently() {
        let mut random = RandomSource::seeded(12);
        let sampler = PoissonSampler::new(20, 0.25);
        let draws = 40_000;
        let mut single = [0_u32; 20];
        let mut neighbours = 0_u32;
        for _ in 0..draws {
            let batch = sampler.draw(&mut random);
            assert!(
                batch.windows(2).all(|pair| pair[0] < pair[1]),
                "in order, none twice"
            );
            batch.iter().for_each(|&row| single[row] += 1);
            neighbours += batch.windows(2).filter(|pair| pair[0] + 1 == pair[1]).count() as u32;
        }
        let check = |hits: u32, trials: f64, share: f64| {
            let allowed = DEVIATIONS * (trials * share * (1.0 - share)).sqrt();
            assert!(
                (f64::from(hits) - trials * share).abs() < allowed,
                "{hits} of {trials} at {share}"
            );
        };
        single
            .iter()
            .for_each(|&hits| check(hits, f64::from(draws), 0.25));
        // Neighbouring pairs overlap, which widens the spread of their count by less than a factor of 2.
        let pairs = f64::from(draws) * 19.0;
        assert!((f64::from(neighbours) - pairs / 16.0).abs() < 2.0 * DEVIATIONS * (pairs / 16.0).sqrt());
    }

    #[test]
    fn products_keep_their_places() {
        let one = 1_u128 << 127;
        assert_eq!(multiplied(one, one), one);
        assert_eq!(multiplied(one / 2, one / 2), one / 4);
        let nearly = one - 1;
        assert_eq!(multiplied(nearly, nearly), one - 2);
        // (2/3)² = 4/9, to the last place but one.
        let thirds = one / 3 * 2;
        assert!((one / 9 * 4).abs_diff(multiplied(thirds, thirds)) < 8);
    }

    #[test]
    fn gaps_are_geometric() {
        let mut random = RandomSource::seeded(15);
        let rate = 0.01;
        let sampler = PoissonSampler::new(1 << 20, rate);
        assert!(matches!(sampler.way, Way::Gaps { .. }));
        let (mut counts, mut total) = ([0_u32; 400], 0_u32);
        for _ in 0..20 {
            let batch = sampler.draw(&mut random);
            for pair in batch.windows(2) {
                let gap = pair[1] - pair[0] - 1;
                if let Some(count) = counts.get_mut(gap) {
                    *count += 1;
                }
                total += 1;
            }
        }
        // χ² of 40 pools of ten gaps each, and the rest: 40 degrees of freedom, so that 110 is passed by fewer than one
        // in a million.
        let pooled = |pool: usize| f64::from(counts[10 * pool..10 * pool + 10].iter().sum::<u32>());
        let share = |from: f64, to: f64| 0.99_f64.powf(from) - 0.99_f64.powf(to);
        let mut square = 0.0;
        let mut rest = f64::from(total);
        for pool in 0..40 {
            let expected = f64::from(total) * share(10.0 * pool as f64, 10.0 * pool as f64 + 10.0);
            square += (pooled(pool) - expected).powi(2) / expected;
            rest -= pooled(pool);
        }
        let expected = f64::from(total) * 0.99_f64.powf(400.0);
        square += (rest - expected).powi(2) / expected;
        assert!(square < 110.0, "{square}");
    }

    #[test]
    fn a_draw_among_many_units_costs_what_its_batch_does() {
        /// Counts what is asked of it.
        struct Counting<'a>(&'a mut RandomSource, usize);
        impl rand::TryRng for Counting<'_> {
            type Error = std::convert::Infallible;
            fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
                self.1 += 4;
                Ok(self.0.next_u32())
            }
            fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
                self.1 += 8;
                Ok(self.0.next_u64())
            }
            fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
                self.1 += bytes.len();
                self.0.fill_bytes(bytes);
                Ok(())
            }
        }
        let mut random = RandomSource::seeded(16);
        let units = 10_000_000_000;
        let sampler = PoissonSampler::new(units, 512.0 / units as f64);
        let mut counting = Counting(&mut random, 0);
        let batch = sampler.draw(&mut counting);
        assert!(batch.len() > 300 && batch.len() < 800);
        assert!(counting.1 < 100 * (batch.len() + 1), "{} bytes", counting.1);
    }

    #[test]
    fn ends_of_the_range() {
        let mut random = RandomSource::seeded(13);
        assert_eq!(PoissonSampler::new(5, 1.0).draw(&mut random), [0, 1, 2, 3, 4]);
        assert!(PoissonSampler::new(5, 1e-30).draw(&mut random).is_empty());
        assert!(PoissonSampler::new(0, 0.5).draw(&mut random).is_empty());
    }

    #[test]
    fn ties_of_the_first_bits_are_settled_by_the_rest() {
        // At q = 1.5/65,536 a third of all hits come through the tie.
        let mut random = RandomSource::seeded(14);
        let rows = 1 << 20;
        let rate = 1.5 / 65_536.0;
        let sampler = PoissonSampler::new(rows, rate);
        let hits: usize = (0..100).map(|_| sampler.draw(&mut random).len()).sum();
        let expected = rows as f64 * rate * 100.0;
        assert!(
            (hits as f64 - expected).abs() < DEVIATIONS * expected.sqrt(),
            "{hits}, expected {expected}"
        );
    }
}
