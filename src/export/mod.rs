//! Tables, model files, recipes and privacy certificates: whatever leaves.
