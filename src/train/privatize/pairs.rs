//! The one look of `gem` at private rows: counts of every pair of categories of two columns, split by the label's
//! category, under noise.
//!
//! A row counts once in each pair of columns and once in each column by itself: in `J(J+1)/2` cells for `J` columns
//! beside the label. So the ℓ2 sensitivity of all counts together is `√(J(J+1)/2)` when a row comes, goes or is zeroed
//! out, and `√(J(J+1))` when one is replaced (each of those cells loses a row, another gains one). Noise of σ times
//! that on every cell is one Gaussian release of noise multiplier σ (Liu, Vietri & Wu 2021 release such marginals one
//! by one instead). The counts of a person with several rows are the sum of the rows', see
//! [`RowLayout::histogram_sensitivity`].

use super::{Account, Refusal, add_noise, histogram_deviation, histogram_event};
use crate::data::{StoreError, StoredRows};
use crate::num::{NoiseMultiplier, RandomSource};
use crate::privacy::Neighboring;
use crate::train::layout::RowLayout;

/// Noisy counts of pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct PairCounts {
    /// Categories of the label; 1 without a label.
    pub classes: usize,
    /// `[classes, width, width]` row-major over encoded columns: a category by itself on the diagonal, pairs of
    /// categories of two columns above it. All else stays 0.
    pub counts: Vec<f64>,
    /// The standard deviation of the noise in each cell.
    pub deviation: f64,
}

/// The most that all counts together can differ between neighbours, in ℓ2 norm.
pub fn sensitivity(layout: &RowLayout, neighboring: Neighboring) -> f64 {
    let columns = layout.feature_count();
    layout.histogram_sensitivity(columns * (columns + 1) / 2, neighboring)
}

/// Noisy pair counts, charged as one Gaussian event. Without a promise: the plain counts.
///
/// # Errors
/// When they would pass the budget; nothing has been counted then. When the rows are kept in a file that cannot be read.
pub fn pairs(
    account: &mut Account,
    rows: &StoredRows,
    layout: &RowLayout,
    noise: Option<NoiseMultiplier>,
    random: &mut RandomSource,
) -> Result<PairCounts, Refusal> {
    let deviation = histogram_deviation(account, noise, |budget| sensitivity(layout, budget.neighboring));
    account.charge(histogram_event(noise), || {
        let mut counts = counted(rows, layout)?;
        let (classes, width) = (counts.classes, layout.width());
        for class in 0..classes {
            let table = &mut counts.counts[class * width * width..(class + 1) * width * width];
            for (at, (_, first)) in layout.features().enumerate() {
                for code in first.offset..first.offset + first.width {
                    let row = &mut table[code * width..(code + 1) * width];
                    add_noise(&mut row[code..=code], deviation, random);
                    for (_, second) in layout.features().skip(at + 1) {
                        let cells = second.offset..second.offset + second.width;
                        add_noise(&mut row[cells], deviation, random);
                    }
                }
            }
        }
        Ok(PairCounts { deviation, ..counts })
    })?
}

/// The plain counts.
fn counted(rows: &StoredRows, layout: &RowLayout) -> Result<PairCounts, StoreError> {
    let width = layout.width();
    let classes = layout.label().map_or(1, |label| label.width);
    let mut counts = vec![0.0; classes * width * width];
    let features: Vec<_> = layout.features().collect();
    let mut places = vec![0; features.len()];
    rows.each_piece(|piece| {
        for row in piece.codes.chunks_exact(layout.one_hot().len().max(1)) {
            let class = layout.label_index().map_or(0, |label| usize::from(row[label]));
            let table = &mut counts[class * width * width..(class + 1) * width * width];
            for (place, (index, block)) in places.iter_mut().zip(&features) {
                *place = block.offset + usize::from(row[*index]);
            }
            for (at, first) in places.iter().enumerate() {
                let cells = &mut table[first * width..(first + 1) * width];
                for second in &places[at..] {
                    cells[*second] += 1.0;
                }
            }
        }
    })?;
    Ok(PairCounts {
        classes,
        counts,
        deviation: 0.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{EncodedRows, EncoderSettings, RowEncoder};
    use crate::num::{Delta, Epsilon};
    use crate::privacy::AccountantKind;
    use crate::train::budget::Budget;
    use crate::train::testing::{encoder, rows, schema};

    /// A false alarm in any of a test's comparisons has probability at most 1e-6.
    const DEVIATIONS: f64 = 6.0;

    fn layout() -> RowLayout {
        RowLayout::new(&schema(), &encoder()).unwrap()
    }

    fn plain(rows: &EncodedRows) -> PairCounts {
        counted(&rows.clone().into(), &layout()).unwrap()
    }

    fn norm(one: &PairCounts, other: &PairCounts) -> f64 {
        let squares = one.counts.iter().zip(&other.counts).map(|(a, b)| (a - b).powi(2));
        squares.sum::<f64>().sqrt()
    }

    #[test]
    fn neighbours_differ_by_the_sensitivity_at_most() {
        let layout = layout();
        let all = rows(200);
        let without: Vec<usize> = (1..200).collect();
        let moved = norm(&plain(&all), &plain(&all.select(&without)));
        assert!(
            (moved - sensitivity(&layout, Neighboring::AddRemoveOne)).abs() < 1e-12,
            "{moved}"
        );
        for other in 1..200 {
            // The first row becomes a copy of another.
            let mut replaced: Vec<usize> = (0..200).collect();
            replaced[0] = other;
            let moved = norm(&plain(&all), &plain(&all.select(&replaced)));
            assert!(
                moved <= sensitivity(&layout, Neighboring::ReplaceOne) + 1e-12,
                "{moved}"
            );
        }
    }

    #[test]
    fn counts_are_those_of_the_rows() {
        let (layout, all) = (layout(), rows(500));
        let counts = plain(&all);
        let width = layout.width();
        let label = layout.label_index().unwrap();
        for (first, a) in layout.features() {
            for (second, b) in layout.features().filter(|(index, _)| *index > first) {
                for class in 0..counts.classes {
                    for (x, y) in [(0, 0), (a.width - 1, b.width - 1), (1, 2)] {
                        let expected = all
                            .codes
                            .chunks_exact(layout.one_hot().len())
                            .filter(|row| {
                                usize::from(row[first]) == x
                                    && usize::from(row[second]) == y
                                    && usize::from(row[label]) == class
                            })
                            .count();
                        let cell = class * width * width + (a.offset + x) * width + b.offset + y;
                        assert_eq!(counts.counts[cell], expected as f64);
                    }
                }
            }
        }
        let diagonal: f64 = (0..width).map(|at| counts.counts[at * width + at]).sum();
        let second: f64 = (0..width)
            .map(|at| counts.counts[(width + at) * width + at])
            .sum();
        assert_eq!(diagonal + second, 500.0 * layout.feature_count() as f64);
    }

    #[test]
    fn every_released_cell_has_noise_of_the_planned_deviation_and_no_other_has() {
        let layout = layout();
        let all = rows(300);
        let budget = Budget {
            epsilon: Epsilon::new(50.0).unwrap(),
            delta: Delta::new(1e-5).unwrap(),
            neighboring: Neighboring::AddRemoveOne,
        };
        let mut account = Account::of(Some(budget), AccountantKind::Pld);
        let noise = NoiseMultiplier::new(2.0).unwrap();
        let mut random = RandomSource::seeded(5);
        let released = pairs(
            &mut account,
            &all.clone().into(),
            &layout,
            Some(noise),
            &mut random,
        )
        .unwrap();
        assert_eq!(account.executed().events.len(), 1);
        let plain = plain(&all);
        let mut square = 0.0;
        let mut cells = 0.0;
        for (at, (noisy, exact)) in released.counts.iter().zip(&plain.counts).enumerate() {
            let width = layout.width();
            let (row, column) = (at / width % width, at % width);
            let block = |code: usize| {
                layout
                    .features()
                    .find(|(_, block)| (block.offset..block.offset + block.width).contains(&code))
                    .map(|(index, _)| index)
            };
            let is_released = match (block(row), block(column)) {
                (Some(first), Some(second)) => row == column || first < second,
                _ => false,
            };
            if is_released {
                square += ((noisy - exact) / released.deviation).powi(2);
                cells += 1.0;
            } else {
                assert_eq!((*noisy, *exact), (0.0, 0.0));
            }
        }
        let expected = 2.0 * sensitivity(&layout, Neighboring::AddRemoveOne);
        assert!((released.deviation - expected).abs() < 1e-12);
        // χ² with as many degrees of freedom as cells.
        let missed = (square - cells) / (2.0 * cells).sqrt();
        assert!(missed.abs() < DEVIATIONS, "{missed}");
    }

    #[test]
    fn a_release_over_the_budget_is_refused_unseen() {
        let budget = Budget {
            epsilon: Epsilon::new(0.1).unwrap(),
            delta: Delta::new(1e-5).unwrap(),
            neighboring: Neighboring::AddRemoveOne,
        };
        let mut account = Account::of(Some(budget), AccountantKind::Pld);
        let noise = NoiseMultiplier::new(1.0).unwrap();
        let mut random = RandomSource::seeded(5);
        let encoder = RowEncoder::new(&schema(), &EncoderSettings::default()).unwrap();
        let layout = RowLayout::new(&schema(), &encoder).unwrap();
        let refused = pairs(&mut account, &rows(50).into(), &layout, Some(noise), &mut random);
        assert!(matches!(refused, Err(Refusal::OverBudget { .. })));
        assert!(account.executed().events.is_empty());
    }
}
