//! Layers with per-example gradients, generator and critic.
