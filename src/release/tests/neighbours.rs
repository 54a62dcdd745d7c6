//! Every stated sensitivity against all neighbours of small random tables.

use proptest::prelude::*;
use proptest::sample::select;

use super::{BLANK, Row, by_person, schema, table};
use crate::data::{Provenance, RowCount, Schema, Table};
use crate::privacy::Neighboring;
use crate::release::noise::NoisyPart;
use crate::release::{Noise, Query, ReleasePlan, ReleaseRequest};

const PERSONS: [Option<&str>; 4] = [Some("p"), Some("q"), Some("r"), None];
const XS: [Option<&str>; 7] = [
    Some("-3.5"),
    Some("10.25"),
    Some("0"),
    Some("3.3333333333333335"),
    Some("1e9"),
    Some("-77"),
    None,
];
const KS: [Option<&str>; 6] = [Some("-2"), Some("5"), Some("1"), Some("99"), Some("word"), None];
const GROUPS: [Option<&str>; 5] = [Some("a"), Some("b"), Some("c"), Some("elsewhere"), None];
const DAYS: [Option<&str>; 4] = [Some("2020-01-01"), Some("2020-12-31"), Some("1999-05-05"), None];
const FLAGS: [Option<&str>; 3] = [Some("true"), Some("false"), None];

fn row() -> impl Strategy<Value = Row> {
    let cells = (
        select(PERSONS.to_vec()),
        select(XS.to_vec()),
        select(KS.to_vec()),
        select(GROUPS.to_vec()),
        select(DAYS.to_vec()),
        select(FLAGS.to_vec()),
    );
    cells.prop_map(|(person, x, k, group, day, flag)| Row {
        person,
        x,
        k,
        group,
        day,
        flag,
    })
}

/// The statistics that are sums, with and without groups.
fn additive() -> Vec<ReleaseRequest> {
    let mut requests = Vec::new();
    for (query, columns) in [
        (Query::Count, vec!["x", "k", "group", "flag"]),
        (Query::Sum, vec!["x", "k", "flag"]),
        (Query::Mean, vec!["x", "k", "day", "flag"]),
        (Query::Variance, vec!["x", "k", "day"]),
        (
            Query::Histogram { bins: None },
            vec!["x", "k", "group", "day", "flag"],
        ),
        (Query::Histogram { bins: Some(3) }, vec!["x", "k", "day"]),
    ] {
        for column in columns {
            for by in [None, Some("group"), Some("flag")] {
                if by != Some(column) {
                    let mut request = ReleaseRequest::new(query, Some(column), 0.7);
                    request.by = by.map(str::to_owned);
                    requests.push(request);
                }
            }
        }
    }
    let mut rows = ReleaseRequest::new(Query::Count, None, 0.7);
    rows.by = Some("group".into());
    requests.push(rows);
    requests
}

/// Quantiles of whole numbers and modes: all candidates can be listed.
fn choices() -> Vec<ReleaseRequest> {
    let mut requests = Vec::new();
    for (query, column) in [
        (Query::Quantile { share: 0.5 }, "k"),
        (Query::Quantile { share: 0.1 }, "k"),
        (Query::Quantile { share: 0.9 }, "day"),
        (Query::Mode, "k"),
        (Query::Mode, "group"),
        (Query::Mode, "flag"),
    ] {
        for by in [None, Some("group"), Some("flag")] {
            if by != Some(column) {
                let mut request = ReleaseRequest::new(query, Some(column), 0.7);
                request.by = by.map(str::to_owned);
                requests.push(request);
            }
        }
    }
    requests
}

/// How often a part moved by all that is allowed, so that the bounds are known to be needed.
#[derive(Default)]
struct Tightness(u32);

fn check_part(
    part: &NoisyPart,
    one: &[i128],
    other: &[i128],
    tight: &mut Tightness,
) -> Result<(), TestCaseError> {
    let (mut up, mut down) = (0_u64, 0_u64);
    for (one, other) in part.on_grid(one).into_iter().zip(part.on_grid(other)) {
        if other > one {
            up += one.abs_diff(other);
        } else {
            down += one.abs_diff(other);
        }
    }
    let moved = if part.shift.times == 1 {
        up + down
    } else {
        up.max(down)
    };
    prop_assert!(
        moved <= part.shift.steps,
        "moved by {up} up and {down} down: {:?}",
        part.shift
    );
    tight.0 += u32::from(moved == part.shift.steps);
    Ok(())
}

fn check_pair(
    schema: &Schema,
    relation: Neighboring,
    (one, other): (&Table, &Table),
    tight: &mut Tightness,
) -> Result<(), TestCaseError> {
    for mut request in additive() {
        request.neighboring = relation;
        let plan = ReleasePlan::new(schema, &request).unwrap();
        let task = plan.additive().unwrap();
        let sums = [one, other].map(|table| task.measure(schema, table).unwrap());
        for ((part, one), other) in task.parts().iter().zip(&sums[0]).zip(&sums[1]) {
            check_part(part, one, other, tight)?;
        }
    }
    if schema.unit.is_some() {
        let mut request = ReleaseRequest::new(Query::Count, Some("person"), 0.7);
        request.neighboring = relation;
        let plan = ReleasePlan::new(schema, &request).unwrap();
        let task = plan.additive().unwrap();
        let counts = [one, other].map(|table| task.measure(schema, table).unwrap());
        prop_assert_eq!(task.parts()[0].shift.steps, 1);
        check_part(&task.parts()[0], &counts[0][0], &counts[1][0], tight)?;
    }
    for mut request in choices() {
        request.neighboring = relation;
        let plan = ReleasePlan::new(schema, &request).unwrap();
        let task = plan.choice().unwrap();
        let scores = [one, other].map(|table| task.scores(schema, table).unwrap());
        let mut spread = 0.0;
        for (one, other) in scores[0].iter().zip(&scores[1]) {
            let changes = one.iter().zip(other).map(|(one, other)| other - one);
            let (least, most) = changes.fold((f64::MAX, f64::MIN), |(least, most), change| {
                (least.min(change), most.max(change))
            });
            spread += most - least;
        }
        let paid = task.spread_paid_for();
        prop_assert!(spread <= paid * (1.0 + 1e-12), "{request}: {spread} of {paid}");
        tight.0 += u32::from(spread >= paid * (1.0 - 1e-12));
    }
    for column in ["x", "k", "day"] {
        let mut suggested = schema.clone();
        suggested.find_mut(column).unwrap().provenance = Some(Provenance::Suggested);
        let mut request = ReleaseRequest::new(Query::Bounds, Some(column), 0.7);
        request.neighboring = relation;
        let plan = ReleasePlan::new(&suggested, &request).unwrap();
        let task = plan.bounds().unwrap();
        let counts = [one, other].map(|table| task.measure(schema, table).unwrap());
        check_part(&task.part(), &counts[0], &counts[1], tight)?;
    }
    Ok(())
}

fn without(rows: &[Row], keep: impl Fn(usize, &Row) -> bool) -> Vec<Row> {
    let kept = rows.iter().enumerate().filter(|(index, row)| keep(*index, row));
    kept.map(|(_, row)| *row).collect()
}

fn with_rows(mut schema: Schema, rows: usize) -> Schema {
    schema.rows = Some(RowCount {
        value: rows.max(1) as u64,
        provenance: Provenance::Declared,
    });
    schema
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn one_row_moves_no_statistic_further_than_stated(
        rows in prop::collection::vec(row(), 1..6), other in row(), place in 0_usize..6
    ) {
        let whole = table(&rows);
        let mut tight = Tightness::default();
        let place = place % rows.len();
        let fewer = table(&without(&rows, |index, _| index != place));
        check_pair(&schema(), Neighboring::AddRemoveOne, (&whole, &fewer), &mut tight)?;
        // Zeroed out, a row adds nothing anywhere while the public row count stays.
        let declared = with_rows(schema(), rows.len());
        check_pair(&declared, Neighboring::AddRemoveOne, (&whole, &fewer), &mut tight)?;
        let mut changed = rows.clone();
        changed[place] = other;
        check_pair(&schema(), Neighboring::ReplaceOne, (&whole, &table(&changed)), &mut tight)?;
    }

    #[test]
    fn one_person_moves_no_statistic_further_than_stated(
        rows in prop::collection::vec(row(), 1..9),
        newcomer in prop::collection::vec((row(), 0_usize..9), 0..5),
        max_rows in 1_u32..4
    ) {
        let whole = table(&rows);
        let schema = by_person(max_rows);
        let mut tight = Tightness::default();
        for person in [Some("p"), Some("q"), None] {
            let mut changed = without(&rows, |_, row| row.person != person);
            check_pair(&schema, Neighboring::AddRemoveOne, (&whole, &table(&changed)), &mut tight)?;
            for (row, place) in &newcomer {
                let row = Row { person: Some("new"), ..*row };
                changed.insert(place % (changed.len() + 1), row);
            }
            check_pair(&schema, Neighboring::ReplaceOne, (&whole, &table(&changed)), &mut tight)?;
        }
    }
}

/// The stated sensitivities in the values' own units, for one row and for a person with three.
#[test]
fn the_sensitivities_are_those_of_the_theory() {
    let in_units = |schema: &Schema, query, column, by: Option<&str>, relation| {
        let mut request = ReleaseRequest::new(query, Some(column), 1.0);
        request.by = by.map(str::to_owned);
        request.neighboring = relation;
        let plan = ReleasePlan::new(schema, &request).unwrap();
        let task = plan.additive().unwrap();
        let part = task.parts()[0];
        let unit = task.unit();
        (
            part.shift.steps as f64 * part.grid as f64 * unit,
            part.shift.times,
        )
    };
    let near = |found: (f64, u64), steps: f64, times: u64| {
        assert_eq!(found.1, times);
        assert!(
            (found.0 / steps - 1.0).abs() < 2e-3,
            "{} against {steps}",
            found.0
        );
        assert!(found.0 >= steps * (1.0 - 1e-9), "{} is below {steps}", found.0);
    };
    let (add, replace) = (Neighboring::AddRemoveOne, Neighboring::ReplaceOne);
    let one = schema();
    near(in_units(&one, Query::Count, "x", None, add), 1.0, 1);
    near(in_units(&one, Query::Count, "x", None, replace), 1.0, 1);
    near(in_units(&one, Query::Count, "x", Some("group"), replace), 1.0, 2);
    near(in_units(&one, Query::Sum, "x", None, add), 10.25, 1);
    near(in_units(&one, Query::Sum, "x", None, replace), 13.75, 1);
    near(in_units(&one, Query::Sum, "x", Some("group"), add), 10.25, 1);
    near(in_units(&one, Query::Sum, "x", Some("group"), replace), 20.5, 1);
    near(in_units(&one, Query::Sum, "k", None, add), 5.0, 1);
    near(in_units(&one, Query::Sum, "k", None, replace), 7.0, 1);
    near(in_units(&one, Query::Mean, "x", None, add), 6.875, 1);
    near(in_units(&one, Query::Mean, "x", None, replace), 13.75, 1);
    near(
        in_units(&one, Query::Histogram { bins: None }, "group", None, add),
        1.0,
        1,
    );
    near(
        in_units(&one, Query::Histogram { bins: None }, "group", None, replace),
        1.0,
        2,
    );
    let three = by_person(3);
    near(in_units(&three, Query::Count, "x", None, add), 3.0, 1);
    near(in_units(&three, Query::Count, "x", None, replace), 3.0, 1);
    near(in_units(&three, Query::Sum, "k", None, add), 15.0, 1);
    near(in_units(&three, Query::Sum, "k", None, replace), 21.0, 1);
    near(
        in_units(&three, Query::Histogram { bins: None }, "group", None, replace),
        3.0,
        2,
    );
}

/// Bounds that are far from needed would be safe and a waste; random neighbours of the kind above reach them.
#[test]
fn the_stated_sensitivities_are_reached() {
    let least = Row {
        person: Some("p"),
        x: Some("-3.5"),
        k: Some("-2"),
        group: Some("a"),
        day: Some("2020-01-01"),
        flag: Some("false"),
    };
    let most = Row {
        x: Some("10.25"),
        k: Some("5"),
        group: Some("b"),
        day: Some("2020-12-31"),
        flag: Some("true"),
        ..least
    };
    let mut tight = Tightness::default();
    let pair = [table(&[least, most]), table(&[least])];
    check_pair(
        &schema(),
        Neighboring::AddRemoveOne,
        (&pair[0], &pair[1]),
        &mut tight,
    )
    .unwrap();
    assert!(
        tight.0 > 50,
        "only {} statistics moved by all that is stated",
        tight.0
    );
    let mut tight = Tightness::default();
    let pair = [table(&[least, most]), table(&[least, least])];
    check_pair(
        &schema(),
        Neighboring::ReplaceOne,
        (&pair[0], &pair[1]),
        &mut tight,
    )
    .unwrap();
    assert!(
        tight.0 > 30,
        "only {} statistics moved by all that is stated",
        tight.0
    );
}

/// The order of rows changes no exact sum, whatever the numbers.
#[test]
fn sums_do_not_depend_on_the_order_of_rows() {
    let rows: Vec<Row> = (0..200)
        .map(|index| Row {
            x: XS[(index * 5) % XS.len()],
            k: KS[(index * 3) % KS.len()],
            group: GROUPS[index % 3],
            day: DAYS[index % DAYS.len()],
            flag: FLAGS[index % FLAGS.len()],
            ..BLANK
        })
        .collect();
    let reversed: Vec<Row> = rows.iter().rev().copied().collect();
    let tables = [table(&rows), table(&reversed)];
    for mut request in additive() {
        request.mechanism = Some(Noise::Gaussian);
        request.delta = 1e-6;
        let plan = ReleasePlan::new(&schema(), &request).unwrap();
        let task = plan.additive().unwrap();
        let sums = tables
            .each_ref()
            .map(|table| task.measure(&schema(), table).unwrap());
        assert_eq!(sums[0], sums[1], "{request}");
    }
}
