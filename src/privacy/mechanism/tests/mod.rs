//! Draws against exact probabilities, and what no parameter may do.
//!
//! **False alarms.** [`assert_frequencies`] fails with probability at most 1e-6 when the draws do follow the
//! probabilities, by a bound that holds for any number of draws; each call counts on its own.

mod accounting;
mod misuse;
mod noise;
mod properties;
mod randomized_response;
mod selection;
mod utility;

use crate::num::Epsilon;

/// Fails unless each count is as likely as its probability says.
///
/// Of n draws with probability p, P(share beyond x) ≤ e^(−n·KL(x ‖ p)) on either side (Chernoff 1952; Hoeffding 1963,
/// Thm 1). Over c counts and two sides, all within n·KL ≤ ln(2c/1e-6) but with probability 1e-6.
pub fn assert_frequencies(counts: &[u64], probabilities: &[f64]) {
    assert_eq!(counts.len(), probabilities.len());
    let total = counts.iter().sum::<u64>() as f64;
    let limit = (2.0 * counts.len() as f64 / 1e-6).ln();
    let part = |x: f64, p: f64| if x == 0.0 { 0.0 } else { x * (x / p).ln() };
    for (i, (&count, &p)) in counts.iter().zip(probabilities).enumerate() {
        let x = count as f64 / total;
        // The probabilities themselves are rounded.
        let divergence = part(x, p) + part(1.0 - x, (1.0 - p).max(1e-15));
        assert!(
            total * divergence <= limit,
            "cell {i}: {count} of {total} draws, expected {:.1} ({:.1} > {limit:.1})",
            p * total,
            total * divergence
        );
    }
}

pub fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// How often each candidate was chosen in so many draws.
fn counts(candidates: usize, draws: u64, mut choose: impl FnMut() -> usize) -> Vec<u64> {
    let mut counts = vec![0; candidates];
    for _ in 0..draws {
        counts[choose()] += 1;
    }
    counts
}

/// A golden file.
struct Golden(csv::StringRecord, Vec<csv::StringRecord>);

impl Golden {
    fn read(file: &str) -> Self {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/golden")
            .join(file);
        let mut reader = csv::Reader::from_path(path).unwrap();
        let header = reader.headers().unwrap().clone();
        Self(header, reader.records().map(Result::unwrap).collect())
    }

    /// The named columns of every row.
    fn columns<const N: usize>(&self, names: [&str; N]) -> Vec<[f64; N]> {
        let places = names.map(|name| self.0.iter().position(|column| column == name).unwrap());
        self.1
            .iter()
            .map(|row| places.map(|place| row[place].parse().unwrap()))
            .collect()
    }
}
