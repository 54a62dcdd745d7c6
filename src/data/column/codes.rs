//! Columns of a public domain as codes.

use std::collections::HashMap;

use arrow::array::Array as _;

use super::{NO_VALUE, chunks, find};
use crate::data::schema::{Kind, Schema};
use crate::data::table::{Cells, cell, has_new_texts};
use crate::data::{DataError, Table};
use crate::message;

/// Reads a column of a public domain: categories or truth values.
#[derive(Clone, Debug)]
pub struct CodeReader {
    name: String,
    kind: Kind,
    values: Vec<String>,
    places: HashMap<String, u32>,
    missing: Vec<String>,
}

impl CodeReader {
    /// For a categorical column with a domain, or a boolean.
    ///
    /// # Errors
    /// When there is no such column, or it has no domain.
    pub fn new(schema: &Schema, name: &str) -> Result<Self, DataError> {
        let column = find(schema, name)?;
        let values = match column.kind {
            Kind::Boolean => {
                let (no, yes) = column.boolean_spellings();
                vec![no.to_owned(), yes.to_owned()]
            }
            Kind::Categorical => column.domain.clone().unwrap_or_default(),
            _ => Vec::new(),
        };
        if values.is_empty() {
            return Err(DataError::Mismatch {
                message: message!(
                    "column-without-domain",
                    "column `{column}` has no list of public values; give it a domain",
                    column = name
                ),
            });
        }
        Ok(Self {
            name: name.to_owned(),
            kind: column.kind,
            places: values.iter().cloned().zip(0..).collect(),
            values,
            missing: schema.missing.clone(),
        })
    }

    /// The values, in the order of their codes.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Hands the codes of all cells to `sink`, a stretch of rows at a time; [`NO_VALUE`] is a missing cell.
    ///
    /// # Errors
    /// When the table has no such column.
    pub fn read(&self, table: &Table, sink: &mut dyn FnMut(&[u32])) -> Result<(), DataError> {
        let mut known = Vec::new();
        let mut known_of = None;
        let mut codes = Vec::new();
        let mut buffer = String::new();
        for array in chunks(table, &self.name)? {
            let array = &array?;
            codes.clear();
            codes.reserve(array.len());
            match Cells::of(array) {
                Cells::Keyed(keys, texts) => {
                    if has_new_texts(array, &mut known_of) {
                        known = texts
                            .iter()
                            .map(|text| text.map_or(NO_VALUE, |text| self.code(text)))
                            .collect();
                    }
                    codes.extend(
                        keys.iter()
                            .map(|key| key.map_or(NO_VALUE, |key| known[key as usize])),
                    );
                }
                Cells::Booleans(values) if self.kind == Kind::Boolean => {
                    codes.extend(values.iter().map(|value| value.map_or(NO_VALUE, u32::from)));
                }
                _ => codes.extend(
                    (0..array.len())
                        .map(|row| cell(array, row, &mut buffer).map_or(NO_VALUE, |text| self.code(text))),
                ),
            }
            sink(&codes);
        }
        Ok(())
    }

    fn code(&self, text: &str) -> u32 {
        if text.is_empty() || self.missing.iter().any(|missing| missing == text) {
            return NO_VALUE;
        }
        self.places.get(text).copied().unwrap_or(NO_VALUE)
    }
}
