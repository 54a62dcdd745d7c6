//! What is refused and why, what is charged, and what is bought.

use super::{BLANK, Row, by_person, schema, table};
use crate::data::{Bound, Column, Kind, Provenance, RowCount, Schema};
use crate::num::RandomSource;
use crate::privacy::ledger::PrivacyUnit;
use crate::privacy::{CountedEvent, Neighboring, PrivacyEvent};
use crate::release::{
    Interval, Label, Noise, Note, Purchase, Query, ReleaseError, ReleasePlan, ReleaseRequest, Value,
};

fn refusal(schema: &Schema, request: &ReleaseRequest) -> String {
    ReleasePlan::new(schema, request).unwrap_err().to_string()
}

fn of(query: Query, column: &str) -> ReleaseRequest {
    ReleaseRequest::new(query, Some(column), 1.0)
}

#[test]
fn what_cannot_be_released_is_refused_with_its_remedy() {
    let mut schema = schema();
    schema.column.push(Column::new("memo", Kind::Text));
    schema.column.push(Column::new("open", Kind::Continuous));
    schema.column.push(Column::new("listless", Kind::Categorical));
    schema
        .column
        .push(Column::new("either", Kind::Boolean).with_provenance(Provenance::Suggested));
    schema.column.push(
        Column::new("seen", Kind::Integer)
            .with_bounds(0, 9)
            .with_provenance(Provenance::Suggested),
    );
    let by = |by: &str| ReleaseRequest {
        by: Some(by.into()),
        ..of(Query::Sum, "x")
    };
    for (request, word) in [
        (of(Query::Sum, "nowhere"), "it has `person`, `x`"),
        (of(Query::Sum, "person"), "is dropped"),
        (of(Query::Mode, "memo"), "is dropped"),
        (of(Query::Mean, "open"), "--query bounds --column open"),
        (
            of(Query::Mode, "listless"),
            "--query categories --column listless",
        ),
        (of(Query::Quantile { share: 0.5 }, "seen"), "read off the rows"),
        (of(Query::Mode, "either"), "read off the rows"),
        (of(Query::Sum, "group"), "its histogram or its mode"),
        (of(Query::Sum, "day"), "its mean or a quantile"),
        (of(Query::Quantile { share: 0.5 }, "group"), "no meaning"),
        (of(Query::Mode, "x"), "--bins"),
        (of(Query::Bounds, "group"), "--query categories"),
        (of(Query::Categories, "k"), "--query bounds"),
        (of(Query::Bounds, "k"), "nothing to buy"),
        (by("k"), "group by a categorical"),
        (by("listless"), "give a domain"),
        (by("memo"), "is dropped"),
        (by("x"), "grouped by itself"),
    ] {
        let request = ReleaseRequest {
            delta: if request.query == Query::Categories {
                1e-6
            } else {
                0.0
            },
            ..request
        };
        let said = refusal(&schema, &request);
        assert!(said.contains(word), "{request}: {said}");
    }
    // A count needs no bounds, so a suggestion is no hindrance.
    assert!(ReleasePlan::new(&schema, &of(Query::Count, "seen")).is_ok());
    schema.find_mut("k").unwrap().lower = Some(Bound::Integer(9));
    assert!(refusal(&schema, &of(Query::Count, "x")).contains("above its upper bound"));
}

#[test]
fn numbers_out_of_range_are_refused() {
    for (epsilon, word) in [
        (0.0, "all noise"),
        (-1.0, "all noise"),
        (f64::NAN, "all noise"),
        (1e-7, "all noise"),
        (101.0, "no promise"),
        (f64::INFINITY, "no promise"),
    ] {
        let request = ReleaseRequest::new(Query::Count, None, epsilon);
        let said = refusal(&schema(), &request);
        assert!(said.contains(word), "{epsilon}: {said}");
    }
    for share in [0.0, 1.0, -0.5, f64::NAN, 1e-9] {
        let error = ReleasePlan::new(&schema(), &of(Query::Quantile { share }, "k")).unwrap_err();
        assert!(matches!(error, ReleaseError::Share { .. }), "{error}");
    }
    for bins in [0, 1_000_000] {
        let error = ReleasePlan::new(&schema(), &of(Query::Histogram { bins: Some(bins) }, "k")).unwrap_err();
        assert!(matches!(error, ReleaseError::Bins { .. }), "{error}");
    }
    let mut request = of(Query::Sum, "k");
    request.mechanism = Some(Noise::Gaussian);
    assert!(refusal(&schema(), &request).contains("--delta"));
    request.delta = 1.0;
    assert!(refusal(&schema(), &request).contains("below 1"));
    request.mechanism = Some(Noise::Exponential);
    request.delta = 0.0;
    assert!(refusal(&schema(), &request).contains("laplace or gaussian"));
    let mut request = of(Query::Mode, "k");
    request.mechanism = Some(Noise::Laplace);
    assert!(refusal(&schema(), &request).contains("use exponential"));
    let said = refusal(&schema(), &of(Query::Categories, "group"));
    assert!(said.contains("--delta"), "{said}");
    assert!(refusal(&schema(), &ReleaseRequest::new(Query::Sum, None, 1.0)).contains("needs a column"));
}

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
    assert!(refusal(&super::schema(), &request).contains("person"));
    let other = Purchase::Persons(9).apply(&mut super::schema());
    assert!(other.is_err());
}

#[test]
fn events_are_exactly_the_noise_that_is_drawn() {
    let events = |schema: &Schema, request: &ReleaseRequest| {
        ReleasePlan::new(schema, request).unwrap().events().clone()
    };
    let laplace =
        |scale: f64, sensitivity| CountedEvent::from(PrivacyEvent::DiscreteLaplace { scale, sensitivity });
    let mut request = ReleaseRequest::new(Query::Count, Some("k"), 0.25);
    let found = events(&schema(), &request);
    assert_eq!(found.neighboring, Neighboring::AddRemoveOne);
    assert_eq!(found.events, [laplace(4.0, 1)]);
    assert_eq!(events(&by_person(3), &request).events, [laplace(12.0, 3)]);
    request.query = Query::Histogram { bins: None };
    request.neighboring = Neighboring::ReplaceOne;
    assert_eq!(events(&schema(), &request).events, [laplace(8.0, 2)]);
    request.mechanism = Some(Noise::Gaussian);
    request.delta = 1e-6;
    let found = events(&schema(), &request);
    assert!(
        matches!(
            found.events[..],
            [CountedEvent {
                event: PrivacyEvent::DiscreteGaussian { sensitivity: 1, .. },
                count: 2
            }]
        ),
        "{found:?}"
    );
    // Of whole numbers the sum's step is 1: Δ = 5.
    let found = events(&schema(), &ReleaseRequest::new(Query::Sum, Some("k"), 0.5));
    assert_eq!(found.events, [laplace(10.0, 5)]);
    // A mean is a sum and a count, each at half of ε; −2 to 5 measured from 1.
    let found = events(&schema(), &ReleaseRequest::new(Query::Mean, Some("k"), 1.0));
    assert_eq!(found.events.len(), 2);
    for (event, sensitivity) in found.events.iter().zip([4.0, 1.0]) {
        let PrivacyEvent::DiscreteLaplace {
            scale,
            sensitivity: steps,
        } = event.event
        else {
            panic!("{event:?}")
        };
        assert!(
            (steps as f64 - sensitivity).abs() < 0.5 && (scale / sensitivity - 2.0).abs() < 1e-9,
            "{event:?}"
        );
    }
    assert_eq!(
        events(&schema(), &of(Query::Mode, "k")).events,
        [CountedEvent::from(PrivacyEvent::Exponential { epsilon: 1.0 })]
    );
    let mut request = of(Query::Categories, "group");
    request.delta = 1e-7;
    let mut open = schema();
    open.find_mut("group").unwrap().provenance = Some(Provenance::Accepted);
    assert_eq!(
        events(&open, &request).events,
        [CountedEvent::from(PrivacyEvent::Approx {
            epsilon: 1.0,
            delta: 1e-7
        })]
    );
}

#[test]
fn what_was_accepted_is_listed_and_what_is_unused_is_not() {
    let mut schema = schema();
    for name in ["x", "group", "k"] {
        schema.find_mut(name).unwrap().provenance = Some(Provenance::Accepted);
    }
    let mut request = of(Query::Mean, "x");
    request.by = Some("group".into());
    let plan = ReleasePlan::new(&schema, &request).unwrap();
    assert_eq!(plan.unprotected_columns(), ["x", "group"]);
    assert_eq!(plan.unit(), PrivacyUnit::Row);
    let plan = ReleasePlan::new(&schema, &of(Query::Count, "k")).unwrap();
    assert!(plan.unprotected_columns().is_empty(), "a count uses no bounds");
    let plan = ReleasePlan::new(&by_person(2), &of(Query::Count, "k")).unwrap();
    assert!(matches!(plan.unit(), PrivacyUnit::Person { max_rows: 2, .. }));
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

#[test]
fn a_large_epsilon_gives_the_plain_statistics() {
    let rows: Vec<Row> = ["-3.5", "0.5", "2", "9"]
        .iter()
        .map(|&x| Row {
            x: Some(x),
            k: Some("3"),
            group: Some("b"),
            day: Some("2020-02-29"),
            flag: Some("true"),
            ..BLANK
        })
        .collect();
    let table = table(&rows);
    let value = |query, column| {
        let request = ReleaseRequest::new(query, Some(column), 100.0);
        let plan = ReleasePlan::new(&schema(), &request).unwrap();
        let answer = plan.run(&table, &mut RandomSource::seeded(6)).unwrap();
        assert!(answer.is_single);
        answer.cells[0].value.clone()
    };
    let near = |found: Value, truth: f64| {
        let Value::Number(found) = found else {
            panic!("{found:?}")
        };
        assert!((found - truth).abs() < 1.5, "{found} against {truth}");
    };
    assert_eq!(value(Query::Count, "k"), Value::Whole(4));
    assert_eq!(value(Query::Sum, "k"), Value::Whole(12));
    near(value(Query::Sum, "x"), 8.0);
    near(value(Query::Mean, "x"), 2.0);
    near(value(Query::Variance, "x"), 20.375);
    assert_eq!(value(Query::Mode, "k"), Value::Whole(3));
    assert_eq!(value(Query::Mode, "group"), Value::Text("b".into()));
    assert_eq!(value(Query::Quantile { share: 0.5 }, "k"), Value::Whole(3));
    assert_eq!(
        value(Query::Quantile { share: 0.5 }, "day"),
        Value::Text("2020-02-29".into())
    );
    // A step of a date is a day, and noise of a few days is what ε = 100 still leaves among four rows.
    let Value::Text(day) = value(Query::Mean, "day") else {
        panic!("a date is spelled")
    };
    assert!(day.starts_with("2020-0"), "{day}");
    assert_eq!(value(Query::Sum, "flag"), Value::Whole(4));
}

#[test]
fn odd_bounds_and_tables_without_values_are_no_trouble() {
    let blank = table(&[BLANK; 3]);
    for (lower, upper) in [
        (0.0, 0.0),
        (-1e300, 1e300),
        (1e9, 1e9 + 1e-3),
        (-5e-324, 5e-324),
        (1e-300, 2e-300),
        (7.0, 7.0),
    ] {
        let mut schema = schema();
        schema.find_mut("x").unwrap().declare_bounds(lower, upper);
        for query in [
            Query::Count,
            Query::Sum,
            Query::Mean,
            Query::Variance,
            Query::Histogram { bins: Some(7) },
            Query::Quantile { share: 0.3 },
        ] {
            for relation in [Neighboring::AddRemoveOne, Neighboring::ReplaceOne] {
                let mut request = of(query, "x");
                request.neighboring = relation;
                let plan = match ReleasePlan::new(&schema, &request) {
                    Ok(plan) => plan,
                    // A grid for such noise is beyond doubles; that is said, not got wrong.
                    Err(ReleaseError::Noise(_)) => continue,
                    Err(other) => panic!("{request} of {lower} to {upper}: {other}"),
                };
                let answer = plan.run(&blank, &mut RandomSource::seeded(8)).unwrap();
                for cell in &answer.cells {
                    if let (
                        Value::Number(value),
                        Some(Interval::Between(Value::Number(low), Value::Number(high))),
                    ) = (&cell.value, &cell.interval)
                    {
                        assert!(
                            low <= value && value <= high,
                            "{request} of {lower} to {upper}: {cell:?}"
                        );
                    }
                }
            }
        }
    }
    let nothing = table(&[]);
    for query in [
        Query::Mean,
        Query::Quantile { share: 0.5 },
        Query::Mode,
        Query::Histogram { bins: None },
    ] {
        let plan = ReleasePlan::new(&schema(), &of(query, "k")).unwrap();
        assert!(plan.run(&nothing, &mut RandomSource::seeded(9)).is_ok());
    }
}

#[test]
fn a_preview_tells_the_price_before_it_is_paid() {
    let preview = |request: &ReleaseRequest| ReleasePlan::new(&schema(), request).unwrap().preview();
    let found = preview(&of(Query::Count, "k"));
    assert_eq!((found.values, found.epsilon, found.delta), (1, 1.0, 0.0));
    // Discrete Laplace of scale 1: P(|noise| > 3) = 0.036, P(|noise| > 2) = 0.099.
    assert_eq!(found.half_width, Some(3.0));
    let mut request = of(Query::Mean, "x");
    request.by = Some("group".into());
    let found = preview(&request);
    assert_eq!((found.values, found.half_width), (4, None));
}
