//! What is refused and why, what is charged, and what a plan gives.

use super::{BLANK, Row, by_person, schema, table};
use crate::data::{Bound, Column, Kind, Provenance, Schema};
use crate::num::RandomSource;
use crate::privacy::ledger::PrivacyUnit;
use crate::privacy::{CountedEvent, Neighboring, PrivacyEvent};
use crate::release::{Interval, Noise, Query, ReleaseError, ReleasePlan, ReleaseRequest, Value};

pub(super) fn refusal(schema: &Schema, request: &ReleaseRequest) -> String {
    ReleasePlan::new(schema, request).unwrap_err().to_string()
}

pub(super) fn of(query: Query, column: &str) -> ReleaseRequest {
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
