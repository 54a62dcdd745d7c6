//! What was read of a table's text columns, kept so that the next statistic need not parse them again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The latest reading of each column, by the column's place. A column of many distinct texts takes at least 16 bytes
/// a row in Arrow, its positions 8 more, its rows before 4.
#[derive(Debug, Default)]
pub(in crate::data) struct Kept {
    /// Positions of numbers; NaN is missing.
    pub positions: Readings<f64>,
    /// How many rows of the same text come before each.
    pub rows_before: Readings<u32>,
}

/// Readings of one type.
#[derive(Debug)]
pub(in crate::data) struct Readings<T>(Mutex<HashMap<usize, Reading<T>>>);

#[derive(Debug)]
struct Reading<T> {
    /// All that decides what is read of a cell.
    rule: String,
    cells: Arc<Vec<T>>,
}

impl<T> Default for Readings<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Readings<T> {
    /// The column's cells by this rule, read now unless they are the latest that was asked for.
    pub fn get(&self, column: usize, rule: String, read: impl FnOnce() -> Vec<T>) -> Arc<Vec<T>> {
        {
            let readings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = readings.get(&column).filter(|known| known.rule == rule) {
                return Arc::clone(&known.cells);
            }
        }
        // Not under the lock: readers of other columns go on meanwhile.
        let cells = Arc::new(read());
        let reading = Reading {
            rule,
            cells: Arc::clone(&cells),
        };
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(column, reading);
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_read_once_for_each_rule() {
        let readings = Readings::default();
        let mut times = 0;
        let mut get = |column, rule: &str| {
            let cells = readings.get(column, rule.to_owned(), || {
                times += 1;
                vec![times]
            });
            cells[0]
        };
        assert_eq!([get(0, "a"), get(0, "a"), get(1, "a"), get(0, "a")], [1, 1, 2, 1]);
        // Another rule takes the place of the first.
        assert_eq!([get(0, "b"), get(0, "b"), get(0, "a"), get(1, "a")], [3, 3, 4, 2]);
    }
}
