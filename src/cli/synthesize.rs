//! `synthesize`: trains on a table or on images and writes synthetic ones, their certificate, recipe and generator.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use serde_json::json;

use crate::cli::curves;
use crate::cli::drive::Driver;
use crate::cli::form::FormArgs;
use crate::cli::images::ImageArgs;
use crate::cli::output::{CliError, add_rules, print_json, print_line, progress_bar, rule_lines, warn};
use crate::cli::version::VersionArgs;
use crate::data::image::{holds_images, image_files};
use crate::data::{EncoderSettings, RowEncoder, Schema};
use crate::engine::{
    Area, Command, Condition, EngineEvent, ExportRequest, Exported, KEEP_EVERY, Method, PrivacyTarget, RunId,
    RunRequest, RunState, RunView, SchemaSource, exported_files, home_folder,
};
use crate::export::{ImageFormat, Recipe, TableFormat, check_not_input, try_images_target, try_target};
use crate::privacy::Neighboring;
use crate::privacy::ledger::EntryId;
use crate::train::describe::Described;
use crate::train::image::class_of;
use crate::train::{DeviceKind, RunSettings, StopReason, describe};

/// Arguments of `synthesize`.
#[derive(Debug, Args)]
#[command(after_help = settings_help())]
pub struct SynthesizeArgs {
    /// The table: CSV (also packed by gzip or zstd), Parquet, Arrow, an SQLite database, or a workbook (.xlsx); or images:
    /// IDX as MNIST is published, NPZ, a folder of PNG, JPEG and TIFF pictures, or Parquet with a column of them.
    input: PathBuf,
    /// The method.
    #[arg(long, value_parser = parse_method, required_unless_present = "recipe")]
    method: Option<Method>,
    /// ε in nats: how much the output may tell about any one row.
    #[arg(long, value_parser = parse_epsilon, allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// δ: the chance, at most, that the promise fails; below 1/rows.
    #[arg(long, value_parser = parse_delta, allow_negative_numbers = true)]
    delta: Option<f64>,
    /// How many synthetic rows or images.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..), allow_negative_numbers = true)]
    rows: u64,
    /// The table to write (`.csv`, `.tsv`, `.parquet`, `.arrow`, `.xlsx` or `.sqlite`); for images a folder,
    /// `NAME-images-idx3-ubyte`, `.parquet` or `.npz`.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The schema; without it, INPUT.schema.toml beside the data. Images need none.
    #[arg(long)]
    schema: Option<PathBuf>,
    /// What neighbouring data sets differ by.
    #[arg(long, value_enum)]
    relation: Option<Relation>,
    /// How the noise is spread over the steps.
    #[arg(long, value_parser = ["constant", "two-phase", "linear", "exponential"])]
    schedule: Option<String>,
    /// Critic steps; with `gem` and `dp-merf`, the generator's.
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u64).range(1..))]
    steps: Option<u64>,
    /// Repeats the run of a recipe file; other flags change it.
    #[arg(long, value_name = "FILE")]
    recipe: Option<PathBuf>,
    /// Changes a setting; may be repeated (the settings are listed below).
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_pair)]
    settings: Vec<(String, String)>,
    /// Writes only rows whose column has this value.
    #[arg(long = "where", value_name = "COLUMN=VALUE", value_parser = parse_condition)]
    condition: Option<Condition>,
    /// Where tensors live.
    #[arg(long, value_parser = parse_device)]
    device: Option<DeviceKind>,
    /// A fixed seed, for teaching and tests: marks every output "not private".
    #[arg(long)]
    seed: Option<u64>,
    /// Writes the run's curves as CSV, for the steward: losses, ε, Fréchet distance, the critic's shares. Who reads them
    /// has seen private figures, and the certificate says so.
    #[arg(long, value_name = "FILE")]
    curves: Option<PathBuf>,
    /// How often the run's state is kept, in seconds, so that it can be taken up if the program is cut short (`runs
    /// resume`); 0 keeps nothing.
    #[arg(long, value_name = "SECONDS", default_value_t = KEEP_EVERY.as_secs_f64(), value_parser = parse_seconds)]
    keep_every: f64,
    #[command(flatten)]
    images: ImageArgs,
    #[command(flatten)]
    form: FormArgs,
    #[command(flatten)]
    version: VersionArgs,
    /// Replaces existing files.
    #[arg(long)]
    force: bool,
    /// Prints one JSON object and nothing else.
    #[arg(long)]
    json: bool,
}

/// The relation as the command line spells it.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Relation {
    /// One row more or less.
    AddRemove,
    /// One row exchanged for another.
    Replace,
}

impl From<Relation> for Neighboring {
    fn from(relation: Relation) -> Self {
        match relation {
            Relation::AddRemove => Self::AddRemoveOne,
            Relation::Replace => Self::ReplaceOne,
        }
    }
}

/// Trains and writes.
///
/// # Errors
/// When the arguments contradict each other, the table cannot be read, the run fails, or a file cannot be
/// written.
pub fn run(args: &SynthesizeArgs) -> Result<(), CliError> {
    let is_images = holds_images(&args.input);
    let request = request(args, is_images)?;
    let wanted = Wanted {
        rows: args.rows,
        out: args.out.clone(),
        force: args.force,
        condition: args.condition.clone(),
        json: args.json,
        is_images,
        curves: args.curves.clone(),
    };
    check_targets(args, &wanted)?;
    let driver = Driver::start()?;
    driver.open_with(
        args.input.clone(),
        &args.form,
        schema_source(args),
        args.images.options(),
    )?;
    if let Some(recipe) = &args.recipe {
        warn_of_other_schema(&driver, recipe)?;
    }
    if let Some(condition) = &args.condition {
        check_condition(&driver, condition)?;
    }
    if request.method.is_private() {
        args.version.settle(&driver)?;
        driver.warn_without_total();
    }
    let outcome = train(&driver, Command::Start(Box::new(request)))?;
    if let Some(path) = &args.curves
        && let Some(view) = driver.engine.snapshot().run(outcome.run)
        && let Err(error) = curves::write(path, view, args.force)
    {
        // What was paid for is written all the same.
        let (CliError::Usage(message) | CliError::Failure { message, .. }) = error;
        warn(&format!("the curves are not written: {message}"));
    }
    finish(&driver, &wanted, &outcome)
}

/// Writes what a run came to, and reports it.
///
/// # Errors
/// When it cannot be written; what was paid for is kept then.
pub(super) fn finish(driver: &Driver, wanted: &Wanted, outcome: &Outcome) -> Result<(), CliError> {
    let request = ExportRequest {
        run: outcome.run,
        rows: wanted.rows as usize,
        path: wanted.out.clone(),
        overwrite: wanted.force,
        condition: wanted.condition.clone(),
        language: crate::engine::Language::default(),
    };
    let exported = export(driver, request).map_err(|error| keep(driver, wanted, outcome, error))?;
    report(wanted, driver, outcome, &exported)
}

/// What is to be written of a run.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// How many rows or images.
    pub rows: u64,
    /// Where.
    pub out: PathBuf,
    /// Whether existing files may be replaced.
    pub force: bool,
    /// Only rows with this value.
    pub condition: Option<Condition>,
    /// Whether one JSON object is printed and nothing else.
    pub json: bool,
    /// Whether the run learns from images.
    pub is_images: bool,
    /// Where the run's curves go, if they are wanted.
    pub curves: Option<PathBuf>,
}

impl Wanted {
    /// Asked before any budget is spent: a run whose result has nowhere to go is a waste of budget.
    ///
    /// # Errors
    /// When something stands in the way of an export there.
    pub fn check_targets(&self, inputs: &[&Path]) -> Result<(), CliError> {
        let form = if self.is_images {
            ImageFormat::from_path(&self.out).map(drop)
        } else {
            TableFormat::from_path(&self.out).map(drop)
        };
        form.map_err(|error| CliError::Usage(error.to_string()))?;
        TableFormat::check_rows(&self.out, self.rows as usize)
            .map_err(|error| CliError::from_error(&error))?;
        let mut files = exported_files(&self.out);
        if let Some(curves) = &self.curves {
            if files.contains(curves) {
                let message = format!(
                    "--curves {}: this file is one of the export's own; name another",
                    curves.display()
                );
                return Err(CliError::Usage(message));
            }
            files.push(curves.clone());
        }
        check_not_input(&files, inputs).map_err(|error| CliError::from_error(&error))?;
        let (first, papers) = files.split_first().expect("an export is at least one file");
        let tried = if self.is_images {
            try_images_target(first, self.force)
        } else {
            try_target(first, self.force)
        };
        tried
            .and_then(|()| papers.iter().try_for_each(|file| try_target(file, self.force)))
            .map_err(|error| CliError::from_target(&error))
    }
}

/// The files that the run reads, and where its results go.
fn check_targets(args: &SynthesizeArgs, wanted: &Wanted) -> Result<(), CliError> {
    let beside = Schema::path_beside(&args.input);
    let images = image_files(&args.input, &args.images.options());
    let mut inputs = vec![args.schema.as_deref().unwrap_or(&beside)];
    inputs.extend(images.iter().map(PathBuf::as_path));
    inputs.extend(args.recipe.as_deref());
    wanted.check_targets(&inputs)
}

/// The schema that is named, else the one beside the data, else the recipe's.
fn schema_source(args: &SynthesizeArgs) -> SchemaSource {
    match (&args.schema, &args.recipe) {
        (Some(path), _) => SchemaSource::File(path.clone()),
        (None, Some(recipe)) if Schema::find_beside(&args.input).is_none() => {
            SchemaSource::Recipe(recipe.clone())
        }
        (None, _) => SchemaSource::Beside,
    }
}

/// A recipe repeats its run only under its own schema.
fn warn_of_other_schema(driver: &Driver, recipe: &Path) -> Result<(), CliError> {
    let own: Option<Schema> = Recipe::load(recipe)
        .map_err(|error| CliError::from_error(&error))?
        .schema()
        .map_err(|error| CliError::from_error(&error))?;
    let used = driver.engine.snapshot();
    if let (Some(own), Some(dataset)) = (own, &used.dataset)
        && own != *dataset.schema
    {
        warn(&format!(
            "the schema of {} is another than the one used now, so the run is not repeated exactly",
            recipe.display()
        ));
    }
    Ok(())
}

/// The run that the arguments and the recipe ask for.
fn request(args: &SynthesizeArgs, is_images: bool) -> Result<RunRequest, CliError> {
    let recipe = match &args.recipe {
        Some(path) => Some(Recipe::load(path).map_err(|error| CliError::from_error(&error))?),
        None => None,
    };
    let mut request = match &recipe {
        Some(recipe) => RunRequest::from_recipe(recipe)?,
        None => RunRequest {
            target: None,
            ..RunRequest::default()
        },
    };
    if let Some(method) = args.method {
        request.method = method;
    }
    if request.method.is_private() {
        let known = request.target;
        let epsilon = args.epsilon.or(known.map(|target| target.epsilon));
        let delta = args.delta.or(known.map(|target| target.delta));
        let (Some(epsilon), Some(delta)) = (epsilon, delta) else {
            let name = request.method.name();
            return Err(CliError::Usage(format!(
                "--method {name} needs --epsilon and --delta"
            )));
        };
        let neighboring = args.relation.map_or_else(
            || known.map_or(Neighboring::AddRemoveOne, |target| target.neighboring),
            Neighboring::from,
        );
        request.target = Some(PrivacyTarget {
            epsilon,
            delta,
            neighboring,
        });
    } else if args.epsilon.is_some() || args.delta.is_some() || request.target.is_some() {
        return Err(CliError::Usage(format!(
            "--method {} makes no promise: leave out --epsilon and --delta (or the recipe's ε and δ), or choose a private method",
            request.method.name()
        )));
    } else {
        request.target = None;
    }
    request.seed = args.seed.or(request.seed);
    // The progress shows steps and ε, and nothing that was read off private rows; the curves show more.
    request.watched = args.curves.is_some();
    request.keep_every = (args.keep_every > 0.0).then(|| Duration::from_secs_f64(args.keep_every));
    request.device = args.device.unwrap_or(request.device);
    request.overrides.extend(args.settings.iter().cloned());
    if let Some(steps) = args.steps {
        request.overrides.push(("steps".into(), steps.to_string()));
    }
    if let Some(schedule) = &args.schedule {
        request.overrides.push(("schedule".into(), schedule.clone()));
    }
    // A misspelt key or an impossible value is told before anything is loaded.
    let settings = request.settings.clone();
    match settings.unwrap_or_else(|| request.method.settings(is_images)) {
        RunSettings::Table(settings) => probe(settings, &request.overrides)?,
        RunSettings::Pairs(settings) => probe(settings, &request.overrides)?,
        RunSettings::Images(settings) => probe(settings, &request.overrides)?,
    }
    Ok(request)
}

fn probe<S: Described>(mut settings: S, overrides: &[(String, String)]) -> Result<(), CliError> {
    overrides.iter().try_for_each(|(key, value)| {
        describe::set_text(&mut settings, key, value).map_err(|error| CliError::Usage(error.to_string()))
    })
}

/// A run that has ended with a generator.
pub(super) struct Outcome {
    pub run: RunId,
    pub entry: Option<EntryId>,
    pub reason: StopReason,
}

/// Sends a command that starts a run, and waits for its end.
///
/// # Errors
/// When the run fails.
pub(super) fn train(driver: &Driver, start: Command) -> Result<Outcome, CliError> {
    driver.engine.send(start);
    let bar = progress_bar(0, "steps");
    let mut entry = None;
    let mut stopping = false;
    let outcome = driver.wait(|driver, event| match event {
        Some(EngineEvent::Started { ledger_entry, .. }) => {
            entry = ledger_entry;
            None
        }
        Some(EngineEvent::Finished { run, reason }) => Some(Ok(Outcome { run, entry, reason })),
        Some(EngineEvent::RunFailed { problem, .. } | EngineEvent::Failed(problem)) => {
            Some(Err(problem.into()))
        }
        _ => {
            let snapshot = driver.engine.snapshot();
            if let Some(view) = snapshot.runs.last() {
                show_progress(&bar, view);
                if driver.is_interrupted() && !stopping {
                    stopping = true;
                    warn("stopping after this step; the whole plan stays charged");
                    driver.engine.send(Command::Stop(view.id));
                }
            }
            None
        }
    });
    bar.finish_and_clear();
    outcome
}

fn show_progress(bar: &ProgressBar, view: &RunView) {
    bar.set_length(view.steps);
    bar.set_position(view.step);
    let state = match view.state {
        RunState::Queued => "queued".to_owned(),
        RunState::Preparing => "preparing".to_owned(),
        _ => match (view.epsilon.last, view.target) {
            (Some(epsilon), Some(target)) => format!("ε {epsilon:.3} of {}", target.epsilon),
            _ => "no DP claim".to_owned(),
        },
    };
    bar.set_message(state);
}

/// A condition that no row can meet is told before budget is spent.
pub(super) fn check_condition(driver: &Driver, condition: &Condition) -> Result<(), CliError> {
    let snapshot = driver.engine.snapshot();
    let Some(dataset) = &snapshot.dataset else {
        return Ok(());
    };
    if dataset.images.is_some() {
        let classes = dataset
            .schema
            .find(&condition.column)
            .and_then(|column| column.domain.clone())
            .unwrap_or_default();
        return class_of(&classes, condition)
            .map(drop)
            .map_err(|error| CliError::from_error(&error));
    }
    // A schema that cannot be encoded is told by the plan, with its reasons.
    match RowEncoder::new(&dataset.schema, &EncoderSettings::default()) {
        Ok(encoder) => condition
            .check(&encoder)
            .map_err(|error| CliError::from_error(&error)),
        Err(_) => Ok(()),
    }
}

/// Rows that are written beside a generator that is kept: there may be no room for more, or no patience.
const KEPT_ROWS: u64 = 100;

/// What was paid for is kept, in the program's folder, when it was not written where it was wanted.
fn keep(driver: &Driver, wanted: &Wanted, outcome: &Outcome, error: CliError) -> CliError {
    let (Some(entry), CliError::Failure { message, causes }) = (outcome.entry, &error) else {
        return error;
    };
    let Ok(folder) = home_folder().map(|home| home.join("runs")) else {
        return error;
    };
    let name = wanted.out.file_name().unwrap_or_default().to_string_lossy();
    let path = folder.join(format!("entry-{entry}-{name}"));
    let request = ExportRequest {
        run: outcome.run,
        rows: wanted.rows.min(KEPT_ROWS) as usize,
        path,
        overwrite: false,
        condition: None,
        language: crate::engine::Language::default(),
    };
    match std::fs::create_dir_all(&folder).map(|()| export(driver, request)) {
        Ok(Ok(kept)) => CliError::Failure {
            message: format!(
                "{message}; the run is paid for and kept: draw from it with `sample {}`",
                kept.generator.display()
            ),
            causes: causes.clone(),
        },
        _ => error,
    }
}

fn export(driver: &Driver, request: ExportRequest) -> Result<Exported, CliError> {
    // A request to stop that ended the training is obeyed; another one is meant for the writing.
    let before = driver.interrupts();
    driver.engine.send(Command::Export(Box::new(request)));
    driver.wait(|driver, event| match event {
        None if driver.interrupts() > before => {
            driver.engine.send(Command::CancelExport);
            None
        }
        Some(EngineEvent::ExportCancelled) => Some(Err(CliError::from_interrupt())),
        Some(EngineEvent::Exported(exported)) => Some(Ok(*exported)),
        Some(EngineEvent::TargetExists(path)) => Some(Err(CliError::Failure {
            message: format!(
                "{}: exists already; name another file or pass --force",
                path.display()
            ),
            causes: Vec::new(),
        })),
        // What keeps an export from being may be the ledger, which its certificate asks.
        Some(EngineEvent::Failed(problem)) if matches!(problem.area, Area::Export | Area::Ledger) => {
            Some(Err(problem.into()))
        }
        _ => None,
    })
}

fn report(wanted: &Wanted, driver: &Driver, outcome: &Outcome, exported: &Exported) -> Result<(), CliError> {
    let snapshot = driver.engine.snapshot();
    let Some(view) = snapshot.run(outcome.run) else {
        return Err(CliError::Failure {
            message: "the run is gone".into(),
            causes: Vec::new(),
        });
    };
    let epsilon = exported.epsilon;
    let delta = view.target.map(|target| target.delta);
    if wanted.json {
        let mut report = json!({
            "rows": exported.written.rows,
            "epsilon": epsilon,
            "delta": delta,
            "steps": view.step,
            "seconds": view.seconds,
            "certificate": exported.certificate,
            "ledger_entry": outcome.entry,
            "stopped": outcome.reason.name(),
            "claim": exported.verdict,
            "out": exported.table,
            "recipe": exported.recipe,
            "generator": exported.generator,
        });
        add_rules(&mut report, &exported.written);
        return print_json(&report);
    }
    let promise = match (epsilon, delta) {
        (Some(epsilon), Some(delta)) => format!("ε {epsilon} at δ {delta}"),
        _ => "no DP claim".to_owned(),
    };
    let what = if wanted.is_images { "images" } else { "rows" };
    print_line(&format!(
        "{} {what} in {} · {promise} · {} steps in {:.1} s\ncertificate {}\nrecipe {}\ngenerator {}{}",
        exported.written.rows,
        exported.table.display(),
        view.step,
        view.seconds,
        exported.certificate.display(),
        exported.recipe.display(),
        exported.generator.display(),
        rule_lines(&exported.written),
    ))
}

fn settings_help() -> String {
    let mut text =
        String::from("Settings for --set (without it, the recommended ones for the table and ε):\n");
    for setting in &describe::SETTINGS {
        text.push_str(&format!("  {:24} {}\n", setting.key, setting.help));
    }
    text.push_str("\nSettings of gem and dp-merf for tables:\n");
    for setting in &describe::PAIR_SETTINGS {
        text.push_str(&format!("  {:24} {}\n", setting.key, setting.help));
    }
    text.push_str("\nSettings for images:\n");
    for setting in &describe::IMAGE_SETTINGS {
        text.push_str(&format!("  {:24} {}\n", setting.key, setting.help));
    }
    text
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().into(), value.trim().into())),
        _ => Err("expected KEY=VALUE".into()),
    }
}

/// Reads `COLUMN=VALUE`.
///
/// # Errors
/// When there is no `=` or no column before it.
pub fn parse_condition(text: &str) -> Result<Condition, String> {
    let (column, value) = parse_pair(text).map_err(|_| "expected COLUMN=VALUE")?;
    Ok(Condition { column, value })
}

/// Reads a length of time.
fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "expected a number of seconds".to_owned())?;
    if (0.0..=86_400.0).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("expected 0 to 86400 seconds".to_owned())
    }
}

/// Reads an ε.
///
/// # Errors
/// When it is no number above 0.
pub fn parse_epsilon(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "expected a number above 0".to_owned())?;
    crate::num::Epsilon::new(value)
        .map(crate::num::Epsilon::get)
        .map_err(|error| error.to_string())
}

/// Reads a δ.
///
/// # Errors
/// When it is no number from 0 to below 1.
pub fn parse_delta(text: &str) -> Result<f64, String> {
    let value: f64 = text
        .parse()
        .map_err(|_| "expected a number between 0 and 1".to_owned())?;
    crate::num::Delta::new(value)
        .map(crate::num::Delta::get)
        .map_err(|error| error.to_string())
}

fn parse_method(text: &str) -> Result<Method, String> {
    Method::ALL
        .into_iter()
        .find(|method| method.name() == text)
        .ok_or_else(|| {
            let names: Vec<_> = Method::ALL.iter().map(|method| method.name()).collect();
            format!("expected one of {}", names.join(", "))
        })
}

/// Reads a device's name.
///
/// # Errors
/// When it is none.
pub fn parse_device(text: &str) -> Result<DeviceKind, String> {
    DeviceKind::from_name(text).ok_or_else(|| "expected flex, ndarray or wgpu".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_and_settings_are_pairs() {
        let condition = parse_condition("income=>50K").unwrap();
        assert_eq!(
            (condition.column.as_str(), condition.value.as_str()),
            ("income", ">50K")
        );
        assert!(parse_condition("income").is_err());
        assert!(parse_pair("=3").is_err());
    }

    #[test]
    fn impossible_budgets_are_wrong_arguments() {
        for text in ["0", "-1", "nan", "inf", "one"] {
            assert!(parse_epsilon(text).is_err(), "{text}");
        }
        for text in ["-0.1", "1", "nan", "x"] {
            assert!(parse_delta(text).is_err(), "{text}");
        }
        assert!(parse_epsilon("8").is_ok() && parse_delta("1e-5").is_ok());
    }

    #[test]
    fn every_method_is_known_by_its_name() {
        for method in Method::ALL {
            assert_eq!(parse_method(method.name()), Ok(method));
        }
        assert!(parse_method("magic").unwrap_err().contains("dpgan"));
    }
}
