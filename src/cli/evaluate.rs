//! `evaluate`: how synthetic images compare with real ones. For the steward only.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::{Map, Value, json};

use crate::cli::drive::Interrupts;
use crate::cli::images::ImageArgs;
use crate::cli::output::{CliError, print_json, print_line, progress_bar};
use crate::cli::synthesize::parse_device;
use crate::engine::{EvaluateRequest, Figure, evaluate_files};
use crate::num::Progress;
use crate::train::DeviceKind;

/// Who may see the figures.
const AUDIENCE: &str = "steward only: computed on real images without noise";

/// Arguments of `evaluate`.
#[derive(Debug, Args)]
pub struct EvaluateArgs {
    /// The images that were learned from.
    #[arg(long, value_name = "R")]
    real: PathBuf,
    /// Real images that were not learned from: the synthetic ones are held against these.
    #[arg(long, value_name = "H")]
    holdout: Option<PathBuf>,
    /// The synthetic images.
    #[arg(long, value_name = "S")]
    synthetic: PathBuf,
    #[command(flatten)]
    images: ImageArgs,
    /// Where tensors live.
    #[arg(long, value_parser = parse_device, default_value = "flex")]
    device: DeviceKind,
    /// Prints one JSON object and nothing else.
    #[arg(long)]
    json: bool,
}

/// Compares.
///
/// # Errors
/// When a file cannot be read, or the images cannot be compared.
pub fn run(args: &EvaluateArgs) -> Result<(), CliError> {
    let request = EvaluateRequest {
        real: args.real.clone(),
        holdout: args.holdout.clone(),
        synthetic: args.synthetic.clone(),
        images: args.images.options(),
        device: args.device,
    };
    let interrupts = Interrupts::take_over()?;
    let progress = Progress::default();
    let bar = progress_bar(0, "done");
    let report = std::thread::scope(|scope| {
        let work = scope.spawn(|| evaluate_files(&request, &progress));
        while !work.is_finished() {
            std::thread::sleep(Duration::from_millis(50));
            bar.set_length(progress.total());
            bar.set_position(progress.done());
            if interrupts.count() > 0 {
                progress.cancel();
            }
        }
        work.join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    bar.finish_and_clear();
    let report = match report {
        Err(_) if progress.is_cancelled() => return Err(CliError::from_interrupt()),
        report => report.map_err(CliError::from)?,
    };
    let report = report.for_steward();
    let [synthetic, real] = report.compared;
    if args.json {
        let mut object = Map::new();
        object.insert("audience".into(), AUDIENCE.into());
        object.insert("extractor".into(), report.extractor.clone().into());
        object.insert("compared".into(), json!({"synthetic": synthetic, "real": real}));
        for (name, figure) in &report.figures {
            object.insert((*name).to_owned(), value_of(*figure));
        }
        return print_json(&Value::Object(object));
    }
    print_line(&format!(
        "{AUDIENCE}\n{synthetic} synthetic against {real} real images, by {}",
        report.extractor
    ))?;
    report.figures.iter().try_for_each(|(name, figure)| {
        let interval = figure
            .interval
            .map_or_else(String::new, |[low, high]| format!("  ({low:.4} to {high:.4})"));
        print_line(&format!("{name:24} {:>10.4}{interval}", figure.value))
    })
}

fn value_of(figure: Figure) -> Value {
    match figure.interval {
        Some(interval) => json!({"value": figure.value, "interval": interval}),
        None => json!({"value": figure.value}),
    }
}
