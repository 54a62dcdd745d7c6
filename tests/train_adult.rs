//! A short run on the real Adult table from file to rows, and (on request) whole runs for the record.
//!
//! `POINTILLIST_RUN=out.csv POINTILLIST_EPSILON=1 cargo test --release --test train_adult -- --ignored --nocapture`
//! trains with the recommended settings and writes as many synthetic rows as there are real ones.

use std::path::{Path, PathBuf};
use std::time::Instant;

use arrow::csv::WriterBuilder;
use pointillist::data::{
    Kind, ReadOptions, RowEncoder, RuleCounts, Scale, Schema, Table, profile, read_table,
};
use pointillist::num::{Progress, RandomSource};
use pointillist::privacy::Neighboring;
use pointillist::train::{
    Control, DeviceKind, Observation, Plan, Privacy, TrainSettings, Trained, Training, recommended,
};

/// A table of the shared folder, if this machine has it.
fn shared_table(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../shared/data/tabular")
        .join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {} is not here", path.display());
    None
}

fn open(path: &Path) -> (Table, Schema) {
    let table = read_table(path, &ReadOptions::default(), &Progress::new()).unwrap();
    let mut schema = profile(&table, &Progress::new()).unwrap().schema;
    for column in &mut schema.column {
        column.accept_suggestion();
    }
    (table, schema)
}

/// What the census bureau's code book says of Adult's numbers.
fn declare_adult(schema: &mut Schema) {
    let numbers = [
        ("age", 17, 90, Scale::Linear),
        ("fnlwgt", 10_000, 1_500_000, Scale::Log),
        ("education_num", 1, 16, Scale::Linear),
        ("capital_gain", 0, 99_999, Scale::Log),
        ("capital_loss", 0, 5000, Scale::Log),
        ("hours_per_week", 1, 99, Scale::Linear),
    ];
    for (name, lower, upper, scale) in numbers {
        let column = schema.find_mut(name).unwrap();
        column.set_kind(Kind::Integer);
        column.declare_bounds(lower, upper);
        column.scale = scale;
    }
    schema.label = Some("income".to_owned());
}

fn train(
    table: &Table,
    schema: &Schema,
    settings: &TrainSettings,
    privacy: Privacy,
    random: RandomSource,
    observe: &mut dyn FnMut(Observation),
) -> Trained {
    let plan = Plan::new(settings, schema, table.rows(), privacy).unwrap();
    let encoder = RowEncoder::new(schema, plan.encoder_settings()).unwrap();
    let rows = encoder.encode(table, &Progress::new()).unwrap();
    let planned = plan.events();
    let training = Training::new(plan, encoder, rows, DeviceKind::Flex, random).unwrap();
    let trained = training.run(&Control::new(), observe).unwrap();
    assert_eq!(trained.executed, planned, "what was executed is what was planned");
    trained
}

fn private(epsilon: f64) -> Privacy {
    Privacy::Private {
        epsilon,
        delta: 1e-5,
        neighboring: Neighboring::AddRemoveOne,
    }
}

#[test]
fn a_short_run_gives_rows_of_the_schema() {
    let Some(path) = shared_table("adult.csv") else {
        return;
    };
    let (table, mut schema) = open(&path);
    declare_adult(&mut schema);
    let settings = TrainSettings {
        steps: 30,
        ..recommended(table.rows(), &schema, 1.0)
    };
    let trained = train(
        &table,
        &schema,
        &settings,
        private(1.0),
        RandomSource::seeded(1),
        &mut |_| (),
    );
    assert!(trained.epsilon.unwrap() <= 1.0);
    let mut random = RandomSource::seeded(2);
    let batch = trained
        .generator
        .table()
        .unwrap()
        .sample(1000, None, &mut random)
        .unwrap();
    assert_eq!((batch.num_rows(), batch.num_columns()), (1000, 15));
    let back = Table::from_batches("synthetic", &batch.schema(), std::slice::from_ref(&batch)).unwrap();
    schema.check(&back, &Progress::new()).unwrap();
    for (index, field) in batch.schema().fields().iter().enumerate() {
        let cell = |row| back.cell(row, index).unwrap();
        let varies = (1..1000).any(|row| cell(row) != cell(0));
        assert!(varies, "{} varies", field.name());
    }
}

#[test]
#[ignore = "a whole run, for the record: see the top of the file"]
fn a_whole_run() {
    let variable = |name: &str| std::env::var(name).ok();
    let number = |name: &str, default: f64| variable(name).map_or(default, |text| text.parse().unwrap());
    let Some(out) = variable("POINTILLIST_RUN") else {
        return;
    };
    let name = variable("POINTILLIST_TABLE").unwrap_or_else(|| "adult.csv".to_owned());
    let path = if Path::new(&name).exists() {
        PathBuf::from(name)
    } else {
        shared_table(&name).unwrap()
    };
    let epsilon = number("POINTILLIST_EPSILON", 1.0);
    let (table, mut schema) = open(&path);
    if schema.position("fnlwgt").is_some() {
        declare_adult(&mut schema);
    } else {
        schema.label = variable("POINTILLIST_LABEL");
    }
    let mut settings = recommended(table.rows(), &schema, epsilon);
    // Other settings as JSON, merged over the recommended ones.
    if let Some(changes) = variable("POINTILLIST_SETTINGS") {
        let mut all = serde_json::to_value(&settings).unwrap();
        let changes: serde_json::Value = serde_json::from_str(&changes).unwrap();
        for (key, value) in changes.as_object().unwrap() {
            all[key] = value.clone();
        }
        settings = serde_json::from_value(all).unwrap();
    }
    let privacy = if epsilon > 0.0 {
        private(epsilon)
    } else {
        Privacy::None
    };
    let started = Instant::now();
    let mut observe = |observation: Observation| {
        if let Observation::Fidelity(fidelity) = observation
            && variable("POINTILLIST_VERBOSE").is_some()
        {
            println!(
                "{:6.1} s, step {}: Fréchet {:?}, total variation {:.4}",
                started.elapsed().as_secs_f64(),
                fidelity.step,
                fidelity.frechet.for_steward(),
                fidelity.total_variation.for_steward()
            );
        }
    };
    let random = RandomSource::from_operating_system();
    let trained = train(&table, &schema, &settings, privacy, random, &mut observe);
    let trained_seconds = started.elapsed().as_secs_f64();
    let mut random = RandomSource::from_operating_system();
    let mut counts = RuleCounts::default();
    let file = std::fs::File::create(&out).unwrap();
    let mut writer = WriterBuilder::new().with_header(true).build(file);
    for batch in trained
        .generator
        .table()
        .unwrap()
        .batches(table.rows(), None, &mut random, &mut counts)
        .unwrap()
    {
        writer.write(&batch.unwrap()).unwrap();
    }
    println!(
        "{} rows, {} steps, ε {:?}, trained in {trained_seconds:.1} s, written after {:.1} s",
        table.rows(),
        trained.steps_done,
        trained.epsilon,
        started.elapsed().as_secs_f64()
    );
}
