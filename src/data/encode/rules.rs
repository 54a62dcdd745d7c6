//! Rules of the schema, made to hold in decoded rows. What is decoded was generated, so this is free post-processing.
//!
//! A row that breaks a rule is mended: two values in the wrong order change places, a decided value is put where it
//! belongs, a sum is worked out anew. Rules are taken in the schema's order. A row that leaves its public bounds by that,
//! or breaks an earlier rule by a later one, is left out, and another is drawn for it.

use arrow::array::{
    Array as _, ArrayRef, AsArray as _, BooleanArray, Float64Array, Int64Array, PrimitiveArray, StringArray,
};
use arrow::compute::kernels::{cmp, zip::zip};
use arrow::compute::{and_not, cast, filter_record_batch, or};
use arrow::datatypes::{ArrowPrimitiveType, Float64Type, Int64Type};
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;

use super::RowEncoder;
use crate::data::DataError;
use crate::data::schema::Rule;
use crate::data::table::{cell, text_type};

/// Sums of doubles that differ by less than this, relative to their parts, are the same.
const SAME: f64 = 1e-9;

/// How often rules had to be made to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleCounts {
    /// Rows mended, for each rule of the schema.
    pub mended: Vec<u64>,
    /// Rows left out, since no mending helped.
    pub left_out: u64,
}

impl RowEncoder {
    /// Makes the schema's rules hold in decoded rows, and counts.
    ///
    /// # Errors
    /// When the rows are not of this encoder.
    pub fn keep_rules(&self, batch: RecordBatch, counts: &mut RuleCounts) -> Result<RecordBatch, DataError> {
        let rules = &self.schema.rule;
        if rules.is_empty() || batch.num_rows() == 0 {
            return Ok(batch);
        }
        self.made_to_hold(batch, counts)
            .map_err(|error| DataError::Encoded {
                message: format!("the schema's rules cannot be kept: {error}"),
            })
    }

    fn made_to_hold(&self, batch: RecordBatch, counts: &mut RuleCounts) -> Result<RecordBatch, ArrowError> {
        let rules = &self.schema.rule;
        counts.mended.resize(rules.len(), 0);
        let mut batch = batch;
        for (rule, mended) in rules.iter().zip(&mut counts.mended) {
            let broken = broken(rule, &batch)?;
            if broken.true_count() > 0 {
                *mended += broken.true_count() as u64;
                batch = mend(rule, &broken, &batch)?;
            }
        }
        let mut wrong = self.outside(&batch)?;
        for rule in rules {
            wrong = or(&wrong, &broken(rule, &batch)?)?;
        }
        counts.left_out += wrong.true_count() as u64;
        if wrong.true_count() == 0 {
            return Ok(batch);
        }
        let all = BooleanArray::from(vec![true; batch.num_rows()]);
        filter_record_batch(&batch, &and_not(&all, &wrong)?)
    }

    /// Rows with a number, which a rule may have changed, outside its bounds.
    fn outside(&self, batch: &RecordBatch) -> Result<BooleanArray, ArrowError> {
        let mut outside = vec![false; batch.num_rows()];
        let named: Vec<&str> = self.schema.rule.iter().flat_map(Rule::columns).collect();
        for (codec, _) in &self.codecs {
            if !codec.kind.is_numeric() || !named.contains(&codec.name.as_str()) {
                continue;
            }
            let mut cells = Vec::new();
            let column = column(batch, &codec.name)?;
            codec
                .encode_array(column, &mut cells)
                .map_err(|error| ArrowError::ComputeError(error.to_string()))?;
            for (outside, cell) in outside.iter_mut().zip(&cells) {
                *outside |= cell.was_clamped;
            }
        }
        Ok(outside.into())
    }
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef, ArrowError> {
    batch
        .column_by_name(name)
        .ok_or_else(|| ArrowError::SchemaError(format!("no column `{name}`")))
}

fn replaced(batch: &RecordBatch, changes: &[(&str, ArrayRef)]) -> Result<RecordBatch, ArrowError> {
    let fields = batch.schema();
    let columns = fields.fields().iter().zip(batch.columns()).map(|(field, old)| {
        let new = changes.iter().find(|(name, _)| name == field.name());
        new.map_or(old, |(_, new)| new).clone()
    });
    let columns = columns.collect();
    RecordBatch::try_new(fields, columns)
}

/// Nothing is broken where a comparison says nothing.
fn known(mask: &BooleanArray) -> BooleanArray {
    (0..mask.len())
        .map(|row| Some(mask.is_valid(row) && mask.value(row)))
        .collect()
}

/// The rows that break a rule.
fn broken(rule: &Rule, batch: &RecordBatch) -> Result<BooleanArray, ArrowError> {
    match rule {
        Rule::Order { lower, upper } => Ok(known(&cmp::gt(column(batch, lower)?, column(batch, upper)?)?)),
        Rule::Sum { total, parts } => {
            let found = column(batch, total)?;
            if let Some(found) = found.as_primitive_opt::<Int64Type>() {
                let sum = whole_sum(batch, parts)?;
                return Ok(known(&cmp::neq(found, &sum)?));
            }
            let (found, sum) = (number_of(found)?, sum(batch, parts)?);
            let size = sum_of(batch, parts, f64::abs)?;
            let off = |row| {
                let is_known = found.is_valid(row) && sum.is_valid(row);
                is_known && (found.value(row) - sum.value(row)).abs() > SAME * size.value(row)
            };
            Ok((0..batch.num_rows()).map(|row| Some(off(row))).collect())
        }
        Rule::Decides {
            by,
            column: decided,
            values,
        } => {
            let (by, found) = (column(batch, by)?, column(batch, decided)?);
            let mut buffers = [String::new(), String::new()];
            let [one, other] = &mut buffers;
            let off = (0..batch.num_rows()).map(|row| {
                let wanted = values.get(cell(by, row, one).unwrap_or_default());
                let has = cell(found, row, other).unwrap_or_default();
                Some(wanted.is_some_and(|wanted| wanted != has))
            });
            Ok(off.collect())
        }
    }
}

/// The rows with the rule made to hold where it is broken.
fn mend(rule: &Rule, broken: &BooleanArray, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    match rule {
        Rule::Order { lower, upper } => {
            let (low, high) = (column(batch, lower)?, column(batch, upper)?);
            let changes = [
                (lower.as_str(), zip(broken, high, low)?),
                (upper.as_str(), zip(broken, low, high)?),
            ];
            replaced(batch, &changes)
        }
        Rule::Sum { total, parts } => {
            let found = column(batch, total)?;
            let mended = if found.as_primitive_opt::<Int64Type>().is_some() {
                zip(broken, &whole_sum(batch, parts)?, found)?
            } else {
                zip(broken, &sum(batch, parts)?, found)?
            };
            replaced(batch, &[(total, mended)])
        }
        Rule::Decides {
            by,
            column: decided,
            values,
        } => {
            let (by, found) = (column(batch, by)?, column(batch, decided)?);
            let mut buffers = [String::new(), String::new()];
            let [one, other] = &mut buffers;
            let texts: StringArray = (0..batch.num_rows())
                .map(|row| {
                    let wanted = if broken.value(row) {
                        values.get(cell(by, row, one).unwrap_or_default())
                    } else {
                        None
                    };
                    let text = match wanted {
                        Some(wanted) => wanted.as_str(),
                        None => cell(found, row, other).unwrap_or_default(),
                    };
                    (!text.is_empty()).then(|| text.to_owned())
                })
                .collect();
            replaced(batch, &[(decided, cast(&texts, &text_type())?)])
        }
    }
}

fn number_of(array: &ArrayRef) -> Result<Float64Array, ArrowError> {
    Ok(cast(array, &arrow::datatypes::DataType::Float64)?
        .as_primitive::<Float64Type>()
        .clone())
}

fn sum(batch: &RecordBatch, parts: &[String]) -> Result<Float64Array, ArrowError> {
    sum_of(batch, parts, |value| value)
}

fn sum_of(
    batch: &RecordBatch,
    parts: &[String],
    of: impl Fn(f64) -> f64,
) -> Result<Float64Array, ArrowError> {
    let columns = parts
        .iter()
        .map(|part| number_of(column(batch, part)?))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(added(batch.num_rows(), &columns, |sum, value| {
        Some(sum + of(value))
    }))
}

/// The sum of whole numbers; missing where it is too large to be one.
fn whole_sum(batch: &RecordBatch, parts: &[String]) -> Result<Int64Array, ArrowError> {
    let columns = parts
        .iter()
        .map(|part| {
            let whole = cast(column(batch, part)?, &arrow::datatypes::DataType::Int64)?;
            Ok(whole.as_primitive::<Int64Type>().clone())
        })
        .collect::<Result<Vec<_>, ArrowError>>()?;
    Ok(added(batch.num_rows(), &columns, i64::checked_add))
}

fn added<T: ArrowPrimitiveType>(
    rows: usize,
    columns: &[PrimitiveArray<T>],
    add: impl Fn(T::Native, T::Native) -> Option<T::Native>,
) -> PrimitiveArray<T> {
    (0..rows)
        .map(|row| {
            columns.iter().try_fold(T::Native::default(), |sum, column| {
                column.is_valid(row).then(|| add(sum, column.value(row)))?
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::data::EncoderSettings;
    use crate::data::schema::{Column, Kind, Provenance, Schema};

    fn encoder(rules: Vec<Rule>) -> RowEncoder {
        let declared = |column: Column| column.with_provenance(Provenance::Declared);
        let number = |name, upper| {
            declared(
                Column::new(name, Kind::Integer)
                    .with_bounds(0, upper)
                    .with_missing(true),
            )
        };
        let mut schema = Schema::new(vec![
            number("start", 20),
            number("end", 30),
            number("length", 30),
            declared(Column::new("level", Kind::Continuous).with_bounds(0.0, 100.0)),
            declared(Column::new("town", Kind::Categorical).with_domain(["Paris", "Rome"])),
            declared(Column::new("state", Kind::Categorical).with_domain(["France", "Italy"]))
                .with_missing(true),
        ]);
        schema.rule = rules;
        RowEncoder::new(&schema, &EncoderSettings::default()).unwrap()
    }

    type Row = (Option<i64>, Option<i64>, Option<i64>, bool, Option<bool>);

    fn batch(rows: &[Row]) -> RecordBatch {
        let towns = rows.iter().map(|row| Some(if row.3 { "Paris" } else { "Rome" }));
        let states = rows
            .iter()
            .map(|row| row.4.map(|france| if france { "France" } else { "Italy" }));
        let text = |texts: StringArray| cast(&texts, &text_type()).unwrap();
        let columns: [(&str, ArrayRef); 6] = [
            (
                "start",
                Arc::new(rows.iter().map(|row| row.0).collect::<Int64Array>()),
            ),
            (
                "end",
                Arc::new(rows.iter().map(|row| row.1).collect::<Int64Array>()),
            ),
            (
                "length",
                Arc::new(rows.iter().map(|row| row.2).collect::<Int64Array>()),
            ),
            (
                "level",
                Arc::new(rows.iter().map(|_| Some(50.0)).collect::<Float64Array>()),
            ),
            ("town", text(towns.collect())),
            ("state", text(states.collect())),
        ];
        let columns = columns.map(|(name, cells)| (name, cells, true));
        RecordBatch::try_from_iter_with_nullable(columns).unwrap()
    }

    fn order() -> Rule {
        Rule::Order {
            lower: "start".into(),
            upper: "end".into(),
        }
    }

    fn whole(batch: &RecordBatch, name: &str) -> Vec<Option<i64>> {
        batch
            .column_by_name(name)
            .unwrap()
            .as_primitive::<Int64Type>()
            .iter()
            .collect()
    }

    #[test]
    fn values_in_the_wrong_order_change_places_and_those_that_cannot_are_left_out() {
        let encoder = encoder(vec![order()]);
        let rows: [Row; 4] = [
            (Some(9), Some(4), None, true, None),
            (Some(3), Some(3), None, true, None),
            (Some(5), None, None, true, None),
            // 25 cannot be a start.
            (Some(26), Some(25), None, true, None),
        ];
        let mut counts = RuleCounts::default();
        let kept = encoder.keep_rules(batch(&rows), &mut counts).unwrap();
        assert_eq!(whole(&kept, "start"), [Some(4), Some(3), Some(5)]);
        assert_eq!(whole(&kept, "end"), [Some(9), Some(3), None]);
        assert_eq!(
            counts,
            RuleCounts {
                mended: vec![2],
                left_out: 1
            }
        );
    }

    #[test]
    fn a_decided_value_is_put_where_it_belongs() {
        let values = BTreeMap::from([
            ("Paris".to_owned(), "France".to_owned()),
            ("Rome".to_owned(), String::new()),
        ]);
        let rule = Rule::Decides {
            by: "town".into(),
            column: "state".into(),
            values,
        };
        let rows: [Row; 3] = [
            (None, None, None, true, Some(false)),
            (None, None, None, true, Some(true)),
            (None, None, None, false, Some(false)),
        ];
        let mut counts = RuleCounts::default();
        let kept = encoder(vec![rule]).keep_rules(batch(&rows), &mut counts).unwrap();
        let mut buffer = String::new();
        let states = kept.column_by_name("state").unwrap();
        let found: Vec<_> = (0..3)
            .map(|row| cell(states, row, &mut buffer).map(str::to_owned))
            .collect();
        assert_eq!(
            found,
            [Some("France".to_owned()), Some("France".to_owned()), None]
        );
        assert_eq!(counts.mended, [2]);
    }

    proptest! {
        #[test]
        fn all_rules_hold_in_what_is_kept_and_rows_that_kept_them_stay(
            rows in prop::collection::vec(
                (
                    prop::option::of(0..21_i64), prop::option::of(0..31_i64), prop::option::of(0..31_i64),
                    any::<bool>(), prop::option::of(any::<bool>()),
                ),
                1..40,
            ),
        ) {
            let sum = Rule::Sum { total: "end".into(), parts: vec!["start".into(), "length".into()] };
            let encoder = encoder(vec![sum, order()]);
            let mut counts = RuleCounts::default();
            let kept = encoder.keep_rules(batch(&rows), &mut counts).unwrap();
            prop_assert_eq!(kept.num_rows() as u64 + counts.left_out, rows.len() as u64);
            let columns = ["start", "end", "length"].map(|name| whole(&kept, name));
            let [starts, ends, lengths] = &columns;
            for ((&start, &end), &length) in starts.iter().zip(ends).zip(lengths) {
                if let (Some(start), Some(end)) = (start, end) {
                    prop_assert!(start <= end && start <= 20 && end <= 30);
                    prop_assert!(length.is_none_or(|length| start + length == end));
                }
            }
            let good = |row: &&Row| match (row.0, row.1, row.2) {
                (Some(start), Some(end), Some(length)) => start + length == end,
                (Some(start), Some(end), None) => start <= end,
                _ => true,
            };
            prop_assert!(kept.num_rows() >= rows.iter().filter(good).count());
            let again = encoder.keep_rules(kept.clone(), &mut RuleCounts::default()).unwrap();
            prop_assert_eq!(again, kept);
        }
    }
}
