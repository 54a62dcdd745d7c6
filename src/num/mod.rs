//! Checked units, random sources, log-space arithmetic and special functions: numbers that the other rooms can trust.

mod beside;
mod caught;
pub mod fft;
pub mod files;
pub mod logspace;
pub mod machine;
mod message;
pub mod progress;
mod random;
mod readable;
mod steward;
mod units;

pub use beside::Beside;
pub use caught::{caught, silence_caught_panics};
pub use message::{Argument, Fills, Message};
pub use progress::{Cancelled, Progress};
pub use random::{RandomOrigin, RandomSource};
pub use readable::Readable;
pub use steward::StewardOnly;
pub use units::{ClipNorm, Delta, Epsilon, NoiseMultiplier, SamplingRate, UnitError};
