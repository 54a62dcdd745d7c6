//! The command line: flags become commands of the same engine that the window uses.
//!
//! A contract for scripts: with `--json` one JSON object goes to standard output and nothing else; the exit
//! status is 0 on success, 2 on wrong arguments and 1 on any other failure, whose chain of causes goes to
//! standard error.

mod account;
mod calibrate;
mod curves;
mod drive;
mod evaluate;
mod form;
mod images;
mod ledger;
mod output;
mod profile;
mod release;
mod runs;
mod sample;
mod synthesize;
mod training;
mod values;
mod verify;
mod version;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use output::CliError;

/// Differentially private synthetic data: a workbench in a window, and the same engine for scripts.
#[derive(Debug, Parser)]
#[command(name = "pointillist", version, args_conflicts_with_subcommands = true)]
struct Arguments {
    /// Opens the window with this table.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<CliCommand>,
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    /// Infers a schema to be reviewed: kinds, suggested bounds and domains, likely identifiers.
    Profile(profile::ProfileArgs),
    /// Computes ε (or δ) of a list of privacy events.
    Account(account::AccountArgs),
    /// Finds the least noise that keeps a promise.
    Calibrate(calibrate::CalibrateArgs),
    /// Trains on a table or images and writes synthetic ones, a certificate and a recipe.
    Synthesize(Box<synthesize::SynthesizeArgs>),
    /// Computes a private statistic, or buys bounds, values or the row count for the schema.
    Release(release::ReleaseArgs),
    /// Lists runs that were cut short (a crash, a power cut), takes one up again or throws it away.
    Runs(runs::RunsArgs),
    /// Draws more rows or images from a saved generator, at no cost.
    Sample(sample::SampleArgs),
    /// Compares synthetic images with real ones, for the steward.
    Evaluate(evaluate::EvaluateArgs),
    /// Shows what was spent, and whether the chain of entries is whole.
    Ledger(ledger::LedgerArgs),
    /// Recomputes ε from a certificate's events and checks the file's hash.
    Verify(verify::VerifyArgs),
}

/// Reads the arguments and does what they say; without a command, `open_window` is asked for the window, with
/// the file that was named.
pub fn main(open_window: impl FnOnce(Option<PathBuf>) -> Result<(), CliError>) -> ExitCode {
    crate::num::silence_caught_panics();
    let arguments = Arguments::parse();
    let outcome = match arguments.command {
        None => open_window(arguments.file),
        Some(CliCommand::Profile(args)) => profile::run(&args),
        Some(CliCommand::Account(args)) => account::run(&args),
        Some(CliCommand::Calibrate(args)) => calibrate::run(&args),
        Some(CliCommand::Synthesize(args)) => synthesize::run(&args),
        Some(CliCommand::Release(args)) => release::run(&args),
        Some(CliCommand::Runs(args)) => runs::run(&args),
        Some(CliCommand::Sample(args)) => sample::run(&args),
        Some(CliCommand::Evaluate(args)) => evaluate::run(&args),
        Some(CliCommand::Ledger(args)) => ledger::run(&args),
        Some(CliCommand::Verify(args)) => verify::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::print_error(&error);
            ExitCode::from(error.exit_code())
        }
    }
}
