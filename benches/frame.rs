//! What a frame costs the processor while three runs are started (as many as there are cores for train, the others wait), a
//! table of ten million rows is being loaded, and then scrolled, a few rows at a time with a leap of some hundred thousand
//! now and then: layout, shapes and tessellation, rasterising left out. Prints the 50th and 99th percentile of the frame's
//! own processor time, and of the time on the clock, in which other programs and the runs themselves may take the
//! processor away; fails above 4 ms of processor time.
//!
//! `FRAME_BENCH_ROWS` changes the number of rows. The table takes some 500 MB of the system's temporary folder.

use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

use eframe::egui::{
    Context, Event, Key, Modifiers, MouseWheelSource, MouseWheelUnit, RawInput, Rect, TouchPhase, pos2, vec2,
};
use pointillist::engine::settings::Settings;
use pointillist::engine::snapshot::RunState;
use pointillist::engine::{Command, DataSource, Engine, Method, RunRequest};
use pointillist::gui::Workbench;

const FRAMES: usize = 600;
const ROWS: usize = 10_000_000;
const RUNS: usize = 3;
const LIMIT: Duration = Duration::from_millis(4);

fn main() {
    // `cargo test --benches` only asks whether it runs.
    let brief = !std::env::args().any(|argument| argument == "--bench");
    let wanted = std::env::var("FRAME_BENCH_ROWS")
        .ok()
        .and_then(|rows| rows.parse().ok());
    let rows = if brief { 1000 } else { wanted.unwrap_or(ROWS) };
    let home = tempfile::tempdir().expect("a folder for the engine");
    let table = home.path().join("many.csv");
    write_table(&table, rows);
    let engine = Engine::spawn(home.path(), std::sync::Arc::new(|| {})).expect("the engine starts");
    start_runs(&engine, brief);
    let ctx = Context::default();
    let mut bench = Bench {
        workbench: Workbench::new(&ctx, Settings::default()),
        ctx,
        engine,
        frames: if brief { 8 } else { FRAMES },
    };
    bench.engine.send(Command::Open(DataSource::file(table)));
    let opened = |engine: &Engine| {
        let snapshot = engine.snapshot();
        snapshot
            .dataset
            .as_ref()
            .is_some_and(|dataset| dataset.name.starts_with("many"))
    };
    // It ends when the table is there, however many frames that took.
    let loading = bench.measure(Key::Num1, &mut |engine| brief || !opened(engine));
    report("data, while it loads", loading, brief);
    wait(|| opened(&bench.engine));
    for (page, key) in [("data", Key::Num1), ("train", Key::Num3)] {
        let times = bench.measure(key, &mut |_| true);
        report(page, times, brief);
    }
    let snapshot = bench.engine.snapshot();
    let (dataset, running) = (
        snapshot.dataset.as_ref().expect("it was opened"),
        snapshot
            .runs
            .iter()
            .filter(|run| run.state == RunState::Running)
            .count(),
    );
    println!(
        "{} rows, {} MB in memory, {} MB in a file; {} runs, {running} of them live",
        dataset.table.rows(),
        dataset.table.memory_bytes() / 1_000_000,
        dataset.table.file_bytes().unwrap_or(0) / 1_000_000,
        snapshot.runs.len(),
    );
}

/// The processor's times and the clock's, one a frame.
type Times = (Vec<Duration>, Vec<Duration>);

fn report(page: &str, (mut times, mut clock): Times, brief: bool) {
    times.sort_unstable();
    clock.sort_unstable();
    let of = |times: &[Duration], share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!(
        "{page}: processor median {:?}, 99th percentile {:?}, worst {:?}; clock median {:?}, 99th percentile {:?}; {} frames",
        of(&times, 0.5),
        of(&times, 0.99),
        of(&times, 1.0),
        of(&clock, 0.5),
        of(&clock, 0.99),
        times.len(),
    );
    assert!(
        brief || of(&times, 0.99) <= LIMIT,
        "{page}: the 99th percentile is above {LIMIT:?}"
    );
}

struct Bench {
    ctx: Context,
    workbench: Workbench,
    engine: Engine,
    frames: usize,
}

impl Bench {
    /// As many frames of a page as are wanted, or until it is enough.
    fn measure(&mut self, page: Key, goes_on: &mut dyn FnMut(&Engine) -> bool) -> Times {
        let mut times = Vec::with_capacity(self.frames);
        let mut clock = Vec::with_capacity(self.frames);
        for frame in 0..self.frames + 8 {
            let mut input = RawInput {
                screen_rect: Some(Rect::from_min_size(pos2(0.0, 0.0), vec2(1440.0, 900.0))),
                time: Some(times.len() as f64 / 60.0),
                focused: true,
                ..RawInput::default()
            };
            if frame == 0 {
                input.events.push(Event::Key {
                    key: page,
                    physical_key: None,
                    pressed: true,
                    repeat: false,
                    modifiers: Modifiers::COMMAND,
                });
            }
            // The pointer stands on the rows and scrolls through them.
            input.events.push(Event::PointerMoved(pos2(700.0, 720.0)));
            let leap = if frame % 10 == 9 { 2000.0 } else { 1.0 };
            input.events.push(Event::MouseWheel {
                unit: MouseWheelUnit::Point,
                delta: vec2(0.0, -40.0 * leap * (1 + frame % 50) as f32),
                phase: TouchPhase::Move,
                source: MouseWheelSource::Unknown,
                modifiers: Modifiers::NONE,
            });
            self.workbench.observe(self.engine.drain());
            let snapshot = self.engine.snapshot();
            let (start, begun) = (Instant::now(), ThreadTime::now());
            let output = self.ctx.run_ui(input, |ui| {
                for command in self.workbench.frame(ui, &snapshot) {
                    self.engine.send(command);
                }
            });
            let shapes = self.ctx.tessellate(output.shapes, output.pixels_per_point);
            let (time, on_the_clock) = (begun.elapsed(), start.elapsed());
            assert!(!shapes.is_empty());
            // The first frames lay out every text and fill the atlas.
            if frame >= 8 {
                if !goes_on(&self.engine) && !times.is_empty() {
                    break;
                }
                times.push(time);
                clock.push(on_the_clock);
            }
            std::thread::sleep(Duration::from_millis(4));
        }
        (times, clock)
    }
}

fn start_runs(engine: &Engine, brief: bool) {
    engine.send(Command::Open(DataSource::Sample("adult")));
    wait(|| engine.snapshot().dataset.is_some());
    let settings = pointillist::train::TrainSettings {
        steps: if brief { 10 } else { 200_000 },
        ..Default::default()
    };
    for _ in 0..RUNS {
        engine.send(Command::Start(Box::new(RunRequest {
            method: Method::Gan,
            target: None,
            settings: Some(pointillist::train::RunSettings::Table(settings.clone())),
            ..RunRequest::default()
        })));
    }
    wait(|| {
        let snapshot = engine.snapshot();
        snapshot.runs.len() == RUNS && snapshot.runs.iter().any(|run| run.step > 0)
    });
}

fn wait(until: impl Fn() -> bool) {
    let start = Instant::now();
    while !until() {
        assert!(start.elapsed() < Duration::from_secs(600), "waited in vain");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn write_table(path: &std::path::Path, rows: usize) {
    use std::io::Write as _;
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).expect("a file to write"));
    writeln!(file, "id,age,amount,kind,city,date").expect("room on the disk");
    for row in 0..rows {
        writeln!(
            file,
            "{row},{},{}.{:02},kind {},city {},20{:02}-{:02}-{:02}",
            17 + row * 7 % 70,
            row * 31 % 9000,
            row % 100,
            row % 6,
            row * 13 % 40,
            row % 24,
            1 + row % 12,
            1 + row % 28,
        )
        .expect("room on the disk");
    }
}
