//! Choices as they are planned: the candidates with their scores, at any ε.

use super::{Choice, MILLION, What, stretches};
use crate::data::{Schema, Table};
use crate::privacy::mechanism::utility::{Candidates, Stretch};
use crate::release::answer::Value;
use crate::release::error::ReleaseError;
use crate::release::outlook::{CellTruth, Found};
use crate::release::plan::Setting;
use crate::release::tally::group_of_rows;

/// A choice in each group, without a price.
#[derive(Clone, Debug)]
pub(in crate::release) struct Choices {
    task: Choice,
}

impl Choices {
    pub fn new(setting: &Setting<'_>) -> Result<Self, ReleaseError> {
        Ok(Self {
            task: Choice::new(setting)?,
        })
    }

    /// How far one unit moves a score, in ranks or rows: ε/λ is twice that, or once for scores that all move one way.
    pub fn sensitivity(&self) -> f64 {
        let spread = self.task.epsilon / self.task.selection.rate();
        match &self.task.what {
            What::Quantile { .. } => spread / (2.0 * MILLION),
            What::Mode { .. } if self.task.relation == crate::privacy::Neighboring::ReplaceOne => {
                spread / 2.0
            }
            What::Mode { .. } => spread,
        }
    }

    /// How many ranks or rows a choice at ε = 1 is off at most, at 95 %.
    pub fn bound(&self) -> f64 {
        let task = &self.task;
        match &task.what {
            What::Quantile { points, .. } => task.margin(f64::from(*points)) * task.epsilon / MILLION,
            What::Mode { bins, .. } => task.margin(bins.len() as f64) * task.epsilon,
        }
    }

    /// The candidates of every group. A quantile's lie on its line, and its error is the distance from the true one; a
    /// mode's are ordered by how many rows fewer than the most frequent value hold them, which is the error.
    pub fn measure(&self, schema: &Schema, table: &Table) -> Result<Vec<CellTruth>, ReleaseError> {
        let task = &self.task;
        let rate = task.selection.rate() / task.epsilon;
        let rows = group_of_rows(schema, table, task.groups.as_ref())?;
        let groups = (rows.as_deref(), task.cells());
        let mut found = Vec::with_capacity(groups.1);
        match &task.what {
            What::Quantile {
                line,
                share,
                spacing,
                points,
                is_number,
            } => {
                let place = |point: f64| (line.range().0 + point * spacing).min(line.range().1);
                for values in task.values(table, groups)? {
                    let all = stretches(&values, *share, *points, f64::NEG_INFINITY);
                    // Without values every candidate is as good: the floor's own stretch is the whole line.
                    let best = all
                        .iter()
                        .map(|stretch| stretch.score)
                        .fold(f64::NEG_INFINITY, f64::max);
                    let steps = all
                        .iter()
                        .filter(|stretch| !stretch.is_elsewhere())
                        .map(|stretch| Stretch {
                            from: line.difference(place(f64::from(stretch.first))),
                            to: line.difference(place(f64::from(stretch.last))),
                            count: stretch.points as f64,
                            shortfall: best - stretch.score,
                        });
                    let candidates = Candidates::new(steps, rate)?;
                    let number = candidates.target();
                    let position = line.position_of(number);
                    let shown = line.bound(if *is_number { position } else { position.round() });
                    found.push((Value::from(shown), number, candidates));
                }
            }
            What::Mode { bins, labels } => {
                let counts = bins.count(table, groups, false)?;
                for counts in counts.chunks(bins.len()) {
                    let best = counts.iter().copied().max().unwrap_or_default();
                    let at = counts.iter().position(|&count| count == best).unwrap_or_default();
                    let mut short: Vec<f64> = counts.iter().map(|&count| (best - count) as f64).collect();
                    short.sort_by(f64::total_cmp);
                    let steps = short.into_iter().map(|short| Stretch {
                        from: short,
                        to: short,
                        count: 1.0,
                        shortfall: short,
                    });
                    found.push((labels[at].clone(), 0.0, Candidates::new(steps, rate)?));
                }
            }
        }
        let labels = task.cells_of(
            found.iter().map(|found| found.0.clone()).collect(),
            &crate::release::Interval::Rank(0.0),
        );
        let cells = labels
            .into_iter()
            .zip(found)
            .map(|(cell, (shown, number, candidates))| CellTruth {
                group: cell.group,
                bin: None,
                shown,
                number,
                found: Found::Candidates(candidates),
            });
        Ok(cells.collect())
    }
}
