//! From noisy counts of pairs to what the generator is pulled towards. All of it is post-processing.

use burn::tensor::{Device, Tensor};

use crate::model::{NamedTensor, WeightsError, find_tensor, matrix, read};
use crate::train::layout::RowLayout;
use crate::train::privatize::PairCounts;
use crate::train::targets::project_to_simplex;

/// The released pairs' name in files.
const PAIRS: &str = "released.pairs";

/// Shares of every pair of categories, jointly with the label's.
#[derive(Clone, Debug, PartialEq)]
pub struct PairShares {
    classes: usize,
    width: usize,
    /// `[classes, width, width]`, as the counts are.
    shares: Vec<f64>,
}

impl PairShares {
    /// Counts over the number of rows that they themselves tell: each column's categories add up to it, under noise.
    pub fn from_counts(counts: &PairCounts, layout: &RowLayout) -> Self {
        let width = layout.width();
        let columns = layout.feature_count().max(1) as f64;
        let diagonal: f64 = (counts.counts.chunks_exact(width * width))
            .map(|table| (0..width).map(|at| table[at * width + at]).sum::<f64>())
            .sum();
        let rows = (diagonal / columns).max(1.0);
        Self {
            classes: counts.classes,
            width,
            shares: counts.counts.iter().map(|count| count / rows).collect(),
        }
    }

    /// Takes the shares back from a file's tensors.
    ///
    /// # Errors
    /// When they are missing, or not those of the layout.
    pub fn restored(tensors: &[NamedTensor], layout: &RowLayout) -> Result<Self, WeightsError> {
        let width = layout.width();
        let classes = layout.label().map_or(1, |label| label.width);
        let shares = find_tensor(tensors, PAIRS, [classes * width, width])?;
        Ok(Self {
            classes,
            width,
            shares: shares.iter().copied().map(f64::from).collect(),
        })
    }

    /// Each category's share: of a column's, those of all classes together; of the label's, the mean that the columns
    /// give them. Shape `[width]`.
    pub fn column_shares(&self, layout: &RowLayout) -> Vec<f64> {
        let width = self.width;
        let mut columns = vec![0.0; width];
        let mut by_class = Vec::new();
        for table in self.shares.chunks_exact(width * width) {
            let diagonal = (0..width).map(|at| table[at * width + at]);
            let mut sum = 0.0;
            for (column, share) in columns.iter_mut().zip(diagonal) {
                *column += share;
                sum += share;
            }
            by_class.push(sum / layout.feature_count().max(1) as f64);
        }
        if let Some(label) = layout.label() {
            columns[label.offset..label.offset + label.width].copy_from_slice(&by_class);
        }
        for block in layout.one_hot() {
            let cells = &mut columns[block.offset..block.offset + block.width];
            let projected = project_to_simplex(cells);
            cells.copy_from_slice(&projected);
        }
        columns
    }
}

/// The distance of a generator's pairs from the released ones, on a device.
#[derive(Clone, Debug)]
pub struct PairLoss {
    /// Of each class: `[width, width]`, symmetric, 0 within a column.
    pairs: Vec<Tensor<2>>,
    /// Of each class: `[1, width]`.
    single: Vec<Tensor<2>>,
    /// `[width, width]`: 1 where two columns meet.
    pair_mask: Tensor<2>,
    /// `[1, width]`: 1 on the columns that pairs were counted of.
    single_mask: Tensor<2>,
    label: Option<(usize, usize)>,
    weight: f64,
}

/// What part of a batch says: its mean pairs and single columns, class by class.
pub struct PairMeans {
    /// Of each class: `[width, width]`.
    joint: Vec<Tensor<2>>,
    /// Of each class: `[1, width]`.
    single: Vec<Tensor<2>>,
}

impl PairMeans {
    /// The means of equally large parts together.
    pub fn of_parts(parts: Vec<Self>) -> Option<Self> {
        let share = 1.0 / parts.len() as f64;
        let sum = |mut one: Vec<Tensor<2>>, other: Vec<Tensor<2>>| {
            for (sum, more) in one.iter_mut().zip(other) {
                *sum = sum.clone() + more;
            }
            one
        };
        let total = parts.into_iter().reduce(|one, other| Self {
            joint: sum(one.joint, other.joint),
            single: sum(one.single, other.single),
        })?;
        let scaled = |tensors: Vec<Tensor<2>>| {
            let scaled = tensors.into_iter().map(|tensor| tensor.mul_scalar(share));
            scaled.collect()
        };
        Some(Self {
            joint: scaled(total.joint),
            single: scaled(total.single),
        })
    }
}

/// The loss of a batch, and what its slope is made from.
pub struct PairDistance {
    /// Shape `[1]`.
    pub value: Tensor<1>,
    /// `S − M` of each class, `[width, width]`.
    joint: Vec<Tensor<2>>,
    /// `s − m` of each class, `[1, width]`.
    single: Vec<Tensor<2>>,
}

impl PairLoss {
    /// Puts the targets on a device.
    pub fn new(shares: &PairShares, layout: &RowLayout, weight: f64, device: &Device) -> Self {
        let width = layout.width();
        let mut pair_mask = vec![0.0; width * width];
        let mut single_mask = vec![0.0; width];
        for (index, block) in layout.features() {
            single_mask[block.offset..block.offset + block.width].fill(1.0);
            for (_, other) in layout.features().filter(|(other, _)| *other != index) {
                for row in block.offset..block.offset + block.width {
                    let start = row * width + other.offset;
                    pair_mask[start..start + other.width].fill(1.0);
                }
            }
        }
        let (mut pairs, mut single) = (Vec::new(), Vec::new());
        for table in shares.shares.chunks_exact(width * width) {
            let mut symmetric = vec![0.0_f32; width * width];
            for row in 0..width {
                for column in row + 1..width {
                    let share = table[row * width + column] as f32;
                    symmetric[row * width + column] = share;
                    symmetric[column * width + row] = share;
                }
            }
            let diagonal = (0..width).map(|at| table[at * width + at] as f32).collect();
            pairs.push(matrix(symmetric, width, width, device));
            single.push(matrix(diagonal, 1, width, device));
        }
        Self {
            pairs,
            single,
            pair_mask: matrix(pair_mask, width, width, device),
            single_mask: matrix(single_mask, 1, width, device),
            label: layout.label().map(|label| (label.offset, label.width)),
            weight,
        }
    }

    /// The targets as a file's tensor: pairs above the diagonal, single columns on it.
    pub fn tensor(&self) -> NamedTensor {
        let width = self.pair_mask.dims()[0];
        let mut values = Vec::with_capacity(self.pairs.len() * width * width);
        for (pairs, single) in self.pairs.iter().zip(&self.single) {
            let start = values.len();
            values.extend(read(pairs.clone()));
            for (at, share) in read(single.clone()).into_iter().enumerate() {
                values[start + at * width + at] = share;
            }
        }
        NamedTensor {
            name: PAIRS.to_owned(),
            shape: [self.pairs.len() * width, width],
            values,
        }
    }

    /// `S_c = mean p_c · p pᵀ` and `s_c = mean p_c · p` over part of a batch, p_c the probability of class c (1 without
    /// a label). A row's categories are drawn independently given its latents, so products of probabilities are their
    /// joint.
    ///
    /// # Shapes
    /// - probabilities: `[batch, width]`, not tracked
    pub fn means(&self, probabilities: &Tensor<2>) -> PairMeans {
        let share = 1.0 / probabilities.dims()[0] as f64;
        let transposed = probabilities.clone().transpose();
        let (mut joint, mut single) = (Vec::new(), Vec::new());
        for class in 0..self.pairs.len() {
            let weighted = match self.member(probabilities, class) {
                Some(member) => probabilities.clone() * member,
                None => probabilities.clone(),
            };
            joint.push(transposed.clone().matmul(weighted.clone()).mul_scalar(share));
            single.push(weighted.mean_dim(0));
        }
        PairMeans { joint, single }
    }

    /// `weight · Σ_c (‖S_c − M_c‖² over pairs of columns + ‖s_c − m_c‖² over single ones)`.
    pub fn distance(&self, means: PairMeans) -> PairDistance {
        let apart = |means: Vec<Tensor<2>>, targets: &[Tensor<2>], mask: &Tensor<2>| -> Vec<Tensor<2>> {
            let apart = means.into_iter().zip(targets);
            apart
                .map(|(mean, target)| (mean - target.clone()) * mask.clone())
                .collect()
        };
        let joint = apart(means.joint, &self.pairs, &self.pair_mask);
        let single = apart(means.single, &self.single, &self.single_mask);
        let squares = joint
            .iter()
            .chain(&single)
            .map(|apart| apart.clone().square().sum());
        let value = squares.reduce(|sum, more| sum + more);
        let value = value.unwrap_or_else(|| Tensor::zeros([1], &self.single_mask.device()));
        PairDistance {
            value: value.mul_scalar(self.weight),
            joint,
            single,
        }
    }

    /// The slope of the loss of a whole batch by the probabilities of part of it.
    ///
    /// With `E = 2·weight·(S − M)`, `e` alike on single columns and `F = P E`, the slope by `p` is
    /// `p_c (2F + e) / batch` and that by `p_c` is `Σ p (F + e) / batch`, row by row.
    ///
    /// # Shapes
    /// - probabilities: `[part, width]`, not tracked
    /// - out: `[part, width]`
    pub fn slope(&self, distance: &PairDistance, probabilities: &Tensor<2>, batch: usize) -> Tensor<2> {
        let [part, width] = probabilities.dims();
        let factor = 2.0 * self.weight / batch as f64;
        let zeros = |columns: usize| Tensor::<2>::zeros([part, columns], &probabilities.device());
        let (mut slope, mut by_class): (Option<Tensor<2>>, _) = (None, Vec::new());
        for (class, (joint, single)) in distance.joint.iter().zip(&distance.single).enumerate() {
            let flow = probabilities.clone().matmul(joint.clone()).mul_scalar(factor);
            let both = flow.clone() + single.clone().mul_scalar(factor);
            let mut own = flow + both.clone();
            if let Some(member) = self.member(probabilities, class) {
                own = own * member;
                by_class.push((probabilities.clone() * both).sum_dim(1));
            }
            slope = Some(match slope {
                Some(sum) => sum + own,
                None => own,
            });
        }
        let slope = slope.unwrap_or_else(|| zeros(width));
        let Some((offset, classes)) = self.label else {
            return slope;
        };
        let mut parts = Vec::new();
        if offset > 0 {
            parts.push(zeros(offset));
        }
        parts.extend(by_class);
        if offset + classes < width {
            parts.push(zeros(width - offset - classes));
        }
        slope + Tensor::cat(parts, 1)
    }

    /// The probability of a class, row by row: `[batch, 1]`; none without a label.
    fn member(&self, probabilities: &Tensor<2>, class: usize) -> Option<Tensor<2>> {
        let (offset, _) = self.label?;
        Some(probabilities.clone().narrow(1, offset + class, 1))
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::model::{DeviceKind, read};
    use crate::num::RandomSource;
    use crate::privacy::AccountantKind;
    use crate::train::privatize::{Account, pairs};
    use crate::train::testing::{encoder, rows, schema};

    fn shares(layout: &RowLayout) -> PairShares {
        let mut account = Account::of(None, AccountantKind::Pld);
        let mut random = RandomSource::seeded(1);
        let counts = pairs(&mut account, &rows(400).into(), layout, None, &mut random).unwrap();
        PairShares::from_counts(&counts, layout)
    }

    fn value(distance: &PairDistance) -> f64 {
        f64::from(read(distance.value.clone())[0])
    }

    #[test]
    fn the_rows_themselves_are_at_no_distance() {
        let layout = RowLayout::new(&schema(), &encoder()).unwrap();
        let device = DeviceKind::Flex.open().unwrap();
        let loss = PairLoss::new(&shares(&layout), &layout, 100.0, &device);
        let table = rows(400);
        let mut dense = vec![0.0; 400 * layout.width()];
        table.write_dense(&(0..400).collect::<Vec<_>>(), &mut dense);
        let dense = matrix(dense, 400, layout.width(), &device);
        assert!(value(&loss.distance(loss.means(&dense))) < 1e-8);
        // The shares of each column add up to 1.
        let columns = shares(&layout).column_shares(&layout);
        for block in layout.one_hot() {
            let sum: f64 = columns[block.offset..block.offset + block.width].iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        }
    }

    #[test]
    fn the_slope_is_that_of_the_loss_with_and_without_a_label() {
        for labelled in [true, false] {
            let mut schema = schema();
            if !labelled {
                schema.label = None;
            }
            let layout = RowLayout::new(&schema, &encoder()).unwrap();
            for kind in DeviceKind::ALL {
                let device = match kind.open() {
                    Ok(device) => device,
                    Err(error) => {
                        println!("skipped on {kind}: {error}");
                        continue;
                    }
                };
                let loss = PairLoss::new(&shares(&layout), &layout, 3.0, &device);
                let (batch, width) = (6, layout.width());
                let mut random = RandomSource::seeded(2);
                let start: Vec<f32> = (0..batch * width).map(|_| random.random::<f32>()).collect();
                // Two parts of one batch, as a run takes them.
                let halves = |values: &[f32]| {
                    let halves = values.chunks_exact(batch / 2 * width);
                    let halves = halves.map(|half| matrix(half.to_vec(), batch / 2, width, &device));
                    halves.collect::<Vec<_>>()
                };
                let at = |values: &[f32]| {
                    let means = halves(values).iter().map(|half| loss.means(half)).collect();
                    loss.distance(PairMeans::of_parts(means).unwrap())
                };
                let distance = at(&start);
                let slope: Vec<f32> = halves(&start)
                    .iter()
                    .flat_map(|half| read(loss.slope(&distance, half, batch)))
                    .collect();
                for place in (0..batch * width).step_by(5) {
                    let moved = |shift: f32| {
                        let mut values = start.clone();
                        values[place] += shift;
                        value(&at(&values))
                    };
                    let step = 1e-2;
                    let numeric = (moved(step) - moved(-step)) / f64::from(2.0 * step);
                    let found = f64::from(slope[place]);
                    assert!(
                        (found - numeric).abs() < 2e-2 * (1.0 + numeric.abs()),
                        "{kind} {place}: {found} {numeric}"
                    );
                }
            }
        }
    }
}
