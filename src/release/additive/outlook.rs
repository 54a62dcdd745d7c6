//! Sums as they are planned: sensitivities, noise by any mechanism, and the error that follows.

use super::{Additive, NoisySum, What, plan_what};
use crate::data::{Schema, Table};
use crate::num::Epsilon;
use crate::privacy::mechanism::DiscreteLaplace;
use crate::privacy::mechanism::utility::{Noise as Planned, NoiseSum};
use crate::privacy::{EventList, Neighboring, PrivacyEvent};
use crate::release::error::ReleaseError;
use crate::release::noise::{Part, grid};
use crate::release::outlook::{
    CellTruth, Found, Mechanism, PartNoise, PartSensitivity, Reason, Sensitivity, Summed,
};
use crate::release::plan::Setting;
use crate::release::sensitivity::Neighbours;
use crate::release::tally::Bins;

/// A statistic of sums, without a price.
#[derive(Clone, Debug)]
pub(in crate::release) struct Sums {
    task: Additive,
    parts: Vec<Part>,
    neighbours: Neighbours,
}

impl Sums {
    pub fn new(setting: &Setting<'_>) -> Result<Self, ReleaseError> {
        let (task, _) = Additive::new(setting)?;
        let (_, contributions) = plan_what(setting)?;
        let cells = task.cells();
        Ok(Self {
            task,
            parts: contributions
                .into_iter()
                .map(|contribution| Part { cells, contribution })
                .collect(),
            neighbours: setting.neighbours,
        })
    }

    /// Whether the answer is a quotient of sums.
    pub fn is_ratio(&self) -> bool {
        matches!(self.task.what, What::Mean(_) | What::Variance(_))
    }

    /// How many categories a row falls into exactly one of, where that is all that is asked.
    pub fn categories(&self) -> Option<u64> {
        let cells = self.task.cells() as u64;
        let fits = matches!(
            (&self.task.what, &self.task.groups),
            (
                What::Histogram {
                    bins: Bins::Values(_),
                    ..
                },
                None
            ) | (What::Rows { .. }, Some(_))
        );
        (fits && cells >= 2).then_some(cells)
    }

    /// The value of a step of each part, in the part's unit, and what the part is.
    fn part_units(&self) -> Vec<(Summed, f64)> {
        match &self.task.what {
            What::Rows { .. } | What::Persons | What::Present(_) | What::Histogram { .. } => {
                vec![(Summed::Count, 1.0)]
            }
            What::Sum { line, .. } => vec![(Summed::Values, line.step_value())],
            What::Mean(spread) | What::Variance(spread) => {
                let unit = spread.line.step_value();
                let mut units = vec![(Summed::Distances, unit)];
                if matches!(self.task.what, What::Variance(_)) {
                    units.push((Summed::Squares, unit * unit));
                }
                if spread.known_count.is_none() {
                    units.push((Summed::Count, 1.0));
                }
                units
            }
        }
    }

    pub fn sensitivity(&self) -> Sensitivity {
        let parts = self
            .parts
            .iter()
            .zip(self.part_units())
            .map(|(part, (summed, unit))| {
                let shift = self.neighbours.shift(part.contribution, part.cells, 1);
                PartSensitivity {
                    summed,
                    one: shift.total() as f64 * unit,
                    two: shift.steps as f64 * (shift.times as f64).sqrt() * unit,
                    reason: match self.neighbours.relation {
                        Neighboring::AddRemoveOne | Neighboring::ZeroOutOne => Reason::Appears,
                        Neighboring::ReplaceOne if part.cells <= 1 => Reason::Replaced,
                        Neighboring::ReplaceOne => Reason::Moves,
                    },
                }
            });
        let line = match self.task.what {
            What::Histogram { .. } => None,
            _ => self.task.what.line(),
        };
        Sensitivity::Sums {
            parts: parts.collect(),
            bounds: line.map(|line| {
                let (lower, upper) = line.ends();
                (lower.into(), upper.into())
            }),
        }
    }

    /// The noise of each part: ε in equal shares for Laplace noise, one multiplier for Gaussian noise, as a release has
    /// them.
    pub fn noise(
        &self,
        mechanism: Mechanism,
        epsilon: Epsilon,
        multiplier: f64,
    ) -> Result<Vec<PartNoise>, ReleaseError> {
        let count = self.parts.len() as f64;
        let share = self.share(epsilon);
        let noise = |part: &Part| -> Result<PartNoise, ReleaseError> {
            let discrete = mechanism.released().is_some();
            let grid = if discrete { grid(part, share)? } else { 1 };
            let shift = self.neighbours.shift(part.contribution, part.cells, grid);
            let norm = shift.steps as f64 * (shift.times as f64).sqrt() * count.sqrt();
            let noise = match mechanism {
                Mechanism::Laplace => Planned::Laplace {
                    scale: shift.total() as f64 / share,
                },
                Mechanism::DiscreteLaplace => Planned::DiscreteLaplace {
                    scale: DiscreteLaplace::for_epsilon(Epsilon::new(share)?, shift.total())?.scale(),
                },
                Mechanism::DiscreteGaussian => Planned::DiscreteGaussian {
                    sigma: multiplier * norm,
                },
                _ => Planned::Gaussian {
                    sigma: multiplier * norm,
                },
            };
            Ok(PartNoise {
                noise: noise.validate()?,
                steps: grid as f64,
            })
        };
        self.parts.iter().map(noise).collect()
    }

    fn share(&self, epsilon: Epsilon) -> f64 {
        if self.parts.len() > 1 {
            (epsilon.get() / self.parts.len() as f64).next_down()
        } else {
            epsilon.get()
        }
    }

    /// What the accountants are told.
    pub fn events(
        &self,
        events: &mut EventList,
        mechanism: Mechanism,
        epsilon: Epsilon,
        multiplier: f64,
    ) -> Result<(), ReleaseError> {
        match mechanism {
            Mechanism::Laplace => events.push(
                PrivacyEvent::Laplace {
                    scale: 1.0 / self.share(epsilon),
                    sensitivity: 1.0,
                },
                self.parts.len() as u64,
            ),
            Mechanism::TextbookGaussian | Mechanism::AnalyticGaussian => events.push(
                PrivacyEvent::Gaussian {
                    noise_multiplier: multiplier,
                },
                1,
            ),
            _ => {
                for (part, noise) in self.parts.iter().zip(self.noise(mechanism, epsilon, multiplier)?) {
                    let shift = self
                        .neighbours
                        .shift(part.contribution, part.cells, noise.steps as i128);
                    match noise.noise {
                        Planned::DiscreteLaplace { scale } => events.push(
                            PrivacyEvent::DiscreteLaplace {
                                scale,
                                sensitivity: shift.total(),
                            },
                            1,
                        ),
                        Planned::DiscreteGaussian { sigma } => events.push(
                            PrivacyEvent::DiscreteGaussian {
                                sigma,
                                sensitivity: shift.steps,
                            },
                            shift.times,
                        ),
                        _ => {}
                    }
                }
            }
        }
        Ok(())
    }

    /// How the answer's error is distributed, to first order: with noises X of the sum, Q of the squares and Y of the
    /// count, sums taken from the middle of the bounds, m the mean and q the mean square from there, N values:
    /// of a mean (X − mY)/N, of a variance (Q − 2mX + (2m² − q)Y)/N.
    pub fn law(&self, noise: &[PartNoise], cell: Option<&CellTruth>) -> Result<NoiseSum, ReleaseError> {
        let (spread, with_squares) = match &self.task.what {
            What::Mean(spread) => (spread, false),
            What::Variance(spread) => (spread, true),
            _ => {
                let unit = self.part_units()[0].1;
                return Ok(NoiseSum::new(&[(noise[0].steps * unit, noise[0].noise)])?);
            }
        };
        let Some(Found::Sums { sums, count }) = cell.map(|cell| &cell.found) else {
            return Err(
                crate::privacy::mechanism::MechanismError::NothingToChoose("no rows were read").into(),
            );
        };
        let values = count.max(1.0);
        let mean = sums[0] / values;
        let unit = spread.line.step_value();
        let mut factors = if with_squares {
            vec![-2.0 * mean, 1.0]
        } else {
            vec![1.0]
        };
        if spread.known_count.is_none() {
            factors.push(if with_squares {
                2.0 * mean * mean - sums[1] / values
            } else {
                -mean
            });
        }
        let unit = if with_squares { unit * unit } else { unit };
        let terms: Vec<(f64, Planned)> = factors
            .iter()
            .zip(noise)
            .map(|(factor, part)| (factor * part.steps * unit / values, part.noise))
            .collect();
        Ok(NoiseSum::new(&terms)?)
    }

    /// The answer that these sums come to, as a number of the column's unit, with the release's own arithmetic.
    pub fn number(&self, sums: &[f64]) -> f64 {
        let sums: Vec<NoisySum> = sums
            .iter()
            .map(|&value| NoisySum {
                value,
                low: value,
                high: value,
            })
            .collect();
        match &self.task.what {
            What::Rows { .. } | What::Persons | What::Present(_) | What::Histogram { .. } => sums[0].value,
            What::Sum { line, .. } => line.sum(sums[0].value),
            What::Mean(spread) => {
                let mean = spread.mean(&sums).plus(spread.centre.first as f64);
                spread.line.number(mean.value)
            }
            What::Variance(spread) => spread.variance(&sums).value * spread.line.step_value().powi(2),
        }
    }

    /// The exact sums of every cell.
    pub fn measure(&self, schema: &Schema, table: &Table) -> Result<Vec<CellTruth>, ReleaseError> {
        let found = self.task.measure(schema, table)?;
        let cells = self
            .task
            .labels()
            .into_iter()
            .enumerate()
            .map(|(index, (group, bin))| {
                let sums: Vec<f64> = found.iter().map(|part| part[index] as f64).collect();
                let count = match &self.task.what {
                    What::Mean(spread) | What::Variance(spread) => spread
                        .known_count
                        .map_or_else(|| sums[sums.len() - 1], |known| known as f64),
                    What::Sum { .. } => table.rows() as f64,
                    _ => sums[0],
                };
                let exact: Vec<NoisySum> = sums
                    .iter()
                    .map(|&value| NoisySum {
                        value,
                        low: value,
                        high: value,
                    })
                    .collect();
                CellTruth {
                    group,
                    bin,
                    shown: self.task.what.value(&exact).0,
                    number: self.number(&sums),
                    found: Found::Sums { sums, count },
                }
            });
        Ok(cells.collect())
    }
}
