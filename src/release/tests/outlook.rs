//! What is planned without a price against what a release does.

use super::{BLANK, Row, schema, table};
use crate::data::{Column, Kind, Table};
use crate::num::{Delta, Epsilon, RandomSource};
use crate::privacy::Neighboring;
use crate::release::outlook::{Law, Mechanism, Outlook, Question, Sensitivity, Truth};
use crate::release::{Query, ReleasePlan, ReleaseRequest, Value};

fn question(query: Query, column: Option<&str>, by: Option<&str>) -> Question {
    Question {
        query,
        column: column.map(str::to_owned),
        by: by.map(str::to_owned),
        neighboring: Neighboring::AddRemoveOne,
    }
}

fn rows(count: usize) -> Table {
    let numbers = ["0.5", "2.25", "-1", "9", "4.5"];
    let whole = ["0", "1", "2", "-1", "5"];
    let groups = ["a", "b", "a", "c", "a"];
    let rows: Vec<Row> = (0..count)
        .map(|at| Row {
            x: Some(numbers[at % 5]),
            k: Some(whole[at * 3 % 5]),
            group: Some(groups[at % 5]),
            ..BLANK
        })
        .collect();
    table(&rows)
}

fn budget(epsilon: f64) -> (Epsilon, Delta) {
    (Epsilon::new(epsilon).unwrap(), Delta::new(1e-6).unwrap())
}

fn truth(outlook: &Outlook, table: &Table) -> Truth {
    outlook
        .measure(&schema(), table, &mut RandomSource::seeded(3))
        .unwrap()
}

#[test]
fn discrete_noise_is_that_of_the_release() {
    let schema = schema();
    for (query, column, by) in [
        (Query::Count, None, None),
        (Query::Count, Some("x"), Some("group")),
        (Query::Sum, Some("x"), None),
        (Query::Mean, Some("k"), None),
        (Query::Variance, Some("x"), Some("group")),
        (Query::Histogram { bins: None }, Some("group"), None),
    ] {
        for neighboring in [Neighboring::AddRemoveOne, Neighboring::ReplaceOne] {
            if neighboring == Neighboring::ReplaceOne && column.is_none() {
                continue;
            }
            let question = Question {
                neighboring,
                ..question(query, column, by)
            };
            let outlook = Outlook::new(&schema, &question).unwrap();
            for epsilon in [0.01, 0.7, 8.0] {
                for mechanism in [Mechanism::DiscreteLaplace, Mechanism::DiscreteGaussian] {
                    let request = ReleaseRequest {
                        by: question.by.clone(),
                        delta: 1e-6,
                        mechanism: mechanism.released(),
                        neighboring,
                        ..ReleaseRequest::new(query, column, epsilon)
                    };
                    let plan = ReleasePlan::new(&schema, &request).unwrap();
                    let (epsilon, delta) = budget(epsilon);
                    let planned = outlook.noise(mechanism, epsilon, delta).unwrap();
                    let parts = plan.additive().unwrap().parts();
                    assert_eq!(planned.len(), parts.len());
                    for (planned, part) in planned.iter().zip(parts) {
                        assert!((planned.steps - part.grid as f64).abs() < 0.5);
                        let ratio = planned.noise.root_mean_square_error() / part.deviation();
                        assert!(
                            (ratio - 1.0).abs() < 1e-4,
                            "{question:?} {mechanism:?} {epsilon:?}: {ratio}"
                        );
                    }
                    let events = outlook.events(mechanism, epsilon, delta).unwrap();
                    assert_eq!(events.neighboring, plan.neighboring());
                    assert_eq!(events.events.len(), plan.events().events.len());
                    if let Some(width) = plan.preview().half_width {
                        let law = outlook.law(mechanism, (epsilon, delta), None, None).unwrap();
                        let planned = law.error_quantile(0.95).unwrap();
                        // A release adds up to two steps of its grid for what was rounded.
                        let unit = parts[0].grid as f64 * plan.additive().unwrap().unit();
                        assert!(
                            planned <= width * (1.0 + 1e-9) && width - planned <= 2.0 * unit,
                            "{question:?} {mechanism:?}: {planned} {width}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn sensitivities_say_how_far_a_row_moves_a_statistic() {
    let one = |query, column| match Outlook::new(&schema(), &question(query, column, None))
        .unwrap()
        .sensitivity()
    {
        Some(Sensitivity::Sums { parts, .. }) => parts.iter().map(|part| part.one).collect::<Vec<_>>(),
        Some(Sensitivity::Score(score)) => vec![score],
        None => vec![],
    };
    assert_eq!(one(Query::Count, None), [1.0]);
    // The larger of |−2| and |5|; the half of 7, rounded up to a whole step.
    assert_eq!(one(Query::Sum, Some("k")), [5.0]);
    assert_eq!(one(Query::Mean, Some("k"))[..1], [4.0]);
    assert!((one(Query::Sum, Some("x"))[0] - 10.25).abs() < 1e-9);
    assert!((one(Query::Quantile { share: 0.9 }, Some("x"))[0] - 0.9).abs() < 1e-9);
    assert!((one(Query::Mode, Some("group"))[0] - 1.0).abs() < 1e-9);
}

/// Each mean error of 1,000 draws lies within 5.5 standard errors of what the law says, and a hundredth for what is of
/// second order: false alarms below 1e-6 for the six cases together (6 · 4e-8).
#[test]
fn errors_of_releases_are_those_that_the_law_says() {
    let (schema, table) = (schema(), rows(20_000));
    let mut random = RandomSource::seeded(5);
    for (query, column) in [
        (Query::Mean, "x"),
        (Query::Variance, "x"),
        (Query::Quantile { share: 0.5 }, "x"),
    ] {
        for epsilon in [0.2, 1.0] {
            let question = question(query, Some(column), None);
            let outlook = Outlook::new(&schema, &question).unwrap();
            let truth = truth(&outlook, &table);
            let cell = &truth.cells[0];
            let mechanism = outlook.mechanisms().next().unwrap();
            let law = outlook
                .law(mechanism, budget(epsilon), Some(cell), Some(&truth))
                .unwrap();
            let plan = ReleasePlan::new(&schema, &ReleaseRequest::new(query, Some(column), epsilon)).unwrap();
            let draws = if matches!(law, Law::Choice(_)) { 200 } else { 40 };
            let mut total = 0.0;
            for _ in 0..draws {
                let answer = plan.run(&table, &mut random).unwrap();
                let Value::Number(value) = answer.cells[0].value else {
                    panic!("a number")
                };
                total += (value - cell.number).abs();
            }
            let mean = total / f64::from(draws);
            let error = 5.5 * law.root_mean_square_error() / f64::from(draws).sqrt();
            let expected = law.expected_error();
            assert!(
                (mean - expected).abs() <= error + 0.01 * expected,
                "{query}: {mean} {expected}"
            );
        }
    }
}

#[test]
fn an_answer_from_uniform_numbers_is_the_statistic_with_its_noise() {
    let (schema, table) = (schema(), rows(1000));
    for (query, column) in [
        (Query::Count, Some("x")),
        (Query::Sum, Some("k")),
        (Query::Mean, Some("x")),
        (Query::Variance, Some("x")),
    ] {
        let outlook = Outlook::new(&schema, &question(query, column, None)).unwrap();
        let truth = truth(&outlook, &table);
        let (epsilon, delta) = budget(1.0);
        let parts = outlook.noise(Mechanism::Laplace, epsilon, delta).unwrap();
        let middle = outlook.answer(&parts, None, &truth.cells[0], &[0.5; 3]).unwrap();
        let exact = truth.cells[0].number;
        assert!(
            (middle - exact).abs() <= 1e-9 * exact.abs(),
            "{query}: {middle} {exact}"
        );
        let off = outlook.answer(&parts, None, &truth.cells[0], &[0.9; 3]).unwrap();
        assert!((off - exact).abs() > 1e-9, "{query}");
    }
}

#[test]
fn mechanisms_fit_their_questions_and_a_gaussian_needs_its_delta() {
    let schema = schema();
    let of = |query, column, by| Outlook::new(&schema, &question(query, column, by)).unwrap();
    let fits = |outlook: &Outlook, mechanism| outlook.mechanisms().any(|known| known == mechanism);
    let histogram = of(Query::Histogram { bins: None }, Some("group"), None);
    assert!(fits(&histogram, Mechanism::RandomizedResponse) && !fits(&histogram, Mechanism::Exponential));
    assert!(fits(
        &of(Query::Count, None, Some("group")),
        Mechanism::RandomizedResponse
    ));
    let mode = of(Query::Mode, Some("group"), None);
    assert_eq!(mode.mechanisms().collect::<Vec<_>>(), [Mechanism::Exponential]);
    let mut open = schema.clone();
    open.column.push(Column::new("open", Kind::Continuous));
    let search = Outlook::new(&open, &question(Query::Bounds, Some("open"), None)).unwrap();
    assert!(search.mechanisms().next().is_none() && search.sensitivity().is_none());
    let (epsilon, _) = budget(1.0);
    let none = Delta::new(0.0).unwrap();
    for mechanism in Mechanism::ALL
        .into_iter()
        .filter(|mechanism| mechanism.needs_delta())
    {
        let refused = histogram.noise(mechanism, epsilon, none).unwrap_err();
        assert!(refused.to_string().contains("delta above 0"), "{refused}");
    }
}

/// Counts of a category estimated from randomised responses: the mean of 200 errors divided by their own deviations
/// lies within 5 of 0 in units of 1/√200 (false alarms below 6e-7).
#[test]
fn responses_are_real_draws_around_the_truth() {
    let (schema, table) = (schema(), rows(5000));
    let question = question(Query::Histogram { bins: None }, Some("group"), None);
    let outlook = Outlook::new(&schema, &question).unwrap();
    let truth = truth(&outlook, &table);
    assert_eq!(truth.responses.len(), truth.cells.len());
    let mut sum = 0.0;
    for (draw, error) in truth.responses[0].iter().enumerate() {
        let epsilon = crate::release::outlook::draw_epsilon(draw);
        let law = outlook.law(
            Mechanism::RandomizedResponse,
            budget(epsilon),
            Some(&truth.cells[0]),
            Some(&truth),
        );
        sum += error / law.unwrap().root_mean_square_error();
    }
    assert!((sum / 200_f64.sqrt()).abs() < 5.0, "{sum}");
}

#[test]
fn a_column_without_values_is_no_panic() {
    let schema = schema();
    let empty = table(&[BLANK; 20]);
    for (query, column) in [
        (Query::Count, Some("x")),
        (Query::Mean, Some("x")),
        (Query::Variance, Some("k")),
        (Query::Quantile { share: 0.5 }, Some("x")),
        (Query::Mode, Some("group")),
        (Query::Histogram { bins: None }, Some("day")),
    ] {
        let outlook = Outlook::new(&schema, &question(query, column, None)).unwrap();
        let truth = truth(&outlook, &empty);
        for mechanism in outlook.mechanisms() {
            let law = outlook.law(mechanism, budget(0.5), truth.cells.first(), Some(&truth));
            let error = law.unwrap().expected_error();
            assert!(error.is_finite(), "{query} {mechanism:?}: {error}");
        }
    }
}
