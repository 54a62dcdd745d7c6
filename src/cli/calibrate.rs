//! `calibrate`: from a budget to noise.

use std::time::Instant;

use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

use crate::cli::account::parse_delta;
use crate::cli::output::{CliError, print_json, print_line};
use crate::num::{Delta, Epsilon, Readable, SamplingRate};
use crate::privacy::{
    AccountantKind, Bracket, CalibrationError, Neighboring, calibrate, gaussian, gaussian_sigma,
    laplace_scale,
};

/// Arguments of `calibrate`.
#[derive(Debug, Args)]
pub struct CalibrateArgs {
    #[command(subcommand)]
    mechanism: Mechanism,
}

#[derive(Debug, Subcommand)]
enum Mechanism {
    /// The least σ of Gaussian noise that keeps (ε, δ).
    Gaussian(GaussianArgs),
    /// The least scale of Laplace noise that keeps ε.
    Laplace(LaplaceArgs),
    /// The least noise multiplier of a DP-SGD run that keeps (ε, δ).
    Dpsgd(DpsgdArgs),
}

#[derive(Debug, Args)]
struct GaussianArgs {
    /// ε, in nats.
    #[arg(long, value_name = "E", value_parser = parse_epsilon, allow_negative_numbers = true)]
    epsilon: f64,
    /// δ.
    #[arg(long, value_name = "D", value_parser = parse_delta, allow_negative_numbers = true)]
    delta: f64,
    /// ℓ2 sensitivity of the query.
    #[arg(long, value_name = "S", default_value_t = 1.0, allow_negative_numbers = true)]
    sensitivity: f64,
    /// Prints one JSON object and nothing else.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct LaplaceArgs {
    /// ε, in nats.
    #[arg(long, value_name = "E", value_parser = parse_epsilon, allow_negative_numbers = true)]
    epsilon: f64,
    /// ℓ1 sensitivity of the query.
    #[arg(long, value_name = "S", default_value_t = 1.0, allow_negative_numbers = true)]
    sensitivity: f64,
    /// Prints one JSON object and nothing else.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct DpsgdArgs {
    /// ε, in nats.
    #[arg(long, value_name = "E", value_parser = parse_epsilon, allow_negative_numbers = true)]
    epsilon: f64,
    /// δ.
    #[arg(long, value_name = "D", value_parser = parse_delta, allow_negative_numbers = true)]
    delta: f64,
    /// Probability with which each row enters a step.
    #[arg(long, value_name = "Q", value_parser = parse_rate, allow_negative_numbers = true)]
    sampling_rate: f64,
    /// Number of steps.
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// How to account: `pld` (tightest) or `rdp`.
    #[arg(long, value_name = "KIND", default_value = "pld")]
    accountant: AccountantKind,
    /// The neighbouring relation.
    #[arg(long, value_enum, default_value_t = Relation::AddRemove)]
    relation: Relation,
    /// Prints one JSON object and nothing else.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Relation {
    /// One row more or less.
    AddRemove,
    /// One row exchanged for another.
    Replace,
}

fn parse_epsilon(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "expected a number above 0".to_owned())?;
    Epsilon::new(value)
        .map(Epsilon::get)
        .map_err(|error| error.to_string())
}

fn parse_rate(text: &str) -> Result<f64, String> {
    let value: f64 = text
        .parse()
        .map_err(|_| "expected a number above 0 and at most 1".to_owned())?;
    SamplingRate::new(value)
        .map(SamplingRate::get)
        .map_err(|error| error.to_string())
}

#[derive(Debug, Serialize)]
struct GaussianAnswer {
    sigma: f64,
    epsilon: f64,
}

#[derive(Debug, Serialize)]
struct LaplaceAnswer {
    scale: f64,
    epsilon: f64,
}

#[derive(Debug, Serialize)]
struct DpsgdAnswer {
    noise_multiplier: f64,
    epsilon: f64,
    seconds: f64,
}

fn failed(error: CalibrationError) -> CliError {
    match error {
        // What the arguments can never mean.
        CalibrationError::DeltaZero | CalibrationError::Setting(..) | CalibrationError::Unit(_) => {
            CliError::Usage(error.to_string())
        }
        other => CliError::failure("no noise keeps this budget", &other),
    }
}

fn budget(epsilon: f64, delta: f64) -> Result<(Epsilon, Delta), CliError> {
    let epsilon = Epsilon::new(epsilon).map_err(|error| failed(error.into()))?;
    let delta = Delta::new(delta).map_err(|error| failed(error.into()))?;
    Ok((epsilon, delta))
}

fn gaussian_answer(args: &GaussianArgs) -> Result<GaussianAnswer, CliError> {
    let (epsilon, delta) = budget(args.epsilon, args.delta)?;
    let sigma = gaussian_sigma(epsilon, delta, args.sensitivity).map_err(failed)?;
    // Solved back, and equal to the target but for the last bits of the solution.
    let reached = gaussian::epsilon(args.sensitivity / sigma, delta.get().ln()).min(epsilon.get());
    Ok(GaussianAnswer {
        sigma,
        epsilon: reached,
    })
}

fn laplace_answer(args: &LaplaceArgs) -> Result<LaplaceAnswer, CliError> {
    let epsilon = Epsilon::new(args.epsilon).map_err(|error| failed(error.into()))?;
    let scale = laplace_scale(epsilon, args.sensitivity).map_err(failed)?;
    Ok(LaplaceAnswer {
        scale,
        epsilon: args.sensitivity / scale,
    })
}

fn dpsgd_answer(args: &DpsgdArgs) -> Result<DpsgdAnswer, CliError> {
    let started = Instant::now();
    let target = budget(args.epsilon, args.delta)?;
    let neighboring = match args.relation {
        Relation::AddRemove => Neighboring::AddRemoveOne,
        Relation::Replace => Neighboring::ReplaceOne,
    };
    let found = calibrate::noise_multiplier(
        target,
        args.sampling_rate,
        args.steps,
        neighboring,
        args.accountant,
    )
    .map_err(failed)?;
    // The search ends at the least noise of its bracket, with most of the budget left.
    if found.epsilon < args.epsilon * (1.0 - 1e-3) && found.value <= Bracket::noise().low {
        return Err(CliError::Failure {
            message: format!("no noise comes near epsilon {}", Readable(args.epsilon)),
            causes: vec![format!(
                "the least noise multiplier that is looked for, {}, keeps epsilon {} already",
                found.value,
                Readable(found.epsilon)
            )],
        });
    }
    Ok(DpsgdAnswer {
        noise_multiplier: found.value,
        epsilon: found.epsilon,
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// Calibrates what the arguments name.
///
/// # Errors
/// When no setting keeps the budget, or an argument is outside its range.
pub fn run(args: &CalibrateArgs) -> Result<(), CliError> {
    match &args.mechanism {
        Mechanism::Gaussian(args) => {
            let answer = gaussian_answer(args)?;
            if args.json {
                return print_json(&answer);
            }
            print_line(&format!(
                "σ = {} keeps ε = {} at δ = {:e}",
                Readable(answer.sigma),
                Readable(answer.epsilon),
                args.delta
            ))
        }
        Mechanism::Laplace(args) => {
            let answer = laplace_answer(args)?;
            if args.json {
                return print_json(&answer);
            }
            print_line(&format!(
                "scale = {} keeps ε = {}",
                Readable(answer.scale),
                Readable(answer.epsilon)
            ))
        }
        Mechanism::Dpsgd(args) => {
            let answer = dpsgd_answer(args)?;
            if args.json {
                return print_json(&answer);
            }
            print_line(&format!(
                "noise multiplier = {} keeps ε = {} at δ = {:e} ({}, by {})",
                Readable(answer.noise_multiplier),
                Readable(answer.epsilon),
                args.delta,
                match args.relation {
                    Relation::AddRemove => Neighboring::AddRemoveOne,
                    Relation::Replace => Neighboring::ReplaceOne,
                },
                args.accountant
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: CalibrateArgs,
    }

    fn mechanism(words: &[&str]) -> Result<Mechanism, clap::Error> {
        Line::try_parse_from(std::iter::once("calibrate").chain(words.iter().copied()))
            .map(|line| line.args.mechanism)
    }

    #[test]
    fn each_mechanism_keeps_its_budget() {
        let Mechanism::Gaussian(args) =
            mechanism(&["gaussian", "--epsilon", "8", "--delta", "1e-5"]).unwrap()
        else {
            panic!()
        };
        let answer = gaussian_answer(&args).unwrap();
        assert!(
            (answer.sigma / 0.6002290721989516 - 1.0).abs() < 1e-9 && answer.epsilon <= 8.0,
            "{answer:?}"
        );
        let Mechanism::Laplace(args) =
            mechanism(&["laplace", "--epsilon", "0.1", "--sensitivity", "3"]).unwrap()
        else {
            panic!()
        };
        let answer = laplace_answer(&args).unwrap();
        assert!(
            (answer.scale - 30.0).abs() < 1e-9 && answer.epsilon <= 0.1,
            "{answer:?}"
        );
        for relation in ["add-remove", "replace"] {
            for accountant in ["pld", "rdp"] {
                let words = [
                    "dpsgd",
                    "--epsilon",
                    "2",
                    "--delta",
                    "1e-5",
                    "--sampling-rate",
                    "0.01",
                    "--steps",
                    "1000",
                ];
                let more = ["--relation", relation, "--accountant", accountant];
                let all: Vec<&str> = words.iter().chain(&more).copied().collect();
                let Mechanism::Dpsgd(args) = mechanism(&all).unwrap() else {
                    panic!()
                };
                let answer = dpsgd_answer(&args).unwrap();
                assert!(
                    answer.epsilon <= 2.0 && answer.epsilon >= 2.0 * 0.999,
                    "{all:?}: {answer:?}"
                );
            }
        }
    }

    #[test]
    fn the_ends_of_the_numbers_are_answered_or_explained() {
        let dpsgd = |epsilon, delta| {
            let words = ["dpsgd", "--epsilon", epsilon, "--delta", delta];
            let more = ["--sampling-rate", "0.01", "--steps", "10"];
            let all: Vec<&str> = words.iter().chain(&more).copied().collect();
            let Mechanism::Dpsgd(args) = mechanism(&all).unwrap() else {
                panic!()
            };
            dpsgd_answer(&args)
        };
        for delta in ["5e-324", "1e-5", "0.9999999999999999"] {
            let said = dpsgd("1e308", delta).unwrap_err().to_string();
            assert!(said.contains("0.001") && said.contains("1e308"), "{said}");
            match dpsgd("1e-320", delta) {
                Ok(answer) => assert!(answer.noise_multiplier > 0.0 && answer.epsilon <= 1e-320),
                // Either no noise is enough, or the least that is looked for is more than that.
                Err(error) => {
                    let said = error.to_string();
                    let is_explained = said.contains("smallest epsilon that works")
                        || said.contains("keeps epsilon 0 already");
                    assert!(is_explained, "{said}");
                }
            }
        }
        for (epsilon, delta) in [("1e308", "5e-324"), ("1e308", "1e-5"), ("1e-320", "1e-5")] {
            let Mechanism::Gaussian(args) =
                mechanism(&["gaussian", "--epsilon", epsilon, "--delta", delta]).unwrap()
            else {
                panic!()
            };
            let answer = gaussian_answer(&args).unwrap();
            assert!(answer.sigma > 0.0 && answer.sigma.is_finite() && answer.epsilon <= args.epsilon);
        }
        let Mechanism::Laplace(args) = mechanism(&["laplace", "--epsilon", "1e-320"]).unwrap() else {
            panic!()
        };
        let said = laplace_answer(&args).unwrap_err().to_string();
        assert!(said.contains("smallest epsilon that works is 5.56"), "{said}");
    }

    #[test]
    fn wrong_arguments_are_refused() {
        assert!(mechanism(&["gaussian", "--epsilon", "-1", "--delta", "1e-5"]).is_err());
        assert!(mechanism(&["gaussian", "--epsilon", "1"]).is_err());
        assert!(
            mechanism(&[
                "dpsgd",
                "--epsilon",
                "1",
                "--delta",
                "1e-5",
                "--sampling-rate",
                "0",
                "--steps",
                "1"
            ])
            .is_err()
        );
        assert!(
            mechanism(&[
                "dpsgd",
                "--epsilon",
                "1",
                "--delta",
                "1e-5",
                "--sampling-rate",
                "1",
                "--steps",
                "0"
            ])
            .is_err()
        );
        let Mechanism::Gaussian(args) = mechanism(&["gaussian", "--epsilon", "1", "--delta", "0"]).unwrap()
        else {
            panic!()
        };
        assert_eq!(gaussian_answer(&args).unwrap_err().exit_code(), 2);
        let Mechanism::Laplace(args) =
            mechanism(&["laplace", "--epsilon", "1", "--sensitivity", "nan"]).unwrap()
        else {
            panic!()
        };
        assert_eq!(laplace_answer(&args).unwrap_err().exit_code(), 2);
    }
}
