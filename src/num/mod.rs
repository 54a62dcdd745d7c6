//! Checked units, random sources, log-space arithmetic and special functions: numbers that the other rooms can trust.
