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
//! The peer is the `opendp` crate (0.16, MIT), whose samplers are exact too.

mod discrete_gaussian;
mod discrete_laplace;
mod distribution;
mod error;
mod exact;
mod grid;
mod randomized_response;
mod selection;

pub use discrete_gaussian::DiscreteGaussian;
pub use discrete_laplace::DiscreteLaplace;
pub use error::MechanismError;
pub use grid::Grid;
pub use randomized_response::RandomizedResponse;
pub use selection::Selection;

#[cfg(test)]
mod tests;
