//! What the commands print, and how they fail.

use std::borrow::Cow;
use std::error::Error;
use std::io::{IsTerminal, Write};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::Problem;
use crate::export::{ExportError, Written};

/// Why a command failed.
#[derive(Debug)]
pub enum CliError {
    /// The arguments are wrong: exit status 2.
    Usage(String),
    /// Anything else, with the causes behind it: exit status 1.
    Failure {
        /// What failed.
        message: String,
        /// The causes, outermost first.
        causes: Vec<String>,
    },
}

impl CliError {
    /// A failure and the chain of causes of an error.
    pub fn failure(context: &str, error: &(dyn Error + 'static)) -> Self {
        let mut causes = Vec::new();
        let mut next = Some(error);
        while let Some(cause) = next {
            causes.push(cause.to_string());
            next = cause.source();
        }
        Self::Failure {
            message: context.into(),
            causes,
        }
    }

    /// A failure whose message is the error's own.
    pub fn from_error(error: &(dyn Error + 'static)) -> Self {
        let problem = Problem::new(crate::engine::Area::Load, error);
        Self::Failure {
            message: problem.message.to_string(),
            causes: problem.causes.iter().map(ToString::to_string).collect(),
        }
    }

    /// A target that cannot be written; names the flag that lets an existing file be replaced.
    pub fn from_target(error: &ExportError) -> Self {
        let failure = Self::from_error(error);
        match (failure, error) {
            (Self::Failure { message, causes }, ExportError::Exists { .. }) => Self::Failure {
                message: format!("{message} with --force"),
                causes,
            },
            (failure, _) => failure,
        }
    }

    /// The exit status.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Failure { .. } => 1,
        }
    }
}

/// A cause in the system's words, without the number that its programmers know it by.
fn plain(cause: &str) -> String {
    let number = |text: &str| {
        let end = text.find(')')?;
        text[..end].parse::<u32>().ok().map(|_| end + 1)
    };
    match cause.split_once(" (os error ") {
        Some((before, after)) => match number(after) {
            Some(end) => format!("{before}{}", &after[end..]),
            None => cause.to_owned(),
        },
        None => cause.to_owned(),
    }
}

impl From<Problem> for CliError {
    fn from(problem: Problem) -> Self {
        Self::Failure {
            message: problem.message.to_string(),
            causes: problem.causes.iter().map(ToString::to_string).collect(),
        }
    }
}

impl std::fmt::Display for CliError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Usage(message) => write!(formatter, "error: {message}"),
            Self::Failure { message, causes } => {
                write!(formatter, "error: {message}")?;
                causes
                    .iter()
                    .try_for_each(|cause| write!(formatter, "\n  because: {}", plain(cause)))
            }
        }
    }
}

/// Text of files on its way to a terminal: control characters, with which a column's name could rewrite the screen,
/// are spelt out; line ends stay.
fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| c.is_control() && c != '\n') {
        return Cow::Borrowed(text);
    }
    let spelt = text.chars().flat_map(|c| {
        let kept = (!c.is_control() || c == '\n').then_some(c);
        let spelt = kept.is_none().then(|| c.escape_default());
        kept.into_iter().chain(spelt.into_iter().flatten())
    });
    Cow::Owned(spelt.collect())
}

/// Prints the error and its causes on standard error.
pub fn print_error(error: &CliError) {
    // Nobody is left to be told when standard error is closed.
    let _ = writeln!(std::io::stderr(), "{}", printable(&error.to_string()));
}

/// Adds to a report what became of the schema's rules, if it has any.
pub fn add_rules(report: &mut Value, written: &Written) {
    if !written.rules.is_empty() {
        report["rules"] = json!(written.rules);
        report["left_out"] = json!(written.left_out);
    }
}

/// What became of the schema's rules, a line each, to stand below a report.
pub fn rule_lines(written: &Written) -> String {
    let mut lines = String::new();
    for kept in &written.rules {
        lines.push_str(&format!(
            "\nrule {}: made to hold in {} rows",
            kept.rule, kept.mended
        ));
    }
    if written.left_out > 0 {
        lines.push_str(&format!(
            "\n{} rows in which no rule could be made to hold were drawn anew",
            written.left_out
        ));
    }
    lines
}

/// Prints one JSON object on standard output.
///
/// # Errors
/// When standard output is closed or full.
pub fn print_json(value: &impl Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string(value).map_err(|error| CliError::from_error(&error))?;
    print_line(&text)
}

/// Prints a line on standard output.
///
/// # Errors
/// When standard output is closed or full.
pub fn print_line(text: &str) -> Result<(), CliError> {
    writeln!(std::io::stdout(), "{text}")
        .map_err(|error| CliError::failure("standard output cannot be written", &error))
}

/// A warning on standard error.
pub fn warn(message: &str) {
    let _ = writeln!(std::io::stderr(), "warning: {}", printable(message));
}

/// A progress bar on standard error; silent when that is no terminal.
pub fn progress_bar(length: u64, unit: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length);
    let template = format!("{{msg:24}} {{bar:32}} {{pos}}/{{len}} {unit} · {{per_sec}} · {{eta}} left");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_words_come_without_their_number() {
        assert_eq!(plain("Permission denied (os error 13)"), "Permission denied");
        assert_eq!(
            plain("Not yours (os error 13) at path \"x\""),
            "Not yours at path \"x\""
        );
        assert_eq!(plain("bad (os error x)"), "bad (os error x)");
    }

    #[test]
    fn control_characters_are_spelt_out() {
        assert_eq!(printable("年龄 and\nage"), "年龄 and\nage");
        assert_eq!(printable("a\u{1b}[2Jb\tc"), "a\\u{1b}[2Jb\\tc");
    }
}
