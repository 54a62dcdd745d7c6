//! From noisy counts to what the generator is pulled towards. All of it is post-processing.

use burn::tensor::{Device, Tensor};

use super::layout::RowLayout;
use super::privatize::{ClassCounts, FineCounts};
use crate::model::{NamedTensor, WeightsError, find_tensor, matrix};

/// The marginals' name in files.
const MARGINALS: &str = "released.marginals";

/// Shares of every category of every feature, jointly with the label's.
#[derive(Clone, Debug, PartialEq)]
pub struct Marginals {
    classes: usize,
    /// `[classes, width]` row-major; the shares of a feature sum to 1 over its columns and all classes.
    shares: Vec<f64>,
}

impl Marginals {
    /// Projects each feature's noisy table onto the simplex. Shares are of the number of rows that the counts themselves
    /// tell, under noise: the true one may be private, and of persons' rows only those that count are in them.
    pub fn from_counts(counts: &ClassCounts, layout: &RowLayout) -> Self {
        let width = layout.width();
        let total: f64 = counts.counts.iter().sum();
        let rows = (total / layout.feature_count().max(1) as f64).max(1.0);
        let mut shares = vec![0.0; counts.counts.len()];
        for (_, block) in layout.features() {
            let cells = (0..counts.classes).flat_map(|class| {
                let start = class * width + block.offset;
                start..start + block.width
            });
            let cells: Vec<usize> = cells.collect();
            let table: Vec<f64> = cells.iter().map(|&cell| counts.counts[cell] / rows).collect();
            for (cell, share) in cells.into_iter().zip(project_to_simplex(&table)) {
                shares[cell] = share;
            }
        }
        Self {
            classes: counts.classes,
            shares,
        }
    }

    /// Takes the shares back from a file's tensors.
    ///
    /// # Errors
    /// When they are missing, or not those of the layout.
    pub fn restored(tensors: &[NamedTensor], layout: &RowLayout) -> Result<Self, WeightsError> {
        let classes = layout.label().map_or(1, |label| label.width);
        let shares = find_tensor(tensors, MARGINALS, [classes, layout.width()])?;
        Ok(Self {
            classes,
            shares: shares.iter().copied().map(f64::from).collect(),
        })
    }

    /// Each category's share, whatever the class; the label's categories get the mean that the features give
    /// them. Shape `[width]`.
    pub fn column_shares(&self, layout: &RowLayout) -> Vec<f64> {
        let width = layout.width();
        let mut columns = vec![0.0; width];
        for row in self.shares.chunks_exact(width) {
            columns.iter_mut().zip(row).for_each(|(sum, share)| *sum += share);
        }
        if let Some(label) = layout.label() {
            let features = layout.feature_count() as f64;
            for (class, row) in self.shares.chunks_exact(width).enumerate() {
                columns[label.offset + class] = row.iter().sum::<f64>() / features;
            }
        }
        columns
    }
}

/// The marginals' part of the generator's loss, on a device.
#[derive(Clone, Debug)]
pub struct MarginalLoss {
    /// `[classes, width]`.
    target: Tensor<2>,
    /// `[1, width]`: 1 on the columns of features.
    mask: Tensor<2>,
    label: Option<(usize, usize)>,
    weight: f64,
}

impl MarginalLoss {
    /// Puts the targets on a device.
    pub fn new(marginals: &Marginals, layout: &RowLayout, weight: f64, device: &Device) -> Self {
        let width = layout.width();
        let mut mask = vec![0.0; width];
        for (_, block) in layout.features() {
            mask[block.offset..block.offset + block.width].fill(1.0);
        }
        let target = marginals.shares.iter().map(|share| *share as f32).collect();
        Self {
            target: matrix(target, marginals.classes, width, device).autodiff(),
            mask: matrix(mask, 1, width, device).autodiff(),
            label: layout.label().map(|label| (label.offset, label.width)),
            weight,
        }
    }

    /// What the generator is pulled towards, as a file's tensor.
    pub fn tensor(&self) -> NamedTensor {
        NamedTensor::matrix(MARGINALS, &self.target.clone().inner())
    }

    /// `weight · Σ (S − p̃)²`, S the joint shares of class and category over a batch of probabilities. A row's
    /// categories are drawn independently given its latents, so the product of probabilities is their joint.
    ///
    /// # Shapes
    /// - probabilities: `[batch, width]`
    /// - out: `[1]`
    pub fn value(&self, probabilities: Tensor<2>) -> Tensor<1> {
        let [batch, _] = probabilities.dims();
        let shares = match self.label {
            None => probabilities.mean_dim(0),
            Some((offset, width)) => {
                let classes = probabilities.clone().narrow(1, offset, width);
                classes.transpose().matmul(probabilities).div_scalar(batch as f64)
            }
        };
        ((shares - self.target.clone()) * self.mask.clone())
            .square()
            .sum()
            .mul_scalar(self.weight)
    }
}

/// Weights of each column's fine cells: cells within two standard deviations of the noise count as empty.
pub fn fine_weights(counts: &FineCounts) -> Vec<Vec<f64>> {
    let floor = 2.0 * counts.deviation;
    let keep = |count: &f64| if *count >= floor { count.max(0.0) } else { 0.0 };
    counts
        .counts
        .iter()
        .map(|column| column.iter().map(keep).collect())
        .collect()
}

/// The nearest point (ℓ2) with non-negative coordinates that sum to 1 (Held, Wolfe, Crowder 1974).
pub fn project_to_simplex(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let mut sum = 0.0;
    let mut threshold = 0.0;
    for (index, value) in sorted.iter().enumerate() {
        sum += value;
        let candidate = (sum - 1.0) / (index + 1) as f64;
        if *value > candidate {
            threshold = candidate;
        }
    }
    values.iter().map(|value| (value - threshold).max(0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projections_lie_on_the_simplex_and_leave_it_alone() {
        assert_eq!(project_to_simplex(&[0.25, 0.75]), [0.25, 0.75]);
        assert_eq!(project_to_simplex(&[2.0, 0.0]), [1.0, 0.0]);
        for values in [vec![-0.3, 0.2, 0.9, 0.4], vec![0.0; 5], vec![-1.0, -2.0]] {
            let projected = project_to_simplex(&values);
            assert!(
                (projected.iter().sum::<f64>() - 1.0).abs() < 1e-12,
                "{projected:?}"
            );
            assert!(projected.iter().all(|share| *share >= 0.0));
        }
    }

    #[test]
    fn faint_cells_are_emptied() {
        let counts = FineCounts {
            counts: vec![vec![-3.0, 5.0, 100.0]],
            deviation: 4.0,
        };
        assert_eq!(fine_weights(&counts), [[0.0, 0.0, 100.0]]);
        let exact = FineCounts {
            counts: vec![vec![0.0, 1.0]],
            deviation: 0.0,
        };
        assert_eq!(fine_weights(&exact), [[0.0, 1.0]]);
    }
}
