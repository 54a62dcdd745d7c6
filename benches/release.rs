//! Private statistics of a million rows that are in memory: everything beyond loading, but for the ledger's entry.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use pointillist::data::{Column, Kind, Provenance, ReadOptions, Schema, Table, Unit, prepare, read_table};
use pointillist::num::{Progress, RandomSource};
use pointillist::release::{Noise, Query, ReleasePlan, ReleaseRequest};

const ROWS: usize = 1_000_000;

/// A CSV file with few and with many distinct values, as they come: text until a schema says what it means.
fn million_rows() -> Table {
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = String::from("person,age,weight,ward,smoker\n");
    let mut state = 1_u64;
    for row in 0..ROWS {
        // A linear congruential generator is random enough to keep branches from being learned.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let draw = state >> 33;
        let ward = ["north", "south", "east", "west", ""][(draw % 5) as usize];
        let weight = 40.0 + (draw % 80_000_000) as f64 * 1e-6;
        let _ = writeln!(
            text,
            "p{},{},{weight},{ward},{}",
            row / 3,
            draw % 100,
            draw.is_multiple_of(7)
        );
    }
    let path = folder.path().join("million.csv");
    std::fs::write(&path, text).expect("a million rows fit the disk");
    read_table(&path, &ReadOptions::default(), &Progress::new()).expect("it is a table")
}

fn schema() -> Schema {
    let declared = |column: Column| column.with_provenance(Provenance::Declared).with_missing(true);
    Schema::new(vec![
        Column::new("person", Kind::Identifier),
        declared(Column::new("age", Kind::Integer).with_bounds(0, 99)),
        declared(Column::new("weight", Kind::Continuous).with_bounds(30.0, 130.0)),
        declared(Column::new("ward", Kind::Categorical).with_domain(["north", "south", "east", "west"])),
        declared(Column::new("smoker", Kind::Boolean)),
    ])
}

/// Text columns are parsed while a table is loaded, and kept. The first statistic is timed by itself, on tables that
/// nobody has asked before.
fn first_times(schema: &Schema, persons: &Schema) {
    let mut random = RandomSource::from_operating_system();
    for (name, schema, column) in [
        ("mean of weight", schema, "weight"),
        ("mean of age, 2 rows a person", persons, "age"),
    ] {
        let request = ReleaseRequest::new(Query::Mean, Some(column), 1.0);
        let times: Vec<f64> = (0..3)
            .map(|_| {
                let table = million_rows();
                let plan = ReleasePlan::new(schema, &request).expect("it is declared");
                prepare(&table, schema);
                let start = Instant::now();
                black_box(plan.run(&table, &mut random)).expect("it is the schema's table");
                start.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        println!("release of a million rows/{name}, for the first time: {times:.1?} ms");
    }
}

fn benchmarks(criterion: &mut Criterion) {
    let table = million_rows();
    let schema = schema();
    let mut suggested = schema.clone();
    for column in &mut suggested.column {
        column.provenance = Some(Provenance::Suggested);
    }
    let mut persons = schema.clone();
    persons.unit = Some(Unit {
        persons: None,
        column: "person".into(),
        max_rows: 2,
    });
    first_times(&schema, &persons);
    let mut random = RandomSource::from_operating_system();
    let mut group = criterion.benchmark_group("release of a million rows");
    group.sample_size(20);
    let mut bench = |name: &str, schema: &Schema, request: ReleaseRequest| {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let plan = ReleasePlan::new(schema, &request).expect("it is declared");
                black_box(plan.run(&table, &mut random)).expect("it is the schema's table")
            });
        });
    };
    let request = |query, column| ReleaseRequest::new(query, Some(column), 1.0);
    let by = |request: ReleaseRequest| ReleaseRequest {
        by: Some("ward".into()),
        ..request
    };
    bench("count", &schema, request(Query::Count, "age"));
    for column in ["age", "weight"] {
        bench(&format!("sum of {column}"), &schema, request(Query::Sum, column));
        bench(
            &format!("mean of {column}"),
            &schema,
            request(Query::Mean, column),
        );
        bench(
            &format!("variance of {column}"),
            &schema,
            request(Query::Variance, column),
        );
        let median = request(Query::Quantile { share: 0.5 }, column);
        bench(&format!("median of {column}"), &schema, median.clone());
        bench(&format!("median of {column} by ward"), &schema, by(median));
        bench(
            &format!("mean of {column} by ward"),
            &schema,
            by(request(Query::Mean, column)),
        );
        bench(
            &format!("histogram of {column}"),
            &schema,
            request(Query::Histogram { bins: Some(50) }, column),
        );
        bench(
            &format!("bounds of {column}"),
            &suggested,
            request(Query::Bounds, column),
        );
    }
    let gaussian = ReleaseRequest {
        mechanism: Some(Noise::Gaussian),
        delta: 1e-6,
        ..request(Query::Mean, "age")
    };
    bench("mean of age, Gaussian", &schema, gaussian);
    bench("mode of ward", &schema, request(Query::Mode, "ward"));
    let categories = ReleaseRequest {
        delta: 1e-6,
        ..request(Query::Categories, "ward")
    };
    bench("categories of ward", &suggested, categories);
    bench(
        "mean of age, 2 rows a person",
        &persons,
        request(Query::Mean, "age"),
    );
    group.finish();
}

criterion_group!(benches, benchmarks);
criterion_main!(benches);
