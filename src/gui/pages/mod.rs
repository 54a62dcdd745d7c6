//! The pages of the window.

pub mod data;
pub mod explore;
pub mod export;
pub mod privacy;
pub mod train;
pub mod welcome;
