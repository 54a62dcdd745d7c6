//! Schema, table, readers, profile and the invertible row encoder.
