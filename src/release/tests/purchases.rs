//! What is bought into the schema: row and person counts, bounds, categories.

use super::plans::{of, refusal};
use super::{BLANK, Row, by_person, schema, table};
use crate::data::{Bound, Provenance, RowCount, Schema};
use crate::num::RandomSource;
use crate::privacy::{CountedEvent, Neighboring, PrivacyEvent};
use crate::release::{Label, Note, Purchase, Query, ReleasePlan, ReleaseRequest, Value};

#[test]
fn the_row_count_is_bought_only_where_it_is_private() {
    let mut schema = schema();
    let rows = ReleaseRequest::new(Query::Count, None, 1.0);
    let bought = ReleasePlan::new(&schema, &rows)
        .unwrap()
        .run(&table(&vec![BLANK; 500]), &mut RandomSource::seeded(1))
        .unwrap();
    let Some(Purchase::Rows(value)) = bought.purchase else {
        panic!("{bought:?}")
    };
    assert!((450..550).contains(&value), "{value}");
    bought.purchase.unwrap().apply(&mut schema).unwrap();
    assert_eq!(
        schema.rows,
        Some(RowCount {
            value,
            provenance: Provenance::Bought
        })
    );
    let progress = crate::num::Progress::default();
    schema.check(&table(&vec![BLANK; 500]), &progress).unwrap();
    let plan = ReleasePlan::new(&schema, &rows).unwrap();
    assert_eq!(
        plan.neighboring(),
        Neighboring::AddRemoveOne,
        "a bought count is no public one"
    );
    let replaced = ReleaseRequest {
        neighboring: Neighboring::ReplaceOne,
        ..rows.clone()
    };
    assert!(refusal(&schema, &replaced).contains("public number of rows"));
    assert!(ReleasePlan::new(&by_person(2), &replaced).is_ok());
    schema.rows = Some(RowCount {
        value: 500,
        provenance: Provenance::Declared,
    });
    assert!(refusal(&schema, &rows).contains("(500)"));
    let plan = ReleasePlan::new(&schema, &of(Query::Count, "k")).unwrap();
    assert_eq!(plan.neighboring(), Neighboring::ZeroOutOne);
}

#[test]
fn the_number_of_persons_is_bought_at_the_price_of_one_each() {
    let names = ["p", "q", "r"];
    // Five rows each, and some of nobody.
    let mut rows: Vec<Row> = names
        .iter()
        .flat_map(|name| {
            let row = Row {
                person: Some(name),
                ..BLANK
            };
            vec![row; 5]
        })
        .collect();
    rows.extend([BLANK; 4]);
    let table = table(&rows);
    let mut schema = by_person(2);
    let request = ReleaseRequest::new(Query::Count, Some("person"), 2.0);
    let plan = ReleasePlan::new(&schema, &request).unwrap();
    let scale = 0.5;
    let one = PrivacyEvent::DiscreteLaplace {
        scale,
        sensitivity: 1,
    };
    assert_eq!(plan.events().events, [CountedEvent::from(one)]);
    let bought = plan.run(&table, &mut RandomSource::seeded(1)).unwrap();
    let Some(Purchase::Persons(value)) = bought.purchase else {
        panic!("{bought:?}")
    };
    // Discrete Laplace noise of scale 1/2 is 7 or more with probability 1e-6 at most.
    assert!((1..3 + 7).contains(&value), "{value}");
    assert!(
        bought
            .notes
            .iter()
            .any(|note| matches!(note, Note::PersonsOnce { .. }))
    );
    bought.purchase.unwrap().apply(&mut schema).unwrap();
    let persons = schema.unit.as_ref().unwrap().persons.unwrap();
    assert_eq!((persons.value, persons.provenance), (value, Provenance::Bought));
    // It carries noise, so it need not be the table's.
    schema.check(&table, &crate::num::Progress::default()).unwrap();
    assert_eq!(
        ReleasePlan::new(&schema, &request).unwrap().neighboring(),
        Neighboring::AddRemoveOne
    );

    let grouped = ReleaseRequest {
        by: Some("group".into()),
        ..request.clone()
    };
    assert!(refusal(&schema, &grouped).contains("leave out --by"));
    schema.unit.as_mut().unwrap().persons.as_mut().unwrap().provenance = Provenance::Declared;
    assert!(refusal(&schema, &request).contains("public knowledge"));
    // Without persons the column is a name, which nobody counts.
    assert!(refusal(&crate::release::tests::schema(), &request).contains("person"));
    let other = Purchase::Persons(9).apply(&mut crate::release::tests::schema());
    assert!(other.is_err());
}

fn numbers(texts: &[&'static str]) -> Vec<Row> {
    texts
        .iter()
        .cycle()
        .take(2000)
        .map(|&text| Row {
            x: Some(text),
            ..BLANK
        })
        .collect()
}

#[test]
fn bounds_are_bought_and_hold_the_bulk() {
    for (texts, lower, upper) in [
        (vec!["3.3", "77", "5"], 2.0, 128.0),
        (vec!["-3.3", "-77"], -128.0, -2.0),
        (vec!["0", "0.3"], 0.0, 0.5),
        (vec!["-9", "1024"], -16.0, 1024.0),
        (vec!["0"], 0.0, 0.0),
        (vec!["1e300", "-1e-300"], -2_f64.powi(-40), 2_f64.powi(64)),
    ] {
        let mut schema = Schema::new(schema().column);
        let column = schema.find_mut("x").unwrap();
        column.provenance = Some(Provenance::Suggested);
        column.missing = false;
        // Read off the rows as well, so it must make no difference.
        column.decimals = Some(2);
        let plan = ReleasePlan::new(&schema, &of(Query::Bounds, "x")).unwrap();
        let answer = plan
            .run(&table(&numbers(&texts)), &mut RandomSource::seeded(3))
            .unwrap();
        answer.purchase.unwrap().apply(&mut schema).unwrap();
        let column = schema.find("x").unwrap();
        let ends = [&column.lower, &column.upper].map(|end| end.as_ref().unwrap().as_f64().unwrap());
        assert_eq!(ends, [lower, upper], "{texts:?}");
        assert_eq!(
            (column.provenance, column.decimals),
            (Some(Provenance::Bought), None)
        );
        assert!(column.missing, "whether cells are missing was read off the rows");
    }
}

#[test]
fn bounds_of_whole_numbers_dates_and_times_are_of_their_kind() {
    let row = |k, day| Row {
        k: Some(k),
        day: Some(day),
        ..BLANK
    };
    let rows: Vec<Row> = [row("3", "1999-05-05"), row("-7", "2020-12-31")]
        .into_iter()
        .cycle()
        .take(4000)
        .collect();
    let mut schema = schema();
    for name in ["k", "day"] {
        schema.find_mut(name).unwrap().provenance = None;
    }
    for (name, ends) in [
        ("k", [Bound::Integer(-8), Bound::Integer(4)]),
        ("day", ["1999-01-01", "2020-12-31"].map(Bound::from)),
    ] {
        let plan = ReleasePlan::new(&schema, &of(Query::Bounds, name)).unwrap();
        let answer = plan.run(&table(&rows), &mut RandomSource::seeded(4)).unwrap();
        assert_eq!(answer.cells.len(), 2);
        answer.purchase.unwrap().apply(&mut schema).unwrap();
        let column = schema.find(name).unwrap();
        assert_eq!(
            [column.lower.clone().unwrap(), column.upper.clone().unwrap()],
            ends
        );
        assert!(column.open_reason().is_none());
    }
    // Nothing stands out of the noise: nothing is bought, and that is said.
    let plan = ReleasePlan::new(&schema, &ReleaseRequest::new(Query::Bounds, Some("k"), 0.001)).unwrap();
    let answer = plan
        .run(&table(&rows[..20]), &mut RandomSource::seeded(5))
        .unwrap();
    assert_eq!((answer.purchase, answer.cells.len()), (None, 0));
    assert!(answer.notes.contains(&Note::NothingFound));
}

#[test]
fn categories_are_bought_and_rare_ones_stay_unknown() {
    let mut schema = schema();
    let column = schema.find_mut("group").unwrap();
    column.provenance = Some(Provenance::Suggested);
    column.missing = false;
    let group = |value| Row {
        group: Some(value),
        ..BLANK
    };
    let mut rows = vec![group("many"); 400];
    rows.extend(vec![group("also"); 300]);
    rows.push(group("a secret"));
    let mut request = of(Query::Categories, "group");
    request.delta = 1e-6;
    let plan = ReleasePlan::new(&schema, &request).unwrap();
    // A value in one row is told with probability at most δ a run.
    for seed in 0..200 {
        let answer = plan.run(&table(&rows), &mut RandomSource::seeded(seed)).unwrap();
        let values: Vec<_> = answer.cells.iter().map(|cell| cell.value.clone()).collect();
        assert_eq!(values, ["also", "many"].map(|value| Value::Text(value.into())));
    }
    let answer = plan.run(&table(&rows), &mut RandomSource::seeded(1)).unwrap();
    answer.purchase.unwrap().apply(&mut schema).unwrap();
    let column = schema.find("group").unwrap();
    assert_eq!(column.provenance, Some(Provenance::Bought));
    // The rare value is no error now: it counts as missing, here and in training.
    let progress = crate::num::Progress::default();
    schema.check(&table(&rows), &progress).unwrap();
    let mut request = of(Query::Histogram { bins: None }, "group");
    request.epsilon = 50.0;
    let answer = ReleasePlan::new(&schema, &request)
        .unwrap()
        .run(&table(&rows), &mut RandomSource::seeded(2))
        .unwrap();
    let counts: Vec<_> = answer
        .cells
        .iter()
        .map(|cell| (cell.bin.clone(), cell.value.clone()))
        .collect();
    assert_eq!(counts[2], (Some(Label::Missing), Value::Whole(1)));
    // Under replace the noise is twice as wide; a value must be in more rows.
    let replaced = ReleaseRequest {
        neighboring: Neighboring::ReplaceOne,
        delta: 1e-6,
        ..of(Query::Categories, "group")
    };
    schema.find_mut("group").unwrap().provenance = Some(Provenance::Suggested);
    let answer = ReleasePlan::new(&schema, &replaced)
        .unwrap()
        .run(&table(&rows), &mut RandomSource::seeded(2))
        .unwrap();
    let threshold = answer.notes.iter().find_map(|note| match note {
        Note::CategoriesThreshold { rows } => Some(*rows),
        _ => None,
    });
    assert!(threshold.unwrap() > 20, "{threshold:?}");
}
