//! Precision and recall of a generator (Kynkäänniemi et al. 2019): whether its images lie among the real ones, and
//! whether the real ones lie among its own.
//!
//! Around each image of one side lies a ball that reaches to its third nearest neighbour on the same side; an image of
//! the other side is covered if it lies in one of these balls.

use nalgebra::DMatrix;

use super::Features;

/// The neighbour to which a ball reaches.
const NEIGHBOUR: usize = 3;

/// Counts of images that are covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrecisionRecall {
    /// Generated images among real ones.
    pub precise: usize,
    /// Generated images in all.
    pub synthetic: usize,
    /// Real images among generated ones.
    pub recalled: usize,
    /// Real images in all.
    pub real: usize,
}

/// Counts which images lie among those of the other side.
pub fn precision_recall(real: &Features, made: &Features) -> PrecisionRecall {
    let (one, other) = (columns(real), columns(made));
    // From each real image to each generated one.
    let between = distances(&one, &other);
    let (real_reach, made_reach) = (reaches(&one), reaches(&other));
    let precise = (0..other.ncols())
        .filter(|made| (0..one.ncols()).any(|real| between[(real, *made)] <= real_reach[real]))
        .count();
    let recalled = (0..one.ncols())
        .filter(|real| (0..other.ncols()).any(|made| between[(*real, made)] <= made_reach[made]))
        .count();
    PrecisionRecall {
        precise,
        synthetic: other.ncols(),
        recalled,
        real: one.ncols(),
    }
}

fn columns(features: &Features) -> DMatrix<f32> {
    DMatrix::from_column_slice(features.width, features.count(), &features.values)
}

/// Squared distances of all columns of one to all of the other: `|x|² + |y|² − 2x·y`.
fn distances(one: &DMatrix<f32>, other: &DMatrix<f32>) -> DMatrix<f32> {
    let squares = |columns: &DMatrix<f32>| -> Vec<f32> {
        columns
            .column_iter()
            .map(|column| column.norm_squared())
            .collect()
    };
    let (rows, columns) = (squares(one), squares(other));
    let mut distances = one.transpose() * other;
    for (index, mut column) in distances.column_iter_mut().enumerate() {
        for (value, row) in column.iter_mut().zip(&rows) {
            *value = (row + columns[index] - 2.0 * *value).max(0.0);
        }
    }
    distances
}

/// The squared distance of each column to its third nearest neighbour.
fn reaches(columns: &DMatrix<f32>) -> Vec<f32> {
    let distances = distances(columns, columns);
    distances
        .column_iter()
        .map(|column| {
            let mut values: Vec<f32> = column.iter().copied().collect();
            // The nearest of all is the image itself.
            let rank = NEIGHBOUR.min(values.len() - 1);
            *values.select_nth_unstable_by(rank, f32::total_cmp).1
        })
        .collect()
}
