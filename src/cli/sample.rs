//! `sample`: more rows or images from a saved generator. Post-processing, so it costs nothing.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use crate::cli::drive::Interrupts;
use crate::cli::output::{CliError, add_rules, print_json, print_line, progress_bar, rule_lines, warn};
use crate::cli::values::parse_condition;
use crate::engine::{Condition, SampleRequest, Sampled, sample_file};
use crate::export::{ImageFormat, TableFormat, check_images_target, check_target};
use crate::num::Progress;

/// Arguments of `sample`.
#[derive(Debug, Args)]
pub struct SampleArgs {
    /// The generator that `synthesize` or the window saved (`FILE.generator.safetensors`).
    model: PathBuf,
    /// How many rows or images.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    rows: u64,
    /// The table to write (`.csv`, `.tsv`, `.parquet`, `.arrow`, `.xlsx` or `.sqlite`); for images a folder,
    /// `NAME-images-idx3-ubyte`, `.parquet` or `.npz`.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Only rows whose column has this value.
    #[arg(long = "where", value_name = "COLUMN=VALUE", value_parser = parse_condition)]
    condition: Option<Condition>,
    /// Replaces an existing file.
    #[arg(long)]
    force: bool,
    /// Prints one JSON object and nothing else.
    #[arg(long)]
    json: bool,
}

/// Whether the output can be written, before the generator is read: a table, or what only images are written as.
fn check_out(path: &Path, overwrite: bool) -> Result<(), CliError> {
    let target = match (TableFormat::from_path(path), ImageFormat::from_path(path)) {
        (Err(_), Ok(_)) => check_images_target(path, overwrite),
        (Ok(_), _) => check_target(path, overwrite),
        (Err(unknown), Err(_)) => Err(unknown),
    };
    target.map_err(|error| CliError::from_target(&error))
}

/// Draws the rows or images.
///
/// # Errors
/// When the generator cannot be read or the file cannot be written.
pub fn run(args: &SampleArgs) -> Result<(), CliError> {
    check_out(&args.out, args.force)?;
    TableFormat::check_rows(&args.out, args.rows as usize).map_err(|error| CliError::from_error(&error))?;
    let interrupts = Interrupts::take_over()?;
    let progress = Progress::default();
    // What the file draws is known once it is read.
    let bar = progress_bar(args.rows, "drawn");
    let request = SampleRequest {
        model: args.model.clone(),
        rows: args.rows as usize,
        out: args.out.clone(),
        condition: args.condition.clone(),
        overwrite: args.force,
    };
    let sampled = sample_file(&request, &progress, &mut |rows| {
        bar.set_position(rows as u64);
        if interrupts.count() > 0 {
            progress.cancel();
        }
    });
    bar.finish_and_clear();
    let Sampled {
        written,
        records,
        claim,
    } = match sampled {
        Err(_) if progress.is_cancelled() => return Err(CliError::from_interrupt()),
        sampled => sampled.map_err(CliError::from)?,
    };
    let drawn = records.choose("rows", "images");
    // The papers of an earlier file of that name are not of what was drawn.
    let papers = crate::engine::exported_files(&args.out);
    for paper in papers
        .iter()
        .filter(|paper| **paper != args.out && paper.exists())
    {
        warn(&format!(
            "{} belongs to another file than the {drawn} just drawn",
            paper.display()
        ));
    }
    if args.json {
        let mut report = json!({
            "rows": written.rows,
            "out": args.out,
            "sha256": written.sha256,
            "claim": claim,
        });
        add_rules(&mut report, &written);
        return print_json(&report);
    }
    print_line(&format!(
        "{} {drawn} in {} · {claim}{}",
        written.rows,
        args.out.display(),
        rule_lines(&written)
    ))
}
