//! `ledger`: what was spent on which data set, whether the record is whole, a copy of it, and totals.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::Utc;
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::json;

use crate::cli::output::{CliError, print_json, print_line, warn};
use crate::cli::version::{Answer, VersionArgs, question};
use crate::data::image::{ImageOptions, MOST_CLASSES, holds_images, read_images};
use crate::data::{ReadOptions, Room, Schema, read_table};
use crate::engine::home_folder;
use crate::export::certificate::{compare_with_entry, verify as verify_certificate};
use crate::export::read_certificate;
use crate::num::progress::Progress;
use crate::num::{Delta, Epsilon};
use crate::privacy::AccountantKind;
use crate::privacy::ledger::{
    Budget, DatasetId, DatasetSummary, Entry, Finding, Ledger, LedgerError, Status, Verification,
};

/// δ at which ε is told when a data set has no total.
const USUAL_DELTA: f64 = 1e-5;

/// Arguments of `ledger`.
#[derive(Debug, Args)]
pub struct LedgerArgs {
    #[command(subcommand)]
    command: LedgerCommand,
}

#[derive(Debug, Subcommand)]
enum LedgerCommand {
    /// Lists what was spent.
    List(ReadArgs),
    /// Shows budgets, and every entry with its events.
    Show(ReadArgs),
    /// Reads the whole record and says whether an entry was changed, lost, moved or cut off.
    Verify(VerifyLedgerArgs),
    /// Copies the ledger with its key into a new folder, for keeping or for moving to another machine.
    Backup(BackupArgs),
    /// Sets or raises a data set's whole budget.
    SetTotal(SetTotalArgs),
}

/// Which data set, and how to print.
#[derive(Debug, Args)]
struct ReadArgs {
    /// Only this data set: its number, its name, or its file.
    #[arg(long, value_name = "D")]
    dataset: Option<String>,
    /// Prints one JSON object and nothing else.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct VerifyLedgerArgs {
    #[command(flatten)]
    read: ReadArgs,
    /// Checks as well that the ledger recorded what this certificate states, and once ended as it says; may be
    /// repeated.
    #[arg(long, value_name = "FILE")]
    certificate: Vec<PathBuf>,
}

#[derive(Debug, Args)]
struct BackupArgs {
    #[command(flatten)]
    read: ReadArgs,
    /// The new folder; without it, one named by the time under `backups` in the program's folder.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct SetTotalArgs {
    /// The table: CSV (also packed by gzip or zstd), Parquet, Arrow, an SQLite database, or a workbook (.xlsx).
    input: PathBuf,
    /// ε of the total, in nats.
    #[arg(long, value_parser = parse_epsilon, allow_negative_numbers = true)]
    epsilon: f64,
    /// δ of the total.
    #[arg(long, value_parser = parse_delta, allow_negative_numbers = true)]
    delta: f64,
    /// Why; kept in the ledger.
    #[arg(long, value_name = "TEXT", value_parser = parse_reason)]
    reason: String,
    #[command(flatten)]
    version: VersionArgs,
    /// Prints one JSON object and nothing else.
    #[arg(long)]
    json: bool,
}

fn parse_epsilon(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "expected a number above 0".to_owned())?;
    Epsilon::new(value)
        .map(Epsilon::get)
        .map_err(|error| error.to_string())
}

fn parse_delta(text: &str) -> Result<f64, String> {
    let value: f64 = text
        .parse()
        .map_err(|_| "expected a number above 0 and below 1".to_owned())?;
    match Delta::new(value) {
        Ok(delta) if delta.get() > 0.0 => Ok(delta.get()),
        Ok(_) => Err("a total needs a δ above 0".into()),
        Err(error) => Err(error.to_string()),
    }
}

fn parse_reason(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("say why, in a few words".into());
    }
    // It is shown in lists later, where it may not steer the terminal.
    if text.contains(char::is_control) {
        return Err("it has a line end or another control character; say it in one line".into());
    }
    Ok(text.to_owned())
}

impl From<LedgerError> for CliError {
    fn from(error: LedgerError) -> Self {
        Self::from_error(&error)
    }
}

/// Does what the arguments say on the ledger of this installation.
///
/// # Errors
/// When the ledger cannot be used, is not whole, or refuses.
pub fn run(args: &LedgerArgs) -> Result<(), CliError> {
    let home = home_folder().map_err(|error| CliError::from_error(&error))?;
    match &args.command {
        LedgerCommand::List(args) => list(&home, args),
        LedgerCommand::Show(args) => show(&home, args),
        LedgerCommand::Verify(args) => verify(&home, args),
        LedgerCommand::Backup(args) => backup(&home, args),
        LedgerCommand::SetTotal(args) => set_total(&home, args),
    }
}

/// The identity of a table's content.
fn identify(ledger: &mut Ledger, path: &Path) -> Result<DatasetId, CliError> {
    let progress = Progress::default();
    let table = if holds_images(path) {
        // What is declared of the labels is no part of the identity.
        let options = ImageOptions {
            classes: MOST_CLASSES,
            ..ImageOptions::default()
        };
        read_images(path, &options, &progress).and_then(|images| images.table())
    } else {
        let mut options = ReadOptions {
            room: Arc::new(Room::beyond_memory_in(
                home_folder().map_err(|error| CliError::from_error(&error))?,
            )),
            ..ReadOptions::default()
        };
        if let Some(schema) = Schema::find_beside(path).and_then(|path| Schema::load(&path).ok()) {
            options.form = schema.read.unwrap_or_default();
        }
        read_table(path, &options, &progress)
    };
    let table = table.map_err(|error| CliError::from_error(&error))?;
    let dataset = ledger.identify(table.content_digest())?;
    ledger.note_columns(&dataset, table.columns_digest());
    Ok(dataset)
}

/// The data set that a person names by number, name or file.
fn find(ledger: &mut Ledger, wanted: &str) -> Result<DatasetSummary, CliError> {
    let known = ledger.datasets()?;
    if let Ok(number) = wanted.parse::<u64>()
        && let Some(found) = known.iter().find(|dataset| dataset.number == number)
    {
        return Ok(found.clone());
    }
    let named: Vec<_> = known.iter().filter(|dataset| dataset.name == wanted).collect();
    match named.as_slice() {
        [one] => return Ok((*one).clone()),
        [] => {}
        several => {
            let numbers: Vec<_> = several.iter().map(|dataset| dataset.number.to_string()).collect();
            let numbers = numbers.join(", ");
            return Err(CliError::Usage(format!(
                "several data sets are named `{wanted}`: give a number ({numbers})"
            )));
        }
    }
    if Path::new(wanted).is_file() {
        let id = identify(ledger, Path::new(wanted))?;
        let number = ledger.budget(&id)?.dataset;
        if let Some(found) = known.into_iter().find(|dataset| Some(dataset.number) == number) {
            return Ok(found);
        }
    }
    Err(LedgerError::UnknownDataset(wanted.into()).into())
}

fn find_if_any(ledger: &mut Ledger, wanted: Option<&String>) -> Result<Option<DatasetSummary>, CliError> {
    wanted.map(|wanted| find(ledger, wanted)).transpose()
}

/// Opens the ledger to look at it, which works on a home that cannot be written as well.
fn open_to_read(home: &Path) -> Result<Ledger, CliError> {
    let ledger = Ledger::open_to_read(home)?;
    if ledger.is_read_only() {
        warn(&format!(
            "{} cannot be written: what follows is what the ledger there says, and nothing can be spent",
            home.display()
        ));
    }
    Ok(ledger)
}

fn list(home: &Path, args: &ReadArgs) -> Result<(), CliError> {
    let mut ledger = open_to_read(home)?;
    let dataset = find_if_any(&mut ledger, args.dataset.as_ref())?;
    let mut entries = ledger.entries(dataset.as_ref().map(|dataset| &dataset.id))?;
    if args.json {
        for entry in &mut entries {
            entry.events = None;
        }
        return print_json(&json!({ "entries": entries }));
    }
    if entries.is_empty() {
        return print_line("nothing was spent yet");
    }
    for entry in &entries {
        print_line(&line(entry))?;
    }
    Ok(())
}

/// An entry on one line.
fn line(entry: &Entry) -> String {
    let what = match &entry.status {
        Status::Reserved => "reserved, not settled".to_owned(),
        Status::Finished => "finished".into(),
        Status::StoppedByPerson => "stopped by a person: the whole plan is charged".into(),
        Status::Failed { message } => format!("failed: {message}"),
        Status::Discarded => "nothing was kept".into(),
        Status::TotalSet => "total set".into(),
        Status::TotalRaised => "total raised".into(),
        Status::NewVersion => "a changed version of the same data set".into(),
    };
    let public = if entry.public {
        " · public teaching data"
    } else {
        ""
    };
    let said = if entry.description.is_empty() {
        String::new()
    } else {
        format!(" · {}", entry.description)
    };
    format!(
        "{:>5}  {}  {} ({})  {}  ε {} δ {:e}  {what}{public}{said}",
        entry.id,
        entry.time(),
        entry.dataset_name,
        entry.dataset,
        entry.kind,
        entry.epsilon,
        entry.delta,
    )
}

/// A data set with its budget, as printed.
#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    dataset: DatasetSummary,
    budget: Budget,
    /// ε of all entries by privacy loss distributions, if they had been planned together: information, no cap.
    epsilon_if_planned_ahead: Option<f64>,
    /// δ at which that ε is told.
    delta_if_planned_ahead: f64,
}

fn show(home: &Path, args: &ReadArgs) -> Result<(), CliError> {
    let mut ledger = open_to_read(home)?;
    let chosen = find_if_any(&mut ledger, args.dataset.as_ref())?;
    let datasets = match &chosen {
        Some(chosen) => vec![chosen.clone()],
        None => ledger.datasets()?,
    };
    let mut shown = Vec::new();
    for dataset in datasets {
        let budget = ledger.budget(&dataset.id)?;
        let delta = budget.total.map_or(USUAL_DELTA, |total| total.delta);
        let events = ledger.all_events(&dataset.id)?;
        // Events without a proof for this accountant leave the figure out: it is information only.
        let epsilon = events.zip(Delta::new(delta).ok()).and_then(|(events, delta)| {
            AccountantKind::Pld
                .epsilon(&events, delta)
                .ok()
                .filter(|epsilon| epsilon.is_finite())
        });
        shown.push(Shown {
            dataset,
            budget,
            epsilon_if_planned_ahead: epsilon,
            delta_if_planned_ahead: delta,
        });
    }
    let entries = ledger.entries(chosen.as_ref().map(|dataset| &dataset.id))?;
    if args.json {
        return print_json(&json!({ "data_sets": shown, "entries": entries }));
    }
    for shown in &shown {
        print_line(&heading(shown))?;
    }
    for entry in &entries {
        print_line(&line(entry))?;
        if let Some(events) = &entry.events {
            let text = serde_json::to_string(events).map_err(|error| CliError::from_error(&error))?;
            print_line(&format!("       {text}"))?;
        }
    }
    Ok(())
}

fn heading(shown: &Shown) -> String {
    let Shown { dataset, budget, .. } = shown;
    let mut text = format!("data set {}: {}", dataset.number, dataset.name);
    match (&budget.total, &budget.shares) {
        (Some(total), Some(shares)) => text.push_str(&format!(
            " · total ε {} δ {:e}: {:.1} % spent, {:.1} % reserved, {:.1} % left",
            total.epsilon,
            total.delta,
            100.0 * shares.spent,
            100.0 * shares.reserved,
            100.0 * shares.left
        )),
        _ => text.push_str(" · no total"),
    }
    text.push_str(&format!(
        " · {} jobs, {} of them not kept, ε {} settled and {} reserved when added up",
        budget.jobs, budget.discarded, budget.spent.epsilon, budget.reserved.epsilon
    ));
    if let Some(epsilon) = shown.epsilon_if_planned_ahead {
        text.push_str(&format!(
            " · ε {epsilon:.4} at δ {:e} if all had been planned together",
            shown.delta_if_planned_ahead
        ));
    }
    text
}

fn verify(home: &Path, args: &VerifyLedgerArgs) -> Result<(), CliError> {
    let mut verification = Ledger::inspect(home)?;
    if verification.verified {
        let mut ledger = Ledger::open_to_read(home)?;
        for path in &args.certificate {
            check_certificate(&mut ledger, path, &mut verification)?;
        }
    }
    if args.read.json {
        let told: Vec<_> = verification.findings.iter().map(ToString::to_string).collect();
        print_json(&json!({
            "verified": verification.verified,
            "entries": verification.entries,
            "head": verification.head,
            "findings": verification.findings,
            "reasons": told,
        }))?;
    } else if verification.verified {
        print_line(&format!("{} entries, whole and in order", verification.entries))?;
    }
    if verification.verified {
        return Ok(());
    }
    let only_certificates = verification.findings.iter().all(|finding| {
        matches!(
            finding,
            Finding::CertificateDiffers { .. } | Finding::CertificateUnknown { .. }
        )
    });
    let message = if only_certificates {
        "the ledger is whole, and a certificate does not fit it".to_owned()
    } else {
        format!(
            "{} is not whole: spend nothing more on it, and put the latest backup of the folder {} in its place (`ledger backup` makes them)",
            home.join("ledger.sqlite").display(),
            home.display()
        )
    };
    Err(CliError::Failure {
        message,
        causes: verification.findings.iter().map(ToString::to_string).collect(),
    })
}

/// Whether the ledger once ended as the certificate says, and recorded of its job what it states.
fn check_certificate(ledger: &mut Ledger, path: &Path, into: &mut Verification) -> Result<(), CliError> {
    let certificate = read_certificate(path).map_err(|error| CliError::from_error(&error))?;
    let Some(spending) = &certificate.spending else {
        if certificate.events.is_some() {
            return Err(CliError::Failure {
                message: format!(
                    "{} states a promise and names no entry of a ledger, so there is nothing to compare it with",
                    path.display()
                ),
                causes: Vec::new(),
            });
        }
        return Ok(());
    };
    if !ledger.knows_end(spending.ledger_entries, &spending.ledger_head)? {
        // Another installation's, or a forgery: what this ledger says of a job of that number means nothing.
        into.findings.push(Finding::CertificateUnknown {
            count: spending.ledger_entries,
        });
        into.verified = false;
        return Ok(());
    }
    let number = spending.ledger_entry;
    let entries = ledger.entries(None)?;
    let mut differences = verify_certificate(&certificate).reasons;
    if certificate.seal != Some(ledger.seal(&certificate.digest)) {
        differences.push(
            "this installation did not seal it as it is: something in it was changed after it was issued"
                .to_owned(),
        );
    }
    differences.extend(match entries.iter().find(|entry| entry.id.0 == number) {
        Some(entry) => compare_with_entry(&certificate, entry),
        None => vec!["the ledger has no job of that number".to_owned()],
    });
    for what in differences {
        into.findings
            .push(Finding::CertificateDiffers { entry: number, what });
        into.verified = false;
    }
    Ok(())
}

fn backup(home: &Path, args: &BackupArgs) -> Result<(), CliError> {
    let mut ledger = Ledger::open(home)?;
    let folder = args.out.clone().unwrap_or_else(|| {
        home.join("backups")
            .join(format!("ledger-{}", Utc::now().format("%Y%m%dT%H%M%S%3fZ")))
    });
    let entries = ledger.backup(&folder)?;
    if args.read.json {
        return print_json(&json!({ "backup": folder, "entries": entries, "verified": true }));
    }
    print_line(&format!(
        "{entries} entries copied to {} and read back. It holds the key, so keep it as private as the ledger; \
         to move, set POINTILLIST_HOME to it or copy its files there.",
        folder.display()
    ))
}

fn set_total(home: &Path, args: &SetTotalArgs) -> Result<(), CliError> {
    let mut ledger = Ledger::open(home)?;
    let dataset = identify(&mut ledger, &args.input)?;
    let name = args
        .input
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    match args.version.answer(&ledger.datasets()?)? {
        Answer::Of(number) => ledger.continue_budget_of(&dataset, number, &name)?,
        Answer::None => {}
        Answer::Open => {
            if let Some(known) = ledger.may_be_version_of(&dataset, &name)?.first() {
                return Err(question(known));
            }
        }
    }
    let id = ledger.set_total(&dataset, &name, (args.epsilon, args.delta), &args.reason)?;
    let budget = ledger.budget(&dataset)?;
    let entry = ledger
        .entries(Some(&dataset))?
        .into_iter()
        .find(|entry| entry.id == id);
    if args.json {
        return print_json(&entry);
    }
    let left = budget.shares.map_or(1.0, |shares| shares.left);
    print_line(&format!(
        "entry {id}: the total of {name} is ε {} at δ {:e}, {:.1} % of it is left",
        args.epsilon,
        args.delta,
        100.0 * left
    ))
}
