//! Bins of a number line, and the finer cells inside them.

use std::ops::Range;

use super::axis::Axis;
use crate::data::schema::Scale;

/// Up to this range, every point of a grid is a fine cell of its own.
const MAX_POINT_CELLS: f64 = 128.0;
/// Fine cells of a bin otherwise.
const CELLS_PER_BIN: usize = 5;
/// Codes are 16 bits wide.
const MAX_CELLS: usize = 60_000;

/// The bins of one numeric column and their fine cells. A cell lies in exactly one bin, a bin holds at least one
/// cell, and every cell at least one value.
#[derive(Clone, Debug, PartialEq)]
pub struct FineLayout {
    /// The column's index in the schema.
    pub column: usize,
    /// Lower edges of the cells in positions, then the end of the last.
    edges: Vec<f64>,
    /// The first cell of each bin, then the number of cells.
    starts: Vec<usize>,
    is_grid: bool,
}

impl FineLayout {
    /// Bins by declared edges (in the column's values) if given, else at most `bins` equal ones on the axis's
    /// scale.
    pub(super) fn new(column: usize, axis: &Axis, declared: Option<&[f64]>, bins: usize) -> Self {
        let starts = match declared {
            Some(edges) => declared_starts(axis, edges),
            None => equal_starts(axis, bins.max(1)),
        };
        Self::with_cells(column, axis, &starts)
    }

    fn with_cells(column: usize, axis: &Axis, bin_edges: &[f64]) -> Self {
        let is_grid = axis.is_grid();
        // The end of a grid's last cell is one step on, a real line's is its upper bound itself.
        let end = if is_grid { axis.upper + 1.0 } else { axis.upper };
        let by_point = is_grid && axis.upper - axis.lower <= MAX_POINT_CELLS;
        let most = if bin_edges.len() * CELLS_PER_BIN <= MAX_CELLS {
            CELLS_PER_BIN
        } else {
            1
        };
        let (mut edges, mut starts) = (Vec::new(), Vec::new());
        for (index, &low) in bin_edges.iter().enumerate() {
            let high = bin_edges.get(index + 1).copied().unwrap_or(end);
            starts.push(edges.len());
            let count = match (by_point, is_grid) {
                (true, _) => (high - low) as usize,
                (false, true) => most.min((high - low) as usize),
                (false, false) => most,
            };
            for part in 0..count.max(1) {
                let edge = low + (high - low) * (part as f64 / count.max(1) as f64);
                let edge = if is_grid { edge.round() } else { edge };
                // Bins too narrow for a double to divide stay whole.
                if part == 0 || (edge > edges.last().copied().unwrap_or(f64::NEG_INFINITY) && edge < high) {
                    edges.push(edge);
                }
            }
        }
        starts.push(edges.len());
        edges.push(end);
        Self {
            column,
            edges,
            starts,
            is_grid,
        }
    }

    /// The number of bins.
    pub fn bins(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of cells in all.
    pub fn cells(&self) -> usize {
        self.edges.len() - 1
    }

    /// The cells of a bin.
    pub fn cells_of(&self, bin: usize) -> Range<usize> {
        self.starts[bin]..self.starts[bin + 1]
    }

    /// The bin that holds a cell.
    pub fn bin_of(&self, cell: usize) -> usize {
        self.starts.partition_point(|&start| start <= cell) - 1
    }

    /// How much of the line a cell covers: steps of a grid, length otherwise. A uniform draw weighs by it.
    pub fn size_of(&self, cell: usize) -> f64 {
        self.edges[cell + 1] - self.edges[cell]
    }

    /// The cell that holds a position within the bounds.
    pub(super) fn cell_at(&self, position: f64) -> usize {
        let inner = &self.edges[1..self.edges.len() - 1];
        inner.partition_point(|&edge| edge <= position)
    }

    /// The first and last position of a cell (of a real line's cell: its end, not included unless last).
    pub(super) fn ends_of(&self, cell: usize) -> (f64, f64) {
        let step = if self.is_grid { 1.0 } else { 0.0 };
        (self.edges[cell], self.edges[cell + 1] - step)
    }

    /// A position inside a cell, from a uniform number in [0, 1).
    pub(super) fn draw(&self, cell: usize, uniform: f64) -> f64 {
        let (low, high) = (self.edges[cell], self.edges[cell + 1]);
        if self.is_grid {
            return (low + (uniform * (high - low)).floor()).min(high - 1.0);
        }
        let position = low + uniform * (high - low);
        // Rounding may reach the next cell's edge.
        if position < high || low >= high {
            position
        } else {
            low
        }
    }
}

/// Lower edges, in positions, of bins declared in values.
fn declared_starts(axis: &Axis, edges: &[f64]) -> Vec<f64> {
    let mut starts = vec![axis.lower];
    for &edge in edges.get(1..edges.len().saturating_sub(1)).unwrap_or_default() {
        let position = match axis.of_number(edge) {
            // A step that reads as the edge or more belongs to the bin above it.
            Some(position) if axis.is_grid() && axis.to_number(position) < edge => position + 1.0,
            Some(position) => position,
            None => continue,
        };
        push_rising(&mut starts, position, axis);
    }
    starts
}

/// Lower edges, in positions, of equal bins on the axis's scale; one a point on short grids.
fn equal_starts(axis: &Axis, bins: usize) -> Vec<f64> {
    let range = axis.upper - axis.lower;
    if axis.is_grid() && range <= bins as f64 {
        return (0..=range as usize)
            .map(|step| axis.lower + step as f64)
            .collect();
    }
    let mut starts = vec![axis.lower];
    let mut parts = bins;
    if axis.scale == Scale::Log && axis.lower == 0.0 {
        // Zero is a bin of its own.
        push_rising(
            &mut starts,
            if axis.is_grid() { 1.0 } else { f64::MIN_POSITIVE },
            axis,
        );
        parts = bins.saturating_sub(1).max(1);
    }
    for part in 1..parts {
        let position = if axis.is_grid() && axis.scale == Scale::Linear {
            axis.lower + ((range + 1.0) * part as f64 / parts as f64).round()
        } else {
            let position = axis.at_share(part as f64 / parts as f64);
            if axis.is_grid() {
                (position - 1e-9).ceil()
            } else {
                position
            }
        };
        push_rising(&mut starts, position, axis);
    }
    starts
}

/// Adds an edge unless the bin below it would hold nothing.
fn push_rising(starts: &mut Vec<f64>, position: f64, axis: &Axis) {
    let last = starts.last().copied().unwrap_or(axis.lower);
    let is_inside = if axis.is_grid() {
        position <= axis.upper
    } else {
        position < axis.upper
    };
    if position > last && is_inside {
        starts.push(position);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::schema::{Column, Kind};

    fn layout(column: &Column) -> (Axis, FineLayout) {
        let axis = Axis::new(column).unwrap();
        let layout = FineLayout::new(0, &axis, column.bins.as_deref(), 20);
        (axis, layout)
    }

    fn integer(lower: i64, upper: i64) -> Column {
        Column::new("x", Kind::Integer).with_bounds(lower, upper)
    }

    #[test]
    fn short_ranges_have_a_bin_a_value_and_middling_ones_a_cell_a_value() {
        let (_, short) = layout(&integer(0, 20));
        assert_eq!((short.bins(), short.cells()), (21, 21));
        let (_, middling) = layout(&integer(0, 128));
        assert_eq!((middling.bins(), middling.cells()), (20, 129));
        let (_, long) = layout(&integer(0, 129));
        assert_eq!((long.bins(), long.cells()), (20, 100));
        let (_, constant) = layout(&integer(7, 7));
        assert_eq!((constant.bins(), constant.cells()), (1, 1));
    }

    #[test]
    fn zero_is_alone_on_a_log_scale() {
        let (axis, gain) = layout(&integer(0, 99_999).with_scale(Scale::Log));
        assert_eq!(gain.cells_of(0), 0..1);
        assert_eq!(gain.ends_of(0), (0.0, 0.0));
        assert!((15..=20).contains(&gain.bins()), "{}", gain.bins());
        assert_eq!(gain.bin_of(gain.cell_at(axis.upper)), gain.bins() - 1);
        let real = Column::new("x", Kind::Continuous)
            .with_bounds(0, 500)
            .with_scale(Scale::Log);
        let (_, real) = layout(&real);
        assert_eq!(real.bins(), 20);
        let zero = real.cells_of(0);
        assert!(zero.clone().all(|cell| real.draw(cell, 0.999) < 1e-300));
        assert!(real.bin_of(real.cell_at(1e-12)) == 1);
        assert!(zero.contains(&real.cell_at(0.0)));
    }

    #[test]
    fn every_cell_draws_values_of_its_own() {
        let mut fine = Column::new("x", Kind::Continuous).with_bounds(-2.6, 6.2);
        fine.decimals = Some(1);
        let mut declared = Column::new("x", Kind::Continuous);
        declared.bins = Some(vec![0.0, 0.15, 18.0, 65.5, 120.0]);
        let mut coarse = declared.clone();
        coarse.decimals = Some(1);
        let columns = [
            integer(0, 20),
            integer(17, 90),
            integer(-500, 5000),
            integer(0, 99_999).with_scale(Scale::Log),
            integer(3, 1_484_705).with_scale(Scale::Log),
            Column::new("x", Kind::Continuous).with_bounds(-1.5, 2.25),
            Column::new("x", Kind::Continuous)
                .with_bounds(0, 1e9)
                .with_scale(Scale::Log),
            Column::new("x", Kind::Continuous)
                .with_bounds(1e-6, 1e9)
                .with_scale(Scale::Log),
            Column::new("x", Kind::Continuous).with_bounds(1.0, 1.0 + 1e-15),
            Column::new("x", Kind::Date).with_bounds("1900-01-01", "2024-12-31"),
            fine,
            declared,
            coarse,
        ];
        for column in &columns {
            let (axis, layout) = layout(column);
            for cell in 0..layout.cells() {
                for uniform in [0.0, 0.3, 0.77, 1.0 - 1e-16] {
                    let position = layout.draw(cell, uniform);
                    assert!(
                        (axis.lower..=axis.upper).contains(&position),
                        "{column:?} {cell} {position}"
                    );
                    assert_eq!(layout.cell_at(position), cell, "{column:?} at {position}");
                }
                assert!(layout.cells_of(layout.bin_of(cell)).contains(&cell));
            }
            assert_eq!(layout.cell_at(axis.lower), 0);
            assert_eq!(layout.cell_at(axis.upper), layout.cells() - 1);
        }
    }

    #[test]
    fn declared_bins_are_kept() {
        let mut column = integer(0, 120);
        column.bins = Some(vec![0.0, 18.0, 65.0, 120.0]);
        let (_, layout) = layout(&column);
        assert_eq!(layout.bins(), 3);
        let bin = |value| layout.bin_of(layout.cell_at(value));
        assert_eq!([0.0, 17.0, 18.0, 64.0, 65.0, 120.0].map(bin), [0, 0, 1, 1, 2, 2]);
    }
}
