//! Training a generator of rows by what is released of them at one look, and then as many steps as are wanted: noisy
//! counts of pairs (`gem`), or one noisy mean embedding (`dp-merf`).

mod embedding;
mod learner;
mod loss;
mod plan;
mod released;
mod settings;
mod training;

pub use plan::{PairPlan, TableRelease};
pub use settings::PairSettings;
pub use training::PairTraining;
