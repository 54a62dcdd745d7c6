//! `account`: ε or δ of a list of events.

use std::io::{self, Read};
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use crate::cli::output::{CliError, print_json, print_line};
use crate::num::files::read_whole;
use crate::num::{Delta, Readable};
use crate::privacy::{AccountantKind, EventList};

/// A million different events.
const MOST_BYTES: u64 = 256 << 20;

/// Arguments of `account`.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("question").required(true).args(["delta", "epsilon"])))]
pub struct AccountArgs {
    /// The events (JSON), or `-` for standard input.
    #[arg(value_name = "EVENTS")]
    events: PathBuf,
    /// δ at which ε is asked.
    #[arg(long, value_name = "D", value_parser = parse_delta, allow_negative_numbers = true)]
    delta: Option<f64>,
    /// ε at which δ is asked, in nats.
    #[arg(long, value_name = "E", value_parser = parse_question_epsilon, allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// How to account: `pld` (tightest) or `rdp`.
    #[arg(long, value_name = "KIND", default_value = "pld")]
    accountant: AccountantKind,
    /// Prints one JSON object and nothing else.
    #[arg(long)]
    json: bool,
}

/// A δ from the command line.
pub(crate) fn parse_delta(text: &str) -> Result<f64, String> {
    let value: f64 = text
        .parse()
        .map_err(|_| "expected a number at least 0 and below 1".to_owned())?;
    Delta::new(value)
        .map(Delta::get)
        .map_err(|error| error.to_string())
}

fn parse_question_epsilon(text: &str) -> Result<f64, String> {
    let value: f64 = text
        .parse()
        .map_err(|_| "expected a number at least 0".to_owned())?;
    if value >= 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err("epsilon must be at least 0 and finite".to_owned())
    }
}

#[derive(Debug, PartialEq, Serialize)]
struct Answer {
    epsilon: f64,
    delta: f64,
    accountant: AccountantKind,
    seconds: f64,
}

/// Where the events come from, as a person would say it.
fn source(args: &AccountArgs) -> String {
    if args.events.as_os_str() == "-" {
        "standard input".to_owned()
    } else {
        args.events.display().to_string()
    }
}

fn answer(text: &str, args: &AccountArgs) -> Result<Answer, CliError> {
    let list = EventList::from_json(text)
        .map_err(|error| CliError::failure(&format!("{} is no list of events", source(args)), &error))?;
    let failed = |error| CliError::failure("the events cannot be accounted", &error);
    let started = Instant::now();
    let accountant = args.accountant;
    let (epsilon, delta) = match (args.delta, args.epsilon) {
        (Some(delta), _) => {
            let at = Delta::new(delta).map_err(|error| CliError::Usage(error.to_string()))?;
            (accountant.epsilon(&list, at).map_err(failed)?, delta)
        }
        (None, Some(epsilon)) => (epsilon, accountant.delta(&list, epsilon).map_err(failed)?),
        (None, None) => {
            return Err(CliError::Usage(
                "either --delta or --epsilon is needed".to_owned(),
            ));
        }
    };
    if !epsilon.is_finite() {
        return Err(CliError::Failure {
            message: format!("no finite epsilon holds at delta {delta:e} by the {accountant} accountant"),
            causes: vec!["a larger delta, more noise or fewer events would have one".to_owned()],
        });
    }
    Ok(Answer {
        epsilon,
        delta,
        accountant,
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// Answers the question that the arguments ask.
///
/// # Errors
/// When the file cannot be read or is no list of events, or the events cannot be accounted.
pub fn run(args: &AccountArgs) -> Result<(), CliError> {
    let mut text = String::new();
    if args.events.as_os_str() == "-" {
        io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| CliError::failure("standard input cannot be read", &error))?;
    } else {
        let read = read_whole(&args.events, MOST_BYTES).and_then(|bytes| {
            String::from_utf8(bytes)
                .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
        });
        text = read.map_err(|error| {
            CliError::failure(&format!("{} cannot be read", args.events.display()), &error)
        })?;
    }
    let answer = answer(&text, args)?;
    if args.json {
        return print_json(&answer);
    }
    let Answer {
        epsilon,
        delta,
        accountant,
        ..
    } = answer;
    let relation = EventList::from_json(&text)
        .map(|list| list.neighboring)
        .unwrap_or_default();
    print_line(&format!(
        "ε = {} at δ = {delta:e} ({relation}, by {accountant})",
        Readable(epsilon)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: AccountArgs,
    }

    fn args(words: &[&str]) -> Result<AccountArgs, clap::Error> {
        Line::try_parse_from(std::iter::once("account").chain(words.iter().copied())).map(|line| line.args)
    }

    const EVENTS: &str = r#"{"neighboring": "add_remove_one", "events": [
        {"type": "poisson_sampled_gaussian", "sampling_rate": 0.01, "noise_multiplier": 1.0, "steps": 1000}]}"#;

    #[test]
    fn both_questions_are_answered() {
        let by_delta = answer(EVENTS, &args(&["-", "--delta", "1e-5"]).unwrap()).unwrap();
        assert!(
            (by_delta.epsilon - 1.8282366665100178).abs() < 1e-3,
            "{by_delta:?}"
        );
        assert_eq!(by_delta.accountant, AccountantKind::Pld);
        let by_epsilon = answer(EVENTS, &args(&["-", "--epsilon", "1.8282366665100178"]).unwrap()).unwrap();
        assert!((by_epsilon.delta / 1e-5 - 1.0).abs() < 1e-2, "{by_epsilon:?}");
        let rdp = answer(
            EVENTS,
            &args(&["-", "--delta", "1e-5", "--accountant", "rdp"]).unwrap(),
        )
        .unwrap();
        assert!((rdp.epsilon - 2.1013652716484144).abs() < 1e-6, "{rdp:?}");
        let keys = serde_json::to_value(&rdp).unwrap();
        let keys: Vec<&String> = keys.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["epsilon", "delta", "accountant", "seconds"]);
    }

    #[test]
    fn wrong_questions_and_files_say_so() {
        assert!(args(&["-"]).is_err());
        assert!(args(&["-", "--delta", "1e-5", "--epsilon", "1"]).is_err());
        assert!(args(&["-", "--delta", "1"]).is_err());
        assert!(args(&["-", "--delta", "nan"]).is_err());
        assert!(args(&["-", "--delta", "1e-5", "--accountant", "moments"]).is_err());
        let usual = args(&["-", "--delta", "1e-5"]).unwrap();
        let error = answer("{\"neighboring\": \"add_remove_one\",\n  \"events\": [}", &usual).unwrap_err();
        assert!(error.to_string().contains("line 2 column"), "{error}");
        let fixed = r#"{"neighboring": "add_remove_one", "events": [{"type": "fixed_size_sampled_gaussian",
            "population": 100, "batch": 10, "noise_multiplier": 1, "steps": 1}]}"#;
        let error = answer(fixed, &usual).unwrap_err().to_string();
        assert!(
            error.contains("fixed_size_sampled_gaussian") && error.contains("add_remove_one"),
            "{error}"
        );
        let gaussian =
            r#"{"neighboring": "replace_one", "events": [{"type": "gaussian", "noise_multiplier": 1}]}"#;
        let error = answer(gaussian, &args(&["-", "--delta", "0"]).unwrap())
            .unwrap_err()
            .to_string();
        assert!(error.contains("no finite epsilon"), "{error}");
    }
}
