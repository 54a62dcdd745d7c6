//! Poisson sampling: each row enters a step by its own coin.

use rand::Rng;

/// Coins are read from the random stream in pieces of this many.
const PIECE: usize = 4096;

/// Draws batches in which every row is present with the same probability, independently of all others.
///
/// The coin of a row compares 64 random bits with `⌊q·2⁶⁴⌋`, so the probability is `q` to within 2⁻⁶⁴, and never
/// above it. The first 16 bits decide all but one in 65,536 coins, so that is all a row usually costs.
#[derive(Clone, Debug)]
pub struct PoissonSampler {
    rows: usize,
    rate: f64,
    /// `⌊q·2⁶⁴⌋`; `None` when every row enters.
    threshold: Option<u64>,
}

impl PoissonSampler {
    /// A sampler of `rows` rows at this rate, which a plan has checked to lie in (0, 1].
    pub fn new(rows: usize, rate: f64) -> Self {
        // Scaling by a power of two is exact, and so is the cast of what is below 2⁶⁴.
        let threshold = (rate < 1.0).then(|| (rate * 2.0_f64.powi(64)) as u64);
        Self {
            rows,
            rate,
            threshold,
        }
    }

    /// The probability with which each row enters.
    pub const fn rate(&self) -> f64 {
        self.rate
    }

    /// How many rows there are.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// The rows of one batch, in order; possibly none.
    pub fn draw(&self, random: &mut impl Rng) -> Vec<usize> {
        let Some(threshold) = self.threshold else {
            return (0..self.rows).collect();
        };
        let (high, low) = ((threshold >> 48) as u16, threshold & ((1 << 48) - 1));
        let mut batch = Vec::with_capacity((self.rows as f64 * self.rate * 1.3) as usize + 16);
        let mut bits = [0; 2 * PIECE];
        let mut start = 0;
        while start < self.rows {
            let coins = PIECE.min(self.rows - start);
            let piece = &mut bits[..2 * coins];
            random.fill_bytes(piece);
            for (offset, coin) in piece.chunks_exact(2).enumerate() {
                let coin = u16::from_le_bytes([coin[0], coin[1]]);
                let enters = coin < high || (coin == high && (random.next_u64() >> 16) < low);
                if enters {
                    batch.push(start + offset);
                }
            }
            start += coins;
        }
        batch
    }
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
