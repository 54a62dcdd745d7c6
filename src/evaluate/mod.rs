//! Fidelity, utility and attack metrics.
