//! Columns of any kind as text, numbered.

use std::borrow::Cow;
use std::collections::HashMap;

use arrow::array::Array as _;

use super::hash::Mixing;
use super::{NO_VALUE, chunks};
use crate::data::schema::Schema;
use crate::data::table::{Cells, cell};
use crate::data::{DataError, Table};

/// The texts of a column, numbered in the order in which they are met.
#[derive(Clone, Debug, Default)]
pub struct NumberedTexts<'a> {
    /// Each row's text; [`NO_VALUE`] is a missing cell.
    pub rows: Vec<u32>,
    /// The distinct texts.
    pub texts: Vec<Cow<'a, str>>,
}

impl<'a> NumberedTexts<'a> {
    /// Reads a column of any kind as text.
    ///
    /// # Errors
    /// When the table has no such column.
    pub fn read(table: &'a Table, schema: &Schema, name: &str) -> Result<Self, DataError> {
        let mut found = Self {
            rows: Vec::with_capacity(table.rows()),
            texts: Vec::new(),
        };
        // A column has one type, so only one of the two is filled.
        let mut lent = HashMap::with_hasher(Mixing::new());
        let mut owned: HashMap<String, u32> = HashMap::new();
        let mut known = Vec::new();
        let mut known_of = None;
        let mut buffer = String::new();
        let Self { rows, texts } = &mut found;
        let mut number = |text: &'a str, texts: &mut Vec<Cow<'a, str>>| {
            if schema.is_missing(text) {
                return NO_VALUE;
            }
            *lent.entry(text).or_insert_with(|| {
                texts.push(Cow::Borrowed(text));
                texts.len() as u32 - 1
            })
        };
        for array in chunks(table, name)? {
            match Cells::of(array) {
                Cells::Keyed(keys, values) => {
                    if known_of.is_none_or(|of| !std::ptr::eq(of, values)) {
                        known = values
                            .iter()
                            .map(|text| text.map_or(NO_VALUE, |text| number(text, texts)))
                            .collect();
                        known_of = Some(values);
                    }
                    rows.extend(
                        keys.iter()
                            .map(|key| key.map_or(NO_VALUE, |key| known[key as usize])),
                    );
                }
                Cells::Plain(values) => {
                    rows.extend(
                        values
                            .iter()
                            .map(|text| text.map_or(NO_VALUE, |text| number(text, texts))),
                    );
                }
                _ => rows.extend((0..array.len()).map(|row| {
                    let Some(text) = cell(array, row, &mut buffer).filter(|text| !schema.is_missing(text))
                    else {
                        return NO_VALUE;
                    };
                    if let Some(&known) = owned.get(text) {
                        return known;
                    }
                    let next = texts.len() as u32;
                    owned.insert(text.to_owned(), next);
                    texts.push(Cow::Owned(text.to_owned()));
                    next
                })),
            }
        }
        Ok(found)
    }
}
