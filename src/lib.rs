//! Pointillist: differentially private synthetic data, on a desktop.
//!
//! Data flows one way: a file becomes a [`data`] table, [`train`] learns a generator from it while
//! [`privacy`] keeps the account, [`evaluate`] judges it and [`export`] writes what may leave. The
//! [`engine`] runs all of it on background threads; [`cli`] and `gui` only send it commands and read what
//! it reports.

pub mod cli;
pub mod data;
pub mod engine;
pub mod evaluate;
pub mod export;
#[cfg(feature = "gui")]
pub mod gui;
pub mod model;
pub mod num;
pub mod privacy;
pub mod release;
pub mod train;

/// Tensors of a training step are megabytes each and live for a moment. The system's allocator hands such memory back at
/// once and has it zeroed anew, which took two fifths of a step of a convolutional critic (`benches/image_critic.rs`).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
