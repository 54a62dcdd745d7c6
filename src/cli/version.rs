//! "New version of …?" on the command line: whose budget a changed file continues.

use clap::Args;

use crate::cli::drive::Driver;
use crate::cli::output::CliError;
use crate::engine::Command;
use crate::privacy::ledger::DatasetSummary;

/// The answer, asked for only when a file has the name of a known data set and other content.
#[derive(Clone, Debug, Args)]
pub struct VersionArgs {
    /// A changed file: the known data set (number or name) whose budget it continues, or `none` for one of its own.
    ///
    /// Nothing is spent on a file that has the name of a data set in the ledger and other content until this
    /// says what it is. `ledger show` lists the data sets with their numbers.
    #[arg(long, value_name = "D|none")]
    pub version_of: Option<String>,
}

/// What the flag says.
pub enum Answer {
    /// Nothing was said.
    Open,
    /// A data set of its own.
    None,
    /// The data set with this number.
    Of(u64),
}

impl VersionArgs {
    /// The data set that is meant, among those that may be.
    ///
    /// # Errors
    /// When the name is that of no data set, or of several.
    pub fn answer(&self, known: &[DatasetSummary]) -> Result<Answer, CliError> {
        let Some(wanted) = &self.version_of else {
            return Ok(Answer::Open);
        };
        if wanted == "none" {
            return Ok(Answer::None);
        }
        if let Ok(number) = wanted.parse() {
            return Ok(Answer::Of(number));
        }
        let named: Vec<u64> = known
            .iter()
            .filter(|known| known.name == *wanted)
            .map(|known| known.number)
            .collect();
        match named.as_slice() {
            [number] => Ok(Answer::Of(*number)),
            [] => Err(CliError::Usage(format!(
                "--version-of: the ledger knows no data set named `{wanted}`; `ledger show` lists those that it knows"
            ))),
            several => {
                let numbers: Vec<_> = several.iter().map(ToString::to_string).collect();
                Err(CliError::Usage(format!(
                    "--version-of: several data sets are named `{wanted}`; give a number ({})",
                    numbers.join(", ")
                )))
            }
        }
    }

    /// Tells the engine whose budget the open table continues, or says that it has to be told.
    ///
    /// # Errors
    /// When the question is open and the flag does not answer it.
    pub fn settle(&self, driver: &Driver) -> Result<(), CliError> {
        let snapshot = driver.engine.snapshot();
        let Some(dataset) = &snapshot.dataset else {
            return Ok(());
        };
        let known = &dataset.may_be_version_of;
        let own = dataset.budget.as_ref().and_then(|budget| budget.dataset);
        if let (Some(wanted), Some(own), true) = (&self.version_of, own, known.is_empty()) {
            return already_known(wanted, own, &dataset.name);
        }
        match self.answer(known)? {
            Answer::Open => known.first().map_or(Ok(()), |newest| Err(question(newest))),
            Answer::None => {
                driver.engine.send(Command::AnswerNewVersion(None));
                Ok(())
            }
            Answer::Of(number) => {
                driver.engine.send(Command::AnswerNewVersion(Some(number)));
                Ok(())
            }
        }
    }
}

/// Content that the ledger knows belongs to one data set for good; the flag may only say the same.
fn already_known(wanted: &str, own: u64, name: &str) -> Result<(), CliError> {
    // A script that says `none` each time means the data set that its first run made.
    if wanted.parse() == Ok(own) || wanted == name || wanted == "none" {
        return Ok(());
    }
    Err(CliError::Failure {
        message: format!(
            "this content is known to the ledger as data set {own} already, so it cannot become a version of {wanted}; \
             leave out --version-of to charge data set {own} (nothing was spent)"
        ),
        causes: Vec::new(),
    })
}

/// The question, with the flags that answer it.
pub fn question(known: &DatasetSummary) -> CliError {
    CliError::Failure {
        message: format!(
            "the ledger knows a data set {number} named `{name}` with other content: is this file a new version of it? \
             Say --version-of {number} to continue its budget, or --version-of none for a data set of its own \
             (nothing was spent)",
            number = known.number,
            name = known.name,
        ),
        causes: Vec::new(),
    }
}
