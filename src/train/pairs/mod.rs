//! Training a generator of rows by noisy counts of pairs (`gem`): one look at the private rows, and then as many steps
//! as are wanted.

mod loss;
mod plan;
mod settings;
mod training;

pub use plan::PairPlan;
pub use settings::PairSettings;
pub use training::PairTraining;
