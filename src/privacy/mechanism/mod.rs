//! Mechanisms: noise and choices that carry a guarantee, each with its precondition, its source and the event that the
//! accountants take for it. They know numbers only, no data.
//!
//! What is exact: [`DiscreteLaplace`], [`DiscreteGaussian`], [`Selection`] and [`RandomizedResponse`] draw from the stated
//! distribution, for the double-precision parameters as given, by comparing whole numbers (`exact`); no floating-point
//! number is added to a private one, and where a distribution is cut, at probabilities below e^(−1000), its page says so.
//! What is not: probabilities, quantiles and variances, which are for intervals and plots, and the caller's
//! statistic before it is rounded to a [`Grid`]. The bits come from [`RandomSource`](crate::num::RandomSource): ChaCha20
//! keyed by the operating system, or seeded, and then whatever was drawn is not private and says so. The time that a
//! draw takes depends on it; someone who can time single draws is out of scope.
//!
//! # The peer
//!
//! The `opendp` crate (0.16, MIT) samples exactly as well, with big rationals throughout. It is not used here: it draws
//! from a generator of its own and takes none, so that a seeded, marked mode cannot be had; it made 0.12 million
//! discrete Laplace and 0.05 million discrete Gaussian draws a second where these made 5.4 and 3.1 million (one busy
//! core, `benches/mechanism.rs`); its selection adds noise to every candidate, without multiplicities; and it would
//! bring 29 more crates, among them `rand` 0.7, `nalgebra` 0.19 and `statrs` 0.13 (2 minutes and 20 seconds of one core).

mod discrete_gaussian;
mod discrete_laplace;
pub(super) mod distribution;
mod error;
mod exact;
mod grid;
mod randomized_response;
mod selection;
pub mod utility;

pub use discrete_gaussian::DiscreteGaussian;
pub use discrete_laplace::DiscreteLaplace;
pub use error::MechanismError;
pub use grid::Grid;
pub use randomized_response::RandomizedResponse;
pub use selection::Selection;

#[cfg(test)]
mod tests;
