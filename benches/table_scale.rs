//! What a run costs by the number of rows: Adult over and over, 100,000 to 100 million rows of 15 columns.
//!
//! The rows of the table share their memory, so what is measured is the encoded rows: how long they take to be stored and
//! where, what a critic's step costs then, and the most that the process has held. Stored rows of the largest table take
//! some 2 GB of the disk that holds `TABLE_BENCH_FOLDER`, or the system's folder for such files.

use std::path::{Path, PathBuf};
use std::time::Instant;

use arrow::record_batch::RecordBatch;
use pointillist::data::{Room, RowEncoder, Schema, Table, samples};
use pointillist::num::{Progress, RandomSource};
use pointillist::privacy::Neighboring;
use pointillist::train::{
    Control, DeviceKind, Observation, Plan, PoissonSampler, Privacy, TrainSettings, Training,
};

const SIZES: [usize; 4] = [100_000, 1_000_000, 10_000_000, 100_000_000];
const STEPS: u64 = 400;

/// The sample's rows again and again.
fn repeated(sample: &Table, rows: usize) -> Table {
    let mut batches: Vec<RecordBatch> = Vec::new();
    let mut left = rows;
    let own: Vec<RecordBatch> = sample
        .batches()
        .collect::<Result<_, _>>()
        .expect("it lies in memory");
    for batch in own.iter().cycle() {
        let take = left.min(batch.num_rows());
        batches.push(batch.slice(0, take));
        left -= take;
        if left == 0 {
            break;
        }
    }
    Table::from_batches("repeated", &sample.schema(), &batches).expect("it is the sample's form")
}

/// The most that the process has held, in MB, where the system says so.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = kilobytes.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.map_or_else(|| "?".to_owned(), |kilobytes| (kilobytes / 1000).to_string())
}

fn measure(sample: &Table, schema: &Schema, rows: usize, folder: &Path) {
    let table = repeated(sample, rows);
    let settings = TrainSettings {
        steps: STEPS,
        ..TrainSettings::default()
    };
    let privacy = Privacy::Private {
        epsilon: 1.0,
        delta: 1e-9,
        neighboring: Neighboring::AddRemoveOne,
    };
    let plan = Plan::new(&settings, schema, rows, privacy).expect("it fits");
    let encoder = RowEncoder::new(schema, plan.encoder_settings()).expect("it is reviewed");
    let started = Instant::now();
    let room = Room::beyond_memory_in(folder.to_owned());
    let stored = encoder
        .store(&table, None, &room, &Progress::new())
        .expect("it fits");
    let storing = started.elapsed().as_secs_f64();
    let (bytes, place) = (
        stored.bytes() / 1_000_000,
        if stored.is_in_file() { "file" } else { "memory" },
    );
    let mut random = RandomSource::from_operating_system();
    let sampler = PoissonSampler::new(rows, plan.sampling_rate().get());
    let started = Instant::now();
    let draws = 1000;
    let drawn: usize = (0..draws).map(|_| sampler.draw(&mut random).len()).sum();
    let drawing = started.elapsed().as_secs_f64() / f64::from(draws);
    let training =
        Training::new(plan, encoder, stored, DeviceKind::Flex, random).expect("they belong together");
    let started = Instant::now();
    let (mut first, mut last) = (None, None);
    let trained = training
        .run(&Control::new(), &mut |seen| {
            if let Observation::Step(step) = seen {
                let at = (step.step, Instant::now());
                first.get_or_insert(at);
                last = Some(at);
            }
        })
        .expect("it trains");
    let run = started.elapsed().as_secs_f64();
    let (Some((from, begun)), Some((to, ended))) = (first, last) else {
        return;
    };
    let step = (ended - begun).as_secs_f64() / (to - from).max(1) as f64;
    println!(
        "{rows:>11} rows: stored in {storing:6.1} s, {bytes:>5} MB in {place:<6}; a draw {:.3} ms of {} rows; \
         a step {:.2} ms; {} steps with their counts in {run:.1} s; at most {} MB resident",
        drawing * 1e3,
        drawn / draws as usize,
        step * 1e3,
        trained.steps_done,
        peak(),
    );
}

fn main() {
    let sample = samples::all()[0].table(&Progress::new()).expect("it ships");
    let mut schema = samples::all()[0].schema().expect("it ships");
    schema.rows = None;
    let given = std::env::var_os("TABLE_BENCH_FOLDER").map(PathBuf::from);
    let folder = given.unwrap_or_else(std::env::temp_dir);
    let most = std::env::var("TABLE_BENCH_ROWS")
        .ok()
        .and_then(|rows| rows.parse().ok());
    for rows in SIZES
        .into_iter()
        .filter(|rows| *rows <= most.unwrap_or(usize::MAX))
    {
        measure(&sample, &schema, rows, &folder);
    }
}
