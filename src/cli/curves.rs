//! `--curves`: what a run was like over its steps, as a table for the steward.

use std::io::Write as _;
use std::path::Path;

use crate::cli::output::CliError;
use crate::engine::RunView;
use crate::engine::snapshot::Series;
use crate::export::{ExportError, write_atomically};

/// Writes the curves of a run as CSV, a point a line, whole or not at all.
///
/// # Errors
/// When the file cannot be written.
pub fn write(path: &Path, view: &RunView, overwrite: bool) -> Result<(), CliError> {
    write_atomically(path, &table(view), overwrite)
        .map_err(|error: ExportError| CliError::from_target(&error))
}

/// The table, under lines that say whom it is for and what its distances are of.
fn table(view: &RunView) -> Vec<u8> {
    let mut text = Vec::new();
    let mut say = |line: &str| {
        // Writing to memory cannot fail, here and below.
        let _ = writeln!(text, "# {line}");
    };
    say("steward only: the curves marked so are computed on private rows without noise");
    let distance = match &view.judged {
        Some(judged) => {
            say(&format!(
                "fid: features by {}, {} generated against {} real images",
                judged.extractor, judged.compared[0], judged.compared[1]
            ));
            "fid"
        }
        None => "frechet",
    };
    let mut table = csv::Writer::from_writer(&mut text);
    let _ = table.write_record(["curve", "for", "step", "value"]);
    let free = [
        ("epsilon", &view.epsilon),
        ("generator-loss", &view.generator_loss),
        ("critic-accuracy", &view.critic.accuracy),
    ];
    let private = [
        ("critic-loss", view.critic_loss.for_steward()),
        ("clipped-share", view.critic.clipped_share.for_steward()),
        (distance, view.frechet.for_steward()),
    ];
    let curves = free.map(|curve| (curve, "anyone")).into_iter();
    for ((name, series), whom) in curves.chain(private.map(|curve| (curve, "steward"))) {
        for [step, value] in points(series) {
            let _ = table.write_record([name, whom, &step.to_string(), &value.to_string()]);
        }
    }
    drop(table);
    text
}

/// The points as they came, as far as they are kept: the extremes of each stretch of steps.
fn points(series: &Series) -> impl Iterator<Item = [f64; 2]> {
    let all = if series.raw.is_empty() {
        &series.smooth
    } else {
        &series.raw
    };
    all.iter().copied()
}
