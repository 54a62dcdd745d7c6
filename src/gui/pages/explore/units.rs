//! In which unit a statistic's error is told.

use super::settings::ExploreSettings;
use crate::data::Kind;
use crate::engine::snapshot::Dataset;
use crate::gui::context::Cx;
use crate::release::Query;

/// The key of the unit's name.
pub fn key(dataset: &Dataset, settings: &ExploreSettings) -> &'static str {
    let kind = settings
        .column
        .as_ref()
        .and_then(|name| dataset.schema.find(name))
        .map(|column| column.kind);
    match (settings.query, kind) {
        (Query::Count | Query::Histogram { .. } | Query::Mode, _) => "unit-in-rows",
        (Query::Variance, Some(Kind::Date)) => "unit-in-days-squared",
        (Query::Variance, Some(Kind::Time | Kind::Datetime)) => "unit-in-seconds-squared",
        (Query::Variance, _) => "unit-in-column-squared",
        (_, Some(Kind::Date)) => "unit-in-days",
        (_, Some(Kind::Time | Kind::Datetime)) => "unit-in-seconds",
        _ => "unit-in-column",
    }
}

/// The unit's name: rows, days, seconds, or that of the column.
pub fn name(cx: &Cx<'_>, dataset: &Dataset, settings: &ExploreSettings) -> String {
    let column = settings.column.as_deref().unwrap_or_default();
    cx.texts.with(key(dataset, settings), [("column", column.into())])
}

/// Whether the statistic's numbers are dates or times, which an axis shows as distances from the answer.
pub fn is_temporal(dataset: &Dataset, settings: &ExploreSettings) -> bool {
    matches!(settings.query, Query::Mean | Query::Quantile { .. })
        && settings
            .column
            .as_ref()
            .and_then(|name| dataset.schema.find(name))
            .is_some_and(|column| column.kind.is_temporal())
}
