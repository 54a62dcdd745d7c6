//! Where random bits come from, and whether a guarantee may rest on them.

use std::convert::Infallible;

use rand::rngs::SysRng;
use rand::{Rng, SeedableRng, TryCryptoRng, TryRng};
use rand_chacha::ChaCha20Rng;
use serde::{Deserialize, Serialize};

/// What a [`RandomSource`] was started from.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RandomOrigin {
    /// Entropy of the operating system: nobody can repeat the noise.
    OperatingSystem,
    /// A fixed seed, for teaching and tests: whoever knows it can subtract the noise.
    Seeded(u64),
}

impl RandomOrigin {
    /// Whether a privacy guarantee may rest on this origin.
    pub fn is_private(self) -> bool {
        self == Self::OperatingSystem
    }
}

/// A ChaCha20 stream that knows its origin. Its state is never serialised: a resumed job draws fresh entropy.
pub struct RandomSource {
    stream: ChaCha20Rng,
    origin: RandomOrigin,
    key: [u8; 32],
    forks: u64,
}

impl RandomSource {
    /// A stream keyed with 256 bits from the operating system.
    ///
    /// # Panics
    /// If the operating system has no entropy to give: no promise of privacy can be kept then, and going on
    /// with weaker bits would break it in silence.
    pub fn from_operating_system() -> Self {
        let mut key = [0; 32];
        SysRng
            .try_fill_bytes(&mut key)
            .expect("the operating system's random generator works");
        // The key is not kept: a fork draws its own, so that no stream can be derived from another.
        Self {
            stream: ChaCha20Rng::from_seed(key),
            origin: RandomOrigin::OperatingSystem,
            key: [0; 32],
            forks: 0,
        }
    }

    /// A repeatable stream for teaching and tests; whatever it touches is not private.
    pub fn seeded(seed: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Self {
            stream: ChaCha20Rng::from_seed(key),
            origin: RandomOrigin::Seeded(seed),
            key,
            forks: 0,
        }
    }

    /// What the stream was started from.
    pub fn origin(&self) -> RandomOrigin {
        self.origin
    }

    /// An independent stream: fresh entropy, or (seeded) one derived from the seed and the number of forks so
    /// far, whatever was drawn in between.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        match self.origin {
            RandomOrigin::OperatingSystem => Self::from_operating_system(),
            RandomOrigin::Seeded(_) => {
                self.forks += 1;
                let mut parent = ChaCha20Rng::from_seed(self.key);
                // Stream 0 is what this source itself draws from.
                parent.set_stream(self.forks);
                let mut key = [0; 32];
                parent.fill_bytes(&mut key);
                Self {
                    stream: ChaCha20Rng::from_seed(key),
                    origin: self.origin,
                    key,
                    forks: 0,
                }
            }
        }
    }
}

impl std::fmt::Debug for RandomSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Neither key nor position: a log must not let anyone repeat the noise.
        f.debug_struct("RandomSource")
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

impl TryRng for RandomSource {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.stream.next_u32())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.stream.next_u64())
    }

    fn try_fill_bytes(&mut self, destination: &mut [u8]) -> Result<(), Infallible> {
        self.stream.fill_bytes(destination);
        Ok(())
    }
}

impl TryCryptoRng for RandomSource {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_and_the_system_does_not() {
        assert_eq!(
            RandomSource::seeded(7).next_u64(),
            RandomSource::seeded(7).next_u64()
        );
        assert_ne!(
            RandomSource::seeded(7).next_u64(),
            RandomSource::seeded(8).next_u64()
        );
        // Two 64-bit draws agree by chance with probability 2^-64.
        assert_ne!(
            RandomSource::from_operating_system().next_u64(),
            RandomSource::from_operating_system().next_u64()
        );
    }

    #[test]
    fn forks_are_independent_of_draws_and_of_each_other() {
        let mut a = RandomSource::seeded(1);
        let mut b = RandomSource::seeded(1);
        b.next_u64();
        let (mut a1, mut b1) = (a.fork(), b.fork());
        let first = a1.next_u64();
        assert_eq!(first, b1.next_u64());
        assert_ne!(first, a.fork().next_u64());
        assert_ne!(first, RandomSource::seeded(1).next_u64());
        assert!(!a1.origin().is_private());
        assert!(RandomSource::from_operating_system().fork().origin().is_private());
    }
}
