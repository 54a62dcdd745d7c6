//! Pointillist.
fn main() {}
