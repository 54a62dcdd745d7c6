use arrow::array::{Decimal128Array, Float32Array, UInt8Array};

use super::*;

fn table() -> Table {
    let batch = RecordBatch::try_from_iter([
        (
            "small",
            Arc::new(UInt8Array::from(vec![Some(1), None, Some(3)])) as ArrayRef,
        ),
        ("real", Arc::new(Float32Array::from(vec![0.5, f32::NAN, 2.0]))),
        (
            "word",
            Arc::new(StringArray::from(vec![Some("a"), Some("b"), None])),
        ),
        (
            "money",
            Arc::new(
                Decimal128Array::from(vec![125, 250, 1])
                    .with_precision_and_scale(5, 2)
                    .unwrap(),
            ),
        ),
        ("day", Arc::new(Date32Array::from(vec![0, 1, 2]))),
        ("flag", Arc::new(BooleanArray::from(vec![true, false, true]))),
    ])
    .unwrap();
    Table::from_batches("t", &batch.schema(), &[batch.slice(0, 2), batch.slice(2, 1)]).unwrap()
}

#[test]
fn any_flat_type_becomes_a_plain_one() {
    let table = table();
    assert_eq!((table.rows(), table.width()), (3, 6));
    let line = |row| table.preview(row..row + 1).unwrap().remove(0);
    let text = |cells: [&str; 6]| cells.map(|cell| (cell != "-").then(|| cell.to_owned())).to_vec();
    assert_eq!(line(0), text(["1", "0.5", "a", "1.25", "1970-01-01", "true"]));
    assert_eq!(line(1), text(["-", "-", "b", "2.5", "1970-01-02", "false"]));
    assert_eq!(line(2), text(["3", "2.0", "-", "0.01", "1970-01-03", "true"]));
    assert_eq!(table.preview(2..99).unwrap().len(), 1);
    assert!(table.preview(5..9).unwrap().is_empty());
    assert_eq!(table.cell(2, 0).unwrap().as_deref(), Some("3"));
    assert_eq!(table.cell(3, 0).unwrap(), None);
}

#[test]
fn views_dictionaries_zones_and_nothing_at_all_are_read() {
    use arrow::array::{
        DictionaryArray, ListArray, NullArray, StringViewArray, TimestampMillisecondArray, UInt64Array,
    };
    use arrow::datatypes::Int16Type;
    let numbered =
        DictionaryArray::<Int16Type>::new(vec![Some(0), None].into(), Arc::new(Int64Array::from(vec![7])));
    let batch = RecordBatch::try_from_iter([
        (
            "view",
            Arc::new(StringViewArray::from(vec![
                Some("a long text, not kept inline"),
                None,
            ])) as ArrayRef,
        ),
        ("numbered", Arc::new(numbered)),
        ("nothing", Arc::new(NullArray::new(2))),
        (
            "zoned",
            Arc::new(TimestampMillisecondArray::from(vec![0, 1500]).with_timezone("+02:00")),
        ),
    ])
    .unwrap();
    let table = Table::from_batches("t", &batch.schema(), &[batch]).unwrap();
    let text = |cells: [&str; 4]| cells.map(|cell| (cell != "-").then(|| cell.to_owned())).to_vec();
    let cells = table.preview(0..2).unwrap();
    assert_eq!(
        cells[0],
        text(["a long text, not kept inline", "7", "-", "1970-01-01T00:00:00"])
    );
    assert_eq!(cells[1], text(["-", "-", "-", "1970-01-01T00:00:01.500"]));

    let list = ListArray::from_iter_primitive::<arrow::datatypes::Int64Type, _, _>([Some([Some(1)])]);
    let beyond = UInt64Array::from(vec![u64::MAX]);
    for (array, word) in [
        (Arc::new(list) as ArrayRef, "List"),
        (Arc::new(beyond), "18446744073709551615"),
    ] {
        let batch = RecordBatch::try_from_iter([("odd", array)]).unwrap();
        let error = Table::from_batches("t", &batch.schema(), &[batch])
            .unwrap_err()
            .to_string();
        assert!(error.contains("`odd`") && error.contains(word), "{error}");
    }
}

#[test]
fn the_digest_depends_on_cells_only() {
    let table = table();
    let batches = table.batches().collect::<Result<Vec<_>, _>>().unwrap();
    let one = Table::from_batches(
        "other name",
        &table.schema(),
        &[arrow::compute::concat_batches(&table.schema(), &batches).unwrap()],
    )
    .unwrap();
    assert_eq!(table.content_digest(), one.content_digest());
    let cut = Table::from_batches("t", &table.schema(), &batches[..1]).unwrap();
    assert_ne!(table.content_digest(), cut.content_digest());
}
