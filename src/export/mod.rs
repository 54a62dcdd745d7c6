//! Tables, model files, recipes and privacy certificates: whatever leaves.

pub mod atomic;
mod error;

pub use error::ExportError;
