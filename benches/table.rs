//! A million rows of 15 columns: read, profiled, encoded, decoded and written.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::PathBuf;

use criterion::{Criterion, criterion_group, criterion_main};
use pointillist::data::{EncoderSettings, ReadOptions, RowEncoder, Table, profile, read_table, samples};
use pointillist::export::{SealedTable, TableWriter};
use pointillist::num::{Progress, RandomSource};

const ROWS: usize = 1_000_000;

/// The Adult sample, over and over, as a CSV file.
fn million_rows(folder: &tempfile::TempDir) -> PathBuf {
    let sample = samples::all()[0].table(&Progress::new()).expect("it ships");
    let mut text = sample.column_names().collect::<Vec<_>>().join(",") + "\n";
    let lines: Vec<String> = sample
        .preview(0..sample.rows())
        .into_iter()
        .map(|cells| {
            cells
                .into_iter()
                .map(Option::unwrap_or_default)
                .collect::<Vec<_>>()
                .join(",")
        })
        .collect();
    for row in 0..ROWS {
        let _ = writeln!(text, "{}", lines[row % lines.len()]);
    }
    let path = folder.path().join("million.csv");
    std::fs::write(&path, text).expect("a million rows fit the disk");
    path
}

fn read(path: &std::path::Path) -> Table {
    read_table(path, &ReadOptions::default(), &Progress::new()).expect("it is a table")
}

fn benchmarks(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = million_rows(&folder);
    let table = read(&path);
    let mut schema = samples::all()[0].schema().expect("it ships");
    schema.rows = None;
    let encoder = RowEncoder::new(&schema, &EncoderSettings::default()).expect("it is reviewed");
    let rows = encoder.encode(&table, &Progress::new()).expect("it fits");
    let mut random = RandomSource::seeded(1);
    let batch = encoder.decode(&rows, None, &mut random).expect("it is ours");

    let mut group = criterion.benchmark_group("million rows");
    group.sample_size(10);
    group.bench_function("read csv", |bencher| bencher.iter(|| black_box(read(&path))));
    group.bench_function("profile", |bencher| {
        bencher.iter(|| black_box(profile(&table, &Progress::new())));
    });
    group.bench_function("encode", |bencher| {
        bencher.iter(|| black_box(encoder.encode(&table, &Progress::new())));
    });
    group.bench_function("decode", |bencher| {
        bencher.iter(|| black_box(encoder.decode(&rows, None, &mut random)));
    });
    group.bench_function("preview of 50 rows", |bencher| {
        bencher.iter(|| black_box(table.preview(777_777..777_827)));
    });
    for name in ["out.csv", "out.parquet"] {
        let target = folder.path().join(name);
        group.bench_function(format!("write {name}"), |bencher| {
            bencher.iter(|| {
                let mut writer = TableWriter::create(&target, &schema, true).expect("a writable folder");
                writer.write(&batch).expect("space");
                writer.seal().and_then(SealedTable::publish).expect("space")
            });
        });
    }
    group.bench_function("expand 512 rows", |bencher| {
        let picks: Vec<usize> = (0..512).map(|row| row * 1951).collect();
        let mut dense = vec![0.0; picks.len() * encoder.width()];
        bencher.iter(|| rows.write_dense(black_box(&picks), &mut dense));
    });
    group.finish();
}

criterion_group!(benches, benchmarks);
criterion_main!(benches);
