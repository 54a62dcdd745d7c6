//! From ε to noise, and from noise to the width of an interval.

use crate::num::{Delta, Epsilon, RandomSource};
use crate::privacy::mechanism::{DiscreteGaussian, DiscreteLaplace, Grid, MechanismError};
use crate::privacy::{AccountantKind, CountedEvent, EventList, Neighboring};

use super::error::ReleaseError;
use super::request::Noise;
use super::sensitivity::{Contribution, Neighbours, Shift};

/// A list of sums to be released: how many cells, and what a row may add to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub cells: usize,
    pub contribution: Contribution,
}

/// A part with its noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NoisyPart {
    /// Steps of the line in one step of the noise's grid.
    pub grid: i128,
    /// How far one unit moves the part, in steps of the grid.
    pub shift: Shift,
    draw: Draw,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Draw {
    Laplace(DiscreteLaplace),
    Gaussian(DiscreteGaussian),
}

/// All parts of a release, and what they cost together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Calibrated {
    pub parts: Vec<NoisyPart>,
    pub events: EventList,
    pub epsilon: f64,
    pub delta: f64,
}

/// Half a step, up: with two equal halves the sum is exact.
fn rounded(sum: i128, grid: i128) -> i64 {
    let steps = (sum + grid / 2).div_euclid(grid);
    i64::try_from(steps).unwrap_or(if steps < 0 { i64::MIN } else { i64::MAX })
}

impl NoisyPart {
    /// The sums in steps of the noise's grid, without noise.
    pub fn on_grid(&self, sums: &[i128]) -> Vec<i64> {
        sums.iter().map(|&sum| rounded(sum, self.grid)).collect()
    }

    /// The sums with noise, in steps of the noise's grid.
    pub fn release(&self, sums: &[i128], random: &mut RandomSource) -> Vec<i64> {
        self.on_grid(sums)
            .into_iter()
            .map(|steps| steps.saturating_add(self.sample(random)))
            .collect()
    }

    fn sample(&self, random: &mut RandomSource) -> i64 {
        match self.draw {
            Draw::Laplace(noise) => noise.sample(random),
            Draw::Gaussian(noise) => noise.sample(random),
        }
    }

    /// How far a released sum lies from the true one at most, with this confidence, in steps of the grid. Where
    /// values were rounded, one step more: half of it for the sum, the rest for what its values lost before.
    pub fn half_width(&self, confidence: f64, is_exact: bool) -> Result<i64, MechanismError> {
        let noise = match self.draw {
            Draw::Laplace(noise) => noise.half_width(confidence)?,
            Draw::Gaussian(noise) => noise.half_width(confidence)?,
        };
        let rounding = i64::from(self.grid > 1 || !is_exact);
        Ok(noise.saturating_add(rounding))
    }

    /// The least k that noise exceeds with at most this probability.
    pub fn tail(&self, probability: f64) -> Result<i64, MechanismError> {
        match self.draw {
            Draw::Laplace(noise) => noise.quantile(1.0 - probability),
            Draw::Gaussian(noise) => noise.quantile(1.0 - probability),
        }
    }

    /// Standard deviation of the noise, in steps of the grid.
    #[cfg(test)]
    pub fn deviation(&self) -> f64 {
        match self.draw {
            Draw::Laplace(noise) => noise.variance().sqrt(),
            Draw::Gaussian(noise) => noise.variance().sqrt(),
        }
    }

    fn event(&self) -> CountedEvent {
        match self.draw {
            Draw::Laplace(noise) => noise.event(self.shift.total()).into(),
            // Two changes on two cells are two events: their squares add up, which one change of both would not.
            Draw::Gaussian(noise) => CountedEvent {
                event: noise.event(self.shift.steps),
                count: self.shift.times,
            },
        }
    }
}

/// The noise grid of a part: at least a thousand steps in the sensitivity of a row and in the noise's scale, and no
/// finer than the line itself.
pub(super) fn grid(part: &Part, epsilon: f64) -> Result<i128, MechanismError> {
    let size = part.contribution.size() as f64;
    let spacing = Grid::for_scale(size * (1.0 / epsilon).min(1.0))?.spacing();
    Ok(spacing.max(1.0) as i128)
}

/// Shares ε equally among the parts and finds the noise of each.
pub(super) fn calibrate(
    parts: &[Part],
    neighbours: Neighbours,
    kind: Noise,
    epsilon: Epsilon,
    delta: Delta,
) -> Result<Calibrated, ReleaseError> {
    let share = if parts.len() > 1 {
        // Downwards, so that the shares never add up to more than the whole.
        (epsilon.get() / parts.len() as f64).next_down()
    } else {
        epsilon.get()
    };
    let shifts = parts.iter().map(|part| {
        let grid = grid(part, share)?;
        Ok((grid, neighbours.shift(part.contribution, part.cells, grid)))
    });
    let shifts = shifts.collect::<Result<Vec<_>, MechanismError>>()?;
    match kind {
        Noise::Gaussian => gaussian(&shifts, neighbours.relation, epsilon, delta),
        Noise::Laplace | Noise::Exponential => {
            let share = Epsilon::new(share)?;
            let parts = shifts.into_iter().map(|(grid, shift)| {
                let noise = DiscreteLaplace::for_epsilon(share, shift.total())?;
                Ok(NoisyPart {
                    grid,
                    shift,
                    draw: Draw::Laplace(noise),
                })
            });
            let parts = parts.collect::<Result<Vec<_>, MechanismError>>()?;
            Ok(Calibrated {
                events: events(&parts, neighbours.relation),
                parts,
                epsilon: epsilon.get(),
                delta: 0.0,
            })
        }
    }
}

fn events(parts: &[NoisyPart], relation: Neighboring) -> EventList {
    EventList {
        neighboring: relation,
        events: parts.iter().map(NoisyPart::event).collect(),
    }
}

/// The least common noise multiplier whose Rényi ε at δ is within ε: σ of each part is the multiplier times its change
/// and the square root of the number of parts, so that all parts cost alike.
///
/// By bisection on the Rényi accountant, which knows the discrete Gaussian; the formulas of the continuous one are no
/// proof for it.
fn gaussian(
    shifts: &[(i128, Shift)],
    relation: Neighboring,
    epsilon: Epsilon,
    delta: Delta,
) -> Result<Calibrated, ReleaseError> {
    let count = shifts.len() as f64;
    let attempt = |multiplier: f64| -> Result<Calibrated, ReleaseError> {
        let parts = shifts.iter().map(|&(grid, shift)| {
            let norm = shift.steps as f64 * (shift.times as f64).sqrt();
            Ok(NoisyPart {
                grid,
                shift,
                draw: Draw::Gaussian(DiscreteGaussian::new(multiplier * norm * count.sqrt())?),
            })
        });
        let parts = parts.collect::<Result<Vec<_>, MechanismError>>()?;
        let events = events(&parts, relation);
        Ok(Calibrated {
            epsilon: AccountantKind::Rdp.epsilon(&events, delta)?,
            delta: delta.get(),
            events,
            parts,
        })
    };
    // With too little noise the accountant may know no ε at all; the bracket starts where it does.
    let (mut low, mut high) = (0.01, 1.0);
    let mut best = attempt(high)?;
    while best.epsilon > epsilon.get() {
        low = high;
        high *= 2.0;
        best = attempt(high)?;
    }
    while high / low > 1.0 + 1e-6 {
        let middle = (low * high).sqrt();
        let found = attempt(middle)?;
        if found.epsilon <= epsilon.get() {
            high = middle;
            best = found;
        } else {
            low = middle;
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::Accountant as _;
    use crate::privacy::PureView;

    fn neighbours(relation: Neighboring) -> Neighbours {
        Neighbours {
            relation,
            max_rows: 2,
        }
    }

    fn parts() -> [Part; 3] {
        [
            Part {
                cells: 4,
                contribution: Contribution::new(-(1 << 41), 1 << 41),
            },
            Part {
                cells: 4,
                contribution: Contribution::new(-(1 << 81), 1 << 81),
            },
            Part {
                cells: 4,
                contribution: Contribution::COUNT,
            },
        ]
    }

    #[test]
    fn the_events_cost_what_was_asked_and_no_more() {
        let delta = Delta::new(1e-6).unwrap();
        for relation in [
            Neighboring::AddRemoveOne,
            Neighboring::ZeroOutOne,
            Neighboring::ReplaceOne,
        ] {
            for asked in [1e-6, 0.1, 1.0, 10.0, 100.0] {
                let epsilon = Epsilon::new(asked).unwrap();
                for count in 1..=3 {
                    let found = calibrate(
                        &parts()[..count],
                        neighbours(relation),
                        Noise::Laplace,
                        epsilon,
                        delta,
                    )
                    .unwrap();
                    let mut view = PureView::new(relation);
                    view.compose_list(&found.events).unwrap();
                    assert!(
                        view.total() <= asked && view.total() > 0.999 * asked,
                        "{asked}: {}",
                        view.total()
                    );
                    assert_eq!((found.epsilon, found.delta), (asked, 0.0));
                    if asked > 1e-5 {
                        let found = calibrate(
                            &parts()[..count],
                            neighbours(relation),
                            Noise::Gaussian,
                            epsilon,
                            delta,
                        )
                        .unwrap();
                        let spent = AccountantKind::Rdp.epsilon(&found.events, delta).unwrap();
                        assert_eq!(spent, found.epsilon);
                        assert!(spent <= asked && spent > 0.99 * asked, "{asked}: {spent}");
                    }
                }
            }
        }
    }

    #[test]
    fn grids_are_fine_against_noise_and_row() {
        for epsilon in [0.01, 1.0, 30.0] {
            let found = calibrate(
                &parts(),
                neighbours(Neighboring::AddRemoveOne),
                Noise::Laplace,
                Epsilon::new(epsilon).unwrap(),
                Delta::new(0.0).unwrap(),
            )
            .unwrap();
            for part in &found.parts[..2] {
                assert!(part.deviation() > 1000.0 && part.shift.steps > 1000, "{part:?}");
            }
            assert_eq!(found.parts[2].grid, 1, "counts are whole");
        }
    }

    #[test]
    fn sums_are_rounded_to_the_nearest_step() {
        assert_eq!(
            [-7, -6, -5, -2, 0, 1, 2, 5, 6].map(|sum| rounded(sum, 4)),
            [-2, -1, -1, 0, 0, 0, 1, 1, 2]
        );
        assert_eq!([-3, 0, 9].map(|sum| rounded(sum, 1)), [-3, 0, 9]);
        assert_eq!(rounded(i128::MAX / 2, 1), i64::MAX);
    }
}
