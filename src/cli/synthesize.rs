//! `synthesize`: trains on a table or on images and writes synthetic ones, their certificate, recipe and generator.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use crate::cli::drive::Driver;
use crate::cli::form::FormArgs;
use crate::cli::images::ImageArgs;
use crate::cli::output::{CliError, warn};
use crate::cli::training::{Wanted, check_condition, finish, train};
use crate::cli::values::{
    Relation, parse_condition, parse_delta, parse_device, parse_epsilon, parse_method, parse_pair,
    parse_seconds,
};
use crate::cli::version::VersionArgs;
use crate::data::Schema;
use crate::data::image::{holds_images, image_files, no_images};
use crate::engine::{Command, Condition, KEEP_EVERY, Method, PrivacyTarget, RunRequest, SchemaSource};
use crate::export::{ImageFormat, Recipe, TableFormat};
use crate::privacy::Neighboring;
use crate::train::describe::Described;
use crate::train::{DeviceKind, RunSettings, describe};

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
    check_images(args, is_images)?;
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
    if let Some(condition) = &args.condition
        && let Some(dataset) = &driver.engine.snapshot().dataset
    {
        check_condition(&dataset.schema, is_images, condition)?;
    }
    if request.method.is_private() {
        args.version.settle(&driver)?;
        driver.warn_without_total();
    }
    let outcome = train(&driver, Command::Start(Box::new(request)))?;
    finish(&driver, &wanted, &outcome)
}

/// Images are wanted: input that holds none is told before the name of the output is, which would do for them.
fn check_images(args: &SynthesizeArgs, is_images: bool) -> Result<(), CliError> {
    if is_images || TableFormat::from_path(&args.out).is_ok() || ImageFormat::from_path(&args.out).is_err() {
        return Ok(());
    }
    Err(CliError::from_error(&no_images(&args.input)))
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
        .and_then(|own| own.schema(recipe))
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
    let mut request = match &args.recipe {
        Some(path) => RunRequest::load_recipe(path)?,
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
