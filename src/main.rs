//! The program: the window without arguments, the command line with them.

use std::path::PathBuf;
use std::process::ExitCode;

use pointillist::cli::{self, CliError};

fn main() -> ExitCode {
    cli::main(open_window)
}

#[cfg(feature = "gui")]
fn open_window(file: Option<PathBuf>) -> Result<(), CliError> {
    pointillist::gui::run(file).map_err(|error| CliError::failure("the window cannot be opened", &*error))
}

#[cfg(not(feature = "gui"))]
fn open_window(_file: Option<PathBuf>) -> Result<(), CliError> {
    Err(CliError::Usage(
        "this build has no window; `pointillist --help` lists the commands".into(),
    ))
}
