//! From encoded rows back to a record batch of the schema's own types, names and order.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float64Array, Int32Array, Int64Array, StringArray,
    Time64MicrosecondArray, TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, Field, Int32Type, Schema as ArrowSchema, SchemaRef, TimeUnit};
use arrow::record_batch::RecordBatch;
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::axis::Axis;
use super::bins::FineLayout;
use super::codec::{Codec, Coding};
use super::{EncodedRows, RowEncoder, Slots};
use crate::data::DataError;
use crate::data::schema::Kind;
use crate::data::table::text_type;
use crate::data::value::{format_iso, format_number};

/// How likely each fine cell is, per binned column in the order of [`RowEncoder::fine_layouts`]. Only the ratios
/// within one bin count; a bin whose cells are all 0 is drawn uniformly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FineWeights {
    /// One non-negative number per cell.
    pub columns: Vec<Vec<f64>>,
}

impl FineWeights {
    /// How many cells each column has.
    pub fn cells(&self) -> Vec<usize> {
        self.columns.iter().map(Vec::len).collect()
    }
}

impl RowEncoder {
    /// The types that [`RowEncoder::decode`] yields: the used columns in the schema's order.
    pub fn decoded_schema(&self) -> SchemaRef {
        let fields = self.codecs.iter().map(|(codec, _)| {
            let found = match codec.kind {
                Kind::Continuous => DataType::Float64,
                Kind::Integer => DataType::Int64,
                Kind::Boolean => DataType::Boolean,
                Kind::Date => DataType::Date32,
                Kind::Time => DataType::Time64(TimeUnit::Microsecond),
                Kind::Datetime => DataType::Timestamp(TimeUnit::Microsecond, None),
                Kind::Categorical | Kind::Text | Kind::Identifier => text_type(),
            };
            Field::new(&codec.name, found, codec.allows_missing)
        });
        Arc::new(ArrowSchema::new(fields.collect::<Vec<_>>()))
    }

    /// Decodes rows. The value of a bin is drawn inside it: by `fine` where given, else uniformly.
    ///
    /// # Errors
    /// When the rows are of another encoder, or the weights do not fit.
    pub fn decode<R: Rng + ?Sized>(
        &self,
        rows: &EncodedRows,
        fine: Option<&FineWeights>,
        random: &mut R,
    ) -> Result<RecordBatch, DataError> {
        if rows.blocks() != self.blocks() {
            return Err(DataError::Encoded {
                message: "their blocks differ".to_owned(),
            });
        }
        let choices = self.choices(fine)?;
        let mut columns = Vec::with_capacity(self.codecs.len());
        for (codec, slots) in &self.codecs {
            let choice = slots.fine.map(|slot| &choices[slot]);
            columns.push(decode_column(codec, *slots, rows, choice, random)?);
        }
        RecordBatch::try_new(self.decoded_schema(), columns).map_err(|error| DataError::Encoded {
            message: error.to_string(),
        })
    }

    fn choices(&self, fine: Option<&FineWeights>) -> Result<Vec<CellChoice>, DataError> {
        let layouts: Vec<_> = self.fine_layouts().collect();
        if let Some(fine) = fine {
            let fits = fine.columns.len() == layouts.len()
                && fine.columns.iter().zip(&layouts).all(|(weights, layout)| {
                    weights.len() == layout.cells()
                        && weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0)
                });
            if !fits {
                return Err(DataError::Encoded {
                    message: "fine weights need one non-negative number for each fine cell".to_owned(),
                });
            }
        }
        let weights = |index: usize| fine.map(|fine| fine.columns[index].as_slice());
        Ok(layouts
            .iter()
            .enumerate()
            .map(|(index, layout)| CellChoice::new(layout, weights(index)))
            .collect())
    }
}

/// Running sums of the cells' weights, with each bin's own start.
struct CellChoice {
    sums: Vec<f64>,
}

impl CellChoice {
    fn new(layout: &FineLayout, weights: Option<&[f64]>) -> Self {
        let mut sums = vec![0.0; layout.cells()];
        for bin in 0..layout.bins() {
            let cells = layout.cells_of(bin);
            let given =
                weights.is_some_and(|weights| weights[cells.clone()].iter().any(|&weight| weight > 0.0));
            let mut sum = 0.0;
            for cell in cells {
                sum += match weights {
                    Some(weights) if given => weights[cell],
                    _ => layout.size_of(cell),
                };
                sums[cell] = sum;
            }
        }
        Self { sums }
    }

    fn draw(&self, layout: &FineLayout, bin: usize, uniform: f64) -> usize {
        let cells = layout.cells_of(bin);
        let sums = &self.sums[cells.clone()];
        let target = uniform * sums.last().copied().unwrap_or(0.0);
        cells.start + sums.partition_point(|&sum| sum <= target).min(sums.len() - 1)
    }
}

/// A uniform number in [0, 1).
fn uniform<R: Rng + ?Sized>(random: &mut R) -> f64 {
    (random.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

fn decode_column<R: Rng + ?Sized>(
    codec: &Codec,
    slots: Slots,
    rows: &EncodedRows,
    choice: Option<&CellChoice>,
    random: &mut R,
) -> Result<ArrayRef, DataError> {
    let (codes, scalars) = (rows.codes_per_row(), rows.scalars_per_row());
    let places = codec.places().unwrap_or(1);
    let most = places + usize::from(codec.allows_missing);
    let hot = |row: usize| slots.code.map(|slot| rows.codes[row * codes + slot] as usize);
    if let Some(wrong) = (0..rows.rows()).filter_map(hot).find(|&code| code >= most) {
        return Err(DataError::Encoded {
            message: format!("column `{}` has no place {wrong} among its {most}", codec.name),
        });
    }
    let present = |row: usize| hot(row).is_none_or(|code| code < places);
    let count = rows.rows();
    match &codec.coding {
        Coding::Words { values, .. } => {
            let keys: Int32Array = (0..count)
                .map(|row| hot(row).filter(|&code| code < places).map(|code| code as i32))
                .collect();
            DictionaryArray::<Int32Type>::try_new(keys, Arc::new(StringArray::from(values.clone())))
                .map(|array| Arc::new(array) as ArrayRef)
                .map_err(|error| DataError::Encoded {
                    message: error.to_string(),
                })
        }
        Coding::Flag { .. } => {
            let flags: BooleanArray = (0..count)
                .map(|row| hot(row).filter(|&code| code < 2).map(|code| code == 1))
                .collect();
            Ok(Arc::new(flags))
        }
        Coding::Bins { axis, layout } => {
            let positions = (0..count).map(|row| {
                let bin = hot(row).filter(|&code| code < places)?;
                let cell = match choice {
                    Some(choice) if layout.cells_of(bin).len() > 1 => {
                        choice.draw(layout, bin, uniform(random))
                    }
                    _ => layout.cells_of(bin).start,
                };
                let (low, high) = layout.ends_of(cell);
                Some(if low >= high {
                    low
                } else {
                    layout.draw(cell, uniform(random))
                })
            });
            Ok(array_of(codec.kind, axis, positions))
        }
        Coding::Scalar { axis } => {
            let slot = slots.scalar.unwrap_or(0);
            let positions = (0..count)
                .map(|row| present(row).then(|| axis.of_scalar(rows.scalars[row * scalars + slot])));
            Ok(array_of(codec.kind, axis, positions))
        }
    }
}

fn array_of(kind: Kind, axis: &Axis, positions: impl Iterator<Item = Option<f64>>) -> ArrayRef {
    let whole = |position: f64| axis.to_whole(position);
    match kind {
        Kind::Integer => Arc::new(positions.map(|cell| cell.map(whole)).collect::<Int64Array>()),
        Kind::Date => Arc::new(
            positions
                .map(|cell| cell.map(|cell| whole(cell) as i32))
                .collect::<Date32Array>(),
        ),
        Kind::Time => Arc::new(
            positions
                .map(|cell| cell.map(whole))
                .collect::<Time64MicrosecondArray>(),
        ),
        Kind::Datetime => Arc::new(
            positions
                .map(|cell| cell.map(whole))
                .collect::<TimestampMicrosecondArray>(),
        ),
        _ => Arc::new(
            positions
                .map(|cell| cell.map(|cell| axis.to_number(cell)))
                .collect::<Float64Array>(),
        ),
    }
}

/// The ranges of a binned column's bins, as a person reads them.
pub(super) fn bin_labels(codec: &Codec) -> Vec<String> {
    let Coding::Bins { axis, layout } = &codec.coding else {
        return Vec::new();
    };
    let text = |position: f64| match codec.kind {
        Kind::Integer => axis.to_whole(position).to_string(),
        kind if kind.is_temporal() => format_iso(kind, axis.to_whole(position)),
        _ => short(axis.to_number(position)),
    };
    (0..layout.bins())
        .map(|bin| {
            let cells = layout.cells_of(bin);
            let (low, high) = (layout.ends_of(cells.start).0, layout.ends_of(cells.end - 1).1);
            let (low, high) = (text(low), text(high));
            if low == high {
                low
            } else {
                format!("{low} – {high}")
            }
        })
        .collect()
}

/// A number with four significant digits, for labels only.
fn short(value: f64) -> String {
    if value.abs() < f64::MIN_POSITIVE * 2.0 {
        return "0".to_owned();
    }
    let digits = (3 - value.abs().log10().floor() as i32).clamp(0, 12);
    let scale = 10_f64.powi(digits);
    let text = format_number((value * scale).round() / scale);
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}
