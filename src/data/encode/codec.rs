//! One column's coding: from a cell, whatever its Arrow type, to a code, a fine cell and a scalar.

use std::collections::HashMap;

use super::axis::{Axis, schema_error};
use super::bins::FineLayout;
use super::{EncoderSettings, NumericCode};
use crate::data::schema::{Column, Kind, Provenance, Schema};
use crate::data::table::{Cells, has_new_texts};
use crate::data::value::{format_number, parse_number};
use crate::data::{DataError, Table};
use crate::message;
use crate::num::Message;

use arrow::array::{Array, ArrayRef};

/// The fine cell of a missing number.
pub const FINE_MISSING: u16 = u16::MAX;

/// A cell, encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Encoded {
    /// The hot place of the column's one-hot block.
    pub code: u16,
    /// The fine cell of a binned number.
    pub fine: u16,
    /// The value of a scalar block.
    pub scalar: f32,
    /// Whether the value lay outside the bounds.
    pub was_clamped: bool,
}

/// What becomes of a column's values.
#[derive(Clone, Debug)]
pub(super) enum Coding {
    /// One place per value of the domain.
    Words {
        places: HashMap<String, u16>,
        values: Vec<String>,
    },
    /// False, true.
    Flag { spellings: [String; 2] },
    /// One place per bin.
    Bins { axis: Axis, layout: FineLayout },
    /// A number from 0 to 1.
    Scalar { axis: Axis },
}

/// One used column of a schema, ready to encode.
#[derive(Clone, Debug)]
pub(super) struct Codec {
    /// The column's index in the schema.
    pub index: usize,
    pub name: String,
    pub kind: Kind,
    pub coding: Coding,
    pub allows_missing: bool,
    /// Values that a bought domain leaves out were too rare to be found; an error would tell that they are there.
    rare_is_missing: bool,
    missing_texts: Vec<String>,
    missing_numbers: Vec<f64>,
}

impl Codec {
    pub fn new(schema: &Schema, index: usize, settings: &EncoderSettings) -> Result<Self, DataError> {
        let column = &schema.column[index];
        let coding = match column.kind {
            Kind::Categorical => {
                let values = column.domain.clone().unwrap_or_default();
                if values.is_empty() {
                    return Err(schema_error(
                        column,
                        message!(
                            "schema-no-domain",
                            "it has no list of public values; give a domain"
                        ),
                    ));
                }
                let places = values
                    .iter()
                    .zip(0..)
                    .map(|(value, place)| (value.clone(), place))
                    .collect();
                Coding::Words { places, values }
            }
            Kind::Boolean => {
                let (no, yes) = column.boolean_spellings();
                Coding::Flag {
                    spellings: [no.to_owned(), yes.to_owned()],
                }
            }
            _ => numeric_coding(column, index, settings)?,
        };
        Ok(Self {
            index,
            name: column.name.clone(),
            kind: column.kind,
            coding,
            allows_missing: column.missing,
            rare_is_missing: column.missing && column.provenance == Some(Provenance::Bought),
            missing_texts: schema.missing.clone(),
            missing_numbers: schema
                .missing
                .iter()
                .filter_map(|text| parse_number(text))
                .collect(),
        })
    }

    /// The places of the one-hot block without the one for missing; `None` for a scalar.
    pub fn places(&self) -> Option<usize> {
        match &self.coding {
            Coding::Words { values, .. } => Some(values.len()),
            Coding::Flag { .. } => Some(2),
            Coding::Bins { layout, .. } => Some(layout.bins()),
            Coding::Scalar { .. } => None,
        }
    }

    /// The column of a table that is to be encoded.
    ///
    /// # Errors
    /// When the table has none of that name.
    pub fn column_of(&self, table: &Table) -> Result<ColumnCoder<'_>, DataError> {
        let position = table.position(&self.name).ok_or_else(|| DataError::Mismatch {
            message: message!(
                "misfit-no-column",
                "the data has no column `{column}`; take it out of the schema, or choose the file that has it",
                column = self.name
            ),
        })?;
        Ok(ColumnCoder {
            codec: self,
            position,
            known: Known::default(),
        })
    }

    /// Encodes cells that belong to no table.
    ///
    /// # Errors
    /// As [`ColumnCoder::encode`].
    pub fn encode_array(&self, array: &ArrayRef, out: &mut Vec<Encoded>) -> Result<(), DataError> {
        self.encode_chunk(array, 0, &mut Known::default(), out)
    }

    fn encode_chunk(
        &self,
        array: &ArrayRef,
        first_row: usize,
        known: &mut Known,
        out: &mut Vec<Encoded>,
    ) -> Result<(), DataError> {
        let rows = array.len();
        let mut fill = |encode: &dyn Fn(usize) -> Result<Encoded, Message>| {
            for row in 0..rows {
                let cell = if array.is_valid(row) {
                    encode(row)
                } else {
                    self.missing()
                };
                out.push(cell.map_err(|message| self.cell_error(first_row + row, message))?);
            }
            Ok(())
        };
        match Cells::of(array) {
            Cells::Keyed(keys, texts) => {
                if has_new_texts(array, &mut known.texts) {
                    known.cells = texts
                        .iter()
                        .map(|text| self.of_text(text.unwrap_or_default()))
                        .collect();
                }
                let missing = self.missing();
                let valid = keys.nulls();
                for (row, &key) in keys.values().iter().enumerate() {
                    let is_valid = valid.is_none_or(|valid| valid.is_valid(row));
                    match if is_valid {
                        &known.cells[key as usize]
                    } else {
                        &missing
                    } {
                        Ok(cell) => out.push(*cell),
                        Err(message) => return Err(self.cell_error(first_row + row, message.clone())),
                    }
                }
                Ok(())
            }
            Cells::Plain(texts) => fill(&|row| self.of_text(texts.value(row))),
            Cells::Integers(values) => fill(&|row| self.of_integer(values.value(row))),
            Cells::Numbers(values) => fill(&|row| self.of_number(values.value(row))),
            Cells::Booleans(values) => fill(&|row| self.of_boolean(values.value(row))),
            Cells::Dates(values) => fill(&|row| {
                self.of_temporal(Kind::Date, i64::from(values.value(row)), |axis, days| {
                    axis.of_date(days)
                })
            }),
            Cells::Times(values) => fill(&|row| {
                self.of_temporal(Kind::Time, values.value(row), |axis, micros| {
                    axis.of_micros(Kind::Time, micros)
                })
            }),
            Cells::Datetimes(values) => fill(&|row| {
                self.of_temporal(Kind::Datetime, values.value(row), |axis, micros| {
                    axis.of_micros(Kind::Datetime, micros)
                })
            }),
        }
    }

    fn cell_error(&self, row: usize, message: Message) -> DataError {
        DataError::Cell {
            column: self.name.clone(),
            row: row as u64 + 1,
            message,
        }
    }

    fn missing(&self) -> Result<Encoded, Message> {
        if !self.allows_missing {
            return Err(message!(
                "cell-is-missing",
                "the cell is missing, but the schema says that none is; set missing = true, or mend the data"
            ));
        }
        // A scalar's own block of two holds present, missing.
        let code = self.places().unwrap_or(1) as u16;
        Ok(Encoded {
            code,
            fine: FINE_MISSING,
            ..Encoded::default()
        })
    }

    fn of_text(&self, text: &str) -> Result<Encoded, Message> {
        if text.is_empty() || self.missing_texts.iter().any(|missing| missing == text) {
            return self.missing();
        }
        match &self.coding {
            Coding::Words { places, .. } => match places.get(text) {
                Some(&code) => Ok(Encoded {
                    code,
                    ..Encoded::default()
                }),
                None if self.rare_is_missing => self.missing(),
                None => Err(message!(
                    "cell-not-in-domain",
                    "the value \"{value}\" is not in the domain; add it there if it is a public value, or to the missing spellings",
                    value = text
                )),
            },
            Coding::Flag { spellings: [no, yes] } => {
                let code = u16::from(text == yes);
                if code == 1 || text == no {
                    Ok(Encoded {
                        code,
                        ..Encoded::default()
                    })
                } else {
                    Err(message!(
                        "cell-not-boolean",
                        "the value \"{value}\" is neither \"{no}\" nor \"{yes}\"; set domain = [false, true] as spelled",
                        value = text,
                        no = no,
                        yes = yes
                    ))
                }
            }
            Coding::Bins { axis, .. } | Coding::Scalar { axis } => match axis.of_text(text) {
                Some(position) => Ok(self.at(axis, position)),
                None => Err(self.not_of_kind(text)),
            },
        }
    }

    fn not_of_kind(&self, text: &str) -> Message {
        let kind = match self.kind {
            Kind::Integer => message!("a-whole-number", "a whole number"),
            Kind::Continuous => message!("a-number", "a number"),
            Kind::Date => message!("a-date", "a date in the column's format"),
            Kind::Time => message!("a-time", "a time in the column's format"),
            _ => message!("a-datetime", "a date with a time in the column's format"),
        };
        message!(
            "cell-not-of-kind",
            "\"{value}\" is not {kind}; change the kind or format, or add it to the missing spellings",
            value = text,
            kind = kind
        )
    }

    fn of_integer(&self, value: i64) -> Result<Encoded, Message> {
        match &self.coding {
            Coding::Bins { axis, .. } | Coding::Scalar { axis } => {
                if self.missing_numbers.contains(&(value as f64)) {
                    return self.missing();
                }
                axis.of_number(value as f64)
                    .map(|position| self.at(axis, position))
                    .ok_or_else(|| self.not_of_kind(&value.to_string()))
            }
            _ => self.of_text(&value.to_string()),
        }
    }

    fn of_number(&self, value: f64) -> Result<Encoded, Message> {
        if value.is_nan() {
            return self.missing();
        }
        match &self.coding {
            Coding::Bins { axis, .. } | Coding::Scalar { axis } => {
                if self.missing_numbers.contains(&value) {
                    return self.missing();
                }
                axis.of_number(value)
                    .map(|position| self.at(axis, position))
                    .ok_or_else(|| self.not_of_kind(&format_number(value)))
            }
            _ => self.of_text(&format_number(value)),
        }
    }

    fn of_boolean(&self, value: bool) -> Result<Encoded, Message> {
        match &self.coding {
            Coding::Flag { .. } => Ok(Encoded {
                code: u16::from(value),
                ..Encoded::default()
            }),
            _ => self.of_text(if value { "true" } else { "false" }),
        }
    }

    fn of_temporal(
        &self,
        found: Kind,
        value: i64,
        read: impl Fn(&Axis, i64) -> Option<f64>,
    ) -> Result<Encoded, Message> {
        let text = || crate::data::value::format_iso(found, value);
        match &self.coding {
            Coding::Bins { axis, .. } | Coding::Scalar { axis } => read(axis, value)
                .map(|position| self.at(axis, position))
                .ok_or_else(|| self.not_of_kind(&text())),
            _ => self.of_text(&text()),
        }
    }

    fn at(&self, axis: &Axis, position: f64) -> Encoded {
        let inside = position.clamp(axis.lower, axis.upper);
        let mut cell = Encoded {
            was_clamped: position < axis.lower || position > axis.upper,
            ..Encoded::default()
        };
        if let Coding::Bins { layout, .. } = &self.coding {
            let fine = layout.cell_at(inside);
            cell.fine = fine as u16;
            cell.code = layout.bin_of(fine) as u16;
        } else {
            cell.scalar = axis.to_scalar(inside);
        }
        cell
    }
}

/// A column on its way through its codec, piece by piece.
pub(super) struct ColumnCoder<'a> {
    codec: &'a Codec,
    position: usize,
    known: Known,
}

impl ColumnCoder<'_> {
    /// Where the column stands in the table.
    pub const fn position(&self) -> usize {
        self.position
    }

    /// Encodes cells of the column, of which the first has this row of the table.
    ///
    /// # Errors
    /// Names the first row whose cell is missing, does not read as the kind, or is not in the domain.
    pub fn encode(
        &mut self,
        array: &ArrayRef,
        first_row: usize,
        out: &mut Vec<Encoded>,
    ) -> Result<(), DataError> {
        self.codec.encode_chunk(array, first_row, &mut self.known, out)
    }
}

/// The codes of a dictionary's texts, kept while the next chunk shares it.
#[derive(Default)]
struct Known {
    texts: Option<ArrayRef>,
    cells: Vec<Result<Encoded, Message>>,
}

fn numeric_coding(column: &Column, index: usize, settings: &EncoderSettings) -> Result<Coding, DataError> {
    let axis = Axis::new(column)?;
    let declared = column.bins.as_deref();
    Ok(match (settings.numeric, declared) {
        (NumericCode::AsDeclared, None) => Coding::Scalar { axis },
        (NumericCode::AsDeclared, Some(_)) => Coding::Bins {
            layout: FineLayout::new(index, &axis, declared, 1),
            axis,
        },
        (NumericCode::Binned { bins }, _) => Coding::Bins {
            layout: FineLayout::new(index, &axis, declared, bins),
            axis,
        },
    })
}
