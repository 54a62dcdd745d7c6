//! `profile`: a schema to be reviewed, read off private rows and marked so.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::cli::drive::Driver;
use crate::cli::form::FormArgs;
use crate::cli::output::{CliError, print_json, print_line, warn};
use crate::engine::{Command, EngineEvent, SchemaSource};
use crate::export::{check_not_input, try_target};

/// Arguments of `profile`.
#[derive(Debug, Args)]
pub struct ProfileArgs {
    /// The table: CSV (also packed by gzip or zstd), Parquet, Arrow, an SQLite database, or a workbook (.xlsx).
    input: PathBuf,
    /// Writes the schema here.
    #[arg(long, value_name = "SCHEMA")]
    out: Option<PathBuf>,
    #[command(flatten)]
    form: FormArgs,
    /// Replaces an existing schema, with all that was declared in it.
    #[arg(long, requires = "out")]
    force: bool,
    /// Prints one JSON object and nothing else.
    #[arg(long)]
    json: bool,
}

/// Profiles the table.
///
/// # Errors
/// When the table cannot be read or the schema cannot be written.
pub fn run(args: &ProfileArgs) -> Result<(), CliError> {
    if let Some(path) = &args.out {
        check_not_input(std::slice::from_ref(path), &[&args.input])
            .map_err(|error| CliError::from_error(&error))?;
        try_target(path, args.force).map_err(|error| CliError::from_target(&error))?;
    }
    let driver = Driver::start()?;
    driver.open(args.input.clone(), &args.form, SchemaSource::Inferred)?;
    let snapshot = driver.engine.snapshot();
    let Some(dataset) = &snapshot.dataset else {
        return Err(CliError::Failure {
            message: "the table was closed".into(),
            causes: Vec::new(),
        });
    };
    if let Some(path) = &args.out {
        driver.engine.send(Command::SaveSchema(Some(path.clone())));
        driver.wait(|_, event| match event {
            Some(EngineEvent::SchemaSaved(_)) => Some(Ok(())),
            Some(EngineEvent::Failed(problem)) => Some(Err(problem.into())),
            _ => None,
        })?;
    }
    let warnings: Vec<String> = dataset.warnings.iter().map(ToString::to_string).collect();
    let toml = dataset
        .schema
        .to_toml()
        .map_err(|error| CliError::from_error(&error))?;
    if args.json {
        let mut object =
            serde_json::to_value(&*dataset.schema).map_err(|error| CliError::from_error(&error))?;
        object["schema"] = json!(toml);
        object["steward_only"] =
            json!("bounds, domains, rows and column summaries were read off private rows");
        object["rows"] = json!(dataset.table.rows());
        object["columns"] = json!(*dataset.summaries);
        object["warnings"] = json!(warnings);
        return print_json(&object);
    }
    for warning in &warnings {
        warn(warning);
    }
    print_line(&format!(
        "# {} rows, {} columns. Read off private rows: for the data steward only, not for release.\n{toml}",
        dataset.table.rows(),
        dataset.schema.column.len(),
    ))
}
