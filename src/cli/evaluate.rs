//! `evaluate`: how synthetic images compare with real ones. For the steward only.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::{Map, Value, json};

use crate::cli::drive::Interrupts;
use crate::cli::images::ImageArgs;
use crate::cli::output::{CliError, print_json, print_line, progress_bar};
use crate::cli::values::parse_device;
use crate::engine::{EvaluateRequest, ExtractorChoice, Figure, OnnxChoice, evaluate_files};
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
    /// What images are compared by: the network that ships (28 × 28, grey), their pixels, or an ONNX model in a file.
    /// Without it, the network where it fits and pixels elsewhere. Scores do not compare across extractors.
    #[arg(long, value_name = "cnn|pixels|PATH.onnx", value_parser = parse_extractor)]
    extractor: Option<ExtractorChoice>,
    /// The output of the ONNX model that holds the features; without it `features`, or the first.
    #[arg(long, value_name = "NAME", requires = "extractor")]
    output: Option<String>,
    /// What black and white become for the ONNX model; three times for three channels. Without it as the file says, or
    /// 0,1.
    #[arg(long, value_name = "BLACK,WHITE", requires = "extractor", allow_hyphen_values = true,
        value_parser = parse_range)]
    pixel_range: Vec<[f32; 2]>,
    /// Takes distances over at most so many images of each side.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(50..=1_000_000))]
    most: Option<u64>,
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
    let extractor = extractor_of(args)?;
    let request = EvaluateRequest {
        real: args.real.clone(),
        holdout: args.holdout.clone(),
        synthetic: args.synthetic.clone(),
        images: args.images.options(),
        extractor,
        most: args.most.map(|most| most as usize),
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
        object.insert("extractor_classes".into(), report.extractor_classes.into());
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
    })?;
    if report.extractor_classes > 0 {
        let classes = report.extractor_classes;
        print_line(&format!(
            "inception_score is taken over the extractor's own {classes} classes"
        ))?;
    }
    Ok(())
}

/// The extractor, and what is declared of its file.
fn extractor_of(args: &EvaluateArgs) -> Result<ExtractorChoice, CliError> {
    match args.extractor.clone().unwrap_or_default() {
        ExtractorChoice::Onnx(choice) => Ok(ExtractorChoice::Onnx(OnnxChoice {
            output: args.output.clone(),
            range: args.pixel_range.clone(),
            ..choice
        })),
        _ if args.output.is_some() || !args.pixel_range.is_empty() => Err(CliError::Usage(
            "--output and --pixel-range say how an ONNX model is used; name its file with --extractor"
                .to_owned(),
        )),
        choice => Ok(choice),
    }
}

fn parse_extractor(text: &str) -> Result<ExtractorChoice, String> {
    let path = PathBuf::from(text);
    match text {
        "cnn" => Ok(ExtractorChoice::Network),
        "pixels" => Ok(ExtractorChoice::Pixels),
        _ if path
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("onnx")) =>
        {
            Ok(ExtractorChoice::Onnx(OnnxChoice {
                path,
                ..OnnxChoice::default()
            }))
        }
        _ => Err("expected cnn, pixels, or a file that ends in .onnx".to_owned()),
    }
}

fn parse_range(text: &str) -> Result<[f32; 2], String> {
    let numbers = text.split_once(',').and_then(|(black, white)| {
        let (black, white): (f32, f32) = (black.trim().parse().ok()?, white.trim().parse().ok()?);
        (black.is_finite() && white.is_finite() && black != white).then_some([black, white])
    });
    numbers.ok_or_else(|| "expected two different numbers, as in -1,1".to_owned())
}

fn value_of(figure: Figure) -> Value {
    match figure.interval {
        Some(interval) => json!({"value": figure.value, "interval": interval}),
        None => json!({"value": figure.value}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extractors_and_ranges_are_read() {
        assert_eq!(parse_extractor("cnn"), Ok(ExtractorChoice::Network));
        assert_eq!(parse_extractor("pixels"), Ok(ExtractorChoice::Pixels));
        assert!(matches!(
            parse_extractor("a/b.ONNX"),
            Ok(ExtractorChoice::Onnx(_))
        ));
        assert!(parse_extractor("inception").is_err());
        assert_eq!(parse_range("-1, 1"), Ok([-1.0, 1.0]));
        assert!(
            ["1", "0,0", "a,b", "0,inf"]
                .iter()
                .all(|text| parse_range(text).is_err())
        );
    }
}
