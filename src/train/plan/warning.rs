//! What a person should know of a plan before it runs.

use super::Promise;
use crate::data::{Provenance, Schema};
use crate::message;
use crate::num::Message;
use crate::privacy::Neighboring;
use crate::train::settings::TrainSettings;

/// From this ε on, a plan warns.
const WEAK_EPSILON: f64 = 10.0;

/// What a promise counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Rows, or images.
    Rows,
    /// Persons, with all their rows.
    Persons,
}

impl Counted {
    /// What a promise on data with this schema counts.
    pub const fn of(schema: &Schema) -> Self {
        match schema.unit {
            None => Self::Rows,
            Some(_) => Self::Persons,
        }
    }
}

/// Something that a person should know before the run starts.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanWarning {
    /// δ so large that publishing a few rows in the clear would be allowed.
    LargeDelta {
        /// δ.
        delta: f64,
        /// The rows or persons.
        units: usize,
        /// Which of the two.
        counted: Counted,
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
        /// What is drawn.
        counted: Counted,
    },
    /// The number of rows or persons is private, but the sampling rate reveals it.
    CountRevealed(Counted),
    /// Persons may have more rows than count.
    LimitedRows {
        /// The most that count of one person.
        max_rows: u32,
    },
    /// So little data that the noise drowns most of it.
    FewRows {
        /// The rows or persons.
        units: usize,
        /// Which of the two.
        counted: Counted,
    },
    /// No promise is made at all.
    NotPrivate,
}

impl PlanWarning {
    /// The warning in words.
    pub fn message(&self) -> Message {
        match self {
            Self::LargeDelta {
                delta,
                units,
                counted: Counted::Rows,
            } => message!(
                "warning-large-delta",
                "δ = {delta} is at least 1/{rows}: such a δ allows a mechanism that publishes a whole row in the clear; choose δ well below 1/{rows}",
                delta = delta,
                rows = units
            ),
            Self::LargeDelta {
                delta,
                units,
                counted: Counted::Persons,
            } => message!(
                "warning-large-delta-persons",
                "δ = {delta} is at least 1/{persons}: such a δ allows a mechanism that publishes all rows of one person in the clear; choose δ well below 1/{persons}",
                delta = delta,
                persons = units
            ),
            Self::LargeEpsilon { epsilon } => message!(
                "warning-large-epsilon",
                "ε = {epsilon} is a weak promise: it bounds what a worst-case attacker learns only loosely",
                epsilon = epsilon
            ),
            Self::BatchLowered {
                asked,
                used,
                counted: Counted::Rows,
            } => message!(
                "warning-batch-lowered",
                "the expected batch was lowered from {asked} to {used} rows, which is all there are",
                asked = asked,
                used = used
            ),
            Self::BatchLowered {
                asked,
                used,
                counted: Counted::Persons,
            } => message!(
                "warning-batch-lowered-persons",
                "the expected batch was lowered from {asked} to {used} persons, who are all there are",
                asked = asked,
                used = used
            ),
            Self::CountRevealed(Counted::Rows) => message!(
                "warning-rows-revealed",
                "the number of rows is not declared public, but the sampling rate reveals it: it is not protected"
            ),
            Self::CountRevealed(Counted::Persons) => message!(
                "warning-persons-revealed",
                "the number of persons is not declared public, but the sampling rate reveals it: it is not protected"
            ),
            Self::LimitedRows { max_rows } => message!(
                "warning-limited-rows",
                "at most {rows} rows of a person count, drawn at random from those who have more; rows without a person are left out",
                rows = max_rows
            ),
            Self::FewRows {
                units,
                counted: Counted::Rows,
            } => message!(
                "warning-few-rows",
                "with {rows} rows the noise covers most of what relates one column to another; expect single columns to be right and little more",
                rows = units
            ),
            Self::FewRows {
                units,
                counted: Counted::Persons,
            } => message!(
                "warning-few-persons",
                "with {persons} persons the noise covers most of what relates one column to another; expect single columns to be right and little more",
                persons = units
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
        let counted = promise.map_or(Counted::Rows, |_| Counted::of(schema));
        if asked > used as u64 {
            warnings.push(Self::BatchLowered { asked, used, counted });
        }
        let is_known = schema
            .known_units()
            .is_some_and(|known| matches!(known.provenance, Provenance::Declared | Provenance::Bought));
        let hides_count = promise.is_some_and(|promise| promise.neighboring == Neighboring::AddRemoveOne);
        if hides_count && !is_known {
            warnings.push(Self::CountRevealed(counted));
        }
        warnings
    }

    /// What is to be said of persons' rows.
    pub(in crate::train) fn of_persons(schema: &Schema, promise: Option<Promise>) -> Option<Self> {
        let unit = schema.unit.as_ref().filter(|_| promise.is_some())?;
        let max_rows = unit.max_rows;
        Some(Self::LimitedRows { max_rows })
    }
}

/// What is weak about a promise, whatever keeps it.
pub(in crate::train) fn weak_promise(
    promise: Option<Promise>,
    counted: Counted,
    units: usize,
) -> Vec<PlanWarning> {
    let Some(promise) = promise else {
        return vec![PlanWarning::NotPrivate];
    };
    let mut warnings = Vec::new();
    let (epsilon, delta) = (promise.epsilon.get(), promise.delta.get());
    if delta * units as f64 >= 1.0 {
        warnings.push(PlanWarning::LargeDelta {
            delta,
            units,
            counted,
        });
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
    units: usize,
    expected_batch: usize,
    promise: Option<Promise>,
) -> Vec<PlanWarning> {
    /// Below this many rows little but single columns survives the noise (at small ε).
    const FEW_ROWS: f64 = 3000.0;
    let counted = Counted::of(schema);
    let mut warnings = PlanWarning::of_sampling(settings.batch_size, expected_batch, schema, promise);
    warnings.extend(PlanWarning::of_persons(schema, promise));
    warnings.extend(weak_promise(promise, counted, units));
    let Some(promise) = promise else {
        return warnings;
    };
    if (units as f64) * promise.epsilon.get() < FEW_ROWS {
        warnings.push(PlanWarning::FewRows { units, counted });
    }
    warnings
}
