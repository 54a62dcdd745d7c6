//! `runs`: what was cut short by a crash, a power cut or the closing of the window, and what becomes of it.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::cli::drive::Driver;
use crate::cli::output::{CliError, print_json, print_line};
use crate::cli::training::{Wanted, check_condition, finish, train};
use crate::cli::values::{parse_condition, parse_device};
use crate::engine::{Command, Condition, EngineEvent, Interrupted, InterruptedRun};
use crate::train::DeviceKind;

/// Arguments of `runs`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct RunsArgs {
    #[command(subcommand)]
    command: RunsCommand,
}

/// What a resumption and a discard mean for the ledger.
const HELP: &str = "\
A private run reserves its whole plan in the ledger before it starts, and a crash leaves that charged.
`resume` goes on under the same reservation: steps that may have been done since the last checkpoint count as done, so
that no noisy look at the data is ever made twice, and the run ends as many steps earlier. Nothing more is charged.
A run that had ended and was only not exported yet is listed too: `resume` writes its files, and learns nothing more.
`discard` throws away what is kept. What may have been done stays charged; the rest of the reservation is free again.";

#[derive(Debug, Subcommand)]
enum RunsCommand {
    /// Names the runs that were cut short, and how far they came.
    List {
        /// Prints one JSON object and nothing else.
        #[arg(long)]
        json: bool,
    },
    /// Reloads the data, goes on from the last checkpoint, and writes what `synthesize` would have written.
    Resume(Box<ResumeArgs>),
    /// Throws away what is kept of a run.
    Discard {
        /// Its name, or `latest`.
        id: String,
        /// Prints one JSON object and nothing else.
        #[arg(long)]
        json: bool,
    },
}

/// Arguments of `runs resume`.
#[derive(Debug, Args)]
struct ResumeArgs {
    /// Its name, or `latest`.
    id: String,
    /// How many synthetic rows or images.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..), allow_negative_numbers = true)]
    rows: u64,
    /// What to write, as for `synthesize`.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Writes only rows whose column has this value.
    #[arg(long = "where", value_name = "COLUMN=VALUE", value_parser = parse_condition)]
    condition: Option<Condition>,
    /// Where tensors live from here on; as before without it.
    #[arg(long, value_parser = parse_device)]
    device: Option<DeviceKind>,
    /// Writes the run's curves as CSV, as for `synthesize`: from its beginning, as far as an earlier life was asked for them.
    #[arg(long, value_name = "FILE")]
    curves: Option<PathBuf>,
    /// Replaces existing files.
    #[arg(long)]
    force: bool,
    /// Prints one JSON object and nothing else.
    #[arg(long)]
    json: bool,
}

/// Does what the arguments say.
///
/// # Errors
/// When there is no such run, or it cannot be taken up or thrown away.
pub fn run(args: &RunsArgs) -> Result<(), CliError> {
    match &args.command {
        RunsCommand::List { json } => list(*json),
        RunsCommand::Resume(args) => resume(args),
        RunsCommand::Discard { id, json } => discard(id, *json),
    }
}

/// All that were cut short, once the engine has looked.
fn interrupted(driver: &Driver) -> Result<Arc<Vec<Interrupted>>, CliError> {
    driver.wait(|driver, _| {
        let snapshot = driver.engine.snapshot();
        (snapshot.revision > 0).then(|| Ok(Arc::clone(&snapshot.interrupted)))
    })
}

/// The run of that name; the one with the highest number is the latest.
fn find(driver: &Driver, id: &str) -> Result<Interrupted, CliError> {
    let all = interrupted(driver)?;
    let found = if id == "latest" {
        all.last()
    } else {
        all.iter().find(|known| known.id == id)
    };
    found.cloned().ok_or_else(|| CliError::Failure {
        message: match all.as_slice() {
            [] => "no run was cut short".to_owned(),
            known => {
                let names: Vec<_> = known.iter().map(|known| known.id.as_str()).collect();
                format!(
                    "no run that was cut short is called `{id}`; there are {}",
                    names.join(", ")
                )
            }
        },
        causes: Vec::new(),
    })
}

fn list(json: bool) -> Result<(), CliError> {
    let driver = Driver::start()?;
    let all = interrupted(&driver)?;
    if json {
        let runs: Vec<Value> = all.iter().map(describe).collect();
        return print_json(&json!({ "runs": runs }));
    }
    if all.is_empty() {
        return print_line("no run was cut short");
    }
    all.iter().try_for_each(|known| {
        let called = (known.name.as_ref()).map_or_else(String::new, |name| format!("  “{name}”"));
        print_line(&match &known.run {
            Ok(run) => format!("{}{called}  {}", known.id, line(run)),
            Err(problem) => format!(
                "{}{called}  cannot be taken up (what it reserved stays charged; `runs discard` clears it away): {problem}",
                known.id
            ),
        })
    })
}

fn line(run: &InterruptedRun) -> String {
    let promise = match run.target {
        Some(target) => format!("ε {} at δ {}", target.epsilon, target.delta),
        None => "no DP claim".to_owned(),
    };
    if run.is_ended {
        return format!(
            "{} on {}  {promise}  has ended and is paid for, and was not exported: `resume` writes its files",
            run.method.name(),
            run.dataset
        );
    }
    let lost = match run.lost() {
        0 => String::new(),
        lost => format!(" ({lost} since the checkpoint count as done)"),
    };
    format!(
        "{} on {}  {promise}  goes on at step {} of {}{lost}",
        run.method.name(),
        run.dataset,
        run.goes_on,
        run.steps
    )
}

fn describe(known: &Interrupted) -> Value {
    match &known.run {
        Ok(run) => json!({
            "id": known.id,
            "name": known.name,
            "dataset": run.dataset,
            "method": run.method.name(),
            "epsilon": run.target.map(|target| target.epsilon),
            "delta": run.target.map(|target| target.delta),
            "ledger_entry": run.entry,
            "checkpoint": run.step,
            "goes_on": run.goes_on,
            "lost_steps": run.lost(),
            "steps": run.steps,
            "resumed": run.resumed,
            "ended": run.is_ended,
        }),
        Err(problem) => json!({
            "id": known.id,
            "name": known.name,
            "ledger_entry": known.entry,
            "problem": problem.to_string(),
        }),
    }
}

fn resume(args: &ResumeArgs) -> Result<(), CliError> {
    let driver = Driver::start()?;
    let known = find(&driver, &args.id)?;
    let id = known.id;
    let run = known.run.map_err(|problem| CliError::Failure {
        message: format!("{id} cannot be taken up: {problem}; what it reserved stays charged, and `runs discard {id}` clears its files away"),
        causes: Vec::new(),
    })?;
    // Before the first step: a run whose result nobody can write is a waste of budget.
    if let Some(condition) = &args.condition {
        check_condition(&run.schema, run.is_images, condition)?;
    }
    let wanted = Wanted {
        rows: args.rows,
        out: args.out.clone(),
        force: args.force,
        condition: args.condition.clone(),
        json: args.json,
        is_images: run.is_images,
        curves: args.curves.clone(),
    };
    let inputs: Vec<_> = run.path.iter().map(PathBuf::as_path).collect();
    wanted.check_targets(&inputs)?;
    let take_up = Command::TakeUp {
        id,
        device: args.device,
        // The progress shows steps and ε only; the curves show more.
        watched: args.curves.is_some(),
    };
    let outcome = train(&driver, take_up)?;
    finish(&driver, &wanted, &outcome)
}

fn discard(id: &str, json: bool) -> Result<(), CliError> {
    let driver = Driver::start()?;
    let known = find(&driver, id)?;
    driver.engine.send(Command::Abandon(known.id.clone()));
    driver.wait(|_, event| match event {
        Some(EngineEvent::Abandoned(_)) => Some(Ok(())),
        Some(EngineEvent::Failed(problem)) => Some(Err(problem.into())),
        _ => None,
    })?;
    let snapshot = driver.engine.snapshot();
    let charged = known.entry.and_then(|entry| {
        let entries = &snapshot.ledger.entries;
        entries.iter().find(|known| known.id == entry).cloned()
    });
    if json {
        return print_json(&json!({
            "discarded": known.id,
            "ledger_entry": known.entry,
            "epsilon": charged.as_ref().map(|entry| entry.epsilon),
            "delta": charged.as_ref().map(|entry| entry.delta),
        }));
    }
    print_line(&match charged {
        Some(entry) => format!(
            "{} is thrown away; entry {} stays charged with ε {} at δ {}",
            known.id, entry.id, entry.epsilon, entry.delta
        ),
        None => format!("{} is thrown away; nothing was charged", known.id),
    })
}
