//! What a person should know of a plan before it runs.

use super::Promise;
use crate::data::{Provenance, Schema};
use crate::message;
use crate::num::Message;
use crate::privacy::Neighboring;
use crate::train::settings::TrainSettings;

/// From this ε on, a plan warns.
const WEAK_EPSILON: f64 = 10.0;

/// Something that a person should know before the run starts.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanWarning {
    /// δ so large that publishing a few rows in the clear would be allowed.
    LargeDelta {
        /// δ.
        delta: f64,
        /// The rows.
        rows: usize,
    },
    /// ε so large that the promise is weak.
    LargeEpsilon {
        /// ε.
        epsilon: f64,
    },
    /// The expected batch was lowered to the rows there are.
    BatchLowered {
        /// Asked for.
        asked: u64,
        /// Used.
        used: usize,
    },
    /// The row count is private, but sampling rate and marginals reveal it.
    RowCountRevealed,
    /// So little data that the noise drowns most of it.
    FewRows {
        /// The rows.
        rows: usize,
    },
    /// No promise is made at all.
    NotPrivate,
}

impl PlanWarning {
    /// The warning in words.
    pub fn message(&self) -> Message {
        match self {
            Self::LargeDelta { delta, rows } => message!(
                "warning-large-delta",
                "δ = {delta} is at least 1/{rows}: such a δ allows a mechanism that publishes a whole row in the clear; choose δ well below 1/{rows}",
                delta = delta,
                rows = rows
            ),
            Self::LargeEpsilon { epsilon } => message!(
                "warning-large-epsilon",
                "ε = {epsilon} is a weak promise: it bounds what a worst-case attacker learns only loosely",
                epsilon = epsilon
            ),
            Self::BatchLowered { asked, used } => message!(
                "warning-batch-lowered",
                "the expected batch was lowered from {asked} to {used} rows, which is all there are",
                asked = asked,
                used = used
            ),
            Self::RowCountRevealed => message!(
                "warning-rows-revealed",
                "the number of rows is not declared public, but the sampling rate reveals it: it is not protected"
            ),
            Self::FewRows { rows } => message!(
                "warning-few-rows",
                "with {rows} rows the noise covers most of what relates one column to another; expect single columns to be right and little more",
                rows = rows
            ),
            Self::NotPrivate => message!(
                "warning-not-private",
                "this method makes no privacy claim: keep what it makes to yourself"
            ),
        }
    }
}

impl std::fmt::Display for PlanWarning {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.message().fmt(formatter)
    }
}

impl PlanWarning {
    /// What is to be said of how rows are drawn.
    pub(in crate::train) fn of_sampling(
        asked: u64,
        used: usize,
        schema: &Schema,
        promise: Option<Promise>,
    ) -> Vec<Self> {
        let mut warnings = Vec::new();
        if asked > used as u64 {
            warnings.push(Self::BatchLowered { asked, used });
        }
        let is_known = schema
            .rows
            .is_some_and(|known| matches!(known.provenance, Provenance::Declared | Provenance::Bought));
        let hides_count = promise.is_some_and(|promise| promise.neighboring == Neighboring::AddRemoveOne);
        if hides_count && !is_known {
            warnings.push(Self::RowCountRevealed);
        }
        warnings
    }
}

/// What is weak about a promise, whatever keeps it.
pub(in crate::train) fn weak_promise(promise: Option<Promise>, rows: usize) -> Vec<PlanWarning> {
    let Some(promise) = promise else {
        return vec![PlanWarning::NotPrivate];
    };
    let mut warnings = Vec::new();
    let (epsilon, delta) = (promise.epsilon.get(), promise.delta.get());
    if delta * rows as f64 >= 1.0 {
        warnings.push(PlanWarning::LargeDelta { delta, rows });
    }
    if epsilon >= WEAK_EPSILON {
        warnings.push(PlanWarning::LargeEpsilon { epsilon });
    }
    warnings
}

/// What is weak about a plan.
pub(super) fn warnings(
    settings: &TrainSettings,
    schema: &Schema,
    rows: usize,
    expected_batch: usize,
    promise: Option<Promise>,
) -> Vec<PlanWarning> {
    /// Below this many rows little but single columns survives the noise (at small ε).
    const FEW_ROWS: f64 = 3000.0;
    let mut warnings = PlanWarning::of_sampling(settings.batch_size, expected_batch, schema, promise);
    warnings.extend(weak_promise(promise, rows));
    let Some(promise) = promise else {
        return warnings;
    };
    if (rows as f64) * promise.epsilon.get() < FEW_ROWS {
        warnings.push(PlanWarning::FewRows { rows });
    }
    warnings
}
