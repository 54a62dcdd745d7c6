//! A million rows of 15 columns: read, profiled, encoded, decoded and written.
//!
//! With `TABLE_BENCH_FOLDER` set, the `million.csv` and `million.parquet` of that folder are read, which
//! `tests/peers/table_speed.py` makes and reads, too.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use arrow::record_batch::RecordBatch;
use criterion::{Criterion, criterion_group, criterion_main};
use pointillist::data::{
    EncoderSettings, ReadOptions, RowEncoder, Schema, Table, profile, read_table, samples,
};
use pointillist::export::{SealedTable, TableWriter};
use pointillist::num::{Progress, RandomSource};

const ROWS: usize = 1_000_000;

/// The Adult sample, over and over, as CSV and Parquet files.
fn million_rows(folder: &Path) -> [PathBuf; 2] {
    if let Some(given) = std::env::var_os("TABLE_BENCH_FOLDER") {
        return ["million.csv", "million.parquet"].map(|name| Path::new(&given).join(name));
    }
    let sample = samples::all()[0].table(&Progress::new()).expect("it ships");
    let mut text = sample.column_names().collect::<Vec<_>>().join(",") + "\n";
    let lines: Vec<String> = sample
        .preview(0..sample.rows())
        .unwrap()
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
    let path = folder.join("million.csv");
    std::fs::write(&path, text).expect("a million rows fit the disk");
    let typed = folder.join("million.parquet");
    let mut schema = samples::all()[0].schema().expect("it ships");
    schema.rows = None;
    write(&decoded(&read(&path), &schema), &schema, &typed);
    [path, typed]
}

/// The rows as a generator would yield them.
fn decoded(table: &Table, schema: &Schema) -> RecordBatch {
    let encoder = RowEncoder::new(schema, &EncoderSettings::default()).expect("it is reviewed");
    let rows = encoder.encode(table, &Progress::new()).expect("it fits");
    encoder
        .decode(&rows, None, &mut RandomSource::seeded(1))
        .expect("it is ours")
}

fn write(batch: &RecordBatch, schema: &Schema, target: &Path) {
    let mut writer = TableWriter::create(target, schema, true).expect("a writable folder");
    writer.write(batch).expect("space");
    writer.seal().and_then(SealedTable::publish).expect("space");
}

/// What the table's arrays take, and the most that the process has held; where the system says so.
fn say_memory(path: &Path) {
    let table = read(path);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    println!(
        "{}: arrays of {} kB, at most {} resident",
        path.display(),
        table.memory_bytes() / 1024,
        peak.unwrap_or("?").trim()
    );
}

fn read(path: &Path) -> Table {
    read_table(path, &ReadOptions::default(), &Progress::new()).expect("it is a table")
}

fn benchmarks(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let [path, typed] = million_rows(folder.path());
    say_memory(&path);
    let table = read(&path);
    let mut schema = samples::all()[0].schema().expect("it ships");
    schema.rows = None;
    let encoder = RowEncoder::new(&schema, &EncoderSettings::default()).expect("it is reviewed");
    let rows = encoder.encode(&table, &Progress::new()).expect("it fits");
    let mut random = RandomSource::seeded(1);
    let batch = decoded(&table, &schema);

    let mut group = criterion.benchmark_group("million rows");
    group.sample_size(10);
    group.bench_function("read csv", |bencher| bencher.iter(|| black_box(read(&path))));
    group.bench_function("read parquet", |bencher| bencher.iter(|| black_box(read(&typed))));
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
        bencher.iter(|| black_box(table.preview(777_777..777_827).unwrap()));
    });
    for name in ["out.csv", "out.parquet", "out.arrow", "out.sqlite"] {
        let target = folder.path().join(name);
        group.bench_function(format!("write {name}"), |bencher| {
            bencher.iter(|| write(&batch, &schema, &target));
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
