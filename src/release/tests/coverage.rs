//! Intervals hold at least as often as they say, by simulation at ε 0.1, 1 and 10.
//!
//! Each check releases one statistic many times on the same table and counts how often its interval misses the
//! statistic without noise. If intervals hold with probability 95 % or more, misses are at most binomial; a check fails
//! when there are so many that this would happen with probability below 1e-6 over all checks of the test
//! together (1e-8 for each, at most 100 checks a test).

use super::{Row, by_person, schema, table};
use crate::data::{Provenance, RowCount, Schema, Table};
use crate::num::RandomSource;
use crate::privacy::Neighboring;
use crate::release::{Answer, CONFIDENCE, Interval, Noise, Query, ReleasePlan, ReleaseRequest, Value};

const RUNS: u64 = 600;
const FALSE_ALARM: f64 = 1e-8;
const EPSILONS: [f64; 3] = [0.1, 1.0, 10.0];

/// The least number of misses in `runs` that binomial ones reach with probability below [`FALSE_ALARM`].
fn too_many(runs: u64, miss: f64) -> u64 {
    let mut probability = (1.0 - miss).powf(runs as f64);
    let mut below = 0.0;
    for k in 0..=runs {
        if 1.0 - below < FALSE_ALARM {
            return k;
        }
        below += probability;
        probability *= (runs - k) as f64 / (k + 1) as f64 * miss / (1.0 - miss);
    }
    runs + 1
}

#[test]
fn the_alarm_is_set_where_it_says() {
    // SciPy 1.17, binom.isf(1e-8, 600, 0.05) + 1 = 65.
    let limit = too_many(600, 0.05);
    assert!((62..=68).contains(&limit), "{limit}");
}

fn words(values: impl IntoIterator<Item = String>) -> Vec<&'static str> {
    values
        .into_iter()
        .map(|text| &*Box::leak(text.into_boxed_str()))
        .collect()
}

/// Rows with every kind of trouble: values beyond the bounds, missing ones, ties, rows without a group.
fn rows(count: usize) -> Vec<Row> {
    let xs = words((0..count).map(|index| format!("{}", (index * 37 % 101) as f64 / 6.0 - 5.0)));
    let ks = words((0..count).map(|index| format!("{}", (index * index) % 9)));
    let days = words((0..count).map(|index| format!("2020-{:02}-{:02}", index % 12 + 1, index % 28 + 1)));
    (0..count)
        .map(|index| Row {
            person: Some(["p", "q", "r", "s", "t", "u", "v"][index % 7]),
            x: (index % 11 != 0).then(|| xs[index]),
            k: (index % 13 != 0).then(|| ks[index]),
            group: [Some("a"), Some("b"), Some("a"), None][index % 4],
            day: (index % 9 != 0).then(|| days[index]),
            flag: Some(if index % 3 == 0 { "true" } else { "false" }),
        })
        .collect()
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Whole(value) => *value as f64,
        Value::Number(value) => *value,
        Value::Text(text) => {
            let date = text.parse::<chrono::NaiveDate>().unwrap();
            date.signed_duration_since(chrono::NaiveDate::default())
                .num_days() as f64
        }
    }
}

/// Whether every interval of an answer holds its truth, and each of them.
fn holds(answer: &Answer, truth: &[f64]) -> Vec<bool> {
    assert_eq!(answer.cells.len(), truth.len(), "{:?}", answer.cells);
    let hair = |truth: f64| 1e-9 * truth.abs().max(1e-6);
    answer
        .cells
        .iter()
        .zip(truth)
        .map(|(cell, &truth)| match cell.interval.as_ref().unwrap() {
            Interval::Between(lower, upper) => {
                let value = number(&cell.value);
                assert!(number(lower) <= value && value <= number(upper), "{cell:?}");
                number(lower) - hair(truth) <= truth && truth <= number(upper) + hair(truth)
            }
            other => panic!("{other:?}"),
        })
        .collect()
}

/// Simulates one request and holds the misses of each cell (or, simultaneously, of all together) against the limit.
fn check(schema: &Schema, table: &Table, request: &ReleaseRequest, truth: &[f64]) {
    let plan = ReleasePlan::new(schema, request).unwrap();
    let mut random = RandomSource::seeded(7);
    let mut misses = vec![0; if request.simultaneous { 1 } else { truth.len() }];
    for _ in 0..RUNS {
        let held = holds(&plan.run(table, &mut random).unwrap(), truth);
        if request.simultaneous {
            misses[0] += u64::from(held.contains(&false));
        } else {
            misses
                .iter_mut()
                .zip(held)
                .for_each(|(misses, held)| *misses += u64::from(!held));
        }
    }
    let limit = too_many(RUNS, 1.0 - CONFIDENCE);
    assert!(
        misses.iter().all(|&misses| misses < limit),
        "{request} at ε {}: {misses:?} misses of {RUNS}, at most {limit} are credible",
        request.epsilon
    );
}

/// The values of a column that count, clamped.
fn values(rows: &[Row], column: &str) -> Vec<f64> {
    let (lower, upper) = match column {
        "x" => (-3.5, 10.25),
        "k" => (-2.0, 5.0),
        _ => (0.0, f64::MAX),
    };
    rows.iter()
        .filter_map(|row| match column {
            "x" => row.x?.parse::<f64>().ok(),
            "k" => row.k?.parse().ok(),
            _ => Some(number(&Value::Text(row.day?.to_owned()))),
        })
        .map(|value: f64| value.clamp(lower, upper))
        .collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64
}

#[test]
fn counts_sums_means_and_variances_are_covered() {
    let rows = rows(300);
    let table = table(&rows);
    for epsilon in EPSILONS {
        for column in ["x", "k", "day"] {
            let values = values(&rows, column);
            for (query, truth) in [
                (Query::Count, values.len() as f64),
                (Query::Sum, values.iter().sum()),
                (Query::Mean, mean(&values)),
                (Query::Variance, variance(&values)),
            ] {
                if (query, column) == (Query::Sum, "day") {
                    continue;
                }
                let mut request = ReleaseRequest::new(query, Some(column), epsilon);
                check(&schema(), &table, &request, &[truth]);
                request.mechanism = Some(Noise::Gaussian);
                request.delta = 1e-6;
                request.neighboring = Neighboring::ReplaceOne;
                check(&schema(), &table, &request, &[truth]);
            }
        }
    }
}

#[test]
fn a_public_row_count_is_used_and_covered() {
    let rows: Vec<Row> = rows(120).into_iter().filter(|row| row.x.is_some()).collect();
    let mut schema = schema();
    schema.find_mut("x").unwrap().missing = false;
    schema.rows = Some(RowCount {
        value: rows.len() as u64,
        provenance: Provenance::Declared,
    });
    let values = values(&rows, "x");
    for epsilon in EPSILONS {
        let request = ReleaseRequest::new(Query::Mean, Some("x"), epsilon);
        assert_eq!(
            ReleasePlan::new(&schema, &request).unwrap().events().events.len(),
            1
        );
        check(&schema, &table(&rows), &request, &[mean(&values)]);
        let request = ReleaseRequest::new(Query::Variance, Some("x"), epsilon);
        check(&schema, &table(&rows), &request, &[variance(&values)]);
    }
}

#[test]
fn groups_and_bins_are_covered_each_and_all_at_once() {
    let rows = rows(300);
    let table = table(&rows);
    let groups = [Some("a"), Some("b"), Some("c"), None];
    let of_groups = |of: &dyn Fn(&[f64]) -> f64| {
        let of_group = |group| {
            let members: Vec<Row> = rows.iter().filter(|row| row.group == group).copied().collect();
            of(&values(&members, "x"))
        };
        groups.map(of_group).to_vec()
    };
    for epsilon in EPSILONS {
        for simultaneous in [false, true] {
            let mut request = ReleaseRequest::new(Query::Sum, Some("x"), epsilon);
            request.by = Some("group".into());
            request.simultaneous = simultaneous;
            check(
                &schema(),
                &table,
                &request,
                &of_groups(&|values| values.iter().sum()),
            );
            request.query = Query::Count;
            check(
                &schema(),
                &table,
                &request,
                &of_groups(&|values| values.len() as f64),
            );
            request.query = Query::Mean;
            // Nobody is in group c, so its mean is whatever one says; the interval is then the whole range.
            let truth = of_groups(&|values| if values.is_empty() { 3.375 } else { mean(values) });
            check(&schema(), &table, &request, &truth);

            let mut request = ReleaseRequest::new(Query::Histogram { bins: None }, Some("k"), epsilon);
            request.simultaneous = simultaneous;
            let of_k = values(&rows, "k");
            let count = |value: i32| of_k.iter().filter(|&&k| k == f64::from(value)).count() as f64;
            let mut truth: Vec<f64> = (-2..=5).map(count).collect();
            truth.push((rows.len() - of_k.len()) as f64);
            check(&schema(), &table, &request, &truth);
        }
    }
}

#[test]
fn persons_are_covered_for_the_rows_that_count() {
    let rows = rows(210);
    let mut seen = std::collections::HashMap::new();
    let counted: Vec<Row> = rows
        .iter()
        .filter(|row| {
            let rows = seen.entry(row.person).or_insert(0);
            *rows += 1;
            *rows <= 4
        })
        .copied()
        .collect();
    assert_eq!(counted.len(), 28);
    let values = values(&counted, "k");
    for epsilon in EPSILONS {
        let request = ReleaseRequest::new(Query::Mean, Some("k"), epsilon);
        check(&by_person(4), &table(&rows), &request, &[mean(&values)]);
        let request = ReleaseRequest::new(Query::Count, None, epsilon);
        check(&by_person(4), &table(&rows), &request, &[28.0]);
    }
}

#[test]
fn ranks_and_frequencies_are_as_near_as_stated() {
    let rows = rows(300);
    let table = table(&rows);
    let mut random = RandomSource::seeded(11);
    let limit = too_many(RUNS, 1.0 - CONFIDENCE);
    for epsilon in EPSILONS {
        for (column, share) in [("x", 0.5), ("x", 0.05), ("k", 0.5), ("k", 0.9), ("day", 0.25)] {
            let values = values(&rows, column);
            let request = ReleaseRequest::new(Query::Quantile { share }, Some(column), epsilon);
            let plan = ReleasePlan::new(&schema(), &request).unwrap();
            let mut misses = 0;
            for _ in 0..RUNS {
                let answer = plan.run(&table, &mut random).unwrap();
                let cell = &answer.cells[0];
                let Some(Interval::Rank(ranks)) = cell.interval else {
                    panic!("{cell:?}")
                };
                let found = number(&cell.value);
                // The grid's points lie 13.75 / 2^24 apart, and values count as the nearest one.
                let hair = if column == "x" { 1e-6 } else { 0.0 };
                let target = share * values.len() as f64;
                let below = values.iter().filter(|&&value| value < found - hair).count() as f64;
                let up_to = values.iter().filter(|&&value| value <= found + hair).count() as f64;
                misses += u64::from(below > target + ranks || up_to < target - ranks);
            }
            assert!(misses < limit, "{request} at ε {epsilon}: {misses} misses");
        }
        let request = ReleaseRequest::new(Query::Mode, Some("k"), epsilon);
        let plan = ReleasePlan::new(&schema(), &request).unwrap();
        let values = values(&rows, "k");
        let count = |value: f64| values.iter().filter(|&&other| other == value).count() as f64;
        let most = (-2..=5).map(|k| count(f64::from(k))).fold(0.0, f64::max);
        let mut misses = 0;
        for _ in 0..RUNS {
            let answer = plan.run(&table, &mut random).unwrap();
            let Some(Interval::Frequency(rows)) = answer.cells[0].interval else {
                panic!("{:?}", answer.cells[0])
            };
            misses += u64::from(count(number(&answer.cells[0].value)) < most - rows);
        }
        assert!(misses < limit, "mode at ε {epsilon}: {misses} misses");
    }
}
