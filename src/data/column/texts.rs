//! Columns of any kind as text, numbered.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::Array as _;

use super::hash::Mixing;
use super::{NO_VALUE, chunks};
use crate::data::schema::Schema;
use crate::data::table::{Cells, cell, has_new_texts};
use crate::data::{DataError, Table};

/// The texts of a column, numbered in the order in which they are met.
#[derive(Clone, Debug, Default)]
pub struct NumberedTexts {
    /// Each row's text; [`NO_VALUE`] is a missing cell.
    pub rows: Vec<u32>,
    /// The distinct texts.
    pub texts: Vec<Arc<str>>,
}

impl NumberedTexts {
    /// Reads a column of any kind as text.
    ///
    /// # Errors
    /// When the table has no such column, or its rows lie in a file that cannot be read.
    pub fn read(table: &Table, schema: &Schema, name: &str) -> Result<Self, DataError> {
        let mut rows = Vec::with_capacity(table.rows());
        let mut texts: Vec<Arc<str>> = Vec::new();
        let mut numbers = HashMap::with_hasher(Mixing::new());
        let mut known = Vec::new();
        let mut known_of = None;
        let mut buffer = String::new();
        let mut number = |text: &str| {
            if schema.is_missing(text) {
                return NO_VALUE;
            }
            if let Some(&known) = numbers.get(text) {
                return known;
            }
            let text: Arc<str> = text.into();
            let next = texts.len() as u32;
            texts.push(Arc::clone(&text));
            numbers.insert(text, next);
            next
        };
        for array in chunks(table, name)? {
            let array = &array?;
            match Cells::of(array) {
                Cells::Keyed(keys, values) => {
                    if has_new_texts(array, &mut known_of) {
                        known = values
                            .iter()
                            .map(|text| text.map_or(NO_VALUE, &mut number))
                            .collect();
                    }
                    rows.extend(
                        keys.iter()
                            .map(|key| key.map_or(NO_VALUE, |key| known[key as usize])),
                    );
                }
                Cells::Plain(values) => {
                    rows.extend(values.iter().map(|text| text.map_or(NO_VALUE, &mut number)));
                }
                _ => rows.extend(
                    (0..array.len()).map(|row| cell(array, row, &mut buffer).map_or(NO_VALUE, &mut number)),
                ),
            }
        }
        Ok(Self { rows, texts })
    }
}
