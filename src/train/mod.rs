//! Plan, schedule, privatised steps and the training loops.
