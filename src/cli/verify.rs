//! `verify`: whether a certificate says what follows from its events, and belongs to a file.

use std::path::PathBuf;

use clap::Args;

use crate::cli::output::{CliError, print_json, print_line};
use crate::export::certificate::{read_certificate, verify, verify_file};

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// The certificate (`FILE.certificate.json`).
    certificate: PathBuf,
    /// The synthetic file that it should be about.
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Prints one JSON object and nothing else.
    #[arg(long)]
    json: bool,
}

/// Recomputes ε and compares.
///
/// # Errors
/// When a file cannot be read, is no certificate, or something does not fit.
pub fn run(args: &VerifyArgs) -> Result<(), CliError> {
    let failed = |error| CliError::from_error(&error);
    let certificate = read_certificate(&args.certificate).map_err(failed)?;
    let verified = match &args.data {
        Some(data) => verify_file(&certificate, data).map_err(failed)?,
        None => verify(&certificate),
    };
    if args.json {
        print_json(&verified)?;
    } else if verified.verified {
        let promise = match (verified.epsilon, verified.delta) {
            (Some(epsilon), Some(delta)) => format!("ε {epsilon} at δ {delta:e} follows from its events"),
            _ => "it states no ε".to_owned(),
        };
        let file = match &args.data {
            Some(data) => format!("{} is its file", data.display()),
            None => "name the synthetic file with --data to check it as well".to_owned(),
        };
        print_line(&format!(
            "the certificate fits: {promise}; {}; {file}. (Who issued it can hold it against the ledger with `ledger \
             verify --certificate`: it is not signed.)",
            verified.verdict
        ))?;
    }
    if verified.verified {
        return Ok(());
    }
    Err(CliError::Failure {
        message: format!("{} does not hold", args.certificate.display()),
        causes: verified.reasons,
    })
}
