//! The few Arrow types that a table has, and how all others become these.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, AsArray as _};
use arrow::datatypes::{DataType, Field, Schema as ArrowSchema, SchemaRef, TimeUnit, UInt64Type};
use arrow::record_batch::RecordBatch;

use crate::data::DataError;

/// The type that a column of this Arrow type has in a [`Table`].
fn normal_type(found: &DataType) -> Option<DataType> {
    Some(match found {
        DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32
        | DataType::UInt64 => DataType::Int64,
        DataType::Float16
        | DataType::Float32
        | DataType::Float64
        | DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => DataType::Float64,
        DataType::Boolean => DataType::Boolean,
        DataType::Utf8 | DataType::Utf8View | DataType::Null => text_type(),
        DataType::LargeUtf8 => DataType::LargeUtf8,
        DataType::Dictionary(_, value) if normal_type(value) == Some(text_type()) => text_type(),
        DataType::Dictionary(_, value) => normal_type(value)?,
        DataType::Date32 | DataType::Date64 => DataType::Date32,
        DataType::Time32(_) | DataType::Time64(_) => DataType::Time64(TimeUnit::Microsecond),
        DataType::Timestamp(..) => DataType::Timestamp(TimeUnit::Microsecond, None),
        _ => return None,
    })
}

/// The type of text with few distinct values.
pub(in crate::data) fn text_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// The types of a whole table, or the column that has no place in one.
pub(in crate::data) fn normal_schema(path: &Path, schema: &ArrowSchema) -> Result<SchemaRef, DataError> {
    let fields = schema.fields().iter().map(|field| {
        let found = normal_type(field.data_type()).ok_or_else(|| match field.data_type() {
            DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => DataError::BytesColumn {
                path: path.to_owned(),
                column: field.name().clone(),
            },
            other => DataError::UnsupportedColumn {
                path: path.to_owned(),
                column: field.name().clone(),
                found: other.to_string(),
            },
        })?;
        Ok(Field::new(field.name(), found, true))
    });
    Ok(Arc::new(ArrowSchema::new(
        fields.collect::<Result<Vec<_>, DataError>>()?,
    )))
}

/// The first whole number of a column that is beyond those that a table has.
fn too_large(array: &dyn Array) -> Option<(usize, u64)> {
    let values = array.as_primitive_opt::<UInt64Type>()?;
    (0..values.len())
        .filter(|place| values.is_valid(*place))
        .map(|place| (place, values.value(place)))
        .find(|(_, value)| i64::try_from(*value).is_err())
}

/// Casts a batch to a [`normal_schema`]. `before` is how many rows came before it.
pub(in crate::data) fn normal_batch(
    path: &Path,
    schema: &SchemaRef,
    batch: &RecordBatch,
    before: u64,
) -> Result<RecordBatch, DataError> {
    let failed = |column: &str, reason: &dyn std::fmt::Display| DataError::UnsupportedColumn {
        path: path.to_owned(),
        column: column.to_owned(),
        found: reason.to_string(),
    };
    let options = arrow::compute::CastOptions {
        safe: false,
        ..Default::default()
    };
    let columns = schema.fields().iter().zip(batch.columns()).map(|(field, array)| {
        if array.data_type() == field.data_type() {
            return Ok(Arc::clone(array));
        }
        // Timestamps with a zone become the same instants in UTC; a dictionary of numbers is unpacked first.
        let plain = match array.data_type() {
            DataType::Dictionary(_, value) if *field.data_type() != text_type() => {
                arrow::compute::cast_with_options(array, value, &options)
                    .map_err(|error| failed(field.name(), &error))?
            }
            _ => Arc::clone(array),
        };
        arrow::compute::cast_with_options(&plain, field.data_type(), &options).map_err(
            |error| match too_large(&plain) {
                Some((place, value)) => DataError::TooLarge {
                    path: path.to_owned(),
                    row: before + place as u64 + 1,
                    column: field.name().clone(),
                    value,
                },
                None => failed(field.name(), &error),
            },
        )
    });
    RecordBatch::try_new(
        Arc::clone(schema),
        columns.collect::<Result<Vec<_>, DataError>>()?,
    )
    .map_err(|error| failed("", &error))
}

#[cfg(test)]
mod tests {
    use arrow::array::UInt64Array;

    use super::*;

    #[test]
    fn a_number_that_is_too_large_is_named_with_its_place() {
        let found = ArrowSchema::new(vec![Field::new("a", DataType::UInt64, true)]);
        let values = UInt64Array::from(vec![Some(1), None, Some(u64::MAX)]);
        let batch = RecordBatch::try_new(Arc::new(found.clone()), vec![Arc::new(values)]).unwrap();
        let path = Path::new("t.parquet");
        let schema = normal_schema(path, &found).unwrap();
        let said = normal_batch(path, &schema, &batch, 100).unwrap_err().to_string();
        assert!(
            said.contains("row 103") && said.contains("`a`") && said.contains("18446744073709551615"),
            "{said}"
        );
    }
}
