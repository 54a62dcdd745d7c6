//! What `synthesize` and `runs resume` share: a run is waited for, and what came of it is written and told.

use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use serde_json::json;

use crate::cli::curves;
use crate::cli::drive::Driver;
use crate::cli::output::{CliError, add_rules, print_json, print_line, progress_bar, rule_lines, warn};
use crate::data::{EncoderSettings, RowEncoder, Schema};
use crate::engine::{
    Area, Command, Condition, EngineEvent, ExportRequest, Exported, RunId, RunState, RunView, exported_files,
    home_folder,
};
use crate::export::{ImageFormat, TableFormat, check_not_input, try_images_target, try_target};
use crate::privacy::ledger::EntryId;
use crate::train::StopReason;
use crate::train::image::class_of;

/// Writes what a run came to, and reports it.
///
/// # Errors
/// When it cannot be written; what was paid for is kept then.
pub(super) fn finish(driver: &Driver, wanted: &Wanted, outcome: &Outcome) -> Result<(), CliError> {
    if let Some(path) = &wanted.curves
        && let Some(view) = driver.engine.snapshot().run(outcome.run)
        && let Err(error) = curves::write(path, view, wanted.force)
    {
        // What was paid for is written all the same.
        let (CliError::Usage(message) | CliError::Failure { message, .. }) = error;
        warn(&format!("the curves are not written: {message}"));
    }
    let request = ExportRequest {
        run: outcome.run,
        rows: wanted.rows as usize,
        path: wanted.out.clone(),
        overwrite: wanted.force,
        condition: wanted.condition.clone(),
        language: crate::engine::Language::default(),
    };
    let exported = export(driver, request).map_err(|error| keep(driver, wanted, outcome, error))?;
    report(wanted, driver, outcome, &exported)
}

/// What is to be written of a run.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// How many rows or images.
    pub rows: u64,
    /// Where.
    pub out: PathBuf,
    /// Whether existing files may be replaced.
    pub force: bool,
    /// Only rows with this value.
    pub condition: Option<Condition>,
    /// Whether one JSON object is printed and nothing else.
    pub json: bool,
    /// Whether the run learns from images.
    pub is_images: bool,
    /// Where the run's curves go, if they are wanted.
    pub curves: Option<PathBuf>,
}

impl Wanted {
    /// Asked before any budget is spent: a run whose result has nowhere to go is a waste of budget.
    ///
    /// # Errors
    /// When something stands in the way of an export there.
    pub fn check_targets(&self, inputs: &[&Path]) -> Result<(), CliError> {
        let form = if self.is_images {
            ImageFormat::from_path(&self.out).map(drop)
        } else {
            TableFormat::from_path(&self.out).map(drop)
        };
        form.map_err(|error| CliError::Usage(error.to_string()))?;
        TableFormat::check_rows(&self.out, self.rows as usize)
            .map_err(|error| CliError::from_error(&error))?;
        let mut files = exported_files(&self.out);
        if let Some(curves) = &self.curves {
            if files.contains(curves) {
                let message = format!(
                    "--curves {}: this file is one of the export's own; name another",
                    curves.display()
                );
                return Err(CliError::Usage(message));
            }
            files.push(curves.clone());
        }
        check_not_input(&files, inputs).map_err(|error| CliError::from_error(&error))?;
        let tried = files.iter().try_for_each(|file| {
            // The images may be a folder; their papers are files.
            if self.is_images && *file == self.out {
                try_images_target(file, self.force)
            } else {
                try_target(file, self.force)
            }
        });
        tried.map_err(|error| CliError::from_target(&error))
    }
}

/// A run that has ended with a generator.
pub(super) struct Outcome {
    pub run: RunId,
    pub entry: Option<EntryId>,
    pub reason: StopReason,
}

/// Sends a command that starts a run, and waits for its end.
///
/// # Errors
/// When the run fails.
pub(super) fn train(driver: &Driver, start: Command) -> Result<Outcome, CliError> {
    driver.engine.send(start);
    let bar = progress_bar(0, "steps");
    let mut entry = None;
    let mut stopping = false;
    let outcome = driver.wait(|driver, event| match event {
        Some(EngineEvent::Started { ledger_entry, .. }) => {
            entry = ledger_entry;
            None
        }
        Some(EngineEvent::Finished { run, reason }) => Some(Ok(Outcome { run, entry, reason })),
        Some(EngineEvent::RunFailed { problem, .. } | EngineEvent::Failed(problem)) => {
            Some(Err(problem.into()))
        }
        _ => {
            let snapshot = driver.engine.snapshot();
            if let Some(view) = snapshot.runs.last() {
                show_progress(&bar, view);
                if driver.is_interrupted() && !stopping {
                    stopping = true;
                    warn("stopping after this step; the whole plan stays charged");
                    driver.engine.send(Command::Stop(view.id));
                }
            }
            None
        }
    });
    bar.finish_and_clear();
    outcome
}

fn show_progress(bar: &ProgressBar, view: &RunView) {
    bar.set_length(view.steps);
    bar.set_position(view.step);
    let state = match view.state {
        RunState::Queued => "queued".to_owned(),
        RunState::Preparing => "preparing".to_owned(),
        _ => match (view.epsilon.last, view.target) {
            (Some(epsilon), Some(target)) => format!("ε {epsilon:.3} of {}", target.epsilon),
            _ => "no DP claim".to_owned(),
        },
    };
    bar.set_message(state);
}

/// A condition that no row can meet is told before budget is spent.
pub(super) fn check_condition(
    schema: &Schema,
    is_images: bool,
    condition: &Condition,
) -> Result<(), CliError> {
    if is_images {
        let classes = schema
            .find(&condition.column)
            .and_then(|column| column.domain.clone())
            .unwrap_or_default();
        return class_of(&classes, condition)
            .map(drop)
            .map_err(|error| CliError::from_error(&error));
    }
    // A schema that cannot be encoded is told by the plan, with its reasons.
    match RowEncoder::new(schema, &EncoderSettings::default()) {
        Ok(encoder) => condition
            .check(&encoder)
            .map_err(|error| CliError::from_error(&error)),
        Err(_) => Ok(()),
    }
}

/// Rows that are written beside a generator that is kept: there may be no room for more, or no patience.
const KEPT_ROWS: u64 = 100;

/// What was paid for is kept, in the program's folder, when it was not written where it was wanted.
fn keep(driver: &Driver, wanted: &Wanted, outcome: &Outcome, error: CliError) -> CliError {
    let (Some(entry), CliError::Failure { message, causes }) = (outcome.entry, &error) else {
        return error;
    };
    let Ok(folder) = home_folder().map(|home| home.join("runs")) else {
        return error;
    };
    let name = wanted.out.file_name().unwrap_or_default().to_string_lossy();
    let path = folder.join(format!("entry-{entry}-{name}"));
    let request = ExportRequest {
        run: outcome.run,
        rows: wanted.rows.min(KEPT_ROWS) as usize,
        path,
        overwrite: false,
        condition: None,
        language: crate::engine::Language::default(),
    };
    match std::fs::create_dir_all(&folder).map(|()| export(driver, request)) {
        Ok(Ok(kept)) => CliError::Failure {
            message: format!(
                "{message}; the run is paid for and kept: draw from it with `sample {}`",
                kept.generator.display()
            ),
            causes: causes.clone(),
        },
        _ => error,
    }
}

fn export(driver: &Driver, request: ExportRequest) -> Result<Exported, CliError> {
    // A request to stop that ended the training is obeyed; another one is meant for the writing.
    let before = driver.interrupts();
    driver.engine.send(Command::Export(Box::new(request)));
    driver.wait(|driver, event| match event {
        None if driver.interrupts() > before => {
            driver.engine.send(Command::CancelExport);
            None
        }
        Some(EngineEvent::ExportCancelled) => Some(Err(CliError::from_interrupt())),
        Some(EngineEvent::Exported(exported)) => Some(Ok(*exported)),
        Some(EngineEvent::TargetExists(path)) => Some(Err(CliError::Failure {
            message: format!(
                "{}: exists already; name another file or pass --force",
                path.display()
            ),
            causes: Vec::new(),
        })),
        // What keeps an export from being may be the ledger, which its certificate asks.
        Some(EngineEvent::Failed(problem)) if matches!(problem.area, Area::Export | Area::Ledger) => {
            Some(Err(problem.into()))
        }
        _ => None,
    })
}

fn report(wanted: &Wanted, driver: &Driver, outcome: &Outcome, exported: &Exported) -> Result<(), CliError> {
    let snapshot = driver.engine.snapshot();
    let Some(view) = snapshot.run(outcome.run) else {
        return Err(CliError::Failure {
            message: "the run is gone".into(),
            causes: Vec::new(),
        });
    };
    let epsilon = exported.epsilon;
    let delta = view.target.map(|target| target.delta);
    if wanted.json {
        let mut report = json!({
            "rows": exported.written.rows,
            "epsilon": epsilon,
            "delta": delta,
            "steps": view.step,
            "seconds": view.seconds,
            "certificate": exported.certificate,
            "ledger_entry": outcome.entry,
            "stopped": outcome.reason.name(),
            "claim": exported.verdict,
            "out": exported.table,
            "recipe": exported.recipe,
            "generator": exported.generator,
        });
        add_rules(&mut report, &exported.written);
        return print_json(&report);
    }
    let promise = match (epsilon, delta) {
        (Some(epsilon), Some(delta)) => format!("ε {epsilon} at δ {delta}"),
        _ => "no DP claim".to_owned(),
    };
    // A fixed seed, or another reason why nothing is promised, whatever ε was spent.
    let promise = match (exported.epsilon, exported.is_claim) {
        (Some(_), false) => format!("{promise} · {}", exported.verdict),
        _ => promise,
    };
    let what = if wanted.is_images { "images" } else { "rows" };
    print_line(&format!(
        "{} {what} in {} · {promise} · {} steps in {:.1} s\ncertificate {}\nrecipe {}\ngenerator {}{}",
        exported.written.rows,
        exported.table.display(),
        view.step,
        view.seconds,
        exported.certificate.display(),
        exported.recipe.display(),
        exported.generator.display(),
        rule_lines(&exported.written),
    ))
}
