//! Settings that did best in trials, for a table of this size and a budget.

use super::budget::{Budget, largest_rho};
use super::layout::RowLayout;
use super::pairs::{PairPlan, PairSettings, TableRelease};
use super::plan::{PlanError, Privacy};
use super::settings::TrainSettings;
use crate::data::{EncoderSettings, RowEncoder, Schema};
use crate::num::{Delta, Epsilon};
use crate::privacy::Neighboring;

/// δ by which shares are recommended; the true one moves them little.
const USUAL_DELTA: f64 = 1e-5;
/// Noise that a marginal's cell may have, as a share of the rows.
const TOLERABLE_NOISE: f64 = 0.002;
/// The marginals' share of ρ is between these.
const MARGINAL_SHARES: (f64, f64) = (0.10, 0.75);

/// The settings to start from. Uses the number of units (rows, or persons), the schema and ε, never the rows.
///
/// With few of them, marginals get a larger share: the least that keeps their noise below 0.2 % of their number.
pub fn recommended(units: usize, schema: &Schema, epsilon: f64) -> TrainSettings {
    let mut settings = TrainSettings::default();
    if let Some(share) = marginal_share(units, schema, epsilon) {
        settings.marginal_share = share;
    }
    settings
}

/// The standard deviation of the noise, in rows, on each count of a pair that `gem` would buy under its usual settings;
/// Uses the schema and ε, never the rows.
///
/// # Errors
/// As [`PairPlan::new`].
pub fn pair_deviation(schema: &Schema, epsilon: f64) -> Result<f64, PlanError> {
    let settings = PairSettings::default();
    let privacy = Privacy::Private {
        epsilon,
        delta: USUAL_DELTA,
        neighboring: Neighboring::AddRemoveOne,
    };
    let plan = PairPlan::new(TableRelease::Pairs, &settings, schema, 1, privacy)?;
    Ok(plan.summary().marginal_deviation.unwrap_or(0.0))
}

/// The least share of ρ in range with `m·√(J / 2ρ₁) ≤ 0.002·units`, `m` the most rows of a unit; `None` where there are no marginals to buy.
fn marginal_share(units: usize, schema: &Schema, epsilon: f64) -> Option<f64> {
    let encoder = RowEncoder::new(schema, &EncoderSettings::default()).ok()?;
    let features = RowLayout::new(schema, &encoder).ok()?.feature_count();
    let budget = Budget {
        epsilon: Epsilon::new(epsilon).ok()?,
        delta: Delta::new(USUAL_DELTA).ok()?,
        neighboring: Neighboring::AddRemoveOne,
    };
    let rho = largest_rho(&budget).ok()??;
    let tolerable = TOLERABLE_NOISE * units as f64 / f64::from(schema.max_rows());
    let needed = features as f64 / (2.0 * rho * tolerable.powi(2));
    (features > 0).then(|| needed.clamp(MARGINAL_SHARES.0, MARGINAL_SHARES.1))
}
